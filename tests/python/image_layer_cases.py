"""Layers for images: sizes, crops, and changes by chance, whose numbers for a seed are Keras's."""
import os
import tempfile

import numpy as np

X = (np.sin(np.arange(2 * 6 * 5 * 3) * 1.3) * 100 + 120).reshape(2, 6, 5, 3).astype(np.float32)


def layers(tf):
    """Names to functions that make a layer."""
    L = tf.keras.layers
    made = {"Resizing": lambda: L.Resizing(4, 7), "Resizing nearest": lambda: L.Resizing(4, 7, "nearest"), "Resizing crop": lambda: L.Resizing(4, 2, crop_to_aspect_ratio=True),
            "Resizing larger crop": lambda: L.Resizing(9, 12, "Bicubic", crop_to_aspect_ratio=True), "Rescaling": lambda: L.Rescaling(1. / 255, -.5),
            "CenterCrop": lambda: L.CenterCrop(3, 2), "CenterCrop larger": lambda: L.CenterCrop(8, 3), "CenterCrop same": lambda: L.CenterCrop(6, 5),
            "RandomCrop": lambda: L.RandomCrop(3, 2, seed=3), "RandomCrop larger": lambda: L.RandomCrop(4, 9, seed=3), "RandomCrop same": lambda: L.RandomCrop(6, 5, seed=3),
            "RandomHeight": lambda: L.RandomHeight((.3, .9), seed=4), "RandomHeight nearest": lambda: L.RandomHeight(.5, "nearest", seed=1),
            "RandomWidth": lambda: L.RandomWidth(.5, seed=4), "RandomWidth area": lambda: L.RandomWidth((-.4, -.1), "area", seed=4),
            "RandomContrast": lambda: L.RandomContrast(.5, seed=4), "RandomContrast pair": lambda: L.RandomContrast((.2, .9), seed=5),
            "RandomBrightness": lambda: L.RandomBrightness(.3, seed=4), "RandomBrightness range": lambda: L.RandomBrightness([.5, .1], value_range=[0, 100], seed=4)}
    for mode in ("horizontal", "vertical", "horizontal_and_vertical"):
        for seed in (1, 2):
            made["RandomFlip %s %d" % (mode, seed)] = lambda mode=mode, seed=seed: L.RandomFlip(mode, seed=seed)
    for fill in ("reflect", "wrap", "constant", "nearest"):
        for method in ("nearest", "bilinear"):
            how = dict(fill_mode=fill, interpolation=method, fill_value=7.5)
            made["RandomRotation %s %s" % (fill, method)] = lambda how=how: L.RandomRotation(.3, seed=7, **how)
            made["RandomZoom %s %s" % (fill, method)] = lambda how=how: L.RandomZoom((.2, .6), seed=8, **how)
            made["RandomZoom both %s %s" % (fill, method)] = lambda how=how: L.RandomZoom(.5, (-.4, .1), seed=8, **how)
            made["RandomTranslation %s %s" % (fill, method)] = lambda how=how: L.RandomTranslation(.4, (-.5, .3), seed=9, **how)
    made["RandomRotation pair"] = lambda: L.RandomRotation((.1, .2), seed=2)
    return made


def cases(tf):
    out = {}
    k = tf.keras
    L = k.layers
    x = tf.constant(X)
    some = ("Resizing", "Resizing crop", "CenterCrop", "CenterCrop larger", "RandomCrop", "RandomHeight", "RandomWidth", "RandomContrast", "RandomBrightness",
            "RandomFlip horizontal_and_vertical 1", "RandomRotation reflect bilinear", "RandomZoom reflect bilinear", "RandomTranslation wrap nearest", "Rescaling")
    for name, make in layers(tf).items():
        def several(make=make):
            layer = make()
            return [layer(x), layer(x), layer(x, training=True) if "Random" in type(layer).__name__ else layer(x)]
        out[name] = several
        if name not in some:
            continue
        random = name.startswith("Random")

        def quiet(make=make):
            return make()(x, training=False)
        if random:
            out[name + " not training"] = quiet

        def single(make=make):
            return make()(x[0])
        out[name + " of one image"] = single
        for dtype in ("uint8", "int32"):
            def whole(make=make, dtype=dtype):
                made = make()(tf.cast(x, dtype))
                return [made, made.dtype.name]
            out[name + " of " + dtype] = whole

        def traced(make=make):
            layer = make()
            call = tf.function(layer)
            return [call(x), call(x)]
        out[name + " traced"] = traced

        def unknown(make=make):
            layer = make()
            call = tf.function(lambda v: layer(v), input_signature=[tf.TensorSpec([None, None, None, 3])])
            return [call(x), call(x[:1]), list(call.get_concrete_function().outputs[0].shape)]
        out[name + " of unknown sizes"] = unknown

        def mapped(make=make):
            layer = make()
            return list(tf.data.Dataset.from_tensor_slices(X).batch(1).map(layer))
        out[name + " in a dataset"] = mapped

        def gradient(make=make):
            layer = make()
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(layer(x) ** 2)
            return tape.gradient(y, x)
        out[name + " gradient"] = gradient

        def shape(make=make):
            return [list(make().compute_output_shape((None, 6, 5, 3))), list(make().compute_output_shape((6, 5, 3)))]
        out[name + " shape"] = shape

        def config(make=make):
            layer = make()
            again = type(layer).from_config(layer.get_config())
            config = again.get_config()
            config.pop("name")
            return [sorted(config), [repr(config[key]).replace("ListWrapper(", "").rstrip(")").lstrip("(") for key in sorted(config)], again(x)]
        out[name + " config"] = config

        def saved(ending, make=make):
            model = k.Sequential([k.Input((6, 5, 3)), make(), L.Flatten()] if "RandomH" not in name and "RandomW" not in name else [k.Input((6, 5, 3)), make()])
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model" + ending)
                model.save(path)
                other = k.models.load_model(path)
            return [other(x, training=False), model.predict(X, verbose=0), len(model.weights), [list(s) for s in (model.output_shape,)]]
        for ending in (".keras", ".h5", ""):
            out[name + " saved " + (ending or "SavedModel")] = lambda ending=ending, make=make, saved=saved: saved(ending, make)

    def fitted():
        k.utils.set_random_seed(5)
        model = k.Sequential([k.Input((6, 5, 3)), L.Rescaling(.01), L.RandomFlip("horizontal", seed=1), L.RandomRotation(.2, seed=2), L.RandomZoom(.2, seed=3), L.Flatten(),
                              L.Dense(1, kernel_initializer="ones")])
        model.compile(k.optimizers.SGD(1e-5), "mse")
        history = model.fit(X, np.ones((2, 1)), epochs=3, verbose=0, shuffle=False)
        return [history.history["loss"], model.evaluate(X, np.ones((2, 1)), verbose=0), model(x, training=False)]
    out["fit"] = fitted

    def seeded():
        k.utils.set_random_seed(5)
        return [L.RandomRotation(.2)(x), L.RandomFlip()(x)]
    out["seeds of their own"] = seeded
    errors = {"flip": lambda: L.RandomFlip("diagonal"), "rotation": lambda: L.RandomRotation((.3, .1)), "fill": lambda: L.RandomRotation(.1, fill_mode="mirror"),
              "interpolation": lambda: L.RandomZoom(.1, interpolation="cubic"), "zoom": lambda: L.RandomZoom(1.5), "zoom width": lambda: L.RandomZoom(.5, -2.),
              "translation": lambda: L.RandomTranslation(1.2, .1), "translation width": lambda: L.RandomTranslation(.1, (.3, .2)), "contrast": lambda: L.RandomContrast(-.1),
              "contrast pair": lambda: L.RandomContrast((1.1, .1)), "brightness": lambda: L.RandomBrightness(1.1), "brightness three": lambda: L.RandomBrightness((.1, .2, .3)),
              "brightness range": lambda: L.RandomBrightness(.1, value_range=5), "brightness text": lambda: L.RandomBrightness("a"), "height": lambda: L.RandomHeight((.3, .1)),
              "width": lambda: L.RandomWidth(-1.5), "resizing": lambda: L.Resizing(2, 3, "cubic"), "height method": lambda: L.RandomHeight(.1, "cubic"),
              "flip rank": lambda: L.RandomFlip()(tf.zeros([3, 4])), "brightness rank": lambda: L.RandomBrightness(.1)(tf.zeros([3, 4])),
              "resizing rank": lambda: L.Resizing(2, 3)(tf.zeros([3, 4]))}
    out.update({"error " + name: make for name, make in errors.items()})
    old = k.layers.experimental.preprocessing
    out["aliases"] = lambda: [getattr(old, name) is getattr(L, name) for name in (
        "Resizing", "Rescaling", "CenterCrop", "RandomCrop", "RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomHeight", "RandomWidth")]
    return out
