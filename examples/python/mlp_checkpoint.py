"""A multilayer perceptron on Fashion-MNIST: a custom training loop that saves a checkpoint every 100 batches, and a test that restores the newest.

    python3 -m thalweg mlp_checkpoint.py --mode=train
    python3 -m thalweg mlp_checkpoint.py --mode=test

The script is written for TensorFlow 2 and runs there unchanged."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description="Train or test a multilayer perceptron.")
parser.add_argument("--mode", default="train", choices=["train", "test"])
parser.add_argument("--dataset", default="fashion_mnist", choices=["fashion_mnist", "mnist"])
parser.add_argument("--num-epochs", default=1, type=int)
parser.add_argument("--batch-size", default=50, type=int)
parser.add_argument("--learning-rate", default=0.001, type=float)
parser.add_argument("--save-dir", default="save")
args = parser.parse_args()


class MNISTLoader:
    def __init__(self, dataset):
        (self.train_data, self.train_label), (self.test_data, self.test_label) = dataset.load_data()
        self.train_data = np.expand_dims(self.train_data.astype(np.float32) / 255.0, axis=-1)  # [60000, 28, 28, 1]
        self.test_data = np.expand_dims(self.test_data.astype(np.float32) / 255.0, axis=-1)    # [10000, 28, 28, 1]
        self.train_label = self.train_label.astype(np.int32)
        self.test_label = self.test_label.astype(np.int32)
        self.num_train_data, self.num_test_data = self.train_data.shape[0], self.test_data.shape[0]

    def get_batch(self, batch_size):
        index = np.random.randint(0, self.num_train_data, batch_size)
        return self.train_data[index, :], self.train_label[index]


class MLP(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(units=100, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, inputs):         # [batch_size, 28, 28, 1]
        x = self.flatten(inputs)    # [batch_size, 784]
        x = self.dense1(x)          # [batch_size, 100]
        x = self.dense2(x)          # [batch_size, 10]
        return tf.nn.softmax(x)


data_loader = MNISTLoader(getattr(tf.keras.datasets, args.dataset))


def train():
    model = MLP()
    optimizer = tf.keras.optimizers.Adam(learning_rate=args.learning_rate)
    num_batches = data_loader.num_train_data // args.batch_size * args.num_epochs
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, directory=args.save_dir, checkpoint_name="model.ckpt", max_to_keep=3)
    for batch_index in range(1, num_batches + 1):
        X, y = data_loader.get_batch(args.batch_size)
        with tf.GradientTape() as tape:
            y_pred = model(X)
            loss = tf.keras.losses.sparse_categorical_crossentropy(y_true=y, y_pred=y_pred)
            loss = tf.reduce_mean(loss)
        grads = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(grads_and_vars=zip(grads, model.variables))
        if batch_index % 100 == 0:
            path = manager.save(checkpoint_number=batch_index)
            print("batch %d: loss %f, saved as %s" % (batch_index, loss.numpy(), path))


def test():
    model = MLP()
    checkpoint = tf.train.Checkpoint(model=model)
    path = tf.train.latest_checkpoint(args.save_dir)
    checkpoint.restore(path).expect_partial()
    y_pred = np.argmax(model.predict(data_loader.test_data), axis=-1)
    print("%s: test accuracy %f" % (path, np.sum(y_pred == data_loader.test_label) / data_loader.num_test_data))


if __name__ == "__main__":
    train() if args.mode == "train" else test()
