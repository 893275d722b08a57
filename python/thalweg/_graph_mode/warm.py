"""tf.compat.v1.train.init_from_checkpoint: first values of variables that come from a checkpoint."""
import os

import thalweg as tf
from thalweg import _core

_v1 = tf.compat.v1


def _file(path):
    found = tf.train.latest_checkpoint(path) if os.path.isdir(path) else path
    if found is None:
        raise ValueError("Couldn't find 'checkpoint' file or checkpoints in given directory %s" % path)
    return found


def _begin_with(variable, file, name):
    """Lets the variable begin with a tensor of the checkpoint; at once, where there is no graph."""
    value = tf.raw_ops.RestoreV2(prefix=file, tensor_names=[name], shape_and_slices=[""], dtypes=[variable.dtype], name="checkpoint_initializer")[0]
    if _core.executing_eagerly():
        variable.assign(value)
        return
    value.set_shape(variable.shape)
    variable._set_first_value(tf.raw_ops.AssignVariableOp(resource=variable.handle, value=value), value)


def _by_scope(name_in_file, scope, known):
    """Pairs of a variable's name and a tensor's, of a scope that is another one's in the checkpoint."""
    inside = scope[:scope.rindex("/")] if "/" in scope else ""
    if not name_in_file.endswith("/"):
        raise ValueError("Assignment map with scope only name %s should map to scope only %s. Should be 'scope/': 'other_scope/'." % (inside, name_in_file))
    for name in sorted(known):
        if inside and not name.startswith(inside + "/"):
            continue
        rest = name[len(inside):]
        rest = rest if scope == "/" else rest[1:]
        whole = (rest if name_in_file == "/" else name_in_file + rest)
        yield name, whole[:-1] if whole.endswith("/") else whole, name[len(inside) + 1:]


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Lets variables begin with tensors of a checkpoint. The map says which: the tensor's name and the variable, its name or, with "/" at the
    end of both, scopes."""
    file = _file(ckpt_dir_or_file)
    shapes = tf.train.load_checkpoint(file).get_variable_to_shape_map()
    pairs = assignment_map.items() if hasattr(assignment_map, "items") else assignment_map
    known = {} if _core.executing_eagerly() else {v.name[:-2]: v for v in _v1.get_default_graph()._variables("")}
    for tensor, target in sorted(pairs, key=lambda pair: pair[0]):
        variable = target if isinstance(target, tf.Variable) else known.get(target) if isinstance(target, str) else None
        if variable is None and not isinstance(target, str):
            raise NotImplementedError("init_from_checkpoint: expected a variable, its name or a scope for %r, got %r" % (tensor, target))
        if variable is None:
            for name, whole, rest in _by_scope(tensor, target, known):
                if whole not in shapes:
                    raise ValueError("Tensor %s (%s in %s) is not found in %s checkpoint" % (whole, rest, tensor, ckpt_dir_or_file))
                _begin_with(known[name], file, whole)
            continue
        if tensor not in shapes:
            raise ValueError("Tensor %s is not found in %s checkpoint %s" % (tensor, ckpt_dir_or_file, shapes))
        if not variable.shape.is_compatible_with(shapes[tensor]):
            raise ValueError("Shape of variable %s (%s) doesn't match with shape of tensor %s (%s) from checkpoint reader."
                             % (variable.name, variable.shape, tensor, shapes[tensor]))
        _begin_with(variable, file, tensor)


def install():
    """Puts the name into tf.compat.v1.train."""
    _v1.train.init_from_checkpoint = init_from_checkpoint
