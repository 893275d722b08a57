"""tf.compat.v1.saved_model: SavedModels into a session's graph."""
import os

import thalweg as tf
from thalweg import _messages
from thalweg._graph_mode import meta_graph as _meta


def _meta_graph(export_dir, tags):
    path = os.path.join(export_dir, "saved_model.pb")
    path = path if os.path.exists(path) else path + "txt"
    if not os.path.exists(path):
        raise OSError("SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}" % export_dir)
    try:
        model = _messages.SavedModel.FromString(tf.saved_model._bytes(path))
    except ValueError as error:
        raise OSError("Cannot parse file %s: %s" % (path, error)) from None
    wanted, seen = {tags} if isinstance(tags, str) else set(tags), []
    for meta in model.meta_graphs:
        seen.append(sorted(meta.meta_info_def.tags))
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    raise RuntimeError("MetaGraphDef associated with tags %s could not be found in SavedModel, with available tags '%s'. To inspect available "
                       "tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`." % (sorted(wanted), seen))


_FIRST = "__saved_model_init_op"


def _first_operation(meta):
    """What is to be run after the variables have their values: TensorFlow has written it in three places."""
    if _FIRST in meta.signature_def:
        return [meta.signature_def[_FIRST].outputs[_FIRST].name]
    for key in ("saved_model_main_op", "legacy_init_op"):
        if key in meta.collection_def:
            return list(meta.collection_def[key].node_list.value)
    return []


def _assets(meta):
    """The AssetFileDefs; TensorFlow 1 has put them into a collection."""
    if meta.asset_file_def or "saved_model_assets" not in meta.collection_def:
        return list(meta.asset_file_def)
    return [_messages.AssetFileDef.FromString(asset.value) for asset in meta.collection_def["saved_model_assets"].any_list.value]


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds the graph of a SavedModel to the session's, gives its variables their values, and runs what is to be run first. With trusted=True, an
    argument of this library's own, the graph may do more with files than read the model's."""
    trusted = saver_kwargs.pop("trusted", False)
    unknown = set(saver_kwargs) - {"clear_devices", "input_map"}
    if unknown:
        raise NotImplementedError("saved_model.load: %s is not supported" % ", ".join(sorted(unknown)))
    export_dir = os.fspath(export_dir)
    meta = _meta_graph(export_dir, tags)
    prefix, _ = _meta.add_to_graph(sess.graph, meta, import_scope, model=None if trusted else export_dir, **saver_kwargs)
    variables, saver = os.path.join(export_dir, "variables", "variables"), meta.saver_def
    if saver.restore_op_name and os.path.exists(variables + ".index"):
        sess.run(prefix + saver.restore_op_name, {prefix + saver.filename_tensor_name: variables})
    first = _first_operation(meta)
    if first:
        assets = {prefix + asset.tensor_info.name: os.path.join(export_dir, "assets", asset.filename) for asset in _assets(meta)}
        sess.run([prefix + name for name in first], assets)
    return meta


def maybe_saved_model_directory(export_dir):
    """Whether the directory holds a SavedModel."""
    return any(os.path.exists(os.path.join(os.fspath(export_dir), name)) for name in ("saved_model.pb", "saved_model.pbtxt"))


def install():
    """Fills tf.compat.v1.saved_model."""
    from thalweg._graph_mode import saved_model_builder as _builder
    module = tf._module("saved_model", tf.compat.v1, load=load, maybe_saved_model_directory=maybe_saved_model_directory)
    tf._module("loader", module, load=load, maybe_saved_model_directory=maybe_saved_model_directory)
    tf._module("tag_constants", module, SERVING="serve", TRAINING="train", GPU="gpu", TPU="tpu")
    _builder.install(module)
