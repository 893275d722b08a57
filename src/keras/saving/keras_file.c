/* Models as .keras files: zip archives of
 *
 *     metadata.json     {"keras_version": "2.15.0", "date_saved": "2026-11-16@12:14:17"}
 *     config.json       class and config of the model, the shape it was built for, and what compile was given ("compile_config")
 *     model.weights.h5  the variables (keras_state.c)
 *     assets/…          vocabularies that layers learnt (keras_state.c) */
#include <time.h>

#include "format/format.h"
#include "keras/layers/allowance.h"
#include "keras/layers/preprocessing/preprocessing.h"
#include "keras/models/training.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

#define CONFIG "config.json"
#define METADATA "metadata.json"
#define WEIGHTS "model.weights.h5"

/* ---- writing ---- */

/* Entries of losses and metrics as this format has them: with a module. */
static tw_value with_modules(tw_value given, const char *module)
{
    if (given.kind != TW_VALUE_LIST && given.kind != TW_VALUE_TUPLE && given.kind != TW_VALUE_DICT)
        return given;
    const char *name = given.kind == TW_VALUE_DICT ? tw__value_text(&given, "class_name") : NULL;
    if (!name) {
        for (int64_t i = 0; i < given.list.count; i++)
            given.list.items[i] = with_modules(given.list.items[i], module);
        return given;
    }
    tw__dict entry = { 0 };
    const tw_value *config = tw__value_get(&given, "config");
    tw__dict_put_str(&entry, "module", module);
    tw__dict_put_str(&entry, "class_name", name);
    tw__dict_put(&entry, "config", config ? tw__value_copy(config) : (tw_value){ .kind = TW_VALUE_DICT });
    tw__dict_put_str(&entry, "registered_name", NULL);
    tw_value_free(&given);
    return tw__dict_take(&entry);
}

static tw_value compile_config(const tw__trainer *t)
{
    static const char *const unsaid[] = { "run_eagerly", "steps_per_execution", "jit_compile" };
    tw__dict dict = { 0 };
    tw__dict_put(&dict, "optimizer", tw__serialize(t->optimizer, "keras.optimizers"));
    tw__dict_put(&dict, "loss", with_modules(tw__keras_entries(&t->loss), "keras.losses"));
    tw__dict_put(&dict, "metrics", with_modules(tw__keras_entries(&t->metrics), "keras.metrics"));
    tw__dict_put(&dict, "loss_weights", tw__keras_entries(&t->loss_weights));
    tw__dict_put(&dict, "weighted_metrics", with_modules(tw__keras_entries(&t->weighted_metrics), "keras.metrics"));
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        tw__dict_put(&dict, unsaid[i], (tw_value){ .kind = TW_VALUE_NONE });
    return tw__dict_take(&dict);
}

static tw_status write_json(tw__zip *zip, const char *name, const tw_value *value)
{
    tw__owned char *text = value->kind == TW_VALUE_DICT && tw_error_code() == TW_OK ? tw_value_json(value) : NULL;
    TW_NEED(text);
    TW_TRY(tw__zip_member(zip, name));
    return tw__zip_write(zip, text, strlen(text));
}

static tw_status write_texts(tw__zip *zip, tw_layer *model)
{
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%Y-%m-%d@%H:%M:%S", localtime_r(&now, &parts));
    tw__dict metadata = { 0 };
    tw__dict_put_str(&metadata, "keras_version", TW_KERAS_VERSION);
    tw__dict_put_str(&metadata, "date_saved", date);
    tw__auto(tw_value_free) tw_value said = tw__dict_take(&metadata);
    TW_TRY(write_json(zip, METADATA, &said));
    tw_value value = tw__serialize(model, "keras");
    if (value.kind != TW_VALUE_DICT)
        return tw__error_status();
    tw__dict whole = { .items = value.list.items, .count = (size_t)value.list.count, .capacity = (size_t)value.list.count };
    const tw__trainer *trainer = ((const tw__model *)model)->trainer;
    if (trainer && trainer->compiled && trainer->optimizer)
        tw__dict_put(&whole, "compile_config", compile_config(trainer));
    tw__auto(tw_value_free) tw_value config = tw__dict_take(&whole);
    return write_json(zip, CONFIG, &config);
}

static tw_status write_all(tw__zip *zip, tw__hdf5_node *root, tw_layer *model, const char *path)
{
    TW_TRY(write_texts(zip, model));
    TW_TRY(tw__keras_put_state(root, &model->trackable));
    TW_TRY(tw__zip_member(zip, WEIGHTS));
    TW_TRY(tw__hdf5_emit(root, path, tw__zip_write, zip));
    return tw__keras_put_assets(zip, &model->trackable);
}

tw_status tw__keras_save(tw_layer *model, const char *path)
{
    if (!model->built)
        tw__log(
            "WARNING",
            "You are saving a model that has not yet been built. It might not contain any weights yet. Consider building the model first "
            "by calling it on some data.");
    tw__hdf5_node *root = tw__hdf5_tree();
    tw__zip *zip = root ? tw__zip_create(path) : NULL;
    tw_status status = zip ? tw__zip_commit(zip, write_all(zip, root, model, path)) : tw__error_status();
    tw__hdf5_free(root);
    return status;
}

/* ---- reading ---- */

bool tw__keras_is(const char *path)
{
    char begin[4] = { 0 };
    FILE *file = tw__ends_with(path, ".keras") ? fopen(path, "rb") : NULL;
    bool is = file && fread(begin, 1, sizeof begin, file) == sizeof begin && memcmp(begin, "PK\3\4", 4) == 0;
    if (file)
        fclose(file);
    return is;
}

static tw_status read_config(const char *path, tw_value *config)
{
    size_t size = 0;
    *config = (tw_value){ .kind = TW_VALUE_NONE };
    tw__owned uint8_t *text = tw__zip_read(path, CONFIG, &size);
    tw_status status = text ? tw__value_parse((const char *)text, size, config) : tw__error_status();
    if (status != TW_OK && tw_error_code() != TW_OK)
        tw__error_prefix("%s: %s: ", path, CONFIG);
    TW_TRY(status);
    return config->kind == TW_VALUE_DICT && tw__value_text(config, "class_name")
               ? TW_OK
               : tw__fail(TW_VALUE_ERROR, "%s: %s is no dict with a class and a config", path, CONFIG);
}

tw__hdf5 *tw__keras_open_weights(const char *path)
{
    uint64_t offset, size;
    if (!tw__keras_is(path))
        return tw__h5_open(path);
    return tw__zip_find(path, WEIGHTS, &offset, &size) == TW_OK ? tw__hdf5_open_at(path, offset, size) : NULL;
}

/* The values of an object and of what belongs to it. */
static tw_status load_values(const char *path, tw_trackable *object, const char *place)
{
    tw__hdf5 *file = tw__keras_open_weights(path);
    tw_status status = file ? tw__keras_get_state(file, object, place, false) : tw__error_status();
    tw__hdf5_close(file);
    return status;
}

static tw_status arguments_of(const char *path, const tw_value *model, tw_value *arguments)
{
    const tw_value *found = tw__value_get(model, "compile_config"), *optimizer;
    *arguments = (tw_value){ .kind = TW_VALUE_NONE };
    if (!found || found->kind != TW_VALUE_DICT || !(optimizer = tw__value_get(found, "optimizer")) ||
        optimizer->kind == TW_VALUE_NONE)
        return TW_OK;
    tw__dict dict = { 0 };
    tw_value entry = tw__value_copy(optimizer);
    if (optimizer->kind == TW_VALUE_STR) { /* as compile was given it */
        tw_optimizer *made = tw__impl_optimizers_get(&(tw_optimizers_get_args){ .identifier = optimizer->s.data });
        tw_value_free(&entry);
        entry = made ? tw__serialize(made, "keras.optimizers") : (tw_value){ .kind = TW_VALUE_NONE };
        tw_release(made);
    }
    tw__dict_put(&dict, "optimizer_config", entry);
    for (int64_t i = 0; i + 1 < found->list.count; i += 2) {
        if (found->list.items[i].kind == TW_VALUE_STR && strcmp(found->list.items[i].s.data, "optimizer") != 0)
            tw__dict_put(&dict, found->list.items[i].s.data, tw__value_copy(&found->list.items[i + 1]));
    }
    tw__auto(tw_value_free) tw_value config = tw__dict_take(&dict);
    tw_status status =
        config.kind == TW_VALUE_DICT ? tw__keras_training_arguments(path, &config, NULL, arguments) : tw__error_status();
    return status;
}

tw_status tw__keras_load_weights(tw_layer *model, const char *path, bool skip_mismatch)
{
    tw__hdf5 *file = tw__keras_open_weights(path);
    tw_status status = file ? tw__keras_get_state(file, &model->trackable, "", skip_mismatch) : tw__error_status();
    tw__hdf5_close(file);
    return status == TW_OK ? tw__preprocessing_finalize_all(&model->trackable) : status;
}

tw_status tw__keras_training(const char *path, tw_value *arguments)
{
    tw__auto(tw_value_free) tw_value config = { .kind = TW_VALUE_NONE };
    *arguments = config;
    TW_TRY(read_config(path, &config));
    return arguments_of(path, &config, arguments);
}

tw_status tw__keras_load_optimizer(const char *path, tw_layer *model)
{
    int64_t count;
    tw__trainer *trainer = tw__trainer_of(model);
    if (!trainer || !trainer->optimizer || !model->built ||
        tw__optimizer_is_legacy(trainer->optimizer)) /* which Keras does not save */
        return trainer ? TW_OK : tw__error_status();
    TW_TRY(tw__keras_build_optimizer(model, &count));
    tw_status status = load_values(path, &trainer->optimizer->trackable, "optimizer");
    if (status != TW_VALUE_ERROR)
        return status;
    tw_clear_error();
    tw__log("WARNING", "Skipping variable loading for optimizer '%s', because the file has other variables than it.",
            tw_class_name(trainer->optimizer));
    return TW_OK;
}

/* A subclass is built for the shape that the file tells. */
static tw_status build(tw_layer *model, const tw_value *config)
{
    const tw_value *said = tw__value_get(config, "build_config"), *given = said ? tw__value_get(said, "input_shape") : NULL;
    tw_shape shape, output;
    if (model->built || !given || tw__shape_of_value(given, &shape) != TW_OK || shape.rank < 0)
        return tw_error_code();
    TW_TRY(tw__layer_run_on_zeros(model, &shape, &output));
    model->built = true;
    return TW_OK;
}

/* How many elements the weights may have. */
static tw_status count_elements(const char *path, int64_t *count)
{
    tw__hdf5 *file = tw__keras_open_weights(path);
    if (!file)
        return tw__error_status();
    *count = tw__hdf5_elements(file) + TW_H5_UNSAVED;
    tw__hdf5_close(file);
    return TW_OK;
}

/* The model of a config, with as many weights as the file has values for. */
static tw_status make_model(const char *path, const tw_value *config, tw_layer **model)
{
    int64_t room = 0;
    TW_TRY(count_elements(path, &room));
    int64_t before = tw__weights_allow(room);
    *model = tw__deserialize(config, "model");
    tw_status status = !*model                            ? tw__error_status()
                       : tw__is(*model, &tw__class_model) ? build(*model, config)
                                                          : tw__fail(TW_VALUE_ERROR, "%s: %s describes a %s, which is no model",
                                                                     path, CONFIG, tw_class_name(*model));
    tw__weights_allow(before);
    return status;
}

static tw_status load(const char *path, bool with_training, tw_layer **model)
{
    tw__auto(tw_value_free) tw_value config = { .kind = TW_VALUE_NONE }, arguments = config;
    TW_TRY(read_config(path, &config));
    TW_TRY(make_model(path, &config, model));
    if ((*model)->built)
        TW_TRY(load_values(path, &(*model)->trackable, ""));
    TW_TRY(tw__keras_get_assets(path, &(*model)->trackable));
    TW_TRY(tw__preprocessing_finalize_all(&(*model)->trackable));
    if (with_training)
        TW_TRY(arguments_of(path, &config, &arguments));
    if (arguments.kind != TW_VALUE_DICT)
        return TW_OK;
    TW_TRY(tw__keras_compile_with(*model, &arguments));
    return tw__keras_load_optimizer(path, *model);
}

tw_layer *tw__keras_load(const char *path, bool with_training)
{
    tw_auto tw_layer *model = NULL;
    return load(path, with_training, &model) == TW_OK ? TW_TAKE(model) : NULL;
}
