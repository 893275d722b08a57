/* The state behind a variable: a tensor that is exchanged, or changed in place when nobody else sees its memory. Reading hands
 * out the tensor itself, so a read costs nothing; a later change of the variable then makes a new one (copy on write). */
#include "op/resource.h"

#include "device/pjrt.h"

static void resource_destroy(void *self)
{
    tw__resource *resource = self;
    tw_release(resource->value);
    tw_release(resource->remote);
    tw__free(resource->name);
}

const tw_class tw__resource_class = { .name = "Resource", .size = sizeof(tw__resource), .destroy = resource_destroy };

tw__resource *tw__resource_new(tw_dtype dtype, const tw_shape *shape, const char *name)
{
    tw__resource *resource = tw__object_new(&tw__resource_class);
    if (!resource)
        return NULL;
    tw__lock_prepare();
    resource->dtype = dtype;
    resource->shape = *shape;
    resource->name = tw__strdup(name ? name : "");
    if (!resource->name) {
        tw_release(resource);
        return NULL;
    }
    return resource;
}

tw__resource *tw__resource_of(const tw_tensor *handle)
{
    tw_object *object = tw__tensor_object(handle);
    if (!tw__is(object, &tw__resource_class)) {
        tw__fail(TW_INVALID_ARGUMENT, "a variable's handle was expected, got a tensor of dtype %s",
                 handle ? tw_dtype_name(handle->dtype) : "NULL");
        return NULL;
    }
    return (tw__resource *)object;
}

static void lock(tw__resource *resource)
{
    tw__hold_take(&resource->lock);
}

void tw__resource_unlock(tw__resource *resource)
{
    tw__hold_give(&resource->lock);
}

static tw_status not_initialized(const tw__resource *resource)
{
    return tw__fail(
        TW_FAILED_PRECONDITION,
        "Could not find variable %s. This could mean that the variable has been deleted. In TF1, it can also mean the variable is "
        "uninitialized. Debug info: container=localhost, status error message=Container localhost does not exist. (Could not "
        "find resource: localhost/%s)",
        resource->name, resource->name);
}

/* Under the lock: a value that is on a device alone comes to the host, too. */
static tw_status fetch(tw__resource *resource)
{
    if (__builtin_expect(!resource->value && resource->remote && resource->remote_version == resource->version, 0))
        TW_NEED(resource->value = tw__remote_get(resource->remote));
    return TW_OK;
}

bool tw__resource_has_value(tw__resource *resource)
{
    lock(resource);
    bool has = resource->value || (resource->remote && resource->remote_version == resource->version);
    tw__resource_unlock(resource);
    return has;
}

tw__remote *tw__resource_remote(tw__resource *resource, int device)
{
    lock(resource);
    bool there = resource->remote && resource->remote_version == resource->version && resource->remote->device == device;
    tw_status status = there ? TW_OK : fetch(resource);
    if (!there && status == TW_OK && resource->value) {
        tw_release(resource->remote);
        resource->remote = tw__remote_put(resource->value, device);
        resource->remote_version = resource->version;
        there = resource->remote != NULL;
        status = there ? TW_OK : tw__error_status();
    }
    tw__remote *remote = there ? tw_retain(resource->remote) : NULL;
    tw__resource_unlock(resource);
    if (!there && status == TW_OK)
        not_initialized(resource);
    return remote;
}

void tw__resource_move(tw__resource *resource, tw__remote *value)
{
    lock(resource);
    tw_auto tw_tensor *old = resource->value;
    tw_auto tw__remote *before = resource->remote;
    resource->value = NULL;
    resource->remote = tw_retain(value);
    resource->remote_version = ++resource->version;
    tw__resource_unlock(resource);
}

tw_tensor *tw__resource_read(tw__resource *resource)
{
    lock(resource);
    tw_status status = fetch(resource);
    tw_tensor *value = tw_retain(resource->value);
    tw__resource_unlock(resource);
    if (!value && status == TW_OK)
        not_initialized(resource);
    return value;
}

tw_status tw__resource_assign(tw__resource *resource, tw_tensor *value)
{
    if (value->dtype != resource->dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "Trying to assign variable with wrong dtype. Expected %s got %s (variable %s)",
                        tw_dtype_name(resource->dtype), tw_dtype_name(value->dtype), resource->name);
    if (!tw__shape_compatible(&resource->shape, &value->shape))
        return tw__fail(TW_INVALID_ARGUMENT, "Cannot assign value of shape %s to the variable %s of shape %s",
                        tw__shape_text(&value->shape), resource->name, tw__shape_text(&resource->shape));
    /* Foreign memory (a NumPy array's) may be changed by its owner: the variable needs its own. */
    tw_tensor *own = value->buffer && value->buffer->free_data && value->buffer->context != value->buffer->data
                         ? tw__tensor_copy(value)
                         : tw_retain(value);
    if (!own)
        return tw__error_status();
    lock(resource);
    tw_auto tw_tensor *old = resource->value;
    resource->value = own;
    resource->version++;
    tw__resource_unlock(resource);
    return TW_OK;
}

tw_tensor *tw__resource_take(tw__resource *resource)
{
    lock(resource);
    fetch(resource);
    tw_tensor *value = resource->value;
    resource->value = NULL;
    resource->version++;
    tw__resource_unlock(resource);
    return value;
}

tw_status tw__resource_lock(tw__resource *resource, void **data)
{
    lock(resource);
    tw_status status = fetch(resource);
    if (status != TW_OK) {
        tw__resource_unlock(resource);
        return status;
    }
    if (!resource->value) {
        tw__resource_unlock(resource);
        return not_initialized(resource);
    }
    if (!tw__tensor_is_exclusive(resource->value)) {
        tw_tensor *own = tw__tensor_copy(resource->value);
        if (!own) {
            tw__resource_unlock(resource);
            return tw__error_status();
        }
        tw_release(resource->value);
        resource->value = own;
    }
    resource->version++;
    *data = resource->value->data;
    return TW_OK;
}

tw_status tw__resources_lock(tw__resource *const *resources, int count, void **data)
{
    int order[TW_RESOURCES_AT_ONCE];
    for (int k = 0; k < count; k++) {
        int at = k;
        for (; at > 0 && (uintptr_t)resources[order[at - 1]] > (uintptr_t)resources[k]; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (int i = 0; i < count; i++) {
        tw_status status = tw__resource_lock(resources[order[i]], &data[order[i]]);
        if (status != TW_OK) {
            while (i-- > 0)
                tw__resource_unlock(resources[order[i]]);
            return status;
        }
    }
    return TW_OK;
}

void tw__resources_unlock(tw__resource *const *resources, int count)
{
    for (int k = 0; k < count; k++)
        tw__resource_unlock(resources[k]);
}
