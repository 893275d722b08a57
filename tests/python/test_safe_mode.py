"""What loaded models may not do unless they are trusted: run code that a config holds, touch files that are not theirs, call the program."""
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import thalweg as tf

REFUSED = tf.errors.PermissionDeniedError
S = tf.TensorSpec([], tf.string)


def trusted():
    return tf.saved_model.LoadOptions(trusted=True)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "secret.txt").write_text("secret\nlines\n")
    with tf.io.TFRecordWriter(str(tmp_path / "secret.tfrecord")) as writer:
        writer.write(b"secret")
    tf.data.Dataset.range(3).save(str(tmp_path / "set"))
    tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(tmp_path / "ckpt"))
    return str(tmp_path)


def through(dataset):
    return dataset.reduce(tf.constant(b""), lambda a, b: a + tf.strings.as_string(b) if b.dtype != tf.string else a + b)


def print_to(folder):
    tf.print("x", output_stream="file://" + folder + "/new")
    return tf.constant(b"x")


def write(folder):
    tf.io.write_file(folder + "/new", "x")
    return tf.constant(b"x")


def save(folder):
    tf.raw_ops.SaveV2(prefix=folder + "/new", tensor_names=["a"], shape_and_slices=[""], tensors=[tf.constant(1.0)])
    return tf.constant(b"x")


def summarize(folder):
    writer = tf.raw_ops.SummaryWriter(shared_name="", container="")
    tf.raw_ops.CreateSummaryFileWriter(writer=writer, logdir=folder + "/new", max_queue=1, flush_millis=1, filename_suffix="")
    return tf.constant(b"x")


def inside_branch(folder, x):
    return tf.cond(tf.strings.length(x) > 0, lambda: tf.io.read_file(folder + "/secret.txt"), lambda: x)


def inside_loop(folder, x):
    return tf.while_loop(lambda i, t: i < 2, lambda i, t: (i + 1, t + tf.io.read_file(folder + "/secret.txt")), [0, x],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([])])[1]


def inside_function(folder, x):
    @tf.function
    def inner(y):
        return y + tf.io.read_file(folder + "/secret.txt")
    return tf.function(lambda z: inner(z))(x)


def inside_map(folder, x):
    return through(tf.data.Dataset.from_tensors(x).map(lambda y: y + tf.io.read_file(folder + "/secret.txt"), num_parallel_calls=2))


# What a function of a model does: name -> f(folder, x), which gives a text.
CASES = {
    "ReadFile": lambda d, x: tf.io.read_file(d + "/secret.txt"),
    "ReadFile of an argument": lambda d, x: tf.io.read_file(x),
    "WriteFile": lambda d, x: write(d),
    "MatchingFiles": lambda d, x: tf.strings.reduce_join(tf.io.matching_files(d + "/*")),
    "RestoreV2": lambda d, x: tf.strings.as_string(tf.raw_ops.RestoreV2(prefix=d + "/ckpt", tensor_names=["v/.ATTRIBUTES/VARIABLE_VALUE"],
                                                                         shape_and_slices=[""], dtypes=[tf.float32])[0]),
    "SaveV2": lambda d, x: save(d),
    "TextLineDataset": lambda d, x: through(tf.data.TextLineDataset(d + "/secret.txt")),
    "TFRecordDataset": lambda d, x: through(tf.data.TFRecordDataset(d + "/secret.tfrecord")),
    "FixedLengthRecordDatasetV2": lambda d, x: through(tf.data.FixedLengthRecordDataset(d + "/secret.txt", 1)),
    "CSVDatasetV2": lambda d, x: through(tf.data.experimental.CsvDataset(d + "/secret.txt", [tf.string]).map(lambda a: a)),
    "CacheDatasetV2": lambda d, x: through(tf.data.Dataset.from_tensors(x).cache(d + "/new")),
    "CreateSummaryFileWriter": lambda d, x: summarize(d),
    "PrintV2": lambda d, x: print_to(d),
    "EagerPyFunc": lambda d, x: tf.py_function(lambda t: t, [x], tf.string),
    "PyFunc": lambda d, x: tf.numpy_function(lambda t: t, [x], tf.string),
    "ReadFile in a branch": inside_branch,
    "ReadFile in a loop": inside_loop,
    "ReadFile in a function": inside_function,
    "ReadFile in a dataset": inside_map,
}


def make(case, files, path):
    module = tf.Module()
    module.f = tf.function(lambda x: CASES[case](files, x), input_signature=[S])
    module.f.get_concrete_function()
    tf.saved_model.save(module, path)
    return module


def new_files(files):
    return [name for name in os.listdir(files) if name.startswith("new")]


@pytest.mark.parametrize("case", CASES)
def test_functions_of_models(case, files, tmp_path):
    path, argument = str(tmp_path / "model"), tf.constant(files + "/secret.txt")
    module = make(case, files, path)
    loaded = tf.saved_model.load(path)
    for call in (loaded.f, lambda x: list(loaded.signatures["serving_default"](x=x).values())[0], tf.function(lambda x: loaded.f(x))):
        with pytest.raises(REFUSED) as told:
            call(argument)
        text = str(told.value)
        assert case.split()[0] in text and "trusted=True" in text and "safe_mode" in text and path in text, text
        assert new_files(files) == []
    tf.saved_model.save(loaded, path + "2")  # what is saved again is as it was, and is guarded again
    with pytest.raises(REFUSED):
        tf.saved_model.load(path + "2").f(argument)
    assert "_model" not in {name for node in loaded.f.get_concrete_function(S).graph.as_graph_def().node for name in node.attr}
    if "PyFunc" in case:
        keep = module  # noqa: F841  what is called must be there
    assert isinstance(tf.saved_model.load(path, options=trusted()).f(argument).numpy(), bytes)
    if case.split()[0] in ("WriteFile", "SaveV2", "PrintV2", "CacheDatasetV2", "CreateSummaryFileWriter"):
        assert new_files(files)


def test_by_the_environment(files, tmp_path):
    make("ReadFile", files, str(tmp_path / "model"))
    program = "import thalweg as tf; print(tf.saved_model.load(%r).f('').numpy())" % str(tmp_path / "model")
    for value, good in (("1", True), ("0", False), ("", False)):
        done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, THALWEG_TRUST_MODELS=value), capture_output=True, text=True)
        assert ("secret" in done.stdout) == good and ("PermissionDenied" in done.stderr) != good


def test_a_model_has_its_own_files(tmp_path):
    """Assets are read, by whatever path leads to the model; symbolic links do not lead out, .. neither."""
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    (tmp_path / "secret.txt").write_text("secret")
    module = tf.Module()
    module.asset = tf.saved_model.Asset(str(tmp_path / "words.txt"))
    module.read = tf.function(lambda: tf.io.read_file(module.asset.asset_path), input_signature=[])
    module.lines = tf.function(lambda: through(tf.data.TextLineDataset(module.asset.asset_path)), input_signature=[])
    module.any = tf.function(lambda path: tf.io.read_file(path), input_signature=[S])
    path = str(tmp_path / "model")
    tf.saved_model.save(module, path)
    os.symlink(path, str(tmp_path / "link"))
    for place in (path, str(tmp_path / "link"), str(tmp_path / "." / "model" / ".." / "model")):
        loaded = tf.saved_model.load(place)
        assert loaded.read().numpy() == b"one\ntwo\n" and loaded.lines().numpy() == b"onetwo"
        assert loaded.any(os.path.join(path, "assets", "words.txt")).numpy() == b"one\ntwo\n"
        with pytest.raises(tf.errors.NotFoundError):
            loaded.any(os.path.join(path, "nothing"))
    os.symlink(str(tmp_path / "secret.txt"), os.path.join(path, "assets", "out"))
    os.mkdir(path + "-other")
    (tmp_path / "model-other" / "x").write_text("secret")
    for outside in (path + "/../secret.txt", path + "/assets/out", path + "-other/x", str(tmp_path / "secret.txt"), "secret.txt", path + "/\0/x",
                    "/proc/self/environ", path + "/assets/../../secret.txt", path + "/nowhere/../../secret.txt"):
        with pytest.raises((REFUSED, tf.errors.InvalidArgumentError)):
            loaded.any(outside)


def test_ordinary_models_need_nothing(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    for name in ("m.keras", "m.h5", "m"):
        model.save(str(tmp_path / name))
        again = tf.keras.models.load_model(str(tmp_path / name))
        assert np.allclose(again.predict(np.ones((1, 3)), verbose=0), model.predict(np.ones((1, 3)), verbose=0))
    module = tf.Module()
    def prints(x):
        tf.print(x)
        return through(tf.data.Dataset.from_tensors(x).cache())
    module.f = tf.function(prints, input_signature=[S])
    tf.saved_model.save(module, str(tmp_path / "prints"))
    assert tf.saved_model.load(str(tmp_path / "prints")).f("a").numpy() == b"a"


def test_in_a_session(files, tmp_path):
    v1, path = tf.compat.v1, str(tmp_path / "model")
    make("ReadFile", files, path)
    for extra in ({}, {"trusted": True}):
        with tf.Graph().as_default(), v1.Session() as session:
            meta = v1.saved_model.load(session, ["serve"], path, **extra)
            signature = meta.signature_def["serving_default"]
            feed = {signature.inputs["x"].name: b""}
            if extra:
                assert session.run(signature.outputs["output_0"].name, feed).startswith(b"secret")
            else:
                with pytest.raises(REFUSED):
                    session.run(signature.outputs["output_0"].name, feed)


# ---- configs ----

def lambda_model():
    return tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Lambda(lambda x: x * 2, name="twice")])


def test_lambda_layers(tmp_path):
    model, x = lambda_model(), np.ones((1, 3), "float32")
    for name in ("m.keras", "m.h5"):
        path = str(tmp_path / name)
        model.save(path)
        with pytest.raises(ValueError, match="arbitrary code execution.*safe_mode=False"):
            tf.keras.models.load_model(path)
        assert tf.keras.models.load_model(path, safe_mode=False)(x).numpy().tolist() == [[2, 2, 2]]
        with pytest.raises(ValueError, match="safe_mode=False"):  # nothing is left of the permission
            tf.keras.models.load_model(path)
    model.save(str(tmp_path / "saved"))  # its functions do without the code
    assert tf.keras.models.load_model(str(tmp_path / "saved"))(x).numpy().tolist() == [[2, 2, 2]]
    for make in (lambda: tf.keras.models.model_from_json(model.to_json()), lambda: tf.keras.Sequential.from_config(model.get_config()),
                 lambda: tf.keras.layers.deserialize(tf.keras.layers.serialize(model.layers[0]))):
        with pytest.raises(ValueError, match="safe_mode=False"):
            make()
    assert tf.keras.models.clone_model(model)(x).numpy().tolist() == [[2, 2, 2]]
    config = model.layers[-1].get_config()
    assert config["function_type"] == "lambda" and config["module"] == __name__ and config["arguments"] == {}
    assert list(config)[:3] == ["name", "trainable", "dtype"] and {"output_shape", "output_shape_type", "output_shape_module"} <= set(config)


def test_of_tensorflow():
    """A .keras file that TensorFlow wrote: the function ran there under another module's name."""
    code = lambda_model().layers[-1].get_config()["function"]
    config = {"name": "l", "trainable": True, "dtype": "float32", "function": code, "function_type": "lambda", "module": "elsewhere",
              "output_shape": None, "output_shape_type": "raw", "output_shape_module": None, "arguments": {}}
    entry = {"module": "keras.layers", "class_name": "Lambda", "config": config, "registered_name": None}
    with pytest.raises(ValueError, match="safe_mode"):
        tf.keras.layers.deserialize(entry)
    program = ("import json, sys, thalweg as tf; tf.keras.__internal__.enable_unsafe_deserialization();"
               "print(tf.keras.layers.deserialize(json.loads(sys.argv[1]))(tf.ones([2])).numpy())")
    done = subprocess.run([sys.executable, "-c", program, json.dumps(entry)], capture_output=True, text=True)
    assert done.stdout.strip() == "[2. 2.]", done.stderr


EVIL = [
    {"module": "os", "class_name": "system", "config": "touch x", "registered_name": "system"},
    {"module": "builtins", "class_name": "function", "config": "eval", "registered_name": "function"},
    {"module": "subprocess", "class_name": "Popen", "config": {"args": ["true"]}, "registered_name": None},
    {"class_name": "__lambda__", "config": {"value": ["4wE=", None, None]}},
    {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "l", "function": {"class_name": "__lambda__", "config": {"value": ["4wE=", None, None]}}}},
    {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "l", "function": ["4wE=", None, None]}},
    {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "l", "function": "eval", "function_type": "function", "module": "builtins"}},
    {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "l", "function": "relu", "output_shape": ["4wE=", None, None], "output_shape_type": "lambda"}},
    {"module": "keras.layers", "class_name": "Activation", "config": {"activation": {"class_name": "__lambda__", "config": {"value": ["4wE=", None, None]}}}},
] + [{"module": "keras.src.layers.core.tf_op_layer", "class_name": "TFOpLambda", "config": {"name": "l", "function": name}, "registered_name": "TFOpLambda"}
     for name in ("io.gfile.rmtree", "io.gfile.listdir", "saved_model._load", "keras.models._load_model", "io.write_file", "os.system", "keras.utils._set_safe_mode")]


@pytest.mark.parametrize("entry", EVIL, ids=lambda e: e["class_name"] + " " + str(e["config"])[-30:])
def test_configs_that_name_code(entry):
    for make in (lambda: tf.keras.layers.deserialize(entry), lambda: tf.keras.utils.deserialize_keras_object(entry)):
        with pytest.raises((ValueError, TypeError)):
            make()


def test_functions_of_files_in_configs(tmp_path):
    """A function of the library that a config names may not touch files."""
    (tmp_path / "secret.txt").write_text("secret")
    x = tf.keras.Input((), dtype=tf.string)
    model = tf.keras.Model(x, tf.io.read_file(tf.reshape(x, [])))
    argument = tf.constant([str(tmp_path / "secret.txt")])
    assert model(argument).numpy() == b"secret" and tf.keras.models.clone_model(model)(argument).numpy() == b"secret"
    for name in ("m.keras", "m.h5"):
        model.save(str(tmp_path / name))
        loaded = tf.keras.models.load_model(str(tmp_path / name))
        for call in (loaded, tf.function(lambda t: loaded(t))):
            with pytest.raises(REFUSED, match="ReadFile.*safe_mode=False"):
                call(argument)
        assert tf.keras.models.load_model(str(tmp_path / name), safe_mode=False)(argument).numpy() == b"secret"
    with zipfile.ZipFile(str(tmp_path / "m.keras")) as archive:
        assert "read_file" in archive.read("config.json").decode()
    with pytest.raises(REFUSED):
        tf.keras.models.model_from_json(model.to_json())(argument)
