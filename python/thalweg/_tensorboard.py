"""keras.callbacks.TensorBoard for Python: the arguments as Keras takes them. The rest is C's (src/keras/callbacks/tensorboard.c)."""
import os

_LEGACY = {"write_grads", "embeddings_layer_names", "embeddings_data", "batch_size"}


def define(Base):
    """The class, over the row's."""

    class TensorBoard(Base):
        """Writes summaries for TensorBoard."""

        def __init__(self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False, write_steps_per_second=False,
                     update_freq="epoch", profile_batch=0, embeddings_freq=0, embeddings_metadata=None, **kwargs):
            unknown = set(kwargs) - _LEGACY
            if unknown:
                raise ValueError("Unrecognized arguments in `TensorBoard` Callback: %s. Supported kwargs are: %s" % (unknown, _LEGACY))
            if profile_batch:
                raise NotImplementedError("TensorBoard: profile_batch=%r is not supported: there is no profile of single batches" % (profile_batch,))
            if embeddings_freq or embeddings_metadata:
                raise NotImplementedError("TensorBoard: embeddings_freq and embeddings_metadata are not supported")
            every = {"epoch": 0, "batch": 1}.get(update_freq, update_freq)
            super().__init__(os.fspath(log_dir), histogram_freq, write_graph, write_images, write_steps_per_second, every)
            self.update_freq = 1 if update_freq == "batch" else update_freq

        def __setattr__(self, name, value):
            every = {"epoch": 0, "batch": 1}.get(value, value) if name == "update_freq" else value
            super().__setattr__(name, every)
            if every is not value:
                self.__dict__[name] = value

    return TensorBoard
