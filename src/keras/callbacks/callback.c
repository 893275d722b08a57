/* keras.callbacks: the base class, the list of a run's callbacks, and those that every run has: History and ProgbarLogger. */
#include <math.h>

#include "base/language.h"
#include "keras/models/training.h"

const char *const tw__event_names[TW_EVENTS] = {
    "on_train_begin",      "on_train_end",      "on_test_begin",          "on_test_end",          "on_predict_begin",
    "on_predict_end",      "on_epoch_begin",    "on_epoch_end",           "on_train_batch_begin", "on_train_batch_end",
    "on_test_batch_begin", "on_test_batch_end", "on_predict_batch_begin", "on_predict_batch_end",
};

/* ---- the base ---- */

static void callback_visit(void *self, tw__visitor visitor, void *context)
{
    tw_callback *callback = self;
    if (callback->model)
        visitor(context, &callback->model->trackable.object);
    tw__value_visit(&callback->params, visitor, context);
}

static void callback_clear(void *self)
{
    tw_callback *callback = self;
    tw_value params = callback->params;
    callback->params = (tw_value){ .kind = TW_VALUE_NONE };
    tw__set(&callback->model, NULL);
    tw_value_free(&params);
}

TW_CLASS(callback, "keras.callbacks.Callback()", .size = sizeof(tw_callback), .destroy = callback_clear, .visit = callback_visit,
         .clear = callback_clear, .doc = "The base of callbacks: told what happens while a model is trained, evaluated or run.");

TW_PROPERTY(callback_model, "keras.callbacks.Callback.model(self: callback) -> value",
            "The model that is trained; None outside of that.")
{
    if (!args->self->model)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(args->self->model) };
}

TW_METHOD(callback_set_model,
          "keras.callbacks.Callback._set_model|keras.callbacks.Callback.set_model(self: callback, model: layer = None)",
          "Says which model is trained.\n"
          "model: the model")
{
    tw__set(&args->self->model, args->model);
    return TW_OK;
}

TW_PROPERTY(callback_params, "keras.callbacks.Callback.params(self: callback) -> value", "verbose, epochs and steps.")
{
    return tw__value_copy(&args->self->params);
}

TW_METHOD(callback_set_params,
          "keras.callbacks.Callback._set_params|keras.callbacks.Callback.set_params(self: callback, params: value = None)",
          "Sets those.\n"
          "params: a dict with `epochs`, `steps` and `verbose`")
{
    tw__auto(tw_value_free) tw_value old = args->self->params;
    args->self->params = tw__value_copy(&args->params);
    return TW_OK;
}

static tw_status call_program(tw_callback *callback, tw_event event, int64_t index, const tw_value *logs)
{
    size_t scope = tw_scope_begin();
    tw_status status = callback->function(callback->state, callback->model, event, index, logs);
    tw_scope_end(&scope);
    return status;
}

tw_status tw__callback_own(tw_callback *callback, tw_event event, int64_t index, tw__dict *logs)
{
    for (size_t i = 0; logs && i < logs->count; i += 2) {
        if (logs->items[i].kind != TW_VALUE_STR) /* a program's own callback may have put anything there */
            return tw__fail(TW_TYPE_ERROR, "%s: the names in the logs must be strings", tw_class_name(callback));
    }
    const tw__callback_methods *methods = tw__methods(callback);
    if (callback->function) {
        tw_value all = { .kind = TW_VALUE_DICT, .list = { logs ? logs->items : NULL, logs ? (int64_t)logs->count : 0 } };
        return call_program(callback, event, index, &all);
    }
    return methods && methods->events & TW_ON(event) ? methods->on(callback, event, index, logs) : TW_OK;
}

TW_METHOD(callback_state, "keras.callbacks.Callback._state(self: callback) -> value", "What the class keeps from epoch to epoch.")
{
    const tw__callback_methods *methods = tw__methods(args->self);
    tw__dict state = { 0 };
    if (methods && methods->state)
        methods->state(args->self, &state);
    return tw__dict_take(&state);
}

TW_METHOD(callback_restore, "keras.callbacks.Callback._restore(self: callback, state: value)", "Takes over what _state gave.")
{
    const tw__callback_methods *methods = tw__methods(args->self);
    if (!methods || !methods->restore)
        return TW_OK;
    if (args->state.kind != TW_VALUE_DICT)
        return tw__fail(TW_TYPE_ERROR, "_restore: state is no dict");
    return methods->restore(args->self, &(tw__dict){ .items = args->state.list.items, .count = (size_t)args->state.list.count });
}

void tw__callback_print(const char *format, ...)
{
    tw__text text = { 0 };
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    tw__text_add(&text, line);
    tw__text_add(&text, "\n");
    if (!text.failed)
        tw__tell(text.data, text.size);
    tw__text_free(&text);
}

TW_METHOD(callback_event, "keras.callbacks.Callback._event(self: callback, event: int, index: int, logs: value = None) -> value",
          "What the class itself does at an event; gives the logs as they are then.")
{
    tw__dict logs = { 0 };
    tw_value given = tw__value_copy(&args->logs);
    if (given.kind == TW_VALUE_DICT)
        logs =
            (tw__dict){ .items = given.list.items, .count = (size_t)given.list.count, .capacity = (size_t)given.list.count + 1 };
    else
        tw_value_free(&given);
    tw_status status = args->event >= 0 && args->event < TW_EVENTS
                           ? TW_OK
                           : tw__fail(TW_VALUE_ERROR, "_event: there is no event %lld", (long long)args->event);
    if (status == TW_OK)
        status = tw__callback_own(args->self, (tw_event)args->event, args->index, &logs);
    if (status == TW_OK)
        return tw__dict_take(&logs);
    tw__logs_free(&logs);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

tw_callback *tw_callback_new(tw_callback_function function, void *state)
{
    tw_callback_args args = { 0 };
    tw_callback *callback = function ? tw_class_make(&tw__class_callback, &args) : NULL;
    if (!function)
        tw__fail(TW_INVALID_ARGUMENT, "tw_callback_new: the function is NULL");
    if (callback) {
        callback->function = function;
        callback->state = state;
    }
    return callback;
}

/* ---- the list ---- */

static uint32_t events_of(const tw_callback *callback)
{
    const tw__callback_methods *methods = tw__methods(callback);
    return callback->foreign | (callback->function ? ~0u : 0) | (methods ? methods->events : 0);
}

static tw_status append(tw__callback_list *list, tw_callback *callback, const tw__callback_setup *setup)
{
    if (!callback)
        return tw__error_status();
    tw_callback **items = tw__realloc(list->items, sizeof *items * (size_t)(list->count + 1));
    if (!items)
        return tw__error_status();
    list->items = items;
    list->items[list->count++] = tw_retain(callback);
    callback->foreign = 0;
    tw__dict params = { 0 };
    tw__dict_put(&params, "verbose", (tw_value){ .kind = TW_VALUE_INT, .i = setup->verbose });
    tw__dict_put(&params, "epochs", (tw_value){ .kind = TW_VALUE_INT, .i = setup->epochs });
    tw__dict_put(&params, "steps",
                 setup->steps < 0 ? (tw_value){ .kind = TW_VALUE_NONE } : (tw_value){ .kind = TW_VALUE_INT, .i = setup->steps });
    tw_value old = callback->params;
    callback->params = tw__dict_take(&params);
    tw_value_free(&old);
    tw__set(&callback->model, setup->model);
    if (callback->object.peer && tw__language.callback_events)
        TW_TRY(tw__language.callback_events(callback, &callback->foreign));
    list->events |= events_of(callback);
    return TW_OK;
}

static tw_status append_new(tw__callback_list *list, const tw_class *class_row, const tw__callback_setup *setup)
{
    tw__owned void *args = tw__alloc_zero(class_row->signature->args_size);
    if (!args)
        return tw__error_status();
    tw_args_default(class_row->signature, args);
    tw_auto tw_callback *made = tw_class_make(class_row, args);
    return append(list, made, setup);
}

tw_status tw__callbacks_open(tw__callback_list *list, const tw__callback_setup *setup)
{
    *list = (tw__callback_list){ .lock = setup->lock };
    bool history = setup->history, progress = setup->progress;
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < setup->given.count; i++) {
        tw_callback *callback = setup->given.items[i];
        if (!callback || !tw__is(callback, &tw__class_callback)) {
            status =
                tw__fail(TW_TYPE_ERROR, "callbacks: a callback is expected, got %s", callback ? tw_class_name(callback) : "NULL");
            break;
        }
        history &= !tw__is(callback, &tw__class_callbacks_history);
        progress &= !tw__is(callback, &tw__class_callbacks_progbar_logger);
        status = append(list, callback, setup);
    }
    if (status == TW_OK && history)
        status = append_new(list, &tw__class_callbacks_history, setup);
    if (status == TW_OK && progress)
        status = append_new(list, &tw__class_callbacks_progbar_logger, setup);
    if (status != TW_OK)
        tw__callbacks_close(list);
    return status;
}

void tw__callbacks_close(tw__callback_list *list)
{
    for (int i = 0; i < list->count; i++) {
        if (!list->items[i]->object.peer) /* nobody would find the circle from the model to its history and back */
            tw__set(&list->items[i]->model, NULL);
        tw_release(list->items[i]);
    }
    tw__free(list->items);
    *list = (tw__callback_list){ 0 };
}

tw_status tw__callbacks_tell(tw__callback_list *list, tw_event event, int64_t index, tw__dict *logs)
{
    if (!(list->events & TW_ON(event)))
        return TW_OK;
    for (int i = 0; i < list->count; i++) {
        tw_callback *callback = list->items[i];
        if (callback->foreign & TW_ON(event)) {
            int depth = list->lock ? tw__deep_leave(list->lock) : 0;
            tw_status status = tw__language.callback_tell(callback, (int)event, index, logs);
            if (list->lock)
                tw__deep_return(list->lock, depth);
            TW_TRY(status);
        } else {
            TW_TRY(tw__callback_own(callback, event, index, logs));
        }
    }
    return TW_OK;
}

/* ---- History ---- */

typedef struct history {
    tw_callback callback;
    tw__dict values; /* name -> list */
    tw_value epochs;
} history;

static tw_status add_item(tw_value *list, tw_value value)
{
    if (list->kind != TW_VALUE_LIST)
        *list = (tw_value){ .kind = TW_VALUE_LIST };
    int64_t count = list->list.count;
    if ((count & (count - 1)) == 0) { /* room for twice as many */
        tw_value *items = tw__realloc(list->list.items, sizeof *items * (size_t)(count ? 2 * count : 1));
        if (!items) {
            tw_value_free(&value);
            return tw__error_status();
        }
        list->list.items = items;
    }
    list->list.items[list->list.count++] = value;
    return TW_OK;
}

static tw_status history_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    history *h = (history *)self;
    if (event == TW_TRAIN_BEGIN) {
        tw_value_free(&h->epochs);
        h->epochs = (tw_value){ .kind = TW_VALUE_LIST };
        return TW_OK;
    }
    TW_TRY(add_item(&h->epochs, (tw_value){ .kind = TW_VALUE_INT, .i = index }));
    for (size_t i = 0; logs && i + 1 < logs->count; i += 2) {
        tw_value *list = tw__logs_find(&h->values, logs->items[i].s.data);
        if (!list) {
            TW_TRY(tw__logs_set(&h->values, logs->items[i].s.data, (tw_value){ .kind = TW_VALUE_LIST }));
            list = &h->values.items[h->values.count - 1];
        }
        TW_TRY(add_item(list, tw__value_copy(&logs->items[i + 1])));
    }
    tw__trainer *trainer = self->model ? tw__trainer_of(self->model) : NULL;
    if (trainer)
        tw__set(&trainer->history, self);
    return TW_OK;
}

static const tw__callback_methods history_methods = { .events = TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_EPOCH_END), .on = history_on };

static void history_destroy(void *self)
{
    tw__logs_free(&((history *)self)->values);
    tw_value_free(&((history *)self)->epochs);
}

TW_CLASS(callbacks_history, "keras.callbacks.History() -> callback", .parent = &tw__class_callback, .size = sizeof(history),
         .destroy = history_destroy, .methods = &history_methods, .doc = "Keeps the values of all epochs.");

TW_METHOD(history_values, "keras.callbacks.History._values(self: callback) -> value", "The values of every epoch by name.")
{
    const history *h = (const history *)args->self;
    tw_value all = { .kind = TW_VALUE_DICT, .list = { h->values.items, (int64_t)h->values.count } };
    return tw__value_copy(&all);
}

TW_METHOD(history_epochs, "keras.callbacks.History._epochs(self: callback) -> value", "The numbers of the epochs.")
{
    return tw__value_copy(&((const history *)args->self)->epochs);
}

TW_METHOD(history_set, "keras.callbacks.History._set(self: callback, values: value, epochs: value)",
          "Makes it hold these values of these epochs: a copy of another one.")
{
    history *h = (history *)args->self;
    if (args->values.kind != TW_VALUE_DICT || args->epochs.kind != TW_VALUE_LIST)
        return tw__fail(TW_TYPE_ERROR, "History: the values must be a dict, and the epochs a list");
    for (int64_t i = 0; i + 1 < args->values.list.count; i += 2) {
        const tw_value *name = &args->values.list.items[i], *given = name + 1;
        if (name->kind != TW_VALUE_STR || given->kind != TW_VALUE_LIST)
            return tw__fail(TW_TYPE_ERROR, "History: the values must be lists by names");
        tw_value list = { .kind = TW_VALUE_LIST };
        for (int64_t k = 0; k < given->list.count; k++)
            TW_TRY(add_item(&list, tw__value_copy(&given->list.items[k])));
        TW_TRY(tw__logs_set(&h->values, name->s.data, list));
    }
    tw_value_free(&h->epochs);
    h->epochs = (tw_value){ .kind = TW_VALUE_LIST };
    for (int64_t i = 0; i < args->epochs.list.count; i++)
        TW_TRY(add_item(&h->epochs, tw__value_copy(&args->epochs.list.items[i])));
    return TW_OK;
}

double tw_history_value(tw_callback *callback, const char *name, int64_t epoch)
{
    double number = NAN;
    if (!callback || !name || !tw__is(callback, &tw__class_callbacks_history)) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_history_value: a History and a name are expected");
        return number;
    }
    const tw_value *list = tw__logs_find(&((history *)callback)->values, name);
    int64_t at = list && epoch < 0 ? list->list.count + epoch : epoch;
    if (list && at >= 0 && at < list->list.count)
        tw__value_number(&list->list.items[at], &number);
    return number;
}

/* ---- ProgbarLogger ---- */

typedef struct progbar {
    tw_callback callback;
    tw__progress progress;
    bool running, in_fit;
    int64_t target, seen;
    char **as_is; /* names of metrics, which are means already */
    int as_is_count;
} progbar;

static int64_t param(const tw_callback *callback, const char *name, int64_t otherwise)
{
    double number;
    tw__dict dict = { .items = callback->params.list.items,
                      .count = callback->params.kind == TW_VALUE_DICT ? (size_t)callback->params.list.count : 0 };
    return tw__logs_number(&dict, name, &number) ? (int64_t)number : otherwise;
}

static tw_status start_bar(progbar *p)
{
    if (p->running)
        return TW_OK;
    tw__progress_start(&p->progress, p->target, (int)param(&p->callback, "verbose", 1));
    p->running = true;
    return TW_OK;
}

static void stop_bar(progbar *p)
{
    tw__progress_end(&p->progress);
    tw__names_free(p->as_is, p->as_is_count);
    p->as_is = NULL;
    p->as_is_count = 0;
    p->seen = 0;
    p->running = false;
}

/* Which metrics there are is known after the first step; a subclass may have a list of its own. */
static tw_status learn_names(progbar *p)
{
    tw__trainer *t = !p->as_is && p->callback.model ? tw__trainer_of(p->callback.model) : NULL;
    tw_metric **metrics = NULL;
    tw_objects own = { 0 };
    int count = 0;
    if (!t)
        return TW_OK;
    if (t->own & TW_OWN_METRICS && tw__language.metrics) {
        TW_TRY(tw__language.metrics(t->model, &own));
        count = (int)own.count;
    } else {
        TW_TRY(tw__trainer_metrics(t, &metrics, &count));
    }
    p->as_is = tw__alloc_array((size_t)count + 1, sizeof *p->as_is);
    for (int i = 0; p->as_is && i < count; i++) {
        const tw_metric *metric = metrics ? metrics[i] : own.items[i];
        p->as_is[i] = tw__strdup(metric->layer.name);
        p->as_is_count += p->as_is[i] != NULL;
    }
    tw__free(metrics);
    tw_objects_free(&own);
    return p->as_is_count == count ? TW_OK : tw__error_status();
}

static bool is_as_is(const progbar *p, const char *name)
{
    for (int i = 0; i < p->as_is_count; i++) {
        if (strcmp(p->as_is[i], name) == 0)
            return true;
    }
    return false;
}

static tw_status show(progbar *p, int64_t current, const tw__dict *logs, bool last)
{
    if (p->progress.verbose == 0)
        return TW_OK;
    TW_TRY(learn_names(p));
    for (size_t i = 0; logs && i + 1 < logs->count; i += 2) {
        double number;
        if (tw__value_number(&logs->items[i + 1], &number))
            TW_TRY(
                tw__progress_value_at(&p->progress, current, logs->items[i].s.data, number, is_as_is(p, logs->items[i].s.data)));
    }
    tw__progress_update(&p->progress, current, last);
    return TW_OK;
}

static tw_status on_batch(progbar *p, int64_t batch, const tw__dict *logs)
{
    TW_TRY(start_bar(p));
    p->seen = batch + 1;
    return p->progress.verbose == 1 ? show(p, p->seen, logs, false) : TW_OK;
}

static tw_status finish_bar(progbar *p, const tw__dict *logs)
{
    TW_TRY(start_bar(p));
    if (p->target < 0)
        p->progress.target = p->target = p->seen;
    return show(p, p->target, logs, true);
}

static tw_status progbar_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    progbar *p = (progbar *)self;
    if (event == TW_TRAIN_BEGIN || event == TW_PREDICT_BEGIN || (event == TW_TEST_BEGIN && !p->in_fit))
        p->target = param(self, "steps", -1);
    switch (event) {
    case TW_TRAIN_BEGIN:
        p->in_fit = true;
        return TW_OK;
    case TW_TEST_BEGIN:
        if (p->in_fit)
            return TW_OK;
        stop_bar(p);
        return start_bar(p);
    case TW_PREDICT_BEGIN:
        stop_bar(p);
        return start_bar(p);
    case TW_EPOCH_BEGIN: {
        stop_bar(p);
        int64_t epochs = param(self, "epochs", 1);
        if (param(self, "verbose", 1) && epochs > 1) {
            char text[64];
            int size = snprintf(text, sizeof text, "Epoch %lld/%lld\n", (long long)index + 1, (long long)epochs);
            tw__tell(text, (size_t)size);
        }
        return start_bar(p);
    }
    case TW_TRAIN_END:
        p->in_fit = false;
        return TW_OK;
    case TW_EPOCH_END:
        return finish_bar(p, logs);
    case TW_TRAIN_BATCH_END:
    case TW_PREDICT_BATCH_END:
        return on_batch(p, index, event == TW_PREDICT_BATCH_END ? NULL : logs);
    case TW_TEST_BATCH_END:
        return p->in_fit ? TW_OK : on_batch(p, index, logs);
    case TW_TEST_END:
        return p->in_fit ? TW_OK : finish_bar(p, logs);
    case TW_PREDICT_END:
        return finish_bar(p, NULL);
    default:
        return TW_OK;
    }
}

static const tw__callback_methods progbar_methods = {
    .events = TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_TRAIN_END) | TW_ON(TW_TEST_BEGIN) | TW_ON(TW_TEST_END) | TW_ON(TW_PREDICT_BEGIN) |
              TW_ON(TW_PREDICT_END) | TW_ON(TW_EPOCH_BEGIN) | TW_ON(TW_EPOCH_END) | TW_ON(TW_TRAIN_BATCH_END) |
              TW_ON(TW_TEST_BATCH_END) | TW_ON(TW_PREDICT_BATCH_END),
    .on = progbar_on
};

static tw_status progbar_init(void *self, const void *given)
{
    (void)self;
    const tw_callbacks_progbar_logger_args *args = given;
    if (strcmp(args->count_mode, "steps") == 0)
        return TW_OK;
    if (strcmp(args->count_mode, "samples") == 0)
        return tw__fail(TW_UNIMPLEMENTED, "ProgbarLogger: count_mode=\"samples\" is not supported, steps are counted");
    return tw__fail(TW_VALUE_ERROR, "Unknown `count_mode`: %s. Expected values are [\"samples\", \"steps\"]", args->count_mode);
}

static void progbar_destroy(void *self)
{
    stop_bar(self);
}

TW_CLASS(callbacks_progbar_logger, "keras.callbacks.ProgbarLogger(count_mode: str = steps) -> callback",
         .parent = &tw__class_callback, .size = sizeof(progbar), .init = progbar_init, .destroy = progbar_destroy,
         .methods = &progbar_methods,
         .doc = "Prints a bar with the metrics.\n"
                "count_mode: what is counted: `steps` or `samples`");
