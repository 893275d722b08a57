/* What is known of an integer vector in a graph although its value is not. Shape inference asks (tw__partial_input, op.h); nodes
 * whose rows have a function for it are followed (op/partial.h), and those that hand their input on. */
#include "graph/graph.h"
#include "op/partial.h"

enum { BUDGET = 200 }; /* nodes that are looked at for one question: stacks of slices of stacks would be many */

/* A question that goes through the nodes. */
typedef struct question {
    tw__partial_call call; /* first: rows get this */
    const tw__node *node;
    int *budget;
} question;

static bool vector_of(tw__edge edge, tw_shape *elements, int *budget);

static tw__edge input_of(const tw__partial_call *call, int input)
{
    return ((const question *)call)->node->inputs[input];
}

static const tw_shape *input_shape(const tw__partial_call *call, int input)
{
    tw__edge edge = input_of(call, input);
    return &edge.node->out_shapes[edge.output];
}

static const tw_tensor *input_constant(const tw__partial_call *call, int input)
{
    return tw__node_constant(input_of(call, input).node);
}

static bool input_vector(const tw__partial_call *call, int input, tw_shape *elements)
{
    return vector_of(input_of(call, input), elements, ((const question *)call)->budget);
}

static bool read_vector(const tw_tensor *value, tw_shape *elements)
{
    if (value->shape.rank > 1 || value->count > TW_MAX_RANK || (value->dtype != TW_INT32 && value->dtype != TW_INT64))
        return false;
    elements->rank = (int32_t)value->count;
    for (int i = 0; i < elements->rank; i++) {
        int64_t size = tw_tensor_int_at(value, i);
        elements->dims[i] = size < 0 ? -1 : size;
    }
    return true;
}

/* A vector whose length is all that is known. */
static bool length_of(const tw_shape *own, tw_shape *elements)
{
    if (own->rank > 1 || own->rank < 0 || (own->rank && (own->dims[0] < 0 || own->dims[0] > TW_MAX_RANK)))
        return false;
    elements->rank = own->rank ? (int32_t)own->dims[0] : 1;
    for (int i = 0; i < elements->rank; i++)
        elements->dims[i] = -1;
    return true;
}

/* What is captured has its value in the graph outside. */
static bool outside(const tw__node *node, tw_shape *elements, int *budget)
{
    for (size_t i = 0; i < node->graph->capture_count; i++) {
        const tw_tensor *captured = node->graph->captures[i].outside;
        if (node->graph->captures[i].inside == node && captured->node)
            return vector_of((tw__edge){ captured->node, captured->node_output }, elements, budget);
    }
    return false;
}

static bool follow(tw__edge edge, tw_shape *elements, int *budget)
{
    const tw__node *node = edge.node;
    const tw_tensor *constant = tw__node_constant(node);
    if (constant)
        return read_vector(constant, elements);
    if (node->op->partial) {
        question q = { { node->op, node->attrs, node->input_count, edge.output, node->out_shapes[edge.output].rank == 0,
                         input_shape, input_constant, input_vector },
                       node,
                       budget };
        return node->op->partial(&q.call, elements);
    }
    if (node->op->forwards || node->op->casts)
        return vector_of(node->inputs[node->op->forwards ? edge.output : 0], elements, budget);
    return tw__node_is(node, TW_ROLE_PLACEHOLDER) && outside(node, elements, budget);
}

/* An integer vector, or a scalar, taken for a vector of one. */
static bool vector_of(tw__edge edge, tw_shape *elements, int *budget)
{
    if (--*budget < 0 || edge.output >= edge.node->output_count)
        return false;
    tw_dtype dtype = edge.node->out_dtypes[edge.output];
    const tw_shape *own = &edge.node->out_shapes[edge.output];
    if ((dtype != TW_INT32 && dtype != TW_INT64) || own->rank > 1)
        return false;
    bool found = follow(edge, elements, budget) && (own->rank != 0 || elements->rank == 1);
    return found || length_of(own, elements);
}

bool tw__partial_of_tensors(const void *inputs, int input, tw_shape *shape)
{
    const tw_tensor *tensor = ((tw_tensor *const *)inputs)[input];
    int budget = BUDGET;
    return tensor->node ? vector_of((tw__edge){ tensor->node, tensor->node_output }, shape, &budget)
                        : tensor->data && read_vector(tensor, shape);
}

bool tw__partial_of_edges(const void *edges, int input, tw_shape *shape)
{
    int budget = BUDGET;
    return vector_of(((const tw__edge *)edges)[input], shape, &budget);
}
