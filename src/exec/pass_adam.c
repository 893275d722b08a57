/* Adam, joined: the dozen calls per variable that a traced Keras optimizer makes become one pass over memory, and the passes of
 * all variables one step. So do calls of ResourceApplyAdam, which are such a pass each.
 *
 *     r1 = Read(m)   AssignAdd(m, (g - r1) * c1)      r2 = Read(v)   AssignAdd(v, (Square(g) - r2) * c2)
 *     r3 = Read(m)   r4 = Read(v)                     AssignSub(w, r3 * alpha / (Sqrt(r4) + epsilon))
 *
 * The calls are recognised by what they are, so a graph from a file gets the same. They are joined where the AssignSub stands, if
 * nothing of them is read elsewhere and nothing between them can see the variables; two such steps are joined if nothing between
 * them can. A gradient that is a matrix product and read by nobody else is joined too: pieces of it are used as they are made.
 * When a run finds something else than was expected (one variable in two places, or one without a value), it makes the calls one
 * by one. */
#include <math.h>
#include <stdlib.h>

#include "exec/plain.h"
#include "exec/updates.h"
#include "kernel/adam.h"
#include "op/resource.h"
#include "rows.h"

/* The inputs of one variable's update. A gradient that is a product is given by its two sides, else OTHER is GRADIENT again. Then
 * the numbers: of Keras's step, or those of ResourceApplyAdam in its order. */
enum { WEIGHT, FIRST, SECOND, GRADIENT, OTHER, NUMBERS, INPUTS = NUMBERS + 6 };
enum { ALPHA = NUMBERS, REST_1, REST_2, EPSILON };
enum { BETA_1_POWER = NUMBERS, BETA_2_POWER, RATE, BETA_1, BETA_2, OP_EPSILON };
enum { MEMBERS = 17 };
typedef enum kind { PLAIN, PRODUCT, PRODUCT_TRANSPOSED } kind; /* of gradient */

typedef struct match {
    tw__plan *plan;
    tw__uses uses;
    int32_t inputs[INPUTS];
    int members[MEMBERS];
    int member_count;
    kind kind;
    bool is_op;
} match;

typedef struct update {
    kind kind;
    bool is_op;    /* ResourceApplyAdam */
    int32_t value; /* the gradient's place: shape and dtype are the variable's */
    tw__plain *plain;
} update;

typedef struct updates {
    int count;
    update each[]; /* variable */
} updates;

/* ---- running ---- */

static void updates_free(void *data)
{
    tw__owned updates *all = data;
    for (int i = 0; i < all->count; i++)
        tw__plain_free(all->each[i].plain);
}

/* ResourceApplyAdam computes with numbers of the dtype. */
static tw__adam numbers_of_op(tw_dtype dtype, tw_tensor *const *inputs)
{
    double n[6];
    for (int k = 0; k < 6; k++)
        n[k] = tw_tensor_double_at(inputs[NUMBERS + k], 0);
    if (dtype == TW_FLOAT64)
        return (tw__adam){ n[2] * sqrt(1 - n[1]) / (1 - n[0]), 1 - n[3], 1 - n[4], n[5] };
    float alpha = (float)n[2] * sqrtf(1 - (float)n[1]) / (1 - (float)n[0]);
    return (tw__adam){ (double)alpha, (double)(1 - (float)n[3]), (double)(1 - (float)n[4]), n[5] };
}

static tw__adam numbers_of(const update *now, tw_tensor *const *inputs)
{
    if (now->is_op)
        return numbers_of_op(inputs[GRADIENT]->dtype, inputs);
    return (tw__adam){ tw_tensor_double_at(inputs[ALPHA], 0), tw_tensor_double_at(inputs[REST_1], 0),
                       tw_tensor_double_at(inputs[REST_2], 0), tw_tensor_double_at(inputs[EPSILON], 0) };
}

static tw_status run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    const updates *all = step->data;
    (void)outputs;
    for (int i = 0; i < all->count; i++, inputs += INPUTS) {
        tw__resource *slots[3];
        for (int k = 0; k < 3; k++) {
            slots[k] = tw__resource_of(inputs[WEIGHT + k]);
            if (!slots[k])
                return TW_INVALID_ARGUMENT;
        }
        const update *now = &all->each[i];
        bool transposed = now->kind == PRODUCT_TRANSPOSED;
        tw__adam numbers = numbers_of(now, inputs);
        if (now->kind == PLAIN && tw__adam_fits(slots, 3, inputs[GRADIENT]))
            TW_TRY(tw__adam_update(slots, 3, inputs[GRADIENT], &numbers));
        else if (now->kind != PLAIN && tw__adam_fits_product(slots, 3, inputs[GRADIENT], inputs[OTHER], transposed))
            TW_TRY(tw__adam_update_product(slots, inputs[GRADIENT], inputs[OTHER], transposed, &numbers));
        else
            TW_TRY(tw__plain_run(now->plain, inputs, NULL));
    }
    return TW_OK;
}

/* ---- finding the calls of one variable ---- */

/* The step makes the place, is a plain call of that op, and only one input reads it: it becomes a member. */
static const tw__step *member(match *m, int32_t place, const tw_op *op)
{
    int maker = m->uses.maker[place];
    const tw__step *step = maker < 0 ? NULL : &m->plan->steps[maker];
    if (!step || step->op != op || step->run || step->data || step->gone || m->uses.reads[place] != 1 ||
        m->member_count == MEMBERS)
        return NULL;
    m->members[m->member_count++] = maker;
    return step;
}

static bool is_scalar(const match *m, int32_t place)
{
    return m->plan->places[place].shape.rank == 0;
}

/* x op scalar, in either order. */
static bool by_scalar(const match *m, const tw__step *step, int32_t *x, int32_t *scalar)
{
    int at = is_scalar(m, step->inputs[1]) ? 1 : 0;
    *scalar = step->inputs[at];
    *x = step->inputs[1 - at];
    return is_scalar(m, *scalar);
}

/* AssignSub(w, Read(m) * alpha / (Sqrt(Read(v)) + epsilon)) */
static bool match_end(match *m, int at)
{
    const tw__step *end = &m->plan->steps[at], *part;
    int32_t under, over, root;
    m->members[m->member_count++] = at;
    m->inputs[WEIGHT] = end->inputs[0];
    if (!(part = member(m, end->inputs[1], &tw__op_RealDiv)))
        return false;
    over = part->inputs[0];
    under = part->inputs[1];
    int32_t first, second;
    if (!(part = member(m, over, &tw__op_Mul)) || !by_scalar(m, part, &first, &m->inputs[ALPHA]) ||
        !(part = member(m, first, &tw__op_ReadVariableOp)))
        return false;
    m->inputs[FIRST] = part->inputs[0];
    if (!(part = member(m, under, &tw__op_AddV2)) || !by_scalar(m, part, &root, &m->inputs[EPSILON]) ||
        !(part = member(m, root, &tw__op_Sqrt)))
        return false;
    second = part->inputs[0];
    if (!(part = member(m, second, &tw__op_ReadVariableOp)))
        return false;
    m->inputs[SECOND] = part->inputs[0];
    return true;
}

/* AssignAdd(variable, (x - Read(variable)) * rest), x being the gradient or its square */
static bool match_moment(match *m, int at, int variable, int rest)
{
    const tw__step *part = &m->plan->steps[at];
    int32_t place;
    if (part->run || part->data || m->member_count == MEMBERS)
        return false;
    m->members[m->member_count++] = at;
    if (!(part = member(m, part->inputs[1], &tw__op_Mul)) || !by_scalar(m, part, &place, &m->inputs[rest]) ||
        !(part = member(m, place, &tw__op_Sub)))
        return false;
    place = part->inputs[0];
    const tw__step *read = member(m, part->inputs[1], &tw__op_ReadVariableOp);
    if (!read || read->inputs[0] != m->inputs[variable])
        return false;
    if (variable == SECOND) {
        if (!(part = member(m, place, &tw__op_Square)))
            return false;
        place = part->inputs[0];
    }
    if (m->inputs[GRADIENT] >= 0 && m->inputs[GRADIENT] != place)
        return false;
    m->inputs[GRADIENT] = place;
    return true;
}

static bool is_member(const match *m, int at)
{
    for (int i = 0; i < m->member_count; i++) {
        if (m->members[i] == at)
            return true;
    }
    return false;
}

/* Finds the moments' updates before the end, and looks at what stands between. */
static bool match_rest(match *m, int end)
{
    bool first = false, second = false;
    m->inputs[GRADIENT] = -1;
    for (int at = end - 1; at >= 0; at--) {
        const tw__step *step = &m->plan->steps[at];
        bool adds = !step->gone && step->op->sums > 0 && !is_member(m, at);
        if (adds && !first && step->inputs[0] == m->inputs[FIRST]) {
            first = true;
            if (!match_moment(m, at, FIRST, REST_1))
                return false;
        } else if (adds && !second && step->inputs[0] == m->inputs[SECOND]) {
            second = true;
            if (!match_moment(m, at, SECOND, REST_2))
                return false;
        } else if (step->effects && !is_member(m, at) && !step->gone) {
            break;
        }
    }
    return first && second;
}

/* The gradient and both moments have one shape, which is known. */
static bool shapes_agree(const match *m, int32_t first, int32_t second)
{
    const tw_shape *shape = &m->plan->places[m->inputs[GRADIENT]].shape;
    return tw__shape_known(shape) && tw__shape_equal(shape, &m->plan->places[first].shape) &&
           tw__shape_equal(shape, &m->plan->places[second].shape);
}

/* Reads of the moments stand on the right sides of the assignments, and what else stands between the members sees none of it. The
 * members in the order of the matching: 0 end, 1 RealDiv, 2 Mul, 3 Read m, 4 AddV2, 5 Sqrt, 6 Read v, then the two assignments
 * with what they need. */
static bool order_is_right(const match *m, int end)
{
    int begin = end, assign[2] = { -1, -1 }, old[2] = { -1, -1 }, now[2] = { m->members[3], m->members[6] };
    for (int i = 0; i < m->member_count; i++) {
        int at = m->members[i];
        const tw__step *step = &m->plan->steps[at];
        int which = step->inputs[0] == m->inputs[SECOND];
        begin = at < begin ? at : begin;
        if (step->op->sums > 0)
            assign[which] = at;
        else if (step->op->role == TW_ROLE_READ && at != now[which])
            old[which] = at;
    }
    for (int which = 0; which < 2; which++) {
        if (old[which] < 0 || old[which] > assign[which] || assign[which] > now[which])
            return false;
    }
    if (!shapes_agree(m, m->plan->steps[now[0]].outputs[0], m->plan->steps[now[1]].outputs[0]))
        return false;
    for (int at = begin; at < end; at++) {
        if (!is_member(m, at) && !tw__step_is_blind(m->plan, &m->plan->steps[at], m->inputs[GRADIENT]))
            return false;
    }
    return true;
}

/* A gradient that is a product nobody else reads becomes part of the step: it need never lie in memory. */
static void match_product(match *m)
{
    int32_t place = m->inputs[GRADIENT];
    m->inputs[OTHER] = place;
    m->kind = PLAIN;
    int maker = m->uses.maker[place];
    const tw__step *step = maker < 0 ? NULL : &m->plan->steps[maker];
    if (!step || step->op != &tw__op_MatMul || step->run || step->data || step->gone || !step->known ||
        m->uses.reads[place] != (m->is_op ? 1 : 2) || m->member_count == MEMBERS || m->plan->places[place].dtype != TW_FLOAT32)
        return;
    bool transpose_a = tw__attr_find(step->op, step->attrs, "transpose_a")->b,
         transpose_b = tw__attr_find(step->op, step->attrs, "transpose_b")->b;
    const tw_shape *a = &m->plan->places[step->inputs[0]].shape, *out = &m->plan->places[place].shape;
    if (!tw__shape_known(a) || !tw__adam_takes_product(out->dims[0], out->dims[1], a->dims[!transpose_a], transpose_b))
        return;
    m->members[m->member_count++] = maker;
    m->inputs[GRADIENT] = step->inputs[0];
    m->inputs[OTHER] = step->inputs[1];
    m->kind = transpose_a ? PRODUCT_TRANSPOSED : PRODUCT;
}

/* A call of ResourceApplyAdam is the same pass over memory; joined, its gradient may be a product, and the calls of all variables
 * one step. */
static bool match_op(match *m, int at)
{
    const tw__step *step = &m->plan->steps[at];
    enum { OP_NUMBERS = 3, OP_GRADIENT = 9 };
    if (tw__attr_find(step->op, step->attrs, "use_nesterov")->b)
        return false;
    memcpy(m->inputs, step->inputs, 3 * sizeof *m->inputs);
    memcpy(&m->inputs[NUMBERS], &step->inputs[OP_NUMBERS], 6 * sizeof *m->inputs);
    m->inputs[GRADIENT] = step->inputs[OP_GRADIENT];
    for (int k = 0; k < 6; k++) {
        if (!is_scalar(m, m->inputs[NUMBERS + k]))
            return false;
    }
    m->members[m->member_count++] = at;
    m->is_op = true;
    tw_dtype dtype = m->plan->places[m->inputs[GRADIENT]].dtype;
    return (dtype == TW_FLOAT32 || dtype == TW_FLOAT64) && tw__shape_known(&m->plan->places[m->inputs[GRADIENT]].shape);
}

static bool match_keras(match *m, int at)
{
    m->is_op = false;
    if (!match_end(m, at))
        return false;
    m->inputs[EPSILON + 1] = m->inputs[EPSILON + 2] = m->inputs[EPSILON];
    return match_rest(m, at) && order_is_right(m, at);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static tw_status join_calls(match *m, int end)
{
    int32_t value = m->inputs[GRADIENT];
    match_product(m);
    qsort(m->members, (size_t)m->member_count, sizeof *m->members, by_number);
    updates *all = tw__alloc_zero(sizeof *all + sizeof *all->each);
    TW_NEED(all);
    all->count = 1;
    all->each[0].kind = m->kind;
    all->each[0].is_op = m->is_op;
    all->each[0].value = value;
    all->each[0].plain = tw__plain_new(m->plan, m->members, m->member_count, m->inputs, INPUTS);
    if (!all->each[0].plain || tw__step_set_inputs(&m->plan->steps[end], m->inputs, INPUTS) != TW_OK) {
        updates_free(all);
        return tw__error_status();
    }
    for (int i = 0; i < m->member_count; i++) {
        if (m->members[i] != end)
            tw__step_remove(&m->plan->steps[m->members[i]]);
    }
    tw__step_set_run(&m->plan->steps[end], run, all, updates_free, "Adam");
    return TW_OK;
}

/* ---- one step for all variables ---- */

static bool may_sink(const tw__plan *plan, int from, int to)
{
    const updates *all = plan->steps[from].data;
    bool may = true;
    for (int i = 0; may && i < all->count; i++)
        may = tw__update_may_sink(plan, from, to, all->each[i].value);
    return may;
}

static tw_status join_steps(tw__plan *plan, int from, int to)
{
    tw__step *a = &plan->steps[from], *b = &plan->steps[to];
    updates *first = a->data, *second = b->data;
    int count = a->input_count + b->input_count;
    updates *all = tw__alloc_zero(sizeof *all + (size_t)(first->count + second->count) * sizeof *all->each);
    tw__owned int32_t *inputs = tw__alloc_array((size_t)count, sizeof *inputs);
    tw_status status = all && inputs ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        memcpy(inputs, a->inputs, (size_t)a->input_count * sizeof *inputs);
        memcpy(inputs + a->input_count, b->inputs, (size_t)b->input_count * sizeof *inputs);
        status = tw__step_set_inputs(b, inputs, count);
    }
    if (status == TW_OK) {
        all->count = first->count + second->count;
        memcpy(all->each, first->each, (size_t)first->count * sizeof *all->each);
        memcpy(all->each + first->count, second->each, (size_t)second->count * sizeof *all->each);
        first->count = second->count = 0; /* they are the new list's */
        tw__step_set_run(b, run, all, updates_free, "Adam");
        tw__step_remove(a);
    } else {
        tw__free(all);
    }
    return status;
}

tw_status tw__pass_adam(tw__plan *plan)
{
    match m = { .plan = plan };
    tw_status status = tw__uses_find(plan, &m.uses);
    int last = -1; /* the joined step before */
    for (int s = 0; status == TW_OK && s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        if (step->gone || step->run || step->data)
            continue;
        m.member_count = 0;
        bool found = step->op->sums < 0 ? match_keras(&m, s) : step->op == &tw__op_ResourceApplyAdam ? match_op(&m, s) : false;
        if (!found)
            continue;
        status = join_calls(&m, s);
        if (status == TW_OK && last >= 0 && may_sink(plan, last, s))
            status = join_steps(plan, last, s);
        last = s;
    }
    tw__uses_free(&m.uses);
    return status;
}
