/* Dataset.rejection_resample: elements are taken partly as they come and partly from a dataset that leaves elements out by
 * chance, class by class, so that as few as possible are lost. How often classes come is given, or estimated in batches while
 * elements pass. */
#include <float.h>

#include "data/compose.h"
#include "op/calls.h"
#include "rows.h"

enum { ESTIMATION_BATCH = 32, SMOOTHING = 10 };

/* ---- how often classes are kept ---- */

/* The target's share over the initial one, by class. */
static tw_tensor *ratio_of(tw__temps *t, tw_tensor *initial, tw_tensor *target)
{
    if (!initial)
        return NULL;
    double tiny = initial->dtype == TW_FLOAT64 ? DBL_MIN : initial->dtype == TW_FLOAT16 ? 6.103515625e-05 : (double)FLT_MIN;
    return TW_TEMP(RealDiv, target, TW_TEMP(AddV2, initial, tiny));
}

static tw_tensor *extreme(tw__temps *t, const tw_op *op, tw_tensor *ratio)
{
    return TW_TEMP_OP(op, ratio, 0);
}

/* The probability with which an element of each class is kept. */
static tw_tensor *keep_of(tw__temps *t, tw_tensor *initial, tw_tensor *target)
{
    tw_tensor *ratio = ratio_of(t, initial, target), *least = extreme(t, &tw__op_Min, ratio);
    return TW_TEMP(RealDiv, TW_TEMP(Sub, ratio, least), TW_TEMP(Sub, extreme(t, &tw__op_Max, ratio), least));
}

/* The weights of taking an element as it comes, and of the ones that chance keeps. */
static tw_tensor *weights_of(tw__temps *t, tw_tensor *initial, tw_tensor *target)
{
    tw_tensor *least = extreme(t, &tw__op_Min, ratio_of(t, initial, target));
    return TW_TEMP(Pack, least, TW_TEMP(Sub, 1.0, least), TW_A_INT("axis", 0));
}

static tw_tensors give_keep(void *target, tw_tensors in)
{
    TW_TEMPS(t);
    return tw_give(keep_of(t, in.items[0], target));
}

static tw_tensors give_weights(void *target, tw_tensors in)
{
    TW_TEMPS(t);
    return tw_give(weights_of(t, in.items[0], target));
}

/* ---- the estimate ---- */

/* Counts a batch of classes; gives the counts, and the shares once for each element. */
static tw_tensors count_classes(void *target, tw_tensors in)
{
    TW_TEMPS(t);
    tw_tensor *classes = tw__temp_at(t, tw__temp_shape(t, target, TW_INT32), 0);
    tw_tensor *hot = TW_TEMP(OneHot, in.items[1], classes, (int64_t)1, (int64_t)0);
    tw_tensor *seen = TW_TEMP(AddV2, in.items[0], TW_TEMP(Sum, hot, 0));
    tw_tensor *whole = tw__temp_cast(t, seen, TW_FLOAT64);
    tw_tensor *share = tw__temp_cast(t, TW_TEMP(RealDiv, whole, TW_TEMP(Sum, whole, 0)), TW_FLOAT32);
    tw_tensor *times = tw__temp_ints(t, (int64_t[]){ ESTIMATION_BATCH, 1 }, 2, TW_INT32);
    return tw_give(seen, TW_TEMP(Tile, TW_TEMP(ExpandDims, share, 0), times));
}

static struct tw_dataset *estimate(tw__temps *t, struct tw_dataset *classes, tw_tensor *target)
{
    tw_dataset_batch_args batch = TW_ARGS(dataset_batch, .self = classes, .batch_size = ESTIMATION_BATCH);
    struct tw_dataset *batches = tw__temp(t, tw_class_make(&tw__class_dataset_batch, &batch));
    tw_tensor *begin = TW_TEMP(Fill, tw__temp_shape(t, target, TW_INT32), (int64_t)SMOOTHING);
    tw_function *count = tw__temp(t, tw_function_new(count_classes, target, .name = "count_classes"));
    if (!batches || !begin || !count)
        return NULL;
    tw_dataset_scan_args scan =
        TW_ARGS(dataset_scan, .self = batches, .initial_state = { .kind = TW_VALUE_TENSOR, .tensor = begin }, .scan_func = count);
    struct tw_dataset *shares = tw__temp(t, tw_class_make(&tw__class_dataset_scan, &scan));
    tw_dataset_unbatch_args unbatch = TW_ARGS(dataset_unbatch, .self = shares);
    return shares ? tw__temp(t, tw_class_make(&tw__class_dataset_unbatch, &unbatch)) : NULL;
}

/* ---- elements by chance ---- */

/* Of (chances by class, (class, element)): (the chance of this element, (class, element)). */
static tw_status with_chance(__attribute__((unused)) void *user, const tw_value *arguments, __attribute__((unused)) int count,
                             tw_value *result)
{
    TW_TEMPS(t);
    const tw_value *pair = &arguments[0].list.items[1];
    tw_tensor *chance = tw__temp_gather(t, arguments[0].list.items[0].tensor, pair->list.items[0].tensor, 0);
    TW_NEED(chance);
    *result = tw__value_copy(&arguments[0]);
    if (result->kind != TW_VALUE_TUPLE)
        return tw__error_status();
    tw_value_free(&result->list.items[0]);
    result->list.items[0] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(chance) };
    return TW_OK;
}

static tw_status without_chance(__attribute__((unused)) void *user, const tw_value *arguments, __attribute__((unused)) int count,
                                tw_value *result)
{
    *result = tw__value_copy(&arguments[0].list.items[1]);
    return result->kind == TW_VALUE_TUPLE ? TW_OK : tw__error_status();
}

static tw_tensors is_kept(void *seed, tw_tensors in)
{
    TW_TEMPS(t);
    tw_random_uniform_args uniform = TW_ARGS(random_uniform, .shape = tw__temp_ints(t, NULL, 0, TW_INT32),
                                             .dtype = in.items[0]->dtype, .seed = *(const int64_t *)seed);
    tw_tensor *drawn = tw__temp(t, tw__impl_random_uniform(&uniform));
    return tw_give(TW_TEMP(Less, drawn, in.items[0]));
}

static struct tw_dataset *kept_by_chance(tw__temps *t, struct tw_dataset *keeps, struct tw_dataset *pairs, int64_t seed)
{
    struct tw_dataset *chances =
        tw__temp(t, tw__data_mapped(tw__temp(t, tw__data_zipped(keeps, pairs)), with_chance, NULL, NULL));
    tw_function *kept =
        chances ? tw__temp(t, tw_function_new(is_kept, &seed, .name = "is_kept", .signature = { chances->specs, chances->count }))
                : NULL;
    tw_dataset_filter_args filter = TW_ARGS(dataset_filter, .self = chances, .predicate = kept);
    struct tw_dataset *left = kept ? tw__temp(t, tw_class_make(&tw__class_dataset_filter, &filter)) : NULL;
    struct tw_dataset *plain = tw__temp(t, tw__data_mapped(left, without_chance, NULL, NULL));
    tw_dataset_prefetch_args ahead = TW_ARGS(dataset_prefetch, .self = plain, .buffer_size = 3);
    return plain ? tw__temp(t, tw_class_make(&tw__class_dataset_prefetch, &ahead)) : NULL;
}

/* The share of elements that may be taken as they come, if it is known; else -1. */
static double share_of(tw__temps *t, tw_tensor *initial, tw_tensor *target)
{
    if (!initial || initial->node || target->node || !initial->data || !target->data)
        return -1;
    tw_tensor *least = TW_TEMP(Min, TW_TEMP(RealDiv, target, initial), 0);
    return least ? tw_tensor_double_at(least, 0) : -1;
}

TW_METHOD(
    dataset_rejection_resample,
    "data.Dataset.rejection_resample(self: dataset, class_func: function, target_dist: tensor, initial_dist: tensor = None, seed: "
    "int = None, name: str = None) -> dataset",
    "(class, element) pairs, elements left out by chance so that classes come as often as a distribution says.\n"
    "class_func: a function that gives the class of an element, an integer\n"
    "target_dist: the share that each class is to have\n"
    "initial_dist: the share that each class has; None: it is estimated on the way\n"
    "seed: an integer that fixes what is left out; None: it differs")
{
    TW_TEMPS(t);
    tw_tensor *target = args->target_dist, *initial = args->initial_dist;
    tw_dataset_map_args map = TW_ARGS(dataset_map, .self = args->self, .map_func = args->class_func);
    struct tw_dataset *classes = tw__temp(t, tw_class_make(&tw__class_dataset_map, &map));
    struct tw_dataset *pairs = tw__temp(t, tw__data_zipped(classes, args->self)), *keeps = NULL, *weights = NULL;
    if (!pairs)
        return NULL;
    double share = share_of(t, initial, target);
    if (share == 1)
        return tw__keep(t, pairs);
    if (initial) {
        keeps = tw__temp(t, tw__data_constant(keep_of(t, initial, target), true));
        weights = tw__temp(t, tw__data_constant(weights_of(t, initial, target), true));
    } else {
        struct tw_dataset *shares = estimate(t, classes, target);
        keeps = tw__temp(t, tw__data_mapped_flat(shares, give_keep, target));
        weights = tw__temp(t, tw__data_mapped_flat(shares, give_weights, target));
    }
    struct tw_dataset *kept = keeps && weights ? kept_by_chance(t, keeps, pairs, args->seed) : NULL;
    if (!kept || share == 0)
        return tw__keep(t, kept);
    void *both[] = { pairs, kept };
    tw_dataset_sample_from_args sample =
        TW_ARGS(dataset_sample_from, .datasets = { both, 2 }, .weights = { .kind = TW_VALUE_OBJECT, .object = weights },
                .seed = args->seed, .stop_on_empty_dataset = true);
    return tw__impl_dataset_sample_from(&sample);
}
