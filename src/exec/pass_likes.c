/* OnesLike and ZerosLike of a value whose shape is known need the value no more: a gradient's first factor is OnesLike of the
 * target, and the target itself is often asked for by nobody else. Up to a size the result becomes a constant of the plan; a
 * larger one is filled at each run. */
#include "exec/internal.h"
#include "rows.h"

static const int64_t constant_bytes_limit = 16 << 20;

static tw_status fill(const tw_op *op, const tw_attr *attrs, tw_tensor **output)
{
    /* The ops look at the output alone. */
    tw__kernel kernel = { op, 1, 1, output, output, attrs, &output[0]->dtype, NULL };
    return op->compute(&kernel);
}

static tw_status run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    (void)inputs;
    return fill(step->op, step->attrs, outputs);
}

tw_status tw__pass_likes(tw__plan *plan)
{
    for (int s = 0; s < plan->step_count; s++) {
        tw__step *step = &plan->steps[s];
        if (step->gone || step->run || !step->known || !step->op->fills)
            continue;
        tw__place *to = &plan->places[step->outputs[0]];
        int64_t count = tw__place_count(plan, step->outputs[0]);
        if (count < 0 || to->dtype == TW_STRING || to->dtype == TW_VARIANT || to->dtype == TW_RESOURCE)
            continue;
        if (count <= constant_bytes_limit / (int64_t)tw__element_size(to->dtype)) {
            tw_tensor *value = tw__tensor_empty(to->dtype, &to->shape);
            tw_status status = value ? fill(step->op, step->attrs, &value) : TW_RESOURCE_EXHAUSTED;
            if (status != TW_OK) {
                tw_release(value);
                return status;
            }
            to->constant = value;
            tw__step_remove(step);
        } else {
            TW_TRY(tw__step_set_inputs(step, NULL, 0));
            tw__step_set_run(step, run, NULL, NULL, NULL);
        }
    }
    return TW_OK;
}
