/* Objects as dicts and back: {"module", "class_name", "config", "registered_name"}, for layers that were built also
 * "build_config".
 *
 * Classes are found by their Python paths ("keras.layers.Dense"). What an embedding language defined itself it writes and makes
 * by itself (base/language.h), and is asked first, so that a class of the program may replace one of the library's. */
#include "base/language.h"
#include "api/args_values.h"
#include "keras/initializers/initializers.h"
#include "keras/callable.h"
#include "keras/layers/recurrent.h"
#include "keras/optimizers/optimizers.h"
#include "keras/safe_mode.h"

/* ---- to dicts ---- */

/* Classes that Keras does not export have their inner module, and are registered under their own name. */
static const struct {
    const char *name, *module, *id; /* id: of the class row */
} inner[] = {
    { "Functional", "keras.src.engine.functional", "functional" },
    { "TFOpLambda", "keras.src.layers.core.tf_op_layer", "op_lambda" },
    { "SlicingOpLambda", "keras.src.layers.core.tf_op_layer", "slicing_op_lambda" },
    { "ClassMethod", "keras.src.layers.core.tf_op_layer", "slicing_op_lambda" },
    { "AddLoss", "keras.src.engine.base_layer", "layers_add_loss" },
    { "LossScaleOptimizerV3", "keras.src.mixed_precision.loss_scale_optimizer", "loss_scale_optimizer" },
    { "AddMetric", "keras.src.engine.base_layer", "layers_add_metric" },
    { "LayerScale", "keras.src.applications.convnext", "layers_layer_scale" },
    { "CustomScaleLayer", "keras.src.applications.inception_resnet_v2", "layers_custom_scale" },
};

static const char *inner_module(const char *name)
{
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (strcmp(name, inner[i].name) == 0)
            return inner[i].module;
    }
    return NULL;
}

/* The module that an entry names: the classes' own for those that tell it. */
static const char *module_of(const void *object, const char *module)
{
    static const char *const elsewhere[] = { "Adadelta", "Adagrad", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD" };
    if (tw__is(object, &tw__class_metric))
        return "keras.metrics";
    if (tw__is(object, &tw__class_optimizers_legacy_optimizer))
        return "keras.optimizers.legacy";
    for (size_t i = 0; tw__is(object, &tw__class_optimizer) && i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (strcmp(tw_class_name(object), elsewhere[i]) == 0)
            return tw__optimizer_is_former(object) ? "keras.optimizers.legacy" : "keras.optimizers.experimental";
    }
    return module;
}

static tw_value function_entry(const tw_callable *function)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "module", "builtins");
    tw__dict_put_str(&dict, "class_name", "function");
    tw__dict_put_str(&dict, "config", function->name);
    tw__dict_put_str(&dict, "registered_name", "function");
    return tw__dict_take(&dict);
}

tw_value tw__serialize(const void *object, const char *module)
{
    tw_value own = { .kind = TW_VALUE_NONE };
    const void *function = tw__initializer_function(object);
    object = function ? function : object;
    if (tw__language.serialize && (tw__language.serialize(object, &own) || tw_error_code() != TW_OK))
        return own;
    if (tw_class_of(object) == &tw__callable_class)
        return function_entry(object);
    const char *name = tw_class_name(object), *hidden = inner_module(name);
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "module", hidden ? hidden : module_of(object, module));
    tw__dict_put_str(&dict, "class_name", name);
    tw__dict_put(&dict, "config", tw__config_of(object));
    bool custom = tw__is(object, &tw__class_layers_custom_scale); /* which Keras registers itself */
    tw__dict_put_str(&dict, "registered_name", custom ? "Custom>CustomScaleLayer" : hidden ? name : NULL);
    if (tw__is(object, &tw__class_layer) && ((const tw_layer *)object)->build_shape.kind != TW_VALUE_NONE) {
        tw__dict build = { 0 };
        tw__dict_put(&build, "input_shape", tw__value_copy(&((const tw_layer *)object)->build_shape));
        tw__dict_put(&dict, "build_config", tw__dict_take(&build));
    }
    return tw__dict_take(&dict);
}

/* ---- and back ---- */

static const char *const groups[] = { "layer", "",       "initializer", "constraint",          "regularizer",
                                      "loss",  "metric", "optimizer",   "optimizers.schedule", "model" };

static const tw_class *class_at(const char *group, const char *name)
{
    char path[160];
    const char *plural = !*group ? "" : strcmp(group, "loss") == 0 ? "es." : "s.";
    snprintf(path, sizeof path, "keras.%s%s%s", group, plural, name);
    const tw_signature *signature = tw_signature_find(path);
    return signature ? signature->class_row : NULL;
}

static const tw_class *find_class(const char *name, const char *word)
{
    if (strcmp(name, "Custom>CustomScaleLayer") == 0)
        name += strlen("Custom>");
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (strcmp(name, inner[i].name) == 0)
            return tw_class_find(inner[i].id);
    }
    const tw_class *found = word ? class_at(word, name) : NULL;
    for (size_t i = 0; !found && i < sizeof groups / sizeof *groups; i++)
        found = class_at(groups[i], name);
    return found;
}

/* The class that an entry names; its module decides where names are equal ("Identity", "MeanSquaredError"). */
static const tw_class *class_in(const char *module, const char *name)
{
    char path[200];
    if (strcmp(module, "keras.optimizers.experimental") == 0)
        module = "keras.optimizers";
    snprintf(path, sizeof path, "%s.%s", module, name);
    const tw_signature *signature = tw_signature_find(path);
    return signature ? signature->class_row : NULL;
}

static void *make_part(const tw_value *value, const tw_field *field)
{
    if (value->kind == TW_VALUE_DICT)
        return tw__deserialize(value, field->word);
    return tw__language.make ? tw__language.make(value, field->word) : NULL;
}

static bool is_below(const tw_class *class, const tw_class *root)
{
    while (class && class != root)
        class = class->parent;
    return class != NULL;
}

/* What configs say and constructors do not take: it follows from the class. */
static bool is_told(const tw_class *class, const char *key)
{
    const tw__optimizer_methods *methods = is_below(class, &tw__class_optimizer) ? class->methods : NULL;
    for (int i = 0; methods && i < 2 && methods->former[i]; i++) {
        if (strcmp(key, methods->former[i]) == 0)
            return true;
    }
    return (strcmp(key, "fn") == 0 && (is_below(class, &tw__class_loss) || is_below(class, &tw__class_metric))) ||
           (strcmp(key, "is_legacy_optimizer") == 0 && is_below(class, &tw__class_optimizer)) ||
           (strcmp(key, "num_constants") == 0 &&
            (is_below(class, &tw__class_layers_rnn) || is_below(class, &tw__class_layers_bidirectional)));
}

void *tw__object_of_config(const tw_class *class, const tw_value *config)
{
    const tw_signature *signature = tw_class_signature(class);
    tw_value own = { .kind = TW_VALUE_DICT }; /* borrows the config's members */
    bool is_dict = config->kind == TW_VALUE_DICT;
    own.list.items = is_dict ? tw__alloc_array((size_t)config->list.count + 1, sizeof *own.list.items) : NULL;
    for (int64_t i = 0; own.list.items && i + 1 < config->list.count; i += 2) {
        if (config->list.items[i].kind == TW_VALUE_STR && is_told(class, config->list.items[i].s.data))
            continue;
        own.list.items[own.list.count++] = config->list.items[i];
        own.list.items[own.list.count++] = config->list.items[i + 1];
    }
    if (!is_dict)
        tw__fail(TW_VALUE_ERROR, "%s: a config must be a dict", class->name);
    void *args = own.list.items ? tw__args_of_values(signature, NULL, &own, make_part) : NULL;
    void *made = args ? tw_class_make(class, args) : NULL;
    const tw__optimizer_methods *methods = is_below(class, &tw__class_optimizer) ? class->methods : NULL;
    if (made && methods && methods->take_config && methods->take_config(made, config) != TW_OK) {
        tw_release(made);
        made = NULL;
    }
    if (made && is_below(class, &tw__class_layer) && tw__recurrent_take_config(made, config) != TW_OK) {
        tw_release(made);
        made = NULL;
    }
    tw__args_free(signature, args);
    tw__free(own.list.items);
    return made;
}

static void *make_object(const tw_class *class, const tw_value *config)
{
    const tw__layer_methods *methods = is_below(class, &tw__class_layer) ? class->methods : NULL;
    return methods && methods->from_config ? methods->from_config(config) : tw__object_of_config(class, config);
}

void *tw__deserialize(const tw_value *value, const char *word)
{
    const char *name = value->kind == TW_VALUE_STR ? value->s.data : tw__value_text(value, "class_name");
    const tw_value *config = tw__value_get(value, "config");
    if (!name || (value->kind == TW_VALUE_DICT && !config)) {
        tw__fail(TW_VALUE_ERROR, "Improper config format: a dict with `class_name` and `config` is expected");
        return NULL;
    }
    if (strcmp(name, "__lambda__") == 0) {
        if (tw__safe_mode())
            tw__refuse_code("a `lambda` object", "`lambda`");
        else
            tw__fail(TW_UNIMPLEMENTED, "a `lambda` object is supported as the function of a Lambda layer only");
        return NULL;
    }
    void *own = tw__language.make ? tw__language.make(value, word) : NULL;
    if (own || tw_error_code() != TW_OK)
        return own;
    const char *module = value->kind == TW_VALUE_DICT ? tw__value_text(value, "module") : NULL;
    const tw_class *class = module ? class_in(module, name) : NULL;
    if (!class && strcmp(name, "function") != 0)
        class = find_class(tw__starts_with(name, "Custom>") ? name + strlen("Custom>") : name,
                           word); /* TensorFlow's own, registered */
    if (!class) {
        if (strcmp(name, "function") == 0 && config->kind == TW_VALUE_STR)
            name = config->s.data;
        tw__fail_because(
            TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR,
            "Unknown %s: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is included "
            "in the scope. See https://www.tensorflow.org/guide/keras/save_and_serialize#registering_the_custom_object for details.",
            word ? word : "object", name);
        return NULL;
    }
    return make_object(class, config);
}

/* ---- for users ---- */

TW_API(layers_serialize, "keras.layers.serialize(layer: layer) -> value",
       "The class and config of a layer, as a dict.\n"
       "layer: the layer")
{
    return tw__serialize(args->layer, tw__is(args->layer, &tw__class_model) ? "keras" : "keras.layers");
}

TW_API(deserialize_object, "keras.utils._deserialize(config: value, kind: str = None) -> object",
       "The object that a dict with class and config describes.")
{
    return tw__deserialize(&args->config, args->kind);
}

TW_API(serialize_object, "keras.utils._serialize(instance: object, module: str) -> value",
       "The class and config of an object, as a dict.")
{
    return tw__serialize(args->instance, args->module);
}

TW_API(deserialize_class, "keras.utils._from_config(module: str, name: str, config: value) -> object",
       "An object of a class of the library, of its config.")
{
    const tw_class *class = class_in(args->module, args->name);
    if (!class)
        class = find_class(args->name, NULL);
    if (!class)
        tw__fail(TW_VALUE_ERROR, "there is no class %s", args->name);
    return class ? make_object(class, &args->config) : NULL;
}

/* ---- models as text ---- */

TW_METHOD(model_to_json, "keras.Model.to_json(self: layer) -> str", "The model's structure as JSON text, without weights.")
{
    tw_value entry = tw__serialize(args->self, "keras");
    if (entry.kind != TW_VALUE_DICT)
        return NULL;
    tw__dict dict = { 0 };
    const char *name = tw__value_text(&entry, "class_name");
    const tw_value *config = tw__value_get(&entry, "config");
    tw__dict_put_str(&dict, "class_name", name);
    tw__dict_put(&dict, "config", tw__value_copy(config));
    tw__dict_put_str(&dict, "keras_version", "2.15.0");
    tw__dict_put_str(&dict, "backend", "tensorflow");
    tw__auto(tw_value_free) tw_value whole = tw__dict_take(&dict);
    char *text = whole.kind == TW_VALUE_DICT ? tw_value_json(&whole) : NULL;
    tw_value_free(&entry);
    return text;
}

static tw_layer *model_of(const tw_value *config)
{
    void *made = tw__deserialize(config, "model");
    if (made && !tw__is(made, &tw__class_layer)) {
        tw__fail(TW_VALUE_ERROR, "the config describes a %s, which is no model", tw_class_name(made));
        tw_release(made);
        made = NULL;
    }
    return made;
}

TW_API(model_from_config, "keras.models._model_from_config(config: value) -> layer",
       "The model that a dict with class and config describes.")
{
    if (args->config.kind != TW_VALUE_DICT) {
        tw__fail(TW_TYPE_ERROR,
                 "`model_from_config` expects a dictionary, not a list. Did you mean to use `Sequential.from_config(config)`?");
        return NULL;
    }
    return model_of(&args->config);
}

TW_API(model_from_json, "keras.models._model_from_json(json_string: str) -> layer",
       "The model that JSON text of to_json() describes.")
{
    tw_value config;
    if (tw__value_parse(args->json_string, strlen(args->json_string), &config) != TW_OK)
        return NULL;
    tw_layer *model = model_of(&config);
    tw_value_free(&config);
    return model;
}
