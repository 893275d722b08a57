"""Variables of graphs: Python's side of variable scopes and get_variable, collections, what tf.Variable has more in a graph."""
import collections.abc as collections_abc
import enum
import functools
import inspect

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import partitioned as _partitioned
from thalweg._graph_mode import scopes as _scopes
from thalweg._graph_mode import session as _session

_v1 = tf.compat.v1
_get_variable, _enter_scope, _exit_scope = _v1._get_variable, _v1._enter_variable_scope, _v1._exit_variable_scope
VariableScope, get_variable_scope = _v1.VariableScope, _v1.get_variable_scope


class GraphKeys:
    """Names of collections."""
    GLOBAL_VARIABLES = VARIABLES = "variables"
    TABLE_INITIALIZERS = "table_initializer"


for _key in ("local_variables metric_variables model_variables trainable_variables summaries queue_runners asset_filepaths moving_average_variables "
             "regularization_losses concatenated_variables savers weights biases activations update_ops losses saveable_objects resources local_resources "
             "trainable_resource_variables init_op local_init_op ready_op ready_for_local_init_op summary_op global_step eval_step train_op cond_context "
             "while_context").split():
    setattr(GraphKeys, _key.upper(), _key)


# ---- collections ----

for _name, _arguments, _doc in (("get_collection", "key, scope=None", "The values of a collection of the default graph."),
                                ("get_collection_ref", "key", "The list of a collection of the default graph."),
                                ("add_to_collection", "name, value", "Adds to a collection of the default graph."),
                                ("add_to_collections", "names, value", "Adds to several collections of the default graph.")):
    exec("def %s(%s):\n    return _v1.get_default_graph().%s(%s)" % (_name, _arguments, _name, _arguments.replace("=None", "")))
    globals()[_name].__doc__ = _doc


def is_variable_initialized(variable):
    """Whether the variable has a value."""
    return variable.is_initialized()


# ---- variable scopes ----

class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
_REUSE = {None: "inherit", False: "no", True: "yes", AUTO_REUSE: "auto"}
_GIVEN = ("initializer", "regularizer", "constraint", "custom_getter", "use_resource", "partitioner")  # as Python gave them


class _FunctionInitializer(tf.keras.initializers.Initializer):
    """A Python function that makes the first value: of a shape and a dtype, or of nothing where no shape is known."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def __call__(self, shape, dtype=None):
        arguments = inspect.signature(self._function).parameters
        if shape.is_fully_defined():
            more = {"partition_info": _partitioned.PartitionInfo.now()} if "partition_info" in arguments else {}
            return self._function(shape.as_list(), dtype=dtype, **more)
        if any(a.default is a.empty and a.kind is not a.VAR_POSITIONAL and a.kind is not a.VAR_KEYWORD for a in arguments.values()):
            raise ValueError("The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided "
                             "or an instance of `tf.keras.initializers.*' and `shape` should be fully defined.")
        return self._function()


def _as_initializer(initializer):
    """What the library takes: an initializer or a tensor."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if initializer is None or isinstance(initializer, tf.keras.initializers.Initializer) or _core.is_tensor(initializer):
        return initializer
    return _FunctionInitializer(initializer) if callable(initializer) else _core.call_eagerly(tf.convert_to_tensor, initializer)


def _given(name):
    return property(lambda self: self.__dict__.get("_given_" + name))


def _giver(name, doc):
    def give(self, value):
        self.__dict__["_given_" + name] = value
    give.__name__, give.__doc__ = "set_" + name, doc
    return give


def _of_scope(key):
    def found(self):
        """Those of the scope."""
        return self.get_collection(getattr(GraphKeys, key))
    found.__name__ = key.lower()
    return found


class _ScopeMembers:
    """What is put onto the type tf.compat.v1.VariableScope: what Python gave, and what collections tell."""

    initializer, regularizer, constraint, custom_getter, use_resource, partitioner = map(_given, _GIVEN)
    reuse = property(lambda self: AUTO_REUSE if self._reuse == "auto" else self._reuse == "yes")
    caching_device = property(lambda self: None)

    def set_initializer(self, value):
        """The initializer of variables that are given none."""
        self.__dict__["_given_initializer"] = value
        self._set_initializer(_as_initializer(value))

    set_regularizer = _giver("regularizer", "The regularizer of variables that are given none.")
    set_use_resource = _giver("use_resource", "Accepted: all variables are resources.")
    set_partitioner = _giver("partitioner", "What cuts variables that are given no partitioner.")
    set_custom_getter = _giver("custom_getter", "What get_variable calls.")

    def get_collection(self, name):
        """The members of a collection whose names begin with the scope's."""
        return get_collection(name, self.name + "/" if self.name else None)

    trainable_variables, global_variables, local_variables = map(_of_scope, ("TRAINABLE_VARIABLES", "GLOBAL_VARIABLES", "LOCAL_VARIABLES"))


class variable_scope:
    """with variable_scope(name_or_scope): names of get_variable begin with it, and so do those of operations."""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None, caching_device=None,
                 partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None,
                 auxiliary_name_scope=True):
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:
            reuse = None
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or `False`, while get %s" % (auxiliary_name_scope,))
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if caching_device is not None:
            raise NotImplementedError("variable_scope: caching_device is not supported")
        given = isinstance(name_or_scope, VariableScope)
        self._arguments = dict(name=None if given else name_or_scope, scope=name_or_scope if given else None, default_name=default_name,
                               initializer=_as_initializer(initializer), constraint=constraint, reuse=_REUSE[reuse], dtype=dtype,
                               auxiliary_name_scope=auxiliary_name_scope)
        self._given = dict(initializer=initializer, regularizer=regularizer, constraint=constraint, custom_getter=custom_getter,
                           use_resource=use_resource, partitioner=partitioner)

    def __enter__(self):
        base = self._arguments["scope"] or get_variable_scope()
        scope = _enter_scope(**self._arguments)
        for name in _GIVEN:
            value = self._given[name]
            inherited = getattr(base, name)
            if name == "custom_getter" and value is not None and inherited is not None:
                value = _getter_around(value, inherited)
            scope.__dict__["_given_" + name] = inherited if value is None else value
        return scope

    def __exit__(self, *exception):
        _exit_scope()


def _getter_around(own, inner):
    """A custom getter whose getter is another one."""
    def getter(create, *args, **kwargs):
        return own(lambda *a, **k: inner(create, *a, **k), *args, **kwargs)
    return getter


def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    """variable_scope with its arguments in another order."""
    return variable_scope(name_or_scope, default_name=default_name, values=values, **kwargs)


# ---- variables by name ----

class _LazyEvalTensor:
    """A regularization loss: computed when the variable is made, and again wherever it is used."""

    def __init__(self, thunk, graph):
        self._thunk, self._graph = thunk, graph
        self._first = thunk()

    def _as_graph_element(self):
        return self._first

    def _as_tensor(self):
        with self._graph.as_default():
            return self._thunk()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._first, name)

    def __array__(self, *args):
        raise NotImplementedError("a loss of a graph has no elements")


for _key in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg", "pow"):
    setattr(_LazyEvalTensor, "__%s__" % _key, lambda self, *args, _name="__%s__" % _key: getattr(self._as_tensor(), _name)(*args))


def _regularize(variable, name, regularizer, graph):
    """Python's regularizers take the variable itself; their losses are in the graph's collection."""
    def loss():
        with _scopes.name_scope_of(name + "/Regularizer/"):
            return regularizer(variable)
    with _scopes.name_scope_of(None):
        if regularizer(variable) is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, _LazyEvalTensor(loss, graph))


def _create(name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None, trainable=None, collections=None,
            caching_device=None, partitioner=None, validate_shape=True, use_resource=None, constraint=None, synchronization=None,
            aggregation=None):
    """The variable of that whole name."""
    for argument, value in (("caching_device", caching_device), ("aggregation", aggregation)):
        if value is not None and value not in (tf.VariableAggregation.NONE,):
            raise NotImplementedError("get_variable: %s is not supported" % argument)
    if partitioner is not None and not callable(partitioner):
        raise ValueError("Partitioner must be callable, but received: %s" % (partitioner,))
    if trainable is None:
        trainable = synchronization is not tf.VariableSynchronization.ON_READ
    known, initializer = _partitioned.known(), _as_initializer(initializer)
    reuse = bool(reuse) if reuse is None else reuse
    common = dict(trainable=trainable, collections=None if collections is None else [str(c) for c in collections], validate_shape=validate_shape,
                  constraint=constraint, reuse=_REUSE[reuse], whole_name=True)
    scalar = shape is not None and isinstance(shape, collections_abc.Sequence) and not shape
    if (partitioner is not None and not scalar) or (name in known and reuse is True):
        if name in _made_names():
            raise ValueError("A partitioner was provided, but an unpartitioned version of the variable was found: %s.  Perhaps a variable of the same name "
                             "was already created without partitioning?" % name)
        return _partitioned.get(name, shape, _v1.get_variable_scope().dtype if dtype is None else dtype, initializer, partitioner, reuse,
                                lambda shape, parts: _regularized(regularizer, _v1._get_partitioned_variable, name, shape, list(parts), dtype, initializer,
                                                                  None, **common))
    if name in known:
        raise ValueError("No partitioner was provided, but a partitioned version of the variable was found: %s/part_0. Perhaps a variable of the same name "
                         "was already created with partitioning?" % name)
    return _regularized(regularizer, _get_variable, name, shape, dtype, initializer, None, **common)


def _made_names():
    return () if _core.executing_eagerly() else {variable.op.name for variable in _v1.get_default_graph()._variables("")}


def _regularized(regularizer, make, *args, **kwargs):
    """What make(...) gives; losses of variables that were made now are kept."""
    graph = None if _core.executing_eagerly() or regularizer is None else _v1.get_default_graph()
    before = 0 if graph is None else len(graph._variables(""))
    made = make(*args, **kwargs)
    if graph is not None and len(graph._variables("")) > before:
        for variable in made if isinstance(made, list) else [made]:
            _regularize(variable, variable.op.name, regularizer, graph)
    return made


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None, caching_device=None,
                 partitioner=None, validate_shape=True, use_resource=None, custom_getter=None, constraint=None, synchronization=None,
                 aggregation=None):
    """The variable of that name in the present variable scope, made or, where the scope says so, shared."""
    scope = get_variable_scope()
    whole = scope.name + "/" + name if scope.name else name
    arguments = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer or scope.regularizer, reuse=scope.reuse,
                     trainable=trainable, collections=collections, caching_device=caching_device,
                     partitioner=scope.partitioner if partitioner is None else partitioner, validate_shape=validate_shape, use_resource=use_resource, constraint=constraint, synchronization=synchronization,
                     aggregation=aggregation)
    getter = custom_getter or scope.custom_getter
    from thalweg._graph_mode import tracked
    create = functools.partial(tracked.get, _create)
    if getter is None:
        return create(whole, **arguments)
    arguments.update(dtype=scope.dtype if dtype is None else tf.as_dtype(dtype), initializer=scope.initializer if initializer is None else initializer)
    return getter(create, whole, **arguments)


def get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False, collections=None, **others):
    """get_variable of a local variable, which is not trained."""
    collections = list(collections or []) + [GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, **others)


# ---- variables ----

def _new_variable(cls, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None, name=None,
                  variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None, use_resource=None,
                  synchronization=None, aggregation=None, shape=None):
    """tf.compat.v1.Variable: its arguments in their order."""
    if variable_def is not None or import_scope is not None or expected_shape is not None:
        raise NotImplementedError("tf.compat.v1.Variable: variable_def, import_scope and expected_shape are not supported")
    trainable = True if trainable is None else trainable
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    _v1._variable_collections(collections)
    try:
        return tf.Variable(initial_value, trainable=trainable, validate_shape=validate_shape, caching_device=caching_device, name=name,
                           dtype=dtype, constraint=constraint, synchronization=synchronization, aggregation=aggregation, shape=shape)
    finally:
        _v1._variable_collections(None)


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, tf.Variable)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, tf.Variable)

    __call__ = _new_variable


class VariableV1(metaclass=_VariableMeta):
    """tf.compat.v1.Variable: a tf.Variable that takes `collections`."""


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """ref.assign(value)"""
    return ref.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """ref.assign_add(value)"""
    return ref.assign_add(value)


def assign_sub(ref, value, use_locking=None, name=None):
    """ref.assign_sub(value)"""
    return ref.assign_sub(value)


def _op(self):
    """The operation of the variable, or of the assignment that gave it."""
    op = self.__dict__.get("_assigned_op")
    return self._handle_op if op is None else op


def _in_graph(name, method):
    """A method of variables in graphs; others have the one that was there."""
    other = getattr(tf.Variable, name)

    def choose(self, *args, **kwargs):
        return (other if self._graph is None else method)(self, *args, **kwargs)
    choose.__name__, choose.__doc__ = name, method.__doc__
    return choose


def _eval(self, session=None):
    """The value in a session."""
    return _session.evaluate(self._as_graph_element(), None, session)


def _load(self, value, session=None):
    """Sets the value in a session."""
    session = session or _session.get_default_session()
    if session is None:
        raise ValueError("Either session argument should be provided or default session should be established")
    session._core.assign(self, _core.eager_tensor(value, self.dtype))


def _initialized_value(self):
    """The value, or the first one if it has none."""
    return tf.cond(self.is_initialized(), self.read_value, lambda: self.initial_value)


def _property_in_graph(name, method):
    """A property of variables in graphs; others have the one that was there."""
    other = getattr(tf.Variable, name, None)

    def choose(self):
        if self._graph is not None:
            return method(self)
        return other.__get__(self, type(self)) if other is not None else None
    return property(choose)


def install():
    """Puts the methods on tf.Variable and tf.compat.v1.VariableScope."""
    tf._put(_ScopeMembers, VariableScope)
    _partitioned.install()
    for name, method in (("eval", _eval), ("load", _load), ("initialized_value", _initialized_value)):
        setattr(tf.Variable, name, _in_graph(name, method))
    for name, method in (("op", _op), ("graph", lambda self: self._graph), ("initial_value", lambda self: self._first_value),
                         ("initializer", lambda self: self._initializer)):
        setattr(tf.Variable, name, _property_in_graph(name, method))
