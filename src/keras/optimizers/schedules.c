/* Schedules: the learning rate as a function of the step, in float32 arithmetic as Keras computes it. */
#include <math.h>

#include "keras/optimizers/optimizers.h"

TW_CLASS(schedule, "keras.optimizers.schedules.LearningRateSchedule()", .size = sizeof(tw_schedule),
    .doc = "The base of schedules: a learning rate that depends on the step.");

double tw__schedule_rate(tw_schedule *schedule, int64_t step)
{
    const tw__schedule_methods *methods = tw__methods(schedule);
    if (!schedule->foreign_call && methods)
        return (double)methods->rate(schedule, (float)step);
    if (!schedule->foreign_call) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Learning rate schedule '%s' must override `__call__(self, step)`.", tw_class_name(schedule));
        return NAN;
    }
    tw_tensor *number = tw_tensor_int64(step);
    tw_tensor *rate = number ? schedule->foreign_call(schedule, number) : NULL;
    double value = rate ? tw_tensor_double_at(rate, 0) : NAN;
    tw_release(number);
    tw_release(rate);
    return value;
}

TW_METHOD(schedule_call, "keras.optimizers.schedules.LearningRateSchedule.__call__(self: schedule, step: tensor) -> tensor",
          "The learning rate at a step.")
{
    const tw__schedule_methods *methods = tw__methods(args->self);
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

static const tw__schedule_methods exponential_methods = { exponential_rate };

TW_CLASS(schedules_exponential_decay,
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
        return tw__fail(TW_VALUE_ERROR, "The length of boundaries should be 1 less than the length of values. Received: boundaries of shape %s, "
                        "values of shape %s", tw__shape_text(&args->boundaries->shape), tw__shape_text(&args->values->shape));
    if (args->values->dtype == TW_STRING || args->boundaries->dtype == TW_STRING)
        return tw__fail(TW_TYPE_ERROR, "PiecewiseConstantDecay: boundaries and values must be numbers");
    return TW_OK;
}

static float piecewise_rate(const tw_schedule *self, float step)
{
    const tw_schedules_piecewise_constant_decay_args *args = tw_object_config(self);
    int64_t piece = 0;
    while (piece < args->boundaries->count && step > (float)tw_tensor_double_at(args->boundaries, piece))
        piece++;
    return (float)tw_tensor_double_at(args->values, piece);
}

static const tw__schedule_methods piecewise_methods = { piecewise_rate };

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

static const tw__schedule_methods polynomial_methods = { polynomial_rate };

TW_CLASS(schedules_polynomial_decay,
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

static const tw__schedule_methods cosine_methods = { cosine_rate };

TW_CLASS(schedules_cosine_decay,
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

static const tw__schedule_methods inverse_methods = { inverse_rate };

TW_CLASS(schedules_inverse_time_decay,
    "keras.optimizers.schedules.InverseTimeDecay(initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False, "
    "name: str = None) -> schedule",
    .parent = &tw__class_schedule, .size = sizeof(tw_schedule), .methods = &inverse_methods,
    .doc = "initial_learning_rate / (1 + decay_rate * step / decay_steps).");
