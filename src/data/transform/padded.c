/* padded_batch: elements of different shapes stacked, the smaller ones filled up. */
#include "data/compose.h"
#include "data/state.h"
#include "op/calls.h"
#include "op/list/list.h"
#include "api/tensor_spec.h"
#include "rows.h"

typedef struct padded_dataset {
    tw__dataset base;
    int64_t size;
    bool drop_remainder;
    tw_shape *padded;   /* per component; -1: as much as the largest needs */
    tw_tensor **values; /* what is put in */
} padded_dataset;

static void padded_destroy(void *pointer)
{
    padded_dataset *self = pointer;
    for (int i = 0; self->values && i < self->base.count; i++)
        tw_release(self->values[i]);
    tw__free(self->values);
    tw__free(self->padded);
}

/* Copies `from` into the corner of a block of shape `to` that begins at `at` elements. */
static tw_status put_corner(tw_tensor *out, int64_t at, const tw_shape *to, const tw_tensor *from)
{
    if (!from->count)
        return TW_OK;
    int rank = to->rank;
    int64_t row = rank ? from->shape.dims[rank - 1] : 1, index[TW_MAX_RANK] = { 0 };
    for (int64_t start = 0; start < from->count; start += row) {
        int64_t place = 0;
        for (int d = 0; d < rank; d++)
            place = place * to->dims[d] + index[d];
        TW_TRY(tw__list_copy_elements(out, at + place, from, start, row));
        for (int d = rank - 2; d >= 0; d--) {
            if (++index[d] < from->shape.dims[d])
                break;
            index[d] = 0;
        }
    }
    return TW_OK;
}

static tw_status pad_one(const padded_dataset *self, tw_tensor *const *items, int64_t size, int k, tw_tensor **stacked)
{
    tw_shape shape = self->padded[k];
    int count = self->base.count;
    for (int64_t i = 0; i < size; i++) {
        const tw_shape *item = &items[i * count + k]->shape;
        if (item->rank != shape.rank)
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "All elements in a batch must have the same rank as the padded shape for component%d: expected rank %d but "
                "got element with rank %d",
                k, shape.rank, item->rank);
        for (int d = 0; d < shape.rank; d++) {
            if (self->padded[k].dims[d] < 0)
                shape.dims[d] = item->dims[d] > shape.dims[d] ? item->dims[d] : shape.dims[d];
            else if (item->dims[d] > shape.dims[d])
                return tw__fail(TW_DATA_LOSS, "Attempted to pad to a smaller size than the input element.");
        }
    }
    tw_shape whole = tw__shape_stacked(&shape, size);
    int64_t each = 0;
    if (whole.rank < 0)
        return tw__fail(TW_UNIMPLEMENTED, "PaddedBatchDatasetV2: tensors of rank %d", shape.rank);
    TW_TRY(tw__shape_count(&shape, &each));
    tw_auto tw_tensor *out = tw__tensor_empty(self->base.dtypes[k], &whole);
    TW_NEED(out);
    for (int64_t i = 0; i < out->count; i++)
        TW_TRY(tw__list_copy_elements(out, i, self->values[k], 0, 1));
    for (int64_t i = 0; i < size; i++)
        TW_TRY(put_corner(out, i * each, &shape, items[i * count + k]));
    *stacked = TW_TAKE(out);
    return TW_OK;
}

static tw_status padded_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const padded_dataset *self = (const padded_dataset *)cursor->dataset;
    tw__auto(tw__elements_free) tw__elements elements = { .count = self->base.count };
    TW_TRY(tw__elements_fill(&elements, cursor->input, self->size));
    *end = elements.size == 0 || (self->drop_remainder && (int64_t)elements.size < self->size);
    for (int k = 0; !*end && k < self->base.count; k++) {
        tw_status status = pad_one(self, elements.items, (int64_t)elements.size, k, &element[k]);
        if (status != TW_OK)
            tw__element_end(element, k);
        TW_TRY(status);
    }
    return TW_OK;
}

static int64_t padded_cardinality(tw__dataset *dataset)
{
    const padded_dataset *self = (const padded_dataset *)dataset;
    int64_t n = tw__dataset_cardinality(dataset->input);
    return n < 0 ? n : n / self->size + (!self->drop_remainder && n % self->size);
}

static void padded_state(tw__cursor *cursor, tw__state *state)
{
    const padded_dataset *self = (const padded_dataset *)cursor->dataset;
    tw__state_same(state, "batch_size", self->size);
    tw__state_same(state, "drop_remainder", self->drop_remainder);
}

static const tw__dataset_kind padded_kind = {
    .class = TW_DATASET_CLASS("PaddedBatchDataset", padded_dataset, padded_destroy),
    .next = padded_next,
    .cardinality = padded_cardinality,
    .state = padded_state,
};

static tw_status read_padding(tw__kernel *kernel, padded_dataset *self)
{
    int count = self->base.count;
    self->padded = tw__alloc_array((size_t)count + 1, sizeof *self->padded);
    self->values = tw__alloc_array((size_t)count + 1, sizeof *self->values);
    TW_NEED(self->padded && self->values);
    if (kernel->input_count != 2 * count + 3 || self->base.input->count != count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d inputs for elements of %d components", kernel->input_count, count);
    for (int k = 0; k < count; k++) {
        const tw_tensor *dims = kernel->inputs[2 + k], *value = kernel->inputs[2 + count + k];
        if (dims->shape.rank != 1 || dims->count > TW_MAX_RANK)
            return tw__fail(TW_INVALID_ARGUMENT, "All padded_shapes must be vectors");
        if (value->shape.rank != 0 || value->dtype != self->base.input->dtypes[k])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "All padding_values must be scalars of the components' dtypes");
        self->padded[k].rank = (int32_t)dims->count;
        for (int d = 0; d < dims->count; d++) {
            self->padded[k].dims[d] = tw_tensor_int_at(dims, d);
            if (self->padded[k].dims[d] < -1)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a padded dimension of %lld", (long long)self->padded[k].dims[d]);
        }
        self->values[k] = tw_retain(kernel->inputs[2 + count + k]);
    }
    return TW_OK;
}

static tw_status padded_compute(tw__kernel *kernel)
{
    tw_auto padded_dataset *self = tw__dataset_make(kernel, &padded_kind, true);
    TW_NEED(self);
    self->size = tw_tensor_int_at(kernel->inputs[1], 0);
    self->drop_remainder = *(const bool *)kernel->inputs[kernel->input_count - 1]->data;
    TW_TRY(read_padding(kernel, self));
    if (self->size < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Batch size must be greater than zero.");
    return tw__dataset_give(kernel, TW_TAKE(self));
}

TW_OP(
    PaddedBatchDatasetV2,
    .inputs =
        "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types, drop_remainder: bool",
    .attrs =
        "parallel_copy: bool = false, Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1, N: int >= 1, metadata: string = ''",
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = padded_compute, .doc = "Elements stacked, smaller ones filled up.");

/* ---- the method ---- */

typedef struct padding {
    const struct tw_dataset *input;
    tw_tensor **shapes, **values; /* per component; references */
    int count;                    /* of the components that have been seen */
    tw_tensor *filler;            /* the size of open dimensions, an int64 scalar; NULL: the largest of the batch */
} padding;

static tw_status not_nested_alike(const padding *p, const char *what)
{
    tw__owned char *text = tw__element_text(&p->input->structure);
    return tw__fail(TW_TYPE_ERROR, "the %s are not nested like the elements: %s", what, text ? text : "");
}

static tw_status read_size(const tw_value *given, int64_t *size)
{
    bool tensor = given->kind == TW_VALUE_TENSOR && given->tensor->data && given->tensor->count == 1 &&
                  tw__dtype_is_integer(given->tensor->dtype);
    if (given->kind != TW_VALUE_NONE && given->kind != TW_VALUE_INT && !tensor)
        return tw__fail(TW_TYPE_ERROR, "padded_shapes: a dimension must be an integer or None");
    *size = given->kind == TW_VALUE_NONE ? -1 : tensor ? tw_tensor_int_at(given->tensor, 0) : given->i;
    return TW_OK;
}

/* The shape that a value says: a list of sizes, one size, a shape; None: the component's own. */
static tw_status read_shape(const tw_value *given, const tw_shape *own, tw_shape *shape)
{
    *shape = given->kind == TW_VALUE_SHAPE ? *given->shape : given->kind == TW_VALUE_NONE ? *own : (tw_shape){ .rank = 1 };
    if (given->kind == TW_VALUE_INT)
        return read_size(given, &shape->dims[0]);
    if (given->kind == TW_VALUE_SHAPE || given->kind == TW_VALUE_NONE)
        return TW_OK;
    if ((given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE) || given->list.count > TW_MAX_RANK)
        return tw__fail(TW_TYPE_ERROR, "padded_shapes: a shape is expected for every component");
    shape->rank = (int32_t)given->list.count;
    for (int d = 0; d < shape->rank; d++)
        TW_TRY(read_size(&given->list.items[d], &shape->dims[d]));
    return TW_OK;
}

static tw_tensor *shape_tensor(const tw_value *given, const tw_shape *own)
{
    tw_shape shape = TW_UNKNOWN_SHAPE;
    if (given->kind == TW_VALUE_TENSOR && given->tensor->shape.rank != 0) {
        if (given->tensor->dtype == TW_INT64)
            return tw_retain(given->tensor);
        tw__auto(tw__text_free) tw__text text = { 0 };
        tw__tensor_text(&text, given->tensor);
        tw__fail(TW_TYPE_ERROR, "Padded shape %s must be a `tf.int64` vector tensor, but its type was %s.",
                 text.data ? text.data : "", tw_dtype_name(given->tensor->dtype));
        return NULL;
    }
    if (read_shape(given, own, &shape) != TW_OK)
        return NULL;
    bool fits = own->rank < 0 || shape.rank == own->rank;
    for (int d = 0; fits && d < shape.rank && own->rank >= 0; d++)
        fits = shape.dims[d] < 0 || own->dims[d] < 0 || own->dims[d] <= shape.dims[d];
    if (shape.rank < 0) {
        tw__fail(TW_VALUE_ERROR, "the padded shape of a component has unknown rank");
        return NULL;
    }
    if (fits)
        return tw_tensor_new(TW_INT64, TW_SHAPE(shape.rank), shape.dims);
    tw__owned char *wanted = tw__shape_tuple(&shape), *is = tw__shape_tuple(own);
    tw__fail(TW_VALUE_ERROR, "The padded shape %s is not compatible with the shape %s of the corresponding input component.",
             wanted ? wanted : "", is ? is : "");
    return NULL;
}

/* The sizes with the filler in the place of open ones; takes them. */
static tw_tensor *filled(tw_tensor *sizes, tw_tensor *filler)
{
    TW_TEMPS(t);
    tw__temp(t, sizes);
    if (!sizes || !filler || !sizes->data || !sizes->count)
        return tw__keep(t, sizes);
    tw_tensor *parts[TW_MAX_RANK];
    for (int64_t d = 0; d < sizes->count; d++) {
        int64_t size = tw_tensor_int_at(sizes, d);
        parts[d] = size < 0 ? filler : tw__temp_int(t, size, TW_INT64);
        if (!parts[d])
            return NULL;
    }
    return tw__call(&tw__op_Pack, parts, (int)sizes->count, (tw_attr[]){ TW_A_INT("axis", 0) }, 1);
}

/* What a component is filled up with; None: zeros, or empty texts. */
static tw_tensor *value_tensor(const tw_value *given, tw_dtype dtype)
{
    if (given->kind == TW_VALUE_NONE && dtype == TW_STRING)
        return tw_tensor_string("", 0);
    if (given->kind == TW_VALUE_NONE) {
        tw_auto tw_tensor *zero = tw_tensor_int(0);
        return zero ? TW_CALL(Cast, zero, TW_A_TYPE("DstT", dtype)) : NULL;
    }
    tw_auto tw_tensor *value = tw__value_tensor(given, TW_DTYPE_NONE, "padding_values");
    if (value && value->dtype == dtype && value->shape.rank == 0)
        return tw_retain(value);
    tw__auto(tw__text_free) tw__text text = { 0 };
    if (value)
        tw__tensor_text(&text, value);
    if (value && value->shape.rank != 0)
        tw__fail(TW_VALUE_ERROR, "Padding value %s should be a scalar.", text.data ? text.data : "");
    else if (value)
        tw__fail(
            TW_TYPE_ERROR,
            "Invalid `padding_values`. `padding_values` values type <dtype: '%s'> does not match type <dtype: '%s'> of the corresponding input "
            "component.",
            tw_dtype_name(value->dtype), tw_dtype_name(dtype));
    return NULL;
}

/* The member of what is given that belongs to a member of the elements' structure; NULL: there is none. */
static const tw_value *member_of(const tw_value *given, const tw_value *structure, int64_t at)
{
    if (structure->kind != TW_VALUE_DICT)
        return (given->kind == TW_VALUE_TUPLE || given->kind == TW_VALUE_LIST) && given->list.count == structure->list.count
                   ? &given->list.items[at]
                   : NULL;
    const tw_value *key = &structure->list.items[at - 1];
    for (int64_t i = 0; given->kind == TW_VALUE_DICT && given->list.count == structure->list.count && i + 1 < given->list.count;
         i += 2) {
        const tw_value *own = &given->list.items[i];
        bool same =
            own->kind == key->kind &&
            (key->kind == TW_VALUE_INT ? own->i == key->i
                                       : own->s.size == key->s.size && memcmp(own->s.data, key->s.data, key->s.size) == 0);
        if (same)
            return &given->list.items[i + 1];
    }
    return NULL;
}

/* Shapes (values: false) or values of the structure's components. */
static tw_status read_given(padding *p, const tw_value *structure, const tw_value *given, bool values)
{
    static const tw_value none = { .kind = TW_VALUE_NONE };
    bool all = given->kind == TW_VALUE_NONE || (values && given->kind != TW_VALUE_TUPLE && given->kind != TW_VALUE_DICT);
    if (!tw__is_nested(structure)) {
        const tw_tensor_spec *spec = structure->object;
        tw_tensor *made = values ? value_tensor(given, spec->dtype) : filled(shape_tensor(given, &spec->shape), p->filler);
        TW_NEED(made);
        (values ? p->values : p->shapes)[p->count++] = made;
        return TW_OK;
    }
    int64_t step = structure->kind == TW_VALUE_DICT ? 2 : 1;
    for (int64_t i = step - 1; i < structure->list.count; i += step) {
        const tw_value *own = given->kind == TW_VALUE_NONE ? &none : all ? given : member_of(given, structure, i);
        if (!own)
            return not_nested_alike(p, values ? "padding_values" : "padded_shapes");
        TW_TRY(read_given(p, &structure->list.items[i], own, values));
    }
    return TW_OK;
}

static tw_status check_component(void *context, const tw_value *leaf)
{
    const tw_value *shapes = context;
    if (!tw__is(leaf->object, &tw__class_tensor_spec)) {
        tw__owned char *text = tw__spec_text(leaf->object);
        tw__fail(
            TW_TYPE_ERROR,
            "`padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in the input dataset is not "
            "a subclass of TensorSpec: `%s`.",
            text ? text : "");
        return tw__error_status();
    }
    return shapes->kind == TW_VALUE_NONE && ((const tw_tensor_spec *)leaf->object)->shape.rank < 0 ? TW_OUT_OF_RANGE : TW_OK;
}

static tw_status check_components(const struct tw_dataset *input, const tw_value *shapes)
{
    tw_status status = tw__structure_each(&input->structure, check_component, (void *)(uintptr_t)shapes);
    for (int i = 0; status == TW_OUT_OF_RANGE && i < input->count; i++) {
        if (input->specs[i].shape.rank < 0)
            return tw__fail(TW_VALUE_ERROR, "You must provide `padded_shapes` argument because component %d has unknown rank.",
                            i);
    }
    return status;
}

static tw_status apply_padded(struct tw_dataset *self, const padding *p, tw_tensor *size, bool drop_remainder)
{
    int count = p->input->count, all = 2 * count + 3;
    tw_auto tw_tensor *drop = tw_tensor_bool(drop_remainder);
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)all, sizeof *inputs);
    tw__owned tw_spec *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    tw_status status = drop && inputs && specs ? TW_OK : tw__error_status();
    int64_t known = drop_remainder && size->data ? tw_tensor_int_at(size, 0) : -1;
    for (int i = 0; status == TW_OK && i < count; i++) {
        tw_shape shape = tw__static_shape(p->shapes[i]);
        specs[i] = (tw_spec){ p->input->specs[i].dtype, tw__shape_stacked(&shape, known) };
        inputs[2 + i] = p->shapes[i];
        inputs[2 + count + i] = p->values[i];
    }
    if (status == TW_OK) {
        inputs[0] = p->input->variant;
        inputs[1] = size;
        inputs[all - 1] = drop;
        status = tw__dataset_apply(self, &tw__op_PaddedBatchDatasetV2, inputs, all, NULL, 0, specs, count);
    }
    return tw__dataset_settle(self, status, tw__value_copy(&p->input->structure), false);
}

static tw_status pad(void *self, const tw_dataset_padded_batch_args *args, tw_tensor *filler)
{
    padding p = { .input = args->self, .filler = filler };
    TW_TRY(check_components(p.input, &args->padded_shapes));
    tw_auto tw_tensor *size = tw__data_number(args->batch_size, args->batch_size_object, "batch_size");
    p.shapes = tw__alloc_array((size_t)p.input->count + 1, sizeof *p.shapes);
    p.values = tw__alloc_array((size_t)p.input->count + 1, sizeof *p.values);
    tw_status status =
        size && p.shapes && p.values ? read_given(&p, &p.input->structure, &args->padded_shapes, false) : tw__error_status();
    int shapes = p.count;
    p.count = 0;
    if (status == TW_OK)
        status = read_given(&p, &p.input->structure, &args->padding_values, true);
    if (status == TW_OK)
        status = apply_padded(self, &p, size, args->drop_remainder);
    tw__element_tensors_free(p.shapes, shapes);
    tw__element_tensors_free(p.values, p.count);
    return status;
}

static tw_status padded_init(void *self, const void *arguments)
{
    return pad(self, arguments, NULL);
}

struct tw_dataset *tw__data_padded(const tw_dataset_padded_batch_args *args, tw_tensor *filler)
{
    struct tw_dataset *made = tw__object_new(&tw__class_dataset_padded_batch);
    if (made && pad(made, args, filler) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

TW_CLASS(
    dataset_padded_batch,
    "data._PaddedBatchDataset|data.Dataset.padded_batch(self: dataset, batch_size: number, padded_shapes: value = None, padding_values: value "
    "= None, drop_remainder: bool = False, name: str = None) -> dataset",
    TW_STEP(padded_init),
    .doc =
        "Elements of different shapes stacked, smaller ones filled up.\n"
        "padded_shapes: the shapes that they are filled up to, in a structure like the elements'; -1 or None: to the largest of the batch\n"
        "padding_values: what they are filled with, a scalar for each component; None: zeros or empty texts\n"
        "example: d = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))\n"
        "example: next(d.padded_batch(2).as_numpy_iterator()).tolist()  # [[1, 0], [2, 2]]");
