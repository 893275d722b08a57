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
    tw_tensor *number = tw_tensor_int64(step);
    tw_tensor *rate = number ? schedule->foreign_call(schedule, number) : NULL;
    double value = rate ? tw_tensor_double_at(rate, 0) : NAN;
    tw_release(number);
    tw_release(rate);
    return value;
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

static tw_tensor *constant(double value)
{
    return tw_tensor_float((float)value);
}

/* condition ? a : b, taking all three. */
static tw_tensor *choose(tw_tensor *condition, tw_tensor *a, tw_tensor *b)
{
    tw_tensor *output = condition && a && b ? TW_CALL(SelectV2, condition, a, b) : NULL;
    tw_release(condition);
    tw_release(a);
    tw_release(b);
    return output;
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
    if (tw__is_own(args->self))
        return tw__own_config(args->self);
    tw__dict dict = { 0 };
    tw__dict_put_config(&dict, args->self, "");
    return tw__dict_take(&dict);
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
    const tw_schedules_exponential_decay_args *args = tw_object_config(self);
    tw_tensor *part = TW_G2(RealDiv, tw_retain(step), constant((double)args->decay_steps));
    if (args->staircase)
        part = TW_G1(Floor, part);
    return TW_G2(Mul, constant(args->initial_learning_rate), TW_G2(Pow, constant(args->decay_rate), part));
}

static const tw__schedule_methods exponential_methods = { exponential_rate, exponential_trace };

TW_CLASS(
    schedules_exponential_decay,
    "keras.optimizers.schedules.ExponentialDecay(initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False, "
    "name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &exponential_methods,
    .doc = "initial_learning_rate * decay_rate ^ (step / decay_steps).");

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
    const tw_schedules_piecewise_constant_decay_args *args = tw_object_config(self);
    int64_t piece = args->boundaries->count;
    tw_tensor *rate = constant(piece_value(args, piece));
    while (piece-- > 0) {
        tw_tensor *behind = TW_G2(Greater, tw_retain(step), constant(tw_tensor_double_at(args->boundaries, piece)));
        rate = choose(behind, rate, constant(piece_value(args, piece)));
    }
    return rate;
}

static const tw__schedule_methods piecewise_methods = { piecewise_rate, piecewise_trace };

TW_CLASS(schedules_piecewise_constant_decay,
         "keras.optimizers.schedules.PiecewiseConstantDecay(boundaries: tensor, values: tensor, name: str = None) -> schedule",
         .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .init = piecewise_init, .methods = &piecewise_methods,
         .doc = "One value up to each boundary, the last behind them all.");

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
    const tw_schedules_polynomial_decay_args *args = tw_object_config(self);
    tw_tensor *steps = constant((double)args->decay_steps), *now = tw_retain(step);
    if (args->cycle) {
        tw_tensor *first = TW_G2(Equal, tw_retain(step), constant(0));
        tw_tensor *cycles = TW_G1(Ceil, TW_G2(RealDiv, tw_retain(step), constant((double)args->decay_steps)));
        steps = TW_G2(Mul, steps, choose(first, constant(1), cycles));
    } else {
        now = TW_G2(Minimum, now, tw_retain(steps));
    }
    float last = (float)args->end_learning_rate, range = (float)args->initial_learning_rate - last;
    tw_tensor *left = TW_G2(Sub, constant(1), TW_G2(RealDiv, now, steps));
    tw_tensor *power = TW_G2(Pow, left, constant(args->power));
    return TW_G2(AddV2, TW_G2(Mul, constant((double)range), power), constant((double)last));
}

static const tw__schedule_methods polynomial_methods = { polynomial_rate, polynomial_trace };

TW_CLASS(
    schedules_polynomial_decay,
    "keras.optimizers.schedules.PolynomialDecay(initial_learning_rate: float, decay_steps: int, end_learning_rate: float = 0.0001, "
    "power: float = 1.0, cycle: bool = False, name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &polynomial_methods,
    .doc = "From the initial to the end learning rate along a power of the steps that are left.");

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
    const tw_schedules_cosine_decay_args *args = tw_object_config(self);
    float steps = (float)args->decay_steps, warm = (float)args->warmup_steps, first = (float)args->initial_learning_rate;
    bool warms = !isnan(args->warmup_target);
    float top = warms ? (float)args->warmup_target : first, alpha = (float)args->alpha;
    tw_tensor *now = TW_G2(Minimum, tw_retain(step), constant((double)(warms ? steps + warm : steps)));
    if (warms)
        now = TW_G2(Sub, now, constant((double)warm));
    tw_tensor *turn = TW_G2(Mul, constant((double)(float)M_PI), TW_G2(RealDiv, now, constant((double)steps)));
    tw_tensor *wave = TW_G2(Mul, constant(0.5), TW_G2(AddV2, constant(1), TW_G1(Cos, turn)));
    tw_tensor *part = TW_G2(AddV2, TW_G2(Mul, constant((double)(1 - alpha)), wave), constant((double)alpha));
    tw_tensor *rate = TW_G2(Mul, constant((double)top), part);
    if (!warms)
        return rate;
    tw_tensor *way = TW_G2(Mul, constant((double)(top - first)), TW_G2(RealDiv, tw_retain(step), constant((double)warm)));
    return choose(TW_G2(Less, tw_retain(step), constant((double)warm)), TW_G2(AddV2, way, constant((double)first)), rate);
}

static const tw__schedule_methods cosine_methods = { cosine_rate, cosine_trace };

TW_CLASS(
    schedules_cosine_decay,
    "keras.optimizers.schedules.CosineDecay(initial_learning_rate: float, decay_steps: int, alpha: float = 0.0, name: str = None, "
    "warmup_target: float = None, warmup_steps: int = 0) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &cosine_methods,
    .doc = "Half a wave down to alpha times the initial learning rate, after a straight way up if there is a warm-up.");

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
    const tw_schedules_inverse_time_decay_args *args = tw_object_config(self);
    tw_tensor *part = TW_G2(RealDiv, tw_retain(step), constant((double)args->decay_steps));
    if (args->staircase)
        part = TW_G1(Floor, part);
    tw_tensor *under = TW_G2(AddV2, constant(1), TW_G2(Mul, constant(args->decay_rate), part));
    return TW_G2(RealDiv, constant(args->initial_learning_rate), under);
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
    const tw_schedules_cosine_decay_restarts_args *args = tw_object_config(self);
    float longer = (float)args->t_mul, alpha = (float)args->alpha;
    tw_auto tw_tensor *part = TW_G2(RealDiv, tw_retain(step), constant((double)args->first_decay_steps));
    tw_auto tw_tensor *restart = NULL;
    tw_tensor *rest;
    if (longer == 1) {
        restart = TW_G1(Floor, tw_retain(part));
        rest = TW_G2(Sub, tw_retain(part), tw_retain(restart));
    } else {
        tw_tensor *inside = TW_G2(Sub, constant(1), TW_G2(Mul, tw_retain(part), constant((double)(1 - longer))));
        restart = TW_G1(Floor, TW_G2(RealDiv, TW_G1(Log, inside), constant((double)logf(longer))));
        tw_auto tw_tensor *power = TW_G2(Pow, constant((double)longer), tw_retain(restart));
        tw_tensor *before = TW_G2(RealDiv, TW_G2(Sub, constant(1), tw_retain(power)), constant((double)(1 - longer)));
        rest = TW_G2(RealDiv, TW_G2(Sub, tw_retain(part), before), tw_retain(power));
    }
    tw_tensor *factor = TW_G2(Mul, constant(0.5), TW_G2(Pow, constant(args->m_mul), tw_retain(restart)));
    tw_tensor *wave = TW_G2(Mul, factor, TW_G2(AddV2, constant(1), TW_G1(Cos, TW_G2(Mul, constant((double)(float)M_PI), rest))));
    tw_tensor *scale = TW_G2(AddV2, TW_G2(Mul, constant((double)(1 - alpha)), wave), constant((double)alpha));
    return TW_G2(Mul, constant(args->initial_learning_rate), scale);
}

static const tw__schedule_methods restarts_methods = { restarts_rate, restarts_trace };

TW_CLASS(
    schedules_cosine_decay_restarts,
    "keras.optimizers.schedules.CosineDecayRestarts(initial_learning_rate: float, first_decay_steps: int, t_mul: float = 2.0, "
    "m_mul: float = 1.0, alpha: float = 0.0, name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .inert = " t_mul m_mul ", .methods = &restarts_methods,
    .doc =
        "Half waves down to alpha times the initial learning rate, each t_mul times as long and m_mul times as high as the one before.");
