/* A model to be called from the command: a SavedModel's signature, or a model of Keras. (model_open.c) */
#ifndef MODEL_H
#define MODEL_H

#include "program.h"

typedef struct model_input {
    const char *name; /* borrowed */
    tw_dtype dtype;
    tw_shape shape; /* the first dimension is often not known */
} model_input;

typedef struct opened_model {
    tw_saved_object *saved;       /* or NULL */
    tw_saved_concrete *signature; /* of `saved` */
    tw_model *keras;              /* or NULL */
    model_input *inputs;
    int64_t input_count;
} opened_model;

/* A SavedModel's signature ("serving_default" if it is NULL), or a .keras or .h5 file. False: library_error has to tell. */
bool open_model(opened_model *m, const char *path, const char *signature);
void close_model(opened_model *m);
/* The results, for tw_tensors_free; items is NULL after an error. `inputs` are in the order of m->inputs. */
tw_tensors call_model(opened_model *m, tw_tensor *const *inputs);
const char *model_output(const opened_model *m, int64_t index, char room[32]);
/* A tensor from a word of the command line: a path that ends in .npy, or JSON ("[[1, 2]]", "zeros", "ones") as an input needs it.
 * NULL: an error. */
tw_tensor *input_tensor(const model_input *input, const char *word, int64_t batch);

#endif
