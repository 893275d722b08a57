/* PNG by libpng, with the choices that TensorFlow makes: palettes and transparent colours become channels, 16 bits are cut to 8
 * or 8 widened to 16, grey from colours by 0.299, 0.587, 0.114; writing with libpng's own choice of filters.
 *
 * libpng leaves its functions by longjmp when it finds an error; what lives across such calls is in a struct on the heap. Its
 * memory is ours. */
#include <setjmp.h>

#include <png.h>

#include "format/picture/image.h"

/* clang-format off */
#define FUNCTIONS(X) \
    X(png_create_read_struct_2) X(png_create_write_struct_2) X(png_create_info_struct) X(png_destroy_read_struct) \
    X(png_destroy_write_struct) X(png_set_read_fn) X(png_set_write_fn) X(png_read_info) X(png_get_IHDR) X(png_get_valid) \
    X(png_set_tRNS_to_alpha) X(png_set_palette_to_rgb) X(png_set_strip_16) X(png_set_packing) X(png_set_expand_gray_1_2_4_to_8) \
    X(png_set_strip_alpha) X(png_set_add_alpha) X(png_set_gray_to_rgb) X(png_set_rgb_to_gray) X(png_set_swap) X(png_read_update_info) \
    X(png_set_interlace_handling) X(png_get_rowbytes) X(png_read_row) X(png_read_end) X(png_set_longjmp_fn) X(png_set_IHDR) \
    X(png_write_info) X(png_write_row) X(png_write_end) X(png_set_compression_level) X(png_get_io_ptr) X(png_longjmp) \
    X(png_set_user_limits)
/* clang-format on */

TW_IMAGE_LIBRARY(FUNCTIONS, "libpng16.so.16", "PNG needs libpng16.so.16 (Debian's libpng16-16)")

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    (void)png;
    return tw__alloc(size);
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    tw__free(memory);
}

static void leave(png_structp png, png_const_charp message)
{
    (void)message;
    p_png_longjmp(png, 1);
}

static void say_nothing(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* The place to come back to; png_jmpbuf with the loaded function. */
#define COME_BACK(png) setjmp(*p_png_set_longjmp_fn((png), longjmp, sizeof(jmp_buf)))

/* ---- reading ---- */

typedef struct reader {
    png_structp png;
    png_infop info;
    const uint8_t *at, *end;
    int channels, bits;
    bool widen, has_head, no_room;
    int64_t height, width;
    uint8_t *out;
} reader;

static void read_bytes(png_structp png, png_bytep data, size_t size)
{
    reader *r = p_png_get_io_ptr(png);
    if ((size_t)(r->end - r->at) < size)
        p_png_longjmp(png, 1);
    memcpy(data, r->at, size);
    r->at += size;
}

/* What libpng shall make of the pixels. */
static bool set_transforms(reader *r)
{
    png_uint_32 width, height;
    int depth, color;
    p_png_get_IHDR(r->png, r->info, &width, &height, &depth, &color, NULL, NULL, NULL);
    r->width = width;
    r->height = height;
    bool transparent = p_png_get_valid(r->png, r->info, PNG_INFO_tRNS), alpha = (color & PNG_COLOR_MASK_ALPHA) || transparent;
    bool colored = color & PNG_COLOR_MASK_COLOR;
    /* A transparent colour makes a channel only where a palette has it, or if one is asked for. */
    int own = (colored ? 3 : 1) + ((color & PNG_COLOR_MASK_ALPHA) || (transparent && color == PNG_COLOR_TYPE_PALETTE));
    if (r->channels == 0)
        r->channels = own;
    bool want_alpha = r->channels % 2 == 0, want_color = r->channels > 2;
    if (transparent)
        p_png_set_tRNS_to_alpha(r->png);
    if (color == PNG_COLOR_TYPE_PALETTE)
        p_png_set_palette_to_rgb(r->png);
    if (depth > 8 && r->bits <= 8)
        p_png_set_strip_16(r->png);
    r->widen = r->bits == 16 && depth <= 8;
    p_png_set_packing(r->png);
    if (!colored && depth < 8)
        p_png_set_expand_gray_1_2_4_to_8(r->png);
    if (r->bits == 16 && depth > 8)
        p_png_set_swap(r->png);
    if (alpha && !want_alpha)
        p_png_set_strip_alpha(r->png);
    else if (!alpha && want_alpha)
        p_png_set_add_alpha(r->png, (1u << depth) - 1, PNG_FILLER_AFTER);
    if (want_color && !colored)
        p_png_set_gray_to_rgb(r->png);
    else if (!want_color && colored)
        p_png_set_rgb_to_gray(r->png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    return r->width * r->height < TW_IMAGE_LIMIT / r->channels;
}

/* From the end, in the place of the bytes: v becomes v * 257. */
static void widen(uint8_t *row, int64_t count)
{
    uint16_t *wide = (uint16_t *)(void *)row;
    for (int64_t i = count; i-- > 0;)
        wide[i] = (uint16_t)(row[i] * 257);
}

static bool read_png(reader *r, tw__image_target target)
{
    if (COME_BACK(r->png))
        return false;
    p_png_set_read_fn(r->png, r, read_bytes);
    p_png_set_user_limits(r->png, 1 << 28, 1 << 28);
    p_png_read_info(r->png, r->info);
    r->has_head = true;
    if (!set_transforms(r))
        return false;
    int passes = p_png_set_interlace_handling(r->png);
    p_png_read_update_info(r->png, r->info);
    size_t row = (size_t)(r->width * r->channels * (r->bits / 8));
    if (p_png_get_rowbytes(r->png, r->info) != (r->widen ? row / 2 : row))
        return false;
    r->out = target.place(target.context, 0, r->height, r->width, r->channels);
    r->no_room = !r->out;
    if (!r->out)
        return false;
    for (int pass = 0; pass < passes; pass++) {
        for (int64_t y = 0; y < r->height; y++)
            p_png_read_row(r->png, r->out + (size_t)y * row, NULL);
    }
    for (int64_t y = 0; r->widen && y < r->height; y++)
        widen(r->out + (size_t)y * row, r->width * r->channels);
    p_png_read_end(r->png, NULL);
    return true;
}

tw_status tw__png_decode(const char *op, tw_string data, int channels, int bits, tw__image_target target)
{
    TW_TRY(need_library(op));
    tw__owned reader *r = tw__alloc_zero(sizeof *r);
    TW_NEED(r);
    r->at = (const uint8_t *)data.data;
    r->end = r->at + data.size;
    r->channels = channels;
    r->bits = bits;
    r->png = p_png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, leave, say_nothing, NULL, allocate, release);
    r->info = r->png ? p_png_create_info_struct(r->png) : NULL;
    bool good = r->info && read_png(r, target), has_head = r->has_head, failed = r->no_room;
    if (r->png)
        p_png_destroy_read_struct(&r->png, &r->info, NULL);
    if (good)
        return TW_OK;
    if (failed || tw_error_code() == TW_RESOURCE_EXHAUSTED)
        return tw__error_status();
    return has_head ? tw__fail(TW_INVALID_ARGUMENT, "Invalid PNG data, size %zu", data.size)
                    : tw__fail(TW_INVALID_ARGUMENT, "Invalid PNG. Failed to initialize decoder.");
}

/* ---- writing ---- */

typedef struct writer {
    png_structp png;
    png_infop info;
    tw__text *out;
} writer;

static void write_bytes(png_structp png, png_bytep data, size_t size)
{
    tw__text_bytes(((writer *)p_png_get_io_ptr(png))->out, data, size);
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static bool write_png(writer *w, const uint8_t *pixels, int64_t height, int64_t width, int channels, int bits, int compression)
{
    static const int colors[] = { 0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA };
    if (COME_BACK(w->png))
        return false;
    p_png_set_write_fn(w->png, w, write_bytes, flush_nothing);
    if (compression >= 0)
        p_png_set_compression_level(w->png, compression);
    p_png_set_IHDR(w->png, w->info, (png_uint_32)width, (png_uint_32)height, bits, colors[channels], PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    p_png_write_info(w->png, w->info);
    if (bits == 16)
        p_png_set_swap(w->png);
    for (int64_t y = 0; y < height; y++)
        p_png_write_row(w->png, (png_const_bytep)(pixels + y * width * channels * (bits / 8)));
    p_png_write_end(w->png, NULL);
    return true;
}

tw_status tw__png_encode(const char *op, const void *pixels, int64_t height, int64_t width, int channels, int bits,
                         int compression, tw__text *out)
{
    if (height < 1 || width < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "image must have pixels, got %lld rows of %lld", (long long)height,
                        (long long)width);
    TW_TRY(need_library(op));
    tw__owned writer *w = tw__alloc_zero(sizeof *w);
    TW_NEED(w);
    w->out = out;
    w->png = p_png_create_write_struct_2(PNG_LIBPNG_VER_STRING, NULL, leave, say_nothing, NULL, allocate, release);
    w->info = w->png ? p_png_create_info_struct(w->png) : NULL;
    bool good =
        w->info && height <= INT32_MAX && width <= INT32_MAX && write_png(w, pixels, height, width, channels, bits, compression);
    if (w->png)
        p_png_destroy_write_struct(&w->png, &w->info);
    if (out->failed || tw_error_code() == TW_RESOURCE_EXHAUSTED)
        return TW_RESOURCE_EXHAUSTED;
    return good ? TW_OK : tw__fail(TW_INTERNAL, "PNG encoding failed");
}
