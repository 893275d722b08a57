/* Numbers as strings and strings as numbers: AsString, StringToNumber, StringFormat with TensorFlow's summary of a tensor's
 * elements. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "op/text/text.h"
#include "rows.h"

/* ---- StringToNumber ---- */

static bool read_integer(const char *text, int64_t minimum, int64_t maximum, int64_t *value)
{
    char *end;
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *value = number;
    return !errno && !*end && number >= minimum && number <= maximum;
}

static bool read_float(const char *text, bool single, double *value)
{
    static const char *const words[] = { "inf", "+inf", "-inf", "nan", "+nan", "-nan" };
    const char *digits = text + (*text == '-' || *text == '+');
    bool word = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        word = word || strcasecmp(text, words[i]) == 0;
    if (!word && !((*digits >= '0' && *digits <= '9') || *digits == '.'))
        return false;
    if (strpbrk(digits, "pP"))
        return false;
    char *end;
    *value = single ? (double)strtof(text, &end) : strtod(text, &end);
    return end != text && !*end;
}

static tw_status to_number_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    for (int64_t i = 0; i < out->count; i++) {
        tw_string s = tw__strings(kernel->inputs[0])[i];
        size_t begin = 0, end = s.size;
        while (begin < end && tw__is_space(s.data[begin]))
            begin++;
        while (end > begin && tw__is_space(s.data[end - 1]))
            end--;
        char *text = tw__strndup(s.size ? s.data + begin : "", end - begin);
        if (!text)
            return tw__error_status();
        bool good = strlen(text) == end - begin;
        int64_t whole = 0;
        double real = 0;
        if (out->dtype == TW_INT32 || out->dtype == TW_INT64)
            good = good && read_integer(text, out->dtype == TW_INT32 ? INT32_MIN : INT64_MIN,
                                        out->dtype == TW_INT32 ? INT32_MAX : INT64_MAX, &whole);
        else
            good = good && read_float(text, out->dtype == TW_FLOAT32, &real);
        tw__free(text);
        if (!good)
            return tw__fail(TW_INVALID_ARGUMENT, "StringToNumberOp could not correctly convert string: %.*s",
                            (int)(s.size < 500 ? s.size : 500), s.size ? s.data : "");
        switch (out->dtype) {
        case TW_INT32:
            ((int32_t *)out->data)[i] = (int32_t)whole;
            break;
        case TW_INT64:
            ((int64_t *)out->data)[i] = whole;
            break;
        case TW_FLOAT32:
            ((float *)out->data)[i] = (float)real;
            break;
        default:
            ((double *)out->data)[i] = real;
            break;
        }
    }
    return TW_OK;
}

TW_OP(StringToNumber, .inputs = "string_tensor: string", .outputs = "output: out_type",
      .attrs = "out_type: {float, double, int32, int64} = float", .shape = tw_shape_same, .compute = to_number_compute,
      .function = "strings.to_number(input: tensor<string>|ragged, out_type: dtype = float32, "
                  "name: str = None) -> tensor",
      .doc = "The numbers that strings name.\n"
             "raises: InvalidArgumentError: a string is no number\n"
             "example: tf.strings.to_number(['1', '2.5']).numpy().tolist()  # [1.0, 2.5]");

/* ---- AsString ---- */

static bool is_real(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
}

/* "%-10.3f": the format of one number; for a complex one it stands twice. */
static tw_status make_format(tw__kernel *kernel, char *format, size_t room)
{
    tw_dtype dtype = kernel->inputs[0]->dtype;
    int64_t precision = TW_ATTR(kernel, "precision")->i, width = TW_ATTR(kernel, "width")->i;
    bool scientific = TW_ATTR(kernel, "scientific")->b, shortest = TW_ATTR(kernel, "shortest")->b;
    tw_string fill = TW_ATTR(kernel, "fill")->s;
    if (scientific && shortest)
        return tw__fail(TW_INVALID_ARGUMENT, "Cannot select both scientific and shortest notation");
    if (fill.size > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Fill string must be one or fewer characters");
    if (!is_real(dtype) && dtype != TW_STRING && (scientific || shortest))
        return tw__fail(TW_INVALID_ARGUMENT, "scientific and shortest format not supported for datatype %s",
                        tw__dtype_text(dtype));
    if (!is_real(dtype) && dtype != TW_STRING && precision >= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "precision not supported for datatype %s", tw__dtype_text(dtype));
    if (fill.size && !memchr(" +-0#", fill.data[0], 5))
        return tw__fail(TW_INVALID_ARGUMENT, "Fill argument not supported: \"%c\"", fill.data[0]);
    if (precision > 1 << 20 || width > 1 << 20)
        return tw__fail(TW_INVALID_ARGUMENT, "precision %lld or width %lld is too large", (long long)precision, (long long)width);
    int at = snprintf(format, room, "%%%.*s", (int)(dtype == TW_STRING && fill.size && fill.data[0] != '-' ? 0 : fill.size),
                      fill.data);
    if (width >= 0)
        at += snprintf(format + at, room - (size_t)at, "%d", (int)width);
    if (precision >= 0 && is_real(dtype))
        at += snprintf(format + at, room - (size_t)at, ".%d", (int)precision);
    snprintf(format + at, room - (size_t)at, "%s",
             is_real(dtype)       ? (shortest     ? "g"
                                     : scientific ? "e"
                                                  : "f")
             : dtype == TW_STRING ? "s"
             : dtype == TW_UINT64 ? "llu"
                                  : "lld");
    return TW_OK;
}

static void add_formatted(tw__text *text, const char *format, const tw_tensor *in, int64_t i)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    switch (in->dtype) {
    case TW_BOOL:
        tw__text_add(text, ((const bool *)in->data)[i] ? "true" : "false");
        break;
    case TW_COMPLEX64:
    case TW_COMPLEX128: {
        bool small = in->dtype == TW_COMPLEX64;
        tw__text_add(text, "(");
        tw__text_format(text, format, small ? (double)((const float *)in->data)[2 * i] : ((const double *)in->data)[2 * i]);
        tw__text_add(text, ",");
        tw__text_format(text, format,
                        small ? (double)((const float *)in->data)[2 * i + 1] : ((const double *)in->data)[2 * i + 1]);
        tw__text_add(text, ")");
        break;
    }
    case TW_UINT64:
        tw__text_format(text, format, (unsigned long long)((const uint64_t *)in->data)[i]);
        break;
    default:
        if (tw__dtype_is_float(in->dtype))
            tw__text_format(text, format, tw_tensor_double_at(in, i));
        else
            tw__text_format(text, format, (long long)tw_tensor_int_at(in, i));
    }
#pragma GCC diagnostic pop
}

/* A string's bytes may hold zeros, so the width is made by hand. */
static void add_padded(tw__text *text, tw_string s, const char *format)
{
    bool left = format[1] == '-';
    size_t width = (size_t)atoi(format + 1 + left), room = width > s.size ? width - s.size : 0;
    if (left)
        tw__text_bytes(text, s.data, s.size);
    while (room--)
        tw__text_add(text, " ");
    if (!left)
        tw__text_bytes(text, s.data, s.size);
}

static tw_status as_string_compute(tw__kernel *kernel)
{
    char format[64];
    const tw_tensor *in = kernel->inputs[0];
    if (in->dtype == TW_VARIANT)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "variants have no text");
    TW_TRY(make_format(kernel, format, sizeof format));
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < in->count; i++) {
        if (in->dtype == TW_STRING)
            add_padded(&text, tw__strings(in)[i], format);
        else
            add_formatted(&text, format, in, i);
        TW_TRY(tw__string_from_text(kernel->outputs[0], i, &text));
    }
    return TW_OK;
}

TW_OP(
    AsString, .inputs = "input: T", .outputs = "output: string",
    .attrs =
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64, complex128, bool, "
        "variant, string}, precision: int = -1, scientific: bool = false, shortest: bool = false, width: int = -1, fill: string = ''",
    .shape = tw_shape_same, .compute = as_string_compute,
    .function = "strings.as_string|as_string|dtypes.as_string|compat.v1.as_string(input: tensor|ragged, precision: int = -1, "
                "scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = '', "
                "name: str = None) -> tensor",
    .doc = "Each element as text.\n"
           "input: numbers or booleans\n"
           "precision: how many digits stand behind the point; -1: as many as usual\n"
           "scientific: True: write floats with an exponent\n"
           "shortest: True: the shorter of both forms\n"
           "width: how many characters there are at least; -1: any number\n"
           "fill: the character that is put in front; an empty text: a space\n"
           "example: tf.strings.as_string([1.5, 2.25], precision=1).numpy().tolist()  # [b'1.5', b'2.2']");

/* ---- the summary of a tensor ---- */

/* Six digits if they read back as the same float, else nine; 15 and 17 for double. */
static void add_number(tw__text *text, double value, bool is_double)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.*g", is_double ? 15 : 6, value);
    if (isfinite(value) && (is_double ? strtod(digits, NULL) != value : strtof(digits, NULL) != (float)value))
        snprintf(digits, sizeof digits, "%.*g", is_double ? 17 : 9, value);
    tw__text_add(text, isnan(value) ? "nan" : digits);
}

static void add_escaped(tw__text *text, tw_string s)
{
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        const char *found = c ? strchr("\nn\rr\tt\"\"''\\\\", c) : NULL;
        if (found && (c == '\n' || c == '\r' || c == '\t'))
            tw__text_format(text, "\\%c", found[1]);
        else if (c == '"' || c == '\'' || c == '\\')
            tw__text_format(text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            tw__text_format(text, "\\%03o", c);
        else
            tw__text_bytes(text, &c, 1);
    }
}

static void add_element(tw__text *text, const tw_tensor *tensor, int64_t i)
{
    tw_dtype dtype = tensor->dtype;
    if (dtype == TW_STRING) {
        tw__text_add(text, "\"");
        add_escaped(text, tw__strings(tensor)[i]);
        tw__text_add(text, "\"");
    } else if (dtype == TW_BOOL)
        tw__text_add(text, ((const bool *)tensor->data)[i] ? "1" : "0");
    else if (dtype == TW_UINT64)
        tw__text_format(text, "%llu", (unsigned long long)((const uint64_t *)tensor->data)[i]);
    else if (tw__dtype_is_float(dtype))
        add_number(text, tw_tensor_double_at(tensor, i), dtype == TW_FLOAT64);
    else if (tw__dtype_is_integer(dtype))
        tw__text_format(text, "%lld", (long long)tw_tensor_int_at(tensor, i));
    else
        tw__text_add(text, "?");
}

static void add_level(tw__text *text, const tw_tensor *tensor, int axis, int64_t from, int64_t length, int64_t summarize)
{
    int rank = tensor->shape.rank;
    int64_t count = tensor->shape.dims[axis], each = count ? length / count : 0;
    bool last = axis == rank - 1;
    tw__text_add(text, "[");
    for (int64_t i = 0; i < count; i++) {
        bool skip = summarize >= 0 && count > 2 * summarize && i >= summarize && i < count - summarize;
        if (skip && i > summarize)
            continue;
        if (i || skip) {
            for (int k = 0; !last && k < rank - axis - 1; k++)
                tw__text_add(text, "\n");
            for (int k = 0; k <= (last ? 0 : axis); k++)
                tw__text_add(text, " ");
        }
        if (skip)
            tw__text_add(text, "...");
        else if (last)
            add_element(text, tensor, from + i);
        else
            add_level(text, tensor, axis + 1, from + i * each, each, summarize);
    }
    tw__text_add(text, "]");
}

tw_status tw__summarize(tw__text *text, const tw_tensor *tensor, int64_t summarize)
{
    if (tensor->shape.rank == 0)
        add_element(text, tensor, 0);
    else
        add_level(text, tensor, 0, 0, tensor->count, summarize < 0 ? -1 : summarize);
    return text->failed ? tw__error_status() : TW_OK;
}

/* A row of the last axis, or rows in brackets; *next is the element that comes next. */
static void add_first(tw__text *text, const tw_tensor *tensor, int axis, int64_t *next, int64_t limit)
{
    bool last = axis == tensor->shape.rank - 1;
    for (int64_t i = 0; i < tensor->shape.dims[axis]; i++) {
        if (*next >= limit) {
            if (last && axis)
                tw__text_add(text, "...");
            return;
        }
        if (last) {
            if (i)
                tw__text_add(text, " ");
            if (tensor->dtype == TW_STRING)
                add_escaped(text, tw__strings(tensor)[*next]);
            else
                add_element(text, tensor, *next);
            ++*next;
            continue;
        }
        tw__text_add(text, "[");
        add_first(text, tensor, axis + 1, next, limit);
        tw__text_add(text, "]");
    }
}

tw_status tw__summarize_first(tw__text *text, const tw_tensor *tensor, int64_t limit)
{
    int64_t next = 0;
    if (limit < 0)
        limit = tensor->count;
    if (tensor->shape.rank > 0)
        add_first(text, tensor, 0, &next, limit);
    else if (limit > 0 && tensor->dtype == TW_STRING)
        add_escaped(text, *tw__strings(tensor));
    else if (limit > 0)
        add_element(text, tensor, 0);
    if (tensor->count > limit)
        tw__text_add(text, "...");
    return text->failed ? tw__error_status() : TW_OK;
}

/* ---- StringFormat ---- */

static tw_status format_compute(tw__kernel *kernel)
{
    tw_string template = TW_ATTR(kernel, "template")->s, placeholder = TW_ATTR(kernel, "placeholder")->s;
    int64_t summarize = TW_ATTR(kernel, "summarize")->i;
    tw__auto(tw__text_free) tw__text text = { 0 };
    const char *at = template.data, *end = template.data + template.size;
    int used = 0;
    for (;;) {
        const char *found =
            placeholder.size && at < end ? memmem(at, (size_t)(end - at), placeholder.data, placeholder.size) : NULL;
        tw__text_bytes(&text, at, (size_t)((found ? found : end) - at));
        if (!found)
            break;
        if (used < kernel->input_count)
            TW_TRY(tw__summarize(&text, kernel->inputs[used], summarize));
        used++;
        at = found + placeholder.size;
    }
    if (used != kernel->input_count)
        return tw__fail(TW_INVALID_ARGUMENT, "num placeholders in template and num inputs must match: %d vs. %d", used,
                        kernel->input_count);
    return tw__string_from_text(kernel->outputs[0], 0, &text);
}

TW_OP(StringFormat, .inputs = "inputs: T", .outputs = "output: string",
      .attrs = "T: list(type) >= 0, template: string = '%s', placeholder: string = '%s', summarize: int = 3",
      .shape = tw_shape_scalar, .compute = format_compute, .doc = "A template with tensors in the place of its marks.");
