/* tf.strings: characters of strings and ngrams. What comes of one string is a vector, of several it is ragged. */
#include <stdlib.h>

#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

/* ---- strings to characters ---- */

typedef struct reading {
    const char *encoding, *errors;
    int64_t replacement;
    bool controls, offsets;
} reading;

/* Characters and, if they are asked for, the bytes that they begin at. False: an error. */
static bool decode_row(tw__temps *t, tw_tensor *strings, const reading *how, void *out[2])
{
    tw_tensor *made[3] = { NULL, NULL, NULL };
    int count = how->offsets ? 3 : 2;
    if (tw__apply(how->offsets ? &tw__op_UnicodeDecodeWithOffsets : &tw__op_UnicodeDecode, TW_IN(strings), 1,
                  TW_WITH(TW_A_STRING("input_encoding", how->encoding), TW_A_STRING("errors", how->errors),
                          TW_A_INT("replacement_char", how->replacement), TW_A_BOOL("replace_control_characters", how->controls)),
                  4, made, &count) != TW_OK)
        return false;
    tw_tensor *splits = tw__temp(t, made[0]);
    for (int i = 0; i < count - 1; i++) {
        out[i] = tw__temp(t, made[i + 1]);
        if (strings->shape.rank == 1)
            out[i] = tw__temp_ragged(t, out[i], splits, -1);
    }
    return out[0] && (!how->offsets || out[1]);
}

static bool decode(tw__temps *t, void *value, const reading *how, void *out[2])
{
    if (!value)
        return false;
    if (tw__is_ragged(value)) {
        if (!decode(t, tw__flat_values(value), how, out))
            return false;
        out[0] = tw__temp_with_flat(t, value, out[0]);
        out[1] = how->offsets && out[0] ? tw__temp_with_flat(t, value, out[1]) : NULL;
        return out[0] && (!how->offsets || out[1]);
    }
    tw_tensor *strings = value;
    int rank = strings->shape.rank;
    if (rank < 0) {
        tw__fail(TW_VALUE_ERROR, "Rank of `input` must be statically known.");
        return false;
    }
    return rank > 1 ? decode(t, tw__ragged_of_tensor(t, strings, rank - 1, TW_INT64), how, out)
                    : decode_row(t, strings, how, out);
}

/* Values as results: one, or a pair of them. The temps end. */
static tw_value results(tw__temps *t, bool good, void *const made[2], bool pair)
{
    if (!good || !pair)
        return tw__value_result(t, good ? made[0] : NULL);
    tw_value *items = tw__alloc_array(2, sizeof *items);
    for (int i = 0; items && i < 2; i++)
        items[i] = tw__is_ragged(made[i]) ? tw__value_of_object(tw_retain(made[i])) : tw__value_of_tensor(tw_retain(made[i]));
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2, NULL } } : (tw_value){ 0 };
}

static tw_value decoded(const tw_value *input, const reading *how)
{
    TW_TEMPS(t);
    void *made[2] = { NULL, NULL };
    bool good = decode(t, tw__value_given(t, input, TW_DTYPE_NONE, "input"), how, made);
    return results(t, good, made, how->offsets);
}

TW_API(strings_unicode_decode,
       "strings.unicode_decode(input: value, input_encoding: str, errors: str? = replace, replacement_char: int = 65533, "
       "replace_control_characters: bool = False, name: str = None) -> value",
       "The characters of strings; ragged if there are several.")
{
    return decoded(&args->input, &(reading){ args->input_encoding, args->errors ? args->errors : "replace",
                                             args->replacement_char, args->replace_control_characters, false });
}

TW_API(strings_unicode_decode_with_offsets,
       "strings.unicode_decode_with_offsets(input: value, input_encoding: str, errors: str? = replace, replacement_char: int = "
       "65533, replace_control_characters: bool = False, name: str = None) -> value",
       "The characters of strings and the bytes they begin at; ragged if there are several.")
{
    return decoded(&args->input, &(reading){ args->input_encoding, args->errors ? args->errors : "replace",
                                             args->replacement_char, args->replace_control_characters, true });
}

/* ---- characters to strings ---- */

static tw_tensor *encode_rows(tw__temps *t, tw_tensor *codes, tw_tensor *splits, const reading *how)
{
    return TW_TEMP(UnicodeEncode, codes, splits, TW_A_STRING("output_encoding", how->encoding),
                   TW_A_STRING("errors", how->errors), TW_A_INT("replacement_char", how->replacement));
}

/* Each character as a string of its own. */
static void *encode_each(tw__temps *t, void *codes, const reading *how)
{
    tw_tensor *flat = tw__flat_values(codes), *one = tw__temp_int(t, 1, TW_INT64);
    tw_tensor *size = flat && one ? tw__temp_at(t, tw__temp_shape(t, flat, TW_INT64), 0) : NULL;
    tw_tensor *limit = size ? TW_TEMP(AddV2, size, one) : NULL;
    tw_tensor *strings = encode_rows(t, flat, limit ? tw__temp_range(t, limit) : NULL, how);
    return strings && tw__is_ragged(codes) ? tw__temp_with_flat(t, codes, strings) : (void *)strings;
}

static tw_value split(const tw_value *input, const reading *how)
{
    TW_TEMPS(t);
    void *made[2] = { NULL, NULL };
    bool good = decode(t, tw__value_given(t, input, TW_DTYPE_NONE, "input"), how, made);
    made[0] = good ? encode_each(t, made[0], how) : NULL;
    return results(t, made[0] != NULL, made, how->offsets);
}

TW_API(
    strings_unicode_split,
    "strings.unicode_split(input: value, input_encoding: str, errors: str = replace, replacement_char: int = 65533, name: str = "
    "None) -> value",
    "The characters of strings, each a string; ragged if there are several.")
{
    return split(&args->input, &(reading){ args->input_encoding, args->errors, args->replacement_char, false, false });
}

TW_API(strings_unicode_split_with_offsets,
       "strings.unicode_split_with_offsets(input: value, input_encoding: str, errors: str = replace, replacement_char: int = "
       "65533, name: str = None) -> value",
       "The characters of strings, each a string, and the bytes they begin at; ragged if there are several.")
{
    return split(&args->input, &(reading){ args->input_encoding, args->errors, args->replacement_char, false, true });
}

/* The rows of a tensor along its last dimension: all elements in a vector, their row splits, and the shape of the other
 * dimensions. */
typedef struct rows {
    tw_tensor *values, *splits, *lead;
} rows;

static bool rows_of(tw__temps *t, tw_tensor *x, rows *out)
{
    const int64_t all = -1;
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT64), *axis = tw__temp_int(t, 0, TW_INT32);
    out->lead = shape ? tw__temp_slice(t, shape, TW_NO_INT, -1) : NULL;
    tw_tensor *count = out->lead && axis ? TW_TEMP(Prod, out->lead, axis) : NULL;
    out->splits = count ? tw__splits_uniform(t, count, tw__temp_at(t, shape, -1)) : NULL;
    out->values = out->splits ? tw__temp_reshape(t, x, &all, 1) : NULL;
    return out->values != NULL;
}

static void *encode(tw__temps *t, void *value, const reading *how)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value)) {
        tw_tensor *codes = value;
        rows given;
        if (codes->shape.rank < 1) {
            tw__fail(TW_VALUE_ERROR, codes->shape.rank < 0 ? "Rank of `input` must be statically known."
                                                           : "input_tensor's rank must be at least 1.");
            return NULL;
        }
        if (!rows_of(t, codes, &given))
            return NULL;
        tw_tensor *strings = encode_rows(t, given.values, given.splits, how);
        return strings ? TW_TEMP(Reshape, strings, given.lead) : NULL;
    }
    tw_ragged_tensor *ragged = value;
    if (tw__value_shape(tw__flat_values(value)).rank > 1)
        return tw__temp_with_flat(t, value, encode(t, tw__flat_values(value), how));
    if (tw__is_ragged(ragged->values))
        return tw__temp_with_values(t, ragged, encode(t, ragged->values, how));
    return encode_rows(t, ragged->values, tw__temp_cast(t, ragged->splits, TW_INT64), how);
}

TW_API(
    strings_unicode_encode,
    "strings.unicode_encode(input: value, output_encoding: str, errors: str = replace, replacement_char: int = 65533, name: str "
    "= None) -> value",
    "Strings of the characters along the last dimension.\n"
    "input: the numbers of characters")
{
    TW_TEMPS(t);
    reading how = { args->output_encoding, args->errors, args->replacement_char, false, false };
    return tw__value_result(t, encode(t, tw__value_given(t, &args->input, TW_DTYPE_NONE, "input"), &how));
}

/* ---- ngrams ---- */

typedef struct joining {
    const tw_strings_ngrams_args *args;
    const char *left, *right;
    int64_t padding;
} joining;

static bool join_rows(tw__temps *t, tw_tensor *values, tw_tensor *splits, const joining *how, tw_tensor *out[2])
{
    const tw_strings_ngrams_args *args = how->args;
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (!values || !splits ||
        tw__apply(&tw__op_StringNGrams, TW_IN(values, splits), 2,
                  TW_WITH(TW_A_STRING("separator", args->separator ? args->separator : ""),
                          TW_A_INTS("ngram_widths", args->ngram_width.items, args->ngram_width.count),
                          TW_A_STRING("left_pad", how->left), TW_A_STRING("right_pad", how->right),
                          TW_A_INT("pad_width", how->padding),
                          TW_A_BOOL("preserve_short_sequences", args->preserve_short_sequences)),
                  6, made, &count) != TW_OK)
        return false;
    out[0] = tw__temp(t, made[0]);
    out[1] = tw__temp(t, made[1]);
    return out[0] && out[1];
}

static void *join(tw__temps *t, void *value, const joining *how)
{
    tw_tensor *made[2];
    if (!value)
        return NULL;
    if (tw__is_ragged(value)) {
        tw_ragged_tensor *ragged = value;
        if (tw__is_ragged(ragged->values))
            return tw__temp_with_values(t, ragged, join(t, ragged->values, how));
        return join_rows(t, ragged->values, tw__temp_cast(t, ragged->splits, TW_INT64), how, made)
                   ? tw__temp_ragged(t, made[0], made[1], -1)
                   : NULL;
    }
    tw_tensor *strings = value;
    rows given;
    const int64_t all = -1;
    if (strings->shape.rank < 1) {
        tw__fail(TW_VALUE_ERROR, strings->shape.rank < 0 ? "Rank of data must be known." : "Data must have rank>0");
        return NULL;
    }
    if (!rows_of(t, strings, &given) || !join_rows(t, given.values, given.splits, how, made))
        return NULL;
    tw_tensor *rest = tw__temp_ints(t, &all, 1, TW_INT64);
    tw_tensor *shape = rest ? tw__temp_concat(t, TW_IN(given.lead, rest), 2, 0) : NULL;
    return shape ? TW_TEMP(Reshape, made[0], shape) : NULL;
}

static bool is_text(const tw_value *value)
{
    return value->kind == TW_VALUE_STR || value->kind == TW_VALUE_BYTES;
}

/* What stands beyond the ends of rows: nothing, one text, or one for each end. */
static tw_status read_padding(const tw_strings_ngrams_args *args, joining *how)
{
    const tw_value *given = &args->pad_values;
    bool none = given->kind == TW_VALUE_NONE, two = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (two && given->list.count < 2)
        return tw__fail(TW_INDEX_ERROR, "tuple index out of range");
    const tw_value *left = two ? &given->list.items[0] : given, *right = two ? &given->list.items[1] : given;
    if (!none && (!is_text(left) || !is_text(right)))
        return tw__fail(TW_TYPE_ERROR, "pad_values must be a string, tuple of strings, or None.");
    if (args->padding_width != TW_NO_INT && args->padding_width < 1)
        return tw__fail(TW_VALUE_ERROR, "padding_width must be greater than 0.");
    if (args->padding_width != TW_NO_INT && none)
        return tw__fail(TW_VALUE_ERROR, "pad_values must be provided if padding_width is set.");
    how->left = none ? "" : left->s.data;
    how->right = none ? "" : right->s.data;
    how->padding = none ? 0 : args->padding_width == TW_NO_INT ? -1 : args->padding_width;
    return TW_OK;
}

static tw_status check_widths(const tw_ints *widths)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    bool good = true;
    for (int64_t i = 0; i < widths->count; i++) {
        good = good && widths->items[i] > 0;
        tw__text_format(&text, i ? ", %lld" : "%lld", (long long)widths->items[i]);
    }
    const char *brackets = widths->count == 1 ? "\0" : "[\0]";
    tw_status status = good ? TW_OK
                            : tw__fail(TW_VALUE_ERROR, "All ngram_widths must be greater than 0. Got %s%s%s", brackets,
                                       text.data ? text.data : "", brackets + (widths->count == 1 ? 0 : 2));
    return status;
}

static void refuse_data(const tw_value *given, void *data)
{
    bool tensor = given->kind == TW_VALUE_TENSOR || given->kind == TW_VALUE_OBJECT;
    char *text = !tensor ? tw_value_json(given) : tw__is_ragged(data) ? NULL : tw_tensor_repr(data);
    if (tensor)
        tw__fail(TW_VALUE_ERROR, "data: Tensor conversion requested dtype string for Tensor with dtype %s%s%s",
                 tw_dtype_name(tw__value_dtype(data)), text ? ": " : "", text ? text : "");
    else
        tw__fail(TW_TYPE_ERROR, "Cannot convert %s to EagerTensor of dtype string", text ? text : "data");
    free(text);
}

TW_API(
    strings_ngrams,
    "strings.ngrams(data: value, ngram_width: ints, separator: str = ' ', pad_values: value = None, padding_width: int = None, "
    "preserve_short_sequences: bool = False, name: str = None) -> value",
    "Strings that follow each other along the last dimension, joined; those beyond the ends are `pad_values`.\n"
    "data: strings, a tensor or ragged tensor\n"
    "ngram_width: how many are joined; several numbers give all of these widths\n"
    "pad_values: what stands before the first and behind the last: one text for both, or two; None: nothing\n"
    "padding_width: how many of these are added at most at each side; None: the width - 1\n"
    "preserve_short_sequences: True: a row that is shorter than the width gives one string of its own\n"
    "example: tf.strings.ngrams(['a', 'b', 'c'], 2).numpy().tolist()  # [b'a b', b'b c']")
{
    TW_TEMPS(t);
    joining how = { .args = args };
    void *data = read_padding(args, &how) == TW_OK ? tw__value_given(t, &args->data, TW_STRING, "data") : NULL;
    if (data && tw__value_dtype(data) != TW_STRING) {
        refuse_data(&args->data, data);
        data = NULL;
    }
    return tw__value_result(t, data && check_widths(&args->ngram_width) == TW_OK ? join(t, data, &how) : NULL);
}
