/* Pictures as Pillow has them: uint8 tensors of shape [height, width, channels], of 1 (gray), 3 (RGB) or 4 channels (RGBA). */
#ifndef TW_PICTURES_H
#define TW_PICTURES_H

#include "op/calls.h"
#include "rows.h"

/* Whether a tensor is such a picture; else an error that names `who`. */
bool tw__picture_check(const tw_tensor *pixels, const char *who);
/* The pixels of a file's bytes (decode.c). color_mode: rgb, rgba or grayscale. Left to t. */
tw_tensor *tw__picture_decode(tw__temps *t, tw_tensor *contents, const char *color_mode);
tw_tensor *tw__picture_convert(tw__temps *t, tw_tensor *pixels, const char *color_mode);

/* A part of a picture, in pixels from the left upper corner. */
typedef struct tw__picture_box {
    double left, top, right, bottom;
} tw__picture_box;
/* The pixels of a part at another size, as Pillow computes them (resample.c); a new reference. box NULL: the whole picture. */
tw_tensor *tw__picture_resize(tw_tensor *pixels, int64_t height, int64_t width, const char *method, const tw__picture_box *box);

#endif
