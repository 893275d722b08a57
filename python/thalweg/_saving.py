"""Saving SavedModels and Keras models: what of it must be Python. The functions among an object's attributes are found here; files are C's
(src/saving/saved_model*.c)."""
import collections
import contextlib

import thalweg
from thalweg import _core, _function, _structure
from thalweg._saved_model import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY, LoadOptions, NAMED, SaveOptions, _Function, _LazySignature,
    _Trace, _Unknown, _UserObject, _path, _stored, load)


def _full_spec(parameters):
    """inspect.getfullargspec of parameters, without self."""
    spec = {NAMED: "FullArgSpec", "args": [], "varargs": None, "varkw": None, "defaults": None, "kwonlyargs": [], "kwonlydefaults": None,
            "annotations": {}}
    for p in parameters:
        given, stored = p.default is not p.empty, None
        with contextlib.suppress(_Unknown):
            stored = _stored(p.default) if given else None
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


def _signatures(given):
    return given if isinstance(given, collections.abc.Mapping) else {DEFAULT_SERVING_SIGNATURE_DEF_KEY: given}


def _write(obj, export_dir, parents, names, children, signatures, options=None):
    signatures = _signatures(signatures)
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
    signatures = _signatures({} if signatures is None else signatures)
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
        from thalweg import _keras_saving
        if not thalweg.io.gfile.isdir(filepath):
            return _keras_saving.load_h5(filepath, compile, safe_mode)
        options = LoadOptions(trusted=not safe_mode)
        try:
            return _keras_saving.load_directory(filepath, compile, options)
        except ValueError:
            if not thalweg.io.gfile.exists(filepath + "/keras_metadata.pb") and not _has_keras_objects(filepath):
                return load(filepath, options=options)
            raise


def _has_keras_objects(filepath):
    return thalweg.saved_model._load(filepath)._identifier.startswith("_tf_keras")
