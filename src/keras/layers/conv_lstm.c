/* keras.layers.ConvLSTM1D, ConvLSTM2D, ConvLSTM3D: recurrent layers whose cell is an LSTM with convolutions in the place of
 * matrix products. The inputs' convolution is that of the arguments; the states' keeps their size. The layers are RNN with a cell
 * of their own (rnn.c); gates stand side by side in the kernels: input, forget, candidate, output. */
#include "keras/layers/recurrent.h"
#include "op/calls.h"
#include "spec/spec.h"

typedef tw_layers_conv_lstm_cell_args arguments;

/* ---- the cell ---- */

static tw_status cell_settle(void *self, const void *given)
{
    tw__conv_cell *cell = self;
    const arguments *args = given;
    tw_layers_lstm_cell_args *settings = &cell->cell.settings;
    tw__args_project(tw_class_signature(tw_class_of(self)), args, &tw__signature_layers_lstm_cell, settings);
    int axes = cell->axes = (int)args->rank;
    if (axes < 1 || axes > 3)
        return tw__fail(TW_VALUE_ERROR, "Rank %d convolutions are not currently implemented. Received: rank=%d", axes, axes);
    if (args->filters <= 0)
        return tw__fail(TW_VALUE_ERROR, "%s: filters=%lld, expected a positive number", tw_class_name(self),
                        (long long)args->filters);
    settings->units = args->filters;
    cell->cell.kind = TW_CELL_CONV;
    cell->cell.has_bias = args->use_bias;
    cell->cell.per_gate = true;
    settings->dropout = settings->dropout < 0 ? 0 : settings->dropout > 1 ? 1 : settings->dropout;
    settings->recurrent_dropout = settings->recurrent_dropout < 0   ? 0
                                  : settings->recurrent_dropout > 1 ? 1
                                                                    : settings->recurrent_dropout;
    TW_TRY(tw__layer_sizes("kernel_size", args->kernel_size, axes, false, cell->size));
    TW_TRY(tw__layer_sizes("strides", args->strides, axes, false, cell->stride));
    TW_TRY(tw__layer_sizes("dilation_rate", args->dilation_rate, axes, false, cell->dilation));
    TW_TRY(tw__layer_padding(args->padding, false, cell->padding));
    return tw__layer_channels_first(args->data_format, &cell->channels_first);
}

static tw_status cell_build(tw_layer *self, const tw_shape *input)
{
    tw__conv_cell *cell = (tw__conv_cell *)self;
    TW_TRY(tw__layer_need_rank(self, input, cell->axes + 2));
    int64_t channels = input->rank < 0 ? -1 : input->dims[cell->channels_first ? 1 : input->rank - 1],
            filters = cell->cell.settings.units, wide;
    if (channels < 0)
        return tw__fail(TW_VALUE_ERROR,
                        "The channel dimension of the inputs (last axis) should be defined. Found None. Full input shape "
                        "received: input_shape=%s",
                        tw__shape_text(input));
    if (__builtin_mul_overflow(filters, 4, &wide))
        return tw__fail(TW_VALUE_ERROR, "%s: filters is too large", tw_class_name(self));
    tw_shape kernel = { .rank = cell->axes + 2 };
    memcpy(kernel.dims, cell->size, (size_t)cell->axes * sizeof *kernel.dims);
    kernel.dims[cell->axes] = channels;
    kernel.dims[cell->axes + 1] = wide;
    TW_TRY(tw__layer_add_part(self, "kernel", &kernel));
    kernel.dims[cell->axes] = filters;
    TW_TRY(tw__layer_add_part(self, "recurrent_kernel", &kernel));
    return cell->cell.has_bias ? tw__cell_add_bias(&cell->cell) : TW_OK;
}

/* The shape of a state for the shape of a step's inputs. */
tw_status tw__conv_cell_state(const tw__conv_cell *cell, const tw_shape *step, tw_shape *state)
{
    TW_TRY(tw__layer_need_rank(&cell->cell.layer, step, cell->axes + 2));
    *state = *step;
    for (int i = 0, first = cell->channels_first ? 2 : 1; i < cell->axes; i++)
        state->dims[first + i] =
            tw__layer_places(step->dims[first + i], cell->size[i], cell->stride[i], cell->dilation[i], cell->padding);
    state->dims[cell->channels_first ? 1 : cell->axes + 1] = cell->cell.settings.units;
    return TW_OK;
}

/* ---- a step ---- */

/* What follows is left to t; the channels come last. */

static tw_tensor *convolve(tw__temps *t, const tw__conv_cell *cell, tw_tensor *x, tw_tensor *kernel, bool of_states)
{
    int axes = cell->axes, rank = axes == 3 ? 5 : 4, first = axes == 1 ? 2 : 1;
    int64_t strides[5] = { 1, 1, 1, 1, 1 }, dilations[5] = { 1, 1, 1, 1, 1 }, row = 1;
    for (int i = 0; i < axes && !of_states; i++) {
        strides[first + i] = cell->stride[i];
        dilations[first + i] = cell->dilation[i];
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, rank), TW_A_INTS("dilations", dilations, rank),
                        TW_A_STRING("padding", of_states || cell->padding[0] == 's' ? "SAME" : "VALID") };
    if (axes == 1) {
        x = TW_TEMP(ExpandDims, x, 1);
        kernel = TW_TEMP(ExpandDims, kernel, 0);
    }
    const tw_op *op = axes == 3 ? &tw__op_Conv3D : &tw__op_Conv2D;
    tw_tensor *made = x && kernel ? tw__temp(t, tw__call(op, TW_IN(x, kernel), 2, attrs, 3)) : NULL;
    return axes == 1 ? TW_TEMP(Squeeze, made, TW_A_INTS("squeeze_dims", &row, 1)) : made;
}

static tw_tensor *turned(tw__temps *t, const tw__conv_cell *cell, tw_tensor *x, bool to_first)
{
    return cell->channels_first && x ? tw__temp(t, tw__channels_moved(tw_retain(x), to_first)) : x;
}

static tw_status split(tw__temps *t, tw_tensor *x, tw_tensor **parts)
{
    TW_NEED(x);
    tw_tensor *axis = tw__temp_int(t, x->shape.rank - 1, TW_INT32);
    TW_NEED(axis);
    int made = 4;
    tw_status status = tw__apply(&tw__op_Split, TW_IN(axis, x), 2, TW_WITH(TW_A_INT("num_split", 4)), 1, parts, &made);
    return status == TW_OK ? tw__temp_all(t, parts, 4, status) : status;
}

/* The four gates' convolutions of inputs (0) or states (1), each under its own mask of dropout where there are such. */
static tw_status gates(tw__temps *t, const tw__conv_cell *cell, int which, tw_tensor *x, tw_tensor *kernel, tw_tensor **parts)
{
    tw_tensor *kernels[4];
    if (!cell->cell.masks[which][0])
        return split(t, convolve(t, cell, turned(t, cell, x, false), kernel, which), parts);
    TW_TRY(split(t, kernel, kernels));
    for (int i = 0; i < 4; i++) {
        tw_tensor *kept = turned(t, cell, TW_TEMP(Mul, x, cell->cell.masks[which][i]), false);
        TW_NEED(parts[i] = kept ? convolve(t, cell, kept, kernels[i], which) : NULL);
    }
    return TW_OK;
}

static tw_tensor *activate(tw__temps *t, tw_named function, tw_tensor *x)
{
    return x ? tw__temp(t, tw__activate(function, x)) : NULL;
}

tw_status tw__conv_cell_step(tw__temps *t, tw__conv_cell *cell, tw_tensor *x, tw_tensor *h, tw_tensor *c, tw_tensor **next)
{
    tw_layer *layer = &cell->cell.layer;
    tw_named activation = cell->cell.settings.activation, gate = cell->cell.settings.recurrent_activation;
    tw_tensor *kernel = tw__temp(t, tw__layer_read(layer, "kernel")),
              *recurrent = tw__temp(t, tw__layer_read(layer, "recurrent_kernel")), *z[4], *from_h[4], *bias[4];
    if (!kernel || !recurrent)
        return tw__error_status();
    if (cell->cell.has_bias)
        TW_TRY(split(t, tw__temp(t, tw__layer_read(layer, "bias")), bias));
    TW_TRY(gates(t, cell, 0, x, kernel, z));
    TW_TRY(gates(t, cell, 1, h, recurrent, from_h));
    for (int i = 0; i < 4; i++) {
        tw_tensor *from_x = cell->cell.has_bias ? TW_TEMP(BiasAdd, z[i], bias[i]) : z[i];
        TW_NEED(z[i] = TW_TEMP(AddV2, from_x, from_h[i]));
    }
    tw_tensor *input = activate(t, gate, z[0]), *forget = activate(t, gate, z[1]), *old = turned(t, cell, c, false);
    tw_tensor *now = TW_TEMP(AddV2, TW_TEMP(Mul, forget, old), TW_TEMP(Mul, input, activate(t, activation, z[2])));
    tw_tensor *output = TW_TEMP(Mul, activate(t, gate, z[3]), activate(t, activation, now));
    next[0] = turned(t, cell, output, true);
    next[1] = turned(t, cell, now, true);
    return TW_OK;
}

/* Zeros like a state, for inputs [batch, time, …]: the convolution of zeros, where the size is not known. */
tw_tensor *tw__conv_cell_zeros(const tw__conv_cell *cell, tw_tensor *inputs, tw_dtype dtype)
{
    TW_TEMPS(t);
    tw_shape step = inputs->shape, state;
    memmove(step.dims + 1, step.dims + 2, (size_t)(--step.rank - 1) * sizeof *step.dims);
    if (tw__conv_cell_state(cell, &step, &state) != TW_OK)
        return NULL;
    if (tw__shape_known(&state))
        return tw_tensor_new(dtype, state, NULL);
    tw_shape kernel = { .rank = cell->axes + 2 };
    memcpy(kernel.dims, cell->size, (size_t)cell->axes * sizeof *kernel.dims);
    kernel.dims[cell->axes] = step.dims[cell->channels_first ? 1 : step.rank - 1];
    kernel.dims[cell->axes + 1] = cell->cell.settings.units;
    tw_tensor *zeros = TW_TEMP(ZerosLike, inputs), *axis = tw__temp_int(t, 1, TW_INT32);
    tw_tensor *one = tw__temp_cast(t, TW_TEMP(Sum, zeros, axis), dtype),
              *none = tw__shape_known(&kernel) ? tw__temp(t, tw_tensor_new(dtype, kernel, NULL)) : NULL;
    tw_tensor *made = one && none ? convolve(t, cell, turned(t, cell, one, false), none, false) : NULL;
    return tw__keep(t, turned(t, cell, made, true));
}

static tw_value cell_call(tw_layer *self, const tw_value *given, int training)
{
    return tw__cell_call(self, given, training);
}

static void cell_clear(void *self)
{
    tw__cell_reset_masks(self);
}

void tw__conv_cell_config(tw_layer *self, tw__dict *dict)
{
    const tw__conv_cell *cell = (tw__conv_cell *)self;
    tw__dict_put(dict, "kernel_size", tw__sizes_value(cell->size, cell->axes));
    tw__dict_put(dict, "strides", tw__sizes_value(cell->stride, cell->axes));
    tw__dict_put_str(dict, "padding", cell->padding);
    tw__dict_put_str(dict, "data_format", cell->channels_first ? "channels_first" : "channels_last");
    tw__dict_put(dict, "dilation_rate", tw__sizes_value(cell->dilation, cell->axes));
}

static const tw__layer_methods cell_methods = { .build = cell_build,
                                                .arguments = "inputs states training",
                                                .call_values = cell_call,
                                                .config = tw__conv_cell_config,
                                                .own_config = " rank kernel_size strides padding data_format dilation_rate " };

/* What all three take. */
#define LAYER_ARGUMENTS                                                                                               \
    "activation: named<activation> = tanh, recurrent_activation: named<activation> = hard_sigmoid, "                  \
    "use_bias: bool = True, " TW_RECURRENT_INITIALIZERS ", unit_forget_bias: bool = True, " TW_RECURRENT_REGULARIZERS \
    ", activity_regularizer: named<regularizer> = None, " TW_RECURRENT_CONSTRAINTS                                    \
    ", return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False, "                      \
    "stateful: bool = False, dropout: float = 0.0, recurrent_dropout: float = 0.0, *, unroll: bool = False, "         \
    "time_major: bool = False, zero_output_for_mask: bool = False"

TW_CLASS(layers_conv_lstm_cell,
         "keras.layers._ConvLSTMCell(rank: int, filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
         "data_format: str = None, dilation_rate: ints = 1, activation: named<activation> = tanh, "
         "recurrent_activation: named<activation> = hard_sigmoid, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
         ", unit_forget_bias: bool = True, " TW_RECURRENT_REGULARIZERS ", " TW_RECURRENT_CONSTRAINTS
         ", dropout: float = 0.0, recurrent_dropout: float = 0.0, **layer) -> layer",
         .parent = &tw__class_layers_abstract_rnn_cell, .size = sizeof(tw__conv_cell), .settle = cell_settle,
         .destroy = cell_clear, .clear = cell_clear, .methods = &cell_methods, .doc = "A step of ConvLSTM1D, 2D or 3D.");

/* ---- the layers ---- */

/* As in Keras these are the cell's, and are changed there. */
#define CELLS                                                                                                              \
    " filters kernel_size strides padding data_format dilation_rate activation recurrent_activation use_bias "             \
    "kernel_initializer recurrent_initializer bias_initializer unit_forget_bias kernel_regularizer recurrent_regularizer " \
    "bias_regularizer kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout "

static tw_status make_cell(void *self, int rank)
{
    arguments own;
    tw_layers_conv_lstm2d_args given; /* of all three */
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_conv_lstm2d, &given);
    if (given.unroll)
        return tw__fail(TW_TYPE_ERROR, "Unrolling is not possible with convolutional RNNs. Received: unroll=True");
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_conv_lstm_cell, &own);
    own.rank = rank;
    own.name = "conv_lstm_cell";
    own.input_shape = own.batch_input_shape = TW_UNKNOWN_SHAPE;
    own.input_dim = own.batch_size = TW_NO_INT;
    own.weights = (tw_tensors){ 0 };
    return tw__rnn_setup(self, tw_class_make(&tw__class_layers_conv_lstm_cell, &own));
}

static tw_status init1d(void *self, const void *given)
{
    (void)given;
    return make_cell(self, 1);
}

static tw_status init2d(void *self, const void *given)
{
    (void)given;
    return make_cell(self, 2);
}

static tw_status init3d(void *self, const void *given)
{
    (void)given;
    return make_cell(self, 3);
}

/* As in Keras such a layer takes time_major and goes by the batch all the same. */
static tw_status layer_settle(void *self, const void *given)
{
    (void)given;
    ((tw__rnn *)self)->settings.time_major = false;
    return TW_OK;
}

TW_CLASS(layers_conv_lstm1d,
         "keras.layers.ConvLSTM1D(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
         "data_format: str = None, dilation_rate: ints = 1, " LAYER_ARGUMENTS ", **layer) -> layer",
         .parent = &tw__class_layers_rnn, .size = sizeof(tw__rnn), .fixed = CELLS, .init = init1d, .settle = layer_settle,
         .doc = "An LSTM of sequences, with convolutions in the place of products.");

TW_CLASS(layers_conv_lstm2d,
         "keras.layers.ConvLSTM2D(filters: int, kernel_size: ints, strides: ints = (1, 1), padding: str = valid, "
         "data_format: str = None, dilation_rate: ints = (1, 1), " LAYER_ARGUMENTS ", **layer) -> layer",
         .parent = &tw__class_layers_rnn, .size = sizeof(tw__rnn), .fixed = CELLS, .init = init2d, .settle = layer_settle,
         .doc = "An LSTM of images, with convolutions in the place of products.");

TW_CLASS(layers_conv_lstm3d,
         "keras.layers.ConvLSTM3D(filters: int, kernel_size: ints, strides: ints = (1, 1, 1), padding: str = valid, "
         "data_format: str = None, dilation_rate: ints = (1, 1, 1), " LAYER_ARGUMENTS ", **layer) -> layer",
         .parent = &tw__class_layers_rnn, .size = sizeof(tw__rnn), .fixed = CELLS, .init = init3d, .settle = layer_settle,
         .doc = "An LSTM of volumes, with convolutions in the place of products.");
