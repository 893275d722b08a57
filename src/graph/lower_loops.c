/* Frames become loops over functions; see lower.h.
 *
 *     x ─ Enter ─ Merge ─ Switch ─1─ body … ─ NextIteration ─┐
 *                  ↑  └─ … ─ LoopCond ↑ └0─ Exit              │
 *                  └───────────────────────────────────────────┘
 *
 * gives While(x …) with the nodes between Merge and LoopCond as its condition and those between Switch and NextIteration as its
 * body. What enters as a constant, or is used without entering (handles of variables), is carried along unchanged. */
#include "graph/lower.h"

typedef struct frame {
    tw_string name;
    int32_t parent;
    int depth;
} frame;

typedef struct variable {
    int32_t merge, enter, next, chosen; /* chosen: the Switch; -1: there is none */
} variable;

typedef struct loops {
    tw__low_graph *graph;
    frame *frames; /* 0: outside of all */
    size_t frame_count, frame_capacity;
    int32_t *frame_of; /* by node */
    size_t frame_of_capacity;
} loops;

static void loops_end(loops *all)
{
    tw__free(all->frames);
    tw__free(all->frame_of);
}

/* One frame while it is turned into a loop. */
typedef struct loop {
    loops *all;
    int32_t frame, condition;
    variable *variables;
    size_t variable_count, variable_capacity;
    tw__low_input *carried; /* from outside, unchanged */
    size_t carried_count, carried_capacity;
    int32_t *carriers; /* per carried value: the Enter; -1: it is used without one */
    size_t carriers_capacity;
    int32_t *places; /* by node: of a Merge, Switch or Enter: which value it is; -1 */
} loop;

static void loop_end(loop *l)
{
    tw__free(l->variables);
    tw__free(l->carried);
    tw__free(l->carriers);
    tw__free(l->places);
}

static bool goes_back(const tw__low_graph *graph, int32_t node, tw__low_input input)
{
    const tw__low_node *to = &graph->nodes[node], *from = &graph->nodes[input.node];
    return (tw__low_is(to, "Merge") || tw__low_is(to, "RefMerge")) &&
           (tw__low_is(from, "NextIteration") || tw__low_is(from, "RefNextIteration"));
}

int32_t *tw__low_order_loops(const tw__low_graph *graph, size_t *count)
{
    return tw__low_order(graph, goes_back, count);
}

/* ---- which node is in which frame ---- */

static tw_string text_attr(const tw__low_node *node, const char *name)
{
    tw__AttrValue value;
    return tw__low_value(node, name, &value) ? value.s : (tw_string){ "", 0 };
}

static int32_t frame_named(loops *all, int32_t parent, tw_string name)
{
    for (size_t i = 1; i < all->frame_count; i++) {
        const frame *f = &all->frames[i];
        if (f->parent == parent && f->name.size == name.size && memcmp(f->name.data, name.data, name.size) == 0)
            return (int32_t)i;
    }
    if (TW_GROW(all->frames, all->frame_capacity, all->frame_count + 1) != TW_OK)
        return -1;
    all->frames[all->frame_count] = (frame){ name, parent, all->frames[parent].depth + 1 };
    return (int32_t)all->frame_count++;
}

static tw_status find_frames(loops *all)
{
    tw__low_graph *graph = all->graph;
    size_t count;
    tw__owned int32_t *order = tw__low_order_loops(graph, &count);
    TW_NEED(order);
    for (size_t i = 0; i < count; i++) {
        const tw__low_node *node = &graph->nodes[order[i]];
        int32_t deepest = 0;
        for (size_t k = 0; k < node->input_count; k++) {
            int32_t other = goes_back(graph, order[i], node->inputs[k]) ? 0 : all->frame_of[node->inputs[k].node];
            /* What comes out of a frame is known by its Exit, not by what is inside. */
            if (all->frames[other].depth > all->frames[deepest].depth)
                deepest = other;
        }
        if (tw__low_is(node, "Enter"))
            deepest = frame_named(all, deepest, text_attr(node, "frame_name"));
        else if (tw__low_is(node, "Exit") && deepest == 0)
            return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Exit) is in no loop", TW_SHOWN(node->name));
        else if (tw__low_is(node, "Exit"))
            deepest = all->frames[deepest].parent;
        if (deepest < 0)
            return TW_RESOURCE_EXHAUSTED;
        all->frame_of[order[i]] = deepest < 0 ? 0 : deepest;
    }
    return TW_OK;
}

/* ---- the parts of one loop ---- */

static tw_status add_variable(loop *l, int32_t merge)
{
    tw__low_graph *graph = l->all->graph;
    const tw__low_node *node = &graph->nodes[merge];
    variable v = { merge, -1, -1, -1 };
    for (size_t i = 0; i < node->input_count && node->inputs[i].port != TW_LOW_CONTROL; i++) {
        const tw__low_node *input = &graph->nodes[node->inputs[i].node];
        if (tw__low_is(input, "Enter"))
            v.enter = node->inputs[i].node;
        else if (tw__low_is(input, "NextIteration"))
            v.next = node->inputs[i].node;
    }
    if (v.next < 0)
        return TW_OK; /* it joins branches */
    if (v.enter < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Merge): nothing enters the loop there", TW_SHOWN(node->name));
    TW_TRY(TW_GROW(l->variables, l->variable_capacity, l->variable_count + 1));
    l->places[merge] = l->places[v.enter] = (int32_t)l->variable_count;
    l->variables[l->variable_count++] = v;
    return TW_OK;
}

static tw_status carry(loop *l, tw__low_input value, int32_t enter)
{
    for (size_t i = 0; enter < 0 && i < l->carried_count; i++) {
        if (l->carriers[i] < 0 && l->carried[i].node == value.node && l->carried[i].port == value.port)
            return TW_OK;
    }
    TW_TRY(TW_GROW(l->carried, l->carried_capacity, l->carried_count + 1));
    TW_TRY(TW_GROW(l->carriers, l->carriers_capacity, l->carried_count + 1));
    if (enter >= 0)
        l->places[enter] = (int32_t)(l->variable_count + l->carried_count);
    l->carriers[l->carried_count] = enter;
    l->carried[l->carried_count++] = value;
    return TW_OK;
}

static tw_status find_parts(loop *l)
{
    const loops *all = l->all;
    tw__low_graph *graph = all->graph;
    l->condition = -1;
    for (size_t i = 0; i < graph->count; i++) {
        const tw__low_node *node = &graph->nodes[i];
        if (node->gone || all->frame_of[i] != l->frame)
            continue;
        if (tw__low_is(node, "Merge"))
            TW_TRY(add_variable(l, (int32_t)i));
        else if (tw__low_is(node, "LoopCond"))
            l->condition = (int32_t)i;
    }
    if (l->condition < 0 || !graph->nodes[l->condition].input_count)
        return tw__fail(TW_INVALID_ARGUMENT, "the loop '%.*s' has no LoopCond", TW_SHOWN(all->frames[l->frame].name));
    for (size_t i = 0; i < graph->count; i++) {
        const tw__low_node *node = &graph->nodes[i];
        if (node->gone || all->frame_of[i] != l->frame)
            continue;
        if (tw__low_is(node, "Enter") && node->input_count && l->places[i] < 0)
            TW_TRY(carry(l, node->inputs[0], (int32_t)i));
        bool chooses = tw__low_is(node, "Switch") && node->input_count >= 2 && node->inputs[1].node == l->condition;
        int32_t place = chooses ? l->places[node->inputs[0].node] : -1;
        if (chooses && (place < 0 || (size_t)place >= l->variable_count))
            return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Switch) of a loop takes no value of the loop",
                            TW_SHOWN(node->name));
        if (chooses) {
            l->places[i] = place;
            l->variables[place].chosen = (int32_t)i;
        }
        for (size_t k = 0; !tw__low_is(node, "Enter") && k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            if (input.port != TW_LOW_CONTROL && all->frame_of[input.node] != l->frame && !graph->nodes[input.node].gone)
                TW_TRY(carry(l, input, -1));
        }
    }
    return TW_OK;
}

/* ---- functions of the loop ---- */

typedef struct copying {
    const loop *l;
    tw__low_graph *body;
    int32_t *copies; /* by node; -1 */
} copying;

/* The argument that stands for an input; -1: none does. */
static int32_t argument_of(const loop *l, tw__low_input input)
{
    int32_t place = l->places[input.node];
    if (place >= 0 && l->all->frame_of[input.node] == l->frame)
        return place;
    for (size_t i = 0; l->all->frame_of[input.node] != l->frame && i < l->carried_count; i++) {
        if (l->carriers[i] < 0 && l->carried[i].node == input.node && l->carried[i].port == input.port)
            return (int32_t)(l->variable_count + i);
    }
    return -1;
}

/* Whether an input for order is of no account inside: it is about entering, or about what is outside. */
static bool passes_by(const loop *l, tw__low_input input)
{
    const tw__low_node *node = &l->all->graph->nodes[input.node];
    return input.port == TW_LOW_CONTROL &&
           (node->gone || l->all->frame_of[input.node] != l->frame || l->places[input.node] >= 0 || input.node == l->condition ||
            tw__low_is(node, "NextIteration"));
}

/* Copies what an output needs, depth-first with a stack of its own. *result is the output in the copy. */
static tw_status copy_output(copying *c, tw__low_input output, tw__low_input *result)
{
    const loop *l = c->l;
    tw__low_graph *graph = l->all->graph;
    int32_t argument = argument_of(l, output);
    if (argument >= 0) {
        *result = (tw__low_input){ argument, 0 };
        return TW_OK;
    }
    tw__owned int32_t *stack = NULL;
    size_t depth = 0, capacity = 0;
    TW_TRY(TW_GROW(stack, capacity, 1));
    if (c->copies[output.node] < 0)
        stack[depth++] = output.node;
    while (depth > 0) {
        int32_t at = stack[depth - 1];
        const tw__low_node *node = &graph->nodes[at];
        size_t before = depth;
        for (size_t i = 0; c->copies[at] < 0 && i < node->input_count; i++) {
            tw__low_input input = node->inputs[i];
            if (passes_by(l, input) || argument_of(l, input) >= 0 || c->copies[input.node] >= 0)
                continue;
            if (tw__low_is(&graph->nodes[input.node], "NextIteration") || depth > graph->count)
                return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s': its inputs make a cycle in the loop '%.*s'",
                                TW_SHOWN(node->name), TW_SHOWN(l->all->frames[l->frame].name));
            TW_TRY(TW_GROW(stack, capacity, depth + 1));
            stack[depth++] = input.node;
        }
        if (depth > before)
            continue;
        depth--;
        if (c->copies[at] >= 0)
            continue;
        int32_t copy = tw__low_copy(c->body, node);
        if (copy < 0)
            return TW_RESOURCE_EXHAUSTED;
        if (at == l->condition) { /* it gives its input; inside the body it is true */
            c->body->nodes[copy].op = (tw_string){ "Identity", 8 };
            TW_TRY(tw__low_attr_type(c->body, &c->body->nodes[copy], "T", TW_BOOL));
        }
        c->copies[at] = copy;
        for (size_t i = 0; i < node->input_count; i++) {
            tw__low_input input = node->inputs[i];
            int32_t place = argument_of(l, input);
            if (!passes_by(l, input))
                TW_TRY(tw__low_input_add(&c->body->nodes[copy], place >= 0
                                                                    ? (tw__low_input){ place, 0 }
                                                                    : (tw__low_input){ c->copies[input.node], input.port }));
        }
    }
    *result = (tw__low_input){ c->copies[output.node], output.port };
    return TW_OK;
}

static tw_dtype value_type(const loop *l, size_t value)
{
    const tw__low_graph *graph = l->all->graph;
    if (value < l->variable_count)
        return tw__low_type(&graph->nodes[l->variables[value].merge], "T");
    return tw__low_output_type(graph, l->carried[value - l->variable_count]);
}

static tw_status fill_body(copying *c, bool condition, tw__low_input *results)
{
    const loop *l = c->l;
    const tw__low_graph *graph = l->all->graph;
    if (condition)
        return copy_output(c, graph->nodes[l->condition].inputs[0], &results[0]);
    for (size_t i = 0; i < l->variable_count; i++) {
        const tw__low_node *next = &graph->nodes[l->variables[i].next];
        TW_TRY(next->input_count ? copy_output(c, next->inputs[0], &results[i])
                                 : tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' has no input", TW_SHOWN(next->name)));
        for (size_t k = 1; k < next->input_count; k++) { /* what is to happen in each round */
            tw__low_input ignored, input = { next->inputs[k].node, 0 };
            if (!passes_by(l, next->inputs[k]) && argument_of(l, input) < 0)
                TW_TRY(copy_output(c, input, &ignored));
        }
    }
    for (size_t i = 0; i < l->carried_count; i++)
        results[l->variable_count + i] = (tw__low_input){ (int32_t)(l->variable_count + i), 0 };
    return TW_OK;
}

static tw_status make_function(const loop *l, bool condition, tw_string *name, bool *stateful)
{
    tw__auto(tw__low_graph_free) tw__low_graph body = { .message = l->all->graph->message };
    size_t values = l->variable_count + l->carried_count;
    tw__owned int32_t *copies = tw__alloc_array(l->all->graph->count + 1, sizeof *copies);
    copying c = { .l = l, .body = &body, .copies = copies };
    tw__owned tw__low_input *results = tw__alloc_array(values + 1, sizeof *results);
    TW_NEED(copies && results);
    for (size_t i = 0; i < l->all->graph->count; i++)
        copies[i] = -1;
    for (size_t i = 0; i < values; i++) {
        tw_dtype dtype = value_type(l, i);
        TW_TRY(dtype == TW_DTYPE_NONE ? tw__fail(TW_INVALID_ARGUMENT, "the loop '%.*s': the dtype of its value %zu is not known",
                                                 TW_SHOWN(l->all->frames[l->frame].name), i)
               : tw__low_argument(&body, dtype) < 0 ? TW_RESOURCE_EXHAUSTED
                                                    : TW_OK);
    }
    TW_TRY(fill_body(&c, condition, results));
    *stateful |= tw__low_stateful(&body);
    return tw__low_function(&body, values, results, condition ? 1 : values, l->all->graph->nodes[l->condition].name,
                            condition ? "cond" : "body", 1, name);
}

/* ---- the node ---- */

static tw_status fill_while(const loop *l, tw_string cond, tw_string body, bool stateful)
{
    tw__low_graph *graph = l->all->graph;
    tw__low_node *node = &graph->nodes[l->condition];
    size_t values = l->variable_count + l->carried_count;
    tw__owned tw_dtype *types = tw__alloc_array(values + 1, sizeof *types);
    TW_NEED(types);
    node->op = stateful ? (tw_string){ "While", 5 } : (tw_string){ "StatelessWhile", 14 };
    node->attr_count = node->input_count = 0;
    for (size_t i = 0; i < values; i++) {
        types[i] = value_type(l, i);
        const tw__low_node *enter = i < l->variable_count ? &graph->nodes[l->variables[i].enter] : NULL;
        TW_TRY(enter && !enter->input_count
                   ? tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' has no input", TW_SHOWN(enter->name))
                   : tw__low_input_add(node, enter ? enter->inputs[0] : l->carried[i - l->variable_count]));
    }
    TW_TRY(tw__low_attr_types(graph, node, "T", types, values));
    TW_TRY(tw__low_attr_function(graph, node, "cond", cond));
    return tw__low_attr_function(graph, node, "body", body);
}

/* An output behind the loop, once it has ended. Nodes between the end and an Exit move out of the loop. */
static tw_status lift(const loop *l, tw__low_input *output, int depth)
{
    tw__low_graph *graph = l->all->graph;
    int32_t *frame_of = l->all->frame_of, index = output->node;
    tw__low_node *node = &graph->nodes[index];
    if (frame_of[index] != l->frame)
        return TW_OK;
    if (l->places[index] >= 0) {
        *output = (tw__low_input){ l->condition, output->port == TW_LOW_CONTROL ? TW_LOW_CONTROL : l->places[index] };
        return TW_OK;
    }
    if (depth > 1000 || index == l->condition || tw__low_is(node, "NextIteration"))
        return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (%.*s) of a loop leads to no value of the loop", TW_SHOWN(node->name),
                        TW_SHOWN(node->op));
    frame_of[index] = l->all->frames[l->frame].parent;
    for (size_t i = 0; i < graph->nodes[index].input_count; i++)
        TW_TRY(lift(l, &graph->nodes[index].inputs[i], depth + 1));
    return TW_OK;
}

/* Nodes of the frame give way to the loop; those that come out of it give its results. */
static tw_status replace(const loop *l)
{
    tw__low_graph *graph = l->all->graph;
    int32_t *frame_of = l->all->frame_of;
    for (size_t i = 0; i < graph->count; i++) { /* the loop follows what its nodes follow */
        const tw__low_node *node = &graph->nodes[i];
        for (size_t k = 0; !node->gone && (int32_t)i != l->condition && frame_of[i] == l->frame && k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            if (input.port == TW_LOW_CONTROL && frame_of[input.node] != l->frame && !graph->nodes[input.node].gone)
                TW_TRY(tw__low_order_after(&graph->nodes[l->condition], input.node));
        }
    }
    for (size_t i = 0; i < graph->count; i++) {
        tw__low_node *node = &graph->nodes[i];
        if (!tw__low_is(node, "Exit") || !node->input_count || frame_of[node->inputs[0].node] != l->frame)
            continue;
        node->op = (tw_string){ "Identity", 8 };
        TW_TRY(lift(l, &node->inputs[0], 0));
    }
    for (size_t i = 0; i < graph->count; i++) {
        tw__low_node *node = &graph->nodes[i];
        if (node->gone || (int32_t)i == l->condition || frame_of[i] != l->frame)
            continue;
        node->gone = true;
        node->instead = l->condition;
    }
    frame_of[l->condition] = l->all->frames[l->frame].parent;
    return TW_OK;
}

static tw_status turn_frame(loops *all, int32_t number)
{
    tw__auto(loop_end) loop l = { .all = all, .frame = number };
    tw_string cond = { NULL, 0 }, body = { NULL, 0 };
    bool stateful = false;
    l.places = tw__alloc_array(all->graph->count + 1, sizeof *l.places);
    TW_NEED(l.places);
    for (size_t i = 0; i < all->graph->count; i++)
        l.places[i] = -1;
    TW_TRY(find_parts(&l));
    TW_TRY(make_function(&l, true, &cond, &stateful));
    TW_TRY(make_function(&l, false, &body, &stateful));
    TW_TRY(fill_while(&l, cond, body, stateful));
    return replace(&l);
}

tw_status tw__lower_loops(tw__low_graph *graph)
{
    tw__auto(loops_end) loops all = { .graph = graph, .frame_of = tw__alloc_array(graph->count + 1, sizeof *all.frame_of) };
    TW_NEED(all.frame_of);
    TW_TRY(TW_GROW(all.frames, all.frame_capacity, 1));
    all.frames[all.frame_count++] = (frame){ { "", 0 }, 0, 0 };
    TW_TRY(find_frames(&all));
    int deepest = 0;
    for (size_t i = 0; i < all.frame_count; i++)
        deepest = all.frames[i].depth > deepest ? all.frames[i].depth : deepest;
    for (int depth = deepest; depth > 0; depth--) {
        for (size_t i = 1; i < all.frame_count; i++) {
            if (all.frames[i].depth == depth)
                TW_TRY(turn_frame(&all, (int32_t)i));
        }
    }
    return TW_OK;
}
