/* MergeV2Checkpoints: the parts that a sharded Saver wrote become one checkpoint.
 *
 * The tensors of all parts are written into one new data file, so that the whole comes into place in one step (bundle_commit.c);
 * the parts are removed behind that. TensorFlow renames the parts' data files instead: readers see no difference. */
#include <unistd.h>

#include "base/temps.h"
#include "format/format.h"
#include "op/guard.h"
#include "op/op.h"
#include "rows.h"

/* The prefix at `index`, which must be a text without zero bytes. */
static char *prefix_at(tw__kernel *kernel, const tw_tensor *tensor, int64_t index)
{
    tw_string s = tw_tensor_string_at(tensor, index);
    if (s.size && memchr(s.data, 0, s.size)) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a prefix has a zero byte in it");
        return NULL;
    }
    return tw__strndup(s.data ? s.data : "", s.size);
}

static tw_status add_part(tw__bundle_writer *writer, const char *prefix)
{
    tw__bundle_reader *reader = tw__bundle_open(prefix);
    if (!reader)
        return tw__error_status();
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < tw__bundle_count(reader); i++) {
        const tw__bundle_entry *entry = tw__bundle_entry_at(reader, i);
        tw_tensor *value = tw__bundle_read(reader, entry->key);
        status = value ? tw__bundle_add(writer, entry->key, value) : tw__error_status();
        tw_release(value);
    }
    tw__bundle_close(reader);
    return status;
}

static bool has_index(const char *prefix)
{
    tw__owned char *path = tw__format("%s.index", prefix);
    bool there = path && tw__path_exists(path);
    return there;
}

/* The part's files. Its directory goes, too, if nothing else is in it. */
static tw_status remove_part(const char *prefix, bool directory)
{
    int shards = tw__bundle_shards(prefix);
    tw__owned char *index = tw__format("%s.index", prefix);
    TW_NEED(index);
    TW_TRY(tw__file_remove(index));
    for (int i = 0; i < shards; i++) {
        tw__owned char *path = tw__bundle_shard_path(prefix, i, shards);
        TW_NEED(path);
        TW_TRY(tw__file_remove(path));
    }
    tw__owned char *folder = directory ? tw__path_directory(prefix) : NULL;
    if (folder && *folder)
        (void)rmdir(folder); /* other parts may be in it still */
    return TW_OK;
}

static tw_status merge(tw__kernel *kernel, char *const *parts, int64_t count, const char *target)
{
    bool missing_allowed = TW_ATTR(kernel, "allow_missing_files")->b;
    int64_t found = 0;
    tw__auto(tw__bundle_writer_end) tw__bundle_writer *writer = tw__bundle_create(target);
    TW_NEED(writer);
    for (int64_t i = 0; i < count; i++) {
        if (missing_allowed && !has_index(parts[i]))
            continue;
        found++;
        TW_TRY(add_part(writer, parts[i]));
    }
    if (!found)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "none of the %lld parts of %s is there", (long long)count, target);
    TW_TRY(tw__bundle_finish(TW_TAKE(writer)));
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(parts[i], target) != 0 && has_index(parts[i]))
            TW_TRY(remove_part(parts[i], TW_ATTR(kernel, "delete_old_dirs")->b));
    }
    return TW_OK;
}

static tw_status merge_compute(tw__kernel *kernel)
{
    const tw_tensor *prefixes = kernel->inputs[0], *target = kernel->inputs[1];
    if (prefixes->shape.rank != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input checkpoint_prefixes should be an 1-D tensor, got %s",
                          tw__shape_text(&prefixes->shape));
    if (target->shape.rank != 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input destination_prefix should be a scalar tensor, got %s",
                          tw__shape_text(&target->shape));
    TW_TEMPS(t);
    char *path = tw__temp_memory(t, prefix_at(kernel, target, 0)),
         **parts = tw__temp_memory(t, tw__alloc_array((size_t)prefixes->count + 1, sizeof *parts));
    TW_NEED(path && parts);
    for (int64_t i = 0; i < prefixes->count; i++)
        TW_NEED(parts[i] = tw__temp_memory(t, prefix_at(kernel, prefixes, i)));
    return merge(kernel, parts, prefixes->count, path);
}

TW_OP(MergeV2Checkpoints, .inputs = "checkpoint_prefixes: string, destination_prefix: string",
      .attrs = "delete_old_dirs: bool = true, allow_missing_files: bool = false", .shape = tw_shape_none,
      .compute = merge_compute, .stateful = true, .touches = TW_WRITES_FILES, .paths = "destination_prefix",
      .doc = "Makes one checkpoint of the parts that were written under several prefixes.");
