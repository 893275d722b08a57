"""Logs for the tests of the dashboard: the same summaries by thalweg and by TensorFlow (new style), and as TensorFlow 1, PyTorch's SummaryWriter and
tensorboardX write them (old style). Times are those of a counter, so that files are the same whenever they are made.

usage: board_logs.py FOLDER     writes FOLDER with thalweg"""
import os
import shutil
import struct
import sys

import numpy as np

TEXT = """# Run *one*

A paragraph with **bold**, `code <b>` and a [link](https://example.com/a?b=c&d=e).
Second line & more.

- first
- second

| name | value |
|------|-------|
| a    | 1     |
| b    | 2     |

> quoted

```
fenced <code>
```
"""


def normalise(tf, folder, start):
    """Event files get plain names and times start, start + 0.5, …"""
    for place, _, names in os.walk(folder):
        for number, name in enumerate(sorted(n for n in names if "tfevents" in n)):
            path = os.path.join(place, name)
            records = [r.numpy() for r in tf.data.TFRecordDataset(path)]
            os.remove(path)
            with tf.io.TFRecordWriter(os.path.join(place, "events.out.tfevents.%d" % (number + 1))) as out:
                for i, record in enumerate(records):
                    assert record[0] == 9
                    out.write(b"\x09" + struct.pack("<d", start + 0.5 * i) + record[9:])


def picture(height, width, phase):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x / (width - 1), y / (height - 1), np.full([height, width], phase)], axis=-1).astype(np.float32)


def new_style(tf, folder):
    """What tf.summary writes: two runs."""
    for number, run in enumerate(("train", "validation")):
        writer = tf.summary.create_file_writer(os.path.join(folder, run))
        with writer.as_default():
            for step in range(12):
                tf.summary.scalar("loss", np.exp(-step / 4) + 0.1 * number, step=step, description="Falls *quickly*.\n\nTwo paragraphs.")
                tf.summary.scalar("metrics/accuracy", 1 - np.exp(-step / 3) - 0.05 * number, step=step)
            if run == "validation":
                continue
            for step in range(3):
                tf.summary.image("picture", np.stack([picture(6, 8, step / 4), picture(6, 8, 1 - step / 4)]), step=step, max_outputs=2)
                tf.summary.histogram("weights", np.sin(np.arange(200.0)) * (step + 1), step=step, buckets=10)
                sound = np.sin(np.arange(400) * (step + 1) / 7).astype(np.float32)
                tf.summary.audio("sound", sound.reshape([1, 400, 1]), 8000, step=step)
            tf.summary.histogram("constant", np.ones(5), step=0)
            tf.summary.text("note", TEXT, step=0)
            tf.summary.text("note", "plain text, <script>alert(1)</script>", step=1)
            tf.summary.text("table", np.array([["a", "**b**"], ["c", "d"]]), step=0)

            @tf.function
            def model(x, w):
                with tf.name_scope("layer"):
                    return tf.nn.relu(tf.matmul(x, w, name="product"), name="active")
            tf.summary.trace_on(graph=True, profiler=False)
            model(tf.zeros([2, 3]), tf.zeros([3, 4]))
            tf.summary.trace_export("traced", step=0)
        writer.close()


def hparams(tf, folder):
    from tensorboard.plugins.hparams import api as hp
    units, rate, name = hp.HParam("units", hp.Discrete([16, 32])), hp.HParam("rate", hp.RealInterval(0.001, 0.1)), hp.HParam("name", hp.Discrete(["a", "b"]))
    with tf.summary.create_file_writer(folder).as_default():
        hp.hparams_config(hparams=[units, rate, name], metrics=[hp.Metric("accuracy", display_name="Accuracy")])
    for i, values in enumerate([{units: 16, rate: 0.01, name: "a"}, {units: 32, rate: 0.02, name: "b"}, {units: 32, rate: 0.05, name: "a"}]):
        with tf.summary.create_file_writer(os.path.join(folder, "trial%d" % i)).as_default():
            hp.hparams(values, trial_id="trial%d" % i, start_time_secs=1700000000.0 + i)
            for step in range(3):
                tf.summary.scalar("accuracy", 0.5 + 0.1 * i + 0.03 * step, step=step)


def old_style(tf, folder):
    """What TensorFlow 1, PyTorch's SummaryWriter and tensorboardX write: values that are no tensors."""
    v1 = tf.compat.v1
    Value, png = v1.Summary.Value, tf.io.encode_png((picture(5, 7, 0.5) * 255).astype(np.uint8)).numpy()
    wav = tf.audio.encode_wav(np.sin(np.arange(300) / 9).astype(np.float32).reshape([300, 1]), 8000).numpy()
    with tf.io.TFRecordWriter(os.path.join(folder, "events.out.tfevents.1")) as out:
        def write(step, **what):
            out.write(v1.Event(wall_time=1.0, step=step, **what).SerializeToString())
        out.write(v1.Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())
        for step in range(10):
            write(step, summary=v1.Summary(value=[Value(tag="Loss/train", simple_value=1 / (step + 1)), Value(tag="Loss/test", simple_value=float("nan") if step == 4
                                                                                                                else 2 / (step + 1))]))
        for step in range(2):
            write(step, summary=v1.Summary(value=[Value(tag="image", image=v1.Summary.Image(height=5, width=7, colorspace=3, encoded_image_string=png))]))
            histogram = v1.HistogramProto(min=-1.5, max=2.5, num=9, sum=3, sum_squares=8, bucket_limit=[-2, -1, 0, 1, 2, 1.7e308],
                                          bucket=[0, 2, 3, 2, 1, 1 + step])
            write(step, summary=v1.Summary(value=[Value(tag="values", histo=histogram)]))
            write(step, summary=v1.Summary(value=[Value(tag="audio", audio=v1.Summary.Audio(sample_rate=8000, num_channels=1, length_frames=300,
                                                                                               encoded_audio_string=wav, content_type="audio/wav"))]))
        text = v1.SummaryMetadata(plugin_data=v1.SummaryMetadata.PluginData(plugin_name="text", content=b""))
        write(0, summary=v1.Summary(value=[Value(tag="words/text_summary", metadata=text, tensor=tf.make_tensor_proto(np.array(["some *words*"], dtype=object)))]))
        graph = v1.Graph()
        with graph.as_default():
            x = v1.placeholder(tf.float32, [None, 3], name="x")
            with tf.name_scope("dense"):
                w = v1.constant(np.arange(12.0).reshape([3, 4]), tf.float32, name="w")
                tf.nn.relu(tf.matmul(x, w, name="product"), name="out")
        write(0, graph_def=graph.as_graph_def(add_shapes=True).SerializeToString())
        curve(v1, write)


def curve(v1, write):
    """A precision-recall curve as the plugin and PyTorch's add_pr_curve write it: six rows of numbers."""
    thresholds = np.linspace(0, 1, 6)
    tp, fp = np.round(100 * (1 - thresholds)), np.round(60 * (1 - thresholds) ** 2)
    tn, fn = 60 - fp, 100 - tp
    data = np.stack([tp, fp, tn, fn, tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)]).astype(np.float32)
    metadata = v1.SummaryMetadata(display_name="curve", plugin_data=v1.SummaryMetadata.PluginData(plugin_name="pr_curves", content=b"\x10\x06"))
    import tensorflow
    tensor = tensorflow.make_tensor_proto(data)
    for step in range(2):
        write(step, summary=v1.Summary(value=[v1.Summary.Value(tag="pr/curve", metadata=metadata, tensor=tensor)]))


def custom_scalars(tf, folder):
    from tensorboard.plugins.custom_scalar import layout_pb2, summary
    layout = layout_pb2.Layout(category=[layout_pb2.Category(title="losses", chart=[
        layout_pb2.Chart(title="both", multiline=layout_pb2.MultilineChartContent(tag=["loss.*", "metrics/.*"])),
        layout_pb2.Chart(title="band", margin=layout_pb2.MarginChartContent(series=[
            layout_pb2.MarginChartContent.Series(value="loss", lower="metrics/low", upper="metrics/high")]))])])
    with tf.io.TFRecordWriter(os.path.join(folder, "events.out.tfevents.9")) as out:
        out.write(tf.compat.v1.Event(wall_time=1.0, summary=tf.compat.v1.Summary.FromString(summary.pb(layout).SerializeToString())).SerializeToString())


def embedding(folder):
    points = np.array([[np.cos(i), np.sin(i), i / 10, (i % 3) - 1] for i in range(12)])
    with open(os.path.join(folder, "tensors.tsv"), "w") as out:
        out.writelines("\t".join("%.6g" % v for v in row) + "\n" for row in points)
    with open(os.path.join(folder, "metadata.tsv"), "w") as out:
        out.writelines("point %d\n" % i for i in range(12))
    with open(os.path.join(folder, "projector_config.pbtxt"), "w") as out:
        out.write('embeddings {\n  tensor_name: "words"\n  tensor_path: "tensors.tsv"\n  metadata_path: "metadata.tsv"\n}\n')


def embedding_in_checkpoint(tf, folder):
    """Tables of a checkpoint: one that the config names, one that it does not, and what is no table."""
    table = np.arange(20.0).reshape([5, 4]).astype(np.float32)
    tf.train.Checkpoint(table=tf.Variable(table), other=tf.Variable(table[:2].astype(np.float64)), bias=tf.Variable(table[0])).save(os.path.join(folder, "model.ckpt"))
    with open(os.path.join(folder, "projector_config.pbtxt"), "w") as out:
        out.write('embeddings {\n  tensor_name: "table/.ATTRIBUTES/VARIABLE_VALUE:0"\n  metadata_path: "names.tsv"\n}\n')
    with open(os.path.join(folder, "names.tsv"), "w") as out:
        out.writelines("row %d\n" % i for i in range(5))


def keras_graph(tf, folder):
    """The conceptual graph, as the Keras callback writes it."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu", input_shape=(3,), name="first"), tf.keras.layers.Dense(1, name="second")], name="small")
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        metadata = tf.compat.v1.SummaryMetadata()
        metadata.plugin_data.plugin_name = "graph_keras_model"
        metadata.plugin_data.content = b"1"
        tf.summary.write("keras", tf.constant(model.to_json()), step=0, metadata=metadata)
    writer.close()


def write(tf, folder, everything):
    """The logs below the folder. everything: also what needs TensorBoard and TensorFlow's protos."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    new_style(tf, folder)
    if everything:
        hparams(tf, os.path.join(folder, "trials"))
        os.makedirs(os.path.join(folder, "old"))
        old_style(tf, os.path.join(folder, "old"))
        custom_scalars(tf, os.path.join(folder, "train"))
        keras_graph(tf, os.path.join(folder, "keras"))
        embedding(os.path.join(folder, "train"))
        embedding_in_checkpoint(tf, os.path.join(folder, "keras"))
    normalise(tf, folder, 1700000000.0)


if __name__ == "__main__":
    import thalweg
    write(thalweg, sys.argv[1], False)
