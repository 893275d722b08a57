/* Nodes between Switch and Merge become branches of an If; see lower.h.
 *
 * A node's *sides* say on which sides of which conditions it runs: those of its inputs, and for output k of a Switch side k of
 * its condition; a Merge joins the two sides of one condition, which it is free of. A condition that stands in no other is an
 * outer one: the nodes on its sides are put into groups, each as many as can run one after the other without anything from
 * outside, and each group becomes an If. Conditions inside are found when the branches, graphs of their own, are rewritten in
 * turn. What a later group of the same condition needs of an earlier one (gradients need what was computed forward) the earlier
 * one gives out; on the other side, where there is no such value, an empty one stands in its place, which nobody reads. */
#include "graph/lower_sides.h"

/* ---- one If ---- */

typedef struct branching {
    tw__conds *c;
    int32_t group, key;
    tw__low_input *captures; /* what comes from outside */
    size_t capture_count, capture_capacity;
    tw__low_input *results; /* Merges (twice: value and which), then what is given out */
    size_t result_count, result_capacity;
    int32_t *orders; /* nodes outside that the group follows */
    size_t order_count, order_capacity;
} branching;

static void branching_end(branching *b)
{
    tw__free(b->captures);
    tw__free(b->results);
    tw__free(b->orders);
}

/* The value that stands for an output that a node of the group uses: what a Switch chooses from, what an earlier group gave out.
 */
static tw__low_input outer_value(const branching *b, tw__low_input input)
{
    const tw__conds *c = b->c;
    const tw__low_node *node = &c->graph->nodes[input.node];
    for (size_t i = 0; i < c->export_count; i++) {
        if (c->exports[i].value.node == input.node && c->exports[i].value.port == input.port)
            return c->exports[i].result;
    }
    if (tw__low_is_switch(c, input.node) && c->scope[input.node] != b->key && input.port != TW_LOW_CONTROL)
        return node->inputs[0];
    return input;
}

static bool is_inside(const branching *b, tw__low_input input)
{
    return (size_t)input.node < b->c->count && b->c->group[input.node] == b->group && !b->c->joins[input.node];
}

/* Whether the input comes from an earlier group of the same condition, which gave it out. */
static bool was_given(const branching *b, tw__low_input input)
{
    return input.port != TW_LOW_CONTROL && (size_t)input.node < b->c->count && b->c->scope[input.node] == b->key &&
           !b->c->joins[input.node] && !is_inside(b, input);
}

static tw_status add_capture(branching *b, tw__low_input input);

/* A value that was given out of an inner condition is used on its side of that again: its predicate is needed. */
static tw_status capture_predicates(branching *b, tw__low_input input)
{
    tw__auto(tw__sides_end) tw__sides own = tw__value_sides(b->c, input);
    for (size_t i = 0; was_given(b, input) && i < own.count; i++) {
        tw__low_input predicate = b->c->conditions[own.items[i] / 2].predicate;
        if (own.items[i] / 2 != b->key && !is_inside(b, predicate))
            TW_TRY(add_capture(b, predicate));
    }
    return TW_OK;
}

static tw_status add_capture(branching *b, tw__low_input input)
{
    TW_TRY(capture_predicates(b, input));
    tw__low_input value = outer_value(b, input);
    for (size_t i = 0; i < b->capture_count; i++) {
        if (b->captures[i].node == value.node && b->captures[i].port == value.port)
            return TW_OK;
    }
    TW_TRY(TW_GROW(b->captures, b->capture_capacity, b->capture_count + 1));
    b->captures[b->capture_count++] = value;
    return TW_OK;
}

static tw_status add_result(branching *b, tw__low_input value)
{
    TW_TRY(TW_GROW(b->results, b->result_capacity, b->result_count + 1));
    b->results[b->result_count++] = value;
    return TW_OK;
}

static tw_status add_export(branching *b, tw__low_input value)
{
    for (size_t n = 0; n < b->result_count; n++) {
        if (b->results[n].node == value.node && b->results[n].port == value.port)
            return TW_OK;
    }
    TW_TRY(add_result(b, value));
    tw__auto(tw__sides_end) tw__sides own = tw__value_sides(b->c, value);
    for (size_t i = 0; i < own.count; i++) { /* who uses it needs to know its sides */
        tw__low_input predicate = b->c->conditions[own.items[i] / 2].predicate;
        if (own.items[i] / 2 != b->key && is_inside(b, predicate))
            TW_TRY(add_export(b, predicate));
    }
    return TW_OK;
}

static tw_status find_exports(branching *b)
{
    const tw__conds *c = b->c;
    for (size_t i = 0; i < c->order_count; i++) {
        int32_t index = c->order[i];
        const tw__low_node *node = &c->graph->nodes[index];
        if (c->scope[index] != b->key || c->group[index] <= b->group)
            continue;
        for (size_t k = 0; k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            if (input.port != TW_LOW_CONTROL && is_inside(b, input))
                TW_TRY(add_export(b, input));
        }
    }
    return TW_OK;
}

/* What the group takes from outside, and what it gives. */
static tw_status find_ends(branching *b)
{
    const tw__conds *c = b->c;
    for (size_t i = 0; i < c->order_count; i++) {
        int32_t index = c->order[i];
        if (c->group[index] == b->group && c->joins[index]) {
            TW_TRY(add_result(b, (tw__low_input){ index, 0 }));
            TW_TRY(add_result(b, (tw__low_input){ index, 1 }));
        }
    }
    TW_TRY(find_exports(b));
    for (size_t i = 0; i < c->order_count; i++) {
        int32_t index = c->order[i];
        const tw__low_node *node = &c->graph->nodes[index];
        for (size_t k = 0; c->group[index] == b->group && k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            if (c->graph->nodes[input.node].gone && input.port == TW_LOW_CONTROL)
                continue;
            if (is_inside(b, input))
                continue;
            if (input.port != TW_LOW_CONTROL) {
                TW_TRY(add_capture(b, input));
            } else if (!tw__low_is_switch(c, input.node) && !tw__low_is_pivot(c, input.node)) {
                TW_TRY(TW_GROW(b->orders, b->order_capacity, b->order_count + 1));
                b->orders[b->order_count++] = input.node;
            }
        }
    }
    return TW_OK;
}

/* ---- one branch ---- */

typedef struct branch {
    const branching *b;
    int side;
    tw__low_graph body;
    int32_t *copies; /* by node; -1 */
} branch;

static void branch_end(branch *r)
{
    tw__low_graph_free(&r->body);
    tw__free(r->copies);
}

/* An output as the branch has it. */
static tw__low_input inner_value(const branch *r, tw__low_input input)
{
    if (is_inside(r->b, input))
        return (tw__low_input){ r->copies[input.node], input.port };
    tw__low_input value = outer_value(r->b, input);
    for (size_t i = 0; i < r->b->capture_count; i++) {
        if (r->b->captures[i].node == value.node && r->b->captures[i].port == value.port)
            return (tw__low_input){ (int32_t)i, 0 };
    }
    return (tw__low_input){ TW_LOW_NONE, 0 };
}

/* The sides of a value beyond that of the branch, the outer ones first. */
static size_t inner_sides(const branch *r, tw__low_input value, int32_t found[TW_LOW_NESTING])
{
    tw__conds *c = r->b->c;
    tw__sides own = tw__value_sides(c, value);
    size_t count = 0;
    for (size_t i = 0; i < own.count; i++) {
        size_t at = count;
        if (own.items[i] / 2 == r->b->key)
            continue;
        for (; at > 0 && c->conditions[found[at - 1] / 2].depth > c->conditions[own.items[i] / 2].depth; at--)
            found[at] = found[at - 1];
        found[at] = own.items[i];
        count++;
    }
    tw__free(own.items);
    return count;
}

static tw__low_input add_node(branch *r, const char *op, tw_dtype dtype, tw__low_input one, tw__low_input two)
{
    int32_t made = tw__low_add(&r->body, (tw_string){ op, strlen(op) }, op);
    bool good = made >= 0 && tw__low_input_add(&r->body.nodes[made], one) == TW_OK &&
                tw__low_input_add(&r->body.nodes[made], two) == TW_OK &&
                tw__low_attr_type(&r->body, &r->body.nodes[made], "T", dtype) == TW_OK;
    return (tw__low_input){ good ? made : TW_LOW_NONE, 0 };
}

/* The value on those sides of inner conditions. */
static tw__low_input choose(branch *r, tw__low_input value, tw_dtype dtype, const int32_t *found, size_t count)
{
    for (size_t i = 0; i < count && value.node >= 0; i++) {
        tw__low_input predicate = inner_value(r, r->b->c->conditions[found[i] / 2].predicate);
        value = predicate.node < 0 ? predicate : add_node(r, "Switch", dtype, value, predicate);
        value.port = found[i] & 1;
    }
    return value;
}

/* An input of a node of the group; what comes out of an inner condition is used on its side of it. */
static tw__low_input used_value(branch *r, tw__low_input input)
{
    int32_t found[TW_LOW_NESTING];
    tw__low_input value = inner_value(r, input);
    if (!was_given(r->b, input) || value.node < 0)
        return value;
    return choose(r, value, tw__low_output_type(&r->body, value), found, inner_sides(r, input, found));
}

static bool on_side(const branch *r, int32_t node)
{
    return tw__has_side(&r->b->c->sides[node], r->b->key * 2 + r->side);
}

/* Marks what the results need, from the end of the order to its beginning. */
static void find_needed(const branch *r, bool *needed)
{
    tw__conds *c = r->b->c;
    for (size_t i = 0; i < r->b->result_count; i++) {
        tw__low_input result = r->b->results[i];
        const tw__low_node *node = &c->graph->nodes[result.node];
        for (size_t k = 0; c->joins[result.node] && k < node->input_count; k++)
            needed[node->inputs[k].node] = true;
        needed[result.node] = true;
        tw__sides own = tw__value_sides(c, result);
        for (size_t k = 0; !c->joins[result.node] && k < own.count; k++)
            needed[c->conditions[own.items[k] / 2].predicate.node] = true;
        tw__free(own.items);
    }
    for (size_t i = c->order_count; i-- > 0;) {
        const tw__low_node *node = &c->graph->nodes[c->order[i]];
        needed[c->order[i]] |= c->followed[c->order[i]];
        for (size_t k = 0; needed[c->order[i]] && c->group[c->order[i]] == r->b->group && k < node->input_count; k++)
            needed[node->inputs[k].node] = true;
    }
}

static tw_status take_input(branch *r, int32_t copy, tw__low_input value, const tw__low_node *node)
{
    if (value.node < 0)
        return tw__fail(TW_UNIMPLEMENTED, "node '%.*s': an input is not known in its branch", TW_SHOWN(node->name));
    return tw__low_input_add(&r->body.nodes[copy], value);
}

static tw_status copy_nodes(branch *r)
{
    const tw__conds *c = r->b->c;
    tw__owned bool *needed = tw__alloc_array(c->graph->count + 1, sizeof *needed);
    TW_NEED(needed);
    find_needed(r, needed);
    for (size_t i = 0; i < c->order_count; i++) {
        int32_t index = c->order[i];
        const tw__low_node *node = &c->graph->nodes[index];
        if (!needed[index] || c->group[index] != r->b->group || c->joins[index] || !on_side(r, index))
            continue;
        bool choice = tw__low_is_switch(c, index) && tw__condition_of(r->b->c, node->inputs[1]) == r->b->key; /* chosen already */
        int32_t copy = r->copies[index] = tw__low_copy(&r->body, node);
        TW_NEED(copy >= 0);
        if (choice)
            r->body.nodes[copy].op = (tw_string){ "Identity", 8 };
        for (size_t k = 0; k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            if (choice && k == 1)
                continue;
            if (input.port != TW_LOW_CONTROL)
                TW_TRY(take_input(r, copy, used_value(r, input), node));
            else if (is_inside(r->b, input) && r->copies[input.node] >= 0)
                TW_TRY(tw__low_order_after(&r->body.nodes[copy], r->copies[input.node]));
        }
    }
    return TW_OK;
}

static tw_status add_constant(branch *r, tw_dtype dtype, bool empty, int32_t value, tw__low_input *result)
{
    int32_t made = tw__low_add(&r->body, (tw_string){ "Const", 5 }, "Const");
    *result = (tw__low_input){ made, 0 };
    return made < 0 ? TW_RESOURCE_EXHAUSTED : tw__low_attr_constant(&r->body, &r->body.nodes[made], dtype, empty, value);
}

/* A value of an inner condition for those outside: on the other sides an empty one stands in its place. */
static tw_status join_sides(branch *r, tw__low_input result, tw__low_input *given)
{
    int32_t found[TW_LOW_NESTING];
    size_t count = inner_sides(r, result, found);
    tw__low_input empty;
    tw_dtype dtype = tw__low_output_type(&r->body, *given);
    if (!count)
        return TW_OK;
    if (dtype == TW_DTYPE_NONE)
        return tw__error_status();
    TW_TRY(add_constant(r, dtype, true, 0, &empty));
    for (size_t i = count; i-- > 0 && given->node >= 0;) {
        found[i] ^= 1;
        tw__low_input other = choose(r, empty, dtype, found, i + 1);
        *given = other.node < 0 ? other : add_node(r, "Merge", dtype, *given, other);
    }
    return TW_OK;
}

/* A result as this branch gives it. */
static tw_status give(branch *r, tw__low_input result, tw__low_input *given)
{
    tw__conds *c = r->b->c;
    const tw__low_node *node = &c->graph->nodes[result.node];
    if (!c->joins[result.node]) {
        if (on_side(r, result.node)) {
            *given = inner_value(r, result);
            return given->node < 0 ? TW_OK : join_sides(r, result, given);
        }
        tw_dtype dtype = tw__low_output_type(c->graph, result);
        if (dtype == TW_RESOURCE || dtype == TW_VARIANT)
            return tw__fail(TW_UNIMPLEMENTED, "node '%.*s': a handle that is made on one side of a condition is used behind it",
                            TW_SHOWN(node->name));
        return dtype == TW_DTYPE_NONE ? tw__error_status() : add_constant(r, dtype, true, 0, given);
    }
    for (int32_t k = 0; k < 2; k++) {
        tw__sides own = { NULL, 0 };
        tw_status status = tw__sides_add(c, node->inputs[k], &own, node);
        bool here = tw__has_side(&own, r->b->key * 2 + r->side);
        tw__free(own.items);
        TW_TRY(status);
        if (!here)
            continue;
        if (result.port == 1)
            return add_constant(r, TW_INT32, false, k, given);
        *given = used_value(r, node->inputs[k]);
        return TW_OK;
    }
    return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Merge) has no input for one side of its condition", TW_SHOWN(node->name));
}

static tw_status make_branch(const branching *b, int side, int depth, tw_string *name, bool *stateful, tw_dtype *types)
{
    tw__conds *c = b->c;
    tw__auto(branch_end) branch r = { .b = b,
                                      .side = side,
                                      .body = { .message = c->graph->message },
                                      .copies = tw__alloc_array(c->graph->count + 1, sizeof *r.copies) };
    tw__owned tw__low_input *given = tw__alloc_array(b->result_count + 1, sizeof *given);
    TW_NEED(r.copies && given);
    for (size_t i = 0; i < c->graph->count; i++)
        r.copies[i] = TW_LOW_NONE;
    for (size_t i = 0; i < b->capture_count; i++) {
        tw_dtype dtype = tw__low_output_type(c->graph, b->captures[i]);
        TW_TRY(dtype == TW_DTYPE_NONE                 ? tw__error_status()
               : tw__low_argument(&r.body, dtype) < 0 ? TW_RESOURCE_EXHAUSTED
                                                      : TW_OK);
    }
    TW_TRY(copy_nodes(&r));
    for (size_t i = 0; i < b->result_count; i++) {
        TW_TRY(give(&r, b->results[i], &given[i]));
        if (given[i].node < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s': its value is not known in its branch",
                            TW_SHOWN(c->graph->nodes[b->results[i].node].name));
        types[i] = tw__low_output_type(&r.body, given[i]);
        if (types[i] == TW_DTYPE_NONE)
            return tw__error_status();
    }
    *stateful |= tw__low_stateful(&r.body);
    return tw__low_function(&r.body, b->capture_count, given, b->result_count,
                            c->graph->nodes[c->conditions[b->key].predicate.node].name, side ? "true" : "false", depth + 1, name);
}

/* ---- the nodes ---- */

/* Merges give what the If gives; the rest of the group goes. */
static tw_status replace(const branching *b, int32_t made)
{
    tw__conds *c = b->c;
    tw__low_graph *graph = c->graph;
    for (size_t i = 0; i < b->result_count; i++) {
        tw__low_node *node = &graph->nodes[b->results[i].node];
        if (!c->joins[b->results[i].node]) {
            TW_TRY(TW_GROW(c->exports, c->export_capacity, c->export_count + 1));
            c->exports[c->export_count++] = (tw__export){ b->results[i], { made, (int32_t)i } };
        } else if (b->results[i].port == 0) {
            tw_dtype types[] = { tw__low_type(node, "T"), TW_INT32 };
            node->op = (tw_string){ "IdentityN", 9 };
            node->input_count = node->attr_count = 0;
            TW_TRY(tw__low_input_add(node, (tw__low_input){ made, (int32_t)i }));
            TW_TRY(tw__low_input_add(node, (tw__low_input){ made, (int32_t)i + 1 }));
            TW_TRY(tw__low_attr_types(graph, node, "T", types, 2));
        }
    }
    for (size_t i = 0; i < c->order_count; i++) {
        tw__low_node *node = &graph->nodes[c->order[i]];
        if (c->group[c->order[i]] == b->group && !c->joins[c->order[i]])
            node->instead = made;
    }
    return TW_OK;
}

static tw_status fill_if(const branching *b, int32_t made, const tw_string *names, const tw_dtype *types)
{
    tw__low_graph *graph = b->c->graph;
    tw__owned tw_dtype *taken = tw__alloc_array(b->capture_count + 1, sizeof *taken);
    TW_NEED(taken);
    TW_TRY(tw__low_input_add(&graph->nodes[made], b->c->conditions[b->key].predicate));
    for (size_t i = 0; i < b->capture_count; i++) {
        taken[i] = tw__low_output_type(graph, b->captures[i]);
        TW_TRY(tw__low_input_add(&graph->nodes[made], b->captures[i]));
    }
    for (size_t i = 0; i < b->order_count; i++)
        TW_TRY(tw__low_order_after(&graph->nodes[made], b->orders[i]));
    TW_TRY(tw__low_attr_type(graph, &graph->nodes[made], "Tcond", TW_BOOL));
    TW_TRY(tw__low_attr_types(graph, &graph->nodes[made], "Tin", taken, b->capture_count));
    TW_TRY(tw__low_attr_types(graph, &graph->nodes[made], "Tout", types, b->result_count));
    TW_TRY(tw__low_attr_function(graph, &graph->nodes[made], "then_branch", names[1]));
    return tw__low_attr_function(graph, &graph->nodes[made], "else_branch", names[0]);
}

static tw_status make_if(tw__conds *c, int32_t group, int depth)
{
    tw__auto(branching_end) branching b = { .c = c, .group = group, .key = c->group_of_key[group] };
    tw_string names[2] = { { NULL, 0 }, { NULL, 0 } };
    bool stateful = false;
    TW_TRY(find_ends(&b));
    bool any = b.result_count > 0;
    for (size_t i = 0; i < c->order_count; i++)
        any |= c->group[c->order[i]] == group && c->followed[c->order[i]];
    tw__owned tw_dtype *types = any ? tw__alloc_array(b.result_count + 1, sizeof *types) : NULL;
    for (int side = 0; types && side < 2; side++)
        TW_TRY(make_branch(&b, side, depth, &names[side], &stateful, types));
    if (types) {
        const tw__low_node *predicate = &c->graph->nodes[c->conditions[b.key].predicate.node];
        tw_string name = tw__low_text(c->graph->message, predicate->name, "/.if");
        int32_t made = name.data ? tw__low_add(c->graph, name, stateful ? "If" : "StatelessIf") : -1;
        TW_TRY(made < 0 ? TW_RESOURCE_EXHAUSTED : fill_if(&b, made, names, types));
        TW_TRY(replace(&b, made));
    }
    return TW_OK;
}

static tw_status turn(tw__conds *c, int depth)
{
    TW_TRY(tw__conds_find(c));
    for (size_t i = 0; i < c->group_count; i++)
        TW_TRY(make_if(c, (int32_t)i, depth));
    for (size_t i = 0; i < c->count; i++) {
        tw__low_node *node = &c->graph->nodes[i];
        if (!node->gone && ((c->group[i] != TW_LOW_NONE && !c->joins[i]) || tw__low_is(node, "Switch")))
            node->gone = true;
    }
    return TW_OK;
}

tw_status tw__lower_conds(tw__low_graph *graph, int depth)
{
    bool any = false;
    for (size_t i = 0; i < graph->count; i++)
        any |= tw__low_is(&graph->nodes[i], "Switch") || tw__low_is(&graph->nodes[i], "Merge");
    if (!any)
        return TW_OK;
    if (depth > TW_LOW_NESTING)
        return tw__fail(TW_UNIMPLEMENTED, "the graph has more than %d conditions inside each other", TW_LOW_NESTING);
    size_t room = graph->count + 1;
    tw__conds c = { .graph = graph, .count = graph->count };
    c.order = tw__low_order(graph, NULL, &c.order_count);
    c.sides = tw__alloc_array(room, sizeof *c.sides);
    c.scope = tw__alloc_array(room, sizeof *c.scope);
    c.joins = tw__alloc_array(room, sizeof *c.joins);
    c.group = tw__alloc_array(room, sizeof *c.group);
    c.first_use = tw__alloc_array(room, sizeof *c.first_use);
    c.followed = tw__alloc_array(room, sizeof *c.followed);
    tw_status status =
        c.followed && c.order && c.sides && c.scope && c.joins && c.group && c.first_use ? TW_OK : tw__error_status();
    for (size_t i = 0; status == TW_OK && i < graph->count; i++)
        c.group[i] = c.first_use[i] = TW_LOW_NONE;
    if (status == TW_OK)
        status = turn(&c, depth);
    for (size_t i = 0; c.sides && i < c.count; i++)
        tw__free(c.sides[i].items);
    tw__free(c.order);
    tw__free(c.conditions);
    tw__free(c.sides);
    tw__free(c.scope);
    tw__free(c.joins);
    tw__free(c.group);
    tw__free(c.first_use);
    tw__free(c.followed);
    tw__free(c.group_of_key);
    tw__free(c.exports);
    return status;
}
