"""Calls in graph mode whose nodes (names, ops, inputs, seeds) are TensorFlow's, and what a session gives for those that are random.
tests/golden/v1_nodes.py runs them under TensorFlow and writes v1_nodes.json; test_v1_nodes.py runs them here."""

SEEDED = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "RandomShuffle", "Multinomial")


def cases(tf):
    v1, layers = tf.compat.v1, tf.keras.layers

    def p(shape=(None, 4), dtype=tf.float32):
        return v1.placeholder(dtype, shape)

    def made(initializer):
        return v1.get_variable("w", [4, 5], initializer=initializer)

    def scoped():
        with v1.variable_scope("a", initializer=v1.ones_initializer()):
            v1.get_variable("w", [2])
            with v1.variable_scope("b", reuse=v1.AUTO_REUSE):
                v1.get_variable("w", [2])
                v1.get_variable("w", [2])
            tf.constant(1.)
        with v1.variable_scope(None, "a"):
            v1.get_variable("w", [2])

    def variables():
        w = v1.get_variable("w", [3, 2])
        return w + 1., w * w, 1. - w, w.value(), w.read_value(), tf.identity(w), w.assign(w * 2.), tf.square(w)

    x = p
    return {
        "get_variable": lambda: made(None),
        "constant": lambda: v1.get_variable("w", initializer=3.),
        "dtype": lambda: v1.get_variable("w", dtype=tf.float32, initializer=3.),
        "tensor": lambda: v1.get_variable("w", initializer=tf.constant(3.)),
        "function": lambda: made(lambda shape, dtype, partition_info: tf.zeros(shape, dtype)),
        "function of nothing": lambda: v1.get_variable("w", initializer=lambda: tf.zeros([3])),
        "glorot": lambda: made(tf.keras.initializers.GlorotUniform(seed=3)),
        "normal": lambda: made(tf.keras.initializers.RandomNormal(seed=3)),
        "he": lambda: made(tf.keras.initializers.HeNormal(seed=3)),
        "constants": lambda: made(tf.keras.initializers.Constant(2.)),
        "zeros": lambda: made(tf.keras.initializers.Zeros()),
        "v1 normal": lambda: made(v1.random_normal_initializer()),
        "v1 truncated": lambda: made(v1.truncated_normal_initializer(stddev=.5)),
        "v1 scaling": lambda: made(v1.variance_scaling_initializer()),
        "variable scope": scoped,
        "variables": variables,
        "random.normal": lambda: tf.random.normal([2, 3]),
        "random.normal named": lambda: tf.random.normal([2, 3], 1., 2., name="named"),
        "random.normal unknown": lambda: tf.random.normal(tf.shape(p())),
        "random.uniform": lambda: tf.random.uniform([2, 3]),
        "random.uniform to": lambda: tf.random.uniform([2, 3], maxval=2.),
        "random.uniform between": lambda: tf.random.uniform([2, 3], -1., 1.),
        "random.uniform integers": lambda: tf.random.uniform([2, 3], maxval=5, dtype=tf.int32),
        "random.truncated_normal": lambda: tf.random.truncated_normal([2, 3]),
        "random.shuffle": lambda: tf.random.shuffle([1, 2, 3, 4]),
        "random.categorical": lambda: tf.random.categorical(tf.zeros([2, 3]), 4),
        "random.stateless": lambda: (tf.random.stateless_uniform([2], [1, 2]), tf.random.stateless_normal([2], [1, 2])),
        "random, one after the other": lambda: (tf.random.normal([2]), tf.constant(1.), tf.random.uniform([3]), tf.random.shuffle([1, 2, 3]),
                                                tf.nn.dropout(tf.ones([9]), .3), tf.random.truncated_normal([3]), tf.random.normal([2], seed=5)),
        "zeros and ones": lambda: (tf.zeros([2, 3]), tf.ones([2]), tf.zeros([2, 3000]), tf.zeros(tf.shape(p())), tf.fill([2, 3], 1.)),
        "likes": lambda: (tf.zeros_like(p()), tf.ones_like(p()), tf.zeros_like(p([2, 3])), tf.ones_like(p([2, 3]))),
        "shapes": lambda: (tf.shape(p()), tf.shape(p([2, 3])), tf.size(p()), tf.size(p([2])), tf.rank(p()), tf.shape(p())[0]),
        "dropout": lambda: tf.nn.dropout(p(), .5),
        "reductions": lambda: [tf.reduce_sum(p()), tf.reduce_mean(p(), axis=1), tf.reduce_max(p(), axis=0), tf.reduce_mean(p(), -1, keepdims=True)],
        "arithmetic": lambda: (lambda a: (a + 1., 1 - a, a * a, a / 2., a ** 2, -a, a > 0., a @ tf.ones([4, 2]), abs(a), a // 2., a % 2.))(x()),
        "arrays": lambda: (lambda a: (tf.stack([a, a]), tf.concat([a, a], 0), tf.split(a, 2, 1), tf.tile(a, [1, 2]), tf.expand_dims(a, 1), a[0], a[:, 1:],
                                      tf.transpose(a), tf.reshape(a, [-1]), tf.gather(a, [0]), tf.pad(a, [[0, 0], [1, 1]])))(x()),
        "logical": lambda: (lambda b: (tf.logical_and(b, b), tf.logical_not(b), tf.reduce_all(b)))(p([3], tf.bool)),
        "activations": lambda: (lambda a: (tf.nn.relu(a), tf.nn.sigmoid(a), tf.nn.tanh(a), tf.nn.softmax(a), tf.nn.log_softmax(a), tf.nn.elu(a)))(x()),
        "normalized": lambda: tf.nn.l2_normalize(p(), 1),
        "batch normalization": lambda: tf.nn.batch_normalization(p(), tf.zeros([4]), tf.ones([4]), tf.zeros([4]), tf.ones([4]), 1e-3),
        "convolution": lambda: tf.nn.bias_add(tf.nn.conv2d(p([None, 8, 8, 3]), v1.get_variable("k", [3, 3, 3, 4]), 1, "SAME"), v1.get_variable("b", [4])),
        "pools": lambda: (tf.nn.max_pool2d(p([None, 8, 8, 3]), 2, 2, "SAME"), tf.nn.avg_pool2d(p([None, 8, 8, 3]), 2, 2, "SAME")),
        "products": lambda: (tf.linalg.matmul(p([2, 3]), p([4, 3]), transpose_b=True), tf.matmul(p([2, 2, 3]), p([2, 3, 4])),
                             tf.einsum("ij,jk->ik", p([2, 3]), p([3, 4]))),
        "accuracy": lambda: tf.reduce_mean(tf.cast(tf.equal(tf.argmax(p(), 1), tf.argmax(p(), 1)), tf.float32)),
        "where": lambda: tf.where(p() > 0., p(), p()),
        "norm": lambda: (tf.norm(p()), tf.norm(p(), axis=1)),
        "dense": lambda: layers.Dense(3, activation="relu", kernel_initializer=tf.keras.initializers.GlorotUniform(seed=1))(p()),
        "dense without bias": lambda: layers.Dense(3, use_bias=False, kernel_initializer="ones")(p()),
        "conv2d": lambda: layers.Conv2D(4, 3, padding="same", activation="relu", kernel_initializer="zeros")(p([None, 8, 8, 3])),
        "pooling": lambda: (layers.MaxPool2D()(p([None, 8, 8, 3])), layers.AveragePooling2D()(p([None, 8, 8, 3]))),
        "dropout layer": lambda: layers.Dropout(.3)(p(), training=True),
        "sequential": lambda: tf.keras.Sequential([layers.Dense(5, activation="relu", kernel_initializer="ones"),
                                                   layers.Dense(2, kernel_initializer="zeros")])(p()),
        "layers of one graph": lambda: [layers.Dense(2, kernel_initializer="ones")(p()) for _ in range(2)],
        "one_hot": lambda: tf.one_hot(p([None], tf.int32), 5),
        "moments": lambda: tf.nn.moments(p(), [0]),
        "deviations": lambda: (tf.math.reduce_std(p()), tf.math.reduce_variance(p(), 0)),
        "batch normalization layer": lambda: layers.BatchNormalization()(p([None, 4, 4, 3]), training=False),
        "embedding layer": lambda: layers.Embedding(10, 4, embeddings_initializer="zeros")(p([None, 3], tf.int32)),
        "group": lambda: tf.group(tf.constant(1.), tf.constant(2.)),
        "assign": lambda: (lambda v: (v.assign(2.), v1.assign_add(v, 1.), v1.assign(v, 3., name="as")))(tf.Variable(1.)),
        "global step": lambda: v1.train.get_or_create_global_step(),
        "summaries": lambda: (v1.summary.scalar("a", p([])), v1.summary.histogram("h", p()), v1.summary.merge_all()),
        "summaries in families": lambda: (v1.summary.scalar("a b", p([]), family="f"), v1.summary.histogram("/h", p(), family="f g"),
                                          v1.summary.scalar("a b", p([])), v1.summary.merge([p([], tf.string)], name="all")),
        "embedding_lookup of version 1": lambda: (v1.nn.embedding_lookup(tf.ones([3, 2]), [0, 2]), v1.nn.embedding_lookup([tf.ones([3, 2])], [1], name="n")),
        "dropout of version 1": lambda: (v1.nn.dropout(p((3, 4)), keep_prob=.5), v1.nn.dropout(p((3, 4)), keep_prob=p([])), v1.nn.dropout(p((3, 4)), rate=p([]))),
        "div and casts": lambda: (v1.div(7, 2), v1.div(p(), 2.), v1.to_float(1), v1.to_int64(p()), v1.to_double(p(), "d")),
        "string_split": lambda: v1.string_split(["a b", "c"]),
        "space_to_batch": lambda: (v1.space_to_batch(tf.ones([1, 4, 4, 1]), [[0, 0], [0, 0]], 2),
                                   v1.batch_to_space(tf.ones([4, 2, 2, 1]), [[0, 0], [0, 0]], 2), tf.space_to_batch(p((1, 4, 2)), [2], [[0, 0]])),
        "count_up_to": lambda: v1.count_up_to(v1.get_variable("w", [], tf.int32, v1.zeros_initializer()), 3),
        "Print": lambda: v1.Print(tf.ones([2]), [1, tf.ones([1])], "x"),
        "layers of version 1": lambda: (v1.layers.dense(p(), 3, activation="relu", kernel_initializer="ones"),
                                        v1.layers.conv2d(p((None, 8, 8, 3)), 4, 3, kernel_initializer="zeros", name="c")),
        "batch_normalization of pictures, training": lambda: v1.layers.batch_normalization(p((None, 4, 4, 3)), training=True),
        "batch_normalization": lambda: v1.layers.batch_normalization(p((None, 4, 4, 3))),
        "dropout layer of version 1": lambda: (v1.layers.dropout(p((3, 4)), .3, training=True), v1.layers.dropout(p((3, 4)))),
        "averages": lambda: (v1.train.ExponentialMovingAverage(.9).apply([v1.get_variable("w", initializer=[1., 2.])]),
                             v1.train.ExponentialMovingAverage(.9, num_updates=v1.get_variable("n", initializer=3)).apply([p((2, 3))])),
    }


def gradient_cases(tf):
    """Gradients in graphs: users find their nodes by name."""
    v1 = tf.compat.v1

    def p(shape=(), name="x"):
        return v1.placeholder(tf.float32, shape, name=name)

    def scoped():
        with v1.name_scope("layer"):
            y = tf.exp(p([2]))
        with v1.name_scope("train"):
            return v1.gradients(tf.tanh(y), y)

    def summed():
        x = p([2])
        return v1.gradients(tf.exp(x) + tf.sin(x) + tf.sigmoid(x), x)
    return {
        "gradients of functions": lambda: (lambda x: v1.gradients(tf.sigmoid(tf.tanh(tf.exp(tf.math.log(tf.sqrt(tf.sin(x)))))), x))(p([2])),
        "gradients in scopes": scoped,
        "gradients that are summed": summed,
        "gradients with a name": lambda: (lambda x: (lambda y: (v1.gradients(y, x, tf.constant([1., 2.]), name="mine"), v1.gradients(y, x)))(tf.exp(x)))(p([2])),
        "gradients of unknown shapes": lambda: (lambda x: v1.gradients([tf.exp(x), tf.sin(x)], x))(p([None])),
        "gradients of products": lambda: (lambda x: v1.gradients(x * x, x))(p([2])),
        "cond": lambda: (lambda x: (tf.cond(x > 0, lambda: x * 2, lambda: x - 1), tf.cond(x > 0, lambda: (x, x + 1), lambda: (x, x), name="mine")))(p()),
    }


def names(tf, name):
    """The names and ops of a case's nodes, in no order."""
    with tf.Graph().as_default() as graph:
        gradient_cases(tf)[name]()
        return sorted([o.name, o.type, [i.name for i in o.inputs]] for o in graph.get_operations())


def nodes(tf, name):
    """The nodes that a case makes, and the values that a session gives for its random results."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(7)
        result = cases(tf)[name]()
        rows = [[o.name, o.type, [i.name for i in o.inputs], [c.name for c in o.control_inputs],
                 [o.get_attr("seed"), o.get_attr("seed2")] if o.type in SEEDED else []] for o in graph.get_operations()]
        values = []
        if name.startswith("random") and "unknown" not in name:
            with v1.Session() as session:
                fetches = result if isinstance(result, tuple) else (result,)
                values = [session.run(f).tolist() for f in fetches] + [session.run(f).tolist() for f in fetches]
    return {"nodes": rows, "values": values}
