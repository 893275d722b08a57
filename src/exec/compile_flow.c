/* Loops and branches inside of programs: see compile.h. The bodies become regions. A region sees what is around it, so only what
 * changes from turn to turn is carried by a loop. Variables that a body changes are carried, too: their new values leave the loop
 * or the branch with the results. */
#include "exec/compile.h"

enum { MOST = 64 };

typedef enum flow_kind { NO_FLOW, LOOP, IF, CASE } flow_kind;

static flow_kind kind_of(const tw__step *step)
{
    if (step->run)
        return NO_FLOW;
    if (tw__node_is(step->node, TW_ROLE_LOOP))
        return LOOP;
    if (!tw__node_is(step->node, TW_ROLE_BRANCH))
        return NO_FLOW;
    return tw__ends_with(step->op->name, "Case") ? CASE : IF;
}

bool tw__compile_is_flow(const tw__step *step)
{
    return kind_of(step) != NO_FLOW;
}

/* Variables whose values a region changes, by their numbers in the program. */
typedef struct changes {
    int variables[MOST];
    int count;
} changes;

/* Carried values of a loop, or results of branches: values, then variables. */
typedef struct carried {
    tw__hlo values[MOST];
    int count;
} carried;

static bool add(carried *list, tw__hlo value)
{
    if (list->count == MOST)
        return false;
    list->values[list->count++] = value;
    return true;
}

/* ---- bodies ---- */

static bool shapes_known(const tw__plan *plan, const tw__step *step)
{
    for (int i = 0; i < step->input_count + step->output_count; i++) {
        const tw__place *p = &plan->places[i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count]];
        if (p->dtype == TW_STRING || p->dtype == TW_VARIANT || (p->dtype != TW_RESOURCE && !tw__shape_known(&p->shape)))
            return false;
    }
    return true;
}

static tw_status write_steps(tw__writing *t, bool *written)
{
    for (int s = 0; s < t->plan->step_count; s++) {
        const tw__step *step = &t->plan->steps[s];
        *written = (tw__compile_is_flow(step) || t->lower->has(step->op)) && shapes_known(t->plan, step);
        if (*written)
            TW_TRY(tw__compile_step(t, step, written));
        if (!*written)
            return TW_OK;
    }
    return TW_OK;
}

/* Writes what a body computes of `given` values; its results, of which `count` are wanted. */
static tw_status write_body(tw__writing *outer, const tw__body *body, const tw__hlo *given, tw__hlo *results, int count,
                            bool *written)
{
    tw__plan *plan = tw__plan_draft(body, given);
    *written = false;
    TW_NEED(plan);
    tw__writing t = { .lower = outer->lower, .w = outer->w, .plan = plan, .outer = outer };
    t.values = tw__alloc_array((size_t)plan->place_count + 1, sizeof *t.values);
    tw_status status = t.values ? TW_OK : tw__error_status();
    for (int32_t p = 0; status == TW_OK && p < plan->place_count; p++)
        t.values[p].id = -1;
    for (int i = 0; status == TW_OK && i < body->input_count; i++)
        t.values[plan->arguments[i]] = given[i];
    *written = true;
    status = status == TW_OK ? write_steps(&t, written) : status;
    for (int i = 0; status == TW_OK && *written && i < count; i++) {
        status = tw__compile_take(&t, plan->outputs[i]);
        results[i] = t.values[plan->outputs[i]];
        results[i].constant = NULL;
        *written = results[i].id != -1;
    }
    tw__free(t.values);
    tw__plan_free(plan);
    return status;
}

static bool same_type(const tw__hlo *a, const tw__hlo *b)
{
    return a->id >= 0 && b->id >= 0 && a->dtype == b->dtype && tw__shape_equal(&a->shape, &b->shape);
}

/* ---- variables ---- */

/* The variables as they were: regions start from there. */
static tw__hlo_variable *variables_now(const tw__program_writer *w)
{
    tw__hlo_variable *copy = tw__alloc_array((size_t)w->variable_count + 1, sizeof *copy);
    if (copy && w->variable_count)
        memcpy(copy, w->variables, (size_t)w->variable_count * sizeof *copy);
    return copy;
}

/* Adds those whose values differ from what they were. A variable that was not read before is the program's argument first. */
static bool find_changes(const tw__program_writer *w, const tw__hlo_variable *before, changes *found)
{
    for (int k = 0; k < w->variable_count; k++) {
        const tw__hlo_variable *v = &w->variables[k];
        bool listed = false;
        for (int i = 0; i < found->count; i++)
            listed |= found->variables[i] == k;
        int32_t was = before[k].now.dtype == TW_DTYPE_NONE ? v->argument : before[k].now.id;
        if (listed || v->now.dtype == TW_DTYPE_NONE || v->now.id == was)
            continue;
        if (found->count == MOST)
            return false;
        found->variables[found->count++] = k;
    }
    return true;
}

/* Back to what they were; what was read meanwhile is known now. */
static void restore(tw__program_writer *w, const tw__hlo_variable *before)
{
    for (int k = 0; k < w->variable_count; k++) {
        tw__hlo_variable *v = &w->variables[k];
        if (before[k].now.dtype != TW_DTYPE_NONE)
            v->now = before[k].now;
        else if (v->now.dtype != TW_DTYPE_NONE)
            v->now.id = v->argument;
        v->changed = before[k].changed;
    }
}

static void set_variables(tw__program_writer *w, const changes *changed, const tw__hlo *values)
{
    for (int i = 0; i < changed->count; i++)
        w->variables[changed->variables[i]].now = values[i];
}

static bool add_variables(tw__program_writer *w, const changes *changed, carried *list)
{
    for (int i = 0; i < changed->count; i++) {
        if (!add(list, w->variables[changed->variables[i]].now))
            return false;
    }
    return true;
}

/* ---- loops ---- */

typedef struct loop {
    tw__body body, condition;
    bool stays[MOST]; /* by input: it is the same in all turns */
    int count;
} loop;

/* Whether a result is an input of the body, as it came. */
static bool passes_on(tw__edge result, const tw__node *input)
{
    while (result.node != input && result.node->op->forwards && result.node->input_count == 1)
        result = result.node->inputs[0];
    return result.node == input && result.output == 0;
}

static bool read_loop(const tw__step *step, const tw__hlo *inputs, loop *l)
{
    l->count = step->input_count;
    if (!tw__node_body(step->node, TW_ROLE_LOOP, "body", 0, &l->body) ||
        !tw__node_body(step->node, TW_ROLE_LOOP, "cond", 0, &l->condition) || l->count > MOST ||
        l->body.input_count != l->count || l->condition.input_count != l->count || l->body.output_count < l->count)
        return false;
    for (int i = 0; i < l->count; i++) {
        l->stays[i] = passes_on(l->body.outputs[i], l->body.inputs[i]);
        if (!l->stays[i] && (inputs[i].dtype == TW_RESOURCE || !tw__shape_known(&inputs[i].shape)))
            return false;
    }
    return true;
}

/* The inputs inside: what is carried is an argument of the region. */
static void inner_inputs(const loop *l, const tw__hlo *inputs, const carried *arguments, tw__hlo *given)
{
    int next = 0;
    for (int i = 0; i < l->count; i++) {
        given[i] = l->stays[i] ? inputs[i] : arguments->values[next++];
        if (!l->stays[i])
            given[i].constant = NULL;
    }
}

/* One region of the loop: `results` of the condition or of the body, which go on. */
static tw_status write_region(tw__writing *t, const loop *l, const tw__hlo *inputs, const changes *changed,
                              const carried *operands, bool condition, bool *written)
{
    tw__hlo given[MOST], made[MOST];
    carried arguments = *operands, results = { .count = 0 };
    const tw__flow_writer *flow = t->lower->flow;
    int own = operands->count - changed->count;
    flow->region_begin(&t->w->lowering, condition, arguments.values, arguments.count);
    set_variables(t->w, changed, arguments.values + own);
    inner_inputs(l, inputs, &arguments, given);
    TW_TRY(write_body(t, condition ? &l->condition : &l->body, given, made, condition ? 1 : l->count, written));
    if (!*written)
        return TW_OK;
    if (condition) {
        *written = made[0].dtype == TW_BOOL && made[0].shape.rank == 0;
        flow->region_end(&t->w->lowering, made, 1);
        return TW_OK;
    }
    for (int i = 0; i < l->count; i++) {
        if (!l->stays[i])
            *written &= add(&results, made[i]);
    }
    *written &= add_variables(t->w, changed, &results);
    for (int i = 0; *written && i < results.count; i++)
        *written = same_type(&results.values[i], &operands->values[i]);
    flow->region_end(&t->w->lowering, results.values, results.count);
    return TW_OK;
}

/* The loop with these variables carried; what else it changes is found. */
static tw_status write_loop(tw__writing *t, const loop *l, const tw__hlo *inputs, tw__hlo *outputs, int output_count,
                            changes *changed, const tw__hlo_variable *before, bool *written)
{
    carried operands = { .count = 0 }, results;
    *written = true;
    for (int i = 0; i < l->count; i++) {
        if (!l->stays[i])
            *written &= add(&operands, inputs[i]);
    }
    int own = operands.count, known = changed->count;
    *written &= add_variables(t->w, changed, &operands) && operands.count > 0;
    if (!*written)
        return TW_OK;
    results = operands;
    t->lower->flow->begin(&t->w->lowering, "while", operands.values, operands.count, results.values, results.count);
    for (int region = 0; *written && region < 2; region++) {
        TW_TRY(write_region(t, l, inputs, changed, &operands, region == 0, written));
        changes seen = *changed;
        if (*written && (!find_changes(t->w, before, &seen) || (region == 0 && seen.count > known)))
            *written = false;
        *changed = seen;
    }
    t->lower->flow->end(&t->w->lowering, operands.values, operands.count, results.values, results.count);
    restore(t->w, before);
    for (int i = 0, next = 0; i < output_count; i++) {
        tw__hlo value = l->stays[i] ? inputs[i] : results.values[next++];
        value.distinct = false;
        outputs[i] = value;
    }
    for (int i = 0; i < known; i++) {
        tw__hlo_variable *v = &t->w->variables[changed->variables[i]];
        v->now = results.values[own + i];
        v->changed = true;
    }
    return TW_OK;
}

/* ---- branches ---- */

static bool branch_of(const tw__step *step, int index, tw__body *body)
{
    if (kind_of(step) == CASE)
        return tw__node_body(step->node, TW_ROLE_BRANCH, "branches", index, body);
    return index < 2 && tw__node_body(step->node, TW_ROLE_BRANCH, index ? "else_branch" : "then_branch", 0, body);
}

static tw_status write_branches(tw__writing *t, const tw__step *step, const tw__hlo *inputs, tw__hlo *outputs, changes *changed,
                                const tw__hlo_variable *before, bool *written)
{
    tw__body body;
    carried results = { .count = 0 };
    bool number = kind_of(step) == CASE;
    int known = changed->count;
    const tw__flow_writer *flow = t->lower->flow;
    *written =
        step->output_count + known <= MOST && inputs[0].shape.rank == 0 && inputs[0].dtype == (number ? TW_INT32 : TW_BOOL);
    if (!*written)
        return TW_OK;
    results.count = step->output_count + known;
    for (int i = 0; i < results.count; i++)
        results.values[i] = (tw__hlo){ .id = -1 };
    flow->begin(&t->w->lowering, number ? "case" : "if", inputs, 1, results.values, results.count);
    for (int index = 0; *written && branch_of(step, index, &body); index++) {
        carried made = { .count = step->output_count };
        flow->region_begin(&t->w->lowering, index == 0, NULL, 0);
        *written = body.input_count == step->input_count - 1 && body.output_count >= step->output_count;
        if (*written)
            TW_TRY(write_body(t, &body, inputs + 1, made.values, step->output_count, written));
        if (!*written)
            break;
        *written = find_changes(t->w, before, changed) && add_variables(t->w, &(changes){ .count = 0 }, &made);
        for (int i = 0; i < known; i++)
            *written &= add(&made, t->w->variables[changed->variables[i]].now);
        for (int i = 0; *written && i < made.count; i++) {
            int32_t id = results.values[i].id;
            *written = made.values[i].id >= 0 && (index == 0 || same_type(&results.values[i], &made.values[i]));
            results.values[i] = made.values[i];
            results.values[i].id = id;
            results.values[i].distinct = false;
        }
        flow->region_end(&t->w->lowering, made.values, made.count);
        restore(t->w, before);
    }
    *written &= results.count > 0 || changed->count > known;
    flow->end(&t->w->lowering, inputs, 1, results.values, results.count);
    for (int i = 0; i < step->output_count; i++)
        outputs[i] = results.values[i];
    for (int i = 0; i < known; i++) {
        tw__hlo_variable *v = &t->w->variables[changed->variables[i]];
        v->now = results.values[step->output_count + i];
        v->changed = true;
    }
    return TW_OK;
}

/* Written again until all variables that it changes are carried. */
tw_status tw__compile_flow(tw__writing *t, const tw__step *step, const tw__hlo *inputs, tw__hlo *outputs, bool *written)
{
    tw__text *text = t->w->lowering.text;
    size_t start = text->size;
    changes changed = { .count = 0 };
    loop l;
    bool loops = kind_of(step) == LOOP;
    *written = false;
    if (loops && !read_loop(step, inputs, &l))
        return TW_OK;
    tw__owned tw__hlo_variable *before = variables_now(t->w);
    TW_NEED(before);
    for (int attempt = 0; attempt < 3; attempt++) {
        int known = changed.count;
        restore(t->w, before);
        text->size = start;
        tw_status status = loops ? write_loop(t, &l, inputs, outputs, step->output_count, &changed, before, written)
                                 : write_branches(t, step, inputs, outputs, &changed, before, written);
        TW_TRY(status);
        if (*written && changed.count == known)
            return TW_OK;
        if (!*written && changed.count == known)
            break;
    }
    *written = false;
    restore(t->w, before);
    text->size = start;
    return TW_OK;
}
