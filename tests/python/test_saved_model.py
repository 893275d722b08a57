"""SavedModels: those that TensorFlow wrote are loaded and compute what they did there (tests/golden/saved_model.py); ours survive a round trip."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "saved_model")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(os.path.join(GOLDEN, "models.zip")) as archive:
        archive.extractall(folder)
    return str(folder)


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.numpy().tolist()


def test_module():
    module, x = tf.saved_model.load(os.path.join(GOLDEN, "module")), tf.constant(VALUES["module"]["x"])
    steps = int(module.steps)
    assert plain(module(x)) == VALUES["module"]["y"]
    assert int(module.steps) == steps + 1
    signature = module.signatures["serving_default"]
    assert plain(signature(x=x)) == {"output_0": VALUES["module"]["y"]}
    assert signature.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2], tf.float32, name="x")})
    assert module.w.trainable and not module.steps.trainable
    assert module(np.float32([[1, 1]])).shape == (1, 2)
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        module(tf.constant(["text"]))
    with pytest.raises(TypeError):
        module(x, x)


def test_training_goes_on():
    module, x = tf.saved_model.load(os.path.join(GOLDEN, "module")), tf.constant(VALUES["module"]["x"])
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(module(x) ** 2)
        losses.append(float(loss))
        for variable, gradient in zip([module.w, module.b], tape.gradient(loss, [module.w, module.b])):
            variable.assign_sub(0.01 * gradient)
    assert losses[0] > losses[1] > losses[2]


def test_structures(models):
    module, expected = tf.saved_model.load(os.path.join(models, "nested")), VALUES["nested"]
    data = {"a": tf.constant([1.0, 2.0]), "b": [tf.constant(3.0), tf.constant(4.0)]}
    assert plain(module.combine(data)) == expected["plain"]
    assert plain(module.combine(data, 3)) == plain(module.combine(data, factor=3)) == expected["three"]
    assert plain(module.combine(data, offset=tf.constant([1.0, 1.0]))) == expected["offset"]
    assert [plain(module.count(tf.constant(n))) for n in (2, 10, 20)] == expected["count"]
    assert plain(module.plus(tf.constant(1.0), tf.constant(2.0), z=tf.constant(3.0))) == expected["plus"]
    assert plain(module.parts) == [1.0, [2.0, 3.0]] and plain(module.pair) == [6.0, 7.0]
    assert float(module.by_name["first"]) == 4 and float(module.by_name["second"].inner) == 5
    assert module.same is module.by_name["second"]

    @tf.function
    def outer(x):
        return module.combine({"a": x, "b": [x[0], x[1]]})["sum"] * 2
    assert plain(outer(tf.constant([1.0, 2.0]))) == [6.0, 10.0]


@pytest.mark.parametrize("name", ["mlp", "cnn", "text", "lstm", "net"])
def test_keras_models(models, name):
    model, x, y = tf.saved_model.load(os.path.join(models, name)), tf.constant(VALUES[name]["x"]), np.float32(VALUES[name]["y"])
    np.testing.assert_allclose(model(x).numpy(), y, rtol=1e-5, atol=1e-6)
    results = model.signatures["serving_default"](x)
    assert len(results) == 1
    np.testing.assert_allclose(list(results.values())[0].numpy(), y, rtol=1e-5, atol=1e-6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=True))
    assert all(g is not None for g in tape.gradient(loss, model.trainable_variables))


def test_what_is_not_there(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at: "):
        tf.saved_model.load(str(tmp_path))
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    assert tf.saved_model.contains_saved_model(os.path.join(GOLDEN, "module"))
    with pytest.raises(RuntimeError, match="MetaGraphDef associated with tags 'train' could not be found"):
        tf.saved_model.load(os.path.join(GOLDEN, "module"), tags="train")
    assert plain(tf.saved_model.load(os.path.join(GOLDEN, "module"), tags=["serve"]).b) == [0.5, -0.5]


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.parts, self.pair, self.by_name = [tf.Variable(1.0)], (tf.Variable(5.0),), {"a": tf.Variable(3.0)}
        self.table, self.me = tf.constant(np.arange(600, dtype=np.float32)), self

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        return tf.matmul(x, self.w)

    @tf.function
    def combine(self, data, factor=2, *, z=None, a=None):
        return {"s": data["p"] * factor + self.parts[0] + self.table[2], "q": (data["r"][0], z - a if z is not None else data["p"])}

    @tf.function
    def loop(self, n):
        i = tf.constant(0)
        while i < n:
            i += 2
        return -i if i > 5 else i


def test_save(tmp_path):
    module, x = Module(), tf.constant([[1.0, 1.0]])
    data = {"p": tf.constant([1.0, 2.0]), "r": [tf.constant(7)]}

    def results(m):
        return plain([m(x), m.combine(data), m.combine(data, 3), m.combine(data, z=tf.constant(5.0), a=tf.constant(1.0)), m.loop(tf.constant(3)),
                      m.loop(tf.constant(9)), m.parts, m.pair, m.by_name])
    expected = results(module)
    path, again = str(tmp_path / "model"), str(tmp_path / "again")
    tf.saved_model.save(module, path)
    assert sorted(os.listdir(path)) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"] and os.listdir(tmp_path) == ["model"]
    loaded = tf.saved_model.load(path)
    assert results(loaded) == expected and loaded.me is loaded and type(loaded.pair).__name__ == "_TupleWrapper"
    tf.saved_model.save(loaded, again, signatures={"other": loaded.signatures["serving_default"]})
    twice = tf.saved_model.load(again)
    assert results(twice) == expected and list(twice.signatures) == ["other"]
    assert plain(twice.signatures["other"](x=x)) == {"output_0": expected[0]}
    (tmp_path / "model" / "notes.txt").write_text("mine")
    tf.saved_model.save(module, path)
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"


def test_save_mistakes(tmp_path):
    path, apart = str(tmp_path / "model"), tf.Variable(1.0)
    module = tf.Module()
    module.f = tf.function(lambda x: x + apart, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match="references an 'untracked' resource"):
        tf.saved_model.save(module, path)
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save([1], path)
    module.f = tf.function(lambda x: x)
    with pytest.raises(ValueError, match="signature"):
        tf.saved_model.save(module, path, signatures=module.f)


def test_signatures(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(2.0)
    both = tf.function(lambda b, a: {"less": a - b, "more": a + b * module.v}).get_concrete_function(
        tf.TensorSpec([2], tf.float32, name="b"), tf.TensorSpec([2], tf.float32, name="a"))
    tf.saved_model.save(module, str(tmp_path / "model"), signatures={"both": both})
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["both"]
    assert plain(serve(a=tf.constant([1.0, 2.0]), b=tf.constant([3.0, 4.0]))) == {"less": [-2.0, -2.0], "more": [7.0, 10.0]}
    with pytest.raises(TypeError):
        serve(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = tf.keras.layers.Dense(3, activation="tanh"), tf.keras.layers.Dense(2)

    def call(self, inputs, training=False):
        return self.d2(self.d1(inputs)) * (2.0 if training else 1.0)


def test_keras_sequential(tmp_path):
    k, x = tf.keras, tf.constant(np.random.RandomState(1).rand(2, 6, 6, 1).astype("float32"))
    model = k.Sequential([k.layers.Conv2D(2, 3, activation="relu", input_shape=(6, 6, 1)), k.layers.BatchNormalization(), k.layers.MaxPooling2D(2),
                          k.layers.Flatten(), k.layers.Dropout(0.5), k.layers.Dense(3, activation="softmax")])
    path = str(tmp_path / "model")
    model.save(path, save_format="tf")
    expected = model(x).numpy()
    loaded = k.models.load_model(path)
    assert type(loaded) is type(model) and [layer.name for layer in loaded.layers] == [layer.name for layer in model.layers]
    np.testing.assert_allclose(loaded(x).numpy(), expected, rtol=1e-6)
    plain_one = tf.saved_model.load(path)
    np.testing.assert_allclose(plain_one(x).numpy(), expected, rtol=1e-6)
    name = list(plain_one.signatures["serving_default"](x))
    assert name == [model.layers[-1].name] and len(plain_one.variables) == len(model.variables)
    model.export(str(tmp_path / "serving"))
    served = tf.saved_model.load(str(tmp_path / "serving")).signatures["serving_default"](x)
    np.testing.assert_allclose(list(served.values())[0].numpy(), expected, rtol=1e-6)


def test_keras_subclass(tmp_path):
    net, x, path = Net(), tf.constant([[1.0, 2.0, 3.0, 4.0]]), str(tmp_path / "net")
    with pytest.raises(ValueError, match="cannot be saved either because the input shape is not available"):
        net.save(path)
    net._set_inputs(tf.TensorSpec(shape=(5, 4), dtype=tf.dtypes.float32, name=None))
    net.save(path, save_format="tf")
    loaded = tf.keras.models.load_model(path)
    np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-6)
    np.testing.assert_allclose(loaded(x, training=True).numpy(), net(x, training=True).numpy(), rtol=1e-6)
    assert len(loaded.trainable_variables) == 4
    loaded.save(str(tmp_path / "again"))
    np.testing.assert_allclose(tf.keras.models.load_model(str(tmp_path / "again"))(x).numpy(), net(x).numpy(), rtol=1e-6)
    known = tf.keras.models.load_model(path, custom_objects={"Net": Net})
    assert isinstance(known, tf.keras.Model)
    np.testing.assert_allclose(known(x).numpy(), net(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["mlp", "cnn", "text", "lstm", "net"])
def test_load_model(models, name):
    model, x = tf.keras.models.load_model(os.path.join(models, name)), tf.constant(VALUES[name]["x"])
    np.testing.assert_allclose(model(x).numpy(), np.float32(VALUES[name]["y"]), rtol=1e-5, atol=1e-6)


def test_load_model_of_what_is_none(tmp_path):
    with pytest.raises(OSError, match="No file or directory found at"):
        tf.keras.models.load_model(str(tmp_path / "nothing"))
    assert plain(tf.keras.models.load_model(os.path.join(GOLDEN, "module")).b) == [0.5, -0.5]


def test_optimizer_state(tmp_path):
    k, x = tf.keras, np.random.RandomState(1).rand(8, 3).astype("float32")
    model = k.Sequential([k.layers.Dense(2, input_shape=(3,))])
    model.compile("adam", "mse")
    model.fit(x, x[:, :2], verbose=0)

    def names(path):
        return [n for n, _ in tf.train.list_variables(os.path.join(path, "variables", "variables")) if n.startswith("optimizer/")]
    with_state, without = str(tmp_path / "with"), str(tmp_path / "without")
    children = tf.saved_model._objects(model)
    model.save(with_state)
    model.save(without, include_optimizer=False)
    assert len(names(with_state)) == 6 and names(without) == []
    assert [a is b for a, b in zip(children, tf.saved_model._objects(model))] == [True] * len(children)
    loaded = k.models.load_model(with_state)
    loaded.compile("adam", "mse")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-6)


def test_compiled_again(tmp_path):
    """load_model compiles as the model was compiled; the optimizer begins anew, as in Keras."""
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.dense = tf.keras.layers.Embedding(9, 3), tf.keras.layers.Dense(1)

        def build(self, input_shape):
            super().build(input_shape)

        def call(self, inputs):
            return self.dense(tf.reduce_mean(self.embedding(inputs), axis=1))

    x, y = np.arange(12).reshape(6, 2) % 9, np.ones((6, 1))
    for model in (Own(), tf.keras.Sequential([tf.keras.layers.Embedding(9, 3, input_length=2), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])):
        model.compile(tf.keras.optimizers.Adam(0.01), "mse", ["mae"])
        model.fit(x, y, epochs=2, verbose=0)
        path = str(tmp_path / model.name)
        model.save(path, save_format="tf")
        expected = model.evaluate(x, y, verbose=0)
        for known in ({}, {"Own": Own}):
            loaded = tf.keras.models.load_model(path, custom_objects=known)
            assert loaded.optimizer.iterations.numpy() == 0 and abs(float(loaded.optimizer.learning_rate) - 0.01) < 1e-8
            assert np.allclose(loaded.evaluate(x, y, verbose=0), expected)
        assert tf.keras.models.load_model(path, compile=False).optimizer is None


def test_assets(tmp_path):
    (tmp_path / "words.txt").write_text("one two")
    module = tf.Module()
    module.words = tf.saved_model.Asset(str(tmp_path / "words.txt"))
    tf.saved_model.save(module, str(tmp_path / "model"))
    (tmp_path / "words.txt").unlink()
    os.rename(tmp_path / "model", tmp_path / "moved")
    path = tf.saved_model.load(str(tmp_path / "moved")).words.numpy().decode()
    with open(path) as file:
        assert file.read() == "one two"


def test_functions_of_models(tmp_path):
    class Served(Net):
        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="img")])
        def serve(self, img):
            return {"probs": tf.nn.softmax(self(img))}
    net, x, path = Served(), tf.ones([1, 4]), str(tmp_path / "net")
    expected = plain(net.serve(x))
    net.save(path, signatures={"serving_default": net.serve})
    loaded = tf.saved_model.load(path)
    assert plain(loaded.serve(x)) == plain(loaded.signatures["serving_default"](img=x)) == expected


def test_ragged_arguments(tmp_path):
    class Sums(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32, 1)])
        def sums(self, x):
            return tf.reduce_sum(x, axis=1)
    tf.saved_model.save(Sums(), str(tmp_path / "model"))
    assert plain(tf.saved_model.load(str(tmp_path / "model")).sums(tf.ragged.constant([[1.0, 2.0], [3.0]]))) == [3.0, 3.0]


def test_sessions(models, tmp_path):
    v1, ours = tf.compat.v1, str(tmp_path / "ours")
    module = Module()
    tf.saved_model.save(module, ours)
    for path, x, y in ((os.path.join(GOLDEN, "module"), VALUES["module"]["x"], VALUES["module"]["y"]), (ours, [[1.0, 1.0]], plain(module([[1.0, 1.0]]))),
                       (os.path.join(models, "mlp"), VALUES["mlp"]["x"], VALUES["mlp"]["y"])):
        with v1.Session(graph=tf.Graph()) as session:
            meta = v1.saved_model.load(session, [v1.saved_model.tag_constants.SERVING], path)
            signature = meta.signature_def["serving_default"]
            inputs, outputs = list(signature.inputs.values())[0].name, list(signature.outputs.values())[0].name
            np.testing.assert_allclose(session.run(outputs, {inputs: x}), np.float32(y), rtol=1e-5, atol=1e-6)
    with v1.Session(graph=tf.Graph()) as session, pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        v1.saved_model.loader.load(session, ["train"], ours)


def test_keras_functional(tmp_path):
    k, path, random = tf.keras, str(tmp_path / "model"), np.random.RandomState(2)
    a, b = k.Input((3,), name="left"), k.Input((2,), name="right")
    both = k.layers.Concatenate()([k.layers.Dense(4, activation="relu")(a), b])
    model = k.Model([a, b], [k.layers.Dense(2, name="first")(both), k.layers.Dense(1, name="second")(both)])
    x = [tf.constant(random.rand(5, n).astype("float32")) for n in (3, 2)]
    expected = plain(model(x))
    model.save(path)
    loaded = k.models.load_model(path)
    np.testing.assert_allclose(loaded(x)[1].numpy(), np.float32(expected[1]), rtol=1e-6)
    whole = tf.saved_model.load(path)
    np.testing.assert_allclose(whole(x)[0].numpy(), np.float32(expected[0]), rtol=1e-6)
    served = whole.signatures["serving_default"](left=x[0], right=x[1])
    assert sorted(served) == ["first", "second"]
    np.testing.assert_allclose(served["second"].numpy(), np.float32(expected[1]), rtol=1e-6)
