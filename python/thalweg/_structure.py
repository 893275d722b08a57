"""What nested structures of tf.function need of Python: classes, and how types are written. Walking over them is python/extension/structure.c."""
import weakref

from thalweg import _core


class Weak(weakref.ref):
    """An argument that calls are told apart by, held weakly."""

    __slots__ = ()


class Members:
    """A value of several tensors that Python makes: its members described, and how it is made of them."""

    def __init__(self, join, parts):
        self.join, self.parts = join, parts

    def __eq__(self, other):
        return isinstance(other, Members) and self.parts == other.parts

    __hash__ = None


def _join_slices(parts):
    import thalweg
    return thalweg.IndexedSlices(*parts)


def _join_array(like):
    """A TensorArray of a graph travels as its list; outside of graphs it is a table of tensors again."""
    def join(parts):
        import thalweg
        if thalweg._core._tracing() or thalweg._core.is_symbolic(parts[0]):
            return like._from_loop(parts[0])
        ops, shape = thalweg.raw_ops, like.element_shape
        known = shape.as_list() if shape.is_fully_defined() else -1
        size = int(ops.TensorListLength(input_handle=parts[0]))
        array = thalweg.TensorArray(like.dtype, size=size, dynamic_size=like.dynamic_size, clear_after_read=False, element_shape=shape,
                                    infer_shape=known != -1)
        for i in range(size):
            array = array.write(i, ops.TensorListGetItem(input_handle=parts[0], index=i, element_shape=known, element_dtype=like.dtype))
        return array
    return join


def members(value):
    """How such a value is made, and its members; None for anything else."""
    name = type(value).__name__
    if name == "IndexedSlices":
        return _join_slices, [value.values, value.indices, value.dense_shape]
    if name == "TensorArray" and value._in_graph():
        return _join_array(value), [value._to_loop()]
    spec = getattr(value, "_type_spec", None)
    kind = type(value)
    if type(spec).__name__ == "DatasetSpec":  # told by what their elements are, as their text says
        return lambda parts: kind._of_variant(parts[1], spec.element_spec), [repr(spec), value._variant_tensor]
    if type(spec).__name__ == "IteratorSpec":
        return lambda parts: kind(resource=parts[1], element_spec=spec.element_spec), [repr(spec), value._iterator_resource]
    if not isinstance(spec, property) and hasattr(type(spec), "_from_components") and type(spec).__module__.split(".")[0] not in ("thalweg", "tensorflow"):  # a program's own
        return lambda parts: spec._from_components(parts[1]), [repr(spec), spec._to_components(value)]
    return None


def by_text(keys):
    return sorted(keys, key=repr)


def is_named_tuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def dict_like(value, members):
    """A dict of the type of another."""
    if type(value).__module__ == "thalweg._containers":
        return members
    if hasattr(value, "default_factory"):
        return type(value)(value.default_factory, members)
    return type(value)(members)


def sequence_like(value, members):
    """A list or tuple of the type of another."""
    if type(value).__module__ == "thalweg._containers":
        return members if isinstance(value, list) else tuple(members)
    return type(value)(*members) if is_named_tuple(value) else type(value)(members)


def clean_name(name):
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or None


# ---- signatures ----

def type_text(value):
    """A described value as signatures show it."""
    if value is None:
        return "Literal[None]"
    if isinstance(value, Weak):
        return repr(value)
    if isinstance(value, Members):
        return "Composite[%s]" % ", ".join(map(type_text, value.parts))
    if is_named_tuple(value):
        return "%s[%s]" % (type(value).__name__, ", ".join("[%r, %s]" % (f, type_text(v)) for f, v in zip(value._fields, value)))
    if isinstance(value, tuple):
        return "Tuple[%s]" % ", ".join(map(type_text, value))
    if isinstance(value, list):
        return "List[%s]" % ", ".join(map(type_text, value))
    if isinstance(value, dict):
        return "Dict[%s]" % ", ".join("[%r, %s]" % (k, type_text(v)) for k, v in value.items())
    if isinstance(value, _core_type_spec()):
        return repr(value)
    return "Literal[%r]" % (value,)


def _core_type_spec():
    import thalweg
    return thalweg.TypeSpec


def spec_of(tensor):
    import thalweg
    return thalweg.TensorSpec(tensor.shape, tensor.dtype)


def cast_text(value, spec):
    """Says that an argument is nothing of the kind."""
    if isinstance(spec, dict) and isinstance(value, dict):
        return "%s has different keys with the TraceType %s." % (value, type_text(spec))
    shown = spec_of(value) if _core.is_tensor(value) else value
    return "Can not cast %s to %s" % (type_text(shown), type_text(spec))


def leaves(structure):
    """The specs of a described structure, in order."""
    if isinstance(structure, dict):
        return [leaf for key in (sorted(structure) if all(isinstance(k, str) for k in structure) else by_text(structure))
                for leaf in leaves(structure[key])]
    if isinstance(structure, Members):
        structure = structure.parts
    if isinstance(structure, (list, tuple)):
        return [leaf for item in structure for leaf in leaves(item)]
    return [structure] if isinstance(structure, _core_type_spec()) else []
