/* tf.strings and files: functions that are more than one op. Those that are an op stand in its row. */
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

TW_API(
    strings_reduce_join,
    "strings.reduce_join(inputs: tensor<string>, axis: ints = None, keepdims: bool = False, separator: str = '', name: str = None) -> tensor",
    "Strings joined along axes, all of them if none is named.\n"
    "inputs: a tensor of strings\n"
    "example: tf.strings.reduce_join(['a', 'b', 'c'], separator='-').numpy()  # b'a-b-c'")
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
    return TW_CALL(ReduceJoin, args->inputs, axes, TW_A_BOOL("keep_dims", args->keepdims),
                   TW_A_STRING("separator", args->separator ? args->separator : ""));
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
       "A template with tensors in the place of its marks.\n"
       "template: the text with a mark for each tensor\n"
       "inputs: the tensors\n"
       "placeholder: the mark\n"
       "summarize: how many elements at both ends of each dimension are shown; -1: all\n"
       "example: tf.strings.format('x: {}', tf.constant([1, 2])).numpy()  # b'x: [1 2]'")
{
    int64_t marks = count_marks(args->template_, args->placeholder);
    if (marks != args->inputs.count) {
        tw__fail(
            TW_VALUE_ERROR,
            "The template expects %lld tensors, but the inputs only has %lld. Please ensure the number of placeholders in template "
            "matches inputs length.",
            (long long)marks, (long long)args->inputs.count);
        return NULL;
    }
    return tw__call(&tw__op_StringFormat, args->inputs.items, (int)args->inputs.count,
                    TW_WITH(TW_A_STRING("template", args->template_), TW_A_STRING("placeholder", args->placeholder),
                            TW_A_INT("summarize", args->summarize)),
                    3);
}

/* ---- tf.io ---- */

TW_API(io_write_file, "io.write_file|compat.v1.write_file(filename: tensor<string>, contents: tensor<string>, name: str = None)",
       "Makes a file of bytes, and its directories.\n"
       "contents: the bytes")
{
    int none = 0;
    return tw__apply(&tw__op_WriteFile, TW_IN(args->filename, args->contents), 2, NULL, 0, NULL, &none);
}
