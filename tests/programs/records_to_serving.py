"""From records to serving: TFRecords of Examples, a pipeline that parses them, training with callbacks, a SavedModel with signatures."""
import os
import tempfile

import numpy as np
import tensorflow as tf


def example(image, label, words):
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[tf.io.encode_jpeg(image, quality=95).numpy()])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[w.encode() for w in words])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def main():
    tf.keras.utils.set_random_seed(141)
    random = np.random.default_rng(141)
    with tempfile.TemporaryDirectory() as folder:
        for part in range(3):
            with tf.io.TFRecordWriter(os.path.join(folder, "part-%d.tfrecord" % part)) as writer:
                for _ in range(16):
                    label = int(random.integers(0, 2))
                    image = (random.uniform(0, 120, (16, 16, 3)) + 100 * label).astype("uint8")
                    writer.write(example(image, label, ["bright" if label else "dark"] * int(random.integers(1, 4))))
        description = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64, default_value=0),
                       "words": tf.io.VarLenFeature(tf.string)}

        def parse(record):
            row = tf.io.parse_single_example(record, description)
            image = tf.image.convert_image_dtype(tf.io.decode_jpeg(row["image"], channels=3), tf.float32)
            return {"image": tf.ensure_shape(image, [16, 16, 3]), "count": tf.cast(tf.size(row["words"].values), tf.float32)[None]}, row["label"]

        files = tf.data.Dataset.list_files(os.path.join(folder, "part-*.tfrecord"), shuffle=False)
        data = files.interleave(tf.data.TFRecordDataset, cycle_length=3).map(parse, tf.data.AUTOTUNE).shuffle(48, seed=8).batch(8).prefetch(2)
        image, count = tf.keras.Input((16, 16, 3), name="image"), tf.keras.Input((1,), name="count")
        x = tf.keras.layers.Conv2D(4, 3, activation="relu")(image)
        x = tf.keras.layers.Concatenate()([tf.keras.layers.GlobalMaxPooling2D()(x), count])
        model = tf.keras.Model([image, count], tf.keras.layers.Dense(1, activation="sigmoid")(x))
        model.compile(tf.keras.optimizers.Adam(0.01), "binary_crossentropy", ["accuracy", tf.keras.metrics.AUC(name="auc")])
        callbacks = [tf.keras.callbacks.ModelCheckpoint(os.path.join(folder, "best.weights.h5"), monitor="loss", save_best_only=True, save_weights_only=True),
                     tf.keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")), tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1),
                     tf.keras.callbacks.TensorBoard(os.path.join(folder, "logs"), histogram_freq=1)]
        history = model.fit(data, epochs=3, callbacks=callbacks, verbose=0)
        model.load_weights(os.path.join(folder, "best.weights.h5"))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="jpeg")])
        def serve(jpeg):
            images = tf.map_fn(lambda b: tf.image.convert_image_dtype(tf.io.decode_jpeg(b, channels=3), tf.float32), jpeg, fn_output_signature=tf.float32)
            images = tf.ensure_shape(images, [None, 16, 16, 3])
            return {"score": model([images, tf.ones([tf.shape(jpeg)[0], 1])])}

        saved = os.path.join(folder, "model", "1")
        tf.saved_model.save(model, saved, signatures={"serving_default": serve})
        picture = tf.io.encode_jpeg(tf.fill([16, 16, 3], tf.constant(200, tf.uint8)), quality=95)
        answer = tf.saved_model.load(saved).signatures["serving_default"](jpeg=picture[None])
        with open(os.path.join(folder, "log.csv")) as f:
            header = f.readline().strip()
        events = [name for _, _, names in os.walk(os.path.join(folder, "logs")) for name in names]
    return {"history": {k: v for k, v in history.history.items() if k != "lr"}, "answer": answer["score"].numpy().tolist(), "header": header,
            "events": len(events)}
