/* TFLite's files divided into structs. Every number that stands for a tensor, buffer, subgraph or code is checked here, so that
 * who uses them need not. */
#include "lite/lite.h"

static const tw_dtype types[] = { TW_FLOAT32, TW_FLOAT16,  TW_INT32,     TW_UINT8,  TW_INT64,   TW_STRING,
                                  TW_BOOL,    TW_INT16,    TW_COMPLEX64, TW_INT8,   TW_FLOAT64, TW_COMPLEX128,
                                  TW_UINT64,  TW_RESOURCE, TW_VARIANT,   TW_UINT32, TW_UINT16 };
enum { TYPES = sizeof types / sizeof *types };

tw_dtype tw__lite_dtype(int64_t type)
{
    return type >= 0 && type < TYPES ? types[type] : TW_DTYPE_NONE;
}

int tw__lite_type(tw_dtype dtype)
{
    for (int i = 0; i < TYPES; i++) {
        if (types[i] == dtype)
            return i;
    }
    return -1;
}

const char *tw__lite_type_name(tw_dtype dtype)
{
    static const char *const names[TYPES] = { "FLOAT32", "FLOAT16",  "INT32",     "UINT8",  "INT64",   "STRING",
                                              "BOOL",    "INT16",    "COMPLEX64", "INT8",   "FLOAT64", "COMPLEX128",
                                              "UINT64",  "RESOURCE", "VARIANT",   "UINT32", "UINT16" };
    int type = tw__lite_type(dtype);
    return type < 0 ? "NOTYPE" : names[type];
}

static void model_destroy(void *self)
{
    tw__lite_model *model = self;
    for (int i = 0; i < model->subgraph_count; i++) {
        tw__lite_subgraph *graph = &model->subgraphs[i];
        for (int j = 0; j < graph->tensor_count; j++) {
            tw_release(graph->tensors[j].value);
            tw_release(graph->tensors[j].floats);
        }
        tw__free(graph->tensors);
        tw__free(graph->operators);
        tw__free(graph->inputs);
        tw__free(graph->outputs);
    }
    tw__free(model->subgraphs);
    tw__free(model->signatures);
    tw__free(model->codes);
    tw__free(model->bytes);
}

static const tw_class model_class = { .name = "LiteModel", .size = sizeof(tw__lite_model), .destroy = model_destroy };

/* A list that the caller goes over: an array of `size` bytes for each item, and how many there are. */
static tw_status room_for(const tw__flat_vector *list, size_t size, void *array, int *count)
{
    void *made = tw__alloc_array((size_t)list->count, size);
    TW_NEED(made);
    *(void **)array = made;
    *count = (int)list->count;
    return TW_OK;
}

static tw_status read_shape(const tw__flat_table *table, int field, tw_shape *shape, int lowest)
{
    tw__flat_vector dims = tw__flat_list(table, field, 4);
    if (dims.count > TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "a tensor has %lld dimensions; at most %d are supported", (long long)dims.count,
                        TW_MAX_RANK);
    shape->rank = (int32_t)dims.count;
    for (int i = 0; i < shape->rank; i++) {
        shape->dims[i] = tw__flat_int_at(&dims, i, 4);
        if (shape->dims[i] < lowest)
            return tw__fail(TW_VALUE_ERROR, "a tensor's dimension %d is %lld", i, (long long)shape->dims[i]);
    }
    return TW_OK;
}

/* The bytes of a buffer: a vector in the FlatBuffer, or, of large models, a place behind it. */
static tw_status read_data(tw__lite_model *model, const tw__flat_vector *buffers, tw__lite_tensor *tensor, int64_t number)
{
    if (number < 0 || number >= (buffers->count ? buffers->count : 1))
        return tw__fail(TW_VALUE_ERROR, "tensor '%s' has buffer %lld of %lld", tensor->name.data, (long long)number,
                        (long long)buffers->count);
    if (!number)
        return TW_OK; /* always the empty one */
    tw__flat_table buffer = tw__flat_table_at(buffers, number);
    tw__flat_vector data = tw__flat_list(&buffer, TW_LITE_BUFFER_DATA, 1);
    uint64_t offset = (uint64_t)tw__flat_int(&buffer, TW_LITE_BUFFER_OFFSET, 8, 0);
    if (offset > 1) {
        uint64_t size = (uint64_t)tw__flat_int(&buffer, TW_LITE_BUFFER_SIZE, 8, 0);
        if (offset > model->flat.size || size > model->flat.size - offset)
            return tw__fail(TW_VALUE_ERROR, "the data of tensor '%s' is outside of the file", tensor->name.data);
        tensor->data = model->flat.bytes + offset;
        tensor->size = (size_t)size;
    } else if (data.count) {
        tensor->data = model->flat.bytes + data.at;
        tensor->size = (size_t)data.count;
    }
    return TW_OK;
}

static tw_status read_tensor(tw__lite_model *model, const tw__flat_table *table, const tw__flat_vector *buffers,
                             tw__lite_tensor *tensor)
{
    tensor->name = tw__flat_text(table, TW_LITE_TENSOR_NAME);
    int64_t type = tw__flat_int(table, TW_LITE_TENSOR_TYPE, 1, 0);
    tensor->dtype = tw__lite_dtype(type);
    if (!tensor->dtype)
        return tw__fail(TW_VALUE_ERROR, "tensor '%s' has the type %lld, which is not supported", tensor->name.data,
                        (long long)type);
    TW_TRY(read_shape(table, TW_LITE_TENSOR_SHAPE, &tensor->shape, 0));
    tensor->signature = tensor->shape;
    if (tw__flat_has(table, TW_LITE_TENSOR_SIGNATURE))
        TW_TRY(read_shape(table, TW_LITE_TENSOR_SIGNATURE, &tensor->signature, -1));
    tensor->variable = tw__flat_int(table, TW_LITE_TENSOR_VARIABLE, 1, 0) != 0;
    tensor->sparse = tw__flat_has(table, TW_LITE_TENSOR_SPARSITY);
    tw__flat_table quantization = tw__flat_child(table, TW_LITE_TENSOR_QUANTIZATION);
    tensor->scales = tw__flat_list(&quantization, TW_LITE_QUANTIZATION_SCALE, 4);
    tensor->zeros = tw__flat_list(&quantization, TW_LITE_QUANTIZATION_ZERO, 8);
    tensor->dimension = (int)tw__flat_int(&quantization, TW_LITE_QUANTIZATION_DIMENSION, 4, 0);
    return read_data(model, buffers, tensor, tw__flat_int(table, TW_LITE_TENSOR_BUFFER, 4, 0));
}

/* Numbers of tensors; `least`: -1 where one may be left out. */
static tw_status check_numbers(const tw__lite_subgraph *graph, const tw__flat_vector *list, int least)
{
    for (int64_t i = 0; i < list->count; i++) {
        int64_t number = tw__flat_int_at(list, i, 4);
        if (number < least || number >= graph->tensor_count)
            return tw__fail(TW_VALUE_ERROR, "tensor %lld is named, but a subgraph has %d", (long long)number,
                            graph->tensor_count);
    }
    return TW_OK;
}

static tw_status read_numbers(const tw__lite_subgraph *graph, const tw__flat_table *table, int field, int **numbers, int *count)
{
    tw__flat_vector list = tw__flat_list(table, field, 4);
    TW_TRY(check_numbers(graph, &list, 0));
    TW_TRY(room_for(&list, sizeof **numbers, numbers, count));
    for (int i = 0; i < *count; i++)
        (*numbers)[i] = (int)tw__flat_int_at(&list, i, 4);
    return TW_OK;
}

static tw_status read_subgraph(tw__lite_model *model, const tw__flat_table *table, const tw__flat_vector *buffers,
                               tw__lite_subgraph *graph)
{
    graph->name = tw__flat_text(table, TW_LITE_GRAPH_NAME);
    tw__flat_vector tensors = tw__flat_list(table, TW_LITE_GRAPH_TENSORS, 4);
    TW_TRY(room_for(&tensors, sizeof *graph->tensors, &graph->tensors, &graph->tensor_count));
    for (int i = 0; i < graph->tensor_count; i++) {
        tw__flat_table one = tw__flat_table_at(&tensors, i);
        TW_TRY(read_tensor(model, &one, buffers, &graph->tensors[i]));
    }
    TW_TRY(read_numbers(graph, table, TW_LITE_GRAPH_INPUTS, &graph->inputs, &graph->input_count));
    TW_TRY(read_numbers(graph, table, TW_LITE_GRAPH_OUTPUTS, &graph->outputs, &graph->output_count));
    tw__flat_vector operators = tw__flat_list(table, TW_LITE_GRAPH_OPERATORS, 4);
    TW_TRY(room_for(&operators, sizeof *graph->operators, &graph->operators, &graph->operator_count));
    for (int i = 0; i < graph->operator_count; i++) {
        tw__lite_operator *node = &graph->operators[i];
        tw__flat_table one = tw__flat_table_at(&operators, i);
        int64_t code = (uint32_t)tw__flat_int(&one, TW_LITE_OPERATOR_CODE, 4, 0);
        if (code >= model->code_count)
            return tw__fail(TW_VALUE_ERROR, "operator %d has the code %lld of %d", i, (long long)code, model->code_count);
        node->code = (int)code;
        node->inputs = tw__flat_list(&one, TW_LITE_OPERATOR_INPUTS, 4);
        node->outputs = tw__flat_list(&one, TW_LITE_OPERATOR_OUTPUTS, 4);
        node->options = tw__flat_child(&one, TW_LITE_OPERATOR_OPTIONS);
        TW_TRY(check_numbers(graph, &node->inputs, -1));
        TW_TRY(check_numbers(graph, &node->outputs, 0));
    }
    return TW_OK;
}

static tw_status check_names(const tw__lite_subgraph *graph, const tw__flat_vector *list)
{
    for (int64_t i = 0; i < list->count; i++) {
        tw__flat_table one = tw__flat_table_at(list, i);
        int64_t number = (uint32_t)tw__flat_int(&one, TW_LITE_MAP_TENSOR, 4, 0);
        if (number >= graph->tensor_count)
            return tw__fail(TW_VALUE_ERROR, "a signature names tensor %lld of %d", (long long)number, graph->tensor_count);
    }
    return TW_OK;
}

static tw_status read_signatures(tw__lite_model *model, const tw__flat_table *root)
{
    tw__flat_vector list = tw__flat_list(root, TW_LITE_MODEL_SIGNATURES, 4);
    TW_TRY(room_for(&list, sizeof *model->signatures, &model->signatures, &model->signature_count));
    for (int i = 0; i < model->signature_count; i++) {
        tw__lite_signature *signature = &model->signatures[i];
        tw__flat_table one = tw__flat_table_at(&list, i);
        signature->key = tw__flat_text(&one, TW_LITE_SIGNATURE_KEY);
        signature->inputs = tw__flat_list(&one, TW_LITE_SIGNATURE_INPUTS, 4);
        signature->outputs = tw__flat_list(&one, TW_LITE_SIGNATURE_OUTPUTS, 4);
        int64_t graph = (uint32_t)tw__flat_int(&one, TW_LITE_SIGNATURE_GRAPH, 4, 0);
        if (graph >= model->subgraph_count)
            return tw__fail(TW_VALUE_ERROR, "a signature names subgraph %lld of %d", (long long)graph, model->subgraph_count);
        signature->subgraph = (int)graph;
        TW_TRY(check_names(&model->subgraphs[graph], &signature->inputs));
        TW_TRY(check_names(&model->subgraphs[graph], &signature->outputs));
    }
    return TW_OK;
}

static tw_status read_parts(tw__lite_model *model)
{
    tw__flat_table root = tw__flat_root(&model->flat, TW_LITE_IDENTIFIER);
    if (!root.at)
        return tw__fail(TW_VALUE_ERROR, "it is no TFLite file, or a damaged one");
    int64_t version = tw__flat_int(&root, TW_LITE_MODEL_VERSION, 4, 0);
    if (version != TW_LITE_SCHEMA_VERSION)
        return tw__fail(TW_VALUE_ERROR, "its schema has version %lld, %d is supported", (long long)version,
                        TW_LITE_SCHEMA_VERSION);
    tw__flat_vector codes = tw__flat_list(&root, TW_LITE_MODEL_CODES, 4),
                    buffers = tw__flat_list(&root, TW_LITE_MODEL_BUFFERS, 4),
                    graphs = tw__flat_list(&root, TW_LITE_MODEL_SUBGRAPHS, 4);
    TW_TRY(room_for(&codes, sizeof *model->codes, &model->codes, &model->code_count));
    for (int i = 0; i < model->code_count; i++) {
        tw__flat_table one = tw__flat_table_at(&codes, i);
        int64_t old = tw__flat_int(&one, TW_LITE_CODE_OLD, 1, 0), now = tw__flat_int(&one, TW_LITE_CODE_BUILTIN, 4, 0);
        model->codes[i].builtin = (int)(now > old ? now : old);
        model->codes[i].custom = tw__flat_text(&one, TW_LITE_CODE_CUSTOM);
    }
    if (!graphs.count)
        return tw__fail(TW_VALUE_ERROR, "it has no subgraph");
    TW_TRY(room_for(&graphs, sizeof *model->subgraphs, &model->subgraphs, &model->subgraph_count));
    for (int i = 0; i < model->subgraph_count; i++) {
        tw__flat_table one = tw__flat_table_at(&graphs, i);
        TW_TRY(read_subgraph(model, &one, &buffers, &model->subgraphs[i]));
    }
    return read_signatures(model, &root);
}

tw__lite_model *tw__lite_model_read(char *bytes, size_t size, const char *path)
{
    tw__lite_model *model = tw__object_new(&model_class);
    if (!model) {
        tw__free(bytes);
        return NULL;
    }
    model->bytes = bytes;
    model->flat = (tw__flat){ .bytes = (const uint8_t *)bytes, .size = size };
    tw_status status = read_parts(model);
    if (status == TW_OK && model->flat.broken)
        status = tw__fail(TW_VALUE_ERROR, "it is damaged");
    if (status != TW_OK) {
        tw__error_prefix("%s: ", path);
        tw_release(model);
        return NULL;
    }
    model->flat.seen = 0;
    return model;
}

tw_tensor *tw__lite_constant(tw__lite_tensor *tensor)
{
    if (tensor->value)
        return tensor->value;
    int64_t count;
    if (tw__shape_count(&tensor->shape, &count) != TW_OK)
        return NULL;
    size_t element = tw_dtype_size(tensor->dtype);
    if (tensor->sparse || tensor->dtype == TW_STRING || !element) {
        tw__fail(TW_VALUE_ERROR, "tensor '%s': constants that are %s are not supported", tensor->name.data,
                 tensor->sparse ? "sparse" : tw_dtype_name(tensor->dtype));
        return NULL;
    }
    if (tensor->size / element != (uint64_t)count || tensor->size % element) {
        tw__fail(TW_VALUE_ERROR, "tensor '%s' has %zu bytes of data, expected %lld elements of %zu", tensor->name.data,
                 tensor->size, (long long)count, element);
        return NULL;
    }
    return tensor->value = tw_tensor_new(tensor->dtype, tensor->shape, tensor->data);
}
