/* Traces for C programs (<thalweg/trace.h>): the functions that are called while tracing is on, written as one RunMetadata
 * for TensorBoard's page of graphs. */
#include <thalweg/trace.h>

#include "codec/message.h"
#include "function/library.h"
#include "function/noted.h"
#include "rows.h"
#include "summary/summary.h"

static tw__lock lock = TW__LOCK;
static bool on, profiles;
static tw__function **noted; /* references */
static size_t noted_count, noted_capacity;

static void note(tw__function *function)
{
    tw__lock_take(&lock);
    bool known = !on;
    for (size_t i = 0; i < noted_count; i++)
        known |= noted[i] == function;
    tw__saved_error before = tw__error_take(); /* without memory the trace is shorter */
    if (!known && TW_GROW(noted, noted_capacity, noted_count + 1) == TW_OK)
        noted[noted_count++] = tw_retain(function);
    tw_clear_error();
    tw__error_restore(before);
    tw__lock_give(&lock);
}

/* What was noted becomes the caller's, and nothing is noted any more; false: nothing was. */
static bool take(tw__function ***functions, size_t *count, bool *profile)
{
    tw__lock_take(&lock);
    bool was = on;
    tw__function_noted = NULL;
    *functions = noted;
    *count = noted_count;
    *profile = profiles;
    noted = NULL;
    noted_count = noted_capacity = 0;
    on = profiles = false;
    tw__lock_give(&lock);
    return was;
}

static void drop(tw__function **functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tw_release(functions[i]);
    tw__free(functions);
}

static tw_status begin(bool profile)
{
    tw__lock_take(&lock);
    bool was = on;
    on = true;
    if (!was)
        profiles = profile;
    tw__lock_give(&lock);
    if (was)
        return tw__fail(TW_FAILED_PRECONDITION, "tw_trace_on: Trace already enabled");
    tw__function_noted = note;
    return profile ? tw_summary_profile_begin() : TW_OK;
}

tw_status tw_trace_on(void)
{
    return begin(false);
}

tw_status tw_trace_on_profiler(void)
{
    return begin(true);
}

void tw_trace_off(void)
{
    tw__function **functions;
    size_t count;
    bool profile;
    take(&functions, &count, &profile);
    drop(functions, count);
    if (profile)
        tw_summary_profile_end();
}

static tw_status write_graphs(tw__function *const *functions, size_t count, tw__text *all)
{
    for (size_t i = 0; i < count; i++) {
        tw__text graph = { 0 };
        tw_status status = tw__graphdef_write(&graph, functions[i]->graph, true, NULL, 0);
        if (status == TW_OK) {
            tw__put_RunMetadata_partition_graphs(all, graph.data, graph.size);
            size_t both = tw__open_RunMetadata_function_graphs(all);
            tw__put_RunMetadata_FunctionGraphs_pre_optimization_graph(all, graph.data, graph.size);
            tw__close(all, both);
        }
        tw__text_free(&graph);
        TW_TRY(status);
    }
    return all->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw_trace_export_profile(const char *name, int64_t step, const char *directory)
{
    tw__function **functions;
    size_t count;
    bool profile;
    if (!tw__check_given(name, "the name", "tw_trace_export"))
        return tw__error_status();
    if (!take(&functions, &count, &profile))
        return tw__fail(TW_VALUE_ERROR, "Must enable trace before export through tw_trace_on.");
    tw__text all = { 0 };
    tw_status status = write_graphs(functions, count, &all);
    drop(functions, count);
    tw_auto tw_tensor *bytes = status == TW_OK ? tw_tensor_string(all.data ? all.data : "", all.size) : NULL,
                      *at = bytes ? tw_tensor_int64(step) : NULL;
    tw__text_free(&all);
    tw__summary_job job = { .name = name,
                            .data = bytes,
                            .step = at,
                            .plugin = profile ? "graph_run_metadata" : "graph_run_metadata_graph",
                            .content = { "1", 1 },
                            .whole_tag = true };
    tw_auto tw_tensor *written = at ? tw__summary_record(&job) : NULL;
    tw_status ended = profile ? tw_summary_profile_end(.outdir = directory) : TW_OK;
    return !written ? tw__error_status() : ended;
}

tw_status tw_trace_export(const char *name, int64_t step)
{
    if (profiles)
        return tw__fail(TW_VALUE_ERROR, "tw_trace_export: a profile is written by tw_trace_export_profile, into a directory");
    return tw_trace_export_profile(name, step, NULL);
}
