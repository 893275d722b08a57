/* A step of one of TensorFlow 1's optimizers: its variables, and the nodes that change them, under TensorFlow's names. */
#include "function/function.h"
#include "op/calls.h"
#include "op/slices.h"
#include "session/session.h"
#include "v1/optimizers/optimizers.h"
#include "v1/v1.h"

enum { LARGE = 1000 }; /* elements from which on zeros are filled in by the graph instead of standing in it */

/* ---- values ---- */

static tw_tensor *number_of(tw_dtype dtype, double number)
{
    return dtype == TW_INT64   ? tw_tensor_int64((int64_t)number)
           : dtype == TW_INT32 ? tw_tensor_int((int32_t)number)
                               : tw__float_scalar(dtype, number);
}

static tw_tensor *dims_of(const tw_shape *shape)
{
    int32_t dims[TW_MAX_RANK];
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] > INT32_MAX) {
            tw__fail(TW_UNIMPLEMENTED, "a variable of shape %s", tw__shape_text(shape));
            return NULL;
        }
        dims[i] = (int32_t)shape->dims[i];
    }
    return tw_tensor_new(TW_INT32, TW_SHAPE(shape->rank), dims);
}

/* ---- nodes with names ---- */

static tw_status call(const tw_op *op, const char *name, tw_tensor *const *inputs, int count, const tw_attr *attrs,
                      int attr_count, tw_tensor **output, tw__node **made)
{
    return tw__v1_call(op, name, inputs, count, attrs, attr_count, output, output ? 1 : 0, made);
}

static tw_status call_format(const tw_op *op, tw_tensor *const *inputs, int count, const tw_attr *attrs, int attr_count,
                             tw_tensor **output, tw__node **made, const char *scope, const char *name)
{
    tw__owned char *whole = tw__format("%s%s", scope, name);
    TW_NEED(whole);
    return call(op, whole, inputs, count, attrs, attr_count, output, made);
}

/* A scalar; in a graph a constant of that name. Takes the tensor. */
static tw_tensor *constant(tw_tensor *value, const char *scope, const char *name)
{
    if (!tw__tracing || !value)
        return value;
    tw__owned char *whole = tw__format("%s%s", scope, name);
    tw_tensor *inside = whole ? tw__v1_constant(value, whole) : NULL;
    tw_release(value);
    return inside;
}

static tw_tensor *read_named(tw_variable *variable, const char *scope, const char *name)
{
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    tw_tensor *value = NULL;
    return call_format(&tw__op_ReadVariableOp, &variable->handle, 1, &dtype, 1, &value, NULL, scope, name) == TW_OK ? value
                                                                                                                    : NULL;
}

/* ---- variables of the optimizer ---- */

static size_t name_size(const tw_variable *variable)
{
    size_t size = strlen(variable->name);
    return tw__ends_with(variable->name, ":0") ? size - 2 : size;
}

static tw_tensor *first_value(tw_dtype dtype, double number, const tw_shape *shape, const char *name)
{
    tw_auto tw_tensor *scalar = number_of(dtype, number);
    int64_t count = 0;
    if (!scalar || tw__shape_count(shape, &count) != TW_OK)
        return NULL;
    const char *what = number == 0 ? "zeros" : number == 1 ? "ones" : "Const";
    tw_auto tw_tensor *dims = dims_of(shape);
    tw_tensor *value = NULL;
    if (dims && (!tw__tracing || count < LARGE)) {
        tw__outside outside = tw__outside_begin();
        value = TW_CALL(Fill, dims, scalar);
        tw__outside_end(outside);
        tw__owned char *whole = tw__tracing && value ? tw__format("%s/Initializer/%s", name, what) : NULL;
        tw_auto tw_tensor *inside = whole ? tw__graph_constant(tw__tracing, value, whole) : NULL;
        if (tw__tracing)
            tw__set(&value, inside);
    } else if (dims) {
        tw__owned char *whole = tw__format("%s/Initializer/%s", name, what);
        tw_auto tw_tensor *shape_inside = whole ? constant(tw_retain(dims), whole, "/shape_as_tensor") : NULL;
        tw_auto tw_tensor *number_inside = shape_inside ? constant(tw_retain(scalar), whole, "/Const") : NULL;
        if (number_inside && call(&tw__op_Fill, whole, TW_IN(shape_inside, number_inside), 2, NULL, 0, &value, NULL) != TW_OK)
            value = NULL;
    }
    return value;
}

static tw_variable *make_variable(tw_dtype dtype, double number, const tw_shape *shape, const char *name, bool slot)
{
    tw__outside outside = tw__root_begin();
    tw__graph *graph = tw__tracing;
    tw__owned char *unique = graph ? tw__graph_unique_name(graph, name, false) : tw__strdup(name);
    tw_tensor *value = unique && slot ? first_value(dtype, number, shape, unique) : unique ? number_of(dtype, number) : NULL;
    tw_variable *variable = value ? tw__variable_new(value, name, false, shape) : NULL;
    tw_release(value);
    tw__outside_end(outside);
    return variable;
}

static tw_status make_extras(tw_v1_optimizer *optimizer, tw_variable *const *variables, int64_t count)
{
    const tw__v1_rule *rule = optimizer->rule;
    const tw_variable *first = variables[0];
    for (int64_t i = 1; i < count; i++) {
        if (strcmp(variables[i]->name, first->name) < 0)
            first = variables[i];
    }
    for (int k = 0; k < rule->extra_count; k++) {
        if (optimizer->extras[k] && optimizer->extras[k]->graph == first->graph)
            continue;
        const tw__v1_number *number = &optimizer->numbers[rule->extra_numbers[k]];
        if (number->tensor || number->variable)
            return tw__fail(TW_UNIMPLEMENTED, "%s: %s must be a number", tw_class_name(optimizer),
                            rule->numbers[rule->extra_numbers[k]]);
        tw__owned char *name = tw__format("%s%s", tw__scope(), rule->extras[k]);
        tw_auto tw_variable *made = name ? make_variable(TW_FLOAT32, number->number, &TW_SCALAR, name, false) : NULL;
        TW_NEED(made);
        tw__set(&optimizer->extras[k], made);
    }
    return TW_OK;
}

tw__v1_state *tw__v1_state_of(const tw_v1_optimizer *optimizer, const tw_variable *variable)
{
    int64_t place = tw__pointer_map_get(&optimizer->places, variable, -1);
    return place < 0 ? NULL : &optimizer->states[place];
}

static tw_status make_slots(tw_v1_optimizer *optimizer, tw_variable *variable)
{
    const tw__v1_rule *rule = optimizer->rule;
    if (tw__v1_state_of(optimizer, variable))
        return TW_OK;
    if (!tw__shape_known(&variable->resource->shape))
        return tw__fail(TW_VALUE_ERROR, "%s: the shape of variable %s is not known", tw_class_name(optimizer), variable->name);
    tw__v1_state state = { 0 };
    tw_status status = TW_OK;
    const char *beside = tw__colocate(variable->resource->name);
    for (int k = 0; status == TW_OK && k < rule->slot_count; k++) {
        tw__owned char *name = tw__format("%.*s/%s", (int)name_size(variable), variable->name, optimizer->name);
        state.slots[k] =
            name ? make_variable(variable->resource->dtype, optimizer->first[k], &variable->resource->shape, name, true) : NULL;
        status = state.slots[k] ? tw__v1_slice_like(state.slots[k], variable) : tw__error_status();
    }
    tw__colocate(beside);
    if (status == TW_OK)
        status = TW_GROW(optimizer->states, optimizer->state_capacity, optimizer->state_count + 1);
    if (status == TW_OK)
        status = tw__pointer_map_put(&optimizer->places, variable, (int64_t)optimizer->state_count);
    if (status != TW_OK) {
        for (int k = 0; k < rule->slot_count; k++)
            tw_release(state.slots[k]);
        return status;
    }
    state.variable = tw_retain(variable);
    optimizer->states[optimizer->state_count++] = state;
    return TW_OK;
}

/* ---- one step ---- */

typedef struct step {
    tw_v1_optimizer *optimizer;
    char *scope;                        /* "Adam/" */
    tw_tensor *numbers[TW__V1_NUMBERS]; /* as they are; cast for each variable */
    tw__node **updates;                 /* in a graph */
    int update_count;
} step;

static tw_status prepare(step *s)
{
    const tw__v1_rule *rule = s->optimizer->rule;
    for (int i = 0; i < rule->number_count; i++) {
        const tw__v1_number *number = &s->optimizer->numbers[i];
        s->numbers[i] = number->tensor     ? tw_retain(number->tensor)
                        : number->variable ? tw__variable_read(number->variable)
                                           : constant(tw_tensor_float((float)number->number), s->scope, rule->numbers[i]);
        TW_NEED(s->numbers[i]);
    }
    return TW_OK;
}

/* The number in the variable's dtype. One that is given in Python is not rounded to float32 first. */
static tw_tensor *number_as(const step *s, int index, tw_dtype dtype)
{
    const tw__v1_number *number = &s->optimizer->numbers[index];
    if (s->numbers[index]->dtype == dtype)
        return tw_retain(s->numbers[index]);
    if (!tw__tracing && !number->tensor && !number->variable)
        return number_of(dtype, (double)(float)number->number);
    return tw__cast(s->numbers[index], dtype);
}

/* The input that a word of a rule names; a new reference. */
static tw_tensor *input_of(const step *s, const tw__v1_state *state, const char *word, tw_tensor *gradient, tw_tensor *indices,
                           const char *op_scope)
{
    int index = word[1] >= '0' && word[1] <= '9' ? word[1] - '0' : 0;
    switch (*word) {
    case 'v':
        return tw_retain(state->variable->handle);
    case 's':
        return tw_retain(state->slots[index]->handle);
    case 'x': {
        tw_auto tw_tensor *value =
            read_named(s->optimizer->extras[index], op_scope, index ? "ReadVariableOp_1" : "ReadVariableOp");
        return value ? tw__cast(value, gradient->dtype) : NULL;
    }
    case 'n':
        return number_as(s, index, gradient->dtype);
    case 'i':
        return tw_retain(indices);
    default:
        return tw_retain(gradient);
    }
}

static tw_status apply_rule(step *s, const tw__v1_state *state, const tw_op *op, const char *words, tw_tensor *gradient,
                            tw_tensor *indices)
{
    tw__owned char *name =
        tw__format("%supdate_%.*s/%s", s->scope, (int)name_size(state->variable), state->variable->name, op->name);
    tw__owned char *op_scope = name ? tw__format("%s/", name) : NULL;
    tw_tensor *inputs[16] = { 0 };
    int count = 0;
    tw_status status = op_scope ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (const char *word = words; status == TW_OK && *word; word += strcspn(word, " ") + (word[strcspn(word, " ")] == ' ')) {
        inputs[count] = input_of(s, state, word, gradient, indices, op_scope);
        status = inputs[count++] ? TW_OK : tw__error_status();
    }
    tw_attr attrs[] = { TW_A_BOOL("use_locking", s->optimizer->use_locking),
                        TW_A_BOOL(s->optimizer->rule->flag, s->optimizer->flag) };
    tw__node *node = NULL;
    const char *beside = tw__colocate(state->variable->resource->name);
    if (status == TW_OK)
        status = call(op, name, inputs, count, attrs, s->optimizer->rule->flag ? 2 : 1, NULL, &node);
    tw__colocate(beside);
    if (node) {
        node->manual = true;
        s->updates[s->update_count++] = node;
    }
    for (int i = 0; i < count; i++)
        tw_release(inputs[i]);
    return status;
}

/* Rows that come twice are summed. */
static tw_status distinct_rows(const struct tw_indexed_slices *slices, tw_tensor **values, tw_tensor **indices)
{
    tw_tensor *unique[2] = { 0 };
    int count = 2;
    TW_TRY(tw__apply(&tw__op_Unique, &slices->indices, 1, NULL, 0, unique, &count));
    tw_auto tw_tensor *size = TW_CALL(Size, unique[0]);
    *values = TW_CALL(UnsortedSegmentSum, slices->values, unique[1], size);
    *indices = unique[0];
    tw_release(unique[1]);
    return *values ? TW_OK : tw__error_status();
}

static tw_status update_rows(step *s, const tw__v1_state *state, const struct tw_indexed_slices *slices)
{
    const tw__v1_rule *rule = s->optimizer->rule;
    tw_auto tw_tensor *values = NULL, *indices = NULL;
    tw_status status = TW_OK;
    if (rule->sparse_repeats) { /* plain descent: var[i] -= rate * values */
        tw_auto tw_tensor *rate = number_as(s, 0, slices->values->dtype);
        values = rate ? TW_CALL(Mul, slices->values, rate) : NULL;
        indices = tw_retain(slices->indices);
        status = values ? TW_OK : tw__error_status();
    } else {
        status = distinct_rows(slices, &values, &indices);
    }
    if (status == TW_OK && rule->sparse_repeats) {
        tw__owned char *name = tw__format("%supdate_%.*s/%s", s->scope, (int)name_size(state->variable), state->variable->name,
                                          rule->sparse_op->name);
        tw__node *node = NULL;
        status = name ? call(rule->sparse_op, name, TW_IN(state->variable->handle, indices, values), 3, NULL, 0, NULL, &node)
                      : TW_RESOURCE_EXHAUSTED;
        if (node)
            s->updates[s->update_count++] = node;
    } else if (status == TW_OK) {
        status = apply_rule(s, state, rule->sparse_op, rule->sparse_inputs, values, indices);
    }
    return status;
}

static tw_status update(step *s, tw_variable *variable, tw_tensor *gradient)
{
    const tw__v1_state *state = tw__v1_state_of(s->optimizer, variable);
    const tw__v1_rule *rule = s->optimizer->rule;
    const struct tw_indexed_slices *slices = tw__slices_of(gradient);
    if (slices && rule->sparse_op)
        return update_rows(s, state, slices);
    tw_auto tw_tensor *dense = slices ? tw__slices_dense(gradient) : tw_retain(gradient);
    TW_NEED(dense);
    if (dense->dtype != variable->resource->dtype || !tw__dtype_is_float(dense->dtype))
        return tw__fail(TW_VALUE_ERROR, "%s: variable %s is %s and its gradient %s, expected two floats of one dtype",
                        s->optimizer->name, variable->name, tw_dtype_name(variable->resource->dtype),
                        tw_dtype_name(dense->dtype));
    return apply_rule(s, state, rule->op, rule->inputs, dense, NULL);
}

/* After the updates: the optimizer's own variables go on. */
static tw_status advance(step *s)
{
    const tw__v1_rule *rule = s->optimizer->rule;
    for (int k = 0; k < rule->extra_count; k++) {
        tw_variable *extra = s->optimizer->extras[k];
        tw_dtype dtype = extra->resource->dtype;
        tw_auto tw_tensor *value = read_named(extra, s->scope, "ReadVariableOp");
        tw_auto tw_tensor *factor = value ? number_as(s, rule->extra_numbers[k], dtype) : NULL;
        tw_tensor *product = NULL;
        tw_attr attr = TW_A_TYPE("dtype", dtype);
        tw__node *node = NULL;
        tw_status status = factor ? call_format(&tw__op_Mul, TW_IN(value, factor), 2, NULL, 0, &product, NULL, s->scope, "mul")
                                  : tw__error_status();
        if (status == TW_OK)
            status = call_format(&tw__op_AssignVariableOp, TW_IN(extra->handle, product), 2, &attr, 1, NULL, &node, s->scope,
                                 "AssignVariableOp");
        tw_release(product);
        if (node)
            s->updates[s->update_count++] = node;
        TW_TRY(status);
    }
    return TW_OK;
}

/* A node that follows all updates. */
static tw__node *group(const step *s, const char *scope, const char *name)
{
    tw__node *node = NULL;
    if (call_format(&tw__op_NoOp, NULL, 0, NULL, 0, NULL, &node, scope, name) != TW_OK)
        return NULL;
    for (int i = 0; i < s->update_count; i++) {
        if (tw__node_follow(node, s->updates[i]) != TW_OK)
            return NULL;
    }
    return node;
}

static tw_status count_step(step *s, tw_variable *global_step, const char *scope, const char *name, tw__node **made)
{
    tw_attr dtype = TW_A_TYPE("dtype", global_step->resource->dtype);
    tw_auto tw_tensor *one = constant(number_of(global_step->resource->dtype, 1), s->scope, "Const");
    TW_NEED(one);
    return call_format(&tw__op_AssignAddVariableOp, TW_IN(global_step->handle, one), 2, &dtype, 1, NULL, made, scope, name);
}

/* The operation's own node, NAME. */
static tw__node *finish(step *s, tw_variable *global_step)
{
    tw__owned char *name = tw__strndup(s->scope, strlen(s->scope) - 1);
    tw__node *node = NULL;
    if (name && !global_step) {
        node = group(s, "", name);
    } else if (name) {
        tw__node *before = group(s, s->scope, "update");
        if (before && tw__control_push(tw__tracing, &before, 1, false) == TW_OK) {
            if (count_step(s, global_step, "", name, &node) != TW_OK)
                node = NULL;
            tw__control_pop(tw__tracing);
        }
    }
    return node;
}

static tw_status run_step(step *s, tw_tensor *const *gradients, tw_variable *const *variables, int64_t count)
{
    TW_TRY(prepare(s));
    for (int64_t i = 0; i < count; i++) {
        if (gradients[i])
            TW_TRY(update(s, variables[i], gradients[i]));
    }
    bool ordered = tw__tracing && tw__tracing->lasting && s->optimizer->rule->extra_count;
    if (!ordered)
        return advance(s);
    TW_TRY(tw__control_push(tw__tracing, s->updates, s->update_count, false));
    tw_status status = advance(s);
    tw__control_pop(tw__tracing);
    return status;
}

/* "Adam/" in a graph, free to be used; "" elsewhere. */
static char *open_scope(const tw_v1_optimizer *optimizer, const char *name)
{
    if (!tw__tracing || !tw__tracing->lasting)
        return tw__strdup("");
    tw__owned char *wanted = tw__format("%s%s", tw__scope(), name && *name ? name : optimizer->name);
    tw__owned char *unique = wanted ? tw__graph_unique_name(tw__tracing, wanted, true) : NULL;
    return unique ? tw__format("%s/", unique) : NULL;
}

static tw_operation *apply(tw_v1_optimizer *optimizer, tw_tensor *const *gradients, tw_variable *const *variables, int64_t count,
                           tw_variable *global_step, const char *name)
{
    step s = { .optimizer = optimizer };
    tw_operation *operation = NULL;
    tw_status status = make_extras(optimizer, variables, count);
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (gradients[i])
            status = make_slots(optimizer, variables[i]);
    }
    s.scope = status == TW_OK ? open_scope(optimizer, name) : NULL;
    s.updates = s.scope ? tw__alloc_array((size_t)count + TW__V1_EXTRAS, sizeof *s.updates) : NULL;
    if (s.updates && run_step(&s, gradients, variables, count) == TW_OK) {
        if (tw__tracing && tw__tracing->lasting) {
            tw__node *node = finish(&s, global_step);
            operation = node ? tw__operation_of(node) : NULL;
        } else if (global_step) {
            (void)count_step(&s, global_step, s.scope, "AssignAddVariableOp", NULL);
        }
    }
    for (int i = 0; i < TW__V1_NUMBERS; i++)
        tw_release(s.numbers[i]);
    tw__free(s.updates);
    tw__free(s.scope);
    return operation;
}

TW_METHOD(v1_optimizer_apply_gradients,
          "compat.v1.train.Optimizer._apply_gradients(self: v1_optimizer, gradients: tensors?, variables: list<variable>, "
          "global_step: variable = None, name: str = None) -> operation",
          "Changes each variable by its gradient; one without a gradient (NULL) stays. In a graph, the operation that does so.")
{
    const tw_objects *variables = &args->variables;
    bool any = false;
    if (args->gradients.count != variables->count) {
        tw__fail(TW_INVALID_ARGUMENT, "%s, apply_gradients: %lld gradients for %lld variables", args->self->name,
                 (long long)args->gradients.count, (long long)variables->count);
        return NULL;
    }
    for (int64_t i = 0; i < variables->count; i++) {
        if (!tw__is(variables->items[i], &tw__class_variable)) {
            tw__fail(TW_TYPE_ERROR, "%s, apply_gradients: item %lld is no variable", args->self->name, (long long)i);
            return NULL;
        }
        any |= args->gradients.items[i] != NULL;
    }
    if (!any) {
        tw__fail(TW_VALUE_ERROR, variables->count ? "No gradients provided for any variable." : "No variables provided.");
        return NULL;
    }
    tw__graph *before = tw__tracing, *own = ((tw_variable *)variables->items[0])->graph;
    if (own && tw__graph_root(tw__tracing) != own)
        tw__tracing = own;
    tw_operation *operation = apply(args->self, args->gradients.items, (tw_variable *const *)variables->items, variables->count,
                                    args->global_step, args->name);
    tw__tracing = before;
    return operation;
}

TW_API(v1_wrap_slices, "compat.v1.train._wrap_slices(slices: indexed_slices) -> tensor",
       "The slices as a gradient that apply_gradients takes.")
{
    return tw__slices_wrap(args->slices);
}
