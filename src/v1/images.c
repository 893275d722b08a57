/* tf.compat.v1.image: resizing as TensorFlow 1 did it, where pixels have no centers, and functions under their old names. */
#include "api/image/image.h"
#include "op/calls.h"
#include "spec/spec.h"
#include "v1/v1.h"

/* ---- one op each ---- */

#define RESIZE(op_)                                                                            \
    TW_CALL_OP(op_, args->images, args->size, TW_A_BOOL("align_corners", args->align_corners), \
               TW_A_BOOL("half_pixel_centers", args->half_pixel_centers))

TW_API(
    v1_resize_bilinear,
    "compat.v1.image.resize_bilinear(images: tensor, size: tensor<int32>, align_corners: bool = False, name: str = None, half_pixel_centers: bool = False) -> tensor",
    "Images of another size, each pixel between four of theirs.")
{
    return RESIZE(&tw__op_ResizeBilinear);
}

TW_API(
    v1_resize_bicubic,
    "compat.v1.image.resize_bicubic(images: tensor, size: tensor<int32>, align_corners: bool = False, name: str = None, half_pixel_centers: bool = False) -> tensor",
    "Images of another size, each pixel of sixteen of theirs.")
{
    return RESIZE(&tw__op_ResizeBicubic);
}

TW_API(
    v1_resize_nearest_neighbor,
    "compat.v1.image.resize_nearest_neighbor(images: tensor, size: tensor<int32>, align_corners: bool = False, name: str = None, "
    "half_pixel_centers: bool = False) -> tensor",
    "Images of another size, each pixel the nearest one of theirs.")
{
    return RESIZE(&tw__op_ResizeNearestNeighbor);
}

TW_API(
    v1_resize_area,
    "compat.v1.image.resize_area(images: tensor, size: tensor<int32>, align_corners: bool = False, name: str = None) -> tensor",
    "Images of another size, each pixel the mean of those that it covers.")
{
    return TW_CALL(ResizeArea, args->images, args->size, TW_A_BOOL("align_corners", args->align_corners));
}

/* ---- by a method ---- */

/* The op of a method's name or number. */
static const tw_op *method_of(const tw_value *method)
{
    static const tw_op *const ops[] = { &tw__op_ResizeBilinear, &tw__op_ResizeNearestNeighbor, &tw__op_ResizeBicubic,
                                        &tw__op_ResizeArea };
    static const char *const names[] = { "bilinear", "nearest", "bicubic", "area" };
    for (int i = 0; i < 4; i++) {
        if (method->kind == TW_VALUE_STR   ? strcmp(method->s.data, names[i]) == 0
            : method->kind == TW_VALUE_INT ? method->i == i
                                           : i == 0 && method->kind == TW_VALUE_NONE)
            return ops[i];
    }
    tw__fail(TW_VALUE_ERROR, "Resize method is not implemented: expected 0 to 3, or 'bilinear', 'nearest', 'bicubic' or 'area'");
    return NULL;
}

/* The size that fits into another with the images' own ratio of sides. */
static tw_tensor *fitting(tw__temps *t, tw_tensor *images, tw_tensor *size)
{
    tw_tensor *own = tw__temp(t, tw__image_pack(2, TW_IN(tw__image_side(images, 1), tw__image_side(images, 2))));
    tw_tensor *sides = own ? tw__temp_cast(t, own, TW_FLOAT32) : NULL;
    tw_tensor *factor = TW_TEMP(Min, TW_TEMP(RealDiv, tw__temp_cast(t, size, TW_FLOAT32), sides), 0);
    return tw__temp_cast(t, TW_TEMP(Round, TW_TEMP(Mul, sides, factor)), TW_INT32);
}

static bool has_size(const tw_tensor *images, const tw_tensor *size)
{
    return size->data && size->count == 2 && images->shape.rank == 4 && images->shape.dims[1] == tw_tensor_int_at(size, 0) &&
           images->shape.dims[2] == tw_tensor_int_at(size, 1);
}

TW_API(
    v1_resize_images,
    "compat.v1.image.resize|compat.v1.image.resize_images(images: tensor, size: tensor<int32>, method: value = None, align_corners: bool = False, "
    "preserve_aspect_ratio: bool = False, name: str = None) -> tensor",
    "Images of another size; method: 0 bilinear, 1 nearest, 2 bicubic, 3 area. Images that have the size already stay as they are.")
{
    TW_TEMPS(t);
    const tw_op *op = method_of(&args->method);
    bool single;
    tw_tensor *images = op ? tw__temp(t, tw__image_batch("images", args->images, &single)) : NULL, *size = args->size;
    if (!images)
        return NULL;
    if (size->shape.rank >= 0 && (size->shape.rank != 1 || (size->shape.dims[0] >= 0 && size->shape.dims[0] != 2))) {
        tw__fail(TW_VALUE_ERROR, "'size' must be a 1-D Tensor of 2 elements: new_height, new_width");
        return NULL;
    }
    if (args->preserve_aspect_ratio)
        size = fitting(t, images, size);
    if (!size)
        return NULL;
    if (has_size(images, size))
        return tw_retain(args->images);
    tw_tensor *made = TW_CALL_OP(op, images, size, TW_A_BOOL("align_corners", args->align_corners));
    return tw__image_unbatch(made, single);
}

/* ---- other orders of arguments ---- */

TW_API(
    v1_crop_and_resize,
    "compat.v1.image.crop_and_resize(image: tensor, boxes: tensor<float32>, box_ind: tensor<int32> = None, crop_size: tensor<int32> = None, "
    "method: str = bilinear, extrapolation_value: float = 0, name: str = None, box_indices: tensor<int32> = None) -> tensor",
    "Boxes of images, each resized to crop_size.\n"
    "box_ind: the old name of `box_indices`\n"
    "crop_size: the height and width of the results\n"
    "method: `bilinear` or `nearest`\n"
    "extrapolation_value: the value outside of the image\n"
    "box_indices: for each box the number of its image")
{
    if (!args->box_ind == !args->box_indices || !args->crop_size) {
        tw__fail(TW_VALUE_ERROR, "crop_and_resize: crop_size, and one of box_indices and box_ind must be given");
        return NULL;
    }
    return TW_CALL(CropAndResize, args->image, args->boxes, args->box_ind ? args->box_ind : args->box_indices, args->crop_size,
                   TW_A_STRING("method", args->method), TW_A_FLOAT("extrapolation_value", args->extrapolation_value));
}
