"""tf.data.Options: accepted and kept. They tune TensorFlow's own runtime; here elements and their order are the same with any of them, and only
experimental_external_state_policy, for checkpoints of iterators, has an effect."""
import enum


class ExternalStatePolicy(enum.Enum):
    """What saving an iterator does about functions whose results depend on more than elements."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Group:
    """Options under a common name; any of `_names` may be set."""

    def __init__(self):
        object.__setattr__(self, "_values", {})

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._names:
            raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name))
        return self._values.get(name)

    def __setattr__(self, name, value):
        if name not in self._names:
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        self._values[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None


class AutotuneOptions(_Group):
    """How the runtime tunes itself."""

    _names = ("enabled", "cpu_budget", "ram_budget", "autotune_algorithm", "initial_parallelism")


class DistributeOptions(_Group):
    """How datasets are distributed."""

    _names = ("auto_shard_policy", "num_devices")


class OptimizationOptions(_Group):
    """Which rewrites the runtime makes."""

    _names = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch", "map_and_batch_fusion",
              "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination", "parallel_batch", "shuffle_and_repeat_fusion",
              "warm_start", "seq_interleave_prefetch")


class ThreadingOptions(_Group):
    """How many threads the runtime uses."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class Options(_Group):
    """Options of a dataset."""

    _names = ("autotune", "deterministic", "experimental_deterministic", "dataset_name", "experimental_distribute", "distribute",
              "experimental_external_state_policy", "experimental_optimization", "experimental_slack", "experimental_symbolic_checkpoint",
              "experimental_threading", "experimental_warm_start", "threading", "framework_type")

    def __init__(self):
        super().__init__()
        threads, distribution = ThreadingOptions(), DistributeOptions()
        self._values.update(autotune=AutotuneOptions(), experimental_distribute=distribution, distribute=distribution,
                            experimental_optimization=OptimizationOptions(), experimental_threading=threads, threading=threads)

    def merge(self, other):
        """These options; what they leave open is the other's."""
        made = Options()
        for source in (other, self):
            for name, value in source._values.items():
                if isinstance(value, _Group):
                    made._values[name]._values.update({k: v for k, v in value._values.items() if v is not None})
                elif value is not None:
                    made._values[name] = value
        return made
