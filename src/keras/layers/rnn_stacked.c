/* keras.layers.StackedRNNCells: cells one above the other; AbstractRNNCell, and what every cell answers. */
#include "base/language.h"
#include "keras/layers/recurrent.h"
#include "op/array/array.h"
#include "op/calls.h"

tw_tensor *tw__cell_zeros(tw_tensor *inputs, int batch_axis, const tw_shape *size, tw_dtype dtype)
{
    tw_shape shape = { .rank = size->rank + 1, .dims = { inputs->shape.dims[batch_axis] } };
    memcpy(shape.dims + 1, size->dims, (size_t)size->rank * sizeof *shape.dims);
    if (shape.dims[0] >= 0)
        return tw_tensor_new(dtype, shape, NULL);
    TW_TEMPS(t);
    tw_tensor *batch = tw__temp_slice(t, tw__temp_shape(t, inputs, TW_INT32), batch_axis, batch_axis + 1);
    tw_tensor *dims = TW_TEMP(ConcatV2, batch, tw__temp_ints(t, size->dims, size->rank, TW_INT32), 0);
    tw_tensor *filled = tw__temp_zeros(t, dims, dtype);
    return filled ? tw__reshape(filled, &shape) : NULL; /* as one of known rank */
}

/* The size of the first state. */
static int64_t first_size(tw_layer *cell)
{
    tw__auto(tw_value_free) tw_value sizes = tw__cell_state_sizes(cell);
    tw_shape flat[TW_MOST_STATES];
    int count = tw__states_sizes(&sizes, flat, 0);
    return count > 0 && flat[0].rank ? flat[0].dims[flat[0].rank - 1] : -1;
}

int64_t tw__cell_output_size(tw_layer *cell)
{
    if (tw__is(cell, &tw__class_layers_stacked_rnn_cells)) {
        const tw_layers_stacked_rnn_cells_args *args = tw_object_config(cell);
        return args->cells.count ? tw__cell_output_size(args->cells.items[args->cells.count - 1]) : -1;
    }
    tw_value size = tw__value_none();
    if (!tw__cell_of(cell) && cell->foreign_attribute && cell->foreign_attribute(cell, "output_size", &size) &&
        size.kind == TW_VALUE_INT)
        return size.i;
    tw_value_free(&size);
    tw_clear_error();
    return first_size(cell);
}

bool tw__cell_takes_constants(tw_layer *cell)
{
    return tw__is(cell, &tw__class_layers_stacked_rnn_cells) ||
           (cell->foreign_call && tw__language.invoke && tw__language.takes && tw__language.takes(cell, "constants"));
}

/* ---- cells one above the other ---- */

static tw_status stacked_init(void *self, const void *given)
{
    tw_layer *layer = self;
    const tw_layers_stacked_rnn_cells_args *args = given;
    tw_auto tw_trackable *list = tw__container_new();
    if (!list)
        return tw__error_status();
    for (int64_t i = 0; i < args->cells.count; i++)
        TW_TRY(tw__container_append(list, args->cells.items[i]));
    return tw__track(&layer->trackable, "cells", list);
}

static tw_status stacked_build(tw_layer *self, const tw_shape *input)
{
    const tw_layers_stacked_rnn_cells_args *args = tw_object_config(self);
    tw_shape shape = *input;
    for (int64_t i = 0; i < args->cells.count; i++) {
        tw_layer *cell = args->cells.items[i];
        if (!cell->foreign_call) {
            TW_TRY(tw__layer_begin(cell));
            tw_status status = tw__layer_build(cell, &shape);
            tw__layer_end(cell);
            TW_TRY(status);
        }
        shape.dims[shape.rank - 1] = tw__cell_output_size(cell);
    }
    return TW_OK;
}

static tw_value stacked_call(tw_layer *self, const tw_value *given, int training)
{
    const tw_layers_stacked_rnn_cells_args *args = tw_object_config(self);
    tw_tensor *states[TW_MOST_STATES], *made[TW_MOST_STATES] = { 0 },
                                       *x = given[0].kind == TW_VALUE_TENSOR ? tw_retain(given[0].tensor) : NULL;
    tw_value sizes = tw__cell_state_sizes(self), result = tw__value_none();
    int count = tw__states_flatten(&given[1], states, 0), at = 0;
    if (!x || sizes.kind == TW_VALUE_NONE || count != tw__states_count(&sizes))
        tw__fail(TW_VALUE_ERROR, "StackedRNNCells \"%s\": states must be as many as the cells have together", self->name);
    bool good = tw_error_code() == TW_OK;
    for (int64_t i = 0; good && i < args->cells.count; i++) {
        tw__sequence one = { .cell = args->cells.items[i], .sizes = sizes.list.items[i], .training = training };
        if (given[2].kind != TW_VALUE_NONE && tw__cell_takes_constants(one.cell))
            one.constants = &given[2];
        one.count = tw__states_count(&one.sizes);
        tw_tensor *output = NULL;
        good = tw__cell_step_any(&one, x, states + at, &output, made + at) == TW_OK;
        at += one.count;
        if (good) {
            tw_release(x);
            x = output;
        }
    }
    int from = 0;
    tw_value *items = good ? tw__alloc_array(2, sizeof *items) : NULL;
    if (items) {
        items[0] = tw__tensor_value(tw_retain(x));
        items[1] = tw__states_restore(&sizes, made, &from);
        result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2 } };
    }
    tw__tensors_release(made, TW_MOST_STATES);
    tw_release(x);
    tw_value_free(&sizes);
    return result;
}

static void stacked_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_stacked_rnn_cells_args *args = tw_object_config(self);
    tw_value *items = tw__alloc_array((size_t)args->cells.count + 1, sizeof *items);
    for (int64_t i = 0; items && i < args->cells.count; i++)
        items[i] = tw__serialize(args->cells.items[i], "keras.layers");
    tw__dict_put(dict, "cells", (tw_value){ .kind = TW_VALUE_LIST, .list = { items, items ? args->cells.count : 0 } });
}

static const tw__layer_methods stacked_methods = { .build = stacked_build,
                                                   .arguments = "inputs states constants training",
                                                   .call_values = stacked_call,
                                                   .config = stacked_config,
                                                   .own_config = " cells " };

TW_CLASS(layers_stacked_rnn_cells, "keras.layers.StackedRNNCells(cells: list<layer>, **layer) -> layer",
         .parent = &tw__class_layers_abstract_rnn_cell, .size = sizeof(tw_layer), .init = stacked_init,
         .methods = &stacked_methods,
         .doc = "Cells that work as one: each takes the output of the one below.\n"
                "cells: the cells, the lowest first");

TW_CLASS(layers_abstract_rnn_cell, "keras.layers.AbstractRNNCell(**layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer),
         .doc = "A cell to be subclassed: it has state_size and output_size, and call(inputs, states) gives (output, states).");

/* ---- what cells answer ---- */

TW_PROPERTY(cell_state_size, "keras.layers.AbstractRNNCell.state_size(self: layer) -> value", "The sizes of the states.")
{
    return tw__cell_class_sizes(args->self); /* a subclass's own is no property of this row */
}

TW_PROPERTY(cell_output_size, "keras.layers.AbstractRNNCell.output_size(self: layer) -> int", "The size of the output.")
{
    return tw__is(args->self, &tw__class_layers_stacked_rnn_cells) ? tw__cell_output_size(args->self) : first_size(args->self);
}

static tw_value zero_states(tw_layer *cell, tw_tensor *inputs, int batch_axis, int64_t batch, tw_dtype dtype)
{
    tw_value sizes = tw__cell_state_sizes(cell), result = tw__value_none();
    tw_shape flat[TW_MOST_STATES];
    tw_tensor *zeros[TW_MOST_STATES] = { 0 };
    int count = tw__states_sizes(&sizes, flat, 0), at = 0;
    bool good = count > 0;
    if (!good && sizes.kind != TW_VALUE_NONE)
        tw__fail(TW_VALUE_ERROR, "%s: the cell's `state_size` is no structure of integers and shapes", cell->name);
    for (int i = 0; good && i < count; i++) {
        tw_shape shape = { .rank = flat[i].rank + 1, .dims = { batch } };
        memcpy(shape.dims + 1, flat[i].dims, (size_t)flat[i].rank * sizeof *shape.dims);
        zeros[i] = inputs ? tw__cell_zeros(inputs, batch_axis, &flat[i], dtype) : tw_tensor_new(dtype, shape, NULL);
        good = zeros[i] != NULL;
    }
    if (good)
        result = tw__states_restore(&sizes, zeros, &at);
    tw__tensors_release(zeros, count < 0 ? 0 : count);
    tw_value_free(&sizes);
    return result;
}

/* What the cell's own get_initial_state gives; None: it has none. */
static tw_status own_states(tw_layer *cell, tw_tensor *inputs, int batch_axis, tw_dtype dtype, tw_value *result)
{
    TW_TEMPS(t);
    bool own = false;
    *result = tw__value_none();
    if (!cell->trackable.object.peer || !tw__language.method)
        return TW_OK;
    tw_tensor *batch = tw__temp_slice(t, tw__temp_shape(t, inputs, TW_INT32), batch_axis, batch_axis + 1);
    tw_tensor *number = batch ? tw__temp(t, tw__reshape(batch, &TW_SCALAR)) : NULL;
    TW_NEED(number);
    tw_value named[] = { TW_TEXT("inputs"), tw__value_none(), TW_TEXT("batch_size"),
                         TW_LEAF(number),   TW_TEXT("dtype"), { .kind = TW_VALUE_DTYPE, .dtype = dtype } };
    tw_value dict = { .kind = TW_VALUE_DICT, .list = { named, 6 } };
    tw_status status = tw__language.method(cell, "get_initial_state", NULL, &dict, result, &own);
    if (status != TW_OK)
        tw_value_free(result);
    return status;
}

tw_value tw__cell_first_states(tw_layer *cell, tw_tensor *inputs, int batch_axis, tw_dtype dtype)
{
    if (tw__is(cell, &tw__class_layers_stacked_rnn_cells)) {
        const tw_layers_stacked_rnn_cells_args *args = tw_object_config(cell);
        tw_value all = { .kind = TW_VALUE_TUPLE,
                         .list = { tw__alloc_array((size_t)args->cells.count + 1, sizeof *all.list.items), 0 } };
        bool good = all.list.items != NULL;
        for (int64_t i = 0; good && i < args->cells.count; i++) {
            all.list.items[i] = tw__cell_first_states(args->cells.items[i], inputs, batch_axis, dtype);
            good = all.list.items[i].kind != TW_VALUE_NONE;
            all.list.count++;
        }
        if (!good)
            tw_value_free(&all);
        return good ? all : tw__value_none();
    }
    tw_value own;
    tw_status status = own_states(cell, inputs, batch_axis, dtype, &own);
    return status != TW_OK || own.kind != TW_VALUE_NONE ? own : zero_states(cell, inputs, batch_axis, 0, dtype);
}

TW_METHOD(
    cell_get_initial_state,
    "keras.layers.AbstractRNNCell.get_initial_state(self: layer, inputs: tensor = None, batch_size: int = None, dtype: dtype = None) -> value",
    "States of zeros.\n"
    "inputs: a batch of inputs, whose size the states take; None: `batch_size` says it\n"
    "batch_size: the number of rows of the states where no inputs are given\n"
    "dtype: the dtype of the states; None: that of the inputs, or of the layer's computation\n"
    "raises: ValueError: neither inputs nor a batch size are given")
{
    if (!args->inputs && args->batch_size == TW_NO_INT) {
        tw__fail(TW_VALUE_ERROR, "batch_size and dtype are required while constructing initial state. Received: batch_size=None");
        return tw__value_none();
    }
    tw_dtype dtype = args->dtype ? args->dtype : args->inputs ? args->inputs->dtype : args->self->compute_dtype;
    return zero_states(args->self, args->inputs, 0, args->batch_size, dtype);
}

TW_METHOD(
    cell_reset_masks,
    "keras.layers.AbstractRNNCell.reset_dropout_mask|keras.layers.AbstractRNNCell.reset_recurrent_dropout_mask(self: layer)",
    "Forgets which elements dropout takes away.")
{
    tw__cell *cell = tw__cell_of(args->self);
    if (cell)
        tw__cell_reset_masks(cell);
    return TW_OK;
}
