/* tf.quantization: functions that are more than an op. */
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *both(const tw_op *op, tw_tensor *input, tw_tensor *low, tw_tensor *high, const tw_attr *attrs, int count)
{
    TW_TEMPS(t);
    return tw__call(op, TW_IN(input, tw__temp_cast(t, low, input->dtype), tw__temp_cast(t, high, input->dtype)), 3, attrs, count);
}

#define BOTH_ATTRS                                                                               \
    TW_WITH(TW_A_BOOL("signed_input", args->signed_input), TW_A_INT("num_bits", args->num_bits), \
            TW_A_BOOL("range_given", args->range_given),                                         \
            TW_A_STRING("round_mode", args->round_mode ? args->round_mode : "HALF_TO_EVEN"),     \
            TW_A_BOOL("narrow_range", args->narrow_range), TW_A_INT("axis", args->axis == TW_NO_INT ? -1 : args->axis))

TW_API(quantize_and_dequantize,
       "quantization.quantize_and_dequantize(input: tensor, input_min: tensor<first>, input_max: tensor<first>, "
       "signed_input: bool = True, num_bits: int = 8, range_given: bool = False, round_mode: str = HALF_TO_EVEN, "
       "name: str = None, narrow_range: bool = False, axis: int = None) -> tensor",
       "Numbers rounded to what integers of num_bits can tell apart; the gradient passes.\n"
       "input: the numbers to round\n"
       "input_min: the least number of the range; used where `range_given`\n"
       "input_max: the greatest number of the range; used where `range_given`\n"
       "signed_input: True: the integers have a sign\n"
       "range_given: False: the range is that of the input itself\n"
       "round_mode: how halves are rounded: `HALF_TO_EVEN` or `HALF_UP`\n"
       "axis: the dimension that has a range for each of its parts; None: one range for all")
{
    return both(&tw__op_QuantizeAndDequantizeV2, args->input, args->input_min, args->input_max, BOTH_ATTRS, 6);
}

TW_API(quantize_and_dequantize_v2,
       "quantization.quantize_and_dequantize_v2(input: tensor, input_min: tensor<first>, input_max: tensor<first>, "
       "signed_input: bool = True, num_bits: int = 8, range_given: bool = False, round_mode: str = HALF_TO_EVEN, "
       "name: str = None, narrow_range: bool = False, axis: int = None) -> tensor",
       "Numbers rounded to what integers of num_bits can tell apart; the gradient passes between min and max.\n"
       "input: the numbers to round\n"
       "input_min: the least number of the range; used where `range_given`\n"
       "input_max: the greatest number of the range; used where `range_given`\n"
       "signed_input: True: the integers have a sign\n"
       "range_given: False: the range is that of the input itself\n"
       "round_mode: how halves are rounded: `HALF_TO_EVEN` or `HALF_UP`\n"
       "axis: the dimension that has a range for each of its parts; None: one range for all")
{
    return both(&tw__op_QuantizeAndDequantizeV4, args->input, args->input_min, args->input_max, BOTH_ATTRS, 6);
}

#define FAKE_GRADIENT(op_)                                                                      \
    tw__call_many(&tw__op_##op_, TW_IN(args->gradients, args->inputs, args->min, args->max), 4, \
                  TW_WITH(TW_A_INT("num_bits", args->num_bits), TW_A_BOOL("narrow_range", args->narrow_range)), 2, 3)

TW_API(
    fake_quant_with_min_max_vars_gradient,
    "quantization.fake_quant_with_min_max_vars_gradient|compat.v1.fake_quant_with_min_max_vars_gradient(gradients: tensor<float32>, inputs: tensor<float32>, "
    "min: tensor<float32>, max: tensor<float32>, num_bits: int = 8, narrow_range: bool = False, name: str = None) -> tensors",
    "The gradient of fake_quant_with_min_max_vars by inputs, min and max.\n"
    "gradients: the gradient by the result\n"
    "inputs: the numbers that were rounded\n"
    "min: the lower end of the range\n"
    "max: the upper end of the range\n"
    "returns: the gradients by `inputs`, `min` and `max`")
{
    return FAKE_GRADIENT(FakeQuantWithMinMaxVarsGradient);
}

TW_API(
    fake_quant_with_min_max_vars_per_channel_gradient,
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient|compat.v1.fake_quant_with_min_max_vars_per_channel_gradient(gradients: tensor<float32>, inputs: tensor<float32>, "
    "min: tensor<float32>, max: tensor<float32>, num_bits: int = 8, narrow_range: bool = False, name: str = None) -> tensors",
    "The gradient of fake_quant_with_min_max_vars_per_channel by inputs, min and max.\n"
    "gradients: the gradient by the result\n"
    "inputs: the numbers that were rounded\n"
    "min: the lower end of each channel's range\n"
    "max: the upper end of each channel's range\n"
    "returns: the gradients by `inputs`, `min` and `max`")
{
    return FAKE_GRADIENT(FakeQuantWithMinMaxVarsPerChannelGradient);
}

TW_API(
    quantize,
    "quantization.quantize|compat.v1.quantize(input: tensor<float32>, min_range: tensor<float32>, max_range: tensor<float32>, T: dtype, "
    "mode: str = MIN_COMBINED, round_mode: str = HALF_AWAY_FROM_ZERO, name: str = None, narrow_range: bool = False, "
    "axis: int = None, ensure_minimum_range: float = 0.01) -> tensors<QuantizeV2>",
    "Floats of a range as small integers, and the range that they stand for.\n"
    "input: the floats\n"
    "min_range: the lower end of the range, or one for each part along `axis`\n"
    "max_range: the upper end of the range, or one for each part along `axis`\n"
    "T: the dtype of the integers, such as `tf.qint8`\n"
    "mode: how the range is laid on the integers: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`\n"
    "round_mode: how halves are rounded in the mode `SCALED`: `HALF_AWAY_FROM_ZERO` or `HALF_TO_EVEN`\n"
    "axis: the dimension that has a range for each of its parts; None: one range for all\n"
    "ensure_minimum_range: a range that is smaller is widened to it\n"
    "returns: the integers, and the ends of the range that they stand for")
{
    tw_attr attrs[] = { TW_A_TYPE("T", args->T),
                        TW_A_STRING("mode", args->mode),
                        TW_A_STRING("round_mode", args->round_mode),
                        TW_A_BOOL("narrow_range", args->narrow_range),
                        TW_A_INT("axis", args->axis == TW_NO_INT ? -1 : args->axis),
                        TW_A_FLOAT("ensure_minimum_range", args->ensure_minimum_range) };
    return tw__call_many(&tw__op_QuantizeV2, TW_IN(args->input, args->min_range, args->max_range), 3, attrs, 6, 3);
}

TW_API(
    dequantize,
    "quantization.dequantize|compat.v1.dequantize(input: tensor, min_range: tensor<float32>, max_range: tensor<float32>, "
    "mode: str = MIN_COMBINED, name: str = None, axis: int = None, narrow_range: bool = False, dtype: dtype = float32) -> tensor",
    "Small integers as the floats of a range that they stand for.\n"
    "input: the integers\n"
    "min_range: the float that the least of them stands for, or one for each part along `axis`\n"
    "max_range: the float that the greatest of them stands for, or one for each part along `axis`\n"
    "mode: how the range is laid on the integers: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`\n"
    "axis: the dimension that has a range for each of its parts; None: one range for all\n"
    "dtype: the dtype of the result")
{
    tw_attr attrs[] = { TW_A_STRING("mode", args->mode), TW_A_BOOL("narrow_range", args->narrow_range),
                        TW_A_INT("axis", args->axis == TW_NO_INT ? -1 : args->axis), TW_A_TYPE("dtype", args->dtype) };
    return tw__call(&tw__op_Dequantize, TW_IN(args->input, args->min_range, args->max_range), 3, attrs, 4);
}
