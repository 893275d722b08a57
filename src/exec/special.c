/* Plans for the shapes of a call.
 *
 * A function may be traced with dimensions that are not known. Its own plan then infers shapes as it runs. A call whose shapes
 * came before gets a plan of its own: made with the arguments' shapes, so that most shapes are known, sizes and targets of
 * reshapes are constants, and values have places in one block. (Not the first call: many shapes are seen once only.)
 *
 * Such plans are kept in a few slots, the one that was used longest ago makes room. A run takes no lock: it counts itself in
 * before it looks at the slots and out when it is done; a plan that lost its slot ends when nobody is in. */
#include <stdatomic.h>

#include "base/deep_lock.h"
#include "exec/internal.h"

enum { SLOTS = 16, SEEN = 32, RETIRED_LIMIT = 64 };

typedef struct tw__specials {
    tw__node **arguments;
    int argument_count;
    tw__edge *outputs;
    int output_count;
    _Atomic(tw__plan *) slots[SLOTS];
    _Atomic uint64_t used[SLOTS]; /* when, by the clock */
    _Atomic uint64_t clock;
    _Atomic int recent; /* the slot that was right the last time */
    _Atomic int inside; /* runs that may hold a plan of a slot */
    /* under the plan's lock: */
    uint64_t seen[SEEN]; /* shapes that came once, as hashes */
    int seen_next;
    tw__plan *retired[RETIRED_LIMIT];
    int retired_count;
} tw__specials;

tw__specials *tw__specials_new(tw__node *const *arguments, int argument_count, const tw__edge *outputs, int output_count)
{
    tw__specials *s = tw__alloc_zero(sizeof *s);
    if (!s)
        return NULL;
    s->arguments = tw__alloc_array((size_t)argument_count + 1, sizeof *s->arguments);
    s->outputs = tw__alloc_array((size_t)output_count + 1, sizeof *s->outputs);
    if (!s->arguments || !s->outputs) {
        tw__specials_free(s);
        return NULL;
    }
    if (argument_count)
        memcpy(s->arguments, arguments, (size_t)argument_count * sizeof *arguments);
    if (output_count)
        memcpy(s->outputs, outputs, (size_t)output_count * sizeof *outputs);
    s->argument_count = argument_count;
    s->output_count = output_count;
    return s;
}

void tw__specials_free(tw__specials *s)
{
    if (!s)
        return;
    for (int i = 0; i < SLOTS; i++)
        tw__plan_free(atomic_load(&s->slots[i]));
    while (s->retired_count)
        tw__plan_free(s->retired[--s->retired_count]);
    tw__free(s->arguments);
    tw__free(s->outputs);
    tw__free(s);
}

static uint64_t hash_shapes(tw_tensor *const *values, int count)
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)values[i]->shape.rank) * 1099511628211u;
        for (int k = 0; k < values[i]->shape.rank; k++)
            hash = (hash ^ (uint64_t)values[i]->shape.dims[k]) * 1099511628211u;
    }
    return hash ? hash : 1;
}

/* True if these shapes came before; now they have. */
static bool came_before(tw__specials *s, tw_tensor *const *values)
{
    uint64_t hash = hash_shapes(values, s->argument_count);
    for (int i = 0; i < SEEN; i++) {
        if (s->seen[i] == hash)
            return true;
    }
    s->seen[s->seen_next] = hash;
    s->seen_next = (s->seen_next + 1) % SEEN;
    return false;
}

static tw__plan *find(tw__specials *s, tw_tensor *const *values)
{
    int recent = atomic_load_explicit(&s->recent, memory_order_relaxed);
    for (int i = 0; i < SLOTS; i++) {
        int slot = (recent + i) % SLOTS;
        tw__plan *plan = atomic_load_explicit(&s->slots[slot], memory_order_acquire);
        if (!plan || !tw__plan_fits(plan, values))
            continue;
        atomic_store_explicit(&s->used[slot], atomic_load_explicit(&s->clock, memory_order_relaxed), memory_order_relaxed);
        if (i)
            atomic_store_explicit(&s->recent, slot, memory_order_relaxed);
        return plan;
    }
    return NULL;
}

/* Puts the plan into a slot, under the lock; the caller is counted in. False: there is no room for now. */
static bool keep(tw__specials *s, tw__plan *plan)
{
    int slot = 0;
    for (int i = 0; i < SLOTS; i++) {
        if (!atomic_load(&s->slots[i])) {
            slot = i;
            break;
        }
        if (atomic_load(&s->used[i]) < atomic_load(&s->used[slot]))
            slot = i;
    }
    tw__plan *old = atomic_load(&s->slots[slot]);
    if (old && s->retired_count == RETIRED_LIMIT)
        return false;
    uint64_t now = atomic_fetch_add(&s->clock, 1) + 1;
    atomic_store(&s->used[slot], now);
    atomic_store(&s->slots[slot], plan);
    atomic_store(&s->recent, slot);
    if (old)
        s->retired[s->retired_count++] = old;
    if (atomic_load(&s->inside) == 1) { /* nobody but the caller */
        while (s->retired_count)
            tw__plan_free(s->retired[--s->retired_count]);
    }
    return true;
}

/* Whether the plan that was made without the call's shapes holds for them. */
static tw_status check(const tw__plan *plan, tw_tensor *const *values, bool *compatible)
{
    *compatible = true;
    for (int i = 0; i < plan->argument_count; i++) {
        const tw__place *place = &plan->places[plan->arguments[i]];
        if (values[i]->dtype != place->dtype)
            return tw__fail(TW_INVALID_ARGUMENT, "argument %d is %s, the function takes %s", i, tw_dtype_name(values[i]->dtype),
                            tw_dtype_name(place->dtype));
        *compatible &= tw__shape_compatible(&values[i]->shape, &place->shape);
    }
    return TW_OK;
}

tw_status tw__specials_run(tw__plan *general, tw_tensor *const *values, tw_tensor **outputs)
{
    tw__specials *s = general->specials;
    atomic_fetch_add(&s->inside, 1);
    tw__plan *plan = find(s, values), *single = NULL;
    bool compatible = true;
    tw_status status = plan ? TW_OK : check(general, values, &compatible);
    if (!plan && status == TW_OK) {
        tw__deep_take(&tw__graphs_lock);
        tw__hold_take(&general->lock);
        plan = find(s, values);
        if (!plan && (came_before(s, values) || !compatible)) {
            plan = tw__plan_make(general->graph, s->arguments, s->argument_count, s->outputs, s->output_count, general, values);
            if (!plan)
                status = tw__error_status();
            else if (!keep(s, plan))
                single = plan;
        }
        tw__hold_give(&general->lock);
        tw__deep_give(&tw__graphs_lock);
    }
    if (status == TW_OK)
        status = tw__plan_execute(plan ? plan : general, values, outputs);
    tw__plan_free(single);
    atomic_fetch_sub(&s->inside, 1);
    return status;
}

tw__plan *tw__specials_plan(tw__plan *general, tw_tensor *const *values, bool *own)
{
    tw__specials *s = general->specials;
    bool compatible;
    *own = false;
    if (tw__plan_fits(general, values))
        return general;
    if (check(general, values, &compatible) != TW_OK)
        return NULL;
    *own = true;
    tw__deep_take(&tw__graphs_lock);
    tw__hold_take(&general->lock);
    tw__plan *plan = tw__plan_make(general->graph, s->arguments, s->argument_count, s->outputs, s->output_count, general, values);
    tw__hold_give(&general->lock);
    tw__deep_give(&tw__graphs_lock);
    return plan;
}
