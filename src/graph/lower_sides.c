/* On which sides of which conditions nodes run, and which run together; see lower_conds.c. */
#include "graph/lower_sides.h"

/* ---- sides ---- */

static tw__low_input predicate_of(const tw__conds *c, tw__low_input input)
{
    for (size_t i = 0; i <= c->count; i++) {
        const tw__low_node *node = &c->graph->nodes[input.node];
        if (input.port != 0 || !tw__low_is(node, "Identity") || !node->input_count || node->inputs[0].port == TW_LOW_CONTROL)
            break;
        input = node->inputs[0];
    }
    return input;
}

int32_t tw__condition_of(tw__conds *c, tw__low_input predicate)
{
    predicate = predicate_of(c, predicate);
    for (size_t i = 0; i < c->condition_count; i++) {
        if (c->conditions[i].predicate.node == predicate.node && c->conditions[i].predicate.port == predicate.port)
            return (int32_t)i;
    }
    if (TW_GROW(c->conditions, c->condition_capacity, c->condition_count + 1) != TW_OK)
        return -1;
    c->conditions[c->condition_count] = (tw__condition){ predicate, 0 };
    return (int32_t)c->condition_count++;
}

bool tw__low_is_switch(const tw__conds *c, int32_t node)
{
    return tw__low_is(&c->graph->nodes[node], "Switch");
}

/* Adds a side; they stay in order. */
static tw_status add_side(tw__sides *s, int32_t side, const tw__low_node *node)
{
    size_t at = s->count;
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i] == side)
            return TW_OK;
        if (s->items[i] / 2 == side / 2)
            return tw__fail(TW_UNIMPLEMENTED, "node '%.*s' depends on both sides of a condition without a Merge",
                            TW_SHOWN(node->name));
    }
    if (s->count == TW_LOW_NESTING)
        return tw__fail(TW_UNIMPLEMENTED, "node '%.*s': more than %d conditions inside each other", TW_SHOWN(node->name),
                        TW_LOW_NESTING);
    if (!s->items && !(s->items = tw__alloc_array(TW_LOW_NESTING, sizeof *s->items)))
        return TW_RESOURCE_EXHAUSTED;
    for (; at > 0 && s->items[at - 1] > side; at--)
        s->items[at] = s->items[at - 1];
    s->items[at] = side;
    s->count++;
    return TW_OK;
}

tw_status tw__sides_add(tw__conds *c, tw__low_input input, tw__sides *into, const tw__low_node *node)
{
    const tw__sides *from = &c->sides[input.node];
    for (size_t i = 0; i < from->count; i++)
        TW_TRY(add_side(into, from->items[i], node));
    if (!tw__low_is_switch(c, input.node) || input.port == TW_LOW_CONTROL)
        return TW_OK;
    const tw__low_node *chooser = &c->graph->nodes[input.node];
    int32_t key = chooser->input_count >= 2 ? tw__condition_of(c, chooser->inputs[1]) : TW_LOW_NONE;
    if (key < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Switch) has no condition", TW_SHOWN(chooser->name));
    return add_side(into, key * 2 + (input.port != 0), node);
}

tw__sides tw__value_sides(tw__conds *c, tw__low_input value)
{
    tw__sides own = { NULL, 0 };
    if (tw__sides_add(c, value, &own, &c->graph->nodes[value.node]) != TW_OK)
        tw_clear_error(); /* nodes that depend on both sides were refused before */
    return own;
}

bool tw__has_side(const tw__sides *s, int32_t side)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i] == side)
            return true;
    }
    return false;
}

/* A Merge is free of the condition whose sides it joins. */
static tw_status merge_sides(tw__conds *c, int32_t index)
{
    const tw__low_node *node = &c->graph->nodes[index];
    tw__auto(tw__sides_end) tw__sides first = { NULL, 0 }, second = { NULL, 0 };
    int32_t joined = TW_LOW_NONE;
    if (node->input_count < 2 || node->inputs[1].port == TW_LOW_CONTROL ||
        (node->input_count > 2 && node->inputs[2].port != TW_LOW_CONTROL))
        return tw__fail(TW_UNIMPLEMENTED, "node '%.*s' (Merge): two inputs were expected", TW_SHOWN(node->name));
    TW_TRY(tw__sides_add(c, node->inputs[0], &first, node));
    TW_TRY(tw__sides_add(c, node->inputs[1], &second, node));
    for (size_t i = 0; i < first.count; i++) {
        if (tw__has_side(&second, first.items[i] ^ 1))
            joined = joined == TW_LOW_NONE || c->conditions[first.items[i] / 2].depth < c->conditions[joined].depth
                         ? first.items[i] / 2
                         : joined;
    }
    if (joined == TW_LOW_NONE)
        return tw__fail(TW_UNIMPLEMENTED, "node '%.*s' (Merge) does not join the two sides of a condition", TW_SHOWN(node->name));
    for (size_t i = 0; i < first.count; i++) {
        if (first.items[i] / 2 != joined && tw__has_side(&second, first.items[i]))
            TW_TRY(add_side(&c->sides[index], first.items[i], node));
    }
    if (!c->sides[index].count) {
        c->joins[index] = true;
        c->scope[index] = joined;
    }
    return TW_OK;
}

static tw_status find_sides(tw__conds *c)
{
    for (size_t i = 0; i < c->order_count; i++) {
        int32_t index = c->order[i];
        const tw__low_node *node = &c->graph->nodes[index];
        c->scope[index] = TW_LOW_NONE;
        if (tw__low_is(node, "Merge")) {
            TW_TRY(merge_sides(c, index));
        } else if (!tw__low_is(node, "ControlTrigger")) { /* which runs whatever becomes of those it follows */
            for (size_t k = 0; k < node->input_count; k++)
                TW_TRY(tw__sides_add(c, node->inputs[k], &c->sides[index], node));
        }
        if (tw__low_is_switch(c, index) && node->input_count >= 2) {
            int32_t key = tw__condition_of(c, node->inputs[1]);
            tw__sides own = { NULL, 0 };
            tw_status status = key < 0 ? TW_RESOURCE_EXHAUSTED : tw__sides_add(c, c->conditions[key].predicate, &own, node);
            if (status == TW_OK) {
                c->conditions[key].depth = own.count;
                c->graph->nodes[index].inputs[1] = c->conditions[key].predicate; /* one name for one condition */
            }
            tw__free(own.items);
            TW_TRY(status);
        }
    }
    for (size_t i = 0; i < c->order_count; i++) {
        const tw__sides *s = &c->sides[c->order[i]];
        const tw__low_node *node = &c->graph->nodes[c->order[i]];
        int32_t *scope = &c->scope[c->order[i]];
        for (size_t k = 0; k < s->count; k++) {
            if (*scope == TW_LOW_NONE || c->conditions[s->items[k] / 2].depth < c->conditions[*scope].depth)
                *scope = s->items[k] / 2;
        }
        for (size_t k = 0; tw__low_is(node, "ControlTrigger") && k < node->input_count; k++)
            c->followed[node->inputs[k].node] = true;
    }
    return TW_OK;
}

/* ---- groups ---- */

static tw_status add_group(tw__conds *c, int32_t key)
{
    TW_TRY(TW_GROW(c->group_of_key, c->group_capacity, c->group_count + 1));
    c->group_of_key[c->group_count++] = key;
    return TW_OK;
}

/* Whether all inputs are done. Inputs that are gone count as done. A Merge is done behind its group. */
static bool is_ready(const tw__conds *c, int32_t index, int32_t group, const bool *done)
{
    const tw__low_node *node = &c->graph->nodes[index];
    for (size_t i = 0; i < node->input_count; i++) {
        int32_t input = node->inputs[i].node;
        if (!c->graph->nodes[input].gone && (!done[input] || (c->joins[input] && c->group[input] == group)))
            return false;
    }
    return true;
}

/* One pass over the nodes in order: those of the scope that are ready are done. How many. */
static size_t pass(tw__conds *c, int32_t scope, int32_t group, bool *done)
{
    size_t count = 0;
    for (size_t i = 0; i < c->order_count; i++) {
        int32_t index = c->order[i];
        if (done[index] || c->scope[index] != scope || !is_ready(c, index, group, done))
            continue;
        done[index] = true;
        c->group[index] = group;
        count++;
    }
    return count;
}

static tw_status find_groups(tw__conds *c)
{
    tw__owned bool *done = tw__alloc_array(c->count + 1, sizeof *done);
    TW_NEED(done);
    size_t left = c->order_count;
    while (left > 0) {
        size_t count = pass(c, TW_LOW_NONE, TW_LOW_NONE, done);
        for (size_t key = 0; key < c->condition_count && !count; key++) {
            count = pass(c, (int32_t)key, (int32_t)c->group_count, done);
            if (count)
                TW_TRY(add_group(c, (int32_t)key));
        }
        if (!count)
            return tw__fail(TW_INVALID_ARGUMENT, "the graph's conditions depend on each other in a circle");
        left -= count;
    }
    return TW_OK;
}

/* A node runs in the group of the first that needs it: so that conditions on one predicate, which depend on each other, are not
 * torn. */
static void delay(tw__conds *c)
{
    for (size_t i = c->order_count; i-- > 0;) {
        int32_t index = c->order[i];
        const tw__low_node *node = &c->graph->nodes[index];
        for (size_t k = 0; c->group[index] != TW_LOW_NONE && k < node->input_count; k++) {
            int32_t input = node->inputs[k].node;
            if (c->scope[input] != c->scope[index] || c->joins[input] || c->group[input] == TW_LOW_NONE)
                continue;
            int32_t first = c->first_use[input];
            c->first_use[input] = first == TW_LOW_NONE || c->group[index] < first ? c->group[index] : first;
        }
        /* All that use an input stand behind it in the order, so its turn comes when they are settled. */
        if (i > 0 && c->first_use[c->order[i - 1]] != TW_LOW_NONE)
            c->group[c->order[i - 1]] = c->first_use[c->order[i - 1]];
    }
}

bool tw__low_is_pivot(const tw__conds *c, int32_t index)
{
    const tw__low_node *node = &c->graph->nodes[index];
    return tw__low_is(node, "Identity") && node->input_count && node->inputs[0].port != TW_LOW_CONTROL &&
           tw__low_is_switch(c, node->inputs[0].node);
}

static int32_t root_of(int32_t *roots, int32_t index)
{
    while (roots[index] != index)
        index = roots[index] = roots[roots[index]];
    return index;
}

/* Divides groups into parts that have nothing to do with each other, so that who needs one does not run another. */
static tw_status divide(tw__conds *c)
{
    int32_t *roots = c->first_use, *places = tw__alloc_array(c->count + 1, sizeof *places), *keys = NULL;
    size_t count = 0, capacity = 0;
    tw_status status = places ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; places && i < c->count; i++) {
        roots[i] = (int32_t)i;
        places[i] = TW_LOW_NONE;
    }
    for (size_t i = 0; status == TW_OK && i < c->order_count; i++) {
        int32_t index = c->order[i];
        const tw__low_node *node = &c->graph->nodes[index];
        for (size_t k = 0; c->group[index] != TW_LOW_NONE && k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            if (c->group[input.node] == c->group[index] && !(input.port == TW_LOW_CONTROL && tw__low_is_pivot(c, input.node)))
                roots[root_of(roots, index)] = root_of(roots, input.node);
        }
    }
    for (int32_t group = 0; status == TW_OK && group < (int32_t)c->group_count; group++) {
        for (size_t i = 0; status == TW_OK && i < c->order_count; i++) {
            int32_t root = root_of(roots, c->order[i]);
            if (c->group[c->order[i]] != group || places[root] != TW_LOW_NONE ||
                (status = TW_GROW(keys, capacity, count + 1)) != TW_OK)
                continue;
            places[root] = (int32_t)count;
            keys[count++] = c->group_of_key[group];
        }
    }
    for (size_t i = 0; status == TW_OK && i < c->order_count; i++) {
        if (c->group[c->order[i]] != TW_LOW_NONE)
            c->group[c->order[i]] = places[root_of(roots, c->order[i])];
    }
    tw__free(places);
    tw__free(c->group_of_key);
    c->group_of_key = keys;
    c->group_count = status == TW_OK ? count : 0;
    return status;
}

tw_status tw__conds_find(tw__conds *c)
{
    TW_TRY(find_sides(c));
    TW_TRY(find_groups(c));
    delay(c);
    return divide(c);
}
