/* Calls of rows: the row's function is called with its argument struct, and its result becomes a value.
 *
 * A signature holds the function without its type. All of them take one pointer, to the row's own struct; what they return
 * follows from the result's kind. So one function calls them all, where thousands of small ones would have to be made of the
 * rows. */
#include "spec/spec.h"

/* The status of a call that returned NULL: an error, or, if none is set, the result None. */
static tw_status null_status(tw_value *result)
{
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    return tw_error_code();
}

static tw_status value_of_tensors(tw_tensors tensors, tw_value *result)
{
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    if (tw_error_code() != TW_OK) {
        tw_tensors_free(&tensors);
        return tw_error_code();
    }
    tw_value *items = tw__alloc_array((size_t)tensors.count, sizeof *items);
    if (!items) {
        tw_tensors_free(&tensors);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int64_t i = 0; i < tensors.count; i++) {
        if (tensors.items[i])
            items[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensors.items[i] };
    }
    *result = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, tensors.count } };
    tw__free(tensors.items);
    return TW_OK;
}

static tw_status value_of_text(char *text, tw_value *result)
{
    if (!text)
        return null_status(result);
    *result = (tw_value){ .kind = TW_VALUE_STR, .s = { text, strlen(text) } };
    return TW_OK;
}

tw_status tw__value_of_shape(tw_shape shape, tw_value *result)
{
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    if (tw_error_code() != TW_OK)
        return tw_error_code();
    tw_shape *copy = tw__alloc(sizeof *copy);
    if (!copy)
        return TW_RESOURCE_EXHAUSTED;
    *copy = shape;
    *result = (tw_value){ .kind = TW_VALUE_SHAPE, .shape = copy };
    return TW_OK;
}

static tw_status value_of_objects(tw_objects objects, tw_value *result)
{
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    tw_value *items = tw_error_code() == TW_OK ? tw__alloc_array((size_t)objects.count, sizeof *items) : NULL;
    if (!items) {
        tw_objects_free(&objects);
        return tw__error_status();
    }
    for (int64_t i = 0; i < objects.count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = objects.items[i] };
    *result = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, objects.count } };
    tw__free((void *)objects.items);
    return TW_OK;
}

#define CALL(type_) ((type_(*)(const void *))signature->body)(args)

tw_status tw_signature_invoke(const tw_signature *signature, const void *args, tw_value *result)
{
    if (!tw__check_given(signature, "the signature", "tw_signature_invoke") ||
        !tw__check_given(args, "the argument struct", signature->id) ||
        !tw__check_given(result, "the place of the result", signature->id))
        return tw__error_status();
    switch (signature->result) {
    case TW_KIND_NONE:
        return CALL(tw_status);
    case TW_KIND_VALUE:
        *result = CALL(tw_value);
        return tw_error_code();
    case TW_KIND_TENSOR:
        *result = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = CALL(tw_tensor *) };
        return result->tensor ? TW_OK : null_status(result);
    case TW_KIND_TENSORS:
        return value_of_tensors(CALL(tw_tensors), result);
    case TW_KIND_HANDLES:
        return value_of_objects(CALL(tw_objects), result);
    case TW_KIND_STR:
        return value_of_text(CALL(char *), result);
    case TW_KIND_SHAPE:
        return tw__value_of_shape(CALL(tw_shape), result);
    case TW_KIND_INT:
        *result = (tw_value){ .kind = TW_VALUE_INT, .i = CALL(int64_t) };
        return tw_error_code();
    case TW_KIND_FLOAT:
        *result = (tw_value){ .kind = TW_VALUE_FLOAT, .f = CALL(double) };
        return tw_error_code();
    case TW_KIND_BOOL:
        *result = (tw_value){ .kind = TW_VALUE_BOOL, .b = CALL(bool) };
        return tw_error_code();
    case TW_KIND_DTYPE:
        *result = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = CALL(tw_dtype) };
        return tw_error_code();
    default: /* a handle */
        *result = (tw_value){ .kind = TW_VALUE_OBJECT,
                              .object = signature->body ? CALL(void *) : tw_class_make(signature->class_row, args) };
        return result->object ? TW_OK : null_status(result);
    }
}
