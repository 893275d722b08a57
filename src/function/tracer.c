/* Which trace serves a call; see tracer.h. */
#include "base/deep_lock.h"
#include "eager/eager.h"
#include "function/tracer.h"

enum { TRACE_LIMIT = 1024 };

/* ---- one trace at a time ---- */

static tw__deep_lock tracing_lock = TW__DEEP_LOCK;

bool tw__tracing_try(void)
{
    return tw__deep_try(&tracing_lock);
}

void tw__tracing_begin(void)
{
    tw__deep_take(&tracing_lock);
}

void tw__tracing_end(void)
{
    tw__deep_give(&tracing_lock);
}

void tw__tracing_hand(pthread_t to)
{
    tw__deep_hand(&tracing_lock, to);
    tw__deep_hand(&tw__graphs_lock, to);
}

/* ---- too many traces ---- */

enum { WINDOW = 10, MANY = 5, WARNINGS = 2, KEPT = 16, CODES = 1024 };

/* Calls and traces of one piece of code. A trace among few calls is worth a warning, which comes at most twice. */
typedef struct retraces {
    const void *code;
    void (*held)(const void *code, bool held);
    int64_t calls, since[KEPT]; /* calls since each of the last traces, that trace's own among them */
    int count, warnings;
} retraces;

static retraces *counted[CODES]; /* a code has one place; two that have the same one displace each other */
static tw__lock counted_lock = TW__LOCK;

static void end_counted(void)
{
    for (int i = 0; i < CODES; i++) {
        if (counted[i] && counted[i]->held)
            counted[i]->held(counted[i]->code, false);
        tw__free(counted[i]);
        counted[i] = NULL;
    }
}

/* Under the lock. *old is what was counted at that place, for the caller to end. NULL: there is no memory for it, nothing is
 * counted. */
static retraces *retraces_of(const tw__tracer *t, retraces *old)
{
    retraces **place = &counted[((uintptr_t)t->code >> 4) * 0x9e3779b97f4a7c15u >> 54];
    if (*place && (*place)->code == t->code)
        return *place;
    retraces *made = *place ? *place : tw__alloc_zero(sizeof *made);
    if (!made) {
        tw_clear_error();
        return NULL;
    }
    static tw__ending ending = { .end = end_counted };
    tw__at_shutdown(&ending);
    *old = *made;
    *made = (retraces){ .code = t->code, .held = t->code_held };
    *place = made;
    if (made->held)
        made->held(made->code, true);
    return made;
}

static void count_calls(retraces *r, int64_t count)
{
    if (!count)
        return;
    if (!r->count)
        r->since[r->count++] = 0;
    r->since[r->count - 1] += count;
    r->calls += count;
}

/* True: so many of the last calls traced, and it's time to say so. */
static bool count_trace(retraces *r, int *traces, int64_t *calls)
{
    if (r->count == KEPT) {
        r->calls -= r->since[0];
        memmove(r->since, r->since + 1, (KEPT - 1) * sizeof *r->since);
        r->count--;
    }
    r->since[r->count++] = 1;
    r->calls++;
    int past = 0;
    while (past < r->count && r->calls - r->since[past] > WINDOW)
        r->calls -= r->since[past++];
    memmove(r->since, r->since + past, (size_t)(r->count - past) * sizeof *r->since);
    r->count -= past;
    *traces = r->count;
    *calls = r->calls;
    if (r->warnings >= WARNINGS || r->count < MANY)
        return false;
    r->warnings++;
    return true;
}

/* Which arguments are not what they were in the call before; for the warning. */
static char *changes(const tw__tracer *t, const tw__call_key *key)
{
    tw__text text = { 0 };
    for (int i = 0; i < key->mark_count; i++) {
        if (!tw__call_cache_changed(t->cache, key, i))
            continue;
        tw__text_add(&text, text.size ? ", " : " The argument that changed since the last call: ");
        if (i < t->argument_count && t->argument_names)
            tw__text_format(&text, "'%s'", t->argument_names[i]);
        else
            tw__text_format(&text, "number %d", i);
    }
    tw__text_add(&text, text.size ? "." : "");
    return tw__text_take(&text);
}

static void note_trace(tw__tracer *t, const char *changed)
{
    int traces = 0;
    int64_t calls = 0;
    retraces old = { 0 };
    bool many = false;
    tw__lock_take(&counted_lock);
    retraces *r = retraces_of(t, &old);
    if (r) {
        count_calls(r, atomic_exchange(&t->calls, 0));
        many = count_trace(r, &traces, &calls);
    }
    tw__lock_give(&counted_lock);
    if (old.held)
        old.held(old.code, false);
    if (many)
        tw__log(
            "WARNING",
            "%d out of the last %lld calls to %s triggered tf.function retracing. Tracing is expensive and the excessive number of tracings "
            "could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) passing Python "
            "objects instead of tensors. For (1), please define your @tf.function outside of the loop. For (2), @tf.function has "
            "reduce_retracing=True option that can avoid unnecessary retracing. For (3), please refer to "
            "https://www.tensorflow.org/guide/function#controlling_retracing and https://www.tensorflow.org/api_docs/python/tf/function for "
            " more details.%s",
            traces, (long long)calls, t->name, changed ? changed : "");
}

/* ---- tracers ---- */

tw_status tw__tracer_start(tw__tracer *t, const char *name, const char *const *argument_names, int argument_count,
                           const void *code, void *(*retain)(void *value), void (*drop)(void *value))
{
    *t = (tw__tracer){
        .code = code, .retain = retain, .drop = drop, .cache = tw__call_cache_new(TRACE_LIMIT), .name = tw__strdup(name)
    };
    if (argument_names)
        t->argument_names = tw__alloc_array((size_t)argument_count + 1, sizeof *t->argument_names);
    bool good = t->cache && t->name && (!argument_names || t->argument_names);
    for (int i = 0; good && argument_names && i < argument_count; i++) {
        t->argument_names[i] = tw__strdup(argument_names[i] ? argument_names[i] : "");
        good = t->argument_names[i] != NULL;
        t->argument_count += good;
    }
    return good ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

void tw__tracer_end(tw__tracer *t)
{
    tw__call_cache_free(t->cache, t->drop);
    for (int i = 0; i < t->argument_count; i++)
        tw__free(t->argument_names[i]);
    tw__free(t->argument_names);
    tw__free(t->name);
    *t = (tw__tracer){ 0 };
}

void *tw__tracer_find(tw__tracer *t, const tw__call_key *key)
{
    tw__hold_take(&t->lock);
    void *found = tw__call_cache_find(t->cache, key);
    if (found) {
        found = t->retain(found);
        if (__builtin_expect(found == t->spare, 0))
            t->spare = NULL;
        atomic_fetch_add_explicit(&t->calls, 1, memory_order_relaxed);
    }
    tw__hold_give(&t->lock);
    return found;
}

static void *make_one(tw__tracer *t, tw__trace_maker make, void *context, const tw_shape *shapes, bool *once, bool refuse,
                      bool called, tw__variable_creation *variables)
{
    tw__variable_creation outer = tw__variables_made;
    tw__variables_made =
        (tw__variable_creation){ .watched = true, .refused = refuse, .called = called && (!outer.watched || outer.called) };
    t->traces++;
    *once = false;
    void *value = make(context, shapes, once);
    *variables = tw__variables_made;
    if (outer.watched) {
        outer.made += tw__variables_made.made;
        outer.deferred += tw__variables_made.deferred;
    }
    tw__variables_made = outer;
    return value;
}

static tw_status keep(tw__tracer *t, const tw__call_key *key, const tw_shape *shapes, void *value)
{
    tw__call_spec few[16], *specs = key->spec_count <= 16 ? few : tw__alloc_array((size_t)key->spec_count, sizeof *specs);
    TW_NEED(specs);
    for (int i = 0; i < key->spec_count; i++)
        specs[i] = (tw__call_spec){ key->specs[i].dtype, &shapes[i] };
    tw__call_key wide = *key;
    wide.specs = specs;
    void *evicted = NULL;
    tw__hold_take(&t->lock);
    tw_status status = tw__call_cache_put(t->cache, &wide, t->retain(value), &evicted);
    tw__hold_give(&t->lock);
    if (evicted)
        t->drop(evicted);
    if (specs != few)
        tw__free(specs);
    return status;
}

void *tw__tracer_trace(tw__tracer *t, const tw__call_key *key, bool called, tw__trace_maker make, void *context)
{
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)key->spec_count + 1, sizeof *shapes);
    if (!shapes)
        return NULL;
    for (int i = 0; i < key->spec_count; i++)
        shapes[i] = *key->specs[i].shape;
    tw__hold_take(&t->lock);
    if (t->widens)
        tw__call_cache_widen(t->cache, key, shapes);
    tw__owned char *changed = changes(t, key);
    tw__hold_give(&t->lock);
    bool once = false, first_trace = !t->was_traced;
    tw__variable_creation variables = { 0 };
    void *first = NULL, *value = make_one(t, make, context, shapes, &once, !first_trace, called, &variables);
    t->was_traced |= value != NULL;
    if (value && first_trace && variables.made) {
        if (variables.deferred)
            first = value;
        else
            t->drop(value);
        value = make_one(t, make, context, shapes, &once, true, called, &variables);
        t->spare = first ? NULL : value; /* TensorFlow makes both now if the first one gives the variables their values */
    }
    if (value && !once && keep(t, key, shapes, value) != TW_OK) {
        t->drop(value);
        value = NULL;
    }
    if (value && called)
        note_trace(t, changed);
    if (first) {
        t->drop(value ? value : first);
        value = value ? first : NULL;
    }
    return value;
}

void tw__tracer_forget(tw__tracer *t, const void *identity)
{
    void *value = NULL;
    do {
        tw__hold_take(&t->lock);
        value = t->cache ? tw__call_cache_forget(t->cache, identity) : NULL;
        tw__hold_give(&t->lock);
        if (value)
            t->drop(value);
    } while (value);
}

int64_t tw__tracer_count(const tw__tracer *t)
{
    return t->traces - (t->spare != NULL);
}
