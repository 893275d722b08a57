/* tf.strings.split and tf.strings.bytes_split: the parts of one string are a vector, those of several are ragged. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

/* How a vector of strings is cut. */
typedef struct cut {
    const tw_op *op;
    const char *mark;
    tw_attr attr;
} cut;

static void *split(tw__temps *t, void *value, const cut *how)
{
    if (!value)
        return NULL;
    if (tw__is_ragged(value)) {
        tw_ragged_tensor *ragged = value;
        return tw__temp_with_values(t, ragged, split(t, ragged->values, how));
    }
    tw_tensor *strings = value;
    int rank = strings->shape.rank;
    if (strings->dtype != TW_STRING) {
        tw__fail(TW_TYPE_ERROR, "strings.split: input must be of dtype string, got %s", tw_dtype_name(strings->dtype));
        return NULL;
    }
    if (rank < 0) {
        tw__fail(TW_VALUE_ERROR, "input must have a known rank");
        return NULL;
    }
    if (rank > 1) {
        tw_ragged_tensor *rows = tw__ragged_of_tensor(t, strings, rank - 1, TW_INT64);
        return rows ? split(t, rows, how) : NULL;
    }
    tw_tensor *vector = rank == 0 ? TW_TEMP(ExpandDims, strings, tw__temp_int(t, 0, TW_INT32)) : strings,
              *made[3] = { NULL, NULL, NULL };
    tw_tensor *mark = tw__temp(t, tw_tensor_string(how->mark, strlen(how->mark)));
    int count = 3;
    if (!vector || !mark || tw__apply(how->op, TW_IN(vector, mark), 2, &how->attr, 1, made, &count) != TW_OK)
        return NULL;
    tw_tensor *indices = tw__temp(t, made[0]), *parts = tw__temp(t, made[1]), *shape = tw__temp(t, made[2]);
    if (rank == 0 || !indices || !parts || !shape)
        return parts;
    return tw__temp_ragged(t, parts, tw__splits_of_rowids(t, tw__temp_column(t, indices, 0), tw__temp_at(t, shape, 0)), -1);
}

TW_API(strings_split, "strings.split(input: value, sep: str = None, maxsplit: int = -1, name: str = None) -> value",
       "The parts of strings between separators, white space if none is given; ragged if there are several strings.\n"
       "input: strings\n"
       "sep: the separator; None: any run of white space\n"
       "maxsplit: how often a string is split at most; -1: any number of times\n"
       "example: tf.strings.split('a b  c').numpy().tolist()  # [b'a', b'b', b'c']")
{
    TW_TEMPS(t);
    cut how = { &tw__op_StringSplitV2, args->sep ? args->sep : "", TW_A_INT("maxsplit", args->maxsplit) };
    return tw__value_result(t, split(t, tw__value_given(t, &args->input, TW_STRING, "strings.split"), &how));
}

TW_API(strings_bytes_split, "strings.bytes_split(input: value, name: str = None) -> value",
       "The bytes of strings; ragged if there are several strings.")
{
    TW_TEMPS(t);
    cut how = { &tw__op_StringSplit, "", TW_A_BOOL("skip_empty", false) };
    return tw__value_result(t, split(t, tw__value_given(t, &args->input, TW_STRING, "strings.bytes_split"), &how));
}
