/* Running plans: a loop over prepared steps. */
#include "exec/internal.h"
#include "rows.h"

/* A frame: the values by place, then room for one step's inputs, shapes and dtypes. Kept from run to run. */
typedef struct frame {
    tw_tensor **values;
    tw_tensor **inputs, **outputs;
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
    size_t out_shapes = out * sizeof(tw_shape), dtypes = in * sizeof(tw_dtype), out_dtypes = out * sizeof(tw_dtype), outputs = out * sizeof(tw_tensor *);
    f = tw__alloc_zero(sizeof *f + values + inputs + outputs + shapes + out_shapes + dtypes + out_dtypes);
    if (!f)
        return NULL;
    char *at = (char *)(f + 1);
    f->values = (void *)at;
    f->inputs = (void *)(at += values);
    f->outputs = (void *)(at += inputs);
    f->shapes = (void *)(at += outputs);
    f->out_shapes = (void *)(at += shapes);
    f->dtypes = (void *)(at += out_shapes);
    f->out_dtypes = (void *)(at + dtypes);
    return f;
}

static void frame_give_back(tw__plan *plan, frame *f)
{
    pthread_mutex_lock(&plan->lock);
    if (plan->spare_count < TW_SPARE_FRAMES) {
        plan->spare[plan->spare_count++] = f;
        f = NULL;
    }
    pthread_mutex_unlock(&plan->lock);
    tw__free(f);
}

static tw_status infer(const tw__step *now, frame *f)
{
    for (int k = 0; k < now->input_count; k++) {
        f->shapes[k] = &f->inputs[k]->shape;
        f->dtypes[k] = f->inputs[k]->dtype;
    }
    for (int k = 0; k < now->output_count; k++)
        f->out_shapes[k].rank = -1;
    tw__inference inference = { now->op, now->input_count, now->output_count, f->shapes, f->dtypes, f->inputs, now->attrs, f->out_shapes,
                                f->out_dtypes };
    return now->op->shape(&inference);
}

/* Runs the step; its outputs are in f->outputs, also when it fails, as far as they were made. */
static tw_status run_step(tw__plan *plan, tw__step *now, frame *f)
{
    const tw_op *op = now->op;
    for (int k = 0; k < now->input_count; k++)
        f->inputs[k] = f->values[now->inputs[k]];
    for (int k = 0; k < now->output_count; k++) {
        f->outputs[k] = NULL;
        f->out_dtypes[k] = plan->places[now->outputs[k]].dtype;
    }
    for (int k = 0; now->known && k < now->output_count; k++) {
        f->outputs[k] = tw__tensor_empty(f->out_dtypes[k], &plan->places[now->outputs[k]].shape);
        if (!f->outputs[k])
            return tw__error_status();
    }
    if (now->run)
        return now->run(now, f->inputs, f->outputs);
    if (!now->known) {
        TW_TRY(infer(now, f));
        for (int k = 0; k < now->output_count && !op->makes_outputs; k++) {
            if (tw__shape_known(&f->out_shapes[k]) && !(f->outputs[k] = tw__tensor_empty(f->out_dtypes[k], &f->out_shapes[k])))
                return tw__error_status();
        }
    }
    tw__kernel kernel = { op, now->input_count, now->output_count, f->inputs, f->outputs, now->attrs, f->out_dtypes, NULL };
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
    for (int k = 0; k < plan->constant_count; k++)
        f->values[plan->constant_places[k]] = plan->places[plan->constant_places[k]].constant;
    for (int i = 0; i < plan->argument_count; i++)
        f->values[plan->arguments[i]] = values[i];
    tw_status status = TW_OK;
    int done = 0;
    for (; status == TW_OK && done < plan->step_count; done++) {
        tw__step *now = &plan->steps[done];
        status = run_step(plan, now, f);
        if (status != TW_OK) {
            tw__error_prefix("node %s: ", now->node->name);
            for (int k = 0; k < now->output_count; k++)
                tw_release(f->outputs[k]);
            break;
        }
        for (int k = 0; k < now->output_count; k++)
            f->values[now->outputs[k]] = f->outputs[k];
        for (int k = 0; k < now->dropped_count; k++) {
            tw_release(f->values[now->dropped[k]]);
            f->values[now->dropped[k]] = NULL;
        }
    }
    for (int i = 0; i < plan->output_count; i++)
        outputs[i] = status == TW_OK ? tw_retain(f->values[plan->outputs[i]]) : NULL;
    /* What is left belongs to the frame: values of steps that were outputs, or that a failure left behind. */
    for (int i = 0; i < done; i++) {
        for (int k = 0; k < plan->steps[i].output_count; k++) {
            int32_t place = plan->steps[i].outputs[k];
            tw_release(f->values[place]);
            f->values[place] = NULL;
        }
    }
    frame_give_back(plan, f);
    return status;
}
