/* Data and results of replicas for C programs: batches that are dealt out, values that become one. */
#include "data/data.h"
#include "distribute/distribute.h"
#include "rows.h"

/* The rows of part `number` of `count`: each has as many as the first, as long as there are some. A new reference. */
static tw_tensor *part_of(tw_tensor *batch, int number, int count)
{
    tw_auto tw_tensor *shape = tw_shape(batch), *axis = tw_tensor_int(0), *rows = shape && axis ? tw_gather(shape, axis) : NULL;
    tw_auto tw_tensor *parts = tw_tensor_int(count), *more = tw_tensor_int(count - 1), *this = tw_tensor_int(number),
                      *next = tw_tensor_int(number + 1);
    tw_auto tw_tensor *padded = rows && more ? tw_add(rows, more) : NULL,
                      *each = padded && parts ? tw_math_floordiv(padded, parts) : NULL;
    tw_auto tw_tensor *from = each && this ? tw_multiply(each, this) : NULL, *to = each && next ? tw_multiply(each, next) : NULL;
    tw_auto tw_tensor *first = from ? tw_minimum(from, rows) : NULL, *last = to ? tw_minimum(to, rows) : NULL;
    tw_auto tw_tensor *numbers = first && last ? tw_range(.start = first, .limit = last) : NULL;
    return numbers ? tw_gather(batch, numbers) : NULL;
}

static tw_tensors deal(void *user, tw_tensors in)
{
    int count = *(const int *)user;
    tw_tensors out = { tw__alloc_array((size_t)count * (size_t)in.count + 1, sizeof(tw_tensor *)), count * in.count };
    for (int64_t i = 0; out.items && i < out.count; i++) {
        if (!(out.items[i] = part_of(in.items[i % in.count], (int)(i / in.count), count))) {
            tw_tensors_free(&out);
            return TW_GIVE_FAILURE;
        }
    }
    return out.items ? out : TW_GIVE_FAILURE;
}

struct tw_dataset *tw_strategy_distribute_dataset(tw_strategy *strategy, struct tw_dataset *dataset)
{
    const char *who = "tw_strategy_distribute_dataset";
    if (!tw__check(strategy, &tw__class_strategy, who) || !tw__check(dataset, &tw__class_dataset, who))
        return NULL;
    int count = strategy->count;
    if (count < 2)
        return tw_retain(dataset);
    tw_auto tw_function *function =
        tw_function_new(deal, &count, .name = "deal", .signature = { dataset->specs, dataset->count }); /* traced now */
    tw_dataset_map_args args;
    tw_args_default(&tw__signature_dataset_map, &args);
    args.self = dataset;
    args.map_func = function;
    return function ? tw_class_make(&tw__class_dataset_map, &args) : NULL;
}

tw_tensor *tw_strategy_reduce(tw_strategy *strategy, bool mean, tw_tensors values)
{
    if (!tw__check(strategy, &tw__class_strategy, "tw_strategy_reduce") || !tw__check_tensors(values, "tw_strategy_reduce"))
        return NULL;
    if (values.count != strategy->count) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_strategy_reduce: %lld values for %d replicas", (long long)values.count,
                 strategy->count);
        return NULL;
    }
    return tw__replicas_reduce(mean, values.items, (int)values.count);
}
