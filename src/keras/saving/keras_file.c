/* Models as .keras files: zip archives of
 *
 *     metadata.json     {"keras_version": "2.15.0", "date_saved": "2026-11-16@12:14:17"}
 *     config.json       class and config of the model, the shape it was built for, and what compile was given ("compile_config")
 *     model.weights.h5  arrays "0", "1" … in groups "layers/dense/vars": by the attributes that lead to a layer, an optimizer or a metric, members
 *                       of lists by their classes' names, numbered from the second one on
 *
 * An object that several ways lead to stands where the first one ends; attributes are gone through by their names. */
#include <stdlib.h>
#include <time.h>

#include "format/format.h"
#include "keras/models/functional.h"
#include "keras/models/training.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

#define CONFIG "config.json"
#define METADATA "metadata.json"
#define WEIGHTS "model.weights.h5"

/* ---- going through the objects with variables ---- */

typedef struct walk {
    tw_status (*each)(struct walk *walk, const char *path, tw_variable *const *variables, size_t count);
    tw__pointer_map seen;
    tw__hdf5_node *root;
    tw__hdf5 *file; /* that is read; or NULL */
    const tw_trackable *without; /* the optimizer, which is not built yet; or NULL */
} walk;

typedef struct attribute {
    const char *name;
    tw_object *object;       /* or NULL: */
    tw_metric **metrics;     /* the list of metrics */
    int metric_count;
} attribute;

static tw_status go(walk *w, tw_trackable *object, const char *path);

static char *join(const char *path, const char *name)
{
    return *path ? tw__format("%s/%s", path, name) : tw__strdup(name);
}

static char *class_word(const void *object)
{
    tw_value name = { .kind = TW_VALUE_NONE };
    bool own = tw__foreign_class_name && tw__foreign_class_name(object, &name) && name.kind == TW_VALUE_STR;
    const char *text = own ? name.s.data : tw__is(object, &tw__class_metrics_function) ? "MeanMetricWrapper" : tw_class_name(object);
    char *word = tw__snake_case(text);
    tw_value_free(&name);
    return word;
}

/* Members of a list: named by their classes. */
static tw_status go_through(walk *w, void *const *members, size_t count, const char *path)
{
    tw__map used = { 0 };
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < count; i++) {
        if (!tw__is(members[i], &tw__class_layer))
            continue;
        char *word = class_word(members[i]), *own = NULL, *inner = NULL;
        uintptr_t before = word ? (uintptr_t)tw__map_get(&used, word, strlen(word)) : 0;
        if (word && tw__map_put(&used, word, strlen(word), (void *)(before + 1)) == TW_OK)
            own = before ? tw__format("%s_%llu", word, (unsigned long long)before) : tw__strdup(word);
        inner = own ? join(path, own) : NULL;
        status = inner ? go(w, members[i], inner) : tw__error_status();
        tw__free(word);
        tw__free(own);
        tw__free(inner);
    }
    tw__map_free(&used, NULL);
    return status;
}

static tw_status go_to(walk *w, const attribute *a, const char *path)
{
    char *inner = join(path, a->name);
    tw_status status = inner ? TW_OK : tw__error_status();
    if (status == TW_OK && a->metrics) {
        status = go_through(w, (void *const *)a->metrics, (size_t)a->metric_count, inner);
    } else if (status == TW_OK && tw__is(a->object, &tw__container_class)) {
        const tw_trackable *list = (const tw_trackable *)a->object;
        void **members = tw__alloc_array(list->child_count + 1, sizeof *members);
        for (size_t i = 0; members && i < list->child_count; i++)
            members[i] = list->children[i].object;
        status = members ? go_through(w, members, list->child_count, inner) : tw__error_status();
        tw__free(members);
    } else if (status == TW_OK && (tw__is(a->object, &tw__class_layer) || tw__is(a->object, &tw__class_optimizer))) {
        status = go(w, (tw_trackable *)a->object, inner);
    }
    tw__free(inner);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const attribute *)a)->name, ((const attribute *)b)->name);
}

/* The layers of a model that is made of a list of them. */
static tw_status go_to_layers(walk *w, tw_trackable *object, const char *path)
{
    tw_layer *model = (tw_layer *)object;
    const tw__functional *functional = tw__functional_of(model);
    bool sequential = tw__is(object, &tw__class_sequential);
    if (!functional && !sequential)
        return TW_OK;
    char *inner = join(path, "layers");
    tw_objects layers = sequential ? tw_sequential_layers(model) : (tw_objects){ (void *const *)functional->layers, (int64_t)functional->layer_count };
    tw_status status = inner ? go_through(w, layers.items, (size_t)layers.count, inner) : tw__error_status();
    if (sequential)
        tw_objects_free(&layers);
    tw__free(inner);
    return status;
}

/* Variables that the object itself has: those that training changes first. */
static tw_status own_variables(walk *w, const tw_trackable *object, const char *path)
{
    const tw_trackable *all = tw__is(object, &tw__class_optimizer) ? ((const tw_optimizer *)object)->all : object;
    tw_variable **variables = tw__alloc_array(all->child_count + 1, sizeof *variables);
    size_t count = 0;
    if (!variables)
        return tw__error_status();
    for (int trainable = 1; trainable >= 0; trainable--) {
        for (size_t i = 0; i < all->child_count; i++) {
            tw_variable *variable = (tw_variable *)all->children[i].object;
            bool listed = all != object ? trainable : tw__is(variable, &tw__class_variable) && variable->trainable == (bool)trainable;
            if (listed)
                variables[count++] = variable;
        }
    }
    char *vars = join(path, "vars");
    tw_status status = vars ? w->each(w, vars, variables, count) : tw__error_status();
    tw__free(vars);
    tw__free(variables);
    return status;
}

static tw_status go(walk *w, tw_trackable *object, const char *path)
{
    if (object == w->without || tw__pointer_map_get(&w->seen, object, 0))
        return TW_OK;
    TW_TRY(tw__pointer_map_put(&w->seen, object, 1));
    TW_TRY(own_variables(w, object, path));
    if (!tw__is(object, &tw__class_layer))
        return TW_OK;
    TW_TRY(go_to_layers(w, object, path));
    tw__trainer *trainer = tw__is(object, &tw__class_model) ? ((tw__model *)object)->trainer : NULL;
    attribute *list = tw__alloc_array(object->child_count + 1, sizeof *list);
    size_t count = 0;
    tw_metric **metrics = NULL;
    int metric_count = 0;
    tw_status status = list ? TW_OK : tw__error_status();
    if (status == TW_OK && trainer)
        status = tw__trainer_metrics(trainer, &metrics, &metric_count);
    if (status == TW_OK && metrics)
        list[count++] = (attribute){ .name = "metrics", .metrics = metrics, .metric_count = metric_count };
    for (size_t i = 0; status == TW_OK && i < object->child_count; i++) {
        const tw__child *child = &object->children[i];
        if (!tw__starts_with(child->name, "layer-") && !tw__starts_with(child->name, "layer_with_weights-"))
            list[count++] = (attribute){ .name = child->name, .object = (tw_object *)child->object };
    }
    if (count)
        qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; status == TW_OK && i < count; i++)
        status = go_to(w, &list[i], path);
    tw__free(metrics);
    tw__free(list);
    return status;
}

/* ---- writing ---- */

static tw_status put_variables(walk *w, const char *path, tw_variable *const *variables, size_t count)
{
    tw__hdf5_node *group = tw__hdf5_group(w->root, path);
    for (size_t i = 0; group && i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        tw_auto tw_tensor *value = tw__variable_read(variables[i]);
        if (!value || tw__hdf5_put(group, name, value) != TW_OK)
            return tw__error_status();
    }
    return group ? TW_OK : tw__error_status();
}

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
    char *text = value->kind == TW_VALUE_DICT && tw_error_code() == TW_OK ? tw_value_json(value) : NULL;
    tw_status status = text ? tw__zip_member(zip, name) : tw__error_status();
    if (status == TW_OK)
        status = tw__zip_write(zip, text, strlen(text));
    tw__free(text);
    return status;
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
    tw_value value = tw__dict_take(&metadata);
    tw_status status = write_json(zip, METADATA, &value);
    tw_value_free(&value);
    TW_TRY(status);
    value = tw__serialize(model, "keras");
    if (value.kind != TW_VALUE_DICT)
        return tw__error_status();
    tw__dict whole = { .items = value.list.items, .count = (size_t)value.list.count, .capacity = (size_t)value.list.count };
    const tw__trainer *trainer = ((const tw__model *)model)->trainer;
    if (trainer && trainer->compiled && trainer->optimizer)
        tw__dict_put(&whole, "compile_config", compile_config(trainer));
    value = tw__dict_take(&whole);
    status = write_json(zip, CONFIG, &value);
    tw_value_free(&value);
    return status;
}

tw_status tw__keras_save(tw_layer *model, const char *path)
{
    if (!model->built)
        tw__log("WARNING", "You are saving a model that has not yet been built. It might not contain any weights yet. Consider building the model first "
                "by calling it on some data.");
    walk w = { .each = put_variables, .root = tw__hdf5_tree() };
    tw__zip *zip = w.root ? tw__zip_create(path) : NULL;
    tw_status status = zip ? write_texts(zip, model) : tw__error_status();
    if (status == TW_OK)
        status = go(&w, &model->trackable, "");
    if (status == TW_OK)
        status = tw__zip_member(zip, WEIGHTS);
    if (status == TW_OK)
        status = tw__hdf5_emit(w.root, path, tw__zip_write, zip);
    if (zip)
        status = tw__zip_commit(zip, status);
    tw__pointer_map_free(&w.seen);
    tw__hdf5_free(w.root);
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
    uint8_t *text = tw__zip_read(path, CONFIG, &size);
    tw_status status = text ? tw__value_parse((const char *)text, size, config) : tw__error_status();
    tw__free(text);
    if (status != TW_OK && tw_error_code() != TW_OK)
        tw__error_prefix("%s: %s: ", path, CONFIG);
    if (status == TW_OK && (config->kind != TW_VALUE_DICT || !tw__value_text(config, "class_name")))
        status = tw__fail(TW_VALUE_ERROR, "%s: %s is no dict with a class and a config", path, CONFIG);
    return status;
}

static tw_status get_variables(walk *w, const char *path, tw_variable *const *variables, size_t count)
{
    const tw__hdf5_node *group = count ? tw__hdf5_find(w->root, path) : NULL;
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        const tw__hdf5_node *node = group ? tw__hdf5_child(group, name, strlen(name)) : NULL;
        if (!node)
            return tw__fail(TW_VALUE_ERROR, "%s: \"%s\" has no value %zu, which the variable '%s' is to have", w->file->file.path, path, i,
                            variables[i]->name);
        tw_auto tw_tensor *value = tw__hdf5_value(w->file, node);
        tw_auto tw_tensor *cast = value ? tw__cast(value, variables[i]->resource->dtype) : NULL;
        if (!cast)
            return tw__error_status();
        if (!tw__shape_equal(&cast->shape, &variables[i]->resource->shape))
            return tw__fail(TW_VALUE_ERROR, "%s: \"%s/%zu\" has shape %s, the variable '%s' is another one", w->file->file.path, path, i,
                            tw__shape_text(&cast->shape), variables[i]->name);
        TW_TRY(tw__variable_set(variables[i], cast));
    }
    return TW_OK;
}

/* The values of an object and of what belongs to it. */
static tw_status load_values(const char *path, tw_trackable *object, const char *place, const tw_trackable *without)
{
    uint64_t offset, size;
    TW_TRY(tw__zip_find(path, WEIGHTS, &offset, &size));
    tw__hdf5 *file = tw__hdf5_open_at(path, offset, size);
    if (!file)
        return tw__error_status();
    walk w = { .each = get_variables, .root = file->root, .file = file, .without = without };
    tw_status status = go(&w, object, place);
    tw__pointer_map_free(&w.seen);
    tw__hdf5_close(file);
    return status;
}

static tw_status arguments_of(const char *path, const tw_value *model, tw_value *arguments)
{
    const tw_value *found = tw__value_get(model, "compile_config"), *optimizer;
    *arguments = (tw_value){ .kind = TW_VALUE_NONE };
    if (!found || found->kind != TW_VALUE_DICT || !(optimizer = tw__value_get(found, "optimizer")) || optimizer->kind == TW_VALUE_NONE)
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
    tw_value config = tw__dict_take(&dict);
    tw_status status = config.kind == TW_VALUE_DICT ? tw__keras_training_arguments(path, &config, NULL, arguments) : tw__error_status();
    tw_value_free(&config);
    return status;
}

tw_status tw__keras_training(const char *path, tw_value *arguments)
{
    tw_value config;
    *arguments = (tw_value){ .kind = TW_VALUE_NONE };
    tw_status status = read_config(path, &config);
    if (status == TW_OK)
        status = arguments_of(path, &config, arguments);
    tw_value_free(&config);
    return status;
}

tw_status tw__keras_load_optimizer(const char *path, tw_layer *model)
{
    int64_t count;
    tw__trainer *trainer = tw__trainer_of(model);
    if (!trainer || !trainer->optimizer || !model->built)
        return trainer ? TW_OK : tw__error_status();
    TW_TRY(tw__keras_build_optimizer(model, &count));
    tw_status status = load_values(path, &trainer->optimizer->trackable, "optimizer", NULL);
    if (status != TW_VALUE_ERROR)
        return status;
    tw_clear_error();
    tw__log("WARNING", "Skipping variable loading for optimizer '%s', because the file has other variables than it.", tw_class_name(trainer->optimizer));
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

tw_layer *tw__keras_load(const char *path, bool with_training)
{
    tw_value config, arguments = { .kind = TW_VALUE_NONE };
    tw_layer *model = read_config(path, &config) == TW_OK ? tw__deserialize(&config, "model") : NULL;
    tw_status status = model ? TW_OK : tw__error_status();
    if (model && !tw__is(model, &tw__class_model))
        status = tw__fail(TW_VALUE_ERROR, "%s: %s describes a %s, which is no model", path, CONFIG, tw_class_name(model));
    if (status == TW_OK)
        status = build(model, &config);
    if (status == TW_OK && model->built)
        status = load_values(path, &model->trackable, "", NULL);
    if (status == TW_OK && with_training)
        status = arguments_of(path, &config, &arguments);
    if (status == TW_OK && arguments.kind == TW_VALUE_DICT) {
        status = tw__keras_compile_with(model, &arguments);
        if (status == TW_OK)
            status = tw__keras_load_optimizer(path, model);
    }
    tw_value_free(&arguments);
    tw_value_free(&config);
    if (status == TW_OK)
        return model;
    tw_release(model);
    return NULL;
}
