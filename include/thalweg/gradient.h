/* Values whose gradient the caller defines.
 *
 *     tw_tensor *y[1];
 *     tw_custom_gradient(TW_TENSORS(x), log1pexp, log1pexp_back, &state, NULL, 1, y);
 *
 * `forward` is called at once; its results are the outputs. `backward` is called when a gradient passes them, eagerly, from a
 * tape, or while a graph is differentiated: so it calls ops on the tensors it is given, and what it makes can be differentiated
 * again. */
#ifndef THALWEG_GRADIENT_H
#define THALWEG_GRADIENT_H

#include <thalweg/function.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives new references into `outputs`. */
typedef tw_status (*tw_custom_forward)(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs,
                                       int output_count);
/* From the gradients of the outputs to those of the inputs: new references, or NULL for none. */
typedef tw_status (*tw_custom_backward)(void *user, tw_tensor *const *inputs, int input_count, tw_tensor *const *output_gradients,
                                        int output_count, tw_tensor **input_gradients);
/* `user` must live as long as the outputs, tapes and graphs that know them; `end` (or NULL) is called when it is needed no
 * longer. */
TW_API_FUNCTION tw_status tw_custom_gradient(tw_tensors inputs, tw_custom_forward forward, tw_custom_backward backward,
                                             void *user, void (*end)(void *user), int output_count, tw_tensor **outputs);

/* What the body gives, of which nothing inside is kept for the gradient: the body runs again when one passes. Gradients go to the
 * inputs, and to variables that the body reads. `user` and `end` as above. For tw_tensors_free; items is NULL on failure. */
TW_API_FUNCTION tw_tensors tw_recompute_grad(tw_body body, void *user, void (*end)(void *user), tw_tensors inputs);
/* What the body gives, with the gradient of the identity: as many values as it gets. */
TW_API_FUNCTION tw_tensors tw_grad_pass_through(tw_body body, void *user, tw_tensors inputs);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_recompute_grad(...) TW_MADE_TENSORS(tw_recompute_grad(__VA_ARGS__))
#define tw_grad_pass_through(...) TW_MADE_TENSORS(tw_grad_pass_through(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
