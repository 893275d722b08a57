/* Parts of a plan as programs of a PJRT plug-in: in a function that is to be compiled (tf.function(jit_compile=True)), or that is
 * called where there are accelerators, steps that
 * have a lowering (lower/program.h) and whose shapes are known become one step, which runs them on the device.
 *
 * Steps are taken in their order. A step that can't be lowered runs on the host: before the program that is being collected, if
 * it needs nothing of that; else the program ends there, and another one begins behind it. Values of variables stay on the device
 * from run to run (op/resource.h); they come to the host when somebody there asks for them. */
#include <stdio.h>

#include "device/device.h"
#include "device/pjrt.h"
#include "exec/internal.h"
#include "exec/plugin.h"
#include "op/resource.h"

/* One program. */
typedef struct part {
    char *text;
    size_t text_size;
    _Atomic(tw__executable *) program; /* once it was compiled */
    int argument_count;                /* inputs of the step that are values: the first ones */
    int variable_count;                /* the handles behind them */
    tw__hlo_variable *variables;
    int result_count; /* the step's outputs */
    tw_dtype *dtypes;
    tw_shape *shapes;
    int device; /* the accelerator that it runs on */
    tw__lock lock;
    char label[64];
} part;

static void part_free(void *self)
{
    part *p = self;
    tw_release(atomic_load(&p->program));
    tw__free(p->text);
    tw__free(p->variables);
    tw__free(p->dtypes);
    tw__free(p->shapes);
    tw__free(p);
}

/* ---- running ---- */

static tw__lock variables_lock = TW__LOCK; /* of programs that change variables: one at a time */

static tw__executable *program_of(part *p)
{
    tw__executable *program = atomic_load(&p->program);
    if (program)
        return program;
    tw__lock_take(&p->lock);
    program = atomic_load(&p->program);
    if (!program && (program = tw__pjrt_compile(p->text, p->text_size)))
        atomic_store(&p->program, program);
    tw__lock_give(&p->lock);
    return program;
}

static tw_status fits(const tw__hlo_variable *expected, const tw__remote *value, const char *name)
{
    if (value->dtype == expected->now.dtype && tw__shape_equal(&value->shape, &expected->now.shape))
        return TW_OK;
    return tw__fail(TW_INVALID_ARGUMENT, "the variable %s is %s of shape %s, the compiled function was made for %s of shape %s",
                    name, tw_dtype_name(value->dtype), tw__shape_text(&value->shape), tw_dtype_name(expected->now.dtype),
                    tw__shape_text(&expected->now.shape));
}

/* The values of the variables that the program uses, on the device. */
static tw_status gather_variables(const part *p, tw_tensor *const *handles, tw__resource **resources, tw__remote **values,
                                  int *count)
{
    for (int i = 0; i < p->variable_count; i++) {
        resources[i] = tw__resource_of(handles[i]);
        TW_NEED(resources[i]);
        for (int k = 0; k < i; k++) {
            if (resources[k] == resources[i] && (p->variables[k].changed || p->variables[i].changed))
                return tw__fail(TW_UNIMPLEMENTED, "a compiled function that changes the variable %s gets it as two arguments",
                                resources[i]->name);
        }
        if (p->variables[i].argument < 0)
            continue;
        values[*count] = tw__resource_remote(resources[i], p->device);
        TW_NEED(values[*count]);
        TW_TRY(fits(&p->variables[i], values[(*count)++], resources[i]->name));
    }
    return TW_OK;
}

/* Variables that change get their new values in the same memory, which counts once. */
static void hand_over(const part *p, tw__remote **in, tw__remote **out, bool back)
{
    int argument = p->argument_count, result = p->result_count;
    for (int i = 0; i < p->variable_count; i++) {
        tw__remote *old = p->variables[i].argument >= 0 ? in[argument++] : NULL;
        tw__remote *new = p->variables[i].changed ? out[result++] : NULL;
        if (!old || !new)
            continue;
        tw__remote *from = back ? new : old, *to = back ? old : new;
        to->bytes = from->bytes;
        from->bytes = 0;
    }
}

static tw_status execute(part *p, tw_tensor *const *inputs, tw_tensor **outputs, tw__remote **in, tw__remote **out,
                         tw__resource **resources)
{
    int count = 0, made = 0;
    for (; count < p->argument_count; count++) {
        in[count] = tw__remote_of(inputs[count], p->device);
        TW_NEED(in[count]);
    }
    TW_TRY(gather_variables(p, inputs + p->argument_count, resources, in, &count));
    for (int i = 0; i < p->result_count; i++)
        TW_NEED(out[made++] = tw__remote_new(p->dtypes[i], &p->shapes[i], p->device));
    for (int i = 0; i < p->variable_count; i++) {
        const tw__hlo *now = &p->variables[i].now;
        if (p->variables[i].changed)
            TW_NEED(out[made++] = tw__remote_new(now->dtype, &now->shape, p->device));
    }
    tw__executable *program = program_of(p);
    TW_NEED(program);
    hand_over(p, in, out, false);
    tw_status status = tw__pjrt_execute(program, in, count, out, made, p->device);
    if (status != TW_OK)
        hand_over(p, in, out, true);
    TW_TRY(status);
    made = p->result_count;
    for (int i = 0; i < p->variable_count; i++) {
        if (p->variables[i].changed)
            tw__resource_move(resources[i], out[made++]);
    }
    for (int i = 0; i < p->result_count; i++) {
        TW_NEED(outputs[i] = tw__remote_get(out[i]));
        tw__remote_keep(outputs[i], out[i]);
        if (tw__devices_accelerated)
            outputs[i]->device = TW__ACCELERATOR + (uint32_t)p->device;
    }
    return TW_OK;
}

static tw_status run_part(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    part *p = step->data;
    int most_in = p->argument_count + p->variable_count, most_out = p->result_count + p->variable_count;
    tw__held void *in = tw__held_new((size_t)most_in), *out = tw__held_new((size_t)most_out);
    tw__owned tw__resource **resources = tw__alloc_array((size_t)p->variable_count + 1, sizeof *resources);
    TW_NEED(in && out && resources);
    if (p->variable_count)
        tw__lock_take(&variables_lock);
    tw_status status = execute(p, inputs, outputs, in, out, resources);
    if (p->variable_count)
        tw__lock_give(&variables_lock);
    for (int i = 0; status != TW_OK && i < p->result_count; i++) {
        tw_release(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}

/* ---- finding programs ---- */

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
} collector;

static tw__hlo value_of(const tw__plan *plan, int32_t place)
{
    const tw__place *p = &plan->places[place];
    return (tw__hlo){ .id = -1, .dtype = p->dtype, .shape = p->shape, .constant = p->constant };
}

/* The accelerator that a step is to run on; -1: the processor. */
static int device_of(const collector *c, const tw__step *step)
{
    const char *said = step->node ? step->node->device : NULL;
    uint32_t place = said ? tw__device_place_of(said) : tw__place_now(TW_FLOAT32);
    return place >= TW__ACCELERATOR ? (int)(place - TW__ACCELERATOR) : c->everywhere ? 0 : -1;
}

static bool lowerable(const collector *c, const tw__step *step)
{
    enum { MOST = 64 };
    tw__hlo inputs[MOST], outputs[MOST];
    if (step->run || step->input_count > MOST || step->output_count > MOST || !c->lower->has(step->op))
        return false;
    for (int i = 0; i < step->input_count; i++) {
        inputs[i] = value_of(c->plan, step->inputs[i]);
        if (inputs[i].dtype != TW_RESOURCE && (!tw__pjrt_has_dtype(inputs[i].dtype) || !tw__shape_known(&inputs[i].shape)))
            return false;
    }
    for (int i = 0; i < step->output_count; i++) {
        outputs[i] = value_of(c->plan, step->outputs[i]);
        if (!tw__pjrt_has_dtype(outputs[i].dtype) || !tw__shape_known(&outputs[i].shape))
            return false;
    }
    return c->lower->takes(step->op, step->attrs, inputs, step->input_count, outputs, step->output_count, c->processor);
}

/* A value as the program sees it: made inside, a constant, or an argument or variable that it gets. */
static tw_status program_value(collector *c, tw__program_writer *w, int32_t place, int32_t *arguments, int *argument_count,
                               int32_t *handles, int *handle_count)
{
    tw__hlo *value = &c->values[place];
    const tw__place *p = &c->plan->places[place];
    if (value->id != -1)
        return TW_OK;
    if (p->dtype == TW_RESOURCE) {
        TW_TRY(c->lower->variable(w, value));
        handles[(*handle_count)++] = place;
    } else if (p->constant && tw_tensor_bytes(p->constant) <= 4096) {
        *value = c->lower->constant(w, p->constant);
    } else {
        TW_TRY(c->lower->argument(w, p->dtype, &p->shape, value));
        arguments[(*argument_count)++] = place;
    }
    value->constant = p->constant;
    return TW_OK;
}

static tw_status write_calls(collector *c, tw__program_writer *w, int32_t *arguments, int *argument_count, int32_t *handles,
                             int *handle_count, bool *written)
{
    for (int s = 0; s < c->step_count; s++) {
        const tw__step *step = &c->plan->steps[c->steps[s]];
        tw__owned tw__hlo *inputs = tw__alloc_array((size_t)step->input_count + 1, sizeof *inputs);
        tw__owned tw__hlo *outputs = tw__alloc_array((size_t)step->output_count + 1, sizeof *outputs);
        TW_NEED(inputs && outputs);
        for (int i = 0; i < step->input_count; i++) {
            TW_TRY(program_value(c, w, step->inputs[i], arguments, argument_count, handles, handle_count));
            inputs[i] = c->values[step->inputs[i]];
        }
        for (int i = 0; i < step->output_count; i++)
            outputs[i] = value_of(c->plan, step->outputs[i]);
        *written = c->lower->call(w, step->op, step->attrs, inputs, step->input_count, outputs, step->output_count);
        if (!*written)
            return TW_OK;
        for (int i = 0; i < step->output_count; i++)
            c->values[step->outputs[i]] = outputs[i];
    }
    return TW_OK;
}

/* The step's data: the text, and what goes in and out. */
static part *part_new(collector *c, tw__program_writer *w, const int32_t *results, int result_count, int argument_count)
{
    part *p = tw__alloc_zero(sizeof *p);
    if (!p)
        return NULL;
    p->lock = (tw__lock)TW__LOCK;
    p->argument_count = argument_count;
    p->result_count = result_count;
    p->device = c->device;
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
        part_free(p);
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
static tw_status settle(collector *c, part *p, const int32_t *inputs, int input_count, const int32_t *results)
{
    tw__step *last = &c->plan->steps[c->steps[c->step_count - 1]];
    bool effects = false;
    for (int s = 0; s < c->step_count; s++)
        effects |= c->plan->steps[c->steps[s]].effects;
    tw_status status = tw__step_set_inputs(last, inputs, input_count);
    status = status == TW_OK ? tw__step_set_outputs(last, results, p->result_count) : status;
    if (status != TW_OK) {
        part_free(p);
        return status;
    }
    last->effects = effects;
    last->known = false;
    last->overwrites = 0;
    tw__step_set_run(last, run_part, p, part_free, p->label);
    for (int s = 0; s + 1 < c->step_count; s++)
        tw__step_remove(&c->plan->steps[c->steps[s]]);
    return TW_OK;
}

static tw_status make_program(collector *c, tw__program_writer *w, bool *made)
{
    size_t places = (size_t)c->plan->place_count + 1;
    tw__owned int32_t *arguments = tw__alloc_array(2 * places, sizeof *arguments),
                      *handles = tw__alloc_array(places, sizeof *handles);
    tw__owned int32_t *results = tw__alloc_array(places, sizeof *results);
    tw__owned bool *needed = tw__alloc_array(places, 1), *member = tw__alloc_array((size_t)c->plan->step_count + 1, 1);
    int argument_count = 0, handle_count = 0;
    TW_NEED(arguments && handles && results && needed && member);
    for (int32_t p = 0; p < c->plan->place_count; p++)
        c->values[p].id = -1;
    TW_TRY(write_calls(c, w, arguments, &argument_count, handles, &handle_count, made));
    if (!*made)
        return TW_OK;
    find_needed(c, needed, member);
    int result_count = find_results(c, needed, results);
    part *p = part_new(c, w, results, result_count, argument_count);
    TW_NEED(p);
    memcpy(arguments + argument_count, handles, (size_t)handle_count * sizeof *handles);
    return settle(c, p, arguments, argument_count + handle_count, results);
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
        int device = device_of(c, step);
        if (device >= 0 && lowerable(c, step)) {
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
    TW_NEED(inside && listed && order && values);
    collector c = { .plan = plan,
                    .lower = lower,
                    .everywhere = compiled,
                    .processor = strcmp(tw__pjrt_platform(), "cpu") == 0,
                    .inside = inside,
                    .steps = listed,
                    .order = order,
                    .values = values };
    TW_TRY(collect(&c));
    return reorder(&c);
}
