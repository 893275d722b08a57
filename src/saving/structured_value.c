/* StructuredValue, the form of nested arguments and results in SavedModels; see saved_model.h.
 *
 *     1 none, 11 float64, 12 int64 (zigzag), 13 text, 14 bool, 31 shape, 32 dtype, 33 TensorSpec { 1 name, 2 shape, 3 dtype },
 *     34 TypeSpec { 1 class, 2 state, 3 class name, 4 number of tensors }, 35 TensorSpec with bounds, 51 list { 1 values }, 52
 * tuple { 1 values }, 53 dict { 1 { 1 key, 2 value } }, 54 named tuple { 1 name, 2 { 1 key, 2 value } }, 55 tensor, 56 array
 *
 * Nesting is the file's to choose, so it is bounded. */
#include <stdlib.h>

#include "api/tensor_spec.h"
#include "rows.h"
#include "saving/saved_model.h"

enum { DEPTH = 64, SPARSE_SPEC = 1, RAGGED_SPEC = 3, BUDGET = 1 << 28 };

static tw_status damaged(const char *what)
{
    return tw__fail(TW_DATA_LOSS, "StructuredValue.%s can't be read: the file is damaged", what);
}

static tw_string string_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

static tw_value text_value(tw_string string)
{
    char *copy = tw__strndup(string.size ? string.data : "", string.size);
    return copy ? (tw_value){ .kind = TW_VALUE_STR, .s = { copy, string.size } } : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_status append(tw_value *list, size_t *capacity, tw_value item)
{
    size_t room = *capacity;
    tw_status status = TW_GROW(list->list.items, room, (size_t)list->list.count + 1);
    *capacity = room;
    if (status == TW_OK)
        list->list.items[list->list.count++] = item;
    else
        tw_value_free(&item);
    return status;
}

/* ---- reading ---- */

static tw_status read_value(tw_string bytes, int depth, tw_value *value);

static tw_status read_spec(tw_string bytes, tw_value *value)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    tw_shape shape = TW_UNKNOWN_SHAPE;
    tw_dtype dtype = TW_DTYPE_NONE;
    tw_string name = { "", 0 };
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_BYTES)
            name = string_of(&f);
        else if (f.number == 2 && f.wire == TW_WIRE_BYTES)
            TW_TRY(tw__shape_message_read(string_of(&f), &shape));
        else if (f.number == 3 && f.wire == TW_WIRE_VARINT)
            dtype = (tw_dtype)f.value;
    }
    if (proto.failed)
        return damaged("tensor_spec_value");
    char *text = tw__strndup(name.data, name.size);
    tw_tensor_spec *spec = text ? tw__tensor_spec_new(dtype, &shape, *text ? text : NULL) : NULL;
    tw__free(text);
    *value = (tw_value){ .kind = spec ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = spec };
    return spec ? TW_OK : tw__error_status();
}

static const tw_value *state_at(const tw_value *state, int64_t index, int kind)
{
    bool there = state->kind == TW_VALUE_TUPLE && index < state->list.count && state->list.items[index].kind == (unsigned)kind;
    return there ? &state->list.items[index] : NULL;
}

static tw_status make_type_spec(uint64_t class, tw_string name, const tw_value *state, tw_value *value)
{
    const tw_value *shape = state_at(state, 0, TW_VALUE_SHAPE), *dtype = state_at(state, 1, TW_VALUE_DTYPE);
    const tw_value *rank = state_at(state, 2, TW_VALUE_INT), *splits = state_at(state, 3, TW_VALUE_DTYPE);
    void *made = NULL;
    if (class == SPARSE_SPEC && shape && dtype) {
        tw_sparse_tensor_spec_args args = { .shape = *shape->shape, .dtype = dtype->dtype };
        made = tw_class_make(&tw__class_sparse_tensor_spec, &args);
    } else if (class == RAGGED_SPEC && shape && dtype && rank && splits) {
        tw_ragged_tensor_spec_args args = {
            .shape = *shape->shape, .dtype = dtype->dtype, .ragged_rank = rank->i, .row_splits_dtype = splits->dtype
        };
        made = tw_class_make(&tw__class_ragged_tensor_spec, &args);
    } else {
        return tw__fail(TW_UNIMPLEMENTED, "an argument or result is a %.*s, which SavedModels are not read with", TW_SHOWN(name));
    }
    *value = (tw_value){ .kind = made ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = made };
    return made ? TW_OK : tw__error_status();
}

static tw_status read_type_spec(tw_string bytes, int depth, tw_value *value)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    uint64_t class = 0;
    tw_string name = { "TypeSpec", 8 };
    tw_value state = { .kind = TW_VALUE_NONE };
    tw_status status = TW_OK;
    while (status == TW_OK && tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_VARINT) {
            class = f.value;
        } else if (f.number == 2 && f.wire == TW_WIRE_BYTES) {
            tw_value_free(&state);
            status = read_value(string_of(&f), depth + 1, &state);
        } else if (f.number == 3 && f.wire == TW_WIRE_BYTES) {
            name = string_of(&f);
        }
    }
    if (status == TW_OK && proto.failed)
        status = damaged("type_spec_value");
    if (status == TW_OK)
        status = make_type_spec(class, name, &state, value);
    tw_value_free(&state);
    return status;
}

/* { 1 key, 2 value } behind what the dict has already. */
static tw_status read_pair(tw_string bytes, int depth, tw_value *dict, size_t *capacity)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    tw_string key = { "", 0 }, inner = { "", 0 };
    while (tw__proto_next(&proto, &f)) {
        if (f.wire == TW_WIRE_BYTES && (f.number == 1 || f.number == 2))
            *(f.number == 1 ? &key : &inner) = string_of(&f);
    }
    if (proto.failed)
        return damaged("dict_value");
    tw_value item, name = text_value(key);
    TW_TRY(name.kind == TW_VALUE_STR ? TW_OK : tw__error_status());
    TW_TRY(append(dict, capacity, name));
    tw_status status = read_value(inner, depth + 1, &item);
    if (status == TW_OK)
        return append(dict, capacity, item);
    dict->list.count--;
    tw_value_free(&dict->list.items[dict->list.count]);
    return status;
}

static tw_status read_members(tw_string bytes, int depth, uint32_t number, tw_value *value)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    size_t capacity = 0;
    *value = (tw_value){ .kind = number == 51 ? TW_VALUE_LIST : number == 52 ? TW_VALUE_TUPLE : TW_VALUE_DICT };
    tw_status status = TW_OK;
    if (number == 54) {
        status = append(value, &capacity, text_value((tw_string){ TW_NAMED_TUPLE, strlen(TW_NAMED_TUPLE) }));
        if (status == TW_OK)
            status = append(value, &capacity, text_value((tw_string){ "", 0 }));
    }
    while (status == TW_OK && tw__proto_next(&proto, &f)) {
        if (f.wire != TW_WIRE_BYTES)
            continue;
        if (number == 54 && f.number == 1) {
            tw_value_free(&value->list.items[1]);
            value->list.items[1] = text_value(string_of(&f));
        } else if (f.number == (number == 54 ? 2 : 1)) {
            tw_value item;
            status =
                number >= 53 ? read_pair(string_of(&f), depth, value, &capacity) : read_value(string_of(&f), depth + 1, &item);
            if (status == TW_OK && number < 53)
                status = append(value, &capacity, item);
        }
    }
    if (status == TW_OK && proto.failed)
        status = damaged("list_value");
    if (status != TW_OK)
        tw_value_free(value);
    return status;
}

static tw_status read_shape(tw_string bytes, tw_value *value)
{
    tw_shape shape, *copy;
    TW_TRY(tw__shape_message_read(bytes, &shape));
    if (!(copy = tw__alloc(sizeof *copy)))
        return TW_RESOURCE_EXHAUSTED;
    *copy = shape;
    *value = (tw_value){ .kind = TW_VALUE_SHAPE, .shape = copy };
    return TW_OK;
}

static tw_status read_tensor(tw_string bytes, tw_value *value)
{
    tw__tensor_message message;
    size_t budget = BUDGET;
    TW_TRY(tw__tensor_message_open(bytes, &message));
    tw_tensor *tensor = tw__tensor_message_read(&message, -1, &budget);
    if (tensor)
        *value = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor };
    return tensor ? TW_OK : tw__error_status();
}

static tw_status read_field(const tw__proto_field *f, int depth, tw_value *value)
{
    static const uint8_t wires[] = { [1] = 2,  [11] = 1, [12] = 0, [13] = 2, [14] = 0, [31] = 2, [32] = 0, [33] = 2,
                                     [34] = 2, [35] = 2, [51] = 2, [52] = 2, [53] = 2, [54] = 2, [55] = 2, [56] = 2 };
    if (f->number >= sizeof wires || f->wire != (tw__wire)wires[f->number])
        return damaged("kind");
    tw_string bytes = string_of(f);
    switch (f->number) {
    case 1:
        *value = (tw_value){ .kind = TW_VALUE_NONE };
        return TW_OK;
    case 11:
        *value = (tw_value){ .kind = TW_VALUE_FLOAT };
        memcpy(&value->f, &f->value, sizeof value->f);
        return TW_OK;
    case 12:
        *value = (tw_value){ .kind = TW_VALUE_INT, .i = (int64_t)(f->value >> 1 ^ (~(f->value & 1) + 1)) };
        return TW_OK;
    case 13:
        *value = text_value(bytes);
        return value->kind == TW_VALUE_STR ? TW_OK : tw__error_status();
    case 14:
        *value = (tw_value){ .kind = TW_VALUE_BOOL, .b = f->value != 0 };
        return TW_OK;
    case 31:
        return read_shape(bytes, value);
    case 32:
        *value = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = (tw_dtype)f->value };
        return TW_OK;
    case 33:
    case 35:
        return read_spec(bytes, value);
    case 34:
        return read_type_spec(bytes, depth, value);
    case 55:
    case 56:
        return read_tensor(bytes, value);
    default:
        return read_members(bytes, depth, f->number, value);
    }
}

static tw_status read_value(tw_string bytes, int depth, tw_value *value)
{
    *value = (tw_value){ .kind = TW_VALUE_NONE };
    if (depth > DEPTH)
        return tw__fail(TW_DATA_LOSS, "StructuredValue: nested more than %d deep", DEPTH);
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        tw_value_free(value);
        TW_TRY(read_field(&f, depth, value));
    }
    if (!proto.failed)
        return TW_OK;
    tw_value_free(value);
    return damaged("kind");
}

tw_status tw__structured_read(tw_string bytes, tw_value *value)
{
    return read_value(bytes, 0, value);
}

/* ---- writing ---- */

static tw_status write_into(tw__text *text, const tw_value *value, int depth);

static void add_message(tw__text *text, uint32_t number, tw__text *inner)
{
    tw__proto_add_bytes(text, number, inner->data, inner->size);
    text->failed |= inner->failed;
    tw__text_free(inner);
}

static tw_status write_member(tw__text *text, uint32_t number, const tw_value *value, int depth)
{
    tw__text inner = { 0 };
    tw_status status = write_into(&inner, value, depth + 1);
    add_message(text, number, &inner);
    return status;
}

static tw_status write_pairs(tw__text *text, uint32_t number, const tw_value *dict, int64_t first, int depth)
{
    for (int64_t i = first; i + 1 < dict->list.count; i += 2) {
        const tw_value *key = &dict->list.items[i];
        if (key->kind != TW_VALUE_STR)
            return tw__fail(TW_VALUE_ERROR, "a dict among the arguments or results of a saved function must have keys of text");
        tw__text pair = { 0 };
        tw__proto_add_bytes(&pair, 1, key->s.data, key->s.size);
        tw_status status = write_member(&pair, 2, &dict->list.items[i + 1], depth);
        add_message(text, number, &pair);
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status write_members(tw__text *text, const tw_value *value, int depth)
{
    tw__text inner = { 0 };
    tw_status status = TW_OK;
    uint32_t number = value->kind == TW_VALUE_LIST ? 51 : value->kind == TW_VALUE_TUPLE ? 52 : 53;
    if (number != 53) {
        for (int64_t i = 0; status == TW_OK && i < value->list.count; i++)
            status = write_member(&inner, 1, &value->list.items[i], depth);
    } else if (value->list.count >= 2 && value->list.items[0].kind == TW_VALUE_STR && value->list.items[1].kind == TW_VALUE_STR &&
               tw__string_is(value->list.items[0].s, TW_NAMED_TUPLE)) {
        number = 54;
        tw__proto_add_bytes(&inner, 1, value->list.items[1].s.data, value->list.items[1].s.size);
        status = write_pairs(&inner, 2, value, 2, depth);
    } else {
        status = write_pairs(&inner, 1, value, 0, depth);
    }
    add_message(text, number, &inner);
    return status;
}

static void write_type_spec(tw__text *text, uint64_t class, const char *name, const tw_value *state, int64_t count,
                            uint64_t tensors)
{
    tw__text inner = { 0 }, tuple = { 0 };
    tw__proto_add_varint(&inner, 1, class);
    tw_value whole = { .kind = TW_VALUE_TUPLE, .list = { (tw_value *)state, count } };
    write_into(&tuple, &whole, 0);
    add_message(&inner, 2, &tuple);
    tw__proto_add_bytes(&inner, 3, name, strlen(name));
    tw__proto_add_varint(&inner, 4, tensors);
    add_message(text, 34, &inner);
}

static tw_status write_spec(tw__text *text, void *object)
{
    if (tw__is(object, &tw__class_tensor_spec)) {
        const tw_tensor_spec *spec = object;
        tw__text inner = { 0 };
        const char *name = spec->name ? spec->name : "unknown";
        tw__proto_add_bytes(&inner, 1, name, strlen(name));
        tw__shape_message_write(&inner, 2, &spec->shape);
        tw__proto_add_varint(&inner, 3, (uint64_t)spec->dtype);
        add_message(text, 33, &inner);
        return TW_OK;
    }
    bool sparse = tw__is(object, &tw__class_sparse_tensor_spec);
    if (sparse || tw__is(object, &tw__class_ragged_tensor_spec)) {
        tw_shape shape = sparse ? tw_sparse_tensor_spec_shape(object) : tw_ragged_tensor_spec_shape(object);
        tw_dtype dtype = sparse ? tw_sparse_tensor_spec_dtype(object) : tw_ragged_tensor_spec_dtype(object);
        tw_value state[4] = { { .kind = TW_VALUE_SHAPE, .shape = &shape }, { .kind = TW_VALUE_DTYPE, .dtype = dtype } };
        if (!sparse) {
            state[2] = (tw_value){ .kind = TW_VALUE_INT, .i = tw_ragged_tensor_spec_ragged_rank(object) };
            state[3] = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = tw_ragged_tensor_spec_row_splits_dtype(object) };
        }
        write_type_spec(text, sparse ? SPARSE_SPEC : RAGGED_SPEC, sparse ? "SparseTensorSpec" : "RaggedTensorSpec", state,
                        sparse ? 2 : 4, 1);
        return TW_OK;
    }
    return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "an argument or result of a saved function is a %s, which SavedModels can't hold",
                    tw_class_name(object));
}

static tw_status write_into(tw__text *text, const tw_value *value, int depth)
{
    if (depth > DEPTH)
        return tw__fail(TW_VALUE_ERROR, "an argument or result of a saved function is nested more than %d deep", DEPTH);
    switch (value->kind) {
    case TW_VALUE_NONE:
        tw__proto_add_bytes(text, 1, "", 0);
        return TW_OK;
    case TW_VALUE_FLOAT: {
        uint64_t bits;
        memcpy(&bits, &value->f, sizeof bits);
        tw__proto_add_fixed64(text, 11, bits);
        return TW_OK;
    }
    case TW_VALUE_INT:
        tw__proto_add_varint(text, 12, (uint64_t)value->i << 1 ^ (uint64_t)(value->i >> 63));
        return TW_OK;
    case TW_VALUE_STR:
        tw__proto_add_bytes(text, 13, value->s.data, value->s.size);
        return TW_OK;
    case TW_VALUE_BOOL:
        tw__proto_add_varint(text, 14, value->b);
        return TW_OK;
    case TW_VALUE_SHAPE:
        tw__shape_message_write(text, 31, value->shape);
        return TW_OK;
    case TW_VALUE_DTYPE:
        tw__proto_add_varint(text, 32, (uint64_t)value->dtype);
        return TW_OK;
    case TW_VALUE_TENSOR:
        return tw__tensor_message_write(text, 55, value->tensor);
    case TW_VALUE_OBJECT:
        return write_spec(text, value->object);
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
    case TW_VALUE_DICT:
        return write_members(text, value, depth);
    default:
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR,
                        "an argument or result of a saved function has a kind (%d) that SavedModels can't hold", value->kind);
    }
}

tw_status tw__structured_write(tw__text *text, uint32_t number, const tw_value *value)
{
    return write_member(text, number, value, -1);
}

/* ---- walking ---- */

static int by_key(const void *a, const void *b)
{
    tw_string one = (*(const tw_value *const *)a)->s, two = (*(const tw_value *const *)b)->s;
    size_t size = one.size < two.size ? one.size : two.size;
    int order = size ? memcmp(one.data, two.data, size) : 0;
    return order ? order : one.size < two.size ? -1 : one.size > two.size;
}

tw_status tw__structured_leaves(const tw_value *value, tw_status (*each)(void *context, const struct tw_type_spec *spec),
                                void *context)
{
    if (value->kind == TW_VALUE_OBJECT)
        return tw__is(value->object, &tw__class_type_spec) ? each(context, value->object) : TW_OK;
    if (value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE && value->kind != TW_VALUE_DICT)
        return TW_OK;
    bool named = value->kind == TW_VALUE_DICT && value->list.count >= 2 && tw__string_is(value->list.items[0].s, TW_NAMED_TUPLE);
    int64_t step = value->kind == TW_VALUE_DICT ? 2 : 1, count = value->list.count / step;
    const tw_value **order = tw__alloc_array((size_t)count + 1, sizeof *order);
    if (!order)
        return TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < count; i++)
        order[i] = &value->list.items[i * step];
    if (step == 2 && !named)
        qsort(order, (size_t)count, sizeof *order, by_key);
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < count; i++)
        status = tw__structured_leaves(order[i] + (step - 1), each, context);
    tw__free(order);
    return status;
}

/* ---- specs ---- */

tw_value tw__spec_value(tw_dtype dtype, const tw_shape *shape, const char *name)
{
    tw_tensor_spec *spec = tw__tensor_spec_new(dtype, shape, name);
    return (tw_value){ .kind = spec ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = spec };
}

bool tw__value_spec(const tw_value *value, tw_spec *spec)
{
    if (!value || value->kind != TW_VALUE_OBJECT || !tw__is(value->object, &tw__class_tensor_spec))
        return false;
    const tw_tensor_spec *found = value->object;
    *spec = (tw_spec){ found->dtype, found->shape };
    return true;
}

/* ---- for datasets' files ---- */

TW_API(structure_bytes, "data._structure_bytes(structure: value) -> tensor",
       "A structure of specs as the bytes of a StructuredValue.")
{
    tw__text text = { 0 };
    tw_tensor *made = write_into(&text, &args->structure, 0) == TW_OK && !text.failed
                          ? tw_tensor_string(text.data ? text.data : "", text.size)
                          : NULL;
    tw__text_free(&text);
    return made;
}

TW_API(structure_read, "data._structure_of(bytes: tensor<string>) -> value", "The structure whose bytes these are.")
{
    tw_value value = { .kind = TW_VALUE_NONE };
    if (tw__structured_read(tw_tensor_string_at(args->bytes, 0), &value) != TW_OK)
        value = (tw_value){ .kind = TW_VALUE_NONE };
    return value;
}
