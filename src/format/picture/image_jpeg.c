/* JPEG by libjpeg (libjpeg-turbo), with the choices that TensorFlow makes: the fast inverse transform unless the accurate one is
 * asked for, smooth upscaling of colour, CMYK turned into RGB. A picture that is cut off is an error unless enough
 * lines are there; with `recover` it is grey from there on.
 *
 * libjpeg leaves its functions by longjmp when it finds an error; everything that lives across such calls is in a struct on the
 * heap. */
#include <setjmp.h>
#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

#include "format/picture/image.h"

/* clang-format off */
#define FUNCTIONS(X) \
    X(jpeg_std_error) X(jpeg_CreateDecompress) X(jpeg_read_header) X(jpeg_start_decompress) X(jpeg_read_scanlines) \
    X(jpeg_destroy_decompress) X(jpeg_calc_output_dimensions) X(jpeg_resync_to_restart) X(jpeg_CreateCompress) X(jpeg_set_defaults) \
    X(jpeg_set_quality) X(jpeg_simple_progression) X(jpeg_start_compress) X(jpeg_write_scanlines) X(jpeg_write_marker) \
    X(jpeg_finish_compress) X(jpeg_destroy_compress)
/* clang-format on */

TW_IMAGE_LIBRARY(FUNCTIONS, "libjpeg.so.62", "JPEG needs libjpeg.so.62 (Debian's libjpeg62-turbo)")

typedef struct trouble {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
} trouble;

static void leave(j_common_ptr cinfo)
{
    longjmp(((trouble *)cinfo->err)->jump, 1);
}

static void say_nothing(j_common_ptr cinfo, int level)
{
    if (level < 0)
        cinfo->err->num_warnings++;
}

static void print_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

static struct jpeg_error_mgr *set_up(trouble *t)
{
    p_jpeg_std_error(&t->manager);
    t->manager.error_exit = leave;
    t->manager.emit_message = say_nothing;
    t->manager.output_message = print_nothing;
    return &t->manager;
}

/* ---- reading ---- */

typedef struct reader {
    struct jpeg_decompress_struct cinfo;
    trouble trouble;
    struct jpeg_source_mgr source;
    bool recover;
    uint8_t *line; /* of a CMYK picture, or of one that is cropped */
    uint8_t *out;
} reader;

static void begin_source(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean more_source(j_decompress_ptr cinfo)
{
    static const JOCTET end[] = { 0xff, JPEG_EOI };
    reader *r = (reader *)cinfo;
    if (!r->recover)
        return FALSE; /* then the call that wanted more gives up */
    r->source.next_input_byte = end;
    r->source.bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip_source(j_decompress_ptr cinfo, long count)
{
    reader *r = (reader *)cinfo;
    size_t step = count <= 0 ? 0 : (size_t)count < r->source.bytes_in_buffer ? (size_t)count : r->source.bytes_in_buffer;
    r->source.next_input_byte += step;
    r->source.bytes_in_buffer -= step;
}

static reader *reader_new(tw_string data)
{
    reader *r = tw__alloc_zero(sizeof *r);
    if (!r)
        return NULL;
    r->cinfo.err = set_up(&r->trouble);
    r->source = (struct jpeg_source_mgr){ .next_input_byte = (const JOCTET *)data.data,
                                          .bytes_in_buffer = data.size,
                                          .init_source = begin_source,
                                          .fill_input_buffer = more_source,
                                          .skip_input_data = skip_source,
                                          .resync_to_restart = p_jpeg_resync_to_restart,
                                          .term_source = begin_source };
    return r;
}

static void reader_free(reader *r)
{
    p_jpeg_destroy_decompress(&r->cinfo);
    tw__free(r->line);
    tw__free(r);
}

static bool read_head(reader *r)
{
    p_jpeg_CreateDecompress(&r->cinfo, JPEG_LIB_VERSION, sizeof r->cinfo);
    r->cinfo.src = &r->source;
    return p_jpeg_read_header(&r->cinfo, TRUE) == JPEG_HEADER_OK;
}

/* One line of CMYK as RGB; Adobe's programs store it inverted. */
static void from_cmyk(const uint8_t *line, int64_t width, bool inverted, uint8_t *out)
{
    for (int64_t x = 0; x < width; x++, line += 4, out += 3) {
        int k = line[3];
        for (int i = 0; i < 3; i++)
            out[i] = (uint8_t)(inverted ? k * line[i] / 255 : (255 - k) * (255 - line[i]) / 255);
    }
}

static bool set_options(reader *r, const tw__jpeg_options *options, int *channels)
{
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    *channels = options->channels ? options->channels : cinfo->num_components < 3 ? cinfo->num_components : 3;
    if (*channels != 1 && *channels != 3)
        return false;
    bool cmyk = cinfo->jpeg_color_space == JCS_CMYK || cinfo->jpeg_color_space == JCS_YCCK;
    cinfo->out_color_space = *channels == 1 ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
    cinfo->do_fancy_upsampling = !options->plain_upscaling;
    cinfo->scale_num = 1;
    cinfo->scale_denom = (unsigned)(options->ratio ? options->ratio : 1);
    cinfo->dct_method = options->accurate ? JDCT_ISLOW : JDCT_IFAST;
    p_jpeg_calc_output_dimensions(cinfo);
    return true;
}

/* Reads the lines of the window; the last ones of the picture need not be there. Of those of the window the part `least` must be:
 * the others are black. */
static bool read_lines(reader *r, const int64_t *window, int channels, double least)
{
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    bool cmyk = cinfo->out_color_space == JCS_CMYK, whole = window[3] == cinfo->output_width && !cmyk;
    size_t row = (size_t)window[3] * (size_t)channels;
    for (int64_t y = 0; y < window[0] + window[2]; y++) {
        uint8_t *out = r->out + (y > window[0] ? (size_t)(y - window[0]) : 0) * row;
        JSAMPROW line = whole ? out : r->line;
        if (p_jpeg_read_scanlines(cinfo, &line, 1) != 1) {
            int64_t found = y > window[0] ? y - window[0] : 0;
            memset(r->out + (size_t)found * row, 0, (size_t)(window[2] - found) * row);
            return found >= least * window[2];
        }
        if (whole || y < window[0])
            continue;
        if (cmyk)
            from_cmyk(r->line + 4 * window[1], window[3], cinfo->saw_Adobe_marker, out);
        else
            memcpy(out, r->line + (size_t)window[1] * (size_t)channels, row);
    }
    return true;
}

/* 0: done; 1: these are no such bytes; 2: an error is set. */
static int decode(reader *r, const tw__jpeg_options *options, tw__image_target target)
{
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    int channels;
    if (setjmp(r->trouble.jump) || !read_head(r) || !set_options(r, options, &channels))
        return 1;
    int64_t window[4] = { 0, 0, cinfo->output_height, cinfo->output_width };
    if (options->crop) {
        const int64_t *w = options->window;
        if (w[0] < 0 || w[1] < 0 || w[2] <= 0 || w[3] <= 0 || w[0] > window[2] - w[2] || w[1] > window[3] - w[3])
            return 1;
        memcpy(window, w, sizeof window);
    }
    if ((int64_t)cinfo->output_width * cinfo->output_height * 4 >= TW_IMAGE_LIMIT * 4 / channels ||
        !p_jpeg_start_decompress(cinfo))
        return 1;
    r->line = tw__alloc((size_t)cinfo->output_width * 4);
    r->out = r->line ? target.place(target.context, 0, window[2], window[3], channels) : NULL;
    if (!r->out)
        return 2;
    return read_lines(r, window, channels, options->least) ? 0 : 1;
}

tw_status tw__jpeg_decode(const char *op, tw_string data, const tw__jpeg_options *options, tw__image_target target)
{
    TW_TRY(need_library(op));
    reader *r = reader_new(data);
    TW_NEED(r);
    r->recover = options->recover;
    int result = decode(r, options, target);
    reader_free(r);
    if (result == 1)
        return tw__fail(TW_INVALID_ARGUMENT, "jpeg::Uncompress failed. Invalid JPEG data or crop window.");
    return result ? tw__error_status() : TW_OK;
}

static bool find_shape(reader *r, int64_t *shape)
{
    if (setjmp(r->trouble.jump) || !read_head(r))
        return false;
    shape[0] = r->cinfo.image_height;
    shape[1] = r->cinfo.image_width;
    shape[2] = r->cinfo.num_components;
    return true;
}

tw_status tw__jpeg_shape(const char *op, tw_string data, int64_t shape[3])
{
    TW_TRY(need_library(op));
    reader *r = reader_new(data);
    TW_NEED(r);
    bool good = find_shape(r, shape);
    reader_free(r);
    return good ? TW_OK : tw__fail(TW_INVALID_ARGUMENT, "Invalid JPEG data, size %zu", data.size);
}

/* ---- writing ---- */

typedef struct writer {
    struct jpeg_compress_struct cinfo;
    trouble trouble;
    struct jpeg_destination_mgr target;
    tw__text *out;
    JOCTET piece[4096];
} writer;

static void begin_target(j_compress_ptr cinfo)
{
    writer *w = (writer *)cinfo;
    w->target.next_output_byte = w->piece;
    w->target.free_in_buffer = sizeof w->piece;
}

static boolean full_target(j_compress_ptr cinfo)
{
    writer *w = (writer *)cinfo;
    tw__text_bytes(w->out, w->piece, sizeof w->piece);
    begin_target(cinfo);
    return TRUE;
}

static void end_target(j_compress_ptr cinfo)
{
    writer *w = (writer *)cinfo;
    tw__text_bytes(w->out, w->piece, sizeof w->piece - w->target.free_in_buffer);
}

static void write_xmp(writer *w, tw_string xmp)
{
    static const char name[] = "http://ns.adobe.com/xap/1.0/"; /* with its zero byte */
    tw__auto(tw__text_free) tw__text marker = { 0 };
    tw__text_bytes(&marker, name, sizeof name);
    tw__text_bytes(&marker, xmp.data, xmp.size);
    if (!marker.failed)
        p_jpeg_write_marker(&w->cinfo, JPEG_APP0 + 1, (const JOCTET *)marker.data, (unsigned)marker.size);
    w->out->failed |= marker.failed;
}

static bool encode(writer *w, const uint8_t *pixels, int64_t height, int64_t width, int channels, const tw__jpeg_writing *options)
{
    struct jpeg_compress_struct *cinfo = &w->cinfo;
    if (setjmp(w->trouble.jump))
        return false;
    p_jpeg_CreateCompress(cinfo, JPEG_LIB_VERSION, sizeof *cinfo);
    w->target = (struct jpeg_destination_mgr){ .init_destination = begin_target,
                                               .empty_output_buffer = full_target,
                                               .term_destination = end_target };
    cinfo->dest = &w->target;
    cinfo->image_width = (JDIMENSION)width;
    cinfo->image_height = (JDIMENSION)height;
    cinfo->input_components = channels;
    cinfo->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    p_jpeg_set_defaults(cinfo);
    if (options->optimize)
        cinfo->optimize_coding = TRUE;
    cinfo->density_unit = (UINT8)options->density_unit;
    cinfo->X_density = (UINT16)options->x_density;
    cinfo->Y_density = (UINT16)options->y_density;
    p_jpeg_set_quality(cinfo, options->quality, TRUE);
    if (options->progressive)
        p_jpeg_simple_progression(cinfo);
    if (options->full_chroma) {
        for (int i = 0; i < cinfo->num_components; i++)
            cinfo->comp_info[i].h_samp_factor = cinfo->comp_info[i].v_samp_factor = 1;
    }
    p_jpeg_start_compress(cinfo, TRUE);
    if (options->xmp.size)
        write_xmp(w, options->xmp);
    for (int64_t y = 0; y < height; y++) {
        JSAMPROW line = (JSAMPROW)(pixels + y * width * channels);
        p_jpeg_write_scanlines(cinfo, &line, 1);
    }
    p_jpeg_finish_compress(cinfo);
    return true;
}

tw_status tw__jpeg_encode(const char *op, const uint8_t *pixels, int64_t height, int64_t width, int channels,
                          const tw__jpeg_writing *options, tw__text *out)
{
    if (height < 1 || width < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "image must have pixels, got %lld rows of %lld", (long long)height,
                        (long long)width);
    TW_TRY(need_library(op));
    tw__owned writer *w = tw__alloc_zero(sizeof *w);
    TW_NEED(w);
    w->cinfo.err = set_up(&w->trouble);
    w->out = out;
    bool good = height <= JPEG_MAX_DIMENSION && width <= JPEG_MAX_DIMENSION && options->xmp.size < 60000 &&
                encode(w, pixels, height, width, channels, options);
    p_jpeg_destroy_compress(&w->cinfo);
    if (!good)
        return tw__fail(TW_INTERNAL, "JPEG encoding failed");
    return out->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
