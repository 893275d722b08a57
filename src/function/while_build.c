/* Making a loop: its condition and body are traced and a While is called; where nothing is traced it runs at once. */
#include "base/pause.h"
#include "function/control.h"
#include "op/calls.h"
#include "rows.h"

enum { OWN = 2 }; /* the values before the caller's: the counter and its limit */

static tw_status apply_while(const tw__part *part, tw__function *cond, tw__function *body, tw_tensor *const *inputs,
                             const tw_shape *shapes, int count, tw_tensor **outputs)
{
    tw_attr attrs[] = { TW_A_FUNC("cond", cond),
                        TW_A_FUNC("body", body),
                        { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = count, .shapes = shapes } };
    int output_count = count;
    return tw__part_apply(part, "", cond->stateful || body->stateful ? &tw__op_While : &tw__op_StatelessWhile, inputs, count,
                          attrs, 3, outputs, &output_count);
}

/* In lasting graphs every value that comes out of the loop is an Identity of its own. */
static tw_status name_outputs(const tw__part *part, tw_tensor **results, int count)
{
    for (int i = 0; part->graph && part->graph->lasting && i < count; i++) {
        tw_auto tw_tensor *value = results[i];
        TW_NEED(results[i] = tw__part_call(part, "Identity", &tw__op_Identity, &value, 1, NULL, 0));
    }
    return TW_OK;
}

static tw_status trace_cond(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const tw__loop *loop = context;
    TW_TRY(loop->cond(loop->cond_context, arguments + OWN, count - OWN, outputs, output_count));
    if (*output_count != 1 || !(*outputs)[0])
        return tw__fail(TW_TYPE_ERROR, "cond of a loop must return one boolean scalar tensor, got %d values", *output_count);
    tw_tensor *truth = (*outputs)[0];
    if (truth->dtype != TW_BOOL || truth->shape.rank > 0)
        return tw__fail(TW_TYPE_ERROR, "cond must return a boolean scalar tensor, got %s %s", tw_dtype_name(truth->dtype),
                        tw__shape_text(&truth->shape));
    if (!loop->maximum)
        return TW_OK;
    tw_auto tw_tensor *fewer = TW_CALL(Less, arguments[0], arguments[1]);
    tw_tensor *both = TW_CALL(LogicalAnd, fewer, truth);
    tw_release(truth);
    (*outputs)[0] = both;
    return both ? TW_OK : tw__error_status();
}

static tw_status check_value(const tw__loop *loop, int i, const tw_tensor *before, const tw_tensor *after)
{
    if (!after)
        return tw__fail(TW_VALUE_ERROR, "body of a loop gave no value %d", i);
    const tw_tensor *first = loop->values[i]; /* one that is no node yet will be a constant */
    const char *name = first->node ? first->node->name : "Const";
    int output = first->node ? first->node_output : 0;
    if (after->dtype != before->dtype)
        return tw__fail(
            TW_TYPE_ERROR,
            "Loop var %s:%d enters the loop with type <dtype: '%s'> but has type <dtype: '%s'> after 1 iteration. %s:%d type should remain "
            "constant.",
            name, output, tw_dtype_name(before->dtype), tw_dtype_name(after->dtype), name, output);
    bool fits = loop->trusted || before->shape.rank < 0 || after->shape.rank == before->shape.rank;
    for (int d = 0; fits && !loop->trusted && d < before->shape.rank; d++)
        fits = before->shape.dims[d] < 0 || before->shape.dims[d] == after->shape.dims[d];
    if (fits)
        return TW_OK;
    tw__owned char *was = tw__shape_tuple(&before->shape), *is = tw__shape_tuple(&after->shape);
    return tw__fail(
        TW_VALUE_ERROR,
        "Input tensor `%s:%d` enters the loop with shape %s, but has shape %s after one iteration. To allow the shape to "
        "vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.",
        name, output, was ? was : "", is ? is : "");
}

static tw_status trace_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const tw__loop *loop = context;
    tw__owned tw_tensor **own = NULL;
    tw_tensor **results = tw__alloc_array((size_t)count + 1, sizeof *results);
    int own_count = 0;
    tw_status status =
        results ? loop->body(loop->body_context, arguments + OWN, count - OWN, &own, &own_count) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && own_count != count - OWN)
        status = tw__fail(TW_VALUE_ERROR, "body of a loop gave %d values for %d", own_count, count - OWN);
    for (int i = 0; status == TW_OK && i < own_count; i++)
        status = check_value(loop, i, arguments[OWN + i], own[i]);
    if (status == TW_OK) {
        tw_auto tw_tensor *one = tw_tensor_int(1);
        results[0] = TW_CALL(AddV2, arguments[0], one);
        results[1] = tw_retain(arguments[1]);
        if (!results[0])
            status = tw__error_status();
    }
    for (int i = 0; own && i < own_count; i++) {
        if (status == TW_OK)
            results[OWN + i] = own[i];
        else
            tw_release(own[i]);
    }
    *outputs = results;
    *output_count = results ? count : 0;
    return status;
}

/* What is said to hold in every iteration must hold of the values before the first one. */
static tw_status check_invariants(const tw__loop *loop)
{
    for (int i = 0; loop->shapes && !loop->trusted && i < loop->count; i++) {
        const tw_tensor *value = loop->values[i];
        if (tw__shape_compatible(&loop->shapes[i], &value->shape))
            continue;
        char *is = tw__shape_tuple(&value->shape), *said = tw__shape_tuple(&loop->shapes[i]);
        tw_status status = tw__fail(
            TW_VALUE_ERROR,
            "The shape invariant specified for %s:%d is not compatible with the initial shape of the loop variable. It enters the "
            "loop with shape %s, but the specified shape invariant is %s.",
            value->node ? value->node->name : "Const", value->node ? value->node_output : 0, is ? is : "", said ? said : "");
        tw__free(is);
        tw__free(said);
        return status;
    }
    return TW_OK;
}

static tw_status build(const tw__part *part, const tw__loop *loop, tw_tensor *const *first, tw_tensor **outputs)
{
    int own = OWN + loop->count;
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)own + 1, sizeof *dtypes);
    tw__owned tw_shape *arg_shapes = tw__alloc_array((size_t)own + 1, sizeof *arg_shapes);
    for (int i = 0; dtypes && arg_shapes && i < own; i++) {
        dtypes[i] = first[i]->dtype;
        arg_shapes[i] = i < OWN ? TW_SCALAR : loop->shapes ? loop->shapes[i - OWN] : first[i]->shape;
    }
    tw_auto tw__function *cond =
        dtypes && arg_shapes ? tw__function_trace("while_cond", dtypes, arg_shapes, own, trace_cond, (void *)loop) : NULL;
    tw_auto tw__function *body =
        cond ? tw__function_trace("while_body", dtypes, arg_shapes, own, trace_body, (void *)loop) : NULL;
    tw__owned tw_tensor **captures = NULL;
    int count = 0;
    TW_NEED(body);
    TW_TRY(tw__control_unite(&captures, &count, cond));
    TW_TRY(tw__control_unite(&captures, &count, body));
    TW_TRY(tw__function_set_captures(cond, captures, count));
    TW_TRY(tw__function_set_captures(body, captures, count));
    TW_TRY(tw__function_pass_captures(body));
    int all = own + count;
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)all + 1, sizeof *inputs);
    tw__held tw_tensor **results = tw__held_new((size_t)all);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)all + 1, sizeof *shapes);
    TW_NEED(inputs && results && shapes);
    for (int i = 0; i < all; i++) {
        inputs[i] = i < own ? first[i] : captures[i - own];
        shapes[i] = i < own ? arg_shapes[i] : captures[i - own]->shape;
    }
    TW_TRY(apply_while(part, cond, body, inputs, shapes, all, results));
    TW_TRY(name_outputs(part, results, all));
    for (int i = OWN; i < own; i++)
        outputs[i - OWN] = TW_TAKE(results[i]);
    return TW_OK;
}

/* Nothing is traced: the bodies are called as they are. */
static tw_status run_at_once(const tw__loop *loop, tw_tensor **now)
{
    int64_t limit = loop->maximum ? tw_tensor_int_at(loop->maximum, 0) : INT64_MAX;
    for (int64_t round = 0; round < limit; round++) {
        tw_tensor **out = NULL;
        int count = 0;
        TW_TRY(tw__pause());
        TW_TRY(loop->cond(loop->cond_context, now, loop->count, &out, &count));
        bool go_on = count == 1 && out[0] && out[0]->data && tw_tensor_int_at(out[0], 0);
        for (int i = 0; i < count; i++)
            tw_release(out[i]);
        tw__free(out);
        if (!go_on)
            break;
        out = NULL;
        TW_TRY(loop->body(loop->body_context, now, loop->count, &out, &count));
        tw_status status =
            count == loop->count ? TW_OK : tw__fail(TW_VALUE_ERROR, "body of a loop gave %d values for %d", count, loop->count);
        for (int i = 0; i < count; i++) {
            if (status == TW_OK) {
                tw_release(now[i]);
                now[i] = out[i];
            } else {
                tw_release(out[i]);
            }
        }
        tw__free(out);
        TW_TRY(status);
    }
    return TW_OK;
}

tw_status tw__while(const tw__loop *loop, tw_tensor **outputs)
{
    bool symbolic = tw__tracing || (loop->maximum && loop->maximum->node);
    for (int i = 0; i < loop->count; i++) {
        TW_NEED(loop->values[i]);
        symbolic |= loop->values[i]->node != NULL;
    }
    if (!symbolic) {
        for (int i = 0; i < loop->count; i++)
            outputs[i] = tw_retain(loop->values[i]);
        tw_status status = run_at_once(loop, outputs);
        for (int i = 0; status != TW_OK && i < loop->count; i++) {
            tw_release(outputs[i]);
            outputs[i] = NULL;
        }
        return status;
    }
    TW_TRY(check_invariants(loop));
    tw__part part = loop->trusted ? (tw__part){ 0 } : tw__part_begin(loop->name, "while");
    tw_auto tw_tensor *zero = tw_tensor_int(0), *none = loop->maximum ? tw_retain(loop->maximum) : tw_tensor_int(-1);
    tw_auto tw_tensor *limit = none ? tw__part_constant(&part, none, "maximum_iterations") : NULL;
    tw_auto tw_tensor *counter = zero && limit ? tw__part_constant(&part, zero, "loop_counter") : NULL;
    tw__owned tw_tensor **first = tw__alloc_array((size_t)loop->count + OWN, sizeof *first);
    tw_status status = counter && first ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        first[0] = counter;
        first[1] = limit;
        if (loop->count)
            memcpy(first + OWN, loop->values, (size_t)loop->count * sizeof *first);
        status = build(&part, loop, first, outputs);
    }
    bool named = part.graph != NULL;
    tw_status ended = tw__part_end(&part);
    if (status != TW_OK)
        return status;
    if (ended == TW_OK && !named && loop->name && *loop->name && loop->count && outputs[0]->node)
        ended = tw__node_rename(outputs[0]->node, loop->name);
    for (int i = 0; ended != TW_OK && i < loop->count; i++) {
        tw_release(outputs[i]);
        outputs[i] = NULL;
    }
    return ended;
}
