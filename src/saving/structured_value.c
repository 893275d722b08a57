/* StructuredValue, the form of nested arguments and results in SavedModels; see saved_model.h.
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
    tw__TensorSpecProto from; /* the bounded one begins with the same fields */
    tw_shape shape = TW_UNKNOWN_SHAPE;
    if (!tw__read_TensorSpecProto(bytes, &from))
        return damaged("tensor_spec_value");
    if (tw__has(from.shape))
        TW_TRY(tw__shape_message_read(from.shape, &shape));
    char *text = tw__strndup(from.name.data, from.name.size);
    tw_tensor_spec *spec = text ? tw__tensor_spec_new((tw_dtype)from.dtype, &shape, *text ? text : NULL) : NULL;
    tw__free(text);
    *value = (tw_value){ .kind = spec ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = spec };
    return spec ? TW_OK : tw__error_status();
}

static const tw_value *state_at(const tw_value *state, int64_t index, int kind)
{
    bool there = state->kind == TW_VALUE_TUPLE && index < state->list.count && state->list.items[index].kind == (unsigned)kind;
    return there ? &state->list.items[index] : NULL;
}

static tw_status make_type_spec(int class, tw_string name, const tw_value *state, tw_value *value)
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
    tw__TypeSpecProto from;
    tw_value state = { .kind = TW_VALUE_NONE };
    if (!tw__read_TypeSpecProto(bytes, &from))
        return damaged("type_spec_value");
    tw_string name = tw__has(from.type_spec_class_name) ? from.type_spec_class_name : (tw_string){ "TypeSpec", 8 };
    tw_status status = read_value(from.type_state, depth + 1, &state);
    if (status == TW_OK)
        status = make_type_spec(from.type_spec_class, name, &state, value);
    tw_value_free(&state);
    return status;
}

/* Pairs of a key and a value behind what the dict has already. */
static tw_status read_pairs(tw__many many, int depth, tw_value *dict, size_t *capacity)
{
    for (TW_EACH(PairValue, pair, many)) {
        tw_value item, name = text_value(pair.key);
        TW_TRY(name.kind == TW_VALUE_STR ? TW_OK : tw__error_status());
        TW_TRY(append(dict, capacity, name));
        tw_status status = read_value(pair.value, depth + 1, &item);
        if (status == TW_OK) {
            TW_TRY(append(dict, capacity, item));
            continue;
        }
        dict->list.count--;
        tw_value_free(&dict->list.items[dict->list.count]);
        return status;
    }
    return many.failed ? damaged("dict_value") : TW_OK;
}

static tw_status read_items(tw_string bytes, int depth, tw_value *list)
{
    tw__ListValue from; /* a TupleValue has the same field */
    size_t capacity = 0;
    if (!tw__read_ListValue(bytes, &from))
        return damaged("list_value");
    for (tw_string inner; tw__next_bytes(&from.values, &inner);) {
        tw_value item;
        TW_TRY(read_value(inner, depth + 1, &item));
        TW_TRY(append(list, &capacity, item));
    }
    return TW_OK;
}

static int by_key(const void *a, const void *b)
{
    tw_string one = ((const tw_value *)a)->s, two = ((const tw_value *)b)->s;
    size_t size = one.size < two.size ? one.size : two.size;
    int order = size ? memcmp(one.data, two.data, size) : 0;
    return order ? order : one.size < two.size ? -1 : one.size > two.size;
}

/* Messages have the members in any order; the components of a structure come in that of its keys. */
static tw_status read_dict(tw_string bytes, int depth, tw_value *dict)
{
    tw__DictValue from;
    size_t capacity = 0;
    if (!tw__read_DictValue(bytes, &from))
        return damaged("dict_value");
    TW_TRY(read_pairs(from.fields, depth, dict, &capacity));
    if (dict->list.count)
        qsort(dict->list.items, (size_t)dict->list.count / 2, 2 * sizeof *dict->list.items, by_key);
    return TW_OK;
}

static tw_status read_named_tuple(tw_string bytes, int depth, tw_value *dict)
{
    tw__NamedTupleValue from;
    size_t capacity = 0;
    if (!tw__read_NamedTupleValue(bytes, &from))
        return damaged("named_tuple_value");
    TW_TRY(append(dict, &capacity, text_value((tw_string){ TW_NAMED_TUPLE, strlen(TW_NAMED_TUPLE) })));
    TW_TRY(append(dict, &capacity, text_value(from.name)));
    return read_pairs(from.values, depth, dict, &capacity);
}

static tw_status read_members(const tw__StructuredValue *from, int depth, tw_value *value)
{
    tw_status status;
    if (from->which_kind == TW_StructuredValue_list_value || from->which_kind == TW_StructuredValue_tuple_value) {
        bool list = from->which_kind == TW_StructuredValue_list_value;
        *value = (tw_value){ .kind = list ? TW_VALUE_LIST : TW_VALUE_TUPLE };
        status = read_items(list ? from->list_value : from->tuple_value, depth, value);
    } else {
        *value = (tw_value){ .kind = TW_VALUE_DICT };
        status = from->which_kind == TW_StructuredValue_dict_value ? read_dict(from->dict_value, depth, value)
                                                                   : read_named_tuple(from->named_tuple_value, depth, value);
    }
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

static tw_status read_value(tw_string bytes, int depth, tw_value *value)
{
    *value = (tw_value){ .kind = TW_VALUE_NONE };
    tw__StructuredValue from;
    if (depth > DEPTH)
        return tw__fail(TW_DATA_LOSS, "StructuredValue: nested more than %d deep", DEPTH);
    if (!tw__read_StructuredValue(bytes, &from) || from.unknown)
        return damaged("kind");
    switch (from.which_kind) {
    case 0:
    case TW_StructuredValue_none_value:
        return TW_OK;
    case TW_StructuredValue_float64_value:
        *value = (tw_value){ .kind = TW_VALUE_FLOAT, .f = from.float64_value };
        return TW_OK;
    case TW_StructuredValue_int64_value:
        *value = (tw_value){ .kind = TW_VALUE_INT, .i = from.int64_value };
        return TW_OK;
    case TW_StructuredValue_string_value:
        *value = text_value(from.string_value);
        return value->kind == TW_VALUE_STR ? TW_OK : tw__error_status();
    case TW_StructuredValue_bool_value:
        *value = (tw_value){ .kind = TW_VALUE_BOOL, .b = from.bool_value };
        return TW_OK;
    case TW_StructuredValue_tensor_shape_value:
        return read_shape(from.tensor_shape_value, value);
    case TW_StructuredValue_tensor_dtype_value:
        *value = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = (tw_dtype)from.tensor_dtype_value };
        return TW_OK;
    case TW_StructuredValue_tensor_spec_value:
        return read_spec(from.tensor_spec_value, value);
    case TW_StructuredValue_bounded_tensor_spec_value:
        return read_spec(from.bounded_tensor_spec_value, value);
    case TW_StructuredValue_type_spec_value:
        return read_type_spec(from.type_spec_value, depth, value);
    case TW_StructuredValue_tensor_value:
        return read_tensor(from.tensor_value, value);
    case TW_StructuredValue_numpy_value:
        return read_tensor(from.numpy_value, value);
    default:
        return read_members(&from, depth, value);
    }
}

tw_status tw__structured_read(tw_string bytes, tw_value *value)
{
    return read_value(bytes, 0, value);
}

/* ---- writing ---- */

static tw_status write_into(tw__text *text, const tw_value *value, int depth);

static tw_status write_member(tw__text *text, uint32_t number, const tw_value *value, int depth)
{
    size_t start = tw__open(text, number);
    tw_status status = write_into(text, value, depth + 1);
    tw__close(text, start);
    return status;
}

static tw_status write_pairs(tw__text *text, uint32_t number, const tw_value *dict, int64_t first, int depth)
{
    for (int64_t i = first; i + 1 < dict->list.count; i += 2) {
        const tw_value *key = &dict->list.items[i];
        if (key->kind != TW_VALUE_STR)
            return tw__fail(TW_VALUE_ERROR, "a dict among the arguments or results of a saved function must have keys of text");
        size_t pair = tw__open(text, number);
        tw__put_PairValue_key(text, key->s.data, key->s.size);
        TW_TRY(write_member(text, TW_PairValue_value, &dict->list.items[i + 1], depth));
        tw__close(text, pair);
    }
    return TW_OK;
}

static tw_status write_members(tw__text *text, const tw_value *value, int depth)
{
    size_t start;
    bool dict = value->kind == TW_VALUE_DICT;
    const tw_value *items = value->list.items;
    if (!dict) {
        start =
            value->kind == TW_VALUE_LIST ? tw__open_StructuredValue_list_value(text) : tw__open_StructuredValue_tuple_value(text);
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(write_member(text, TW_ListValue_values, &items[i], depth));
    } else if (value->list.count >= 2 && items[0].kind == TW_VALUE_STR && items[1].kind == TW_VALUE_STR &&
               tw__string_is(items[0].s, TW_NAMED_TUPLE)) {
        start = tw__open_StructuredValue_named_tuple_value(text);
        tw__put_NamedTupleValue_name(text, items[1].s.data, items[1].s.size);
        TW_TRY(write_pairs(text, TW_NamedTupleValue_values, value, 2, depth));
    } else {
        start = tw__open_StructuredValue_dict_value(text);
        TW_TRY(write_pairs(text, TW_DictValue_fields, value, 0, depth));
    }
    tw__close(text, start);
    return TW_OK;
}

static tw_status write_type_spec(tw__text *text, int class, const char *name, const tw_value *state, int64_t count)
{
    tw_value whole = { .kind = TW_VALUE_TUPLE, .list = { (tw_value *)state, count } };
    size_t start = tw__open_StructuredValue_type_spec_value(text);
    tw__put_TypeSpecProto_type_spec_class(text, class);
    TW_TRY(write_member(text, TW_TypeSpecProto_type_state, &whole, -1));
    tw__put_TypeSpecProto_type_spec_class_name(text, name, strlen(name));
    tw__put_TypeSpecProto_num_flat_components(text, 1);
    tw__close(text, start);
    return TW_OK;
}

static tw_status write_spec(tw__text *text, void *object)
{
    if (tw__is(object, &tw__class_tensor_spec)) {
        const tw_tensor_spec *spec = object;
        const char *name = spec->name ? spec->name : "unknown";
        size_t start = tw__open_StructuredValue_tensor_spec_value(text);
        tw__put_TensorSpecProto_name(text, name, strlen(name));
        tw__shape_message_write(text, TW_TensorSpecProto_shape, &spec->shape);
        tw__put_TensorSpecProto_dtype(text, spec->dtype);
        tw__close(text, start);
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
        return write_type_spec(text, sparse ? SPARSE_SPEC : RAGGED_SPEC, sparse ? "SparseTensorSpec" : "RaggedTensorSpec", state,
                               sparse ? 2 : 4);
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
        tw__put_StructuredValue_none_value(text, "", 0);
        return TW_OK;
    case TW_VALUE_FLOAT:
        tw__put_StructuredValue_float64_value(text, value->f);
        return TW_OK;
    case TW_VALUE_INT:
        tw__put_StructuredValue_int64_value(text, value->i);
        return TW_OK;
    case TW_VALUE_STR:
        tw__put_StructuredValue_string_value(text, value->s.data, value->s.size);
        return TW_OK;
    case TW_VALUE_BOOL:
        tw__put_StructuredValue_bool_value(text, value->b);
        return TW_OK;
    case TW_VALUE_SHAPE:
        tw__shape_message_write(text, TW_StructuredValue_tensor_shape_value, value->shape);
        return TW_OK;
    case TW_VALUE_DTYPE:
        tw__put_StructuredValue_tensor_dtype_value(text, value->dtype);
        return TW_OK;
    case TW_VALUE_TENSOR:
        return tw__tensor_message_write(text, TW_StructuredValue_tensor_value, value->tensor);
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

static int pointers_by_key(const void *a, const void *b)
{
    return by_key(*(const tw_value *const *)a, *(const tw_value *const *)b);
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
    tw__owned const tw_value **order = tw__alloc_array((size_t)count + 1, sizeof *order);
    if (!order)
        return TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < count; i++)
        order[i] = &value->list.items[i * step];
    if (step == 2 && !named)
        qsort(order, (size_t)count, sizeof *order, pointers_by_key);
    for (int64_t i = 0; i < count; i++)
        TW_TRY(tw__structured_leaves(order[i] + (step - 1), each, context));
    return TW_OK;
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
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_tensor *made = write_into(&text, &args->structure, 0) == TW_OK && !text.failed
                          ? tw_tensor_string(text.data ? text.data : "", text.size)
                          : NULL;
    return made;
}

TW_API(structure_read, "data._structure_of(bytes: tensor<string>) -> value", "The structure whose bytes these are.")
{
    tw_value value = { .kind = TW_VALUE_NONE };
    if (tw__structured_read(tw_tensor_string_at(args->bytes, 0), &value) != TW_OK)
        value = (tw_value){ .kind = TW_VALUE_NONE };
    return value;
}
