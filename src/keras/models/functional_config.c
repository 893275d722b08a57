/* Functional models as dicts and back: the layers with their calls, each input of a call as [layer, node, output, further
 * arguments].
 *
 * Nodes are numbered anew: only those in the model count, and a model among the layers has its own as node 0. */
#include "keras/models/functional.h"

typedef struct writing {
    const tw__functional *model;
    bool tuple; /* how places of tensors are written among further arguments: no dict behind */
} writing;

static bool is_model(const tw_layer *layer)
{
    return tw__is(layer, &tw__class_functional) || tw__is(layer, &tw__class_sequential);
}

static bool is_in(const tw__functional *model, const tw_layer *layer, int node)
{
    struct {
        const tw_layer *layer;
        intptr_t node;
    } key = { layer, node };
    return tw__map_has(&model->places, &key, sizeof key);
}

/* The number of a node among those in the model. */
static int new_index(const tw__functional *model, const tw_layer *layer, int node)
{
    int index = is_model(layer) ? 1 : 0;
    for (int i = 0; i < node; i++)
        index += is_in(model, layer, i);
    return index;
}

static tw_value text(const char *string)
{
    return tw__value_str(string);
}

/* [name, node, output] */
static tw_value place_of(void *context, tw_keras_tensor *tensor)
{
    const writing *w = context;
    tw_value *items = tw__alloc_array(4, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    items[0] = text(tensor->layer->name);
    items[1] = (tw_value){ .kind = TW_VALUE_INT, .i = new_index(w->model, tensor->layer, tensor->node) };
    items[2] = (tw_value){ .kind = TW_VALUE_INT, .i = tensor->output };
    return (tw_value){ .kind = w->tuple ? TW_VALUE_TUPLE : TW_VALUE_LIST, .list = { items, 3 } };
}

/* A tensor or constant of the first argument with the other arguments behind it. */
static tw_value input_entry(writing *w, const tw_value *value, const tw_value *further)
{
    tw_value entry;
    if (value->kind == TW_VALUE_OBJECT && tw__is_keras_tensor(value->object)) {
        entry = place_of(w, value->object);
    } else {
        tw_value *items = tw__alloc_array(4, sizeof *items);
        if (!items)
            return (tw_value){ .kind = TW_VALUE_NONE };
        items[0] = text("_CONSTANT_VALUE");
        items[1] = (tw_value){ .kind = TW_VALUE_INT, .i = -1 };
        items[2] = tw__value_copy(value);
        entry = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, 3 } };
    }
    if (entry.kind != TW_VALUE_NONE)
        entry.list.items[entry.list.count++] = tw__value_copy(further);
    return entry;
}

static tw_value first_argument(writing *w, const tw_value *value, const tw_value *further)
{
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE, dict = value->kind == TW_VALUE_DICT;
    if (!list && !dict)
        return input_entry(w, value, further);
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    for (int64_t i = 0; i < value->list.count; i++)
        items[i] = dict && i % 2 == 0 ? tw__value_copy(&value->list.items[i]) : first_argument(w, &value->list.items[i], further);
    return (tw_value){ .kind = dict ? TW_VALUE_DICT : TW_VALUE_LIST, .list = { items, value->list.count } };
}

/* Further arguments by name: those by position get the names that the layer's call gives them. */
static tw_value further_arguments(writing *w, tw_layer *layer, const tw__layer_node *node)
{
    tw__dict dict = { 0 };
    const tw__layer_methods *methods = tw__methods(layer);
    const char *word = methods->arguments ? methods->arguments : "inputs training";
    for (int64_t i = 1; i < node->arguments.list.count; i++) {
        word += strcspn(word, " ");
        word += *word == ' ';
        char name[48];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, " "), word);
        tw_value value;
        if (tw__replace_tensors(&node->arguments.list.items[i], place_of, w, &value) == TW_OK)
            tw__dict_put(&dict, *name ? name : "argument", value);
    }
    for (int64_t i = 0; node->named.kind == TW_VALUE_DICT && i + 1 < node->named.list.count; i += 2) {
        tw_value value;
        if (tw__replace_tensors(&node->named.list.items[i + 1], place_of, w, &value) == TW_OK)
            tw__dict_put(&dict, node->named.list.items[i].s.data, value);
    }
    return tw__dict_take(&dict);
}

static tw_value node_entry(writing *w, tw_layer *layer, const tw__layer_node *node)
{
    tw__auto(tw_value_free) tw_value further = further_arguments(w, layer, node);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_value entry = node->arguments.list.count ? first_argument(w, &node->arguments.list.items[0], &further) : none;
    bool bare = tw__is(layer, &tw__class_op_lambda) || tw__is(layer, &tw__class_slicing_op_lambda);
    const tw_value *first = node->arguments.list.count ? &node->arguments.list.items[0] : &none;
    if (!bare && first->kind < TW_VALUE_LIST && entry.kind == TW_VALUE_LIST) { /* one tensor stands in a list */
        tw_value *items = tw__alloc_array(1, sizeof *items);
        if (items) {
            items[0] = entry;
            entry = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, 1 } };
        }
    }
    return entry;
}

static tw_value layer_entry(writing *w, tw_layer *layer)
{
    tw_value entry = tw__serialize(layer, tw__is(layer, &tw__class_model) ? "keras" : "keras.layers");
    tw_value *items = tw__alloc_array(layer->node_count + 1, sizeof *items);
    if (entry.kind != TW_VALUE_DICT || !items) {
        tw__free(items);
        return entry;
    }
    int64_t count = 0;
    for (size_t i = 0; i < layer->node_count; i++) {
        if (is_in(w->model, layer, (int)i) && !layer->nodes[i]->is_input)
            items[count++] = node_entry(w, layer, layer->nodes[i]);
    }
    tw__dict dict = { entry.list.items, (size_t)entry.list.count, (size_t)entry.list.count, false };
    tw__dict_put_str(&dict, "name", layer->name);
    tw__dict_put(&dict, "inbound_nodes", (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } });
    return tw__dict_take(&dict);
}

/* Places of a model's inputs or outputs; a single one stands in a list. */
static tw_value ends(writing *w, const tw_value *value)
{
    tw_value places = { .kind = TW_VALUE_NONE };
    if (tw__replace_tensors(value, place_of, w, &places) != TW_OK)
        tw_value_free(&places);
    if (value->kind != TW_VALUE_OBJECT || places.kind == TW_VALUE_NONE)
        return places;
    tw_value *items = tw__alloc_array(1, sizeof *items);
    if (!items)
        return places;
    items[0] = places;
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, 1 } };
}

tw_value tw__functional_config(tw_layer *self)
{
    const tw__functional *model = (const tw__functional *)self;
    writing w = { model, false };
    tw_value *items = tw__alloc_array(model->layer_count + 1, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    for (size_t i = 0; i < model->layer_count; i++)
        items[i] = layer_entry(&w, model->layers[i]);
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "name", self->name);
    tw__dict_put(&dict, "trainable", (tw_value){ .kind = TW_VALUE_BOOL, .b = self->trainable });
    tw__dict_put(&dict, "layers", (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)model->layer_count } });
    tw__dict_put(&dict, "input_layers", ends(&w, &model->inputs));
    tw__dict_put(&dict, "output_layers", ends(&w, &model->outputs));
    dict.failed |= tw_error_code() != TW_OK;
    return tw__dict_take(&dict);
}

/* ---- and back ---- */

typedef struct reading {
    tw_layer **layers; /* references */
    const tw_value *entries;
    size_t count;
    size_t *done; /* calls made, per layer */
} reading;

static tw_layer *layer_named(const reading *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->layers[i]->name, name) == 0)
            return r->layers[i];
    }
    return NULL;
}

static bool is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
}

/* ["dense", 0, 0] or with a dict behind. */
static bool is_place(const tw_value *value)
{
    return is_list(value) && value->list.count >= 3 && value->list.count <= 4 && value->list.items[0].kind == TW_VALUE_STR &&
           value->list.items[1].kind == TW_VALUE_INT;
}

typedef enum outcome { READY, WAIT, FAILED } outcome;

/* The value that a place stands for: a Keras tensor or a constant. WAIT: that call is still to come. */
static outcome value_at(const reading *r, const tw_value *place, tw_value *out)
{
    const tw_value *items = place->list.items;
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (strcmp(items[0].s.data, "_CONSTANT_VALUE") == 0) {
        *out = tw__value_copy(&items[2]);
        return READY;
    }
    tw_layer *layer = layer_named(r, items[0].s.data);
    if (!layer || items[2].kind != TW_VALUE_INT || items[1].i < 0) {
        tw__fail(TW_VALUE_ERROR, "Functional: the config names a layer \"%s\" that it does not describe", items[0].s.data);
        return FAILED;
    }
    if ((uint64_t)items[1].i >= layer->node_count)
        return WAIT;
    tw_value results = tw__node_results(layer, (int)items[1].i);
    tw_keras_tensor **tensors = NULL;
    size_t count = 0, capacity = 0;
    tw_status status = tw__keras_tensors_of(&results, &tensors, &count, &capacity);
    for (size_t i = 0; status == TW_OK && i < count; i++) {
        if (tensors[i]->output == items[2].i)
            *out = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(tensors[i]) };
    }
    tw__free(tensors);
    tw_value_free(&results);
    if (out->kind == TW_VALUE_OBJECT)
        return READY;
    tw__fail(TW_VALUE_ERROR, "Functional: layer \"%s\" has no output %lld", layer->name, (long long)items[2].i);
    return FAILED;
}

/* The structure with values for places; the dict behind a place goes to *further (borrowed). Plain values stay (arguments by
 * name). */
static outcome resolve(const reading *r, const tw_value *value, tw_value *out, const tw_value **further, bool first)
{
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    bool known = is_place(value) && (first || layer_named(r, value->list.items[0].s.data) ||
                                     strcmp(value->list.items[0].s.data, "_CONSTANT_VALUE") == 0);
    if (known) {
        if (further && value->list.count == 4 && value->list.items[3].kind == TW_VALUE_DICT)
            *further = &value->list.items[3];
        return value_at(r, value, out);
    }
    bool dict = value->kind == TW_VALUE_DICT;
    if (!dict && !is_list(value)) {
        *out = tw__value_copy(value);
        return READY;
    }
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return FAILED;
    *out = (tw_value){ .kind = value->kind, .list = { items, value->list.count } };
    for (int64_t i = 0; i < value->list.count; i++) {
        if (dict && i % 2 == 0) {
            items[i] = tw__value_copy(&value->list.items[i]);
            continue;
        }
        outcome now = resolve(r, &value->list.items[i], &items[i], further, first);
        if (now != READY)
            return now;
    }
    return READY;
}

static outcome make_call(const reading *r, tw_layer *layer, const tw_value *node)
{
    tw_value input, named = { .kind = TW_VALUE_NONE }, result;
    const tw_value *further = NULL;
    bool wrapped = is_list(node) && node->list.count == 1 && is_place(&node->list.items[0]);
    bool bare = tw__is(layer, &tw__class_op_lambda) || tw__is(layer, &tw__class_slicing_op_lambda);
    outcome now = resolve(r, wrapped && !bare ? &node->list.items[0] : node, &input, &further, true);
    if (now == READY && further)
        now = resolve(r, further, &named, NULL, false);
    if (now == READY) {
        tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { &input, 1 } };
        now = tw__layer_connect(layer, &arguments, named.list.count ? &named : NULL, -1, &result) == TW_OK ? READY : FAILED;
        tw_value_free(&result);
    }
    tw_value_free(&input);
    tw_value_free(&named);
    return now;
}

/* Calls in the order in which they become possible; a layer's own calls keep their order. */
static tw_status make_calls(reading *r)
{
    for (bool moved = true, left = true; left;) {
        if (!moved)
            return tw__fail(TW_VALUE_ERROR, "Functional: the config's calls need each other in a circle");
        moved = left = false;
        for (size_t i = 0; i < r->count; i++) {
            const tw_value *nodes = tw__value_get(&r->entries->list.items[i], "inbound_nodes");
            int64_t count = nodes && is_list(nodes) ? nodes->list.count : 0;
            while ((int64_t)r->done[i] < count) {
                outcome now = make_call(r, r->layers[i], &nodes->list.items[r->done[i]]);
                if (now == FAILED)
                    return tw__error_status();
                if (now == WAIT)
                    break;
                r->done[i]++;
                moved = true;
            }
            left |= (int64_t)r->done[i] < count;
        }
    }
    return TW_OK;
}

static tw_status read_layers(reading *r)
{
    for (int64_t i = 0; i < r->entries->list.count; i++) {
        const tw_value *entry = &r->entries->list.items[i];
        tw_layer *layer = tw__deserialize(entry, "layer");
        if (!layer)
            return tw__error_status();
        r->layers[r->count++] = layer;
        if (!tw__is(layer, &tw__class_layer))
            return tw__fail(TW_VALUE_ERROR, "Functional: the config's entry %lld is no layer", (long long)i);
        if (tw__is(layer, &tw__class_layers_input_layer)) {
            tw_keras_tensor *tensor = tw__input_tensor(layer);
            if (!tensor)
                return tw__error_status();
            tw_release(tensor);
        }
    }
    return TW_OK;
}

/* One tensor in a list is the tensor. */
static tw_status read_ends(const reading *r, const tw_value *value, tw_value *out)
{
    if (value && is_list(value) && value->list.count == 1 && is_place(&value->list.items[0]))
        value = &value->list.items[0];
    outcome now = value ? resolve(r, value, out, NULL, true) : FAILED;
    if (now != READY && tw_error_code() == TW_OK)
        return tw__fail(TW_VALUE_ERROR, "Functional: the config does not say the model's inputs and outputs");
    return now == READY ? TW_OK : tw__error_status();
}

/* Calls that no output needs: losses and metrics of the model's tensors. */
static tw_status take_added(const reading *r, tw__functional *model)
{
    for (size_t i = 0; i < r->count; i++) {
        bool adds = tw__is(r->layers[i], &tw__class_layers_add_loss) || tw__is(r->layers[i], &tw__class_layers_add_metric);
        for (size_t n = 0; adds && n < r->layers[i]->node_count; n++) {
            tw__auto(tw_value_free) tw_value results = tw__node_results(r->layers[i], (int)n);
            tw__owned tw_keras_tensor **tensors = NULL;
            size_t count = 0, capacity = 0;
            TW_TRY(tw__keras_tensors_of(&results, &tensors, &count, &capacity));
            for (size_t k = 0; k < count; k++)
                TW_TRY(tw__functional_take(model, tensors[k]));
        }
    }
    return TW_OK;
}

void *tw__functional_from_config(const tw_value *config)
{
    reading r = { .entries = tw__value_get(config, "layers") };
    if (!r.entries || !is_list(r.entries)) {
        tw__fail(TW_VALUE_ERROR, "Functional: the config has no list `layers`");
        return NULL;
    }
    tw_functional_args args = TW_ARGS(functional, .name = tw__value_text(config, "name"));
    const tw_value *trainable = tw__value_get(config, "trainable");
    args.trainable = !trainable || trainable->kind != TW_VALUE_BOOL || trainable->b;
    r.layers = tw__alloc_array((size_t)r.entries->list.count + 1, sizeof *r.layers);
    r.done = tw__alloc_array((size_t)r.entries->list.count + 1, sizeof *r.done);
    void *model = NULL;
    tw_status status = r.layers && r.done ? read_layers(&r) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = make_calls(&r);
    if (status == TW_OK)
        status = read_ends(&r, tw__value_get(config, "input_layers"), &args.inputs);
    if (status == TW_OK)
        status = read_ends(&r, tw__value_get(config, "output_layers"), &args.outputs);
    if (status == TW_OK)
        model = tw_class_make(&tw__class_functional, &args);
    if (model && take_added(&r, model) != TW_OK)
        tw__set(&model, NULL);
    tw_value_free(&args.inputs);
    tw_value_free(&args.outputs);
    for (size_t i = 0; i < r.count; i++)
        tw_release(r.layers[i]);
    tw__free(r.layers);
    tw__free(r.done);
    return model;
}
