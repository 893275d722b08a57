/* Where a convolution goes: empty ones end here, half and bfloat16 become float, floats try the library first. */
#include "kernel/conv/conv.h"
#include "kernel/kernel.h"

static bool is_small_float(tw_dtype dtype)
{
    return dtype == TW_FLOAT16 || dtype == TW_BFLOAT16;
}

/* The same in float, through buffers. */
static tw_status run_as_float(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, int64_t a_count,
                              const void *b, int64_t b_count, void *result, int64_t result_count)
{
    tw__buffer *x = tw__buffer_new((size_t)a_count * sizeof(float)),
               *y = x ? tw__buffer_new((size_t)b_count * sizeof(float)) : NULL;
    tw__buffer *z = y ? tw__buffer_new((size_t)result_count * sizeof(float)) : NULL;
    tw_status status = z ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        tw__small_float_read(dtype, a, x->data, a_count);
        tw__small_float_read(dtype, b, y->data, b_count);
        status = tw__conv_run(kind, TW_FLOAT32, conv, x->data, y->data, z->data);
    }
    if (status == TW_OK)
        tw__small_float_write(dtype, z->data, result, result_count);
    if (z)
        tw__buffer_release(z);
    if (y)
        tw__buffer_release(y);
    if (x)
        tw__buffer_release(x);
    return status;
}

static tw_status run(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, const void *b, void *result,
                     const tw__epilogue *then);

/* A filter of one pixel with strides: the pixels that count are copied together first, or their gradients apart at last. */
static tw_status run_pixels(tw__conv_kind kind, const tw__conv *conv, const void *a, const void *b, void *result,
                            const tw__epilogue *then)
{
    tw__conv plain = tw__conv_without_strides(conv);
    tw__buffer *pixels = tw__buffer_new((size_t)tw__conv_input_count(&plain) * sizeof(float));
    if (!pixels)
        return tw__error_status();
    if (kind != TW_CONV_INPUT)
        tw__conv_take_pixels(conv, a, pixels->data);
    tw_status status = kind == TW_CONV_INPUT ? run(kind, TW_FLOAT32, &plain, a, b, pixels->data, NULL)
                                             : run(kind, TW_FLOAT32, &plain, pixels->data, b, result, then);
    if (kind == TW_CONV_INPUT && status == TW_OK)
        tw__conv_give_pixels(conv, pixels->data, result);
    tw__buffer_release(pixels);
    return status;
}

static tw_status run(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, const void *b, void *result,
                     const tw__epilogue *then)
{
    int64_t input = tw__conv_input_count(conv), output = tw__conv_output_count(conv), filter = tw__conv_filter_count(conv);
    int64_t count = kind == TW_CONV_OUTPUT ? output : kind == TW_CONV_INPUT ? input : filter;
    if (count == 0)
        return TW_OK;
    tw_status status = TW_OK;
    if (input == 0 || output == 0 || filter == 0)
        memset(result, 0, (size_t)count * tw__element_size(dtype));
    else if (is_small_float(dtype))
        status = run_as_float(kind, dtype, conv, a, kind == TW_CONV_INPUT ? filter : input, b,
                              kind == TW_CONV_OUTPUT ? filter : output, result, count);
    else if (dtype == TW_FLOAT32 && tw__conv_strides_only(conv))
        return run_pixels(kind, conv, a, b, result, then);
    else if (dtype == TW_FLOAT32 && tw__conv_onednn(kind, conv, a, b, result, then, &status))
        return status;
    else
        status = tw__conv_plain(kind, dtype, conv, a, b, result);
    if (status == TW_OK && then)
        tw__epilogue_run(then, dtype, result, count / conv->out_channels, conv->out_channels);
    return status;
}

tw_status tw__conv_run(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, const void *b, void *result)
{
    return run(kind, dtype, conv, a, b, result, NULL);
}

tw_status tw__conv_then(tw_dtype dtype, const tw__conv *conv, const void *input, const void *filter, void *output,
                        const tw__epilogue *then)
{
    return run(TW_CONV_OUTPUT, dtype, conv, input, filter, output, then);
}
