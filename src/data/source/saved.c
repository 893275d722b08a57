/* Datasets in files: Dataset.save writes one, Dataset.load reads it, in TensorFlow's own form.
 *
 *     PATH/snapshot.metadata                     {2 run, 3 time in microseconds, 4 version, 5 dtypes, 6 number of elements, 1000
 * finalized} PATH/RUN/00000000.shard/00000000.snapshot  records (perhaps compressed): a TensorProto for each component of each
 * element PATH/RUN/dataset_spec.pb                   the structure of the elements, which is read if it is there, and
 *     PATH/dataset_spec.pb                       the same where TensorFlow looks for it
 *
 * The metadata come last: before that the old dataset is whole. While a run is written a temporary `.RUN.thalweg-…` says that its
 * writer lives.
 *
 * A function of an element chooses its shard; loading gives a function the dataset of the shards' datasets. */
#include <glob.h>
#include <time.h>

#include "api/composite.h"
#include "codec/codec.h"
#include "data/source/stream.h"
#include "data/state.h"
#include "graph/graphdef.h"
#include "kernel/random.h"
#include "op/guard.h"
#include "rows.h"

enum { VERSION = 2, SHARDS_LIMIT = 100000 };
static const char SPEC[] = "dataset_spec.pb";

typedef struct saved_dataset {
    tw__dataset base;
    char *path; /* of one shard: its directory */
    tw__compression compression;
    tw__data_function f;
    bool shards;     /* f tells the shard of an element */
    tw_tensor *spec; /* while saving: the structure's bytes; or NULL */
    int64_t count;   /* of elements, as the metadata say */
} saved_dataset;

typedef struct shard {
    int64_t number;
    tw__record_writer *writer;
} shard;

typedef struct saved_cursor {
    tw__cursor base;
    uint64_t run;
    tw__file_writer *alive; /* while a run is not whole */
    shard *open;
    size_t count, capacity;
    int64_t elements;
    tw__cursor *inner;         /* while loading: over what the function made */
    tw__record_reader records; /* of a shard */
    int64_t file;
    bool reading;
} saved_cursor;

static void saved_destroy(void *self)
{
    saved_dataset *dataset = self;
    tw__free(dataset->path);
    tw_release(dataset->spec);
    tw__data_function_end(&dataset->f);
}

static void remove_run(const char *path, const char *name)
{
    char *run = *name && !name[strspn(name, "0123456789")] ? tw__path_join(path, name) : NULL;
    tw__saved_error kept = tw__error_take();
    if (run && tw__path_exists(run) && tw_gfile_rmtree(run) != TW_OK)
        tw_clear_error(); /* the next save may */
    tw__error_restore(kept);
    tw__free(run);
}

static void run_name(const saved_cursor *c, char name[24])
{
    snprintf(name, 24, "%llu", (unsigned long long)c->run);
}

static void saved_stop(tw__cursor *cursor)
{
    saved_cursor *c = (saved_cursor *)cursor;
    if (c->alive) {
        char name[24];
        run_name(c, name);
        remove_run(((const saved_dataset *)cursor->dataset)->path, name);
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
static tw_status read_metadata(saved_dataset *self, char **run)
{
    char *path = tw__path_join(self->path, "snapshot.metadata");
    size_t size = 0;
    char *bytes = path ? tw__file_read_all(path, 1 << 20, &size) : NULL;
    tw_status status = bytes ? TW_OK : tw__error_status();
    bool finalized = false;
    tw__proto proto = tw__proto_read(bytes, size);
    tw__proto_field field;
    while (status == TW_OK && tw__proto_next(&proto, &field)) {
        if (field.number == 2 && field.wire == TW_WIRE_BYTES) {
            tw__free(*run);
            *run = tw__strndup((const char *)field.data, field.size);
        } else if (field.number == 6 && field.wire == TW_WIRE_VARINT) {
            self->count = (int64_t)field.value;
        } else if (field.number == 1000) {
            finalized = field.value != 0;
        }
    }
    if (status == TW_OK && (proto.failed || !*run || strchr(*run, '/')))
        status = damaged(path);
    if (status == TW_OK && !finalized)
        status = tw__fail(TW_FAILED_PRECONDITION, "%s: the dataset was not saved to its end", self->path);
    tw__free(path);
    tw__free(bytes);
    return status;
}

/* ---- saving ---- */

static tw_status write_whole(const char *folder, const char *name, const void *data, size_t size)
{
    char *path = tw__path_join(folder, name);
    tw__file_writer *file = path ? tw__file_create(path) : NULL;
    tw_status status = file ? tw__file_write(file, data, size) : tw__error_status();
    if (status == TW_OK)
        status = tw__file_commit(file);
    else
        tw__file_abandon(file);
    tw__free(path);
    return status;
}

static tw_status write_spec(const saved_dataset *self, const saved_cursor *c)
{
    if (!self->spec)
        return TW_OK;
    tw_string text = tw_tensor_string_at(self->spec, 0);
    char name[24];
    run_name(c, name);
    char *folder = tw__path_join(self->path, name);
    tw_status status = folder ? tw__make_directories(folder) : tw__error_status();
    if (status == TW_OK)
        status = write_whole(folder, SPEC, text.data, text.size);
    if (status == TW_OK)
        status = write_whole(self->path, SPEC, text.data, text.size);
    tw__free(folder);
    return status;
}

static tw_status write_metadata(const saved_dataset *self, const saved_cursor *c)
{
    tw__text text = { 0 }, types = { 0 };
    char run[24];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    run_name(c, run);
    tw__proto_add_bytes(&text, 2, run, strlen(run));
    tw__proto_add_varint(&text, 3, (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
    tw__proto_add_varint(&text, 4, VERSION);
    for (int i = 0; i < self->base.count; i++)
        tw__varint_add(&types, (uint64_t)self->base.dtypes[i]);
    tw__proto_add_bytes(&text, 5, types.data, types.size);
    if (c->elements)
        tw__proto_add_varint(&text, 6, (uint64_t)c->elements);
    tw__proto_add_varint(&text, 1000, 1);
    tw_status status =
        !text.failed && !types.failed ? write_whole(self->path, "snapshot.metadata", text.data, text.size) : tw__error_status();
    tw__text_free(&text);
    tw__text_free(&types);
    return status;
}

static tw__record_writer *writer_of(saved_cursor *c, const saved_dataset *self, int64_t number)
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
    char *folder = tw__format("%s/%llu/%08lld.shard", self->path, (unsigned long long)c->run, (long long)number);
    char *path = folder && tw__make_directories(folder) == TW_OK ? tw__path_join(folder, "00000000.snapshot") : NULL;
    tw__record_writer *writer = path ? tw__record_create_packed(path, &options) : NULL;
    if (writer)
        c->open[c->count++] = (shard){ number, writer };
    tw__free(folder);
    tw__free(path);
    return writer;
}

static tw_status save_element(saved_cursor *c, const saved_dataset *self, tw_tensor **element)
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
        remove_run(runs->path, name);
}

static tw_status begin_run(saved_cursor *c, const saved_dataset *self)
{
    char name[24], *current = NULL;
    c->run = tw__random_entropy() | 1;
    TW_TRY(tw__make_directories(self->path));
    saved_dataset old = { .path = self->path };
    if (read_metadata(&old, &current) != TW_OK)
        tw_clear_error(); /* there is none */
    tw__file_sweep(self->path, clean_after_dead, &(dead_runs){ self->path, current });
    tw__free(current);
    run_name(c, name);
    char *path = tw__path_join(self->path, name);
    c->alive = path ? tw__file_create(path) : NULL;
    tw__free(path);
    return c->alive ? TW_OK : tw__error_status();
}

static tw_status save_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    saved_cursor *c = (saved_cursor *)cursor;
    const saved_dataset *self = (const saved_dataset *)cursor->dataset;
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
    .class = TW_DATASET_CLASS("SaveDataset", saved_dataset, saved_destroy),
    .cursor_size = sizeof(saved_cursor),
    .next = save_next,
    .stop = saved_stop,
    .cardinality = tw__cardinality_same,
};

static tw_status read_settings(tw__kernel *kernel, saved_dataset *self, int path, const char *function, const char *types)
{
    tw_string name = tw_tensor_string_at(kernel->inputs[path], 0), compression = TW_ATTR(kernel, "compression")->s;
    tw_auto tw_tensor *text = tw_tensor_string(compression.data ? compression.data : "", compression.size);
    self->path = tw__strndup(name.data ? name.data : "", name.size);
    if (!self->path || !text)
        return tw__error_status();
    TW_TRY(tw__compression_of(kernel->op->name, text, &self->compression));
    return tw__data_function_read(&self->f, kernel, function, path + 1, tw__data_list_count(kernel, types));
}

static tw_status save_compute(tw__kernel *kernel)
{
    saved_dataset *self = tw__dataset_make(kernel, &save_kind, true);
    if (self && read_settings(kernel, self, 1, "shard_func", "Tshard_func_args") != TW_OK) {
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
    const struct tw_dataset *input = args->input_dataset;
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
    saved_dataset *made = status == TW_OK && args->spec
                              ? (saved_dataset *)tw__dataset_of("Dataset.save", ((struct tw_dataset *)self)->variant)
                              : NULL;
    if (made)
        made->spec = tw_retain(args->spec);
    return status;
}

TW_CLASS(dataset_save,
         "data._SaveDataset(input_dataset: dataset, path: tensor<string>, shard_func: function, use_shard_func: bool = False, "
         "compression: str = None, spec: tensor<string> = None) -> dataset",
         TW_STEP(save_init),
         .doc = "The elements, which are written into files while they are asked for, into the shards that a function tells.");

/* ---- loading ---- */

TW_API(dataset_saved_spec, "data._saved_spec(path: str) -> tensor",
       "The bytes that tell the structure of a saved dataset's elements.")
{
    saved_dataset self = { .path = (char *)(uintptr_t)args->path };
    char *run = NULL;
    bool whole = read_metadata(&self, &run) == TW_OK;
    if (!whole)
        tw_clear_error(); /* loading tells */
    char *folder = whole ? tw__path_join(args->path, run) : NULL, *path = folder ? tw__path_join(folder, SPEC) : NULL;
    if (!path || !tw__path_exists(path)) {
        tw__free(path);
        path = tw__path_join(args->path, SPEC);
    }
    bool found = path && tw__path_exists(path);
    if (path && !found)
        tw__fail(TW_NOT_FOUND, "%s; No such file or directory", path);
    size_t size = 0;
    char *bytes = found ? tw__file_read_all(path, 1 << 20, &size) : NULL;
    tw_tensor *result = bytes ? tw_tensor_string(bytes, size) : NULL;
    tw__free(bytes);
    tw__free(path);
    tw__free(folder);
    tw__free(run);
    return result;
}

/* The next file of the shard; *end: there is none. */
static tw_status open_next(saved_cursor *c, const saved_dataset *self, bool *end)
{
    char *path = tw__format("%s/%08lld.snapshot", self->path, (long long)c->file++);
    if (!path)
        return tw__error_status();
    glob_t found;
    *end = glob(path, 0, NULL, &found) != 0;
    if (!*end)
        globfree(&found);
    tw_status status = *end ? TW_OK : tw__record_open_packed(&c->records, path, self->compression);
    c->reading = !*end && status == TW_OK;
    tw__free(path);
    return status;
}

static tw_status read_component(saved_cursor *c, const saved_dataset *self, int i, tw_tensor **out)
{
    tw__tensor_message message;
    size_t budget = c->records.size + 64;
    TW_TRY(tw__tensor_message_open((tw_string){ (const char *)c->records.data, c->records.size }, &message));
    if (message.dtype != self->base.dtypes[i] || !tw__shape_covers(&self->base.shapes[i], &message.shape))
        return tw__fail(TW_INVALID_ARGUMENT, "%s: component %d is %s %s, expected %s %s", self->path, i,
                        tw_dtype_name(message.dtype), tw__shape_text(&message.shape), tw_dtype_name(self->base.dtypes[i]),
                        tw__shape_text(&self->base.shapes[i]));
    *out = tw__tensor_message_read(&message, -1, &budget);
    return *out ? TW_OK : tw__error_status();
}

static tw_status shard_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    saved_cursor *c = (saved_cursor *)cursor;
    const saved_dataset *self = (const saved_dataset *)cursor->dataset;
    tw_status status = TW_OK;
    for (int i = 0; i < self->base.count;) {
        if (!c->reading) {
            status = open_next(c, self, end);
            if (status == TW_OK && *end && i == 0)
                return TW_OK;
            if (status == TW_OK && *end)
                status = tw__fail(TW_DATA_LOSS, "%s: the last element is cut off", self->path);
        } else if (tw__record_next(&c->records)) {
            status = read_component(c, self, i, &element[i]);
            i += status == TW_OK;
        } else {
            status = c->records.status;
            if (status == TW_OK)
                status = tw__record_check_end(&c->records);
            tw__record_close(&c->records);
            c->reading = false;
        }
        if (status != TW_OK) {
            tw__element_end(element, i);
            return status;
        }
    }
    return TW_OK;
}

static void shard_state(tw__cursor *cursor, tw__state *state)
{
    saved_cursor *c = (saved_cursor *)cursor;
    bool reading = c->reading, end = false;
    int64_t at = reading ? c->records.offset : 0;
    tw__state_int(state, "file", &c->file);
    tw__state_bool(state, "reading", &reading);
    tw__state_int(state, "at", &at);
    if (state->saving || !tw__state_good(state) || !reading)
        return;
    c->file--; /* that of the next file */
    state->status = open_next(c, (const saved_dataset *)cursor->dataset, &end);
    if (tw__state_good(state) && end)
        tw__state_fail(state, TW_NOT_FOUND, "%s: file %lld is not there any more", ((const saved_dataset *)cursor->dataset)->path,
                       (long long)c->file - 1);
    if (tw__state_good(state))
        state->status = tw__record_seek(&c->records, at);
}

static const tw__dataset_kind shard_kind = {
    .class = TW_DATASET_CLASS("SavedShardDataset", saved_dataset, saved_destroy),
    .cursor_size = sizeof(saved_cursor),
    .next = shard_next,
    .stop = saved_stop,
    .cardinality = tw__cardinality_unknown,
    .state = shard_state,
};

static tw__dataset *shard_make(const tw_dtype *dtypes, const tw_shape *shapes, int count)
{
    saved_dataset *made = tw__object_new(&shard_kind.class);
    if (made && tw__dataset_set_types(&made->base, dtypes, shapes, count) == TW_OK)
        return &made->base;
    tw_release(made);
    return NULL;
}

/* A shard that stands in an element: its directory. */
static void shard_path_state(tw__dataset *dataset, tw__state *state)
{
    saved_dataset *self = (saved_dataset *)dataset;
    tw__text path = { 0 };
    int64_t compression = self->compression;
    if (state->saving)
        tw__text_add(&path, self->path);
    tw__state_text(state, "path", &path);
    tw__state_int(state, "compression", &compression);
    if (tw__state_good(state) && !state->saving) {
        self->compression = (tw__compression)compression;
        self->path = tw__strndup(path.data ? path.data : "", path.size);
        state->status = self->path ? TW_OK : tw__error_status();
    }
    tw__text_free(&path);
}

const tw__packed_dataset tw__packed_shard = { .class = &shard_kind.class, .make = shard_make, .state = shard_path_state };

static tw_tensor *shard_variant(const saved_dataset *self, const char *path)
{
    saved_dataset *made = tw__object_new(&shard_kind.class);
    bool good = made && (made->path = tw__strndup(path, strlen(path))) &&
                tw__dataset_set_types(&made->base, self->base.dtypes, self->base.shapes, self->base.count) == TW_OK;
    if (good)
        made->compression = self->compression;
    tw_tensor *variant = good ? tw__tensor_of_object(TW_VARIANT, made) : NULL;
    tw_release(made);
    return variant;
}

/* The dataset of the shards' datasets as a variant. */
static tw_tensor *shards_of(const saved_dataset *self, const char *run)
{
    char *pattern = tw__format("%s/%s/*.shard", self->path, run);
    glob_t found = { 0 };
    int result = pattern ? glob(pattern, 0, NULL, &found) : GLOB_NOSPACE;
    tw__elements shards = { .count = 1 };
    tw_tensor **room = NULL;
    bool good = pattern != NULL;
    for (size_t i = 0; good && result == 0 && i < found.gl_pathc; i++) {
        room = tw__elements_room(&shards);
        good = room && (*room = shard_variant(self, found.gl_pathv[i]));
        shards.size += good;
    }
    if (result == 0)
        globfree(&found);
    tw__free(pattern);
    tw__dataset *made = good ? tw__dataset_of_elements(&shards, &(tw_dtype){ TW_VARIANT }, &TW_SCALAR) : NULL;
    tw_tensor *variant = made ? tw__tensor_of_object(TW_VARIANT, made) : NULL;
    tw__elements_free(&shards);
    tw_release(made);
    return variant;
}

/* Begins with what the function makes of the shards. */
static tw_status begin_load(saved_cursor *c, saved_dataset *self)
{
    char *run = NULL;
    tw_status status = read_metadata(self, &run);
    tw_auto tw_tensor *shards = status == TW_OK ? shards_of(self, run) : NULL;
    tw__free(run);
    c->inner =
        shards ? tw__data_cursor_of(&self->f, TW_IN(shards), 1, NULL, 0, "Dataset.load: reader_func", self->base.count) : NULL;
    return c->inner ? TW_OK : tw__error_status();
}

static tw_status load_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    saved_cursor *c = (saved_cursor *)cursor;
    if (!c->inner)
        TW_TRY(begin_load(c, (saved_dataset *)cursor->dataset));
    return tw__cursor_next(c->inner, element, end);
}

static void load_state(tw__cursor *cursor, tw__state *state)
{
    saved_cursor *c = (saved_cursor *)cursor;
    saved_dataset *self = (saved_dataset *)cursor->dataset;
    bool begun = c->inner != NULL;
    tw__state_function(state, &self->f);
    tw__state_same(state, "number of elements", self->count);
    tw__state_bool(state, "begun", &begun);
    if (!tw__state_good(state) || !begun)
        return;
    if (!c->inner && begin_load(c, self) != TW_OK)
        state->status = tw__error_status();
    else
        tw__state_cursor(state, "elements", &c->inner, c->inner->dataset);
}

static int64_t load_cardinality(tw__dataset *dataset)
{
    return ((saved_dataset *)dataset)->count;
}

static const tw__dataset_kind load_kind = {
    .class = TW_DATASET_CLASS("LoadDataset", saved_dataset, saved_destroy),
    .cursor_size = sizeof(saved_cursor),
    .next = load_next,
    .stop = saved_stop,
    .cardinality = load_cardinality,
    .state = load_state,
};

static tw_status load_compute(tw__kernel *kernel)
{
    saved_dataset *self = tw__dataset_make(kernel, &load_kind, false);
    char *run = NULL;
    tw_status status = self ? read_settings(kernel, self, 0, "reader_func", "Treader_func_args") : tw__error_status();
    if (status == TW_OK)
        status = read_metadata(self, &run);
    tw__free(run);
    if (status == TW_OK)
        return tw__dataset_give(kernel, self);
    tw_release(self);
    return status;
}

TW_OP(LoadDataset, .inputs = "path: string, reader_func_other_args: Treader_func_args",
      .attrs = TW_ELEMENTS ", compression: string = '', reader_func: func, Treader_func_args: list(type) >= 0", TW_DATASET_OP,
      .shape = tw_shape_scalar, .compute = load_compute, .stateful = true, .touches = TW_READS_FILES, .paths = "path",
      .doc = "The elements of a saved dataset, in the order in which a function reads its shards.");

static tw_status load_init(void *self, const void *arguments)
{
    const tw_dataset_load_args *args = arguments;
    tw_auto tw__function *f = tw__data_function_for(args->reader_func, &(tw_spec){ TW_VARIANT, TW_SCALAR }, 1, "Dataset.load");
    int count = 0;
    tw_tensor **inputs = f ? tw__data_inputs(&args->path, 1, (const tw__function *const *)&f, 1, NULL, 0, &count) : NULL;
    tw_spec *specs = inputs ? tw__data_specs(args->types, args->shapes) : NULL;
    const tw_attr attrs[] = { TW_A_STRING("compression", args->compression ? args->compression : ""),
                              TW_A_FUNC("reader_func", f) };
    tw_status status = specs
                           ? tw__dataset_apply(self, &tw__op_LoadDataset, inputs, count, attrs, 2, specs, (int)args->types.count)
                           : tw__error_status();
    tw__free(specs);
    tw__free(inputs);
    return status;
}

TW_CLASS(
    dataset_load,
    "data._LoadDataset(path: tensor<string>, reader_func: function, types: ints, shapes: ints, compression: str = None) -> dataset",
    TW_STEP(load_init),
    .doc =
        "The elements of a dataset that was saved. The function makes a dataset of the dataset of the shards' datasets; types and shapes are as "
        "_VariantDataset's.");
