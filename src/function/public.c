/* Functions, branches and loops for C programs (<thalweg/function.h>): a function is a body with a cache of traces, by the dtypes
 * and shapes of calls (tracer.h); a concrete graph function (function.h) is behind every one of them. */
#include <thalweg/function.h>

#include "function/control.h"
#include "function/noted.h"
#include "function/tracer.h"

struct tw_function {
    tw_object object;
    char *name;
    tw_body body;
    void *user;
    tw__function *only; /* of a given signature */
    tw__tracer tracer;
    bool compiled; /* its graphs are to run on a plug-in's device */
};

static void function_destroy(void *self)
{
    tw_function *f = self;
    tw_release(f->only);
    tw__tracer_end(&f->tracer);
    tw__free(f->name);
}

static const tw_class function_class = { .name = "Function", .size = sizeof(tw_function), .destroy = function_destroy };

void (*_Atomic tw__function_noted)(tw__function *function);

/* ---- bodies ---- */

tw_tensors tw_give_(tw_tensors given)
{
    if (given.count < 0 || (given.count && !given.items)) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_give: there are no tensors");
        return TW_GIVE_FAILURE;
    }
    bool whole = true;
    for (int64_t i = 0; i < given.count; i++)
        whole = whole && given.items[i];
    tw_tensors list = { whole ? tw__alloc_array((size_t)given.count + 1, sizeof(tw_tensor *)) : NULL, given.count };
    for (int64_t i = 0; list.items && i < given.count; i++)
        list.items[i] = tw_retain(given.items[i]);
    return list.items ? list : TW_GIVE_FAILURE;
}

typedef struct body_call {
    tw_body body;
    void *user;
    const char *what;
} body_call;

static tw_status call_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const body_call *c = context;
    bool was_wrong = tw_error_code() != TW_OK;
    tw__auto(tw_tensors_free) tw_tensors given = tw__body_run(c->body, c->user, (tw_tensors){ (tw_tensor **)arguments, count });
    if (given.count < 0 || (given.count == 0 && !was_wrong && tw_error_code() != TW_OK))
        return tw_error_code() != TW_OK ? tw_error_code()
                                        : tw__fail(TW_INVALID_ARGUMENT, "%s: the body gave up without an error", c->what);
    if (given.count >= INT32_MAX)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: the body gave %lld tensors", c->what, (long long)given.count);
    for (int64_t i = 0; i < given.count; i++) {
        if (!given.items[i])
            return tw__fail(TW_INVALID_ARGUMENT, "%s: result %lld of the body is NULL", c->what, (long long)i);
    }
    if (!given.items)
        TW_NEED(given.items = tw__alloc_array(1, sizeof *given.items));
    *outputs = TW_TAKE(given.items);
    *output_count = (int)given.count;
    given.count = 0;
    return TW_OK;
}

/* ---- functions ---- */

static tw_status call_function_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs,
                                    int *output_count)
{
    TW_TRY(call_body(context, arguments, count, outputs, output_count));
    return tw__function_name_results(*outputs, *output_count);
}

typedef struct trace_call {
    tw_function *function;
    const tw_dtype *dtypes;
    const char *const *names;
    int count;
} trace_call;

static void *trace(void *context, const tw_shape *shapes, bool *once)
{
    const trace_call *c = context;
    tw_function *f = c->function;
    tw__function *made = tw__function_trace_named(f->name, c->names, c->dtypes, shapes, c->count, call_function_body,
                                                  &(body_call){ f->body, f->user, f->name });
    if (made)
        made->graph->compiled = f->compiled;
    for (int i = 0; made && i < made->input_count - made->argument_count; i++)
        *once |= made->captures[i]->node != NULL; /* it uses tensors of a graph around it */
    return made;
}

static bool is_dtype(tw_dtype dtype)
{
    return dtype > TW_DTYPE_NONE && dtype < TW_DTYPE_LIMIT;
}

static tw_status check_signature(const tw_specs *signature, const char *name)
{
    if (signature->count < 0 || signature->count >= INT32_MAX)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_function_new: %s: a signature of %lld tensors", name,
                        (long long)signature->count);
    for (int64_t i = 0; i < signature->count; i++) {
        const tw_spec *s = &signature->items[i];
        bool good = is_dtype(s->dtype) && s->shape.rank >= -1 && s->shape.rank <= TW_MAX_RANK;
        for (int d = 0; good && d < s->shape.rank; d++)
            good = s->shape.dims[d] >= -1;
        if (!good)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "tw_function_new: %s: element %lld of the signature has no dtype or a malformed shape", name,
                            (long long)i);
    }
    return TW_OK;
}

static void *retain_value(void *value)
{
    return tw_retain(value);
}

static void release_value(void *value)
{
    tw_release(value);
}

/* The graph function for such a call; a new reference. */
static tw__function *find(tw_function *f, const tw__call_key *key, const char *const *names, bool called)
{
    tw__function *found = tw__tracer_find(&f->tracer, key);
    if (found)
        return found;
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)key->spec_count + 1, sizeof *dtypes);
    if (!dtypes)
        return NULL;
    for (int i = 0; i < key->spec_count; i++)
        dtypes[i] = key->specs[i].dtype;
    tw__tracing_begin();
    found = tw__tracer_find(&f->tracer, key); /* another thread may have traced it meanwhile */
    if (!found)
        found = tw__tracer_trace(&f->tracer, key, called, trace, &(trace_call){ f, dtypes, names, key->spec_count });
    tw__tracing_end();
    return found;
}

static tw__function *find_specs(tw_function *f, const tw_spec *specs, int count, const char *const *names)
{
    tw__key_writer writer;
    tw__key_begin(&writer);
    for (int i = 0; i < count; i++) {
        tw__key_argument(&writer);
        tw__key_tensor(&writer, specs[i].dtype, &specs[i].shape);
    }
    tw__call_key key = tw__key_of(&writer);
    tw__function *found = writer.status == TW_OK ? find(f, &key, names, false) : NULL;
    tw__key_free(&writer);
    return found;
}

static tw__function *find_call(tw_function *f, tw_tensors arguments, bool called)
{
    tw__key_writer writer;
    tw__key_begin(&writer);
    for (int64_t i = 0; i < arguments.count; i++) {
        tw__key_argument(&writer);
        tw__key_tensor(&writer, arguments.items[i]->dtype, &arguments.items[i]->shape);
    }
    tw__call_key key = tw__key_of(&writer);
    tw__function *found = writer.status == TW_OK ? find(f, &key, NULL, called) : NULL;
    tw__key_free(&writer);
    return found;
}

tw__function *tw__function_concrete(void *object, const tw_spec *specs, int count)
{
    tw_function *f = object;
    if (!tw__is(object, &function_class)) {
        tw__fail(TW_INVALID_ARGUMENT, "a function is expected, got %s", object ? tw_class_name(object) : "NULL");
        return NULL;
    }
    return f->only ? tw_retain(f->only) : find_specs(f, specs, count, NULL);
}

tw_function *tw_function_new_(tw_body body, void *user, const tw_function_args *options)
{
    tw_function_args whole = { tw_function_defaults }, *args = &whole;
    if (tw__options_take(options, args, "tw_function_new") != TW_OK)
        return NULL;
    const char *name = args->name ? args->name : "function";
    if (!body) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_function_new: %s: body is NULL", name);
        return NULL;
    }
    if (args->signature.items && check_signature(&args->signature, name) != TW_OK)
        return NULL;
    tw_function *f = tw__object_new(&function_class);
    if (!f)
        return NULL;
    f->name = tw__strdup(name);
    f->body = body;
    f->user = user;
    int named = args->signature.items && args->argument_names ? (int)args->signature.count : 0;
    const void *code = NULL;
    memcpy(&code, &body, sizeof code);
    tw_status status =
        tw__tracer_start(&f->tracer, name, named ? args->argument_names : NULL, named, code, retain_value, release_value);
    f->tracer.widens = args->reduce_retracing;
    f->compiled = args->jit_compile;
    if (status == TW_OK && f->name && args->signature.items) {
        f->only = find_specs(f, args->signature.items, (int)args->signature.count, args->argument_names);
        status = f->only ? TW_OK : tw__error_status();
    }
    if (status != TW_OK || !f->name) {
        tw_release(f);
        return NULL;
    }
    return f;
}

static tw_status check_call(const tw_function *f, tw_tensors arguments)
{
    if (!tw__check(f, &function_class, "tw_function_call"))
        return tw__error_status();
    if (f->only && arguments.count != f->only->argument_count)
        return tw__fail(TW_INVALID_ARGUMENT, "%s takes %d arguments, got %lld", f->name, f->only->argument_count,
                        (long long)arguments.count);
    return tw__check_tensors(arguments, f->name) ? TW_OK : tw__error_status();
}

/* The graph for a call with these arguments, a new reference; who notes graphs is told. */
static tw__function *graph_of_call(tw_function *f, tw_tensors arguments)
{
    tw__function *graph = f->only ? tw_retain(f->only) : find_call(f, arguments, true);
    void (*told)(tw__function *) = tw__function_noted;
    if (graph && told)
        told(graph);
    return graph;
}

tw_status tw_function_call(tw_function *f, tw_tensors arguments, tw_tensor **outputs, int *output_count)
{
    TW_TRY(check_call(f, arguments));
    if (!output_count || (!outputs && *output_count))
        return tw__fail(TW_INVALID_ARGUMENT, "%s: there is no place for the outputs", f->name);
    tw_auto tw__function *graph = graph_of_call(f, arguments);
    TW_NEED(graph);
    if (graph->output_count > *output_count)
        return tw__fail(TW_INVALID_ARGUMENT, "%s gives %d tensors; there is room for %d", f->name, graph->output_count,
                        *output_count);
    TW_TRY(tw__function_call(graph, arguments.items, outputs));
    *output_count = graph->output_count;
    return TW_OK;
}

tw_tensors tw_function_call_all(tw_function *f, tw_tensors arguments)
{
    tw_tensors results = { NULL, 0 };
    tw_auto tw__function *graph = check_call(f, arguments) == TW_OK ? graph_of_call(f, arguments) : NULL;
    if (!graph || !(results.items = tw__alloc_array((size_t)graph->output_count + 1, sizeof *results.items)))
        return results;
    if (tw__function_call(graph, arguments.items, results.items) == TW_OK)
        results.count = graph->output_count;
    if (!results.count) {
        tw__free(results.items);
        results.items = NULL;
    }
    return results;
}

char *tw_function_plan(tw_function *f, tw_tensors arguments)
{
    if (check_call(f, arguments) != TW_OK)
        return NULL;
    tw_auto tw__function *graph = f->only ? tw_retain(f->only) : find_call(f, arguments, false);
    if (!graph)
        return NULL;
    return tw__function_plan_text(graph, arguments.items);
}

tw_tensor *tw_function_value(tw_function *f, tw_tensors arguments)
{
    tw_tensor *output = NULL;
    int count = 1;
    if (tw_function_call(f, arguments, &output, &count) != TW_OK)
        return NULL;
    if (!count)
        tw__fail(TW_INVALID_ARGUMENT, "%s gives no tensor", f->name);
    return output;
}

int64_t tw_function_traces(const tw_function *f)
{
    return tw__check(f, &function_class, "tw_function_traces") ? tw__tracer_count(&f->tracer) : 0;
}

/* ---- branches and loops ---- */

tw_tensors tw_cond(tw_tensor *predicate, tw_body if_true, tw_body if_false, void *user)
{
    tw_tensors out = { 0 };
    int count = 0;
    if (!if_true || !if_false) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_cond: %s is NULL", if_true ? "if_false" : "if_true");
        return out;
    }
    if (!tw__check(predicate, &tw__tensor_class, "tw_cond"))
        return out;
    body_call then_call = { if_true, user, "tw_cond" }, else_call = { if_false, user, "tw_cond" };
    if (tw__cond(predicate, call_body, &then_call, call_body, &else_call, &out.items, &count) != TW_OK)
        return out;
    out.count = count;
    if (tw__control_results(out.items, count) != TW_OK)
        tw_tensors_free(&out);
    return out;
}

tw_tensors tw_while_(tw_body cond, tw_body body, void *user, tw_tensors values, const tw_while_args *options)
{
    tw_tensors out = { 0 };
    tw_while_args whole = { tw_while_defaults }, *args = &whole;
    if (tw__options_take(options, args, "tw_while") != TW_OK)
        return out;
    if (!cond || !body || values.count < 1) {
        tw__fail(TW_INVALID_ARGUMENT, !cond || !body ? "tw_while: %s is NULL" : "tw_while: there are no values",
                 cond ? "body" : "cond");
        return out;
    }
    if (!tw__check_tensors(values, "tw_while") ||
        (args->maximum_iterations && !tw__check(args->maximum_iterations, &tw__tensor_class, "tw_while: maximum_iterations")))
        return out;
    tw_tensor **results = tw__alloc_array((size_t)values.count, sizeof *results);
    if (!results)
        return out;
    body_call cond_call = { cond, user, "the condition of tw_while" }, body_of = { body, user, "the body of tw_while" };
    tw__loop loop = { .cond = call_body,
                      .body = call_body,
                      .cond_context = &cond_call,
                      .body_context = &body_of,
                      .values = values.items,
                      .shapes = args->shape_invariants,
                      .count = (int)values.count,
                      .maximum = args->maximum_iterations,
                      .name = args->name };
    tw_status status = tw__while(&loop, results);
    out = (tw_tensors){ results, status == TW_OK ? values.count : 0 };
    if (status != TW_OK)
        tw_tensors_free(&out);
    return out;
}

tw_tensors tw_switch_case(tw_tensor *index, const tw_body *bodies, int count, void *user)
{
    tw_tensors out = { 0 };
    if (!bodies || count < 1) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_switch_case: there are no bodies");
        return out;
    }
    if (!tw__check(index, &tw__tensor_class, "tw_switch_case"))
        return out;
    tw__owned tw__branch *branches = tw__alloc_array((size_t)count, sizeof *branches);
    tw__owned body_call *calls = tw__alloc_array((size_t)count, sizeof *calls);
    if (!(branches && calls))
        return out;
    for (int i = 0; i < count; i++) {
        if (!bodies[i]) {
            tw__fail(TW_INVALID_ARGUMENT, "tw_switch_case: body %d is NULL", i);
            return out;
        }
        calls[i] = (body_call){ bodies[i], user, "tw_switch_case" };
        branches[i] = (tw__branch){ call_body, &calls[i] };
    }
    int results = 0;
    if (tw__switch(index, branches, count, &out.items, &results) == TW_OK)
        out.count = results;
    return out;
}

/* ---- loops over rows ---- */

/* Whether a loop over rows can begin: the body and the arguments are there, and the tensors are such. */
static bool is_ready(tw_body body, tw_tensors elems, const char *what)
{
    if (!body || elems.count < 1) {
        tw__fail(TW_INVALID_ARGUMENT, !body ? "%s: body is NULL" : "%s: there are no tensors", what);
        return false;
    }
    return tw__check_tensors(elems, what);
}

tw_tensors tw_map_(tw_body body, void *user, tw_tensors elems, const tw_map_args *options)
{
    tw_tensors out = { 0 };
    int count = 0;
    tw_map_args whole = { tw_map_defaults }, *args = &whole;
    if (tw__options_take(options, args, "tw_map") != TW_OK || !is_ready(body, elems, "tw_map") ||
        (args->results.items && check_signature(&args->results, "tw_map") != TW_OK))
        return out;
    body_call call = { body, user, "the body of tw_map" };
    tw__mapping mapping = { .body = call_body,
                            .context = &call,
                            .elems = elems.items,
                            .elem_count = (int)elems.count,
                            .specs = args->results.items,
                            .spec_count = (int)args->results.count,
                            .infers = !args->varied_shapes,
                            .spreads = args->broadcast,
                            .stops = args->stop_gradient,
                            .name = args->name };
    if (tw__map_rows(&mapping, &out.items, &count) == TW_OK)
        out.count = count;
    return out;
}

tw_tensors tw_fold_(int kind, tw_body body, void *user, tw_tensors elems, const tw_fold_args *options)
{
    enum { RIGHT = 1, SCAN = 2 };
    tw_tensors out = { 0 };
    int count = 0;
    tw_fold_args whole = { tw_fold_defaults }, *args = &whole;
    if (tw__options_take(options, args, "tw_fold") != TW_OK || !is_ready(body, elems, "tw_fold") ||
        (args->initial.items && !is_ready(body, args->initial, "tw_fold: initial")))
        return out;
    body_call call = { body, user, "the body of tw_fold" };
    tw__folding folding = { .body = call_body,
                            .context = &call,
                            .elems = elems.items,
                            .elem_count = (int)elems.count,
                            .initial = args->initial.items,
                            .initial_count = (int)args->initial.count,
                            .reverse = kind == RIGHT || (kind == SCAN && args->reverse),
                            .scans = kind == SCAN,
                            .infers = !args->varied_shapes,
                            .stops = args->stop_gradient,
                            .name = args->name };
    if (tw__fold_rows(&folding, &out.items, &count) == TW_OK)
        out.count = count;
    return out;
}

tw_tensors tw_case_(tw_tensors predicates, const tw_body *bodies, void *user, const tw_case_args *options)
{
    tw_tensors out = { 0 };
    int results = 0, count = (int)predicates.count;
    tw_case_args whole = { tw_case_defaults }, *args = &whole;
    if (tw__options_take(options, args, "tw_case") != TW_OK || !tw__check_given(bodies, "the list of bodies", "tw_case") ||
        !is_ready(bodies[0], predicates, "tw_case"))
        return out;
    tw__owned tw__branch *branches = tw__alloc_array((size_t)count + 1, sizeof *branches);
    tw__owned body_call *calls = tw__alloc_array((size_t)count + 1, sizeof *calls);
    if (!(branches && calls))
        return out;
    for (int i = 0; i <= count; i++) {
        calls[i] = (body_call){ i < count ? bodies[i] : args->otherwise, user, "tw_case" };
        branches[i] = (tw__branch){ call_body, &calls[i] };
        if (i < count && !bodies[i]) {
            tw__fail(TW_INVALID_ARGUMENT, "tw_case: body %d is NULL", i);
            return out;
        }
    }
    tw__choice choice = { .predicates = predicates.items,
                          .branches = branches,
                          .count = count,
                          .otherwise = args->otherwise != NULL,
                          .exclusive = args->exclusive,
                          .name = args->name };
    if (tw__case(&choice, &out.items, &results) == TW_OK)
        out.count = results;
    return out;
}
