/* Dataset.save: a dataset into files; see saved.c for their layout. A function of an element chooses its shard. */
#include <glob.h>
#include <time.h>

#include "data/source/saved.h"
#include "graph/graphdef.h"
#include "kernel/random/random.h"
#include "op/guard.h"
#include "rows.h"

enum { VERSION = 2, SHARDS_LIMIT = 100000 };

static tw_status write_whole(const char *folder, const char *name, const void *data, size_t size)
{
    tw__owned char *path = tw__path_join(folder, name);
    tw__file_writer *file = path ? tw__file_create(path) : NULL;
    tw_status status = file ? tw__file_write(file, data, size) : tw__error_status();
    if (status == TW_OK)
        status = tw__file_commit(file);
    else
        tw__file_abandon(file);
    return status;
}

static tw_status write_spec(const tw__saved_dataset *self, const tw__saved_cursor *c)
{
    if (!self->spec)
        return TW_OK;
    tw_string text = tw_tensor_string_at(self->spec, 0);
    char name[24];
    tw__saved_run_name(c, name);
    tw__owned char *folder = tw__path_join(self->path, name);
    TW_TRY(folder ? tw__make_directories(folder) : tw__error_status());
    TW_TRY(write_whole(folder, TW_SAVED_SPEC, text.data, text.size));
    return write_whole(self->path, TW_SAVED_SPEC, text.data, text.size);
}

static tw_status write_metadata(const tw__saved_dataset *self, const tw__saved_cursor *c)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    char run[24];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    tw__saved_run_name(c, run);
    tw__put_SnapshotMetadataRecord_run_id(&text, run, strlen(run));
    tw__put_SnapshotMetadataRecord_creation_timestamp(&text, (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    tw__put_SnapshotMetadataRecord_version(&text, VERSION);
    size_t types = tw__open_SnapshotMetadataRecord_dtype(&text);
    for (int i = 0; i < self->base.count; i++)
        tw__varint_add(&text, (uint64_t)self->base.dtypes[i]);
    tw__close(&text, types);
    if (c->elements)
        tw__put_SnapshotMetadataRecord_num_elements(&text, c->elements);
    tw__put_SnapshotMetadataRecord_finalized(&text, true);
    tw_status status = !text.failed ? write_whole(self->path, "snapshot.metadata", text.data, text.size) : tw__error_status();
    return status;
}

static tw__record_writer *writer_of(tw__saved_cursor *c, const tw__saved_dataset *self, int64_t number)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->open[i].number == number)
            return c->open[i].writer;
    }
    if (number < 0 || c->count >= SHARDS_LIMIT || TW_GROW(c->open, c->capacity, c->count + 1) != TW_OK) {
        tw__fail(TW_INVALID_ARGUMENT, "Dataset.save: the shard %lld of an element", (long long)number);
        return NULL;
    }
    tw__deflate_options options = tw__deflate_options_default(self->compression);
    tw__owned char *folder = tw__format("%s/%llu/%08lld.shard", self->path, (unsigned long long)c->run, (long long)number);
    tw__owned char *path = folder && tw__make_directories(folder) == TW_OK ? tw__path_join(folder, "00000000.snapshot") : NULL;
    tw__record_writer *writer = path ? tw__record_create_packed(path, &options) : NULL;
    if (writer)
        c->open[c->count++] = (tw__saved_shard){ number, writer };
    return writer;
}

static tw_status save_element(tw__saved_cursor *c, const tw__saved_dataset *self, tw_tensor **element)
{
    int64_t number = 0;
    if (self->shards)
        TW_TRY(tw__data_number_of(&self->f, element, self->base.count, "Dataset.save: shard_func", &number));
    tw__record_writer *writer = writer_of(c, self, number);
    tw_status status = writer ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < self->base.count; i++) {
        tw__text text = { 0 };
        status = tw__tensor_message_body(&text, element[i]);
        if (status == TW_OK)
            status = text.failed ? TW_RESOURCE_EXHAUSTED : tw__record_add(writer, text.data, text.size);
        tw__text_free(&text);
    }
    c->elements++;
    return status == TW_OK ? tw__record_relieve(writer) : status;
}

typedef struct dead_runs {
    const char *path, *current; /* the run that the metadata tell; or NULL */
} dead_runs;

static void clean_after_dead(void *context, const char *name)
{
    const dead_runs *runs = context;
    if (!runs->current || strcmp(name, runs->current) != 0) /* else it died when all was done */
        tw__saved_remove_run(runs->path, name);
}

static tw_status begin_run(tw__saved_cursor *c, const tw__saved_dataset *self)
{
    char name[24], *current = NULL;
    c->run = tw__random_entropy() | 1;
    TW_TRY(tw__make_directories(self->path));
    tw__saved_dataset old = { .path = self->path };
    if (tw__saved_read_metadata(&old, &current) != TW_OK)
        tw_clear_error(); /* there is none */
    tw__file_sweep(self->path, clean_after_dead, &(dead_runs){ self->path, current });
    tw__free(current);
    tw__saved_run_name(c, name);
    tw__owned char *path = tw__path_join(self->path, name);
    c->alive = path ? tw__file_create(path) : NULL;
    return c->alive ? TW_OK : tw__error_status();
}

static tw_status save_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    tw__saved_cursor *c = (tw__saved_cursor *)cursor;
    const tw__saved_dataset *self = (const tw__saved_dataset *)cursor->dataset;
    if (!c->run)
        TW_TRY(begin_run(c, self));
    TW_TRY(tw__cursor_next(cursor->input, element, end));
    if (!*end) {
        tw_status status = save_element(c, self, element);
        if (status != TW_OK)
            tw__element_end(element, self->base.count);
        return status;
    }
    while (c->count)
        TW_TRY(tw__record_finish(c->open[--c->count].writer));
    if (!c->alive) /* it was asked again */
        return TW_OK;
    TW_TRY(write_spec(self, c));
    TW_TRY(write_metadata(self, c));
    tw__file_abandon(c->alive);
    c->alive = NULL;
    return TW_OK;
}

static const tw__dataset_kind save_kind = {
    .class = TW_DATASET_CLASS("SaveDataset", tw__saved_dataset, tw__saved_destroy),
    .cursor_size = sizeof(tw__saved_cursor),
    .next = save_next,
    .stop = tw__saved_stop,
    .cardinality = tw__cardinality_same,
};

static tw_status save_compute(tw__kernel *kernel)
{
    tw__saved_dataset *self = tw__dataset_make(kernel, &save_kind, true);
    if (self && tw__saved_read_settings(kernel, self, 1, "shard_func", "Tshard_func_args") != TW_OK) {
        tw_release(self);
        return tw__error_status();
    }
    if (self)
        self->shards = TW_ATTR(kernel, "use_shard_func")->b;
    return tw__dataset_give(kernel, self);
}

TW_OP(
    SaveDatasetV2, .inputs = "input_dataset: variant, path: string, shard_func_other_args: Tshard_func_args",
    .attrs =
        "compression: string = '', shard_func: func, use_shard_func: bool = true, Tshard_func_args: list(type) >= 0, " TW_ELEMENTS,
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = save_compute, .stateful = true, .touches = TW_WRITES_FILES,
    .paths = "path", .doc = "The elements, which are written into files while they are asked for.");

static tw_status save_init(void *self, const void *arguments)
{
    const tw_dataset_save_args *args = arguments;
    const struct tw_dataset *input = args->self;
    tw_auto tw__function *f = tw__data_function_for(args->shard_func, input->specs, input->count, "Dataset.save");
    int count = 0;
    tw_tensor **inputs =
        f ? tw__data_inputs(TW_IN(input->variant, args->path), 2, (const tw__function *const *)&f, 1, NULL, 0, &count) : NULL;
    const tw_attr attrs[] = { TW_A_STRING("compression", args->compression ? args->compression : ""), TW_A_FUNC("shard_func", f),
                              TW_A_BOOL("use_shard_func", args->use_shard_func) };
    tw_status status = inputs
                           ? tw__dataset_apply(self, &tw__op_SaveDatasetV2, inputs, count, attrs, 3, input->specs, input->count)
                           : tw__error_status();
    tw__free(inputs);
    status = tw__dataset_settle(self, status, tw__value_copy(&input->structure), true);
    tw__saved_dataset *made = status == TW_OK && args->spec
                                  ? (tw__saved_dataset *)tw__dataset_of("Dataset.save", ((struct tw_dataset *)self)->variant)
                                  : NULL;
    if (made)
        made->spec = tw_retain(args->spec);
    return status;
}

TW_CLASS(dataset_save,
         "data._SaveDataset(self: dataset, path: tensor<string>, shard_func: function, use_shard_func: bool = False, "
         "compression: str = None, spec: tensor<string> = None) -> dataset",
         TW_STEP(save_init),
         .doc = "The elements, which are written into files while they are asked for, into the shards that a function tells.");
