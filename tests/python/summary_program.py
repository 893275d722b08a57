"""A program that writes every kind of summary, for TensorFlow (tests/golden/summary.py) and for the tests (test_summary.py)."""
import numpy as np


def write(tf, directory):
    """Writes one event file."""
    writer = tf.summary.create_file_writer(directory)
    assert not tf.summary.scalar("nobody", 1.0, step=1)
    with writer.as_default():
        assert tf.summary.scalar("loss", 0.5, step=0)
        tf.summary.scalar("loss", tf.constant(3, tf.int64), step=1, description="a *number*")
        tf.summary.experimental.set_step(5)
        with tf.name_scope("outer"):
            tf.summary.scalar("scoped", np.float64(2.5))
            with tf.name_scope("inner"):
                tf.summary.text("words", ["one", "# two"])
        for name, values in (("some", [1.0, 2.0, 3.0, 3.0, 7.5]), ("none", []), ("same", [2.0, 2.0]), ("integers", list(range(100)))):
            tf.summary.histogram(name, values, buckets=4)
        tf.summary.histogram("thirty", np.linspace(-3, 5, 50).astype("float32"))
        tf.summary.histogram("no buckets", [1.0, 2.0], buckets=0)
        picture = np.linspace(-0.1, 1.1, 2 * 3 * 4 * 3).reshape(2, 3, 4, 3)
        tf.summary.image("floats", picture, max_outputs=1)
        tf.summary.image("bytes", (picture * 200).clip(0, 255).astype("uint8"), step=6)
        tf.summary.audio("sound", np.linspace(-1.2, 1.2, 24).reshape(2, 6, 2).astype("float32"), 8000)
        tf.summary.write("raw", tf.constant([[1, 2]]))
        message = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="own", content=b"x"))
        tf.summary.write("described", tf.constant(["a", "b"]), metadata=message)
        step = tf.Variable(7, dtype=tf.int64)
        tf.summary.experimental.set_step(step)

        @tf.function
        def train(x, recorded):
            with tf.name_scope("train"):
                with tf.summary.record_if(recorded):
                    tf.summary.scalar("traced", x * 2)
                    tf.summary.histogram("values", [x, x + 1, x + 2], buckets=3)
            step.assign_add(1)
            return x
        for i in range(4):
            train(tf.constant(float(i)), tf.constant(i % 2 == 0))
        with tf.summary.record_if(lambda: tf.equal(step % 2, 1)):
            tf.summary.scalar("odd", 1.0)
            step.assign_add(1)
            assert not tf.summary.scalar("even", 1.0)
        with tf.summary.record_if(False):
            assert not tf.summary.should_record_summaries()
            tf.summary.scalar("never", 1.0)
    with writer.as_default(step=99):
        tf.summary.scalar("last", -1.0)
    assert int(tf.summary.experimental.get_step()) == 12
    tf.summary.experimental.set_step(None)
    writer.close()
