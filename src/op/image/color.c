/* Colours: RGBToHSV, HSVToRGB, AdjustContrastv2, AdjustHue, AdjustSaturation; the arithmetic is TensorFlow's. */
#include <math.h>

#include "kernel/kernel.h"
#include "op/image/image.h"
#include "rows.h"

enum { WORTH_A_THREAD = 1 << 13 };

static tw_status need_colors(tw__inference *inference)
{
    const tw_shape *shape = inference->shapes[0];
    int least = inference->op == &tw__op_RGBToHSV || inference->op == &tw__op_HSVToRGB ? 1 : 3;
    TW_TRY(tw__need_rank_at_least(inference, 0, least));
    if (shape->rank > 0 && shape->dims[shape->rank - 1] >= 0 && shape->dims[shape->rank - 1] != 3)
        return tw__fail(TW_INVALID_ARGUMENT, "input must have 3 channels but instead has %lld channels.",
                        (long long)shape->dims[shape->rank - 1]);
    inference->out_shapes[0] = *shape;
    if (inference->input_count > 1 && inference->shapes[1]->rank > 0)
        return tw__fail(TW_INVALID_ARGUMENT, "%s must be scalar: %s", inference->op == &tw__op_AdjustHue ? "delta" : "scale",
                        tw__shape_text(inference->shapes[1]));
    return TW_OK;
}

/* ---- hue, saturation, value ---- */

#define HSV(type, name, absolute)                                                                                          \
    static void rgb_to_hsv_##name(const type *in, type *out)                                                               \
    {                                                                                                                      \
        type r = in[0], g = in[1], b = in[2], value = r > g ? (r > b ? r : b) : (g > b ? g : b);                           \
        type least = r < g ? (r < b ? r : b) : (g < b ? g : b), range = value - least, norm = (type)1 / ((type)6 * range); \
        type h = r == value   ? norm * (g - b)                                                                             \
                 : g == value ? norm * (b - r) + (type)2 / (type)6                                                         \
                              : norm * (r - g) + (type)4 / (type)6;                                                        \
        h = range > 0 ? h : 0;                                                                                             \
        out[0] = h < 0 ? h + 1 : h;                                                                                        \
        out[1] = value > 0 ? range / value : 0;                                                                            \
        out[2] = value;                                                                                                    \
    }                                                                                                                      \
    static type between_##name(type x)                                                                                     \
    {                                                                                                                      \
        return x < 0 ? 0 : x > 1 ? 1 : x;                                                                                  \
    }                                                                                                                      \
    static void hsv_to_rgb_##name(const type *in, type *out)                                                               \
    {                                                                                                                      \
        type h = in[0] * 6, s = in[1], v = in[2], rest = 1 - s;                                                            \
        out[0] = (rest + s * between_##name(absolute(h - 3) - 1)) * v;                                                     \
        out[1] = (rest + s * between_##name(2 - absolute(h - 2))) * v;                                                     \
        out[2] = (rest + s * between_##name(2 - absolute(h - 4))) * v;                                                     \
    }
HSV(float, float, fabsf)
HSV(double, double, fabs)

/* What is done to pixels, three floats or doubles each. */
typedef struct pixels {
    const tw_tensor *in;
    tw_tensor *out;
    void (*work)(const float *in, float amount, float *out, int64_t count);
    void (*work_double)(const double *in, double *out);
    float amount;
} pixels;

enum { TILE = 256 };

static void each_pixel(void *context, int64_t begin, int64_t end)
{
    const pixels *p = context;
    size_t size = tw__element_size(p->in->dtype);
    for (int64_t i = begin; i < end;) {
        const char *in = (const char *)p->in->data + (size_t)i * 3 * size;
        char *out = (char *)p->out->data + (size_t)i * 3 * size;
        int64_t count = end - i < TILE ? end - i : TILE;
        float tile[3 * TILE];
        if (p->in->dtype == TW_FLOAT64) {
            p->work_double((const double *)(const void *)in, (double *)(void *)out);
            i++;
            continue;
        }
        if (p->in->dtype == TW_FLOAT32) {
            p->work((const float *)(const void *)in, p->amount, (float *)(void *)out, count);
        } else {
            tw__small_float_read(p->in->dtype, in, tile, 3 * count);
            p->work(tile, p->amount, tile, count);
            tw__small_float_write(p->in->dtype, tile, out, 3 * count);
        }
        i += count;
    }
}

static tw_status run(tw__kernel *kernel, pixels p)
{
    p.in = kernel->inputs[0];
    p.out = kernel->outputs[0];
    tw__parallel(p.in->count / 3, WORTH_A_THREAD, each_pixel, &p);
    return TW_OK;
}

/* A function of one pixel as one of many. */
#define MANY(name, call)                                                                               \
    static void name(const float *in, __attribute__((unused)) float amount, float *out, int64_t count) \
    {                                                                                                  \
        for (int64_t i = 0; i < count; i++, in += 3, out += 3) {                                       \
            float pixel[3] = { in[0], in[1], in[2] };                                                  \
            call;                                                                                      \
        }                                                                                              \
    }
MANY(many_to_hsv, rgb_to_hsv_float(pixel, out))
MANY(many_to_rgb, hsv_to_rgb_float(pixel, out))

static tw_status to_hsv_compute(tw__kernel *kernel)
{
    return run(kernel, (pixels){ .work = many_to_hsv, .work_double = rgb_to_hsv_double });
}

static tw_status to_rgb_compute(tw__kernel *kernel)
{
    return run(kernel, (pixels){ .work = many_to_rgb, .work_double = hsv_to_rgb_double });
}

TW_OP(RGBToHSV, .inputs = "images: T", .outputs = "output: T", .attrs = "T: {half, bfloat16, float, double} = float",
      .shape = need_colors, .compute = to_hsv_compute, .no_gradient = true,
      .function = "image.rgb_to_hsv(images: tensor<float32>, name: str = None) -> tensor",
      .doc = "Hue, saturation and value of colours in [0, 1].");

TW_OP(HSVToRGB, .inputs = "images: T", .outputs = "output: T", .attrs = "T: {half, bfloat16, float, double} = float",
      .shape = need_colors, .compute = to_rgb_compute,
      .function = "image.hsv_to_rgb(images: tensor<float32>, name: str = None) -> tensor",
      .doc = "Colours of hue, saturation and value.");

/* ---- saturation ---- */

static void adjust_saturation(const float *in, float scale, float *out)
{
    float hsv[3];
    rgb_to_hsv_float(in, hsv);
    float s = between_float(hsv[1] * scale), c = s * hsv[2], least = hsv[2] - c, dh = hsv[0] * 6, rest = dh;
    while (rest <= 0)
        rest += 2;
    while (rest >= 2)
        rest -= 2;
    float x = c * (1 - fabsf(rest - 1));
    const float choice[] = { 0, x, c };
    static const uint8_t parts[][3] = {
        { 2, 1, 0 }, { 1, 2, 0 }, { 0, 2, 1 }, { 0, 1, 2 }, { 1, 0, 2 }, { 2, 0, 1 }, { 0, 0, 0 }
    };
    int part = dh >= 0 && dh < 6 ? (int)dh : 6;
    for (int i = 0; i < 3; i++)
        out[i] = choice[parts[part][i]] + least;
}
MANY(many_saturations, adjust_saturation(pixel, amount, out))

static tw_status saturation_compute(tw__kernel *kernel)
{
    return run(kernel, (pixels){ .work = many_saturations, .amount = *(const float *)kernel->inputs[1]->data });
}

TW_OP(AdjustSaturation, .inputs = "images: T, scale: float", .outputs = "output: T", .attrs = "T: {half, float} = float",
      .shape = need_colors, .compute = saturation_compute, .no_gradient = true, .doc = "Images whose saturation is multiplied.");

/* ---- hue ---- */

/* Which channel is the largest, the middle and the least, in the six parts of the circle. */
static const uint8_t order[6][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 1, 0 }, { 2, 0, 1 }, { 0, 2, 1 } };

static void adjust_hue(const float *in, float delta, float *out)
{
    float r = in[0], g = in[1], b = in[2];
    int part = r < g ? (b < r ? 1 : b > g ? 3 : 2) : (b < g ? 0 : b > r ? 4 : 5);
    float most = in[order[part][0]], middle = in[order[part][1]], least = in[order[part][2]], h = 0;
    if (most != least) {
        float ratio = (middle - least) / (most - least);
        h = (float)part + (part % 2 == 0 ? ratio : 1 - ratio);
    }
    h += delta * 6;
    if (!isfinite(h)) {
        out[0] = out[1] = out[2] = NAN;
        return;
    }
    if (fabsf(h) > 1000) /* a long way round */
        h = fmodf(h, 6);
    while (h < 0)
        h += 6;
    while (h >= 6)
        h -= 6;
    part = (int)h;
    float ratio = h - (float)part;
    if (part % 2)
        ratio = 1 - ratio;
    out[order[part][0]] = most;
    out[order[part][1]] = least + ratio * (most - least);
    out[order[part][2]] = least;
}

MANY(many_hues, adjust_hue(pixel, amount, out))

static tw_status hue_compute(tw__kernel *kernel)
{
    return run(kernel, (pixels){ .work = many_hues, .amount = *(const float *)kernel->inputs[1]->data });
}

TW_OP(AdjustHue, .inputs = "images: T, delta: float", .outputs = "output: T", .attrs = "T: {half, float} = float",
      .shape = need_colors, .compute = hue_compute, .no_gradient = true, .doc = "Images whose hue is moved along the circle.");

/* ---- contrast ---- */

static tw_status contrast_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank_at_least(inference, 0, 3));
    TW_TRY(tw__need_rank(inference, 1, 0));
    return tw_shape_same(inference);
}

/* Each channel of each image about its own mean. */
static tw_status contrast_compute(tw__kernel *kernel)
{
    const tw_tensor *images = kernel->inputs[0];
    float *out = kernel->outputs[0]->data, factor = *(const float *)kernel->inputs[1]->data;
    const float *in = images->data;
    const int64_t *dims = images->shape.dims + images->shape.rank - 3;
    int64_t size = dims[0] * dims[1], channels = dims[2], whole = size * channels;
    for (int64_t image = 0; whole && image < images->count / whole; image++, in += whole, out += whole) {
        for (int64_t c = 0; c < channels; c++) {
            double sum = 0;
            for (int64_t i = 0; i < size; i++)
                sum += (double)in[i * channels + c];
            float mean = (float)(sum / (double)size);
            for (int64_t i = 0; i < size; i++)
                out[i * channels + c] = (in[i * channels + c] - mean) * factor + mean;
        }
    }
    return TW_OK;
}

TW_OP(AdjustContrastv2, .inputs = "images: T, contrast_factor: float", .outputs = "output: T", .attrs = "T: {float} = float",
      .shape = contrast_shape, .compute = contrast_compute, .no_gradient = true,
      .doc = "Images whose distances from each channel's mean are multiplied.");
