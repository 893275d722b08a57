/* What an embedding language (Python) supplies: one struct, filled by its extension when it is loaded and never changed behind
 * that. Every member may be NULL: then there is no such language, or it has nothing of its own to say. The library calls them
 * from any thread, whatever locks it holds (pause.h).
 *
 * Errors: a function that fails with an exception of the language keeps it for the thread and gives TW_FOREIGN_ERROR. */
#ifndef TW_LANGUAGE_H
#define TW_LANGUAGE_H

#include "base/base.h"

struct tw_layer;
struct tw_metric;
struct tw_callback;
struct tw_objects;
struct tw_value;
struct tw__dict;

typedef struct tw__language_parts {
    /* ---- objects and threads ---- */
    void (*peer_retain)(void *peer); /* how a peer's references are counted (object.c) */
    void (*peer_release)(void *peer);
    void *(*wait_begin)(void); /* others may have the language's lock meanwhile (pause.h); `wait_end` gets what it gave */
    void (*wait_end)(void *state);
    tw_status (*interrupted)(void); /* fails when the user wants to stop (Ctrl-C), and lets others run */

    /* ---- text ---- */
    void (*write)(const char *text, size_t size);            /* progress lines and summaries, instead of to stdout */
    bool (*error_words)(const char *head, const char *tail); /* puts words around those of the kept exception */
    void *(*ordered_form)(const struct tw_value *dict);      /* the form of a dict that keeps its order; a new reference */
    char *(*structure_text)(const struct tw_value *value); /* a container with a form, as the language writes it; for tw__free */

    /* ---- files ---- */
    tw_status (*unpack)(const char *path, const char *folder); /* an archive that the library can't read */

    /* ---- exceptions that change threads ---- */
    tw_status (*error_plain)(void); /* turns the kept exception into a code and a text, which any thread may tell */
    void *(*error_take)(void);      /* the kept exception itself, to be given to another thread */
    void (*error_give)(void *taken);

    /* ---- graphs ---- */
    tw_object *(*origin)(void);                                /* the place where the program stands, a new reference (graph.h) */
    tw_status (*collect)(const char *name, tw_tensor *tensor); /* puts it into a collection of the default graph */
    /* Calls a function that the language registered (op/host); `arrays`: it sees arrays, not tensors. */
    tw_status (*host_call)(void *user, const char *token, bool arrays, tw_tensor *const *inputs, int input_count,
                           tw_tensor **outputs, int output_count);

    /* ---- random numbers ---- */
    tw_status (*random_seeded)(int64_t seed); /* set_random_seed was called: its own are seeded, too */
    tw_status (*random_between)(int64_t low, int64_t high, int64_t *value); /* random.randint, used before set_random_seed */

    /* ---- its own layers, classes and functions ---- */
    tw_status (*invoke)(struct tw_layer *layer, const struct tw_value *arguments, const struct tw_value *named, int training,
                        struct tw_value *result);                  /* a call of one of its layers with any arguments */
    bool (*takes)(struct tw_layer *layer, const char *name);       /* whether its own `call` has an argument of that name */
    bool (*class_name)(const void *object, struct tw_value *name); /* if the object's class is one of its own */
    /* false: an object of the library's own classes, or a failure, with the error set */
    bool (*serialize)(const void *object, struct tw_value *dict);
    bool (*config)(const void *object, struct tw_value *config);   /* its own get_config(); false likewise */
    void *(*make)(const struct tw_value *value, const char *word); /* of a dict or a name; NULL without an error: it knows none */
    bool (*code)(const void *function,
                 struct tw_value *value);          /* a function as (code, module); false: a failure, with the error */
    void *(*decode)(const struct tw_value *value); /* (code, module, arguments) as a function; NULL: a failure */

    bool (*overrides)(const void *object, const char *name); /* whether its class has such a method of the program's own */
    /* A method of an object's own class, called with values by position (a tuple) and by name (a dict), or NULL; *own says if
     * there is such a method. The result, if somebody wants it, is the caller's. */
    tw_status (*method)(void *object, const char *name, const struct tw_value *arguments, const struct tw_value *named,
                        struct tw_value *result, bool *own);

    /* ---- its own models, metrics and callbacks in training ---- */
    /* Runs the model's own train_step or test_step, which gives a dict, or predict_step, of data as the program gave it. */
    tw_status (*step)(struct tw_layer *model, int mode, const struct tw_value *data, struct tw_value *result);
    /* compute_loss (the result), and compute_metrics (no result), of x, y, predictions and weights, four values. */
    tw_status (*losses)(struct tw_layer *model, bool update, const struct tw_value *all, tw_tensor **loss);
    tw_status (*metrics)(struct tw_layer *model, struct tw_objects *metrics); /* the model's own list; new references */
    /* A metric's own methods: *own says if there are such. */
    tw_status (*metric_update)(struct tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *weight, bool *own);
    tw_status (*metric_reset)(struct tw_metric *metric, bool *own);
    tw_status (*metric_result)(struct tw_metric *metric, tw_tensor **result, bool *own);
    tw_status (*callback_events)(struct tw_callback *callback, uint32_t *events); /* which ones its class listens to */
    tw_status (*callback_tell)(struct tw_callback *callback, int event, int64_t index, struct tw__dict *logs);
    tw_status (*save_model)(struct tw_layer *model, const char *path); /* a whole one, for ModelCheckpoint */
} tw__language_parts;

extern tw__language_parts tw__language;

#endif
