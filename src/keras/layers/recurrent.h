/* Recurrent layers from the inside: cells, which do one step, and RNN, which does a sequence with one. */
#ifndef TW_RECURRENT_H
#define TW_RECURRENT_H

#include "base/language.h"
#include "base/temps.h"
#include "keras/layers/layers.h"

/* ---- cells (rnn_cells.c) ---- */
typedef enum tw__cell_kind { TW_CELL_SIMPLE, TW_CELL_LSTM, TW_CELL_GRU, TW_CELL_CONV } tw__cell_kind;

enum { TW_MOST_GATES = 4 };

typedef struct tw__cell {
    tw_layer layer;
    tw__cell_kind kind;
    tw_layers_lstm_cell_args settings; /* by name; what a class does not have is as in LSTMCell */
    bool has_bias, reset_after;
    bool per_gate; /* Keras's implementation 1: dropout has a mask for each gate */
    /* While training: what inputs and states are multiplied by, for each gate. As in TensorFlow they are the same for all steps
     * of a sequence that runs at once or is unrolled; a traced loop makes new ones in each step. Made in `masks_graph`. */
    tw_tensor *masks[2][TW_MOST_GATES];
    const void *masks_graph;
} tw__cell;

/* Whether it has masks of dropout: one of ours, or a subclass of such in an embedding language. */
bool tw__is_cell(const tw_layer *layer);
/* The cell as one of ours, or NULL. */
tw__cell *tw__cell_of(tw_layer *layer);
/* One step: input [batch, size], states (borrowed) -> new states, the first of which is the output. */
tw_status tw__cell_step(tw__cell *cell, tw_tensor *input, tw_tensor *const *states, int training, tw_tensor **next);
int tw__cell_state_count(const tw__cell *cell);
/* How many masks of dropout Keras draws for its input. */
int tw__cell_mask_count(const tw__cell *cell);
/* Forgets the masks of dropout; makes those for inputs like this. */
void tw__cell_reset_masks(tw__cell *cell);
tw_status tw__cell_make_masks(tw__cell *cell, tw_tensor *input, tw_tensor *state, int training);

tw_status tw__cell_add_bias(tw__cell *cell);
tw_value tw__cell_call(tw_layer *self, const tw_value *given, int training); /* as a layer */

/* ---- the cell of ConvLSTM1D, 2D, 3D (conv_lstm.c) ---- */
typedef struct tw__conv_cell {
    tw__cell cell;
    int axes;
    bool channels_first;
    char padding[8];
    int64_t size[3], stride[3], dilation[3];
} tw__conv_cell;
static inline tw__conv_cell *tw__conv_cell_of(tw_layer *layer) /* NULL: it is another cell */
{
    return tw__is(layer, &tw__class_layers_conv_lstm_cell) ? (tw__conv_cell *)layer : NULL;
}
/* The shape of a state for that of a step's inputs; zeros for inputs [batch, time, …]. */
tw_status tw__conv_cell_state(const tw__conv_cell *cell, const tw_shape *step, tw_shape *state);
tw_tensor *tw__conv_cell_zeros(const tw__conv_cell *cell, tw_tensor *inputs, tw_dtype dtype);
void tw__conv_cell_config(tw_layer *self, tw__dict *dict); /* what the layer tells, too */
tw_status tw__conv_cell_step(tw__temps *t, tw__conv_cell *cell, tw_tensor *x, tw_tensor *h, tw_tensor *c, tw_tensor **next);

/* ---- any layer that is a cell (rnn_sequence.c) ---- */
/* The sizes of its states, in its structure: a number, a shape, or a list of such; None with the error set. */
tw_value tw__cell_state_sizes(tw_layer *cell);
tw_value tw__cell_class_sizes(tw_layer *cell); /* what the library's class says, whatever a subclass says */
bool tw__cell_takes_constants(tw_layer *cell);
int64_t tw__cell_output_size(tw_layer *cell); /* of the last cell: its first state's; -1: not known (rnn_stacked.c) */
/* Zeros [batch, size…]; the batch as in the inputs. */
tw_tensor *tw__cell_zeros(tw_tensor *inputs, int batch_axis, const tw_shape *size, tw_dtype dtype);
/* What a sequence begins with, in the cell's structure: what the cell's own get_initial_state gives, else zeros, of the batch of
 * the inputs; None: the error is set (rnn_stacked.c). */
tw_value tw__cell_first_states(tw_layer *cell, tw_tensor *inputs, int batch_axis, tw_dtype dtype);

/* ---- structures of states, and going through a sequence (rnn_sequence.c) ---- */
enum { TW_MOST_STATES = 256 };
static inline tw_value tw__value_none(void)
{
    return (tw_value){ .kind = TW_VALUE_NONE };
}
static inline bool tw__value_is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
}
int tw__states_count(const tw_value *sizes);
/* The tensors of a structure, borrowed, from place `at` on; the place behind them, or -1: it holds something else. Sizes
 * likewise. */
int tw__states_flatten(const tw_value *value, tw_tensor **tensors, int at);
int tw__states_sizes(const tw_value *sizes, tw_shape *out, int at);
/* The structure of the sizes again; new references. */
tw_value tw__states_restore(const tw_value *sizes, tw_tensor *const *tensors, int *at);
void tw__tensors_release(tw_tensor **tensors, int count);

typedef struct tw__sequence {
    tw_layer *cell;
    tw_value sizes;
    int count, training;
    bool zero_masked;
    const tw_value *constants; /* what a cell of an embedding language gets in each step, a list; NULL: nothing */
    tw_tensor *inputs, *mask;  /* time first: [time, batch, …]; of a loop: lists of their steps */
    tw_shape step_shape;
    tw_dtype dtype;
} tw__sequence;

/* One step of any cell: the output and the new states are new references. */
tw_status tw__cell_step_any(const tw__sequence *s, tw_tensor *x, tw_tensor *const *states, tw_tensor **output, tw_tensor **next);
/* states (references) become the last ones; *outputs: those of every step, time first, or the last one. Of known length, by a
 * loop, as one op. */
tw_status tw__sequence_steps(const tw__sequence *s, int64_t length, bool every, tw_tensor **states, tw_tensor **outputs);
tw_status tw__sequence_loop(tw__sequence *s, bool every, tw_tensor **states, tw_tensor **outputs);
bool tw__cell_has_usual_functions(const tw__cell *cell); /* tanh, and sigmoid for gates */
bool tw__sequence_fits_block(const tw__cell *cell, const tw__sequence *s);
tw_status tw__sequence_block(tw__cell *cell, const tw__sequence *s, bool every, bool want_states, tw_tensor **states,
                             tw_tensor **outputs);

/* ---- RNN (rnn.c) ---- */
typedef struct tw__rnn {
    tw_layer layer;
    tw_layers_rnn_args settings; /* by name: those of its subclasses too */
    bool zero_forced;            /* by Bidirectional: as if zero_output_for_mask were set */
    tw_variable **states;        /* stateful: references */
    int64_t state_count;
    int64_t constant_count; /* how many constants its last calls had; of Bidirectional: in both directions */
} tw__rnn;
tw_status tw__rnn_setup(tw__rnn *rnn, tw_layer *cell); /* takes the cell */

/* ---- inputs, states and constants of a call (rnn_arguments.c) ---- */
/* The layer that knows how many constants there are: RNN itself, Bidirectional's forward layer; NULL: it is another layer. */
tw__rnn *tw__recurrent_of(tw_layer *layer);
/* parts: inputs, initial_state, constants as they were given, borrowed. A list of inputs is [inputs, states…, constants…]. */
void tw__recurrent_split(tw__rnn *rnn, tw_value *parts);
/* A call with Keras tensors: whether states or constants of them were given. Then joined is the tuple of arguments with all of
 * them as one list, and rest what was given by name else; both are the caller's. */
bool tw__recurrent_join(tw_layer *layer, const tw_value *arguments, const tw_value *named, tw_value *joined, tw_value *rest);
void tw__recurrent_config(tw_layer *layer, tw__dict *dict);
tw_status tw__recurrent_take_config(tw_layer *layer, const tw_value *config);

/* Arguments of recurrent layers and their cells. */
#define TW_RECURRENT_INITIALIZERS                               \
    "kernel_initializer: named<initializer> = glorot_uniform, " \
    "recurrent_initializer: named<initializer> = orthogonal, bias_initializer: named<initializer> = zeros"
#define TW_RECURRENT_REGULARIZERS                                                                       \
    "kernel_regularizer: named<regularizer> = None, recurrent_regularizer: named<regularizer> = None, " \
    "bias_regularizer: named<regularizer> = None"
#define TW_RECURRENT_CONSTRAINTS                                                                    \
    "kernel_constraint: named<constraint> = None, recurrent_constraint: named<constraint> = None, " \
    "bias_constraint: named<constraint> = None"

#endif
