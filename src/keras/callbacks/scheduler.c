/* tw_learning_rate_scheduler_new (<thalweg/own.h>): a C function says the learning rate of every epoch. */
#include <math.h>

#include <thalweg/own.h>

#include "keras/models/training.h"

typedef struct scheduler {
    tw_callback callback;
    tw_rate_function rate;
    void *state;
} scheduler;

static tw_status scheduler_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    const scheduler *s = (const scheduler *)self;
    tw__trainer *trainer = tw__trainer_of(self->model);
    tw_optimizer *optimizer = trainer ? trainer->optimizer : NULL;
    if (!optimizer)
        return tw__fail(TW_VALUE_ERROR, "Optimizer must have a \"lr\" attribute.");
    if (event == TW_EPOCH_END)
        return tw__logs_set(logs, "lr", (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw__optimizer_rate(optimizer) });
    double rate = s->rate(s->state, index, tw__optimizer_rate(optimizer));
    if (isnan(rate))
        return tw_error_code() != TW_OK
                   ? tw_error_code()
                   : tw__fail(TW_VALUE_ERROR, "The output of the \"schedule\" function should be float. Got: nan");
    return tw__impl_optimizer_set_learning_rate(&(tw_optimizer_set_learning_rate_args){ .self = optimizer, .value = rate });
}

static const tw__callback_methods scheduler_methods = { .events = TW_ON(TW_EPOCH_BEGIN) | TW_ON(TW_EPOCH_END),
                                                        .on = scheduler_on };

static const tw_class scheduler_class = { .name = "LearningRateScheduler",
                                          .parent = &tw__class_callback,
                                          .signature = &tw__signature_callback,
                                          .size = sizeof(scheduler),
                                          .free_config = tw__config_free,
                                          .visit_config = tw__config_visit,
                                          .methods = &scheduler_methods };

tw_callback *tw_learning_rate_scheduler_new(tw_rate_function function, void *state)
{
    tw_callback_args args;
    tw_args_default(&tw__signature_callback, &args);
    scheduler *made = tw__check_given(function, "the function", "tw_learning_rate_scheduler_new")
                          ? tw_class_make(&scheduler_class, &args)
                          : NULL;
    if (!made)
        return NULL;
    made->rate = function;
    made->state = state;
    return &made->callback;
}
