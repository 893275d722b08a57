/* Strings joined, measured, cut and stripped. Elements are bytes; unit UTF8_CHAR counts characters. */
#include "op/text/text.h"
#include "rows.h"

tw_status tw__string_from_text(tw_tensor *tensor, int64_t index, tw__text *text)
{
    if (text->failed)
        return tw__error_status();
    tw_status status = tw__string_set(tensor, index, text->data, text->size);
    tw__text_clear(text);
    return status;
}

tw_status tw__need_scalar(const tw__inference *inference, int input, const char *what)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank > 0)
        return tw__fail(TW_INVALID_ARGUMENT, "%s %s", what, tw__shape_text(shape));
    return TW_OK;
}

/* ---- StringJoin ---- */

static tw_status join_shape(tw__inference *inference)
{
    tw_shape *out = &inference->out_shapes[0];
    bool unknown = false;
    *out = TW_SCALAR;
    for (int i = 0; i < inference->input_count; i++) {
        const tw_shape *shape = inference->shapes[i];
        unknown = unknown || shape->rank < 0;
        if (shape->rank <= 0)
            continue;
        if (out->rank > 0 && !tw__shape_compatible(out, shape))
            return tw__fail(TW_INVALID_ARGUMENT, "Input shapes do not match: %s vs. %s", tw__shape_text(out),
                            tw__shape_text(shape));
        if (out->rank == 0 || tw__shape_known(shape))
            *out = *shape;
    }
    if (unknown && out->rank == 0)
        *out = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

static tw_status join_compute(tw__kernel *kernel)
{
    tw_string separator = TW_ATTR(kernel, "separator")->s;
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_shape shape = TW_SCALAR;
    for (int i = 0; i < kernel->input_count; i++) {
        if (kernel->inputs[i]->shape.rank > 0)
            shape = kernel->inputs[i]->shape;
    }
    tw_tensor *out = tw__output(kernel, 0, &shape);
    TW_NEED(out);
    for (int64_t k = 0; k < out->count; k++) {
        for (int i = 0; i < kernel->input_count; i++) {
            const tw_tensor *input = kernel->inputs[i];
            const tw_string *part = tw__strings(input) + (input->shape.rank ? k : 0);
            if (i)
                tw__text_bytes(&text, separator.data, separator.size);
            tw__text_bytes(&text, part->data, part->size);
        }
        TW_TRY(tw__string_from_text(out, k, &text));
    }
    return TW_OK;
}

TW_OP(StringJoin, .inputs = "inputs: N * string", .outputs = "output: string", .attrs = "N: int >= 0, separator: string = ''",
      .shape = join_shape, .compute = join_compute,
      .function = "strings.join|compat.v1.string_join(inputs: tensors<string>, separator: str = '', name: str = None) -> tensor",
      .doc = "Strings joined element by element, with a separator between them.\n"
             "inputs: tensors of strings whose shapes can be broadcast\n"
             "example: tf.strings.join(['a', 'b'], separator='-').numpy()  # b'a-b'");

/* ---- StringLength ---- */

static bool is_utf8(const tw__kernel *kernel, const char *attr, const char *value)
{
    tw_string s = TW_ATTR(kernel, attr)->s;
    return s.size == strlen(value) && memcmp(s.data, value, s.size) == 0;
}

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static tw_status length_compute(tw__kernel *kernel)
{
    bool characters = is_utf8(kernel, "unit", "UTF8_CHAR");
    const tw_string *in = tw__strings(kernel->inputs[0]);
    int32_t *out = kernel->outputs[0]->data;
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        size_t length = in[i].size;
        if (characters) {
            length = 0;
            for (size_t k = 0; k < in[i].size; k++)
                length += starts_character(in[i].data[k]);
        }
        out[i] = (int32_t)length;
    }
    return TW_OK;
}

TW_OP(StringLength, .inputs = "input: string", .outputs = "output: int32", .attrs = "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
      .shape = tw_shape_same, .compute = length_compute,
      .function = "strings.length(input: tensor<string>|ragged, unit: str = BYTE, name: str = None) -> tensor",
      .doc = "The number of bytes or characters (unit UTF8_CHAR) of each string.\n"
             "example: tf.strings.length('für', unit='UTF8_CHAR').numpy()  # 3");

/* ---- Substr ---- */

static tw_status substr_shape(tw__inference *inference)
{
    const tw_shape *input = inference->shapes[0], *pos = inference->shapes[1], *len = inference->shapes[2];
    if (!tw__shape_compatible(pos, len))
        return tw__fail(TW_INVALID_ARGUMENT, "pos and len should have the same shape, got: %s vs. %s", tw__shape_text(pos),
                        tw__shape_text(len));
    if (!tw__shape_broadcast(input, pos, &inference->out_shapes[0]))
        return tw__fail(TW_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", tw__shape_text(input), tw__shape_text(pos));
    return TW_OK;
}

/* The byte at which character `pos` begins, from the end if it is negative; false: there is none. */
static bool character_at(tw_string s, int64_t pos, size_t *at)
{
    size_t k = 0;
    if (pos >= 0) {
        for (; pos > 0 && k < s.size; pos--) {
            do
                k++;
            while (k < s.size && !starts_character(s.data[k]));
        }
        *at = k;
        return pos == 0;
    }
    for (k = s.size; pos < 0 && k > 0; pos++) {
        do
            k--;
        while (k > 0 && !starts_character(s.data[k]));
    }
    *at = k;
    return pos == 0;
}

static tw_status substr_compute(tw__kernel *kernel)
{
    bool characters = is_utf8(kernel, "unit", "UTF8_CHAR");
    tw_tensor *out = kernel->outputs[0];
    const tw_tensor *input = kernel->inputs[0], *position = kernel->inputs[1], *length = kernel->inputs[2];
    for (int64_t i = 0; i < out->count; i++) {
        int64_t p = tw__broadcast_index(&position->shape, &out->shape, i), s = tw__broadcast_index(&input->shape, &out->shape, i);
        int64_t pos = tw_tensor_int_at(position, p), len = tw_tensor_int_at(length, p);
        tw_string string = tw__strings(input)[s];
        size_t begin, end;
        if (characters) {
            if (!character_at(string, pos, &begin))
                return tw__fail(TW_INVALID_ARGUMENT, "pos %lld out of range for string at index %lld", (long long)pos,
                                (long long)i);
            tw_string rest = { string.data ? string.data + begin : "", string.size - begin };
            character_at(rest, len < 0 ? 0 : len, &end);
        } else {
            if (pos > (int64_t)string.size || pos < -(int64_t)string.size)
                return tw__fail(TW_INVALID_ARGUMENT, "pos %lld out of range for string b'%.*s' at index %lld", (long long)pos,
                                (int)(string.size < 200 ? string.size : 200), string.size ? string.data : "", (long long)i);
            begin = (size_t)(pos < 0 ? pos + (int64_t)string.size : pos);
            end = len < 0 || (uint64_t)len > string.size - begin ? string.size - begin : (size_t)len;
        }
        TW_TRY(tw__string_set(out, i, string.size ? string.data + begin : "", end));
    }
    return TW_OK;
}

TW_OP(Substr, .inputs = "input: string, pos: T, len: T", .outputs = "output: string",
      .attrs = "T: {int32, int64}, unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'", .shape = substr_shape, .compute = substr_compute,
      .function = "strings.substr(input: tensor<string>|ragged, pos: tensor<T>, len: tensor<T>, unit: str = BYTE, "
                  "name: str = None) -> tensor",
      .doc = "A part of each string, from a position on.\n"
             "pos: where the part begins; negative ones count from the end\n"
             "len: how long it is\n"
             "example: tf.strings.substr('hello', 1, 3).numpy()  # b'ell'");

/* ---- StringStrip ---- */

static tw_status strip_compute(tw__kernel *kernel)
{
    const tw_string *in = tw__strings(kernel->inputs[0]);
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        size_t begin = 0, end = in[i].size;
        while (begin < end && tw__is_space(in[i].data[begin]))
            begin++;
        while (end > begin && tw__is_space(in[i].data[end - 1]))
            end--;
        TW_TRY(tw__string_set(kernel->outputs[0], i, end ? in[i].data + begin : "", end - begin));
    }
    return TW_OK;
}

TW_OP(StringStrip, .inputs = "input: string", .outputs = "output: string", .shape = tw_shape_same, .compute = strip_compute,
      .function = "strings.strip|compat.v1.string_strip(input: tensor<string>|ragged, name: str = None) -> tensor",
      .doc = "Without the white space at both ends.\n"
             "example: tf.strings.strip('  a b ').numpy()  # b'a b'");
