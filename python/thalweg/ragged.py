"""tf.ragged: making ragged tensors."""
from thalweg._ragged import constant, map_flat_values, ragged_range, row_splits_to_segment_ids, segment_ids_to_row_splits  # noqa: F401

range = ragged_range  # noqa: A001
