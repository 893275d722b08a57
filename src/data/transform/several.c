/* Several datasets as one: zip, concatenate, and a choice among them by a dataset of numbers. */
#include "data/state.h"
#include "rows.h"

typedef struct several_dataset {
    tw__dataset base;
    tw__dataset **inputs;
    int input_count;
    bool stops; /* when a dataset that is chosen has ended */
} several_dataset;

typedef struct several_cursor {
    tw__cursor base;
    tw__cursor **inputs;
    int at;
} several_cursor;

static void several_destroy(void *pointer)
{
    several_dataset *self = pointer;
    for (int i = 0; i < self->input_count; i++)
        tw_release(self->inputs[i]);
    tw__free(self->inputs);
}

static tw_status several_start(tw__cursor *cursor)
{
    several_cursor *c = (several_cursor *)cursor;
    const several_dataset *self = (const several_dataset *)cursor->dataset;
    c->inputs = tw__alloc_array((size_t)self->input_count + 1, sizeof *c->inputs);
    for (int i = 0; c->inputs && i < self->input_count; i++)
        TW_NEED(c->inputs[i] = tw__cursor_new(self->inputs[i]));
    return c->inputs ? TW_OK : tw__error_status();
}

static void several_stop(tw__cursor *cursor)
{
    several_cursor *c = (several_cursor *)cursor;
    for (int i = 0; c->inputs && i < ((several_dataset *)cursor->dataset)->input_count; i++)
        tw__cursor_free(c->inputs[i]);
    tw__free(c->inputs);
}

/* ---- zip ---- */

/* Moves on by one element, with the error that is set already: the inputs stay side by side, so that whoever ignores the error
 * goes on rightly. */
static tw_status skip_one(tw__cursor *cursor, const tw__dataset *dataset, bool *end)
{
    tw__owned tw_tensor **element = tw__alloc_array((size_t)dataset->count + 1, sizeof *element);
    TW_NEED(element);
    tw__saved_error kept = tw__error_take();
    tw_status status = tw__cursor_next(cursor, element, end);
    if (status == TW_OK && !*end)
        tw__element_end(element, dataset->count);
    tw_clear_error();
    tw__error_restore(kept);
    return status;
}

static tw_status zip_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    several_cursor *c = (several_cursor *)cursor;
    const several_dataset *self = (const several_dataset *)cursor->dataset;
    int made = 0;
    bool failed = false;
    for (int i = 0; !*end && i < self->input_count; i++) {
        tw_status now =
            failed ? skip_one(c->inputs[i], self->inputs[i], end) : tw__cursor_next(c->inputs[i], element + made, end);
        made += now == TW_OK && !*end && !failed ? self->inputs[i]->count : 0;
        failed |= now != TW_OK;
    }
    if (failed && *end)
        tw_clear_error(); /* there is no such element */
    if (failed || *end)
        tw__element_end(element, made);
    return failed && !*end ? tw__error_status() : TW_OK;
}

static int64_t zip_cardinality(tw__dataset *dataset)
{
    const several_dataset *self = (const several_dataset *)dataset;
    int64_t least = TW_INFINITE;
    for (int i = 0; i < self->input_count; i++) {
        int64_t n = tw__dataset_cardinality(self->inputs[i]);
        if (n == TW_UNKNOWN_COUNT)
            return n;
        if (n != TW_INFINITE && (least == TW_INFINITE || n < least))
            least = n;
    }
    return least;
}

/* ---- concatenate ---- */

static tw_status concatenate_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    several_cursor *c = (several_cursor *)cursor;
    const several_dataset *self = (const several_dataset *)cursor->dataset;
    for (; c->at < self->input_count; c->at++) {
        if (!c->inputs[c->at] && !(c->inputs[c->at] = tw__cursor_new(self->inputs[c->at])))
            return tw__error_status();
        TW_TRY(tw__cursor_next(c->inputs[c->at], element, end));
        if (!*end)
            return TW_OK;
    }
    return TW_OK;
}

/* The first dataset begins at once, the second one when its turn comes. */
static tw_status concatenate_start(tw__cursor *cursor)
{
    several_cursor *c = (several_cursor *)cursor;
    c->inputs = tw__alloc_array(3, sizeof *c->inputs);
    if (c->inputs)
        c->inputs[0] = tw__cursor_new(((const several_dataset *)cursor->dataset)->inputs[0]);
    return c->inputs && c->inputs[0] ? TW_OK : tw__error_status();
}

static int64_t concatenate_cardinality(tw__dataset *dataset)
{
    const several_dataset *self = (const several_dataset *)dataset;
    int64_t first = tw__dataset_cardinality(self->inputs[0]), second = tw__dataset_cardinality(self->inputs[1]);
    if (first == TW_INFINITE || second == TW_INFINITE)
        return TW_INFINITE;
    return first < 0 || second < 0 ? TW_UNKNOWN_COUNT : first + second;
}

/* ---- a choice ---- */

static tw_status directed_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    several_cursor *c = (several_cursor *)cursor;
    const several_dataset *self = (const several_dataset *)cursor->dataset;
    for (;;) {
        tw_tensor *chosen = NULL;
        TW_TRY(tw__pause());
        bool open = false;
        for (int i = 1; i < self->input_count; i++)
            open |= !c->inputs[i]->ended;
        *end = !open;
        if (!*end)
            TW_TRY(tw__cursor_next(c->inputs[0], &chosen, end));
        if (*end)
            return TW_OK;
        int64_t which = tw_tensor_int_at(chosen, 0);
        tw_release(chosen);
        if (which < 0 || which >= self->input_count - 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Selector index out of range: %lld >= %d", (long long)which,
                            self->input_count - 1);
        TW_TRY(tw__cursor_next(c->inputs[which + 1], element, end));
        if (!*end || self->stops)
            return TW_OK;
    }
}

static void several_state(tw__cursor *cursor, tw__state *state)
{
    several_cursor *c = (several_cursor *)cursor;
    const several_dataset *self = (const several_dataset *)cursor->dataset;
    int64_t at = c->at;
    tw__state_same(state, "number of datasets", self->input_count);
    tw__state_same(state, "stop_on_empty_dataset", self->stops);
    tw__state_int(state, "at", &at);
    c->at = (int)at;
    for (int i = 0; tw__state_good(state) && i < self->input_count; i++)
        tw__state_cursor(state, "input", &c->inputs[i], self->inputs[i]);
}

static tw__dataset *several_input(tw__dataset *dataset, int number)
{
    const several_dataset *self = (const several_dataset *)dataset;
    return number < self->input_count ? self->inputs[number] : NULL;
}

#define SEVERAL_KIND(name_, start_, next_, cardinality_)                                                           \
    {                                                                                                              \
        .class = TW_DATASET_CLASS(name_, several_dataset, several_destroy), .cursor_size = sizeof(several_cursor), \
        .start = start_, .next = next_, .stop = several_stop, .cardinality = cardinality_, .state = several_state, \
        .other_input = several_input                                                                               \
    }
static const tw__dataset_kind zip_kind = SEVERAL_KIND("ZipDataset", several_start, zip_next, zip_cardinality);
static const tw__dataset_kind concatenate_kind =
    SEVERAL_KIND("ConcatenateDataset", concatenate_start, concatenate_next, concatenate_cardinality);
static const tw__dataset_kind directed_kind = SEVERAL_KIND("DirectedInterleaveDataset", several_start, directed_next, NULL);

static several_dataset *make_several(tw__kernel *kernel, const tw__dataset_kind *kind)
{
    several_dataset *self = tw__dataset_make(kernel, kind, false);
    if (self)
        self->inputs = tw__alloc_array((size_t)kernel->input_count + 1, sizeof *self->inputs);
    bool good = self && self->inputs;
    for (int i = 0; good && i < kernel->input_count; i++) {
        tw__dataset *input = tw__dataset_of(kernel->op->name, kernel->inputs[i]);
        good = input != NULL;
        if (!good)
            break;
        self->inputs[self->input_count++] = tw_retain(input);
        self->base.depth = input->depth >= self->base.depth ? input->depth + 1 : self->base.depth;
    }
    if (good && self->base.depth > 1000) {
        TW_OP_FAIL(kernel, TW_RESOURCE_EXHAUSTED, "datasets are nested more than 1000 deep");
        good = false;
    }
    if (good)
        return self;
    tw_release(self);
    return NULL;
}

static tw_status check_count(tw__kernel *kernel, const several_dataset *self, int first)
{
    for (int i = first; i < self->input_count; i++) {
        if (self->inputs[i]->count != self->base.count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input %d has elements of %d components, expected %d", i,
                              self->inputs[i]->count, self->base.count);
    }
    return TW_OK;
}

static tw_status give(tw__kernel *kernel, several_dataset *self, tw_status status)
{
    if (status == TW_OK)
        return tw__dataset_give(kernel, self);
    tw_release(self);
    return status;
}

static tw_status zip_compute(tw__kernel *kernel)
{
    several_dataset *self = make_several(kernel, &zip_kind);
    int count = 0;
    for (int i = 0; self && i < self->input_count; i++)
        count += self->inputs[i]->count;
    tw_status status = self ? TW_OK : tw__error_status();
    if (self && count != self->base.count)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the inputs have %d components, expected %d", count, self->base.count);
    return give(kernel, self, status);
}

static tw_status concatenate_compute(tw__kernel *kernel)
{
    several_dataset *self = make_several(kernel, &concatenate_kind);
    return give(kernel, self, self ? check_count(kernel, self, 0) : tw__error_status());
}

static tw_status directed_compute(tw__kernel *kernel)
{
    several_dataset *self = make_several(kernel, &directed_kind);
    tw_status status = self ? check_count(kernel, self, 1) : tw__error_status();
    if (self)
        self->stops = TW_ATTR(kernel, "stop_on_empty_dataset")->b;
    if (status == TW_OK && (self->inputs[0]->count != 1 || self->inputs[0]->dtypes[0] != TW_INT64))
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the selector must give int64 scalars");
    return give(kernel, self, status);
}

TW_OP(ZipDataset, .inputs = "input_datasets: N * variant", .attrs = TW_ELEMENTS ", N: int >= 1, metadata: string = ''",
      TW_DATASET_OP, .shape = tw__scalars_shape, .compute = zip_compute, .doc = "Elements of several datasets side by side.");

TW_OP(ConcatenateDataset, .inputs = "input_dataset: variant, another_dataset: variant",
      .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP, .shape = tw__scalars_shape, .compute = concatenate_compute,
      .doc = "One dataset behind the other.");

TW_OP(DirectedInterleaveDataset, .inputs = "selector_input_dataset: variant, data_input_datasets: N * variant",
      .attrs = TW_ELEMENTS ", N: int >= 1, stop_on_empty_dataset: bool = false", TW_DATASET_OP, .shape = tw__scalars_shape,
      .compute = directed_compute, .doc = "Elements of the datasets whose numbers the first one gives.");

/* ---- classes ---- */

static tw_tensor **variants_of(const struct tw_dataset *first, tw_objects datasets, int *count)
{
    tw_tensor **inputs = tw__alloc_array((size_t)datasets.count + 2, sizeof *inputs);
    *count = 0;
    if (inputs && first)
        inputs[(*count)++] = first->variant;
    for (int64_t i = 0; inputs && i < datasets.count; i++)
        inputs[(*count)++] = ((const struct tw_dataset *)datasets.items[i])->variant;
    return inputs;
}

static tw_status zip_init(void *self, const void *arguments)
{
    const tw_dataset_zip_args *args = arguments;
    int all = 0, count = 0;
    if (args->datasets.count < 1)
        return tw__fail(TW_TYPE_ERROR, "Dataset.zip: there are no datasets");
    for (int64_t i = 0; i < args->datasets.count; i++)
        all += ((const struct tw_dataset *)args->datasets.items[i])->count;
    tw__owned tw_spec *specs = tw__alloc_array((size_t)all + 1, sizeof *specs);
    int at = 0;
    for (int64_t i = 0; specs && i < args->datasets.count; i++) {
        const struct tw_dataset *d = args->datasets.items[i];
        for (int k = 0; k < d->count; k++)
            specs[at++] = d->specs[k];
    }
    tw__owned tw_tensor **inputs = variants_of(NULL, args->datasets, &count);
    return specs && inputs ? tw__dataset_apply(self, &tw__op_ZipDataset, inputs, count, NULL, 0, specs, all) : tw__error_status();
}

TW_CLASS(dataset_zip, "data._ZipDataset(datasets: list<dataset>) -> dataset", TW_STEP(zip_init),
         .doc = "Elements of several datasets side by side.");

static tw_status zip_leaf(__attribute__((unused)) void *context, const tw_value *leaf, tw_value *mapped)
{
    const struct tw_dataset *dataset = leaf->kind == TW_VALUE_OBJECT ? leaf->object : NULL;
    if (!dataset || !tw__is(dataset, &tw__class_dataset))
        return tw__fail(TW_TYPE_ERROR, "Dataset.zip: a structure of datasets is expected, found %s",
                        dataset ? tw_class_name(dataset) : "a value of another kind");
    *mapped = tw__value_copy(&dataset->structure);
    return mapped->kind == dataset->structure.kind ? TW_OK : tw__error_status();
}

TW_API(dataset_zip_structure, "data._zip(datasets: value<element>) -> dataset",
       "Elements of several datasets, in the structure in which the datasets are given.")
{
    tw_value structure = { .kind = TW_VALUE_NONE };
    int64_t count = 0;
    struct tw_dataset *made = NULL;
    if (tw__structure_map(&args->datasets, zip_leaf, NULL, &structure) != TW_OK)
        return NULL;
    const tw_value **leaves = tw__structure_leaves(&args->datasets, &count);
    tw__owned void **datasets = leaves ? tw__alloc_array((size_t)count + 1, sizeof *datasets) : NULL;
    for (int64_t i = 0; datasets && i < count; i++)
        datasets[i] = leaves[i]->object;
    if (datasets)
        made = tw_class_make(&tw__class_dataset_zip, &(tw_dataset_zip_args){ .datasets = { datasets, count } });
    tw__free((void *)leaves);
    if (made && tw__dataset_settle(made, TW_OK, structure, true) == TW_OK)
        return made;
    tw_value_free(&structure);
    return NULL;
}

/* What holds of the elements of all: dtypes must be equal, dimensions that differ are unknown. */
static tw_spec *common_specs(tw_objects datasets, const char *who)
{
    const struct tw_dataset *first = datasets.items[0];
    tw__owned tw_spec *specs = tw__alloc_array((size_t)first->count + 1, sizeof *specs);
    if (!specs)
        return NULL;
    for (int k = 0; k < first->count; k++)
        specs[k] = first->specs[k];
    for (int64_t i = 1; i < datasets.count; i++) {
        const struct tw_dataset *other = datasets.items[i];
        if (other->count != first->count) {
            tw__fail(TW_TYPE_ERROR, "%s: elements of %d and of %d components", who, first->count, other->count);
            return NULL;
        }
        for (int k = 0; k < first->count; k++) {
            tw_shape *s = &specs[k].shape;
            const tw_shape *o = &other->specs[k].shape;
            if (specs[k].dtype != other->specs[k].dtype) {
                tw__fail(TW_TYPE_ERROR, "%s: component %d is %s and %s", who, k, tw_dtype_name(specs[k].dtype),
                         tw_dtype_name(other->specs[k].dtype));
                return NULL;
            }
            if (s->rank != o->rank)
                *s = TW_UNKNOWN_SHAPE;
            for (int d = 0; d < s->rank; d++)
                s->dims[d] = s->dims[d] == o->dims[d] ? s->dims[d] : -1;
        }
    }
    return TW_TAKE(specs);
}

static tw_status concatenate_init(void *self, const void *arguments)
{
    const tw_dataset_concatenate_args *args = arguments;
    if (!tw__element_fits(&args->self->structure, &args->dataset->structure)) {
        tw__owned char *own = tw__element_text(&args->self->structure), *other = tw__element_text(&args->dataset->structure);
        tw__fail(TW_TYPE_ERROR, "Incompatible dataset elements:\n  %s vs.   %s", own ? own : "", other ? other : "");
        return tw__error_status();
    }
    tw_spec *specs = common_specs(TW_OBJECTS(args->self, args->dataset), "Dataset.concatenate");
    TW_NEED(specs);
    return tw__dataset_step(self, args->self, specs, &tw__op_ConcatenateDataset, TW_IN(tw_retain(args->dataset->variant)), 1,
                            NULL, 0);
}

TW_CLASS(
    dataset_concatenate,
    "data._ConcatenateDataset|data.Dataset.concatenate(self: dataset, dataset: dataset, name: str = None) -> dataset",
    TW_STEP(concatenate_init),
    .doc =
        "One dataset behind the other.\n"
        "dataset: the dataset that follows; its elements must be of the same kinds\n"
        "example: list(tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(5, 7)).as_numpy_iterator())  # [0, 1, 5, 6]");

static tw_status choose_init(void *self, const void *arguments)
{
    const tw_dataset_choose_args *args = arguments;
    int count = 0;
    if (args->datasets.count < 1)
        return tw__fail(TW_VALUE_ERROR, "Invalid `datasets`. `datasets` should not be empty.");
    tw__owned tw_spec *specs = common_specs(args->datasets, "Dataset.choose_from_datasets");
    tw__owned tw_tensor **inputs = specs ? variants_of(args->choice_dataset, args->datasets, &count) : NULL;
    tw_status status = inputs ? tw__dataset_apply(self, &tw__op_DirectedInterleaveDataset, inputs, count,
                                                  TW_WITH(TW_A_BOOL("stop_on_empty_dataset", args->stop_on_empty_dataset)), 1,
                                                  specs, ((const struct tw_dataset *)args->datasets.items[0])->count)
                              : tw__error_status();
    return tw__dataset_settle(self, status, tw__value_copy(&((const struct tw_dataset *)args->datasets.items[0])->structure),
                              false);
}

TW_CLASS(
    dataset_choose,
    "data._DirectedInterleaveDataset(choice_dataset: dataset, datasets: list<dataset>, stop_on_empty_dataset: bool = False) -> dataset",
    TW_STEP(choose_init), .doc = "Elements of the datasets whose numbers choice_dataset gives.");

TW_METHOD(dataset_enumerate, "data.Dataset.enumerate(self: dataset, start: int = 0, name: str = None) -> dataset",
          "Elements with their numbers.\n"
          "example: list(tf.data.Dataset.range(5, 7).enumerate().as_numpy_iterator())  # [(0, 5), (1, 6)]")
{
    tw_auto struct tw_dataset *numbers =
        tw_class_make(&tw__class_dataset_range,
                      &(tw_dataset_range_args){ .start = args->start, .stop = INT64_MAX, .step = 1, .output_type = TW_INT64 });
    tw_value both[] = { { .kind = TW_VALUE_OBJECT, .object = numbers }, { .kind = TW_VALUE_OBJECT, .object = args->self } };
    return numbers ? tw__impl_dataset_zip_structure(&(tw_dataset_zip_structure_args){
                         .datasets = { .kind = TW_VALUE_TUPLE, .list = { .items = both, .count = 2 } } })
                   : NULL;
}
