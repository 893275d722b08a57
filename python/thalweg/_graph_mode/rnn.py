"""tf.compat.v1.nn.rnn_cell and the functions that run cells over sequences: dynamic_rnn by a loop in the graph, static_rnn step by step."""
import collections

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import layers as _layers

_v1 = tf.compat.v1
LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


class RNNCell(_layers.Layer):
    """What is done in one step: outputs, new_state = cell(inputs, state)."""

    def __call__(self, inputs, state, scope=None):
        if scope is not None:
            with _v1.variable_scope(scope) as scope:
                return super().__call__(inputs, state, scope=scope)
        return super().__call__(inputs, state)

    def zero_state(self, batch_size, dtype):
        """A state of zeros."""
        return _with_sizes(lambda size: tf.zeros([batch_size] + (tf.TensorShape(size).as_list() if isinstance(size, tf.TensorShape) else [size]), dtype),
                           self.state_size)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """A state of zeros for the inputs."""
        if inputs is not None:
            batch_size, dtype = _batch(inputs), inputs.dtype
        return self.zero_state(batch_size, dtype)


def _with_sizes(function, sizes):
    if hasattr(sizes, "_fields"):
        return type(sizes)(*(_with_sizes(function, s) for s in sizes))
    if isinstance(sizes, (list, tuple)):
        return tuple(_with_sizes(function, s) for s in sizes)
    return function(sizes)


def _batch(tensor):
    known = tensor.shape[0]
    return tf.shape(tensor)[0] if known is None else int(known)


def _activation(activation):
    return None if activation is None else tf.keras.activations.get(activation)


class _Cell(RNNCell):
    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.__dict__.update(_num_units=num_units, _activate=_activation(activation))

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)


class BasicRNNCell(_Cell):
    """output = new_state = activation(inputs W + state U + b)"""

    def build(self, input_shape):
        """One kernel for inputs and state."""
        self.kernel = self._weight("kernel", [self._channels(input_shape) + self._num_units, self._num_units])
        self.bias = self._weight("bias", [self._num_units], tf.keras.initializers.Zeros())

    def call(self, inputs, state):
        """One step."""
        output = _v1.nn._basic_rnn_step(inputs, state, self.kernel, self.bias, self._activate)
        return output, output


class GRUCell(_Cell):
    """A gated recurrent unit."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self.__dict__["_given"] = kernel_initializer, bias_initializer

    def build(self, input_shape):
        """Kernels of the gates and of the candidate."""
        size, units, (kernel, bias) = self._channels(input_shape), self._num_units, self._given
        self.gates_kernel = self._weight("gates/kernel", [size + units, 2 * units], kernel)
        self.gates_bias = self._weight("gates/bias", [2 * units], tf.keras.initializers.Ones() if bias is None else bias)
        self.candidate_kernel = self._weight("candidate/kernel", [size + units, units], kernel)
        self.candidate_bias = self._weight("candidate/bias", [units], tf.keras.initializers.Zeros() if bias is None else bias)

    def call(self, inputs, state):
        """One step."""
        output = _v1.nn._gru_step(inputs, state, self.gates_kernel, self.gates_bias, self.candidate_kernel, self.candidate_bias, self._activate)
        return output, output


class LSTMCell(_Cell):
    """A long short-term memory."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None, num_unit_shards=None,
                 num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        if num_unit_shards is not None or num_proj_shards is not None:
            raise NotImplementedError("tf.compat.v1.nn.rnn_cell.LSTMCell: variables in several parts are not supported")
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self.__dict__.update(_peepholes=use_peepholes, _clip=cell_clip, _first=initializer, _proj=num_proj, _proj_clip=proj_clip,
                             _forget=forget_bias, _tuple=state_is_tuple)

    output_size = property(lambda self: self._proj or self._num_units)

    @property
    def state_size(self):
        """Of c and h."""
        sizes = LSTMStateTuple(self._num_units, self._proj or self._num_units)
        return sizes if self._tuple else sum(sizes)

    def build(self, input_shape):
        """One kernel for inputs and h."""
        units, outputs = self._num_units, self._proj or self._num_units
        self.kernel = self._weight("kernel", [self._channels(input_shape) + outputs, 4 * units], self._first)
        self.bias = self._weight("bias", [4 * units], tf.keras.initializers.Zeros())
        if self._peepholes:
            self.w_f, self.w_i, self.w_o = (self._weight("w_%s_diag" % gate, [units], self._first) for gate in "fio")
        if self._proj:
            self.projection = self._weight("projection/kernel", [units, self._proj], self._first)

    def call(self, inputs, state):
        """One step."""
        c, h = state if self._tuple else tf.split(state, [self._num_units, self._proj or self._num_units], 1)
        more = dict(w_f=self.w_f, w_i=self.w_i, w_o=self.w_o) if self._peepholes else {}
        if self._proj:
            more.update(projection=self.projection, proj_clip=self._proj_clip)
        c, h = _v1.nn._lstm_step(inputs, c, h, self.kernel, self.bias, self._forget, self._activate, self._clip, **more)
        return h, LSTMStateTuple(c, h) if self._tuple else tf.concat([c, h], 1)


class BasicLSTMCell(LSTMCell):
    """A long short-term memory without extras."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation, reuse=reuse, name=name, dtype=dtype,
                         **kwargs)


class MultiRNNCell(RNNCell):
    """Cells on top of each other."""

    def __init__(self, cells, state_is_tuple=True):
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not state_is_tuple:
            raise NotImplementedError("tf.compat.v1.nn.rnn_cell.MultiRNNCell: the state is a tuple")
        super().__init__()
        self.__dict__["_cells"] = list(cells)

    state_size = property(lambda self: tuple(cell.state_size for cell in self._cells))
    output_size = property(lambda self: self._cells[-1].output_size)
    trainable_weights = property(lambda self: [w for cell in self._cells for w in cell.trainable_weights])
    weights = variables = property(lambda self: [w for cell in self._cells for w in cell.weights])

    def call(self, inputs, state):
        """One step of all."""
        states = []
        for i, cell in enumerate(self._cells):
            with _v1.variable_scope("cell_%d" % i):
                inputs, new = cell(inputs, state[i])
                states.append(new)
        return inputs, tuple(states)

    def zero_state(self, batch_size, dtype):
        """The cells' own."""
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)


class _Wrapper(RNNCell):
    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.__dict__["_cell"] = cell

    wrapped_cell = property(lambda self: self._cell)
    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)
    trainable_weights = property(lambda self: self._cell.trainable_weights)
    weights = variables = property(lambda self: self._cell.weights)

    def zero_state(self, batch_size, dtype):
        """The cell's own."""
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        return self.call(inputs, state)


class DropoutWrapper(_Wrapper):
    """Dropout of a cell's inputs, outputs and states."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, variational_recurrent=False, input_size=None, dtype=None,
                 seed=None, dropout_state_filter_visitor=None, **kwargs):
        if variational_recurrent or dropout_state_filter_visitor is not None:
            raise NotImplementedError("tf.compat.v1.nn.rnn_cell.DropoutWrapper: variational_recurrent and dropout_state_filter_visitor are not supported")
        super().__init__(cell, **kwargs)
        self.__dict__.update(_keep=(input_keep_prob, output_keep_prob, state_keep_prob), _seed=seed)

    def _drop(self, value, keep):
        if not _core.is_tensor(keep) and keep >= 1.0:
            return value
        return _v1.nn.dropout(value, keep_prob=keep, seed=self._seed)

    def call(self, inputs, state):
        """One step."""
        output, new = self._cell(self._drop(inputs, self._keep[0]), state)
        if isinstance(new, LSTMStateTuple):
            new = LSTMStateTuple(new.c, self._drop(new.h, self._keep[2]))
        else:
            new = tf.nest.map_structure(lambda s: self._drop(s, self._keep[2]), new)
        return self._drop(output, self._keep[1]), new


class ResidualWrapper(_Wrapper):
    """outputs + inputs"""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self.__dict__["_residual"] = residual_fn

    def call(self, inputs, state):
        """One step."""
        output, new = self._cell(inputs, state)
        return (self._residual(inputs, output) if self._residual else tf.nest.map_structure(lambda a, b: a + b, inputs, output)), new


# ---- over sequences ----

def _kept(running, new, old):
    """New values where a sequence still runs, old ones where it has ended."""
    return tf.nest.map_structure(lambda n, o: tf.where(tf.reshape(running, [-1] + [1] * (n.shape.rank - 1)), n, o), new, old)


def _first_state(cell, batch, initial_state, dtype):
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch, dtype)


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None, swap_memory=False, time_major=False,
                scope=None):
    """Outputs of all steps, and the last state; the steps are done by a loop in the graph."""
    with _v1.variable_scope(scope or "rnn"):
        inputs = tf.convert_to_tensor(inputs)
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0] + list(range(2, inputs.shape.rank)))
        steps = tf.shape(inputs)[0] if inputs.shape[0] is None else int(inputs.shape[0])
        batch = tf.shape(inputs)[1] if inputs.shape[1] is None else int(inputs.shape[1])
        state = _first_state(cell, batch, initial_state, dtype or inputs.dtype if initial_state is None else None)
        lengths = None if sequence_length is None else tf.cast(sequence_length, tf.int32)
        longest = steps if lengths is None else tf.reduce_max(lengths)
        given = tf.TensorArray(inputs.dtype, steps, element_shape=inputs.shape[1:]).unstack(inputs)
        size = cell.output_size
        zeros = tf.zeros([batch, size], inputs.dtype)
        results = tf.TensorArray(inputs.dtype, steps, element_shape=[inputs.shape[1], size])

        def step(time, present, results):
            output, new = cell(tf.ensure_shape(given.read(time), inputs.shape[1:]), present)
            if lengths is not None:
                running = time < lengths
                output, new = _kept(running, output, zeros), _kept(running, new, present)
            return time + 1, new, results.write(time, output)
        steps = tf.convert_to_tensor(steps)
        if lengths is None:
            _, state, results = tf.while_loop(lambda time, *others: time < steps, step, (0, state, results))
        else:
            time, state, results = tf.while_loop(lambda time, *others: time < longest, step, (0, state, results))
            _, results = tf.while_loop(lambda time, *others: time < steps, lambda time, results: (time + 1, results.write(time, zeros)), (time, results))
        outputs = results.stack()
        outputs.set_shape([inputs.shape[0], inputs.shape[1], size])
        return (outputs if time_major else tf.transpose(outputs, [1, 0, 2])), state


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """Outputs of all steps as a list, and the last state; each step is a part of the graph."""
    if not inputs:
        raise ValueError("inputs must not be empty")
    with _v1.variable_scope(scope or "rnn") as own:
        outputs, state = [], _first_state(cell, _batch(inputs[0]), initial_state, dtype)
        lengths = None if sequence_length is None else tf.cast(sequence_length, tf.int32)
        for time, value in enumerate(inputs):
            if time:
                own.reuse_variables()
            output, new = cell(value, state)
            if lengths is not None:
                output, new = _kept(time < lengths, output, tf.zeros_like(output)), _kept(time < lengths, new, state)
            outputs.append(output)
            state = new
        return outputs, state


def _reversed(inputs, lengths, time_major):
    axis = 0 if time_major else 1
    return tf.reverse(inputs, [axis]) if lengths is None else tf.reverse_sequence(inputs, lengths, axis, 1 - axis)


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None, initial_state_bw=None, dtype=None,
                              parallel_iterations=None, swap_memory=False, time_major=False, scope=None):
    """dynamic_rnn forwards and backwards."""
    with _v1.variable_scope(scope or "bidirectional_rnn"):
        with _v1.variable_scope("fw") as own:
            forward, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major=time_major, scope=own)
        with _v1.variable_scope("bw") as own:
            turned = _reversed(tf.convert_to_tensor(inputs), sequence_length, time_major)
            backward, state_bw = dynamic_rnn(cell_bw, turned, sequence_length, initial_state_bw, dtype, time_major=time_major, scope=own)
    return (forward, _reversed(backward, sequence_length, time_major)), (state_fw, state_bw)


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None, sequence_length=None, scope=None):
    """static_rnn forwards and backwards: the outputs side by side, and both last states."""
    if sequence_length is not None:
        raise NotImplementedError("tf.compat.v1.nn.static_bidirectional_rnn: sequence_length is not supported; use bidirectional_dynamic_rnn")
    with _v1.variable_scope(scope or "bidirectional_rnn"):
        with _v1.variable_scope("fw") as own:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, scope=own)
        with _v1.variable_scope("bw") as own:
            backward, state_bw = static_rnn(cell_bw, inputs[::-1], initial_state_bw, dtype, scope=own)
    return [tf.concat(pair, 1) for pair in zip(forward, backward[::-1])], state_fw, state_bw


def install():
    """Puts the names into tf.compat.v1.nn."""
    cells = tf._module("rnn_cell", _v1.nn)
    for value in (RNNCell, BasicRNNCell, GRUCell, LSTMCell, BasicLSTMCell, LSTMStateTuple, MultiRNNCell, DropoutWrapper, ResidualWrapper):
        setattr(cells, value.__name__, value)
    for value in (dynamic_rnn, static_rnn, bidirectional_dynamic_rnn, static_bidirectional_rnn):
        setattr(_v1.nn, value.__name__, value)
