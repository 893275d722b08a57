/* tf.case: the first of several predicates that is true chooses what runs: conditions inside each other. That none is true, or
 * several if they exclude each other, is an error when it runs. */
#include "function/control.h"
#include "rows.h"

typedef struct chosen {
    const tw__choice *choice;
    int at;
} chosen;

/* The predicates as a vector. */
static tw_tensor *stack_of(const tw__choice *c, const tw__part *part)
{
    return tw__part_call(part, "preds_c", &tw__op_Pack, c->predicates, c->count, NULL, 0);
}

/* Outside of graphs the text is what TensorFlow's Python code says. */
static tw_status check(tw_tensor *condition, const char *message, tw_tensor *predicates, int64_t count)
{
    tw_auto tw_tensor *text = tw_tensor_string(message, strlen(message));
    int none = 0;
    TW_NEED(text && predicates && condition);
    if (tw__tracing || condition->node)
        return tw__apply(&tw__op_Assert, TW_IN(condition, text, predicates), 3, TW_WITH(TW_A_INT("summarize", count)), 1, NULL,
                         &none);
    if (tw_tensor_int_at(condition, 0))
        return TW_OK;
    tw__auto(tw__text_free) tw__text values = { 0 };
    for (int64_t i = 0; i < count; i++)
        tw__text_format(&values, i ? ", %s" : "%s", tw_tensor_int_at(predicates, i) ? "True" : "False");
    tw__fail(TW_INVALID_ARGUMENT, "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'%s'\n%s",
             message, values.data ? values.data : "");
    return TW_INVALID_ARGUMENT;
}

static tw_status run_last(void *context, __attribute__((unused)) tw_tensor *const *arguments, __attribute__((unused)) int count,
                          tw_tensor ***outputs, int *output_count)
{
    const tw__choice *c = context;
    if (!c->otherwise) {
        const tw__part part = { 0 };
        tw_auto tw_tensor *all = stack_of(c, &part);
        TW_TRY(check(c->predicates[c->count - 1], "Input error: None of conditions evaluated as True:", all, c->count));
    }
    const tw__branch *last = &c->branches[c->otherwise ? c->count : c->count - 1];
    return last->body(last->context, NULL, 0, outputs, output_count);
}

static tw_status choose(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const chosen *now = context;
    const tw__choice *c = now->choice;
    if (now->at == c->count - !c->otherwise)
        return run_last((void *)c, arguments, count, outputs, output_count);
    const tw__branch *branch = &c->branches[now->at];
    return tw__cond(c->predicates[now->at], branch->body, branch->context, choose, &(chosen){ c, now->at + 1 }, outputs,
                    output_count);
}

/* Texts name the predicates of graphs. */
static char *names_of(const tw__choice *c)
{
    tw__text text = { 0 };
    tw__text_add(&text, "Input error: exclusive=True: more than 1 conditions (");
    for (int i = 0; i < c->count; i++) {
        const tw_tensor *p = c->predicates[i];
        tw__text_add(&text, i ? ", " : "");
        if (p->node)
            tw__text_format(&text, "%s:%d", p->node->name, p->node_output);
        else
            tw__text_add(&text, "?");
    }
    tw__text_add(&text, ") evaluated as True:");
    return tw__text_take(&text);
}

static tw_status check_exclusive(const tw__choice *c, const tw__part *part)
{
    tw_auto tw_tensor *all = stack_of(c, part), *axis = tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ 0 }),
                      *one = tw_tensor_int(1);
    tw_auto tw_tensor *numbers =
        all ? tw__part_call(part, "Cast", &tw__op_Cast, &all, 1, TW_WITH(TW_A_TYPE("DstT", TW_INT32)), 1) : NULL;
    tw_auto tw_tensor *axes = axis ? tw__part_constant(part, axis, "Const") : NULL;
    tw_auto tw_tensor *sum =
        numbers && axes ? tw__part_call(part, "num_true_conds", &tw__op_Sum, TW_IN(numbers, axes), 2, NULL, 0) : NULL;
    tw_auto tw_tensor *most = one ? tw__part_constant(part, one, "n_true_conds") : NULL;
    tw_auto tw_tensor *good =
        sum && most ? tw__part_call(part, "LessEqual", &tw__op_LessEqual, TW_IN(sum, most), 2, NULL, 0) : NULL;
    tw__owned char *text = good ? names_of(c) : NULL;
    TW_NEED(text);
    return check(good, text, all, c->count);
}

tw_status tw__case(const tw__choice *c, tw_tensor ***outputs, int *output_count)
{
    *outputs = NULL;
    *output_count = 0;
    for (int i = 0; i < c->count; i++) {
        const tw_tensor *p = c->predicates[i];
        if (p->dtype != TW_BOOL || p->shape.rank > 0)
            return tw__fail(TW_TYPE_ERROR, "pred must be Tensor of type bool: predicate %d is %s %s", i, tw_dtype_name(p->dtype),
                            tw__shape_text(&p->shape));
    }
    tw__part part = tw__part_begin(c->name, "case");
    tw__graph *graph = part.graph && part.graph->lasting ? part.graph : NULL;
    tw_status status = c->exclusive ? check_exclusive(c, &part) : TW_OK;
    bool follows = status == TW_OK && graph && c->exclusive; /* in graphs of sessions the choice runs behind the check */
    if (follows)
        status = tw__control_push(graph, &graph->nodes[graph->node_count - 1], 1, false);
    if (status == TW_OK)
        status = choose(&(chosen){ c, 0 }, NULL, 0, outputs, output_count);
    if (status == TW_OK)
        status = tw__control_results(*outputs, *output_count);
    if (follows)
        tw__control_pop(graph);
    tw_status named = tw__part_end(&part);
    status = status == TW_OK ? named : status;
    if (status != TW_OK && *outputs) {
        tw_tensors_free(&(tw_tensors){ *outputs, *output_count });
        *outputs = NULL;
        *output_count = 0;
    }
    return status;
}
