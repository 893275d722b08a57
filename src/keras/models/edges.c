/* Which layers of a model lead to which: what plot_model draws, and the inputs that a Keras tensor comes from. */
#include "keras/models/functional.h"

/* Layers and the calls that join them, as far as they were gone through. */
typedef struct walk {
    tw_layer **layers; /* borrowed, like the tensors */
    size_t layer_count, layer_room;
    int64_t (*edges)[2];
    size_t edge_count, edge_room;
    tw_keras_tensor **open; /* to be gone through; the list grows meanwhile */
    size_t count, room;
} walk;

static void walk_end(walk *w)
{
    tw__free(w->layers);
    tw__free(w->edges);
    tw__free(w->open);
}

static int64_t place_of(const walk *w, const tw_layer *layer)
{
    for (size_t i = 0; i < w->layer_count; i++) {
        if (w->layers[i] == layer)
            return (int64_t)i;
    }
    return -1;
}

static tw_status add_layer(walk *w, tw_layer *layer)
{
    if (place_of(w, layer) >= 0)
        return TW_OK;
    TW_TRY(TW_GROW(w->layers, w->layer_room, w->layer_count + 1));
    w->layers[w->layer_count++] = layer;
    return TW_OK;
}

static tw_status add_edge(walk *w, const tw_layer *from, const tw_layer *to)
{
    int64_t ends[2] = { place_of(w, from), place_of(w, to) };
    for (size_t i = 0; i < w->edge_count; i++) {
        if (w->edges[i][0] == ends[0] && w->edges[i][1] == ends[1])
            return TW_OK;
    }
    TW_TRY(TW_GROW(w->edges, w->edge_room, w->edge_count + 1));
    memcpy(w->edges[w->edge_count++], ends, sizeof ends);
    return TW_OK;
}

static bool is_input(const tw_keras_tensor *tensor)
{
    return (size_t)tensor->node >= tensor->layer->node_count || tensor->layer->nodes[tensor->node]->is_input;
}

/* Every call of a graph of layers, in the order of the layers. */
static tw_status walk_functional(walk *w, const tw__functional *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        TW_TRY(add_layer(w, model->layers[i]));
    for (size_t i = 0; i < model->layer_count; i++) {
        for (size_t s = 0; s < model->step_count; s++) {
            if (model->steps[s].layer != model->layers[i])
                continue;
            const tw__layer_node *node = model->layers[i]->nodes[model->steps[s].node];
            w->count = 0;
            TW_TRY(tw__keras_tensors_of(&node->arguments, &w->open, &w->count, &w->room));
            TW_TRY(tw__keras_tensors_of(&node->named, &w->open, &w->count, &w->room));
            for (size_t k = 0; k < w->count; k++) {
                if (place_of(w, w->open[k]->layer) >= 0)
                    TW_TRY(add_edge(w, w->open[k]->layer, model->layers[i]));
            }
        }
    }
    return TW_OK;
}

static tw_status walk_chain(walk *w, tw_layer *model)
{
    tw_keras_tensor *begin = tw__sequential_end(model, false);
    tw_sequential_layers_args args = { .self = (tw_model *)model };
    tw__auto(tw_objects_free) tw_objects layers = tw__impl_sequential_layers(&args);
    TW_TRY(begin ? add_layer(w, begin->layer) : TW_OK);
    for (int64_t i = 0; i < layers.count; i++) {
        TW_TRY(add_layer(w, layers.items[i]));
        if (w->layer_count > 1)
            TW_TRY(add_edge(w, w->layers[w->layer_count - 2], layers.items[i]));
    }
    return TW_OK;
}

static tw_value objects_value(walk *w)
{
    tw_value *items = tw__alloc_array(w->layer_count + 1, sizeof *items);
    for (size_t i = 0; items && i < w->layer_count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(w->layers[i]) };
    return items ? (tw_value){ .kind = TW_VALUE_LIST, .list = { .items = items, .count = (int64_t)w->layer_count } }
                 : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value edges_value(const walk *w)
{
    tw_value *items = tw__alloc_array(w->edge_count + 1, sizeof *items);
    size_t made = 0;
    for (; items && made < w->edge_count; made++) {
        tw_value *ends = tw__alloc_array(2, sizeof *ends);
        if (!ends)
            break;
        ends[0] = (tw_value){ .kind = TW_VALUE_INT, .i = w->edges[made][0] };
        ends[1] = (tw_value){ .kind = TW_VALUE_INT, .i = w->edges[made][1] };
        items[made] = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { .items = ends, .count = 2 } };
    }
    return items ? (tw_value){ .kind = TW_VALUE_LIST, .list = { .items = items, .count = (int64_t)made } }
                 : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(
    model_graph, "keras.utils._model_graph(model: layer) -> value",
    "A dict of a model's `layers`, those of its inputs among them, and `edges`, pairs of the numbers of layers of which one gives what the "
    "other takes. None for a model that is no graph of layers.")
{
    tw__auto(walk_end) walk w = { 0 };
    tw_value none = { .kind = TW_VALUE_NONE };
    tw__functional *functional = tw__functional_of(args->model);
    bool chain = !functional && tw__is(args->model, &tw__class_sequential);
    if ((!functional && !chain) || (functional ? walk_functional(&w, functional) : walk_chain(&w, args->model)) != TW_OK)
        return none;
    tw_value *members = tw__alloc_array(4, sizeof *members);
    if (!members)
        return none;
    members[0] = tw__value_str("layers");
    members[1] = objects_value(&w);
    members[2] = tw__value_str("edges");
    members[3] = edges_value(&w);
    return (tw_value){ .kind = TW_VALUE_DICT, .list = { .items = members, .count = 4 } };
}

static bool is_among(tw_keras_tensor *const *list, size_t count, const tw_keras_tensor *tensor)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= list[i]->layer == tensor->layer && list[i]->node == tensor->node && list[i]->output == tensor->output;
    return found;
}

/* What the call was made with goes on the stack, the first of them on top. */
static tw_status push_sources(walk *w, const tw_keras_tensor *tensor)
{
    const tw__layer_node *node = tensor->layer->nodes[tensor->node];
    size_t first = w->count;
    TW_TRY(tw__keras_tensors_of(&node->arguments, &w->open, &w->count, &w->room));
    TW_TRY(tw__keras_tensors_of(&node->named, &w->open, &w->count, &w->room));
    for (size_t i = first, k = w->count; i + 1 < k; i++) {
        tw_keras_tensor *other = w->open[--k];
        w->open[k] = w->open[i];
        w->open[i] = other;
    }
    return TW_OK;
}

TW_API(source_inputs, "keras.utils._source_inputs(tensor: keras_tensor) -> list<keras_tensor>",
       "The inputs that a Keras tensor is computed from.")
{
    tw__auto(walk_end) walk w = { 0 };
    tw__owned tw_keras_tensor **seen = NULL;
    size_t seen_count = 0, seen_room = 0;
    tw_objects made = { 0 };
    if (TW_GROW(w.open, w.room, 1) != TW_OK)
        return made;
    w.open[w.count++] = args->tensor;
    while (w.count) {
        tw_keras_tensor *tensor = w.open[--w.count];
        if (is_among(seen, seen_count, tensor))
            continue;
        if (TW_GROW(seen, seen_room, seen_count + 1) != TW_OK || (!is_input(tensor) && push_sources(&w, tensor) != TW_OK))
            return made;
        seen[seen_count++] = tensor;
    }
    void **items = tw__alloc_array(seen_count + 1, sizeof *items);
    for (size_t i = 0; items && i < seen_count; i++) {
        if (is_input(seen[i]))
            items[made.count++] = tw_retain(seen[i]);
    }
    made.items = items;
    return made;
}
