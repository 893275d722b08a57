/* Quantized numbers: real = (number - zero point) * scale, for the whole tensor or along one of its dimensions. Operators here
 * compute with floats: what they take is dequantized, what they give is rounded again. */
#include "lite/lite.h"
#include "rows.h"

static bool holds_steps(tw_dtype dtype)
{
    return dtype == TW_INT8 || dtype == TW_UINT8 || dtype == TW_INT16 || dtype == TW_INT32;
}

bool tw__lite_is_quantized(const tw__lite_tensor *tensor)
{
    return tensor->scales.count > 0 && holds_steps(tensor->dtype);
}

/* The scales or zero points as floats: a scalar, or of a shape that is broadcast along the tensor's dimension. */
static tw_tensor *along(tw__temps *t, const tw__lite_tensor *tensor, bool zeros, int rank)
{
    const tw__flat_vector *list = zeros ? &tensor->zeros : &tensor->scales;
    int64_t count = tensor->scales.count;
    bool per_axis = count > 1;
    if ((zeros && list->count && list->count != count) || (per_axis && (tensor->dimension < 0 || tensor->dimension >= rank))) {
        tw__fail(TW_INVALID_ARGUMENT, "tensor '%s' has %lld scales and %lld zero points along dimension %d of %d",
                 tensor->name.data, (long long)count, (long long)tensor->zeros.count, tensor->dimension, rank);
        return NULL;
    }
    tw_shape shape = { .rank = per_axis ? rank - tensor->dimension : 0 };
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = i ? 1 : count;
    tw_tensor *made = tw__temp(t, tw_tensor_new(TW_FLOAT32, shape, NULL));
    for (int64_t i = 0; made && list->count && i < count; i++)
        ((float *)made->data)[i] = zeros ? (float)tw__flat_int_at(list, i, 8) : tw__flat_float_at(list, i);
    return made;
}

tw_tensor *tw__lite_dequantize(tw__temps *t, const tw__lite_tensor *tensor, tw_tensor *value)
{
    tw_tensor *floats = tw__temp_cast(t, value, TW_FLOAT32);
    if (!floats || value->dtype == TW_FLOAT16 || value->dtype == TW_FLOAT32)
        return floats;
    if (!tw__lite_is_quantized(tensor)) {
        tw__fail(TW_INVALID_ARGUMENT, "tensor '%s' is %s without a scale", tensor->name.data, tw_dtype_name(tensor->dtype));
        return NULL;
    }
    tw_tensor *zero = along(t, tensor, true, value->shape.rank), *scale = along(t, tensor, false, value->shape.rank);
    return TW_TEMP(Mul, TW_TEMP(Sub, floats, zero), scale);
}

tw_tensor *tw__lite_quantize(tw__temps *t, const tw__lite_tensor *tensor, tw_tensor *value)
{
    static const struct {
        tw_dtype dtype;
        double least, most;
    } ranges[] = { { TW_INT8, -128, 127 }, { TW_UINT8, 0, 255 }, { TW_INT16, -32768, 32767 } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (ranges[i].dtype != tensor->dtype)
            continue;
        tw_tensor *scale = along(t, tensor, false, value->shape.rank), *zero = along(t, tensor, true, value->shape.rank);
        tw_tensor *real = TW_TEMP(RealDiv, value, scale), *whole = TW_TEMP(Floor, TW_TEMP(AddV2, TW_TEMP(Abs, real), 0.5));
        tw_tensor *steps = TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(Sign, real), whole), zero); /* halves away from zero */
        steps = TW_TEMP(Minimum, TW_TEMP(Maximum, steps, ranges[i].least), ranges[i].most);
        return tw__temp_cast(t, steps, tensor->dtype);
    }
    tw__fail(TW_UNIMPLEMENTED, "tensor '%s': quantizing to %s is not supported", tensor->name.data, tw_dtype_name(tensor->dtype));
    return NULL;
}

tw_status tw__lite_dequantizes(tw__lite_call *c)
{
    return tw__lite_give(c, tw__lite_dequantize(c->t, tw__lite_input(c, 0), c->in[0]));
}

tw_status tw__lite_quantizes(tw__lite_call *c)
{
    tw_tensor *floats = tw__lite_dequantize(c->t, tw__lite_input(c, 0), c->in[0]);
    const tw__lite_tensor *target = tw__lite_output(c, 0);
    return tw__lite_give(c, floats && target ? tw__lite_quantize(c->t, target, floats) : NULL);
}
