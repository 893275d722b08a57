/* Dataset.load: a dataset from files; see saved.c for their layout. A function gets the dataset of the shards' datasets. */
#include <glob.h>

#include "api/composite.h"
#include "data/source/saved.h"
#include "data/state.h"
#include "graph/graphdef.h"
#include "op/guard.h"
#include "rows.h"

TW_API(dataset_saved_spec, "data._saved_spec(path: str) -> tensor",
       "The bytes that tell the structure of a saved dataset's elements.")
{
    tw__saved_dataset self = { .path = (char *)(uintptr_t)args->path };
    tw__owned char *run = NULL;
    bool whole = tw__saved_read_metadata(&self, &run) == TW_OK;
    if (!whole)
        tw_clear_error(); /* loading tells */
    tw__owned char *folder = whole ? tw__path_join(args->path, run) : NULL,
                   *path = folder ? tw__path_join(folder, TW_SAVED_SPEC) : NULL;
    if (!path || !tw__path_exists(path)) {
        tw__free(path);
        path = tw__path_join(args->path, TW_SAVED_SPEC);
    }
    bool found = path && tw__path_exists(path);
    if (path && !found)
        tw__fail(TW_NOT_FOUND, "%s; No such file or directory", path);
    size_t size = 0;
    tw__owned char *bytes = found ? tw__file_read_all(path, 1 << 20, &size) : NULL;
    return bytes ? tw_tensor_string(bytes, size) : NULL;
}

/* The next file of the shard; *end: there is none. */
static tw_status open_next(tw__saved_cursor *c, const tw__saved_dataset *self, bool *end)
{
    tw__owned char *path = tw__format("%s/%08lld.snapshot", self->path, (long long)c->file++);
    TW_NEED(path);
    glob_t found;
    *end = glob(path, 0, NULL, &found) != 0;
    if (!*end)
        globfree(&found);
    tw_status status = *end ? TW_OK : tw__record_open_packed(&c->records, path, self->compression);
    c->reading = !*end && status == TW_OK;
    return status;
}

static tw_status read_component(tw__saved_cursor *c, const tw__saved_dataset *self, int i, tw_tensor **out)
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
    tw__saved_cursor *c = (tw__saved_cursor *)cursor;
    const tw__saved_dataset *self = (const tw__saved_dataset *)cursor->dataset;
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
    tw__saved_cursor *c = (tw__saved_cursor *)cursor;
    bool reading = c->reading, end = false;
    int64_t at = reading ? c->records.offset : 0;
    tw__state_int(state, "file", &c->file);
    tw__state_bool(state, "reading", &reading);
    tw__state_int(state, "at", &at);
    if (state->saving || !tw__state_good(state) || !reading)
        return;
    c->file--; /* that of the next file */
    state->status = open_next(c, (const tw__saved_dataset *)cursor->dataset, &end);
    if (tw__state_good(state) && end)
        tw__state_fail(state, TW_NOT_FOUND, "%s: file %lld is not there any more",
                       ((const tw__saved_dataset *)cursor->dataset)->path, (long long)c->file - 1);
    if (tw__state_good(state))
        state->status = tw__record_seek(&c->records, at);
}

static const tw__dataset_kind shard_kind = {
    .class = TW_DATASET_CLASS("SavedShardDataset", tw__saved_dataset, tw__saved_destroy),
    .cursor_size = sizeof(tw__saved_cursor),
    .next = shard_next,
    .stop = tw__saved_stop,
    .cardinality = tw__cardinality_unknown,
    .state = shard_state,
};

static tw__dataset *shard_make(const tw_dtype *dtypes, const tw_shape *shapes, int count)
{
    tw__saved_dataset *made = tw__object_new(&shard_kind.class);
    if (made && tw__dataset_set_types(&made->base, dtypes, shapes, count) == TW_OK)
        return &made->base;
    tw_release(made);
    return NULL;
}

/* A shard that stands in an element: its directory. */
static void shard_path_state(tw__dataset *dataset, tw__state *state)
{
    tw__saved_dataset *self = (tw__saved_dataset *)dataset;
    tw__auto(tw__text_free) tw__text path = { 0 };
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
}

const tw__packed_dataset tw__packed_shard = { .class = &shard_kind.class, .make = shard_make, .state = shard_path_state };

static tw_tensor *shard_variant(const tw__saved_dataset *self, const char *path)
{
    tw_auto tw__saved_dataset *made = tw__object_new(&shard_kind.class);
    bool good = made && (made->path = tw__strndup(path, strlen(path))) &&
                tw__dataset_set_types(&made->base, self->base.dtypes, self->base.shapes, self->base.count) == TW_OK;
    if (good)
        made->compression = self->compression;
    return good ? tw__tensor_of_object(TW_VARIANT, made) : NULL;
}

/* The dataset of the shards' datasets as a variant. */
static tw_tensor *shards_of(const tw__saved_dataset *self, const char *run)
{
    tw__owned char *pattern = tw__format("%s/%s/*.shard", self->path, run);
    glob_t found = { 0 };
    int result = pattern ? glob(pattern, 0, NULL, &found) : GLOB_NOSPACE;
    tw__auto(tw__elements_free) tw__elements shards = { .count = 1 };
    tw_tensor **room = NULL;
    bool good = pattern != NULL;
    for (size_t i = 0; good && result == 0 && i < found.gl_pathc; i++) {
        room = tw__elements_room(&shards);
        good = room && (*room = shard_variant(self, found.gl_pathv[i]));
        shards.size += good;
    }
    if (result == 0)
        globfree(&found);
    tw_auto tw__dataset *made = good ? tw__dataset_of_elements(&shards, &(tw_dtype){ TW_VARIANT }, &TW_SCALAR) : NULL;
    return made ? tw__tensor_of_object(TW_VARIANT, made) : NULL;
}

/* Begins with what the function makes of the shards. */
static tw_status begin_load(tw__saved_cursor *c, tw__saved_dataset *self)
{
    tw__owned char *run = NULL;
    tw_status status = tw__saved_read_metadata(self, &run);
    tw_auto tw_tensor *shards = status == TW_OK ? shards_of(self, run) : NULL;
    c->inner =
        shards ? tw__data_cursor_of(&self->f, TW_IN(shards), 1, NULL, 0, "Dataset.load: reader_func", self->base.count) : NULL;
    return c->inner ? TW_OK : tw__error_status();
}

static tw_status load_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    tw__saved_cursor *c = (tw__saved_cursor *)cursor;
    if (!c->inner)
        TW_TRY(begin_load(c, (tw__saved_dataset *)cursor->dataset));
    return tw__cursor_next(c->inner, element, end);
}

static void load_state(tw__cursor *cursor, tw__state *state)
{
    tw__saved_cursor *c = (tw__saved_cursor *)cursor;
    tw__saved_dataset *self = (tw__saved_dataset *)cursor->dataset;
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
    return ((tw__saved_dataset *)dataset)->count;
}

static const tw__dataset_kind load_kind = {
    .class = TW_DATASET_CLASS("LoadDataset", tw__saved_dataset, tw__saved_destroy),
    .cursor_size = sizeof(tw__saved_cursor),
    .next = load_next,
    .stop = tw__saved_stop,
    .cardinality = load_cardinality,
    .state = load_state,
};

static tw_status load_compute(tw__kernel *kernel)
{
    tw__saved_dataset *self = tw__dataset_make(kernel, &load_kind, false);
    tw__owned char *run = NULL;
    tw_status status = self ? tw__saved_read_settings(kernel, self, 0, "reader_func", "Treader_func_args") : tw__error_status();
    if (status == TW_OK)
        status = tw__saved_read_metadata(self, &run);
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
    tw__owned tw_tensor **inputs =
        f ? tw__data_inputs(&args->path, 1, (const tw__function *const *)&f, 1, NULL, 0, &count) : NULL;
    int elements = 0;
    tw__owned tw_spec *specs = inputs ? tw__element_specs(&args->element_spec, &elements) : NULL;
    const tw_attr attrs[] = { TW_A_STRING("compression", args->compression ? args->compression : ""),
                              TW_A_FUNC("reader_func", f) };
    tw_status status =
        specs ? tw__dataset_apply(self, &tw__op_LoadDataset, inputs, count, attrs, 2, specs, elements) : tw__error_status();
    return tw__dataset_settle(self, status, tw__value_copy(&args->element_spec), false);
}

TW_CLASS(
    dataset_load,
    "data._LoadDataset(path: tensor<string>, reader_func: function, element_spec: value<spec>, compression: str = None) -> dataset",
    TW_STEP(load_init),
    .doc =
        "The elements of a dataset that was saved, of that structure. The function makes a dataset of the dataset of the shards' "
        "datasets.");
