/* Whole models as HDF5 files: attributes `model_config` and `training_config` (JSON), the weights in `model_weights`, the
 * optimizer's variables in `optimizer_weights`.
 *
 * Layers stand in `model_config` as old versions of Keras wrote them: class and config alone, a program's class by the name it is
 * registered under. */
#include "base/language.h"
#include "keras/models/training.h"
#include "keras/saving/h5.h"

/* ---- the model's config ---- */

/* The old form of a layer's entry, and of those inside it. */
static tw_status make_old(tw_value *entry)
{
    const char *registered = tw__value_text(entry, "registered_name");
    tw_value *name = (tw_value *)(uintptr_t)tw__value_get(entry, "class_name");
    if (registered && name) {
        tw_value other = tw__value_str(registered);
        if (other.kind != TW_VALUE_STR)
            return tw__error_status();
        tw_value_free(name);
        *name = other;
    }
    tw__value_drop(entry, "module");
    tw__value_drop(entry, "registered_name");
    tw__value_drop(entry, "build_config");
    const tw_value *config = tw__value_get(entry, "config");
    const tw_value *layers = config && config->kind == TW_VALUE_DICT ? tw__value_get(config, "layers") : NULL;
    for (int64_t i = 0; layers && layers->kind == TW_VALUE_LIST && i < layers->list.count; i++) {
        if (layers->list.items[i].kind == TW_VALUE_DICT)
            TW_TRY(make_old(&layers->list.items[i]));
    }
    return TW_OK;
}

static tw_status set_json(tw__hdf5_node *node, const char *name, const tw_value *value)
{
    tw__owned char *text = tw_value_json(value);
    tw_status status = text ? tw__hdf5_set_text(node, name, text, false) : tw__error_status();
    return status;
}

/* ---- how it is trained ---- */

/* {"class_name", "config"} of a loss or metric; one that stands for a function alone: its name. Takes the config. */
static tw_value class_entry(const char *name, tw_value config)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", name);
    tw__dict_put(&dict, "config", config);
    return tw__dict_take(&dict);
}

static tw_value object_entry(void *object)
{
    bool is_loss = tw__is(object, &tw__class_loss), is_metric = tw__is(object, &tw__class_metric);
    tw_value own = { .kind = TW_VALUE_NONE };
    if (tw__is(object, &tw__class_losses_function)) {
        const char *path = ((const tw_losses_function_args *)tw_object_config(object))->function, *dot = strrchr(path, '.');
        return tw__value_str(dot ? dot + 1 : path);
    }
    if (!is_loss && !is_metric) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "save: a %s among losses or metrics can't be stored in an HDF5 file",
                 tw_class_name(object));
        return own;
    }
    if (tw__language.serialize && (tw__language.serialize(object, &own) || tw_error_code() != TW_OK)) {
        const char *name = tw__value_text(&own, "class_name"), *registered = tw__value_text(&own, "registered_name");
        bool function = name && (strcmp(name, "LossFunctionWrapper") == 0 || strcmp(name, "MeanMetricWrapper") == 0);
        const tw_value *config = tw__value_get(&own, "config");
        tw_value entry = { .kind = TW_VALUE_NONE };
        if (function)
            entry = tw__value_str(is_loss ? ((tw_loss *)object)->name : ((tw_metric *)object)->layer.name);
        else if (name && config)
            entry = class_entry(registered ? registered : name, tw__value_copy(config));
        tw_value_free(&own);
        return entry;
    }
    return class_entry(tw_class_name(object), is_loss
                                                  ? tw__impl_loss_get_config(&(tw_loss_get_config_args){ .self = object })
                                                  : tw__impl_metric_get_config(&(tw_metric_get_config_args){ .self = object }));
}

/* A metric that is the mean of a function: how TensorFlow writes it once it is known what "accuracy" means. */
static tw_value mean_entry(const tw_metric *metric, const char *function)
{
    tw__dict config = { 0 };
    tw__dict_put_str(&config, "name", metric->layer.name);
    tw__dict_put_str(&config, "dtype", tw_dtype_name(metric->layer.dtype));
    tw__dict_put_str(&config, "fn", function);
    return class_entry("MeanMetricWrapper", tw__dict_take(&config));
}

static tw_value metric_entry(tw_metric *metric)
{
    if (tw__is(metric, &tw__class_metrics_function)) {
        const char *path = ((const tw_metrics_function_args *)tw_object_config(metric))->function, *dot = strrchr(path, '.');
        return mean_entry(metric, dot ? dot + 1 : path);
    }
    tw_value entry = object_entry(metric);
    if (entry.kind != TW_VALUE_STR)
        return entry;
    tw_value mean = mean_entry(metric, entry.s.data);
    tw_value_free(&entry);
    return mean;
}

/* The metrics as they were made: a list per output; None if there are none. */
static tw_value built_metrics(const tw__trainer *trainer, bool weighted)
{
    tw_value all = { .kind = TW_VALUE_LIST };
    int found = 0;
    all.list.items = tw__alloc_array((size_t)trainer->output_count + 1, sizeof *all.list.items);
    for (int output = 0; all.list.items && output < trainer->output_count; output++) {
        tw_value *list = &all.list.items[all.list.count++];
        *list = (tw_value){ .kind = TW_VALUE_LIST };
        list->list.items = tw__alloc_array((size_t)trainer->list_count + 1, sizeof *list->list.items);
        for (int i = 0; list->list.items && i < trainer->list_count; i++) {
            if (trainer->list[i].output != output || trainer->list[i].weighted != weighted)
                continue;
            list->list.items[list->list.count++] = metric_entry(trainer->list[i].metric);
            found++;
        }
    }
    if (!found)
        tw_value_free(&all);
    return all;
}

tw_value tw__keras_entries(const tw_value *given)
{
    if (given->kind == TW_VALUE_OBJECT)
        return object_entry(given->object);
    if (given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE && given->kind != TW_VALUE_DICT)
        return tw__value_copy(given);
    tw_value list = { .kind = given->kind == TW_VALUE_TUPLE ? TW_VALUE_LIST : given->kind };
    list.list.items = tw__alloc_array((size_t)given->list.count + 1, sizeof *list.list.items);
    for (; list.list.items && list.list.count < given->list.count; list.list.count++)
        list.list.items[list.list.count] = tw__keras_entries(&given->list.items[list.list.count]);
    return list;
}

tw_value tw__keras_training_config(const tw__trainer *trainer)
{
    tw_optimizer *optimizer = trainer->optimizer;
    tw__dict dict = { 0 };
    tw__dict_put(&dict, "loss", tw__keras_entries(&trainer->loss));
    bool built = trainer->metrics_built;
    tw__dict_put(&dict, "metrics", built ? built_metrics(trainer, false) : tw__keras_entries(&trainer->metrics));
    tw__dict_put(&dict, "weighted_metrics", built ? built_metrics(trainer, true) : tw__keras_entries(&trainer->weighted_metrics));
    tw__dict_put(&dict, "loss_weights", tw__keras_entries(&trainer->loss_weights));
    tw_value own = { .kind = TW_VALUE_NONE };
    if (tw__language.serialize && (tw__language.serialize(optimizer, &own) || tw_error_code() != TW_OK)) {
        const tw_value *config = tw__value_get(&own, "config");
        const char *name = tw__value_text(&own, "registered_name");
        tw__dict_put(&dict, "optimizer_config",
                     config && name ? class_entry(name, tw__value_copy(config)) : (tw_value){ .kind = TW_VALUE_NONE });
        tw_value_free(&own);
    } else {
        char name[80];
        bool plain = tw__optimizer_is_former(optimizer) || tw__optimizer_is_legacy(optimizer) ||
                     tw__optimizer_inner(optimizer) != optimizer;
        snprintf(name, sizeof name, "%s%s", plain ? "" : "Custom>", tw_class_name(optimizer));
        tw_value config = tw__impl_optimizer_get_config(&(tw_optimizer_get_config_args){ .self = optimizer });
        tw__dict_put(&dict, "optimizer_config", class_entry(name, config));
    }
    tw_value whole = tw__dict_take(&dict);
    if (whole.kind == TW_VALUE_DICT && tw_error_code() == TW_OK)
        return whole;
    tw_value_free(&whole);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_status put_training(tw__hdf5_node *root, const tw__trainer *trainer)
{
    tw__auto(tw_value_free) tw_value config = tw__keras_training_config(trainer);
    tw_status status = config.kind == TW_VALUE_DICT ? set_json(root, "training_config", &config) : tw__error_status();
    return status;
}

/* Keras's former Nadam: the step, the product, then all `m` and all `v`. */
static tw_status put_former(tw__hdf5_node *root, tw_optimizer *optimizer)
{
    int64_t trained = optimizer->trained_count, count = 0;
    tw__owned tw_variable **variables = tw__alloc_array(2 * (size_t)trained + 3, sizeof *variables);
    char **names = tw__alloc_array(2 * (size_t)trained + 3, sizeof *names);
    tw__hdf5_node *group = variables && names ? tw__hdf5_group(root, "optimizer_weights") : NULL;
    if (group) {
        names[count] = tw__format("%s/iter:0", optimizer->name);
        variables[count++] = optimizer->iterations;
        names[count] = tw__format("%s/momentum_cache:0", optimizer->name);
        variables[count++] = tw__nadam_product(optimizer);
    }
    for (int64_t i = 0; group && i < 2 * trained; i++) {
        const char *of = optimizer->trained[i % trained]->name, *end = strrchr(of, ':');
        names[count] = tw__format("%s/%.*s/%s:0", optimizer->name, (int)(end ? end - of : (ptrdiff_t)strlen(of)), of,
                                  i < trained ? "m" : "v");
        variables[count++] = optimizer->slots[i / trained][i % trained];
    }
    bool good = group != NULL;
    for (int64_t i = 0; i < count; i++)
        good &= names[i] != NULL;
    tw_status status = good ? tw__h5_put_named(group, (const char *const *)names, variables, count) : tw__error_status();
    tw__names_free(names, (int)count);
    return status;
}

static tw_status put_optimizer(tw__hdf5_node *root, tw_optimizer *optimizer)
{
    const tw_trackable *all = optimizer->all;
    if (tw__optimizer_is_former(optimizer) && tw__nadam_product(optimizer))
        return put_former(root, optimizer);
    tw__owned tw_variable **variables = tw__alloc_array(all->child_count + 1, sizeof *variables);
    tw__hdf5_node *group = variables ? tw__hdf5_group(root, "optimizer_weights") : NULL;
    for (size_t i = 0; group && i < all->child_count; i++)
        variables[i] = (tw_variable *)all->children[i].object;
    tw_status status = group ? tw__h5_put_variables(group, variables, (int64_t)all->child_count) : tw__error_status();
    return status;
}

/* ---- the whole ---- */

static tw_status check_kind(const tw_layer *model)
{
    const tw_class *functional = tw_class_find("functional");
    if (tw__is(model, &tw__class_sequential) || (functional && tw__is(model, functional)))
        return TW_OK;
    return tw__fail(
        TW_NOT_IMPLEMENTED_ERROR,
        "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does "
        "not work for subclassed models, because such models are defined via the body of a Python method, which isn't safely serializable. "
        "Consider saving to the Tensorflow SavedModel format (by setting save_format=\"tf\") or using `save_weights`.");
}

static tw_status put_model(tw__hdf5_node *root, tw_layer *model, bool include_optimizer)
{
    TW_TRY(tw__hdf5_set_text(root, "keras_version", TW_KERAS_VERSION, true));
    TW_TRY(tw__hdf5_set_text(root, "backend", "tensorflow", true));
    tw_value entry = tw__serialize(model, "keras");
    tw_status status = entry.kind == TW_VALUE_DICT ? make_old(&entry) : tw__error_status();
    if (status == TW_OK)
        status = set_json(root, "model_config", &entry);
    tw_value_free(&entry);
    TW_TRY(status);
    tw__hdf5_node *weights = tw__hdf5_group(root, "model_weights");
    if (!weights)
        return tw__error_status();
    TW_TRY(tw__h5_put_weights(weights, model));
    tw__trainer *trainer = tw__trainer_of(model);
    if (!trainer)
        return tw__error_status();
    if (!include_optimizer || !trainer->compiled || !trainer->optimizer)
        return TW_OK;
    TW_TRY(put_training(root, trainer));
    return put_optimizer(root, trainer->optimizer);
}

tw_status tw__h5_save_model(tw_layer *model, const char *path, bool include_optimizer)
{
    TW_TRY(check_kind(model));
    if (!model->built)
        return tw__fail(TW_VALUE_ERROR,
                        "Weights for model '%s' have not yet been created. Weights are created when the model is first called on "
                        "inputs or `build()` is called with an `input_shape`.",
                        model->name);
    char *directory = tw__path_directory(path);
    tw_status status = !directory ? TW_RESOURCE_EXHAUSTED : *directory ? tw__make_directories(directory) : TW_OK;
    tw__free(directory);
    TW_TRY(status);
    tw__hdf5_node *root = tw__hdf5_tree();
    status = root ? put_model(root, model, include_optimizer) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__hdf5_write(root, path);
    tw__hdf5_free(root);
    return status;
}
