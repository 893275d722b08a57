/* What inspect and help() ask of classes and properties made from rows: `__signature__` and `__doc__`, made when they are asked
 * for. */
#include "extension.h"

/* A member of a class that stands for one of its texts. */
typedef struct text_object {
    PyObject_HEAD PyTypeObject *owner; /* borrowed: it lives for ever */
    const tw_signature *row;
} text_object;

static PyObject *signature_get(PyObject *self, PyObject *object, PyObject *type)
{
    text_object *text = (text_object *)self;
    bool instance = object && object != Py_None; /* which is called by its own rules: a layer takes what its `call` does */
    PyTypeObject *layer = tw__py_type_of(&tw__class_layer);
    bool is_layer = instance && layer && PyObject_TypeCheck(object, layer);
    if (!type || (instance && !is_layer))
        return tw__py_error(PyExc_AttributeError, "__signature__");
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._describe");
    if (is_layer)
        return module ? PyObject_CallMethod(module, "any_arguments", NULL) : NULL;
    return module ? PyObject_CallMethod(module, "class_signature", "OOs", type, text->owner, tw_signature_text(text->row)) : NULL;
}

/* Set while Python asks for a docstring that nobody reads. */
static bool making_static;

PyObject *tw__py_row_doc(const tw_signature *row)
{
    const char *text = making_static ? "" : tw_signature_doc(row);
    if (!*text)
        Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

/* Python's staticmethod copies the docstring of its function, although its own is never shown. */
PyObject *tw__py_static(PyObject *function)
{
    tw__py_auto PyObject *builtins = PyImport_ImportModule("builtins");
    making_static = true;
    PyObject *made = builtins ? PyObject_CallMethod(builtins, "staticmethod", "O", function) : NULL;
    making_static = false;
    return made;
}

static PyObject *doc_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)object, (void)type;
    return tw__py_row_doc(((text_object *)self)->row);
}

static PyType_Slot signature_slots[] = { { Py_tp_descr_get, signature_get }, { 0 } };
static PyType_Spec signature_spec = { "thalweg.Signature", sizeof(text_object), 0, Py_TPFLAGS_DEFAULT, signature_slots };
static PyType_Slot doc_slots[] = { { Py_tp_descr_get, doc_get }, { 0 } };
static PyType_Spec doc_spec = { "thalweg.Doc", sizeof(text_object), 0, Py_TPFLAGS_DEFAULT, doc_slots };

static bool add(PyTypeObject *type, const tw_signature *row, const char *name, PyTypeObject **kind, PyType_Spec *spec)
{
    if (!*kind && !(*kind = (PyTypeObject *)PyType_FromSpec(spec)))
        return false;
    tw__py_auto text_object *text = PyObject_New(text_object, *kind);
    if (!text)
        return false;
    text->owner = type;
    text->row = row;
    return PyObject_SetAttrString((PyObject *)type, name, (PyObject *)text) == 0;
}

bool tw__py_describe_type(PyTypeObject *type, const tw_signature *row)
{
    static PyTypeObject *signature, *doc;
    return add(type, row, "__signature__", &signature, &signature_spec) && add(type, row, "__doc__", &doc, &doc_spec);
}

/* ---- properties ---- */

static PyObject *property_doc(PyObject *self, void *unused)
{
    (void)unused;
    tw__py_auto PyObject *get = PyObject_GetAttrString(self, "fget");
    return get ? PyObject_GetAttrString(get, "__doc__") : NULL;
}

/* Python's property gives itself a text when it is made: the getter's stands. */
static int keep_doc(PyObject *self, PyObject *value, void *unused)
{
    (void)self, (void)value, (void)unused;
    return 0;
}

static PyGetSetDef property_getters[] = { { "__doc__", property_doc, keep_doc, NULL, NULL }, { 0 } };
static PyType_Slot property_slots[] = { { Py_tp_getset, property_getters }, { 0 } };
static PyType_Spec property_spec = { "thalweg.Property", 0, 0, Py_TPFLAGS_DEFAULT, property_slots };

PyObject *tw__py_property(PyObject *getter, PyObject *setter)
{
    static PyObject *kind;
    if (!kind && !(kind = PyType_FromSpecWithBases(&property_spec, (PyObject *)&PyProperty_Type)))
        return NULL;
    return PyObject_CallFunction(kind, "OOOs", getter, setter, Py_None, "");
}
