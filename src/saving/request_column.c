/* One input of a request: the values of nested lists, gathered in the dtype that the signature says, without a detour. A value
 * that the dtype can't hold is an error. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "saving/request.h"

/* ---- numbers ---- */

/* Up to 15 digits and a small power of ten: both are exact as doubles, and so is the rounding of their product. */
static bool read_simple(const char *at, double *value)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    bool negative = *at == '-';
    uint64_t mantissa = 0;
    int count = 0, exponent = 0, given = 0;
    for (at += negative; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
        if (*at == '.') {
            exponent = -1;
            continue;
        }
        if ((mantissa || *at != '0') && ++count > 15)
            return false;
        mantissa = 10 * mantissa + (uint64_t)(*at - '0');
        given -= exponent < 0;
    }
    if ((*at | 32) == 'e') {
        char *end;
        long power = strtol(at + 1, &end, 10);
        if (power > 40 || power < -60)
            return false;
        given += (int)power;
    }
    if (given > 22 || given < -22)
        return false;
    double size = given < 0 ? (double)mantissa / powers[-given] : (double)mantissa * powers[given];
    *value = negative ? -size : size;
    return true;
}

tw__json_numeral tw__json_read_number(const char *value)
{
    tw__json_numeral number = { .negative = *value == '-' };
    const char *at = value + number.negative;
    size_t count = 0;
    if (*at == 'I' || *at == 'N') {
        number.value = *at == 'N' ? NAN : number.negative ? -INFINITY : INFINITY;
        return number;
    }
    bool fits = true;
    for (; at[count] >= '0' && at[count] <= '9'; count++)
        fits = fits && !__builtin_mul_overflow(number.size, (uint64_t)10, &number.size) &&
               !__builtin_add_overflow(number.size, (uint64_t)(at[count] - '0'), &number.size);
    bool whole = at[count] != '.' && (at[count] | 32) != 'e';
    number.is_integer = whole && fits && (!number.negative || number.size <= (uint64_t)INT64_MAX + 1);
    if (number.is_integer && number.size < (uint64_t)1 << 53)
        number.value = number.negative ? -(double)number.size : (double)number.size;
    else if (!read_simple(value, &number.value))
        number.value = strtod(value, NULL);
    return number;
}

static tw_status wrong_type(const char *value, tw_dtype dtype)
{
    const char *name = dtype == TW_FLOAT32 ? "float" : dtype == TW_FLOAT64 ? "double" : tw_dtype_name(dtype);
    return tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s Type: %s is not of expected type: %s", TW_JSON_SHOWN(value),
                    tw__json_kind_name(value), name);
}

/* A whole number beyond those that the dtype can tell apart would become another one. */
static tw_status check_real(const tw__json_numeral *number, const char *value, bool single)
{
    uint64_t most = ((uint64_t)1 << (single ? FLT_MANT_DIG : DBL_MANT_DIG)) - 1;
    bool lossy = number->is_integer ? number->size > most : single && isfinite(number->value) && fabs(number->value) > FLT_MAX;
    return lossy ? tw__fail(TW_INVALID_ARGUMENT, "Cannot convert JSON value: %.*s to %s without loss of precision.",
                            TW_JSON_SHOWN(value), single ? "float" : "double")
                 : TW_OK;
}

/* ---- elements ---- */

static bool integer_limits(tw_dtype dtype, uint64_t *least, uint64_t *most)
{
    size_t bits = 8 * tw_dtype_size(dtype);
    bool is_signed = dtype == TW_INT8 || dtype == TW_INT16 || dtype == TW_INT32 || dtype == TW_INT64;
    *least = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    *most = UINT64_MAX >> (64 - bits + is_signed);
    return is_signed || dtype == TW_UINT8 || dtype == TW_UINT16 || dtype == TW_UINT32 || dtype == TW_UINT64;
}

static tw_status put_number(void *place, tw_dtype dtype, const char *value)
{
    uint64_t least, most;
    tw__json_kind kind = tw__json_kind_of(value);
    if (dtype == TW_BOOL) {
        if (kind != TW_JSON_BOOL)
            return wrong_type(value, dtype);
        *(bool *)place = *value == 't';
        return TW_OK;
    }
    bool real = dtype == TW_FLOAT32 || dtype == TW_FLOAT64;
    if (!real && !integer_limits(dtype, &least, &most))
        return tw__fail(TW_UNIMPLEMENTED, "Conversion of JSON Value: %.*s to type: %s", TW_JSON_SHOWN(value),
                        tw_dtype_name(dtype));
    if (kind != TW_JSON_NUMBER)
        return wrong_type(value, dtype);
    tw__json_numeral number = tw__json_read_number(value);
    if (real) {
        TW_TRY(check_real(&number, value, dtype == TW_FLOAT32));
        if (dtype == TW_FLOAT32)
            *(float *)place = (float)number.value;
        else
            *(double *)place = number.value;
        return TW_OK;
    }
    if (!number.is_integer || number.size > (number.negative ? least : most))
        return wrong_type(value, dtype);
    uint64_t bits = number.negative ? -number.size : number.size;
    memcpy(place, &bits, tw_dtype_size(dtype)); /* the low bytes come first */
    return TW_OK;
}

static tw_status add_string(tw__column *column, const char *value)
{
    const char *base64 = tw__json_base64(value);
    if (base64)
        TW_TRY(tw__json_decode(base64, &column->bytes));
    else if (*value == '{')
        return tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s not formatted correctly for base64 data", TW_JSON_SHOWN(value));
    else if (*value == '"')
        tw__json_text(value, &column->bytes);
    else
        return wrong_type(value, TW_STRING);
    TW_TRY(TW_GROW(column->ends, column->end_capacity, (size_t)column->count + 1));
    column->ends[column->count++] = column->bytes.size;
    return column->bytes.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__column_add_scalar(tw__column *column, const char *value)
{
    if (column->dtype == TW_STRING)
        return add_string(column, value);
    if (*value == '{')
        return wrong_type(value, column->dtype);
    size_t size = tw_dtype_size(column->dtype);
    TW_TRY(TW_GROW(column->data, column->capacity, ((size_t)column->count + 1) * (size ? size : 1)));
    TW_TRY(put_number(column->data + (size_t)column->count * size, column->dtype, value));
    column->count++;
    return TW_OK;
}

/* ---- nested lists ---- */

/* The dimensions of an item follow from its first lists; the others must be like them. */
static tw_status add_level(tw__column *column, const char *value, tw_shape *shape, int level)
{
    if (*value != '[') {
        if (level != shape->rank)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "JSON Value: %.*s found at incorrect level: %d in the JSON DOM. Expected at level: %d",
                            TW_JSON_SHOWN(value), level + 1, shape->rank);
        return tw__column_add_scalar(column, value);
    }
    if (level >= shape->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "Encountered list at unexpected level: %d expected < %d", level, shape->rank);
    const char *key;
    int64_t size = 0;
    for (const char *part = tw__json_first(value, &key); part; part = tw__json_next(part, &key), size++)
        TW_TRY(add_level(column, part, shape, level + 1));
    if (shape->dims[level] < 0)
        shape->dims[level] = size;
    if (shape->dims[level] != size)
        return tw__fail(TW_INVALID_ARGUMENT, "Encountered list at unexpected size: %lld at level: %d expected size: %lld",
                        (long long)size, level, (long long)shape->dims[level]);
    return TW_OK;
}

static const char *shape_text(const tw_shape *shape, char room[200])
{
    int at = snprintf(room, 200, "[");
    for (int i = 0; i < shape->rank; i++)
        at += snprintf(room + at, 200 - (size_t)at, "%s%lld", i ? "," : "", (long long)shape->dims[i]);
    snprintf(room + at, 200 - (size_t)at, "]");
    return room;
}

tw_status tw__column_add(tw__column *column, const char *value)
{
    tw_shape shape = { .rank = 0 };
    const char *at = value, *key;
    for (; at && *at == '['; shape.rank++) {
        if (shape.rank == TW_MAX_RANK)
            return tw__fail(TW_INVALID_ARGUMENT, "a tensor of more than %d dimensions", TW_MAX_RANK);
        shape.dims[shape.rank] = -1;
        at = tw__json_first(at, &key);
    }
    int64_t before = column->count;
    TW_TRY(add_level(column, value, &shape, 0));
    if (column->items++ == 0) {
        column->item = shape;
        return TW_OK;
    }
    char got[200], expected[200];
    int64_t size = column->count - before, first = before / (column->items - 1);
    if (size != first)
        return tw__fail(TW_INVALID_ARGUMENT, "Expecting tensor size: %lld but got: %lld", (long long)first, (long long)size);
    if (shape.rank != column->item.rank || memcmp(shape.dims, column->item.dims, (size_t)shape.rank * sizeof *shape.dims) != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Expecting shape %s but got: %s", shape_text(&column->item, expected),
                        shape_text(&shape, got));
    return TW_OK;
}

tw_tensor *tw__column_tensor(const tw__column *column, bool rows)
{
    tw_shape shape = column->item;
    if (rows && shape.rank == TW_MAX_RANK) {
        tw__fail(TW_INVALID_ARGUMENT, "a tensor of more than %d dimensions", TW_MAX_RANK);
        return NULL;
    }
    if (rows) {
        memmove(shape.dims + 1, shape.dims, (size_t)shape.rank * sizeof *shape.dims);
        shape.dims[0] = column->items;
        shape.rank++;
    }
    if (column->dtype != TW_STRING)
        return tw_tensor_new(column->dtype, shape, column->data);
    tw_auto tw_tensor *made = tw__tensor_empty(TW_STRING, &shape);
    for (int64_t i = 0; made && i < column->count; i++) {
        size_t start = i ? column->ends[i - 1] : 0;
        if (tw__string_set(made, i, column->bytes.data ? column->bytes.data + start : "", column->ends[i] - start) != TW_OK)
            return NULL;
    }
    return made ? tw_retain(made) : NULL;
}

void tw__column_free(tw__column *column)
{
    tw__free(column->data);
    tw__free(column->ends);
    tw__text_free(&column->bytes);
}
