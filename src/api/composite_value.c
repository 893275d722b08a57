/* Arguments of any kind as tensors, for functions that take tensors, ragged tensors and nested lists alike. */
#include "api/composite.h"
#include "graph/graphdef.h"
#include "eager/eager.h"
#include "op/calls.h"
#include "rows.h"

tw_value tw__value_of_tensor(tw_tensor *tensor)
{
    return tensor ? (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor } : (tw_value){ .kind = TW_VALUE_NONE };
}

tw_value tw__value_of_object(void *object)
{
    return object ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = object } : (tw_value){ .kind = TW_VALUE_NONE };
}

typedef struct leaves {
    bool any_float, any_int, any_bool, any_text, any_tensor, wide;
    tw_dtype tensor_dtype;
} leaves;

static bool is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
}

static tw_status look(const tw_value *value, int depth, tw_shape *shape, leaves *l, const char *what)
{
    if (is_list(value)) {
        if (depth == TW_MAX_RANK)
            return tw__fail(TW_VALUE_ERROR, "%s: a list nested deeper than %d levels can't become a tensor", what, TW_MAX_RANK);
        if (shape->rank <= depth) {
            shape->rank = depth + 1;
            shape->dims[depth] = value->list.count;
        }
        if (shape->dims[depth] != value->list.count)
            return tw__fail(TW_VALUE_ERROR, "Can't convert non-rectangular Python sequence to Tensor.");
        for (int64_t i = 0; i < value->list.count; i++) {
            if (i && is_list(&value->list.items[i]) != is_list(&value->list.items[0]))
                return tw__fail(TW_VALUE_ERROR, "Can't convert Python sequence with mixed types to Tensor.");
            TW_TRY(look(&value->list.items[i], depth + 1, shape, l, what));
        }
        return TW_OK;
    }
    l->any_float |= value->kind == TW_VALUE_FLOAT;
    l->any_int |= value->kind == TW_VALUE_INT;
    l->any_bool |= value->kind == TW_VALUE_BOOL;
    l->any_text |= value->kind == TW_VALUE_STR || value->kind == TW_VALUE_BYTES;
    l->wide |= value->kind == TW_VALUE_INT && value->i != (int32_t)value->i;
    if (value->kind == TW_VALUE_TENSOR || (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_variable))) {
        l->any_tensor = true;
        if (value->kind == TW_VALUE_TENSOR)
            l->tensor_dtype = value->tensor->dtype;
    } else if (value->kind > TW_VALUE_BYTES || value->kind == TW_VALUE_NONE) {
        return tw__fail(TW_VALUE_ERROR, "%s: a value can't become a tensor", what);
    }
    return TW_OK;
}

/* One number or text into a tensor that is being made. */
static tw_status store(tw_tensor *tensor, int64_t at, const tw_value *value)
{
    if (tensor->dtype == TW_STRING)
        return tw__string_set(tensor, at, value->s.data, value->s.size);
    double number = value->kind == TW_VALUE_FLOAT ? value->f : value->kind == TW_VALUE_BOOL ? value->b : (double)value->i;
    if (tensor->dtype == TW_FLOAT64)
        ((double *)tensor->data)[at] = number;
    else if (tensor->dtype == TW_FLOAT32)
        ((float *)tensor->data)[at] = (float)number;
    else if (tensor->dtype == TW_BOOL)
        ((bool *)tensor->data)[at] = number != 0;
    else
        ((int64_t *)tensor->data)[at] = value->kind == TW_VALUE_BOOL ? value->b : value->i;
    return TW_OK;
}

static tw_status fill(tw_tensor *tensor, int64_t *at, const tw_value *value)
{
    if (!is_list(value))
        return store(tensor, (*at)++, value);
    for (int64_t i = 0; i < value->list.count; i++)
        TW_TRY(fill(tensor, at, &value->list.items[i]));
    return TW_OK;
}

/* A list in which tensors are: packed level by level. */
static tw_tensor *pack(const tw_value *value, tw_dtype dtype, const char *what)
{
    if (value->kind == TW_VALUE_TENSOR)
        return tw_retain(value->tensor);
    if (value->kind == TW_VALUE_OBJECT)
        return tw__variable_read(value->object);
    if (!is_list(value) || value->list.count == 0)
        return tw__value_tensor(value, dtype, what);
    size_t count = (size_t)value->list.count;
    tw_tensor **members = tw__alloc_array(count, sizeof *members), *whole = NULL;
    bool good = members != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = (members[i] = pack(&value->list.items[i], dtype, what)) != NULL;
    if (good)
        whole = tw__call(&tw__op_Pack, members, (int)count, TW_WITH(TW_A_INT("axis", 0)), 1);
    for (size_t i = 0; members && i < count; i++)
        tw_release(members[i]);
    tw__free(members);
    return whole;
}

/* The numbers of an array or tensor as configs of Keras write it: {"class_name": "__numpy__", "config": {"value": …}}; anything
 * else is itself. */
static const tw_value *written(const tw_value *value)
{
    const tw_value *class = value->kind == TW_VALUE_DICT ? tw__value_get(value, "class_name") : NULL;
    const tw_value *config = class ? tw__value_get(value, "config") : NULL;
    bool known = config && config->kind == TW_VALUE_DICT && class->kind == TW_VALUE_STR &&
                 (tw__string_is(class->s, "__numpy__") || tw__string_is(class->s, "__tensor__"));
    const tw_value *numbers = known ? tw__value_get(config, "value") : NULL;
    return numbers ? numbers : value;
}

tw_tensor *tw__value_tensor(const tw_value *value, tw_dtype hint, const char *what)
{
    value = written(value);
    leaves l = { .tensor_dtype = hint };
    tw_shape shape = TW_SCALAR;
    if (value->kind == TW_VALUE_SHAPE)
        return tw__tensor_of_shape(value->shape, hint == TW_DTYPE_NONE ? TW_INT32 : hint);
    if (look(value, 0, &shape, &l, what) != TW_OK)
        return NULL;
    if (l.any_tensor)
        return pack(value, l.tensor_dtype, what);
    if (l.any_text && (l.any_float || l.any_int || l.any_bool)) {
        tw__fail(TW_VALUE_ERROR, "Can't convert Python sequence with mixed types to Tensor.");
        return NULL;
    }
    tw_dtype natural = l.any_text ? TW_STRING : l.any_float ? TW_FLOAT32 : l.any_int ? (l.wide ? TW_INT64 : TW_INT32) : TW_BOOL;
    if (!l.any_text && !l.any_float && !l.any_int && !l.any_bool)
        natural = TW_FLOAT32; /* nothing in it */
    bool number = hint != TW_DTYPE_NONE && hint != TW_STRING && hint != TW_BOOL;
    bool takes = hint == TW_DTYPE_NONE ? false
                 : l.any_text          ? hint == TW_STRING
                 : l.any_float         ? number && !tw__dtype_is_integer(hint)
                 : l.any_int           ? number
                 : l.any_bool          ? hint == TW_BOOL
                                       : true;
    tw_dtype wanted = takes ? hint : natural;
    /* Through the widest dtype of its kind, then cast. */
    tw_dtype made = wanted == TW_STRING || wanted == TW_BOOL || wanted == TW_FLOAT32 ? wanted
                    : tw__dtype_is_integer(wanted)                                   ? TW_INT64
                                                                                     : TW_FLOAT64;
    tw_auto tw_tensor *tensor = tw__tensor_empty(made, &shape);
    int64_t at = 0;
    if (!tensor || fill(tensor, &at, value) != TW_OK)
        return NULL;
    return made == wanted ? tw_retain(tensor) : TW_CALL(Cast, tensor, TW_A_TYPE("DstT", wanted));
}

tw_tensor *tw__temp_fitting(tw__temps *t, tw_tensor *number, tw_dtype dtype)
{
    tw_dtype is = number ? number->dtype : dtype;
    bool whole = tw__dtype_is_integer(is), real = tw__dtype_is_float(is);
    bool fits = is == dtype || (dtype != TW_BOOL && dtype != TW_STRING && (whole || (real && !tw__dtype_is_integer(dtype))));
    if (fits)
        return tw__temp_cast(t, number, dtype);
    tw__fail(TW_TYPE_ERROR, "Cannot convert a number of dtype %s to EagerTensor of dtype %s", tw_dtype_name(is),
             tw_dtype_name(dtype));
    return NULL;
}
