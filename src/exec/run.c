/* Running plans: a loop over prepared steps. */
#include "exec/internal.h"
#include "rows.h"

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
    if (plan->spare_count < TW_SPARE_FRAMES) {
        plan->spare[plan->spare_count++] = f;
        f = NULL;
    }
    pthread_mutex_unlock(&plan->lock);
    tw__free(f);
}

static tw_status infer(const tw__step *now, frame *f)
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

static tw_status run_step(tw__plan *plan, tw__step *now, frame *f)
{
    const tw__node *node = now->node;
    const tw_op *op = node->op;
    tw_tensor **outputs = f->values + now->first_output;
    for (int k = 0; k < now->input_count; k++)
        f->inputs[k] = f->values[now->inputs[k]];
    if (now->fused) {
        outputs[0] = tw__tensor_empty(node->out_dtypes[0], &node->out_shapes[0]);
        if (!outputs[0])
            return tw__error_status();
        tw__fused_run(now->fused, f->inputs, outputs[0]);
        return TW_OK;
    }
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
    for (int k = 0; k < plan->constant_count; k++)
        f->values[plan->constant_places[k]] = plan->constants[plan->constant_places[k]];
    for (int i = 0; i < plan->argument_count; i++)
        f->values[plan->arguments[i]] = values[i];
    tw_status status = TW_OK;
    int done = 0;
    for (; status == TW_OK && done < plan->step_count; done++) {
        tw__step *now = &plan->steps[done];
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
