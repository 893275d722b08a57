"""Nested structures of tf.function: arguments into keys and tensors and back, results likewise.

A template is a structure with LEAF where tensors are: LEAF itself, None, (kind, parts, type) for lists, tuples, dicts, named tuples and
the arguments of a call, or a Constant. Packing a template with tensors gives the structure again. Tensors stand in the order of the
members; those of dicts in the order of their keys."""
import sys
import weakref

from thalweg import _core


class _Leaf:
    def __repr__(self):
        return "LEAF"


LEAF = _Leaf()


class Constant:
    """A value that stands for itself: what is kept weakly dies with its object."""

    def __init__(self, value, weak):
        self._value = weakref.ref(value) if weak else value
        self._weak = weak

    def value(self):
        return self._value() if self._weak else self._value


class Spec:
    """A tensor's dtype and shape, while there is no other description of it."""

    def __init__(self, shape, dtype, name=None):
        self.shape, self.dtype, self.name = _core.as_shape(shape), _core.as_dtype(dtype), name

    def _replaced(self, name):
        import thalweg
        made = getattr(thalweg, "TensorSpec", Spec)
        return made(self.shape, self.dtype, name)

    def __repr__(self):
        return "TensorSpec(shape=%s, dtype=%r, name=%r)" % (self.shape, self.dtype, self.name)

    def __eq__(self, other):
        return repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))


def is_ragged(value):
    return type(value).__name__ == "RaggedTensor"


def slices_parts(value):
    """The tensors of tf.IndexedSlices, in the order in which it takes them; None for anything else."""
    return [value.values, value.indices, value.dense_shape] if type(value).__name__ == "IndexedSlices" else None


def is_spec(value):
    return type(value).__name__ == "TensorSpec" or isinstance(value, Spec)


def spec_of(value):
    return Spec(value.shape, value.dtype)


def is_array(value):
    """Tensors, and what becomes one as an argument: arrays of NumPy and the like, but no variables."""
    if isinstance(value, _core.Tensor):
        return True
    return hasattr(value, "__array__") and not isinstance(value, (type, str)) and not _core.is_tensor(value)


def is_named_tuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _shape_key(shape):
    return None if shape.rank is None else tuple(shape.as_list())


class Walk:
    """Arguments into a key, a template, and the tensors in order."""

    def __init__(self):
        self.key, self.tensors, self.specs, self.names = [], [], [], []

    def arguments(self, arguments):
        parts = {}
        for name, value in arguments.items():
            self.key.append(("argument", name))
            parts[name] = self.value(value, name, 0)
        return ("arguments", parts, dict)

    def tensor(self, value, name, spec=None):
        spec = spec or Spec(value.shape, value.dtype)
        self.key.append(("tensor", spec.dtype, _shape_key(spec.shape)))
        self.tensors.append(value)
        self.specs.append(Spec(spec.shape, spec.dtype, spec.name))
        self.names.append("".join(c if c.isalnum() or c == "_" else "_" for c in name) or None)
        return LEAF

    def value(self, value, name, depth):
        if depth > 200:
            raise ValueError("tf.function: an argument is nested deeper than 200 levels, or holds itself")
        if isinstance(value, _core.Tensor):
            return self.tensor(value, name)
        if is_spec(value):
            return self.tensor(value, value.name or name, value)
        if isinstance(value, Cast):
            return self.tensor(value.tensor, value.spec.name or name, value.spec)
        if isinstance(value, dict):
            self.key.append(("dict", type(value), len(value)))
            parts = {}
            for key in sorted(value, key=repr):
                self.key.append(key)
                parts[key] = self.value(value[key], "%s_%s" % (name, key), depth + 1)
            return ("dict", {k: parts[k] for k in value}, type(value))
        if is_ragged(value):
            parts = value._parts()
            self.key.append(("ragged", len(parts)))
            return ("ragged", [self.value(v, "%s_%d" % (name, i), depth + 1) for i, v in enumerate(parts)], None)
        if slices_parts(value):
            self.key.append(("slices", type(value)))
            return ("named", [self.value(v, "%s_%d" % (name, i), depth + 1) for i, v in enumerate(slices_parts(value))], type(value))
        if isinstance(value, (list, tuple)):
            self.key.append(("sequence", type(value), len(value)))
            parts = [self.value(v, "%s_%d" % (name, i), depth + 1) for i, v in enumerate(value)]
            return ("named" if is_named_tuple(value) else "sequence", parts, type(value))
        if is_array(value):
            import thalweg
            return self.tensor(thalweg.convert_to_tensor(value), name)
        return self.constant(value)

    def constant(self, value):
        if value is None or isinstance(value, (int, float, complex, str, bytes, bool)):
            self.key.append(value)
            return Constant(value, False)
        try:
            reference = weakref.ref(value)
        except TypeError:
            try:
                hash(value)
            except TypeError:
                raise TypeError("Could not generate a generic TraceType for %r.Please verify that it is immutable/hashable. Otheriwse, "
                                "consider implementing the Tracing Protocol for it." % (value,)) from None
            self.key.append(("value", type(value), value))
            return Constant(value, False)
        self.key.append(Identity(reference, id(value)))
        return Constant(value, True)


class Identity:
    """An object by identity, which it does not keep alive; never equal again once the object is gone."""

    def __init__(self, reference, number):
        self.reference, self.number = reference, number

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        if self is other:
            return True
        return isinstance(other, Identity) and self.number == other.number and self.reference() is other.reference() is not None

    def __repr__(self):
        return "<weakref at 0x%x>" % self.number


# ---- keys with unknown dimensions ----

def _is_tensor_key(part):
    return type(part) is tuple and len(part) == 3 and part[0] == "tensor"


def key_is_partial(key):
    return any(_is_tensor_key(p) and (p[2] is None or None in p[2]) for p in key)


def key_fits(general, key):
    """Whether a graph for `general` serves a call of `key`."""
    if len(general) != len(key):
        return False
    for g, k in zip(general, key):
        if _is_tensor_key(g) and _is_tensor_key(k):
            if g[1] != k[1]:
                return False
            if g[2] is None:
                continue
            if k[2] is None or len(g[2]) != len(k[2]) or any(a is not None and a != b for a, b in zip(g[2], k[2])):
                return False
        elif g != k:
            return False
    return True


def key_relax(key, other):
    """The narrowest key that serves both; None if they differ in more than shapes."""
    if len(key) != len(other):
        return None
    out = []
    for a, b in zip(key, other):
        if _is_tensor_key(a) and _is_tensor_key(b) and a[1] == b[1]:
            if a[2] is None or b[2] is None or len(a[2]) != len(b[2]):
                out.append(("tensor", a[1], None))
            else:
                out.append(("tensor", a[1], tuple(x if x == y else None for x, y in zip(a[2], b[2]))))
        elif a == b:
            out.append(a)
        else:
            return None
    return tuple(out)


def relaxed_specs(key, specs):
    shapes = [p[2] for p in key if _is_tensor_key(p)]
    return [Spec(shape, spec.dtype, spec.name) for shape, spec in zip(shapes, specs)]


def by_argument(key):
    """What a key says, per argument."""
    out, name = {}, None
    for part in key:
        if type(part) is tuple and len(part) == 2 and part[0] == "argument":
            name = part[1]
            out[name] = []
        elif name is not None:
            out[name].append(part)
    return out


# ---- packing ----

def pack(template, tensors):
    return _pack(template, iter(tensors))


def _pack(template, tensors):
    if template is LEAF:
        return next(tensors)
    if template is None:
        return None
    if isinstance(template, Constant):
        return template.value()
    kind, parts, made = template
    if kind == "dict":
        values = {key: _pack(parts[key], tensors) for key in sorted(parts, key=repr)}
        values = {key: values[key] for key in parts}
        return values if made is dict else made(values)
    if kind == "arguments":
        return {key: _pack(part, tensors) for key, part in parts.items()}
    values = [_pack(p, tensors) for p in parts]
    if kind == "ragged":
        return sys.modules["thalweg._ragged"]._of_parts(values)
    if kind == "named":
        return made(*values)
    return values if made is list else made(values)


def packer(template):
    return lambda tensors: _pack(template, iter(tensors))


def leaf_count(template):
    if template is LEAF:
        return 1
    if template is None or isinstance(template, Constant):
        return 0
    parts = template[1].values() if isinstance(template[1], dict) else template[1]
    return sum(map(leaf_count, parts))


def flatten(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value, key=repr) for leaf in flatten(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


class Outputs:
    """What a traced function gives: a template and its tensors."""

    def __init__(self, function):
        self.tensors, self._function = [], function

    def value(self, value, depth=0):
        import thalweg
        if depth > 200:
            raise ValueError("tf.function: a result is nested deeper than 200 levels, or holds itself")
        if value is None or isinstance(value, _core.Operation):
            return None
        if isinstance(value, dict):
            parts = {}
            for key in sorted(value, key=repr):
                parts[key] = self.value(value[key], depth + 1)
            return ("dict", {k: parts[k] for k in value}, type(value) if type(value).__module__ != "thalweg._containers" else dict)
        if is_ragged(value):
            return ("ragged", [self.value(v, depth + 1) for v in value._parts()], None)
        if slices_parts(value):
            return ("named", [self.value(v, depth + 1) for v in slices_parts(value)], type(value))
        if isinstance(value, (list, tuple)):
            made = type(value)
            if made.__module__ == "thalweg._containers":
                made = list if isinstance(value, list) else tuple
            return ("named" if is_named_tuple(value) else "sequence", [self.value(v, depth + 1) for v in value], made)
        try:
            tensor = thalweg.convert_to_tensor(value)
        except (TypeError, ValueError):
            raise TypeError("To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None "
                            "values; in compilation of %r, found return value of type %s, which is not a Tensor or ExtensionType." % (
                                self._function, type(value).__name__)) from None
        self.tensors.append(tensor)
        return LEAF


# ---- signatures ----

def type_text(value):
    """A value as signatures show it."""
    if is_spec(value):
        return "TensorSpec(shape=%s, dtype=%r, name=%r)" % (value.shape, value.dtype, value.name)
    if value is None:
        return "Literal[None]"
    if is_named_tuple(value):
        return "%s(%s)" % (type(value).__name__, ", ".join("%s=%s" % (f, type_text(v)) for f, v in zip(value._fields, value)))
    if isinstance(value, tuple):
        return "Tuple[%s]" % ", ".join(map(type_text, value))
    if isinstance(value, list):
        return "List[%s]" % ", ".join(map(type_text, value))
    if isinstance(value, dict):
        return "Dict[%s]" % ", ".join("[%r, %s]" % (k, type_text(v)) for k, v in value.items())
    return "Literal[%r]" % (value,)


def cast(value, spec):
    """A value as a tensor of the spec's dtype, its shape checked."""
    import thalweg
    if is_spec(value):
        tensor = value
    elif isinstance(value, _core.Tensor) or _core.is_tensor(value):
        tensor = value if isinstance(value, _core.Tensor) else thalweg.convert_to_tensor(value)
    else:
        tensor = thalweg.convert_to_tensor(value, dtype=spec.dtype)
    if tensor.dtype != spec.dtype or not tensor.shape.is_compatible_with(spec.shape):
        raise TypeError("Can not cast %s to %s" % (type_text(spec_of(tensor)), type_text(spec)))
    return tensor


def cast_structure(value, spec):
    if is_spec(spec):
        return Cast(cast(value, spec), spec)
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise TypeError("Can not cast %s to %s" % (type_text(value), type_text(spec)))
        return {k: cast_structure(value[k], spec[k]) for k in spec}
    if isinstance(spec, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(spec):
            raise TypeError("Can not cast %s to %s" % (type_text(value), type_text(spec)))
        items = [cast_structure(v, s) for v, s in zip(value, spec)]
        return type(spec)(*items) if is_named_tuple(spec) else type(spec)(items)
    return value


class Cast:
    """A tensor that is keyed by the spec it was cast to."""

    def __init__(self, tensor, spec):
        self.tensor, self.spec = tensor, spec
