"""tf.distribute as Python has it: structures of values that differ between replicas, scopes, contexts. The replicas themselves, their turns, copies
of variables and sums are C's (src/distribute). Loaded when first asked for."""
import contextlib
import enum
import threading

import thalweg as tf
from thalweg import _core, _log
from thalweg._distribute_data import InputContext, InputOptions, InputReplicationMode, RunOptions, ValueContext, grouped

_rows = tf.distribute._rows
Strategy, MirroredStrategy, OneDeviceStrategy = _rows.Strategy, _rows.MirroredStrategy, _rows.OneDeviceStrategy
_TensorPerReplica, PerReplicaSpec = _rows._PerReplica, _rows._PerReplicaSpec
_state = threading.local()  # run: whose replica the thread is
_ACROSS = "Method requires being in cross-replica context, use get_replica_context().merge_call()"


class ReduceOp(enum.Enum):
    """How values of replicas are combined."""
    SUM, MEAN = "SUM", "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """The same for what a variable says."""
        return {"SUM": ReduceOp.SUM, "MEAN": ReduceOp.MEAN}[aggregation.name]


def _reduce_op(reduce_op):
    if isinstance(reduce_op, ReduceOp):
        return reduce_op
    return ReduceOp(reduce_op.upper() if isinstance(reduce_op, str) else reduce_op)


# ---- values ----

class DistributedValues:
    """Values of which each replica has its own."""

    values = property(lambda self: self._values)

    def __init__(self, values):
        self._values = tuple(values)

    def _text(self, write):
        inner = ",\n".join("  %d: %s" % (i, write(v)) for i, v in enumerate(self.values))
        return "%s:{\n%s\n}" % (type(self).__name__.lstrip("_"), inner)

    def __str__(self):
        return self._text(str)

    def __repr__(self):
        return self._text(repr)


class PerReplica(DistributedValues):
    """A value for each replica."""


_TensorPerReplica._text, _TensorPerReplica.__str__, _TensorPerReplica.__repr__ = (
    DistributedValues._text, DistributedValues.__str__, DistributedValues.__repr__)
_TensorPerReplica.__name__ = _TensorPerReplica.__qualname__ = "PerReplica"
_TensorPerReplica._values = property(lambda self: tuple(self.values))
PerReplicaSpec.__name__ = PerReplicaSpec.__qualname__ = "PerReplicaSpec"
_TensorPerReplica._type_spec = property(lambda self: tf.type_spec_from_value(self))


def _is_distributed(value):
    return isinstance(value, (DistributedValues, _TensorPerReplica))


def _copies(value):
    """The copies of a variable that has some; None for anything else."""
    return value._components if isinstance(value, tf.Variable) and value._mirror_kind else None


def _per_replica(values):
    if all(_core.is_tensor(v) and not isinstance(v, tf.Variable) for v in values):
        return _TensorPerReplica(list(values))
    return PerReplica(values)


def regroup(values):
    """The structures of several replicas as one whose leaves differ."""
    first = values[0]
    if all(v is first for v in values):
        return first
    if isinstance(first, (list, tuple)) and all(type(v) is type(first) and len(v) == len(first) for v in values):
        members = [regroup([v[i] for v in values]) for i in range(len(first))]
        return type(first)(*members) if hasattr(first, "_fields") else type(first)(members)
    if isinstance(first, dict) and all(isinstance(v, dict) and v.keys() == first.keys() for v in values):
        return type(first)((key, regroup([v[key] for v in values])) for key in first)
    if isinstance(first, tf.Variable) and first._mirror_kind and all(
            isinstance(v, tf.Variable) and type(v) is tf.Variable and v._mirror_kind for v in values):
        return first
    return _per_replica(values)


def select(replica, structure):
    """What a replica sees of a structure."""
    def part(value):
        return value.values[replica if len(value.values) > 1 else 0] if _is_distributed(value) else value
    return tf.nest.map_structure(part, structure)


# ---- contexts ----

class ReplicaContext:
    """What a replica knows of itself."""

    def __init__(self, strategy, replica_id_in_sync_group):
        self._strategy, self._replica = strategy, replica_id_in_sync_group

    strategy = property(lambda self: self._strategy)
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)
    _replica_id = property(lambda self: self._replica)

    @property
    def replica_id_in_sync_group(self):
        """Its number, as a tensor."""
        here, worker, _ = self._strategy._here
        return tf.constant(worker * here + self._replica, tf.int32)

    @property
    def devices(self):
        """The device it runs on, in a list."""
        names = self._strategy._devices
        return [[names[self._replica]]] if names else []

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls a function once for all replicas: merge_fn(strategy, *args) with values that differ between replicas."""
        kwargs = kwargs or {}
        if self._strategy is _default:
            return merge_fn(self._strategy, *args, **kwargs)
        return _merge(self._strategy, merge_fn, args, kwargs)

    def all_reduce(self, reduce_op, value, options=None):
        """The sum, or the mean, of the replicas' values."""
        return _all_reduce(self, _reduce_op(reduce_op), value)

    def all_gather(self, value, axis, options=None):
        """The replicas' values one behind the other."""
        return self.merge_call(lambda strategy, given: strategy.gather(given, axis), args=(tf.nest.map_structure(tf.convert_to_tensor, value),))

    def __enter__(self):
        """Nothing changes: the thread knows its replica."""

    def __exit__(self, *exception):
        return None


def _all_reduce(context, reduce_op, value):
    leaves = tf.nest.flatten(value)
    if any(isinstance(v, tf.IndexedSlices) for v in leaves):
        def merge(strategy, given):
            return [strategy.reduce(reduce_op, v, axis=None) if _is_distributed(v) else v for v in given]
        return tf.nest.pack_sequence_as(value, context.merge_call(merge, args=(leaves,)))
    out = _rows._all_reduce(reduce_op is ReduceOp.MEAN, [tf.convert_to_tensor(v) for v in leaves])
    return tf.nest.pack_sequence_as(value, list(out)) if tf.nest.is_nested(value) else out[0]


class _Stopped(BaseException):
    """Ends a replica because another one failed."""


def _merge(strategy, merge_fn, args, kwargs):
    run = getattr(_state, "run", None)  # None: of fit, whose replicas are C's
    count = strategy._here[0]

    def merge(given):
        outer, _state.run = getattr(_state, "run", None), run
        try:
            whole_args = regroup([g[0] for g in given])
            whole_kwargs = regroup([g[1] for g in given])
            result = merge_fn(strategy, *whole_args, **whole_kwargs)
            return [select(i, result) for i in range(count)]
        except BaseException as error:
            if run is None:
                raise
            run.error = run.error or error
            return [_Stopped] * count
        finally:
            _state.run = outer
    try:
        result = _core.replica_merge(merge, (tuple(args), kwargs))
    except tf.errors.CancelledError:
        raise _Stopped from None
    if result is _Stopped:
        raise _Stopped
    return result


def get_strategy():
    """The strategy whose scope or replica this is; a default one of a single replica if there is none."""
    return _rows._current() or _default


def has_strategy():
    """Whether this is the scope, or a replica, of a strategy."""
    return _rows._current() is not None


def get_replica_context():
    """What the replica knows of itself; None in a strategy's scope, outside of replicas."""
    replica = _rows._replica()
    if replica >= 0:
        return ReplicaContext(_rows._current(), replica)
    return None if has_strategy() else _default_context


def in_cross_replica_context():
    """Whether this is a strategy's scope and no replica."""
    return has_strategy() and _rows._replica() < 0


def experimental_set_strategy(strategy):
    """Enters a strategy's scope for good; None leaves it."""
    while has_strategy():
        if _rows._replica() >= 0:
            raise RuntimeError(_ACROSS)
        _rows._current()._exit()
    if strategy is not None:
        strategy._enter()


# ---- runs ----

class _Run:
    """One run of a strategy."""

    def __init__(self, strategy, function, args, kwargs):
        self.error, self.results = None, [None] * strategy._here[0]
        self._function, self._args, self._kwargs = function, args, kwargs
        self._converted = _core._in_function()

    def body(self, replica):
        """In the replica's thread."""
        outer, _state.run = getattr(_state, "run", None), self
        try:
            if self._converted:
                from thalweg.autograph import control
            with control.Enabled() if self._converted else contextlib.nullcontext():
                self.results[replica] = self._function(*select(replica, self._args), **select(replica, self._kwargs))
            return True
        except _Stopped:
            return False
        except BaseException as error:
            self.error = self.error or error
            return False
        finally:
            _state.run = outer

    def __call__(self, strategy):
        try:
            _core.strategy_run(strategy, self.body)
        except tf.errors.CancelledError:
            if self.error is None:
                raise
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = None
        return regroup(self.results)


_eager_runs = 0


def _warn_of_eager_runs():
    global _eager_runs
    _eager_runs += 1
    if _eager_runs <= 5:
        _log.warning("Using MirroredStrategy eagerly has significant overhead currently. We will be working on improving this in the future, but for "
                     "now please wrap `call_for_each_replica` or `experimental_run` or `run` inside a tf.function to get the best performance.")


class _Scope:
    """with strategy.scope():"""

    def __init__(self, strategy):
        self._strategy = strategy

    def __enter__(self):
        if self._strategy is not _default:
            now = _rows._current()
            if now is not None and now is not self._strategy:
                raise RuntimeError("Mixing different tf.distribute.Strategy objects: %s is not %s" % (now, self._strategy))
            self._strategy._enter()
        return self._strategy

    def __exit__(self, *exception):
        if self._strategy is not _default:
            self._strategy._exit()
        return False


class Methods:
    """What is put onto the type tf.distribute.Strategy."""

    cluster_resolver = property(lambda self: self.__dict__.get("_workers", self.__dict__.get("_resolver")))
    extended = property(lambda self: StrategyExtended(self))

    def scope(self):
        """Variables that are made inside are the strategy's."""
        return _Scope(self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls fn in every replica, with the replica's part of the arguments; the results differ between replicas."""
        if _rows._replica() >= 0:
            raise RuntimeError(_ACROSS)
        if not isinstance(args, (list, tuple)):
            raise ValueError("positional args must be a list or tuple, got {}".format(type(args)))
        args, kwargs = tuple(args), dict(kwargs or {})
        if isinstance(fn, _core.Function):
            if tf.executing_eagerly() and not tf.config.functions_run_eagerly():
                return _traced_run(self, fn)(args, kwargs)
            fn = fn.python_function
        elif not _core._in_function() and isinstance(self, MirroredStrategy):
            _warn_of_eager_runs()
        if _core._in_function() and callable(fn):
            from thalweg import autograph
            fn = autograph.convert(fn)
        return _Run(self, fn, args, kwargs)(self)

    experimental_run_v2 = run

    def reduce(self, reduce_op, value, axis):
        """One value from those of the replicas, over an axis of them, too, if one is given."""
        if _rows._replica() >= 0:
            raise RuntimeError(_ACROSS)
        return _reduce(self, _reduce_op(reduce_op), value, axis)

    def gather(self, value, axis):
        """The replicas' tensors one behind the other."""
        if _rows._replica() >= 0:
            raise RuntimeError(_ACROSS)
        return tf.nest.map_structure(lambda v: tf.concat(list(v.values), axis) if _is_distributed(v) else v, value)

    def experimental_local_results(self, value):
        """The replicas' values as a tuple."""
        count = self._here[0]
        if tf.nest.is_nested(value):
            return tuple(select(i, tf.nest.map_structure(lambda v: PerReplica(_copies(v)) if _copies(v) else v, value)) for i in range(count))
        copies = _copies(value)
        return tuple(copies) if copies else tuple(value.values) if _is_distributed(value) else (value,)

    def experimental_distribute_dataset(self, dataset, options=None):
        """A dataset whose batches are split into a part for each replica."""
        return self._split_dataset(dataset)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """A dataset that a function makes, of batches of single replicas."""
        _, worker, workers = self._here
        return grouped(self, dataset_fn(InputContext(workers, worker, self.num_replicas_in_sync)))

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn):
        """Values that a function makes for each replica."""
        here, worker, _ = self._here
        return regroup([value_fn(ValueContext(worker * here + i, self.num_replicas_in_sync)) for i in range(here)])

    def unwrap(self, value):
        """The replicas' values as a tuple."""
        return self.experimental_local_results(value)

    def group(self, value, name=None):
        """The replicas' values together, as an operation in a graph."""
        parts = self.experimental_local_results(value)
        return parts[0] if len(parts) == 1 and name is None else tf.group(*parts, name=name)

    def colocate_vars_with(self, colocate_with_variable):
        """A scope in which nothing changes: variables share one memory."""
        return self.extended.colocate_vars_with(colocate_with_variable)

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """Nothing: there is one process."""

    def update_config_proto(self, config_proto):
        """The same message: there is one process."""
        return config_proto

    def experimental_run(self, fn, input_iterator=None):
        """Runs a function in every replica, with the next values of an iterator."""
        return self.run(fn, args=() if input_iterator is None else (next(input_iterator),))

    def make_dataset_iterator(self, dataset):
        """An iterator over the dataset, split into parts for the replicas."""
        return iter(self._split_dataset(dataset))

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """The same for a dataset that a function makes."""
        return iter(self.distribute_datasets_from_function(input_fn))

    def __deepcopy__(self, memo):
        return self


def _traced_run(strategy, function):
    """A tf.function whose body runs in every replica."""
    made = strategy.__dict__.setdefault("_traced", {})
    if function not in made:
        inner = function.python_function

        def replicated(args, kwargs):
            from thalweg import autograph
            return _Run(strategy, autograph.convert(inner), args, kwargs)(strategy)
        replicated.autograph_do_not_convert = True
        made[function] = tf.function(replicated, autograph=False)
    return made[function]


def _reduce_leaf(strategy, reduce_op, value):
    copies = _copies(value)
    count = strategy.num_replicas_in_sync
    if copies:
        return copies[0]
    if not _is_distributed(value) and strategy._here[0] == 1 < count:
        return _rows._reduce(reduce_op is ReduceOp.MEAN, [tf.convert_to_tensor(value)], None, strategy)
    if not _is_distributed(value):
        if count == 1 or reduce_op is ReduceOp.MEAN:
            return value
        raise ValueError("A non-DistributedValues value %s cannot be reduced with the given reduce op %s." % (value, reduce_op))
    values = list(value.values)
    if strategy._here[2] == 1 and all(isinstance(v, tf.IndexedSlices) for v in values):
        joined = tf.concat([v.values for v in values], 0)
        return tf.IndexedSlices(joined / len(values) if reduce_op is ReduceOp.MEAN else joined, tf.concat([v.indices for v in values], 0),
                                values[0].dense_shape)
    return _rows._reduce(reduce_op is ReduceOp.MEAN, [tf.convert_to_tensor(v) for v in values], None, strategy)


def _reduce(strategy, reduce_op, value, axis):
    if axis is not None:
        mean = reduce_op is ReduceOp.MEAN
        return tf.nest.map_structure(lambda v: _rows._reduce(mean, list(v.values) if _is_distributed(v) else [v], axis, None if strategy is _default else strategy), value)
    result = tf.nest.map_structure(lambda v: _reduce_leaf(strategy, reduce_op, v), value)
    if strategy is not _default and not tf.nest.is_nested(result) and not isinstance(result, (tf.Variable, tf.IndexedSlices)):
        return tf.convert_to_tensor(result)
    return result


class StrategyExtended:
    """Further methods of a strategy."""

    def __init__(self, strategy):
        self._strategy = strategy

    worker_devices = parameter_devices = property(lambda self: self._strategy._devices)
    experimental_require_static_shapes = False
    experimental_between_graph = False
    should_checkpoint = should_save_summary = property(lambda self: self._strategy._here[1] == 0)
    _num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Strategy.run."""
        return self._strategy.run(fn, args, kwargs)

    def variable_created_in_scope(self, v):
        """Whether the variable is this strategy's."""
        return self._strategy is _default or not isinstance(self._strategy, MirroredStrategy) or self._strategy._made(v)

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """Strategy.reduce without an axis."""
        return self._strategy.reduce(reduce_op, value, axis=None)

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """The same for several values."""
        return [self.reduce_to(reduce_op, value, to) for value, to in value_destination_pairs]

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls fn(copy, *args) for every copy of a variable."""
        copies, kwargs = _copies(var) or [var], kwargs or {}
        results = [fn(v, *select(i, tuple(args)), **select(i, kwargs)) for i, v in enumerate(copies)]
        return regroup([tf.convert_to_tensor(r) if isinstance(r, tf.Variable) else r for r in results]) if len(results) > 1 else results[0]

    def value_container(self, value):
        """The variable itself."""
        return value

    def colocate_vars_with(self, colocate_with_variable):
        """A scope in which nothing changes: variables share one memory."""
        return contextlib.nullcontext()

    def read_var(self, v):
        """The value of a variable."""
        return v.read_value()


# ---- without a strategy ----

class _DefaultStrategy(Methods):
    """One replica, the program itself."""

    num_replicas_in_sync = 1
    _devices, _here = (), (1, 0, 1)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls the function."""
        return fn(*args, **(kwargs or {}))

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """What the function makes."""
        return dataset_fn(InputContext())


_default = _DefaultStrategy()
_default_context = ReplicaContext(_default, 0)


# ---- how sums are made ----

class CrossDeviceOps:
    """How values of several devices are combined: here always in one memory."""

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError("NCCL all-reduce requires num_packs >= 0, but {} is specified".format(num_packs))


NcclAllReduce, HierarchicalCopyAllReduce = (
    type(name, (CrossDeviceOps,), {"__doc__": "The same.", "__module__": __name__}) for name in ("NcclAllReduce", "HierarchicalCopyAllReduce"))


class ReductionToOneDevice(CrossDeviceOps):
    """The same."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        if accumulation_fn is not None:
            raise NotImplementedError("ReductionToOneDevice: accumulation_fn is not supported")
        super().__init__()


_mirrored_init = MirroredStrategy.__init__


def _init(self, devices=None, cross_device_ops=None):
    if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
        raise ValueError("`cross_device_ops` must be a tf.distribute.CrossDeviceOps, got %r" % (cross_device_ops,))
    _mirrored_init(self, list(devices) if devices else None)


MirroredStrategy.__init__ = _init
tf._put(Methods, Strategy)


def _module(name, members):
    import sys
    whole = "%s.%s" % (tf.distribute.__name__, name)
    made = sys.modules["thalweg.distribute." + name] = sys.modules[whole] = type(sys)(whole)
    made.__dict__.update(members)
    return made


def fill(rows):
    """Fills tf.distribute."""
    from thalweg import _cluster
    from thalweg._data import iterators
    module, own = tf.distribute, globals()
    module.__dict__.update(rows)
    for name in ("CrossDeviceOps DistributedValues HierarchicalCopyAllReduce InputContext InputOptions InputReplicationMode MirroredStrategy NcclAllReduce "
                 "OneDeviceStrategy ReduceOp ReductionToOneDevice ReplicaContext RunOptions Strategy StrategyExtended experimental_set_strategy "
                 "get_replica_context get_strategy has_strategy in_cross_replica_context").split():
        setattr(module, name, own[name])
    module.DistributedDataset, module.DistributedIterator = tf.data.Dataset, iterators.OwnedIterator
    module.__dict__.update(_cluster.STRATEGIES)
    module.cluster_resolver = _module("cluster_resolver", _cluster.RESOLVERS)
    from thalweg import _communication

    def named(names):
        return {name: getattr(_communication, name) for name in names}
    module.experimental = _module("experimental", dict(_cluster.EXPERIMENTAL, ValueContext=ValueContext, **named(_communication.DISTRIBUTE)))
    module.coordinator = _module("coordinator", named(_communication.COORDINATOR))
    module.experimental.partitioners = _module("experimental.partitioners", named(_communication.PARTITIONERS))
    module.experimental.coordinator = _module("experimental.coordinator", named(("ClusterCoordinator", "PerWorkerValues", "RemoteValue")))
    module.experimental.rpc = _module("experimental.rpc", named(("Client", "Server")))
