"""Makes tests/golden/slices/slices.zip: a checkpoint with partitioned tensors, as TensorFlow's SaveV2 writes it, and shards.zip: one in 130 files; checks,
given a prefix, one that was written here.
Run it with TensorFlow's Python: python tests/golden/slices.py [PREFIX]"""
import os
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import slice_cases  # noqa: E402
import golden  # noqa: E402

if len(sys.argv) > 1:
    slice_cases.check(tf, sys.argv[1])
else:
    with tempfile.TemporaryDirectory() as scratch:
        slice_cases.write(tf, os.path.join(scratch, "c"))
        slice_cases.check(tf, os.path.join(scratch, "c"))
        slice_cases.write_shards(tf, os.path.join(scratch, "s"))
        for name, start in (("slices.zip", "c"), ("shards.zip", "s")):
            with zipfile.ZipFile(golden.path(__file__, name), "w", zipfile.ZIP_LZMA if start == "c" else zipfile.ZIP_STORED) as archive:
                for file in sorted(f for f in os.listdir(scratch) if f.startswith(start)):
                    archive.write(os.path.join(scratch, file), file)
