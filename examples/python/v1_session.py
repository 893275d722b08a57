"""TensorFlow 1: a graph with placeholders, variables by name and an optimizer, run by a session and saved by a Saver.

    python3 -m thalweg v1_session.py DIRECTORY"""
import os
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
path = os.path.join(sys.argv[1], "line")

x = tf.placeholder(tf.float32, [None, 1], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
with tf.variable_scope("line"):
    w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
prediction = tf.add(tf.matmul(x, w), b, name="prediction")
loss = tf.reduce_mean(tf.square(prediction - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()

inputs = np.float32([[-1], [0], [1], [2]])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(1, 101):
        value, _ = session.run([loss, train], feed_dict={x: inputs, y: 3 * inputs + 1})
        if step % 25 == 0:
            print("step %d: loss %.4f" % (step, value))
    saver.save(session, path)

with tf.Session() as session:
    saver.restore(session, path)
    print("%s %.3f, %s %.3f" % (w.name, session.run(w)[0, 0], b.name, session.run(b)[0]))
    print("prediction for 5: %.3f" % session.run(prediction, feed_dict={x: [[5]]})[0, 0])
