#!/usr/bin/env python3
"""Makes tests/golden/mistakes/mistakes.json: what TensorFlow 2.15.1 answers to the mistakes that users make.

Every case is a name, the lines of a program and the phrase of the message that tells the user what is wrong. A case whose phrase TensorFlow
does not say is refused here, so that the phrases are TensorFlow's and not ours. Run with TensorFlow's Python, from the root of the tree."""
import json
import linecache
import os
import sys
import tempfile

import numpy as np

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import tensorflow as tf

import golden

CASES = [
    # creation and dtypes
    ("ragged list", "tf.constant([[1, 2], [3]])", "Can't convert non-rectangular Python sequence to Tensor"),
    ("mixed list", "tf.constant([1, 'a'])", "Can't convert Python sequence with mixed types to Tensor"),
    ("wrong dtype of list", "tf.constant([1.5, 2.5], dtype=tf.int32)", "Cannot convert"),
    ("string as number", "tf.constant('a', dtype=tf.float32)", "Cannot convert"),
    ("number as string", "tf.constant(1, dtype=tf.string)", "Cannot convert 1 to EagerTensor of dtype string"),
    ("none", "tf.constant(None)", "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor"),
    ("object", "tf.constant(object())", "with an unsupported type (<class 'object'>) to a Tensor"),
    ("unknown dtype", "tf.constant(1, dtype='floaty')", "floaty"),
    ("constant of other size", "tf.constant([1, 2, 3], shape=[2])", "shape"),
    ("zeros of negative size", "tf.zeros([2, -1])", "must be >= 0"),
    ("tensor of another dtype", "tf.convert_to_tensor(tf.constant(1), dtype=tf.float32)", "Tensor conversion requested dtype float32 for Tensor with dtype int32"),
    ("int plus float", "tf.constant(1) + tf.constant(1.0)", "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor"),
    ("int times half number", "tf.constant([1, 2]) * 1.5", "Cannot convert 1.5 to EagerTensor of dtype int32"),
    ("float plus string", "tf.constant(1.0) + 'a'", "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a string tensor"),
    ("int64 plus int32", "tf.constant(1, tf.int64) - tf.constant(1, tf.int32)", "cannot compute Sub as input #1(zero-based) was expected to be a int64 tensor but is a int32 tensor"),
    ("square root of integers", "tf.sqrt(tf.constant([4]))", "Value for attr 'T' of int32 is not in the list of allowed values"),
    ("logical and of numbers", "tf.logical_and(tf.constant(1), tf.constant(0))", "expected to be a bool tensor but is a int32 tensor"),
    ("cast of text", "tf.cast(tf.constant('1'), tf.int32)", "Cast string to int32 is not supported"),
    # shapes
    ("add of other shapes", "tf.ones([2, 3]) + tf.ones([2, 4])", "Incompatible shapes: [2,3] vs. [2,4]"),
    ("product of other shapes", "tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))", "Matrix size-incompatible: In[0]: [2,3], In[1]: [4,5]"),
    ("product of vectors", "tf.matmul(tf.ones([3]), tf.ones([3]))", "ndims must be == 2"),
    ("batches of other sizes", "tf.matmul(tf.ones([2, 3, 4]), tf.ones([3, 4, 5]))", "In[0] and In[1] must have compatible batch dimensions: [2,3,4] vs. [3,4,5]"),
    ("reshape to another size", "tf.reshape(tf.range(6), [4, 2])", "Input to reshape is a tensor with 6 values, but the requested shape has 8"),
    ("reshape with two unknowns", "tf.reshape(tf.range(6), [-1, -1])", "-1"),
    ("reshape that does not divide", "tf.reshape(tf.range(6), [4, -1])", "Input to reshape is a tensor with 6 values, but the requested shape requires a multiple of 4"),
    ("concat of other shapes", "tf.concat([tf.ones([2, 3]), tf.ones([3, 4])], axis=0)", "Dimension 1 in both shapes must be equal"),
    ("concat of other ranks", "tf.concat([tf.ones([2]), tf.ones([2, 2])], axis=0)", "Ranks of all input tensors should match: shape[0] = [2] vs. shape[1] = [2,2]"),
    ("concat on a missing axis", "tf.concat([tf.ones([2]), tf.ones([2])], axis=3)", "Expected concatenating dimensions in the range [-1, 1), but got 3"),
    ("stack of other shapes", "tf.stack([tf.ones([2]), tf.ones([3])])", "Shapes of all inputs must match: values[0].shape = [2] != values[1].shape = [3]"),
    ("sum over a missing axis", "tf.reduce_sum(tf.ones([2, 3]), axis=2)", "Invalid reduction dimension (2 for input with 2 dimension(s)"),
    ("argmax over a missing axis", "tf.argmax(tf.ones([2, 3]), axis=5)", "Expected dimension in the range [-2, 2), but got 5"),
    ("transpose with a wrong order", "tf.transpose(tf.ones([2, 3]), perm=[0, 0])", "missing from"),
    ("transpose with a short order", "tf.transpose(tf.ones([2, 3]), perm=[0])", "size"),
    ("expand on a missing axis", "tf.expand_dims(tf.ones([2]), 5)", "Tried to expand dim index 5 for tensor with 1 dimensions"),
    ("squeeze of a long axis", "tf.squeeze(tf.ones([2, 1]), axis=0)", "Can not squeeze dim[0], expected a dimension of 1, got 2"),
    ("uneven split", "tf.split(tf.ones([5]), 2)", "Number of ways to split should evenly divide the split dimension"),
    ("split sizes", "tf.split(tf.ones([5]), [2, 2])", "Determined shape must either match input shape along split_dim exactly"),
    ("broadcast to less", "tf.broadcast_to(tf.ones([3]), [2])", "Incompatible shapes"),
    ("tile with too few", "tf.tile(tf.ones([2, 2]), [2])", "Expected multiples argument to be a vector of length 2 but got length 1"),
    ("pad with too few", "tf.pad(tf.ones([2, 2]), [[1, 1]])", "The first dimension of paddings must be the rank of inputs"),
    ("where of other shapes", "tf.where([True, False, True], tf.ones([2]), tf.zeros([2]))", "condition"),
    # indexing
    ("index outside", "tf.constant([1, 2, 3])[5]", "slice index 5 of dimension 0 out of bounds"),
    ("too many indices", "tf.constant([1, 2, 3])[0, 1]", "Index out of range using input dim 1; input has only 1 dims"),
    ("index by a float", "tf.constant([1, 2, 3])[0.5]", "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got 0.5"),
    ("index by text", "tf.constant([1, 2, 3])['a']", "are valid indices, got 'a'"),
    ("assignment to a tensor", "x = tf.constant([1, 2, 3]); x[0] = 5", "object does not support item assignment"),
    ("gather outside", "tf.gather([1, 2, 3], [3])", "indices[0] = 3 is not in [0, 3)"),
    ("slice outside", "tf.slice(tf.range(5), [3], [4])", "Expected size[0] in [0, 2], but got 4"),
    ("iteration over a scalar", "for x in tf.constant(1): pass", "Cannot iterate over a scalar tensor"),
    ("length of a scalar", "len(tf.constant(1))", "Scalar tensor has no `len()`"),
    ("truth of a vector", "bool(tf.constant([True, False]))", "The truth value of an array with more than one element is ambiguous"),
    ("int of a vector", "int(tf.constant([1, 2]))", "only "),
    ("one hot depth", "tf.one_hot([1], -1)", "depth must be non-negative, got: -1"),
    # calls
    ("missing argument", "tf.reshape(tf.range(6))", "issing"),
    ("unknown argument", "tf.reduce_sum([1], axes=0)", "ot an unexpected keyword argument 'axes'"),
    ("unknown name", "tf.reduce_summ([1])", "module 'tensorflow' has no attribute 'reduce_summ'"),
    ("unknown attribute", "tf.constant(1).foo", "object has no attribute 'foo'"),
    ("numpy of a symbolic tensor", "tf.function(lambda x: x.numpy())(tf.constant(1))", "numpy"),
    # variables
    ("assign of another shape", "tf.Variable([1., 2.]).assign([1., 2., 3.])", "Cannot assign value to variable ' Variable:0': Shape mismatch.The variable shape (2,), and the assigned value shape (3,) are incompatible."),
    ("assign of another dtype", "tf.Variable(1.0).assign(tf.constant(1))", "Tensor conversion requested dtype float32 for Tensor with dtype int32"),
    ("variable without a value", "tf.Variable()", "initial_value"),
    ("variable of none", "tf.Variable(None)", "The `initial_value` arg to `tf.Variable` must be specified"),
    ("assign to an element", "v = tf.Variable([1., 2.]); v[0] = 3.", "object does not support item assignment"),
    ("add of another shape", "tf.Variable([1., 2.]).assign_add([1., 2., 3.])", "shape"),
    # tapes
    ("gradient twice", "x = tf.Variable(1.)\nwith tf.GradientTape() as t: y = x * x\nt.gradient(y, x); t.gradient(y, x)", "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"),
    ("watch of a number", "with tf.GradientTape() as t: t.watch(1.0)", "Passed in object 1.0 of type 'float', not tf.Tensor or tf.Variable or ExtensionType."),
    ("gradient of other shape", "x = tf.Variable([1., 2.])\nwith tf.GradientTape() as t: y = x * x\nt.gradient(y, x, output_gradients=tf.ones([3]))", "shape"),
    # Keras
    ("layer without units", "tf.keras.layers.Dense()", "missing 1 required positional argument: 'units'"),
    ("layer of negative units", "tf.keras.layers.Dense(-1)", "Received an invalid value for `units`, expected a positive integer. Received: units=-1"),
    ("layer with a wrong argument", "tf.keras.layers.Dense(1, unit=2)", "Keyword argument not understood"),
    ("unknown activation", "tf.keras.layers.Dense(1, activation='reluu')", "Unknown activation function"),
    ("unknown initializer", "tf.keras.layers.Dense(1, kernel_initializer='glorot')", "Unknown initializer"),
    ("other width", "d = tf.keras.layers.Dense(2); d(tf.ones([1, 3])); d(tf.ones([1, 4]))", "expected axis -1 of input shape to have value 3"),
    ("too few dimensions", "tf.keras.layers.Dense(2)(tf.ones([3]))", "expected min_ndim=2, found ndim=1"),
    ("pictures without channels", "tf.keras.layers.Conv2D(2, 3)(tf.ones([1, 8, 8]))", "expected min_ndim=4, found ndim=3"),
    ("convolution of a small picture", "tf.keras.layers.Conv2D(2, 5, padding='valid')(tf.ones([1, 3, 3, 1]))", "negative"),
    ("padding of another name", "tf.keras.layers.Conv2D(2, 3, padding='samee')", "The `padding` argument must be a list/tuple or one of"),
    ("variables before the call", "class M(tf.keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.d = tf.keras.layers.Dense(1)\n    def call(self, x):\n        return self.d(x)\nM().d.kernel", "has no attribute 'kernel'"),
    ("super first", "class M(tf.keras.Model):\n    def __init__(self):\n        self.d = tf.keras.layers.Dense(1)\nM()", "It looks like you are subclassing `Model` and you forgot to call `super().__init__()`."),
    ("model without call", "class M(tf.keras.Model): pass\nM()(tf.ones([1, 1]))", "Unimplemented `tf.keras.Model.call()`"),
    ("not a layer", "tf.keras.Sequential([tf.keras.layers.Dense(1), 3])", "The added layer must be an instance of class Layer. Received: layer=3"),
    ("unknown reduction", "tf.keras.losses.SparseCategoricalCrossentropy(reduction='avg')", "avg"),
    ("labels of other sizes", "tf.keras.losses.sparse_categorical_crossentropy([1, 2, 0], [[.5, .5], [.5, .5]])", "shape"),
    ("labels outside", "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[5], logits=[[1., 2.]])", "Received a label value of 5 which is outside the valid range of [0, 2)"),
    ("unknown optimizer argument", "tf.keras.optimizers.Adam(learning_rates=1)", "learning_rates"),
    ("no gradients", "v = tf.Variable(1.); tf.keras.optimizers.SGD().apply_gradients([(None, v)])", "No gradients provided for any variable"),
    ("rate of another type", "tf.keras.optimizers.SGD(learning_rate='fast').apply_gradients([(tf.constant(1.), tf.Variable(1.))])", "fast"),
    ("unknown variable", "o = tf.keras.optimizers.Adam(); v = tf.Variable(1.); o.apply_gradients([(tf.constant(1.), v)]); o.apply_gradients([(tf.constant(1.), tf.Variable([1., 2.]))])", "The optimizer cannot recognize variable"),
    # functions
    ("variable in every call", "@tf.function\ndef f():\n    return tf.Variable(1.)\nf()", "tf.function only supports singleton tf.Variables created on the first call"),
    ("signature of another dtype", "f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)]); f(tf.constant(1))", "int32"),
    ("signature of another shape", "f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([2], tf.float32)]); f(tf.ones([3]))", "(3,)"),
    ("too many arguments", "tf.function(lambda x: x)(1, 2)", "too many positional arguments"),
    ("missing argument of a function", "tf.function(lambda x: x)()", "missing a required argument: 'x'"),
    ("loop that changes a shape", "@tf.function\ndef f(x):\n    while tf.reduce_sum(x) < 10.:\n        x = tf.concat([x, x], 0)\n    return x\nf(tf.ones([1]))", "shape"),
    ("branches of other types", "@tf.function\ndef f(x):\n    if x > 0:\n        y = 1\n    else:\n        y = 1.5\n    return y\nf(tf.constant(1))", "'y' has dtype int32 in the main branch, but dtype float32 in the else branch"),
    ("branch without a value", "@tf.function\ndef f(x):\n    if x > 0:\n        y = 1\n    return y\nf(tf.constant(1))", "'y' must also be initialized in the else branch"),
    ("symbolic truth", "@tf.function(autograph=False)\ndef f(x):\n    if x > 0:\n        return x\n    return -x\nf(tf.constant(1))", "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"),
    ("symbolic iteration", "@tf.function(autograph=False)\ndef f(x):\n    return [y for y in x]\nf(tf.constant([1]))", "Iterating over a symbolic `tf.Tensor` is not allowed"),
    ("number for an optimizer argument", "tf.keras.optimizers.SGD(momentum=2.)", "`momentum` must be between [0, 1]."),
    ("division of other types", "tf.constant(1.0) / 'a'", "`x` and `y` must have the same dtype, got tf.float32 != tf.string."),
    ("minus a half", "tf.constant(3) - 0.5", "Cannot convert 0.5 to EagerTensor of dtype int32"),
    ("maximum of other types", "tf.maximum(1.5, tf.constant([1, 2]))", "Cannot convert 1.5 to EagerTensor of dtype int32"),
    # errors inside of layers: the innermost one tells, with what it was called with
    ("inside a layer", "class A(tf.keras.layers.Layer):\n    def call(self, x, training=None): raise ValueError('bad thing')\nA(name='a')(tf.ones([2, 3]))",
     "Exception encountered when calling layer 'a' (type A).\n\nbad thing\n\nCall arguments received by layer 'a' (type A):\n  • x=tf.Tensor(shape=(2, 3), dtype=float32)\n  • training=None"),
    ("an op inside a layer", "class A(tf.keras.layers.Layer):\n    def call(self, x, other=3): return tf.matmul(x, x)\nA(name='a')(tf.ones([2, 3]), other=4)",
     "\n\nCall arguments received by layer 'a' (type A):\n  • x=tf.Tensor(shape=(2, 3), dtype=float32)\n  • other=4"),
    ("a dict inside a layer", "class A(tf.keras.layers.Layer):\n    def call(self, x): return x['b']\nA(name='a')({'a': tf.ones([2])})",
     "Call arguments received by layer 'a' (type A):\\n  • x={'a': 'tf.Tensor(shape=(2,), dtype=float32)'}"),
    ("an exception of one's own inside a layer", "class Own(Exception):\n    def __init__(self, a, b): super().__init__(a)\nclass A(tf.keras.layers.Layer):\n    def call(self, x): raise Own('bad thing', 2)\nA(name='a')(tf.ones([2]))",
     "Exception encountered when calling layer 'a' (type A).\n\nbad thing"),
    ("inside a layer of a model", "class A(tf.keras.layers.Layer):\n    def call(self, x): raise TypeError('bad thing')\nclass M(tf.keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.a = A(name='a')\n    def call(self, x): return self.a(x)\nM()(tf.ones([2]))",
     "Exception encountered when calling layer 'a' (type A).\n\nbad thing"),
    ("inside a layer of a Sequential", "class A(tf.keras.layers.Layer):\n    def call(self, x): raise TypeError('bad thing')\ntf.keras.Sequential([tf.keras.layers.Dense(1), A(name='a')])(tf.ones([2, 2]))",
     "Exception encountered when calling layer 'a' (type A).\n\nbad thing"),
    ("inside a layer in a function", "class A(tf.keras.layers.Layer):\n    def call(self, x): raise TypeError('bad thing')\na = A(name='a')\ntf.function(lambda x: a(x))(tf.ones([2]))",
     "Exception encountered when calling layer 'a' (type A)."),
    ("inside a layer on an Input", "class A(tf.keras.layers.Layer):\n    def call(self, x): raise TypeError('bad thing')\nA(name='a')(tf.keras.Input([2]))",
     "Exception encountered when calling layer "),
    ("inside an activation", "def f(x): raise ValueError('bad thing')\ntf.keras.layers.Dense(1, name='d', activation=f)(tf.ones([2, 2]))",
     "Exception encountered when calling layer 'd' (type Dense).\n\nbad thing\n\nCall arguments received by layer 'd' (type Dense):\n  • inputs=tf.Tensor(shape=(2, 2), dtype=float32)"),
    ("a Lambda", "tf.keras.layers.Lambda(lambda x: tf.matmul(x, x), name='l')(tf.ones([2, 3]))", "Exception encountered when calling layer 'l' (type Lambda)."),
    ("ids out of an Embedding", "tf.keras.layers.Embedding(2, 2, name='e')(tf.constant([[5]]))", "Exception encountered when calling layer 'e' (type Embedding)."),
    ("sum of other shapes in a layer", "tf.keras.layers.Add()([tf.ones([1, 2]), tf.ones([1, 3])])", "Inputs have incompatible shapes."),
    # a model that was told the shape of its input
    ("fit of another width", "m = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))], name='m'); m.compile('sgd', 'mse'); m.fit(np.ones((4, 5)), np.ones((4, 1)), verbose=0)",
     "Input 0 of layer \"m\" is incompatible with the layer: expected shape=(None, 3), found shape="),
    ("predict of another width", "tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))], name='m').predict(np.ones((4, 5)), verbose=0)",
     "Input 0 of layer \"m\" is incompatible with the layer: expected shape=(None, 3), found shape="),
    ("call with another width", "tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)], name='m')(np.ones((4, 5)))",
     "Input 0 of layer \"m\" is incompatible with the layer: expected shape=(None, 3), found shape=(4, 5)"),
    ("fit of a functional model of another width", "i = tf.keras.Input((3,)); m = tf.keras.Model(i, tf.keras.layers.Dense(1)(i), name='m'); m.compile('sgd', 'mse'); m.fit(np.ones((4, 5)), np.ones((4, 1)), verbose=0)",
     "Input 0 of layer \"m\" is incompatible with the layer: expected shape=(None, 3), found shape="),
    ("deferred model of another width", "m = tf.keras.Sequential([tf.keras.layers.Dense(1, name='d')], name='m'); m(np.ones((4, 3))); m(np.ones((4, 5)))",
     "Input 0 of layer \"d\" is incompatible with the layer: expected axis -1 of input shape to have value 3"),
    # files
    ("checkpoint that is not there", "tf.train.Checkpoint(v=tf.Variable(1.)).restore('/nowhere/ckpt-1')", "/nowhere/ckpt-1"),
    ("checkpoint of another object", "v = tf.Variable(1.); p = tf.train.Checkpoint(v=v).save(folder + '/a'); tf.train.Checkpoint(w=tf.Variable(1.)).restore(p).assert_consumed()", "Python objects that were not bound to checkpointed values"),
    ("checkpoint of another shape", "p = tf.train.Checkpoint(v=tf.Variable([1.])).save(folder + '/b'); tf.train.Checkpoint(v=tf.Variable([1., 2.])).restore(p)", "shape"),
    ("variable that is not there", "p = tf.train.Checkpoint(v=tf.Variable([1.])).save(folder + '/c'); tf.train.load_variable(p, 'nope')", "nope"),
    ("untrackable value", "tf.train.Checkpoint(v=3)", "trackable"),
    ("file that is not there", "tf.io.read_file('/nowhere/file')", "/nowhere/file; No such file or directory"),
]


def answer(code, folder):
    """The class and the text of the error. AutoGraph reads the source, so that the program stands in a file."""
    path = os.path.join(folder, "mistake.py")
    with open(path, "w") as file:
        file.write(code + "\n")
    linecache.checkcache()
    try:
        exec(compile(code, path, "exec"), {"tf": tf, "np": np, "folder": folder, "__name__": "mistake"})
    except Exception as error:  # the case is the error
        return type(error).__name__, str(error)
    return None, ""


def main():
    made, bad = [], 0
    for name, code, phrase in CASES:
        with tempfile.TemporaryDirectory() as folder:
            kind, text = answer(code, folder)
        if kind is None or phrase not in text:
            bad += 1
            print("%s: %s: %s" % (name, kind, text[:400]), file=sys.stderr)
            continue
        made.append({"name": name, "code": code, "error": kind, "phrase": phrase})
    with open(golden.path(__file__, "mistakes.json"), "w") as file:
        json.dump(made, file, indent=1, ensure_ascii=False)
        file.write("\n")
    sys.exit(bad > 0)


main()
