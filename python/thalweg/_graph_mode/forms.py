"""The forms that functions have in tf.compat.v1: arguments in another order and with old names (a table), and functions that do more than tf's."""
import re

import thalweg as tf

_v1 = tf.compat.v1

# Where a form stands in tf.compat.v1, the function of tf it calls, and its arguments: `old>new` is another name of an argument, `-old` has no effect. What
# is None is left to tf's own default. A line with words in braces is one for each word, which stands in the place of every other pair of braces.
_FORMS = """
reduce_{sum mean max min prod any all logsumexp} math.reduce_{} = reduce_{}(input_tensor, axis=None, keepdims=None, name=None, reduction_indices>axis=None, keep_dims>keepdims=None)
arg{max min} math.arg{} arg_{} = arg{}(input, axis=None, name=None, dimension>axis=None, output_type=tf.int64)
squeeze = squeeze(input, axis=None, name=None, squeeze_dims>axis=None)
norm = norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims>keepdims=None)
count_nonzero math.count_nonzero = math.count_nonzero(input_tensor>input=None, axis=None, keepdims=None, dtype=tf.int64, name=None, reduction_indices>axis=None, keep_dims>keepdims=None, input=None)
nn.{softmax log_softmax} math.{} = nn.{}(logits, axis=None, name=None, dim>axis=None)
nn.softmax_cross_entropy_with_logits_v2 = nn.softmax_cross_entropy_with_logits(labels, logits, axis=None, name=None, dim>axis=None)
nn.conv2d = nn.conv2d(input, filter>filters=None, strides=None, padding=None, -use_cudnn_on_gpu=True, data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None)
nn.{max avg}_pool = nn.{}_pool2d(value>input, ksize, strides, padding, data_format="NHWC", name=None, input=None)
nn.moments = nn.moments(x, axes, -shift=None, name=None, keep_dims>keepdims=None, keepdims=None)
pad = pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0)
gather_nd = gather_nd(params, indices, name=None, batch_dims=0)
transpose = transpose(a, perm=None, name="transpose", conjugate=False)
boolean_mask = boolean_mask(tensor, mask, name="boolean_mask", axis=None)
strings.length = strings.length(input, name=None, unit="BYTE")
case = case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case")
map_fn = map_fn(fn, elems, dtype>fn_output_signature=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None, fn_output_signature=None)
scan = scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True, reverse=False, name=None)
gradients = gradients(ys, xs, grad_ys=None, name="gradients", -colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None, stop_gradients=None, unconnected_gradients=tf.UnconnectedGradients.NONE)
hessians = hessians(ys, xs, name="hessians", -colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None)
convert_to_tensor = convert_to_tensor(value, dtype=None, name=None, preferred_dtype>dtype_hint=None, dtype_hint=None)
{zeros ones}_like = {}_like(tensor>input, dtype=None, name=None, -optimize=True)
{shape size} = {}(input, name=None, out_type=None)
nn.l2_normalize = nn.l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim>axis=None)
nn.weighted_cross_entropy_with_logits = nn.weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets>labels=None)
nn.in_top_k math.in_top_k = math.in_top_k(predictions, targets, k, name=None)
nn.conv1d = nn.conv1d(value>input=None, filters=None, stride=None, padding=None, -use_cudnn_on_gpu=None, data_format=None, name=None, input=None, dilations=None)
nn.conv3d = nn.conv3d(input, filter>filters=None, strides=None, padding=None, data_format="NDHWC", dilations=(1, 1, 1, 1, 1), name=None, filters=None)
nn.conv3d_transpose = nn.conv3d_transpose(value>input=None, filter>filters=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC", name=None, input=None, filters=None, dilations=None)
nn.convolution = nn.convolution(input, filter>filters, padding, strides=None, dilation_rate>dilations=None, name=None, data_format=None, filters=None, dilations=None)
nn.pool = nn.pool(input, window_shape, pooling_type, padding, dilation_rate>dilations=None, strides=None, name=None, data_format=None, dilations=None)
nn.separable_conv2d = nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate>dilations=None, name=None, data_format=None, dilations=None)
nn.sufficient_statistics = nn.sufficient_statistics(x, axes, shift=None, keep_dims>keepdims=None, name=None, keepdims=None)
nn.batch_norm_with_global_normalization = nn.batch_norm_with_global_normalization(t>input=None, m>mean=None, v>variance=None, beta=None, gamma=None, variance_epsilon=None, scale_after_normalization=None, name=None, input=None, mean=None, variance=None)
nn.avg_pool2d = nn.avg_pool2d(value>input, ksize, strides, padding, data_format="NHWC", name=None, input=None)
quantize_v2 = quantization.quantize(input, min_range, max_range, T, mode="MIN_COMBINED", name=None, round_mode="HALF_AWAY_FROM_ZERO", narrow_range=False, axis=None, ensure_minimum_range=0.01)
nn.nce_loss = nn.nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=False, -partition_strategy="mod", name="nce_loss")
nn.sampled_softmax_loss = nn.sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, -partition_strategy="mod", name="sampled_softmax_loss", seed=None)
nn.max_pool_with_argmax = nn.max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", Targmax>output_dtype=None, name=None, output_dtype=None, include_batch_in_index=False)
{depth_to_space space_to_depth} nn.{} = nn.{}(input, block_size, name=None, data_format="NHWC")
nn.conv2d_transpose = nn.conv2d_transpose(value>input=None, filter>filters=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC", name=None, input=None, filters=None, dilations=None)
nn.depthwise_conv2d = nn.depthwise_conv2d(input, filter, strides, padding, rate>dilations=None, name=None, data_format=None, dilations=None)
nn.zero_fraction math.zero_fraction = math.zero_fraction(value, name="zero_fraction")
decode_raw = io.decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes>input_bytes=None)
decode_csv = io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="", select_cols=None)
{parse_example parse_single_example} = io.{}(serialized, features, name=None, example_names=None)
string_to_number = strings.to_number(string_tensor>input=None, out_type=tf.float32, name=None, input=None)
substr = strings.substr(input, pos, len, name=None, unit="BYTE")
multinomial random.multinomial = random.categorical(logits, num_samples, seed=None, name=None, output_dtype>dtype=None)
py_func = numpy_function(func, inp, Tout, stateful=True, name=None)
reverse_sequence = reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim>seq_axis=None, batch_dim>batch_axis=None)
matrix_transpose = linalg.matrix_transpose(a, name="matrix_transpose", conjugate=False)
reduce_join = strings.reduce_join(inputs, axis=None, keep_dims>keepdims=None, separator="", name=None, reduction_indices>axis=None, keepdims=None)
verify_tensor_all_finite = debugging.assert_all_finite(t>x=None, msg>message=None, name=None, x=None, message=None)
random.stateless_multinomial = random.stateless_categorical(logits, num_samples, seed, output_dtype>dtype=None, name=None)
sparse_segment_{sum mean sqrt_n} = sparse.segment_{}(data, indices, segment_ids, name=None, num_segments=None, -sparse_gradient=False)
sparse_concat = sparse.concat(axis, sp_inputs, name=None, expand_nonconcat_dim>expand_nonconcat_dims=None, -concat_dim=None, expand_nonconcat_dims=None)
gather = gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0)
sparse_reduce_{sum max} = sparse.reduce_{}(sp_input, axis=None, keepdims=None, reduction_axes>axis=None, keep_dims>keepdims=None)
assert_{equal none_equal less less_equal greater greater_equal} debugging.assert_{} = debugging.assert_{}(x, y, -data=None, summarize=None, message=None, name=None)
assert_{positive negative non_negative non_positive integer} debugging.assert_{} = debugging.assert_{}(x, -data=None, summarize=None, message=None, name=None)
assert_near debugging.assert_near = debugging.assert_near(x, y, rtol=None, atol=None, -data=None, summarize=None, message=None, name=None)
assert_rank{ _at_least} debugging.assert_rank{} = debugging.assert_rank{}(x, rank, -data=None, -summarize=None, message=None, name=None)
assert_rank_in debugging.assert_rank_in = debugging.assert_rank_in(x, ranks, -data=None, -summarize=None, message=None, name=None)
"""


def _call(inner, given, renamed):
    """Calls a function of tf with what was given; `renamed` has old names, new ones and values."""
    for old_name, name, old in renamed:
        given[name] = _one_of(name, given.get(name), old_name, old)
    return inner(**{name: value for name, value in given.items() if value is not None})


def _form(name, inner, arguments):
    """The function that a row of the table describes."""
    shown, given, renamed = [], [], []
    for argument in re.split(r", (?![^(]*\))", arguments):
        word, equal, default = argument.partition("=")
        word, _, new = word.partition(">")
        shown.append(word.lstrip("-") + equal + default)
        if new:
            renamed.append("(%r, %r, %s)" % (word, new, word))
        elif not word.startswith("-"):
            given.append("%r: %s" % (word, word))
    space = {"tf": tf, "_call": _call, "inner": inner}
    exec("def %s(%s):\n    return _call(inner, {%s}, (%s))" % (name, ", ".join(shown), ", ".join(given), "".join(r + ", " for r in renamed)), space)
    made = space[name]
    made.__doc__, made.__module__ = inner.__doc__, __name__
    return made


def _found(path):
    found = tf
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _lines():
    for line in _FORMS.strip().splitlines():
        words = re.search(r"\{([^}]*)\}", line)
        for word in words.group(1).split(" ") if words and words.group(1) else [""]:
            yield re.sub(r"\{[^}]*\}", word, line)


def _install_forms():
    for line in _lines():
        places, target, arguments = re.fullmatch(r"(.*?) = ([\w.]+)\((.*)\)", line).groups()
        inner = _found(target)
        made = inner and _form(places.split()[0].rpartition(".")[2], inner, arguments)
        for place in places.split() if made else ():
            module, _, name = place.rpartition(".")
            setattr(tf._module(module, _v1) if module else _v1, name, made)


def _one_of(name, value, old_name, old):
    """The value of an argument that has two names."""
    if old is None:
        return value
    if value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'." % (old_name, name))
    return old


def expand_dims(input, axis=None, name=None, dim=None):
    """A dimension of size 1 at an axis."""
    axis = _one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return tf.expand_dims(input, axis, name=name)


# ---- tf.nn ----

def _by_name_only(name, sentinel, labels, logits):
    if sentinel is not None:
        raise ValueError("Only call `%s` with named arguments (labels=..., logits=..., ...). Received unnamed argument: %s" % (name, sentinel))
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided. Received: labels=%s and logits=%s" % (labels, logits))


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """The cross-entropy of distributions; labels are constants."""
    _by_name_only("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    labels = tf.stop_gradient(tf.convert_to_tensor(labels))
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis, name=name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross-entropy of distributions with classes given by number."""
    _by_name_only("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name=name)


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross-entropy of independent classes."""
    _by_name_only("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits, name=name)


def install():
    """Puts the forms into tf.compat.v1, tf.compat.v1.math and tf.compat.v1.nn."""
    _install_forms()
    nn = tf._module("nn", _v1)
    _v1.expand_dims = expand_dims
    for function in (softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits, sigmoid_cross_entropy_with_logits):
        setattr(nn, function.__name__, function)
