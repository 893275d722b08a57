/* Rows of functions of one real number that are computed in double: the loops, the gradient, the row. */
#ifndef TW_OP_SPECIAL_H
#define TW_OP_SPECIAL_H

#include "kernel/elementwise/loops.h"
#include "op/gradient.h"

/* The loops of an expression of `a`. */
#define TW_SPECIAL_LOOPS(name, expression)                            \
    TW_UNARY_LOOP(name, float, float, float, float, , expression)     \
    TW_UNARY_LOOP(name, double, double, double, double, , expression) \
    const tw__unary tw__unary_##name = { .loops = { TW_REAL_LOOPS(name) }, .slow = true };

/* The derivative as an expression of the gradient's X and Y, and of t. */
#define X g->inputs[0]
#define Y g->outputs[0]
#define TW_SPECIAL_GRADIENT(name, expression)                             \
    static tw_status name##_gradient(tw__gradient *g)                     \
    {                                                                     \
        TW_TEMPS(t);                                                      \
        tw__grad_set(g, 0, TW_CALL(Mul, g->output_grads[0], expression)); \
        return tw__grad_status(g);                                        \
    }

#define TW_SPECIAL_OP                                                                                           \
    .inputs = "x: T", .outputs = "y: T", .attrs = "T: {bfloat16, half, float, double}", .shape = tw_shape_same, \
    .compute = tw__unary_compute

#endif
