/* Lowerings of variables: reading, assigning, and the optimizers' steps. */
#include "lower/lower.h"

#define BINARY(name, a, b) tw__hlo_binary(l, name, a, b)

static bool read(tw__lowering *l)
{
    tw__hlo value;
    return tw__lower_read(l, 0, l->outputs[0].dtype, &l->outputs[0].shape, &value) && tw__lower_give(l, 0, value);
}

static bool assign(tw__lowering *l)
{
    return tw__lower_write(l, 0, l->inputs[1]);
}

static bool change(tw__lowering *l) /* by addition or subtraction */
{
    tw__hlo before, value = l->inputs[1];
    return tw__lower_read(l, 0, value.dtype, &value.shape, &before) && tw__lower_write(l, 0, BINARY(l->argument, before, value));
}

/* The optimizers' ops. `grad` is the input with the gradient; the first ones are the variable and its slots. */
static bool slots(tw__lowering *l, int count, int grad, tw__hlo *values)
{
    for (int i = 0; i < count; i++) {
        if (!tw__lower_read(l, i, l->inputs[grad].dtype, &l->inputs[grad].shape, &values[i]))
            return false;
        for (int k = 0; k < i; k++) {
            if (l->inputs[k].id == l->inputs[i].id)
                return false;
        }
    }
    return tw__dtype_is_float(l->inputs[grad].dtype);
}

static bool descend(tw__lowering *l)
{
    tw__hlo v;
    return slots(l, 1, 2, &v) && tw__lower_write(l, 0, BINARY("subtract", v, BINARY("multiply", l->inputs[2], l->inputs[1])));
}

/* ResourceApplyMomentum(var, accum, lr, grad, momentum) */
static bool momentum(tw__lowering *l)
{
    tw__hlo v[2], lr = l->inputs[2], g = l->inputs[3], m = l->inputs[4];
    if (!slots(l, 2, 3, v))
        return false;
    tw__hlo accum = BINARY("add", BINARY("multiply", v[1], m), g), step = BINARY("multiply", accum, lr);
    if (TW_ATTR(l, "use_nesterov")->b)
        step = BINARY("add", BINARY("multiply", g, lr), BINARY("multiply", BINARY("multiply", accum, m), lr));
    return tw__lower_write(l, 1, accum) && tw__lower_write(l, 0, BINARY("subtract", v[0], step));
}

/* ResourceApplyKerasMomentum: the accumulator holds the step. */
static bool keras_momentum(tw__lowering *l)
{
    tw__hlo v[2], lr = l->inputs[2], g = l->inputs[3], m = l->inputs[4];
    if (!slots(l, 2, 3, v))
        return false;
    tw__hlo pull = BINARY("multiply", g, lr), accum = BINARY("subtract", BINARY("multiply", v[1], m), pull), step = accum;
    if (TW_ATTR(l, "use_nesterov")->b)
        step = BINARY("subtract", BINARY("multiply", accum, m), pull);
    return tw__lower_write(l, 1, accum) && tw__lower_write(l, 0, BINARY("add", v[0], step));
}

/* ResourceApplyAdam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad) */
static bool adam(tw__lowering *l)
{
    const tw__hlo *in = l->inputs;
    tw__hlo v[3], g = in[9], one = tw__hlo_constant(l, g.dtype, &TW_SCALAR, 1);
    if (!slots(l, 3, 9, v))
        return false;
    tw__hlo rate = BINARY("divide", BINARY("multiply", in[5], tw__hlo_unary(l, "sqrt", BINARY("subtract", one, in[4]))),
                          BINARY("subtract", one, in[3]));
    tw__hlo m = BINARY("add", v[1], BINARY("multiply", BINARY("subtract", g, v[1]), BINARY("subtract", one, in[6])));
    tw__hlo s = BINARY("add", v[2],
                       BINARY("multiply", BINARY("subtract", BINARY("multiply", g, g), v[2]), BINARY("subtract", one, in[7])));
    tw__hlo top = m;
    if (TW_ATTR(l, "use_nesterov")->b)
        top = BINARY("add", BINARY("multiply", g, BINARY("subtract", one, in[6])), BINARY("multiply", m, in[6]));
    tw__hlo step = BINARY("divide", BINARY("multiply", top, rate), BINARY("add", tw__hlo_unary(l, "sqrt", s), in[8]));
    return tw__lower_write(l, 1, m) && tw__lower_write(l, 2, s) && tw__lower_write(l, 0, BINARY("subtract", v[0], step));
}

const tw__lower_row tw__lower_state[] = {
    { "ReadVariableOp", read, NULL },
    { "AssignVariableOp", assign, NULL },
    { "AssignAddVariableOp", change, "add" },
    { "AssignSubVariableOp", change, "subtract" },
    { "ResourceApplyGradientDescent", descend, NULL },
    { "ResourceApplyMomentum", momentum, NULL },
    { "ResourceApplyKerasMomentum", keras_momentum, NULL },
    { "ResourceApplyAdam", adam, NULL },
    { NULL, NULL, NULL },
};
