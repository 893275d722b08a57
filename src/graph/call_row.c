/* C's calls of rows: arguments completed, the row's function called, the nodes it made named. The generated calls of
 * <thalweg/api.h> come here; those whose result is no pointer and no status stand in rows.c. */
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

tw_status tw__row_status(const tw_signature *signature, const void *given)
{
    COMPLETE(signature, given, tw_error_code());
    return ((tw_status(*)(const void *))signature->body)(args);
}

void *tw__row_object(const tw_signature *signature, const void *given)
{
    COMPLETE(signature, given, NULL);
    return tw_class_make(signature->class_row, args);
}
