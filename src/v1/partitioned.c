/* tf.compat.v1.get_variable with a partitioner: a variable whose parts along one axis are variables themselves, NAME/part_0 and
 * so on. A checkpoint holds the whole under NAME, slice by slice, so that it may be read in other parts, or in one. */
#include <string.h>

#include "op/calls.h"
#include "v1/v1.h"
#include "v1/variable_scope.h"

_Thread_local const tw__slice_of *tw__v1_slice;

static int slice_axis(const tw_ints *parts)
{
    for (int64_t i = 0; i < parts->count; i++) {
        if (parts->items[i] > 1)
            return (int)i;
    }
    return 0;
}

static tw_status check_parts(const tw_get_partitioned_variable_args *args)
{
    int more = 0, none = 0;
    tw__text text = { 0 };
    for (int64_t i = 0; i < args->parts.count; i++) {
        more += args->parts.items[i] > 1;
        none += args->parts.items[i] < 1;
        tw__text_format(&text, "%s%lld", i ? ", " : "[", (long long)args->parts.items[i]);
    }
    tw__text_add(&text, args->parts.count ? "]" : "[]");
    tw__owned char *parts = tw__text_take(&text), *shape = tw__shape_tuple(&args->shape);
    TW_NEED(parts && shape);
    if (!tw__shape_known(&args->shape))
        return tw__fail(TW_VALUE_ERROR, "Shape of a new partitioned variable must be fully defined, but instead was %s.", shape);
    if (args->shape.rank < 1)
        return tw__fail(TW_VALUE_ERROR, "A partitioned Variable must have rank at least 1, shape: %s", shape);
    if (args->parts.count != args->shape.rank)
        return tw__fail(TW_VALUE_ERROR,
                        "Partitioner returned a partition list that does not match the Variable's rank: %s vs. %s", parts, shape);
    if (none)
        return tw__fail(TW_VALUE_ERROR, "Partitioner returned zero partitions for some axes: %s", parts);
    return more > 1 ? tw__fail(TW_VALUE_ERROR, "Can only slice a variable along one dimension: shape: %s, partitioning: %s",
                               shape, parts)
                    : TW_OK;
}

/* "8 4 0,2:-", but that TensorFlow writes every extent out. */
static char *slice_text(const tw__slice_of *slice, const tw_shape *part)
{
    tw__text text = { 0 };
    for (int i = 0; i < slice->whole.rank; i++)
        tw__text_format(&text, "%lld ", (long long)slice->whole.dims[i]);
    for (int i = 0; i < slice->whole.rank; i++)
        tw__text_format(&text, "%s%lld,%lld", i ? ":" : "", (long long)slice->start[i], (long long)part->dims[i]);
    return tw__text_take(&text);
}

/* A constant's part. */
static tw_object *initializer_of(const tw_get_partitioned_variable_args *args, const tw__slice_of *slice, const tw_shape *part)
{
    if (!args->initializer || !tw__is(args->initializer, &tw__tensor_class))
        return tw_retain(args->initializer);
    TW_TEMPS(t);
    tw_tensor *begin = tw__temp_ints(t, slice->start, part->rank, TW_INT32);
    tw_tensor *size = tw__temp_ints(t, part->dims, part->rank, TW_INT32);
    return (tw_object *)TW_CALL(Slice, (tw_tensor *)args->initializer, begin, size);
}

static tw_variable *make_part(const tw_get_partitioned_variable_args *args, const char *whole, int64_t index, tw__slice_of *slice,
                              const tw_shape *shape)
{
    tw__owned char *name = tw__format("%s/part_%lld", whole, (long long)index), *text = slice_text(slice, shape);
    slice->text = text;
    tw__owned char *scope = name ? tw__format("%s/PartitionedInitializer/", name) : NULL;
    if (!scope || !text || tw__scope_push(scope) != TW_OK)
        return NULL;
    tw_auto tw_object *initializer = initializer_of(args, slice, shape);
    tw__scope_pop();
    if (args->initializer && !initializer)
        return NULL;
    bool constant = initializer && tw__is(initializer, &tw__tensor_class);
    tw_get_variable_args one;
    tw_args_default(&tw__signature_get_variable, &one);
    one.name = name;
    one.shape = constant ? TW_UNKNOWN_SHAPE : *shape;
    one.dtype = constant ? ((tw_tensor *)initializer)->dtype : args->dtype;
    one.initializer = initializer;
    one.regularizer = args->regularizer;
    one.trainable = args->trainable;
    one.collections = args->collections;
    one.validate_shape = args->validate_shape;
    one.constraint = args->constraint;
    one.reuse = args->reuse;
    one.whole_name = true;
    tw__v1_slice = slice;
    tw_auto tw_variable *variable = tw__impl_get_variable(&one);
    tw__v1_slice = NULL;
    if (!variable || variable->slice) /* it may be shared */
        return tw_retain(variable);
    variable->slice_of = tw__strdup(whole);
    variable->slice = text;
    text = NULL;
    return variable->slice_of ? tw_retain(variable) : NULL;
}

TW_API(
    get_partitioned_variable,
    "compat.v1._get_partitioned_variable(name: str, shape: shape, parts: ints, dtype: dtype = None, initializer: object = None, "
    "regularizer: callable = None, trainable: bool = True, collections: value = None, validate_shape: bool = True, "
    "constraint: callable = None, reuse: str {inherit, no, yes, auto} = inherit, whole_name: bool = False) -> list<variable>",
    "The parts of a variable: `parts` says into how many it is cut along each axis, and only one of these numbers may be more than 1. The first "
    "parts are larger by one where the size does not divide. Savers write and read them as slices of one tensor.")
{
    const struct tw_variable_scope *scope = tw__variable_scope_now();
    if (!scope || check_parts(args) != TW_OK)
        return (tw_objects){ 0 };
    int axis = slice_axis(&args->parts);
    int64_t count = args->parts.items[axis], size = args->shape.dims[axis];
    tw__slice_of slice = { .whole = args->shape };
    tw__owned char *whole =
        *scope->name && !args->whole_name ? tw__format("%s/%s", scope->name, args->name) : tw__strdup(args->name);
    void **items = whole ? tw__alloc_array((size_t)count + 1, sizeof *items) : NULL;
    tw_objects list = { items, 0 };
    for (int64_t i = 0; items && i < count; i++) {
        tw_shape part = args->shape;
        part.dims[axis] = size / count + (i < size % count);
        items[i] = make_part(args, whole, i, &slice, &part);
        if (!items[i]) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
        list.count++;
        slice.start[axis] += part.dims[axis];
    }
    return list;
}

tw_status tw__v1_slice_like(tw_variable *kept, const tw_variable *part)
{
    size_t size = strcspn(part->name, ":");
    if (!part->slice || kept->slice || strncmp(kept->name, part->name, size) != 0)
        return TW_OK;
    const char *own = kept->name + size; /* "/Momentum:0" */
    tw__owned char *whole = tw__format("%s%.*s", part->slice_of, (int)strcspn(own, ":"), own), *slice = tw__strdup(part->slice);
    TW_NEED(whole && slice);
    kept->slice_of = whole;
    kept->slice = slice;
    whole = slice = NULL;
    return TW_OK;
}

TW_API(partition_info, "compat.v1._partition_info() -> value",
       "While the first value of a part is made: the sizes of the whole and the part's extents, \"8 4 0,2:0,4\"; else None.")
{
    (void)args;
    return tw__v1_slice ? tw__value_str(tw__v1_slice->text) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(
    variable_slice, "compat.v1._variable_slice(variable: variable) -> value",
    "Of a part of a variable: the sizes of the whole, the part's extents and the name of the whole, \"8 4 0,2:0,4 w\"; else None.")
{
    const tw_variable *variable = args->variable;
    if (!variable->slice)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw__owned char *text = tw__format("%s %s", variable->slice, variable->slice_of);
    return tw__value_str(text ? text : "");
}
