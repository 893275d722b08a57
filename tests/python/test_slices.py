"""Parts of tensors in SaveV2 and RestoreV2, of TensorFlow's checkpoint (tests/golden/slices.py) and of ones written here."""
import os
import zipfile

import pytest
import slice_cases
from golden_files import golden_file
import thalweg as tf

GOLDEN = golden_file("slices", "slices.zip")


def test_checkpoint_of_tensorflow(tmp_path):
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(str(tmp_path))
    slice_cases.check(tf, str(tmp_path / "c"))


def test_written_here(tmp_path):
    slice_cases.write(tf, str(tmp_path / "c"))
    slice_cases.check(tf, str(tmp_path / "c"))
    with zipfile.ZipFile(GOLDEN) as archive:  # the same bytes
        for file in archive.namelist():
            assert (tmp_path / file).read_bytes() == archive.read(file), file


@pytest.mark.parametrize("text", slice_cases.BAD)
def test_parts_that_are_none(text, tmp_path):
    slice_cases.write(tf, str(tmp_path / "c"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.RestoreV2(prefix=str(tmp_path / "c"), tensor_names=["matrix"], shape_and_slices=[text], dtypes=[tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.SaveV2(prefix=str(tmp_path / "d"), tensor_names=["matrix"], shape_and_slices=[text], tensors=[tf.zeros([9, 9])])
    assert not [name for name in os.listdir(str(tmp_path)) if name.startswith("d")]


def test_parts_that_are_missing(tmp_path):
    path = str(tmp_path / "c")
    tf.raw_ops.SaveV2(prefix=path, tensor_names=["m"], shape_and_slices=["4 0,2"], tensors=[tf.zeros([2])])
    with pytest.raises(tf.errors.DataLossError):
        tf.raw_ops.RestoreV2(prefix=path, tensor_names=["m"], shape_and_slices=[""], dtypes=[tf.float32])


def test_many_files(tmp_path):
    """A checkpoint of TensorFlow's in 130 files, and one that was written here."""
    with zipfile.ZipFile(golden_file("slices", "shards.zip")) as archive:
        assert len(archive.namelist()) == slice_cases.SHARDS + 1
        archive.extractall(str(tmp_path))
    slice_cases.check_shards(tf, str(tmp_path / "s"))
    os.remove(str(tmp_path / "s.data-00128-of-00130"))  # a file that is missing matters to its tensors alone
    reader = tf.train.load_checkpoint(str(tmp_path / "s"))
    assert reader.get_tensor("t127").tolist() == [127, 127]
    with pytest.raises(tf.errors.OpError):
        reader.get_tensor("t128")
    slice_cases.write_shards(tf, str(tmp_path / "own"))
    slice_cases.check_shards(tf, str(tmp_path / "own"))
