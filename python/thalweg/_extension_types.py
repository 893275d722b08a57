"""tf.experimental.ExtensionType: classes of users whose fields are tensors, and functions of users that stand in for tf's for such classes. Loaded when
first asked for."""
import abc
import functools
import inspect
import sys
import typing

import numpy as np

import thalweg as tf
from thalweg import _core

# ---- fields ----


def _converted(value, kind, where):
    """A value as a field of that kind holds it."""
    origin = typing.get_origin(kind)
    if kind is typing.Any or isinstance(kind, str):
        return value
    if kind is tf.Tensor or isinstance(kind, tf.TensorSpec):
        return _tensor(value, kind, where)
    if kind is None or kind is type(None):
        if value is not None:
            raise TypeError("%s: expected None, got %r" % (where, type(value).__name__))
        return None
    if origin is typing.Union or type(kind).__name__ == "UnionType":
        return _one_of(value, typing.get_args(kind), where)
    if origin in (tuple, list):
        return _sequence(value, typing.get_args(kind), where)
    if origin is not None and issubclass(origin, typing.Mapping):
        if not isinstance(value, typing.Mapping):
            raise TypeError("%s: expected mapping, got %r" % (where, type(value).__name__))
        key, item = typing.get_args(kind)
        return {_converted(k, key, where + ".<key>"): _converted(v, item, "%s[%r]" % (where, k)) for k, v in value.items()}
    if kind is tf.TensorShape:
        return tf.TensorShape(value)
    if kind is tf.DType:
        return tf.as_dtype(value)
    if kind in (int, float, bool, str, bytes) and isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(kind, type) and isinstance(value, kind) and kind not in (int,):
        return value
    raise TypeError("%s: expected %r, got %r" % (where, getattr(kind, "__name__", kind), type(value).__name__))


def _tensor(value, kind, where):
    if not _core.is_tensor(value) or isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        if isinstance(value, (tf.RaggedTensor, tf.SparseTensor, ExtensionType)):
            raise TypeError("%s: expected a Tensor, got %r" % (where, type(value).__name__))
        try:
            value = tf.convert_to_tensor(value, kind.dtype if isinstance(kind, tf.TensorSpec) else None)
        except (TypeError, ValueError) as error:
            raise TypeError("%s: expected a Tensor, got %r" % (where, type(value).__name__)) from error
    if isinstance(kind, tf.TensorSpec) and not kind.is_compatible_with(value):
        raise TypeError("%s: expected a value that is compatible with %r, got %r" % (where, kind, value))
    return value


def _one_of(value, kinds, where):
    if value is None and type(None) in kinds:
        return None
    for kind in kinds:  # a value that is of a kind already comes first
        if isinstance(kind, type) and isinstance(value, kind):
            return _converted(value, kind, where)
    for kind in kinds:
        try:
            return _converted(value, kind, where)
        except TypeError:
            continue
    raise TypeError("%s: expected one of %s, got %r" % (where, ", ".join(str(k) for k in kinds), type(value).__name__))


def _sequence(value, kinds, where):
    if not isinstance(value, (list, tuple)):
        raise TypeError("%s: expected tuple, got %r" % (where, type(value).__name__))
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_converted(v, kinds[0], "%s[%d]" % (where, i)) for i, v in enumerate(value))
    if kinds and len(kinds) != len(value):
        raise TypeError("%s: expected %d values, got %d" % (where, len(kinds), len(value)))
    return tuple(_converted(v, k, "%s[%d]" % (where, i)) for i, (v, k) in enumerate(zip(value, kinds)))


# ---- the class ----

_RESERVED = ("self", "_tf_extension_type_fields", "Spec")


class _Meta(abc.ABCMeta):
    """Makes fields of annotations."""

    def __new__(mcs, name, bases, members, **kwargs):
        own = members.get("__annotations__", {})
        for field in own:
            if field in _RESERVED or field.startswith("_tf_extension_type"):
                raise ValueError("The field annotations for %s are invalid. Field %r is reserved" % (name, field))
        defaults = {field: members.pop(field) for field in own if field in members}
        made = super().__new__(mcs, name, bases, members, **kwargs)
        inherited = {k: v for base in reversed(made.__mro__[1:]) for k, v in getattr(base, "_own_fields", {}).items()}
        known = {k: v for base in reversed(made.__mro__[1:]) for k, v in getattr(base, "_own_defaults", {}).items()}
        scope = vars(sys.modules.get(made.__module__, sys))
        hints = {}
        for field, kind in own.items():
            hints[field] = eval(kind, dict(scope)) if isinstance(kind, str) and kind in scope else kind
        made._own_fields, made._own_defaults = hints, defaults
        made._fields, made._defaults = dict(inherited, **hints), dict(known, **defaults)
        made._fields = {k: v for k, v in made._fields.items() if typing.get_origin(v) is not typing.ClassVar}
        for field, default in made._defaults.items():
            if field in made._fields:
                made._defaults[field] = _converted(default, made._fields[field], "default value for %s" % field)
        made.Spec = type("Spec", (ExtensionTypeSpec,), {"__module__": made.__module__, "__qualname__": name + ".Spec", "value_type": made})
        return made

    def __call__(cls, *args, **kwargs):
        if cls.__name__ in ("ExtensionType", "BatchableExtensionType") and cls.__module__ == __name__:
            raise AssertionError("Cannot create an instance of %s because %s is an abstract base class." % (cls.__name__, cls.__name__))
        made = cls.__new__(cls)
        made.__dict__["_open"] = True
        made.__init__(*args, **kwargs)
        for field, kind in cls._fields.items():
            if field not in made.__dict__:
                if field not in cls._defaults:
                    raise AttributeError("ExtensionType %s is missing attribute %r." % (cls.__name__, field))
                made.__dict__[field] = cls._defaults[field]
            made.__dict__[field] = _converted(made.__dict__[field], kind, field)
        made.__validate__()
        del made.__dict__["_open"]
        return made


class ExtensionTypeSpec:
    """What describes an object of a user's type: what describes its fields."""

    value_type = None

    def __init__(self, *args, **fields):
        names = list(self.value_type._fields)
        self._settings = dict(zip(names, args), **fields)
        if set(self._settings) != set(names):
            raise TypeError("%s: expected the fields %s, got %s" % (type(self).__qualname__, names, sorted(self._settings)))
        self.__dict__.update(self._settings)

    @classmethod
    def from_value(cls, value):
        """What describes an object."""
        return cls(**{name: _spec_of(field) for name, field in as_dict(value).items()})

    def is_compatible_with(self, value):
        """Whether an object fits."""
        return isinstance(value, self.value_type) and all(
            s.is_compatible_with(getattr(value, n)) if hasattr(s, "is_compatible_with") else s == getattr(value, n) for n, s in self._settings.items())

    def __eq__(self, other):
        return type(self) is type(other) and self._settings == other._settings

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return "%s(%s)" % (type(self).__qualname__, ", ".join("%s=%r" % pair for pair in self._settings.items()))


def _spec_of(value):
    if isinstance(value, ExtensionType):
        return value._type_spec
    if _core.is_tensor(value):
        return tf.type_spec_from_value(value)
    if isinstance(value, tuple):
        return tuple(map(_spec_of, value))
    return {k: _spec_of(v) for k, v in value.items()} if isinstance(value, dict) else value


class ExtensionType(metaclass=_Meta):
    """A class whose annotated fields hold tensors and other values; objects can't be changed."""

    _fields = _defaults = {}

    def __init__(self, *args, **kwargs):
        names = list(type(self)._fields)
        if len(args) > len(names):
            raise TypeError("%s: too many positional arguments" % type(self).__name__)
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError("%s: got an unexpected keyword argument %r" % (type(self).__name__, name))
            if name in given:
                raise TypeError("%s: multiple values for argument %r" % (type(self).__name__, name))
            given[name] = value
        for name in names:
            if name not in given and name not in type(self)._defaults:
                raise TypeError("missing a required argument: %r" % name)
        self.__dict__.update(given)

    def __validate__(self):
        """Called when an object is made; a subclass may raise errors."""

    def __setattr__(self, name, value):
        if not self.__dict__.get("_open"):
            raise AttributeError("Cannot mutate attribute `%s` outside the custom constructor of ExtensionType." % name)
        if name not in type(self)._fields:
            raise AttributeError("Cannot set the attribute `%s`: %s has no such field" % (name, type(self).__name__))
        self.__dict__[name] = value

    def __delattr__(self, name):
        raise AttributeError("Cannot mutate attribute `%s` outside the custom constructor of ExtensionType." % name)

    def __repr__(self):
        return "%s(%s)" % (type(self).__qualname__, ", ".join("%s=%r" % pair for pair in as_dict(self).items()))

    def __eq__(self, other):
        """A truth as a tensor: whether all fields are equal."""
        if type(self) is not type(other):
            return False
        return _equal(as_dict(self), as_dict(other))

    def __ne__(self, other):
        same = self.__eq__(other)
        return not same if isinstance(same, bool) else tf.logical_not(same)

    __hash__ = None
    _type_spec = property(lambda self: type(self).Spec.from_value(self))


def _equal(a, b):
    """Whether structures of tensors and values are the same."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and _all([_equal(a[k], b[k]) for k in a])
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and _all([_equal(x, y) for x, y in zip(a, b)])
    if isinstance(a, (tf.RaggedTensor, tf.SparseTensor)) and type(a) is type(b):
        return _all([_equal(x, y) for x, y in zip(tf.nest.flatten(a, expand_composites=True), tf.nest.flatten(b, expand_composites=True))])
    if _core.is_tensor(a) and _core.is_tensor(b):
        if a.dtype != b.dtype or not a.shape.is_compatible_with(b.shape):
            return False
        return tf.reduce_all(tf.equal(a, b))
    return a == b


def _all(truths):
    if any(t is False for t in truths):
        return False
    tensors = [t for t in truths if _core.is_tensor(t)]
    return tf.reduce_all(tf.stack(tensors)) if tensors else True


class ExtensionTypeBatchEncoder:
    """How objects become rows of a batch: field by field."""

    def batch(self, spec, batch_size):
        """What describes a batch."""
        return type(spec)(**{n: tf.TensorSpec([batch_size] + s.shape.as_list(), s.dtype) if isinstance(s, tf.TensorSpec) else s
                             for n, s in spec._settings.items()})

    def unbatch(self, spec):
        """What describes a row."""
        return type(spec)(**{n: tf.TensorSpec(s.shape[1:], s.dtype) if isinstance(s, tf.TensorSpec) else s for n, s in spec._settings.items()})

    def encode(self, spec, value, minimum_rank=0):
        """The tensors of an object."""
        return [getattr(value, n) for n, s in spec._settings.items() if isinstance(s, tf.TensorSpec)]

    def encoding_specs(self, spec):
        """What describes them."""
        return [s for s in spec._settings.values() if isinstance(s, tf.TensorSpec)]

    def decode(self, spec, encoded_value):
        """The object of tensors."""
        parts = iter(encoded_value)
        return spec.value_type(**{n: next(parts) if isinstance(s, tf.TensorSpec) else s for n, s in spec._settings.items()})


class BatchableExtensionType(ExtensionType):
    """An ExtensionType whose objects may be rows of a batch."""

    __batch_encoder__ = ExtensionTypeBatchEncoder()


def as_dict(value):
    """The fields by name."""
    if not isinstance(value, ExtensionType):
        raise ValueError("`value` must be an instance of tf.ExtensionType (or a subclass); got %s" % type(value))
    return {name: value.__dict__[name] for name in type(value)._fields}


# ---- functions that stand in ----

_targets = {}  # id of the plain function: [(accepts, target)]
_plain = {}    # wrapper: what it stands before
_UNARY = ("abs acos acosh angle asin asinh atan atanh ceil conj cos cosh digamma erf erfc erfinv exp expm1 floor imag invert_permutation is_finite is_inf "
          "is_nan lbeta lgamma log log1p log_sigmoid logical_not ndtri negative reciprocal real rint round rsqrt sigmoid sign sin sinh softplus sqrt "
          "square tan tanh").split()
_BINARY = ("add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less less_equal logical_and logical_or logical_xor maximum minimum "
           "multiply multiply_no_nan not_equal pow squared_difference subtract truediv xdivy xlogy zeta").split()
_ASSERTS = "assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near assert_none_equal".split()
_UNARY_MORE = ("cast", "identity", "ones_like", "zeros_like", "clip_by_value", "nn.elu", "nn.gelu", "nn.leaky_relu", "nn.relu", "nn.relu6", "nn.selu",
               "nn.softsign", "strings.as_string", "strings.lower", "strings.upper", "strings.strip", "strings.to_number", "io.decode_base64",
               "stop_gradient")


def _places(function):
    """The modules and names under which a function stands."""
    for name, module in list(sys.modules.items()):
        if name == tf.__name__ or name.startswith(tf.__name__ + "."):
            for key, value in list(vars(module).items()):
                if value is function:
                    yield module, key


class _Entries(list):
    wrapper = None


def _entries(api):
    plain = _plain.get(api, api)
    if id(plain) not in _targets:
        entries = _targets[id(plain)] = _Entries()

        @functools.wraps(plain, updated=())
        def call(*args, **kwargs):
            for accepts, target in entries:
                if accepts(args, kwargs):
                    return target(*args, **kwargs)
            return plain(*args, **kwargs)
        entries.wrapper = call
        _plain[call] = plain
        for module, key in list(_places(plain)):
            if not key.startswith("_"):
                setattr(module, key, call)
    return _targets[id(plain)]


def _matches(value, kind):
    origin = typing.get_origin(kind)
    if origin is typing.Union or type(kind).__name__ == "UnionType":
        return any(_matches(value, k) for k in typing.get_args(kind))
    if origin in (list, typing.List) or origin is not None and origin is not tuple and issubclass(origin, typing.Sequence):
        return isinstance(value, (list, tuple)) and bool(value) and all(_matches(v, typing.get_args(kind)[0]) for v in value)
    if kind is TensorLike:
        return _core.is_tensor(value) or isinstance(value, (int, float, bool, str, bytes, complex, list, tuple, np.ndarray, np.generic))
    return isinstance(value, kind) if isinstance(kind, type) else True


def dispatch_for_api(api, *signatures):
    """A decorator: the function stands in for a function of tf where arguments are of the types that signatures tell."""
    if not callable(api):
        raise ValueError("%s does not support dispatch" % (api,))

    def decorate(target):
        names = list(inspect.signature(target).parameters)
        given = list(signatures) or [dict(target.__annotations__)]
        for signature in given:
            signature.pop("return", None)
            if not signature:
                raise ValueError("signature must be nonempty: %r" % (target,))

        def accepts(args, kwargs):
            bound = dict(zip(names, args), **kwargs)
            for signature in given:
                checks = [(bound.get(names[k] if isinstance(k, int) else k), kind) for k, kind in signature.items()]
                if all(_matches(value, kind) for value, kind in checks):
                    return True
            return False
        _entries(api).append((accepts, target))
        return target
    return decorate


def _apis(names, module):
    for name in names:
        value = module
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None:
            yield value


def _elementwise(apis, kinds, decorated):
    for api in apis:
        entries = _entries(api)
        plain = entries.wrapper

        def accepts(args, kwargs):
            given = list(args[:len(kinds)]) + list(kwargs.values())[:len(kinds) - len(args)]
            return len(given) == len(kinds) and all(_matches(v, k) for v, k in zip(given, kinds))

        def target(*args, _plain_api=plain, **kwargs):
            operands, rest = list(args[:len(kinds)]), args[len(kinds):]
            names = list(kwargs)[:len(kinds) - len(operands)]
            operands += [kwargs.pop(n) for n in names]
            function = functools.partial(_with_rest, _plain_api, rest, kwargs) if rest or kwargs else _plain_api
            return decorated(function, *operands)
        target._of = decorated
        entries.append((accepts, target))
    return decorated


def _with_rest(api, rest, kwargs, *operands):
    return api(*operands, *rest, **kwargs)


def dispatch_for_unary_elementwise_apis(x_type):
    """A decorator: handler(api_func, x) stands in for all elementwise functions of one tensor."""
    return lambda handler: _elementwise([*_apis(_UNARY, tf.math), *_apis(_UNARY_MORE, tf)], [x_type], handler)


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """A decorator: handler(api_func, x, y) stands in for all elementwise functions of two tensors."""
    return lambda handler: _elementwise(_apis(_BINARY, tf.math), [x_type, y_type], handler)


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """The same for comparisons that are asserted."""
    return lambda handler: _elementwise(_apis(_ASSERTS, tf.debugging), [x_type, y_type], handler)


def unregister_dispatch_for(dispatch_target):
    """Takes a stand-in away."""
    found = False
    for entries in _targets.values():
        for entry in list(entries):
            if entry[1] is dispatch_target or getattr(entry[1], "_of", None) is dispatch_target:
                entries.remove(entry)
                found = True
    if not found:
        raise ValueError("Function %s was not registered" % (dispatch_target,))


PUBLIC = ("BatchableExtensionType ExtensionType ExtensionTypeBatchEncoder ExtensionTypeSpec dispatch_for_api dispatch_for_binary_elementwise_apis "
          "dispatch_for_binary_elementwise_assert_apis dispatch_for_unary_elementwise_apis unregister_dispatch_for").split()


# ---- tf.types.experimental ----

TensorLike = typing.Union[tf.Tensor, int, float, bool, str, bytes, complex, tuple, list, np.ndarray, np.generic]


class _Kind(type):
    """A name for objects that have members."""

    def __instancecheck__(cls, value):
        return all(hasattr(value, name) for name in cls._members)


def _kind(name, doc, *members):
    return _Kind(name, (), {"_members": members, "__doc__": doc, "__module__": __name__})


Callable = _kind("Callable", "What can be called with tensors.", "__call__", "function_type")
ConcreteFunction = _kind("ConcreteFunction", "A traced function.", "__call__", "structured_outputs")
AtomicFunction = _kind("AtomicFunction", "A traced function without captures.", "__call__", "structured_outputs")
GenericFunction = _kind("GenericFunction", "What tf.function makes.", "__call__", "get_concrete_function")
PolymorphicFunction = _kind("PolymorphicFunction", "What tf.function makes.", "__call__", "get_concrete_function")
FunctionType = _kind("FunctionType", "Parameters of a function.", "parameters")
TraceType = _kind("TraceType", "What functions are traced for.", "is_subtype_of", "most_specific_common_supertype", "placeholder_value")
SupportsTracingProtocol = _kind("SupportsTracingProtocol", "Objects that say what they are traced for.", "__tf_tracing_type__")
TYPES = ("AtomicFunction Callable ConcreteFunction FunctionType GenericFunction PolymorphicFunction SupportsTracingProtocol TensorLike TraceType").split()
