/* tf.lite.Interpreter's rows. Tensors have numbers within a subgraph; `subgraph` is 0 except for signatures. */
#include <limits.h>

#include "lite/interpreter.h"
#include "rows.h"

static void interpreter_destroy(void *self)
{
    struct tw_lite_interpreter *i = self;
    for (int g = 0; i->runners && g < i->model->subgraph_count; g++)
        tw__lite_runner_end(&i->model->subgraphs[g], &i->runners[g]);
    tw__free(i->runners);
    tw__map_free(&i->state.named, (void (*)(void *))tw_release);
    tw_release(i->model);
}

static char *content_of(const tw_value *content, size_t *size)
{
    if (content->kind != TW_VALUE_BYTES && content->kind != TW_VALUE_STR) {
        tw__fail(TW_VALUE_ERROR, "Interpreter: `model_content` must be bytes");
        return NULL;
    }
    *size = content->s.size;
    return tw__strndup(content->s.data, content->s.size);
}

static tw_status interpreter_init(void *self, const void *given)
{
    const tw_lite_interpreter_args *args = given;
    struct tw_lite_interpreter *i = self;
    bool content = args->model_content.kind != TW_VALUE_NONE;
    if (!args->model_path == !content)
        return tw__fail(TW_VALUE_ERROR, args->model_path ? "Can't both provide `model_path` and `model_content`"
                                                         : "`model_path` or `model_content` must be specified.");
    size_t size = 0;
    char *bytes = content ? content_of(&args->model_content, &size) : tw__file_read_all(args->model_path, INT_MAX, &size);
    if (!bytes && !content) {
        tw_clear_error();
        return tw__fail(TW_VALUE_ERROR, "Could not open '%s'.", args->model_path);
    }
    TW_NEED(bytes);
    i->model = tw__lite_model_read(bytes, size, content ? "model_content" : args->model_path);
    TW_NEED(i->model);
    i->runners = tw__alloc_array((size_t)i->model->subgraph_count, sizeof *i->runners);
    TW_NEED(i->runners);
    for (int g = 0; g < i->model->subgraph_count; g++) {
        const tw__lite_subgraph *graph = &i->model->subgraphs[g];
        tw__lite_runner *runner = &i->runners[g];
        runner->shapes = tw__alloc_array((size_t)graph->input_count + 1, sizeof *runner->shapes);
        runner->inputs = tw__alloc_array((size_t)graph->input_count + 1, sizeof *runner->inputs);
        TW_NEED(runner->shapes && runner->inputs);
        for (int k = 0; k < graph->input_count; k++)
            runner->shapes[k] = graph->tensors[graph->inputs[k]].shape;
    }
    return TW_OK;
}

TW_CLASS(lite_interpreter, "lite._Interpreter(model_path: str = None, model_content: value = None)",
         .size = sizeof(struct tw_lite_interpreter), .init = interpreter_init, .destroy = interpreter_destroy,
         .drop_config = true, .doc = "Runs a TFLite model of a file or of bytes.");

/* Errors while tensors are allocated or ops run are RuntimeErrors. */
static tw_status as_runtime_error(tw_status status)
{
    if (status == TW_OK || status == TW_VALUE_ERROR || status == TW_RESOURCE_EXHAUSTED)
        return status;
    tw__saved_error saved = tw__error_take();
    tw__fail(TW_RUNTIME_ERROR, "%s", tw__error_message_of(&saved));
    tw__error_drop(&saved);
    return TW_RUNTIME_ERROR;
}

TW_METHOD(lite_interpreter_allocate, "lite._Interpreter._allocate(self: lite_interpreter, subgraph: int = 0)",
          "Prepares a subgraph for the shapes of its inputs.")
{
    return as_runtime_error(tw__lite_allocate(args->self, args->subgraph));
}

TW_METHOD(lite_interpreter_invoke, "lite._Interpreter._invoke(self: lite_interpreter, subgraph: int = 0)",
          "Runs a subgraph with the values of its inputs.")
{
    return as_runtime_error(tw__lite_invoke(args->self, args->subgraph));
}

TW_METHOD(lite_interpreter_reset, "lite._Interpreter.reset_all_variables(self: lite_interpreter)",
          "Tensors that keep their values from run to run become zeros.")
{
    return tw__lite_reset(args->self);
}

/* ---- what is there ---- */

static tw_value int_list(const int64_t *items, int64_t count)
{
    tw_value *list = tw__alloc_array((size_t)count + 1, sizeof *list);
    for (int64_t i = 0; list && i < count; i++)
        list[i] = (tw_value){ .kind = TW_VALUE_INT, .i = items[i] };
    return list ? (tw_value){ .kind = TW_VALUE_LIST, .list = { list, count } } : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value numbers(const int *items, int count)
{
    tw__owned int64_t *wide = tw__alloc_array((size_t)count + 1, sizeof *wide);
    for (int i = 0; wide && i < count; i++)
        wide[i] = items[i];
    return wide ? int_list(wide, count) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(lite_interpreter_inputs, "lite._Interpreter._inputs(self: lite_interpreter, subgraph: int = 0) -> value",
          "The numbers of the tensors that are inputs.")
{
    if (!tw__lite_runner_of(args->self, args->subgraph))
        return (tw_value){ .kind = TW_VALUE_NONE };
    const tw__lite_subgraph *graph = &args->self->model->subgraphs[args->subgraph];
    return numbers(graph->inputs, graph->input_count);
}

TW_METHOD(lite_interpreter_outputs, "lite._Interpreter._outputs(self: lite_interpreter, subgraph: int = 0) -> value",
          "The numbers of the tensors that are outputs.")
{
    if (!tw__lite_runner_of(args->self, args->subgraph))
        return (tw_value){ .kind = TW_VALUE_NONE };
    const tw__lite_subgraph *graph = &args->self->model->subgraphs[args->subgraph];
    return numbers(graph->outputs, graph->output_count);
}

TW_METHOD(lite_interpreter_count, "lite._Interpreter._count(self: lite_interpreter, subgraph: int = 0) -> int",
          "How many tensors a subgraph has.")
{
    return tw__lite_runner_of(args->self, args->subgraph) ? args->self->model->subgraphs[args->subgraph].tensor_count : 0;
}

/* The tensor of that number; NULL: an error. */
static tw__lite_tensor *tensor_at(struct tw_lite_interpreter *self, int64_t subgraph, int64_t number)
{
    if (!tw__lite_runner_of(self, subgraph))
        return NULL;
    tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    if (number >= 0 && number < graph->tensor_count)
        return &graph->tensors[number];
    tw__fail(TW_VALUE_ERROR, "Invalid tensor index %lld exceeds max tensor index %d", (long long)number, graph->tensor_count - 1);
    return NULL;
}

static tw_value text_value(tw_string text)
{
    char *copy = tw__strndup(text.data, text.size);
    return copy ? (tw_value){ .kind = TW_VALUE_STR, .s = { copy, text.size } } : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(lite_interpreter_describe,
          "lite._Interpreter._describe(self: lite_interpreter, tensor: int, subgraph: int = 0) -> value",
          "Of a tensor: name, shape, shape with -1 where it may change, dtype, scales, zero points, and their dimension.")
{
    tw_value none = { .kind = TW_VALUE_NONE };
    const tw__lite_tensor *tensor = tensor_at(args->self, args->subgraph, args->tensor);
    tw_value *items = tensor ? tw__alloc_array(7, sizeof *items) : NULL;
    if (!items)
        return none;
    tw_shape shape = tw__lite_shape_now(args->self, args->subgraph, args->tensor);
    items[0] = text_value(tensor->name);
    items[1] = int_list(shape.dims, shape.rank);
    items[2] = int_list(tensor->signature.dims, tensor->signature.rank);
    items[3] = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = tensor->dtype };
    items[4] = int_list(NULL, 0);
    tw_value *scales = tw__alloc_array((size_t)tensor->scales.count + 1, sizeof *scales);
    for (int64_t i = 0; scales && i < tensor->scales.count; i++)
        scales[i] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw__flat_float_at(&tensor->scales, i) };
    if (scales) {
        tw_value_free(&items[4]);
        items[4] = (tw_value){ .kind = TW_VALUE_LIST, .list = { scales, tensor->scales.count } };
    }
    tw__owned int64_t *zeros = tw__alloc_array((size_t)tensor->zeros.count + 1, sizeof *zeros);
    for (int64_t i = 0; zeros && i < tensor->zeros.count; i++)
        zeros[i] = tw__flat_int_at(&tensor->zeros, i, 8);
    items[5] = zeros ? int_list(zeros, tensor->zeros.count) : none;
    items[6] = (tw_value){ .kind = TW_VALUE_INT, .i = tensor->dimension };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 7 } };
}

static tw_value name_map(const tw__flat_vector *list)
{
    tw_value *items = tw__alloc_array((size_t)list->count + 1, 2 * sizeof *items);
    for (int64_t i = 0; items && i < list->count; i++) {
        tw__flat_table one = tw__flat_table_at(list, i);
        items[2 * i] = text_value(tw__flat_text(&one, TW_LITE_MAP_NAME));
        items[2 * i + 1] = (tw_value){ .kind = TW_VALUE_INT, .i = tw__flat_int(&one, TW_LITE_MAP_TENSOR, 4, 0) };
    }
    return items ? (tw_value){ .kind = TW_VALUE_DICT, .list = { items, 2 * list->count } } : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(lite_interpreter_signatures, "lite._Interpreter._signatures(self: lite_interpreter) -> value",
          "Of each signature: its name, its subgraph, and its inputs and outputs by name.")
{
    const tw__lite_model *model = args->self->model;
    tw_value *items = tw__alloc_array((size_t)model->signature_count + 1, sizeof *items);
    for (int i = 0; items && i < model->signature_count; i++) {
        const tw__lite_signature *signature = &model->signatures[i];
        tw_value *parts = tw__alloc_array(4, sizeof *parts);
        if (!parts)
            break;
        parts[0] = text_value(signature->key);
        parts[1] = (tw_value){ .kind = TW_VALUE_INT, .i = signature->subgraph };
        parts[2] = name_map(&signature->inputs);
        parts[3] = name_map(&signature->outputs);
        items[i] = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { parts, 4 } };
    }
    return items ? (tw_value){ .kind = TW_VALUE_LIST, .list = { items, model->signature_count } }
                 : (tw_value){ .kind = TW_VALUE_NONE };
}

/* ---- values ---- */

static int place_among(const int *list, int count, int64_t number)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == number)
            return i;
    }
    return -1;
}

TW_METHOD(lite_interpreter_resize,
          "lite._Interpreter._resize(self: lite_interpreter, tensor: int, shape: shape, strict: bool = False, subgraph: int = 0)",
          "Gives an input another shape; tensors are to be allocated again.")
{
    const tw__lite_tensor *tensor = tensor_at(args->self, args->subgraph, args->tensor);
    TW_NEED(tensor);
    const tw__lite_subgraph *graph = &args->self->model->subgraphs[args->subgraph];
    tw__lite_runner *runner = &args->self->runners[args->subgraph];
    int place = place_among(graph->inputs, graph->input_count, args->tensor);
    int64_t count;
    if (place < 0)
        return tw__fail(TW_VALUE_ERROR, "tensor %lld is no input: it can't be resized", (long long)args->tensor);
    if (!tw__shape_known(&args->shape))
        return tw__fail(TW_VALUE_ERROR, "an input can't be resized to %s", tw__shape_text(&args->shape));
    TW_TRY(tw__shape_count(&args->shape, &count));
    for (int i = 0; args->strict && i < tensor->signature.rank; i++) {
        int64_t now = tensor->signature.dims[i], asked = i < args->shape.rank ? args->shape.dims[i] : -1;
        if (now != -1 && now != asked)
            return tw__fail(
                TW_RUNTIME_ERROR,
                "Attempting to resize dimension %d of tensor %lld with value %lld to %lld. ResizeInputTensorStrict only "
                "allows mutating unknown dimensions identified by -1.",
                i, (long long)args->tensor, (long long)now, (long long)asked);
    }
    if (args->strict && args->shape.rank != tensor->signature.rank)
        return tw__fail(TW_RUNTIME_ERROR, "ResizeInputTensorStrict: tensor %lld has %d dimensions, not %d",
                        (long long)args->tensor, tensor->signature.rank, args->shape.rank);
    if (tw__shape_equal(&runner->shapes[place], &args->shape))
        return TW_OK;
    runner->shapes[place] = args->shape;
    tw__lite_forget(graph, runner);
    return TW_OK;
}

TW_METHOD(lite_interpreter_set, "lite._Interpreter._set(self: lite_interpreter, tensor: int, value: tensor, subgraph: int = 0)",
          "Sets an input.")
{
    const tw__lite_tensor *tensor = tensor_at(args->self, args->subgraph, args->tensor);
    TW_NEED(tensor);
    const tw__lite_subgraph *graph = &args->self->model->subgraphs[args->subgraph];
    tw__lite_runner *runner = &args->self->runners[args->subgraph];
    int place = place_among(graph->inputs, graph->input_count, args->tensor);
    long long number = args->tensor;
    if (place < 0)
        return tw__fail(TW_VALUE_ERROR, "Cannot set tensor: tensor %lld is no input.", number);
    const tw_shape *shape = &runner->shapes[place], *got = &args->value->shape;
    if (!tw__tensor_values(args->value, "Interpreter.set_tensor"))
        return tw__error_status();
    if (args->value->dtype != tensor->dtype)
        return tw__fail(TW_VALUE_ERROR, "Cannot set tensor: Got value of type %s but expected type %s for input %lld, name: %s ",
                        tw__lite_type_name(args->value->dtype), tw__lite_type_name(tensor->dtype), number, tensor->name.data);
    if (got->rank != shape->rank)
        return tw__fail(TW_VALUE_ERROR, "Cannot set tensor: Dimension mismatch. Got %d but expected %d for input %lld.",
                        got->rank, shape->rank, number);
    for (int i = 0; i < shape->rank; i++) {
        if (got->dims[i] != shape->dims[i])
            return tw__fail(TW_VALUE_ERROR,
                            "Cannot set tensor: Dimension mismatch. Got %lld but expected %lld for dimension %d of input %lld.",
                            (long long)got->dims[i], (long long)shape->dims[i], i, number);
    }
    if (!runner->allocated)
        return tw__fail(TW_VALUE_ERROR, "Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first");
    tw_auto tw_tensor *copy = tw__tensor_copy(args->value);
    TW_NEED(copy);
    tw__set(&runner->inputs[place], copy);
    return TW_OK;
}

TW_METHOD(lite_interpreter_get, "lite._Interpreter._get(self: lite_interpreter, tensor: int, subgraph: int = 0) -> tensor<numpy>",
          "The value of a tensor: an input, an output, a constant, or what the last run had on its way.")
{
    tw__lite_tensor *tensor = tensor_at(args->self, args->subgraph, args->tensor);
    if (!tensor)
        return NULL;
    const tw__lite_subgraph *graph = &args->self->model->subgraphs[args->subgraph];
    tw__lite_runner *runner = &args->self->runners[args->subgraph];
    int input = place_among(graph->inputs, graph->input_count, args->tensor),
        output = place_among(graph->outputs, graph->output_count, args->tensor),
        kept = place_among(runner->variables, runner->variable_count, args->tensor);
    tw_tensor *found = NULL;
    if (runner->allocated && input >= 0)
        found = runner->inputs[input];
    else if (runner->allocated && output >= 0 && runner->outputs[output])
        found = runner->outputs[output];
    else if (runner->allocated && kept >= 0)
        found = runner->kept[kept];
    else if (tensor->data)
        found = tw__lite_constant(tensor);
    else if (runner->before) {
        if (as_runtime_error(tw__lite_look(args->self, args->subgraph)) != TW_OK)
            return NULL;
        found = runner->values[args->tensor];
    }
    if (found)
        return tw__tensor_copy(found);
    tw_shape shape = tw__lite_shape_now(args->self, args->subgraph, args->tensor);
    if (runner->allocated && output >= 0 && tw_dtype_size(tensor->dtype))
        return tw_tensor_new(tensor->dtype, shape, NULL);
    if (tw_error_code() == TW_OK)
        tw__fail(TW_VALUE_ERROR, "Tensor data is null. Run allocate_tensors() first");
    return NULL;
}
