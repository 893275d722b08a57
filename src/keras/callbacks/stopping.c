/* Callbacks that watch a value: EarlyStopping, ReduceLROnPlateau, TerminateOnNaN. */
#include <math.h>
#include <stddef.h>

#include "keras/models/training.h"

typedef struct watcher {
    tw_callback callback;
    bool larger; /* is better */
    double best;
    int64_t wait, stopped_epoch, best_epoch, cooldown;
    tw_tensor **weights; /* of the best epoch */
    int64_t weight_count;
} watcher;

static void drop_weights(watcher *w)
{
    for (int64_t i = 0; i < w->weight_count; i++)
        tw_release(w->weights[i]);
    tw__free(w->weights);
    w->weights = NULL;
    w->weight_count = 0;
}

static void watcher_destroy(void *self)
{
    drop_weights(self);
}

/* "auto" goes by the name of what is watched. */
static bool larger_is_better(const char *who, const char *mode, const char *monitor, bool by_ending)
{
    if (strcmp(mode, "auto") != 0 && strcmp(mode, "min") != 0 && strcmp(mode, "max") != 0) {
        tw__log("WARNING", "%s mode %s is unknown, fallback to auto mode.", who, mode);
        mode = "auto";
    }
    if (*mode == 'm')
        return strcmp(mode, "max") == 0;
    if (!by_ending)
        return strstr(monitor, "acc") != NULL;
    return tw__ends_with(monitor, "acc") || tw__ends_with(monitor, "accuracy") || tw__ends_with(monitor, "auc");
}

static const struct {
    const char *name;
    size_t at;
} watcher_numbers[] = { { "wait", offsetof(watcher, wait) },
                        { "stopped_epoch", offsetof(watcher, stopped_epoch) },
                        { "best_epoch", offsetof(watcher, best_epoch) },
                        { "cooldown_counter", offsetof(watcher, cooldown) } };
enum { WATCHER_NUMBERS = sizeof watcher_numbers / sizeof watcher_numbers[0] };

static void watcher_state(const tw_callback *self, tw__dict *state)
{
    const watcher *w = (const watcher *)self;
    tw__dict_put(state, "best", (tw_value){ .kind = TW_VALUE_FLOAT, .f = w->best });
    for (size_t i = 0; i < WATCHER_NUMBERS; i++) {
        int64_t number = *(const int64_t *)((const char *)w + watcher_numbers[i].at);
        tw__dict_put(state, watcher_numbers[i].name, (tw_value){ .kind = TW_VALUE_INT, .i = number });
    }
    tw_value weights = { .kind = w->weights ? TW_VALUE_LIST : TW_VALUE_NONE };
    weights.list.items = w->weights ? tw__alloc_array((size_t)w->weight_count + 1, sizeof *weights.list.items) : NULL;
    state->failed |= w->weights && !weights.list.items;
    for (int64_t i = 0; weights.list.items && i < w->weight_count; i++)
        weights.list.items[weights.list.count++] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(w->weights[i]) };
    tw__dict_put(state, "best_weights", weights);
}

static tw_status watcher_restore(tw_callback *self, const tw__dict *state)
{
    watcher *w = (watcher *)self;
    double number;
    if (tw__logs_number(state, "best", &number))
        w->best = number;
    for (size_t i = 0; i < WATCHER_NUMBERS; i++) {
        if (tw__logs_number(state, watcher_numbers[i].name, &number))
            *(int64_t *)((char *)w + watcher_numbers[i].at) = (int64_t)number;
    }
    const tw_value *weights = tw__logs_find(state, "best_weights");
    drop_weights(w);
    if (!weights || weights->kind != TW_VALUE_LIST)
        return TW_OK;
    w->weights = tw__alloc_array((size_t)weights->list.count + 1, sizeof *w->weights);
    TW_TRY(w->weights ? TW_OK : tw__error_status());
    for (int64_t i = 0; i < weights->list.count; i++) {
        const tw_value *item = &weights->list.items[i];
        if (item->kind != TW_VALUE_TENSOR)
            return tw__fail(TW_TYPE_ERROR, "%s: weight %lld of the state is no tensor", tw_class_name(self), (long long)i);
        w->weights[w->weight_count++] = tw_retain(item->tensor);
    }
    return TW_OK;
}

static tw_status read_watched(const char *what, const char *monitor, const tw__dict *logs, double *current, bool *found)
{
    *found = tw__logs_number(logs, monitor, current);
    if (*found)
        return TW_OK;
    tw__owned char *names = tw__logs_names(logs);
    if (!names)
        return tw__error_status();
    tw__log("WARNING", "%s conditioned on metric `%s` which is not available. Available metrics are: %s", what, monitor, names);
    return TW_OK;
}

/* ---- EarlyStopping ---- */

static tw_status keep_weights(watcher *w)
{
    tw__owned tw_variable **variables = NULL;
    int64_t count;
    TW_TRY(tw__collect_variables(&w->callback.model->trackable, TW_ALL_VARIABLES, &variables, &count));
    drop_weights(w);
    TW_NEED(w->weights = tw__alloc_array((size_t)count + 1, sizeof *w->weights));
    for (; w->weight_count < count; w->weight_count++)
        TW_NEED(w->weights[w->weight_count] = tw__variable_read(variables[w->weight_count]));
    return TW_OK;
}

static tw_status restore_weights(watcher *w)
{
    tw__owned tw_variable **variables = NULL;
    int64_t count;
    TW_TRY(tw__collect_variables(&w->callback.model->trackable, TW_ALL_VARIABLES, &variables, &count));
    if (count != w->weight_count)
        return tw__fail(TW_VALUE_ERROR, "EarlyStopping: the model's weights are others than before");
    for (int64_t i = 0; i < count; i++)
        TW_TRY(tw__traced_assign(&tw__op_AssignVariableOp, variables[i], w->weights[i]));
    return TW_OK;
}

static tw_status stopping_init(void *self, const void *given)
{
    watcher *w = self;
    const tw_callbacks_early_stopping_args *args = given;
    w->larger = larger_is_better("EarlyStopping", args->mode, args->monitor, true);
    w->best = w->larger ? -INFINITY : INFINITY;
    /* As in Keras it has a sign, and one that is set later has its own. */
    tw_callbacks_early_stopping_args *own = w->callback.object.config;
    own->min_delta = w->larger ? fabs(args->min_delta) : -fabs(args->min_delta);
    return TW_OK;
}

static bool improves(const watcher *w, const tw_callbacks_early_stopping_args *args, double value, double than)
{
    return w->larger ? value - args->min_delta > than : value - args->min_delta < than;
}

static tw_status stopping_epoch(watcher *w, const tw_callbacks_early_stopping_args *args, int64_t epoch, const tw__dict *logs)
{
    double current;
    bool found;
    TW_TRY(read_watched("Early stopping", args->monitor, logs, &current, &found));
    if (!found || epoch < args->start_from_epoch)
        return TW_OK;
    if (args->restore_best_weights && !w->weights)
        TW_TRY(keep_weights(w));
    w->wait++;
    if (improves(w, args, current, w->best)) {
        w->best = current;
        w->best_epoch = epoch;
        if (args->restore_best_weights)
            TW_TRY(keep_weights(w));
        if (isnan(args->baseline) || improves(w, args, current, args->baseline))
            w->wait = 0;
        return TW_OK;
    }
    if (w->wait < args->patience || epoch == 0)
        return TW_OK;
    w->stopped_epoch = epoch;
    tw__trainer_of(w->callback.model)->stop_training = true;
    if (!args->restore_best_weights || !w->weights)
        return TW_OK;
    if (args->verbose > 0)
        tw__callback_print("Restoring model weights from the end of the best epoch: %lld.", (long long)w->best_epoch + 1);
    return restore_weights(w);
}

static tw_status stopping_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    watcher *w = (watcher *)self;
    const tw_callbacks_early_stopping_args *args = tw_object_config(self);
    if (event == TW_TRAIN_BEGIN) {
        w->wait = w->stopped_epoch = w->best_epoch = 0;
        w->best = w->larger ? -INFINITY : INFINITY;
        drop_weights(w);
    } else if (event == TW_TRAIN_END) {
        if (w->stopped_epoch > 0 && args->verbose > 0)
            tw__callback_print("Epoch %lld: early stopping", (long long)w->stopped_epoch + 1);
    } else if (self->model) {
        return stopping_epoch(w, args, index, logs);
    }
    return TW_OK;
}

static const tw__callback_methods stopping_methods = { TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_EPOCH_END) | TW_ON(TW_TRAIN_END),
                                                       stopping_on, watcher_state, watcher_restore };

TW_CLASS(
    callbacks_early_stopping,
    "keras.callbacks.EarlyStopping(monitor: str = val_loss, min_delta: float = 0, patience: int = 0, verbose: int = 0, mode: str = auto, "
    "baseline: float = None, restore_best_weights: bool = False, start_from_epoch: int = 0) -> callback",
    .parent = &tw__class_callback, .size = sizeof(watcher), .init = stopping_init, .inert = " mode ", .destroy = watcher_destroy,
    .methods = &stopping_methods,
    .doc = "Ends the training when a value has stopped improving.\n"
           "baseline: the value that must be reached; epochs that do not reach it count as no better; None: none\n"
           "restore_best_weights: True: the model gets the weights of its best epoch back at the end\n"
           "start_from_epoch: how many epochs pass before anything is watched\n"
           "example: tf.keras.callbacks.EarlyStopping(monitor='loss', patience=3).patience  # 3");

/* ---- ReduceLROnPlateau ---- */

static void plateau_reset(watcher *w)
{
    w->best = w->larger ? -INFINITY : INFINITY;
    w->cooldown = w->wait = 0;
}

static tw_status plateau_init(void *self, const void *given)
{
    watcher *w = self;
    const tw_callbacks_reduce_lr_args *args = given;
    if (args->factor >= 1) {
        tw__text number = { 0 };
        tw__print_float(&number, args->factor, TW_FLOAT64);
        tw_status status = tw__fail(TW_VALUE_ERROR, "ReduceLROnPlateau does not support a factor >= 1.0. Got %s",
                                    number.data ? number.data : "");
        tw__text_free(&number);
        return status;
    }
    w->larger = larger_is_better("Learning rate reduction", args->mode, args->monitor, false);
    plateau_reset(w);
    return TW_OK;
}

static tw_status plateau_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    watcher *w = (watcher *)self;
    const tw_callbacks_reduce_lr_args *args = tw_object_config(self);
    if (event == TW_TRAIN_BEGIN) {
        w->larger = larger_is_better("Learning rate reduction", args->mode, args->monitor, false);
        plateau_reset(w);
        return TW_OK;
    }
    tw_optimizer *optimizer = self->model ? tw__trainer_of(self->model)->optimizer : NULL;
    if (!optimizer)
        return TW_OK;
    double old = tw__optimizer_rate(optimizer), current;
    bool found;
    TW_TRY(tw__logs_set(logs, "lr", (tw_value){ .kind = TW_VALUE_FLOAT, .f = old }));
    TW_TRY(read_watched("Learning rate reduction is", args->monitor, logs, &current, &found));
    if (!found)
        return TW_OK;
    if (w->cooldown > 0) {
        w->cooldown--;
        w->wait = 0;
    }
    if (w->larger ? current > w->best + args->min_delta : current < w->best - args->min_delta) {
        w->best = current;
        w->wait = 0;
        return TW_OK;
    }
    if (w->cooldown > 0 || ++w->wait < args->patience || !((float)old > (float)args->min_lr))
        return TW_OK;
    double product = old * args->factor, rate = product > args->min_lr ? product : args->min_lr;
    tw_auto tw_tensor *next = tw_tensor_float((float)rate);
    TW_TRY(tw__traced_assign(&tw__op_AssignVariableOp, optimizer->rate, next));
    if (args->verbose > 0) {
        tw__text number = { 0 };
        tw__print_float(&number, rate, TW_FLOAT64);
        if (!number.failed)
            tw__callback_print("\nEpoch %lld: ReduceLROnPlateau reducing learning rate to %s.", (long long)index + 1,
                               number.data);
        tw__text_free(&number);
    }
    w->cooldown = args->cooldown;
    w->wait = 0;
    return TW_OK;
}

static const tw__callback_methods plateau_methods = { TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_EPOCH_END), plateau_on, watcher_state,
                                                      watcher_restore };

TW_CLASS(
    callbacks_reduce_lr,
    "keras.callbacks.ReduceLROnPlateau(monitor: str = val_loss, factor: float = 0.1, patience: int = 10, verbose: int = 0, mode: str = auto, "
    "min_delta: float = 0.0001, cooldown: int = 0, min_lr: float = 0) -> callback",
    .parent = &tw__class_callback, .size = sizeof(watcher), .init = plateau_init, .destroy = watcher_destroy,
    .methods = &plateau_methods,
    .doc = "Lowers the learning rate when a value has stopped improving.\n"
           "factor: what the learning rate is multiplied with\n"
           "cooldown: how many epochs pass after a change before the value is watched again\n"
           "min_lr: the bound that the learning rate stays above");

/* ---- TerminateOnNaN ---- */

static tw_status nan_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    (void)event;
    double loss;
    if (!self->model || !tw__logs_number(logs, "loss", &loss) || isfinite(loss))
        return TW_OK;
    tw__callback_print("Batch %lld: Invalid loss, terminating training", (long long)index);
    tw__trainer_of(self->model)->stop_training = true;
    return TW_OK;
}

static const tw__callback_methods nan_methods = { .events = TW_ON(TW_TRAIN_BATCH_END), .on = nan_on };

TW_CLASS(callbacks_terminate_on_nan, "keras.callbacks.TerminateOnNaN() -> callback", .parent = &tw__class_callback,
         .size = sizeof(tw_callback), .methods = &nan_methods, .doc = "Ends the training when the loss is no number any more.");
