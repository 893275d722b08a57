/* keras.layers.SimpleRNN, LSTM, GRU: RNN with a cell of their own, made of the same arguments. */
#include "keras/layers/recurrent.h"
#include "spec/spec.h"

/* The cell's arguments are those of the layer that it has too; its name is always the same. */
#define OWN_CELL(rnn, args, id, cell_name)                                                                        \
    ({                                                                                                            \
        tw_##id##_args own_;                                                                                      \
        tw__args_project(tw_class_signature(tw_class_of(rnn)), args, tw_class_signature(&tw__class_##id), &own_); \
        own_.name = (cell_name);                                                                                  \
        own_.input_shape = own_.batch_input_shape = TW_UNKNOWN_SHAPE;                                             \
        own_.input_dim = own_.batch_size = TW_NO_INT;                                                             \
        own_.weights = (tw_tensors){ 0 };                                                                         \
        tw_class_make(&tw__class_##id, &own_);                                                                    \
    })

/* As in Keras these are the cell's, and are changed there. */
#define CELLS                                                                                                           \
    " units activation recurrent_activation use_bias kernel_initializer recurrent_initializer bias_initializer "        \
    "kernel_regularizer recurrent_regularizer bias_regularizer kernel_constraint recurrent_constraint bias_constraint " \
    "dropout recurrent_dropout unit_forget_bias reset_after implementation "

static tw_status simple_init(void *self, const void *given)
{
    const tw_layers_simple_rnn_args *args = given;
    return tw__rnn_setup(self, OWN_CELL(self, args, layers_simple_rnn_cell, "simple_rnn_cell"));
}

static tw_status lstm_init(void *self, const void *given)
{
    const tw_layers_lstm_args *args = given;
    return tw__rnn_setup(self, OWN_CELL(self, args, layers_lstm_cell, "lstm_cell"));
}

static tw_status gru_init(void *self, const void *given)
{
    const tw_layers_gru_args *args = given;
    return tw__rnn_setup(self, OWN_CELL(self, args, layers_gru_cell, "gru_cell"));
}

/* What all three take. */
#define LAYER_ARGUMENTS                                                                        \
    "activity_regularizer: named<regularizer> = None, " TW_RECURRENT_CONSTRAINTS               \
    ", dropout: float = 0.0, recurrent_dropout: float = 0.0, return_sequences: bool = False, " \
    "return_state: bool = False, go_backwards: bool = False, stateful: bool = False"

TW_CLASS(
    layers_simple_rnn,
    "keras.layers.SimpleRNN(units: int, activation: named<activation> = tanh, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
    ", " TW_RECURRENT_REGULARIZERS ", " LAYER_ARGUMENTS
    ", unroll: bool = False, *, time_major: bool = False, zero_output_for_mask: bool = False, **layer) -> layer",
    .parent = &tw__class_layers_rnn, .size = sizeof(tw__rnn), .fixed = CELLS, .init = simple_init,
    .doc = "A recurrent layer whose output is its state: activation(inputs @ kernel + state @ recurrent_kernel + bias).");

TW_CLASS(layers_lstm,
         "keras.layers.LSTM(units: int, activation: named<activation> = tanh, "
         "recurrent_activation: named<activation> = sigmoid, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
         ", unit_forget_bias: bool = True, " TW_RECURRENT_REGULARIZERS ", " LAYER_ARGUMENTS
         ", time_major: bool = False, unroll: bool = False, *, implementation: int = 2, zero_output_for_mask: bool = False, "
         "**layer) -> layer",
         .parent = &tw__class_layers_rnn, .size = sizeof(tw__rnn), .fixed = CELLS, .init = lstm_init,
         .doc = "Long short-term memory.\n"
                "example: tf.keras.layers.LSTM(4)(tf.ones([2, 5, 3])).shape  # TensorShape([2, 4])");

TW_CLASS(layers_gru,
         "keras.layers.GRU(units: int, activation: named<activation> = tanh, "
         "recurrent_activation: named<activation> = sigmoid, use_bias: bool = True, " TW_RECURRENT_INITIALIZERS
         ", " TW_RECURRENT_REGULARIZERS ", " LAYER_ARGUMENTS
         ", unroll: bool = False, time_major: bool = False, reset_after: bool = True, *, implementation: int = 2, "
         "zero_output_for_mask: bool = False, **layer) -> layer",
         .parent = &tw__class_layers_rnn, .size = sizeof(tw__rnn), .fixed = CELLS, .init = gru_init,
         .doc = "Gated recurrent units.\n"
                "reset_after: True: the reset gate works on the product of state and kernel; False: on the state before it\n"
                "example: tf.keras.layers.GRU(4, return_sequences=True)(tf.ones([2, 5, 3])).shape  # TensorShape([2, 5, 4])");
