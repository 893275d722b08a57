/* Learning rates as functions of the global step, made of ops as TensorFlow 1 makes them: in a graph they follow the step. */
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

/* step / steps in the rate's dtype, rounded down if asked. */
static tw_tensor *progress(tw_tensor *rate, tw_tensor *step, tw_tensor *steps, bool staircase)
{
    TW_TEMPS(t);
    tw_tensor *part = TW_CALL(RealDiv, tw__temp_cast(t, step, rate->dtype), tw__temp_cast(t, steps, rate->dtype));
    return staircase ? TW_CALL(Floor, tw__temp(t, part)) : part;
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
    TW_TEMPS(t);
    tw_tensor *rate = args->learning_rate;
    tw_tensor *part = progress(rate, args->global_step, args->decay_steps, args->staircase);
    tw_tensor *base = TW_TEMP(Exp, TW_TEMP(Neg, tw__temp_cast(t, args->decay_rate, rate->dtype)));
    return TW_CALL(Mul, rate, TW_TEMP(Pow, base, tw__temp(t, part)));
}

TW_API(
    v1_inverse_time_decay,
    "compat.v1.train._inverse_time_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, decay_rate: tensor, "
    "staircase: bool = False, name: str = None) -> tensor",
    "learning_rate / (1 + decay_rate * global_step / decay_steps).")
{
    TW_TEMPS(t);
    tw_tensor *rate = args->learning_rate;
    tw_tensor *part = progress(rate, args->global_step, args->decay_steps, args->staircase);
    tw_tensor *denominator = TW_TEMP(AddV2, tw__temp(t, number(rate, 1)),
                                     TW_TEMP(Mul, tw__temp_cast(t, args->decay_rate, rate->dtype), tw__temp(t, part)));
    return TW_CALL(RealDiv, rate, denominator);
}

TW_API(v1_polynomial_decay,
       "compat.v1.train._polynomial_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, "
       "end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False, name: str = None) -> tensor",
       "From learning_rate to end_learning_rate in decay_steps, (1 - global_step / decay_steps) ^ power of the way left.")
{
    TW_TEMPS(t);
    tw_tensor *rate = args->learning_rate;
    tw_auto tw_tensor *step = tw__cast(args->global_step, rate->dtype), *steps = tw__cast(args->decay_steps, rate->dtype);
    if (!step || !steps)
        return NULL;
    tw_tensor *now = tw_retain(step), *whole = tw_retain(steps);
    if (args->cycle) {
        tw_tensor *first = TW_TEMP(Equal, step, tw__temp(t, number(rate, 0)));
        tw_tensor *cycles = TW_TEMP(Ceil, TW_TEMP(RealDiv, step, steps));
        whole = TW_CALL(Mul, tw__temp(t, whole), TW_TEMP(SelectV2, first, tw__temp(t, number(rate, 1)), cycles));
    } else {
        now = TW_CALL(Minimum, tw__temp(t, now), steps);
    }
    tw_tensor *left =
        TW_TEMP(Pow, TW_TEMP(Sub, tw__temp(t, number(rate, 1)), TW_TEMP(RealDiv, tw__temp(t, now), tw__temp(t, whole))),
                tw__temp(t, number(rate, args->power)));
    tw_tensor *range = TW_TEMP(Sub, rate, tw__temp(t, number(rate, args->end_learning_rate)));
    return TW_CALL(AddV2, TW_TEMP(Mul, range, left), tw__temp(t, number(rate, args->end_learning_rate)));
}

TW_API(
    v1_cosine_decay,
    "compat.v1.train._cosine_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, alpha: float = 0.0, "
    "name: str = None) -> tensor",
    "learning_rate times half a cosine from 1 to alpha in decay_steps.")
{
    TW_TEMPS(t);
    tw_tensor *rate = args->learning_rate;
    tw_auto tw_tensor *steps = tw__cast(args->decay_steps, rate->dtype), *step = tw__cast(args->global_step, rate->dtype);
    tw_auto tw_tensor *now = TW_CALL(Minimum, step, steps);
    if (!now)
        return NULL;
    tw_tensor *part = TW_TEMP(RealDiv, now, steps);
    tw_tensor *cosine = TW_TEMP(Cos, TW_TEMP(Mul, tw__temp(t, number(rate, 3.14159265358979323846)), part));
    tw_tensor *decayed = TW_CALL(Mul, tw__temp(t, number(rate, 0.5)), TW_TEMP(AddV2, tw__temp(t, number(rate, 1)), cosine));
    decayed = TW_CALL(AddV2, TW_TEMP(Mul, tw__temp(t, number(rate, 1 - args->alpha)), tw__temp(t, decayed)),
                      tw__temp(t, number(rate, args->alpha)));
    return TW_CALL(Mul, rate, tw__temp(t, decayed));
}

TW_API(
    v1_piecewise_constant,
    "compat.v1.train._piecewise_constant(x: tensor, boundaries: list<object>, values: list<object>, name: str = None) -> tensor",
    "One value up to and with each boundary, the last behind them all.")
{
    TW_TEMPS(t);
    int64_t count = args->boundaries.count;
    if (args->values.count != count + 1) {
        tw__fail(TW_VALUE_ERROR, "The length of boundaries should be 1 less than the length of values");
        return NULL;
    }
    tw_tensor *rate = tw_retain(args->values.items[count]);
    while (rate && count-- > 0) {
        tw_auto tw_tensor *boundary = tw__cast(args->boundaries.items[count], args->x->dtype);
        rate = boundary ? TW_CALL(SelectV2, TW_TEMP(Greater, args->x, boundary), tw__temp(t, rate), args->values.items[count])
                        : NULL;
    }
    return rate;
}

TW_API(v1_linear_cosine_decay,
       "compat.v1.train._linear_cosine_decay(learning_rate: tensor<float32>, global_step: tensor, decay_steps: tensor, "
       "num_periods: float = 0.5, alpha: float = 0.0, beta: float = 0.001, name: str = None) -> tensor",
       "A line downwards times a cosine.")
{
    TW_TEMPS(t);
    tw_tensor *rate = args->learning_rate;
    tw__part part = tw__part_begin(args->name, "LinearCosineDecay");
    tw_tensor *steps = tw__temp_cast(t, args->decay_steps, rate->dtype);
    tw_tensor *now = TW_TEMP(Minimum, tw__temp_cast(t, args->global_step, rate->dtype), steps);
    tw_tensor *line = TW_TEMP(RealDiv, TW_TEMP(Sub, steps, now), steps);
    tw_tensor *turns = TW_TEMP(Mul, 2 * args->num_periods, TW_TEMP(RealDiv, now, steps));
    tw_tensor *wave = TW_TEMP(Mul, 0.5, TW_TEMP(AddV2, 1.0, TW_TEMP(Cos, TW_TEMP(Mul, 3.14159265358979323846, turns))));
    tw_tensor *factor = TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(AddV2, args->alpha, line), wave), args->beta);
    return tw__part_result(&part, factor ? tw__part_call(&part, "", &tw__op_Mul, TW_IN(factor, rate), 2, NULL, 0) : NULL);
}
