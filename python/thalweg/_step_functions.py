"""How the steps of fit, evaluate and predict run: traced in C, at once, or by a function of the program's own (`make_train_function` that a subclass
overrides, `model.train_function` that was set); and layers that can't be traced (`dynamic=True`)."""
import thalweg as tf

Model = tf.keras.Model
KINDS = ("train", "test", "predict")
_AT_ONCE = 64  # in C's bits (TW_OWN_AT_ONCE), shifted by the kind


def forget(model):
    """What was made for the steps so far: compile begins anew."""
    for kind in range(len(KINDS)):
        _set(model, kind, None)


def _set(model, kind, function):
    name = KINDS[kind] + "_function"
    for part in ("_ways", "_made_functions"):
        model.__dict__.get(part, {}).pop(kind, None)
    model.__dict__[name] = function


def _own(model, kind):
    """The program's function for a kind of step, or None."""
    function = model.__dict__.get(KINDS[kind] + "_function")
    return None if function is model.__dict__.get("_made_functions", {}).get(kind) else function


def property_of(kind):
    def read(model):
        function = model.__dict__.get(KINDS[kind] + "_function")
        return model.__dict__.get("_made_functions", {}).get(kind) if function is None else function
    return property(read, lambda model, function: _set(model, kind, function), doc="The function that a step is a call of; None: not made yet.")


def make(model, kind, force):
    """The library's function of an iterator, made once; compile forgets it."""
    name = KINDS[kind] + "_function"
    made = getattr(model, name)
    if made is not None and not force:
        return made
    step = getattr(model, KINDS[kind] + "_step")

    def call(iterator):
        return step(next(iterator))
    made = call if model.run_eagerly else tf.function(call)
    _set(model, kind, None)
    model.__dict__.setdefault("_made_functions", {})[kind] = made
    return made


def prepare(model, *kinds):
    """C's bits for steps of these kinds. As in Keras, what run_eagerly says counts when a kind of step is made."""
    bits = 0
    for kind in kinds:
        name = "make_%s_function" % KINDS[kind]
        if getattr(type(model), name) is not getattr(Model, name):
            function = getattr(model, name)()
            if function is not model.__dict__.get("_made_functions", {}).get(kind):
                model.__dict__[KINDS[kind] + "_function"] = function
        ways = model.__dict__.setdefault("_ways", {})
        own = _own(model, kind) is not None
        if not own and kind not in ways:
            ways[kind] = bool(model.run_eagerly)
        bits |= (1 | _AT_ONCE) << kind if own else ways[kind] * _AT_ONCE << kind
    return bits


def call(model, kind, data):
    """A step by the program's own function, of an iterator over the one batch; (whether there is one, what it gives)."""
    function = _own(model, kind)
    return (False, None) if function is None else (True, function(iter(tf.data.Dataset.from_tensors(data))))


def runs_eagerly(model):
    dynamic, said = model.dynamic, model.__dict__.get("_run_eagerly")
    if dynamic and said is False:
        raise ValueError("Your model contains layers that can only be successfully run in eager execution (layers constructed with `dynamic=True`). "
                         "You cannot set `run_eagerly=False`.")
    return bool(dynamic or said or (said is None and tf.config.functions_run_eagerly()))


def set_run_eagerly(model, value):
    model.__dict__["_run_eagerly"] = value


def dynamic_outputs(layer, inputs):
    """What stands for the outputs of a layer that can't be traced, when it is called with Keras tensors."""
    if type(layer).compute_output_shape is tf.keras.layers.Layer.compute_output_shape:
        raise NotImplementedError("Please run in eager mode or implement the `compute_output_shape` method on your layer (%s)." % type(layer).__name__)
    shapes = tf.nest.map_structure(lambda value: value.shape, inputs)

    def is_shape(value):
        return isinstance(value, tf.TensorShape) or (isinstance(value, (list, tuple)) and all(v is None or isinstance(v, int) for v in value))

    def stand_in(value):
        if is_shape(value):
            return tf.raw_ops.Placeholder(dtype=layer.compute_dtype, shape=tf.TensorShape(value))
        return {key: stand_in(item) for key, item in value.items()} if isinstance(value, dict) else type(value)(stand_in(item) for item in value)
    return stand_in(layer.compute_output_shape(shapes))
