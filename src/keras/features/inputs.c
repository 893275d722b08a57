/* The features of a call by their keys, as columns want them, and what columns keep in their layer. */
#include "keras/features/features.h"

static void *expanded(tw__features *f, void *value, const tw_shape *shape, const char *key)
{
    tw__temps *t = f->t;
    if (shape->rank == 0 || shape->rank < 0) {
        tw__text text = { 0 };
        if (tw__is(value, &tw__tensor_class))
            tw__tensor_text(&text, value);
        tw__owned char *shown = tw__text_take(&text);
        if (shape->rank == 0)
            tw__fail(TW_VALUE_ERROR, "Feature (key: %s) cannot have rank 0. Given: %s", key, shown ? shown : "");
        else
            tw__fail(TW_UNIMPLEMENTED, "feature columns: the rank of the feature '%s' must be known", key);
        return NULL;
    }
    if (shape->rank > 1)
        return value;
    if (tw__is(value, &tw__tensor_class))
        return TW_TEMP(ExpandDims, (tw_tensor *)value, -1);
    return tw__temp(t, tw_sparse_expand_dims(value, .axis = -1));
}

void *tw__feature(tw__features *f, const char *key)
{
    tw__temps *t = f->t;
    const tw_value *given = tw__value_get(f->given, key);
    if (!given) {
        tw__fail(TW_VALUE_ERROR, "Feature %s is not in features dictionary.", key);
        return NULL;
    }
    if (given->kind == TW_VALUE_OBJECT && tw__is(given->object, &tw__class_sparse_tensor))
        return expanded(f, given->object, &((tw_sparse_tensor *)given->object)->shape, key);
    if (given->kind == TW_VALUE_OBJECT && tw__is_composite(given->object)) {
        tw__fail(TW_TYPE_ERROR, "feature columns: the feature '%s' is a %s; tensors and sparse tensors are supported", key,
                 tw_class_name(given->object));
        return NULL;
    }
    tw_tensor *tensor = tw__temp(t, tw__value_tensor(given, TW_DTYPE_NONE, key));
    return tensor ? expanded(f, tensor, &tensor->shape, key) : NULL;
}

/* What stands for nothing in dense features. */
static tw_tensor *missing_value(tw__temps *t, const tw_tensor *like)
{
    if (like->dtype == TW_STRING)
        return tw__temp(t, tw_tensor_string("", 0));
    return tw__temp(t, tw__grad_constant(tw__dtype_is_integer(like->dtype) ? -1 : 0, like));
}

tw_sparse_tensor *tw__feature_sparse(tw__features *f, const char *key)
{
    tw__temps *t = f->t;
    void *value = tw__feature(f, key);
    if (!value || tw__is(value, &tw__class_sparse_tensor))
        return value;
    tw_tensor *dense = value, *missing = missing_value(t, dense);
    tw_tensor *places = missing ? TW_TEMP(Where, TW_TEMP(NotEqual, dense, missing)) : NULL;
    tw_tensor *values = places ? TW_TEMP(GatherNd, dense, places) : NULL;
    tw_tensor *sizes = values ? tw__temp_shape(t, dense, TW_INT64) : NULL;
    return sizes ? tw__temp(t, tw__sparse_new(places, values, sizes)) : NULL;
}

tw_sparse_tensor *tw__with_values(tw__features *f, tw_sparse_tensor *places, tw_tensor *values)
{
    return values ? tw__temp(f->t, tw__sparse_new(places->indices, values, places->dense_shape)) : NULL;
}

void *tw__feature_state(const tw__features_layer *layer, const tw_feature_column *column)
{
    for (size_t i = 0; i < layer->state_count; i++) {
        if (layer->states[i].column == column)
            return layer->states[i].object;
    }
    tw__fail(TW_INTERNAL, "layer \"%s\": the column %s was not built", layer->layer.name, column->name);
    return NULL;
}

tw_status tw__feature_state_add(tw__features_layer *layer, const tw_feature_column *column, const char *name, void *object)
{
    tw_trackable *own = &layer->layer.trackable;
    tw__owned char *free_name = tw__strdup(name);
    for (int i = 1; free_name && tw__tracked(own, free_name); i++) {
        tw__free(free_name);
        free_name = tw__format("%s_%d", name, i);
    }
    TW_NEED(free_name);
    TW_TRY(TW_GROW(layer->states, layer->state_capacity, layer->state_count + 1));
    TW_TRY(tw__track(own, free_name, object));
    layer->states[layer->state_count++] = (struct tw__feature_state){ column, object };
    return TW_OK;
}
