/* tf.compat.v1.summary: summaries as tensors of the graph, which a FileWriter is given. Their tags are their scopes' unique
 * names. */
#include <ctype.h>

#include "api/api.h"
#include "op/calls.h"
#include "v1/v1.h"

/* A name of the letters that a scope may have; for tw__free. */
static char *clean(const char *name)
{
    while (*name == '/')
        name++;
    char *out = tw__strdup(name), *end = out;
    for (const char *at = name; out && *at; at++) {
        bool first = ((unsigned char)*at & 0xc0) != 0x80; /* of a letter in UTF-8 */
        bool good = isalnum((unsigned char)*at) || strchr("_./-", *at);
        if (good || first)
            *end++ = good ? *at : '_';
    }
    if (out)
        *end = 0;
    return out;
}

/* The op of a tag and values, in a scope of the name. */
static tw_tensor *summary(const tw_op *op, const char *given, const char *given_family, tw_tensor *values,
                          const tw_value *collections)
{
    if (!given) {
        tw__fail(TW_VALUE_ERROR, "At least one of name (None) and default_name (None) must be provided.");
        return NULL;
    }
    tw__owned char *name = clean(given), *family = given_family ? clean(given_family) : NULL;
    tw__owned char *whole = family && name ? tw__format("%s/%s", family, name) : tw__strdup(name ? name : "");
    if (!name || !whole || (given_family && !family))
        return NULL;
    tw__part part = tw__part_begin(whole, "summary");
    const char *scope = part.name ? part.name : whole;
    tw__owned char *tag = family && part.name ? tw__format("%s/%s", family, scope) : tw__strdup(scope);
    tw_auto tw_tensor *text = tag ? tw_tensor_string(tag, strlen(tag)) : NULL;
    tw_tensor *made = text ? tw__part_result(&part, tw__part_call(&part, "", op, TW_IN(text, values), 2, NULL, 0)) : NULL;
    if (!text)
        tw__part_end(&part);
    if (!made)
        return NULL;
    tw_status status =
        collections->kind == TW_VALUE_NONE ? tw__v1_collect("summaries", made) : tw__v1_collect_in(collections, made);
    if (status == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

TW_API(v1_summary_scalar,
       "compat.v1.summary.scalar(name: str, tensor: tensor, collections: value = None, family: str = None) -> tensor",
       "A summary of one number.\n"
       "tensor: one number")
{
    return summary(&tw__op_ScalarSummary, args->name, args->family, args->tensor, &args->collections);
}

TW_API(v1_summary_histogram,
       "compat.v1.summary.histogram(name: str, values: tensor, collections: value = None, family: str = None) -> tensor",
       "A summary of how values are distributed.\n"
       "values: numbers of any shape")
{
    return summary(&tw__op_HistogramSummary, args->name ? args->name : "HistogramSummary", args->family, args->values,
                   &args->collections);
}

TW_API(v1_summary_merge, "compat.v1.summary.merge(inputs: tensors, collections: value = None, name: str = None) -> tensor",
       "Several summaries in one.\n"
       "inputs: the summaries, as `tf.compat.v1.summary` functions give them\n"
       "name: a name for the operation")
{
    if (!tw__tracing) {
        tw__fail(TW_RUNTIME_ERROR,
                 "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.");
        return NULL;
    }
    tw_attr count = TW_A_INT("N", args->inputs.count);
    tw__part part = tw__part_begin(args->name, "Merge");
    tw_tensor *made = tw__part_result(&part, tw__part_call(&part, args->name ? args->name : "MergeSummary", &tw__op_MergeSummary,
                                                           args->inputs.items, (int)args->inputs.count, &count, 1));
    if (made && tw__v1_collect_in(&args->collections, made) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}
