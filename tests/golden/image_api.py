"""What expressions with tf.image give in TensorFlow: makes tests/golden/image_api/image_api.json for tests/python/test_image.py.

Usage: image_api.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions

SETUP = """
import numpy as np
y, x = np.mgrid[0:4, 0:5]
u8 = np.stack([x * 50, y * 60, (x + y) * 30], -1).astype('uint8')
f32 = np.float32(u8) / np.float32(256)
many = np.stack([u8, 255 - u8])
def seeded(f):
    tf.random.set_seed(4)
    return f(), f(), f()
def rounded(t):
    return tf.cast(tf.round(tf.cast(t, tf.float64) * 1e4), tf.int32)
def traced(f, shape=(None, None, 3), dtype=tf.uint8, value=None):
    g = tf.function(f, input_signature=[tf.TensorSpec(shape, dtype)])
    return g(u8 if value is None else value)
"""

EXPRESSIONS = r"""
rounded(tf.image.resize(u8, [3, 2]))
rounded(tf.image.resize(u8, [6, 7], 'bicubic'))
rounded(tf.image.resize(u8, (2, 3), antialias=True))
rounded(tf.image.resize(u8, [2, 3], 'bicubic', antialias=True))
tf.image.resize(u8, [6, 3], method='nearest')
tf.image.resize(many, [2, 2], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
rounded(tf.image.resize(u8, [3, 3], 'area'))
rounded(tf.image.resize(u8, [3, 3], 'lanczos3'))
rounded(tf.image.resize(u8, [3, 3], 'lanczos5', antialias=True))
rounded(tf.image.resize(u8, [3, 3], 'gaussian'))
rounded(tf.image.resize(u8, [3, 3], 'mitchellcubic'))
tf.image.resize(u8, [8, 8], preserve_aspect_ratio=True).shape
tf.image.resize(u8, [2, 90], preserve_aspect_ratio=True).shape
tf.image.resize(u8, [4, 5]).dtype
tf.image.resize(u8, [4, 5], method='nearest').dtype
tf.image.resize(u8[0], [4, 5])
tf.image.resize(u8, [4, 5, 6])
rounded(traced(lambda i: tf.image.resize(i, [3, 2])))
rounded(traced(lambda i: tf.image.resize(i, [3, 2], preserve_aspect_ratio=True)))
rounded(traced(lambda i: tf.image.resize(i, [3, 2], 'lanczos3')))
rounded(tf.image.resize_with_pad(u8, 6, 4))
rounded(tf.image.resize_with_pad(many, 3, 9, 'nearest'))
rounded(traced(lambda i: tf.image.resize_with_pad(i, 6, 4)))
tf.image.resize_with_crop_or_pad(u8, 2, 8)
tf.image.resize_with_crop_or_pad(u8, 7, 3)
tf.image.resize_with_crop_or_pad(many, 3, 3)
traced(lambda i: tf.image.resize_with_crop_or_pad(i, 7, 2))
tf.image.resize_with_crop_or_pad(u8, 0, 3)
tf.image.crop_to_bounding_box(u8, 1, 2, 2, 3)
tf.image.crop_to_bounding_box(many, 0, 0, 1, 1)
tf.image.crop_to_bounding_box(u8, 1, 2, 4, 3)
tf.image.crop_to_bounding_box(u8, -1, 2, 4, 3)
tf.image.pad_to_bounding_box(u8, 1, 2, 6, 8)
tf.image.pad_to_bounding_box(u8, 1, 2, 4, 8)
tf.image.central_crop(u8, 0.5)
tf.image.central_crop(many, 0.7)
tf.image.central_crop(u8, 1.0).shape
tf.image.central_crop(u8, 0.0)
traced(lambda i: tf.image.central_crop(i, 0.5))
tf.image.flip_left_right(u8)
tf.image.flip_up_down(many)
tf.image.rot90(u8)
tf.image.rot90(u8, 2)
tf.image.rot90(u8, k=3)
tf.image.rot90(many, 5)
tf.image.rot90(u8, 0)
tf.image.transpose(u8)
tf.image.rot90(u8[0])
rounded(tf.image.per_image_standardization(u8))
rounded(tf.image.per_image_standardization(many))
rounded(tf.image.per_image_standardization(np.ones([2, 2, 3], 'float32')))
tf.image.adjust_brightness(u8, 0.2)
rounded(tf.image.adjust_brightness(f32, -0.1))
tf.image.adjust_contrast(u8, 1.7)
rounded(tf.image.adjust_contrast(f32, 0.3))
tf.image.adjust_gamma(u8, 0.5)
tf.image.adjust_gamma(u8, 1.5, 2)
tf.image.adjust_gamma(u8, -1)
tf.image.adjust_saturation(u8, 0.4)
tf.image.adjust_hue(u8, 0.3)
rounded(tf.image.adjust_hue(f32, -0.2))
tf.image.rgb_to_grayscale(u8)
rounded(tf.image.rgb_to_grayscale(f32))
tf.image.grayscale_to_rgb(tf.constant(u8[..., :1]))
rounded(tf.image.rgb_to_hsv(f32))
rounded(tf.image.hsv_to_rgb(f32))
rounded(tf.image.rgb_to_yiq(f32))
rounded(tf.image.yiq_to_rgb(f32))
rounded(tf.image.rgb_to_yuv(f32))
rounded(tf.image.yuv_to_rgb(f32))
rounded(tf.image.convert_image_dtype(u8, tf.float32))
tf.image.convert_image_dtype(f32, tf.uint8)
tf.image.convert_image_dtype(f32 * 1.5, tf.uint8, saturate=True)
tf.image.convert_image_dtype(u8, tf.uint16)
tf.image.convert_image_dtype(u8, tf.int32)
tf.image.convert_image_dtype(u8.astype('uint16') * 200, tf.uint8)
tf.image.convert_image_dtype(u8, tf.int8)
tf.image.convert_image_dtype(f32, tf.float16).dtype
tf.image.convert_image_dtype(f32, tf.int32, saturate=True)
rounded(tf.image.crop_and_resize(f32[None], [[0.1, 0.2, 0.9, 1.1]], [0], [3, 3]))
seeded(lambda: tf.image.random_brightness(u8, 0.3))
seeded(lambda: tf.image.random_contrast(u8, 0.3, 1.9, seed=5))
seeded(lambda: tf.image.random_saturation(u8, 0.3, 1.9))
seeded(lambda: tf.image.random_hue(u8, 0.3, seed=0))
seeded(lambda: tf.image.random_flip_left_right(u8))
seeded(lambda: tf.image.random_flip_up_down(many, seed=3))
seeded(lambda: tf.image.random_crop(u8, [2, 2, 3]))
tf.image.stateless_random_brightness(u8, 0.3, (1, 2))
tf.image.stateless_random_contrast(u8, 0.3, 1.9, (1, 2))
tf.image.stateless_random_saturation(u8, 0.3, 1.9, (1, 2))
tf.image.stateless_random_hue(u8, 0.3, (1, 2))
tf.image.stateless_random_flip_left_right(u8, (1, 3))
tf.image.stateless_random_flip_up_down(many, (1, 2))
tf.image.stateless_random_crop(u8, [2, 2, 3], (5, 2))
tf.image.random_brightness(u8, -1)
tf.image.random_hue(u8, 0.7)
tf.image.random_contrast(u8, 1, 0.5)
tf.io.decode_image(tf.io.encode_png(u8), dtype=tf.float32).shape
tf.reduce_all(tf.io.decode_png(tf.io.encode_png(u8)) == u8)
tf.io.decode_jpeg(tf.io.encode_jpeg(u8), channels=1)
tf.image.decode_image(tf.io.encode_png(u8), dtype=tf.int32)
tf.io.is_jpeg(tf.io.encode_jpeg(u8))
tf.io.is_jpeg(tf.io.encode_png(u8))
tf.io.extract_jpeg_shape(tf.io.encode_jpeg(u8))
tf.image.adjust_jpeg_quality(u8, 30)
tf.io.decode_jpeg(b'nothing')
traced(lambda c: tf.io.decode_jpeg(c, channels=3), [], tf.string, tf.io.encode_jpeg(u8))
"""


def main():
    import tensorflow as tf
    answers = [expressions.answer(e, tf, SETUP) for e in EXPRESSIONS.strip().split("\n")]
    import golden
    with open(golden.path(__file__, "image_api.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
