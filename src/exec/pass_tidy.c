/* Steps that need not run, found once all shapes and constants that the plan can know are known:
 *
 *   - calls on constants alone, which run now (constants may have come from other passes, after the nodes' own folding)
 *   - Reshape of a Reshape takes the first one's input; so does a Reshape to the shape that its input has, which is its input
 *   - Transposes that keep the order or undo each other, Casts to the same dtype
 *   - x * 1, x / 1, x - 0, where the result is x bit for bit (x + 0 is not: -0 + 0 is 0)
 *   - Transposes of the last two dimensions before MatMul and BatchMatMul: flags of these do the same */
#include "exec/internal.h"
#include "rows.h"

enum { MOST_INPUTS = 16 }; /* of a call that is folded */
static const int64_t constant_bytes_limit = 1 << 20;

typedef struct tidying {
    tw__plan *plan;
    tw__uses uses;
    int32_t *stands_for; /* by place: the place whose value it has */
} tidying;

static const tw__place *place_of(const tidying *t, int32_t place)
{
    return &t->plan->places[place];
}

static bool is_plain(const tw__step *step)
{
    return !step->gone && !step->run && !step->data && step->op->compute && !step->op->stateful && !step->effects;
}

/* The plain step of that op that makes the place, or NULL. */
static const tw__step *made_by(const tidying *t, int32_t place, const tw_op *op)
{
    int maker = t->uses.maker[place];
    const tw__step *step = maker < 0 ? NULL : &t->plan->steps[maker];
    return step && step->op == op && is_plain(step) ? step : NULL;
}

/* ---- constants ---- */

static bool can_fold(const tidying *t, const tw__step *step)
{
    if (step->op->free_state || step->input_count == 0 || step->input_count > MOST_INPUTS)
        return false;
    for (int i = 0; i < step->node->attr_count; i++) {
        if (step->node->attrs[i].kind == TW_ATTR_FUNC)
            return false;
    }
    for (int k = 0; k < step->input_count; k++) {
        if (!place_of(t, step->inputs[k])->constant)
            return false;
    }
    tw_dtype dtype = place_of(t, step->outputs[0])->dtype;
    int64_t count = tw__place_count(t->plan, step->outputs[0]);
    if (dtype == TW_RESOURCE || dtype == TW_VARIANT || count < 0 || count > constant_bytes_limit)
        return false;
    return count * (int64_t)tw__element_size(dtype) <= constant_bytes_limit;
}

static void fold(tidying *t, tw__step *step)
{
    tw_tensor *values[MOST_INPUTS], *output = NULL;
    const tw_shape *shapes[MOST_INPUTS];
    tw_dtype dtypes[MOST_INPUTS];
    for (int k = 0; k < step->input_count; k++) {
        values[k] = place_of(t, step->inputs[k])->constant;
        shapes[k] = &values[k]->shape;
        dtypes[k] = values[k]->dtype;
    }
    tw__place *to = &t->plan->places[step->outputs[0]];
    tw_dtype dtype = to->dtype;
    tw_shape shape = { .rank = -1 };
    tw__inference inference = { step->op, step->input_count, 1, shapes, dtypes, values, step->attrs, &shape, &dtype, { 0 } };
    tw__kernel kernel = { step->op, step->input_count, 1, values, &output, step->attrs, &dtype, NULL };
    tw_status status = step->op->shape(&inference); /* it also checks */
    if (status == TW_OK && !step->op->makes_outputs && tw__shape_known(&shape) && !(output = tw__tensor_empty(dtype, &shape)))
        status = TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = step->op->compute(&kernel);
    if (status != TW_OK || output->count * (int64_t)tw__element_size(dtype) > constant_bytes_limit) {
        tw_clear_error(); /* it is reported when the call is really made */
        tw_release(output);
        return;
    }
    to->constant = output;
    to->shape = output->shape;
    tw__step_remove(step);
}

/* ---- values that are other values ---- */

/* All elements of the constant are this number. */
static bool is_all(const tw_tensor *constant, double number)
{
    if (!constant || !tw__dtype_is_float(constant->dtype) || constant->count > 64)
        return false;
    for (int64_t i = 0; i < constant->count; i++) {
        double value = tw_tensor_double_at(constant, i);
        if (value != number || __builtin_signbit(value) != __builtin_signbit(number))
            return false;
    }
    return constant->count > 0;
}

static bool same_kind(const tidying *t, int32_t a, int32_t b)
{
    return place_of(t, a)->dtype == place_of(t, b)->dtype && tw__shape_known(&place_of(t, a)->shape) &&
           tw__shape_equal(&place_of(t, a)->shape, &place_of(t, b)->shape);
}

/* The permutation of a Transpose whose order is a constant; -1 as its length if it is not known. */
static int order_of(const tidying *t, const tw__step *transpose, int *order)
{
    const tw_tensor *constant = place_of(t, transpose->inputs[1])->constant;
    int rank = place_of(t, transpose->inputs[0])->shape.rank;
    if (!constant || constant->count != rank || rank > TW_MAX_RANK)
        return -1;
    for (int i = 0; i < rank; i++) {
        int64_t axis = tw_tensor_int_at(constant, i);
        if (axis < -rank || axis >= rank)
            return -1;
        order[i] = (int)(axis < 0 ? axis + rank : axis);
    }
    return rank;
}

static bool transposes_nothing(const int *order, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (order[i] != i)
            return false;
    }
    return true;
}

/* The place whose value the step's output has, or -1. */
static int32_t same_value(const tidying *t, const tw__step *step)
{
    const tw_op *op = step->op;
    int32_t x = step->inputs[0], out = step->outputs[0];
    if (op->reshapes || op->casts)
        return same_kind(t, x, out) ? x : -1;
    if (op->neutral_right) {
        int neutral = (int)op->neutral_right - 1;
        if (op->commutes && is_all(place_of(t, x)->constant, neutral) && same_kind(t, step->inputs[1], out))
            return step->inputs[1];
        return is_all(place_of(t, step->inputs[1])->constant, neutral) && same_kind(t, x, out) ? x : -1;
    }
    if (op != &tw__op_Transpose)
        return -1;
    int order[TW_MAX_RANK], before[TW_MAX_RANK], both[TW_MAX_RANK], rank = order_of(t, step, order);
    if (rank < 0)
        return -1;
    if (transposes_nothing(order, rank))
        return x;
    const tw__step *inner = made_by(t, x, op);
    if (!inner || order_of(t, inner, before) != rank)
        return -1;
    for (int i = 0; i < rank; i++)
        both[i] = before[order[i]];
    return transposes_nothing(both, rank) ? inner->inputs[0] : -1;
}

/* ---- transposes as flags ---- */

typedef struct flags {
    tw_attr attrs[TW_MAX_ATTRS];
} flags;

/* The input is a transpose of the last two dimensions. */
static const tw__step *last_two(const tidying *t, int32_t place)
{
    const tw__step *step = made_by(t, place, &tw__op_Transpose);
    int order[TW_MAX_RANK], rank = step ? order_of(t, step, order) : -1;
    if (rank < 2 || order[rank - 1] != rank - 2 || order[rank - 2] != rank - 1 || !transposes_nothing(order, rank - 2))
        return NULL;
    return step;
}

static tw_status take_transposes(tidying *t, tw__step *step)
{
    const char *const *names = step->op->transposes;
    tw_dtype dtype = place_of(t, step->outputs[0])->dtype;
    bool conjugates = names[0] && tw__starts_with(names[0], "adj");
    if (!names[0] || (conjugates && (dtype == TW_COMPLEX64 || dtype == TW_COMPLEX128)))
        return TW_OK;
    const tw__op_signature *signature = tw__op_signature_of(step->op);
    int32_t inputs[] = { step->inputs[0], step->inputs[1] };
    flags *changed = NULL;
    for (int k = 0; signature && k < 2; k++) {
        const tw__step *transpose = last_two(t, inputs[k]);
        if (!transpose)
            continue;
        if (!changed) {
            changed = tw__alloc_zero(sizeof *changed);
            TW_NEED(changed);
            memcpy(changed->attrs, step->attrs, (size_t)signature->attr_count * sizeof *changed->attrs);
        }
        for (int i = 0; i < signature->attr_count; i++) {
            if (strcmp(signature->attrs[i].name, names[k]) == 0)
                changed->attrs[i].b = !changed->attrs[i].b;
        }
        inputs[k] = transpose->inputs[0];
    }
    if (!changed)
        return TW_OK;
    tw_status status = tw__step_set_inputs(step, inputs, 2);
    if (status != TW_OK) {
        tw__free(changed);
        return status;
    }
    step->attrs = changed->attrs;
    step->data = changed;
    step->free_data = tw__free;
    return TW_OK;
}

static tw_status take_reshape(tidying *t, tw__step *step)
{
    const tw__step *inner = step->op == &tw__op_Reshape ? made_by(t, step->inputs[0], &tw__op_Reshape) : NULL;
    if (!inner || !place_of(t, step->inputs[1])->constant)
        return TW_OK;
    int32_t inputs[] = { inner->inputs[0], step->inputs[1] };
    return tw__step_set_inputs(step, inputs, 2);
}

tw_status tw__pass_tidy(tw__plan *plan)
{
    tidying t = { .plan = plan };
    TW_TRY(tw__uses_find(plan, &t.uses));
    t.stands_for = tw__alloc_array((size_t)plan->place_count + 1, sizeof *t.stands_for);
    tw_status status = t.stands_for ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int32_t p = 0; status == TW_OK && p < plan->place_count; p++)
        t.stands_for[p] = p;
    for (int s = 0; status == TW_OK && s < plan->step_count; s++) {
        tw__step *step = &plan->steps[s];
        for (int k = 0; k < step->input_count; k++)
            step->inputs[k] = t.stands_for[step->inputs[k]];
        if (!is_plain(step) || step->output_count != 1)
            continue;
        if (can_fold(&t, step)) {
            fold(&t, step);
            continue;
        }
        int32_t same = step->input_count ? same_value(&t, step) : -1;
        if (same >= 0) {
            t.stands_for[step->outputs[0]] = same;
            continue;
        }
        status = take_reshape(&t, step);
        if (status == TW_OK)
            status = take_transposes(&t, step);
    }
    for (int k = 0; status == TW_OK && k < plan->output_count; k++)
        plan->outputs[k] = t.stands_for[plan->outputs[k]];
    tw__free(t.stands_for);
    tw__uses_free(&t.uses);
    return status;
}
