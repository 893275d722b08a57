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
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

enum { MOMENTUM, VELOCITY, LARGEST };
enum { BETA_1_POWER, BETA_2_POWER, RATE, BETA_1, BETA_2, EPSILON, SCALARS };

static const tw__slot_kind kinds[] = { { "_momentums", "m", 0 }, { "_velocities", "v", 0 }, { "_velocity_hats", "vhat", 0 } };

typedef struct adam {
    tw_optimizer optimizer;
    double beta_1, beta_2, epsilon;
    bool amsgrad;
} adam;

static tw_status adam_settle(void *self, const void *given)
{
    (void)given;
    adam *optimizer = self;
    tw_optimizers_adam_args args; /* by name: AdamW's too */
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_optimizers_adam, &args);
    optimizer->beta_1 = args.beta_1;
    optimizer->beta_2 = args.beta_2;
    optimizer->epsilon = args.epsilon;
    optimizer->amsgrad = args.amsgrad;
    return TW_OK;
}

static tw_status adam_build(tw_optimizer *self)
{
    TW_TRY(tw__optimizer_add_slots(self, MOMENTUM, 2, kinds));
    return ((adam *)self)->amsgrad ? tw__optimizer_add_slots(self, LARGEST, 1, &kinds[LARGEST]) : TW_OK;
}

static tw_status need_largest(const adam *self)
{
    return self->amsgrad ? tw__optimizer_need_slots(&self->optimizer, LARGEST, kinds[LARGEST].list) : TW_OK;
}

static double alpha_of(const adam *self, tw_dtype dtype)
{
    double step = (double)(tw__optimizer_step(&self->optimizer) + 1), rate = tw__optimizer_rate(&self->optimizer);
    if (dtype == TW_FLOAT64)
        return rate * sqrt(1 - pow(self->beta_2, step)) / (1 - pow(self->beta_1, step));
    float power_1 = powf((float)self->beta_1, (float)step), power_2 = powf((float)self->beta_2, (float)step);
    return (double)((float)rate * sqrtf(1 - power_2) / (1 - power_1));
}

static tw_status step(adam *self, int64_t index, tw_variable *variable, const tw_tensor *gradient)
{
    tw_optimizer *optimizer = &self->optimizer;
    tw__resource *slots[] = { variable->resource, optimizer->slots[MOMENTUM][index]->resource,
                              optimizer->slots[VELOCITY][index]->resource,
                              self->amsgrad ? optimizer->slots[LARGEST][index]->resource : NULL };
    tw__adam numbers = { alpha_of(self, gradient->dtype), 1 - self->beta_1, 1 - self->beta_2, self->epsilon };
    return tw__adam_update(slots, self->amsgrad ? 4 : 3, gradient, &numbers);
}

static tw_status step_small(adam *self, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    tw_optimizer *optimizer = &self->optimizer;
    bool fresh;
    if (self->amsgrad)
        return tw__fail(TW_UNIMPLEMENTED, "%s: amsgrad with variables of dtype %s is not supported", optimizer->name,
                        tw_dtype_name(gradient->dtype));
    tw__scalars *set = tw__optimizer_scalars(optimizer, gradient->dtype, SCALARS, &fresh);
    if (!set)
        return tw__error_status();
    if (fresh) {
        float time = (float)(tw__optimizer_step(optimizer) + 1);
        const double numbers[SCALARS] = { powf((float)self->beta_1, time),
                                          powf((float)self->beta_2, time),
                                          tw__optimizer_rate(optimizer),
                                          self->beta_1,
                                          self->beta_2,
                                          self->epsilon };
        for (int i = 0; i < SCALARS; i++)
            tw__scalar_set(set->values[i], numbers[i]);
    }
    tw_tensor *inputs[] = { variable->handle,
                            optimizer->slots[MOMENTUM][index]->handle,
                            optimizer->slots[VELOCITY][index]->handle,
                            set->values[BETA_1_POWER],
                            set->values[BETA_2_POWER],
                            set->values[RATE],
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

/* rate · sqrt(1 - beta_2^t) / (1 - beta_1^t); borrowed. */
static tw_tensor *traced_alpha(adam *self, tw_dtype dtype)
{
    tw_optimizer *optimizer = &self->optimizer;
    tw_tensor *rate = tw__traced_rate(optimizer, dtype);
    if (!rate || optimizer->traced_number)
        return optimizer->traced_number;
    tw_auto tw_tensor *count = TW_G2(AddV2, tw__variable_read(optimizer->iterations), tw_tensor_int64(1));
    tw_auto tw_tensor *time = tw__cast(count, dtype);
    if (!time)
        return NULL;
    tw_tensor *rest_1 =
        TW_G2(Sub, tw__float_scalar(dtype, 1), TW_G2(Pow, tw__float_scalar(dtype, self->beta_1), tw_retain(time)));
    tw_tensor *rest_2 =
        TW_G2(Sub, tw__float_scalar(dtype, 1), TW_G2(Pow, tw__float_scalar(dtype, self->beta_2), tw_retain(time)));
    optimizer->traced_number = TW_G2(RealDiv, TW_G2(Mul, tw_retain(rate), TW_G1(Sqrt, rest_2)), rest_1);
    return optimizer->traced_number;
}

/* Keras's own ops, in its order. */
static tw_status adam_trace(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    adam *self = (adam *)optimizer;
    tw_dtype dtype = gradient->dtype;
    tw_variable *m = optimizer->slots[MOMENTUM][index], *v = optimizer->slots[VELOCITY][index];
    TW_TRY(need_largest(self));
    tw_tensor *alpha = traced_alpha(self, dtype);
    if (!alpha)
        return tw__error_status();
    tw_tensor *change = TW_G2(Sub, tw_retain(gradient), tw__variable_read(m));
    TW_TRY(tw__traced_assign(&tw__op_AssignAddVariableOp, m, TW_G2(Mul, change, tw__float_scalar(dtype, 1 - self->beta_1))));
    change = TW_G2(Sub, TW_CALL(Square, gradient), tw__variable_read(v));
    TW_TRY(tw__traced_assign(&tw__op_AssignAddVariableOp, v, TW_G2(Mul, change, tw__float_scalar(dtype, 1 - self->beta_2))));
    if (self->amsgrad) {
        tw_variable *largest = optimizer->slots[LARGEST][index];
        TW_TRY(tw__traced_assign(&tw__op_AssignVariableOp, largest,
                                 TW_G2(Maximum, tw__variable_read(largest), tw__variable_read(v))));
        v = largest;
    }
    tw_tensor *over = TW_G2(Mul, tw__variable_read(m), tw_retain(alpha));
    tw_tensor *under = TW_G2(AddV2, TW_G1(Sqrt, tw__variable_read(v)), tw__float_scalar(dtype, self->epsilon));
    return tw__traced_assign(&tw__op_AssignSubVariableOp, variable, TW_G2(RealDiv, over, under));
}

static tw_status adam_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices, tw_tensor *values)
{
    const adam *self = (const adam *)optimizer;
    TW_TRY(need_largest(self));
    tw_variable *slots[] = { optimizer->slots[MOMENTUM][index], optimizer->slots[VELOCITY][index],
                             self->amsgrad ? optimizer->slots[LARGEST][index] : NULL };
    return tw__adam_rows(optimizer, slots, variable, indices, values, self->beta_1, self->beta_2, self->epsilon);
}

static const tw__optimizer_methods adam_methods = {
    .build = adam_build, .update = adam_update, .trace = adam_trace, .rows = adam_rows
};

TW_CLASS(
    optimizers_adam,
    "keras.optimizers.Adam(learning_rate: number = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-07, "
    "amsgrad: bool = False, weight_decay: float = None, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, "
    "use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = Adam) "
    "-> optimizer",
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
    "keras.optimizers.AdamW(learning_rate: number = 0.001, weight_decay: float? = 0.004, beta_1: float = 0.9, beta_2: float = 0.999, "
    "epsilon: float = 1e-07, amsgrad: bool = False, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, "
    "use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = AdamW) "
    "-> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(adam), .settle = adamw_settle, .methods = &adam_methods,
    .doc = "Adam with decay of the weights.");
