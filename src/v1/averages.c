/* tf.compat.v1.train.ExponentialMovingAverage: shadows of variables and tensors, which follow them slowly. In a graph they follow
 * whenever the operation that `apply` gives is run, in eager execution at once. */
#include <thalweg/function.h>

#include "api/api.h"
#include "api/composite.h"
#include "op/calls.h"
#include "session/session.h"
#include "v1/v1.h"

typedef struct shadow {
    tw_object *of; /* a variable or a tensor; a reference */
    tw_variable *variable;
    tw_variable *biased, *steps; /* of a value that began at zero; NULL: nothing is divided */
} shadow;

struct tw_v1_average {
    tw_object object;
    char *name;
    tw_value decay, count;
    bool debias;
    shadow *shadows;
    size_t shadow_count, shadow_capacity;
};
typedef struct tw_v1_average average;

static void average_clear(void *self)
{
    average *own = self;
    for (size_t i = 0; i < own->shadow_count; i++) {
        tw_release(own->shadows[i].of);
        tw_release(own->shadows[i].variable);
        tw_release(own->shadows[i].biased);
        tw_release(own->shadows[i].steps);
    }
    own->shadow_count = 0;
}

static void average_destroy(void *self)
{
    average *own = self;
    average_clear(own);
    tw__free(own->shadows);
    tw__free(own->name);
    tw_value_free(&own->decay);
    tw_value_free(&own->count);
}

static void average_visit(void *self, tw__visitor visitor, void *context)
{
    average *own = self;
    for (size_t i = 0; i < own->shadow_count; i++) {
        tw_object *const parts[] = { own->shadows[i].of, (tw_object *)own->shadows[i].variable,
                                     (tw_object *)own->shadows[i].biased, (tw_object *)own->shadows[i].steps };
        for (int k = 0; k < 4; k++) {
            if (parts[k])
                visitor(context, parts[k]);
        }
    }
}

static tw_status average_init(void *self, const void *given)
{
    average *own = self;
    const tw_v1_average_args *args = given;
    own->decay = tw__value_copy(&args->decay);
    own->count = tw__value_copy(&args->num_updates);
    own->debias = args->zero_debias;
    own->name = tw__strdup(args->name ? args->name : "ExponentialMovingAverage");
    return own->name && tw_error_code() == TW_OK ? TW_OK : tw__error_status();
}

TW_CLASS(v1_average,
         "compat.v1.train.ExponentialMovingAverage(decay: value, num_updates: value = None, zero_debias: bool = False, "
         "name: str = ExponentialMovingAverage)",
         .size = sizeof(struct tw_v1_average), .init = average_init, .destroy = average_destroy, .visit = average_visit,
         .clear = average_clear, .drop_config = true,
         .doc = "shadow = decay * shadow + (1 - decay) * value, by the operation that `apply` gives.\n"
                "decay: how much of the shadow is kept at each update\n"
                "num_updates: the number of updates, n: the decay is at most (1 + n) / (10 + n); None: it is always the same\n"
                "zero_debias: True: shadows of tensors are corrected for their beginning with zeros");

TW_PROPERTY(v1_average_own_name, "compat.v1.train.ExponentialMovingAverage.name(self: v1_average) -> str",
            "What it was made with, behind the names of shadows.")
{
    return tw__strdup(args->self->name);
}

/* ---- shadows ---- */

static bool is_variable(const void *object)
{
    return tw__is(object, &tw__class_variable);
}

/* false: it is neither a variable nor a tensor, which is an error. */
static bool is_value(const void *object)
{
    bool good = is_variable(object) || tw__is(object, &tw__tensor_class);
    if (!good)
        tw__fail(TW_TYPE_ERROR, "ExponentialMovingAverage: a %s is no variable and no tensor", tw_class_name(object));
    return good;
}

static bool is_same(const tw_object *one, const tw_object *other)
{
    if (one == other || is_variable(one) || is_variable(other))
        return one == other;
    const tw_tensor *a = (const tw_tensor *)one, *b = (const tw_tensor *)other;
    return a->node && a->node == b->node && a->node_output == b->node_output;
}

static shadow *find(const average *own, const tw_object *value)
{
    for (size_t i = 0; i < own->shadow_count; i++) {
        if (is_same(own->shadows[i].of, value))
            return &own->shadows[i];
    }
    return NULL;
}

/* What the operation of a variable or tensor is called; for tw__free. */
static char *operation_name(const tw_object *value)
{
    if (is_variable(value)) {
        const char *name = ((const tw_variable *)value)->name;
        return tw__strndup(name, strcspn(name, ":"));
    }
    const tw_tensor *tensor = (const tw_tensor *)value;
    if (tensor->node)
        return tw__strdup(tensor->node->name);
    tw__fail(TW_TYPE_ERROR, "ExponentialMovingAverage: a tensor of a graph or a variable was expected");
    return NULL;
}

static char *shadow_name(const average *own, const tw_object *value)
{
    tw__owned char *name = operation_name(value);
    return name ? tw__format("%s/%s", name, own->name) : NULL;
}

static tw_tensors read_now(void *user, tw_tensors none)
{
    (void)none;
    return tw__tensors_of_one(tw__variable_read(user));
}

static tw_tensors read_first(void *user, tw_tensors none)
{
    (void)none;
    const tw_variable *variable = user;
    tw_auto tw_tensor *first = tw__node_output(variable->initial, variable->initial_output);
    return tw__tensors_of_one(TW_CALL(Identity, first));
}

/* The variable's value; in a graph its first one, as long as it has none. */
static tw_tensor *initialized_value(tw_variable *variable)
{
    if (!variable->graph || !variable->initial)
        return tw__variable_read(variable);
    tw_auto tw_tensor *there = tw_variable_is_initialized(variable);
    tw__auto(tw_tensors_free) tw_tensors value = there ? tw_cond(there, read_now, read_first, variable) : (tw_tensors){ NULL, 0 };
    return value.count ? tw_retain(value.items[0]) : NULL;
}

/* The first value of a variable of that name. */
static tw_tensor *zeros(const char *name, const tw_shape *shape, tw_dtype dtype)
{
    if (!tw__shape_known(shape)) {
        tw__fail(TW_VALUE_ERROR, "ExponentialMovingAverage: the shape %s of a tensor is not known", tw__shape_text(shape));
        return NULL;
    }
    tw__part part = tw__first_value_begin(name);
    tw_auto tw_tensor *value = tw_tensor_new(dtype, *shape, NULL);
    tw_tensor *first = tw__part_constant(&part, value, "zeros");
    if (tw__first_value_end(&part) == TW_OK)
        return first;
    tw_release(first);
    return NULL;
}

/* A variable of that name among the global ones, outside of all scopes and control dependencies. Its first value is that of
 * `like`, or zeros of the shape. */
static tw_variable *make(const char *name, tw_variable *like, const tw_shape *shape, tw_dtype dtype)
{
    static const char *const global[] = { "variables", NULL };
    tw__graph *graph = tw__in_graph() ? tw__tracing : NULL;
    bool rooted = tw__scope_push(NULL) == TW_OK;
    bool freed = rooted && graph && tw__control_push(graph, NULL, 0, true) == TW_OK;
    tw_auto tw_tensor *first = !rooted ? NULL : like ? initialized_value(like) : zeros(name, shape, dtype);
    const char *const *before = tw__variable_collections;
    tw__variable_collections = global;
    tw_variable *variable = first ? tw__variable_new(first, name, false, NULL) : NULL;
    tw__variable_collections = before;
    if (freed)
        tw__control_pop(graph);
    if (rooted)
        tw__scope_pop();
    return variable;
}

static tw_status add(average *own, tw_object *value)
{
    bool variable = is_variable(value);
    const tw_tensor *tensor = (const tw_tensor *)value;
    const tw__resource *resource = variable ? ((tw_variable *)value)->resource : NULL;
    tw_dtype dtype = variable ? resource->dtype : tensor->dtype;
    if (dtype != TW_FLOAT32 && dtype != TW_FLOAT64 && dtype != TW_FLOAT16 && dtype != TW_BFLOAT16) {
        tw__owned char *name = operation_name(value);
        return tw__fail(TW_TYPE_ERROR, "The variables must be half, float, or double: %s:0", name ? name : "");
    }
    if (find(own, value))
        return TW_OK;
    TW_TRY(TW_GROW(own->shadows, own->shadow_capacity, own->shadow_count + 1));
    tw__owned char *name = shadow_name(own, value);
    TW_NEED(name);
    const tw_shape *shape = variable ? &resource->shape : &tensor->shape;
    shadow made = { .variable = make(name, variable ? (tw_variable *)value : NULL, shape, dtype) };
    TW_NEED(made.variable);
    if (!variable && own->debias) {
        tw__owned char *biased = tw__format("%s/biased", name), *steps = tw__format("%s/local_step", name);
        made.biased = biased ? make(biased, NULL, shape, dtype) : NULL;
        made.steps = made.biased && steps ? make(steps, NULL, &TW_SCALAR, dtype) : NULL;
    }
    made.of = tw_retain(value);
    own->shadows[own->shadow_count++] = made;
    if (!variable && own->debias && !made.steps)
        return tw__error_status();
    if (variable)
        TW_TRY(tw__v1_slice_like(made.variable, (tw_variable *)value));
    return variable && tw__in_graph() ? tw__graph_collect(tw__tracing, "moving_average_variables", (tw_variable *)value) : TW_OK;
}

/* ---- following ---- */

static tw__node *last_node(void)
{
    return tw__in_graph() ? tw__tracing->nodes[tw__tracing->node_count - 1] : NULL;
}

/* Reads it; in a graph the node is named by itself, not by the one that uses it. */
static tw_tensor *read_alone(tw_variable *variable)
{
    tw_tensor *value = tw__variable_read(variable);
    if (value && tw__in_graph())
        tw__graph_settle(tw__tracing);
    return value;
}

/* The variable's value behind an assignment. */
static tw_tensor *read_behind(tw_variable *variable, tw__node *assignment)
{
    if (!assignment)
        return tw__variable_read(variable);
    tw__graph *graph = assignment->graph;
    if (tw__control_push(graph, &assignment, 1, false) != TW_OK)
        return NULL;
    tw_tensor *value = read_alone(variable);
    tw__control_pop(graph);
    return value;
}

tw_status tw__v1_follow(tw_variable *variable, tw_object *value, tw_tensor *keep, double number, tw__node **made)
{
    tw__part part = tw__part_begin(NULL, "AssignMovingAvg");
    bool together = part.graph && variable->handle_node;
    const char *outside = together ? tw__colocate(variable->handle_node->name) : NULL;
    TW_TEMPS(t);
    tw_tensor *decay = tw__temp(t, keep ? NULL : tw__float_scalar(variable->resource->dtype, 1 - number));
    decay = keep ? TW_TEMP(Sub, 1.0, keep) : tw__temp(t, tw__part_constant(&part, decay, "decay"));
    decay = decay ? tw__temp_cast(t, decay, variable->resource->dtype) : NULL;
    tw_tensor *old = tw__temp(t, decay ? read_alone(variable) : NULL);
    tw_tensor *new = old &&is_variable(value) ? tw__temp(t, tw__variable_read((tw_variable *)value)) : (tw_tensor *)value;
    tw_tensor *step = TW_TEMP(Mul, TW_TEMP(Sub, old, new), decay);
    tw_status status = step ? tw__variable_update(variable, &tw__op_AssignSubVariableOp, step) : tw__error_status();
    *made = status == TW_OK ? last_node() : NULL;
    if (*made) { /* as TensorFlow, which gives the value behind the assignment */
        tw_auto tw_tensor *behind = read_behind(variable, *made);
        status = behind ? TW_OK : tw__error_status();
    }
    if (together)
        tw__colocate(outside);
    tw_status ended = tw__part_end(&part);
    return status == TW_OK ? ended : status;
}

/* What began at zero is divided by the weight of what it has seen so far. */
static tw_status follow_divided(const shadow *own, tw_tensor *keep, tw__node **made)
{
    TW_TEMPS(t);
    TW_TRY(tw__v1_follow(own->biased, own->of, keep, 0, made));
    tw_tensor *moved = tw__temp(t, read_behind(own->biased, *made));
    tw_tensor *unit = tw__temp(t, tw__float_scalar(own->steps->resource->dtype, 1));
    TW_TRY(unit ? tw__variable_update(own->steps, &tw__op_AssignAddVariableOp, unit) : tw__error_status());
    tw_tensor *steps = tw__temp(t, read_behind(own->steps, last_node()));
    tw_tensor *own_keep = tw__temp_cast(t, keep, own->steps->resource->dtype);
    tw_tensor *divided = TW_TEMP(RealDiv, moved, TW_TEMP(Sub, 1.0, TW_TEMP(Pow, own_keep, steps)));
    TW_TRY(divided ? tw__variable_update(own->variable, &tw__op_AssignVariableOp, divided) : tw__error_status());
    *made = last_node();
    return TW_OK;
}

static tw_tensor *number_of(tw__temps *t, const tw__part *part, const tw_value *value, const char *name)
{
    bool variable = value->kind == TW_VALUE_OBJECT && is_variable(value->object);
    tw_tensor *tensor = tw__temp(t, variable ? tw__variable_read(value->object)
                                             : tw__value_tensor(value, TW_FLOAT32, "ExponentialMovingAverage"));
    tensor = tensor ? tw__temp(t, tw__part_constant(part, tensor, name)) : NULL;
    return tensor && tensor->dtype != TW_FLOAT32 ? tw__temp(t, tw_cast(tensor, TW_FLOAT32, .name = name)) : tensor;
}

/* min(decay, (1 + count) / (10 + count)) */
static tw_tensor *decay_of(tw__temps *t, const tw__part *part, const average *own)
{
    tw_tensor *decay = number_of(t, part, &own->decay, "decay");
    if (!decay || own->count.kind == TW_VALUE_NONE)
        return decay;
    tw_tensor *count = number_of(t, part, &own->count, "num_updates");
    return TW_TEMP(Minimum, decay, TW_TEMP(RealDiv, TW_TEMP(AddV2, 1.0, count), TW_TEMP(AddV2, 10.0, count)));
}

static tw_operation *follow_all(average *own, tw_objects values)
{
    tw__part part = tw__part_begin(own->name, own->name);
    TW_TEMPS(t);
    tw__owned tw__node **nodes = tw__alloc_array((size_t)values.count + 1, sizeof *nodes);
    tw_tensor *decay = nodes ? decay_of(t, &part, own) : NULL;
    tw_status status = decay ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < values.count; i++) {
        shadow *each = find(own, values.items[i]);
        status =
            each->steps ? follow_divided(each, decay, &nodes[i]) : tw__v1_follow(each->variable, each->of, decay, 0, &nodes[i]);
    }
    tw__owned char *scope = tw__format("%s/", part.name ? part.name : ""); /* the scope itself */
    tw__graph *graph = part.graph;
    if (tw__part_end(&part) != TW_OK || status != TW_OK || !graph || !scope)
        return NULL;
    return tw__group(graph, nodes, (int)values.count, scope);
}

TW_METHOD(
    v1_average_apply,
    "compat.v1.train.ExponentialMovingAverage.apply(self: v1_average, var_list: list<object> = None) -> operation",
    "In a graph: an operation that lets the shadows of the values, of the trainable variables if none are given, follow once. "
    "Else they do so now.")
{
    tw__auto(tw_objects_free) tw_objects all = { NULL, 0 };
    if (!args->var_list.items)
        all = tw__impl_trainable_variables(&(tw_trainable_variables_args){ 0 });
    tw_objects values = args->var_list.items ? args->var_list : all;
    for (int64_t i = 0; i < values.count; i++) {
        if (!is_value(values.items[i]))
            return NULL;
        if (add(args->self, values.items[i]) != TW_OK)
            return NULL;
    }
    return follow_all(args->self, values);
}

/* ---- asking ---- */

TW_METHOD(v1_average_of, "compat.v1.train.ExponentialMovingAverage.average(self: v1_average, var: object) -> variable",
          "The shadow of a variable or tensor, or None.\n"
          "var: the variable or tensor")
{
    const shadow *found = is_value(args->var) ? find(args->self, args->var) : NULL;
    return found ? tw_retain(found->variable) : NULL;
}

TW_METHOD(v1_average_name, "compat.v1.train.ExponentialMovingAverage.average_name(self: v1_average, var: object) -> str",
          "The name that the shadow has, or would have.\n"
          "var: the variable or tensor")
{
    if (!is_value(args->var))
        return NULL;
    const shadow *found = find(args->self, args->var);
    return found ? operation_name((const tw_object *)found->variable) : shadow_name(args->self, args->var);
}

/* Adds a pair to a dict, unless the name is there. */
static tw_status put(tw_value *dict, size_t *capacity, char *name, tw_object *variable)
{
    tw__owned char *key = name;
    TW_NEED(key);
    if (tw_value_get(dict, key))
        return TW_OK;
    TW_TRY(TW_GROW(dict->list.items, *capacity, (size_t)dict->list.count + 2));
    tw_value text = tw__value_str(key);
    if (text.kind != TW_VALUE_STR)
        return tw__error_status();
    dict->list.items[dict->list.count++] = text;
    dict->list.items[dict->list.count++] = tw__value_of_object(tw_retain(variable));
    return TW_OK;
}

static bool has_name(tw_objects list, const char *name)
{
    for (int64_t i = 0; i < list.count; i++) {
        const char *own = ((const tw_variable *)list.items[i])->name;
        if (strcmp(own, name) == 0)
            return true;
    }
    return false;
}

TW_METHOD(
    v1_average_variables_to_restore,
    "compat.v1.train.ExponentialMovingAverage.variables_to_restore(self: v1_average, "
    "moving_avg_variables: list<variable> = None) -> value",
    "A dict for a Saver: the names of averages with the variables that are to get their values, and all others by their own.\n"
    "moving_avg_variables: the variables that get averages; None: all trainable ones, and those that have one")
{
    tw_value dict = { .kind = TW_VALUE_DICT };
    size_t capacity = 0;
    tw__auto(tw_objects_free) tw_objects all = tw__impl_global_variables(&(tw_global_variables_args){ 0 });
    tw__auto(tw_objects_free) tw_objects trained = { NULL, 0 }, averaged = { NULL, 0 };
    if (!args->moving_avg_variables.items) {
        trained = tw__impl_trainable_variables(&(tw_trainable_variables_args){ 0 });
        averaged = tw__impl_moving_average_variables(&(tw_moving_average_variables_args){ 0 });
    }
    tw_objects const lists[] = { args->moving_avg_variables, trained, averaged };
    tw_status status = tw_error_code();
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; status == TW_OK && i < lists[k].count; i++) {
            const shadow *found = find(args->self, lists[k].items[i]);
            const tw_object *shown = found ? (tw_object *)found->variable : NULL;
            status = put(&dict, &capacity, shown ? operation_name(shown) : shadow_name(args->self, lists[k].items[i]),
                         lists[k].items[i]);
        }
    }
    for (int64_t i = 0; status == TW_OK && i < all.count; i++) {
        const char *name = ((const tw_variable *)all.items[i])->name;
        if (!has_name(lists[0], name) && !has_name(trained, name) && !has_name(averaged, name))
            status = put(&dict, &capacity, operation_name(all.items[i]), all.items[i]);
    }
    if (status == TW_OK)
        return dict;
    tw_value_free(&dict);
    return (tw_value){ .kind = TW_VALUE_NONE };
}
