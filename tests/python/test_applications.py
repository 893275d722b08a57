"""keras.applications: weights from files and from Keras's cache, names of classes, imports."""
import json
import subprocess
import sys

import numpy as np
import pytest
import thalweg as tf


def small(**more):
    return tf.keras.applications.MobileNet((32, 32, 3), alpha=.25, **more)


def test_weights_of_a_file(tmp_path):
    model = small(weights=None, classes=4)
    path = str(tmp_path / "w.h5")
    model.save_weights(path)
    again = small(weights=path, classes=4)
    assert all((a == b).all() for a, b in zip(model.get_weights(), again.get_weights()))
    with pytest.raises(ValueError):  # of other classes
        small(weights=path, classes=5)


def test_weights_of_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError) as e:
        tf.keras.applications.MobileNet(alpha=.25, include_top=False)
    assert "mobilenet_2_5_224_tf_no_top.h5" in str(e.value) and str(tmp_path) in str(e.value)
    model = tf.keras.applications.MobileNet(alpha=.25, include_top=False, weights=None)
    (tmp_path / "models").mkdir()
    model.save_weights(str(tmp_path / "models" / "mobilenet_2_5_224_tf_no_top.h5"))
    again = tf.keras.applications.MobileNet(alpha=.25, include_top=False)
    assert (again.get_weights()[0] == model.get_weights()[0]).all()


@pytest.mark.parametrize("name,file", [
    ("VGG16", "vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5"), ("ResNet50", "resnet50_weights_tf_dim_ordering_tf_kernels_notop.h5"),
    ("ResNet101V2", "resnet101v2_weights_tf_dim_ordering_tf_kernels_notop.h5"), ("DenseNet201", "densenet201_weights_tf_dim_ordering_tf_kernels_notop.h5"),
    ("InceptionV3", "inception_v3_weights_tf_dim_ordering_tf_kernels_notop.h5"), ("Xception", "xception_weights_tf_dim_ordering_tf_kernels_notop.h5"),
    ("MobileNet", "mobilenet_1_0_224_tf_no_top.h5"), ("MobileNetV2", "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_224_no_top.h5")])
def test_what_is_missing_is_named(name, file, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match=file):
        getattr(tf.keras.applications, name)(include_top=False)


def test_decode_predictions(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    scores = np.zeros((2, 1000), np.float32)
    scores[0, [7, 3]], scores[1, 999] = (.75, .25), 1
    with pytest.raises(tf.errors.NotFoundError, match="imagenet_class_index.json"):
        tf.keras.applications.vgg16.decode_predictions(scores, top=2)
    (tmp_path / "models").mkdir()
    index = {str(i): ["n%08d" % i, "class %d" % i] for i in range(1000)}
    (tmp_path / "models" / "imagenet_class_index.json").write_text(json.dumps(index))
    first, second = tf.keras.applications.resnet50.decode_predictions(scores, top=2)
    assert first == [("n00000007", "class 7", .75), ("n00000003", "class 3", .25)]
    assert second[0] == ("n00000999", "class 999", 1.) and len(second) == 2
    assert isinstance(first[0][2], np.float32)
    scores[0, 5] = np.nan
    assert [c[1] for c in tf.keras.applications.vgg16.decode_predictions(scores, top=3)[0]] == ["class 5", "class 7", "class 3"]
    for top, count in ((0, 1000), (2000, 1000), (-998, 2), (-2000, 0)):  # as preds.argsort()[-top:]
        assert len(tf.keras.applications.vgg16.decode_predictions(scores, top=top)[0]) == count


@pytest.mark.parametrize("argument", ["alpha", "depth_multiplier", "dropout"])
def test_arguments_of_other_networks(argument):
    for line in tf.keras.applications._list().splitlines():
        name, _, arguments = line.split("|")
        if argument not in arguments.split():
            with pytest.raises(TypeError, match="%s takes no argument %s" % (name, argument)):
                tf.keras.applications._model(name, **{argument: 2})


def test_first_of_imagenet_utils():
    program = "import thalweg as tf; tf.keras.applications.imagenet_utils.%s; tf.keras.applications.imagenet_utils._decode"
    for name in ("decode_predictions", "preprocess_input"):
        subprocess.run([sys.executable, "-c", program % name], check=True)


def test_imports():
    from thalweg.keras.applications import ResNet50, resnet50
    from thalweg.keras.applications.mobilenet_v2 import MobileNetV2, preprocess_input  # noqa: F401
    assert ResNet50 is resnet50.ResNet50 is tf.keras.applications.resnet.ResNet50
    assert MobileNetV2 is tf.keras.applications.MobileNetV2


def test_transfer():
    """A network without its top, frozen, below a new classifier: only that one learns."""
    base = small(weights=None, include_top=False, pooling="avg")
    base.trainable = False
    model = tf.keras.Sequential([base, tf.keras.layers.Dense(2)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    before = [w.copy() for w in base.get_weights()]
    model.fit(np.ones([4, 32, 32, 3], np.float32), np.arange(4) % 2, epochs=1, verbose=0)
    assert all((a == b).all() for a, b in zip(before, base.get_weights()))
    assert len(model.trainable_variables) == 2
