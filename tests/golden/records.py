"""Makes tests/golden/records/{plain,zlib,gzip,gzip9,flushed}.tfrecord with TensorFlow: the same 50 records, "abc<i>" repeated i times."""
import os

import tensorflow as tf

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "records")
os.makedirs(folder, exist_ok=True)
kinds = {"plain": None, "zlib": "ZLIB", "gzip": "GZIP", "gzip9": tf.io.TFRecordOptions("GZIP", compression_level=9), "flushed": "GZIP"}
for name, options in kinds.items():
    with tf.io.TFRecordWriter(os.path.join(folder, name + ".tfrecord"), options) as writer:
        for i in range(50):
            writer.write(b"abc%d" % i * i)
            if name == "flushed" and i in (20, 30, 31):
                writer.flush()
