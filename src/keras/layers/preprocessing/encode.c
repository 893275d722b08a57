/* Categories as numbers, and numbers as rows; see encode.h. */
#include "keras/layers/preprocessing/encode.h"

#include "api/ragged/ragged_call.h"
#include "op/calls.h"

static const char *const names[] = { "int", "one_hot", "multi_hot", "count", "tf_idf" };

const char *tw__output_mode_name(tw__output_mode mode)
{
    return names[mode];
}

tw_status tw__output_mode_of(const tw_layer *layer, const char *given, const char *allowed, tw__output_mode *mode)
{
    for (int i = 0; given && i <= TW_MODE_TF_IDF; i++) {
        tw__owned char *quoted = tw__format("'%s'", names[i]);
        TW_NEED(quoted);
        if (strcmp(names[i], given) == 0 && strstr(allowed, quoted)) {
            *mode = (tw__output_mode)i;
            return TW_OK;
        }
    }
    return tw__fail(
        TW_VALUE_ERROR,
        "Unkown value for `output_mode` argument of layer %s. Allowed values are: or one of the following values: (%s). "
        "Received: %s",
        tw_class_name(layer), allowed, given ? given : "None");
}

tw_status tw__encoding_dtype(tw_layer *layer, tw_dtype told, tw__output_mode mode, bool lenient)
{
    bool numbers = mode == TW_MODE_INT;
    if (numbers && told && !tw__dtype_is_integer(told) && (!lenient || tw__policy_is_mixed(told)))
        return tw__fail(TW_VALUE_ERROR, "When `output_mode='int'`, `dtype` should be an integer type. Received: dtype=%s",
                        tw__policy_name(told));
    layer->compute_dtype = numbers && !(told && tw__dtype_is_integer(told)) ? TW_INT64 : tw__policy_compute(told);
    layer->dtype = tw__policy_is_mixed(told) ? TW_FLOAT32 : layer->compute_dtype;
    return TW_OK;
}

/* ---- values ---- */

static bool is_sparse(const void *value)
{
    return tw__is(value, &tw__class_sparse_tensor);
}

tw_tensor *tw__plain_values(void *value)
{
    return is_sparse(value) ? ((tw_sparse_tensor *)value)->values : tw__is_ragged(value) ? tw__flat_values(value) : value;
}

static tw_shape shape_of(const void *value)
{
    return is_sparse(value) ? ((const tw_sparse_tensor *)value)->shape : tw__value_shape(value);
}

void *tw__map_values(tw__temps *t, void *value, tw__values_function function, void *context)
{
    tw_tensor *values = value ? function(context, t, tw__plain_values(value)) : NULL;
    if (!values || !tw__is_composite(value))
        return values;
    if (tw__is_ragged(value))
        return tw__temp_with_flat(t, value, values);
    const tw__composite_methods *methods = tw__methods(value);
    return tw__temp(t, methods->with_values(value, values));
}

static tw_tensor *cast_values(void *context, tw__temps *t, tw_tensor *values)
{
    return tw__temp_cast(t, values, *(const tw_dtype *)context);
}

void *tw__encoding_input(tw_layer *layer, tw__temps *t, const tw_value *given, tw_dtype hint)
{
    if (given->kind == TW_VALUE_OBJECT && (is_sparse(given->object) || tw__is_ragged(given->object))) {
        tw_dtype dtype = tw__plain_values(given->object)->dtype;
        bool cast = tw__dtype_is_float(dtype) && tw__dtype_is_float(layer->compute_dtype) && dtype != layer->compute_dtype;
        return cast ? tw__map_values(t, given->object, cast_values, &layer->compute_dtype) : given->object;
    }
    return tw__temp(t, tw__value_tensor(given, hint, layer->name));
}

tw_value tw__encoded(void *value)
{
    if (!value)
        return (tw_value){ .kind = TW_VALUE_NONE };
    void *kept = tw_retain(value);
    return tw__is(value, &tw__tensor_class) ? TW_LEAF(kept) : (tw_value){ .kind = TW_VALUE_OBJECT, .object = kept };
}

static void *expand_last(tw__temps *t, void *value)
{
    if (is_sparse(value))
        return tw__temp(t, tw_sparse_expand_dims(value));
    int rank = tw__value_shape(value).rank;
    return rank < 0 ? NULL : tw__value_expand(t, value, rank);
}

/* ---- rows ---- */

static void *sparse_rows(tw__temps *t, void *value, const tw__encoding *how)
{
    tw_value none = { .kind = TW_VALUE_NONE };
    bool tensor = tw__is(value, &tw__tensor_class);
    tw_value values = tensor ? TW_LEAF(value) : (tw_value){ .kind = TW_VALUE_OBJECT, .object = value }, weights = none;
    if (how->weights)
        weights = tw__is(how->weights, &tw__tensor_class) ? TW_LEAF(how->weights)
                                                          : (tw_value){ .kind = TW_VALUE_OBJECT, .object = how->weights };
    bool binary = how->mode == TW_MODE_ONE_HOT || how->mode == TW_MODE_MULTI_HOT;
    tw_sparse_tensor *counts = tw__temp(t, tw_sparse_bincount(values, .weights = weights, .axis = -1, .minlength = how->depth,
                                                              .maxlength = how->depth, .binary_output = binary));
    tw_tensor *numbers = counts ? tw__temp_cast(t, counts->values, how->dtype) : NULL;
    tw_tensor *depth = tw__temp_ints(t, &how->depth, 1, TW_INT64);
    if (!numbers || !depth)
        return NULL;
    tw_shape shape = shape_of(value), known = shape.rank == 1 ? TW_SHAPE(how->depth) : TW_SHAPE(shape.dims[0], how->depth);
    tw_tensor *sizes =
        shape.rank == 1 ? depth : tw__temp_concat(t, TW_IN(tw__temp_slice(t, counts->dense_shape, TW_NO_INT, 1), depth), 2, 0);
    if (how->mode == TW_MODE_TF_IDF)
        numbers =
            TW_TEMP(Mul, tw__temp_gather(t, how->idf, tw__temp_column(t, counts->indices, shape.rank == 1 ? 0 : 1), 0), numbers);
    tw_sparse_tensor *made = numbers && sizes ? tw__temp(t, tw__sparse_new(counts->indices, numbers, sizes)) : NULL;
    if (made)
        made->shape = known;
    return made;
}

/* While tracing: what is known of the shape. */
static tw_tensor *with_shape(tw__temps *t, tw_tensor *counts, const tw_shape *shape)
{
    if (!counts || !counts->node)
        return counts;
    return tw__temp(t, tw_ensure_shape(counts, *shape));
}

static void *dense_rows(tw__temps *t, void *value, const tw__encoding *how)
{
    bool binary = how->mode == TW_MODE_ONE_HOT || how->mode == TW_MODE_MULTI_HOT;
    tw__bins bins = { how->depth, how->depth, -1, how->dtype, binary };
    tw_tensor *counts = tw__temp(t, tw__bincount(t, value, how->weights, &bins));
    tw_shape shape = shape_of(value), known = shape.rank == 1 ? TW_SHAPE(how->depth) : TW_SHAPE(shape.dims[0], how->depth);
    if (counts && !tw__shape_covers(&known, &counts->shape))
        counts = with_shape(t, counts, &known);
    return how->mode == TW_MODE_TF_IDF ? TW_TEMP(Mul, counts, how->idf) : counts;
}

void *tw__encode(tw__temps *t, void *value, const tw__encoding *how)
{
    if (!value)
        return NULL;
    if (how->mode == TW_MODE_INT)
        return tw__map_values(t, value, cast_values, (void *)(uintptr_t)&how->dtype);
    tw_shape original = shape_of(value);
    if (original.rank == 0)
        value = expand_last(t, value);
    tw_shape shape = value ? shape_of(value) : original;
    if (value && how->mode == TW_MODE_ONE_HOT && (shape.rank < 1 || shape.dims[shape.rank - 1] != 1)) {
        if (shape.rank == 1 || shape.rank < 0)
            value = expand_last(t, value);
        shape.rank++;
    }
    if (original.rank < 0) {
        tw__fail(TW_VALUE_ERROR, "`output_mode='%s'`: the rank of the input is not known", tw__output_mode_name(how->mode));
        return NULL;
    }
    if (shape.rank > 2) {
        tw__owned char *text = tw__shape_tuple(&original);
        tw__fail(
            TW_VALUE_ERROR,
            "When output_mode is not `'int'`, maximum supported output rank is 2. Received output_mode %s and input shape %s, "
            "which would result in output rank %d.",
            tw__output_mode_name(how->mode), text ? text : "", shape.rank);
        return NULL;
    }
    if (!value)
        return NULL;
    return how->sparse ? sparse_rows(t, value, how) : dense_rows(t, value, how);
}

tw_status tw__encoded_shape(tw__output_mode mode, int64_t depth, const tw_shape *input, tw_shape *output)
{
    *output = *input;
    if (mode == TW_MODE_INT || input->rank < 0)
        return TW_OK;
    bool appended = input->rank == 0 || (mode == TW_MODE_ONE_HOT && input->dims[input->rank - 1] != 1);
    if (appended && input->rank == TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "an input of rank %d", input->rank);
    output->rank += appended;
    output->dims[output->rank - 1] = depth;
    return TW_OK;
}
