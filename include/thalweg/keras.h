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
TW_API_FUNCTION tw_model *tw_model_new_(tw_model_function call, void *state, tw_model *model); /* gives `model` */
#define tw_model_new(call, ...) TW_MODEL_NEW_(call, __VA_ARGS__, )
#define TW_MODEL_NEW_(call, state, ...) tw_model_new_(call, state, tw_model(__VA_ARGS__))

/* Layers in a row: tw_model_sequential(tw_layers_flatten(), tw_layers_dense(10)). */
#define tw_model_sequential(...) tw_sequential(TW_OBJECTS(__VA_ARGS__))

/* Gives the parent a part under a name, as an attribute does in Python: checkpoints and lists of variables find it there. Returns
 * the child, borrowed: the parent has retained it, and it lives as long as the parent. */
TW_API_FUNCTION void *tw_track(void *parent, const char *name, void *child);

/* Connects a layer to a Keras tensor (tw_input) or to several, and gives the Keras tensor that stands for its output, which keeps
 * the layer.
 *
 *     tw_auto tw_keras_tensor *x = tw_input(.shape = TW_SHAPE(4));
 *     tw_auto tw_keras_tensor *y = tw_connect(tw_layers_dense(1), x);
 *     tw_auto tw_model *model = tw_model_connect(TW_OBJECTS(x), TW_OBJECTS(y), "line"); */
TW_API_FUNCTION tw_keras_tensor *tw_connect(tw_layer *layer, tw_keras_tensor *input);
TW_API_FUNCTION tw_keras_tensor *tw_connect_all(tw_layer *layer, tw_objects inputs);
/* The model between Keras tensors, which stay the caller's. Name NULL: model, model_1, … Called with several inputs by
 * tw_model_call_all. */
TW_API_FUNCTION tw_model *tw_model_connect(tw_objects inputs, tw_objects outputs, const char *name);
TW_API_FUNCTION tw_tensors tw_model_call_all(tw_model *model, tw_tensors inputs, bool training);

/* Calls a layer or model. NULL on failure, or if one of the two is NULL. */
TW_API_FUNCTION tw_tensor *tw_layer_call(tw_layer *layer, tw_tensor *input);
TW_API_FUNCTION tw_tensor *tw_model_call(tw_model *model, tw_tensor *input);
/* The same while training (layers such as Dropout then behave so). */
TW_API_FUNCTION tw_tensor *tw_model_call_training(tw_model *model, tw_tensor *input);

/* ---- training ----
 *
 *     tw_model_compile(model, .optimizer = "adam", .loss = tw_losses_sparse_categorical_crossentropy(.from_logits = true),
 *                      .metrics = TW_NAMES("accuracy"));
 *     tw_auto tw_callback *history = tw_model_fit(model, x, y, .epochs = 5, .validation_split = 0.1);
 */

/* Names, or objects that stand for them: TW_NAMES("accuracy", "mae"). */
#define TW_NAMES(...) TW_OBJECTS(__VA_ARGS__)

typedef struct tw_compile_args {
    size_t tw_size;
    tw_named optimizer;          /* a name or an optimizer; "rmsprop" if NULL */
    tw_named loss;               /* a name or a loss */
    tw_objects metrics;          /* names and metrics */
    tw_objects weighted_metrics; /* the same; with the weights of the examples */
    tw_flag run_eagerly;         /* steps are not traced */
    int64_t steps_per_execution; /* batches between calls of callbacks; 1 */
} tw_compile_args;
#define tw_compile_defaults .steps_per_execution = 1, .tw_size = sizeof(tw_compile_args)
TW_API_FUNCTION tw_status tw_model_compile_(tw_model *model, const tw_compile_args *args);
#define tw_model_compile(model, ...) TW_QUIETLY(tw_model_compile_(model, &(tw_compile_args){ tw_compile_defaults, __VA_ARGS__ }))

/* What happens while a model is trained, evaluated or run; callbacks are told. */
typedef enum tw_event {
    TW_TRAIN_BEGIN,
    TW_TRAIN_END,
    TW_TEST_BEGIN,
    TW_TEST_END,
    TW_PREDICT_BEGIN,
    TW_PREDICT_END,
    TW_EPOCH_BEGIN,
    TW_EPOCH_END,
    TW_TRAIN_BATCH_BEGIN,
    TW_TRAIN_BATCH_END,
    TW_TEST_BATCH_BEGIN,
    TW_TEST_BATCH_END,
    TW_PREDICT_BATCH_BEGIN,
    TW_PREDICT_BATCH_END
} tw_event;

/* index: the number of the epoch or batch, from 0 on. logs: a dict of values by name (tw_value), or NULL. */
typedef tw_status (*tw_callback_function)(void *state, tw_model *model, tw_event event, int64_t index, const tw_value *logs);
/* A callback that calls a C function at every event. */
TW_API_FUNCTION tw_callback *tw_callback_new(tw_callback_function function, void *state);
/* A number of logs, or of a History's last epoch; NaN if there is none of that name. */
TW_API_FUNCTION double tw_log_value(const tw_value *logs, const char *name);
/* Value number `epoch` of a History, negative: from the end; NaN if there is none. */
TW_API_FUNCTION double tw_history_value(tw_callback *history, const char *name, int64_t epoch);
TW_API_FUNCTION void tw_model_stop_training(tw_model *model);

/* x is a tensor or, without y, a dataset of batches (x, y) or (x, y, weights). Callbacks are
 * taken. */
typedef struct tw_fit_args {
    size_t tw_size;
    tw_tensor *y;
    int64_t batch_size; /* 32 unless told otherwise */
    int64_t epochs;     /* 1 */
    int64_t verbose;    /* 0: nothing is printed; 1: a bar; 2: one line per epoch */
    tw_objects callbacks;
    double validation_split; /* this part of the rows, the last ones, is for validation */
    tw_tensor *validation_x, *validation_y;
    tw_dataset *validation_data;
    tw_flag shuffle;          /* the rows, before every epoch; true */
    tw_tensor *sample_weight; /* one number per row */
    int64_t initial_epoch;
    int64_t steps_per_epoch, validation_steps; /* all batches unless told otherwise */
    int64_t validation_batch_size;             /* batch_size */
    int64_t validation_freq;                   /* epochs between validations; 1 */
} tw_fit_args;
#define tw_fit_defaults                                                                                                 \
    .batch_size = TW_NO_INT, .epochs = 1, .shuffle = true, .steps_per_epoch = TW_NO_INT, .validation_steps = TW_NO_INT, \
    .validation_batch_size = TW_NO_INT, .validation_freq = 1, .tw_size = sizeof(tw_fit_args)
/* Trains; gives the History, which is the caller's. NULL: an error. */
TW_API_FUNCTION tw_callback *tw_model_fit_(tw_model *model, void *x, const tw_fit_args *args);
#define tw_model_fit(model, x, ...) \
    TW_MADE(tw_callback *, TW_QUIETLY(tw_model_fit_(model, x, &(tw_fit_args){ tw_fit_defaults, __VA_ARGS__ })))

/* The loss and the metrics, a dict of numbers by name for tw_value_free; NONE: an error. Of the arguments those that training
 * alone has are without meaning. */
TW_API_FUNCTION tw_value tw_model_evaluate_(tw_model *model, void *x, const tw_fit_args *args);
#define tw_model_evaluate(model, x, ...) \
    TW_MADE_VALUE(TW_QUIETLY(tw_model_evaluate_(model, x, &(tw_fit_args){ tw_fit_defaults, __VA_ARGS__ })))
/* One step on a batch; the values of the metrics as for evaluate. y may be NULL. */
TW_API_FUNCTION tw_value tw_model_train_on_batch(tw_model *model, tw_tensor *x, tw_tensor *y);
TW_API_FUNCTION tw_value tw_model_test_on_batch(tw_model *model, tw_tensor *x, tw_tensor *y);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_connect(...) TW_MADE(tw_keras_tensor *, tw_connect(__VA_ARGS__))
#define tw_connect_all(...) TW_MADE(tw_keras_tensor *, tw_connect_all(__VA_ARGS__))
#define tw_model_connect(...) TW_MADE(tw_model *, tw_model_connect(__VA_ARGS__))
#define tw_model_call_all(...) TW_MADE_TENSORS(tw_model_call_all(__VA_ARGS__))
#define tw_layer_call(...) TW_MADE(tw_tensor *, tw_layer_call(__VA_ARGS__))
#define tw_model_call(...) TW_MADE(tw_tensor *, tw_model_call(__VA_ARGS__))
#define tw_model_call_training(...) TW_MADE(tw_tensor *, tw_model_call_training(__VA_ARGS__))
#define tw_callback_new(...) TW_MADE(tw_callback *, tw_callback_new(__VA_ARGS__))
#define tw_model_train_on_batch(...) TW_MADE_VALUE(tw_model_train_on_batch(__VA_ARGS__))
#define tw_model_test_on_batch(...) TW_MADE_VALUE(tw_model_test_on_batch(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
