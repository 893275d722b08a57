"""keras.backend beyond single ops, FeatureSpace, metrics that are merged, the steps of models as functions, floatx."""
import contextlib

import numpy as np


def numbers(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float32) * .7).reshape(shape)


def products(tf, case):
    K = tf.keras.backend
    for a, b, axes in (((2, 3), (2, 3), None), ((2, 3), (2, 3, 4), None), ((2, 3, 4), (2, 4), None), ((2, 3, 4), (2, 4, 5), None), ((2, 3, 4), (2, 3, 5), 1),
                       ((2, 3, 4), (2, 3), (1, -1)), ((2, 3, 4, 5), (2, 6, 4), (2, 2)), ((2,), (2, 3), None), ((2, 3), (3, 3), None), ((2, 3), (2, 4), None),
                       ((2, 3), (2, 3), 0), ((2, 3), (2, 3), ((1, 2), 1))):
        case("batch_dot %s %s %s" % (a, b, axes), lambda a=a, b=b, axes=axes: K.batch_dot(tf.constant(numbers(*a)), tf.constant(numbers(*b)), axes))
    case("batch_dot of inputs", lambda: K.batch_dot(K.placeholder((None, 3, 4)), K.placeholder((None, 4, 5))).shape.as_list())
    x, y = tf.constant(numbers(2, 3)), tf.constant(numbers(2, 3) + 1)
    case("switch one", lambda: [K.switch(tf.constant(v), lambda: x, y) for v in (True, False)])
    case("switch each", lambda: K.switch(x > 0, x, y))
    case("switch wide", lambda: K.switch(tf.constant([[1., 0., 1.], [0., 0., 2.]]), tf.constant(numbers(2, 3, 2)), tf.constant(numbers(2, 3, 2)) * 2))
    case("switch rank", lambda: K.switch(tf.constant([[True]]), tf.constant([1.]), tf.constant([2.])))
    case("fold", lambda: [K.foldl(lambda a, b: a - b, x), K.foldr(lambda a, b: a - b, x), K.foldl(lambda a, b: a - b, x, initializer=tf.ones(3))])
    case("in_top_k", lambda: K.in_top_k(x, tf.constant([0, 2]), 2))
    case("moving_average_update", lambda: (lambda v: (K.moving_average_update(v, tf.constant([2., 3.]), .75), v.numpy())[1])(tf.Variable([1., 5.])))
    for logits in (False, True):
        p = tf.constant(numbers(2, 3) if logits else np.array([[.2, .5, .3], [.6, .1, .3]], np.float32))
        target = tf.constant([[0., 1., 0.], [1., 0., 0.]])
        case("binary_focal %s" % logits, lambda p=p, l=logits, t=target: [K.binary_focal_crossentropy(t, p, from_logits=l),
                                                                         K.binary_focal_crossentropy(t, p, True, .3, 1.5, from_logits=l)])
        case("categorical_focal %s" % logits, lambda p=p, l=logits, t=target: K.categorical_focal_crossentropy(t, p, .3, 1.5, from_logits=l))


def convolutions(tf, case):
    K = tf.keras.backend
    x, k = tf.constant(numbers(2, 5, 6, 3)), tf.constant(numbers(3, 2, 3, 4))
    for padding in ("valid", "same"):
        for given in ({}, {"strides": (2, 1)}, {"dilation_rate": (2, 2)}):
            case("conv2d %s %s" % (padding, given), lambda p=padding, g=given: K.conv2d(x, k, padding=p, **g))
        case("conv1d " + padding, lambda p=padding: K.conv1d(x[:, 0], k[:, 0], 1, p))
        case("conv3d " + padding, lambda p=padding: K.conv3d(tf.constant(numbers(1, 4, 4, 3, 2)), tf.constant(numbers(2, 2, 2, 2, 3)), padding=p))
        case("depthwise " + padding, lambda p=padding: K.depthwise_conv2d(x, k, padding=p))
        case("separable " + padding, lambda p=padding: K.separable_conv2d(x, k[..., :2], tf.constant(numbers(1, 1, 6, 5)), padding=p))
        for mode in ("max", "avg"):
            case("pool2d %s %s" % (padding, mode), lambda p=padding, m=mode: K.pool2d(x, (2, 3), (2, 1), p, pool_mode=m))
            case("pool3d %s %s" % (padding, mode), lambda p=padding, m=mode: K.pool3d(tf.constant(numbers(1, 4, 5, 3, 2)), (2, 2, 2), padding=p, pool_mode=m))
    case("conv1d causal", lambda: K.conv1d(x[:, 0], k[:, 0], padding="causal", dilation_rate=2))
    case("conv2d_transpose", lambda: K.conv2d_transpose(x, tf.constant(numbers(3, 2, 4, 3)), (2, 11, 12, 4), (2, 2)))
    case("conv2d_transpose batch", lambda: K.conv2d_transpose(x, tf.constant(numbers(3, 2, 4, 3)), (None, 5, 6, 4), padding="same"))
    case("local_conv1d", lambda: K.local_conv1d(tf.constant(numbers(2, 5, 2)), tf.constant(numbers(4, 4, 3)), (2,), (1,)))
    case("local_conv2d", lambda: K.local_conv2d(tf.constant(numbers(2, 4, 6, 2)), tf.constant(numbers(6, 8, 3)), (2, 2), (2, 2), (2, 3)))
    for how in ("nearest", "bilinear"):
        case("resize_images " + how, lambda how=how: K.resize_images(x, 2, 3, "channels_last", how))
    case("resize_images first", lambda: K.resize_images(x, 2, 1, "channels_first"))
    case("resize_images odd", lambda: K.resize_images(x, 2, 1, "channels_last", "odd"))
    case("resize_volumes", lambda: K.resize_volumes(tf.constant(numbers(1, 2, 2, 3, 2)), 1, 2, 2, "channels_last"))
    case("spatial_3d_padding", lambda: K.spatial_3d_padding(tf.constant(numbers(1, 2, 2, 1, 2)), ((1, 0), (0, 1), (1, 1))))
    case("padding wrong", lambda: K.conv2d(x, k, padding="odd"))
    case("pool mode wrong", lambda: K.pool2d(x, (2, 2), pool_mode="odd"))
    case("normalize rows", lambda: list(K.normalize_batch_in_training(tf.constant(numbers(4, 3)), tf.ones(3), tf.zeros(3), [0])))
    case("normalize images", lambda: list(K.normalize_batch_in_training(x, tf.constant([1., 2., 3.]), tf.zeros(3), [0, 1, 2])))
    case("normalize middle", lambda: list(K.normalize_batch_in_training(tf.constant(numbers(2, 3, 4)), tf.ones(3), tf.zeros(3), [0, 2])))
    case("batch_normalization", lambda: K.batch_normalization(x, tf.ones(3), tf.ones(3) * 2, tf.ones(3), tf.ones(3) * 3))


def sequences(tf, case):
    K = tf.keras.backend
    x = tf.constant(numbers(2, 3, 2))
    mask = tf.constant([[True, True, False], [True, False, True]])

    def step(value, states):
        made = value + states[0] * 2
        return made, [made]
    for label, given in {"plain": {}, "backwards": {"go_backwards": True}, "mask": {"mask": mask}, "zeros": {"mask": mask, "zero_output_for_mask": True},
                         "unroll": {"unroll": True, "mask": mask}, "last": {"return_all_outputs": False}}.items():
        case("rnn " + label, lambda given=given: [tf.nest.flatten(part) for part in K.rnn(step, x, [tf.zeros((2, 2))], **given)])
    case("rnn time first", lambda: list(K.rnn(step, tf.transpose(x, [1, 0, 2]), [tf.zeros((2, 2))], time_major=True)[:2]))


def functions(tf, case):
    K, k = tf.keras.backend, tf.keras

    def of_model():
        x = k.Input((3,))
        both, one = K.function([x], [x * 2, x + 1]), K.function([x], [x * 2])
        single = K.function(x, x * 3)
        given = np.ones((1, 3), np.float32)
        return both([given]), one([given]), single(given)
    case("function", of_model)
    case("function updates", lambda: K.function([k.Input((3,))], [k.Input((3,))], updates=[1]))
    case("is_keras_tensor", lambda: [K.is_keras_tensor(k.Input((3,))), K.is_keras_tensor(tf.ones(3))])
    case("is_keras_tensor array", lambda: K.is_keras_tensor(np.ones(3)))
    case("placeholder", lambda: [K.placeholder((None, 3)).shape.as_list(), K.placeholder(ndim=2, dtype="int32").dtype.name])
    case("gradients", lambda: K.gradients(tf.ones(1), [tf.ones(1)]))
    case("print_tensor", lambda: K.print_tensor(tf.constant([1., 2.]), "values "))
    case("bernoulli", lambda: [float(tf.reduce_mean(K.random_bernoulli((2000,), p))) for p in (0., 1.)])
    case("variables", lambda: [K.random_uniform_variable((2,), 1., 1., seed=3).numpy(), K.random_normal_variable((2,), 4., 0., seed=3).numpy()])

    def phases():
        seen = []
        with K.learning_phase_scope(1):
            seen.append(int(K.learning_phase()))
        return seen + [int(K.learning_phase())]
    case("learning_phase_scope", phases)

    @contextlib.contextmanager
    def floats(dtype):
        k.mixed_precision.set_global_policy(None)  # one that somebody set counts more
        K.set_floatx(dtype)
        try:
            yield
        finally:
            K.set_floatx("float32")

    def wide():
        with floats("float64"):
            model = k.Sequential([k.layers.Dense(2, input_shape=(3,), kernel_initializer="ones"), k.layers.Dense(1, kernel_initializer="ones")])
            model.compile("sgd", "mse", metrics=["mae"])
            history = model.fit(np.arange(12.).reshape(4, 3) / 12, np.ones((4, 1)), epochs=2, shuffle=False, verbose=0).history
            return ([w.dtype.name for w in model.weights], [m.dtype for m in model.metrics], history["loss"], model.predict(np.ones((1, 3)), verbose=0).dtype.name,
                    K.floatx(), K.ones((1,)).dtype.name, k.initializers.Ones()((1,)).dtype.name, k.layers.Dense(1).dtype, K.variable(1.).dtype.name,
                    K.cast_to_floatx([1]).dtype.name, k.mixed_precision.global_policy().name, k.Input((2,)).dtype.name)
    case("floatx", wide)
    case("floatx wrong", lambda: K.set_floatx("int8"))

    def steps():
        model = k.Sequential([k.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile(k.optimizers.SGD(.1), "mse", metrics=["mae"])
        data = tf.data.Dataset.from_tensor_slices((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))).batch(2)
        it = iter(data)
        train, test, predict = model.make_train_function(), model.make_test_function(), model.make_predict_function()
        first = train(it)
        model.reset_metrics()
        return first, test(it), predict(iter(data.map(lambda x, y: (x,)))), train is model.make_train_function(), model.get_weights()
    case("steps", steps)

    def compiled():
        model = k.Sequential([k.layers.Dense(1, input_shape=(2,))])
        before = model.get_compile_config()
        model.compile("adam", "mse", metrics=["mae"], loss_weights=2.)
        config = model.get_compile_config()
        again = k.Sequential([k.layers.Dense(1, input_shape=(2,))])
        again.compile_from_config(config)
        return before, config, again.loss, type(again.optimizer).__name__, model.jit_compile, model.autotune_steps_per_execution
    case("compile config", compiled)
    case("to_yaml", lambda: k.Sequential([k.layers.Dense(1)]).to_yaml())

    def merged():
        first, second, mean = k.metrics.AUC(num_thresholds=5), k.metrics.AUC(num_thresholds=5), [k.metrics.Mean() for _ in range(3)]
        first.update_state([0, 1, 1], [.2, .7, .4])
        second.update_state([0, 0, 1], [.6, .1, .9])
        first.merge_state([second])
        for i, m in enumerate(mean):
            m.update_state([i, 2. * i])
        mean[0].merge_state(mean[1:])
        return first.result(), mean[0].result(), [w.numpy() for w in mean[0].weights]
    case("merge_state", merged)
    for size in (2, 3, 4, 5):
        case("RadialConstraint %d" % size, lambda size=size: k.constraints.RadialConstraint()(tf.constant(numbers(size, size, 2, 2))))
    case("RadialConstraint rank", lambda: k.constraints.RadialConstraint()(tf.ones((3, 3))))


def spaces(tf, case):
    k = tf.keras
    space = k.utils.FeatureSpace
    table = {"age": np.array([20., 30., 40., 50.], np.float32), "size": np.array([.1, .4, .5, .9], np.float32), "city": np.array(["a", "b", "a", "c"]),
             "code": np.array([3, 5, 3, 7]), "zip": np.array([11, 12, 13, 11]), "word": np.array(["x", "y", "z", "x"])}
    kinds = {"age": "float_normalized", "size": "float_rescaled", "city": "string_categorical", "code": "integer_categorical"}

    def encoded(mode="concat", single=False, features=None, **more):
        def run():
            made = space(features() if features else dict(kinds, zip=space.integer_hashed(4), word=space.string_hashed(5),
                                                          extra=space.float_discretized(3)), output_mode=mode, **more)
            data = dict(table, extra=table["size"])
            data = {name: data[name] for name in made.features}
            dataset = tf.data.Dataset.from_tensor_slices(data)
            made.adapt(dataset if single else dataset.batch(2))
            result = made({name: value[1] for name, value in data.items()} if single else data)
            inputs, outputs = made.get_inputs(), made.get_encoded_features()
            model = k.Model(inputs, outputs)
            whole = model({name: value[:, None] for name, value in data.items()})
            return result, whole, sorted(inputs)
        return run
    case("space concat", encoded())
    case("space dict", encoded("dict"))
    case("space single", encoded(single=True))
    case("space crosses", encoded(crosses=[("city", "code"), space.cross(("zip", "word"), 6)], crossing_dim=8))
    case("space float", encoded(features=lambda: {"age": "float", "size": space.float_rescaled(2., 1.)}))
    case("space int", encoded("dict", features=lambda: {"city": space.string_categorical(output_mode="int"), "code": space.integer_categorical(num_oov_indices=2)}))
    case("space unencoded", encoded(features=lambda: {"city": space.string_categorical(output_mode="int")}))
    case("space empty", lambda: space({}))
    case("space kind", lambda: space({"a": "odd"}))
    case("space mode", lambda: space({"a": "float"}, output_mode="odd"))
    case("space unadapted", lambda: space({"a": "float_normalized"}).get_inputs())
    case("space cross unknown", lambda: space({"a": "float"}, crosses=[("a", "b")]))
    case("space call", lambda: space({"a": "float"})([1]))


def cases(tf):
    out = {}

    def case(name, function):
        out[name] = function
    for part in (products, convolutions, sequences, functions, spaces):
        part(tf, case)
    return out
