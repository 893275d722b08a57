"""tf.autograph.experimental: Feature, do_not_convert, set_loop_options."""
import functools

from thalweg.autograph import control
from thalweg.autograph.options import Feature  # noqa: F401

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


def do_not_convert(func=None):
    """Marks a function so that it, and what it calls, runs as Python."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with control.Disabled():
            return func(*args, **kwargs)
    wrapper.autograph_do_not_convert = True
    return wrapper


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Settings of the loop whose body it stands in. Conversion takes the call out of the body; elsewhere it only checks its
    arguments."""
    for name, value in (("parallel_iterations", parallel_iterations), ("maximum_iterations", maximum_iterations)):
        if value is not None and isinstance(value, int) and value < 1:
            raise ValueError("set_loop_options: %s must be positive, got %d" % (name, value))
    if swap_memory is not None and not isinstance(swap_memory, bool):
        raise TypeError("set_loop_options: swap_memory must be a bool, got %r" % (swap_memory,))
    for pair in shape_invariants or ():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("set_loop_options: shape_invariants must be pairs of a tensor and a shape, got %r" % (pair,))


set_loop_options._autograph_directive = True
