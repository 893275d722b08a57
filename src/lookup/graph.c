/* Tables in the graphs of sessions: what fills them is an operation that programs run. */
#include "eager/eager.h"
#include "lookup/lookup.h"
#include "rows.h"
#include "session/session.h"

/* Whether the node fills a table that is filled once. */
static bool fills(const tw__node *node, const tw__node *table)
{
    bool filling = node->op == &tw__op_LookupTableImportV2 || node->op == &tw__op_InitializeTableV2 ||
                   node->op == &tw__op_InitializeTableFromTextFileV2;
    return filling && node->inputs[0].node->op == &tw__op_HashTableV2 && (!table || node->inputs[0].node == table);
}

static struct tw_operation *fill_all(tw__graph *graph, const tw__node *table, const char *name)
{
    tw__owned tw__node **nodes = tw__alloc_array(graph->node_count + 1, sizeof *nodes);
    int count = 0;
    for (size_t i = 0; nodes && i < graph->node_count; i++) {
        if (fills(graph->nodes[i], table))
            nodes[count++] = graph->nodes[i];
    }
    return !nodes ? NULL : table && count == 1 ? tw__operation_of(nodes[0]) : tw__group(graph, nodes, count, name);
}

TW_API(tables_initializer,
       "compat.v1.tables_initializer|compat.v1.initialize_all_tables(name: str = init_all_tables) -> operation",
       "An operation that fills all tables of the default graph.")
{
    tw__graph *graph = tw__graph_root(tw__tracing);
    if (graph)
        return fill_all(graph, NULL, args->name);
    return NULL; /* tables outside of graphs are filled when they are made */
}

TW_PROPERTY(lookup_table_initializer, "lookup._Table.initializer(self: lookup_table) -> operation",
            "In the graph of a session: the operation that fills the table; else None.")
{
    const tw_tensor *handle = args->self->handle;
    return handle && handle->node && args->self->fixed ? fill_all(handle->node->graph, handle->node, "init") : NULL;
}
