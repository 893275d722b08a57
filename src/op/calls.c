/* Calls of ops, scalars and casts; see calls.h. */
#include "op/calls.h"

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "rows.h"

/* One argument of a call. */
typedef struct operand {
    int kind;
    union {
        tw_tensor *tensor;
        double number;
        int64_t integer;
        const tw_attr *attr;
    };
} operand;

static int operands_read(operand *operands, uint64_t kinds, va_list list)
{
    int count = 0;
    for (; kinds; kinds >>= TW_OPERAND_BITS) {
        operand *o = &operands[count++];
        o->kind = kinds & ((1 << TW_OPERAND_BITS) - 1);
        if (o->kind == TW_OPERAND_TENSOR)
            o->tensor = va_arg(list, tw_tensor *);
        else if (o->kind == TW_OPERAND_NUMBER)
            o->number = va_arg(list, double);
        else if (o->kind == TW_OPERAND_ATTR)
            o->attr = va_arg(list, const tw_attr *);
        else
            o->integer = o->kind == TW_OPERAND_INT ? va_arg(list, int) : va_arg(list, int64_t);
    }
    return count;
}

/* The first tensor among the operands; numbers have its dtype. */
static const tw_tensor *first_tensor(const operand *operands, int count)
{
    int at = 0;
    while (at < count && operands[at].kind != TW_OPERAND_TENSOR)
        at++;
    return at < count ? operands[at].tensor : NULL;
}

static tw_status call_listed(const tw_op *op, tw_tensor **outputs, int room, uint64_t kinds, va_list list)
{
    operand operands[TW_MAX_OPERANDS];
    int count = operands_read(operands, kinds, list);
    tw_tensor *inputs[TW_MAX_OPERANDS], *made[TW_MAX_OPERANDS]; /* made: those inputs that are released here */
    tw_attr attrs[TW_MAX_OPERANDS];
    int input_count = 0, attr_count = 0, made_count = 0;
    tw_status status = TW_OK;
    for (int i = 0; i < room; i++)
        outputs[i] = NULL;
    for (int i = 0; i < count && status == TW_OK; i++) {
        const operand *o = &operands[i];
        tw_tensor *input = o->tensor;
        if (o->kind == TW_OPERAND_ATTR) {
            attrs[attr_count++] = *o->attr;
            continue;
        }
        if (o->kind != TW_OPERAND_TENSOR)
            made[made_count++] = input = o->kind == TW_OPERAND_NUMBER
                                             ? tw__grad_constant(o->number, first_tensor(operands, count))
                                         : o->kind == TW_OPERAND_INT ? tw_tensor_int((int32_t)o->integer)
                                                                     : tw_tensor_int64(o->integer);
        if (!input)
            status = tw__fail(TW_INVALID_ARGUMENT, "%s: input %d is NULL", op->name, input_count);
        inputs[input_count++] = input;
    }
    if (status == TW_OK)
        status = tw__apply(op, inputs, input_count, attrs, attr_count, outputs, &room);
    while (made_count > 0)
        tw_release(made[--made_count]);
    return status;
}

tw_status tw__call_all(const tw_op *op, tw_tensor **outputs, int room, uint64_t kinds, ...)
{
    va_list list;
    va_start(list, kinds);
    tw_status status = call_listed(op, outputs, room, kinds, list);
    va_end(list);
    return status;
}

/* The tensors at the beginning, into `inputs`; how many, -1: there is something else. The usual call has nothing else. */
static inline __attribute__((always_inline)) int read_tensors(tw_tensor **inputs, uint64_t kinds, va_list list)
{
    int count = 0;
    for (; kinds; kinds >>= TW_OPERAND_BITS) {
        if ((kinds & ((1 << TW_OPERAND_BITS) - 1)) != TW_OPERAND_TENSOR || !(inputs[count++] = va_arg(list, tw_tensor *)))
            return -1;
    }
    return count;
}

static tw_tensor *call_any(const tw_op *op, uint64_t kinds, va_list list)
{
    tw_tensor *output = NULL;
    return call_listed(op, &output, 1, kinds, list) == TW_OK ? output : NULL;
}

tw_tensor *tw__call_of(const tw_op *op, uint64_t kinds, ...)
{
    tw_tensor *inputs[TW_MAX_OPERANDS], *output;
    va_list list;
    va_start(list, kinds);
    int count = read_tensors(inputs, kinds, list);
    va_end(list);
    if (count >= 0)
        return tw__call(op, inputs, count, NULL, 0);
    va_start(list, kinds);
    output = call_any(op, kinds, list);
    va_end(list);
    return output;
}

tw_tensor *tw__temp_of(tw__temps *t, const tw_op *op, uint64_t kinds, ...)
{
    tw_tensor *inputs[TW_MAX_OPERANDS], *output;
    va_list list;
    va_start(list, kinds);
    int count = read_tensors(inputs, kinds, list);
    va_end(list);
    if (count >= 0)
        return tw__temp(t, tw__call(op, inputs, count, NULL, 0));
    va_start(list, kinds);
    output = call_any(op, kinds, list);
    va_end(list);
    return tw__temp(t, output);
}

tw_status tw__temp_all(tw__temps *t, tw_tensor *const *tensors, int count, tw_status status)
{
    for (int i = 0; i < count; i++) {
        if (tensors[i] && !tw__temp(t, tensors[i]))
            status = tw__error_status();
    }
    return status;
}

tw_tensor *tw__cast(tw_tensor *tensor, tw_dtype dtype)
{
    if (!tensor || tensor->dtype == dtype)
        return tw_retain(tensor);
    tw_attr target = TW_A_TYPE("DstT", dtype);
    return tw__call(&tw__op_Cast, &tensor, 1, &target, 1);
}

void tw__scalar_set(tw_tensor *scalar, double value)
{
    if (scalar->dtype == TW_FLOAT32) /* the usual one */
        *(float *)scalar->data = (float)value;
    else if (tw__cast_has(TW_FLOAT64, scalar->dtype))
        tw__cast_run(TW_FLOAT64, scalar->dtype, &value, scalar->data, 1, false);
}

tw_tensor *tw__float_scalar(tw_dtype dtype, double value)
{
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_TYPE_ERROR, "values of dtype %s, expected floats", tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *scalar = tw_tensor_new(dtype, TW_SCALAR, NULL);
    if (scalar)
        tw__scalar_set(scalar, value);
    return scalar;
}

tw_tensor *tw__count_scalar(tw_tensor *tensor, tw_dtype dtype)
{
    if (!tensor || tensor->count >= 0)
        return !tensor ? NULL : tw__float_scalar(dtype, (double)tensor->count);
    tw_auto tw_tensor *size = TW_CALL(Size, tensor);
    return tw__cast(size, dtype);
}

tw_tensor *tw__reduce_axis(const tw_op *op, tw_tensor *tensor, int64_t axis, bool keep_dims)
{
    if (!tensor)
        return NULL;
    tw_auto tw_tensor *indices = axis == TW_NO_INT ? tw__all_axes(tensor) : tw__ints_tensor(&axis, 1, TW_INT32);
    tw_attr keep = TW_A_BOOL("keep_dims", keep_dims);
    tw_tensor *output = tw__call(op, TW_IN(tensor, indices), 2, &keep, 1);
    return output;
}

tw_tensor *tw__grad_constant(double value, const tw_tensor *like)
{
    if (!like)
        return NULL;
    if (like->dtype != TW_FLOAT32 && !tw__cast_has(TW_FLOAT64, like->dtype)) {
        tw__fail(TW_INVALID_ARGUMENT, "a number is needed, got a tensor of dtype %s", tw_dtype_name(like->dtype));
        return NULL;
    }
    tw_tensor *scalar = tw__tensor_empty(like->dtype, &TW_SCALAR);
    if (scalar)
        tw__scalar_set(scalar, value);
    return scalar;
}
