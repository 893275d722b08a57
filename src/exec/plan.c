/* From a graph to a plan, and running it; see exec.h. */
#include <pthread.h>

#include "exec/exec.h"
#include "rows.h"

enum { SPARE_FRAMES = 4 };

typedef struct step {
    const tw__node *node;
    int32_t *inputs;        /* places */
    int32_t first_output;   /* place of output 0; the others follow */
    int32_t *dropped;       /* places whose values are not needed after this step */
    int32_t dropped_count;
    bool known;             /* shapes of all outputs are known: the shape function need not run */
    void *state;            /* of a kernel that has some */
} step;

struct tw__plan {
    tw__graph *graph;
    step *steps;
    int step_count;
    int32_t place_count;
    int32_t *arguments;     /* places */
    int argument_count;
    int32_t *outputs;
    int output_count;
    tw_tensor **constants;  /* by place; NULL elsewhere */
    int most_inputs, most_outputs;
    pthread_mutex_t lock;   /* of the spare frames and of kernels' state */
    void *spare[SPARE_FRAMES];
    int spare_count;
};

/* ---- building ---- */

/* Marks what the outputs need, and what has effects of its own. */
static bool *find_needed(const tw__graph *graph, const tw__edge *outputs, int output_count)
{
    bool *needed = tw__alloc_array(graph->node_count + 1, sizeof *needed);
    if (!needed)
        return NULL;
    for (int i = 0; i < output_count; i++)
        needed[outputs[i].node->id] = true;
    for (size_t i = graph->node_count; i-- > 0;) {
        const tw__node *node = graph->nodes[i];
        bool reads_only = node->op == &tw__op_ReadVariableOp || node->op == &tw__op_ResourceGather;
        if (node->op->stateful && !reads_only)
            needed[i] = true;
        for (int k = 0; needed[i] && k < node->input_count; k++)
            needed[node->inputs[k].node->id] = true;
    }
    return needed;
}

static bool shapes_known(const tw__node *node)
{
    for (int i = 0; i < node->output_count; i++) {
        if (!tw__shape_known(&node->out_shapes[i]))
            return false;
    }
    return true;
}

/* After which step each place is dropped: the last that reads it, unless it is an output, argument or constant. */
static tw_status find_drops(tw__plan *plan)
{
    int32_t *last = tw__alloc_array((size_t)plan->place_count + 1, sizeof *last);
    if (!last)
        return TW_RESOURCE_EXHAUSTED;
    for (int32_t p = 0; p < plan->place_count; p++)
        last[p] = -1;
    for (int s = 0; s < plan->step_count; s++) {
        const step *now = &plan->steps[s];
        for (int k = 0; k < now->node->output_count; k++)
            last[now->first_output + k] = s; /* an output that nobody reads goes at once */
        for (int k = 0; k < now->node->input_count; k++)
            last[now->inputs[k]] = s;
    }
    for (int k = 0; k < plan->output_count; k++)
        last[plan->outputs[k]] = -1;
    for (int k = 0; k < plan->argument_count; k++)
        last[plan->arguments[k]] = -1;
    tw_status status = TW_OK;
    for (int32_t p = 0; status == TW_OK && p < plan->place_count; p++) {
        if (last[p] < 0 || plan->constants[p])
            continue;
        step *at = &plan->steps[last[p]];
        int32_t *more = tw__realloc(at->dropped, ((size_t)at->dropped_count + 1) * sizeof *more);
        if (!more) {
            status = TW_RESOURCE_EXHAUSTED;
        } else {
            at->dropped = more;
            at->dropped[at->dropped_count++] = p;
        }
    }
    tw__free(last);
    return status;
}

static tw_status build(tw__plan *plan, tw__node *const *arguments, const tw__edge *outputs)
{
    tw__graph *graph = plan->graph;
    bool *needed = find_needed(graph, outputs, plan->output_count);
    int32_t *first_place = tw__alloc_array(graph->node_count + 1, sizeof *first_place);
    tw_status status = needed && first_place ? TW_OK : TW_RESOURCE_EXHAUSTED;
    size_t place_count = 0;
    for (size_t i = 0; status == TW_OK && i < graph->node_count; i++) {
        first_place[i] = (int32_t)place_count;
        place_count += (size_t)graph->nodes[i]->output_count;
        if (place_count > INT32_MAX / 2)
            status = tw__fail(TW_RESOURCE_EXHAUSTED, "a graph with more than %zu values", place_count);
    }
    plan->place_count = (int32_t)place_count;
    plan->constants = tw__alloc_array(place_count + 1, sizeof *plan->constants);
    plan->steps = tw__alloc_array(graph->node_count + 1, sizeof *plan->steps);
    plan->arguments = tw__alloc_array((size_t)plan->argument_count + 1, sizeof *plan->arguments);
    plan->outputs = tw__alloc_array((size_t)plan->output_count + 1, sizeof *plan->outputs);
    if (!plan->constants || !plan->steps || !plan->arguments || !plan->outputs)
        status = TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < plan->argument_count; i++) {
        plan->arguments[i] = first_place[arguments[i]->id];
        needed[arguments[i]->id] = false;
    }
    for (int i = 0; status == TW_OK && i < plan->output_count; i++)
        plan->outputs[i] = first_place[outputs[i].node->id] + outputs[i].output;
    for (size_t i = 0; status == TW_OK && i < graph->node_count; i++) {
        const tw__node *node = graph->nodes[i];
        if (!needed[i])
            continue;
        if (node->op == &tw__op_Const) {
            plan->constants[first_place[i]] = tw_retain(tw__attr_find(node->op, node->attrs, "value")->tensor);
            continue;
        }
        step *now = &plan->steps[plan->step_count++];
        *now = (step){ .node = node, .first_output = first_place[i], .known = shapes_known(node) && !node->op->makes_outputs };
        now->inputs = tw__alloc_array((size_t)node->input_count + 1, sizeof *now->inputs);
        if (!now->inputs)
            status = TW_RESOURCE_EXHAUSTED;
        for (int k = 0; status == TW_OK && k < node->input_count; k++)
            now->inputs[k] = first_place[node->inputs[k].node->id] + node->inputs[k].output;
        plan->most_inputs = node->input_count > plan->most_inputs ? node->input_count : plan->most_inputs;
        plan->most_outputs = node->output_count > plan->most_outputs ? node->output_count : plan->most_outputs;
    }
    if (status == TW_OK)
        status = find_drops(plan);
    tw__free(needed);
    tw__free(first_place);
    return status;
}

tw__plan *tw__plan_new(tw__graph *graph, tw__node *const *arguments, int argument_count, const tw__edge *outputs, int output_count)
{
    tw__plan *plan = tw__alloc_zero(sizeof *plan);
    if (!plan)
        return NULL;
    pthread_mutex_init(&plan->lock, NULL);
    plan->graph = tw_retain(graph);
    plan->argument_count = argument_count;
    plan->output_count = output_count;
    if (build(plan, arguments, outputs) != TW_OK) {
        tw__plan_free(plan);
        return NULL;
    }
    return plan;
}

void tw__plan_free(tw__plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; plan->steps && i < plan->step_count; i++) {
        step *s = &plan->steps[i];
        if (s->state && s->node->op->free_state)
            s->node->op->free_state(s->state);
        tw__free(s->inputs);
        tw__free(s->dropped);
    }
    for (int32_t i = 0; plan->constants && i < plan->place_count; i++)
        tw_release(plan->constants[i]);
    while (plan->spare_count)
        tw__free(plan->spare[--plan->spare_count]);
    tw__free(plan->constants);
    tw__free(plan->steps);
    tw__free(plan->arguments);
    tw__free(plan->outputs);
    tw_release(plan->graph);
    pthread_mutex_destroy(&plan->lock);
    tw__free(plan);
}

int tw__plan_steps(const tw__plan *plan)
{
    return plan->step_count;
}

/* ---- running ---- */

/* A frame: the values by place, then room for one step's inputs, shapes and dtypes. Kept from run to run. */
typedef struct frame {
    tw_tensor **values;
    tw_tensor **inputs;
    const tw_shape **shapes;
    tw_dtype *dtypes;
    tw_shape *out_shapes;
    tw_dtype *out_dtypes;
} frame;

static frame *frame_take(tw__plan *plan)
{
    pthread_mutex_lock(&plan->lock);
    frame *f = plan->spare_count ? plan->spare[--plan->spare_count] : NULL;
    pthread_mutex_unlock(&plan->lock);
    if (f)
        return f;
    size_t places = (size_t)plan->place_count + 1, in = (size_t)plan->most_inputs + 1, out = (size_t)plan->most_outputs + 1;
    size_t values = places * sizeof(tw_tensor *), inputs = in * sizeof(tw_tensor *), shapes = in * sizeof(tw_shape *);
    size_t out_shapes = out * sizeof(tw_shape), dtypes = in * sizeof(tw_dtype), out_dtypes = out * sizeof(tw_dtype);
    f = tw__alloc_zero(sizeof *f + values + inputs + shapes + out_shapes + dtypes + out_dtypes);
    if (!f)
        return NULL;
    char *at = (char *)(f + 1);
    f->values = (void *)at;
    f->inputs = (void *)(at += values);
    f->shapes = (void *)(at += inputs);
    f->out_shapes = (void *)(at += shapes);
    f->dtypes = (void *)(at += out_shapes);
    f->out_dtypes = (void *)(at + dtypes);
    return f;
}

static void frame_give_back(tw__plan *plan, frame *f)
{
    pthread_mutex_lock(&plan->lock);
    if (plan->spare_count < SPARE_FRAMES) {
        plan->spare[plan->spare_count++] = f;
        f = NULL;
    }
    pthread_mutex_unlock(&plan->lock);
    tw__free(f);
}

static tw_status infer(const step *now, frame *f)
{
    const tw__node *node = now->node;
    for (int k = 0; k < node->input_count; k++) {
        f->shapes[k] = &f->inputs[k]->shape;
        f->dtypes[k] = f->inputs[k]->dtype;
    }
    for (int k = 0; k < node->output_count; k++) {
        f->out_shapes[k].rank = -1;
        f->out_dtypes[k] = node->out_dtypes[k];
    }
    tw__inference inference = { node->op, node->input_count, node->output_count, f->shapes, f->dtypes, f->inputs, node->attrs, f->out_shapes,
                                f->out_dtypes };
    return node->op->shape(&inference);
}

static tw_status run_step(tw__plan *plan, step *now, frame *f)
{
    const tw__node *node = now->node;
    const tw_op *op = node->op;
    tw_tensor **outputs = f->values + now->first_output;
    for (int k = 0; k < node->input_count; k++)
        f->inputs[k] = f->values[now->inputs[k]];
    if (!now->known)
        TW_TRY(infer(now, f));
    const tw_shape *shapes = now->known ? node->out_shapes : f->out_shapes;
    for (int k = 0; k < node->output_count && !op->makes_outputs; k++) {
        if ((now->known || tw__shape_known(&shapes[k])) && !(outputs[k] = tw__tensor_empty(node->out_dtypes[k], &shapes[k])))
            return tw__error_status();
    }
    tw__kernel kernel = { op, node->input_count, node->output_count, f->inputs, outputs, node->attrs, node->out_dtypes, NULL };
    if (!op->free_state)
        return op->compute(&kernel);
    pthread_mutex_lock(&plan->lock);
    kernel.state = &now->state;
    tw_status status = op->compute(&kernel);
    pthread_mutex_unlock(&plan->lock);
    return status;
}

tw_status tw__plan_run(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs)
{
    frame *f = frame_take(plan);
    if (!f)
        return TW_RESOURCE_EXHAUSTED;
    for (int32_t p = 0; p < plan->place_count; p++)
        f->values[p] = plan->constants[p];
    for (int i = 0; i < plan->argument_count; i++)
        f->values[plan->arguments[i]] = values[i];
    tw_status status = TW_OK;
    int done = 0;
    for (; status == TW_OK && done < plan->step_count; done++) {
        step *now = &plan->steps[done];
        status = run_step(plan, now, f);
        if (status != TW_OK) {
            tw__error_prefix("node %s: ", now->node->name);
            for (int k = 0; k < now->node->output_count; k++) {
                tw_release(f->values[now->first_output + k]);
                f->values[now->first_output + k] = NULL;
            }
            break;
        }
        for (int k = 0; k < now->dropped_count; k++) {
            tw_release(f->values[now->dropped[k]]);
            f->values[now->dropped[k]] = NULL;
        }
    }
    for (int i = 0; i < plan->output_count; i++)
        outputs[i] = status == TW_OK ? tw_retain(f->values[plan->outputs[i]]) : NULL;
    /* What is left belongs to the frame: values of steps that were outputs, or that a failure left behind. */
    for (int i = 0; i < done; i++) {
        for (int k = 0; k < plan->steps[i].node->output_count; k++) {
            int32_t place = plan->steps[i].first_output + k;
            tw_release(f->values[place]);
            f->values[place] = NULL;
        }
    }
    frame_give_back(plan, f);
    return status;
}
