/* What the planner leaves out: calls whose values are known already. The graph itself does not change.
 *
 *   forward  Identity and its kin: the value is the input's
 *   fold     a call on constants alone runs now, and its results are constants; so do calls that ask for shapes, once these are known
 *   share    the same op with the same attrs on the same values, again: the earlier results. Reads of a variable are the same while
 *            nothing with side effects stands between them
 */
#include "exec/internal.h"
#include "rows.h"

static const int64_t fold_bytes_limit = 1 << 20;

static int32_t place_of(const tw__draft *draft, const tw__node *node, int output)
{
    return draft->first_place[node->id] + output;
}

bool tw__pass_forward(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    static const tw_op *const same[] = { &tw__op_Identity, &tw__op_IdentityN, &tw__op_StopGradient, &tw__op_PreventGradient, &tw__op_Snapshot };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (node->op != same[i])
            continue;
        for (int k = 0; k < node->output_count; k++)
            draft->stands_for[place_of(draft, node, k)] = inputs[k];
        return true;
    }
    return false;
}

static bool has_function(const tw__node *node)
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
        int64_t count = tw__place_count(draft->plan, place_of(draft, node, k));
        tw_dtype dtype = node->out_dtypes[k];
        if (dtype == TW_RESOURCE || dtype == TW_VARIANT || count < 0 || count > fold_bytes_limit)
            return false;
        bytes += count * (int64_t)tw__element_size(dtype);
    }
    return bytes <= fold_bytes_limit;
}

/* Ops that ask for the shapes of their inputs alone. */
static bool asks_shapes(const tw_op *op)
{
    return op == &tw__op_Shape || op == &tw__op_ShapeN || op == &tw__op_Size || op == &tw__op_Rank;
}

bool tw__pass_fold(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    tw__plan *plan = draft->plan;
    const tw_op *op = node->op;
    enum { MOST = 16 };
    tw_tensor stand_ins[MOST];
    if (op->stateful || op->free_state || !op->compute || op == &tw__op_Placeholder || node->input_count == 0 || node->input_count > MOST ||
        node->output_count > MOST || has_function(node) || !is_small(draft, node))
        return false;
    tw_tensor *values[MOST], *outputs[MOST] = { NULL };
    for (int k = 0; k < node->input_count; k++) {
        values[k] = plan->places[inputs[k]].constant;
        if (values[k])
            continue;
        int64_t count = tw__place_count(plan, inputs[k]);
        if (!asks_shapes(op) || count < 0)
            return false;
        stand_ins[k] = (tw_tensor){ .dtype = plan->places[inputs[k]].dtype, .shape = plan->places[inputs[k]].shape, .count = count };
        values[k] = &stand_ins[k];
    }
    tw_status status = TW_OK;
    for (int k = 0; k < node->output_count && !op->makes_outputs && status == TW_OK; k++) {
        outputs[k] = tw__tensor_empty(node->out_dtypes[k], &plan->places[place_of(draft, node, k)].shape);
        status = outputs[k] ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw__kernel kernel = { op, node->input_count, node->output_count, values, outputs, node->attrs, node->out_dtypes, NULL };
    if (status == TW_OK)
        status = op->compute(&kernel);
    if (status != TW_OK)
        tw_clear_error(); /* it is reported when the call is really made */
    for (int k = 0; k < node->output_count; k++) {
        tw__place *place = &plan->places[place_of(draft, node, k)];
        if (status == TW_OK) {
            place->constant = outputs[k];
            place->shape = outputs[k]->shape;
        } else {
            tw_release(outputs[k]);
        }
    }
    return status == TW_OK;
}

/* True if the key came before: the outputs stand for those that it came with. */
static bool seen_before(tw__draft *draft, const tw__node *node, tw__text *key)
{
    intptr_t earlier = key->failed ? 0 : (intptr_t)tw__map_get(&draft->seen, key->data, key->size);
    for (int k = 0; earlier && k < node->output_count; k++)
        draft->stands_for[place_of(draft, node, k)] = draft->stands_for[earlier - 1 + k];
    if (!earlier && (key->failed || tw__map_put(&draft->seen, key->data, key->size, (void *)(intptr_t)(place_of(draft, node, 0) + 1)) != TW_OK))
        tw_clear_error(); /* only a chance is lost */
    tw__text_free(key);
    return earlier;
}

bool tw__pass_share_constant(tw__draft *draft, const tw__node *node, const tw_tensor *value)
{
    tw__text key = { 0 };
    int64_t bytes = value->count * (int64_t)tw__element_size(value->dtype);
    if (value->dtype == TW_STRING || value->dtype == TW_RESOURCE || value->dtype == TW_VARIANT || bytes > TW_INLINE_BYTES)
        return false;
    tw__text_bytes(&key, &node->op, sizeof node->op);
    tw__text_bytes(&key, &value->dtype, sizeof value->dtype);
    tw__text_bytes(&key, &value->shape.rank, sizeof value->shape.rank);
    tw__text_bytes(&key, value->shape.dims, (size_t)value->shape.rank * sizeof *value->shape.dims);
    tw__text_bytes(&key, value->data, (size_t)bytes);
    return seen_before(draft, node, &key);
}

bool tw__pass_share(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    bool read = node->op == &tw__op_ReadVariableOp;
    if ((node->op->stateful && !read) || node->op->free_state || node->op == &tw__op_Placeholder || has_function(node))
        return false;
    for (int k = 0; k < node->output_count; k++) {
        if (node->out_dtypes[k] == TW_VARIANT)
            return false;
    }
    tw__text key = { 0 };
    int64_t version = read ? draft->version : -1;
    tw__text_bytes(&key, &node->op, sizeof node->op);
    tw__text_bytes(&key, &version, sizeof version);
    tw__text_bytes(&key, inputs, (size_t)node->input_count * sizeof *inputs);
    tw__attrs_key(&key, node->attrs, node->attr_count);
    return seen_before(draft, node, &key);
}
