"""Programs in graph mode. Each gets TensorFlow's modules and a function that notes what is to be the same here and there:
tests/golden/v1_programs.py runs them under TensorFlow and writes what they note to v1_programs.json; test_v1_graph.py runs them here."""
import collections

import numpy as np


def attempt(note, function):
    try:
        note("value", str(function()))
    except Exception as e:
        text = str(getattr(e, "message", None) or e)
        at = text.find("You must feed")  # a run's message begins with where the node was made
        at = text.find("Could not find variable") if at < 0 else at
        if at >= 0:
            text = text[at:].split("\n\nOriginal stack trace")[0]
        note(type(e).__name__, text)


def operations(tf, v1, note):
    g = v1.get_default_graph()
    x = v1.placeholder(tf.float32, [None, 28], name="X")
    v1.placeholder(tf.float32)
    b = tf.Variable(np.zeros([10], np.float32), name="b")
    tf.Variable(3.0)
    w = tf.Variable(np.ones([28, 10], np.float32))
    y = tf.matmul(tf.reshape(x, [-1, 28]), w) + b
    z = tf.nn.relu(y, name="act")
    tf.reduce_mean(z)
    tf.reduce_mean(z, axis=1, name="mm")
    labels = tf.constant([1, 2], name="lab")
    with tf.name_scope("sc"):
        x * 2.0
        2 - x
        tf.add(x, 1.0)
        x / 3.
        with tf.name_scope("inner") as inner:
            -x
    with tf.name_scope("sc"):
        tf.concat([x, x], 1)
    with tf.name_scope(inner):
        tf.exp(x)
    tf.cast(x, tf.int32)
    a = tf.argmax(x, 1)
    x[0]
    x[:, 1:3]
    tf.transpose(x)
    tf.stack([x, x])
    tf.expand_dims(x, 0)
    tf.ones_like(x)
    tf.equal(a, 3)
    tf.subtract(x, 1.)
    tf.multiply(x, x)
    tf.pow(x, 2.)
    x ** 2
    tf.maximum(x, 0.)
    tf.squeeze(x)
    tf.gather(x, [0])
    tf.tile(x, [1, 2])
    tf.identity(x)
    tf.shape(x)
    tf.nn.softmax(x)
    tf.nn.bias_add(x, np.ones([28], np.float32))
    tf.split(x, 4, axis=1)
    tf.unstack(labels)
    tf.add_n([x, x])
    tf.pad(x, [[0, 0], [1, 1]])
    tf.constant([1, 2])
    b.assign(np.ones([10], np.float32))
    b.assign_add(np.ones([10], np.float32), name="more")
    v1.global_variables_initializer()
    for op in g.get_operations():
        note(op.name, op.type, [i.name for i in op.inputs], [i.name for i in op.control_inputs])
    note(str(x), repr(x), repr(x.op), repr(b), str(v1.global_variables()), str(b.initial_value), b.op.name)
    note([v.name for v in v1.trainable_variables()], b.initializer.name, str(b.dtype), str(z.shape))


def errors(tf, v1, note):
    g = v1.get_default_graph()
    x = v1.placeholder(tf.float32, [None, 28], name="X")
    b = tf.Variable(np.zeros([10], np.float32), name="b")
    c = tf.cast(x, tf.int32)
    m = tf.reduce_mean(x)
    init = v1.global_variables_initializer()
    sess = v1.Session()
    with sess:
        for fetch in (m, b, 3, None, [], "nope", "nope:0", [b, None]):
            attempt(note, lambda: sess.run(fetch))
        attempt(note, lambda: sess.run(m, {x: np.ones([2, 27])}))
        sess.run(init)
        for feed in ({"zz": 1}, {3: 1}, {x: "a"}, {x: [[1] * 28]}):
            attempt(note, lambda: sess.run(m, feed))
        attempt(note, lambda: sess.run(c, {c: 1.5}))
        attempt(note, lambda: m.eval())
        attempt(note, lambda: m.eval({x: np.ones((1, 28))}))
        attempt(note, init.run)
        attempt(note, lambda: bool(x))
        attempt(note, lambda: x == 1)
        attempt(note, lambda: x == g.get_tensor_by_name("X:0"))
        attempt(note, tf.executing_eagerly)
        attempt(note, b.numpy)
        for name in ("Q:0", "X:4", "X", "X:a"):
            attempt(note, lambda: g.get_tensor_by_name(name).name)
        for name in ("Q", "X", "X:0"):
            attempt(note, lambda: g.get_operation_by_name(name).name)
    attempt(note, lambda: sess.run(m))
    attempt(note, lambda: m.eval())
    attempt(note, lambda: init.run())
    with tf.Graph().as_default() as other:
        note((x + 1).graph is g)
        k = tf.constant(1)
        note(k.graph is other, v1.get_default_graph() is other)
        attempt(note, lambda: v1.Session().run(x))
        attempt(note, lambda: v1.Session().run(k))
        attempt(note, lambda: v1.Session().run(k, {x: 1}))
        other.finalize()
        attempt(note, lambda: tf.constant(2))


def running(tf, v1, note):
    x = v1.placeholder(tf.float32, [None], name="x")
    y = v1.placeholder_with_default([1., 2.], [None])
    v = v1.Variable(1., name="v")
    total = tf.reduce_sum(x * v + y)
    point = collections.namedtuple("point", "a b")
    count = tf.Variable(0, trainable=False)
    with tf.control_dependencies([count.assign_add(1)]):
        counted = tf.identity(total)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        note(str(sess.run(total, {x: [1., 2.]})), str(sess.run([total, x], {x: [1, 2], y: [0, 0]})))
        note(str(sess.run({"t": total, "n": [x, (v,)], "i": v.initializer}, {"x:0": np.array([3., 4.])})))
        note(str(sess.run(point(total, v), {x: [4., 4.]})))
        note(str(sess.run("v/Read/ReadVariableOp:0")), str(sess.run(v.op)))
        sess.run([counted, counted], {x: [1., 1.]})
        sess.run(counted, {x: [1., 1.]})
        sess.run(total, {x: [1., 1.]})
        note(str(sess.run(count)), type(sess.run(total, {x: [1., 1.]})).__name__)
        note(str(sess.run(v1.assign(v, 3.))), str(sess.run(v1.assign_add(v, 1.))), str(v.eval()), str(sess.run(v1.assign(v, 5.).op)))
        v.load(9., sess)
        note(str(v.eval()), str(sess.run(v.read_value())), v1.get_default_session() is sess, sess.graph is v1.get_default_graph())
        f = sess.make_callable([v, total], [x])
        note(str(f([1., 1.])))
        with v1.Session() as second:
            attempt(note, lambda: second.run(v))
            second.run(v.initializer)
            note(str(second.run(v)), str(sess.run(v)))
        s = tf.constant("text")
        note(str(sess.run(s)), str(sess.run(tf.constant(["a", "b"])).dtype), str(sess.run(tf.constant(True))))
    note(v1.get_default_session() is None)
    inter = v1.InteractiveSession()
    note(str(tf.constant(2.).eval()), v1.get_default_session() is inter)
    inter.close()
    note(v1.get_default_session() is None)


def scopes(tf, v1, note):
    ones = tf.keras.initializers.Ones()
    with v1.variable_scope("a") as a:
        w = v1.get_variable("w", [2], initializer=ones)
        note(a.name, a.original_name_scope, w.name, tf.Variable(1., name="v").name, tf.constant(1.).name, a.reuse)
        with v1.variable_scope("b"):
            note(v1.get_variable("w", [2], initializer=ones).name, tf.constant(1.).name, v1.get_variable_scope().name)
        with v1.name_scope("n"):
            note(v1.get_variable("u", [2], initializer=ones).name, tf.constant(1.).name)
    with v1.variable_scope("a", reuse=True) as again:
        note(v1.get_variable("w", [2]) is w, tf.constant(1.).name, again.original_name_scope)
        attempt(note, lambda: v1.get_variable("zz", [2]))
        attempt(note, lambda: v1.get_variable("w", [3]))
        attempt(note, lambda: v1.get_variable("w", [2], dtype=tf.int32))
    with v1.variable_scope("a"):
        attempt(note, lambda: v1.get_variable("w", [2]))
    with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
        note(v1.get_variable("w", [2]) is w, v1.get_variable("new", [2], initializer=ones).name)
    with v1.variable_scope(a, reuse=True):
        note(v1.get_variable("w", [2]) is w, tf.constant(1.).name)
    with v1.variable_scope(a, auxiliary_name_scope=False):
        note(tf.constant(1.).name)
    for _ in range(2):
        with v1.variable_scope(None, default_name="d"):
            note(v1.get_variable("w", [2], initializer=ones).name, tf.constant(1.).name)
    with v1.variable_scope("x/y"):
        note(v1.get_variable("w", [2], initializer=ones).name)
    attempt(note, lambda: v1.get_variable("q"))
    attempt(note, lambda: v1.get_variable("q", initializer=[1., 2., 3.]).shape)
    attempt(note, lambda: v1.get_variable("i", [3], dtype=tf.int32).dtype)
    attempt(note, lambda: v1.get_variable("k2", [2], initializer=tf.zeros([2])))
    note([v.name for v in v1.global_variables()], [v.name for v in v1.trainable_variables("a/b")], v1.local_variables())
    local = v1.get_local_variable("l", [2], initializer=ones)
    note(local.name, local.trainable, [v.name for v in v1.local_variables()], local in v1.global_variables())
    with v1.variable_scope("reg", regularizer=lambda v: tf.reduce_sum(v * v), initializer=ones):
        v1.get_variable("r", [2])
    note(len(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)))
    v1.add_to_collection("mine", 7)
    note(v1.get_collection("mine"), sorted(v1.get_default_graph().get_all_collection_keys()))
    missing = v1.report_uninitialized_variables()
    with v1.Session() as sess:
        note([n.decode() for n in sess.run(missing)])
        sess.run(v1.global_variables_initializer())
        note([n.decode() for n in sess.run(missing)], str(sess.run(v1.is_variable_initialized(w))))
        sess.run(v1.local_variables_initializer())
        note([n.decode() for n in sess.run(missing)], str(sess.run(w)))


def graphs(tf, v1, note):
    g = tf.Graph()
    with g.as_default():
        with g.control_dependencies([tf.constant(1., name="cc")]):
            i = tf.identity(2., name="i")
            j = tf.add(i, 1., name="j")
        note([x.name for x in i.op.control_inputs], [x.name for x in j.op.control_inputs])
        with g.name_scope("s") as scope:
            note(scope)
        with g.name_scope(scope) as again:
            note(again)
        with g.name_scope(None) as none:
            note(none)
        with v1.name_scope(None, "def", [1]) as default:
            note(default)
        attempt(note, lambda: g.name_scope("bad name").__enter__())
        note(tf.Variable(1., name="s").name, tf.Variable(1.).name, tf.Variable(1.).name)
        note(g.unique_name("j"), g.unique_name("J", False), g.unique_name("k"), g.get_name_scope())
        note([n.name for n in g.as_graph_def().node][:4], g.as_graph_def().node[1].op, str(g.as_graph_def().node[1].attr["T"].type))
        note(j.op.get_attr("T").name, str(list(j.op.node_def.input)))
    definition = g.as_graph_def()
    with tf.Graph().as_default() as h:
        note(str(tf.import_graph_def(definition)), [o.name for o in h.get_operations()][:4])
        made = tf.import_graph_def(definition, name="", return_elements=["i:0", "j"])
        note(made[0].name, made[1].name, [x.name for x in made[0].op.control_inputs])
        mapped = tf.import_graph_def(definition, name="z", input_map={"i:0": tf.constant(7.)}, return_elements=["j:0"])
        note(mapped[0].name, [x.name for x in mapped[0].op.inputs], str(v1.Session().run(mapped)))
        attempt(note, lambda: tf.import_graph_def(definition, return_elements=["nope"]))
        attempt(note, lambda: tf.import_graph_def(definition, input_map={"nope:0": tf.constant(1.)}))


def steps(tf, v1, note):
    """Runs in several steps, runs that are traced, threads, and the texts of errors and nodes."""
    a, b, c = [v1.placeholder(tf.float32, [], name=n) for n in "abc"]
    first = a + b
    drawn = first + tf.random.uniform([], seed=1)
    second = first * c
    third = drawn * c

    def begun(fetches, feeds):
        handle = sess.partial_run_setup(fetches, feeds)
        return lambda *args, **kwargs: sess.partial_run(handle, *args, **kwargs)
    with v1.Session() as sess:
        run = begun([first, second], [a, b, c])
        note(str(run(first, feed_dict={a: 1, b: 2})), str(run([second], feed_dict={"c:0": 5.})))
        attempt(note, lambda: run(second, feed_dict={c: 5.}))
        attempt(note, lambda: sess.partial_run("none", second))
        run = begun([first, second], [a, b, c])
        attempt(note, lambda: run(second, feed_dict={a: 1.}))
        attempt(note, lambda: run({"k": first}, feed_dict={a: 1., b: 1.}))
        attempt(note, lambda: run(first, feed_dict={a: 1., b: 1.}))
        attempt(note, lambda: run([second], feed_dict={c: 3.}))
        run = begun([first], [a, b, c])
        attempt(note, lambda: run(second, feed_dict={a: 1., b: 1., c: 1.}))
        attempt(note, lambda: sess.partial_run_setup([], [a]))
        run = begun([drawn, third], [a, b, c])
        one, two = run(drawn, feed_dict={a: 1., b: 1.}), run(third, feed_dict={c: 2.})
        note(bool(abs(two - 2 * one) < 1e-6))
        metadata = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        note(str(sess.run(second, {a: 1., b: 2., c: 3.}, options=options, run_metadata=metadata)))
        stats = metadata.step_stats.dev_stats
        note([d.device for d in stats], any(n.node_name.startswith("mul") and n.all_start_micros > 10 ** 15 for d in stats for n in d.node_stats))
        sess.run(first, {a: 1., b: 2.}, run_metadata=metadata)
        note(str(metadata))
        attempt(note, lambda: sess.run(first, {a: 1., b: 2.}, options=3))
        call = sess.make_callable(first, [a, b], accept_options=True)
        note(str(call(1., 2.)), str(call(1., 2., options=v1.RunOptions())))
        try:
            sess.run(tf.gather([1., 2.], tf.cast(first, tf.int32) + [0], name="g"), {a: 3, b: 4})
        except tf.errors.InvalidArgumentError as e:
            text = [line.replace(__file__, "FILE") for line in str(e).split("\n") if line.strip() and ("File" not in line or line.endswith("in steps"))]
            note(e.op.name, e.node_def.name, str(e.error_code), text)
    import threading
    found = []
    thread = threading.Thread(target=lambda: found.append((tf.executing_eagerly(), tf.constant(1.).graph is v1.get_default_graph(),
                                                           v1.get_default_graph() is first.graph, v1.get_default_session())))
    thread.start()
    thread.join()
    note(str(found))
    product = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), name="m")
    note(str(product.op.node_def), str(product.op), repr(product.op), str(a.op.node_def))


PROGRAMS = [operations, errors, running, scopes, graphs, steps]


def run(program, tf):
    """What a program notes, run in a graph of its own."""
    notes = []
    with tf.Graph().as_default():
        program(tf, tf.compat.v1, lambda *values: notes.append([v if isinstance(v, (str, list, bool)) or v is None else str(v) for v in values]))
    return notes
