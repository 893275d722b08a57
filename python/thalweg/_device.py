"""tf.device and the devices of tf.config: there is one, the processor. Loaded when first asked for.

As in TensorFlow, names of devices that are not there are accepted and operations run on the processor."""
from thalweg import errors

_KINDS = ("CPU", "GPU", "TPU", "CUSTOM")


class _Described:
    def __init__(self, name, device_type):
        self.name, self.device_type = name, device_type

    def __repr__(self):
        return "%s(name=%r, device_type=%r)" % (type(self).__name__, self.name, self.device_type)

    def __eq__(self, other):
        return type(self) is type(other) and (self.name, self.device_type) == (other.name, other.device_type)

    def __hash__(self):
        return hash((self.name, self.device_type))


class PhysicalDevice(_Described):
    """A device of the machine."""


class LogicalDevice(_Described):
    """A device that operations run on."""


_processor = PhysicalDevice("/physical_device:CPU:0", "CPU")


def _of_type(devices, device_type):
    return [d for d in devices if device_type is None or d.device_type == device_type]


def list_physical_devices(device_type=None):
    """The devices of the machine, or those of one type."""
    return _of_type([_processor], device_type)


def list_logical_devices(device_type=None):
    """The devices that operations run on, or those of one type."""
    return _of_type([LogicalDevice("/device:CPU:0", "CPU")], device_type)


def get_visible_devices(device_type=None):
    """The devices that are used, or those of one type."""
    return list_physical_devices(device_type)


def set_visible_devices(devices, device_type=None):
    """Which devices are used; the processor always is."""
    devices = devices if isinstance(devices, (list, tuple)) else [devices]
    for device in devices:
        if device not in list_physical_devices(device_type):
            raise ValueError("Unrecognized device: %r" % (device,))
    if not devices and device_type in (None, "CPU"):
        raise RuntimeError("Visible devices cannot be modified after being initialized")


def _check_name(name):
    """An error unless the text names a device in one of TensorFlow's ways."""
    for part in name.split("/"):
        words = part.split(":")
        count = len(words)
        if count == 2 and words[0] == "job":
            if words[1] != "localhost":
                raise errors.InvalidArgumentError(None, None, "%s unknown device." % name)
        elif count == 2 and words[0] in ("replica", "task"):
            int(words[1])
        elif count in (1, 2) and words[0].upper() in _KINDS:
            if count == 2 and words[1] != "*":
                int(words[1])
        elif count == 3 and words[0] == "device":
            if words[2] != "*":
                int(words[2])
        elif part:
            raise ValueError("Unknown attribute '%s' is encountered while parsing the device spec: '%s'." % (words[0], name))


class device:
    """with tf.device(name): where operations run, which is the processor."""

    def __init__(self, device_name):
        self._name = device_name

    def __enter__(self):
        if self._name is not None and not isinstance(self._name, str):
            raise ValueError("Expecting a string device name. Got %s(%s)" % (type(self._name), self._name))
        if self._name:
            _check_name(self._name)

    def __exit__(self, *exception):
        return False
