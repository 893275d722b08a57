"""Two replicas on one machine: a mirrored strategy over logical devices, fit and a loop of one's own, the same numbers as one device."""
import numpy as np
import tensorflow as tf

BATCH = 16


def main():
    devices = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(devices[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    tf.keras.utils.set_random_seed(151)
    random = np.random.default_rng(151)
    x = random.normal(0, 1, (64, 5)).astype("float32")
    y = (x @ np.arange(1, 6).astype("float32") + 0.5)[:, None]
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)

    def build():
        return tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh", input_shape=(5,)), tf.keras.layers.Dense(1)])

    with strategy.scope():
        model = build()
        model.compile(tf.keras.optimizers.SGD(0.05), "mse", ["mae"])
    first = model.get_weights()
    history = model.fit(data, epochs=2, verbose=0)
    with strategy.scope():
        again = build()
        again.set_weights(first)
        optimizer = tf.keras.optimizers.SGD(0.05)
        loss_object = tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.NONE)
        error = tf.keras.metrics.MeanAbsoluteError()

    def step(inputs):
        features, labels = inputs
        with tf.GradientTape() as tape:
            predictions = again(features, training=True)
            loss = tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=BATCH)
        optimizer.apply_gradients(zip(tape.gradient(loss, again.trainable_variables), again.trainable_variables))
        error.update_state(labels, predictions)
        return loss

    @tf.function
    def distributed(inputs):
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(step, args=(inputs,)), axis=None)

    losses = []
    for _ in range(2):
        for batch in strategy.experimental_distribute_dataset(data):
            losses.append(float(distributed(batch)))
    single = build()
    single.set_weights(first)
    single.compile(tf.keras.optimizers.SGD(0.05), "mse")
    alone = single.fit(data, epochs=2, verbose=0)
    return {"replicas": strategy.num_replicas_in_sync, "history": history.history, "losses": losses, "error": float(error.result()),
            "alone": alone.history["loss"], "difference": float(max(np.abs(a - b).max() for a, b in zip(model.get_weights(), single.get_weights()))) < 1e-4}
