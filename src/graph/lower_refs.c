/* References to variables become reads of resources; see lower.h.
 *
 *     v = VariableV2            v/.ref = VarHandleOp, v = ReadVariableOp(v/.ref)
 *     v/read = Identity(v)      v/read = ReadVariableOp(v/.ref)
 *     a = Assign(v, x)          a/.op = AssignVariableOp(v/.ref, x), a = ReadVariableOp(v/.ref, ^a/.op)
 *     y = MatMul(x, v, ^a)      y/.read = ReadVariableOp(v/.ref, ^a), y = MatMul(x, y/.read, ^a)
 *
 * So a value is what the variable holds when its user runs, as with a reference. Names of old ops that differ from today's in
 * nothing else are replaced, too. */
#include "graph/lower.h"

#include <stdio.h>

/* ---- which ops ---- */

typedef struct renamed {
    const char *old, *fresh;
} renamed;

/* Ops that change a variable, or ask about it. The inputs that are resources in the new op are references in the old one. */
static const renamed changes[] = {
    { "Assign", "AssignVariableOp" },
    { "AssignAdd", "AssignAddVariableOp" },
    { "AssignSub", "AssignSubVariableOp" },
    { "ScatterUpdate", "ResourceScatterUpdate" },
    { "ScatterAdd", "ResourceScatterAdd" },
    { "ScatterSub", "ResourceScatterSub" },
    { "ScatterMul", "ResourceScatterMul" },
    { "ScatterDiv", "ResourceScatterDiv" },
    { "ScatterMin", "ResourceScatterMin" },
    { "ScatterMax", "ResourceScatterMax" },
    { "ScatterNdUpdate", "ResourceScatterNdUpdate" },
    { "ScatterNdAdd", "ResourceScatterNdAdd" },
    { "ScatterNdSub", "ResourceScatterNdSub" },
    { "ScatterNdMin", "ResourceScatterNdMin" },
    { "ScatterNdMax", "ResourceScatterNdMax" },
    { "StridedSliceAssign", "ResourceStridedSliceAssign" },
};
static const renamed questions[] = { { "IsVariableInitialized", "VarIsInitializedOp" }, { "CountUpTo", "ResourceCountUpTo" } };
/* What hands a reference on. */
static const renamed passes[] = {
    { "RefIdentity", "Identity" }, { "RefSwitch", "Switch" }, { "RefMerge", "Merge" },
    { "RefEnter", "Enter" },       { "RefExit", "Exit" },     { "RefNextIteration", "NextIteration" },
};
/* Tables were references to texts once. */
static const renamed tables[] = {
    { "HashTable", "HashTableV2" },
    { "MutableHashTable", "MutableHashTableV2" },
    { "InitializeTable", "InitializeTableV2" },
    { "InitializeTableFromTextFile", "InitializeTableFromTextFileV2" },
    { "LookupTableFind", "LookupTableFindV2" },
    { "LookupTableInsert", "LookupTableInsertV2" },
    { "LookupTableSize", "LookupTableSizeV2" },
    { "LookupTableExport", "LookupTableExportV2" },
    { "LookupTableImport", "LookupTableImportV2" },
};

/* Of earlier forms of an op, whose outputs are the first of today's. */
static const renamed older[] = { { "FusedBatchNorm", "FusedBatchNormV3" }, { "FusedBatchNormV2", "FusedBatchNormV3" } };
static const renamed older_gradients[] = { { "FusedBatchNormGrad", "FusedBatchNormGradV3" },
                                           { "FusedBatchNormGradV2", "FusedBatchNormGradV3" } };

static const char *find(const renamed *list, size_t count, tw_string op)
{
    for (size_t i = 0; i < count; i++) {
        if (tw__string_is(op, list[i].old))
            return list[i].fresh;
    }
    return NULL;
}
#define FIND(list, op) find(list, sizeof(list) / sizeof *(list), op)

const char *tw__lower_older(tw_string op)
{
    const char *fresh = FIND(older, op);
    return fresh ? fresh : FIND(older_gradients, op);
}

static bool is_variable(tw_string op)
{
    return tw__string_is(op, "VariableV2") || tw__string_is(op, "Variable");
}

/* The op on resources that does the same, or NULL. ApplyAdam has ResourceApplyAdam, and so on. */
static const char *change_of(tw_string op)
{
    const char *fresh = FIND(changes, op);
    bool apply = op.size > 5 && memcmp(op.data, "Apply", 5) == 0,
         sparse = op.size > 11 && memcmp(op.data, "SparseApply", 11) == 0;
    if (fresh || (!apply && !sparse))
        return fresh;
    char name[64];
    snprintf(name, sizeof name, "Resource%.*s", (int)(op.size < 50 ? op.size : 50), op.data);
    const tw_op *found = tw__op_find(name);
    return found ? found->name : NULL;
}

/* ---- where references come from ---- */

typedef struct refs {
    tw__low_graph *graph;
    size_t count;     /* nodes that were there */
    int32_t *handles; /* by node: of a variable; -1 */
    bool *ref;        /* by node: its first output (or outputs) is a reference */
} refs;

/* The variable that an output refers to: its handle; -1: it is no reference. */
static int32_t handle_of(const refs *r, tw__low_input input)
{
    for (size_t steps = 0; steps <= r->count && input.port != TW_LOW_CONTROL; steps++) {
        if ((size_t)input.node >= r->count || !r->ref[input.node] ||
            (input.port > 0 && !tw__string_is(r->graph->nodes[input.node].op, "RefSwitch")))
            return -1;
        if (r->handles[input.node] >= 0)
            return r->handles[input.node];
        if (!r->graph->nodes[input.node].input_count)
            return -1;
        input = r->graph->nodes[input.node].inputs[0];
    }
    return -1;
}

static tw_status make_handles(refs *r)
{
    tw__low_graph *graph = r->graph;
    for (size_t i = 0; i < r->count; i++) {
        tw_string op = graph->nodes[i].op;
        r->handles[i] = -1;
        r->ref[i] = is_variable(op) || (change_of(op) && !tw__string_is(op, "Variable")) || FIND(passes, op);
        if (!is_variable(op))
            continue;
        tw_string name = tw__low_text(graph->message, graph->nodes[i].name, TW_REF_HANDLE);
        int32_t handle = name.data ? tw__low_add(graph, name, "VarHandleOp") : -1;
        if (handle < 0)
            return TW_RESOURCE_EXHAUSTED;
        tw__low_node *made = &graph->nodes[handle], *node = &graph->nodes[i];
        made->attrs = node->attrs;
        made->attr_count = node->attr_count;
        made->attr_capacity = node->attr_capacity;
        made->device = node->device;
        node->attrs = NULL;
        node->attr_count = node->attr_capacity = 0;
        r->handles[i] = handle;
    }
    return TW_OK;
}

/* ---- the new nodes ---- */

static tw_status become_read(tw__low_graph *graph, int32_t index, int32_t handle, tw_dtype dtype)
{
    tw__low_node *node = &graph->nodes[index];
    node->op = (tw_string){ "ReadVariableOp", 14 };
    node->attr_count = 0;
    size_t kept = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        if (node->inputs[i].port == TW_LOW_CONTROL)
            node->inputs[kept++] = node->inputs[i];
    }
    node->input_count = kept;
    TW_TRY(tw__low_input_add(node, (tw__low_input){ handle, 0 }));
    return tw__low_attr_type(graph, node, "dtype", dtype);
}

static tw_dtype type_of(const refs *r, int32_t handle)
{
    return tw__low_type(&r->graph->nodes[handle], "dtype");
}

/* A read for one user; follows what the user follows, and the node that the reference comes from. */
static int32_t add_read(refs *r, int32_t user, tw__low_input from, int32_t handle)
{
    tw__low_graph *graph = r->graph;
    tw_string name = tw__low_text(graph->message, graph->nodes[user].name, "/.read");
    int32_t read = name.data ? tw__low_add(graph, name, "ReadVariableOp") : -1;
    if (read < 0)
        return -1;
    tw__low_node *made = &graph->nodes[read];
    if (tw__low_input_add(made, (tw__low_input){ handle, 0 }) != TW_OK)
        return -1;
    if (tw__low_attr_type(graph, made, "dtype", type_of(r, handle)) != TW_OK)
        return -1;
    if (!is_variable(graph->nodes[from.node].op) && r->handles[from.node] < 0)
        if (tw__low_order_after(made, from.node) != TW_OK)
            return -1;
    for (size_t i = 0; i < graph->nodes[user].input_count; i++) {
        if (graph->nodes[user].inputs[i].port == TW_LOW_CONTROL)
            if (tw__low_order_after(made, graph->nodes[user].inputs[i].node) != TW_OK)
                return -1;
    }
    return read;
}

/* What a variable's user inside a branch follows, so that it runs there only. */
static tw_status follow_switch(tw__low_graph *graph, int32_t user, tw__low_input from)
{
    tw_string name = tw__low_text(graph->message, graph->nodes[user].name, "/.when");
    int32_t made = name.data ? tw__low_add(graph, name, "Identity") : -1;
    if (made < 0)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(tw__low_input_add(&graph->nodes[made], from));
    TW_TRY(tw__low_attr_type(graph, &graph->nodes[made], "T", tw__low_type(&graph->nodes[from.node], "T")));
    return tw__low_order_after(&graph->nodes[user], made);
}

static bool is_ordered(const tw__low_node *node)
{
    return node->input_count && node->inputs[node->input_count - 1].port == TW_LOW_CONTROL;
}

/* A variable's own Identity has the variable's memory: who uses it behind something else sees what the variable holds then. */
static tw__low_input behind_read(const refs *r, int32_t user, tw__low_input input)
{
    const tw__low_node *node = &r->graph->nodes[user], *read = &r->graph->nodes[input.node];
    bool alias = is_ordered(node) && input.port == 0 && tw__low_is(read, "Identity") && read->input_count == 1 &&
                 read->inputs[0].port == 0 && (size_t)read->inputs[0].node < r->count && r->handles[read->inputs[0].node] >= 0;
    return alias ? read->inputs[0] : input;
}

/* Inputs of the new op that are resources become handles, others values. */
static tw_status turn_inputs(refs *r, int32_t index, const tw__op_signature *signature)
{
    for (size_t i = 0; i < r->graph->nodes[index].input_count; i++) {
        tw__low_input input = r->graph->nodes[index].inputs[i];
        int32_t handle = handle_of(r, behind_read(r, index, input));
        bool wanted = signature && i < (size_t)signature->input_count && signature->inputs[i].dtype == TW_RESOURCE;
        if (wanted && handle < 0)
            return tw__fail(TW_UNIMPLEMENTED, "node '%.*s' (%.*s): its input %zu is no variable of the graph",
                            TW_SHOWN(r->graph->nodes[index].name), TW_SHOWN(r->graph->nodes[index].op), i);
        if (handle < 0 || (!wanted && (FIND(passes, r->graph->nodes[input.node].op) || !is_ordered(&r->graph->nodes[index]))))
            continue; /* what gave a reference will give the value */
        int32_t node = wanted ? handle : add_read(r, index, behind_read(r, index, input), handle);
        if (node < 0)
            return tw__error_status();
        r->graph->nodes[index].inputs[i] = (tw__low_input){ node, 0 };
        if (wanted && tw__low_is(&r->graph->nodes[input.node], "RefSwitch"))
            TW_TRY(follow_switch(r->graph, index, input));
        else if (wanted && r->handles[input.node] < 0)
            TW_TRY(tw__low_order_after(&r->graph->nodes[index], input.node));
    }
    return TW_OK;
}

/* Only what the op knows stays. */
static void keep_attrs(tw__low_node *node, const tw__op_signature *signature)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->attr_count; i++) {
        bool known = false;
        for (int k = 0; k < signature->attr_count; k++)
            known |= tw__string_is(node->attrs[i].name, signature->attrs[k].name) && !signature->attrs[k].inferred;
        if (known)
            node->attrs[kept++] = node->attrs[i];
    }
    node->attr_count = kept;
}

static tw_status turn_change(refs *r, int32_t index, const char *fresh)
{
    tw__low_graph *graph = r->graph;
    const tw_op *op = tw__op_find(fresh);
    const tw__op_signature *signature = op ? tw__op_signature_of(op) : NULL;
    if (!signature)
        return tw__fail(TW_NOT_FOUND, "node '%.*s': Op type not registered '%s'", TW_SHOWN(graph->nodes[index].name), fresh);
    int32_t handle = graph->nodes[index].input_count ? handle_of(r, graph->nodes[index].inputs[0]) : -1;
    TW_TRY(turn_inputs(r, index, signature));
    tw_string name = tw__low_text(graph->message, graph->nodes[index].name, "/.op");
    int32_t made = name.data ? tw__low_add(graph, name, fresh) : -1;
    if (made < 0)
        return TW_RESOURCE_EXHAUSTED;
    tw__low_node *change = &graph->nodes[made], *node = &graph->nodes[index];
    tw__low_node old = *change;
    change->attrs = node->attrs, change->attr_count = node->attr_count, change->attr_capacity = node->attr_capacity;
    change->inputs = node->inputs, change->input_count = node->input_count, change->input_capacity = node->input_capacity;
    change->device = node->device;
    node->attrs = old.attrs, node->attr_count = 0, node->attr_capacity = old.attr_capacity;
    node->inputs = old.inputs, node->input_count = 0, node->input_capacity = old.input_capacity;
    keep_attrs(change, signature);
    TW_TRY(tw__low_order_after(node, made));
    return become_read(graph, index, handle, type_of(r, handle));
}

/* In old graphs a Placeholder with an empty shape may have any. */
static void turn_placeholder(tw__low_graph *graph, tw__low_node *node)
{
    if (graph->message->producer >= 24 || !tw__low_is(node, "Placeholder"))
        return;
    for (size_t i = 0; i < node->attr_count; i++) {
        tw_shape shape;
        tw__AttrValue value;
        if (tw__string_is(node->attrs[i].name, "shape") && tw__read_AttrValue(node->attrs[i].value, &value) &&
            tw__has(value.shape) && tw__shape_message_read(value.shape, &shape) == TW_OK && shape.rank == 0)
            node->attrs[i--] = node->attrs[--node->attr_count];
        tw_clear_error();
    }
}

/* What today's gradient takes beside the mean and the variance: the last output of the op that gave them, or nothing, which is
 * what it has in an empty vector. */
static tw_status add_reserve(tw__low_graph *graph, int32_t index)
{
    const tw__low_node *node = &graph->nodes[index];
    size_t data = 0;
    while (data < node->input_count && node->inputs[data].port != TW_LOW_CONTROL)
        data++;
    if (data != 5)
        return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (%.*s) has %zu inputs, expected 5", TW_SHOWN(node->name),
                        TW_SHOWN(node->op), data);
    tw__low_input first = node->inputs[3];
    const tw__low_node *from = &graph->nodes[first.node];
    if (first.port == 3 && (FIND(older, from->op) || tw__low_is(from, older[0].fresh)))
        return tw__low_input_add(&graph->nodes[index], (tw__low_input){ first.node, 5 });
    tw_string name = tw__low_text(graph->message, node->name, "/.reserve");
    int32_t made = name.data ? tw__low_add(graph, name, "Const") : -1;
    if (made < 0)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(tw__low_attr_constant(graph, &graph->nodes[made], TW_FLOAT32, true, 0));
    return tw__low_input_add(&graph->nodes[index], (tw__low_input){ made, 0 });
}

/* Today's forms have a further output, which their gradients take, and a type for the sums. */
static tw_status turn_older(tw__low_graph *graph, int32_t index)
{
    const char *gradient = FIND(older_gradients, graph->nodes[index].op),
               *fresh = gradient ? gradient : FIND(older, graph->nodes[index].op);
    if (!fresh)
        return TW_OK;
    if (gradient)
        TW_TRY(add_reserve(graph, index));
    tw__low_node *node = &graph->nodes[index];
    node->op = (tw_string){ fresh, strlen(fresh) };
    return tw__low_type(node, "U") == TW_DTYPE_NONE ? tw__low_attr_type(graph, node, "U", TW_FLOAT32) : TW_OK;
}

static tw_status turn(refs *r, int32_t index)
{
    tw__low_node *node = &r->graph->nodes[index];
    const char *fresh;
    int32_t handle = node->input_count ? handle_of(r, behind_read(r, index, node->inputs[0])) : -1;
    turn_placeholder(r->graph, node);
    TW_TRY(turn_older(r->graph, index));
    node = &r->graph->nodes[index];
    if ((fresh = FIND(tables, node->op)))
        node->op = (tw_string){ fresh, strlen(fresh) };
    bool identity = tw__low_is(node, "Identity") || tw__low_is(node, "RefIdentity");
    if (handle >= 0 && identity && is_ordered(node) && !FIND(passes, r->graph->nodes[node->inputs[0].node].op)) {
        int32_t from = node->inputs[0].node;
        if (r->handles[from] < 0)
            TW_TRY(tw__low_order_after(node, from));
        return become_read(r->graph, index, handle, type_of(r, handle));
    }
    if ((fresh = FIND(questions, node->op)) && handle >= 0) {
        const tw_op *op = tw__op_find(fresh);
        const tw__op_signature *signature = op ? tw__op_signature_of(op) : NULL;
        if (!signature)
            return tw__fail(TW_NOT_FOUND, "node '%.*s': Op type not registered '%s'", TW_SHOWN(node->name), fresh);
        TW_TRY(turn_inputs(r, index, signature));
        node = &r->graph->nodes[index];
        node->op = (tw_string){ fresh, strlen(fresh) };
        if (tw__string_is(node->op, "VarIsInitializedOp"))
            keep_attrs(node, signature);
        return TW_OK;
    }
    if ((fresh = change_of(node->op)) && handle >= 0)
        return turn_change(r, index, fresh);
    TW_TRY(turn_inputs(r, index, NULL));
    return TW_OK;
}

tw_status tw__lower_refs(tw__low_graph *graph)
{
    tw__owned int32_t *handles = tw__alloc_array(graph->count + 1, sizeof *handles);
    tw__owned bool *ref = tw__alloc_array(graph->count + 1, sizeof *ref);
    refs r = { .graph = graph, .count = graph->count, .handles = handles, .ref = ref };
    TW_NEED(handles && ref);
    TW_TRY(make_handles(&r));
    /* Users are turned while what they refer to is still as it was: the users of references come last. */
    size_t count = 0;
    tw__owned int32_t *order = tw__low_order_loops(graph, &count);
    TW_NEED(order);
    for (size_t i = count; i-- > 0;) {
        if ((size_t)order[i] < r.count && r.handles[order[i]] < 0)
            TW_TRY(turn(&r, order[i]));
    }
    for (size_t i = 0; i < r.count; i++) {
        const char *fresh = FIND(passes, graph->nodes[i].op);
        if (fresh)
            graph->nodes[i].op = (tw_string){ fresh, strlen(fresh) };
        if (r.handles[i] >= 0)
            TW_TRY(become_read(graph, (int32_t)i, r.handles[i], type_of(&r, r.handles[i])));
    }
    return TW_OK;
}
