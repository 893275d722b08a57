/* cache: the elements of the first pass, kept in memory or in files for later ones.
 *
 * In memory they are the dataset's, once a cursor came to the end. In files they are a tensor bundle with keys of element and
 * component. A bundle is there when it is whole; so a state that is saved before the end leaves what was written until then as a
 * bundle of its own, PATH.part-N, and the parts are put together at the end. */
#include "data/state.h"
#include "format/format.h"
#include "op/guard.h"
#include "rows.h"

typedef struct kept_elements {
    tw_object object;
    tw__elements elements;
} kept_elements;

typedef struct cache_dataset {
    tw__dataset base;
    char *path;            /* NULL: in memory */
    _Atomic uint32_t lock; /* tw__hold_take: of `kept` */
    kept_elements *kept;
} cache_dataset;

typedef struct cache_cursor {
    tw__cursor base;
    kept_elements *kept; /* read from here, a reference; or, while it is NULL, collect */
    tw__elements collected;
    tw__bundle_writer *writer;
    tw__bundle_reader *reader;
    int64_t at;
    int64_t parts, written; /* bundles of what was written before; up to which element */
} cache_cursor;

static void kept_destroy(void *self)
{
    tw__elements_free(&((kept_elements *)self)->elements);
}

static const tw_class kept_class = { .name = "CachedElements", .size = sizeof(kept_elements), .destroy = kept_destroy };

static void cache_destroy(void *pointer)
{
    cache_dataset *self = pointer;
    tw_release(self->kept);
    tw__free(self->path);
}

/* A new reference. */
static kept_elements *kept_of(cache_dataset *self)
{
    tw__hold_take(&self->lock);
    kept_elements *kept = tw_retain(self->kept);
    tw__hold_give(&self->lock);
    return kept;
}

/* Begins with an empty bundle, or with the one that is there. */
static tw_status open_file(cache_cursor *c, const cache_dataset *self)
{
    if (tw__bundle_shards(self->path) > 0)
        c->reader = tw__bundle_open(self->path);
    else
        c->writer = tw__bundle_create(self->path);
    return c->reader || c->writer ? TW_OK : tw__error_status();
}

static tw_status cache_start(tw__cursor *cursor)
{
    cache_cursor *c = (cache_cursor *)cursor;
    cache_dataset *self = (cache_dataset *)cursor->dataset;
    c->collected.count = self->base.count;
    if (self->path)
        TW_TRY(open_file(c, self));
    else
        c->kept = kept_of(self);
    if (!c->kept && !c->reader && !(cursor->input = tw__cursor_new(self->base.input)))
        return tw__error_status();
    return TW_OK;
}

static void cache_stop(tw__cursor *cursor)
{
    cache_cursor *c = (cache_cursor *)cursor;
    tw_release(c->kept);
    tw__elements_free(&c->collected);
    tw__bundle_abandon(c->writer);
    tw__bundle_close(c->reader);
}

/* Makes a list of elements the cache; takes it. With `replace` also if there is one. */
static kept_elements *keep(cache_dataset *self, tw__elements *elements, bool replace)
{
    kept_elements *made = tw__object_new(&kept_class), *before = NULL;
    if (!made)
        return NULL;
    made->elements = *elements;
    *elements = (tw__elements){ .count = self->base.count };
    tw__hold_take(&self->lock);
    if (replace || !self->kept) {
        before = self->kept;
        self->kept = tw_retain(made);
    }
    tw__hold_give(&self->lock);
    tw_release(before);
    return made;
}

/* ---- files ---- */

static void write_key(char *key, size_t size, int64_t element, int component)
{
    snprintf(key, size, "%08lld_%d", (long long)element, component);
}

static tw_status read_element(tw__bundle_reader *reader, int64_t at, int count, tw_tensor **element, bool *end)
{
    char key[64];
    write_key(key, sizeof key, at, 0);
    *end = !tw__bundle_find(reader, key);
    for (int i = 0; !*end && i < count; i++) {
        write_key(key, sizeof key, at, i);
        if (!(element[i] = tw__bundle_read(reader, key))) {
            tw__element_end(element, i);
            return tw__error_status();
        }
    }
    return TW_OK;
}

static tw_status write_element(cache_cursor *c, int64_t at, tw_tensor *const *element)
{
    char key[64];
    for (int i = 0; i < c->base.dataset->count; i++) {
        write_key(key, sizeof key, at, i);
        TW_TRY(tw__bundle_add(c->writer, key, element[i]));
    }
    return TW_OK;
}

static char *part_path(const cache_dataset *self, int64_t part)
{
    return tw__format("%s.part-%lld", self->path, (long long)part);
}

/* Copies the elements of a part into the bundle; *at is moved on behind them. */
static tw_status copy_part(cache_cursor *c, const cache_dataset *self, int64_t part, int64_t *at, tw_tensor **element)
{
    tw__owned char *path = part_path(self, part);
    tw__auto(tw__bundle_reader_end) tw__bundle_reader *reader = path ? tw__bundle_open(path) : NULL;
    TW_NEED(reader);
    bool end = false;
    for (;; ++*at) {
        TW_TRY(read_element(reader, *at, self->base.count, element, &end));
        if (end)
            return TW_OK;
        tw_status written = write_element(c, *at, element);
        tw__element_end(element, self->base.count);
        TW_TRY(written);
    }
}

static void remove_parts(const cache_dataset *self)
{
    for (int64_t part = 0;; part++) {
        char *path = part_path(self, part), *index = path ? tw__format("%s.index", path) : NULL,
             *data = path ? tw__bundle_shard_path(path, 0, 1) : NULL;
        bool there = index && data && tw__path_exists(index);
        if (there) {
            (void)tw__file_remove(index);
            (void)tw__file_remove(data);
        }
        tw__free(path);
        tw__free(index);
        tw__free(data);
        if (!there)
            break;
    }
    tw_clear_error();
}

/* The cursor came to the end: the bundle takes its place. */
static tw_status finish_file(cache_cursor *c)
{
    const cache_dataset *self = (const cache_dataset *)c->base.dataset;
    if (c->parts && tw__bundle_shards(self->path) > 0) { /* another cursor that went on from the same state was faster */
        tw__bundle_abandon(c->writer);
        c->writer = NULL;
        return TW_OK;
    }
    tw__owned tw_tensor **element = tw__alloc_array((size_t)self->base.count + 1, sizeof *element);
    tw_status status = element ? TW_OK : tw__error_status();
    int64_t at = 0;
    for (int64_t part = 0; status == TW_OK && part < c->parts; part++)
        status = copy_part(c, self, part, &at, element);
    if (status == TW_OK && at != c->written)
        status = tw__fail(TW_DATA_LOSS, "%s: the parts of the cache hold %lld elements, expected %lld", self->path, (long long)at,
                          (long long)c->written);
    tw__bundle_writer *writer = c->writer;
    c->writer = NULL;
    if (status != TW_OK || !c->at) {
        tw__bundle_abandon(writer);
        return status;
    }
    status = tw__bundle_finish(writer);
    if (status == TW_OK && c->parts)
        remove_parts(self);
    return status;
}

/* What was written since the last part becomes one. */
static tw_status cut_part(cache_cursor *c)
{
    const cache_dataset *self = (const cache_dataset *)c->base.dataset;
    if (c->at == c->written)
        return TW_OK;
    tw__owned char *path = part_path(self, c->parts);
    tw__bundle_writer *writer = path ? tw__bundle_create(self->path) : NULL, *before = c->writer;
    tw_status status = writer ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        c->writer = writer;
        status = tw__bundle_finish_as(before, path);
        c->parts += status == TW_OK;
        c->written = c->at;
    }
    return status;
}

/* ---- stepping ---- */

static tw_status collect(cache_cursor *c, tw_tensor *const *element)
{
    tw_tensor **room = tw__elements_room(&c->collected);
    TW_NEED(room);
    for (int i = 0; i < c->collected.count; i++)
        room[i] = tw_retain(element[i]);
    c->collected.size++;
    return TW_OK;
}

static tw_status publish(cache_cursor *c)
{
    tw_auto kept_elements *made = keep((cache_dataset *)c->base.dataset, &c->collected, false);
    return made ? TW_OK : tw__error_status();
}

static tw_status cache_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    cache_cursor *c = (cache_cursor *)cursor;
    int count = cursor->dataset->count;
    if (c->reader)
        return read_element(c->reader, c->at++, count, element, end);
    if (c->kept) {
        const tw__elements *kept = &c->kept->elements;
        *end = c->at >= (int64_t)kept->size;
        for (int i = 0; !*end && i < count; i++)
            element[i] = tw_retain(kept->items[c->at * count + i]);
        c->at++;
        return TW_OK;
    }
    TW_TRY(tw__cursor_next(cursor->input, element, end));
    if (*end)
        return c->writer ? finish_file(c) : publish(c);
    tw_status status = c->writer ? write_element(c, c->at, element) : collect(c, element);
    c->at++;
    /* The last element is there, though nobody asked for one behind it: the cursor goes on as a reader. */
    if (status == TW_OK && !c->writer && (int64_t)c->collected.size == tw__dataset_cardinality(cursor->dataset->input))
        status = (c->kept = keep((cache_dataset *)cursor->dataset, &c->collected, false)) ? TW_OK : tw__error_status();
    if (status != TW_OK)
        tw__element_end(element, count);
    return status;
}

static int64_t cache_cardinality(tw__dataset *dataset)
{
    tw_auto kept_elements *kept = kept_of((cache_dataset *)dataset);
    return kept ? (int64_t)kept->elements.size : tw__cardinality_same(dataset);
}

/* ---- the state ---- */

enum { COLLECTING, KEPT, WRITING, READING, DONE };

static int64_t phase_of(const cache_cursor *c)
{
    return c->reader                                        ? READING
           : c->kept                                        ? KEPT
           : c->writer                                      ? WRITING
           : ((const cache_dataset *)c->base.dataset)->path ? DONE
                                                            : COLLECTING;
}

static void end_files(cache_cursor *c)
{
    tw__bundle_abandon(c->writer);
    tw__bundle_close(c->reader);
    c->writer = NULL;
    c->reader = NULL;
}

/* Puts a cursor over files where it was. A bundle that is whole by now is read; it is what the cursor would have written. */
static tw_status restore_files(cache_cursor *c, const cache_dataset *self, int64_t phase)
{
    end_files(c);
    if (phase == DONE)
        return TW_OK;
    TW_TRY(open_file(c, self));
    if (phase == READING && !c->reader)
        return tw__fail(TW_NOT_FOUND,
                        "CacheDataset: %s.index is not there, from which the iterator was reading when it was saved", self->path);
    for (int64_t part = 0; c->writer && part < c->parts; part++) {
        tw__owned char *path = part_path(self, part);
        int shards = path ? tw__bundle_shards(path) : -1;
        if (path && shards < 1)
            tw__fail(TW_NOT_FOUND,
                     "CacheDataset: %s.index is not there, which holds what the iterator had written when it was saved", path);
        if (shards < 1)
            return tw__error_status();
    }
    return TW_OK;
}

static void kept_state(cache_cursor *c, cache_dataset *self, tw__state *state)
{
    tw__auto(tw__elements_free) tw__elements restored = { .count = self->base.count };
    tw__state_elements(state, "kept", state->saving ? &c->kept->elements : &restored);
    if (tw__state_good(state) && !state->saving) {
        tw_release(c->kept);
        c->kept = keep(self, &restored, true);
        if (!c->kept)
            state->status = tw__error_status();
    }
}

static void cache_state(tw__cursor *cursor, tw__state *state)
{
    cache_cursor *c = (cache_cursor *)cursor;
    cache_dataset *self = (cache_dataset *)cursor->dataset;
    if (state->saving && !self->path && cursor->ended && !c->kept)
        c->kept = kept_of(self); /* what it gave to later passes */
    int64_t phase = phase_of(c);
    tw__state_same(state, "in a file", self->path != NULL);
    if (state->saving && !state->resting && tw__state_good(state) && phase == WRITING)
        state->status = cut_part(c);
    tw__state_int(state, "phase", &phase);
    tw__state_int(state, "at", &c->at);
    tw__state_int(state, "parts", &c->parts);
    tw__state_int(state, "written", &c->written);
    if (tw__state_good(state) && phase == KEPT) {
        kept_state(c, self, state);
    } else if (tw__state_good(state) && !self->path) {
        if (!state->saving) {
            tw_release(c->kept);
            c->kept = NULL;
        }
        tw__state_elements(state, "collected", &c->collected);
    } else if (tw__state_good(state) && !state->saving) {
        state->status = restore_files(c, self, phase);
    }
    tw__state_cursor(state, "input", &cursor->input, self->base.input);
}

static const tw__dataset_kind cache_kind = {
    .class = TW_DATASET_CLASS("CacheDataset", cache_dataset, cache_destroy),
    .cursor_size = sizeof(cache_cursor),
    .starts_inputs = true,
    .start = cache_start,
    .next = cache_next,
    .stop = cache_stop,
    .cardinality = cache_cardinality,
    .state = cache_state,
};

static tw_status cache_compute(tw__kernel *kernel)
{
    cache_dataset *self = tw__dataset_make(kernel, &cache_kind, true);
    tw_string path = tw_tensor_string_at(kernel->inputs[1], 0);
    if (self && path.size && !(self->path = tw__strndup(path.data, path.size))) {
        tw_release(self);
        return tw__error_status();
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(CacheDatasetV2, .inputs = "input_dataset: variant, filename: string, cache: resource",
      .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP, .shape = tw__scalars_shape, .compute = cache_compute,
      .stateful = true, .touches = TW_WRITES_FILES, .paths = "filename",
      .doc = "The elements, kept in memory or in a file when the first pass is done.");

static tw_status cache_init(void *self, const void *arguments)
{
    const tw_dataset_cache_args *args = arguments;
    tw_tensor *cache = NULL;
    int count = 1;
    TW_TRY(tw__apply(&tw__op_DummyMemoryCache, NULL, 0, NULL, 0, &cache, &count));
    return tw__dataset_step(self, args->self, NULL, &tw__op_CacheDatasetV2,
                            TW_IN(args->filename ? tw_retain(args->filename) : tw_tensor_string("", 0), cache), 2, NULL, 0);
}

TW_CLASS(
    dataset_cache,
    "data.CacheDataset|data.Dataset.cache(self: dataset, filename: tensor<string> = None shown '', name: str = None) -> dataset",
    TW_STEP(cache_init),
    .doc = "The elements, kept in memory or in a file when the first pass is done, and taken from there by later ones.\n"
           "filename: the path that the files' names begin with; empty: memory");
