"""Makes tests/golden/op_cases/summary.json: summaries as ops. Usage: ops_summary.py (needs tensorflow)"""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("summary")
for d in (np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8):
    c.add("ScalarSummary", tags="loss", values=d(3))
c.add("ScalarSummary", tags=["a", "b/c"], values=np.float32([0.5, -2]))
c.add("ScalarSummary", tags=np.zeros([0], "S"), values=np.zeros([0], np.float32))
c.error("ScalarSummary", tags=["a"], values=np.float32([1, 2]), code="InvalidArgumentError", text="tags and values are not the same shape: [1] != [2]")
rng = np.random.RandomState(0)
for d in (np.float32, np.float64, np.int32):
    c.add("HistogramSummary", tag="h", values=(rng.randn(4, 5) * 10).astype(d))
c.add("HistogramSummary", tag="zeros", values=np.zeros([3], np.float32))
c.add("HistogramSummary", tag="none", values=np.zeros([0], np.float32))
c.add("HistogramSummary", tag="one", values=np.float32(1))
c.add("HistogramSummary", tag="far", values=np.float64([1e300, -1e300, 1e-13, -1e-13, 1e-12, 1e20, -0.0]))
c.error("HistogramSummary", tag="bad", values=np.float32([1, np.nan]), code="InvalidArgumentError", text="Nan in summary histogram for: ")
c.error("HistogramSummary", tag="bad", values=np.float32([1, np.inf]), code="InvalidArgumentError", text="Infinity in Histogram for: ")
one = tf.raw_ops.ScalarSummary(tags="a", values=1.0).numpy()
two = tf.raw_ops.ScalarSummary(tags=["b", "c"], values=[1.0, 2.0]).numpy()
c.add("MergeSummary", inputs=[one])
c.add("MergeSummary", inputs=[one, two])
c.add("MergeSummary", inputs=[np.array([two, one], object), b""])
c.error("MergeSummary", inputs=[one, one], code="InvalidArgumentError", text="Duplicate tag a found in summary inputs")
c.error("MergeSummary", inputs=[b"\xff\xff"], code="InvalidArgumentError", text="Could not parse one of the summary inputs")
for sound, rate in ((np.linspace(-1.2, 1.2, 14).reshape(7, 2), 8000), (np.zeros([0, 1]), 44100), (np.float32([[0.1], [-0.3], [1e-5]]), 16000)):
    c.add("EncodeWav", audio=np.float32(sound), sample_rate=np.int32(rate))
wav = tf.raw_ops.EncodeWav(audio=np.float32([[0.5, -0.25], [1.0, 0.125], [-1.0, 0.03]]), sample_rate=8000).numpy()
single = tf.raw_ops.EncodeWav(audio=np.float32([[0.5], [0.251]]), sample_rate=44100).numpy()
for channels, samples in ((-1, -1), (1, -1), (2, 2), (3, 5), (0, 0)):
    for contents in (wav, single):
        c.add("DecodeWav", contents=contents, desired_channels=channels, desired_samples=samples)
extra = wav[:36] + b"LIST\x04\0\0\0abcd" + wav[36:]
c.add("DecodeWav", contents=extra)
for bad in (b"", b"RIFF", wav[:20], b"JUNK" + wav[4:], wav[:20] + b"\x03" + wav[21:], wav[:34] + b"\x08" + wav[35:]):
    c.error("DecodeWav", contents=bad, code="InvalidArgumentError")
c.add("ShardedFilename", basename="model", shard=np.int32(3), num_shards=np.int32(12))
c.write()
