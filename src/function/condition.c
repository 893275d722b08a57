/* Conditions of loops without a plan: most compare counters, a few integers that the loop holds. Those are read once per run of
 * the loop into a list of steps over numbers, which costs a round next to nothing. What is more than that runs as a function. */
#include "function/control.h"
#include "rows.h"

enum { INPUT, NUMBER, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, BOTH, EITHER };

static bool is_plain(tw_dtype dtype)
{
    return dtype == TW_INT32 || dtype == TW_INT64 || dtype == TW_BOOL;
}

static int64_t number_of(const tw_tensor *tensor)
{
    return tensor->dtype == TW_INT32   ? *(const int32_t *)tensor->data
           : tensor->dtype == TW_INT64 ? *(const int64_t *)tensor->data
                                       : *(const bool *)tensor->data;
}

static int add(tw__condition *c, int what, int64_t a, int64_t b)
{
    if (c->count == TW_CONDITION_STEPS)
        return -1;
    c->steps[c->count].what = what;
    c->steps[c->count].a = a;
    c->steps[c->count].b = b;
    return c->count++;
}

/* The step that gives this value, or -1. */
static int read_edge(tw__condition *c, const tw__function *f, tw__edge edge)
{
    static const struct {
        const tw_op *op;
        int what;
    } known[] = { { &tw__op_Less, LESS },       { &tw__op_LessEqual, LESS_EQUAL },
                  { &tw__op_Greater, GREATER }, { &tw__op_GreaterEqual, GREATER_EQUAL },
                  { &tw__op_Equal, EQUAL },     { &tw__op_LogicalAnd, BOTH },
                  { &tw__op_LogicalOr, EITHER } };
    const tw__node *node = edge.node;
    if (!is_plain(node->out_dtypes[edge.output]) || node->control_count)
        return -1;
    for (int i = 0; i < f->input_count; i++) {
        if (f->inputs[i] == node)
            return node->out_shapes[0].rank == 0 ? add(c, INPUT, i, 0) : -1;
    }
    if (node->op->forwards)
        return read_edge(c, f, node->inputs[0]);
    if (tw__node_is(node, TW_ROLE_CONSTANT)) {
        const tw_tensor *value = tw__attr_find(node->op, node->attrs, "value")->tensor;
        return value->shape.rank == 0 ? add(c, NUMBER, number_of(value), 0) : -1;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].op != node->op)
            continue;
        int a = read_edge(c, f, node->inputs[0]), b = a < 0 ? -1 : read_edge(c, f, node->inputs[1]);
        return b < 0 ? -1 : add(c, known[i].what, a, b);
    }
    return -1;
}

bool tw__condition_read(tw__condition *c, const tw__function *f)
{
    c->count = 0;
    return !f->stateful && f->output_count == 1 && tw__function_output_dtype(f, 0) == TW_BOOL &&
           read_edge(c, f, f->outputs[0]) >= 0;
}

int tw__condition_holds(const tw__condition *c, tw_tensor *const *values)
{
    int64_t made[TW_CONDITION_STEPS];
    for (int i = 0; i < c->count; i++) {
        int64_t a = c->steps[i].a, b = c->steps[i].b;
        int what = c->steps[i].what;
        if (what == INPUT) {
            if (values[a]->count != 1 || !is_plain(values[a]->dtype))
                return -1;
            made[i] = number_of(values[a]);
        } else if (what == NUMBER) {
            made[i] = a;
        } else {
            int64_t x = made[a], y = made[b];
            made[i] = what == LESS            ? x < y
                      : what == LESS_EQUAL    ? x <= y
                      : what == GREATER       ? x > y
                      : what == GREATER_EQUAL ? x >= y
                      : what == EQUAL         ? x == y
                      : what == BOTH          ? x && y
                                              : x || y;
        }
    }
    return made[c->count - 1] != 0;
}
