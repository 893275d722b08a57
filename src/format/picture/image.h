/* Pictures in files: JPEG, PNG, GIF, BMP to pixels, and JPEG and PNG back. The ops are in op/io/picture.c.
 *
 * JPEG and PNG are done by libjpeg and libpng, which are loaded when the first picture comes and need not be there otherwise. */
#ifndef TW_IMAGE_H
#define TW_IMAGE_H

#include "format/format.h"

/* Where pixels go: a decoder asks once, when it knows the size. NULL: there is no room, an error is set. */
typedef struct tw__image_target {
    void *(*place)(void *context, int64_t frames, int64_t height, int64_t width, int64_t channels);
    void *context;
} tw__image_target;

/* More bytes than this no picture may have. */
#define TW_IMAGE_LIMIT ((int64_t)1 << 29)

/* ---- JPEG (image_jpeg.c) ---- */
typedef struct tw__jpeg_options {
    int channels, ratio; /* 0: as in the file */
    bool plain_upscaling, recover, accurate;
    bool crop;
    int64_t window[4]; /* y, x, height, width */
} tw__jpeg_options;
tw_status tw__jpeg_decode(const char *op, tw_string data, const tw__jpeg_options *options, tw__image_target target);
tw_status tw__jpeg_shape(const char *op, tw_string data, int64_t shape[3]);
typedef struct tw__jpeg_writing {
    int quality, density_unit, x_density, y_density;
    bool progressive, optimize, full_chroma;
    tw_string xmp;
} tw__jpeg_writing;
tw_status tw__jpeg_encode(const char *op, const uint8_t *pixels, int64_t height, int64_t width, int channels,
                          const tw__jpeg_writing *options, tw__text *out);

/* ---- PNG (image_png.c) ---- */
tw_status tw__png_decode(const char *op, tw_string data, int channels, int bits, tw__image_target target); /* bits: 8 or 16 */
tw_status tw__png_encode(const char *op, const void *pixels, int64_t height, int64_t width, int channels, int bits,
                         int compression, tw__text *out);

/* ---- GIF, BMP (image_gif.c, image_bmp.c) ---- */
tw_status tw__gif_decode(const char *op, tw_string data, tw__image_target target); /* frames of three channels */
tw_status tw__bmp_decode(tw_string data, int channels, tw__image_target target);

#endif
