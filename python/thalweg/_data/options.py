"""tf.data.Options: accepted and kept. They tune TensorFlow's own runtime; here elements and their order are the same with any of them, and only
experimental_external_state_policy, for checkpoints of iterators, has an effect."""
import enum


class ExternalStatePolicy(enum.Enum):
    """What saving an iterator does about functions whose results depend on more than elements."""
    WARN, IGNORE, FAIL = range(3)


class AutoShardPolicy(enum.IntEnum):
    """How a distributed dataset is shared out among workers."""
    OFF, AUTO, FILE, DATA, HINT = range(-1, 4)


class AutotuneAlgorithm(enum.Enum):
    """How the runtime tunes itself."""
    DEFAULT, HILL_CLIMB, GRADIENT_DESCENT, MAX_PARALLELISM, STAGE_BASED = range(5)


def _option(name, kind):
    def get(self):
        return self._values.get(name)

    def put(self, value):
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError("Property \"%s\" must be of type %s, got: %s (type: %s)" % (name, kind, value, type(value)))
        self._values[name] = value
    return property(get, put, doc="The option %s." % name.replace("_", " "))


class _Group:
    """Options under a common name."""

    def __init__(self):
        object.__setattr__(self, "_values", {})

    def __setattr__(self, name, value):
        if not isinstance(getattr(type(self), name, None), property):
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    def __ne__(self, other):
        return not self == other

    __hash__ = None


def _options(kind, names):
    """The options of one kind, for a class's body."""
    return {name: _option(name, kind) for name in names.split()}


class AutotuneOptions(_Group):
    """How the runtime tunes itself."""

    locals().update(_options(bool, "enabled"), **_options(int, "cpu_budget ram_budget initial_parallelism"),
                    **_options(AutotuneAlgorithm, "autotune_algorithm"))


class DistributeOptions(_Group):
    """How datasets are distributed."""

    auto_shard_policy, num_devices = _option("auto_shard_policy", AutoShardPolicy), _option("num_devices", int)

    def __init__(self):
        super().__init__()
        self._values["auto_shard_policy"] = AutoShardPolicy.AUTO


class OptimizationOptions(_Group):
    """Which rewrites the runtime makes."""

    locals().update(_options(bool, "apply_default_optimizations filter_fusion filter_parallelization inject_prefetch map_and_batch_fusion "
                                   "map_and_filter_fusion map_fusion map_parallelization noop_elimination parallel_batch shuffle_and_repeat_fusion "
                                   "warm_start seq_interleave_prefetch"))


class ThreadingOptions(_Group):
    """How many threads the runtime uses."""

    locals().update(_options(int, "max_intra_op_parallelism private_threadpool_size"))


class Options(_Group):
    """Options of a dataset."""

    locals().update(_options(bool, "deterministic experimental_slack experimental_symbolic_checkpoint experimental_warm_start"),
                    **_options(str, "dataset_name"), **_options(list, "framework_type"), autotune=_option("autotune", AutotuneOptions),
                    experimental_distribute=_option("experimental_distribute", DistributeOptions),
                    experimental_external_state_policy=_option("experimental_external_state_policy", ExternalStatePolicy),
                    experimental_optimization=_option("experimental_optimization", OptimizationOptions),
                    threading=_option("threading", ThreadingOptions))
    experimental_deterministic, experimental_threading = deterministic, threading  # noqa: F821
    distribute = experimental_distribute  # noqa: F821

    def __init__(self):
        super().__init__()
        self._values.update(autotune=AutotuneOptions(), experimental_distribute=DistributeOptions(), experimental_optimization=OptimizationOptions(),
                            threading=ThreadingOptions())

    def merge(self, options):
        """The given options; what they leave open is as these say.

        Args:
          options: A `tf.data.Options`.

        Returns:
          New options.
        """
        made = Options()
        for source in (self, options):
            for name, value in source._values.items():
                if isinstance(value, _Group):
                    made._values[name]._values.update({k: v for k, v in value._values.items() if v is not None})
                elif value is not None:
                    made._values[name] = value
        return made
