"""Write what TensorFlow 2.15.1 gives for layers and functions of convolution, pooling and normalization: tests/golden/layers_conv/layers_conv.json, and a
checkpoint of a small trained model, tests/golden/layers_conv/. tests/python/test_layers_conv.py replays both. Inputs follow from `values`,
which stands in the test too; calls are kept as their source text."""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
L = tf.keras.layers


def values(*shape):
    return (np.round(np.sin(np.arange(np.prod(shape)) * 0.7 + 0.3) * 2, 2) + np.arange(np.prod(shape)) % 5 / 10).astype(np.float32).reshape(shape)


INPUTS = {"image": values(2, 6, 5, 3), "volume": values(1, 4, 5, 4, 2), "sequence": values(2, 7, 3), "matrix": values(6, 3), "indices": np.array([[1, 2, 4], [0, 0, 3]])}
NAMES = {"tf": tf, "L": L, "np": np, "values": values, "x": INPUTS["image"], "s": INPUTS["sequence"], "w": values(3, 2, 3, 4) / 2}


def array(t):
    t = np.asarray(t)
    return {"shape": list(t.shape), "dtype": t.dtype.name, "values": [float("%.8g" % v) for v in t.reshape(-1)]}


def plain(v):
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items() if k != "name"}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return float(v) if isinstance(v, np.ndarray) else v


layers, calls, errors = [], [], []


def layer(make, name="image", training=None):
    x = INPUTS[name]
    tf.keras.utils.set_random_seed(5)
    made = eval(make, NAMES)
    case = {"make": make, "input": name, "training": training}
    with tf.GradientTape() as tape:
        t = tf.constant(x)
        if t.dtype.is_floating:
            tape.watch(t)
        y = made(t, training=training) if training is not None else made(t)
        loss = tf.reduce_sum(tf.cast(y, tf.float64) ** 2)
    gradients = tape.gradient(loss, ([t] if t.dtype.is_floating else []) + made.trainable_weights)
    case["outputs"] = [array(y), array(made(t, training=training) if training is not None else made(t))]
    case["weights"] = [{"name": w.name.split("/")[-1], "trainable": w.trainable, **array(w.numpy())} for w in made.weights]
    case["gradients"] = [array(tf.convert_to_tensor(g)) for g in gradients]
    case["config"] = plain(made.get_config())
    case["output_shape"] = list(made.compute_output_shape([None] + list(x.shape[1:])))
    layers.append(case)


def call(text):
    calls.append({"call": text, "result": [array(t) for t in tf.nest.flatten(eval(text, NAMES))]})


def error(text):
    try:
        eval(text, NAMES)
    except Exception as e:
        message = str(e)
        if message.startswith("Exception encountered"):
            message = message.split("\n\n")[1]
        message = message.split("}} ")[-1].split(" [Op:")[0].split(" Received input shape")[0].split("\n")[0]
        message = message.split("\" is incompatible")[-1]
        errors.append({"call": text, "error": type(e).__name__, "text": message})
    else:
        sys.exit("no error: " + text)


for make in ("L.Conv2D(4, 3)", "L.Conv2D(2, [3, 2], padding='SAME', strides=2, activation='relu')", "L.Conv2D(2, 2, use_bias=False, kernel_initializer='he_normal')",
             "L.Convolution2D(3, (2, 2), groups=3, strides=(1, 2))", "L.DepthwiseConv2D(3, depth_multiplier=2, padding='same', strides=2)",
             "L.MaxPool2D()", "L.MaxPooling2D(pool_size=[3, 2], strides=2, padding='same')", "L.AveragePooling2D(3)", "L.AvgPool2D((2, 3), 1, 'same')",
             "L.GlobalAveragePooling2D()", "L.GlobalAvgPool2D(keepdims=True)", "L.GlobalMaxPool2D()", "L.GlobalMaxPooling2D(data_format='channels_first')"):
    layer(make)
for make in ("L.ReLU()", "L.ReLU(6.0)", "L.ReLU(max_value=1.5, negative_slope=0.1, threshold=0.5)", "L.ReLU(negative_slope=0.2)", "L.LeakyReLU()", "L.LeakyReLU(alpha=0.1)"):
    layer(make, "matrix")
for make in ("L.Conv1D(4, 3)", "L.Conv1D(2, 2, padding='causal')", "L.Conv1D(2, 3, strides=2, padding='same', activation='tanh')", "L.MaxPool1D()", "L.AveragePooling1D(3, 2, padding='same')",
             "L.GlobalMaxPool1D()", "L.GlobalAveragePooling1D()"):
    layer(make, "sequence")
for make in ("L.Conv3D(3, 2)", "L.Conv3D(2, (3, 2, 1), strides=(2, 1, 2), padding='same', activation='relu')", "L.Convolution3D(2, 2, dilation_rate=2, use_bias=False)",
             "L.Conv3DTranspose(2, 2)", "L.Convolution3DTranspose(2, 3, strides=2, padding='same', output_padding=(1, 0, 1), activation='tanh')", "L.Conv3DTranspose(1, (1, 2, 3), strides=(1, 3, 2))",
             "L.MaxPool3D()", "L.MaxPooling3D((3, 2, 1), strides=(1, 2, 1), padding='same')", "L.AvgPool3D(2)", "L.AveragePooling3D(3, 1, 'same')", "L.GlobalAvgPool3D()",
             "L.GlobalAveragePooling3D(keepdims=True)", "L.GlobalMaxPool3D()", "L.GlobalMaxPooling3D(keepdims=True)", "L.ZeroPadding3D((1, 2, 0))", "L.Cropping3D(((1, 1), (0, 2), (1, 0)))",
             "L.UpSampling3D((2, 1, 3))"):
    layer(make, "volume")
layer("L.SpatialDropout3D(0.5, seed=3)", "volume", True)
for make in ("L.LocallyConnected2D(2, 2)", "L.LocallyConnected2D(2, (3, 2), strides=(2, 1), padding='same', implementation=2, activation='relu')", "L.LocallyConnected2D(2, 2, strides=2, implementation=3)",
             "L.UpSampling2D((2, 3), interpolation='bilinear')", "L.SpectralNormalization(L.Conv2D(2, 2))", "L.DepthwiseConv2D(2, dilation_rate=2)", "L.Conv2DTranspose(2, 3, dilation_rate=2)"):
    layer(make)
for make in ("L.LocallyConnected1D(2, 3)", "L.LocallyConnected1D(2, 3, strides=2, use_bias=False, implementation=2)", "L.LocallyConnected1D(2, 2, padding='same', implementation=3)",
             "L.DepthwiseConv1D(2, dilation_rate=2)", "L.SeparableConv1D(2, 3, dilation_rate=2)", "L.Conv1DTranspose(2, 3, strides=2, padding='same', output_padding=1)"):
    layer(make, "sequence")
for make in ("L.SpectralNormalization(L.Dense(4), power_iterations=2)", "L.SpectralNormalization(L.Dense(2))"):
    layer(make, "matrix", True)
layer("L.experimental.RandomFourierFeatures(3)", "matrix")
layer("L.experimental.RandomFourierFeatures(2, kernel_initializer=tf.keras.initializers.Constant(0.5), scale=2.0, trainable=True)", "matrix")
for training in (True, False, None):
    layer("L.BatchNormalization()", "image", training)
    layer("L.BatchNormalization(momentum=0.5, epsilon=0.01, scale=False)", "image", training)
    layer("L.BatchNormalization(axis=1, center=False)", "image", training)
    layer("L.BatchNormalization(axis=2)", "sequence", training)
    layer("L.BatchNormalization(axis=[1, 2])", "sequence", training)
    layer("L.BatchNormalization(momentum=0.9)", "matrix", training)
    layer("L.Dropout(0.4)", "matrix", training)
    layer("L.Dropout(0.4, seed=7)", "matrix", training)
    layer("L.Dropout(0.4, noise_shape=(None, 1, 3))", "sequence", training)
layer("L.BatchNormalization(trainable=False)", "image", True)
layer("L.BatchNormalization(axis=2, dtype='float64')", "image", True)
layer("L.BatchNormalization(center=False, scale=False)", "image", True)
layer("L.Embedding(5, 3)", "indices")
layer("L.Embedding(5, 2, input_length=3)", "indices")

for text in ("tf.nn.conv2d(x, w, 1, 'SAME')", "tf.nn.conv2d(x, w, [2, 1], 'VALID')", "tf.nn.conv2d(x, w, [1, 2, 2, 1], [[0, 0], [1, 1], [0, 2], [0, 0]])",
             "tf.nn.conv2d(x, w, 1, 'VALID', dilations=[2, 1])", "tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'SAME')",
             "tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'SAME', dilations=[2, 2])", "tf.nn.conv1d(s, w[0], 1, 'SAME')", "tf.nn.conv1d(s, w[0], 2, 'VALID')",
             "tf.nn.conv2d_transpose(values(2, 3, 3, 4), w, [2, 6, 5, 3], 2)", "tf.nn.conv2d_transpose(values(2, 3, 3, 4), w, [2, 5, 4, 3], 1, padding='VALID')",
             "tf.nn.max_pool2d(x, 2, 2, 'SAME')", "tf.nn.max_pool(x, [2, 3], 1, 'VALID')", "tf.nn.max_pool(s, 2, 1, 'VALID')", "tf.nn.max_pool1d(s, 3, 2, 'SAME')",
             "tf.nn.avg_pool2d(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')", "tf.nn.avg_pool1d(s, 3, 2, 'SAME')", "tf.nn.avg_pool(x, 3, 3, 'SAME')",
             "tf.nn.moments(x, [0, 1, 2])", "tf.nn.moments(x, [1], keepdims=True)", "tf.nn.moments(tf.cast(x, tf.float16), [0, 2])",
             "tf.nn.batch_normalization(x, x[0, 0, 0], x[0, 0, 1] ** 2 + 1, x[0, 0, 2], x[0, 1, 0], 0.001)", "tf.nn.batch_normalization(x, 1.0, 2.0, None, None, 0.1)"):
    call(text)

for text in ("tf.nn.conv2d(x, w, 1, 'FOO')", "tf.nn.conv2d(x, w[..., :1, :], [1, 0, 1, 1], 'SAME')", "L.Conv2D(4, 3)(s)", "L.Conv2D(-1, 3)", "L.Conv2D(0, 3)",
             "L.Conv2D(4, (3, 3, 3))", "L.Conv2D(4, 0)", "L.Conv2D(4, 3, strides=0)", "L.Conv2D(4, 3, padding='foo')", "L.Conv2D(4, 3, padding='causal')",
             "L.Conv2D(4, 3, strides=2, dilation_rate=2)", "L.Conv2D(4, 3, groups=3)", "L.Conv2D(4, 3, groups=2)(x)", "L.Conv2D(4, 9)(x)", "L.Conv2D(4, 3, data_format='foo')",
             "L.Conv2D(4, 3).build((None, 8, 8, None))", "L.MaxPool2D()(s)", "L.MaxPool2D(padding='foo')", "L.MaxPool2D((2, 2, 2))",
             "L.MaxPool2D(0)", "L.GlobalMaxPool2D()(s)", "L.Dropout(1.5)", "L.Dropout(-0.1)", "L.Embedding(0, 3)", "L.BatchNormalization(axis=5)(x)", "L.Embedding(5, 3)(np.array([7]))",
             "L.Conv3D(4, 2, dilation_rate=2, strides=2)", "L.Conv3D(4, 2, strides=0)", "L.Conv3D(4, 2)(x)", "L.Conv3D(4, (2, 2))", "L.Conv3DTranspose(4, 2, strides=2, dilation_rate=2)",
             "L.UpSampling3D((2, 2))", "L.UpSampling3D(0)", "L.MaxPool3D()(x)", "L.GlobalAvgPool3D()(x)", "L.SpectralNormalization(L.Dense(3), power_iterations=0)",
             "L.SpectralNormalization(L.ReLU())(x)", "L.experimental.RandomFourierFeatures(0)", "L.experimental.RandomFourierFeatures(3, scale=-1.0)",
             "L.experimental.RandomFourierFeatures(3, 'x')", "L.experimental.RandomFourierFeatures(3)(s)", "L.LocallyConnected1D(2, 3, padding='same')",
             "L.LocallyConnected1D(2, 9)(s)", "L.LocallyConnected1D(2, 3)(x)", "L.DepthwiseConv1D(2, padding='causal')", "L.ConvLSTM2D(2, 3, unroll=True)", "L.ConvLSTM2D(2, 3)(x)"):
    error(text)

# ---- the channels first: shapes, and values, which are those of the channels last ----
first = []
for make, shape in (("L.Conv2D(4, 3, strides=2)", (2, 3, 9, 8)), ("L.Conv1D(4, 3, padding='same')", (2, 3, 9)), ("L.DepthwiseConv2D(3, depth_multiplier=2)", (2, 3, 9, 8)),
                    ("L.SeparableConv2D(4, 3, strides=2, padding='same')", (2, 3, 9, 8)), ("L.SeparableConv2D(4, (3, 2), depth_multiplier=2)", (2, 3, 9, 8)),
                    ("L.SeparableConv1D(4, 3, padding='causal')", (2, 3, 9)), ("L.SeparableConv1D(4, 3, strides=2)", (2, 3, 9)),
                    ("L.Conv1DTranspose(4, 3, strides=2)", (2, 3, 9)), ("L.Conv2DTranspose(4, 3, strides=2, activation='relu')", (2, 3, 9, 8)),
                    ("L.Conv2DTranspose(4, 3, strides=2, padding='same', output_padding=(1, 0), use_bias=False)", (2, 3, 9, 8)),
                    ("L.MaxPooling1D(2)", (2, 3, 9)), ("L.MaxPooling1D(3, 2, padding='same')", (2, 3, 9)), ("L.AveragePooling1D(2, 1)", (2, 3, 9)),
                    ("L.AveragePooling1D(2, 3, padding='same')", (2, 3, 9)), ("L.MaxPooling2D(2)", (2, 3, 9, 8)), ("L.AveragePooling2D(3, 2, padding='same')", (2, 3, 9, 8)),
                    ("L.Conv1D(4, 3, strides=2)", (2, 3, 9)), ("L.DepthwiseConv1D(3, depth_multiplier=2)", (2, 3, 9)), ("L.Conv3D(4, 2, groups=2)", (2, 4, 3, 4, 5)),
                    ("L.Conv3D(2, (1, 2, 3), dilation_rate=(2, 1, 1))", (2, 4, 3, 4, 7)), ("L.Conv3DTranspose(2, 2, strides=(2, 1, 3))", (2, 4, 3, 4, 3)),
                    ("L.MaxPooling3D(2)", (2, 2, 4, 5, 4)), ("L.AveragePooling3D(2, 1, padding='same')", (2, 2, 4, 5, 4)), ("L.DepthwiseConv2D(3, strides=(1, 2))", (2, 3, 9, 8)),
                    ("L.SeparableConv2D(4, 3, strides=(2, 1))", (2, 3, 9, 8)), ("L.Conv2D(4, 3, groups=2)", (2, 4, 9, 8)),
                    ("L.UpSampling2D(2, interpolation='bilinear')", (2, 3, 3, 4)), ("L.GlobalAveragePooling3D()", (2, 2, 4, 5, 4)),
                    ("L.GlobalMaxPooling3D(keepdims=True)", (2, 2, 4, 5, 4)), ("L.ZeroPadding3D((1, 2, 0))", (1, 2, 2, 2, 2)), ("L.Cropping3D(1)", (1, 2, 4, 3, 4)),
                    ("L.UpSampling3D((1, 2, 3))", (1, 2, 2, 2, 2))):
    plain_make, make = make, (make[:-1] + ", data_format='channels_first')").replace("(, ", "(")
    made = eval(make, NAMES)
    case = {"make": make, "shape": shape, "output_shape": list(made.compute_output_shape((None,) + shape[1:])),
            "symbolic": list(made(tf.keras.Input(shape[1:])).shape), "weights": [[w.name.split("/")[-1], list(w.shape)] for w in made.weights],
            "config": plain(made.get_config())}
    first.append(case)
    other, back = eval(plain_make, NAMES), np.moveaxis(values(*shape), 1, -1)
    other.build((None,) + back.shape[1:])
    other.set_weights([values(*w.shape) for w in other.weights])
    result = np.asarray(tf.function(other, jit_compile=True)(back) if "groups" in make or "strides=(1, 2)" in make or "strides=(2, 1)" in make else other(back))
    case["values"] = array(result if result.ndim == 2 else np.moveaxis(result, -1, 1))
    if case["weights"]:
        error("%s.build((None, None) + (8,) * %d)" % (make, len(shape) - 2))

# ---- a model that learns ----
tf.keras.utils.set_random_seed(9)
model = tf.keras.Sequential([L.Conv2D(4, 3, activation="relu", input_shape=(6, 5, 3)), L.BatchNormalization(momentum=0.8), L.MaxPool2D(), L.Dropout(0.3, seed=3),
                             L.Flatten(), L.Dense(5)])
optimizer = tf.keras.optimizers.Adam(0.01)
x, y = INPUTS["image"], np.array([1, 4])
losses = []
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=True), from_logits=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
tf.train.Checkpoint(model=model, optimizer=optimizer).write(os.path.join(HERE, "layers_conv", "model"))
training = {"losses": losses, "names": [v.name for v in model.weights], "prediction": array(model(x))}

path = golden.path(__file__, "layers_conv.json")
with open(path, "w") as f:
    text = json.dumps({"layers": layers, "calls": calls, "errors": errors, "first": first, "training": training}, separators=(",", ":"))
    f.write(text.replace('{"make"', '\n{"make"').replace('{"call"', '\n{"call"') + "\n")
print("%s: %d layers, %d calls, %d errors, %d bytes" % (path, len(layers), len(calls), len(errors), os.path.getsize(path)))
