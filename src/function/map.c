/* Loops over the rows of tensors: tf.map_fn, foldl, foldr, scan and vectorized_map.
 *
 * Each is a tw__while whose first value counts rows. Rows come out of TensorArrays; results go into others, which are further
 * values of the loop in graphs (tensor_array.h). The nodes and their names in graphs are TensorFlow's: it makes the same arrays
 * in the same order. */
#include "function/control.h"
#include "function/tensor_array.h"
#include "op/calls.h"
#include "rows.h"

typedef struct rows {
    tw__part part;
    int count; /* of tensors whose rows are gone through */
    tw_tensor **tensors;
    tw_tensor_array **arrays;
    tw_tensor **single; /* per tensor: the row that stands for all; NULL: it has one for each */
    tw_tensor *number;  /* of rows, an int32 */
    int64_t known;      /* the same; -1: only a run knows it */
} rows;

static void rows_free(rows *r)
{
    for (int i = 0; i < r->count; i++) {
        tw_release(r->tensors ? r->tensors[i] : NULL);
        tw_release(r->arrays ? r->arrays[i] : NULL);
        tw_release(r->single ? r->single[i] : NULL);
    }
    tw__free(r->tensors);
    tw__free(r->arrays);
    tw__free(r->single);
    tw_release(r->number);
}

static tw_status check_rows(const rows *r, bool alike)
{
    if (!r->count)
        return tw__fail(
            TW_VALUE_ERROR,
            "elems must be a Tensor or (possibly nested) sequence of Tensors. Got [], which does not contain any Tensors.");
    for (int i = 0; i < r->count; i++) {
        if (r->tensors[i]->shape.rank == 0)
            return tw__fail(TW_VALUE_ERROR, "Elements in elems must be 1+ dimensional Tensors, not scalars");
    }
    const tw_shape *first = &r->tensors[0]->shape;
    for (int i = 1; alike && i < r->count; i++) {
        const tw_shape *other = &r->tensors[i]->shape;
        if (first->rank > 0 && other->rank > 0 && first->dims[0] >= 0 && other->dims[0] >= 0 && first->dims[0] != other->dims[0])
            return tw__fail(TW_VALUE_ERROR, "Dimensions %lld and %lld are not compatible", (long long)first->dims[0],
                            (long long)other->dims[0]);
    }
    return TW_OK;
}

static tw_tensor *slice_first(const tw__part *part, tw_tensor *shape)
{
    tw_auto tw_tensor *begin = tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ 0 }),
                      *end = tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ 1 });
    tw_auto tw_tensor *step = tw_retain(end);
    return tw__part_call(part, "strided_slice", &tw__op_StridedSlice, TW_IN(shape, begin, end, step), 4,
                         TW_WITH(TW_A_INT("shrink_axis_mask", 1)), 1);
}

static tw_status find_number(rows *r, int of)
{
    tw_tensor *tensor = r->tensors[of];
    r->known = tensor->shape.rank > 0 ? tensor->shape.dims[0] : -1;
    if (r->known > INT32_MAX)
        return tw__fail(TW_INVALID_ARGUMENT, "a loop over %lld rows", (long long)r->known);
    if (r->known >= 0) {
        r->number = tw_tensor_int((int32_t)r->known);
    } else {
        tw_auto tw_tensor *shape = tw__part_call(&r->part, "Shape", &tw__op_Shape, &tensor, 1, NULL, 0);
        r->number = shape ? slice_first(&r->part, shape) : NULL;
    }
    return r->number ? TW_OK : tw__error_status();
}

/* Where lengths differ those of one row stand for all: how vectorized_map counts. */
static tw_status find_single(rows *r)
{
    int longest = 0;
    for (int i = 1; i < r->count; i++) {
        const tw_shape *most = &r->tensors[longest]->shape, *shape = &r->tensors[i]->shape;
        if (most->rank > 0 && most->dims[0] == 1 && (shape->rank < 1 || shape->dims[0] != 1))
            longest = i;
    }
    TW_TRY(find_number(r, longest));
    for (int i = 0; i < r->count; i++) {
        const tw_shape *shape = &r->tensors[i]->shape;
        if (r->known == 1 || shape->rank < 1 || shape->dims[0] != 1)
            continue;
        r->single[i] = tw__call(&tw__op_Squeeze, &r->tensors[i], 1, TW_WITH(TW_A_INTS("squeeze_dims", &(int64_t){ 0 }, 1)), 1);
        TW_NEED(r->single[i]);
    }
    return TW_OK;
}

/* `shaped`: the arrays know the shape of the rows beforehand. `one_by_one`: every array is filled when it is made. */
static tw_status rows_begin(rows *r, tw_tensor *const *elems, int count, bool alike, bool spreads, bool shaped, bool one_by_one)
{
    r->tensors = tw__alloc_array((size_t)count + 1, sizeof *r->tensors);
    r->arrays = tw__alloc_array((size_t)count + 1, sizeof *r->arrays);
    r->single = tw__alloc_array((size_t)count + 1, sizeof *r->single);
    TW_NEED(r->tensors && r->arrays && r->single);
    r->count = count;
    for (int i = 0; i < count; i++) {
        if (!elems[i] || !(r->tensors[i] = tw__part_constant(&r->part, elems[i], "elem")))
            return tw__error_status();
    }
    TW_TRY(check_rows(r, alike));
    TW_TRY(spreads ? find_single(r) : find_number(r, 0));
    for (int pass = one_by_one; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            if (r->single[i])
                continue;
            tw_shape row = tw__array_row_shape(r->tensors[i]);
            if (!r->arrays[i] && !(r->arrays[i] = tw__array_new(r->tensors[i]->dtype, r->number, shaped ? &row : NULL, true)))
                return tw__error_status();
            tw_tensor_array *empty = pass ? r->arrays[i] : NULL;
            if (empty && !(r->arrays[i] = tw__array_unstack(empty, r->tensors[i], NULL))) {
                r->arrays[i] = empty;
                return tw__error_status();
            }
            tw_release(empty);
        }
    }
    return TW_OK;
}

/* The rows of that number, into places for them; new references. */
static tw_status rows_at(const rows *r, tw_tensor *index, tw_tensor **out)
{
    for (int i = 0; i < r->count; i++) {
        out[i] = r->single[i] ? tw_retain(r->single[i]) : tw__array_read(r->arrays[i], index, NULL);
        TW_NEED(out[i]);
    }
    return TW_OK;
}

/* number - less; computed beforehand if the number is known. */
static tw_tensor *minus(const tw__part *part, tw_tensor *number, int32_t less)
{
    if (!number->node)
        return tw_tensor_int((int32_t)tw_tensor_int_at(number, 0) - less);
    tw_auto tw_tensor *y = tw_tensor_int(less);
    return y ? tw__part_call(part, "sub", &tw__op_Sub, TW_IN(number, y), 2, NULL, 0) : NULL;
}

static tw_tensor *step(tw_tensor *number, bool down)
{
    tw_auto tw_tensor *one = tw_tensor_int(1);
    return !one ? NULL : down ? TW_CALL(Sub, number, one) : TW_CALL(AddV2, number, one);
}

/* ---- results ---- */

typedef struct results {
    int count;
    tw_tensor_array **arrays;
} results;

static tw_status results_begin(results *r, int count)
{
    r->arrays = tw__alloc_array((size_t)count + 1, sizeof *r->arrays);
    r->count = r->arrays ? count : 0;
    return r->arrays ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static void results_free(results *r)
{
    for (int i = 0; i < r->count; i++)
        tw_release(r->arrays[i]);
    tw__free(r->arrays);
}

/* Writes the values. In graphs the arrays come as values of the loop and go on as such; outside they are changed. */
static tw_status results_write(results *r, tw_tensor *index, tw_tensor *const *flows, tw_tensor *const *values, tw_tensor **next)
{
    for (int i = 0; i < r->count; i++) {
        tw_auto tw_tensor_array *array = flows ? tw__array_with(r->arrays[i], flows[i]) : tw_retain(r->arrays[i]);
        tw_auto tw_tensor_array *written = array && values[i] ? tw__array_write(array, index, values[i], NULL) : NULL;
        if (!written || (flows && !(next[i] = tw__array_flow(written))))
            return tw__error_status();
    }
    return TW_OK;
}

/* The arrays' values, one above the other, or behind the other; `flows` are the loop's last values or NULL. */
static tw_status results_end(results *r, const rows *source, tw_tensor *const *flows, const bool *joined, bool stops,
                             tw_tensor **out)
{
    for (int i = 0; i < r->count; i++) {
        tw_auto tw_tensor_array *array = flows ? tw__array_with(r->arrays[i], flows[i]) : tw_retain(r->arrays[i]);
        out[i] = !array ? NULL : joined && joined[i] ? tw__array_concat(array, NULL) : tw__array_stack(array, NULL);
        TW_NEED(out[i]);
        tw_shape shape = out[i]->shape;
        if (out[i]->node && !(joined && joined[i]) && shape.rank > 0) {
            shape.dims[0] = source->known >= 0 ? source->known : shape.dims[0];
            TW_TRY(tw__symbolic_refine(out[i], &shape));
        }
        if (stops && flows) {
            tw_auto tw_tensor *before = out[i];
            TW_NEED(out[i] = TW_CALL(StopGradient, before));
        }
    }
    return TW_OK;
}

static void release_all(tw_tensor **tensors, int count)
{
    for (int i = 0; tensors && i < count; i++)
        tw_release(tensors[i]);
    tw__free(tensors);
}

/* Tensors that a block owns: tw__auto(list_end) list in = { 0 }. */
typedef struct list {
    tw_tensor **items;
    int count;
} list;

static void list_end(list *l)
{
    release_all(l->items, l->count);
}

static bool list_make(list *l, int count)
{
    l->items = tw__alloc_array((size_t)count + 1, sizeof *l->items);
    l->count = l->items ? count : 0;
    return l->items != NULL;
}

/* How a body ends: one that failed gives nothing. */
static tw_status give_up(tw_status status, tw_tensor ***outputs, int *output_count)
{
    if (status != TW_OK) {
        release_all(*outputs, *output_count);
        *outputs = NULL;
        *output_count = 0;
    }
    return status;
}

/* ---- map ---- */

typedef struct map_loop {
    const tw__mapping *m;
    rows rows;
    results results;
    bool in_graph;
} map_loop;

static tw_status compare(const tw_op *op, tw_tensor *a, tw_tensor *b, tw_tensor ***outputs, int *output_count)
{
    *outputs = tw__alloc_array(2, sizeof **outputs);
    *output_count = *outputs ? 1 : 0;
    if (*outputs && b)
        (*outputs)[0] = tw__call(op, TW_IN(a, b), 2, NULL, 0);
    return give_up(*outputs && (*outputs)[0] ? TW_OK : tw__error_status(), outputs, output_count);
}

static tw_status map_cond(void *context, tw_tensor *const *values, __attribute__((unused)) int count, tw_tensor ***outputs,
                          int *output_count)
{
    const map_loop *loop = context;
    return compare(&tw__op_Less, values[0], loop->rows.number, outputs, output_count);
}

static tw_status begin_results(map_loop *loop, const tw_dtype *dtypes, int count)
{
    const tw__mapping *m = loop->m;
    TW_TRY(results_begin(&loop->results, count));
    for (int i = 0; i < count; i++) {
        const tw_spec *spec = m->specs ? &m->specs[i] : NULL;
        bool infers = m->infers && !(m->joined && m->joined[i]);
        loop->results.arrays[i] =
            tw__array_new(spec ? spec->dtype : dtypes[i], loop->rows.number, spec ? &spec->shape : NULL, infers);
        TW_NEED(loop->results.arrays[i]);
    }
    return TW_OK;
}

/* What a body gives is learnt by tracing it, for rows that are not there. */
static tw_status learn_results(map_loop *loop)
{
    const tw__mapping *m = loop->m;
    int count = loop->rows.count;
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    for (int i = 0; dtypes && shapes && i < count; i++) {
        dtypes[i] = loop->rows.tensors[i]->dtype;
        shapes[i] = tw__array_row_shape(loop->rows.tensors[i]);
    }
    tw_auto tw__function *f = dtypes && shapes ? tw__function_trace("map", dtypes, shapes, count, m->body, m->context) : NULL;
    TW_NEED(f);
    TW_TRY(results_begin(&loop->results, f->output_count));
    for (int i = 0; i < f->output_count; i++) {
        loop->results.arrays[i] =
            tw__array_new(tw__function_output_dtype(f, i), loop->rows.number, tw__function_output_shape(f, i), true);
        TW_NEED(loop->results.arrays[i]);
    }
    return TW_OK;
}

/* One row: what the function makes of it is written into the results. */
static tw_status map_row(map_loop *loop, tw_tensor *const *values, tw_tensor **outputs)
{
    const tw__mapping *m = loop->m;
    tw__auto(list_end) list in = { 0 }, made = { 0 };
    TW_NEED(list_make(&in, loop->rows.count));
    TW_TRY(rows_at(&loop->rows, values[0], in.items));
    TW_TRY(m->body(m->context, in.items, in.count, &made.items, &made.count));
    if (!loop->results.arrays) { /* the first row tells */
        tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)made.count + 1, sizeof *dtypes);
        TW_NEED(dtypes);
        for (int i = 0; i < made.count; i++)
            dtypes[i] = made.items[i]->dtype;
        TW_TRY(begin_results(loop, dtypes, made.count));
    }
    if (made.count != loop->results.count)
        return tw__fail(TW_VALUE_ERROR, "the function of a map gave %d tensors, expected %d", made.count, loop->results.count);
    TW_TRY(results_write(&loop->results, values[0], loop->in_graph ? values + 1 : NULL, made.items, outputs + 1));
    outputs[0] = step(values[0], false);
    return outputs[0] ? TW_OK : tw__error_status();
}

static tw_status map_body(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    *outputs = tw__alloc_array((size_t)count + 1, sizeof **outputs);
    *output_count = *outputs ? count : 0;
    return give_up(*outputs ? map_row(context, values, *outputs) : tw__error_status(), outputs, output_count);
}

/* Runs a loop over these values and what the results' arrays are in graphs; gives its last values. */
static tw_status run_loop(tw__loop *loop, tw_tensor *const *first, int first_count, const results *r, bool in_graph, list *last)
{
    int flows = in_graph ? r->count : 0;
    tw__auto(list_end) list values = { 0 };
    last->items = tw__alloc_array((size_t)(first_count + flows) + 1, sizeof *last->items);
    TW_NEED(last->items && list_make(&values, first_count + flows));
    for (int i = 0; i < first_count; i++)
        values.items[i] = tw_retain(first[i]);
    for (int i = 0; i < flows; i++)
        TW_NEED(values.items[first_count + i] = tw__array_flow(r->arrays[i]));
    loop->values = values.items;
    loop->count = values.count;
    TW_TRY(tw__while(loop, last->items));
    last->count = values.count;
    return TW_OK;
}

static tw_status map_over(map_loop *loop, tw_tensor ***outputs, int *output_count)
{
    const tw__mapping *m = loop->m;
    TW_TRY(rows_begin(&loop->rows, m->elems, m->elem_count, !m->spreads, m->spreads, false, false));
    tw_auto tw_tensor *zero = tw_tensor_int(0), *start = zero ? tw__part_constant(&loop->rows.part, zero, "Const") : NULL;
    TW_NEED(start);
    if (m->specs)
        TW_TRY(begin_results(loop, NULL, m->spec_count));
    else if (loop->in_graph || loop->rows.known == 0)
        TW_TRY(learn_results(loop));
    tw__loop loop_of = {
        .cond = map_cond, .body = map_body, .cond_context = loop, .body_context = loop, .maximum = loop->rows.number
    };
    tw__auto(list_end) list last = { 0 };
    TW_TRY(run_loop(&loop_of, &start, 1, &loop->results, loop->in_graph, &last));
    TW_NEED(*outputs = tw__alloc_array((size_t)loop->results.count + 1, sizeof **outputs));
    *output_count = loop->results.count;
    return results_end(&loop->results, &loop->rows, loop->in_graph ? last.items + 1 : NULL, m->joined, m->stops, *outputs);
}

/* A loop is over: its results count only if it and its names went well. */
static tw_status finish(tw_status status, tw__part *part, tw_tensor ***outputs, int *output_count)
{
    tw_status named = tw__part_end(part);
    status = status == TW_OK ? named : status;
    if (status != TW_OK) {
        release_all(*outputs, *output_count);
        *outputs = NULL;
        *output_count = 0;
    }
    return status;
}

tw_status tw__map_rows(const tw__mapping *m, tw_tensor ***outputs, int *output_count)
{
    map_loop loop = { .m = m, .rows = { .part = tw__part_begin(m->name, "map") }, .in_graph = tw__tracing != NULL };
    *outputs = NULL;
    *output_count = 0;
    tw_status status = map_over(&loop, outputs, output_count);
    status = finish(status, &loop.rows.part, outputs, output_count);
    rows_free(&loop.rows);
    results_free(&loop.results);
    return status;
}

/* ---- folds and scans ---- */

typedef struct fold_loop {
    const tw__folding *f;
    rows rows;
    results results; /* of a scan */
    int state_count;
    bool in_graph;
} fold_loop;

static tw_status fold_cond(void *context, tw_tensor *const *values, __attribute__((unused)) int count, tw_tensor ***outputs,
                           int *output_count)
{
    const fold_loop *loop = context;
    if (!loop->f->reverse)
        return compare(&tw__op_Less, values[0], loop->rows.number, outputs, output_count);
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    return compare(loop->f->scans ? &tw__op_GreaterEqual : &tw__op_Greater, values[0], zero, outputs, output_count);
}

static tw_status fold_row(fold_loop *loop, tw_tensor *const *values, tw_tensor **outputs)
{
    const tw__folding *f = loop->f;
    int states = loop->state_count;
    tw__auto(list_end) list in = { 0 }, made = { 0 };
    tw_auto tw_tensor *index =
        f->reverse && !f->scans ? step(values[0], true) : tw_retain(values[0]); /* foldr counts before it reads */
    TW_NEED(index && list_make(&in, states + loop->rows.count));
    for (int i = 0; i < states; i++)
        in.items[i] = tw_retain(values[1 + i]);
    TW_TRY(rows_at(&loop->rows, index, in.items + states));
    TW_TRY(f->body(f->context, in.items, in.count, &made.items, &made.count));
    if (made.count != states)
        return tw__fail(TW_VALUE_ERROR, "the function of a fold gave %d tensors, expected %d", made.count, states);
    if (f->scans)
        TW_TRY(
            results_write(&loop->results, index, loop->in_graph ? values + 1 + states : NULL, made.items, outputs + 1 + states));
    TW_NEED(outputs[0] = f->reverse && !f->scans ? tw_retain(index) : step(index, f->reverse));
    for (int i = 0; i < states; i++)
        outputs[1 + i] = tw_retain(made.items[i]);
    return TW_OK;
}

static tw_status fold_body(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    *outputs = tw__alloc_array((size_t)count + 1, sizeof **outputs);
    *output_count = *outputs ? count : 0;
    return give_up(*outputs ? fold_row(context, values, *outputs) : tw__error_status(), outputs, output_count);
}

/* What the loop begins with: values[0] is the number of the first row, or one more (foldr); then the state. */
static tw_status fold_begin(fold_loop *loop, tw_tensor **values)
{
    const tw__folding *f = loop->f;
    const tw__part *part = &loop->rows.part;
    tw_tensor *number = loop->rows.number;
    int begin = f->initial ? 0 : 1;
    if (!f->scans && f->reverse)
        values[0] = begin ? minus(part, number, 1) : tw_retain(number);
    for (int i = 0; i < loop->state_count; i++) {
        if (f->initial) {
            values[1 + i] = tw__part_constant(part, f->initial[i], "Const");
        } else {
            tw_auto tw_tensor *index = !f->reverse ? tw_tensor_int(0) : values[0] ? tw_retain(values[0]) : minus(part, number, 1);
            values[1 + i] = index ? tw__array_read(loop->rows.arrays[i], index, NULL) : NULL;
        }
        if (!values[1 + i])
            return tw__error_status();
    }
    TW_TRY(f->scans ? results_begin(&loop->results, loop->state_count) : TW_OK);
    for (int i = 0; i < loop->results.count; i++) {
        const tw_tensor *state = values[1 + i];
        TW_NEED(loop->results.arrays[i] = tw__array_new(state->dtype, number, f->infers ? &state->shape : NULL, f->infers));
    }
    for (int i = 0; begin && i < loop->results.count; i++) {
        tw_auto tw_tensor *index = f->reverse ? minus(part, number, 1) : tw_tensor_int(0);
        tw_tensor_array *empty = loop->results.arrays[i],
                        *written = index ? tw__array_write(empty, index, values[1 + i], NULL) : NULL;
        TW_NEED(written);
        loop->results.arrays[i] = written;
        tw_release(empty);
    }
    if (!f->reverse) {
        values[0] = tw_tensor_int(begin);
    } else if (f->scans) {
        tw_auto tw_tensor *last = minus(part, number, 1);
        values[0] = last ? minus(part, last, begin) : NULL;
    }
    tw_auto tw_tensor *start = values[0];
    values[0] = start ? tw__part_constant(part, start, "Const") : NULL;
    return values[0] ? TW_OK : tw__error_status();
}

static tw_status fold_over(fold_loop *loop, tw_tensor ***outputs, int *output_count)
{
    const tw__folding *f = loop->f;
    TW_TRY(rows_begin(&loop->rows, f->elems, f->elem_count, f->scans && loop->in_graph, false, f->scans, !f->scans));
    loop->state_count = f->initial ? f->initial_count : f->elem_count;
    int states = loop->state_count;
    tw__auto(list_end) list values = { 0 }, last = { 0 };
    TW_NEED(list_make(&values, 1 + states));
    TW_TRY(fold_begin(loop, values.items));
    tw__loop loop_of = {
        .cond = fold_cond, .body = fold_body, .cond_context = loop, .body_context = loop, .maximum = loop->rows.number
    };
    TW_TRY(run_loop(&loop_of, values.items, values.count, &loop->results, loop->in_graph, &last));
    TW_NEED(*outputs = tw__alloc_array((size_t)states + 1, sizeof **outputs));
    *output_count = states;
    if (f->scans)
        return results_end(&loop->results, &loop->rows, loop->in_graph ? last.items + 1 + states : NULL, NULL, f->stops,
                           *outputs);
    for (int i = 0; i < states; i++)
        TW_NEED((*outputs)[i] =
                    f->stops && loop->in_graph ? TW_CALL(StopGradient, last.items[1 + i]) : tw_retain(last.items[1 + i]));
    return TW_OK;
}

tw_status tw__fold_rows(const tw__folding *f, tw_tensor ***outputs, int *output_count)
{
    const char *usual = f->scans ? "scan" : f->reverse ? "foldr" : "foldl";
    fold_loop loop = { .f = f, .rows = { .part = tw__part_begin(f->name, usual) }, .in_graph = tw__tracing != NULL };
    *outputs = NULL;
    *output_count = 0;
    tw_status status = fold_over(&loop, outputs, output_count);
    status = finish(status, &loop.rows.part, outputs, output_count);
    rows_free(&loop.rows);
    results_free(&loop.results);
    return status;
}
