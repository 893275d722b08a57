/* Functions that steps of datasets call with elements: graph functions with the values that they captured. They run as plans, in
 * whatever thread, without the embedding language (unless they call it themselves). */
#include "data/state.h"
#include "rows.h"

enum { FEW = 32 };

int tw__data_list_count(tw__kernel *kernel, const char *types_attr)
{
    return TW_ATTR(kernel, types_attr)->count;
}

tw_status tw__data_function_read(tw__data_function *f, tw__kernel *kernel, const char *attr, int first, int captures)
{
    tw__function *function = TW_ATTR(kernel, attr)->func;
    if (!tw__is(function, &tw__function_class))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the attr %s is no function", attr);
    if (captures > function->input_count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s takes %d inputs, and %d are captured", function->name,
                          function->input_count, captures);
    f->captures = tw__alloc_array((size_t)captures + 1, sizeof *f->captures);
    TW_NEED(f->captures);
    f->function = tw_retain(function);
    for (int i = 0; i < captures; i++)
        f->captures[i] = tw_retain(kernel->inputs[first + i]);
    f->capture_count = captures;
    return TW_OK;
}

tw_status tw__data_functions_read(tw__data_function *functions, tw__kernel *kernel, const char *const *names, int count)
{
    for (int i = 0, first = 1; i < count; i++) {
        char types[64];
        snprintf(types, sizeof types, "T%s_other_arguments", names[i]);
        int captures = tw__data_list_count(kernel, types);
        TW_TRY(tw__data_function_read(&functions[i], kernel, names[i], first, captures));
        first += captures;
    }
    return TW_OK;
}

void tw__data_function_end(tw__data_function *f)
{
    tw_release(f->function);
    for (int i = 0; i < f->capture_count; i++)
        tw_release(f->captures[i]);
    tw__free(f->captures);
    *f = (tw__data_function){ 0 };
}

tw_status tw__data_call(const tw__data_function *f, tw_tensor *const *first, int first_count, tw_tensor *const *second,
                        int second_count, tw_tensor **outputs)
{
    int count = first_count + second_count + f->capture_count;
    if (count != f->function->input_count)
        return tw__fail(TW_INVALID_ARGUMENT, "%s takes %d inputs, got %d", f->function->name, f->function->input_count, count);
    tw_tensor *few[FEW], **inputs = count <= FEW ? few : tw__alloc_array((size_t)count, sizeof *inputs);
    TW_NEED(inputs);
    for (int i = 0; i < first_count; i++)
        inputs[i] = first[i];
    for (int i = 0; i < second_count; i++)
        inputs[first_count + i] = second[i];
    for (int i = 0; i < f->capture_count; i++)
        inputs[first_count + second_count + i] = f->captures[i];
    tw_status status = tw__function_run(f->function, inputs, outputs);
    if (status != TW_OK)
        tw__error_wrap("", "");
    if (inputs != few)
        tw__free(inputs);
    return status;
}

tw_status tw__data_ask(const tw__data_function *f, tw_tensor *const *element, int count, const char *who, bool *answer)
{
    tw_tensor *result = NULL;
    if (f->function->output_count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: the predicate gives %d tensors, expected one bool", who,
                        f->function->output_count);
    TW_TRY(tw__data_call(f, element, count, NULL, 0, &result));
    tw_status status = TW_OK;
    if (result->dtype != TW_BOOL || result->count != 1)
        status = tw__fail(TW_INVALID_ARGUMENT, "%s: the predicate gave %s %s, expected one bool", who,
                          tw_dtype_name(result->dtype), tw__shape_text(&result->shape));
    else
        *answer = *(const bool *)result->data;
    tw_release(result);
    return status;
}

tw_status tw__data_number_of(const tw__data_function *f, tw_tensor *const *element, int count, const char *who, int64_t *number)
{
    tw_tensor *result = NULL;
    if (f->function->output_count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: the function gives %d tensors, expected one int64", who,
                        f->function->output_count);
    TW_TRY(tw__data_call(f, element, count, NULL, 0, &result));
    tw_status status = TW_OK;
    if (result->dtype != TW_INT64 || result->count != 1)
        status = tw__fail(TW_INVALID_ARGUMENT, "%s: the function gave %s %s, expected one int64", who,
                          tw_dtype_name(result->dtype), tw__shape_text(&result->shape));
    else
        *number = *(const int64_t *)result->data;
    tw_release(result);
    return status;
}

tw__cursor *tw__data_cursor_of(const tw__data_function *f, tw_tensor *const *first, int first_count, tw_tensor *const *second,
                               int second_count, const char *who, int expected)
{
    tw_tensor *variant = NULL;
    if (f->function->output_count != 1) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: the function gives %d tensors, expected one dataset", who, f->function->output_count);
        return NULL;
    }
    if (tw__data_call(f, first, first_count, second, second_count, &variant) != TW_OK)
        return NULL;
    tw__dataset *dataset = tw__dataset_of(who, variant);
    tw__cursor *cursor = NULL;
    if (dataset && dataset->count != expected)
        tw__fail(TW_INVALID_ARGUMENT, "%s: the function gave a dataset of %d components, expected %d", who, dataset->count,
                 expected);
    else if (dataset)
        cursor = tw__cursor_new(dataset);
    tw_release(variant);
    return cursor;
}

/* ---- whether functions depend on their arguments alone ---- */

enum { CALL_DEPTH = 64 };

static bool harmless(const tw_op *op)
{
    static const char *const names[] = { "Assert", "Print", "PrintV2", "If", "Case", "While", "StatefulPartitionedCall" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(op->name, names[i]) == 0)
            return true;
    }
    /* datasets are looked at when they are gone through; what they keep is saved with them */
    return !op->stateful || strstr(op->name, "Dataset") || strncmp(op->name, "Dummy", 5) == 0 ||
           strncmp(op->name, "Stateless", 9) == 0;
}

/* Whether a node makes a dataset whose order is by chance: both seeds are 0. */
static bool by_chance(const tw__node *node)
{
    int first = node->op->seeds - 1;
    for (int i = 0; first >= 0 && i < 2; i++) {
        const tw__node *seed = node->inputs[first + i].node;
        const tw_tensor *value = tw__node_constant(seed);
        if (!value || tw_tensor_int_at(value, 0) != 0)
            return false;
    }
    return first >= 0;
}

/* The op that makes a function's results depend on more than its arguments; NULL: there is none. */
static const tw_op *find_stateful(const tw__function *function, int depth)
{
    if (depth > CALL_DEPTH)
        return NULL;
    for (size_t i = 0; i < function->graph->node_count; i++) {
        const tw__node *node = function->graph->nodes[i];
        if (!harmless(node->op) || by_chance(node))
            return node->op;
        for (int k = 0; k < node->attr_count; k++) {
            const tw_attr *attr = &node->attrs[k];
            int count = attr->kind == TW_ATTR_FUNC ? 1 : attr->kind == TW_ATTR_FUNCS ? attr->count : 0;
            for (int n = 0; n < count; n++) {
                void *inner = attr->kind == TW_ATTR_FUNC ? attr->func : attr->funcs[n];
                const tw_op *found = inner && tw__is(inner, &tw__function_class) ? find_stateful(inner, depth + 1) : NULL;
                if (found)
                    return found;
            }
        }
    }
    return NULL;
}

void tw__state_function(tw__state *state, const tw__data_function *f)
{
    if (!state->saving || !tw__state_good(state) || state->policy == TW_EXTERNAL_IGNORE || !f->function)
        return;
    const tw_op *found = find_stateful(f->function, 0);
    if (found && state->policy == TW_EXTERNAL_WARN)
        tw__log("WARNING", "%s: %s is stateful; its state is not part of the iterator's.", state->step, found->name);
    else if (found)
        state->status = tw__fail_op("SerializeIterator", TW_FAILED_PRECONDITION, "%s is stateful.", found->name);
}
