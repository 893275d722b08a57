/* Formulas over tensors, written as text: `z=(x-loc)/scale; -0.5*Square(z)-Log(scale)`.
 *
 * Statements are separated by `;`, the last one is the result. Operators are + - * / < > >= and parentheses; 2.0 is a number of
 * the dtype of the tensor beside it, -1 an int32 such as an axis. Words with a capital are ops (`Log(x)`), other functions are
 * those of formula.c. */
#ifndef TW_FORMULA_H
#define TW_FORMULA_H

#include "op/calls.h"

typedef struct tw__formulas {
    const char *table, *kind;     /* lines `kind.method=formula`; of which kind */
    const char *names;            /* of the parameters: `loc,scale)`; loc_ is the other distribution's */
    tw_tensor *const *parameters; /* its own, then, if there are two distributions, the other's */
    int count, own;
    tw_dtype dtype; /* of results that are no floats */
    int64_t seed;
    bool nan; /* whether what is not defined is NaN; else it is an error */
    tw__temps *t;
} tw__formulas;

const char *tw__formula_find(const char *table, const char *kind, const char *method); /* NULL if there is none */
/* The value of a method, left to t; NULL after a failure. */
tw_tensor *tw__formula_value(tw__formulas *f, const char *method, tw_tensor *x);

#endif
