"""tf.function: what of it must be Python. Binding arguments, keys, the cache of traces and its rules are C (python/extension/function_call.c,
src/function/tracer.c); here bodies are run to be traced, and signatures are written."""
import functools
import inspect
import weakref

from thalweg import _core, _structure

_numbers = iter(range(1, 1 << 62))


class Tracing:
    """Around a trace that is no tf.function's: one at a time, and it makes no variables."""

    def __enter__(self):
        _core.begin_tracing()
        self._outer = _core.variable_creation(True, True, 0)

    def __exit__(self, *exception):
        _core.variable_creation(*self._outer)
        _core.end_tracing()


class ConcreteFunction(_core.GraphFunction):
    """One traced graph: callable with tensors of the dtypes and shapes it was traced for."""

    _parameters, _signature, _names, _inputs = (), (), (), ()

    # What the graph function calls `name` is text here.
    name = property(lambda self: _core.GraphFunction.name.__get__(self).encode())
    captured_inputs = property(lambda self: self.captures)
    structured_outputs = property(lambda self: _core._pack(self._results, self.outputs))
    output_dtypes = property(lambda self: _core._pack(self._results, [t.dtype for t in self.outputs]))
    output_shapes = property(lambda self: _core._pack(self._results, [t.shape for t in self.outputs]))

    def add_to_graph(self, g=None, overwrite=False):
        """Graphs find the functions that they call: there is nothing to add."""
        del g, overwrite

    add_gradient_functions_to_graph = add_to_graph

    @property
    def graph(self):
        """What was traced."""
        made = self.__dict__.get("_graph")
        if made is None:
            from thalweg import _func_graph
            made = self.__dict__["_graph"] = _func_graph.FuncGraph(self)
        return made

    @property
    def variables(self):
        return tuple(_core.GraphFunction.variables.__get__(self))

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    def _bound(self, values):
        """Values of the parameters as they are passed: (name, kind, value), *args and **kwargs one by one."""
        rows, rest = [], any(p.kind is p.VAR_POSITIONAL for p in self._parameters)
        for p, value in zip(self._parameters, values):
            if p.kind is p.VAR_POSITIONAL:
                rows += [("%s_%d" % (p.name, i), p.POSITIONAL_ONLY, v) for i, v in enumerate(value)]
            elif p.kind is p.VAR_KEYWORD:
                rows += [(name, p.KEYWORD_ONLY, v) for name, v in value.items()]
            else:
                rows.append((p.name, p.POSITIONAL_ONLY if rest and p.kind is p.POSITIONAL_OR_KEYWORD else p.kind, value))
        return rows

    @property
    def structured_input_signature(self):
        import thalweg
        specs = [thalweg.TensorSpec.from_spec(i, n) if isinstance(i, thalweg.TensorSpec) else i for i, n in zip(self._inputs, self._names)]
        rows = self._bound(_core._pack(self._signature, specs))
        return (tuple(v for _, kind, v in rows if kind is not kind.KEYWORD_ONLY), {n: v for n, kind, v in rows if kind is kind.KEYWORD_ONLY})

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """Is not supported: there is no compiler behind functions."""
        raise NotImplementedError("experimental_get_compiler_ir: functions are not compiled, there is no intermediate code to show")

    def pretty_printed_signature(self, verbose=True):
        rows = [(name, kind, _structure.type_text(value)) for name, kind, value in self._bound(self._signature)]
        result = _structure.type_text(self._results)
        if not verbose:
            texts, kinds = [], inspect.Parameter
            for i, (name, kind, text) in enumerate(rows):
                if kind is kinds.KEYWORD_ONLY and (i == 0 or rows[i - 1][1] is not kind):
                    texts.append("*")
                texts.append("%s: %s" % (name, text))
                if kind is kinds.POSITIONAL_ONLY and (i + 1 == len(rows) or rows[i + 1][1] is not kind):
                    texts.append("/")
            return "(%s) -> %s" % (", ".join(texts), result)
        lines = ["Input Parameters:"]
        lines += ["  %s (%s): %s" % (name, kind.name, text) for name, kind, text in rows] or ["  None"]
        lines += ["Output Type:", "  " + result, "Captures:"]
        captures = ["  %d: %s" % (i, _structure.spec_of(t)) for i, t in enumerate(self.captures)]
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
        return self.call(tensors)

    def plan(self, *args, **kwargs):
        """How a call with these arguments runs, as text: the steps, what they join, where values lie and how many bytes they take. Without
        arguments: what is known of every call."""
        return _core.GraphFunction.plan(self, self._tensors(args, kwargs) if args or kwargs else None)

    def _tensors(self, args, kwargs):
        rows = self._bound(self._signature)
        if kwargs and len(args) + len(kwargs) == len(self._names) and all(name in self._names[len(args):] for name in kwargs):
            args, kwargs = args + tuple(kwargs[name] for name in self._names[len(args):]), {}  # as the graph's inputs are called
        if len(args) > len(rows):
            raise TypeError("too many positional arguments")
        given = dict(zip((name for name, _, _ in rows), args))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError("multiple values for argument %r" % name)
            if name not in [row[0] for row in rows]:
                raise TypeError("got an unexpected keyword argument %r" % name)
            given[name] = value
        missing = [name for name, _, described in rows if name not in given and _structure.leaves(described)]
        if missing:
            raise TypeError("missing a required argument: %r" % missing[0])
        return _core._tensors_of([given[name] for name, _, _ in rows if name in given], [d for name, _, d in rows if name in given])


class Tracer:
    """The Python side of one tf.function."""

    def __init__(self, python_function, name=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False):
        self.python_function = python_function
        self._name = name or getattr(python_function, "__name__", type(python_function).__name__)
        self._autograph, self._jit_compile, self._reduce = autograph, jit_compile, bool(reduce_retracing)
        self._bound_functions = {}  # id of an instance -> (weak reference, Function)
        self._converted = None
        self._values = {}           # those that are compared by equality -> numbers
        self._function = None       # weakly
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

    # ---- what the C side reads once ----

    _shown = property(lambda self: repr(self.python_function))

    @property
    def _code(self):
        """What calls and traces are counted by; the tracer holds it."""
        self._held_code = getattr(self.python_function, "__code__", self.python_function)
        return self._held_code

    @property
    def _rows(self):
        """Per parameter: name, kind, has a default, the default, has a spec, the spec."""
        specs, rows = list(self.input_signature or ()), []
        for p in self._parameters:
            spec = None
            if p not in self._constrained:
                pass
            elif specs and p.kind is p.VAR_POSITIONAL:
                spec, specs = tuple(specs), []
            elif specs and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                spec = specs.pop(0)
            rows.append((p.name, int(p.kind), p.default is not p.empty, p.default, spec is not None, spec))
        return rows

    def _made(self, function):
        self._function = weakref.ref(function)

    @property
    def _constrained(self):
        """The parameters that input_signature is about: all but the `self` of a function that will be a method."""
        return self._parameters[1:] if self._parameters and self._parameters[0].name == "self" else self._parameters

    function_spec = property(lambda self: self)
    _function_spec = function_spec

    @property
    def __signature__(self):
        return self._signature

    def _check_signature(self, given):
        import thalweg
        if given is None:
            return None
        if not isinstance(given, (tuple, list)):
            raise TypeError("input_signature must be either a tuple or a list, got %s." % type(given))
        wrong = [leaf for leaf in thalweg.nest.flatten(given) if not isinstance(leaf, thalweg.TypeSpec)]
        if wrong:
            raise TypeError("input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args %s with types %s." % (
                wrong, [type(leaf) for leaf in wrong]))
        named = [p for p in self._constrained if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if len(given) > len(named) and all(p.kind is not p.VAR_POSITIONAL for p in self._parameters):
            raise TypeError("input_signature contains %d extra type constraints." % (len(given) - len(named)))
        for p in named[len(given):]:
            if p.default is p.empty:
                raise TypeError("input_signature missing type constraint for %s" % p.name)
        for p in self._parameters:
            if p.kind is p.KEYWORD_ONLY and p.default is p.empty:
                raise TypeError("Since input_signature is defined, keyword-only parameter `%s` must have a default value" % p.name)
        return tuple(given)

    # ---- what the C side asks ----

    def _signature_text(self):
        parts = []
        for i, p in enumerate(self._constrained):
            spec = self.input_signature[i] if i < len(self.input_signature) else None
            parts.append("%s: %s" % (p.name, _structure.type_text(spec)) if spec is not None else str(p))
        return "(%s)" % ", ".join(parts)

    def _refuse(self, args, kwargs, error):
        """The arguments fit neither the parameters nor the signature."""
        if error is None:
            try:
                self._signature.bind(*args, **kwargs)
            except TypeError as binding:
                error = binding
        elif self.input_signature is None:
            raise error
        text = self._signature_text() if self.input_signature is not None else str(self._signature)
        raise TypeError("Binding inputs to tf.function failed due to `%s`. Received args: %s and kwargs: %s for signature: %s." % (
            error, args, kwargs, text)) from None

    def _run_eagerly(self, args, kwargs):
        return self.python_function(*args, **kwargs)

    def _value_number(self, value):
        """None for an object that can be held weakly: it is told by identity. Others are told by equality."""
        try:
            weakref.ref(value)
            return None
        except TypeError:
            pass
        try:
            number = self._values.get((type(value), value))
        except TypeError:
            raise TypeError("Could not generate a generic TraceType for %r.Please verify that it is immutable/hashable. Otheriwse, "
                            "consider implementing the Tracing Protocol for it." % (value,)) from None
        if number is None:
            if len(self._values) >= 4096:
                self._values.clear()
            number = self._values[type(value), value] = next(_numbers)
        return number

    def _hold(self, value):
        """An argument as its description holds it."""
        try:
            return _structure.Weak(value, functools.partial(_ended, self._function, id(value)))
        except TypeError:
            return value

    def _callable(self):
        """The function that is traced: converted by AutoGraph if that is wanted."""
        if self._converted is None:
            self._converted = self.python_function
            if self._autograph:
                from thalweg import autograph
                if isinstance(self.python_function, _WeakMethod):
                    self._converted = self.python_function.converted(autograph.convert)
                else:
                    self._converted = autograph.convert(self.python_function)
        return self._converted

    def _trace(self, signature, inputs, names, labels):
        """Runs the body with symbolic tensors; a concrete function."""
        import thalweg
        run, structure = self._callable(), []

        def body(values):
            args, kwargs = [], {}
            for p, value in zip(self._parameters, _core._pack(signature, values)):
                if p.kind is p.VAR_POSITIONAL:
                    args += value
                elif p.kind is p.VAR_KEYWORD:
                    kwargs.update(value)
                elif p.kind is p.KEYWORD_ONLY:
                    kwargs[p.name] = value
                else:
                    args.append(value)
            tensors = []
            structure.append(_core._results(run(*args, **kwargs), tensors, self.python_function))
            return tensors

        name = "__inference_%s_%d" % (self._name, next(_numbers))
        from thalweg.autograph import control  # layers that are called inside are converted, too, unless this function is not
        with control.Disabled() if not self._autograph else control.Enabled():
            concrete = _core.trace(ConcreteFunction, name, labels, inputs, body)
        if self._jit_compile:
            concrete._compile()
        concrete._results = structure[0]
        concrete._parameters, concrete._signature, concrete._names = self._parameters, signature, names
        numbers = iter(range(len(inputs)))
        concrete._inputs = [i if isinstance(i, thalweg.TensorSpec) else thalweg._VariableSpec(i.shape, i.dtype, i.trainable, next(numbers))
                            for i in inputs]
        return concrete

    # ---- what users call: methods of the function ----

    def _get_concrete_function(self, function, *args, **kwargs):
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        concrete = function._concrete(args, kwargs)
        import thalweg
        names = [s.name for s in thalweg.nest.flatten([args, kwargs]) if isinstance(s, thalweg.TensorSpec) and s.name]
        if names:  # a graph whose arguments have other names is not the one that is asked for
            found = {t.name.rsplit(":", 1)[0] for t in concrete.inputs}
            if not found.issuperset(map(_structure.clean_name, names)):
                concrete = function._concrete(args, kwargs, True)
        return concrete

    def _plan(self, function, *args, **kwargs):
        concrete = self._get_concrete_function(function, *args, **kwargs)
        given = [a for a in [*args, *kwargs.values()] if _core.is_tensor(a) or hasattr(a, "__array__")]
        return concrete.plan(*args, **kwargs) if len(given) == len(args) + len(kwargs) else concrete.plan()

    def _show_signatures(self, function, verbose=True):
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in function._list_all_concrete_functions())

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """Is not supported: there is no compiler behind functions."""
        raise NotImplementedError("experimental_get_compiler_ir: functions are not compiled, there is no intermediate code to show")

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
                        self._reduce)
        tracer.python_function = tracer.__wrapped__ = _WeakMethod(python_function, reference, owner)
        made = _core.Function(tracer)
        self._bound_functions[key] = (reference, made)
        return made

    def _decorate(self, decorator):
        self.python_function = decorator(self.python_function)


def _ended(function, identity, reference):
    """An object that calls were told apart by is gone."""
    del reference
    function = function()
    if function is not None:
        function._forget_object(identity)


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


# What a function may say of itself to passes over graphs that are not here: which of several implementations it is, and the like.
_ATTRIBUTES = set("_OutputsOnOpDevice _disable_acd _implements _noinline _tf_data_function api_implements api_preferred_device disable_summaries_at_runtime "
                  "experimental_ints_on_device go_backwards runtime_constant_optimization time_major".split())


_implementations = {}  # for the processor, by the name of what they implement


def _implementation(inner, attributes):
    """Of functions that say by their attributes that they do the same, the one for the processor is run."""
    name = attributes.get("api_implements")
    if name is not None and attributes.get("api_preferred_device") == "CPU":
        if len(_implementations) == 1000:  # names are made up for each call: those long gone need not be known
            _implementations.clear()
        _implementations[name] = inner
    elif name is not None:
        @functools.wraps(inner)
        def chosen(*args, **kwargs):
            return _implementations.get(name, inner)(*args, **kwargs)
        return chosen
    return inner


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False, experimental_implements=None,
             experimental_autograph_options=None, experimental_attributes=None, experimental_relax_shapes=None, experimental_compile=None,
             experimental_follow_type_hints=None):
    """Traces a Python function into graphs: one per kind of arguments, run at every later call of that kind."""
    if experimental_follow_type_hints:
        raise NotImplementedError("tf.function: experimental_follow_type_hints is not supported")
    if experimental_relax_shapes is not None:
        reduce_retracing = experimental_relax_shapes
    if experimental_implements is not None and not isinstance(experimental_implements, str):
        raise TypeError("tf.function: `experimental_implements` must be a string, got %r" % (experimental_implements,))
    for name in experimental_attributes or ():
        if name not in _ATTRIBUTES:
            raise ValueError("`%s is not supported by tf.function as an attribute." % name)
    if experimental_autograph_options is not None:
        raise NotImplementedError("tf.function: the argument `experimental_autograph_options` is not supported yet")
    if jit_compile is None:
        jit_compile = experimental_compile

    def decorate(inner):
        if isinstance(inner, _core.Function):
            inner = inner.python_function
        if not callable(inner):
            raise TypeError("%r is not a callable object" % (inner,))
        inner = _implementation(inner, experimental_attributes or {})
        return _core.Function(Tracer(inner, None, input_signature, autograph, jit_compile, reduce_retracing))

    return decorate if func is None else decorate(func)


# ---- graphs of functions are tf.Graphs ----

class _Present:
    """with graph.as_default() where the graph is the one that is being traced: nothing changes."""

    def __init__(self, graph, nodes):
        self._graph, self._nodes = graph, nodes

    def __enter__(self):
        if _core._present_graph() != self._nodes:
            raise NotImplementedError("%r.as_default(): nodes can be added to the graph of a function only while it is traced, and only to the innermost one"
                                      % (self._graph,))
        return self._graph

    def __exit__(self, *exception):
        return False


def _as_default(self):
    """A context in which operations become nodes of this graph."""
    return _Present(self, self)


_core.FuncGraph.as_default = _as_default
