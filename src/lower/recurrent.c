/* Lowerings of BlockLSTMV2 and its gradient: a loop over the steps of a sequence. Gates stand in the order input, forget,
 * candidate, output. */
#include "lower/words.h"

enum { LENGTH, INPUT, CELL, HIDDEN, WEIGHTS, BIAS = 8, INPUTS = 9, MADE = 7, GATES = 4, MOST = 8 };

#define ADD(a, b) BINARY("add", a, b)
#define MUL(a, b) BINARY("multiply", a, b)

typedef struct sizes {
    int64_t steps, batch, size, units;
} sizes;

static bool read_sizes(tw__lowering *l, sizes *s)
{
    const tw_shape *x = &l->inputs[INPUT].shape, *cell = &l->inputs[CELL].shape;
    int64_t length;
    int count;
    if (x->rank != 3 || cell->rank != 2 || l->inputs[INPUT].dtype != TW_FLOAT32 || TW_ATTR(l, "use_peephole")->b)
        return false;
    *s = (sizes){ x->dims[0], x->dims[1], x->dims[2], cell->dims[1] };
    return tw__lower_ints(l, LENGTH, &length, 1, &count) && length == s->steps && s->steps > 0;
}

/* Columns or rows [from, to) of a matrix. */
static tw__hlo part(tw__lowering *l, tw__hlo x, int axis, int64_t from, int64_t to)
{
    int64_t begin[2] = { 0 }, end[2] = { x.shape.dims[0], x.shape.dims[1] };
    begin[axis] = from;
    end[axis] = to;
    return tw__hlo_slice(l, x, begin, end, NULL);
}

/* x[at] of [steps, rows, columns]; `at` is a number of the program. */
static tw__hlo step_of(tw__lowering *l, tw__hlo x, tw__hlo at)
{
    tw__hlo zero = NUMBER(TW_INT64, 0);
    tw_shape one = TW_SHAPE(1, x.shape.dims[1], x.shape.dims[2]);
    tw__hlo out = { .dtype = x.dtype, .shape = one };
    tw__hlo row = tw__hlo_line(
        l, x.dtype, &one,
        "stablehlo.dynamic_slice %%%d, %%%d, %%%d, %%%d, sizes = [1, %lld, %lld] : (%s, tensor<i64>, tensor<i64>, tensor<i64>) -> %s",
        x.id, at.id, zero.id, zero.id, (long long)one.dims[1], (long long)one.dims[2], tw__hlo_type_text(x),
        tw__hlo_type_text(out));
    return tw__hlo_reshape(l, row, &TW_SHAPE(x.shape.dims[1], x.shape.dims[2]));
}

/* x with x[at] replaced. */
static tw__hlo with_step(tw__lowering *l, tw__hlo x, tw__hlo at, tw__hlo value)
{
    tw__hlo zero = NUMBER(TW_INT64, 0);
    value = tw__hlo_reshape(l, value, &TW_SHAPE(1, x.shape.dims[1], x.shape.dims[2]));
    return tw__hlo_line(
        l, x.dtype, &x.shape,
        "stablehlo.dynamic_update_slice %%%d, %%%d, %%%d, %%%d, %%%d : (%s, %s, tensor<i64>, tensor<i64>, tensor<i64>) -> %s",
        x.id, value.id, at.id, zero.id, zero.id, tw__hlo_type_text(x), tw__hlo_type_text(value), tw__hlo_type_text(x));
}

/* A loop that counts from 0 to `steps`: the first carried value is the count. */
static tw__hlo loop_begin(tw__lowering *l, const tw__hlo *start, int count, int64_t steps, tw__hlo *results, tw__hlo *inside)
{
    tw__hlo condition[MOST + 1];
    const tw__flow_writer *flow = &tw__lower_flow;
    memcpy(results, start, (size_t)count * sizeof *start);
    memcpy(condition, start, (size_t)count * sizeof *start);
    memcpy(inside, start, (size_t)count * sizeof *start);
    flow->begin(l, "while", start, count, results, count);
    flow->region_begin(l, true, condition, count);
    tw__hlo goes_on = COMPARE("LT", condition[0], NUMBER(TW_INT64, (double)steps));
    flow->region_end(l, &goes_on, 1);
    flow->region_begin(l, false, inside, count);
    return inside[0];
}

static void loop_end(tw__lowering *l, tw__hlo *made, const tw__hlo *start, const tw__hlo *results, int count)
{
    const tw__flow_writer *flow = &tw__lower_flow;
    flow->region_end(l, made, count);
    flow->end(l, start, count, results, count);
}

/* The inputs' share of the gates of all steps, with the bias: [steps, batch, 4 * units]. */
static tw__hlo input_gates(tw__lowering *l, const sizes *s)
{
    tw__hlo upper = part(l, l->inputs[WEIGHTS], 0, 0, s->size);
    tw__hlo gates = tw__hlo_dot(l, l->inputs[INPUT], upper, 0, 2, 0);
    return ADD(gates, tw__hlo_broadcast(l, l->inputs[BIAS], &gates.shape));
}

/* Outputs: input, cell, forget, output, candidate, the cell's tanh, hidden. */
static bool block(tw__lowering *l)
{
    sizes s;
    tw__hlo start[MOST], results[MOST], inside[MOST], made[MOST];
    if (!read_sizes(l, &s) || TW_ATTR(l, "cell_clip")->f > 0)
        return false;
    tw_shape all = TW_SHAPE(s.steps, s.batch, s.units);
    tw__hlo x = input_gates(l, &s), lower = part(l, l->inputs[WEIGHTS], 0, s.size, s.size + s.units);
    tw__hlo zeros = tw__hlo_constant(l, TW_FLOAT32, &all, 0), first_cell = l->inputs[CELL], first = l->inputs[HIDDEN];
    start[0] = NUMBER(TW_INT64, 0);
    for (int i = 0; i < MADE; i++)
        start[1 + i] = zeros;
    tw__hlo at = loop_begin(l, start, MADE + 1, s.steps, results, inside);
    tw__hlo one = NUMBER(TW_INT64, 1), zero = NUMBER(TW_INT64, 0), starts = COMPARE("EQ", at, zero);
    tw__hlo before = BINARY("maximum", BINARY("subtract", at, one), zero);
    tw__hlo cell = SELECT(starts, first_cell, step_of(l, inside[2], before));
    tw__hlo hidden = SELECT(starts, first, step_of(l, inside[7], before));
    tw__hlo gates = ADD(step_of(l, x, at), tw__hlo_dot(l, hidden, lower, 0, 1, 0)), gate[GATES];
    for (int g = 0; g < GATES; g++)
        gate[g] = UNARY(g == 2 ? "tanh" : "logistic", part(l, gates, 1, g * s.units, (g + 1) * s.units));
    tw__hlo now = ADD(MUL(gate[1], cell), MUL(gate[0], gate[2])), squashed = UNARY("tanh", now);
    tw__hlo values[MADE] = { gate[0], now, gate[1], gate[3], gate[2], squashed, MUL(gate[3], squashed) };
    made[0] = ADD(at, one);
    for (int i = 0; i < MADE; i++)
        made[1 + i] = with_step(l, inside[1 + i], at, values[i]);
    loop_end(l, made, start, results, MADE + 1);
    for (int i = 0; i < MADE; i++) {
        if (!tw__lower_give(l, i, results[1 + i]))
            return false;
    }
    return true;
}

/* x * (1 - x) */
static tw__hlo logistic_slope(tw__lowering *l, tw__hlo x)
{
    return MUL(x, BINARY("subtract", tw__hlo_fill(l, x, 1), x));
}

static tw__hlo tanh_slope(tw__lowering *l, tw__hlo x)
{
    return BINARY("subtract", tw__hlo_fill(l, x, 1), MUL(x, x));
}

/* The derivatives by the gates of one step, and by the cell before it. `v` are the step's values in the order of BlockLSTMV2's
 * outputs; h and c the derivatives by hidden and cell. */
static tw__hlo gate_derivatives(tw__lowering *l, const tw__hlo *v, tw__hlo before, tw__hlo h, tw__hlo c, tw__hlo *by_cell)
{
    c = ADD(c, MUL(MUL(h, v[3]), tanh_slope(l, v[5])));
    tw__hlo parts[GATES] = { MUL(MUL(c, v[4]), logistic_slope(l, v[0])), MUL(MUL(c, before), logistic_slope(l, v[2])),
                             MUL(MUL(c, v[0]), tanh_slope(l, v[4])), MUL(MUL(h, v[5]), logistic_slope(l, v[3])) };
    *by_cell = MUL(c, v[2]);
    return tw__hlo_concatenate(l, parts, GATES, 1);
}

/* All steps but the last, behind the first: the value before each step. */
static tw__hlo shifted(tw__lowering *l, tw__hlo first, tw__hlo all)
{
    tw_shape one = all.shape;
    one.dims[0] = 1;
    int64_t begin[3] = { 0 }, end[3] = { all.shape.dims[0] - 1, all.shape.dims[1], all.shape.dims[2] };
    return tw__hlo_concatenate(l, (tw__hlo[]){ tw__hlo_reshape(l, first, &one), tw__hlo_slice(l, all, begin, end, NULL) }, 2, 0);
}

/* The gradient: outputs by x, cell, hidden, weights, three peepholes, bias. */
static bool block_gradient(tw__lowering *l)
{
    enum { COUNT = 4 };
    sizes s;
    tw__hlo start[COUNT], results[COUNT], inside[COUNT], made[COUNT], v[MADE];
    if (!read_sizes(l, &s))
        return false;
    const tw__hlo *in = l->inputs, *values = in + INPUTS;
    tw_shape wide = TW_SHAPE(s.steps, s.batch, GATES * s.units), flat = TW_SHAPE(s.steps * s.batch, GATES * s.units);
    tw__hlo lower = part(l, in[WEIGHTS], 0, s.size, s.size + s.units), upper = part(l, in[WEIGHTS], 0, 0, s.size);
    tw__hlo cells = shifted(l, in[CELL], values[1]), hiddens = shifted(l, in[HIDDEN], values[6]);
    start[0] = NUMBER(TW_INT64, 0);
    start[1] = tw__hlo_constant(l, TW_FLOAT32, &wide, 0);
    start[2] = start[3] = tw__hlo_fill(l, in[CELL], 0); /* by the cell and hidden behind the step */
    tw__hlo turn = loop_begin(l, start, COUNT, s.steps, results, inside);
    tw__hlo at = BINARY("subtract", NUMBER(TW_INT64, (double)(s.steps - 1)), turn);
    for (int i = 0; i < MADE; i++)
        v[i] = step_of(l, values[i], at);
    tw__hlo c = ADD(inside[2], step_of(l, values[MADE], at)), h = ADD(inside[3], step_of(l, values[MADE + 1], at));
    tw__hlo gates = gate_derivatives(l, v, step_of(l, cells, at), h, c, &made[2]);
    made[0] = ADD(turn, NUMBER(TW_INT64, 1));
    made[1] = with_step(l, inside[1], at, gates);
    made[3] = tw__hlo_dot(l, gates, lower, 0, 1, 1);
    loop_end(l, made, start, results, COUNT);
    tw__hlo all = tw__hlo_reshape(l, results[1], &flat);
    tw__hlo rows = tw__hlo_concatenate(l, (tw__hlo[]){ in[INPUT], hiddens }, 2, 2);
    rows = tw__hlo_reshape(l, rows, &TW_SHAPE(s.steps * s.batch, s.size + s.units));
    for (int k = 4; k < 7; k++) {
        if (!tw__lower_give(l, k, tw__hlo_constant(l, TW_FLOAT32, &l->outputs[k].shape, 0)))
            return false;
    }
    return tw__lower_give(l, 0, tw__hlo_dot(l, results[1], upper, 0, 2, 1)) && tw__lower_give(l, 1, results[2]) &&
           tw__lower_give(l, 2, results[3]) && tw__lower_give(l, 3, tw__hlo_dot(l, rows, all, 0, 0, 0)) &&
           tw__lower_give(l, 7, tw__hlo_reduce(l, "add", all, 1));
}

const tw__lower_row tw__lower_recurrent[] = {
    { "BlockLSTMV2", block, NULL },
    { "BlockLSTMGradV2", block_gradient, NULL },
    { NULL, NULL, NULL },
};
