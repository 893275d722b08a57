/* A tensor that is saved with objects: one that functions captured, or the path of a file, which goes along. */
#ifndef TW_API_ASSET_H
#define TW_API_ASSET_H

#include "base/trackable.h"
#include "tensor/tensor.h"

typedef struct tw_saved_constant {
    tw_trackable trackable;
    tw_tensor *value;
    char *asset; /* the file's path, if it is one; the value is the path, too */
} tw_saved_constant;

tw_saved_constant *tw__saved_constant_new(tw_tensor *value, const char *asset);

#endif
