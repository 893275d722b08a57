"""Makes tests/golden/summary/events.tfevents with TensorFlow: what tests/python/summary_program.py writes. Times are set to 0."""
import glob
import os
import shutil
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import summary_program

scratch = tempfile.mkdtemp()
summary_program.write(tf, scratch)
os.makedirs(os.path.join(HERE, "summary"), exist_ok=True)
with tf.io.TFRecordWriter(os.path.join(HERE, "summary", "events.tfevents")) as out:
    for event in tf.compat.v1.train.summary_iterator(glob.glob(scratch + "/*")[0]):
        event.wall_time = 0
        out.write(event.SerializeToString())
shutil.rmtree(scratch)
