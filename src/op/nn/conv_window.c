/* Sliding windows: see conv_window.h. With SAME an image of n has ceil(n / stride) places and the padding is split evenly, the
 * odd one behind; else as many as fit. */
#include "op/nn/conv_window.h"

static bool has_attr(const tw_op *op, const char *name)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    for (int i = 0; signature && i < signature->attr_count; i++) {
        if (strcmp(signature->attrs[i].name, name) == 0)
            return true;
    }
    return false;
}

tw_status tw__window_padding(const tw_op *op, const tw_attr *attrs, tw__window *window)
{
    window->padding = tw__attr_find(op, attrs, "padding")->s.data[0];
    const tw_string *format = &tw__attr_find(op, attrs, "data_format")->s;
    window->channels_first = format->size > 1 && format->data[1] == 'C';
    if (format->size > 4)
        return TW_WINDOW_FAIL(op, TW_UNIMPLEMENTED, "the data_format %.*s", (int)format->size, format->data);
    if (!has_attr(op, "explicit_paddings"))
        return TW_OK;
    const tw_attr *given = tw__attr_find(op, attrs, "explicit_paddings");
    if (window->padding != 'E') {
        if (given->count)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT,
                                  "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
        return TW_OK;
    }
    if (given->count != 8)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "explicit_paddings attribute must contain 8 values, but got: %d",
                              given->count);
    for (int i = 0; i < 8; i++) {
        if (given->ints[i] < 0 || given->ints[i] > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "All elements of explicit_paddings must be nonnegative");
    }
    int rows = window->channels_first ? 4 : 2, channels = window->channels_first ? 2 : 6;
    if (given->ints[0] || given->ints[1] || given->ints[channels] || given->ints[channels + 1])
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT,
                              "Nonzero explicit padding in the batch or depth dimensions is not supported");
    for (int i = 0; i < 2; i++) {
        window->before[i] = given->ints[rows + 2 * i];
        window->after[i] = given->ints[rows + 2 * i + 1];
    }
    return TW_OK;
}

tw_status tw__window_places(const tw_op *op, const tw__window *window, int axis, int64_t in, int64_t size, int64_t *places,
                            int64_t *before, int64_t *after)
{
    int64_t stride = window->stride[axis], whole = 0;
    *places = -1;
    *before = window->padding == 'E' ? window->before[axis] : 0;
    *after = window->padding == 'E' ? window->after[axis] : 0;
    if (in < 0 || (size < 0 && window->padding != 'S'))
        return TW_OK;
    if (size > INT32_MAX || in > INT64_MAX / 4)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "a window of size %lld on %lld places is too large", (long long)size,
                              (long long)in);
    if (size >= 0)
        whole = (size - 1) * window->dilation[axis] + 1;
    if (window->padding == 'S') {
        *places = in / stride + (in % stride != 0);
        int64_t needed = size >= 0 && *places ? (*places - 1) * stride + whole - in : 0;
        if (needed > 0) {
            *before = needed / 2;
            *after = needed - needed / 2;
        }
        return TW_OK;
    }
    *places = (in + *before + *after - whole + stride) / stride;
    if (*places < 0)
        return TW_WINDOW_FAIL(
            op, TW_INVALID_ARGUMENT,
            "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, stride: %lld]",
            (long long)*places, (long long)in, (long long)whole, (long long)stride);
    return TW_OK;
}

tw_status tw__window_check_count(const tw_op *op, const tw_shape *shape)
{
    int64_t count;
    if (!tw__shape_known(shape))
        return TW_OK;
    if (tw__shape_count(shape, &count) != TW_OK) {
        tw__error_prefix("%s: ", op->name);
        return tw__error_status();
    }
    return TW_OK;
}

tw_status tw__window_in_graph(const tw__inference *in)
{
    bool convolves = in->input_count > 1; /* a filter, where pools have an attr */
    if (in->shapes[0]->rank != 4 || in->out_shapes[0].rank != 4)
        return TW_OK;
    tw_string format = TW_ATTR(in, "data_format")->s;
    int first = format.size > 1 && format.data[1] == 'C' ? 2 : 1;
    for (int i = first; i < first + 2; i++) {
        int64_t size = in->shapes[0]->dims[i],
                window = convolves ? in->shapes[1]->dims[i - first] : TW_ATTR(in, "ksize")->ints[i];
        if (convolves && (__builtin_mul_overflow(window - 1, TW_ATTR(in, "dilations")->ints[i], &window) ||
                          __builtin_add_overflow(window, 1, &window)))
            return TW_OK; /* what computes the shape has seen to it */
        if (in->out_shapes[0].dims[i] == 0 && size > 0 && window > size)
            return tw__fail(TW_INVALID_ARGUMENT, "Negative dimension size caused by subtracting %lld from %lld",
                            (long long)window, (long long)size);
    }
    return TW_OK;
}
