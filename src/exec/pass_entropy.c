/* Cross-entropies with their gradient: the op gives the loss per row and the derivative by the logits; the gradient is that times
 * a number per row, or one for all (of a mean, 1 / n). Both are one step, if nothing else reads the derivative and the numbers
 * are there in time: rows are multiplied while they are in the cache. */
#include "exec/internal.h"
#include "op/nn/cross_entropy.h"
#include "rows.h"

static tw_status run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    tw__kernel kernel = { step->op, 2, 2, inputs, outputs, step->attrs, step->out_dtypes, NULL };
    return tw__cross_entropy_scaled(&kernel, inputs[2]);
}

static bool is_plain(const tw__step *step)
{
    return step->known && !step->run && !step->data && !step->gone;
}

/* The number of the multiplication that is the only reader of the place; -1: there is none. */
static int find_product(const tw__plan *plan, int from, int32_t place)
{
    for (int s = from + 1; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        for (int k = 0; !step->gone && k < step->input_count; k++) {
            if (step->inputs[k] == place)
                return step->op == &tw__op_Mul && is_plain(step) ? s : -1;
        }
    }
    return -1;
}

/* One element, or [rows, 1] for [rows, columns]. */
static bool is_factor(const tw_shape *factors, const tw_shape *result)
{
    if (factors->rank > 2)
        return false;
    if (factors->rank == 2 && factors->dims[0] == result->dims[0] && factors->dims[1] == 1)
        return true;
    for (int i = 0; i < factors->rank; i++) {
        if (factors->dims[i] != 1)
            return false;
    }
    return true;
}

static tw_status join(tw__plan *plan, const tw__uses *uses, int at)
{
    tw__step *step = &plan->steps[at];
    int32_t derivative = step->outputs[1];
    const tw__place *place = &plan->places[derivative];
    if (uses->reads[derivative] != 1 || (place->dtype != TW_FLOAT32 && place->dtype != TW_FLOAT64))
        return TW_OK;
    int product = find_product(plan, at, derivative);
    if (product < 0)
        return TW_OK;
    tw__step *multiply = &plan->steps[product];
    int32_t factors = multiply->inputs[multiply->inputs[0] == derivative];
    if (uses->maker[factors] >= at || !is_factor(&plan->places[factors].shape, &place->shape) ||
        !tw__shape_equal(&plan->places[multiply->outputs[0]].shape, &place->shape))
        return TW_OK;
    int32_t inputs[] = { step->inputs[0], step->inputs[1], factors }, outputs[] = { step->outputs[0], multiply->outputs[0] };
    TW_TRY(tw__step_set_inputs(step, inputs, 3));
    TW_TRY(tw__step_set_outputs(step, outputs, 2));
    tw__step_remove(multiply);
    tw__step_set_run(step, run, NULL, NULL, "CrossEntropy Mul");
    return TW_OK;
}

tw_status tw__pass_entropy(tw__plan *plan)
{
    tw__auto(tw__uses_free) tw__uses uses = { 0 };
    TW_TRY(tw__uses_find(plan, &uses));
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        if ((step->op == &tw__op_SparseSoftmaxCrossEntropyWithLogits || step->op == &tw__op_SoftmaxCrossEntropyWithLogits) &&
            is_plain(step))
            TW_TRY(join(plan, &uses, s));
    }
    return TW_OK;
}
