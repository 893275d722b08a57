"""Control flow as functions: tf.cond, tf.while_loop and what is made of them. Eagerly Python runs; while a graph is traced the branches
and bodies become functions of If and While nodes, and structures are flattened to lists of tensors here."""
import thalweg
from thalweg import _core, nest

TensorArray = thalweg.TensorArray


def _tensors(leaves):
    """Leaves as tensors; a TensorArray as its list."""
    return [v._to_loop() if isinstance(v, TensorArray) else thalweg.convert_to_tensor(v) for v in leaves]


def _restore(like, tensors):
    """Tensors as leaves like those of `like`: TensorArrays again where they were."""
    return [v._from_loop(t) if isinstance(v, TensorArray) else t for v, t in zip(like, tensors)]


def _check_outputs(function, names, first, second):
    """Raises unless two branches of tf.cond or tf.switch_case give the same: each is (result, leaves, tensors)."""
    details = None
    try:
        nest.assert_same_structure(first[0], second[0])
    except (TypeError, ValueError) as e:
        details = str(e)
    if not details:
        if len(first[1]) != len(second[1]):
            raise ValueError("Lengths of branch outputs of %s must match.\nlen(graphs[0].outputs): %d\nlen(graphs[1].outputs): %d" % (
                function.rpartition(".")[2], len(first[1]), len(second[1])))
        details = next(("%s and %s have different types" % (a, b) for a, b in zip(first[2], second[2]) if a.dtype != b.dtype), None)
    if details:
        raise TypeError("%s and %s arguments to %s must have the same number, type, and overall structure of return values.\n\n%s output: %s\n"
                        "%s output: %s\n\nError details:\n%s" % (names[0], names[1], function, names[0], first[0], names[1], second[0], details))


def _branches(function, names, functions, build):
    """What a node over these functions gives, in their structure; `build` makes it of functions that give lists of tensors."""
    results = []

    def branch(i):
        def run():
            result = functions[i]()
            leaves = [v for v in nest.flatten(result) if v is not None]
            tensors = _tensors(leaves)
            results.append((result, leaves, tensors))
            if i:
                _check_outputs(function, (names[0], names[i]), results[0], results[i])
            return tensors
        return run
    flat = build([branch(i) for i in range(len(functions))])
    like, leaves, _ = results[0]
    made = iter(_restore(leaves, flat))
    return nest._pack(like, [None if v is None else next(made) for v in nest.flatten(like)])


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred is true, else false_fn()."""
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if not _core._tracing():
        return true_fn() if pred else false_fn()
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    return _branches("tf.cond", ("true_fn", "false_fn"), (true_fn, false_fn), lambda flat: _core._cond(pred, flat[0], flat[1], name))


def _spec_of(value):
    return thalweg.TensorSpec(value.shape, value.dtype) if _core.is_tensor(value) else value


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               maximum_iterations=None, name=None):
    """Repeats body while cond is true; both get the loop's variables. Iterations run one after the other and keep what a gradient needs in
    memory, so parallel_iterations and swap_memory change nothing."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    del swap_memory
    single = not isinstance(loop_vars, (list, tuple))
    values = [loop_vars] if single else loop_vars
    run = _graph_loop if _core._tracing() else _eager_loop
    result = run(cond, body, values, shape_invariants, single, maximum_iterations, name)
    if not back_prop and _core._tracing():  # eagerly tapes have seen every iteration, as in TensorFlow
        result = nest.map_structure(lambda v: v if isinstance(v, TensorArray) else thalweg.stop_gradient(v), result)
    return result[0] if single else result


def _listed(result, before):
    """What a body gave, as a list or tuple; one value need not stand in one."""
    return result if isinstance(result, (list, tuple)) and (len(before) != 1 or not nest._is_named(result)) else (result,)


def _eager_loop(cond, body, values, invariants, single, maximum, name):
    del invariants, single, name
    like, count = None, 0
    while (maximum is None or count < int(maximum)) and cond(*values):
        if like is None:
            like = nest.map_structure(_spec_of, list(values))
        values = _listed(body(*values), values)
        nest.assert_same_structure(like, list(values))
        count += 1
    leaves = [v if isinstance(v, TensorArray) else thalweg.convert_to_tensor(v) for v in nest.flatten(values)]
    return nest._pack(values, leaves)


def _graph_loop(cond, body, values, shape_invariants, single, maximum, name):
    arrays = nest.flatten(values)
    if shape_invariants is None:
        invariants = [None] * len(arrays)
    else:
        invariants = []
        shapes = [shape_invariants] if single else shape_invariants
        if isinstance(values, (list, tuple)) and len(shapes) != len(values):
            nest.assert_same_structure(values, shapes, check_types=False)
        _flatten_shapes(shapes, values, invariants)

    def packed(flat):
        return nest._pack(values, _restore(arrays, flat))

    def flat_cond(*flat):
        return [thalweg.convert_to_tensor(cond(*packed(flat)))]

    def flat_body(*flat):
        result = _listed(body(*packed(flat)), values)
        nest.assert_same_structure(list(result), list(values))
        tensors = []
        for i, (v, t) in enumerate(zip(nest.flatten(result), flat)):
            if isinstance(v, TensorArray):
                arrays[i] = v
                tensors.append(v._to_loop())
            else:
                tensors.append(v if _core.is_tensor(v) else thalweg.convert_to_tensor(v, dtype=t.dtype))
        return tensors
    flat = _core._while(flat_cond, flat_body, _tensors(arrays), invariants, maximum, name)
    return packed(flat)


def _flatten_shapes(shapes, like, out):
    if isinstance(like, (list, tuple)):
        for s, v in zip(shapes, like):
            _flatten_shapes(s, v, out)
    elif isinstance(like, dict):
        for k in sorted(like):
            _flatten_shapes(shapes[k], like[k], out)
    else:
        out.append(None if isinstance(like, TensorArray) else _core.as_shape(getattr(shapes, "shape", shapes)))


def _check_pairs(pairs, name, is_key):
    if not isinstance(pairs, (list, tuple, dict)):
        text = "'%s' must be a list, tuple, or dict" % name
        raise TypeError(text if is_key else text + ". Received: %s" % type(pairs))
    if isinstance(pairs, dict):
        return list(pairs.items())
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            shown = pair.numpy() if _core.is_tensor(pair) and not _core.is_symbolic(pair) else pair
            raise TypeError("Each entry in '%s' must be a 2-tuple. Received %s." % (name, shown))
    return list(pairs)


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function whose number is branch_index; of `default` (or the last one) if there is none."""
    if isinstance(branch_fns, (list, tuple, dict)) and not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if isinstance(branch_fns, (list, tuple)) and all(callable(f) for f in branch_fns):
        branch_fns = list(enumerate(branch_fns))
    pairs = _check_pairs(branch_fns, "branch_fns", True)
    for key, function in pairs:
        if not isinstance(key, int):
            raise TypeError("key must be a Python `int`, got %s" % type(key))
        if not callable(function):
            raise TypeError("fn for key %s must be callable." % key)
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(pairs))):
        raise ValueError("branch indices (keys) must form contiguous range of [0 to %d) but found {%s}" % (len(pairs), ",".join(map(str, keys))))
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    if default is not None:
        if not callable(default):
            raise TypeError("default must be callable.")
        functions.append(default)
    if not isinstance(branch_index, _core.Tensor):
        raise TypeError("'branch_index' must be a Tensor, got %s" % type(branch_index))
    index = branch_index
    if not index.dtype.is_integer:
        raise TypeError("'branch_index' must be an integer Tensor, got <dtype: '%s'>" % index.dtype.name)
    if not _core._tracing():
        number = int(index)
        return functions[number if 0 <= number < len(functions) else -1]()
    if index.dtype != thalweg.int32:
        raise TypeError("Input 'branch_index' of 'StatelessCase' Op has type %s that does not match expected type of int32." % index.dtype.name)
    names = ["branches[%d]" % i for i in range(len(functions))]
    return _branches("tf.switch_case", names, functions, lambda flat: _core._switch(index, flat, name + "/indexed_case" if name else None))


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose condition is true."""
    pairs = _check_pairs(pred_fn_pairs, "pred_fn_pairs", False)
    if not pairs:
        raise ValueError("'pred_fn_pairs' must have at least one element")
    checked = []
    for predicate, function in pairs:
        predicate = predicate.deref() if hasattr(predicate, "deref") else thalweg.convert_to_tensor(predicate)
        shown = predicate.name if _core.is_symbolic(predicate) else predicate
        if predicate.dtype != thalweg.bool:
            raise TypeError("pred must be Tensor of type bool: %s" % shown)
        if not callable(function):
            raise TypeError("fn for pred %s must be callable." % shown)
        checked.append((predicate, function))
    if default is not None and not callable(default):
        raise TypeError("'false_fn' must be callable.")
    functions = [function for _, function in checked] + ([] if default is None else [default])
    if not _core._tracing():
        result = _first_true([p for p, _ in checked], functions, exclusive)
        single = not strict and len(functions) > 1 and isinstance(result, (list, tuple)) and len(result) == 1
        return result[0] if single else result
    names = ["true_fn"] + ["false_fn"] * (len(functions) - 1)
    return _branches("tf.cond", names, functions, lambda flat: _core._case([p for p, _ in checked], flat, exclusive, name))


def _first_true(predicates, functions, exclusive):
    """Outside of graphs a function's result is given as it is."""
    given = []

    def run(function):
        given.append(function())
        return []
    _core._case(predicates, [lambda f=f: run(f) for f in functions], exclusive, None)
    return given[0]


# ---- loops over rows ----

def _need_callable(fn):
    if not callable(fn):
        raise TypeError("The provided function fn is not callable.")


def _leaves(elems):
    """The leaves as tensors (numbers stay what they are); a ragged tensor as the numbers of its rows, which _row_of turns into rows."""
    leaves = nest.flatten(elems)
    if not leaves:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. Got %s, which does not contain any Tensors." % (elems,))
    return leaves, [thalweg.range(v.nrows(thalweg.int32)) if isinstance(v, thalweg.RaggedTensor) else v for v in leaves]


def _row_of(elems, leaves, rows):
    return nest._pack(elems, [v[row] if isinstance(v, thalweg.RaggedTensor) else row for v, row in zip(leaves, rows)])


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None,
           fn_output_signature=None):
    """fn of every row of elems, stacked."""
    _need_callable(fn)
    leaves, tensors = _leaves(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    like = elems if signature is None else signature
    kinds = [_result_of(leaf, signature is None) for leaf in (leaves if signature is None else nest.flatten(signature))]

    def body(*rows):
        result = fn(_row_of(elems, leaves, rows))
        nest.assert_same_structure(like, result)
        return [part for kind, v in zip(kinds, nest.flatten(result)) for part in kind.parts(v)]
    made = iter(_core._map(body, tensors, [spec for kind in kinds for spec in kind.specs], infer_shape, False, not back_prop, name))
    return nest._pack(like, [kind.join([next(made) for _ in kind.specs]) for kind in kinds])


def _result_of(leaf, of_input):
    """How a result of map_fn like this is gathered."""
    if isinstance(leaf, (thalweg.RaggedTensor, thalweg.RaggedTensorSpec)):
        from thalweg import _ragged
        return _ragged.Rows(leaf, of_input)
    if of_input and not _core.is_tensor(leaf):
        leaf = thalweg.convert_to_tensor(leaf)
    return _Stacked(getattr(leaf, "dtype", leaf), None if of_input else getattr(leaf, "shape", None))


class _Stacked:
    """Results of one shape."""

    def __init__(self, dtype, shape):
        self.dtype = _core.as_dtype(dtype)
        self.specs = [(self.dtype, shape, False)]

    def parts(self, value):
        return [value if _core.is_tensor(value) else thalweg.convert_to_tensor(value, dtype_hint=self.dtype)]

    def join(self, made):
        return made[0]


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """fn of every row of elems, stacked; what it gives is found out by calling it."""
    _need_callable(fn)
    leaves, tensors = _leaves(elems)
    results = []

    def body(*rows):
        results.append(fn(_row_of(elems, leaves, rows)))
        return nest.flatten(results[-1])
    made = _core._map(body, tensors, None, True, True, False, None)
    return nest._pack(results[0], made)


def _fold(fn, elems, initializer, scans, reverse, back_prop, name, infer_shape=True):
    _need_callable(fn)
    leaves, tensors = _leaves(elems)
    like = elems if initializer is None else initializer
    count = len(nest.flatten(like))

    def body(*values):
        result = fn(nest._pack(like, values[:count]), _row_of(elems, leaves, values[count:]))
        nest.assert_same_structure(like, result)
        return nest.flatten(result)
    initial = None if initializer is None else nest.flatten(initializer)
    return nest._pack(like, _core._fold(body, tensors, initial, scans, reverse, infer_shape, not back_prop, name))


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(fn(fn(initializer, elems[0]), elems[1]), …)."""
    return _fold(fn, elems, initializer, False, False, back_prop, name)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last row on."""
    return _fold(fn, elems, initializer, False, True, back_prop, name)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True, reverse=False, name=None):
    """Like foldl, but gives every step's result, stacked."""
    return _fold(fn, elems, initializer, True, reverse, back_prop, name, infer_shape)
