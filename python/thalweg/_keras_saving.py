"""Keras models in HDF5 files: how Python's compile and custom objects come into the loading, which is C's."""
import thalweg as tf
from thalweg import _keras_objects as _objects

keras = tf.keras


def _own(value, custom):
    """Names that mean the program's own functions and classes, replaced by these."""
    if isinstance(value, str):
        return custom(value) or value
    if isinstance(value, dict):
        return {key: _own(item, custom) for key, item in value.items()}
    return [_own(item, custom) for item in value] if isinstance(value, (list, tuple)) else value


def _compile(model, filepath, what):
    """Compiles a model as it was when it was saved; whether it was."""
    training = keras.models._training_of(filepath)
    if training is None:
        if what:
            tf.get_logger().warning("No training configuration found in %s, so the model was *not* compiled. Compile it manually." % what)
        return False
    names = _objects.get_registered_object
    model.compile(**{key: _own(value, names) if key != "optimizer" else value for key, value in training.items()})
    return True


def load_h5(filepath, compile, safe_mode=True):
    """The model of an HDF5 or a .keras file, compiled as it was."""
    model = keras.models._load_model(filepath, False, bool(safe_mode))
    if compile and _compile(model, filepath, None if filepath.endswith(".keras") else "the save file"):
        model._load_optimizer(filepath)
    return model


def load_directory(filepath, compile, options):
    """The model of a SavedModel, compiled as it was; its optimizer begins anew, as in Keras. A SavedModel without Keras objects is loaded as such."""
    if not keras.models._object_count(filepath):
        return tf.saved_model.load(filepath, options=options)
    model = keras.models._load_model(filepath, False, not options.trusted)
    if compile:
        _compile(model, filepath, "save file")
    return model


keras.saving.load_model, keras.saving.save_model = keras.models.load_model, keras.models.save_model
