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

/* Gives the parent a part under a name, as an attribute does in Python: checkpoints and lists of variables find it there. Takes
 * the child and returns it, borrowed: it lives as long as the parent. */
TW_API_FUNCTION void *tw_track(void *parent, const char *name, void *child);

/* Connects a layer to a Keras tensor (tw_input) or to several, and gives the Keras tensor that stands for its output. Takes the
 * layer, which lives as long as what it gave; a layer that is used twice is given with tw_retain.
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
    int tw_;
    tw_named optimizer;          /* a name or an optimizer, which is taken; "rmsprop" if NULL */
    tw_named loss;               /* a name or a loss, which is taken */
    tw_objects metrics;          /* names and metrics, which are taken */
    tw_objects weighted_metrics; /* the same; with the weights of the examples */
    bool run_eagerly;            /* steps are not traced */
    int64_t steps_per_execution; /* batches between calls of callbacks; 1 if 0 */
} tw_compile_args;
TW_API_FUNCTION tw_status tw_model_compile_(tw_model *model, const tw_compile_args *args);
#define tw_model_compile(model, ...) tw_model_compile_(model, &(tw_compile_args){ .tw_ = 0, __VA_ARGS__ })

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

/* Zero means the default. x is a tensor or, without y, a dataset of batches (x, y) or (x, y, weights); it is borrowed, as all
 * tensors are. Callbacks are taken. */
typedef struct tw_fit_args {
    int tw_;
    tw_tensor *y;
    int64_t batch_size; /* 32 */
    int64_t epochs;     /* 1 */
    int verbose;        /* 1: a bar; 2: one line per epoch; TW_ZERO: nothing */
    tw_objects callbacks;
    double validation_split; /* this part of the rows, the last ones, is for validation */
    tw_tensor *validation_x, *validation_y;
    tw_dataset *validation_data;
    bool no_shuffle;
    tw_tensor *sample_weight; /* one number per row */
    int64_t initial_epoch, steps_per_epoch, validation_steps, validation_batch_size, validation_freq;
} tw_fit_args;
/* Trains; gives the History, which is the caller's. NULL: an error. */
TW_API_FUNCTION tw_callback *tw_model_fit_(tw_model *model, void *x, const tw_fit_args *args);
#define tw_model_fit(model, x, ...) tw_model_fit_(model, x, &(tw_fit_args){ .tw_ = 0, __VA_ARGS__ })

/* The loss and the metrics, a dict of numbers by name for tw_value_free; NONE: an error. Of the arguments those that training
 * alone has are without meaning. */
TW_API_FUNCTION tw_value tw_model_evaluate_(tw_model *model, void *x, const tw_fit_args *args);
#define tw_model_evaluate(model, x, ...) tw_model_evaluate_(model, x, &(tw_fit_args){ .tw_ = 0, __VA_ARGS__ })
/* One step on a batch; the values of the metrics as for evaluate. y may be NULL. */
TW_API_FUNCTION tw_value tw_model_train_on_batch(tw_model *model, tw_tensor *x, tw_tensor *y);
TW_API_FUNCTION tw_value tw_model_test_on_batch(tw_model *model, tw_tensor *x, tw_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
