/* AttrValue, in and out.
 *
 *     AttrValue  one of: 1 list, 2 s, 3 i, 4 f, 5 b, 6 type, 7 shape, 8 tensor, 9 placeholder, 10 func {1 name, 2 attr}
 *     ListValue  2 s, 3 i, 4 f, 5 b, 6 type, 7 shape, 8 tensor, 9 func; numbers packed or one by one */
#include "graph/graphdef.h"

enum { LIST = 1, STRING = 2, INT = 3, FLOAT = 4, BOOL = 5, TYPE = 6, SHAPE = 7, TENSOR = 8, FUNC = 10, LIST_FUNC = 9 };

static tw_string bytes_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

static uint32_t number_of(tw_attr_kind kind)
{
    switch (kind) {
    case TW_ATTR_INT:
    case TW_ATTR_INTS:
        return INT;
    case TW_ATTR_FLOAT:
    case TW_ATTR_FLOATS:
        return FLOAT;
    case TW_ATTR_BOOL:
    case TW_ATTR_BOOLS:
        return BOOL;
    case TW_ATTR_STRING:
    case TW_ATTR_STRINGS:
        return STRING;
    case TW_ATTR_TYPE:
    case TW_ATTR_TYPES:
        return TYPE;
    case TW_ATTR_SHAPE:
    case TW_ATTR_SHAPES:
        return SHAPE;
    case TW_ATTR_TENSOR:
        return TENSOR;
    case TW_ATTR_FUNCS:
        return LIST_FUNC;
    default:
        return FUNC;
    }
}

static double float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- reading ---- */

static tw_status read_type(uint64_t value, tw_dtype *dtype)
{
    if (value >= TW_DTYPE_LIMIT || !tw__dtype_is_valid((tw_dtype)value))
        return tw__fail(TW_UNIMPLEMENTED, "the dtype number %llu, which is not supported", (unsigned long long)value);
    *dtype = (tw_dtype)value;
    return TW_OK;
}

static tw_status store_number(tw_attr_kind kind, void *items, size_t index, uint64_t value)
{
    if (kind == TW_ATTR_INTS)
        ((int64_t *)items)[index] = (int64_t)value;
    else if (kind == TW_ATTR_FLOATS)
        ((double *)items)[index] = float_of((uint32_t)value);
    else if (kind == TW_ATTR_BOOLS)
        ((bool *)items)[index] = value != 0;
    else
        return read_type(value, &((tw_dtype *)items)[index]);
    return TW_OK;
}

/* Members of the list from `bytes` into `items`, or only their number if that is NULL. */
static tw_status walk_list(tw_string bytes, tw_attr_kind kind, void *items, size_t *count)
{
    bool numbers = kind == TW_ATTR_INTS || kind == TW_ATTR_FLOATS || kind == TW_ATTR_BOOLS || kind == TW_ATTR_TYPES;
    tw__wire wire = !numbers ? TW_WIRE_BYTES : kind == TW_ATTR_FLOATS ? TW_WIRE_FIXED32 : TW_WIRE_VARINT;
    tw__proto_field field;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    *count = 0;
    while (tw__proto_next(&proto, &field)) {
        if (field.number != number_of(kind))
            return tw__fail(TW_INVALID_ARGUMENT, "a list whose members are of another kind than the op takes");
        if (field.wire == wire) {
            if (items && (kind == TW_ATTR_STRINGS || kind == TW_ATTR_FUNCS))
                ((tw_string *)items)[*count] = bytes_of(&field);
            else if (items && kind == TW_ATTR_SHAPES)
                TW_TRY(tw__shape_message_read(bytes_of(&field), &((tw_shape *)items)[*count]));
            else if (items)
                TW_TRY(store_number(kind, items, *count, field.value));
            ++*count;
            continue;
        }
        for (size_t at = 0; numbers && field.wire == TW_WIRE_BYTES && at < field.size;) {
            uint64_t value = 0;
            size_t used = wire == TW_WIRE_VARINT ? tw__varint_get(field.data + at, field.size - at, &value) : 4;
            if (!used || used > field.size - at)
                return tw__fail(TW_DATA_LOSS, "a list that can't be read");
            if (wire == TW_WIRE_FIXED32)
                value = tw__get32(field.data + at);
            if (items)
                TW_TRY(store_number(kind, items, *count, value));
            ++*count;
            at += used;
        }
    }
    return proto.failed || *count > INT32_MAX ? tw__fail(TW_DATA_LOSS, "a list that can't be read") : TW_OK;
}

static tw_status read_function_name(tw_string bytes, tw_string *name);

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
    size_t count;
    TW_TRY(walk_list(bytes, kind, NULL, &count));
    size_t size = kind == TW_ATTR_STRINGS || kind == TW_ATTR_FUNCS ? sizeof(tw_string)
                  : kind == TW_ATTR_SHAPES                         ? sizeof(tw_shape)
                  : kind == TW_ATTR_BOOLS                          ? sizeof(bool)
                  : kind == TW_ATTR_TYPES                          ? sizeof(tw_dtype)
                                                                   : sizeof(int64_t);
    *block = tw__alloc_array(count + 1, size);
    if (!*block)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(walk_list(bytes, kind, *block, &count));
    for (size_t i = 0; kind == TW_ATTR_FUNCS && i < count; i++)
        TW_TRY(
            find_function(functions, ((tw_string *)*block)[i], &((void **)*block)[i])); /* a pointer is smaller than a string */
    attr->ints = *block; /* the members of the union are all pointers here */
    attr->count = (int32_t)count;
    return TW_OK;
}

/* The name of a NameAttrList. */
static tw_status read_function_name(tw_string bytes, tw_string *name)
{
    tw__proto_field field;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    *name = (tw_string){ "", 0 };
    while (tw__proto_next(&proto, &field)) {
        if (field.number == 1 && field.wire == TW_WIRE_BYTES)
            *name = bytes_of(&field);
    }
    return proto.failed ? tw__fail(TW_DATA_LOSS, "a function's name that can't be read") : TW_OK;
}

static tw_status read_tensor(tw_string bytes, size_t *budget, tw_attr *attr, void **object)
{
    tw__tensor_message message;
    TW_TRY(tw__tensor_message_open(bytes, &message));
    *object = attr->tensor = tw__tensor_message_read(&message, -1, budget);
    return *object ? TW_OK : tw__error_status();
}

tw_status tw__attr_message_read(tw_string bytes, tw_attr_kind kind, const tw__function_source *functions, size_t *budget,
                                tw_attr *attr, void **block, void **object)
{
    tw__proto_field field, last = { 0 };
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    while (tw__proto_next(&proto, &field))
        last = field;
    if (proto.failed)
        return tw__fail(TW_DATA_LOSS, "a value that can't be read");
    bool list = kind > TW_ATTR_FUNC;
    tw__wire wire = kind == TW_ATTR_FLOAT                                                 ? TW_WIRE_FIXED32
                    : kind == TW_ATTR_INT || kind == TW_ATTR_BOOL || kind == TW_ATTR_TYPE ? TW_WIRE_VARINT
                                                                                          : TW_WIRE_BYTES;
    if (last.number != (list ? LIST : number_of(kind)) || last.wire != wire)
        return tw__fail(TW_INVALID_ARGUMENT, "a value of another kind than the op takes");
    attr->kind = kind;
    tw_string inner = bytes_of(&last);
    switch (kind) {
    case TW_ATTR_INT:
        attr->i = (int64_t)last.value;
        return TW_OK;
    case TW_ATTR_FLOAT:
        attr->f = float_of((uint32_t)last.value);
        return TW_OK;
    case TW_ATTR_BOOL:
        attr->b = last.value != 0;
        return TW_OK;
    case TW_ATTR_TYPE:
        return read_type(last.value, &attr->type);
    case TW_ATTR_STRING:
        attr->s = inner;
        return TW_OK;
    case TW_ATTR_SHAPE: {
        tw_shape *shape = tw__alloc(sizeof *shape);
        *block = shape;
        attr->shape = shape;
        return shape ? tw__shape_message_read(inner, shape) : TW_RESOURCE_EXHAUSTED;
    }
    case TW_ATTR_TENSOR:
        return read_tensor(inner, budget, attr, object);
    case TW_ATTR_FUNC:
        return find_function(functions, inner, &attr->func);
    default:
        return read_list(inner, kind, functions, attr, block);
    }
}

tw_status tw__attr_message_functions(tw_string bytes, tw_status (*each)(void *context, tw_string name), void *context)
{
    tw__proto_field field, member;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw_string name;
    while (tw__proto_next(&proto, &field)) {
        if (field.wire == TW_WIRE_BYTES && field.number == FUNC) {
            TW_TRY(read_function_name(bytes_of(&field), &name));
            TW_TRY(each(context, name));
        } else if (field.wire == TW_WIRE_BYTES && field.number == LIST) {
            tw__proto list = tw__proto_nested(&field);
            while (tw__proto_next(&list, &member)) {
                if (member.wire != TW_WIRE_BYTES || member.number != LIST_FUNC)
                    continue;
                TW_TRY(read_function_name(bytes_of(&member), &name));
                TW_TRY(each(context, name));
            }
        }
    }
    return TW_OK; /* damage is found when the attr is read */
}

/* ---- writing ---- */

static uint32_t float_bits(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static tw_status write_function(tw__text *text, uint32_t number, const char *attr, void *function,
                                const tw__function_names *functions)
{
    const char *name = function ? functions->name(functions->context, function) : NULL;
    if (!name)
        return tw__fail(TW_INVALID_ARGUMENT, "the attr %s names no function", attr);
    tw__text inner = { 0 };
    tw__proto_add_bytes(&inner, 1, name, strlen(name));
    tw__proto_add_bytes(text, number, inner.data, inner.size);
    text->failed |= inner.failed;
    tw__text_free(&inner);
    return TW_OK;
}

static tw_status write_list(tw__text *text, const tw_attr *attr, const tw__function_names *functions)
{
    tw_status status = TW_OK;
    tw__text packed = { 0 };
    uint32_t number = number_of(attr->kind);
    for (int i = 0; i < attr->count; i++) {
        uint8_t bits[4];
        switch (attr->kind) {
        case TW_ATTR_INTS:
            tw__varint_add(&packed, (uint64_t)attr->ints[i]);
            break;
        case TW_ATTR_FLOATS:
            tw__put32(bits, float_bits(attr->floats[i]));
            tw__text_bytes(&packed, bits, 4);
            break;
        case TW_ATTR_BOOLS:
            tw__varint_add(&packed, attr->bools[i]);
            break;
        case TW_ATTR_TYPES:
            tw__varint_add(&packed, (uint64_t)attr->types[i]);
            break;
        case TW_ATTR_STRINGS:
            tw__proto_add_bytes(text, number, attr->strings[i].data, attr->strings[i].size);
            break;
        case TW_ATTR_FUNCS:
            status = status == TW_OK ? write_function(text, LIST_FUNC, attr->name, attr->funcs[i], functions) : status;
            break;
        default:
            tw__shape_message_write(text, number, &attr->shapes[i]);
        }
    }
    if (packed.size)
        tw__proto_add_bytes(text, number, packed.data, packed.size);
    text->failed |= packed.failed;
    tw__text_free(&packed);
    return status;
}

static tw_status write_value(tw__text *text, const tw_attr *attr, const tw__function_names *functions)
{
    uint32_t number = number_of(attr->kind);
    tw_status status = TW_OK;
    tw__text inner = { 0 };
    switch (attr->kind) {
    case TW_ATTR_INT:
        tw__proto_add_varint(text, number, (uint64_t)attr->i);
        break;
    case TW_ATTR_FLOAT:
        tw__proto_add_fixed32(text, number, float_bits(attr->f));
        break;
    case TW_ATTR_BOOL:
        tw__proto_add_varint(text, number, attr->b);
        break;
    case TW_ATTR_TYPE:
        tw__proto_add_varint(text, number, (uint64_t)attr->type);
        break;
    case TW_ATTR_STRING:
        tw__proto_add_bytes(text, number, attr->s.data, attr->s.size);
        break;
    case TW_ATTR_SHAPE:
        tw__shape_message_write(text, number, attr->shape);
        break;
    case TW_ATTR_TENSOR:
        return tw__tensor_message_write(text, number, attr->tensor);
    case TW_ATTR_FUNC:
        return write_function(text, number, attr->name, attr->func, functions);
    default:
        status = write_list(&inner, attr, functions);
        tw__proto_add_bytes(text, LIST, inner.data, inner.size);
    }
    text->failed |= inner.failed;
    tw__text_free(&inner);
    return text->failed ? TW_RESOURCE_EXHAUSTED : status;
}

tw_status tw__attr_message_write(tw__text *text, const tw_attr *attr, const tw__function_names *functions)
{
    tw__text value = { 0 }, pair = { 0 };
    tw_status status = write_value(&value, attr, functions);
    tw__proto_add_bytes(&pair, 1, attr->name, strlen(attr->name));
    tw__proto_add_bytes(&pair, 2, value.data, value.size);
    tw__proto_add_bytes(text, 5, pair.data, pair.size);
    text->failed |= pair.failed || value.failed;
    tw__text_free(&pair);
    tw__text_free(&value);
    return status == TW_OK && text->failed ? TW_RESOURCE_EXHAUSTED : status;
}
