/* keras.preprocessing.image.apply_affine_transform: a picture turned, shifted, sheared and zoomed, as SciPy's ndimage computes
 * it: every new pixel is looked up at a place of the old picture, between pixels by their distances. */
#include <math.h>

#include "keras/pictures/pictures.h"

/* ---- the transformation: new places to old ones ---- */

typedef struct matrix {
    double m[3][3];
} matrix;

static matrix times(const matrix *a, const matrix *b)
{
    matrix product = { 0 };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++)
                product.m[i][j] += a->m[i][k] * b->m[k][j];
        }
    }
    return product;
}

static void then(matrix *whole, bool *any, matrix next)
{
    *whole = *any ? times(whole, &next) : next;
    *any = true;
}

/* Whether there is anything to do. The middle of the picture stays where it is. */
static bool compose(const tw_image_apply_affine_transform_args *args, int64_t height, int64_t width, matrix *whole)
{
    bool any = false;
    double theta = args->theta * (M_PI / 180.0), shear = args->shear * (M_PI / 180.0);
    if (args->theta != 0)
        then(whole, &any, (matrix){ { { cos(theta), -sin(theta), 0 }, { sin(theta), cos(theta), 0 }, { 0, 0, 1 } } });
    if (args->tx != 0 || args->ty != 0)
        then(whole, &any, (matrix){ { { 1, 0, args->tx }, { 0, 1, args->ty }, { 0, 0, 1 } } });
    if (args->shear != 0)
        then(whole, &any, (matrix){ { { 1, -sin(shear), 0 }, { 0, cos(shear), 0 }, { 0, 0, 1 } } });
    if (args->zx != 1 || args->zy != 1)
        then(whole, &any, (matrix){ { { args->zx, 0, 0 }, { 0, args->zy, 0 }, { 0, 0, 1 } } });
    if (!any)
        return false;
    double x = (double)height / 2 - 0.5, y = (double)width / 2 - 0.5;
    matrix there = { { { 1, 0, x }, { 0, 1, y }, { 0, 0, 1 } } }, back = { { { 1, 0, -x }, { 0, 1, -y }, { 0, 0, 1 } } };
    matrix moved = times(&there, whole);
    *whole = times(&moved, &back);
    if (args->col_axis < args->row_axis)
        return true;
    matrix swapped = *whole; /* Keras exchanges the axes here */
    static const int other[] = { 1, 0, 2 };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            swapped.m[i][j] = whole->m[other[i]][other[j]];
    }
    *whole = swapped;
    return true;
}

/* ---- places outside of the picture ---- */

typedef enum fill { CONSTANT, NEAREST, REFLECT, WRAP, MIRROR } fill;
static const char *const fills[] = { "constant", "nearest", "reflect", "wrap", "mirror" };

static double reflected(double at, double length)
{
    double both = 2 * length;
    if (length <= 1)
        return 0;
    if (at > length - 1) {
        at -= both * trunc(at / both);
        return at >= length ? both - at - 1 : at;
    }
    if (at < -both)
        at = both * trunc(-at / both) + at;
    return at < -length ? at + both : (at > -1e-15 ? 1e-15 : -at) - 1;
}

static double mirrored(double at, double length)
{
    double both = 2 * length - 2;
    if (length <= 1)
        return 0;
    if (at > length - 1) {
        at -= both * trunc(at / both);
        return at >= length ? both - at : at;
    }
    at = both * trunc(-at / both) + at;
    return at <= 1 - length ? at + both : -at;
}

/* The place inside of 0 … length - 1 that stands for `at`; -1: there is none. */
static double inside(double at, double length, fill mode)
{
    double last = length - 1;
    if (at >= 0 && at <= last)
        return at;
    switch (mode) {
    case NEAREST:
        return at < 0 ? 0 : at > last ? last : at;
    case REFLECT:
        return reflected(at, length);
    case MIRROR:
        return mirrored(at, length);
    case WRAP:
        return length <= 1 ? 0 : at < 0 ? at + last * (trunc(-at / last) + 1) : at - last * trunc(at / last);
    default:
        return -1;
    }
}

/* ---- pixels ---- */

/* A picture of doubles: rows, columns and channels, and how far they lie apart. */
typedef struct plane {
    int64_t size[3], stride[3];
    const double *from;
    double *to;
} plane;

/* Where a new pixel comes from in one direction: two places, and the share of each. */
typedef struct source {
    int64_t at[2];
    double share[2];
} source;

static source source_of(double place, int64_t length, fill mode, int64_t order)
{
    double begin = floor(order ? place : place + 0.5), over = place - floor(place);
    source s = { .share = { order ? 1 - over : 1, order ? over : 0 } };
    for (int k = 0; k < 2; k++) {
        double at = begin + k;
        if (at < 0 || at > (double)(length - 1))
            at = inside(at, (double)length, mode == REFLECT ? REFLECT : MIRROR);
        s.at[k] = at < 0 ? 0 : at > (double)(length - 1) ? length - 1 : (int64_t)at;
    }
    return s;
}

static void transform(const plane *p, const matrix *whole, fill mode, double cval, int64_t order)
{
    for (int64_t i = 0; i < p->size[0]; i++) {
        for (int64_t j = 0; j < p->size[1]; j++) {
            double place[2];
            bool outside = false;
            for (int d = 0; d < 2; d++) {
                place[d] = (double)i * whole->m[d][0] + (double)j * whole->m[d][1] + whole->m[d][2];
                place[d] = inside(place[d], (double)p->size[d], mode);
                outside |= mode == CONSTANT && place[d] < 0;
            }
            source rows = source_of(place[0], p->size[0], mode, order), columns = source_of(place[1], p->size[1], mode, order);
            for (int64_t c = 0; c < p->size[2]; c++) {
                double sum = outside ? cval : 0;
                for (int k = 0; !outside && k < 4; k++) {
                    int64_t at = rows.at[k / 2] * p->stride[0] + columns.at[k % 2] * p->stride[1] + c * p->stride[2];
                    sum += p->from[at] * rows.share[k / 2] * columns.share[k % 2];
                }
                p->to[i * p->stride[0] + j * p->stride[1] + c * p->stride[2]] = sum;
            }
        }
    }
}

static tw_status check(const tw_image_apply_affine_transform_args *args)
{
    int64_t axes[] = { args->row_axis, args->col_axis, args->channel_axis };
    if (axes[0] == axes[1] || axes[0] == axes[2] || axes[1] == axes[2])
        return tw__fail(TW_VALUE_ERROR, "'row_axis', 'col_axis', and 'channel_axis' must be distinct");
    for (int i = 0; i < 3; i++) {
        if (axes[i] < 0 || axes[i] > 2)
            return tw__fail(TW_VALUE_ERROR, "Invalid axis' indices: {%lld}", (long long)axes[i]);
    }
    if (args->x->shape.rank != 3)
        return tw__fail(TW_VALUE_ERROR, "Input arrays must be multi-channel 2D images.");
    if (axes[2] == 1)
        return tw__fail(TW_VALUE_ERROR, "Channels are allowed and the first and last dimensions.");
    if (args->order != 0 && args->order != 1)
        return tw__fail(TW_UNIMPLEMENTED, "apply_affine_transform: order %lld is not supported, expected 0 or 1",
                        (long long)args->order);
    if (!tw__dtype_is_float(args->x->dtype) && args->x->dtype != TW_UINT8)
        return tw__fail(TW_UNIMPLEMENTED, "apply_affine_transform: a picture of dtype %s, expected floats or uint8",
                        tw_dtype_name(args->x->dtype));
    return TW_OK;
}

/* Bytes are rounded. */
static void round_off(tw_tensor *made)
{
    double *values = made->data;
    for (int64_t i = 0; i < made->count; i++)
        values[i] = values[i] > 0 ? floor(values[i] + 0.5 > 255 ? 255 : values[i] + 0.5) : 0;
}

TW_API(
    image_apply_affine_transform,
    "keras.preprocessing.image.apply_affine_transform(x: tensor, theta: float = 0, tx: float = 0, ty: float = 0, shear: float = 0, zx: float = 1, "
    "zy: float = 1, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0, fill_mode: str {constant, nearest, reflect, wrap, mirror} = "
    "nearest, cval: float = 0.0, order: int = 1) -> tensor<numpy>",
    "A picture that is turned, shifted, sheared and zoomed around its middle.\n"
    "x: the picture, floats or uint8, of three dimensions\n"
    "theta: the angle in degrees\n"
    "tx: by how many rows it is shifted\n"
    "ty: by how many columns it is shifted\n"
    "shear: the angle of the shear in degrees\n"
    "zx: the zoom along the rows\n"
    "zy: the zoom along the columns\n"
    "row_axis: the dimension of the rows\n"
    "col_axis: the dimension of the columns\n"
    "channel_axis: the dimension of the channels\n"
    "fill_mode: what stands for pixels outside of the picture\n"
    "cval: the value outside where `fill_mode` is `constant`\n"
    "order: 1: pixels between the given ones are interpolated; 0: the nearest one is taken\n"
    "returns: a NumPy array of the same shape")
{
    TW_TEMPS(t);
    if (check(args) != TW_OK || !tw__tensor_values(args->x, "apply_affine_transform"))
        return NULL;
    const tw_shape *shape = &args->x->shape;
    const int64_t strides[] = { shape->dims[1] * shape->dims[2], shape->dims[2], 1 };
    const int64_t axes[] = { args->row_axis, args->col_axis, args->channel_axis };
    bool across = axes[1] < axes[0]; /* the picture's planes have their axes in the order of memory */
    plane p = { 0 };
    for (int i = 0; i < 3; i++) {
        int64_t axis = axes[i < 2 && across ? 1 - i : i];
        p.size[i] = shape->dims[axis];
        p.stride[i] = strides[axis];
    }
    matrix whole;
    if (!args->x->count || !compose(args, shape->dims[args->row_axis], shape->dims[args->col_axis], &whole))
        return tw_retain(args->x);
    fill mode = CONSTANT;
    while (strcmp(fills[mode], args->fill_mode) != 0)
        mode++;
    tw_tensor *from = tw__temp_cast(t, args->x, TW_FLOAT64), *made = tw__temp(t, tw__tensor_empty(TW_FLOAT64, shape));
    if (!from || !made)
        return NULL;
    p.from = from->data;
    p.to = made->data;
    transform(&p, &whole, mode, args->cval, args->order);
    if (!tw__dtype_is_float(args->x->dtype))
        round_off(made);
    return tw__keep(t, tw__temp_cast(t, made, args->x->dtype));
}
