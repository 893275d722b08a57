"""tf.saved_model: what of it must be Python. Files, objects, traces and variables are C (src/saving/saved_model*.c); here arguments are bound to
the traces of loaded functions; saving is _saving.py."""
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
    """Whether a trace for `spec` serves the argument; `convert`: numbers and arrays count as tensors, too; None: specs stand for tensors."""
    if isinstance(spec, thalweg.TensorSpec):
        if not _core.is_tensor(value) and not (convert is None and isinstance(value, thalweg.TensorSpec)):
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
        if inputs == (positional, named) or inputs is not None and _fits((positional, named), inputs, None):
            return _graph_function(trace, list(_signature_of(self).parameters))
    return _find(self, args, kwargs)[0]


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
    members = (_revive(obj._child(n), memo) for n in sorted((n for n in obj._names() if n.isdigit()), key=int))
    if kind == "trackable_list_wrapper":
        made = _containers.ListWrapper()
        memo[id(obj)] = (obj, made)
        made.extend(members)
        return made
    if kind == "trackable_dict_wrapper":
        made = _containers.wrap({})
        memo[id(obj)] = (obj, made)
        made.update((n, _revive(obj._child(n), memo)) for n in obj._names())
        return made
    if kind == "trackable_tuple_wrapper":
        made = _containers.wrap(tuple(members))
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
    root = thalweg.saved_model._load(export_dir, tags, bool(getattr(options, "trusted", False)))
    made = _revive(root, {})
    if root._session is not None:
        from thalweg._graph_mode import wrapped
        wrapped.attach(root)
    return made


def _path(path):
    import os
    return os.fspath(path)


# ---- options ----

class SaveOptions:
    """How a SavedModel is written. What would have to be done differently is refused."""

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None, experimental_io_device=None,
                 experimental_variable_policy=None, experimental_custom_gradients=True, experimental_image_format=False, experimental_skip_saver=False, *,
                 experimental_debug_stripper=False, experimental_sharding_callback=None, extra_tags=None):
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
