/* Graphs and their nodes; see graph.h. */
#include "base/language.h"
#include "graph/graph.h"

#include "op/host/host.h"
#include "rows.h"

_Thread_local tw__graph *tw__tracing;

static void node_free(tw__node *node)
{
    if (node->rich) {
        node->out_dtypes = node->outgrown[0];
        node->out_shapes = node->outgrown[1];
    }
    while (node->rich) {
        tw__owned tw__node *rich = node->rich;
        node->rich = rich->rich;
        tw__attrs_end(rich->attrs, rich->attr_count);
        tw__free(rich->attrs);
        tw__free(rich->inputs);
        tw__free(rich->out_dtypes);
        tw__free(rich->out_shapes);
    }
    tw__attrs_end(node->attrs, node->attr_count);
    tw__free(node->attrs);
    tw_release(node->gradient);
    tw_release(node->stream);
    tw__host_drop(node->host);
    tw__free(node->name);
    tw__free(node->device);
    tw__free(node->colocation);
    tw__free(node->gradient_type);
    tw_release(node->origin);
    tw__free(node->inputs);
    tw__free(node->controls);
    tw__free(node->out_dtypes);
    tw__free(node->out_shapes);
    tw__free(node);
}

void (*tw__graph_member_ended)(tw_object *member);

static void origin_destroy(void *self)
{
    tw__free(((tw__origin *)self)->text);
}

void tw__origin_write(tw__text *text, const tw_object *origin, const char *before, const char *after)
{
    const char *line = origin ? ((const tw__origin *)origin)->text : "";
    while (*line) {
        size_t size = strcspn(line, "\n");
        tw__text_format(text, "%s%.*s%s", before, (int)size, line, after);
        line += size + (line[size] == '\n');
    }
}

const tw_class tw__origin_class = { .name = "Origin", .size = sizeof(tw__origin), .destroy = origin_destroy };

static void free_collection(void *memory)
{
    tw__collection *c = memory;
    for (size_t i = 0; i < c->count; i++) {
        if (tw__graph_member_ended)
            tw__graph_member_ended(c->items[i]);
        tw_release(c->items[i]);
    }
    tw__free(c->items);
    tw__free(c);
}

tw_status tw__graph_collect(tw__graph *graph, const char *name, void *object)
{
    tw__collection *c = tw__map_get(&graph->collections, name, strlen(name));
    if (!c) {
        c = tw__alloc_zero(sizeof *c);
        if (!c || tw__map_put(&graph->collections, name, strlen(name), c) != TW_OK) {
            tw__free(c);
            return TW_RESOURCE_EXHAUSTED;
        }
    }
    TW_TRY(TW_GROW(c->items, c->capacity, c->count + 1));
    c->items[c->count++] = tw_retain(object);
    return TW_OK;
}

const tw__collection *tw__graph_collection(const tw__graph *graph, const char *name)
{
    return tw__map_get(&graph->collections, name, strlen(name));
}

tw__graph *tw__graph_root(tw__graph *graph)
{
    while (graph && !graph->lasting)
        graph = graph->outer;
    return graph;
}

static void graph_destroy(void *self)
{
    tw__graph *graph = self;
    tw__map_free(&graph->collections, free_collection);
    tw_release(graph->variable_store);
    tw__control_free(graph);
    for (size_t i = 0; i < graph->capture_count; i++)
        tw_release(graph->captures[i].outside);
    tw__free(graph->captures);
    for (size_t i = 0; i < graph->node_count; i++)
        node_free(graph->nodes[i]);
    tw__free(graph->nodes);
    tw__map_free(&graph->names, NULL);
    tw__map_free(&graph->name_uses, NULL);
    tw__map_free(&graph->layer_counts, NULL);
    tw__pointer_map_free(&graph->captured);
    tw__free(graph->name);
    tw_release(graph->outer);
}

const tw_class tw__graph_class = { .name = "Graph", .size = sizeof(tw__graph), .destroy = graph_destroy };

tw__graph *tw__graph_new(tw__graph *outer)
{
    tw__graph *graph = tw__object_new(&tw__graph_class);
    if (graph) {
        graph->outer = tw_retain(outer);
        graph->traces = atomic_fetch_add(&tw__traces_begun, 1) + 1;
    }
    return graph;
}

void tw__graph_enter(tw__graph *graph)
{
    graph->users++;
}

static void drop_functions(tw_attr *attrs, int count)
{
    for (int i = 0; attrs && i < count; i++) {
        if (attrs[i].kind == TW_ATTR_FUNC) {
            tw_auto void *function = attrs[i].func;
            attrs[i].func = NULL;
        } else if (attrs[i].kind == TW_ATTR_FUNCS) {
            int members = attrs[i].count;
            attrs[i].count = 0;
            for (int k = 0; k < members; k++)
                tw_release(attrs[i].funcs[k]);
        }
    }
}

void tw__graph_leave(tw__graph *graph)
{
    if (--graph->users > 0)
        return;
    for (size_t i = 0; i < graph->node_count; i++) {
        for (tw__node *form = graph->nodes[i]; form; form = form->rich)
            drop_functions(form->attrs, form->attr_count);
        tw_auto tw_object *gradient = graph->nodes[i]->gradient;
        graph->nodes[i]->gradient = NULL;
    }
}

tw_status tw__node_enrich(tw__node *node, const tw_attr *attrs, const tw__edge *inputs, int input_count,
                          const tw_dtype *out_dtypes, const tw_shape *out_shapes, int output_count)
{
    void *block = tw__alloc(tw__attrs_bytes(attrs, node->attr_count));
    tw__node *rich = tw__alloc_zero(sizeof *rich), *last = node;
    tw__edge *edges = tw__alloc_array((size_t)input_count + 1, sizeof *edges);
    tw_dtype *dtypes = tw__alloc_array((size_t)output_count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array((size_t)output_count + 1, sizeof *shapes);
    if (!block || !rich || !edges || !dtypes || !shapes) {
        tw__free(block);
        tw__free(rich);
        tw__free(edges);
        tw__free(dtypes);
        tw__free(shapes);
        return TW_RESOURCE_EXHAUSTED;
    }
    *rich = *node;
    rich->rich = NULL;
    rich->gradient = NULL;
    rich->gradient_type = NULL;
    rich->stream = NULL;
    rich->attrs = tw__attrs_copy(attrs, node->attr_count, block);
    if (input_count)
        memcpy(edges, inputs, (size_t)input_count * sizeof *edges);
    memcpy(dtypes, out_dtypes, (size_t)output_count * sizeof *dtypes);
    memcpy(shapes, out_shapes, (size_t)output_count * sizeof *shapes);
    rich->inputs = edges;
    rich->input_count = input_count;
    rich->out_dtypes = dtypes;
    rich->out_shapes = shapes;
    rich->output_count = output_count;
    if (!node->rich) { /* a plan may be reading them */
        node->outgrown[0] = node->out_dtypes;
        node->outgrown[1] = node->out_shapes;
    }
    node->out_dtypes = dtypes;
    node->out_shapes = shapes;
    while (last->rich)
        last = last->rich;
    last->rich = rich;
    return TW_OK;
}

const tw__node *tw__node_form(const tw__node *node, int outputs)
{
    while (node->rich && node->output_count < outputs)
        node = node->rich;
    return node;
}

void tw__graph_move_before(tw__graph *graph, size_t first, const tw__node *node)
{
    size_t place = (size_t)node->id;
    for (size_t i = first; i < graph->node_count; i++) {
        tw__node *moved = graph->nodes[i];
        memmove(graph->nodes + place + 1, graph->nodes + place, (i - place) * sizeof *graph->nodes);
        graph->nodes[place++] = moved;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        for (tw__node *form = graph->nodes[i]; form; form = form->rich)
            form->id = (int32_t)i;
    }
}

tw__node *tw__graph_find(const tw__graph *graph, const char *name)
{
    return tw__map_get(&graph->names, name, strlen(name));
}

tw__node *tw__graph_add(tw__graph *graph, const tw_op *op, const char *name, const tw__edge *inputs, int input_count,
                        const tw_attr *attrs, int attr_count, const tw_dtype *out_dtypes, const tw_shape *out_shapes,
                        int output_count)
{
    if (graph->finalized) {
        tw__fail(TW_RUNTIME_ERROR, "Graph is finalized and cannot be modified.");
        return NULL;
    }
    if (graph->node_count >= INT32_MAX / 2) {
        tw__fail(TW_RESOURCE_EXHAUSTED, "a graph of %zu nodes", graph->node_count);
        return NULL;
    }
    if (TW_GROW(graph->nodes, graph->node_capacity, graph->node_count + 1) != TW_OK)
        return NULL;
    tw__node *node = tw__alloc_zero(sizeof *node);
    if (!node)
        return NULL;
    node->graph = graph;
    node->op = op;
    node->id = (int32_t)graph->node_count;
    node->inputs = tw__alloc_array((size_t)input_count + 1, sizeof *node->inputs);
    node->out_dtypes = tw__alloc_array((size_t)output_count + 1, sizeof *node->out_dtypes);
    node->out_shapes = tw__alloc_array((size_t)output_count + 1, sizeof *node->out_shapes);
    void *block = tw__alloc(tw__attrs_bytes(attrs, attr_count));
    const char *device = op->role == TW_ROLE_READ && !name ? NULL : tw__device_now(); /* a variable is read where it is */
    const char *beside = graph->lasting ? tw__colocation : NULL;
    if ((device && !(node->device = tw__strdup(device))) || (beside && !(node->colocation = tw__strdup(beside)))) {
        tw__free(block);
        node_free(node);
        return NULL;
    }
    if (!node->inputs || !node->out_dtypes || !node->out_shapes || !block || tw__node_name(node, name) != TW_OK) {
        tw__free(block);
        node_free(node);
        return NULL;
    }
    node->attrs = tw__attrs_copy(attrs, attr_count, block);
    node->attr_count = attr_count;
    node->host = tw__host_of(op, node->attrs);
    node->input_count = input_count;
    node->output_count = output_count;
    if (input_count)
        memcpy(node->inputs, inputs, (size_t)input_count * sizeof *inputs);
    if (output_count) {
        memcpy(node->out_dtypes, out_dtypes, (size_t)output_count * sizeof *out_dtypes);
        memcpy(node->out_shapes, out_shapes, (size_t)output_count * sizeof *out_shapes);
    }
    if ((graph->lasting || graph == tw__tracing) && tw__language.origin)
        node->origin = tw__language.origin();
    graph->nodes[graph->node_count++] = node;
    return graph->controls && tw__control_apply(node) != TW_OK ? NULL : node;
}

tw__node *tw__node_copy(const tw__node *node, tw__graph *graph, const tw__edge *inputs)
{
    tw__node *copy = tw__graph_add(graph, node->op, node->name, inputs, node->input_count, node->attrs, node->attr_count,
                                   node->out_dtypes, node->out_shapes, node->output_count);
    if (copy && node->origin) {
        tw_release(copy->origin);
        copy->origin = tw_retain(node->origin);
    }
    if (copy && node->gradient) {
        copy->gradient = tw_retain(node->gradient);
        copy->gradient_type = node->gradient_type ? tw__strdup(node->gradient_type) : NULL;
    }
    return copy;
}

tw_status tw__node_follow(tw__node *node, tw__node *earlier)
{
    for (int i = 0; i < node->control_count && node->control_count < 16; i++) {
        if (node->controls[i] == earlier)
            return TW_OK;
    }
    tw__node **more = tw__realloc(node->controls, ((size_t)node->control_count + 1) * sizeof *more);
    TW_NEED(more);
    node->controls = more;
    node->controls[node->control_count++] = earlier;
    return TW_OK;
}

tw_tensor *tw__node_output(tw__node *node, int output)
{
    tw_tensor *value = NULL;
    if (tw__node_is(node, TW_ROLE_CONSTANT))
        value = tw__attr_find(node->op, node->attrs, "value")->tensor;
    return tw__tensor_symbolic(node->out_dtypes[output], &node->out_shapes[output], node->graph, node, output, value);
}

tw_tensor *tw__graph_placeholder(tw__graph *graph, tw_dtype dtype, const tw_shape *shape, const char *name)
{
    tw_attr attrs[] = { TW_A_TYPE("dtype", dtype), TW_A_SHAPE("shape", shape) };
    tw__node *node = tw__graph_add(graph, &tw__op_Placeholder, name, NULL, 0, attrs, 2, &dtype, shape, 1);
    return node ? tw__node_output(node, 0) : NULL;
}

tw_tensor *tw__graph_constant(tw__graph *graph, tw_tensor *value, const char *name)
{
    tw_attr attrs[] = { TW_A_TENSOR("value", value), TW_A_TYPE("dtype", value->dtype) };
    tw__node *node = tw__graph_add(graph, &tw__op_Const, name, NULL, 0, attrs, 2, &value->dtype, &value->shape, 1);
    return node ? tw__node_output(node, 0) : NULL;
}

static bool may_have_gradient(const tw_tensor *tensor)
{
    return tw__dtype_is_float(tensor->dtype) || tw__dtype_is_complex(tensor->dtype);
}

/* Small values become constants; handles and large arrays are fed by the caller, and so is what was there before the trace and
 * may be differentiated by. */
static bool becomes_constant(const tw__graph *graph, const tw_tensor *tensor)
{
    if (tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT || !tensor->data)
        return false;
    if (graph->lasting)
        return true;
    if (tensor->by_identity)
        return false;
    if (!may_have_gradient(tensor))
        return tensor->count <= 16 || tw__dtype_is_integer(tensor->dtype) || tensor->dtype == TW_STRING;
    return tensor->count <= 16 && tensor->traces >= graph->traces;
}

static bool encloses(const tw__graph *outer, const tw__graph *graph)
{
    for (const tw__graph *g = graph->outer; g; g = g->outer) {
        if (g == outer)
            return true;
    }
    return false;
}

tw_status tw__graph_capture(tw__graph *graph, tw_tensor *outside, tw__node *inside)
{
    TW_TRY(TW_GROW(graph->captures, graph->capture_capacity, graph->capture_count + 1));
    TW_TRY(tw__pointer_map_put(&graph->captured, outside, (int64_t)graph->capture_count));
    graph->captures[graph->capture_count++] = (tw__capture){ tw_retain(outside), inside };
    return TW_OK;
}

tw_status tw__graph_out_of_scope(const tw_tensor *tensor)
{
    bool inner = tw__tracing && encloses(tw__tracing, tensor->node->graph);
    tw__owned char *shape = tw__shape_tuple(&tensor->shape);
    tw__owned char *shown = tw__format("<tf.Tensor '%s:%d' shape=%s dtype=%s>", tensor->node->name, tensor->node_output,
                                       shape ? shape : "", tw_dtype_name(tensor->dtype));
    tw__auto(tw__text_free) tw__text where = { 0 };
    tw__origin_write(&where, tensor->node->origin, "\n    ", "");
    tw_status status = tw__fail(
        inner ? TW_VALUE_ERROR : TW_TYPE_ERROR,
        "%s is out of scope and cannot be used here. Use return values, explicit Python locals or "
        "TensorFlow collections to access it.\nPlease see "
        "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more information.%s%s%s%s",
        shown ? shown : "", where.size ? "\n\n" : "", where.size && shown ? shown : "", where.size ? " was defined here:" : "",
        where.size ? where.data : "");
    return status;
}

tw_tensor *tw__graph_import(tw__graph *graph, tw_tensor *tensor)
{
    if (tensor->node && tensor->node->graph == graph)
        return tw_retain(tensor);
    if (tensor->node && tensor->symbolic_value && !may_have_gradient(tensor))
        tensor = tensor->symbolic_value;
    if (tensor->node && !encloses(tensor->node->graph, graph)) {
        tw__graph_out_of_scope(tensor);
        return NULL;
    }
    int64_t index = tw__pointer_map_get(&graph->captured, tensor, -1);
    if (index >= 0)
        return tw__node_output(graph->captures[index].inside, 0);
    bool constant = !tensor->node && becomes_constant(graph, tensor);
    tw_tensor *inside =
        constant ? tw__graph_constant(graph, tensor, NULL) : tw__graph_placeholder(graph, tensor->dtype, &tensor->shape, NULL);
    if (inside)
        inside->node->helps = true;
    if (!inside || constant)
        return inside;
    if (tw__graph_capture(graph, tensor, inside->node) == TW_OK)
        return inside;
    tw_release(inside);
    return NULL;
}

tw_status tw__graph_apply(tw__graph *graph, const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *complete,
                          int attr_count, const tw_dtype *out_dtypes, const tw_shape *out_shapes, int output_count,
                          tw_tensor **outputs)
{
    tw__edge few[16] = { 0 }, *edges = input_count <= 16 ? few : tw__alloc_array((size_t)input_count, sizeof *edges);
    TW_NEED(edges);
    tw_status status = TW_OK;
    tw__naming naming = graph == tw__tracing ? tw__naming_start() : (tw__naming){ NULL, 0, NULL };
    for (int i = 0; status == TW_OK && i < input_count; i++) {
        tw_auto tw_tensor *inside = tw__graph_import(graph, inputs[i]);
        if (inside)
            edges[i] = (tw__edge){ inside->node, inside->node_output };
        else
            status = tw__error_status();
    }
    tw__node *node = NULL;
    if (status == TW_OK)
        node = tw__graph_add(graph, op, NULL, edges, input_count, complete, attr_count, out_dtypes, out_shapes, output_count);
    if (edges != few)
        tw__free(edges);
    if (node && atomic_load_explicit(&tw__numerics_threads, memory_order_relaxed))
        status = tw__numerics_trace(node);
    if (tw__naming_end(naming, NULL, NULL, NULL) != TW_OK || !node || status != TW_OK)
        return tw__error_status();
    for (int i = 0; i < output_count; i++) {
        tw__node *check = graph->lasting ? tw__numerics_check_of(node, i) : NULL; /* it stands in the output's place there */
        outputs[i] = check ? tw__node_output(check, 0) : tw__node_output(node, i);
        if (!outputs[i]) {
            while (i-- > 0)
                tw_release(outputs[i]);
            return tw__error_status();
        }
    }
    if (op->keeps_logits)
        outputs[0]->symbolic_input = tw_retain(inputs[0]);
    return TW_OK;
}

/* ---- streams ---- */

static void stream_destroy(void *self)
{
    tw__kernel_stream *stream = self;
    if (stream->state)
        stream->free_state(stream->state);
}

static const tw_class stream_class = { .name = "Stream", .size = sizeof(tw__kernel_stream), .destroy = stream_destroy };

tw__kernel_stream *tw__kernel_stream_new(const tw_op *op)
{
    tw__kernel_stream *stream = tw__object_new(&stream_class);
    if (stream)
        stream->free_state = op->free_state;
    return stream;
}

tw_status tw__symbolic_refine(tw_tensor *symbolic, const tw_shape *shape)
{
    tw_shape *own = &symbolic->shape;
    if (own->rank < 0)
        *own = *shape;
    for (int i = 0; i < own->rank && shape->rank >= 0; i++)
        own->dims[i] = own->dims[i] < 0 ? shape->dims[i] : own->dims[i];
    symbolic->node->out_shapes[symbolic->node_output] = *own;
    return symbolic->count < 0 && tw__shape_known(own) ? tw__shape_count(own, &symbolic->count) : TW_OK;
}
