/* tf.raw_ops: every op of the table as a function of keyword arguments, by its own signature. Made when first asked for. */
#include "extension.h"

typedef struct call {
    const char *name; /* of the node, or NULL */
    const tw_op *op;
    const tw__op_signature *signature;
    tw__py_frame frame;
    PyObject **inputs; /* one value per input argument, borrowed */
    tw_attr attrs[TW_MAX_ATTRS];
    int attr_count;
    bool given[TW_MAX_ATTRS]; /* by the signature's order */
    tw_tensor **tensors;
    int tensor_count, tensor_capacity;
} call;

static bool wrong_attr(const tw__attr_def *def, const char *expected, PyObject *value)
{
    PyErr_Clear();
    tw__py_error(PyExc_TypeError, "Expected %s for argument '%s' not %R.", expected, def->name, value);
    return false;
}

static bool read_int(const tw__attr_def *def, PyObject *value, int64_t *out)
{
    tw__py_auto PyObject *index = PyIndex_Check(value) && !PyBool_Check(value) ? PyNumber_Index(value) : NULL;
    if (!index)
        return wrong_attr(def, "int", value);
    *out = PyLong_AsLongLong(index);
    return !PyErr_Occurred();
}

static bool read_float(const tw__attr_def *def, PyObject *value, double *out)
{
    *out = PyFloat_AsDouble(value);
    return *out == -1 && PyErr_Occurred() ? wrong_attr(def, "float", value) : true;
}

static bool read_bool(const tw__attr_def *def, PyObject *value, bool *out)
{
    *out = value == Py_True;
    return PyBool_Check(value) ? true : wrong_attr(def, "bool", value);
}

static bool read_string(const tw__attr_def *def, PyObject *value, tw_string *out)
{
    Py_ssize_t size;
    char *bytes;
    if (PyUnicode_Check(value))
        out->data = PyUnicode_AsUTF8AndSize(value, &size);
    else if (PyBytes_Check(value) && PyBytes_AsStringAndSize(value, &bytes, &size) == 0)
        out->data = bytes;
    else
        return wrong_attr(def, "string", value);
    out->size = out->data ? (size_t)size : 0;
    return out->data != NULL;
}

/* A concrete function; borrowed. */
static bool read_function(const tw__attr_def *def, PyObject *value, void **to)
{
    *to = tw__py_graph_function_of(value);
    return *to || wrong_attr(def, "concrete function", value);
}

static size_t member_size(tw_attr_kind kind)
{
    switch (kind) {
    case TW_ATTR_INTS:
        return sizeof(int64_t);
    case TW_ATTR_FLOATS:
        return sizeof(double);
    case TW_ATTR_BOOLS:
        return sizeof(bool);
    case TW_ATTR_STRINGS:
        return sizeof(tw_string);
    case TW_ATTR_TYPES:
        return sizeof(tw_dtype);
    case TW_ATTR_FUNCS:
        return sizeof(void *);
    default:
        return sizeof(tw_shape);
    }
}

static bool read_member(const tw__attr_def *def, PyObject *value, void *place)
{
    switch (def->kind) {
    case TW_ATTR_INTS:
        return read_int(def, value, place);
    case TW_ATTR_FLOATS:
        return read_float(def, value, place);
    case TW_ATTR_BOOLS:
        return read_bool(def, value, place);
    case TW_ATTR_STRINGS:
        return read_string(def, value, place);
    case TW_ATTR_TYPES:
        return tw__py_as_dtype(value, place);
    case TW_ATTR_FUNCS:
        return read_function(def, value, place);
    default:
        return tw__py_as_shape(value, place);
    }
}

static bool read_list(call *c, const tw__attr_def *def, PyObject *value, tw_attr *attr)
{
    PyObject *list = PyUnicode_Check(value) ? NULL : PySequence_List(value);
    if (!list || !tw__py_keep_python(&c->frame, list))
        return wrong_attr(def, "list", value);
    Py_ssize_t count = PyList_Size(list);
    size_t size = member_size(def->kind);
    char *items = tw__py_keep_block(&c->frame, (size_t)count * size);
    if (!items)
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!read_member(def, PyList_GetItem(list, i), items + (size_t)i * size))
            return false;
    }
    attr->count = (int32_t)count;
    attr->ints = (const int64_t *)(const void *)items;
    return true;
}

static bool read_attr(call *c, int index, PyObject *value)
{
    const tw__attr_def *def = &c->signature->attrs[index];
    tw_attr *attr = &c->attrs[c->attr_count++];
    *attr = (tw_attr){ .name = def->name, .kind = def->kind };
    c->given[index] = true;
    switch (def->kind) {
    case TW_ATTR_INT:
        return read_int(def, value, &attr->i);
    case TW_ATTR_FLOAT:
        return read_float(def, value, &attr->f);
    case TW_ATTR_BOOL:
        return read_bool(def, value, &attr->b);
    case TW_ATTR_STRING:
        return read_string(def, value, &attr->s);
    case TW_ATTR_TYPE:
        return tw__py_as_dtype(value, &attr->type);
    case TW_ATTR_SHAPE: {
        tw_shape *shape = tw__py_keep_block(&c->frame, sizeof *shape);
        attr->shape = shape;
        return shape && tw__py_as_shape(value, shape);
    }
    case TW_ATTR_TENSOR:
        attr->tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
        return tw__py_keep_object(&c->frame, attr->tensor);
    case TW_ATTR_FUNC:
        return read_function(def, value, &attr->func);
    case TW_ATTR_NONE:
        tw__py_error(PyExc_NotImplementedError, "%s: the attr %s can't be given from Python", c->op->name, def->name);
        return false;
    default:
        return read_list(c, def, value, attr);
    }
}

static const tw_attr *given_attr(const call *c, int index)
{
    for (int i = 0; index >= 0 && i < c->attr_count; i++) {
        if (c->attrs[i].name == c->signature->attrs[index].name)
            return &c->attrs[i];
    }
    return NULL;
}

/* The dtype of the inputs that share a type attr: as given, or that of the first that is a tensor. */
static tw_dtype group_dtype(const call *c, int type_attr)
{
    const tw_attr *given = given_attr(c, type_attr);
    if (given)
        return given->type;
    for (int i = 0; i < c->signature->input_count; i++) {
        PyObject *value = c->inputs[i];
        if (c->signature->inputs[i].type_attr != type_attr)
            continue;
        tw_dtype dtype = tw__py_dtype_of_value(value);
        if (c->signature->inputs[i].count_attr >= 0 && (PyList_Check(value) || PyTuple_Check(value))) {
            for (Py_ssize_t k = 0; dtype == TW_DTYPE_NONE && k < PySequence_Size(value); k++) {
                tw__py_auto PyObject *item = PySequence_GetItem(value, k);
                dtype = item ? tw__py_dtype_of_value(item) : TW_DTYPE_NONE;
            }
        }
        if (dtype != TW_DTYPE_NONE)
            return dtype;
    }
    return TW_DTYPE_NONE;
}

static bool add_tensor(call *c, PyObject *value, tw_dtype dtype, const tw__arg *arg)
{
    tw_tensor *tensor;
    if (tw__py_is_variable(value) && arg->dtype == TW_RESOURCE)
        tensor = tw_retain(((tw_variable *)tw__py_handle(value))->handle);
    else
        tensor = tw__py_to_tensor(value, dtype, TW_HINT);
    if (!tw__py_keep_object(&c->frame, tensor))
        return false;
    if (c->tensor_count == c->tensor_capacity) {
        int capacity = c->tensor_capacity ? 2 * c->tensor_capacity : 8;
        tw_tensor **more = tw__py_keep_block(&c->frame, (size_t)capacity * sizeof *more);
        if (!more)
            return false;
        if (c->tensor_count)
            memcpy(more, c->tensors, (size_t)c->tensor_count * sizeof *more);
        c->tensors = more;
        c->tensor_capacity = capacity;
    }
    c->tensors[c->tensor_count++] = tensor;
    return true;
}

/* Says the dtypes of the list that was read last: where there are several lists, the number of inputs alone does not tell them
 * apart. */
static bool say_types(call *c, const tw__arg *arg, int count)
{
    if (c->given[arg->types_attr] || c->attr_count == TW_MAX_ATTRS)
        return true;
    tw_dtype *types = tw__py_keep_block(&c->frame, (size_t)count * sizeof *types);
    for (int k = 0; types && k < count; k++)
        types[k] = c->tensors[c->tensor_count - count + k]->dtype;
    c->attrs[c->attr_count++] = TW_A_TYPES(c->signature->attrs[arg->types_attr].name, types, count);
    c->given[arg->types_attr] = true;
    return types != NULL;
}

/* Lists with counts of their own: the call alone tells where one ends. */
static bool has_several_counts(const tw__op_signature *s)
{
    int first = -1;
    for (int i = 0; i < s->input_count; i++) {
        int count = s->inputs[i].count_attr;
        if (count >= 0 && first >= 0 && count != first)
            return true;
        first = count >= 0 ? count : first;
    }
    return false;
}

static bool read_inputs(call *c)
{
    tw_dtype groups[TW_MAX_ATTRS] = { 0 };
    bool several = has_several_counts(c->signature);
    for (int i = 0; i < c->signature->input_count; i++) {
        const tw__arg *arg = &c->signature->inputs[i];
        tw_dtype dtype = arg->dtype;
        if (arg->type_attr >= 0) {
            tw_dtype *group = &groups[arg->type_attr];
            if (*group == TW_DTYPE_NONE)
                *group = group_dtype(c, arg->type_attr);
            dtype = *group;
        }
        bool list = arg->count_attr >= 0 || arg->types_attr >= 0;
        PyObject *items = list ? PySequence_List(c->inputs[i]) : NULL;
        if (list && (!items || !tw__py_keep_python(&c->frame, items))) {
            PyErr_Clear();
            tw__py_error(PyExc_TypeError, "Expected list for '%s' argument to '%s' Op, not %R.", arg->name, c->op->name,
                         c->inputs[i]);
            return false;
        }
        Py_ssize_t count = list ? PyList_Size(items) : 1;
        for (Py_ssize_t k = 0; k < count; k++) {
            if (!add_tensor(c, list ? PyList_GetItem(items, k) : c->inputs[i], dtype, arg))
                return false;
            if (arg->type_attr >= 0 && dtype == TW_DTYPE_NONE)
                dtype = groups[arg->type_attr] = c->tensors[c->tensor_count - 1]->dtype;
        }
        if (arg->types_attr >= 0 && !say_types(c, arg, (int)count))
            return false;
        if (arg->count_attr >= 0 && several && !c->given[arg->count_attr]) {
            c->attrs[c->attr_count++] = TW_A_INT(c->signature->attrs[arg->count_attr].name, count);
            c->given[arg->count_attr] = true;
        }
    }
    return true;
}

/* ---- outputs ---- */

static int64_t members_of(const call *c, const tw__arg *arg)
{
    int index = arg->count_attr >= 0 ? arg->count_attr : arg->types_attr;
    if (index < 0)
        return 1;
    const tw_attr *given = given_attr(c, index);
    if (given)
        return arg->count_attr >= 0 ? given->i : given->count;
    const tw__attr_def *def = &c->signature->attrs[index];
    int64_t otherwise = def->has_default ? (arg->count_attr >= 0 ? def->value.i : def->value.count) : 0;
    return otherwise > c->tensor_count ? otherwise : c->tensor_count;
}

static PyObject *named_tuple(const tw_op *op, const tw__op_signature *signature)
{
    static PyObject *cache;
    if (!cache)
        cache = PyDict_New();
    PyObject *type = cache ? PyDict_GetItemString(cache, op->name) : NULL;
    if (type) {
        Py_INCREF(type);
        return type;
    }
    tw__py_auto PyObject *names = PyList_New(0);
    for (int i = 0; names && i < signature->output_count; i++) {
        tw__py_auto PyObject *name = PyUnicode_FromString(signature->outputs[i].name);
        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
    }
    tw__py_auto PyObject *module = names ? PyImport_ImportModule("collections") : NULL;
    type = module ? PyObject_CallMethod(module, "namedtuple", "sO", op->name, names) : NULL;
    if (type && cache)
        PyDict_SetItemString(cache, op->name, type);
    return type;
}

PyObject *tw__py_name_outputs(const char *op_name, PyObject *list)
{
    bool plain = strcmp(op_name, "tuple") == 0;
    const tw_op *op = plain ? NULL : tw__op_find(op_name);
    tw__py_auto PyObject *type = op ? named_tuple(op, tw__op_signature_of(op)) : NULL;
    PyObject *out = plain ? PyList_AsTuple(list) : type ? PyObject_CallMethod(type, "_make", "(O)", list) : NULL;
    Py_DECREF(list);
    return out;
}

/* How many outputs stand in that place: 1 of a single one, of a list what the call's attrs say; -1: they don't. */
static int given_length(const call *c, const tw__arg *arg)
{
    int index = arg->count_attr >= 0 ? arg->count_attr : arg->types_attr;
    return index >= 0 && !given_attr(c, index) ? -1 : (int)members_of(c, arg);
}

static PyObject *results(const call *c, tw_tensor **outputs, int count)
{
    const tw__op_signature *s = c->signature;
    if (s->output_count == 0)
        Py_RETURN_NONE;
    tw__py_auto PyObject *tuple = PyTuple_New(s->output_count);
    int known = 0, open = 0, at = 0; /* lists whose length only the call tells share what the others leave */
    for (int i = 0; i < s->output_count; i++) {
        bool told = given_length(c, &s->outputs[i]) >= 0;
        known += told ? given_length(c, &s->outputs[i]) : 0;
        open += !told;
    }
    for (int i = 0; tuple && i < s->output_count; i++) {
        bool list = s->outputs[i].count_attr >= 0 || s->outputs[i].types_attr >= 0;
        int told = given_length(c, &s->outputs[i]), length = told >= 0 ? told : (count - known) / open;
        PyObject *item = list ? PyList_New(length) : tw__py_wrap_tensor(outputs[at++]);
        for (int k = 0; list && item && k < length; k++)
            PyList_SetItem(item, k, tw__py_wrap_tensor(outputs[at++]));
        if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    if (!tuple)
        return NULL;
    PyObject *out;
    if (s->output_count == 1) {
        out = PyTuple_GetItem(tuple, 0);
        Py_XINCREF(out);
    } else {
        tw__py_auto PyObject *type = named_tuple(c->op, s);
        out = type ? PyObject_CallMethod(type, "_make", "(O)", tuple) : NULL;
    }
    return out;
}

static PyObject *run(call *c)
{
    int64_t room = 0;
    for (int i = 0; i < c->signature->output_count; i++) {
        int64_t members = members_of(c, &c->signature->outputs[i]);
        room += members > 0 && members < 1 << 20 ? members : 1;
    }
    tw_tensor **outputs = tw__py_keep_block(&c->frame, ((size_t)room + 1) * sizeof *outputs);
    int count = (int)room;
    if (!outputs)
        return NULL;
    if (tw__apply(c->op, c->tensors, c->tensor_count, c->attrs, c->attr_count, outputs, &count) != TW_OK)
        return tw__py_raise();
    return results(c, outputs, count);
}

/* ---- the call ---- */

static PyObject *possible_keys(const tw__op_signature *signature)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < signature->input_count + signature->attr_count + 1; i++) {
        const char *name =
            i < signature->input_count ? signature->inputs[i].name
            : i < signature->input_count + signature->attr_count
                ? (signature->attrs[i - signature->input_count].inferred ? NULL
                                                                         : signature->attrs[i - signature->input_count].name)
                : "name";
        tw__py_auto PyObject *text = name ? PyUnicode_FromString(name) : NULL;
        if (text)
            PyList_Append(list, text);
    }
    return list;
}

/* Python calls "axis" what some ops' own definitions call otherwise. */
static const char *own_name(const call *c, const char *text)
{
    static const char *const axes[] = { "axis", "reduction_indices", "dimension", "concat_dim", "split_dim", "dim" };
    if (strcmp(text, "axis") != 0)
        return text;
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        for (int i = 0; i < c->signature->input_count; i++) {
            if (strcmp(c->signature->inputs[i].name, axes[k]) == 0)
                return axes[k];
        }
        for (int i = 0; i < c->signature->attr_count; i++) {
            if (strcmp(c->signature->attrs[i].name, axes[k]) == 0)
                return axes[k];
        }
    }
    return text;
}

static bool put(call *c, PyObject *name, PyObject *value)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text)
        return false;
    text = own_name(c, text);
    for (int i = 0; i < c->signature->input_count; i++) {
        if (strcmp(c->signature->inputs[i].name, text) == 0) {
            c->inputs[i] = value;
            return true;
        }
    }
    for (int i = 0; i < c->signature->attr_count; i++) {
        if (strcmp(c->signature->attrs[i].name, text) == 0)
            return value == Py_None && (c->signature->attrs[i].has_default || c->signature->attrs[i].kind != TW_ATTR_SHAPE)
                       ? true
                       : read_attr(c, i, value); /* a shape of None has no rank */
    }
    if (strcmp(text, "name") == 0) {
        c->name = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, NULL);
        return c->name || value == Py_None;
    }
    tw__py_error(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'", c->op->name, text);
    return false;
}

static PyObject *raw_call(PyObject *self, PyObject *const *arguments, size_t size, PyObject *names)
{
    const tw_op *op = ((tw__py_function *)self)->op;
    call c = { .op = op, .signature = tw__op_signature_of(op) };
    if (!c.signature)
        return tw__py_raise();
    Py_ssize_t positional = TW_VECTOR_COUNT(size), named = names ? PyTuple_Size(names) : 0;
    if (positional) {
        tw__py_auto PyObject *keys = possible_keys(c.signature);
        tw__py_error(PyExc_TypeError, "%s only takes keyword args (possible keys: %S). Please pass these args as kwargs instead.",
                     op->name, keys);
        return NULL;
    }
    c.inputs = tw__py_keep_block(&c.frame, ((size_t)c.signature->input_count + 1) * sizeof *c.inputs);
    bool good = c.inputs != NULL;
    for (Py_ssize_t i = 0; good && i < named; i++)
        good = put(&c, PyTuple_GetItem(names, i), arguments[positional + i]);
    for (int i = 0; good && i < c.signature->input_count; i++) {
        if (!c.inputs[i]) {
            tw__py_error(PyExc_TypeError, "%s() missing 1 required positional argument: '%s'", op->name,
                         c.signature->inputs[i].name);
            good = false;
        }
    }
    for (int i = 0; good && i < c.signature->attr_count; i++) {
        const tw__attr_def *def = &c.signature->attrs[i];
        if (!c.given[i] && !def->has_default && !def->inferred) {
            tw__py_error(PyExc_TypeError, "%s() missing 1 required positional argument: '%s'", op->name, def->name);
            good = false;
        }
    }
    tw__naming naming = tw__naming_begin();
    PyObject *out = good && read_inputs(&c) ? run(&c) : NULL;
    if (tw__naming_end(naming, NULL, c.name, NULL) != TW_OK && out) {
        Py_CLEAR(out);
        tw__py_raise();
    }
    tw__py_frame_end(&c.frame);
    if (out == Py_None && tw__in_lasting() &&
        tw__tracing->node_count) { /* what gives nothing is an operation, to be run or followed */
        Py_DECREF(out);
        return tw__py_wrap_operation(tw__tracing->nodes[tw__tracing->node_count - 1]);
    }
    return out;
}

char *tw__py_raw_op_text(const tw_op *op)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    tw__text text = { 0 };
    tw__text_format(&text, "%s(", op->name);
    for (int i = 0; signature && i < signature->input_count; i++)
        tw__text_format(&text, "%s: tensor, ", signature->inputs[i].name);
    for (int pass = 0; signature && pass < 2; pass++) { /* what must be given comes first */
        for (int i = 0; i < signature->attr_count; i++) {
            const tw__attr_def *def = &signature->attrs[i];
            if (!def->inferred && def->has_default == (pass == 1))
                tw__text_format(&text, pass ? "%s: value = None, " : "%s: value, ", def->name);
        }
    }
    tw__text_add(&text, "name: str = None)");
    return tw__text_take(&text);
}

/* Ops that TensorFlow has by name only say why they can't be called (op/refused.h). */
static PyObject *refused_call(PyObject *self, PyObject *const *arguments, size_t size, PyObject *names)
{
    (void)arguments;
    (void)size;
    (void)names;
    tw__op_refuse(((tw__py_function *)self)->name, !tw__tracing);
    return tw__py_raise();
}

PyObject *tw__py_raw_op(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const tw_op *op = text ? tw__op_find(text) : NULL;
    bool refused = text && !op && tw__op_refused(text);
    if (!op && !refused)
        return PyErr_Occurred() ? NULL
                                : tw__py_error(PyExc_AttributeError, "module 'tensorflow.raw_ops' has no attribute '%U'", name);
    tw__py_function *function = tw__py_function_new(NULL, text, strlen(text), NULL);
    if (!function)
        return NULL;
    function->op = op;
    function->vectorcall = refused ? refused_call : raw_call;
    if (module && PyModule_Check(module) && PyObject_SetAttr(module, name, (PyObject *)function) < 0)
        Py_CLEAR(function);
    return (PyObject *)function;
}

PyObject *tw__py_raw_op_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < tw__op_count(); i++) {
        tw__py_auto PyObject *name = PyUnicode_FromString(tw__op_at(i)->name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}
