"""keras.utils.FeatureSpace: columns of a table, each with a layer that prepares it, put together as one tensor or as a dict. What it computes is C's
(src/keras/features/space.c); here are the records that programs make and read."""
import collections

import thalweg as tf

_rows = tf.keras.utils


def _check(name, value, allowed):
    if value not in allowed:
        raise ValueError("Invalid value for argument `%s`. Expected one of {%s}. Received: %s=%s" % (name, ", ".join("'%s'" % a for a in allowed), name, value))


class Cross(collections.namedtuple("Cross", "feature_names crossing_dim output_mode")):
    """Several features that make one: what they are together, hashed."""

    def __new__(cls, feature_names, crossing_dim, output_mode="one_hot"):
        _check("output_mode", output_mode, ("int", "one_hot"))
        return super().__new__(cls, tuple(feature_names), crossing_dim, output_mode)

    name = property(lambda self: "_X_".join(self.feature_names), doc="The features' names, joined.")
    get_config = lambda self: self._asdict()  # noqa: E731 - the arguments that make the same again
    from_config = classmethod(lambda cls, config: cls(**config))


class Feature:
    """A column: its dtype, the layer that prepares it, and how it comes out: "int", "one_hot" or "float"."""

    def __init__(self, dtype, preprocessor, output_mode):
        _check("output_mode", output_mode, ("int", "one_hot", "float"))
        if isinstance(preprocessor, dict):
            preprocessor = tf.keras.saving.deserialize_keras_object(preprocessor)
        self.dtype, self.preprocessor, self.output_mode = dtype, preprocessor, output_mode

    def get_config(self):
        """The arguments that make the same again."""
        return {"dtype": self.dtype, "preprocessor": tf.keras.saving.serialize_keras_object(self.preprocessor), "output_mode": self.output_mode}

    from_config = classmethod(lambda cls, config: cls(**config))


class FeatureSpace:
    """Columns by name, given as features or by the name of a usual one ("float_normalized"), and crosses of them. adapt() learns from data what the
    layers need; called with a dict of tensors it gives them encoded."""

    cross = classmethod(lambda cls, feature_names, crossing_dim, output_mode="one_hot": Cross(feature_names, crossing_dim, output_mode=output_mode))
    feature = classmethod(lambda cls, dtype, preprocessor, output_mode: Feature(dtype, preprocessor, output_mode))

    def __init__(self, features, output_mode="concat", crosses=None, crossing_dim=32, hashing_dim=32, num_discretization_bins=32):
        if not features:
            raise ValueError("The `features` argument cannot be None or empty.")
        self.crossing_dim, self.hashing_dim, self.num_discretization_bins = crossing_dim, hashing_dim, num_discretization_bins
        self.features = {name: self._standardize_feature(name, value) for name, value in features.items()}
        self.crosses = [self._standardize_cross(cross, features) for cross in crosses or ()]
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        _check("output_mode", output_mode, ("dict", "concat"))
        self.output_mode = output_mode
        self.preprocessors = {name: value.preprocessor for name, value in self.features.items()}
        self._core = _rows._FeatureSpace({name: (tf.as_dtype(f.dtype).name, f.preprocessor, f.output_mode) for name, f in self.features.items()}, output_mode,
                                         [(list(cross.feature_names), cross.crossing_dim, cross.output_mode) for cross in self.crosses])

    crossers = property(lambda self: self._core._layers(False), doc="The layers of the crosses, by name.")
    one_hot_encoders = property(lambda self: self._core._layers(True), doc="The layers that encode columns, as far as they are made.")
    inputs = property(lambda self: self._core.inputs, doc="The inputs, by name.")

    def _standardize_feature(self, name, feature):
        if isinstance(feature, Feature):
            return feature
        if isinstance(feature, dict):
            return Feature.from_config(feature.get("config", feature))
        if feature not in _USUAL:
            raise ValueError("Invalid feature type: %s" % feature)
        sizes = {"float_discretized": self.num_discretization_bins, "integer_hashed": self.hashing_dim, "string_hashed": self.hashing_dim}
        return getattr(self, feature)(*([sizes[feature]] if feature in sizes else []), name=name)

    def _standardize_cross(self, cross, features):
        if isinstance(cross, dict):
            return Cross.from_config(cross.get("config", cross))
        if isinstance(cross, Cross):
            return cross
        if not self.crossing_dim:
            raise ValueError("When specifying `crosses`, the argument `crossing_dim` (dimensionality of the crossing space) should be specified as well.")
        if any(key not in features for key in cross):
            raise ValueError("All features referenced in the `crosses` argument should be present in the `features` dict. Received unknown features: %s"
                             % (cross,))
        return Cross(cross, self.crossing_dim)

    def adapt(self, dataset):
        """Learns means, bins and vocabularies from a dataset of dicts, of batches or of single rows."""
        if not isinstance(dataset, tf.data.Dataset):
            raise ValueError("`adapt()` can only be called on a tf.data.Dataset. Received instead: %s (of type %s)" % (dataset, type(dataset)))
        self._core.adapt(dataset)

    def get_inputs(self):
        """The inputs for a model of encoded features."""
        self._core.get_encoded_features()
        return self._core.inputs

    def get_encoded_features(self):
        """What the inputs become: a Keras tensor, or a dict of them."""
        return self._core.get_encoded_features()

    def __call__(self, data):
        if not isinstance(data, dict):
            raise ValueError("A FeatureSpace can only be called with a dict. Received: data=%s (of type %s" % (data, type(data)))
        return self._core.encode({key: tf.convert_to_tensor(value) for key, value in data.items()})

    def get_config(self):
        """The arguments that make the same again, without what was learnt."""
        entry = lambda made, name: {"module": "keras.src.utils.feature_space", "class_name": name, "config": made.get_config(), "registered_name": name}
        return {"features": {name: entry(feature, "Feature") for name, feature in self.features.items()}, "output_mode": self.output_mode,
                "crosses": [entry(cross, "Cross") for cross in self.crosses], "crossing_dim": self.crossing_dim, "hashing_dim": self.hashing_dim,
                "num_discretization_bins": self.num_discretization_bins}

    from_config = classmethod(lambda cls, config: cls(**config))

    def save(self, filepath):
        """Not supported: a model of the encoded features can be saved, with all that its layers learnt."""
        raise NotImplementedError("FeatureSpace.save is not supported. keras.Model(space.get_inputs(), space.get_encoded_features()) makes a model, which "
                                  "can be saved")


# The usual features: their arguments but the name, and what they are.
_USUAL = {
    "float": ("", "Numbers as they are."), "float_rescaled": ("scale=1.0, offset=0.0, ", "Numbers, scaled and shifted."),
    "float_normalized": ("", "Numbers, by their mean and variance."),
    "float_discretized": ("num_bins, bin_boundaries=None, output_mode='one_hot', ", "Numbers, by the bin that they fall in."),
    "integer_categorical": ("max_tokens=None, num_oov_indices=1, output_mode='one_hot', ", "Integers that are names of categories."),
    "string_categorical": ("max_tokens=None, num_oov_indices=1, output_mode='one_hot', ", "Texts that are names of categories."),
    "string_hashed": ("num_bins, output_mode='one_hot', ", "Texts, hashed."), "integer_hashed": ("num_bins, output_mode='one_hot', ", "Integers, hashed.")}


def _usual(kind, given):
    name = given.pop("name")
    del given["cls"]
    if not name:
        number = tf.keras.backend.get_uid("feature_space/" + kind)
        name = kind if number == 1 else "%s_%d" % (kind, number - 1)
    return Feature(*_rows._usual_feature(kind, name, **given))


for _kind, (_arguments, _doc) in _USUAL.items():
    _space = {"_usual": _usual, "__name__": __name__}
    exec("def %s(cls, %sname=None):\n    return _usual(%r, locals())" % (_kind, _arguments, _kind), _space)
    _space[_kind].__doc__ = _doc
    setattr(FeatureSpace, _kind, classmethod(_space[_kind]))
