/* Operations of StableHLO as text: see lower.h. Results that can't be (a dtype that StableHLO lacks) have the id -1, and what is
 * made of them has, too; tw__lower_give refuses them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lower/lower.h"

const char *tw__hlo_dtype(tw_dtype dtype)
{
    static const char *const names[TW_DTYPE_LIMIT] = {
        [TW_BOOL] = "i1",
        [TW_INT8] = "i8",
        [TW_INT16] = "i16",
        [TW_INT32] = "i32",
        [TW_INT64] = "i64",
        [TW_UINT8] = "ui8",
        [TW_UINT16] = "ui16",
        [TW_UINT32] = "ui32",
        [TW_UINT64] = "ui64",
        [TW_FLOAT16] = "f16",
        [TW_BFLOAT16] = "bf16",
        [TW_FLOAT32] = "f32",
        [TW_FLOAT64] = "f64",
        [TW_COMPLEX64] = "complex<f32>",
        [TW_COMPLEX128] = "complex<f64>",
    };
    return (unsigned)dtype < TW_DTYPE_LIMIT ? names[dtype] : NULL;
}

void tw__hlo_type(tw__text *text, tw_dtype dtype, const tw_shape *shape)
{
    tw__text_add(text, "tensor<");
    for (int i = 0; i < shape->rank; i++)
        tw__text_format(text, "%lldx", (long long)shape->dims[i]);
    tw__text_format(text, "%s>", tw__hlo_dtype(dtype));
}

const char *tw__hlo_type_text(tw__hlo value)
{
    enum { TEXTS = 8, LENGTH = 256 };
    static _Thread_local char texts[TEXTS][LENGTH];
    static _Thread_local unsigned next;
    char *text = texts[next++ % TEXTS];
    int at = snprintf(text, LENGTH, "tensor<");
    for (int i = 0; i < value.shape.rank; i++)
        at += snprintf(text + at, LENGTH - (size_t)at, "%lldx", (long long)value.shape.dims[i]);
    snprintf(text + at, LENGTH - (size_t)at, "%s>", tw__hlo_dtype(value.dtype));
    return text;
}

void tw__hlo_ints(tw__text *text, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        tw__text_format(text, i ? ", %lld" : "%lld", (long long)values[i]);
}

static const tw__hlo nothing = { .id = -1 };

/* Begins a line "%id = "; the rest of it is the caller's. */
static tw__hlo begin(tw__lowering *l, tw_dtype dtype, const tw_shape *shape)
{
    tw__hlo result = { .id = l->next++, .dtype = dtype, .shape = *shape };
    if (!tw__hlo_dtype(dtype))
        return nothing;
    tw__text_format(l->text, "%%%d = ", result.id);
    return result;
}

static void end(tw__lowering *l, tw__hlo result)
{
    tw__text_add(l->text, " : ");
    tw__hlo_type(l->text, result.dtype, &result.shape);
    tw__text_add(l->text, "\n");
}

/* " : (types) -> type" */
static void end_from(tw__lowering *l, const tw__hlo *operands, int count, tw__hlo result)
{
    tw__text_add(l->text, " : (");
    for (int i = 0; i < count; i++) {
        tw__text_add(l->text, i ? ", " : "");
        tw__hlo_type(l->text, operands[i].dtype, &operands[i].shape);
    }
    tw__text_add(l->text, ") -> ");
    tw__hlo_type(l->text, result.dtype, &result.shape);
    tw__text_add(l->text, "\n");
}

tw__hlo tw__hlo_line(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof line)
        return nothing;
    tw__hlo result = begin(l, dtype, shape);
    if (result.id >= 0)
        tw__text_format(l->text, "%s\n", line);
    return result;
}

tw__hlo tw__hlo_unary(tw__lowering *l, const char *name, tw__hlo x)
{
    tw__hlo result = x.id < 0 ? nothing : begin(l, x.dtype, &x.shape);
    if (result.id >= 0) {
        tw__text_format(l->text, "stablehlo.%s %%%d", name, x.id);
        end(l, result);
    }
    return result;
}

tw__hlo tw__hlo_chlo(tw__lowering *l, const char *name, tw__hlo x)
{
    tw__hlo result = x.id < 0 ? nothing : begin(l, x.dtype, &x.shape);
    if (result.id >= 0) {
        const char *type = tw__hlo_type_text(result);
        tw__text_format(l->text, "chlo.%s %%%d : %s -> %s\n", name, x.id, type, type);
    }
    return result;
}

/* Both to the shape that they have together. */
static bool meet(tw__lowering *l, tw__hlo *a, tw__hlo *b)
{
    tw_shape shape;
    if (a->id < 0 || b->id < 0 || a->dtype != b->dtype || !tw__shape_broadcast(&a->shape, &b->shape, &shape))
        return false;
    *a = tw__hlo_broadcast(l, *a, &shape);
    *b = tw__hlo_broadcast(l, *b, &shape);
    return a->id >= 0 && b->id >= 0;
}

tw__hlo tw__hlo_binary(tw__lowering *l, const char *name, tw__hlo a, tw__hlo b)
{
    if (!meet(l, &a, &b))
        return nothing;
    tw__hlo result = begin(l, a.dtype, &a.shape);
    tw__text_format(l->text, "stablehlo.%s %%%d, %%%d", name, a.id, b.id);
    end(l, result);
    return result;
}

tw__hlo tw__hlo_compare(tw__lowering *l, const char *direction, tw__hlo a, tw__hlo b)
{
    if (!meet(l, &a, &b))
        return nothing;
    tw__hlo result = begin(l, TW_BOOL, &a.shape);
    tw__text_format(l->text, "stablehlo.compare %s, %%%d, %%%d", direction, a.id, b.id);
    end_from(l, (tw__hlo[]){ a, b }, 2, result);
    return result;
}

tw__hlo tw__hlo_select(tw__lowering *l, tw__hlo condition, tw__hlo a, tw__hlo b)
{
    tw_shape shape;
    if (condition.id < 0 || !meet(l, &a, &b) || !tw__shape_broadcast(&condition.shape, &a.shape, &shape))
        return nothing;
    a = tw__hlo_broadcast(l, a, &shape);
    b = tw__hlo_broadcast(l, b, &shape);
    condition = tw__hlo_broadcast(l, condition, &shape);
    tw__hlo result = begin(l, a.dtype, &shape);
    tw__text_format(l->text, "stablehlo.select %%%d, %%%d, %%%d : %s, %s\n", condition.id, a.id, b.id,
                    tw__hlo_type_text(condition), tw__hlo_type_text(a));
    return result;
}

tw__hlo tw__hlo_convert(tw__lowering *l, tw__hlo x, tw_dtype dtype)
{
    if (x.dtype == dtype || x.id < 0)
        return x;
    tw__hlo result = begin(l, dtype, &x.shape);
    if (result.id >= 0) {
        tw__text_format(l->text, "stablehlo.convert %%%d", x.id);
        end_from(l, &x, 1, result);
    }
    return result;
}

/* ---- constants ---- */

tw__hlo tw__hlo_constant(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, double value)
{
    tw__hlo result = begin(l, dtype, shape);
    if (result.id < 0)
        return result;
    char number[64];
    value = value == 0 ? 0 : value; /* without a sign */
    if (tw__dtype_is_complex(dtype))
        snprintf(number, sizeof number, "(%.17e, 0.0)", value);
    else if (dtype == TW_BOOL)
        snprintf(number, sizeof number, "%s", value != 0 ? "true" : "false");
    else if (tw__dtype_is_float(dtype))
        snprintf(number, sizeof number, "%.17e", value);
    else
        snprintf(number, sizeof number, "%.0f", value);
    tw__text_format(l->text, "stablehlo.constant dense<%s>", number);
    end(l, result);
    return result;
}

tw__hlo tw__hlo_fill(tw__lowering *l, tw__hlo like, double value)
{
    return like.id < 0 ? nothing : tw__hlo_constant(l, like.dtype, &like.shape, value);
}

/* Booleans have no bytes in the text: a list of words, under the right shape. */
static tw__hlo boolean_tensor(tw__lowering *l, const tw_tensor *tensor)
{
    tw__hlo flat = begin(l, TW_BOOL, &TW_SHAPE(tensor->count));
    tw__text_add(l->text, "stablehlo.constant dense<[");
    for (int64_t i = 0; i < tensor->count; i++)
        tw__text_format(l->text, "%s%s", i ? ", " : "", ((const bool *)tensor->data)[i] ? "true" : "false");
    tw__text_add(l->text, "]>");
    end(l, flat);
    return tw__hlo_reshape(l, flat, &tensor->shape);
}

tw__hlo tw__hlo_bytes(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, const void *data, size_t size)
{
    tw__hlo result = begin(l, dtype, shape);
    if (result.id < 0)
        return result;
    const unsigned char *bytes = data;
    tw__text_add(l->text, size ? "stablehlo.constant dense<\"0x" : "stablehlo.constant dense<");
    for (size_t i = 0; i < size; i++)
        tw__text_format(l->text, "%02X", bytes[i]);
    tw__text_add(l->text, size ? "\">" : ">");
    end(l, result);
    return result;
}

tw__hlo tw__hlo_tensor(tw__lowering *l, const tw_tensor *tensor)
{
    return tensor->dtype == TW_BOOL ? boolean_tensor(l, tensor)
                                    : tw__hlo_bytes(l, tensor->dtype, &tensor->shape, tensor->data, tw_tensor_bytes(tensor));
}

tw__hlo tw__hlo_infinity(tw__lowering *l, tw_dtype dtype, bool negative)
{
    static const struct {
        tw_dtype dtype;
        const char *low, *high;
    } rows[] = {
        { TW_FLOAT32, "0xFF800000", "0x7F800000" },
        { TW_FLOAT64, "0xFFF0000000000000", "0x7FF0000000000000" },
        { TW_FLOAT16, "0xFC00", "0x7C00" },
        { TW_BFLOAT16, "0xFF80", "0x7F80" },
        { TW_INT32, "-2147483648", "2147483647" },
        { TW_INT64, "-9223372036854775808", "9223372036854775807" },
        { TW_INT16, "-32768", "32767" },
        { TW_INT8, "-128", "127" },
        { TW_UINT8, "0", "255" },
        { TW_UINT16, "0", "65535" },
        { TW_UINT32, "0", "4294967295" },
        { TW_UINT64, "0", "18446744073709551615" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].dtype == dtype) {
            tw__hlo result = begin(l, dtype, &TW_SCALAR);
            tw__text_format(l->text, "stablehlo.constant dense<%s>", negative ? rows[i].low : rows[i].high);
            end(l, result);
            return result;
        }
    }
    return nothing;
}

tw__hlo tw__hlo_iota(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, int dim)
{
    tw__hlo result = begin(l, dtype, shape);
    if (result.id >= 0) {
        tw__text_format(l->text, "stablehlo.iota dim = %d", dim);
        end(l, result);
    }
    return result;
}

/* ---- shapes ---- */

tw__hlo tw__hlo_broadcast_in(tw__lowering *l, tw__hlo x, const tw_shape *shape, const int *dims)
{
    if (x.id < 0 || tw__shape_equal(&x.shape, shape))
        return x;
    tw__hlo result = begin(l, x.dtype, shape);
    tw__text_format(l->text, "stablehlo.broadcast_in_dim %%%d, dims = [", x.id);
    for (int i = 0; i < x.shape.rank; i++)
        tw__text_format(l->text, i ? ", %d" : "%d", dims[i]);
    tw__text_add(l->text, "]");
    end_from(l, &x, 1, result);
    return result;
}

tw__hlo tw__hlo_broadcast(tw__lowering *l, tw__hlo x, const tw_shape *shape)
{
    int dims[TW_MAX_RANK];
    for (int i = 0; i < x.shape.rank; i++)
        dims[i] = shape->rank - x.shape.rank + i;
    return tw__hlo_broadcast_in(l, x, shape, dims);
}

tw__hlo tw__hlo_reshape(tw__lowering *l, tw__hlo x, const tw_shape *shape)
{
    if (x.id < 0 || tw__shape_equal(&x.shape, shape))
        return x;
    tw__hlo result = begin(l, x.dtype, shape);
    tw__text_format(l->text, "stablehlo.reshape %%%d", x.id);
    end_from(l, &x, 1, result);
    return result;
}

tw__hlo tw__hlo_transpose(tw__lowering *l, tw__hlo x, const int *order)
{
    tw_shape shape = { .rank = x.shape.rank };
    if (x.id < 0)
        return x;
    for (int i = 0; i < x.shape.rank; i++)
        shape.dims[i] = x.shape.dims[order[i]];
    tw__hlo result = begin(l, x.dtype, &shape);
    tw__text_format(l->text, "stablehlo.transpose %%%d, dims = [", x.id);
    for (int i = 0; i < x.shape.rank; i++)
        tw__text_format(l->text, i ? ", %d" : "%d", order[i]);
    tw__text_add(l->text, "]");
    end_from(l, &x, 1, result);
    return result;
}

/* "[0, 2]" of bits. */
static void add_dims(tw__text *text, unsigned dims)
{
    const char *before = "[";
    for (int i = 0; i < TW_MAX_RANK; i++) {
        if (dims >> i & 1) {
            tw__text_format(text, "%s%d", before, i);
            before = ", ";
        }
    }
    tw__text_add(text, dims ? "]" : "[]");
}

tw__hlo tw__hlo_reverse(tw__lowering *l, tw__hlo x, unsigned dims)
{
    if (!dims || x.id < 0)
        return x;
    tw__hlo result = begin(l, x.dtype, &x.shape);
    tw__text_format(l->text, "stablehlo.reverse %%%d, dims = ", x.id);
    add_dims(l->text, dims);
    end(l, result);
    return result;
}

tw__hlo tw__hlo_slice(tw__lowering *l, tw__hlo x, const int64_t *start, const int64_t *stop, const int64_t *stride)
{
    tw_shape shape = { .rank = x.shape.rank };
    if (x.id < 0)
        return x;
    for (int i = 0; i < x.shape.rank; i++) {
        int64_t step = stride ? stride[i] : 1;
        shape.dims[i] = stop[i] > start[i] ? (stop[i] - start[i] + step - 1) / step : 0;
    }
    tw__hlo result = begin(l, x.dtype, &shape);
    tw__text_format(l->text, "stablehlo.slice %%%d [", x.id);
    for (int i = 0; i < x.shape.rank; i++)
        tw__text_format(l->text, "%s%lld:%lld:%lld", i ? ", " : "", (long long)start[i],
                        (long long)(stop[i] > start[i] ? stop[i] : start[i]), (long long)(stride ? stride[i] : 1));
    tw__text_add(l->text, "]");
    end_from(l, &x, 1, result);
    return result;
}

static void add_list(tw__text *text, const char *name, const int64_t *values, int count)
{
    static const int64_t zeros[TW_MAX_RANK] = { 0 };
    tw__text_format(text, ", %s = [", name);
    tw__hlo_ints(text, values ? values : zeros, count);
    tw__text_add(text, "]");
}

tw__hlo tw__hlo_pad(tw__lowering *l, tw__hlo x, tw__hlo value, const int64_t *low, const int64_t *high, const int64_t *between)
{
    tw_shape shape = { .rank = x.shape.rank };
    if (x.id < 0 || value.id < 0)
        return nothing;
    for (int i = 0; i < x.shape.rank; i++) {
        int64_t size = x.shape.dims[i];
        shape.dims[i] = size + (between && size > 0 ? (size - 1) * between[i] : 0) + low[i] + high[i];
    }
    tw__hlo result = begin(l, x.dtype, &shape);
    tw__text_format(l->text, "stablehlo.pad %%%d, %%%d", x.id, value.id);
    add_list(l->text, "low", low, shape.rank);
    add_list(l->text, "high", high, shape.rank);
    add_list(l->text, "interior", between, shape.rank);
    end_from(l, (tw__hlo[]){ x, value }, 2, result);
    return result;
}

tw__hlo tw__hlo_concatenate(tw__lowering *l, const tw__hlo *parts, int count, int dim)
{
    tw_shape shape = parts[0].shape;
    for (int i = 0; i < count; i++) {
        if (parts[i].id < 0)
            return nothing;
        shape.dims[dim] = i ? shape.dims[dim] + parts[i].shape.dims[dim] : parts[i].shape.dims[dim];
    }
    tw__hlo result = begin(l, parts[0].dtype, &shape);
    if (result.id < 0)
        return result;
    tw__text_add(l->text, "stablehlo.concatenate ");
    for (int i = 0; i < count; i++)
        tw__text_format(l->text, i ? ", %%%d" : "%%%d", parts[i].id);
    tw__text_format(l->text, ", dim = %d", dim);
    end_from(l, parts, count, result);
    return result;
}

/* ---- sums and products ---- */

tw__hlo tw__hlo_neutral(tw__lowering *l, const char *name, tw_dtype dtype)
{
    bool maximum = strcmp(name, "maximum") == 0, minimum = strcmp(name, "minimum") == 0;
    if (maximum || minimum)
        return tw__hlo_infinity(l, dtype, maximum);
    return tw__hlo_constant(l, dtype, &TW_SCALAR, strcmp(name, "multiply") == 0 || strcmp(name, "and") == 0);
}

tw__hlo tw__hlo_reduce(tw__lowering *l, const char *name, tw__hlo x, unsigned dims)
{
    tw_shape shape = { .rank = 0 };
    if (x.id < 0 || !dims)
        return x;
    for (int i = 0; i < x.shape.rank; i++) {
        if (!(dims >> i & 1))
            shape.dims[shape.rank++] = x.shape.dims[i];
    }
    tw__hlo start = tw__hlo_neutral(l, name, x.dtype);
    if (start.id < 0)
        return nothing;
    tw__hlo result = begin(l, x.dtype, &shape);
    tw__text_format(l->text, "stablehlo.reduce(%%%d init: %%%d) applies stablehlo.%s across dimensions = ", x.id, start.id, name);
    add_dims(l->text, dims);
    end_from(l, (tw__hlo[]){ x, start }, 2, result);
    return result;
}

tw__hlo tw__hlo_dot(tw__lowering *l, tw__hlo a, tw__hlo b, int batch_count, int contract_a, int contract_b)
{
    tw_shape shape = { .rank = 0 };
    if (a.id < 0 || b.id < 0)
        return nothing;
    for (int i = 0; i < a.shape.rank; i++) {
        if (i != contract_a)
            shape.dims[shape.rank++] = a.shape.dims[i];
    }
    for (int i = batch_count; i < b.shape.rank; i++) {
        if (i != contract_b)
            shape.dims[shape.rank++] = b.shape.dims[i];
    }
    tw__hlo result = begin(l, a.dtype, &shape);
    if (result.id < 0)
        return result;
    tw__text_format(l->text, "stablehlo.dot_general %%%d, %%%d", a.id, b.id);
    for (int side = 0; batch_count && side < 2; side++) {
        tw__text_add(l->text, side ? " x " : ", batching_dims = ");
        add_dims(l->text, (1u << batch_count) - 1);
    }
    tw__text_format(l->text, ", contracting_dims = [%d] x [%d], precision = [HIGHEST, HIGHEST]", contract_a, contract_b);
    end_from(l, (tw__hlo[]){ a, b }, 2, result);
    return result;
}
