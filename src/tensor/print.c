/* Tensors as text, exactly as TensorFlow prints them, which is as NumPy prints arrays:
 *     tf.Tensor(3.0, shape=(), dtype=float32)
 *     <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
 * NumPy's rules: up to 8 digits behind the point, as few as tell the numbers apart; all numbers of one array in one form
 * (scientific if one is 1e8 or more, below 1e-4, or they differ by more than a factor of 1000) and in columns; lines of 75
 * characters; of more than 1000 elements only the first and last three along each axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <thalweg/literal.h>

#include "tensor/print.h"

enum { PRECISION = 8, LINE_WIDTH = 75, THRESHOLD = 1000, EDGE_ITEMS = 3 };

/* How all real (or imaginary) parts of an array are printed. */
typedef struct float_form {
    bool scientific;
    char sign;       /* '-': only minus signs; '+': both */
    int left, right; /* columns before and behind the point */
    int exponent;    /* digits of the exponent */
    int precision;   /* digits behind the point in the scientific form */
} float_form;

typedef struct printer {
    tw__text *text;
    const tw_tensor *tensor;
    const char *separator;
    bool summary;
    int64_t strides[TW_MAX_RANK];
    int line; /* characters in the line so far */
    float_form real, imaginary;
    int width;     /* of integers */
    tw__text word; /* the element that is being printed */
} printer;

/* ---- single elements ---- */

static bool has_parts(tw_dtype dtype)
{
    return tw__dtype_is_complex(dtype);
}

/* Part 0 (real) or 1 (imaginary) of a floating-point or complex element. */
static double part_at(const tw_tensor *tensor, int64_t index, int part)
{
    if (tensor->dtype == TW_COMPLEX64)
        return ((const float *)tensor->data)[2 * index + part];
    if (tensor->dtype == TW_COMPLEX128)
        return ((const double *)tensor->data)[2 * index + part];
    return tw_tensor_double_at(tensor, index);
}

static void print_bytes(tw__text *text, tw_string string)
{
    bool single = string.size && memchr(string.data, '\'', string.size),
         both = string.size && memchr(string.data, '"', string.size);
    char quote = single && !both ? '"' : '\'';
    tw__text_format(text, "b%c", quote);
    for (size_t i = 0; i < string.size; i++) {
        unsigned char c = (unsigned char)string.data[i];
        if (c == quote || c == '\\')
            tw__text_format(text, "\\%c", c);
        else if (c == '\t' || c == '\n' || c == '\r')
            tw__text_add(text, c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r");
        else if (c < ' ' || c >= 0x7f)
            tw__text_format(text, "\\x%02x", c);
        else
            tw__text_bytes(text, &c, 1);
    }
    tw__text_bytes(text, &quote, 1);
}

static void print_integer(tw__text *text, const tw_tensor *tensor, int64_t index, int width)
{
    int64_t value = tw_tensor_int_at(tensor, index);
    if (tensor->dtype == TW_UINT64)
        tw__text_format(text, "%*llu", width, (unsigned long long)value);
    else
        tw__text_format(text, "%*lld", width, (long long)value);
}

/* A component of a complex scalar: no ".0". */
static void print_component(tw__text *text, double value, tw_dtype dtype, bool plus)
{
    if (plus && !signbit(value))
        tw__text_add(text, "+");
    if (!isfinite(value)) {
        tw__text_add(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char digits[48];
    tw__text_bytes(text, digits, (size_t)tw__float_repr(digits, value, dtype, false));
}

void tw__print_scalar(tw__text *text, const tw_tensor *tensor, int64_t index)
{
    tw_dtype dtype = tensor->dtype;
    if (dtype == TW_STRING) {
        print_bytes(text, tw_tensor_string_at(tensor, index));
    } else if (dtype == TW_BOOL) {
        tw__text_add(text, tw_tensor_int_at(tensor, index) ? "True" : "False");
    } else if (dtype == TW_BFLOAT16) {
        tw__text_format(text, "%g", tw_tensor_double_at(tensor, index));
    } else if (has_parts(dtype)) {
        double real = part_at(tensor, index, 0), imaginary = part_at(tensor, index, 1);
        bool alone = real == 0 && !signbit(real);
        if (!alone) {
            tw__text_add(text, "(");
            print_component(text, real, dtype, false);
        }
        print_component(text, imaginary, dtype, !alone);
        tw__text_add(text, alone ? "j" : "j)");
    } else if (tw__dtype_is_float(dtype)) {
        tw__print_float(text, tw_tensor_double_at(tensor, index), dtype);
    } else {
        print_integer(text, tensor, index, 0);
    }
}

/* ---- the form of a whole array ---- */

/* Calls `look` for every element that will be printed. */
static void each_shown(const printer *p, int axis, int64_t offset, void (*look)(void *context, int64_t index), void *context)
{
    const tw_shape *shape = &p->tensor->shape;
    if (axis == shape->rank) {
        look(context, offset);
        return;
    }
    int64_t size = shape->dims[axis];
    bool cut = p->summary && size > 2 * EDGE_ITEMS;
    for (int64_t i = 0; i < size; i++) {
        if (cut && i == EDGE_ITEMS)
            i = size - EDGE_ITEMS;
        each_shown(p, axis + 1, offset + i * p->strides[axis], look, context);
    }
}

typedef struct float_survey {
    const printer *printer;
    float_form *form;
    int part;
    double greatest, least; /* of the magnitudes that are not zero */
    int64_t finite, other;
    bool any_minus_infinity, any_infinity;
} float_survey;

static void find_range(void *context, int64_t index)
{
    float_survey *s = context;
    double value = part_at(s->printer->tensor, index, s->part);
    if (!isfinite(value)) {
        s->other++;
        s->any_infinity |= isinf(value);
        s->any_minus_infinity |= isinf(value) && value < 0;
        return;
    }
    s->finite++;
    double magnitude = fabs(value);
    if (magnitude == 0)
        return;
    s->greatest = s->greatest == 0 || magnitude > s->greatest ? magnitude : s->greatest;
    s->least = s->least == 0 || magnitude < s->least ? magnitude : s->least;
}

static void grow_to(int *value, int other)
{
    if (other > *value)
        *value = other;
}

static void find_columns(void *context, int64_t index)
{
    float_survey *s = context;
    float_form *form = s->form;
    double value = part_at(s->printer->tensor, index, s->part);
    if (!isfinite(value))
        return;
    tw__decimal d;
    tw__decimal_shortest(&d, value, s->printer->tensor->dtype);
    int sign = signbit(value) || form->sign == '+';
    if (form->scientific) {
        if (d.count - 1 > PRECISION)
            tw__decimal_scientific(&d, value, PRECISION);
        grow_to(&form->left, 1 + sign);
        grow_to(&form->precision, d.count - 1);
        grow_to(&form->exponent, abs(d.point - 1) >= 100 ? 3 : 2);
    } else {
        tw__decimal_cut(&d, value, PRECISION);
        grow_to(&form->left, (d.point > 0 ? d.point : 1) + sign);
        grow_to(&form->right, d.count > d.point && d.digits[0] != '0' ? d.count - d.point : 0);
    }
}

/* greatest / least in the dtype's own arithmetic. */
static double ratio(double greatest, double least, tw_dtype dtype)
{
    if (dtype == TW_FLOAT32 || dtype == TW_COMPLEX64)
        return (float)greatest / (float)least;
    if (dtype == TW_FLOAT16)
        return tw__half_to_float(tw__float_to_half((float)greatest / (float)least));
    return greatest / least;
}

static void find_form(const printer *p, float_form *form, int part, char sign)
{
    float_survey s = { .printer = p, .form = form, .part = part };
    *form = (float_form){ .sign = sign };
    each_shown(p, 0, 0, find_range, &s);
    form->scientific =
        s.greatest > 0 && (s.greatest >= 1e8 || s.least < 0.0001 || ratio(s.greatest, s.least, p->tensor->dtype) > 1000);
    if (s.finite)
        each_shown(p, 0, 0, find_columns, &s);
    if (form->scientific)
        form->right = form->exponent + 2 + form->precision;
    if (s.other) {
        int infinity = 3 + (sign != '-' || s.any_minus_infinity);
        grow_to(&form->left, 3 - (form->right + 1));
        grow_to(&form->left, infinity - (form->right + 1));
    }
}

static void add_spaces(tw__text *text, int count)
{
    if (count > 0)
        tw__text_format(text, "%*s", count, "");
}

/* A number in its array's form. Trailing blanks stand for digits that others have. */
static void print_in_form(tw__text *text, const float_form *form, double value, tw_dtype dtype)
{
    if (!isfinite(value)) {
        const char *word = isnan(value)        ? (form->sign == '+' ? "+nan" : "nan")
                           : value < 0         ? "-inf"
                           : form->sign == '+' ? "+inf"
                                               : "inf";
        add_spaces(text, form->left + form->right + 1 - (int)strlen(word));
        tw__text_add(text, word);
        return;
    }
    tw__decimal d;
    tw__decimal_shortest(&d, value, dtype);
    const char *sign = signbit(value) ? "-" : form->sign == '+' ? "+" : "";
    if (form->scientific) {
        tw__decimal_scientific(&d, value, form->precision);
        add_spaces(text, form->left - 1 - (int)strlen(sign));
        tw__text_format(text, "%s%c.", sign, d.digits[0]);
        for (int i = 1; i <= form->precision; i++)
            tw__text_bytes(text, i < d.count ? &d.digits[i] : "0", 1);
        int exponent = d.digits[0] == '0' ? 0 : d.point - 1;
        tw__text_format(text, "e%c%0*d", exponent < 0 ? '-' : '+', form->exponent, abs(exponent));
        return;
    }
    tw__decimal_cut(&d, value, PRECISION);
    bool zero = d.digits[0] == '0';
    int whole = d.point > 0 ? d.point : 1, behind = d.count > d.point && !zero ? d.count - d.point : 0;
    add_spaces(text, form->left - whole - (int)strlen(sign));
    tw__text_add(text, sign);
    for (int i = 0; i < whole; i++)
        tw__text_bytes(text, d.point > 0 && i < d.count ? &d.digits[i] : "0", 1);
    tw__text_add(text, ".");
    for (int i = d.count - behind; i < d.count; i++)
        tw__text_bytes(text, i < 0 ? "0" : &d.digits[i], 1);
    add_spaces(text, form->right - behind);
}

static void print_word(printer *p, int64_t index)
{
    const tw_tensor *tensor = p->tensor;
    tw__text *word = &p->word;
    tw__text_clear(word);
    if (has_parts(tensor->dtype)) {
        print_in_form(word, &p->real, part_at(tensor, index, 0), tensor->dtype);
        print_in_form(word, &p->imaginary, part_at(tensor, index, 1), tensor->dtype);
        size_t end = word->size; /* the j goes before the blanks at the end */
        while (end && word->data[end - 1] == ' ')
            end--;
        tw__text_add(word, "j");
        if (!word->failed) {
            memmove(word->data + end + 1, word->data + end, word->size - 1 - end);
            word->data[end] = 'j';
        }
    } else if (tensor->dtype == TW_BOOL) {
        tw__text_add(word, tw_tensor_int_at(tensor, index) ? " True" : "False");
    } else if (tensor->dtype == TW_STRING || tensor->dtype == TW_BFLOAT16) {
        tw__print_scalar(word, tensor, index);
    } else if (tw__dtype_is_float(tensor->dtype)) {
        print_in_form(word, &p->real, part_at(tensor, index, 0), tensor->dtype);
    } else {
        print_integer(word, tensor, index, p->width);
    }
}

static void find_width(void *context, int64_t index)
{
    printer *p = context;
    tw__text_clear(&p->word);
    print_integer(&p->word, p->tensor, index, 0);
    grow_to(&p->width, (int)p->word.size);
}

/* ---- lists ---- */

/* Puts the word into the line, on a new one if it would get too long. */
static void extend_line(printer *p, const char *word, size_t size, int hanging, int width)
{
    if (p->line + (int)size > width && p->line > hanging) {
        while (p->text->size && p->text->data[p->text->size - 1] == ' ')
            p->text->data[--p->text->size] = 0;
        tw__text_add(p->text, "\n");
        add_spaces(p->text, hanging);
        p->line = hanging;
    }
    tw__text_bytes(p->text, word, size);
    p->line += (int)size;
}

/* The list along `axis`. Its lines begin in column `hanging` and end before column `width`. */
static void print_list(printer *p, int axis, int64_t offset, int hanging, int width)
{
    const tw_shape *shape = &p->tensor->shape;
    int64_t size = shape->dims[axis];
    int left = shape->rank - axis;
    bool cut = p->summary && size > 2 * EDGE_ITEMS, comma = p->separator[0] == ',';
    tw__text_add(p->text, "[");
    p->line = hanging;
    for (int64_t i = 0; i < size; i++) {
        bool dots = cut && i == EDGE_ITEMS;
        if (dots)
            i = size - EDGE_ITEMS - 1; /* goes on with the last ones */
        if (left == 1) {
            if (dots) {
                extend_line(p, "...", 3, hanging, width - 1);
            } else {
                print_word(p, offset + i * p->strides[axis]);
                extend_line(p, p->word.data, p->word.size, hanging, width - 1);
            }
            if (i + 1 < size) {
                tw__text_add(p->text, p->separator);
                p->line += (int)strlen(p->separator);
            }
            continue;
        }
        if (i > 0)
            add_spaces(p->text, hanging);
        if (dots)
            tw__text_add(p->text, "...");
        else
            print_list(p, axis + 1, offset + i * p->strides[axis], hanging + 1, width - 1);
        if (i + 1 < size) {
            tw__text_add(p->text, comma ? "," : "");
            for (int k = 1; k < left; k++)
                tw__text_add(p->text, "\n");
        }
    }
    tw__text_add(p->text, "]");
}

tw_status tw__print_elements(tw__text *text, const tw_tensor *tensor, const char *separator, int indent)
{
    if (!tw__tensor_values(tensor, "a tensor that is printed"))
        return tw__error_status();
    if (tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT) {
        tw__text_add(text, "<unprintable>");
    } else if (tensor->shape.rank == 0) {
        tw__print_scalar(text, tensor, 0);
    } else if (tensor->count == 0) {
        tw__text_add(text, "[]");
    } else {
        printer p = { .text = text, .tensor = tensor, .separator = separator, .summary = tensor->count > THRESHOLD };
        int64_t stride = 1;
        for (int i = tensor->shape.rank - 1; i >= 0; i--) {
            p.strides[i] = stride;
            stride *= tensor->shape.dims[i];
        }
        if (has_parts(tensor->dtype))
            find_form(&p, &p.imaginary, 1, '+');
        if (has_parts(tensor->dtype) || (tw__dtype_is_float(tensor->dtype) && tensor->dtype != TW_BFLOAT16))
            find_form(&p, &p.real, 0, '-');
        else if (tw__dtype_is_integer(tensor->dtype))
            each_shown(&p, 0, 0, find_width, &p);
        /* In a repr the line must have room for the comma or bracket behind it. */
        print_list(&p, 0, 0, indent + 1, LINE_WIDTH - (separator[0] == ','));
        text->failed |= p.word.failed;
        tw__text_free(&p.word);
    }
    return text->failed ? tw__error_status() : TW_OK;
}

/* repr(array): "array([1, 2], dtype=int32)" */
static tw_status print_array(tw__text *text, const tw_tensor *tensor)
{
    tw_dtype dtype = tensor->dtype;
    bool implied = tensor->count && (dtype == TW_INT64 || dtype == TW_FLOAT64 || dtype == TW_COMPLEX128 || dtype == TW_BOOL);
    size_t start = text->size;
    tw__text_add(text, "array(");
    TW_TRY(tw__print_elements(text, tensor, ", ", 6));
    if (tensor->count == 0 && !(tensor->shape.rank == 1)) {
        char *shape = tw__shape_tuple(&tensor->shape);
        if (!shape)
            return tw__error_status();
        tw__text_format(text, ", shape=%s", shape);
        tw__free(shape);
    }
    if (implied) {
        tw__text_add(text, ")");
    } else {
        tw__text_add(text, ",");
        const char *name = dtype == TW_STRING ? "object" : tw_dtype_name(dtype);
        size_t last = text->size;
        while (last > start && text->data && text->data[last - 1] != '\n')
            last--;
        bool wraps = text->size - last + strlen("dtype=)") + strlen(name) + 1 > LINE_WIDTH;
        tw__text_format(text, "%sdtype=%s)", wraps ? "\n      " : " ", name);
    }
    return text->failed ? tw__error_status() : TW_OK;
}

tw_status tw__print_numpy(tw__text *text, const tw_tensor *tensor, bool repr)
{
    tw__auto(tw__text_free) tw__text inner = { 0 };
    bool scalar = tensor->shape.rank == 0 || tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT;
    TW_TRY(repr && !scalar ? print_array(&inner, tensor) : tw__print_elements(&inner, tensor, " ", 0));
    if (memchr(inner.data, '\n', inner.size))
        tw__text_add(text, "\n");
    tw__text_bytes(text, inner.data, inner.size);
    return text->failed ? tw__error_status() : TW_OK;
}

/* before VALUE middle SHAPE … in the order that str and repr have. */
static char *print_tensor(const tw_tensor *tensor, bool repr)
{
    tw__text text = { 0 };
    if (!tw__check(tensor, &tw__tensor_class, repr ? "tw_tensor_repr" : "tw_tensor_str"))
        return NULL;
    char *shape = tw__shape_tuple(&tensor->shape);
    const char *dtype = tw_dtype_name(tensor->dtype);
    tw_status status = shape ? TW_OK : tw__error_status();
    if (status == TW_OK && !tensor->data) {
        tw__text_format(&text, "<tf.Tensor: shape=%s, dtype=%s, symbolic>", shape, dtype);
    } else if (status == TW_OK && repr) {
        bool object = tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT;
        tw__text_format(&text, "<tf.Tensor: shape=%s, dtype=%s, %s=", shape, dtype, object ? "value" : "numpy");
        status = tw__print_numpy(&text, tensor, true);
        tw__text_add(&text, ">");
    } else if (status == TW_OK) {
        tw__text_add(&text, "tf.Tensor(");
        status = tw__print_numpy(&text, tensor, false);
        tw__text_format(&text, ", shape=%s, dtype=%s)", shape, dtype);
    }
    tw__free(shape);
    if (status != TW_OK) {
        tw__text_free(&text);
        return NULL;
    }
    return tw__text_take(&text);
}

char *tw_tensor_str(const tw_tensor *tensor)
{
    return print_tensor(tensor, false);
}

char *tw_tensor_repr(const tw_tensor *tensor)
{
    return print_tensor(tensor, true);
}

char *tw_tensor_values_text(const tw_tensor *tensor)
{
    tw__text text = { 0 };
    if (!tw__check(tensor, &tw__tensor_class, "tw_tensor_values_text"))
        return NULL;
    if (!tensor->data)
        tw__fail(TW_INVALID_ARGUMENT, "tw_tensor_values_text: a tensor of a graph has no elements");
    else if (tw__print_numpy(&text, tensor, false) == TW_OK)
        return tw__text_take(&text);
    tw__text_free(&text);
    return NULL;
}

tw_status tw_tensor_print(FILE *stream, const tw_tensor *tensor)
{
    tw__owned char *text = tw__check_given(stream, "the stream", "tw_tensor_print") ? tw_tensor_str(tensor) : NULL;
    if (!text)
        return tw__error_status();
    bool written = fprintf(stream, "%s\n", text) >= 0;
    return written ? TW_OK : tw__fail(TW_UNAVAILABLE, "a tensor could not be printed to the stream");
}
