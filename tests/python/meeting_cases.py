"""Where features of Keras meet: masks, weights of samples and classes, several outputs, inner models, layers that are built late, states,
what is frozen, generators whose batches have unknown shapes."""
import numpy as np

WORDS = np.array([[1, 2, 0], [3, 0, 0], [2, 2, 1], [1, 1, 0], [3, 2, 1], [2, 0, 0]])
STEPS = np.array([[1, 0, 1], [2, 0, 0], [1, 2, 2], [0, 0, 1], [2, 1, 0], [1, 1, 1]])
ROWS = np.array([0, 2, 1, 1, 0, 2])
SAMPLES, EACH = np.arange(1., 7), np.arange(1., 19).reshape(6, 3)
SERIES = (np.arange(6 * 3 * 4, dtype=np.float32).reshape(6, 3, 4) * 7 % 11 - 5) / 6


def table(tf, *shape):
    return tf.keras.initializers.Constant(((np.arange(int(np.prod(shape)), dtype=np.float32) * 5 % 13) / 13 - .4).reshape(shape))


def two_heads(tf, kind):
    """Of words: one class per step and one per row."""
    k = tf.keras
    x = k.Input((3,), dtype="int32")
    h = k.layers.Embedding(4, 4, mask_zero=True, embeddings_initializer=table(tf, 4, 4))(x)
    if kind == "inner":
        h = k.Sequential([k.layers.Dense(4, kernel_initializer=table(tf, 4, 4)), k.layers.Activation("tanh")])(h)
    elif kind == "functional inner":
        i = k.Input((3, 4))
        h = k.Model(i, k.layers.Dense(4, kernel_initializer=table(tf, 4, 4))(i))(h)
    elif kind == "recurrent":
        h = k.layers.GRU(4, return_sequences=True, kernel_initializer=table(tf, 4, 12), recurrent_initializer=table(tf, 4, 12))(h)
    elif kind == "normalized":
        h = k.layers.BatchNormalization()(h)
    steps = k.layers.Dense(3, activation="softmax", kernel_initializer=table(tf, 4, 3), name="steps")(h)
    rows = k.layers.Dense(3, activation="softmax", kernel_initializer=table(tf, 4, 3), name="rows")(k.layers.GlobalAveragePooling1D()(h))
    return k.Model(x, [steps, rows])


def several_cases(tf, out):
    k = tf.keras
    weights = {"none": None, "steps": {"steps": EACH}, "rows": {"rows": SAMPLES}, "both": {"steps": EACH, "rows": SAMPLES}, "list": [SAMPLES, SAMPLES]}

    def program(kind, weight, way, eagerly=False, loss="sparse_categorical_crossentropy", **more):
        def run():
            m = two_heads(tf, kind)
            m.compile(k.optimizers.SGD(.5), loss, metrics=["accuracy"], weighted_metrics={"steps": ["accuracy"], "rows": ["sparse_categorical_crossentropy"]},
                      run_eagerly=eagerly, **more)
            y = {"steps": STEPS, "rows": ROWS} if weight != "list" else [STEPS, ROWS]
            w = weights[weight]
            data = (WORDS, y) if w is None else (WORDS, y, w)
            if way == "dataset":
                h = m.fit(tf.data.Dataset.from_tensor_slices(data).batch(4), epochs=2, verbose=0)
            elif way == "generator":
                def batches():
                    for i in (0, 4):
                        yield tf.nest.map_structure(lambda a: a[i:i + 4], data)
                h = m.fit(batches(), verbose=0)
            else:
                h = m.fit(WORDS, y, sample_weight=w, epochs=2, batch_size=4, shuffle=False, verbose=0, validation_data=data)
            return [h.history, m.evaluate(WORDS, y, sample_weight=w, batch_size=4, verbose=0, return_dict=True), m.train_on_batch(*data[:2], sample_weight=w)]
        return run
    for kind in ("plain", "inner", "functional inner", "recurrent", "normalized"):
        for weight in weights:
            out["two heads %s %s" % (kind, weight)] = program(kind, weight, "arrays")
    for weight in ("none", "both", "rows"):
        if weight != "rows":
            out["two heads dataset %s" % weight] = program("plain", weight, "dataset")
            out["two heads generator %s" % weight] = program("plain", weight, "generator")
        out["two heads eagerly %s" % weight] = program("plain", weight, "arrays", True)
        out["two heads loss weights %s" % weight] = program("plain", weight, "arrays", loss_weights={"rows": .25, "steps": 2.})
    out["two heads one loss"] = program("plain", "none", "arrays", loss={"rows": "sparse_categorical_crossentropy"})
    sums = k.losses.SparseCategoricalCrossentropy(reduction="sum")
    out["two heads sums"] = program("plain", "both", "arrays", loss=sums)

    def by_class(kind, way):
        def run():
            m = k.Sequential([k.layers.Embedding(4, 4, mask_zero=True, embeddings_initializer=table(tf, 4, 4), input_length=3),
                              k.layers.LSTM(3, kernel_initializer=table(tf, 4, 12), recurrent_initializer=table(tf, 3, 12)),
                              k.layers.Dense(3, activation="softmax", kernel_initializer=table(tf, 3, 3))])
            dense = kind == "dense"
            y = np.eye(3, dtype=np.float32)[ROWS] if dense else ROWS if kind == "vector" else ROWS[:, None]
            m.compile(k.optimizers.SGD(.5), ("" if dense else "sparse_") + "categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"])
            more = dict(class_weight={0: 1., 1: 2., 2: .5}, verbose=0, epochs=2)
            if way == "dataset":
                data = tf.data.Dataset.from_tensor_slices((WORDS, y)).batch(4)
                h = m.fit(data, validation_data=data, **more)
            else:
                h = m.fit(WORDS, y, validation_data=(WORDS, y), batch_size=4, shuffle=False, **more)
            return [h.history, m.train_on_batch(WORDS, y, class_weight={0: 1., 1: 2., 2: .5}), m.get_weights()]
        return run
    for kind in ("vector", "column", "dense"):
        for way in ("arrays", "dataset"):
            out["classes %s %s" % (kind, way)] = by_class(kind, way)
    out["classes of two outputs"] = lambda: compiled_two(tf).fit(WORDS, [STEPS, ROWS], class_weight={0: 1., 1: 2., 2: 3.}, verbose=0).history


def compiled_two(tf):
    m = two_heads(tf, "plain")
    m.compile("sgd", "sparse_categorical_crossentropy")
    return m


def recurrent_cases(tf, out):
    k = tf.keras

    def layer(cell, units=2, width=4, **more):
        n = {"SimpleRNN": 1, "GRU": 3, "LSTM": 4}[cell]
        return getattr(k.layers, cell)(units, kernel_initializer=table(tf, width, n * units), recurrent_initializer=table(tf, units, n * units), **more)

    def built(cell, way, eagerly=False, **more):
        def run():
            dense = k.layers.Dense(1, kernel_initializer="ones")
            if way == "deferred":
                m = k.Sequential([layer(cell, **more), dense])
            elif way == "behind dense":
                m = k.Sequential([k.layers.Dense(4, kernel_initializer=table(tf, 4, 4)), layer(cell, **more), dense])
            elif way == "masked":
                m = k.Sequential([k.layers.Masking(SERIES[0, 0, 0]), layer(cell, **more), dense])
            elif way == "two":
                m = k.Sequential([layer(cell, return_sequences=True, **more), layer(cell, width=2, **more), dense])
            elif way == "both ways":
                m = k.Sequential([k.layers.Bidirectional(layer(cell, **more)), dense])
            elif way == "inner":
                m = k.Sequential([k.Sequential([layer(cell, **more)]), dense])
            else:
                class Own(k.Model):
                    def __init__(self):
                        super().__init__()
                        self.cell, self.head = layer(cell, **more), dense

                    def call(self, x, training=None):
                        return self.head(self.cell(x, training=training))
                m = Own()
            m.compile(k.optimizers.SGD(.05), "mse", run_eagerly=eagerly)
            y = np.arange(6., dtype=np.float32)[:, None] / 6
            size = 2 if more.get("stateful") else 4
            h = m.fit(SERIES, y, epochs=2, batch_size=size, shuffle=False, verbose=0)
            results = [h.history, m.predict(SERIES, batch_size=size, verbose=0), m.evaluate(SERIES, y, batch_size=size, verbose=0)]
            if more.get("stateful"):
                m.reset_states()
                results.append(m.predict(SERIES, batch_size=size, verbose=0))
            return results + [m.train_on_batch(SERIES[:size], y[:size])]
        return run
    for cell in ("SimpleRNN", "GRU", "LSTM"):
        for way in ("deferred", "behind dense", "masked", "two", "both ways", "inner", "own"):
            out["late %s %s" % (cell, way)] = built(cell, way)
            if way not in ("both ways",):
                out["late stateful %s %s" % (cell, way)] = built(cell, way, stateful=True)
        out["late eagerly %s" % cell] = built(cell, "deferred", True)
        out["late stateful eagerly %s" % cell] = built(cell, "deferred", True, stateful=True)
        out["late backwards %s" % cell] = built(cell, "masked", go_backwards=True)
        out["late unrolled %s" % cell] = built(cell, "masked", unroll=True)

    def called(cell):
        def run():
            m = k.Sequential([layer(cell), k.layers.Dense(1, kernel_initializer="ones")])
            return [m(SERIES, training=True), m(SERIES[:1]), m(SERIES, mask=np.array(EACH % 3 > 0)), m(SERIES)]
        return run

    def given_masks(way):
        def run():
            mask, other = EACH % 3 > 0, EACH % 4 > 0
            x, z = k.Input((3, 4)), k.Input((3, 4))
            if way == "two inputs":
                m = k.Model([x, z], [layer("GRU")(x), layer("LSTM")(z)])
                given = lambda: [tf.constant(SERIES), tf.constant(SERIES)]  # TensorFlow leaves the masks with the tensors
                return [m(given(), mask=[mask, other]), m(given(), mask=[None, other]), m(given())]
            if way == "inner":
                m = k.Model(x, k.Model(z, layer("GRU")(k.layers.Dense(4, kernel_initializer=table(tf, 4, 4))(z)))(x))
            else:
                m = k.Model(x, layer("GRU")(k.layers.Dense(4, kernel_initializer=table(tf, 4, 4))(x)))
            return [m(SERIES, mask=mask), m(SERIES), m(tf.constant(SERIES), mask=tf.constant(other)), m(SERIES, mask=None)]
        return run
    for way in ("one input", "two inputs", "inner"):
        out["given masks, %s" % way] = given_masks(way)
    for cell in ("SimpleRNN", "GRU", "LSTM"):
        out["late called %s" % cell] = called(cell)


def frozen_cases(tf, out):
    k = tf.keras

    def program(kind, when, optimizer):
        def run():
            make = {"dense": lambda: k.layers.Dense(4, kernel_initializer=table(tf, 4, 4)), "norm": lambda: k.layers.BatchNormalization(),
                    "inner": lambda: k.Sequential([k.layers.Dense(4, kernel_initializer=table(tf, 4, 4)), k.layers.BatchNormalization()]),
                    "spread": lambda: k.layers.TimeDistributed(k.layers.Dense(4, kernel_initializer=table(tf, 4, 4)))}[kind]
            target, head = make(), k.layers.Dense(1, kernel_initializer="ones")
            m = k.Sequential([target, k.layers.GlobalAveragePooling1D(), head])
            m.build((None, 3, 4))
            if when == "before":
                target.trainable = False
            m.compile(optimizer=getattr(k.optimizers, optimizer)(.05), loss="mse")
            if when == "after":
                target.trainable = False
            y = np.arange(6., dtype=np.float32)[:, None]
            results = [m.fit(SERIES, y, batch_size=3, shuffle=False, verbose=0).history["loss"]]
            target.trainable = when == "thawed"
            if when in ("again", "thawed"):
                m.compile(optimizer=getattr(k.optimizers, optimizer)(.05), loss="mse")
            results.append(m.fit(SERIES, y, batch_size=3, shuffle=False, verbose=0).history["loss"])
            return results + [m.get_weights(), len(m.trainable_weights), len(m.non_trainable_weights), len(m.optimizer.variables)]
        return run
    for kind in ("dense", "norm", "inner", "spread"):
        for when in ("before", "after", "again", "thawed"):
            out["frozen %s %s" % (kind, when)] = program(kind, when, "SGD")
        if kind != "inner":  # a bias before a normalization: its gradient is noise, which Adam makes large
            out["frozen %s again Adam" % kind] = program(kind, "again", "Adam")


def generator_cases(tf, out):
    k = tf.keras
    pictures = (np.arange(8 * 5 * 5, dtype=np.float32).reshape(8, 5, 5, 1) * 7 % 11) / 11
    y = (np.arange(8) % 3).astype(np.int32)

    def layers(kind):
        dense = lambda *shape: k.layers.Dense(shape[-1], kernel_initializer=table(tf, *shape))
        return {"mlp": [k.layers.Flatten(), dense(25, 3)], "cnn": [k.layers.Conv2D(2, 3, kernel_initializer=table(tf, 3, 3, 1, 2)), k.layers.MaxPool2D(),
                                                                   k.layers.Flatten(), dense(2, 3)],
                "norm": [k.layers.BatchNormalization(), k.layers.Flatten(), dense(25, 3)],
                "rnn": [k.layers.Reshape((5, 5)), k.layers.GRU(2, kernel_initializer=table(tf, 5, 6), recurrent_initializer=table(tf, 2, 6)), dense(2, 3)]}[kind]

    def program(kind, way, source):
        def run():
            if way == "sequential":
                m = k.Sequential(layers(kind))
            elif way == "functional":
                m = k.Sequential([k.Input((5, 5, 1))] + layers(kind))
            else:
                class Own(k.Model):
                    def __init__(self):
                        super().__init__()
                        self.parts = layers(kind)

                    def call(self, x):
                        for part in self.parts:
                            x = part(x)
                        return x
                m = Own()
            m.compile(k.optimizers.SGD(.1), k.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])

            def batches():
                for size in ((0, 3), (3, 6), (6, 8)):
                    yield pictures[slice(*size)], y[slice(*size)]

            class Sized(k.utils.Sequence):
                def __len__(self):
                    return 3

                def __getitem__(self, i):
                    return pictures[3 * i:3 * i + 3], y[3 * i:3 * i + 3]
            make = {"generator": batches, "Sequence": Sized}[source]
            h = m.fit(make(), verbose=0, shuffle=False)
            return [h.history, m.evaluate(make(), verbose=0), m.predict(make(), verbose=0), [list(w.shape) for w in m.weights]]
        return run
    for kind in ("mlp", "cnn", "norm", "rnn"):
        for way in ("sequential", "functional", "own"):
            for source in ("generator", "Sequence"):
                out["%s %s %s" % (source, kind, way)] = program(kind, way, source)


def order_cases(tf, out):
    k = tf.keras
    norm, dense = lambda: k.layers.BatchNormalization(), lambda n=2: k.layers.Dense(n)
    forms = {"list": lambda: [norm(), dense(), norm()], "tuple": lambda: (norm(), dense()), "dict": lambda: {"b": norm(), "a": dense()},
             "nested": lambda: [[norm(), dense()], [norm()]], "inner": lambda: [k.Sequential([norm(), dense()]), dense(3)],
             "with variables": lambda: [norm(), tf.Variable([1.]), dense(), tf.Variable([1., 2.], trainable=False)]}

    def program(form, base, frozen):
        def run():
            class Own(base):
                def __init__(self):
                    super().__init__()
                    self.first, self.parts, self.last = norm(), forms[form](), dense(4)

                def call(self, x):
                    for part in [self.first] + [p for p in tf.nest.flatten(self.parts) if callable(p)] + [self.last]:
                        x = part(x)
                    return x
            m = Own()
            m(np.ones((2, 5), np.float32))
            if frozen == "layer":
                [p for p in tf.nest.flatten(m.parts) if callable(p)][0].trainable = False
            elif frozen == "all":
                m.trainable = False
            return [[[w.name.split("/")[-1], list(w.shape)] for w in list_] for list_ in (m.weights, m.trainable_weights, m.non_trainable_weights)]
        return run
    for form in forms:
        for base in (k.Model, k.layers.Layer):
            for frozen in ("none", "layer", "all"):
                out["order %s %s %s" % (form, base.__name__, frozen)] = program(form, base, frozen)


def cases(tf):
    out = {}
    for add in (several_cases, recurrent_cases, frozen_cases, generator_cases, order_cases):
        add(tf, out)
    return out
