/* Adam: moments of the gradient and of its square, both corrected for their start at zero.
 *
 *     m += (g - m)(1 - beta_1)    v += (g² - v)(1 - beta_2)    w -= m · rate · sqrt(1 - beta_2^t) / (1 - beta_1^t) / (sqrt(v) + epsilon)
 *
 * The op ResourceApplyAdam does that in one pass over memory. With amsgrad the largest v so far stands in the place of v. */
#include <math.h>

#include "keras/optimizers/optimizers.h"

enum { MOMENTUM, VELOCITY, LARGEST };
enum { BETA_1_POWER, BETA_2_POWER, RATE, BETA_1, BETA_2, EPSILON, SCALARS };

static const tw__slot_kind kinds[] = { { "_momentums", "m" }, { "_velocities", "v" }, { "_velocity_hats", "vhat" } };

typedef struct adam {
    tw_optimizer optimizer;
    double beta_1, beta_2, epsilon;
    bool amsgrad;
} adam;

static tw_status adam_init(void *self, const void *given)
{
    adam *optimizer = self;
    const tw_optimizers_adam_args *args = given;
    optimizer->beta_1 = args->beta_1;
    optimizer->beta_2 = args->beta_2;
    optimizer->epsilon = args->epsilon;
    optimizer->amsgrad = args->amsgrad;
    return tw__optimizer_set_rate(&optimizer->optimizer, args->learning_rate, args->learning_rate_object);
}

static tw_status adam_build(tw_optimizer *self)
{
    TW_TRY(tw__optimizer_add_slots(self, MOMENTUM, 2, kinds));
    return ((adam *)self)->amsgrad ? tw__optimizer_add_slots(self, LARGEST, 1, &kinds[LARGEST]) : TW_OK;
}

static double power(double base, double exponent, tw_dtype dtype)
{
    return dtype == TW_FLOAT64 ? pow(base, exponent) : (double)powf((float)base, (float)exponent);
}

static tw_status fill(adam *self, tw__scalars *set)
{
    double step = (double)(tw__optimizer_step(&self->optimizer) + 1);
    tw__scalar_set(set->values[BETA_1_POWER], power(self->beta_1, step, set->dtype));
    tw__scalar_set(set->values[BETA_2_POWER], power(self->beta_2, step, set->dtype));
    tw__scalar_set(set->values[RATE], tw__optimizer_rate(&self->optimizer));
    tw__scalar_set(set->values[BETA_1], self->beta_1);
    tw__scalar_set(set->values[BETA_2], self->beta_2);
    tw__scalar_set(set->values[EPSILON], self->epsilon);
    return TW_OK;
}

/* With amsgrad: the moments by ResourceApplyAdam's own formula but with a rate of zero, then the step by the largest v. */
static tw_status update_largest(adam *self, int64_t index, tw_variable *variable, tw__scalars *set)
{
    tw_optimizer *optimizer = &self->optimizer;
    double beta_1_power = tw_tensor_double_at(set->values[BETA_1_POWER], 0), beta_2_power = tw_tensor_double_at(set->values[BETA_2_POWER], 0);
    tw_tensor *rate = tw_tensor_new(set->dtype, TW_SCALAR, NULL);
    tw_tensor *m = tw__resource_read(optimizer->slots[MOMENTUM][index]->resource);
    tw_tensor *v = tw__resource_read(optimizer->slots[VELOCITY][index]->resource);
    tw_tensor *hat = tw__resource_read(optimizer->slots[LARGEST][index]->resource);
    tw_tensor *largest = v && hat ? TW_BINARY(Maximum, hat, v) : NULL;
    tw_tensor *root = largest ? TW_UNARY(Sqrt, largest) : NULL;
    tw_tensor *below = root ? TW_BINARY(AddV2, root, set->values[EPSILON]) : NULL;
    if (rate)
        tw__scalar_set(rate, tw__optimizer_rate(optimizer) * sqrt(1 - beta_2_power) / (1 - beta_1_power));
    tw_tensor *above = rate && m && below ? TW_BINARY(Mul, m, rate) : NULL;
    tw_tensor *change = above ? TW_BINARY(RealDiv, above, below) : NULL;
    tw_status status = change ? tw__resource_assign(optimizer->slots[LARGEST][index]->resource, largest) : tw__error_status();
    tw_attr dtype = TW_A_TYPE("dtype", set->dtype);
    int outputs = 0;
    if (status == TW_OK)
        status = tw__apply(&tw__op_AssignSubVariableOp, TW_IN(variable->handle, change), 2, &dtype, 1, NULL, &outputs);
    void *made[] = { rate, m, v, hat, largest, root, below, above, change };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        tw_release(made[i]);
    return status;
}

static tw_status adam_update(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    adam *self = (adam *)optimizer;
    bool fresh;
    tw__scalars *set = tw__optimizer_scalars(optimizer, gradient->dtype, SCALARS + 1, &fresh);
    if (!set)
        return tw__error_status();
    if (fresh)
        fill(self, set);
    tw_tensor *zero = set->values[SCALARS]; /* never set */
    tw_tensor *inputs[] = { variable->handle, optimizer->slots[MOMENTUM][index]->handle, optimizer->slots[VELOCITY][index]->handle,
                            set->values[BETA_1_POWER], set->values[BETA_2_POWER], self->amsgrad ? zero : set->values[RATE],
                            set->values[BETA_1], set->values[BETA_2], set->values[EPSILON], gradient };
    int outputs = 0;
    TW_TRY(tw__apply(&tw__op_ResourceApplyAdam, inputs, 10, NULL, 0, NULL, &outputs));
    return self->amsgrad ? update_largest(self, index, variable, set) : TW_OK;
}

static const tw__optimizer_methods adam_methods = { .build = adam_build, .update = adam_update };

TW_CLASS(optimizers_adam,
    "keras.optimizers.Adam(learning_rate: number = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-07, "
    "amsgrad: bool = False, weight_decay: float = None, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, "
    "use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = Adam) "
    "-> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(adam), .init = adam_init, .methods = &adam_methods,
    .doc = "Steps scaled by moments of the gradient and of its square.");
