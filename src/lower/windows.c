/* Operations over windows of images and volumes: see lower.h. */
#include "lower/words.h"

static const tw__hlo nothing = { .id = -1 };

/* Windows of numbers that are all NaN have the least number, as on the host. */
static tw__hlo window_start(tw__lowering *l, const char *name, tw_dtype dtype)
{
    static const double least[TW_DTYPE_LIMIT] = { [TW_FLOAT32] = -3.4028234663852886e38,
                                                  [TW_FLOAT64] = -1.7976931348623157e308,
                                                  [TW_FLOAT16] = -65504,
                                                  [TW_BFLOAT16] = -3.3895313892515355e38 };
    bool maximum = strcmp(name, "maximum") == 0 && (unsigned)dtype < TW_DTYPE_LIMIT && least[dtype] < 0;
    return maximum ? tw__hlo_constant(l, dtype, &TW_SCALAR, least[dtype]) : tw__hlo_neutral(l, name, dtype);
}

static void add_array(tw__text *text, const char *name, const int64_t *values, int count)
{
    tw__text_format(text, "%s = array<i64: ", name);
    tw__hlo_ints(text, values, count);
    tw__text_add(text, ">, ");
}

static void add_padding(tw__text *text, const int64_t *pads, int rank)
{
    tw__text_add(text, "padding = dense<[");
    for (int i = 0; i < rank; i++)
        tw__text_format(text, "%s[%lld, %lld]", i ? ", " : "", (long long)pads[2 * i], (long long)pads[2 * i + 1]);
    tw__text_format(text, "]> : tensor<%dx2xi64>}> (", rank);
}

/* A region of two numbers: {…} that returns %s of some type. */
static void add_region(tw__text *text, const char *line, const char *type, const char *result)
{
    tw__text_format(text, "{\n^bb0(%%x: tensor<%s>, %%y: tensor<%s>):\n%%s = stablehlo.%s\nstablehlo.return %%s : tensor<%s>\n}",
                    type, type, line, result);
}

static tw__hlo finish(tw__lowering *l, tw__text *line, tw_dtype dtype, const tw_shape *shape)
{
    tw__hlo result = line->failed ? nothing : tw__hlo_line(l, dtype, shape, "%s", line->data);
    tw__text_free(line);
    return result;
}

tw__hlo tw__hlo_window(tw__lowering *l, const char *name, tw__hlo x, const int64_t *window, const int64_t *strides,
                       const int64_t *dilations, const int64_t *pads, const tw_shape *shape)
{
    static const int64_t ones[TW_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    tw__hlo start = x.id < 0 ? nothing : window_start(l, name, x.dtype), out = { .dtype = x.dtype, .shape = *shape };
    if (start.id < 0)
        return nothing;
    int rank = x.shape.rank;
    const char *type = tw__hlo_dtype(x.dtype);
    tw__text line = { 0 }, add = { 0 };
    tw__text_format(&line, "\"stablehlo.reduce_window\"(%%%d, %%%d) <{", x.id, start.id);
    add_array(&line, "window_dimensions", window, rank);
    add_array(&line, "window_strides", strides, rank);
    add_array(&line, "base_dilations", dilations ? dilations : ones, rank);
    add_array(&line, "window_dilations", ones, rank);
    add_padding(&line, pads, rank);
    tw__text_format(&add, "%s %%x, %%y : tensor<%s>", name, type);
    add_region(&line, add.failed ? "" : add.data, type, type);
    tw__text_free(&add);
    tw__text_format(&line, ") : (%s, tensor<%s>) -> %s", tw__hlo_type_text(x), type, tw__hlo_type_text(out));
    return finish(l, &line, x.dtype, shape);
}

/* GE chooses the first of equal elements. */
tw__hlo tw__hlo_select_and_scatter(tw__lowering *l, tw__hlo x, tw__hlo dy, const int64_t *window, const int64_t *strides,
                                   const int64_t *pads)
{
    tw__hlo zero = NUMBER(x.dtype, 0);
    const char *type = tw__hlo_dtype(x.dtype);
    int rank = x.shape.rank;
    tw__text line = { 0 }, part = { 0 };
    if (x.id < 0 || dy.id < 0 || zero.id < 0)
        return nothing;
    tw__text_format(&line, "\"stablehlo.select_and_scatter\"(%%%d, %%%d, %%%d) <{", x.id, dy.id, zero.id);
    add_array(&line, "window_dimensions", window, rank);
    add_array(&line, "window_strides", strides, rank);
    add_padding(&line, pads, rank);
    tw__text_format(&part, "compare GE, %%x, %%y, FLOAT : (tensor<%s>, tensor<%s>) -> tensor<i1>", type, type);
    add_region(&line, part.failed ? "" : part.data, type, "i1");
    tw__text_free(&part);
    tw__text_add(&line, ", ");
    tw__text_format(&part, "add %%x, %%y : tensor<%s>", type);
    add_region(&line, part.failed ? "" : part.data, type, type);
    tw__text_free(&part);
    tw__text_format(&line, ") : (%s, %s, tensor<%s>) -> %s", tw__hlo_type_text(x), tw__hlo_type_text(dy), type,
                    tw__hlo_type_text(x));
    return finish(l, &line, x.dtype, &x.shape);
}
