"""How layers are called: `training` and `mask` by position, by name or from around, of one tensor and of structures; positions in layers of the library; passes of `adapt`
and of training over a shuffled dataset; first states of recurrent layers."""
import numpy as np


def shown(tf, value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, dict):
        return {k: shown(tf, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [shown(tf, v) for v in value]
    return tf.cast(value, tf.int32).numpy().tolist()


def own_layers(tf, log):
    layers = tf.keras.layers

    class Inner(layers.Layer):
        def call(self, x, training=None):
            log.append(["inner", shown(tf, training)])
            return x

    class Base(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def seen(self, x, *values):
            log.append([shown(tf, v) for v in values])
            self.inner(tf.nest.flatten(x)[0])
            return tf.nest.flatten(x)[0] * 1

        def call(self, x, training=None, mask=None):
            return self.seen(x, training, mask)

    class MaskFirst(Base):
        def call(self, x, mask, training=False):
            return self.seen(x, training, mask)

    class Anything(Base):
        def call(self, x, *args, **kwargs):
            return self.seen(x, list(args), dict(sorted(kwargs.items())))

    class TwoInputs(Base):
        def call(self, x, y, mask=None):
            return self.seen(x, mask) + y

    class Supporting(Base):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

    class Computing(Base):
        def compute_mask(self, inputs, mask=None):
            log.append(["compute_mask", shown(tf, mask)])
            return None

    class NamesOnly(Base):
        def call(self, x, *, training=True, mask=None):
            return self.seen(x, training, mask)

    class Neither(Base):
        def call(self, x):
            return self.seen(x)

    class Building(Base):
        def build(self, shape):
            log.append(["build", type(shape).__name__])
            super().build(shape)

    return [Base, MaskFirst, Anything, TwoInputs, Supporting, Computing, NamesOnly, Neither, Building]


def own_cases(tf, out):
    log = []
    embed = tf.keras.layers.Embedding(5, 2, mask_zero=True)
    plain, own = tf.ones([1, 2, 2]), tf.constant([[True, True]])
    first, second = (lambda: embed(np.array([[1, 0]]))), (lambda: embed(np.array([[0, 2]])))
    calls = {
        "plain": lambda f: f(plain), "masked": lambda f: f(first()), "list": lambda f: f([first(), second()]), "list of one mask": lambda f: f([plain, second()]),
        "tuple": lambda f: f((first(), plain)), "dict": lambda f: f({"a": first(), "b": second()}), "list without masks": lambda f: f([plain, plain]),
        "True": lambda f: f(first(), True), "False": lambda f: f(plain, False), "None": lambda f: f(plain, None), "True mask": lambda f: f(first(), True, own),
        "training=True": lambda f: f(first(), training=True), "training=None": lambda f: f(plain, training=None), "mask=": lambda f: f(first(), mask=own),
        "mask=None": lambda f: f(first(), mask=None), "mask=list": lambda f: f([first(), second()], mask=[own, None]),
    }

    class Outer(tf.keras.Model):
        def __init__(self, inner, how):
            super().__init__()
            self.inner, self.how = inner, how

        def call(self, x, training=None):
            self.how(self.inner)
            return x

    def case(cls, how, outer):
        def run():
            log.clear()
            try:
                result = how(cls()) if outer is None else Outer(cls(), how)(plain, training=outer)
                log.append(["mask", shown(tf, getattr(result, "_keras_mask", None)) if outer is None else None])
            except TypeError:
                log.append("TypeError")
            return [str(entry) for entry in log]
        return run

    for cls in own_layers(tf, log):
        for name, how in calls.items():
            if cls.__name__ == "MaskFirst" and name == "True mask":
                continue  # a mask for `training`
            for outer in (None, True, False):
                out["own %s %s %s" % (cls.__name__, name, outer)] = case(cls, how, outer)


def library_cases(tf, out):
    """Positional `training` of the library's layers: whether something random or learnt happened."""
    k = tf.keras
    pictures = np.arange(2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3)
    rows = np.ones((4, 6), np.float32)
    steps = np.ones((2, 5, 3), np.float32)
    made = {
        "Dropout": (lambda: k.layers.Dropout(.5), rows), "SpatialDropout1D": (lambda: k.layers.SpatialDropout1D(.5), steps),
        "SpatialDropout2D": (lambda: k.layers.SpatialDropout2D(.5), pictures), "GaussianNoise": (lambda: k.layers.GaussianNoise(1.), rows),
        "GaussianDropout": (lambda: k.layers.GaussianDropout(.5), rows), "AlphaDropout": (lambda: k.layers.AlphaDropout(.5), rows),
        "BatchNormalization": (lambda: k.layers.BatchNormalization(), rows), "RandomFlip": (lambda: k.layers.RandomFlip(seed=1), pictures),
        "RandomRotation": (lambda: k.layers.RandomRotation(.3, seed=1), pictures), "RandomContrast": (lambda: k.layers.RandomContrast(.3, seed=1), pictures),
        "RandomCrop": (lambda: k.layers.RandomCrop(4, 4, seed=1), pictures), "RandomZoom": (lambda: k.layers.RandomZoom(.3, seed=1), pictures),
        "Sequential": (lambda: k.Sequential([k.layers.Dropout(.5)]), rows), "TimeDistributed": (lambda: k.layers.TimeDistributed(k.layers.Dropout(.5)), steps),
        "Dense": (lambda: k.layers.Dense(2), rows), "Flatten": (lambda: k.layers.Flatten(), pictures),
    }

    def functional(x, layer, value):
        inputs = k.Input(x.shape[1:])
        return k.Model(inputs, layer(inputs, value))(x, training=not value)

    for name, (make, x) in made.items():
        for value in (True, False):
            def case(make=make, x=x, value=value, how=lambda x, layer, value: layer(x, value)):
                k.utils.set_random_seed(3)
                return how(x, make(), value)
            out["library %s %s" % (name, value)] = case
            out["library %s %s functional" % (name, value)] = lambda case=case: case(how=functional)


def pass_cases(tf, out):
    """How many orders of a shuffled dataset are used up."""
    layers = tf.keras.layers

    def numbers():
        return tf.data.Dataset.range(40).shuffle(40, seed=2).batch(8)

    def passes(use):
        def run():
            tf.keras.utils.set_random_seed(5)
            data = numbers()
            orders = [np.concatenate([b.numpy() for b in data]).tolist() for _ in range(6)]
            tf.keras.utils.set_random_seed(5)
            data = numbers()
            use(data)
            return orders.index(np.concatenate([b.numpy() for b in data]).tolist())
        return run

    def model():
        made = tf.keras.Sequential([layers.Dense(1, input_shape=(1,))])
        made.compile("sgd", "mse")
        return made

    def floats(data):
        return data.map(lambda x: tf.cast(x, tf.float32))

    def pairs(data):
        return floats(data).map(lambda x: (x[:, None] / 40, x[:, None] / 40))

    uses = {
        "Normalization": lambda d: layers.Normalization(axis=None).adapt(floats(d)), "Normalization axis": lambda d: layers.Normalization().adapt(floats(d).map(lambda x: x[:, None])),
        "Discretization": lambda d: layers.Discretization(num_bins=3).adapt(floats(d)), "IntegerLookup": lambda d: layers.IntegerLookup(max_tokens=8).adapt(d),
        "StringLookup": lambda d: layers.StringLookup(output_mode="one_hot").adapt(d.map(tf.as_string)),
        "TextVectorization": lambda d: layers.TextVectorization(output_mode="tf_idf").adapt(d.map(tf.as_string)),
        "steps": lambda d: layers.Normalization(axis=None).adapt(d, steps=2), "all steps": lambda d: layers.Normalization(axis=None).adapt(d, steps=5),
        "fit": lambda d: model().fit(pairs(d), epochs=2, verbose=0), "fit steps": lambda d: model().fit(pairs(d), epochs=2, steps_per_epoch=2, verbose=0),
        "fit all steps": lambda d: model().fit(pairs(d), epochs=2, steps_per_epoch=5, verbose=0), "evaluate": lambda d: model().evaluate(pairs(d), verbose=0),
        "evaluate steps": lambda d: model().evaluate(pairs(d), steps=2, verbose=0), "predict": lambda d: model().predict(pairs(d), verbose=0),
        "validation": lambda d: model().fit(pairs(numbers()), validation_data=pairs(d), epochs=2, verbose=0),
    }
    for name, use in uses.items():
        out["passes %s" % name] = passes(use)


def state_cases(tf, out):
    layers = tf.keras.layers
    made = {"LSTM": lambda **a: layers.LSTM(3, **a), "GRU": lambda **a: layers.GRU(3, **a), "SimpleRNN": lambda **a: layers.SimpleRNN(3, **a),
            "RNN": lambda **a: layers.RNN(layers.LSTMCell(2), **a), "stacked": lambda **a: layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)], **a)}
    for name, make in made.items():
        for major in (False, True):
            def case(make=make, major=major):
                layer, x = make(time_major=major, return_state=True), tf.ones([4, 5, 2])
                states = layer.get_initial_state(x)
                traced = tf.function(lambda x: tf.nest.flatten(layer.get_initial_state(x)), input_signature=[tf.TensorSpec([None, None, 2])])(x)
                return [type(states).__name__, [list(s.shape) for s in tf.nest.flatten(states)], [s.dtype.name for s in tf.nest.flatten(states)],
                        [list(s.shape) for s in traced], list(layer(x, initial_state=states)[0].shape)]
            out["first states %s %s" % (name, "time first" if major else "batch first")] = case


def own_cell_cases(tf, out):
    """Cells of the program's own that say what a sequence begins with."""
    layers = tf.keras.layers

    class Cell(layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.units = self.state_size = units

        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="ones", name="kernel")
            self.built = True

        def call(self, inputs, states):
            h = tf.matmul(inputs, self.kernel) + states[0]
            return h, [h]

        def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
            return tf.fill([batch_size, self.units], tf.cast(5, dtype))

    class Beginning(layers.SimpleRNNCell):
        def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
            return [tf.fill([batch_size, self.units], tf.cast(2, dtype))]

    made = {"own": lambda: Cell(2), "subclass": lambda: Beginning(2, kernel_initializer="ones", recurrent_initializer="ones"),
            "stacked": lambda: [Cell(2), Beginning(3, kernel_initializer="ones", recurrent_initializer="ones"), Cell(1)]}
    for name, make in made.items():
        for major in (False, True):
            def case(make=make, major=major):
                layer, x = layers.RNN(make(), return_state=True, time_major=major), tf.ones([2, 3, 2])
                traced = tf.function(lambda x: tf.nest.flatten(layer(x)), input_signature=[tf.TensorSpec([None, None, 2])])
                return [tf.nest.flatten(layer(x)), traced(x), tf.nest.flatten(layer.get_initial_state(x)), tf.nest.flatten(layer(x, initial_state=layer.get_initial_state(x)))]
            out["cell %s %s" % (name, "time first" if major else "batch first")] = case


def cases(tf):
    out = {}
    own_cases(tf, out)
    library_cases(tf, out)
    pass_cases(tf, out)
    state_cases(tf, out)
    own_cell_cases(tf, out)
    return out
