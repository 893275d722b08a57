"""The types of stubs (make_stubs.py): what rows' kinds are for a type checker, and what no row describes."""
import inspect
import re

TYPING = "Any Callable Iterator Mapping Sequence SupportsFloat SupportsIndex".split()
OWN = "DType DTypeLike IntsLike PathLike ShapeLike Tensor TensorLike TensorShape".split()
DOC = "\0"  # before the lines of docstrings, until they are written


def module_text(lines, names):
    """The text of a module. Words of typing that it has as names of its own stand there with a line before them."""
    taken = [word for word in TYPING + OWN if word in names]

    def imported(words):
        return ", ".join("%s as _%s" % (word, word) if word in taken else word for word in words)
    text = ["import enum", "from builtins import bool as _bool", "from typing import " + imported(TYPING), "", "import thalweg", "from thalweg import " + imported(OWN), ""]
    pattern = re.compile(r"(?<![\w.])(?<!def )(?<!class )(%s)(?=[\[\],)| :]|$)(?! = thalweg| as )" % "|".join(taken)) if taken else None
    for line in lines:
        if line.startswith(DOC):
            text.append(line[1:])
        else:
            text.append(pattern.sub(r"_\1", line) if pattern else line)
    return "\n".join(text) + "\n"


BINARY = "add sub mul truediv floordiv mod pow matmul and or xor".split()
OPERATORS = "".join('    def __%s__(self, other: TensorLike) -> "Tensor": ...\n    def __r%s__(self, other: TensorLike) -> "Tensor": ...\n' % (b, b) for b in BINARY)
OPERATORS += "".join('    def __%s__(self, other: TensorLike) -> "Tensor": ...\n' % c for c in ("lt", "le", "gt", "ge"))
OPERATORS += "".join('    def __%s__(self) -> "Tensor": ...\n' % u for u in ("neg", "abs", "invert"))
# Members that tensors and variables share.
ACCESS = '''    @property
    def shape(self) -> TensorShape: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def device(self) -> str: ...
    def numpy(self) -> Any: ...
    def get_shape(self) -> TensorShape: ...
    def set_shape(self, shape: ShapeLike) -> None: ...
    def eval(self, feed_dict: Any = None, session: Any = None) -> Any: ...
    def ref(self) -> Any: ...
    def __getitem__(self, key: Any) -> "Tensor": ...
    def __iter__(self) -> Iterator["Tensor"]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> _bool: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> _complex: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any: ...
    def __eq__(self, other: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...
    def __hash__(self) -> int: ...
'''
HEAD = '''"""TensorFlow 2 as a small C library. Made from the package and the definition rows by tools/make_stubs.py."""
import enum
import os
from builtins import bool as _bool, complex as _complex
from typing import Any, Callable, Iterator, Mapping, Sequence, SupportsFloat, SupportsIndex, TypeVar, Union, overload

import numpy
import thalweg

_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str
__thalweg_version__: str

class DType:
    def __init__(self, type_enum: Any, handle_data: Any = None) -> None: ...
    name: str
    size: int
    min: Any
    max: Any
    limits: tuple[Any, Any]
    as_numpy_dtype: Any
    as_datatype_enum: int
    is_floating: _bool
    is_integer: _bool
    is_complex: _bool
    is_bool: _bool
    is_unsigned: _bool
    is_quantized: _bool
    is_numpy_compatible: _bool
    base_dtype: "DType"
    real_dtype: "DType"
    def is_compatible_with(self, other: Any) -> _bool: ...

class TensorShape:
    rank: int | None
    ndims: int | None
    dims: list[Any] | None
    def __init__(self, dims: Any) -> None: ...
    def as_list(self) -> list[Any]: ...
    def as_proto(self) -> Any: ...
    def num_elements(self) -> int | None: ...
    def is_compatible_with(self, other: Any) -> _bool: ...
    def is_fully_defined(self) -> _bool: ...
    def is_subtype_of(self, other: Any) -> _bool: ...
    def most_specific_compatible_shape(self, other: Any) -> "TensorShape": ...
    def most_specific_common_supertype(self, others: Any) -> "TensorShape | None": ...
    def merge_with(self, other: Any) -> "TensorShape": ...
    def concatenate(self, other: Any) -> "TensorShape": ...
    def with_rank(self, rank: int) -> "TensorShape": ...
    def with_rank_at_least(self, rank: int) -> "TensorShape": ...
    def with_rank_at_most(self, rank: int) -> "TensorShape": ...
    def assert_has_rank(self, rank: int) -> None: ...
    def assert_same_rank(self, other: Any) -> None: ...
    def assert_is_compatible_with(self, other: Any) -> None: ...
    def assert_is_fully_defined(self) -> None: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __add__(self, other: Any) -> "TensorShape": ...
    def __radd__(self, other: Any) -> "TensorShape": ...

class Tensor:
    ndim: int
    name: Any
    op: Any
    graph: Any
    def __getattr__(self, name: str) -> Any: ...
''' + ACCESS + OPERATORS + '''
PathLike = Union[str, bytes, "os.PathLike[str]", Tensor]
TensorLike = Union[Tensor, "thalweg.Variable", "thalweg.SparseTensor", "thalweg.RaggedTensor", "thalweg.IndexedSlices", "thalweg.TensorArray", _complex, str, bytes,
                   numpy.ndarray[Any, Any], numpy.generic, Sequence[Any]]
DTypeLike = Union[DType, str, type, "numpy.dtype[Any]", int]
ShapeLike = Union[TensorShape, Sequence[Any], Tensor, "numpy.ndarray[Any, Any]", SupportsIndex, None]
IntsLike = Union[SupportsIndex, Sequence[Any], "numpy.ndarray[Any, Any]", Tensor, TensorShape]
'''
FUNCTION = '''@overload
def function(func: _F, input_signature: Any = None, autograph: _bool = True, jit_compile: Any = None, reduce_retracing: _bool = False, \
experimental_implements: Any = None, experimental_autograph_options: Any = None, experimental_attributes: Any = None, \
experimental_relax_shapes: Any = None, experimental_compile: Any = None, experimental_follow_type_hints: Any = None) -> Any: ...
@overload
def function(func: None = None, input_signature: Any = None, autograph: _bool = True, jit_compile: Any = None, reduce_retracing: _bool = False, \
experimental_implements: Any = None, experimental_autograph_options: Any = None, experimental_attributes: Any = None, \
experimental_relax_shapes: Any = None, experimental_compile: Any = None, experimental_follow_type_hints: Any = None) -> Callable[[Callable[..., Any]], Any]: ...'''
SPECIAL = {  # what is written by hand: of a function its lines, of a class members by their names
    "function": FUNCTION,
    "Variable": {"__getattr__": "def __getattr__(self, name: str) -> Any: ...", "__access__": (ACCESS + OPERATORS).replace("\n    ", "\n").strip(),
                 **{n: "" for n in re.findall(r"def (\w+)\(", ACCESS + OPERATORS)}},
    "keras.layers.Layer": {"__call__": "def __call__(self, *args: Any, **kwargs: Any) -> Any: ...", "dtype": "@property\ndef dtype(self) -> Any: ...",
                           "__setattr__": "def __setattr__(self, name: str, value: Any) -> None: ...", "__getattr__": "def __getattr__(self, name: str) -> Any: ..."},
    "keras.Model": {"__init__": "def __init__(self, *args: Any, **kwargs: Any) -> None: ..."},
    "GradientTape": {"gradient": "def gradient(self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = ...) -> Any: ..."},
    "data.Dataset": {"__iter__": "def __iter__(self) -> Iterator[Any]: ...", "__len__": "def __len__(self) -> int: ..."},
    "Module": {"__setattr__": "def __setattr__(self, name: str, value: Any) -> None: ..."},
}
# Methods that programs define in classes of their own, with arguments of their own.
OPEN = set("call build get_config from_config update_state result reset_state reset_states train_step test_step predict_step compute_output_shape compute_mask "
           "compute_loss compute_metrics compute_output_signature get_initial_state __call__ make_train_function adapt finalize_state merge_state "
           "update_step process_fn create_weights save_own_variables load_own_variables".split())
CONSTANTS = {bool: "_bool", int: "int", float: "float", str: "str", type(None): "None"}


def module_of(path):
    parent = path.rpartition(".")[0]
    return "thalweg." + parent if parent else "thalweg"


def indented(text, indent):
    """A docstring."""
    text = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    lines = text.split("\n")
    out = [DOC + indent + '"""' + lines[0]] + [DOC + (indent + line).rstrip() for line in lines[1:]]
    if len(out) == 1 and not text.endswith('"'):
        return [out[0] + '"""']
    return out + [DOC + indent + '"""']


def default_text(value):
    if value is None or isinstance(value, (bool, int, str, bytes)) and not hasattr(value, "_row"):
        return repr(value) if type(value) in (bool, int, str, bytes, type(None)) else "..."
    return repr(value) if isinstance(value, float) and value == value and abs(value) != float("inf") else "..."


def parameters_of(value, method):
    """The arguments of a Python function or class, whose types are not known."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ["*args: Any", "**kwargs: Any"]
    if method:
        parameters = parameters[1:] if parameters and parameters[0].kind in (0, 1) else parameters
    out, star, defaulted = [], False, False
    for p in parameters:
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        star = star or stars == "*"
        if p.kind is p.KEYWORD_ONLY and not star:
            out.append("*")
            star = True
        text = stars + p.name + ": Any"
        if p.default is not p.empty:
            text += " = " + default_text(p.default)
            defaulted = True
        elif defaulted and not stars and not star:
            text += " = ..."
        out.append(text)
    return out


class Types:
    """Types of rows' arguments and results."""
    ARGUMENTS = {"TENSOR": "TensorLike", "TENSORS": "Any", "INT": "SupportsIndex", "FLOAT": "SupportsFloat", "BOOL": "_bool | int | Tensor", "STR": "PathLike",
                 "DTYPE": "DTypeLike", "SHAPE": "ShapeLike", "INTS": "IntsLike", "NUMBER": "SupportsFloat | Callable[..., Any]", "PAIRS": "Any"}
    RESULTS = {"TENSOR": "Tensor", "TENSORS": "list[Tensor]", "INT": "int", "FLOAT": "float", "BOOL": "_bool", "STR": "str", "DTYPE": "DType", "SHAPE": "TensorShape",
               "INTS": "list[int]", "NONE": "None"}
    DUNDERS = set("__enter__ __exit__ __iter__ __next__ __len__ __getitem__ __setitem__ __contains__ __call__ __add__ __radd__ __sub__ __mul__ __neg__".split())

    def __init__(self, homes, rows, by_id, parents):
        self.homes, self.rows, self.by_id, self.parents = homes, rows, by_id, parents
        self.paths = {path: kind for kind, path in homes.items()}

    def place(self, kind):
        return "thalweg." + self.homes[kind]

    def handle(self, word):
        """The class of a handle, or the nearest public one above it."""
        row = self.by_id.get(word)
        for path in row.path.split("|") if row else ():
            if path in self.paths:
                return "thalweg." + path
        parent = self.rows.get((self.parents.get(word) or "").split("|")[0])
        return self.handle(parent.id) if parent else "Any"

    def argument(self, field):
        text = self.ARGUMENTS.get(field.kind, "Any")
        return text + " | None" if field.none_allowed and text != "Any" else text

    def result(self, row):
        if (row.result_word and row.result in ("TENSOR", "TENSORS")) or row.result in ("VALUE", "HANDLES"):
            return "Any"
        if row.result == "HANDLE":
            return self.handle(row.result_word)
        return self.RESULTS[row.result] if row.result != "STR" else "Any"

    def arguments(self, fields):
        out, star, defaulted = [], False, False
        for field in fields:
            if field.rest:
                out.append(("**" if field.kind == "PAIRS" else "*") + field.name + ": Any")
                star = star or field.kind != "PAIRS"
                continue
            if (field.keyword_only or (field.required and defaulted)) and not star:
                out.append("*")
                star = True
            text = "%s: %s" % (field.name, self.argument(field))
            if not field.required:
                text += " = " + self.default(field)
                defaulted = True
            out.append(text)
        return sorted(out, key=lambda a: a.startswith("**"))

    @staticmethod
    def default(field):
        d = field.default
        if d in ("None", "True", "False") or field.kind in ("INT", "FLOAT", "NUMBER"):
            return d
        return "..." if field.kind in ("INTS", "SHAPE", "DTYPE") else repr(d.strip("'"))

    def constant(self, value):
        if type(value).__name__ == "DType":
            return "DType"
        return CONSTANTS.get(type(value), "Any") if value is not None else "None"
