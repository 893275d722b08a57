/* Reading the arguments of sliding windows (window.h). */
#include "api/nn/window.h"

static const char *const format_names[3][2] = { { "NWC", "NCW" }, { "NHWC", "NCHW" }, { "NDHWC", "NCDHW" } };

static tw_status read_format(tw__nn_window *w, int axes, const char *text)
{
    const char *const *names = format_names[axes - 1];
    w->dimensions = axes == 3 ? 5 : 4;
    w->channels_first = text && strcmp(text, names[0]) != 0;
    if (w->channels_first && strcmp(text, names[1]) != 0)
        return tw__fail(TW_VALUE_ERROR, "`data_format` must be '%s' or '%s'. Received: data_format=%s", names[0], names[1], text);
    w->format = format_names[w->dimensions - 3][w->channels_first];
    return TW_OK;
}

/* One number per dimension, from what was given for the `axes` last spatial axes. */
static tw_status read_numbers(const tw__nn_window *w, tw__nn_given given, int axes, int64_t *out)
{
    tw_ints numbers = given.numbers;
    int first = w->channels_first ? 2 : 1, missing = w->dimensions - 2 - axes;
    for (int i = 0; i < w->dimensions; i++)
        out[i] = 1;
    if (!numbers.given)
        return TW_OK;
    if (numbers.count != 1 && numbers.count != axes && numbers.count != axes + 2)
        return tw__fail(TW_VALUE_ERROR, "%s should be of length 1, %d or %d. Received: %s of length %lld", given.name, axes,
                        axes + 2, given.name, (long long)numbers.count);
    if (numbers.count == axes + 2) {
        out[0] = numbers.items[0];
        out[w->channels_first ? 1 : w->dimensions - 1] = numbers.items[w->channels_first ? 1 : axes + 1];
    }
    for (int i = 0; i < axes; i++)
        out[first + missing + i] = numbers.items[numbers.count == 1 ? 0 : numbers.count == axes ? i : i + first];
    return TW_OK;
}

static bool is_sequence(const tw_value *value, int64_t count)
{
    return (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) && value->list.count == count;
}

/* "SAME", "VALID", or a pair of numbers for each dimension. */
static tw_status read_padding(tw__nn_window *w, const tw_value *given)
{
    if (given->kind == TW_VALUE_STR && given->s.size < sizeof w->text) {
        memcpy(w->text, given->s.data, given->s.size);
        w->padding = w->text;
        return TW_OK;
    }
    w->padding = "EXPLICIT";
    bool good = w->dimensions == 4 && is_sequence(given, w->dimensions);
    for (int i = 0; good && i < w->dimensions; i++) {
        const tw_value *pair = &given->list.items[i];
        good = is_sequence(pair, 2);
        for (int k = 0; good && k < 2; k++) {
            good = pair->list.items[k].kind == TW_VALUE_INT;
            w->explicit[w->explicit_count++] = pair->list.items[k].i;
        }
    }
    if (good)
        return TW_OK;
    if (w->dimensions == 5)
        return tw__fail(TW_VALUE_ERROR, "`padding` must be 'SAME' or 'VALID'");
    return tw__fail(TW_VALUE_ERROR, "`padding` must be 'SAME', 'VALID' or a list of %d pairs of integers, one for each dimension",
                    w->dimensions);
}

tw_status tw__nn_window_read(tw__nn_window *w, int axes, const char *format, tw__nn_given strides, tw__nn_given others,
                             const tw_value *padding)
{
    *w = (tw__nn_window){ 0 };
    TW_TRY(read_format(w, axes, format));
    TW_TRY(read_numbers(w, strides, axes, w->strides));
    TW_TRY(read_numbers(w, others, axes, w->others));
    return read_padding(w, padding);
}

int tw__nn_window_attrs(const tw__nn_window *w, const char *others, tw_attr *attrs)
{
    int count = 0;
    attrs[count++] = TW_A_INTS("strides", w->strides, w->dimensions);
    attrs[count++] = TW_A_INTS(others, w->others, w->dimensions);
    attrs[count++] = TW_A_STRING("padding", w->padding);
    attrs[count++] = TW_A_STRING("data_format", w->format);
    if (w->explicit_count)
        attrs[count++] = TW_A_INTS("explicit_paddings", w->explicit, w->explicit_count);
    return count;
}
