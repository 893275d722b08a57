"""Partitioned tensors in checkpoints: what is written, and what parts of it are."""
import numpy as np

WHOLE = {
    "matrix": np.arange(24, dtype="float32").reshape(6, 4), "vector": np.arange(300, dtype="int64"), "cube": np.arange(24, dtype="float64").reshape(2, 3, 4),
    "none": np.zeros((3, 0), "float32"), "plain": np.float32([1, 2]),
}
PARTS = {  # name: the parts that are saved
    "matrix": ["6 4 0,2:-", "6 4 2,4:0,1", "6 4 2,4:1,3"], "vector": ["300 0,257", "300 257,43"], "cube": ["2 3 4 -:0,1:-", "2 3 4 -:1,2:0,4"],
    "none": ["3 0 0,1:-", "3 0 1,2:-"], "plain": [""],
}
ASKED = [  # name, part, where it is
    ("matrix", "", np.s_[:]), ("matrix", "6 4 1,3:-", np.s_[1:4]), ("matrix", "6 4 -:2,2", np.s_[:, 2:]), ("matrix", "6 4 5,1:3,1", np.s_[5:, 3:]),
    ("vector", "300 250,10", np.s_[250:260]), ("cube", "2 3 4 1,1:-:1,2", np.s_[1:, :, 1:3]), ("none", "", np.s_[:]), ("plain", "2 1,1", np.s_[1:]),
    ("plain", "", np.s_[:]),
]
BAD = ["6 4", "6 4 0,7:-", "6 4 0,2", "6 4 0,2:-:-", "5 4 0,2:-", "x", "6 4 a,b:-", "6 4 -1,2:-"]


def part_of(name, text):
    """The elements that a part stands for."""
    if not text:
        return WHOLE[name]
    extents = text.split(" ")[-1].split(":")
    places = [slice(None) if e == "-" else slice(int(e.split(",")[0]), sum(map(int, e.split(",")))) for e in extents]
    return WHOLE[name][tuple(places)]


def write(tf, prefix):
    """Saves the parts."""
    rows = [(name, text) for name, parts in PARTS.items() for text in parts]
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=[n for n, _ in rows], shape_and_slices=[t for _, t in rows], tensors=[tf.constant(part_of(*r)) for r in rows])


def check(tf, prefix):
    """Restores whole tensors and parts of them."""
    for name, text, place in ASKED:
        found = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=[name], shape_and_slices=[text], dtypes=[WHOLE[name].dtype])[0].numpy()
        assert found.shape == WHOLE[name][place].shape and (found == WHOLE[name][place]).all(), (name, text, found)
    reader = tf.train.load_checkpoint(prefix)
    for name, value in WHOLE.items():
        assert (reader.get_tensor(name) == value).all() and list(reader.get_variable_to_shape_map()[name]) == list(value.shape)


SHARDS = 130  # more than one byte of a varint says


def write_shards(tf, prefix):
    """One tensor of two numbers in each of many files."""
    parts = [prefix + "_part%d" % i for i in range(SHARDS)]
    for i, part in enumerate(parts):
        tf.raw_ops.SaveV2(prefix=part, tensor_names=["t%03d" % i], shape_and_slices=[""], tensors=[tf.fill([2], float(i))])
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix, delete_old_dirs=False)


def check_shards(tf, prefix):
    reader = tf.train.load_checkpoint(prefix)
    assert sorted(reader.get_variable_to_shape_map()) == ["t%03d" % i for i in range(SHARDS)]
    for i in range(SHARDS):
        assert reader.get_tensor("t%03d" % i).tolist() == [i, i]
    variable = tf.Variable([0., 0.])
    (value,) = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=["t129"], shape_and_slices=[""], dtypes=[tf.float32])
    assert variable.assign(value).numpy().tolist() == [129, 129]
