"""tf.Module, weights in files, and assignments to parts of variables; what is expected is what TensorFlow 2.15.1 gives."""
import os

import numpy as np
import pytest

import thalweg as tf

K = tf.keras


class Inner(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(4.0, name="w")


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.z = tf.Variable(1.0, name="z")
        self.a = [tf.Variable(2.0, name="a0"), tf.Variable(3.0, name="a1", trainable=False)]
        self.l = K.layers.Dense(2, name="dense")
        self.l.build((None, 3))
        self.sub = {"q": Inner(), "b": Inner("other")}


def names(items):
    assert isinstance(items, tuple)
    return [item.name for item in items]


def test_a_module_finds_what_it_holds():
    net = Net()
    assert net.name == "net" and net.name_scope.name == "net/"
    variables = [name.split("dense/")[-1] for name in names(net.variables)]
    assert variables == ["a0:0", "a1:0", "z:0", "kernel:0", "bias:0", "other/w:0", "inner/w:0"]
    assert len(net.trainable_variables) == 6 and names(net.non_trainable_variables) == ["a1:0"]
    assert names(net.submodules) == ["dense", "other", "inner"]
    net.sub["q"].up = net  # a circle
    assert len(net.variables) == 7 and names(net.sub["q"].submodules) == ["net", "dense", "other"]


def test_lists_of_more_than_ten_keep_their_order():
    module = tf.Module()
    module.v = [tf.Variable(float(i), name="v%d" % i) for i in range(12)]
    assert names(module.variables) == ["v%d:0" % i for i in range(12)]


def test_names_of_modules():
    class HTTPNet2(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self):
            return tf.Variable(1.0, name="k").name

    class _X(tf.Module):
        pass

    assert [tf.Module().name, HTTPNet2().name, _X().name] == ["module", "http_net2", "_x"]
    with tf.name_scope("outer"):
        module = HTTPNet2()
    assert module() == "outer/http_net2/k:0" and HTTPNet2()() == "http_net2/k:0"
    for name in ("a b", "1a", ""):
        with pytest.raises(ValueError, match="'%s' is not a valid module name. Module names must be valid Python identifiers" % name):
            tf.Module(name=name)


def test_modules_are_saved(tmp_path):
    path = tf.train.Checkpoint(Net()).write(str(tmp_path / "module"))
    keys = [key[:-len("/.ATTRIBUTES/VARIABLE_VALUE")] for key, _ in tf.train.list_variables(path) if not key.startswith("_")]
    assert keys == ["a/0", "a/1", "l/bias", "l/kernel", "sub/b/w", "sub/q/w", "z"]
    net = Net()
    net.z.assign(9.0)
    tf.train.Checkpoint(net).read(path).assert_consumed()
    assert net.z.numpy() == 1


def model():
    return K.Sequential([K.layers.Dense(2), K.layers.Dense(1)])


def test_weights_in_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = model()
    with pytest.raises(ValueError, match="have not yet been created"):
        first.save_weights("w")
    first.build((None, 3))
    for prefix in ("w", "sub/w"):
        assert first.save_weights(prefix) is None
        where = os.path.dirname(prefix) or "."
        assert sorted(n for n in os.listdir(where) if n != "sub") == ["checkpoint", "w.data-00000-of-00001", "w.index"]
        with open(os.path.join(where, "checkpoint")) as file:
            assert file.read() == 'model_checkpoint_path: "w"\nall_model_checkpoint_paths: "w"\n'
    keys = [key for key, _ in tf.train.list_variables("w")]
    assert keys == ["_CHECKPOINTABLE_OBJECT_GRAPH"] + ["layer_with_weights-%d/%s/.ATTRIBUTES/VARIABLE_VALUE" % (i, n)
                                                       for i in (0, 1) for n in ("bias", "kernel")]
    built, later = model(), model()
    built.build((None, 3))
    built.load_weights("w").assert_consumed()
    later.load_weights("w")
    later.build((None, 3))
    for other in (built, later):
        assert all(np.array_equal(a, b) for a, b in zip(first.get_weights(), other.get_weights()))


def test_what_weights_files_refuse(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = model()
    first.build((None, 3))
    first.save_weights("w")
    with pytest.raises(ValueError, match="Omit the"):
        first.save_weights("w.h5", save_format="tf")
    with pytest.raises(ValueError, match="Unknown format. Received: `save_format`=xx"):
        first.save_weights("w", save_format="xx")
    with pytest.raises(NotImplementedError, match="based on topology"):
        first.load_weights("w", by_name=True)
    with pytest.raises(ValueError, match="skip_mismatch can only be set to True when by_name"):
        first.load_weights("w", skip_mismatch=True)
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for nope"):
        first.load_weights("nope")
    with pytest.raises(tf.errors.AlreadyExistsError):
        first.save_weights("w", overwrite=False)
    other = K.Sequential([K.layers.Dense(5)])
    other.build((None, 7))
    with pytest.raises(ValueError, match=r"Received incompatible tensor with shape"):
        other.load_weights("w")


SLICES = [np.s_[1], np.s_[-1], np.s_[1:], np.s_[::2], np.s_[::-1], np.s_[0, 1], np.s_[:, 1:3], np.s_[..., 1], np.s_[1, ..., None],
          np.s_[None, 1:, 0], np.s_[2:2], np.s_[...]]


@pytest.mark.parametrize("where", SLICES, ids=str)
def test_slices_are_assigned(where):
    expected = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    v = tf.Variable(expected)
    value = -np.arange(expected[where].size, dtype=np.float32).reshape(expected[where].shape)
    expected[where] = value
    seen = v.numpy()
    before = v[where]
    assert before.assign(value).numpy().tolist() == expected.tolist() == v.numpy().tolist()
    assert seen.tolist() == np.arange(24).reshape(3, 4, 2).tolist()
    expected[where] = 7
    v[where].assign(7.0)
    assert v.numpy().tolist() == expected.tolist()


def test_what_slices_refuse():
    v = tf.Variable([1.0, 2.0, 3.0])
    assert repr(v[1].assign(7)).startswith("<tf.Variable 'UnreadVariable' shape=(3,) dtype=float32")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Cannot broadcast input shape \[3\] into final shape \[2\]"):
        v[:2].assign([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 5 of dimension 0 out of bounds"):
        v[5].assign(1.0)
    assert not hasattr(v[0], "assign_add") and not hasattr(v.value()[0], "assign")
    words = tf.Variable(["a", "b"])
    words[1].assign("a longer text")
    assert words.numpy().tolist() == [b"a", b"a longer text"]


def test_slices_are_assigned_in_functions():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def step(x):
        v[1:].assign(x)
        return v[1] + 1

    assert step(tf.constant([5.0, 6.0])).numpy() == 6 and v.numpy().tolist() == [1, 5, 6]


def test_rows_are_changed():
    v = tf.Variable([1.0, 2.0, 3.0])
    rows = tf.IndexedSlices([4.0], [1])
    results = [getattr(v, "scatter_" + name)(rows).numpy()[1] for name in ("update", "add", "sub", "mul", "div", "min", "max")]
    assert results == [4, 8, 4, 16, 4, 4, 4]
    assert repr(v.scatter_add(rows)).startswith("<tf.Variable 'UnreadVariable'")
    with pytest.raises(TypeError, match=r"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: \[1\]"):
        v.scatter_add([1])
    assert v.sparse_read([0, 2]).numpy().tolist() == [1, 3] and v.gather_nd([[1]]).numpy().tolist() == [8]
    assert v.is_initialized().numpy()


def test_layers_are_modules():
    tf.keras.backend.clear_session()  # names of models are counted in a process
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.one = tf.keras.layers.Dense(1)

        def call(self, x):
            return self.one(x)
    net = Net()
    assert isinstance(net, tf.Module) and isinstance(net.one, tf.Module) and issubclass(tf.keras.metrics.Mean, tf.Module)
    assert not isinstance(tf.keras.optimizers.SGD(), tf.Module)
    assert net.submodules == (net.one,) and net.one.submodules == ()
    assert net.name_scope() == "net/"
    strange = tf.keras.layers.Dense(1, name="a b/c")  # modules must be identifiers, layers need not
    assert strange.name == "a b/c"
