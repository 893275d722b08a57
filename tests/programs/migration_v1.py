"""Migration from TensorFlow 1: a graph with a session, its checkpoint in Keras, v1 layers in a tf.Module, a frozen graph wrapped as a function."""
import os
import tempfile

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def old_program(folder, x, y):
    """Trains in a session; gives the losses and the variables' names."""
    with v1.Graph().as_default():
        v1.set_random_seed(5)
        features, labels = v1.placeholder(tf.float32, [None, 6], "x"), v1.placeholder(tf.int64, [None], "y")
        with v1.variable_scope("hidden", initializer=v1.glorot_uniform_initializer(seed=1)):
            w, b = v1.get_variable("w", [6, 8]), v1.get_variable("b", [8], initializer=v1.zeros_initializer())
            hidden = tf.nn.relu(tf.matmul(features, w) + b)
        logits = v1.layers.dense(hidden, 2, name="out", kernel_initializer=v1.glorot_uniform_initializer(seed=2))
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        accuracy, update = v1.metrics.accuracy(labels, tf.argmax(logits, 1))
        step = v1.train.get_or_create_global_step()
        rate = v1.train.exponential_decay(0.1, step, 10, 0.9)
        train = v1.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            losses = [float(session.run([loss, train, update], {features: x[i:i + 16], labels: y[i:i + 16]})[0]) for _ in range(3)
                      for i in range(0, len(x), 16)]
            names = [v.name for v in v1.trainable_variables()]
            saver.save(session, os.path.join(folder, "old.ckpt"))
            frozen = v1.graph_util.convert_variables_to_constants(session, v1.get_default_graph().as_graph_def(), [logits.op.name])
            return losses, names, float(session.run(accuracy)), session.run(logits, {features: x[:3]}), frozen, logits.name, int(session.run(step))


class Wrapped(tf.Module):
    """Old code with get_variable, as a module whose variables are kept."""

    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu", input_shape=(6,))])
        self.out = tf.keras.layers.Dense(2)
        self.out.build((None, 8))

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32)])
    def __call__(self, x):
        return self.out(self.hidden(x))


def main():
    random = np.random.default_rng(131)
    x = random.normal(0, 1, (64, 6)).astype("float32")
    y = (x[:, 0] * x[:, 1] > 0).astype("int64")
    with tempfile.TemporaryDirectory() as folder:
        losses, names, accuracy, logits, frozen, output, steps = old_program(folder, x, y)
        path = os.path.join(folder, "old.ckpt")
        reader = tf.train.load_checkpoint(path)
        found = sorted(reader.get_variable_to_shape_map())
        module = Wrapped()
        module.hidden.set_weights([reader.get_tensor("hidden/w"), reader.get_tensor("hidden/b")])
        module.out.set_weights([reader.get_tensor("out/kernel"), reader.get_tensor("out/bias")])
        moved = module(x[:3])
        checkpoint = tf.train.Checkpoint(module=module)
        saved = checkpoint.save(os.path.join(folder, "new.ckpt"))
        listed = [name for name, _ in tf.train.list_variables(saved)]
    wrapped = v1.wrap_function(lambda: v1.import_graph_def(frozen, name=""), [])
    pruned = wrapped.prune(wrapped.graph.get_tensor_by_name("x:0"), wrapped.graph.get_tensor_by_name(output))
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    later = []
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, module(x), from_logits=True))
        variables = list(module.trainable_variables)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        later.append(float(loss))
    return {"losses": losses, "names": names, "accuracy": accuracy, "found": found, "moved": float(tf.reduce_max(tf.abs(moved - logits))) < 1e-5,
            "pruned": float(tf.reduce_max(tf.abs(pruned(tf.constant(x[:3])) - logits))) < 1e-5, "listed": listed, "steps": steps, "later": later}
