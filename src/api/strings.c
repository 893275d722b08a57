/* tf.strings: the string ops as users name them. */
#include "api/array.h"
#include "rows.h"

TW_API(strings_join, "strings.join(inputs: tensors<string>, separator: str = '', name: str = None) -> tensor",
       "Strings joined element by element, with a separator between them.")
{
    return tw__call(&tw__op_StringJoin, args->inputs.items, (int)args->inputs.count,
                    TW_WITH(TW_A_STRING("separator", args->separator ? args->separator : "")), 1);
}

TW_API(strings_length, "strings.length(input: tensor<string>, unit: str = BYTE, name: str = None) -> tensor",
       "The number of bytes or characters (unit UTF8_CHAR) of each string.")
{
    return tw__call(&tw__op_StringLength, TW_IN(args->input), 1, TW_WITH(TW_A_STRING("unit", args->unit)), 1);
}

TW_API(strings_substr,
       "strings.substr(input: tensor<string>, pos: tensor<T>, len: tensor<T>, unit: str = BYTE, name: str = None) -> tensor",
       "A part of each string, from a position on.")
{
    return tw__call(&tw__op_Substr, TW_IN(args->input, args->pos, args->len), 3, TW_WITH(TW_A_STRING("unit", args->unit)), 1);
}

TW_API(strings_lower, "strings.lower(input: tensor<string>, encoding: str = '', name: str = None) -> tensor",
       "Every letter small.")
{
    return tw__call(&tw__op_StringLower, TW_IN(args->input), 1,
                    TW_WITH(TW_A_STRING("encoding", args->encoding ? args->encoding : "")), 1);
}

TW_API(strings_upper, "strings.upper(input: tensor<string>, encoding: str = '', name: str = None) -> tensor",
       "Every letter large.")
{
    return tw__call(&tw__op_StringUpper, TW_IN(args->input), 1,
                    TW_WITH(TW_A_STRING("encoding", args->encoding ? args->encoding : "")), 1);
}

TW_API(strings_strip, "strings.strip(input: tensor<string>, name: str = None) -> tensor", "Without the white space at both ends.")
{
    return TW_UNARY(StringStrip, args->input);
}

TW_API(strings_to_number, "strings.to_number(input: tensor<string>, out_type: dtype = float32, name: str = None) -> tensor",
       "The numbers that strings name.")
{
    return tw__call(&tw__op_StringToNumber, TW_IN(args->input), 1, TW_WITH(TW_A_TYPE("out_type", args->out_type)), 1);
}

TW_API(
    strings_as_string,
    "strings.as_string|as_string|dtypes.as_string(input: tensor, precision: int = -1, scientific: bool = False, shortest: bool = False, "
    "width: int = -1, fill: str = '', name: str = None) -> tensor",
    "Each element as text.")
{
    return tw__call(&tw__op_AsString, TW_IN(args->input), 1,
                    TW_WITH(TW_A_INT("precision", args->precision), TW_A_BOOL("scientific", args->scientific),
                            TW_A_BOOL("shortest", args->shortest), TW_A_INT("width", args->width),
                            TW_A_STRING("fill", args->fill ? args->fill : "")),
                    5);
}

TW_API(
    strings_reduce_join,
    "strings.reduce_join(inputs: tensor<string>, axis: ints = None, keepdims: bool = False, separator: str = '', name: str = None) -> tensor",
    "Strings joined along axes, all of them if none is named.")
{
    int64_t all[TW_MAX_RANK];
    int rank = args->inputs->shape.rank;
    if (!args->axis.given && rank < 0) {
        tw__fail(TW_UNIMPLEMENTED, "strings.reduce_join: the rank of inputs is not known while tracing; give the axis");
        return NULL;
    }
    for (int i = 0; i < rank; i++)
        all[i] = rank - 1 - i;
    tw_auto tw_tensor *axes =
        args->axis.given ? tw__ints_tensor(args->axis.items, args->axis.count, TW_INT32) : tw__ints_tensor(all, rank, TW_INT32);
    return tw__call(&tw__op_ReduceJoin, TW_IN(args->inputs, axes), 2,
                    TW_WITH(TW_A_BOOL("keep_dims", args->keepdims),
                            TW_A_STRING("separator", args->separator ? args->separator : "")),
                    2);
}

TW_API(strings_regex_full_match,
       "strings.regex_full_match(input: tensor<string>, pattern: tensor<string>, name: str = None) -> tensor",
       "Whether the whole of each string is what a regular expression says.")
{
    return TW_BINARY(RegexFullMatch, args->input, args->pattern);
}

TW_API(
    strings_regex_replace,
    "strings.regex_replace(input: tensor<string>, pattern: tensor<string>, rewrite: tensor<string>, replace_global: bool = True, "
    "name: str = None) -> tensor",
    "What a regular expression finds, replaced.")
{
    return tw__call(&tw__op_RegexReplace, TW_IN(args->input, args->pattern, args->rewrite), 3,
                    TW_WITH(TW_A_BOOL("replace_global", !args->no_replace_global)), 1);
}

TW_API(strings_to_hash_bucket_fast,
       "strings.to_hash_bucket_fast(input: tensor<string>, num_buckets: int, name: str = None) -> tensor",
       "A bucket for each string, by its fingerprint.")
{
    return tw__call(&tw__op_StringToHashBucketFast, TW_IN(args->input), 1, TW_WITH(TW_A_INT("num_buckets", args->num_buckets)),
                    1);
}

/* How often the mark stands in the template. */
static int64_t count_marks(const char *template, const char *mark)
{
    int64_t count = 0;
    for (const char *p = template; *mark && (p = strstr(p, mark)); p += strlen(mark))
        count++;
    return count;
}

TW_API(strings_format,
       "strings.format(template: str, inputs: tensors, placeholder: str = {}, summarize: int = 3, name: str = None) -> tensor",
       "A template with tensors in the place of its marks.")
{
    int64_t marks = count_marks(args->template, args->placeholder);
    if (marks != args->inputs.count) {
        tw__fail(
            TW_VALUE_ERROR,
            "The template expects %lld tensors, but the inputs only has %lld. Please ensure the number of placeholders in template "
            "matches inputs length.",
            (long long)marks, (long long)args->inputs.count);
        return NULL;
    }
    return tw__call(&tw__op_StringFormat, args->inputs.items, (int)args->inputs.count,
                    TW_WITH(TW_A_STRING("template", args->template), TW_A_STRING("placeholder", args->placeholder),
                            TW_A_INT("summarize", args->summarize)),
                    3);
}

/* ---- tf.io ---- */

TW_API(io_encode_base64, "io.encode_base64(input: tensor<string>, pad: bool = False, name: str = None) -> tensor",
       "Strings in base64, safe in addresses.")
{
    return tw__call(&tw__op_EncodeBase64, TW_IN(args->input), 1, TW_WITH(TW_A_BOOL("pad", args->pad)), 1);
}

TW_API(io_decode_base64, "io.decode_base64(input: tensor<string>, name: str = None) -> tensor", "What base64 stands for.")
{
    return TW_UNARY(DecodeBase64, args->input);
}

TW_API(io_read_file, "io.read_file(filename: tensor<string>, name: str = None) -> tensor", "The bytes of a file.")
{
    return TW_UNARY(ReadFile, args->filename);
}

TW_API(io_write_file, "io.write_file(filename: tensor<string>, contents: tensor<string>, name: str = None)",
       "Makes a file of bytes, and its directories.")
{
    int none = 0;
    return tw__apply(&tw__op_WriteFile, TW_IN(args->filename, args->contents), 2, NULL, 0, NULL, &none);
}

TW_API(io_matching_files, "io.matching_files(pattern: tensor<string>, name: str = None) -> tensor",
       "The names of the files that patterns stand for, sorted.")
{
    return TW_UNARY(MatchingFiles, args->pattern);
}
