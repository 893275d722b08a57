/* compat.v1.train.Saver: variables by their names into checkpoint files and back, and the newest few checkpoints kept.
 *
 * In a graph the Saver is nodes, with TensorFlow's names, so that a graph written with it can be restored by TensorFlow:
 *
 *     save/Const                 the prefix of the files, to be fed
 *     save/SaveV2                writes; save/control_dependency gives the prefix when it has
 *     save/RestoreV2             reads; save/restore_all follows the assignments of what was read
 *
 * With `sharded` what is written lies in a folder beside the files first, and is then merged:
 *
 *     save/StringJoin            the prefix with "_temp_…/part" behind it; save/ShardedFilename: with "-00000-of-00001", which
 * SaveV2 gets save/MergeV2Checkpoints    puts it into place; save/Identity gives the prefix when it has
 *
 * Eagerly the same ops run at once. */
#include <math.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "saving/saving.h"
#include "session/session.h"
#include "v1/v1.h"

typedef struct kept {
    char *path;
    double time;
} kept;

struct tw_v1_saver {
    tw_object object;
    char **names;
    tw_variable **variables; /* by name */
    int64_t count;
    int64_t max_to_keep;     /* 0: all, and none is remembered */
    double hours, next_time; /* one checkpoint is kept for good from that time on */
    tw__graph *graph;        /* NULL: eager */
    char *scope;             /* "save" */
    bool sharded;
    tw_tensor *filename, *saved;
    tw_operation *restore;
    kept *last;
    size_t last_count, last_capacity;
};

static void saver_clear(void *self)
{
    tw_v1_saver *saver = self;
    for (int64_t i = 0; i < saver->count; i++)
        tw__set(&saver->variables[i], NULL);
    tw__set(&saver->graph, NULL);
    tw__set(&saver->filename, NULL);
    tw__set(&saver->saved, NULL);
    tw__set(&saver->restore, NULL);
}

static void forget_last(tw_v1_saver *saver)
{
    for (size_t i = 0; i < saver->last_count; i++)
        tw__free(saver->last[i].path);
    saver->last_count = 0;
}

static void saver_destroy(void *self)
{
    tw_v1_saver *saver = self;
    saver_clear(self);
    forget_last(saver);
    tw__free(saver->last);
    for (int64_t i = 0; saver->names && i < saver->count; i++)
        tw__free(saver->names[i]);
    tw__free(saver->names);
    tw__free(saver->variables);
    tw__free(saver->scope);
}

static void saver_visit(void *self, tw__visitor visitor, void *context)
{
    tw_v1_saver *saver = self;
    for (int64_t i = 0; i < saver->count; i++) {
        if (saver->variables[i])
            visitor(context, (tw_object *)saver->variables[i]);
    }
    tw_object *held[] = { (tw_object *)saver->filename, (tw_object *)saver->saved, (tw_object *)saver->restore };
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (held[i])
            visitor(context, held[i]);
    }
}

/* ---- the nodes ---- */

static tw_tensor *strings(char *const *texts, int64_t count)
{
    tw_tensor *tensor = tw_tensor_new(TW_STRING, TW_SHAPE(count), NULL);
    for (int64_t i = 0; tensor && i < count; i++) {
        const char *text = texts ? texts[i] : "";
        if (tw__string_set(tensor, i, text, strlen(text)) != TW_OK) {
            tw_release(tensor);
            return NULL;
        }
    }
    return tensor;
}

/* A call with a node of that name below the saver's scope. */
static tw_status call(const tw_v1_saver *saver, const tw_op *op, const char *name, tw_tensor *const *inputs, int count,
                      const tw_attr *attrs, int attr_count, tw_tensor **outputs, int output_count, tw__node **made)
{
    char *whole = tw__format("%s/%s", saver->scope, name);
    tw_status status =
        whole ? tw__v1_call(op, whole, inputs, count, attrs, attr_count, outputs, output_count, made) : TW_RESOURCE_EXHAUSTED;
    tw__free(whole);
    return status;
}

static tw_tensor *constant(const tw_v1_saver *saver, tw_tensor *value, const char *name)
{
    char *whole = value ? tw__format("%s/%s", saver->scope, name) : NULL;
    tw_tensor *inside = whole ? tw__v1_constant(value, whole) : NULL;
    tw_release(value);
    tw__free(whole);
    return inside;
}

static tw_status add_filename(tw_v1_saver *saver, const char *filename)
{
    tw_attr attrs[] = { TW_A_TYPE("dtype", TW_STRING), TW_A_SHAPE("shape", &TW_SCALAR) };
    tw_auto tw_tensor *input = constant(saver, tw_tensor_string(filename, strlen(filename)), "filename/input");
    tw_tensor *first = NULL;
    if (!input)
        return tw__error_status();
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
    tw_tensor **inputs = tw__alloc_array((size_t)count + 3, sizeof *inputs);
    tw_auto tw_tensor *names = constant(saver, strings(saver->names, count), "SaveV2/tensor_names");
    tw_auto tw_tensor *slices = constant(saver, strings(NULL, count), "SaveV2/shape_and_slices");
    tw_status status = inputs && names && slices ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        inputs[0] = part;
        inputs[1] = names;
        inputs[2] = slices;
        memcpy(inputs + 3, values, (size_t)count * sizeof *inputs);
        status = call(saver, &tw__op_SaveV2, "SaveV2", inputs, (int)count + 3, NULL, 0, NULL, 0, write);
    }
    tw__free(inputs);
    return status;
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
    if (!part)
        return tw__error_status();
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
    tw_auto tw_tensor *slices = constant(saver, strings(NULL, count), "RestoreV2/shape_and_slices");
    tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw_status status = names && slices && dtypes ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < count; i++)
        dtypes[i] = saver->variables[i]->resource->dtype;
    tw_attr types = TW_A_TYPES("dtypes", dtypes, count);
    if (status == TW_OK)
        status = call(saver, &tw__op_RestoreV2, "RestoreV2", TW_IN(saver->filename, names, slices), 3, &types, 1, read,
                      (int)count, NULL);
    tw__free(dtypes);
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        tw_variable *variable = saver->variables[i];
        tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
        tw_tensor *value = NULL;
        status = call(saver, &tw__op_Identity, "Identity", &read[i], 1, NULL, 0, &value, 1, NULL);
        if (status == TW_OK)
            status = call(saver, &tw__op_AssignVariableOp, "AssignVariableOp", TW_IN(variable->handle, value), 2, &dtype, 1, NULL,
                          0, &assignments[i]);
        tw_release(value);
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

static tw_status add_nodes(tw_v1_saver *saver, const char *name, const char *filename)
{
    size_t count = (size_t)saver->count;
    char *wanted = tw__format("%s%s", tw__scope(), name && *name ? name : "save");
    saver->scope = wanted ? tw__graph_unique_name(saver->graph, wanted, true) : NULL;
    tw__free(wanted);
    tw_tensor **values = tw__alloc_array(count + 1, sizeof *values), **read = tw__alloc_array(count + 1, sizeof *read);
    tw__node **assignments = tw__alloc_array(count + 1, sizeof *assignments);
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
    tw__free(values);
    tw__free(read);
    tw__free(assignments);
    return status;
}

/* ---- making ---- */

/* `names` are separated by line ends. */
static tw_status take_variables(tw_v1_saver *saver, const char *names, const tw_objects *variables)
{
    int64_t count = variables->count;
    int64_t given = count > 0;
    for (const char *c = names; *c; c++)
        given += *c == '\n';
    if (given != count)
        return tw__fail(TW_INVALID_ARGUMENT, "Saver: %lld names were expected, got %lld", (long long)count, (long long)given);
    saver->names = tw__alloc_array((size_t)count + 1, sizeof *saver->names);
    saver->variables = tw__alloc_array((size_t)count + 1, sizeof *saver->variables);
    if (!saver->names || !saver->variables)
        return TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < count; i++) { /* sorted by name */
        if (!tw__is(variables->items[i], &tw__class_variable))
            return tw__fail(TW_TYPE_ERROR, "Variable to save is not a Variable: item %lld", (long long)i);
        size_t size = strcspn(names, "\n");
        char *copy = tw__strndup(names, size);
        names += size + (names[size] == '\n');
        if (!copy)
            return TW_RESOURCE_EXHAUSTED;
        int64_t at = saver->count++;
        for (; at > 0 && strcmp(saver->names[at - 1], copy) > 0; at--) {
            saver->names[at] = saver->names[at - 1];
            saver->variables[at] = saver->variables[at - 1];
        }
        saver->names[at] = copy;
        saver->variables[at] = tw_retain(variables->items[i]);
    }
    for (int64_t i = 1; i < count; i++) {
        if (strcmp(saver->names[i - 1], saver->names[i]) == 0)
            return tw__fail(TW_VALUE_ERROR, "At least two variables have the same name: %s", saver->names[i]);
    }
    return TW_OK;
}

static tw_status saver_init(void *self, const void *given)
{
    const tw_v1_saver_args *args = given;
    tw_v1_saver *saver = self;
    TW_TRY(take_variables(saver, args->names, &args->variables));
    saver->max_to_keep = args->max_to_keep == TW_NO_INT || args->max_to_keep < 0 ? 0 : args->max_to_keep;
    saver->hours = args->keep_checkpoint_every_n_hours;
    saver->sharded = args->sharded;
    saver->next_time = tw__saving_clock() + saver->hours * 3600;
    tw__graph *graph = saver->count ? saver->variables[0]->graph : NULL;
    for (int64_t i = 0; i < saver->count; i++) {
        if (saver->variables[i]->graph != graph)
            return tw__fail(TW_VALUE_ERROR, "Saver: variables %s and %s are not of one graph", saver->variables[0]->name,
                            saver->variables[i]->name);
    }
    if (!graph)
        return TW_OK;
    saver->graph = tw_retain(graph);
    tw__graph *before = tw__tracing;
    tw__tracing = graph;
    tw_status status = add_nodes(saver, args->name, args->filename);
    tw__tracing = before;
    return status;
}

TW_CLASS(
    v1_saver,
    "compat.v1.train._Saver(names: str, variables: list<variable>, max_to_keep: int = 5, keep_checkpoint_every_n_hours: float = 10000.0, "
    "name: str = None, filename: str = None, sharded: bool = False)",
    .size = sizeof(tw_v1_saver), .init = saver_init, .destroy = saver_destroy, .visit = saver_visit, .clear = saver_clear,
    .drop_config = true, .doc = "Saves variables under names, and restores them.");

/* ---- saving and restoring ---- */

static tw_status check_session(const tw_v1_saver *saver, const tw_session *session)
{
    if (!saver->graph || (session && tw__session_graph(session) == saver->graph))
        return TW_OK;
    return session ? tw__fail(TW_VALUE_ERROR, "Saver: the session is of another graph than the variables")
                   : tw__fail(TW_TYPE_ERROR, "'sess' must be a Session; None");
}

static tw_status save_eagerly(const tw_v1_saver *saver, const char *prefix)
{
    tw__bundle_writer *writer = tw__bundle_create(prefix);
    tw_status status = writer ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < saver->count; i++) {
        tw_tensor *value = tw__resource_read(saver->variables[i]->resource);
        status = value ? tw__bundle_add(writer, saver->names[i], value) : tw__error_status();
        tw_release(value);
    }
    if (status == TW_OK)
        return tw__bundle_finish(writer);
    tw__bundle_abandon(writer);
    return status;
}

TW_METHOD(v1_saver_write, "compat.v1.train._Saver._write(self: v1_saver, session: session = None, prefix: str = None)",
          "Writes the variables to files that begin with the prefix.")
{
    tw_v1_saver *saver = args->self;
    const char *prefix = args->prefix ? args->prefix : "";
    TW_TRY(check_session(saver, args->session));
    if (!saver->graph)
        return save_eagerly(saver, prefix);
    tw_auto tw_tensor *path = tw_tensor_string(prefix, strlen(prefix));
    if (!path)
        return tw__error_status();
    tw_tensors results =
        tw_session_run(args->session, TW_OBJECTS(saver->saved), .feeds = TW_TENSORS(saver->filename), .values = TW_TENSORS(path));
    if (!results.items)
        return tw__error_status();
    tw_tensors_free(&results);
    return TW_OK;
}

static tw_status restore_eagerly(const tw_v1_saver *saver, const char *prefix)
{
    tw__bundle_reader *reader = tw__bundle_open(prefix);
    tw_status status = reader ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < saver->count; i++) {
        tw_tensor *value = tw__bundle_read(reader, saver->names[i]);
        status = value ? tw__resource_assign(saver->variables[i]->resource, value) : tw__error_status();
        tw_release(value);
    }
    tw__bundle_close(reader);
    return status;
}

TW_METHOD(v1_saver_read, "compat.v1.train._Saver._read(self: v1_saver, session: session = None, prefix: str = None)",
          "Gives the variables the values in the files that begin with the prefix.")
{
    tw_v1_saver *saver = args->self;
    const char *prefix = args->prefix ? args->prefix : "";
    TW_TRY(check_session(saver, args->session));
    if (!saver->graph)
        return restore_eagerly(saver, prefix);
    tw_auto tw_tensor *path = tw_tensor_string(prefix, strlen(prefix));
    if (!path)
        return tw__error_status();
    tw_tensors results = tw_session_run(args->session, TW_OBJECTS(saver->restore), .feeds = TW_TENSORS(saver->filename),
                                        .values = TW_TENSORS(path));
    tw_tensors_free(&results);
    return tw_error_code();
}

/* ---- the newest few ---- */

/* As TensorFlow writes it: paths in the state are relative to its directory if that is relative itself, or if it is asked for. */
static tw_status write_state(const tw_v1_saver *saver, const char *directory, const char *path, const char *latest_filename,
                             bool relative)
{
    size_t count = saver->last_count, listed = count;
    char **paths = tw__alloc_array(count + 2, sizeof *paths);
    if (!paths)
        return TW_RESOURCE_EXHAUSTED;
    bool shorten = relative || *directory != '/';
    bool there = count && strcmp(saver->last[count - 1].path, path) == 0;
    listed += !there;
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < listed; i++) {
        const char *whole = i < count ? saver->last[i].path : path;
        paths[i] = shorten ? tw__path_relative(whole, *directory ? directory : ".") : tw__strdup(whole);
        status = paths[i] ? TW_OK : tw__error_status();
    }
    char *file = status == TW_OK ? tw__path_join(directory, latest_filename) : NULL;
    tw__checkpoint_state state = { .model_checkpoint_path = listed ? paths[listed - 1] : NULL,
                                   .all_paths = paths,
                                   .path_count = listed };
    if (status == TW_OK)
        status = file ? tw__checkpoint_state_write(file, &state) : TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < listed; i++)
        tw__free(paths[i]);
    tw__free(paths);
    tw__free(file);
    return status;
}

static tw_status remember(tw_v1_saver *saver, const char *path, double time)
{
    for (size_t i = 0; i < saver->last_count; i++) { /* one that is written again is the newest */
        if (strcmp(saver->last[i].path, path) != 0)
            continue;
        tw__free(saver->last[i].path);
        memmove(saver->last + i, saver->last + i + 1, (--saver->last_count - i) * sizeof *saver->last);
        break;
    }
    TW_TRY(TW_GROW(saver->last, saver->last_capacity, saver->last_count + 1));
    char *copy = tw__strdup(path);
    if (!copy)
        return TW_RESOURCE_EXHAUSTED;
    saver->last[saver->last_count++] = (kept){ copy, time };
    return TW_OK;
}

static tw_status remove_files(const char *path, const char *meta_suffix)
{
    TW_TRY(tw__remove_checkpoint(path));
    char *meta = tw__format("%s.%s", path, meta_suffix);
    tw_status status = meta ? tw__file_remove(meta) : TW_RESOURCE_EXHAUSTED;
    tw__free(meta);
    return status;
}

TW_METHOD(v1_saver_record,
          "compat.v1.train._Saver._record(self: v1_saver, path: str, latest_filename: str = checkpoint, relative: bool = False, "
          "meta_graph_suffix: str = meta)",
          "A checkpoint was written: the state file names it, and the oldest is removed if there are too many.")
{
    tw_v1_saver *saver = args->self;
    kept oldest = { NULL, 0 };
    if (saver->max_to_keep) {
        TW_TRY(remember(saver, args->path, tw__saving_clock()));
        if ((int64_t)saver->last_count > saver->max_to_keep) {
            oldest = saver->last[0];
            memmove(saver->last, saver->last + 1, --saver->last_count * sizeof *saver->last);
        }
    }
    char *directory = tw__path_directory(args->path);
    tw_status status =
        directory ? write_state(saver, directory, args->path, args->latest_filename, args->relative) : TW_RESOURCE_EXHAUSTED;
    tw__free(directory);
    if (status == TW_OK && oldest.path) {
        if (oldest.time > saver->next_time)
            saver->next_time += saver->hours * 3600;
        else
            status = remove_files(oldest.path, args->meta_graph_suffix);
    }
    tw__free(oldest.path);
    return status;
}

TW_PROPERTY(v1_saver_last_checkpoints, "compat.v1.train._Saver.last_checkpoints(self: v1_saver) -> value",
            "The prefixes of the checkpoints that are kept, oldest first.")
{
    const tw_v1_saver *saver = args->self;
    tw_value *items = tw__alloc_array(saver->last_count + 1, sizeof *items);
    if (!items)
        return (tw_value){ 0 };
    for (size_t i = 0; i < saver->last_count; i++)
        items[i] = tw__value_str(saver->last[i].path);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)saver->last_count } };
}

TW_METHOD(v1_saver_forget, "compat.v1.train._Saver._forget(self: v1_saver)", "No checkpoint is remembered any more.")
{
    forget_last(args->self);
    return TW_OK;
}

TW_METHOD(v1_saver_remember, "compat.v1.train._Saver._remember(self: v1_saver, path: str, time: float)",
          "A checkpoint that was written before is one of those that are kept.")
{
    return remember(args->self, args->path, args->time);
}

TW_PROPERTY(v1_saver_scope, "compat.v1.train._Saver._scope(self: v1_saver) -> str",
            "The name of its nodes' scope; None outside of graphs.")
{
    return args->self->scope ? tw__strdup(args->self->scope) : NULL;
}

TW_API(v1_checkpoint_exists, "compat.v1.train.checkpoint_exists(checkpoint_prefix: str) -> bool",
       "Whether there are files with that prefix.")
{
    char *index = tw__format("%s.index", args->checkpoint_prefix);
    struct stat status;
    bool exists = index && (tw__path_exists(index) || (stat(args->checkpoint_prefix, &status) == 0 && S_ISREG(status.st_mode)));
    tw__free(index);
    return exists;
}

TW_API(
    v1_remove_checkpoint,
    "compat.v1.train.remove_checkpoint(checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = meta)",
    "Removes the files of a checkpoint.")
{
    return remove_files(args->checkpoint_prefix, args->meta_graph_suffix);
}

TW_API(
    v1_checkpoint_state, "compat.v1.train._checkpoint_state(checkpoint_dir: str, latest_filename: str = None) -> value",
    "What a directory's state file says: the newest, all, their times, and the last preserved time; None if there is no state.")
{
    tw__checkpoint_state state;
    bool found;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (tw__load_checkpoint_state(args->checkpoint_dir, args->latest_filename, &state, &found) != TW_OK || !found)
        return none;
    tw_value *parts = tw__alloc_array(4, sizeof *parts);
    tw_value *paths = tw__alloc_array(state.path_count + 1, sizeof *paths),
             *times = tw__alloc_array(state.timestamp_count + 1, sizeof *times);
    tw_value result = none;
    if (parts && paths && times) {
        for (size_t i = 0; i < state.path_count; i++)
            paths[i] = tw__value_str(state.all_paths[i]);
        for (size_t i = 0; i < state.timestamp_count; i++)
            times[i] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = state.all_timestamps[i] };
        parts[0] = tw__value_str(state.model_checkpoint_path);
        parts[1] = (tw_value){ .kind = TW_VALUE_LIST, .list = { paths, (int64_t)state.path_count } };
        parts[2] = (tw_value){ .kind = TW_VALUE_LIST, .list = { times, (int64_t)state.timestamp_count } };
        if (state.has_last_preserved)
            parts[3] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = state.last_preserved_timestamp };
        result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { parts, 4 } };
    } else {
        tw__free(parts);
        tw__free(paths);
        tw__free(times);
    }
    tw__checkpoint_state_free(&state);
    return result;
}
