/* Optimizers: apply_gradients over pairs of gradients and variables, and minimize. */
#include "extension.h"

static tw_optimizer *of(PyObject *self)
{
    void *object = tw__py_self(self);
    if (object && !tw__is(object, &tw__class_optimizer))
        return (tw_optimizer *)tw__py_error(PyExc_TypeError, "an optimizer was expected, got %R", self);
    return object;
}

static PyObject *bad_pair(PyObject *pair)
{
    return tw__py_error(PyExc_TypeError, "apply_gradients() needs pairs of a gradient and a variable, got %R", pair);
}

/* Variables that get none are told once per call, as Keras does. */
static bool warn_missing(tw_tensor *const *gradients, void *const *variables, Py_ssize_t count)
{
    tw__py_auto PyObject *names = PyList_New(0);
    for (Py_ssize_t i = 0; names && i < count; i++) {
        tw__py_auto PyObject *name = gradients[i] ? NULL : PyUnicode_FromString(((const tw_variable *)variables[i])->name);
        if (name && PyList_Append(names, name) < 0)
            Py_CLEAR(names);
    }
    tw__py_auto PyObject *module = names ? PyImport_ImportModule("thalweg._log") : NULL;
    tw__py_auto PyObject *done = module ? PyObject_CallMethod(module, "warn_missing", "(O)", names) : NULL;
    return done != NULL;
}

static PyObject *no_gradients(PyObject *pairs, void *const *variables, Py_ssize_t count)
{
    tw__py_auto PyObject *names = PyList_New(count), *all = PyList_AsTuple(pairs);
    for (Py_ssize_t i = 0; names && i < count; i++)
        PyList_SetItem(names, i, PyUnicode_FromString(((const tw_variable *)variables[i])->name));
    if (names && all)
        tw__py_error(PyExc_ValueError, "No gradients provided for any variable: (%S,). Provided `grads_and_vars` is %R.", names,
                     all);
    return NULL;
}

static PyObject *apply(tw_optimizer *optimizer, PyObject *grads_and_vars, const char *name)
{
    tw__py_auto PyObject *pairs = PySequence_List(grads_and_vars);
    if (!pairs)
        return NULL;
    tw__auto(tw__py_frame_end) tw__py_frame frame = { 0 };
    Py_ssize_t count = PyList_Size(pairs), missing = 0;
    tw_tensor **gradients = tw__py_keep_block(&frame, (size_t)count * sizeof *gradients);
    void **variables = gradients ? tw__py_keep_block(&frame, (size_t)count * sizeof *variables) : NULL;
    bool good = variables != NULL;
    PyObject *out = NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *pair = PyList_GetItem(pairs, i);
        if (!(PyTuple_Check(pair) || PyList_Check(pair)) || PySequence_Size(pair) != 2) {
            bad_pair(pair);
            good = false;
            break;
        }
        bool tuple = PyTuple_Check(pair);
        PyObject *gradient = tuple ? PyTuple_GetItem(pair, 0) : PyList_GetItem(pair, 0);
        PyObject *variable = tuple ? PyTuple_GetItem(pair, 1) : PyList_GetItem(pair, 1);
        if (!tw__py_is_variable(variable)) {
            bad_pair(pair);
            good = false;
        } else if (gradient == Py_None) {
            missing++;
        } else if (TW_IS_TENSOR(gradient)) {
            gradients[i] = TW_TENSOR(gradient);
        } else if (tw__py_unwrap(gradient, &tw__class_indexed_slices)) {
            gradients[i] = tw__slices_wrap(tw__py_unwrap(gradient, &tw__class_indexed_slices));
            good = tw__py_keep_object(&frame, gradients[i]);
        } else {
            gradients[i] = tw__py_to_tensor(gradient, tw__py_dtype_of_value(variable), TW_HINT);
            good = tw__py_keep_object(&frame, gradients[i]);
        }
        variables[i] = tw__py_handle(variable);
    }
    if (good && count && missing == count) {
        no_gradients(pairs, variables, count);
        good = false;
    }
    if (good && missing)
        good = warn_missing(gradients, variables, count);
    if (good) {
        tw_optimizer_apply_gradients_args args = {
            .self = optimizer, .gradients = { gradients, count }, .variables = { variables, count }, .name = name
        };
        out = tw__py_wrap(tw__impl_optimizer_apply_gradients(&args));
        if (out && count)
            out = tw__py_unread(out);
    }
    return out;
}

static PyObject *apply_gradients(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = { "grads_and_vars", "name", "skip_gradients_aggregation", "experimental_aggregate_gradients", NULL };
    PyObject *pairs, *name = Py_None, *skip = NULL, *aggregate = NULL; /* there is one replica: nothing to aggregate */
    tw_optimizer *optimizer = of(self);
    if (!optimizer ||
        !PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOO:apply_gradients", names, &pairs, &name, &skip, &aggregate))
        return NULL;
    const char *text = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
    if (name != Py_None && !text)
        return NULL;
    return apply(optimizer, pairs, text);
}

/* minimize(loss, var_list, tape=None): loss is a function, or a tensor with the tape it was computed on. */
static PyObject *minimize(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = { "loss", "var_list", "tape", NULL };
    PyObject *loss, *variables, *tape = Py_None;
    if (!of(self) || !PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O:minimize", names, &loss, &variables, &tape))
        return NULL;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._describe");
    return module ? PyObject_CallMethod(module, "minimize", "OOOO", self, loss, variables, tape) : NULL;
}

/* compute_gradients(loss, var_list, tape=None): pairs of gradients and variables. */
static PyObject *compute_gradients(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = { "loss", "var_list", "tape", NULL };
    PyObject *loss, *variables, *tape = Py_None;
    if (!of(self) || !PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O:compute_gradients", names, &loss, &variables, &tape))
        return NULL;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._describe");
    return module ? PyObject_CallMethod(module, "compute_gradients", "OOOO", self, loss, variables, tape) : NULL;
}

static PyMethodDef methods[] = {
    { "apply_gradients", (PyCFunction)(void (*)(void))apply_gradients, METH_VARARGS | METH_KEYWORDS,
      TW_SIGNATURE(
          "apply_gradients($self, grads_and_vars, name=None, skip_gradients_aggregation=False)") "Changes each variable by its gradient; gives the step counter." },
    { "compute_gradients", (PyCFunction)(void (*)(void))compute_gradients, METH_VARARGS | METH_KEYWORDS,
      TW_SIGNATURE(
          "compute_gradients($self, loss, var_list, tape=None)") "Pairs of the gradients of a loss and their variables." },
    { "_compute_gradients", (PyCFunction)(void (*)(void))compute_gradients, METH_VARARGS | METH_KEYWORDS,
      TW_SIGNATURE("_compute_gradients($self, loss, var_list, tape=None)") "The same, as legacy optimizers call it." },
    { "minimize", (PyCFunction)(void (*)(void))minimize, METH_VARARGS | METH_KEYWORDS,
      TW_SIGNATURE("minimize($self, loss, var_list, tape=None)") "Computes the gradients of a loss and applies them." },
    { 0 },
};

PyType_Slot tw__py_optimizer_slots[] = { { Py_tp_methods, methods }, { 0 } };
