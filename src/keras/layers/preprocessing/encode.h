/* Categories as numbers, and numbers as rows that count them: what CategoryEncoding, Hashing, HashedCrossing, Discretization and
 * the lookup layers give. Values are tensors, ragged or sparse ones. */
#ifndef TW_ENCODE_H
#define TW_ENCODE_H

#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "keras/layers/layers.h"

typedef enum tw__output_mode {
    TW_MODE_INT,       /* the numbers themselves */
    TW_MODE_ONE_HOT,   /* a row for each number */
    TW_MODE_MULTI_HOT, /* a row for each sample: which numbers it has */
    TW_MODE_COUNT,     /* how often it has each */
    TW_MODE_TF_IDF     /* the same, times a weight for each */
} tw__output_mode;

typedef struct tw__encoding {
    tw__output_mode mode;
    int64_t depth; /* how many numbers there are */
    tw_dtype dtype;
    bool sparse;    /* the result */
    void *weights;  /* of the numbers, a value of the same kind; NULL: 1 each */
    tw_tensor *idf; /* of TF_IDF: a weight for each number */
} tw__encoding;

/* `allowed`: "'int', 'one_hot'". ValueError for any other. */
tw_status tw__output_mode_of(const tw_layer *layer, const char *given, const char *allowed, tw__output_mode *mode);
const char *tw__output_mode_name(tw__output_mode mode);
/* The dtype of a layer that gives numbers or rows: int64 or float32 unless it was told another. `lenient`: a float for numbers
 * means int64, otherwise it is an error. */
tw_status tw__encoding_dtype(tw_layer *layer, tw_dtype told, tw__output_mode mode, bool lenient);
/* Owned by the temps; NULL on failure. */
void *tw__encode(tw__temps *t, void *value, const tw__encoding *how);
/* The shape of that for the shape of a value. */
tw_status tw__encoded_shape(tw__output_mode mode, int64_t depth, const tw_shape *input, tw_shape *output);
/* The same places with other values: of a tensor, or of what a ragged or sparse one holds. */
typedef tw_tensor *(*tw__values_function)(void *context, tw__temps *t, tw_tensor *values);
void *tw__map_values(tw__temps *t, void *value, tw__values_function function, void *context);
/* The argument of a call as such a value; floats have the layer's dtype, as inputs of layers do. */
void *tw__encoding_input(tw_layer *layer, tw__temps *t, const tw_value *given, tw_dtype hint);
tw_value tw__encoded(void *value);        /* as the result of a call; NULL: None, with the error set */
tw_tensor *tw__plain_values(void *value); /* the tensor itself, or what it holds; borrowed */

#endif
