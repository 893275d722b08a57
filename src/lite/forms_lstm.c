/* UNIDIRECTIONAL_SEQUENCE_LSTM: an LSTM over a whole sequence. It is BlockLSTMV2, except where the cell's state is clipped and
 * gets beyond that: then it goes step by step. */
#include "eager/eager.h"
#include "function/control.h"
#include "lite/lite.h"
#include "rows.h"

enum { X, INPUT_WEIGHTS, RECURRENT_WEIGHTS = 5, PEEPHOLES = 9, BIASES = 12, PROJECTION = 16, HIDDEN = 18, CELL, NORMS, ALL = 24 };
enum { ACTIVATION, CELL_CLIP, PROJECTION_CLIP, TIME_MAJOR };

typedef struct lstm {
    tw_tensor *x, *weights, *bias, *hidden, *cell; /* weights: of x, then of the hidden state; gates side by side: i, f, c, o */
    tw_tensor *results[2];                         /* the hidden and cell states of every step, if BlockLSTMV2 made them */
    double clip;
} lstm;

/* Weights and biases of the four gates (input, forget, cell, output) side by side, as BlockLSTMV2 has them. */
static tw_tensor *gates(tw__lite_call *c, int first, bool matrix)
{
    tw__temps *t = c->t;
    tw_tensor *parts[4];
    bool constant = true;
    for (int i = 0; i < 4; i++) {
        if (first + i >= c->count || !(parts[i] = c->in[first + i])) {
            tw__lite_refuse("input %d is left out, which is not supported", first + i);
            return NULL;
        }
        constant &= !parts[i]->node;
    }
    tw__outside outside;
    if (constant)
        outside = tw__outside_begin();
    tw_tensor *rows = tw__temp_concat(t, parts, 4, 0);
    if (constant)
        tw__outside_end(outside);
    return matrix && rows ? tw__lite_rearranged(t, rows, (int64_t[]){ 1, 0 }, 2) : rows;
}

static tw_status check(const tw__lite_call *c)
{
    for (int i = 0; i < c->count; i++) {
        bool used = i < PEEPHOLES || (i >= BIASES && i < PROJECTION) || i == HIDDEN || i == CELL;
        if (i < ALL && c->in[i] && !used)
            return tw__lite_refuse("peepholes, projections and layer normalization are not supported (input %d)", i);
    }
    if (c->count <= CELL || !c->in[X] || !c->in[HIDDEN] || !c->in[CELL])
        return tw__fail(TW_INVALID_ARGUMENT, "an input or state is missing");
    TW_TRY(tw__lite_need_rank(c, X, 3));
    if (tw__flat_int(&c->options, ACTIVATION, 1, 0) != TW_LITE_TANH || tw__flat_float(&c->options, PROJECTION_CLIP, 0) != 0)
        return tw__lite_refuse("activations other than tanh and clipped projections are not supported");
    return TW_OK;
}

/* ---- step by step ---- */

static tw_status step(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const lstm *s = context;
    TW_TEMPS(t);
    (void)count;
    tw_tensor *hidden = arguments[0], *cell = arguments[1];
    tw_tensor *joined = tw__temp_concat(t, TW_IN(arguments[2], hidden), 2, 1), *gate[4];
    tw_tensor *sum = TW_TEMP(AddV2, TW_TEMP(MatMul, joined, s->weights), s->bias);
    TW_NEED(sum);
    int made = 4;
    TW_TRY(tw__temp_all(t, gate, 4,
                        tw__apply(&tw__op_Split, TW_IN(tw__temp_int(t, 1, TW_INT32), sum), 2, TW_WITH(TW_A_INT("num_split", 4)),
                                  1, gate, &made)));
    cell = TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(Sigmoid, gate[1]), cell),
                   TW_TEMP(Mul, TW_TEMP(Sigmoid, gate[0]), TW_TEMP(Tanh, gate[2])));
    cell = TW_TEMP(Minimum, TW_TEMP(Maximum, cell, -s->clip), s->clip);
    hidden = TW_TEMP(Mul, TW_TEMP(Sigmoid, gate[3]), TW_TEMP(Tanh, cell));
    *outputs = hidden ? tw__alloc_array(2, sizeof **outputs) : NULL;
    TW_NEED(*outputs);
    (*outputs)[0] = tw_retain(hidden);
    (*outputs)[1] = tw_retain(cell);
    *output_count = 2;
    return TW_OK;
}

static tw_status by_steps(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    lstm *s = context;
    (void)arguments, (void)count;
    tw_tensor *const initial[] = { s->hidden, s->cell };
    tw__folding folding = { .body = step,
                            .context = s,
                            .elems = &s->x,
                            .elem_count = 1,
                            .initial = initial,
                            .initial_count = 2,
                            .scans = true,
                            .infers = true };
    return tw__fold_rows(&folding, outputs, output_count);
}

static tw_status at_once(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const lstm *s = context;
    (void)arguments, (void)count;
    *outputs = tw__alloc_array(2, sizeof **outputs);
    TW_NEED(*outputs);
    for (int i = 0; i < 2; i++)
        (*outputs)[i] = tw_retain(s->results[i]);
    *output_count = 2;
    return TW_OK;
}

static tw_status clipped(tw__temps *t, lstm *s)
{
    tw_tensor *least = tw__temp_ints(t, (int64_t[]){ 0, 1, 2 }, 3, TW_INT32);
    tw_tensor *beyond = TW_TEMP(Greater, TW_TEMP(Max, TW_TEMP(Abs, s->results[1]), least), s->clip), **made = NULL;
    int count = 0;
    TW_NEED(beyond);
    TW_TRY(tw__cond(beyond, by_steps, s, at_once, s, &made, &count));
    tw__temp_memory(t, made);
    for (int i = 0; i < count; i++) {
        tw__temp(t, made[i]);
        if (i < 2)
            s->results[i] = made[i];
    }
    return count == 2 ? TW_OK : tw__fail(TW_INTERNAL, "the steps gave %d values", count);
}

tw_status tw__lite_sequence_lstm(tw__lite_call *c)
{
    tw__temps *t = c->t;
    TW_TRY(check(c));
    bool time_major = tw__flat_int(&c->options, TIME_MAJOR, 1, 0);
    tw_tensor *swap = tw__temp_ints(t, (int64_t[]){ 1, 0, 2 }, 3, TW_INT32);
    lstm s = { .x = time_major ? c->in[X] : TW_TEMP(Transpose, c->in[X], swap),
               .hidden = c->in[HIDDEN],
               .cell = c->in[CELL],
               .clip = tw__flat_float(&c->options, CELL_CLIP, 0) };
    tw_tensor *w = gates(c, INPUT_WEIGHTS, true), *r = w ? gates(c, RECURRENT_WEIGHTS, true) : NULL;
    s.bias = r ? gates(c, BIASES, false) : NULL;
    s.weights = s.bias ? tw__temp_concat(t, TW_IN(w, r), 2, 0) : NULL;
    TW_NEED(s.weights && s.x);
    int64_t units = s.hidden->shape.rank == 2 ? s.hidden->shape.dims[1] : -1, steps = s.x->shape.dims[0];
    if (units < 0 || steps < 1)
        return tw__lite_refuse("the number of units and of steps must be known");
    tw_tensor *peep = tw__temp(t, tw_tensor_new(TW_FLOAT32, TW_SHAPE(units), NULL)), *all[7];
    TW_TRY(TW_TEMP_ALL(all, BlockLSTMV2, tw__temp_int(t, steps, TW_INT64), s.x, s.cell, s.hidden, s.weights, peep, peep, peep,
                       s.bias));
    s.results[0] = all[6];
    s.results[1] = all[1];
    if (s.clip > 0)
        TW_TRY(clipped(t, &s));
    for (int i = 0; i < 2; i++) { /* the states are kept */
        int64_t number = tw__flat_int_at(&c->node->inputs, HIDDEN + i, 4);
        tw_tensor *last = tw__temp_at(t, s.results[i], steps - 1);
        TW_NEED(last);
        if (c->pass->graph->tensors[number].variable)
            tw__set(&c->pass->values[number], last);
    }
    return tw__lite_give(c, time_major ? s.results[0] : TW_TEMP(Transpose, s.results[0], swap));
}
