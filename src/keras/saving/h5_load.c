/* Models from HDF5 files: made of their configs, then the weights, then what they were compiled with and the optimizer's
 * variables.
 *
 * Files of all versions of Keras 2 are read. Optimizers of old versions ("Adam" where new files have "Custom>Adam") are those of
 * new ones, which compute the same; their variables are read by h5_optimizer.c. */
#include "base/language.h"
#include "keras/layers/allowance.h"
#include "keras/models/training.h"
#include "keras/saving/h5.h"

/* An attribute's JSON text; None if there is none. */
static tw_status read_json(const tw__hdf5 *file, const char *name, tw_value *value)
{
    *value = (tw_value){ .kind = TW_VALUE_NONE };
    const tw_tensor *text = tw__hdf5_attribute_find(file->root, name);
    if (!text)
        return TW_OK;
    if (text->dtype != TW_STRING || text->count != 1)
        return tw__fail(TW_VALUE_ERROR, "%s: the attribute \"%s\" is no text", file->file.path, name);
    tw_string string = tw_tensor_string_at(text, 0);
    tw_status status = tw__value_parse(string.data, string.size, value);
    if (status != TW_OK)
        tw__error_prefix("%s: the attribute \"%s\": ", file->file.path, name);
    return status;
}

static tw_value *member(const tw_value *dict, const char *key)
{
    return (tw_value *)(uintptr_t)(dict->kind == TW_VALUE_DICT ? tw__value_get(dict, key) : NULL);
}

static tw_status rename_class(tw_value *entry, const char *name)
{
    tw_value *place = member(entry, "class_name"), other = tw__value_str(name);
    if (!place || other.kind != TW_VALUE_STR) {
        tw_value_free(&other);
        return tw__error_status();
    }
    tw_value_free(place);
    *place = other;
    return TW_OK;
}

/* Old files name functional models "Model", also those inside of others. */
static tw_status make_new(tw_value *entry)
{
    const char *name = tw__value_text(entry, "class_name");
    const tw_value *config = member(entry, "config"), *layers = config ? member(config, "layers") : NULL;
    if (name && layers && strcmp(name, "Model") == 0)
        TW_TRY(rename_class(entry, "Functional"));
    for (int64_t i = 0; layers && layers->kind == TW_VALUE_LIST && i < layers->list.count; i++) {
        if (layers->list.items[i].kind == TW_VALUE_DICT)
            TW_TRY(make_new(&layers->list.items[i]));
    }
    return TW_OK;
}

static void *made_within(const tw__hdf5 *file, const tw_value *config)
{
    int64_t before = tw__weights_allow(tw__hdf5_elements(file) + TW_H5_UNSAVED);
    void *made = tw__deserialize(config, "model");
    tw__weights_allow(before);
    return made;
}

tw_layer *tw__h5_load_model(tw__hdf5 *file)
{
    tw_value config;
    if (read_json(file, "model_config", &config) != TW_OK)
        return NULL;
    const tw__hdf5_node *weights = tw__hdf5_find(file->root, "model_weights");
    const char *name = tw__value_text(&config, "class_name");
    tw_layer *model = NULL;
    if (config.kind == TW_VALUE_NONE)
        tw__fail(TW_VALUE_ERROR, "No model config found in the file at %s.", file->file.path);
    else if (config.kind != TW_VALUE_DICT || !name)
        tw__fail(TW_VALUE_ERROR, "%s: the attribute \"model_config\" is no dict with a class and a config", file->file.path);
    else if (!weights)
        tw__fail(TW_KEY_ERROR, "%s: Unable to open object (object 'model_weights' doesn't exist)", file->file.path);
    else if (make_new(&config) == TW_OK)
        model = made_within(file, &config);
    tw_value_free(&config);
    if (model && !tw__is(model, &tw__class_model)) {
        tw__fail(TW_VALUE_ERROR, "%s: \"model_config\" describes a %s, which is no model", file->file.path, tw_class_name(model));
    } else if (model && !model->built) {
        tw__log("WARNING",
                "%s: the model was saved without the shape of its input: its weights can't be loaded before it is built",
                file->file.path);
        return model;
    } else if (model && tw__h5_load_weights(file, weights, model, false, false) == TW_OK) {
        return model;
    }
    tw_release(model);
    return NULL;
}

/* ---- how it was compiled ---- */

/* The object of a dict with class and config; wrappers of functions are the functions' names. */
static tw_value resolve_entry(tw_value *entry, const char *word)
{
    tw_value result = { .kind = TW_VALUE_NONE };
    const char *name = tw__value_text(entry, "class_name");
    tw_value *config = member(entry, "config");
    if (strcmp(name, "function") == 0 && config && config->kind == TW_VALUE_STR) /* of .keras files */
        return tw__value_copy(config);
    const char *function = config && config->kind == TW_VALUE_DICT ? tw__value_text(config, "fn") : NULL;
    if (function && (strcmp(name, "MeanMetricWrapper") == 0 || strcmp(name, "LossFunctionWrapper") == 0)) {
        const char *called = tw__value_text(config, "name");
        if (strcmp(word, "loss") == 0)
            return tw__value_str(function);
        tw_value given = { .kind = TW_VALUE_STR, .s = { function, strlen(function) } };
        void *own = tw__language.make ? tw__language.make(&given, word) : NULL;
        tw_release(own);
        if (own) /* the program's: found again by its name */
            return tw__value_str(function);
        result.object = tw_error_code() == TW_OK ? tw__metric_get(function, called ? called : function) : NULL;
    } else {
        if (function)
            tw__value_drop(config, "fn");
        result.object = tw__deserialize(entry, word);
    }
    if (result.object)
        result.kind = TW_VALUE_OBJECT;
    return result;
}

static tw_value resolve(tw_value *given, const char *word)
{
    if (given->kind == TW_VALUE_DICT && tw__value_text(given, "class_name"))
        return resolve_entry(given, word);
    if (given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_DICT)
        return tw__value_copy(given);
    tw_value list = { .kind = given->kind };
    list.list.items = tw__alloc_array((size_t)given->list.count + 1, sizeof *list.list.items);
    for (; list.list.items && list.list.count < given->list.count; list.list.count++)
        list.list.items[list.list.count] = resolve(&given->list.items[list.list.count], word);
    return list;
}

/* Old optimizers' `decay`, rate / (1 + decay * steps), as the schedule that does the same. Takes the rate. */
static tw_value decaying(tw_value rate, const tw_value *decay)
{
    tw__dict entry = { 0 }, config = { 0 };
    tw__dict_put(&config, "initial_learning_rate", rate);
    tw__dict_put(&config, "decay_steps", (tw_value){ .kind = TW_VALUE_INT, .i = 1 });
    tw__dict_put(&config, "decay_rate", tw__value_copy(decay));
    tw__dict_put_str(&entry, "module", "keras.optimizers.schedules");
    tw__dict_put_str(&entry, "class_name", "InverseTimeDecay");
    tw__dict_put(&entry, "config", tw__dict_take(&config));
    return tw__dict_take(&entry);
}

static void *optimizer_of(const char *path, tw_value *entry)
{
    const char *name = entry ? tw__value_text(entry, "class_name") : NULL;
    tw_value *config = entry ? member(entry, "config") : NULL;
    if (!name || !config || config->kind != TW_VALUE_DICT) {
        tw__fail(TW_VALUE_ERROR, "%s: \"training_config\" has no config of an optimizer", path);
        return NULL;
    }
    bool other = strcmp(name, "Nadam") == 0 || strcmp(name, "Custom>Nadam") == 0; /* whose `decay` is the momentum's */
    const tw_value *decay = other ? NULL : member(config, "decay");
    bool decays = decay && ((decay->kind == TW_VALUE_FLOAT && decay->f != 0) || (decay->kind == TW_VALUE_INT && decay->i != 0));
    char path_of[80];
    snprintf(path_of, sizeof path_of, "keras.optimizers.legacy.%.40s", name);
    bool legacy = !member(config, "is_legacy_optimizer") && tw_signature_find(path_of); /* as Keras takes such configs */
    tw_value *old_rate = member(config, "lr"), *rate;                                   /* of the first versions */
    if (old_rate) {
        tw_value key = tw__value_str("learning_rate");
        tw_value_free(old_rate - 1);
        old_rate[-1] = key;
    }
    tw_value *pace = legacy && other ? member(config, "schedule_decay") : NULL; /* Keras 2.0 to 2.3 */
    if (pace) {
        tw_value_free(pace - 1);
        pace[-1] = tw__value_str("decay");
    }
    if (legacy)
        return tw__object_of_config(tw_signature_find(path_of)->class_row, config);
    if (decays && (rate = member(config, "learning_rate")))
        *rate = decaying(*rate, decay);
    if (!other)
        tw__value_drop(config, "decay");
    tw__value_drop(config, "is_legacy_optimizer");
    if (tw__starts_with(name, "Custom>")) {
        void *own = tw__language.make ? tw__language.make(entry, "optimizer") : NULL;
        if (own || tw_error_code() != TW_OK || rename_class(entry, name + strlen("Custom>")) != TW_OK)
            return own;
    }
    return tw__deserialize(entry, "optimizer");
}

static void shorten_list(const tw_value *list, const char *output)
{
    size_t size = strlen(output);
    for (int64_t k = 0; list->kind == TW_VALUE_LIST && k < list->list.count; k++) {
        const tw_value *made = member(&list->list.items[k], "config");
        tw_value *name = made ? member(made, "name") : NULL;
        if (!name || name->kind != TW_VALUE_STR || !tw__starts_with(name->s.data, output) || name->s.data[size] != '_')
            continue;
        tw_value shorter = tw__value_str(name->s.data + size + 1);
        tw_value_free(name);
        *name = shorter;
    }
}

/* Of a model with several outputs, the saved names of metrics begin with the outputs': compile puts these in front itself. */
static tw_status shorten_names(const tw_value *model, const tw_value *metrics)
{
    const tw_value *inside = model ? member(model, "config") : NULL, *outputs = inside ? member(inside, "output_layers") : NULL;
    bool named = outputs && outputs->kind == TW_VALUE_DICT;
    int64_t stride = named ? 2 : 1;
    bool several = outputs && (named || outputs->kind == TW_VALUE_LIST) && outputs->list.count > stride && metrics &&
                   metrics->kind == TW_VALUE_LIST;
    for (int64_t i = 0; several && i * stride < outputs->list.count && i < metrics->list.count; i++) {
        const tw_value *output = &outputs->list.items[i * stride];
        if (!named && output->kind == TW_VALUE_LIST && output->list.count)
            output = &output->list.items[0];
        if (output->kind == TW_VALUE_STR)
            shorten_list(&metrics->list.items[i], output->s.data);
    }
    return tw_error_code();
}

tw_status tw__keras_training_arguments(const char *path, tw_value *config, const tw_value *model, tw_value *arguments)
{
    static const struct {
        const char *key, *word;
    } parts[] = { { "loss", "loss" }, { "metrics", "metric" }, { "loss_weights", "" }, { "weighted_metrics", "metric" } };
    *arguments = (tw_value){ .kind = TW_VALUE_NONE };
    if (config->kind != TW_VALUE_DICT)
        return TW_OK;
    tw_status status = shorten_names(model, member(config, "metrics"));
    if (status == TW_OK)
        status = shorten_names(model, member(config, "weighted_metrics"));
    tw__dict dict = { 0 };
    tw_value optimizer = { .kind = TW_VALUE_OBJECT,
                           .object = status == TW_OK ? optimizer_of(path, member(config, "optimizer_config")) : NULL };
    if (optimizer.object)
        tw__dict_put(&dict, "optimizer", optimizer);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && tw_error_code() == TW_OK; i++) {
        tw_value *given = member(config, parts[i].key);
        tw__dict_put(&dict, parts[i].key, given ? resolve(given, parts[i].word) : (tw_value){ .kind = TW_VALUE_NONE });
    }
    *arguments = tw__dict_take(&dict);
    if (tw_error_code() == TW_OK)
        return TW_OK;
    tw_value_free(arguments);
    return tw__error_status();
}

tw_status tw__h5_training(tw__hdf5 *file, tw_value *arguments)
{
    tw_value config, model = { .kind = TW_VALUE_NONE };
    *arguments = (tw_value){ .kind = TW_VALUE_NONE };
    TW_TRY(read_json(file, "training_config", &config));
    tw_status status = read_json(file, "model_config", &model);
    if (status == TW_OK)
        status = tw__keras_training_arguments(file->file.path, &config, &model, arguments);
    tw_value_free(&config);
    tw_value_free(&model);
    return status;
}

tw_status tw__keras_compile_with(tw_layer *model, const tw_value *arguments)
{
    const char *const names[] = { "optimizer", "loss", "metrics", "loss_weights", "weighted_metrics" };
    tw_value given[5];
    for (int i = 0; i < 5; i++) {
        const tw_value *found = tw__value_get(arguments, names[i]);
        given[i] = found ? *found : (tw_value){ .kind = TW_VALUE_NONE };
    }
    return tw__impl_model_compile_values(
        &(tw_model_compile_values_args){ .self = model,
                                         .optimizer = given[0].kind == TW_VALUE_OBJECT ? given[0].object : "rmsprop",
                                         .loss = given[1],
                                         .metrics = given[2],
                                         .loss_weights = given[3],
                                         .weighted_metrics = given[4],
                                         .steps_per_execution = 1 });
}
