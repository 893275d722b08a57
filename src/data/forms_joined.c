/* Ops of datasets that are two steps at once: MapAndBatchDataset is map and batch, MatchingFilesDataset the names of files, one
 * by one. */
#include "data/data.h"
#include "op/calls.h"
#include "op/guard.h"
#include "rows.h"

/* Maps without batches: the elements' shapes lose the first dimension. */
static tw_tensor *mapped(tw__kernel *kernel, int count)
{
    const tw_attr *types = TW_ATTR(kernel, "output_types"), *shapes = TW_ATTR(kernel, "output_shapes");
    tw__owned tw_shape *rows = tw__alloc_array((size_t)shapes->count + 1, sizeof *rows);
    if (!rows)
        return NULL;
    for (int64_t i = 0; i < shapes->count; i++)
        rows[i] = tw__shape_row(&shapes->shapes[i]);
    const tw_attr attrs[] = { TW_A_FUNC("f", TW_ATTR(kernel, "f")->func),
                              *TW_ATTR(kernel, "Targuments"),
                              *types,
                              { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = shapes->count, .shapes = rows } };
    return tw__call(&tw__op_MapDataset, kernel->inputs, count, attrs, 4);
}

static tw_status map_and_batch_compute(tw__kernel *kernel)
{
    int count = kernel->input_count - 3;
    tw_auto tw_tensor *elements = mapped(kernel, count);
    TW_NEED(elements);
    const tw_attr attrs[] = { *TW_ATTR(kernel, "output_types"), *TW_ATTR(kernel, "output_shapes") };
    return tw__output_take(kernel, 0,
                           tw__call(&tw__op_BatchDatasetV2, TW_IN(elements, kernel->inputs[count], kernel->inputs[count + 2]), 3,
                                    attrs, 2));
}

#define MAP_AND_BATCH                                                                                                         \
    .inputs =                                                                                                                 \
        "input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: " \
        "bool",                                                                                                               \
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = map_and_batch_compute
TW_OP(MapAndBatchDataset, MAP_AND_BATCH,
      .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", preserve_cardinality: bool = false, metadata: string = ''",
      .doc = "What f makes of elements, in batches.");
TW_OP(ExperimentalMapAndBatchDataset, MAP_AND_BATCH,
      .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", preserve_cardinality: bool = false",
      .doc = "MapAndBatchDataset in an earlier form.");

static tw_status matching_compute(tw__kernel *kernel)
{
    tw_auto tw_tensor *found = TW_CALL(MatchingFiles, kernel->inputs[0]);
    TW_NEED(found);
    const tw_shape scalar = { .rank = 0 };
    const tw_attr attrs[] = { { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = 1, .shapes = &scalar } };
    return tw__output_take(kernel, 0, tw__call(&tw__op_TensorSliceDataset, TW_IN(found), 1, attrs, 1));
}

#define MATCHING                                                                                                     \
    .inputs = "patterns: string", .attrs = "", TW_DATASET_OP, .shape = tw_shape_scalar, .compute = matching_compute, \
    .stateful = true, .touches = TW_READS_FILES
TW_OP(MatchingFilesDataset, MATCHING, .doc = "The names of the files that fit patterns.");
TW_OP(ExperimentalMatchingFilesDataset, MATCHING, .doc = "MatchingFilesDataset in an earlier form.");

/* ---- iterators ---- */

static tw_status with_deleter_compute(tw__kernel *kernel)
{
    const tw_attr attrs[] = { *TW_ATTR(kernel, "output_types"), *TW_ATTR(kernel, "output_shapes") };
    TW_TRY(tw__output_take(kernel, 0, tw__call(&tw__op_AnonymousIteratorV3, NULL, 0, attrs, 2)));
    return tw__output_take(kernel, 1, tw__call(&tw__op_OptionalNone, NULL, 0, NULL, 0));
}

static tw_status two_scalars(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = (tw_shape){ .rank = 0 };
    return TW_OK;
}

static tw_status nothing_compute(__attribute__((unused)) tw__kernel *kernel)
{
    return TW_OK; /* whoever holds the last handle lets the iterator go */
}

static tw_status device_compute(tw__kernel *kernel)
{
    static const char name[] = "/job:localhost/replica:0/task:0/device:CPU:0";
    return tw__output_take(kernel, 0, tw_tensor_string(name, sizeof name - 1));
}

TW_OP(AnonymousIteratorV2, .inputs = "", .outputs = "handle: resource, deleter: variant", .attrs = TW_ELEMENTS,
      .shape = two_scalars, .compute = with_deleter_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "A new iterator, and what it would be deleted by.");
TW_OP(DeleteIterator, .inputs = "handle: resource, deleter: variant", .outputs = "", .attrs = "", .shape = tw_shape_none,
      .compute = nothing_compute, .stateful = true, .no_gradient = true,
      .doc = "Nothing: an iterator ends with its last handle.");
#define DEVICE                                                                                          \
    .inputs = "resource: resource", .outputs = "device: string", .attrs = "", .shape = tw_shape_scalar, \
    .compute = device_compute, .stateful = true, .makes_outputs = true, .no_gradient = true
TW_OP(IteratorGetDevice, DEVICE, .doc = "Where an iterator is: at the processor.");
TW_OP(ExperimentalIteratorGetDevice, DEVICE, .doc = "IteratorGetDevice in an earlier form.");
