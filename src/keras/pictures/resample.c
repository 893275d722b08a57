/* Other sizes of pictures, with the pixels that Pillow gives: each direction by itself, the weights of a filter as fixed-point
 * numbers of 22 bits, sums rounded to bytes after each direction. Colors are weighed by their alpha. */
#include <math.h>

#include "keras/pictures/pictures.h"

/* ---- filters: the weight at a distance, in pixels of the coarser side ---- */

static double box_filter(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double triangle(double x)
{
    return fabs(x) < 1.0 ? 1.0 - fabs(x) : 0.0;
}

static double hamming(double x)
{
    x = fabs(x);
    if (x == 0.0 || x >= 1.0)
        return x == 0.0 ? 1.0 : 0.0;
    x *= M_PI;
    return sin(x) / x * (0.54 + 0.46 * cos(x));
}

static double cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * a : 0.0;
}

static double sinc(double x)
{
    x *= M_PI;
    return x == 0.0 ? 1.0 : sin(x) / x;
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

typedef struct filter {
    const char *name;
    double (*weight)(double x); /* NULL: the nearest pixel */
    double support;             /* farther away all weights are 0 */
} filter;
static const filter filters[] = { { "nearest", NULL, 0 },      { "bilinear", triangle, 1.0 }, { "bicubic", cubic, 2.0 },
                                  { "hamming", hamming, 1.0 }, { "box", box_filter, 0.5 },    { "lanczos", lanczos, 3.0 } };

static const filter *filter_of(const char *method)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if (strcmp(filters[i].name, method) == 0)
            return &filters[i];
    }
    tw__fail(TW_VALUE_ERROR,
             "Invalid interpolation method %s specified. Supported methods are nearest, bilinear, bicubic, hamming, box, lanczos",
             method);
    return NULL;
}

/* ---- one direction ---- */

/* A picture as lines of `length` places, `inner` bytes each; `outer` of them lie behind each other. */
typedef struct axis {
    int64_t outer, length, inner;
} axis;

enum { BITS = 22 };

/* The places that a new one is made of, and their weights. */
typedef struct taps {
    int64_t first, count;
    int32_t *weights;
} taps;

static int64_t within(double place, int64_t limit)
{
    return place <= 0 ? 0 : place >= (double)limit ? limit : (int64_t)place;
}

/* Which places make the new one `at`; `room` has place for the weights as they are before they are rounded. */
static void find_taps(const filter *f, int64_t length, double begin, double scale, int64_t at, double *room, taps *found)
{
    double wide = scale < 1.0 ? 1.0 : scale, support = f->support * wide, center = begin + ((double)at + 0.5) * scale, sum = 0;
    found->first = within(center - support + 0.5, length);
    found->count = within(center + support + 0.5, length) - found->first;
    for (int64_t k = 0; k < found->count; k++)
        sum += room[k] = f->weight(((double)(k + found->first) - center + 0.5) * (1.0 / wide));
    for (int64_t k = 0; k < found->count; k++) {
        double weight = sum != 0.0 ? room[k] / sum : room[k];
        found->weights[k] = (int32_t)(weight * (1 << BITS) + (weight < 0 ? -0.5 : 0.5));
    }
}

static uint8_t byte_of(int64_t sum)
{
    int64_t value = sum >> BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Along one direction; `begin` and `end` say which part of it is taken, in Pillow's precision. */
static tw_tensor *along(tw_tensor *pixels, int direction, int64_t size, const filter *f, float begin, float end)
{
    const tw_shape *old = &pixels->shape;
    axis a = { direction ? old->dims[0] : 1, old->dims[direction], direction ? old->dims[2] : old->dims[1] * old->dims[2] };
    tw_shape shape = *old;
    shape.dims[direction] = size;
    double scale = (double)(end - begin) / (double)size, most = ceil(f->support * (scale < 1.0 ? 1.0 : scale)) * 2 + 1;
    size_t room = (size_t)(most < (double)a.length ? most : (double)a.length) + 2;
    tw__owned double *weights = tw__alloc_array(room, sizeof *weights);
    tw__owned int32_t *rounded = tw__alloc_array(room, sizeof *rounded);
    tw_auto tw_tensor *made = tw__tensor_empty(TW_UINT8, &shape);
    if (!weights || !rounded || !made)
        return NULL;
    taps found = { .weights = rounded };
    for (int64_t at = 0; at < size; at++) {
        find_taps(f, a.length, begin, scale, at, weights, &found);
        for (int64_t outer = 0; outer < a.outer; outer++) {
            const uint8_t *from = (const uint8_t *)pixels->data + (outer * a.length + found.first) * a.inner;
            uint8_t *to = (uint8_t *)made->data + (outer * size + at) * a.inner;
            for (int64_t i = 0; i < a.inner; i++) {
                int64_t sum = 1 << (BITS - 1);
                for (int64_t k = 0; k < found.count; k++)
                    sum += (int64_t)from[k * a.inner + i] * rounded[k];
                to[i] = byte_of(sum);
            }
        }
    }
    return tw_retain(made);
}

/* The lines that lie nearest; places are summed up as Pillow does. */
static tw_tensor *nearest(tw__temps *t, tw_tensor *pixels, int direction, int64_t size, float begin, float end)
{
    int64_t old = pixels ? pixels->shape.dims[direction] : 0;
    tw__owned int64_t *lines = pixels ? tw__alloc_array((size_t)size + 1, sizeof *lines) : NULL;
    if (!lines)
        return NULL;
    double step = (double)(end - begin) / (double)size, place = (double)begin + step * 0.5;
    for (int64_t i = 0; i < size; i++, place += step)
        lines[i] = (int64_t)place < old ? (int64_t)place : old - 1;
    return tw__temp_gather(t, pixels, tw__temp_ints(t, lines, size, TW_INT32), direction);
}

/* ---- alpha ---- */

static tw_tensor *weighed_by_alpha(tw_tensor *pixels, bool back)
{
    tw_tensor *made = tw__tensor_copy(pixels);
    uint8_t *at = made ? made->data : NULL;
    for (int64_t i = 0; made && i < made->count; i += 4, at += 4) {
        unsigned alpha = at[3];
        for (int c = 0; c < 3; c++) {
            unsigned product = at[c] * alpha + 128, whole = alpha ? 255u * at[c] / alpha : 0;
            if (!back)
                at[c] = (uint8_t)((product + (product >> 8)) >> 8);
            else if (alpha && alpha != 255)
                at[c] = (uint8_t)(whole > 255 ? 255 : whole);
        }
    }
    return made;
}

/* ---- all of it ---- */

bool tw__picture_check(const tw_tensor *pixels, const char *who)
{
    const tw_shape *shape = &pixels->shape;
    if (!tw__tensor_values(pixels, who))
        return false;
    if (pixels->dtype == TW_UINT8 && shape->rank == 3 && (shape->dims[2] == 1 || shape->dims[2] == 3 || shape->dims[2] == 4) &&
        pixels->count)
        return true;
    tw__fail(TW_VALUE_ERROR, "%s: pixels of dtype %s and shape %s, expected uint8 and [height, width, 1, 3 or 4]", who,
             tw_dtype_name(pixels->dtype), tw__shape_text(shape));
    return false;
}

tw_tensor *tw__picture_resize(tw_tensor *pixels, int64_t height, int64_t width, const char *method, const tw__picture_box *box)
{
    TW_TEMPS(t);
    const filter *f = filter_of(method);
    if (!f || !tw__picture_check(pixels, "picture_resize"))
        return NULL;
    const int64_t sizes[] = { height, width }, *old = pixels->shape.dims;
    tw__picture_box whole = { 0, 0, (double)old[1], (double)old[0] };
    box = box ? box : &whole;
    if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX) {
        tw__fail(TW_VALUE_ERROR, "a picture's size is (%lld, %lld), expected positive numbers", (long long)height,
                 (long long)width);
        return NULL;
    }
    if (!(box->left >= 0 && box->top >= 0 && box->right <= whole.right && box->bottom <= whole.bottom && box->left < box->right &&
          box->top < box->bottom)) {
        tw__fail(TW_VALUE_ERROR, "Box can't exceed original image size");
        return NULL;
    }
    const float begins[] = { (float)box->top, (float)box->left }, ends[] = { (float)box->bottom, (float)box->right };
    bool alpha = f->weight && old[2] == 4;
    bool same = height == old[0] && width == old[1] && box->left == 0 && box->top == 0 && box->right == whole.right &&
                box->bottom == whole.bottom;
    tw_tensor *made = alpha && !same ? tw__temp(t, weighed_by_alpha(pixels, false)) : pixels;
    for (int direction = 1; made && direction >= 0; direction--) { /* the width first */
        int64_t length = pixels->shape.dims[direction];
        if (sizes[direction] == length && begins[direction] == 0 && ends[direction] == (float)length)
            continue;
        made = !f->weight ? nearest(t, made, direction, sizes[direction], begins[direction], ends[direction])
                          : tw__temp(t, along(made, direction, sizes[direction], f, begins[direction], ends[direction]));
    }
    return alpha && !same && made ? weighed_by_alpha(made, true) : tw__keep(t, made);
}
