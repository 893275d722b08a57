"""A Keras model, a v1 optimizer and a metric in a session, as the handbook's example has them; weights and values of the session."""
import test_v1_graph

SOURCE = """
import numpy as np
import thalweg as tf
v1 = tf.compat.v1
v1.disable_eager_execution()


class MLP(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(units=20, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, inputs):
        return tf.nn.softmax(self.dense2(self.dense1(self.flatten(inputs))))


model = MLP()
x = v1.placeholder(name="X", shape=[None, 4, 4, 1], dtype=tf.float32)
y = v1.placeholder(name="y", shape=[None], dtype=tf.int32)
predicted = model(x)
assert predicted.shape.as_list() == [None, 10], predicted
loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y_true=y, y_pred=predicted))
train = v1.train.AdamOptimizer(0.05).minimize(loss)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
random = np.random.RandomState(0)
images, labels = random.rand(20, 4, 4, 1).astype("f"), random.randint(0, 10, 20)
with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
    session.run(v1.global_variables_initializer())
    losses = [session.run([train, loss], feed_dict={x: images, y: labels})[1] for _ in range(200)]
    assert losses[-1] < 0.2 < losses[0], losses[::50]
    found = model.predict(images, verbose=0)
    assert np.allclose(found, session.run(predicted, {x: images}), atol=1e-6)
    session.run(accuracy.update_state(y_true=labels, y_pred=found))
    assert session.run(accuracy.result()) == np.mean(found.argmax(1) == labels)
    assert np.array_equal(model.get_weights()[1], session.run(model.trainable_variables[1]))
    assert np.array_equal(tf.keras.backend.get_value(model.trainable_variables[1]), model.get_weights()[1])
print("good")
"""


def test_model_in_session():
    assert test_v1_graph.in_graph_mode(SOURCE).strip() == "good"
