/* Steps that look at elements as they pass: prefetch, unique, ignore_errors, assert_cardinality, options. */
#include "data/parallel.h"
#include "data/state.h"
#include "rows.h"

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
    TW_NEED(input);
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

static void prefetch_state(tw__cursor *cursor, tw__state *state)
{
    bool ahead = ((prefetch_cursor *)cursor)->workers != NULL;
    tw__state_same(state, "ahead", ahead);
    if (ahead)
        tw__workers_state(((prefetch_cursor *)cursor)->workers, state);
    else
        tw__state_cursor(state, "input", &cursor->input, cursor->dataset->input);
}

static const tw__dataset_kind prefetch_kind = {
    .class = TW_DATASET_CLASS("PrefetchDataset", number_dataset, NULL),
    .cursor_size = sizeof(prefetch_cursor),
    .starts_inputs = true,
    .start = prefetch_start,
    .next = prefetch_next,
    .stop = prefetch_stop,
    .cardinality = tw__cardinality_same,
    .state = prefetch_state,
};

static tw_status prefetch_compute(tw__kernel *kernel)
{
    int64_t size = tw_tensor_int_at(kernel->inputs[1], 0);
    if (size < 0 && size != TW_AUTOTUNE)
        return tw__fail(TW_INVALID_ARGUMENT, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
    number_dataset *self = tw__dataset_make(kernel, &prefetch_kind, true);
    if (self)
        self->number = size;
    return tw__dataset_give(kernel, self);
}

TW_OP(PrefetchDataset, .inputs = "input_dataset: variant, buffer_size: int64",
      .attrs = TW_ELEMENTS
      ", slack_period: int = 0, legacy_autotune: bool = true, buffer_size_min: int = 0, metadata: string = ''",
      TW_DATASET_OP, .shape = tw__scalars_shape, .compute = prefetch_compute,
      .doc = "The elements, made ready by a thread before they are asked for.");

static tw_status prefetch_init(void *self, const void *arguments)
{
    const tw_dataset_prefetch_args *args = arguments;
    bool given = tw__data_given(args->buffer_size, args->buffer_size_object);
    return tw__dataset_step(self, args->self, NULL, &tw__op_PrefetchDataset,
                            TW_IN(given ? tw__data_number(args->buffer_size, args->buffer_size_object, "buffer_size")
                                        : tw_tensor_int64(TW_AUTOTUNE)),
                            1, NULL, 0);
}

TW_CLASS(dataset_prefetch,
         "data._PrefetchDataset|data.Dataset.prefetch(self: dataset, buffer_size: number? = -1, name: str = None) -> dataset",
         TW_STEP(prefetch_init),
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
    for (;;) {
        TW_TRY(tw__pause());
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

static void unique_state(tw__cursor *cursor, tw__state *state)
{
    tw__map *seen = &((unique_cursor *)cursor)->seen;
    int64_t count = (int64_t)seen->count;
    tw__auto(tw__text_free) tw__text key = { 0 };
    tw__state_int(state, "seen", &count);
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        tw__text_clear(&key);
        if (state->saving)
            tw__text_bytes(&key, seen->entries[i].key, seen->entries[i].key_size);
        tw__state_text(state, "key", &key);
        if (tw__state_good(state) && !state->saving)
            state->status = tw__map_put(seen, key.data ? key.data : "", key.size, NULL);
    }
}

static const tw__dataset_kind unique_kind = {
    .class = TW_DATASET_CLASS("UniqueDataset", tw__dataset, NULL),
    .cursor_size = sizeof(unique_cursor),
    .next = unique_next,
    .stop = unique_stop,
    .cardinality = tw__cardinality_unknown,
    .state = unique_state,
};

static tw_status unique_compute(tw__kernel *kernel)
{
    tw__dataset *self = tw__dataset_make(kernel, &unique_kind, true);
    if (self && self->input->count != 1) {
        tw_release(self);
        return tw__fail(TW_INVALID_ARGUMENT, "UniqueDataset only supports inputs with a single component.");
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(UniqueDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw__scalars_shape, .compute = unique_compute, .doc = "The elements that did not come before.");

static tw_status unique_init(void *self, const void *arguments)
{
    const struct tw_dataset *input = ((const tw_dataset_unique_args *)arguments)->self;
    for (int i = 0; i < input->count; i++) {
        tw_dtype dtype = input->specs[i].dtype;
        if (dtype != TW_INT32 && dtype != TW_INT64 && dtype != TW_STRING)
            return tw__fail(
                TW_TYPE_ERROR,
                "`tf.data.Dataset.unique` does not support type <dtype: '%s'> -- only `tf.int32`, `tf.int64`, and `tf.string` are "
                "supported.",
                tw_dtype_name(dtype));
    }
    return tw__dataset_step(self, input, NULL, &tw__op_UniqueDataset, NULL, 0, NULL, 0);
}

TW_CLASS(dataset_unique, "data._UniqueDataset|data.Dataset.unique(self: dataset, name: str = None) -> dataset",
         TW_STEP(unique_init),
         .doc = "The elements that did not come before.\n"
                "example: list(tf.data.Dataset.from_tensor_slices([1, 2, 1]).unique().as_numpy_iterator())  # [1, 2]");

/* ---- ignore_errors ---- */

static tw_status ignore_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    for (;;) {
        TW_TRY(tw__pause());
        tw_status status = tw__data_plain_error(tw__cursor_next(cursor->input, element, end));
        if (status == TW_OK || status == TW_FOREIGN_ERROR || status == TW_RESOURCE_EXHAUSTED)
            return status;
        if (((const number_dataset *)cursor->dataset)->number)
            tw__log("WARNING", "Error raised with error message %s", tw_error_message());
        tw_clear_error();
    }
}

/* It stands where its input stands. */
static void no_state(__attribute__((unused)) tw__cursor *cursor, __attribute__((unused)) tw__state *state)
{
}

static const tw__dataset_kind ignore_kind = {
    .class = TW_DATASET_CLASS("IgnoreErrorsDataset", number_dataset, NULL),
    .next = ignore_next,
    .cardinality = tw__cardinality_unknown,
    .state = no_state,
};

static tw_status ignore_compute(tw__kernel *kernel)
{
    number_dataset *self = tw__dataset_make(kernel, &ignore_kind, true);
    if (self)
        self->number = TW_ATTR(kernel, "log_warning")->b;
    return tw__dataset_give(kernel, self);
}

TW_OP(IgnoreErrorsDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS ", log_warning: bool = false", TW_DATASET_OP,
      .shape = tw__scalars_shape, .compute = ignore_compute, .doc = "The elements whose making does not fail.");

static tw_status ignore_init(void *self, const void *arguments)
{
    const tw_dataset_ignore_errors_args *args = arguments;
    return tw__dataset_step(self, args->self, NULL, &tw__op_IgnoreErrorsDataset, NULL, 0,
                            TW_WITH(TW_A_BOOL("log_warning", args->log_warning)), 1);
}

TW_CLASS(
    dataset_ignore_errors,
    "data._IgnoreErrorsDataset|data.Dataset.ignore_errors(self: dataset, log_warning: bool = False, name: str = None) -> dataset",
    TW_STEP(ignore_init),
    .doc = "The elements whose making does not fail.\n"
           "log_warning: True: say for each error what it was");

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
                   ? tw__fail(TW_FAILED_PRECONDITION,
                              "Input dataset was expected to contain an infinite number of elements but contained only %lld "
                              "element%s.",
                              (long long)c->seen, c->seen == 1 ? "" : "s")
                   : tw__fail(TW_FAILED_PRECONDITION,
                              "Input dataset was expected to contain %lld element%s but contained only %lld element%s.",
                              (long long)expected, plural, (long long)c->seen, c->seen == 1 ? "" : "s");
    if (!*end && expected >= 0 && c->seen > expected) {
        tw__element_end(element, cursor->dataset->count);
        return tw__fail(TW_FAILED_PRECONDITION,
                        "Input dataset was expected to contain %lld element%s but contained at least %lld element%s.",
                        (long long)expected, plural, (long long)c->seen, c->seen == 1 ? "" : "s");
    }
    return TW_OK;
}

static int64_t assert_cardinality(tw__dataset *dataset)
{
    return ((number_dataset *)dataset)->number;
}

static void assert_state(tw__cursor *cursor, tw__state *state)
{
    tw__state_same(state, "cardinality", ((const number_dataset *)cursor->dataset)->number);
    tw__state_int(state, "seen", &((count_cursor *)cursor)->seen);
}

static const tw__dataset_kind assert_kind = {
    .class = TW_DATASET_CLASS("AssertCardinalityDataset", number_dataset, NULL),
    .cursor_size = sizeof(count_cursor),
    .next = assert_next,
    .cardinality = assert_cardinality,
    .state = assert_state,
};

static tw_status assert_compute(tw__kernel *kernel)
{
    number_dataset *self = tw__dataset_make(kernel, &assert_kind, true);
    if (self)
        self->number = tw_tensor_int_at(kernel->inputs[1], 0);
    return tw__dataset_give(kernel, self);
}

TW_OP(AssertCardinalityDataset, .inputs = "input_dataset: variant, cardinality: int64", .attrs = TW_ELEMENTS, TW_DATASET_OP,
      .shape = tw__scalars_shape, .compute = assert_compute, .doc = "The elements; an error if they are not as many as said.");

static tw_status assert_init(void *self, const void *arguments)
{
    const tw_dataset_assert_cardinality_args *args = arguments;
    return tw__dataset_step(self, args->self, NULL, &tw__op_AssertCardinalityDataset,
                            TW_IN(tw__data_number(args->expected, args->expected_object, "expected_cardinality")), 1, NULL, 0);
}

TW_CLASS(dataset_assert_cardinality, "data._AssertCardinalityDataset(self: dataset, expected: number) -> dataset",
         TW_STEP(assert_init), .doc = "The elements; an error if they are not as many as said.");

/* ---- options ---- */

static tw_status options_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    return tw__cursor_next(cursor->input, element, end);
}

static const tw__dataset_kind options_kind = {
    .class = TW_DATASET_CLASS("OptionsDataset", tw__dataset, NULL),
    .next = options_next,
    .cardinality = tw__cardinality_same,
    .state = no_state,
};

static tw_status options_compute(tw__kernel *kernel)
{
    return tw__dataset_give(kernel, tw__dataset_make(kernel, &options_kind, true));
}

TW_OP(OptionsDataset, .inputs = "input_dataset: variant",
      .attrs = "serialized_options: string, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP, .shape = tw__scalars_shape,
      .compute = options_compute, .doc = "The elements; the options are those of TensorFlow's own runtime.");

static tw_status options_init(void *self, const void *arguments)
{
    const tw_dataset_with_options_args *args = arguments;
    return tw__dataset_step(self, args->self, NULL, &tw__op_OptionsDataset, NULL, 0,
                            TW_WITH(TW_A_STRING("serialized_options", args->options ? args->options : "")), 1);
}

TW_CLASS(dataset_with_options, "data._OptionsDataset(self: dataset, options: str = None) -> dataset", TW_STEP(options_init),
         .doc = "The elements; the options are those of TensorFlow's own runtime.");
