"""Makes tests/golden/keras_functional/keras_functional.json (JSON text, summaries, values and gradients of functional models) and a checkpoint
of one of them. Run under TensorFlow 2.15."""
import json
import os
import sys

HERE = os.path.join(os.path.dirname(__file__), "..", "python")
sys.path.insert(0, HERE)
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402
import keras_models  # noqa: E402
import golden  # noqa: E402

out = {}
for name, make in keras_models.FUNCTIONAL.items():
    tf.keras.backend.clear_session()
    model = make(tf)
    keras_models.set_weights(model, numpy)
    x = keras_models.inputs(model, numpy)
    with tf.GradientTape() as tape:
        y = tf.nest.flatten(model(x))
        loss = sum(tf.reduce_sum(v * v) for v in y)
    gradients = tape.gradient(loss, model.trainable_variables)
    summaries = [keras_models.lines(model, dict(a)) for a in keras_models.SUMMARIES if not ("positions" in a and name == "chain")]
    out[name] = {"json": model.to_json(), "summaries": summaries, "values": [v.numpy().tolist() for v in y],
                 "gradients": [None if g is None else float(tf.reduce_sum(g)) for g in gradients], "weights": [w.name for w in model.weights],
                 "layers": [layer.name for layer in model.layers]}
    if name == "several":
        model.save_weights(golden.path(__file__, "keras_functional_several"))
os.remove(golden.path(__file__, "checkpoint"))
with open(golden.path(__file__, "keras_functional.json"), "w") as file:
    json.dump(out, file, indent=0)
