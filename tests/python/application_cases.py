"""keras.applications: every network's layers, names and weights, its arguments, and what it gives for known weights."""
import hashlib
import json

import numpy as np

NAMES = ["ResNet50", "ResNet50V2", "MobileNet", "MobileNetV2", "InceptionV3", "Xception", "DenseNet121", "EfficientNetB0", "EfficientNetV2B0", "EfficientNetV2S",
         "MobileNetV3Small", "MobileNetV3Large", "NASNetMobile", "InceptionResNetV2", "ConvNeXtTiny", "RegNetX002", "RegNetY004", "ResNetRS50"]
LARGER = ["ResNet101", "ResNet152V2", "DenseNet169", "DenseNet201", "EfficientNetB1", "EfficientNetB4", "EfficientNetV2B3", "EfficientNetV2M", "ConvNeXtSmall",
          "RegNetX016", "RegNetY008", "ResNetRS101", "ResNetRS200"]  # than the first of their family
SMALL = {"InceptionV3": 75, "Xception": 71, "InceptionResNetV2": 75}
PICTURES = (np.arange(2 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 3) * 37) % 256


def described(model):
    """The whole config as a digest, and what is short enough to read."""
    text = json.dumps(model.get_config(), sort_keys=True, default=lambda o: o.tolist() if hasattr(o, "tolist") else str(o))
    text = text.replace('"tensorflow.python.ops.init_ops_v2", "registered_name": "Constant"', '"keras.initializers", "registered_name": null')  # one class here
    text = text.replace('"config": {"value": 0}', '"config": {"value": 0.0}').replace('"offset": -1,', '"offset": -1.0,')  # numbers of layers are floats
    weights = hashlib.md5(json.dumps([[w.name, w.shape.as_list()] for w in model.weights]).encode()).hexdigest()
    return [model.name, len(model.layers), model.count_params(), str(model.input_shape), str(model.output_shape),
            hashlib.md5(text.encode()).hexdigest(), weights]


def filled(model):
    """Weights that every engine makes alike."""
    values = []
    for i, w in enumerate(model.weights):
        shape = w.shape.as_list()
        count = int(np.prod(shape))
        part = ((np.arange(count) * 7919 + i) % 1009 - 504) / 504
        fan = np.prod(shape[:-1]) if len(shape) > 1 else 8
        values.append((np.abs(part) + .5 if "variance" in w.name else part / np.sqrt(fan)).reshape(shape).astype(np.float32))
    model.set_weights(values)
    return model


def cases(tf):
    k, a = tf.keras, tf.keras.applications
    out = {}

    def case(name, function):
        def run():
            k.backend.clear_session()
            return function()
        out[name] = run

    for name in NAMES + LARGER:
        case(name, lambda name=name: described(getattr(a, name)(weights=None)))
    for name in NAMES:
        size = SMALL.get(name, 32)
        case(name + " without a top", lambda name=name: described(getattr(a, name)(weights=None, include_top=False)))
        case(name + " pooled", lambda name=name, size=size: described(
            getattr(a, name)(weights=None, include_top=False, input_shape=(size + 1, size, 3), pooling="max")))
        case(name + " classes", lambda name=name: described(getattr(a, name)(weights=None, classes=7, classifier_activation=None)))
    for name in ("VGG16", "VGG19"):
        case(name, lambda name=name: described(getattr(a, name)(weights=None, input_shape=(32, 32, 3), classes=5)))
        case(name + " without a top", lambda name=name: described(getattr(a, name)(weights=None, include_top=False, pooling="avg")))
    for name, more in {"MobileNet": {"alpha": .25, "dropout": .2, "depth_multiplier": 2}, "MobileNetV2": {"alpha": 1.4}}.items():
        case(name + " width", lambda name=name, more=more: described(getattr(a, name)(weights=None, **more)))
    for name, more in {"MobileNetV3Small": {"alpha": .75, "minimalistic": True, "dropout_rate": 0., "include_preprocessing": False}, "MobileNetV3Large": {"alpha": 1.25},
                       "EfficientNetB0": {"drop_connect_rate": .4}, "EfficientNetV2B0": {"include_preprocessing": False},
                       "ConvNeXtTiny": {"model_name": "own", "include_preprocessing": False}, "RegNetX002": {"model_name": "own", "include_preprocessing": False},
                       "ResNetRS50": {"include_preprocessing": False}, "EfficientNetV2B1": {"input_shape": (64, 64, 1)}, "ConvNeXtBase": {"input_shape": (64, 64, 1)}}.items():
        case(name + " otherwise", lambda name=name, more=more: described(getattr(a, name)(weights=None, **more)))
    case("MobileNetV2 narrow", lambda: described(a.MobileNetV2((160, 160, 1), .35, weights=None)))

    def inside(name):
        x = k.Input((64, 64, 3), name="picture")
        y = k.layers.Rescaling(2.)(x)
        return described(getattr(a, name)(weights=None, include_top=False, input_tensor=y))
    for name in ("VGG16", "MobileNetV2", "ResNet50", "EfficientNetB0", "MobileNetV3Small", "RegNetX002", "ConvNeXtTiny"):
        case(name + " on a tensor", lambda name=name: inside(name))

    def given(name, **more):
        size = SMALL.get(name, 32)
        model = filled(getattr(a, name)(weights=None, input_shape=(size, size, 3), classes=6, **more))
        picture = (np.arange(size * size * 3, dtype=np.float32).reshape(1, size, size, 3) * 31 % 255) / 255
        return np.round(model.predict(picture, verbose=0).astype(np.float64), 4)
    for name, more in {"MobileNet": {"alpha": .25}, "MobileNetV2": {"alpha": .35}, "ResNet50": {}, "ResNet50V2": {}, "DenseNet121": {}, "Xception": {},
                       "InceptionV3": {}, "EfficientNetB0": {}, "EfficientNetV2B0": {}, "MobileNetV3Small": {}, "NASNetMobile": {}, "RegNetY002": {}, "ResNetRS50": {},
                       "ConvNeXtTiny": {}, "InceptionResNetV2": {}}.items():
        case(name + " predicts", lambda name=name, more=more: given(name, **more))

    for module in ("vgg16", "vgg19", "resnet", "resnet50", "resnet_v2", "mobilenet", "mobilenet_v2", "inception_v3", "xception", "densenet", "efficientnet",
                   "efficientnet_v2", "mobilenet_v3", "nasnet", "inception_resnet_v2", "convnext", "regnet", "resnet_rs"):
        case(module + ".preprocess_input", lambda module=module: getattr(a, module).preprocess_input(PICTURES.copy()))
    for mode in ("caffe", "tf", "torch"):
        utils = a.imagenet_utils
        case("array " + mode, lambda mode=mode: utils.preprocess_input(PICTURES.astype(np.uint8), mode=mode))
        case("tensor " + mode, lambda mode=mode: utils.preprocess_input(tf.constant(PICTURES), mode=mode))
        case("doubles " + mode, lambda mode=mode: utils.preprocess_input(PICTURES.astype(np.float64), mode=mode))
        case("channels first " + mode, lambda mode=mode: utils.preprocess_input(PICTURES.transpose(0, 3, 1, 2).copy(), "channels_first", mode))
        case("one picture " + mode, lambda mode=mode: utils.preprocess_input(PICTURES[0].transpose(2, 0, 1).copy(), "channels_first", mode))
        case("symbolic " + mode, lambda mode=mode: str(utils.preprocess_input(k.Input((4, 4, 3)), mode=mode).shape))

    def in_place():
        x = PICTURES.copy()
        return a.vgg16.preprocess_input(x) is x, x
    case("arrays of floats are written over", in_place)

    wrong = {"weights": dict(weights="not there"), "classes": dict(weights="imagenet", classes=10), "shape": dict(weights="imagenet", input_shape=(100, 100, 3)),
             "small": dict(weights=None, input_shape=(10, 10, 3), include_top=False), "rank": dict(weights=None, input_shape=(10, 10), include_top=False),
             "open": dict(weights=None, input_shape=(None, None, 3)), "channels": dict(weights="imagenet", input_shape=(100, 100, 1), include_top=False)}
    for what, arguments in wrong.items():
        case("wrong " + what, lambda arguments=arguments: a.VGG16(**arguments))
    case("unknown argument", lambda: a.MobileNet(weights=None, foo=1))
    case("unexpected argument", lambda: a.Xception(weights=None, foo=1))
    case("unknown argument of EfficientNet", lambda: a.EfficientNetB0(weights=None, foo=1))
    case("small for MobileNetV3", lambda: a.MobileNetV3Small((20, 20, 3), weights=None))
    case("wrong input of MobileNetV3", lambda: a.MobileNetV3Small((96, 96, 3), weights=None, input_tensor=k.Input((64, 64, 3))))
    case("wrong mode", lambda: a.imagenet_utils.preprocess_input(PICTURES.copy(), mode="foo"))
    case("wrong format", lambda: a.imagenet_utils.preprocess_input(PICTURES.copy(), data_format="foo"))
    case("wrong predictions", lambda: a.vgg16.decode_predictions(np.zeros((2, 10), np.float32)))
    case("wrong input", lambda: a.MobileNetV2((96, 96, 3), weights=None, include_top=False, input_tensor=k.Input((64, 64, 3))))
    return out
