"""Makes tests/golden/op_cases/image.json: pictures decoded and encoded, resized, recoloured. Usage: ops_image.py (needs tensorflow, and Pillow for CMYK,
palettes and animations)."""
import io
import struct
import zlib

import numpy as np
import tensorflow as tf
from PIL import Image

from op_cases import Cases

c = Cases("image")
random = np.random.RandomState(3)
noise = (random.rand(9, 11, 3) * 255).astype("uint8")
y, x = np.mgrid[0:14, 0:13]
smooth = np.stack([x * 18, y * 17, (x + y) * 9], -1).astype("uint8")
grey = smooth[..., :1]
four = np.concatenate([smooth, 255 - grey], -1)


def pillow(image, kind, mode=None, **options):
    """The image as Pillow writes it."""
    out = io.BytesIO()
    made = Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
    if "colors" in options:
        made = made.quantize(options.pop("colors"))
    (made.convert(mode) if mode else made).save(out, kind, **options)
    return out.getvalue()


def interlaced(image):
    """A PNG in Adam7's seven passes."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    parts = [image[y::dy, x::dx] for y, x, dy, dx in passes]
    rows = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)
    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bmp(image, down=False):
    height, width, channels = image.shape
    order = image if channels == 1 else np.concatenate([image[..., 2::-1], image[..., 3:]], -1)
    rows = [r.tobytes().ljust((width * channels + 3) // 4 * 4, b"\1") for r in (order if down else order[::-1])]
    body = b"".join(rows)
    return (b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, width, -height if down else height, 1, channels * 8, 0, 0, 0, 0, 0, 0) + body)


jpeg = tf.io.encode_jpeg(smooth).numpy()
jpegs = [jpeg, tf.io.encode_jpeg(noise).numpy(), tf.io.encode_jpeg(grey).numpy(), tf.io.encode_jpeg(smooth, progressive=True, quality=60).numpy(),
         tf.io.encode_jpeg(noise, chroma_downsampling=False).numpy(), pillow(smooth, "jpeg", subsampling=1),
         pillow(smooth, "jpeg", subsampling=2, progressive=True, quality=30), pillow(smooth, "jpeg", "CMYK")]
for data in jpegs:
    for channels in (0, 1, 3):
        if not (channels == 1 and data is jpegs[-1]):
            c.add("DecodeJpeg", contents=data, channels=channels)
for options in ({"ratio": 2}, {"ratio": 4}, {"ratio": 8}, {"fancy_upscaling": False}, {"dct_method": "INTEGER_FAST"}, {"dct_method": "INTEGER_ACCURATE"}):
    c.add("DecodeJpeg", contents=jpegs[0], **options)
    c.add("DecodeJpeg", contents=jpegs[3], **options)
c.add("DecodeAndCropJpeg", contents=jpegs[4], crop_window=[2, 3, 5, 6])
c.add("DecodeAndCropJpeg", contents=jpegs[4], crop_window=[0, 0, 9, 11], channels=1)
c.add("ExtractJpegShape", contents=jpeg)
c.add("ExtractJpegShape", contents=jpegs[2], output_type=tf.int64)
wide = smooth.astype("uint16") * 257 + 3
pngs = [tf.io.encode_png(i).numpy() for i in (smooth, grey, four, smooth[..., :2], wide, wide[..., :1])]
pngs += [interlaced(smooth), pillow(smooth, "png", colors=7), pillow(four, "png", colors=9), pillow(grey, "png", "1"),
         pillow(smooth, "png", transparency=(0, 0, 0)), pillow(smooth, "png", "P", transparency=3)]
for data in pngs:
    for channels in (0, 1, 3, 4):
        c.add("DecodePng", contents=data, channels=channels)
    c.add("DecodePng", contents=data, dtype=tf.uint16)
for data in (jpeg, pngs[0], pngs[4]):
    for dtype in (tf.uint8, tf.uint16, tf.float32):
        c.add("DecodeImage", contents=data, dtype=dtype)
still = pillow(smooth, "gif", colors=11)
frames = []
for k in range(3):
    frame = np.zeros([6, 8, 3], "uint8")
    frame[..., 0], frame[1 + k:4, 2:5 + k, 1] = 200, 90 * (k + 1)
    frames.append(Image.fromarray(frame))
file = io.BytesIO()
frames[0].save(file, "gif", save_all=True, append_images=frames[1:], duration=50)
moving = file.getvalue()
hole = four.copy()
hole[3:7, 2:9, 3] = 0
clear = pillow(hole, "gif", interlace=1)
large = pillow((random.rand(24, 30, 1) * 255).astype("uint8"), "gif", interlace=0)
for data in (still, moving, clear, large):
    c.add("DecodeGif", contents=data)
    c.add("DecodeImage", contents=data)
c.add("DecodeImage", contents=moving, expand_animations=False)
c.add("DecodeJpeg", contents=still)
c.add("DecodePng", contents=jpeg)
c.add("DecodeGif", contents=jpeg)
for image in (smooth, four, smooth[:, :12]):
    for down in (False, True):
        c.add("DecodeBmp", contents=bmp(image, down))
c.add("DecodeBmp", contents=bmp(grey))
c.add("DecodeImage", contents=bmp(smooth), dtype=tf.float32)
c.add("DecodeImage", contents=bmp(smooth), channels=4)
c.add("EncodePng", image=smooth)
c.add("EncodePng", image=np.stack([noise, 255 - noise]))
for image in (grey, four, smooth[..., :2], wide, noise[:1, :1]):
    for compression in (-1, 0, 9):
        c.add("EncodePng", image=image, compression=compression)
for options in ({}, {"quality": 30}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}, {"density_unit": "cm", "x_density": 7},
                {"xmp_metadata": "abc"}, {"format": "rgb"}):
    c.add("EncodeJpeg", image=smooth, **options)
    c.add("EncodeJpeg", image=noise, **options)
c.add("EncodeJpeg", image=grey)
c.add("EncodeJpegVariableQuality", images=noise, quality=40)

E = "InvalidArgumentError"
for op in ("DecodeJpeg", "DecodePng", "DecodeGif", "DecodeBmp", "DecodeImage"):
    c.error(op, contents=b"", code=E, text="Input is empty.")
    c.error(op, contents=b"hello world", code=E, text="Unknown image file format. One of JPEG, PNG, GIF, BMP required.")
c.error("DecodeBmp", contents=jpeg, code=E, text="Trying to decode JPEG format using DecodeBmp op. Use `decode_jpeg` or `decode_image` instead.")
c.error("DecodeJpeg", contents=bmp(smooth), code=E, text="Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: DecodeJpeg")
c.error("DecodeJpeg", contents=jpeg[:-80], code=E, text="jpeg::Uncompress failed. Invalid JPEG data or crop window.")
c.error("DecodeJpeg", contents=jpeg, channels=4, code=E, text="JPEG does not support 4 channels")
c.error("DecodeJpeg", contents=jpeg, channels=2, code=E, text="`channels` must be 0, 1, 3 or 4 but got 2")
c.error("DecodeJpeg", contents=jpeg, ratio=3, code=E, text="ratio must be 1, 2, 4, or 8, got 3")
c.error("DecodeJpeg", contents=jpeg, dct_method="FOO", code=E, text="dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
c.error("DecodeJpeg", contents=moving, code=E, text="Got 3 frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image")
c.error("DecodeAndCropJpeg", contents=jpeg, crop_window=[2, 3, 50, 6], code=E, text="jpeg::Uncompress failed. Invalid JPEG data or crop window.")
c.error("DecodePng", contents=pngs[0][:60], code=E, text="Invalid PNG data, size 60")
c.error("DecodePng", contents=pngs[0][:8], code=E, text="Invalid PNG. Failed to initialize decoder.")
c.error("DecodeGif", contents=still[:25], code=E, text="Invalid GIF data (size 25), failed to open gif file: No screen descriptor detected")
c.error("DecodeGif", contents=still[:80], code=E, text="Invalid GIF data (size 80), failed to slurp gif file:")
c.error("DecodeImage", contents=still, channels=1, code=E, text="channels must be 0 or 3 for GIF, got 1")
c.error("DecodeBmp", contents=bmp(smooth)[:100], code=E, text="Input size should match (header_size + row_size * abs_height) but they differ by -")
c.error("DecodeBmp", contents=b"BM", code=E, text="Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got 2 bytes")
c.error("ExtractJpegShape", contents=pngs[0], code=E, text="Invalid JPEG data, size ")
c.error("EncodeJpeg", image=four, code=E, text="image must have 1 or 3 channels, got [14,13,4]")
c.error("EncodeJpeg", image=smooth[0], code=E, text="image must be 3-dimensional[13,3]")
c.error("EncodeJpeg", image=smooth, quality=101, code=E, text="quality must be in [0,100], got 101")
c.error("EncodeJpeg", image=smooth, format="grayscale", code=E, text="format grayscale expects 1 channels, got [14,13,3]")
c.error("EncodePng", image=smooth, compression=10, code=E, text="compression should be in [-1,9], got 10")

# ---- sizes
images = random.rand(2, 4, 5, 2).astype("float32")
sizes = ([3, 4], [7, 8], [4, 5], [1, 1])
for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
    for size in sizes:
        for options in ({}, {"half_pixel_centers": True}, {"align_corners": True}):
            c.add(op, images=images, size=np.int32(size), gradient=True, **options)
    for dtype in ("uint8", "int32", "float16", "float64"):
        c.add(op, images=(images * 200).astype(dtype), size=np.int32([4, 9]), half_pixel_centers=True, **({"tolerance": 1e-6} if op != "ResizeNearestNeighbor" else {}))
    c.error(op, images=images[0], size=np.int32([2, 2]), code=E, text="input must be 4-dimensional")
    c.error(op, images=images, size=np.int32([2, 0]), code=E, text="output dimensions must be positive")
    c.error(op, images=images, size=np.int32([2, 2]), align_corners=True, half_pixel_centers=True, code=E, text="If half_pixel_centers is True, align_corners must be False.")
for size in sizes:
    for options in ({}, {"align_corners": True}):
        c.add("ResizeArea", images=images, size=np.int32(size), tolerance=1e-6, **options)
c.add("ResizeArea", images=(images * 200).astype("uint8"), size=np.int32([2, 3]), tolerance=1e-6)
for kind in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
    for size in sizes[:2]:
        for antialias in (False, True):
            c.add("ScaleAndTranslate", images=images, size=np.int32(size), scale=np.float32(size) / np.float32([4, 5]), translation=np.float32([0, 0]),
                  kernel_type=kind, antialias=antialias, gradient=kind != "lanczos1", tolerance=1e-5)
c.add("ScaleAndTranslate", images=images, size=np.int32([6, 8]), scale=np.float32([1.5, 0.5]), translation=np.float32([1.25, -0.5]), tolerance=1e-5)
c.add("ScaleAndTranslateGrad", grads=random.rand(2, 3, 4, 2).astype("float32"), original_image=images, scale=np.float32([0.75, 0.8]),
      translation=np.float32([0, 0]), tolerance=1e-5)
c.error("ScaleAndTranslate", images=images, size=np.int32([6, 8]), scale=np.float32([1.5, 0.5]), translation=np.float32([0, 0]), kernel_type="foo", code=E, text="Unrecognized kernel type: foo")
for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
    c.add(op, grads=random.rand(2, 3, 4, 2).astype("float32"), original_image=images, tolerance=1e-5)
    c.add(op, grads=random.rand(2, 3, 4, 2).astype("float32"), original_image=images.astype("float64"), half_pixel_centers=True, tolerance=1e-5)
c.add("ResizeNearestNeighborGrad", grads=images, size=np.int32([3, 4]))
boxes = np.float32([[0, 0, 1, 1], [0.25, 0.5, 0.75, 1.2], [0.9, 0.1, 0.2, 0.8]])
for method in ("bilinear", "nearest"):
    for size in ([3, 4], [1, 1], [6, 9]):
        c.add("CropAndResize", image=images, boxes=boxes, box_ind=np.int32([0, 1, 1]), crop_size=np.int32(size), method=method, extrapolation_value=0.5, tolerance=1e-6)
c.add("CropAndResize", image=(images * 200).astype("uint8"), boxes=boxes, box_ind=np.int32([0, 1, 1]), crop_size=np.int32([2, 2]))
c.error("CropAndResize", image=images, boxes=boxes, box_ind=np.int32([0, 1, 2]), crop_size=np.int32([2, 2]), code="OutOfRangeError", text="box_index has values outside [0, batch_size)")

# ---- colours
colours = np.concatenate([random.rand(4, 5, 3), [[[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 0, 1]]]]).astype("float32")
for dtype in ("float32", "float64", "float16"):
    tolerance = {"float16": 4e-3, "float32": 1e-6, "float64": 1e-12}[dtype]
    c.add("RGBToHSV", images=colours.astype(dtype), tolerance=tolerance)
    c.add("HSVToRGB", images=colours.astype(dtype), tolerance=tolerance)
for amount in (0.0, 0.3, -0.4, 0.9, 1.7):
    c.add("AdjustHue", images=colours, delta=np.float32(amount), tolerance=1e-5)
    c.add("AdjustSaturation", images=colours, scale=np.float32(abs(amount)), tolerance=1e-6)
    c.add("AdjustContrastv2", images=np.stack([colours, 1 - colours]), contrast_factor=np.float32(amount), tolerance=1e-6)
c.error("AdjustHue", images=colours[..., :2], delta=np.float32(0), code=E, text="input must have 3 channels")
c.write()
