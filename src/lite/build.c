/* Calls the ops that a subgraph's operators are, in their order: at once, or into the graph that is being traced. */
#include "eager/eager.h"
#include "lite/lite.h"
#include "rows.h"

enum { DEEPEST = 64, MOST_ATTRS = 6 };

static tw__lite_tensor *tensor_of(const tw__lite_pass *pass, const tw__flat_vector *list, int64_t index)
{
    int64_t number = index < list->count ? tw__flat_int_at(list, index, 4) : -1;
    return number < 0 ? NULL : &pass->graph->tensors[number];
}

tw__lite_tensor *tw__lite_input(const tw__lite_call *call, int input)
{
    return tensor_of(call->pass, &call->node->inputs, input);
}

tw__lite_tensor *tw__lite_output(const tw__lite_call *call, int output)
{
    return tensor_of(call->pass, &call->node->outputs, output);
}

tw_status tw__lite_refuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char text[256];
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return tw__fail(TW_UNIMPLEMENTED, "%s", text);
}

tw_status tw__lite_give(tw__lite_call *call, tw_tensor *result)
{
    TW_NEED(result);
    if (call->out_count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "it has %d outputs, expected 1", call->out_count);
    call->out[0] = tw_retain(result);
    return TW_OK;
}

static tw_tensor *activate(tw__temps *t, tw_tensor *x, int64_t activation)
{
    switch (activation) {
    case TW_LITE_NO_ACTIVATION:
        return x;
    case TW_LITE_RELU:
        return TW_TEMP(Relu, x);
    case TW_LITE_RELU_N1_TO_1:
        return TW_TEMP(Minimum, TW_TEMP(Maximum, x, -1.0), 1.0);
    case TW_LITE_RELU6:
        return TW_TEMP(Relu6, x);
    case TW_LITE_TANH:
        return TW_TEMP(Tanh, x);
    }
    tw__fail(TW_UNIMPLEMENTED, "the activation %lld is not supported", (long long)activation);
    return NULL;
}

tw_status tw__lite_activated(tw__lite_call *call, tw_tensor *result, int field)
{
    return tw__lite_give(call, result ? activate(call->t, result, tw__flat_int(&call->options, field, 1, 0)) : NULL);
}

/* ---- operators that are one op ---- */

/* The attrs as the row says it; *activation: the field of one, or -1. */
static int read_attrs(const tw__lite_call *call, tw_attr *attrs, char names[][24], int *activation)
{
    int count = 0, field;
    char kind;
    for (const char *at = call->builtin->attrs; at && *at; at += strcspn(at, ","), at += strspn(at, ", ")) {
        char *name = names[count];
        if (sscanf(at, "%d%c", &field, &kind) == 2) { /* "0a" has no name */
            *activation = field;
            continue;
        }
        if (sscanf(at, "%23s %d%c", name, &field, &kind) != 3 && (field = -1, sscanf(at, "%23s %c", name, &kind)) != 2)
            continue;
        tw_attr *attr = &attrs[count++];
        switch (kind) {
        case 'b':
            *attr = TW_A_BOOL(name, tw__flat_int(&call->options, field, 1, 0) != 0);
            break;
        case 'f':
            *attr = TW_A_FLOAT(name, tw__flat_float(&call->options, field, 0));
            break;
        case 't':
            *attr = TW_A_TYPE(name, tw__lite_dtype(tw__flat_int(&call->options, field, 1, 0)));
            break;
        case 'i':
            *attr = TW_A_INT(name, tw__flat_int(&call->options, field, 4, 0));
            break;
        default:
            *attr = TW_A_INT(name, kind == 'n' ? call->count : call->out_count);
        }
    }
    return count;
}

static tw_status call_op(tw__lite_call *call)
{
    tw_attr attrs[MOST_ATTRS];
    char names[MOST_ATTRS][24];
    int activation = -1, count = read_attrs(call, attrs, names, &activation);
    for (int i = 0; i < call->count; i++) {
        if (!call->in[i])
            return tw__fail(TW_INVALID_ARGUMENT, "input %d is left out", i);
    }
    if (activation >= 0) {
        tw_tensor *result = tw__temp(call->t, tw__call(call->builtin->op, call->in, call->count, attrs, count));
        return tw__lite_activated(call, result, activation);
    }
    int made = call->out_count;
    TW_TRY(tw__apply(call->builtin->op, call->in, call->count, attrs, count, call->out, &made));
    return made == call->out_count ? TW_OK
                                   : tw__fail(TW_INVALID_ARGUMENT, "it has %d outputs, expected %d", call->out_count, made);
}

/* ---- one operator ---- */

/* A quantized constant as floats, once. */
static tw_tensor *constant_floats(tw__lite_tensor *tensor)
{
    if (!tensor->floats) {
        TW_TEMPS(t);
        tw__outside outside = tw__outside_begin();
        tensor->floats = tw_retain(tw__lite_dequantize(t, tensor, tensor->value));
        tw__outside_end(outside);
    }
    return tensor->floats;
}

static tw_tensor *input_value(tw__lite_call *call, int input)
{
    int64_t number = tw__flat_int_at(&call->node->inputs, input, 4);
    tw__lite_tensor *tensor = &call->pass->graph->tensors[number];
    tw_tensor *value = call->pass->values[number];
    bool constant = !value && tensor->data;
    if (constant)
        value = tw__lite_constant(tensor);
    else if (!value)
        tw__fail(TW_INVALID_ARGUMENT, "input %d, tensor '%s', has no value yet", input, tensor->name.data);
    if (!value || call->builtin->moves || !tw__lite_is_quantized(tensor))
        return value;
    return constant ? constant_floats(tensor) : tw__lite_dequantize(call->t, tensor, value);
}

static tw_status take_outputs(tw__lite_call *call)
{
    for (int i = 0; i < call->out_count; i++) {
        int64_t number = tw__flat_int_at(&call->node->outputs, i, 4);
        tw__lite_tensor *tensor = &call->pass->graph->tensors[number];
        tw_tensor *value = call->out[i];
        if (value && !call->builtin->moves && tw__lite_is_quantized(tensor) && value->dtype == TW_FLOAT32)
            value = tw__lite_quantize(call->t, tensor, value);
        TW_NEED(value);
        if (value->dtype != tensor->dtype)
            return tw__fail(TW_INVALID_ARGUMENT, "its output '%s' is %s, expected %s", tensor->name.data,
                            tw_dtype_name(value->dtype), tw_dtype_name(tensor->dtype));
        tw__set(&call->pass->values[number], value);
    }
    return TW_OK;
}

static tw_status run_operator(tw__lite_pass *pass, const tw__lite_operator *node)
{
    const struct tw__lite_code *code = &pass->model->codes[node->code];
    const tw__lite_builtin *builtin =
        code->builtin >= 0 && code->builtin < TW_LITE_BUILTINS ? &tw__lite_builtins[code->builtin] : NULL;
    if (!builtin)
        return tw__fail(TW_UNIMPLEMENTED, "the operator with the number %d is not supported", code->builtin);
    if (!builtin->op && !builtin->build)
        return tw__fail(TW_UNIMPLEMENTED, "the operator %s%s%s is not supported", builtin->name, code->custom.size ? " " : "",
                        code->custom.data);
    TW_TEMPS(t);
    tw__lite_call call = { .pass = pass, .builtin = builtin, .node = node, .options = node->options, .t = t };
    call.count = (int)node->inputs.count;
    call.out_count = (int)node->outputs.count;
    call.in = tw__temp_memory(t, tw__alloc_array((size_t)call.count + 1, sizeof *call.in));
    tw__held tw_tensor **out = tw__held_new((size_t)call.out_count);
    call.out = out;
    tw_status status = call.in && out ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < call.count; i++) {
        if (tw__lite_input(&call, i) && !(call.in[i] = input_value(&call, i)))
            status = tw__error_status();
    }
    for (int i = 0; status == TW_OK && i < builtin->needed && builtin->needed < 20; i++) {
        if (i >= call.count || !call.in[i])
            status = tw__fail(TW_INVALID_ARGUMENT, "input %d is missing", i);
    }
    if (status == TW_OK)
        status = builtin->build ? builtin->build(&call) : call_op(&call);
    if (status == TW_OK && pass->model->flat.broken)
        status = tw__fail(TW_INVALID_ARGUMENT, "its options are damaged");
    if (status == TW_OK)
        status = take_outputs(&call);
    if (status != TW_OK)
        tw__error_prefix("%s: ", builtin->name);
    return status;
}

tw_status tw__lite_build(tw__lite_pass *pass)
{
    if (pass->depth > DEEPEST)
        return tw__fail(TW_INVALID_ARGUMENT, "subgraphs call each other more than %d deep", DEEPEST);
    for (int i = 0; i < pass->graph->operator_count; i++)
        TW_TRY(run_operator(pass, &pass->graph->operators[i]));
    for (int i = 0; i < pass->graph->output_count; i++) {
        int number = pass->graph->outputs[i];
        if (pass->values[number])
            continue;
        tw_tensor *value = pass->graph->tensors[number].data ? tw__lite_constant(&pass->graph->tensors[number]) : NULL;
        if (!value)
            return tw__fail(TW_INVALID_ARGUMENT, "output %d, tensor '%s', has no value", i,
                            pass->graph->tensors[number].name.data);
        pass->values[number] = tw_retain(value);
    }
    return TW_OK;
}

tw_status tw__lite_subgraph_run(tw__lite_pass *outer, int64_t subgraph, tw_tensor *const *inputs, int count, tw_tensor ***outputs,
                                int *output_count)
{
    if (subgraph < 0 || subgraph >= outer->model->subgraph_count)
        return tw__fail(TW_INVALID_ARGUMENT, "subgraph %lld of %d is called", (long long)subgraph, outer->model->subgraph_count);
    tw__lite_subgraph *graph = &outer->model->subgraphs[subgraph];
    if (graph->input_count != count)
        return tw__fail(TW_INVALID_ARGUMENT, "subgraph %lld is called with %d values, expected %d", (long long)subgraph, count,
                        graph->input_count);
    tw__held tw_tensor **values = tw__held_new((size_t)graph->tensor_count);
    TW_NEED(values);
    for (int i = 0; i < count; i++) {
        const tw__lite_tensor *tensor = &graph->tensors[graph->inputs[i]];
        if (!inputs[i] || inputs[i]->dtype != tensor->dtype)
            return tw__fail(TW_INVALID_ARGUMENT, "input %d of subgraph %lld is %s, expected %s", i, (long long)subgraph,
                            inputs[i] ? tw_dtype_name(inputs[i]->dtype) : "missing", tw_dtype_name(tensor->dtype));
        tw__set(&values[graph->inputs[i]], inputs[i]);
    }
    tw__lite_pass pass = { .model = outer->model, .graph = graph, .values = values, .depth = outer->depth + 1 };
    TW_TRY(tw__lite_build(&pass));
    tw_tensor **made = tw__alloc_array((size_t)graph->output_count + 1, sizeof *made);
    TW_NEED(made);
    for (int i = 0; i < graph->output_count; i++)
        made[i] = tw_retain(values[graph->outputs[i]]);
    *outputs = made;
    *output_count = graph->output_count;
    return TW_OK;
}
