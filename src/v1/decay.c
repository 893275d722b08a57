/* Learning rates as functions of the global step, made of ops as TensorFlow 1 makes them: in a graph they follow the step. */
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

/* step / steps in the rate's dtype, rounded down if asked. */
static tw_tensor *progress(tw_tensor *rate, tw_tensor *step, tw_tensor *steps, bool staircase)
{
    tw_tensor *part = TW_G2(RealDiv, tw__cast(step, rate->dtype), tw__cast(steps, rate->dtype));
    return staircase ? TW_G1(Floor, part) : part;
}

static tw_tensor *number(const tw_tensor *like, double value)
{
    return tw__float_scalar(like->dtype, value);
}

TW_API(
    v1_exponential_decay,
    "compat.v1.train._exponential_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, decay_rate: tensor, "
    "staircase: bool = False, name: str = None) -> tensor",
    "learning_rate * decay_rate ^ (global_step / decay_steps).")
{
    tw__part part = tw__part_begin(args->name, "ExponentialDecay");
    tw_auto tw_tensor *rate = tw__part_constant(&part, args->learning_rate, "initial_learning_rate");
    if (!rate)
        return tw__part_result(&part, NULL);
    tw_auto tw_tensor *share = progress(rate, args->global_step, args->decay_steps, args->staircase);
    tw_auto tw_tensor *base = share ? tw__cast(args->decay_rate, rate->dtype) : NULL;
    tw_auto tw_tensor *power = base ? tw__part_call(&part, "Pow", &tw__op_Pow, TW_IN(base, share), 2, NULL, 0) : NULL;
    return tw__part_result(&part, power ? tw__part_call(&part, "", &tw__op_Mul, TW_IN(rate, power), 2, NULL, 0) : NULL);
}

TW_API(
    v1_natural_exp_decay,
    "compat.v1.train._natural_exp_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, decay_rate: tensor, "
    "staircase: bool = False, name: str = None) -> tensor",
    "learning_rate * exp(-decay_rate * global_step / decay_steps).")
{
    tw_tensor *rate = args->learning_rate;
    tw_tensor *part = progress(rate, args->global_step, args->decay_steps, args->staircase);
    tw_tensor *base = TW_G1(Exp, TW_G1(Neg, tw__cast(args->decay_rate, rate->dtype)));
    return TW_G2(Mul, tw_retain(rate), TW_G2(Pow, base, part));
}

TW_API(
    v1_inverse_time_decay,
    "compat.v1.train._inverse_time_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, decay_rate: tensor, "
    "staircase: bool = False, name: str = None) -> tensor",
    "learning_rate / (1 + decay_rate * global_step / decay_steps).")
{
    tw_tensor *rate = args->learning_rate;
    tw_tensor *part = progress(rate, args->global_step, args->decay_steps, args->staircase);
    tw_tensor *denominator = TW_G2(AddV2, number(rate, 1), TW_G2(Mul, tw__cast(args->decay_rate, rate->dtype), part));
    return TW_G2(RealDiv, tw_retain(rate), denominator);
}

TW_API(v1_polynomial_decay,
       "compat.v1.train._polynomial_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, "
       "end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False, name: str = None) -> tensor",
       "From learning_rate to end_learning_rate in decay_steps, (1 - global_step / decay_steps) ^ power of the way left.")
{
    tw_tensor *rate = args->learning_rate;
    tw_auto tw_tensor *step = tw__cast(args->global_step, rate->dtype), *steps = tw__cast(args->decay_steps, rate->dtype);
    if (!step || !steps)
        return NULL;
    tw_tensor *now = tw_retain(step), *whole = tw_retain(steps);
    if (args->cycle) {
        tw_tensor *first = TW_G2(Equal, tw_retain(step), number(rate, 0));
        tw_tensor *cycles = TW_G1(Ceil, TW_G2(RealDiv, tw_retain(step), tw_retain(steps)));
        whole = TW_G2(Mul, whole, TW_G3(SelectV2, first, number(rate, 1), cycles));
    } else {
        now = TW_G2(Minimum, now, tw_retain(steps));
    }
    tw_tensor *left = TW_G2(Pow, TW_G2(Sub, number(rate, 1), TW_G2(RealDiv, now, whole)), number(rate, args->power));
    tw_tensor *range = TW_G2(Sub, tw_retain(rate), number(rate, args->end_learning_rate));
    return TW_G2(AddV2, TW_G2(Mul, range, left), number(rate, args->end_learning_rate));
}

TW_API(
    v1_cosine_decay,
    "compat.v1.train._cosine_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, alpha: float = 0.0, "
    "name: str = None) -> tensor",
    "learning_rate times half a cosine from 1 to alpha in decay_steps.")
{
    tw_tensor *rate = args->learning_rate;
    tw_auto tw_tensor *steps = tw__cast(args->decay_steps, rate->dtype), *step = tw__cast(args->global_step, rate->dtype);
    tw_auto tw_tensor *now = TW_CALL(Minimum, step, steps);
    if (!now)
        return NULL;
    tw_tensor *part = TW_G2(RealDiv, tw_retain(now), tw_retain(steps));
    tw_tensor *cosine = TW_G1(Cos, TW_G2(Mul, number(rate, 3.14159265358979323846), part));
    tw_tensor *decayed = TW_G2(Mul, number(rate, 0.5), TW_G2(AddV2, number(rate, 1), cosine));
    decayed = TW_G2(AddV2, TW_G2(Mul, number(rate, 1 - args->alpha), decayed), number(rate, args->alpha));
    return TW_G2(Mul, tw_retain(rate), decayed);
}

TW_API(
    v1_piecewise_constant,
    "compat.v1.train._piecewise_constant(x: tensor, boundaries: list<object>, values: list<object>, name: str = None) -> tensor",
    "One value up to and with each boundary, the last behind them all.")
{
    int64_t count = args->boundaries.count;
    if (args->values.count != count + 1) {
        tw__fail(TW_VALUE_ERROR, "The length of boundaries should be 1 less than the length of values");
        return NULL;
    }
    tw_tensor *rate = tw_retain(args->values.items[count]);
    while (rate && count-- > 0) {
        tw_auto tw_tensor *boundary = tw__cast(args->boundaries.items[count], args->x->dtype);
        rate = boundary ? TW_G3(SelectV2, TW_CALL(Greater, args->x, boundary), rate, tw_retain(args->values.items[count])) : NULL;
    }
    return rate;
}
