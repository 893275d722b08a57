"""Calls whose shapes do not fit, made in a graph: name, call, descriptions of the arguments. tests/golden/shape_errors.py asks TensorFlow 2.15.1
what it says, test_shape_errors.py compares."""


def cases(tf):
    def s(*shape, dtype="float32"):
        return tf.TensorSpec(shape, dtype)
    return [
        ("matmul", lambda a, b: tf.matmul(a, b), [s(2, 3), s(2, 3)]),
        ("matmul_rank", lambda a, b: tf.matmul(a, b), [s(3), s(3, 2)]),
        ("bmm", lambda a, b: tf.matmul(a, b), [s(4, 2, 3), s(5, 3, 2)]),
        ("bmm2", lambda a, b: tf.matmul(a, b), [s(4, 2, 3), s(4, 2, 2)]),
        ("add", lambda a, b: a+b, [s(2, 3), s(2, 2)]),
        ("mul", lambda a, b: a*b, [s(2, 3), s(4)]),
        ("sub", lambda a, b: tf.subtract(a, b), [s(5), s(4)]),
        ("less", lambda a, b: a<b, [s(5), s(4)]),
        ("equal", lambda a, b: tf.equal(a, b), [s(5), s(4)]),
        ("maximum", lambda a, b: tf.maximum(a, b), [s(5), s(4)]),
        ("concat", lambda a, b: tf.concat([a, b], 0), [s(2, 3), s(2, 2)]),
        ("concat_rank", lambda a, b: tf.concat([a, b], 0), [s(2, 3), s(2)]),
        ("concat_axis", lambda a, b: tf.concat([a, b], 5), [s(2, 3), s(2, 3)]),
        ("reshape", lambda a: tf.reshape(a, [4]), [s(2, 3)]),
        ("reshape2", lambda a: tf.reshape(a, [-1, 4]), [s(2, 3)]),
        ("transpose", lambda a: tf.transpose(a, [0, 1, 2]), [s(2, 3)]),
        ("transpose2", lambda a: tf.transpose(a, [0, 3]), [s(2, 3)]),
        ("argmax", lambda a: tf.argmax(a, 3), [s(2, 3)]),
        ("softmax", lambda a: tf.nn.softmax(a, 3), [s(2, 3)]),
        ("expand", lambda a: tf.expand_dims(a, 5), [s(2, 3)]),
        ("squeeze", lambda a: tf.squeeze(a, 0), [s(2, 3)]),
        ("slice", lambda a: a[5], [s(2, 3)]),
        ("slice2", lambda a: a[0, 0, 0], [s(2, 3)]),
        ("gather", lambda a: tf.gather(a, [0], axis=4), [s(2, 3)]),
        ("tile", lambda a: tf.tile(a, [2]), [s(2, 3)]),
        ("pad", lambda a: tf.pad(a, [[1, 1]]), [s(2, 3)]),
        ("split", lambda a: tf.split(a, 2, 1), [s(2, 3)]),
        ("unstack", lambda a: tf.unstack(a, 5), [s(2, 3)]),
        ("where", lambda a, b: tf.where(a>0, a, b), [s(2, 3), s(2, 2)]),
        ("conv", lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"), [s(1, 8, 8, 3), s(3, 3, 4, 2)]),
        ("conv_rank", lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"), [s(8, 8, 3), s(3, 3, 3, 2)]),
        ("conv_valid", lambda a, b: tf.nn.conv2d(a, b, 1, "VALID"), [s(1, 2, 2, 3), s(3, 3, 3, 2)]),
        ("maxpool", lambda a: tf.nn.max_pool2d(a, 3, 1, "VALID"), [s(1, 2, 2, 3)]),
        ("bias", lambda a, b: tf.nn.bias_add(a, b), [s(2, 3), s(4)]),
        ("sparse_ce", lambda a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(b, a), [s(2, 3), s(3, dtype="int32")]),
        ("sig_ce", lambda a, b: tf.nn.sigmoid_cross_entropy_with_logits(b, a), [s(2, 3), s(2, 4)]),
        ("broadcast", lambda a: tf.broadcast_to(a, [4, 4]), [s(2, 3)]),
        ("one_hot", lambda a: tf.one_hot(a, -1), [s(2, dtype="int32")]),
        ("fill", lambda a: tf.fill([-1], 1.0)+a, [s(2)]),
        ("diag", lambda a: tf.linalg.inv(a), [s(2, 3)]),
        ("einsum", lambda a, b: tf.einsum("ij, jk->ik", a, b), [s(2, 3), s(2, 3)]),
        ("set_shape", lambda a: a.set_shape([3]), [s(2, 3)]),
        ("ensure", lambda a: tf.ensure_shape(a, [3, None]), [s(2, 3)]),
        ("dtype", lambda a, b: a+b, [s(2), s(2, dtype="int32")]),
        ("dtype2", lambda a, b: tf.matmul(a, b), [s(2, 2), s(2, 2, dtype="int32")]),
        ("gather_nd", lambda a, b: tf.gather_nd(a, b), [s(2, 3), s(2, 3, dtype="int32")]),
        ("scatter_nd", lambda a, b: tf.scatter_nd(b, a, [4]), [s(2, 3), s(3, 1, dtype="int32")]),
        ("top_k", lambda a: tf.math.top_k(a, 5), [s(2, 3)]),
        ("cond", lambda a: tf.cond(a, lambda:1, lambda:2), [s(2, dtype="bool")]),
        ("resize", lambda a: tf.image.resize(a, [2, 2]), [s(2, 3)]),
        ("reverse", lambda a: tf.reverse(a, [4]), [s(2, 3)]),
        ("linspace", lambda a: tf.linspace(a, 1., 3), [s(2, 3)]),
    ]


def outcome(tf, call, arguments):
    """What tracing says: the class of the error and its text."""
    try:
        tf.function(call, autograph=False).get_concrete_function(*arguments)
    except Exception as e:
        return [type(e).__name__, str(e)]
    return None
