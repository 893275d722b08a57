/* Names of nodes, as TensorFlow gives them.
 *
 * A name is taken once, whatever the case of its letters; the second "add" is "add_1". One call of a function may make several
 * nodes: the result gets the name that the caller gave, or the function's own; a constant or a read that was made of an argument
 * is named after the node that uses it and the argument: "mul/y", "MatMul/ReadVariableOp". So the nodes of a call are named
 * together when it is over. */
#include <ctype.h>

#include "graph/graph.h"
#include "rows.h"

/* ---- unique names ---- */

static char *lowered(const char *name)
{
    char *key = tw__strdup(name);
    for (char *c = key; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return key;
}

static intptr_t uses_of(const tw__graph *graph, const char *key)
{
    return (intptr_t)tw__map_get(&graph->name_uses, key, strlen(key));
}

static tw_status set_uses(tw__graph *graph, const char *key, intptr_t uses)
{
    return tw__map_put(&graph->name_uses, key, strlen(key), (void *)uses);
}

char *tw__graph_unique_name(tw__graph *graph, const char *name, bool marked)
{
    tw__owned char *key = lowered(name);
    char *out = NULL;
    if (!key)
        return NULL;
    intptr_t uses = uses_of(graph, key);
    if (marked && set_uses(graph, key, uses + 1) != TW_OK)
        return NULL;
    if (!uses)
        return tw__strdup(name);
    tw__owned char *numbered = tw__strdup(key);
    while (numbered && uses_of(graph, numbered)) {
        tw__free(numbered);
        numbered = tw__format("%s_%ld", key, (long)uses++);
    }
    if (numbered && (!marked || set_uses(graph, numbered, 1) == TW_OK))
        out = tw__format("%s_%ld", name, (long)uses - 1);
    return out;
}

tw_status tw__graph_check_name(const char *name, bool inner)
{
    for (const char *c = name; *c; c++) {
        bool first = c == name && !inner;
        if (isalnum((unsigned char)*c) || *c == '.' || (!first && strchr("_\\/>-", *c)))
            continue;
        return inner
                   ? tw__fail(
                         TW_VALUE_ERROR,
                         "'%s' is not a valid scope name. A scope name has to match the following pattern: ^[A-Za-z0-9_.\\\\/>-]*$",
                         name)
                   : tw__fail(TW_VALUE_ERROR,
                              "'%s' is not a valid root scope name. A root scope name has to match the following pattern: "
                              "^[A-Za-z0-9.][A-Za-z0-9_.\\\\/>-]*$",
                              name);
    }
    return TW_OK;
}

/* Whether TensorFlow's function for such a node opens a scope for it, of its own name. */
static bool opens_scope(const tw_op *op, const char *base)
{
    return op->scope == TW_SCOPE_ALWAYS || (op->scope == TW_SCOPE_OPERATOR && islower((unsigned char)*base));
}

/* What the node is called from now on; takes the name. */
static tw_status settle(tw__node *node, char *name)
{
    if (!name || tw__map_put(&node->graph->names, name, strlen(name), node) != TW_OK) {
        tw__free(name);
        return tw__error_status();
    }
    tw__free(node->name);
    for (tw__node *form = node; form; form = form->rich)
        form->name = name;
    node->unnamed = false;
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    node->scope = opens_scope(node->op, base) ? (int32_t)strlen(name) : slash ? (int32_t)(slash - name) : 0;
    return TW_OK;
}

/* ---- what functions call their nodes ---- */

typedef struct pair {
    const char *key, *name;
} pair;

static const char *look_up(const pair *pairs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].name;
    }
    return NULL;
}
#define LOOK_UP(pairs, key) look_up(pairs, sizeof(pairs) / sizeof *(pairs), key)

_Thread_local bool tw__named_as_functions;

/* A node that no function of a name made: an operator's. */
static const char *default_name(const tw_op *op)
{
    if (tw__named_as_functions && op->scope == TW_SCOPE_OPERATOR)
        return op->name;
    return op->node_name ? op->node_name : op->name;
}

/* The result of a function, where that differs from what an operator would call it. */
static const char *result_name(const char *id, const tw_op *op)
{
    static const pair names[] = {
        { "add", "Add" },
        { "subtract", "Sub" },
        { "multiply", "Mul" },
        { "pow", "Pow" },
        { "math_floormod", "FloorMod" },
        { "zeros_like", "zeros_like" },
        { "ones_like", "ones_like" },
        { "rank", "Rank" },
        { "shape", "Shape" },
        { "size", "Size" },
        { "nn_max_pool2d", "MaxPool2d" },
        { "nn_avg_pool2d", "AvgPool2D" },
        { "matmul", "MatMul" },
        { "nn_embedding_lookup", "embedding_lookup" },
    };
    const char *name = id ? LOOK_UP(names, id) : NULL;
    return name ? name : default_name(op);
}

/* Functions that open a scope for their nodes; the result has the scope's own name if `whole`. */
static const char *scope_name(const char *id, bool *whole)
{
    static const pair scopes[] = {
        { "clip_by_value", "clip_by_value" },
        { "nn_sigmoid_cross_entropy_with_logits", "logistic_loss" },
        { "math_l2_normalize", "l2_normalize" },
    };
    static const pair around[] = {
        { "nn_sparse_softmax_cross_entropy_with_logits", "SparseSoftmaxCrossEntropyWithLogits" },
        { "nn_softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits" },
        { "einsum", "einsum" },
        { "norm", "norm" },
        { "tensordot", "Tensordot" },
        { "eye", "eye" },
        { "linalg_matrix_transpose", "matrix_transpose" },
    };
    const char *name = id ? LOOK_UP(scopes, id) : NULL;
    *whole = name != NULL;
    return name || !id ? name : LOOK_UP(around, id);
}

/* ---- one call ---- */

static _Thread_local tw__graph *waiting; /* the graph whose new nodes have no names yet */

tw__naming tw__naming_start(void)
{
    if (!tw__tracing || waiting == tw__tracing)
        return (tw__naming){ NULL, 0, NULL };
    tw__naming naming = { tw__tracing, tw__tracing->node_count, waiting };
    waiting = tw__tracing;
    return naming;
}

tw__graph *tw__naming_wait(tw__graph *graph)
{
    tw__graph *before = waiting;
    waiting = graph;
    return before;
}

tw_status tw__node_name(tw__node *node, const char *name)
{
    tw__graph *graph = node->graph;
    if (name && *name) {
        if (tw__map_has(&graph->names, name, strlen(name)))
            return settle(node, tw__graph_unique_name(graph, name, true));
        tw__owned char *key = lowered(name);
        tw_status status = key ? TW_OK : TW_RESOURCE_EXHAUSTED;
        if (key && !uses_of(graph, key))
            status = set_uses(graph, key, 1);
        return status == TW_OK ? settle(node, tw__strdup(name)) : status;
    }
    if (waiting == graph) {
        if (node->unnamed)
            return TW_OK;
        node->unnamed = true;
        node->name = tw__strdup("");
        return node->name ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw__owned char *whole = tw__format("%s%s", tw__scope(), default_name(node->op));
    TW_NEED(whole);
    return settle(node, tw__graph_unique_name(graph, whole, true));
}

static tw_status name_inside(tw__node *node, const char *scope, const char *name)
{
    tw__owned char *whole = tw__format("%s%s", scope, name);
    TW_NEED(whole);
    return settle(node, tw__graph_unique_name(node->graph, whole, true));
}

tw_status tw__node_rename(tw__node *node, const char *base)
{
    /* The old name stays taken, but nobody is found by it. */
    if (!node->unnamed)
        TW_TRY(tw__map_put(&node->graph->names, node->name, strlen(node->name), NULL));
    return name_inside(node, tw__scope(), base);
}

/* What a flat input is called: "y", or "values_1" in a list. */
char *tw__input_name(const tw_op *op, const tw_attr *attrs, int input)
{
    const char *own = op->input_names;
    for (int i = 0; own && i < input; i++) {
        own = strchr(own, ',');
        own += own != NULL;
    }
    if (own && *own && *own != ',')
        return tw__strndup(own, strcspn(own, ","));
    const tw__op_signature *signature = tw__op_signature_of(op);
    int64_t at = 0;
    for (int i = 0; signature && i < signature->input_count; i++) {
        const tw__arg *arg = &signature->inputs[i];
        bool list = arg->count_attr >= 0 || arg->types_attr >= 0;
        int64_t members = arg->count_attr >= 0   ? attrs[arg->count_attr].i
                          : arg->types_attr >= 0 ? attrs[arg->types_attr].count
                                                 : 1;
        if (input < at + members)
            return list ? tw__format("%s_%lld", arg->name, (long long)(input - at)) : tw__strdup(arg->name);
        at += members;
    }
    return tw__strdup("input");
}

/* Whether a reduction runs over all axes without having been told so: TensorFlow then makes the constant before the call. */
static bool is_all_axes(const tw__node *node, const tw__node *constant, const char *input)
{
    int rank = node->inputs[0].node->out_shapes[node->inputs[0].output].rank;
    const tw_tensor *value = tw__node_constant(constant);
    if (!value || strcmp(input, "reduction_indices") != 0 || value->shape.rank != 1 || value->dtype != TW_INT32 ||
        value->count != rank)
        return false;
    for (int64_t i = 0; i < value->count; i++) {
        if (((const int32_t *)value->data)[i] != i)
            return false;
    }
    return true;
}

/* The constants and reads that were made for the node. */
static tw_status name_helpers(const tw__node *node, const char *scope)
{
    for (int i = 0; i < node->input_count; i++) {
        tw__node *from = tw__node_checked(node->inputs[i].node);
        bool read = tw__node_is(from, TW_ROLE_READ);
        if (!from->unnamed || (!from->helps && !read))
            continue;
        tw__owned char *input = read ? tw__strdup("ReadVariableOp") : tw__input_name(node->op, node->attrs, i);
        tw__owned char *inside = tw__format("%s/", node->name);
        bool before = is_all_axes(node, from, input ? input : "") || tw__node_is(node, TW_ROLE_ASSIGN);
        tw_status status = !input || !inside ? TW_RESOURCE_EXHAUSTED
                           : before && !read ? name_inside(from, scope, "Const") /* which TensorFlow makes before the call */
                                             : name_inside(from, inside, input);
        TW_TRY(status);
        if (read) /* the handle may have been captured for it */
            TW_TRY(name_helpers(from, scope));
    }
    return TW_OK;
}

static tw_status name_rest(tw__naming naming, const char *scope)
{
    tw__graph *graph = naming.graph;
    for (size_t i = naming.first; i < graph->node_count; i++) {
        tw__node *node = graph->nodes[i];
        if (node->checks)
            continue;
        if (!node->unnamed) {
            TW_TRY(name_helpers(node, scope));
        } else if (!node->helps && !tw__node_is(node, TW_ROLE_READ)) {
            TW_TRY(name_inside(node, scope, default_name(node->op)));
            TW_TRY(name_helpers(node, scope));
        }
    }
    for (size_t i = naming.first; i < graph->node_count; i++) {
        if (graph->nodes[i]->unnamed && !graph->nodes[i]->checks) /* nobody uses it */
            TW_TRY(name_inside(graph->nodes[i], scope, default_name(graph->nodes[i]->op)));
    }
    for (size_t i = naming.first; i < graph->node_count; i++) {
        if (graph->nodes[i]->unnamed)
            TW_TRY(tw__numerics_settle(graph->nodes[i]));
    }
    return TW_OK;
}

/* A bare read is named by the node that uses its value. */
static bool is_pending(const tw__naming *naming, const char *id, const char *name)
{
    const tw__graph *graph = naming->graph;
    size_t count = graph->node_count - naming->first;
    bool captured = count == 2 && graph->nodes[naming->first]->helps; /* its handle */
    const tw__node *node = count == 1 || captured ? graph->nodes[graph->node_count - 1] : NULL;
    return node && tw__node_is(node, TW_ROLE_READ) && node->unnamed && !id && !name;
}

void tw__graph_settle(tw__graph *graph)
{
    for (size_t i = graph->pending ? graph->pending - 1 : graph->node_count; i < graph->node_count; i++) {
        tw__node *node = graph->nodes[i];
        if (!node->unnamed || !tw__node_is(node, TW_ROLE_READ))
            continue;
        if (name_inside(node, tw__scope(), default_name(node->op)) != TW_OK || name_helpers(node, tw__scope()) != TW_OK)
            tw_clear_error(); /* it has no name then */
    }
    graph->pending = 0;
}

/* ---- a node that could not be made ---- */

static _Thread_local const tw_op *failed; /* the operation that the error without a name is about */

static void name_failed(tw__graph *graph, const char *id, const char *name)
{
    tw__saved_error saved = tw__error_take();
    bool whole = false, exact = name && *name && name[strlen(name) - 1] == '/', given = name && *name && !exact;
    const char *inner = scope_name(id, &whole), *scope = tw__scope();
    tw__owned char *base = exact   ? tw__strndup(name, strlen(name) - 1)
                           : inner ? tw__format("%s%s/%s", scope, given ? name : inner, default_name(failed))
                                   : tw__format("%s%s", scope, given ? name : result_name(id, failed));
    tw__owned char *unique = !base ? NULL : exact ? tw__strdup(base) : tw__graph_unique_name(graph, base, false);
    tw_clear_error();
    tw__error_restore(saved);
    tw__error_fill(unique ? unique : failed->name);
    failed = NULL;
}

void tw__naming_failed(const tw_op *op)
{
    failed = op;
    if (tw__tracing && waiting != tw__tracing)
        name_failed(tw__tracing, NULL, NULL);
}

void tw__naming_explain(tw__naming naming, const char *id, const char *name)
{
    if (failed && naming.graph)
        name_failed(naming.graph, id, name);
}

tw_status tw__naming_finish(tw__naming naming, const char *id, const char *name, const tw_tensor *result)
{
    tw__graph *graph = naming.graph;
    waiting = naming.previous;
    tw__naming_explain(naming, id, name);
    if (!result && is_pending(&naming, id, name)) {
        if (!graph->pending)
            graph->pending = naming.first + 1;
        return TW_OK;
    }
    const char *scope = tw__scope();
    bool whole = false;
    const char *inner = scope_name(id, &whole);
    if (graph->node_count == naming.first)
        return TW_OK;
    tw__node *node = result && result->node && result->node->graph == graph ? result->node : NULL;
    node = tw__node_checked(result ? node : graph->nodes[graph->node_count - 1]);
    if (node && !node->unnamed)
        node = NULL;
    size_t length = name ? strlen(name) : 0;
    bool exact = length && name[length - 1] == '/'; /* a whole name, as a scope gives it */
    tw_status status = length ? tw__graph_check_name(name, *scope != 0) : TW_OK;
    tw__owned char *own = NULL;
    if (inner) {
        tw__owned char *given = exact ? NULL : tw__format("%s%s", scope, length ? name : inner);
        tw__owned char *unique = exact ? tw__strndup(name, length - 1) : given ? tw__graph_unique_name(graph, given, true) : NULL;
        own = unique ? tw__format("%s/", unique) : NULL;
        if (status == TW_OK && unique && whole && node)
            status = settle(node, tw__strdup(unique));
        status = status == TW_OK && !own ? TW_RESOURCE_EXHAUSTED : status;
    } else if (node && status == TW_OK) {
        status = exact ? settle(node, tw__strndup(name, length - 1))
                       : name_inside(node, scope, length ? name : result_name(id, node->op));
    }
    tw_status rest = name_rest(naming, own ? own : scope);
    return status == TW_OK ? rest : status;
}
