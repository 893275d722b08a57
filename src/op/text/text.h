/* What the rows of text/ share. */
#ifndef TW_OP_TEXT_H
#define TW_OP_TEXT_H

#include "op/op.h"

/* The elements as TensorFlow's StringFormat and PrintV2 write them: at most `summarize` at each end of a dimension, all if it is
 * negative. */
tw_status tw__summarize(tw__text *text, const tw_tensor *tensor, int64_t summarize);
/* The first `limit` elements as TensorFlow's Assert writes them, "[1 2][3...]..."; all if it is negative. */
tw_status tw__summarize_first(tw__text *text, const tw_tensor *tensor, int64_t limit);
/* Puts the collected text into element `index` of a string tensor, and clears it. */
tw_status tw__string_from_text(tw_tensor *tensor, int64_t index, tw__text *text);
/* A scalar string input; the error names it: "Pattern must be scalar, but received [1]". */
tw_status tw__need_scalar(const tw__inference *inference, int input, const char *format);

/* One character of UTF-8 at byte *at (which is not the end), which is moved behind it. *bad: there is none, and what could have
 * begun one was skipped; the result is U+FFFD. */
uint32_t tw__utf8_next(tw_string s, size_t *at, bool *bad);
void tw__utf8_add(tw__text *text, uint32_t code);

void tw__base64_add(tw__text *text, tw_string s, bool pad); /* with '-' and '_' */
tw_status tw__base64_read(tw_string s, tw__text *text);     /* appends what it stands for */
uint64_t tw__fingerprint64(tw_string string);               /* FarmHash's */
uint64_t tw__murmur64(tw_string string);                    /* MurmurHash64A with TensorFlow's seed */

static inline const tw_string *tw__strings(const tw_tensor *tensor)
{
    return tensor->data;
}

static inline bool tw__is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
