"""Variables of graphs: variable scopes and get_variable, collections of variables, what tf.Variable has more in a graph."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import scopes as _scopes
from thalweg._graph_mode import session as _session

_v1 = tf.compat.v1


class GraphKeys:
    """Names of collections."""
    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


# ---- collections ----

def get_collection(key, scope=None):
    """The values of a collection of the default graph."""
    return _v1.get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """The list of a collection of the default graph."""
    return _v1.get_default_graph().get_collection_ref(key)


def add_to_collection(name, value):
    """Adds to a collection of the default graph."""
    _v1.get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Adds to several collections of the default graph."""
    _v1.get_default_graph().add_to_collections(names, value)


def global_variables(scope=None):
    """The variables that are shared by all."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables():
    """The same under its old name."""
    return global_variables()


def local_variables(scope=None):
    """The variables of this process alone."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    """The variables of models."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope=None):
    """The variables that are averaged."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def trainable_variables(scope=None):
    """The variables that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def global_variables_initializer():
    """An operation that gives all global variables their first values."""
    if _core.executing_eagerly():
        return _v1_no_op("global_variables_initializer")
    return _v1.variables_initializer(global_variables())


def local_variables_initializer():
    """An operation that gives all local variables their first values."""
    if _core.executing_eagerly():
        return _v1_no_op("local_variables_initializer")
    return _v1.variables_initializer(local_variables())


def initialize_all_variables():
    """global_variables_initializer under its old name."""
    return global_variables_initializer()


def _v1_no_op(name):
    del name  # in eager execution variables have their values when they are made


def tables_initializer(name="init_all_tables"):
    """An operation that does nothing: there are no tables in graphs."""
    return _v1.variables_initializer([], name=name)


def is_variable_initialized(variable):
    """Whether the variable has a value."""
    return variable.is_initialized()


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """The names of the variables that have no value, as a tensor of strings."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with _scopes.name_scope(name):
        if not var_list:
            return tf.constant([], dtype=tf.string)
        missing = tf.logical_not(tf.stack([v.is_initialized() for v in var_list]))
        return tf.boolean_mask(tf.constant([v.op.name if not _core.executing_eagerly() else v.name for v in var_list]), missing)


# ---- variables by name ----

class _ReuseMode:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "<_ReuseMode.AUTO_REUSE: %d>" % self.value


AUTO_REUSE = _ReuseMode(1)


class _LazyEvalTensor:
    """A regularization loss that is computed when it is first used."""

    def __init__(self, thunk, graph):
        self._thunk, self._graph, self._value = thunk, graph, None

    def _as_graph_element(self):
        if self._value is None:
            with self._graph.as_default():
                self._value = self._thunk()
        return self._value

    def __getattr__(self, name):
        return getattr(self._as_graph_element(), name)

    def __array__(self, *args):
        raise NotImplementedError("a loss of a graph has no elements")


def _operators_of_lazy():
    for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg", "pow"):
        def method(self, *args, _name="__%s__" % name):
            return getattr(self._as_graph_element(), _name)(*args)
        setattr(_LazyEvalTensor, "__%s__" % name, method)


_operators_of_lazy()


class VariableScope:
    """What get_variable goes by: a prefix of names, defaults, and whether variables are shared."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None, custom_getter=None,
                 name_scope="", dtype=tf.float32, use_resource=None, constraint=None):
        self._name, self._initializer, self._regularizer, self._reuse = name, initializer, regularizer, reuse
        self._caching_device, self._partitioner, self._custom_getter = caching_device, partitioner, custom_getter
        self._name_scope, self._dtype, self._use_resource, self._constraint = name_scope, dtype, use_resource, constraint

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    constraint = property(lambda self: self._constraint)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)

    def reuse_variables(self):
        """From now on variables of this scope are shared."""
        self._reuse = True

    def set_initializer(self, initializer):
        """The initializer of variables without one."""
        self._initializer = initializer

    def set_regularizer(self, regularizer):
        """The regularizer of variables without one."""
        self._regularizer = regularizer

    def set_dtype(self, dtype):
        """The dtype of variables without one."""
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        """Accepted: every variable is a resource."""
        self._use_resource = use_resource

    def set_custom_getter(self, custom_getter):
        """The function that makes variables."""
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The members of a collection whose names begin with the scope's."""
        return get_collection(name, self._name + "/" if self._name else None)

    def trainable_variables(self):
        """Those of the scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        """Those of the scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """Those of the scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)


class _Store:
    """Of a graph: the present scope, variables by name, how often scopes were opened."""

    def __init__(self):
        self.scope = VariableScope(False)
        self.variables = {}
        self.opened = {}

    def open(self, name):
        self.opened[name] = self.opened.get(name, 0) + 1

    def close_below(self, name):
        for key in list(self.opened):
            if name is None or key.startswith(name + "/"):
                self.opened[key] = 0

    def unique(self, prefix):
        present = self.scope.name
        name = present + "/" + prefix if present else prefix
        if not self.opened.get(name, 0):
            return prefix
        at = 1
        while self.opened.get("%s_%d" % (name, at), 0):
            at += 1
        return "%s_%d" % (prefix, at)


_eager_store = _Store()


def _store():
    if _core.executing_eagerly():
        return _eager_store
    graph = _v1.get_default_graph()
    store = graph.__dict__.get("_variable_store")
    if store is None:
        store = graph.__dict__["_variable_store"] = _Store()
    return store


def get_variable_scope():
    """The present variable scope."""
    return _store().scope


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
        if default_name is not None and name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        for name, value in (("caching_device", caching_device), ("partitioner", partitioner)):
            if value is not None:
                raise NotImplementedError("variable_scope: %s is not supported" % name)
        self._given, self._default = name_or_scope, default_name
        self._settings = dict(initializer=initializer, regularizer=regularizer, dtype=dtype, use_resource=use_resource, constraint=constraint)
        self._custom_getter, self._reuse, self._auxiliary = custom_getter, reuse, auxiliary_name_scope
        self._entered = []

    def __enter__(self):
        store = _store()
        outer = store.scope
        given = self._given
        context = None
        if given is None:
            name = store.unique(self._default)
        else:
            name = given if isinstance(given, str) else given.name.split("/")[-1]
        if isinstance(given, VariableScope):
            whole, base = given.name, given
        else:
            whole, base = (outer.name + "/" + name if outer.name else name), outer
        original = base.original_name_scope
        if self._auxiliary and name:
            context = _scopes.name_scope_of(name)
            entered = context.__enter__()
            original = base.original_name_scope if isinstance(given, VariableScope) else entered
        scope = VariableScope(base.reuse if self._reuse is None else self._reuse, whole, name_scope=original,
                              **{key: getattr(base, key) if value is None else value for key, value in self._settings.items()})
        if outer.reuse is True and self._reuse is None:
            scope._reuse = True
        getter = self._custom_getter
        if getter is not None and base.custom_getter is not None:
            inner = base.custom_getter

            def getter(create, *args, _own=self._custom_getter, **kwargs):
                return _own(lambda *a, **k: inner(create, *a, **k), *args, **kwargs)
        scope._custom_getter = getter if getter is not None else base.custom_getter
        store.open(whole)
        before = dict(store.opened) if isinstance(given, VariableScope) else None
        store.scope = scope
        self._entered.append((store, outer, context, before, whole))
        return scope

    def __exit__(self, *exception):
        store, outer, context, before, whole = self._entered.pop()
        store.close_below(whole)
        if before is not None:
            store.opened = before
        store.scope = outer
        if context is not None:
            context.__exit__(*exception)


def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    """variable_scope with its arguments in another order."""
    return variable_scope(name_or_scope, default_name=default_name, values=values, **kwargs)


def _arguments_of(initializer):
    """The names of a Python function's arguments; None: an object that is called with shape and dtype."""
    import inspect
    if not inspect.isfunction(initializer) and not inspect.ismethod(initializer):
        return None
    return list(inspect.signature(initializer).parameters)


def _initial_value(name, shape, dtype, initializer):
    """A function that makes the first value."""
    if initializer is None:
        if dtype.is_floating:
            initializer = _v1.glorot_uniform_initializer()
        elif dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == tf.string:
            initializer = _v1.zeros_initializer()
        else:
            raise ValueError("An initializer for variable %s of %s is required" % (name, dtype))
    if isinstance(initializer, type):
        initializer = initializer()
    if callable(initializer) and not _core.is_tensor(initializer):
        takes = _arguments_of(initializer)
        if shape is not None and shape.is_fully_defined():
            if takes is None or "dtype" in takes or len(takes) > 1:
                return (lambda: initializer(shape.as_list(), dtype=dtype)), dtype
            return (lambda: initializer(shape.as_list()) if takes else initializer()), dtype
        if takes is not None and not takes:
            return initializer, None
        raise ValueError("The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided "
                         "or an instance of `tf.keras.initializers.*' and `shape` should be fully defined.")
    if shape is not None:
        raise ValueError("If initializer is a constant, do not specify shape.")
    return initializer, None


def _make(name, shape, dtype, initializer, regularizer, trainable, collections, validate_shape, constraint):
    """A new variable of that whole name."""
    graph = None if _core.executing_eagerly() else _v1.get_default_graph()
    first, known = _initial_value(name, shape, dtype, initializer)
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    with tf.init_scope(), control_free(graph), _scopes.name_scope_of(None):
        _v1._variable_collections(collections)
        try:
            variable = tf.Variable(first, name=name, trainable=bool(trainable), dtype=known, constraint=constraint,
                                   validate_shape=validate_shape)
        finally:
            _v1._variable_collections(None)
    if regularizer is not None and graph is not None:
        def loss():
            with _scopes.name_scope_of(name + "/Regularizer/"):
                return regularizer(variable)
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, _LazyEvalTensor(loss, graph))
    return variable


def control_free(graph):
    """A context without control dependencies."""
    return _scopes._Nothing() if graph is None else graph.control_dependencies(None)


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None, caching_device=None,
                 partitioner=None, validate_shape=True, use_resource=None, custom_getter=None, constraint=None, synchronization=None,
                 aggregation=None):
    """The variable of that name in the present variable scope, made or, where the scope says so, shared."""
    for argument, value in (("caching_device", caching_device), ("partitioner", partitioner)):
        if value is not None:
            raise NotImplementedError("get_variable: %s is not supported" % argument)
    store = _store()
    scope = store.scope
    whole = scope.name + "/" + name if scope.name else name
    if initializer is None:
        initializer = scope.initializer
    if regularizer is None:
        regularizer = scope.regularizer
    if constraint is None:
        constraint = scope.constraint
    if dtype is None:
        dtype = scope.dtype if not _core.is_tensor(initializer) else initializer.dtype
        if initializer is not None and not callable(initializer) and not _core.is_tensor(initializer):
            dtype = tf.convert_to_tensor(initializer).dtype if _core.executing_eagerly() else scope.dtype
    getter = custom_getter or scope.custom_getter

    def create(name, shape=None, dtype=tf.float32, initializer=None, regularizer=None, reuse=None, trainable=None, collections=None,
               validate_shape=True, constraint=None, **others):
        dtype = tf.as_dtype(dtype)
        shape = None if shape is None else tf.TensorShape(shape)
        if trainable is None:
            trainable = True
        have = store.variables.get(name)
        if have is not None:
            if reuse is False or reuse is None:
                raise ValueError("Variable %s already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?" % name)
            if shape is not None and not shape.is_compatible_with(have.shape):
                raise ValueError("Trying to share variable %s, but specified shape %s and found shape %s." % (name, shape, have.shape))
            if not dtype.is_compatible_with(have.dtype):
                raise ValueError("Trying to share variable %s, but specified dtype %s and found dtype %s." % (name, dtype.name, have.dtype.name))
            return have
        if reuse is True:
            raise ValueError("Variable %s does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
                             "VarScope?" % name)
        if initializer is None and shape is None:
            raise ValueError("Variable %s did not get an initializer, so its `shape` argument must be specified." % name)
        variable = _make(name, shape, dtype, initializer, regularizer, trainable, collections, validate_shape, constraint)
        store.variables[name] = variable
        return variable
    arguments = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=scope.reuse, trainable=trainable,
                     collections=collections, validate_shape=validate_shape, constraint=constraint)
    return create(whole, **arguments) if getter is None else getter(create, whole, **arguments)


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
    return ref.assign_add(value, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    """ref.assign_sub(value)"""
    return ref.assign_sub(value, name=name)


def _element(self):
    """What a session takes for the variable."""
    value = self.__dict__.get("_assigned_value")
    return self._snapshot if value is None else value


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
    return _session.evaluate(_element(self), None, session)


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
    """Puts the methods on tf.Variable."""
    for name, method in (("eval", _eval), ("load", _load), ("initialized_value", _initialized_value)):
        setattr(tf.Variable, name, _in_graph(name, method))
    for name, method in (("op", _op), ("graph", lambda self: self._graph), ("initial_value", lambda self: self._first_value),
                         ("initializer", lambda self: self._initializer)):
        setattr(tf.Variable, name, _property_in_graph(name, method))
    tf.Variable._as_graph_element = _element
