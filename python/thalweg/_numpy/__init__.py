"""tf.experimental.numpy: NumPy's functions composed of TensorFlow's. Loaded when first asked for."""
