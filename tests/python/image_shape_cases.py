"""Static shapes of pictures in functions: run(tf) gives [shape given, function, shape of the result, or null if it is refused]. tests/golden/image_shapes.py
runs it under TensorFlow and writes image_shapes.json; test_unknown_shapes.py runs it here."""
SHAPES = ([None, None, 3], None, [None, None, None, 3], [4, None, None, 3], [None, 20, None, 3], [20, 30, None])
FUNCTIONS = {
    "resize_with_crop_or_pad": lambda tf, x: tf.image.resize_with_crop_or_pad(x, 8, 9),
    "resize_with_pad": lambda tf, x: tf.image.resize_with_pad(x, 8, 9),
    "pad_to_bounding_box": lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 1, 40, 41),
    "crop_to_bounding_box": lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 1, 8, 9),
    "resize": lambda tf, x: tf.image.resize(x, [8, 9]),
    "rgb_to_grayscale": lambda tf, x: tf.image.rgb_to_grayscale(x),
    "grayscale_to_rgb": lambda tf, x: tf.image.grayscale_to_rgb(x[..., :1]),
    "per_image_standardization": lambda tf, x: tf.image.per_image_standardization(x),
    "flip_left_right": lambda tf, x: tf.image.flip_left_right(x),
}


def run(tf):
    rows = []
    for shape in SHAPES:
        for name, function in FUNCTIONS.items():
            try:
                traced = tf.function(lambda x: function(tf, x), autograph=False).get_concrete_function(tf.TensorSpec(shape, tf.float32))
                found = traced.structured_outputs.shape
                rows.append([shape, name, found.as_list() if found.rank is not None else "unknown"])
            except (ValueError, TypeError):
                rows.append([shape, name, None])
    made = tf.function(lambda x: tf.image.random_crop(x, [8, 9, 3])).get_concrete_function(tf.TensorSpec([None, None, 3], tf.float32))
    return rows + [[[None, None, 3], "random_crop", made.structured_outputs.shape.as_list()]]
