/* Bytes as tensors: the elements' own bytes (DecodeRaw), TensorProto messages (SerializeTensor, ParseTensor), compressed bytes.
 *
 * The strings of one DecodeRaw are equally long; DecodePaddedRaw cuts or fills them up with zeros to a length. */
#include "codec/message.h"
#include "format/format.h"
#include "format/array/tensor_message.h"
#include "op/calls.h"
#include "op/op.h"
#include "op/text/text.h"
#include "rows.h"

enum {
    MOST_REPEATED = 1 << 30
}; /* bytes of a parsed tensor beyond those of its message, whose last element may stand for many */

/* ---- raw bytes ---- */

static tw_status raw_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    if (in->rank < 0)
        return TW_OK;
    if (in->rank == TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "strings of %d dimensions", in->rank);
    tw_shape *out = inference->out_shapes;
    *out = *in;
    out->dims[out->rank++] = -1;
    return TW_OK;
}

/* Elements of `unit` bytes from strings of which each gives `size` bytes. */
static tw_status copy_raw(tw__kernel *kernel, size_t size, tw_dtype dtype)
{
    const tw_tensor *in = kernel->inputs[0];
    size_t unit = tw__element_size(dtype), part = tw__dtype_is_complex(dtype) ? unit / 2 : unit;
    tw_shape shape = in->shape;
    shape.dims[shape.rank++] = (int64_t)(size / unit);
    tw_tensor *out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    char *to = out->data;
    for (int64_t i = 0; size && i < in->count; i++, to += size) {
        tw_string s = tw__strings(in)[i];
        size_t have = s.size < size ? s.size : size;
        if (have)
            memcpy(to, s.data, have);
        memset(to + have, 0, size - have);
    }
    size_t all = size * (size_t)in->count;
    if (!TW_ATTR(kernel, "little_endian")->b)
        tw__swap_bytes(out->data, all, part);
    for (size_t i = 0; dtype == TW_BOOL && i < all; i++)
        ((uint8_t *)out->data)[i] = ((uint8_t *)out->data)[i] != 0;
    return TW_OK;
}

static tw_status raw_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_dtype dtype = TW_ATTR(kernel, "out_type")->type;
    size_t size = in->count ? tw__strings(in)[0].size : 0, unit = tw__element_size(dtype);
    for (int64_t i = 1; i < in->count; i++) {
        if (tw__strings(in)[i].size != size)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "DecodeRaw requires input strings to all be the same size, but element %lld has size %zu != %zu",
                            (long long)i, size, tw__strings(in)[i].size);
    }
    if (size % unit)
        return tw__fail(TW_INVALID_ARGUMENT, "Input to DecodeRaw has length %zu that is not a multiple of %zu, the size of %s",
                        size, unit, tw__dtype_text(dtype));
    return copy_raw(kernel, size, dtype);
}

TW_OP(DecodeRaw, .inputs = "bytes: string", .outputs = "output: out_type",
      .attrs =
          "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}, "
          "little_endian: bool = true",
      .shape = raw_shape, .compute = raw_compute, .doc = "Tensors whose elements' bytes are those of strings.");

static tw_status padded_compute(tw__kernel *kernel)
{
    tw_dtype dtype = TW_ATTR(kernel, "out_type")->type;
    int64_t size = tw_tensor_int_at(kernel->inputs[1], 0), unit = (int64_t)tw__element_size(dtype);
    if (size <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "`fixed_length` (%lld) must be greater than zero.", (long long)size);
    if (size % unit)
        return tw__fail(TW_INVALID_ARGUMENT, "`fixed_length` (%lld) must be a multiple of the size of `out_type` (%lld)",
                        (long long)size, (long long)unit);
    return copy_raw(kernel, (size_t)size, dtype);
}

TW_OP(DecodePaddedRaw, .inputs = "input_bytes: string, fixed_length: int32", .outputs = "output: out_type",
      .attrs = "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}, little_endian: bool = true",
      .shape = raw_shape, .compute = padded_compute,
      .doc = "Tensors whose elements' bytes are those of strings, cut or filled up with zeros to a length.");

TW_API(
    io_decode_raw,
    "io.decode_raw(input_bytes: tensor<string>, out_type: dtype, little_endian: bool = True, fixed_length: tensor<int32> = None, name: str = None) "
    "-> tensor",
    "The numbers whose bytes strings hold; with fixed_length strings are cut or filled up with zeros to so many bytes.\n"
    "input_bytes: strings of one length\n"
    "out_type: the dtype of the numbers\n"
    "little_endian: False: each number has its highest byte first\n"
    "fixed_length: how many bytes of each string count; None: all\n"
    "example: tf.io.decode_raw('AB', tf.uint8).numpy().tolist()  # [65, 66]")
{
    const tw_attr attrs[] = { TW_A_TYPE("out_type", args->out_type), TW_A_BOOL("little_endian", args->little_endian) };
    if (!args->fixed_length)
        return tw__call(&tw__op_DecodeRaw, TW_IN(args->input_bytes), 1, attrs, 2);
    return tw__call(&tw__op_DecodePaddedRaw, TW_IN(args->input_bytes, args->fixed_length), 2, attrs, 2);
}

/* ---- messages ---- */

static tw_status serialize_compute(tw__kernel *kernel)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    TW_TRY(tw__tensor_message_body(&text, kernel->inputs[0]));
    return tw__string_from_text(kernel->outputs[0], 0, &text);
}

TW_OP(SerializeTensor, .inputs = "tensor: T", .outputs = "serialized: string", .attrs = "T: type", .shape = tw_shape_scalar,
      .compute = serialize_compute,
      .function = "io.serialize_tensor|compat.v1.serialize_tensor(tensor: tensor, name: str = None) -> tensor",
      .doc = "A tensor as bytes, which parse_tensor reads.\n"
             "tensor: a tensor\n"
             "returns: a string");

static tw_status parse_shape(tw__inference *inference)
{
    return tw__need_scalar(inference, 0, "Expected `serialized` to be a scalar, got shape:");
}

static tw_status parse_compute(tw__kernel *kernel)
{
    tw_string bytes = tw__strings(kernel->inputs[0])[0];
    tw_dtype wanted = TW_ATTR(kernel, "out_type")->type;
    tw__tensor_message message;
    size_t budget = bytes.size + MOST_REPEATED;
    tw__owned char *merged = NULL;
    if (!tw__message_merge(&tw__type_TensorProto, &bytes, &merged))
        return tw__error_status();
    if (tw__tensor_message_open(bytes, &message) != TW_OK) {
        tw__text text = { 0 };
        tw_clear_error();
        tw__base64_add(&text, bytes, true);
        tw_status status = tw__fail(TW_INVALID_ARGUMENT, "Could not parse `serialized` as TensorProto, base64: %.*s",
                                    (int)(text.size < 1000 ? text.size : 1000), text.data ? text.data : "");
        tw__text_free(&text);
        return status;
    }
    if (message.dtype != wanted)
        return tw__fail(TW_INVALID_ARGUMENT, "Type mismatch between parsed tensor (%s) and dtype (%s)",
                        tw__dtype_text(message.dtype), tw__dtype_text(wanted));
    tw_tensor *made = tw__tensor_message_read(&message, -1, &budget);
    return made ? tw__output_take(kernel, 0, made) : tw__error_status();
}

TW_OP(
    ParseTensor, .inputs = "serialized: string", .outputs = "output: out_type", .attrs = "out_type: type", .shape = parse_shape,
    .compute = parse_compute, .makes_outputs = true,
    .function = "io.parse_tensor|compat.v1.parse_tensor(serialized: tensor<string>, out_type: dtype, name: str = None) -> tensor",
    .doc = "The tensor whose bytes serialize_tensor made.\n"
           "serialized: the string\n"
           "out_type: the dtype of the tensor\n"
           "raises: InvalidArgumentError: the bytes are no tensor of that dtype\n"
           "example: tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy().tolist()  # [1, 2]");

TW_API(io_tensor_message, "io._tensor_message(tensor: tensor) -> tensor",
       "A tensor's TensorProto as programs make one: a single element in its list.")
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__AttrValue value;
    tw_tensor *made = NULL;
    if (tw__tensor_message_write(&text, TW_AttrValue_tensor, args->tensor) == TW_OK &&
        tw__read_AttrValue((tw_string){ text.data, text.size }, &value))
        made = tw_tensor_string(value.tensor.data, value.tensor.size);
    return made;
}

/* ---- compressed bytes ---- */

static tw_status inflate_compute(tw__kernel *kernel)
{
    tw__compression compression;
    tw_string type = TW_ATTR(kernel, "compression_type")->s;
    char name[8] = "";
    if (type.size && type.size < sizeof name)
        memcpy(name, type.data, type.size);
    if (type.size >= sizeof name || !tw__compression_find(name, &compression))
        return tw__fail(TW_INVALID_ARGUMENT, "Only ZLIB, GZIP or NONE are supported compressions");
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        tw_string s = tw__strings(kernel->inputs[0])[i];
        if (compression == TW_COMPRESSION_NONE)
            tw__text_bytes(&text, s.data, s.size);
        else if (!tw__inflate_all(s.data, s.size, compression == TW_COMPRESSION_GZIP ? TW_DEFLATED_GZIP : TW_DEFLATED_ZLIB,
                                  &text))
            TW_TRY(text.failed ? tw__error_status() : tw__fail(TW_DATA_LOSS, "inflate() failed: incorrect data"));
        TW_TRY(tw__string_from_text(kernel->outputs[0], i, &text));
    }
    return TW_OK;
}

TW_OP(DecodeCompressed, .inputs = "bytes: string", .outputs = "output: string", .attrs = "compression_type: string = ''",
      .shape = tw_shape_same, .compute = inflate_compute, .doc = "What compressed strings hold.");

TW_API(
    io_decode_compressed,
    "io.decode_compressed|compat.v1.decode_compressed(bytes: tensor<string>, compression_type: str = None shown '', name: str = None) -> tensor",
    "What strings compressed by ZLIB or GZIP hold.\n"
    "bytes: compressed strings\n"
    "compression_type: `ZLIB` or `GZIP`; None or an empty text: they are not compressed")
{
    const char *type = args->compression_type ? args->compression_type : "";
    return TW_CALL(DecodeCompressed, args->bytes, TW_A_STRING("compression_type", type));
}
