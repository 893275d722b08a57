/* keras.layers.RNN: a cell, step by step over a sequence.
 *
 * States are flat lists of tensors here; to the cell they go in its structure. A sequence whose length is known is done step by
 * step, one of unknown length by a loop in the graph. An LSTM with the usual functions and without a mask is one op, BlockLSTMV2.
 */
#include "api/nn/nn.h"
#include "api/random/random.h"
#include "graph/graph.h"
#include "keras/layers/allowance.h"
#include "keras/layers/recurrent.h"
#include "op/array/array.h"
#include "op/calls.h"

/* ---- the cell ---- */

static tw_layer *cell_in(const tw__rnn *rnn) /* borrowed; NULL: a program put something else in its place */
{
    tw_trackable *cell = tw__tracked((tw_trackable *)(uintptr_t)rnn, "cell");
    return tw__is(cell, &tw__class_layer) ? (tw_layer *)cell : NULL;
}

static tw_status check_cell(const tw__rnn *rnn)
{
    if (cell_in(rnn) && rnn->settings.stateful && rnn->layer.built && !rnn->states)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": it was not stateful when it was built and has no states", tw_class_name(rnn),
                        rnn->layer.name);
    return cell_in(rnn) ? TW_OK
                        : tw__fail(TW_VALUE_ERROR, "%s \"%s\": its `cell` is no layer", tw_class_name(rnn), rnn->layer.name);
}

/* The rank of the inputs: of convolutions it is known. */
static int rank_of(const tw__rnn *rnn)
{
    const tw__conv_cell *conv = tw__conv_cell_of(cell_in(rnn));
    return conv ? conv->axes + 3 : 3;
}

static bool fits(const tw__rnn *rnn, const tw_shape *input)
{
    return !tw__conv_cell_of(cell_in(rnn)) || input->rank == rank_of(rnn);
}

static tw_status refuse_rank(const tw__rnn *rnn, const tw_shape *input)
{
    tw__owned char *text = input ? tw__shape_tuple(input) : NULL;
    tw__fail_because(
        TW_REASON_INPUTS, TW_VALUE_ERROR,
        "Input 0 of layer \"%s\" is incompatible with the layer: expected ndim=%d, found ndim=%d. Full shape received: %s",
        rnn->layer.name, rank_of(rnn), input ? input->rank : 0, text ? text : "");
    return tw__error_status();
}

/* ---- calling ---- */

/* The first two axes exchanged; left to t. NULL gives NULL. */
static tw_tensor *swap(tw__temps *t, tw_tensor *x)
{
    if (!x)
        return NULL;
    int64_t order[TW_MAX_RANK] = { 1, 0 };
    for (int i = 2; i < x->shape.rank; i++)
        order[i] = i;
    return TW_TEMP(Transpose, x, tw__temp_ints(t, order, x->shape.rank, TW_INT32));
}

static tw_tensor *reversed(tw__temps *t, tw_tensor *x)
{
    return TW_TEMP(ReverseV2, x, tw__temp_ints(t, (int64_t[]){ 0 }, 1, TW_INT32));
}

/* Given states count only while those that are kept are all zero. States are references, and become others. */
static tw_status merge_kept(tw__rnn *rnn, tw_tensor **states, int count)
{
    TW_TEMPS(t);
    tw_tensor *kept[TW_MOST_STATES], *any = NULL;
    for (int i = 0; i < count; i++) {
        TW_NEED(kept[i] = tw__temp(t, tw__variable_read(rnn->states[i])));
        tw_tensor *other = TW_TEMP(NotEqual, kept[i], 0.0);
        TW_NEED(other);
        tw_tensor *found = TW_TEMP(Any, other, tw__temp(t, tw__all_axes(other)));
        any = any ? TW_TEMP(LogicalOr, any, found) : found;
    }
    for (int i = 0; i < count; i++) {
        tw_tensor *merged = TW_CALL(SelectV2, any, kept[i], tw__temp_cast(t, states[i], rnn->layer.compute_dtype));
        TW_NEED(merged);
        tw_release(states[i]);
        states[i] = merged;
    }
    return TW_OK;
}

static tw_status first_states(tw__rnn *rnn, const tw__sequence *s, tw_tensor *x, const tw_value *initial, tw_tensor **states)
{
    if (initial->kind != TW_VALUE_NONE) {
        int count = tw__states_flatten(initial, states, 0);
        if (count != s->count)
            return tw__fail(TW_VALUE_ERROR,
                            "Layer %s expects %d state(s), but it received %d initial state(s). Input received: initial_state",
                            rnn->layer.name, s->count, count < 0 ? 0 : count);
        for (int i = 0; i < count; i++)
            tw_retain(states[i]);
        return rnn->settings.stateful ? merge_kept(rnn, states, count) : TW_OK;
    }
    for (int i = 0; rnn->settings.stateful && i < s->count; i++)
        TW_NEED(states[i] = tw__variable_read(rnn->states[i]));
    if (rnn->settings.stateful)
        return TW_OK;
    const tw__conv_cell *conv = tw__conv_cell_of(s->cell);
    for (int i = 0; conv && i < s->count; i++)
        TW_NEED(states[i] = tw__conv_cell_zeros(conv, x, rnn->layer.compute_dtype));
    if (conv)
        return TW_OK;
    tw_value made = tw__cell_first_states(s->cell, x, rnn->settings.time_major ? 1 : 0, rnn->layer.compute_dtype);
    if (made.kind == TW_VALUE_NONE)
        return tw__error_status();
    int count = tw__states_flatten(&made, states, 0);
    for (int i = 0; i < count; i++)
        tw_retain(states[i]);
    tw_value_free(&made);
    return count == s->count ? TW_OK
                             : tw__fail(TW_VALUE_ERROR, "layer %s: get_initial_state of its cell gives %d states, expected %d",
                                        rnn->layer.name, count < 0 ? 0 : count, s->count);
}

static tw_status keep_states(tw__rnn *rnn, tw_tensor *const *states)
{
    TW_TEMPS(t);
    for (int64_t i = 0; rnn->settings.stateful && i < rnn->state_count; i++) {
        tw_tensor *state = tw__temp_cast(t, states[i], rnn->states[i]->resource->dtype);
        TW_NEED(state);
        TW_TRY(tw__apply(&tw__op_AssignVariableOp, TW_IN(rnn->states[i]->handle, state), 2, NULL, 0, NULL, &(int){ 0 }));
    }
    return TW_OK;
}

/* A sequence has masks of its own: those of the one before are forgotten, in cells that stand above each other, too. */
static void reset_masks(tw_layer *cell)
{
    if (tw__is(cell, &tw__class_layers_stacked_rnn_cells)) {
        const tw_layers_stacked_rnn_cells_args *args = tw_object_config(cell);
        for (int64_t i = 0; i < args->cells.count; i++)
            reset_masks(args->cells.items[i]);
    } else if (tw__is_cell(cell)) {
        tw__cell_reset_masks((tw__cell *)cell);
    }
}

/* Whether dropout acts in a cell, or in one of several. */
static bool drops(tw_layer *cell)
{
    const tw__cell *own = tw__cell_of(cell);
    if (own || !tw__is(cell, &tw__class_layers_stacked_rnn_cells))
        return own && (own->settings.dropout > 0 || own->settings.recurrent_dropout > 0);
    const tw_layers_stacked_rnn_cells_args *args = tw_object_config(cell);
    for (int64_t i = 0; i < args->cells.count; i++) {
        if (drops(args->cells.items[i]))
            return true;
    }
    return false;
}

/* Keras computes LSTM and GRU with the usual settings by one function for all steps, and drops whole elements of the sequence. */
static bool drops_inputs(const tw__rnn *rnn)
{
    const tw__cell *cell = tw__cell_of(cell_in(rnn));
    bool lstm = tw__is(rnn, &tw__class_layers_lstm), gru = tw__is(rnn, &tw__class_layers_gru);
    return cell && (lstm || (gru && cell->reset_after)) && cell->settings.dropout > 0 && cell->settings.recurrent_dropout == 0 &&
           !rnn->settings.unroll && cell->has_bias && tw__cell_has_usual_functions(cell);
}

/* x under dropout, left to t. Keras draws one mask for each gate and uses the first one. */
static tw_tensor *drop_inputs(tw__temps *t, const tw__cell *cell, tw_tensor *x)
{
    tw_tensor *ones = TW_TEMP(OnesLike, x);
    tw_tensor *mask = ones ? tw__temp(t, tw__dropout(ones, cell->settings.dropout, NULL, TW_NO_INT, NULL)) : NULL;
    for (int i = 1; i < tw__cell_mask_count(cell); i++)
        tw__seed_pair(TW_NO_INT);
    return TW_TEMP(Mul, x, mask);
}

static tw_status run_sequence(tw__rnn *rnn, tw__sequence *s, tw_tensor **states, tw_tensor **outputs)
{
    tw__cell *own = tw__cell_of(cell_in(rnn));
    reset_masks(cell_in(rnn));
    int64_t length = s->inputs->shape.dims[0];
    bool block = tw__sequence_fits_block(own, s);
    if (length == 0 || (length < 0 && rnn->settings.unroll && !block))
        return tw__fail(TW_VALUE_ERROR, "Cannot unroll a RNN if the time dimension is undefined or equal to 0 (layer \"%s\")",
                        rnn->layer.name);
    if (block)
        return tw__sequence_block(own, s, rnn->settings.return_sequences, rnn->settings.return_state || rnn->settings.stateful,
                                  states, outputs);
    bool loops = s->training == 1 && drops(cell_in(rnn)); /* each step has masks of its own: see tw__cell */
    if (length > 0 && (!tw__tracing || rnn->settings.unroll || (length <= 64 && !loops)))
        return tw__sequence_steps(s, length, rnn->settings.return_sequences, states, outputs);
    return tw__sequence_loop(s, rnn->settings.return_sequences, states, outputs);
}

/* [outputs, states…]; takes the outputs. */
static tw_value with_states(const tw__sequence *s, tw_tensor *outputs, tw_tensor *const *states)
{
    int at = 0;
    tw_value nested = tw__states_restore(&s->sizes, states, &at);
    bool list = tw__value_is_list(&nested);
    int64_t count = list ? nested.list.count : 1;
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    if (!items) {
        tw_value_free(&nested);
        tw_release(outputs);
        return tw__value_none();
    }
    items[0] = tw__tensor_value(outputs);
    memcpy(items + 1, list ? nested.list.items : &nested, (size_t)count * sizeof *items);
    if (list)
        tw__free(nested.list.items);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count + 1 } };
}

enum { INPUTS, INITIAL, CONSTANTS, MASK };
static const char rnn_arguments[] = "inputs initial_state constants mask training";

/* The constants as a list, borrowed, or None. */
static tw_status constants_of(const tw__rnn *rnn, const tw_value *given, tw_value *constants)
{
    *constants = given->kind == TW_VALUE_TENSOR ? (tw_value){ .kind = TW_VALUE_LIST, .list = { (tw_value *)(uintptr_t)given, 1 } }
                                                : *given;
    if (given->kind == TW_VALUE_NONE || tw__cell_takes_constants(cell_in(rnn)))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "RNN cell %s does not support constants (layer \"%s\")", tw_class_name(cell_in(rnn)),
                    rnn->layer.name);
}

static tw_value rnn_call(tw_layer *self, const tw_value *given, int training)
{
    TW_TEMPS(t);
    tw__rnn *rnn = (tw__rnn *)self;
    tw_tensor *states[TW_MOST_STATES] = { 0 }, *outputs = NULL, *x = tw__value_first_tensor(&given[INPUTS]),
              *mask = tw__value_first_tensor(&given[MASK]);
    tw_value result = tw__value_none(), parts[] = { given[INPUTS], given[INITIAL], given[CONSTANTS] }, constants;
    if (check_cell(rnn) != TW_OK)
        return result;
    tw__recurrent_split(rnn, parts);
    if (constants_of(rnn, &parts[CONSTANTS], &constants) != TW_OK)
        return result;
    if (!x || x->shape.rank < 3 || !fits(rnn, &x->shape)) {
        refuse_rank(rnn, x ? &x->shape : NULL);
        return result;
    }
    tw__sequence s = { .cell = cell_in(rnn),
                       .sizes = tw__cell_state_sizes(cell_in(rnn)),
                       .training = training,
                       .constants = constants.kind == TW_VALUE_NONE ? NULL : &constants,
                       .zero_masked = rnn->settings.zero_output_for_mask || rnn->zero_forced };
    s.count = tw__states_count(&s.sizes);
    if (s.count > TW_MOST_STATES)
        tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": its cells have %d states, expected at most %d", tw_class_name(self), self->name,
                 s.count, TW_MOST_STATES);
    tw_tensor *kept = training == 1 && drops_inputs(rnn) ? drop_inputs(t, tw__cell_of(cell_in(rnn)), x) : NULL;
    if (kept)
        s.training = 0;
    tw_tensor *steps = kept ? kept : x, *flags = mask;
    if (!rnn->settings.time_major) {
        steps = swap(t, steps);
        flags = swap(t, flags);
    }
    if (rnn->settings.go_backwards) {
        steps = reversed(t, steps);
        flags = flags ? reversed(t, flags) : NULL;
    }
    s.inputs = steps;
    s.mask = flags;
    bool good = s.sizes.kind != TW_VALUE_NONE && s.count <= TW_MOST_STATES && steps && (!mask || flags) &&
                first_states(rnn, &s, x, &parts[INITIAL], states) == TW_OK && run_sequence(rnn, &s, states, &outputs) == TW_OK &&
                keep_states(rnn, states) == TW_OK;
    if (good && rnn->settings.return_sequences && !rnn->settings.time_major)
        tw__set(&outputs, swap(t, outputs));
    if (good && outputs) {
        result = rnn->settings.return_state ? with_states(&s, outputs, states) : tw__tensor_value(outputs);
        outputs = NULL;
    }
    tw_value_free(&s.sizes);
    tw__tensors_release(states, s.count < TW_MOST_STATES ? s.count : TW_MOST_STATES);
    tw_release(outputs);
    return result;
}

/* ---- building ---- */

static tw_status make_states(tw__rnn *rnn, const tw_shape *step)
{
    int64_t batch = step->dims[0];
    const tw__conv_cell *conv = tw__conv_cell_of(cell_in(rnn));
    tw_value sizes = tw__cell_state_sizes(cell_in(rnn));
    tw_shape flat[TW_MOST_STATES];
    int count = tw__states_sizes(&sizes, flat, 0);
    tw_value_free(&sizes);
    if (batch < 0 || count < 0)
        return tw__fail(
            TW_VALUE_ERROR,
            "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: \n- If using a Sequential "
            "model, specify the batch size by passing a `batch_input_shape` argument to your first layer.\n- If using the functional API, "
            "specify the batch size by passing a `batch_shape` argument to your Input layer.");
    rnn->states = tw__alloc_array((size_t)count, sizeof *rnn->states);
    if (!rnn->states)
        return tw__error_status();
    tw__outside outside = tw__root_begin();
    tw_status status = TW_OK;
    for (int i = 0; i < count && status == TW_OK; i++) {
        tw_shape shape = { .rank = flat[i].rank + 1, .dims = { batch } };
        memcpy(shape.dims + 1, flat[i].dims, (size_t)flat[i].rank * sizeof *shape.dims);
        if (conv && (status = tw__conv_cell_state(conv, step, &shape)) != TW_OK)
            break;
        tw_auto tw_tensor *zeros =
            tw__weights_take(rnn->layer.name, "state", &shape) == TW_OK ? tw_tensor_new(rnn->layer.dtype, shape, NULL) : NULL;
        char *name = tw__format("%s/Variable", rnn->layer.name);
        rnn->states[i] = zeros && name ? tw__variable_new(zeros, name, false, &shape) : NULL;
        tw__free(name);
        status = rnn->states[i] ? TW_OK : tw__error_status();
        rnn->state_count += rnn->states[i] != NULL;
        if (rnn->states[i])
            rnn->states[i]->autocasts = rnn->layer.compute_dtype != rnn->layer.dtype;
    }
    tw__outside_end(outside);
    return status;
}

static tw_status rnn_build(tw_layer *self, const tw_shape *input)
{
    tw__rnn *rnn = (tw__rnn *)self;
    TW_TRY(check_cell(rnn));
    if (input->rank < 3 || !fits(rnn, input))
        return refuse_rank(rnn, input);
    tw_shape step = { .rank = input->rank - 1, .dims = { input->dims[rnn->settings.time_major ? 1 : 0] } };
    memcpy(step.dims + 1, input->dims + 2, (size_t)(input->rank - 2) * sizeof *step.dims);
    if (!cell_in(rnn)->foreign_call) {                 /* cells of an embedding language are built by their first call */
        bool scoped = !tw__conv_cell_of(cell_in(rnn)); /* the weights of convolutions have the layer's name, as in Keras */
        TW_TRY(scoped ? tw__layer_begin(cell_in(rnn)) : TW_OK);
        tw_status status = tw__layer_build(cell_in(rnn), &step);
        if (scoped)
            tw__layer_end(cell_in(rnn));
        TW_TRY(status);
        if (tw__is(cell_in(rnn), &tw__class_layers_stacked_rnn_cells))
            tw__layer_built_for(cell_in(rnn), tw__value_none()); /* as in Keras, whose configs show it */
    }
    return rnn->settings.stateful && !rnn->states ? make_states(rnn, &step) : TW_OK;
}

static tw_status conv_shape(const tw__rnn *rnn, const tw_shape *input, tw_shape *output)
{
    tw_shape step = *input;
    TW_TRY(tw__layer_need_rank(&rnn->layer, input, rank_of(rnn)));
    memmove(step.dims + 1, step.dims + 2, (size_t)(--step.rank - 1) * sizeof *step.dims);
    TW_TRY(tw__conv_cell_state(tw__conv_cell_of(cell_in(rnn)), &step, output));
    if (!rnn->settings.return_sequences)
        return TW_OK;
    memmove(output->dims + 2, output->dims + 1, (size_t)(output->rank++ - 1) * sizeof *step.dims);
    output->dims[1] = input->dims[1];
    return TW_OK;
}

static tw_status rnn_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    tw__rnn *rnn = (tw__rnn *)self;
    TW_TRY(check_cell(rnn));
    if (tw__conv_cell_of(cell_in(rnn)))
        return conv_shape(rnn, input, output);
    int64_t size = tw__cell_output_size(cell_in(rnn)), first = input->dims[0], second = input->dims[1];
    *output = rnn->settings.return_sequences ? TW_SHAPE(first, second, size)
                                             : TW_SHAPE(rnn->settings.time_major ? second : first, size);
    return TW_OK;
}

static tw_tensor *rnn_mask(tw_layer *self, tw_tensor *input, tw_tensor *mask)
{
    (void)input;
    return ((tw__rnn *)self)->settings.return_sequences ? tw_retain(mask) : NULL;
}

tw_status tw__rnn_setup(tw__rnn *rnn, tw_layer *cell)
{
    tw_status status = cell ? tw__track(&rnn->layer.trackable, "cell", cell) : tw__error_status();
    tw_release(cell);
    return status;
}

static void rnn_visit(void *self, tw__visitor visitor, void *context)
{
    tw__rnn *rnn = self;
    for (int64_t i = 0; i < rnn->state_count; i++)
        visitor(context, &rnn->states[i]->trackable.object);
}

static void rnn_clear(void *self)
{
    tw__rnn *rnn = self;
    int64_t count = rnn->state_count;
    tw_variable **states = rnn->states;
    rnn->states = NULL;
    rnn->state_count = 0;
    for (int64_t i = 0; i < count; i++)
        tw_release(states[i]);
    tw__free(states);
}

static tw_status rnn_init(void *self, const void *given)
{
    const tw_layers_rnn_args *args = given;
    if (tw_class_of(self) != &tw__class_layers_rnn)
        return TW_OK; /* LSTM and the others make their cell */
    if (args->cell.count < 1)
        return tw__fail(TW_VALUE_ERROR, "RNN \"%s\": no cell was given", ((tw_layer *)self)->name);
    tw_layers_stacked_rnn_cells_args several = TW_ARGS(layers_stacked_rnn_cells, args->cell);
    if (args->cell.count == 1)
        return tw__rnn_setup(self, tw_retain(args->cell.items[0]));
    tw_args_complete(tw_class_signature(&tw__class_layers_stacked_rnn_cells), &several);
    return tw__rnn_setup(self, tw_class_make(&tw__class_layers_stacked_rnn_cells, &several));
}

static tw_status rnn_settle(void *self, const void *given)
{
    ((tw__rnn *)self)->settings = *(const tw_layers_rnn_args *)given;
    return TW_OK;
}

/* The cell's settings are the layer's: they may have been changed there. */
static void take_settings_of(tw_layer *layer, const tw_layer *cell)
{
    const tw_signature *own = tw_class_signature(tw_class_of(layer)), *from = tw_class_signature(tw_class_of(cell));
    char *args = tw__alloc_zero(own->args_size);
    if (!args)
        return;
    tw__args_project(from, tw_object_config(cell), own, args);
    for (int i = 0; i < own->field_count; i++) {
        const tw_field *field;
        bool shared = false;
        for (int k = 0; k < from->field_count && !shared; k++)
            shared = strcmp(own->fields[i].name, from->fields[k].name) == 0;
        if (shared && tw__object_setting(layer, own->fields[i].name, &field) == TW_FIXED_SETTING)
            tw__object_change(layer, field, args);
    }
    tw__free(args);
}

static void rnn_config(tw_layer *self, tw__dict *dict)
{
    const tw__rnn *rnn = (tw__rnn *)self;
    tw_layer *cell = cell_in(rnn);
    if (!cell)
        return;
    if (tw_class_of(self) == &tw__class_layers_rnn) {
        tw__dict_put(dict, "cell", tw__serialize(cell, "keras.layers"));
    } else if (tw__cell_of(cell)) {
        take_settings_of(self, cell);
    }
    if (tw__conv_cell_of(cell))
        tw__conv_cell_config(cell, dict);
    tw__recurrent_config(self, dict);
    if (rnn->settings.zero_output_for_mask || rnn->zero_forced)
        tw__dict_put(dict, "zero_output_for_mask", (tw_value){ .kind = TW_VALUE_BOOL, .b = true });
}

static const tw__layer_methods rnn_methods = { .supports_masking = true,
                                               .build = rnn_build,
                                               .arguments = rnn_arguments,
                                               .call_values = rnn_call,
                                               .output_shape = rnn_output_shape,
                                               .mask = rnn_mask,
                                               .config = rnn_config,
                                               .own_config = " cell zero_output_for_mask ",
                                               .flat = true };

TW_CLASS(
    layers_rnn,
    "keras.layers.RNN(cell: list<layer>, return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False, "
    "stateful: bool = False, unroll: bool = False, time_major: bool = False, *, zero_output_for_mask: bool = False, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(tw__rnn), .init = rnn_init, .settle = rnn_settle, .destroy = rnn_clear,
    .visit = rnn_visit, .clear = rnn_clear, .methods = &rnn_methods,
    .doc = "A recurrent layer made of a cell, or of several one above the other.\n"
           "cell: the cell, or a list of cells one above the other");

TW_PROPERTY(rnn_states, "keras.layers.RNN.states(self: layer) -> list<variable>", "The states of a stateful layer.")
{
    tw__rnn *rnn = (tw__rnn *)args->self;
    void **items = tw__alloc_array((size_t)rnn->state_count + 1, sizeof *items);
    for (int64_t i = 0; items && i < rnn->state_count; i++)
        items[i] = tw_retain(rnn->states[i]);
    return (tw_objects){ items, items ? rnn->state_count : 0 };
}

TW_METHOD(rnn_get_initial_state, "keras.layers.RNN.get_initial_state(self: layer, inputs: tensor) -> value",
          "The states of zeros that the layer begins with for such inputs, a list.\n"
          "inputs: a batch of inputs, whose batch size and dtype the states take")
{
    tw__rnn *rnn = (tw__rnn *)args->self;
    if (check_cell(rnn) != TW_OK)
        return tw__value_none();
    const tw__conv_cell *conv = tw__conv_cell_of(cell_in(rnn));
    if (conv && tw__layer_need_rank(&rnn->layer, &args->inputs->shape, rank_of(rnn)) != TW_OK)
        return tw__value_none();
    if (conv) {
        tw_tensor *both[2] = { tw__conv_cell_zeros(conv, args->inputs, args->inputs->dtype) };
        both[1] = tw_retain(both[0]);
        return tw__values_list(both, 2, false);
    }
    tw_value states = tw__cell_first_states(cell_in(rnn), args->inputs, rnn->settings.time_major ? 1 : 0, args->inputs->dtype);
    if (tw__value_is_list(&states) || states.kind == TW_VALUE_NONE) {
        states.kind = states.kind == TW_VALUE_NONE ? TW_VALUE_NONE : TW_VALUE_LIST;
        return states;
    }
    tw_value *item = tw__alloc_array(1, sizeof *item);
    if (!item) {
        tw_value_free(&states);
        return tw__value_none();
    }
    *item = states;
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { item, 1 } };
}

TW_METHOD(rnn_reset_states, "keras.layers.RNN.reset_states(self: layer, states: tensors = None)",
          "Sets the states of a stateful layer to zeros, or to the given values.\n"
          "states: the values of the states; None: zeros\n"
          "raises: AttributeError: the layer is not stateful")
{
    tw__rnn *rnn = (tw__rnn *)args->self;
    if (!rnn->settings.stateful)
        return tw__fail(TW_ATTRIBUTE_ERROR, "Layer must be stateful.");
    if (args->states.count && args->states.count != rnn->state_count)
        return tw__fail(TW_VALUE_ERROR, "Layer %s expects %lld states, but it received %lld state values.", rnn->layer.name,
                        (long long)rnn->state_count, (long long)args->states.count);
    for (int64_t i = 0; i < rnn->state_count; i++) {
        tw_variable *variable = rnn->states[i];
        tw_auto tw_tensor *value = args->states.count ? tw_retain(args->states.items[i])
                                                      : tw_tensor_new(rnn->layer.dtype, variable->resource->shape, NULL);
        if (!value)
            return tw__error_status();
        TW_TRY(tw__apply(&tw__op_AssignVariableOp, TW_IN(variable->handle, value), 2, NULL, 0, NULL, &(int){ 0 }));
    }
    return TW_OK;
}

TW_METHOD(model_reset_states, "keras.Model.reset_states(self: layer)", "Sets the states of all stateful layers to zeros.")
{
    tw_layer **layers;
    int64_t count;
    TW_TRY(tw__collect_layers(&args->self->trackable, true, &layers, &count));
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        bool keeps = tw__is(layers[i], &tw__class_layers_rnn) && ((tw__rnn *)layers[i])->settings.stateful;
        status = keeps ? tw__impl_rnn_reset_states(&(tw_rnn_reset_states_args){ .self = layers[i] }) : TW_OK;
    }
    tw__free(layers);
    return status;
}
