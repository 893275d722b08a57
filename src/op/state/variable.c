/* Ops on variables' state: handles, reading, assigning. */
#include "op/resource.h"
#include "rows.h"

static tw_status handle_compute(tw__kernel *kernel)
{
    tw_string name = TW_ATTR(kernel, "shared_name")->s;
    tw__resource *resource = tw__resource_new(TW_ATTR(kernel, "dtype")->type, TW_ATTR(kernel, "shape")->shape,
                                              name.size ? name.data : "variable");
    if (!resource)
        return tw__error_status();
    *(tw_object **)kernel->outputs[0]->data = &resource->object;
    return TW_OK;
}

TW_OP(VarHandleOp,
    .outputs = "resource: resource",
    .attrs = "container: string = '', shared_name: string = '', debug_name: string = '', dtype: type, shape: shape, allowed_devices: list(string) = []",
    .shape = tw_shape_scalar, .compute = handle_compute, .stateful = true,
    .doc = "A handle on a new variable without a value.");

static tw_status read_shape(tw__inference *inference)
{
    if (inference->values[0]) {
        tw__resource *resource = tw__resource_of(inference->values[0]);
        if (!resource)
            return TW_INVALID_ARGUMENT;
        inference->out_shapes[0] = resource->shape;
    }
    return TW_OK;
}

static tw_status read_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    if (!resource)
        return TW_INVALID_ARGUMENT;
    if (TW_ATTR(kernel, "dtype")->type != resource->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Trying to read variable %s with wrong dtype. Expected %s got %s", resource->name,
                          tw_dtype_name(TW_ATTR(kernel, "dtype")->type), tw_dtype_name(resource->dtype));
    tw_tensor *value = tw__resource_read(resource);
    if (!value)
        return tw__error_status();
    /* A tensor of its own over the same memory: a tape tells two reads apart. */
    tw_tensor *view = tw__tensor_view(value, &value->shape);
    tw_release(value);
    return tw__output_take(kernel, 0, view);
}

static tw_status read_gradient(tw__gradient *gradient)
{
    gradient->input_grads[0] = tw_retain(gradient->output_grads[0]);
    return TW_OK;
}

TW_OP(ReadVariableOp,
    .inputs = "resource: resource", .outputs = "value: dtype", .attrs = "dtype: type",
    .shape = read_shape, .compute = read_compute, .gradient = read_gradient, .stateful = true, .makes_outputs = true,
    .reads_variable = true,
    .doc = "The value of a variable.");

static tw_status assign_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    return resource ? tw__resource_assign(resource, kernel->inputs[1]) : TW_INVALID_ARGUMENT;
}

TW_OP(AssignVariableOp,
    .inputs = "resource: resource, value: dtype", .attrs = "dtype: type, validate_shape: bool = false",
    .shape = tw_shape_none, .compute = assign_compute, .stateful = true,
    .doc = "Sets a variable's value.");

static tw_status change(tw__kernel *kernel, float sign)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    const tw_tensor *value = kernel->inputs[1];
    TW_TRY(tw__resource_lock(resource, &data));
    tw_status status = TW_OK;
    if (value->dtype != TW_FLOAT32 || value->count != resource->value->count)
        status = TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s", tw_dtype_name(value->dtype));
    for (int64_t i = 0; status == TW_OK && i < value->count; i++)
        ((float *)data)[i] += sign * ((const float *)value->data)[i];
    tw__resource_unlock(resource);
    return status;
}

static tw_status assign_add_compute(tw__kernel *kernel)
{
    return change(kernel, 1);
}

static tw_status assign_sub_compute(tw__kernel *kernel)
{
    return change(kernel, -1);
}

TW_OP(AssignAddVariableOp,
    .inputs = "resource: resource, value: dtype", .attrs = "dtype: type",
    .shape = tw_shape_none, .compute = assign_add_compute, .stateful = true,
    .doc = "Adds to a variable's value.");

TW_OP(AssignSubVariableOp,
    .inputs = "resource: resource, value: dtype", .attrs = "dtype: type",
    .shape = tw_shape_none, .compute = assign_sub_compute, .stateful = true,
    .doc = "Subtracts from a variable's value.");
