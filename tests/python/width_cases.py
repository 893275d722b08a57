"""Inputs of a wrong width: which shape the error tells, wherever a model meets them. TensorFlow's answers are in width_cases.json (tests/golden/tables.py)."""
import re

import numpy as np

X, Y = np.ones((4, 5), "float32"), np.ones((4, 1), "float32")


def cases(tf):
    """Names to functions."""
    keras = tf.keras

    def declared():
        return keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])

    def functional():
        inputs = keras.Input((3,))
        return keras.Model(inputs, keras.layers.Dense(1)(inputs))

    def built():
        model = keras.Sequential([keras.layers.Dense(1)])
        model(np.ones((2, 3), "float32"))
        return model

    data = tf.data.Dataset.from_tensor_slices((X, Y))
    calls = {
        "call": lambda m: m(X), "fit": lambda m: m.fit(X, Y, verbose=0), "evaluate": lambda m: m.evaluate(X, Y, verbose=0),
        "predict": lambda m: m.predict(X, verbose=0), "train_on_batch": lambda m: m.train_on_batch(X, Y), "test_on_batch": lambda m: m.test_on_batch(X, Y),
        "fit of equal batches": lambda m: m.fit(X, Y, batch_size=2, verbose=0), "fit of one batch": lambda m: m.fit(X, Y, batch_size=4, verbose=0),
        "fit of unequal batches": lambda m: m.fit(X, Y, batch_size=3, verbose=0), "predict of equal batches": lambda m: m.predict(X, batch_size=2, verbose=0),
        "evaluate of equal batches": lambda m: m.evaluate(X, Y, batch_size=2, verbose=0),
        "fit of batches": lambda m: m.fit(data.batch(2), verbose=0),
        "fit of whole batches": lambda m: m.fit(data.batch(2, drop_remainder=True), verbose=0),
        "predict of batches": lambda m: m.predict(data.batch(2).map(lambda x, y: x), verbose=0),
    }

    def told(make, call):
        model = make()
        model.compile("sgd", "mse")
        try:
            call(model)
        except ValueError as error:
            return re.findall(r"shape=?:? ?(\([^)]*\))", str(error))[-1]
        return "nothing"
    return {"%s: %s" % (kind, name): lambda make=make, call=call: told(make, call)
            for kind, make in (("declared", declared), ("functional", functional), ("built", built)) for name, call in calls.items()}
