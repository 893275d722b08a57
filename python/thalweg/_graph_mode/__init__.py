"""tf.compat.v1: graphs that programs build and sessions that run them. The logic is in C (src/session); here is what wants Python."""
