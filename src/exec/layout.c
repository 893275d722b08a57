/* Where the values of a plan lie: decided once, so that a run makes nothing.
 *
 * A value whose shape is known, and that only steps see which neither keep it nor hand it on, lies in the frame: a few bytes in
 * its tensor, more in one block, the arena, at an offset that other values have before and after it. An elementwise step writes
 * where an input lies that ends with it. Reshape and its kin on such a value are no steps at all: another tensor shows the same
 * memory. Everything else (outputs of the plan, what goes into variables, lists, calls and Python functions, shapes that depend
 * on values) is made in the heap in every run and released after its last use.
 *
 * The block is laid out in the order of the steps: a value takes the smallest gap that is large enough, and gives it back after
 * its last use. */
#include "exec/internal.h"
#include "kernel/kernel.h"
#include "rows.h"

enum { ALIGNMENT = 64 };
static const int64_t large_bytes = 1 << 16;
static const int many_steps = 24;

/* ---- which values the frame keeps ---- */

static bool holds_plain(tw_dtype dtype)
{
    return dtype != TW_STRING && dtype != TW_RESOURCE && dtype != TW_VARIANT;
}

static bool has_function(const tw__step *step)
{
    int count = tw__op_signature_of(step->op)->attr_count;
    for (int i = 0; i < count; i++) {
        if (step->attrs[i].kind == TW_ATTR_FUNC)
            return true;
    }
    return false;
}

/* Neither keeps an input nor hands it on. */
static bool lets_go(const tw__step *step)
{
    return step->run || step->op->lets_go || (step->known && !step->op->stateful && !has_function(step));
}

static bool shows_input(const tw__plan *plan, const tw__step *step)
{
    if (!step->op->reshapes || step->run)
        return false;
    int64_t in = tw__place_count(plan, step->inputs[0]);
    bool constant = step->input_count == 1 || plan->places[step->inputs[1]].constant;
    return constant && in >= 0 && in == tw__place_count(plan, step->outputs[0]);
}

static bool may_overwrite(const tw__plan *plan, const tw__step *step, int input)
{
    if (input < 32 && (step->overwrites >> input & 1))
        return true;
    return !step->run && (step->op->unary || step->op->binary) &&
           plan->places[step->inputs[input]].dtype == plan->places[step->outputs[0]].dtype &&
           tw__place_count(plan, step->inputs[input]) == tw__place_count(plan, step->outputs[0]);
}

static tw_status find_bytes(tw__plan *plan)
{
    for (int32_t p = 0; p < plan->place_count; p++) {
        tw__place *place = &plan->places[p];
        int64_t count = tw__place_count(plan, p);
        if (count < 0 || __builtin_mul_overflow(count, (int64_t)tw__element_size(place->dtype), &place->bytes) ||
            place->bytes > INT64_MAX / 4)
            place->bytes = -1;
        place->root = p;
        place->taken_from = -1;
        place->last = -1;
        place->kept = true;
        place->where = place->constant ? TW_IN_ARGUMENT : TW_IN_HEAP;
    }
    for (int i = 0; i < plan->argument_count; i++)
        plan->places[plan->arguments[i]].where = TW_IN_ARGUMENT;
    return TW_OK;
}

static tw_status choose(tw__plan *plan)
{
    tw__owned bool *blocked = tw__alloc_array((size_t)plan->place_count + 1, sizeof *blocked);
    TW_NEED(blocked);
    for (int i = 0; i < plan->output_count; i++)
        blocked[plan->outputs[i]] = true;
    for (int s = plan->step_count; s-- > 0;) {
        const tw__step *step = &plan->steps[s];
        bool blocks = shows_input(plan, step) ? blocked[step->outputs[0]] : !lets_go(step);
        for (int k = 0; blocks && k < step->input_count; k++)
            blocked[step->inputs[k]] = true;
    }
    for (int s = 0; s < plan->step_count; s++) {
        tw__step *step = &plan->steps[s];
        if (shows_input(plan, step)) {
            const tw__place *in = &plan->places[step->inputs[0]];
            tw__place *out = &plan->places[step->outputs[0]];
            if (!blocked[step->outputs[0]] && (in->where == TW_IN_ARENA || in->where == TW_IN_HEADER)) {
                out->where = in->where;
                out->root = in->root;
                step->gone = true;
            }
            continue;
        }
        for (int k = 0; step->known && k < step->output_count; k++) {
            tw__place *out = &plan->places[step->outputs[k]];
            if (!blocked[step->outputs[k]] && holds_plain(out->dtype) && out->bytes >= 0)
                out->where = out->bytes <= TW_INLINE_BYTES ? TW_IN_HEADER : TW_IN_ARENA;
        }
    }
    for (int32_t p = 0; p < plan->place_count; p++)
        plan->places[p].kept = blocked[p];
    int kept = 0;
    for (int s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].gone)
            tw__step_end(&plan->steps[s]);
        else
            plan->steps[kept++] = plan->steps[s];
    }
    plan->step_count = kept;
    return TW_OK;
}

/* ---- when values end ---- */

static tw_status append(int32_t **list, int32_t *count, int32_t place)
{
    int32_t *more = tw__realloc(*list, ((size_t)*count + 1) * sizeof *more);
    TW_NEED(more);
    *list = more;
    more[(*count)++] = place;
    return TW_OK;
}

static tw_status find_ends(tw__plan *plan)
{
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        for (int k = 0; k < step->output_count; k++)
            plan->places[step->outputs[k]].last = s; /* an output that nobody reads goes at once */
        for (int k = 0; k < step->input_count; k++)
            plan->places[plan->places[step->inputs[k]].root].last = s;
    }
    for (int k = 0; k < plan->output_count; k++)
        plan->places[plan->outputs[k]].last = -1;
    for (int32_t p = 0; p < plan->place_count; p++) {
        tw__place *place = &plan->places[p];
        int32_t last = plan->places[place->root].last;
        if (place->where == TW_IN_ARGUMENT)
            place->last = last = -1;
        if (last < 0)
            continue;
        tw__step *at = &plan->steps[last];
        if (place->where == TW_IN_HEAP)
            TW_TRY(append(&at->dropped, &at->dropped_count, p));
        else
            TW_TRY(append(&at->dying, &at->dying_count, p));
    }
    return TW_OK;
}

/* ---- the block ---- */

typedef struct gap {
    int64_t offset, bytes;
} gap;

typedef struct block {
    gap *gaps; /* in the order of offsets, none touching the next */
    size_t count, capacity;
    int64_t end;
} block;

static void block_end(block *b)
{
    tw__free(b->gaps);
}

static int64_t rounded(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t take(block *b, int64_t bytes)
{
    size_t best = b->count;
    for (size_t i = 0; i < b->count; i++) {
        if (b->gaps[i].bytes >= bytes && (best == b->count || b->gaps[i].bytes < b->gaps[best].bytes))
            best = i;
    }
    if (best < b->count) {
        int64_t offset = b->gaps[best].offset;
        b->gaps[best].offset += bytes;
        b->gaps[best].bytes -= bytes;
        if (!b->gaps[best].bytes) {
            memmove(b->gaps + best, b->gaps + best + 1, (b->count - best - 1) * sizeof *b->gaps);
            b->count--;
        }
        return offset;
    }
    int64_t offset = b->end;
    if (b->count && b->gaps[b->count - 1].offset + b->gaps[b->count - 1].bytes == b->end) /* the last gap grows */
        offset = b->gaps[--b->count].offset;
    b->end = offset + bytes;
    return offset;
}

static tw_status give(block *b, int64_t offset, int64_t bytes)
{
    size_t at = 0;
    while (at < b->count && b->gaps[at].offset < offset)
        at++;
    bool before = at > 0 && b->gaps[at - 1].offset + b->gaps[at - 1].bytes == offset;
    bool after = at < b->count && offset + bytes == b->gaps[at].offset;
    if (before && after) {
        b->gaps[at - 1].bytes += bytes + b->gaps[at].bytes;
        memmove(b->gaps + at, b->gaps + at + 1, (b->count - at - 1) * sizeof *b->gaps);
        b->count--;
    } else if (before) {
        b->gaps[at - 1].bytes += bytes;
    } else if (after) {
        b->gaps[at].offset = offset;
        b->gaps[at].bytes += bytes;
    } else {
        TW_TRY(TW_GROW(b->gaps, b->capacity, b->count + 1));
        memmove(b->gaps + at + 1, b->gaps + at, (b->count - at) * sizeof *b->gaps);
        b->gaps[at] = (gap){ offset, bytes };
        b->count++;
    }
    return TW_OK;
}

/* The place whose memory output 0 may take over, or -1. */
static int32_t dying_input(const tw__plan *plan, const tw__step *step, int s)
{
    const tw__place *out = &plan->places[step->outputs[0]];
    for (int k = 0; k < step->input_count; k++) {
        int32_t p = plan->places[step->inputs[k]].root;
        const tw__place *in = &plan->places[p];
        if (in->where == TW_IN_ARENA && in->last == s && in->bytes == out->bytes && may_overwrite(plan, step, k))
            return p;
    }
    return -1;
}

static tw_status give_dying(const tw__plan *plan, const tw__step *step, block *b, int32_t taken)
{
    for (int k = 0; k < step->dying_count; k++) {
        const tw__place *gone = &plan->places[step->dying[k]];
        if (gone->where == TW_IN_ARENA && gone->root == step->dying[k] && step->dying[k] != taken)
            TW_TRY(give(b, gone->offset, rounded(gone->bytes)));
    }
    return TW_OK;
}

static tw_status place_values(tw__plan *plan, block *b)
{
    int lanes_first = 0,
        lanes_end =
            0; /* steps from the one and before the other may run side by side: nothing of one may lie where another reads */
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        int32_t taken = -1;
        if (step->lanes) {
            lanes_first = s;
            lanes_end = s + step->lanes;
        }
        for (int k = 0; k < step->output_count; k++) {
            tw__place *out = &plan->places[step->outputs[k]];
            if (out->where != TW_IN_ARENA)
                continue;
            if (k == 0 && s >= lanes_end && (tw__exec_passes & TW_PASS_OVERWRITE) && (taken = dying_input(plan, step, s)) >= 0) {
                out->taken_from = taken;
                out->offset = plan->places[taken].offset;
            } else {
                out->offset = take(b, rounded(out->bytes));
                if (b->end > INT64_MAX / 8)
                    return tw__fail(TW_RESOURCE_EXHAUSTED, "the values of a plan take more than %lld bytes", (long long)b->end);
            }
        }
        if (s >= lanes_end)
            TW_TRY(give_dying(plan, step, b, taken));
        for (int lane = lanes_first; s == lanes_end - 1 && lane <= s; lane++)
            TW_TRY(give_dying(plan, &plan->steps[lane], b, -1));
    }
    for (int32_t p = 0; p < plan->place_count; p++)
        plan->places[p].offset = plan->places[plan->places[p].root].offset;
    plan->arena_bytes = b->end;
    return TW_OK;
}

tw_status tw__plan_layout(tw__plan *plan)
{
    TW_TRY(find_bytes(plan));
    if (tw__exec_passes & TW_PASS_ARENA)
        TW_TRY(choose(plan));
    TW_TRY(find_ends(plan));
    tw__auto(block_end) block b = { 0 };
    plan->takes_long = plan->step_count >= many_steps;
    TW_TRY(place_values(plan, &b));
    for (int s = 0; s < plan->step_count; s++) {
        tw__step *step = &plan->steps[s];
        int64_t bytes = 0;
        plan->most_inputs = step->input_count > plan->most_inputs ? step->input_count : plan->most_inputs;
        plan->most_outputs = step->output_count > plan->most_outputs ? step->output_count : plan->most_outputs;
        step->out_dtypes = tw__alloc_array((size_t)step->output_count + 1, sizeof *step->out_dtypes);
        TW_NEED(step->out_dtypes);
        step->fixed = step->known;
        bool unknown = false, hands_on = shows_input(plan, step) || (!step->run && tw__op_reads_only(step->op));
        for (int k = 0; k < step->output_count; k++) {
            const tw__place *out = &plan->places[step->outputs[k]];
            step->out_dtypes[k] = out->dtype;
            step->fixed &= out->where == TW_IN_ARENA || out->where == TW_IN_HEADER;
            unknown |= out->bytes < 0;
            bytes += out->bytes;
        }
        for (int k = 0; k < step->input_count; k++) {
            unknown |= plan->places[step->inputs[k]].bytes < 0;
            bytes += plan->places[step->inputs[k]].bytes;
        }
        step->large = has_function(step) || (!hands_on && (unknown || bytes >= large_bytes || (step->effects && !step->known)));
        plan->takes_long |= step->large;
    }
    return TW_OK;
}
