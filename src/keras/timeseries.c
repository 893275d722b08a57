/* keras.utils.timeseries_dataset_from_array: batches of the parts of a series, each with the target that belongs to it. */
#include "data/compose.h"
#include "kernel/random/random.h"
#include "keras/keras.h"
#include "op/calls.h"

typedef struct series {
    tw_tensor *data, *targets, *inside; /* inside: where the elements of a part stand, from its begin on */
} series;

static tw_status part_at(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    TW_TEMPS(t);
    const series *s = user;
    tw_tensor *places = TW_TEMP(AddV2, arguments[0].tensor, s->inside);
    *result = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw__keep(t, tw__temp_gather(t, s->data, places, 0)) };
    return result->tensor ? TW_OK : tw__error_status();
}

static tw_status target_at(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    TW_TEMPS(t);
    const series *s = user;
    tw_tensor *target = tw__keep(t, tw__temp_gather(t, s->targets, arguments[0].tensor, 0));
    *result = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = target };
    return target ? TW_OK : tw__error_status();
}

static tw_dataset *mapped(tw_dataset *begins, tw__element_body body, series *s)
{
    tw_auto tw_object *function = begins ? tw__data_function_of(body, s) : NULL;
    return function ? tw_dataset_map(begins, (tw_function *)function, .num_parallel_calls = -1) : NULL;
}

/* Keras takes a start or end of 0 as none given. */
static tw_status check_bounds(int64_t start, int64_t end, int64_t count)
{
    bool starts = start != TW_NO_INT && start, ends = end != TW_NO_INT && end;
    if (starts && start < 0)
        return tw__fail(TW_VALUE_ERROR, "`start_index` must be 0 or greater. Received: start_index=%lld", (long long)start);
    if (starts && start >= count)
        return tw__fail(
            TW_VALUE_ERROR,
            "`start_index` must be lower than the length of the data. Received: start_index=%lld, for data of length %lld",
            (long long)start, (long long)count);
    if (starts && ends && end <= start)
        return tw__fail(TW_VALUE_ERROR,
                        "`end_index` must be higher than `start_index`. Received: start_index=%lld, and end_index=%lld ",
                        (long long)start, (long long)end);
    if (ends && end >= count)
        return tw__fail(
            TW_VALUE_ERROR,
            "`end_index` must be lower than the length of the data. Received: end_index=%lld, for data of length %lld",
            (long long)end, (long long)count);
    if (ends && end <= 0)
        return tw__fail(TW_VALUE_ERROR, "`end_index` must be higher than 0. Received: end_index=%lld", (long long)end);
    return TW_OK;
}

static tw_status check_step(const char *name, int64_t value, int64_t count)
{
    if (value <= 0)
        return tw__fail(TW_VALUE_ERROR, "`%s` must be higher than 0. Received: %s=%lld", name, name, (long long)value);
    if (value >= count)
        return tw__fail(TW_VALUE_ERROR,
                        "`%s` must be lower than the length of the data. Received: %s=%lld, for data of length %lld", name, name,
                        (long long)value, (long long)count);
    return TW_OK;
}

/* 0, step, 2 step … below the limit; shuffled as NumPy's RandomState(seed) does it. */
static tw_tensor *steps_below(tw__temps *t, int64_t limit, int64_t step, tw_dtype dtype, const int64_t *seed)
{
    int64_t count = limit > 0 ? (limit - 1) / step + 1 : 0;
    tw__owned int64_t *values = tw__alloc_array((size_t)count + 1, sizeof *values);
    if (!values)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        values[i] = i * step;
    if (seed)
        tw__mersenne_shuffle(*seed, values, count);
    return tw__temp_ints(t, values, count, dtype);
}

TW_API(
    timeseries_dataset,
    "keras.utils._timeseries_dataset(data: tensor, sequence_length: int, targets: tensor = None, sequence_stride: int = 1, sampling_rate: "
    "int = 1, batch_size: int = None, shuffle: bool = False, seed: int = 0, start_index: int = None, end_index: int = None) -> dataset",
    "Batches of parts of a series: sequence_length elements, sampling_rate apart, beginning at every sequence_stride-th element from "
    "start_index on, all before end_index; with the target that has the number of the part's first element, if there are targets.")
{
    TW_TEMPS(t);
    if (!tw__tensor_values(args->data, "data") || (args->targets && !tw__tensor_values(args->targets, "targets")))
        return NULL;
    int64_t rows = args->data->shape.rank > 0 ? args->data->shape.dims[0] : 0, limit = 0, span = 0;
    if (check_bounds(args->start_index, args->end_index, rows) != TW_OK ||
        check_step("sampling_rate", args->sampling_rate, rows) != TW_OK ||
        check_step("sequence_stride", args->sequence_stride, rows) != TW_OK)
        return NULL;
    int64_t start = args->start_index == TW_NO_INT ? 0 : args->start_index,
            end = args->end_index == TW_NO_INT ? rows : args->end_index;
    if (args->sequence_length < 0 || __builtin_mul_overflow(args->sequence_length, args->sampling_rate, &span)) {
        tw__fail(TW_VALUE_ERROR, "`sequence_length` must be 0 or greater, and fit. Received: sequence_length=%lld",
                 (long long)args->sequence_length);
        return NULL;
    }
    limit = end - start - (span - args->sampling_rate);
    int64_t targets = args->targets && args->targets->shape.rank > 0 ? args->targets->shape.dims[0] : limit;
    limit = targets < limit ? targets : limit;
    tw_dtype dtype = limit < INT32_MAX ? TW_INT32 : TW_INT64;
    tw_tensor *places = steps_below(t, limit, args->sequence_stride, dtype, args->shuffle ? &args->seed : NULL);
    series s = { .data = tw__temp_slice(t, args->data, start, end), .inside = NULL };
    s.inside = limit > 0 || span < INT32_C(1) << 24 ? steps_below(t, span, args->sampling_rate, dtype, NULL)
                                                    : tw__temp_ints(t, &start, 0, dtype);
    s.targets = args->targets ? tw__temp_slice(t, args->targets, start, end) : NULL;
    if (!places || !s.data || !s.inside || (args->targets && !s.targets))
        return NULL;
    tw_auto tw_dataset *begins = tw_dataset_rows_of_structure((tw_value){ .kind = TW_VALUE_TENSOR, .tensor = places });
    tw_auto tw_dataset *parts = mapped(begins, part_at, &s), *wanted = s.targets && parts ? mapped(begins, target_at, &s) : NULL;
    tw_auto tw_dataset *whole = s.targets ? tw__data_zipped(parts, wanted) : tw_retain(parts);
    tw_auto tw_dataset *ready = whole ? tw_dataset_prefetch(whole, -1) : NULL;
    bool single = args->batch_size == TW_NO_INT;
    tw_auto tw_dataset *mixed = !ready || !args->shuffle
                                    ? tw_retain(ready)
                                    : tw_dataset_shuffle(ready, single ? 1024 : 8 * (double)args->batch_size, .seed = args->seed);
    return !mixed || single ? tw_retain(mixed) : tw_dataset_batch(mixed, (double)args->batch_size);
}
