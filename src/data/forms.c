/* Ops of datasets in earlier forms, under other names, or with settings of TensorFlow's own runtime. Each is the kernel of a
 * later op with other inputs: some at the end are left out, others are added. */
#include "base/temps.h"
#include "data/data.h"
#include "op/calls.h"
#include "op/guard.h"
#include "rows.h"

#define TW_MAX_FORM_INPUTS 64

typedef struct form {
    const tw_op *old, *fresh;
    int left_out; /* of the inputs, at the end */
    const char
        *added; /* f: false, z: 0, s: no text, e: no numbers, c: a cache, g: a generator of seeds, l: the last input, w: the same
                   as int64, n: nothing, but the last input must be empty, p: nothing, but the policy must be known */
} form;

static const form *form_of(const tw_op *op);

static tw_tensor *own_state(const tw_op *op)
{
    return tw__call(op, NULL, 0, NULL, 0);
}

/* What a letter stands for: a new reference. */
static tw_tensor *added_input(const tw__kernel *kernel, char letter)
{
    tw_tensor *last = kernel->inputs[kernel->input_count - 1];
    switch (letter) {
    case 'f':
        return tw_tensor_bool(false);
    case 'z':
        return tw_tensor_int64(0);
    case 's':
        return tw_tensor_string("", 0);
    case 'e':
        return tw_tensor_new(TW_INT64, TW_SHAPE(0), NULL);
    case 'c':
        return own_state(&tw__op_DummyMemoryCache);
    case 'g':
        return own_state(&tw__op_DummySeedGenerator);
    case 'w':
        return TW_CALL(Cast, last, TW_A_TYPE("DstT", TW_INT64));
    default:
        return tw_retain(last);
    }
}

/* Sharding by files would take the sources apart; elements are shared out instead, if that is asked for. */
static tw_status check_policy(tw__kernel *kernel)
{
    int64_t policy = TW_ATTR(kernel, "auto_shard_policy")->i;
    if (policy != 2 && tw_tensor_int_at(kernel->inputs[1], 0) != 1)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "auto_shard_policy %lld with more than one worker; DATA (2) is supported",
                          (long long)policy);
    return TW_OK;
}

static tw_status check_input(tw__kernel *kernel, char letter)
{
    if (letter == 'n' && kernel->inputs[kernel->input_count - 1]->count)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "byte_offsets are not supported");
    return letter == 'p' ? check_policy(kernel) : TW_OK;
}

/* The attrs of the later op: those of the same names, and defaults. */
static tw_status run_later(tw__kernel *kernel, const tw_op *fresh, tw_tensor *const *inputs, int count)
{
    const tw__op_signature *own = tw__op_signature_of(kernel->op), *later = tw__op_signature_of(fresh);
    tw_attr given[TW_MAX_ATTRS] = { 0 }, complete[TW_MAX_ATTRS] = { 0 };
    tw_dtype dtypes[TW_MAX_FORM_INPUTS], out_dtypes[4];
    int known = 0, outputs = 0;
    TW_NEED(own);
    TW_NEED(later);
    for (int i = 0; i < later->attr_count; i++) {
        for (int j = 0; j < own->attr_count; j++) {
            if (strcmp(later->attrs[i].name, own->attrs[j].name) == 0)
                given[known++] = kernel->attrs[j];
        }
        if (strcmp(later->attrs[i].name, "serialized_options") == 0)
            given[known++] = TW_A_STRING("serialized_options", "");
    }
    for (int i = 0; i < count; i++)
        dtypes[i] = inputs[i]->dtype;
    TW_TRY(tw__op_resolve(fresh, dtypes, count, given, known, complete, out_dtypes, 4, &outputs));
    tw__kernel inner = { .op = fresh,
                         .input_count = count,
                         .output_count = kernel->output_count,
                         .inputs = inputs,
                         .outputs = kernel->outputs,
                         .attrs = complete,
                         .out_dtypes = kernel->out_dtypes };
    return fresh->compute(&inner);
}

static tw_status form_compute(tw__kernel *kernel)
{
    const form *own = form_of(kernel->op->plain ? kernel->op->plain : kernel->op);
    tw_tensor *inputs[TW_MAX_FORM_INPUTS];
    TW_TEMPS(t);
    int count = kernel->input_count - own->left_out;
    if (count + (int)strlen(own->added) > TW_MAX_FORM_INPUTS)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "more than %d inputs", TW_MAX_FORM_INPUTS);
    for (int i = 0; i < count; i++)
        inputs[i] = kernel->inputs[i];
    for (const char *letter = own->added; *letter; letter++) {
        TW_TRY(check_input(kernel, *letter));
        if (strchr("np", *letter))
            continue;
        inputs[count] = tw__temp(t, added_input(kernel, *letter));
        TW_NEED(inputs[count++]);
    }
    return run_later(kernel, own->fresh, inputs, count);
}

#define FORM TW_DATASET_OP, .shape = tw_shape_scalar, .compute = form_compute
TW_OP(BatchDataset, .inputs = "input_dataset: variant, batch_size: int64", .attrs = TW_ELEMENTS ", metadata: string = ''", FORM,
      .doc = "BatchDatasetV2 in an earlier form.");
TW_OP(CacheDataset, .inputs = "input_dataset: variant, filename: string", .attrs = TW_ELEMENTS ", metadata: string = ''", FORM,
      .stateful = true, .touches = TW_WRITES_FILES, .paths = "filename", .doc = "CacheDatasetV2 in an earlier form.");
TW_OP(
    ParallelMapDataset, .inputs = "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32",
    .attrs =
        "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS
        ", use_inter_op_parallelism: bool = true, sloppy: bool = false, preserve_cardinality: bool = false, metadata: string = ''",
    FORM, .doc = "ParallelMapDatasetV2 in an earlier form.");
TW_OP(ExperimentalMapDataset, .inputs = "input_dataset: variant, other_arguments: Targuments",
      .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS
               ", use_inter_op_parallelism: bool = true, preserve_cardinality: bool = false",
      FORM, .doc = "MapDataset in an earlier form.");
TW_OP(
    ExperimentalParallelInterleaveDataset,
    .inputs =
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
    .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS, FORM, .doc = "InterleaveDataset in an earlier form.");
TW_OP(
    ParallelInterleaveDataset,
    .inputs =
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
    .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''", FORM,
    .doc = "InterleaveDataset in an earlier form.");
TW_OP(
    LegacyParallelInterleaveDatasetV2,
    .inputs =
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64",
    .attrs = "f: func, deterministic: string = 'default', Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''",
    FORM, .doc = "InterleaveDataset in an earlier form.");
TW_OP(
    ParallelInterleaveDatasetV2,
    .inputs =
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", sloppy: bool = false, metadata: string = ''", FORM,
    .doc = "InterleaveDataset in an earlier form.");
TW_OP(
    ParallelInterleaveDatasetV3,
    .inputs =
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    .attrs = "f: func, deterministic: string = 'default', Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''",
    FORM, .doc = "InterleaveDataset in an earlier form.");
TW_OP(ParallelFilterDataset, .inputs = "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64",
      .attrs = "predicate: func, deterministic: string = 'default', Targuments: list(type) >= 0, " TW_ELEMENTS
               ", metadata: string = ''",
      FORM, .doc = "FilterDataset in an earlier form.");
TW_OP(
    ExperimentalCSVDataset,
    .inputs =
        "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types",
    .attrs = "output_types: list({float, double, int32, int64, string}) >= 1, output_shapes: list(shape) >= 1", FORM,
    .stateful = true, .touches = TW_READS_FILES, .paths = "filenames", .doc = "CSVDatasetV2 in an earlier form.");
TW_OP(
    CSVDataset,
    .inputs =
        "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types",
    .attrs = "output_types: list({float, double, int32, int64, string}) >= 1, output_shapes: list(shape) >= 1", FORM,
    .stateful = true, .touches = TW_READS_FILES, .paths = "filenames", .doc = "CSVDatasetV2 in an earlier form.");
TW_OP(FixedLengthRecordDataset,
      .inputs = "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64",
      .attrs = "metadata: string = ''", FORM, .stateful = true, .touches = TW_READS_FILES, .paths = "filenames",
      .doc = "FixedLengthRecordDatasetV2 in an earlier form.");
TW_OP(TFRecordDatasetV2, .inputs = "filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64",
      .attrs = "metadata: string = ''", FORM, .stateful = true, .touches = TW_READS_FILES, .paths = "filenames",
      .doc = "TFRecordDataset in an earlier form.");
TW_OP(PaddedBatchDataset,
      .inputs = "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types",
      .attrs = "T" TW_ELEMENTS ", N: int >= 1, metadata: string = ''", FORM, .doc = "PaddedBatchDatasetV2 in an earlier form.");
TW_OP(ShuffleDataset, .inputs = "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64",
      .attrs = "reshuffle_each_iteration: bool = true, " TW_ELEMENTS ", metadata: string = ''", FORM, .seeds = 1 + 2,
      .doc = "ShuffleDatasetV3 in an earlier form.");
TW_OP(ShuffleDatasetV2, .inputs = "input_dataset: variant, buffer_size: int64, seed_generator: resource",
      .attrs = TW_ELEMENTS ", metadata: string = ''", FORM, .stateful = true, .doc = "ShuffleDatasetV3 in an earlier form.");
TW_OP(ExperimentalRandomDataset, .inputs = "seed: int64, seed2: int64", .attrs = TW_ELEMENTS, FORM, .stateful = true,
      .seeds = 1 + 0, .doc = "RandomDatasetV2 in an earlier form.");
TW_OP(RandomDataset, .inputs = "seed: int64, seed2: int64", .attrs = TW_ELEMENTS ", metadata: string = ''", FORM,
      .stateful = true, .seeds = 1 + 0, .doc = "RandomDatasetV2 in an earlier form.");
TW_OP(ExperimentalScanDataset, .inputs = "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments",
      .attrs = "f: func, Tstate: list(type) >= 1, Targuments: list(type) >= 0, " TW_ELEMENTS
               ", preserve_cardinality: bool = false",
      FORM, .doc = "ScanDataset in an earlier form.");
TW_OP(ExperimentalTakeWhileDataset, .inputs = "input_dataset: variant, other_arguments: Targuments",
      .attrs = "predicate: func, Targuments: list(type) >= 0, " TW_ELEMENTS, FORM, .doc = "TakeWhileDataset in an earlier form.");
TW_OP(ExperimentalUnbatchDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS, FORM,
      .doc = "UnbatchDataset in an earlier form.");
TW_OP(ExperimentalUniqueDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS, FORM,
      .doc = "UniqueDataset in an earlier form.");
TW_OP(
    ExperimentalGroupByWindowDataset,
    .inputs =
        "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, window_size_func_other_arguments: Twindow_size_func_other_arguments",
    .attrs =
        "key_func: func, reduce_func: func, window_size_func: func, Tkey_func_other_arguments: list(type) >= 0, Treduce_func_other_arguments: list(type) >= 0, Twindow_size_func_other_arguments: list(type) >= 0, " TW_ELEMENTS,
    FORM, .doc = "GroupByWindowDataset in an earlier form.");
TW_OP(ExperimentalIgnoreErrorsDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS ", log_warning: bool = false",
      FORM, .doc = "IgnoreErrorsDataset in an earlier form.");
TW_OP(ExperimentalDirectedInterleaveDataset, .inputs = "selector_input_dataset: variant, data_input_datasets: N * variant",
      .attrs = TW_ELEMENTS ", N: int >= 1", FORM, .doc = "DirectedInterleaveDataset in an earlier form.");
TW_OP(ExperimentalDenseToSparseBatchDataset, .inputs = "input_dataset: variant, batch_size: int64, row_shape: int64",
      .attrs = TW_ELEMENTS, FORM, .doc = "DenseToSparseBatchDataset in an earlier form.");
TW_OP(ExperimentalDatasetCardinality, .inputs = "input_dataset: variant", .outputs = "cardinality: int64", .attrs = "",
      .shape = tw_shape_scalar, .compute = form_compute, .no_gradient = true, .doc = "DatasetCardinality in an earlier form.");
TW_OP(AutoShardDataset, .inputs = "input_dataset: variant, num_workers: int64, index: int64",
      .attrs = "auto_shard_policy: int = 0, " TW_ELEMENTS ", num_replicas: int = 0", FORM,
      .doc = "ShardDataset in an earlier form.");
TW_OP(ExperimentalAutoShardDataset, .inputs = "input_dataset: variant, num_workers: int64, index: int64",
      .attrs = "auto_shard_policy: int = 0, " TW_ELEMENTS, FORM, .doc = "ShardDataset in an earlier form.");
TW_OP(ModelDataset, .inputs = "input_dataset: variant",
      .attrs = "algorithm: int = 0, cpu_budget: int = 0, ram_budget: int = 0, " TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(OptimizeDataset, .inputs = "input_dataset: variant, optimizations: string",
      .attrs = TW_ELEMENTS ", optimization_configs: list(string) = []", FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(OptimizeDatasetV2,
      .inputs =
          "input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, optimizations_default: string",
      .attrs = TW_ELEMENTS ", optimization_configs: list(string) = []", FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(FinalizeDataset, .inputs = "input_dataset: variant", .attrs = "has_captured_ref: bool = false, " TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(RewriteDataset, .inputs = "input_dataset: variant, rewrite_name: string", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(MaxIntraOpParallelismDataset, .inputs = "input_dataset: variant, max_intra_op_parallelism: int64", .attrs = TW_ELEMENTS,
      FORM, .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(ExperimentalMaxIntraOpParallelismDataset, .inputs = "input_dataset: variant, max_intra_op_parallelism: int64",
      .attrs = TW_ELEMENTS, FORM, .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(PrivateThreadPoolDataset, .inputs = "input_dataset: variant, num_threads: int64", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(ExperimentalPrivateThreadPoolDataset, .inputs = "input_dataset: variant, num_threads: int64", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(NonSerializableDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(ExperimentalNonSerializableDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(BytesProducedStatsDataset, .inputs = "input_dataset: variant, tag: string", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(ExperimentalBytesProducedStatsDataset, .inputs = "input_dataset: variant, tag: string", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(LatencyStatsDataset, .inputs = "input_dataset: variant, tag: string", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");
TW_OP(ExperimentalLatencyStatsDataset, .inputs = "input_dataset: variant, tag: string", .attrs = TW_ELEMENTS, FORM,
      .doc = "The elements; the rest is about TensorFlow's own runtime.");

static const form forms[] = {
    { &tw__op_BatchDataset, &tw__op_BatchDatasetV2, 0, "f" },
    { &tw__op_CacheDataset, &tw__op_CacheDatasetV2, 0, "c" },
    { &tw__op_ParallelMapDataset, &tw__op_ParallelMapDatasetV2, 1, "w" },
    { &tw__op_ExperimentalMapDataset, &tw__op_MapDataset, 0, "" },
    { &tw__op_ExperimentalParallelInterleaveDataset, &tw__op_InterleaveDataset, 3, "" },
    { &tw__op_ParallelInterleaveDataset, &tw__op_InterleaveDataset, 3, "" },
    { &tw__op_LegacyParallelInterleaveDatasetV2, &tw__op_InterleaveDataset, 2, "" },
    { &tw__op_ParallelInterleaveDatasetV2, &tw__op_InterleaveDataset, 1, "" },
    { &tw__op_ParallelInterleaveDatasetV3, &tw__op_InterleaveDataset, 1, "" },
    { &tw__op_ParallelFilterDataset, &tw__op_FilterDataset, 1, "" },
    { &tw__op_ExperimentalCSVDataset, &tw__op_CSVDatasetV2, 0, "e" },
    { &tw__op_CSVDataset, &tw__op_CSVDatasetV2, 0, "e" },
    { &tw__op_FixedLengthRecordDataset, &tw__op_FixedLengthRecordDatasetV2, 0, "s" },
    { &tw__op_TFRecordDatasetV2, &tw__op_TFRecordDataset, 1, "n" },
    { &tw__op_PaddedBatchDataset, &tw__op_PaddedBatchDatasetV2, 0, "f" },
    { &tw__op_ShuffleDataset, &tw__op_ShuffleDatasetV3, 0, "g" },
    { &tw__op_ShuffleDatasetV2, &tw__op_ShuffleDatasetV3, 1, "zzl" },
    { &tw__op_ExperimentalRandomDataset, &tw__op_RandomDatasetV2, 0, "g" },
    { &tw__op_RandomDataset, &tw__op_RandomDatasetV2, 0, "g" },
    { &tw__op_ExperimentalScanDataset, &tw__op_ScanDataset, 0, "" },
    { &tw__op_ExperimentalTakeWhileDataset, &tw__op_TakeWhileDataset, 0, "" },
    { &tw__op_ExperimentalUnbatchDataset, &tw__op_UnbatchDataset, 0, "" },
    { &tw__op_ExperimentalUniqueDataset, &tw__op_UniqueDataset, 0, "" },
    { &tw__op_ExperimentalGroupByWindowDataset, &tw__op_GroupByWindowDataset, 0, "" },
    { &tw__op_ExperimentalIgnoreErrorsDataset, &tw__op_IgnoreErrorsDataset, 0, "" },
    { &tw__op_ExperimentalDirectedInterleaveDataset, &tw__op_DirectedInterleaveDataset, 0, "" },
    { &tw__op_ExperimentalDenseToSparseBatchDataset, &tw__op_DenseToSparseBatchDataset, 0, "" },
    { &tw__op_ExperimentalDatasetCardinality, &tw__op_DatasetCardinality, 0, "" },
    { &tw__op_AutoShardDataset, &tw__op_ShardDataset, 0, "p" },
    { &tw__op_ExperimentalAutoShardDataset, &tw__op_ShardDataset, 0, "p" },
    { &tw__op_ModelDataset, &tw__op_OptionsDataset, 0, "" },
    { &tw__op_OptimizeDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_OptimizeDatasetV2, &tw__op_OptionsDataset, 3, "" },
    { &tw__op_FinalizeDataset, &tw__op_OptionsDataset, 0, "" },
    { &tw__op_RewriteDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_MaxIntraOpParallelismDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_ExperimentalMaxIntraOpParallelismDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_PrivateThreadPoolDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_ExperimentalPrivateThreadPoolDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_NonSerializableDataset, &tw__op_OptionsDataset, 0, "" },
    { &tw__op_ExperimentalNonSerializableDataset, &tw__op_OptionsDataset, 0, "" },
    { &tw__op_BytesProducedStatsDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_ExperimentalBytesProducedStatsDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_LatencyStatsDataset, &tw__op_OptionsDataset, 1, "" },
    { &tw__op_ExperimentalLatencyStatsDataset, &tw__op_OptionsDataset, 1, "" },
};

static const form *form_of(const tw_op *op)
{
    const form *found = forms;
    while (found->old != op)
        found++;
    return found;
}

/* ---- handles ---- */

static tw_status hand_on(tw__kernel *kernel)
{
    return tw__output_take(kernel, 0, tw_retain(kernel->inputs[0]));
}

TW_OP(WrapDatasetVariant, .inputs = "input_handle: variant", .outputs = "output_handle: variant", .attrs = "",
      .shape = tw_shape_scalar, .compute = hand_on, .makes_outputs = true, .no_gradient = true, .doc = "The dataset itself.");
TW_OP(UnwrapDatasetVariant, .inputs = "input_handle: variant", .outputs = "output_handle: variant", .attrs = "",
      .shape = tw_shape_scalar, .compute = hand_on, .makes_outputs = true, .no_gradient = true, .doc = "The dataset itself.");
