/* The optimizers' ops (ResourceApplyMomentum and its kin, and w -= rate * g written out) for all variables as one step: pieces of
 * all variables are shared out among the threads at once, instead of one variable after the other, most of which are too small
 * for that.
 *
 * An op joins the next one if nothing between them can see its variable. When a run finds something else than was expected (one
 * variable in two places, one without a value, other shapes), it makes the calls one by one. */
#include "exec/plain.h"
#include "exec/updates.h"
#include "op/resource.h"
#include "rows.h"

enum { MOST_UPDATES = 64, MOST_SLOTS = TW_RESOURCES_AT_ONCE, PIECE = 16384, MOST_MEMBERS = 2 };

typedef struct update {
    const tw__update *how;
    bool flag;       /* of the loop */
    bool adds;       /* w += rate * g */
    int first_input; /* of its inputs among the step's, which are the op's */
    int32_t value;   /* the gradient's place: shape and dtype are the variable's */
    tw__plain *plain;
} update;

typedef struct updates {
    int count;
    update each[]; /* variable */
} updates;

/* ---- running ---- */

typedef struct target {
    const update *update;
    void *slots[MOST_SLOTS];
    const tw_tensor *gradient;
    double numbers[TW_UPDATE_NUMBERS];
    int64_t first_piece;
} target;

typedef struct work {
    target targets[MOST_UPDATES];
    tw__resource *locked[MOST_UPDATES * MOST_SLOTS]; /* rising addresses */
    int count, locked_count;
    int64_t pieces;
} work;

static void updates_free(void *data)
{
    tw__owned updates *all = data;
    for (int i = 0; i < all->count; i++)
        tw__plain_free(all->each[i].plain);
}

static bool insert(work *w, tw__resource *resource)
{
    int at = 0, end = w->locked_count;
    while (at < end) {
        int middle = (at + end) / 2;
        if (w->locked[middle] == resource)
            return false;
        if (w->locked[middle] < resource)
            at = middle + 1;
        else
            end = middle;
    }
    memmove(w->locked + at + 1, w->locked + at, (size_t)(w->locked_count - at) * sizeof *w->locked);
    w->locked[at] = resource;
    w->locked_count++;
    return true;
}

/* Fills in the work but for the memory; false: something is not as expected. */
static bool prepare(work *w, const updates *all, tw_tensor *const *inputs)
{
    for (int i = 0; i < all->count; i++) {
        const update *u = &all->each[i];
        target *t = &w->targets[i];
        tw_tensor *const *own = inputs + u->first_input;
        t->update = u;
        t->gradient = own[u->how->grad];
        for (int k = 0; k < u->how->slots; k++) {
            tw__resource *resource = tw__resource_of(own[k]);
            if (!resource) {
                tw_clear_error();
                return false;
            }
            if (!insert(w, resource))
                return false;
        }
        for (int k = 0; k < u->how->number_count; k++) {
            const tw_tensor *number = own[u->how->numbers[k]];
            if (number->shape.rank != 0)
                return false;
            t->numbers[k] = tw_tensor_double_at(number, 0);
        }
        if (u->adds)
            t->numbers[0] = -t->numbers[0];
        t->first_piece = w->pieces;
        w->pieces += (t->gradient->count + PIECE - 1) / PIECE;
    }
    w->count = all->count;
    return true;
}

/* The memory of all slots, once they are locked; they may have changed until then. */
static bool find_memory(work *w, tw_tensor *const *inputs)
{
    for (int i = 0; i < w->count; i++) {
        target *t = &w->targets[i];
        for (int k = 0; k < t->update->how->slots; k++) {
            const tw_tensor *value = tw__resource_of(inputs[t->update->first_input + k])->value;
            if (value->dtype != t->gradient->dtype || !tw__shape_equal(&value->shape, &t->gradient->shape))
                return false;
            t->slots[k] = value->data;
        }
    }
    return true;
}

static void run_pieces(void *context, int64_t begin, int64_t end)
{
    const work *w = context;
    int at = 0;
    for (int64_t piece = begin; piece < end; piece++) {
        while (at + 1 < w->count && w->targets[at + 1].first_piece <= piece)
            at++;
        const target *t = &w->targets[at];
        int64_t first = (piece - t->first_piece) * PIECE,
                count = t->gradient->count - first < PIECE ? t->gradient->count - first : PIECE;
        bool wide = t->gradient->dtype == TW_FLOAT64;
        size_t offset = (size_t)first * (wide ? sizeof(double) : sizeof(float));
        void *slots[MOST_SLOTS];
        for (int k = 0; k < t->update->how->slots; k++)
            slots[k] = (char *)t->slots[k] + offset;
        tw__update_loop *loop = wide ? t->update->how->double_loop : t->update->how->float_loop;
        loop(slots, (const char *)t->gradient->data + offset, t->numbers, count, t->update->flag);
    }
}

static bool run_joined(const updates *all, tw_tensor *const *inputs)
{
    work w;
    w.count = w.locked_count = 0;
    w.pieces = 0;
    if (!prepare(&w, all, inputs))
        return false;
    int locked = 0;
    void *memory;
    while (locked < w.locked_count && tw__resource_lock(w.locked[locked], &memory) == TW_OK)
        locked++;
    bool good = locked == w.locked_count && find_memory(&w, inputs);
    if (good)
        tw__parallel(w.pieces, 1, run_pieces, &w);
    while (locked > 0)
        tw__resource_unlock(w.locked[--locked]);
    if (!good)
        tw_clear_error(); /* the calls report it */
    return good;
}

static tw_status run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    const updates *all = step->data;
    (void)outputs;
    if (run_joined(all, inputs))
        return TW_OK;
    for (int i = 0; i < all->count; i++)
        TW_TRY(tw__plain_run(all->each[i].plain, inputs + all->each[i].first_input, NULL));
    return TW_OK;
}

/* ---- finding them ---- */

typedef struct match {
    update update;
    int32_t inputs[16];
    int input_count;
    int members[MOST_MEMBERS];
    int member_count;
} match;

static bool is_plain(const tw__step *step, const tw_op *op)
{
    return step->op == op && !step->run && !step->data && !step->gone;
}

/* AssignSub(w, g * rate) or AssignAdd: ResourceApplyGradientDescent, or that with the other sign */
static bool match_assignment(const tw__plan *plan, const tw__uses *uses, int at, match *m)
{
    const tw__step *end = &plan->steps[at];
    int maker = uses->maker[end->inputs[1]];
    if (maker < 0 || !is_plain(&plan->steps[maker], &tw__op_Mul) || uses->reads[end->inputs[1]] != 1)
        return false;
    const tw__step *product = &plan->steps[maker];
    int scalar = plan->places[product->inputs[0]].shape.rank == 0 ? 0 : 1;
    const tw__update *how = tw__update_of(&tw__op_ResourceApplyGradientDescent);
    if (plan->places[product->inputs[scalar]].shape.rank != 0 || plan->places[product->inputs[1 - scalar]].shape.rank < 1)
        return false;
    m->update.how = how;
    m->update.adds = end->op->sums > 0;
    m->inputs[0] = end->inputs[0];
    m->inputs[how->numbers[0]] = product->inputs[scalar];
    m->inputs[how->grad] = product->inputs[1 - scalar];
    m->input_count = 3;
    m->members[m->member_count++] = maker;
    return true;
}

static bool match_op(const tw__step *step, match *m)
{
    const tw__update *how = tw__update_of(step->op);
    if (!how || step->input_count > (int)(sizeof m->inputs / sizeof *m->inputs))
        return false;
    m->update.how = how;
    m->update.flag = how->flag && tw__attr_find(step->op, step->attrs, how->flag)->b;
    memcpy(m->inputs, step->inputs, (size_t)step->input_count * sizeof *m->inputs);
    m->input_count = step->input_count;
    return true;
}

static bool match_step(const tw__plan *plan, const tw__uses *uses, int at, match *m)
{
    const tw__step *step = &plan->steps[at];
    *m = (match){ .member_count = 0 };
    if (step->gone || step->run || step->data)
        return false;
    bool assigns = step->op->sums != 0;
    if (!(assigns ? match_assignment(plan, uses, at, m) : match_op(step, m)))
        return false;
    m->members[m->member_count++] = at;
    m->update.value = m->inputs[m->update.how->grad];
    const tw__place *gradient = &plan->places[m->update.value];
    return (gradient->dtype == TW_FLOAT32 || gradient->dtype == TW_FLOAT64) && tw__shape_known(&gradient->shape);
}

/* ---- joining them ---- */

/* The step at `to` does what the one at `from` (-1: none), which is joined already, and the match at `to` do. */
static tw_status join(tw__plan *plan, int from, int to, match *m)
{
    tw__step *step = &plan->steps[to], *earlier = from < 0 ? NULL : &plan->steps[from];
    updates *before = earlier ? earlier->data : NULL;
    int count = before ? before->count : 0, inputs_before = earlier ? earlier->input_count : 0;
    updates *all = tw__alloc_zero(sizeof *all + (size_t)(count + 1) * sizeof *all->each);
    tw__owned int32_t *inputs = tw__alloc_array((size_t)(inputs_before + m->input_count), sizeof *inputs);
    m->update.plain = tw__plain_new(plan, m->members, m->member_count, m->inputs, m->input_count);
    m->update.first_input = inputs_before;
    tw_status status = all && inputs && m->update.plain ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        if (inputs_before)
            memcpy(inputs, earlier->inputs, (size_t)inputs_before * sizeof *inputs);
        memcpy(inputs + inputs_before, m->inputs, (size_t)m->input_count * sizeof *inputs);
        status = tw__step_set_inputs(step, inputs, inputs_before + m->input_count);
    }
    if (status != TW_OK) {
        tw__plain_free(m->update.plain);
        tw__free(all);
        return status;
    }
    if (count)
        memcpy(all->each, before->each, (size_t)count * sizeof *all->each);
    all->each[count] = m->update;
    all->count = count + 1;
    for (int i = 0; i < m->member_count - 1; i++)
        tw__step_remove(&plan->steps[m->members[i]]);
    if (earlier) {
        before->count = 0; /* they are the new list's */
        tw__step_remove(earlier);
    }
    tw__step_set_run(step, run, all, updates_free, "Updates");
    return TW_OK;
}

static bool may_join(const tw__plan *plan, int from, int to)
{
    const updates *all = plan->steps[from].data;
    bool may = all->count < MOST_UPDATES;
    for (int i = 0; may && i < all->count; i++)
        may = tw__update_may_sink(plan, from, to, all->each[i].value);
    return may;
}

tw_status tw__pass_updates(tw__plan *plan)
{
    tw__auto(tw__uses_free) tw__uses uses = { 0 };
    match m;
    TW_TRY(tw__uses_find(plan, &uses));
    int last = -1; /* the joined step before */
    for (int s = 0; s < plan->step_count; s++) {
        if (!match_step(plan, &uses, s, &m))
            continue;
        TW_TRY(join(plan, last >= 0 && may_join(plan, last, s) ? last : -1, s, &m));
        last = s;
    }
    return TW_OK;
}
