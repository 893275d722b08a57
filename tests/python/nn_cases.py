"""Calls of tf.nn, tf.random and tf.quantization as texts, with their inputs: tests/golden/nn_cases.py writes what TensorFlow gives, test_nn_cases.py compares."""
import numpy as np


def values(*shape, dtype=np.float32):
    count = int(np.prod(shape))
    return (np.round(np.sin(np.arange(count) * 0.7 + 0.3) * 2, 2) + np.arange(count) % 5 / 10).astype(dtype).reshape(shape)


def i32(*numbers):
    return np.array(numbers, np.int32)


# Texts; each has its inputs, whose gradients are compared where they are floats. A text in front of which stands "known " needs known shapes, one with "eager " is run at once only.
CASES = {}


def add(text, **inputs):
    assert text not in CASES, text
    CASES[text] = inputs


x, s, v, w = values(2, 6, 5, 3), values(2, 7, 3), values(1, 4, 5, 3, 2), values(3, 2, 3, 4) / 2
w3 = values(2, 3, 2, 2, 3)
for t in ("1, 'SAME'", "[1, 2, 1, 2, 1], 'VALID'", "[1, 1, 1, 1, 1], 'SAME', data_format='NDHWC'"):
    add("tf.nn.conv3d(v, w, %s)" % t.replace("1, 'SAME'", "[1] * 5, 'SAME'") if t[0] == "1" else "tf.nn.conv3d(v, w, %s)" % t, v=v, w=w3)
add("tf.nn.conv3d_transpose(v, w, [1, 8, 5, 6, 2], [2, 1, 2])", v=values(1, 4, 5, 3, 3), w=w3)
add("tf.nn.conv3d_transpose(v, w, [1, 5, 7, 4, 2], 1, padding='VALID')", v=values(1, 4, 5, 3, 3), w=w3)
for name in ("max", "avg"):
    add("tf.nn.%s_pool3d(v, 2, 2, 'SAME')" % name, v=v)
    add("tf.nn.%s_pool3d(v, [1, 2, 3, 1, 1], [1, 1, 2, 1, 1], 'VALID')" % name, v=v)
    add("known tf.nn.%s_pool(v, [2, 1, 2], 1, 'VALID', data_format='NDHWC')" % name, v=v)
    kind = name.upper()
    add("known tf.nn.pool(x, [2, 2], '%s')" % kind, x=x)
    add("known tf.nn.pool(x, [2, 3], '%s', strides=[2, 1], padding='SAME')" % kind, x=x)
    add("known tf.nn.pool(s, [2], '%s', dilations=[2])" % kind, s=s)
    add("known tf.nn.pool(x, [2, 2], '%s', dilations=[2, 1], padding='SAME')" % kind, x=x)
    add("known tf.nn.pool(v, [2, 2, 2], '%s', strides=[1, 2, 1], padding='SAME')" % kind, v=v)
add("known tf.nn.convolution(x, w, [1, 2])", x=x, w=w)
add("known tf.nn.convolution(x, w, padding='SAME', dilations=[2, 2])", x=x, w=w)
add("known tf.nn.convolution(x, w, padding='VALID', dilations=[2, 1])", x=x, w=w)
add("known tf.nn.convolution(s, w, 2, 'SAME')", s=s, w=w[0])
add("known tf.nn.convolution(s, w, 1, 'SAME', dilations=2)", s=s, w=w[0])
add("known tf.nn.convolution(v, w, 1, 'SAME', data_format='NDHWC')", v=v, w=w3)
add("known tf.nn.convolution(x, w, [1, 1], 'SAME')", x=values(2, 3, 4, 5, 3), w=w)
add("tf.nn.conv1d_transpose(s, w, [2, 14, 3], 2)", s=values(2, 7, 4), w=w[0])
add("tf.nn.conv1d_transpose(s, w, [2, 8, 3], 1, 'VALID')", s=values(2, 7, 4), w=w[0])
add("tf.nn.conv_transpose(s, w, [2, 14, 3], 2)", s=values(2, 7, 4), w=w[0])
add("tf.nn.conv_transpose(x, w, [2, 6, 5, 3], 2)", x=values(2, 3, 3, 4), w=w)
add("tf.nn.conv_transpose(v, w, [1, 8, 5, 6, 2], [2, 1, 2])", v=values(1, 4, 5, 3, 3), w=w3)
add("tf.nn.conv_transpose(x, w, [6, 5], 2)", x=values(2, 3, 3, 4), w=w)
add("tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], 'SAME')", x=x, d=values(3, 2, 3, 2), p=values(1, 1, 6, 4))
add("tf.nn.separable_conv2d(x, d, p, [1, 2, 2, 1], 'VALID')", x=x, d=values(3, 2, 3, 2), p=values(1, 1, 6, 4))
add("known tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], 'VALID', dilations=[2, 2])", x=x, d=values(2, 2, 3, 2), p=values(1, 1, 6, 4))
add("tf.nn.atrous_conv2d(x, w, 2, 'SAME')", x=x, w=w)
add("tf.nn.atrous_conv2d(x, w, 2, 'VALID')", x=x, w=w)
add("tf.nn.atrous_conv2d_transpose(x, w, [2, 6, 5, 3], 2, 'SAME')", x=values(2, 6, 5, 4), w=w)
add("tf.nn.depth_to_space(x, 2)", x=values(2, 2, 3, 8))
add("tf.nn.space_to_depth(x, 2)", x=values(2, 4, 6, 3))
add("tf.compat.v1.depth_to_space(x, 2, None, 'NHWC')", x=values(2, 2, 3, 8))
add("tf.compat.v1.space_to_depth(x, 2)", x=values(2, 4, 6, 3))
add("tf.nn.sufficient_statistics(x, [0, 2])[:3]", x=x)
add("tf.nn.sufficient_statistics(x, [0], shift=0.5, keepdims=True)", x=x)
add("tf.nn.normalize_moments(12.0, m, v, None)", m=values(3), v=values(3) ** 2 + 2)
add("tf.nn.normalize_moments(12.0, m, v, 0.5)", m=values(3), v=values(3) ** 2 + 2)
add("tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 0.01, True)", x=x, m=values(3), v=values(3) ** 2, b=values(3) + 1, g=values(3) - 2)
add("tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 0.01, False)", x=x, m=values(3), v=values(3) ** 2, b=values(3) + 1, g=values(3) - 2)
add("tf.nn.depthwise_conv2d_backprop_input([2, 6, 5, 3], w, y, [1, 1, 1, 1], 'SAME')", w=values(3, 2, 3, 2), y=values(2, 6, 5, 6))
add("tf.nn.depthwise_conv2d_backprop_filter(x, [3, 2, 3, 2], y, [1, 1, 1, 1], 'SAME')", x=x, y=values(2, 6, 5, 6))
V1 = "tf.compat.v1.nn."
add(V1 + "conv2d_backprop_input([2, 6, 5, 3], w, y, [1, 1, 1, 1], 'SAME')", w=w, y=values(2, 6, 5, 4))
add(V1 + "conv2d_backprop_filter(x, [3, 2, 3, 4], y, [1, 1, 1, 1], 'SAME')", x=x, y=values(2, 6, 5, 4))
add(V1 + "conv3d_backprop_filter(v, [2, 3, 2, 2, 3], y, [1] * 5, 'SAME')", v=v, y=values(1, 4, 5, 3, 3))
add(V1 + "conv3d(v, w, [1] * 5, 'SAME')", v=v, w=w3)
add(V1 + "conv3d_transpose(v, w, [1, 8, 5, 6, 2], [2, 1, 2])", v=values(1, 4, 5, 3, 3), w=w3)
add("known " + V1 + "convolution(x, w, 'SAME', [1, 1], [2, 2])", x=x, w=w)
add("known " + V1 + "pool(x, [2, 2], 'MAX', 'SAME', None, [2, 2])", x=x)
add(V1 + "separable_conv2d(x, d, p, [1, 1, 1, 1], 'SAME')", x=x, d=values(3, 2, 3, 2), p=values(1, 1, 6, 4))
add(V1 + "sufficient_statistics(x, [0, 2], keep_dims=True)[:3]", x=x)
add(V1 + "batch_norm_with_global_normalization(x, m, v, b, g, 0.01, True)", x=x, m=values(3), v=values(3) ** 2, b=values(3) + 1, g=values(3) - 2)
add(V1 + "avg_pool2d(x, 2, 2, 'SAME')", x=x)

# ---- local normalization, dilation, pools that tell places ----
pixels = values(2, 4, 5, 6)
for t in ("", ", 1, 0.5, 0.2, 0.75", ", depth_radius=2, bias=2.0, alpha=1e-3, beta=0.5"):
    add("tf.nn.local_response_normalization(x%s)" % t, x=pixels)
add("tf.nn.lrn(x, 2)", x=pixels)
add("tf.nn.lrn(x, 2)[0]", x=pixels[0])
add("tf.raw_ops.LRN(input=x, depth_radius=1)", x=pixels)
add("tf.nn.fractional_max_pool(x, 2, True, seed=1)", x=values(2, 10, 9, 2))
add("tf.raw_ops.LRNGrad(input_grads=tf.stop_gradient(x), input_image=tf.stop_gradient(x + 1.0), output_image=tf.stop_gradient(x - 0.5), depth_radius=1)", x=pixels)
D = values(3, 2, 3) / 3
for t in ("[1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]", "[1, 2, 1, 1], 'VALID', 'NHWC', [1, 1, 2, 1]"):
    add("tf.nn.dilation2d(x, d, %s)" % t, x=x, d=D)
    add("tf.nn.erosion2d(x, d, %s)" % t, x=x, d=D)
add("tf.nn.dilation2d(x, d, [1, 1, 1, 1], 'SAME', 'NCHW', [1, 1, 1, 1])", x=x, d=D)
add("tf.nn.dilation2d(x, d, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]) + 1.0", x=x, d=values(3, 2, 2))
add(V1 + "dilation2d(x, d, [1, 1, 1, 1], [1, 2, 1, 1], 'SAME')", x=x, d=D)
add(V1 + "erosion2d(x, d, [1, 1, 1, 1], [1, 2, 1, 1], 'SAME')", x=x, d=D)
add("tf.raw_ops.Dilation2D(input=x, filter=d, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')", x=values(1, 4, 4, 2, dtype=np.int32), d=values(2, 2, 2, dtype=np.int32))
add("tf.raw_ops.Dilation2DBackpropInput(input=x, filter=d, out_backprop=g, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME')", x=i32(*range(24)).reshape(1, 4, 3, 2),
    d=i32(*range(8)).reshape(2, 2, 2), g=i32(*range(24)).reshape(1, 4, 3, 2))
add("tf.raw_ops.Dilation2DBackpropFilter(input=x, filter=d, out_backprop=g, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME')", x=i32(*range(24)).reshape(1, 4, 3, 2),
    d=i32(*range(8)).reshape(2, 2, 2), g=i32(*range(24)).reshape(1, 4, 3, 2))
for t in ("2, 2, 'SAME'", "[2, 3], 1, 'VALID', include_batch_in_index=True", "2, 2, 'SAME', data_format='NCHW'"):
    add("tf.nn.max_pool_with_argmax(x, %s)" % t, x=x)
add("tf.nn.max_pool_with_argmax(tf.stop_gradient(x), [1, 2, 2, 1], [1, 2, 1, 1], 'SAME', output_dtype=tf.int32)", x=x)
add("tf.raw_ops.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')", x=i32(*range(48)).reshape(2, 4, 3, 2))
add("tf.raw_ops.MaxPoolGradWithArgmax(input=x, grad=g, argmax=a, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')", x=i32(*range(12)).reshape(1, 4, 3, 1),
    g=i32(*range(4)).reshape(1, 2, 2, 1), a=np.array([4, 5, 10, 10], np.int64).reshape(1, 2, 2, 1))
add("tf.raw_ops.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding='SAME')", x=x)
add("known tf.raw_ops.MaxPoolV2(input=x, ksize=k, strides=[1, 2, 1, 1], padding='VALID')", x=x, k=i32(1, 2, 3, 1))
add("tf.raw_ops.MaxPoolGradV2(orig_input=x, orig_output=tf.nn.max_pool2d(x, 2, 2, 'SAME'), grad=g, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')", x=x, g=values(2, 3, 3, 3))
add("tf.raw_ops.MaxPoolGradGradV2(orig_input=tf.stop_gradient(x), orig_output=tf.nn.max_pool2d(tf.stop_gradient(x), 2, 2, 'SAME'), grad=tf.stop_gradient(g), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')", x=x, g=values(2, 6, 5, 3))

# ---- windows drawn at random ----
for name in ("max", "avg"):
    for t in ("1.5, seed=3", "[1.0, 1.44, 1.73, 1.0], True, True, seed=3", "[1.3, 1.6], False, True, seed=11", "2, seed=1"):
        add("tf.nn.fractional_%s_pool(x, %s)" % (name, t), x=values(2, 10, 9, 2))
for name in ("tf.raw_ops.FractionalMaxPool", "tf.raw_ops.FractionalAvgPool"):
    add("%s(value=x, pooling_ratio=[1.0, 1.5, 1.4, 1.0], deterministic=True, seed=5, seed2=6)" % name, x=values(2, 10, 9, 2, dtype=np.int64))
    add("%s(value=x, pooling_ratio=[1.0, 0.5, 1.4, 1.0], deterministic=True, seed=5, seed2=6)" % name, x=values(2, 10, 9, 2))
rows = np.array([0, 1, 3, 5], np.int64)
for o in ("True", "False"):
    add("tf.raw_ops.FractionalMaxPoolGrad(orig_input=x, orig_output=g, out_backprop=g, row_pooling_sequence=r, col_pooling_sequence=r, overlapping=%s)" % o,
        x=i32(*range(25)).reshape(1, 5, 5, 1), g=i32(*((6, 8, 9, 16, 18, 19, 21, 23, 24) if o == "True" else (0, 2, 4, 10, 12, 14, 20, 22, 24))).reshape(1, 3, 3, 1), r=rows)
    add("tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=s, out_backprop=g, row_pooling_sequence=r, col_pooling_sequence=r, overlapping=%s)" % o,
        s=np.array([1, 5, 5, 1], np.int64), g=i32(*range(9)).reshape(1, 3, 3, 1), r=rows)

# ---- classes drawn at random ----
labels = np.array([[1, 5], [0, 19], [7, 7]], np.int64)
for name in ("uniform", "log_uniform", "learned_unigram"):
    for t in ("2, 8, True, 20, seed=5", "2, 30, False, 1000, seed=6", "2, 20, True, 20, seed=7", "2, 21, True, 20, seed=7", "3, 4, True, 20, seed=7"):
        add("tf.random.%s_candidate_sampler(c, %s)" % (name, t), c=labels)
add("tf.nn.all_candidate_sampler(c, 2, 20, True, seed=3)", c=labels)
for t in ("20, unigrams=list(range(1, 21))", "20, unigrams=[2.0, 0.5] * 10, num_shards=1", "20, distortion=0.75, num_reserved_ids=2, unigrams=[3.0, 1.0] * 9", "20"):
    add("tf.random.fixed_unigram_candidate_sampler(c, 2, 3, True, %s, seed=4)" % t, c=labels)
add("tf.random.fixed_unigram_candidate_sampler(c, 2, 3, True, 3, num_shards=3, shard=1, unigrams=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], seed=4)", c=labels % 3)
for name in ("tf.raw_ops.UniformCandidateSampler", "tf.raw_ops.LogUniformCandidateSampler", "tf.raw_ops.LearnedUnigramCandidateSampler", "tf.raw_ops.ThreadUnsafeUnigramCandidateSampler"):
    add("%s(true_classes=c, num_true=2, num_sampled=5, unique=True, range_max=20, seed=8, seed2=9)" % name, c=labels)
add("tf.raw_ops.FixedUnigramCandidateSampler(true_classes=c, num_true=2, num_sampled=5, unique=False, range_max=3, unigrams=[1.0, 2.0, 5.5], seed=8, seed2=9)", c=labels % 3)
add("tf.raw_ops.AllCandidateSampler(true_classes=c, num_true=2, num_sampled=5, unique=True, seed=8, seed2=9)", c=labels % 5)
add("tf.nn.compute_accidental_hits(c, [5, 3, 7, 19, 5], 2)", c=labels)
add("tf.raw_ops.ComputeAccidentalHits(true_classes=c, sampled_candidates=[5, 3, 7, 19, 5], num_true=2)", c=labels)
W, B = values(20, 4), values(20)
DRAWN = "tf.random.log_uniform_candidate_sampler(c, %d, 6, True, 20, seed=3)"
for t in ("", ", remove_accidental_hits=True"):
    add("tf.nn.nce_loss(w, b, c, x, 6, 20, sampled_values=%s%s)" % (DRAWN % 1, t), w=W, b=B, c=labels[:, :1], x=values(3, 4))
    add("tf.nn.nce_loss(w, b, c, x, 6, 20, 2, %s%s)" % (DRAWN % 2, t), w=W, b=B, c=labels, x=values(3, 4))
add("eager tf.nn.nce_loss(w, b, c, x, 6, 20)", w=W, b=B, c=labels[:, :1].astype(np.int32), x=values(3, 4))
add("tf.nn.sampled_softmax_loss(w, b, c, x, 6, 20, seed=3)", w=W, b=B, c=labels[:, :1], x=values(3, 4))
add("tf.nn.sampled_softmax_loss(w, b, c, x, 6, 20, 2, remove_accidental_hits=False, seed=3)", w=W, b=B, c=labels, x=values(3, 4))
add(V1 + "nce_loss(w, b, c, x, 6, 20, sampled_values=%s)" % (DRAWN % 1), w=W, b=B, c=labels[:, :1], x=values(3, 4))
add(V1 + "sampled_softmax_loss(w, b, c, x, 6, 20, seed=3)", w=W, b=B, c=labels[:, :1], x=values(3, 4))

# ---- connectionist temporal classification ----
frames, spoken = values(7, 3, 5), "tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]], [1, 1, 3, 0, 2, 2], [3, 3])"
lengths = i32(7, 5, 6)
for t in ("", ", preprocess_collapse_repeated=True", ", ctc_merge_repeated=False"):
    add(V1 + "ctc_loss(%s, x, n%s)" % (spoken, t), x=frames, n=lengths)
add(V1 + "ctc_loss(%s, x, n, time_major=False)" % spoken, x=values(3, 7, 5), n=lengths)
add(V1 + "ctc_loss(%s, x, n)[0]" % spoken, x=frames, n=i32(7, 5, 2))
add(V1 + "ctc_loss(%s, x, n, ignore_longer_outputs_than_inputs=True)" % spoken, x=frames, n=i32(7, 5, 2))
add("tf.raw_ops.CTCLoss(inputs=x, labels_indices=[[0, 0], [1, 0]], labels_values=[1, 0], sequence_length=n)[0]", x=values(4, 2, 3), n=i32(4, 3))
for b in (-1, 0, 2):
    add("known tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], [1, 1, 3, 1], [3, 3]), x, None, n, blank_index=%d)" % b, x=frames, n=lengths)
    add("known tf.nn.ctc_loss([[1, 1, 3], [3, 0, 0], [1, 3, 3]], x, m, n, blank_index=%d)" % b, x=frames, n=lengths, m=i32(3, 1, 2))
add("known tf.nn.ctc_loss([[1, 1, 3], [3, 0, 0], [1, 3, 3]], x, m, n, logits_time_major=False)", x=values(3, 7, 5), n=lengths, m=i32(3, 1, 2))
add("eager tf.nn.ctc_loss(%s, x, None, n)" % spoken, x=frames, n=lengths)
for t in ("", ", merge_repeated=False", ", blank_index=0", ", blank_index=-2", ", blank_index=7"):
    add("tf.nn.ctc_greedy_decoder(x, n%s)" % t, x=frames, n=lengths)
add("tf.nn.ctc_greedy_decoder(x, n)[1]", x=frames, n=i32(7, 8, 6))
add("tf.raw_ops.CTCGreedyDecoder(inputs=x, sequence_length=n)", x=values(4, 2, 3), n=i32(4, 3))
for t in ("", ", beam_width=4, top_paths=2", ", beam_width=10, top_paths=3", ", beam_width=2, top_paths=3"):
    add("tf.nn.ctc_beam_search_decoder(x, n%s)" % t, x=frames, n=lengths)
    add("tf.nn.ctc_beam_search_decoder(x * 3.0, n%s)" % t, x=values(12, 2, 6), n=i32(12, 9))
add(V1 + "ctc_beam_search_decoder(x, n, 20, 3)", x=values(9, 2, 4), n=i32(9, 6))
add("tf.raw_ops.CTCBeamSearchDecoder(inputs=x, sequence_length=n, beam_width=5, top_paths=2)", x=values(4, 2, 3), n=i32(4, 3))
add("tf.keras.backend.ctc_batch_cost([[1, 1, 3], [3, 0, 0], [1, 3, 3]], tf.nn.softmax(x), n, m)", x=values(3, 7, 5), n=i32(7, 5, 6)[:, None], m=i32(3, 1, 2)[:, None])
add("tf.keras.backend.ctc_decode(tf.nn.softmax(x), n)", x=values(3, 7, 5), n=lengths)
add("tf.keras.backend.ctc_decode(tf.nn.softmax(x), n, False, 10, 2)", x=values(3, 7, 5), n=lengths)

# ---- quantization ----
wide = values(3, 4, 5) * 4
Q = "tf.quantization."
for t in ("", ", -3.0, 5.0", ", 0.5, 4.0, 4", ", -6.0, -1.0, narrow_range=True", ", 3.0, 2.0", ", num_bits=17"):
    add(Q + "fake_quant_with_min_max_args(x%s)" % t, x=wide)
add(Q + "fake_quant_with_min_max_args_gradient(np.float32([1, 2, 3]), np.float32([-7, 0, 9]), -3.0, 5.0)")
for t in ("-3.0, 5.0", "0.0, 0.0", "-1.0, 6.0, 3, True"):
    add(Q + "fake_quant_with_min_max_vars(x, %s)" % t, x=wide)
add(Q + "fake_quant_with_min_max_vars(x, a, b)", x=wide, a=np.float32(-2.5), b=np.float32(4.5))
add(Q + "fake_quant_with_min_max_vars_per_channel(x, a, b)", x=wide, a=np.float32([-2.5, -1, 0, 0, -8]), b=np.float32([4.5, 1, 6, 0, 8]))
add(Q + "fake_quant_with_min_max_vars_per_channel(x, a, b, 4, True)", x=wide[0], a=np.float32([-2.5, -1, 0, 0, -8]), b=np.float32([4.5, 1, 6, 0, 8]))
add(Q + "fake_quant_with_min_max_vars_per_channel(x, a, b)[0]", x=wide[0], a=np.float32([-2.5, -1]), b=np.float32([4.5, 1]))
add("tf.raw_ops.FakeQuantWithMinMaxArgs(inputs=x, min=-2.0, max=2.0)", x=wide)
add("tf.raw_ops.FakeQuantWithMinMaxArgsGradient(gradients=np.float32([1, 2, 3]), inputs=np.float32([-7, 0, 9]))")
add("tf.raw_ops.FakeQuantWithMinMaxVars(inputs=x, min=-2.0, max=2.0)", x=wide)
add("tf.raw_ops.FakeQuantWithMinMaxVarsGradient(gradients=np.float32([1, 2, 3]), inputs=np.float32([-7, 0, 9]), min=-1.0, max=3.0)")
add(Q + "fake_quant_with_min_max_vars_gradient(np.float32([1, 2, 3]), np.float32([-7, 0, 9]), -1.0, 3.0)")
add("tf.raw_ops.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=[-2.0, 0.0, -1.0, 1.0, -3.0], max=[2.0, 3.0, 4.0, 5.0, 6.0])", x=wide)
add("tf.raw_ops.FakeQuantWithMinMaxVarsPerChannelGradient(gradients=np.float32([[1, 2], [3, 4]]), inputs=np.float32([[-7, 0], [2, 9]]), min=[-1.0, -2.0], max=[3.0, 4.0])")
add(Q + "fake_quant_with_min_max_vars_per_channel_gradient(np.float32([[1, 2], [3, 4]]), np.float32([[-7, 0], [2, 9]]), [-1.0, -2.0], [3.0, 4.0])")
for v2 in ("", "_v2"):
    for t in ("-3.0, 5.0, range_given=True", "0.0, 0.0", "0.0, 6.0, False, 4, True", "-4.0, 1.0, True, 6, True, 'HALF_UP', narrow_range=True", "3.0, 1.0, range_given=True", "-1.0, 1.0, num_bits=64"):
        add(Q + "quantize_and_dequantize%s(x, %s)" % (v2, t), x=wide)
    add(Q + "quantize_and_dequantize%s(x, a, b, range_given=True, axis=1)" % v2, x=wide, a=np.float32([-1, -2, -3, -4]), b=np.float32([4, 3, 2, 1]))
    add(Q + "quantize_and_dequantize%s(x, a, b, axis=2)" % v2, x=wide, a=np.zeros(5, np.float32), b=np.zeros(5, np.float32))
add("tf.raw_ops.QuantizeAndDequantizeV2(input=x, input_min=a, input_max=b)", x=wide.astype(np.float64), a=np.float64(0), b=np.float64(0))
add("tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=a, input_max=b, num_bits=4)", x=wide.astype(np.float64), a=np.float64(-2), b=np.float64(3))
add("tf.raw_ops.QuantizeAndDequantizeV4(input=x, input_min=a, input_max=b, range_given=True)", x=wide, a=np.float32(-2), b=np.float32(3))
add("tf.raw_ops.QuantizeAndDequantizeV4Grad(gradients=np.float32([1, 2, 3]), input=np.float32([-7, 0, 9]), input_min=-1.0, input_max=3.0)")

# ---- other ops ----
add("tf.raw_ops.InTopK(predictions=x, targets=[1, 0, 3, 7], k=2)", x=values(4, 5))
add("tf.raw_ops.BiasAddV1(value=x, bias=b)", x=values(2, 3, 4), b=values(4) + 1)
add("tf.raw_ops.BiasAddV1(value=x, bias=b)[0]", x=values(2, 3, 4), b=values(3) + 1)
add("tf.raw_ops.NthElement(input=x, n=1)", x=values(3, 5))
add("tf.raw_ops.NthElement(input=x, n=2, reverse=True)", x=values(2, 3, 5))
add("tf.raw_ops.NthElement(input=x, n=5)", x=values(2, 3, 5))
add("tf.raw_ops.DataFormatDimMap(x=x)", x=i32(0, 1, 2, 3, -1, -4))
add("tf.raw_ops.DataFormatDimMap(x=x, src_format='NCDHW', dst_format='NDHWC')", x=i32(0, 1, 2, 3, 4, -1))
add("tf.raw_ops.DataFormatVecPermute(x=x)", x=i32(7, 4, 9, 3))
add("tf.raw_ops.DataFormatVecPermute(x=x, src_format='NCHW', dst_format='NHWC')", x=i32(7, 4, 9, 3, 1, 2, 5, 6).reshape(4, 2))
add("tf.raw_ops.DataFormatVecPermute(x=x, src_format='NHWC', dst_format='HWNC')", x=np.array([7, 4, 9, 3], np.int64))
add("tf.raw_ops.DataFormatVecPermute(x=x, src_format='NHWC', dst_format='NCHW') + 0", x=i32(7, 4))
add("tf.raw_ops.DataFormatVecPermute(x=x)[0]", x=i32(7, 4, 9))
steep = np.array([[3, 1, 2, 2, 5, 0], [1, 2, 3, 4, 5, 6], [2, 2, 1, 1, 3, -1]], np.float32)
add("known tf.nn.isotonic_regression(x)", x=steep)
add("known tf.nn.isotonic_regression(x, False)", x=steep)
add("known tf.nn.isotonic_regression(x, axis=0)", x=steep.astype(np.float64))
add("known tf.nn.isotonic_regression(x)[0] + 0.0", x=steep.astype(np.int32))
add("known tf.nn.isotonic_regression(x, False)[0] + 0.0", x=steep.astype(np.int8))
add("tf.raw_ops.IsotonicRegression(input=x)", x=steep)
STOP = "tf.stop_gradient(%s)"
add("tf.raw_ops.GRUBlockCell(x=x, h_prev=h, w_ru=a, w_c=b, b_ru=c, b_c=d)".replace("=x", "=" + STOP % "x").replace("=h", "=" + STOP % "h").replace("=a", "=" + STOP % "a")
    .replace("=b", "=" + STOP % "b").replace("=c", "=" + STOP % "c").replace("=d", "=" + STOP % "d"), x=values(2, 3) / 2, h=values(2, 4) / 2, a=values(7, 8) / 3, b=values(7, 4) / 3, c=values(8) / 2, d=values(4) / 2)
for t in ("", ", use_peephole=True, cell_clip=0.5, forget_bias=0.3", ", cell_clip=-1.0"):
    add("tf.raw_ops.LSTMBlockCell(x=np.float32(x), cs_prev=np.float32(c), h_prev=np.float32(h), w=np.float32(a), wci=np.float32(p), wcf=np.float32(p), wco=np.float32(p), b=np.float32(b)%s)"
        .replace("np.float32(", "tf.stop_gradient(") % t, x=values(2, 3) / 2, c=values(2, 4), h=values(2, 4) / 2, a=values(7, 16) / 3, p=values(4) / 3, b=values(16) / 2)
ids = "tf.SparseTensor([[0, 0], [0, 2], [1, 0], [3, 1]], tf.constant([1, 3, 0, 3], tf.int64), [4, 3])"
heavy = "tf.SparseTensor([[0, 0], [0, 2], [1, 0], [3, 1]], [0.5, 2.0, 1.5, 3.0], [4, 3])"
for combiner in ("mean", "sqrtn", "sum"):
    add("known tf.nn.embedding_lookup_sparse(w, %s, None, '%s')" % (ids, combiner), w=values(5, 4))
    add("known tf.nn.embedding_lookup_sparse(w, %s, %s, '%s', max_norm=1.5)" % (ids, heavy, combiner), w=values(5, 4))
    add("known tf.nn.safe_embedding_lookup_sparse(w, %s, combiner='%s')" % (ids, combiner), w=values(5, 4))
    add("known tf.nn.safe_embedding_lookup_sparse(w, %s, %s, '%s', default_id=4)" % (ids.replace("1, 3, 0", "-1, 3, -2"), heavy.replace("3.0", "-3.0"), combiner), w=values(5, 4))
add("known tf.nn.safe_embedding_lookup_sparse(w, tf.SparseTensor([[0, 0, 1], [1, 1, 0]], tf.constant([2, 3], tf.int64), [2, 2, 2]))", w=values(5, 4))
add("known tf.nn.embedding_lookup_sparse(w, %s, None, 'max')" % ids, w=values(5, 4))
for kind, plain in (("qint8", "int8"), ("quint8", "uint8"), ("qint16", "int16"), ("quint16", "uint16")):
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        add("[tf.bitcast(q, tf.%s) if i == 0 else q for i, q in enumerate(tf.quantization.quantize(tf.stop_gradient(x), -3.0, 5.0, tf.%s, '%s'))]" % (plain, kind, mode), x=wide)
        add("tf.quantization.dequantize(tf.quantization.quantize(tf.stop_gradient(x), -3.0, 5.0, tf.%s, '%s')[0], -3.0, 5.0, '%s')" % (kind, mode, mode), x=wide)
add("[tf.bitcast(q, tf.int8) if i == 0 else q for i, q in enumerate(tf.quantization.quantize(tf.stop_gradient(x), [-1.0, -2.0, -3.0, 0.0], [1.0, 2.0, 4.0, 9.0], tf.qint8, 'SCALED', 'HALF_TO_EVEN', narrow_range=True, axis=1))]", x=wide)
add("tf.raw_ops.Dequantize(input=tf.raw_ops.QuantizeV2(input=tf.stop_gradient(x), min_range=0.0, max_range=6.0, T=tf.quint8)[0], min_range=0.0, max_range=6.0)", x=wide)
add("tf.quantization.quantize(tf.stop_gradient(x), 3.0, 1.0, tf.quint8)[1]", x=wide)


def flat(tf, value):
    """The tensors of a result."""
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flat(tf, item)]
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [tf.convert_to_tensor(value)] if value is not None else []


def run(tf, text, inputs, how="eager"):
    """The outputs and gradients of a case as arrays; how: eager, traced, unknown."""
    text = text.removeprefix("known ").removeprefix("eager ")
    tf.random.set_seed(1)
    names = list(inputs)
    code = compile(text, text, "eval")

    def body(*given):
        outputs = flat(tf, eval(code, {"tf": tf, "np": np, "values": values, "i32": i32, **dict(zip(names, given))}))
        terms = [tf.reduce_sum(tf.cast(o, tf.float64) * tf.cast(tf.reshape(tf.range(tf.size(o)) % 7 + 1, tf.shape(o)), tf.float64)) for o in outputs if o.dtype.is_floating]
        return outputs, terms

    def whole(*given):
        floats = [t for t in given if t.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            outputs, terms = body(*given)
            total = tf.add_n(terms) if terms else None
        gradients = tape.gradient(total, floats) if terms and floats else []
        return outputs, [tf.zeros([0]) if g is None else tf.convert_to_tensor(g) for g in gradients]

    given = [tf.constant(a) for a in inputs.values()]
    if how != "eager":
        signature = [tf.TensorSpec(None if how == "unknown" else t.shape, t.dtype) for t in given]
        whole = tf.function(whole, input_signature=signature, autograph=False)
    outputs, gradients = whole(*given)
    return [t.numpy() for t in outputs], [t.numpy() for t in gradients]
