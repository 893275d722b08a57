/* Lowerings of reductions, softmax and its losses, and sums along an axis. */
#include "lower/words.h"

static bool dims_of(const tw__lowering *l, int input, unsigned *dims)
{
    int64_t axes[TW_MAX_RANK];
    const tw_tensor *known = l->inputs[input].constant;
    int rank = X.shape.rank;
    if (!known || known->count > TW_MAX_RANK || tw__tensor_read_ints(known, "", axes, TW_MAX_RANK) != TW_OK)
        return false;
    *dims = 0;
    for (int64_t i = 0; i < known->count; i++) {
        if (axes[i] < -rank || axes[i] >= rank)
            return false;
        *dims |= 1u << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    }
    return true;
}

static bool reduce(tw__lowering *l)
{
    unsigned dims;
    if (!dims_of(l, 1, &dims))
        return false;
    tw__hlo value = tw__hlo_reduce(l, l->argument, X, dims);
    if (dims && tw__dtype_is_float(X.dtype) && l->argument[0] == 'm' && l->argument[1] != 'u') { /* extremes: NaN wins */
        tw__hlo any = tw__hlo_reduce(l, "or", tw__hlo_compare(l, "NE", X, X), dims),
                zero = tw__hlo_constant(l, X.dtype, &TW_SCALAR, 0);
        value = tw__hlo_select(l, any, BINARY("divide", zero, zero), value);
    }
    return GIVE(value);
}

static bool mean(tw__lowering *l)
{
    unsigned dims;
    double count = 1;
    if (!dims_of(l, 1, &dims) || tw__dtype_is_integer(X.dtype))
        return false;
    for (int i = 0; i < X.shape.rank; i++)
        count *= dims >> i & 1 ? (double)X.shape.dims[i] : 1;
    tw__hlo sum = tw__hlo_reduce(l, "add", X, dims);
    return GIVE(BINARY("divide", sum, tw__hlo_fill(l, sum, count)));
}

static bool norm(tw__lowering *l)
{
    unsigned dims;
    return tw__dtype_is_float(X.dtype) && dims_of(l, 1, &dims) &&
           GIVE(UNARY("sqrt", tw__hlo_reduce(l, "add", BINARY("multiply", X, X), dims)));
}

static bool l2_loss(tw__lowering *l)
{
    tw__hlo sum = tw__hlo_reduce(l, "add", BINARY("multiply", X, X), (1u << X.shape.rank) - 1);
    return GIVE(BINARY("multiply", sum, tw__hlo_fill(l, sum, 0.5)));
}

static bool bias_gradient(tw__lowering *l)
{
    bool first = TW_ATTR(l, "data_format")->s.data[1] == 'C';
    int channel = first ? 1 : X.shape.rank - 1;
    return GIVE(tw__hlo_reduce(l, "add", X, ((1u << X.shape.rank) - 1) & ~(1u << channel)));
}

static bool bias(tw__lowering *l)
{
    bool first = !l->argument && TW_ATTR(l, "data_format")->s.data[1] == 'C';
    int channel = first ? 1 : X.shape.rank - 1;
    return GIVE(BINARY("add", X, tw__hlo_broadcast_in(l, l->inputs[1], &X.shape, &channel)));
}

/* ---- softmax ---- */

/* Along the last dimension: the reduction of x, as wide as x again. */
static tw__hlo along_last(tw__lowering *l, const char *name, tw__hlo x)
{
    int dims[TW_MAX_RANK];
    for (int i = 0; i < x.shape.rank; i++)
        dims[i] = i;
    return tw__hlo_broadcast_in(l, tw__hlo_reduce(l, name, x, 1u << (x.shape.rank - 1)), &x.shape, dims);
}

/* The logarithm of the softmax. */
static tw__hlo log_softmax_of(tw__lowering *l, tw__hlo x)
{
    tw__hlo shifted = BINARY("subtract", x, along_last(l, "maximum", x));
    return BINARY("subtract", shifted, UNARY("log", along_last(l, "add", UNARY("exponential", shifted))));
}

static bool softmax(tw__lowering *l)
{
    if (X.shape.rank < 1)
        return false;
    tw__hlo powers = UNARY("exponential", BINARY("subtract", X, along_last(l, "maximum", X)));
    return GIVE(BINARY("divide", powers, along_last(l, "add", powers)));
}

static bool log_softmax(tw__lowering *l)
{
    return X.shape.rank >= 1 && GIVE(log_softmax_of(l, X));
}

/* Losses, and what their gradients need. */
static bool entropy(tw__lowering *l)
{
    tw__hlo labels = tw__hlo_broadcast(l, l->inputs[1], &X.shape), logs = log_softmax_of(l, X);
    tw__hlo loss = UNARY("negate", tw__hlo_reduce(l, "add", BINARY("multiply", labels, logs), 2));
    return tw__lower_give(l, 0, loss) && tw__lower_give(l, 1, BINARY("subtract", UNARY("exponential", logs), labels));
}

/* Labels outside of the classes give NaN: programs have no errors. */
static bool sparse_entropy(tw__lowering *l)
{
    tw__hlo labels = tw__hlo_broadcast_in(l, l->inputs[1], &X.shape, (int[]){ 0 }), logs = log_softmax_of(l, X);
    tw__hlo classes = tw__hlo_iota(l, labels.dtype, &X.shape, 1);
    tw__hlo hot = tw__hlo_convert(l, tw__hlo_compare(l, "EQ", classes, labels), X.dtype);
    tw__hlo zero = tw__hlo_constant(l, labels.dtype, &TW_SCALAR, 0);
    tw__hlo count = tw__hlo_constant(l, labels.dtype, &TW_SCALAR, (double)X.shape.dims[1]);
    tw__hlo inside = BINARY("and", tw__hlo_compare(l, "GE", labels, zero), tw__hlo_compare(l, "LT", labels, count));
    tw__hlo none = tw__hlo_constant(l, X.dtype, &TW_SCALAR, 0);
    hot = tw__hlo_select(l, inside, hot, BINARY("divide", none, none));
    tw__hlo loss = UNARY("negate", tw__hlo_reduce(l, "add", BINARY("multiply", hot, logs), 2));
    return tw__lower_give(l, 0, loss) && tw__lower_give(l, 1, BINARY("subtract", UNARY("exponential", logs), hot));
}

/* ---- places of extremes ---- */

static bool arg_extreme(tw__lowering *l)
{
    int64_t axis;
    const tw_tensor *known = l->inputs[1].constant;
    if (!known || !tw__dtype_is_float(X.dtype) || tw__tensor_read_ints(known, "", &axis, 1) != TW_OK)
        return false;
    axis = axis < 0 ? axis + X.shape.rank : axis;
    /* The first place that has the extreme value: the least number among such places. */
    int dims[TW_MAX_RANK], at = 0;
    for (int i = 0; i < X.shape.rank; i++) {
        if (i != axis)
            dims[at++] = i;
    }
    tw__hlo extreme = tw__hlo_broadcast_in(l, tw__hlo_reduce(l, l->argument, X, 1u << axis), &X.shape, dims);
    tw_dtype dtype = l->outputs[0].dtype;
    tw__hlo numbers = tw__hlo_iota(l, dtype, &X.shape, (int)axis);
    tw__hlo size = tw__hlo_constant(l, dtype, &TW_SCALAR, (double)X.shape.dims[axis]);
    tw__hlo found = tw__hlo_select(l, tw__hlo_compare(l, "EQ", X, extreme), numbers, size);
    tw__hlo first = tw__hlo_reduce(l, "minimum", found, 1u << axis), zero = tw__hlo_constant(l, dtype, &TW_SCALAR, 0);
    return GIVE(tw__hlo_select(l, tw__hlo_compare(l, "EQ", first, size), zero, first)); /* all are NaN */
}

static bool cumulate(tw__lowering *l)
{
    int64_t axis, window[TW_MAX_RANK], strides[TW_MAX_RANK], pads[2 * TW_MAX_RANK] = { 0 };
    const tw_tensor *known = l->inputs[1].constant;
    bool exclusive = TW_ATTR(l, "exclusive")->b, backwards = TW_ATTR(l, "reverse")->b;
    if (!known || tw__tensor_read_ints(known, "", &axis, 1) != TW_OK || X.shape.rank == 0)
        return false;
    axis = axis < 0 ? axis + X.shape.rank : axis;
    int64_t size = X.shape.dims[axis], before = exclusive ? size : size - 1, after = exclusive ? -1 : 0;
    if (size == 0 || size > 4096)
        return false; /* such windows take long to compile */
    for (int i = 0; i < X.shape.rank; i++)
        window[i] = strides[i] = 1;
    window[axis] = size;
    pads[2 * axis] = backwards ? after : before;
    pads[2 * axis + 1] = backwards ? before : after;
    return GIVE(tw__hlo_window(l, l->argument, X, window, strides, NULL, pads, &X.shape));
}

const tw__lower_row tw__lower_reductions[] = {
    { "Sum", reduce, "add" },
    { "Prod", reduce, "multiply" },
    { "Max", reduce, "maximum" },
    { "Min", reduce, "minimum" },
    { "All", reduce, "and" },
    { "Any", reduce, "or" },
    { "Mean", mean, NULL },
    { "EuclideanNorm", norm, NULL },
    { "L2Loss", l2_loss, NULL },
    { "BiasAdd", bias, NULL },
    { "BiasAddV1", bias, "last" },
    { "BiasAddGrad", bias_gradient, NULL },
    { "Softmax", softmax, NULL },
    { "LogSoftmax", log_softmax, NULL },
    { "SoftmaxCrossEntropyWithLogits", entropy, NULL },
    { "SparseSoftmaxCrossEntropyWithLogits", sparse_entropy, NULL },
    { "ArgMax", arg_extreme, "maximum" },
    { "ArgMin", arg_extreme, "minimum" },
    { "Cumsum", cumulate, "add" },
    { "Cumprod", cumulate, "multiply" },
    { NULL, NULL, NULL },
};
