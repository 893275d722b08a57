"""Op cases of Zeta, Polygamma and of gradients that go through them: tests/golden/op_cases/zeta.json. Run under TensorFlow."""
import numpy as np

from op_cases import Cases

c = Cases("zeta")
for d in (np.float32, np.float64):
    c.add("Zeta", x=np.array([1.5, 2, 3.5, 4, 10, 1], d), q=np.array([1, 2.5, 0.25, -0.5, 30, 2], d))
    c.add("Zeta", x=np.array([[2], [3]], d), q=np.array([1, 2, 5], d))
    c.add("Zeta", x=np.array([0.5, 2, 3, 2.5], d), q=np.array([1, 0, -1, -1.5], d))
    c.add("Polygamma", a=np.array([0, 1, 2, 3, 4], d), x=np.array([1.5, 0.5, 2.5, 7, 30], d))
    c.add("Polygamma", a=np.array([1.5, -1, 1], d), x=np.array([1, 1, -0.5], d))
    c.add("Polygamma", a=np.array([[1], [2]], d), x=np.array([0.5, 1.5], d))
c.add("Polygamma", a=np.float64([1, 2, 3]), x=np.float64([1.5, 0.5, 2.5]), gradient=True)
c.add("Digamma", x=np.float64([0.5, 1.5, -0.5]), gradient=True)
c.write()
