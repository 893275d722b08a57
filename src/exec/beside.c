/* Steps that run side by side: long calls of one thread each that need nothing of each other, such as two loops of small steps,
 * two factorisations, two sorts. (Kernels that use all threads themselves gain nothing from it.)
 *
 * The planner puts such steps next to each other: what stands between them and needs one of them comes behind, if it has no
 * effects and sees none; the first one of the group says how many there are. A run offers them to the pool as lanes; what no
 * worker has taken yet the caller does itself. Two matrices' singular values take 27 ms instead of 53 then, two loops of small
 * products 1.1 instead of 2.0. A user who allows one operation at a time (set_inter_op_parallelism_threads) switches it off.
 * Inside a lane, parallel loops do their pieces one after the other, so that all bits are the same as without. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/pause.h"
#include "exec/internal.h"
#include "rows.h"

enum { WINDOW = 256, SPINS = 2000, CHECK_MILLISECONDS = 50 };
static const int64_t matrix_elements = 48 * 48, sorted_elements = 16384, loop_elements = 16384;

_Atomic int tw__inter_op_threads;
static bool one_in_environment;

static void read_environment(void)
{
    const char *text = getenv("TF_NUM_INTEROP_THREADS");
    one_in_environment = text && atoi(text) == 1;
}

bool tw__one_op_at_a_time(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    int set = atomic_load_explicit(&tw__inter_op_threads, memory_order_relaxed);
    return set ? set == 1 : one_in_environment;
}

/* ---- finding them ---- */

/* A loop whose values are small, so that each step of it is done by one thread. */
static bool is_small_loop(const tw__node *node)
{
    tw__body body;
    if (node->op->stateful || !tw__node_body(node, TW_ROLE_LOOP, "body", 0, &body))
        return false;
    for (size_t i = 0; i < body.graph->node_count; i++) {
        const tw__node *inner = body.graph->nodes[i];
        if (inner->op->free_state || inner->op->stateful || tw__node_has_function(inner))
            return false;
        for (int k = 0; k < inner->output_count; k++) {
            int64_t count = 1;
            const tw_shape *shape = &inner->out_shapes[k];
            if (inner->out_dtypes[k] == TW_VARIANT)
                continue;
            for (int d = 0; tw__shape_known(shape) && d < shape->rank && count <= loop_elements; d++)
                count *= shape->dims[d];
            if (!tw__shape_known(shape) || count > loop_elements)
                return false;
        }
    }
    return true;
}

static bool is_long_kernel(const tw__plan *plan, const tw__step *step)
{
    if (!step->input_count)
        return false;
    const tw_shape *shape = &plan->places[step->inputs[0]].shape;
    int64_t count = tw__place_count(plan, step->inputs[0]);
    return (step->op->one_thread == TW_ONE_THREAD_MATRIX && shape->rank == 2 && count >= matrix_elements) ||
           (step->op->one_thread == TW_ONE_THREAD_VECTOR && shape->rank == 1 && count >= sorted_elements);
}

static bool is_lane(const tw__plan *plan, const tw__step *step)
{
    if (step->gone || step->run || step->effects || step->op->stateful || step->op->free_state)
        return false;
    for (int k = 0; k < step->input_count; k++) {
        if (plan->places[step->inputs[k]].dtype == TW_RESOURCE)
            return false;
    }
    return is_long_kernel(plan, step) || is_small_loop(step->node);
}

typedef struct search {
    tw__plan *plan;
    bool *late;                           /* by place: it comes from a member of the group */
    enum { EARLY, MEMBER, LATE } * kinds; /* of the steps from the first member on */
    tw__step *steps;                      /* room for as many */
} search;

static bool has_any(const bool *late, const int32_t *places, int count)
{
    for (int k = 0; k < count; k++) {
        if (late[places[k]])
            return true;
    }
    return false;
}

static void mark(search *f, const tw__step *step, bool late)
{
    for (int k = 0; k < step->output_count; k++)
        f->late[step->outputs[k]] = late;
}

/* The step may as well run later: it has no effects, and sees none. */
static bool can_wait(const tw__plan *plan, const tw__step *step)
{
    bool pure = !step->effects && !step->op->stateful && !step->op->free_state;
    for (int k = 0; pure && k < step->input_count; k++)
        pure = plan->places[step->inputs[k]].dtype != TW_RESOURCE;
    return pure;
}

/* Puts the members together: behind what does not need them, before what does. */
static void put_together(search *f, int first, int last, int count)
{
    int placed = 0, members = 0;
    for (int kind = EARLY; kind <= LATE; kind++) {
        members = kind == MEMBER ? placed : members;
        for (int i = 0; i <= last - first; i++) {
            if ((int)f->kinds[i] == kind)
                f->steps[placed++] = f->plan->steps[first + i];
        }
    }
    f->steps[members].lanes = (int8_t)count;
    memcpy(&f->plan->steps[first], f->steps, (size_t)placed * sizeof *f->steps);
}

/* The group that begins with the step; the number of the last of its members. */
static int find_group(search *f, int first)
{
    tw__plan *plan = f->plan;
    int end = plan->step_count - first < WINDOW ? plan->step_count : first + WINDOW, count = 1, last = first;
    f->kinds[0] = MEMBER;
    mark(f, &plan->steps[first], true);
    int at = first + 1;
    for (; at < end && count < TW_MOST_LANES; at++) {
        const tw__step *step = &plan->steps[at];
        bool needs = has_any(f->late, step->inputs, step->input_count);
        if (needs && !can_wait(plan, step))
            break;
        bool joins = !needs && is_lane(plan, step);
        f->kinds[at - first] = joins ? MEMBER : needs ? LATE : EARLY;
        if (needs || joins)
            mark(f, step, true);
        if (joins) {
            count++;
            last = at;
        }
    }
    for (int s = first; s < at; s++)
        mark(f, &plan->steps[s], false);
    if (count < 2)
        return first;
    put_together(f, first, last, count);
    plan->has_lanes = true;
    return last;
}

tw_status tw__plan_find_lanes(tw__plan *plan)
{
    search f = { .plan = plan };
    tw_status status = TW_OK;
    for (int s = 0; s < plan->step_count && status == TW_OK; s++) {
        if (!is_lane(plan, &plan->steps[s]))
            continue;
        if (!f.late) {
            f.late = tw__alloc_array((size_t)plan->place_count + 1, sizeof *f.late);
            f.kinds = tw__alloc_array(WINDOW, sizeof *f.kinds);
            f.steps = tw__alloc_array(WINDOW, sizeof *f.steps);
            status = f.late && f.kinds && f.steps ? TW_OK : TW_RESOURCE_EXHAUSTED;
        }
        if (status == TW_OK)
            s = find_group(&f, s);
    }
    tw__free(f.late);
    tw__free(f.kinds);
    tw__free(f.steps);
    return status;
}

/* ---- running them ---- */

typedef struct group {
    tw__lane_run *run;
    void *context;
    int count;
    const void *caller; /* tells its thread */
    tw_status status[TW_MOST_LANES];
    _Atomic int next, done;
    _Atomic bool stop;
} group;

static _Thread_local char thread_mark;

/* The others are at work: waits for them, and lets the embedding program stop them. */
static void wait_for_lanes(void *context)
{
    group *g = context;
    struct timespec pause = { .tv_nsec = 20000 };
    for (int spins = 0; atomic_load(&g->done) < g->count; spins++) {
        if (spins < SPINS) {
            sched_yield();
            continue;
        }
        nanosleep(&pause, NULL);
        if (!atomic_load(&g->stop) && spins % (CHECK_MILLISECONDS * 10) == 0 && tw__interrupted() != TW_OK)
            atomic_store(&g->stop, true);
    }
}

static void take_lanes(void *context, int64_t begin, int64_t end)
{
    group *g = context;
    (void)begin, (void)end;
    bool own = g->caller == &thread_mark;
    const _Atomic bool *outer = tw__stop_flag;
    for (int lane; (lane = atomic_fetch_add(&g->next, 1)) < g->count;) {
        if (!own)
            tw__stop_flag = &g->stop;
        g->status[lane] = atomic_load(&g->stop) ? TW_CANCELLED : g->run(g->context, lane);
        if (g->status[lane] != TW_OK)
            atomic_store(&g->stop, true);
        if (!own)
            tw_clear_error(); /* the caller makes the call again for it */
        tw__stop_flag = outer;
        atomic_fetch_add(&g->done, 1);
    }
}

int tw__run_lanes(tw__lane_run *run, void *context, int count, tw_status *status)
{
    group g = { .run = run, .context = context, .count = count, .caller = &thread_mark };
    tw__was_interrupted = false;
    tw__parallel_watched(count, 1, take_lanes, &g, wait_for_lanes);
    *status = TW_OK;
    if (tw__was_interrupted || (tw__stop_flag && atomic_load(tw__stop_flag))) {
        *status = tw__error_status();
        return 0;
    }
    if (atomic_load(&g.stop))
        tw_clear_error(); /* of whichever failed first: that of the first in order is told */
    for (int i = 0; i < count; i++) {
        if (g.status[i] != TW_OK && (*status = run(context, i)) != TW_OK)
            return i;
    }
    return count - 1;
}
