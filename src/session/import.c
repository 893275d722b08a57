/* GraphDefs into graphs that programs build: nodes under a prefix, some of their inputs replaced by tensors of the graph. */
#include "function/library.h"
#include "op/guard.h"
#include "rows.h"
#include "session/session.h"

static tw_status put_given(tw__map *given, const char *name, size_t size, tw__edge *edge)
{
    return tw__map_put(given, name, size, edge);
}

/* "i:0" is written "i" in GraphDefs. */
static tw_status read_map(const tw_graph_import_args *args, tw__map *given, tw__edge *edges)
{
    const tw_value *names = &args->names;
    bool list = names->kind == TW_VALUE_LIST || names->kind == TW_VALUE_TUPLE;
    int64_t count = list ? (int64_t)names->list.count : 0;
    if (count != args->inputs.count)
        return tw__fail(TW_INVALID_ARGUMENT, "import_graph_def: %lld names with %lld tensors", (long long)count,
                        (long long)args->inputs.count);
    for (int64_t i = 0; i < count; i++) {
        const tw_value *name = &names->list.items[i];
        tw_tensor *inside = name->kind == TW_VALUE_STR ? tw__graph_import(args->self->graph, args->inputs.items[i]) : NULL;
        if (!inside)
            return name->kind == TW_VALUE_STR ? tw__error_status()
                                              : tw__fail(TW_TYPE_ERROR, "import_graph_def: keys of input_map are strings");
        edges[i] = (tw__edge){ inside->node, inside->node_output };
        tw_release(inside);
        size_t size = name->s.size;
        TW_TRY(put_given(given, name->s.data, size, &edges[i]));
        if (size > 2 && memcmp(name->s.data + size - 2, ":0", 2) == 0)
            TW_TRY(put_given(given, name->s.data, size - 2, &edges[i]));
        else if (!memchr(name->s.data, ':', size)) {
            tw__owned char *whole = tw__format("%.*s:0", (int)size, name->s.data);
            tw_status status = whole ? put_given(given, whole, strlen(whole), &edges[i]) : TW_RESOURCE_EXHAUSTED;
            TW_TRY(status);
        }
    }
    return TW_OK;
}

TW_METHOD(
    graph_import,
    "Graph._import(self: graph, graph_def: value, prefix: str = None, names: value = None, inputs: tensors = None, model: str = None)",
    "Adds the nodes of a serialized GraphDef, their names behind the prefix (with its slash). What refers to one of `names` uses the tensor "
    "of `inputs` instead. `model`: the directory of a SavedModel that is not trusted, whose graph it is.")
{
    if (args->graph_def.kind != TW_VALUE_BYTES)
        return tw__fail(TW_TYPE_ERROR, "import_graph_def: the argument `graph_def` must be the bytes of a GraphDef");
    const char *before = tw__guard_loading;
    tw__guard_loading = args->model;
    tw_auto tw__library *library = tw__library_read(args->graph_def.s.data, args->graph_def.s.size);
    tw__guard_loading = before;
    tw__owned tw__edge *edges = library ? tw__alloc_array((size_t)args->inputs.count + 1, sizeof *edges) : NULL;
    tw__auto(tw__map_end) tw__map given = { 0 };
    tw_status status = edges ? read_map(args, &given, edges) : tw__error_status();
    if (status == TW_OK) {
        tw__auto(tw__build_end) tw__build build = { 0 };
        status =
            tw__library_add_to(library, args->self->graph, args->prefix && *args->prefix ? args->prefix : NULL, &given, &build);
    }
    return status;
}
