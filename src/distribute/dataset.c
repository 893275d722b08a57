/* Data and results of replicas: batches that are split, values that become one. */
#include "op/calls.h"
#include "api/tensor_spec.h"
#include "data/data.h"
#include "data/element.h"
#include "distribute/distribute.h"
#include "rows.h"

/* ---- batches in parts ---- */

typedef struct splitting {
    int count;        /* parts for this process */
    int first, total; /* of so many for all */
    bool by_replica;  /* all parts of replica 0, then those of replica 1 …; else all parts of tensor 0, … */
} splitting;

/* Part i has as many rows as the first one, as long as there are some. New references at every `stride`-th place of `parts`. */
static tw_status split_rows(tw_tensor *batch, const splitting *how, tw_tensor **parts, int64_t stride)
{
    int count = how->total, end = how->first + how->count;
    TW_TEMPS(t);
    int64_t known = batch->shape.rank > 0 ? batch->shape.dims[0] : -1;
    const int64_t one = 1;
    bool good = true;
    tw_tensor *rows = tw__temp_at(t, tw__temp_shape(t, batch, TW_INT32), 0), *step = tw__temp_ints(t, &one, 1, TW_INT32);
    tw_tensor *padded = TW_TEMP(AddV2, rows, tw__temp_int(t, count - 1, TW_INT32));
    tw_tensor *each = TW_TEMP(FloorDiv, padded, tw__temp_int(t, count, TW_INT32)),
              *from = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, TW_INT32);
    for (int i = 0; i < end; i++) {
        tw_tensor *limit = TW_TEMP(Minimum, TW_TEMP(Mul, each, tw__temp_int(t, i + 1, TW_INT32)), rows);
        tw_tensor *to = known >= 0 && known % count == 0
                            ? tw__temp_ints(t, (const int64_t[]){ known / count * (i + 1) }, 1, TW_INT32)
                            : tw__temp_reshape(t, limit, &one, 1);
        if (i >= how->first) {
            tw_tensor **part = &parts[(i - how->first) * stride];
            *part = TW_CALL(StridedSlice, batch, from, to, step);
            good = good && *part;
        }
        from = to;
    }
    return good ? TW_OK : tw__error_status();
}

static tw_tensors split_batch(void *user, tw_tensors in)
{
    const splitting *how = user;
    tw_tensors out = { tw__alloc_array((size_t)how->count * (size_t)in.count + 1, sizeof(tw_tensor *)), how->count * in.count };
    for (int64_t i = 0; out.items && i < in.count; i++) {
        tw_status status = how->by_replica ? split_rows(in.items[i], how, out.items + i, in.count)
                                           : split_rows(in.items[i], how, out.items + i * how->count, 1);
        if (status != TW_OK) {
            tw_tensors_free(&out);
            return TW_GIVE_FAILURE;
        }
    }
    return out.items ? out : TW_GIVE_FAILURE;
}

static struct tw_dataset *split_dataset(struct tw_dataset *dataset, splitting how)
{
    tw_auto tw_function *function = tw_function_new(split_batch, &how, .name = "split_batch",
                                                    .signature = { dataset->specs, dataset->count }); /* traced now */
    tw_dataset_map_args args;
    tw_args_default(&tw__signature_dataset_map, &args);
    args.self = dataset;
    args.map_func = function;
    return function ? tw_class_make(&tw__class_dataset_map, &args) : NULL;
}

static splitting parts_of_strategy(const tw_strategy *strategy, bool by_replica)
{
    return (splitting){ strategy->count, strategy->rank * strategy->count, tw__strategy_replicas(strategy), by_replica };
}

struct tw_dataset *tw_strategy_distribute_dataset(tw_strategy *strategy, struct tw_dataset *dataset)
{
    const char *who = "tw_strategy_distribute_dataset";
    if (!tw__check(strategy, &tw__class_strategy, who) || !tw__check(dataset, &tw__class_dataset, who))
        return NULL;
    return tw__strategy_replicas(strategy) < 2 ? tw_retain(dataset) : split_dataset(dataset, parts_of_strategy(strategy, true));
}

/* ---- batches whose parts are one value ---- */

typedef struct parts_of {
    const tw_spec *next; /* of the parts of the next leaf */
    int count;
} parts_of;

static tw_status check_batch(__attribute__((unused)) void *context, const tw_value *leaf)
{
    const tw_tensor_spec *spec =
        leaf->kind == TW_VALUE_OBJECT && tw__is(leaf->object, &tw__class_tensor_spec) ? leaf->object : NULL;
    const char *who = "experimental_distribute_dataset";
    if (!spec)
        return tw__fail(TW_UNIMPLEMENTED, "%s: elements of %s are not supported", who,
                        leaf->kind == TW_VALUE_OBJECT ? ((const tw_object *)leaf->object)->class->name : "None");
    if (spec->shape.rank)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR,
                    "%s: the elements are to be batches, but one has no dimension: TensorSpec(shape=(), dtype=tf.%s, name=None)",
                    who, tw_dtype_name(spec->dtype));
}

static tw_status parts_spec(void *context, __attribute__((unused)) const tw_value *leaf, tw_value *mapped)
{
    parts_of *parts = context;
    void *spec = parts->count == 1 ? (void *)tw__tensor_spec_new(parts->next->dtype, &parts->next->shape, NULL)
                                   : (void *)tw__per_replica_spec_new(parts->next, parts->count);
    parts->next += parts->count;
    *mapped = (tw_value){ .kind = TW_VALUE_OBJECT, .object = spec };
    return spec ? TW_OK : tw__error_status();
}

TW_METHOD(
    strategy_split_dataset, "distribute.Strategy._split_dataset(self: strategy, dataset: dataset) -> dataset",
    "Every batch split into a part for each replica: as many rows as the first one's, the last ones may have less, or none.")
{
    int count = args->self->count;
    if (tw__strategy_replicas(args->self) < 2)
        return tw_retain(args->dataset);
    if (tw__structure_each(&args->dataset->structure, check_batch, NULL) != TW_OK)
        return NULL;
    tw_auto struct tw_dataset *split = split_dataset(args->dataset, parts_of_strategy(args->self, false));
    tw_value structure = { 0 };
    tw_status status =
        split ? tw__structure_map(&args->dataset->structure, parts_spec, &(parts_of){ split->specs, count }, &structure)
              : tw__error_status();
    return split && tw__dataset_settle(split, status, structure, true) == TW_OK ? tw_dataset_prefetch(split, 1) : NULL;
}

/* ---- values of replicas ---- */

tw_tensor *tw_strategy_reduce(tw_strategy *strategy, bool mean, tw_tensors values)
{
    if (!tw__check(strategy, &tw__class_strategy, "tw_strategy_reduce") || !tw__check_tensors(values, "tw_strategy_reduce"))
        return NULL;
    if (values.count != strategy->count) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_strategy_reduce: %lld values for %d replicas", (long long)values.count,
                 strategy->count);
        return NULL;
    }
    return tw__replicas_reduce(strategy, mean, values.items, (int)values.count);
}
