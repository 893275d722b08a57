/* What the files of keras.utils.FeatureSpace share: its columns. */
#ifndef TW_SPACE_H
#define TW_SPACE_H

#include "keras/models/functional.h"

typedef struct tw__space_column {
    char *name, *mode; /* how it comes out: int, one_hot or float */
    tw_layer *layer;   /* what prepares it, or crosses others; a reference */
    tw_layer *encoder; /* of one_hot, made when it is first needed; a reference, or NULL */
    tw_keras_tensor *input;
    tw_value of; /* of a cross: the names of its features */
} tw__space_column;

struct tw_feature_space {
    tw_object object;
    tw__space_column *columns; /* the features as they were given, then the crosses */
    int64_t features, count;
    tw_layer *join; /* what puts them side by side; NULL: they come as a dict */
    bool adapted;
    tw_value encoded; /* what the inputs become */
};

#endif
