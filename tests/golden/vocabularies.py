"""Models with vocabularies that TensorFlow 2.15.1 learnt and wrote: tests/golden/vocabularies/NAME.keras, one SavedModel, and expected.json with what they give."""
import json
import os
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import golden

TEXTS = ["The quick fox", "the dog!", "fox"]
k = tf.keras
LAYERS = {
    "text": (k.layers.TextVectorization(output_mode="tf_idf"), TEXTS, [["fox the cat"]]),
    "sequence": (k.layers.TextVectorization(output_sequence_length=4, ngrams=2), TEXTS, [["fox the dog"]]),
    "words": (k.layers.StringLookup(mask_token=""), np.array([["a", "b"], ["a", "c"]]), [["a", "z"], ["", "c"]]),
    "numbers": (k.layers.IntegerLookup(output_mode="count"), np.array([[3, 4], [4, 9]]), [[4, 1], [9, 9]]),
}
expected = {}
for name, (layer, data, x) in LAYERS.items():
    layer.adapt(data)
    x = tf.constant(x, tf.int64 if name == "numbers" else tf.string)
    inputs = k.Input(x.shape[1:], dtype=x.dtype)
    model = k.Model(inputs, layer(inputs))
    model.save(golden.path(__file__, name + ".keras"))
    values = x.numpy().tolist()
    expected[name] = {"x": values if name == "numbers" else [[v.decode() for v in row] for row in values], "y": model(x).numpy().tolist(),
                      "vocabulary": [str(w) for w in layer.get_vocabulary()]}
    if name == "text":
        shutil.rmtree(golden.path(__file__, name), ignore_errors=True)
        model.save(golden.path(__file__, name))
with open(golden.path(__file__, "expected.json"), "w") as file:
    json.dump(expected, file, indent=1)
