/* Pictures as ops: DecodeJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeImage, EncodeJpeg, EncodePng and their kin.
 *
 * What the bytes are is told by how they begin; all but DecodeBmp take JPEG, PNG and GIF alike. */
#include "format/picture/image.h"
#include "op/op.h"
#include "rows.h"

typedef enum format { UNKNOWN, JPEG, PNG, GIF, BMP } format;

static format format_of(tw_string data)
{
    static const struct {
        const char *magic;
        size_t size;
        format format;
    } known[] = { { "\xff\xd8\xff", 3, JPEG }, { "\x89PNG\x0d\x0a\x1a\x0a", 8, PNG }, { "GIF8", 4, GIF }, { "BM", 2, BMP } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (data.size >= known[i].size && memcmp(data.data, known[i].magic, known[i].size) == 0)
            return known[i].format;
    }
    return UNKNOWN;
}

/* ---- decoding ---- */

/* The pixels as the op gives them: in place for 8 and 16 bits, converted for float. */
typedef struct picture {
    tw__kernel *kernel;
    bool frames_kept; /* four dimensions for those that move */
    bool still;       /* three dimensions, or an error */
    bool always_frames;
    tw_dtype dtype;
    int bits;        /* of what the decoder gives */
    tw_tensor *made; /* what the decoder fills */
    tw_shape shape;
} picture;

static void *place(void *context, int64_t frames, int64_t height, int64_t width, int64_t channels)
{
    picture *p = context;
    if (frames > 1 && p->still) {
        tw__fail(TW_INVALID_ARGUMENT,
                 "Got %lld frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image",
                 (long long)frames);
        return NULL;
    }
    bool four = p->always_frames || (frames > 0 && p->frames_kept);
    p->shape = four ? TW_SHAPE(frames ? frames : 1, height, width, channels) : TW_SHAPE(height, width, channels);
    tw_shape all = p->shape;
    if (frames > 1 && !four) /* only the first one is wanted */
        all = TW_SHAPE(frames, height, width, channels);
    p->made = tw__tensor_empty(p->bits == 16 ? TW_UINT16 : TW_UINT8, &all);
    return p->made ? p->made->data : NULL;
}

/* As tf.image.convert_image_dtype does it. */
static void convert(const tw_tensor *from, tw_tensor *to)
{
    const uint8_t *bytes = from->data;
    const uint16_t *words = from->data;
    for (int64_t i = 0; i < to->count; i++) {
        if (to->dtype == TW_UINT16)
            ((uint16_t *)to->data)[i] = (uint16_t)(bytes[i] * 256);
        else if (from->dtype == TW_UINT16)
            ((float *)to->data)[i] = (float)words[i] * (1.0f / 65535.0f);
        else
            ((float *)to->data)[i] = (float)bytes[i] * (1.0f / 255.0f);
    }
}

static tw_status give(picture *p, tw_status status)
{
    if (status == TW_OK && p->made->dtype == p->dtype && p->made->count && tw__shape_equal(&p->made->shape, &p->shape))
        return tw__output_take(p->kernel, 0, p->made);
    tw_tensor *out = status == TW_OK ? tw__tensor_empty(p->dtype, &p->shape) : NULL;
    if (out && p->made->dtype == p->dtype)
        memcpy(out->data, p->made->data, (size_t)out->count * tw__element_size(p->dtype));
    else if (out)
        convert(p->made, out);
    tw_release(p->made);
    if (!out)
        return status == TW_OK ? tw__error_status() : status;
    return tw__output_take(p->kernel, 0, out);
}

static tw_status decode_jpeg(tw__kernel *kernel, tw_string data, int channels, tw__image_target target)
{
    tw__jpeg_options options = { .channels = channels, .least = 1 };
    if (strstr(kernel->op->name, "Jpeg")) {
        tw_string method = TW_ATTR(kernel, "dct_method")->s;
        int64_t ratio = TW_ATTR(kernel, "ratio")->i;
        if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
            return tw__fail(TW_INVALID_ARGUMENT, "ratio must be 1, 2, 4, or 8, got %lld", (long long)ratio);
        options.ratio = (int)ratio;
        options.accurate = method.size == 16 && memcmp(method.data, "INTEGER_ACCURATE", 16) == 0;
        if (method.size && !options.accurate && !(method.size == 12 && memcmp(method.data, "INTEGER_FAST", 12) == 0))
            return tw__fail(TW_INVALID_ARGUMENT, "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
        options.plain_upscaling = !TW_ATTR(kernel, "fancy_upscaling")->b;
        options.recover = TW_ATTR(kernel, "try_recover_truncated")->b;
        options.least = TW_ATTR(kernel, "acceptable_fraction")->f;
    }
    if (kernel->input_count > 1) {
        options.crop = true;
        TW_TRY(tw__tensor_read_ints(kernel->inputs[1], "crop_window", options.window, 4));
    }
    if (channels == 4)
        return tw__fail(TW_INVALID_ARGUMENT, "JPEG does not support 4 channels");
    return tw__jpeg_decode(kernel->op->name, data, &options, target);
}

static tw_status wrong_op(const tw__kernel *kernel, const char *name, const char *function)
{
    return tw__fail(TW_INVALID_ARGUMENT, "Trying to decode %s format using %s op. Use `%s` or `decode_image` instead.", name,
                    kernel->op->name, function);
}

static tw_status decode_any(tw__kernel *kernel, picture *p, tw_string data, int channels)
{
    const char *op = kernel->op->name;
    bool bmp = kernel->op == &tw__op_DecodeBmp, image = kernel->op == &tw__op_DecodeImage,
         crop = kernel->op == &tw__op_DecodeAndCropJpeg;
    tw__image_target target = { place, p };
    switch (format_of(data)) {
    case JPEG:
        return bmp ? wrong_op(kernel, "JPEG", "decode_jpeg") : decode_jpeg(kernel, data, channels, target);
    case PNG:
        if (bmp || crop)
            return wrong_op(kernel, "PNG", "decode_png");
        p->bits = p->dtype == TW_UINT8 ? 8 : 16;
        return tw__png_decode(op, data, channels, p->bits, target);
    case GIF:
        if (bmp || crop)
            return wrong_op(kernel, "GIF", "decode_gif");
        if (channels != 0 && channels != 3)
            return tw__fail(TW_INVALID_ARGUMENT, "channels must be 0 or 3 for GIF, got %d", channels);
        return tw__gif_decode(op, data, target);
    case BMP:
        if (!bmp && !image)
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: %s", op);
        if (channels == 1)
            return tw__fail(TW_INVALID_ARGUMENT, "`channels` must be 0, 3 or 4 for BMP, but got 1");
        return tw__bmp_decode(data, channels, target);
    default:
        return data.size ? tw__fail(TW_INVALID_ARGUMENT, "Unknown image file format. One of JPEG, PNG, GIF, BMP required.")
                         : tw__fail(TW_INVALID_ARGUMENT, "Input is empty.");
    }
}

static tw_status decode_compute(tw__kernel *kernel)
{
    bool gif = kernel->op == &tw__op_DecodeGif, image = kernel->op == &tw__op_DecodeImage;
    int64_t channels = gif ? 0 : TW_ATTR(kernel, "channels")->i;
    if (channels < 0 || channels > 4 || channels == 2)
        return tw__fail(TW_INVALID_ARGUMENT, "`channels` must be 0, 1, 3 or 4 but got %lld", (long long)channels);
    picture p = { .kernel = kernel, .bits = 8, .dtype = kernel->out_dtypes[0], .always_frames = gif };
    p.frames_kept = gif || (image && TW_ATTR(kernel, "expand_animations")->b);
    p.still = !gif && !image;
    tw_status status = decode_any(kernel, &p, tw_tensor_string_at(kernel->inputs[0], 0), (int)channels);
    return give(&p, status);
}

static tw_status need_contents(const tw__inference *inference)
{
    const tw_shape *shape = inference->shapes[0];
    return shape->rank <= 0 ? TW_OK
                            : tw__fail(TW_INVALID_ARGUMENT, "`contents` must be scalar but got shape%s", tw__shape_text(shape));
}

static tw_status decode_shape(tw__inference *inference)
{
    TW_TRY(need_contents(inference));
    bool gif = inference->op == &tw__op_DecodeGif;
    int64_t channels = gif ? 3 : TW_ATTR(inference, "channels")->i;
    if (inference->op == &tw__op_DecodeImage) {
        if (TW_ATTR(inference, "expand_animations")->b)
            return TW_OK; /* three dimensions or four */
    }
    inference->out_shapes[0] = gif ? TW_SHAPE(-1, -1, -1, 3) : TW_SHAPE(-1, -1, channels > 0 ? channels : -1);
    return TW_OK;
}

#define JPEG_ATTRS                                                                                                                           \
    "channels: int = 0, ratio: int = 1, fancy_upscaling: bool = true, try_recover_truncated: bool = false, acceptable_fraction: float = 1, " \
    "dct_method: string = ''"

TW_OP(DecodeJpeg, .inputs = "contents: string", .outputs = "image: uint8", .attrs = JPEG_ATTRS, .shape = decode_shape,
      .compute = decode_compute, .makes_outputs = true,
      .function = "image.decode_jpeg|io.decode_jpeg(contents: tensor<string>, channels: int = 0, ratio: int = 1, "
                  "fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1, "
                  "dct_method: str = '', name: str = None) -> tensor",
      .doc = "The pixels of a JPEG picture.\n"
             "ratio: by what the picture shrinks: 1, 2, 4 or 8\n"
             "fancy_upscaling: False: colours are spread to pixels without smoothing\n"
             "try_recover_truncated: True: a file that ends too early gives the part that is there, and grey below it\n"
             "acceptable_fraction: the part of the lines that a file that ends too early must have; the others are black\n"
             "dct_method: the arithmetic: `INTEGER_ACCURATE`, `INTEGER_FAST`, or empty, which is the fast one");

TW_OP(DecodeAndCropJpeg, .inputs = "contents: string, crop_window: int32", .outputs = "image: uint8", .attrs = JPEG_ATTRS,
      .shape = decode_shape, .compute = decode_compute, .makes_outputs = true,
      .function = "image.decode_and_crop_jpeg|io.decode_and_crop_jpeg(contents: tensor<string>, "
                  "crop_window: tensor<int32>, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, "
                  "try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = '', "
                  "name: str = None) -> tensor",
      .doc = "The pixels of a part of a JPEG picture: y, x, height, width.\n"
             "ratio: by what the picture shrinks: 1, 2, 4 or 8\n"
             "fancy_upscaling: False: colours are spread to pixels without smoothing\n"
             "try_recover_truncated: True: a file that ends too early gives the part that is there, and grey below it\n"
             "acceptable_fraction: the part of the lines that a file that ends too early must have; the others are black\n"
             "dct_method: the arithmetic: `INTEGER_ACCURATE`, `INTEGER_FAST`, or empty, which is the fast one\n"
             "crop_window: y, x, height and width in pixels");

TW_OP(DecodePng, .inputs = "contents: string", .outputs = "image: dtype",
      .attrs = "channels: int = 0, dtype: {uint8, uint16} = uint8", .shape = decode_shape, .compute = decode_compute,
      .makes_outputs = true,
      .function = "image.decode_png|io.decode_png(contents: tensor<string>, channels: int = 0, dtype: dtype = uint8, "
                  "name: str = None) -> tensor",
      .doc = "The pixels of a PNG picture.");

TW_OP(DecodeGif, .inputs = "contents: string", .outputs = "image: uint8", .shape = decode_shape, .compute = decode_compute,
      .makes_outputs = true, .function = "image.decode_gif|io.decode_gif(contents: tensor<string>, name: str = None) -> tensor",
      .doc = "The frames of a GIF picture.");

TW_OP(DecodeBmp, .inputs = "contents: string", .outputs = "image: uint8", .attrs = "channels: int = 0", .shape = decode_shape,
      .compute = decode_compute, .makes_outputs = true,
      .function = "image.decode_bmp|io.decode_bmp(contents: tensor<string>, channels: int = 0, "
                  "name: str = None) -> tensor",
      .doc = "The pixels of a BMP picture.");

TW_OP(DecodeImage, .inputs = "contents: string", .outputs = "image: dtype",
      .attrs = "channels: int = 0, dtype: {uint8, uint16, float} = uint8, expand_animations: bool = true", .shape = decode_shape,
      .compute = decode_compute, .makes_outputs = true, .doc = "The pixels of a JPEG, PNG, GIF or BMP picture.");

/* ---- shapes of files ---- */

static tw_status extract_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(3);
    return need_contents(inference);
}

static tw_status extract_compute(tw__kernel *kernel)
{
    int64_t shape[3];
    TW_TRY(tw__jpeg_shape(kernel->op->name, tw_tensor_string_at(kernel->inputs[0], 0), shape));
    for (int i = 0; i < 3; i++) {
        if (kernel->outputs[0]->dtype == TW_INT64)
            ((int64_t *)kernel->outputs[0]->data)[i] = shape[i];
        else
            ((int32_t *)kernel->outputs[0]->data)[i] = (int32_t)shape[i];
    }
    return TW_OK;
}

TW_OP(ExtractJpegShape, .inputs = "contents: string", .outputs = "image_shape: output_type",
      .attrs = "output_type: {int32, int64} = int32", .shape = extract_shape, .compute = extract_compute,
      .function = "image.extract_jpeg_shape|io.extract_jpeg_shape(contents: tensor<string>, "
                  "output_type: dtype = int32, name: str = None) -> tensor",
      .doc = "Height, width and channels of a JPEG picture.");

/* ---- encoding ---- */

static tw_status finish(tw__kernel *kernel, int64_t index, tw__text *text, tw_status status)
{
    if (status == TW_OK)
        status = tw__string_set(kernel->outputs[0], index, text->data ? text->data : "", text->size);
    tw__text_free(text);
    return status;
}

static tw_status encode_jpeg_shape(tw__inference *inference)
{
    const tw_shape *shape = inference->shapes[0];
    inference->out_shapes[0] = TW_SCALAR;
    if (shape->rank >= 0 && shape->rank != 3)
        return tw__fail(TW_INVALID_ARGUMENT, "image must be 3-dimensional%s", tw__shape_text(shape));
    return TW_OK;
}

static tw_status encode_jpeg(tw__kernel *kernel, const tw__jpeg_writing *options, tw_string wanted)
{
    const tw_shape *shape = &kernel->inputs[0]->shape;
    int64_t channels = shape->dims[2], expected = wanted.size == 0 ? 0 : wanted.data[0] == 'g' ? 1 : 3;
    if (expected && channels != expected)
        return tw__fail(TW_INVALID_ARGUMENT, "format %.*s expects %lld channels, got %s", (int)wanted.size, wanted.data,
                        (long long)expected, tw__shape_text(shape));
    if (channels != 1 && channels != 3)
        return tw__fail(TW_INVALID_ARGUMENT, "image must have 1 or 3 channels, got %s", tw__shape_text(shape));
    if (options->quality < 0 || options->quality > 100)
        return tw__fail(TW_INVALID_ARGUMENT, "quality must be in [0,100], got %d", options->quality);
    tw__text text = { 0 };
    tw_status status =
        tw__jpeg_encode(kernel->op->name, kernel->inputs[0]->data, shape->dims[0], shape->dims[1], (int)channels, options, &text);
    return finish(kernel, 0, &text, status);
}

static int clamp(int64_t value)
{
    return (int)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

static tw_status encode_jpeg_compute(tw__kernel *kernel)
{
    tw_string unit = TW_ATTR(kernel, "density_unit")->s;
    tw__jpeg_writing options = { .quality = clamp(TW_ATTR(kernel, "quality")->i),
                                 .progressive = TW_ATTR(kernel, "progressive")->b,
                                 .optimize = TW_ATTR(kernel, "optimize_size")->b,
                                 .full_chroma = !TW_ATTR(kernel, "chroma_downsampling")->b,
                                 .density_unit = unit.size && unit.data[0] == 'c' ? 2 : 1,
                                 .x_density = clamp(TW_ATTR(kernel, "x_density")->i),
                                 .y_density = clamp(TW_ATTR(kernel, "y_density")->i),
                                 .xmp = TW_ATTR(kernel, "xmp_metadata")->s };
    return encode_jpeg(kernel, &options, TW_ATTR(kernel, "format")->s);
}

TW_OP(EncodeJpeg, .inputs = "image: uint8", .outputs = "contents: string",
      .attrs =
          "format: {'', 'grayscale', 'rgb'} = '', quality: int = 95, progressive: bool = false, optimize_size: bool = false, "
          "chroma_downsampling: bool = true, density_unit: {'in', 'cm'} = 'in', x_density: int = 300, y_density: int = 300, "
          "xmp_metadata: string = ''",
      .shape = encode_jpeg_shape, .compute = encode_jpeg_compute,
      .function = "image.encode_jpeg|io.encode_jpeg(image: tensor<uint8>, format: str = '', quality: int = 95, "
                  "progressive: bool = False, optimize_size: bool = False, chroma_downsampling: bool = True, "
                  "density_unit: str = in, x_density: int = 300, y_density: int = 300, xmp_metadata: str = '', "
                  "name: str = None) -> tensor",
      .doc = "A JPEG picture of pixels.\n"
             "image: pixels [height, width, channels]\n"
             "format: `grayscale`, `rgb`, or empty: as the channels say\n"
             "quality: from 0 (worst) to 100\n"
             "progressive: True: the file can be shown while it comes in\n"
             "optimize_size: True: take more time for a smaller file; pixels are the same\n"
             "chroma_downsampling: True: colours have half of the resolution\n"
             "density_unit: the unit of densities: `in` or `cm`\n"
             "x_density: how many pixels a unit has in a row\n"
             "y_density: how many pixels a unit has in a column\n"
             "xmp_metadata: a text that the file holds as XMP\n"
             "returns: a string, the bytes of the file");

static tw_status variable_quality_compute(tw__kernel *kernel)
{
    if (kernel->inputs[1]->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "quality must be scalar: %s", tw__shape_text(&kernel->inputs[1]->shape));
    tw__jpeg_writing options = {
        .quality = (int)tw_tensor_int_at(kernel->inputs[1], 0), .density_unit = 1, .x_density = 300, .y_density = 300
    };
    return encode_jpeg(kernel, &options, (tw_string){ 0 });
}

TW_OP(EncodeJpegVariableQuality, .inputs = "images: uint8, quality: int32", .outputs = "contents: string",
      .shape = encode_jpeg_shape, .compute = variable_quality_compute,
      .doc = "A JPEG picture of pixels, whose quality is a tensor.");

static tw_status encode_png_shape(tw__inference *inference)
{
    const tw_shape *shape = inference->shapes[0];
    if (shape->rank < 0)
        return TW_OK;
    if (shape->rank < 3)
        return tw__fail(TW_INVALID_ARGUMENT, "images must be at least rank 3%s", tw__shape_text(shape));
    inference->out_shapes[0] = *shape;
    inference->out_shapes[0].rank -= 3;
    return TW_OK;
}

static tw_status encode_png_compute(tw__kernel *kernel)
{
    const tw_tensor *image = kernel->inputs[0];
    const int64_t *dims = image->shape.dims + image->shape.rank - 3;
    int64_t compression = TW_ATTR(kernel, "compression")->i;
    if (compression < -1 || compression > 9)
        return tw__fail(TW_INVALID_ARGUMENT, "compression should be in [-1,9], got %lld", (long long)compression);
    if (dims[2] < 1 || dims[2] > 4)
        return tw__fail(TW_INVALID_ARGUMENT, "image must have 1, 2, 3, or 4 channels, got %lld", (long long)dims[2]);
    size_t size = (size_t)(dims[0] * dims[1] * dims[2]) * tw__element_size(image->dtype);
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        tw__text text = { 0 };
        tw_status status = tw__png_encode(kernel->op->name, (const char *)image->data + (size_t)i * size, dims[0], dims[1],
                                          (int)dims[2], image->dtype == TW_UINT16 ? 16 : 8, (int)compression, &text);
        TW_TRY(finish(kernel, i, &text, status));
    }
    return TW_OK;
}

TW_OP(EncodePng, .inputs = "image: T", .outputs = "contents: string",
      .attrs = "compression: int = -1, T: {uint8, uint16} = uint8", .shape = encode_png_shape, .compute = encode_png_compute,
      .doc = "PNG pictures of pixels.");
