"""Every class with a config: what it tells is TensorFlow's, key by key, and makes the same object again, through every format."""
import gzip
import inspect
import json

import numpy as np
import pytest

import config_cases as cases
from golden_files import golden_file
import thalweg as tf

with gzip.open(golden_file("config_values", "config_values.json.gz")) as file:
    GOLDEN = json.load(file)
OBJECTS = {key: row for key, *row in cases.object_cases(tf)}


class Rows(dict):
    """The rows of layers, made anew for every use: some hold layers, which a model makes its own."""

    def __getitem__(self, key):
        return dict((found, row) for found, *row in cases.layer_cases(tf))[key]


LAYERS = Rows((key, row) for key, *row in cases.layer_cases(tf))
WHOLE = [key for key, row in LAYERS.items() if row[2] is not None]
ALIASES = {kind + axes for kind in ("AvgPool", "MaxPool", "GlobalAvgPool", "GlobalMaxPool") for axes in ("1D", "2D", "3D")}


def plain(value):
    return json.loads(json.dumps(value, default=lambda x: x.tolist() if hasattr(x, "tolist") else repr(x)))


def unbuilt(value):
    """A config without what is known of layers inside only when they are built."""
    value = plain(value)
    for entry in [value] + [v for v in value.values() if isinstance(v, dict)]:
        entry.pop("build_config", None)
    if isinstance(value.get("cell"), dict):
        for cell in value["cell"]["config"].get("cells", []):
            cell.pop("build_config", None)
    return value


def near(a, b):
    """Equal, floats to seven digits: some are float32 in TensorFlow."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(near(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, float) and isinstance(b, (int, float)) and not isinstance(b, bool):
        return abs(a - b) <= 1e-7 * max(abs(a), abs(b))
    return a == b and type(a) is type(b)


def check(own, golden, path=""):
    if isinstance(golden, dict) and golden.get("class_name") == "__numpy__":  # we write lists, which TensorFlow reads, too
        golden = golden["config"]["value"]
    if isinstance(golden, dict) and isinstance(own, dict):
        assert set(own) == set(golden), path
        for key in golden:
            check(own[key], golden[key], path + "/" + key)
    elif isinstance(golden, list) and isinstance(own, list) and len(own) == len(golden):
        for i, item in enumerate(golden):
            check(own[i], item, path + "/%d" % i)
    else:
        assert near(own, golden), "%s: got %r, expected %r" % (path, own, golden)


def test_every_class_has_a_row():
    rows = cases.layer_rows(tf)
    found = {getattr(tf.keras.layers, n).__name__ for n in dir(tf.keras.layers) if inspect.isclass(getattr(tf.keras.layers, n))}
    assert {n for n in found if not rows.get(n)} == cases.NO_ROW
    for kind, rows in cases.object_rows(tf).items():
        module = cases.module_of(tf, kind)
        found = {getattr(module, n).__name__ for n in dir(module) if inspect.isclass(getattr(module, n)) and n[0] != "_"}
        assert {n for n in found if not rows.get(n)} <= cases.NO_OBJECT_ROW[kind], kind


def test_every_row_has_golden_values():
    assert set(LAYERS) == set(GOLDEN["layers"]) and set(OBJECTS) == set(GOLDEN["objects"])


# ---- configs

@pytest.mark.parametrize("key", OBJECTS)
def test_object(key):
    kind, name, keywords = OBJECTS[key]
    cls = getattr(cases.module_of(tf, kind), name)
    tf.keras.backend.clear_session()
    made = cls(**keywords)
    check(plain(made.get_config()), GOLDEN["objects"][key]["config"])
    again = cls.from_config(made.get_config())
    assert type(again) is type(made) and plain(again.get_config()) == plain(made.get_config())
    theirs = cls.from_config(GOLDEN["objects"][key]["config"])
    check(plain(theirs.get_config()), GOLDEN["objects"][key]["config"])
    serialized = tf.keras.saving.serialize_keras_object(made)
    check(plain(serialized), GOLDEN["objects"][key]["serialized"])
    for entry in (serialized, GOLDEN["objects"][key]["serialized"]):
        other = tf.keras.utils.deserialize_keras_object(entry)
        assert type(other) is type(made)
        check(plain(other.get_config()), GOLDEN["objects"][key]["config"])
    module = cases.module_of(tf, kind)
    if hasattr(module, "deserialize") and hasattr(module, "serialize"):
        other = module.deserialize(module.serialize(made))
        check(plain(other.get_config()), GOLDEN["objects"][key]["config"])


@pytest.mark.parametrize("key", [key for key in LAYERS if key not in WHOLE])
def test_cell(key):
    name, keywords, _ = LAYERS[key]
    tf.keras.backend.clear_session()
    layer = getattr(tf.keras.layers, name)(**keywords)
    check(plain(layer.get_config()), GOLDEN["layers"][key]["config"])
    for config in (layer.get_config(), GOLDEN["layers"][key]["config"]):
        check(plain(type(layer).from_config(config).get_config()), GOLDEN["layers"][key]["config"])


def expect(key, model):
    """The model gives what TensorFlow's gave."""
    name, _, shapes = LAYERS[key]
    values = cases.inputs_of(name, shapes)
    y = np.asarray(model(values if len(values) > 1 else values[0]))
    assert list(y.shape) == GOLDEN["layers"][key]["output_shape"]
    np.testing.assert_allclose(y.ravel()[:24], GOLDEN["layers"][key]["output"], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("key", WHOLE)
def test_layer(key):
    """The config in a model's text, the weights' shapes and names, and the output are TensorFlow's; its text makes the same model."""
    golden = GOLDEN["layers"][key]
    model = cases.model_of(tf, *LAYERS[key])
    check(json.loads(model.to_json()), golden["json"])
    assert [list(w.shape) for w in model.get_weights()] == golden["shapes"]
    assert [w.name for w in model.weights] == golden["names"]
    expect(key, model)
    layer = model.layers[-1]
    again = type(layer).from_config(layer.get_config())
    assert unbuilt(again.get_config()) == unbuilt(layer.get_config())
    other = tf.keras.layers.deserialize(tf.keras.layers.serialize(layer))
    assert unbuilt(other.get_config()) == unbuilt(layer.get_config())
    for text in (model.to_json(), json.dumps(golden["json"])):
        model = tf.keras.models.model_from_json(text)
        cases.set_weights(model)
        expect(key, model)
        check(json.loads(model.to_json()), golden["json"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", ["m.h5", "m.keras", "m"])
@pytest.mark.parametrize("key", WHOLE)
def test_file(key, file, tmp_path):
    model = cases.model_of(tf, *LAYERS[key])
    model.save(str(tmp_path / file))
    again = tf.keras.models.load_model(str(tmp_path / file))
    assert len(again.get_weights()) == len(model.get_weights())
    for a, b in zip(model.get_weights(), again.get_weights()):
        np.testing.assert_array_equal(a, b)
    check(json.loads(again.to_json()), GOLDEN["layers"][key]["json"])
    expect(key, again)
    if not file == "m":
        return
    loaded = tf.saved_model.load(str(tmp_path / file))
    values = [tf.cast(v, s.dtype) for v, s in zip(cases.inputs_of(LAYERS[key][0], LAYERS[key][2]), model.inputs)]
    y = loaded(values if len(values) > 1 else values[0])
    np.testing.assert_allclose(np.asarray(y).ravel()[:24], GOLDEN["layers"][key]["output"], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("key", [key for key in WHOLE if GOLDEN["layers"][key]["shapes"]])
def test_gradients_are_dense(key):
    """All but those of Embedding's rows: slices are clipped before their rows are summed, so that steps would differ from TensorFlow's."""
    name, _, shapes = LAYERS[key]
    model = cases.model_of(tf, *LAYERS[key])
    values = cases.inputs_of(name, shapes)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.cast(model(values if len(values) > 1 else values[0], training=True), tf.float32)))
    for gradient in tape.gradient(loss, model.trainable_variables):
        assert gradient is None or isinstance(gradient, tf.IndexedSlices) == (name == "Embedding")
