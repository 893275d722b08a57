/* Operators that run other subgraphs, and those of variables. A variable is what VAR_HANDLE names: in a pass it is its value,
 * which the interpreter keeps from run to run. */
#include "function/control.h"
#include "lite/lite.h"
#include "rows.h"

/* A subgraph as the body of a branch or loop. */
typedef struct body {
    tw__lite_call *call;
    int64_t subgraph;
    tw_tensor *const *inputs; /* of a branch, which has no arguments */
    int count;
} body;

static tw_status branch_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const body *b = context;
    (void)arguments, (void)count;
    return tw__lite_subgraph_run(b->call->pass, b->subgraph, b->inputs, b->count, outputs, output_count);
}

static tw_status loop_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const body *b = context;
    return tw__lite_subgraph_run(b->call->pass, b->subgraph, arguments, count, outputs, output_count);
}

static tw_status condition_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    TW_TEMPS(t);
    TW_TRY(loop_body(context, arguments, count, outputs, output_count));
    tw_tensor *first = *output_count == 1 ? (*outputs)[0] : NULL;
    if (first && first->dtype == TW_BOOL && first->shape.rank > 0) { /* [1], as some files have it */
        tw_tensor *scalar = tw__temp_reshape(t, first, NULL, 0);
        TW_NEED(scalar);
        tw__set(&(*outputs)[0], scalar);
    }
    return TW_OK;
}

static tw_status none_left_out(const tw__lite_call *c)
{
    for (int i = 0; i < c->count; i++) {
        if (!c->in[i])
            return tw__fail(TW_INVALID_ARGUMENT, "input %d is left out", i);
    }
    return TW_OK;
}

tw_status tw__lite_while(tw__lite_call *c)
{
    TW_TRY(none_left_out(c));
    if (c->out_count != c->count)
        return tw__fail(TW_INVALID_ARGUMENT, "it has %d inputs and %d outputs", c->count, c->out_count);
    body condition = { c, tw__flat_int(&c->options, 0, 4, 0), NULL, 0 },
         step = { c, tw__flat_int(&c->options, 1, 4, 0), NULL, 0 };
    tw__loop loop = { .cond = condition_body,
                      .body = loop_body,
                      .cond_context = &condition,
                      .body_context = &step,
                      .values = c->in,
                      .count = c->count };
    return tw__while(&loop, c->out);
}

tw_status tw__lite_if(tw__lite_call *c)
{
    tw__temps *t = c->t;
    TW_TRY(none_left_out(c));
    body then = { c, tw__flat_int(&c->options, 0, 4, 0), c->in + 1, c->count - 1 },
         otherwise = { c, tw__flat_int(&c->options, 1, 4, 0), c->in + 1, c->count - 1 };
    tw_tensor *predicate = c->in[0]->shape.rank ? tw__temp_reshape(t, c->in[0], NULL, 0) : c->in[0];
    TW_NEED(predicate);
    tw_tensor **made = NULL;
    int count = 0;
    TW_TRY(tw__cond(predicate, branch_body, &then, branch_body, &otherwise, &made, &count));
    tw_status status = count == c->out_count
                           ? TW_OK
                           : tw__fail(TW_INVALID_ARGUMENT, "its branches give %d values, expected %d", count, c->out_count);
    for (int i = 0; i < count; i++) {
        if (status == TW_OK)
            c->out[i] = made[i];
        else
            tw_release(made[i]);
    }
    tw__free(made);
    return status;
}

/* ---- variables ---- */

tw_status tw__lite_once(tw__lite_call *c)
{
    (void)c; /* the interpreter ran it */
    return TW_OK;
}

tw_status tw__lite_var_handle(tw__lite_call *c)
{
    return tw__lite_give(c, tw__temp(c->t, tw__tensor_of_object(TW_RESOURCE, c->pass->model)));
}

/* The name that the handle has, which must be made in the same subgraph. */
static tw_status variable_name(const tw__lite_call *c, tw_string *name)
{
    const tw__lite_subgraph *graph = c->pass->graph;
    int64_t handle = tw__flat_int_at(&c->node->inputs, 0, 4);
    for (int i = 0; i < graph->operator_count; i++) {
        const tw__lite_operator *one = &graph->operators[i];
        const struct tw__lite_code *code = &c->pass->model->codes[one->code];
        if (one->outputs.count == 1 && tw__flat_int_at(&one->outputs, 0, 4) == handle && code->builtin >= 0 &&
            code->builtin < TW_LITE_BUILTINS && tw__lite_builtins[code->builtin].build == tw__lite_var_handle) {
            *name = tw__flat_text(&one->options, 1);
            if (c->pass->state)
                return TW_OK;
        }
    }
    return tw__lite_refuse("variables inside of branches and loops are not supported");
}

tw_status tw__lite_read_variable(tw__lite_call *c)
{
    tw_string name;
    TW_TRY(variable_name(c, &name));
    tw_tensor *value = tw__map_get(&c->pass->state->named, name.data, name.size);
    return value ? tw__lite_give(c, value) : tw__fail(TW_FAILED_PRECONDITION, "the variable '%s' has no value yet", name.data);
}

tw_status tw__lite_assign_variable(tw__lite_call *c)
{
    tw_string name;
    TW_TRY(variable_name(c, &name));
    tw_tensor *before = tw__map_get(&c->pass->state->named, name.data, name.size);
    if (c->pass->state->fixed && !before)
        return tw__lite_refuse("the variable '%s' has no first value", name.data);
    if (before && (before->dtype != c->in[1]->dtype || !tw__shape_compatible(&before->shape, &c->in[1]->shape)))
        return tw__lite_refuse("the variable '%s' would become %s %s, but is %s %s", name.data, tw_dtype_name(c->in[1]->dtype),
                               tw__shape_text(&c->in[1]->shape), tw_dtype_name(before->dtype), tw__shape_text(&before->shape));
    TW_TRY(tw__map_put(&c->pass->state->named, name.data, name.size, tw_retain(c->in[1])));
    tw_release(before);
    return TW_OK;
}
