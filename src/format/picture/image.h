/* Pictures in files: JPEG, PNG, GIF, BMP to pixels, and JPEG and PNG back. The ops are in op/io/picture.c.
 *
 * JPEG and PNG are done by libjpeg and libpng, which are loaded when the first picture comes and need not be there otherwise. */
#ifndef TW_IMAGE_H
#define TW_IMAGE_H

#include <pthread.h>

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
    double least; /* the part of the lines that must be there, unless `recover` */
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

/* ---- libraries that may be missing ---- */
/* The functions that FUNCTIONS(X) lists are p_NAME once need_library(op) has found the file; else that is an error in those
 * words. */
#define TW_IMAGE_LIBRARY(FUNCTIONS, file, words)                                                        \
    FUNCTIONS(TW_IMAGE_POINTER)                                                                         \
    static bool available;                                                                              \
    static void load(void)                                                                              \
    {                                                                                                   \
        static const tw__symbol symbols[] = { FUNCTIONS(TW_IMAGE_SYMBOL) };                             \
        available = tw__library_load(file, symbols, sizeof symbols / sizeof *symbols);                  \
    }                                                                                                   \
    static tw_status need_library(const char *op)                                                       \
    {                                                                                                   \
        static pthread_once_t once = PTHREAD_ONCE_INIT;                                                 \
        pthread_once(&once, load);                                                                      \
        return available ? TW_OK : tw__fail(TW_UNIMPLEMENTED, "%s: " words ", which is not there", op); \
    }
#define TW_IMAGE_POINTER(name) static __typeof__(name) *p_##name;
#define TW_IMAGE_SYMBOL(name) { #name, (void **)&p_##name },

#endif
