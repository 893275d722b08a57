/* Which dtype NumPy's rules give to operands: those of NumPy 1, by value for numbers among arrays. */
#include "api/numpy/numpy.h"

#include <math.h>

#include "api/composite.h"
#include "graph/graph.h"
#include "rows.h"

_Atomic bool tw__numpy_behaves;
static _Atomic bool prefers_float32;

#define BIT(dtype) (1u << (dtype))
#define UNSIGNED (BIT(TW_UINT8) | BIT(TW_UINT16) | BIT(TW_UINT32) | BIT(TW_UINT64))

tw_dtype tw__numpy_float(void)
{
    return prefers_float32 ? TW_FLOAT32 : TW_FLOAT64;
}

/* From the dtypes that hold most on. */
static const tw_dtype order[] = { TW_COMPLEX128, TW_COMPLEX64, TW_FLOAT64, TW_FLOAT32, TW_FLOAT16,
                                  TW_BFLOAT16,   TW_UINT64,    TW_INT64,   TW_UINT32,  TW_INT32,
                                  TW_UINT16,     TW_INT16,     TW_UINT8,   TW_INT8,    TW_BOOL };
enum { ORDER = sizeof order / sizeof *order, COMPLEXES = 2, FLOATS = 6 };

static int place_of(tw_dtype dtype)
{
    int place = 0;
    while (place < ORDER && order[place] != dtype)
        place++;
    return place;
}

static tw_dtype signed_of(size_t size)
{
    return size == 1 ? TW_INT8 : size == 2 ? TW_INT16 : size == 4 ? TW_INT32 : TW_INT64;
}

/* The float that holds the integers of a size. */
static tw_dtype float_for(size_t size)
{
    return size == 1 ? TW_FLOAT16 : size == 2 ? TW_FLOAT32 : TW_FLOAT64;
}

/* The dtype that both may be cast to; TW_DTYPE_NONE: there is none. a stands before b in the order. */
static tw_dtype promote(tw_dtype a, tw_dtype b)
{
    int first = place_of(a), second = place_of(b);
    size_t size = tw_dtype_size(b);
    if (a == b || b == TW_BOOL)
        return a;
    if (first == ORDER || second == ORDER)
        return TW_DTYPE_NONE;
    if (second >= FLOATS) { /* an integer gives way to floats that hold it */
        if (first < COMPLEXES)
            return a == TW_COMPLEX128 || size > 2 ? TW_COMPLEX128 : TW_COMPLEX64;
        if (a == TW_BFLOAT16)
            return size == 1 ? a : TW_DTYPE_NONE;
        if (first < FLOATS)
            return tw_dtype_size(float_for(size)) > tw_dtype_size(a) ? float_for(size) : a;
        if (!(BIT(a) & UNSIGNED) == !(BIT(b) & UNSIGNED) || (BIT(b) & UNSIGNED && tw_dtype_size(a) > size))
            return a;
        return tw_dtype_size(a) < 8 ? signed_of(2 * tw_dtype_size(a)) : a == TW_UINT64 ? TW_FLOAT64 : a;
    }
    if (first < COMPLEXES)
        return a == TW_COMPLEX64 && b == TW_FLOAT64 ? TW_COMPLEX128 : a;
    return a == TW_FLOAT16 && b == TW_BFLOAT16 ? TW_DTYPE_NONE : a;
}

static tw_dtype promoted(uint32_t dtypes)
{
    tw_dtype found = TW_DTYPE_NONE;
    for (int i = 0; i < ORDER; i++) {
        if (!(dtypes & BIT(order[i])))
            continue;
        tw_dtype next = found == TW_DTYPE_NONE ? order[i]
                        : place_of(found) <= i ? promote(found, order[i])
                                               : promote(order[i], found);
        if (next == TW_DTYPE_NONE) {
            tw__fail(TW_TYPE_ERROR, "The dtypes %s and %s have no common dtype", tw_dtype_name(found), tw_dtype_name(order[i]));
            return TW_DTYPE_NONE;
        }
        found = next;
        dtypes &= ~BIT(order[i]);
    }
    if (dtypes && !found && !(dtypes & (dtypes - 1)))
        return (tw_dtype)__builtin_ctz(dtypes);
    if (dtypes) {
        tw__fail(TW_TYPE_ERROR, "The dtype %s has no common dtype with others", tw_dtype_name((tw_dtype)__builtin_ctz(dtypes)));
        return TW_DTYPE_NONE;
    }
    return found ? found : tw__numpy_float();
}

/* 0: truths, 1: integers, 2: floats and complex numbers, 3: others. */
static int highest_kind(uint32_t dtypes)
{
    int kind = 0;
    for (int i = 0; i < TW_DTYPE_LIMIT; i++) {
        if (dtypes & BIT(i)) {
            int place = place_of((tw_dtype)i), own = place == ORDER ? 3 : place < FLOATS ? 2 : i == TW_BOOL ? 0 : 1;
            kind = own > kind ? own : kind;
        }
    }
    return kind;
}

void tw__numpy_add(tw__numpy_types *types, tw_dtype dtype)
{
    types->arrays |= BIT(dtype);
}

static bool within(double value, double limit)
{
    return value > -limit && value < limit;
}

/* The smallest dtype that holds a number; small: see tw__numpy_types. */
static tw_dtype least_of(const tw_tensor *scalar, bool *small)
{
    static const tw_dtype unsigned_ones[] = { TW_UINT8, TW_UINT16, TW_UINT32, TW_UINT64 };
    tw_dtype dtype = scalar->dtype;
    if (tw__dtype_is_integer(dtype)) {
        int64_t value = dtype == TW_UINT64 ? *(const int64_t *)scalar->data : tw_tensor_int_at(scalar, 0);
        int size = 0;
        if (value >= 0 || dtype == TW_UINT64) {
            while (size < 3 && (uint64_t)value >> (8 << size))
                size++;
            *small = !((uint64_t)value >> ((8 << size) - 1));
            return unsigned_ones[size];
        }
        while (size < 3 && value < -(INT64_C(1) << ((8 << size) - 1)))
            size++;
        return signed_of((size_t)1 << size);
    }
    if (dtype == TW_FLOAT64 || dtype == TW_FLOAT32) {
        double value = tw_tensor_double_at(scalar, 0);
        return !isfinite(value) || within(value, 65000) ? TW_FLOAT16 : within(value, 3.4e38) ? TW_FLOAT32 : dtype;
    }
    if (dtype == TW_COMPLEX128) {
        const double *parts = scalar->data;
        return within(parts[0], 3.4e38) && within(parts[1], 3.4e38) ? TW_COMPLEX64 : dtype;
    }
    return dtype;
}

void tw__numpy_add_number(tw__numpy_types *types, const tw_tensor *scalar)
{
    bool small = false;
    tw_dtype least = least_of(scalar, &small);
    types->numbers |= BIT(scalar->dtype);
    *(small ? &types->small : &types->least) |= BIT(least);
}

tw_dtype tw__numpy_result(const tw__numpy_types *types)
{
    if (!types->arrays || !types->numbers || highest_kind(types->numbers) > highest_kind(types->arrays))
        return promoted(types->arrays | types->numbers);
    uint32_t all = types->arrays | types->least, small = types->small;
    if (all & ~(UNSIGNED | BIT(TW_BOOL))) { /* beside signed numbers the small ones are signed, too */
        for (size_t size = 1; size <= 8; size *= 2) {
            tw_dtype with = signed_of(size), without = size == 1   ? TW_UINT8
                                                       : size == 2 ? TW_UINT16
                                                       : size == 4 ? TW_UINT32
                                                                   : TW_UINT64;
            all |= small & BIT(without) ? BIT(with) : 0;
        }
        return promoted(all);
    }
    return promoted(all | small);
}

TW_API(numpy_promote_types, "experimental.numpy.promote_types(type1: dtype<numpy>, type2: dtype<numpy>) -> dtype",
       "The dtype that both may be cast to.\n"
       "type1: a dtype\n"
       "type2: another one")
{
    return promoted(BIT(args->type1) | BIT(args->type2));
}

TW_API(
    numpy_enable_behavior,
    "experimental.numpy.experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = legacy) -> none",
    "Operators of tensors promote dtypes as NumPy does. prefer_float32: numbers with a point are float32.\n"
    "prefer_float32: True: Python's floats become float32, not float64\n"
    "dtype_conversion_mode: `legacy` or `off`; `safe` and `all` are not supported")
{
    const char *mode = args->dtype_conversion_mode;
    if (strcmp(mode, "safe") == 0 || strcmp(mode, "all") == 0)
        return tw__fail(TW_UNIMPLEMENTED, "experimental_enable_numpy_behavior: dtype_conversion_mode '%s' is not supported",
                        mode);
    if (strcmp(mode, "off") != 0 && strcmp(mode, "legacy") != 0)
        return tw__fail(
            TW_VALUE_ERROR,
            "The provided promotion mode %s does not exist. Make sure the provided dtype conversion mode is one of the "
            "followings: PromoMode.NONE, PromoMode.LEGACY, PromoMode.SAFE, PromoMode.ALL.",
            mode);
    prefers_float32 = args->prefer_float32;
    tw__numpy_behaves = true;
    return TW_OK;
}

/* ---- operands ---- */

tw_tensor *tw__numpy_cast(tw__temps *t, tw_tensor *x, tw_dtype dtype)
{
    return !x || dtype == TW_DTYPE_NONE ? x : tw__temp_cast(t, x, dtype);
}

tw_status tw__numpy_promote(tw__temps *t, tw_tensor **operands, int64_t count)
{
    tw__numpy_types types = { 0 };
    for (int64_t i = 0; i < count; i++) {
        if (operands[i])
            tw__numpy_add(&types, operands[i]->dtype);
    }
    tw_dtype dtype = tw__numpy_result(&types);
    if (dtype == TW_DTYPE_NONE)
        return TW_TYPE_ERROR;
    for (int64_t i = 0; i < count; i++) {
        if (operands[i] && !(operands[i] = tw__temp_cast(t, operands[i], dtype)))
            return tw_error_code();
    }
    return TW_OK;
}

tw_tensor **tw__numpy_promoted(tw__temps *t, tw_tensors operands)
{
    tw_tensor **all = tw__temp_memory(t, tw__alloc_array((size_t)operands.count + 1, sizeof *all));
    if (all && operands.count)
        memcpy(all, operands.items, (size_t)operands.count * sizeof *all);
    return all && tw__numpy_promote(t, all, operands.count) == TW_OK ? all : NULL;
}

tw_tensor *tw__numpy_floating(tw__temps *t, tw_tensor *x)
{
    return x && tw__numpy_whole(x->dtype) ? tw__temp_cast(t, x, tw__numpy_float()) : x;
}

tw_tensor *tw__numpy_flat(tw__temps *t, tw_tensor *x)
{
    return tw__temp_reshape(t, x, (const int64_t[]){ -1 }, 1);
}

tw_tensor *tw__numpy_ints(tw__temps *t, int64_t value, int64_t count)
{
    int64_t values[TW_MAX_RANK];
    for (int64_t i = 0; i < count && i < TW_MAX_RANK; i++)
        values[i] = value;
    return tw__temp_ints(t, values, count < TW_MAX_RANK ? count : TW_MAX_RANK, TW_INT32);
}

tw_tensor *tw__numpy_wider(tw__temps *t, tw_tensor *x, int before, int behind)
{
    if (!x || (before <= 0 && behind <= 0))
        return x;
    tw_tensor *sizes = tw__temp_concat(t,
                                       TW_IN(tw__numpy_ints(t, 1, before < 0 ? 0 : before), tw__temp_shape(t, x, TW_INT32),
                                             tw__numpy_ints(t, 1, behind)),
                                       3, 0);
    return TW_TEMP(Reshape, x, sizes);
}

bool tw__numpy_rank_known(const tw_tensor *x, const char *function)
{
    if (x->shape.rank < 0)
        tw__fail(TW_VALUE_ERROR, "%s: the rank of the tensor must be known", function);
    return x->shape.rank >= 0;
}

bool tw__numpy_axis(const tw_tensor *x, int64_t axis, const char *function, int *normal)
{
    if (!tw__numpy_rank_known(x, function))
        return false;
    if (!tw__axis_normal(axis, x->shape.rank, normal)) {
        tw__fail(TW_VALUE_ERROR, "%s: axis %lld is out of bounds for array of dimension %d", function, (long long)axis,
                 x->shape.rank);
        return false;
    }
    return true;
}

tw_tensor *tw__numpy_spread(tw__temps *t, tw_tensor *x, tw_tensor *shape)
{
    if (shape && shape->shape.rank == 0)
        shape = tw__numpy_flat(t, shape);
    return TW_TEMP(BroadcastTo, x, shape);
}

tw_value tw__numpy_pair(tw_tensor *first, tw_tensor *second)
{
    tw_value *items = first && second ? tw__alloc_array(2, sizeof *items) : NULL;
    if (!items) {
        tw_release(first);
        tw_release(second);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    items[0] = TW_LEAF(first), items[1] = TW_LEAF(second);
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2, NULL } };
}
