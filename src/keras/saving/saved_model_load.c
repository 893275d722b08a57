/* Loading Keras models from SavedModels; see saved_model.c. */
#include <thalweg/keras.h>

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

/* The JSON of node 0, as a value. */
static tw_status read_root(const char *directory, tw_value *metadata)
{
    char *path = tw__path_join(directory, "keras_metadata.pb");
    size_t size = 0;
    *metadata = (tw_value){ .kind = TW_VALUE_NONE };
    if (path && !tw__path_exists(path)) {
        tw__free(path);
        return tw__fail(TW_VALUE_ERROR, "Unable to create a Keras model from SavedModel at %s. This SavedModel was exported with `tf.saved_model.save`, and "
                        "lacks the Keras metadata file. Please save your Keras model by calling `model.save`or `tf.keras.models.save_model`. Note that "
                        "you can still load this SavedModel with `tf.saved_model.load`.", directory);
    }
    char *bytes = path ? tw__file_read_all(path, (size_t)1 << 30, &size) : NULL;
    tw_status status = bytes ? TW_OK : tw__error_status();
    tw__proto proto = tw__proto_read(bytes, size);
    tw__proto_field f, g;
    while (status == TW_OK && metadata->kind == TW_VALUE_NONE && tw__proto_next(&proto, &f)) {
        if (f.number != 1 || f.wire != TW_WIRE_BYTES)
            continue;
        tw__proto node = tw__proto_nested(&f);
        uint64_t id = 0;
        tw_string json = { "", 0 };
        while (tw__proto_next(&node, &g)) {
            if (g.number == 2 && g.wire == TW_WIRE_VARINT)
                id = g.value;
            else if (g.number == 5 && g.wire == TW_WIRE_BYTES)
                json = (tw_string){ (const char *)g.data, g.size };
        }
        if (node.failed)
            status = tw__fail(TW_DATA_LOSS, "%s: the field nodes can't be read: the file is damaged", path);
        else if (id == 0)
            status = tw__value_parse(json.data, json.size, metadata);
    }
    if (status == TW_OK && metadata->kind != TW_VALUE_DICT)
        status = tw__fail(TW_DATA_LOSS, "%s: there is no metadata of the root", path);
    make_tuples(metadata);
    tw__free(bytes);
    tw__free(path);
    return status;
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
        tw__fail(TW_VALUE_ERROR, "Unknown model: its class says nothing of what it does");
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
    char *prefix = tw__path_join(directory, "variables/variables");
    tw__saving_view view = { .root = &model->trackable };
    tw__restore *restored = prefix ? tw__restore_start(prefix, &view) : NULL;
    tw_variable **variables = NULL;
    int64_t count = 0;
    tw_status status = restored ? tw__collect_variables(&model->trackable, TW_ALL_VARIABLES, &variables, &count) : tw__error_status();
    if (restored)
        restored->expect_partial = true;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (!tw__restored_by(&variables[i]->trackable))
            status = tw__fail(TW_DATA_LOSS, "%s: has no value for the weight '%s' of model '%s'", prefix, variables[i]->name, model->name);
    }
    tw__free(variables);
    tw__restore_forget_child(&model->trackable, "optimizer"); /* it begins anew, as in Keras */
    tw_release(restored);
    tw__free(prefix);
    return status;
}

/* ---- of the functions ---- */

/* The trace for training or not; the result. */
static tw_tensor *call_revived(tw_model *self, tw_tensor *input, int training, void *state)
{
    (void)state;
    tw_saved_function *function = (tw_saved_function *)tw__tracked(&self->trackable, "__call__");
    if (!function || !tw__is(function, &tw__class_saved_function)) {
        tw__fail(TW_VALUE_ERROR, "Cannot call custom layer %s, because the call function was not serialized to the SavedModel.", self->name);
        return NULL;
    }
    for (size_t i = 0; i < function->concrete_count; i++) {
        const tw_value *inputs = &function->concretes[i]->inputs;
        const tw_value *positional = inputs->kind == TW_VALUE_TUPLE && inputs->list.count == 2 ? &inputs->list.items[0] : NULL;
        const tw_value *named = positional ? &inputs->list.items[1] : NULL;
        const tw_value *said = positional && positional->list.count > 1 ? &positional->list.items[1] : named ? tw__value_get(named, "training") : NULL;
        if (said && said->kind == TW_VALUE_BOOL && said->b != (training == 1))
            continue;
        tw__function *f = tw__saved_concrete_build(function->concretes[i]);
        if (!f)
            return NULL;
        tw_tensor *output = NULL;
        if (f->argument_count != 1 || f->output_count != 1 || f->inputs[0]->out_dtypes[0] != input->dtype)
            continue;
        return tw__function_call(f, &input, &output) == TW_OK ? output : NULL;
    }
    tw__fail(TW_VALUE_ERROR, "model \"%s\" was saved without a function for a %s input", self->name, tw_dtype_name(input->dtype));
    return NULL;
}

/* A list of a file as one whose variables count as the model's. */
static tw_trackable *child_of_model(tw_object *object)
{
    if (!tw__is(object, &tw__class_saved_object) || strcmp(((const tw_saved_object *)object)->identifier, "trackable_list_wrapper") != 0)
        return tw_retain(object);
    const tw_trackable *list = &((const tw_saved_object *)object)->trackable;
    tw_trackable *container = tw__container_new();
    for (size_t i = 0; container && i < list->child_count; i++) {
        if (tw__track(container, list->children[i].name, list->children[i].object) != TW_OK) {
            tw_release(container);
            return NULL;
        }
    }
    return container;
}

/* What the model was called with when it was saved. */
static void note_input(tw_layer *model)
{
    const tw_saved_function *function = (const tw_saved_function *)tw__tracked(&model->trackable, "__call__");
    bool known = function && tw__is(function, &tw__class_saved_function) && function->concrete_count;
    const tw_value *inputs = known ? &function->concretes[0]->inputs : NULL;
    tw_spec spec;
    if (!inputs || inputs->kind != TW_VALUE_TUPLE || !inputs->list.count || inputs->list.items[0].kind != TW_VALUE_TUPLE ||
        !inputs->list.items[0].list.count || !tw__value_spec(&inputs->list.items[0].list.items[0], &spec))
        return;
    model->batch_input_shape = spec.shape;
    ((tw__model *)model)->input_dtype = spec.dtype;
}

static tw_layer *revive(const tw_value *metadata, const char *directory)
{
    tw_saved_object *root = tw__saved_model_load(directory, NULL, 0);
    const char *name = tw__value_text(metadata, "name");
    tw_layer *model = root ? tw_model_new(call_revived, NULL, .name = name) : NULL;
    tw_status status = model ? TW_OK : tw__error_status();
    for (size_t i = 0; status == TW_OK && i < root->trackable.child_count; i++) {
        const char *name_of_child = root->trackable.children[i].name;
        if (strcmp(name_of_child, "signatures") == 0 || strcmp(name_of_child, "optimizer") == 0)
            continue;
        tw_trackable *child = child_of_model(root->trackable.children[i].object);
        status = child ? tw__track(&model->trackable, name_of_child, child) : tw__error_status();
        tw_release(child);
    }
    if (model) {
        model->built = true;
        note_input(model);
    }
    tw_release(root);
    if (status == TW_OK)
        return model;
    tw_release(model);
    return NULL;
}

/* ---- training ---- */

static tw_status read_training(const char *directory, const tw_value *metadata, tw_value *arguments)
{
    const tw_value *found = tw__value_get(metadata, "training_config");
    tw_value config = found ? tw__value_copy(found) : (tw_value){ .kind = TW_VALUE_NONE };
    tw_status status = tw__keras_training_arguments(directory, &config, tw__value_get(metadata, "model_config"), arguments);
    tw_value_free(&config);
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

tw_layer *tw__model_load_tf(const char *directory, bool with_training)
{
    tw_value metadata;
    tw_layer *model = NULL;
    if (read_root(directory, &metadata) == TW_OK) {
        model = model_of_config(&metadata);
        if (model && restore_weights(model, directory) != TW_OK) {
            tw_release(model);
            model = NULL;
        } else if (!model && tw_error_code() == TW_VALUE_ERROR && strstr(tw_error_message(), "Unknown ")) {
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
