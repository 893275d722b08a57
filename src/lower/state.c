/* Lowerings of variables: reading and assigning. */
#include "lower/words.h"

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

const tw__lower_row tw__lower_state[] = {
    { "ReadVariableOp", read, NULL },
    { "AssignVariableOp", assign, NULL },
    { "AssignAddVariableOp", change, "add" },
    { "AssignSubVariableOp", change, "subtract" },
    { NULL, NULL, NULL },
};
