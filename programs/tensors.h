/* Files of named tensors: checkpoints, SavedModels, HDF5 files of Keras, .keras files. (tensors.c) */
#ifndef TENSORS_H
#define TENSORS_H

#include "program.h"

typedef struct tensor_file {
    const char *path;
    tw_checkpoint_reader *reader; /* NULL: HDF5 */
    tw_value shapes, dtypes;      /* dicts by name, in the same order */
} tensor_file;

/* A prefix, X.index or X.data-…, the directory of checkpoints (its newest) or of a SavedModel, an .h5, .hdf5 or .keras file. */
bool open_tensors(tensor_file *file, const char *path); /* false: library_error has to tell */
void close_tensors(tensor_file *file);
int64_t tensor_count(const tensor_file *file);
const char *tensor_name(const tensor_file *file, int64_t index);
tw_dtype tensor_dtype(const tensor_file *file, int64_t index); /* 0: not known */
tw_shape tensor_shape(const tensor_file *file, int64_t index);
/* The place of a name, which may lack its ending /.ATTRIBUTES/VARIABLE_VALUE; -1: there is none. */
int64_t find_tensor(const tensor_file *file, const char *name);
tw_tensor *read_tensor(const tensor_file *file, int64_t index); /* for tw_release; NULL: an error */

/* What the elements are like. */
typedef struct tensor_facts {
    double least, most, mean, deviation; /* of the finite ones */
    int64_t count, zeros, nans, infinities;
} tensor_facts;
bool is_numeric(tw_dtype dtype);
tensor_facts facts_of(const tw_tensor *tensor);
/* Whether two tensors differ by more than `tolerance` somewhere; by how much at the most. */
bool differ(const tw_tensor *a, const tw_tensor *b, double tolerance, double *most);

#endif
