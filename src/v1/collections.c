/* Collections of tensors: losses, updates, whatever functions of TensorFlow 1 note under a name for those who ask later. Where
 * the program is written in another language, that keeps them, for it may note anything; else the graph does, without holding
 * itself. */
#include "base/language.h"
#include "v1/v1.h"
#include "v1/variable_scope.h"

tw_status tw__v1_keep(tw__variable_store *store, const char *name, const tw_tensor *tensor)
{
    TW_TRY(TW_GROW(store->kept, store->kept_capacity, store->kept_count + 1));
    char *own = tw__strdup(name);
    if (!own)
        return TW_RESOURCE_EXHAUSTED;
    store->kept[store->kept_count++] = (tw__v1_kept){ own, { tensor->node, tensor->node_output } };
    return TW_OK;
}

tw_status tw__v1_collect(const char *name, tw_tensor *tensor)
{
    if (!name || !*name || !tensor || !tensor->node)
        return TW_OK;
    if (tw__language.collect)
        return tw__language.collect(name, tensor);
    tw__variable_store *store = tw__variable_store_now();
    return store ? tw__v1_keep(store, name, tensor) : tw__error_status();
}

tw_status tw__v1_collect_in(const tw_value *names, tw_tensor *tensor)
{
    bool listed = names->kind == TW_VALUE_LIST || names->kind == TW_VALUE_TUPLE;
    if (names->kind == TW_VALUE_NONE)
        return TW_OK;
    for (int64_t i = 0; i < (listed ? names->list.count : 1); i++) {
        const tw_value *name = listed ? &names->list.items[i] : names;
        if (name->kind != TW_VALUE_STR)
            return tw__fail(TW_TYPE_ERROR, "the name of a collection is a text");
        char *text = tw__strndup(name->s.data, name->s.size);
        tw_status status = text ? tw__v1_collect(text, tensor) : TW_RESOURCE_EXHAUSTED;
        tw__free(text);
        TW_TRY(status);
    }
    return TW_OK;
}

TW_API(v1_collected, "compat.v1._collected(name: str) -> tensors",
       "What the library's functions have put into a collection of the default graph, in a program of C: \"losses\", "
       "\"regularization_losses\", …")
{
    tw__variable_store *store = tw__variable_store_now();
    tw_tensors list = { store ? tw__alloc_array(store->kept_count + 1, sizeof(tw_tensor *)) : NULL, 0 };
    for (size_t i = 0; list.items && i < store->kept_count; i++) {
        const tw__v1_kept *kept = &store->kept[i];
        if (strcmp(kept->name, args->name) == 0)
            list.items[list.count++] = tw__node_output(kept->edge.node, kept->edge.output);
    }
    return list;
}
