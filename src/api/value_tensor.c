/* tw_value_tensor: tensors of values as JSON has them. tw__value_tensor (composite_value.c) makes them; here stand what only JSON
 * needs, bytes and numbers that are written as texts, and the checks that a value of another kind or size is refused, not
 * changed. */
#include <math.h>
#include <string.h>

#include "api/composite.h"
#include "graph/graphdef.h"
#include "op/calls.h"
#include "rows.h"
#include <thalweg/describe.h>

#define WHERE "tw_value_tensor"

/* Bytes of base64, in either alphabet. */
static tw_status decode(tw_string text, tw_value *bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *room = tw__alloc(text.size + 1);
    size_t size = 0;
    uint32_t held = 0;
    TW_NEED(room);
    *bytes = (tw_value){ .kind = TW_VALUE_BYTES, .s = { room, 0 } };
    for (size_t i = 0, bits = 0; i < text.size && text.data[i] != '='; i++) {
        char c = text.data[i] == '-' ? '+' : text.data[i] == '_' ? '/' : text.data[i];
        const char *at = c ? strchr(letters, c) : NULL;
        if (!at)
            return tw__fail(TW_INVALID_ARGUMENT, WHERE ": the text of b64 is not base64");
        held = held << 6 | (uint32_t)(at - letters);
        if ((bits += 6) >= 8)
            room[size++] = (char)(held >> (bits -= 8));
    }
    bytes->s.size = size;
    return TW_OK;
}

/* Numbers that JSON has no words for. */
static bool special(tw_string text, double *number)
{
    *number = tw__string_is(text, "NaN") ? NAN : tw__string_is(text, "Infinity") ? INFINITY : -INFINITY;
    return *number > 0 || isnan(*number) || tw__string_is(text, "-Infinity");
}

/* Puts what the texts of a copied value stand for in their place. */
static tw_status resolve(tw_value *value, bool real)
{
    double number;
    tw_value found = { .kind = TW_VALUE_NONE };
    if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) {
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(resolve(&value->list.items[i], real));
        return TW_OK;
    }
    const tw_value *text = value->kind == TW_VALUE_DICT ? tw__value_get(value, "b64") : NULL;
    if (real && value->kind == TW_VALUE_STR && special(value->s, &number))
        found = (tw_value){ .kind = TW_VALUE_FLOAT, .f = number };
    else if (!text || text->kind != TW_VALUE_STR)
        return TW_OK;
    tw_status status = found.kind ? TW_OK : decode(text->s, &found);
    tw_value_free(value);
    *value = found;
    return status;
}

/* Whole numbers that the dtype does not hold are an error, not other numbers. */
static tw_status check_range(const tw_tensor *tensor, tw_dtype dtype)
{
    static const struct {
        tw_dtype dtype;
        int64_t least, most;
    } ranges[] = { { TW_INT8, INT8_MIN, INT8_MAX }, { TW_INT16, INT16_MIN, INT16_MAX }, { TW_INT32, INT32_MIN, INT32_MAX },
                   { TW_UINT8, 0, UINT8_MAX },      { TW_UINT16, 0, UINT16_MAX },       { TW_UINT32, 0, UINT32_MAX },
                   { TW_UINT64, 0, INT64_MAX } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (int64_t k = 0; ranges[i].dtype == dtype && k < tw_tensor_count(tensor); k++) {
            int64_t number = ((const int64_t *)tensor->data)[k];
            if (number < ranges[i].least || number > ranges[i].most)
                return tw__fail(TW_INVALID_ARGUMENT, WHERE ": %lld is out of the range of %s", (long long)number,
                                tw_dtype_name(dtype));
        }
    }
    return TW_OK;
}

tw_tensor *tw_value_tensor(const tw_value *value, tw_dtype dtype)
{
    if (!tw__check_given(value, "the value", WHERE))
        return NULL;
    tw__auto(tw_value_free) tw_value copy = tw__value_copy(value);
    bool whole = dtype && tw__dtype_is_integer(dtype), real = dtype && !whole && dtype != TW_STRING && dtype != TW_BOOL;
    if (resolve(&copy, real) != TW_OK)
        return NULL;
    tw_dtype wide = whole ? TW_INT64 : dtype;
    tw_auto tw_tensor *made = tw__value_tensor(&copy, wide, WHERE);
    if (made && tw_tensor_count(made) && wide && made->dtype != wide) {
        tw__fail(TW_INVALID_ARGUMENT, WHERE ": %s is expected, got %s", tw_dtype_name(dtype), tw_dtype_name(made->dtype));
        return NULL;
    }
    if (!made || (whole && tw_tensor_count(made) && check_range(made, dtype) != TW_OK))
        return NULL;
    return !dtype || made->dtype == dtype ? tw_retain(made) : TW_CALL(Cast, made, TW_A_TYPE("DstT", dtype));
}
