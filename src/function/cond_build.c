/* Making branches: the bodies are traced and an If or a Case is called; where nothing is traced the chosen one runs at once. */
#include "function/control.h"
#include "rows.h"

tw_status tw__control_unite(tw_tensor ***list, int *count, const tw__function *f)
{
    int captures = f->input_count - f->argument_count;
    tw_tensor **more = tw__realloc(*list, ((size_t)(*count + captures) + 1) * sizeof *more);
    TW_NEED(more);
    *list = more;
    for (int i = 0; i < captures; i++) {
        bool there = false;
        for (int k = 0; k < *count && !there; k++)
            there = more[k] == f->captures[i];
        if (!there)
            more[(*count)++] = f->captures[i];
    }
    return TW_OK;
}

static tw_status apply(bool by_case, tw__function *const *branches, int count, tw_tensor *const *inputs, int input_count,
                       tw_tensor **outputs, int output_count)
{
    tw__owned tw_dtype *types = tw__alloc_array((size_t)output_count + 1, sizeof *types);
    TW_NEED(types);
    bool stateful = false;
    for (int i = 0; i < output_count; i++)
        types[i] = tw__function_output_dtype(branches[0], i);
    for (int b = 0; b < count; b++)
        stateful |= branches[b]->stateful;
    tw_attr of_if[] = { TW_A_TYPES("Tout", types, output_count), TW_A_FUNC("then_branch", branches[0]),
                        TW_A_FUNC("else_branch", branches[count - 1]) };
    tw_attr of_case[] = { of_if[0], TW_A_FUNCS("branches", (void *const *)branches, count) };
    const tw_op *op = by_case ? (stateful ? &tw__op_Case : &tw__op_StatelessCase) : (stateful ? &tw__op_If : &tw__op_StatelessIf);
    return tw__apply(op, inputs, input_count, by_case ? of_case : of_if, by_case ? 2 : 3, outputs, &output_count);
}

static tw_status check_alike(bool by_case, tw__function *const *branches, int count)
{
    const tw__function *a = branches[0];
    for (int b = 1; b < count; b++) {
        const char *first = by_case ? "branches[0]" : "true_fn", *function = by_case ? "tf.switch_case" : "tf.cond";
        char number[32];
        snprintf(number, sizeof number, by_case ? "branches[%d]" : "false_fn", b);
        if (branches[b]->output_count != a->output_count)
            return tw__fail(TW_TYPE_ERROR, "%s and %s must return the same number of values, got %d and %d", first, number,
                            a->output_count, branches[b]->output_count);
        for (int i = 0; i < a->output_count; i++) {
            tw_dtype x = tw__function_output_dtype(a, i), y = tw__function_output_dtype(branches[b], i);
            if (x != y)
                return tw__fail(
                    TW_TYPE_ERROR,
                    "%s and %s arguments to %s must have the same number, type, and overall structure of return values. "
                    "Output %d is %s in %s and %s in %s",
                    first, number, function, i, tw_dtype_name(x), first, tw_dtype_name(y), number);
        }
    }
    return TW_OK;
}

static tw_status build(bool by_case, tw_tensor *selector, tw__function **branches, int count, tw_tensor ***outputs,
                       int *output_count)
{
    TW_TRY(check_alike(by_case, branches, count));
    tw__owned tw_tensor **captures = NULL;
    int captured = 0;
    for (int b = 0; b < count; b++)
        TW_TRY(tw__control_unite(&captures, &captured, branches[b]));
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)captured + 2, sizeof *inputs);
    tw__owned tw_tensor **made = tw__alloc_array((size_t)branches[0]->output_count + 1, sizeof *made);
    TW_NEED(inputs && made);
    inputs[0] = selector;
    memcpy(inputs + 1, captures, (size_t)captured * sizeof *inputs);
    for (int b = 0; b < count; b++)
        TW_TRY(tw__function_set_captures(branches[b], inputs + 1, captured));
    TW_TRY(apply(by_case, branches, count, inputs, captured + 1, made, branches[0]->output_count));
    *output_count = branches[0]->output_count;
    *outputs = TW_TAKE(made);
    return TW_OK;
}

static tw_status trace_and_build(bool by_case, tw_tensor *selector, const tw__branch *branches, int count, tw_tensor ***outputs,
                                 int *output_count)
{
    tw__held tw__function **made = tw__held_new((size_t)count);
    TW_NEED(made);
    for (int i = 0; i < count; i++) {
        tw__owned char *name =
            by_case ? tw__format("switch_case_indexed_case_branch%d", i) : tw__strdup(i ? "cond_false" : "cond_true");
        made[i] = name ? tw__function_trace(name, NULL, NULL, 0, branches[i].body, branches[i].context) : NULL;
        TW_NEED(made[i]);
    }
    return build(by_case, selector, made, count, outputs, output_count);
}

tw_status tw__cond(tw_tensor *predicate, tw__function_body then_body, void *then_context, tw__function_body else_body,
                   void *else_context, tw_tensor ***outputs, int *output_count)
{
    *outputs = NULL;
    *output_count = 0;
    TW_NEED(predicate);
    if (!tw__tracing && !predicate->node) {
        bool truth = false;
        TW_TRY(tw__predicate_is(&tw__op_If, predicate, &truth));
        return truth ? then_body(then_context, NULL, 0, outputs, output_count)
                     : else_body(else_context, NULL, 0, outputs, output_count);
    }
    tw__branch branches[] = { { then_body, then_context }, { else_body, else_context } };
    return trace_and_build(false, predicate, branches, 2, outputs, output_count);
}

tw_status tw__switch(tw_tensor *index, const tw__branch *branches, int count, tw_tensor ***outputs, int *output_count)
{
    *outputs = NULL;
    *output_count = 0;
    TW_NEED(index);
    if (index->dtype != TW_INT32 || index->shape.rank > 0)
        return tw__fail(TW_TYPE_ERROR, "branch_index must be an int32 scalar, got %s %s", tw_dtype_name(index->dtype),
                        tw__shape_text(&index->shape));
    if (!tw__tracing && !index->node) {
        const tw__branch *taken = &branches[tw__branch_number(tw_tensor_int_at(index, 0), count)];
        return taken->body(taken->context, NULL, 0, outputs, output_count);
    }
    return trace_and_build(true, index, branches, count, outputs, output_count);
}

tw_status tw__control_results(tw_tensor **results, int count)
{
    if (!tw__tracing || !count || !results[0]->node)
        return TW_OK;
    tw__owned char *scope = tw__format("%s/", results[0]->node->name);
    tw_status status = scope ? tw__scope_push(scope) : TW_RESOURCE_EXHAUSTED;
    TW_TRY(status);
    const tw__part part = { .graph = tw__tracing };
    for (int i = 0; status == TW_OK && i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "Identity_%d", results[i]->node_output);
        if (!results[i]->node_output)
            name[strlen("Identity")] = 0;
        tw_tensor *named = tw__part_call(&part, name, &tw__op_Identity, &results[i], 1, NULL, 0);
        status = named ? TW_OK : tw__error_status();
        if (named) {
            tw_release(results[i]);
            results[i] = named;
        }
    }
    tw__scope_pop();
    return status;
}
