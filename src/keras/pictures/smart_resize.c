/* keras.preprocessing.image.smart_resize: images at another size whose ratio of sides stays; composed of ops, so that sizes may
 * be unknown while a function is traced. */
#include "api/image/image.h"
#include "keras/pictures/pictures.h"

/* side * wanted / other of the two new sides, as Keras rounds it, but not more than `own`. */
static tw_tensor *cut_to(tw__temps *t, tw_tensor *side, tw_tensor *wanted, tw_tensor *other, tw_tensor *own)
{
    tw_tensor *product = tw__temp_cast(t, TW_TEMP(Mul, side, wanted), TW_FLOAT32);
    tw_tensor *ratio = TW_TEMP(RealDiv, product, tw__temp_cast(t, other, TW_FLOAT32));
    return TW_TEMP(Minimum, own, tw__temp_cast(t, ratio, TW_INT32));
}

static tw_tensor *start_of(tw__temps *t, tw_tensor *own, tw_tensor *part)
{
    tw_tensor *rest = tw__temp_cast(t, TW_TEMP(Sub, own, part), TW_FLOAT32);
    return tw__temp_cast(t, TW_TEMP(RealDiv, rest, 2.0), TW_INT32);
}

TW_API(
    image_smart_resize,
    "keras.preprocessing.image._smart_resize(x: tensor, size: tensor<int32>, interpolation: str = bilinear) -> tensor",
    "Images ([height, width, channels], or a batch of them) at the size (height, width): the largest part in the middle that has the ratio "
    "of the new sides, resized by tf.image.resize.")
{
    TW_TEMPS(t);
    tw_tensor *x = args->x, *size = args->size;
    int rank = x->shape.rank;
    if (rank >= 0 && (rank < 3 || rank > 4)) {
        tw__owned char *shape = tw__shape_tuple(&x->shape);
        tw__fail(
            TW_VALUE_ERROR,
            "Expected an image array with shape `(height, width, channels)`, or `(batch_size, height, width, channels)`, but got "
            "input with incorrect rank, of shape %s.",
            shape ? shape : "");
        return NULL;
    }
    tw_tensor *sides = tw__temp_shape(t, x, TW_INT32);
    if (rank == 4)
        sides = tw__temp_slice(t, sides, 1, TW_NO_INT);
    tw_tensor *height = tw__temp_at(t, sides, 0), *width = tw__temp_at(t, sides, 1);
    tw_tensor *new_height = tw__temp_at(t, size, 0), *new_width = tw__temp_at(t, size, 1);
    tw_tensor *part_height = cut_to(t, width, new_height, new_width, height);
    tw_tensor *part_width = cut_to(t, height, new_width, new_height, width);
    tw_tensor *top = start_of(t, height, part_height), *left = start_of(t, width, part_width);
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32), *all = tw__temp_int(t, -1, TW_INT32);
    tw_tensor *begins[] = { zero, top, left, zero }, *extents[] = { all, part_height, part_width, all };
    int first = rank != 4;
    tw_tensor *begin = tw__temp(t, tw__call(&tw__op_Pack, begins + first, 4 - first, NULL, 0));
    tw_tensor *extent = tw__temp(t, tw__call(&tw__op_Pack, extents + first, 4 - first, NULL, 0));
    tw_tensor *part = TW_TEMP(Slice, x, begin, extent);
    return part ? tw__image_resize(part, size, args->interpolation, false, false) : NULL;
}
