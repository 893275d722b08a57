/* Weights in HDF5 files: a group per layer with an attribute `weight_names` and arrays of these names; the group above has
 * `layer_names` in the model's order, `backend` and `keras_version`. Variables of the model itself stand in
 * `top_level_model_weights`.
 *
 * Loading goes by the order of the layers that have weights, or by their names. All values are read and checked before the first
 * is set. */
#include "keras/layers/preprocessing/lookup.h"
#include "keras/layers/preprocessing/preprocessing.h"
#include "op/calls.h"
#include "keras/saving/h5.h"

#define TOP_LEVEL "top_level_model_weights"

bool tw__h5_is_path(const char *path)
{
    return tw__ends_with(path, ".h5") || tw__ends_with(path, ".keras") || tw__ends_with(path, ".hdf5");
}

tw__hdf5 *tw__h5_open(const char *path)
{
    if (!tw__path_exists(path)) {
        tw__fail(
            TW_OS_ERROR,
            "[Errno 2] Unable to synchronously open file (unable to open file: name = '%s', errno = 2, error message = 'No such "
            "file or directory', flags = 0, o_flags = 0)",
            path);
        return NULL;
    }
    return tw__hdf5_open(path);
}

tw_status tw__h5_variables(tw_layer *layer, tw_variable ***variables, int64_t *count)
{
    tw_variable **fixed = NULL, **trained = NULL;
    int64_t fixed_count = 0, trained_count = 0;
    *variables = NULL;
    *count = 0;
    tw_status status = tw__collect_variables(&layer->trackable, TW_TRAINABLE_VARIABLES, &trained, &trained_count);
    if (status == TW_OK)
        status = tw__collect_variables(&layer->trackable, TW_NON_TRAINABLE_VARIABLES, &fixed, &fixed_count);
    if (status == TW_OK)
        *variables = tw__alloc_array((size_t)(trained_count + fixed_count) + 1, sizeof **variables);
    if (*variables) {
        if (trained_count)
            memcpy(*variables, trained, (size_t)trained_count * sizeof *trained);
        if (fixed_count)
            memcpy(*variables + trained_count, fixed, (size_t)fixed_count * sizeof *fixed);
        *count = trained_count + fixed_count;
    } else if (status == TW_OK) {
        status = TW_RESOURCE_EXHAUSTED;
    }
    tw__free(trained);
    tw__free(fixed);
    return status;
}

/* What stands on the model itself. */
static tw_status own_variables(tw_layer *model, tw_variable ***variables, int64_t *count)
{
    const tw_trackable *object = &model->trackable;
    *count = 0;
    *variables = tw__alloc_array(object->child_count + model->extra_count + 1, sizeof **variables);
    if (!*variables)
        return TW_RESOURCE_EXHAUSTED;
    for (int trainable = 1; trainable >= 0; trainable--) {
        for (size_t i = 0; i < object->child_count; i++) {
            tw_variable *variable = (tw_variable *)object->children[i].object;
            if (tw__is(variable, &tw__class_variable) && variable->trainable == trainable)
                (*variables)[(*count)++] = variable;
        }
        for (size_t i = 0; i < model->extra_count; i++) {
            if (model->extra[i]->trainable == trainable)
                (*variables)[(*count)++] = model->extra[i];
        }
    }
    return TW_OK;
}

/* ---- saving ---- */

tw_status tw__h5_put_variables(tw__hdf5_node *group, tw_variable *const *variables, int64_t count)
{
    tw__owned const char **names = tw__alloc_array((size_t)count + 1, sizeof *names);
    TW_NEED(names);
    for (int64_t i = 0; i < count; i++)
        names[i] = variables[i]->name;
    return tw__h5_put_named(group, names, variables, count);
}

tw_status tw__h5_put_named(tw__hdf5_node *group, const char *const *names, tw_variable *const *variables, int64_t count)
{
    TW_TRY(tw__hdf5_set_texts(group, "weight_names", names, (size_t)count));
    for (int64_t i = 0; i < count; i++) {
        if (tw__hdf5_find(group, names[i]))
            return tw__fail(TW_VALUE_ERROR,
                            "Unable to create dataset (name already exists): two weights of \"%s\" are named '%s'",
                            group->name ? group->name : "the model", names[i]);
        tw_auto tw_tensor *value = tw__resource_read(variables[i]->resource);
        TW_NEED(value);
        TW_TRY(tw__hdf5_put(group, names[i], value));
    }
    return TW_OK;
}

static tw_status put_layer(tw__hdf5_node *group, tw_layer *layer)
{
    if (tw__hdf5_find(group, layer->name))
        return tw__fail(TW_VALUE_ERROR, "Unable to create group (name already exists): two layers are named \"%s\"", layer->name);
    tw__hdf5_node *own = tw__hdf5_group(group, layer->name);
    tw__owned tw_variable **variables = NULL;
    int64_t count;
    TW_NEED(own);
    TW_TRY(tw__h5_variables(layer, &variables, &count));
    return tw__h5_put_variables(own, variables, count);
}

tw_status tw__h5_put_weights(tw__hdf5_node *group, tw_layer *model)
{
    TW_TRY(tw__lookup_refuse_h5(&model->trackable));
    tw__owned tw_layer **layers = NULL;
    tw__owned tw_variable **own = NULL;
    int64_t count, own_count;
    TW_TRY(tw__collect_layers(&model->trackable, false, &layers, &count));
    tw__owned const char **names = tw__alloc_array((size_t)count + 1, sizeof *names);
    TW_NEED(names);
    for (int64_t i = 0; i < count; i++)
        names[i] = layers[i]->name;
    TW_TRY(tw__hdf5_set_texts(group, "layer_names", names, (size_t)count));
    TW_TRY(tw__hdf5_set_text(group, "backend", "tensorflow", false));
    TW_TRY(tw__hdf5_set_text(group, "keras_version", TW_KERAS_VERSION, false));
    for (int64_t i = 0; i < count; i++)
        TW_TRY(put_layer(group, layers[i]));
    tw__hdf5_node *top = tw__hdf5_group(group, TOP_LEVEL);
    TW_NEED(top);
    TW_TRY(own_variables(model, &own, &own_count));
    return tw__h5_put_variables(top, own, own_count);
}

/* ---- loading ---- */

/* What is to be set, when everything was read. */
typedef struct changes {
    tw_variable **variables; /* references */
    tw_tensor **values;
    size_t count, variable_capacity, value_capacity;
} changes;

static tw_status add_change(changes *list, tw_variable *variable, tw_tensor *value)
{
    TW_TRY(TW_GROW(list->variables, list->variable_capacity, list->count + 1));
    TW_TRY(TW_GROW(list->values, list->value_capacity, list->count + 1));
    list->variables[list->count] = tw_retain(variable);
    list->values[list->count++] = tw_retain(value);
    return TW_OK;
}

tw_status tw__h5_check_shape(const tw_variable *variable, const tw_tensor *value)
{
    if (tw__shape_compatible(&variable->resource->shape, &value->shape))
        return TW_OK;
    tw__owned char *own = tw__shape_tuple(&variable->resource->shape), *given = tw__shape_tuple(&value->shape);
    return tw__fail(
        TW_VALUE_ERROR,
        "Cannot assign value to variable ' %s': Shape mismatch.The variable shape %s, and the assigned value shape %s "
        "are incompatible.",
        variable->name, own ? own : "", given ? given : "");
}

static tw_status apply(const changes *list)
{
    for (size_t i = 0; i < list->count; i++)
        TW_TRY(tw__h5_check_shape(list->variables[i], list->values[i]));
    for (size_t i = 0; i < list->count; i++) {
        tw_auto tw_tensor *cast = tw__cast(list->values[i], list->variables[i]->resource->dtype);
        TW_NEED(cast);
        TW_TRY(tw__variable_set(list->variables[i], cast));
    }
    return TW_OK;
}

tw_tensors tw__h5_values(tw__hdf5 *file, const tw__hdf5_node *group)
{
    size_t count;
    char **names = tw__hdf5_texts(group, "weight_names", file->file.path, &count);
    tw_tensors values = { names ? tw__alloc_array(count + 1, sizeof(tw_tensor *)) : NULL, (int64_t)count };
    bool good = values.items != NULL;
    for (size_t i = 0; good && i < count; i++) {
        const tw__hdf5_node *array = tw__hdf5_find(group, names[i]);
        if (!array)
            tw__fail(TW_KEY_ERROR, "%s: Unable to open object (object '%s' doesn't exist) in the group \"%s\"", file->file.path,
                     names[i], group->name ? group->name : "/");
        good = array && (values.items[i] = tw__hdf5_value(file, array)) != NULL;
    }
    tw__free(names);
    if (!good)
        tw_tensors_free(&values);
    return values;
}

static const tw__hdf5_node *layer_group(const tw__hdf5 *file, const tw__hdf5_node *group, const char *name)
{
    const tw__hdf5_node *found = tw__hdf5_find(group, name);
    if (!found)
        tw__fail(TW_KEY_ERROR, "%s: Unable to open object (object '%s' doesn't exist)", file->file.path, name);
    return found;
}

typedef struct loading {
    tw__hdf5 *file;
    const tw__hdf5_node *group;
    tw_layer **layers;
    int64_t layer_count;
    char **names; /* of the file's layers */
    size_t name_count;
    bool skip;
    changes changes;
} loading;

/* Keeps what has weights: of the model's layers, and of the file's. */
static tw_status keep_weighty(loading *l)
{
    int64_t kept = 0;
    size_t kept_names = 0;
    for (int64_t i = 0; i < l->layer_count; i++) {
        if (tw__has_variables(&l->layers[i]->trackable))
            l->layers[kept++] = l->layers[i];
    }
    l->layer_count = kept;
    for (size_t i = 0; i < l->name_count; i++) {
        const tw__hdf5_node *group = layer_group(l->file, l->group, l->names[i]);
        size_t count;
        tw__owned char **weights = group ? tw__hdf5_texts(group, "weight_names", l->file->file.path, &count) : NULL;
        TW_NEED(weights);
        if (count)
            l->names[kept_names++] = l->names[i];
    }
    l->name_count = kept_names;
    return TW_OK;
}

static tw_status load_in_order(loading *l)
{
    TW_TRY(keep_weighty(l));
    if ((int64_t)l->name_count != l->layer_count)
        return tw__fail(
            TW_VALUE_ERROR,
            "Layer count mismatch when loading weights from file. Model expected %lld layers, found %zu saved layers.",
            (long long)l->layer_count, l->name_count);
    for (size_t i = 0; i < l->name_count; i++) {
        tw__owned tw_variable **variables = NULL;
        int64_t count;
        TW_TRY(tw__h5_variables(l->layers[i], &variables, &count));
        tw__auto(tw_tensors_free) tw_tensors values = tw__h5_values(l->file, layer_group(l->file, l->group, l->names[i]));
        TW_NEED(values.items);
        if (values.count != count)
            return tw__fail(TW_VALUE_ERROR,
                            "Weight count mismatch for layer #%zu (named %s in the current model, %s in the save file). Layer "
                            "expects %lld weight(s). Received %lld saved weight(s)",
                            i, l->layers[i]->name, l->names[i], (long long)count, (long long)values.count);
        for (int64_t k = 0; k < count; k++)
            TW_TRY(add_change(&l->changes, variables[k], values.items[k]));
    }
    return TW_OK;
}

/* Says that a weight's shape is another: a warning, or an error. `where` is "layer #1 (named d)", or NULL for the model's own
 * weights. */
static tw_status report_shape(const loading *l, const char *where, const tw_variable *variable, const tw_tensor *value)
{
    tw__owned char *own = tw__shape_tuple(&variable->resource->shape), *given = tw__shape_tuple(&value->shape);
    tw__owned char *detail = tw__format("%s. Weight expects shape %s. Received saved weight with shape %s", variable->name,
                                        own ? own : "", given ? given : "");
    TW_NEED(detail);
    if (!l->skip)
        return where ? tw__fail(TW_VALUE_ERROR, "Shape mismatch in %s for weight %s", where, detail)
                     : tw__fail(TW_VALUE_ERROR, "Shape mismatch in model for top-level weight %s", detail);
    if (where)
        tw__log("WARNING", "Skipping loading weights for %s due to mismatch in shape for weight %s", where, detail);
    else
        tw__log("WARNING", "Skipping loading top-level weight for model due to mismatch in shape for weight %s", detail);
    return TW_OK;
}

static tw_status change_equal_shapes(loading *l, const char *where, tw_variable *const *variables, const tw_tensors *values)
{
    for (int64_t i = 0; i < values->count; i++) {
        if (tw__shape_equal(&variables[i]->resource->shape, &values->items[i]->shape))
            TW_TRY(add_change(&l->changes, variables[i], values->items[i]));
        else
            TW_TRY(report_shape(l, where, variables[i], values->items[i]));
    }
    return TW_OK;
}

static tw_status load_named(loading *l, size_t number, tw_layer *layer, const tw_tensors *values)
{
    tw__owned tw_variable **variables = NULL;
    int64_t count;
    TW_TRY(tw__h5_variables(layer, &variables, &count));
    tw__owned char *where = tw__format("layer #%zu (named %s)", number, layer->name);
    TW_NEED(where);
    if (values->count == count)
        return change_equal_shapes(l, where, variables, values);
    if (!l->skip)
        return tw__fail(TW_VALUE_ERROR,
                        "Weight count mismatch for %s. Layer expects %lld weight(s). Received %lld saved weight(s)", where,
                        (long long)count, (long long)values->count);
    tw__log(
        "WARNING",
        "Skipping loading of weights for %s due to mismatch in number of weights. Layer expects %lld weight(s). Received %lld "
        "saved weight(s)",
        where, (long long)count, (long long)values->count);
    return TW_OK;
}

static tw_status load_by_name(loading *l)
{
    for (size_t i = 0; i < l->name_count; i++) {
        const tw__hdf5_node *group = layer_group(l->file, l->group, l->names[i]);
        tw__auto(tw_tensors_free) tw_tensors values = group ? tw__h5_values(l->file, group) : (tw_tensors){ 0 };
        TW_NEED(values.items);
        for (int64_t k = 0; k < l->layer_count; k++) {
            if (strcmp(l->layers[k]->name, l->names[i]) == 0)
                TW_TRY(load_named(l, i, l->layers[k], &values));
        }
    }
    return TW_OK;
}

static tw_status load_top_level(loading *l, tw_layer *model, bool by_name)
{
    const tw__hdf5_node *group = tw__hdf5_find(l->group, TOP_LEVEL);
    tw__owned tw_variable **variables = NULL;
    int64_t count;
    if (!group)
        return TW_OK;
    tw__auto(tw_tensors_free) tw_tensors values = tw__h5_values(l->file, group);
    TW_NEED(values.items);
    TW_TRY(own_variables(model, &variables, &count));
    if (values.count != count && !l->skip)
        return tw__fail(TW_VALUE_ERROR,
                        "Weight count mismatch for top-level weights %s. Model expects %lld top-level weight(s). Received %lld "
                        "saved top-level weight(s)",
                        by_name ? "of model" : "when loading weights from file", (long long)count, (long long)values.count);
    if (values.count != count)
        tw__log("WARNING",
                "Skipping loading top-level weights for model due to mismatch in number of weights. Model expects %lld top-level "
                "weight(s). Received %lld saved top-level weight(s)",
                (long long)count, (long long)values.count);
    else if (by_name)
        return change_equal_shapes(l, NULL, variables, &values);
    for (int64_t i = 0; !by_name && i < count; i++)
        TW_TRY(add_change(&l->changes, variables[i], values.items[i]));
    return TW_OK;
}

static tw_status load(loading *l, tw_layer *model, bool by_name)
{
    TW_NEED(l->names = tw__hdf5_texts(l->group, "layer_names", l->file->file.path, &l->name_count));
    TW_TRY(tw__collect_layers(&model->trackable, false, &l->layers, &l->layer_count));
    TW_TRY(by_name ? load_by_name(l) : load_in_order(l));
    TW_TRY(load_top_level(l, model, by_name));
    TW_TRY(apply(&l->changes));
    return tw__preprocessing_finalize_all(&model->trackable);
}

tw_status tw__h5_load_weights(tw__hdf5 *file, const tw__hdf5_node *group, tw_layer *model, bool by_name, bool skip_mismatch)
{
    TW_TRY(tw__lookup_refuse_h5(&model->trackable));
    loading l = { .file = file, .group = group, .skip = skip_mismatch };
    tw_status status = load(&l, model, by_name);
    for (size_t i = 0; i < l.changes.count; i++) {
        tw_release(l.changes.variables[i]);
        tw_release(l.changes.values[i]);
    }
    tw__free(l.changes.variables);
    tw__free(l.changes.values);
    tw__free(l.layers);
    tw__free(l.names);
    return status;
}
