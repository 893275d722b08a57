/* Settings of objects by name, for C programs: what Python's layer.rate = 0.1 does. */
#include "api/args_values.h"
#include "keras/keras.h"

static void *part_of(const tw_value *value, const tw_field *field)
{
    return value->kind == TW_VALUE_DICT ? tw__deserialize(value, field->word) : NULL;
}

tw_status tw_object_set(void *object, const char *name, tw_value value)
{
    const tw_field *field = NULL;
    if (!tw__check_given(object, "the object", "tw_object_set") || !tw__check_given(name, "the name", "tw_object_set"))
        return TW_INVALID_ARGUMENT;
    const tw_signature *signature = tw_class_signature(tw_class_of(object));
    tw__setting kind = signature ? tw__object_setting(object, name, &field) : TW_NO_SETTING;
    if (kind != TW_SETTING || field->inherited || !tw__starts_with(signature->path, "keras."))
        return tw__fail(TW_ATTRIBUTE_ERROR, "tw_object_set: `%s` of a %s can't be set", name, tw_class_name(object));
    void *args = tw__args_of_value(signature, field, &value, part_of);
    if (!args)
        return tw__error_status();
    tw_status status = tw__object_change(object, field, args);
    tw__args_free(signature, args);
    return status;
}
