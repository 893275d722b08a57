/* Datasets of tensors that are there: one element (TensorDataset), the rows of tensors (TensorSliceDataset), and numbers
 * (RangeDataset). */
#include "data/state.h"
#include "op/calls.h"
#include "rows.h"

/* ---- TensorDataset and TensorSliceDataset ---- */

typedef struct tensors_dataset {
    tw__dataset base;
    tw_tensor **tensors; /* base.count of them */
    int64_t rows;
} tensors_dataset;

typedef struct tensors_cursor {
    tw__cursor base;
    int64_t at;
} tensors_cursor;

static void tensors_destroy(void *pointer)
{
    tensors_dataset *self = pointer;
    for (int i = 0; self->tensors && i < self->base.count; i++)
        tw_release(self->tensors[i]);
    tw__free(self->tensors);
}

static tw_status hold_tensors(tw__kernel *kernel, tensors_dataset *self)
{
    self->tensors = tw__alloc_array((size_t)kernel->input_count + 1, sizeof *self->tensors);
    TW_NEED(self->tensors);
    if (kernel->input_count != self->base.count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d components for elements of %d", kernel->input_count, self->base.count);
    for (int i = 0; i < kernel->input_count; i++)
        self->tensors[i] = tw_retain(kernel->inputs[i]);
    return TW_OK;
}

static tw_status whole_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    tensors_cursor *c = (tensors_cursor *)cursor;
    const tensors_dataset *self = (const tensors_dataset *)cursor->dataset;
    *end = c->at++ > 0;
    for (int i = 0; !*end && i < self->base.count; i++)
        element[i] = tw_retain(self->tensors[i]);
    return TW_OK;
}

static int64_t rows_cardinality(tw__dataset *dataset)
{
    return ((tensors_dataset *)dataset)->rows;
}

static tw_status slice_rows(tw__cursor *cursor, int64_t limit, bool single, tw_tensor **element, int64_t *got)
{
    tensors_cursor *c = (tensors_cursor *)cursor;
    const tensors_dataset *self = (const tensors_dataset *)cursor->dataset;
    int64_t left = self->rows - c->at;
    *got = left < limit ? left : limit;
    for (int i = 0; *got && i < self->base.count; i++) {
        tw_tensor *whole = self->tensors[i];
        tw_shape shape = tw__shape_row(&whole->shape);
        int64_t row = whole->count / self->rows;
        if (!single)
            shape = tw__shape_stacked(&shape, *got);
        element[i] = tw__tensor_slice_view(whole, &shape, c->at * row);
        if (!element[i]) {
            tw__element_end(element, i);
            return tw__error_status();
        }
    }
    c->at += *got;
    return TW_OK;
}

static tw_status slices_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    int64_t got = 0;
    TW_TRY(slice_rows(cursor, 1, true, element, &got));
    *end = !got;
    return TW_OK;
}

static tw_status slices_rows(tw__cursor *cursor, int64_t limit, tw_tensor **element, int64_t *got)
{
    return slice_rows(cursor, limit, false, element, got);
}

static void at_state(tw__cursor *cursor, tw__state *state)
{
    const tensors_dataset *self = (const tensors_dataset *)cursor->dataset;
    int64_t *at = &((tensors_cursor *)cursor)->at;
    tw__state_same(state, "rows", self->rows);
    tw__state_int(state, "at", at);
    if (tw__state_good(state) && (*at < 0 || *at > self->rows + 1))
        tw__state_fail(state, TW_DATA_LOSS, "row %lld of %lld", (long long)*at, (long long)self->rows);
}

static const tw__dataset_kind whole_kind = {
    .class = TW_DATASET_CLASS("TensorDataset", tensors_dataset, tensors_destroy),
    .cursor_size = sizeof(tensors_cursor),
    .next = whole_next,
    .cardinality = rows_cardinality,
    .state = at_state,
};
static const tw__dataset_kind slices_kind = {
    .class = TW_DATASET_CLASS("TensorSliceDataset", tensors_dataset, tensors_destroy),
    .cursor_size = sizeof(tensors_cursor),
    .next = slices_next,
    .cardinality = rows_cardinality,
    .rows = slices_rows,
    .state = at_state,
};

static tw_status whole_compute(tw__kernel *kernel)
{
    tensors_dataset *self = tw__dataset_make(kernel, &whole_kind, false);
    if (self && hold_tensors(kernel, self) != TW_OK) {
        tw_release(self);
        return tw__error_status();
    }
    if (self)
        self->rows = 1;
    return tw__dataset_give(kernel, self);
}

static tw_status check_rows(tw__kernel *kernel, tensors_dataset *self)
{
    for (int i = 0; i < self->base.count; i++) {
        const tw_shape *shape = &kernel->inputs[i]->shape;
        if (shape->rank < 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "component %d is a scalar; all components must be at least 1-dimensional", i);
        if (i && shape->dims[0] != self->rows)
            return TW_OP_FAIL(
                kernel, TW_INVALID_ARGUMENT,
                "All components must have the same size in the 0th dimension: component 0 has %lld, component %d has %lld",
                (long long)self->rows, i, (long long)shape->dims[0]);
        self->rows = shape->dims[0];
    }
    return TW_OK;
}

static tw_status slices_compute(tw__kernel *kernel)
{
    tensors_dataset *self = tw__dataset_make(kernel, &slices_kind, false);
    if (self && (hold_tensors(kernel, self) != TW_OK || check_rows(kernel, self) != TW_OK)) {
        tw_release(self);
        return tw__error_status();
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(TensorDataset, .inputs = "components: Toutput_types", .outputs = "handle: variant",
      .attrs = "Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = ''", .shape = tw_shape_scalar,
      .compute = whole_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The dataset of one element.");

TW_OP(TensorSliceDataset, .inputs = "components: Toutput_types", .outputs = "handle: variant",
      .attrs = "Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1, is_files: bool = false, metadata: string = '', "
               "replicate_on_split: bool = false",
      .shape = tw_shape_scalar, .compute = slices_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The dataset of the tensors' rows.");

static tw_status apply_tensors(struct tw_dataset *self, const tw_op *op, tw_tensor *const *tensors, int count, bool rows)
{
    tw__owned tw_spec *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    TW_NEED(specs);
    int64_t known = -1;
    for (int i = 0; i < count; i++) {
        const tw_shape *shape = &tensors[i]->shape;
        specs[i] = (tw_spec){ tensors[i]->dtype, rows ? tw__shape_row(shape) : *shape };
        if (rows && shape->rank == 0)
            return tw__fail(TW_VALUE_ERROR, "Unbatching a tensor is only supported for rank >= 1");
        else if (rows && shape->rank > 0 && known >= 0 && shape->dims[0] >= 0 && shape->dims[0] != known)
            return tw__fail(TW_VALUE_ERROR, "Dimensions %lld and %lld are not compatible", (long long)known,
                            (long long)shape->dims[0]);
        else if (rows && shape->rank > 0 && known < 0)
            known = shape->dims[0];
    }
    return tw__dataset_apply(self, op, tensors, count, NULL, 0, specs, count);
}

static tw_status whole_init(void *self, const void *arguments)
{
    tw_tensors tensors = ((const tw_dataset_from_tensors_args *)arguments)->tensors;
    return apply_tensors(self, &tw__op_TensorDataset, tensors.items, (int)tensors.count, false);
}

TW_CLASS(dataset_from_tensors, "data._TensorDataset(tensors: tensors) -> dataset", TW_STEP(whole_init),
         .doc = "A dataset of one element.");

static tw_status slices_init(void *self, const void *arguments)
{
    tw_tensors tensors = ((const tw_dataset_from_tensor_slices_args *)arguments)->tensors;
    return apply_tensors(self, &tw__op_TensorSliceDataset, tensors.items, (int)tensors.count, true);
}

TW_CLASS(dataset_from_tensor_slices, "data._TensorSliceDataset(tensors: tensors) -> dataset", TW_STEP(slices_init),
         .doc = "A dataset of the rows of tensors.");

/* The value that an argument is, with the members of its dicts in order; the caller's. */
static tw_status settled(const tw_value *given, tw_value *value)
{
    *value = tw__value_copy(given);
    return value->kind == given->kind ? tw__structure_settle(value) : tw__error_status();
}

TW_API(dataset_from_structure, "data.Dataset.from_tensors(tensors: value<element>, name: str = None) -> dataset",
       "A dataset of one element: a tensor, or a structure of tensors (tuples and dicts).\n"
       "tensors: a tensor, or tensors in tuples and dicts\n"
       "example: tf.data.Dataset.from_tensors([1, 2, 3]).cardinality().numpy()  # 1")
{
    tw_value value, structure = { .kind = TW_VALUE_NONE };
    int count = 0;
    struct tw_dataset *made = NULL;
    tw_tensor **tensors = NULL;
    if (settled(&args->tensors, &value) == TW_OK && tw__element_structure(&value, &structure) == TW_OK)
        tensors = tw__element_tensors(&value, &structure, &count);
    if (tensors)
        made = tw_class_make(&tw__class_dataset_from_tensors, &(tw_dataset_from_tensors_args){ .tensors = { tensors, count } });
    tw__element_tensors_free(tensors, count);
    tw_value_free(&value);
    if (made && tw__dataset_settle(made, TW_OK, structure, false) == TW_OK)
        return made;
    if (!made)
        tw_value_free(&structure);
    tw_release(made);
    return NULL;
}

static tw_status find_tensor(void *context, const tw_value *leaf)
{
    *(bool *)context |= leaf->kind != TW_VALUE_NONE;
    return TW_OK;
}

TW_API(dataset_rows_of_structure, "data.Dataset.from_tensor_slices(tensors: value<element>, name: str = None) -> dataset",
       "A dataset of the rows of a tensor, or of a structure of tensors (tuples and dicts).\n"
       "tensors: a tensor, or tensors in tuples and dicts; all have the same first dimension\n"
       "raises: ValueError: the first dimensions differ, or a tensor is a scalar\n"
       "example: list(tf.data.Dataset.from_tensor_slices([1, 2, 3]).as_numpy_iterator())  # [1, 2, 3]")
{
    tw_value value, row = { .kind = TW_VALUE_NONE };
    int count = 0;
    bool any = false, composite = false;
    struct tw_dataset *made = NULL;
    tw_tensor **tensors = NULL;
    if (settled(&args->tensors, &value) == TW_OK && tw__structure_each(&value, find_tensor, &any) == TW_OK && any)
        tensors = tw__element_rows(&value, &row, &count);
    else if (tw_error_code() == TW_OK)
        tw__fail(TW_VALUE_ERROR, "Invalid `element`. `element` should not be empty.");
    if (tensors) {
        composite = tw__element_is_composite(&row);
        made = tw_class_make(&tw__class_dataset_from_tensor_slices,
                             &(tw_dataset_from_tensor_slices_args){ .tensors = { tensors, count } });
    }
    tw__element_tensors_free(tensors, count);
    tw_value_free(&value);
    if (made && tw__dataset_settle(made, TW_OK, row, composite) == TW_OK)
        return made;
    if (!made)
        tw_value_free(&row);
    tw_release(made);
    return NULL;
}

/* ---- names of files ---- */

/* The error of a pattern that nothing fits, as TensorFlow's assertion words it. */
static tw_status no_files(const tw_tensor *pattern)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < pattern->count; i++) {
        tw_string one = tw_tensor_string_at(pattern, i);
        tw__text_format(&text, "%s%.*s", i ? ", " : "", (int)one.size, one.data);
    }
    return tw__fail(
        TW_INVALID_ARGUMENT,
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'No files matched pattern: %s'",
        text.data ? text.data : "");
}

TW_API(
    dataset_list_files,
    "data.Dataset.list_files(file_pattern: tensor<string>, shuffle: bool? = True, seed: int = None, name: str = None) -> dataset",
    "The names of the files that fit a pattern, or one of several, in an order that chance gives.\n"
    "file_pattern: a pattern with `*`, `?` and `[...]`, or several\n"
    "shuffle: False: in the order of the names; None counts as True\n"
    "raises: InvalidArgumentError: no file fits")
{
    tw_auto tw_tensor *found = TW_CALL(MatchingFiles, args->file_pattern);
    if (!found || (found->data && !found->count)) {
        if (found)
            no_files(args->file_pattern);
        return NULL;
    }
    struct tw_dataset *names =
        tw_class_make(&tw__class_dataset_from_tensor_slices, &(tw_dataset_from_tensor_slices_args){ .tensors = { &found, 1 } });
    if (!names || !args->shuffle)
        return names;
    tw_auto tw_tensor *sizes = TW_CALL(Shape, found, TW_A_TYPE("out_type", TW_INT64));
    tw_auto tw_tensor *one = tw_tensor_int64(1), *none = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL);
    tw_auto tw_tensor *number = sizes && one && none ? TW_CALL(Reshape, sizes, none) : NULL,
                      *buffer = number ? TW_CALL(Maximum, number, one) : NULL;
    struct tw_dataset *shuffled =
        buffer ? tw_class_make(&tw__class_dataset_shuffle, &(tw_dataset_shuffle_args){ .self = names,
                                                                                       .buffer_size_object = buffer,
                                                                                       .seed = args->seed,
                                                                                       .reshuffle_each_iteration = true })
               : NULL;
    tw_release(names);
    return shuffled;
}

/* ---- RangeDataset ---- */

typedef struct range_dataset {
    tw__dataset base;
    int64_t start, stop, step;
} range_dataset;

static uint64_t range_count(const range_dataset *self)
{
    uint64_t start = (uint64_t)self->start, stop = (uint64_t)self->stop;
    if (self->step > 0)
        return self->start < self->stop ? (stop - start - 1) / (uint64_t)self->step + 1 : 0;
    return self->start > self->stop ? (start - stop - 1) / -(uint64_t)self->step + 1 : 0;
}

static int64_t range_cardinality(tw__dataset *dataset)
{
    return (int64_t)range_count((range_dataset *)dataset);
}

static tw_status range_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    tensors_cursor *c = (tensors_cursor *)cursor;
    const range_dataset *self = (const range_dataset *)cursor->dataset;
    *end = (uint64_t)c->at >= range_count(self);
    if (*end)
        return TW_OK;
    int64_t value = (int64_t)((uint64_t)self->start + (uint64_t)c->at++ * (uint64_t)self->step);
    tw_tensor *number = tw_tensor_int64(value);
    if (number && self->base.dtypes[0] != TW_INT64) {
        tw_tensor *cast = TW_CALL(Cast, number, TW_A_TYPE("DstT", self->base.dtypes[0]));
        tw_release(number);
        number = cast;
    }
    element[0] = number;
    return number ? TW_OK : tw__error_status();
}

static void range_state(tw__cursor *cursor, tw__state *state)
{
    const range_dataset *self = (const range_dataset *)cursor->dataset;
    tw__state_same(state, "start", self->start);
    tw__state_same(state, "stop", self->stop);
    tw__state_same(state, "step", self->step);
    tw__state_int(state, "at", &((tensors_cursor *)cursor)->at);
}

static const tw__dataset_kind range_kind = {
    .class = TW_DATASET_CLASS("RangeDataset", range_dataset, NULL),
    .cursor_size = sizeof(tensors_cursor),
    .next = range_next,
    .cardinality = range_cardinality,
    .state = range_state,
};

static tw_status range_compute(tw__kernel *kernel)
{
    range_dataset *self = tw__dataset_make(kernel, &range_kind, false);
    if (self) {
        self->start = tw_tensor_int_at(kernel->inputs[0], 0);
        self->stop = tw_tensor_int_at(kernel->inputs[1], 0);
        self->step = tw_tensor_int_at(kernel->inputs[2], 0);
    }
    if (self && (self->step == 0 || self->base.count != 1)) {
        tw_release(self);
        return tw__fail(TW_INVALID_ARGUMENT, "step must be a non-zero integer.");
    }
    return tw__dataset_give(kernel, self);
}

static tw_status range_shape(tw__inference *inference)
{
    for (int i = 0; i < 3; i++)
        TW_TRY(tw__need_rank(inference, i, 0));
    return tw_shape_scalar(inference);
}

TW_OP(
    RangeDataset, .inputs = "start: int64, stop: int64, step: int64", .outputs = "handle: variant",
    .attrs =
        "output_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = '', replicate_on_split: bool = false",
    .shape = range_shape, .compute = range_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
    .doc = "The dataset of the numbers from start to stop, without stop.");

static tw_status range_init(void *self, const void *arguments)
{
    const tw_dataset_range_args *args = arguments;
    tw_tensor *inputs[3] = { tw_tensor_int64(args->start), tw_tensor_int64(args->stop), tw_tensor_int64(args->step) };
    tw_dtype dtype = args->output_type;
    tw_status status = TW_OK;
    for (int i = 0; i < 3; i++)
        status = inputs[i] ? status : tw__error_status();
    if (status == TW_OK && !tw__dtype_is_float(dtype) && !tw__dtype_is_integer(dtype))
        status = tw__fail(TW_TYPE_ERROR, "Dataset.range: output_type is %s, expected a number", tw_dtype_name(dtype));
    if (status == TW_OK)
        status = tw__dataset_apply(self, &tw__op_RangeDataset, inputs, 3, NULL, 0, &(tw_spec){ dtype, TW_SCALAR }, 1);
    for (int i = 0; i < 3; i++)
        tw_release(inputs[i]);
    return status;
}

TW_CLASS(dataset_range, "data._RangeDataset(start: int, stop: int, step: int = 1, output_type: dtype = int64) -> dataset",
         .parent = &tw__class_dataset, .size = sizeof(struct tw_dataset), .init = range_init, .drop_config = true,
         .doc = "A dataset of the numbers from start to stop, without stop.");
