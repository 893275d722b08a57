/* Going through a sequence with a cell: step by step, by a loop in the graph, or all at once; and structures of states, flat and
 * back. */
#include "function/control.h"
#include "graph/graph.h"
#include "keras/layers/recurrent.h"
#include "op/array/array.h"
#include "op/calls.h"

/* ---- structures of states ---- */

tw_value tw__cell_class_sizes(tw_layer *layer)
{
    if (tw__is_cell(layer)) {
        const tw__cell *cell = (const tw__cell *)layer;
        if (tw__cell_state_count(cell) == 1)
            return (tw_value){ .kind = TW_VALUE_INT, .i = cell->settings.units };
        tw_value sizes = tw__sizes_value((int64_t[]){ cell->settings.units, cell->settings.units }, 2);
        sizes.kind = TW_VALUE_LIST;
        return sizes;
    }
    if (tw__is(layer, &tw__class_layers_stacked_rnn_cells)) {
        const tw_layers_stacked_rnn_cells_args *args = tw_object_config(layer);
        tw_value *items = tw__alloc_array((size_t)args->cells.count + 1, sizeof *items);
        for (int64_t i = 0; items && i < args->cells.count; i++)
            items[i] = tw__cell_state_sizes(args->cells.items[i]);
        return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, args->cells.count } } : tw__value_none();
    }
    tw__fail(TW_VALUE_ERROR,
             "The RNN cell should have a `state_size` attribute (tuple of integers, one integer per RNN state). Received: %s",
             tw_class_name(layer));
    return tw__value_none();
}

tw_value tw__cell_state_sizes(tw_layer *layer)
{
    tw_value sizes = tw__value_none();
    if (!layer->foreign_attribute || tw__cell_of(layer) || tw__is(layer, &tw__class_layers_stacked_rnn_cells))
        return tw__cell_class_sizes(layer);
    if (!layer->foreign_attribute(layer, "state_size", &sizes)) /* the class's own, where the subclass has none */
        return tw__cell_class_sizes(layer);
    return sizes;
}

/* How many states a structure of sizes has. */
int tw__states_count(const tw_value *sizes)
{
    if (!tw__value_is_list(sizes))
        return 1;
    int count = 0;
    for (int64_t i = 0; i < sizes->list.count; i++)
        count += tw__states_count(&sizes->list.items[i]);
    return count;
}

/* The flat tensors of a structure, borrowed; how many there are, or -1: it holds something else. */
int tw__states_flatten(const tw_value *value, tw_tensor **tensors, int at)
{
    if (value->kind == TW_VALUE_TENSOR && at < TW_MOST_STATES) {
        tensors[at] = value->tensor;
        return at + 1;
    }
    if (!tw__value_is_list(value))
        return -1;
    for (int64_t i = 0; at >= 0 && i < value->list.count; i++)
        at = tw__states_flatten(&value->list.items[i], tensors, at);
    return at;
}

/* The structure again. New references. */
tw_value tw__states_restore(const tw_value *sizes, tw_tensor *const *tensors, int *at)
{
    if (!tw__value_is_list(sizes))
        return tw__tensor_value(tw_retain(tensors[(*at)++]));
    tw_value *items = tw__alloc_array((size_t)sizes->list.count + 1, sizeof *items);
    if (!items)
        return tw__value_none();
    for (int64_t i = 0; i < sizes->list.count; i++)
        items[i] = tw__states_restore(&sizes->list.items[i], tensors, at);
    return (tw_value){ .kind = sizes->kind, .list = { items, sizes->list.count } };
}

/* The sizes of all states, one behind the other. */
int tw__states_sizes(const tw_value *sizes, tw_shape *out, int at)
{
    if (sizes->kind == TW_VALUE_INT && at < TW_MOST_STATES) {
        out[at] = TW_SHAPE(sizes->i);
        return at + 1;
    }
    if (sizes->kind == TW_VALUE_SHAPE && at < TW_MOST_STATES) {
        out[at] = *sizes->shape;
        return at + 1;
    }
    for (int64_t i = 0; at >= 0 && tw__value_is_list(sizes) && i < sizes->list.count; i++)
        at = tw__states_sizes(&sizes->list.items[i], out, at);
    return tw__value_is_list(sizes) ? at : -1;
}

/* ---- one step of any cell ---- */

/* The cell computes in its own dtype, whichever that of the layer around it is. */
static tw_status own_step(const tw__sequence *s, tw__cell *cell, tw_tensor *x, tw_tensor *const *states, tw_tensor **output,
                          tw_tensor **next)
{
    TW_TEMPS(t);
    tw_dtype before = tw__autocast, wanted = s->cell->compute_dtype;
    tw_tensor *ready = tw__temp_cast(t, x, wanted), *given[TW_MOST_STATES] = { 0 };
    bool good = ready != NULL;
    for (int i = 0; good && i < s->count; i++)
        good = (given[i] = tw__temp_cast(t, states[i], wanted)) != NULL;
    tw__autocast = wanted;
    tw_status status = good ? tw__cell_step(cell, ready, given, s->training, next) : tw__error_status();
    tw__autocast = before;
    if (status == TW_OK)
        *output = tw_retain(next[0]);
    return status;
}

static tw_value call_cell(const tw__sequence *s, const tw_value *given)
{
    if (!s->constants)
        return tw__layer_call_values(s->cell, given, 2, s->training);
    if (!s->cell->foreign_call) { /* cells one above the other */
        const tw_value all[] = { given[0], given[1], *s->constants };
        return tw__layer_call_values(s->cell, all, 3, s->training);
    }
    tw__dict dict = { 0 };
    tw__dict_put(&dict, "constants", tw__value_copy(s->constants));
    tw__auto(tw_value_free) tw_value named = tw__dict_take(&dict);
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { (tw_value *)(uintptr_t)given, 2 } }, made = tw__value_none();
    if (named.kind == TW_VALUE_DICT)
        tw__language.invoke(s->cell, &arguments, &named, s->training < 0 ? tw__learning_phase() : s->training, &made);
    return made;
}

tw_status tw__cell_step_any(const tw__sequence *s, tw_tensor *x, tw_tensor *const *states, tw_tensor **output, tw_tensor **next)
{
    tw__cell *own = tw__cell_of(s->cell);
    if (own)
        return own_step(s, own, x, states, output, next);
    int at = 0;
    tw_value given[2] = { { .kind = TW_VALUE_TENSOR, .tensor = x }, tw__states_restore(&s->sizes, states, &at) };
    if (!tw__value_is_list(&given[1])) { /* cells get their states as a list, also a single one */
        tw_value *item = tw__alloc_array(1, sizeof *item);
        if (!item)
            return tw__error_status();
        *item = given[1];
        given[1] = (tw_value){ .kind = TW_VALUE_LIST, .list = { item, 1 } };
    }
    tw__auto(tw_value_free) tw_value result = call_cell(s, given);
    tw_value_free(&given[1]);
    tw_tensor *found[TW_MOST_STATES];
    bool good = tw__value_is_list(&result) && result.list.count == 2 && result.list.items[0].kind == TW_VALUE_TENSOR &&
                tw__states_flatten(&result.list.items[1], found, 0) == s->count;
    if (good) {
        *output = tw_retain(result.list.items[0].tensor);
        for (int i = 0; i < s->count; i++)
            next[i] = tw_retain(found[i]);
    } else if (result.kind != TW_VALUE_NONE) {
        tw__fail(TW_VALUE_ERROR, "RNN: the cell \"%s\" gave something else than (output, states) with %d states", s->cell->name,
                 s->count);
    }
    return good ? TW_OK : tw__error_status();
}

/* where(mask, x, y), the mask [batch] standing for whole rows; takes x. */
static tw_tensor *choose(tw_tensor *mask, tw_tensor *x, tw_tensor *y)
{
    tw_auto tw_tensor *taken = x;
    if (!x || !y)
        return NULL;
    tw_auto tw_tensor *wide = tw_retain(mask);
    for (int i = 1; i < x->shape.rank && wide; i++) {
        tw_auto tw_tensor *narrow = wide, *axis = tw_tensor_int(-1);
        wide = TW_CALL(ExpandDims, narrow, axis);
    }
    tw_tensor *result = wide ? TW_CALL(SelectV2, wide, x, y) : NULL;
    return result;
}

void tw__tensors_release(tw_tensor **tensors, int count)
{
    for (int i = 0; i < count; i++) {
        tw_release(tensors[i]);
        tensors[i] = NULL;
    }
}

/* A step under a mask: where it is false, states stay and the output is the last one (or zero). `last` may be NULL before the
 * first step. */
static tw_status step_masked(const tw__sequence *s, tw_tensor *x, tw_tensor *mask, tw_tensor *const *states, tw_tensor *last,
                             tw_tensor **output, tw_tensor **next)
{
    TW_TRY(tw__cell_step_any(s, x, states, output, next));
    if (!mask)
        return TW_OK;
    tw_auto tw_tensor *before = last && !s->zero_masked ? tw_retain(last) : TW_CALL(ZerosLike, *output);
    *output = choose(mask, *output, before);
    bool good = *output != NULL;
    for (int i = 0; i < s->count; i++) {
        next[i] = choose(mask, next[i], states[i]);
        good = good && next[i];
    }
    if (good)
        return TW_OK;
    tw__tensors_release(next, s->count);
    tw__tensors_release(output, 1);
    return tw__error_status();
}

/* ---- a sequence of known length ---- */

static tw_status unstack(tw_tensor *x, int count, tw_tensor ***parts)
{
    *parts = tw__alloc_array((size_t)count + 1, sizeof **parts);
    if (!*parts)
        return tw__error_status();
    int made = count;
    return tw__apply(&tw__op_Unpack, &x, 1, TW_WITH(TW_A_INT("num", count), TW_A_INT("axis", 0)), 2, *parts, &made);
}

/* states (references) become the last ones; *outputs: all outputs, time first, or the last one. */
tw_status tw__sequence_steps(const tw__sequence *s, int64_t length, bool every, tw_tensor **states, tw_tensor **outputs)
{
    tw_tensor **xs = NULL, **masks = NULL, **all = tw__alloc_array((size_t)length + 1, sizeof *all), *last = NULL;
    tw_status status = all ? unstack(s->inputs, (int)length, &xs) : tw__error_status();
    if (status == TW_OK && s->mask)
        status = unstack(s->mask, (int)length, &masks);
    for (int64_t t = 0; status == TW_OK && t < length; t++) {
        tw_tensor *next[TW_MOST_STATES] = { 0 }, *output = NULL;
        status = step_masked(s, xs[t], masks ? masks[t] : NULL, states, last, &output, next);
        if (status != TW_OK)
            break;
        for (int i = 0; i < s->count; i++) {
            tw_release(states[i]);
            states[i] = next[i];
        }
        all[t] = output;
        last = output;
    }
    if (status == TW_OK) {
        *outputs = every ? tw__call(&tw__op_Pack, all, (int)length, TW_WITH(TW_A_INT("axis", 0)), 1) : tw_retain(last);
        status = *outputs ? TW_OK : tw__error_status();
    }
    for (int64_t t = 0; t < length; t++) {
        tw_release(all ? all[t] : NULL);
        tw_release(xs ? xs[t] : NULL);
        tw_release(masks ? masks[t] : NULL);
    }
    tw__free(all);
    tw__free(xs);
    tw__free(masks);
    return status;
}

/* ---- a loop ---- */

static tw_tensor *list_of(tw_tensor *steps)
{
    tw_shape shape = steps->shape;
    for (int i = 1; i < shape.rank; i++)
        shape.dims[i - 1] = shape.dims[i];
    shape.rank--;
    tw_auto tw_tensor *element = tw__tensor_of_shape(&shape, TW_INT32);
    return TW_CALL(TensorListFromTensor, steps, element);
}

static tw_tensor *item_of(tw_tensor *list, tw_tensor *index, const tw_shape *shape, tw_dtype dtype)
{
    tw_auto tw_tensor *element = tw__tensor_of_shape(shape, TW_INT32);
    return TW_CALL(TensorListGetItem, list, index, element, TW_A_TYPE("element_dtype", dtype));
}

typedef struct loop {
    const tw__sequence *s;
    tw_tensor *length;
} loop;

static tw_status give(tw_tensor *const *tensors, int count, tw_tensor ***outputs, int *output_count)
{
    *outputs = tw__alloc_array((size_t)count, sizeof **outputs);
    bool good = *outputs != NULL;
    for (int i = 0; i < count; i++) {
        good = good && tensors[i];
        if (*outputs)
            (*outputs)[i] = tensors[i];
    }
    *output_count = count;
    return good ? TW_OK : tw__error_status();
}

static tw_status loop_goes_on(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    tw_tensor *less = TW_CALL(Less, values[0], ((loop *)context)->length);
    return give(&less, 1, outputs, output_count);
}

/* Values: the step, the list of outputs, the last output, the states. */
static tw_status loop_step(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    const tw__sequence *s = ((loop *)context)->s;
    (void)count;
    tw_tensor *made[TW_MOST_STATES + 3] = { 0 }, *output = NULL;
    tw_shape flags = TW_SHAPE(s->step_shape.dims[0]);
    tw_auto tw_tensor *x = item_of(s->inputs, values[0], &s->step_shape, s->dtype);
    tw_auto tw_tensor *mask = s->mask ? item_of(s->mask, values[0], &flags, TW_BOOL) : NULL;
    if (!x || (s->mask && !mask))
        return tw__error_status();
    TW_TRY(step_masked(s, x, mask, values + 3, values[2], &output, made + 3));
    made[0] = TW_CALL(AddV2, values[0], 1);
    made[1] = TW_CALL(TensorListSetItem, values[1], values[0], output, TW_A_TYPE("element_dtype", output->dtype));
    made[2] = output;
    return give(made, s->count + 3, outputs, output_count);
}

/* What the output of a step looks like: as the first step gives it. */
static tw_tensor *first_output(const tw__sequence *s, tw_tensor *inputs, tw_tensor *const *states)
{
    tw_tensor *next[TW_MOST_STATES] = { 0 }, *output = NULL;
    tw_auto tw_tensor *x = TW_CALL(GatherV2, inputs, 0, 0);
    if (!x || tw__cell_step_any(s, x, states, &output, next) != TW_OK)
        return NULL;
    tw__tensors_release(next, s->count);
    tw_auto tw_tensor *given = output;
    return TW_CALL(ZerosLike, given);
}

tw_status tw__sequence_loop(tw__sequence *s, bool every, tw_tensor **states, tw_tensor **outputs)
{
    TW_TEMPS(t);
    tw_tensor *length = TW_TEMP(GatherV2, TW_TEMP(Shape, s->inputs), 0, 0);
    tw_tensor *first = tw__temp(t, first_output(s, s->inputs, states)), *inputs = tw__temp(t, list_of(s->inputs)),
              *mask = s->mask ? tw__temp(t, list_of(s->mask)) : NULL;
    if (!length || !first || !inputs || (s->mask && !mask))
        return tw__error_status();
    s->step_shape = s->inputs->shape;
    memmove(s->step_shape.dims, s->step_shape.dims + 1, (size_t)--s->step_shape.rank * sizeof *s->step_shape.dims);
    s->dtype = s->inputs->dtype;
    s->inputs = inputs;
    s->mask = mask;
    tw_shape element = first->shape;
    tw_tensor *shape = tw__temp(t, tw__tensor_of_shape(&element, TW_INT32)), *zero = tw__temp_int(t, 0, TW_INT32);
    tw_tensor *list = TW_TEMP(TensorListReserve, shape, length, TW_A_TYPE("element_dtype", first->dtype));
    if (!list || !zero)
        return tw__error_status();
    tw_tensor *values[TW_MOST_STATES + 3] = { zero, list, first }, *results[TW_MOST_STATES + 3] = { 0 };
    tw_shape shapes[TW_MOST_STATES + 3] = { zero->shape, list->shape, first->shape };
    for (int i = 0; i < s->count; i++) {
        values[i + 3] = states[i];
        shapes[i + 3] = states[i]->shape;
        if (shapes[i + 3].rank > 0)
            shapes[i + 3].dims[0] = -1;
    }
    if (shapes[2].rank > 0)
        shapes[2].dims[0] = -1;
    loop around = { s, length };
    tw__loop while_ = { .cond = loop_goes_on,
                        .body = loop_step,
                        .cond_context = &around,
                        .body_context = &around,
                        .values = values,
                        .shapes = shapes,
                        .count = s->count + 3,
                        .maximum = length };
    TW_TRY(tw__while(&while_, results));
    *outputs =
        every ? TW_CALL(TensorListStack, results[1], shape, TW_A_TYPE("element_dtype", first->dtype)) : tw_retain(results[2]);
    for (int i = 0; i < s->count; i++) {
        tw_release(states[i]);
        states[i] = results[i + 3];
    }
    tw__tensors_release(results, 3);
    return *outputs ? TW_OK : tw__error_status();
}

/* ---- LSTM in one op ---- */

bool tw__cell_has_usual_functions(const tw__cell *cell)
{
    return tw__activation_is(cell->settings.activation, &tw__op_Tanh) &&
           tw__activation_is(cell->settings.recurrent_activation, &tw__op_Sigmoid);
}

bool tw__sequence_fits_block(const tw__cell *cell, const tw__sequence *s)
{
    return cell && cell->kind == TW_CELL_LSTM && !s->mask && s->inputs->dtype == TW_FLOAT32 &&
           tw__cell_has_usual_functions(cell) &&
           (s->training != 1 || (cell->settings.dropout == 0 && cell->settings.recurrent_dropout == 0)) &&
           s->inputs->shape.rank == 3;
}

static tw_tensor *last_of(tw_tensor *steps)
{
    tw_auto tw_tensor *begin = tw__ints_tensor((int64_t[]){ -1 }, 1, TW_INT32),
                      *end = tw__ints_tensor((int64_t[]){ 0 }, 1, TW_INT32),
                      *stride = tw__ints_tensor((int64_t[]){ 1 }, 1, TW_INT32);
    const tw_attr attrs[] = { TW_A_INT("shrink_axis_mask", 1) };
    return tw__call(&tw__op_StridedSlice, TW_IN(steps, begin, end, stride), 4, attrs, 1);
}

tw_status tw__sequence_block(tw__cell *cell, const tw__sequence *s, bool every, bool want_states, tw_tensor **states,
                             tw_tensor **outputs)
{
    tw_layer *layer = &cell->layer;
    TW_TEMPS(t);
    int64_t units = cell->settings.units, known = s->inputs->shape.dims[0];
    tw_tensor *kernel = tw__temp(t, tw__layer_read(layer, "kernel")),
              *recurrent = tw__temp(t, tw__layer_read(layer, "recurrent_kernel"));
    tw_tensor *weights = TW_TEMP(ConcatV2, kernel, recurrent, 0);
    tw_tensor *peep = tw__temp(t, tw_tensor_new(TW_FLOAT32, TW_SHAPE(units), NULL));
    tw_tensor *bias =
        tw__temp(t, cell->has_bias ? tw__layer_read(layer, "bias") : tw_tensor_new(TW_FLOAT32, TW_SHAPE(4 * units), NULL));
    tw_tensor *length = known >= 0 ? tw__temp_int(t, known, TW_INT64)
                                   : TW_TEMP(GatherV2, TW_TEMP(Shape, s->inputs, TW_A_TYPE("out_type", TW_INT64)), 0, 0);
    tw_tensor *all[7];
    TW_TRY(TW_TEMP_ALL(all, BlockLSTMV2, length, s->inputs, states[1], states[0], weights, peep, peep, peep, bias));
    *outputs = every ? tw_retain(all[6]) : last_of(all[6]);
    tw_tensor *cell_state = want_states ? last_of(all[1]) : NULL,
              *hidden = want_states ? (every ? last_of(all[6]) : tw_retain(*outputs)) : NULL;
    bool good = *outputs && (!want_states || (cell_state && hidden));
    if (want_states) {
        tw__tensors_release(states, 2);
        states[0] = hidden;
        states[1] = cell_state;
    }
    return good ? TW_OK : tw__error_status();
}
