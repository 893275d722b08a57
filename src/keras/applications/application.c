/* What all networks of keras.applications share: the table of them, the input, the classifier, weights, and what prepares
 * pictures and reads predictions. */
#include "keras/applications/application.h"

#include <stdarg.h>

#include <thalweg/keras.h>

#include "format/format.h"
#include "keras/models/functional.h"

static const tw__application *const families[] = {
    tw__applications_vgg,
    tw__applications_resnet,
    tw__applications_resnet_v2,
    tw__applications_mobilenet,
    tw__applications_mobilenet_v2,
    tw__applications_inception_v3,
    tw__applications_xception,
    tw__applications_densenet,
    tw__applications_efficientnet,
    tw__applications_efficientnet_v2,
    tw__applications_mobilenet_v3,
    tw__applications_nasnet,
    tw__applications_inception_resnet_v2,
    tw__applications_convnext,
    tw__applications_regnet,
    tw__applications_resnet_rs,
};
enum { FAMILIES = sizeof families / sizeof *families };

static const tw__application *find(const char *name)
{
    for (int f = 0; f < FAMILIES; f++) {
        for (const tw__application *row = families[f]; row->name; row++) {
            if (strcmp(row->name, name) == 0)
                return row;
        }
    }
    return NULL;
}

/* ---- putting layers together ---- */

tw_keras_tensor *tw__network_put(tw__network *n, tw_keras_tensor *x, tw_layer *layer)
{
    tw_auto tw_layer *owned = layer;
    return x && owned ? tw__temp(n->t, tw_connect(owned, x)) : NULL;
}

tw_keras_tensor *tw__network_join(tw__network *n, tw_keras_tensor *const *inputs, int count, tw_layer *layer)
{
    tw_auto tw_layer *owned = layer;
    for (int i = 0; i < count; i++) {
        if (!inputs[i])
            return NULL;
    }
    return owned ? tw__temp(n->t, tw_connect_all(owned, (tw_objects){ (void *const *)inputs, count })) : NULL;
}

const char *tw__network_name(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, size, format, arguments);
    va_end(arguments);
    return buffer;
}

int64_t tw__network_channels(const tw_keras_tensor *x)
{
    tw_shape shape = x ? tw_keras_tensor_shape((tw_keras_tensor *)x) : TW_SCALAR;
    return shape.rank > 0 ? shape.dims[shape.rank - 1] : 0;
}

tw_keras_tensor *tw__network_pooled(tw__network *n, tw_keras_tensor *x, bool named)
{
    const char *pooling = n->args->pooling ? n->args->pooling : "";
    if (strcmp(pooling, "avg") == 0)
        return tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = named ? "avg_pool" : NULL));
    if (strcmp(pooling, "max") == 0)
        return tw__network_put(n, x, tw_layers_global_max_pooling2d(.name = named ? "max_pool" : NULL));
    return x;
}

tw_keras_tensor *tw__network_top(tw__network *n, tw_keras_tensor *x, const char *average_name, bool named)
{
    if (!n->args->include_top)
        return tw__network_pooled(n, x, named);
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = average_name));
    return tw__network_put(n, x,
                           tw_layers_dense(n->args->classes, .activation = n->args->classifier_activation,
                                           .name = "predictions"));
}

/* ---- the arguments ---- */

static bool is_imagenet(const tw__network *n)
{
    return n->args->weights && strcmp(n->args->weights, "imagenet") == 0;
}

static tw_status check_weights(const tw__network *n)
{
    if (n->args->weights && !is_imagenet(n) && !tw__path_exists(n->args->weights))
        return tw__fail(TW_VALUE_ERROR,
                        "The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on "
                        "ImageNet), or the path to the weights file to be loaded.  Received: weights=%s",
                        n->args->weights);
    if (!is_imagenet(n) || !n->args->include_top)
        return TW_OK;
    if (n->args->classes != 1000)
        return tw__fail(TW_VALUE_ERROR,
                        "If using `weights` as `\"imagenet\"` with `include_top` as true, `classes` should be 1000.  Received "
                        "`classes=%lld`",
                        (long long)n->args->classes);
    tw_named activation = n->args->classifier_activation;
    bool plain = activation && !tw__named_is_object(activation);
    if (plain ? strcmp(activation, "softmax") != 0 && strcmp(activation, "linear") != 0
              : activation && !tw__activation_is(activation, &tw__op_Softmax))
        return tw__fail(TW_VALUE_ERROR,
                        "Only `None` and `softmax` activations are allowed for the `classifier_activation` argument when using "
                        "pretrained weights, with `include_top=True`; Received: classifier_activation=%s",
                        plain ? (const char *)activation : "an object");
    return TW_OK;
}

static tw_status fail_shape(const char *format, const tw_shape *shape)
{
    tw__owned char *text = tw__shape_tuple(shape);
    TW_NEED(text);
    return tw__fail(TW_VALUE_ERROR, format, text);
}

/* The shape of a picture: what was given, if it can be, else the usual. */
static tw_status settle_shape(const tw__network *n, tw_shape *shape)
{
    const tw_shape *given = &n->args->input_shape;
    bool top = n->args->include_top, is_given = given->rank >= 0;
    int64_t size = n->row->size, channels = is_given && given->rank == 3 && !is_imagenet(n) ? given->dims[2] : 3;
    char format[160];
    *shape = TW_SHAPE(size, size, channels);
    if (size < 0) { /* any, with a top too */
        if (is_given)
            *shape = *given;
        top = false;
    }
    if (size >= 0 && is_imagenet(n) && top) {
        snprintf(
            format, sizeof format,
            "When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be (%d, %d, 3).  Received: "
            "input_shape=%%s",
            n->row->size, n->row->size);
        return is_given && !tw__shape_equal(given, shape) ? fail_shape(format, given) : TW_OK;
    }
    if (!is_given) {
        if (!top)
            shape->dims[0] = shape->dims[1] = -1;
        return TW_OK;
    }
    if (given->rank != 3)
        return tw__fail(TW_VALUE_ERROR, "`input_shape` must be a tuple of three integers.");
    if (given->dims[2] != 3 && is_imagenet(n))
        return fail_shape("The input must have 3 channels; Received `input_shape=%s`", given);
    for (int i = 0; i < 2; i++) {
        snprintf(format, sizeof format, "Input size must be at least %dx%d; Received: input_shape=%%s", n->row->least,
                 n->row->least);
        if (given->dims[i] >= 0 && given->dims[i] < n->row->least)
            return fail_shape(format, given);
        if (top && given->dims[i] < 0)
            return fail_shape("If `include_top` is True, you should specify a static `input_shape`. Received: input_shape=%s",
                              given);
    }
    *shape = *given;
    return TW_OK;
}

/* ---- weights ---- */

static tw_status load(tw_model *model, const tw__network *n, const char *file)
{
    if (!n->args->weights)
        return TW_OK;
    tw__owned char *path = is_imagenet(n) ? tw__keras_cache("models", file) : tw__strdup(n->args->weights);
    TW_NEED(path);
    if (!tw__path_exists(path))
        return tw__fail(
            TW_NOT_FOUND,
            "keras.applications.%s: the weights of ImageNet are not there, and nothing is fetched. Put the file %s at "
            "%s, or give weights=None or the path of a file.",
            n->row->name, file, path);
    tw_auto tw_load_status *status = tw_model_load_weights(.self = (tw_layer *)model, .filepath = path);
    return tw_error_code();
}

/* ---- the inputs that a tensor comes from ---- */

typedef struct walk {
    tw_keras_tensor **waiting, **found; /* borrowed */
    size_t waiting_count, waiting_capacity, found_count, found_capacity;
    tw__map seen; /* layer and node */
} walk;

static tw_status see(walk *w, tw_keras_tensor *tensor)
{
    const void *key[2] = { tensor->layer, (void *)(intptr_t)tensor->node };
    if (tw__map_get(&w->seen, key, sizeof key))
        return TW_OK;
    TW_TRY(tw__map_put(&w->seen, key, sizeof key, tensor));
    bool is_input = tensor->layer->nodes[tensor->node]->is_input;
    if (is_input) {
        TW_TRY(TW_GROW(w->found, w->found_capacity, w->found_count + 1));
        w->found[w->found_count++] = tensor;
    } else {
        TW_TRY(TW_GROW(w->waiting, w->waiting_capacity, w->waiting_count + 1));
        w->waiting[w->waiting_count++] = tensor;
    }
    return TW_OK;
}

static tw_status walk_back(walk *w, tw_keras_tensor *tensor)
{
    TW_TRY(see(w, tensor));
    while (w->waiting_count) {
        tensor = w->waiting[--w->waiting_count];
        tw__owned tw_keras_tensor **list = NULL;
        size_t count = 0, capacity = 0;
        TW_TRY(tw__keras_tensors_of(&tensor->layer->nodes[tensor->node]->arguments, &list, &count, &capacity));
        for (size_t i = 0; i < count; i++)
            TW_TRY(see(w, list[i]));
    }
    return TW_OK;
}

tw_keras_tensor *tw__network_source(tw__network *n, tw_keras_tensor *x)
{
    walk w = { 0 };
    tw_keras_tensor *found = NULL;
    if (x && walk_back(&w, x) == TW_OK && w.found_count)
        found = tw__temp(n->t, tw_retain(w.found[0]));
    tw__map_end(&w.seen);
    tw__free(w.waiting);
    tw__free(w.found);
    return found;
}

/* ---- the rows ---- */

static bool takes(const tw__application *row, const char *argument)
{
    size_t size = strlen(argument);
    for (const char *at = strstr(row->arguments, argument); at; at = strstr(at + 1, argument)) {
        if ((at == row->arguments || at[-1] == ' ' || at[-1] == '*') && (!at[size] || at[size] == ' '))
            return true;
    }
    return false;
}

/* What only some networks take is an error for the others. */
static tw_status check_taken(const tw__network *n)
{
    const struct {
        const char *name;
        bool given;
    } rare[] = { { "alpha", n->args->alpha != 1 },
                 { "depth_multiplier", n->args->depth_multiplier != 1 },
                 { "dropout", n->args->dropout != 0.001 },
                 { "minimalistic", n->args->minimalistic },
                 { "dropout_rate", n->args->dropout_rate != 0.2 },
                 { "include_preprocessing", !n->args->include_preprocessing },
                 { "model_name", n->args->model_name },
                 { "drop_connect_rate", n->args->drop_connect_rate != 0.2 } };
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
        if (rare[i].given && !takes(n->row, rare[i].name))
            return tw__fail(TW_TYPE_ERROR, "keras.applications.%s takes no argument %s", n->row->name, rare[i].name);
    }
    return TW_OK;
}

static tw_layer *build(tw__network *n)
{
    TW_TEMPS(t);
    n->t = t;
    tw_shape shape;
    char name[128], file[128];
    if (check_taken(n) != TW_OK || check_weights(n) != TW_OK || settle_shape(n, &shape) != TW_OK ||
        (n->row->check && n->row->check(n, &shape) != TW_OK))
        return NULL;
    if (n->row->named) {
        n->row->named(n, &shape, name, file, sizeof name);
    } else {
        snprintf(name, sizeof name, "%s", n->args->model_name ? n->args->model_name : n->row->model_name);
        snprintf(file, sizeof file, n->row->file, n->args->include_top ? "" : "_notop");
    }
    n->name = name;
    tw_keras_tensor *given = n->args->input_tensor;
    tw_keras_tensor *x = given ? given : tw__temp(t, tw_input(.shape = shape));
    tw_keras_tensor *output = x ? n->row->build(n, x) : NULL;
    if (!output)
        return NULL;
    walk w = { 0 };
    tw_model *model = NULL;
    if (walk_back(&w, x) == TW_OK)
        model = tw_model_connect((tw_objects){ (void *const *)w.found, (int64_t)w.found_count }, TW_OBJECTS(output), name);
    tw__map_end(&w.seen);
    tw__free(w.waiting);
    tw__free(w.found);
    if (model && load(model, n, file) != TW_OK) {
        tw_release(model);
        return NULL;
    }
    return (tw_layer *)model;
}

TW_API(
    applications_model,
    "keras.applications._model(network: str, include_top: bool = True, weights: str = None, input_tensor: keras_tensor = None, "
    "input_shape: shape = None, pooling: str = None, classes: int = 1000, classifier_activation: named<activation> = None, "
    "alpha: float = 1.0, depth_multiplier: int = 1, dropout: float = 0.001, minimalistic: bool = False since 0.2, "
    "dropout_rate: float = 0.2 since 0.2, include_preprocessing: bool = True since 0.2, model_name: str = None since 0.2, "
    "drop_connect_rate: float = 0.2 since 0.2) -> layer",
    "A well-known network, e.g. \"ResNet50\"; keras.applications._list has their names and which arguments each takes: alpha and "
    "those behind it are for some only. weights: NULL for random ones, \"imagenet\" for a file in Keras's cache, or the "
    "path of a file. classifier_activation: NULL for none; the usual one is \"softmax\". pooling: \"avg\", \"max\" or NULL, without "
    "the top.")
{
    tw__network n = { .row = find(args->network), .args = args, .kernel = "glorot_uniform", .momentum = 0.99, .epsilon = 1e-3 };
    if (n.row)
        return build(&n);
    tw__fail(TW_VALUE_ERROR, "keras.applications has no network \"%s\"", args->network);
    return NULL;
}

TW_API(applications_list, "keras.applications._list() -> str",
       "A line of every network: its name, the modules that have it, and its arguments in Python's order, with bars between.")
{
    tw__text text = { 0 };
    for (int f = 0; f < FAMILIES; f++) {
        for (const tw__application *row = families[f]; row->name; row++)
            tw__text_format(&text, "%s|%s|%s\n", row->name, row->modules, row->arguments);
    }
    return tw__text_take(&text);
}
