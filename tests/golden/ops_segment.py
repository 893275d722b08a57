"""Op cases of sorted segments: greatest, least, products and means by segment: tests/golden/op_cases/segment.json. Run under TensorFlow."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("segment")
rows = np.float64([[1, -2], [3, 4], [3, 0.5], [-1, 2], [0.25, 5]])
ids = np.int32([0, 0, 1, 3, 3])
for op in ("SegmentMax", "SegmentMin", "SegmentProd", "SegmentMean"):
    c.add(op, data=rows, segment_ids=ids, gradient=True)
    c.add(op, data=rows[:, 0], segment_ids=ids.astype(np.int64), gradient=True)
    c.add(op, data=rows.astype(np.float32), segment_ids=ids)
    c.add(op, data=tf.cast(rows, tf.float16), segment_ids=ids)
    for d in (np.int32, np.int64, np.uint8):
        c.add(op, data=np.array([[1, 7], [3, 4], [2, 2], [9, 1], [5, 6]], d), segment_ids=ids)
    c.add(op, data=np.zeros((0, 2), np.float32), segment_ids=np.int32([]))
    c.error(op, data=rows, segment_ids=np.int32([0, 1, 0, 1, 2]), code="InvalidArgumentError", text="segment ids are not increasing")
    c.error(op, data=rows, segment_ids=np.int32([0, 1]), code="InvalidArgumentError", text="segment_ids should be the same size as dimension 0 of input.")
c.add("SegmentMean", data=np.complex64([1 + 1j, 3]), segment_ids=np.int32([0, 0]))
c.write()
