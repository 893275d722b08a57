"""tf.compat.v1.saved_model's builder: SavedModels of a session's graph, their signatures and the constants that name things in them."""
import os

import thalweg as tf
from thalweg import _messages
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
SIGNATURES = dict(
    DEFAULT_SERVING_SIGNATURE_DEF_KEY="serving_default", PREDICT_METHOD_NAME="tensorflow/serving/predict", PREDICT_INPUTS="inputs", PREDICT_OUTPUTS="outputs",
    CLASSIFY_METHOD_NAME="tensorflow/serving/classify", CLASSIFY_INPUTS="inputs", CLASSIFY_OUTPUT_CLASSES="classes", CLASSIFY_OUTPUT_SCORES="scores",
    REGRESS_METHOD_NAME="tensorflow/serving/regress", REGRESS_INPUTS="inputs", REGRESS_OUTPUTS="outputs")
CONSTANTS = dict(
    ASSETS_DIRECTORY="assets", ASSETS_KEY="saved_model_assets", DEBUG_DIRECTORY="debug", DEBUG_INFO_FILENAME_PB="saved_model_debug_info.pb",
    LEGACY_INIT_OP_KEY="legacy_init_op", MAIN_OP_KEY="saved_model_main_op", SAVED_MODEL_FILENAME_PB="saved_model.pb",
    SAVED_MODEL_FILENAME_PBTXT="saved_model.pbtxt", SAVED_MODEL_SCHEMA_VERSION=1, VARIABLES_DIRECTORY="variables", VARIABLES_FILENAME="variables")


# ---- signatures ----

def build_tensor_info(tensor):
    """What a SavedModel says of a tensor."""
    if tf.executing_eagerly():
        raise RuntimeError("`build_tensor_info` is not supported in eager execution.")
    info = _messages.TensorInfo(dtype=tensor.dtype.as_datatype_enum, tensor_shape=_shape(tensor.shape))
    if isinstance(tensor, tf.SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    elif isinstance(tensor, tf.RaggedTensor):
        raise NotImplementedError("build_tensor_info: ragged tensors are not supported")
    else:
        info.name = tensor.name
    return info


def _shape(shape):
    made = _messages.TensorShapeProto()
    if shape.rank is None:
        made.unknown_rank = True
        return made
    for size in shape:
        made.dim.add().size = -1 if size is None else int(size)
    return made


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor of the graph that a SavedModel's entry means."""
    graph = graph or _v1.get_default_graph()

    def find(name):
        return graph.get_tensor_by_name(import_scope + "/" + name if import_scope else name)
    kind = tensor_info.WhichOneof("encoding")
    if kind == "name":
        return find(tensor_info.name)
    if kind == "coo_sparse":
        parts = tensor_info.coo_sparse
        return tf.SparseTensor(find(parts.indices_tensor_name), find(parts.values_tensor_name), find(parts.dense_shape_tensor_name))
    raise ValueError("Invalid TensorInfo.encoding: %s" % kind)


def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None):
    """A signature of tensors' entries."""
    made = _messages.SignatureDef()
    for place, given in ((made.inputs, inputs), (made.outputs, outputs)):
        for key in sorted(given or {}):
            place[key].CopyFrom(given[key])
    if method_name is not None:
        made.method_name = method_name
    for key in defaults or {}:
        made.defaults[key].CopyFrom(tf.make_tensor_proto(defaults[key]))
    return made


def predict_signature_def(inputs, outputs):
    """The signature of predictions: dicts of tensors."""
    for what, given in (("inputs", inputs), ("outputs", outputs)):
        if given is None or not given:
            raise ValueError("Prediction %s cannot be None or empty." % what)
    infos = [{key: build_tensor_info(tensor) for key, tensor in given.items()} for given in (inputs, outputs)]
    return build_signature_def(infos[0], infos[1], SIGNATURES["PREDICT_METHOD_NAME"])


def classification_signature_def(examples, classes, scores):
    """The signature of a classifier of serialized Examples."""
    if examples is None:
        raise ValueError("Classification `examples` cannot be None.")
    if not tf.is_tensor(examples):
        raise ValueError("Classification `examples` must be a string Tensor. Found `examples` of type %s." % type(examples))
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    if examples.dtype != tf.string:
        raise ValueError("Classification input tensors must be of type string. Found tensors of type %s" % examples.dtype)
    outputs = {}
    if classes is not None:
        if classes.dtype != tf.string:
            raise ValueError("Classification classes must be of type string Tensor. Found tensors of type %s" % classes.dtype)
        outputs["classes"] = build_tensor_info(classes)
    if scores is not None:
        if scores.dtype != tf.float32:
            raise ValueError("Classification scores must be a float tensor.")
        outputs["scores"] = build_tensor_info(scores)
    return build_signature_def({"inputs": build_tensor_info(examples)}, outputs, SIGNATURES["CLASSIFY_METHOD_NAME"])


def regression_signature_def(examples, predictions):
    """The signature of a regression of serialized Examples."""
    if examples is None:
        raise ValueError("Regression `examples` cannot be None.")
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    if examples.dtype != tf.string:
        raise ValueError("Regression input tensors must be of type string. Found tensors with type %s." % examples.dtype)
    if predictions.dtype != tf.float32:
        raise ValueError("Regression output tensors must be of type float. Found tensors with type %s." % predictions.dtype)
    return build_signature_def({"inputs": build_tensor_info(examples)}, {"outputs": build_tensor_info(predictions)}, SIGNATURES["REGRESS_METHOD_NAME"])


def is_valid_signature(signature_def):
    """Whether the signature has what its method needs."""
    if signature_def is None:
        return False
    inputs, outputs, method = signature_def.inputs, signature_def.outputs, signature_def.method_name

    def of(place, key, kind):
        return key in place and place[key].dtype == kind.as_datatype_enum
    if method == SIGNATURES["PREDICT_METHOD_NAME"]:
        return bool(len(inputs)) and bool(len(outputs))
    if method == SIGNATURES["REGRESS_METHOD_NAME"]:
        return set(inputs) == {"inputs"} and of(inputs, "inputs", tf.string) and set(outputs) == {"outputs"} and of(outputs, "outputs", tf.float32)
    if method == SIGNATURES["CLASSIFY_METHOD_NAME"]:
        return (set(inputs) == {"inputs"} and of(inputs, "inputs", tf.string) and 0 < len(set(outputs)) and set(outputs) <= {"classes", "scores"}
                and ("classes" not in outputs or of(outputs, "classes", tf.string)) and ("scores" not in outputs or of(outputs, "scores", tf.float32)))
    return False


def main_op():
    """What initializes variables and tables."""
    return tf.group(_v1.global_variables_initializer(), _v1.local_variables_initializer(), _v1.tables_initializer())


def main_op_with_restore(restore_op_name):
    """The same after an operation that restores."""
    with tf.control_dependencies([main_op()]):
        return tf.group(_v1.get_default_graph().get_operation_by_name(restore_op_name) if isinstance(restore_op_name, str) else restore_op_name)


# ---- the builder ----

class SavedModelBuilder:
    """Writes a SavedModel: the variables once, and a graph for each set of tags."""

    def __init__(self, export_dir):
        self._export_dir = os.fspath(export_dir)
        if tf.io.gfile.exists(self._export_dir) and tf.io.gfile.listdir(self._export_dir):
            raise AssertionError("Export directory %s already exists, and isn't empty. Please choose a different export directory, or delete all the contents "
                                 "of the specified directory." % self._export_dir)
        tf.io.gfile.makedirs(self._export_dir)
        self._model = _messages.SavedModel(saved_model_schema_version=1)
        self._has_variables = False

    def _assets(self, meta, assets):
        for tensor in assets or []:
            value = tf.get_static_value(tensor)
            if value is None or tensor.dtype != tf.string:
                raise ValueError("Collection of asset files must hold constant tensors of paths")
            path = value.item().decode() if hasattr(value, "item") and not isinstance(value, bytes) else value.decode()
            if not path:
                raise ValueError("Asset filepath tensor %s in is invalid." % tensor)
            entry = meta.asset_file_def.add()
            entry.filename = os.path.basename(path)
            entry.tensor_info.name = tensor.name
            folder = os.path.join(self._export_dir, "assets")
            tf.io.gfile.makedirs(folder)
            tf.io.gfile.copy(path, os.path.join(folder, entry.filename), overwrite=True)

    def _meta(self, graph, saver, tags, signatures, assets, first, train, strip):
        meta = saver._meta_graph(graph) if saver is not None else _v1.train.export_meta_graph(graph=graph)
        if strip:
            meta.meta_info_def.stripped_default_attrs = True
        for tag in [tags] if isinstance(tags, str) else tags:
            meta.meta_info_def.tags.append(tag)
        for key, signature in (signatures or {}).items():
            for info in [*signature.inputs.values(), *signature.outputs.values()]:
                if info.WhichOneof("encoding") is None:
                    raise AssertionError("All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., name or coo_sparse) set.")
                if not info.dtype:
                    raise AssertionError("All TensorInfo protos used in the SignatureDefs must have the dtype field set")
            meta.signature_def[key].CopyFrom(signature)
        for key, operation in (("__saved_model_init_op", first), ("__saved_model_train_op", train)):
            if operation is not None:
                meta.signature_def[key].outputs[key].name = operation.name
        self._assets(meta, assets)
        self._model.meta_graphs.add().CopyFrom(meta)

    @staticmethod
    def _first(graph, init_op, main, legacy):
        given = [op for op in (init_op, main, legacy) if op is not None]
        if len(given) > 1:
            raise ValueError("Only one of init_op, main_op and legacy_init_op may be given")
        for operation in given:
            if not isinstance(operation, tf.Operation):
                raise TypeError("init_op needs to be an Operation: %s" % (operation,))
        return given[0] if given else None

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_list=None, clear_devices=False, init_op=None, train_op=None,
                                     strip_default_attrs=False, saver=None, assets_collection=None, legacy_init_op=None, main_op=None):
        """Writes the session's variables, and takes its graph."""
        if self._has_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` instead.")
        del clear_devices  # nodes say where they were to run, and run where they can
        with sess.graph.as_default():
            first = self._first(sess.graph, init_op, main_op, legacy_init_op)
            if saver is None and _v1.global_variables() + _variables.get_collection(_variables.GraphKeys.SAVEABLE_OBJECTS):
                saver = _v1.train.Saver(sharded=True, write_version=2, allow_empty=True)
            if saver is not None:
                folder = os.path.join(self._export_dir, "variables")
                tf.io.gfile.makedirs(folder)
                saver.save(sess, os.path.join(folder, "variables"), write_meta_graph=False, write_state=False)
            self._meta(sess.graph, saver, tags, signature_def_map, assets_list or assets_collection, first, train_op, strip_default_attrs)
        self._has_variables = True

    def add_meta_graph(self, tags, signature_def_map=None, assets_list=None, clear_devices=False, init_op=None, train_op=None, saver=None,
                       strip_default_attrs=False, assets_collection=None, legacy_init_op=None, main_op=None):
        """Takes the default graph; the variables are written already."""
        if not self._has_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first.")
        del clear_devices
        graph = _v1.get_default_graph()
        first = self._first(graph, init_op, main_op, legacy_init_op)
        if saver is None and _v1.global_variables():
            saver = _v1.train.Saver(sharded=True, write_version=2, allow_empty=True)
        self._meta(graph, saver, tags, signature_def_map, assets_list or assets_collection, first, train_op, strip_default_attrs)

    def save(self, as_text=False):
        """Writes the file."""
        path = os.path.join(self._export_dir, "saved_model.pbtxt" if as_text else "saved_model.pb")
        with tf.io.gfile.GFile(path, "w" if as_text else "wb") as file:
            file.write(str(self._model) if as_text else self._model.SerializeToString())
        return path.encode()


Builder = SavedModelBuilder


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """A SavedModel of a session's graph with one signature, for serving."""
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": predict_signature_def(inputs, outputs)},
                                         assets_list=_variables.get_collection(_variables.GraphKeys.ASSET_FILEPATHS), main_op=legacy_init_op)
    builder.save()


def install(module):
    """Fills tf.compat.v1.saved_model."""
    signature_functions = dict(build_signature_def=build_signature_def, predict_signature_def=predict_signature_def, is_valid_signature=is_valid_signature,
                               classification_signature_def=classification_signature_def, regression_signature_def=regression_signature_def)
    infos = dict(build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info)
    module.__dict__.update(SIGNATURES, **CONSTANTS, **signature_functions, **infos)
    module.__dict__.update(Builder=SavedModelBuilder, simple_save=simple_save, main_op_with_restore=main_op_with_restore, load_v2=tf.saved_model.load)
    tf._module("signature_constants", module, **SIGNATURES)
    tf._module("constants", module, **CONSTANTS)
    tf._module("builder", module, SavedModelBuilder=SavedModelBuilder)
    tf._module("signature_def_utils", module, **signature_functions)
    tf._module("utils", module, **infos)
    tf._module("main_op", module, main_op=main_op, main_op_with_restore=main_op_with_restore)
