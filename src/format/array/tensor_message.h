/* TensorProto and TensorShapeProto, in and out. */
#ifndef TW_TENSOR_MESSAGE_H
#define TW_TENSOR_MESSAGE_H

#include "tensor/tensor.h"

typedef struct tw__tensor_message {
    tw_dtype dtype;
    tw_shape shape;
    int64_t count;
    tw_string bytes, content; /* content: empty if the elements are in a list */
} tw__tensor_message;
tw_status tw__shape_message_read(tw_string bytes, tw_shape *shape);
void tw__shape_message_write(tw__text *text, uint32_t number, const tw_shape *shape);
/* A shape that is known; a dimension of 0 is left out, as TensorFlow does in tensors and bundles. */
void tw__shape_message_write_known(tw__text *text, uint32_t number, const tw_shape *shape);
tw_status tw__tensor_message_open(tw_string bytes, tw__tensor_message *message);
/* The tensor, or, if `limit` >= 0, a vector of its first elements. */
tw_tensor *tw__tensor_message_read(const tw__tensor_message *message, int64_t limit, size_t *budget);
tw_status tw__tensor_message_write(tw__text *text, uint32_t number, const tw_tensor *tensor);
/* The message's fields alone, numbers always in tensor_content: what SerializeTensor and summaries write. */
tw_status tw__tensor_message_body(tw__text *text, const tw_tensor *tensor);

#endif
