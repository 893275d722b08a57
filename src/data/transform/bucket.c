/* bucket_by_sequence_length: batches of elements of similar length, by group_by_window and padded_batch. */
#include "data/compose.h"
#include "op/calls.h"
#include "rows.h"

typedef struct buckets {
    const tw_dataset_bucket_by_sequence_length_args *args;
    tw__function *length;
    tw_tensor *sizes, *lowest, *highest; /* of batches, int64; of lengths, int32: vectors of a number per bucket */
} buckets;

/* The number of the bucket that the length of an element falls into. */
static tw_tensors bucket_of(void *user, tw_tensors in)
{
    const buckets *b = user;
    TW_TEMPS(t);
    tw_tensor *found = NULL;
    if (tw__function_call(b->length, in.items, &found) != TW_OK)
        return TW_GIVE_FAILURE;
    tw_tensor *length = tw__temp(t, found);
    tw_tensor *fits = TW_TEMP(LogicalAnd, TW_TEMP(LessEqual, b->lowest, length), TW_TEMP(Less, length, b->highest));
    return tw_give(TW_TEMP(Min, TW_TEMP(Where, fits), tw__temp_ints(t, (int64_t[]){ 0, 1 }, 2, TW_INT32)));
}

static tw_tensors size_of(void *user, tw_tensors in)
{
    TW_TEMPS(t);
    return tw_give(tw__temp_gather(t, ((const buckets *)user)->sizes, in.items[0], 0));
}

/* The size that open dimensions are filled up to: less than the bucket's boundary. */
static tw_tensor *filler_of(tw__temps *t, const buckets *b, tw_tensor *number)
{
    int64_t last = b->sizes->count - 1;
    tw_debugging_assert_less_args check =
        TW_ARGS(debugging_assert_less, .x = number, .y = tw__temp_int(t, last, TW_INT64),
                .message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).");
    tw_value checked = tw__impl_debugging_assert_less(&check);
    tw_value_free(&checked);
    tw_tensor *limit = tw_error_code() == TW_OK ? tw__temp_gather(t, b->highest, number, 0) : NULL;
    return limit ? TW_TEMP(Sub, tw__temp_cast(t, limit, TW_INT64), (int64_t)1) : NULL;
}

/* The batches of a bucket's elements: arguments are its number and a dataset. */
static tw_status batch_bucket(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    const buckets *b = user;
    const tw_dataset_bucket_by_sequence_length_args *args = b->args;
    TW_TEMPS(t);
    struct tw_dataset *elements = arguments[1].object, *made = NULL;
    tw_tensor *number = arguments[0].tensor, *size = tw__temp_gather(t, b->sizes, number, 0);
    TW_NEED(size);
    if (args->no_padding) {
        tw_dataset_batch_args batch =
            TW_ARGS(dataset_batch, .self = elements, .batch_size_object = size, .drop_remainder = args->drop_remainder);
        made = tw_class_make(&tw__class_dataset_batch, &batch);
    } else {
        tw_tensor *filler = args->pad_to_bucket_boundary ? filler_of(t, b, number) : NULL;
        tw_dataset_padded_batch_args padded =
            TW_ARGS(dataset_padded_batch, .self = elements, .batch_size_object = size, .padded_shapes = args->padded_shapes,
                    .padding_values = args->padding_values, .drop_remainder = args->drop_remainder);
        made = args->pad_to_bucket_boundary && !filler ? NULL : tw__data_padded(&padded, filler);
    }
    *result = (tw_value){ .kind = TW_VALUE_OBJECT, .object = made };
    TW_NEED(made);
    return TW_OK;
}

/* The boundaries of buckets, with an end of int32's range before or behind them. */
static tw_tensor *limits(tw__temps *t, tw_ints boundaries, bool highest)
{
    int64_t *all = tw__temp_memory(t, tw__alloc_array((size_t)boundaries.count + 1, sizeof *all));
    for (int64_t i = 0; all && i <= boundaries.count; i++) {
        int64_t at = highest ? i : i - 1;
        all[i] = at < 0 ? INT32_MIN : at < boundaries.count ? boundaries.items[at] : INT32_MAX;
    }
    return all ? tw__temp_ints(t, all, boundaries.count + 1, TW_INT32) : NULL;
}

TW_METHOD(
    dataset_bucket_by_sequence_length,
    "data.Dataset.bucket_by_sequence_length(self: dataset, element_length_func: function, bucket_boundaries: ints, bucket_batch_sizes: "
    "ints, padded_shapes: value = None, padding_values: value = None, pad_to_bucket_boundary: bool = False, no_padding: bool = False, "
    "drop_remainder: bool = False, name: str = None) -> dataset",
    "Batches of elements of similar length: each bucket, between two boundaries, has a batch size of its own.\n"
    "element_length_func: a function that gives the length of an element\n"
    "bucket_boundaries: the lengths that divide the buckets, in their order\n"
    "bucket_batch_sizes: the batch size of each bucket, one more than there are boundaries\n"
    "padded_shapes: the shapes that elements are filled up to; None: that of the largest of the batch\n"
    "padding_values: what elements are filled with; None: zeros or empty texts\n"
    "pad_to_bucket_boundary: True: fill open dimensions up to the bucket's boundary minus 1 instead of the largest element's\n"
    "no_padding: True: elements are not filled up; those of a batch must have the same shape\n"
    "example: d = tf.data.Dataset.range(1, 5).map(lambda n: tf.range(n))\n"
    "example: d = d.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])\n"
    "example: [b.shape[1] for b in d.as_numpy_iterator()]  # [2, 4]")
{
    const struct tw_dataset *input = args->self;
    if (args->bucket_batch_sizes.count != args->bucket_boundaries.count + 1) {
        tw__fail(TW_VALUE_ERROR,
                 "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)=%lld` and "
                 "`len(bucket_boundaries)=%lld`.",
                 (long long)args->bucket_batch_sizes.count, (long long)args->bucket_boundaries.count);
        return NULL;
    }
    TW_TEMPS(t);
    tw__auto(tw__data_traced_end) tw__traced length = { 0 };
    if (tw__data_trace(args->element_length_func, "bucket_by_sequence_length", TW_STRUCTURES(&input->structure), 1, &length) !=
        TW_OK)
        return NULL;
    if (length.function->output_count != 1) {
        tw__fail(TW_TYPE_ERROR, "bucket_by_sequence_length: element_length_func must give one number");
        return NULL;
    }
    buckets b = { .args = args,
                  .length = length.function,
                  .sizes = tw__temp_ints(t, args->bucket_batch_sizes.items, args->bucket_batch_sizes.count, TW_INT64),
                  .lowest = limits(t, args->bucket_boundaries, false),
                  .highest = limits(t, args->bucket_boundaries, true) };
    const tw_spec number = { TW_INT64, TW_SCALAR };
    if (!b.sizes || !b.lowest || !b.highest)
        return NULL;
    tw_function *key = tw__temp(t, tw_function_new(bucket_of, &b, .name = "bucket", .signature = { input->specs, input->count }));
    tw_function *size = tw__temp(t, tw_function_new(size_of, &b, .name = "bucket_size", .signature = { &number, 1 }));
    void *reduce = tw__temp(t, tw__data_function_of(batch_bucket, &b));
    tw_dataset_group_by_window_args group =
        TW_ARGS(dataset_group_by_window, .self = args->self, .key_func = key, .reduce_func = reduce, .window_size_func = size);
    return key && size && reduce ? tw_class_make(&tw__class_dataset_group_by_window, &group) : NULL;
}
