/* Makes operators fewer: what is not used is left out; sums and products with constants become part of the weights before them;
 * activations become part of the operator before them. */
#include "eager/eager.h"
#include "lite/convert.h"
#include "rows.h"

static void count_uses(tw__lite_made *made)
{
    for (size_t i = 0; i < made->tensor_count; i++)
        made->tensors[i].uses = 0;
    for (size_t i = 0; i < made->operator_count; i++) {
        const tw__lite_made_operator *one = &made->operators[i];
        for (int k = 0; k < one->input_count && !one->joined; k++) {
            if (one->inputs[k] >= 0)
                made->tensors[one->inputs[k]].uses++;
        }
    }
    for (int i = 0; i < made->output_count; i++)
        made->tensors[made->outputs[i]].uses += 2; /* it must stay */
}

/* Operators whose results nobody uses; the last ones first, so that those before them are found, too. */
static void drop_unused(tw__lite_made *made)
{
    count_uses(made);
    for (size_t i = made->operator_count; i > 0; i--) {
        tw__lite_made_operator *one = &made->operators[i - 1];
        bool used = false;
        for (int k = 0; k < one->output_count; k++)
            used |= made->tensors[one->outputs[k]].uses > 0;
        if (used || one->joined)
            continue;
        one->joined = true;
        for (int k = 0; k < one->input_count; k++) {
            if (one->inputs[k] >= 0)
                made->tensors[one->inputs[k]].uses--;
        }
    }
}

/* The operator that makes a tensor which only one other uses; NULL. */
static tw__lite_made_operator *maker_of(tw__lite_made *made, int tensor, size_t before)
{
    if (made->tensors[tensor].uses != 1 || made->tensors[tensor].constant)
        return NULL;
    for (size_t i = before; i > 0; i--) {
        tw__lite_made_operator *one = &made->operators[i - 1];
        if (!one->joined && one->output_count == 1 && one->outputs[0] == tensor)
            return one;
    }
    return NULL;
}

/* Where the activation of an operator stands in its options; -1: it has none. */
static int activation_field(const tw__lite_made_operator *one)
{
    static const struct {
        const char *name;
        int field;
    } places[] = {
        { "CONV_2D", 3 }, { "DEPTHWISE_CONV_2D", 4 }, { "FULLY_CONNECTED", 0 }, { "ADD", 0 }, { "SUB", 0 }, { "MUL", 0 },
        { "DIV", 0 },     { "MAX_POOL_2D", 5 },       { "AVERAGE_POOL_2D", 5 }
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(tw__lite_builtins[one->builtin].name, places[i].name) == 0)
            return places[i].field;
    }
    return -1;
}

static bool is_named(const tw__lite_made_operator *one, const char *name)
{
    return strcmp(tw__lite_builtins[one->builtin].name, name) == 0;
}

static bool has_activation(const tw__lite_made_operator *one)
{
    for (int i = 0; i < one->field_count; i++) {
        if (one->fields[i].field == activation_field(one) && one->fields[i].value != 0)
            return true;
    }
    return false;
}

static void take_over(tw__lite_made_operator *before, tw__lite_made_operator *one)
{
    before->outputs[0] = one->outputs[0];
    one->joined = true;
}

static bool join_activation(tw__lite_made *made, tw__lite_made_operator *one, size_t at)
{
    int kind = is_named(one, "RELU") ? TW_LITE_RELU : is_named(one, "RELU6") ? TW_LITE_RELU6 : 0;
    tw__lite_made_operator *before = kind ? maker_of(made, one->inputs[0], at) : NULL;
    if (!before || activation_field(before) < 0 || has_activation(before) || made->tensors[one->inputs[0]].dtype != TW_FLOAT32)
        return false;
    tw__lite_set_field(before, activation_field(before), 'b', kind);
    take_over(before, one);
    return true;
}

/* Another constant in the place of an operator's input. */
static tw_status put_constant(tw__lite_made *made, tw__lite_made_operator *one, int input, tw_tensor *constant)
{
    TW_NEED(constant);
    char *name = tw__strdup(made->tensors[one->outputs[0]].name);
    TW_NEED(name);
    if (TW_GROW(made->tensors, made->tensor_capacity, made->tensor_count + 1) != TW_OK) {
        tw__free(name);
        return tw__error_status();
    }
    made->tensors[made->tensor_count] = (tw__lite_made_tensor){
        .name = name, .dtype = constant->dtype, .shape = constant->shape, .constant = tw_retain(constant), .uses = 1
    };
    while (one->input_count <= input)
        one->inputs[one->input_count++] = -1;
    one->inputs[input] = (int)made->tensor_count++;
    return TW_OK;
}

/* ADD of, or MUL by, a constant of the channels, behind an operator with weights. */
static tw_status join_weights(tw__lite_made *made, tw__lite_made_operator *one, size_t at, bool *joined)
{
    enum { DATA, WEIGHTS, BIAS };
    bool sum = is_named(one, "ADD"), product = is_named(one, "MUL");
    if ((!sum && !product) || has_activation(one))
        return TW_OK;
    int side = made->tensors[one->inputs[0]].constant ? 0 : 1;
    tw_tensor *constant = made->tensors[one->inputs[side]].constant;
    tw__lite_made_operator *before = constant ? maker_of(made, one->inputs[1 - side], at) : NULL;
    bool dense = before && is_named(before, "FULLY_CONNECTED"), depthwise = before && is_named(before, "DEPTHWISE_CONV_2D");
    if (!before || (!dense && !depthwise && !is_named(before, "CONV_2D")) || has_activation(before) ||
        constant->dtype != TW_FLOAT32)
        return TW_OK;
    tw_tensor *weights = made->tensors[before->inputs[WEIGHTS]].constant;
    tw_tensor *bias = before->inputs[BIAS] >= 0 ? made->tensors[before->inputs[BIAS]].constant : NULL;
    if (!weights || (before->inputs[BIAS] >= 0 && !bias))
        return TW_OK;
    int64_t channels = weights->shape.dims[depthwise ? 3 : 0];
    if (constant->shape.rank != 1 || constant->shape.dims[0] != channels)
        return TW_OK;
    TW_TEMPS(t);
    if (sum) {
        TW_TRY(put_constant(made, before, BIAS, bias ? TW_TEMP(AddV2, bias, constant) : constant));
    } else {
        int64_t dims[4] = { channels, 1, 1, 1 };
        tw_tensor *scale = depthwise ? constant : tw__temp_reshape(t, constant, dims, dense ? 2 : 4);
        TW_TRY(put_constant(made, before, WEIGHTS, TW_TEMP(Mul, weights, scale)));
        if (bias)
            TW_TRY(put_constant(made, before, BIAS, TW_TEMP(Mul, bias, constant)));
    }
    take_over(before, one);
    *joined = true;
    return TW_OK;
}

tw_status tw__lite_join(tw__lite_made *made)
{
    drop_unused(made);
    for (size_t i = 0; i < made->operator_count; i++) {
        tw__lite_made_operator *one = &made->operators[i];
        bool joined = one->joined;
        if (!joined)
            joined = join_activation(made, one, i);
        if (!joined)
            TW_TRY(join_weights(made, one, i, &joined));
    }
    count_uses(made);
    return TW_OK;
}

/* ---- smaller weights ---- */

static tw_status to_int8(tw__lite_made_tensor *tensor, int dimension)
{
    tw_tensor *floats = tensor->constant;
    const float *values = floats->data;
    int64_t inner = 1, count = dimension < 0 ? 1 : floats->shape.dims[dimension];
    for (int i = dimension + 1; dimension >= 0 && i < floats->shape.rank; i++)
        inner *= floats->shape.dims[i];
    tw_auto tw_tensor *steps = tw_tensor_new(TW_INT8, floats->shape, NULL);
    tensor->scales = tw__alloc_array((size_t)count, sizeof *tensor->scales);
    TW_NEED(steps && tensor->scales);
    for (int64_t i = 0; i < floats->count; i++) {
        float size = values[i] < 0 ? -values[i] : values[i], *scale = &tensor->scales[dimension < 0 ? 0 : i / inner % count];
        *scale = size > *scale ? size : *scale;
    }
    for (int64_t i = 0; i < count; i++)
        tensor->scales[i] = tensor->scales[i] > 0 ? tensor->scales[i] / 127 : 1;
    for (int64_t i = 0; i < floats->count; i++) {
        float real = values[i] / tensor->scales[dimension < 0 ? 0 : i / inner % count];
        ((int8_t *)steps->data)[i] = (int8_t)(real < 0 ? real - 0.5f : real + 0.5f);
    }
    tensor->scale_count = (int)count;
    tensor->dimension = dimension < 0 ? 0 : dimension;
    tensor->dtype = TW_INT8;
    tw__set(&tensor->constant, steps);
    return TW_OK;
}

/* Halves are made floats by an operator of their own. */
static tw_status to_half(tw__lite_made *made, size_t number)
{
    TW_TEMPS(t);
    tw_tensor *half = tw__temp_cast(t, made->tensors[number].constant, TW_FLOAT16);
    TW_NEED(half);
    tw__lite_lowering l = { .made = made, .node = &(tw__node){ .name = made->tensors[number].name }, .t = t };
    int small = tw__lite_constant_of(&l, half);
    TW_NEED(small >= 0 && TW_EMIT(&l, "DEQUANTIZE", (int)number, small));
    tw_release(TW_TAKE(made->tensors[number].constant));
    made->tensors[small].uses = 1;
    tw__lite_made_operator last = made->operators[made->operator_count - 1]; /* before all others */
    memmove(made->operators + 1, made->operators, (made->operator_count - 1) * sizeof last);
    made->operators[0] = last;
    return TW_OK;
}

tw_status tw__lite_shrink(tw__lite_made *made, tw_dtype dtype)
{
    enum { LEAST = 1024, WEIGHTS = 1 };
    size_t count = made->tensor_count;
    for (size_t i = 0; dtype == TW_FLOAT16 && i < count; i++) {
        const tw__lite_made_tensor *tensor = &made->tensors[i];
        if (tensor->constant && tensor->dtype == TW_FLOAT32 && tensor->uses && tensor->constant->count > 1)
            TW_TRY(to_half(made, i));
    }
    for (size_t i = 0; dtype == TW_INT8 && i < made->operator_count; i++) {
        const tw__lite_made_operator *one = &made->operators[i];
        bool dense = is_named(one, "FULLY_CONNECTED"), conv = is_named(one, "CONV_2D"),
             depthwise = is_named(one, "DEPTHWISE_CONV_2D");
        if (one->joined || (!dense && !conv && !depthwise))
            continue;
        tw__lite_made_tensor *tensor = &made->tensors[one->inputs[WEIGHTS]];
        if (tensor->constant && tensor->dtype == TW_FLOAT32 && tensor->constant->count >= LEAST && tensor->uses == 1)
            TW_TRY(to_int8(tensor, dense ? -1 : conv ? 0 : 3));
    }
    return TW_OK;
}
