/* Lowerings of images in other sizes, by rows and columns whose numbers are known beforehand, and of contrast. */
#include <math.h>

#include "lower/words.h"

typedef struct axis {
    int64_t in, out;
    float scale;
    bool corners, half;
} axis;

/* Axis 1 or 2 of the images, from a size to another. */
static axis axis_of(const tw__lowering *l, const tw_shape *from, const tw_shape *to, int dim)
{
    axis a = { .in = from->dims[dim], .out = to->dims[dim] };
    a.corners = TW_ATTR(l, "align_corners")->b;
    a.half = TW_ATTR(l, "half_pixel_centers")->b;
    a.scale = a.corners && a.out > 1 ? (float)(a.in - 1) / (float)(a.out - 1) : (float)a.in / (float)a.out;
    return a;
}

/* A list of numbers as a constant; ints of int64, or floats. */
static tw__hlo listed(tw__lowering *l, tw_dtype dtype, void *values, int64_t count)
{
    return tw__hlo_bytes(l, dtype, &TW_SHAPE(count), values, (size_t)count * (dtype == TW_INT64 ? 8 : 4));
}

static int64_t bounded(int64_t value, int64_t size)
{
    return value < 0 ? 0 : value < size ? value : size - 1;
}

/* Which row each new row is. */
static bool nearest_rows(const axis *a, int64_t *rows)
{
    for (int64_t i = 0; i < a->out; i++) {
        float place = a->half ? ((float)i + 0.5f) * a->scale : (float)i * a->scale;
        rows[i] = bounded((int64_t)(a->corners ? roundf(place) : floorf(place)), a->in);
    }
    return a->in > 0 && a->out > 0;
}

static tw__hlo nearest_along(tw__lowering *l, tw__hlo x, const tw_shape *to, int dim)
{
    axis a = axis_of(l, &x.shape, to, dim);
    tw__owned int64_t *rows = tw__alloc_array((size_t)a.out + 1, sizeof *rows);
    if (!rows || !nearest_rows(&a, rows))
        return (tw__hlo){ .id = -1 };
    return tw__hlo_rows(l, x, listed(l, TW_INT64, rows, a.out), dim, 0, true);
}

static bool nearest(tw__lowering *l)
{
    const tw_shape *to = &l->outputs[0].shape;
    return X.shape.rank == 4 && GIVE(nearest_along(l, nearest_along(l, X, to, 1), to, 2));
}

/* The rows that came from one are added up. */
static tw__hlo nearest_back(tw__lowering *l, tw__hlo dy, const tw_shape *to, int dim)
{
    axis a = axis_of(l, to, &dy.shape, dim);
    int order[] = { 0, 1, 2, 3 };
    tw__owned int64_t *rows = tw__alloc_array((size_t)a.out + 1, sizeof *rows);
    if (!rows || !nearest_rows(&a, rows) || dy.id < 0)
        return (tw__hlo){ .id = -1 };
    order[0] = dim;
    order[dim] = 0;
    tw__hlo first = tw__hlo_transpose(l, dy, order);
    tw_shape shape = first.shape;
    shape.dims[0] = a.in;
    tw__hlo sum =
        tw__hlo_scatter_rows(l, "add", tw__hlo_constant(l, dy.dtype, &shape, 0), listed(l, TW_INT64, rows, a.out), first);
    return tw__hlo_transpose(l, sum, order);
}

static bool nearest_gradient(tw__lowering *l)
{
    const tw_shape *to = &l->outputs[0].shape;
    return X.shape.rank == 4 && tw__dtype_is_float(X.dtype) && GIVE(nearest_back(l, nearest_back(l, X, to, 2), to, 1));
}

/* The rows below and above each new row, and how far it is from the first. */
static bool linear_rows(const axis *a, int64_t *below, int64_t *above, float *far)
{
    for (int64_t i = 0; i < a->out; i++) {
        float place = a->half ? ((float)i + 0.5f) * a->scale - 0.5f : (float)i * a->scale;
        below[i] = bounded((int64_t)floorf(place), a->in);
        above[i] = bounded((int64_t)ceilf(place), a->in);
        far[i] = place - floorf(place);
    }
    return a->in > 0 && a->out > 0;
}

static tw__hlo linear_along(tw__lowering *l, tw__hlo x, const tw_shape *to, int dim)
{
    axis a = axis_of(l, &x.shape, to, dim);
    size_t room = (size_t)a.out + 1;
    tw__owned int64_t *below = tw__alloc_array(room, sizeof *below), *above = tw__alloc_array(room, sizeof *above);
    tw__owned float *far = tw__alloc_array(room, sizeof *far);
    if (!below || !above || !far || !linear_rows(&a, below, above, far))
        return (tw__hlo){ .id = -1 };
    tw__hlo first = tw__hlo_rows(l, x, listed(l, TW_INT64, below, a.out), dim, 0, true);
    tw__hlo second = tw__hlo_rows(l, x, listed(l, TW_INT64, above, a.out), dim, 0, true);
    tw__hlo share = tw__hlo_broadcast_in(l, listed(l, TW_FLOAT32, far, a.out), &first.shape, &dim);
    return BINARY("add", first, BINARY("multiply", BINARY("subtract", second, first), share));
}

static bool bilinear(tw__lowering *l)
{
    const tw_shape *to = &l->outputs[0].shape;
    return X.shape.rank == 4 && !tw__dtype_is_complex(X.dtype) &&
           GIVE(linear_along(l, linear_along(l, tw__hlo_convert(l, X, TW_FLOAT32), to, 2), to, 1));
}

/* The product with the transposed weights, along an axis. */
static tw__hlo linear_back(tw__lowering *l, tw__hlo dy, const tw_shape *to, int dim)
{
    axis a = axis_of(l, to, &dy.shape, dim);
    size_t room = (size_t)a.out + 1;
    tw__owned int64_t *below = tw__alloc_array(room, sizeof *below), *above = tw__alloc_array(room, sizeof *above);
    tw__owned float *far = tw__alloc_array(room, sizeof *far),
                    *weights = tw__alloc_array(room * (size_t)(a.in + 1), sizeof *weights);
    if (!below || !above || !far || !weights || !linear_rows(&a, below, above, far) || a.in * a.out > 1 << 20)
        return (tw__hlo){ .id = -1 };
    for (int64_t i = 0; i < a.out; i++) {
        weights[i * a.in + below[i]] += 1 - far[i];
        weights[i * a.in + above[i]] += far[i];
    }
    tw__hlo table = tw__hlo_reshape(l, listed(l, TW_FLOAT32, weights, a.out * a.in), &TW_SHAPE(a.out, a.in));
    int order[] = { 0, 1, 2, 3 };
    tw__hlo turned = tw__hlo_dot(l, dy, table, 0, dim, 0); /* the new rows are last */
    for (int i = 0, at = 0; i < 4; i++)
        order[i] = i == dim ? 3 : at++;
    return tw__hlo_transpose(l, turned, order);
}

static bool bilinear_gradient(tw__lowering *l)
{
    const tw_shape *to = &l->outputs[0].shape;
    return X.shape.rank == 4 && X.dtype == TW_FLOAT32 &&
           GIVE(tw__hlo_convert(l, linear_back(l, linear_back(l, X, to, 1), to, 2), l->outputs[0].dtype));
}

/* AdjustContrastv2(images, factor): each channel of each image about its own mean. */
static bool contrast(tw__lowering *l)
{
    int rank = X.shape.rank, dims[TW_MAX_RANK], at = 0;
    if (rank < 3 || X.dtype != TW_FLOAT32 || X.shape.dims[rank - 2] * X.shape.dims[rank - 3] == 0)
        return false;
    for (int i = 0; i < rank; i++) {
        if (i != rank - 2 && i != rank - 3)
            dims[at++] = i;
    }
    tw__hlo sum = tw__hlo_reduce(l, "add", X, 3u << (rank - 3));
    tw__hlo mean = BINARY("divide", sum, tw__hlo_fill(l, sum, (double)(X.shape.dims[rank - 2] * X.shape.dims[rank - 3])));
    mean = tw__hlo_broadcast_in(l, mean, &X.shape, dims);
    return GIVE(BINARY("add", BINARY("multiply", BINARY("subtract", X, mean), Y), mean));
}

const tw__lower_row tw__lower_resize[] = {
    { "ResizeNearestNeighbor", nearest, NULL }, { "ResizeNearestNeighborGrad", nearest_gradient, NULL },
    { "ResizeBilinear", bilinear, NULL },       { "ResizeBilinearGrad", bilinear_gradient, NULL },
    { "AdjustContrastv2", contrast, NULL },     { NULL, NULL, NULL },
};
