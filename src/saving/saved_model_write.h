/* What the two halves of writing a SavedModel share: the graph of sessions (saved_model_graph.c) and the rest
 * (saved_model_write.c). */
#ifndef TW_SAVED_MODEL_WRITE_H
#define TW_SAVED_MODEL_WRITE_H

#include "saving/saved_model.h"

typedef struct tw__model_writing {
    const tw__object_walk *walk;
    tw__saved_gradients *gradients;
    tw__graph *graph;
    tw_tensor **handles;      /* by node of the walk: the VarHandleOp; references */
    tw__function **functions; /* what object functions are, in order; borrowed */
    size_t function_count, function_capacity;
    tw__map function_names;
    tw__function *save, *restore;
    tw_saved_constant **assets; /* borrowed */
    size_t asset_count, asset_capacity;
    tw__pointer_map asset_places;
    tw__map constants; /* "i" -> name of the Const */
    tw__text signatures, saver;
} tw__model_writing;

/* Makes the graph, the SignatureDefs and the SaverDef. */
tw_status tw__saved_model_graph(tw__model_writing *w, const tw_saved_object *signatures);

static inline void tw__put_text(tw__text *text, uint32_t number, const char *string)
{
    if (*string)
        tw__proto_add_bytes(text, number, string, strlen(string));
}

static inline void tw__put_message(tw__text *text, uint32_t number, tw__text *inner)
{
    tw__proto_add_bytes(text, number, inner->data, inner->size);
    text->failed |= inner->failed;
    tw__text_free(inner);
}

/* A map's entry; takes the value. */
static inline void tw__put_entry(tw__text *text, uint32_t number, const char *key, tw__text *value)
{
    tw__text entry = { 0 };
    tw__put_text(&entry, TW_ENTRY_KEY, key);
    tw__put_message(&entry, TW_ENTRY_VALUE, value);
    tw__put_message(text, number, &entry);
}

#endif
