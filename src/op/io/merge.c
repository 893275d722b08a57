/* MergeV2Checkpoints: the parts that a sharded Saver wrote become one checkpoint.
 *
 * The tensors of all parts are written into one new data file, so that the whole comes into place in one step (bundle_commit.c);
 * the parts are removed behind that. TensorFlow renames the parts' data files instead: readers see no difference. */
#include <unistd.h>

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
    tw_status status = index ? tw__file_remove(index) : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < shards; i++) {
        char *path = tw__bundle_shard_path(prefix, i, shards);
        status = path ? tw__file_remove(path) : TW_RESOURCE_EXHAUSTED;
        tw__free(path);
    }
    tw__owned char *folder = status == TW_OK && directory ? tw__path_directory(prefix) : NULL;
    if (folder && *folder)
        (void)rmdir(folder); /* other parts may be in it still */
    return status;
}

static tw_status merge(tw__kernel *kernel, char *const *parts, int64_t count, const char *target)
{
    bool missing_allowed = TW_ATTR(kernel, "allow_missing_files")->b;
    int64_t found = 0;
    tw__bundle_writer *writer = tw__bundle_create(target);
    tw_status status = writer ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (missing_allowed && !has_index(parts[i]))
            continue;
        found++;
        status = add_part(writer, parts[i]);
    }
    if (status == TW_OK && !found)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "none of the %lld parts of %s is there", (long long)count, target);
    if (status != TW_OK) {
        tw__bundle_abandon(writer);
        return status;
    }
    TW_TRY(tw__bundle_finish(writer));
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (strcmp(parts[i], target) != 0 && has_index(parts[i]))
            status = remove_part(parts[i], TW_ATTR(kernel, "delete_old_dirs")->b);
    }
    return status;
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
    char *path = prefix_at(kernel, target, 0), **parts = tw__alloc_array((size_t)prefixes->count + 1, sizeof *parts);
    tw_status status = path && parts ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < prefixes->count; i++)
        status = (parts[i] = prefix_at(kernel, prefixes, i)) ? TW_OK : tw__error_status();
    if (status == TW_OK)
        status = merge(kernel, parts, prefixes->count, path);
    for (int64_t i = 0; parts && i < prefixes->count; i++)
        tw__free(parts[i]);
    tw__free(parts);
    tw__free(path);
    return status;
}

TW_OP(MergeV2Checkpoints, .inputs = "checkpoint_prefixes: string, destination_prefix: string",
      .attrs = "delete_old_dirs: bool = true, allow_missing_files: bool = false", .shape = tw_shape_none,
      .compute = merge_compute, .stateful = true, .touches = TW_WRITES_FILES, .paths = "destination_prefix",
      .doc = "Makes one checkpoint of the parts that were written under several prefixes.");
