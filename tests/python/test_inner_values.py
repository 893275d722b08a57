"""Functions and classes of tensorflow.python.*, keras.src.* and tf.__internal__ that have no public name, against TensorFlow's results."""
import json

import pytest

from golden_files import golden_file
import inner_value_cases
import thalweg as tf

with open(golden_file("inner_values", "values.json")) as file:
    EXPECTED = json.load(file)
CASES = inner_value_cases.cases(tf, "thalweg")
OF_XLA = {
    "dynamic_slice": ["list", {"dtype": "float32", "values": [[5., 6.], [9., 10.]]}, {"dtype": "float32", "values": [[6., 7.], [10., 11.]]}],
    "dynamic_update_slice": {"dtype": "float32", "values": [[0., 1., 2., 3.], [4., 5., -1., -1.], [8., 9., -1., -1.]]},
}


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    assert json.loads(json.dumps(inner_value_cases.answer(CASES[name]))) == (EXPECTED | OF_XLA)[name]


def test_all_were_asked():
    assert (EXPECTED | OF_XLA).keys() == CASES.keys()


def test_random_generator():
    """A layer's generator: seeds give the same numbers again, and a state of its own goes on."""
    from thalweg.keras.src.backend import RandomGenerator
    for kind in ("stateless", "stateful", "legacy_stateful"):
        tf.random.set_seed(1)
        one = RandomGenerator(5, rng_type=kind)
        numbers = [one.random_uniform((4,)).numpy().tolist() for _ in range(2)]
        tf.random.set_seed(1)
        other = RandomGenerator(5, rng_type=kind)
        assert numbers == [other.random_uniform((4,)).numpy().tolist() for _ in range(2)]
        assert (numbers[0] == numbers[1]) is (kind == "stateless")
        assert one.random_normal((3, 2)).shape == one.truncated_normal((3, 2)).shape == (3, 2) and one.dropout(tf.ones((5, 5)), 0.5).shape == (5, 5)
    with pytest.raises(ValueError, match="rng_type"):
        RandomGenerator(1, rng_type="none")


def test_what_is_not_there_says_so():
    from thalweg.python.framework import op_def_registry
    for call in (lambda: op_def_registry.get("Add"),
                 lambda: tf.tpu.experimental.embedding.Adam(), lambda: tf.tpu.experimental.embedding.TableConfig(3, 4)):
        with pytest.raises(NotImplementedError, match="not"):
            call()


@pytest.mark.parametrize("base, argument", [("initializers.Initializer", "kernel_initializer"), ("regularizers.Regularizer", "kernel_regularizer"),
                                            ("constraints.Constraint", "kernel_constraint")])
def test_bases_without_arguments(base, argument, tmp_path):
    """Subclasses of the program's own need not call super().__init__(): layers, models and files take them."""
    kind, name = base.split(".")

    class Own(getattr(getattr(tf.keras, kind), name)):
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, given, dtype=None, **kwargs):
            if kind == "initializers":
                return tf.fill(given, tf.constant(self.factor, dtype or tf.float32))
            return tf.reduce_sum(given) * self.factor if kind == "regularizers" else given * self.factor

        def get_config(self):
            return {"factor": self.factor}
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), **{argument: Own(0.5)})])
    model.compile("sgd", "mse")
    model.fit(tf.ones((4, 3)), tf.ones((4, 2)), verbose=0)
    path = str(tmp_path / "model.keras")
    model.save(path)
    loaded = tf.keras.models.load_model(path, custom_objects={"Own": Own})
    assert getattr(loaded.layers[0], argument).factor == 0.5
    assert (loaded.predict(tf.ones((1, 3)), verbose=0) == model.predict(tf.ones((1, 3)), verbose=0)).all()


def test_schedule_without_arguments():
    class Own(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, step):
            return self.rate * (tf.cast(step, tf.float32) + 1)
    optimizer, v = tf.keras.optimizers.SGD(Own(0.5)), tf.Variable(4.0)
    for expected in (3.5, 2.5):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
        assert v.numpy() == expected
