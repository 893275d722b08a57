"""model_to_dot and plot_model: the graph of a model as text for dot, and as a picture. Which layers are joined, and the drawing, are C's
(src/keras/models/edges.c, src/keras/draw)."""
import collections
import os

import thalweg as tf

_NOT_BUILT = ("This model has not yet been built. Build the model first by calling `build()` or by calling the model on a batch of data.")


class Node(collections.namedtuple("Node", "name label")):
    """A box: what edges call it, and its text."""
    get_name, get_label = (lambda self: self.name), (lambda self: self.label)

    def to_string(self):
        """As dot reads it."""
        return '%s [label="%s"];' % (self.name, self.label.replace('"', '\\"'))


class Edge(collections.namedtuple("Edge", "source destination")):
    """An arrow between two boxes, by their names."""
    get_source, get_destination = (lambda self: self.source), (lambda self: self.destination)

    def to_string(self):
        """As dot reads it."""
        return "%s -> %s;" % (self.source, self.destination)


class Dot:
    """A graph of boxes and arrows; a part of one (Cluster) is a graph, too."""

    def __init__(self, attributes, part=None):
        self._attributes, self._part, self._items = attributes, part, []

    def _of(self, kind):
        return [item for item in self._items if isinstance(item, kind)]

    def get_nodes(self):
        """The boxes."""
        return self._of(Node)

    def get_edges(self):
        """The arrows."""
        return self._of(Edge)

    def get_subgraphs(self):
        """The parts."""
        return self._of(Dot)

    def get_node(self, name):
        """The boxes of a name, a list."""
        return [node for node in self.get_nodes() if node.name == name]

    def add_node(self, node):
        """Adds a box."""
        self._items.append(node)

    def add_edge(self, source, destination):
        """Adds an arrow, if it is not there."""
        if not any(edge.source == source and edge.destination == destination for edge in self.get_edges()):
            self._items.append(Edge(source, destination))

    def add_subgraph(self, part):
        """Adds a part."""
        self._items.append(part)

    def to_string(self):
        """As dot reads it."""
        lines = ["digraph G {" if self._part is None else "subgraph cluster_%s {" % self._part]
        lines += ["%s=%s;" % pair for pair in sorted(self._attributes.items())]
        if self._part is None:
            lines.append("node [shape=record];")
        return "\n".join(lines + [item.to_string() for item in self._items] + ["}"] + [""] * (self._part is None))

    __str__ = to_string

    def _all(self, kind):
        found = self._of(kind)
        for part in self.get_subgraphs():
            found += part._all(kind)
        return found

    def create(self, prog=None, format="png"):
        """The bytes of a file: dot, svg or png."""
        del prog
        if format in ("dot", "raw"):
            return self.to_string().encode()
        if format not in ("svg", "png"):
            raise ValueError("plot_model writes png, svg and dot, not %r; graphviz makes other formats of dot" % format)
        nodes = self._all(Node)
        places = {node.name: i for i, node in enumerate(nodes)}
        edges = [(places[edge.source], places[edge.destination]) for edge in self._all(Edge)]
        across, dpi = self._attributes.get("rankdir") in ("LR", "RL"), float(self._attributes.get("dpi", 96))
        return tf.keras.utils._draw_graph([node.label for node in nodes], edges, format, across, dpi).numpy()

    def write(self, path, prog=None, format="raw"):
        """Writes such a file."""
        data = self.create(prog, format)
        with open(path, "wb") as file:
            file.write(data)
        return True


def _label(layer, show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable, inner):
    """A layer's record; `inner`: the layer that it wraps, to be named."""
    name, label = layer.name, type(layer).__name__
    if inner is not None:
        name, label = "%s(%s)" % (name, inner.name), "%s(%s)" % (label, type(inner).__name__)
    activation = getattr(layer, "activation", None) if show_layer_activations else None
    if activation is not None:
        label = "{%s|%s}" % (label, getattr(activation, "name", None) or getattr(activation, "__name__", None) or str(activation))
    if show_layer_names:
        label = "%s|%s" % (name, label)
    if show_dtype:
        label = "%s|%s" % (label, "?" if layer.dtype is None else layer.dtype)
    if show_shapes:
        shapes = []
        for kind in ("input_shape", "output_shape"):
            try:
                shapes.append(str(getattr(layer, kind)).replace("{", r"\{").replace("}", r"\}"))
            except AttributeError:
                shapes.append("?")
        label = "{%s}|{input:|output:}|{{%s}|{%s}}" % (label, *shapes)
    return "%s|%s" % ("T" if layer.trainable else "NT", label) if show_trainable else label


def _range(model, layers, names):
    """The numbers of the layers between two, whose names are patterns."""
    import re
    if len(names) != 2:
        raise ValueError("layer_range must be of shape (2,). Received: layer_range = %s of length %d" % (names, len(names)))
    if not all(isinstance(name, str) for name in names):
        raise ValueError("layer_range should contain string type only. Received: %s" % (names,))
    first = [i for i, layer in enumerate(model.layers) if re.match(names[0], layer.name)]
    last = [i for i, layer in enumerate(model.layers) if re.match(names[1], layer.name)]
    if not first or not last:
        raise ValueError("Passed layer_names do not match the layer names in the model. Received: %s" % (names,))
    begin, end = (min(first), max(last)) if min(first) <= max(last) else (min(last), max(first))
    return range(begin, end + 1)


def model_to_dot(model, show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96, subgraph=False,
                 layer_range=None, show_layer_activations=False, show_trainable=False):
    """The graph of a model."""
    if not model.built:
        raise ValueError(_NOT_BUILT)
    if subgraph:
        dot = Dot({"style": "dashed", "label": model.name, "labeljust": "l"}, model.name)
    else:
        dot = Dot({"rankdir": rankdir, "concentrate": "true", "dpi": dpi})
    graph = tf.keras.utils._model_graph(model)
    if graph is None:
        dot.add_node(Node(str(id(model)), model.name))
        return dot
    layers, wrappers = graph["layers"], getattr(tf.keras.layers, "Wrapper", (tf.keras.layers.TimeDistributed, tf.keras.layers.Bidirectional))
    chosen = range(len(layers)) if layer_range is None else _range(model, layers, layer_range)
    shown = show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable
    ends = {}  # of a layer: the boxes where arrows to it end, and where arrows from it begin

    def part_of(inner):
        part = model_to_dot(inner, show_shapes, show_dtype, show_layer_names, rankdir, True, subgraph=True,
                            show_layer_activations=show_layer_activations, show_trainable=show_trainable)
        dot.add_subgraph(part)
        nodes = part._all(Node)
        return nodes[0].name, nodes[-1].name

    def is_graph(layer):
        return isinstance(layer, tf.keras.Model) and tf.keras.utils._model_graph(layer) is not None
    for i in chosen:
        layer, name = layers[i], str(id(layers[i]))
        inner = layer.layer if isinstance(layer, wrappers) and isinstance(getattr(layer, "layer", None), tf.keras.layers.Layer) else None
        if expand_nested and is_graph(layer):
            ends[i] = part_of(layer)
            continue
        wrapped = part_of(inner) if expand_nested and inner is not None and is_graph(inner) else None
        dot.add_node(Node(name, _label(layer, *shown, None if wrapped else inner)))
        ends[i] = (name, wrapped[1]) if wrapped else (name, name)
        if wrapped:
            dot.add_edge(name, wrapped[0])
    for source, destination in graph["edges"]:
        if source in ends and destination in ends:
            dot.add_edge(ends[source][1], ends[destination][0])
    return dot


def plot_model(model, to_file="model.png", show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96,
               layer_range=None, show_layer_activations=False, show_trainable=False):
    """Draws the graph of a model: PNG, SVG, or text for dot."""
    dot = model_to_dot(model, show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi, layer_range=layer_range,
                       show_layer_activations=show_layer_activations, show_trainable=show_trainable)
    to_file = os.fspath(to_file)
    kind = os.path.splitext(to_file)[1][1:] or "png"
    dot.write(to_file, format=kind)
    try:
        from IPython import display
    except ImportError:
        return None
    return display.SVG(filename=to_file) if kind == "svg" else display.Image(filename=to_file) if kind == "png" else None
