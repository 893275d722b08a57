"""Names of tf.distribute, tf.train and tf.tpu about several machines: how variables would be parted, how workers would talk, what stands for
coordinators and TPUs. Loaded when first asked for."""
import collections
import enum
import math

import numpy as np

import thalweg as tf
from thalweg import _core
from thalweg._cluster import ClusterSpec  # noqa: F401


class CommunicationImplementation(enum.Enum):
    """How workers would exchange values."""
    AUTO, RING, NCCL = "AUTO", "RING", "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions:
    """How values of replicas are combined; in one memory there is one way."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None, implementation=CommunicationImplementation.AUTO):
        if bytes_per_pack < 0:
            raise ValueError("Argument `bytes_per_pack` must be >=0, Received %s." % bytes_per_pack)
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError("Argument `implementation` must be instance of `tf.distribute.experimental.CommunicationImplementation`.")
        self.bytes_per_pack, self.timeout_seconds, self.implementation = bytes_per_pack, timeout_seconds, implementation


class CollectiveHints(CommunicationOptions):
    """The same under an older name."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None):
        super().__init__(bytes_per_pack, timeout_seconds)


# ---- parts of variables ----

class Partitioner:
    """How many parts a variable would have along each axis."""

    def __call__(self, shape, dtype, axis=0):
        raise NotImplementedError


def _bytes(shape, dtype, text):
    return shape.num_elements() * (text if dtype == tf.string else dtype.size)


def _parts(shape, axis, count):
    parts = [1] * shape.rank
    parts[axis] = max(1, min(count, shape[axis]))
    return parts


class FixedShardsPartitioner(Partitioner):
    """A number of parts."""

    def __init__(self, num_shards):
        self._num_shards = num_shards

    def __call__(self, shape, dtype, axis=0):
        return _parts(shape, axis, self._num_shards)


class MinSizePartitioner(Partitioner):
    """As many parts as there may be, each of at least some bytes."""

    def __init__(self, min_shard_bytes=256 << 10, max_shards=1, bytes_per_string=16):
        for name, value in (("min_shard_bytes", min_shard_bytes), ("max_shards", max_shards), ("bytes_per_string", bytes_per_string)):
            if value < 1:
                raise ValueError("Argument `%s` must be positive. Received: %s" % (name, value))
        self._settings = min_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        smallest, most, text = self._settings
        return _parts(shape, axis, min(most, _bytes(shape, dtype, text) // smallest))


class MaxSizePartitioner(Partitioner):
    """As few parts as there may be, each of at most some bytes."""

    def __init__(self, max_shard_bytes, max_shards=None, bytes_per_string=16):
        for name, value in (("max_shard_bytes", max_shard_bytes), ("max_shards", max_shards), ("bytes_per_string", bytes_per_string)):
            if value is not None and value < 1:
                raise ValueError("Argument `%s` must be positive. Received %s" % (name, value))
        self._settings = max_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        largest, most, text = self._settings
        slice_bytes = _bytes(shape, dtype, text) // shape[axis]
        count = math.ceil(shape[axis] / max(1, largest // slice_bytes)) if slice_bytes else 1
        return _parts(shape, axis, count if most is None else min(count, most))


# ---- what would need other machines ----

class TerminationConfig:
    """What happens when a machine is about to be taken away."""

    def __init__(self, termination_watcher_fn=None, exit_fn=None, grace_period=None, save_fn=None):
        self.termination_watcher_fn, self.exit_fn, self.grace_period, self.save_fn = termination_watcher_fn, exit_fn, grace_period, save_fn


def _unsupported(name, why):
    def init(self, *args, **kwargs):
        raise NotImplementedError("%s is not supported: %s" % (name, why))
    return type(name, (), {"__init__": init, "__doc__": "Not supported: %s." % why, "__module__": __name__})


_MACHINES, _TPUS = "other machines can't be used", "there are no TPUs"
ClusterCoordinator, PerWorkerValue, PerWorkerValues, RemoteValue, Client, Server, PreemptionCheckpointHandler, PreemptionWatcher = (
    _unsupported(name, _MACHINES) for name in
    ("ClusterCoordinator", "PerWorkerValue", "PerWorkerValues", "RemoteValue", "Client", "Server", "PreemptionCheckpointHandler", "PreemptionWatcher"))


def _absent(name):
    """A class of which no object can be made."""
    def refuse(self, *args, **kwargs):
        raise NotImplementedError("tf.tpu.experimental.embedding.%s is not supported: %s" % (name, _TPUS))
    return type(name, (), {"__init__": refuse, "__doc__": "Not supported: %s." % _TPUS})


class _HardwareFeature(_absent("HardwareFeature")):
    """What a TPU can do."""

    class EmbeddingFeature(enum.Enum):
        """Which embeddings a TPU has."""
        UNSUPPORTED, V1, V2 = "UNSUPPORTED", "V1", "V2"


class Topology:
    """Where the cores of TPUs are: tasks, their devices, the coordinates of each."""

    def __init__(self, serialized=None, mesh_shape=None, device_coordinates=None):
        if serialized is not None:
            raise NotImplementedError("Topology: serialized topologies are not supported; give mesh_shape and device_coordinates")
        self._shape, self._coordinates = np.asarray(mesh_shape, np.int32), np.asarray(device_coordinates, np.int32)
        if self._shape.shape != (4,) or (self._shape < 1).any():
            raise ValueError("`mesh_shape` must be a sequence of 4 positive entries; got `mesh_shape={}`".format(self._shape))
        if self._coordinates.ndim != 3 or self._coordinates.shape[2] != 4:
            raise ValueError("`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the `mesh_shape` rank"
                             "got device_coordinates.shape={} len(device_coordinates.shape)={} device_coordinates.shape[2]={} mesh_shape={}, "
                             "len(mesh_shape)={}".format(self._coordinates.shape, self._coordinates.ndim, self._coordinates.shape[-1:], self._shape,
                                                         len(self._shape)))

    mesh_shape = property(lambda self: self._shape)
    mesh_rank = property(lambda self: len(self._shape))
    device_coordinates = property(lambda self: self._coordinates)
    num_tasks = property(lambda self: self._coordinates.shape[0])
    num_tpus_per_task = property(lambda self: self._coordinates.shape[1])


DeviceAssignment, TPUEmbedding, TPUEmbeddingForServing, TPUEmbeddingV0 = (
    _unsupported(name, _TPUS) for name in ("DeviceAssignment", "TPUEmbedding", "TPUEmbeddingForServing", "TPUEmbeddingV0"))
HardwareFeature = _HardwareFeature
Adagrad, AdagradMomentum, Adam, FTRL, SGD, FeatureConfig, TableConfig, QuantizationConfig = (
    _absent(name) for name in ("Adagrad", "AdagradMomentum", "Adam", "FTRL", "SGD", "FeatureConfig", "TableConfig", "QuantizationConfig"))
TPUSystemMetadata = collections.namedtuple("TPUSystemMetadata", "num_cores num_hosts num_of_cores_per_host topology devices")
XLAOptions = collections.namedtuple("XLAOptions", "use_spmd_for_xla_partitioning enable_xla_dynamic_padder", defaults=(True, True))


class DeviceOrderMode(enum.IntEnum):
    """In which order the cores of a TPU would come."""

    AUTO = 0
    RING = 1
    MESH = 2


def experimental_get_current_worker_index():
    """The number of the worker: there are none."""
    raise RuntimeError("Cannot retrieve the worker index. `get_worker_idx_and_num_workers` should be called from within a tf.function being executed on a "
                       "worker.")


def __getattr__(name):
    """What is elsewhere, too, once it is asked for."""
    if name in ("Coordinator", "ExponentialMovingAverage"):
        return getattr(tf.compat.v1.train, name)
    if name in ("Mirrored", "PerReplica"):
        from thalweg import _distribute
        return _distribute._TensorPerReplica if name == "PerReplica" else _distribute.DistributedValues
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


__getattr__ = _core._getter(__getattr__, None)


PARTITIONERS = ("FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner")
DISTRIBUTE = ("CollectiveCommunication", "CollectiveHints", "CommunicationImplementation", "CommunicationOptions", "PreemptionCheckpointHandler",
              "PreemptionWatcher", "TerminationConfig")
COORDINATOR = ("ClusterCoordinator", "PerWorkerValue", "RemoteValue", "experimental_get_current_worker_index")
TPU = ("DeviceAssignment", "DeviceOrderMode", "HardwareFeature", "TPUSystemMetadata", "Topology")
EMBEDDING = ("TPUEmbedding", "TPUEmbeddingForServing", "TPUEmbeddingV0", "Adagrad", "AdagradMomentum", "Adam", "FTRL", "SGD", "FeatureConfig", "TableConfig",
             "QuantizationConfig")
