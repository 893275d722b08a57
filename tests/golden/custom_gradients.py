"""Makes tests/golden/custom_gradients/: in models.zip SavedModels with gradients that users define, as TensorFlow 2.15.1 wrote them, and what they compute.

    functions/  the functions of tests/python/saved_gradient_cases.py, saved with experimental_custom_gradients
    unsaved/    two of them, saved without
    keras/      a Keras model with a layer that reverses gradients
    answers.json  per function value, gradient and second derivative, before saving

Run it with TensorFlow's Python: python tests/golden/custom_gradients.py"""
import json
import os
import shutil
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

ROOT = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(ROOT, "custom_gradients")
sys.path.insert(0, os.path.join(ROOT, "..", "python"))
import saved_gradient_cases as cases  # noqa: E402


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    with tempfile.TemporaryDirectory() as scratch:
        answers = save_all(scratch)
        with zipfile.ZipFile(os.path.join(HERE, "models.zip"), "w", zipfile.ZIP_LZMA) as archive:
            for folder, _, files in sorted(os.walk(scratch)):
                for file in sorted(files):
                    path = os.path.join(folder, file)
                    archive.write(path, os.path.relpath(path, scratch))
    with open(os.path.join(HERE, "answers.json"), "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in answers.items()) + "\n}\n")


def save_all(folder):
    model, more = cases.module(tf)
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(model, os.path.join(folder, "functions"), options=options, signatures={})
    few = tf.Module()
    few.plain, few.loop = model.plain, model.loop
    tf.saved_model.save(few, os.path.join(folder, "unsaved"), options=tf.saved_model.SaveOptions(experimental_custom_gradients=False), signatures={})
    answers = {name: cases.answer(tf, model, name) for name in cases.NAMES}
    answers.update({name: cases.answer(tf, more, name) for name in cases.MORE})
    keras = cases.keras_model(tf)
    answers["keras"] = cases.keras_answer(tf, keras)
    keras.save(os.path.join(folder, "keras"), save_format="tf")
    return answers


main()
