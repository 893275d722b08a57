/* The graph that a thread's operations go into, when they are not run at once.
 *
 * Each thread has a stack of graphs that were entered. Below it is a graph of its own, made when it is first asked for;
 * operations go there without being asked once eager execution is disabled. A thread that begins afterwards says so
 * (thread_begin), and that it ends. */
#include "op/calls.h"
#include "rows.h"
#include "session/session.h"

typedef struct entered {
    struct tw_graph *graph;
    tw__graph *before;
} entered;

static _Thread_local entered *stack;
static _Thread_local size_t depth, capacity;
static _Thread_local struct tw_graph *program_graph;
static _Atomic bool disabled;

bool tw__eager_disabled(void)
{
    return atomic_load(&disabled);
}

static void end_own_graph(void)
{
    tw_release(program_graph);
    program_graph = NULL;
}

static struct tw_graph *own_graph(void)
{
    static tw__ending ending = { .end = end_own_graph };
    tw__at_shutdown(&ending);
    if (!program_graph)
        program_graph = tw_graph();
    return tw_retain(program_graph);
}

struct tw_graph *tw__default_graph(void)
{
    tw__graph *root = tw__graph_root(tw__tracing);
    return root ? tw__graph_object(root) : depth ? tw_retain(stack[depth - 1].graph) : own_graph();
}

tw_status tw__default_push(struct tw_graph *graph)
{
    TW_TRY(TW_GROW(stack, capacity, depth + 1));
    TW_TRY(tw__scope_push(NULL));
    stack[depth++] = (entered){ tw_retain(graph), tw__tracing };
    tw__tracing = graph->graph;
    return TW_OK;
}

tw_status tw__default_pop(struct tw_graph *graph)
{
    if (!depth || stack[depth - 1].graph != graph)
        return tw__fail(TW_ASSERTION_ERROR, "Nesting violated for default stack of Graph objects");
    entered last = stack[--depth];
    tw__tracing = last.before;
    tw__scope_pop();
    if (!depth) {
        tw__free(stack);
        stack = NULL;
        capacity = 0;
    }
    tw_release(last.graph);
    return TW_OK;
}

TW_API(get_default_graph, "compat.v1.get_default_graph() -> graph", "The graph that operations go into.")
{
    return tw__default_graph();
}

TW_API(reset_default_graph, "compat.v1.reset_default_graph()", "The program's own graph becomes a new, empty one.")
{
    if (depth)
        return tw__fail(TW_ASSERTION_ERROR,
                        "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the "
                        "nesting and create a new graph.");
    struct tw_graph *fresh = tw_graph();
    TW_NEED(fresh);
    tw_auto struct tw_graph *old = program_graph;
    program_graph = fresh;
    if (atomic_load(&disabled))
        tw__tracing = fresh->graph;
    return TW_OK;
}

TW_API(disable_eager_execution, "compat.v1.disable_eager_execution()", "Operations become nodes of the default graph.")
{
    if (atomic_load(&disabled))
        return TW_OK;
    if (tw__tracing)
        return tw__fail(TW_VALUE_ERROR, "tf.disable_eager_execution must be called at program startup.");
    tw_auto struct tw_graph *graph = own_graph();
    TW_NEED(graph);
    atomic_store(&disabled, true);
    tw__tracing = graph->graph; /* which the program holds */
    return TW_OK;
}

TW_API(thread_begin, "compat.v1._thread_begin()",
       "A new thread's operations become nodes of its default graph, if eager execution is disabled.")
{
    if (!atomic_load(&disabled) || tw__tracing)
        return TW_OK;
    tw_auto struct tw_graph *graph = own_graph();
    TW_NEED(graph);
    tw__tracing = graph->graph; /* which the thread holds */
    return TW_OK;
}

TW_API(thread_end, "compat.v1._thread_end()", "Lets go of the thread's default graph.")
{
    while (depth)
        TW_TRY(tw__default_pop(stack[depth - 1].graph));
    tw_auto struct tw_graph *graph = program_graph;
    program_graph = NULL;
    tw__tracing = NULL;
    return TW_OK;
}

TW_API(enable_eager_execution_, "compat.v1._enable_eager_execution()", "Operations run at once.")
{
    if (!atomic_load(&disabled))
        return TW_OK;
    if (depth || (program_graph && program_graph->graph->node_count))
        return tw__fail(TW_VALUE_ERROR, "tf.enable_eager_execution must be called at program startup.");
    atomic_store(&disabled, false);
    tw__tracing = NULL;
    return TW_OK;
}

TW_API(executing_eagerly_outside_functions, "compat.v1.executing_eagerly_outside_functions() -> bool",
       "Whether operations run at once when no function is traced.")
{
    return !tw__graph_root(tw__tracing) && !atomic_load(&disabled);
}

TW_API(inside_function, "compat.v1._inside_function() -> bool", "Whether a function is being traced.")
{
    return tw__tracing && !tw__tracing->lasting;
}

/* ---- placeholders and initializers ---- */

static tw__graph *graph_for(const char *what)
{
    if (tw__tracing)
        return tw__tracing;
    tw__fail(TW_RUNTIME_ERROR, "%s is not compatible with eager execution.", what);
    return NULL;
}

TW_API(placeholder, "compat.v1.placeholder(dtype: dtype, shape: shape = None, name: str = None) -> tensor",
       "A value that a run is fed.\n"
       "shape: the shape of the tensors; None in it for lengths that may be any, None alone for any rank")
{
    tw__graph *graph = graph_for("tf.placeholder()");
    tw__naming naming = graph ? tw__naming_begin() : (tw__naming){ NULL, 0, NULL };
    tw_tensor *out = graph ? tw__graph_placeholder(graph, args->dtype, &args->shape, NULL) : NULL;
    if (out && tw__numerics_trace(out->node) != TW_OK) {
        tw_release(out);
        out = NULL;
    }
    return tw__naming_end(naming, NULL, args->name, out) == TW_OK ? out : NULL;
}

TW_API(placeholder_with_default, "compat.v1.placeholder_with_default(input: tensor, shape: shape, name: str = None) -> tensor",
       "A value that a run may be fed; else it is `input`.\n"
       "input: the value if nothing is fed\n"
       "shape: the shape of what may be fed, as far as it is fixed")
{
    tw_attr shape = TW_A_SHAPE("shape", &args->shape);
    return TW_CALL(PlaceholderWithDefault, args->input, shape);
}

TW_API(variables_initializer, "compat.v1.variables_initializer(var_list: list<variable>, name: str = 'init') -> operation",
       "An operation that gives the variables their first values.\n"
       "var_list: the variables")
{
    tw__graph *graph = graph_for("tf.variables_initializer()");
    tw__owned tw__node **nodes = graph ? tw__alloc_array((size_t)args->var_list.count + 1, sizeof *nodes) : NULL;
    int count = 0;
    for (int64_t i = 0; nodes && i < args->var_list.count; i++) {
        tw_variable *variable = args->var_list.items[i];
        if (variable->initializer && variable->graph == graph)
            nodes[count++] = variable->initializer;
    }
    return nodes ? tw__group(graph, nodes, count, args->name) : NULL;
}
