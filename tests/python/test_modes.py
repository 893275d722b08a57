"""Calls of public functions give the same bits eagerly, in tf.function, with dimensions or ranks unknown while tracing, and in a session, wherever TensorFlow
runs them (modes.json, made by tests/golden/modes.py). Here is one call in eight; tests/long/test_all_modes.py has them all."""
import pytest

import replay
import thalweg as tf

modes = replay._load("modes")
THEIRS = modes.table("modes")
CASES = modes.cases(tf)
# What is refused by an error until it is done.
REFUSED = {
    "dimensions": {"tf.searchsorted", "tf.meshgrid", "tf.boolean_mask", "tf.linalg.matrix_rank", "tf.linalg.pinv"},
    "ranks": {"tf.clip_by_norm", "tf.clip_by_global_norm", "tf.linalg.global_norm", "tf.linalg.adjoint", "tf.tensordot", "tf.nn.softmax_cross_entropy_with_logits",
              "tf.searchsorted", "tf.math.confusion_matrix", "tf.image.resize_with_pad", "tf.image.resize_with_crop_or_pad", "tf.image.crop_to_bounding_box",
              "tf.image.pad_to_bounding_box", "tf.image.flip_left_right", "tf.image.flip_up_down", "tf.image.rot90", "tf.image.transpose",
              "tf.image.per_image_standardization", "tf.image.rgb_to_grayscale", "tf.image.grayscale_to_rgb", "tf.linspace", "tf.sort", "tf.argsort",
              "tf.meshgrid", "tf.transpose", "tf.boolean_mask", "tf.linalg.matrix_transpose", "tf.linalg.matrix_rank", "tf.linalg.pinv"},
}
ERRORS = {"ValueError", "InvalidArgumentError", "UnimplementedError"}
NEAR = {"tf.tensordot"}  # sums in another order when a shape is not known


def check(name):
    """How many ways were compared."""
    got = modes.outcomes(tf, CASES[name])
    assert got is not None
    function = name.split(" ")[0]
    for mode, theirs in zip(modes.MODES, THEIRS[name]):
        if theirs not in ("same", "near"):
            continue  # TensorFlow refuses it
        if function in REFUSED.get(mode, ()) and got[mode] in ERRORS:
            continue
        assert got[mode] == "same" or (got[mode] == "near" and (theirs == "near" or function in NEAR)), "%s, %s: %s" % (name, mode, got[mode])
    return len(modes.MODES)


@pytest.mark.parametrize("name", sorted(THEIRS)[::8])
def test_same_in_every_mode(name):
    check(name)
