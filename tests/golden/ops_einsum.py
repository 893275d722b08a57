"""Makes tests/golden/op_cases/einsum.json: sums of products over labelled dimensions. Usage: ops_einsum.py (needs tensorflow)"""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("einsum")
rng = np.random.RandomState(3)


def values(shape, dtype=np.float64):
    v = rng.randint(-8, 9, shape) / 4
    if dtype == np.int32 or dtype == np.int64:
        return np.asarray(rng.randint(-8, 9, shape), dtype)
    return np.asarray(v + 1j * rng.randint(-8, 9, shape) / 4 if dtype in (np.complex64, np.complex128) else v, dtype)


TWO = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)), ("ji,jk->ik", (3, 2), (3, 4)), ("ij,jk->", (2, 3), (3, 2)),
       ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("bij,jk->bik", (2, 2, 3), (3, 2)), ("ibj,jkb->bki", (2, 3, 2), (2, 2, 3)), ("i,j->ij", (2,), (3,)),
       ("i,i->", (4,), (4,)), ("i,i->i", (4,), (4,)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ji->ij", (2, 3), (3, 2)), ("ijk,j->ik", (2, 3, 2), (3,)),
       ("ijk,l->k", (2, 3, 2), (3,)), ("ii,ij->j", (3, 3), (3, 2)), ("iij,jk->ki", (3, 3, 2), (2, 2)), (",->", (), ()), (",ij->ji", (), (2, 3)),
       ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)), ("...ij,jk->...ik", (2, 2, 3), (3, 2)), ("ij,...jk->...ik", (2, 3), (2, 3, 2)),
       ("ij...,jk...->ik...", (2, 3, 2), (3, 2, 1)), ("...a,...b->ab...", (2, 1, 2), (3, 2)), ("...,...->...", (2, 3), (3,)), ("...a,b->...", (2, 3), (2,)),
       ("i...,...->i...", (2, 1), (2, 3)), ("abcd,cdef->abef", (2, 1, 2, 3), (2, 3, 1, 2)), ("abcd,dbc->da", (2, 2, 1, 3), (3, 2, 1)), ("ij,jk->iik", (2, 3), (3, 2))]
ONE = [("ij->ji", (2, 3)), ("ij->i", (2, 3)), ("ij->j", (2, 3)), ("ij->", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("i->ii", (3,)), ("iij->ji", (2, 2, 3)),
       ("ijij->ij", (2, 2, 2, 2)), ("ijk->kij", (2, 3, 2)), ("...->...", (2, 3)), ("i...->...", (2, 3, 2)), ("...ij->...ji", (2, 2, 3)), ("a...b->...ba", (2, 3, 1, 2)),
       ("a->a...", (2,)), ("->", ()), ("i->i", (0,)), ("ij->j", (0, 2))]
for equation, a, b in TWO:
    c.add("Einsum", inputs=[values(a), values(b)], equation=equation, gradient=True)
for equation, a in ONE:
    c.add("Einsum", inputs=[values(a)], equation=equation, gradient=True)
for dtype in (np.float32, np.float16, np.complex64, np.complex128, np.int32, np.int64):
    is_float = dtype not in (np.int32, np.int64)
    c.add("Einsum", inputs=[values((2, 3), dtype), values((3, 2), dtype)], equation="ij,jk->ki", gradient=is_float)
    c.add("Einsum", inputs=[values((2, 2, 3), dtype), values((3,), dtype)], equation="iij,j->i", gradient=is_float)
    c.add("Einsum", inputs=[values((2, 3), dtype)], equation="ij->j", gradient=is_float)
c.add("Einsum", inputs=[tf.constant([[1, 2], [3, 4]], tf.bfloat16), tf.constant([[1, 2], [3, 4]], tf.bfloat16)], equation="ij,jk->ik")
c.add("Einsum", inputs=[np.ones([0, 3], np.float32), np.ones([3, 2], np.float32)], equation="ij,jk->ik")
c.add("Einsum", inputs=[np.ones([2, 0], np.float32), np.ones([0, 2], np.float32)], equation="ij,jk->ik")
c.add("Einsum", inputs=[values((40, 30), np.float32), values((30, 2), np.float32)], equation="ij,jk->ik", tolerance=2e-5)
a, b = values((2, 3), np.float32), values((3, 4), np.float32)
BAD = "InvalidArgumentError"
c.error("Einsum", inputs=[a, b, b], equation="ij,jk,jk->ik", code=BAD, text="Expecting 1 or 2 input subscripts in equation 'ij,jk,jk->ik' but got: 3")
c.error("Einsum", inputs=[a, b], equation="ij,jk", code=BAD, text="Expecting exactly one '->' in einsum equation: ij,jk")
c.error("Einsum", inputs=[a, b], equation="ij->ij", code=BAD, text="Expected 1 inputs but got: 2")
c.error("Einsum", inputs=[a, a], equation="ij,jk->ik", code=BAD, text="Expected dimension 3 at axis 0 of the input shaped [2,3] but got dimension 2")
c.error("Einsum", inputs=[a], equation="ii->i", code=BAD, text="Expected dimension 2 at axis 1 of the input shaped [2,3] but got dimension 3")
c.error("Einsum", inputs=[a], equation="ijk->i", code=BAD, text="Expected input 0 to have rank 3 but got: 2")
c.error("Einsum", inputs=[a], equation="i->i", code=BAD, text="Expected input 0 to have rank 1 but got: 2")
c.error("Einsum", inputs=[a], equation="...i->i", code=BAD, text="Output contains 1 broadcasting dimension(s) but no ellipsis (...) was found")
c.error("Einsum", inputs=[np.ones([2, 3]), np.ones([4, 3])], equation="...i,...i->...i", code=BAD, text="Invalid broadcasting dimensions: ")
c.write()
