/* The layers and calls between a functional model's inputs and outputs: found by a walk from the outputs.
 *
 * Layers stand in Keras's order: by depth, counted from the outputs, the deepest first, and among equals as the walk meets them.
 * Calls run in that order, too, and among equals as they are reached from the outputs: random numbers follow from it. */
#include "keras/models/functional.h"

/* ---- the walk ---- */

typedef struct visit {
    tw_layer *layer;
    int node, depth;
    bool reached;
} visit;

typedef struct walk {
    visit *visits; /* in the order in which they end: what a call needs comes before it */
    size_t count, capacity;
    tw__map known;     /* layer, node -> index in visits + 1; SIZE_MAX / 2: in progress */
    tw_layer **layers; /* borrowed, in the order of meeting */
    int *depths;
    size_t layer_count, layer_capacity, depth_capacity;
    size_t *reached; /* the visits in the order in which they are reached from the outputs */
    size_t reached_count;
} walk;

typedef struct frame {
    tw_layer *layer;
    int node;
    tw_keras_tensor **needs; /* borrowed, the list is the frame's */
    size_t need_count, next;
} frame;

typedef struct key {
    const tw_layer *layer;
    intptr_t node;
} key;

static key key_of(const tw_layer *layer, int node)
{
    return (key){ layer, node };
}

static int layer_order(walk *w, tw_layer *layer)
{
    for (size_t i = 0; i < w->layer_count; i++) {
        if (w->layers[i] == layer)
            return (int)i;
    }
    return -1;
}

static tw_status meet(walk *w, tw_layer *layer)
{
    if (layer_order(w, layer) >= 0)
        return TW_OK;
    TW_TRY(TW_GROW(w->layers, w->layer_capacity, w->layer_count + 1));
    TW_TRY(TW_GROW(w->depths, w->depth_capacity, w->layer_count + 1));
    w->depths[w->layer_count] = 0;
    w->layers[w->layer_count++] = layer;
    return TW_OK;
}

static tw_status needs_of(const tw__layer_node *node, tw_keras_tensor ***needs, size_t *count)
{
    size_t capacity = 0;
    *needs = NULL;
    *count = 0;
    if (node->is_input)
        return TW_OK;
    TW_TRY(tw__keras_tensors_of(&node->arguments, needs, count, &capacity));
    return tw__keras_tensors_of(&node->named, needs, count, &capacity);
}

static tw_status enter(walk *w, frame **stack, size_t *size, size_t *capacity, const tw_keras_tensor *tensor)
{
    key k = key_of(tensor->layer, tensor->node);
    if (tw__map_has(&w->known, &k, sizeof k)) {
        if (tw__map_get(&w->known, &k, sizeof k) == w)
            return tw__fail(TW_VALUE_ERROR, "Tensor %s from layer \"%s\" is part of a cycle.", tensor->name, tensor->layer->name);
        return TW_OK;
    }
    TW_TRY(meet(w, tensor->layer));
    TW_TRY(tw__map_put(&w->known, &k, sizeof k, w)); /* in progress */
    TW_TRY(TW_GROW(*stack, *capacity, *size + 1));
    frame *f = &(*stack)[*size];
    *f = (frame){ .layer = tensor->layer, .node = tensor->node };
    *size += 1;
    return needs_of(tensor->layer->nodes[tensor->node], &f->needs, &f->need_count);
}

static tw_status walk_from(walk *w, const tw_keras_tensor *output)
{
    tw__owned frame *stack = NULL;
    size_t size = 0, capacity = 0;
    tw_status status = enter(w, &stack, &size, &capacity, output);
    while (status == TW_OK && size) {
        frame *f = &stack[size - 1];
        if (f->next < f->need_count) {
            const tw_keras_tensor *need = f->needs[f->next++];
            status = enter(w, &stack, &size, &capacity, need);
            continue;
        }
        status = TW_GROW(w->visits, w->capacity, w->count + 1);
        if (status != TW_OK)
            break;
        w->visits[w->count++] = (visit){ .layer = f->layer, .node = f->node };
        key k = key_of(f->layer, f->node);
        status = tw__map_put(&w->known, &k, sizeof k, (void *)(uintptr_t)w->count);
        tw__free(f->needs);
        size--;
    }
    while (size)
        tw__free(stack[--size].needs);
    return status;
}

static void reach(walk *w, visit *v)
{
    if (!v->reached)
        w->reached[w->reached_count++] = (size_t)(v - w->visits);
    v->reached = true;
}

/* From the outputs back: a call is deeper than those that use it, and no less deep than the layer's other calls that come after
 * it. */
static tw_status set_depths(walk *w)
{
    TW_NEED(w->reached = tw__alloc_array(w->count + 1, sizeof *w->reached));
    for (size_t i = w->count; i-- > 0;) {
        visit *v = &w->visits[i];
        reach(w, v);
        int order = layer_order(w, v->layer);
        if (v->depth < w->depths[order])
            v->depth = w->depths[order];
        w->depths[order] = v->depth;
        tw_keras_tensor **needs;
        size_t count;
        tw_status status = needs_of(v->layer->nodes[v->node], &needs, &count);
        for (size_t n = 0; status == TW_OK && n < count; n++) {
            key k = key_of(needs[n]->layer, needs[n]->node);
            visit *need = &w->visits[(uintptr_t)tw__map_get(&w->known, &k, sizeof k) - 1];
            reach(w, need);
            if (need->depth < v->depth + 1)
                need->depth = v->depth + 1;
        }
        tw__free(needs);
        TW_TRY(status);
    }
    return TW_OK;
}

static void walk_free(walk *w)
{
    tw__free(w->visits);
    tw__map_free(&w->known, NULL);
    tw__free(w->layers);
    tw__free(w->depths);
    tw__free(w->reached);
}

/* ---- what the model keeps of it ---- */

static bool is_input_of(const tw__functional *model, const tw_layer *layer, int node)
{
    for (size_t i = 0; i < model->input_count; i++) {
        if (model->flat_inputs[i]->layer == layer && model->flat_inputs[i]->node == node)
            return true;
    }
    return false;
}

static tw_status put_place(tw__functional *model, tw_layer *layer, int node)
{
    key k = key_of(layer, node);
    TW_TRY(tw__map_put(&model->places, &k, sizeof k, (void *)(uintptr_t)(model->value_count + 1)));
    model->value_count += (size_t)layer->nodes[node]->output_count;
    return TW_OK;
}

static tw_status check_names(const tw__functional *model)
{
    for (size_t i = 0; i < model->layer_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(model->layers[i]->name, model->layers[k]->name) == 0)
                return tw__fail(TW_VALUE_ERROR, "The name \"%s\" is used 2 times in the model. All layer names should be unique.",
                                model->layers[i]->name);
        }
    }
    return TW_OK;
}

static tw_status set_layers(tw__functional *model, walk *w)
{
    for (size_t i = 0; i < model->input_count; i++) /* inputs that no output uses stand last, before those that were met */
        if (layer_order(w, model->flat_inputs[i]->layer) < 0)
            TW_TRY(meet(w, model->flat_inputs[i]->layer));
    int deepest = 0;
    for (size_t i = 0; i < w->layer_count; i++)
        deepest = w->depths[i] > deepest ? w->depths[i] : deepest;
    model->layers = tw__alloc_array(w->layer_count + 1, sizeof *model->layers);
    if (!model->layers)
        return TW_RESOURCE_EXHAUSTED;
    for (int depth = deepest; depth >= 0; depth--) {
        for (size_t i = 0; i < w->layer_count; i++) {
            if (w->depths[i] == depth)
                model->layers[model->layer_count++] = tw_retain(w->layers[i]);
        }
    }
    return check_names(model);
}

static tw_status add_step(tw__functional *model, const visit *v)
{
    if (is_input_of(model, v->layer, v->node))
        return TW_OK;
    if (v->layer->nodes[v->node]->is_input)
        return tw__fail(
            TW_VALUE_ERROR,
            "Graph disconnected: cannot obtain value for the tensor of layer \"%s\". The model's inputs do not contain it.",
            v->layer->name);
    model->steps[model->step_count++] = (tw__node_step){ v->layer, v->node, (int)model->value_count };
    return put_place(model, v->layer, v->node);
}

static tw_status set_steps(tw__functional *model, const walk *w)
{
    int deepest = 0;
    model->steps = tw__alloc_array(w->count + 1, sizeof *model->steps);
    if (!model->steps)
        return TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < model->input_count; i++) {
        key k = key_of(model->flat_inputs[i]->layer, model->flat_inputs[i]->node);
        if (!tw__map_has(&model->places, &k, sizeof k))
            TW_TRY(put_place(model, model->flat_inputs[i]->layer, model->flat_inputs[i]->node));
    }
    for (size_t i = 0; i < w->count; i++)
        deepest = w->visits[i].depth > deepest ? w->visits[i].depth : deepest;
    for (int depth = deepest; depth >= 0; depth--) {
        for (size_t i = 0; i < w->reached_count; i++) {
            if (w->visits[w->reached[i]].depth == depth)
                TW_TRY(add_step(model, &w->visits[w->reached[i]]));
        }
    }
    return TW_OK;
}

/* Layers that a model's input comes from in the middle of a graph: its calls before are not needed. */
static tw_status mark_inputs(tw__functional *model, walk *w)
{
    for (size_t i = 0; i < model->input_count; i++) {
        const tw_keras_tensor *input = model->flat_inputs[i];
        for (size_t k = 0; k < i; k++) {
            if (model->flat_inputs[k]->layer == input->layer && model->flat_inputs[k]->node == input->node &&
                model->flat_inputs[k]->output == input->output)
                return tw__fail(
                    TW_VALUE_ERROR,
                    "The list of inputs passed to the model contains the same input multiple times. All inputs should only "
                    "appear once. Received inputs: \"%s\"",
                    input->name);
        }
        if (!input->layer->nodes[input->node]->is_input)
            return tw__fail(TW_UNIMPLEMENTED,
                            "Functional: the input \"%s\" is the output of the layer \"%s\"; inputs must come from keras.Input",
                            input->name, input->layer->name);
    }
    (void)w;
    return TW_OK;
}

tw_status tw__functional_arrange(tw__functional *model)
{
    tw__auto(walk_free) walk w = { 0 };
    TW_TRY(mark_inputs(model, &w));
    for (size_t i = 0; i < model->output_count; i++)
        TW_TRY(walk_from(&w, model->flat_outputs[i]));
    for (size_t i = 0; i < model->added_count; i++)
        TW_TRY(walk_from(&w, model->added[i]));
    TW_TRY(set_depths(&w));
    TW_TRY(set_layers(model, &w));
    return set_steps(model, &w);
}

void tw__functional_drop_steps(tw__functional *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        tw_release(model->layers[i]);
    tw__free(model->layers);
    tw__free(model->steps);
    tw__map_free(&model->places, NULL);
    model->layers = NULL;
    model->steps = NULL;
    model->places = (tw__map){ 0 };
    model->layer_count = model->step_count = model->value_count = 0;
}

size_t tw__functional_place(const tw__functional *model, const tw_keras_tensor *tensor)
{
    key k = key_of(tensor->layer, tensor->node);
    uintptr_t place = (uintptr_t)tw__map_get(&model->places, &k, sizeof k);
    return place ? place - 1 + (size_t)tensor->output : SIZE_MAX;
}
