/* A call on constants alone runs while the plan is made, and its results are constants; so do calls that ask for shapes, once
 * these are known. The graph itself does not change. */
#include "exec/internal.h"
#include "rows.h"

static const int64_t fold_bytes_limit = 1 << 20;

bool tw__node_has_function(const tw__node *node)
{
    for (int i = 0; i < node->attr_count; i++) {
        if (node->attrs[i].kind == TW_ATTR_FUNC || node->attrs[i].kind == TW_ATTR_FUNCS)
            return true;
    }
    return false;
}

static bool is_small(const tw__draft *draft, const tw__node *node)
{
    int64_t bytes = 0;
    for (int k = 0; k < node->output_count; k++) {
        int64_t count = tw__place_count(draft->plan, tw__draft_place(draft, node, k));
        tw_dtype dtype = node->out_dtypes[k];
        if (dtype == TW_RESOURCE || dtype == TW_VARIANT || count < 0 || count > fold_bytes_limit)
            return false;
        bytes += count * (int64_t)tw__element_size(dtype);
    }
    return bytes <= fold_bytes_limit;
}

bool tw__pass_fold(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    tw__plan *plan = draft->plan;
    const tw_op *op = node->op;
    enum { MOST = 16 };
    tw_tensor stand_ins[MOST];
    if (op->stateful || op->free_state || !op->compute || op->role == TW_ROLE_PLACEHOLDER || node->input_count == 0 ||
        node->input_count > MOST || node->output_count > MOST || tw__node_has_function(node) || !is_small(draft, node))
        return false;
    tw_tensor *values[MOST], *outputs[MOST] = { NULL };
    for (int k = 0; k < node->input_count; k++) {
        values[k] = plan->places[inputs[k]].constant;
        if (values[k])
            continue;
        int64_t count = tw__place_count(plan, inputs[k]);
        if (!op->asks_shapes || count < 0)
            return false;
        stand_ins[k] =
            (tw_tensor){ .dtype = plan->places[inputs[k]].dtype, .shape = plan->places[inputs[k]].shape, .count = count };
        values[k] = &stand_ins[k];
    }
    tw_status status = TW_OK;
    for (int k = 0; k < node->output_count && !op->makes_outputs && status == TW_OK; k++) {
        outputs[k] = tw__tensor_empty(node->out_dtypes[k], &plan->places[tw__draft_place(draft, node, k)].shape);
        status = outputs[k] ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw__kernel kernel = { op, node->input_count, node->output_count, values, outputs, node->attrs, node->out_dtypes, NULL };
    if (status == TW_OK)
        status = op->compute(&kernel);
    if (status != TW_OK)
        tw_clear_error(); /* it is reported when the call is really made */
    for (int k = 0; k < node->output_count; k++) {
        tw__place *place = &plan->places[tw__draft_place(draft, node, k)];
        if (status == TW_OK) {
            place->constant = outputs[k];
            place->shape = outputs[k]->shape;
        } else {
            tw_release(outputs[k]);
        }
    }
    return status == TW_OK;
}
