/* Optimizers from the inside: the base with its variables, what a class gives, schedules of learning rates.
 *
 * Children, in TensorFlow 2.15's order: _variables (list), _iterations, _learning_rate or _current_learning_rate, and from
 * build() on _index_dict (no values) and a list per kind of slot. _variables holds the iterations and all slots; its order is
 * that of the calls of tw__optimizer_add_slots. */
#ifndef TW_OPTIMIZERS_H
#define TW_OPTIMIZERS_H

#include "base/temps.h"
#include "keras/keras.h"

enum {
    TW_MAX_SLOTS = 4,
    TW_AVERAGES = TW_MAX_SLOTS,
    TW_MAX_SCALARS = 8
}; /* TW_AVERAGES: the kind of use_ema, beside the others */

/* One kind of slot: a variable beside each variable that is trained. */
typedef struct tw__slot_kind {
    const char *list;   /* the child: "_momentums" */
    const char *prefix; /* of the variables' names: "m" */
    double initial;     /* what every element begins with; NaN: as the variable */
} tw__slot_kind;

typedef struct tw__optimizer_methods {
    tw_status (*build)(tw_optimizer *self); /* makes the slots */
    /* One fused update of variable `index` by its gradient. */
    tw_status (*update)(tw_optimizer *self, int64_t index, tw_variable *variable, tw_tensor *gradient);
    /* The same by ops, while a function is traced: nothing of the optimizer's state may be read now. */
    tw_status (*trace)(tw_optimizer *self, int64_t index, tw_variable *variable, tw_tensor *gradient);
    /* By some rows of a gradient, eagerly and traced; NULL: they are made dense. */
    tw_status (*rows)(tw_optimizer *self, int64_t index, tw_variable *variable, tw_tensor *indices, tw_tensor *values);
    /* What configs of former versions say and the constructor does not take; NULL: nothing. The second adds it to a config. */
    tw_status (*take_config)(tw_optimizer *self, const tw_value *config);
    void (*add_config)(const tw_optimizer *self, tw__dict *config);
    const char *former[2]; /* the names of such settings */
    /* Of a class that leaves its variables and its step to another optimizer: what it does in the place of the base. */
    tw_status (*build_other)(const tw_optimizer_build_args *args);
    tw_variable *(*apply_other)(const tw_optimizer_apply_gradients_args *args);
    tw_value (*config_other)(const tw_optimizer *self);
    /* Of keras.optimizers.legacy (legacy.c): the kinds of slots, in their order; `list` NULL: not with these settings. */
    void (*legacy)(const tw_optimizer *self, tw__slot_kind kinds[TW_MAX_SLOTS]);
    const char *hypers; /* the settings that are variables, sorted: " beta_1 beta_2 decay " */
    bool side_by_side;  /* slots of one variable come one after the other */
    const char *cache;  /* a number that it keeps besides, and begins with 1; NULL: none */
} tw__optimizer_methods;

/* Scalars as ops want them, of one dtype; filled anew at each step, in place. */
typedef struct tw__scalars {
    tw_dtype dtype;
    uint64_t round; /* the call of apply that they were filled for */
    tw_tensor *values[TW_MAX_SCALARS];
} tw__scalars;

struct tw_optimizer {
    tw_trackable trackable;
    char *name;
    tw_variable *iterations, *rate; /* references */
    tw_schedule *schedule;          /* or NULL: then `rate` is the current learning rate */
    tw_trackable *all;              /* the child _variables; a reference */
    bool built;
    tw_variable **trained; /* what build() was given; references */
    int64_t trained_count;
    tw__pointer_map places;               /* variable -> index */
    tw_variable **slots[TW_AVERAGES + 1]; /* [kind][index]; held by `all` */
    tw_optimizer_args settings;
    tw__scalars scalars[4];   /* one per float dtype in use */
    uint64_t round;           /* counts the calls of apply */
    tw_variable *cache;       /* legacy: a number besides the slots; held by `all` */
    bool own_step;            /* in apply: steps are the program's */
    tw_trackable *undecayed;  /* variables that weight_decay leaves alone, or NULL; a reference */
    tw_value undecayed_names; /* expressions for such names */
    tw_tensor *one;           /* int64 1 */
    tw_tensor *traced_rate;   /* while apply is traced: the learning rate, and */
    tw_tensor
        *traced_number; /* a number that the class computes once for all variables; both of the dtype of the last variable */
};

/* ---- while a function is traced (traced.c) ---- */
tw_tensor *tw__traced_rate(tw_optimizer *optimizer, tw_dtype dtype); /* borrowed */
/* One of the ops AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp. */
tw_status tw__traced_assign(const tw_op *op, tw_variable *variable, tw_tensor *value);
/* Puts another tensor, which it takes, in the place of a gradient; NULL, after a failure, gives the failure. */
tw_status tw__gradient_replace(tw_tensor **gradient, tw_tensor *value);
tw_status tw__traced_schedule(tw_optimizer *optimizer);
tw_status tw__traced_clip(const tw_optimizer *optimizer, tw_tensor **gradients, int64_t count);
tw_status tw__traced_decay(tw_optimizer *optimizer, tw_variable *variable);
void tw__traced_end(tw_optimizer *optimizer);

/* Slots that a setting asks for which was not so when the slots were made. */
tw_status tw__optimizer_need_slots(const tw_optimizer *optimizer, int kind, const char *list);
/* One slot, which the list and `all` hold. */
tw_status tw__optimizer_add_slot(tw_optimizer *optimizer, const tw__slot_kind *kind, int64_t index, tw_trackable *list,
                                 tw_variable **slot);
/* Makes slots of `count` kinds for every variable, kinds of one variable side by side. */
tw_status tw__optimizer_add_slots(tw_optimizer *optimizer, int first, int count, const tw__slot_kind *kinds);
/* The learning rate now. */
double tw__optimizer_rate(const tw_optimizer *optimizer);
int64_t tw__optimizer_step(const tw_optimizer *optimizer); /* iterations so far */
/* The scalars of a dtype; *fresh says that they are to be filled for this step. */
tw__scalars *tw__optimizer_scalars(tw_optimizer *optimizer, tw_dtype dtype, int count, bool *fresh);

/* The product of Nadam's factors so far; NULL: another class. Borrowed. */
tw_variable *tw__nadam_product(tw_optimizer *optimizer);
/* Whether it is one of TensorFlow's former classes (keras.optimizers.legacy), which files say. */
bool tw__optimizer_is_former(const tw_optimizer *optimizer);

/* A child that is an empty list: classes have one for each kind of slot that their arguments leave out. */
tw_status tw__optimizer_add_empty_list(tw_optimizer *optimizer, const char *name);

/* ---- limits and decay, eagerly (clip.c) ---- */
bool tw__optimizer_clips(const tw_optimizer *optimizer);
tw_status tw__optimizer_clip(const tw_optimizer *optimizer, tw_tensor **gradients, int64_t count); /* which may be replaced */
tw_status tw__optimizer_decay(const tw_optimizer *optimizer, tw_variable *variable);

/* ---- for classes whose step is ops, eagerly and traced alike; left to t (traced.c) ---- */
tw_tensor *tw__step_rate(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype);
tw_tensor *tw__step_time(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype, int ahead); /* iterations + ahead */

/* ---- gradients of which some rows are there (rows.c) ---- */
struct tw_indexed_slices;
/* The slices with other values, rows that come twice summed; a new reference. */
tw_tensor *tw__slices_summed(const struct tw_indexed_slices *slices, tw_tensor *values);
tw_status tw__sgd_rows(tw_optimizer *optimizer, tw_variable *const slots[1], tw_variable *variable, tw_tensor *indices,
                       tw_tensor *gradient, double momentum, bool nesterov);
/* rate · sqrt(1 - beta_2^time) / (1 - beta_1^time), left to t. */
tw_tensor *tw__adam_alpha(tw__temps *t, tw_tensor *time, tw_tensor *rate, double beta_1, double beta_2);
/* slots: moments of the gradient and of its square, and the largest of those or NULL. */
tw_status tw__adam_rows(tw_optimizer *optimizer, tw_variable *const slots[3], tw_variable *variable, tw_tensor *indices,
                        tw_tensor *gradient, double beta_1, double beta_2, double epsilon);

/* ---- an optimizer around another (loss_scale.c) ---- */
tw_optimizer *tw__optimizer_inner(tw_optimizer *optimizer); /* the one that is wrapped; itself if it wraps none. Borrowed */
/* The gradients of a loss from its tape, which a scale of the loss does not change. Empty, with the error, if that fails. */
tw_tensors tw__optimizer_gradients(tw_optimizer *optimizer, struct tw_tape *tape, tw_tensor *loss, tw_objects variables);
/* Takes the optimizer; around it, for a model that computes in float16, one that scales the loss. */
tw_optimizer *tw__optimizer_for(const tw_layer *model, tw_optimizer *optimizer);

/* ---- moving averages of the variables: use_ema (ema.c) ---- */
tw_status tw__optimizer_average(tw_optimizer *optimizer, tw_tensor *const *gradients, const tw_objects *variables);
tw_status tw__optimizer_finalize(tw_optimizer *optimizer, const tw_objects *variables);

/* ---- TensorFlow's former classes (legacy.c) ---- */
bool tw__optimizer_is_legacy(const tw_optimizer *optimizer);
tw_status tw__legacy_init(tw_optimizer *optimizer);
tw_status tw__legacy_build(tw_optimizer *optimizer, const tw_objects *variables);
tw_value tw__legacy_config(const tw_optimizer *optimizer);

/* ---- classes of the program's own (own.c) ---- */
bool tw__optimizer_overrides(const tw_optimizer *optimizer, const char *method);
bool tw__optimizer_has_own_step(const tw_optimizer *optimizer);
/* Makes its variables, by the program's own build() if there is one. */
tw_status tw__optimizer_build(tw_optimizer *optimizer, const tw_objects *variables);
tw_status tw__optimizer_prepare(tw_optimizer *optimizer, const tw_objects *variables); /* before the program's own steps */
tw_status tw__optimizer_own_step(tw_optimizer *optimizer, tw_variable *variable, tw_tensor *gradient);
/* A step of training by the program's minimize(), compute_gradients() or apply_gradients(), if it has one. */
tw_status tw__optimizer_own_minimize(tw_optimizer *optimizer, struct tw_tape *tape, tw_tensor *loss, const tw_objects *variables,
                                     bool *own);
int tw__optimizer_decays(const tw_optimizer *optimizer, tw_variable *variable); /* -1: a failure */
/* The library's step of one variable; `position` is where it may stand among those of build(), -1: anywhere. */
tw_status tw__optimizer_update(tw_optimizer *optimizer, int64_t position, tw_variable *variable, tw_tensor *gradient);
tw_status tw__optimizer_no_rate(void); /* the error that a class of the program's own has no learning rate */
tw_status tw__optimizer_make_rate(tw_optimizer *optimizer, double number, void *object);

/* ---- schedules (schedules.c) ---- */
struct tw_schedule {
    tw_object object;
    /* Set by an embedding language's subclass. */
    tw_tensor *(*foreign_call)(tw_schedule *self, tw_tensor *step);
};
typedef struct tw__schedule_methods {
    float (*rate)(const tw_schedule *self, float step);
    tw_tensor *(*trace)(const tw_schedule *self, tw_tensor *step); /* the same by ops, float32 */
} tw__schedule_methods;
/* The rate after so many steps; NaN and an error if it fails. */
double tw__schedule_rate(tw_schedule *schedule, int64_t step);
/* The same by ops, float32; the step is any number. A new reference. */
tw_tensor *tw__schedule_trace(tw_schedule *schedule, tw_tensor *step);

#endif
