"""keras.utils.FeatureSpace: columns of a table, each with a layer that prepares it, put together as one tensor or as a dict."""
import thalweg as tf

layers = tf.keras.layers


def _named(word, name):
    if name:
        return name
    number = tf.keras.backend.get_uid("feature_space/" + word)
    return word if number == 1 else "%s_%d" % (word, number - 1)


def _check(name, value, allowed):
    if value not in allowed:
        raise ValueError("Invalid value for argument `%s`. Expected one of {%s}. Received: %s=%s" % (name, ", ".join("'%s'" % a for a in allowed), name, value))


class Cross:
    """Several features that make one: what they are together, hashed."""

    def __init__(self, feature_names, crossing_dim, output_mode="one_hot"):
        _check("output_mode", output_mode, ("int", "one_hot"))
        self.feature_names, self.crossing_dim, self.output_mode = tuple(feature_names), crossing_dim, output_mode

    @property
    def name(self):
        """The features' names, joined."""
        return "_X_".join(self.feature_names)

    def get_config(self):
        """The arguments that make the same again."""
        return {"feature_names": self.feature_names, "crossing_dim": self.crossing_dim, "output_mode": self.output_mode}

    @classmethod
    def from_config(cls, config):
        """A cross of its config."""
        return cls(**config)


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

    @classmethod
    def from_config(cls, config):
        """A feature of its config."""
        return cls(**config)


class FeatureSpace:
    """Columns by name, given as features or by the name of a usual one ("float_normalized"), and crosses of them. adapt() learns from data what the
    layers need; called with a dict of tensors it gives them encoded."""

    @classmethod
    def cross(cls, feature_names, crossing_dim, output_mode="one_hot"):
        """Several features together."""
        return Cross(feature_names, crossing_dim, output_mode=output_mode)

    @classmethod
    def feature(cls, dtype, preprocessor, output_mode):
        """A column with a layer of one's own."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name=None):
        """Numbers as they are."""
        return Feature("float32", layers.Identity(dtype="float32", name=_named("float", name) + "_preprocessor"), "float")

    @classmethod
    def float_rescaled(cls, scale=1.0, offset=0.0, name=None):
        """Numbers, scaled and shifted."""
        return Feature("float32", layers.Rescaling(scale, offset, name=_named("float_rescaled", name) + "_preprocessor"), "float")

    @classmethod
    def float_normalized(cls, name=None):
        """Numbers, by their mean and variance."""
        return Feature("float32", layers.Normalization(axis=-1, name=_named("float_normalized", name) + "_preprocessor"), "float")

    @classmethod
    def float_discretized(cls, num_bins, bin_boundaries=None, output_mode="one_hot", name=None):
        """Numbers, by the bin that they fall in."""
        name = _named("float_discretized", name) + "_preprocessor"
        return Feature("float32", layers.Discretization(num_bins=num_bins, bin_boundaries=bin_boundaries, name=name), output_mode)

    @classmethod
    def integer_categorical(cls, max_tokens=None, num_oov_indices=1, output_mode="one_hot", name=None):
        """Integers that are names of categories."""
        name = _named("integer_categorical", name) + "_preprocessor"
        return Feature("int64", layers.IntegerLookup(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=name), output_mode)

    @classmethod
    def string_categorical(cls, max_tokens=None, num_oov_indices=1, output_mode="one_hot", name=None):
        """Texts that are names of categories."""
        name = _named("string_categorical", name) + "_preprocessor"
        return Feature("string", layers.StringLookup(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=name), output_mode)

    @classmethod
    def string_hashed(cls, num_bins, output_mode="one_hot", name=None):
        """Texts, hashed."""
        return Feature("string", layers.Hashing(num_bins, name=_named("string_hashed", name) + "_preprocessor"), output_mode)

    @classmethod
    def integer_hashed(cls, num_bins, output_mode="one_hot", name=None):
        """Integers, hashed."""
        return Feature("int64", layers.Hashing(num_bins, name=_named("integer_hashed", name) + "_preprocessor"), output_mode)

    def __init__(self, features, output_mode="concat", crosses=None, crossing_dim=32, hashing_dim=32, num_discretization_bins=32):
        if not features:
            raise ValueError("The `features` argument cannot be None or empty.")
        self.crossing_dim, self.hashing_dim, self.num_discretization_bins = crossing_dim, hashing_dim, num_discretization_bins
        self.features = {name: self._standardize_feature(name, value) for name, value in features.items()}
        self.crosses = [self._standardize_cross(cross, features) for cross in crosses or ()]
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        _check("output_mode", output_mode, ("dict", "concat"))
        self.output_mode = output_mode
        self.inputs = {name: tf.keras.Input((1,), dtype=value.dtype, name=name) for name, value in self.features.items()}
        self.preprocessors = {name: value.preprocessor for name, value in self.features.items()}
        self.crossers = {cross.name: layers.HashedCrossing(cross.crossing_dim, name=cross.name) for cross in self.crosses}
        self.one_hot_encoders, self.encoded_features, self.concat = {}, None, None
        self.built = self._is_adapted = False

    def _standardize_feature(self, name, feature):
        if isinstance(feature, Feature):
            return feature
        if isinstance(feature, dict):
            return Feature.from_config(feature.get("config", feature))
        sizes = {"float_discretized": self.num_discretization_bins, "integer_hashed": self.hashing_dim, "string_hashed": self.hashing_dim}
        known = ("float", "float_normalized", "float_rescaled", "float_discretized", "integer_categorical", "string_categorical", "integer_hashed", "string_hashed")
        if feature not in known:
            raise ValueError("Invalid feature type: %s" % feature)
        make = getattr(self, feature)
        return make(sizes[feature], name=name) if feature in sizes else make(name=name)

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

    def _list_adaptable_preprocessors(self):
        found = []
        for name, layer in self.preprocessors.items():
            given = isinstance(layer, layers.Normalization) and layer.get_config()["mean"] is not None
            if hasattr(layer, "adapt") and not given:
                found.append(name)
        return found

    def adapt(self, dataset):
        """Learns means, bins and vocabularies from a dataset of dicts, of batches or of single rows."""
        if not isinstance(dataset, tf.data.Dataset):
            raise ValueError("`adapt()` can only be called on a tf.data.Dataset. Received instead: %s (of type %s)" % (dataset, type(dataset)))
        for name in self._list_adaptable_preprocessors():
            column = dataset.map(lambda row: row[name])
            rank = next(iter(column.take(1))).shape.rank
            if rank == 0:
                column = column.batch(32)
            if rank in (0, 1):
                column = column.map(lambda x: tf.expand_dims(x, -1))
            self.preprocessors[name].adapt(column)
        self._is_adapted = True
        self.get_encoded_features()
        self.built = True

    def get_inputs(self):
        """The inputs for a model of encoded features."""
        self._check_if_built()
        return self.inputs

    def get_encoded_features(self):
        """What the inputs become: a Keras tensor, or a dict of them."""
        self._check_if_adapted()
        if self.encoded_features is None:
            self.encoded_features = self._encoded(self.inputs)
        return self.encoded_features

    def _check_if_adapted(self):
        if not self._is_adapted and self._list_adaptable_preprocessors():
            raise ValueError("You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it.")
        self._is_adapted = True

    def _check_if_built(self):
        if not self.built:
            self.get_encoded_features()
            self.built = True

    def _cardinality(self, name, layer, feature):
        dtype = feature.dtype.name
        if not dtype.startswith("int"):
            raise ValueError("Feature '%s' has `output_mode='one_hot'`. Thus its preprocessor should return an int64 dtype. Instead it returns a %s dtype."
                             % (name, dtype))
        if isinstance(layer, (layers.IntegerLookup, layers.StringLookup)):
            return layer.vocabulary_size()
        if isinstance(layer, layers.CategoryEncoding):
            return layer.num_tokens
        if isinstance(layer, layers.Discretization):
            return layer.num_bins
        if isinstance(layer, (layers.HashedCrossing, layers.Hashing)):
            return layer.num_bins
        raise ValueError("Feature '%s' has `output_mode='one_hot'`. However it isn't a standard feature and the dimensionality of its output space is not "
                         "known, thus it cannot be one-hot encoded. Try using `output_mode='int'`." % name)

    def _one_hot(self, name, feature, spec):
        """Encoded as its feature says; the encoder is made when it is first needed."""
        if spec.output_mode == "one_hot" and name not in self.one_hot_encoders and not self.built:
            layer = self.preprocessors.get(name) or self.crossers.get(name)
            self.one_hot_encoders[name] = layers.CategoryEncoding(num_tokens=self._cardinality(name, layer, feature), output_mode="multi_hot")
        encoder = self.one_hot_encoders.get(name)
        return encoder(feature) if encoder is not None else feature

    def _encoded(self, given):
        parts = {name: self.preprocessors[name](value) for name, value in given.items()}
        crossed = {cross.name: self.crossers[cross.name]([parts[name] for name in cross.feature_names]) for cross in self.crosses}
        merged = {}
        for found, specs in ((parts, self.features), (crossed, self.crosses_by_name)):
            for name in sorted(found):
                merged[name] = self._one_hot(name, found[name], specs[name])
                dtype = merged[name].dtype.name
                if self.output_mode == "concat" and (dtype.startswith("int") or dtype == "string"):
                    raise ValueError("Cannot concatenate features because feature '%s' has not been encoded (it has dtype %s). Consider using "
                                     "`output_mode='dict'`." % (name, dtype))
        if self.output_mode == "dict":
            return merged
        self.concat = self.concat or layers.Concatenate(axis=-1)
        return self.concat(list(merged.values()))

    def __call__(self, data):
        self._check_if_built()
        if not isinstance(data, dict):
            raise ValueError("A FeatureSpace can only be called with a dict. Received: data=%s (of type %s" % (data, type(data)))
        data = {key: tf.convert_to_tensor(value) for key, value in data.items()}
        single = any(value.shape.rank == 0 for value in data.values())
        shaped = {0: lambda v: tf.reshape(v, [1, 1]), 1: lambda v: tf.expand_dims(v, -1)}
        merged = self._encoded({key: shaped.get(value.shape.rank, lambda v: v)(value) for key, value in data.items()})
        if not single:
            return merged
        if self.output_mode == "concat":
            return tf.squeeze(merged, 0)
        return {key: tf.squeeze(value, 0) if value.shape.rank == 2 and value.shape[0] == 1 else value for key, value in merged.items()}

    def get_config(self):
        """The arguments that make the same again, without what was learnt."""
        entry = lambda made, name: {"module": "keras.src.utils.feature_space", "class_name": name, "config": made.get_config(), "registered_name": name}
        return {"features": {name: entry(feature, "Feature") for name, feature in self.features.items()}, "output_mode": self.output_mode,
                "crosses": [entry(cross, "Cross") for cross in self.crosses], "crossing_dim": self.crossing_dim, "hashing_dim": self.hashing_dim,
                "num_discretization_bins": self.num_discretization_bins}

    @classmethod
    def from_config(cls, config):
        """A space of its config, which has learnt nothing."""
        return cls(**config)

    def save(self, filepath):
        """Not supported: a model of the encoded features can be saved, with all that its layers learnt."""
        raise NotImplementedError("FeatureSpace.save is not supported. keras.Model(space.get_inputs(), space.get_encoded_features()) makes a model, which "
                                  "can be saved")
