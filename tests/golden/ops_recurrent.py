"""Op cases of BlockLSTMV2 and its gradient: tests/golden/op_cases/recurrent.json. Run under TensorFlow.

The gradient op has errors alone: TensorFlow 2.15's values for x and h_prev are not the derivatives. Those of the layers built on it are
compared with TensorFlow's own (layer_values.py)."""
import numpy as np

from op_cases import Cases

c = Cases("recurrent")
numbers = np.random.RandomState(5)


def values(*shape):
    return numbers.uniform(-1, 1, shape).astype(np.float32)


def arguments(steps, batch, size, units):
    none = np.zeros(units, np.float32)
    return dict(seq_len_max=np.int64(steps), x=values(steps, batch, size), cs_prev=values(batch, units), h_prev=values(batch, units),
                w=values(size + units, 4 * units), wci=none, wcf=none, wco=none, b=values(4 * units))


for sizes in (1, 1, 1, 1), (3, 2, 4, 3), (5, 1, 2, 17), (2, 7, 3, 16), (4, 3, 1, 8):
    c.add("BlockLSTMV2", tolerance=2e-6, **arguments(*sizes))
a = arguments(3, 2, 4, 3)
c.error("BlockLSTMV2", **dict(a, x=values(3, 2)), code="InvalidArgumentError")
c.error("BlockLSTMV2", **dict(a, b=values(4, 3)), code="InvalidArgumentError")
made = {name: values(3, 2, 3) for name in ("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")}
c.error("BlockLSTMGradV2", **dict(a, x=values(3, 2), use_peephole=False, **made), code="InvalidArgumentError", text="")
c.write()
