/* Training in the replicas of a strategy: every batch is split into a part for each, the step runs in all of them, and their
 * results become one.
 *
 *     batch x, y  ->  x0 y0 x1 y1 …  ->  step (step.c) in replica 0 with x0 y0, in replica 1 with x1 y1  ->  results
 *
 * Gradients are summed by the optimizer, metrics when they are read; so the replicas' results are the same tensors, except what a
 * subclass's own step gives, which is summed, and predictions, which are put one behind the other. */
#include "distribute/distribute.h"
#include "keras/models/training.h"

/* ---- the batch ---- */

static int replicas_of(const tw__trainer *t)
{
    const tw_strategy *strategy = ((const tw__model *)t->model)->strategy;
    return strategy ? strategy->count : 1;
}

int tw__model_worker(const tw_layer *model)
{
    const tw_strategy *strategy = tw__is(model, &tw__class_model) ? ((const tw__model *)model)->strategy : NULL;
    return strategy ? strategy->rank : 0;
}

/* Which parts of a batch are this process's: `first` of so many. Everybody predicts for itself. */
typedef struct share {
    int first, all;
} share;

static share share_of(const tw__trainer *t, tw__mode mode)
{
    const tw_strategy *strategy = ((const tw__model *)t->model)->strategy;
    if (!strategy || mode == TW_PREDICT_MODE)
        return (share){ 0, replicas_of(t) };
    return (share){ strategy->rank * strategy->count, tw__strategy_replicas(strategy) };
}

static tw_tensor *part_of(tw_tensor *tensor, int replica, int replicas)
{
    int64_t rows = tensor->shape.dims[0], size = (rows + replicas - 1) / replicas,
            first = size * replica < rows ? size * replica : rows;
    tw_shape shape = tensor->shape;
    shape.dims[0] = rows - first < size ? rows - first : size;
    return tw__tensor_slice_view(tensor, &shape, rows ? first * (tensor->count / rows) : 0);
}

static tw_status fill(tw__split *split, tw_tensor *const *batch, const tw_spec *specs, int count, int replicas, share part)
{
    for (int i = 0; i < count; i++) {
        if (batch[i]->shape.rank < 1)
            return tw__fail(TW_VALUE_ERROR, "a batch is split among %d replicas, and tensor %d of it has no dimension", replicas,
                            i);
    }
    for (int r = 0; r < replicas; r++) {
        for (int i = 0; i < count; i++) {
            tw_spec *spec = &split->own_specs[r * count + i];
            *spec = specs[i];
            if (spec->shape.rank > 0)
                spec->shape.dims[0] =
                    spec->shape.dims[0] > 0 && spec->shape.dims[0] % part.all == 0 ? spec->shape.dims[0] / part.all : -1;
            if (!(split->own[split->count] = part_of(batch[i], part.first + r, part.all)))
                return tw__error_status();
            split->count++;
        }
    }
    return TW_OK;
}

tw_status tw__replicas_split(const tw__trainer *t, tw__mode mode, tw_tensor *const *batch, const tw_spec *specs, int count,
                             tw__split *split)
{
    int replicas = replicas_of(t);
    share part = share_of(t, mode);
    *split = (tw__split){ .batch = batch, .specs = specs, .count = count };
    if (part.all == 1)
        return TW_OK;
    split->own = tw__alloc_array((size_t)count * (size_t)replicas, sizeof *split->own);
    split->own_specs = tw__alloc_array((size_t)count * (size_t)replicas, sizeof *split->own_specs);
    split->batch = split->own;
    split->specs = split->own_specs;
    split->count = 0;
    tw_status status = split->own && split->own_specs ? fill(split, batch, specs, count, replicas, part) : tw__error_status();
    if (status != TW_OK)
        tw__replicas_split_end(split);
    return status;
}

void tw__replicas_split_end(tw__split *split)
{
    for (int i = 0; split->own && i < split->count; i++)
        tw_release(split->own[i]);
    tw__free(split->own);
    tw__free(split->own_specs);
    *split = (tw__split){ 0 };
}

/* ---- the step ---- */

typedef struct run {
    tw__trainer *trainer;
    tw__mode mode;
    tw_tensors in;
    int inputs;          /* of each replica */
    tw_tensors *results; /* of each */
} run;

static tw_status replica_body(int replica, void *context)
{
    run *r = context;
    tw_tensors results = tw__trainer_run(r->trainer, r->mode, (tw_tensors){ r->in.items + replica * r->inputs, r->inputs });
    if (results.count < 0)
        return tw__error_status();
    r->results[replica] = results;
    return TW_OK;
}

static tw_tensor *joined(tw_tensor *const *values, int count)
{
    if (values[0]->shape.rank == 0)
        return tw_stack((tw_tensors){ (tw_tensor **)values, count });
    return tw_concat((tw_tensors){ (tw_tensor **)values, count }, 0);
}

static tw_tensor *summed(tw_tensor *const *values, int count)
{
    tw_auto tw_tensor *sum = tw__replicas_reduce(tw__run_strategy(), false, values, count);
    return sum ? tw__reduce_axis(&tw__op_Sum, sum, TW_NO_INT, false) : NULL;
}

/* One result of what all replicas gave in that place. */
static tw_tensor *one_of(const run *r, int replicas, int64_t at)
{
    tw__owned tw_tensor **values = tw__alloc_array((size_t)replicas, sizeof *values);
    bool same = true;
    for (int k = 0; values && k < replicas; k++) {
        values[k] = r->results[k].items[at];
        same &= values[k] == values[0];
    }
    tw_tensor *one = !values                      ? NULL
                     : same                       ? tw_retain(values[0])
                     : r->mode == TW_PREDICT_MODE ? joined(values, replicas)
                                                  : summed(values, replicas);
    return one;
}

static tw_tensors together(const run *r, int replicas)
{
    tw_tensors all = { tw__alloc_array((size_t)r->results[0].count + 1, sizeof *all.items), 0 };
    bool good = all.items != NULL;
    for (int k = 1; good && k < replicas; k++) {
        good = r->results[k].count == r->results[0].count;
        if (!good)
            tw__fail(TW_VALUE_ERROR, "replica 0 gives %lld results, and replica %d %lld", (long long)r->results[0].count, k,
                     (long long)r->results[k].count);
    }
    for (; good && all.count < r->results[0].count; all.count += good)
        good = (all.items[all.count] = one_of(r, replicas, all.count)) != NULL;
    if (good)
        return all;
    tw_tensors_free(&all);
    return TW_GIVE_FAILURE;
}

tw_tensors tw__replicas_run(tw__trainer *t, tw__mode mode, tw_tensors in)
{
    int replicas = replicas_of(t);
    run r = { .trainer = t, .mode = mode, .in = in, .inputs = (int)in.count / replicas };
    if (!(r.results = tw__alloc_array((size_t)replicas, sizeof *r.results)))
        return TW_GIVE_FAILURE;
    tw_status status = tw_strategy_run(((const tw__model *)t->model)->strategy, replica_body, &r);
    tw_tensors all = status == TW_OK ? together(&r, replicas) : TW_GIVE_FAILURE;
    for (int k = 0; k < replicas; k++)
        tw_tensors_free(&r.results[k]);
    tw__free(r.results);
    return all;
}
