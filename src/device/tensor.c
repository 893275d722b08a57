/* Where a tensor is, for C programs. */
#include <thalweg/distribute.h>

#include "device/device.h"
#include "tensor/tensor.h"

char *tw_tensor_device(const tw_tensor *tensor)
{
    return tw__check(tensor, &tw__tensor_class, "tw_tensor_device") ? tw__place_text(tensor->device) : NULL;
}
