/* AttrValue, in and out. */
#include "graph/graphdef.h"

/* ---- reading ---- */

static tw_status read_type(uint64_t value, tw_dtype *dtype)
{
    if (value >= TW_DTYPE_LIMIT || !tw__dtype_is_valid((tw_dtype)value))
        return tw__fail(TW_UNIMPLEMENTED, "the dtype number %llu, which is not supported", (unsigned long long)value);
    *dtype = (tw_dtype)value;
    return TW_OK;
}

/* Members of that kind, and how large one is in the attr. */
static tw__many members_of(const tw__AttrValue_ListValue *list, tw_attr_kind kind, size_t *size)
{
    switch (kind) {
    case TW_ATTR_INTS:
        *size = sizeof(int64_t);
        return list->i;
    case TW_ATTR_FLOATS:
        *size = sizeof(double);
        return list->f;
    case TW_ATTR_BOOLS:
        *size = sizeof(bool);
        return list->b;
    case TW_ATTR_TYPES:
        *size = sizeof(tw_dtype);
        return list->type;
    case TW_ATTR_SHAPES:
        *size = sizeof(tw_shape);
        return list->shape;
    case TW_ATTR_FUNCS:
        *size = sizeof(void *);
        return list->func;
    default:
        *size = sizeof(tw_string);
        return list->s;
    }
}

static tw_status read_numbers(tw__many many, tw_attr_kind kind, void *items)
{
    tw__numbers numbers = tw__numbers_of(many);
    size_t i = 0;
    for (uint64_t value; tw__next_number(&numbers, &value); i++) {
        if (kind == TW_ATTR_INTS)
            ((int64_t *)items)[i] = (int64_t)value;
        else if (kind == TW_ATTR_FLOATS)
            ((double *)items)[i] = tw__float_of(value);
        else if (kind == TW_ATTR_BOOLS)
            ((bool *)items)[i] = value != 0;
        else
            TW_TRY(read_type(value, &((tw_dtype *)items)[i]));
    }
    return TW_OK;
}

/* The name of a NameAttrList. */
static tw_status read_function_name(tw_string bytes, tw_string *name)
{
    tw__NameAttrList function;
    if (!tw__read_NameAttrList(bytes, &function))
        return tw__fail(TW_DATA_LOSS, "a function's name that can't be read");
    *name = function.name;
    return TW_OK;
}

static tw_status find_function(const tw__function_source *functions, tw_string bytes, void **function)
{
    tw_string name;
    TW_TRY(read_function_name(bytes, &name));
    *function = functions->find ? functions->find(functions->context, name) : NULL;
    if (!*function && !functions->find)
        return tw__fail(TW_NOT_FOUND, "the function '%.*s', but there is no library", TW_SHOWN(name));
    return *function ? TW_OK : tw__error_status();
}

static tw_status read_list(tw_string bytes, tw_attr_kind kind, const tw__function_source *functions, tw_attr *attr, void **block)
{
    tw__AttrValue_ListValue list;
    if (!tw__read_AttrValue_ListValue(bytes, &list))
        return tw__fail(TW_DATA_LOSS, "a list that can't be read");
    size_t size, i = 0;
    tw__many many = members_of(&list, kind, &size);
    if (list.unknown || list.s.count + list.i.count + list.f.count + list.b.count + list.type.count + list.shape.count +
                                list.tensor.count + list.func.count !=
                            many.count)
        return tw__fail(TW_INVALID_ARGUMENT, "a list whose members are of another kind than the op takes");
    bool good = true, numbers = tw__field_wire(many.type) != TW_WIRE_BYTES;
    size_t count = numbers ? tw__numbers_count(many, &good) : many.count;
    if (!good || count > INT32_MAX)
        return tw__fail(TW_DATA_LOSS, "a list that can't be read");
    *block = tw__alloc_array(count + 1, size);
    if (!*block)
        return TW_RESOURCE_EXHAUSTED;
    if (numbers)
        TW_TRY(read_numbers(many, kind, *block));
    for (tw_string item; !numbers && tw__next_bytes(&many, &item); i++) {
        if (kind == TW_ATTR_FUNCS)
            TW_TRY(find_function(functions, item, &((void **)*block)[i]));
        else if (kind == TW_ATTR_SHAPES)
            TW_TRY(tw__shape_message_read(item, &((tw_shape *)*block)[i]));
        else
            ((tw_string *)*block)[i] = item;
    }
    attr->ints = *block; /* the members of the union are all pointers here */
    attr->count = (int32_t)count;
    return TW_OK;
}

static tw_status read_tensor(tw_string bytes, size_t *budget, tw_attr *attr, void **object)
{
    tw__tensor_message message;
    TW_TRY(tw__tensor_message_open(bytes, &message));
    *object = attr->tensor = tw__tensor_message_read(&message, -1, budget);
    return *object ? TW_OK : tw__error_status();
}

/* The field that holds a value of that kind. */
static uint32_t number_of(tw_attr_kind kind)
{
    switch (kind) {
    case TW_ATTR_INT:
        return TW_AttrValue_i;
    case TW_ATTR_FLOAT:
        return TW_AttrValue_f;
    case TW_ATTR_BOOL:
        return TW_AttrValue_b;
    case TW_ATTR_STRING:
        return TW_AttrValue_s;
    case TW_ATTR_TYPE:
        return TW_AttrValue_type;
    case TW_ATTR_SHAPE:
        return TW_AttrValue_shape;
    case TW_ATTR_TENSOR:
        return TW_AttrValue_tensor;
    case TW_ATTR_FUNC:
        return TW_AttrValue_func;
    default:
        return TW_AttrValue_list;
    }
}

tw_status tw__attr_message_read(tw_string bytes, tw_attr_kind kind, const tw__function_source *functions, size_t *budget,
                                tw_attr *attr, void **block, void **object)
{
    tw__AttrValue value;
    if (!tw__read_AttrValue(bytes, &value))
        return tw__fail(TW_DATA_LOSS, "a value that can't be read");
    if (value.which_value != number_of(kind))
        return tw__fail(TW_INVALID_ARGUMENT, "a value of another kind than the op takes");
    attr->kind = kind;
    switch (kind) {
    case TW_ATTR_INT:
        attr->i = value.i;
        return TW_OK;
    case TW_ATTR_FLOAT:
        attr->f = value.f;
        return TW_OK;
    case TW_ATTR_BOOL:
        attr->b = value.b;
        return TW_OK;
    case TW_ATTR_TYPE:
        return read_type((uint64_t)(int64_t)value.type, &attr->type);
    case TW_ATTR_STRING:
        attr->s = value.s;
        return TW_OK;
    case TW_ATTR_SHAPE: {
        tw_shape *shape = tw__alloc(sizeof *shape);
        *block = shape;
        attr->shape = shape;
        return shape ? tw__shape_message_read(value.shape, shape) : TW_RESOURCE_EXHAUSTED;
    }
    case TW_ATTR_TENSOR:
        return read_tensor(value.tensor, budget, attr, object);
    case TW_ATTR_FUNC:
        return find_function(functions, value.func, &attr->func);
    default:
        return read_list(value.list, kind, functions, attr, block);
    }
}

tw_status tw__attr_message_functions(tw_string bytes, tw_status (*each)(void *context, tw_string name), void *context)
{
    tw__AttrValue value;
    tw__AttrValue_ListValue list;
    tw_string name;
    if (!tw__read_AttrValue(bytes, &value) || !tw__read_AttrValue_ListValue(value.list, &list))
        return TW_OK; /* damage is found when the attr is read */
    if (tw__has(value.func)) {
        TW_TRY(read_function_name(value.func, &name));
        TW_TRY(each(context, name));
    }
    for (tw_string function; tw__next_bytes(&list.func, &function);) {
        TW_TRY(read_function_name(function, &name));
        TW_TRY(each(context, name));
    }
    return TW_OK;
}

/* ---- writing ---- */

/* The name of a function as a NameAttrList, whose field was opened at `start`. */
static tw_status write_function(tw__text *text, size_t start, const char *attr, void *function,
                                const tw__function_names *functions)
{
    const char *name = function ? functions->name(functions->context, function) : NULL;
    if (!name)
        return tw__fail(TW_INVALID_ARGUMENT, "the attr %s names no function", attr);
    tw__put_NameAttrList_name(text, name, strlen(name));
    tw__close(text, start);
    return TW_OK;
}

static tw_status write_list(tw__text *text, const tw_attr *attr, const tw__function_names *functions)
{
    size_t start = 0;
    bool packed = true;
    if (!attr->count)
        return TW_OK;
    switch (attr->kind) {
    case TW_ATTR_INTS:
        start = tw__open_AttrValue_ListValue_i(text);
        break;
    case TW_ATTR_FLOATS:
        start = tw__open_AttrValue_ListValue_f(text);
        break;
    case TW_ATTR_BOOLS:
        start = tw__open_AttrValue_ListValue_b(text);
        break;
    case TW_ATTR_TYPES:
        start = tw__open_AttrValue_ListValue_type(text);
        break;
    default:
        packed = false;
    }
    for (int i = 0; i < attr->count; i++) {
        uint8_t bits[4];
        switch (attr->kind) {
        case TW_ATTR_INTS:
            tw__varint_add(text, (uint64_t)attr->ints[i]);
            break;
        case TW_ATTR_FLOATS:
            tw__put32(bits, tw__bits_of_float((float)attr->floats[i]));
            tw__text_bytes(text, bits, 4);
            break;
        case TW_ATTR_BOOLS:
            tw__varint_add(text, attr->bools[i]);
            break;
        case TW_ATTR_TYPES:
            tw__varint_add(text, (uint64_t)attr->types[i]);
            break;
        case TW_ATTR_STRINGS:
            tw__put_AttrValue_ListValue_s(text, attr->strings[i].data, attr->strings[i].size);
            break;
        case TW_ATTR_FUNCS:
            TW_TRY(write_function(text, tw__open_AttrValue_ListValue_func(text), attr->name, attr->funcs[i], functions));
            break;
        default:
            tw__shape_message_write(text, TW_AttrValue_ListValue_shape, &attr->shapes[i]);
        }
    }
    if (packed)
        tw__close(text, start);
    return TW_OK;
}

static tw_status write_value(tw__text *text, const tw_attr *attr, const tw__function_names *functions)
{
    switch (attr->kind) {
    case TW_ATTR_INT:
        tw__put_AttrValue_i(text, attr->i);
        break;
    case TW_ATTR_FLOAT:
        tw__put_AttrValue_f(text, (float)attr->f);
        break;
    case TW_ATTR_BOOL:
        tw__put_AttrValue_b(text, attr->b);
        break;
    case TW_ATTR_TYPE:
        tw__put_AttrValue_type(text, attr->type);
        break;
    case TW_ATTR_STRING:
        tw__put_AttrValue_s(text, attr->s.data, attr->s.size);
        break;
    case TW_ATTR_SHAPE:
        tw__shape_message_write(text, TW_AttrValue_shape, attr->shape);
        break;
    case TW_ATTR_TENSOR:
        return tw__tensor_message_write(text, TW_AttrValue_tensor, attr->tensor);
    case TW_ATTR_FUNC:
        return write_function(text, tw__open_AttrValue_func(text), attr->name, attr->func, functions);
    default: {
        size_t list = tw__open_AttrValue_list(text);
        TW_TRY(write_list(text, attr, functions));
        tw__close(text, list);
    }
    }
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__attr_message_write(tw__text *text, uint32_t number, const tw_attr *attr, const tw__function_names *functions)
{
    size_t entry = tw__open(text, number);
    tw__put_NodeDef_attr_key(text, attr->name, strlen(attr->name));
    size_t value = tw__open_NodeDef_attr_value(text);
    TW_TRY(write_value(text, attr, functions));
    tw__close(text, value);
    tw__close(text, entry);
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
