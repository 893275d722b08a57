/* What the functions of tf.image share. Functions that say "takes" release what they are given, and give NULL for NULL. */
#ifndef TW_API_IMAGE_H
#define TW_API_IMAGE_H

#include "api/array/array.h"
#include "op/gradient.h"

tw_tensor *tw__image_number(int64_t value);               /* a scalar of int32 */
tw_tensor *tw__image_float(double value, tw_dtype dtype); /* a scalar of that dtype */
tw_tensor *tw__image_pack(int count, tw_tensor **items);  /* takes the items: scalars become a vector */
/* Height (1) or width (2) of images [batch, height, width, channels], or of one without a batch: a constant if it is known. */
tw_tensor *tw__image_side(tw_tensor *image, int side);
/* One image becomes a batch of one; *single says so. A new reference; NULL and ValueError if it has neither 3 nor 4 dimensions.
 */
tw_tensor *tw__image_batch(const char *what, tw_tensor *image, bool *single);
tw_tensor *tw__image_unbatch(tw_tensor *images, bool single); /* takes */
/* As tf.image.convert_image_dtype; a new reference. */
tw_tensor *tw__image_convert(tw_tensor *image, tw_dtype dtype, bool saturate);
tw_tensor *tw__image_convert_take(tw_tensor *image, tw_dtype dtype, bool saturate);
tw_tensor *tw__image_reverse(tw_tensor *image, int64_t axis, int64_t other); /* a new reference; other -1: only one axis */
tw_tensor *tw__image_resize(tw_tensor *images, tw_tensor *size, const char *method, bool keep_ratio, bool antialias);
/* Crops and pads with scalars of int32, which are taken. */
tw_tensor *tw__image_crop(tw_tensor *image, tw_tensor *top, tw_tensor *left, tw_tensor *height, tw_tensor *width);
tw_tensor *tw__image_pad(tw_tensor *image, tw_tensor *top, tw_tensor *left, tw_tensor *height, tw_tensor *width);
tw_tensor *tw__image_adjust_brightness(tw_tensor *image, tw_tensor *delta);
tw_tensor *tw__image_adjust(const tw_op *op, tw_tensor *image,
                            tw_tensor *amount); /* AdjustContrastv2, AdjustHue, AdjustSaturation */
tw_tensor *tw__image_adjust_jpeg_quality(tw_tensor *image, tw_tensor *quality);

#endif
