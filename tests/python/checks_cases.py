"""Small programs of tf.debugging, tf.group and their kin, whose results and errors are compared in full. Each is a function of the module tf that gives
a structure of tensors, numbers and texts. tests/golden/checks.py runs them under TensorFlow and keeps what they give; test_checks.py compares."""
import re

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def told(text):
    """An error's text without what TensorFlow adds around it: where the node stands, its own frames, numbers of functions."""
    text = re.sub(r"\{\{function_node [^}]*\}\} ", "", text)
    text = re.sub(r"^node [\w/]+: ", "", text)
    text = re.sub(r"^Graph execution error:.*?(?=!!!|assertion failed)", "", text, flags=re.S)
    text = re.sub(r"\s*\[?\[\[?\{\{(function_)?node .*", "", text, flags=re.S)
    text = re.sub(r" \[Op:[^\]]*\]( name:)?", "", text)
    text = re.sub(r"    \+ .*\n    \|   \n", "", text)  # frames of the library
    text = re.sub(r"    \+ \S*/(\w+\.py) \(L\d+\)", r"    + \1", text)
    text = re.sub(r"    \+ (?!checks_cases).*\n -> \|   \n", "", text)
    text = re.sub(r"    \+ \.\.\. \(Omitted \d+ frames\)\n", "", text)
    text = re.sub(r"__inference_(\w+)_\d+", r"__inference_\1", text)
    text = re.sub(r"<(class|dtype:)? ?'(thalweg|tensorflow)[\w.]*\.", r"<\1 '", text)
    return text.strip()


def fails(program):
    """The class and text of what a program raises."""
    try:
        program()
    except Exception as error:
        return [type(error).__name__, told(str(getattr(error, "message", None) or error))]
    return "no error"


# ---- every number is checked ----

def checked(program):
    """A case that runs with the check on."""
    def run(tf):
        tf.debugging.enable_check_numerics()
        try:
            return program(tf)
        finally:
            tf.debugging.disable_check_numerics()
    run.__name__ = program.__name__
    return case(run)


@checked
def numerics_eager(tf):
    x = tf.constant([0.0, -1.0, 1.0])
    big = tf.constant([[3e38], [1.0]])
    return [fails(lambda: tf.math.log(x)), fails(lambda: tf.constant(1.0, tf.float64) / tf.constant(0.0, tf.float64)), fails(lambda: big * big),
            fails(lambda: tf.nn.softmax(tf.constant([1.0, np.inf]))), fails(lambda: tf.concat([x, x / 2.0], 0)), tf.math.exp(x)]


@checked
def numerics_passing_on(tf):
    x = tf.constant([np.inf, 1.0])
    return [fails(lambda: tf.reshape(x, [2, 1])), fails(lambda: tf.concat([x, x], 0)), fails(lambda: tf.identity(x)), fails(lambda: tf.maximum(x, 0.0)),
            fails(lambda: tf.abs(x))]


@checked
def numerics_function(tf):
    @tf.function
    def log_plus(x):
        y = tf.math.log(x + 1.0)
        return tf.square(y)

    @tf.function(autograph=False)
    def ratio(x, y):
        return tf.stack([x / y, x])
    return [log_plus(tf.constant(0.0)), fails(lambda: log_plus(tf.constant(-1.0))), fails(lambda: ratio(tf.constant([1.0]), tf.constant([0.0]))),
            ratio(tf.constant([1.0]), tf.constant([2.0]))]


@checked
def numerics_constant(tf):
    @tf.function(autograph=False)
    def bad():
        return tf.reduce_sum(tf.constant([1.0, np.nan]) * 2.0)
    return fails(bad)


@checked
def numerics_unknown_shapes(tf):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec([None, 2], tf.float32)])
    def root(x, y):
        return tf.sqrt(x) + tf.reduce_sum(y)
    return [root(4.0, [[1.0, 2.0]]), fails(lambda: root(tf.constant([-1.0]), tf.constant([[1.0, 2.0]])))]


@checked
def numerics_gradient(tf):
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    return fails(lambda: tape.gradient(y, x))


@case
def numerics_traced_before(tf):
    @tf.function(autograph=False)
    def inverse(x):
        return 1.0 / x
    before = inverse(tf.constant(0.0))
    tf.debugging.enable_check_numerics(stack_height_limit=2, path_length_limit=20)
    tf.debugging.enable_check_numerics()
    during = fails(lambda: inverse(tf.constant(0.0)))
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()
    return [before, during, inverse(tf.constant(0.0)), tf.math.log(0.0)]


@checked
def numerics_session(tf):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
        with tf.name_scope("inner"):
            y = tf.math.log(x)
        names = [x.name, y.name, y.op.type]
        with tf.compat.v1.Session() as session:
            return [names, session.run(y, {x: [1.0]}), fails(lambda: session.run(y, {x: [0.0, -1.0]})), fails(lambda: session.run(y, {x: [np.nan]}))]
