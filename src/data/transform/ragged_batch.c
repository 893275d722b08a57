/* Elements of different shapes stacked as ragged tensors (ragged_batch) and as sparse ones (sparse_batch): elements are brought
 * into that form one by one, then batched. */
#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "api/tensor_spec.h"
#include "data/compose.h"
#include "rows.h"

static struct tw_dataset *batched(struct tw_dataset *input, double size, void *size_object, bool drop_remainder)
{
    tw_dataset_batch_args batch = TW_ARGS(dataset_batch, .self = input, .batch_size = size, .batch_size_object = size_object,
                                          .drop_remainder = drop_remainder);
    return input ? tw_class_make(&tw__class_dataset_batch, &batch) : NULL;
}

/* ---- ragged_batch ---- */

/* The spec of a tensor whose shape is not fully known is that of a ragged one, down to its last open dimension. */
static tw_status ragged_spec(void *context, const tw_value *leaf, tw_value *mapped)
{
    const tw_tensor_spec *spec = tw__is(leaf->object, &tw__class_tensor_spec) ? leaf->object : NULL;
    int last = -1;
    for (int i = 0; spec && i < spec->shape.rank; i++)
        last = spec->shape.dims[i] < 0 ? i : last;
    *mapped = (tw_value){ .kind = TW_VALUE_OBJECT,
                          .object = last < 0 ? tw_retain(leaf->object)
                                             : (void *)tw__ragged_spec_new(&spec->shape, spec->dtype, last,
                                                                           *(const tw_dtype *)context) };
    return mapped->object ? TW_OK : tw__error_status();
}

typedef struct ragged_walk {
    const tw_value **specs;
    int64_t at;
} ragged_walk;

/* A tensor as the variant that a ragged one is carried by. */
static tw_status ragged_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    ragged_walk *walk = context;
    const tw_value *structure = walk->specs[walk->at++];
    const tw_ragged_tensor_spec *spec = tw__element_leaf(structure, &tw__class_ragged_tensor_spec);
    if (!spec || leaf->kind != TW_VALUE_TENSOR) {
        *mapped = tw__value_copy(leaf);
        return mapped->kind == leaf->kind ? TW_OK : tw__error_status();
    }
    TW_TEMPS(t);
    tw_value value = *leaf;
    if (spec->ragged_rank)
        value = (tw_value){ .kind = TW_VALUE_OBJECT,
                            .object = tw__ragged_of_tensor(t, leaf->tensor, spec->ragged_rank, spec->splits_dtype) };
    int count = 0;
    tw_tensor **tensors = value.object ? tw__element_tensors(&value, structure, &count) : NULL;
    TW_NEED(tensors);
    *mapped = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(tensors[0]) };
    tw__element_tensors_free(tensors, count);
    return TW_OK;
}

static tw_status as_variants(void *structure, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    int64_t leaves = 0;
    tw__owned const tw_value **specs = tw__structure_leaves(structure, &leaves);
    TW_NEED(specs);
    return tw__structure_map(&arguments[0], ragged_leaf, &(ragged_walk){ specs, 0 }, result);
}

TW_METHOD(
    dataset_ragged_batch,
    "data.Dataset.ragged_batch(self: dataset, batch_size: number, drop_remainder: bool = False, row_splits_dtype: dtype = int64, "
    "name: str = None) -> dataset",
    "Elements of different shapes stacked as ragged tensors.")
{
    tw_dtype splits = args->row_splits_dtype;
    tw__auto(tw_value_free) tw_value structure = { .kind = TW_VALUE_NONE };
    if (tw__structure_map(&args->self->structure, ragged_spec, &splits, &structure) != TW_OK)
        return NULL;
    tw_auto struct tw_dataset *variants = tw__data_mapped(args->self, as_variants, &structure, &structure);
    return batched(variants, args->batch_size, args->batch_size_object, args->drop_remainder);
}

/* ---- sparse_batch ---- */

static tw_status does_not_fit(const tw_shape *shape, const tw_shape *row)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int i = 0; i < 2; i++) {
        const tw_shape *own = i ? row : shape;
        tw__text_add(&text, i ? " that is incompatible with the row shape (" : "Input element had shape (");
        for (int d = 0; d < own->rank; d++)
            tw__text_format(&text, "%s%lld", d ? "," : "[", (long long)own->dims[d]);
        tw__text_add(&text, own->rank ? "])" : "[])");
    }
    return tw__fail(TW_INVALID_ARGUMENT, "%s.", text.data ? text.data : "");
}

/* An error, when it runs, unless an element has the row's rank and is not larger. */
static tw_status check_row(tw__temps *t, tw_tensor *value, tw_tensor *sizes, tw_tensor *limits, const tw_shape *row)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__text_add(&text, "Input element had shape ({}) that is incompatible with the row shape ([");
    for (int d = 0; d < row->rank; d++)
        tw__text_format(&text, "%s%lld", d ? ", " : "", (long long)row->dims[d]);
    tw__text_add(&text, "]).");
    bool ranks = value->shape.rank < 0 || value->shape.rank == row->rank;
    tw_tensor *fits = ranks ? TW_TEMP(All, TW_TEMP(LessEqual, sizes, limits), 0) : tw__temp(t, tw_tensor_bool(false));
    tw_strings_format_args format = TW_ARGS(strings_format, .template_ = text.data, .inputs = { &sizes, 1 }, .placeholder = "{}");
    tw_tensor *words = fits && sizes ? tw__temp(t, tw__impl_strings_format(&format)) : NULL;
    TW_NEED(words);
    tw_debugging_assert_args check = TW_ARGS(debugging_assert, .condition = fits, .data = { &words, 1 });
    tw_value checked = tw__impl_debugging_assert(&check);
    tw_value_free(&checked);
    return tw_error_code();
}

static tw_status as_sparse(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    const tw_shape *row = user;
    TW_TEMPS(t);
    tw_shape limits = *row;
    if (arguments[0].kind != TW_VALUE_TENSOR)
        return tw__fail(TW_TYPE_ERROR, "sparse_batch: elements of one tensor are expected");
    tw_tensor *value = arguments[0].tensor, *sizes = tw__temp_shape(t, value, TW_INT64);
    tw_tensor *whole = tw__temp_ints(t, row->dims, row->rank, TW_INT64);
    for (int d = 0; d < row->rank; d++)
        limits.dims[d] = row->dims[d] < 0 ? INT64_MAX : row->dims[d];
    TW_TRY(check_row(t, value, sizes, tw__temp_ints(t, limits.dims, row->rank, TW_INT64), row));
    tw_tensor *indices = TW_TEMP(Where, TW_TEMP(Fill, sizes, tw__temp(t, tw_tensor_bool(true))));
    tw_tensor *open = TW_TEMP(Less, whole, (int64_t)0), *shape = TW_TEMP(SelectV2, open, sizes, whole);
    *result = (tw_value){ .kind = TW_VALUE_OBJECT,
                          .object = tw__sparse_new(indices, tw__temp_reshape(t, value, (int64_t[]){ -1 }, 1), shape) };
    TW_NEED(result->object);
    return TW_OK;
}

TW_METHOD(dataset_sparse_batch,
          "data.Dataset.sparse_batch(self: dataset, batch_size: number, row_shape: shape, name: str = None) -> dataset",
          "Elements of different shapes stacked as sparse tensors with rows of one shape.")
{
    tw_shape row = args->row_shape;
    const tw_tensor_spec *spec = tw__element_leaf(&args->self->structure, &tw__class_tensor_spec);
    if (spec && spec->shape.rank >= 0 && spec->shape.rank != row.rank) {
        does_not_fit(&spec->shape, &row);
        return NULL;
    }
    tw_auto struct tw_dataset *sparse = tw__data_mapped(args->self, as_sparse, &row, NULL);
    return batched(sparse, args->batch_size, args->batch_size_object, false);
}
