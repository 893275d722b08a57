/* Nodes of a message become nodes of a graph: ops and attrs are looked up in the table, types and counts of inputs checked,
 * shapes inferred by the ops' own functions. Attrs that begin with an underscore are notes of TensorFlow's (shapes as it saw
 * them, devices, how a call is to be run) and say nothing about values: they are passed over, but for the one that says that the
 * gradient is not the op's own. */
#include "graph/graphdef.h"
#include "op/guard.h"
#include "rows.h"

typedef struct given_attrs {
    tw_attr attrs[TW_MAX_ATTRS];
    void *blocks[TW_MAX_ATTRS], *objects[TW_MAX_ATTRS];
    int count;
} given_attrs;

static void free_attrs(given_attrs *given)
{
    for (int i = 0; i < given->count; i++) {
        tw__free(given->blocks[i]);
        tw_release(given->objects[i]);
    }
}

static tw_status read_attrs(tw__build *build, const tw__node_message *message, const tw__op_signature *signature,
                            given_attrs *given)
{
    for (size_t i = 0; i < message->attr_count; i++) {
        tw_string name = message->attrs[i].name;
        bool known = name.size && name.data[0] == '_';
        for (int k = 0; !known && k < signature->attr_count; k++)
            known = tw__string_is(name, signature->attrs[k].name);
        if (!known)
            return tw__fail(TW_INVALID_ARGUMENT, "%.*s has no attr named '%.*s'", TW_SHOWN(message->op), TW_SHOWN(name));
    }
    for (int k = 0; k < signature->attr_count; k++) {
        const tw__attr_def *def = &signature->attrs[k];
        tw_string value = tw__pair_find(message->attrs, message->attr_count, def->name);
        if (!value.data)
            continue;
        int at = given->count++;
        given->attrs[at] = (tw_attr){ .name = def->name };
        if (tw__attr_message_read(value, def->kind, &build->functions, build->budget, &given->attrs[at], &given->blocks[at],
                                  &given->objects[at]) != TW_OK) {
            tw__error_prefix("attr '%s': ", def->name);
            return tw__error_status();
        }
    }
    return TW_OK;
}

static const tw_attr *find_given(const given_attrs *given, const char *name)
{
    for (int i = 0; i < given->count; i++) {
        if (strcmp(given->attrs[i].name, name) == 0)
            return &given->attrs[i];
    }
    return NULL;
}

/* An op that touches what is not the graph's becomes its twin, which knows the model. */
static tw_status guard(const tw__build *build, const tw_op **op, given_attrs *given)
{
    const tw_op *twin = build->guard ? tw__op_guarded(*op) : *op;
    TW_NEED(twin);
    if (twin != *op)
        given->attrs[given->count++] =
            (tw_attr){ .name = TW_GUARD_ATTR, .kind = TW_ATTR_STRING, .s = { build->guard, strlen(build->guard) } };
    *op = twin;
    return TW_OK;
}

/* How many outputs there will be at most, from the attrs that were given and the number of inputs. */
static tw_status count_outputs(tw__build *build, const tw__op_signature *signature, const given_attrs *given, int input_count,
                               int *count)
{
    int64_t total = 0;
    for (int i = 0; i < signature->output_count; i++) {
        const tw__arg *arg = &signature->outputs[i];
        int attr = arg->count_attr >= 0 ? arg->count_attr : arg->types_attr;
        const tw_attr *value = attr >= 0 ? find_given(given, signature->attrs[attr].name) : NULL;
        int64_t members = attr < 0 ? 1 : !value ? input_count : arg->count_attr >= 0 ? value->i : value->count;
        if (members < 0 || members > INT32_MAX / 2 - total)
            return tw__fail(TW_INVALID_ARGUMENT, "%lld outputs", (long long)members);
        total += members;
    }
    size_t bytes = (size_t)total * (sizeof(tw_shape) + sizeof(tw_dtype)) + 1;
    if (bytes > *build->budget)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "%lld outputs, more than the file can hold", (long long)total);
    *build->budget -= bytes;
    *count = (int)total;
    return TW_OK;
}

/* Lists of types are taken from the inputs; what the file says of them must be the same. */
static tw_status check_types(const tw__op_signature *signature, const given_attrs *given, const tw_attr *complete)
{
    for (int k = 0; k < signature->attr_count; k++) {
        const tw_attr *value = complete[k].kind == TW_ATTR_TYPES ? find_given(given, signature->attrs[k].name) : NULL;
        for (int i = 0; value && i < value->count; i++) {
            if (value->count != complete[k].count || value->types[i] != complete[k].types[i])
                return tw__fail(TW_INVALID_ARGUMENT, "attr '%s': the inputs have other types than it says", value->name);
        }
    }
    return TW_OK;
}

int tw__node_output_range(const tw__node *node, tw_string name, int *count)
{
    const tw__op_signature *signature = tw__op_signature_of(node->op);
    int64_t at = 0;
    for (int i = 0; signature && i < signature->output_count; i++) {
        const tw__arg *arg = &signature->outputs[i];
        int64_t members = arg->count_attr >= 0   ? node->attrs[arg->count_attr].i
                          : arg->types_attr >= 0 ? node->attrs[arg->types_attr].count
                                                 : 1;
        if (tw__string_is(name, arg->name)) {
            *count = (int)members;
            return (int)at;
        }
        at += members;
    }
    return -1;
}

/* The edge that a reference stands for; its node is built already. */
static tw_status edge_of(const tw__build *build, const tw__reference *reference, tw__edge *edge)
{
    if (reference->node < 0) {
        *edge = *reference->given;
        return TW_OK;
    }
    tw__node *node = build->built[reference->node];
    int first = 0, count = node->output_count;
    if (build->function && !reference->control) {
        first = tw__node_output_range(node, reference->output, &count);
        if (first < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "node '%s' (%s) has no output named '%.*s'", node->name, node->op->name,
                            TW_SHOWN(reference->output));
    }
    if (!reference->control && reference->port >= count)
        return tw__fail(TW_INVALID_ARGUMENT, "output %lld of node '%s' (%s), which has %d", (long long)reference->port,
                        node->name, node->op->name, count);
    *edge = (tw__edge){ node, first + (int32_t)reference->port };
    return TW_OK;
}

/* Everything that one node needs while it is built. */
typedef struct work {
    tw__edge *edges;
    tw_dtype *dtypes, *out_dtypes;
    const tw_shape **shapes;
    tw_tensor **values;
    tw_shape *out_shapes;
    int input_count, control_count, output_limit;
} work;

static void free_work(work *w)
{
    tw__free(w->edges);
    tw__free(w->dtypes);
    tw__free(w->out_dtypes);
    tw__free(w->shapes);
    tw__free(w->values);
    tw__free(w->out_shapes);
}

static tw_status take_inputs(tw__build *build, size_t index, work *w)
{
    const tw__references *r = &build->references;
    size_t first = r->first[index], count = r->first[index + 1] - first;
    if (count > INT32_MAX / 2)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "%zu inputs", count);
    w->edges = tw__alloc_array(count + 1, sizeof *w->edges);
    w->dtypes = tw__alloc_array(count + 1, sizeof *w->dtypes);
    w->shapes = tw__alloc_array(count + 1, sizeof *w->shapes);
    w->values = tw__alloc_array(count + 1, sizeof *w->values);
    TW_NEED(w->edges && w->dtypes && w->shapes && w->values);
    for (size_t i = 0; i < count; i++) {
        tw__edge *edge = &w->edges[i];
        TW_TRY(edge_of(build, &r->items[first + i], edge));
        if (r->items[first + i].control) {
            w->control_count++;
            continue;
        }
        w->dtypes[i] = edge->node->out_dtypes[edge->output];
        w->shapes[i] = &edge->node->out_shapes[edge->output];
        if (tw__node_is(edge->node, TW_ROLE_CONSTANT))
            w->values[i] = tw__attr_find(edge->node->op, edge->node->attrs, "value")->tensor;
        w->input_count++;
    }
    return TW_OK;
}

/* Where the file says that the node is to run; what it leaves open, the program's device scope says. */
static tw_status place(tw__node *node, tw_string device)
{
    tw__owned char *own = tw__strndup(device.data, device.size);
    tw__device_name name, outer = { { NULL, 0 }, { NULL, 0 }, TW__DEVICE_NONE, TW__DEVICE_NONE, TW__DEVICE_NONE };
    TW_NEED(own);
    tw_status status = tw__device_parse(own, &name);
    if (status == TW_OK && tw__device_top)
        outer = tw__device_top->name;
    char *text = status == TW_OK ? tw__device_text(tw__device_merge(outer, name)) : NULL;
    if (!text)
        return status == TW_OK ? TW_RESOURCE_EXHAUSTED
                               : tw__fail(TW_INVALID_ARGUMENT, "Malformed device specification '%.*s'", TW_SHOWN(device));
    tw__free(node->device);
    node->device = text;
    return TW_OK;
}

static tw_status add_node(tw__build *build, const tw__node_message *message, const tw_op *op, const given_attrs *given, work *w,
                          tw__node **node)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    TW_NEED(signature);
    TW_TRY(count_outputs(build, signature, given, w->input_count, &w->output_limit));
    w->out_dtypes = tw__alloc_array((size_t)w->output_limit + 1, sizeof *w->out_dtypes);
    w->out_shapes = tw__alloc_array((size_t)w->output_limit + 1, sizeof *w->out_shapes);
    TW_NEED(w->out_dtypes && w->out_shapes);
    tw_attr complete[TW_MAX_ATTRS];
    int count = 0;
    TW_TRY(tw__op_resolve(op, w->dtypes, w->input_count, given->attrs, given->count, complete, w->out_dtypes, w->output_limit,
                          &count));
    TW_TRY(check_types(signature, given, complete));
    if (op->role == TW_ROLE_CONSTANT && complete[0].tensor->dtype != complete[1].type)
        return tw__fail(TW_INVALID_ARGUMENT, "a value of dtype %s where the attr dtype says %s",
                        tw_dtype_name(complete[0].tensor->dtype), tw_dtype_name(complete[1].type));
    for (int i = 0; i < count; i++)
        w->out_shapes[i].rank = -1;
    tw__inference inference = { op,        w->input_count, count,         w->shapes,     w->dtypes,
                                w->values, complete,       w->out_shapes, w->out_dtypes, { tw__partial_of_edges, w->edges } };
    TW_TRY(op->shape(&inference));
    tw__owned char *name = tw__format("%s%.*s", build->prefix ? build->prefix : "", (int)message->name.size, message->name.data);
    TW_NEED(name);
    *node = tw__graph_add(build->graph, op, name, w->edges, w->input_count, complete, signature->attr_count, w->out_dtypes,
                          w->out_shapes, count);
    if (!*node)
        return tw__error_status();
    for (int i = 0; i < w->control_count; i++)
        TW_TRY(tw__node_follow(*node, w->edges[w->input_count + i].node));
    return message->device.size ? place(*node, message->device) : TW_OK;
}

static tw_status build_node(tw__build *build, size_t index)
{
    const tw__node_message *message = &build->nodes[index];
    char *name =
        message->name.size <= INT32_MAX / 4 ? tw__strndup(message->op.size ? message->op.data : "", message->op.size) : NULL;
    TW_NEED(name);
    const tw_op *op = tw__op_find(name);
    tw__free(name);
    given_attrs given = { .count = 0 };
    work w = { 0 };
    tw_status status = TW_OK;
    if (!op)
        status = tw__fail(TW_NOT_FOUND, "Op type not registered '%.*s'", TW_SHOWN(message->op));
    if (status == TW_OK && !tw__op_signature_of(op))
        status = tw__error_status();
    if (status == TW_OK)
        status = read_attrs(build, message, tw__op_signature_of(op), &given);
    if (status == TW_OK)
        status = take_inputs(build, index, &w);
    if (status == TW_OK)
        status = guard(build, &op, &given);
    if (status == TW_OK)
        status = add_node(build, message, op, &given, &w, &build->built[index]);
    tw_string type = tw__gradient_note(message);
    if (status == TW_OK && type.size && build->own_gradient)
        status = build->own_gradient(build->gradient_context, build, build->built[index], type);
    free_work(&w);
    free_attrs(&given);
    if (status != TW_OK)
        tw__error_prefix("node '%.*s' (%.*s): ", TW_SHOWN(message->name), TW_SHOWN(message->op));
    return status;
}

tw_status tw__graph_build(tw__build *build)
{
    TW_TRY(tw__references_read(&build->references, build->nodes, build->count, build->function, build->given));
    build->built = tw__alloc_array(build->count + 1, sizeof *build->built);
    TW_NEED(build->built);
    for (size_t i = 0; i < build->count; i++)
        TW_TRY(build_node(build, (size_t)build->references.order[i]));
    return TW_OK;
}

tw_status tw__build_edge(const tw__build *build, tw_string text, tw__edge *edge)
{
    tw__reference reference;
    TW_TRY(tw__reference_parse(&build->references, text, build->function, build->given, &reference));
    return edge_of(build, &reference, edge);
}

void tw__build_end(tw__build *build)
{
    tw__references_free(&build->references);
    tw__free(build->built);
    build->built = NULL;
}
