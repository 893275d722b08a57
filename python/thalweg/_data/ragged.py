"""Ragged tensors in datasets."""


def slices(value):
    """from_tensor_slices of ragged tensors."""
    raise NotImplementedError("Dataset.from_tensor_slices: ragged tensors are not supported; map over a range of row numbers instead")


def ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype):
    """Dataset.ragged_batch."""
    raise NotImplementedError("Dataset.ragged_batch is not supported; use padded_batch and tf.RaggedTensor.from_tensor")
