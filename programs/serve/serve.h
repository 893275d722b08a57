/* `thalweg serve` from the inside: models under TensorFlow Serving's REST API.
 *
 *     servable.c  one version of a model in memory: its signatures, ready to be called
 *     models.c    models with their versions: what is there to be loaded, what is loaded, what is asked for
 *     watch.c     the thread that looks for versions, loads and unloads them
 *     config.c    files of settings, in protocol buffers' text format
 *     batch.c     requests that come at the same time are computed together
 *     answers.c   from a request to an answer
 *     metrics.c   what was counted, as Prometheus reads it
 *     serve.c     the command (beside these folders) */
#ifndef SERVE_H
#define SERVE_H

#include <pthread.h>
#include <stdio.h>

#include <thalweg.h>

#include "http.h"

/* ---- one version in memory (servable.c) ---- */
typedef struct batcher batcher;
typedef struct served_signature {
    char *name, *method; /* "tensorflow/serving/predict" … */
    tw_saved_concrete *function;
    int64_t input_count, output_count;
    const char **inputs, **outputs; /* the function's own */
    tw_spec *specs;
    batcher *batch; /* or NULL */
} served_signature;

typedef struct servable {
    int uses; /* under the models' lock */
    tw_saved_object *model;
    served_signature *signatures;
    int64_t count;
    char *metadata; /* its signatures as JSON */
} servable;

typedef struct batch_settings {
    bool on;
    int64_t most, timeout, threads; /* rows in a batch; microseconds; batches at the same time */
} batch_settings;

/* A SavedModel's directory, or a .keras or .h5 file. NULL: the thread's error says why. */
servable *servable_load(const char *path, const batch_settings *batching);
void servable_free(servable *s);
const served_signature *servable_signature(const servable *s, const char *name); /* NULL: there is none */

/* ---- batches (batch.c) ---- */
batcher *batcher_new(const batch_settings *settings);
void batcher_free(batcher *b);
/* Calls the signature, together with others who do so now. The results are in the order of its outputs, for tw_tensors_free;
 * items is NULL after an error, of which the code and the message (for free()) tell. */
tw_tensors batched_call(const served_signature *signature, tw_named_tensors inputs, tw_status *code, char **message);

/* ---- models (models.c) ---- */
enum { VERSIONS_LIMIT = 256, LABELS_LIMIT = 32 };
typedef enum { VERSION_LOADING = 20, VERSION_AVAILABLE = 30, VERSION_UNLOADING = 40, VERSION_END = 50 } version_state;

typedef struct served_version {
    int64_t number;
    char *path;
    version_state state;
    servable *loaded;
    tw_status code; /* why it could not be loaded, with the message */
    char *message;
    int64_t attempts, changed; /* how often it was tried, and what its files were then */
    double again;              /* when it is tried again */
} served_version;

typedef struct served_model {
    char *name, *path;
    enum { LATEST, ALL, SPECIFIC } policy;
    int64_t latest; /* how many of the newest */
    int64_t versions_wanted[VERSIONS_LIMIT];
    int wanted_count;
    struct {
        char *name;
        int64_t version;
    } labels[LABELS_LIMIT];
    int label_count;
    served_version versions[VERSIONS_LIMIT]; /* the newest first */
    int version_count;
    struct model_counts *counts;
} served_model;

typedef struct serving {
    served_model **models;
    size_t model_count;
    pthread_mutex_t lock;
    batch_settings batching;
    double poll, retry; /* seconds */
    int64_t retries, timeout;
    bool checks_methods, logs;
    double started;
    pthread_t watcher;
    pthread_cond_t woken;
    bool watching, stops;
} serving;

/* Adds a model; takes nothing. False: there is one of that name already, or no memory. */
served_model *models_add(serving *s, const char *name, const char *path);
void models_free(serving *s);
served_model *models_find(serving *s, const char *name);
/* The version that is asked for (-1: the newest; the label, if it is not NULL), for models_give_back. NULL: the answer's code and
 * text are in *code and `text`. */
servable *models_take(serving *s, const char *name, int64_t version, const char *label, int64_t *found, int *code,
                      char text[512]);
void models_give_back(serving *s, servable *loaded);

/* ---- the thread that loads (watch.c) ---- */
/* Looks once, waiting until all is loaded; false: a model has no version that could be loaded, and stderr was told. */
bool watch_once(serving *s);
bool watch_start(serving *s);
void watch_stop(serving *s);

/* ---- files of settings (config.c) ---- */
/* The models of a ModelServerConfig, the settings of BatchingParameters. False: stderr was told. */
bool config_models(serving *s, const char *path);
bool config_batching(batch_settings *settings, const char *path);

/* ---- answers (answers.c, metrics.c) ---- */
void serve_respond(void *serving, const http_request *request, http_answer *answer);
void serve_refuse(void *serving, int code, http_answer *answer);
void serve_error(http_answer *answer, int code, const char *text);
int http_code_of(tw_status status);
void put_quoted(FILE *out, const char *text); /* as a JSON string */
/* Counts a request to a model: how it ended, and how many seconds it took. */
void metrics_count(serving *s, const char *model, const char *method, int code, double seconds);
void metrics_put(serving *s, FILE *out);
struct model_counts *metrics_new(void);

#endif
