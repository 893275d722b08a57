/* What gradient functions share (math/gradient.c). All of it calls ops through dispatch, so it can be traced and derived again.
 *
 *     static tw_status multiply_gradient(tw__gradient *g)
 *     {
 *         if (g->wanted[0])
 *             tw__grad_set(g, 0, TW_CALL(Mul, g->output_grads[0], g->inputs[1]));
 *         return tw__grad_status(g);      // an error if one of the gradients could not be made
 *     }
 */
#ifndef TW_GRADIENT_H
#define TW_GRADIENT_H

#include "op/calls.h"

/* Gives `gradient` (taken; NULL after a failure) as the gradient of input i: what broadcasting added to the input's shape is
 * summed away. Not wanted: it is dropped. */
void tw__grad_set(tw__gradient *g, int input, tw_tensor *gradient);
/* TW_OK if every wanted gradient is there, else the thread's error: the end of a gradient function that gives them all. */
tw_status tw__grad_status(const tw__gradient *g);
/* Sums over the dimensions in which `input` was broadcast to reach the gradient's shape: a new reference (the same tensor if the
 * shapes are equal). Shapes that are not known yet are compared by ops. Takes the gradient; NULL gives NULL. */
tw_tensor *tw__grad_unbroadcast(tw_tensor *gradient, tw_tensor *input);
tw_tensor *tw__grad_conj(tw_tensor *tensor);     /* a new reference; the tensor itself if it is real */
tw_tensor *tw__grad_not_zero(tw_tensor *tensor); /* ones and zeros of the same dtype */

#endif
