"""Classes that have other bases beside the library's: classes with slots, and types of C, which give instances a layout of their own."""
import abc
import copy
import gc
import threading
import weakref

import pytest
import thalweg as tf


class Slotted:
    __slots__ = ("tag",)

    def tagged(self):
        return self.tag


def slots_behind():
    class Both(tf.Module, Slotted):
        def __init__(self):
            super().__init__(name="both")
            self.v, self.tag = tf.Variable(2.0), "t"
    return Both


def slots_before():
    class Both(Slotted, tf.Module):
        def __init__(self):
            super().__init__(name="both")
            self.v, self.tag = tf.Variable(2.0), "t"
    return Both


def late():
    """tf.Module's constructor need not be called."""
    class Both(tf.Module, Slotted):
        def __init__(self):
            self.v, self.tag = tf.Variable(2.0), "t"
    return Both


def dictionary():
    class Both(tf.Module, dict):
        def __init__(self):
            super().__init__(name="both")
            self.v, self["tag"] = tf.Variable(2.0), "t"

        def tagged(self):
            return self["tag"]
    return Both


def plain():
    class Both(tf.Module, threading.local, metaclass=abc.ABCMeta):
        def __init__(self):
            super().__init__(name="both")
            self.v, self.tag = tf.Variable(2.0), "t"

        tagged = Slotted.tagged
    return Both


@pytest.mark.parametrize("make", [slots_behind, slots_before, late, dictionary, plain], ids=lambda make: make.__name__)
def test_modules(make, tmp_path):
    both = make()()
    assert both.tagged() == "t" and [float(v) for v in both.variables] == [2.0] and isinstance(both, tf.Module)
    holder = tf.Module()
    holder.inner, holder.list = both, [both]
    assert holder.submodules == (both,) and holder.inner is both and holder.list[0] is both
    path = tf.train.Checkpoint(m=both).write(str(tmp_path / "c"))
    both.v.assign(5.0)
    tf.train.Checkpoint(m=both).read(path).assert_consumed()
    assert float(both.v) == 2.0
    inner = weakref.ref(both.v)
    del both
    gc.collect()
    assert float(holder.inner.v) == 2.0 and holder.inner.tagged() == "t"  # only C's references hold it
    del holder
    gc.collect()
    assert inner() is None


def test_many_come_and_go():
    both = slots_behind()
    alive = []
    for _ in range(300):
        module = both()
        module.self_again = module
        alive.append(weakref.ref(module.v))
    del module
    gc.collect()
    assert len(alive) == 300 and not any(v() is not None for v in alive)


def test_a_cleared_dict_loses_the_object_and_says_so():
    class Both(tf.keras.layers.Layer, Slotted):
        pass
    both, other = Both(), tf.Module()
    other.child = both
    both.__dict__.clear()
    gc.collect()
    assert len(other.submodules) == 1
    del other
    gc.collect()
    with pytest.raises(RuntimeError, match="super"):
        both(tf.ones(2))


def test_layers_and_models_train():
    class Scaled(tf.keras.layers.Layer, Slotted):
        def build(self, shape):
            self.w = self.add_weight("w", (shape[-1],), initializer="ones")

        def call(self, x):
            return x * self.w

    class Net(tf.keras.Model, dict):
        def __init__(self):
            super().__init__()
            self.scaled, self["tag"] = Scaled(), 3

        def call(self, x):
            return self.scaled(x)
    net = Net()
    net.compile("sgd", "mse")
    net.fit(tf.ones((4, 2)), tf.zeros((4, 2)), epochs=2, batch_size=4, verbose=0)
    assert net["tag"] == 3 and net.scaled.w.numpy().tolist() == pytest.approx([0.98, 0.98], abs=0.01)


def test_callbacks_and_metrics():
    class Told(tf.keras.callbacks.Callback, Slotted):
        def on_epoch_end(self, epoch, logs=None):
            self.tag.append(epoch)

    class Counted(tf.keras.metrics.Metric, Slotted):
        def __init__(self):
            super().__init__(name="counted")
            self.n = self.add_weight("n", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.n.assign_add(1.0)

        def result(self):
            return self.n
    told = Told()
    told.tag = []
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=[Counted()])
    history = model.fit(tf.ones((4, 2)), tf.zeros((4, 1)), epochs=2, batch_size=2, verbose=0, callbacks=[told])
    assert told.tag == [0, 1] and history.history["counted"] == [2.0, 2.0]


def test_a_copy_has_variables_of_its_own():
    both = slots_behind()()
    other = copy.deepcopy(both)
    other.v.assign(7.0)
    assert float(both.v) == 2.0 and float(other.v) == 7.0


def test_values_without_dependency():
    module, values = tf.Module(), [tf.Variable(1.0)]
    module.plain = module._no_dependency(values)
    assert module.plain is values
    module._setattr_tracking = False
    module.list = values
    module._setattr_tracking = True
    assert module.list is values and module._setattr_tracking is True
    module.tracked = values
    assert module.tracked is not values and module.tracked == values


def test_attributes_may_be_set_without_the_library():
    class Own(tf.Module):
        def __setattr__(self, name, value):
            if name == "plain":
                object.__setattr__(self, name, value)
            else:
                super().__setattr__(name, value)
    own, values = Own(), [tf.Variable(1.0)]
    own.plain, own.tracked = values, values
    assert own.plain is values and own.tracked is not values
    object.__delattr__(own, "plain")
    del own.tracked
    assert not hasattr(own, "plain") and not hasattr(own, "tracked")
