#!/usr/bin/env python3
"""Makes tests/golden/graphs/: GraphDefs as TensorFlow 2.15.1 writes them, for tests/graph and tests/cli.

  plain.pb     matmul, split, concat, constants of every form of TensorProto
  variable.pb  a function `f` in the library that reads and changes a variable; called by the graph
  nested.pb    a function `outer` that calls `inner` twice
  control.pb   StatelessIf and StatelessWhile
  loops.pb     While and If with variables, a loop in a branch in a loop, TensorArray, Case
  gradient.pb  a function's own gradient: of a loop, a branch and a call, with what the forward pass keeps
  update.pb    a step of training: captured variables, products, a cross-entropy, ResourceApplyAdam
  wrong_result.pb  is not made here: nested.pb with a call whose second result is said to be a bool; found by fuzzing, a seed of it since

usage: graphs.py          makes them (needs tensorflow; the tests need only what it makes)
       graphs.py FILE…    loads graphs that thalweg wrote: every function of the library (of float and variable arguments) is called, with
                          ones and variables of 10; prints the results
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context, execute  # noqa: E402

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")


def write(name, graph_def):
    with open(os.path.join(OUT, name + ".pb"), "wb") as f:
        f.write(graph_def.SerializeToString(deterministic=True))


def graph_of(function, *specs):
    return function.get_concrete_function(*specs).graph.as_graph_def()


@tf.function
def plain(x):
    y = tf.matmul(x, tf.constant([[1.0, 2.0], [3.0, 4.0]])) + tf.fill([2], 0.5)
    a, b = tf.split(y, 2, axis=1)
    kinds = [tf.cast(tf.constant(v, dtype=d), tf.float32) for v, d in
             [(7, tf.int64), (True, tf.bool), (1.5, tf.float64), (-3, tf.int8), (0.25, tf.float16), (200, tf.uint8), (2.5, tf.bfloat16)]]
    repeated = tf.constant(2.0, shape=[1, 2])
    return tf.identity(tf.concat([b, a], 1) * repeated + tf.add_n(kinds), name="result")


@tf.function(input_signature=[tf.TensorSpec([], name="x"), tf.TensorSpec([], tf.resource)])
def step(x, handle):
    before = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    tf.raw_ops.AssignAddVariableOp(resource=handle, value=x)
    return before * x, tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)


@tf.function
def caller(x, handle):
    return step(x, handle)


@tf.function(input_signature=[tf.TensorSpec([None], name="x")])
def inner(x):
    return tf.reduce_sum(x), x * 2.0


@tf.function
def outer(x):
    total, twice = inner(x)
    return total + inner(twice)[0]


@tf.function
def control(x):
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x + 1.0, lambda: x - 1.0)
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, y])[1]


@tf.function
def loops(x, handle, n):
    def change(i, v):
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.reduce_sum(v))
        inner = tf.while_loop(lambda k, w: k < i, lambda k, w: (k + 1, w + 1.0), [0, v])[1]
        return i + 1, tf.ensure_shape(
            tf.cond(i > 1, lambda: inner * tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32), lambda: v), [2])
    y = tf.while_loop(lambda i, v: i < n, change, [0, x], maximum_iterations=5)[1]
    array = tf.TensorArray(tf.float32, size=3, element_shape=[2])
    for i in tf.range(3):
        array = array.write(i, y * tf.cast(i, tf.float32))
    return tf.switch_case(n, [lambda: array.stack(), lambda: array.gather([0, 1])])


@tf.function
def gradient(x, n):
    def f(v):
        y = tf.while_loop(lambda i, w: i < n, lambda i, w: (i + 1, tf.sin(w) * v), [0, v])[1]
        return tf.reduce_sum(inner(tf.cond(n > 1, lambda: y * y, lambda: v))[1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@tf.function
def update(x, label, weight, bias, m, v):
    w, b = (tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32) for h in (weight, bias))
    w, b = tf.ensure_shape(w, [3, 4]), tf.ensure_shape(b, [4])
    with tf.GradientTape() as tape:
        tape.watch([w, b])
        logits = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b)) + tf.nn.dropout(b, 0.5, seed=1)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
    dw, db = tape.gradient(loss, [w, b])
    tf.raw_ops.ResourceApplyAdam(var=weight, m=m, v=v, beta1_power=0.9, beta2_power=0.99, lr=0.1, beta1=0.9, beta2=0.99, epsilon=1e-7, grad=dw)
    tf.raw_ops.AssignSubVariableOp(resource=bias, value=0.1 * db)
    return loss


def check(path):
    graph_def = tf.compat.v1.GraphDef.FromString(open(path, "rb").read())
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
    wrapped = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    print(path, "nodes:", [n.name for n in wrapped.graph.as_graph_def().node])
    for function in graph_def.library.function:
        context.context().add_function_def(function)
    for function in graph_def.library.function:
        inputs = []
        for i, argument in enumerate(function.signature.input_arg):
            shape = tf.TensorShape(function.arg_attr[i].attr["_output_shapes"].list.shape[0])
            ones = tf.ones([2 if d is None else d for d in shape]) if argument.type == 1 else None
            inputs.append(tf.Variable(10.0).handle if argument.type == 20 else ones)
        results = execute.execute(function.signature.name.encode(), len(function.signature.output_arg), inputs, [], context.context())
        print(" ", function.signature.name, [r.numpy().tolist() for r in results])


def main():
    if len(sys.argv) > 1:
        for path in sys.argv[1:]:
            check(path)
        return
    os.makedirs(OUT, exist_ok=True)
    write("plain", graph_of(plain, tf.TensorSpec([None, 2], name="x")))
    write("variable", graph_of(caller, tf.TensorSpec([], name="x"), tf.TensorSpec([], tf.resource, name="handle")))
    write("nested", graph_of(outer, tf.TensorSpec([None], name="x")))
    write("control", graph_of(control, tf.TensorSpec([2], name="x")))
    handle, number = tf.TensorSpec([], tf.resource), tf.TensorSpec([], tf.int32)
    write("loops", graph_of(loops, tf.TensorSpec([2], name="x"), handle, number))
    write("gradient", graph_of(gradient, tf.TensorSpec([2], name="x"), number))
    write("update", graph_of(update, tf.TensorSpec([None, 3], name="x"), tf.TensorSpec([None], tf.int32), handle, handle, handle, handle))
    print(plain(tf.constant([[1.0, 2.0]])).numpy(), outer(tf.constant([1.0, 2.0])).numpy(), control(tf.constant([1.0, 2.0])).numpy())


main()
