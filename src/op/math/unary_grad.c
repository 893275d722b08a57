/* The ops that gradients of some functions are made of: from the function's value y and the gradient dy that arrives. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status equal_shapes(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (!tw__shape_compatible(a, b))
        return tw__fail(TW_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", tw__shape_text(a), tw__shape_text(b));
    inference->out_shapes[0] = tw__shape_known(a) ? *a : *b;
    return TW_OK;
}

/* In a gradient: a and b are the inputs y and dy, conjugated where complex; c the gradient that arrives. */
#define A tw__temp(t, tw__grad_conj(g->inputs[0]))
#define B tw__temp(t, tw__grad_conj(g->inputs[1]))
#define PLAIN_B g->inputs[1]
#define C g->output_grads[0]
#define CONJ_C tw__temp(t, tw__grad_conj(g->output_grads[0]))
#define GRADIENT(name, of_a, of_b)                    \
    static tw_status name##_gradient(tw__gradient *g) \
    {                                                 \
        TW_TEMPS(t);                                  \
        if (g->wanted[0])                             \
            tw__grad_set(g, 0, of_a);                 \
        if (g->wanted[1])                             \
            tw__grad_set(g, 1, of_b);                 \
        return tw__grad_status(g);                    \
    }

GRADIENT(sqrt_grad, TW_CALL(Mul, TW_TEMP(Neg, tw__temp(t, tw__grad_conj(TW_TEMP(RealDiv, C, g->inputs[0])))), g->outputs[0]),
         TW_CALL(Mul, 0.5, TW_TEMP(RealDiv, C, g->inputs[0])))
GRADIENT(rsqrt_grad, TW_CALL(Mul, TW_TEMP(Mul, TW_TEMP(Mul, -1.5, CONJ_C), PLAIN_B), TW_TEMP(Square, A)),
         TW_CALL(RsqrtGrad, A, C))
GRADIENT(reciprocal_grad, TW_CALL(Mul, TW_TEMP(Mul, TW_TEMP(Mul, -2.0, CONJ_C), PLAIN_B), A), TW_CALL(ReciprocalGrad, A, C))
GRADIENT(tanh_grad, TW_CALL(Mul, TW_TEMP(Mul, TW_TEMP(Mul, -2.0, C), B), A), TW_CALL(TanhGrad, A, C))
GRADIENT(sigmoid_grad, TW_CALL(Sub, TW_TEMP(Mul, C, B), TW_TEMP(Mul, TW_TEMP(Mul, 2.0, TW_TEMP(Mul, C, B)), A)),
         TW_CALL(SigmoidGrad, A, C))

#define ROW                                                            \
    .inputs = "y: T, dy: T", .outputs = "z: T", .shape = equal_shapes, \
    .attrs = "T: {bfloat16, half, float, double, complex64, complex128}"
TW_OP(SqrtGrad, ROW, .compute = tw__binary_compute, .binary = &tw__binary_sqrt_grad, .gradient = sqrt_grad_gradient,
      .doc = "The gradient of Sqrt: dy * 0.5 / y.");
TW_OP(RsqrtGrad, ROW, .compute = tw__binary_compute, .binary = &tw__binary_rsqrt_grad, .gradient = rsqrt_grad_gradient,
      .doc = "The gradient of Rsqrt: dy * -0.5 * y^3.");
TW_OP(ReciprocalGrad, ROW, .compute = tw__binary_compute, .binary = &tw__binary_reciprocal_grad,
      .gradient = reciprocal_grad_gradient, .doc = "The gradient of Reciprocal: -dy * y * y.");
TW_OP(InvGrad, ROW, .compute = tw__binary_compute, .binary = &tw__binary_reciprocal_grad, .gradient = reciprocal_grad_gradient,
      .doc = "The gradient of Inv: -dy * y * y.");
TW_OP(TanhGrad, ROW, .compute = tw__binary_compute, .binary = &tw__binary_tanh_grad, .gradient = tanh_grad_gradient,
      .doc = "The gradient of Tanh: dy * (1 - y * y).");
TW_OP(SigmoidGrad, ROW, .compute = tw__binary_compute, .binary = &tw__binary_sigmoid_grad, .gradient = sigmoid_grad_gradient,
      .doc = "The gradient of Sigmoid: dy * y * (1 - y).");
