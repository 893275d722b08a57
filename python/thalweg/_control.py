"""Control flow as functions: tf.cond, tf.while_loop and what is made of them. Eagerly Python runs; while a graph is traced the branches
and bodies become functions of If and While nodes, and structures are flattened to lists of tensors here."""
import thalweg
from thalweg import _core
from thalweg._tensor_array import TensorArray


def _is_named_tuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _flatten(value, out):
    """Appends the leaves in order."""
    if isinstance(value, (list, tuple)):
        for v in value:
            _flatten(v, out)
    elif isinstance(value, dict):
        for k in sorted(value):
            _flatten(value[k], out)
    else:
        out.append(value)
    return out


def _pack(like, leaves):
    """The structure of `like` with the leaves of an iterator."""
    if _is_named_tuple(like):
        return type(like)(*[_pack(v, leaves) for v in like])
    if isinstance(like, (list, tuple)):
        return type(like)([_pack(v, leaves) for v in like])
    if isinstance(like, dict):
        packed = {k: _pack(like[k], leaves) for k in sorted(like)}
        return type(like)((k, packed[k]) for k in like)
    return next(leaves)


def _same(a, b):
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        return isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) or isinstance(b, dict):
        return isinstance(a, dict) and isinstance(b, dict) and set(a) == set(b) and all(_same(a[k], b[k]) for k in a)
    return True


def _tensors(leaves):
    """Leaves as tensors; a TensorArray as its list."""
    return [v._flow() if isinstance(v, TensorArray) else thalweg.convert_to_tensor(v) for v in leaves]


def _restore(like, tensors):
    """Tensors as leaves like those of `like`: TensorArrays again where they were."""
    return [v._with(t) if isinstance(v, TensorArray) else t for v, t in zip(like, tensors)]


def _traced_leaf(value):
    return _core.is_symbolic(value) if not isinstance(value, TensorArray) else value._symbolic()


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred is true, else false_fn()."""
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if not _core._tracing():
        return true_fn() if pred else false_fn()
    if isinstance(pred, bool):
        raise TypeError("'pred' must not be a Python bool.")
    results = []

    def branch(function):
        def run():
            result = function()
            leaves = [v for v in _flatten(result, []) if v is not None]
            results.append((result, leaves))
            if len(results) == 2 and (not _same(results[0][0], result) or len(results[0][1]) != len(leaves)):
                raise TypeError("true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values.\n\n"
                                "true_fn output:  %s\nfalse_fn output: %s" % (results[0][0], result))
            return _tensors(leaves)
        return run
    flat = _core._cond(pred, branch(true_fn), branch(false_fn))
    like, leaves = results[0]
    made = iter(_restore(leaves, flat))
    return _pack(like, iter([None if v is None else next(made) for v in _flatten(like, [])]))


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               maximum_iterations=None, name=None):
    """Repeats body while cond is true; both get the loop's variables."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if isinstance(loop_vars, (list, tuple)) and not loop_vars:
        raise ValueError("'loop_vars' must be non-empty.")
    single = not isinstance(loop_vars, (list, tuple))

    def step(values):
        result = body(*values)
        if not isinstance(result, (list, tuple)) or _is_named_tuple(result):
            result = (result,)
        if not _same(list(values), list(result)):
            raise ValueError("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: %s" % (values, result))
        return result
    values = [loop_vars] if single else loop_vars
    if not _core._tracing():
        count = 0
        while (maximum_iterations is None or count < int(maximum_iterations)) and cond(*values):
            values = step(values)
            count += 1
        leaves = [v if isinstance(v, TensorArray) else thalweg.convert_to_tensor(v) for v in _flatten(values, [])]
        packed = _pack(values, iter(leaves))
        return packed[0] if single else packed
    leaves = _flatten(values, [])
    if shape_invariants is None:
        invariants = [None] * len(leaves)
    else:
        invariants = []
        _flatten_shapes([shape_invariants] if single else shape_invariants, values, invariants)
    arrays = list(leaves)

    def packed(flat):
        return _pack(values, iter(_restore(arrays, flat)))

    def flat_cond(*flat):
        return [thalweg.convert_to_tensor(cond(*packed(flat)))]

    def flat_body(*flat):
        out = _flatten(step(packed(flat)), [])
        for i, v in enumerate(out):
            if isinstance(v, TensorArray):
                arrays[i] = v
        return [thalweg.convert_to_tensor(v, dtype=t.dtype) if not isinstance(v, TensorArray) and not _core.is_tensor(v) else u
                for v, t, u in zip(out, flat, [None if not isinstance(v, TensorArray) and not _core.is_tensor(v) else _tensors([v])[0] for v in out])]
    flat = _core._while(flat_cond, flat_body, _tensors(leaves), invariants, maximum_iterations)
    result = packed(flat)
    return result[0] if single else result


def _flatten_shapes(shapes, like, out):
    if isinstance(like, (list, tuple)):
        for s, v in zip(shapes, like):
            _flatten_shapes(s, v, out)
    elif isinstance(like, dict):
        for k in sorted(like):
            _flatten_shapes(shapes[k], like[k], out)
    else:
        out.append(None if isinstance(like, TensorArray) else _core.as_shape(getattr(shapes, "shape", shapes)))


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function whose number is branch_index; of `default` (or the last one) if there is none."""
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if not pairs:
        raise ValueError("Argument `branch_fns` must be a non-empty list")
    if not isinstance(pairs[0], (list, tuple)):
        pairs = list(enumerate(pairs))
    pairs.sort(key=lambda pair: pair[0])
    default = default or pairs[-1][1]
    if not _core._tracing():
        return dict(pairs).get(int(branch_index), default)()

    def choose(rest):
        if not rest:
            return default()
        return cond(thalweg.equal(branch_index, rest[0][0]), rest[0][1], lambda: choose(rest[1:]))
    return choose(pairs)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose condition is true."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    pairs = [(p.deref() if hasattr(p, "deref") else p, f) for p, f in pairs]
    if not pairs:
        raise ValueError("'pred_fn_pairs' must have at least one element")
    if exclusive and not _core._tracing() and sum(bool(p) for p, _ in pairs) > 1:
        raise thalweg.errors.InvalidArgumentError(None, None, "More than one condition evaluated as True but exclusive=True.")
    if exclusive and _core._tracing():
        raise NotImplementedError("tf.case with exclusive=True while a graph is traced")

    def choose(rest):
        if not rest:
            return default()
        if len(rest) == 1 and default is None:
            return rest[0][1]() if _core._tracing() or bool(rest[0][0]) else _none_true()
        return cond(rest[0][0], rest[0][1], lambda: choose(rest[1:]))
    return choose(pairs)


def _none_true():
    raise thalweg.errors.InvalidArgumentError(None, None, "None of the conditions evaluated as True.")


def _rows(elems):
    leaves = [thalweg.convert_to_tensor(v) for v in _flatten(elems, [])]
    if not leaves:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors, got no tensors")
    if leaves[0].shape.rank == 0:
        raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
    known = leaves[0].shape[0]
    return leaves, known if known is not None else thalweg.shape(leaves[0])[0]


def _array(dtype, count):
    return TensorArray(dtype, size=count, dynamic_size=False, infer_shape=True)


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None,
           fn_output_signature=None):
    """fn of every row of elems, stacked."""
    if not callable(fn):
        raise TypeError("The provided function fn is not callable.")
    leaves, count = _rows(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    like = elems if signature is None else signature
    dtypes = [getattr(v, "dtype", v) for v in _flatten(signature, [])] if signature is not None else [v.dtype for v in leaves]

    def body(i, arrays):
        result = fn(_pack(elems, iter([thalweg.gather(v, i) for v in leaves])))
        if not _same(like, result):
            raise ValueError("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: %s" % (like, result))
        return i + 1, [a.write(i, v) for a, v in zip(arrays, _flatten(result, []))]
    _, arrays = while_loop(lambda i, arrays: i < count, body, (thalweg.constant(0), [_array(d, count) for d in dtypes]))
    return _pack(like, iter([a.stack() for a in arrays]))


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """fn of every row of elems, stacked; the results' dtypes are found by the first row."""
    leaves, count = _rows(elems)
    if not _core._tracing():
        rows = [fn(_pack(elems, iter([thalweg.gather(v, i) for v in leaves]))) for i in range(int(count))]
        flat = [_flatten(r, []) for r in rows]
        return _pack(rows[0], iter([thalweg.stack(list(column)) for column in zip(*flat)]))
    first = fn(_pack(elems, iter([thalweg.gather(v, 0) for v in leaves])))
    signature = _pack(first, iter([thalweg.convert_to_tensor(v).dtype for v in _flatten(first, [])]))
    return map_fn(fn, elems, fn_output_signature=signature)


def _fold(fn, elems, initializer, reverse, stack):
    leaves, count = _rows(elems)

    def row(i):
        return _pack(elems, iter([thalweg.gather(v, i) for v in leaves]))
    last = count - 1
    begin = 0 if initializer is not None else 1
    state = initializer if initializer is not None else row(last if reverse else 0)
    state = _pack(state, iter([thalweg.convert_to_tensor(v) for v in _flatten(state, [])]))
    arrays = [_array(v.dtype, count) for v in _flatten(state, [])] if stack else []
    if stack and begin:
        arrays = [a.write(last if reverse else 0, v) for a, v in zip(arrays, _flatten(state, []))]

    def body(i, a, written):
        at = last - i if reverse else i
        a = fn(a, row(at))
        return i + 1, a, [w.write(at, v) for w, v in zip(written, _flatten(a, []))]
    _, state, arrays = while_loop(lambda i, a, written: i < count, body, (thalweg.constant(begin), state, arrays))
    return _pack(state, iter([w.stack() for w in arrays])) if stack else state


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(fn(fn(initializer, elems[0]), elems[1]), …)."""
    return _fold(fn, elems, initializer, False, False)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last row on."""
    return _fold(fn, elems, initializer, True, False)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True, reverse=False, name=None):
    """Like foldl, but gives every step's result, stacked."""
    return _fold(fn, elems, initializer, reverse, True)
