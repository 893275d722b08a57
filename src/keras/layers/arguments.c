/* Arguments of layers: see layers.h. */
#include <ctype.h>

#include "keras/initializers/initializers.h"
#include "keras/layers/layers.h"
#include "op/array/array.h"
#include "op/calls.h"

/* "3" or "(3, 3, 3)". */
static char *ints_text(tw_ints given)
{
    tw__text text = { 0 };
    if (given.count == 1)
        return tw__format("%lld", (long long)given.items[0]);
    tw__text_add(&text, "(");
    for (int64_t i = 0; i < given.count; i++)
        tw__text_format(&text, "%s%lld", i ? ", " : "", (long long)given.items[i]);
    tw__text_add(&text, ")");
    return tw__text_take(&text);
}

tw_status tw__layer_sizes(const char *name, tw_ints given, int count, bool zero_allowed, int64_t *sizes)
{
    bool fits = given.count == 1 || given.count == count;
    int64_t bad = 1;
    for (int i = 0; fits && i < count; i++) {
        sizes[i] = given.items[given.count == 1 ? 0 : i];
        if (sizes[i] < (zero_allowed ? 0 : 1))
            bad = sizes[i];
    }
    if (fits && bad == 1)
        return TW_OK;
    tw__owned char *text = ints_text(given);
    if (!fits)
        tw__fail(TW_VALUE_ERROR, "The `%s` argument must be a tuple of %d integers. Received: %s", name, count, text ? text : "");
    else
        tw__fail(TW_VALUE_ERROR,
                 "The `%s` argument must be a tuple of %d integers. Received: %s including {%lld} that does not satisfy the "
                 "requirement `%s 0`.",
                 name, count, text ? text : "", (long long)bad, zero_allowed ? ">=" : ">");
    return tw__error_status();
}

tw_status tw__layer_padding(const char *given, bool causal_allowed, char *out)
{
    char small[8] = "";
    for (size_t i = 0; given && given[i] && i < sizeof small - 1; i++) {
        small[i] = (char)tolower((unsigned char)given[i]);
        small[i + 1] = 0;
    }
    bool known = given && strlen(given) < sizeof small &&
                 (strcmp(small, "valid") == 0 || strcmp(small, "same") == 0 || strcmp(small, "causal") == 0);
    if (!known)
        return tw__fail(TW_VALUE_ERROR,
                        "The `padding` argument must be a list/tuple or one of \"valid\", \"same\" (or \"causal\", only for "
                        "`Conv1D). Received: %s",
                        given ? given : "None");
    if (small[0] == 'c' && !causal_allowed)
        return tw__fail(TW_VALUE_ERROR, "Causal padding is only supported for `Conv1D`and `SeparableConv1D`.");
    memcpy(out, small, sizeof small);
    return TW_OK;
}

tw_status tw__layer_channels_first(const char *data_format, bool *first)
{
    *first = data_format && strcmp(data_format, "channels_first") == 0;
    if (!data_format || *first || strcmp(data_format, "channels_last") == 0)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR,
                    "The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: %s", data_format);
}

tw_status tw__layer_refuse(const tw_layer *layer, const tw__unsupported *arguments, int count)
{
    for (int i = 0; i < count; i++) {
        if (arguments[i].given)
            return tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": the argument `%s` is not supported", tw_class_name(layer), layer->name,
                            arguments[i].name);
    }
    return TW_OK;
}

tw_status tw__layer_take_axes(const tw_layer *layer, tw_ints given, int64_t *axes, int *count, int rank)
{
    if (given.count < 1 || given.count > TW_MAX_RANK)
        return tw__fail(TW_TYPE_ERROR,
                        "Expected an int or a list/tuple of ints for the argument 'axis', but received %lld of them",
                        (long long)given.count);
    bool same = given.count == *count;
    for (int64_t i = 0; layer->built && same && i < given.count; i++)
        same = (given.items[i] < 0 ? given.items[i] + rank : given.items[i]) == axes[i];
    if (layer->built)
        return same ? TW_OK
                    : tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": `axis` can't be changed once the layer is built",
                               tw_class_name(layer), layer->name);
    *count = (int)given.count;
    memcpy(axes, given.items, (size_t)given.count * sizeof *axes);
    return TW_OK;
}

tw_status tw__layer_check_rate(double rate)
{
    return rate >= 0 && rate <= 1
               ? TW_OK
               : tw__fail(TW_VALUE_ERROR, "Invalid value %g received for `rate`, expected a value between 0 and 1.", rate);
}

tw_status tw__layer_need_rank(const tw_layer *layer, const tw_shape *shape, int rank)
{
    if (shape->rank < 0 || shape->rank == rank)
        return TW_OK;
    tw__owned char *text = tw__shape_tuple(shape);
    tw__fail_because(
        TW_REASON_INPUTS, TW_VALUE_ERROR,
        "Input 0 of layer \"%s\" is incompatible with the layer: expected ndim=%d, found ndim=%d. Full shape received: %s",
        layer->name, rank, shape->rank, text ? text : "");
    return tw__error_status();
}

tw_variable *tw__layer_variable(tw_layer *layer, const char *name)
{
    tw_trackable *variable = tw__tracked(&layer->trackable, name);
    if (variable && tw__is(variable, &tw__class_variable))
        return (tw_variable *)variable;
    tw__fail(TW_FAILED_PRECONDITION, "%s \"%s\" has no variable `%s`", tw_class_name(layer), layer->name, name);
    return NULL;
}

tw_tensor *tw__layer_read(tw_layer *layer, const char *name)
{
    tw_variable *variable = tw__layer_variable(layer, name);
    return variable ? tw__variable_read(variable) : NULL;
}

tw_value tw__sizes_value(const int64_t *sizes, int count)
{
    tw_shape shape = { .rank = count };
    memcpy(shape.dims, sizes, (size_t)count * sizeof *sizes);
    return tw__shape_value(&shape);
}

int64_t tw__layer_places(int64_t in, int64_t size, int64_t stride, int64_t dilation, const char *padding)
{
    if (in < 0)
        return -1;
    int64_t whole = (size - 1) * dilation + 1;
    int64_t room = *padding == 'v' ? in - whole + 1 : in;
    return room <= 0 ? 0 : (room + stride - 1) / stride;
}

tw_tensor *tw__layer_flatten_batch(tw_tensor *x, int keep)
{
    int rank = x->shape.rank;
    if (rank == keep + 1)
        return tw_retain(x);
    tw_shape shape = { .rank = keep + 1, .dims = { 1 } };
    for (int i = 0; i < rank; i++) {
        if (i < rank - keep)
            shape.dims[0] *= x->shape.dims[i];
        else
            shape.dims[i - (rank - keep) + 1] = x->shape.dims[i];
    }
    return tw__reshape(x, &shape);
}

tw_tensor *tw__channels_moved(tw_tensor *x, bool to_first)
{
    tw_auto tw_tensor *taken = x;
    int rank = x ? x->shape.rank : 0;
    if (rank < 3)
        return tw_retain(x);
    int64_t order[TW_MAX_RANK] = { 0 };
    for (int i = 1; i < rank; i++)
        order[i] = to_first ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    tw_auto tw_tensor *axes = tw__ints_tensor(order, rank, TW_INT32);
    return axes ? TW_CALL(Transpose, x, axes) : NULL;
}
