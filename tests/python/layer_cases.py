"""Layers with inputs: what they give, eagerly and traced, with gradients, configs and names. Shared by the test and by tests/golden/layer_values.py."""
import numpy as np


def fill(shape, seed):
    """Values that need no generator: the same everywhere."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7 + seed) * 0.6).reshape(shape).astype("float32")


def cases(tf):
    k = tf.keras
    la = k.layers
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 0]], bool)
    seq, img = (2, 4, 3), (2, 5, 6, 3)
    out = {}

    def case(name, make, shape, **kwargs):
        out[name] = (make, shape, kwargs)

    for cls, name in ((la.SimpleRNN, "simple"), (la.LSTM, "lstm"), (la.GRU, "gru")):
        case(name, lambda cls=cls: cls(5), seq)
        case(name + "_sequences", lambda cls=cls: cls(5, return_sequences=True, go_backwards=True), seq)
        case(name + "_state", lambda cls=cls: cls(5, return_state=True, use_bias=False), seq)
        case(name + "_mask", lambda cls=cls: cls(5, return_sequences=True), seq, call={"mask": mask})
        case(name + "_mask_last", lambda cls=cls: cls(5, return_state=True), seq, call={"mask": mask})
        case(name + "_mask_zero", lambda cls=cls: cls(5, return_sequences=True, zero_output_for_mask=True), seq, call={"mask": mask})
        case(name + "_relu", lambda cls=cls: cls(5, activation="relu", unroll=True), seq)
        case(name + "_time_major", lambda cls=cls: cls(5, time_major=True, return_sequences=True), seq)
        case(name + "_stateful", lambda cls=cls: cls(5, stateful=True), seq)
        case(name + "_long", lambda cls=cls: cls(3, activation="softsign", return_sequences=True), (2, 70, 2))
    case("lstm_hard", lambda: la.LSTM(4, recurrent_activation="hard_sigmoid", unit_forget_bias=False), seq)
    case("gru_before", lambda: la.GRU(4, reset_after=False), seq)
    case("rnn_cell", lambda: la.RNN(la.LSTMCell(3), return_sequences=True), seq)
    case("rnn_stacked", lambda: la.RNN([la.LSTMCell(3), la.GRUCell(2)], return_state=True), seq)
    case("bidirectional", lambda: la.Bidirectional(la.LSTM(3)), seq)
    case("bidirectional_sequences", lambda: la.Bidirectional(la.GRU(3, return_sequences=True), merge_mode="sum"), seq)
    case("bidirectional_state", lambda: la.Bidirectional(la.LSTM(3, return_state=True), merge_mode="ave"), seq)
    case("bidirectional_mask", lambda: la.Bidirectional(la.LSTM(3, return_sequences=True), merge_mode="mul"), seq, call={"mask": mask})
    case("time_distributed", lambda: la.TimeDistributed(la.Dense(2)), seq)
    case("time_distributed_conv", lambda: la.TimeDistributed(la.Conv1D(2, 2)), (2, 3, 5, 2))
    case("regularized", lambda: la.LSTM(3, kernel_regularizer="l2", recurrent_regularizer="l1", activity_regularizer="l2"), seq)
    case("masking", lambda: k.Sequential([la.Masking(0.0), la.LSTM(3)]), seq)
    case("masking_model", lambda: k.Sequential([la.Masking(0.5), la.Dense(2), la.GRU(3, return_sequences=True),
                                                la.GlobalAveragePooling1D()]), seq)

    case("separable1d", lambda: la.SeparableConv1D(4, 2, depth_multiplier=2, activation="relu"), seq)
    case("separable1d_causal", lambda: la.SeparableConv1D(4, 3, padding="causal", dilation_rate=2), (2, 7, 3))
    case("separable2d", lambda: la.SeparableConv2D(4, 3, strides=2, padding="same"), img)
    case("conv1d_transpose", lambda: la.Conv1DTranspose(4, 3, strides=2), seq)
    case("conv1d_transpose_same", lambda: la.Conv1DTranspose(4, 3, strides=2, padding="same", output_padding=1), seq)
    case("conv2d_transpose", lambda: la.Conv2DTranspose(4, 3, strides=2, activation="tanh"), img)
    case("conv2d_transpose_same", lambda: la.Conv2DTranspose(4, (3, 2), strides=(2, 1), padding="same", use_bias=False), img)
    case("depthwise1d", lambda: la.DepthwiseConv1D(3, depth_multiplier=2, padding="same"), seq)
    case("up1d", lambda: la.UpSampling1D(3), seq)
    case("up2d", lambda: la.UpSampling2D((2, 3)), img)
    case("up2d_bilinear", lambda: la.UpSampling2D(2, interpolation="bilinear"), img)
    case("pad1d", lambda: la.ZeroPadding1D((1, 2)), seq)
    case("pad2d", lambda: la.ZeroPadding2D(((1, 0), (2, 3))), img)
    case("pad2d_two", lambda: la.ZeroPadding2D((1, 2)), img)
    case("crop1d", lambda: la.Cropping1D((1, 2)), seq)
    case("crop2d", lambda: la.Cropping2D(((1, 2), (0, 3))), img)
    case("crop2d_one", lambda: la.Cropping2D(1), img)
    case("permute", lambda: la.Permute((2, 1, 3)), img)
    case("repeat", lambda: la.RepeatVector(3), (2, 4))
    case("layer_norm", lambda: la.LayerNormalization(), seq)
    case("layer_norm_axes", lambda: la.LayerNormalization(axis=[1, 2], epsilon=1e-5, center=False), seq)
    case("unit_norm", lambda: la.UnitNormalization(), seq)
    case("group_norm", lambda: la.GroupNormalization(groups=2), (2, 5, 4))
    case("group_norm_one", lambda: la.GroupNormalization(groups=-1, axis=1, scale=False), (2, 4, 3, 3))
    case("elu", lambda: la.ELU(0.5), seq)
    case("prelu", lambda: la.PReLU(shared_axes=[1]), seq)
    case("thresholded", lambda: la.ThresholdedReLU(0.3), seq)
    case("softmax_axis", lambda: la.Softmax(axis=1), seq)
    case("softmax_mask", lambda: la.Softmax(), (2, 4), call={"mask": mask})
    case("flatten_first", lambda: la.Flatten("channels_first"), img)
    case("activity", lambda: la.ActivityRegularization(l1=0.1, l2=0.2), seq)
    case("rescaling", lambda: la.Rescaling(2.0, offset=-1.0), seq)
    case("identity", lambda: la.Identity(), seq)
    case("einsum", lambda: la.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"), seq)
    case("global_average_mask", lambda: la.GlobalAveragePooling1D(), seq, call={"mask": mask})
    case("attention", lambda: la.Attention(use_scale=True), seq, inputs=2)
    case("attention_causal", lambda: la.Attention(), seq, inputs=3, call={"use_causal_mask": True, "return_attention_scores": True})
    case("attention_concat", lambda: la.Attention(score_mode="concat"), seq, inputs=2, call={"mask": [None, mask]})
    case("additive", lambda: la.AdditiveAttention(), seq, inputs=2, call={"mask": [mask, mask]})
    case("multi_head", lambda: la.MultiHeadAttention(2, 3), seq, split=2)
    case("multi_head_more", lambda: la.MultiHeadAttention(2, 3, value_dim=4, output_shape=5, use_bias=False), seq, split=3,
         call={"return_attention_scores": True, "use_causal_mask": True})
    case("noise", lambda: la.GaussianNoise(0.5), seq)
    case("gaussian_dropout", lambda: la.GaussianDropout(0.5), seq)
    case("alpha_dropout", lambda: la.AlphaDropout(0.5), seq)
    case("spatial_dropout1d", lambda: la.SpatialDropout1D(0.5), seq)
    case("spatial_dropout2d", lambda: la.SpatialDropout2D(0.5), img)
    return out


def flat(value):
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat(part)]
    return [value]


def plain(value):
    """A config as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "as_list"):
        return value.as_list()
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def rounded(tensor):
    array = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    return {"shape": list(array.shape), "values": [float("%.5g" % x) for x in array.reshape(-1)]}


def run(tf, name):
    """Everything of one case as plain values."""
    tf.keras.backend.clear_session()
    make, shape, extra = cases(tf)[name]
    layer = make()
    call = dict(extra.get("call", {}))
    count = extra.get("inputs", extra.get("split", 1))
    inputs = [tf.constant(fill(shape, i)) for i in range(count)]
    if name == "masking":
        inputs[0] = tf.constant(fill(shape, 0) * np.array([[1, 0, 1, 0], [1, 1, 0, 0]], "float32")[..., None])

    def apply():
        if "split" in extra:
            return layer(*inputs, **call)
        return layer(inputs if count > 1 else inputs[0], **call)

    apply()
    layer.set_weights([fill(w.shape, 3 + i) for i, w in enumerate(layer.get_weights())])
    if "stateful" in name:
        layer.reset_states()
    with tf.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        outputs = flat(apply())
        loss = tf.add_n([tf.reduce_sum(tf.sin(y) * tf.constant(fill(y.shape, 9))) for y in outputs])
        if layer.losses:
            loss += tf.add_n(layer.losses)
    gradients = tape.gradient(loss, list(layer.trainable_variables) + inputs)
    result = {
        "outputs": [rounded(y) for y in outputs],
        "loss": float("%.5g" % float(loss)),
        "losses": len(layer.losses),
        "gradients": [None if g is None else rounded(tf.convert_to_tensor(g)) for g in gradients],
        "names": [w.name for w in layer.weights],
        "config": plain(layer.get_config()) if "masking" not in name else None,
    }
    if count == 1 and not name.endswith("_state") and "mask" not in name and name not in ("rnn_stacked", "einsum"):
        try:
            result["output_shape"] = list(layer.compute_output_shape((None,) + tuple(shape[1:])))
        except Exception as error:
            result["output_shape"] = type(error).__name__
    return result
