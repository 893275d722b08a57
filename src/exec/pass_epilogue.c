/* A product or convolution, the bias that is added to it and the activation function that follows, as one step:
 *
 *     MatMul | Conv2D | DepthwiseConv2dNative  ->  Reshape, Squeeze  ->  BiasAdd, or AddV2 of a vector  ->  Relu, Relu6, …
 *
 * A Reshape that keeps the last dimension (a dense layer on sequences, a convolution in one dimension) changes nothing for the
 * others. Each may be read by the next alone. The kernel finishes a piece of the result while it is in the cache; the bits are
 * those of the separate calls (kernel/gemm/epilogue.h). Steps of known shapes only, of float and double. */
#include <stdio.h>

#include "exec/internal.h"
#include "kernel/gemm/gemm.h"
#include "op/nn/conv.h"
#include "rows.h"

enum { A, B, BIAS };

typedef struct joined {
    const tw__unary *activation; /* or NULL */
    bool has_bias;
    bool transpose_a, transpose_b; /* of a product */
    tw__conv conv;                 /* of a convolution */
    char label[64];
} joined;

static tw__epilogue epilogue_of(const joined *j, tw_tensor *const *inputs)
{
    return (tw__epilogue){ j->has_bias ? inputs[BIAS]->data : NULL, j->activation };
}

static tw__matrix matrix_of(const tw_tensor *tensor, bool transpose)
{
    int64_t columns = tensor->shape.dims[1];
    return transpose ? (tw__matrix){ tensor->data, 1, columns, false } : (tw__matrix){ tensor->data, columns, 1, false };
}

static tw_status run_product(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    const joined *j = step->data;
    tw__epilogue then = epilogue_of(j, inputs);
    const tw_shape *a = &inputs[A]->shape, *b = &inputs[B]->shape;
    return tw__gemm_then(outputs[0]->dtype, a->dims[j->transpose_a], b->dims[!j->transpose_b], a->dims[!j->transpose_a],
                         matrix_of(inputs[A], j->transpose_a), matrix_of(inputs[B], j->transpose_b), outputs[0]->data, &then);
}

static tw_status run_convolution(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    const joined *j = step->data;
    tw__epilogue then = epilogue_of(j, inputs);
    return tw__conv_then(outputs[0]->dtype, &j->conv, inputs[A]->data, inputs[B]->data, outputs[0]->data, &then);
}

static bool is_convolution(const tw__step *step)
{
    return step->op == &tw__op_Conv2D || step->op == &tw__op_DepthwiseConv2dNative;
}

/* A call of an op, of known shape, float or double. */
static bool is_plain(const tw__plan *plan, const tw__step *step)
{
    if (step->gone || step->run || !step->known || step->output_count != 1)
        return false;
    tw_dtype dtype = plan->places[step->outputs[0]].dtype;
    return dtype == TW_FLOAT32 || dtype == TW_FLOAT64;
}

/* Which input is the bias, a number for each of the last dimension, while the other is the result's shape; -1: none. */
static int bias_input(const tw__plan *plan, const tw__step *step)
{
    const tw_shape *out = &plan->places[step->outputs[0]].shape;
    if (step->op == &tw__op_BiasAdd) {
        bool last = tw__attr_find(step->op, step->attrs, "data_format")->s.data[1] == 'H' || out->rank == 2;
        return last ? 1 : -1;
    }
    if (step->op != &tw__op_AddV2 || out->rank < 2)
        return -1;
    for (int k = 0; k < 2; k++) {
        const tw_shape *bias = &plan->places[step->inputs[k]].shape, *other = &plan->places[step->inputs[1 - k]].shape;
        if (bias->rank == 1 && bias->dims[0] == out->dims[out->rank - 1] && tw__shape_equal(other, out))
            return k;
    }
    return -1;
}

/* The only step that reads the place; -1 if there is none or another, or the plan gives the value away. */
static int32_t only_reader(const tw__uses *uses, const int32_t *reader, int32_t place)
{
    return uses->reads[place] == 1 ? reader[place] : -1;
}

/* The step shows the same elements under a shape with the same last dimension. */
static bool keeps_channels(const tw__plan *plan, const tw__step *step)
{
    if (step->gone || step->run || !step->op->reshapes)
        return false;
    const tw_shape *from = &plan->places[step->inputs[0]].shape, *to = &plan->places[step->outputs[0]].shape;
    return tw__shape_known(to) && to->rank >= 1 && from->dims[from->rank - 1] == to->dims[to->rank - 1];
}

static bool prepare(const tw__plan *plan, const tw__step *step, joined *j)
{
    if (step->op == &tw__op_MatMul) {
        j->transpose_a = tw__attr_find(step->op, step->attrs, "transpose_a")->b;
        j->transpose_b = tw__attr_find(step->op, step->attrs, "transpose_b")->b;
        return true;
    }
    tw__conv_case of;
    if (tw__conv_read(&of, step->op, step->attrs) != TW_OK ||
        tw__conv_fit(&of, &plan->places[step->inputs[A]].shape, &plan->places[step->inputs[B]].shape, NULL) != TW_OK) {
        tw_clear_error(); /* the step itself will say so */
        return false;
    }
    j->conv = of.conv;
    return true;
}

/* `reshape`, `bias` and `activation` are steps, or -1; one of the latter two is there. */
static tw_status join(tw__plan *plan, int first, int reshape, int bias, int activation, int bias_at)
{
    joined *j = tw__alloc_zero(sizeof *j);
    TW_NEED(j);
    tw__step *from = &plan->steps[first], *last = &plan->steps[activation >= 0 ? activation : bias];
    if (!prepare(plan, from, j)) {
        tw__free(j);
        return TW_OK;
    }
    j->has_bias = bias >= 0;
    j->activation = activation >= 0 ? plan->steps[activation].op->unary : NULL;
    snprintf(j->label, sizeof j->label, "%s%s%s%s", from->op->name, bias >= 0 ? " BiasAdd" : "", activation >= 0 ? " " : "",
             activation >= 0 ? plan->steps[activation].op->name : "");
    int32_t inputs[] = { from->inputs[A], from->inputs[B], bias >= 0 ? plan->steps[bias].inputs[bias_at] : -1 };
    tw_status status = tw__step_set_inputs(last, inputs, j->has_bias ? 3 : 2);
    if (status != TW_OK) {
        tw__free(j);
        return status;
    }
    last->overwrites = 0;
    tw__step_set_run(last, is_convolution(from) ? run_convolution : run_product, j, tw__free, j->label);
    if (bias >= 0 && activation >= 0)
        tw__step_remove(&plan->steps[bias]);
    if (reshape >= 0)
        tw__step_remove(&plan->steps[reshape]);
    tw__step_remove(from);
    return TW_OK;
}

tw_status tw__pass_epilogue(tw__plan *plan)
{
    tw__auto(tw__uses_free) tw__uses uses = { 0 };
    TW_TRY(tw__uses_find(plan, &uses));
    tw__owned int32_t *reader = tw__alloc_array((size_t)plan->place_count + 1, sizeof *reader);
    TW_NEED(reader);
    for (int32_t p = 0; p < plan->place_count; p++)
        reader[p] = -1;
    for (int s = 0; s < plan->step_count; s++) {
        for (int k = 0; k < plan->steps[s].input_count; k++)
            reader[plan->steps[s].inputs[k]] = s;
    }
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        if (!is_plain(plan, step) || (step->op != &tw__op_MatMul && !is_convolution(step)))
            continue;
        int32_t place = step->outputs[0];
        int reshape = only_reader(&uses, reader, place);
        if (reshape >= 0 && plan->steps[reshape].inputs[0] == place && keeps_channels(plan, &plan->steps[reshape]))
            place = plan->steps[reshape].outputs[0];
        else
            reshape = -1;
        int bias = only_reader(&uses, reader, place), bias_at = -1;
        if (bias >= 0 && is_plain(plan, &plan->steps[bias]))
            bias_at = bias_input(plan, &plan->steps[bias]);
        if (bias_at >= 0 && plan->steps[bias].inputs[1 - bias_at] == place)
            place = plan->steps[bias].outputs[0];
        else
            bias = -1;
        int activation = only_reader(&uses, reader, place);
        if (activation >= 0 && (!is_plain(plan, &plan->steps[activation]) || !plan->steps[activation].op->activates))
            activation = -1;
        if (bias >= 0 || activation >= 0)
            TW_TRY(join(plan, s, reshape, bias, activation, bias_at));
    }
    return TW_OK;
}
