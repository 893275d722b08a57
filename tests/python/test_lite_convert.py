"""tf.lite's converter: models and functions go to files, which give what the models give. (The same files were run by TensorFlow's interpreter.)"""
import lite_models
import numpy as np
import pytest
import thalweg as tf

MODELS, FUNCTIONS = lite_models.models(tf), lite_models.functions(tf)
REFUSED = {"while": "StatelessWhile", "if": "StatelessIf"}


def run(content, feeds):
    interpreter = tf.lite.Interpreter(model_content=content)
    for d, x in zip(interpreter.get_input_details(), feeds):
        interpreter.resize_tensor_input(d["index"], x.shape)
    interpreter.allocate_tensors()
    for _ in range(2):  # nothing is kept
        for d, x in zip(interpreter.get_input_details(), feeds):
            interpreter.set_tensor(d["index"], x.astype(d["dtype"]))
        interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def same(got, want, tolerance=1e-5):
    assert len(got) == len(want)
    for one, other in zip(got, want):
        other = np.asarray(other)
        assert one.shape == other.shape and one.dtype == other.dtype
        assert np.allclose(one, other, rtol=1e-4, atol=tolerance)


def made(name):
    model = lite_models.numbered(MODELS[name]())
    feeds = lite_models.inputs_of(model)
    return model, feeds, tf.nest.flatten(model(feeds[0] if len(feeds) == 1 else feeds, training=False))


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    model, feeds, want = made(name)
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    same(run(content, feeds), want)
    signatures = tf.lite.Interpreter(model_content=content).get_signature_list()
    assert signatures == {"serving_default": {"inputs": sorted(model.input_names), "outputs": sorted(model.output_names)}}


@pytest.mark.parametrize("name", ["mlp", "cnn", "text", "lstm"])
def test_smaller_weights(name):
    model, feeds, want = made(name)
    whole = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    same(run(converter.convert(), feeds), want, 0.02)
    converter.target_spec.supported_types = [tf.float16]
    half = converter.convert()
    same(run(half, feeds), want, 0.005)
    assert b"TFL3" == half[4:8] == whole[4:8]


def test_large_weights_are_small():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, input_shape=(64,))])
    sizes = []
    for types in (None, (), (tf.float16,)):
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        if types is not None:
            converter.optimizations, converter.target_spec.supported_types = [tf.lite.Optimize.DEFAULT], list(types)
        content = converter.convert()
        same(run(content, [lite_models.wave((3, 64))]), [model(lite_models.wave((3, 64)))], 0.05)
        sizes.append(len(content))
    assert sizes[0] > 16384 and sizes[1] < 6000 and sizes[2] < 10500


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    function, specs = FUNCTIONS[name]
    trace = tf.function(function).get_concrete_function(*[tf.TensorSpec(s, d) for s, d in specs])
    feeds = [lite_models.wave(tuple(2 if n is None else n for n in s), d, i) for i, (s, d) in enumerate(specs)]
    converter = tf.lite.TFLiteConverter.from_concrete_functions([trace])
    if name in REFUSED:
        with pytest.raises(Exception, match="the op %s can't be converted to TFLite" % REFUSED[name]):
            converter.convert()
        return
    same(run(converter.convert(), feeds), tf.nest.flatten(function(*[tf.constant(x) for x in feeds])))


def test_saved_models(tmp_path):
    class Two(tf.Module):
        """Two signatures."""

        def __init__(self):
            super().__init__()
            self.w = tf.Variable(lite_models.wave((2, 3)))

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="a"), tf.TensorSpec([2], tf.float32, name="b")])
        def mix(self, a, b):
            return {"sum": a + b, "product": a * b}

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def weigh(self, x):
            return {"y": tf.matmul(x, self.w)}
    module, folder = Two(), str(tmp_path / "m")
    tf.saved_model.save(module, folder, signatures={"mix": module.mix, "weigh": module.weigh})
    interpreter = tf.lite.Interpreter(model_content=tf.lite.TFLiteConverter.from_saved_model(folder).convert())
    assert interpreter.get_signature_list() == {"mix": {"inputs": ["a", "b"], "outputs": ["product", "sum"]}, "weigh": {"inputs": ["x"], "outputs": ["y"]}}
    a, b = lite_models.wave((4, 2)), lite_models.wave((2,), shift=1)
    got = interpreter.get_signature_runner("mix")(a=a, b=b)
    assert np.allclose(got["sum"], a + b) and np.allclose(got["product"], a * b)
    assert np.allclose(interpreter.get_signature_runner("weigh")(x=a)["y"], a @ module.w.numpy(), atol=1e-6)
    only = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["weigh"]).convert()
    assert list(tf.lite.Interpreter(model_content=only).get_signature_list()) == ["weigh"]
    with pytest.raises(ValueError, match="Invalid signature key 'none' found"):
        tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["none"])


def test_names():
    assert [str(e) for e in tf.lite.Optimize] == ["DEFAULT", "OPTIMIZE_FOR_SIZE", "OPTIMIZE_FOR_LATENCY", "EXPERIMENTAL_SPARSITY"]
    assert str(tf.lite.OpsSet.TFLITE_BUILTINS) == "TFLITE_BUILTINS" and len(tf.lite.OpsSet) == 5
    spec = tf.lite.TargetSpec()
    assert spec.supported_ops == {tf.lite.OpsSet.TFLITE_BUILTINS} and spec.supported_types == set()
    assert tf.lite.RepresentativeDataset(3).input_gen == 3


def test_what_is_refused():
    model = MODELS["mlp"]()
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.representative_dataset = lambda: []
    with pytest.raises(NotImplementedError, match="integer computations"):
        converter.convert()
    with pytest.raises(AttributeError, match="'int' object has no attribute 'call'"):
        tf.lite.TFLiteConverter.from_keras_model(3).convert()
    with pytest.raises(OSError):
        tf.lite.TFLiteConverter.from_saved_model("/nope")
    trace = tf.function(lambda x: tf.random.normal([2]) + x).get_concrete_function(tf.TensorSpec([2]))
    with pytest.raises(Exception, match="RandomStandardNormal can't be converted to TFLite"):
        tf.lite.TFLiteConverter.from_concrete_functions([trace]).convert()
