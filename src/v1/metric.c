/* What the metrics of TensorFlow 1 are made of: local variables that count, in a variable scope of the metric. */
#include "v1/metrics.h"

#include "eager/eager.h"
#include "op/calls.h"
#include "session/session.h"

tw_status tw__v1_metric_begin(tw__v1_metric *metric, const tw__v1_told *told, const char *function)
{
    *metric = (tw__v1_metric){ .told = told };
    metric->temps->items = metric->temps->room;
    metric->temps->capacity = sizeof metric->temps->room / sizeof *metric->temps->room;
    if (!tw__tracing)
        return tw__fail(TW_RUNTIME_ERROR, "tf.metrics.%s is not supported when eager execution is enabled.", function);
    metric->begun = true;
    metric->part = tw__part_plain();
    metric->functions = tw__named_as_functions;
    tw__named_as_functions = true;
    return TW_OK;
}

tw_status tw__v1_metric_enter(tw__v1_metric *metric, const char *name, const char *usual)
{
    tw_auto tw_variable_scope *scope = tw_variable_scope_enter(.name = name, .default_name = usual);
    metric->entered = scope != NULL;
    return scope ? TW_OK : tw__error_status();
}

tw_status tw__v1_metric_leave(tw__v1_metric *metric)
{
    tw_status status = metric->entered ? tw_variable_scope_exit() : TW_OK;
    metric->entered = false;
    return status;
}

static tw_status finish(tw__v1_metric *metric)
{
    if (!metric->begun)
        return tw__error_status();
    tw__named_as_functions = metric->functions;
    tw_status left = tw__v1_metric_leave(metric), status = tw__part_end(&metric->part);
    return status == TW_OK ? left : status;
}

static tw_value list_of(int count)
{
    tw_value list = { .kind = TW_VALUE_TUPLE };
    list.list.items = tw__alloc_zero((size_t)count * sizeof *list.list.items);
    list.list.count = list.list.items ? count : 0;
    return list.list.items ? list : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value tensor_value(tw_tensor *tensor)
{
    return (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(tensor) };
}

tw_value tw__v1_metric_end(tw__v1_metric *metric, tw_tensor *value, tw_tensor *update)
{
    tw_value pair = { .kind = TW_VALUE_NONE };
    if (finish(metric) == TW_OK && value && update && tw__v1_collect_in(metric->told->metrics, value) == TW_OK &&
        tw__v1_collect_in(metric->told->updates, update) == TW_OK)
        pair = list_of(2);
    if (pair.kind == TW_VALUE_TUPLE) {
        pair.list.items[0] = tensor_value(value);
        pair.list.items[1] = tensor_value(update);
    }
    tw__temps_end(metric->temps);
    return pair;
}

tw_value tw__v1_metric_change(tw__v1_metric *metric, tw_tensor *value, tw_variable *variable, tw_tensor *change)
{
    tw_value parts = { .kind = TW_VALUE_NONE };
    if (finish(metric) == TW_OK && value && change && tw__v1_collect_in(metric->told->metrics, value) == TW_OK)
        parts = list_of(3);
    if (parts.kind == TW_VALUE_TUPLE) {
        parts.list.items[0] = tensor_value(value);
        parts.list.items[1] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(variable) };
        parts.list.items[2] = tensor_value(change);
    }
    tw__temps_end(metric->temps);
    return parts;
}

/* ---- variables ---- */

tw_variable *tw__v1_local(tw__v1_metric *metric, const char *name, const tw_shape *shape, tw_dtype dtype)
{
    static const char *const collections[] = { "local_variables", "metric_variables", NULL };
    tw__owned char *whole = tw__format("%s%s", tw__scope(), name);
    tw__part part = whole ? tw__first_value_begin(whole) : (tw__part){ 0 };
    int32_t dims[TW_MAX_RANK];
    bool fits = true;
    for (int i = 0; i < shape->rank; i++) {
        fits &= shape->dims[i] <= INT32_MAX;
        dims[i] = (int32_t)shape->dims[i];
    }
    if (!fits)
        tw__fail(TW_UNIMPLEMENTED, "a metric's variable of shape %s", tw__shape_text(shape));
    tw_auto tw_tensor *sizes = whole && fits ? tw_tensor_new(TW_INT32, TW_SHAPE(shape->rank), dims) : NULL;
    tw_auto tw_tensor *zeros = sizes ? tw_zeros(sizes, .dtype = dtype) : NULL;
    tw_status status = tw__first_value_end(&part);
    const char *const *before = tw__variable_collections;
    tw__variable_collections = collections;
    tw_variable *variable = status == TW_OK && zeros ? tw__variable_new(zeros, whole, false, NULL) : NULL;
    tw__variable_collections = before;
    return tw__temp(metric->temps, variable);
}

tw_tensor *tw__v1_read(tw__v1_metric *metric, tw_variable *variable)
{
    return tw__temp(metric->temps, variable ? tw__variable_read(variable) : NULL);
}

tw_tensor *tw__v1_add(tw__v1_metric *metric, tw_variable *variable, tw_tensor *change, tw_tensor *after)
{
    tw__graph *graph = tw__tracing;
    tw__node *earlier = after ? after->node : NULL, *node = NULL;
    tw_attr dtype = variable ? TW_A_TYPE("dtype", variable->resource->dtype) : (tw_attr){ 0 };
    if (!variable || !change || (earlier && tw__control_push(graph, &earlier, 1, false) != TW_OK))
        return NULL;
    tw_status status =
        tw__v1_call(&tw__op_AssignAddVariableOp, NULL, TW_IN(variable->handle, change), 2, &dtype, 1, NULL, 0, &node);
    tw_tensor *value = NULL;
    if (status == TW_OK && tw__control_push(graph, &node, 1, false) == TW_OK) {
        value = tw__v1_read(metric, variable);
        tw__control_pop(graph);
    }
    if (earlier)
        tw__control_pop(graph);
    return value;
}

tw__v1_counter tw__v1_count(tw__v1_metric *metric, const char *name, tw_tensor *change)
{
    tw__v1_counter counter = { NULL, NULL, NULL };
    if (!change)
        return counter;
    counter.variable = tw__v1_local(metric, name, &change->shape, TW_FLOAT32);
    tw_tensor *read = tw__v1_read(metric, counter.variable);
    counter.value = tw__temp(metric->temps, read ? TW_CALL(Identity, read) : NULL);
    counter.update = counter.value ? tw__v1_add(metric, counter.variable, change, NULL) : NULL;
    return counter;
}

/* ---- values ---- */

tw_tensor *tw__v1_number(tw__temps *t, double value)
{
    return tw__temp(t, tw_tensor_float((float)value));
}

tw_tensor *tw__v1_ratio(tw__v1_metric *metric, tw_tensor *one, tw_tensor *other, const char *name)
{
    tw__temps *t = metric->temps;
    tw_tensor *positive = TW_TEMP(Maximum, other, 0.0);
    if (!one || !positive)
        return NULL;
    return tw__temp(t, tw__part_call(&metric->part, name, &tw__op_DivNoNan, TW_IN(one, positive), 2, NULL, 0));
}

tw_tensor *tw__v1_wide(tw__temps *t, tw_tensor *weights, tw_tensor *values)
{
    tw_tensor *own = weights && values ? tw__temp_cast(t, weights, TW_FLOAT32) : NULL;
    if (own && own->shape.rank > 0 && own->shape.rank + 1 == values->shape.rank)
        own = tw__temp(t, tw__call_axis(&tw__op_ExpandDims, own, -1, NULL, 0));
    return own ? TW_TEMP(Mul, own, TW_TEMP(OnesLike, tw__temp_cast(t, values, TW_FLOAT32))) : NULL;
}

void tw__v1_match(tw__temps *t, tw_tensor **labels, tw_tensor **predictions)
{
    int a = (*labels)->shape.rank, b = (*predictions)->shape.rank;
    tw_tensor **longer = a >= 0 && b >= 0 && a == b + 1 ? labels : a >= 0 && b >= 0 && b == a + 1 ? predictions : NULL;
    int64_t last[] = { -1 };
    if (longer)
        *longer = TW_TEMP(Squeeze, *longer, TW_A_INTS("squeeze_dims", last, 1));
}

tw_tensor *tw__v1_sum(tw__temps *t, tw_tensor *values)
{
    return tw__temp(t, values ? tw__reduce_axis(&tw__op_Sum, values, TW_NO_INT, false) : NULL);
}

tw_tensor *tw__v1_flat(tw__temps *t, tw_tensor *tensor, tw_dtype dtype)
{
    tw_tensor *cast = tensor ? tw__temp_cast(t, tensor, dtype) : NULL;
    return cast ? tw__temp_reshape(t, cast, (const int64_t[]){ -1 }, 1) : NULL;
}
