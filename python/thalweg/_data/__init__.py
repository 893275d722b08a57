"""tf.data: the Python side of datasets, which are C's (src/data). Loaded when tf.data is first used."""
