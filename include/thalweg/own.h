/* Keras with parts of the program's own: losses, metrics, layers, models, initializers, regularizers, constraints, schedules and
 * activations that call C functions. What is made here stands wherever Keras's own parts do:
 *
 *     static tw_tensor *twice(void *state, tw_tensor *x) { return tw_add(x, x); }
 *     tw_layer *dense = tw_layers_dense(4, .activation = tw_callable_new(twice, NULL, .name = "twice"));
 *
 * Functions call tw_… operations on the tensors they get: they are traced as any code is. A scope is open around them; they give
 * a tensor, or NULL after an error. `state` is the program's; `.end`, if it is given, is called with it when the object is needed
 * no longer. A file can't hold a C function: checkpoints and weights of such parts are saved, their configs refuse. */
#ifndef THALWEG_OWN_H
#define THALWEG_OWN_H

#include <thalweg/api.h>
#include <thalweg/function.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_own_args {
    size_t tw_size;
    const char *name;         /* NULL: the kind's */
    void (*end)(void *state); /* or NULL */
} tw_own_args;
#define tw_own_defaults .tw_size = sizeof(tw_own_args)

/* A function of one tensor. */
typedef tw_tensor *(*tw_tensor_function)(void *state, tw_tensor *x);

/* An activation, or another function of one tensor. */
TW_API_FUNCTION tw_callable *tw_callable_new_(tw_tensor_function function, void *state, const tw_own_args *args);
#define tw_callable_new(function, ...) TW_OWN_(callable, tw_callable, function, __VA_ARGS__, )
/* The penalty of a weight, a scalar. */
TW_API_FUNCTION tw_regularizer *tw_regularizer_new_(tw_tensor_function function, void *state, const tw_own_args *args);
#define tw_regularizer_new(function, ...) TW_OWN_(regularizer, tw_regularizer, function, __VA_ARGS__, )
/* The value of a weight that is allowed; applied after every update. */
TW_API_FUNCTION tw_constraint *tw_constraint_new_(tw_tensor_function function, void *state, const tw_own_args *args);
#define tw_constraint_new(function, ...) TW_OWN_(constraint, tw_constraint, function, __VA_ARGS__, )
/* The learning rate at a step: from a float32 scalar to a float32 scalar. */
TW_API_FUNCTION tw_schedule *tw_schedule_new_(tw_tensor_function function, void *state, const tw_own_args *args);
#define tw_schedule_new(function, ...) TW_OWN_(schedule, tw_schedule, function, __VA_ARGS__, )
#define TW_OWN_(kind, type, function, state, ...) \
    TW_MADE(type *, TW_QUIETLY(tw_##kind##_new_(function, state, &(tw_own_args){ tw_own_defaults, __VA_ARGS__ })))

/* The first value of a variable. */
typedef tw_tensor *(*tw_initializer_function)(void *state, tw_shape shape, tw_dtype dtype);
TW_API_FUNCTION tw_initializer *tw_initializer_new_(tw_initializer_function function, void *state, const tw_own_args *args);
#define tw_initializer_new(function, ...) TW_OWN_(initializer, tw_initializer, function, __VA_ARGS__, )

/* One value per example, from labels and predictions. */
typedef tw_tensor *(*tw_loss_function)(void *state, tw_tensor *y_true, tw_tensor *y_pred);
typedef struct tw_loss_new_args {
    size_t tw_size;
    const char *name;
    const char *reduction; /* "sum_over_batch_size" (NULL), "sum", "none" */
    void (*end)(void *state);
} tw_loss_new_args;
#define tw_loss_new_defaults .tw_size = sizeof(tw_loss_new_args)
TW_API_FUNCTION tw_loss *tw_loss_new_(tw_loss_function function, void *state, const tw_loss_new_args *args);
#define tw_loss_new(function, ...) TW_LOSS_NEW_(function, __VA_ARGS__, )
#define TW_LOSS_NEW_(function, state, ...) \
    TW_MADE(tw_loss *, TW_QUIETLY(tw_loss_new_(function, state, &(tw_loss_new_args){ tw_loss_new_defaults, __VA_ARGS__ })))

/* The mean of such a function over all examples. */
TW_API_FUNCTION tw_metric *tw_metric_mean_new_(tw_loss_function function, void *state, const tw_own_args *args);
#define tw_metric_mean_new(function, ...) TW_OWN_(metric_mean, tw_metric, function, __VA_ARGS__, )
/* A metric with variables of its own (tw_metric_add_weight): `update` adds a batch to them, `result` tells what they say. A reset
 * sets them to zero. */
typedef tw_status (*tw_metric_update_function)(tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight,
                                               void *state);
typedef tw_tensor *(*tw_metric_result_function)(tw_metric *self, void *state);
TW_API_FUNCTION tw_metric *tw_metric_new_(tw_metric_update_function update, tw_metric_result_function result, void *state,
                                          const tw_own_args *args);
#define tw_metric_new(update, result, ...) TW_METRIC_NEW_(update, result, __VA_ARGS__, )
#define TW_METRIC_NEW_(update, result, state, ...) \
    TW_MADE(tw_metric *, TW_QUIETLY(tw_metric_new_(update, result, state, &(tw_own_args){ tw_own_defaults, __VA_ARGS__ })))
/* Adds a batch to any metric of labels and predictions; sample_weight may be NULL. */
TW_API_FUNCTION tw_status tw_metric_update_state(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred,
                                                 tw_tensor *sample_weight);
/* A variable of zeros; borrowed, it lives as long as the metric. */
TW_API_FUNCTION tw_variable *tw_metric_add_weight(tw_metric *metric, const char *name, tw_shape shape);

/* A layer's call; training is 1, 0 or -1 (not said). */
typedef tw_tensor *(*tw_layer_function)(tw_layer *self, tw_tensor *input, int training, void *state);
/* The same for several inputs or outputs, which are given by tw_give. */
typedef tw_tensors (*tw_layer_body)(tw_layer *self, tw_tensors inputs, int training, void *state);
/* Makes the weights at the first call (tw_layer_weight); the shape is that of the first input. */
typedef tw_status (*tw_build_function)(tw_layer *self, tw_shape input_shape, void *state);
typedef struct tw_layer_new_args {
    size_t tw_size;
    const char *name;
    tw_dtype_option dtype; /* float32 if it is not given */
    tw_build_function build;
    void (*end)(void *state);
} tw_layer_new_args;
#define tw_layer_new_defaults .tw_size = sizeof(tw_layer_new_args)
TW_API_FUNCTION tw_layer *tw_layer_new_(tw_layer_function call, tw_layer_body call_all, void *state,
                                        const tw_layer_new_args *args);
#define tw_layer_new(call, ...) TW_LAYER_NEW_(call, NULL, __VA_ARGS__, )
#define tw_layer_new_all(call, ...) TW_LAYER_NEW_(NULL, call, __VA_ARGS__, )
#define TW_LAYER_NEW_(call, call_all, state, ...) \
    TW_MADE(tw_layer *,                           \
            TW_QUIETLY(tw_layer_new_(call, call_all, state, &(tw_layer_new_args){ tw_layer_new_defaults, __VA_ARGS__ })))

/* A weight; borrowed, it lives as long as the layer. */
typedef struct tw_weight_args {
    size_t tw_size;
    tw_named initializer; /* NULL: glorot_uniform for floats, zeros for others */
    tw_named regularizer, constraint;
    tw_dtype_option dtype; /* the layer's if it is not given */
    tw_flag trainable;     /* true unless told otherwise */
} tw_weight_args;
#define tw_weight_defaults .trainable = true, .tw_size = sizeof(tw_weight_args)
TW_API_FUNCTION tw_variable *tw_layer_weight_(tw_layer *layer, const char *name, tw_shape shape, const tw_weight_args *args);
#define tw_layer_weight(layer, name, ...) TW_LAYER_WEIGHT_(layer, name, __VA_ARGS__, )
#define TW_LAYER_WEIGHT_(layer, name, shape, ...) \
    TW_QUIETLY(tw_layer_weight_(layer, name, shape, &(tw_weight_args){ tw_weight_defaults, __VA_ARGS__ }))

/* ---- callbacks ---- */

/* The learning rate of an epoch, of its number and the rate so far; a callback for tw_model_fit. */
typedef double (*tw_rate_function)(void *state, int64_t epoch, double rate);
TW_API_FUNCTION tw_callback *tw_learning_rate_scheduler_new(tw_rate_function function, void *state);

/* ---- models ---- */

/* A model whose call takes or gives several tensors: tw_model_new_all(call, &state, .name = "pair"). */
TW_API_FUNCTION tw_model *tw_model_new_all_(tw_layer_body call, void *state, const tw_model_args *args);
#define tw_model_new_all(call, ...) TW_MODEL_NEW_ALL_(call, __VA_ARGS__, )
#define TW_MODEL_NEW_ALL_(call, state, ...) \
    TW_MADE(tw_model *, TW_QUIETLY(tw_model_new_all_(call, state, &(tw_model_args){ tw_model_defaults, __VA_ARGS__ })))

/* What a step of training, testing or predicting is given. Borrowed. */
typedef struct tw_batch {
    tw_tensors x, y, weights;
} tw_batch;
/* What it gives: values by name, which become the logs of the step. */
typedef struct tw_step_results tw_step_results;
TW_API_FUNCTION tw_status tw_step_give(tw_step_results *results, const char *name, tw_tensor *value);
typedef tw_status (*tw_step_function)(tw_model *self, tw_batch batch, tw_step_results *results, void *state);
/* The model's own steps; NULL: the usual ones. `state` is the model's. */
TW_API_FUNCTION tw_status tw_model_set_steps(tw_model *model, tw_step_function train, tw_step_function test,
                                             tw_step_function predict);
/* What compile was given; borrowed, or NULL. */
TW_API_FUNCTION tw_optimizer *tw_model_optimizer(tw_model *model);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_learning_rate_scheduler_new(...) TW_MADE(tw_callback *, tw_learning_rate_scheduler_new(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
