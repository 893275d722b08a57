"""from_generator: a dataset whose functions call Python generators.

As in TensorFlow it is a flat_map over one element: what init_func gives is the number of a generator that runs, next_func asks it for the next
element, finalize_func forgets it."""
import itertools
import threading

import thalweg as tf
from thalweg import _core
from thalweg._data import structure
from thalweg._data.function import Traced


class _Running:
    """Generators that run, by number."""

    def __init__(self, generator):
        self._generator, self._numbers, self._open, self._lock = generator, itertools.count(), {}, threading.Lock()

    def begin(self, *args):
        import numpy
        number = next(self._numbers)
        with self._lock:
            self._open[number] = iter(self._generator(*args))
        return numpy.int64(number)

    def next(self, number):
        return next(self._open[int(number)])

    def end(self, number):
        import numpy
        with self._lock:
            self._open.pop(int(number), None)
        return numpy.int64(0)


def _signature(output_types, output_shapes, output_signature):
    if output_types is not None and output_signature is not None:
        raise TypeError("The `output_types` argument and the `output_signature` argument are mutually exclusive.")
    if output_signature is not None:
        for spec in structure.flatten(output_signature):
            if not isinstance(spec, tf.TypeSpec):
                raise TypeError("`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found %s which is not." % type(spec))
        return output_signature
    if output_types is None:
        raise TypeError("To specify the output signature you need to provide either the `output_signature` argument or the `output_types` argument.")
    types = structure.transform(tf.as_dtype, output_types)
    if output_shapes is None:
        return structure.transform(lambda dtype: tf.TensorSpec(None, dtype), types)
    shapes = iter(_shape_members(types, output_shapes))
    return structure.transform(lambda dtype: tf.TensorSpec(next(shapes), dtype), types)


def _shape_members(types, shapes):
    if not structure.is_nested(types):
        return [tf.TensorShape(shapes)]
    if isinstance(types, dict):
        return [leaf for key in sorted(types) for leaf in _shape_members(types[key], shapes[key])]
    return [leaf for t, s in zip(types, shapes) for leaf in _shape_members(t, s)]


def _mismatch(values, spec):
    return TypeError("`generator` yielded an element that did not match the expected structure. The expected structure was %s, but the yielded "
                     "element was %s." % (spec, values))


def _normalized(values, signature):
    """The flat tensors of an element that a generator yielded."""
    def walk(value, spec):
        if structure.is_nested(spec):
            if isinstance(value, list) and isinstance(spec, tuple):
                value = tuple(value)
            if not structure.is_nested(value) or len(value) != len(spec) or isinstance(value, dict) != isinstance(spec, dict):
                raise _mismatch(values, signature)
            if isinstance(spec, dict):
                if set(spec) != set(value):
                    raise _mismatch(values, signature)
                return [t for key in sorted(spec) for t in walk(value[key], spec[key])]
            return [t for v, s in zip(value, spec) for t in walk(v, s)]
        if not isinstance(spec, tf.TensorSpec):
            return structure.tensors_of(value, spec)
        try:
            tensor = tf.convert_to_tensor(value, dtype=spec.dtype)
        except (TypeError, ValueError):
            raise _mismatch(values, signature) from None
        if not spec.shape.is_compatible_with(tensor.shape):
            raise TypeError("`generator` yielded an element of shape %s where an element of shape %s was expected." % (tensor.shape, spec.shape))
        return [tensor]
    return walk(values, signature)


def from_generator(generator, output_types, output_shapes, args, output_signature):
    """See tf.data.Dataset.from_generator."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    signature = _signature(output_types, output_shapes, output_signature)
    flat = structure.flat_specs(signature)
    args = tuple(tf.convert_to_tensor(a) for a in args) if args is not None else ()
    running = _Running(generator)
    from thalweg._data.dataset import finish, rows

    def begin():
        number = tf.numpy_function(running.begin, args, tf.int64)
        number.set_shape([])
        return number

    def step(number):
        def get(number):
            return _normalized(running.next(number), signature)
        tensors = tf.py_function(get, [number], [d for d, _ in flat])
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        for tensor, (_, shape) in zip(tensors, flat):
            tensor.set_shape(shape)
        return structure.pack(signature, tensors)

    def end(number):
        done = tf.numpy_function(running.end, [number], tf.int64)
        done.set_shape([])
        return done
    for function in (begin, step, end):
        function.autograph_do_not_convert = True

    def elements(_):
        number = tf.TensorSpec([], tf.int64)
        first, following, last = Traced(begin, "from_generator"), Traced(step, "from_generator", number), Traced(end, "from_generator", number)
        made = rows._GeneratorDataset(first.graph_function, following.graph_function, last.graph_function)
        return finish(made, signature)
    elements.autograph_do_not_convert = True
    return tf.data.Dataset.from_tensors(0).flat_map(elements)


__all__ = ["from_generator"]
del _core
