/* What a graph says of shapes that do not fit (shape_words.c), for the error around it (shape_error.c). */
#ifndef TW_SHAPE_WORDS_H
#define TW_SHAPE_WORDS_H

#include "graph/graph.h"

typedef struct tw__wording {
    const tw__inference *in;
    tw__text text;
    unsigned values;   /* inputs whose values were asked for, */
    unsigned partials; /* and those that were read as shapes */
    const char *own;   /* what the operation itself said */
} tw__wording;

/* Fills in the text and what was asked for; false: the operation's own words stand. */
bool tw__shape_words(tw__wording *w);
/* A vector of whole numbers among the inputs, as far as it is known. */
bool tw__wording_vector(const tw__wording *w, int input, tw_shape *shape);

#endif
