/* Traces (tf.summary.trace_on, <thalweg/trace.h>): the functions that are traced, or called by C programs, while tracing is on,
 * written as one RunMetadata for TensorBoard's page of graphs; and a profile of what runs. */
#include <thalweg/trace.h>

#include "codec/message.h"
#include "function/library.h"
#include "function/noted.h"
#include "rows.h"
#include "summary/summary.h"

static tw__lock lock = TW__LOCK;
static bool on, graphs, profiles;
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
static bool take(tw__function ***functions, size_t *count, bool *profile, bool *graph)
{
    tw__lock_take(&lock);
    bool was = on;
    tw__function_noted = NULL;
    *functions = noted;
    *count = noted_count;
    *profile = profiles;
    *graph = graphs;
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

/* *was: it was on already, and stays as it is. */
static tw_status begin(bool graph, bool profile, bool *was)
{
    tw__lock_take(&lock);
    *was = on;
    on = true;
    if (!*was) {
        profiles = profile;
        graphs = graph;
        tw__function_noted = graph ? note : NULL;
    }
    tw__lock_give(&lock);
    return profile && !*was ? tw_summary_profile_begin() : TW_OK;
}

static tw_status begin_once(bool profile)
{
    bool was;
    tw_status status = begin(true, profile, &was);
    return was ? tw__fail(TW_FAILED_PRECONDITION, "tw_trace_on: Trace already enabled") : status;
}

tw_status tw_trace_on(void)
{
    return begin_once(false);
}

tw_status tw_trace_on_profiler(void)
{
    return begin_once(true);
}

void tw_trace_off(void)
{
    tw__function **functions;
    size_t count;
    bool profile, graph;
    take(&functions, &count, &profile, &graph);
    drop(functions, count);
    if (profile)
        tw_summary_profile_end();
}

TW_API(summary_trace_on, "summary.trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str = None)",
       "From now on the graphs of functions, and the steps that run, are noted for trace_export.\n"
       "graph: True: note the graphs of functions\n"
       "profiler: True: note the steps that run, with their times\n"
       "profiler_outdir: must be None; `trace_export` is given the folder")
{
    bool was = false;
    if (args->profiler_outdir)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "trace_on: profiler_outdir is given to trace_export");
    if (tw__tracing)
        tw__log("WARNING", "Must enable trace in eager mode.");
    else
        TW_TRY(begin(args->graph, args->profiler, &was));
    if (was)
        tw__log("WARNING", "Trace already enabled");
    return TW_OK;
}

TW_API(summary_trace_off, "summary.trace_off()", "Ends the noting; nothing is written.")
{
    (void)args;
    tw_trace_off();
    return TW_OK;
}

static tw_status write_graphs(tw__function *const *functions, size_t count, tw__text *all)
{
    for (size_t i = 0; i < count; i++) {
        tw__text graph = { 0 };
        tw_status status = tw__graphdef_write(&graph, functions[i]->graph, TW_GRAPH_TRACED | TW_GRAPH_SHAPES, NULL, 0);
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

/* Writes what was noted; a `step` of NULL is the default one. */
static tw_status export(const char *name, tw_tensor *step, const char *directory, const char *how)
{
    tw__function **functions;
    size_t count;
    bool profile, graph;
    if (!take(&functions, &count, &profile, &graph))
        return tw__fail(TW_VALUE_ERROR, "Must enable trace before export through %s.", how);
    tw__text all = { 0 };
    tw_status status = graph ? write_graphs(functions, count, &all) : TW_OK;
    drop(functions, count);
    tw_auto tw_tensor *bytes = status == TW_OK ? tw_tensor_string(all.data ? all.data : "", all.size) : NULL;
    tw__text_free(&all);
    tw__summary_job job = { .name = name,
                            .data = bytes,
                            .step = step,
                            .plugin = profile ? "graph_run_metadata" : "graph_run_metadata_graph",
                            .content = { "1", 1 },
                            .whole_tag = true };
    tw_auto tw_tensor *written = bytes && graph ? tw__summary_record(&job) : NULL;
    tw_status ended = profile ? tw_summary_profile_end(.outdir = directory) : TW_OK;
    return graph && !written ? tw__error_status() : ended;
}

TW_API(summary_trace_export, "summary.trace_export(name: str, step: tensor<int64> = None, profiler_outdir: str = None)",
       "Writes what was noted since trace_on: the graphs as a summary, the profile into a directory.\n"
       "name: the name of the summary\n"
       "profiler_outdir: the folder of the profile; needed where `trace_on` was told to note one")
{
    if (on && profiles && !args->profiler_outdir)
        return tw__fail(TW_VALUE_ERROR, "Argument `profiler_outdir` is not specified.");
    return export(args->name, args->step, args->profiler_outdir, "tf.summary.trace_on");
}

tw_status tw_trace_export_profile(const char *name, int64_t step, const char *directory)
{
    if (!tw__check_given(name, "the name", "tw_trace_export"))
        return tw__error_status();
    tw_auto tw_tensor *at = tw_tensor_int64(step);
    return at ? export(name, at, directory, "tw_trace_on") : tw__error_status();
}

tw_status tw_trace_export(const char *name, int64_t step)
{
    if (profiles)
        return tw__fail(TW_VALUE_ERROR, "tw_trace_export: a profile is written by tw_trace_export_profile, into a directory");
    return tw_trace_export_profile(name, step, NULL);
}
