"""tf.raw_ops whose call TensorFlow refuses: ops on references, and ops that were removed (tests/golden/refused/refused.json, made by tests/golden/refused.py)."""
import json

import pytest

from golden_files import golden_file
import thalweg as tf

with open(golden_file("refused", "refused.json")) as f:
    CASES = json.load(f)


@pytest.mark.parametrize("name,kind,text", CASES, ids=[c[0] for c in CASES])
def test_refused(name, kind, text):
    function = getattr(tf.raw_ops, name)
    assert function.__name__ == name
    with pytest.raises(getattr(tf.errors, kind, RuntimeError)) as e:
        function()
    assert text in str(e.value)


def test_in_a_graph():
    @tf.function
    def f():
        return tf.raw_ops.VariableV2(shape=[1], dtype=tf.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="references to variables"):
        f()
