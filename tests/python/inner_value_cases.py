"""What functions of tensorflow.python.*, keras.src.* and tf.__internal__ give: tests/golden/inner_values.py asks TensorFlow, test_inner_values.py asks here."""
import collections
import importlib

import numpy as np

Pair = collections.namedtuple("Pair", "left right")
TREE = {"b": [1, (2, 3)], "a": Pair(4, {"z": 5})}
SHALLOW = {"b": [0, 0], "a": Pair(0, 0)}


def told(value):
    """A value as JSON: tensors and arrays as lists, other things as texts."""
    if isinstance(value, (bool, int, str, type(None))):
        return value
    if isinstance(value, dict):
        return {"dict": [[str(key), told(one)] for key, one in value.items()]}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [told(one) for one in value]
    if hasattr(value, "numpy") or isinstance(value, (np.ndarray, np.generic, float)):
        found = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        return {"dtype": found.dtype.name, "values": found.astype("float64").round(5).tolist()}
    return repr(value)


def nests(module, case):
    nest = module("python.util.nest")
    case("flatten_with_tuple_paths", lambda: nest.flatten_with_tuple_paths(TREE))
    case("flatten_with_joined_string_paths", lambda: nest.flatten_with_joined_string_paths(TREE, "."))
    case("yield_flat_paths", lambda: list(nest.yield_flat_paths(TREE)))
    case("yield_flat_paths leaf", lambda: list(nest.yield_flat_paths(3)))
    case("flatten_up_to", lambda: nest.flatten_up_to(SHALLOW, TREE))
    case("flatten_with_tuple_paths_up_to", lambda: nest.flatten_with_tuple_paths_up_to(SHALLOW, TREE))
    case("map_structure_up_to", lambda: nest.map_structure_up_to(SHALLOW, lambda x, y: (x, y), TREE, TREE))
    case("map_structure_with_paths", lambda: nest.map_structure_with_paths(lambda path, x: path + "=%d" % x, TREE))
    case("map_structure_with_tuple_paths", lambda: nest.map_structure_with_tuple_paths(lambda path, x, y: (path, x + y), TREE, TREE))
    case("map_structure_with_tuple_paths_up_to", lambda: nest.map_structure_with_tuple_paths_up_to(SHALLOW, lambda path, x: len(path), TREE))
    case("shallow length", lambda: nest.assert_shallow_structure([1, 2], [1]))
    case("shallow kind", lambda: nest.assert_shallow_structure([1, 2], (1, 2)))
    case("shallow leaf", lambda: nest.assert_shallow_structure([1, 2], 1))
    case("shallow keys", lambda: nest.assert_shallow_structure({"a": 1}, {"b": 1}))
    case("shallow fits", lambda: nest.assert_shallow_structure(SHALLOW, TREE))
    case("traverse", lambda: nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), TREE))
    case("traverse none", lambda: nest.get_traverse_shallow_structure(lambda s: False, TREE))
    case("sequence_like", lambda: [nest._sequence_like(one, [7, 8]) for one in ({"b": 1, "a": 2}, [1, 2], (1, 2), Pair(1, 2))])
    case("flatten_dict_items", lambda: nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d"))}))
    case("is_namedtuple", lambda: [bool(nest.is_namedtuple(one)) for one in (Pair(1, 2), (1, 2), [1])])


def types(tf, module, case):
    spec = module("python.framework.tensor_spec").BoundedTensorSpec
    case("BoundedTensorSpec", lambda: [str(spec((2,), tf.float32, 0, [1, 2]).shape), spec((2,), tf.float32, 0, [1, 2]).maximum])
    case("BoundedTensorSpec equal", lambda: [spec((), tf.int32, 0, 5) == spec((), tf.int32, 0, 5), spec((), tf.int32, 0, 5) == spec((), tf.int32, 1, 5)])
    case("BoundedTensorSpec from", lambda: spec.from_spec(tf.TensorSpec((1,), tf.int8)).minimum)
    case("BoundedTensorSpec None", lambda: spec((), tf.int32, None, 5))
    composite = module("python.framework.composite_tensor")
    case("composite", lambda: [isinstance(one, composite.CompositeTensor) for one in (
        tf.sparse.from_dense([[1]]), tf.ragged.constant([[1], []]), tf.constant(1), 3)])
    internal = module("__internal__")
    case("types", lambda: [isinstance(one, internal.types.Tensor) for one in (tf.constant(1), 3)])
    registry = module("python.framework.type_spec_registry")
    case("registry unknown", lambda: registry.lookup("none.None"))
    case("registry bad name", lambda: registry.register("none"))
    case("variable_utils", lambda: module("python.util.variable_utils").convert_variables_to_tensors([tf.Variable(2.), 3]))
    case("unknown_shape", lambda: [str(module("python.framework.tensor_shape").unknown_shape(rank)) for rank in (None, 2)])
    case("constant_value_as_shape", lambda: str(module("python.framework.tensor_util").constant_value_as_shape(tf.constant([2, -1, 3]))))


def ops(tf, module, case):
    xla = module("compiler.tf2xla.python.xla")
    x = tf.reshape(tf.range(12.), (3, 4))
    if not module.of_tensorflow:  # TensorFlow has no kernels for these on a CPU; the values are XLA's definition
        case("dynamic_slice", lambda: [xla.dynamic_slice(x, [1, 1], [2, 2]), xla.dynamic_slice(x, [2, 3], [2, 2])])
        case("dynamic_update_slice", lambda: xla.dynamic_update_slice(x, -tf.ones((2, 2)), [1, 3]))
    sparse = module("python.ops.linalg.sparse.sparse")
    a = np.array([[1., 0, 2], [0, 0, 0], [0, 3, 0]], "float32")
    b = np.array([[0., 4], [5, 0], [6, 7]], "float32")
    batch = np.stack([a, a.T + np.eye(3, dtype="float32")])
    wide = np.stack([b, b[::-1]])
    matrix = sparse.CSRSparseMatrix
    case("csr dense", lambda: [sparse.matmul(matrix(a), b), sparse.matmul(matrix(a), b[::-1].copy(), transpose_a=True), sparse.matmul(b.T.copy(), matrix(a))])
    case("csr csr", lambda: [sparse.matmul(matrix(a), matrix(b)).to_dense(), sparse.matmul(matrix(b), matrix(a), transpose_a=True).to_dense()])
    case("csr batch", lambda: [sparse.matmul(matrix(batch), wide), sparse.matmul(matrix(batch), matrix(wide)).to_dense()])
    case("csr indices", lambda: sparse.matmul(matrix(a), matrix(b)).to_sparse_tensor().indices)
    weights = module("python.ops.weights_broadcast_ops").broadcast_weights
    case("broadcast_weights", lambda: [weights([[1.], [2.]], tf.zeros((2, 3))), weights(2., tf.zeros((2, 2)))])
    case("broadcast_weights misfit", lambda: weights([1., 2.], tf.zeros((2, 2))))
    squeeze = module("python.ops.confusion_matrix").remove_squeezable_dimensions
    case("remove_squeezable", lambda: [list(one.shape) for one in (*squeeze(tf.zeros((2, 1)), tf.zeros(2)), *squeeze(tf.zeros(2), tf.zeros((2, 1))))])
    lists = module("python.ops.list_ops")
    case("tensor_list", lambda: lists.tensor_list_stack(lists.tensor_list_from_tensor(tf.constant([[1., 2], [3, 4]]), [2]), tf.float32))

    def moved():
        v = tf.Variable([1., 2.])
        module("python.training.moving_averages").assign_moving_average(v, tf.constant([3., 3.]), 0.75, zero_debias=False)
        return v
    case("assign_moving_average", moved)
    nn = tf.nn.experimental
    case("stateless_dropout", lambda: nn.stateless_dropout(x + 1, 0.4, [1, 2]))
    case("stateless_dropout noise", lambda: nn.stateless_dropout(x + 1, 0.5, [3, 2], noise_shape=(3, 1)))
    case("stateless_dropout rate", lambda: nn.stateless_dropout(x, 1.0, [1, 2]))
    case("stateless_dropout dtype", lambda: nn.stateless_dropout(tf.constant([1]), 0.5, [1, 2]))
    case("stateless_dropout zero", lambda: nn.stateless_dropout(x, 0, [1, 2]))
    case("general_dropout", lambda: nn.general_dropout(x, 0.5, lambda shape, dtype: tf.reshape(tf.linspace(0., 0.99, 12), shape)))


def keras(tf, module, case):
    name = module("keras.src.backend").unique_object_name
    case("unique_object_name", lambda: [name("made"), name("made"), name("made", namespace="n"), name("zero", zero_based=True), name("zero", zero_based=True),
                                        name("kept", avoid_names={"kept_1"})])
    conv = module("keras.src.layers.convolutional.base_conv").Conv
    layers = tf.keras.layers
    case("Conv", lambda: [isinstance(one, conv) for one in (layers.Conv2D(1, 1), layers.Conv1DTranspose(1, 1), layers.SeparableConv2D(1, 1), layers.Dense(1))])
    case("functional", lambda: module("keras.src.engine.functional").Functional.__name__ in ("Functional", "Model"))
    case("base random layer", lambda: list(tf.keras.__internal__.layers.BaseRandomLayer(seed=3)._random_generator.random_uniform((2, 3)).shape))


def cases(tf, top):
    """Names to functions without arguments. top: the package's name in imports."""
    def module(path):
        return importlib.import_module("keras" + path[5:] if module.of_tensorflow and path.startswith("keras.src") else top + "." + path) \
            if not path.startswith("__internal__") else tf.__internal__
    module.of_tensorflow = top == "tensorflow"
    out = {}
    nests(module, out.__setitem__)
    for family in (types, ops, keras):
        family(tf, module, out.__setitem__)
    return out


def answer(function):
    """What a case gives, or the class of its error."""
    try:
        return told(function())
    except Exception as error:  # the class is what is compared
        return {"error": type(error).__name__}
