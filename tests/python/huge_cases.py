"""Results that cannot be: sizes far beyond memory, or beyond 64 bits. Each call runs in a child of its own and prints one line: the class of the error, the
most memory that the process had (MB), the error's text.

Usage: huge_cases.py LIMIT CASE... (LIMIT: of the address space, GB; without cases all are run)"""
N, M = 2 ** 31, 2 ** 62
CASES = """
tf.eye(2 ** 20, 2 ** 40)
tf.eye(3, batch_shape=[2 ** 30, 2 ** 30])
tf.strings.ngrams(tf.constant(['a', 'b', 'c']), 2 ** 20, pad_values=('L', 'R'))
tf.zeros([M])
tf.zeros([N, N])
tf.ones([N, N, 4])
tf.fill([N, N], 1.0)
tf.fill([M, M], 'a')
tf.zeros([N, N], tf.string)
tf.range(M)
tf.range(0., 1e18, 0.5)
tf.range(0, M, 1, dtype=tf.int64)
tf.linspace(0., 1., M)
tf.one_hot([1, 2, 3], N * 2 ** 20)
tf.one_hot(tf.zeros([1000], tf.int32), N - 1)
tf.tile([[1.]], [N, N])
tf.tile(['a'], [M])
tf.repeat([1, 2], M // 4)
tf.repeat([1, 2], [M, M])
tf.broadcast_to(1.0, [N, N])
tf.broadcast_to(1.0, [M])
tf.linalg.diag([1., 2.], k=N - 8)
tf.linalg.diag(tf.zeros([2 ** 22]))
tf.linalg.diag([1.], num_rows=N - 1, num_cols=N - 1)
tf.linalg.tensor_diag(tf.zeros([2 ** 22]))
tf.random.normal([N, N])
tf.random.uniform([M])
tf.random.uniform([N, N], maxval=5, dtype=tf.int32)
tf.random.truncated_normal([N, N])
tf.random.stateless_normal([N, N], [1, 2])
tf.random.stateless_uniform([M], [1, 2])
tf.random.gamma([N, N], 1.0)
tf.random.poisson([N, N], 1.0)
tf.random.categorical([[1., 2.]], M)
tf.random.Generator.from_seed(1).normal([N, N])
tf.pad([1.], [[0, M]])
tf.pad([[1.]], [[N, N], [N, N]])
tf.pad([1., 2.], [[M, M]])
tf.image.resize(tf.zeros([1, 2, 2, 3]), [2 ** 30, 2 ** 30])
tf.image.resize(tf.zeros([1, 2, 2, 3]), [2 ** 30, 2 ** 30], 'nearest')
tf.image.resize(tf.zeros([1, 2, 2, 3]), [2 ** 30, 2 ** 30], 'bicubic')
tf.image.resize(tf.zeros([1, 2, 2, 3]), [2 ** 30, 2 ** 30], 'area')
tf.image.pad_to_bounding_box(tf.zeros([2, 2, 3]), 0, 0, 2 ** 30, 2 ** 30)
tf.image.resize_with_pad(tf.zeros([2, 2, 3]), 2 ** 30, 2 ** 30)
tf.image.crop_and_resize(tf.zeros([1, 2, 2, 3]), [[0., 0., 1., 1.]], [0], [2 ** 30, 2 ** 30])
tf.sequence_mask([1, 2], M)
tf.sequence_mask([M])
tf.sequence_mask(tf.constant([1, M], tf.int64))
tf.meshgrid(tf.zeros([2 ** 22]), tf.zeros([2 ** 22]))
tf.meshgrid(tf.zeros([2 ** 16]), tf.zeros([2 ** 16]), tf.zeros([2 ** 16]))
tf.math.unsorted_segment_sum([1.], [0], M)
tf.math.segment_sum([1.], tf.constant([2 ** 40], tf.int64))
tf.sparse.to_dense(tf.SparseTensor([[0, 0]], [1.], [N, N]))
tf.zeros_like(tf.broadcast_to(tf.zeros([]), [1])) + tf.zeros([N, N])
tf.zeros([2 ** 22, 1]) + tf.zeros([1, 2 ** 22])
tf.zeros([2 ** 22, 1]) * tf.zeros([1, 2 ** 22])
tf.matmul(tf.zeros([2 ** 22, 1]), tf.zeros([1, 2 ** 22]))
tf.tensordot(tf.zeros([2 ** 22]), tf.zeros([2 ** 22]), 0)
tf.einsum('i,j->ij', tf.zeros([2 ** 22]), tf.zeros([2 ** 22]))
tf.concat([tf.zeros([1])] * 2, 0) + tf.ones([M])
tf.gather(tf.zeros([1, 2 ** 22]), tf.zeros([2 ** 22], tf.int32))
tf.where(tf.zeros([2 ** 22, 1], tf.bool), tf.zeros([1, 2 ** 22]), 0.)
tf.stack([tf.zeros([1])] * 3) + tf.zeros([N, 1, N])
tf.nn.conv2d_transpose(tf.zeros([1, 2, 2, 1]), tf.zeros([1, 1, 1, 1]), [1, 2 ** 31, 2 ** 31, 1], 2 ** 30)
tf.nn.conv2d(tf.zeros([1, 2, 2, 1]), tf.zeros([1, 1, 1, 1]), 1, [[0, 0], [2 ** 30, 2 ** 30], [2 ** 30, 2 ** 30], [0, 0]])
tf.keras.layers.UpSampling2D(2 ** 29)(tf.zeros([1, 4, 4, 3]))
tf.keras.layers.ZeroPadding2D(2 ** 30)(tf.zeros([1, 4, 4, 3]))
tf.keras.layers.RepeatVector(2 ** 60)(tf.zeros([2, 3]))
tf.keras.layers.Dense(2 ** 40)(tf.zeros([1, 2 ** 10]))
tf.keras.layers.Embedding(2 ** 40, 2 ** 10)(tf.zeros([1], tf.int32))
tf.keras.utils.to_categorical([1], 2 ** 60)
tf.keras.initializers.Zeros()([N, N])
tf.keras.initializers.GlorotUniform()([N, N])
tf.keras.initializers.Orthogonal()([2 ** 22, 2 ** 22])
tf.keras.initializers.Identity()([2 ** 22, 2 ** 22])
tf.Variable(tf.zeros([N, N]))
tf.TensorArray(tf.float32, 2 ** 40).stack()
tf.RaggedTensor.from_row_splits([1.], [0, 1]).to_tensor(shape=[N, N])
tf.ragged.constant([[1]]).to_tensor(shape=[N, N])
tf.strings.reduce_join(tf.fill([M], 'a'))
tf.linalg.band_part(tf.zeros([N, N]), 1, 1)
tf.linalg.set_diag(tf.zeros([2 ** 22, 2 ** 22]), tf.zeros([2 ** 22]))
tf.math.top_k(tf.zeros([4]), N - 1)
tf.raw_ops.Fill(dims=tf.constant([M, M], tf.int64), value=1.)
tf.raw_ops.ResizeNearestNeighbor(images=tf.zeros([1, 2, 2, 1]), size=[2 ** 30, 2 ** 30])
tf.raw_ops.MirrorPad(input=tf.zeros([2]), paddings=[[1, 1]], mode='REFLECT') + tf.zeros([M])
""".strip().split("\n")




def run(case):
    import thalweg as tf
    try:
        value = eval(case, {"tf": tf, "N": N, "M": M})
        return "value", str(getattr(value, "shape", value))
    except Exception as e:
        return type(e).__name__, str(e)


def main(limit, cases):
    import os
    import resource
    import signal
    from peak import kilobytes

    import thalweg as tf
    tf.zeros([1])
    resource.setrlimit(resource.RLIMIT_AS, (limit << 30, limit << 30))
    for case in cases:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            kind, text = run(case)
            peak = kilobytes() >> 10
            print(case, kind, peak, text[:300].replace("\n", " ").replace("\t", " "), sep="\t", flush=True)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            print(case, "ended with status %d" % status, 0, "", sep="\t", flush=True)


if __name__ == "__main__":
    import sys
    main(int(sys.argv[1]), sys.argv[2:] or CASES)
