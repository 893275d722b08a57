/* One step of the recurrent cells of TensorFlow 1: what tf.compat.v1.nn.rnn_cell's classes compute of inputs, state and weights.
 */
#include <math.h>

#include "api/array/array.h"
#include "op/calls.h"
#include "spec/callable.h"
#include "v1/v1.h"

/* (inputs and state side by side) kernel + bias */
static tw_tensor *project(tw__temps *t, tw_tensor *inputs, tw_tensor *state, tw_tensor *kernel, tw_tensor *bias)
{
    tw_tensor *both = inputs && state ? tw__temp_concat(t, TW_IN(inputs, state), 2, 1) : NULL;
    return TW_TEMP(BiasAdd, TW_TEMP(MatMul, both, kernel), bias);
}

/* The activation of the values; tanh if none is given. */
static tw_tensor *activate(tw__temps *t, tw_callable *activation, tw_tensor *values)
{
    if (!values)
        return NULL;
    return tw__temp(t, activation ? activation->call(activation, values) : TW_CALL(Tanh, values));
}

/* Equal parts along the last dimension; false after a failure. */
static bool split(tw__temps *t, tw_tensor *values, int count, tw_tensor **parts)
{
    tw_tensor *axis = values ? tw__temp_int(t, 1, TW_INT32) : NULL;
    tw_attr number = TW_A_INT("num_split", count);
    tw__auto(tw_tensors_free) tw_tensors found =
        axis ? tw__call_many(&tw__op_Split, TW_IN(axis, values), 2, &number, 1, count) : (tw_tensors){ NULL, 0 };
    bool good = found.count == count;
    for (int i = 0; good && i < count; i++)
        good = (parts[i] = tw__temp(t, tw_retain(found.items[i]))) != NULL;
    return good;
}

TW_API(
    v1_basic_rnn_step,
    "compat.v1.nn._basic_rnn_step(inputs: tensor, state: tensor, kernel: tensor, bias: tensor, activation: callable = None) -> tensor",
    "activation(inputs W + state U + b)")
{
    tw__part part = tw__part_plain();
    TW_TEMPS(t);
    tw_tensor *output = activate(t, args->activation, project(t, args->inputs, args->state, args->kernel, args->bias));
    return tw__part_result(&part, tw__keep(t, output));
}

TW_API(
    v1_gru_step,
    "compat.v1.nn._gru_step(inputs: tensor, state: tensor, gates_kernel: tensor, gates_bias: tensor, candidate_kernel: tensor, "
    "candidate_bias: tensor, activation: callable = None) -> tensor",
    "The new state of a gated recurrent unit.")
{
    tw__part part = tw__part_plain();
    TW_TEMPS(t);
    tw_tensor *state = args->state, *gates[2] = { NULL, NULL }, *output = NULL;
    if (split(t, TW_TEMP(Sigmoid, project(t, args->inputs, state, args->gates_kernel, args->gates_bias)), 2, gates)) {
        tw_tensor *reset = TW_TEMP(Mul, gates[0], state), *update = gates[1];
        tw_tensor *candidate =
            activate(t, args->activation, project(t, args->inputs, reset, args->candidate_kernel, args->candidate_bias));
        output = TW_TEMP(AddV2, TW_TEMP(Mul, update, state), TW_TEMP(Mul, TW_TEMP(Sub, 1.0, update), candidate));
    }
    return tw__part_result(&part, tw__keep(t, output));
}

/* Between -limit and limit; NaN: no limit. */
static tw_tensor *clip(tw__temps *t, tw_tensor *values, double limit)
{
    if (!values || isnan(limit))
        return values;
    tw_tensor *high = tw__temp(t, tw__float_scalar(values->dtype, limit)),
              *low = tw__temp(t, tw__float_scalar(values->dtype, -limit));
    return high && low ? tw__temp(t, tw_clip_by_value(values, low, high)) : NULL;
}

/* gate + weight * c, where there is a peephole */
static tw_tensor *peep(tw__temps *t, tw_tensor *gate, tw_tensor *weight, tw_tensor *c)
{
    return weight ? TW_TEMP(AddV2, gate, TW_TEMP(Mul, weight, c)) : gate;
}

TW_API(v1_lstm_step,
       "compat.v1.nn._lstm_step(inputs: tensor, c: tensor, h: tensor, kernel: tensor, bias: tensor, forget_bias: float = 1.0, "
       "activation: callable = None, cell_clip: float = None, w_f: tensor = None, w_i: tensor = None, w_o: tensor = None, "
       "projection: tensor = None, proj_clip: float = None) -> tensors",
       "The new c and h of a long short-term memory; w_f, w_i and w_o are peepholes.")
{
    tw__part part = tw__part_plain();
    TW_TEMPS(t);
    tw_tensor *c = args->c, *h = NULL, *gates[4] = { NULL, NULL, NULL, NULL }; /* i, j, f, o */
    if (split(t, project(t, args->inputs, args->h, args->kernel, args->bias), 4, gates)) {
        tw_tensor *forget = TW_TEMP(AddV2, gates[2], args->forget_bias);
        tw_tensor *kept = TW_TEMP(Mul, TW_TEMP(Sigmoid, peep(t, forget, args->w_f, args->c)), args->c);
        tw_tensor *input = TW_TEMP(Sigmoid, peep(t, gates[0], args->w_i, args->c));
        c = clip(t, TW_TEMP(AddV2, kept, TW_TEMP(Mul, input, activate(t, args->activation, gates[1]))), args->cell_clip);
        h = TW_TEMP(Mul, TW_TEMP(Sigmoid, peep(t, gates[3], args->w_o, c)), activate(t, args->activation, c));
        if (h && args->projection)
            h = clip(t, TW_TEMP(MatMul, h, args->projection), args->proj_clip);
    }
    tw_tensors both = { h && c ? tw__alloc_array(2, sizeof(tw_tensor *)) : NULL, 0 };
    if (both.items) {
        both.items[0] = tw_retain(c);
        both.items[1] = tw_retain(h);
        both.count = 2;
    }
    if (tw__part_end(&part) != TW_OK)
        tw_tensors_free(&both);
    return both;
}
