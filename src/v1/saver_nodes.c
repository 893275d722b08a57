/* The nodes of a Saver in a graph, with TensorFlow's names, so that a graph written with it can be restored by TensorFlow:
 *
 *     save/Const                 the prefix of the files, to be fed
 *     save/SaveV2                writes; save/control_dependency gives the prefix when it has
 *     save/RestoreV2             reads; save/restore_all follows the assignments of what was read
 *
 * With `sharded` what is written lies in a folder beside the files first, and is then merged:
 *
 *     save/StringJoin            the prefix with "_temp_…/part" behind it
 *     save/ShardedFilename       that with "-00000-of-00001", which SaveV2 gets
 *     save/MergeV2Checkpoints    puts it into place; save/Identity gives the prefix when it has
 */
#include <sys/random.h>

#include "v1/saver.h"

/* ---- the nodes ---- */

static tw_tensor *strings(char *const *texts, int64_t count)
{
    tw_tensor *tensor = tw_tensor_new(TW_STRING, TW_SHAPE(count), NULL);
    for (int64_t i = 0; tensor && i < count; i++) {
        if (tw__string_set(tensor, i, texts[i], strlen(texts[i])) != TW_OK) {
            tw_release(tensor);
            return NULL;
        }
    }
    return tensor;
}

/* Which part of the tensor of its name each variable is; "": it is the whole. */
static tw_tensor *parts_of(const tw_v1_saver *saver)
{
    tw__owned char **texts = tw__alloc_array((size_t)saver->count + 1, sizeof *texts);
    for (int64_t i = 0; texts && i < saver->count; i++)
        texts[i] = saver->variables[i]->slice ? saver->variables[i]->slice : "";
    return texts ? strings(texts, saver->count) : NULL;
}

/* A call with a node of that name below the saver's scope. */
static tw_status call(const tw_v1_saver *saver, const tw_op *op, const char *name, tw_tensor *const *inputs, int count,
                      const tw_attr *attrs, int attr_count, tw_tensor **outputs, int output_count, tw__node **made)
{
    tw__owned char *whole = tw__format("%s/%s", saver->scope, name);
    return whole ? tw__v1_call(op, whole, inputs, count, attrs, attr_count, outputs, output_count, made) : TW_RESOURCE_EXHAUSTED;
}

static tw_tensor *constant(const tw_v1_saver *saver, tw_tensor *value, const char *name)
{
    tw__owned char *whole = value ? tw__format("%s/%s", saver->scope, name) : NULL;
    tw_tensor *inside = whole ? tw__v1_constant(value, whole) : NULL;
    tw_release(value);
    return inside;
}

static tw_status add_filename(tw_v1_saver *saver, const char *filename)
{
    tw_attr attrs[] = { TW_A_TYPE("dtype", TW_STRING), TW_A_SHAPE("shape", &TW_SCALAR) };
    tw_auto tw_tensor *input = constant(saver, tw_tensor_string(filename, strlen(filename)), "filename/input");
    tw_tensor *first = NULL;
    TW_NEED(input);
    TW_TRY(call(saver, &tw__op_PlaceholderWithDefault, "filename", &input, 1, attrs, 2, &first, 1, NULL));
    tw_status status = call(saver, &tw__op_PlaceholderWithDefault, "Const", &first, 1, attrs, 2, &saver->filename, 1, NULL);
    tw_release(first);
    return status;
}

/* Where SaveV2 writes to: the prefix itself, or a part beside it. A new reference. */
static tw_tensor *part_name(const tw_v1_saver *saver)
{
    if (!saver->sharded)
        return tw_retain(saver->filename);
    unsigned char bytes[16];
    char text[64] = "_temp_";
    if (getentropy(bytes, sizeof bytes) != 0) {
        tw__fail(TW_INTERNAL, "Saver: no random bytes for the name of a folder");
        return NULL;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 6 + 2 * i, 3, "%02x", bytes[i]);
    strcat(text, "/part");
    tw_auto tw_tensor *suffix = constant(saver, tw_tensor_string(text, strlen(text)), "StringJoin/inputs_1");
    tw_auto tw_tensor *count = constant(saver, tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ 1 }), "num_shards");
    tw_auto tw_tensor *shard = constant(saver, tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ 0 }), "ShardedFilename/shard");
    tw_auto tw_tensor *joined = NULL;
    tw_tensor *name = NULL;
    if (suffix && count && shard &&
        call(saver, &tw__op_StringJoin, "StringJoin", TW_IN(saver->filename, suffix), 2, NULL, 0, &joined, 1, NULL) == TW_OK)
        (void)call(saver, &tw__op_ShardedFilename, "ShardedFilename", TW_IN(joined, shard, count), 3, NULL, 0, &name, 1, NULL);
    return name;
}

static tw_status add_write(tw_v1_saver *saver, tw_tensor *part, tw_tensor *const *values, tw__node **write)
{
    int64_t count = saver->count;
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)count + 3, sizeof *inputs);
    tw_auto tw_tensor *names = constant(saver, strings(saver->names, count), "SaveV2/tensor_names");
    tw_auto tw_tensor *slices = constant(saver, parts_of(saver), "SaveV2/shape_and_slices");
    TW_NEED(inputs && names && slices);
    inputs[0] = part;
    inputs[1] = names;
    inputs[2] = slices;
    memcpy(inputs + 3, values, (size_t)count * sizeof *inputs);
    return call(saver, &tw__op_SaveV2, "SaveV2", inputs, (int)count + 3, NULL, 0, NULL, 0, write);
}

/* The tensor again, when the node has run. */
static tw_status behind(const tw_v1_saver *saver, tw__node *node, tw_tensor *tensor, const char *name, tw_tensor **result)
{
    TW_TRY(tw__control_push(saver->graph, &node, 1, false));
    tw_status status = call(saver, &tw__op_Identity, name, &tensor, 1, NULL, 0, result, 1, NULL);
    tw__control_pop(saver->graph);
    return status;
}

static tw_status add_merge(tw_v1_saver *saver, tw_tensor *part)
{
    tw__node *merge = NULL;
    tw_auto tw_tensor *parts = NULL;
    TW_TRY(call(saver, &tw__op_Pack, "MergeV2Checkpoints/checkpoint_prefixes", &part, 1, NULL, 0, &parts, 1, NULL));
    TW_TRY(call(saver, &tw__op_MergeV2Checkpoints, "MergeV2Checkpoints", TW_IN(parts, saver->filename), 2, NULL, 0, NULL, 0,
                &merge));
    return behind(saver, merge, saver->filename, "Identity", &saver->saved);
}

static tw_status add_save(tw_v1_saver *saver, tw_tensor *const *values)
{
    tw__node *write = NULL;
    tw_auto tw_tensor *part = part_name(saver), *written = NULL;
    TW_NEED(part);
    TW_TRY(add_write(saver, part, values, &write));
    if (!saver->sharded)
        return behind(saver, write, part, "control_dependency", &saver->saved);
    TW_TRY(behind(saver, write, part, "control_dependency", &written));
    return add_merge(saver, written);
}

static tw_status add_restore(tw_v1_saver *saver, tw_tensor **read, tw__node **assignments)
{
    int64_t count = saver->count;
    tw_auto tw_tensor *names = constant(saver, strings(saver->names, count), "RestoreV2/tensor_names");
    tw_auto tw_tensor *slices = constant(saver, parts_of(saver), "RestoreV2/shape_and_slices");
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw_status status = names && slices && dtypes ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < count; i++)
        dtypes[i] = saver->variables[i]->resource->dtype;
    tw_attr types = TW_A_TYPES("dtypes", dtypes, count);
    if (status == TW_OK)
        status = call(saver, &tw__op_RestoreV2, "RestoreV2", TW_IN(saver->filename, names, slices), 3, &types, 1, read,
                      (int)count, NULL);
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        tw_variable *variable = saver->variables[i];
        tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
        tw_auto tw_tensor *value = NULL;
        status = call(saver, &tw__op_Identity, "Identity", &read[i], 1, NULL, 0, &value, 1, NULL);
        if (status == TW_OK)
            status = call(saver, &tw__op_AssignVariableOp, "AssignVariableOp", TW_IN(variable->handle, value), 2, &dtype, 1, NULL,
                          0, &assignments[i]);
    }
    tw__node *all = NULL;
    if (status == TW_OK)
        status = call(saver, &tw__op_NoOp, saver->sharded ? "restore_shard" : "restore_all", NULL, 0, NULL, 0, NULL, 0, &all);
    for (int64_t i = 0; status == TW_OK && i < count; i++)
        status = tw__node_follow(all, assignments[i]);
    tw__node *shard = all;
    if (status == TW_OK && saver->sharded &&
        (status = call(saver, &tw__op_NoOp, "restore_all", NULL, 0, NULL, 0, NULL, 0, &all)) == TW_OK)
        status = tw__node_follow(all, shard);
    saver->restore = status == TW_OK ? tw__operation_of(all) : NULL;
    return status == TW_OK && !saver->restore ? tw__error_status() : status;
}

tw_status tw__saver_add_nodes(tw_v1_saver *saver, const char *name, const char *filename)
{
    size_t count = (size_t)saver->count;
    tw__owned char *wanted = tw__format("%s%s", tw__scope(), name && *name ? name : "save");
    saver->scope = wanted ? tw__graph_unique_name(saver->graph, wanted, true) : NULL;
    tw__owned tw_tensor **values = tw__alloc_array(count + 1, sizeof *values), **read = tw__alloc_array(count + 1, sizeof *read);
    tw__owned tw__node **assignments = tw__alloc_array(count + 1, sizeof *assignments);
    tw_status status = saver->scope && values && read && assignments ? TW_OK : tw__error_status();
    for (size_t i = 0; status == TW_OK && i < count; i++) {
        tw_variable *variable = saver->variables[i];
        values[i] = variable->snapshot ? tw__node_output(variable->snapshot, 0) : NULL;
        if (!values[i])
            status = tw_error_code() != TW_OK ? tw__error_status()
                                              : tw__fail(TW_VALUE_ERROR, "the graph of variable %s is gone", variable->name);
    }
    if (status == TW_OK)
        status = add_filename(saver, filename && *filename ? filename : "model");
    if (status == TW_OK)
        status = add_save(saver, values);
    if (status == TW_OK)
        status = add_restore(saver, read, assignments);
    for (size_t i = 0; i < count; i++) {
        tw_release(values ? values[i] : NULL);
        tw_release(read ? read[i] : NULL);
    }
    return status;
}
