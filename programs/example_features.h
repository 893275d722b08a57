/* Features of tf.train.Example for `thalweg data --parse`. (example_features.c) */
#ifndef EXAMPLE_FEATURES_H
#define EXAMPLE_FEATURES_H

#include <stdbool.h>

#include <thalweg.h>

enum { FEATURES_LIMIT = 64 };
typedef struct feature {
    char key[128];
    tw_dtype dtype;
    tw_shape shape;
    bool any_number;
} feature;
typedef struct feature_list {
    feature items[FEATURES_LIMIT];
    int count;
    bool varies; /* one of them has any number of values */
} feature_list;

/* Of a text as "x:float32[2],words:string*". False: it is none. */
bool features_read(feature_list *list, const char *text);
/* As the first records of a file have them. False: stderr was told why. */
bool features_guess(feature_list *list, const char *path);

#endif
