/* Replicas of a run: a thread each, taking turns.
 *
 *     coordinator (who called tw_strategy_run)      replica 0            replica 1
 *     gives the turn to replica 0          ───────▶ runs … merges ─────▶ runs … merges ──┐
 *     all have merged: runs the merge ◀────────────────────────────────────────────────────┘
 *     gives the turn to replica 0          ───────▶ goes on … ends ────▶ goes on … ends ──▶ the run is done
 *
 * With the turn go what belongs to a thread and must be one for all: the graph that is traced, the locks of tracing, the count of
 * variables made, and which copy a mirrored variable is. A strategy of one replica needs no thread. */
#include "base/language.h"
#include "base/deep_lock.h"
#include "base/pause.h"
#include "distribute/distribute.h"
#include "function/tracer.h"
#include "graph/graph.h"
#include "graph/scope.h"
#include "rows.h"

enum { COORDINATOR = -1 };
enum { READY, RUNNING, MERGING, ENDED };

typedef struct replica {
    tw__run *run;
    pthread_t thread;
    int number, state;
    void *given;
} replica;

typedef struct made_variable {
    tw_variable *variable; /* a reference */
    bool *taken;           /* by each replica */
} made_variable;

struct tw__run {
    tw_strategy *strategy;
    tw_replica_body *body;
    void *context;
    replica *replicas;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t coordinator;
    int turn;
    bool stopping;    /* somebody failed: the others end at their next turn */
    tw_status status; /* the first error */
    char *message;
    void *foreign;     /* what the embedding language keeps of it */
    tw__graph *graph;  /* that the caller traces; NULL: calls run at once */
    const char *scope; /* of names */
    tw__variable_creation creation;
    tw_replica_merge_body *merge; /* the first replica's */
    void *merge_context;
    made_variable *made;
    size_t made_count;
};

_Thread_local tw__run *tw__run_now;
static tw__deep_lock one_run = TW__DEEP_LOCK; /* variables have one copy in use at a time */

static tw_status run_body(const tw__run *run, int number)
{
    tw__auto(tw_scope_end) size_t scope = tw_scope_begin();
    return run->body(number, run->context);
}

/* ---- errors ---- */

/* The thread's error becomes the run's, if it is the first, and is cleared. */
static void fail_run(tw__run *run, tw_status status)
{
    if (run->status == TW_OK && !run->stopping) {
        run->status = status;
        run->message = tw__strdup(tw_error_message());
        if (status == TW_FOREIGN_ERROR && tw__language.error_take)
            run->foreign = tw__language.error_take();
    }
    run->stopping = true;
    tw_clear_error();
}

static tw_status stopped(void)
{
    return tw__fail(TW_CANCELLED, "another replica failed, or ended while this one waited for it");
}

/* ---- turns ---- */

static void give_turn(tw__run *run, int to)
{
    pthread_mutex_lock(&run->mutex);
    run->creation = tw__variables_made;
    tw__tracing_hand(to == COORDINATOR ? run->coordinator : run->replicas[to].thread);
    tw__mirrors_turn(run->strategy, to == COORDINATOR ? 0 : to);
    run->turn = to;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);
}

static void wait_for_turn(tw__run *run, int me)
{
    void *state = tw__wait_begin();
    pthread_mutex_lock(&run->mutex);
    while (run->turn != me)
        pthread_cond_wait(&run->changed, &run->mutex);
    pthread_mutex_unlock(&run->mutex);
    tw__wait_end(state);
    tw__variables_made = run->creation;
}

/* To the next replica that is not done, from that number on; else to the coordinator. */
static void pass_turn(tw__run *run, int from)
{
    while (from < run->strategy->count && run->replicas[from].state == ENDED)
        from++;
    give_turn(run, from < run->strategy->count ? from : COORDINATOR);
}

/* ---- a replica ---- */

static tw_status enter(const tw__run *run, int number)
{
    TW_TRY(tw__strategy_push(run->strategy));
    tw_status status = tw__scope_push(run->scope);
    if (status == TW_OK && (status = tw__device_push(run->strategy->devices[number])) != TW_OK)
        tw__scope_pop();
    if (status != TW_OK)
        tw__strategy_pop();
    return status;
}

static void leave(void)
{
    tw__device_pop();
    tw__scope_pop();
    tw__strategy_pop();
}

static void *replica_main(void *self)
{
    replica *own = self;
    tw__run *run = own->run;
    wait_for_turn(run, own->number);
    if (!run->stopping) {
        tw__run_now = run;
        tw__replica = own->number;
        tw__tracing = run->graph;
        own->state = RUNNING;
        tw_status status = enter(run, own->number);
        if (status == TW_OK) {
            status = run_body(run, own->number);
            leave();
        }
        if (status != TW_OK)
            fail_run(run, status);
        tw__tracing = NULL;
    }
    own->state = ENDED;
    pass_turn(run, own->number + 1);
    return NULL;
}

/* ---- merging ---- */

static tw_status run_merge(tw__run *run, void *const *given)
{
    TW_TRY(tw__strategy_push(run->strategy));
    tw__run *outer = tw__run_now;
    int number = tw__replica;
    tw__run_now = run;
    tw__replica = -1;
    size_t scope = tw_scope_begin();
    tw_status status = run->merge(given, run->strategy->count, run->merge_context);
    tw_scope_end(&scope);
    tw__replica = number;
    tw__run_now = outer;
    tw__strategy_pop();
    return status;
}

/* Every replica waits or has ended. */
static void meet(tw__run *run)
{
    int waiting = 0, count = run->strategy->count;
    for (int i = 0; i < count; i++)
        waiting += run->replicas[i].state == MERGING;
    if (!waiting || run->stopping)
        return;
    if (waiting < count) {
        fail_run(run,
                 tw__fail(TW_RUNTIME_ERROR, "Some replicas made a different number of replica_context().merge_call() calls."));
        return;
    }
    tw__owned void **given = tw__alloc_array((size_t)count, sizeof *given);
    for (int i = 0; given && i < count; i++)
        given[i] = run->replicas[i].given;
    tw_status status = given ? run_merge(run, given) : TW_RESOURCE_EXHAUSTED;
    if (status != TW_OK)
        fail_run(run, status);
}

tw_status tw_replica_merge(tw_replica_merge_body *merge, void *context, void *given)
{
    tw__run *run = tw__run_now;
    if (!run || tw__replica < 0)
        return tw__fail(TW_RUNTIME_ERROR, "`merge_call` called outside of a replica of a strategy's run");
    if (!merge)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_replica_merge: the function is NULL");
    if (tw__tracing != run->graph)
        return tw__fail(
            TW_RUNTIME_ERROR,
            "`merge_call` called while defining a new graph or a tf.function. This can often happen if the function `fn` passed to "
            "`strategy.run()` contains a nested `@tf.function`, and the nested `@tf.function` contains a synchronization point, such as "
            "aggregating gradients (e.g, optimizer.apply_gradients), or if the function `fn` uses a control flow statement which "
            "contains a synchronization point in the body. Such behaviors are not yet supported. Instead, please avoid nested "
            "`tf.function`s or control flow statements that may potentially cross a synchronization boundary, for example, wrap the "
            "`fn` passed to `strategy.run` or the entire `strategy.run` inside a `tf.function` or move the control flow out of `fn`. "
            "If you are subclassing a `tf.keras.Model`, please avoid decorating overridden methods `test_step` and `train_step` in "
            "`tf.function`.");
    if (run->strategy->count == 1) {
        run->merge = merge;
        run->merge_context = context;
        return run_merge(run, &given);
    }
    replica *own = &run->replicas[tw__replica];
    own->given = given;
    if (own->number == 0) {
        run->merge = merge;
        run->merge_context = context;
    }
    own->state = MERGING;
    pass_turn(run, own->number + 1);
    wait_for_turn(run, own->number);
    own->state = RUNNING;
    return run->stopping ? stopped() : TW_OK;
}

/* ---- the run ---- */

static void start_threads(tw__run *run, int *started)
{
    for (int i = 0; i < run->strategy->count; i++)
        run->replicas[i] = (replica){ .run = run, .number = i, .state = READY };
    for (; *started < run->strategy->count; ++*started) {
        replica *next = &run->replicas[*started];
        int error = pthread_create(&next->thread, NULL, replica_main, next);
        if (error) {
            fail_run(run, tw__fail(TW_RESOURCE_EXHAUSTED, "MirroredStrategy: no thread for replica %d: %s", *started,
                                   strerror(error)));
            break;
        }
    }
    for (int i = *started; i < run->strategy->count; i++)
        run->replicas[i].state = ENDED;
}

static void run_threads(tw__run *run)
{
    int started = 0;
    start_threads(run, &started);
    bool left = started > 0;
    while (left) {
        pass_turn(run, 0);
        wait_for_turn(run, COORDINATOR);
        meet(run);
        left = false;
        for (int i = 0; i < run->strategy->count; i++)
            left |= run->replicas[i].state != ENDED;
    }
    void *state = tw__wait_begin();
    while (started > 0)
        pthread_join(run->replicas[--started].thread, NULL);
    tw__wait_end(state);
}

static void run_alone(tw__run *run)
{
    tw__run *outer = tw__run_now;
    tw_status status = enter(run, 0);
    if (status == TW_OK) {
        tw__run_now = run;
        tw__replica = 0;
        status = run_body(run, 0);
        tw__replica = -1;
        tw__run_now = outer;
        leave();
    }
    run->status = status; /* the error is this thread's already */
}

tw_status tw_strategy_run(tw_strategy *strategy, tw_replica_body *body, void *context)
{
    if (!tw__check(strategy, &tw__class_strategy, "tw_strategy_run"))
        return tw__error_status();
    if (!body)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_strategy_run: the body is NULL");
    if (tw__replica >= 0)
        return tw__fail(TW_RUNTIME_ERROR,
                        "Method requires being in cross-replica context, use get_replica_context().merge_call()");
    tw_strategy *now = tw__strategy_now();
    if (now && now != strategy)
        return tw__fail(TW_RUNTIME_ERROR, "Mixing different tf.distribute.Strategy objects: %s is not %s", tw_class_name(now),
                        tw_class_name(strategy));
    if (strategy->count > 1 && tw__in_lasting())
        return tw__fail(TW_UNIMPLEMENTED, "%s: runs of several replicas in a tf.Graph are not supported, use tf.function",
                        tw_class_name(strategy));
    tw__run run = { .strategy = strategy,
                    .body = body,
                    .context = context,
                    .coordinator = pthread_self(),
                    .turn = COORDINATOR,
                    .graph = tw__tracing,
                    .scope = tw__scope(),
                    .mutex = PTHREAD_MUTEX_INITIALIZER,
                    .changed = PTHREAD_COND_INITIALIZER };
    tw__deep_take(&one_run);
    if (strategy->count == 1) {
        run_alone(&run);
    } else {
        tw__owned char *scope = tw__strdup(tw__scope());
        run.scope = scope;
        run.replicas = scope ? tw__alloc_array((size_t)strategy->count, sizeof *run.replicas) : NULL;
        if (run.replicas)
            run_threads(&run);
        else
            fail_run(&run, TW_RESOURCE_EXHAUSTED);
        tw__free(run.replicas);
    }
    tw__deep_give(&one_run);
    for (size_t i = 0; i < run.made_count; i++) {
        tw_release(run.made[i].variable);
        tw__free(run.made[i].taken);
    }
    tw__free(run.made);
    if (strategy->count > 1 && run.status != TW_OK)
        tw__fail(run.status, "%s", run.message ? run.message : "");
    if (run.foreign)
        tw__language.error_give(run.foreign);
    tw__free(run.message);
    return run.status;
}

tw_strategy *tw__run_strategy(void)
{
    return tw__run_now ? tw__run_now->strategy : tw__strategy_now();
}

/* ---- variables made in replicas ---- */

tw_status tw__run_note(tw__run *run, tw_variable *variable)
{
    if (!run)
        return TW_OK;
    made_variable *grown = tw__realloc(run->made, (run->made_count + 1) * sizeof *grown);
    TW_NEED(grown);
    run->made = grown;
    bool *taken = tw__alloc_zero((size_t)run->strategy->count * sizeof *taken);
    TW_NEED(taken);
    grown[run->made_count++] = (made_variable){ tw_retain(variable), taken };
    return TW_OK;
}

tw_variable *tw__run_made(tw__run *run, const char *name, int number)
{
    for (size_t i = 0; run && i < run->made_count; i++) {
        made_variable *made = &run->made[i];
        const tw__resource *resource = tw__resource_of(made->variable->mirror->handles[0]);
        if (made->taken[number] || strcmp(resource->name, name) != 0)
            continue;
        made->taken[number] = true;
        return made->variable;
    }
    return NULL;
}
