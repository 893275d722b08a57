"""tf.compat.v1.saved_model: SavedModels into a session's graph."""
import os
import sys

import thalweg as tf
from thalweg import _messages
from thalweg._graph_mode import importing as _importing


def _meta_graph(export_dir, tags):
    path = os.path.join(export_dir, "saved_model.pb")
    if not os.path.exists(path):
        raise OSError("SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}" % export_dir)
    with open(path, "rb") as file:
        content = file.read()
    try:
        model = _messages.SavedModel.FromString(content)
    except ValueError as error:
        raise OSError("Cannot parse file %s: %s" % (path, error)) from None
    wanted, seen = {tags} if isinstance(tags, str) else set(tags), []
    for meta in model.meta_graphs:
        seen.append(sorted(meta.meta_info_def.tags))
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    raise RuntimeError("MetaGraphDef associated with tags %s could not be found in SavedModel, with available tags '%s'. To inspect available "
                       "tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`." % (sorted(wanted), seen))


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds the graph of a SavedModel to the session's, gives its variables their values, and runs what is to be run first. With trusted=True, an
    argument of this library's own, the graph may do more with files than read the model's."""
    trusted = saver_kwargs.pop("trusted", False)
    if saver_kwargs:
        raise NotImplementedError("saved_model.load: arguments of a Saver are not supported: %s" % ", ".join(saver_kwargs))
    export_dir = os.fspath(export_dir)
    meta = _meta_graph(export_dir, tags)
    if meta.asset_file_def:
        raise NotImplementedError("saved_model.load: SavedModels with assets are loaded by tf.saved_model.load only")
    graph_def, saver = meta.graph_def, meta.saver_def
    writes = saver.save_tensor_name.split(":")[0]  # nobody uses it here, and it may be made of ops that are not here
    kept = [node for node in graph_def.node if node.name != writes]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    prefix = import_scope + "/" if import_scope else ""
    with sess.graph.as_default():
        _importing.import_of_model(graph_def, None, None, import_scope or "", None if trusted else export_dir)
    variables = os.path.join(export_dir, "variables", "variables")
    if saver.restore_op_name and os.path.exists(variables + ".index"):
        sess.run(prefix + saver.restore_op_name, {prefix + saver.filename_tensor_name: variables})
    for key in ("saved_model_main_op", "legacy_init_op"):
        if key in meta.collection_def:
            sess.run([prefix + name for name in meta.collection_def[key].node_list.value])
            break
    return meta


def install():
    """Fills tf.compat.v1.saved_model."""
    module = type(sys)(tf.compat.v1.__name__ + ".saved_model")
    loader, tags, keys = (type(sys)(module.__name__ + "." + name) for name in ("loader", "tag_constants", "signature_constants"))
    module.load = loader.load = load
    module.loader, module.tag_constants, module.signature_constants = loader, tags, keys
    tags.SERVING, tags.TRAINING, tags.GPU, tags.TPU = "serve", "train", "gpu", "tpu"
    keys.DEFAULT_SERVING_SIGNATURE_DEF_KEY, keys.PREDICT_METHOD_NAME = "serving_default", "tensorflow/serving/predict"
    tf.compat.v1.saved_model = sys.modules[module.__name__] = module
