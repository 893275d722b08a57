"""tf.saved_model: what of it must be Python. Files, objects, traces and variables are C (src/saving/saved_model*.c); here arguments are bound to
the traces of loaded functions, and the functions among an object's attributes are found to be saved."""
import collections
import inspect

import thalweg
from thalweg import _containers, _core, _function, _structure

_UserObject, _Function, _Trace = (getattr(thalweg.saved_model, n) for n in ("_UserObject", "_Function", "_ConcreteFunction"))
NAMED = "__namedtuple__"
PUBLIC = ("load", "save", "LoadOptions", "SaveOptions", "Asset", "SERVING", "TRAINING", "GPU", "TPU", "PREDICT_METHOD_NAME",
          "DEFAULT_SERVING_SIGNATURE_DEF_KEY")
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING, TRAINING, GPU, TPU, PREDICT_METHOD_NAME = "serve", "train", "gpu", "tpu", "tensorflow/serving/predict"


# ---- structures ----

def _plain(value):
    """A structure out of a file: named tuples are made of what stands for them."""
    if isinstance(value, dict):
        if NAMED in value:
            fields = {k: _plain(v) for k, v in value.items() if k != NAMED}
            return collections.namedtuple(value[NAMED], fields)(**fields)
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return value


class _Unknown(Exception):
    """A value that a file can't hold."""


def _stored(value):
    """The other way."""
    if value is None or isinstance(value, (bool, int, float, str, thalweg.TypeSpec, thalweg.TensorShape, thalweg.DType)) or _core.is_tensor(value):
        return value
    if _structure.is_named_tuple(value):
        return {NAMED: type(value).__name__, **{f: _stored(v) for f, v in zip(value._fields, value)}}
    if isinstance(value, (list, tuple)):
        members = [_stored(v) for v in value]
        return tuple(members) if isinstance(value, tuple) else members
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: _stored(v) for k, v in value.items()}
    raise _Unknown(value)


def _fits(value, spec, convert):
    """Whether a trace for `spec` serves the argument; `convert`: numbers and arrays count as tensors, too."""
    if isinstance(spec, thalweg.TensorSpec):
        if not _core.is_tensor(value):
            if not convert or value is None or isinstance(value, (str, dict)) and spec.dtype != thalweg.string:
                return False
            try:
                value = thalweg.convert_to_tensor(value, spec.dtype)
            except (TypeError, ValueError):
                return False
        return value.dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    if isinstance(spec, thalweg.TypeSpec):
        return isinstance(value, getattr(type(spec), "value_type", ())) and spec.is_compatible_with(value)
    if isinstance(spec, dict):
        return isinstance(value, dict) and set(value) == set(spec) and all(_fits(value[k], spec[k], convert) for k in spec)
    if isinstance(spec, (list, tuple)):
        return isinstance(value, (list, tuple)) and len(value) == len(spec) and all(map(_fits, value, spec, [convert] * len(spec)))
    if _core.is_tensor(value) or _core.is_tensor(spec):
        return False
    return spec is value or (type(spec) is type(value) or not isinstance(spec, bool)) and bool(spec == value)


# ---- functions out of a file ----

class LoadedFunction(_function.ConcreteFunction):
    """One trace out of a SavedModel."""

    _positional = None

    def __call__(self, *args, **kwargs):
        if self._positional is not None and len(args) > self._positional:
            raise TypeError("signature_wrapper(%s) takes %d positional arguments, got %d." % (", ".join(self._names), self._positional, len(args)))
        return super().__call__(*args, **kwargs)

    structured_outputs = property(lambda self: self._results)

    def __repr__(self):
        return "<ConcreteFunction %s at 0x%X>" % (self.pretty_printed_signature(verbose=False), id(self))


def _graph_function(trace, names=()):
    """The trace as a concrete function."""
    made = trace.__dict__.get("_made")
    if made is not None:
        return made
    (args, kwargs), kinds = _plain(trace._inputs), inspect.Parameter
    made = _core.saved_graph_function(LoadedFunction, trace)
    made._results = _plain(trace._outputs)
    names = list(names) + ["args_%d" % i for i in range(len(names), len(args))]
    made._parameters = [kinds(n, kinds.POSITIONAL_OR_KEYWORD) for n in names[:len(args)]]
    made._parameters += [kinds(n if n.isidentifier() else "_%d" % i, kinds.KEYWORD_ONLY) for i, n in enumerate(sorted(kwargs))]
    made._signature = [*args, *(kwargs[n] for n in sorted(kwargs))]
    made._inputs = _structure.leaves(made._signature)
    made._names = [getattr(s, "name", None) for s in made._inputs]
    trace.__dict__["_made"] = made
    return made


def _parameters_of(spec):
    """FullArgSpec as a signature."""
    kinds, found = inspect.Parameter, []
    defaults = spec.defaults or ()
    first = len(spec.args) - len(defaults)
    for i, name in enumerate(spec.args):
        found.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults[i - first] if i >= first else kinds.empty))
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    for name in spec.kwonlyargs or ():
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=(spec.kwonlydefaults or {}).get(name, kinds.empty)))
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def _signature_of(self):
    made = self.__dict__.get("_parameters")
    if made is None:
        specification = self._specification
        spec = _plain(specification[0]) if specification else None
        args = list(spec.args) if spec is not None else []
        if args[:1] == ["self"]:
            spec = spec._replace(args=args[1:])
        made = self.__dict__["_parameters"] = _parameters_of(spec) if spec is not None else inspect.Signature(
            [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL), inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])
    return made


def _bind(self, args, kwargs):
    """(positional, keywords) as traces are told apart by."""
    signature = _signature_of(self)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional, named = [], {}
    for p in signature.parameters.values():
        value = bound.arguments[p.name]
        if p.kind is p.VAR_POSITIONAL:
            positional += value
        elif p.kind is p.VAR_KEYWORD:
            named.update(value)
        elif p.kind is p.KEYWORD_ONLY:
            named[p.name] = value
        else:
            positional.append(value)
    return tuple(positional), named


def _find(self, args, kwargs):
    positional, named = _bind(self, args, kwargs)
    structures = self.__dict__.get("_structures")
    if structures is None:
        structures = self.__dict__["_structures"] = [(t, _plain(t._inputs)) for t in self._traces]
    for convert in (False, True):
        for trace, inputs in structures:
            if inputs is not None and _fits((positional, named), inputs, convert):
                names = [p.name for p in _signature_of(self).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
                return _graph_function(trace, names), [*positional, *(named[n] for n in sorted(named))]

    def show(args, kwargs):
        lines = ["  Positional arguments (%d total):" % len(args)] + ["    * %s" % (a,) for a in args]
        return "\n".join(lines + ["  Keyword arguments: %s" % (kwargs,)])
    options = "\n\n".join("Option %d:\n%s" % (i + 1, show(*s)) for i, (_, s) in enumerate(structures) if s is not None)
    raise ValueError("Could not find matching concrete function to call loaded from the SavedModel. Got:\n%s\n\n Expected these arguments to match "
                     "one of the following %d option(s):\n\n%s" % (show(positional, named), len(structures), options))


def _call(self, *args, **kwargs):
    try:
        function, values = _find(self, args, kwargs)
    except TypeError as error:
        raise TypeError("Binding inputs to tf.function failed due to `%s`. Received args: %s and kwargs: %s for signature: %s." % (
            error, args, kwargs, _signature_of(self))) from None
    return function.call(_core._tensors_of(values, function._signature))


def _get_concrete_function(self, *args, **kwargs):
    if not args and not kwargs and len(self._traces) == 1:
        return _graph_function(self._traces[0], list(_signature_of(self).parameters))
    positional, named = _bind(self, args, kwargs)
    for trace in self._traces:
        inputs = _plain(trace._inputs)
        if inputs == (positional, named) or inputs is not None and _fits_spec((positional, named), inputs):
            return _graph_function(trace, list(_signature_of(self).parameters))
    return _find(self, args, kwargs)[0]


def _fits_spec(value, spec):
    """The same as _fits for specs in the place of tensors."""
    if isinstance(spec, thalweg.TensorSpec) and isinstance(value, thalweg.TensorSpec):
        return value.dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    if isinstance(spec, (list, tuple)) and isinstance(value, (list, tuple)):
        return len(value) == len(spec) and all(map(_fits_spec, value, spec))
    if isinstance(spec, dict) and isinstance(value, dict):
        return set(value) == set(spec) and all(_fits_spec(value[k], spec[k]) for k in spec)
    return not isinstance(spec, thalweg.TypeSpec) and _fits(value, spec, False)


_Function.__call__, _Function.get_concrete_function = _call, _get_concrete_function
_Function.concrete_functions = property(lambda self: [_graph_function(t) for t in self._traces])
_Function.function_spec = property(_signature_of)
_Function.pretty_printed_concrete_signatures = lambda self, verbose=True: "\n\n".join(
    c.pretty_printed_signature(verbose) for c in self.concrete_functions)
_Function.input_signature = property(lambda self: _plain(self._specification[1]) if self._specification else None)
for _name in ("__call__", "name", "inputs", "outputs", "structured_outputs", "structured_input_signature", "graph", "variables", "captured_inputs",
              "trainable_variables", "output_dtypes", "output_shapes", "pretty_printed_signature", "plan"):
    def _forward(self, _name=_name):
        return getattr(_graph_function(self), _name)
    setattr(_Trace, _name, property(_forward) if _name != "__call__" else lambda self, *a, **k: _graph_function(self)(*a, **k))


# ---- loading ----

class _SignatureMap(collections.abc.Mapping):
    """The signatures of a loaded object, by key."""

    def __init__(self, signatures):
        self._signatures = signatures

    def __getitem__(self, key):
        return self._signatures[key]

    def __iter__(self):
        return iter(self._signatures)

    def __len__(self):
        return len(self._signatures)

    def __repr__(self):
        return "_SignatureMap(%r)" % (dict(self._signatures),)


def _signature_function(trace):
    made = _graph_function(trace)
    made._positional = 1 if len(made._names) == 1 else 0
    names = sorted(_plain(trace._inputs)[1])
    made._names = names if len(names) == len(made._names) else made._names
    return made


def _user_call(self, *args, **kwargs):
    try:
        function = self._child("__call__")
    except AttributeError:
        raise TypeError("'_UserObject' object is not callable") from None
    return function(*args, **kwargs)


_UserObject.__call__ = _user_call


def _revive(obj, memo):
    """What Python has for an object: lists, dicts and tuples become such."""
    found = memo.get(id(obj))
    if found is not None:
        return found[1]
    if not isinstance(obj, _UserObject):
        memo[id(obj)] = (obj, obj)
        return obj
    kind = obj._identifier
    if kind == "signature_map":
        made = _SignatureMap({n: _LazySignature(obj._child(n)) for n in obj._names()})
        memo[id(obj)] = (obj, made)
        return made
    if kind == "trackable_list_wrapper":
        made = _containers.ListWrapper()
        memo[id(obj)] = (obj, made)
        made.extend(_revive(obj._child(n), memo) for n in sorted(obj._names(), key=_number) if _number(n) >= 0)
        return made
    if kind == "trackable_dict_wrapper":
        made = _containers.wrap({})
        memo[id(obj)] = (obj, made)
        made.update((n, _revive(obj._child(n), memo)) for n in obj._names())
        return made
    if kind == "trackable_tuple_wrapper":
        made = _containers.wrap(tuple(_revive(obj._child(n), memo) for n in sorted(obj._names(), key=_number) if _number(n) >= 0))
        memo[id(obj)] = (obj, made)
        return made
    memo[id(obj)] = (obj, obj)
    for name in obj._names():
        child = obj._child(name)
        if name in ("__call__", "call") or not isinstance(child, (_UserObject, _Trace, _Constant)):
            continue
        value = _revive(child, memo)
        if isinstance(value, _SignatureMap):
            obj.__dict__[name] = value
        elif isinstance(child, _Constant):
            obj.__dict__[name] = child.value
        elif value is not child:
            setattr(obj, name, value)
    return obj


_Constant = thalweg.saved_model._Constant


def _number(name):
    return int(name) if name.isdigit() else -1


class _LazySignature:
    """A signature whose function is built when it is first used."""

    def __init__(self, trace):
        self._trace = trace

    def __call__(self, *args, **kwargs):
        return _signature_function(self._trace)(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(_signature_function(self._trace), name)

    def __repr__(self):
        return repr(_signature_function(self._trace))

    __str__ = __repr__


def load(export_dir, tags=None, options=None):
    """The objects of a SavedModel: variables, functions and signatures as attributes. Its functions may read the model's own files; whoever shall
    read others, write files or call functions of the program is loaded with LoadOptions(trusted=True)."""
    export_dir = _path(export_dir)
    if isinstance(tags, (set, frozenset)):
        tags = sorted(tags)
    try:
        root = thalweg.saved_model._load(export_dir, tags, bool(getattr(options, "trusted", False)))
    except thalweg.errors.NotFoundError as error:
        if "SavedModel file does not exist" in str(error):
            raise OSError(str(error)) from None
        raise
    made = _revive(root, {})
    if root._session is not None:
        from thalweg._graph_mode import wrapped
        wrapped.attach(root)
    return made


def _path(path):
    import os
    return os.fspath(path)


# ---- saving ----

class SaveOptions:
    """How a SavedModel is written. What would have to be done differently is refused."""

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None, experimental_debug_stripper=False,
                 experimental_io_device=None, experimental_variable_policy=None, experimental_custom_gradients=True,
                 experimental_image_format=False, experimental_skip_saver=False, experimental_sharding_callback=None, extra_tags=None):
        given = dict(save_debug_info=save_debug_info, function_aliases=function_aliases, experimental_debug_stripper=experimental_debug_stripper,
                     experimental_variable_policy=experimental_variable_policy, experimental_image_format=experimental_image_format,
                     experimental_skip_saver=experimental_skip_saver, experimental_sharding_callback=experimental_sharding_callback,
                     extra_tags=extra_tags)
        for name, value in given.items():
            if value:
                raise NotImplementedError("tf.saved_model.SaveOptions: the argument `%s` is not supported" % name)
        self.namespace_whitelist, self.experimental_io_device = namespace_whitelist or [], experimental_io_device
        self.experimental_custom_gradients = experimental_custom_gradients


class LoadOptions:
    """How a SavedModel is read. trusted: its functions may do whatever TensorFlow's may, also with files that are not the model's; it is this library's
    own."""

    def __init__(self, allow_partial_checkpoint=False, experimental_io_device=None, experimental_skip_checkpoint=False,
                 experimental_variable_policy=None, experimental_load_function_aliases=False, *, trusted=False):
        if allow_partial_checkpoint or experimental_skip_checkpoint or experimental_variable_policy or experimental_load_function_aliases:
            raise NotImplementedError("tf.saved_model.LoadOptions: no argument but `experimental_io_device` is supported")
        self.experimental_io_device, self.trusted = experimental_io_device, bool(trusted)


class Asset(_Constant):
    """A file that is saved with the objects that hold it."""

    def __init__(self, path):
        super().__init__(asset=_path(path))

    asset_path = property(lambda self: self.value)


def _full_spec(parameters):
    """inspect.getfullargspec of parameters, without self."""
    spec = {NAMED: "FullArgSpec", "args": [], "varargs": None, "varkw": None, "defaults": None, "kwonlyargs": [], "kwonlydefaults": None,
            "annotations": {}}
    for p in parameters:
        given, stored = p.default is not p.empty, None
        if given:
            try:
                stored = _stored(p.default)
            except _Unknown:
                stored = None
        if p.kind is p.VAR_POSITIONAL:
            spec["varargs"] = p.name
        elif p.kind is p.VAR_KEYWORD:
            spec["varkw"] = p.name
        elif p.kind is p.KEYWORD_ONLY:
            spec["kwonlyargs"].append(p.name)
            if given:
                spec["kwonlydefaults"] = {**(spec["kwonlydefaults"] or {}), p.name: stored}
        else:
            spec["args"].append(p.name)
            if given:
                spec["defaults"] = (*(spec["defaults"] or ()), stored)
    return spec


def _named_leaves(value, names):
    """The structure with specs of such names."""
    if isinstance(value, thalweg.TensorSpec):
        return thalweg.TensorSpec(value.shape, value.dtype, name=next(names))
    if isinstance(value, thalweg.TypeSpec):
        return value
    if isinstance(value, dict):
        order = sorted(value) if all(isinstance(k, str) for k in value) else list(value)
        made = {k: _named_leaves(value[k], names) for k in order}
        return {k: made[k] for k in value}
    if isinstance(value, _structure.Members):
        raise _Unknown(value)
    if isinstance(value, (list, tuple)):
        return _structure.sequence_like(value, [_named_leaves(v, names) for v in value])
    return value


def _trace_of(concrete):
    """A concrete function as a trace to be saved; raises _Unknown if its arguments can't be in a file."""
    saved = getattr(concrete, "_saved", None)
    if saved is not None:
        return saved
    if any(not isinstance(i, thalweg.TypeSpec) for i in concrete._inputs) or any(isinstance(i, thalweg._VariableSpec) for i in concrete._inputs):
        raise _Unknown(concrete)
    names = [n or "args_%d" % i for i, n in enumerate(concrete._names)]
    rows = concrete._bound(_named_leaves(list(concrete._signature), iter(names)))
    positional = [v for _, kind, v in rows if kind is not kind.KEYWORD_ONLY]
    named = {n: v for n, kind, v in rows if kind is kind.KEYWORD_ONLY}
    order, before = [*positional, *(named[n] for n in sorted(named))], [v for _, _, v in rows]
    if [id(v) for v in order] != [id(v) for v in before]:
        concrete = _reordered(concrete, before, order)
        names = [getattr(s, "name", None) for s in _structure.leaves(order)]
    saved = _core.saved_concrete(concrete, (tuple(map(_stored, positional)), {n: _stored(v) for n, v in named.items()}), _stored(concrete._results))
    saved._set_keywords(names)
    return saved


def _reordered(concrete, before, order):
    """The same function with its tensors in the order of a file: keyword arguments by name."""
    groups = {id(v): [] for v in before}
    specs = iter(range(1 << 30))
    for v in before:
        groups[id(v)] += [next(specs) for _ in _structure.leaves(v)]
    places = [i for v in order for i in groups[id(v)]]
    inputs = _structure.leaves(before)

    def body(values):
        given = [None] * len(values)
        for value, place in zip(values, places):
            given[place] = value
        return concrete.call_flat(given)
    made = _core.trace(_function.ConcreteFunction, concrete.name.decode() + "_ordered", [concrete._names[i] for i in places],
                       [inputs[i] for i in places], body)
    made._results = concrete._results
    return made


def _saved_function(function):
    """A tf.function with its traces."""
    if isinstance(function, _Function):
        return function
    tracer = function.function_spec
    if tracer.input_signature is not None:
        function.get_concrete_function()
    try:
        signature = None if tracer.input_signature is None else tuple(map(_stored, tracer.input_signature))
    except _Unknown:
        signature = None
    made = _Function()
    made._specify((_full_spec(tracer._parameters), signature))
    for concrete in function._list_all_concrete_functions():
        try:
            made._add(_trace_of(concrete))
        except _Unknown:
            continue  # such a call can't be told again by what a file holds
    return made


def _functions_of(obj):
    """The functions among an object's attributes, by name."""
    found = {}
    for owner in reversed(type(obj).__mro__):
        if owner.__module__.startswith("thalweg") and not issubclass(owner, _UserObject):
            continue
        for name, value in vars(owner).items():
            if isinstance(value, _core.Function):
                found[name] = value.__get__(obj, type(obj))
    for name, value in getattr(obj, "__dict__", {}).items():
        if isinstance(value, (_core.Function, _function.ConcreteFunction)):
            found[name] = value
    return {name: found[name] for name in sorted(found)}


def _signature_trace(function, key):
    """What a signature is made of."""
    if isinstance(function, (_LazySignature,)):
        return function._trace
    if isinstance(function, _Trace):
        return function
    if isinstance(function, _Function):
        if len(function._traces) != 1:
            raise ValueError("The loaded function for the signature %r has %d traces; one is needed." % (key, len(function._traces)))
        return function._traces[0]
    if isinstance(function, _core.Function):
        if function.function_spec.input_signature is None and not function._list_all_concrete_functions():
            raise ValueError("Expected a TensorFlow function for which to generate a signature, but got %s. Only `tf.functions` with an input "
                             "signature or concrete functions can be used as a signature." % (function,))
        if function.function_spec.input_signature is None:
            raise ValueError("Got a polymorphic function for the signature %r: pass `input_signature` to tf.function, or use "
                             "`get_concrete_function`." % key)
        function = function.get_concrete_function()
    if not isinstance(function, _function.ConcreteFunction):
        raise ValueError("Expected a TensorFlow function for which to generate a signature, but got %s. Python functions may be decorated with "
                         "`@tf.function` and passed as signatures directly, or created without a decorator using `tf.function(python_function)`."
                         % (function,))
    try:
        return _trace_of(function)
    except _Unknown as error:
        raise ValueError("The function for the signature %r takes %s, which is no tensor." % (key, error.args[0])) from None


def _default_signature(functions):
    """The one function of the root that may serve, if there is one."""
    possible = []
    for name, function in functions.items():
        if isinstance(function, _core.Function):
            if function.function_spec.input_signature is None:
                continue
            function = function.get_concrete_function()
        results = function._results
        flat = list(results.values()) if isinstance(results, dict) else results if isinstance(results, (list, tuple)) else [results]
        names = [n for n in function._names]
        if len(flat) == len(function.outputs) and len(set(names)) == len(names) and all(isinstance(r, thalweg.TensorSpec) for r in flat) and \
                all(isinstance(s, thalweg.TensorSpec) for s in function._inputs) and flat:
            possible.append(function)
    return possible[0] if len(possible) == 1 else None


def _attached(obj, skip=()):
    """For saving: (parents, names, children) of all functions below an object."""
    parents, names, children, made = [], [], [], {}
    for parent in thalweg.saved_model._objects(obj):
        if isinstance(parent, skip):
            continue
        for name, function in _functions_of(parent).items():
            if id(function) not in made:
                if isinstance(function, _core.Function):
                    saved = _saved_function(function)
                else:
                    try:
                        saved = _trace_of(function)
                    except _Unknown:
                        continue
                made[id(function)] = (function, saved)
            parents.append(parent)
            names.append(name)
            children.append(made[id(function)][1])
    return parents, names, children


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object with its variables and functions as a SavedModel."""
    if options is not None and not isinstance(options, SaveOptions):
        raise TypeError("tf.saved_model.save: options must be a tf.saved_model.SaveOptions, got %r" % (options,))
    if not _core.executing_eagerly():
        raise AssertionError("tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer eagerly-executed context.")
    if isinstance(obj, (list, dict, tuple)) or not isinstance(obj, _trackable_types()):
        raise ValueError("Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for export. Got %s "
                         "with type %s." % (obj, type(obj)))
    if isinstance(obj, thalweg.keras.Model):
        return _save_model(obj, export_dir, signatures, options=options)
    if signatures is None:
        default = _default_signature(_functions_of(obj))
        signatures = {} if default is None else {DEFAULT_SERVING_SIGNATURE_DEF_KEY: default}
    parents, names, children = _attached(obj)
    _write(obj, export_dir, parents, names, children, signatures, options)


def _gradients(options):
    """Whether gradients that users defined are saved."""
    return options is None or bool(options.experimental_custom_gradients)


def _write(obj, export_dir, parents, names, children, signatures, options=None):
    if not isinstance(signatures, collections.abc.Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    for key in signatures:
        if not isinstance(key, str):
            raise TypeError("The keys of `signatures` are texts, got %r" % (key,))
    thalweg.saved_model._save(obj, _path(export_dir), parents, names, children, list(signatures),
                              [_signature_trace(f, k) for k, f in signatures.items()], _gradients(options))


def _trackable_types():
    return (thalweg.Module, _UserObject, thalweg.train.Checkpoint)


# ---- Keras ----

def _save_model(model, filepath, signatures=None, overwrite=True, save_format=None, include_optimizer=True, options=None):
    """A Keras model with the functions among its attributes."""
    if signatures is None:
        signatures = {}
    if not isinstance(signatures, collections.abc.Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    model._save(_path(filepath), overwrite, save_format, include_optimizer, *_attached(model), list(signatures),
                [_signature_trace(f, k) for k, f in signatures.items()], _gradients(options))


def save_model(model, filepath, overwrite=True, save_format=None, **kwargs):
    """Writes a model; see Model.save."""
    signatures, include_optimizer = kwargs.pop("signatures", None), kwargs.pop("include_optimizer", True)
    options = kwargs.pop("options", None)
    if not kwargs.pop("save_traces", True):
        raise NotImplementedError("save_model: save_traces=False is not supported")
    if kwargs:
        raise TypeError("save_model() got an unexpected keyword argument %r" % list(kwargs)[0])
    if options is not None and not isinstance(options, SaveOptions):
        raise TypeError("save_model: options must be a tf.saved_model.SaveOptions, got %r" % (options,))
    filepath = _path(filepath)
    if save_format in ("h5", "hdf5", "keras") or save_format is None and filepath.endswith((".h5", ".hdf5", ".keras")):
        if save_format in ("h5", "hdf5") or not filepath.endswith(".keras"):
            import warnings
            warnings.warn("You are saving your model as an HDF5 file via `model.save()`. This file format is considered legacy. We recommend using instead "
                          "the native Keras format, e.g. `model.save('my_model.keras')`.", stacklevel=4)
        model._save(filepath, overwrite, save_format, include_optimizer)
    else:
        _save_model(model, filepath, signatures, overwrite, save_format, include_optimizer, options)


def model_save(self, filepath, overwrite=True, save_format=None, **kwargs):
    """Writes the model: a path that ends in .h5 means HDF5, others a SavedModel."""
    save_model(self, filepath, overwrite, save_format, **kwargs)


def model_export(self, filepath):
    """Writes a SavedModel for serving: the variables and one function, `serve`."""
    if not self.built:
        raise ValueError("The layer provided has not yet been built. It must be built before export.")
    import tempfile
    import os
    with tempfile.TemporaryDirectory() as scratch:  # what the model is like is known once it was saved
        _save_model(self, os.path.join(scratch, "model"))
        loaded = load(os.path.join(scratch, "model"))
    archive = thalweg.Module()
    archive.variables_, archive.serve = loaded.variables, loaded.signatures[DEFAULT_SERVING_SIGNATURE_DEF_KEY]
    trace = archive.serve._trace
    parents, names, children = [archive], ["serve"], [trace]
    thalweg.saved_model._save(archive, _path(filepath), parents, names, children, [DEFAULT_SERVING_SIGNATURE_DEF_KEY], [trace])


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True, **kwargs):
    """The model that a file or a directory holds. In safe mode what it brings along may not run code of its own, read files that are not its own, or
    write files."""
    for name in kwargs:
        if name != "options":
            raise TypeError("load_model() got an unexpected keyword argument %r" % name)
    filepath = _path(filepath)
    with thalweg.keras.utils.custom_object_scope(custom_objects or {}):
        if not thalweg.io.gfile.isdir(filepath):
            from thalweg import _keras_saving
            return _keras_saving.load_h5(filepath, compile, safe_mode)
        from thalweg import _keras_saving
        options = LoadOptions(trusted=not safe_mode)
        try:
            return _keras_saving.load_directory(filepath, compile, options)
        except ValueError as error:
            if "lacks the Keras metadata file" in str(error) and not _has_keras_objects(filepath):
                return load(filepath, options=options)
            raise


def _has_keras_objects(filepath):
    return thalweg.saved_model._load(filepath)._identifier.startswith("_tf_keras")
