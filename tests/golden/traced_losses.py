"""Makes tests/golden/traced_losses/traced_losses.json: Keras's cross-entropies of a softmax and a sigmoid, in eager code and in a function, by TensorFlow 2.15.1.
In a graph they work on what went into the activation, so values where probabilities have run into 0 differ from the eager ones.

    python tests/golden/traced_losses.py
"""
import json

import golden

X, Y = [[100., 0., -100.], [3., 1., 2.]], [2, 0]


def functions(tf):
    """losses(x, y) and gradient(x, y), each a dict of results."""
    def losses(x, y):
        p, s, h, k = tf.nn.softmax(x), tf.sigmoid(x), tf.one_hot(y, 3), tf.keras.losses
        return {
            "sparse": k.sparse_categorical_crossentropy(y, p),
            "sparse, not the op's own output": k.sparse_categorical_crossentropy(y, tf.identity(p)),
            "categorical": k.categorical_crossentropy(h, p),
            "binary": k.binary_crossentropy(h, s),
            "categorical of a sigmoid": k.categorical_crossentropy(h, s),
            "sparse object": k.SparseCategoricalCrossentropy()(y, p),
            "categorical object": k.CategoricalCrossentropy()(h, p),
            "binary object": k.BinaryCrossentropy()(h, s),
        }

    def gradient(x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.keras.losses.sparse_categorical_crossentropy(y, tf.nn.softmax(x)))
        return {"gradient": tape.gradient(loss, x)}
    return losses, gradient


def main():
    import tensorflow as tf

    def values(function):
        return {name: value.numpy().tolist() for name, value in function(tf.constant(X), tf.constant(Y)).items()}

    losses, gradient = functions(tf)
    path = golden.path(__file__, "traced_losses.json")
    with open(path, "w") as file:
        json.dump({"x": X, "y": Y,
                   "eager": {**values(losses), **values(gradient)},
                   "traced": {**values(tf.function(losses)), **values(tf.function(gradient))}}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
