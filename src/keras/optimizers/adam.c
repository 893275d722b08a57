/* Adam: moments of the gradient and of its square, both corrected for their start at zero.
 *
 *     m += (g - m)(1 - beta_1)    v += (g² - v)(1 - beta_2)    w -= m · rate · sqrt(1 - beta_2^t) / (1 - beta_1^t) / (sqrt(v) +
 * epsilon)
 *
 * With amsgrad the largest v so far stands in the place of v. Keras does this with a dozen ops on variables; here it is one pass
 * over memory that gives the same bits (kernel/adam.h). Traced, it is Keras's ops, which plans join into that pass
 * (exec/pass_adam.c). Small floats take the op ResourceApplyAdam. */
#include <math.h>

#include "kernel/adam.h"
#include "keras/optimizers/step.h"

enum { MOMENTUM, VELOCITY, LARGEST };
enum { BETA_1_POWER, BETA_2_POWER, STEP_RATE, BETA_1, BETA_2, EPSILON, SCALARS };

static const tw__slot_kind kinds[] = { { "_momentums", "m", 0 }, { "_velocities", "v", 0 }, { "_velocity_hats", "vhat", 0 } };

typedef struct adam {
    tw_optimizer optimizer;
    tw_optimizers_adam_args settings; /* by name: AdamW's too */
} adam;

static tw_status adam_settle(void *self, const void *given)
{
    (void)given;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_optimizers_adam,
                     &((adam *)self)->settings);
    return TW_OK;
}

static tw_status adam_build(tw_optimizer *self)
{
    TW_TRY(tw__optimizer_add_slots(self, MOMENTUM, 2, kinds));
    return ((adam *)self)->settings.amsgrad ? tw__optimizer_add_slots(self, LARGEST, 1, &kinds[LARGEST]) : TW_OK;
}

static tw_status need_largest(const adam *self)
{
    return self->settings.amsgrad ? tw__optimizer_need_slots(&self->optimizer, LARGEST, kinds[LARGEST].list) : TW_OK;
}

static double alpha_of(const adam *self, tw_dtype dtype)
{
    double step = (double)(tw__optimizer_step(&self->optimizer) + 1), rate = tw__optimizer_rate(&self->optimizer);
    if (dtype == TW_FLOAT64)
        return rate * sqrt(1 - pow(self->settings.beta_2, step)) / (1 - pow(self->settings.beta_1, step));
    float power_1 = powf((float)self->settings.beta_1, (float)step), power_2 = powf((float)self->settings.beta_2, (float)step);
    return (double)((float)rate * sqrtf(1 - power_2) / (1 - power_1));
}

static tw_status step(adam *self, int64_t index, tw_variable *variable, const tw_tensor *gradient)
{
    tw_optimizer *optimizer = &self->optimizer;
    tw__resource *slots[] = { variable->resource, optimizer->slots[MOMENTUM][index]->resource,
                              optimizer->slots[VELOCITY][index]->resource,
                              self->settings.amsgrad ? optimizer->slots[LARGEST][index]->resource : NULL };
    tw__adam numbers = { alpha_of(self, gradient->dtype), 1 - self->settings.beta_1, 1 - self->settings.beta_2,
                         self->settings.epsilon };
    return tw__adam_update(slots, self->settings.amsgrad ? 4 : 3, gradient, &numbers);
}

static tw_status step_small(adam *self, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    tw_optimizer *optimizer = &self->optimizer;
    bool fresh;
    if (self->settings.amsgrad)
        return tw__fail(TW_UNIMPLEMENTED, "%s: amsgrad with variables of dtype %s is not supported", optimizer->name,
                        tw_dtype_name(gradient->dtype));
    tw__scalars *set = tw__optimizer_scalars(optimizer, gradient->dtype, SCALARS, &fresh);
    if (!set)
        return tw__error_status();
    if (fresh) {
        float time = (float)(tw__optimizer_step(optimizer) + 1);
        const double numbers[SCALARS] = { powf((float)self->settings.beta_1, time),
                                          powf((float)self->settings.beta_2, time),
                                          tw__optimizer_rate(optimizer),
                                          self->settings.beta_1,
                                          self->settings.beta_2,
                                          self->settings.epsilon };
        for (int i = 0; i < SCALARS; i++)
            tw__scalar_set(set->values[i], numbers[i]);
    }
    tw_tensor *inputs[] = { variable->handle,
                            optimizer->slots[MOMENTUM][index]->handle,
                            optimizer->slots[VELOCITY][index]->handle,
                            set->values[BETA_1_POWER],
                            set->values[BETA_2_POWER],
                            set->values[STEP_RATE],
                            set->values[BETA_1],
                            set->values[BETA_2],
                            set->values[EPSILON],
                            gradient };
    int outputs = 0;
    return tw__apply(&tw__op_ResourceApplyAdam, inputs, 10, NULL, 0, NULL, &outputs);
}

static tw_status adam_update(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TRY(need_largest((adam *)optimizer));
    bool plain = gradient->dtype == TW_FLOAT32 || gradient->dtype == TW_FLOAT64;
    return plain ? step((adam *)optimizer, index, variable, gradient) : step_small((adam *)optimizer, index, variable, gradient);
}

tw_tensor *tw__adam_alpha(tw__temps *t, tw_tensor *time, tw_tensor *rate, double beta_1, double beta_2)
{
    tw_tensor *rest_1 = TW_TEMP(Sub, 1.0, TW_TEMP(Pow, beta_1, time)), *rest_2 = TW_TEMP(Sub, 1.0, TW_TEMP(Pow, beta_2, time));
    return TW_TEMP(RealDiv, TW_TEMP(Mul, rate, TW_TEMP(Sqrt, rest_2)), rest_1);
}

/* The same for all variables; borrowed. */
static tw_tensor *traced_alpha(tw__temps *t, adam *self, tw_dtype dtype)
{
    tw_optimizer *optimizer = &self->optimizer;
    tw_tensor *rate = tw__traced_rate(optimizer, dtype);
    if (rate && !optimizer->traced_number)
        optimizer->traced_number = tw_retain(
            tw__adam_alpha(t, tw__step_time(t, optimizer, dtype, 1), rate, self->settings.beta_1, self->settings.beta_2));
    return optimizer->traced_number;
}

/* Keras's own ops, in its order. */
static tw_status adam_trace(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    adam *self = (adam *)optimizer;
    tw_variable *m = optimizer->slots[MOMENTUM][index], *v = optimizer->slots[VELOCITY][index];
    TW_TRY(need_largest(self));
    tw_tensor *alpha = traced_alpha(t, self, gradient->dtype);
    TW_NEED(alpha);
    ADD(m, Mul, TW_TEMP(Sub, gradient, V(m)), 1 - self->settings.beta_1);
    ADD(v, Mul, TW_TEMP(Sub, TW_TEMP(Square, gradient), V(v)), 1 - self->settings.beta_2);
    if (self->settings.amsgrad) {
        tw_variable *largest = optimizer->slots[LARGEST][index];
        ASSIGN(largest, Maximum, V(largest), V(v));
        v = largest;
    }
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, V(m), alpha), TW_TEMP(AddV2, TW_TEMP(Sqrt, V(v)), self->settings.epsilon));
    return TW_OK;
}

static tw_status adam_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices, tw_tensor *values)
{
    const adam *self = (const adam *)optimizer;
    TW_TRY(need_largest(self));
    tw_variable *slots[] = { optimizer->slots[MOMENTUM][index], optimizer->slots[VELOCITY][index],
                             self->settings.amsgrad ? optimizer->slots[LARGEST][index] : NULL };
    return tw__adam_rows(optimizer, slots, variable, indices, values, self->settings.beta_1, self->settings.beta_2,
                         self->settings.epsilon);
}

static const tw__optimizer_methods adam_methods = {
    .build = adam_build, .update = adam_update, .trace = adam_trace, .rows = adam_rows
};

TW_CLASS(optimizers_adam,
         "keras.optimizers.Adam|keras.optimizers.experimental.Adam(learning_rate: number = 0.001, beta_1: float = 0.9, "
         "beta_2: float = 0.999, epsilon: float = 1e-07, amsgrad: bool = False, " TW_OPTIMIZER_ARGUMENTS
         ", name: str = Adam) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(adam), .settle = adam_settle, .methods = &adam_methods,
         .doc = "Steps scaled by moments of the gradient and of its square.");

/* ---- AdamW: the same, and decay of the weights by default ---- */

static tw_status adamw_settle(void *self, const void *given)
{
    if (isnan(((const tw_optimizers_adam_w_args *)given)->weight_decay))
        return tw__fail(TW_VALUE_ERROR, "Missing value of `weight_decay` which is required and must be a float value.");
    return adam_settle(self, given);
}

TW_CLASS(
    optimizers_adam_w,
    "keras.optimizers.AdamW|keras.optimizers.experimental.AdamW(learning_rate: number = 0.001, weight_decay: float? = 0.004, beta_1: float = 0.9, beta_2: float = 0.999, "
    "epsilon: float = 1e-07, amsgrad: bool = False, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, "
    "use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = AdamW) "
    "-> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(adam), .settle = adamw_settle, .methods = &adam_methods,
    .doc = "Adam with decay of the weights.");
