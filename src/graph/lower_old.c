/* Ops that have later forms become those; see lower.h.
 *
 *     Concat(axis, a, b)       ConcatV2(a, b, axis)
 *     Gather(x, i)             GatherV2(x, i, 0)
 *     TopK, InTopK             their k is an input
 *     Reverse(x, [true, …])    ReverseV2(x, the places of true)
 *
 * Others differ in nothing but their name. */
#include "graph/lower.h"

typedef struct renamed {
    const char *old, *fresh;
} renamed;

static const renamed names[] = {
    { "AccumulateNV2", "AddN" },
    { "BiasAddV1", "BiasAdd" },
    { "GuaranteeConst", "Identity" },
    { "PlaceholderV2", "Placeholder" },
    { "BatchCholesky", "Cholesky" },
    { "BatchMatrixBandPart", "MatrixBandPart" },
    { "BatchMatrixDeterminant", "MatrixDeterminant" },
    { "BatchMatrixInverse", "MatrixInverse" },
    { "BatchMatrixSolve", "MatrixSolve" },
    { "BatchMatrixTriangularSolve", "MatrixTriangularSolve" },
    { "BatchSelfAdjointEigV2", "SelfAdjointEigV2" },
    { "BatchSvd", "Svd" },
    { "Concat", "ConcatV2" },
    { "Gather", "GatherV2" },
    { "TopK", "TopKV2" },
    { "InTopK", "InTopKV2" },
    { "Reverse", "ReverseV2" },
};

const char *tw__lower_fresh(tw_string op)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (tw__string_is(op, names[i].old))
            return names[i].fresh;
    }
    return NULL;
}

static void drop_attr(tw__low_node *node, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->attr_count; i++) {
        if (!tw__string_is(node->attrs[i].name, name))
            node->attrs[kept++] = node->attrs[i];
    }
    node->attr_count = kept;
}

static size_t data_inputs(const tw__low_node *node)
{
    size_t count = 0;
    while (count < node->input_count && node->inputs[count].port != TW_LOW_CONTROL)
        count++;
    return count;
}

/* One more input behind the others. */
static tw_status append(tw__low_graph *graph, int32_t index, tw__low_input input)
{
    tw__low_node *node = &graph->nodes[index];
    size_t at = data_inputs(node);
    TW_TRY(tw__low_input_add(node, input));
    memmove(node->inputs + at + 1, node->inputs + at, (node->input_count - 1 - at) * sizeof *node->inputs);
    node->inputs[at] = input;
    return TW_OK;
}

static tw_status append_number(tw__low_graph *graph, int32_t index, const char *ending, tw_dtype dtype, int64_t number)
{
    tw_string name = tw__low_text(graph->message, graph->nodes[index].name, ending);
    int32_t made = name.data ? tw__low_add(graph, name, "Const") : -1;
    if (made < 0)
        return TW_RESOURCE_EXHAUSTED;
    graph->nodes[made].device = graph->nodes[index].device;
    TW_TRY(tw__low_attr_number(graph, &graph->nodes[made], dtype, number));
    return append(graph, index, (tw__low_input){ made, 0 });
}

static tw_status turn_concat(tw__low_graph *graph, int32_t index)
{
    tw__low_node *node = &graph->nodes[index];
    size_t count = data_inputs(node);
    if (count < 2)
        return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Concat): it has %zu inputs, expected at least 2", TW_SHOWN(node->name),
                        count);
    tw__low_input axis = node->inputs[0];
    memmove(node->inputs, node->inputs + 1, (count - 1) * sizeof *node->inputs);
    node->inputs[count - 1] = axis;
    return tw__low_attr_type(graph, node, "Tidx", TW_INT32);
}

/* The places of true in a vector of bools. */
static tw_status turn_reverse(tw__low_graph *graph, int32_t index)
{
    if (data_inputs(&graph->nodes[index]) != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (Reverse): expected 2 inputs", TW_SHOWN(graph->nodes[index].name));
    tw_string where_name = tw__low_text(graph->message, graph->nodes[index].name, "/.where"),
              flat_name = tw__low_text(graph->message, graph->nodes[index].name, "/.axis");
    int32_t where = where_name.data ? tw__low_add(graph, where_name, "Where") : -1,
            flat = flat_name.data ? tw__low_add(graph, flat_name, "Reshape") : -1;
    if (where < 0 || flat < 0)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(tw__low_input_add(&graph->nodes[where], graph->nodes[index].inputs[1]));
    TW_TRY(tw__low_attr_type(graph, &graph->nodes[where], "T", TW_BOOL));
    TW_TRY(tw__low_input_add(&graph->nodes[flat], (tw__low_input){ where, 0 }));
    TW_TRY(tw__low_attr_type(graph, &graph->nodes[flat], "T", TW_INT64));
    tw_string shape_name = tw__low_text(graph->message, flat_name, "/shape");
    int32_t shape = shape_name.data ? tw__low_add(graph, shape_name, "Const") : -1;
    if (shape < 0)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(tw__low_attr_numbers(graph, &graph->nodes[shape], TW_INT32, &(int64_t){ -1 }, 1));
    TW_TRY(tw__low_input_add(&graph->nodes[flat], (tw__low_input){ shape, 0 }));
    TW_TRY(tw__low_attr_type(graph, &graph->nodes[flat], "Tshape", TW_INT32));
    graph->nodes[index].inputs[1] = (tw__low_input){ flat, 0 };
    return tw__low_attr_type(graph, &graph->nodes[index], "Tidx", TW_INT64);
}

static tw_status turn(tw__low_graph *graph, int32_t index, const char *fresh)
{
    tw__low_node *node = &graph->nodes[index];
    tw_string old = node->op;
    if (tw__string_is(old, "Concat"))
        TW_TRY(turn_concat(graph, index));
    else if (tw__string_is(old, "Reverse"))
        TW_TRY(turn_reverse(graph, index));
    else if (tw__string_is(old, "Gather")) {
        drop_attr(node, "validate_indices");
        TW_TRY(tw__low_attr_type(graph, node, "Taxis", TW_INT32));
        TW_TRY(append_number(graph, index, "/.axis", TW_INT32, 0));
    } else if (tw__string_is(old, "TopK") || tw__string_is(old, "InTopK")) {
        bool within = tw__string_is(old, "InTopK");
        int64_t k = tw__low_number(node, "k");
        drop_attr(node, "k");
        TW_TRY(append_number(graph, index, "/.k", within ? tw__low_type(node, "T") : TW_INT32, k));
    } else if (tw__string_is(old, "AccumulateNV2")) {
        drop_attr(node, "shape");
    }
    graph->nodes[index].op = (tw_string){ fresh, strlen(fresh) };
    return TW_OK;
}

tw_status tw__lower_old(tw__low_graph *graph)
{
    size_t count = graph->count;
    for (size_t i = 0; i < count; i++) {
        const char *fresh = graph->nodes[i].gone ? NULL : tw__lower_fresh(graph->nodes[i].op);
        if (fresh)
            TW_TRY(turn(graph, (int32_t)i, fresh));
    }
    return TW_OK;
}
