"""Custom training with mixed precision: a policy, a softmax in 32 bits, a scaled loss in a loop of one's own, and fit."""
import numpy as np
import tensorflow as tf


def main():
    tf.keras.utils.set_random_seed(121)
    random = np.random.default_rng(121)
    x = random.normal(0, 1, (96, 20)).astype("float32")
    y = (x[:, :3].sum(1) > 0).astype("int64") + (x[:, 3] > 0.5)
    policy = tf.keras.mixed_precision.Policy("mixed_float16")
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        inputs = tf.keras.Input(shape=(20,), name="digits")
        dense1 = tf.keras.layers.Dense(32, activation="relu", name="dense_1")
        h = dense1(inputs)
        h = tf.keras.layers.Dense(32, activation="relu", name="dense_2")(h)
        h = tf.keras.layers.Dense(3, name="dense_logits")(h)
        outputs = tf.keras.layers.Activation("softmax", dtype="float32", name="predictions")(h)
        model = tf.keras.Model(inputs=inputs, outputs=outputs)
        dtypes = [dense1.dtype_policy.name, str(dense1.kernel.dtype.name), h.dtype.name, outputs.dtype.name]
        model.compile(loss="sparse_categorical_crossentropy", optimizer=tf.keras.optimizers.RMSprop(), metrics=["accuracy"])
        first = model.get_weights()
        history = model.fit(x, y, batch_size=32, epochs=2, shuffle=False, verbose=0)
        kind, scale = type(model.optimizer).__name__, float(model.optimizer.loss_scale)
        model.set_weights(first)
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.RMSprop())
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                predictions = model(x)
                loss = loss_object(y, predictions)
                scaled_loss = optimizer.get_scaled_loss(loss)
            gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, model.trainable_variables))
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss

        losses = [float(train_step(*batch)) for _ in range(2) for batch in data]
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    return {"dtypes": dtypes, "history": history.history, "optimizer": kind, "scale": scale, "losses": losses}
