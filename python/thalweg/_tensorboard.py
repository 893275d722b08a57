"""keras.callbacks.TensorBoard for Python: the arguments as Keras takes them. The rest is C's (src/keras/callbacks/tensorboard.c)."""
import os

_LEGACY = {"write_grads", "embeddings_layer_names", "embeddings_data", "batch_size"}


def _batches(profile_batch):
    """The first and the last batch that a profile is of."""
    given = profile_batch
    if isinstance(given, str):
        given = [int(part) for part in given.split(",")]
    if isinstance(given, int):
        given = (given, given)
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not 0 <= given[0] <= given[1]:
        raise ValueError("profile_batch must be a non-negative integer or 2-tuple of positive integers. A pair of positive integers signifies a range of batches "
                         "to profile. Found: %s" % (profile_batch,))
    return given


def define(Base):
    """The class, over the row's."""

    class TensorBoard(Base):
        """Writes summaries for TensorBoard."""

        def __init__(self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False, write_steps_per_second=False,
                     update_freq="epoch", profile_batch=0, embeddings_freq=0, embeddings_metadata=None, **kwargs):
            unknown = set(kwargs) - _LEGACY
            if unknown:
                raise ValueError("Unrecognized arguments in `TensorBoard` Callback: %s. Supported kwargs are: %s" % (unknown, _LEGACY))
            every = {"epoch": 0, "batch": 1}.get(update_freq, update_freq)
            super().__init__(os.fspath(log_dir), histogram_freq, write_graph, write_images, write_steps_per_second, every,
                             list(_batches(profile_batch)), embeddings_freq or 0, embeddings_metadata)
            self.update_freq, self.embeddings_metadata = 1 if update_freq == "batch" else update_freq, embeddings_metadata

        def __setattr__(self, name, value):
            every = {"epoch": 0, "batch": 1}.get(value, value) if name == "update_freq" else value
            super().__setattr__(name, every)
            if every is not value:
                self.__dict__[name] = value

    return TensorBoard
