"""keras.callbacks.TensorBoard: what fit, evaluate and a model look like, by tf.summary, in LOG_DIR/train and LOG_DIR/validation."""
import json
import os
import time

import thalweg as tf
from thalweg import _messages, _summary


def _image(weight):
    """The weight as pictures [n, height, width, 1], or None."""
    image = tf.squeeze(weight)
    rank = len(image.shape)
    if rank == 1:
        image = tf.reshape(image, [1, image.shape[0], 1, 1])
    elif rank == 2:
        if image.shape[0] > image.shape[1]:
            image = tf.transpose(image)
        image = tf.reshape(image, [1, image.shape[0], image.shape[1], 1])
    elif rank == 3:
        image = tf.transpose(image, perm=[2, 0, 1])
        image = tf.reshape(image, list(image.shape) + [1])
    return image if len(image.shape) == 4 and image.shape[-1] in (1, 3, 4) else None


def _write_model(name, model, step):
    """The model's config as TensorBoard's page of graphs reads it."""
    plugin = _messages.SummaryMetadata.PluginData(plugin_name="graph_keras_model", content=b"1")
    metadata = _messages.SummaryMetadata(plugin_data=plugin)
    try:
        text = model.to_json()
    except (AttributeError, NotImplementedError):
        return
    text = text if isinstance(text, str) else json.dumps(text)
    tf.summary.write(tag=name, tensor=tf.constant(text, dtype=tf.string), step=step, metadata=metadata)


def define(Callback):
    """The class, over the base of callbacks."""

    class TensorBoard(Callback):
        """Writes summaries for TensorBoard."""

        def __init__(self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False, write_steps_per_second=False,
                     update_freq="epoch", profile_batch=0, embeddings_freq=0, embeddings_metadata=None, **kwargs):
            super().__init__()
            unknown = set(kwargs) - {"write_grads", "embeddings_layer_names", "embeddings_data", "batch_size"}
            if unknown:
                raise ValueError("Unrecognized arguments in `TensorBoard` Callback: %s. Supported kwargs are: %s" % (
                    unknown, {"write_grads", "embeddings_layer_names", "embeddings_data", "batch_size"}))
            if profile_batch:
                raise NotImplementedError("TensorBoard: profile_batch=%r is not supported: there is no profile of single batches" % (profile_batch,))
            if embeddings_freq or embeddings_metadata:
                raise NotImplementedError("TensorBoard: embeddings_freq and embeddings_metadata are not supported")
            self.log_dir = os.fspath(log_dir)
            self.histogram_freq, self.write_graph, self.write_images = histogram_freq, write_graph, write_images
            self.write_steps_per_second = write_steps_per_second
            self.update_freq = 1 if update_freq == "batch" else update_freq
            self._writers, self._states, self._graph_due, self._batch = {}, [], False, 0

        def _writer(self, name):
            if name not in self._writers:
                self._writers[name] = tf.summary.create_file_writer(os.path.join(self.log_dir, name))
            return self._writers[name]

        def set_model(self, model):
            super().set_model(model)
            self._writers = {}
            self._graph_due = bool(self.write_graph)
            if self.write_graph and (type(model).__name__ in ("Sequential", "Functional") or getattr(model, "_is_graph_network", False)):
                with self._writer("train").as_default(), tf.summary.record_if(True):
                    _write_model("keras", model, 0)

        def _push(self, name, step):
            if self.update_freq != "epoch":
                state = (self._writer(name).as_default(step), tf.summary.record_if(lambda: self._batch % self.update_freq == 0))
                self._states.append(state)
                for part in state:
                    part.__enter__()

        def _pop(self):
            if self.update_freq != "epoch":
                for part in reversed(self._states.pop()):
                    part.__exit__(None, None, None)

        def on_train_begin(self, logs=None):
            self._batch = 0
            self._push("train", 0)

        def on_train_end(self, logs=None):
            self._pop()
            for writer in self._writers.values():
                writer.close()

        def on_test_begin(self, logs=None):
            self._push("validation", 0)

        def on_test_end(self, logs=None):
            if self.model.optimizer is not None:
                with tf.summary.record_if(True), self._writer("validation").as_default():
                    for name, value in logs.items():
                        tf.summary.scalar("evaluation_" + name + "_vs_iterations", value, step=int(self.model.optimizer.iterations))
            self._pop()

        def on_train_batch_begin(self, batch, logs=None):
            self._began = time.time()

        def on_train_batch_end(self, batch, logs=None):
            self._batch += 1
            if self.params and self.params.get("verbose") != 1 and not self.write_steps_per_second:
                return  # as in Keras, where batches are then not told
            if self._graph_due:
                self._graph_due = False
                graph = self.model._train_graph()
                if graph is not None:
                    with self._writer("train").as_default(), tf.summary.record_if(True):
                        _summary.graph_bytes(graph)
            if self.update_freq == "epoch" or self._batch % self.update_freq:
                return
            if self.write_steps_per_second:
                tf.summary.scalar("batch_steps_per_second", 1.0 / max(time.time() - self._began, 1e-9), step=self._batch)
            for name, value in (logs or {}).items():
                tf.summary.scalar("batch_" + name, value, step=self._batch)

        def on_epoch_begin(self, epoch, logs=None):
            self._epoch_began = time.time()
            self._before = int(self.model.optimizer.iterations) if self.write_steps_per_second else 0

        def on_epoch_end(self, epoch, logs=None):
            train = {name: value for name, value in (logs or {}).items() if not name.startswith("val_")}
            schedule = getattr(self.model.optimizer, "_learning_rate", None)
            if isinstance(schedule, tf.keras.optimizers.schedules.LearningRateSchedule):
                train["learning_rate"] = float(schedule(self.model.optimizer.iterations))
            if self.write_steps_per_second:
                train["steps_per_second"] = (int(self.model.optimizer.iterations) - self._before) / max(time.time() - self._epoch_began, 1e-9)
            validation = {name[4:]: value for name, value in (logs or {}).items() if name.startswith("val_")}
            with tf.summary.record_if(True):
                for folder, values in (("train", train), ("validation", validation)):
                    if values:
                        with self._writer(folder).as_default():
                            for name, value in values.items():
                                tf.summary.scalar("epoch_" + name, value, step=epoch)
            if self.histogram_freq and epoch % self.histogram_freq == 0:
                self._weights(epoch)

        def _weights(self, epoch):
            with self._writer("train").as_default(), tf.summary.record_if(True):
                for layer in self.model.layers:
                    for weight in layer.weights:
                        name = weight.name.replace(":", "_")
                        tf.summary.histogram(name + "/histogram", weight, step=epoch)
                        image = _image(weight) if self.write_images else None
                        if image is not None:
                            tf.summary.image(name + "/image", image, step=epoch)
                self._writer("train").flush()

    return TensorBoard
