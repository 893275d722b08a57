/* keras.optimizers.legacy from the inside: what the steps of its classes share. */
#ifndef TW_OPTIMIZER_LEGACY_H
#define TW_OPTIMIZER_LEGACY_H

#include "keras/optimizers/step.h"

typedef tw_optimizers_legacy_optimizer_args tw_legacy_settings; /* what all of them have */
tw_legacy_settings tw__legacy_settings(const tw_optimizer *optimizer);
tw_variable *tw__legacy_hyper(const tw_optimizer *optimizer, const char *name); /* borrowed; NULL: no such */
/* Left to t: a setting, the decayed learning rate, and beta^(step + 1). */
tw_tensor *tw__legacy_number(tw__temps *t, const tw_optimizer *optimizer, const char *name, tw_dtype dtype);
tw_tensor *tw__legacy_rate(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype);
tw_tensor *tw__legacy_power(tw__temps *t, tw_optimizer *optimizer, const char *name, tw_dtype dtype);
/* An op that changes a variable and its slots; an input that is NULL, after a failure, is the failure. */
tw_status tw__legacy_apply(const tw_op *op, tw_tensor *const *inputs, int count, const tw_attr *attr);
#define LEGACY_APPLY(op_, attr_, ...)                               \
    tw__legacy_apply(&tw__op_##op_, (tw_tensor *[]){ __VA_ARGS__ }, \
                     (int)(sizeof((tw_tensor *[]){ __VA_ARGS__ }) / sizeof(tw_tensor *)), attr_)
/* In a step: a setting by its name, the learning rate, a slot and its handle. */
#define H(name_) tw__legacy_number(t, optimizer, #name_, gradient->dtype)
#define LR tw__legacy_rate(t, optimizer, gradient->dtype)
#define SLOT(k_) (optimizer->slots[k_][index])
/* Nadam's numbers of a step; they are left to t. */
typedef struct tw__nadam_numbers {
    tw_tensor *now, *next, *product, *product_next, *power; /* the momentum's factors, their products, 1 - beta_2^step */
} tw__nadam_numbers;
tw_status tw__legacy_nadam(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype, tw__nadam_numbers *n);

/* ---- by some rows of a gradient (legacy_rows.c) ---- */
typedef tw_status tw__rows_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *indices,
                                tw_tensor *gradient);
tw__rows_step tw__legacy_sgd_rows, tw__legacy_adam_rows, tw__legacy_adagrad_rows, tw__legacy_rmsprop_rows,
    tw__legacy_adadelta_rows, tw__legacy_adamax_rows, tw__legacy_nadam_rows, tw__legacy_ftrl_rows;

#endif
