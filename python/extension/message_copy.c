/* Copies of messages: one merged into another, field by field. */
#include "message.h"

/* Adds what a list holds to another of the same field. */
static int add_list(const message_field *field, PyObject *to, PyObject *from)
{
    for (Py_ssize_t i = 0, count = PyList_Size(from); i < count; i++) {
        PyObject *item = PyList_GetItem(from, i),
                 *own = field->kind == TW_FIELD_MESSAGE ? tw__py_message_copy((message_object *)item) : Py_NewRef(item);
        int result = own ? PyList_Append(to, own) : -1;
        Py_XDECREF(own);
        if (result < 0)
            return -1;
    }
    return 0;
}

static int add_map(const message_field *field, PyObject *to, PyObject *from)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    while (PyDict_Next(from, &at, &key, &item)) {
        PyObject *own = field->kind == TW_FIELD_MESSAGE ? tw__py_message_copy((message_object *)item) : Py_NewRef(item);
        int result = own ? PyDict_SetItem(to, key, own) : -1;
        Py_XDECREF(own);
        if (result < 0)
            return -1;
    }
    return 0;
}

/* Adds what one message holds to another of its class. */
static int merge(message_object *to, message_object *from)
{
    PyObject *value;
    tw__py_message_settle(from);
    tw__py_message_settle(to);
    for (int i = 0; from->values && i < from->class->count; i++) {
        const message_field *field = &from->class->fields[i];
        if (!tw__py_message_present(from, field, &value))
            continue;
        if (tw__py_message_is_one(field)) {
            if (tw__py_message_put(to, field, value) < 0)
                return -1;
            continue;
        }
        if (tw__py_message_clear_others(to, field) < 0)
            return -1;
        PyObject *part = tw__py_message_part(to, field);
        int result = !part              ? -1
                     : field->key >= 0  ? add_map(field, part, value)
                     : field->container ? add_list(field, part, value)
                                        : merge((message_object *)part, (message_object *)value);
        if (result < 0)
            return -1;
    }
    to->set = 1;
    if (from->unknown && !to->unknown && !(to->unknown = PyList_New(0)))
        return -1;
    for (Py_ssize_t i = 0; from->unknown && i < PyList_Size(from->unknown); i++) {
        if (PyList_Append(to->unknown, PyList_GetItem(from->unknown, i)) < 0)
            return -1;
    }
    return 0;
}

PyObject *tw__py_message_copy(message_object *self)
{
    PyObject *made = tw__py_message_make(TYPE_OF(self));
    if (made && merge((message_object *)made, self) == 0)
        return made;
    Py_XDECREF(made);
    return NULL;
}

PyObject *tw__py_message_merge_from(PyObject *self, PyObject *other)
{
    if (Py_TYPE(self) != Py_TYPE(other)) {
        tw__py_auto PyObject *own = PyObject_GetAttrString(TYPE_OF(self), "__name__"),
                             *given = PyObject_GetAttrString((PyObject *)Py_TYPE(other), "__name__");
        if (own && given)
            PyErr_Format(PyExc_TypeError, "Parameter to MergeFrom() must be instance of same class: expected %U got %U.", own,
                         given);
        return NULL;
    }
    tw__py_auto PyObject *copy = self == other ? tw__py_message_copy((message_object *)other) : Py_NewRef(other);
    int result = copy ? merge((message_object *)self, (message_object *)copy) : -1;
    return result < 0 ? NULL : Py_NewRef(Py_None);
}
