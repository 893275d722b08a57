/* Parts of a plan as programs of a PJRT plug-in: in a function that is to be compiled (tf.function(jit_compile=True)), or that is
 * called where there are accelerators, steps that have a lowering (lower/program.h) and whose shapes are known become one step,
 * which runs them on the device.
 *
 * Steps are taken in their order. A step that can't be lowered runs on the host: before the program that is being collected, if
 * it needs nothing of that; else the program ends there, and another one begins behind it. */
#include <stdio.h>

#include "device/device.h"
#include "device/pjrt.h"
#include "exec/compile.h"

typedef struct collector {
    tw__plan *plan;
    const tw__lowerings *lower;
    bool processor;
    bool everywhere; /* the whole function is to be compiled, wherever its steps are placed */
    int device;      /* of the program that is being collected */
    bool *inside;    /* by place: made in the program that is being collected */
    int *steps;      /* of that program */
    int step_count;
    int *order; /* all steps as they are to run; one of a program stands for it */
    int order_count;
    tw__hlo *values; /* by place, while a program is written */
    bool *distinct;  /* by place: see compile.h */
} collector;

static tw__hlo value_of(const collector *c, int32_t place)
{
    tw__hlo value = tw__compile_value(c->plan, place);
    value.distinct = c->distinct[place];
    return value;
}

/* The accelerator that a step is to run on; -1: the processor. */
static int device_of(const collector *c, const tw__step *step)
{
    const char *said = step->node ? step->node->device : NULL;
    uint32_t place = said ? tw__device_place_of(said) : tw__place_now(TW_FLOAT32);
    return place >= TW__ACCELERATOR ? (int)(place - TW__ACCELERATOR) : c->everywhere ? 0 : -1;
}

/* Those of a flow's results are found by writing it. */
static bool shapes_fit(const collector *c, const tw__step *step)
{
    int results = tw__compile_is_flow(step) ? 0 : step->output_count;
    for (int i = 0; i < step->input_count + results; i++) {
        int32_t place = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
        const tw__place *p = &c->plan->places[place];
        bool handle = p->dtype == TW_RESOURCE;
        if (!handle && (!tw__pjrt_has_dtype(p->dtype) || !tw__shape_known(&p->shape)))
            return false;
    }
    return true;
}

/* Whoever reads `place` reads `other` from now on. */
static void stand_in(tw__plan *plan, int32_t place, int32_t other)
{
    for (int s = 0; s < plan->step_count; s++) {
        for (int k = 0; k < plan->steps[s].input_count; k++) {
            if (plan->steps[s].inputs[k] == place)
                plan->steps[s].inputs[k] = other;
        }
    }
    for (int k = 0; k < plan->output_count; k++)
        plan->outputs[k] = plan->outputs[k] == place ? other : plan->outputs[k];
}

/* A loop or a branch is written for a try: what it is made of shows whether it can be. */
static bool flow_fits(const collector *c, const tw__step *step)
{
    tw__program_writer w;
    tw__writing t = { .lower = c->lower, .w = &w, .plan = c->plan };
    bool written = false;
    c->lower->begin(&w, c->processor);
    tw__owned tw__hlo *inputs = tw__alloc_array((size_t)step->input_count + 1, sizeof *inputs);
    tw__owned tw__hlo *outputs = tw__alloc_array((size_t)step->output_count + 1, sizeof *outputs);
    bool good = inputs && outputs;
    for (int i = 0; good && i < step->input_count; i++) {
        inputs[i] = value_of(c, step->inputs[i]);
        good = (inputs[i].dtype == TW_RESOURCE ? c->lower->variable(&w, &inputs[i])
                                               : c->lower->argument(&w, inputs[i].dtype, &inputs[i].shape, &inputs[i])) == TW_OK;
        tw__hlo whole = value_of(c, step->inputs[i]);
        inputs[i].constant = whole.constant;
        inputs[i].shape = whole.shape;
    }
    if (!good || tw__compile_flow(&t, step, inputs, outputs, &written) != TW_OK) {
        tw_clear_error();
        written = false;
    }
    c->lower->end(&w);
    for (int i = 0; written && i < step->output_count; i++) {
        tw_dtype dtype = outputs[i].dtype;
        written = dtype == c->plan->places[step->outputs[i]].dtype && (dtype == TW_RESOURCE || tw__pjrt_has_dtype(dtype));
    }
    for (int i = 0; written && i < step->output_count; i++) {
        if (outputs[i].dtype == TW_RESOURCE) /* a loop's handle, as it came */
            stand_in(c->plan, step->outputs[i], step->inputs[i]);
        else
            c->plan->places[step->outputs[i]].shape = outputs[i].shape;
    }
    return written;
}

static bool lowerable(void *context, const tw__step *step)
{
    enum { MOST = 64 };
    const collector *c = context;
    tw__hlo inputs[MOST + 1], outputs[MOST];
    int count = step->input_count;
    if (step->run || device_of(c, step) < 0 || !shapes_fit(c, step))
        return false;
    if (tw__compile_is_flow(step))
        return flow_fits(c, step);
    if (count > MOST || step->output_count > MOST || !c->lower->has(step->op))
        return false;
    for (int i = 0; i < count; i++)
        inputs[i] = value_of(c, step->inputs[i]);
    if (tw__compile_draws(step))
        inputs[count++] = (tw__hlo){ .dtype = TW_UINT64, .shape = TW_SHAPE(3) };
    for (int i = 0; i < step->output_count; i++)
        outputs[i] = value_of(c, step->outputs[i]);
    return c->lower->takes(step->op, step->attrs, inputs, count, outputs, step->output_count, c->processor);
}

static tw_status write_steps(collector *c, tw__writing *t, bool *written)
{
    for (int s = 0; s < c->step_count; s++) {
        TW_TRY(tw__compile_step(t, &c->plan->steps[c->steps[s]], written));
        if (!*written)
            return TW_OK;
    }
    return TW_OK;
}

/* The step's data: the text, and what goes in and out. */
static tw__compiled *part_new(collector *c, tw__writing *t, const int32_t *results, int result_count)
{
    tw__compiled *p = tw__alloc_zero(sizeof *p);
    tw__program_writer *w = t->w;
    if (!p)
        return NULL;
    p->lock = (tw__lock)TW__LOCK;
    p->device = c->device;
    p->argument_count = t->argument_count;
    p->draws = TW_TAKE(t->draws);
    p->draw_count = t->draw_count;
    p->result_count = result_count;
    p->variable_count = w->variable_count;
    p->variables = TW_TAKE(w->variables);
    p->dtypes = tw__alloc_array((size_t)result_count + 1, sizeof *p->dtypes);
    p->shapes = tw__alloc_array((size_t)result_count + 1, sizeof *p->shapes);
    tw__owned tw__hlo *values = tw__alloc_array((size_t)result_count + 1, sizeof *values);
    tw__text text = { 0 };
    bool made = p->dtypes && p->shapes && values;
    for (int i = 0; made && i < result_count; i++) {
        values[i] = c->values[results[i]];
        p->dtypes[i] = values[i].dtype;
        p->shapes[i] = values[i].shape;
    }
    w->variables = p->variables;
    made = made && c->lower->text(w, values, result_count, &text) == TW_OK;
    w->variables = NULL;
    p->text_size = text.size;
    p->text = tw__text_take(&text);
    snprintf(p->label, sizeof p->label, "compiled: %d ops", c->step_count);
    if (!made || !p->text) {
        tw__compiled_free(p);
        return NULL;
    }
    return p;
}

/* Which places of the program others need. */
static int find_results(const collector *c, const bool *needed, int32_t *results)
{
    int count = 0;
    for (int s = 0; s < c->step_count; s++) {
        const tw__step *step = &c->plan->steps[c->steps[s]];
        for (int k = 0; k < step->output_count; k++) {
            if (needed[step->outputs[k]])
                results[count++] = step->outputs[k];
        }
    }
    return count;
}

/* By place: whether a step outside of the program, or the plan's caller, reads it. */
static void find_needed(const collector *c, bool *needed, bool *member)
{
    const tw__plan *plan = c->plan;
    for (int s = 0; s < c->step_count; s++)
        member[c->steps[s]] = true;
    for (int s = 0; s < plan->step_count; s++) {
        for (int k = 0; !member[s] && k < plan->steps[s].input_count; k++)
            needed[plan->steps[s].inputs[k]] = true;
    }
    for (int k = 0; k < plan->output_count; k++)
        needed[plan->outputs[k]] = true;
}

/* The last step of the program becomes the one that runs it; the others go. */
static tw_status settle(collector *c, tw__compiled *p, const int32_t *inputs, int input_count, const int32_t *results)
{
    tw__step *last = &c->plan->steps[c->steps[c->step_count - 1]];
    bool effects = false;
    for (int s = 0; s < c->step_count; s++)
        effects |= c->plan->steps[c->steps[s]].effects;
    tw_status status = tw__step_set_inputs(last, inputs, input_count);
    status = status == TW_OK ? tw__step_set_outputs(last, results, p->result_count) : status;
    if (status != TW_OK) {
        tw__compiled_free(p);
        return status;
    }
    last->effects = effects;
    last->known = false;
    last->overwrites = 0;
    tw__step_set_run(last, tw__compiled_run, p, tw__compiled_free, p->label);
    for (int s = 0; s + 1 < c->step_count; s++)
        tw__step_remove(&c->plan->steps[c->steps[s]]);
    return TW_OK;
}

/* The step's inputs: arguments that are not drawn, then handles. */
static tw_status settle_with(collector *c, tw__writing *t, tw__compiled *p, const int32_t *results)
{
    int count = 0;
    tw__owned int32_t *inputs = tw__alloc_array((size_t)(t->argument_count + t->handle_count) + 1, sizeof *inputs);
    if (!inputs) {
        tw__compiled_free(p);
        return tw__error_status();
    }
    for (int i = 0; i < t->argument_count; i++) {
        if (t->arguments[i] >= 0)
            inputs[count++] = t->arguments[i];
    }
    for (int i = 0; i < t->handle_count; i++)
        inputs[count++] = t->handles[i];
    return settle(c, p, inputs, count, results);
}

static tw_status make_program(collector *c, tw__program_writer *w, bool *made)
{
    size_t places = (size_t)c->plan->place_count + 1, steps = (size_t)c->plan->step_count + 1;
    tw__owned int32_t *arguments = tw__alloc_array(places + steps, sizeof *arguments),
                      *handles = tw__alloc_array(places, sizeof *handles);
    tw__owned int32_t *results = tw__alloc_array(places, sizeof *results);
    tw__owned bool *needed = tw__alloc_array(places, 1), *member = tw__alloc_array(steps, 1);
    TW_NEED(arguments && handles && results && needed && member);
    for (int32_t p = 0; p < c->plan->place_count; p++) {
        c->values[p].id = -1;
        c->values[p].distinct = c->distinct[p];
    }
    tw__writing t = {
        .lower = c->lower, .w = w, .plan = c->plan, .values = c->values, .arguments = arguments, .handles = handles
    };
    tw_status status = write_steps(c, &t, made);
    if (status == TW_OK && *made) {
        find_needed(c, needed, member);
        int result_count = find_results(c, needed, results);
        tw__compiled *p = part_new(c, &t, results, result_count);
        status = p ? settle_with(c, &t, p, results) : tw__error_status();
    }
    tw__free(t.draws);
    return status;
}

/* Ends the program that is being collected. */
static tw_status finish(collector *c)
{
    tw__program_writer w;
    bool made = false;
    if (!c->step_count)
        return TW_OK;
    c->lower->begin(&w, c->processor);
    tw_status status = make_program(c, &w, &made);
    c->lower->end(&w);
    for (int s = made ? c->step_count - 1 : 0; s < c->step_count; s++)
        c->order[c->order_count++] = c->steps[s];
    for (int s = 0; s < c->step_count; s++) {
        const tw__step *step = &c->plan->steps[c->steps[s]];
        for (int k = 0; k < step->output_count; k++)
            c->inside[step->outputs[k]] = false;
    }
    c->step_count = 0;
    return status;
}

/* Whether a step of the host must wait for the program: it reads what that makes, or may touch its variables. */
static bool must_wait(const collector *c, const tw__step *step)
{
    for (int i = 0; i < step->input_count; i++) {
        tw_dtype dtype = c->plan->places[step->inputs[i]].dtype;
        if (c->inside[step->inputs[i]] || dtype == TW_RESOURCE || dtype == TW_VARIANT)
            return true;
    }
    return tw__node_has_function(step->node);
}

static tw_status collect(collector *c)
{
    for (int s = 0; s < c->plan->step_count; s++) {
        const tw__step *step = &c->plan->steps[s];
        if (lowerable(c, step)) {
            int device = device_of(c, step);
            if (c->step_count && c->device != device)
                TW_TRY(finish(c));
            c->device = device;
            c->steps[c->step_count++] = s;
            for (int k = 0; k < step->output_count; k++)
                c->inside[step->outputs[k]] = true;
            continue;
        }
        if (must_wait(c, step))
            TW_TRY(finish(c));
        c->order[c->order_count++] = s;
    }
    return finish(c);
}

/* The steps in their new order; those that went stay at the end, for the sweep. */
static tw_status reorder(collector *c)
{
    tw__plan *plan = c->plan;
    tw__owned tw__step *steps = tw__alloc_array((size_t)plan->step_count + 1, sizeof *steps);
    TW_NEED(steps);
    int count = 0;
    for (int i = 0; i < c->order_count; i++)
        steps[count++] = plan->steps[c->order[i]];
    for (int s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].gone)
            steps[count++] = plan->steps[s];
    }
    memcpy(plan->steps, steps, (size_t)plan->step_count * sizeof *steps);
    return TW_OK;
}

/* Bodies of loops, and the backward graph, are around or inside of the function's own. */
static bool is_compiled(const tw__graph *graph)
{
    while (graph && !graph->compiled)
        graph = graph->outer;
    return graph != NULL;
}

tw_status tw__pass_compile(tw__plan *plan)
{
    if (!tw__pjrt_wanted())
        return TW_OK;
    TW_TRY(tw__devices_use());
    bool compiled = is_compiled(plan->graph);
    if (!compiled && !tw__devices_accelerated)
        return TW_OK;
    TW_TRY(tw__pjrt_start());
    const tw__lowerings *lower = tw__lowerings_get();
    TW_NEED(lower);
    size_t places = (size_t)plan->place_count + 1, steps = (size_t)plan->step_count + 1;
    tw__owned bool *inside = tw__alloc_array(places, 1);
    tw__owned int *listed = tw__alloc_array(steps, sizeof *listed), *order = tw__alloc_array(steps, sizeof *order);
    tw__owned tw__hlo *values = tw__alloc_array(places, sizeof *values);
    tw__owned bool *distinct = tw__alloc_array(places, 1);
    TW_NEED(inside && listed && order && values && distinct);
    collector c = { .plan = plan,
                    .lower = lower,
                    .everywhere = compiled,
                    .processor = strcmp(tw__pjrt_platform(), "cpu") == 0,
                    .inside = inside,
                    .steps = listed,
                    .order = order,
                    .values = values,
                    .distinct = distinct };
    TW_TRY(tw__compile_rows(plan, distinct, lowerable, &c));
    TW_TRY(collect(&c));
    return reorder(&c);
}
