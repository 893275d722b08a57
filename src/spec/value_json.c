/* Values as JSON text: what the command's --json prints and what configurations are stored as. Tensors become nested lists,
 * complex numbers pairs, dtypes their names, unknown dimensions null. */
#include <math.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "spec/spec.h"

static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };

/* The number of the fewest digits that a float is the nearest one of, without text: digits and powers of ten this small are exact
 * as doubles, and so is the rounding of their quotient. It is digits / 10^behind. False: it is not that simple. */
static bool shortest_exact(double value, double *found, double *digits_found, int *behind_found)
{
    double size = fabs(value);
    if (!(size >= 1e-6 && size < 1e9))
        return false;
    int whole = 0; /* digits before the point; of 0.00123: -2 */
    while (size >= powers[whole])
        whole++;
    while (whole <= 0 && whole > -6 && size * powers[1 - whole] < 1)
        whole--;
    for (int digits = 1; digits <= 9; digits++) {
        int behind = digits - whole;
        double exact = behind >= 0 ? size * powers[behind] : size / powers[-behind], scaled = nearbyint(exact);
        double number = behind >= 0 ? scaled / powers[behind] : scaled * powers[-behind];
        if ((float)number == (float)size) {
            *found = value < 0 ? -number : number;
            *digits_found = scaled;
            *behind_found = behind;
            return digits < 9 || fabs(fabs(exact - scaled) - 0.5) > 1e-6; /* which of two is nearer is not known that exactly */
        }
    }
    return false;
}

/* A float in the range that is written without an exponent, as %.15g writes the shortest. False: others do it. */
static bool write_single(tw__json *json, double value)
{
    char text[40];
    double found, digits;
    int behind, at = 0;
    if (value == 0) {
        tw__json_raw(json, signbit(value) ? "-0" : "0");
        return true;
    }
    if (!(fabs(value) >= 1.001e-4) || !shortest_exact(value, &found, &digits, &behind))
        return false;
    uint64_t number = (uint64_t)digits, scale = (uint64_t)powers[behind > 0 ? behind : -behind];
    uint64_t whole = behind > 0 ? number / scale : number * scale, rest = behind > 0 ? number % scale : 0;
    at = snprintf(text, sizeof text, "%s%llu", value < 0 ? "-" : "", (unsigned long long)whole);
    if (rest) {
        text[at] = '.';
        for (int i = behind; i > 0; i--, rest /= 10)
            text[at + i] = (char)('0' + rest % 10);
        at += behind + 1;
        while (text[at - 1] == '0')
            at--;
        text[at] = 0;
    }
    tw__json_raw(json, text);
    return true;
}

/* 0.1f as 0.1, not as the 0.10000000149011612 that it is. */
static double shortest(double value, tw_dtype dtype)
{
    char text[32];
    double found, scaled;
    int behind;
    if (dtype == TW_FLOAT32 && shortest_exact(value, &found, &scaled, &behind))
        return found;
    for (int digits = 1; dtype == TW_FLOAT32 && digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtof(text, NULL) == (float)value)
            return strtod(text, NULL);
    }
    return value;
}

static tw_status write_element(tw__json *json, const tw_tensor *tensor, int64_t index)
{
    switch (tensor->dtype) {
    case TW_BOOL:
        tw__json_bool(json, ((const bool *)tensor->data)[index]);
        return TW_OK;
    case TW_UINT64:
        tw__json_unsigned(json, ((const uint64_t *)tensor->data)[index]);
        return TW_OK;
    case TW_QINT8:
        tw__json_integer(json, ((const int8_t *)tensor->data)[index]);
        return TW_OK;
    case TW_QUINT8:
        tw__json_integer(json, ((const uint8_t *)tensor->data)[index]);
        return TW_OK;
    case TW_QINT16:
        tw__json_integer(json, ((const int16_t *)tensor->data)[index]);
        return TW_OK;
    case TW_QUINT16:
        tw__json_integer(json, ((const uint16_t *)tensor->data)[index]);
        return TW_OK;
    case TW_QINT32:
        tw__json_integer(json, ((const int32_t *)tensor->data)[index]);
        return TW_OK;
    case TW_STRING: {
        tw_string text = ((const tw_string *)tensor->data)[index];
        tw__json_string(json, text.data, text.size);
        return TW_OK;
    }
    case TW_COMPLEX64:
        tw__json_begin(json, '[');
        tw__json_number(json, ((const float *)tensor->data)[2 * index]);
        tw__json_number(json, ((const float *)tensor->data)[2 * index + 1]);
        tw__json_end(json, ']');
        return TW_OK;
    case TW_COMPLEX128:
        tw__json_begin(json, '[');
        tw__json_number(json, ((const double *)tensor->data)[2 * index]);
        tw__json_number(json, ((const double *)tensor->data)[2 * index + 1]);
        tw__json_end(json, ']');
        return TW_OK;
    default:
        break;
    }
    if (tensor->dtype == TW_FLOAT32 && write_single(json, ((const float *)tensor->data)[index]))
        return TW_OK;
    if (tw__dtype_is_float(tensor->dtype))
        tw__json_number(json, shortest(tw_tensor_double_at(tensor, index), tensor->dtype));
    else
        tw__json_integer(json, tw_tensor_int_at(tensor, index));
    return tw_error_code();
}

/* Hands on what is there, if somebody takes it. */
static tw_status hand_on(tw__json *json, size_t least)
{
    tw__text *text = json->text;
    if (!json->write || text->size <= least || text->failed)
        return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
    bool good = json->write(json->context, text->data, text->size);
    tw__text_clear(text);
    return good ? TW_OK : tw__fail(TW_UNKNOWN, "JSON: what was written could not be handed on");
}

static tw_status write_tensor(tw__json *json, const tw_tensor *tensor, int axis, int64_t *index)
{
    if (axis == tensor->shape.rank) {
        TW_TRY(write_element(json, tensor, (*index)++));
        return hand_on(json, 1 << 16);
    }
    tw__json_begin(json, '[');
    for (int64_t i = 0; i < tensor->shape.dims[axis]; i++)
        TW_TRY(write_tensor(json, tensor, axis + 1, index));
    tw__json_end(json, ']');
    return TW_OK;
}

/* 1.0, not 1: who reads it back gets a float, as with Python's own json. */
static tw_status write_float(tw__json *json, double number)
{
    if (!isfinite(number)) {
        tw__json_number(json, number);
        return TW_OK;
    }
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__print_float(&text, number, TW_FLOAT64);
    if (!text.failed && !strpbrk(text.data, ".en"))
        tw__text_add(&text, ".0");
    else if (!text.failed && text.size && text.data[text.size - 1] == '.')
        tw__text_add(&text, "0");
    if (!text.failed)
        tw__json_raw(json, text.data);
    tw_status status = text.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
    return status;
}

static tw_status write_value(tw__json *json, const tw_value *value)
{
    int64_t index = 0;
    switch (value->kind) {
    case TW_VALUE_NONE:
        tw__json_null(json);
        return TW_OK;
    case TW_VALUE_BOOL:
        tw__json_bool(json, value->b);
        return TW_OK;
    case TW_VALUE_INT:
        tw__json_integer(json, value->i);
        return TW_OK;
    case TW_VALUE_FLOAT:
        return write_float(json, value->f);
    case TW_VALUE_STR:
    case TW_VALUE_BYTES:
        tw__json_string(json, value->s.data, value->s.size);
        return TW_OK;
    case TW_VALUE_DTYPE:
        tw__json_string(json, tw_dtype_name(value->dtype), strlen(tw_dtype_name(value->dtype)));
        return TW_OK;
    case TW_VALUE_SHAPE:
        if (value->shape->rank < 0) {
            tw__json_null(json);
            return TW_OK;
        }
        tw__json_begin(json, '[');
        for (int32_t i = 0; i < value->shape->rank; i++) {
            if (value->shape->dims[i] < 0)
                tw__json_null(json);
            else
                tw__json_integer(json, value->shape->dims[i]);
        }
        tw__json_end(json, ']');
        return TW_OK;
    case TW_VALUE_TENSOR:
        if (value->tensor->count && !tw_tensor_data(value->tensor)) /* a symbolic one */
            return tw__error_status();
        return write_tensor(json, value->tensor, 0, &index);
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
        tw__json_begin(json, '[');
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(write_value(json, &value->list.items[i]));
        tw__json_end(json, ']');
        return TW_OK;
    case TW_VALUE_DICT:
        tw__json_begin(json, '{');
        for (int64_t i = 0; i + 1 < value->list.count; i += 2) {
            if (value->list.items[i].kind != TW_VALUE_STR)
                return tw__fail(TW_TYPE_ERROR, "JSON: the keys of a dict must be strings");
            tw__json_key(json, value->list.items[i].s.data);
            TW_TRY(write_value(json, &value->list.items[i + 1]));
        }
        tw__json_end(json, '}');
        return TW_OK;
    case TW_VALUE_OBJECT:
        break;
    }
    return tw__fail(TW_TYPE_ERROR, "JSON: an object of class %s can't be written",
                    value->kind == TW_VALUE_OBJECT ? tw_class_name(value->object) : "?");
}

char *tw_value_json(const tw_value *value)
{
    tw__text text = { 0 };
    tw__json json = { .text = &text };
    if (!tw__check_given(value, "the value", "tw_value_json") || write_value(&json, value) != TW_OK) {
        tw__text_free(&text);
        return NULL;
    }
    return tw__text_take(&text);
}

tw_status tw_value_json_write(const tw_value *value, bool (*write)(void *context, const char *text, size_t size), void *context)
{
    tw__text text = { 0 };
    tw__json json = { .text = &text, .write = write, .context = context };
    if (!tw__check_given(value, "the value", "tw_value_json_write") || !write)
        return write ? tw__error_status()
                     : tw__fail(TW_INVALID_ARGUMENT, "tw_value_json_write: the function that takes the text is NULL");
    tw_status status = write_value(&json, value);
    if (status == TW_OK)
        status = hand_on(&json, 0);
    tw__text_free(&text);
    return status;
}

tw_status tw_value_from_json(const char *text, size_t size, tw_value *value)
{
    if (!tw__check_given(value, "the value", "tw_value_from_json"))
        return tw__error_status();
    *value = (tw_value){ .kind = TW_VALUE_NONE };
    if (!text)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_value_from_json: the text is NULL");
    return tw__value_parse(text, size, value);
}
