/* Functions, branches and loops for C programs (<thalweg/function.h>): a function is a body with a cache of traces, by the dtypes and shapes
 * of calls; a concrete graph function (function.h) is behind every one of them.
 *
 * Traces are made one at a time, in the whole process: bodies may call each other. */
#include <sched.h>

#include <thalweg/function.h>

#include "function/cache.h"
#include "function/control.h"

enum { TRACE_LIMIT = 1024, FEW = 32 };

struct tw_function {
    tw_object object;
    char *name;
    tw_body body;
    void *user;
    tw__function *only;   /* of a given signature */
    tw__call_cache *cache;
    tw__retraces retraces;
    bool widens;
    _Atomic int64_t traces;
    _Atomic int lock;     /* of the cache */
};

/* One trace at a time; a body may begin another one. A forked child does not wait for its parent's threads. */
static tw__lock owner_lock = TW__LOCK;
static pthread_t owner;
static int owner_depth;
static uint32_t owner_generation;

static void begin_tracing(void)
{
    for (bool mine = false; !mine;) {
        tw__lock_take(&owner_lock);
        uint32_t now = atomic_load(&tw__process_generation);
        if (owner_generation != now)
            owner_depth = 0;
        mine = owner_depth == 0 || pthread_equal(owner, pthread_self());
        if (mine) {
            owner = pthread_self();
            owner_depth++;
            owner_generation = now;
        }
        tw__lock_give(&owner_lock);
        if (!mine)
            sched_yield();
    }
}

static void end_tracing(void)
{
    tw__lock_take(&owner_lock);
    owner_depth--;
    tw__lock_give(&owner_lock);
}

static void function_destroy(void *self)
{
    tw_function *f = self;
    tw_release(f->only);
    tw__call_cache_free(f->cache);
    tw__free(f->name);
}

static const tw_class function_class = { .name = "Function", .size = sizeof(tw_function), .destroy = function_destroy };

/* ---- bodies ---- */

tw_tensors tw_give_(tw_tensors taken)
{
    tw_tensors given = { tw__alloc_array((size_t)taken.count + 1, sizeof(tw_tensor *)), taken.count };
    bool whole = given.items != NULL;
    for (int64_t i = 0; i < taken.count; i++)
        whole = whole && taken.items[i];
    for (int64_t i = 0; i < taken.count; i++) {
        if (whole)
            given.items[i] = taken.items[i];
        else
            tw_release(taken.items[i]);
    }
    if (whole)
        return given;
    tw__free(given.items);
    return TW_GIVE_FAILURE;
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
    tw_tensors given = c->body(c->user, (tw_tensors){ (tw_tensor **)arguments, count });
    if (given.count < 0 || (given.count == 0 && !was_wrong && tw_error_code() != TW_OK)) {
        tw_tensors_free(&given);
        return tw_error_code() != TW_OK ? tw_error_code() : tw__fail(TW_INVALID_ARGUMENT, "%s: the body gave up without an error", c->what);
    }
    tw_status status = given.count < INT32_MAX ? TW_OK : tw__fail(TW_INVALID_ARGUMENT, "%s: the body gave %lld tensors", c->what, (long long)given.count);
    for (int64_t i = 0; status == TW_OK && i < given.count; i++) {
        if (!given.items[i])
            status = tw__fail(TW_INVALID_ARGUMENT, "%s: result %lld of the body is NULL", c->what, (long long)i);
    }
    if (status == TW_OK && !given.items && !(given.items = tw__alloc_array(1, sizeof *given.items)))
        status = TW_RESOURCE_EXHAUSTED;
    if (status != TW_OK) {
        tw_tensors_free(&given);
        return status;
    }
    *outputs = given.items;
    *output_count = (int)given.count;
    return TW_OK;
}

/* ---- functions ---- */

static tw__function *trace(tw_function *f, const char *const *names, const tw_spec *specs, int count)
{
    tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    tw__function *made = NULL;
    for (int i = 0; dtypes && shapes && i < count; i++) {
        dtypes[i] = specs[i].dtype;
        shapes[i] = specs[i].shape;
    }
    if (dtypes && shapes)
        made = tw__function_trace_named(f->name, names, dtypes, shapes, count, call_body, &(body_call){ f->body, f->user, f->name });
    f->traces += made != NULL;
    tw__free(dtypes);
    tw__free(shapes);
    return made;
}

static bool is_dtype(tw_dtype dtype)
{
    return dtype > TW_DTYPE_NONE && dtype < TW_DTYPE_LIMIT;
}

static tw_status check_signature(const tw_specs *signature, const char *name)
{
    if (signature->count < 0 || signature->count >= INT32_MAX)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_function_new: %s: a signature of %lld tensors", name, (long long)signature->count);
    for (int64_t i = 0; i < signature->count; i++) {
        const tw_spec *s = &signature->items[i];
        bool good = is_dtype(s->dtype) && s->shape.rank >= -1 && s->shape.rank <= TW_MAX_RANK;
        for (int d = 0; good && d < s->shape.rank; d++)
            good = s->shape.dims[d] >= -1;
        if (!good)
            return tw__fail(TW_INVALID_ARGUMENT, "tw_function_new: %s: element %lld of the signature has no dtype or a malformed shape", name, (long long)i);
    }
    return TW_OK;
}

static void release_value(void *value)
{
    tw_release(value);
}

tw_function *tw_function_new_(tw_body body, void *user, const tw_function_args *args)
{
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
    f->widens = args->reduce_retracing;
    f->cache = tw__call_cache_new(TRACE_LIMIT, release_value);
    if (f->name && f->cache && args->signature.items) {
        begin_tracing();
        f->only = trace(f, args->argument_names, args->signature.items, (int)args->signature.count);
        end_tracing();
    }
    if (!f->name || !f->cache || (args->signature.items && !f->only)) {
        tw_release(f);
        return NULL;
    }
    return f;
}

static void lock(tw_function *f)
{
    while (atomic_exchange(&f->lock, 1))
        sched_yield();
}

static void unlock(tw_function *f)
{
    atomic_store(&f->lock, 0);
}

static tw__function *find_known(tw_function *f, const tw__call_key *key)
{
    lock(f);
    tw__function *found = tw_retain(tw__call_cache_find(f->cache, key));
    if (found)
        tw__retraces_called(&f->retraces, 1);
    unlock(f);
    return found;
}

static tw_status make_trace(tw_function *f, tw__call_key *key, tw_spec *specs, tw__function **found)
{
    lock(f);
    if (f->widens)
        tw__call_cache_widen(f->cache, key, specs);
    unlock(f);
    tw__function *made = trace(f, NULL, specs, key->spec_count);
    if (!made)
        return tw__error_status();
    bool inner = false; /* it uses tensors of a graph around it: good for this one call */
    for (int i = 0; i < made->input_count - made->argument_count; i++)
        inner |= made->captures[i]->node != NULL;
    int traces = 0;
    int64_t calls = 0;
    lock(f);
    bool many = tw__retraces_traced(&f->retraces, &traces, &calls);
    tw_status status = inner ? TW_OK : tw__call_cache_put(f->cache, key, tw_retain(made));
    unlock(f);
    if (many)
        tw__log("WARNING", "%d out of the last %lld calls to %s traced it anew: calls with tensors of other dtypes or shapes do so", traces,
                (long long)calls, f->name);
    *found = made;
    if (status != TW_OK) {
        tw_release(made);
        *found = NULL;
    }
    return status;
}

/* The graph function for such a call; a new reference. */
static tw_status find(tw_function *f, tw_tensors arguments, tw__function **found)
{
    tw_spec few[FEW], *specs = arguments.count <= FEW ? few : tw__alloc_array((size_t)arguments.count, sizeof *specs);
    if (!specs)
        return TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < arguments.count; i++) {
        specs[i].dtype = arguments.items[i]->dtype;
        specs[i].shape = arguments.items[i]->shape;
    }
    tw__call_key key = { .specs = specs, .spec_count = (int)arguments.count };
    *found = find_known(f, &key);
    tw_status status = TW_OK;
    if (!*found) {
        begin_tracing();
        *found = find_known(f, &key); /* another thread may have traced it meanwhile */
        if (!*found)
            status = make_trace(f, &key, specs, found);
        end_tracing();
    }
    if (specs != few)
        tw__free(specs);
    return status;
}

static tw_status check_call(const tw_function *f, tw_tensors arguments)
{
    if (!f)
        return tw__error_status();
    if (arguments.count < 0 || arguments.count > INT32_MAX / 2 || (f->only && arguments.count != f->only->argument_count))
        return tw__fail(TW_INVALID_ARGUMENT, "%s takes %d arguments, got %lld", f->name, f->only ? f->only->argument_count : 0,
                        (long long)arguments.count);
    for (int64_t i = 0; i < arguments.count; i++) {
        if (!arguments.items[i])
            return tw_error_code() != TW_OK ? tw_error_code() : tw__fail(TW_INVALID_ARGUMENT, "%s: argument %lld is NULL", f->name, (long long)i);
    }
    return TW_OK;
}

tw_status tw_function_call(tw_function *f, tw_tensors arguments, tw_tensor **outputs, int *output_count)
{
    TW_TRY(check_call(f, arguments));
    tw__function *graph = NULL;
    if (f->only)
        graph = tw_retain(f->only);
    else
        TW_TRY(find(f, arguments, &graph));
    tw_status status = TW_OK;
    if (graph->output_count > *output_count)
        status = tw__fail(TW_INVALID_ARGUMENT, "%s gives %d tensors; there is room for %d", f->name, graph->output_count, *output_count);
    else
        status = tw__function_call(graph, arguments.items, outputs);
    if (status == TW_OK)
        *output_count = graph->output_count;
    tw_release(graph);
    return status;
}

char *tw_function_plan(tw_function *f, tw_tensors arguments)
{
    if (check_call(f, arguments) != TW_OK)
        return NULL;
    tw__function *graph = f->only ? tw_retain(f->only) : NULL;
    if (!graph && find(f, arguments, &graph) != TW_OK)
        return NULL;
    char *text = tw__function_plan_text(graph, arguments.items);
    tw_release(graph);
    return text;
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
    return f ? f->traces : 0;
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
    body_call then_call = { if_true, user, "tw_cond" }, else_call = { if_false, user, "tw_cond" };
    if (tw__cond(predicate, call_body, &then_call, call_body, &else_call, &out.items, &count) == TW_OK)
        out.count = count;
    return out;
}

tw_tensors tw_while_(tw_body cond, tw_body body, void *user, tw_tensors values, const tw_while_args *args)
{
    tw_tensors out = { 0 };
    if (!cond || !body || values.count < 1 || values.count > INT32_MAX / 2) {
        tw__fail(TW_INVALID_ARGUMENT, !cond || !body ? "tw_while: %s is NULL" : "tw_while: there are no values, or too many", cond ? "body" : "cond");
        return out;
    }
    tw_tensor **results = tw__alloc_array((size_t)values.count, sizeof *results);
    if (!results)
        return out;
    body_call cond_call = { cond, user, "the condition of tw_while" }, body_of = { body, user, "the body of tw_while" };
    tw__loop loop = { .cond = call_body, .body = call_body, .cond_context = &cond_call, .body_context = &body_of, .values = values.items,
                      .shapes = args->shape_invariants, .count = (int)values.count, .maximum = args->maximum_iterations };
    tw_status status = tw__while(&loop, results);
    out = (tw_tensors){ results, status == TW_OK ? values.count : 0 };
    if (status == TW_OK && args->name && results[0]->node)
        status = tw__node_rename(results[0]->node, args->name);
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
    tw__branch *branches = tw__alloc_array((size_t)count, sizeof *branches);
    body_call *calls = tw__alloc_array((size_t)count, sizeof *calls);
    tw_status status = branches && calls ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < count; i++) {
        if (!bodies[i])
            status = tw__fail(TW_INVALID_ARGUMENT, "tw_switch_case: body %d is NULL", i);
        calls[i] = (body_call){ bodies[i], user, "tw_switch_case" };
        branches[i] = (tw__branch){ call_body, &calls[i] };
    }
    int results = 0;
    if (status == TW_OK && tw__switch(index, branches, count, &out.items, &results) == TW_OK)
        out.count = results;
    tw__free(branches);
    tw__free(calls);
    return out;
}
