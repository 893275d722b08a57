/* Training from the inside: what compile leaves behind, the steps that are traced, where batches come from, the loop.
 *
 *     compile (compile.c)  ->  trainer  <-  fit, evaluate, predict (fit.c): feed (feed.c) -> step (step.c) -> logs -> callbacks
 *
 * A batch is a flat list of tensors: those of x, of y, of the weights; how they are nested is the trainer's knowledge
 * (nesting.c). A step is a function over such a list, traced once; its results are the values of the metrics, whose names the
 * trainer keeps. */
#ifndef TW_TRAINING_H
#define TW_TRAINING_H

#include "base/deep_lock.h"
#include "data/data.h"
#include "keras/callbacks/callbacks.h"
#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "keras/optimizers/optimizers.h"

typedef enum tw__mode { TW_TRAIN_MODE, TW_TEST_MODE, TW_PREDICT_MODE, TW_MODES } tw__mode;

/* How many tensors of a batch are x, y and weights; and what else tells steps apart: the number of their structure, and what an
 * embedding language's model does itself with such. Each thread brings its own. */
typedef struct tw__parts {
    int x, y, weights, structure, own;
} tw__parts;

/* What an embedding language's model does itself. */
enum {
    TW_OWN_TRAIN_STEP = 1, /* steps of its own, by mode */
    TW_OWN_TEST_STEP = 2,
    TW_OWN_PREDICT_STEP = 4,
    TW_OWN_LOSS = 8,     /* compute_loss */
    TW_OWN_METRICS = 16, /* the list of metrics */
    TW_OWN_UPDATE = 32,  /* compute_metrics */
    TW_OWN_AT_ONCE = 64  /* shifted by the mode: its steps are not traced */
};

/* A metric of one output. */
typedef struct tw__output_metric {
    tw_metric *metric; /* a reference */
    int output;
    bool weighted;
} tw__output_metric;

typedef struct tw__step {
    tw_function *function;
    tw__function *concrete; /* the graph for batches like the last one; or NULL */
    tw_spec *specs;         /* of that */
    int spec_count;
    tw__parts parts; /* of the batches that it is traced for */
    char **names;    /* of the results; of those in a dict of the dict "outer" TW_INSIDE "name" */
    int name_count;
} tw__step;

#define TW_INSIDE '\x1f'

/* Which kind of a batch's tensors goes with outputs. */
typedef enum tw__placed { TW_LABELS, TW_WEIGHTS, TW_PLACED } tw__placed;

/* How data is nested: a number stands for each tensor, None for nothing, a spec for a value of several tensors. */
typedef struct tw__nesting {
    tw_value parts[3]; /* x, y and weights */
    bool bare;         /* a step of the user's gets x itself, not a tuple with x alone */
    tw_value outputs;  /* what the model makes of such an x, with the number of each tensor; None: a tensor */
} tw__nesting;

/* Whether a layer could be trained when compile was called. */
typedef struct tw__frozen {
    tw_layer *layer; /* a reference; NULL: the model itself */
    bool trainable;
} tw__frozen;

/* One thread trains or evaluates with a model at a time: metrics and steps are one state. Threads that predict share it only
 * while they look for the step's graph. */
struct tw__trainer {
    tw_object object;
    tw__deep_lock lock; /* let go while an embedding language's callbacks run: they may wait for other threads */
    tw_layer *model;    /* whose it is; not held */
    bool compiled, run_eagerly, jit_compile, stop_training;
    int64_t steps_per_execution, train_count, test_count;
    int64_t resume_epoch;        /* where fit goes on, as a callback found; -1: where it was told to begin */
    int64_t resume_batch;        /* the last one that was done in that epoch; -1: none was */
    tw_tensor *resume_state;     /* what goes on with it (resume.c); or NULL */
    struct tw__feed *feed;       /* of the fit that runs; or NULL */
    tw__kernel_stream **streams; /* of random numbers in the graphs of the training step (resume.c); references */
    size_t stream_count, stream_capacity, stream_used;
    int own;                                                /* TW_OWN_… */
    tw_optimizer *optimizer;                                /* or NULL */
    tw_value loss, metrics, loss_weights, weighted_metrics; /* as given to compile */
    /* From the first loss on. */
    int output_count; /* 0: not known yet */
    char **output_names;
    char **output_keys; /* what losses and metrics are given by; NULL: the names */
    /* Per output: which of the labels, or of the weights, is its own; -1: none is. NULL: one is for all, or the i-th for the
     * i-th. */
    int *places[TW_PLACED];
    int place_counts[TW_PLACED];
    tw__nesting *nestings; /* of all data that it was given, by number; they stay when it is compiled again */
    int nesting_count;
    tw__frozen *frozen; /* what compile found */
    int64_t frozen_count;
    tw_loss **losses;  /* per output; NULL: none */
    double *weights;   /* NaN: none */
    tw_metric *total;  /* the mean of the whole loss */
    tw_metric **means; /* of each output's, if there are several; or NULL */
    bool losses_built, metrics_built;
    tw__output_metric *list; /* in Keras's order */
    int list_count;
    tw__step steps[TW_MODES];
    tw_callback *history; /* of the last fit; or NULL */
};

/* ---- resume.c ---- */
tw_status tw__trainer_share_streams(tw__trainer *trainer, tw__function *function); /* before it runs */
void tw__trainer_forget_streams(tw__trainer *trainer);
/* What a fit needs to go on exactly; a string scalar. */
tw_tensor *tw__trainer_save_state(tw__trainer *trainer);
tw_status tw__trainer_restore_state(tw__trainer *trainer, const tw_tensor *saved);

/* ---- nesting.c ---- */
/* Data that a caller gave, as batches are made of it. */
typedef struct tw__given {
    tw__parts parts;
    struct tw_dataset *dataset; /* borrowed; NULL: arrays */
    tw_tensor **arrays;         /* references; `few` if it has room */
    int count;
    tw_tensor *few[4];
    tw_value own[3]; /* the structures, if there is no trainer to keep them */
} tw__given;
/* Reads x (or a dataset), y and weights; each a structure of tensors, NULL or None. */
tw_status tw__given_read(tw__trainer *trainer, const tw_value *const parts[3], const char *who, tw__given *given);
void tw__given_free(tw__given *given);
tw__nesting *tw__trainer_nesting(tw__trainer *trainer, tw__mode mode); /* of the step's batches; under the lock */
void tw__trainer_free_nestings(tw__trainer *trainer);
/* The value of the next tensors of a batch. */
tw_status tw__nesting_pack(const tw_value *nesting, tw_tensor *const **at, tw_value *value);
/* The outputs as the model gave them for data of that number; None: an error. */
tw_value tw__nesting_outputs(tw__trainer *trainer, int number, tw_tensors outputs);

/* ---- structured.c ---- */
/* Calls the model with x in its structure: the outputs (references, in an array for tw__free), their names if they are known, and
 * which labels and weights are whose. */
tw_status tw__trainer_call(tw__trainer *trainer, tw__mode mode, tw_tensor *const *x, tw_tensor ***outputs, int *output_count,
                           char ***names);
/* An embedding language's own step, compute_loss and compute_metrics. */
tw_status tw__trainer_foreign_step(tw__trainer *trainer, tw__mode mode, tw_tensor *const *batch, tw_tensor ***results, int *count,
                                   char ***names);
tw_status tw__trainer_foreign_loss(tw__trainer *trainer, tw__mode mode, tw_tensor *const *batch, tw_tensor *const *predictions,
                                   int count, tw_tensor **loss);
tw_status tw__trainer_foreign_update(tw__trainer *trainer, tw__mode mode, tw_tensor *const *batch, tw_tensor *const *predictions,
                                     int count);

/* ---- trainer.c, compile.c ---- */
int tw__model_worker(
    const tw_layer *model); /* which of several processes that train it this is; 0: the first one, or it is alone */
tw__trainer *tw__trainer_of(tw_layer *model); /* made if there is none; NULL: an error */
/* Takes the lock, and notes what the embedding language does itself. Refuses calls inside of a function that is traced. */
tw_status tw__trainer_begin(tw__trainer *trainer, const char *what, int own);
void tw__trainer_end(tw__trainer *trainer);
tw_status tw__trainer_check(tw_layer *model, const char *what); /* it is a model, and compiled */
void tw__trainer_forget_steps(tw__trainer *trainer);
void tw__trainer_clear(void *self);                   /* all that compile gave it */
void tw__trainer_release_list(void *list, int count); /* of references, from tw__alloc; NULL is fine */
/* How many outputs there are, and their names (or NULL); once. */
tw_status tw__trainer_set_outputs(tw__trainer *trainer, int count, char *const *names);
/* The tensor of an output among the labels or weights; NULL: it has none. */
tw_tensor *tw__trainer_given(const tw__trainer *trainer, tw__placed kind, tw_tensor *const *tensors, int count, int output);
void tw__trainer_forget_places(tw__trainer *trainer);
/* Exchanges what layers say about training for what they said at compile; a second call exchanges them back. */
void tw__trainer_swap_frozen(tw__trainer *trainer);
tw_status tw__trainer_build_losses(tw__trainer *trainer);
tw_status tw__trainer_build_metrics(tw__trainer *trainer, tw_tensor *const *y, int y_count, tw_tensor *const *predictions);
/* All metrics of the model in order; borrowed, the list for tw__free. */
tw_status tw__trainer_metrics(tw__trainer *trainer, tw_metric ***metrics, int *count);
tw_status tw__trainer_reset(tw__trainer *trainer); /* the metrics */
void tw__names_free(char **names, int count);

/* ---- lookup.c ---- */
tw_loss *tw__loss_get(const tw_value *value); /* a new reference */
/* Of a name other than "accuracy" and its like, which depend on shapes. */
tw_metric *tw__metric_get(const char *name, const char *called);
tw_status tw__metric_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *weight);
tw_status tw__metric_reset(tw_metric *metric);
tw_tensor *tw__metric_result(tw_metric *metric);

/* ---- step.c, step_loss.c ---- */
/* Calls the model: new references in an array from tw__alloc. */
tw_status tw__trainer_forward(tw__trainer *trainer, tw__mode mode, tw_tensor *const *x, int count, tw_tensor ***outputs,
                              int *output_count);
/* The loss of a batch, NULL if there is none; the metrics of losses are brought up to date. */
tw_status tw__trainer_loss(tw__trainer *trainer, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                           tw_tensor *const *weights, int weight_count, tw_tensor **loss);
/* Who trains needs a loss, and labels if compile was told a loss. */
tw_status tw__trainer_check_loss(const tw__trainer *trainer, bool labels, bool loss);
tw_status tw__trainer_update(tw__trainer *trainer, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                             tw_tensor *const *weights, int weight_count);
/* One step over a batch, traced for batches that fit `specs`. The results are new references in an array from tw__alloc. */
tw_status tw__trainer_step(tw__trainer *trainer, tw__mode mode, tw_tensor *const *batch, const tw_spec *specs, tw__parts parts,
                           tw_tensor ***results, int *count);
/* One step in this replica, or without any; count -1: an error. */
tw_tensors tw__trainer_run(tw__trainer *trainer, tw__mode mode, tw_tensors batch);
/* The step of a C program's model that has one of its own (layers/own.c); results as above. */
tw_status tw__own_step(tw__trainer *trainer, tw__mode mode, tw_tensors batch, tw_tensor ***results, int *count);
/* The results of a step by name. */
tw_status tw__step_logs(const tw__step *step, tw_tensor *const *results, int count, tw__dict *logs);

/* ---- replicas.c ---- */
/* A batch as the step takes it: the tensors of the first replica's part, those of the second's … */
typedef struct tw__split {
    tw_tensor *const *batch;
    const tw_spec *specs;
    int count;
    tw_tensor **own; /* NULL: the batch itself */
    tw_spec *own_specs;
} tw__split;
tw_status tw__replicas_split(const tw__trainer *trainer, tw__mode mode, tw_tensor *const *batch, const tw_spec *specs, int count,
                             tw__split *split);
void tw__replicas_split_end(tw__split *split);
/* The step in all replicas of the model's strategy; count -1: an error. */
tw_tensors tw__replicas_run(tw__trainer *trainer, tw__mode mode, tw_tensors batch);

/* ---- feed.c ---- */
typedef struct tw__feed {
    tw__parts parts; /* of what it gives: with weights, where there are weights of classes */
    int count;       /* tensors of a batch before that */
    tw_spec *specs;
    int64_t steps; /* batches of an epoch; -1: not known */
    tw_tensor **batch;
    /* of arrays */
    tw_tensor **arrays; /* references */
    int64_t rows, batch_size, at;
    bool shuffles, whole; /* whole: they are one batch */
    bool batches;         /* the order of batches is shuffled, not that of rows */
    bool even;            /* all batches have the size that was asked for */
    tw__function *shuffler;
    tw__kernel_stream *stream;  /* of the shuffler's random numbers */
    tw_tensor *numbers, *order; /* 0 … rows (or steps) - 1, and shuffled */
    /* of datasets */
    struct tw_dataset *dataset; /* a reference */
    tw__cursor *cursor;
    bool resumed; /* it stands where a fit that was interrupted stood */
    /* weights of classes, by number */
    tw_tensor *class_weights; /* or NULL */
} tw__feed;

typedef struct tw__feed_options {
    tw_tensor *const *arrays; /* of a dataset: NULL */
    struct tw_dataset *dataset;
    tw__parts parts;
    int64_t batch_size;  /* TW_NO_INT: as the steps say, or 32 */
    int64_t steps;       /* that are asked for; 0 or TW_NO_INT: none are */
    int64_t first, rows; /* of the arrays; rows -1: all */
    bool shuffle, whole; /* whole: the arrays are one batch, whose size errors tell */
    bool batches;        /* shuffle: the order of batches */
    const tw_value *class_weight;
} tw__feed_options;
tw_status tw__feed_open(tw__feed *feed, const tw__feed_options *options, const char *who);
void tw__feed_close(tw__feed *feed);
tw_status tw__feed_epoch(tw__feed *feed); /* begins again */
/* Begins a pass of its own, of so many steps (-1: all). Keras makes two iterators over a dataset that is gone through as a whole:
 * one that is shuffled anew each time is in its second order then. */
tw_status tw__feed_begin(tw__feed *feed, int64_t limit);
tw_status tw__feed_next(tw__feed *feed, bool *end); /* into feed->batch */

#endif
