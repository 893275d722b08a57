/* SimpleRNNCell, LSTMCell, GRUCell: one step of a recurrent layer. Gates stand side by side in the weights: LSTM input, forget,
 * candidate, output; GRU update, reset, candidate. cell(inputs, states) gives (output, states). `implementation` is Keras's
 * choice between two ways to the same values; here there is one. */
#include "api/nn/nn.h"
#include "graph/graph.h"
#include "keras/initializers/initializers.h"
#include "keras/layers/recurrent.h"
#include "op/array/array.h"
#include "op/calls.h"

static const int gates_of[] = { [TW_CELL_SIMPLE] = 1, [TW_CELL_LSTM] = 4, [TW_CELL_GRU] = 3 };

bool tw__is_cell(const tw_layer *layer)
{
    return tw__is(layer, &tw__class_layers_simple_rnn_cell) || tw__is(layer, &tw__class_layers_lstm_cell) ||
           tw__is(layer, &tw__class_layers_gru_cell);
}

tw__cell *tw__cell_of(tw_layer *layer)
{
    return tw__is_cell(layer) && !layer->foreign_call ? (tw__cell *)layer : NULL;
}

int tw__cell_state_count(const tw__cell *cell)
{
    return cell->kind == TW_CELL_LSTM ? 2 : 1;
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
    int64_t units = shape->dims[0] / 4;
    tw_shape one = TW_SHAPE(units), two = TW_SHAPE(2 * units);
    tw_tensor *zero = tw__initializer_make(((forget_bias *)self)->others, &one, dtype);
    tw_auto tw_tensor *first = zero, *rest = tw__initializer_make(((forget_bias *)self)->others, &two, dtype);
    tw_auto tw_tensor *like = zero ? TW_CALL(OnesLike, zero) : NULL, *axis = tw_tensor_int(0);
    return first && rest && like && axis ? TW_CALL(ConcatV2, first, like, rest, axis) : NULL;
}

static const tw__initializer_methods forget_bias_methods = { forget_bias_make };
static const tw_class forget_bias_class = { .name = "UnitForgetBias",
                                            .parent = &tw__class_initializer,
                                            .size = sizeof(forget_bias),
                                            .destroy = forget_bias_destroy,
                                            .methods = &forget_bias_methods };

static tw_status add_bias(tw__cell *cell)
{
    int64_t wide = gates_of[cell->kind] * cell->units;
    tw_shape shape = cell->kind == TW_CELL_GRU && cell->reset_after ? TW_SHAPE(2, wide) : TW_SHAPE(wide);
    tw_named initializer = cell->bias_initializer;
    tw_auto forget_bias *with_ones = NULL;
    if (cell->kind == TW_CELL_LSTM && cell->unit_forget_bias) {
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
    int64_t size = input->rank > 0 ? input->dims[input->rank - 1] : -1, wide = gates_of[cell->kind] * cell->units;
    if (size < 0)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": the last dimension of the inputs is not known, the shape is %s",
                        tw_class_name(self), self->name, tw__shape_text(input));
    tw_shape kernel = TW_SHAPE(size, wide), recurrent = TW_SHAPE(cell->units, wide);
    TW_TRY(tw__layer_add_part(self, "kernel", &kernel));
    TW_TRY(tw__layer_add_part(self, "recurrent_kernel", &recurrent));
    return cell->has_bias ? add_bias(cell) : TW_OK;
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
    double rates[2] = { cell->dropout, cell->recurrent_dropout };
    tw_tensor *like[2] = { input, state };
    if (cell->masks_graph != tw__tracing || training != 1)
        tw__cell_reset_masks(cell);
    cell->masks_graph = tw__tracing;
    for (int i = 0; i < 2 && training == 1; i++) {
        if (rates[i] == 0 || cell->masks[i][0])
            continue;
        tw_auto tw_tensor *ones = TW_CALL(OnesLike, like[i]);
        for (int k = 0; k < tw__cell_mask_count(cell); k++) {
            cell->masks[i][k] = ones ? tw__dropout(ones, rates[i], NULL, TW_NO_INT, NULL) : NULL;
            if (!cell->masks[i][k])
                return tw__error_status();
        }
    }
    return TW_OK;
}

/* ---- steps ---- */

static tw_tensor *times(tw_tensor *x, tw_tensor *weights)
{
    return TW_CALL(MatMul, x, weights);
}

static tw_tensor *with_bias(tw__cell *cell, tw_tensor *sum) /* takes it */
{
    if (!cell->has_bias)
        return sum;
    return TW_G2(BiasAdd, sum, tw__layer_read(&cell->layer, "bias"));
}

/* Equal parts along the last axis; takes x. */
static tw_status split(tw_tensor *x, int count, tw_tensor **parts)
{
    tw_auto tw_tensor *whole = x, *axis = tw_tensor_int(1);
    int made = count;
    return x && axis ? tw__apply(&tw__op_Split, TW_IN(axis, x), 2, TW_WITH(TW_A_INT("num_split", count)), 1, parts, &made)
                     : tw__error_status();
}

static tw_tensor *activate(tw_named function, tw_tensor *x) /* takes it */
{
    tw_auto tw_tensor *taken = x;
    return tw__activate(function, x);
}

/* Columns [from, from + count) of a matrix, or such elements of a vector. */
static tw_tensor *columns_of(tw_tensor *x, int64_t from, int64_t count)
{
    bool matrix = x && x->shape.rank == 2;
    tw_auto tw_tensor *begin = tw__ints_tensor((int64_t[]){ matrix ? 0 : from, from }, matrix ? 2 : 1, TW_INT32),
                      *size = tw__ints_tensor((int64_t[]){ matrix ? -1 : count, count }, matrix ? 2 : 1, TW_INT32);
    return TW_CALL(Slice, x, begin, size);
}

/* x (the input if `which` is INPUT) under the mask of a gate. */
enum { INPUT, STATE };
static tw_tensor *dropped(const tw__cell *cell, int which, int gate, tw_tensor *x)
{
    tw_tensor *mask = cell->masks[which][gate];
    return mask ? TW_CALL(Mul, x, mask) : tw_retain(x);
}

/* x @ weights + bias (which may be NULL), split into `count` gates, each of which has a mask of its own where the cell says so.
 */
static tw_status gates(tw__cell *cell, int which, tw_tensor *x, tw_tensor *weights, tw_tensor *bias, int count, tw_tensor **parts)
{
    if (!cell->per_gate || !cell->masks[which][0]) {
        tw_auto tw_tensor *masked = dropped(cell, which, 0, x);
        tw_tensor *sum = times(masked, weights);
        return split(bias ? TW_G2(BiasAdd, sum, tw_retain(bias)) : sum, count, parts);
    }
    for (int i = 0; i < count; i++) {
        int64_t from = i * cell->units;
        tw_auto tw_tensor *masked = dropped(cell, which, i, x), *columns = columns_of(weights, from, cell->units);
        parts[i] = times(masked, columns);
        if (bias)
            parts[i] = TW_G2(BiasAdd, parts[i], columns_of(bias, from, cell->units));
        if (!parts[i]) {
            tw__tensors_release(parts, i);
            return tw__error_status();
        }
    }
    return TW_OK;
}

static tw_status simple_step(tw__cell *cell, tw_tensor *x, tw_tensor *h, tw_tensor **next)
{
    tw_auto tw_tensor *kernel = tw__layer_read(&cell->layer, "kernel"),
                      *recurrent = tw__layer_read(&cell->layer, "recurrent_kernel");
    if (!kernel || !recurrent)
        return tw__error_status();
    tw_auto tw_tensor *from_x = dropped(cell, INPUT, 0, x), *from_h = dropped(cell, STATE, 0, h);
    next[0] = activate(cell->activation, TW_G2(AddV2, with_bias(cell, times(from_x, kernel)), times(from_h, recurrent)));
    return next[0] ? TW_OK : tw__error_status();
}

static tw_status lstm_step(tw__cell *cell, tw_tensor *x, tw_tensor *h, tw_tensor *c, tw_tensor **next)
{
    tw_auto tw_tensor *kernel = tw__layer_read(&cell->layer, "kernel"),
                      *recurrent = tw__layer_read(&cell->layer, "recurrent_kernel");
    tw_tensor *z[4] = { 0 };
    if (!kernel || !recurrent)
        return tw__error_status();
    if (cell->per_gate && (cell->masks[INPUT][0] || cell->masks[STATE][0])) {
        tw_auto tw_tensor *bias = cell->has_bias ? tw__layer_read(&cell->layer, "bias") : NULL;
        tw_tensor *from_h[4] = { 0 };
        if (cell->has_bias && !bias)
            return tw__error_status();
        TW_TRY(gates(cell, STATE, h, recurrent, NULL, 4, from_h));
        if (gates(cell, INPUT, x, kernel, bias, 4, z) != TW_OK) {
            tw__tensors_release(from_h, 4);
            return tw__error_status();
        }
        for (int i = 0; i < 4; i++)
            z[i] = TW_G2(AddV2, z[i], from_h[i]);
    } else {
        tw_auto tw_tensor *masked = dropped(cell, INPUT, 0, x);
        TW_TRY(split(with_bias(cell, TW_G2(AddV2, times(masked, kernel), times(h, recurrent))), 4, z));
    }
    tw_tensor *input = activate(cell->recurrent_activation, z[0]), *forget = activate(cell->recurrent_activation, z[1]);
    tw_tensor *kept = TW_G2(Mul, forget, tw_retain(c)), *added = TW_G2(Mul, input, activate(cell->activation, z[2]));
    tw_tensor *cell_state = TW_G2(AddV2, kept, added), *output = activate(cell->recurrent_activation, z[3]);
    next[1] = cell_state;
    next[0] = TW_G2(Mul, output, activate(cell->activation, tw_retain(cell_state)));
    return next[0] && next[1] ? TW_OK : tw__error_status();
}

/* Row `row` of the two of a bias. Its gradient is dense, as Keras's: one of gathered rows would be clipped before its parts are
 * summed. */
static tw_tensor *row_of(tw_tensor *bias, int row)
{
    tw_tensor *rows[2] = { 0 };
    int made = 2;
    if (tw__apply(&tw__op_Unpack, &bias, 1, TW_WITH(TW_A_INT("num", 2), TW_A_INT("axis", 0)), 2, rows, &made) != TW_OK)
        return NULL;
    tw_release(rows[1 - row]);
    return rows[row];
}

static tw_status gru_step(tw__cell *cell, tw_tensor *x, tw_tensor *h, tw_tensor **next)
{
    tw_auto tw_tensor *kernel = tw__layer_read(&cell->layer, "kernel"),
                      *recurrent = tw__layer_read(&cell->layer, "recurrent_kernel");
    tw_auto tw_tensor *bias = cell->has_bias ? tw__layer_read(&cell->layer, "bias") : NULL;
    tw_tensor *from_x[3] = { 0 }, *from_h[3] = { 0 };
    if (!kernel || !recurrent || (cell->has_bias && !bias))
        return tw__error_status();
    tw_named gate = cell->recurrent_activation;
    bool after = cell->reset_after;
    tw_auto tw_tensor *first = after && bias ? row_of(bias, 0) : tw_retain(bias),
                      *second = after && bias ? row_of(bias, 1) : NULL;
    tw_auto tw_tensor *both = after ? tw_retain(recurrent) : columns_of(recurrent, 0, 2 * cell->units);
    TW_TRY(gates(cell, INPUT, x, kernel, first, 3, from_x));
    if (gates(cell, STATE, h, both, second, after ? 3 : 2, from_h) != TW_OK) {
        tw__tensors_release(from_x, 3);
        return tw__error_status();
    }
    tw_tensor *candidate = NULL;
    tw_auto tw_tensor *update = activate(gate, TW_G2(AddV2, from_x[0], from_h[0]));
    tw_tensor *reset = activate(gate, TW_G2(AddV2, from_x[1], from_h[1]));
    if (cell->reset_after) {
        candidate = TW_G2(Mul, reset, from_h[2]);
    } else {
        int last = cell->per_gate ? 2 : 0;
        tw_auto tw_tensor *third = columns_of(recurrent, 2 * cell->units, cell->units),
                          *kept = TW_G2(Mul, reset, dropped(cell, STATE, last, h));
        candidate = times(kept, third);
    }
    candidate = activate(cell->activation, TW_G2(AddV2, from_x[2], candidate));
    tw_tensor *old = TW_G2(Mul, tw_retain(update), tw_retain(h)), *rest = TW_G2(Sub, tw__grad_constant(1, h), tw_retain(update));
    next[0] = TW_G2(AddV2, old, TW_G2(Mul, rest, candidate));
    return next[0] ? TW_OK : tw__error_status();
}

tw_status tw__cell_step(tw__cell *cell, tw_tensor *input, tw_tensor *const *states, int training, tw_tensor **next)
{
    next[0] = next[tw__cell_state_count(cell) - 1] = NULL;
    TW_TRY(tw__cell_make_masks(cell, input, states[0], training));
    tw_status status = cell->kind == TW_CELL_LSTM  ? lstm_step(cell, input, states[0], states[1], next)
                       : cell->kind == TW_CELL_GRU ? gru_step(cell, input, states[0], next)
                                                   : simple_step(cell, input, states[0], next);
    if (status != TW_OK) {
        tw_release(next[0]);
        if (next[0] != next[tw__cell_state_count(cell) - 1])
            tw_release(next[tw__cell_state_count(cell) - 1]);
    }
    return status;
}

static tw_value cell_call(tw_layer *self, const tw_value *given, int training)
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
                     (long long)cell->units);
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
                                                .call_values = cell_call };

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
    tw_layers_lstm_cell_args o; /* by name; what a class does not have is as in LSTMCell */
    tw__args_project(class_row->signature, tw_object_config(self), &tw__signature_layers_lstm_cell, &o);
    if (o.units <= 0)
        return tw__fail(TW_VALUE_ERROR, "Received an invalid value for argument `units`, expected a positive integer, got %lld.",
                        (long long)o.units);
    cell->kind = class_row == &tw__class_layers_lstm_cell  ? TW_CELL_LSTM
                 : class_row == &tw__class_layers_gru_cell ? TW_CELL_GRU
                                                           : TW_CELL_SIMPLE;
    cell->units = o.units;
    if (!cell->layer.built || cell->kind != TW_CELL_SIMPLE) /* as in Keras */
        cell->has_bias = o.use_bias;
    cell->unit_forget_bias = o.unit_forget_bias;
    cell->reset_after = cell->kind == TW_CELL_GRU && ((const tw_layers_gru_cell_args *)tw_object_config(self))->reset_after;
    cell->bias_initializer = o.bias_initializer;
    cell->dropout = within_one(o.dropout);
    cell->recurrent_dropout = within_one(o.recurrent_dropout);
    /* As in Keras the implementation is settled by the constructor. */
    cell->per_gate =
        cell->kind == TW_CELL_LSTM
            ? o.implementation == 1
            : cell->kind == TW_CELL_GRU && ((const tw_layers_gru_cell_args *)tw_object_config(self))->implementation == 1;
    cell->activation = o.activation;
    cell->recurrent_activation = o.recurrent_activation;
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
    "keras.layers.SimpleRNNCell(units: int, activation: named<activation> = tanh, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, recurrent_initializer: named<initializer> = orthogonal, "
    "bias_initializer: named<initializer> = zeros, kernel_regularizer: named<regularizer> = None, recurrent_regularizer: named<regularizer> = None, "
    "bias_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, recurrent_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, dropout: float = 0.0, recurrent_dropout: float = 0.0, **layer) -> layer",
    CLASS, .doc = "A step of SimpleRNN: activation(inputs @ kernel + state @ recurrent_kernel + bias).");

TW_CLASS(
    layers_lstm_cell,
    "keras.layers.LSTMCell(units: int, activation: named<activation> = tanh, recurrent_activation: named<activation> = sigmoid, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, recurrent_initializer: named<initializer> = orthogonal, "
    "bias_initializer: named<initializer> = zeros, unit_forget_bias: bool = True, kernel_regularizer: named<regularizer> = None, "
    "recurrent_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "recurrent_constraint: named<constraint> = None, bias_constraint: named<constraint> = None, dropout: float = 0.0, "
    "recurrent_dropout: float = 0.0, implementation: int = 2, **layer) -> layer",
    CLASS, .doc = "A step of LSTM; the states are the hidden value and the cell's.");

TW_CLASS(
    layers_gru_cell,
    "keras.layers.GRUCell(units: int, activation: named<activation> = tanh, recurrent_activation: named<activation> = sigmoid, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, recurrent_initializer: named<initializer> = orthogonal, "
    "bias_initializer: named<initializer> = zeros, kernel_regularizer: named<regularizer> = None, recurrent_regularizer: named<regularizer> = None, "
    "bias_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, recurrent_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, dropout: float = 0.0, recurrent_dropout: float = 0.0, reset_after: bool = True, "
    "implementation: int = 2, **layer) -> layer",
    CLASS, .doc = "A step of GRU.");
