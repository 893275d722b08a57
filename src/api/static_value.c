/* tf.get_static_value: what is known of a tensor in a graph without running it. The nodes that are followed are TensorFlow's:
 * constants, questions for shapes, and what joins, parts or hands on such values; a sum of two constants is not known. With
 * `partial` a stack of values of which some are known is a list of them, None where one is not. */
#include "api/composite.h"
#include "eager/eager.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

enum { DEEPEST = 200, BUDGET = 2000 }; /* how deep nodes are followed, and how many */

/* How deep the walk is, and how many nodes it may still follow. */
typedef struct walk {
    int depth, *left;
} walk;

static walk deeper(walk w)
{
    return (walk){ w.depth + 1, w.left };
}

static const tw_value unknown = { .kind = TW_VALUE_NONE };

static tw_value value_of(tw__edge edge, bool partial, walk w);

/* Of an op that asks for the shape of its input only: Shape, Size, Rank. */
static tw_value answer(const tw__node *node)
{
    tw_shape elements;
    tw__edge edge = { (tw__node *)node, 0 };
    bool known = tw__partial_of_edges(&edge, 0, &elements);
    for (int i = 0; known && i < elements.rank; i++)
        known = elements.dims[i] >= 0;
    if (!known)
        return unknown;
    tw_shape shape = node->out_shapes[0].rank == 0 ? TW_SCALAR : TW_SHAPE(elements.rank);
    tw_auto tw_tensor *dims = tw_tensor_new(TW_INT64, shape, elements.dims);
    return tw__value_of_tensor(TW_CALL(Cast, dims, TW_A_TYPE("DstT", node->out_dtypes[0])));
}

/* All inputs are known: the kernel's value. */
static tw_value compute(const tw__node *node, int output, walk w)
{
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)node->input_count + 1, sizeof *inputs);
    tw__owned tw_tensor **outputs = tw__alloc_array((size_t)node->output_count + 1, sizeof *outputs);
    int known = 0, made = node->output_count;
    for (; inputs && outputs && known < node->input_count; known++) {
        tw_value value = value_of(node->inputs[known], false, deeper(w));
        if (value.kind != TW_VALUE_TENSOR)
            break;
        inputs[known] = value.tensor;
    }
    tw_tensor *result = NULL;
    if (outputs && known == node->input_count &&
        tw__apply(node->op, inputs, known, node->attrs, node->attr_count, outputs, &made) == TW_OK) {
        result = tw_retain(outputs[output]);
        for (int i = 0; i < made; i++)
            tw_release(outputs[i]);
    }
    while (inputs && known-- > 0)
        tw_release(inputs[known]);
    return tw__value_of_tensor(result);
}

/* Parts first … of a list that a stack gave. */
static tw_value part_of(tw_value *whole, int64_t first, int64_t count, bool single)
{
    tw_value out = single ? tw__value_copy(&whole->list.items[first]) : (tw_value){ .kind = TW_VALUE_LIST };
    if (!single)
        out.list.items = tw__alloc_array((size_t)count + 1, sizeof *out.list.items);
    for (int64_t i = 0; !single && out.list.items && i < count; i++, out.list.count++)
        out.list.items[i] = tw__value_copy(&whole->list.items[first + i]);
    return out;
}

/* Of what is not known as a whole: the members of a stack, or of a part of one. TensorFlow's constant_value knows these ops by
 * name, and no others. */
static tw_value pieces(const tw__node *node, int output, walk w)
{
    if (node->op == &tw__op_Pack && tw__attr_find(node->op, node->attrs, "axis")->i == 0) {
        tw_value list = { .kind = TW_VALUE_LIST };
        list.list.items = tw__alloc_array((size_t)node->input_count + 1, sizeof *list.list.items);
        for (int i = 0; list.list.items && i < node->input_count; i++, list.list.count++)
            list.list.items[i] = value_of(node->inputs[i], true, deeper(w));
        return list;
    }
    bool unpack = node->op == &tw__op_Unpack, split = node->op == &tw__op_Split;
    bool same = node->op->forwards || node->op == &tw__op_CheckNumericsV2;
    if (!unpack && !split && !same)
        return unknown;
    tw_value whole = value_of(node->inputs[split], true, deeper(w)),
             axis = split ? value_of(node->inputs[0], false, deeper(w)) : unknown;
    if (same)
        return whole;
    bool first = split ? axis.kind == TW_VALUE_TENSOR && tw_tensor_int_at(axis.tensor, 0) == 0
                       : tw__attr_find(node->op, node->attrs, "axis")->i == 0;
    int64_t count = whole.kind == TW_VALUE_LIST && node->output_count ? whole.list.count / node->output_count : 0;
    tw_value out = whole.kind == TW_VALUE_LIST && first && count * (output + 1) <= whole.list.count
                       ? part_of(&whole, count * output, count, unpack)
                       : unknown;
    tw_value_free(&whole);
    tw_value_free(&axis);
    return out;
}

static tw_value value_of(tw__edge edge, bool partial, walk w)
{
    const tw__node *node = edge.node;
    bool axis = node->op == &tw__op_Pack || node->op == &tw__op_Unpack;
    if (w.depth > DEEPEST || --*w.left < 0 || (axis && tw__attr_find(node->op, node->attrs, "axis")->i != 0))
        return unknown;
    if (tw__node_is(node, TW_ROLE_CONSTANT))
        return tw__value_of_tensor(tw_retain(tw__attr_find(node->op, node->attrs, "value")->tensor));
    if (node->op->asks_shapes && node->output_count == 1)
        return answer(node);
    tw_value value = node->op->static_value ? compute(node, edge.output, w) : unknown;
    return value.kind == TW_VALUE_NONE && partial ? pieces(node, edge.output, w) : value;
}

TW_API(
    get_static_value, "_get_static_value(tensor: tensor, partial: bool = False) -> value<numpy>",
    "The value if it is known without running the graph, else None. partial: of a stack, a list of what is known, None for what is not.")
{
    tw_tensor *tensor = args->tensor;
    if (!tensor->node || tensor->symbolic_value)
        return tw__value_of_tensor(tw_retain(tensor->node ? tensor->symbolic_value : tensor));
    int left = BUDGET;
    tw__outside outside = tw__outside_begin();
    tw_value value = value_of((tw__edge){ tensor->node, tensor->node_output }, args->partial, (walk){ 0, &left });
    tw__outside_end(outside);
    return value;
}
