"""Makes tests/golden/op_cases/projective.json: images seen through projections. Run under TensorFlow."""
import numpy as np

from op_cases import Cases

c = Cases("projective")
image = (np.sin(np.arange(2 * 5 * 4 * 2) * 1.3) * 50 + 60).reshape(2, 5, 4, 2).astype(np.float32)
turn = np.float32([[.8, -.6, 1.5, .6, .8, -.7, 0, 0]])
both = np.concatenate([turn, np.float32([[1.7, .1, -9.3, -.2, 1.4, 7.2, .01, -.02]])])
for interpolation in ("NEAREST", "BILINEAR"):
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        for transforms in (turn, both, both[:, [1, 0, 2, 4, 3, 5, 6, 7]] * 3):
            c.add("ImageProjectiveTransformV3", images=image, transforms=transforms, output_shape=np.int32([6, 3]), fill_value=np.float32(7.5), interpolation=interpolation,
                  fill_mode=mode)
        c.add("ImageProjectiveTransformV2", images=image, transforms=both, output_shape=np.int32([5, 4]), interpolation=interpolation, fill_mode=mode, gradient=True)
        c.add("ImageProjectiveTransformV3", images=image, transforms=turn, output_shape=np.int32([3, 7]), fill_value=np.float32(2), interpolation=interpolation, fill_mode=mode,
              gradient=True)
    for dtype in ("uint8", "int32", "int64", "float16", "float64"):
        c.add("ImageProjectiveTransformV3", images=image.astype(dtype), transforms=both, output_shape=np.int32([5, 4]), fill_value=np.float32(3.25), interpolation=interpolation,
              fill_mode="CONSTANT")
for bad in (dict(transforms=turn[:, :7]), dict(transforms=np.zeros((3, 8), np.float32)), dict(output_shape=np.int32([0, 3]))):
    c.error("ImageProjectiveTransformV3", **{**dict(images=image, transforms=turn, output_shape=np.int32([3, 3]), fill_value=np.float32(0), interpolation="NEAREST",
                                                    fill_mode="CONSTANT"), **bad}, code="InvalidArgumentError", text="")
c.write()
