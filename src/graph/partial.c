/* What is known of an integer vector in a graph although its value is not: Fill([batch, 4]) has a second dimension of 4. Shape inference asks
 * (tw__partial_input, op.h); the nodes that shapes are usually made of are followed: Shape, slices, stacks, joins, casts, small arithmetic. */
#include "graph/graph.h"
#include "rows.h"

enum { BUDGET = 200 }; /* nodes that are looked at for one question: stacks of slices of stacks would be many */

static bool vector_of(tw__edge edge, tw_shape *shape, int *budget);

static const tw_tensor *constant_of(tw__edge edge)
{
    return edge.node->op == &tw__op_Const ? tw__attr_find(edge.node->op, edge.node->attrs, "value")->tensor : NULL;
}

static bool read_vector(const tw_tensor *value, tw_shape *shape)
{
    if (value->shape.rank > 1 || value->count > TW_MAX_RANK || (value->dtype != TW_INT32 && value->dtype != TW_INT64))
        return false;
    shape->rank = (int32_t)value->count;
    for (int i = 0; i < shape->rank; i++) {
        int64_t size = tw_tensor_int_at(value, i);
        shape->dims[i] = size < 0 ? -1 : size;
    }
    return true;
}

static bool is_scalar(tw__edge edge)
{
    return edge.node->out_shapes[edge.output].rank == 0;
}

/* The part of a vector that StridedSlice takes: begin, end and step of one dimension. False: it is more than that. */
static bool slice_of(const tw__node *node, tw_shape *shape, bool *single, int *budget)
{
    tw_shape whole;
    int64_t place[3];
    for (int i = 0; i < 3; i++) {
        const tw_tensor *value = constant_of(node->inputs[i + 1]);
        if (!value || value->count != 1 || (value->dtype != TW_INT32 && value->dtype != TW_INT64))
            return false;
        place[i] = tw_tensor_int_at(value, 0);
    }
    if (!vector_of(node->inputs[0], &whole, budget) || tw__attr_find(node->op, node->attrs, "ellipsis_mask")->i ||
        tw__attr_find(node->op, node->attrs, "new_axis_mask")->i)
        return false;
    *single = tw__attr_find(node->op, node->attrs, "shrink_axis_mask")->i & 1;
    int64_t size = whole.rank, begin = place[0] < 0 ? place[0] + size : place[0], end = place[1] < 0 ? place[1] + size : place[1];
    if (*single) {
        *shape = TW_SHAPE(-1);
        if (begin >= 0 && begin < size)
            shape->dims[0] = whole.dims[begin];
        return true;
    }
    begin = tw__attr_find(node->op, node->attrs, "begin_mask")->i & 1 ? 0 : begin;
    end = tw__attr_find(node->op, node->attrs, "end_mask")->i & 1 ? size : end;
    if (place[2] != 1)
        return false;
    begin = begin < 0 ? 0 : begin > size ? size : begin;
    end = end < begin ? begin : end > size ? size : end;
    shape->rank = (int32_t)(end - begin);
    memcpy(shape->dims, whole.dims + begin, (size_t)(end - begin) * sizeof *shape->dims);
    return true;
}

static int64_t product_of(const tw_shape *shape)
{
    int64_t product = shape->rank < 0 ? -1 : 1;
    for (int i = 0; i < shape->rank && product >= 0; i++) {
        if (shape->dims[i] < 0 || __builtin_mul_overflow(product, shape->dims[i], &product))
            product = -1;
    }
    return product;
}

static int64_t number_of(tw__edge edge, int *budget);

static bool is_arithmetic(const tw_op *op)
{
    return op == &tw__op_AddV2 || op == &tw__op_Sub || op == &tw__op_Mul || op == &tw__op_FloorDiv || op == &tw__op_Maximum || op == &tw__op_Minimum;
}

/* Of two numbers; below 0: not known. */
static int64_t combine(const tw_op *op, int64_t a, int64_t b)
{
    int64_t result = -1;
    if (a < 0 || b < 0)
        return -1;
    if (op == &tw__op_Mul)
        return __builtin_mul_overflow(a, b, &result) || result > INT32_MAX ? -1 : result;
    if (op == &tw__op_AddV2)
        return __builtin_add_overflow(a, b, &result) || result > INT32_MAX ? -1 : result;
    if (op == &tw__op_Sub)
        return a >= b ? a - b : -1;
    if (op == &tw__op_FloorDiv)
        return b ? a / b : -1;
    return (op == &tw__op_Maximum) == (a > b) ? a : b;
}

/* A scalar of at least 0; -1: not known. */
static int64_t number_of(tw__edge edge, int *budget)
{
    const tw__node *node = edge.node;
    const tw_tensor *value = constant_of(edge);
    tw_shape part;
    bool single = false;
    if (--*budget < 0 || !is_scalar(edge))
        return -1;
    if (value)
        return read_vector(value, &part) && part.rank == 1 ? part.dims[0] : -1;
    if (node->op == &tw__op_StridedSlice)
        return slice_of(node, &part, &single, budget) && single ? part.dims[0] : -1;
    if (node->op == &tw__op_Identity || node->op == &tw__op_Cast)
        return number_of(node->inputs[0], budget);
    if (node->op == &tw__op_Size)
        return product_of(&node->inputs[0].node->out_shapes[node->inputs[0].output]);
    if (node->op == &tw__op_Rank)
        return node->inputs[0].node->out_shapes[node->inputs[0].output].rank;
    if (node->op == &tw__op_Prod)
        return vector_of(node->inputs[0], &part, budget) ? product_of(&part) : -1;
    return is_arithmetic(node->op) ? combine(node->op, number_of(node->inputs[0], budget), number_of(node->inputs[1], budget)) : -1;
}

/* Of two vectors, or a vector and a number, that are known as a whole. */
static bool combine_vectors(const tw__node *node, tw_shape *shape, int *budget)
{
    tw_shape a, b;
    if (!vector_of(node->inputs[0], &a, budget) || !vector_of(node->inputs[1], &b, budget) || product_of(&a) < 0 || product_of(&b) < 0)
        return false;
    bool first = is_scalar(node->inputs[0]), second = is_scalar(node->inputs[1]);
    if (!first && !second && a.rank != b.rank)
        return false;
    shape->rank = first ? b.rank : a.rank;
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = combine(node->op, a.dims[first ? 0 : i], b.dims[second ? 0 : i]);
    return true;
}

static bool join(const tw__node *node, tw_shape *shape, int *budget)
{
    shape->rank = 0;
    for (int i = 0; i + 1 < node->input_count; i++) {
        tw_shape part;
        if (!vector_of(node->inputs[i], &part, budget) || shape->rank + part.rank > TW_MAX_RANK)
            return false;
        memcpy(shape->dims + shape->rank, part.dims, (size_t)part.rank * sizeof *part.dims);
        shape->rank += part.rank;
    }
    return true;
}

static bool stack(const tw__node *node, tw_shape *shape, int *budget)
{
    if (node->input_count > TW_MAX_RANK || !is_scalar(node->inputs[0]))
        return false;
    shape->rank = node->input_count;
    for (int i = 0; i < node->input_count; i++)
        shape->dims[i] = number_of(node->inputs[i], budget);
    return true;
}

/* A vector whose length is all that is known. */
static bool length_of(tw__edge edge, tw_shape *shape)
{
    const tw_shape *own = &edge.node->out_shapes[edge.output];
    if (own->rank != 1 || own->dims[0] < 0 || own->dims[0] > TW_MAX_RANK)
        return false;
    shape->rank = (int32_t)own->dims[0];
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = -1;
    return true;
}

static bool follow(tw__edge edge, tw_shape *shape, int *budget)
{
    const tw__node *node = edge.node;
    bool single = false;
    if (constant_of(edge))
        return read_vector(constant_of(edge), shape);
    if (node->op == &tw__op_Shape || node->op == &tw__op_ShapeN) {
        int of = node->op == &tw__op_ShapeN ? edge.output : 0;
        *shape = node->inputs[of].node->out_shapes[node->inputs[of].output];
        return shape->rank >= 0;
    }
    if (node->op == &tw__op_Pack)
        return stack(node, shape, budget);
    if (node->op == &tw__op_ConcatV2)
        return join(node, shape, budget);
    if (node->op == &tw__op_StridedSlice)
        return slice_of(node, shape, &single, budget) && !single;
    if (node->op == &tw__op_Identity || node->op == &tw__op_Cast)
        return vector_of(node->inputs[0], shape, budget);
    if (is_arithmetic(node->op))
        return combine_vectors(node, shape, budget);
    if (node->op != &tw__op_Placeholder)
        return false;
    for (size_t i = 0; i < node->graph->capture_count; i++) {
        const tw_tensor *outside = node->graph->captures[i].outside;
        if (node->graph->captures[i].inside == node && outside->node)
            return vector_of((tw__edge){ outside->node, outside->node_output }, shape, budget);
    }
    return false;
}

/* An integer vector, or a scalar, taken for a vector of one. */
static bool vector_of(tw__edge edge, tw_shape *shape, int *budget)
{
    if (--*budget < 0 || edge.output >= edge.node->output_count)
        return false;
    tw_dtype dtype = edge.node->out_dtypes[edge.output];
    const tw_shape *own = &edge.node->out_shapes[edge.output];
    if ((dtype != TW_INT32 && dtype != TW_INT64) || own->rank > 1)
        return false;
    if (own->rank == 0 && edge.node->op != &tw__op_Const) {
        *shape = TW_SHAPE(number_of(edge, budget));
        return true;
    }
    return follow(edge, shape, budget) || length_of(edge, shape);
}

bool tw__partial_of_tensors(const void *inputs, int input, tw_shape *shape)
{
    const tw_tensor *tensor = ((tw_tensor *const *)inputs)[input];
    int budget = BUDGET;
    return tensor->node ? vector_of((tw__edge){ tensor->node, tensor->node_output }, shape, &budget) : tensor->data && read_vector(tensor, shape);
}

bool tw__partial_of_edges(const void *edges, int input, tw_shape *shape)
{
    int budget = BUDGET;
    return vector_of(((const tw__edge *)edges)[input], shape, &budget);
}
