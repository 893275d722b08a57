/* What the checks of tf.debugging share. */
#ifndef TW_API_DEBUGGING_H
#define TW_API_DEBUGGING_H

#include "api/api.h"
#include "spec/spec.h"

enum { TW_CHECK_DATA = 24 }; /* a rank out of sixteen, and what stands around them */

static const tw_value tw__nothing = { .kind = TW_VALUE_NONE };

/* Whether a check of these is done at once; y may be NULL. */
bool tw__check_is_eager(const tw_tensor *x, const tw_tensor *y);
/* "message.  ", or nothing. */
void tw__check_lead(tw__text *text, const char *message);
/* What messages call a tensor in a graph; a constant that is no node yet has the name it will get, Const or Const_NUMBER. */
void tw__check_name(tw__text *text, const tw_tensor *tensor, int number);
/* "shape=(2,) dtype=float32", what messages call a tensor that has no name. */
void tw__check_label(tw__text *text, const tw_tensor *tensor);
/* Fails with the text, which is freed. */
tw_value tw__check_refuse(tw_status code, tw__text *text);
/* What a check gives that held: None, or an operation that does nothing. */
tw_value tw__check_passed(void);
tw_value tw__last_operation(void); /* of the graph that is traced; None: there is none */
/* An Assert: an operation in a graph. */
tw_value tw__check_assert(tw_tensor *condition, tw_tensor *const *data, int64_t count, int64_t summarize);

/* The data of an Assert: texts and tensors in order. */
typedef struct tw__check_data {
    tw_tensor *items[TW_CHECK_DATA];
    int count;
    bool failed;
} tw__check_data;
void tw__check_add(tw__check_data *data, tw_tensor *taken);
void tw__check_add_text(tw__check_data *data, tw__text *text); /* frees it */
void tw__check_add_words(tw__check_data *data, const char *words);
void tw__check_add_int(tw__check_data *data, int64_t value);
/* "x (NAME) = ", and the tensor. */
void tw__check_add_tensor(tw__check_data *data, const char *what, tw_tensor *tensor, int number);
/* An Assert of a condition, all of which must hold; takes it and the data. */
tw_value tw__check_assert_all(tw_tensor *holds, tw__check_data *data, int64_t summarize);

/* The rank is one of these; in a graph an Assert if it is not known. */
typedef enum tw__rank_check { TW_RANK_IS, TW_RANK_AT_LEAST, TW_RANK_IN } tw__rank_check;
tw_value tw__check_rank(tw_tensor *x, tw__rank_check kind, const int64_t *ranks, int64_t count, const char *message);

#endif
