/* Loading Keras models from SavedModels; see saved_model.c. */
#include <dirent.h>
#include <sys/stat.h>

#include <thalweg/keras.h>

#include "keras/layers/allowance.h"
#include "keras/layers/preprocessing/lookup.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

/* ---- the metadata of the root ---- */

/* {"class_name": "__tuple__" or "TensorShape", "items": […]} becomes a tuple. */
static void make_tuples(tw_value *value)
{
    if (value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE && value->kind != TW_VALUE_DICT)
        return;
    for (int64_t i = 0; i < value->list.count; i++)
        make_tuples(&value->list.items[i]);
    const char *name = value->kind == TW_VALUE_DICT ? tw__value_text(value, "class_name") : NULL;
    const tw_value *items = name ? tw__value_get(value, "items") : NULL;
    if (!items || items->kind != TW_VALUE_LIST || (strcmp(name, "__tuple__") != 0 && strcmp(name, "TensorShape") != 0))
        return;
    tw_value tuple = tw__value_copy(items);
    tuple.kind = TW_VALUE_TUPLE;
    tw_value_free(value);
    *value = tuple;
}

/* What a file says of one Keras object. */
typedef struct keras_node {
    uint64_t id;
    tw_string path, json; /* "root.layer-0" */
} keras_node;
typedef tw_status (*keras_visitor)(void *context, const keras_node *node);

static tw_status each_of_file(const char *path, keras_visitor visit, void *context)
{
    size_t size = 0;
    tw__owned char *bytes = tw__file_read_all(path, (size_t)1 << 30, &size);
    TW_NEED(bytes);
    tw__SavedMetadata from = { 0 };
    tw_string whole = { bytes, size };
    tw__owned char *merged = NULL;
    if (!tw__message_merge(&tw__type_SavedMetadata, &whole, &merged))
        return tw__error_status();
    bool good = tw__read_SavedMetadata(whole, &from);
    for (tw__SavedMetadata_SavedObject node; tw__next_message(&from.nodes, &tw__type_SavedMetadata_SavedObject, &node);)
        TW_TRY(visit(context, &(keras_node){ (uint64_t)(int64_t)node.node_id, node.node_path, node.metadata }));
    if (!good || from.nodes.failed)
        return tw__fail(TW_DATA_LOSS, "%s: the field nodes can't be read: the file is damaged", path);
    return TW_OK;
}

/* Files of TensorFlow before 2.5 have the metadata in the object graph, which tells no paths. */
static tw_status each_of_objects(const char *directory, keras_visitor visit, void *context)
{
    tw__saved_model_message message;
    tw_status status = tw__saved_model_message_read(&message, directory, NULL, 0);
    for (size_t i = 0; status == TW_OK && i < message.node_count; i++) {
        const tw__object_message *node = &message.nodes[i];
        tw__SavedUserObject from;
        bool keras = node->kind == TW_OBJECT_USER && tw__read_SavedUserObject(node->body, &from) && from.identifier.size > 10 &&
                     memcmp(from.identifier.data, "_tf_keras_", 10) == 0;
        keras_node found = { i, { "", 0 }, keras ? from.metadata : (tw_string){ "", 0 } };
        if (keras && !found.json.size)
            status = tw__fail(
                TW_VALUE_ERROR,
                "Unable to create a Keras model from SavedModel at %s. This SavedModel was exported with "
                "`tf.saved_model.save`, and lacks the Keras metadata file. Please save your Keras model by calling `model.save`or "
                "`tf.keras.models.save_model`. Note that you can still load this SavedModel with `tf.saved_model.load`.",
                directory);
        else if (keras)
            status = visit(context, &found);
    }
    tw__saved_model_message_free(&message);
    return status;
}

/* Every Keras object of a SavedModel. *old: there is no file of metadata. */
static tw_status each_keras_node(const char *directory, keras_visitor visit, void *context, bool *old)
{
    tw__owned char *path = tw__path_join(directory, "keras_metadata.pb");
    if (!path)
        return TW_RESOURCE_EXHAUSTED;
    *old = !tw__path_exists(path);
    tw_status status = *old ? each_of_objects(directory, visit, context) : each_of_file(path, visit, context);
    return status;
}

static tw_status take_root(void *context, const keras_node *node)
{
    tw_value *metadata = context;
    return node->id == 0 && metadata->kind == TW_VALUE_NONE ? tw__value_parse(node->json.data, node->json.size, metadata) : TW_OK;
}

/* The JSON of node 0, as a value. */
static tw_status read_root(const char *directory, tw_value *metadata)
{
    bool old = false;
    *metadata = (tw_value){ .kind = TW_VALUE_NONE };
    TW_TRY(each_keras_node(directory, take_root, metadata, &old));
    if (old)
        tw__log(
            "WARNING",
            "SavedModel saved prior to TF 2.5 detected when loading Keras model. Please ensure that you are saving the model with "
            "model.save() or tf.keras.models.save_model(), *NOT* tf.saved_model.save(). To confirm, there should be a file named "
            "\"keras_metadata.pb\" in the SavedModel directory.");
    if (metadata->kind != TW_VALUE_DICT)
        return tw__fail(TW_VALUE_ERROR, "%s: the root of this SavedModel is no Keras object; load it with `tf.saved_model.load`",
                        directory);
    make_tuples(metadata);
    return TW_OK;
}

static tw_status count_node(void *context, const keras_node *node)
{
    (void)node;
    ++*(int64_t *)context;
    return TW_OK;
}

TW_API(keras_object_count, "keras.models._object_count(filepath: str) -> int", "How many Keras objects a SavedModel holds.")
{
    int64_t count = 0;
    bool old;
    return each_keras_node(args->filepath, count_node, &count, &old) == TW_OK ? count : -1;
}

/* ---- of the config ---- */

static tw_layer *model_of_config(const tw_value *metadata)
{
    const tw_value *config = tw__value_get(metadata, "config"), *shape_value = tw__value_get(metadata, "build_input_shape");
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", tw__value_text(metadata, "class_name"));
    tw__dict_put(&dict, "config", config ? tw__value_copy(config) : (tw_value){ .kind = TW_VALUE_NONE });
    tw_value entry = tw__dict_take(&dict);
    void *made = entry.kind == TW_VALUE_DICT ? tw__deserialize(&entry, "model") : NULL;
    tw_value_free(&entry);
    if (made && !tw__is(made, &tw__class_layer)) {
        tw__fail(TW_VALUE_ERROR, "the metadata describes a %s, which is no model", tw_class_name(made));
        tw_release(made);
        return NULL;
    }
    tw_layer *model = made;
    if (model && tw_class_of(model) == &tw__class_model && !model->foreign_call && !((const tw__model *)model)->call) {
        tw__fail_because(TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR, "Unknown model: its class says nothing of what it does");
        tw_release(model);
        return NULL;
    }
    tw_shape shape, output;
    if (!model || model->built || !shape_value)
        return model;
    bool good = tw__shape_of_value(shape_value, &shape) == TW_OK;
    if (good && shape.rank >= 0) {
        good = tw__layer_run_on_zeros(model, &shape, &output) == TW_OK;
        model->built = good;
    }
    if (good)
        return model;
    tw_release(model);
    return NULL;
}

static tw_status restore_weights(tw_layer *model, const char *directory)
{
    tw__owned char *prefix = tw__path_join(directory, "variables/variables");
    tw__saving_view view = { .root = &model->trackable };
    tw_auto tw__restore *restored = prefix ? tw__restore_start(prefix, &view) : NULL;
    tw_variable **variables = NULL;
    int64_t count = 0;
    tw_status status =
        restored ? tw__collect_variables(&model->trackable, TW_ALL_VARIABLES, &variables, &count) : tw__error_status();
    if (restored)
        restored->expect_partial = true;
    if (status == TW_OK)
        status = tw__keras_restore_states(model);
    if (status == TW_OK)
        status = tw__preprocessing_finalize_all(&model->trackable);
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (!tw__restored_by(&variables[i]->trackable))
            status = tw__fail(TW_DATA_LOSS, "%s: has no value for the weight '%s' of model '%s'", prefix, variables[i]->name,
                              model->name);
    }
    tw__free(variables);
    tw__restore_forget_child(&model->trackable, "optimizer"); /* it begins anew, as in Keras */
    return status;
}

/* ---- vocabularies that layers learnt: the tables of the file ---- */

static tw_status take_tables(tw_trackable *own, tw_trackable *saved, tw__pointer_map *seen)
{
    if (tw__pointer_map_get(seen, own, 0))
        return TW_OK;
    TW_TRY(tw__pointer_map_put(seen, own, 1));
    if (tw__is(own, &tw__class_layers_index_lookup)) {
        tw__lookup_layer *layer = (tw__lookup_layer *)own;
        tw_trackable *table = tw__tracked(saved, "lookup_table");
        bool learnt = tw__lookup_settings_of(layer).vocabulary->kind == TW_VALUE_NONE;
        return learnt && table && tw__is(table, &tw__class_lookup_table)
                   ? tw__vocabulary_of_table(layer, (struct tw_lookup_table *)table)
                   : TW_OK;
    }
    for (size_t i = 0; i < own->child_count; i++) {
        tw_trackable *child = (tw_trackable *)own->children[i].object, *other = tw__tracked(saved, own->children[i].name);
        bool inside = tw__is(child, &tw__class_layer) || tw__is(child, &tw__container_class);
        if (other && inside)
            TW_TRY(take_tables(child, other, seen));
    }
    return TW_OK;
}

static tw_status restore_tables(tw_layer *model, const char *directory)
{
    tw__owned tw_layer **layers = NULL;
    int64_t count = 0;
    bool any = false;
    TW_TRY(tw__collect_layers(&model->trackable, true, &layers, &count));
    for (int64_t i = 0; i < count; i++)
        any |= tw__is(layers[i], &tw__class_layers_index_lookup);
    if (!any)
        return TW_OK;
    tw_auto tw_saved_object *root = tw__saved_model_load(directory, NULL, 0);
    TW_NEED(root);
    tw__pointer_map seen = { 0 };
    tw_status status = take_tables(&model->trackable, &root->trackable, &seen);
    tw__pointer_map_free(&seen);
    return status;
}

/* ---- of the functions ---- */

/* What is made of the file's objects: lists whose variables count as the model's, and layers that call the functions they were
 * saved with. */
typedef struct reviving {
    tw_saved_object *root;
    tw__pointer_map names; /* object -> place in the list */
    char **list;           /* names of layers */
    size_t count, capacity;
    tw__pointer_map made; /* object -> layer or container, borrowed from `keep` */
    tw_trackable **keep;
    size_t keep_count, keep_capacity;
} reviving;

/* Follows "root.layer-0"; NULL: there is no such object. */
static tw_trackable *find_by_path(const reviving *r, tw_string path)
{
    tw_trackable *at = &r->root->trackable;
    const char *end = path.data + path.size, *from = memchr(path.data, '.', path.size);
    while (at && from && from < end) {
        const char *dot = memchr(from + 1, '.', (size_t)(end - from - 1)), *stop = dot ? dot : end;
        char *name = tw__strndup(from + 1, (size_t)(stop - from - 1));
        at = name ? tw__tracked(at, name) : NULL;
        tw__free(name);
        from = dot;
    }
    return at;
}

static tw_status note_layer(void *context, const keras_node *node)
{
    reviving *r = context;
    tw_trackable *object = node->id && node->path.size ? find_by_path(r, node->path) : NULL;
    tw_value metadata = { .kind = TW_VALUE_NONE };
    if (!object || !tw__is(object, &tw__class_saved_object) || !strstr(((tw_saved_object *)object)->identifier, "_tf_keras_") ||
        strstr(((tw_saved_object *)object)->identifier, "metric"))
        return TW_OK;
    TW_TRY(tw__value_parse(node->json.data, node->json.size, &metadata));
    const char *name = metadata.kind == TW_VALUE_DICT ? tw__value_text(&metadata, "name") : NULL;
    tw_status status = TW_GROW(r->list, r->capacity, r->count + 1);
    if (status == TW_OK && (r->list[r->count] = tw__strdup(name ? name : "layer")))
        status = tw__pointer_map_put(&r->names, object, (int64_t)r->count++);
    tw_value_free(&metadata);
    return status;
}

/* Borrowed. */
static tw_trackable *revived(reviving *r, tw_trackable *object, int depth);

static tw_status revive_children(reviving *r, tw_trackable *into, const tw_trackable *from, int depth)
{
    for (size_t i = 0; i < from->child_count; i++) {
        const char *name = from->children[i].name;
        if (from == &r->root->trackable && (strcmp(name, "signatures") == 0 || strcmp(name, "optimizer") == 0))
            continue;
        tw_trackable *child = revived(r, (tw_trackable *)from->children[i].object, depth);
        TW_TRY(child ? tw__track(into, name, child) : tw__error_status());
    }
    return TW_OK;
}

static void note_input(tw_layer *model);

static tw_layer *make_revived(const char *name)
{
    tw_revived_args args = TW_ARGS(revived, .name = name);
    return tw_class_make(&tw__class_revived, &args);
}

static tw_trackable *revived(reviving *r, tw_trackable *object, int depth)
{
    int64_t named = tw__pointer_map_get(&r->names, object, -1), place = tw__pointer_map_get(&r->made, object, -1);
    bool list = tw__is(object, &tw__class_saved_object) &&
                strcmp(((const tw_saved_object *)object)->identifier, "trackable_list_wrapper") == 0;
    if (place >= 0)
        return r->keep[place];
    if ((named < 0 && !list) || depth > 100)
        return object;
    tw_layer *layer = named >= 0 ? make_revived(r->list[named]) : NULL;
    tw_trackable *made = named >= 0 ? &layer->trackable : tw__container_new();
    bool kept = made && TW_GROW(r->keep, r->keep_capacity, r->keep_count + 1) == TW_OK;
    if (!kept) {
        tw_release(made);
        return NULL;
    }
    r->keep[r->keep_count] = made;
    if (tw__pointer_map_put(&r->made, object, (int64_t)r->keep_count++) != TW_OK ||
        revive_children(r, made, object, depth + 1) != TW_OK)
        return NULL;
    if (layer) {
        layer->built = true;
        note_input(layer);
    }
    return made;
}

static void reviving_end(reviving *r)
{
    for (size_t i = 0; i < r->count; i++)
        tw__free(r->list[i]);
    for (size_t i = 0; i < r->keep_count; i++)
        tw_release(r->keep[i]);
    tw__free(r->list);
    tw__free(r->keep);
    tw__pointer_map_free(&r->names);
    tw__pointer_map_free(&r->made);
    tw_release(r->root);
}

/* What the model was called with when it was saved. */
static void note_input(tw_layer *model)
{
    const tw_value *specs = tw__revived_input(model);
    tw_spec spec;
    if (!specs || !tw__value_spec(specs, &spec))
        return;
    model->batch_input_shape = spec.shape;
    ((tw__model *)model)->input_dtype = spec.dtype;
}

static tw_layer *revive(const tw_value *metadata, const char *directory)
{
    reviving r = { .root = tw__saved_model_load(directory, NULL, 0) };
    const char *name = tw__value_text(metadata, "name");
    tw_layer *model = r.root ? make_revived(name) : NULL;
    bool old;
    tw_status status = model ? each_keras_node(directory, note_layer, &r, &old) : tw__error_status();
    if (status == TW_OK)
        status = revive_children(&r, &model->trackable, &r.root->trackable, 0);
    if (model) {
        model->built = true;
        note_input(model);
    }
    reviving_end(&r);
    if (status == TW_OK)
        return model;
    tw_release(model);
    return NULL;
}

/* ---- training ---- */

static tw_status read_training(const char *directory, const tw_value *metadata, tw_value *arguments)
{
    const tw_value *found = tw__value_get(metadata, "training_config");
    tw__auto(tw_value_free) tw_value config = found ? tw__value_copy(found) : (tw_value){ .kind = TW_VALUE_NONE };
    tw_status status = tw__keras_training_arguments(directory, &config, tw__value_get(metadata, "model_config"), arguments);
    return status;
}

tw_status tw__model_training_tf(const char *directory, tw_value *arguments)
{
    tw_value metadata;
    *arguments = (tw_value){ .kind = TW_VALUE_NONE };
    tw_status status = read_root(directory, &metadata);
    if (status == TW_OK)
        status = read_training(directory, &metadata, arguments);
    tw_value_free(&metadata);
    return status;
}

static tw_status compile(tw_layer *model, const char *directory, const tw_value *metadata)
{
    tw_value arguments;
    TW_TRY(read_training(directory, metadata, &arguments));
    tw_status status = TW_OK;
    if (arguments.kind == TW_VALUE_DICT)
        status = tw__keras_compile_with(model, &arguments);
    else
        tw__log("WARNING", "No training configuration found in save file, so the model was *not* compiled. Compile it manually.");
    tw_value_free(&arguments);
    return status;
}

/* The bytes of the files of variables: their weights have no more elements. */
static int64_t stored_bytes(const char *directory)
{
    int64_t sum = 0;
    tw__owned char *folder = tw__path_join(directory, "variables");
    DIR *listing = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        struct stat info;
        if (fstatat(dirfd(listing), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            sum += info.st_size;
    }
    if (listing)
        closedir(listing);
    return sum;
}

tw_layer *tw__model_load_tf(const char *directory, bool with_training)
{
    tw_value metadata;
    tw_layer *model = NULL;
    if (read_root(directory, &metadata) == TW_OK) {
        int64_t before = tw__weights_allow(stored_bytes(directory) + TW_H5_UNSAVED);
        model = model_of_config(&metadata);
        tw__weights_allow(before);
        if (model && (restore_weights(model, directory) != TW_OK || restore_tables(model, directory) != TW_OK ||
                      tw__keras_attach_others(model, directory) != TW_OK)) {
            tw_release(model);
            model = NULL;
        } else if (!model && (tw__error_now()->reason == TW_REASON_UNKNOWN_NAME || tw__error_now()->reason == TW_REASON_CODE)) {
            /* Its functions are in the file, too: they need neither classes nor code. */
            tw_clear_error();
            model = revive(&metadata, directory);
        }
    }
    if (model && with_training && compile(model, directory, &metadata) != TW_OK) {
        tw_release(model);
        model = NULL;
    }
    tw_value_free(&metadata);
    return model;
}
