/* Jacobians: one gradient per element of the target, in a loop: eagerly over seeds, in a graph as a While that collects the rows
 * in lists.
 *
 * A row is the gradient of element i of the target, or, for batches, of element i of every member of the batch. */
#include "function/control.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

typedef struct request {
    tw_tape *tape;
    tw_tensor *target;
    tw_tensor **sources;
    int source_count;
    bool batch;
    const bool *connected; /* per source; in graphs known before the loop */
    tw_tensor *rows;       /* in graphs: how many there are; an int32 */
} request;

static tw_status gradient(const request *r, tw_tensor *seed, tw_tensor **results)
{
    TW_TRY(tw__tape_gradient(r->tape, &r->target, &seed, 1, r->sources, r->source_count, results));
    for (int i = 0; i < r->source_count; i++) {
        if (!results[i] || !tw__slices_of(results[i]))
            continue;
        tw_tensor *dense = tw__slices_dense(results[i]);
        tw_release(results[i]);
        results[i] = dense;
        TW_NEED(dense);
    }
    return TW_OK;
}

/* ---- shapes ---- */

/* Elements of the target in one member: of the whole, or of what follows the first dimension. -1 if it is not known. */
static int64_t row_count(const request *r)
{
    int64_t count = 1;
    if (!tw__shape_known(&r->target->shape))
        return -1;
    for (int i = r->batch; i < r->target->shape.rank; i++)
        count *= r->target->shape.dims[i];
    return count;
}

static tw_shape shape_of_source(const tw_tensor *source)
{
    tw_object *object = tw__tensor_object(source);
    return tw__is(object, &tw__resource_class) ? ((tw__resource *)object)->shape : source->shape;
}

/* [target, source], or [batch, rest of target, rest of source]. */
static tw_tensor *shape_of_result(const request *r, tw_tensor *rows, int skip)
{
    tw_shape row = rows->shape; /* [rows, source], rows in front */
    bool known = tw__shape_known(&r->target->shape) && tw__shape_known(&row);
    int64_t dims[2 * TW_MAX_RANK];
    int rank = 0;
    for (int i = 0; known && i < r->target->shape.rank; i++)
        dims[rank++] = r->target->shape.dims[i];
    for (int i = skip; known && i < row.rank; i++)
        dims[rank++] = row.dims[i];
    if (known && rank > TW_MAX_RANK) {
        tw__fail(TW_UNIMPLEMENTED, "jacobian: rank %d, at most %d are supported", rank, TW_MAX_RANK);
        return NULL;
    }
    if (known)
        return tw__ints_tensor(dims, rank, TW_INT32);
    tw_auto tw_tensor *front = TW_CALL(Shape, r->target), *whole = front ? TW_CALL(Shape, rows) : NULL;
    tw_auto tw_tensor *from = tw__ints_tensor((const int64_t[]){ skip }, 1, TW_INT32),
                      *all = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32);
    tw_auto tw_tensor *rest = whole && from && all ? TW_CALL(Slice, whole, from, all) : NULL;
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    return rest && zero ? TW_CALL(ConcatV2, front, rest, zero) : NULL;
}

/* The rows, stacked in front, as a Jacobian. Takes them. */
static tw_tensor *finish(const request *r, tw_tensor *given)
{
    tw_auto tw_tensor *rows = given;
    if (rows && r->batch) { /* [rows, batch, …] -> [batch, rows, …] */
        int64_t order[TW_MAX_RANK] = { 1, 0 };
        for (int i = 2; i < rows->shape.rank; i++)
            order[i] = i;
        tw_auto tw_tensor *permutation = rows->shape.rank >= 2 ? tw__ints_tensor(order, rows->shape.rank, TW_INT32) : NULL;
        tw_tensor *turned = permutation ? TW_CALL(Transpose, rows, permutation) : NULL;
        tw_release(rows);
        rows = turned;
    }
    tw_auto tw_tensor *shape = rows ? shape_of_result(r, rows, r->batch ? 2 : 1) : NULL;
    return shape ? TW_CALL(Reshape, rows, shape) : NULL;
}

/* ---- eagerly ---- */

static tw_tensor *seed_now(const request *r, int64_t i, int64_t rows)
{
    tw_auto tw_tensor *index = tw_tensor_int64(i), *depth = tw_tensor_int((int32_t)rows);
    tw_auto tw_tensor *on = tw__grad_constant(1, r->target), *off = tw__grad_constant(0, r->target);
    tw_auto tw_tensor *hot = TW_CALL(OneHot, index, depth, on, off);
    tw_shape inner = r->target->shape;
    for (int k = 0; r->batch && k + 1 < inner.rank; k++)
        inner.dims[k] = inner.dims[k + 1];
    inner.rank -= r->batch;
    tw_auto tw_tensor *inner_shape = hot ? tw__tensor_of_shape(&inner, TW_INT32) : NULL;
    tw_tensor *seed = inner_shape ? TW_CALL(Reshape, hot, inner_shape) : NULL;
    if (!seed || !r->batch)
        return seed;
    tw_auto tw_tensor *whole = tw__tensor_of_shape(&r->target->shape, TW_INT32);
    tw_tensor *wide = TW_CALL(BroadcastTo, seed, whole);
    tw_release(seed);
    return wide;
}

static tw_status run_eagerly(const request *r, tw_tensor **results)
{
    int64_t rows = row_count(r);
    if (rows > INT32_MAX / 2)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "a Jacobian of %lld rows", (long long)rows);
    size_t sources = (size_t)r->source_count;
    tw_tensor **made = tw__alloc_array(sources * (size_t)rows + sources + 1, sizeof *made); /* by source, then by row */
    tw__owned tw_tensor **one = tw__alloc_array(sources + 1, sizeof *one);
    tw_status status = made && one ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; status == TW_OK && i < rows; i++) {
        tw_auto tw_tensor *seed = seed_now(r, i, rows);
        status = seed ? gradient(r, seed, one) : tw__error_status();
        for (size_t s = 0; s < sources; s++) {
            made[s * (size_t)rows + (size_t)i] = one[s];
            one[s] = NULL;
        }
    }
    for (size_t s = 0; status == TW_OK && s < sources; s++) {
        tw_tensor **own = made + s * (size_t)rows;
        if (rows == 0 || !own[0])
            continue;
        results[s] = finish(r, tw__call(&tw__op_Pack, own, (int)rows, TW_WITH(TW_A_INT("N", rows), TW_A_INT("axis", 0)), 2));
        status = results[s] ? TW_OK : tw__error_status();
    }
    for (size_t i = 0; made && i < sources * (size_t)rows; i++)
        tw_release(made[i]);
    tw__free(made);
    return status;
}

/* ---- in a graph ---- */

static tw_status more_rows(void *context, tw_tensor *const *arguments, __attribute__((unused)) int count, tw_tensor ***outputs,
                           int *output_count)
{
    const request *r = context;
    *outputs = tw__alloc_array(2, sizeof **outputs);
    *output_count = 1;
    if (!*outputs)
        return TW_RESOURCE_EXHAUSTED;
    (*outputs)[0] = TW_CALL(Less, arguments[0], r->rows);
    return (*outputs)[0] ? TW_OK : tw__error_status();
}

static tw_tensor *seed_later(const request *r, tw_tensor *index)
{
    tw_auto tw_tensor *on = tw__grad_constant(1, r->target), *off = tw__grad_constant(0, r->target);
    tw_auto tw_tensor *hot = TW_CALL(OneHot, index, r->rows, on, off);
    tw_auto tw_tensor *shape = hot ? TW_CALL(Shape, r->target) : NULL;
    if (!shape || !r->batch)
        return shape ? TW_CALL(Reshape, hot, shape) : NULL;
    tw_auto tw_tensor *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32),
                      *all = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32);
    tw_auto tw_tensor *inner = TW_CALL(Slice, shape, one, all);
    tw_auto tw_tensor *seed = TW_CALL(Reshape, hot, inner);
    return TW_CALL(BroadcastTo, seed, shape);
}

/* Arguments: the row's number, then a list per connected source. */
static tw_status next_row(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const request *r = context;
    tw_tensor **results = tw__alloc_array((size_t)count + 1, sizeof *results);
    tw__held tw_tensor **row = tw__held_new((size_t)r->source_count);
    tw_auto tw_tensor *seed = results && row ? seed_later(r, arguments[0]) : NULL, *one = tw_tensor_int(1);
    tw_status status = seed && one ? gradient(r, seed, row) : tw__error_status();
    int at = 1;
    if (status == TW_OK) {
        results[0] = TW_CALL(AddV2, arguments[0], one);
        status = results[0] ? TW_OK : tw__error_status();
    }
    for (int s = 0; status == TW_OK && s < r->source_count; s++) {
        if (!r->connected[s] || !row[s])
            continue;
        results[at] = TW_CALL(TensorListSetItem, arguments[at], arguments[0], row[s]);
        status = results[at++] ? TW_OK : tw__error_status();
    }
    *outputs = results;
    *output_count = results ? count : 0;
    return status;
}

static tw_tensor *stack(const request *r, tw_tensor *list, tw_tensor *like)
{
    tw_auto tw_tensor *shape = tw__shape_known(&like->shape) ? tw__tensor_of_shape(&like->shape, TW_INT32) : tw_tensor_int(-1);
    int64_t rows = row_count(r);
    tw_tensor *stacked =
        shape ? TW_CALL(TensorListStack, list, shape, TW_A_TYPE("element_dtype", like->dtype), TW_A_INT("num_elements", rows))
              : NULL;
    return stacked ? finish(r, stacked) : NULL;
}

static tw_status run_in_graph(request *r, tw_tensor **results)
{
    size_t room = (size_t)r->source_count + 2;
    tw__owned tw_tensor **like = tw__alloc_array(room, sizeof *like), **values = tw__alloc_array(room, sizeof *values);
    tw__owned tw_tensor **last = tw__alloc_array(room, sizeof *last);
    tw__owned bool *connected = tw__alloc_array(room, sizeof *connected);
    tw_auto tw_tensor *seed = TW_CALL(OnesLike, r->target), *none = tw_tensor_int(-1), *zero = tw_tensor_int(0);
    tw_status status = like && values && last && connected && seed && none && zero ? gradient(r, seed, like) : tw__error_status();
    int count = 1;
    if (status == TW_OK) {
        int64_t rows = row_count(r);
        tw_auto tw_tensor *size = TW_CALL(Size, r->target);
        r->connected = connected;
        if (rows >= 0) {
            r->rows = tw_tensor_int((int32_t)rows);
        } else if (!r->batch) {
            r->rows = tw_retain(size);
        } else {
            tw_auto tw_tensor *shape = TW_CALL(Shape, r->target);
            tw_auto tw_tensor *members = TW_CALL(GatherV2, shape, zero, zero);
            r->rows = TW_CALL(FloorDiv, size, members);
        }
        values[0] = tw_retain(zero);
        status = r->rows ? TW_OK : tw__error_status();
    }
    for (int s = 0; status == TW_OK && s < r->source_count; s++) {
        connected[s] = like[s] != NULL;
        if (!like[s])
            continue;
        values[count] = TW_CALL(TensorListReserve, none, r->rows, TW_A_TYPE("element_dtype", like[s]->dtype));
        status = values[count++] ? TW_OK : tw__error_status();
    }
    if (status == TW_OK && count > 1)
        status = tw__while(&(tw__loop){ .cond = more_rows,
                                        .body = next_row,
                                        .cond_context = r,
                                        .body_context = r,
                                        .values = values,
                                        .count = count },
                           last);
    for (int s = 0, at = 1; status == TW_OK && s < r->source_count; s++) {
        if (!like[s])
            continue;
        results[s] = stack(r, last[at++], like[s]);
        status = results[s] ? TW_OK : tw__error_status();
    }
    for (int i = 0; like && values && last && i < (int)room; i++) {
        tw_release(like[i]);
        tw_release(values[i]);
        tw_release(last[i]);
    }
    tw_release(r->rows);
    return status;
}

/* ---- the calls ---- */

static tw_status zeros(const request *r, int source, tw_tensor **result)
{
    tw_shape own = shape_of_source(r->sources[source]), shape = r->target->shape;
    if (!tw__shape_known(&own) || !tw__shape_known(&shape) || own.rank + shape.rank - r->batch > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED,
                        "GradientTape.jacobian: zeros for a source that is not connected, of shapes that are not known");
    for (int i = r->batch; i < own.rank; i++)
        shape.dims[shape.rank++] = own.dims[i];
    *result = tw__tensor_empty(r->target->dtype, &shape);
    if (*result)
        memset((*result)->data, 0, (size_t)(*result)->count * tw_dtype_size((*result)->dtype));
    return *result ? TW_OK : tw__error_status();
}

static tw_tensors jacobian(tw_tape *tape, tw_tensor *target, tw_objects given, bool batch, bool fill)
{
    tw_tensors results = { tw__alloc_array((size_t)given.count + 1, sizeof(tw_tensor *)), given.count };
    tw__owned tw_tensor **sources = tw__alloc_array((size_t)given.count + 1, sizeof *sources);
    request r = { .tape = tape, .target = target, .sources = sources, .source_count = (int)given.count, .batch = batch };
    tw_status status = results.items && sources ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && tape->used)
        status = tw__fail(TW_RUNTIME_ERROR,
                          "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)");
    for (int64_t i = 0; status == TW_OK && i < given.count; i++) {
        if (!(sources[i] = tw__watched_tensor(given.items[i])))
            status = tw__fail(TW_TYPE_ERROR, "GradientTape.jacobian: source %lld is a %s, expected a tensor or variable",
                              (long long)i, tw_class_name(given.items[i]));
    }
    if (status == TW_OK) {
        if (tape->recording && !tape->persistent)
            tw__tape_stop(tape);
        bool paused = tape->paused;
        tape->paused = true; /* its own gradients are not recorded */
        status = tw__tracing || target->node ? run_in_graph(&r, results.items) : run_eagerly(&r, results.items);
        tape->paused = paused;
        if (!tape->persistent)
            tw__tape_spend(tape);
    }
    for (int i = 0; status == TW_OK && fill && i < r.source_count; i++) {
        if (!results.items[i])
            status = zeros(&r, i, &results.items[i]);
    }
    if (status != TW_OK)
        tw_tensors_free(&results);
    return results;
}

static tw_tensor *target_of(tw_tape *tape, void *object, const char *function)
{
    tw_tensor *target = tw__tape_target(tape, object);
    if (!target && tw_error_code() == TW_OK)
        tw__fail(TW_TYPE_ERROR, "GradientTape.%s: the target is a %s, expected a tensor or variable", function,
                 tw_class_name(object));
    return target;
}

TW_METHOD(
    tape_jacobian,
    "GradientTape._jacobian(self: tape, target: object, sources: list<object>, unconnected_gradients: str {none, zero} = none) -> tensors",
    "The derivatives of every element of the target: for each source a tensor of the target's dimensions, then the source's; NULL where it "
    "is not connected.")
{
    tw_auto tw_tensor *target = target_of(args->self, args->target, "jacobian");
    return !target ? (tw_tensors){ 0 }
                   : jacobian(args->self, target, args->sources, false, strcmp(args->unconnected_gradients, "zero") == 0);
}

TW_METHOD(
    tape_batch_jacobian,
    "GradientTape._batch_jacobian(self: tape, target: object, source: object, unconnected_gradients: str {none, zero} = none) -> tensor",
    "The derivatives of every element of a member of the batch by those of the same member: [batch, target, source].")
{
    tw_tensor *source = tw__watched_tensor(args->source);
    if (!source) {
        tw__fail(TW_TYPE_ERROR, "GradientTape.batch_jacobian: source is a %s, expected a tensor or variable",
                 tw_class_name(args->source));
        return NULL;
    }
    tw_auto tw_tensor *target = target_of(args->self, args->target, "batch_jacobian");
    if (!target)
        return NULL;
    const tw_shape *a = &target->shape, b = shape_of_source(source);
    const tw_shape *low = a->rank >= 0 && a->rank < 2 ? a : b.rank >= 0 && b.rank < 2 ? &b : NULL;
    bool differ = !low && a->rank > 0 && b.rank > 0 && a->dims[0] >= 0 && b.dims[0] >= 0 && a->dims[0] != b.dims[0];
    if (low || differ) {
        char *x = tw__shape_tuple(low ? low : a), *y = tw__shape_tuple(&b);
        if (low)
            tw__fail(TW_VALUE_ERROR, "Shape %s must have rank at least 2", x ? x : "");
        else
            tw__fail(TW_VALUE_ERROR, "Need first dimension of target shape (%s) and source shape (%s) to match.", x ? x : "",
                     y ? y : "");
        tw__free(x);
        tw__free(y);
        return NULL;
    }
    tw__auto(tw_tensors_free) tw_tensors results = jacobian(args->self, target, TW_OBJECTS(args->source), true, true);
    tw_tensor *result = results.count == 1 ? tw_retain(results.items[0]) : NULL;
    return result;
}
