/* Keras for C programs, beside what <thalweg/api.h> gives: models with a function of their own, calls.
 *
 *     tw_auto tw_model *model = tw_model_new(mlp_call, &mlp, .name = "mlp");
 *     mlp.dense = tw_track(model, "dense", tw_layers_dense(100, .activation = "relu"));
 */
#ifndef THALWEG_KERAS_H
#define THALWEG_KERAS_H

#include <thalweg/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model's own call; training is 1, 0 or -1 (not said). The result is the caller's. */
typedef tw_tensor *(*tw_model_function)(tw_model *self, tw_tensor *input, int training, void *state);

/* A model that calls a C function. `state` is the program's. */
TW_API_FUNCTION tw_model *tw_model_new_(tw_model_function call, void *state, const tw_model_args *args);
#define tw_model_new(call, ...) TW_MODEL_NEW_(call, __VA_ARGS__, .tw_ = 0)
#define TW_MODEL_NEW_(call, state, ...) tw_model_new_(call, state, &(tw_model_args){ __VA_ARGS__ })

/* Layers in a row: tw_model_sequential(tw_layers_flatten(), tw_layers_dense(10)). Takes them. */
#define tw_model_sequential(...) tw_sequential(TW_OBJECTS(__VA_ARGS__))

/* Gives the parent a part under a name, as an attribute does in Python: checkpoints and lists of variables find it there. Takes the child
 * and returns it, borrowed: it lives as long as the parent. */
TW_API_FUNCTION void *tw_track(void *parent, const char *name, void *child);

/* Calls a layer or model. NULL on failure, or if one of the two is NULL. */
TW_API_FUNCTION tw_tensor *tw_layer_call(tw_layer *layer, tw_tensor *input);
TW_API_FUNCTION tw_tensor *tw_model_call(tw_model *model, tw_tensor *input);
/* The same while training (layers such as Dropout then behave so). */
TW_API_FUNCTION tw_tensor *tw_model_call_training(tw_model *model, tw_tensor *input);

#ifdef __cplusplus
}
#endif
#endif
