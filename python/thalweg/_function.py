"""tf.function: keys, tracing, concrete functions.

The C type _core.Function runs calls that it has seen; everything else comes to the Tracer behind it: it sorts arguments by the Python
signature, keys them (tensors by dtype and shape, numbers and strings by value, other objects by identity), traces the Python function
for a new key, and tells the C side what to do the next time."""
import collections
import functools
import inspect
import os
import threading
import weakref

from thalweg import _core, _log, _structure

_lock = threading.RLock()  # one trace at a time
_LIMIT = 1024              # concrete functions that one function keeps; the least recently used goes
_numbers = iter(range(1, 1 << 62))


def _after_fork():
    global _lock
    _lock = threading.RLock()  # another thread may have held it


os.register_at_fork(after_in_child=_after_fork)


class Creation:
    """What a trace may do about variables; `made` counts them."""

    def __init__(self, allowed):
        self.allowed, self.made = allowed, 0

    def __enter__(self):
        self.outer = _core.variable_creation(True, not self.allowed, 0)
        return self

    def __exit__(self, *exception):
        watched, refused, made = self.outer
        self.made = _core.variable_creation(watched, refused, made)[2]
        if watched and self.made:
            _core.variable_creation(watched, refused, made + self.made)


class Detector:
    """Counts calls and traces of one piece of code, to warn of needless traces."""

    def __init__(self):
        self.calls, self.per_trace, self.warnings = 0, [], 0

    def called(self, count):
        if count:
            if not self.per_trace:
                self.per_trace = [0]
            self.per_trace[-1] += count
            self.calls += count

    def traced(self, name, changed, quiet):
        self.calls += 1
        self.per_trace.append(1)
        while self.per_trace and self.calls - self.per_trace[0] > 10:
            self.calls -= self.per_trace.pop(0)
        if quiet or self.warnings >= 2 or len(self.per_trace) < 5:
            return
        self.warnings += 1
        _log.warning(
            "%d out of the last %d calls to %s triggered tf.function retracing. Tracing is expensive and the excessive number of tracings "
            "could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) passing Python "
            "objects instead of tensors. For (1), please define your @tf.function outside of the loop. For (2), @tf.function has "
            "reduce_retracing=True option that can avoid unnecessary retracing. For (3), please refer to "
            "https://www.tensorflow.org/guide/function#controlling_retracing and https://www.tensorflow.org/api_docs/python/tf/function for "
            " more details.%s", len(self.per_trace), self.calls, name, changed)


_detectors = collections.OrderedDict()


def _detector_of(code):
    detector = _detectors.pop(code, None) or Detector()
    _detectors[code] = detector
    while len(_detectors) > 1000:
        _detectors.popitem(last=False)
    return detector


class ConcreteFunction:
    """One traced graph: callable with tensors of the dtypes and shapes it was traced for."""

    def __init__(self, graph_function, template, output_template, specs, names):
        self._function, self._output_template = graph_function, output_template
        self._template, self._specs, self._names = template, specs, names
        self.pack = _structure.packer(output_template)

    name = property(lambda self: self._function.name.encode())
    graph = property(lambda self: self._function.graph)
    inputs = property(lambda self: self._function.inputs)
    outputs = property(lambda self: self._function.outputs)
    captured_inputs = property(lambda self: self._function.captures)
    structured_outputs = property(lambda self: _structure.pack(self._output_template, self._function.outputs))

    @property
    def variables(self):
        return tuple(self._function.variables)

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    @property
    def structured_input_signature(self):
        args = _structure.pack(self._template, [s._replaced(n) for s, n in zip(self._specs, self._names)])
        positional = tuple(args[p.name] for p in self._parameters if p.kind is not p.KEYWORD_ONLY and p.name in args)
        return positional, {p.name: args[p.name] for p in self._parameters if p.kind is p.KEYWORD_ONLY and p.name in args}

    _parameters = ()

    def _parameter_texts(self):
        args = _structure.pack(self._template, list(self._specs))
        return [(p, _structure.type_text(args[p.name])) for p in self._parameters if p.name in args]

    def _output_text(self):
        return _structure.type_text(_structure.pack(self._output_template, [_structure.spec_of(t) for t in self._function.outputs]))

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """Is not supported: there is no compiler behind functions."""
        raise NotImplementedError("experimental_get_compiler_ir: functions are not compiled, there is no intermediate code to show")

    def pretty_printed_signature(self, verbose=True):
        if not verbose:
            texts, starred = [], any(p.kind is p.VAR_POSITIONAL for p in self._parameters)
            for p, t in self._parameter_texts():
                if p.kind is p.KEYWORD_ONLY and not starred:
                    texts.append("*")
                    starred = True
                texts.append("%s: %s" % (p.name, t))
            return "(%s) -> %s" % (", ".join(texts), self._output_text())
        lines = ["Input Parameters:"]
        lines += ["  %s (%s): %s" % (p.name, p.kind.name, t) for p, t in self._parameter_texts()] or ["  None"]
        lines += ["Output Type:", "  " + self._output_text(), "Captures:"]
        captures = ["  %d: %s" % (i, _structure.spec_of(t)) for i, t in enumerate(self._function.captures)]
        return "\n".join(lines + (captures or ["  None"]))

    def __str__(self):
        return "ConcreteFunction " + self.pretty_printed_signature()

    def __repr__(self):
        return "<ConcreteFunction %s at 0x%X>" % (self.pretty_printed_signature(verbose=False), id(self))

    def __call__(self, *args, **kwargs):
        try:
            tensors = self._tensors(args, kwargs)
        except TypeError as error:
            raise TypeError("Binding inputs to tf.function failed due to `%s`. Received args: %s and kwargs: %s for signature: %s." % (
                error, args, kwargs, self.pretty_printed_signature(verbose=False))) from None
        return self.pack(self._function.call_flat(tensors))

    def plan(self, *args, **kwargs):
        """How a call with these arguments runs, as text: the steps, what they join, where values lie and how many bytes they take. Without
        arguments: what is known of every call."""
        return self._function.plan(self._tensors(args, kwargs) if args or kwargs else None)

    def _tensors(self, args, kwargs):
        parameters = [p for p in self._parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        given = dict(zip((p.name for p in parameters), args))
        if len(args) > len(parameters):
            raise TypeError("too many positional arguments")
        for name, value in kwargs.items():
            if name in given:
                raise TypeError("multiple values for argument %r" % name)
            if name not in [p.name for p in parameters]:
                raise TypeError("got an unexpected keyword argument %r" % name)
            given[name] = value
        out = []
        for p in parameters:
            part = self._template_of(p.name)
            if p.name not in given:
                if _structure.leaf_count(part):
                    raise TypeError("missing a required argument: %r" % p.name)
                continue
            value = given[p.name]
            if part is _structure.LEAF:
                out.append(value)
            else:
                out += [v for v in _structure.flatten(value) if _structure.is_array(v)]
        if len(out) != len(self._specs):
            raise TypeError("expected %d tensors, got %d" % (len(self._specs), len(out)))
        return [_structure.cast(v, s) for v, s in zip(out, self._specs)]

    def _template_of(self, name):
        return self._template[1].get(name)


class Tracer:
    """The Python side of one tf.function."""

    def __init__(self, python_function, name=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
                 options=None):
        self.python_function = python_function
        self._name = name or getattr(python_function, "__name__", type(python_function).__name__)
        self._autograph, self._jit_compile, self._reduce = autograph, jit_compile, reduce_retracing
        self._options = options or {}
        self._cache = collections.OrderedDict()
        self._relaxed = []          # keys with unknown dimensions
        self._traces = 0
        self._created = False       # variables, at the first call
        self._first_done = False
        self._bound_functions = {}  # id of an instance -> (weak reference, Function)
        self._converted = None
        self._last_key = None
        self.__name__ = self._name
        self.__doc__ = getattr(python_function, "__doc__", None)
        self.__wrapped__ = python_function
        self.__module__ = getattr(python_function, "__module__", None)
        self.__qualname__ = getattr(python_function, "__qualname__", self._name)
        try:
            self._signature = inspect.signature(python_function)
        except (TypeError, ValueError):
            self._signature = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
                                                 inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])
        self._parameters = list(self._signature.parameters.values())
        self.input_signature = self._check_signature(input_signature)

    function_spec = property(lambda self: self)
    _function_spec = function_spec

    @property
    def __signature__(self):
        return self._signature

    def _check_signature(self, given):
        if given is None:
            return None
        if not isinstance(given, (tuple, list)):
            raise TypeError("input_signature must be either a tuple or a list, got %s." % type(given))
        named = [p for p in self._parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        rest = [p for p in self._parameters if p.kind is p.VAR_POSITIONAL]
        if len(given) > len(named) and not rest:
            raise ValueError("The signature doesn't match the arguments: %s takes %d positional arguments, input_signature has %d."
                             % (self._name, len(named), len(given)))
        for p in named[len(given):]:
            if p.default is p.empty:
                raise TypeError("Function has %d parameters and input_signature %d elements: %s has no default." % (
                    len(named), len(given), p.name))
        return tuple(given)

    # ---- arguments ----

    def _signature_text(self):
        parts = []
        for i, p in enumerate(self._parameters):
            spec = self.input_signature[i] if i < len(self.input_signature) else None
            parts.append("%s: %s" % (p.name, _structure.type_text(spec)) if spec is not None else str(p))
        return "(%s)" % ", ".join(parts)

    def _bind(self, args, kwargs):
        """The arguments by name, in the order of the signature, defaults filled in."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            text = self._signature_text() if self.input_signature is not None else str(self._signature)
            raise TypeError("Binding inputs to tf.function failed due to `%s`. Received args: %s and kwargs: %s for signature: %s." % (
                error, args, kwargs, text)) from None
        bound.apply_defaults()
        return bound.arguments

    def _apply_signature(self, arguments, args, kwargs):
        out = dict(arguments)
        specs = list(self.input_signature)
        try:
            for p in self._parameters:
                if not specs:
                    break
                if p.kind is p.VAR_POSITIONAL:
                    out[p.name] = tuple(_structure.cast_structure(v, s) for v, s in zip(out[p.name], specs))
                    break
                out[p.name] = _structure.cast_structure(out[p.name], specs.pop(0))
        except (TypeError, ValueError) as error:
            raise TypeError("Binding inputs to tf.function failed due to `%s`. Received args: %s and kwargs: %s for signature: %s." % (
                error, args, kwargs, self._signature_text())) from None
        return out

    def _key(self, arguments):
        walk = _structure.Walk()
        walk.template = walk.arguments(arguments)
        walk.key = tuple(walk.key)
        return walk

    # ---- calls ----

    def call(self, function, args, kwargs):
        if _core.functions_run_eagerly():
            return self.python_function(*args, **kwargs)
        arguments = self._bind(args, kwargs)
        if self.input_signature is not None:
            arguments = self._apply_signature(arguments, args, kwargs)
        walk = self._key(arguments)
        key, tensors = walk.key, walk.tensors
        with _lock:
            detector = _detector_of(getattr(self.python_function, "__code__", self))
            detector.called(function._take_calls())
            concrete, cached = self._find(key), True
            if concrete is None:
                before = self._traces
                concrete, cached = self._first_or_new(walk)
                if self._traces > before:
                    detector.traced(repr(self.python_function), self._what_changed(key), self._options.get("quiet", False))
            else:
                detector.called(1)
            self._last_key = key
            if cached:
                self._remember(function, args, kwargs, tensors, concrete)
        return concrete.pack(concrete._function.call_flat(tensors))

    def _what_changed(self, key):
        """Which argument is not what it was at the call before."""
        last = self._last_key
        if last is None:
            return ""
        new, old = _structure.by_argument(key), _structure.by_argument(last)
        names = [name for name in new if new[name] != old.get(name)]
        return " The argument that changed since the last call: %s." % ", ".join(map(repr, names)) if names else ""

    def _remember(self, function, args, kwargs, tensors, concrete):
        values = list(args) + list(kwargs.values())
        leaves = [(i, v) for i, v in enumerate(values) if _structure.is_array(v)]
        if len(leaves) != len(tensors):
            return
        if kwargs or self.input_signature is not None:
            if any(not _core.is_tensor(v) for _, v in leaves):
                return
        order = []
        for tensor in tensors:
            found = [i for i, v in leaves if v is tensor]
            if not found:
                if kwargs:
                    return
                found = [leaves[len(order)][0]]
            order.append(found[0])
        if self.input_signature is not None and any(values[i].dtype != t.dtype for i, t in zip(order, tensors)):
            return
        pack = None if concrete._output_template is _structure.LEAF else True if concrete._output_template is None else concrete.pack
        function._remember(args, kwargs, order, concrete._function, pack)

    def _find(self, key):
        concrete = self._cache.get(key)
        if concrete is not None:
            self._cache.move_to_end(key)
            return concrete
        for relaxed in self._relaxed:
            if _structure.key_fits(relaxed, key) and relaxed in self._cache:
                return self._cache[relaxed]
        return None

    def _first_or_new(self, walk):
        key, template, specs, names = walk.key, walk.template, walk.specs, walk.names
        if self._reduce:
            for other in self._cache:
                key = _structure.key_relax(key, other) or key
            specs = _structure.relaxed_specs(key, specs)
        if not self._first_done:
            # The first call may make variables; what it traced is used only if it made none.
            with Creation(True) as creation:
                concrete, symbolic = self._trace(template, specs, names)
            self._first_done = True
            self._created = creation.made > 0
            if not self._created:
                return self._keep(key, concrete, symbolic)
        with Creation(False):
            concrete, symbolic = self._trace(template, specs, names)
        return self._keep(key, concrete, symbolic)

    def _keep(self, key, concrete, symbolic):
        if symbolic:  # it uses tensors of a graph around it: good for this one call
            return concrete, False
        self._cache[key] = concrete
        if _structure.key_is_partial(key):
            self._relaxed.append(key)
        while len(self._cache) > _LIMIT:
            old, _ = self._cache.popitem(last=False)
            if old in self._relaxed:
                self._relaxed.remove(old)
        return concrete, True

    def _callable(self):
        """The function that is traced: converted by AutoGraph if that is wanted."""
        if self._converted is None:
            self._converted = self.python_function
            if self._autograph:
                try:
                    from thalweg import autograph
                    convert = autograph.convert
                except (ImportError, AttributeError):
                    convert = None
                if convert is not None and isinstance(self.python_function, _WeakMethod):
                    self._converted = self.python_function.converted(convert)
                elif convert is not None:
                    self._converted = convert(self.python_function)
        return self._converted

    def _trace(self, template, specs, names):
        self._traces += 1
        run = self._callable()
        outputs = []

        def body(tensors):
            arguments = _structure.pack(template, tensors)
            args, kwargs = [], {}
            for p in self._parameters:
                if p.name not in arguments:
                    continue
                value = arguments[p.name]
                if p.kind is p.VAR_POSITIONAL:
                    args += value
                elif p.kind is p.VAR_KEYWORD:
                    kwargs.update(value)
                elif p.kind is p.KEYWORD_ONLY:
                    kwargs[p.name] = value
                else:
                    args.append(value)
            result = run(*args, **kwargs)
            walk = _structure.Outputs(self.python_function)
            outputs.append(walk.value(result))
            return walk.tensors

        name = "__inference_%s_%d" % (self._name, next(_numbers))
        from thalweg.autograph import control  # layers that are called inside are converted, too, unless this function is not
        with control.Disabled() if not self._autograph else control.Enabled():
            graph_function = _core.trace(name, list(names), [s.dtype for s in specs], [s.shape for s in specs], body)
        concrete = ConcreteFunction(graph_function, template, outputs[0], specs, names)
        concrete._parameters = self._parameters
        return concrete, any(map(_core.is_symbolic, graph_function.captures))

    # ---- what users call ----

    def get_concrete_function(self, *args, **kwargs):
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        arguments = self._bind(args, kwargs)
        if self.input_signature is not None:
            arguments = self._apply_signature(arguments, args, kwargs)
        walk = self._key(arguments)
        with _lock:
            concrete = self._find(walk.key)
            if concrete is None:
                concrete, _ = self._first_or_new(walk)
        return concrete

    def plan(self, *args, **kwargs):
        """How a call with these arguments runs, as text; see ConcreteFunction.plan. It is traced if no such call was."""
        concrete = self.get_concrete_function(*args, **kwargs)
        given = [a for a in [*args, *kwargs.values()] if _structure.is_array(a)]
        return concrete.plan(*args, **kwargs) if len(given) == len(args) + len(kwargs) else concrete.plan()

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """Is not supported: there is no compiler behind functions."""
        raise NotImplementedError("experimental_get_compiler_ir: functions are not compiled, there is no intermediate code to show")

    def experimental_get_tracing_count(self):
        return self._traces - (1 if self._created else 0)

    def pretty_printed_concrete_signatures(self, verbose=True):
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._cache.values())

    pretty_printed_signature = pretty_printed_concrete_signatures

    def _list_all_concrete_functions(self):
        return list(self._cache.values())

    def bind(self, instance, owner):
        """The function of one instance; it has a cache of its own and does not keep the instance alive."""
        key = id(instance)
        found = self._bound_functions.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        python_function = self.python_function
        try:
            reference = weakref.ref(instance, lambda _, d=weakref.ref(self): d() is not None and d()._bound_functions.pop(key, None))
        except TypeError:
            reference = functools.partial(lambda value: value, instance)

        tracer = Tracer(python_function.__get__(instance, owner), self._name, self.input_signature, self._autograph, self._jit_compile,
                        self._reduce, self._options)
        tracer.python_function = tracer.__wrapped__ = _WeakMethod(python_function, reference, owner)
        made = _core.Function(tracer)
        self._bound_functions[key] = (reference, made)
        return made

    def _decorate(self, decorator):
        self.python_function = decorator(self.python_function)


class _WeakMethod:
    """A method that does not keep its instance alive."""

    def __init__(self, function, reference, owner):
        self.__func__, self._reference, self._owner = function, reference, owner
        self.__name__, self.__doc__ = getattr(function, "__name__", "method"), getattr(function, "__doc__", None)
        self.__code__ = getattr(function, "__code__", self)
        self.__wrapped__ = function

    __self__ = property(lambda self: self._reference())

    def converted(self, convert):
        return _WeakMethod(convert(self.__func__), self._reference, self._owner)

    def __call__(self, *args, **kwargs):
        get = getattr(self.__func__, "__get__", None)
        if get is None:
            return self.__func__(self._reference(), *args, **kwargs)
        return get(self._reference(), self._owner)(*args, **kwargs)

    def __repr__(self):
        return repr(self.__func__)


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False, experimental_implements=None,
             experimental_autograph_options=None, experimental_attributes=None, experimental_relax_shapes=None, experimental_compile=None,
             experimental_follow_type_hints=None):
    """Traces a Python function into graphs: one per kind of arguments, run at every later call of that kind."""
    if experimental_follow_type_hints:
        raise NotImplementedError("tf.function: experimental_follow_type_hints is not supported")
    if experimental_relax_shapes is not None:
        reduce_retracing = experimental_relax_shapes
    for name, value in (("experimental_implements", experimental_implements), ("experimental_attributes", experimental_attributes),
                        ("experimental_autograph_options", experimental_autograph_options)):
        if value is not None:
            raise NotImplementedError("tf.function: the argument `%s` is not supported yet" % name)
    if jit_compile is None:
        jit_compile = experimental_compile

    def decorate(inner):
        if isinstance(inner, _core.Function):
            inner = inner.python_function
        if not callable(inner):
            raise TypeError("%r is not a callable object" % (inner,))
        return _core.Function(Tracer(inner, None, input_signature, autograph, jit_compile, reduce_retracing))

    return decorate if func is None else decorate(func)
