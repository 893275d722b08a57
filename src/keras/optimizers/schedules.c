/* Schedules: the learning rate as a function of the step, in float32 arithmetic as Keras computes it. */
#include <math.h>

#include "graph/graph.h"
#include "keras/optimizers/optimizers.h"
#include "keras/own.h"
#include "op/calls.h"

TW_CLASS(schedule, "keras.optimizers.schedules.LearningRateSchedule()", .size = sizeof(tw_schedule),
         .doc = "The base of schedules: a learning rate that depends on the step.");

double tw__schedule_rate(tw_schedule *schedule, int64_t step)
{
    const tw__schedule_methods *methods = tw__methods(schedule);
    if (!schedule->foreign_call && methods)
        return (double)methods->rate(schedule, (float)step);
    if (!schedule->foreign_call) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Learning rate schedule '%s' must override `__call__(self, step)`.",
                 tw_class_name(schedule));
        return NAN;
    }
    tw_auto tw_tensor *number = tw_tensor_int64(step);
    tw_auto tw_tensor *rate = number ? schedule->foreign_call(schedule, number) : NULL;
    return rate ? tw_tensor_double_at(rate, 0) : NAN;
}

tw_tensor *tw__schedule_trace(tw_schedule *schedule, tw_tensor *step)
{
    const tw__schedule_methods *methods = tw__methods(schedule);
    if (schedule->foreign_call)
        return schedule->foreign_call(schedule, step);
    if (!methods) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Learning rate schedule '%s' must override `__call__(self, step)`.",
                 tw_class_name(schedule));
        return NULL;
    }
    tw_auto tw_tensor *number = tw__cast(step, TW_FLOAT32);
    return number ? methods->trace(schedule, number) : NULL;
}

TW_METHOD(schedule_call, "keras.optimizers.schedules.LearningRateSchedule.__call__(self: schedule, step: tensor) -> tensor",
          "The learning rate at a step.")
{
    const tw__schedule_methods *methods = tw__methods(args->self);
    if (methods && (tw__tracing || args->step->node))
        return tw__schedule_trace(args->self, args->step);
    if (args->step->count != 1 || !methods) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: the step has shape %s, expected a scalar", tw_class_name(args->self),
                 tw__shape_text(&args->step->shape));
        return NULL;
    }
    double step = tw_tensor_double_at(args->step, 0);
    return isnan(step) && tw_error_code() != TW_OK ? NULL : tw_tensor_float(methods->rate(args->self, (float)step));
}

TW_METHOD(schedule_get_config, "keras.optimizers.schedules.LearningRateSchedule.get_config(self: schedule) -> value",
          "The arguments that would make the same schedule again.")
{
    return tw__plain_config(args->self);
}

/* The part of the steps that are done, left to t. */
static tw_tensor *part_done(tw__temps *t, tw_tensor *step, int64_t steps, bool staircase)
{
    tw_tensor *part = TW_TEMP(RealDiv, step, (double)steps);
    return staircase ? TW_TEMP(Floor, part) : part;
}

/* ---- exponential ---- */

static float exponential_rate(const tw_schedule *self, float step)
{
    const tw_schedules_exponential_decay_args *args = tw_object_config(self);
    float part = step / (float)args->decay_steps;
    if (args->staircase)
        part = floorf(part);
    return (float)args->initial_learning_rate * powf((float)args->decay_rate, part);
}

static tw_tensor *exponential_trace(const tw_schedule *self, tw_tensor *step)
{
    TW_TEMPS(t);
    const tw_schedules_exponential_decay_args *args = tw_object_config(self);
    tw_tensor *part = part_done(t, step, args->decay_steps, args->staircase);
    return TW_CALL(Mul, args->initial_learning_rate, TW_TEMP(Pow, args->decay_rate, part));
}

static const tw__schedule_methods exponential_methods = { exponential_rate, exponential_trace };

TW_CLASS(
    schedules_exponential_decay,
    "keras.optimizers.schedules.ExponentialDecay(initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False, "
    "name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &exponential_methods,
    .doc = "initial_learning_rate * decay_rate ^ (step / decay_steps).\n"
           "example: float(tf.keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)(10))  # 0.5");

/* ---- piecewise constant ---- */

static tw_status piecewise_init(void *self, const void *given)
{
    (void)self;
    const tw_schedules_piecewise_constant_decay_args *args = given;
    if (args->boundaries->shape.rank != 1 || args->values->shape.rank != 1 || args->boundaries->count != args->values->count - 1)
        return tw__fail(TW_VALUE_ERROR,
                        "The length of boundaries should be 1 less than the length of values. Received: boundaries of shape %s, "
                        "values of shape %s",
                        tw__shape_text(&args->boundaries->shape), tw__shape_text(&args->values->shape));
    if (args->values->dtype == TW_STRING || args->boundaries->dtype == TW_STRING)
        return tw__fail(TW_TYPE_ERROR, "PiecewiseConstantDecay: boundaries and values must be numbers");
    return TW_OK;
}

/* Behind the last boundary the last value counts, and where there is none, as when one of both lists was set to a shorter one,
 * the first. */
static double piece_value(const tw_schedules_piecewise_constant_decay_args *args, int64_t piece)
{
    int64_t last = args->values->count - 1;
    if (last < 0)
        return NAN;
    return tw_tensor_double_at(args->values, piece == args->boundaries->count ? last : piece < last ? piece : 0);
}

static float piecewise_rate(const tw_schedule *self, float step)
{
    const tw_schedules_piecewise_constant_decay_args *args = tw_object_config(self);
    int64_t piece = 0;
    while (piece < args->boundaries->count && step > (float)tw_tensor_double_at(args->boundaries, piece))
        piece++;
    return (float)piece_value(args, piece);
}

static tw_tensor *piecewise_trace(const tw_schedule *self, tw_tensor *step)
{
    TW_TEMPS(t);
    const tw_schedules_piecewise_constant_decay_args *args = tw_object_config(self);
    int64_t piece = args->boundaries->count;
    tw_tensor *rate = tw__temp(t, tw__grad_constant(piece_value(args, piece), step));
    while (piece-- > 0) {
        tw_tensor *behind = TW_TEMP(Greater, step, tw_tensor_double_at(args->boundaries, piece));
        rate = TW_TEMP(SelectV2, behind, rate, tw__temp(t, tw__grad_constant(piece_value(args, piece), step)));
    }
    return tw__keep(t, rate);
}

static const tw__schedule_methods piecewise_methods = { piecewise_rate, piecewise_trace };

TW_CLASS(schedules_piecewise_constant_decay,
         "keras.optimizers.schedules.PiecewiseConstantDecay(boundaries: tensor, values: tensor, name: str = None) -> schedule",
         .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .init = piecewise_init, .methods = &piecewise_methods,
         .doc = "One value up to each boundary, the last behind them all.\n"
                "boundaries: the last steps of all values but the last, in their order\n"
                "values: the learning rates, one more than there are boundaries\n"
                "example: float(tf.keras.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])(15))  # 0.5");

/* ---- polynomial ---- */

static float polynomial_rate(const tw_schedule *self, float step)
{
    const tw_schedules_polynomial_decay_args *args = tw_object_config(self);
    float steps = (float)args->decay_steps, first = (float)args->initial_learning_rate, last = (float)args->end_learning_rate;
    if (args->cycle)
        steps *= step == 0 ? 1 : ceilf(step / steps);
    else
        step = fminf(step, steps);
    return (first - last) * powf(1 - step / steps, (float)args->power) + last;
}

static tw_tensor *polynomial_trace(const tw_schedule *self, tw_tensor *step)
{
    TW_TEMPS(t);
    const tw_schedules_polynomial_decay_args *args = tw_object_config(self);
    tw_tensor *steps = tw__temp(t, tw_tensor_float((float)args->decay_steps)), *now = step;
    if (args->cycle) {
        tw_tensor *cycles = TW_TEMP(Ceil, TW_TEMP(RealDiv, step, steps));
        steps = TW_TEMP(Mul, steps, TW_TEMP(SelectV2, TW_TEMP(Equal, step, 0.0), tw__temp(t, tw_tensor_float(1)), cycles));
    } else {
        now = TW_TEMP(Minimum, step, steps);
    }
    float last = (float)args->end_learning_rate, range = (float)args->initial_learning_rate - last;
    tw_tensor *power = TW_TEMP(Pow, TW_TEMP(Sub, 1.0, TW_TEMP(RealDiv, now, steps)), args->power);
    return TW_CALL(AddV2, TW_TEMP(Mul, (double)range, power), (double)last);
}

static const tw__schedule_methods polynomial_methods = { polynomial_rate, polynomial_trace };

TW_CLASS(
    schedules_polynomial_decay,
    "keras.optimizers.schedules.PolynomialDecay(initial_learning_rate: float, decay_steps: int, end_learning_rate: float = 0.0001, "
    "power: float = 1.0, cycle: bool = False, name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &polynomial_methods,
    .doc =
        "From the initial to the end learning rate along a power of the steps that are left.\n"
        "power: the exponent; 1 is a straight line\n"
        "cycle: True: whenever the steps are over, the decay is stretched to the next multiple of `decay_steps`; False: stay at the end\n"
        "example: float(tf.keras.optimizers.schedules.PolynomialDecay(1.0, 10, 0.0)(5))  # 0.5");

/* ---- cosine ---- */

static float cosine_rate(const tw_schedule *self, float step)
{
    const tw_schedules_cosine_decay_args *args = tw_object_config(self);
    float steps = (float)args->decay_steps, warm = (float)args->warmup_steps, first = (float)args->initial_learning_rate;
    if (!isnan(args->warmup_target)) {
        float target = (float)args->warmup_target;
        if (step < warm)
            return (target - first) * (step / warm) + first;
        step = fminf(step, steps + warm) - warm;
        first = target;
    } else {
        step = fminf(step, steps);
    }
    float wave = 0.5f * (1 + cosf((float)M_PI * (step / steps)));
    return first * ((1 - (float)args->alpha) * wave + (float)args->alpha);
}

static tw_tensor *cosine_trace(const tw_schedule *self, tw_tensor *step)
{
    TW_TEMPS(t);
    const tw_schedules_cosine_decay_args *args = tw_object_config(self);
    float steps = (float)args->decay_steps, warm = (float)args->warmup_steps, first = (float)args->initial_learning_rate;
    bool warms = !isnan(args->warmup_target);
    float top = warms ? (float)args->warmup_target : first, alpha = (float)args->alpha;
    tw_tensor *now = TW_TEMP(Minimum, step, (double)(warms ? steps + warm : steps));
    if (warms)
        now = TW_TEMP(Sub, now, (double)warm);
    tw_tensor *turn = TW_TEMP(Mul, M_PI, TW_TEMP(RealDiv, now, (double)steps));
    tw_tensor *wave = TW_TEMP(Mul, 0.5, TW_TEMP(AddV2, 1.0, TW_TEMP(Cos, turn)));
    tw_tensor *part = TW_TEMP(AddV2, TW_TEMP(Mul, (double)(1 - alpha), wave), (double)alpha);
    tw_tensor *rate = TW_TEMP(Mul, (double)top, part);
    if (!warms)
        return tw__keep(t, rate);
    tw_tensor *way = TW_TEMP(Mul, (double)(top - first), TW_TEMP(RealDiv, step, (double)warm));
    return TW_CALL(SelectV2, TW_TEMP(Less, step, (double)warm), TW_TEMP(AddV2, way, (double)first), rate);
}

static const tw__schedule_methods cosine_methods = { cosine_rate, cosine_trace };

TW_CLASS(
    schedules_cosine_decay,
    "keras.optimizers.schedules.CosineDecay|keras.experimental.CosineDecay(initial_learning_rate: float, decay_steps: int, alpha: float = 0.0, name: str = None, "
    "warmup_target: float = None, warmup_steps: int = 0) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &cosine_methods,
    .doc = "Half a wave down to alpha times the initial learning rate, after a straight way up if there is a warm-up.\n"
           "alpha: the last learning rate, as a part of the highest one\n"
           "warmup_target: the learning rate at the end of the warm-up; None: there is none\n"
           "warmup_steps: how many steps the warm-up takes\n"
           "example: float(tf.keras.optimizers.schedules.CosineDecay(1.0, 10)(10))  # 0.0");

/* ---- inverse time ---- */

static float inverse_rate(const tw_schedule *self, float step)
{
    const tw_schedules_inverse_time_decay_args *args = tw_object_config(self);
    float part = step / (float)args->decay_steps;
    if (args->staircase)
        part = floorf(part);
    return (float)args->initial_learning_rate / (1 + (float)args->decay_rate * part);
}

static tw_tensor *inverse_trace(const tw_schedule *self, tw_tensor *step)
{
    TW_TEMPS(t);
    const tw_schedules_inverse_time_decay_args *args = tw_object_config(self);
    tw_tensor *part = part_done(t, step, args->decay_steps, args->staircase);
    return TW_CALL(RealDiv, args->initial_learning_rate, TW_TEMP(AddV2, 1.0, TW_TEMP(Mul, args->decay_rate, part)));
}

static const tw__schedule_methods inverse_methods = { inverse_rate, inverse_trace };

TW_CLASS(
    schedules_inverse_time_decay,
    "keras.optimizers.schedules.InverseTimeDecay(initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False, "
    "name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &inverse_methods,
    .doc = "initial_learning_rate / (1 + decay_rate * step / decay_steps).");

/* ---- cosine with restarts ---- */

static float restarts_rate(const tw_schedule *self, float step)
{
    const tw_schedules_cosine_decay_restarts_args *args = tw_object_config(self);
    float part = step / (float)args->first_decay_steps, longer = (float)args->t_mul, restart, alpha = (float)args->alpha;
    if (longer == 1) {
        restart = floorf(part);
        part -= restart;
    } else {
        restart = floorf(logf(1 - part * (1 - longer)) / logf(longer));
        float power = powf(longer, restart);
        part = (part - (1 - power) / (1 - longer)) / power;
    }
    float wave = 0.5f * powf((float)args->m_mul, restart) * (1 + cosf((float)M_PI * part));
    return (float)args->initial_learning_rate * ((1 - alpha) * wave + alpha);
}

static tw_tensor *restarts_trace(const tw_schedule *self, tw_tensor *step)
{
    TW_TEMPS(t);
    const tw_schedules_cosine_decay_restarts_args *args = tw_object_config(self);
    float longer = (float)args->t_mul, alpha = (float)args->alpha;
    tw_tensor *part = TW_TEMP(RealDiv, step, (double)args->first_decay_steps), *restart, *rest;
    if (longer == 1) {
        restart = TW_TEMP(Floor, part);
        rest = TW_TEMP(Sub, part, restart);
    } else {
        tw_tensor *inside = TW_TEMP(Sub, 1.0, TW_TEMP(Mul, part, (double)(1 - longer)));
        restart = TW_TEMP(Floor, TW_TEMP(RealDiv, TW_TEMP(Log, inside), (double)logf(longer)));
        tw_tensor *power = TW_TEMP(Pow, (double)longer, restart);
        tw_tensor *before = TW_TEMP(RealDiv, TW_TEMP(Sub, 1.0, power), (double)(1 - longer));
        rest = TW_TEMP(RealDiv, TW_TEMP(Sub, part, before), power);
    }
    tw_tensor *factor = TW_TEMP(Mul, 0.5, TW_TEMP(Pow, args->m_mul, restart));
    tw_tensor *wave = TW_TEMP(Mul, factor, TW_TEMP(AddV2, 1.0, TW_TEMP(Cos, TW_TEMP(Mul, M_PI, rest))));
    return TW_CALL(Mul, args->initial_learning_rate, TW_TEMP(AddV2, TW_TEMP(Mul, (double)(1 - alpha), wave), (double)alpha));
}

static const tw__schedule_methods restarts_methods = { restarts_rate, restarts_trace };

TW_CLASS(
    schedules_cosine_decay_restarts,
    "keras.optimizers.schedules.CosineDecayRestarts|keras.experimental.CosineDecayRestarts(initial_learning_rate: float, first_decay_steps: int, t_mul: float = 2.0, "
    "m_mul: float = 1.0, alpha: float = 0.0, name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .inert = " t_mul m_mul ", .methods = &restarts_methods,
    .doc =
        "Half waves down to alpha times the initial learning rate, each t_mul times as long and m_mul times as high as the one before.\n"
        "first_decay_steps: how many steps the first wave takes\n"
        "t_mul: how many times as long each wave is as the one before\n"
        "m_mul: how many times as high each wave is as the one before\n"
        "alpha: the least learning rate, as a part of the initial one");
