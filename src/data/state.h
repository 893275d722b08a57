/* Where a cursor stands, as bytes: what a checkpoint keeps of an iterator.
 *
 * A step of a dataset describes its state by one function that serves both directions (tw__dataset_kind.state): every value is
 * named, and is written, or read into the place it came from. What is read must have the name and the setting that the step
 * expects, so that the state of another pipeline is refused. After the first error nothing more is done; the values stay as they
 * are. */
#ifndef TW_DATA_STATE_H
#define TW_DATA_STATE_H

#include "data/data.h"

/* What becomes of functions whose results depend on more than their arguments: TensorFlow's ExternalStatePolicy. */
typedef enum tw__external_state { TW_EXTERNAL_WARN, TW_EXTERNAL_IGNORE, TW_EXTERNAL_FAIL } tw__external_state;

struct tw__state {
    bool saving;
    bool resting; /* with that: nothing is kept, the walk only makes threads rest */
    tw__external_state policy;
    tw_status status;
    tw__text text;       /* what was written */
    const uint8_t *data; /* what is read */
    size_t size, at;
    const char *step; /* the step whose state it is, for errors */
    int depth;
    struct tw__workers *paused; /* whose threads rest until the whole state is written */
};

void tw__state_int(tw__state *state, const char *name, int64_t *value);
void tw__state_bool(tw__state *state, const char *name, bool *value);
/* A setting of the step: it must be the same when it is read. */
void tw__state_same(tw__state *state, const char *name, int64_t value);
void tw__state_bytes(tw__state *state, const char *name, void *data, size_t size);
void tw__state_text(tw__state *state, const char *name, tw__text *text);
/* A tensor, or NULL; what the place held before is released. */
void tw__state_tensor(tw__state *state, const char *name, tw_tensor **tensor);
/* `count` tensors in an array that is made if it is not there. */
void tw__state_tensors(tw__state *state, const char *name, tw_tensor ***tensors, int count);
void tw__state_elements(tw__state *state, const char *name, tw__elements *elements);
/* A cursor over that dataset, or NULL. One that is there is read into; otherwise it is made. */
void tw__state_cursor(tw__state *state, const char *name, tw__cursor **cursor, tw__dataset *dataset);
/* The function that elements are given to must depend on them alone. Changes nothing. */
void tw__state_function(tw__state *state, const tw__data_function *f);
void tw__state_fail(tw__state *state, tw_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* True: go on; the values that a loop or branch depends on are good. */
static inline bool tw__state_good(const tw__state *state)
{
    return state->status == TW_OK;
}

/* The whole state of a cursor; a string scalar. */
tw_tensor *tw__cursor_save(tw__cursor *cursor, tw__external_state policy);
/* A new cursor over the dataset, where the saved one stood. */
tw__cursor *tw__cursor_restore(tw__dataset *dataset, const tw_tensor *saved);
/* Makes the threads of a cursor rest, for good; it can only be freed then. */
tw_status tw__cursor_rest(tw__cursor *cursor);
/* Sets what the datasets remember once more, when no thread of an older cursor changes it any longer. */
tw_status tw__cursor_settle(const tw__cursor *cursor, const tw_tensor *saved);

/* ---- tensors (state_tensor.c) ---- */
/* Datasets that stand in tensors, as windows do; the only ones that a buffer's state can hold. The name is the class's. */
typedef struct tw__packed_dataset {
    const tw_class *class;
    tw__dataset *(*make)(const tw_dtype *dtypes, const tw_shape *shapes, int count); /* empty */
    void (*state)(tw__dataset *dataset, tw__state *state);
} tw__packed_dataset;
extern const tw__packed_dataset tw__packed_listed, tw__packed_shard;

#endif
