"""Constants of SavedModels, names for compilers, converters and servers that are not there, and small functions about graphs and files. Loaded when first
asked for."""
import contextlib
import enum
import os

import thalweg as tf
from thalweg import _core

# ---- tf.saved_model ----

CONSTANTS = dict(
    ASSETS_DIRECTORY="assets", ASSETS_KEY="saved_model_assets", CLASSIFY_INPUTS="inputs", CLASSIFY_METHOD_NAME="tensorflow/serving/classify",
    CLASSIFY_OUTPUT_CLASSES="classes", CLASSIFY_OUTPUT_SCORES="scores", DEBUG_DIRECTORY="debug", DEBUG_INFO_FILENAME_PB="saved_model_debug_info.pb",
    PREDICT_INPUTS="inputs", PREDICT_OUTPUTS="outputs", REGRESS_INPUTS="inputs", REGRESS_METHOD_NAME="tensorflow/serving/regress",
    REGRESS_OUTPUTS="outputs", SAVED_MODEL_FILENAME_PB="saved_model.pb", SAVED_MODEL_FILENAME_PBTXT="saved_model.pbtxt", SAVED_MODEL_SCHEMA_VERSION=1,
    VARIABLES_DIRECTORY="variables", VARIABLES_FILENAME="variables")


class VariablePolicy(enum.Enum):
    """What a saved model keeps of a variable's devices and copies; one copy is saved here."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class Fingerprint:
    """What tells saved models from each other."""

    def __init__(self, saved_model_checksum=None, graph_def_program_hash=None, signature_def_hash=None, saved_object_graph_hash=None, checkpoint_hash=None,
                 version=None):
        self.saved_model_checksum, self.graph_def_program_hash = saved_model_checksum, graph_def_program_hash
        self.signature_def_hash, self.saved_object_graph_hash = signature_def_hash, saved_object_graph_hash
        self.checkpoint_hash, self.version = checkpoint_hash, version

    def singleprint(self):
        """All in one text."""
        return "%s/%s/%s/%s" % (self.graph_def_program_hash, self.signature_def_hash, self.saved_object_graph_hash, self.checkpoint_hash)


def _varints(data):
    """The numbers of a message, by field: varints and fixed64."""
    at, found = 0, {}

    def varint():
        nonlocal at
        value = shift = 0
        while at < len(data):
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
        raise ValueError("the file ends inside a number")
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3] = varint()
        elif key & 7 == 1:
            found[key >> 3] = int.from_bytes(data[at:at + 8], "little")
            at += 8
        elif key & 7 == 2:
            at += varint()
        else:
            raise ValueError("a field of kind %d" % (key & 7))
    return found


def read_fingerprint(export_dir):
    """The fingerprint that stands beside a saved model."""
    path = os.path.join(os.fspath(export_dir), "fingerprint.pb")
    if not os.path.exists(path):
        raise FileNotFoundError("SavedModel Fingerprint Error: Could not find fingerprint in directory: %s\nNOT_FOUND: %s not found" % (export_dir, path))
    with open(path, "rb") as file:
        try:
            found = _varints(file.read())
        except ValueError as error:
            raise RuntimeError("SavedModel Fingerprint Error: %s: %s" % (path, error)) from None
    return Fingerprint(*(found.get(i, 0) for i in range(1, 6)))


# ---- files and graphs ----

def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph into a file."""
    return tf.compat.v1.train.write_graph(graph_or_graph_def, logdir, name, as_text)


def match_filenames_once(pattern, name=None):
    """A variable with the names of the files that fit a pattern."""
    return tf.Variable(tf.io.matching_files(pattern), trainable=False, name=name or "matching_filenames", shape=[None])


def get_registered_schemes():
    """The kinds of paths: files."""
    return ["file", ""]


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef to the graph."""
    return tf.import_graph_def(graph_def, input_map, return_elements, name, op_dict, producer_op_list)


@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """A day up to which programs must work; graphs have one form."""
    for value in (year, month, day):
        if not isinstance(value, int):
            raise TypeError("forward_compatibility_horizon: expected whole numbers, got %r" % (value,))
    yield


# ---- compilers, converters, servers ----

def compile(computation, inputs=None):
    """The results of a function, as a list; nothing is compiled."""
    made = tf.function(computation)(*(inputs or []))
    return list(made) if isinstance(made, (list, tuple)) else [made]


@contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """Nothing is compiled; ops run as elsewhere."""
    del separate_compiled_gradients
    if _core.executing_eagerly():
        raise RuntimeError("xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside tf.function.")
    yield


def _unsupported(path, why):
    def call(*args, **kwargs):
        raise NotImplementedError("tf.%s is not supported: %s" % (path, why))
    call.__name__ = call.__qualname__ = path.rpartition(".")[2]
    call.__doc__ = "Not supported: %s." % why
    return call


MLIR = {name: _unsupported("mlir.experimental." + name, "there is no MLIR") for name in (
    "convert_function", "convert_graph_def", "convert_saved_model", "convert_saved_model_v1", "run_pass_pipeline", "tflite_to_tosa_bytecode",
    "write_bytecode")}
TENSORRT = {name: _unsupported("experimental.tensorrt." + name, "there is no TensorRT") for name in ("ConversionParams", "Converter")}
SERVER = {"start": _unsupported("profiler.experimental.server.start", "there are no servers; tf.profiler.experimental.start writes a profile")}
CLIENT = {name: _unsupported("profiler.experimental.client." + name, "there are no servers; tf.profiler.experimental.start writes a profile")
          for name in ("monitor", "trace")}
WRITTEN = ("write_graph", "match_filenames_once")
POLICY = ("VariablePolicy", "Fingerprint", "read_fingerprint")
