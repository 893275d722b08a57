/* The variables of a model as Keras's new files keep them, alone (x.weights.h5) or in a .keras archive: arrays "0", "1" … in
 * groups "layers/dense/vars": by the attributes that lead to a layer, an optimizer or a metric, members of lists by their
 * classes' names, numbered from the second one on.
 *
 * An object that several ways lead to stands where the first one ends. Attributes are gone through by their names, the last one
 * of the alphabet first; the lists "layers" and "metrics" of a model are among them. */
#include <stdlib.h>

#include "base/language.h"
#include "keras/layers/preprocessing/lookup.h"
#include "keras/models/functional.h"
#include "keras/models/training.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

/* ---- going through the objects with variables ---- */

typedef struct walk {
    tw_status (*each)(struct walk *walk, const tw_trackable *object, const char *path, tw_variable *const *variables,
                      size_t count);
    tw__pointer_map seen;
    tw__hdf5_node *root;
    tw__hdf5 *file;      /* that is read; or NULL */
    tw__zip *zip;        /* that assets are put into; or NULL */
    const char *archive; /* that they are read from; or NULL */
    bool skip_mismatch;
} walk;

typedef struct attribute {
    const char *name;
    tw_object *object;    /* or NULL: */
    void *const *members; /* of a list */
    size_t count;
} attribute;

static tw_status go(walk *w, tw_trackable *object, const char *path);

static char *join(const char *path, const char *name)
{
    return *path ? tw__format("%s/%s", path, name) : tw__strdup(name);
}

static char *class_word(const void *object)
{
    tw__auto(tw_value_free) tw_value name = { .kind = TW_VALUE_NONE };
    bool own = tw__language.class_name && tw__language.class_name(object, &name) && name.kind == TW_VALUE_STR;
    const char *text = own                                           ? name.s.data
                       : tw__is(object, &tw__class_metrics_function) ? "MeanMetricWrapper"
                                                                     : tw_class_name(object);
    char *word = tw__snake_case(text);
    return word;
}

/* Members of a list: named by their classes. */
static tw_status go_through(walk *w, void *const *members, size_t count, const char *path)
{
    tw__map used = { 0 };
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < count; i++) {
        if (!tw__is(members[i], &tw__class_layer) || tw__pointer_map_get(&w->seen, members[i], 0))
            continue; /* what stands elsewhere already is not counted */
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
    tw__owned char *inner = join(path, a->name);
    tw_status status = inner ? TW_OK : tw__error_status();
    if (status == TW_OK && !a->object) {
        status = go_through(w, a->members, a->count, inner);
    } else if (status == TW_OK && tw__is(a->object, &tw__container_class)) {
        const tw_trackable *list = (const tw_trackable *)a->object;
        void **members = tw__alloc_array(list->child_count + 1, sizeof *members);
        for (size_t i = 0; members && i < list->child_count; i++)
            members[i] = list->children[i].object;
        status = members ? go_through(w, members, list->child_count, inner) : tw__error_status();
        tw__free(members);
    } else if (status == TW_OK &&
               (tw__is(a->object, &tw__class_layer) ||
                (tw__is(a->object, &tw__class_optimizer) && !tw__optimizer_is_legacy((const tw_optimizer *)a->object)))) {
        status = go(w, (tw_trackable *)a->object, inner);
    }
    return status;
}

static int last_first(const void *a, const void *b)
{
    return strcmp(((const attribute *)b)->name, ((const attribute *)a)->name);
}

/* Variables that the object itself has: those that training changes first. */
static tw_status own_variables(walk *w, const tw_trackable *object, const char *path)
{
    const tw_trackable *all = tw__is(object, &tw__class_optimizer) ? ((const tw_optimizer *)object)->all : object;
    tw__owned tw_variable **variables = tw__alloc_array(all->child_count + 1, sizeof *variables);
    size_t count = 0;
    TW_NEED(variables);
    for (int trainable = 1; trainable >= 0; trainable--) {
        for (size_t i = 0; i < all->child_count; i++) {
            tw_variable *variable = (tw_variable *)all->children[i].object;
            bool listed =
                all != object ? trainable : tw__is(variable, &tw__class_variable) && variable->trainable == (bool)trainable;
            if (listed)
                variables[count++] = variable;
        }
    }
    tw__owned char *vars = join(path, "vars");
    TW_NEED(vars);
    return w->each(w, object, vars, variables, count);
}

static tw_status go(walk *w, tw_trackable *object, const char *path)
{
    if (tw__pointer_map_get(&w->seen, object, 0))
        return TW_OK;
    TW_TRY(tw__pointer_map_put(&w->seen, object, 1));
    TW_TRY(own_variables(w, object, path));
    if (!tw__is(object, &tw__class_layer))
        return TW_OK;
    tw__owned attribute *list = tw__alloc_array(object->child_count + 2, sizeof *list);
    tw__owned tw_metric **metrics = NULL;
    tw__owned tw_layer **layers = NULL;
    int metric_count = 0;
    int64_t layer_count = 0;
    size_t count = 0;
    TW_NEED(list);
    if (tw__is(object, &tw__class_model)) {
        const tw__functional *functional = tw__functional_of((tw_layer *)object);
        tw__trainer *trainer = ((tw__model *)object)->trainer;
        TW_TRY(trainer ? tw__trainer_metrics(trainer, &metrics, &metric_count)
                       : tw__collect_metrics((tw_layer *)object, &metrics, &metric_count));
        if (!functional)
            TW_TRY(tw__collect_layers(object, false, &layers, &layer_count));
        list[count++] = (attribute){ .name = "metrics", .members = (void *const *)metrics, .count = (size_t)metric_count };
        list[count++] =
            functional
                ? (attribute){ .name = "layers", .members = (void *const *)functional->layers, .count = functional->layer_count }
                : (attribute){ .name = "layers", .members = (void *const *)layers, .count = (size_t)layer_count };
    }
    for (size_t i = 0; i < object->child_count; i++) {
        const tw__child *child = &object->children[i];
        if (!tw__starts_with(child->name, "layer-") && !tw__starts_with(child->name, "layer_with_weights-"))
            list[count++] = (attribute){ .name = child->name, .object = (tw_object *)child->object };
    }
    if (count)
        qsort(list, count, sizeof *list, last_first);
    for (size_t i = 0; i < count; i++)
        TW_TRY(go_to(w, &list[i], path));
    return TW_OK;
}

/* ---- writing ---- */

static tw_status put_variables(walk *w, const tw_trackable *object, const char *path, tw_variable *const *variables, size_t count)
{
    tw__hdf5_node *group = tw__hdf5_group(w->root, path);
    const tw__lookup_layer *lookup = tw__lookup_of(object);
    TW_NEED(group);
    if (lookup) { /* of what it learnt only the weights of words are kept here, by their name */
        tw_auto tw_tensor *weights = lookup->idf ? tw__variable_read(lookup->idf) : NULL;
        return weights ? tw__hdf5_put(group, "idf_weights", weights) : tw_error_code();
    }
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        tw_auto tw_tensor *value = tw__variable_read(variables[i]);
        TW_NEED(value);
        TW_TRY(tw__hdf5_put(group, name, value));
    }
    return TW_OK;
}

tw_status tw__keras_put_state(tw__hdf5_node *root, tw_trackable *object)
{
    walk w = { .each = put_variables, .root = root };
    tw_status status = go(&w, object, "");
    tw__pointer_map_free(&w.seen);
    return status;
}

tw_status tw__keras_save_weights(tw_layer *model, const char *path)
{
    tw__hdf5_node *root = tw__hdf5_tree();
    tw_status status = root ? tw__keras_put_state(root, &model->trackable) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__hdf5_write(root, path);
    tw__hdf5_free(root);
    return status;
}

/* ---- reading ---- */

static tw_status read_one(walk *w, const tw__hdf5_node *group, size_t place, tw_variable *variable)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", place);
    const tw__hdf5_node *node = tw__hdf5_child(group, name, strlen(name));
    if (!node)
        return tw__fail(TW_VALUE_ERROR, "%s: there is no value %zu, which the variable '%s' is to have", w->file->file.path,
                        place, variable->name);
    tw_auto tw_tensor *value = tw__hdf5_value(w->file, node);
    tw_auto tw_tensor *cast = tw__cast(value, variable->resource->dtype);
    TW_NEED(cast);
    TW_TRY(tw__h5_check_shape(variable, cast));
    return tw__variable_set(variable, cast);
}

/* A layer has exactly the file's variables. */
static tw_status check_count(const tw_layer *layer, tw_variable *const *variables, size_t count, size_t found)
{
    if (count == found)
        return TW_OK;
    tw__auto(tw__text_free) tw__text names = { 0 };
    for (size_t i = 0; i < count; i++)
        tw__text_format(&names, "%s'%s'", i ? ", " : "", variables[i]->name);
    tw_status status =
        tw__fail(TW_VALUE_ERROR, "Layer '%s' expected %zu variables, but received %zu variables during loading. Expected: [%s]",
                 layer->name, count, found, names.data ? names.data : "");
    return status;
}

static tw_status get_variables(walk *w, const tw_trackable *object, const char *path, tw_variable *const *variables, size_t count)
{
    const tw__hdf5_node *group = tw__hdf5_find(w->root, path);
    size_t found = group ? group->child_count : 0;
    bool is_layer = tw__is(object, &tw__class_layer);
    tw__lookup_layer *lookup = tw__lookup_of(object);
    if (lookup) {
        const tw__hdf5_node *node = lookup->idf && group ? tw__hdf5_child(group, "idf_weights", strlen("idf_weights")) : NULL;
        tw_auto tw_tensor *weights = node ? tw__hdf5_value(w->file, node) : NULL;
        return weights ? tw__vocabulary_idf(lookup, weights) : tw_error_code();
    }
    if (!is_layer && found != count) {
        tw__log(
            "WARNING",
            "Skipping variable loading for optimizer '%s', because it has %zu variables whereas the saved optimizer has %zu variables. ",
            tw_class_name(object), count, found);
        return TW_OK;
    }
    if (!found && tw__is(object, &tw__class_metric))
        return TW_OK; /* counts begin anew where the file has none */
    tw_status status = is_layer ? check_count((const tw_layer *)object, variables, count, found) : TW_OK;
    for (size_t i = 0; status == TW_OK && i < count; i++)
        status = read_one(w, group, i, variables[i]);
    if (status != TW_VALUE_ERROR || !w->skip_mismatch)
        return status;
    tw__log("WARNING", "Could not load weights in object %s. Skipping object. Exception encountered: %s", tw_class_name(object),
            tw_error_message());
    tw_clear_error();
    return TW_OK;
}

tw_status tw__keras_get_state(tw__hdf5 *file, tw_trackable *object, const char *place, bool skip_mismatch)
{
    walk w = { .each = get_variables, .root = file->root, .file = file, .skip_mismatch = skip_mismatch };
    tw_status status = go(&w, object, place);
    tw__pointer_map_free(&w.seen);
    return status;
}

/* ---- assets: vocabularies, each a file beside the variables ---- */

static char *asset_name(const char *vars)
{
    return tw__format("assets/%.*svocabulary.txt", (int)(strlen(vars) - strlen("vars")), vars);
}

static tw_status put_asset(walk *w, const tw_trackable *object, const char *path, tw_variable *const *variables, size_t count)
{
    (void)variables, (void)count;
    tw__lookup_layer *lookup = tw__lookup_of(object);
    if (!lookup || tw__lookup_settings_of(lookup).vocabulary->kind != TW_VALUE_NONE) /* the config has it */
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__owned char *name = asset_name(path);
    TW_TRY(name ? tw__vocabulary_text(lookup, &text) : tw__error_status());
    TW_TRY(tw__zip_member(w->zip, name));
    return tw__zip_write(w->zip, text.data ? text.data : "", text.size);
}

static tw_status get_asset(walk *w, const tw_trackable *object, const char *path, tw_variable *const *variables, size_t count)
{
    (void)variables, (void)count;
    tw__lookup_layer *lookup = tw__lookup_of(object);
    size_t size = 0;
    if (!lookup || tw__lookup_settings_of(lookup).vocabulary->kind != TW_VALUE_NONE) /* the config has it */
        return TW_OK;
    tw__owned char *name = asset_name(path);
    TW_NEED(name);
    tw__owned uint8_t *text = tw__zip_read(w->archive, name, &size);
    if (text)
        return tw__vocabulary_of_text(lookup, (const char *)text, size);
    if (tw_error_code() != TW_NOT_FOUND)
        return tw__error_status();
    tw_clear_error(); /* the layer had learnt nothing when it was saved */
    return TW_OK;
}

tw_status tw__keras_put_assets(tw__zip *zip, tw_trackable *object)
{
    walk w = { .each = put_asset, .zip = zip };
    tw_status status = go(&w, object, "");
    tw__pointer_map_free(&w.seen);
    return status;
}

tw_status tw__keras_get_assets(const char *archive, tw_trackable *object)
{
    walk w = { .each = get_asset, .archive = archive };
    tw_status status = go(&w, object, "");
    tw__pointer_map_free(&w.seen);
    return status;
}
