"""Op cases of windows, frames, glimpses and parts of images: writes tests/golden/op_cases/windows.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("windows")
r = np.random.RandomState(8)
f32 = np.float32
BAD = "InvalidArgumentError"
image = np.round(r.uniform(-3, 3, (2, 5, 6, 2)), 1).astype(f32)
for size, stride, rate in (((2, 2), (1, 1), (1, 1)), ((3, 2), (2, 3), (1, 2)), ((1, 1), (2, 2), (1, 1)), ((2, 3), (7, 7), (2, 1)), ((5, 6), (1, 1), (1, 1))):
    for padding in ("SAME", "VALID"):
        window = dict(ksizes=[1, *size, 1], strides=[1, *stride, 1], rates=[1, *rate, 1], padding=padding)
        c.add("ExtractImagePatches", images=image, gradient=True, **window)
        c.add("ExtractImagePatches", images=(image * 10).astype("int32"), **window)
small = dict(ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
for dtype in ("uint8", "int64", "float16", "float64"):
    c.add("ExtractImagePatches", images=np.abs(image[:1, :3, :3]).astype(dtype), **small)
c.add("ExtractImagePatches", images=image[:0], **small)
c.error("ExtractImagePatches", BAD, "input must be 4-dimensional", images=image[0], **small)
c.error("ExtractImagePatches", BAD, "Computed output size would be negative", images=image, **{**small, "ksizes": [1, 9, 2, 1]})
c.error("ExtractImagePatches", "UnimplementedError", "Only support ksizes across space", images=image, **{**small, "ksizes": [2, 2, 2, 1]})
c.error("ExtractImagePatches", "UnimplementedError", "Only support strides across space", images=image, **{**small, "strides": [1, 2, 2, 2]})
c.error("ExtractImagePatches", "OutOfRangeError", "ksizes is out of range", images=image, **{**small, "ksizes": [1, 0, 2, 1]})
c.error("ExtractImagePatches", "OutOfRangeError", "rates is out of range", images=image, **{**small, "rates": [1, 0, 2, 1]})
volume = np.round(r.uniform(-3, 3, (1, 3, 4, 5, 2)), 1).astype(f32)
for size, stride in (((2, 2, 2), (1, 2, 1)), ((3, 1, 2), (2, 2, 2))):
    for padding in ("SAME", "VALID"):
        c.add("ExtractVolumePatches", input=volume, ksizes=[1, *size, 1], strides=[1, *stride, 1], padding=padding, gradient=True)
c.error("ExtractVolumePatches", BAD, "input must be 5-dimensional", input=volume[0], ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding="SAME")

boxes = f32([[[0, 0, 0.5, 0.5], [0.2, 0.3, 0.9, 1]], [[-0.3, 0.4, 0.7, 1.5], [0.9, 0.9, 0.1, 0.1]]])
many = np.round(r.uniform(-0.5, 1.5, (2, 12, 4)), 2).astype(f32)
for depth in (1, 3, 4):
    picture = np.round(r.uniform(0, 9, (2, 7, 8, depth)), 1).astype(f32)
    c.add("DrawBoundingBoxes", images=picture, boxes=boxes)
    c.add("DrawBoundingBoxes", images=picture, boxes=many)
    c.add("DrawBoundingBoxesV2", images=picture, boxes=many, colors=f32([[9, 8, 7, 6], [5, 4, 3, 2], [1, 0, 1, 0]]))
    c.add("DrawBoundingBoxesV2", images=picture.astype("float16"), boxes=boxes, colors=f32([[9, 8, 7, 6]]))
draw = dict(images=picture, boxes=boxes, colors=f32([[9, 8, 7, 6]]))
c.error("DrawBoundingBoxesV2", BAD, "The batch sizes should be the same", **{**draw, "boxes": boxes[:1]})
c.error("DrawBoundingBoxesV2", BAD, "The rank of the boxes tensor should be 3", **{**draw, "boxes": boxes[0]})
c.error("DrawBoundingBoxesV2", BAD, "The size of the third dimension of the box must be 4", **{**draw, "boxes": boxes[..., :3]})
c.error("DrawBoundingBoxesV2", BAD, "colors must have equal or more channels", **{**draw, "colors": f32([[1, 2]])})
c.error("DrawBoundingBoxesV2", BAD, "Channel depth should be either", **{**draw, "images": picture[..., :2]})

for centered in (False, True):
    for normalized in (False, True):
        for offsets in ([[0, 0], [0.5, -0.5]], [[-0.9, 0.8], [0.25, 0.1]], [[1.5, 2.5], [-1, -7]]):
            for size in ([2, 3], [3, 3], [7, 2]):
                c.add("ExtractGlimpseV2", input=image, size=np.int32(size), offsets=f32(offsets), centered=centered, normalized=normalized, uniform_noise=False, noise="zero")
                c.add("ExtractGlimpse", input=image, size=np.int32(size), offsets=f32(offsets), centered=centered, normalized=normalized, uniform_noise=False, noise="zero")
for noise in ("uniform", "gaussian"):
    c.add("ExtractGlimpseV2", input=image, size=np.int32([4, 4]), offsets=f32([[0.9, 0.9], [0, 0]]), uniform_noise=False, noise=noise, values=False)
glimpse = dict(input=image, size=np.int32([2, 3]), offsets=f32([[0, 0], [1, 1]]))
c.error("ExtractGlimpseV2", BAD, "The noise could only be uniform, gaussian, or zero, got", uniform_noise=False, noise="bad", **glimpse)
c.error("ExtractGlimpse", BAD, "The uniform_noise and noise could not be specified at the same time", noise="zero", **glimpse)
c.error("ExtractGlimpseV2", BAD, "first dimension should be batch", **{**glimpse, "offsets": f32([[0, 0]])})
c.error("ExtractGlimpseV2", BAD, "input must be a vector of size 2", **{**glimpse, "size": np.int32([2])})

seed = 0
covers = f32([[[0.1, 0.2, 0.6, 0.7], [0.3, 0.5, 0.9, 1.0]]])
for size in ([50, 60, 3], [7, 300, 1], [480, 640, 3], [1, 1, 3]):
    for more in ({}, dict(area_range=[0.3, 0.6]), dict(aspect_ratio_range=[0.2, 3.0], area_range=[0.01, 0.9], max_attempts=7), dict(max_attempts=1)):
        seed += 1
        c.add("SampleDistortedBoundingBoxV2", image_size=np.int32(size), bounding_boxes=covers, min_object_covered=f32(0.3), seed=seed, seed2=5, **more)
        c.add("SampleDistortedBoundingBox", image_size=np.int64(size), bounding_boxes=covers, min_object_covered=0.7, seed=seed, seed2=6, **more)
        c.add("StatelessSampleDistortedBoundingBox", image_size=np.int32(size), bounding_boxes=covers, min_object_covered=f32(0.1), seed=np.int64([seed, 3]), **more)
whole = dict(image_size=np.int32([40, 30, 3]), bounding_boxes=np.zeros([1, 0, 4], f32), min_object_covered=f32(0.5), seed=np.int64([1, 2]))
c.add("StatelessSampleDistortedBoundingBox", use_image_if_no_bounding_boxes=True, **whole)
c.error("StatelessSampleDistortedBoundingBox", BAD, "No bounding boxes provided as input", **whole)
one = {**whole, "bounding_boxes": covers}
for text, wrong in (("must be in [0.0, 1.0]", dict(bounding_boxes=covers * 2)), ("image_size must contain 3 elements", dict(image_size=np.int32([4, 5]))),
                    ("Area range field must specify 2", dict(area_range=[0.5])), ("Aspect ratio range must be non-negative", dict(aspect_ratio_range=[-0.5, 0.2])),
                    ("Max attempts must be non-negative", dict(max_attempts=0)), ("Min object covered must be non-negative", dict(min_object_covered=f32(-1)))):
    c.error("StatelessSampleDistortedBoundingBox", BAD, text, **{**one, **wrong})

crops = f32([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [0.8, 0.9, 0.2, -0.1], [0.3, 0.3, 0.6, 1.4]])
which = np.int32([0, 1, 1, 0])
for size in ([3, 4], [1, 2], [1, 1], [6, 6]):
    for method in ("bilinear", "nearest"):
        c.add("CropAndResize", image=image, boxes=crops, box_ind=which, crop_size=np.int32(size), method=method, gradient=True, tolerance=2e-5)
    grads = np.round(r.uniform(-1, 1, (4, *size, 2)), 1).astype(f32)
    c.add("CropAndResizeGradBoxes", grads=grads, image=image, boxes=crops, box_ind=which, tolerance=2e-5)
    c.add("CropAndResizeGradBoxes", grads=grads, image=np.abs(image * 9).astype("uint8"), boxes=crops, box_ind=which, tolerance=2e-5)
    for method in ("bilinear", "nearest"):
        for dtype in (tf.float32, tf.float64):
            c.add("CropAndResizeGradImage", grads=grads, boxes=crops, box_ind=which, image_size=np.int32([2, 5, 6, 2]), T=dtype, method=method, tolerance=2e-5)
c.error("CropAndResizeGradImage", "OutOfRangeError", "box_index has values outside", grads=grads, boxes=crops, box_ind=which + 1, image_size=np.int32([2, 5, 6, 2]), T=tf.float32)
c.write()
