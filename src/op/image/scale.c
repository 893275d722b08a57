/* ScaleAndTranslate: resizing with one of several kernels, which grow with the step if antialias says so, and its gradient. */
#include <float.h>
#include <math.h>

#include "op/gradient.h"
#include "op/image/image.h"
#include "rows.h"

static float lanczos(float x, float radius)
{
    const float pi = 3.14159265358979f;
    if (x > radius)
        return 0;
    if (x <= 1e-3f)
        return 1;
    return radius * sinf(pi * x) * sinf(pi * x / radius) / (pi * pi * x * x);
}

static float lanczos1(float x)
{
    return lanczos(x, 1);
}

static float lanczos3(float x)
{
    return lanczos(x, 3);
}

static float lanczos5(float x)
{
    return lanczos(x, 5);
}

static float gaussian(float x)
{
    const float sigma = 1.5f / 3.0f;
    return x >= 1.5f ? 0 : expf(-x * x / (2.0f * sigma * sigma));
}

static float box(float x)
{
    return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f;
}

static float triangle(float x)
{
    return x < 1.0f ? 1.0f - x : 0.0f;
}

static float keys_cubic(float x)
{
    if (x >= 2.0f)
        return 0;
    return x >= 1.0f ? ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f : ((1.5f * x - 2.5f) * x) * x + 1.0f;
}

static float mitchell_cubic(float x)
{
    if (x >= 2.0f)
        return 0;
    return x >= 1.0f ? (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f
                     : (((7.0f / 6.0f) * x - 2.0f) * x) * x + 8.0f / 9.0f;
}

typedef struct kernel_row {
    const char *name;
    float radius;
    float (*weight)(float distance);
} kernel_row;

static const kernel_row kernels[] = {
    { "lanczos1", 1, lanczos1 },    { "lanczos3", 3, lanczos3 },
    { "lanczos5", 5, lanczos5 },    { "gaussian", 1.5f, gaussian },
    { "box", 0.5f, box },           { "triangle", 1, triangle },
    { "keyscubic", 2, keys_cubic }, { "mitchellcubic", 2, mitchell_cubic },
};

static const kernel_row *find_kernel(tw_string name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strlen(kernels[i].name) == name.size && memcmp(kernels[i].name, name.data, name.size) == 0)
            return &kernels[i];
    }
    tw__fail(TW_INVALID_ARGUMENT, "Unrecognized kernel type: %.*s", (int)name.size, name.data);
    return NULL;
}

static tw_status choose_taps(tw__taps *taps, const kernel_row *k, int64_t in, int64_t out, float scale, float translate,
                             bool antialias)
{
    float step = 1.0f / scale, shift = -step * translate, wide = antialias && step > 1.0f ? step : 1.0f, narrow = 1.0f / wide;
    if (!(scale > 0) || !isfinite(step) || !isfinite(translate))
        return tw__fail(TW_INVALID_ARGUMENT, "scale must be greater than zero and translation finite, got %g and %g",
                        (double)scale, (double)translate);
    float span = 2 * ceilf(k->radius * wide) + 1;
    int64_t most = span < (float)in ? (int64_t)span : in;
    TW_TRY(tw__taps_new(taps, in, out, most));
    for (int64_t x = 0; x < out; x++) {
        float place = ((float)x + 0.5f) * step + shift, sum = 0;
        if (place < 0 || place > (float)in)
            continue;
        float low = ceilf(place - k->radius * wide - 0.5f), high = floorf(place + k->radius * wide - 0.5f);
        int64_t begin = low < 0 ? 0 : low > (float)(in - 1) ? in - 1 : (int64_t)low;
        int64_t end = (high < 0 ? 0 : high > (float)(in - 1) ? in - 1 : (int64_t)high) + 1;
        int64_t count = end - begin < most ? end - begin : most;
        for (int64_t i = 0; i < count; i++) {
            float weight = k->weight(fabsf((((float)(begin + i) + 0.5f) - place) * narrow));
            taps->index[x * most + i] = begin + i;
            taps->weight[x * most + i] = weight;
            sum += weight;
        }
        if (fabsf(sum) < 1000.0f * FLT_MIN)
            continue;
        taps->count[x] = count;
        for (int64_t i = 0; i < count; i++)
            taps->weight[x * most + i] *= 1.0f / sum;
    }
    return TW_OK;
}

/* Both axes' taps, from images of shape `in` to `out`. */
static tw_status choose_both(tw__kernel *kernel, const tw_shape *in, const tw_shape *out, tw__taps *y, tw__taps *x)
{
    const kernel_row *k = find_kernel(TW_ATTR(kernel, "kernel_type")->s);
    const float *scale = kernel->inputs[2]->data, *translation = kernel->inputs[3]->data;
    bool antialias = TW_ATTR(kernel, "antialias")->b;
    if (!k)
        return tw__error_status();
    TW_TRY(tw__resize_check(in, out));
    TW_TRY(choose_taps(y, k, in->dims[1], out->dims[1], scale[0], translation[0], antialias));
    return choose_taps(x, k, in->dims[2], out->dims[2], scale[1], translation[1], antialias);
}

static tw_status scale_shape(tw__inference *inference)
{
    TW_TRY(tw__need_pair(inference, 2, "scale"));
    TW_TRY(tw__need_pair(inference, 3, "translation"));
    return tw__resize_shape(inference);
}

static tw_status scale_compute(tw__kernel *kernel)
{
    const tw_tensor *images = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    if (!out->count)
        return TW_OK;
    tw__auto(tw__taps_free) tw__taps y = { 0 };
    tw__auto(tw__taps_free) tw__taps x = { 0 };
    tw__owned float *copy = NULL;
    const float *in = tw__image_floats(images, &copy);
    TW_NEED(in);
    TW_TRY(choose_both(kernel, &images->shape, &out->shape, &y, &x));
    return tw__taps_apply(&y, &x, in, images->shape.dims[0], images->shape.dims[3], out->data);
}

static tw_status scale_gradient(tw__gradient *g)
{
    if (g->inputs[0]->dtype != TW_FLOAT32)
        return TW_OK;
    tw__grad_set(g, 0,
                 TW_CALL(ScaleAndTranslateGrad, g->output_grads[0], g->inputs[0], g->inputs[2], g->inputs[3],
                         *TW_ATTR(g, "kernel_type"), TW_A_BOOL("antialias", TW_ATTR(g, "antialias")->b)));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(ScaleAndTranslate, .inputs = "images: T, size: int32, scale: float, translation: float", .outputs = "resized_images: float",
      .attrs = "T: " TW_IMAGE_TYPES ", kernel_type: string = 'lanczos3', antialias: bool = true", .shape = scale_shape,
      .compute = scale_compute, .gradient = scale_gradient, .doc = "Images of another size, by a kernel.");

static tw_status scale_grad_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(tw__need_rank(inference, 1, 4));
    TW_TRY(tw__need_pair(inference, 2, "scale"));
    TW_TRY(tw__need_pair(inference, 3, "translation"));
    inference->out_shapes[0] = *inference->shapes[1];
    return TW_OK;
}

static tw_status scale_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *grads = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    if (grads->shape.dims[0] != out->shape.dims[0] || grads->shape.dims[3] != out->shape.dims[3])
        return tw__fail(TW_INVALID_ARGUMENT, "grads and original_image differ in batch or channels: %s and %s",
                        tw__shape_text(&grads->shape), tw__shape_text(&out->shape));
    tw__auto(tw__taps_free) tw__taps y = { 0 };
    tw__auto(tw__taps_free) tw__taps x = { 0 };
    TW_TRY(choose_both(kernel, &out->shape, &grads->shape, &y, &x));
    return tw__taps_spread(&y, &x, grads->data, out->shape.dims[0], out->shape.dims[3], out->data);
}

TW_OP(ScaleAndTranslateGrad, .inputs = "grads: T, original_image: T, scale: float, translation: float", .outputs = "output: T",
      .attrs = "T: {float}, kernel_type: string = 'lanczos3', antialias: bool = true", .shape = scale_grad_shape,
      .compute = scale_grad_compute, .no_gradient = true, .doc = "The gradient of ScaleAndTranslate.");
