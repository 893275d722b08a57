/* Which node the next ones belong to: TensorFlow's `_class` in NodeDefs. Operations run where they run whatever it says. */
#include "rows.h"
#include "session/session.h"

enum { DEEPEST = 64 };

static _Thread_local const char *outer[DEEPEST]; /* what was said outside of each scope */
static _Thread_local int depth;

TW_API(push_colocation, "compat.v1._push_colocation(operation: operation)",
       "Operations that the thread makes from now on say that they belong to this one, which must live as long.")
{
    const tw__node *node = args->operation->node;
    if (depth == DEEPEST)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "colocate_with: more than %d scopes inside each other", DEEPEST);
    outer[depth++] = tw__colocate(node->colocation ? node->colocation : node->name);
    return TW_OK;
}

TW_API(pop_colocation, "compat.v1._pop_colocation()", "Ends what the last push_colocation began.")
{
    if (depth == 0)
        return tw__fail(TW_FAILED_PRECONDITION, "colocate_with: no scope is open");
    tw__colocate(outer[--depth]);
    return TW_OK;
}
