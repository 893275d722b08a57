/* tf.train.Example on the wire: reading without copies, and writing. See example.c for the layout. */
#ifndef TW_EXAMPLE_H
#define TW_EXAMPLE_H

#include "format/format.h"

/* The values of one Feature, still in the message's bytes. */
typedef struct tw__feature {
    tw_dtype dtype;      /* TW_STRING, TW_FLOAT32, TW_INT64; TW_DTYPE_NONE: of no kind */
    const uint8_t *data; /* the list's content */
    size_t size;
    int64_t count;
    bool packed; /* the data is numbers alone, else a message */
} tw__feature;

/* Calls `entry` with each feature of a Features message (its bytes), in order; a status other than TW_OK ends the walk. False:
 * the bytes are no such message. */
typedef tw_status (*tw__feature_entry)(void *context, tw_string key, tw_string feature);
bool tw__features_each(tw_string bytes, tw__feature_entry entry, void *context, tw_status *status);
/* The same of an Example, which may hold several Features. */
bool tw__example_each(tw_string bytes, tw__feature_entry entry, void *context, tw_status *status);
/* What kind of values the Feature has, and how many. False: the bytes make no sense. */
bool tw__feature_read(tw_string bytes, tw__feature *feature);
/* Puts the values into elements [at, at + count) of a tensor of the feature's dtype. */
tw_status tw__feature_copy(const tw__feature *feature, tw_tensor *tensor, int64_t at);

/* Appends an entry of Features with the tensor's elements: strings as bytes, floats as float, integers and bools as int64. */
tw_status tw__feature_write(tw__text *text, tw_string key, const tw_tensor *tensor);

#endif
