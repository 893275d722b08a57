"""tf.device, tf.DeviceSpec and the devices of tf.config as Python has them: named tuples, contexts. Loaded when first asked for."""
import collections

import thalweg as tf

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
LogicalDeviceConfiguration = collections.namedtuple(
    "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"], defaults=(None, None, None))
VirtualDeviceConfiguration = LogicalDeviceConfiguration
_config = tf.config
DeviceSpec = tf._DeviceSpec


def _row(device):
    """The library's object for a device."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError("Unrecognized device: %r" % (device,))
    return _config._PhysicalDevice(device.name, device.device_type)


def list_physical_devices(device_type=None):
    """The devices of the machine, or those of one type."""
    return [PhysicalDevice(d.name, d.device_type) for d in _config._list_physical_devices(device_type)]


def list_logical_devices(device_type=None):
    """The devices that operations run on, or those of one type."""
    return [LogicalDevice(d.name, d.device_type) for d in _config._list_logical_devices(device_type)]


def get_visible_devices(device_type=None):
    """The devices that are used, or those of one type."""
    return [PhysicalDevice(d.name, d.device_type) for d in _config._get_visible_devices(device_type)]


def set_visible_devices(devices, device_type=None):
    """Which devices of a type are used, or of all types."""
    _config._set_visible_devices([_row(d) for d in (devices if isinstance(devices, list) else [devices])], device_type)


def set_logical_device_configuration(device, logical_devices):
    """Which logical devices a device of the machine is."""
    _config._set_logical_device_configuration(_row(device), [_config._LogicalDeviceConfiguration(*c) for c in logical_devices])


def get_logical_device_configuration(device):
    """The logical devices that a device of the machine was set up to be; None: it was not."""
    limits = _config._logical_device_limits(_row(device))
    return None if limits is None else [LogicalDeviceConfiguration(limit) for limit in limits]


set_virtual_device_configuration, get_virtual_device_configuration = set_logical_device_configuration, get_logical_device_configuration


def set_memory_growth(device, enable):
    """Whether memory of a device is taken as it is needed."""
    _config.experimental._set_memory_growth(_row(device), enable)


def get_memory_growth(device):
    """Whether memory of a device is taken as it is needed."""
    return _config.experimental._get_memory_growth(_row(device))


def get_device_details(device):
    """What is known of a device: nothing of a processor."""
    _row(device)
    return {}


class device:
    """with tf.device(name): where operations are to run."""

    def __init__(self, device_name):
        self._name = device_name

    def __enter__(self):
        if callable(self._name):
            raise NotImplementedError("tf.device: functions of operations are not supported")
        if isinstance(self._name, DeviceSpec):
            self._name = self._name.to_string()
        if self._name is not None and not isinstance(self._name, str):
            raise ValueError("Expecting a string device name. Got %s(%s)" % (type(self._name), self._name))
        tf._enter_device(self._name)

    def __exit__(self, *exception):
        tf._exit_device()
        return False


# ---- tf.DeviceSpec ----

def _number(name):
    return property(lambda self: None if getattr(self, name) < 0 else getattr(self, name))


def _replace(self, **parts):
    """The spec with other parts."""
    whole = {name: getattr(self, name) for name in ("job", "replica", "task", "device_type", "device_index")}
    return DeviceSpec(**dict(whole, **parts))


def _from_string(cls, spec):
    """The spec that a text like "/job:ps/cpu:0" stands for."""
    return tf._device_spec(spec)


def install_spec(spec):
    """Puts the members on tf.DeviceSpec."""
    spec.replica, spec.task, spec.device_index = _number("_replica"), _number("_task"), _number("_device_index")
    spec.replace, spec.from_string = _replace, classmethod(_from_string)
    spec.parse_from_string = lambda self, text: tf._device_spec(text)
    spec.__eq__ = lambda self, other: isinstance(other, spec) and self.to_string() == other.to_string()
    spec.__hash__ = lambda self: hash(self.to_string())
    spec.__repr__ = lambda self: "<DeviceSpec(job=%s, replica=%s, task=%s, device_type=%s, device_index=%s)>" % (
        self.job, self.replica, self.task, self.device_type, self.device_index)


install_spec(DeviceSpec)
CONFIG = ("list_physical_devices list_logical_devices get_visible_devices set_visible_devices PhysicalDevice LogicalDevice "
          "LogicalDeviceConfiguration set_logical_device_configuration get_logical_device_configuration").split()
EXPERIMENTAL = ("list_physical_devices list_logical_devices get_visible_devices set_visible_devices VirtualDeviceConfiguration set_memory_growth "
                "get_memory_growth set_virtual_device_configuration get_virtual_device_configuration get_device_details").split()
