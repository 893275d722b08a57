/* SGD, with momentum if asked: m = momentum·m - rate·g; w += m, or with Nesterov's form w += momentum·m - rate·g.
 *
 * As in Keras 2.15 the momentums are there and kept also when momentum is 0. */
#include "op/calls.h"
#include "keras/optimizers/optimizers.h"

enum { RATE, MOMENTUM, SCALARS };

static const tw__slot_kind kinds[] = { { "momentums", "m", 0 } };

static tw_status sgd_settle(void *self, const void *given)
{
    (void)self;
    const tw_optimizers_sgd_args *args = given;
    if (args->momentum < 0 || args->momentum > 1)
        return tw__fail(TW_VALUE_ERROR, "`momentum` must be between [0, 1].");
    return TW_OK;
}

static tw_status sgd_build(tw_optimizer *self)
{
    return tw__optimizer_add_slots(self, 0, 1, kinds);
}

static tw_status sgd_update(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const tw_optimizers_sgd_args *self = tw_object_config(optimizer);
    bool fresh;
    tw__scalars *set = tw__optimizer_scalars(optimizer, gradient->dtype, SCALARS, &fresh);
    if (!set)
        return tw__error_status();
    if (fresh) {
        tw__scalar_set(set->values[RATE], tw__optimizer_rate(optimizer));
        tw__scalar_set(set->values[MOMENTUM], self->momentum);
    }
    tw_tensor *inputs[] = { variable->handle, optimizer->slots[0][index]->handle, set->values[RATE], gradient,
                            set->values[MOMENTUM] };
    tw_attr nesterov = TW_A_BOOL("use_nesterov", self->nesterov);
    int outputs = 0;
    return tw__apply(&tw__op_ResourceApplyKerasMomentum, inputs, 5, &nesterov, 1, NULL, &outputs);
}

static tw_status sgd_trace(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const tw_optimizers_sgd_args *self = tw_object_config(optimizer);
    tw_tensor *rate = tw__traced_rate(optimizer, gradient->dtype);
    tw_auto tw_tensor *momentum = tw__float_scalar(gradient->dtype, self->momentum);
    if (!rate || !momentum)
        return tw__error_status();
    tw_attr nesterov = TW_A_BOOL("use_nesterov", self->nesterov);
    int outputs = 0;
    return tw__apply(&tw__op_ResourceApplyKerasMomentum,
                     TW_IN(variable->handle, optimizer->slots[0][index]->handle, rate, gradient, momentum), 5, &nesterov, 1, NULL,
                     &outputs);
}

static tw_status sgd_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices, tw_tensor *values)
{
    const tw_optimizers_sgd_args *self = tw_object_config(optimizer);
    return tw__sgd_rows(optimizer, &optimizer->slots[0][index], variable, indices, values, self->momentum, self->nesterov);
}

static const tw__optimizer_methods sgd_methods = {
    .build = sgd_build, .update = sgd_update, .trace = sgd_trace, .rows = sgd_rows
};

TW_CLASS(optimizers_sgd,
         "keras.optimizers.SGD|keras.optimizers.experimental.SGD(learning_rate: number = 0.01, momentum: float = 0.0, "
         "nesterov: bool = False, " TW_OPTIMIZER_ARGUMENTS ", name: str = SGD) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .settle = sgd_settle, .methods = &sgd_methods,
         .doc = "Steps along the gradient, with momentum if asked.\n"
                "example: v = tf.Variable(1.0)\n"
                "example: _ = tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), v)])\n"
                "example: v.numpy()  # 0.5");
