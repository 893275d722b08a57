/* Branches and loops while a graph is traced, for the Python side (_control.py), which flattens structures: functions here take
 * and give lists of tensors. */
#include "extension.h"

/* Whether a function is traced, and not a graph that a program builds. */
PyObject *tw__py_in_function(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(tw__tracing != NULL && !tw__tracing->lasting);
}

PyObject *tw__py_is_tracing(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(tw__tracing != NULL);
}

/* The outputs of a node as a list; the node gets its name. */
static PyObject *finish(tw_status status, tw_tensor **outputs, int count, const char *name)
{
    if (status == TW_OK && name && *name && count && outputs[0]->node)
        status = tw__node_rename(outputs[0]->node, name);
    if (status == TW_OK)
        status = tw__control_results(outputs, count);
    PyObject *list = status == TW_OK ? tw__py_wrap_list(outputs, count) : tw__py_raise();
    tw__py_release_all(outputs, count);
    return list;
}

PyObject *tw__py_cond(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *predicate, *then_function, *else_function;
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO|z", &predicate, &then_function, &else_function, &name))
        return NULL;
    tw_auto tw_tensor *truth = tw__py_to_tensor(predicate, TW_DTYPE_NONE, TW_HINT);
    if (!truth)
        return NULL;
    tw_tensor **outputs = NULL;
    int count = 0;
    tw_status status = tw__cond(truth, tw__py_flat_body, then_function, tw__py_flat_body, else_function, &outputs, &count);
    return finish(status, outputs, count, name);
}

PyObject *tw__py_switch(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *number, *functions;
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "OO!|z", &number, &PyList_Type, &functions, &name))
        return NULL;
    Py_ssize_t branch_count = PyList_Size(functions);
    tw_auto tw_tensor *index = tw__py_to_tensor(number, TW_INT32, TW_HINT);
    if (!index || branch_count < 1 || branch_count > INT32_MAX)
        return index ? tw__py_error(PyExc_ValueError, "there are no branches") : NULL;
    tw__owned tw__branch *branches = tw__alloc_array((size_t)branch_count, sizeof *branches);
    for (Py_ssize_t i = 0; branches && i < branch_count; i++)
        branches[i] = (tw__branch){ tw__py_flat_body, PyList_GetItem(functions, i) };
    tw_tensor **outputs = NULL;
    int count = 0;
    tw_status status = branches ? tw__switch(index, branches, (int)branch_count, &outputs, &count) : TW_RESOURCE_EXHAUSTED;
    return finish(status, outputs, count, name);
}

PyObject *tw__py_while(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *cond, *body, *values, *invariants, *maximum;
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "OOOOO|z", &cond, &body, &values, &invariants, &maximum, &name))
        return NULL;
    int count = 0;
    tw_tensor **tensors = tw__py_read_tensors(values, &count);
    if (!tensors)
        return NULL;
    tw__owned tw_tensor **outputs = tw__alloc_array((size_t)count + 1, sizeof *outputs);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    tw_tensor *limit = maximum == Py_None ? NULL : tw__py_to_tensor(maximum, TW_INT32, TW_FORCE);
    bool good = outputs && shapes && (limit || maximum == Py_None);
    for (int i = 0; good && i < count; i++) {
        tw__py_auto PyObject *shape = PySequence_GetItem(invariants, i);
        const tw_shape *known = shape ? tw__py_shape_of(shape) : NULL;
        good = shape && (known || shape == Py_None);
        shapes[i] = known ? *known : tensors[i]->shape;
    }
    PyObject *list = NULL;
    if (good) {
        tw__loop loop = { .cond = tw__py_flat_body,
                          .body = tw__py_flat_body,
                          .cond_context = cond,
                          .body_context = body,
                          .values = tensors,
                          .shapes = shapes,
                          .count = count,
                          .maximum = limit,
                          .name = name };
        if (tw__while(&loop, outputs) != TW_OK) {
            tw__py_raise();
        } else {
            list = tw__py_wrap_list(outputs, count);
            tw__py_release_all(outputs, count);
            outputs = NULL;
        }
    } else if (!PyErr_Occurred()) {
        tw__py_raise();
    }
    tw_release(limit);
    tw__py_release_all(tensors, count);
    return list;
}

/* ---- loops over rows ---- */

/* (dtype, shape, joined) for each result. */
static bool read_specs(PyObject *list, tw_spec *specs, bool *joined)
{
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dtype, *shape;
        int joins;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OOp", &dtype, &shape, &joins) ||
            !tw__py_as_dtype(dtype, &specs[i].dtype) || !tw__py_as_shape(shape, &specs[i].shape))
            return false;
        joined[i] = joins != 0;
    }
    return true;
}

/* What C made as a list, or an exception. */
static PyObject *give(tw_status status, tw_tensor **outputs, int count)
{
    PyObject *list = status == TW_OK ? tw__py_wrap_list(outputs, count) : tw__py_raise();
    tw__py_release_all(outputs, count);
    return list;
}

PyObject *tw__py_map_rows(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *body, *elems, *signature;
    int infers, spreads, stops, count = 0, output_count = 0;
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "OOOpppz", &body, &elems, &signature, &infers, &spreads, &stops, &name))
        return NULL;
    Py_ssize_t spec_count = signature == Py_None ? 0 : PyList_Size(signature);
    tw_tensor **tensors = spec_count >= 0 && spec_count < INT32_MAX / 2 ? tw__py_read_tensors(elems, &count) : NULL,
              **outputs = NULL;
    if (!tensors)
        return NULL;
    tw__owned tw_spec *specs = tw__alloc_array((size_t)spec_count + 1, sizeof *specs);
    tw__owned bool *joined = tw__alloc_array((size_t)spec_count + 1, sizeof *joined);
    PyObject *list = NULL;
    if (!specs || !joined) {
        tw__py_raise();
    } else if (!spec_count || read_specs(signature, specs, joined)) {
        tw__mapping mapping = { .body = tw__py_flat_body,
                                .context = body,
                                .elems = tensors,
                                .elem_count = count,
                                .specs = signature == Py_None ? NULL : specs,
                                .spec_count = (int)spec_count,
                                .joined = signature == Py_None ? NULL : joined,
                                .infers = infers != 0,
                                .spreads = spreads != 0,
                                .stops = stops != 0,
                                .name = name };
        tw_status status = tw__map_rows(&mapping, &outputs, &output_count);
        list = give(status, outputs, output_count);
    }
    tw__py_release_all(tensors, count);
    return list;
}

PyObject *tw__py_fold_rows(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *body, *elems, *initial;
    int scans, reverse, infers, stops, count = 0, initial_count = 0, output_count = 0;
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "OOOppppz", &body, &elems, &initial, &scans, &reverse, &infers, &stops, &name))
        return NULL;
    tw_tensor **tensors = tw__py_read_tensors(elems, &count), **outputs = NULL;
    tw_tensor **state = tensors && initial != Py_None ? tw__py_read_tensors(initial, &initial_count) : NULL;
    PyObject *list = NULL;
    if (tensors && (state || initial == Py_None)) {
        tw__folding folding = { .body = tw__py_flat_body,
                                .context = body,
                                .elems = tensors,
                                .elem_count = count,
                                .initial = state,
                                .initial_count = initial_count,
                                .reverse = reverse != 0,
                                .scans = scans != 0,
                                .infers = infers != 0,
                                .stops = stops != 0,
                                .name = name };
        tw_status status = tw__fold_rows(&folding, &outputs, &output_count);
        list = give(status, outputs, output_count);
    }
    tw__py_release_all(tensors, count);
    tw__py_release_all(state, initial_count);
    return list;
}

/* The functions are those of the predicates, and one more if there is one for none of them. */
PyObject *tw__py_case(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *predicates, *functions;
    int exclusive, count = 0, output_count = 0;
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "OO!pz", &predicates, &PyList_Type, &functions, &exclusive, &name))
        return NULL;
    tw_tensor **tensors = tw__py_read_tensors(predicates, &count), **outputs = NULL;
    Py_ssize_t branch_count = PyList_Size(functions);
    tw__owned tw__branch *branches = tensors ? tw__alloc_array((size_t)count + 1, sizeof *branches) : NULL;
    PyObject *list = NULL;
    if (branches && branch_count >= count && branch_count <= (Py_ssize_t)count + 1) {
        for (Py_ssize_t i = 0; i < branch_count; i++)
            branches[i] = (tw__branch){ tw__py_flat_body, PyList_GetItem(functions, i) };
        tw__choice choice = { .predicates = tensors,
                              .branches = branches,
                              .count = count,
                              .otherwise = branch_count > count,
                              .exclusive = exclusive != 0,
                              .name = name };
        tw_status status = tw__case(&choice, &outputs, &output_count);
        list = give(status, outputs, output_count);
    } else if (tensors && branches) {
        tw__py_error(PyExc_ValueError, "%d predicates for %zd functions", count, branch_count);
    } else if (tensors) {
        tw__py_raise();
    }
    tw__py_release_all(tensors, count);
    return list;
}
