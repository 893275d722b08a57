"""Devices and strategies: two logical devices, ops that are placed on one, and a model that both train, each with its half of a batch."""
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
print("devices:", [device.name for device in tf.config.list_logical_devices("CPU")])
with tf.device("/CPU:1"):
    product = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
print("%.1f, made on %s" % (product[0, 0], product.device[-5:]))

strategy = tf.distribute.MirroredStrategy(["/CPU:0", "/CPU:1"])
print("replicas:", strategy.num_replicas_in_sync)
with strategy.scope():
    w = tf.Variable([[0.0]])
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.05)


def train_step(batch):
    """One replica's part of a step; its loss."""
    x, y = batch
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w) - y)) / 4.0
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss


@tf.function
def distributed_step(batch):
    losses = strategy.run(train_step, args=(batch,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


x = np.arange(8, dtype=np.float32).reshape(8, 1) / 4
dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, 3 * x)).batch(4))
for epoch in range(1, 9):
    total = 0.0
    for batch in dataset:
        total += distributed_step(batch)
    if epoch % 4 == 0:
        print("epoch %d: loss %.4f" % (epoch, total))
print("w is %.2f" % w.numpy()[0, 0])
