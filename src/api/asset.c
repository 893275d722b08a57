/* Captured tensors and files as objects; see asset.h. */
#include "api/asset.h"
#include "rows.h"

static void constant_destroy(void *self)
{
    tw_saved_constant *constant = self;
    tw_release(constant->value);
    tw__free(constant->asset);
}

static tw_status constant_init(void *self, const void *given)
{
    const tw_saved_constant_args *args = given;
    tw_saved_constant *constant = self;
    if (args->asset && !(constant->asset = tw__strdup(args->asset)))
        return TW_RESOURCE_EXHAUSTED;
    constant->value = args->value   ? tw_retain(args->value)
                      : args->asset ? tw_tensor_string(args->asset, strlen(args->asset))
                                    : NULL;
    if (constant->value && args->asset && !args->value)
        constant->value->by_identity = true;
    return constant->value ? TW_OK : tw__fail(TW_INVALID_ARGUMENT, "a saved constant needs a value or a path");
}

TW_CLASS(saved_constant, "saved_model._Constant(value: tensor = None, asset: str = None)", .parent = &tw__trackable_class,
         .size = sizeof(tw_saved_constant), .init = constant_init, .destroy = constant_destroy, .drop_config = true,
         .doc = "A tensor that functions of a SavedModel captured, or a file that is saved with it.");

tw_saved_constant *tw__saved_constant_new(tw_tensor *value, const char *asset)
{
    return tw_class_make(&tw__class_saved_constant, &(tw_saved_constant_args){ .value = value, .asset = asset });
}

TW_PROPERTY(saved_constant_value, "saved_model._Constant.value(self: saved_constant) -> tensor",
            "The tensor; of a file its path.")
{
    return tw_retain(args->self->value);
}
