/* Protocol buffer messages: what message.c (objects) and message_wire.c (bytes) share. The tables of fields are
 * the library's (codec/message.h); thalweg._messages makes classes of them. */
#ifndef TW_PY_MESSAGE_H
#define TW_PY_MESSAGE_H

#include "extension.h"

/* References are the class's, which lives as long as the process. */
typedef struct message_field {
    PyObject *name;
    PyObject *info;      /* thalweg._message's field: whatever is rare is done there */
    PyObject *container; /* the class of its values' list or map; NULL: one value */
    PyObject *child;     /* the class of messages; NULL: others */
    uint32_t number;
    int kind, key; /* tw__field_type, an enum being an int32; key: of maps; else -1 */
    int oneof;     /* 0: none */
} message_field;

typedef struct message_class {
    PyObject *places; /* name -> place among the fields, an int */
    message_field *fields;
    int count;
    int *order; /* places by number */
} message_class;

typedef struct message_object {
    PyObject_HEAD const message_class *class;
    PyObject *values;  /* name -> value; NULL: none */
    PyObject *unknown; /* bytes of fields that the class does not have; NULL: none */
    char set;          /* there although it is empty */
    int last; /* the message of a oneof that was handed out last: its place + 1. If something is in it, it is the one that is
                 there */
} message_object;

#define TYPE_OF(object) ((PyObject *)Py_TYPE((PyObject *)(object)))

extern PyTypeObject *tw__py_message_type;
bool tw__py_message_is_one(const message_field *field);                            /* one plain value: no list, map or message */
int tw__py_message_clear_others(message_object *self, const message_field *field); /* of its oneof */
PyObject *tw__py_message_copy(message_object *self);
PyObject *tw__py_message_merge_from(PyObject *self, PyObject *other);
PyObject *tw__py_message_make(PyObject *type);                                                /* an empty one */
PyObject *tw__py_message_check(const message_field *field, PyObject *owner, PyObject *value); /* as the field holds it */
PyObject *tw__py_message_part(message_object *self,
                              const message_field *field); /* list, map or message, made if need be; borrowed */
int tw__py_message_put(message_object *self, const message_field *field,
                       PyObject *value); /* sets one value, and clears others of its oneof */
bool tw__py_message_present(const message_object *self, const message_field *field, PyObject **value); /* borrowed */
void tw__py_message_settle(message_object *self); /* of messages of a oneof only one is there */
bool tw__py_message_any(const message_object *self);

PyObject *tw__py_message_serialize(PyObject *self, PyObject *arguments, PyObject *named);
PyObject *tw__py_message_merge(PyObject *self, PyObject *data);

#endif
