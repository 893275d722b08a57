/* The steps of keras.optimizers.legacy by gradients of which only some rows are there. Rows that come twice were summed. */
#include "keras/optimizers/legacy.h"

static tw_status scatter(const tw_op *op, tw_variable *variable, tw_tensor *indices, tw_tensor *rows)
{
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    return tw__legacy_apply(op, TW_IN(variable->handle, indices, rows), 3, &dtype);
}

static tw_tensor *rows_of(tw__temps *t, tw_variable *variable, tw_tensor *indices)
{
    return TW_TEMP(GatherV2, V(variable), indices, 0);
}

/* slot = slot·keep everywhere, and the rows + part */
static tw_status fade(tw__temps *t, tw_variable *slot, tw_tensor *keep, tw_tensor *indices, tw_tensor *part)
{
    TW_NEED(part);
    ASSIGN(slot, Mul, V(slot), keep);
    return scatter(&tw__op_ResourceScatterAdd, slot, indices, part);
}

static tw_status fail(const tw_optimizer *optimizer, const char *what)
{
    return tw__fail(TW_UNIMPLEMENTED, "%s: gradients of some rows (tf.IndexedSlices) with %s are not supported",
                    tw_class_name(optimizer), what);
}

tw_status tw__legacy_sgd_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                              tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_sgd_args *self = tw_object_config(optimizer);
    if (!(self->momentum > 0))
        return scatter(&tw__op_ResourceScatterAdd, variable, indices, TW_TEMP(Mul, TW_TEMP(Neg, gradient), LR));
    tw_attr nesterov = TW_A_BOOL("use_nesterov", self->nesterov);
    return LEGACY_APPLY(ResourceSparseApplyKerasMomentum, &nesterov, variable->handle, SLOT(0)->handle, LR, gradient, indices,
                        H(momentum));
}

tw_status tw__legacy_adam_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                               tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_adam_args *self = tw_object_config(optimizer);
    tw_variable *m = SLOT(0), *v = SLOT(1);
    tw_tensor *beta_1 = H(beta_1), *beta_2 = H(beta_2);
    tw_tensor *root = TW_TEMP(Sqrt, TW_TEMP(Sub, 1.0, tw__legacy_power(t, optimizer, "beta_2", gradient->dtype)));
    tw_tensor *rest = TW_TEMP(Sub, 1.0, tw__legacy_power(t, optimizer, "beta_1", gradient->dtype));
    tw_tensor *rate = TW_TEMP(Mul, LR, TW_TEMP(RealDiv, root, rest));
    TW_NEED(rate);
    TW_TRY(fade(t, m, beta_1, indices, TW_TEMP(Mul, gradient, TW_TEMP(Sub, 1.0, beta_1))));
    TW_TRY(fade(t, v, beta_2, indices, TW_TEMP(Mul, TW_TEMP(Mul, gradient, gradient), TW_TEMP(Sub, 1.0, beta_2))));
    if (self->amsgrad) {
        ASSIGN(SLOT(2), Maximum, V(SLOT(2)), V(v));
        v = SLOT(2);
    }
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, rate, V(m)), TW_TEMP(AddV2, TW_TEMP(Sqrt, V(v)), self->epsilon));
    return TW_OK;
}

tw_status tw__legacy_adagrad_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                                  tw_tensor *gradient)
{
    TW_TEMPS(t);
    double epsilon = ((const tw_optimizers_legacy_adagrad_args *)tw_object_config(optimizer))->epsilon;
    return LEGACY_APPLY(ResourceSparseApplyAdagradV2, NULL, variable->handle, SLOT(0)->handle, LR, N(epsilon), gradient, indices);
}

tw_status tw__legacy_rmsprop_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                                  tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_rmsprop_args *self = tw_object_config(optimizer);
    tw_tensor *rho = H(rho), *rest = TW_TEMP(Sub, 1.0, rho);
    if (self->momentum > 0 && self->centered)
        return fail(optimizer, "centered=True and momentum");
    if (self->momentum > 0)
        return LEGACY_APPLY(ResourceSparseApplyRMSProp, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle, LR, rho,
                            H(momentum), N(self->epsilon), gradient, indices);
    TW_TRY(fade(t, SLOT(0), rho, indices, TW_TEMP(Mul, TW_TEMP(Mul, gradient, gradient), rest)));
    tw_tensor *under = rows_of(t, SLOT(0), indices);
    if (self->centered) {
        TW_TRY(fade(t, SLOT(2), rho, indices, TW_TEMP(Mul, gradient, rest)));
        under = TW_TEMP(Sub, under, TW_TEMP(Square, rows_of(t, SLOT(2), indices)));
    }
    tw_tensor *size = TW_TEMP(AddV2, TW_TEMP(Sqrt, under), self->epsilon);
    return scatter(&tw__op_ResourceScatterAdd, variable, indices,
                   TW_TEMP(RealDiv, TW_TEMP(Mul, TW_TEMP(Neg, LR), gradient), size));
}

tw_status tw__legacy_adadelta_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                                   tw_tensor *gradient)
{
    TW_TEMPS(t);
    double epsilon = ((const tw_optimizers_legacy_adadelta_args *)tw_object_config(optimizer))->epsilon;
    return LEGACY_APPLY(ResourceSparseApplyAdadelta, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle, LR, H(rho),
                        N(epsilon), gradient, indices);
}

tw_status tw__legacy_adamax_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                                 tw_tensor *gradient)
{
    TW_TEMPS(t);
    double epsilon = ((const tw_optimizers_legacy_adamax_args *)tw_object_config(optimizer))->epsilon;
    tw_tensor *beta_1 = H(beta_1);
    tw_tensor *rest = TW_TEMP(Sub, 1.0, tw__legacy_power(t, optimizer, "beta_1", gradient->dtype));
    tw_tensor *rate = TW_TEMP(RealDiv, TW_TEMP(Neg, LR), rest);
    tw_tensor *m =
        TW_TEMP(AddV2, TW_TEMP(Mul, rows_of(t, SLOT(0), indices), beta_1), TW_TEMP(Mul, gradient, TW_TEMP(Sub, 1.0, beta_1)));
    tw_tensor *v = TW_TEMP(Maximum, TW_TEMP(Mul, rows_of(t, SLOT(1), indices), H(beta_2)), TW_TEMP(Abs, gradient));
    tw_tensor *change = TW_TEMP(Mul, rate, TW_TEMP(RealDiv, m, TW_TEMP(AddV2, v, epsilon)));
    TW_NEED(change);
    TW_TRY(scatter(&tw__op_ResourceScatterUpdate, SLOT(0), indices, m));
    TW_TRY(scatter(&tw__op_ResourceScatterUpdate, SLOT(1), indices, v));
    return scatter(&tw__op_ResourceScatterAdd, variable, indices, change);
}

tw_status tw__legacy_nadam_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                                tw_tensor *gradient)
{
    TW_TEMPS(t);
    tw__nadam_numbers n;
    TW_TRY(tw__legacy_nadam(t, optimizer, gradient->dtype, &n));
    double epsilon = ((const tw_optimizers_legacy_nadam_args *)tw_object_config(optimizer))->epsilon;
    tw_tensor *beta_1 = H(beta_1), *beta_2 = H(beta_2), *rate = tw__temp(t, tw__variable_read(optimizer->rate));
    TW_TRY(fade(t, SLOT(0), beta_1, indices, TW_TEMP(Mul, gradient, TW_TEMP(Sub, 1.0, beta_1))));
    TW_TRY(fade(t, SLOT(1), beta_2, indices, TW_TEMP(Mul, TW_TEMP(Square, gradient), TW_TEMP(Sub, 1.0, beta_2))));
    tw_tensor *fresh = TW_TEMP(RealDiv, gradient, TW_TEMP(Sub, 1.0, n.product));
    tw_tensor *old = TW_TEMP(RealDiv, rows_of(t, SLOT(0), indices), TW_TEMP(Sub, 1.0, n.product_next));
    tw_tensor *mean = TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(Sub, 1.0, n.now), fresh), TW_TEMP(Mul, n.next, old));
    tw_tensor *root = TW_TEMP(Sqrt, TW_TEMP(RealDiv, rows_of(t, SLOT(1), indices), n.power));
    tw_tensor *change = TW_TEMP(RealDiv, TW_TEMP(Mul, TW_TEMP(Neg, rate), mean), TW_TEMP(AddV2, root, epsilon));
    return scatter(&tw__op_ResourceScatterAdd, variable, indices, change);
}

tw_status tw__legacy_ftrl_rows(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                               tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_legacy_ftrl_args *self = tw_object_config(optimizer);
    if (self->l2_shrinkage_regularization_strength > 0)
        return fail(optimizer, "l2_shrinkage_regularization_strength");
    tw_tensor *rate = LR;
    tw_tensor *l2 = TW_TEMP(AddV2, H(l2_regularization_strength), TW_TEMP(RealDiv, H(beta), TW_TEMP(Mul, 2.0, rate)));
    return LEGACY_APPLY(ResourceSparseApplyFtrl, NULL, variable->handle, SLOT(0)->handle, SLOT(1)->handle, gradient, indices,
                        rate, H(l1_regularization_strength), l2, H(learning_rate_power));
}
