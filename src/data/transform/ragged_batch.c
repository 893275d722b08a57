/* ragged_batch: elements of different shapes stacked as ragged tensors. Each becomes a ragged tensor; then they are batched. */
#include "api/ragged/ragged.h"
#include "api/tensor_spec.h"
#include "data/compose.h"
#include "rows.h"

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
    "Elements of different shapes stacked as ragged tensors.\n"
    "row_splits_dtype: the dtype of the row splits, int32 or int64")
{
    tw_dtype splits = args->row_splits_dtype;
    tw__auto(tw_value_free) tw_value structure = { .kind = TW_VALUE_NONE };
    if (tw__structure_map(&args->self->structure, ragged_spec, &splits, &structure) != TW_OK)
        return NULL;
    tw_auto struct tw_dataset *variants = tw__data_mapped(args->self, as_variants, &structure, &structure);
    tw_dataset_batch_args batch = TW_ARGS(dataset_batch, .self = variants, .batch_size = args->batch_size,
                                          .batch_size_object = args->batch_size_object, .drop_remainder = args->drop_remainder);
    return variants ? tw_class_make(&tw__class_dataset_batch, &batch) : NULL;
}
