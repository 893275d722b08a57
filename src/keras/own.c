/* Losses, metrics, initializers, regularizers, constraints, schedules and activations that call a C program's functions. Each is
 * a class below Keras's own, so that whoever takes those takes them; layers and models are in layers/own.c. */
#include "keras/own.h"

#include <math.h>

#include <thalweg/own.h>

#include "keras/callable.h"
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/layers/layers.h"
#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "keras/models/training.h"
#include "keras/optimizers/optimizers.h"
#include "keras/regularizers/regularizers.h"

typedef struct own_state {
    void *state;
    void (*end)(void *state);
} own_state;

static void end_state(own_state *own)
{
    if (own->end)
        own->end(own->state);
}

/* What the program's function gave, taken out of the scope in which it was called. */
#define IN_SCOPE(type, call)                                 \
    ({                                                       \
        size_t scope_ = tw_scope_begin();                    \
        type given_ = (call);                                \
        tw__scope_end_with(scope_, (void *[]){ given_ }, 1); \
        given_;                                              \
    })

/* Everything about a class but its name, its parent and its methods. */
#define OWN_CLASS(kind, title, parent_id, ...)                                            \
    static void kind##_destroy(void *self)                                                \
    {                                                                                     \
        end_state(&((own_##kind *)self)->own);                                            \
    }                                                                                     \
    static const tw_class own_##kind##_class = { .name = title,                           \
                                                 .parent = &tw__class_##parent_id,        \
                                                 .signature = &tw__signature_##parent_id, \
                                                 .size = sizeof(own_##kind),              \
                                                 .destroy = kind##_destroy,               \
                                                 .free_config = tw__config_free,          \
                                                 .visit_config = tw__config_visit,        \
                                                 __VA_ARGS__ }

/* An object of the class, of complete arguments; the function is there. */
static void *make(const tw_class *class, const void *args, bool function, const char *who)
{
    if (function)
        return tw_class_make(class, args);
    tw__fail(TW_INVALID_ARGUMENT, "%s: the function is NULL", who);
    return NULL;
}

/* ---- activations ---- */

typedef struct own_function {
    tw_tensor_function function;
    own_state own;
} own_function;

static tw_tensor *callable_call(tw_callable *self, tw_tensor *input)
{
    const own_function *f = self->state;
    return IN_SCOPE(tw_tensor *, f->function(f->own.state, input));
}

static void callable_end(tw_callable *self)
{
    end_state(&((own_function *)self->state)->own);
    tw__free(self->state);
}

tw_callable *tw_callable_new_(tw_tensor_function function, void *state, const tw_own_args *args)
{
    if (!tw__check_given(function, "the function", "tw_callable_new") ||
        !tw__check_given(args, "the argument struct", "tw_callable_new"))
        return NULL;
    own_function *f = tw__alloc_zero(sizeof *f);
    tw_callable *callable = f ? tw__callable_new(args->name ? args->name : "function", callable_call, callable_end, f) : NULL;
    if (callable)
        *f = (own_function){ function, { state, args->end } };
    else
        tw__free(f);
    return callable;
}

/* ---- regularizers and constraints ---- */

typedef struct own_regularizer {
    tw_regularizer base;
    tw_tensor_function function;
    own_state own;
} own_regularizer;

static tw_tensor *regularize(tw_regularizer *self, tw_tensor *value)
{
    const own_regularizer *r = (const own_regularizer *)self;
    return IN_SCOPE(tw_tensor *, r->function(r->own.state, value));
}
static const tw__regularizer_methods regularizer_methods = { regularize };
OWN_CLASS(regularizer, "OwnRegularizer", regularizer, .methods = &regularizer_methods);

typedef struct own_constraint {
    tw_constraint base;
    tw_tensor_function function;
    own_state own;
} own_constraint;

static tw_tensor *constrain(tw_constraint *self, tw_tensor *value)
{
    const own_constraint *c = (const own_constraint *)self;
    return IN_SCOPE(tw_tensor *, c->function(c->own.state, value));
}
static const tw__constraint_methods constraint_methods = { constrain };
OWN_CLASS(constraint, "OwnConstraint", constraint, .methods = &constraint_methods);

/* The name of such a callable is its class's, unless one is given. */
static void *named(void *made, const char *name)
{
    tw_callable *callable = made;
    char *copy = made && name ? tw__strdup(name) : NULL;
    if (!made || !name)
        return made;
    if (!copy) {
        tw_release(made);
        return NULL;
    }
    tw__free(callable->name);
    callable->name = copy;
    return made;
}

#define MAKE(kind, made, args_)                                                                         \
    own_##kind *made = tw__check_given(args_, "the argument struct", "tw_" #kind "_new")                \
                           ? make(&own_##kind##_class, &complete, function != NULL, "tw_" #kind "_new") \
                           : NULL;                                                                      \
    if (made) {                                                                                         \
        made->function = function;                                                                      \
        made->own = (own_state){ state, (args_)->end };                                                 \
    }

tw_regularizer *tw_regularizer_new_(tw_tensor_function function, void *state, const tw_own_args *args)
{
    tw_regularizer_args complete = { 0 };
    MAKE(regularizer, made, args)
    return named(made, made ? args->name : NULL);
}

tw_constraint *tw_constraint_new_(tw_tensor_function function, void *state, const tw_own_args *args)
{
    tw_constraint_args complete = { 0 };
    MAKE(constraint, made, args)
    return named(made, made ? args->name : NULL);
}

/* ---- schedules ---- */

typedef struct own_schedule {
    tw_schedule base;
    tw_tensor_function function;
    own_state own;
} own_schedule;

static tw_tensor *schedule_trace(const tw_schedule *self, tw_tensor *step)
{
    const own_schedule *s = (const own_schedule *)self;
    tw_auto tw_tensor *rate = IN_SCOPE(tw_tensor *, s->function(s->own.state, step));
    return rate ? tw__cast(rate, TW_FLOAT32) : NULL;
}

static float schedule_rate(const tw_schedule *self, float step)
{
    tw_auto tw_tensor *number = tw_tensor_float(step), *rate = number ? schedule_trace(self, number) : NULL;
    return rate ? (float)tw_tensor_double_at(rate, 0) : NAN;
}
static const tw__schedule_methods schedule_methods = { schedule_rate, schedule_trace };
OWN_CLASS(schedule, "OwnSchedule", schedule, .methods = &schedule_methods);

tw_schedule *tw_schedule_new_(tw_tensor_function function, void *state, const tw_own_args *args)
{
    tw_schedule_args complete = { 0 };
    MAKE(schedule, made, args)
    return made ? &made->base : NULL;
}

/* ---- initializers ---- */

typedef struct own_initializer {
    tw_initializer base;
    tw_initializer_function function;
    own_state own;
} own_initializer;

static tw_tensor *initialize(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const own_initializer *i = (const own_initializer *)self;
    tw_auto tw_tensor *value = IN_SCOPE(tw_tensor *, i->function(i->own.state, *shape, dtype));
    return value ? tw__cast(value, dtype) : NULL;
}
static const tw__initializer_methods initializer_methods = { initialize };
OWN_CLASS(initializer, "OwnInitializer", initializer, .methods = &initializer_methods);

tw_initializer *tw_initializer_new_(tw_initializer_function function, void *state, const tw_own_args *args)
{
    tw_initializer_args complete = { 0 };
    MAKE(initializer, made, args)
    return made ? &made->base : NULL;
}

/* ---- losses ---- */

typedef struct own_loss {
    tw_loss base;
    tw_loss_function function;
    own_state own;
} own_loss;

static tw_tensor *loss_values(tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const own_loss *l = (const own_loss *)self;
    return IN_SCOPE(tw_tensor *, l->function(l->own.state, y_true, y_pred));
}
OWN_CLASS(loss, "OwnLoss", loss, .methods = NULL);

tw_loss *tw_loss_new_(tw_loss_function function, void *state, const tw_loss_new_args *args)
{
    tw_loss_args complete;
    tw_args_default(&tw__signature_loss, &complete);
    complete.name = args && args->name ? args->name : "loss";
    if (args && args->reduction)
        complete.reduction = args->reduction;
    MAKE(loss, made, args)
    if (made)
        made->base.foreign_call = loss_values;
    return made ? &made->base : NULL;
}

/* ---- metrics ---- */

typedef struct own_metric_mean {
    tw_metric base;
    tw_loss_function function;
    own_state own;
} own_metric_mean;

static tw_tensor *mean_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const own_metric_mean *m = (const own_metric_mean *)self;
    return IN_SCOPE(tw_tensor *, m->function(m->own.state, y_true, y_pred));
}
static const tw__metric_methods mean_methods = { .values = mean_values };
OWN_CLASS(metric_mean, "OwnMean", metrics_mean_metric_wrapper, .methods = &mean_methods);

tw_metric *tw_metric_mean_new_(tw_loss_function function, void *state, const tw_own_args *args)
{
    tw_metrics_mean_metric_wrapper_args complete;
    tw_args_default(&tw__signature_metrics_mean_metric_wrapper, &complete);
    complete.name = args ? args->name : NULL;
    MAKE(metric_mean, made, args)
    return made ? &made->base : NULL;
}

typedef struct own_metric {
    tw_metric base;
    tw_metric_update_function function;
    tw_metric_result_function result;
    own_state own;
} own_metric;

static tw_status metric_update(tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    const own_metric *m = (const own_metric *)self;
    size_t scope = tw_scope_begin();
    tw_status status = m->function(self, y_true, y_pred, sample_weight, m->own.state);
    tw_scope_end(&scope);
    return status == TW_OK || tw_error_code() != TW_OK ? status
                                                       : tw__fail(status, "metric \"%s\": its update failed", self->layer.name);
}

static tw_tensor *metric_result(tw_metric *self)
{
    const own_metric *m = (const own_metric *)self;
    return IN_SCOPE(tw_tensor *, m->result(self, m->own.state));
}
static const tw__metric_methods metric_methods = { .update = metric_update, .result = metric_result };
OWN_CLASS(metric, "OwnMetric", counting_metric, .methods = &metric_methods);

tw_metric *tw_metric_new_(tw_metric_update_function function, tw_metric_result_function result, void *state,
                          const tw_own_args *args)
{
    tw_counting_metric_args complete;
    tw_args_default(&tw__signature_counting_metric, &complete);
    complete.name = args ? args->name : NULL;
    if (!tw__check_given(result, "the function of the result", "tw_metric_new"))
        return NULL;
    MAKE(metric, made, args)
    if (!made)
        return NULL;
    made->result = result;
    made->base.layer.built = true;
    return &made->base;
}

tw_status tw_metric_update_state(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    const char *who = "tw_metric_update_state";
    bool good = tw__check(metric, &tw__class_metric, who) && tw__check(y_true, &tw__tensor_class, who) &&
                tw__check(y_pred, &tw__tensor_class, who) && (!sample_weight || tw__check(sample_weight, &tw__tensor_class, who));
    return good ? tw__metric_update(metric, y_true, y_pred, sample_weight) : tw__error_status();
}

tw_variable *tw_metric_add_weight(tw_metric *metric, const char *name, tw_shape shape)
{
    bool good =
        tw__check(metric, &tw__class_metric, "tw_metric_add_weight") && tw__check_given(name, "the name", "tw_metric_add_weight");
    return good ? tw__layer_add_weight(&metric->layer, name, &shape, TW_DTYPE_NONE, "zeros", false) : NULL;
}

/* ---- configs ---- */

bool tw__is_own(const void *object)
{
    const tw_class *class = tw_class_of(object);
    static const tw_class *const own[] = { &own_regularizer_class, &own_constraint_class, &own_schedule_class,
                                           &own_initializer_class, &own_loss_class,       &own_metric_mean_class,
                                           &own_metric_class,      &tw__own_layer_class,  &tw__own_model_class };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (class == own[i])
            return true;
    }
    return class == &tw__class_model && ((const tw__model *)object)->call;
}

tw_value tw__own_config(const void *object)
{
    const char *name = tw__is(object, &tw__class_layer)      ? ((const tw_layer *)object)->name
                       : tw__is(object, &tw__class_loss)     ? ((const tw_loss *)object)->name
                       : tw__is(object, &tw__callable_class) ? ((const tw_callable *)object)->name
                                                             : "";
    tw__fail(
        TW_NOT_IMPLEMENTED_ERROR,
        "%s \"%s\" calls a function of the program, which no config can hold: save weights or a checkpoint instead, or leave "
        "it out",
        tw_class_name(object), name);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

tw_value tw__plain_config(const void *object)
{
    if (tw__is_own(object))
        return tw__own_config(object);
    tw__dict dict = { 0 };
    tw__dict_put_config(&dict, object, "");
    return tw__dict_take(&dict);
}
