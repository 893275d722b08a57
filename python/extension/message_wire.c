/* Messages as bytes and back: protobuf's wire format, by the classes that message.c knows. Maps are written in the order of their
 * keys. */
#include "message.h"

enum { DEEPEST = 100 }; /* messages inside each other, as protobuf has it */

static PyObject *decode_error;

PyObject *tw__py_message_errors(PyObject *self, PyObject *class)
{
    (void)self;
    Py_XDECREF(decode_error);
    decode_error = Py_NewRef(class);
    return Py_NewRef(Py_None);
}

static int bad(const char *why)
{
    PyErr_Format(decode_error ? decode_error : PyExc_ValueError, "Error parsing message%s%s", *why ? ": " : "", why);
    return -1;
}

/* ---- writing ---- */

static int write_message(tw__text *text, message_object *self, int depth);

/* A number as the wire holds it; false: an exception is set. */
static bool number_of(int kind, PyObject *value, uint64_t *number)
{
    double real;
    float single;
    uint32_t bits;
    switch (kind) {
    case TW_FIELD_DOUBLE:
        real = PyFloat_AsDouble(value);
        memcpy(number, &real, sizeof real);
        break;
    case TW_FIELD_FLOAT:
        single = (float)PyFloat_AsDouble(value);
        memcpy(&bits, &single, sizeof single);
        *number = bits;
        break;
    case TW_FIELD_UINT64:
    case TW_FIELD_FIXED64:
        *number = PyLong_AsUnsignedLongLong(value);
        break;
    case TW_FIELD_SINT64:
        *number = (uint64_t)PyLong_AsLongLong(value);
        *number = *number << 1 ^ (uint64_t)((int64_t)*number >> 63);
        break;
    default:
        *number = (uint64_t)PyLong_AsLongLong(value);
    }
    return !PyErr_Occurred();
}

static void add_number(tw__text *text, int kind, uint64_t number)
{
    uint8_t bytes[8];
    tw__wire wire = tw__field_wire(kind);
    if (wire == TW_WIRE_VARINT) {
        tw__varint_add(text, number);
    } else {
        tw__put64(bytes, number);
        tw__text_bytes(text, bytes, wire == TW_WIRE_FIXED64 ? 8 : 4);
    }
}

/* One value with its number in front. */
static int write_value(tw__text *text, uint32_t number, int kind, PyObject *value, int depth)
{
    char *data = NULL;
    Py_ssize_t size = 0;
    uint64_t bits = 0;
    if (kind == TW_FIELD_MESSAGE) {
        size_t start = tw__open(text, number);
        int result = write_message(text, (message_object *)value, depth + 1);
        tw__close(text, start);
        return result;
    }
    if (kind == TW_FIELD_STRING) {
        const char *string = PyUnicode_AsUTF8AndSize(value, &size);
        if (string)
            tw__proto_add_bytes(text, number, string, (size_t)size);
        return string ? 0 : -1;
    }
    if (kind == TW_FIELD_BYTES) {
        if (PyBytes_AsStringAndSize(value, &data, &size) < 0)
            return -1;
        tw__proto_add_bytes(text, number, data, (size_t)size);
        return 0;
    }
    if (!number_of(kind, value, &bits))
        return -1;
    tw__varint_add(text, (uint64_t)number << 3 | tw__field_wire(kind));
    add_number(text, kind, bits);
    return 0;
}

static int write_list(tw__text *text, const message_field *field, PyObject *list, int depth)
{
    Py_ssize_t count = PyList_Size(list);
    bool numbers = tw__field_wire(field->kind) != TW_WIRE_BYTES;
    size_t start = numbers ? tw__open(text, field->number) : 0;
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        uint64_t number = 0;
        if (!numbers)
            result = write_value(text, field->number, field->kind, item, depth);
        else if (number_of(field->kind, item, &number))
            add_number(text, field->kind, number);
        else
            result = -1;
    }
    if (numbers)
        tw__close(text, start);
    return result;
}

static int write_map(tw__text *text, const message_field *field, PyObject *map, int depth)
{
    PyObject *keys = PyMapping_Keys(map);
    int result = keys ? PyList_Sort(keys) : -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i), *value = PyDict_GetItem(map, key);
        size_t start = tw__open(text, field->number);
        result = write_value(text, TW_ENTRY_KEY, field->key, key, depth);
        if (result == 0 && value)
            result = write_value(text, TW_ENTRY_VALUE, field->kind, value, depth);
        tw__close(text, start);
    }
    Py_XDECREF(keys);
    return result;
}

static int write_message(tw__text *text, message_object *self, int depth)
{
    PyObject *value;
    int result = 0;
    if (depth > 1000) {
        PyErr_SetString(PyExc_ValueError, "Failed to serialize proto: messages are nested more than 1000 deep");
        return -1;
    }
    tw__py_message_settle(self);
    for (int i = 0; self->values && result == 0 && i < self->class->count; i++) {
        const message_field *field = &self->class->fields[self->class->order[i]];
        if (!tw__py_message_present(self, field, &value))
            continue;
        result = field->key >= 0    ? write_map(text, field, value, depth)
                 : field->container ? write_list(text, field, value, depth)
                                    : write_value(text, field->number, field->kind, value, depth);
    }
    for (Py_ssize_t i = 0; self->unknown && result == 0 && i < PyList_Size(self->unknown); i++) {
        char *data = NULL;
        Py_ssize_t size = 0;
        result = PyBytes_AsStringAndSize(PyList_GetItem(self->unknown, i), &data, &size);
        if (result == 0)
            tw__text_bytes(text, data, (size_t)size);
    }
    return result;
}

PyObject *tw__py_message_serialize(PyObject *self, PyObject *arguments, PyObject *named)
{
    static const char *const names[] = { "deterministic", NULL };
    PyObject *deterministic = NULL; /* it is so always */
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "|$O", (char **)(uintptr_t)names, &deterministic))
        return NULL;
    tw__text text = { 0 };
    PyObject *bytes = NULL;
    if (write_message(&text, (message_object *)self, 0) == 0)
        bytes = text.failed ? PyErr_NoMemory() : PyBytes_FromStringAndSize(text.data, (Py_ssize_t)text.size);
    tw__text_free(&text);
    return bytes;
}

/* ---- reading ---- */

static int merge_bytes(message_object *self, const void *data, size_t size, int depth);

static PyObject *of_number(int kind, uint64_t number)
{
    double real;
    float single;
    uint32_t bits = (uint32_t)number;
    switch (kind) {
    case TW_FIELD_DOUBLE:
        memcpy(&real, &number, sizeof real);
        return PyFloat_FromDouble(real);
    case TW_FIELD_FLOAT:
        memcpy(&single, &bits, sizeof single);
        return PyFloat_FromDouble(single);
    case TW_FIELD_BOOL:
        return PyBool_FromLong(number != 0);
    case TW_FIELD_INT64:
        return PyLong_FromLongLong((long long)number);
    case TW_FIELD_SINT64:
        return PyLong_FromLongLong((long long)(number >> 1 ^ (0 - (number & 1))));
    case TW_FIELD_INT32:
        return PyLong_FromLong((int32_t)bits);
    case TW_FIELD_UINT32:
    case TW_FIELD_FIXED32:
        return PyLong_FromUnsignedLong(bits);
    default:
        return PyLong_FromUnsignedLongLong(number);
    }
}

/* A value of that kind; messages get a new object of `child`. */
static PyObject *of_wire(int kind, PyObject *child, const tw__proto_field *f, int depth)
{
    if (kind == TW_FIELD_BYTES)
        return PyBytes_FromStringAndSize((const char *)f->data, (Py_ssize_t)f->size);
    if (kind == TW_FIELD_STRING) {
        PyObject *text = PyUnicode_DecodeUTF8((const char *)f->data, (Py_ssize_t)f->size, NULL);
        if (!text && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
            PyErr_Clear();
            bad("a text is not UTF-8");
        }
        return text;
    }
    if (kind != TW_FIELD_MESSAGE)
        return of_number(kind, f->value);
    PyObject *made = tw__py_message_make(child);
    if (made && merge_bytes((message_object *)made, f->data, f->size, depth + 1) == 0)
        return made;
    Py_XDECREF(made);
    return NULL;
}

static int append(PyObject *list, PyObject *value)
{
    int result = value ? PyList_Append(list, value) : -1;
    Py_XDECREF(value);
    return result;
}

static int read_packed(const message_field *field, PyObject *list, const tw__proto_field *f)
{
    tw__wire wire = tw__field_wire(field->kind);
    size_t unit = wire == TW_WIRE_FIXED64 ? 8 : 4;
    for (size_t at = 0; at < f->size;) {
        uint64_t number = 0;
        size_t used = unit;
        if (wire == TW_WIRE_VARINT)
            used = tw__varint_get(f->data + at, f->size - at, &number);
        else if (f->size - at >= unit)
            number = unit == 8 ? tw__get64(f->data + at) : tw__get32(f->data + at);
        if (!used || used > f->size - at)
            return bad("a number is cut off");
        if (append(list, of_number(field->kind, number)) < 0)
            return -1;
        at += used;
    }
    return 0;
}

static int read_entry(const message_field *field, PyObject *map, const tw__proto_field *f, int depth)
{
    tw__proto proto = tw__proto_nested(f);
    tw__proto_field part, empty = { .data = f->data, .size = 0 };
    PyObject *key = NULL, *value = NULL;
    int result = 0;
    while (result == 0 && tw__proto_next(&proto, &part)) {
        bool is_key = part.number == TW_ENTRY_KEY && part.wire == tw__field_wire(field->key),
             is_value = part.number == TW_ENTRY_VALUE && part.wire == tw__field_wire(field->kind);
        if (!is_key && !is_value)
            continue;
        PyObject *read = is_key ? of_wire(field->key, NULL, &part, depth) : of_wire(field->kind, field->child, &part, depth);
        PyObject **place = is_key ? &key : &value;
        Py_XDECREF(*place);
        *place = read;
        result = read ? 0 : -1;
    }
    if (result == 0 && proto.failed)
        result = bad("");
    if (result == 0 && !key)
        result = (key = of_wire(field->key, NULL, &empty, depth)) ? 0 : -1;
    if (result == 0 && !value)
        result = (value = of_wire(field->kind, field->child, &empty, depth)) ? 0 : -1;
    if (result == 0)
        result = PyDict_SetItem(map, key, value);
    Py_XDECREF(key);
    Py_XDECREF(value);
    return result;
}

static int read_field(message_object *self, const message_field *field, const tw__proto_field *f, int depth)
{
    if (!field->container && field->kind != TW_FIELD_MESSAGE) {
        PyObject *value = of_wire(field->kind, NULL, f, depth);
        int result = value ? tw__py_message_put(self, field, value) : -1;
        Py_XDECREF(value);
        return result;
    }
    PyObject *part = tw__py_message_part(self, field);
    if (!part)
        return -1;
    if (field->key >= 0)
        return read_entry(field, part, f, depth);
    if (field->container && f->wire == TW_WIRE_BYTES && tw__field_wire(field->kind) != TW_WIRE_BYTES)
        return read_packed(field, part, f);
    if (field->container)
        return append(part, of_wire(field->kind, field->child, f, depth));
    ((message_object *)part)->set = 1;
    Py_INCREF(part);
    int result = tw__py_message_put(self, field, part); /* the others of its oneof go */
    if (result == 0)
        result = merge_bytes((message_object *)part, f->data, f->size, depth + 1);
    Py_DECREF(part);
    return result;
}

static const message_field *numbered(const message_class *class, uint32_t number)
{
    int low = 0, high = class->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        const message_field *field = &class->fields[class->order[middle]];
        if (field->number == number)
            return field;
        if (field->number < number)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

static int keep_unknown(message_object *self, const uint8_t *from, const uint8_t *to)
{
    if (!self->unknown && !(self->unknown = PyList_New(0)))
        return -1;
    return append(self->unknown, PyBytes_FromStringAndSize((const char *)from, to - from));
}

static int merge_bytes(message_object *self, const void *data, size_t size, int depth)
{
    tw__proto proto = tw__proto_read(data, size);
    tw__proto_field f;
    const uint8_t *from = proto.at;
    int result = depth > DEEPEST ? bad("messages are nested more than 100 deep") : 0;
    while (result == 0 && tw__proto_next(&proto, &f)) {
        const message_field *field = numbered(self->class, f.number);
        tw__wire wire = field ? field->key >= 0 ? TW_WIRE_BYTES : tw__field_wire(field->kind) : TW_WIRE_BYTES;
        bool packed = field && field->container && f.wire == TW_WIRE_BYTES;
        if (f.number == 0)
            result = bad("a field has the number 0");
        else if (field && (f.wire == wire || packed))
            result = read_field(self, field, &f, depth);
        else
            result = keep_unknown(self, from, proto.at);
        from = proto.at;
    }
    return result == 0 && proto.failed ? bad("it is cut off or damaged") : result;
}

PyObject *tw__py_message_merge(PyObject *self, PyObject *data)
{
    Py_buffer view;
    if (PyUnicode_Check(data) || PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a bytes-like object is required, not 'str'");
        return NULL;
    }
    int result = merge_bytes((message_object *)self, view.buf, (size_t)view.len, 0);
    Py_ssize_t size = view.len;
    PyBuffer_Release(&view);
    return result < 0 ? NULL : PyLong_FromSsize_t(size);
}
