/* Zeta and Polygamma. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status zeta_compute(tw__kernel *kernel)
{
    return tw__binary_compute(kernel, &tw__binary_zeta);
}

/* Of q: -x * zeta(x + 1, q). Of x there is none, as in TensorFlow. */
static tw_status zeta_gradient(tw__gradient *g)
{
    tw_tensor *x = g->inputs[0], *q = g->inputs[1], *dz = g->output_grads[0];
    if (!g->wanted[1] || !dz)
        return TW_OK;
    tw_tensor *next = TW_G2(Zeta, TW_G2(AddV2, tw_retain(x), tw__grad_constant(1, x)), tw_retain(q));
    g->input_grads[1] = tw__grad_unbroadcast(TW_G2(Mul, tw_retain(dz), TW_G2(Mul, TW_UNARY(Neg, x), next)), q);
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(Zeta, .inputs = "x: T, q: T", .outputs = "z: T", .attrs = "T: {float, double}", .shape = tw_shape_broadcast,
      .compute = zeta_compute, .gradient = zeta_gradient, .doc = "The Hurwitz zeta function: the sum of (q + k)^-x over k.");

static tw_status polygamma_compute(tw__kernel *kernel)
{
    return tw__binary_compute(kernel, &tw__binary_polygamma);
}

static tw_status polygamma_gradient(tw__gradient *g)
{
    tw_tensor *n = g->inputs[0], *x = g->inputs[1], *dz = g->output_grads[0];
    if (!g->wanted[1] || !dz)
        return TW_OK;
    tw_tensor *next = TW_G2(Polygamma, TW_G2(AddV2, tw_retain(n), tw__grad_constant(1, n)), tw_retain(x));
    g->input_grads[1] = tw__grad_unbroadcast(TW_G2(Mul, tw_retain(dz), next), x);
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(Polygamma, .inputs = "a: T, x: T", .outputs = "z: T", .attrs = "T: {float, double}", .shape = tw_shape_broadcast,
      .compute = polygamma_compute, .gradient = polygamma_gradient, .doc = "The a-th derivative of digamma.");
