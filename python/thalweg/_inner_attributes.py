"""Attributes of modules, layers and models that are not public, but that packages use. They are looked for when nothing else is found, and methods that
classes override are methods here, too."""
import functools
import inspect

import thalweg as tf
from thalweg import _inner_nest, nest

keras = tf.keras


# ---- tf.Module ----

def _children(module):
    """An object's attributes; of the library's own layers their weights."""
    found = dict(vars(module))
    if isinstance(module, keras.layers.Layer) and type(module).__module__.split(".")[0] == "thalweg" and not isinstance(module, keras.Model):
        found.update({w.name.split("/")[-1].split(":")[0]: w for w in module.weights})
    return {name: value for name, value in found.items() if name not in module._TF_MODULE_IGNORED_PROPERTIES and name != "_thalweg_keeper"}


def _walk(module, path, seen, rule):
    recursive, predicate, key, with_path, expand = rule
    inner, attributes = [], _children(module)
    for name in sorted(attributes, key=key):
        try:
            leaves = _inner_nest.flatten_with_tuple_paths(attributes[name], expand_composites=expand)
        except Exception as cause:
            raise ValueError("Error processing property {!r} of {!r}".format(name, attributes[name])) from cause
        for place, leaf in leaves:
            place = (*path, name, *place)
            if not with_path:
                if id(leaf) in seen:
                    continue
                seen[id(leaf)] = leaf
            if predicate(leaf):
                yield (place, leaf) if with_path else leaf
            if recursive and isinstance(leaf, tf.Module):
                inner.append((place, leaf))
    for place, leaf in inner:
        yield from _walk(leaf, place, seen, rule)


def flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False, expand_composites=False):
    """What the module's attributes hold, and those of the modules among them: all of it, or what the predicate says yes to."""
    rule = recursive, predicate or (lambda value: True), attribute_traversal_key, with_path, expand_composites
    return _walk(self, (), {id(self): self}, rule)


# ---- layers and models ----

def flatten_layers(self, recursive=True, include_self=True):
    """The layer itself and those inside of it, each before its own."""
    if include_self:
        yield self
    inner = self.layers if isinstance(self, keras.Model) else [m for m in flatten(self, recursive=False, predicate=lambda m: isinstance(m, keras.layers.Layer))]
    for layer in inner:
        if recursive:
            yield from flatten_layers(layer)
        else:
            yield layer


class Node:
    """One call of a layer on Keras tensors, as a model's graph knows it."""

    def __init__(self, layer, index):
        self.layer, self.outbound_layer, self._index = layer, layer, index

    is_input = property(lambda self: isinstance(self.layer, keras.layers.InputLayer))
    output_tensors = outputs = property(lambda self: self.layer.get_output_at(self._index))
    input_tensors = property(lambda self: self.layer.get_output_at(self._index) if self.is_input else self.layer.get_input_at(self._index))
    output_shapes = property(lambda self: nest.map_structure(lambda t: t.shape, self.outputs))
    input_shapes = property(lambda self: nest.map_structure(lambda t: t.shape, self.input_tensors))
    keras_inputs = property(lambda self: [] if self.is_input else nest.flatten(self.input_tensors))
    flat_input_ids = property(lambda self: [str(id(t)) for t in self.keras_inputs])
    flat_output_ids = property(lambda self: [str(id(t)) for t in nest.flatten(self.outputs)])

    @property
    def inbound_layers(self):
        """The layers that the inputs come from."""
        layers = [t._keras_history[0] for t in self.keras_inputs]
        return layers[0] if len(layers) == 1 else layers

    @property
    def parent_nodes(self):
        """The calls that the inputs come from."""
        return [Node(t._keras_history[0], t._keras_history[1]) for t in self.keras_inputs]

    def __eq__(self, other):
        return isinstance(other, Node) and self.layer is other.layer and self._index == other._index

    def __hash__(self):
        return hash((id(self.layer), self._index))


def inbound_nodes(layer):
    """The calls of a layer on Keras tensors."""
    found = []
    try:
        while True:
            layer.get_output_at(len(found))
            found.append(Node(layer, len(found)))
    except (AttributeError, RuntimeError, ValueError):
        return found


def _coordinates(tensors):
    return [tuple(t._keras_history) for t in nest.flatten(tensors)]


def _own_weights(layer, trainable):
    held = {id(w) for inner in flatten_layers(layer, recursive=False, include_self=False) for w in inner.weights}
    return [w for w in layer.weights if w.trainable == trainable and id(w) not in held]


def _masked_softmax(layer, scores, mask=None):
    """Of MultiHeadAttention: a mask of fewer dimensions is the same for all heads."""
    for _ in range(0 if mask is None else len(scores.shape) - len(mask.shape)):
        mask = tf.expand_dims(mask, -3)
    return keras.layers.Softmax(axis=-1)(scores, mask)


_LAYER = {
    "_inbound_nodes": inbound_nodes,
    "_trainable_weights": lambda layer: _own_weights(layer, True),
    "_non_trainable_weights": lambda layer: _own_weights(layer, False),
    "_dtype_policy": lambda layer: layer.dtype_policy,
    "_compute_dtype": lambda layer: layer.compute_dtype,
    "_name": lambda layer: layer.name,
    "_trainable": lambda layer: layer.trainable,
    "_dynamic": lambda layer: layer.dynamic,
    "_stateful": lambda layer: layer.stateful,
    "_supports_masking": lambda layer: layer.supports_masking,
    "_expects_training_arg": lambda layer: "training" in inspect.signature(layer.call).parameters,
    "_expects_mask_arg": lambda layer: "mask" in inspect.signature(layer.call).parameters,
    "_initial_weights": lambda layer: None,
    "_self_tracked_trackables": lambda layer: list(flatten_layers(layer, recursive=False, include_self=False)),
}
_ATTENTION = {
    "_built_from_signature": lambda layer: hasattr(layer, "_query_dense"),
    "_dot_product_equation": lambda layer: "aecd,abcd->acbe",
    "_combine_equation": lambda layer: "acbe,aecd->abcd",
    "_masked_softmax": lambda layer: functools.partial(_masked_softmax, layer),
    "_dropout_layer": lambda layer: layer.__dict__.setdefault("_dropout_layer", keras.layers.Dropout(layer.dropout)),
}
_MODEL = {
    "_distribution_strategy": lambda model: tf.distribute.get_strategy() if tf.distribute.has_strategy() else None,
    "_nested_inputs": lambda model: model.input,
    "_nested_outputs": lambda model: model.output,
    "_feed_input_names": lambda model: model.input_names,
    "_undeduplicated_weights": lambda model: model.weights,
    "_input_layers": lambda model: [place[0] for place in _coordinates(model.inputs)],
    "_output_layers": lambda model: [place[0] for place in _coordinates(model.outputs)],
    "_input_coordinates": lambda model: _coordinates(model.inputs),
    "_output_coordinates": lambda model: _coordinates(model.outputs),
    "_run_eagerly": lambda model: model.run_eagerly,
}
_settings = {}


def find(layer, name):
    """(value,) of such an attribute of a layer; None: it is none of those."""
    known = _MODEL.get(name) if isinstance(layer, keras.Model) else None
    if isinstance(layer, keras.layers.MultiHeadAttention) and layer.attention_axes is None:
        known = _ATTENTION.get(name)
    known = known or _LAYER.get(name)
    if known:
        return (known(layer),)
    own = next((c for c in type(layer).__mro__ if c.__module__.split(".")[0] == "thalweg"), None)
    if own not in _settings:
        _settings[own] = set(inspect.signature(own).parameters)
    return (getattr(layer, name[1:]),) if name[1:] in _settings[own] else None  # layers keep what they were made with under such names
