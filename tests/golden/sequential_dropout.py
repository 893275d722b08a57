"""Which elements Dropout keeps inside Sequential models: makes tests/golden/sequential_dropout/sequential_dropout.json for tests/python/test_sequential_dropout.py.

TensorFlow calls the layers of a Sequential whose input shape is not known once in a graph before the first real call, and a Dropout with a seed
counts that call. Usage: sequential_dropout.py (needs tensorflow)"""
import json
import os

import golden

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

MODELS = """
S([D(8), O(0.5, seed=1)])
S([O(0.5, seed=1)])
S([D(8, input_shape=(8,)), O(0.5, seed=1)])
S([S([D(8), O(0.5, seed=1)]), D(8), O(0.5, seed=4)])
S([S([D(8, input_dim=8), O(0.5, seed=1)])])
S([D(8), S([D(8, input_dim=8), O(0.5, seed=1)])])
S([D(8, input_dim=8), S([D(8), O(0.5, seed=1)])])
S([D(8), O(0.5)])
""".strip().splitlines()


def kept(tf, model, traced, first):
    tf.keras.utils.set_random_seed(3)
    made = eval(model, {"S": tf.keras.Sequential, "D": tf.keras.layers.Dense, "O": tf.keras.layers.Dropout})
    x = tf.ones([1, 8])
    call = (lambda: made(x, training=True)) if not traced else tf.function(lambda: made(x, training=True))
    if first == "build":
        made.build([None, 8])
    elif first == "infer":
        made(x)
    return [[int(v) for v in (call()[0].numpy() != 0)] for _ in range(3)]


def all_kept(tf):
    return [[model, traced, first, kept(tf, model, traced, first)] for model in MODELS for traced in (False, True) for first in ("", "build", "infer")]


if __name__ == "__main__":
    import tensorflow

    with open(golden.path(__file__, "sequential_dropout.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in all_kept(tensorflow)) + "\n]\n")
