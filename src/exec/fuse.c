/* Elementwise fusion: a chain such as tanh(a * x + b) + relu(x) as one step.
 *
 * Each op of the chain is a loop over elements (kernel/kernel.h). Run one after the other over the whole arrays, each would write its
 * result to memory and the next read it back. Here all loops run on a tile of a thousand elements before the next tile is touched, so that
 * inner results stay in the first-level cache: one read of each input, one write of the result.
 *
 * A step joins the step that uses its value if that is its only user, the shape is known and the same, and its other inputs have that
 * shape or one element. Values of float and double only: integer loops have checks around them. */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "exec/internal.h"
#include "kernel/kernel.h"

enum { MOST_LOOPS = 24, MOST_INPUTS = 12, MOST_TEMPORARIES = 6, TILE = 1024 };

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
} tw__fused;

/* ---- finding chains ---- */

typedef struct chain {
    tw__plan *plan;
    int32_t *maker;    /* by place: the step that makes it, or -1 */
    int32_t *users;    /* by place: how many inputs read it; outputs of the plan count too */
    int members[MOST_LOOPS];
    int member_count;
} chain;

static bool is_loop(const tw__step *step, tw_dtype dtype)
{
    const tw__node *node = step->node;
    if (!step->known || step->fused || node->output_count != 1 || node->out_dtypes[0] != dtype)
        return false;
    if (dtype != TW_FLOAT32 && dtype != TW_FLOAT64)
        return false;
    for (int k = 0; k < node->input_count; k++) {
        const tw__edge *edge = &node->inputs[k];
        if (edge->node->out_dtypes[edge->output] != dtype)
            return false;
    }
    if (node->op->unary)
        return node->op->unary->loops[dtype] && !node->op->unary->gives_bool;
    return node->op->binary && node->op->binary->loops[dtype] && !node->op->binary->gives_bool;
}

static int64_t count_of(const tw_shape *shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dims[i];
    return count;
}

/* An input is whole (the output's shape but for leading ones) or a single element. */
static bool fits(const tw__node *node, int input, int64_t count)
{
    const tw__edge *edge = &node->inputs[input];
    const tw_shape *shape = &edge->node->out_shapes[edge->output];
    if (!tw__shape_known(shape))
        return false;
    int64_t own = count_of(shape);
    return own == count || own == 1;
}

static bool inputs_fit(const tw__node *node, int64_t count)
{
    for (int k = 0; k < node->input_count; k++) {
        if (!fits(node, k, count))
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
    int32_t place = c->plan->steps[step].first_output;
    int inside = 0;
    for (int i = 0; i < c->member_count; i++) {
        const tw__step *member = &c->plan->steps[c->members[i]];
        for (int k = 0; k < member->input_count; k++)
            inside += member->inputs[k] == place;
    }
    return inside == c->users[place];
}

/* Members are steps of rising number; the root is the last. */
static void gather(chain *c, int root)
{
    const tw__node *last = c->plan->steps[root].node;
    int64_t count = count_of(&last->out_shapes[0]);
    c->member_count = 1;
    c->members[0] = root;
    for (bool grown = true; grown && c->member_count < MOST_LOOPS;) {
        grown = false;
        for (int i = 0; i < c->member_count && !grown; i++) {
            const tw__step *member = &c->plan->steps[c->members[i]];
            for (int k = 0; k < member->input_count && !grown; k++) {
                int maker = c->maker[member->inputs[k]];
                if (maker < 0 || is_member(c, maker) || !is_loop(&c->plan->steps[maker], last->out_dtypes[0]))
                    continue;
                const tw__node *node = c->plan->steps[maker].node;
                if (tw__shape_equal(&node->out_shapes[0], &last->out_shapes[0]) && inputs_fit(node, count) && used_inside_only(c, maker)) {
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
    const tw__node *root = plan->steps[c->members[c->member_count - 1]].node;
    int64_t count = count_of(&root->out_shapes[0]);
    tw_dtype dtype = root->out_dtypes[0];
    for (int i = 0; i < c->member_count; i++) {
        last_use[i] = i;
        for (int k = i + 1; k < c->member_count; k++) {
            for (int n = 0; n < plan->steps[c->members[k]].input_count; n++) {
                if (plan->steps[c->members[k]].inputs[n] == plan->steps[c->members[i]].first_output)
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
            while (member < i && plan->steps[c->members[member]].first_output != step->inputs[k])
                member++;
            if (member < i) {
                *from = (source){ FROM_TEMPORARY, temporary_of[member] };
                continue;
            }
            int input = find_input(places, input_count, step->inputs[k]);
            if (input < 0)
                return false;
            const tw__edge *edge = &step->node->inputs[k];
            int64_t own = count_of(&edge->node->out_shapes[edge->output]);
            *from = (source){ FROM_INPUT, input };
            fused->whole[input] = own == count;
            single[k] = own != count;
        }
        const tw_op *op = step->node->op;
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
    int32_t *inputs = tw__alloc_array((size_t)input_count + 1, sizeof *inputs);
    if (!inputs) {
        tw__free(fused);
        return TW_RESOURCE_EXHAUSTED;
    }
    memcpy(inputs, places, (size_t)input_count * sizeof *inputs);
    for (int i = 0; i < c->member_count - 1; i++) {
        tw__step *gone = &c->plan->steps[c->members[i]];
        tw__free(gone->inputs);
        gone->inputs = NULL;
        gone->input_count = 0;
    }
    tw__step *root = &c->plan->steps[c->members[c->member_count - 1]];
    tw__free(root->inputs);
    root->inputs = inputs;
    root->input_count = input_count;
    root->fused = fused;
    return TW_OK;
}

tw_status tw__pass_fuse(tw__plan *plan)
{
    chain c = { .plan = plan };
    c.maker = tw__alloc_array((size_t)plan->place_count + 1, sizeof *c.maker);
    c.users = tw__alloc_array((size_t)plan->place_count + 1, sizeof *c.users);
    tw_status status = c.maker && c.users ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int32_t p = 0; status == TW_OK && p < plan->place_count; p++)
        c.maker[p] = -1;
    for (int s = 0; status == TW_OK && s < plan->step_count; s++) {
        for (int k = 0; k < plan->steps[s].node->output_count; k++)
            c.maker[plan->steps[s].first_output + k] = s;
        for (int k = 0; k < plan->steps[s].input_count; k++)
            c.users[plan->steps[s].inputs[k]]++;
    }
    for (int k = 0; status == TW_OK && k < plan->output_count; k++)
        c.users[plan->outputs[k]]++;
    for (int s = plan->step_count; status == TW_OK && s-- > 0;) {
        const tw__step *step = &plan->steps[s];
        if (!step->inputs || !is_loop(step, step->node->output_count == 1 ? step->node->out_dtypes[0] : TW_DTYPE_NONE) ||
            !inputs_fit(step->node, count_of(&step->node->out_shapes[0])))
            continue;
        gather(&c, s);
        if (c.member_count > 1)
            status = fuse(&c);
    }
    int kept = 0;
    for (int s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].inputs)
            plan->steps[kept++] = plan->steps[s];
    }
    plan->step_count = kept;
    tw__free(c.maker);
    tw__free(c.users);
    return status;
}

/* ---- running ---- */

/* Results far larger than the caches: written past them, so that memory is not read first only to be overwritten. */
static const int64_t stream_from = (int64_t)8 << 20;

static void stream(char *to, const char *from, size_t size)
{
    size_t done = 0;
#ifdef __SSE2__
    for (; done + 64 <= size; done += 64) {
        for (size_t k = 0; k < 64; k += 16)
            _mm_stream_si128((__m128i *)(to + done + k), _mm_load_si128((const __m128i *)(from + done + k)));
    }
#endif
    memcpy(to + done, from + done, size - done);
}

typedef struct work {
    const tw__fused *fused;
    tw_tensor *const *inputs;
    char *output;
    int64_t count;
    bool streamed;
} work;

static void run_tiles(void *context, int64_t first, int64_t last)
{
    const work *w = context;
    int64_t begin = first * TILE, end = last * TILE < w->count ? last * TILE : w->count;
    const tw__fused *fused = w->fused;
    _Alignas(64) char temporaries[MOST_TEMPORARIES + 1][TILE * sizeof(double)];
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
        }
        if (w->streamed)
            stream(w->output + offset, temporaries[MOST_TEMPORARIES], (size_t)count * element);
    }
#ifdef __SSE2__
    if (w->streamed)
        _mm_sfence();
#endif
}

void tw__fused_run(const tw__fused *fused, tw_tensor *const *inputs, tw_tensor *output)
{
    bool streamed = (uintptr_t)output->data % 16 == 0 && output->count * (int64_t)fused->element >= stream_from;
    work w = { fused, inputs, output->data, output->count, streamed };
    int64_t tiles = (output->count + TILE - 1) / TILE;
    if (tiles == 1)
        run_tiles(&w, 0, 1);
    else
        tw__parallel(tiles, fused->slow ? 8 : 32, run_tiles, &w);
}
