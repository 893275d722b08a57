"""Several machines and TPUs: the names of tf.distribute that need them. They exist, say what a cluster is, TPUs are those of a PJRT plug-in. They fail
where a machine without TPUs and without other workers fails. Loaded when first asked for."""
import json
import os
import sys

import thalweg as tf
from thalweg import _log

_NO_TPU = ("TPUs not found in the cluster. Failed in initialization: No OpKernel was registered to support Op 'ConfigureDistributedTPU' used by "
           "{{node ConfigureDistributedTPU}} with these attrs: [embedding_config=\"\", tpu_embedding_config=\"\", is_global_init=false, "
           "compilation_failure_closes_chips=false, enable_whole_mesh_compilations=false, tpu_cancellation_closes_chips=2]\n"
           "Registered devices: [CPU]\nRegistered kernels:\n  <no registered kernels>\n\n\t [[ConfigureDistributedTPU]]")


class ClusterSpec:
    """Which addresses the tasks of each job have."""

    def __init__(self, cluster):
        self._jobs = {}
        for job, tasks in (cluster.as_dict() if isinstance(cluster, ClusterSpec) else dict(cluster)).items():
            self._jobs[job] = [tasks[i] for i in sorted(tasks)] if isinstance(tasks, dict) else list(tasks)

    jobs = property(lambda self: sorted(self._jobs))

    def as_dict(self):
        """Lists of addresses by job."""
        return {job: list(self._jobs[job]) for job in self.jobs}

    def num_tasks(self, job_name):
        """How many tasks a job has."""
        return len(self.job_tasks(job_name))

    def job_tasks(self, job_name):
        """The addresses of a job's tasks."""
        if job_name not in self._jobs:
            raise ValueError("No such job in cluster: %r" % job_name)
        return list(self._jobs[job_name])

    def task_address(self, job_name, task_index):
        """The address of a task."""
        tasks = self.job_tasks(job_name)
        if not 0 <= task_index < len(tasks):
            raise ValueError("No task with index %r in job %r" % (task_index, job_name))
        return tasks[task_index]

    def task_indices(self, job_name):
        """The numbers of a job's tasks."""
        return list(range(self.num_tasks(job_name)))

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None

    def __repr__(self):
        return "ClusterSpec({%s})" % ", ".join("%r: %r" % (job, self._jobs[job]) for job in self.jobs)


class ClusterResolver:
    """What finds out which machines there are."""

    task_type = task_id = None
    environment = ""

    def cluster_spec(self):
        """The cluster."""
        raise NotImplementedError()

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address that sessions go to."""
        raise NotImplementedError()

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many accelerators there are, by kind."""
        return {}


def _address(spec, task_type, task_id, layer):
    address = spec.task_address(task_type, task_id)
    return "%s://%s" % (layer, address) if layer else address


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is known."""

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None, rpc_layer=None):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self._spec, self._master, self.task_type, self.task_id = cluster_spec, master, task_type, task_id
        self.environment, self._accelerators, self.rpc_layer = environment, num_accelerators, rpc_layer

    def cluster_spec(self):
        return self._spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return _address(self._spec, task_type, task_id, rpc_layer or self.rpc_layer)
        return self._master


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment's TF_CONFIG tells."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        task = self._config.get("task", {})
        self.task_type = task_type if task_type is not None else task.get("type")
        self.task_id = task_id if task_id is not None else int(task["index"]) if "index" in task else None
        self.rpc_layer, self.environment = rpc_layer or self._config.get("rpc_layer"), environment or self._config.get("environment", "")

    def cluster_spec(self):
        return ClusterSpec(self._config.get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        spec = self.cluster_spec()
        kind, number = task_type or self.task_type, task_id if task_id is not None else self.task_id
        if not spec or kind is None or number is None:
            return ""
        return _address(spec, kind, number, rpc_layer or self.rpc_layer)


def _tpus():
    """The TPUs of this machine: devices of a plug-in."""
    return tf.config.list_logical_devices("TPU")


class TPUClusterResolver(ClusterResolver):
    """The address of a TPU."""

    def __init__(self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None, coordinator_address=None,
                 credentials="default", service=None, discovery_url=None):
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("At least one TPU must be specified.")
            if len(tpu) != 1:
                raise NotImplementedError("Using multiple TPUs in a single session is not yet implemented")
            tpu = tpu[0]
        tpu = tpu or os.environ.get("TPU_NAME")
        if not tpu:
            raise ValueError("Please provide a TPU Name to connect to.")
        if tpu != "local" and not tpu.startswith("grpc://"):
            raise NotImplementedError("TPUClusterResolver: finding the TPU %r by name is not supported; give its address, grpc://host:port" % tpu)
        self._tpu, self._local, self.task_type, self.task_id = tpu, tpu == "local", job_name, 0
        if coordinator_name or coordinator_address:
            raise NotImplementedError("TPUClusterResolver: coordinators are not supported")

    @staticmethod
    def connect(tpu=None, zone=None, project=None):
        """The resolver, connected and initialized."""
        resolver = TPUClusterResolver(tpu, zone, project)
        experimental_connect_to_cluster(resolver)
        initialize_tpu_system(resolver)
        return resolver

    tpu_hardware_feature = property(lambda self: self.get_tpu_system_metadata())

    def cluster_spec(self):
        return ClusterSpec({} if self._local else {self.task_type: [self._tpu[len("grpc://"):]]})

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return "" if self._local else self._tpu

    def get_master(self):
        """The address."""
        return self.master()

    def get_job_name(self):
        """The job of its tasks."""
        return self.task_type

    def get_tpu_system_metadata(self):
        """What TPUs there are."""
        names = _tpus()
        if not names:
            raise tf.errors.NotFoundError(None, None, _NO_TPU)
        return tf.tpu.experimental.TPUSystemMetadata(len(names), 1, len(names), None, names)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many TPUs a task has."""
        return {"TPU": self.get_tpu_system_metadata().num_of_cores_per_host}


def experimental_connect_to_host(remote_host=None, job_name="worker"):
    """Uses the devices of another machine."""
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    raise tf.errors.UnavailableError(None, None, "experimental_connect_to_host: %s: devices of other machines are not supported" % (remote_host,))


def experimental_connect_to_cluster(cluster_spec_or_resolver, job_name="localhost", task_index=0, protocol=None, make_master_device_default=True,
                                    cluster_device_filters=None):
    """Uses the devices of a cluster."""
    if isinstance(cluster_spec_or_resolver, TPUClusterResolver) and (cluster_spec_or_resolver._local or _tpus()):
        return
    if isinstance(cluster_spec_or_resolver, ClusterResolver):
        spec = cluster_spec_or_resolver.cluster_spec()
    elif isinstance(cluster_spec_or_resolver, ClusterSpec):
        spec = cluster_spec_or_resolver
    else:
        raise ValueError("`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`.")
    if spec:
        raise tf.errors.UnavailableError(None, None, "experimental_connect_to_cluster: %r: devices of other machines are not supported" % (spec,))


def initialize_tpu_system(cluster_resolver=None):
    """Makes a TPU ready."""
    resolver = cluster_resolver if cluster_resolver is not None else TPUClusterResolver("")
    if _tpus():
        _log.message("INFO", "Initializing the TPU system: %s" % resolver._tpu)
        _log.message("INFO", "Finished initializing TPU system.")
        return tf.tpu.experimental.Topology(mesh_shape=[len(_tpus()), 1, 1, 1], device_coordinates=[[[i, 0, 0, 0] for i in range(len(_tpus()))]])
    if resolver._local:
        raise tf.errors.NotFoundError(None, None, _NO_TPU)
    raise tf.errors.NotFoundError(
        None, None, "TPUs not found in the cluster. Failed in initialization: Could not satisfy device specification '/job:worker/replica:0/task:0/"
        "device:TPU_SYSTEM:0'. enable_soft_placement=1. Supported device types [CPU]. All available devices [%s]." % ", ".join(
            "/job:localhost/replica:0/task:0" + d.name for d in tf.config.list_logical_devices()))


def shutdown_tpu_system(cluster_resolver=None):
    """Ends the use of a TPU."""
    resolver = cluster_resolver if cluster_resolver is not None else TPUClusterResolver("")
    if _tpus():
        _log.message("INFO", "Shutting down the TPU system: %s" % resolver._tpu)
        return
    _log.warning("You are shutting down a TPU system %s that has not been initialized.", resolver._tpu)
    raise tf.errors.InvalidArgumentError(None, None, _NO_TPU.replace("TPUs not found in the cluster. Failed in initialization: ", "").replace(
        "ConfigureDistributedTPU", "ShutdownDistributedTPU").replace(_NO_TPU[_NO_TPU.index("[embedding"):_NO_TPU.index("\n")], "[]"))


class _OnTPU(type(tf.distribute._rows.Strategy)):
    """So that isinstance(strategy, TPUStrategy) holds of what it made."""

    def __instancecheck__(cls, value):
        return isinstance(value, tf.distribute._rows._TPUStrategy)


class TPUStrategy(tf.distribute._rows.Strategy, metaclass=_OnTPU):
    """Replicas on TPUs."""

    def __new__(cls, tpu_cluster_resolver=None, experimental_device_assignment=None, experimental_spmd_xla_partitioning=False):
        if experimental_device_assignment is not None or experimental_spmd_xla_partitioning:
            raise NotImplementedError("TPUStrategy: device assignments and partitioned computations are not supported")
        resolver = tpu_cluster_resolver if tpu_cluster_resolver is not None else TPUClusterResolver("")
        if not _tpus():
            raise IndexError("index 0 is out of bounds for axis 0 with size 0")  # of the list of TPUs, as TensorFlow says it
        made = tf.distribute._rows._TPUStrategy()
        made._resolver = resolver
        return made


class _ExperimentalTPUStrategy(TPUStrategy):
    """The same under its older name."""

    def __new__(cls, tpu_cluster_resolver=None, device_assignment=None):
        print("WARNING:absl:`tf.distribute.experimental.TPUStrategy` is deprecated, please use the non-experimental symbol "
              "`tf.distribute.TPUStrategy` instead.", file=sys.stderr)
        return TPUStrategy(tpu_cluster_resolver, device_assignment)


for _class in (_ExperimentalTPUStrategy, tf.distribute._rows._TPUStrategy):
    _class.__name__ = _class.__qualname__ = "TPUStrategy"
tf.distribute._rows._MultiWorkerMirroredStrategy.__name__ = "MultiWorkerMirroredStrategy"


def _unsupported(name, why):
    def init(self, *args, **kwargs):
        raise NotImplementedError("%s is not supported: %s" % (name, why))
    return type(name, (), {"__init__": init, "__doc__": "Not supported: %s." % why})


def ParameterServerStrategy(cluster_resolver, variable_partitioner=None):
    """Variables on servers of their own: not supported."""
    if not cluster_resolver.cluster_spec():
        raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
    raise NotImplementedError("ParameterServerStrategy is not supported: other machines can't be used")


class _SeveralWorkers(type(tf.distribute._rows.Strategy)):
    """So that isinstance(strategy, MultiWorkerMirroredStrategy) holds of what it made."""

    def __instancecheck__(cls, value):
        return hasattr(value, "_workers")


class MultiWorkerMirroredStrategy(tf.distribute._rows.Strategy, metaclass=_SeveralWorkers):
    """MirroredStrategy over several processes, which TF_CONFIG names; without it, or with one, over this one."""

    def __new__(cls, cluster_resolver=None, communication_options=None):
        resolver = cluster_resolver if cluster_resolver is not None else TFConfigClusterResolver()
        jobs = resolver.cluster_spec().as_dict()
        unknown = set(jobs) - {"chief", "worker", "evaluator"}
        if unknown:
            raise ValueError("Unexpected task type %r in cluster: MultiWorkerMirroredStrategy has a chief, workers and an evaluator" % unknown.pop())
        addresses = jobs.get("chief", []) + jobs.get("worker", [])
        kind, number = resolver.task_type, resolver.task_id
        if len(addresses) < 2 or kind == "evaluator":
            made = tf.distribute.MirroredStrategy()
        else:
            if kind not in ("chief", "worker") or not number < len(jobs.get(kind, [])):
                raise ValueError("The task %r of type %r is not in the cluster %r" % (number, kind, jobs))
            timeout = getattr(communication_options, "timeout_seconds", None) or float(os.environ.get("THALWEG_CLUSTER_TIMEOUT", 60))
            made = tf.distribute._rows._MultiWorkerMirroredStrategy(addresses, number + (len(jobs.get("chief", [])) if kind == "worker" else 0), timeout)
            _log.message("INFO", "MultiWorkerMirroredStrategy with cluster_spec = %r, task_type = %r, task_id = %r, num_workers = %d" % (
                jobs, kind, number, len(addresses)))
        made._workers = resolver
        return made


class _ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """The same under its older name, which took how workers talk first."""

    def __new__(cls, communication=None, cluster_resolver=None):
        return MultiWorkerMirroredStrategy(cluster_resolver)


_ExperimentalMultiWorkerMirroredStrategy.__name__ = _ExperimentalMultiWorkerMirroredStrategy.__qualname__ = "MultiWorkerMirroredStrategy"
RESOLVERS = {cls.__name__: cls for cls in (ClusterResolver, SimpleClusterResolver, TFConfigClusterResolver, TPUClusterResolver)}
for _name in ("GCEClusterResolver", "KubernetesClusterResolver", "SlurmClusterResolver", "UnionResolver"):
    RESOLVERS[_name] = _unsupported(_name, "other machines can't be used")
STRATEGIES = {"TPUStrategy": TPUStrategy, "ParameterServerStrategy": ParameterServerStrategy,
              "MultiWorkerMirroredStrategy": MultiWorkerMirroredStrategy, "Server": _unsupported("Server", "other machines can't be used")}
EXPERIMENTAL = {"TPUStrategy": _ExperimentalTPUStrategy, "ParameterServerStrategy": ParameterServerStrategy,
                "MultiWorkerMirroredStrategy": _ExperimentalMultiWorkerMirroredStrategy,
                "CentralStorageStrategy": _unsupported("CentralStorageStrategy", "use MirroredStrategy")}
TPU = {"initialize_tpu_system": initialize_tpu_system, "shutdown_tpu_system": shutdown_tpu_system}
