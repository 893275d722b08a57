/* tf.Tensor. A Python tensor holds one reference to a C tensor; it is not a peer, so C may hold and drop tensors without Python's
 * lock. Eager code makes and drops them all the time: the Python objects are recycled through a short list. */
#include <stdlib.h>

#include "extension.h"

enum { SPARE_LIMIT = 512 };

PyTypeObject *tw__py_tensor_type, *tw__py_eager_type, *tw__py_symbolic_type;
static tw__py_tensor *spares[SPARE_LIMIT];
static int spare_count;

PyObject *tw__py_wrap_tensor(tw_tensor *tensor)
{
    if (!tensor)
        return tw__py_raise();
    tw__py_tensor *object;
    PyTypeObject *type = __builtin_expect(tensor->node != NULL, 0) ? tw__py_symbolic_type : tw__py_eager_type;
    if (spare_count) {
        object = spares[--spare_count];
        PyObject_Init((PyObject *)object, type);
    } else {
        object = PyObject_New(tw__py_tensor, type);
        if (!object) {
            tw_release(tensor);
            return NULL;
        }
    }
    object->tensor = tensor;
    object->dict = object->weak = NULL;
    return (PyObject *)object;
}

void tw__py_tensor_end(PyObject *self)
{
    tw__py_tensor *object = (tw__py_tensor *)self;
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    if (__builtin_expect(object->weak != NULL, 0))
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(object->dict);
    tw_release(object->tensor);
    if (spare_count < SPARE_LIMIT)
        spares[spare_count++] = object;
    else
        PyObject_Free(object);
}

static PyObject *take_text(char *text)
{
    if (!text)
        return tw__py_raise();
    PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    free(text);
    return out;
}

static PyObject *repr(PyObject *self)
{
    return take_text(tw_tensor_repr(TW_TENSOR(self)));
}

static PyObject *str(PyObject *self)
{
    return take_text(tw_tensor_str(TW_TENSOR(self)));
}

static Py_hash_t hash(PyObject *self)
{
    (void)self;
    tw__py_error(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
    return -1;
}

static Py_ssize_t length(PyObject *self)
{
    tw_tensor *tensor = TW_TENSOR(self);
    if (tensor->shape.rank == 0) {
        tw__py_error(PyExc_TypeError, "Scalar tensor has no `len()`");
        return -1;
    }
    return (Py_ssize_t)tensor->shape.dims[0];
}

/* Without it tensors are no sequences for NumPy, which then does not join several of them to one array. */
static PyObject *item(PyObject *self, Py_ssize_t index)
{
    PyObject *key = PyLong_FromSsize_t(index), *found = key ? tw__py_subscript(self, key) : NULL;
    Py_XDECREF(key);
    return found;
}

/* ---- numbers ---- */

static PyObject *only_item(PyObject *self, const char *message)
{
    if (TW_TENSOR(self)->count != 1)
        return tw__py_error(PyExc_TypeError, "%s", message);
    return tw__py_item(TW_TENSOR(self), 0);
}

static int truth(PyObject *self)
{
    tw_tensor *tensor = TW_TENSOR(self);
    if (tensor->count == 0)
        return 0;
    if (tensor->count != 1) {
        tw__py_error(PyExc_ValueError,
                     "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
        return -1;
    }
    tw__py_auto PyObject *item = tw__py_item(tensor, 0);
    return item ? PyObject_IsTrue(item) : -1;
}

static PyObject *to_number(PyObject *self, PyObject *(*convert)(PyObject *))
{
    tw__py_auto PyObject *item = only_item(self, "only length-1 arrays can be converted to Python scalars");
    return item ? convert(item) : NULL;
}

static PyObject *to_int(PyObject *self)
{
    return to_number(self, PyNumber_Long);
}

static PyObject *to_float(PyObject *self)
{
    tw_tensor *tensor = TW_TENSOR(self);
    if (tensor->dtype == TW_FLOAT32 && tensor->count == 1 && tensor->data)
        return PyFloat_FromDouble(*(const float *)tensor->data);
    if (tw__dtype_is_complex(tensor->dtype) && tensor->count == 1) { /* the real part, as NumPy does */
        PyObject *item = tw__py_item(tensor, 0);
        PyObject *out = item ? PyFloat_FromDouble(PyComplex_RealAsDouble(item)) : NULL;
        Py_XDECREF(item);
        return out;
    }
    return to_number(self, PyNumber_Float);
}

static PyObject *to_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *item = only_item(self, "only length-1 arrays can be converted to Python scalars");
    return item ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, item, NULL) : NULL;
}

static PyObject *to_index(PyObject *self)
{
    tw_tensor *tensor = TW_TENSOR(self);
    if ((!tw__dtype_is_integer(tensor->dtype) && tensor->dtype != TW_BOOL) || tensor->count != 1)
        return tw__py_error(PyExc_TypeError, "only integer scalar tensors can be converted to an index, got dtype %s, shape %s",
                            tw_dtype_name(tensor->dtype), tw__shape_text(&tensor->shape));
    tw__py_auto PyObject *item = tw__py_item(tensor, 0);
    return item ? PyNumber_Long(item) : NULL; /* also of a truth value */
}

/* ---- methods ---- */

static PyObject *numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    /* The caller's stack holds the one reference: the tensor is a temporary that ends with this call. From 3.14 on a stack entry
     * need not be counted. */
    bool temporary = Py_REFCNT(self) == 1 && Py_Version < 0x030E0000 && !((tw__py_tensor *)self)->weak;
    return tw__py_to_array(TW_TENSOR(self), true, temporary);
}

static PyObject *array(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = { "dtype", "copy", NULL };
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    PyObject *out = tw__py_to_array(TW_TENSOR(self), copy == Py_True, false);
    if (out && TW_TENSOR(self)->shape.rank == 0) { /* __array__ must give an array, not a scalar */
        PyObject *np = tw__py_numpy();
        PyObject *whole = np ? PyObject_CallMethod(np, "asarray", "(O)", out) : NULL;
        Py_DECREF(out);
        out = whole;
    }
    if (out && dtype != Py_None) {
        PyObject *cast = PyObject_CallMethod(out, "astype", "(O)", dtype);
        Py_DECREF(out);
        out = cast;
    }
    return out;
}

static PyObject *format(PyObject *self, PyObject *specification)
{
    if (!PyUnicode_Check(specification))
        return tw__py_error(PyExc_TypeError, "__format__() argument must be str, not %R", Py_TYPE(specification));
    tw__py_auto PyObject *value = tw__py_to_array(TW_TENSOR(self), true, false);
    return value ? PyObject_Format(value, specification) : NULL;
}

static PyObject *get_shape(PyObject *self, PyObject *unused)
{
    (void)unused;
    return tw__py_wrap_shape(&TW_TENSOR(self)->shape);
}

static PyObject *set_shape(PyObject *self, PyObject *value)
{
    tw_shape shape;
    if (!tw__py_as_shape(value, &shape))
        return NULL;
    if (!tw__shape_compatible(&TW_TENSOR(self)->shape, &shape)) {
        tw__py_auto PyObject *own = get_shape(self, NULL);
        tw__py_error(PyExc_ValueError, "Tensor's shape %S is not compatible with supplied shape %S.", own, value);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *itself(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_INCREF(self);
    return self;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *package = PyImport_ImportModule("thalweg");
    tw__py_auto PyObject *maker = package ? PyObject_GetAttrString(package, "convert_to_tensor") : NULL;
    tw__py_auto PyObject *value = maker ? tw__py_to_array(TW_TENSOR(self), true, false) : NULL;
    return value ? Py_BuildValue("O(OO)", maker, value, tw__py_wrap_dtype(TW_TENSOR(self)->dtype)) : NULL;
}

static PyObject *eval(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return tw__py_error(PyExc_NotImplementedError,
                        "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?");
}

PyObject *tw__py_reference(PyObject *self, PyObject *unused)
{
    (void)unused;
    static PyObject *class;
    if (!class) {
        tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._containers");
        class = module ? PyObject_GetAttrString(module, "Reference") : NULL;
    }
    return class ? PyObject_CallFunctionObjArgs(class, self, NULL) : NULL;
}

static PyMethodDef eager_methods[] = {
    { "numpy", numpy, METH_NOARGS, TW_SIGNATURE("numpy($self)") "The elements as a NumPy array or scalar." },
    { "_numpy", numpy, METH_NOARGS, NULL },
    { "__array__", (PyCFunction)(void (*)(void))array, METH_VARARGS | METH_KEYWORDS, NULL },
    { "__complex__", to_complex, METH_NOARGS, NULL },
    { "__format__", format, METH_O, NULL },
    { "__reduce__", reduce, METH_NOARGS, NULL },
    { "cpu", itself, METH_NOARGS, "The tensor on the CPU." },
    { "eval", eval, METH_NOARGS, NULL },
    { 0 },
};

static PyMethodDef methods[] = {
    { "__copy__", itself, METH_NOARGS, NULL },
    { "__deepcopy__", itself, METH_O, NULL },
    { "get_shape", get_shape, METH_NOARGS, TW_SIGNATURE("get_shape($self)") "The shape." },
    { "set_shape", set_shape, METH_O,
      TW_SIGNATURE("set_shape($self, shape)") "Checks that the shape is compatible with another." },
    { "ref", tw__py_reference, METH_NOARGS, TW_SIGNATURE("ref($self)") "A hashable reference to this tensor." },
    { "experimental_ref", tw__py_reference, METH_NOARGS,
      TW_SIGNATURE("experimental_ref($self)") "A hashable reference to this tensor." },
    { 0 },
};

/* ---- attributes ---- */

static PyObject *attribute_shape(PyObject *self, void *unused)
{
    (void)unused;
    return tw__py_wrap_shape(&TW_TENSOR(self)->shape);
}

static PyObject *attribute_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return tw__py_wrap_dtype(TW_TENSOR(self)->dtype);
}

static PyObject *attribute_ndim(PyObject *self, void *unused)
{
    (void)unused;
    int rank = TW_TENSOR(self)->shape.rank;
    if (rank < 0)
        Py_RETURN_NONE;
    return PyLong_FromLong(rank);
}

PyObject *tw__py_place(uint32_t device)
{
    char *text = tw__place_text(device);
    PyObject *made = text ? PyUnicode_FromString(text) : tw__py_raise();
    tw__free(text);
    return made;
}

static PyObject *attribute_device(PyObject *self, void *unused)
{
    (void)unused;
    return tw__py_place(TW_TENSOR(self)->device);
}

static PyObject *attribute_undefined(PyObject *self, void *name)
{
    (void)self;
    return tw__py_error(PyExc_AttributeError, "Tensor.%s is undefined when eager execution is enabled.", (const char *)name);
}

static PyObject *attribute_id(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(TW_TENSOR(self));
}

/* The mask that Keras lets go along with a tensor, or None. */
static PyObject *attribute_mask(PyObject *self, void *unused)
{
    (void)unused;
    tw_tensor *mask = tw__mask_of(TW_TENSOR(self));
    return mask ? tw__py_wrap_tensor(tw_retain(mask)) : Py_NewRef(Py_None);
}

static int set_mask(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    tw_tensor *mask = value && value != Py_None ? tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT) : NULL;
    if (!mask && PyErr_Occurred())
        return -1;
    tw_status status = tw__mask_set(TW_TENSOR(self), mask);
    tw_release(mask);
    if (status == TW_OK)
        return 0;
    tw__py_raise();
    return -1;
}

static PyGetSetDef getters[] = {
    { "_keras_mask", attribute_mask, set_mask, "The mask that goes along with the tensor, or None.", NULL },
    { "shape", attribute_shape, NULL, "The shape.", NULL },
    { "dtype", attribute_dtype, NULL, "The dtype.", NULL },
    { "ndim", attribute_ndim, NULL, "The number of dimensions.", NULL },
    { "_id", attribute_id, NULL, NULL, NULL },
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { 0 },
};

static PyGetSetDef eager_getters[] = {
    { "device", attribute_device, NULL, "Where the tensor is.", NULL },
    { "backing_device", attribute_device, NULL, "Where the tensor is.", NULL },
    { "name", attribute_undefined, NULL, NULL, "name" },
    { "op", attribute_undefined, NULL, NULL, "op" },
    { "graph", attribute_undefined, NULL, NULL, "graph" },
    { 0 },
};

static PyMemberDef members[] = {
    { "__dictoffset__", T_PYSSIZET, offsetof(tw__py_tensor, dict), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(tw__py_tensor, weak), READONLY, NULL },
    { 0 },
};

static PyType_Slot base_slots[] = {
    { Py_tp_hash, hash },
    { Py_tp_methods, methods },
    { Py_tp_getset, getters },
    { Py_tp_members, members },
    { Py_tp_dealloc, tw__py_tensor_end },
    { Py_mp_subscript, tw__py_subscript },
    { Py_tp_doc, "A tensor: an array of elements of one dtype that does not change." },
};

static PyType_Slot eager_slots[] = {
    { Py_tp_repr, repr },
    { Py_tp_str, str },
    { Py_tp_iter, tw__py_iterate },
    { Py_tp_methods, eager_methods },
    { Py_tp_getset, eager_getters },
    { Py_tp_dealloc, tw__py_tensor_end },
    { Py_mp_length, length },
    { Py_sq_length, length },
    { Py_sq_item, item },
    { Py_nb_bool, truth },
    { Py_nb_int, to_int },
    { Py_nb_float, to_float },
    { Py_nb_index, to_index },
    { Py_bf_getbuffer, tw__py_get_buffer },
    { Py_bf_releasebuffer, tw__py_release_buffer },
    { 0 },
};

bool tw__py_tensors_start(PyObject *module)
{
    enum { BASE = sizeof base_slots / sizeof *base_slots };
    PyType_Slot slots[BASE + 40];
    memcpy(slots, base_slots, sizeof base_slots);
    int count = BASE, k = 0;
    do
        slots[count++] = tw__py_operator_slots[k];
    while (tw__py_operator_slots[k++].slot);
    PyType_Spec base = { "tensorflow.python.framework.ops.Tensor", sizeof(tw__py_tensor), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
    tw__py_tensor_type = (PyTypeObject *)PyType_FromSpec(&base);
    if (!tw__py_tensor_type)
        return false;
    PyType_Spec eager = { "tensorflow.python.framework.ops.EagerTensor", sizeof(tw__py_tensor), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, eager_slots };
    tw__py_eager_type = (PyTypeObject *)PyType_FromSpecWithBases(&eager, (PyObject *)tw__py_tensor_type);
    if (!tw__py_eager_type)
        return false;
    PyObject *priority = PyLong_FromLong(100); /* so that NumPy leaves operators to us */
    bool good = priority && PyObject_SetAttrString((PyObject *)tw__py_tensor_type, "__array_priority__", priority) == 0 &&
                PyModule_AddObjectRef(module, "Tensor", (PyObject *)tw__py_tensor_type) == 0 &&
                PyModule_AddObjectRef(module, "EagerTensor", (PyObject *)tw__py_eager_type) == 0;
    Py_XDECREF(priority);
    return good && tw__py_symbolic_start(module);
}
