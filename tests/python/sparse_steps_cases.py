"""Training steps by gradients of gathered rows, for tests/golden/sparse_steps.py (under TensorFlow) and test_sparse_steps.py."""
import numpy as np

WEIGHTS = np.sin(np.arange(18, dtype=np.float64)).astype(np.float32).reshape(6, 3)


def optimizers(tf):
    o = tf.keras.optimizers
    return {"sgd": o.SGD(0.1), "momentum": o.SGD(0.1, 0.9), "nesterov": o.SGD(0.1, 0.9, nesterov=True), "adam": o.Adam(0.01),
            "amsgrad": o.Adam(0.01, amsgrad=True), "adamw": o.AdamW(0.01)}


def run(tf, name, traced):
    """The weights and slots after eight steps, as bits."""
    v, optimizer = tf.Variable(WEIGHTS), optimizers(tf)[name]
    optimizer.build([v])

    def step(ids, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.gather(v, ids) - target) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [v]), [v]))
    step = tf.function(step) if traced else step
    for _ in range(4):
        step(tf.constant([0, 2, 2, 5]), tf.constant(1.5))
        step(tf.constant([1, 1, 3, 4]), tf.constant(0.5))
    return [np.array(x).view(np.uint32).ravel().tolist() for x in [v] + [s for s in optimizer.variables if s.shape == v.shape]]
