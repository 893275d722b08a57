/* Datasets in files: Dataset.save writes one, Dataset.load reads it, in TensorFlow's own form.
 *
 *     PATH/snapshot.metadata a SnapshotMetadataRecord
 *     PATH/RUN/00000000.shard/00000000.snapshot records, perhaps compressed: a TensorProto per component of each element
 *     PATH/RUN/dataset_spec.pb the structure of the elements, which is read if it is there
 *     PATH/dataset_spec.pb the same where TensorFlow looks for it
 *
 * The metadata come last: before that the old dataset is whole. While a run is written a temporary `.RUN.thalweg-…` says that its
 * writer lives.
 *
 * A function of an element chooses its shard; loading gives a function the dataset of the shards' datasets. */
#include "data/source/saved.h"
#include "rows.h"

void tw__saved_destroy(void *self)
{
    tw__saved_dataset *dataset = self;
    tw__free(dataset->path);
    tw_release(dataset->spec);
    tw__data_function_end(&dataset->f);
}

void tw__saved_remove_run(const char *path, const char *name)
{
    char *run = *name && !name[strspn(name, "0123456789")] ? tw__path_join(path, name) : NULL;
    tw__saved_error kept = tw__error_take();
    if (run && tw__path_exists(run) && tw_gfile_rmtree(run) != TW_OK)
        tw_clear_error(); /* the next save may */
    tw__error_restore(kept);
    tw__free(run);
}

void tw__saved_run_name(const tw__saved_cursor *c, char name[24])
{
    snprintf(name, 24, "%llu", (unsigned long long)c->run);
}

void tw__saved_stop(tw__cursor *cursor)
{
    tw__saved_cursor *c = (tw__saved_cursor *)cursor;
    if (c->alive) {
        char name[24];
        tw__saved_run_name(c, name);
        tw__saved_remove_run(((const tw__saved_dataset *)cursor->dataset)->path, name);
        tw__file_abandon(c->alive);
    }
    for (size_t i = 0; i < c->count; i++)
        tw__record_abandon(c->open[i].writer);
    tw__free(c->open);
    tw__cursor_free(c->inner);
    if (c->reading)
        tw__record_close(&c->records);
}

/* ---- the metadata ---- */

static tw_status damaged(const char *path)
{
    return tw__fail(TW_DATA_LOSS, "%s is no metadata of a saved dataset", path);
}

/* The metadata's run, for tw__free. */
tw_status tw__saved_read_metadata(tw__saved_dataset *self, char **run)
{
    tw__owned char *path = tw__path_join(self->path, "snapshot.metadata");
    size_t size = 0;
    tw__owned char *bytes = path ? tw__file_read_all(path, 1 << 20, &size) : NULL;
    TW_NEED(bytes);
    tw__SnapshotMetadataRecord record;
    if (!tw__read_SnapshotMetadataRecord((tw_string){ bytes, size }, &record) || !tw__has(record.run_id) ||
        memchr(record.run_id.data, '/', record.run_id.size))
        TW_TRY(damaged(path));
    tw__free(*run);
    *run = tw__strndup(record.run_id.data, record.run_id.size);
    self->count = record.num_elements ? record.num_elements : self->count;
    TW_NEED(*run);
    return !record.finalized ? tw__fail(TW_FAILED_PRECONDITION, "%s: the dataset was not saved to its end", self->path) : TW_OK;
}

tw_status tw__saved_read_settings(tw__kernel *kernel, tw__saved_dataset *self, int path, const char *function, const char *types)
{
    tw_string name = tw_tensor_string_at(kernel->inputs[path], 0), compression = TW_ATTR(kernel, "compression")->s;
    tw_auto tw_tensor *text = tw_tensor_string(compression.data ? compression.data : "", compression.size);
    self->path = tw__strndup(name.data ? name.data : "", name.size);
    if (!self->path || !text)
        return tw__error_status();
    TW_TRY(tw__compression_of(text, &self->compression));
    return tw__data_function_read(&self->f, kernel, function, path + 1, tw__data_list_count(kernel, types));
}
