/* Safe mode: configs may not bring code along. It is on unless a load call, the program or the environment says otherwise.
 *
 *     tw_load_model(path, .safe_mode = false)                    one model
 *     tf.keras.__internal__.enable_unsafe_deserialization()        the program
 *     THALWEG_TRUST_MODELS=1                                       the process */
#ifndef TW_SAFE_MODE_H
#define TW_SAFE_MODE_H

#include "keras/keras.h"

bool tw__safe_mode(void);

/* For the time of a load; the end takes what the begin gave. `path` names the model in errors. */
typedef struct tw__safe_scope {
    int mode;
    const char *loading;
} tw__safe_scope;
tw__safe_scope tw__safe_begin(bool safe, const char *path);
void tw__safe_end(tw__safe_scope scope);

/* Fails with Keras's sentence about `what` ("a Lambda layer with a Python `lambda` inside it"). */
tw_status tw__refuse_code(const char *what, const char *loading);

#endif
