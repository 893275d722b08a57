"""keras.export.ExportArchive: functions of models as a SavedModel, each an endpoint with a signature."""
import thalweg as tf


class ExportArchive:
    """Collects endpoints, and the objects whose variables they use, and writes them out as one SavedModel."""

    def __init__(self):
        self._module = tf.Module()
        self._endpoint_names, self._endpoint_signatures, self._tracked = [], {}, []

    @property
    def variables(self):
        """All variables of what is tracked."""
        return self._all("variables")

    @property
    def trainable_variables(self):
        """Those that training changes."""
        return self._all("trainable_variables")

    @property
    def non_trainable_variables(self):
        """The others."""
        return self._all("non_trainable_variables")

    def _all(self, kind):
        found = []
        for resource in self._tracked:
            found += [v for v in getattr(resource, kind, ()) if not any(v is o for o in found)]
        return found

    def track(self, resource):
        """Keeps a layer, a model, a table or another object with variables."""
        if not isinstance(resource, (tf.Module, tf.keras.layers.Layer, tf.Variable, tf.lookup.StaticHashTable)) and not hasattr(resource, "_trackable_children"):
            raise ValueError("Invalid resource type. Expected an instance of a TensorFlow `Trackable` (such as a Keras `Layer` or `Model`). Received instead an "
                             "object of type '%s'. Object received: %s" % (type(resource), resource))
        if isinstance(resource, tf.keras.layers.Layer) and not resource.built:
            raise ValueError("The layer provided has not yet been built. It must be built before export.")
        self._tracked.append(resource)
        self._module._tracked = list(self._tracked)

    def add_endpoint(self, name, fn, input_signature=None):
        """A function under a name; the signature says what it is called with, unless it is a tf.function that was called."""
        if name in self._endpoint_names:
            raise ValueError("Endpoint name '%s' is already taken." % name)
        if input_signature:
            function = tf.function(fn, input_signature=input_signature)
            self._endpoint_signatures[name] = input_signature
        elif hasattr(fn, "get_concrete_function"):
            if getattr(fn, "input_signature", None) is None and not fn._list_all_concrete_functions():
                raise ValueError("The provided tf.function '%s' has never been called. To specify the expected shape and dtype of the function's arguments, you "
                                 "must either provide a function that has been called at least once, or alternatively pass an `input_signature` argument in "
                                 "`add_endpoint()`." % fn)
            function = fn
        else:
            raise ValueError("If the `fn` argument provided is not a `tf.function`, you must provide an `input_signature` argument to specify the shape and "
                             "dtype of the function arguments. Example:\n\nexport_archive.add_endpoint(\n    name='call',\n    fn=model.call,\n    "
                             "input_signature=[\n        tf.TensorSpec(\n            shape=(None, 224, 224, 3),\n            dtype=tf.float32,\n        )\n"
                             "    ],\n)")
        setattr(self._module, name, function)
        self._endpoint_names.append(name)

    def add_variable_collection(self, name, variables):
        """A list of variables that the SavedModel has under a name."""
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError("Expected `variables` to be a list/tuple/set. Received instead object of type '%s'." % type(variables))
        if not all(isinstance(v, tf.Variable) for v in variables):
            raise ValueError("Expected all elements in `variables` to be `tf.Variable` instances. Found instead the following types: %s"
                             % list({type(v) for v in variables}))
        setattr(self._module, name, list(variables))

    def _signature(self, name):
        function = getattr(self._module, name)
        if name in self._endpoint_signatures or getattr(function, "input_signature", None) is not None:
            return function.get_concrete_function()
        return function._list_all_concrete_functions()[0]

    def write_out(self, filepath, options=None):
        """Writes the SavedModel; the first endpoint, or `serving_default`, is the default signature."""
        if not self._endpoint_names:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        for kind in ("variables", "trainable_variables", "non_trainable_variables"):
            if self._tracked and not hasattr(type(self._module), kind):
                setattr(self._module, kind, self._all(kind))
        signatures = {name: self._signature(name) for name in self._endpoint_names}
        signatures.setdefault("serving_default", signatures[self._endpoint_names[0]])
        tf.saved_model.save(self._module, filepath, signatures=signatures, options=options)
        print("Saved artifact at '%s'. The following endpoints are available:\n" % filepath)
        for name in self._endpoint_names:
            print("* Endpoint '%s'\n%s\n" % (name, signatures[name].pretty_printed_signature()))
