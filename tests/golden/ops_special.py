"""Op cases of Bessel functions, special functions, incomplete gamma and beta functions: tests/golden/op_cases/special.json. Run under
TensorFlow. Where TensorFlow's own approximations are coarser than double, the tolerance says so."""
import numpy as np

from op_cases import Cases

c = Cases("special")
POINTS = {
    "BesselI0": [-2, -0.5, 0, 0.5, 1, 3, 9, 19, 25, 50], "BesselI0e": [-2, -0.5, 0, 0.5, 3, 50, 700, np.inf],
    "BesselI1": [-2, -0.5, 0, 0.5, 1, 3, 9, 19, 25, 50], "BesselI1e": [-2, -0.5, 0, 0.5, 3, 50, 700, np.inf],
    "BesselK0": [-1, 0, 0.01, 0.5, 0.99, 1, 2, 3, 10, 50], "BesselK0e": [0.01, 0.5, 1, 2.5, 50, 700],
    "BesselK1": [-1, 0, 0.01, 0.5, 0.99, 1, 2, 3, 10, 50], "BesselK1e": [0.01, 0.5, 1, 2.5, 50, 700],
    "BesselJ0": [-2, 0, 0.5, 1, 3, 20], "BesselJ1": [-2, 0, 0.5, 1, 3, 20],
    "BesselY0": [-2, 0, 0.5, 1, 3, 20], "BesselY1": [-2, 0.5, 1, 3, 20],
    "Dawsn": [-4, -0.4, 0, 0.3, 0.5, 1, 2, 6, 50, 1e5, np.nan], "Expint": [-1, 0, 0.1, 1, 3, 20, 44, 50, 100],
    "FresnelCos": [-3, -1, 0, 0.5, 1.5, 1.7, 5, 40, np.inf], "FresnelSin": [-3, -1, 0, 0.5, 1.5, 1.7, 5, 40, np.inf],
    "Spence": [-1, 0, 0.1, 0.5, 0.9, 1, 1.5, 2, 3, 50], "Erfinv": [-2, -0.99, -0.5, 0, 0.1, 0.6, 0.999, 1],
    "Ndtri": [-1, 0, 1e-10, 0.01, 0.3, 0.5, 0.7, 0.99, 1, 2],
}
for op, points in POINTS.items():
    c.add(op, x=np.float64(points), tolerance=1e-9)
    c.add(op, x=np.float32(points), tolerance=2e-5)
    inside = [p for p in points if 0.05 < p < (1 if op in ("Erfinv", "Ndtri") else 10) and p != 1][:4]
    c.add(op, x=np.float64(inside), gradient=True, tolerance=1e-7)
    c.add(op, x=np.float64([[inside[0]], [inside[1]]]), gradient=True, tolerance=1e-7)
for op in ("BesselI1", "BesselI1e", "BesselJ1"):
    c.add(op, x=np.float32([0.0, 1.0]), gradient=True, tolerance=2e-5)  # of I1 at 0 TensorFlow says 1, it is one half
a = np.float64([1, 0.5, 2, 3, 0.01, 10, 50, 7, 2, 0, -1, 2, 2])
x = np.float64([1, 0.1, 1, 5, 0.5, 3, 60, 7.5, 30, 1, 1, 0, np.inf])
for op in ("Igamma", "Igammac", "IgammaGradA"):
    for d in (np.float32, np.float64):
        c.add(op, a=a.astype(d), x=x.astype(d), tolerance=1e-9 if d == np.float64 else 2e-5)
    c.add(op, a=np.float64([[1], [3]]), x=np.float64([0.5, 2, 9]), gradient=op != "IgammaGradA", tolerance=1e-7)
    c.error(op, a=np.float64([1, 2]), x=np.float64([1, 2, 3]), code="InvalidArgumentError", text="Incompatible shapes")
c.add("RandomGammaGrad", alpha=np.float64([1, 0.5, 2, 3, 10, 50, 2]), sample=np.float64([1, 0.1, 1, 5, 3, 60, 0]), tolerance=1e-8)
c.add("RandomGammaGrad", alpha=np.float32([1, 0.5, 2]), sample=np.float32([1, 0.1, 1]), tolerance=2e-5)
for d in (np.float32, np.float64):
    c.add("Betainc", a=np.array([1, 2, 0.5, 30, 0, 2, 2, 2], d), b=np.array([1, 3, 0.5, 4, 1, 3, 3, 3], d), x=np.array([0.5, 0.2, 0.9, 0.8, 0.5, -1, 0, 1], d),
          tolerance=1e-9 if d == np.float64 else 2e-5)
c.add("Betainc", a=np.float64(2), b=np.float64(3), x=np.float64([0.2, 0.7]), gradient=True, tolerance=1e-7)
c.add("Betainc", a=np.float64([2, 4]), b=np.float64(3), x=np.float64(0.4), tolerance=1e-9)
c.error("Betainc", a=np.float64([1, 2]), b=np.float64([1, 2, 3]), x=np.float64([1, 2]), code="InvalidArgumentError")
c.write()
