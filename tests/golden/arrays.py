"""Makes tests/golden/arrays/: small .npy, .npz and IDX files, written by NumPy and gzip.

    python arrays.py [directory]
"""
import gzip
import os
import struct
import sys

import numpy as np

out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrays")
os.makedirs(out, exist_ok=True)


def at(name):
    return os.path.join(out, name)


grid = np.arange(12).reshape(3, 4)
arrays = {"x": grid.astype(np.uint8), "y": np.array([1, -2, 3], "<i8"), "flag": np.array(True), "f": grid.astype("<f4") / 2, "d": grid.astype(">f8"),
          "turned": np.asfortranarray(grid.astype("<i4")), "turned3": np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4)),
          "empty": np.zeros((0, 5), "<f4"), "half": np.array([0.5, 1], "<f2"), "z": np.array([1 + 2j], ">c16")}
np.savez(at("plain.npz"), **arrays)
np.savez_compressed(at("packed.npz"), objects=np.array([{}, []], object), text=np.array(["a"]), **arrays)
np.save(at("one.npy"), grid.astype("<u4"))
images = np.arange(2 * 3 * 4, dtype=np.uint8).tobytes()
header = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 3, 4)
with open(at("images.idx"), "wb") as file:
    file.write(header + images)
with open(at("images.idx.gz"), "wb") as file:
    file.write(gzip.compress(header + images, mtime=0))
with open(at("numbers.idx"), "wb") as file:
    file.write(struct.pack(">BBBBI", 0, 0, 12, 1, 3) + struct.pack(">iii", 1, -2, 70000))
