"""if, while and for at run time: ag__.if_stmt, ag__.while_stmt, ag__.for_stmt, and the conditional expression ag__.if_exp.

With plain values, and with tensors in eager execution, these do what Python does. In a graph the blocks are run once each
inside tf.cond and tf.while_loop; between, the variables of the statement are set by set_state and read by get_state."""
import thalweg as tf
from thalweg import _core
from thalweg.autograph import structure
from thalweg.autograph.structure import flatten, unflatten

_LIMITS = ("See https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md"
           "#consistency-of-control-flow-types for more info.")


def _runtime():
    from thalweg.autograph import runtime
    return runtime


def _in_graph(value):
    return tf.is_tensor(value) and not tf.executing_eagerly()


def _check_condition(condition, where):
    wrong_type = condition.dtype != tf.bool
    rank = condition.shape.rank
    if wrong_type or (rank is not None and rank != 0):
        raise ValueError("condition of %s expected to be `tf.bool` scalar, got %s%s; to check for None, use `is not None`" % (
            where, condition, "; to use as boolean Tensor, use `tf.cast`" if wrong_type else ""))


# ---- if ----

def _check_branch(values, names, branch):
    runtime = _runtime()
    for name, value in zip(names, values):
        if isinstance(value, runtime.UndefinedReturnValue):
            raise ValueError("the %s branch must also have a return statement." % branch)
        if isinstance(value, runtime.Undefined):
            raise ValueError("'%s' must also be initialized in the %s branch" % (name, branch))
        if structure.has_none(value):
            raise ValueError("'%s' is None at the end of the %s branch." % (name, branch))


def _check_branches(names, main, other):
    """Raises if the two branches leave values of different kinds; each is (values, structures, tensors)."""
    i = 0
    for name, a, b, shape_a, shape_b in zip(names, main[0], other[0], main[1], other[1]):
        text = structure.difference(a, b)
        if text:
            raise TypeError("'%s' must have the same nested structure in the main and else branches:\n\n%s" % (name, text))
        for _ in range(_count(shape_a)):
            if main[2][i].dtype != other[2][i].dtype:
                raise TypeError("'%s' has dtype %s in the main branch, but dtype %s in the else branch" % (
                    name, main[2][i].dtype.name, other[2][i].dtype.name))
            i += 1
        _check_constants(name, shape_a, shape_b)


def _count(shape):
    if isinstance(shape, structure.Leaf):
        return 1
    if isinstance(shape, structure.Constant):
        return 0
    return sum(_count(s) for s in (shape.values() if isinstance(shape, dict) else shape))


def _check_constants(name, a, b):
    if isinstance(a, structure.Constant) or isinstance(b, structure.Constant):
        if not (isinstance(a, structure.Constant) and isinstance(b, structure.Constant) and a.value is b.value):
            kind = type(a.value if isinstance(a, structure.Constant) else b.value).__name__
            raise TypeError("To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None "
                            "values; in the branches that set '%s', found a value of type %s, which is not a Tensor or ExtensionType." % (
                                name, kind))
    elif isinstance(a, dict):
        for key in a:
            _check_constants(name, a[key], b[key])
    elif isinstance(a, (list, tuple)):
        for x, y in zip(a, b):
            _check_constants(name, x, y)


def _branches(condition, names, run_main, run_else):
    """tf.cond over two functions that give lists of values of any structure; the values of the one that is taken."""
    done = {}

    def traced(branch, run):
        def function():
            values = run()
            _check_branch(values, names, branch)
            tensors = []
            shapes = [flatten(v, tensors) for v in values]
            done[branch] = (values, shapes, tensors)
            if len(done) == 2:
                _check_branches(names, done["main"], done["else"])
            return tensors or [tf.constant(0)]
        return function
    results = tf.cond(condition, traced("main", run_main), traced("else", run_else))
    found = iter(results if isinstance(results, (list, tuple)) else [results])
    return [unflatten(shape, found) for shape in done["main"][1]]


def if_stmt(cond, body, orelse, get_state, set_state, symbol_names, nouts):
    """if cond: body() else: orelse()."""
    if not tf.is_tensor(cond):
        return body() if cond else orelse()
    if tf.executing_eagerly():
        taken = bool(cond)
        (body if taken else orelse)()
        return _check_branch(get_state()[:nouts], symbol_names, "main" if taken else "else")
    _check_condition(cond, "if statement")
    before = get_state()

    def run(block):
        def function():
            set_state(before)
            block()
            return get_state()[:nouts]
        return function
    try:
        results = _branches(cond, symbol_names, run(body), run(orelse))
    except BaseException:
        set_state(before)
        raise
    set_state(tuple(results) + tuple(before[nouts:]))
    return None


def if_exp(cond, if_true, if_false, expr_repr):
    """if_true() if cond else if_false()."""
    if not _in_graph(cond):
        return if_true() if cond else if_false()
    _check_condition(cond, "if expression")
    return _branches(cond, (expr_repr,), lambda: [if_true()], lambda: [if_false()])[0]


# ---- loops ----

class _Loop:
    """The variables of a loop in a graph: their values before it, and their structure in it."""

    def __init__(self, get_state, set_state, names, options):
        self.get_state = get_state
        self.set_state = set_state
        self.names = names
        self.options = options
        self.before = tuple(get_state())
        self.relaxed = {}  # variable that has no value before the loop -> the shapes of its tensors

    def prepare(self, body):
        """Gives variables without a value before the loop one of the type they have after an iteration, then flattens all."""
        runtime = _runtime()
        for name, value in zip(self.names, self.before):
            if isinstance(value, runtime.UndefinedReturnValue):
                raise NotImplementedError("a return statement cannot be placed inside this TensorFlow loop; this may happen if a return "
                                          "statement depends on a static Python condition such as a hyperparameter")
        missing = [isinstance(v, runtime.Undefined) or structure.has_none(v) for v in self.before]
        if any(missing):
            self.before = self._guess(body, missing)
        self.tensors = []
        self.shapes = [flatten(v, self.tensors) for v in self.before]
        self.invariants = self._invariants()

    def _guess(self, body, missing):
        runtime = _runtime()
        found = {}

        def once():
            self.set_state(self.before)
            body()
            for name, new, absent in zip(self.names, self.get_state(), missing):
                if not absent:
                    continue
                if isinstance(new, runtime.Undefined):
                    raise ValueError("'%s' must be defined before the loop" % name)
                if structure.has_none(new):
                    raise ValueError("'%s' is not allowed to be None before the loop" % name)
                tensors = []
                shape = flatten(new, tensors)
                found[name] = shape, [(t.shape, t.dtype) for t in tensors]
            return [tf.constant(0)]
        scratch(once)
        self.set_state(self.before)
        values = []
        for name, old, absent in zip(self.names, self.before, missing):
            if not absent:
                values.append(old)
                continue
            shape, specs = found[name]
            zeros = [tf.zeros([d or 0 for d in s.as_list()] if s.rank is not None else [], t) for s, t in specs]
            values.append(unflatten(shape, iter(zeros)))
            self.relaxed[name] = [s for s, _ in specs]
        return tuple(values)

    def _invariants(self):
        given = self.options.get("shape_invariants")
        relaxed = self.relaxed
        shapes, i = [], 0
        for name, value, shape in zip(self.names, self.before, self.shapes):
            wanted = None
            for tensor, invariant in given or ():
                if tensor is value:
                    wanted = invariant
            for k in range(_count(shape)):
                if name in relaxed:
                    shapes.append(relaxed[name][k])
                elif wanted is not None:
                    shapes.append(tf.TensorShape(wanted))
                else:
                    shapes.append(_shape_of(self.tensors[i]))
                i += 1
        return shapes

    def enter(self, tensors):
        """Sets the variables inside the loop."""
        found = iter(tensors)
        self.set_state(tuple(unflatten(shape, found) for shape in self.shapes))

    def leave(self):
        """The variables after an iteration as tensors of the same structure, types and shapes."""
        runtime = _runtime()
        result, i = [], 0
        for name, before, shape, value in zip(self.names, self.before, self.shapes, self.get_state()):
            if isinstance(value, runtime.Undefined):
                raise ValueError("'%s' must be defined before the loop" % name)
            if structure.has_none(value):
                raise ValueError("'%s' is None at the end of the iteration." % name)
            text = structure.difference(before, value)
            if text:
                raise TypeError("'%s' does not have the same nested structure after one iteration.\n\n%s" % (name, text))
            tensors = []
            _check_constants(name, shape, flatten(value, tensors))
            for tensor in tensors:
                self._check(name, i, tensor)
                result.append(tensor)
                i += 1
        return result

    def _check(self, name, i, tensor):
        before = self.tensors[i]
        if before.dtype != tensor.dtype:
            raise TypeError("'%s' has dtype %s before the loop, but dtype %s after one iteration" % (
                name, before.dtype.name, tensor.dtype.name))
        invariant = self.invariants[i]
        if not structure.is_tensor_array(tensor) and not _covers(invariant, tensor.shape):
            raise ValueError("'%s' has shape %s before the loop, but shape %s after one iteration. Use "
                             "tf.autograph.experimental.set_loop_options to set shape invariants." % (
                                 name, before.shape, tensor.shape))

    def run(self, test, body, extra, extra_shapes):
        """tf.while_loop over `extra` tensors and the variables; sets the variables afterwards."""
        count = len(extra)
        shapes = list(extra_shapes) + list(self.invariants)
        dummy = not shapes
        if dummy:
            extra, shapes, count = [tf.constant(0)], [tf.TensorShape([])], 1

        def loop_test(*tensors):
            self.enter(tensors[count:])
            return test(*(() if dummy else tensors[:count]))

        def loop_body(*tensors):
            self.enter(tensors[count:])
            after = [tensors[0]] if dummy else body(*tensors[:count])
            if dummy:
                body()
            return list(after) + self.leave()
        try:
            results = tf.while_loop(loop_test, loop_body, list(extra) + self.tensors, shape_invariants=shapes,
                                    maximum_iterations=self.options.get("maximum_iterations"))
        except BaseException:
            self.set_state(self.before)
            raise
        self.enter((list(results) if isinstance(results, (list, tuple)) else [results])[count:])


def _shape_of(value):
    return tf.TensorShape(None) if structure.is_tensor_array(value) else value.shape


def _covers(invariant, shape):
    if invariant.rank is None:
        return True
    if shape.rank is None or shape.rank != invariant.rank:
        return False
    return all(a is None or a == b for a, b in zip(invariant.as_list(), shape.as_list()))


def while_stmt(test, body, get_state, set_state, symbol_names, opts):
    """while test(): body()."""
    before = tuple(get_state())
    first = _test_once(test)
    if not first:
        set_state(before)
        return _graph_while(test, body, get_state, set_state, symbol_names, opts)
    value = first[0]
    while True:
        if _in_graph(value):
            raise NotImplementedError(
                "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either because variables changed "
                "type, or when a break or return statement inside the loop depends on a Tensor condition. In both cases, changing to a TF "
                "loop should remove the error.\n" + _LIMITS)
        if not value:
            return None
        body()
        value = test()


def _test_once(test):
    """[the first value of a loop's test], or [] if it is a tensor of the graph."""
    if tf.executing_eagerly():
        return [test()]
    found = []

    def once():
        found.append(test())
        return [tf.constant(0)]
    scratch(once)
    if _in_graph(found[0]):
        return []
    return found


def scratch(function):
    """Runs a function in a graph that is thrown away. What it calls stays subject to conversion."""
    function.autograph_do_not_convert = True
    tf.function(function).get_concrete_function()


def _graph_while(test, body, get_state, set_state, names, options):
    loop = _Loop(get_state, set_state, names, options)
    loop.prepare(body)

    def loop_test():
        value = test()
        if tf.is_tensor(value):
            _check_condition(value, "while loop")
        return tf.convert_to_tensor(value)

    def loop_body():
        body()
        return []
    loop.run(loop_test, loop_body, [], [])


def for_stmt(iter_, extra_test, body, get_state, set_state, symbol_names, opts):
    """for item in iter_: body(item), as long as extra_test() holds."""
    if _in_graph(iter_):
        return _graph_for(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
    if not tf.executing_eagerly() and hasattr(iter_, "element_spec"):
        which = _graph_dataset if isinstance(iter_, tf.data.Dataset) else _graph_iterator
        return which(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
    if extra_test is None:
        for item in iter_:
            body(item)
        return None
    if _python_test(extra_test):
        for item in iter_:
            body(item)
            if not _python_test(extra_test):
                break
    return None


def _python_test(extra_test):
    value = extra_test()
    if _in_graph(value):
        raise NotImplementedError("break and return statements which depend on a TF condition are not supported in Python for loops. "
                                  "Did you intend to make it a TF loop?\n" + _LIMITS)
    return value


def _and_extra(test, extra_test):
    if extra_test is None:
        return test
    return tf.logical_and(test, tf.convert_to_tensor(extra_test()))


def _graph_range(values, extra_test, body, get_state, set_state, names, options):
    """A loop over the numbers of a tf.range, which need not all be there at once."""
    start, limit, delta = values.op.inputs
    loop = _Loop(get_state, set_state, names, options)
    loop.prepare(lambda: body(start))
    step = tf.get_static_value(delta)

    def loop_test(i):
        if step is None:
            test = tf.logical_or(tf.logical_and(delta >= 0, i < limit), tf.logical_and(delta < 0, i > limit))
        else:
            test = tf.less(i, limit) if step >= 0 else tf.greater(i, limit)
        return _and_extra(test, extra_test)

    def loop_body(i):
        body(i)
        return [i + delta]
    loop.run(loop_test, loop_body, [start], [tf.TensorShape([])])


def _graph_for(values, extra_test, body, get_state, set_state, names, options):
    values = tf.convert_to_tensor(values)
    if _core.is_symbolic(values) and values.op.type == "Range":
        return _graph_range(values, extra_test, body, get_state, set_state, names, options)
    if values.shape.rank == 0:
        raise ValueError("len requires a non-scalar tensor, got one of shape %s" % (tf.shape(values),))
    if values.shape.rank is not None and values.shape[0] is not None:
        count = tf.constant(values.shape[0])
    else:
        count = tf.shape(values)[0]
    loop = _Loop(get_state, set_state, names, options)
    loop.prepare(lambda: body(values[0]))

    def loop_test(i):
        return _and_extra(tf.less(i, count), extra_test)

    def loop_body(i):
        body(values[i])
        return [i + 1]
    loop.run(loop_test, loop_body, [tf.constant(0)], [tf.TensorShape([])])
    return None


def _flows(tensors):
    """TensorArrays as the lists they are; a constant if there is nothing."""
    return tuple(t._to_loop() if structure.is_tensor_array(t) else t for t in tensors) or (tf.constant(0),)


def _arrays(like, tensors):
    return [t._from_loop(v) if structure.is_tensor_array(t) else v for t, v in zip(like, tensors)]


def _graph_dataset(dataset, extra_test, body, get_state, set_state, names, options):
    """A reduction of the dataset. With a break it is one of the states that a scan gives, taken while the loop goes on."""
    loop = _Loop(get_state, set_state, names, options)
    loop.prepare(lambda: body(next(iter(dataset))))

    def step(state, item):
        loop.enter(_arrays(loop.tensors, state))
        body(item)
        return _flows(loop.leave())

    def go_on(state):
        loop.enter(_arrays(loop.tensors, state))
        return tf.convert_to_tensor(extra_test())

    def scanned(state, item):
        goes = go_on(state)
        after = tf.cond(goes, lambda: step(state, item), lambda: tuple(tf.identity(t) for t in state))
        after = tuple(after) if isinstance(after, (list, tuple)) else (after,)
        return after, (after, goes)
    for function in (step, scanned):
        function.autograph_do_not_convert = True
    first = _flows(loop.tensors)
    try:
        if extra_test is None:
            results = dataset.reduce(first, step)
        else:
            taken = dataset.scan(first, scanned).take_while(_unconverted(lambda state, goes: goes))
            results = taken.reduce(first, _unconverted(lambda state, item: item[0]))
    except BaseException:
        set_state(loop.before)
        raise
    loop.enter(_arrays(loop.tensors, results))


def _unconverted(function):
    function.autograph_do_not_convert = True
    return function


def _graph_iterator(iterator, extra_test, body, get_state, set_state, names, options):
    """A while loop that asks the iterator for its next element, or nothing."""
    loop = _Loop(get_state, set_state, names, options)
    loop.prepare(lambda: body(iterator.get_next()))

    def loop_test(goes):
        return _and_extra(goes, extra_test)

    def loop_body(goes):
        optional = iterator.get_next_as_optional()
        before = _flows(loop.leave())

        def run():
            loop.enter(_arrays(loop.tensors, before))
            body(optional.get_value())
            return _flows(loop.leave())
        goes = optional.has_value()
        after = tf.cond(goes, run, lambda: tuple(tf.identity(t) for t in before))
        loop.enter(_arrays(loop.tensors, after if isinstance(after, (list, tuple)) else (after,)))
        return [goes]
    loop.run(loop_test, loop_body, [tf.constant(True)], [tf.TensorShape([])])
