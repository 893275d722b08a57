"""What layers do at their edges: ragged and sparse tensors, Lambda, InputSpec, arguments that all layers take, what layers answer about themselves.

`tf` is TensorFlow (tests/golden/layer_edges.py) or thalweg (test_layer_edges.py); `cases` gives name -> function without arguments, whose result is compared."""
import numpy as np


def values(*shape):
    return np.round(np.sin(np.arange(np.prod(shape)) * 0.7 + 0.3) * 2, 2).astype(np.float32).reshape(shape)


def settle(layer, *call):
    """The layer with weights of its own, after a first call."""
    layer(*call)
    layer.set_weights([values(*w.shape) for w in layer.get_weights()])
    return layer


def told(value):
    """As JSON text has it: arrays as dtype, shape and values, ragged tensors as lists."""
    if isinstance(value, dict):
        return {str(k): told(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(v) for v in value]
    if hasattr(value, "to_list"):
        return {"ragged": value.to_list()}
    if hasattr(value, "numpy") or isinstance(value, np.ndarray):
        array = np.asarray(value)
        return {"dtype": str(array.dtype), "shape": list(array.shape), "values": [float("%.6g" % v) for v in array.astype(np.float64).ravel()]}
    if hasattr(value, "as_list"):
        return value.as_list()
    return value if value is None or isinstance(value, (bool, int, float, str)) else type(value).__name__


def cases(tf):
    k, L = tf.keras, tf.keras.layers
    out = {}
    rows = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], [[0.5, 0.25], [1.0, 1.5], [2.0, 2.5]]], ragged_rank=1)
    words = tf.ragged.constant([[1, 2], [3], [0, 4, 1]])
    flat = tf.ragged.constant([[1.0, 2.0], [3.0]])
    matrix = tf.sparse.from_dense(values(2, 3) * (values(2, 3) > 0))
    x, steps = values(2, 3), values(2, 3, 4)
    mask = tf.constant([[True, True, False], [True, False, False]])

    def case(name, body):
        out[name] = body

    # ragged and sparse tensors, at once and in models
    case("embedding ragged", lambda: L.Embedding(5, 2, embeddings_initializer="ones")(words))
    case("dense ragged", lambda: settle(L.Dense(2), rows)(rows))
    case("dense sparse", lambda: settle(L.Dense(2, activation="relu"), matrix)(matrix))

    def sparse_gradient():
        layer = settle(L.Dense(2), matrix)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(matrix) ** 2)
        return [tf.convert_to_tensor(g) for g in tape.gradient(loss, layer.trainable_variables)]  # Keras's are slices
    case("dense sparse gradient", sparse_gradient)
    for name in ("LSTM", "GRU", "SimpleRNN"):
        for options in ({}, {"return_sequences": True}, {"return_state": True}, {"go_backwards": True}):
            case("%s ragged %s" % (name, options), lambda name=name, options=options: settle(getattr(L, name)(2, **options), rows)(rows))

    case("bidirectional ragged", lambda: settle(L.Bidirectional(L.LSTM(2)), rows)(rows))
    case("bidirectional ragged sequences", lambda: settle(L.Bidirectional(L.GRU(2, return_sequences=True)), rows)(rows))
    case("activation ragged", lambda: [L.Activation("relu")(rows), L.ReLU(2.0)(rows)])

    def model(shape, layer, given, **options):
        first = k.Input(shape, **options)
        made = k.Model(first, layer(first))
        made.set_weights([values(*w.shape) for w in made.get_weights()])
        return [made(given), tf.function(made)(given), list(made.inputs[0].shape), made.inputs[0].dtype.name]
    case("model embedding", lambda: model((None,), L.Embedding(5, 2), words, ragged=True, dtype=tf.int32))
    case("model lstm", lambda: model((None, 2), L.LSTM(2), rows, ragged=True))
    case("model lstm sequences", lambda: model((None, 2), L.LSTM(2, return_sequences=True), rows, ragged=True))
    case("model dense ragged", lambda: model((None, 2), L.Dense(3), rows, ragged=True))
    case("model dense sparse", lambda: model((3,), L.Dense(2), matrix, sparse=True))
    case("model lambda", lambda: model((None,), L.Lambda(lambda t: t.to_tensor()), flat, ragged=True))

    def chain():
        first = k.Input((None,), ragged=True, dtype=tf.int64)
        y = L.Dense(1)(L.LSTM(3)(L.Embedding(5, 2)(first)))
        made = k.Model(first, y)
        made.set_weights([values(*w.shape) for w in made.get_weights()])
        return [made(tf.cast(words, tf.int64)), [layer.output_shape for layer in made.layers[1:]]]
    case("model of three", chain)

    def vectorize():
        first = k.Input((), dtype=tf.string)
        made = k.Model(first, L.TextVectorization(vocabulary=["a", "b"], ragged=True)(first))
        return made(tf.constant(["a b", "b"]))
    case("model text ragged", vectorize)

    def look_up():
        first = k.Input((1,), dtype=tf.string)
        y = L.Dense(2, kernel_initializer="ones")(L.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot", sparse=True)(first))
        return k.Model(first, y)(tf.constant([["a"], ["c"]]))
    case("model lookup sparse", look_up)
    case("input config", lambda: [{n: v for n, v in t._keras_history[0].get_config().items() if n != "name"}
                                  for t in (k.Input((3,), sparse=True), k.Input((None, 2), ragged=True, dtype="int32"), k.Input(batch_shape=(2, 3)))])
    case("input of tensor", lambda: (lambda t: [list(t.shape), t.dtype.name])(k.Input(tensor=tf.constant(x))))
    case("input of spec", lambda: [[list(t.shape), t.dtype.name] for t in (k.Input(type_spec=tf.TensorSpec((None, 3), tf.float64)), k.Input(type_spec=tf.RaggedTensorSpec((None, None), tf.int32)),
                                                                           k.Input(type_spec=tf.SparseTensorSpec((None, 4), tf.float32)))])

    def ragged_json():
        first = k.Input((None,), ragged=True, dtype=tf.int32, name="in")
        made = k.Model(first, L.LSTM(2, name="l")(L.Embedding(5, 2, name="e")(first)), name="m")
        again = k.models.model_from_json(made.to_json())
        again.set_weights([values(*w.shape) for w in again.get_weights()])
        return again(words)
    case("ragged model from json", ragged_json)

    # Lambda
    def lambda_list():
        a, b = k.Input((3,)), k.Input((3,))
        return k.Model([a, b], L.Lambda(lambda t: t[0] * t[1])([a, b]))([x, x + 1])
    case("lambda list", lambda_list)
    case("lambda gives two", lambda: L.Lambda(lambda t: (t + 1, [t * 2]))(x))
    case("lambda arguments", lambda: L.Lambda(lambda t, a, b=1.0: t * a + b, arguments={"a": 3.0, "b": 0.5})(x))
    case("lambda mask", lambda: L.Lambda(lambda t: t * 2, mask=lambda t, m: tf.logical_not(m))(L.Masking()(values(2, 3, 4) * mask.numpy()[..., None]))._keras_mask)
    case("lambda drops mask", lambda: getattr(L.Lambda(lambda t: t * 2)(L.Masking()(values(2, 3, 4) * mask.numpy()[..., None])), "_keras_mask", None))

    def trained(t, mask=None, training=None):
        return t * (2.0 if training else 1.0)
    case("lambda training", lambda: [L.Lambda(trained)(x, training=True), L.Lambda(trained)(x)])
    case("lambda output shape", lambda: [L.Lambda(lambda t: t, output_shape=lambda s: (s[0], 7)).compute_output_shape((2, 3)), L.Lambda(lambda t: t, output_shape=(5, 6)).compute_output_shape((2, 3))])

    def distance(pair):
        return tf.sqrt(tf.reduce_sum(tf.square(pair[0] - pair[1]), 1, keepdims=True))

    def siamese():
        a, b, base = k.Input((3,)), k.Input((3,)), L.Dense(2, kernel_initializer="ones")
        made = k.Model([a, b], L.Lambda(distance, output_shape=lambda s: (s[0][0], 1))([base(a), base(b)]))
        return made([x, x * 2])
    case("siamese", siamese)

    def fitted():
        first = k.Input((None,), ragged=True, dtype=tf.int64)
        made = k.Model(first, L.Dense(1)(L.LSTM(3)(L.Embedding(5, 2)(first))))
        made.set_weights([values(*w.shape) for w in made.get_weights()])
        made.compile("sgd", "mse")
        data = tf.data.Dataset.from_tensor_slices((tf.cast(words, tf.int64), tf.constant([1.0, 2.0, 3.0]))).batch(3)
        history = made.fit(data, epochs=2, verbose=0).history["loss"]
        return [history, made.predict(data, verbose=0), made.evaluate(data, verbose=0)]
    case("fit of ragged", fitted)

    def sequential():
        made = k.Sequential([k.Input((None,), ragged=True, dtype=tf.int64), L.Embedding(5, 2), L.Bidirectional(L.LSTM(2)), L.Dense(1)])
        made.set_weights([values(*w.shape) for w in made.get_weights()])
        given = tf.cast(words, tf.int64)
        return [made(given), made.predict(tf.data.Dataset.from_tensor_slices(given).batch(2), verbose=0)]
    case("sequential of ragged", sequential)

    # what all layers take
    def regularized(make, given):
        layer = make(activity_regularizer=k.regularizers.L2(0.5))
        layer(given)
        return [layer.losses, "activity_regularizer" in layer.get_config()]
    for make, given in ((lambda **o: L.Flatten(**o), x), (lambda **o: L.ReLU(**o), x), (lambda **o: L.MaxPooling1D(**o), steps), (lambda **o: L.Dense(2, kernel_initializer="ones", **o), x),
                        (lambda **o: L.LayerNormalization(**o), x), (lambda **o: L.Dropout(0.5, **o), x)):
        case("activity regularizer %d" % len(out), lambda make=make, given=given: regularized(make, given))
    case("no initializer", lambda: [[list(w.shape) for w in settle(L.Dense(3, kernel_initializer=None, bias_initializer=None), x).weights],
                                    L.Dense(3, kernel_initializer=None, bias_initializer=None).get_config()["kernel_initializer"], float(tf.reduce_max(tf.abs(L.Dense(3)(x)))) > 0])
    case("no activation", lambda: settle(L.LSTM(2, activation=None, recurrent_activation=None), steps)(steps))
    case("autocast", lambda: settle(L.Dense(2), x)(tf.constant(x, tf.float64)).dtype.name)
    case("given weights", lambda: L.Dense(2, weights=[values(3, 2), values(2)])(x))
    case("synchronized", lambda: [L.BatchNormalization(synchronized=True)(x, training=True), L.experimental.SyncBatchNormalization()(values(2, 3, 3, 2), training=True)])

    # InputSpec
    def spec_texts():
        s = L.InputSpec(shape=(None, 3), dtype="float32", max_ndim=4, axes={-1: 3})
        return [repr(s), s.ndim, s.max_ndim, s.min_ndim, s.axes, s.get_config(), repr(L.InputSpec(ndim=2)), repr(L.InputSpec(min_ndim=2, axes={-1: 4})), list(s.shape)]
    case("input spec", spec_texts)

    class Picky(L.Layer):
        def __init__(self, spec, **options):
            super().__init__(**options)
            self.input_spec = spec

        def call(self, given):
            return given
    for name, spec, given in (("ndim", L.InputSpec(ndim=3), x), ("min", L.InputSpec(min_ndim=3), x), ("max", L.InputSpec(max_ndim=1), x), ("axis", L.InputSpec(min_ndim=2, axes={-1: 4}), x),
                              ("shape", L.InputSpec(shape=(None, 5)), x), ("fits", L.InputSpec(shape=(None, 3), axes={1: 3}), x), ("list", [L.InputSpec(ndim=3)], x)):
        case("spec " + name, lambda spec=spec, given=given: Picky(spec, name="picky")(given))

    def dense_spec():
        layer = L.Dense(3)
        layer.build((None, 4))
        return [layer.input_spec.min_ndim, layer.input_spec.axes]
    case("spec of dense", dense_spec)

    # answers
    def answers():
        first, layer = k.Input((4,)), L.Dense(3)
        layer(first)
        spec = layer.compute_output_signature(tf.TensorSpec((None, 4), tf.float32))
        return [layer.get_input_shape_at(0), layer.get_output_shape_at(0), list(spec.shape), spec.dtype.name, layer.dynamic, layer.updates]
    case("answers", answers)

    def built():
        layer = L.Dense(3)
        layer.build_from_config({"input_shape": (None, 4)})
        return [list(w.shape) for w in layer.weights]
    case("build from config", built)
    case("bad node", lambda: L.Dense(3, name="d").get_input_shape_at(0))
    case("initial state", lambda: [list(s.shape) for s in L.LSTM(2).get_initial_state(tf.constant(steps))])
    case("mean with mask", lambda: L.GlobalAveragePooling1D()(steps, mask=mask))
    case("softmax with mask", lambda: L.Softmax()(x, mask=mask))
    return out
