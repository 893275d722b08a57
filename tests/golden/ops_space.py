"""Op cases of the ops between space, batch and depth: writes tests/golden/op_cases/space.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("space")
rng = np.random.RandomState(5)


def r(*shape, t=np.float64):
    return np.round(rng.randn(*shape), 2).astype(t)


def ints(v, t=np.int32):
    return np.array(v, t)


BLOCKS = [((1, 4, 6, 1), [2, 3], [[0, 0], [0, 0]]), ((2, 3, 5, 2), [2, 2], [[1, 0], [0, 1]]), ((1, 2, 3), [4], [[5, 1]]), ((2, 2, 3, 2, 1), [1, 2, 2], [[0, 0], [1, 2], [0, 2]]),
          ((2, 3), [], np.zeros([0, 2])), ((1, 1, 1, 1), [3, 2], [[0, 2], [3, 0]])]
for shape, block, border in BLOCKS:
    for t in (np.int32, np.int64):
        x = r(*shape)
        y = tf.raw_ops.SpaceToBatchND(input=x, block_shape=ints(block, t), paddings=ints(border, t)).numpy()
        c.add("SpaceToBatchND", input=x, block_shape=ints(block, t), paddings=ints(border, t), gradient=True)
        c.add("BatchToSpaceND", input=y, block_shape=ints(block, t), crops=ints(border, t), gradient=True)
for t in (np.float32, np.float16, np.int8, np.uint8, np.int64):
    c.add("SpaceToBatchND", input=(10 * r(1, 4, 4, 1)).astype(t), block_shape=ints([2, 2]), paddings=ints([[2, 0], [0, 0]]))
c.add("BatchToSpaceND", input=r(4, 3, 3, 1), block_shape=ints([2, 2]), crops=ints([[3, 0], [1, 5]]), gradient=True)
for size in (2, 3):
    x = r(2, 6 - size, 4, 2)
    border = ints([[0, (size - (6 - size) % size) % size], [size - 1, (1 - 4) % size]])
    c.add("SpaceToBatch", input=x, paddings=border, block_size=size, gradient=True)
    y = tf.raw_ops.SpaceToBatch(input=x, paddings=border, block_size=size).numpy()
    c.add("BatchToSpace", input=y, crops=border, block_size=size, gradient=True)
INVALID = "InvalidArgumentError"
c.error("SpaceToBatchND", INVALID, "is not divisible by block_shape", input=r(1, 3, 4, 1), block_shape=ints([2, 2]), paddings=ints([[0, 0], [0, 0]]))
c.error("SpaceToBatchND", INVALID, "input rank should be >= ", input=r(3), block_shape=ints([2, 2]), paddings=ints([[0, 0], [0, 0]]))
c.error("SpaceToBatchND", INVALID, "", input=r(1, 4, 4, 1), block_shape=ints([0, 2]), paddings=ints([[0, 0], [0, 0]]))
c.error("SpaceToBatchND", INVALID, "", input=r(1, 4, 4, 1), block_shape=ints([2, 2]), paddings=ints([[0, -2], [0, 0]]))
c.error("BatchToSpaceND", INVALID, "Input batch dimension (3) is not divisible by product of block sizes (4)", input=r(3, 2, 2, 1), block_shape=ints([2, 2]), crops=ints([[0, 0], [0, 0]]))
c.error("BatchToSpaceND", INVALID, "must be non-negative", input=r(4, 2, 2, 1), block_shape=ints([2, 2]), crops=ints([[3, 2], [0, 0]]))
for size, channels in ((2, 3), (3, 1)):
    x = r(2, 2, 3, size * size * channels)
    c.add("DepthToSpace", input=x, block_size=size, gradient=True)
    c.add("SpaceToDepth", input=tf.raw_ops.DepthToSpace(input=x, block_size=size).numpy(), block_size=size, gradient=True)
for t in (np.float32, np.float16, np.uint8, np.int32):
    c.add("DepthToSpace", input=(10 * r(1, 1, 2, 4)).astype(t), block_size=2)
    c.add("SpaceToDepth", input=(10 * r(1, 2, 4, 1)).astype(t), block_size=2)
c.error("DepthToSpace", INVALID, "divisible by", input=r(1, 2, 2, 6), block_size=2)
c.error("SpaceToDepth", INVALID, "divisible by", input=r(1, 3, 2, 1), block_size=2)
c.add("ShardedFilespec", basename="a/b", num_shards=ints(3))
c.write()
