/* C's calls of rows: arguments completed, the row's function called, the nodes it made named. The generated calls of
 * <thalweg/api.h> come here. */
#include "graph/graph.h"

/* A copy of the arguments on the stack, complete. */
#define COMPLETE(signature_, given_, failure_)                           \
    max_align_t args[(signature_)->args_size / sizeof(max_align_t) + 1]; \
    if (tw__args_take((signature_), (given_), args) != TW_OK)            \
    return failure_

void *tw__row_pointer(const tw_signature *signature, const void *given)
{
    COMPLETE(signature, given, NULL);
    void *(*body)(const void *) = (void *(*)(const void *))signature->body;
    if (!signature->name_offset)
        return body(args);
    tw__naming naming = tw__naming_begin();
    tw_tensor *made = body(args);
    const char *name = *(const char **)((char *)args + signature->name_offset);
    if (tw__naming_end(naming, signature->id, name, made) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

#define ROW_CALL(name_, type_, failure_)                                    \
    type_ tw__row_##name_(const tw_signature *signature, const void *given) \
    {                                                                       \
        COMPLETE(signature, given, failure_);                               \
        return ((type_(*)(const void *))signature->body)(args);             \
    }

ROW_CALL(status, tw_status, tw_error_code())
ROW_CALL(bool, bool, false)
ROW_CALL(int, int64_t, 0)
ROW_CALL(float, double, 0)
ROW_CALL(dtype, tw_dtype, TW_DTYPE_NONE)
ROW_CALL(shape, tw_shape, TW_UNKNOWN_SHAPE)
ROW_CALL(tensors, tw_tensors, (tw_tensors){ 0 })
ROW_CALL(objects, tw_objects, (tw_objects){ 0 })
ROW_CALL(value, tw_value, (tw_value){ 0 })

void *tw__row_object(const tw_signature *signature, const void *given)
{
    COMPLETE(signature, given, NULL);
    return tw_class_make(signature->class_row, args);
}
