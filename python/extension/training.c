/* What training asks of Python: models that are called with structures, steps, losses and metrics that a subclass writes,
 * callbacks. The Python side of it is thalweg._training; everything here runs while a step is traced, except callbacks. */
#include "extension.h"

static PyObject *glue(void)
{
    return PyImport_ImportModule("thalweg._training");
}

/* What a function of thalweg._training gives for the model and the values (borrowed); NULL: an exception. */
static PyObject *ask(const char *function, const tw_layer *model, int mode, const tw_value *values, int count)
{
    tw__py_auto PyObject *module = glue(), *name = module ? PyObject_GetAttrString(module, function) : NULL;
    tw__py_auto PyObject *arguments = name ? PyTuple_New(2 + count) : NULL;
    PyObject *result = NULL;
    bool good = arguments && PyTuple_SetItem(arguments, 0, Py_NewRef(tw__py_instance(model))) == 0 &&
                PyTuple_SetItem(arguments, 1, PyLong_FromLong(mode)) == 0;
    for (int i = 0; good && i < count; i++) {
        tw_value copy = tw__value_copy(&values[i]);
        PyObject *value = tw__py_value(&copy);
        good = value && PyTuple_SetItem(arguments, 2 + i, value) == 0;
    }
    if (good)
        result = PyObject_CallObject(name, arguments);
    return result;
}

static tw_status own_step(tw_layer *model, int mode, const tw_value *data, tw_value *result)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *given = ask("step", model, mode, data, 1);
    bool good =
        given && (mode == TW_PREDICT_MODE ? tw__py_read_element(given, TW_PY_ARRAYS, result) : tw__py_read_value(given, result));
    return good ? TW_OK : tw__py_failed();
}

static tw_status own_losses(tw_layer *model, bool update, const tw_value *all, tw_tensor **loss)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *result = ask("losses", model, update, all, 4);
    bool given = result && !update && result != Py_None;
    *loss = given ? tw__py_to_tensor(result, TW_DTYPE_NONE, TW_HINT) : NULL;
    return result && (!given || *loss) ? TW_OK : tw__py_failed();
}

static tw_status own_metric_list(tw_layer *model, tw_objects *metrics)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *list = PyObject_GetAttrString(tw__py_instance(model), "metrics"),
                         *items = list ? PySequence_List(list) : NULL;
    Py_ssize_t count = items ? PyList_Size(items) : 0;
    void **found = items ? tw__alloc_array((size_t)count + 1, sizeof *found) : NULL;
    tw_status status = found ? TW_OK : items ? tw__error_status() : tw__py_failed();
    for (Py_ssize_t i = 0; status == TW_OK && i < count; i++) {
        void *metric = tw__py_unwrap(PyList_GetItem(items, i), &tw__class_metric);
        if (!metric)
            status = tw__fail(TW_TYPE_ERROR, "model.metrics: member %lld is no metric", (long long)i);
        found[i] = tw_retain(metric);
    }
    *metrics = (tw_objects){ found, found ? (int64_t)count : 0 };
    return status;
}

/* ---- metrics ---- */

static PyObject *peer_of(const tw_metric *metric)
{
    return tw__py_instance(metric);
}

static tw_status metric_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *weight, bool *own)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_status status = TW_OK;
    *own = tw__py_overrides(peer_of(metric), "update_state");
    if (*own) {
        tw__py_auto PyObject *module = glue(), *labels = module ? tw__py_wrap_tensor(tw_retain(y_true)) : NULL;
        tw__py_auto PyObject *predictions = labels ? tw__py_wrap_tensor(tw_retain(y_pred)) : NULL, *weights = Py_None;
        if (weight && predictions)
            weights = tw__py_wrap_tensor(tw_retain(weight));
        else
            Py_INCREF(weights);
        tw__py_auto PyObject *done = predictions && weights ? PyObject_CallMethod(module, "update_metric", "OOOO",
                                                                                  peer_of(metric), labels, predictions, weights)
                                                            : NULL;
        if (!done)
            status = tw__py_failed();
    }
    return status;
}

static tw_status metric_reset(tw_metric *metric, bool *own)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_status status = TW_OK;
    const char *name = tw__py_overrides(peer_of(metric), "reset_state") ? "reset_state" : "reset_states";
    *own = tw__py_overrides(peer_of(metric), name);
    if (*own) {
        tw__py_auto PyObject *done = PyObject_CallMethod(peer_of(metric), name, NULL);
        status = done ? TW_OK : tw__py_failed();
    }
    return status;
}

static tw_status metric_result(tw_metric *metric, tw_tensor **result, bool *own)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_status status = TW_OK;
    *own = tw__py_overrides(peer_of(metric), "result");
    if (*own) {
        tw__py_auto PyObject *value = PyObject_CallMethod(peer_of(metric), "result", NULL);
        *result = value ? tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT) : NULL;
        status = *result ? TW_OK : tw__py_failed();
    }
    return status;
}

/* ---- methods of the program ---- */

static bool overrides(const void *object, const char *name)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *self = tw__py_instance(object);
    return self && tw__py_overrides(self, name);
}

static tw_status own_method(void *object, const char *name, const tw_value *arguments, const tw_value *named, tw_value *result,
                            bool *own)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *self = tw__py_instance(object);
    *own = self && tw__py_overrides(self, name);
    if (!*own)
        return TW_OK;
    tw_value none = { .kind = TW_VALUE_TUPLE }, given = tw__value_copy(arguments ? arguments : &none),
             by_name = named ? tw__value_copy(named) : (tw_value){ .kind = TW_VALUE_NONE };
    tw__py_auto PyObject *tuple = tw__py_value(&given), *dict = named ? tw__py_value(&by_name) : NULL;
    tw__py_auto PyObject *method = tuple && (dict || !named) ? PyObject_GetAttrString(self, name) : NULL;
    tw__py_auto PyObject *done = method ? PyObject_Call(method, tuple, dict) : NULL;
    return done && (!result || tw__py_read_value(done, result)) ? TW_OK : tw__py_failed();
}

/* ---- callbacks ---- */

static tw_status callback_events(tw_callback *callback, uint32_t *events)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *module = glue(),
                         *mask = module ? PyObject_CallMethod(module, "events_of", "O", tw__py_instance(callback)) : NULL;
    if (mask)
        *events = (uint32_t)PyLong_AsUnsignedLong(mask);
    return mask && !PyErr_Occurred() ? TW_OK : tw__py_failed();
}

static tw_status callback_tell(tw_callback *callback, int event, int64_t index, tw__dict *logs)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_value all = { .kind = TW_VALUE_DICT, .list = { logs->items, (int64_t)logs->count } }, copy = tw__value_copy(&all);
    tw__py_auto PyObject *module = glue(), *dict = module ? tw__py_value(&copy) : NULL;
    tw__py_auto PyObject *done =
        dict ? PyObject_CallMethod(module, "tell", "OiLO", tw__py_instance(callback), event, (long long)index, dict) : NULL;
    tw_status status = done ? TW_OK : tw__py_failed();
    if (done && event == TW_EPOCH_END) { /* the next ones see what this one changed */
        tw_value changed;
        if (tw__py_read_value(dict, &changed) && changed.kind == TW_VALUE_DICT) {
            tw__logs_free(logs);
            *logs = (tw__dict){ .items = changed.list.items,
                                .count = (size_t)changed.list.count,
                                .capacity = (size_t)changed.list.count + 1 };
        } else {
            tw_value_free(&changed);
            status = tw__py_failed();
        }
    }
    return status;
}

static tw_status save_model(tw_layer *model, const char *path)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *done = PyObject_CallMethod(tw__py_instance(model), "save", "s", path);
    return done ? TW_OK : tw__py_failed();
}

static tw_status unpack(const char *path, const char *folder)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._keras_files"),
                         *done = module ? PyObject_CallMethod(module, "unpack", "ss", path, folder) : NULL;
    return done ? TW_OK : tw__py_failed();
}

void tw__py_training_start(void)
{
    tw__language.unpack = unpack;
    tw__language.save_model = save_model;
    tw__language.step = own_step;
    tw__language.losses = own_losses;
    tw__language.metrics = own_metric_list;
    tw__language.metric_update = metric_update;
    tw__language.metric_reset = metric_reset;
    tw__language.metric_result = metric_result;
    tw__language.overrides = overrides;
    tw__language.method = own_method;
    tw__language.callback_events = callback_events;
    tw__language.callback_tell = callback_tell;
}
