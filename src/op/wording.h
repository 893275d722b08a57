/* What a graph says of shapes that do not fit.
 *
 * An op that runs at once speaks of its arguments; while a graph is made, TensorFlow speaks of dimensions and ranks instead. An
 * op's row names such a function beside its shape function (`.words`). It is asked only after the shape function has refused;
 * graph/shape_error.c puts the node around the sentence. */
#ifndef TW_WORDING_H
#define TW_WORDING_H

#include "op/op.h"

typedef struct tw__wording {
    const tw__inference *in;
    tw__text text;
    unsigned values;   /* inputs whose values were asked for, */
    unsigned partials; /* and those that were read as shapes */
    const char *own;   /* what the op itself said */
} tw__wording;

/* Functions that say something return true if they did. */
bool tw__say_dims(tw__wording *w, int64_t a, int64_t b); /* that they must be equal */
bool tw__say_rank(tw__wording *w, int wanted, int rank);
bool tw__say_rank_at_least(tw__wording *w, const tw_shape *shape, int64_t wanted); /* if it is not */
bool tw__say_merge(tw__wording *w, const tw_shape *a, const tw_shape *b);          /* if the two can't be one shape */
bool tw__say_broadcast(tw__wording *w, const tw_shape *a, const tw_shape *b);      /* if they can't be broadcast */

/* What is wrong with two shapes that must be one: "Shapes must be equal rank, but are 2 and 1". False if nothing is. */
bool tw__shape_difference(tw__text *text, const tw_shape *a, const tw_shape *b);

/* ---- for these functions ---- */
bool tw__sizes_differ(int64_t a, int64_t b); /* both are known, and not equal */
int64_t tw__ranks_of_axis(int64_t axis);     /* how many dimensions it takes to have the axis */
tw_shape tw__shape_part(const tw_shape *shape, int from, int to);
bool tw__wording_number(const tw__wording *w, int input, int64_t *value);  /* one known whole number among the inputs */
bool tw__wording_vector(const tw__wording *w, int input, tw_shape *shape); /* a vector of them, as far as it is known */

/* ---- shared by several rows ---- */
bool tw__words_binary(tw__wording *w);      /* inputs 0 and 1 are broadcast */
bool tw__words_square(tw__wording *w);      /* input 0 is square matrices */
bool tw__words_convolution(tw__wording *w); /* nn/conv.c */

#endif
