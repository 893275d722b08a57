/* tf.strings: characters, ngrams, segments, hashes. What gives or takes rows of different lengths has a row here for the flat
 * form (row splits and values); functions of dense tensors are whole. */
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

TW_API(
    strings_unicode_decode_flat,
    "strings._unicode_decode(input: tensor<string>, input_encoding: str, errors: str = replace, replacement_char: int = 65533, "
    "replace_control_characters: bool = False) -> tensors",
    "The characters of strings: row splits, characters, and the bytes of each string that they begin at.")
{
    return tw__call_many(&tw__op_UnicodeDecodeWithOffsets, TW_IN(args->input), 1,
                         TW_WITH(TW_A_STRING("input_encoding", args->input_encoding), TW_A_STRING("errors", args->errors),
                                 TW_A_INT("replacement_char", args->replacement_char),
                                 TW_A_BOOL("replace_control_characters", args->replace_control_characters)),
                         4, 3);
}

TW_API(strings_unicode_encode_flat,
       "strings._unicode_encode(values: tensor<int32>, splits: tensor<int64>, output_encoding: str, errors: str = replace, "
       "replacement_char: int = 65533) -> tensor",
       "Strings of characters that lie one row behind the other.")
{
    return TW_CALL(UnicodeEncode, args->values, args->splits, TW_A_STRING("output_encoding", args->output_encoding),
                   TW_A_STRING("errors", args->errors), TW_A_INT("replacement_char", args->replacement_char));
}

/* A tensor's rows as row splits: 0, n, 2n … */
static tw_tensor *even_splits(tw_tensor *lead, tw_tensor *last)
{
    tw_auto tw_tensor *zero = tw_tensor_int64(0), *one = tw_tensor_int64(1), *axis = tw_tensor_int(0);
    tw_auto tw_tensor *rows = TW_CALL(Prod, lead, axis);
    tw_auto tw_tensor *limit = TW_CALL(AddV2, rows, one);
    tw_auto tw_tensor *numbers = TW_CALL(Range, zero, limit, one);
    return TW_CALL(Mul, numbers, last);
}

TW_API(strings_unicode_encode,
       "strings.unicode_encode(input: tensor<int32>, output_encoding: str, errors: str = replace, replacement_char: int = 65533, "
       "name: str = None) -> tensor",
       "Strings of the characters along the last dimension.")
{
    int rank = args->input->shape.rank;
    if (rank < 1) {
        tw__fail(TW_VALUE_ERROR,
                 rank < 0 ? "Rank of `input` must be statically known." : "input_tensor's rank must be at least 1.");
        return NULL;
    }
    const int64_t begin[] = { 0, rank - 1 }, size[] = { rank - 1, 1 }, all = -1;
    tw_auto tw_tensor *first = tw__ints_tensor(&begin[0], 1, TW_INT32), *before = tw__ints_tensor(&size[0], 1, TW_INT32);
    tw_auto tw_tensor *end = tw__ints_tensor(&begin[1], 1, TW_INT32), *one = tw__ints_tensor(&size[1], 1, TW_INT32);
    tw_auto tw_tensor *flat = tw__ints_tensor(&all, 1, TW_INT32);
    tw_auto tw_tensor *shape = TW_CALL(Shape, args->input, TW_A_TYPE("out_type", TW_INT64));
    tw_auto tw_tensor *lead = TW_CALL(Slice, shape, first, before);
    tw_auto tw_tensor *last = TW_CALL(Slice, shape, end, one);
    tw_auto tw_tensor *splits = even_splits(lead, last);
    tw_auto tw_tensor *values = TW_CALL(Reshape, args->input, flat);
    tw_auto tw_tensor *strings =
        splits && values ? tw_strings_unicode_encode_flat(values, splits, args->output_encoding, .errors = args->errors,
                                                          .replacement_char = args->replacement_char)
                         : NULL;
    return TW_CALL(Reshape, strings, lead);
}

TW_API(
    strings_ngrams_flat,
    "strings._ngrams(data: tensor<string>, splits: tensor<int64>, ngram_width: ints, separator: str = ' ', left_pad: str = '', "
    "right_pad: str = '', padding_width: int = 0, preserve_short_sequences: bool = False) -> tensors",
    "The ngrams of rows that lie one behind the other, and their row splits.")
{
    return tw__call_many(&tw__op_StringNGrams, TW_IN(args->data, args->splits), 2,
                         TW_WITH(TW_A_STRING("separator", args->separator ? args->separator : ""),
                                 TW_A_INTS("ngram_widths", args->ngram_width.items, args->ngram_width.count),
                                 TW_A_STRING("left_pad", args->left_pad ? args->left_pad : ""),
                                 TW_A_STRING("right_pad", args->right_pad ? args->right_pad : ""),
                                 TW_A_INT("pad_width", args->padding_width),
                                 TW_A_BOOL("preserve_short_sequences", args->preserve_short_sequences)),
                         6, 2);
}
