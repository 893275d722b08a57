/* Stand-ins, weak, for what other folders give. */
#include "extension.h"

__attribute__((weak)) char *tw_tensor_str(const tw_tensor *tensor)
{
    return tw__format("tf.Tensor(shape=%s, dtype=%s)", tw__shape_text(&tensor->shape), tw_dtype_name(tensor->dtype));
}

__attribute__((weak)) char *tw_tensor_repr(const tw_tensor *tensor)
{
    return tw__format("<tf.Tensor: shape=%s, dtype=%s, numpy=...>", tw__shape_text(&tensor->shape), tw_dtype_name(tensor->dtype));
}
