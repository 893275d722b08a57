/* keras_metadata.pb: what Keras makes a model of again; see saved_model.c. */
#include "keras/layers/preprocessing/lookup.h"
#include "keras/models/training.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

/* ---- words ---- */

const char *tw__keras_identifier(const tw_trackable *object)
{
    if (tw__is(object, &tw__class_sequential))
        return "_tf_keras_sequential";
    if (tw__is(object, &tw__class_functional))
        return "_tf_keras_network";
    if (tw__is(object, &tw__class_model))
        return "_tf_keras_model";
    if (tw__is(object, &tw__class_layers_input_layer))
        return "_tf_keras_input_layer";
    return tw__is(object, &tw__class_layer) ? "_tf_keras_layer" : NULL;
}

/* ---- metadata ---- */

static void put_bool(tw__dict *dict, const char *key, bool value)
{
    tw__dict_put(dict, key, (tw_value){ .kind = TW_VALUE_BOOL, .b = value });
}

/* A TensorShape, or a list of them. */
static tw_value shape_entry(const tw_value *shape)
{
    tw__dict dict = { 0 };
    bool list = shape->kind == TW_VALUE_LIST || shape->kind == TW_VALUE_TUPLE;
    int first = list && shape->list.count ? (int)shape->list.items[0].kind : TW_VALUE_NONE;
    if (first == TW_VALUE_LIST || first == TW_VALUE_TUPLE || first == TW_VALUE_SHAPE) {
        tw_value all = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)shape->list.count, sizeof(tw_value)), 0 } };
        for (; all.list.items && all.list.count < shape->list.count; all.list.count++)
            all.list.items[all.list.count] = shape_entry(&shape->list.items[all.list.count]);
        return all;
    }
    tw__dict_put_str(&dict, "class_name", "TensorShape");
    tw_value items = tw__value_copy(shape);
    if (items.kind == TW_VALUE_SHAPE) {
        tw_value_free(&items);
        items = tw__shape_value(shape->shape);
    }
    tw__dict_put(&dict, "items", items);
    return tw__dict_take(&dict);
}

/* The class and config of a layer; a class that does not say its config has none. */
static tw_value class_and_config(tw_layer *layer)
{
    tw_value entry = tw__serialize(layer, tw__is(layer, &tw__class_model) ? "keras" : "keras.layers");
    bool plain_model = tw__is(layer, &tw__class_model) && strcmp(tw__keras_identifier(&layer->trackable), "_tf_keras_model") == 0;
    if (entry.kind == TW_VALUE_DICT && !plain_model)
        return entry;
    const char *known = tw__is(layer, &tw__class_revived) ? "Model"
                        : entry.kind == TW_VALUE_DICT     ? tw__value_text(&entry, "class_name")
                                                          : NULL;
    tw__owned char *name = tw__strdup(known ? known : tw_class_name(layer));
    tw_value_free(&entry);
    tw_clear_error();
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", name);
    tw__dict_put(&dict, "config", (tw_value){ .kind = TW_VALUE_DICT });
    return tw__dict_take(&dict);
}

/* A vocabulary is kept as a table, which must not be filled twice: the config tells only that it was given. */
static tw_value config_entry(tw_layer *layer, const tw_value *config)
{
    const tw__lookup_layer *lookup = tw__lookup_of(layer);
    tw_value copy = tw__value_copy(config);
    if (!lookup || copy.kind != TW_VALUE_DICT)
        return copy;
    tw__value_drop(&copy, "vocabulary");
    tw__dict dict = { .items = copy.list.items, .count = (size_t)copy.list.count, .capacity = (size_t)copy.list.count };
    tw__dict_put(&dict, "vocabulary", (tw_value){ .kind = TW_VALUE_NONE });
    put_bool(&dict, "has_input_vocabulary", lookup->given);
    return tw__dict_take(&dict);
}

static char *metadata_of(tw_layer *layer, bool root)
{
    tw_value entry = class_and_config(layer);
    const tw_value *config = entry.kind == TW_VALUE_DICT ? tw__value_get(&entry, "config") : NULL;
    if (!config)
        return NULL;
    tw__dict dict = { 0 };
    bool network = strcmp(tw__keras_identifier(&layer->trackable), "_tf_keras_model") != 0;
    tw__dict_put_str(&dict, "name", layer->name);
    put_bool(&dict, "trainable", layer->trainable);
    put_bool(&dict, "expects_training_arg", true);
    tw__dict_put(&dict, "dtype", tw__policy_config(tw__layer_policy(layer)));
    tw__dict_put(&dict, "batch_input_shape",
                 layer->batch_input_shape.rank >= 0 ? tw__shape_value(&layer->batch_input_shape)
                                                    : (tw_value){ .kind = TW_VALUE_NONE });
    put_bool(&dict, "must_restore_from_config", tw__is(layer, &tw__class_layers_preprocessing));
    tw__dict_put_str(&dict, "class_name", tw__value_text(&entry, "class_name"));
    tw__dict_put(&dict, "config", config_entry(layer, config));
    if (layer->build_shape.kind != TW_VALUE_NONE)
        tw__dict_put(&dict, "build_input_shape", shape_entry(&layer->build_shape));
    if (root) {
        tw__dict whole = { 0 };
        put_bool(&dict, "is_graph_network", network);
        tw__dict_put_str(&dict, "keras_version", "2.15.0");
        tw__dict_put_str(&dict, "backend", "tensorflow");
        tw__dict_put_str(&whole, "class_name", tw__value_text(&entry, "class_name"));
        tw__dict_put(&whole, "config", tw__value_copy(config));
        tw__dict_put(&dict, "model_config", tw__dict_take(&whole));
        const tw__trainer *trainer = tw__is(layer, &tw__class_model) ? ((const tw__model *)layer)->trainer : NULL;
        if (trainer && trainer->compiled && trainer->optimizer && tw__tracked(&layer->trackable, "optimizer"))
            tw__dict_put(&dict, "training_config", tw__keras_training_config(trainer));
    }
    tw__auto(tw_value_free) tw_value value = tw__dict_take(&dict);
    char *text = value.kind == TW_VALUE_DICT ? tw_value_json(&value) : NULL;
    tw_value_free(&entry);
    return text;
}

static void add_path(tw__text *text, const tw__object_walk *walk, size_t node)
{
    if (node == 0) {
        tw__text_add(text, "root");
        return;
    }
    add_path(text, walk, walk->nodes[node].parent);
    tw__text_format(text, ".%s", walk->nodes[node].name);
}

tw_status tw__keras_metadata(void *context, const tw__object_walk *walk, tw__text *text)
{
    (void)context;
    for (size_t i = 0; i < walk->count; i++) {
        tw_trackable *object = walk->nodes[i].object;
        if (!tw__is(object, &tw__class_layer))
            continue;
        tw__text path = { 0 };
        char *json = metadata_of((tw_layer *)object, i == 0);
        if (!json)
            return tw__error_status();
        const char *identifier = tw__keras_identifier(object);
        add_path(&path, walk, i);
        size_t node = tw__open_SavedMetadata_nodes(text);
        if (i)
            tw__put_SavedMetadata_SavedObject_node_id(text, (int64_t)i);
        tw__put_SavedMetadata_SavedObject_node_path(text, path.data, path.size);
        tw__put_SavedMetadata_SavedObject_identifier(text, identifier, strlen(identifier));
        tw__put_SavedMetadata_SavedObject_metadata(text, json, strlen(json));
        size_t version = tw__open_SavedMetadata_SavedObject_version(text);
        tw__put_VersionDef_producer(text, 2);
        tw__put_VersionDef_min_consumer(text, 1);
        tw__close(text, version);
        tw__close(text, node);
        text->failed |= path.failed;
        tw__text_free(&path);
        tw__free(json);
    }
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
