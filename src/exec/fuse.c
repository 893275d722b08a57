/* Elementwise fusion: a chain such as tanh(a * x + b) + relu(x), or mean((a - b)²), as one step.
 *
 * Each op of the chain is a loop over elements (kernel/kernel.h). Run one after the other over the whole arrays, each would write
 * its result to memory and the next read it back. Here all loops run on a tile of a thousand elements before the next tile is
 * touched, so that inner results stay in the first-level cache: one read of each input, one write of the result (fuse_run.c).
 *
 * A step joins the step that uses its value if that is its only user, the shape is known and the same, and its other inputs have
 * that shape, or one element, or repeat along leading or trailing dimensions (a bias, a row's maximum). A reduction of the result
 * joins as the last member; if others read the result too, it is kept beside. Values of float and double only: integer loops have
 * checks around them. */
#include <stdio.h>

#include "exec/fuse.h"
#include "op/math/reduce.h"
#include "rows.h"

enum { VECTOR = 64 };
static const int64_t split_elements = 262144, columns_for_threads = 512; /* see kernel/reduce/reduce.c */

typedef struct chain {
    tw__plan *plan;
    tw__uses uses;
    int members[TW_FUSED_LOOPS];
    int member_count;
} chain;

/* ---- finding chains ---- */

static bool is_plain(const tw__plan *plan, const tw__step *step, tw_dtype dtype)
{
    return step->known && !step->run && !step->data && !step->gone && step->output_count == 1 &&
           plan->places[step->outputs[0]].dtype == dtype && (dtype == TW_FLOAT32 || dtype == TW_FLOAT64);
}

static bool is_loop(const tw__plan *plan, const tw__step *step, tw_dtype dtype)
{
    const tw_op *op = step->op;
    if (!is_plain(plan, step, dtype))
        return false;
    for (int k = 0; k < step->input_count; k++) {
        if (plan->places[step->inputs[k]].dtype != dtype)
            return false;
    }
    if (op->unary)
        return op->unary->loops[dtype] && !op->unary->gives_bool;
    return op->binary && op->binary->loops[dtype] && !op->binary->gives_bool;
}

/* Loops that round each element correctly: it is the same wherever rows begin and end. */
static bool is_exact(const tw_op *op)
{
    static const tw__binary *const exact[] = {
        &tw__binary_add,     &tw__binary_subtract, &tw__binary_multiply,          &tw__binary_divide,
        &tw__binary_maximum, &tw__binary_minimum,  &tw__binary_squared_difference
    };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        if (op->binary == exact[i])
            return true;
    }
    return false;
}

/* How the input's elements stand to those of the result; false if in none of the three ways. */
static bool find_pattern(const tw_shape *result, const tw_shape *input, tw__fused_input *pattern)
{
    int shift = result->rank - input->rank;
    bool ended = false;
    *pattern = (tw__fused_input){ .kind = TW_INPUT_SINGLE, .run = 1, .period = 1 };
    for (int i = result->rank - 1; i >= 0; i--) {
        int64_t dim = result->dims[i], own = i >= shift ? input->dims[i - shift] : 1;
        if (dim == 1)
            continue;
        if (own == 1 && pattern->period == 1) {
            if (__builtin_mul_overflow(pattern->run, dim, &pattern->run))
                return false;
        } else if (own == 1) {
            ended = true;
        } else if (own != dim || ended || __builtin_mul_overflow(pattern->period, dim, &pattern->period)) {
            return false;
        }
    }
    if (pattern->period > 1)
        pattern->kind = pattern->run == 1 && !ended ? TW_INPUT_WHOLE : TW_INPUT_REPEATED;
    return true;
}

static bool inputs_fit(const tw__plan *plan, const tw__step *step)
{
    const tw_shape *result = &plan->places[step->outputs[0]].shape;
    for (int k = 0; k < step->input_count; k++) {
        tw__fused_input pattern;
        const tw_shape *shape = &plan->places[step->inputs[k]].shape;
        if (!tw__shape_known(shape) || shape->rank > result->rank || !find_pattern(result, shape, &pattern) ||
            (pattern.kind == TW_INPUT_REPEATED && !is_exact(step->op)))
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
    c->member_count = 1;
    c->members[0] = root;
    for (bool grown = true; grown && c->member_count < TW_FUSED_LOOPS;) {
        grown = false;
        for (int i = 0; i < c->member_count && !grown; i++) {
            const tw__step *member = &c->plan->steps[c->members[i]];
            for (int k = 0; k < member->input_count && !grown; k++) {
                int maker = c->uses.maker[member->inputs[k]];
                if (maker < 0 || is_member(c, maker) || !is_loop(plan, &plan->steps[maker], last->dtype))
                    continue;
                const tw__step *step = &plan->steps[maker];
                if (tw__shape_equal(&plan->places[step->outputs[0]].shape, &last->shape) && inputs_fit(plan, step) &&
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

static int find_input(tw__fused *fused, int32_t *places, const tw__plan *plan, int32_t place)
{
    for (int i = 0; i < fused->input_count; i++) {
        if (places[i] == place)
            return i;
    }
    tw__fused_input pattern;
    if (fused->input_count == TW_FUSED_INPUTS || !find_pattern(&fused->shape, &plan->places[place].shape, &pattern))
        return -1;
    if (pattern.kind == TW_INPUT_REPEATED) {
        if (fused->repeated_count == TW_FUSED_REPEATED)
            return -1;
        pattern.spread = fused->repeated_count++;
        pattern.scalar = pattern.run > 1;
    }
    fused->inputs[fused->input_count] = pattern;
    places[fused->input_count] = place;
    return fused->input_count++;
}

static void add_label(tw__fused *fused, const tw_op *op)
{
    size_t used = strlen(fused->label);
    snprintf(fused->label + used, sizeof fused->label - used, "%s%s", used ? " " : "", op->name);
}

/* The op's loop. `single`: the operand is one number for all. False: there is none for these. */
static bool set_loop(tw__fused *fused, tw__fused_loop *l, const tw_op *op, const bool *single)
{
    add_label(fused, op);
    l->slow = op->unary ? op->unary->slow : op->binary->slow;
    fused->slow_count += l->slow;
    if (op->unary) {
        l->unary = op->unary->loops[fused->dtype];
        return !single[0];
    }
    l->binary = op->binary->loops[fused->dtype];
    l->row = single[0] ? TW_ROW_X_SCALAR : single[1] ? TW_ROW_Y_SCALAR : TW_ROW_BOTH;
    if (l->x.kind == TW_FROM_INPUT && l->y.kind == TW_FROM_INPUT) {
        tw__fused_input *x = &fused->inputs[l->x.index], *y = &fused->inputs[l->y.index];
        x->scalar &= y->kind == TW_INPUT_WHOLE;
        y->scalar &= x->kind == TW_INPUT_WHOLE;
    }
    return !single[0] || !single[1];
}

static bool make_loops(const chain *c, tw__fused *fused, int32_t *places)
{
    int temporary_of[TW_FUSED_LOOPS], last_use[TW_FUSED_LOOPS];
    bool busy[TW_FUSED_TEMPORARIES] = { false };
    const tw__plan *plan = c->plan;
    int32_t result = plan->steps[c->members[c->member_count - 1]].outputs[0];
    fused->count = tw__place_count(plan, result);
    fused->shape = plan->places[result].shape;
    fused->dtype = plan->places[result].dtype;
    fused->element = tw_dtype_size(fused->dtype);
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
        tw__fused_loop *l = &fused->loops[fused->loop_count++];
        bool single[2] = { false, false };
        for (int k = 0; k < step->input_count; k++) {
            tw__fused_source *from = k == 0 ? &l->x : &l->y;
            int member = 0;
            while (member < i && plan->steps[c->members[member]].outputs[0] != step->inputs[k])
                member++;
            if (member < i) {
                *from = (tw__fused_source){ TW_FROM_TEMPORARY, temporary_of[member] };
                continue;
            }
            int input = find_input(fused, places, plan, step->inputs[k]);
            if (input < 0)
                return false;
            *from = (tw__fused_source){ TW_FROM_INPUT, input };
            single[k] = fused->inputs[input].kind == TW_INPUT_SINGLE && fused->count != 1;
        }
        if (!set_loop(fused, l, step->op, single))
            return false;
        for (int k = 0; k < i; k++) { /* a loop may write where it reads: what ends here is free for its result */
            if (last_use[k] == i)
                busy[temporary_of[k]] = false;
        }
        if (i == c->member_count - 1) {
            l->z = (tw__fused_source){ TW_TO_RESULT, 0 };
        } else {
            int t = 0;
            while (t < TW_FUSED_TEMPORARIES && busy[t])
                t++;
            if (t == TW_FUSED_TEMPORARIES)
                return false;
            busy[t] = true;
            temporary_of[i] = t;
            l->z = (tw__fused_source){ TW_FROM_TEMPORARY, t };
        }
    }
    return true;
}

/* ---- reductions at the end ---- */

static bool find_reduction(const tw_op *op, tw__reduction *kind)
{
    static const struct {
        const tw_op *op;
        tw__reduction kind;
    } all[] = { { &tw__op_Sum, TW__REDUCE_SUM }, { &tw__op_Mean, TW__REDUCE_MEAN }, { &tw__op_Max, TW__REDUCE_MAX },
                { &tw__op_Min, TW__REDUCE_MIN }, { &tw__op_Prod, TW__REDUCE_PROD }, { &tw__op_EuclideanNorm, TW__REDUCE_NORM } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (op == all[i].op) {
            *kind = all[i].kind;
            return true;
        }
    }
    return false;
}

/* The step that makes what this one reduces, if the two can be one; else -1. */
static int reduced_step(const chain *c, const tw__step *step, tw__reduction *kind)
{
    const tw__plan *plan = c->plan;
    if (!find_reduction(step->op, kind) || !is_plain(plan, step, plan->places[step->outputs[0]].dtype) ||
        !plan->places[step->inputs[1]].constant)
        return -1;
    int maker = c->uses.maker[step->inputs[0]];
    return maker >= 0 && is_loop(plan, &plan->steps[maker], plan->places[step->outputs[0]].dtype) &&
                   inputs_fit(plan, &plan->steps[maker])
               ? maker
               : -1;
}

/* Columns are few tasks unless there are many of them, where the loops alone would use all threads. */
static bool uses_threads(const tw__fused *fused)
{
    int64_t columns = 1;
    for (int i = fused->shape.rank - 1; i >= 0 && !(fused->axes >> i & 1); i--)
        columns *= fused->shape.dims[i];
    return columns == 1 || columns >= columns_for_threads || fused->count < 2 * tw__fused_grain(fused) ||
           (fused->count >= split_elements && columns <= 256);
}

/* The kept values are written row by row, each once and from its own place alone. */
static bool rows_are_tiles(const tw__fused *fused)
{
    int rank = fused->shape.rank;
    return fused->axes == 1u << (rank - 1) && fused->shape.dims[rank - 1] % VECTOR == 0;
}

/* The root's place in the list is where all of it runs: the reduction, if there is one, needs nothing else. */
static tw_status fuse(chain *c, tw__step *reduce, tw__reduction kind)
{
    int32_t places[TW_FUSED_INPUTS], outputs[2];
    tw__plan *plan = c->plan;
    tw__step *root = &plan->steps[c->members[c->member_count - 1]];
    tw__fused *fused = tw__alloc_zero(sizeof *fused);
    TW_NEED(fused);
    bool good = make_loops(c, fused, places);
    if (good && reduce) {
        fused->reduces = true;
        fused->reduction = kind;
        fused->keeps = c->uses.reads[root->outputs[0]] > 1;
        add_label(fused, reduce->op);
        if (tw__reduced_axes(plan->places[reduce->inputs[1]].constant, fused->shape.rank, &fused->axes) != TW_OK) {
            tw_clear_error(); /* it is reported when the call is really made */
            good = false;
        } else {
            good = fused->axes && uses_threads(fused);
        }
    }
    if (!good) {
        tw__free(fused);
        return TW_OK;
    }
    outputs[0] = root->outputs[0];
    outputs[fused->keeps] = reduce ? reduce->outputs[0] : root->outputs[0];
    if (tw__step_set_inputs(root, places, fused->input_count) != TW_OK ||
        tw__step_set_outputs(root, outputs, 1 + fused->keeps) != TW_OK) {
        tw__free(fused);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; i < c->member_count - 1; i++)
        tw__step_remove(&plan->steps[c->members[i]]);
    root->overwrites = 0;
    for (int i = 0; i < fused->input_count && (!reduce || (fused->keeps && rows_are_tiles(fused))); i++)
        root->overwrites |= fused->inputs[i].kind == TW_INPUT_WHOLE ? 1u << i : 0;
    if (reduce) {
        root->node = reduce->node;
        root->name = reduce->name;
        tw__step_remove(reduce);
    }
    tw__step_set_run(root, tw__fused_run, fused, tw__free, fused->label);
    return TW_OK;
}

tw_status tw__pass_fuse(tw__plan *plan)
{
    chain c = { .plan = plan };
    TW_TRY(tw__uses_find(plan, &c.uses));
    tw_status status = TW_OK;
    for (int s = plan->step_count; status == TW_OK && s-- > 0;) {
        tw__step *step = &plan->steps[s];
        tw__reduction kind;
        if (step->output_count != 1 || step->gone)
            continue;
        int reduced = reduced_step(&c, step, &kind);
        if (reduced >= 0) {
            gather(&c, reduced);
            status = fuse(&c, step, kind);
        } else if (is_loop(plan, step, plan->places[step->outputs[0]].dtype) && inputs_fit(plan, step)) {
            gather(&c, s);
            if (c.member_count > 1)
                status = fuse(&c, NULL, TW__REDUCE_SUM);
        }
    }
    tw__uses_free(&c.uses);
    return status;
}
