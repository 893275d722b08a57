/* BlockLSTMV2, which Keras's LSTM is, as operators of each step. TFLite's own LSTM would keep its states from run to run, which
 * the function does not. */
#include "lite/convert.h"
#include "rows.h"

enum { LENGTH, X, CELL, HIDDEN, WEIGHTS, BIAS = 8, CELLS = 1, HIDDENS = 6 };

static int unary(tw__lite_lowering *l, const char *name, int x, const tw_shape *shape)
{
    int made = tw__lite_between(l, TW_FLOAT32, shape);
    return TW_EMIT(l, name, made, x) ? made : -1;
}

static int binary(tw__lite_lowering *l, const char *name, int x, int y, const tw_shape *shape)
{
    int made = tw__lite_between(l, TW_FLOAT32, shape);
    return TW_EMIT(l, name, made, x, y) ? made : -1;
}

/* One step: *hidden and *cell become the next ones. */
static tw_status one_step(tw__lite_lowering *l, int x, int weights, int bias, int64_t inputs, const tw_shape *state, int *hidden,
                          int *cell)
{
    tw_shape joined = *state, gates = *state;
    joined.dims[1] = inputs + state->dims[1];
    gates.dims[1] = 4 * state->dims[1];
    int both = tw__lite_between(l, TW_FLOAT32, &joined), sum = tw__lite_between(l, TW_FLOAT32, &gates), gate[4];
    tw__lite_made_operator *concat = TW_EMIT(l, "CONCATENATION", both, x, *hidden);
    TW_NEED(concat);
    tw__lite_set_field(concat, 0, 'i', 1);
    TW_NEED(TW_EMIT(l, "FULLY_CONNECTED", sum, both, weights, bias));
    for (int i = 0; i < 4; i++)
        gate[i] = tw__lite_between(l, TW_FLOAT32, state);
    tw__lite_made_operator *split =
        tw__lite_emit(l, "SPLIT", (const int[]){ tw__lite_constant_of(l, tw__temp_int(l->t, 1, TW_INT32)), sum }, 2, gate, 4);
    TW_NEED(split);
    tw__lite_set_field(split, 0, 'i', 4);
    int kept = binary(l, "MUL", unary(l, "LOGISTIC", gate[1], state), *cell, state);
    int come = binary(l, "MUL", unary(l, "LOGISTIC", gate[0], state), unary(l, "TANH", gate[2], state), state);
    *cell = binary(l, "ADD", kept, come, state);
    *hidden = binary(l, "MUL", unary(l, "LOGISTIC", gate[3], state), unary(l, "TANH", *cell, state), state);
    return *hidden >= 0 ? TW_OK : tw__error_status();
}

tw_status tw__lite_lower_lstm(tw__lite_lowering *l)
{
    enum { LONGEST = 4096 };
    const tw_shape *x = tw__lite_shape_of(l, X), *state = &l->node->out_shapes[HIDDENS];
    tw_tensor *weights = l->in[WEIGHTS].constant;
    int64_t steps = x->rank == 3 ? x->dims[0] : -1;
    if (steps < 1 || steps > LONGEST || !weights || !l->in[BIAS].constant || state->rank != 3)
        return tw__lite_cannot(l, "the number of steps must be known, and the weights constant");
    int64_t inputs = x->dims[2];
    tw_shape one = { .rank = 2, .dims = { state->dims[1], state->dims[2] } }, row = { .rank = 2, .dims = { x->dims[1], inputs } };
    tw__owned int *rows = tw__alloc_array((size_t)steps, sizeof *rows),
                  *hiddens = tw__alloc_array((size_t)steps, sizeof *hiddens),
                  *cells = tw__alloc_array((size_t)steps, sizeof *cells);
    TW_NEED(rows && hiddens && cells);
    for (int64_t i = 0; i < steps; i++)
        rows[i] = tw__lite_between(l, TW_FLOAT32, &row);
    tw__lite_made_operator *unpack = tw__lite_emit(l, "UNPACK", (const int[]){ tw__lite_tensor_of(l, X) }, 1, rows, (int)steps);
    TW_NEED(unpack);
    tw__lite_set_field(unpack, 0, 'i', (double)steps);
    int w = tw__lite_constant_of(l, tw__lite_rearranged(l->t, weights, (int64_t[]){ 1, 0 }, 2)), b = tw__lite_tensor_of(l, BIAS);
    int hidden = tw__lite_tensor_of(l, HIDDEN), cell = tw__lite_tensor_of(l, CELL);
    for (int64_t i = 0; i < steps; i++) {
        TW_TRY(one_step(l, rows[i], w, b, inputs, &one, &hidden, &cell));
        hiddens[i] = hidden;
        cells[i] = cell;
    }
    for (int k = 0; k < 2; k++) {
        tw__lite_made_operator *pack = tw__lite_emit(l, "PACK", k ? cells : hiddens, (int)steps,
                                                     (const int[]){ tw__lite_result(l, k ? CELLS : HIDDENS) }, 1);
        TW_NEED(pack);
        tw__lite_set_field(pack, 0, 'i', (double)steps);
    }
    return TW_OK;
}
