"""Loops and branches in a graph: tf.while_loop with a TensorArray, tf.cond, tf.switch_case, tf.map_fn, tf.scan; and a gradient through a loop."""
import tensorflow as tf


@tf.function
def collatz(start):
    """The numbers from start down to 1."""
    numbers = tf.TensorArray(tf.int32, size=0, dynamic_size=True)

    def above_one(i, n, numbers):
        return n > 1

    def step(i, n, numbers):
        numbers = numbers.write(i, n)
        n = tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return i + 1, n, numbers

    i, n, numbers = tf.while_loop(above_one, step, (0, start, numbers))
    return numbers.write(i, n).stack()


@tf.function
def power(x, times):
    """x multiplied with itself."""
    def before_last(i, product):
        return i < times

    def times_x(i, product):
        return i + 1, product * x

    return tf.while_loop(before_last, times_x, (0, tf.ones_like(x)))[1]


@tf.function
def shade(number):
    return tf.switch_case(number, [
        lambda: tf.constant("dark"),
        lambda: tf.constant("grey"),
        lambda: tf.constant("light"),
    ])


def norm(row):
    return tf.sqrt(tf.reduce_sum(row * row))


def add_sum(total, row):
    return total + tf.reduce_sum(row)


print("from 6:", collatz(tf.constant(6)).numpy())
print("steps from 27:", tf.size(collatz(tf.constant(27))).numpy() - 1)
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    cube = power(x, tf.constant(3))
print("cube %.1f, its slope %.1f" % (cube, tape.gradient(cube, x)))
for number in range(3):
    print(number, "is", shade(tf.constant(number)).numpy().decode())
rows = tf.reshape(tf.range(6, dtype=tf.float32), [3, 2])
print("norms:", tf.map_fn(norm, rows).numpy())
print("running sums:", tf.scan(add_sum, rows, initializer=0.0).numpy())
