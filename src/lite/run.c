/* Preparing and running an interpreter's subgraphs. A subgraph is traced into a function when tensors are allocated, so that a
 * run is that of a plan. Variables are arguments and results of that function. */
#include "eager/eager.h"
#include "lite/interpreter.h"
#include "rows.h"

tw__lite_runner *tw__lite_runner_of(struct tw_lite_interpreter *self, int64_t subgraph)
{
    if (subgraph >= 0 && subgraph < self->model->subgraph_count)
        return &self->runners[subgraph];
    tw__fail(TW_VALUE_ERROR, "subgraph %lld of %d is asked for", (long long)subgraph, self->model->subgraph_count);
    return NULL;
}

static void release_all(tw_tensor ***list, int count)
{
    for (int i = 0; *list && i < count; i++)
        tw_release((*list)[i]);
    tw__free(*list);
    *list = NULL;
}

void tw__lite_forget(const tw__lite_subgraph *graph, tw__lite_runner *runner)
{
    release_all(&runner->outputs, graph->output_count);
    release_all(&runner->values, graph->tensor_count);
    release_all(&runner->before, runner->before_count);
    tw_release(TW_TAKE(runner->function));
    runner->allocated = false;
}

void tw__lite_runner_end(const tw__lite_subgraph *graph, tw__lite_runner *runner)
{
    tw__lite_forget(graph, runner);
    release_all(&runner->inputs, graph->input_count);
    release_all(&runner->kept, runner->variable_count);
    tw__free(runner->variables);
    tw__free(runner->shapes);
}

/* ---- one pass ---- */

typedef struct pass_context {
    struct tw_lite_interpreter *self;
    int64_t subgraph;
    tw_tensor **values; /* kept here if they are to be seen, or NULL */
} pass_context;

static void state_end(tw__lite_state *state)
{
    tw__map_free(&state->named, (void (*)(void *))tw_release);
}

/* The results: outputs, kept values, named variables. */
static tw_status pass_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const pass_context *p = context;
    tw__lite_subgraph *graph = &p->self->model->subgraphs[p->subgraph];
    const tw__lite_runner *runner = &p->self->runners[p->subgraph];
    const tw__map *named = &p->self->state.named;
    tw__held tw_tensor **own = p->values ? NULL : tw__held_new((size_t)graph->tensor_count);
    tw_tensor **values = p->values ? p->values : own;
    tw__auto(state_end) tw__lite_state state = { .fixed = true };
    TW_NEED(values);
    int at = 0;
    for (int i = 0; i < graph->input_count && at < count; i++)
        tw__set(&values[graph->inputs[i]], arguments[at++]);
    for (int i = 0; i < runner->variable_count && at < count; i++)
        tw__set(&values[runner->variables[i]], arguments[at++]);
    for (size_t i = 0; i < named->count && at < count; i++)
        TW_TRY(tw__map_put(&state.named, named->entries[i].key, named->entries[i].key_size, tw_retain(arguments[at++])));
    tw__lite_pass pass = { .model = p->self->model, .graph = graph, .values = values, .state = &state };
    TW_TRY(tw__lite_build(&pass));
    *output_count = graph->output_count + runner->variable_count + (int)named->count;
    tw_tensor **made = *outputs = tw__alloc_array((size_t)*output_count + 1, sizeof *made);
    TW_NEED(made);
    for (int i = 0; i < graph->output_count; i++)
        *made++ = tw_retain(values[graph->outputs[i]]);
    for (int i = 0; i < runner->variable_count; i++)
        *made++ = tw_retain(values[runner->variables[i]]);
    for (size_t i = 0; i < named->count; i++)
        *made++ = tw_retain(state.named.entries[i].value);
    return TW_OK;
}

/* ---- preparing ---- */

/* First values of variables: zeros, and what CALL_ONCE's subgraphs assign. */
static tw_status first_values(struct tw_lite_interpreter *self, int64_t subgraph)
{
    const tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    for (int i = 0; i < graph->operator_count; i++) {
        const tw__lite_operator *one = &graph->operators[i];
        int builtin = self->model->codes[one->code].builtin;
        if (builtin < 0 || builtin >= TW_LITE_BUILTINS || tw__lite_builtins[builtin].build != tw__lite_once)
            continue;
        int64_t number = tw__flat_int(&one->options, 0, 4, 0);
        if (number < 0 || number >= self->model->subgraph_count)
            return tw__fail(TW_VALUE_ERROR, "CALL_ONCE: subgraph %lld of %d is called", (long long)number,
                            self->model->subgraph_count);
        tw__lite_state fresh = { 0 };
        tw__held tw_tensor **values = tw__held_new((size_t)self->model->subgraphs[number].tensor_count);
        TW_NEED(values);
        tw__lite_pass pass = {
            .model = self->model, .graph = &self->model->subgraphs[number], .values = values, .state = &fresh, .depth = 1
        };
        tw_status status = tw__lite_build(&pass);
        for (size_t j = 0; status == TW_OK && j < fresh.named.count; j++) {
            const tw__map_entry *entry = &fresh.named.entries[j];
            if (!tw__map_has(&self->state.named, entry->key, entry->key_size))
                status = tw__map_put(&self->state.named, entry->key, entry->key_size, tw_retain(entry->value));
        }
        state_end(&fresh);
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status find_variables(const tw__lite_subgraph *graph, tw__lite_runner *runner)
{
    if (runner->variables)
        return TW_OK;
    runner->variables = tw__alloc_array((size_t)graph->tensor_count + 1, sizeof *runner->variables);
    runner->kept = tw__alloc_array((size_t)graph->tensor_count + 1, sizeof *runner->kept);
    TW_NEED(runner->variables && runner->kept);
    for (int i = 0; i < graph->tensor_count; i++) {
        const tw__lite_tensor *tensor = &graph->tensors[i];
        if (!tensor->variable)
            continue;
        runner->kept[runner->variable_count] = tw_tensor_new(tensor->dtype, tensor->shape, NULL);
        TW_NEED(runner->kept[runner->variable_count]);
        runner->variables[runner->variable_count++] = i;
    }
    return TW_OK;
}

static tw_status trace(struct tw_lite_interpreter *self, int64_t subgraph)
{
    const tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    tw__lite_runner *runner = &self->runners[subgraph];
    const tw__map *named = &self->state.named;
    int count = graph->input_count + runner->variable_count + (int)named->count, at = 0;
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    TW_NEED(dtypes && shapes);
    for (int i = 0; i < graph->input_count; i++, at++) {
        dtypes[at] = graph->tensors[graph->inputs[i]].dtype;
        shapes[at] = runner->shapes[i];
    }
    for (int i = 0; i < runner->variable_count; i++, at++) {
        dtypes[at] = runner->kept[i]->dtype;
        shapes[at] = runner->kept[i]->shape;
    }
    for (size_t i = 0; i < named->count; i++, at++) {
        const tw_tensor *value = named->entries[i].value;
        dtypes[at] = value->dtype;
        shapes[at] = value->shape;
    }
    pass_context context = { self, subgraph, NULL };
    runner->function = tw__function_trace_named("lite", NULL, dtypes, shapes, count, pass_body, &context);
    return runner->function ? TW_OK : tw__error_status();
}

static tw_status allocate(struct tw_lite_interpreter *self, int64_t subgraph)
{
    tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    tw__lite_runner *runner = &self->runners[subgraph];
    TW_TRY(find_variables(graph, runner));
    TW_TRY(first_values(self, subgraph));
    TW_TRY(trace(self, subgraph));
    for (int i = 0; i < graph->input_count; i++) { /* values stay if they still fit */
        if (runner->inputs[i] && tw__shape_equal(&runner->inputs[i]->shape, &runner->shapes[i]))
            continue;
        tw_auto tw_tensor *zeros = tw_tensor_new(graph->tensors[graph->inputs[i]].dtype, runner->shapes[i], NULL);
        TW_NEED(zeros);
        tw__set(&runner->inputs[i], zeros);
    }
    runner->outputs = tw__alloc_array((size_t)graph->output_count + 1, sizeof *runner->outputs);
    TW_NEED(runner->outputs);
    runner->allocated = true;
    return TW_OK;
}

tw_status tw__lite_allocate(struct tw_lite_interpreter *self, int64_t subgraph)
{
    tw__lite_runner *runner = tw__lite_runner_of(self, subgraph);
    TW_NEED(runner);
    if (runner->allocated)
        return TW_OK;
    tw__outside outside = tw__outside_begin();
    tw_status status = allocate(self, subgraph);
    tw__outside_end(outside);
    if (status != TW_OK)
        tw__lite_forget(&self->model->subgraphs[subgraph], runner);
    return status;
}

/* ---- running ---- */

static tw_status take_results(struct tw_lite_interpreter *self, int64_t subgraph, tw_tensor *const *made)
{
    const tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    tw__lite_runner *runner = &self->runners[subgraph];
    for (int i = 0; i < graph->output_count; i++)
        tw__set(&runner->outputs[i], *made++);
    for (int i = 0; i < runner->variable_count; i++)
        tw__set(&runner->kept[i], *made++);
    for (size_t i = 0; i < self->state.named.count; i++)
        tw__set(&self->state.named.entries[i].value, *made++);
    return TW_OK;
}

static tw_status run(struct tw_lite_interpreter *self, int64_t subgraph)
{
    const tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    tw__lite_runner *runner = &self->runners[subgraph];
    int named = (int)self->state.named.count, count = graph->input_count + runner->variable_count + named, at = 0;
    int results = graph->output_count + runner->variable_count + named;
    if (results != runner->function->output_count)
        return tw__fail(TW_RUNTIME_ERROR, "variables came after the tensors were allocated; allocate them again");
    tw_tensor **arguments = tw__alloc_array((size_t)count + 1, sizeof *arguments);
    tw__held tw_tensor **made = tw__held_new((size_t)results);
    TW_NEED(arguments && made);
    for (int i = 0; i < graph->input_count; i++)
        arguments[at++] = tw_retain(runner->inputs[i]);
    for (int i = 0; i < runner->variable_count; i++)
        arguments[at++] = tw_retain(runner->kept[i]);
    for (int i = 0; i < named; i++)
        arguments[at++] = tw_retain(self->state.named.entries[i].value);
    release_all(&runner->values, graph->tensor_count);
    release_all(&runner->before, runner->before_count);
    runner->before = arguments;
    runner->before_count = count;
    TW_TRY(tw__function_call(runner->function, arguments, made));
    return take_results(self, subgraph, made);
}

tw_status tw__lite_invoke(struct tw_lite_interpreter *self, int64_t subgraph)
{
    tw__lite_runner *runner = tw__lite_runner_of(self, subgraph);
    TW_NEED(runner);
    if (!runner->allocated)
        return tw__fail(TW_RUNTIME_ERROR, "Invoke called on model that is not ready.");
    tw__outside outside = tw__outside_begin();
    tw_status status = run(self, subgraph);
    tw__outside_end(outside);
    return status;
}

tw_status tw__lite_look(struct tw_lite_interpreter *self, int64_t subgraph)
{
    const tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    tw__lite_runner *runner = &self->runners[subgraph];
    if (runner->values || !runner->before)
        return TW_OK;
    runner->values = tw__alloc_array((size_t)graph->tensor_count + 1, sizeof *runner->values);
    TW_NEED(runner->values);
    pass_context context = { self, subgraph, runner->values };
    tw_tensor **made = NULL;
    int count = 0;
    tw__outside outside = tw__outside_begin();
    tw_status status = pass_body(&context, runner->before, runner->before_count, &made, &count);
    tw__outside_end(outside);
    release_all(&made, status == TW_OK ? count : 0);
    return status;
}

tw_status tw__lite_reset(struct tw_lite_interpreter *self)
{
    for (int g = 0; g < self->model->subgraph_count; g++) {
        tw__lite_runner *runner = &self->runners[g];
        for (int i = 0; i < runner->variable_count; i++) {
            tw_auto tw_tensor *zeros = tw_tensor_new(runner->kept[i]->dtype, runner->kept[i]->shape, NULL);
            TW_NEED(zeros);
            tw__set(&runner->kept[i], zeros);
        }
    }
    return TW_OK;
}

tw_shape tw__lite_shape_now(const struct tw_lite_interpreter *self, int64_t subgraph, int64_t number)
{
    const tw__lite_subgraph *graph = &self->model->subgraphs[subgraph];
    const tw__lite_runner *runner = &self->runners[subgraph];
    for (int i = 0; i < graph->input_count; i++) {
        if (graph->inputs[i] == number)
            return runner->shapes[i];
    }
    for (int i = 0; runner->allocated && i < graph->output_count; i++) {
        const tw_shape *traced = tw__function_output_shape(runner->function, i);
        if (graph->outputs[i] == number && runner->outputs[i])
            return runner->outputs[i]->shape;
        if (graph->outputs[i] == number && tw__shape_known(traced))
            return *traced;
    }
    return graph->tensors[number].shape;
}
