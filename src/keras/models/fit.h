/* The loop of fit, evaluate and predict. */
#ifndef TW_FIT_H
#define TW_FIT_H

#include "keras/models/training.h"

/* Going through a feed, step by step. */
typedef struct tw__pass {
    tw__trainer *trainer;
    tw__mode mode;
    tw__feed *feed;
    tw__callback_list *callbacks;
    int64_t limit;               /* steps of an epoch; -1: until the feed ends, from then on as many as there were */
    int64_t first;               /* the step that the next epoch begins with */
    int64_t rounds, most_rounds; /* of arrays: how often they were begun, and may be */
    int64_t epochs;
    bool ran_out, stepped; /* stepped: in this epoch */
    tw_tensor **results;   /* of the last step */
    int result_count;
    /* Of predict: takes a step's results; gives them to callbacks. */
    tw_status (*each)(void *context, tw_tensor *const *results, int count);
    tw_status (*outputs)(void *context, tw_tensor *const *results, int count, tw__dict *logs);
    void *context;
} tw__pass;
tw_status tw__pass_epoch(tw__pass *pass, tw__dict *logs); /* logs: of the last step; may be NULL */
void tw__pass_end(tw__pass *pass);
tw_status tw__pass_limit(const tw__feed *feed, int64_t given, const char *what, int64_t *limit);

typedef struct tw__fit {
    tw__trainer *trainer;
    tw__feed feed, validation;
    bool validates, freq_is_list;
    int64_t epochs, initial_epoch, steps_per_epoch, validation_steps; /* steps: TW_NO_INT if not given */
    tw_ints validation_freq;
    int verbose;
    tw_objects callbacks;
} tw__fit;
tw_callback *tw__fit_run(tw__fit *fit); /* the History; NULL: an error */
void tw__fit_end(tw__fit *fit);
/* One pass through a feed that tells callbacks which are there already. */
tw_status tw__evaluate(tw__trainer *trainer, tw__feed *feed, int64_t limit, tw__callback_list *callbacks, tw__dict *logs);
tw_status tw__evaluate_run(tw__trainer *trainer, tw__feed *feed, int64_t steps, int verbose, tw_objects callbacks,
                           tw__dict *logs);

#endif
