/* Sums and means over replicas. */
#include "api/api.h"
#include "op/calls.h"
#include "distribute/distribute.h"
#include "op/slices.h"
#include "rows.h"

static tw_tensor *divided(tw_tensor *value, int count)
{
    tw_auto tw_tensor *number = tw_tensor_int64(count);
    tw_auto tw_tensor *own = number ? tw_cast(number, value->dtype) : NULL;
    return own ? tw_truediv(value, own) : NULL;
}

static tw_tensor *reduce_slices(bool mean, tw_tensor *const *values, int count)
{
    tw_tensor *sum = tw_retain(values[0]);
    for (int i = 1; sum && i < count; i++) {
        tw_tensor *next = tw__slices_add(sum, values[i]);
        tw_release(sum);
        sum = next;
    }
    const struct tw_indexed_slices *slices = sum && mean ? tw__slices_of(sum) : NULL;
    if (!slices)
        return sum;
    tw_auto tw_tensor *part = divided(slices->values, count);
    tw_tensor *whole = part ? tw__slices_make(part, slices->indices, slices->dense_shape) : NULL;
    tw_release(sum);
    return whole;
}

/* The sum in this process. */
static tw_tensor *sum_here(tw_tensor *const *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (tw__slices_of(values[i]))
            return reduce_slices(false, values, count);
    }
    return count == 1 ? tw_retain(values[0]) : tw__call(&tw__op_AddN, values, count, NULL, 0);
}

static bool has_workers(const tw_strategy *strategy)
{
    return strategy && strategy->workers > 1;
}

tw_status tw__workers_sum(const tw_strategy *strategy, tw_tensor **tensors, int count)
{
    if (!has_workers(strategy) || !count)
        return TW_OK;
    tw__owned tw_tensor **sums = tw__alloc_array((size_t)count, sizeof *sums);
    TW_NEED(sums);
    for (int i = 0; i < count; i++) {
        if (!tw__slices_of(tensors[i]))
            continue;
        tw_tensor *whole = tw__slices_dense(tensors[i]);
        TW_NEED(whole);
        tw_release(tensors[i]);
        tensors[i] = whole;
    }
    int made = count;
    TW_TRY(tw__apply(&tw__op_ClusterSum, tensors, count, NULL, 0, sums, &made));
    for (int i = 0; i < count; i++) {
        tw_release(tensors[i]);
        tensors[i] = sums[i];
    }
    return TW_OK;
}

tw_tensor *tw__replicas_reduce(const tw_strategy *strategy, bool mean, tw_tensor *const *values, int count)
{
    if (!has_workers(strategy)) {
        for (int i = 0; i < count; i++) {
            if (tw__slices_of(values[i]))
                return reduce_slices(mean, values, count);
        }
    }
    tw_tensor *sum = sum_here(values, count);
    int all = has_workers(strategy) ? tw__strategy_replicas(strategy) : count;
    if (!sum || (mean && all == 1))
        return sum;
    if (tw__workers_sum(strategy, &sum, 1) != TW_OK) {
        tw_release(sum);
        return NULL;
    }
    if (!mean)
        return sum;
    tw_tensor *part = divided(sum, all);
    tw_release(sum);
    return part;
}

/* How many elements there are along the axes; a scalar of int64. */
static tw_tensor *size_along(tw__temps *t, tw_tensor *value, const tw_ints *axes)
{
    tw_tensor *shape = tw__temp_shape(t, value, TW_INT64), *size = tw__temp_int(t, 1, TW_INT64);
    for (int64_t i = 0; i < axes->count; i++)
        size = TW_TEMP(Mul, size, tw__temp_at(t, shape, axes->items[i]));
    return size;
}

static tw_status refuse_scalar(const tw_ints *axes)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < axes->count; i++)
        tw__text_format(&text, "%s%lld", i ? ", " : axes->count > 1 ? "[" : "", (long long)axes->items[i]);
    tw_status status = tw__fail(TW_VALUE_ERROR, "`axis` = %s%s was specified, but `value` is a scalar",
                                text.data ? text.data : "()", axes->count > 1 ? "]" : "");
    return status;
}

/* The sum over replicas and axes, or the mean: the sum divided by how many elements all replicas have. */
static tw_tensor *reduce_along(const tw_strategy *strategy, bool mean, tw_tensors values, const tw_ints *axes)
{
    TW_TEMPS(t);
    tw_tensor **sums = tw__alloc_array((size_t)values.count * 2, sizeof *sums), **sizes = sums ? sums + values.count : NULL;
    bool good = sums != NULL;
    for (int64_t i = 0; good && i < values.count; i++) {
        good = values.items[i]->shape.rank != 0 || refuse_scalar(axes) == TW_OK;
        sums[i] = good ? tw__temp(t, tw_reduce_sum(values.items[i], *axes)) : NULL;
        sizes[i] = sums[i] && mean ? size_along(t, values.items[i], axes) : NULL;
        good = sums[i] && (!mean || sizes[i]);
    }
    tw_tensor *whole = good ? tw__temp(t, tw__replicas_reduce(strategy, false, sums, (int)values.count)) : NULL;
    if (whole && mean) {
        tw_tensor *number = tw__temp(t, tw__replicas_reduce(strategy, false, sizes, (int)values.count));
        tw_tensor *own = number ? tw__temp_cast(t, number, whole->dtype) : NULL;
        whole = own ? tw__temp(t, tw_truediv(whole, own)) : NULL;
    }
    tw__free(sums);
    return tw__keep(t, whole);
}

TW_API(
    distribute_reduce, "distribute._reduce(mean: bool, values: tensors, axis: ints = None, strategy: strategy = None) -> tensor",
    "The sum, or the mean, of tensors of different replicas, over axes of them, too, if some are given; and over the workers of the "
    "strategy.")
{
    if (!args->values.count) {
        tw__fail(TW_VALUE_ERROR, "reduce: there are no values");
        return NULL;
    }
    return args->axis.items ? reduce_along(args->strategy, args->mean, args->values, &args->axis)
                            : tw__replicas_reduce(args->strategy, args->mean, args->values.items, (int)args->values.count);
}

/* ---- in replicas ---- */

typedef struct contribution {
    bool mean;
    tw_tensor *const *tensors;
    tw_tensor **results;
    int count;
} contribution;

static tw_status reduce_all(void *const *given, int replicas, __attribute__((unused)) void *context)
{
    const contribution *own = given[0];
    for (int r = 1; r < replicas; r++) {
        if (((const contribution *)given[r])->count != own->count)
            return tw__fail(TW_INVALID_ARGUMENT, "all_reduce: replica 0 gives %d tensors and replica %d %d", own->count, r,
                            ((const contribution *)given[r])->count);
    }
    const tw_strategy *strategy = tw__run_strategy();
    bool workers = has_workers(strategy);
    tw__owned tw_tensor **values = tw__alloc_array((size_t)replicas, sizeof *values);
    tw__held void *sums = tw__held_new((size_t)own->count);
    TW_NEED(values && sums);
    tw_tensor **list = sums;
    int listed = 0;
    for (int i = 0; i < own->count; i++) {
        int there = 0;
        for (int r = 0; r < replicas; r++) {
            values[r] = ((const contribution *)given[r])->tensors[i];
            there += values[r] != NULL;
        }
        if (there && there < replicas)
            return tw__fail(TW_INVALID_ARGUMENT, "all_reduce: only %d of %d replicas have tensor %d", there, replicas, i);
        if (there)
            TW_NEED(list[listed++] =
                        workers ? sum_here(values, replicas) : tw__replicas_reduce(NULL, own->mean, values, replicas));
    }
    TW_TRY(tw__workers_sum(strategy, list, listed)); /* one for all of them */
    for (int i = 0, next = 0; i < own->count; i++) {
        if (!own->tensors[i])
            continue;
        tw_auto tw_tensor *whole =
            workers && own->mean ? divided(list[next], tw__strategy_replicas(strategy)) : tw_retain(list[next]);
        TW_NEED(whole);
        next++;
        for (int r = 0; r < replicas; r++)
            ((const contribution *)given[r])->results[i] = tw_retain(whole);
    }
    return TW_OK;
}

tw_status tw_replica_all_reduce(bool mean, tw_tensor *const *tensors, int count, tw_tensor **results)
{
    if (count && !tw__check_given(results, "the place of the results", "tw_replica_all_reduce"))
        return tw__error_status();
    if (!tw__check_tensors((tw_tensors){ (tw_tensor **)tensors, count }, "tw_replica_all_reduce"))
        return tw__error_status();
    for (int i = 0; i < count; i++)
        results[i] = NULL;
    if (tw__replica < 0 || tw__replicas == 1) {
        for (int i = 0; i < count; i++)
            results[i] = tw_retain(tensors[i]);
        return TW_OK;
    }
    tw_status status = tw_replica_merge(reduce_all, NULL, &(contribution){ mean, tensors, results, count });
    for (int i = 0; status != TW_OK && i < count; i++)
        tw__set(&results[i], NULL);
    return status;
}

typedef struct computation {
    tw_tensor *(*compute)(void *context);
    void *context;
    tw_tensor *result;
} computation;

static tw_status compute_once(void *const *given, int replicas, __attribute__((unused)) void *context)
{
    computation *own = given[0];
    tw_auto tw_tensor *result = own->compute(own->context);
    for (int r = 0; result && r < replicas; r++)
        ((computation *)given[r])->result = tw_retain(result);
    return result ? TW_OK : tw__error_status();
}

tw_tensor *tw__replicas_once(tw_tensor *(*compute)(void *context), void *context)
{
    computation own = { compute, context, NULL };
    if (tw__replica < 0 || tw__replicas == 1)
        return compute(context);
    if (tw_replica_merge(compute_once, NULL, &own) != TW_OK)
        tw__set(&own.result, NULL);
    return own.result;
}

TW_API(distribute_all_reduce, "distribute._all_reduce(mean: bool, tensors: tensors) -> tensors",
       "In a replica: the sums, or the means, over all replicas.")
{
    tw_tensors list = { tw__alloc_array((size_t)args->tensors.count + 1, sizeof *list.items), args->tensors.count };
    if (!list.items)
        return (tw_tensors){ 0 };
    if (tw_replica_all_reduce(args->mean, args->tensors.items, (int)list.count, (tw_tensor **)list.items) == TW_OK)
        return list;
    tw__free((void *)list.items);
    return (tw_tensors){ 0 };
}
