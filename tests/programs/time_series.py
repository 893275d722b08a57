"""Time series: windows of a table, a baseline, dense, convolutional, recurrent and residual models, several steps ahead."""
import numpy as np
import tensorflow as tf

WIDTH, AHEAD = 8, 4


class Residual(tf.keras.Model):
    """Predicts the change from one step to the next."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def call(self, inputs, *args, **kwargs):
        return inputs + self.model(inputs, *args, **kwargs)


class Feedback(tf.keras.Model):
    """Feeds its own predictions in."""

    def __init__(self, units, steps, features):
        super().__init__()
        self.steps = steps
        self.cell = tf.keras.layers.LSTMCell(units)
        self.rnn = tf.keras.layers.RNN(self.cell, return_state=True)
        self.dense = tf.keras.layers.Dense(features)

    def warmup(self, inputs):
        x, *state = self.rnn(inputs)
        return self.dense(x), state

    def call(self, inputs, training=None):
        prediction, state = self.warmup(inputs)
        predictions = [prediction]
        for _ in range(1, self.steps):
            x, state = self.cell(prediction, states=state, training=training)
            prediction = self.dense(x)
            predictions.append(prediction)
        return tf.transpose(tf.stack(predictions), [1, 0, 2])


def windows(table, ahead):
    data = tf.keras.utils.timeseries_dataset_from_array(data=table, targets=None, sequence_length=WIDTH + ahead, sequence_stride=1, shuffle=True,
                                                        batch_size=16, seed=9)

    def split(rows):
        inputs, labels = rows[:, :WIDTH, :], rows[:, ahead if ahead == 1 else WIDTH:, :]
        labels = labels[:, :WIDTH if ahead == 1 else ahead]
        inputs.set_shape([None, WIDTH, None])
        return inputs, labels
    return data.map(split)


def trained(model, data):
    model.compile(loss=tf.keras.losses.MeanSquaredError(), optimizer=tf.keras.optimizers.Adam(0.01), metrics=[tf.keras.metrics.MeanAbsoluteError()])
    stop = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=1, mode="min")
    return model.fit(data, epochs=2, callbacks=[stop], verbose=0).history


def main():
    tf.keras.utils.set_random_seed(21)
    t = np.arange(220)
    table = np.stack([np.sin(t / 6), np.cos(t / 9), (t % 7) / 7], 1).astype("float32")
    table = (table - table.mean(0)) / table.std(0)
    one, several = windows(table, 1), windows(table, AHEAD)
    layers = tf.keras.layers
    models = {
        "linear": (tf.keras.Sequential([layers.Dense(3)]), one),
        "conv": (tf.keras.Sequential([layers.Conv1D(8, 3, activation="relu", padding="causal"), layers.Dense(3)]), one),
        "lstm": (tf.keras.Sequential([layers.LSTM(8, return_sequences=True), layers.Dense(3)]), one),
        "residual": (Residual(tf.keras.Sequential([layers.LSTM(8, return_sequences=True), layers.Dense(3, kernel_initializer="zeros")])), one),
        "ahead": (tf.keras.Sequential([layers.Lambda(lambda x: x[:, -1:, :]), layers.Dense(12, activation="relu"), layers.Dense(AHEAD * 3),
                                       layers.Reshape([AHEAD, 3])]), several),
        "feedback": (Feedback(8, AHEAD, 3), several),
    }
    result = {name: trained(model, data) for name, (model, data) in models.items()}
    result["shape"] = models["feedback"][0].predict(several.take(1), verbose=0).shape
    return result
