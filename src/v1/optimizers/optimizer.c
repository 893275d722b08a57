/* The base of TensorFlow 1's optimizers: slots, and the ops of a step with TensorFlow's names.
 *
 * In a graph that a program builds, a step is an operation to be run: the nodes NAME/learning_rate …, NAME/update_VARIABLE/OP,
 * and NAME itself, which follows them all. Eagerly or in a traced function the step is taken where it stands, and there is no
 * operation. */
#include "v1/optimizers/optimizers.h"

#include <math.h>

#include "function/function.h"
#include "op/calls.h"
#include "op/slices.h"
#include "session/session.h"
#include "v1/v1.h"

static void optimizer_clear(void *self)
{
    tw_v1_optimizer *optimizer = self;
    for (int i = 0; i < TW__V1_NUMBERS; i++) {
        tw__set(&optimizer->numbers[i].tensor, NULL);
        tw__set(&optimizer->numbers[i].variable, NULL);
    }
    for (int i = 0; i < TW__V1_EXTRAS; i++)
        tw__set(&optimizer->extras[i], NULL);
    for (size_t i = 0; i < optimizer->state_count; i++) {
        tw__set(&optimizer->states[i].variable, NULL);
        for (int k = 0; k < TW__V1_SLOTS; k++)
            tw__set(&optimizer->states[i].slots[k], NULL);
    }
    optimizer->state_count = 0;
    tw__pointer_map_free(&optimizer->places);
    optimizer->places = (tw__pointer_map){ 0 };
}

static void optimizer_destroy(void *self)
{
    tw_v1_optimizer *optimizer = self;
    optimizer_clear(self);
    tw__free(optimizer->states);
    tw__free(optimizer->name);
}

static void optimizer_visit(void *self, tw__visitor visitor, void *context)
{
    tw_v1_optimizer *optimizer = self;
    for (int i = 0; i < TW__V1_NUMBERS; i++) {
        if (optimizer->numbers[i].tensor)
            visitor(context, (tw_object *)optimizer->numbers[i].tensor);
        if (optimizer->numbers[i].variable)
            visitor(context, (tw_object *)optimizer->numbers[i].variable);
    }
    for (int i = 0; i < TW__V1_EXTRAS; i++) {
        if (optimizer->extras[i])
            visitor(context, (tw_object *)optimizer->extras[i]);
    }
    for (size_t i = 0; i < optimizer->state_count; i++) {
        visitor(context, (tw_object *)optimizer->states[i].variable);
        for (int k = 0; k < TW__V1_SLOTS; k++) {
            if (optimizer->states[i].slots[k])
                visitor(context, (tw_object *)optimizer->states[i].slots[k]);
        }
    }
}

static tw_status optimizer_init(void *self, const void *given)
{
    (void)given;
    return tw__is(self, &tw__class_v1_optimizer) && tw_class_of(self) == &tw__class_v1_optimizer
               ? tw__fail(TW_NOT_IMPLEMENTED_ERROR,
                          "Optimizer is the base of optimizers: use one of them, GradientDescentOptimizer for example")
               : TW_OK;
}

TW_CLASS(v1_optimizer, "compat.v1.train.Optimizer()", .size = sizeof(tw_v1_optimizer), .init = optimizer_init,
         .destroy = optimizer_destroy, .visit = optimizer_visit, .clear = optimizer_clear, .drop_config = true,
         .doc = "The base of TensorFlow 1's optimizers.");

tw_status tw__v1_optimizer_setup(tw_v1_optimizer *optimizer, const tw__v1_rule *rule, const char *name, bool use_locking)
{
    if (!name || !*name)
        return tw__fail(TW_VALUE_ERROR, "Must specify the optimizer name");
    optimizer->rule = rule;
    optimizer->use_locking = use_locking;
    optimizer->name = tw__strdup(name);
    return optimizer->name ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

const char *tw__v1_number_text(double number, char text[40])
{
    snprintf(text, 40, number == (int64_t)number && fabs(number) < 1e15 ? "%.1f" : "%g", number);
    return text;
}

tw_status tw__v1_number_set(tw_v1_optimizer *optimizer, int index, double number, void *object, const char *what)
{
    tw__v1_number *own = &optimizer->numbers[index];
    own->number = number;
    if (object && tw__is(object, &tw__tensor_class))
        tw__set(&own->tensor, object);
    else if (object && tw__is(object, &tw__class_variable))
        tw__set(&own->variable, object);
    else if (object)
        return tw__fail(TW_TYPE_ERROR, "%s: %s must be a number, a tensor or a variable, got a %s", tw_class_name(optimizer),
                        what, tw_class_name(object));
    return TW_OK;
}

/* ---- gradients ---- */

/* In the variables' graph, below the scope "gradients". */
static tw_status derive(tw__graph *graph, tw_tensor *loss, const tw_objects *variables, tw_tensor *seed, tw_tensor **results)
{
    tw__edge target = { loss->node, loss->node_output };
    tw__owned tw__edge *sources = tw__alloc_array((size_t)variables->count + 1, sizeof *sources);
    tw__owned char *wanted = sources ? tw__format("%sgradients", tw__scope()) : NULL;
    tw__owned char *unique = wanted ? tw__graph_unique_name(graph, wanted, true) : NULL;
    tw__owned char *scope = unique ? tw__format("%s/", unique) : NULL;
    tw_status status = scope ? tw__scope_push(scope) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        for (int64_t i = 0; i < variables->count; i++)
            sources[i] = (tw__edge){ ((tw_variable *)variables->items[i])->handle_node, 0 };
        tw__derivation derivation = { .graph = graph,
                                      .targets = &target,
                                      .seeds = seed ? &seed : NULL,
                                      .target_count = 1,
                                      .sources = sources,
                                      .source_count = (int)variables->count };
        status = tw__derive(&derivation, results);
        tw__scope_pop();
    }
    return status;
}

TW_METHOD(
    v1_optimizer_compute_gradients,
    "compat.v1.train.Optimizer._compute_gradients(self: v1_optimizer, loss: tensor, variables: list<variable>, grad_loss: tensor = None) "
    "-> tensors",
    "The gradients of a loss of a graph by each variable; NULL where they are not connected.")
{
    const tw_objects *variables = &args->variables;
    tw_tensors results = { 0 };
    tw__graph *graph = args->loss->node ? args->loss->node->graph : NULL;
    for (int64_t i = 0; i < variables->count; i++) {
        if (!tw__is(variables->items[i], &tw__class_variable) || !graph || ((tw_variable *)variables->items[i])->graph != graph) {
            tw__fail(TW_VALUE_ERROR, "%s, compute_gradients: variable %lld and the loss are not of one graph", args->self->name,
                     (long long)i);
            return results;
        }
    }
    tw_tensor **items = tw__alloc_array((size_t)variables->count + 1, sizeof *items);
    tw__graph *before = tw__tracing;
    tw__tracing = graph;
    if (items && graph && derive(graph, args->loss, variables, args->grad_loss, items) == TW_OK)
        results = (tw_tensors){ items, variables->count };
    else
        tw__free(items);
    tw__tracing = before;
    return results;
}

/* ---- what it holds ---- */

TW_METHOD(v1_optimizer_get_name, "compat.v1.train.Optimizer.get_name(self: v1_optimizer) -> str", "The name.")
{
    return tw__strdup(args->self->name);
}

TW_METHOD(v1_optimizer_get_slot, "compat.v1.train.Optimizer.get_slot(self: v1_optimizer, var: variable, name: str) -> variable",
          "The slot of that name that belongs to the variable; None if there is none.\n"
          "var: the variable\n"
          "name: the name of the slot")
{
    const tw__v1_state *state = tw__v1_state_of(args->self, args->var);
    for (int k = 0; state && k < args->self->rule->slot_count; k++) {
        if (strcmp(args->self->rule->slots[k], args->name) == 0)
            return tw_retain(state->slots[k]);
    }
    return NULL;
}

TW_METHOD(v1_optimizer_get_slot_names, "compat.v1.train.Optimizer.get_slot_names(self: v1_optimizer) -> value",
          "The names of the slots that variables have, sorted.")
{
    const tw__v1_rule *rule = args->self->rule;
    int count = args->self->state_count ? rule->slot_count : 0;
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    if (!items)
        return (tw_value){ 0 };
    const char *names[TW__V1_SLOTS] = { 0 };
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && strcmp(names[at - 1], rule->slots[i]) > 0; at--)
            names[at] = names[at - 1];
        names[at] = rule->slots[i];
    }
    for (int i = 0; i < count; i++)
        items[i] = tw__value_str(names[i]);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } };
}

static void insert_sorted(void **items, int64_t *count, tw_variable *variable)
{
    int64_t at = (*count)++;
    for (; at > 0 && strcmp(((tw_variable *)items[at - 1])->name, variable->name) > 0; at--)
        items[at] = items[at - 1];
    items[at] = tw_retain(variable);
}

TW_METHOD(v1_optimizer_variables, "compat.v1.train.Optimizer.variables(self: v1_optimizer) -> list<variable>",
          "The optimizer's variables, by name.")
{
    tw_v1_optimizer *optimizer = args->self;
    size_t most = optimizer->state_count * TW__V1_SLOTS + TW__V1_EXTRAS;
    void **items = tw__alloc_array(most, sizeof *items);
    int64_t count = 0;
    if (!items)
        return (tw_objects){ 0 };
    for (int k = 0; k < TW__V1_EXTRAS; k++) {
        if (optimizer->extras[k])
            insert_sorted(items, &count, optimizer->extras[k]);
    }
    for (size_t i = 0; i < optimizer->state_count; i++) {
        for (int k = 0; k < optimizer->rule->slot_count; k++)
            insert_sorted(items, &count, optimizer->states[i].slots[k]);
    }
    return (tw_objects){ items, count };
}
