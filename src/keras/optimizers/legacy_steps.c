/* The steps of keras.optimizers.legacy, dense: TensorFlow's ops where it has one, else Keras's expressions in its order, so that
 * the bits are its own; eagerly and traced alike. */
#include "keras/optimizers/legacy.h"

/* ---- numbers ---- */

tw_tensor *tw__legacy_number(tw__temps *t, const tw_optimizer *optimizer, const char *name, tw_dtype dtype)
{
    tw_variable *hyper = tw__legacy_hyper(optimizer, name);
    return hyper ? tw__temp_cast(t, tw__temp(t, tw__variable_read(hyper)), dtype) : NULL;
}

tw_tensor *tw__legacy_rate(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype)
{
    double decay = tw__legacy_settings(optimizer).decay;
    tw_tensor *rate = tw__temp_cast(t, tw__temp(t, tw__variable_read(optimizer->rate)), dtype);
    if (!(decay > 0))
        return rate;
    tw_tensor *step = tw__step_time(t, optimizer, dtype, 0);
    return TW_TEMP(RealDiv, rate, TW_TEMP(AddV2, 1.0, TW_TEMP(Mul, decay, step)));
}

tw_tensor *tw__legacy_power(tw__temps *t, tw_optimizer *optimizer, const char *name, tw_dtype dtype)
{
    return TW_TEMP(Pow, tw__legacy_number(t, optimizer, name, dtype), tw__step_time(t, optimizer, dtype, 1));
}

tw_status tw__legacy_apply(const tw_op *op, tw_tensor *const *inputs, int count, const tw_attr *attr)
{
    int outputs = 0;
    for (int i = 0; i < count; i++)
        TW_NEED(inputs[i]);
    return tw__apply(op, (tw_tensor **)inputs, count, attr, attr ? 1 : 0, NULL, &outputs);
}

/* ---- SGD ---- */

static void sgd_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    if (((const tw_optimizers_legacy_sgd_args *)tw_object_config(self))->momentum > 0)
        kinds[0].list = "momentum";
}

static tw_status check_momentum(double momentum)
{
    return momentum < 0 || momentum > 1 ? tw__fail(TW_VALUE_ERROR, "`momentum` must be between [0, 1].") : TW_OK;
}

static tw_status sgd_settle(void *self, const void *given)
{
    (void)self;
    double momentum = ((const tw_optimizers_legacy_sgd_args *)given)->momentum;
    return momentum < 0 || momentum > 1
               ? tw__fail(TW_VALUE_ERROR, "`momentum` must be between [0, 1]. Received: momentum=%g (of type <class 'float'>).",
                          momentum)
               : TW_OK;
}

static tw_status sgd_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_sgd_args *self = tw_object_config(optimizer);
    if (!(self->momentum > 0))
        return LEGACY_APPLY(ResourceApplyGradientDescent, NULL, variable->handle, LR, gradient);
    tw_attr nesterov = TW_A_BOOL("use_nesterov", self->nesterov);
    return LEGACY_APPLY(ResourceApplyKerasMomentum, &nesterov, variable->handle, SLOT(0)->handle, LR, gradient, H(momentum));
}

#define METHODS(name_, hypers_, ...)                                                          \
    static const tw__optimizer_methods name_##_methods = { .update = name_##_step,            \
                                                           .trace = name_##_step,             \
                                                           .rows = tw__legacy_##name_##_rows, \
                                                           .legacy = name_##_slots,           \
                                                           .hypers = hypers_,                 \
                                                           __VA_ARGS__ }
METHODS(sgd, " decay momentum ", .build = NULL);

/* Arguments that all of them have. */
#define LEGACY_ARGUMENTS "*, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, decay: float = 0.0"

TW_CLASS(optimizers_legacy_sgd,
         "keras.optimizers.legacy.SGD(learning_rate: number = 0.01, momentum: float = 0.0, nesterov: bool = False, "
         "name: str = SGD, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .settle = sgd_settle,
         .methods = &sgd_methods, .doc = "Steps along the gradient, with momentum if asked, as Keras took them up to 2.10.");

/* ---- Adam ---- */

static void adam_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    kinds[0].list = "m";
    kinds[1].list = "v";
    if (((const tw_optimizers_legacy_adam_args *)tw_object_config(self))->amsgrad)
        kinds[2].list = "vhat";
}

static tw_status adam_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_adam_args *self = tw_object_config(optimizer);
    tw_variable *m = SLOT(0), *v = SLOT(1);
    tw_tensor *beta_1 = H(beta_1), *beta_2 = H(beta_2), *epsilon = N(self->epsilon);
    tw_tensor *power_1 = tw__legacy_power(t, optimizer, "beta_1", gradient->dtype),
              *power_2 = tw__legacy_power(t, optimizer, "beta_2", gradient->dtype);
    if (!self->amsgrad)
        return LEGACY_APPLY(ResourceApplyAdam, NULL, variable->handle, m->handle, v->handle, power_1, power_2, LR, beta_1, beta_2,
                            epsilon, gradient);
    tw_tensor *alpha = TW_TEMP(RealDiv, TW_TEMP(Mul, LR, TW_TEMP(Sqrt, TW_TEMP(Sub, 1.0, power_2))), TW_TEMP(Sub, 1.0, power_1));
    TW_NEED(alpha);
    ADD(m, Mul, TW_TEMP(Sub, gradient, V(m)), TW_TEMP(Sub, 1.0, beta_1));
    ADD(v, Mul, TW_TEMP(Sub, TW_TEMP(Square, gradient), V(v)), TW_TEMP(Sub, 1.0, beta_2));
    ASSIGN(SLOT(2), Maximum, V(SLOT(2)), V(v));
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, V(m), alpha), TW_TEMP(AddV2, TW_TEMP(Sqrt, V(SLOT(2))), epsilon));
    return TW_OK;
}
METHODS(adam, " beta_1 beta_2 decay ", .build = NULL);

TW_CLASS(optimizers_legacy_adam,
         "keras.optimizers.legacy.Adam(learning_rate: number = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, "
         "epsilon: float = 1e-07, amsgrad: bool = False, name: str = Adam, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .methods = &adam_methods,
         .doc = "Adam as Keras had it up to 2.10.");

/* ---- Adagrad ---- */

static void adagrad_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    kinds[0] = (tw__slot_kind){ "accumulator", NULL,
                                ((const tw_optimizers_legacy_adagrad_args *)tw_object_config(self))->initial_accumulator_value };
}

static tw_status adagrad_settle(void *self, const void *given)
{
    (void)self;
    double initial = ((const tw_optimizers_legacy_adagrad_args *)given)->initial_accumulator_value;
    return initial < 0 ? tw__fail(TW_VALUE_ERROR, "initial_accumulator_value must be non-negative: %g", initial) : TW_OK;
}

static tw_status adagrad_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    double epsilon = ((const tw_optimizers_legacy_adagrad_args *)tw_object_config(optimizer))->epsilon;
    return LEGACY_APPLY(ResourceApplyAdagradV2, NULL, variable->handle, SLOT(0)->handle, LR, N(epsilon), gradient);
}
METHODS(adagrad, " decay ", .build = NULL);

TW_CLASS(optimizers_legacy_adagrad,
         "keras.optimizers.legacy.Adagrad(learning_rate: number = 0.001, initial_accumulator_value: float = 0.1, "
         "epsilon: float = 1e-07, name: str = Adagrad, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .settle = adagrad_settle,
         .methods = &adagrad_methods, .doc = "Adagrad as Keras had it up to 2.10.");

/* ---- RMSprop ---- */

static void rmsprop_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    const tw_optimizers_legacy_rmsprop_args *own = tw_object_config(self);
    kinds[0].list = "rms";
    if (own->momentum > 0)
        kinds[1].list = "momentum";
    if (own->centered)
        kinds[2].list = "mg";
}

static tw_status rmsprop_settle(void *self, const void *given)
{
    (void)self;
    return check_momentum(((const tw_optimizers_legacy_rmsprop_args *)given)->momentum);
}

static tw_status rmsprop_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_rmsprop_args *self = tw_object_config(optimizer);
    tw_tensor *rho = H(rho), *epsilon = N(self->epsilon);
    tw_variable *rms = SLOT(0);
    if (self->momentum > 0 && self->centered)
        return LEGACY_APPLY(ResourceApplyCenteredRMSProp, NULL, variable->handle, SLOT(2)->handle, rms->handle, SLOT(1)->handle,
                            LR, rho, H(momentum), epsilon, gradient);
    if (self->momentum > 0)
        return LEGACY_APPLY(ResourceApplyRMSProp, NULL, variable->handle, rms->handle, SLOT(1)->handle, LR, rho, H(momentum),
                            epsilon, gradient);
    tw_tensor *rest = TW_TEMP(Sub, 1.0, rho), *rate = LR;
    TW_NEED(rest);
    ASSIGN(rms, AddV2, TW_TEMP(Mul, rho, V(rms)), TW_TEMP(Mul, rest, TW_TEMP(Square, gradient)));
    tw_tensor *under = V(rms);
    if (self->centered) {
        tw_variable *mean = SLOT(2);
        ASSIGN(mean, AddV2, TW_TEMP(Mul, rho, V(mean)), TW_TEMP(Mul, rest, gradient));
        under = TW_TEMP(Sub, under, TW_TEMP(Square, V(mean)));
    }
    tw_tensor *change = TW_TEMP(RealDiv, TW_TEMP(Mul, rate, gradient), TW_TEMP(AddV2, TW_TEMP(Sqrt, under), epsilon));
    ASSIGN(variable, Sub, V(variable), change);
    return TW_OK;
}
METHODS(rmsprop, " decay momentum rho ", .build = NULL);

TW_CLASS(optimizers_legacy_rmsprop,
         "keras.optimizers.legacy.RMSprop(learning_rate: number = 0.001, rho: float = 0.9, momentum: float = 0.0, "
         "epsilon: float = 1e-07, centered: bool = False, name: str = RMSprop, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .settle = rmsprop_settle,
         .methods = &rmsprop_methods, .doc = "RMSprop as Keras had it up to 2.10.");

/* ---- Adadelta ---- */

static void adadelta_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    (void)self;
    kinds[0].list = "accum_grad";
    kinds[1].list = "accum_var";
}

static tw_status adadelta_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    double epsilon = ((const tw_optimizers_legacy_adadelta_args *)tw_object_config(optimizer))->epsilon;
    return LEGACY_APPLY(ResourceApplyAdadelta, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle, LR, H(rho), N(epsilon),
                        gradient);
}
METHODS(adadelta, " decay rho ", .build = NULL);

TW_CLASS(optimizers_legacy_adadelta,
         "keras.optimizers.legacy.Adadelta(learning_rate: number = 0.001, rho: float = 0.95, epsilon: float = 1e-07, "
         "name: str = Adadelta, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .methods = &adadelta_methods,
         .doc = "Adadelta as Keras had it up to 2.10.");

/* ---- Adamax ---- */

static void adamax_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    (void)self;
    kinds[0].list = "m";
    kinds[1].list = "v";
}

static tw_status adamax_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    double epsilon = ((const tw_optimizers_legacy_adamax_args *)tw_object_config(optimizer))->epsilon;
    return LEGACY_APPLY(ResourceApplyAdaMax, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle,
                        tw__legacy_power(t, optimizer, "beta_1", gradient->dtype), LR, H(beta_1), H(beta_2), N(epsilon),
                        gradient);
}
METHODS(adamax, " beta_1 beta_2 decay ", .build = NULL);

TW_CLASS(optimizers_legacy_adamax,
         "keras.optimizers.legacy.Adamax(learning_rate: number = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, "
         "epsilon: float = 1e-07, name: str = Adamax, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .methods = &adamax_methods,
         .doc = "Adamax as Keras had it up to 2.10.");

/* ---- Nadam ---- */

static tw_tensor *factor(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype, int ahead)
{
    double pace = tw__legacy_settings(optimizer).decay;
    tw_tensor *power = TW_TEMP(Pow, 0.96, TW_TEMP(Mul, pace, tw__step_time(t, optimizer, dtype, ahead)));
    return TW_TEMP(Mul, tw__legacy_number(t, optimizer, "beta_1", dtype), TW_TEMP(Sub, 1.0, TW_TEMP(Mul, 0.5, power)));
}

typedef struct nadam {
    tw_optimizer optimizer;
    uint64_t round; /* the step that the product was brought forward for */
} nadam;

tw_status tw__legacy_nadam(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype, tw__nadam_numbers *n)
{
    nadam *self = (nadam *)optimizer;
    n->now = factor(t, optimizer, dtype, 1);
    n->next = factor(t, optimizer, dtype, 2);
    if (dtype != TW_FLOAT32)
        return tw__fail(TW_UNIMPLEMENTED, "%s: variables of dtype %s are not supported, expected float32", optimizer->name,
                        tw_dtype_name(dtype));
    if (self->round != optimizer->round) {
        self->round = optimizer->round;
        ASSIGN(optimizer->cache, Mul, V(optimizer->cache), n->now);
    }
    n->product = V(optimizer->cache);
    n->product_next = TW_TEMP(Mul, n->product, n->next);
    n->power = TW_TEMP(Sub, 1.0, tw__legacy_power(t, optimizer, "beta_2", dtype));
    return n->power && n->product_next ? TW_OK : tw__error_status();
}

static tw_status nadam_settle(void *self, const void *given)
{
    (void)self;
    return ((const tw_optimizers_legacy_nadam_args *)given)->learning_rate_object
               ? tw__fail(TW_VALUE_ERROR,
                          "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate.")
               : TW_OK;
}

static tw_status nadam_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    tw__nadam_numbers n;
    tw_variable *m = SLOT(0), *v = SLOT(1);
    TW_TRY(tw__legacy_nadam(t, optimizer, gradient->dtype, &n));
    tw_tensor *beta_1 = H(beta_1), *beta_2 = H(beta_2);
    tw_tensor *rate = tw__temp(t, tw__variable_read(optimizer->rate)); /* `decay` is the momentum's */
    tw_tensor *fresh = TW_TEMP(RealDiv, gradient, TW_TEMP(Sub, 1.0, n.product));
    TW_NEED(fresh);
    ASSIGN(m, AddV2, TW_TEMP(Mul, beta_1, V(m)), TW_TEMP(Mul, TW_TEMP(Sub, 1.0, beta_1), gradient));
    ASSIGN(v, AddV2, TW_TEMP(Mul, beta_2, V(v)), TW_TEMP(Mul, TW_TEMP(Sub, 1.0, beta_2), TW_TEMP(Square, gradient)));
    tw_tensor *old = TW_TEMP(RealDiv, V(m), TW_TEMP(Sub, 1.0, n.product_next));
    tw_tensor *mean = TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(Sub, 1.0, n.now), fresh), TW_TEMP(Mul, n.next, old));
    tw_tensor *size = TW_TEMP(AddV2, TW_TEMP(Sqrt, TW_TEMP(RealDiv, V(v), n.power)),
                              ((const tw_optimizers_legacy_nadam_args *)tw_object_config(optimizer))->epsilon);
    ASSIGN(variable, Sub, V(variable), TW_TEMP(RealDiv, TW_TEMP(Mul, rate, mean), size));
    return TW_OK;
}
#define nadam_slots adamax_slots
METHODS(nadam, " beta_1 beta_2 decay ", .cache = "momentum_cache");

TW_CLASS(optimizers_legacy_nadam,
         "keras.optimizers.legacy.Nadam(learning_rate: number = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, "
         "epsilon: float = 1e-07, name: str = Nadam, " LEGACY_ARGUMENTS "04) -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(nadam), .settle = nadam_settle,
         .methods = &nadam_methods, .doc = "Nadam as Keras had it up to 2.10; `decay` is how fast its momentum grows.");

/* ---- Ftrl ---- */

static void ftrl_slots(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS])
{
    kinds[0] = (tw__slot_kind){ "accumulator", NULL,
                                ((const tw_optimizers_legacy_ftrl_args *)tw_object_config(self))->initial_accumulator_value };
    kinds[1].list = "linear";
}

static tw_status ftrl_settle(void *self, const void *given)
{
    (void)self;
    const tw_optimizers_legacy_ftrl_args *args = given;
    const struct {
        const char *format;
        bool wrong;
        double value;
    } checks[] = {
        { "`initial_accumulator_value` needs to be positive or zero. Received: initial_accumulator_value=%g.",
          args->initial_accumulator_value < 0, args->initial_accumulator_value },
        { "`learning_rate_power` needs to be negative or zero. Received: learning_rate_power=%g.", args->learning_rate_power > 0,
          args->learning_rate_power },
        { "`l1_regularization_strength` needs to be positive or zero. Received: l1_regularization_strength=%g.",
          args->l1_regularization_strength < 0, args->l1_regularization_strength },
        { "`l2_regularization_strength` needs to be positive or zero. Received: l2_regularization_strength=%g.",
          args->l2_regularization_strength < 0, args->l2_regularization_strength },
        { "`l2_shrinkage_regularization_strength` needs to be positive or zero. Received: l2_shrinkage_regularization_strength"
          "=%g.",
          args->l2_shrinkage_regularization_strength < 0, args->l2_shrinkage_regularization_strength },
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].wrong)
            return tw__fail(TW_VALUE_ERROR, checks[i].format, checks[i].value);
    }
    return TW_OK;
}

static tw_status ftrl_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    double shrinkage =
        ((const tw_optimizers_legacy_ftrl_args *)tw_object_config(optimizer))->l2_shrinkage_regularization_strength;
    tw_tensor *rate = LR, *l1 = H(l1_regularization_strength), *power = H(learning_rate_power);
    tw_tensor *l2 = TW_TEMP(AddV2, H(l2_regularization_strength), TW_TEMP(RealDiv, H(beta), TW_TEMP(Mul, 2.0, rate)));
    if (shrinkage > 0)
        return LEGACY_APPLY(ResourceApplyFtrlV2, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle, gradient, rate, l1, l2,
                            N(shrinkage), power);
    return LEGACY_APPLY(ResourceApplyFtrl, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle, gradient, rate, l1, l2,
                        power);
}
METHODS(ftrl, " beta decay l1_regularization_strength l2_regularization_strength learning_rate_power ", .side_by_side = true);

TW_CLASS(optimizers_legacy_ftrl,
         "keras.optimizers.legacy.Ftrl(learning_rate: number = 0.001, learning_rate_power: float = -0.5, "
         "initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0, "
         "l2_regularization_strength: float = 0.0, name: str = Ftrl, l2_shrinkage_regularization_strength: float = 0.0, "
         "beta: float = 0.0, " LEGACY_ARGUMENTS ") -> optimizer",
         .parent = &tw__class_optimizers_legacy_optimizer, .size = sizeof(tw_optimizer), .settle = ftrl_settle,
         .methods = &ftrl_methods, .doc = "Ftrl as Keras had it up to 2.10.");
