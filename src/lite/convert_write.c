/* Made operators as a TFLite file. */
#include "lite/convert.h"

static uint32_t write_options(tw__flat_writer *w, const tw__lite_made_operator *one)
{
    uint32_t list = one->listed ? tw__flat_put_ints(w, one->dims, (size_t)one->dim_count) : 0;
    tw__flat_begin(w);
    tw__flat_field_ref(w, 0, list);
    for (int i = 0; i < one->field_count; i++) {
        const tw__lite_made_field *field = &one->fields[i];
        if (field->kind == 'f')
            tw__flat_field_float(w, field->field, (float)field->value);
        else if (field->kind == 'i')
            tw__flat_field_always(w, field->field, (int64_t)field->value, 4); /* the schema's default may be another one */
        else
            tw__flat_field(w, field->field, (int64_t)field->value, 1);
    }
    return tw__flat_end(w);
}

/* What all graphs of a file share. */
typedef struct writing {
    tw__flat_writer w;
    int codes[TW_LITE_BUILTINS]; /* number + 1 in the file, 0: not used */
    int order[TW_LITE_BUILTINS], code_count;
    uint32_t *buffers;
    size_t buffer_count, buffer_capacity;
} writing;

static uint32_t write_numbers(tw__flat_writer *w, const int *numbers, int count, const int *places)
{
    tw__owned int32_t *list = tw__alloc_array((size_t)count + 1, sizeof *list);
    for (int i = 0; list && i < count; i++)
        list[i] = numbers[i] < 0 ? -1 : places[numbers[i]];
    if (!list)
        w->failed = true;
    return list ? tw__flat_put_ints(w, list, (size_t)count) : 0;
}

static uint32_t write_operator(writing *g, const tw__lite_made_operator *one, const int *places)
{
    tw__flat_writer *w = &g->w;
    const tw__lite_builtin *builtin = &tw__lite_builtins[one->builtin];
    if (!g->codes[one->builtin]) {
        g->order[g->code_count] = one->builtin;
        g->codes[one->builtin] = ++g->code_count;
    }
    uint32_t options = builtin->options ? write_options(w, one) : 0;
    uint32_t inputs = write_numbers(w, one->inputs, one->input_count, places),
             outputs = write_numbers(w, one->outputs, one->output_count, places);
    tw__flat_begin(w);
    tw__flat_field(w, TW_LITE_OPERATOR_CODE, g->codes[one->builtin] - 1, 4);
    tw__flat_field_ref(w, TW_LITE_OPERATOR_INPUTS, inputs);
    tw__flat_field_ref(w, TW_LITE_OPERATOR_OUTPUTS, outputs);
    tw__flat_field_ref(w, TW_LITE_OPERATOR_OPTIONS, options);
    tw__flat_field(w, TW_LITE_OPERATOR_OPTIONS_TYPE, builtin->options, 1);
    return tw__flat_end(w);
}

static uint32_t write_shape(tw__flat_writer *w, const tw_shape *shape, int64_t unknown)
{
    int32_t dims[TW_MAX_RANK];
    for (int i = 0; i < shape->rank; i++)
        dims[i] = (int32_t)(shape->dims[i] < 0 ? unknown : shape->dims[i]);
    return tw__flat_put_ints(w, dims, (size_t)shape->rank);
}

static uint32_t write_quantization(tw__flat_writer *w, const tw__lite_made_tensor *tensor)
{
    tw__owned int64_t *zeros = tw__alloc_array((size_t)tensor->scale_count + 1, sizeof *zeros);
    if (!zeros)
        return w->failed = true, 0;
    uint32_t scales = tw__flat_put_floats(w, tensor->scales, (size_t)tensor->scale_count),
             points = tw__flat_put_longs(w, zeros, (size_t)tensor->scale_count);
    tw__flat_begin(w);
    tw__flat_field_ref(w, TW_LITE_QUANTIZATION_SCALE, scales);
    tw__flat_field_ref(w, TW_LITE_QUANTIZATION_ZERO, points);
    tw__flat_field(w, TW_LITE_QUANTIZATION_DIMENSION, tensor->dimension, 4);
    return tw__flat_end(w);
}

static uint32_t write_buffer(tw__flat_writer *w, const tw_tensor *constant)
{
    uint32_t data = constant ? tw__flat_put_bytes(w, constant->data, tw_tensor_bytes(constant), 16) : 0;
    tw__flat_begin(w);
    tw__flat_field_ref(w, TW_LITE_BUFFER_DATA, data);
    return tw__flat_end(w);
}

static uint32_t write_tensor(writing *g, const tw__lite_made_tensor *tensor)
{
    tw__flat_writer *w = &g->w;
    if (TW_GROW(g->buffers, g->buffer_capacity, g->buffer_count + 1) != TW_OK)
        return w->failed = true, 0;
    int buffer = 0;
    if (tensor->constant) {
        buffer = (int)g->buffer_count;
        g->buffers[g->buffer_count++] = write_buffer(w, tensor->constant);
    }
    uint32_t quantization = tensor->scale_count ? write_quantization(w, tensor) : 0;
    uint32_t name = tw__flat_put_text(w, tensor->name), shape = write_shape(w, &tensor->shape, 1);
    uint32_t signature = tw__shape_known(&tensor->shape) ? 0 : write_shape(w, &tensor->shape, -1);
    tw__flat_begin(w);
    tw__flat_field_ref(w, TW_LITE_TENSOR_SHAPE, shape);
    tw__flat_field_ref(w, TW_LITE_TENSOR_NAME, name);
    tw__flat_field_ref(w, TW_LITE_TENSOR_QUANTIZATION, quantization);
    tw__flat_field_ref(w, TW_LITE_TENSOR_SIGNATURE, signature);
    tw__flat_field(w, TW_LITE_TENSOR_BUFFER, buffer, 4);
    tw__flat_field(w, TW_LITE_TENSOR_TYPE, tw__lite_type(tensor->dtype), 1);
    tw__flat_field(w, TW_LITE_TENSOR_HAS_RANK, 1, 1);
    return tw__flat_end(w);
}

static bool is_among(const int *list, int count, int number)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == number)
            return true;
    }
    return false;
}

/* Tensors that nothing names are left out; `places`: the others' numbers in the file. */
static uint32_t write_tensors(writing *g, const tw__lite_made *made, int *places)
{
    tw__owned uint32_t *refs = tw__alloc_array(made->tensor_count + 1, sizeof *refs);
    tw__owned bool *named = tw__alloc_array(made->tensor_count + 1, sizeof *named);
    if (!refs || !named)
        return g->w.failed = true, 0;
    for (size_t i = 0; i < made->operator_count; i++) {
        const tw__lite_made_operator *one = &made->operators[i];
        for (int k = 0; k < one->input_count && !one->joined; k++)
            named[one->inputs[k] < 0 ? (int)made->tensor_count : one->inputs[k]] = true;
        for (int k = 0; k < one->output_count && !one->joined; k++)
            named[one->outputs[k]] = true;
    }
    int count = 0;
    for (size_t i = 0; i < made->tensor_count; i++) {
        if (!named[i] && !is_among(made->inputs, made->input_count, (int)i) &&
            !is_among(made->outputs, made->output_count, (int)i))
            continue;
        refs[count] = write_tensor(g, &made->tensors[i]);
        places[i] = count++;
    }
    return tw__flat_put_refs(&g->w, refs, (size_t)count);
}

static uint32_t write_graph(writing *g, const tw__lite_made *made, int *places, bool first)
{
    tw__flat_writer *w = &g->w;
    tw__owned uint32_t *refs = tw__alloc_array(made->operator_count + 1, sizeof *refs);
    if (!refs)
        return w->failed = true, 0;
    uint32_t tensors = write_tensors(g, made, places);
    size_t count = 0;
    for (size_t i = 0; i < made->operator_count; i++) {
        if (!made->operators[i].joined)
            refs[count++] = write_operator(g, &made->operators[i], places);
    }
    uint32_t operators = tw__flat_put_refs(w, refs, count), name = tw__flat_put_text(w, first ? "main" : made->key);
    uint32_t inputs = write_numbers(w, made->inputs, made->input_count, places),
             outputs = write_numbers(w, made->outputs, made->output_count, places);
    tw__flat_begin(w);
    tw__flat_field_ref(w, TW_LITE_GRAPH_TENSORS, tensors);
    tw__flat_field_ref(w, TW_LITE_GRAPH_INPUTS, inputs);
    tw__flat_field_ref(w, TW_LITE_GRAPH_OUTPUTS, outputs);
    tw__flat_field_ref(w, TW_LITE_GRAPH_OPERATORS, operators);
    tw__flat_field_ref(w, TW_LITE_GRAPH_NAME, name);
    return tw__flat_end(w);
}

static uint32_t write_names(tw__flat_writer *w, char *const *names, const int *numbers, int count, const int *places)
{
    tw__owned uint32_t *refs = tw__alloc_array((size_t)count + 1, sizeof *refs);
    for (int i = 0; refs && i < count; i++) {
        uint32_t name = tw__flat_put_text(w, names[i]);
        tw__flat_begin(w);
        tw__flat_field_ref(w, TW_LITE_MAP_NAME, name);
        tw__flat_field(w, TW_LITE_MAP_TENSOR, places[numbers[i]], 4);
        refs[i] = tw__flat_end(w);
    }
    if (!refs)
        w->failed = true;
    return refs ? tw__flat_put_refs(w, refs, (size_t)count) : 0;
}

static uint32_t write_signature(tw__flat_writer *w, const tw__lite_made *made, const int *places, int graph)
{
    uint32_t inputs = write_names(w, made->input_names, made->inputs, made->input_count, places),
             outputs = write_names(w, made->output_names, made->outputs, made->output_count, places),
             key = tw__flat_put_text(w, made->key);
    tw__flat_begin(w);
    tw__flat_field_ref(w, TW_LITE_SIGNATURE_INPUTS, inputs);
    tw__flat_field_ref(w, TW_LITE_SIGNATURE_OUTPUTS, outputs);
    tw__flat_field_ref(w, TW_LITE_SIGNATURE_KEY, key);
    tw__flat_field(w, TW_LITE_SIGNATURE_GRAPH, graph, 4);
    return tw__flat_end(w);
}

static uint32_t write_codes(writing *g)
{
    uint32_t refs[TW_LITE_BUILTINS];
    for (int i = 0; i < g->code_count; i++) {
        int code = g->order[i];
        tw__flat_begin(&g->w);
        tw__flat_field(&g->w, TW_LITE_CODE_BUILTIN, code, 4);
        tw__flat_field_always(&g->w, TW_LITE_CODE_VERSION, tw__lite_builtins[code].version ? tw__lite_builtins[code].version : 1,
                              4);
        tw__flat_field(&g->w, TW_LITE_CODE_OLD, code < TW_LITE_OLD_CODES ? code : TW_LITE_OLD_CODES, 1);
        refs[i] = tw__flat_end(&g->w);
    }
    return tw__flat_put_refs(&g->w, refs, (size_t)g->code_count);
}

static uint32_t write_model(writing *g, tw__lite_made *graphs, int count)
{
    tw__flat_writer *w = &g->w;
    tw__owned uint32_t *subgraphs = tw__alloc_array((size_t)count, sizeof *subgraphs);
    tw__owned uint32_t *signatures = tw__alloc_array((size_t)count, sizeof *signatures);
    if (!subgraphs || !signatures)
        return w->failed = true, 0;
    for (int i = 0; i < count; i++) {
        tw__owned int *places = tw__alloc_array(graphs[i].tensor_count + 1, sizeof *places);
        if (!places)
            return w->failed = true, 0;
        subgraphs[i] = write_graph(g, &graphs[i], places, i == 0);
        signatures[i] = write_signature(w, &graphs[i], places, i);
    }
    uint32_t signature_list = tw__flat_put_refs(w, signatures, (size_t)count),
             graph_list = tw__flat_put_refs(w, subgraphs, (size_t)count),
             buffers = tw__flat_put_refs(w, g->buffers, g->buffer_count), codes = write_codes(g),
             description = tw__flat_put_text(w, "thalweg");
    tw__flat_begin(w);
    tw__flat_field(w, TW_LITE_MODEL_VERSION, TW_LITE_SCHEMA_VERSION, 4);
    tw__flat_field_ref(w, TW_LITE_MODEL_CODES, codes);
    tw__flat_field_ref(w, TW_LITE_MODEL_SUBGRAPHS, graph_list);
    tw__flat_field_ref(w, TW_LITE_MODEL_DESCRIPTION, description);
    tw__flat_field_ref(w, TW_LITE_MODEL_BUFFERS, buffers);
    tw__flat_field_ref(w, TW_LITE_MODEL_SIGNATURES, signature_list);
    return tw__flat_end(w);
}

char *tw__lite_write(tw__lite_made *graphs, int count, size_t *size)
{
    writing g = { 0 };
    char *bytes = NULL;
    if (TW_GROW(g.buffers, g.buffer_capacity, 1) == TW_OK) {
        g.buffers[g.buffer_count++] = write_buffer(&g.w, NULL); /* the first one is empty */
        tw__flat_finish(&g.w, write_model(&g, graphs, count), TW_LITE_IDENTIFIER);
        bytes = g.w.failed ? NULL : tw__strndup((const char *)g.w.bytes + g.w.capacity - g.w.size, g.w.size);
        *size = g.w.size;
    }
    tw__free(g.buffers);
    tw__flat_writer_free(&g.w);
    return bytes;
}
