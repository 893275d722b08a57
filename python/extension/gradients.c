/* For the Python side of tf.custom_gradient, tf.recompute_grad and tf.gradients (_gradients.py): lists of tensors in, lists out.
 */
#include <thalweg/gradient.h>

#include "extension.h"

/* ---- gradients that users define ---- */

static void end_function(tw__custom_gradient *self)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_XDECREF((PyObject *)self->user);
}

static tw_status read_gradients(PyObject *result, int count, tw_tensor **gradients)
{
    tw__py_auto PyObject *list = PySequence_List(result);
    bool good = list && PyList_Size(list) == count;
    if (list && !good)
        tw__py_error(PyExc_ValueError, "a custom gradient gave %zd gradients for %d inputs", PyList_Size(list), count);
    for (int i = 0; good && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (item != Py_None)
            good = (gradients[i] = tw__py_to_tensor(item, TW_DTYPE_NONE, TW_HINT)) != NULL;
    }
    return good ? TW_OK : tw__py_failed();
}

static tw_status call_function(tw__custom_gradient *self, __attribute__((unused)) tw_tensor *const *inputs, int input_count,
                               tw_tensor *const *output_gradients, tw_tensor **input_gradients)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *given = tw__py_wrap_list(output_gradients, self->output_count);
    tw__py_auto PyObject *result = given ? PyObject_CallFunctionObjArgs(self->user, given, NULL) : NULL;
    return result ? read_gradients(result, input_count, input_gradients) : tw__py_failed();
}

PyObject *tw__py_custom_gradient(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *results, *inputs, *function, *list = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO", &results, &inputs, &function))
        return NULL;
    int result_count = 0, input_count = 0;
    tw_tensor **made = tw__py_read_tensors(results, &result_count),
              **given = made ? tw__py_read_tensors(inputs, &input_count) : NULL;
    tw_tensor **outputs = given ? tw__alloc_array((size_t)result_count + 1, sizeof *outputs) : NULL;
    tw__custom_gradient *custom = outputs ? tw__custom_gradient_new(result_count) : NULL;
    if (custom) {
        Py_INCREF(function);
        custom->user = function;
        custom->backward = call_function;
        custom->end = end_function;
        if (tw__custom_gradient_attach(custom, made, given, input_count, outputs) == TW_OK)
            list = tw__py_wrap_list(outputs, result_count);
        else
            tw__py_raise();
    } else if (given) {
        tw__py_raise();
    }
    tw_release(custom);
    tw__py_release_all(made, result_count);
    tw__py_release_all(given, input_count);
    tw__py_release_all(outputs, result_count);
    return list;
}

/* ---- gradients of nodes that the program registered (Graph.gradient_override_map) ---- */

typedef struct override {
    tw__own_gradient own;
    PyObject *function; /* (inputs, outputs, gradients of the outputs) -> gradients of the inputs */
} override;

static void override_end(void *self)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_XDECREF(((override *)self)->function);
}
static const tw_class override_class = { .name = "RegisteredGradient", .size = sizeof(override), .destroy = override_end };

static tw_status override_run(tw__own_gradient *self, tw__gradient *g)
{
    tw__held tw_tensor **given = tw__held_new((size_t)g->output_count), **made = tw__held_new((size_t)g->input_count);
    TW_NEED(given && made);
    for (int i = 0; i < g->output_count; i++)
        TW_NEED(given[i] = g->output_grads[i] ? tw_retain(g->output_grads[i])
                                              : tw__call(tw__op_find("ZerosLike"), &g->outputs[i], 1, NULL, 0));
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *inputs = tw__py_wrap_list(g->inputs, g->input_count);
    tw__py_auto PyObject *outputs = inputs ? tw__py_wrap_list(g->outputs, g->output_count) : NULL;
    tw__py_auto PyObject *gradients = outputs ? tw__py_wrap_list(given, g->output_count) : NULL;
    tw__py_auto PyObject *result =
        gradients ? PyObject_CallFunctionObjArgs(((override *)self)->function, inputs, outputs, gradients, NULL) : NULL;
    if (!result)
        return tw__py_failed();
    TW_TRY(read_gradients(result, g->input_count, made));
    for (int i = 0; i < g->input_count; i++) {
        g->input_grads[i] = g->wanted[i] ? tw_retain(made[i]) : NULL;
    }
    return TW_OK;
}

/* (operation, function, name): the function gives the gradient of the operation's node. */
PyObject *tw__py_override_gradient(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *given, *function;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "OOs", &given, &function, &name))
        return NULL;
    struct tw_operation *operation = tw__py_is_object(given) ? tw__py_self(given) : NULL;
    if (!operation || !tw__is(operation, &tw__class_operation))
        return PyErr_Occurred() ? NULL : tw__py_error(PyExc_TypeError, "an operation was expected, got %R", given);
    override *made = tw__object_new(&override_class);
    tw__owned char *type = tw__strdup(name);
    if (!made || !type) {
        tw_release(made);
        return tw__py_raise();
    }
    made->own.run = override_run;
    made->function = function;
    Py_INCREF(function);
    tw__node *node = operation->node;
    tw__set(&node->gradient, (tw_object *)made);
    tw_release(made);
    tw__free(node->gradient_type);
    node->gradient_type = type;
    type = NULL;
    Py_RETURN_NONE;
}

/* A Python function of a list of tensors as a body. */
static tw_tensors call_body(void *user, tw_tensors inputs)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *given = tw__py_wrap_list(inputs.items, (int)inputs.count);
    tw__py_auto PyObject *result = given ? PyObject_CallFunctionObjArgs(user, given, NULL) : NULL;
    int count = 0;
    tw_tensor **made = result ? tw__py_read_tensors(result, &count) : NULL;
    tw_tensors out = made ? (tw_tensors){ made, count } : TW_GIVE_FAILURE;
    if (!made)
        tw__py_failed();
    return out;
}

static void end_body(void *user)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_XDECREF((PyObject *)user);
}

/* (function, tensors): the list that the function makes of the list, whose gradient makes it again. */
PyObject *tw__py_recompute_grad(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *function, *inputs;
    if (!PyArg_ParseTuple(arguments, "OO", &function, &inputs))
        return NULL;
    int count = 0;
    tw_tensor **given = tw__py_read_tensors(inputs, &count);
    if (!given)
        return NULL;
    Py_INCREF(function);
    tw_tensors results = tw_recompute_grad(call_body, function, end_body, (tw_tensors){ given, count });
    PyObject *list = results.items ? tw__py_wrap_list(results.items, (int)results.count) : tw__py_raise();
    tw_tensors_free(&results);
    tw__py_release_all(given, count);
    return list;
}

/* ---- tf.gradients ---- */

/* The tensors and variables of a list. The array is from tw__alloc_array; NULL: an exception is set. */
static void **read_objects(PyObject *list, int64_t *count)
{
    Py_ssize_t size = PySequence_Size(list);
    void **objects = size >= 0 ? tw__alloc_array((size_t)size + 1, sizeof *objects) : NULL;
    for (Py_ssize_t i = 0; objects && i < size; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        objects[i] = !item                      ? NULL
                     : TW_IS_TENSOR(item)       ? (void *)TW_TENSOR(item)
                     : tw__py_is_variable(item) ? (void *)tw__py_handle(item)
                                                : NULL;
        if (item && !objects[i])
            tw__py_error(PyExc_TypeError, "gradients() takes tensors and variables, got %R", item);
        Py_XDECREF(item); /* the list holds it */
        if (!objects[i]) {
            tw__free(objects);
            return NULL;
        }
    }
    *count = size;
    return objects;
}

static bool read_seeds(PyObject *list, tw_objects ys, tw_tensors *seeds)
{
    Py_ssize_t size = PySequence_Size(list);
    tw_tensor **items = size >= 0 ? tw__alloc_array((size_t)size + 1, sizeof *items) : NULL;
    *seeds = (tw_tensors){ items, items ? size : 0 };
    for (Py_ssize_t i = 0; items && i < size; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        tw_dtype dtype =
            i < ys.count && tw_is(ys.items[i], &tw__tensor_class) ? ((tw_tensor *)ys.items[i])->dtype : TW_DTYPE_NONE;
        bool good = item == Py_None || (item && (items[i] = tw__py_to_tensor(item, dtype, TW_HINT)));
        Py_XDECREF(item);
        if (!good)
            return false;
    }
    return items != NULL;
}

PyObject *tw__py_gradients(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *ys, *xs, *seeds, *stops, *list = NULL;
    const char *unconnected, *scope;
    if (!PyArg_ParseTuple(arguments, "OOOOss", &ys, &xs, &seeds, &stops, &unconnected, &scope))
        return NULL;
    tw_gradients_args args = { .unconnected_gradients = unconnected, .scope = scope };
    tw__owned void **y = read_objects(ys, &args.ys.count), **x = y ? read_objects(xs, &args.xs.count) : NULL;
    tw__owned void **stop = x ? read_objects(stops, &args.stop_gradients.count) : NULL;
    args.ys.items = y;
    args.xs.items = x;
    args.stop_gradients.items = stop;
    if (stop && (seeds == Py_None || read_seeds(seeds, args.ys, &args.grad_ys))) {
        tw__auto(tw_tensors_free) tw_tensors results = tw__gradients_of(&args);
        if (tw_error_code() != TW_OK)
            tw__py_raise();
        else
            list = PyList_New((Py_ssize_t)results.count);
        for (int64_t i = 0; list && i < results.count; i++) {
            PyObject *item = tw__py_wrap_gradient(results.items[i]);
            results.items[i] = NULL;
            if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
                Py_CLEAR(list);
        }
    }
    tw_tensors_free(&args.grad_ys);
    return list;
}
