/* Ops on variables' state: handles, reading, assigning. */
#include "kernel/kernel.h"
#include "op/resource.h"
#include "rows.h"

static tw_status handle_compute(tw__kernel *kernel)
{
    tw_string name = TW_ATTR(kernel, "shared_name")->s;
    tw__resource *resource =
        tw__resource_new(TW_ATTR(kernel, "dtype")->type, TW_ATTR(kernel, "shape")->shape, name.size ? name.data : "variable");
    if (!resource)
        return tw__error_status();
    *(tw_object **)kernel->outputs[0]->data = &resource->object;
    return TW_OK;
}

TW_OP(
    VarHandleOp, .outputs = "resource: resource",
    .attrs =
        "container: string = '', shared_name: string = '', debug_name: string = '', dtype: type, shape: shape, allowed_devices: list(string) = []",
    .shape = tw_shape_scalar, .compute = handle_compute, .stateful = true, .role = TW_ROLE_VARIABLE,
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
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Trying to read variable %s with wrong dtype. Expected %s got %s",
                          resource->name, tw_dtype_name(TW_ATTR(kernel, "dtype")->type), tw_dtype_name(resource->dtype));
    tw_auto tw_tensor *value = tw__resource_read(resource);
    if (!value)
        return tw__error_status();
    /* A tensor of its own over the same memory: a tape tells two reads apart. */
    tw_tensor *view = tw__tensor_view(value, &value->shape);
    return tw__output_take(kernel, 0, view);
}

static tw_status read_gradient(tw__gradient *gradient)
{
    gradient->input_grads[0] = tw_retain(gradient->output_grads[0]);
    return TW_OK;
}

TW_OP(ReadVariableOp, .inputs = "resource: resource", .outputs = "value: dtype", .attrs = "dtype: type", .shape = read_shape,
      .compute = read_compute, .gradient = read_gradient, .stateful = true, .makes_outputs = true, .reads_variable = true,
      .role = TW_ROLE_READ, .doc = "The value of a variable.");

static tw_status assign_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    return resource ? tw__resource_assign(resource, kernel->inputs[1]) : TW_INVALID_ARGUMENT;
}

TW_OP(AssignVariableOp, .inputs = "resource: resource, value: dtype", .attrs = "dtype: type, validate_shape: bool = false",
      .shape = tw_shape_none, .compute = assign_compute, .stateful = true, .role = TW_ROLE_ASSIGN,
      .doc = "Sets a variable's value.");

static tw_status change(tw__kernel *kernel, const tw__binary *operation)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    const tw_tensor *value = kernel->inputs[1];
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__resource_lock(resource, &data));
    const tw_tensor *held = resource->value;
    tw_status status = TW_OK;
    if (!tw__shape_equal(&held->shape, &value->shape))
        status = tw__fail(TW_INVALID_ARGUMENT,
                          "Cannot update variable with shape %s using a Tensor with shape %s, shapes must be equal.",
                          tw__shape_text(&held->shape), tw__shape_text(&value->shape));
    else if (held->dtype != value->dtype)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable %s is of dtype %s, the value of %s", resource->name,
                            tw_dtype_name(held->dtype), tw_dtype_name(value->dtype));
    else if (!tw__binary_has(operation, held->dtype))
        status = TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(held->dtype));
    else
        tw__binary_run(operation, held->dtype, data, &held->shape, value->data, &value->shape, data, &held->shape);
    tw__resource_unlock(resource);
    return status;
}

static tw_status assign_add_compute(tw__kernel *kernel)
{
    return change(kernel, &tw__binary_add);
}

static tw_status assign_sub_compute(tw__kernel *kernel)
{
    return change(kernel, &tw__binary_subtract);
}

TW_OP(AssignAddVariableOp, .inputs = "resource: resource, value: dtype", .attrs = "dtype: type", .shape = tw_shape_none,
      .compute = assign_add_compute, .stateful = true, .role = TW_ROLE_ASSIGN, .sums = 1, .lets_go = true,
      .doc = "Adds to a variable's value.");

TW_OP(AssignSubVariableOp, .inputs = "resource: resource, value: dtype", .attrs = "dtype: type", .shape = tw_shape_none,
      .compute = assign_sub_compute, .stateful = true, .role = TW_ROLE_ASSIGN, .sums = -1, .lets_go = true,
      .doc = "Subtracts from a variable's value.");

/* ---- questions and the end ---- */

static tw_status is_initialized_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    if (!resource)
        return TW_INVALID_ARGUMENT;
    *(bool *)kernel->outputs[0]->data = tw__resource_has_value(resource);
    return TW_OK;
}

TW_OP(VarIsInitializedOp, .inputs = "resource: resource", .outputs = "is_initialized: bool", .shape = tw_shape_scalar,
      .compute = is_initialized_compute, .stateful = true, .doc = "Whether a variable has a value.");

static tw_status variable_shape_shape(tw__inference *inference)
{
    inference->out_shapes[0] = (tw_shape){ .rank = 1, .dims = { -1 } };
    return TW_OK;
}

static tw_status variable_shape_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    if (!resource)
        return TW_INVALID_ARGUMENT;
    tw_auto tw_tensor *value = tw__resource_read(resource);
    if (!value)
        return tw__error_status();
    return tw__output_take(kernel, 0, tw__tensor_of_shape(&value->shape, kernel->out_dtypes[0]));
}

TW_OP(VariableShape, .inputs = "input: resource", .outputs = "output: out_type", .attrs = "out_type: {int32, int64} = int32",
      .shape = variable_shape_shape, .compute = variable_shape_compute, .stateful = true,
      .doc = "The shape of a variable's value.");

static tw_status destroy_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    if (!resource)
        return TW_INVALID_ARGUMENT;
    tw_tensor *value = tw__resource_take(resource);
    if (!value && !TW_ATTR(kernel, "ignore_lookup_error")->b)
        return tw__fail(TW_NOT_FOUND, "Resource %s does not exist.", resource->name);
    tw_release(value);
    return TW_OK;
}

TW_OP(DestroyResourceOp, .inputs = "resource: resource", .attrs = "ignore_lookup_error: bool = true", .shape = tw_shape_none,
      .compute = destroy_compute, .stateful = true, .doc = "Drops a variable's value.");

/* ---- DisableCopyOnRead ---- */

static tw_status disable_compute(tw__kernel *kernel)
{
    return tw__resource_of(kernel->inputs[0]) ? TW_OK : tw__error_status(); /* reads copy nothing here */
}

TW_OP(DisableCopyOnRead, .inputs = "resource: resource", .shape = tw_shape_none, .compute = disable_compute, .stateful = true,
      .doc = "Says that reads of a variable need no copy.");
