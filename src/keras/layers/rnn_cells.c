/* SimpleRNNCell, LSTMCell, GRUCell: one step of a recurrent layer. Gates stand side by side in the weights: LSTM input, forget,
 * candidate, output; GRU update, reset, candidate. cell(inputs, states) gives (output, states). `implementation` is Keras's
 * choice between two ways to the same values; here there is one. */
#include "api/nn/nn.h"
#include "graph/graph.h"
#include "keras/initializers/initializers.h"
#include "keras/layers/recurrent.h"
#include "op/array/array.h"
#include "op/calls.h"

static const int gates_of[] = { [TW_CELL_SIMPLE] = 1, [TW_CELL_LSTM] = 4, [TW_CELL_GRU] = 3, [TW_CELL_CONV] = 4 };

bool tw__is_cell(const tw_layer *layer)
{
    return tw__is(layer, &tw__class_layers_simple_rnn_cell) || tw__is(layer, &tw__class_layers_lstm_cell) ||
           tw__is(layer, &tw__class_layers_gru_cell) || tw__is(layer, &tw__class_layers_conv_lstm_cell);
}

tw__cell *tw__cell_of(tw_layer *layer)
{
    return tw__is_cell(layer) && !layer->foreign_call ? (tw__cell *)layer : NULL;
}

int tw__cell_state_count(const tw__cell *cell)
{
    return cell->kind == TW_CELL_LSTM || cell->kind == TW_CELL_CONV ? 2 : 1;
}

/* ---- weights ---- */

/* A bias whose part for the forget gate is 1. */
typedef struct forget_bias {
    tw_initializer initializer;
    tw_initializer *others; /* a reference */
} forget_bias;

static void forget_bias_destroy(void *self)
{
    tw_release(((forget_bias *)self)->others);
}

static tw_tensor *forget_bias_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    TW_TEMPS(t);
    int64_t units = shape->dims[0] / 4;
    tw_tensor *first = tw__temp(t, tw__initializer_make(((forget_bias *)self)->others, &TW_SHAPE(units), dtype));
    tw_tensor *rest = tw__temp(t, tw__initializer_make(((forget_bias *)self)->others, &TW_SHAPE(2 * units), dtype));
    return TW_CALL(ConcatV2, first, TW_TEMP(OnesLike, first), rest, 0);
}

static const tw__initializer_methods forget_bias_methods = { forget_bias_make };
static const tw_class forget_bias_class = { .name = "UnitForgetBias",
                                            .parent = &tw__class_initializer,
                                            .size = sizeof(forget_bias),
                                            .destroy = forget_bias_destroy,
                                            .methods = &forget_bias_methods };

tw_status tw__cell_add_bias(tw__cell *cell)
{
    int64_t wide = gates_of[cell->kind] * cell->settings.units;
    tw_shape shape = cell->kind == TW_CELL_GRU && cell->reset_after ? TW_SHAPE(2, wide) : TW_SHAPE(wide);
    tw_named initializer = cell->settings.bias_initializer;
    tw_auto forget_bias *with_ones = NULL;
    if ((cell->kind == TW_CELL_LSTM || cell->kind == TW_CELL_CONV) && cell->settings.unit_forget_bias) {
        with_ones = tw__object_new(&forget_bias_class);
        if (!with_ones || !(with_ones->others = tw__initializer_get(initializer ? initializer : "zeros")))
            return tw__error_status();
        initializer = with_ones;
    }
    return tw__layer_add_weight(&cell->layer, "bias", &shape, cell->layer.dtype, initializer, true) ? TW_OK : tw__error_status();
}

static tw_status cell_build(tw_layer *self, const tw_shape *input)
{
    tw__cell *cell = (tw__cell *)self;
    int64_t size = input->rank > 0 ? input->dims[input->rank - 1] : -1, wide = gates_of[cell->kind] * cell->settings.units;
    if (size < 0)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": the last dimension of the inputs is not known, the shape is %s",
                        tw_class_name(self), self->name, tw__shape_text(input));
    tw_shape kernel = TW_SHAPE(size, wide), recurrent = TW_SHAPE(cell->settings.units, wide);
    TW_TRY(tw__layer_add_part(self, "kernel", &kernel));
    TW_TRY(tw__layer_add_part(self, "recurrent_kernel", &recurrent));
    return cell->has_bias ? tw__cell_add_bias(cell) : TW_OK;
}

/* ---- dropout ---- */

int tw__cell_mask_count(const tw__cell *cell)
{
    return gates_of[cell->kind];
}

void tw__cell_reset_masks(tw__cell *cell)
{
    for (int i = 0; i < 2; i++)
        tw__tensors_release(cell->masks[i], TW_MOST_GATES);
}

tw_status tw__cell_make_masks(tw__cell *cell, tw_tensor *input, tw_tensor *state, int training)
{
    double rates[2] = { cell->settings.dropout, cell->settings.recurrent_dropout };
    tw_tensor *like[2] = { input, state };
    if (cell->masks_graph != tw__tracing || training != 1)
        tw__cell_reset_masks(cell);
    cell->masks_graph = tw__tracing;
    for (int i = 0; i < 2 && training == 1; i++) {
        if (rates[i] == 0 || cell->masks[i][0])
            continue;
        tw_auto tw_tensor *ones = TW_CALL(OnesLike, like[i]);
        TW_NEED(ones);
        for (int k = 0; k < tw__cell_mask_count(cell); k++)
            TW_NEED(cell->masks[i][k] = tw__dropout(ones, rates[i], NULL, TW_NO_INT, NULL));
    }
    return TW_OK;
}

/* ---- steps ---- */

/* What follows is left to t. */

static tw_tensor *read(tw__temps *t, tw__cell *cell, const char *weight)
{
    return tw__temp(t, tw__layer_read(&cell->layer, weight));
}

static tw_tensor *with_bias(tw__temps *t, tw_tensor *sum, tw_tensor *bias) /* NULL: none */
{
    return bias ? TW_TEMP(BiasAdd, sum, bias) : sum;
}

static tw_tensor *activate(tw__temps *t, tw_named function, tw_tensor *x)
{
    return x ? tw__temp(t, tw__activate(function, x)) : NULL;
}

/* Columns [from, from + count) of a matrix, or such elements of a vector. */
static tw_tensor *columns_of(tw__temps *t, tw_tensor *x, int64_t from, int64_t count)
{
    bool matrix = x && x->shape.rank == 2;
    tw_tensor *begin = tw__temp_ints(t, (int64_t[]){ matrix ? 0 : from, from }, matrix ? 2 : 1, TW_INT32),
              *size = tw__temp_ints(t, (int64_t[]){ matrix ? -1 : count, count }, matrix ? 2 : 1, TW_INT32);
    return TW_TEMP(Slice, x, begin, size);
}

/* x (the input if `which` is INPUT) under the mask of a gate. */
enum { INPUT, STATE };
static tw_tensor *dropped(tw__temps *t, const tw__cell *cell, int which, int gate, tw_tensor *x)
{
    tw_tensor *mask = cell->masks[which][gate];
    return mask ? TW_TEMP(Mul, x, mask) : x;
}

/* Equal parts along the last axis. */
static tw_status split(tw__temps *t, tw_tensor *x, int count, tw_tensor **parts)
{
    tw_tensor *axis = tw__temp_int(t, 1, TW_INT32);
    if (!x || !axis)
        return tw__error_status();
    int made = count;
    tw_status status = tw__apply(&tw__op_Split, TW_IN(axis, x), 2, TW_WITH(TW_A_INT("num_split", count)), 1, parts, &made);
    return status == TW_OK ? tw__temp_all(t, parts, count, status) : status;
}

/* x @ weights + bias (which may be NULL), split into `count` gates, each of which has a mask of its own where the cell says so.
 */
static tw_status gates(tw__temps *t, tw__cell *cell, int which, tw_tensor *x, tw_tensor *weights, tw_tensor *bias, int count,
                       tw_tensor **parts)
{
    int64_t units = cell->settings.units;
    if (!cell->per_gate || !cell->masks[which][0])
        return split(t, with_bias(t, TW_TEMP(MatMul, dropped(t, cell, which, 0, x), weights), bias), count, parts);
    for (int i = 0; i < count; i++) {
        tw_tensor *product = TW_TEMP(MatMul, dropped(t, cell, which, i, x), columns_of(t, weights, i * units, units));
        TW_NEED(parts[i] = with_bias(t, product, bias ? columns_of(t, bias, i * units, units) : NULL));
    }
    return TW_OK;
}

/* The weights of a cell: kernel, recurrent kernel, bias (NULL: none). */
typedef struct weights {
    tw_tensor *kernel, *recurrent, *bias;
} weights;

static tw_status read_weights(tw__temps *t, tw__cell *cell, weights *w)
{
    TW_NEED(w->kernel = read(t, cell, "kernel"));
    TW_NEED(w->recurrent = read(t, cell, "recurrent_kernel"));
    if (cell->has_bias)
        TW_NEED(w->bias = read(t, cell, "bias"));
    return TW_OK;
}

/* The steps of the cells: the new states, of which the first is the output. */

static tw_status simple_step(tw__temps *t, tw__cell *cell, const weights *w, tw_tensor *x, tw_tensor *h, tw_tensor **next)
{
    tw_tensor *from_x = with_bias(t, TW_TEMP(MatMul, dropped(t, cell, INPUT, 0, x), w->kernel), w->bias);
    tw_tensor *from_h = TW_TEMP(MatMul, dropped(t, cell, STATE, 0, h), w->recurrent);
    next[0] = activate(t, cell->settings.activation, TW_TEMP(AddV2, from_x, from_h));
    return TW_OK;
}

static tw_status lstm_step(tw__temps *t, tw__cell *cell, const weights *w, tw_tensor *x, tw_tensor *h, tw_tensor *c,
                           tw_tensor **next)
{
    tw_named activation = cell->settings.activation, gate = cell->settings.recurrent_activation;
    tw_tensor *z[4], *from_h[4];
    if (cell->per_gate && (cell->masks[INPUT][0] || cell->masks[STATE][0])) {
        TW_TRY(gates(t, cell, STATE, h, w->recurrent, NULL, 4, from_h));
        TW_TRY(gates(t, cell, INPUT, x, w->kernel, w->bias, 4, z));
        for (int i = 0; i < 4; i++)
            z[i] = TW_TEMP(AddV2, z[i], from_h[i]);
    } else {
        tw_tensor *product = TW_TEMP(MatMul, dropped(t, cell, INPUT, 0, x), w->kernel);
        tw_tensor *sum = TW_TEMP(AddV2, product, TW_TEMP(MatMul, h, w->recurrent));
        TW_TRY(split(t, with_bias(t, sum, w->bias), 4, z));
    }
    tw_tensor *input = activate(t, gate, z[0]), *forget = activate(t, gate, z[1]);
    next[1] = TW_TEMP(AddV2, TW_TEMP(Mul, forget, c), TW_TEMP(Mul, input, activate(t, activation, z[2])));
    tw_tensor *output = activate(t, gate, z[3]);
    next[0] = TW_TEMP(Mul, output, activate(t, activation, next[1]));
    return TW_OK;
}

static tw_status gru_step(tw__temps *t, tw__cell *cell, const weights *w, tw_tensor *x, tw_tensor *h, tw_tensor **next)
{
    int64_t units = cell->settings.units;
    tw_named gate = cell->settings.recurrent_activation;
    bool after = cell->reset_after;
    /* Two rows of bias. Their gradient is dense, as Keras's: one of gathered rows would be clipped before its parts are summed.
     */
    tw_tensor *bias[2] = { w->bias, NULL }, *from_x[3], *from_h[3];
    if (after && w->bias)
        TW_TRY(TW_TEMP_ALL(bias, Unpack, w->bias, TW_A_INT("num", 2), TW_A_INT("axis", 0)));
    tw_tensor *recurrent = after ? w->recurrent : columns_of(t, w->recurrent, 0, 2 * units);
    TW_TRY(gates(t, cell, INPUT, x, w->kernel, bias[0], 3, from_x));
    TW_TRY(gates(t, cell, STATE, h, recurrent, bias[1], after ? 3 : 2, from_h));
    tw_tensor *update = activate(t, gate, TW_TEMP(AddV2, from_x[0], from_h[0]));
    tw_tensor *reset = activate(t, gate, TW_TEMP(AddV2, from_x[1], from_h[1])), *candidate;
    if (after) {
        candidate = TW_TEMP(Mul, reset, from_h[2]);
    } else {
        tw_tensor *kept = TW_TEMP(Mul, reset, dropped(t, cell, STATE, cell->per_gate ? 2 : 0, h));
        candidate = TW_TEMP(MatMul, kept, columns_of(t, w->recurrent, 2 * units, units));
    }
    candidate = activate(t, cell->settings.activation, TW_TEMP(AddV2, from_x[2], candidate));
    next[0] = TW_TEMP(AddV2, TW_TEMP(Mul, update, h), TW_TEMP(Mul, TW_TEMP(Sub, 1.0, update), candidate));
    return TW_OK;
}

tw_status tw__cell_step(tw__cell *cell, tw_tensor *input, tw_tensor *const *states, int training, tw_tensor **next)
{
    TW_TEMPS(t);
    weights w = { 0 };
    TW_TRY(tw__cell_make_masks(cell, input, states[0], training));
    if (cell->kind == TW_CELL_CONV)
        TW_TRY(tw__conv_cell_step(t, (tw__conv_cell *)cell, input, states[0], states[1], next));
    else
        TW_TRY(read_weights(t, cell, &w));
    TW_TRY(cell->kind == TW_CELL_CONV   ? TW_OK
           : cell->kind == TW_CELL_LSTM ? lstm_step(t, cell, &w, input, states[0], states[1], next)
           : cell->kind == TW_CELL_GRU  ? gru_step(t, cell, &w, input, states[0], next)
                                        : simple_step(t, cell, &w, input, states[0], next));
    bool two = tw__cell_state_count(cell) == 2;
    TW_NEED(next[0]);
    if (two)
        TW_NEED(next[1]);
    for (int i = 0; i <= two; i++)
        next[i] = tw_retain(next[i]);
    return TW_OK;
}

tw_value tw__cell_call(tw_layer *self, const tw_value *given, int training)
{
    tw__cell *cell = (tw__cell *)self;
    int count = tw__cell_state_count(cell);
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_tensor *states[2], *next[2];
    bool listed = given[1].kind == TW_VALUE_LIST || given[1].kind == TW_VALUE_TUPLE;
    for (int i = 0; i < count; i++) {
        const tw_value *state = listed ? (i < given[1].list.count ? &given[1].list.items[i] : NULL) : i == 0 ? &given[1] : NULL;
        states[i] = state && state->kind == TW_VALUE_TENSOR ? state->tensor : NULL;
        if (!states[i]) {
            tw__fail(TW_VALUE_ERROR, "%s \"%s\": states are %d tensors of [batch, %lld]", tw_class_name(self), self->name, count,
                     (long long)cell->settings.units);
            return result;
        }
    }
    if (given[0].kind != TW_VALUE_TENSOR) {
        tw__fail(TW_VALUE_ERROR, "%s \"%s\": the input is one tensor", tw_class_name(self), self->name);
        return result;
    }
    if (tw__cell_step(cell, given[0].tensor, states, training, next) != TW_OK)
        return result;
    tw_tensor *output = tw_retain(next[0]);
    tw_value list = listed ? tw__values_list(next, count, false) : tw__tensor_value(next[0]);
    tw_value *items = tw__alloc_array(2, sizeof *items);
    if (!items || list.kind == TW_VALUE_NONE) {
        tw_release(output);
        tw_value_free(&list);
        tw__free(items);
        return result;
    }
    items[0] = tw__tensor_value(output);
    items[1] = list;
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2 } };
}

static const tw__layer_methods cell_methods = { .build = cell_build,
                                                .arguments = "inputs states training",
                                                .call_values = tw__cell_call };

/* ---- the classes ---- */

static double within_one(double rate)
{
    return rate < 0 ? 0 : rate > 1 ? 1 : rate;
}

static tw_status cell_settle(void *self, const void *given)
{
    (void)given;
    tw__cell *cell = self;
    const tw_class *class_row = tw_class_of(self);
    tw_layers_lstm_cell_args *settings = &cell->settings;
    const tw_layers_gru_cell_args *gru = class_row == &tw__class_layers_gru_cell ? tw_object_config(self) : NULL;
    tw__args_project(class_row->signature, tw_object_config(self), &tw__signature_layers_lstm_cell, settings);
    if (settings->units <= 0)
        return tw__fail(TW_VALUE_ERROR, "Received an invalid value for argument `units`, expected a positive integer, got %lld.",
                        (long long)settings->units);
    cell->kind = class_row == &tw__class_layers_lstm_cell ? TW_CELL_LSTM : gru ? TW_CELL_GRU : TW_CELL_SIMPLE;
    if (!cell->layer.built || cell->kind != TW_CELL_SIMPLE) /* as in Keras */
        cell->has_bias = settings->use_bias;
    cell->reset_after = gru && gru->reset_after;
    settings->dropout = within_one(settings->dropout);
    settings->recurrent_dropout = within_one(settings->recurrent_dropout);
    /* As in Keras the implementation is settled by the constructor. */
    cell->per_gate = cell->kind != TW_CELL_SIMPLE && settings->implementation == 1;
    return TW_OK;
}

/* As in Keras, whose other implementation can't do that. */
static tw_status cell_init(void *self, const void *given)
{
    (void)given;
    void *config = ((tw_object *)self)->config;
    if (tw_class_of(self) == &tw__class_layers_lstm_cell && ((tw_layers_lstm_cell_args *)config)->recurrent_dropout > 0)
        ((tw_layers_lstm_cell_args *)config)->implementation = 1;
    if (tw_class_of(self) == &tw__class_layers_gru_cell && ((tw_layers_gru_cell_args *)config)->recurrent_dropout > 0)
        ((tw_layers_gru_cell_args *)config)->implementation = 1;
    return TW_OK;
}

static void cell_clear(void *self)
{
    tw__cell_reset_masks(self);
}

#define CLASS                                                                                                          \
    .parent = &tw__class_layers_abstract_rnn_cell, .size = sizeof(tw__cell), .init = cell_init, .settle = cell_settle, \
    .destroy = cell_clear, .clear = cell_clear, .methods = &cell_methods

TW_CLASS(
    layers_simple_rnn_cell,
    "keras.layers.SimpleRNNCell(units: int, activation: named<activation> = tanh, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
    ", " TW_RECURRENT_REGULARIZERS ", " TW_RECURRENT_CONSTRAINTS
    ", dropout: float = 0.0, recurrent_dropout: float = 0.0, **layer) -> layer",
    CLASS, .doc = "A step of SimpleRNN: activation(inputs @ kernel + state @ recurrent_kernel + bias).");

TW_CLASS(layers_lstm_cell,
         "keras.layers.LSTMCell(units: int, activation: named<activation> = tanh, "
         "recurrent_activation: named<activation> = sigmoid, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
         ", unit_forget_bias: bool = True, " TW_RECURRENT_REGULARIZERS ", " TW_RECURRENT_CONSTRAINTS
         ", dropout: float = 0.0, recurrent_dropout: float = 0.0, *, implementation: int = 2, **layer) -> layer",
         CLASS, .doc = "A step of LSTM; the states are the hidden value and the cell's.");

TW_CLASS(layers_gru_cell,
         "keras.layers.GRUCell(units: int, activation: named<activation> = tanh, "
         "recurrent_activation: named<activation> = sigmoid, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
         ", " TW_RECURRENT_REGULARIZERS ", " TW_RECURRENT_CONSTRAINTS
         ", dropout: float = 0.0, recurrent_dropout: float = 0.0, reset_after: bool = True, *, implementation: int = 2, "
         "**layer) -> layer",
         CLASS,
         .doc = "A step of GRU.\n"
                "reset_after: True: the reset gate works on the product of state and kernel; False: on the state before it");
