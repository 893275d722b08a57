/* The calls of fit, evaluate, train_on_batch and test_on_batch: rows that take structures of tensors, and functions for a tensor
 * or a dataset (<thalweg/keras.h>). */
#include <math.h>

#include "function/library.h"
#include "keras/models/fit.h"

/* The trainer, between here and tw__trainer_end this thread's. */
static tw__trainer *trainer_for(tw_layer *model, const char *what, int64_t own)
{
    if (tw__trainer_check(model, "fit") != TW_OK)
        return NULL;
    tw__trainer *t = tw__trainer_of(model);
    return t && tw__trainer_begin(t, what, (int)own) == TW_OK ? t : NULL;
}

/* ---- fit ---- */

static tw_status split(const tw__feed_options *all, double part, tw__feed_options *training, tw__feed_options *validation)
{
    if (!all->arrays || !all->parts.x)
        return tw__fail(TW_VALUE_ERROR, "`validation_split` is only supported for Tensors or NumPy arrays, found a dataset");
    int64_t rows = all->arrays[0]->shape.rank > 0 ? all->arrays[0]->shape.dims[0] : 0,
            at = (int64_t)floor((double)rows * (1.0 - part));
    if (at <= 0 || at >= rows) {
        tw__text number = { 0 };
        tw__print_float(&number, part, TW_FLOAT64);
        tw_status status =
            tw__fail(TW_VALUE_ERROR,
                     "Training data contains %lld samples, which is not sufficient to split it into a validation and "
                     "training set as specified by `validation_split=%s`. Either provide more data, or a different value for the "
                     "`validation_split` argument.",
                     (long long)rows, number.data ? number.data : "");
        tw__text_free(&number);
        return status;
    }
    training->first = 0;
    training->rows = at;
    *validation = *all;
    validation->first = at;
    validation->rows = rows - at;
    return TW_OK;
}

static tw_status read_validation(tw__trainer *t, const tw_model_fit_values_args *args, tw__given *given)
{
    const tw_value *const parts[3] = { &args->validation_x, &args->validation_y, &args->validation_weights };
    return parts[0]->kind == TW_VALUE_NONE ? TW_OK : tw__given_read(t, parts, "fit: validation_data", given);
}

TW_METHOD(
    model_fit_values,
    "keras.Model._fit(self: layer, x: value<arrays>, y: value<arrays> = None, sample_weight: value<arrays> = None, own: int = 0, "
    "batch_size: int = None, epochs: int = 1, verbose: int = 1, callbacks: list<callback> = None, validation_split: float = 0.0, "
    "validation_x: value<arrays> = None, validation_y: value<arrays> = None, validation_weights: value<arrays> = None, shuffle: bool = True, "
    "class_weight: value = None, initial_epoch: int = 0, steps_per_epoch: int = None, validation_steps: int = None, "
    "validation_batch_size: int = None, validation_freq: ints = None, freq_is_list: bool = False, shuffle_batches: bool = False) -> callback",
    "Trains the model with structures of tensors, or with a dataset as x; gives the History.")
{
    tw__fit fit = { .epochs = args->epochs,
                    .initial_epoch = args->initial_epoch,
                    .steps_per_epoch = args->steps_per_epoch,
                    .validation_steps = args->validation_steps,
                    .validation_freq = args->validation_freq,
                    .freq_is_list = args->freq_is_list,
                    .verbose = (int)args->verbose,
                    .callbacks = args->callbacks };
    int64_t always = 1;
    if (!fit.validation_freq.count && !fit.freq_is_list)
        fit.validation_freq = (tw_ints){ &always, 1, true, false };
    if (fit.validation_freq.count == 1 && !fit.freq_is_list && fit.validation_freq.items[0] < 1) {
        tw__fail(TW_VALUE_ERROR, "`validation_freq` can not be less than 1.");
        return NULL;
    }
    tw__given data = { 0 }, other = { 0 };
    tw__trainer *own = tw__trainer_check(args->self, "fit") == TW_OK ? tw__trainer_of(args->self) : NULL;
    if (!own ||
        tw__given_read(own, (const tw_value *const[3]){ &args->x, &args->y, &args->sample_weight }, "fit", &data) != TW_OK)
        return NULL;
    if (read_validation(own, args, &other) != TW_OK || !(fit.trainer = trainer_for(args->self, "fit", args->own))) {
        tw__given_free(&data);
        tw__given_free(&other);
        return NULL;
    }
    data.parts.own = other.parts.own = (int)args->own;
    tw__feed_options training = { .arrays = data.dataset ? NULL : data.arrays,
                                  .dataset = data.dataset,
                                  .parts = data.parts,
                                  .batch_size = data.dataset ? TW_NO_INT : args->batch_size,
                                  .steps = args->steps_per_epoch,
                                  .rows = -1,
                                  .shuffle = args->shuffle,
                                  .batches = args->shuffle_batches,
                                  .class_weight = &args->class_weight };
    tw__feed_options validation = {
        .arrays = other.dataset ? NULL : other.arrays, .dataset = other.dataset, .parts = other.parts, .rows = -1
    };
    tw_status status = TW_OK;
    fit.validates = validation.parts.x > 0;
    if (!fit.validates && args->validation_split > 0) {
        fit.validates = true;
        tw__feed_options all = training;
        status = split(&all, args->validation_split, &training, &validation);
    }
    validation.shuffle = false;
    validation.steps = args->validation_steps;
    validation.class_weight = NULL;
    validation.batch_size = args->validation_batch_size != TW_NO_INT && args->validation_batch_size ? args->validation_batch_size
                                                                                                    : training.batch_size;
    if (status == TW_OK)
        status = tw__feed_open(&fit.feed, &training, "fit");
    if (status == TW_OK && fit.validates)
        status = tw__feed_open(&fit.validation, &validation, "fit: validation_data");
    tw__given_free(&data);
    tw__given_free(&other);
    tw_callback *history = status == TW_OK ? tw__fit_run(&fit) : NULL;
    tw__fit_end(&fit);
    tw__trainer_end(fit.trainer);
    return history;
}

/* ---- evaluate ---- */

TW_METHOD(
    model_evaluate_values,
    "keras.Model._evaluate(self: layer, x: value<arrays>, y: value<arrays> = None, sample_weight: value<arrays> = None, own: int = 0, "
    "batch_size: int = None, verbose: int = 1, steps: int = None, callbacks: list<callback> = None) -> value",
    "The loss and the metrics over all batches of structures of tensors, or of a dataset; by name.")
{
    tw__trainer *t = trainer_for(args->self, "evaluate", args->own);
    tw__given data = { 0 };
    tw__feed feed = { 0 };
    tw__dict logs = { 0 };
    const tw_value *const parts[3] = { &args->x, &args->y, &args->sample_weight };
    tw_status status = t ? tw__given_read(t, parts, "evaluate", &data) : tw__error_status();
    data.parts.own = (int)args->own;
    if (status == TW_OK)
        status = tw__feed_open(&feed,
                               &(tw__feed_options){ .arrays = data.dataset ? NULL : data.arrays,
                                                    .dataset = data.dataset,
                                                    .parts = data.parts,
                                                    .batch_size = args->batch_size,
                                                    .steps = args->steps,
                                                    .rows = -1 },
                               "evaluate");
    tw__given_free(&data);
    if (status == TW_OK)
        status = tw__evaluate_run(t, &feed, args->steps, (int)args->verbose, args->callbacks, &logs);
    tw__feed_close(&feed);
    if (t)
        tw__trainer_end(t);
    if (status == TW_OK)
        return tw__dict_take(&logs);
    tw__logs_free(&logs);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

/* ---- one batch ---- */

static tw_status run_batch(tw__trainer *t, tw__mode mode, tw__feed *feed, const tw__feed_options *options, bool reset,
                           tw__dict *logs)
{
    tw__auto(tw_tensors_free) tw_tensors results = { 0 };
    int count = 0;
    bool end = false;
    TW_TRY(tw__feed_open(feed, options, mode == TW_TRAIN_MODE ? "train_on_batch" : "test_on_batch"));
    if (reset)
        TW_TRY(tw__trainer_reset(t));
    TW_TRY(tw__feed_epoch(feed));
    TW_TRY(tw__feed_next(feed, &end));
    tw_status status = tw__trainer_step(t, mode, feed->batch, feed->specs, feed->parts, &results.items, &count);
    results.count = count;
    TW_TRY(status);
    return tw__step_logs(&t->steps[mode], results.items, count, logs);
}

static tw_value on_batch(tw__trainer *t, tw__mode mode, const tw__feed_options *options, bool reset)
{
    tw__feed feed = { 0 };
    tw__dict logs = { 0 };
    tw__feed_options whole = *options;
    whole.rows = -1;
    whole.batch_size =
        options->arrays[0]->shape.rank > 0 && options->arrays[0]->shape.dims[0] > 0 ? options->arrays[0]->shape.dims[0] : 1;
    tw_status status = run_batch(t, mode, &feed, &whole, reset, &logs);
    tw__feed_close(&feed);
    if (status == TW_OK)
        return tw__dict_take(&logs);
    tw__logs_free(&logs);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(
    model_batch_values,
    "keras.Model._on_batch(self: layer, mode: int, x: value<arrays>, y: value<arrays> = None, sample_weight: value<arrays> = None, "
    "own: int = 0, class_weight: value = None, reset_metrics: bool = True) -> value",
    "One step of training (0) or evaluation (1) over a batch, structures of tensors; the metrics by name.")
{
    const char *what = args->mode ? "test_on_batch" : "train_on_batch";
    tw_value none = { .kind = TW_VALUE_NONE };
    tw__given data = { 0 };
    const tw_value *const parts[3] = { &args->x, &args->y, &args->sample_weight };
    tw__trainer *t = trainer_for(args->self, what, args->own);
    if (!t)
        return none;
    tw_status status = tw__given_read(t, parts, what, &data);
    if (status == TW_OK && data.dataset)
        status = tw__fail(TW_TYPE_ERROR, "%s: x is a dataset, expected a tensor", what);
    data.parts.own = (int)args->own;
    tw__feed_options options = { .arrays = data.arrays, .parts = data.parts, .class_weight = &args->class_weight };
    tw_value logs =
        status == TW_OK ? on_batch(t, args->mode ? TW_TEST_MODE : TW_TRAIN_MODE, &options, args->reset_metrics) : none;
    tw__given_free(&data);
    tw__trainer_end(t);
    return logs;
}

/* ---- small properties ---- */

TW_PROPERTY(model_stop, "keras.Model.stop_training(self: layer) -> bool", "Whether the training shall end after this batch.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    return t && t->stop_training;
}

TW_METHOD(model_set_stop, "keras.Model._set_stop_training(self: layer, value: bool)", "Ends the training after this batch.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    if (!t)
        return tw__error_status();
    t->stop_training = args->value;
    return TW_OK;
}

TW_METHOD(model_training_state, "keras.Model._training_state(self: layer) -> value",
          "What compile was given, and more: compiled, optimizer, history, run_eagerly, the number of training steps.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    tw__dict dict = { 0 };
    if (!t)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw__dict_put(&dict, "compiled", (tw_value){ .kind = TW_VALUE_BOOL, .b = t->compiled });
    tw__dict_put(&dict, "run_eagerly", (tw_value){ .kind = TW_VALUE_BOOL, .b = t->run_eagerly });
    tw__dict_put(&dict, "steps", (tw_value){ .kind = TW_VALUE_INT, .i = t->train_count });
    void *objects[] = { t->optimizer, t->history };
    static const char *const names[] = { "optimizer", "history" };
    for (int i = 0; i < 2; i++) {
        if (objects[i])
            tw__dict_put(&dict, names[i], (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(objects[i]) });
    }
    return tw__dict_take(&dict);
}

TW_METHOD(model_train_graph, "keras.Model._train_graph(self: layer) -> value",
          "The graph of the training step as a GraphDef; None before the first.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    tw__text text = { 0 };
    if (!t || !t->steps[TW_TRAIN_MODE].concrete)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw_status status =
        tw__graphdef_write(&text, t->steps[TW_TRAIN_MODE].concrete->graph, TW_GRAPH_TRACED | TW_GRAPH_SHAPES, NULL, 0);
    size_t size = text.size;
    char *bytes = status == TW_OK ? tw__text_take(&text) : NULL;
    tw__text_free(&text);
    return bytes ? (tw_value){ .kind = TW_VALUE_BYTES, .s = { bytes, size } } : (tw_value){ .kind = TW_VALUE_NONE };
}

/* ---- for C programs ---- */

void tw_model_stop_training(tw_model *model)
{
    tw__trainer *t = tw__check(model, &tw__class_layer, "tw_model_stop_training") ? tw__trainer_of(model) : NULL;
    if (t)
        t->stop_training = true;
}

static tw_value named_value(tw_named named)
{
    if (!named)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return tw__named_is_object(named) ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(named) } : tw__value_str(named);
}

/* A list of names and objects. */
static tw_value names_value(tw_objects names)
{
    tw_value *items = names.count > 0 ? tw__alloc_array((size_t)names.count, sizeof *items) : NULL;
    for (int64_t i = 0; items && i < names.count; i++)
        items[i] = named_value(names.items[i]);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, names.count } };
}

tw_status tw_model_compile_(tw_model *model, const tw_compile_args *options)
{
    tw_compile_args whole = { tw_compile_defaults }, *args = &whole;
    TW_TRY(tw__options_take(options, args, "tw_model_compile"));
    tw_model_compile_values_args given = {
        .self = model,
        .optimizer = args->optimizer ? args->optimizer : "rmsprop",
        .loss = named_value(args->loss),
        .metrics = names_value(args->metrics),
        .weighted_metrics = names_value(args->weighted_metrics),
        .run_eagerly = args->run_eagerly,
        .steps_per_execution = args->steps_per_execution,
    };
    tw_status status =
        tw__check(model, &tw__class_layer, "tw_model_compile") ? tw__impl_model_compile_values(&given) : tw__error_status();
    tw_value_free(&given.loss);
    tw_value_free(&given.metrics);
    tw_value_free(&given.weighted_metrics);
    return status;
}

/* A tensor or a dataset as a value; borrowed. */
static tw_status as_value(const char *who, void *x, tw_value *value)
{
    if (!tw__check_given(x, "x", who))
        return tw__error_status();
    if (tw__is(x, &tw__class_dataset))
        *value = (tw_value){ .kind = TW_VALUE_OBJECT, .object = x };
    else if (tw__is(x, &tw__tensor_class))
        *value = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = x };
    else
        return tw__fail(TW_TYPE_ERROR, "%s: x is a %s, expected a tensor or a dataset", who, tw_class_name(x));
    return TW_OK;
}

static tw_status gather(const char *who, const tw_model *model, void *x, tw_tensor *y, tw_tensor *weights, tw_value values[3])
{
    tw_tensor *further[2] = { y, weights };
    if (!tw__check(model, &tw__class_layer, who))
        return tw__error_status();
    TW_TRY(as_value(who, x, &values[0]));
    for (int i = 0; i < 2; i++) {
        values[i + 1] = (tw_value){ .kind = TW_VALUE_NONE };
        if (further[i] && !tw__check(further[i], &tw__tensor_class, who))
            return tw__error_status();
        if (further[i])
            values[i + 1] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = further[i] };
    }
    return TW_OK;
}

/* The caller's options, with the defaults of those that it does not know of. */
static tw_status take_fit(const tw_fit_args *options, tw_fit_args *args, const char *who)
{
    TW_TRY(tw__options_take(options, args, who));
    if (args->callbacks.count && !tw__check_given(args->callbacks.items, "the list of callbacks", who))
        return tw__error_status();
    for (int64_t i = 0; i < args->callbacks.count; i++) {
        if (!tw__check(args->callbacks.items[i], &tw__class_callback, who))
            return tw__error_status();
    }
    return TW_OK;
}

tw_callback *tw_model_fit_(tw_model *model, void *x, const tw_fit_args *options)
{
    tw_fit_args whole = { tw_fit_defaults }, *args = &whole;
    if (take_fit(options, args, "tw_model_fit") != TW_OK)
        return NULL;
    tw_value data[3], others[3] = { { .kind = TW_VALUE_NONE }, { .kind = TW_VALUE_NONE }, { .kind = TW_VALUE_NONE } };
    tw_status status = gather("tw_model_fit", model, x, args->y, args->sample_weight, data);
    void *validation = args->validation_data ? (void *)args->validation_data : args->validation_x;
    if (status == TW_OK && validation)
        status = gather("tw_model_fit: validation", model, validation, args->validation_y, NULL, others);
    if (status != TW_OK)
        return NULL;
    return tw__impl_model_fit_values(&(tw_model_fit_values_args){
        .self = model,
        .x = data[0],
        .y = data[1],
        .sample_weight = data[2],
        .batch_size = args->batch_size,
        .epochs = args->epochs,
        .verbose = args->verbose,
        .callbacks = args->callbacks,
        .validation_split = args->validation_split,
        .validation_x = others[0],
        .validation_y = others[1],
        .validation_weights = others[2],
        .shuffle = args->shuffle,
        .initial_epoch = args->initial_epoch,
        .steps_per_epoch = args->steps_per_epoch,
        .validation_steps = args->validation_steps,
        .validation_batch_size = args->validation_batch_size,
        .validation_freq = { &args->validation_freq, 1, true, false },
    });
}

tw_value tw_model_evaluate_(tw_model *model, void *x, const tw_fit_args *options)
{
    tw_fit_args whole = { tw_fit_defaults }, *args = &whole;
    if (take_fit(options, args, "tw_model_evaluate") != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw_value data[3];
    if (gather("tw_model_evaluate", model, x, args->y, args->sample_weight, data) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return tw__impl_model_evaluate_values(&(tw_model_evaluate_values_args){ .self = model,
                                                                            .x = data[0],
                                                                            .y = data[1],
                                                                            .sample_weight = data[2],
                                                                            .batch_size = args->batch_size,
                                                                            .callbacks = args->callbacks,
                                                                            .verbose = args->verbose,
                                                                            .steps = args->steps_per_epoch });
}

static tw_value one_batch(tw_model *model, tw__mode mode, tw_tensor *x, tw_tensor *y)
{
    tw_value data[3];
    if (gather("tw_model_train_on_batch", model, x, y, NULL, data) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw_model_batch_values_args given = TW_ARGS(model_batch_values, .self = model, .mode = mode, .x = data[0], .y = data[1]);
    return tw__impl_model_batch_values(&given);
}

tw_value tw_model_train_on_batch(tw_model *model, tw_tensor *x, tw_tensor *y)
{
    return one_batch(model, TW_TRAIN_MODE, x, y);
}

tw_value tw_model_test_on_batch(tw_model *model, tw_tensor *x, tw_tensor *y)
{
    return one_batch(model, TW_TEST_MODE, x, y);
}
