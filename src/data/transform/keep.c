/* Steps that keep elements, or look at them as they pass: cache, prefetch, unique, ignore_errors, assert_cardinality, options. */
#include "data/data.h"
#include "data/parallel.h"
#include "format/format.h"
#include "rows.h"

/* ---- cache ---- */

/* In memory the elements are the dataset's, once a cursor came to the end; in a file they are a tensor bundle with keys of element and component. */
typedef struct cache_dataset {
    tw__dataset base;
    char *path;            /* NULL: in memory */
    _Atomic uint32_t lock; /* tw__hold_take: of `kept` */
    tw__elements *kept;
} cache_dataset;

typedef struct cache_cursor {
    tw__cursor base;
    const tw__elements *kept; /* read from here; or, while it is NULL, collect */
    tw__elements collected;
    tw__bundle_writer *writer;
    tw__bundle_reader *reader;
    int64_t at;
} cache_cursor;

static void elements_release(tw__elements *elements)
{
    if (elements)
        tw__elements_free(elements);
    tw__free(elements);
}

static void cache_destroy(void *pointer)
{
    cache_dataset *self = pointer;
    elements_release(self->kept);
    tw__free(self->path);
}

static const tw__elements *kept_of(cache_dataset *self)
{
    tw__hold_take(&self->lock);
    const tw__elements *kept = self->kept;
    tw__hold_give(&self->lock);
    return kept;
}

static tw_status cache_start(tw__cursor *cursor)
{
    cache_cursor *c = (cache_cursor *)cursor;
    cache_dataset *self = (cache_dataset *)cursor->dataset;
    c->collected.count = self->base.count;
    if (!self->path) {
        c->kept = kept_of(self);
    } else if (tw__bundle_shards(self->path) > 0) {
        c->reader = tw__bundle_open(self->path);
        if (!c->reader)
            return tw__error_status();
    } else {
        c->writer = tw__bundle_create(self->path);
        if (!c->writer)
            return tw__error_status();
    }
    if (!c->kept && !c->reader && !(cursor->input = tw__cursor_new(self->base.input)))
        return tw__error_status();
    return TW_OK;
}

static void cache_stop(tw__cursor *cursor)
{
    cache_cursor *c = (cache_cursor *)cursor;
    tw__elements_free(&c->collected);
    tw__bundle_abandon(c->writer);
    tw__bundle_close(c->reader);
}

/* The cursor came to the end: what it collected is the cache. */
static tw_status publish(cache_cursor *c)
{
    cache_dataset *self = (cache_dataset *)c->base.dataset;
    tw__elements *made = tw__alloc(sizeof *made);
    if (!made)
        return tw__error_status();
    *made = c->collected;
    c->collected = (tw__elements){ .count = self->base.count };
    tw__hold_take(&self->lock);
    bool first = !self->kept;
    if (first)
        self->kept = made;
    tw__hold_give(&self->lock);
    if (!first)
        elements_release(made);
    return TW_OK;
}

static void write_key(char *key, size_t size, int64_t element, int component)
{
    snprintf(key, size, "%08lld_%d", (long long)element, component);
}

static tw_status read_element(cache_cursor *c, tw_tensor **element, bool *end)
{
    int count = c->base.dataset->count;
    char key[64];
    write_key(key, sizeof key, c->at, 0);
    *end = !tw__bundle_find(c->reader, key);
    for (int i = 0; !*end && i < count; i++) {
        write_key(key, sizeof key, c->at, i);
        if (!(element[i] = tw__bundle_read(c->reader, key))) {
            tw__element_end(element, i);
            return tw__error_status();
        }
    }
    c->at++;
    return TW_OK;
}

static tw_status write_element(cache_cursor *c, tw_tensor *const *element)
{
    char key[64];
    for (int i = 0; i < c->base.dataset->count; i++) {
        write_key(key, sizeof key, c->at, i);
        TW_TRY(tw__bundle_add(c->writer, key, element[i]));
    }
    c->at++;
    return TW_OK;
}

static tw_status collect(cache_cursor *c, tw_tensor *const *element)
{
    tw_tensor **room = tw__elements_room(&c->collected);
    if (!room)
        return tw__error_status();
    for (int i = 0; i < c->collected.count; i++)
        room[i] = tw_retain(element[i]);
    c->collected.size++;
    return TW_OK;
}

static tw_status cache_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    cache_cursor *c = (cache_cursor *)cursor;
    int count = cursor->dataset->count;
    if (c->reader)
        return read_element(c, element, end);
    if (c->kept) {
        *end = c->at >= (int64_t)c->kept->size;
        for (int i = 0; !*end && i < count; i++)
            element[i] = tw_retain(c->kept->items[c->at * count + i]);
        c->at++;
        return TW_OK;
    }
    TW_TRY(tw__cursor_next(cursor->input, element, end));
    if (*end && c->writer) {
        tw__bundle_writer *writer = c->writer;
        c->writer = NULL;
        return c->at ? tw__bundle_finish(writer) : (tw__bundle_abandon(writer), TW_OK);
    }
    if (*end)
        return publish(c);
    tw_status status = c->writer ? write_element(c, element) : collect(c, element);
    if (status != TW_OK)
        tw__element_end(element, count);
    return status;
}

static int64_t cache_cardinality(tw__dataset *dataset)
{
    const tw__elements *kept = kept_of((cache_dataset *)dataset);
    return kept ? (int64_t)kept->size : tw__cardinality_same(dataset);
}

static const tw__dataset_kind cache_kind = {
    .class = TW_DATASET_CLASS("CacheDataset", cache_dataset, cache_destroy), .cursor_size = sizeof(cache_cursor), .starts_inputs = true,
    .start = cache_start, .next = cache_next, .stop = cache_stop, .cardinality = cache_cardinality,
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

TW_OP(CacheDatasetV2,
    .inputs = "input_dataset: variant, filename: string, cache: resource", .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
    .shape = tw__scalars_shape, .compute = cache_compute, .stateful = true,
    .doc = "The elements, kept in memory or in a file when the first pass is done.");

static tw_status cache_init(void *self, const void *arguments)
{
    const tw_dataset_cache_args *args = arguments;
    tw_tensor *cache = NULL;
    int count = 1;
    TW_TRY(tw__apply(&tw__op_DummyMemoryCache, NULL, 0, NULL, 0, &cache, &count));
    return tw__dataset_step(self, args->input_dataset, NULL, &tw__op_CacheDatasetV2,
                            TW_IN(args->filename ? tw_retain(args->filename) : tw_tensor_string("", 0), cache), 2, NULL, 0);
}

TW_CLASS(dataset_cache, "data.CacheDataset(input_dataset: dataset, filename: tensor = None) -> dataset", TW_STEP(cache_init),
         .doc = "The elements, kept in memory or in a file when the first pass is done, and taken from there by later ones.");

/* ---- prefetch ---- */

typedef struct number_dataset {
    tw__dataset base;
    int64_t number;
    tw_string text;
} number_dataset;

typedef struct prefetch_cursor {
    tw__cursor base;
    tw__workers *workers;
} prefetch_cursor;

static tw_status prefetch_start(tw__cursor *cursor)
{
    const number_dataset *self = (const number_dataset *)cursor->dataset;
    tw__cursor *input = tw__cursor_new(self->base.input);
    if (!input)
        return tw__error_status();
    if (self->number == 0) {
        cursor->input = input;
        return TW_OK;
    }
    ((prefetch_cursor *)cursor)->workers = tw__workers_prefetch(cursor->dataset, input, self->number);
    return ((prefetch_cursor *)cursor)->workers ? TW_OK : tw__error_status();
}

static tw_status prefetch_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    return cursor->input ? tw__cursor_next(cursor->input, element, end)
                         : tw__workers_next(((prefetch_cursor *)cursor)->workers, element, end);
}

static void prefetch_stop(tw__cursor *cursor)
{
    tw__workers_stop(((prefetch_cursor *)cursor)->workers);
}

static const tw__dataset_kind prefetch_kind = {
    .class = TW_DATASET_CLASS("PrefetchDataset", number_dataset, NULL), .cursor_size = sizeof(prefetch_cursor), .starts_inputs = true,
    .start = prefetch_start, .next = prefetch_next, .stop = prefetch_stop, .cardinality = tw__cardinality_same,
};

static tw_status prefetch_compute(tw__kernel *kernel)
{
    int64_t size = tw_tensor_int_at(kernel->inputs[1], 0);
    if (size < 0 && size != TW_AUTOTUNE)
        return tw__fail(TW_INVALID_ARGUMENT, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning [Op:PrefetchDataset]");
    number_dataset *self = tw__dataset_make(kernel, &prefetch_kind, true);
    if (self)
        self->number = size;
    return tw__dataset_give(kernel, self);
}

TW_OP(PrefetchDataset,
    .inputs = "input_dataset: variant, buffer_size: int64",
    .attrs = TW_ELEMENTS ", slack_period: int = 0, legacy_autotune: bool = true, buffer_size_min: int = 0, metadata: string = ''", TW_DATASET_OP,
    .shape = tw__scalars_shape, .compute = prefetch_compute, .doc = "The elements, made ready by a thread before they are asked for.");

static tw_status prefetch_init(void *self, const void *arguments)
{
    const tw_dataset_prefetch_args *args = arguments;
    return tw__dataset_step(self, args->input_dataset, NULL, &tw__op_PrefetchDataset,
                            TW_IN(tw__data_number(args->buffer_size, args->buffer_size_object, "buffer_size")), 1, NULL, 0);
}

TW_CLASS(dataset_prefetch, "data._PrefetchDataset(input_dataset: dataset, buffer_size: number = -1) -> dataset", TW_STEP(prefetch_init),
         .doc = "The elements, up to buffer_size of them made ready by a thread before they are asked for; -1: some.");

/* ---- unique ---- */

typedef struct unique_cursor {
    tw__cursor base;
    tw__map seen;
} unique_cursor;

static void unique_stop(tw__cursor *cursor)
{
    tw__map_free(&((unique_cursor *)cursor)->seen, NULL);
}

/* The bytes of an element, for comparing. */
static tw_status element_bytes(const tw_tensor *tensor, tw__text *text)
{
    if (tensor->dtype == TW_STRING) {
        for (int64_t i = 0; i < tensor->count; i++) {
            tw_string s = tw_tensor_string_at(tensor, i);
            tw__text_bytes(text, &s.size, sizeof s.size);
            tw__text_bytes(text, s.data, s.size);
        }
    } else {
        tw__text_bytes(text, tensor->data, tw_tensor_bytes(tensor));
    }
    return text->failed ? tw__error_status() : TW_OK;
}

static tw_status unique_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    unique_cursor *c = (unique_cursor *)cursor;
    int64_t rounds = 0;
    for (;;) {
        TW_TRY(tw__data_breathe(&rounds));
        TW_TRY(tw__cursor_next(cursor->input, element, end));
        if (*end)
            return TW_OK;
        tw__text key = { 0 };
        tw_status status = element_bytes(element[0], &key);
        bool known = status == TW_OK && tw__map_has(&c->seen, key.data ? key.data : "", key.size);
        if (status == TW_OK && !known)
            status = tw__map_put(&c->seen, key.data ? key.data : "", key.size, NULL);
        tw__text_free(&key);
        if (status == TW_OK && !known)
            return TW_OK;
        tw__element_end(element, 1);
        TW_TRY(status);
    }
}

static const tw__dataset_kind unique_kind = {
    .class = TW_DATASET_CLASS("UniqueDataset", tw__dataset, NULL), .cursor_size = sizeof(unique_cursor), .next = unique_next,
    .stop = unique_stop, .cardinality = tw__cardinality_unknown,
};

static tw_status unique_compute(tw__kernel *kernel)
{
    tw__dataset *self = tw__dataset_make(kernel, &unique_kind, true);
    if (self && self->input->count != 1) {
        tw_release(self);
        return tw__fail(TW_INVALID_ARGUMENT, "UniqueDataset only supports inputs with a single component. [Op:UniqueDataset]");
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(UniqueDataset,
    .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP, .shape = tw__scalars_shape,
    .compute = unique_compute, .doc = "The elements that did not come before.");

static tw_status unique_init(void *self, const void *arguments)
{
    return tw__dataset_step(self, ((const tw_dataset_unique_args *)arguments)->input_dataset, NULL, &tw__op_UniqueDataset, NULL, 0, NULL, 0);
}

TW_CLASS(dataset_unique, "data._UniqueDataset(input_dataset: dataset) -> dataset", TW_STEP(unique_init), .doc = "The elements that did not come before.");

/* ---- ignore_errors ---- */

static tw_status ignore_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    int64_t rounds = 0;
    for (;;) {
        TW_TRY(tw__data_breathe(&rounds));
        tw_status status = tw__data_plain_error(tw__cursor_next(cursor->input, element, end));
        if (status == TW_OK || status == TW_FOREIGN_ERROR || status == TW_RESOURCE_EXHAUSTED)
            return status;
        if (((const number_dataset *)cursor->dataset)->number)
            tw__log("WARNING", "Error raised with error message %s", tw_error_message());
        tw_clear_error();
    }
}

static const tw__dataset_kind ignore_kind = {
    .class = TW_DATASET_CLASS("IgnoreErrorsDataset", number_dataset, NULL), .next = ignore_next, .cardinality = tw__cardinality_unknown,
};

static tw_status ignore_compute(tw__kernel *kernel)
{
    number_dataset *self = tw__dataset_make(kernel, &ignore_kind, true);
    if (self)
        self->number = TW_ATTR(kernel, "log_warning")->b;
    return tw__dataset_give(kernel, self);
}

TW_OP(IgnoreErrorsDataset,
    .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS ", log_warning: bool = false", TW_DATASET_OP, .shape = tw__scalars_shape,
    .compute = ignore_compute, .doc = "The elements whose making does not fail.");

static tw_status ignore_init(void *self, const void *arguments)
{
    const tw_dataset_ignore_errors_args *args = arguments;
    return tw__dataset_step(self, args->input_dataset, NULL, &tw__op_IgnoreErrorsDataset, NULL, 0,
                            TW_WITH(TW_A_BOOL("log_warning", args->log_warning)), 1);
}

TW_CLASS(dataset_ignore_errors, "data._IgnoreErrorsDataset(input_dataset: dataset, log_warning: bool = False) -> dataset", TW_STEP(ignore_init),
         .doc = "The elements whose making does not fail.");

/* ---- assert_cardinality ---- */

typedef struct count_cursor {
    tw__cursor base;
    int64_t seen;
} count_cursor;

static tw_status assert_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    count_cursor *c = (count_cursor *)cursor;
    int64_t expected = ((const number_dataset *)cursor->dataset)->number;
    TW_TRY(tw__cursor_next(cursor->input, element, end));
    c->seen += !*end;
    const char *plural = expected == 1 ? "" : "s";
    if (*end && expected != TW_UNKNOWN_COUNT && (expected == TW_INFINITE || c->seen < expected))
        return expected == TW_INFINITE
                   ? tw__fail(TW_FAILED_PRECONDITION, "Input dataset was expected to contain an infinite number of elements but contained only %lld "
                                                      "element%s. [Op:IteratorGetNext]", (long long)c->seen, c->seen == 1 ? "" : "s")
                   : tw__fail(TW_FAILED_PRECONDITION, "Input dataset was expected to contain %lld element%s but contained only %lld element%s. "
                              "[Op:IteratorGetNext]",
                              (long long)expected, plural, (long long)c->seen, c->seen == 1 ? "" : "s");
    if (!*end && expected >= 0 && c->seen > expected) {
        tw__element_end(element, cursor->dataset->count);
        return tw__fail(TW_FAILED_PRECONDITION, "Input dataset was expected to contain %lld element%s but contained at least %lld element%s. "
                        "[Op:IteratorGetNext]",
                        (long long)expected, plural, (long long)c->seen, c->seen == 1 ? "" : "s");
    }
    return TW_OK;
}

static int64_t assert_cardinality(tw__dataset *dataset)
{
    return ((number_dataset *)dataset)->number;
}

static const tw__dataset_kind assert_kind = {
    .class = TW_DATASET_CLASS("AssertCardinalityDataset", number_dataset, NULL), .cursor_size = sizeof(count_cursor), .next = assert_next,
    .cardinality = assert_cardinality,
};

static tw_status assert_compute(tw__kernel *kernel)
{
    number_dataset *self = tw__dataset_make(kernel, &assert_kind, true);
    if (self)
        self->number = tw_tensor_int_at(kernel->inputs[1], 0);
    return tw__dataset_give(kernel, self);
}

TW_OP(AssertCardinalityDataset,
    .inputs = "input_dataset: variant, cardinality: int64", .attrs = TW_ELEMENTS, TW_DATASET_OP, .shape = tw__scalars_shape,
    .compute = assert_compute, .doc = "The elements; an error if they are not as many as said.");

static tw_status assert_init(void *self, const void *arguments)
{
    const tw_dataset_assert_cardinality_args *args = arguments;
    return tw__dataset_step(self, args->input_dataset, NULL, &tw__op_AssertCardinalityDataset,
                            TW_IN(tw__data_number(args->expected, args->expected_object, "expected_cardinality")), 1, NULL, 0);
}

TW_CLASS(dataset_assert_cardinality, "data._AssertCardinalityDataset(input_dataset: dataset, expected: number) -> dataset", TW_STEP(assert_init),
         .doc = "The elements; an error if they are not as many as said.");

/* ---- options ---- */

static tw_status options_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    return tw__cursor_next(cursor->input, element, end);
}

static const tw__dataset_kind options_kind = {
    .class = TW_DATASET_CLASS("OptionsDataset", tw__dataset, NULL), .next = options_next, .cardinality = tw__cardinality_same,
};

static tw_status options_compute(tw__kernel *kernel)
{
    return tw__dataset_give(kernel, tw__dataset_make(kernel, &options_kind, true));
}

TW_OP(OptionsDataset,
    .inputs = "input_dataset: variant", .attrs = "serialized_options: string, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
    .shape = tw__scalars_shape, .compute = options_compute, .doc = "The elements; the options are those of TensorFlow's own runtime.");

static tw_status options_init(void *self, const void *arguments)
{
    const tw_dataset_with_options_args *args = arguments;
    return tw__dataset_step(self, args->input_dataset, NULL, &tw__op_OptionsDataset, NULL, 0,
                            TW_WITH(TW_A_STRING("serialized_options", args->options ? args->options : "")), 1);
}

TW_CLASS(dataset_with_options, "data._OptionsDataset(input_dataset: dataset, options: str = None) -> dataset", TW_STEP(options_init),
         .doc = "The elements; the options are those of TensorFlow's own runtime.");
