/* Callbacks from the inside. What happens is an event with a number (of the epoch or the batch) and logs, values by name that a
 * callback may change. A class says which events it listens to; a subclass of an embedding language is asked through a hook. */
#ifndef TW_CALLBACKS_H
#define TW_CALLBACKS_H

#include <thalweg/keras.h>

#include "keras/keras.h"

enum { TW_EVENTS = TW_PREDICT_BATCH_END + 1 };
extern const char *const tw__event_names[TW_EVENTS]; /* "on_train_begin", … */
#define TW_ON(event) (1u << (event))

struct tw_callback {
    tw_object object;
    tw_layer *model;               /* a reference, or NULL */
    tw_value params;               /* a dict */
    uint32_t foreign;              /* events that the embedding language's class listens to */
    tw_callback_function function; /* of a C program; or NULL */
    void *state;
};

typedef struct tw__callback_methods {
    uint32_t events;
    tw_status (*on)(tw_callback *self, tw_event event, int64_t index, tw__dict *logs);
    void (*state)(const tw_callback *self, tw__dict *state);        /* what users may look at; or NULL */
    tw_status (*restore)(tw_callback *self, const tw__dict *state); /* a copy takes that over; or NULL */
} tw__callback_methods;

/* ---- callback.c ---- */
/* What the C class itself does. */
void tw__callback_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The names in logs, "loss,val_loss"; for tw__free. */
char *tw__logs_names(const tw__dict *logs);
tw_status tw__callback_own(tw_callback *callback, tw_event event, int64_t index, tw__dict *logs);

/* All callbacks of a run. */
typedef struct tw__callback_list {
    tw_callback **items; /* references */
    int count, capacity;
    uint32_t events; /* that any of them listens to */
    struct tw__deep_lock *lock;
} tw__callback_list;
typedef struct tw__callback_setup {
    tw_objects given;
    bool history, progress;
    tw_layer *model;
    int verbose;
    int64_t epochs, steps;      /* steps -1: not known */
    struct tw__deep_lock *lock; /* let go while an embedding language's callbacks run; or NULL */
} tw__callback_setup;
tw_status tw__callbacks_open(tw__callback_list *list, const tw__callback_setup *setup);
void tw__callbacks_close(tw__callback_list *list);
tw_status tw__callbacks_tell(tw__callback_list *list, tw_event event, int64_t index, tw__dict *logs);

/* ---- logs (logs.c) ---- */
tw_value *tw__logs_find(const tw__dict *logs, const char *name); /* borrowed; NULL */
bool tw__logs_number(const tw__dict *logs, const char *name, double *number);
tw_status tw__logs_set(tw__dict *logs, const char *name, tw_value value); /* takes the value; replaces */
tw_status tw__logs_copy(const tw__dict *logs, tw__dict *copy);
void tw__logs_free(tw__dict *logs);
bool tw__value_number(const tw_value *value, double *number); /* also of a tensor of one element */
void tw__value_visit(const tw_value *value, tw__visitor visitor, void *context);

/* The text of a path like "cp-{epoch:04d}-{val_loss:.2f}.ckpt"; epoch counts from 1. For tw__free. */
char *tw__logs_format(const char *pattern, int64_t epoch, int64_t batch, const tw__dict *logs);

#endif
