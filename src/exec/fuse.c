/* Elementwise fusion: a chain such as tanh(a * x + b) + relu(x) as one step.
 *
 * Each op of the chain is a loop over elements (kernel/kernel.h). Run one after the other over the whole arrays, each would write its
 * result to memory and the next read it back. Here all loops run on a tile of a thousand elements before the next tile is touched, so that
 * inner results stay in the first-level cache: one read of each input, one write of the result.
 *
 * A step joins the step that uses its value if that is its only user, the shape is known and the same, and its other inputs have that
 * shape or one element. Values of float and double only: integer loops have checks around them. */
#include <stdio.h>

#include "exec/internal.h"
#include "kernel/kernel.h"
#include "kernel/stream.h"

enum { MOST_LOOPS = 24, MOST_INPUTS = 12, MOST_TEMPORARIES = 6, TILE = TW_TILE };

/* Where a loop finds a value: an input of the step, a temporary, or (as a target) the output. */
typedef struct source {
    enum { FROM_INPUT, FROM_TEMPORARY, TO_OUTPUT } kind;
    int32_t index;
} source;

typedef struct loop {
    tw__unary_loop *unary;
    tw__binary_loop *binary;
    tw__row row;
    source x, y, z;
} loop;

typedef struct tw__fused {
    loop loops[MOST_LOOPS];
    int loop_count;
    bool whole[MOST_INPUTS]; /* the input has as many elements as the output; else one */
    size_t element;
    bool slow;
    char label[160];         /* the ops' names */
} tw__fused;

static tw_status run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs);

/* ---- finding chains ---- */

typedef struct chain {
    tw__plan *plan;
    tw__uses uses;
    int members[MOST_LOOPS];
    int member_count;
} chain;

static bool is_loop(const tw__plan *plan, const tw__step *step, tw_dtype dtype)
{
    const tw_op *op = step->op;
    if (!step->known || step->run || step->gone || step->output_count != 1 || plan->places[step->outputs[0]].dtype != dtype)
        return false;
    if (dtype != TW_FLOAT32 && dtype != TW_FLOAT64)
        return false;
    for (int k = 0; k < step->input_count; k++) {
        if (plan->places[step->inputs[k]].dtype != dtype)
            return false;
    }
    if (op->unary)
        return op->unary->loops[dtype] && !op->unary->gives_bool;
    return op->binary && op->binary->loops[dtype] && !op->binary->gives_bool;
}

/* Each input is whole (the output's shape but for leading ones) or a single element. */
static bool inputs_fit(const tw__plan *plan, const tw__step *step, int64_t count)
{
    for (int k = 0; k < step->input_count; k++) {
        int64_t own = tw__place_count(plan, step->inputs[k]);
        if (own != count && own != 1)
            return false;
    }
    return true;
}

static bool is_member(const chain *c, int step)
{
    for (int i = 0; i < c->member_count; i++) {
        if (c->members[i] == step)
            return true;
    }
    return false;
}

/* All users of the step's value are inputs of members. */
static bool used_inside_only(const chain *c, int step)
{
    int32_t place = c->plan->steps[step].outputs[0];
    int inside = 0;
    for (int i = 0; i < c->member_count; i++) {
        const tw__step *member = &c->plan->steps[c->members[i]];
        for (int k = 0; k < member->input_count; k++)
            inside += member->inputs[k] == place;
    }
    return inside == c->uses.reads[place];
}

/* Members are steps of rising number; the root is the last. */
static void gather(chain *c, int root)
{
    const tw__plan *plan = c->plan;
    const tw__place *last = &plan->places[plan->steps[root].outputs[0]];
    int64_t count = tw__place_count(plan, plan->steps[root].outputs[0]);
    c->member_count = 1;
    c->members[0] = root;
    for (bool grown = true; grown && c->member_count < MOST_LOOPS;) {
        grown = false;
        for (int i = 0; i < c->member_count && !grown; i++) {
            const tw__step *member = &c->plan->steps[c->members[i]];
            for (int k = 0; k < member->input_count && !grown; k++) {
                int maker = c->uses.maker[member->inputs[k]];
                if (maker < 0 || is_member(c, maker) || !is_loop(plan, &plan->steps[maker], last->dtype))
                    continue;
                const tw__step *step = &plan->steps[maker];
                if (tw__shape_equal(&plan->places[step->outputs[0]].shape, &last->shape) && inputs_fit(plan, step, count) &&
                    used_inside_only(c, maker)) {
                    c->members[c->member_count++] = maker;
                    grown = true;
                }
            }
        }
    }
    for (int i = 1; i < c->member_count; i++) { /* in order: few, so insertion will do */
        int step = c->members[i], k = i;
        for (; k > 0 && c->members[k - 1] > step; k--)
            c->members[k] = c->members[k - 1];
        c->members[k] = step;
    }
}

/* ---- making the fused step ---- */

static int find_input(int32_t *places, int *count, int32_t place)
{
    for (int i = 0; i < *count; i++) {
        if (places[i] == place)
            return i;
    }
    if (*count == MOST_INPUTS)
        return -1;
    places[(*count)++] = place;
    return *count - 1;
}

static bool make_loops(const chain *c, tw__fused *fused, int32_t *places, int *input_count)
{
    int temporary_of[MOST_LOOPS], last_use[MOST_LOOPS];
    bool busy[MOST_TEMPORARIES] = { false };
    const tw__plan *plan = c->plan;
    int32_t result = plan->steps[c->members[c->member_count - 1]].outputs[0];
    int64_t count = tw__place_count(plan, result);
    tw_dtype dtype = plan->places[result].dtype;
    for (int i = 0; i < c->member_count; i++) {
        last_use[i] = i;
        for (int k = i + 1; k < c->member_count; k++) {
            for (int n = 0; n < plan->steps[c->members[k]].input_count; n++) {
                if (plan->steps[c->members[k]].inputs[n] == plan->steps[c->members[i]].outputs[0])
                    last_use[i] = k;
            }
        }
    }
    for (int i = 0; i < c->member_count; i++) {
        const tw__step *step = &plan->steps[c->members[i]];
        loop *l = &fused->loops[fused->loop_count++];
        bool single[2] = { false, false };
        for (int k = 0; k < step->input_count; k++) {
            source *from = k == 0 ? &l->x : &l->y;
            int member = 0;
            while (member < i && plan->steps[c->members[member]].outputs[0] != step->inputs[k])
                member++;
            if (member < i) {
                *from = (source){ FROM_TEMPORARY, temporary_of[member] };
                continue;
            }
            int input = find_input(places, input_count, step->inputs[k]);
            if (input < 0)
                return false;
            int64_t own = tw__place_count(plan, step->inputs[k]);
            *from = (source){ FROM_INPUT, input };
            fused->whole[input] = own == count;
            single[k] = own != count;
        }
        const tw_op *op = step->op;
        size_t used = strlen(fused->label);
        snprintf(fused->label + used, sizeof fused->label - used, "%s%s", i ? " " : "", op->name);
        if (op->unary) {
            l->unary = op->unary->loops[dtype];
            fused->slow |= op->unary->slow;
            if (single[0])
                return false;
        } else {
            l->binary = op->binary->loops[dtype];
            fused->slow |= op->binary->slow;
            l->row = single[0] ? TW_ROW_X_SCALAR : single[1] ? TW_ROW_Y_SCALAR : TW_ROW_BOTH;
            if (single[0] && single[1])
                return false;
        }
        for (int k = 0; k < i; k++) { /* a loop may write where it reads: what ends here is free for its result */
            if (last_use[k] == i)
                busy[temporary_of[k]] = false;
        }
        if (i == c->member_count - 1) {
            l->z = (source){ TO_OUTPUT, 0 };
        } else {
            int t = 0;
            while (t < MOST_TEMPORARIES && busy[t])
                t++;
            if (t == MOST_TEMPORARIES)
                return false;
            busy[t] = true;
            temporary_of[i] = t;
            l->z = (source){ FROM_TEMPORARY, t };
        }
    }
    fused->element = tw_dtype_size(dtype);
    return true;
}

static tw_status fuse(chain *c)
{
    int32_t places[MOST_INPUTS];
    int input_count = 0;
    tw__fused *fused = tw__alloc_zero(sizeof *fused);
    if (!fused)
        return TW_RESOURCE_EXHAUSTED;
    if (!make_loops(c, fused, places, &input_count)) {
        tw__free(fused);
        return TW_OK;
    }
    tw__step *root = &c->plan->steps[c->members[c->member_count - 1]];
    if (tw__step_set_inputs(root, places, input_count) != TW_OK) {
        tw__free(fused);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; i < c->member_count - 1; i++)
        tw__step_remove(&c->plan->steps[c->members[i]]);
    root->overwrites = 0;
    for (int i = 0; i < input_count; i++)
        root->overwrites |= fused->whole[i] ? 1u << i : 0;
    tw__step_set_run(root, run, fused, tw__free, fused->label);
    return TW_OK;
}

tw_status tw__pass_fuse(tw__plan *plan)
{
    chain c = { .plan = plan };
    TW_TRY(tw__uses_find(plan, &c.uses));
    tw_status status = TW_OK;
    for (int s = plan->step_count; status == TW_OK && s-- > 0;) {
        const tw__step *step = &plan->steps[s];
        if (step->output_count != 1 || !is_loop(plan, step, plan->places[step->outputs[0]].dtype) ||
            !inputs_fit(plan, step, tw__place_count(plan, step->outputs[0])))
            continue;
        gather(&c, s);
        if (c.member_count > 1)
            status = fuse(&c);
    }
    tw__uses_free(&c.uses);
    return status;
}

/* ---- running ---- */

typedef struct work {
    const tw__fused *fused;
    tw_tensor *const *inputs;
    int input_count;
    char *output;
    int64_t count;
    bool streamed; /* see stream.h */
} work;

/* Between the loops, a share of the next tile each: all at once would make the memory's queue overflow. */
static void ask_for_next(const work *w, size_t offset, int loop_number)
{
    const tw__fused *fused = w->fused;
    size_t bytes = TILE * fused->element, share = (bytes / (size_t)fused->loop_count + 63) & ~(size_t)63;
    size_t begin = share * (size_t)loop_number, end = begin + share < bytes ? begin + share : bytes;
    for (int k = 0; k < w->input_count; k++) {
        if (fused->whole[k] && begin < end)
            tw__prefetch((const char *)w->inputs[k]->data + offset + begin, end - begin);
    }
}

static void run_tiles(void *context, int64_t first, int64_t last)
{
    const work *w = context;
    int64_t begin = first * TILE, end = last * TILE < w->count ? last * TILE : w->count;
    const tw__fused *fused = w->fused;
    _Alignas(TW_TILE_ALIGNMENT) char temporaries[MOST_TEMPORARIES + 1][TILE * sizeof(double)];
    size_t element = fused->element;
    for (int64_t at = begin; at < end; at += TILE) {
        int64_t count = end - at < TILE ? end - at : TILE;
        size_t offset = (size_t)at * element;
        for (int i = 0; i < fused->loop_count; i++) {
            const loop *l = &fused->loops[i];
            const void *from[2];
            for (int k = 0; k < (l->unary ? 1 : 2); k++) {
                source s = k == 0 ? l->x : l->y;
                from[k] = s.kind == FROM_TEMPORARY ? temporaries[s.index]
                                                   : (const char *)w->inputs[s.index]->data + (fused->whole[s.index] ? offset : 0);
            }
            void *to = l->z.kind == FROM_TEMPORARY ? temporaries[l->z.index] : w->streamed ? temporaries[MOST_TEMPORARIES] : w->output + offset;
            if (l->unary)
                l->unary(from[0], to, count);
            else
                l->binary(from[0], from[1], to, count, l->row);
            if (w->streamed && at + 2 * TILE <= w->count)
                ask_for_next(w, offset + TILE * element, i);
        }
        if (w->streamed)
            tw__stream(w->output + offset, temporaries[MOST_TEMPORARIES], (size_t)count * element);
    }
    if (w->streamed)
        tw__stream_end();
}

static tw_status run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    const tw__fused *fused = step->data;
    tw_tensor *output = outputs[0];
    work w = { fused, inputs, step->input_count, output->data, output->count, tw__streams(output->data, output->count * (int64_t)fused->element) };
    int64_t tiles = (output->count + TILE - 1) / TILE;
    if (tiles == 1)
        run_tiles(&w, 0, 1);
    else
        tw__parallel(tiles, fused->slow ? 8 : 32, run_tiles, &w);
    return TW_OK;
}
