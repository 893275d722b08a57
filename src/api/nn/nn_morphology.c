/* tf.nn: dilation and erosion of images, pooling that tells places, pooling with windows drawn at random. */
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "api/nn/window.h"
#include "api/random/random.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *dilate(tw_tensor *input, tw_tensor *filter, tw_ints strides, tw_ints rates, const char *padding)
{
    tw_attr attrs[] = { TW_A_INTS("strides", strides.items, strides.count), TW_A_INTS("rates", rates.items, rates.count),
                        TW_A_STRING("padding", padding ? padding : "") };
    if (!input || !filter || !strides.given || !rates.given || !padding) {
        tw__fail(TW_VALUE_ERROR, "dilation2d: the filter, strides, dilations and padding must be given");
        return NULL;
    }
    return tw__call(&tw__op_Dilation2D, TW_IN(input, filter), 2, attrs, 3);
}

/* The dilation of what is turned upside down, by a filter turned around. */
static tw_tensor *erode(tw_tensor *value, tw_tensor *filter, tw_ints strides, tw_ints rates, const char *padding)
{
    TW_TEMPS(t);
    static const int64_t axes[] = { 0, 1 };
    tw_tensor *turned = TW_TEMP(ReverseV2, filter, tw__temp_ints(t, axes, 2, TW_INT32)), *opposite = TW_TEMP(Neg, value);
    tw_tensor *made = turned && opposite ? tw__temp(t, dilate(opposite, turned, strides, rates, padding)) : NULL;
    return TW_CALL(Neg, made);
}

static bool channels_last(const char *format)
{
    if (!format || strcmp(format, "NHWC") == 0)
        return true;
    tw__fail(TW_VALUE_ERROR, "`data_format` values other than 'NHWC' are not supported. Received: data_format=%s", format);
    return false;
}

TW_API(nn_dilation2d,
       "nn.dilation2d(input: tensor<T>, filters: tensor<T>, strides: ints, padding: str, data_format: str, dilations: ints, "
       "name: str = None) -> tensor",
       "The greatest sum of a filter [rows, columns, channels] with each window of images.\n"
       "filters: the filter, [rows, columns, channels]")
{
    return channels_last(args->data_format) ? dilate(args->input, args->filters, args->strides, args->dilations, args->padding)
                                            : NULL;
}

TW_API(nn_erosion2d,
       "nn.erosion2d(value: tensor<T>, filters: tensor<T>, strides: ints, padding: str, data_format: str, dilations: ints, "
       "name: str = None) -> tensor",
       "The least difference of each window of images and a filter [rows, columns, channels].\n"
       "filters: the filter, [rows, columns, channels]")
{
    return channels_last(args->data_format) ? erode(args->value, args->filters, args->strides, args->dilations, args->padding)
                                            : NULL;
}

TW_API(v1_dilation2d,
       "compat.v1.nn.dilation2d(input: tensor<T>, filter: tensor<T> = None, strides: ints = None, rates: ints = None, "
       "padding: str = None, name: str = None, filters: tensor<T> = None, dilations: ints = None) -> tensor",
       "The greatest sum of a filter [rows, columns, channels] with each window of images.\n"
       "filter: the filter, [rows, columns, channels]\n"
       "filters: the same as `filter`\n"
       "rates: the distance between the elements of a window along each dimension\n"
       "dilations: the same as `rates`")
{
    return dilate(args->input, args->filter ? args->filter : args->filters, args->strides,
                  args->rates.given ? args->rates : args->dilations, args->padding);
}

TW_API(
    v1_erosion2d,
    "compat.v1.nn.erosion2d(value: tensor<T>, kernel: tensor<T>, strides: ints, rates: ints, padding: str, name: str = None) -> "
    "tensor",
    "The least difference of each window of images and a filter [rows, columns, channels].\n"
    "kernel: the filter, [rows, columns, channels]\n"
    "rates: the distance between the elements of a window along each dimension")
{
    return erode(args->value, args->kernel, args->strides, args->rates, args->padding);
}

/* ---- pooling ---- */

TW_API(nn_max_pool_with_argmax,
       "nn.max_pool_with_argmax(input: tensor, ksize: ints, strides: ints, padding: str, data_format: str = NHWC, "
       "output_dtype: dtype = int64, include_batch_in_index: bool = False, name: str = None) -> tensors<MaxPoolWithArgmax>",
       "The greatest value of each window of images, and where it stands.\n"
       "output_dtype: the dtype of the positions\n"
       "include_batch_in_index: True: positions count through the whole batch; False: each image begins at 0\n"
       "returns: the greatest values, and their positions in the flat image")
{
    tw__nn_window w;
    tw_value padding = { .kind = TW_VALUE_STR, .s = { args->padding, strlen(args->padding) } };
    if (args->data_format && strcmp(args->data_format, "NHWC") != 0) {
        tw__fail(TW_VALUE_ERROR, "`data_format` values other than 'NHWC' are not supported. Received: data_format=%s",
                 args->data_format);
        return (tw_tensors){ 0 };
    }
    if (tw__nn_window_read(&w, 2, "NHWC", (tw__nn_given){ args->strides, "strides" }, (tw__nn_given){ args->ksize, "ksize" },
                           &padding) != TW_OK)
        return (tw_tensors){ 0 };
    tw_attr attrs[] = { TW_A_INTS("ksize", w.others, 4), TW_A_INTS("strides", w.strides, 4), TW_A_STRING("padding", w.padding),
                        TW_A_TYPE("Targmax", args->output_dtype),
                        TW_A_BOOL("include_batch_in_index", args->include_batch_in_index) };
    return tw__call_many(&tw__op_MaxPoolWithArgmax, TW_IN(args->input), 1, attrs, 5, 2);
}

/* A number for rows and columns (of the greatest values only), or four. */
static bool read_ratios(const tw_value *given, bool mean, double *ratios)
{
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (mean && !list) {
        tw__fail(TW_TYPE_ERROR, "Expected list for 'pooling_ratio' argument to 'fractional_avg_pool' Op");
        return false;
    }
    for (int i = 0; i < 4; i++) {
        const tw_value *item = list && given->list.count == 4 ? &given->list.items[i] : given;
        bool number = item->kind == TW_VALUE_FLOAT || item->kind == TW_VALUE_INT;
        ratios[i] = !list && i % 3 == 0 ? 1 : item->kind == TW_VALUE_INT ? (double)item->i : number ? item->f : 0;
        if (!number || (i % 3 == 0 && ratios[i] != 1)) {
            tw__fail(mean ? TW_INVALID_ARGUMENT : TW_VALUE_ERROR,
                     "`pooling_ratio` should be %sfour numbers with first and last elements with value 1.0.",
                     mean ? "" : "a number, or ");
            return false;
        }
    }
    return true;
}

static tw_tensors fractional(const tw_op *op, bool mean, tw_tensor *value, const tw_value *ratio, bool pseudo, bool overlapping,
                             int64_t seed)
{
    double ratios[4];
    tw__seeds seeds = { 0 };
    if (!read_ratios(ratio, mean, ratios))
        return (tw_tensors){ 0 };
    if (seed != 0)
        seeds = tw__seed_pair(seed);
    tw_attr attrs[] = { { .name = "pooling_ratio", .kind = TW_ATTR_FLOATS, .count = 4, .floats = ratios },
                        TW_A_BOOL("pseudo_random", pseudo),
                        TW_A_BOOL("overlapping", overlapping),
                        TW_A_BOOL("deterministic", seed != 0),
                        TW_A_INT("seed", seeds.seed),
                        TW_A_INT("seed2", seeds.seed2) };
    return tw__call_many(op, TW_IN(value), 1, attrs, 6, 3);
}

TW_API(
    nn_fractional_max_pool,
    "nn.fractional_max_pool(value: tensor, pooling_ratio: value, pseudo_random: bool = False, overlapping: bool = False, "
    "seed: int = 0, name: str = None) -> tensors",
    "The greatest value of windows whose sizes vary at random, and where their rows and columns begin.\n"
    "pooling_ratio: how much smaller rows and columns get: a number from 1 on, or one for each of the four dimensions, the first and the last 1\n"
    "pseudo_random: True: sizes of windows follow a pattern with a random start; False: they are in random order\n"
    "overlapping: True: windows share their borders\n"
    "returns: the result, where rows begin, and where columns begin")
{
    return fractional(&tw__op_FractionalMaxPool, false, args->value, &args->pooling_ratio, args->pseudo_random, args->overlapping,
                      args->seed);
}

TW_API(
    nn_fractional_avg_pool,
    "nn.fractional_avg_pool(value: tensor, pooling_ratio: value, pseudo_random: bool = False, overlapping: bool = False, "
    "seed: int = 0, name: str = None) -> tensors",
    "The mean of windows whose sizes vary at random, and where their rows and columns begin.\n"
    "pooling_ratio: how much smaller rows and columns get: a number from 1 on, or one for each of the four dimensions, the first and the last 1\n"
    "pseudo_random: True: sizes of windows follow a pattern with a random start; False: they are in random order\n"
    "overlapping: True: windows share their borders\n"
    "returns: the result, where rows begin, and where columns begin")
{
    return fractional(&tw__op_FractionalAvgPool, true, args->value, &args->pooling_ratio, args->pseudo_random, args->overlapping,
                      args->seed);
}
