#!/usr/bin/env python3
"""Makes tests/golden/pictures/: small pictures in folders by class, and pictures.json, what Keras 2.15's flow_from_directory makes of them.

usage: pictures.py (needs tensorflow and pillow; the tests need only what it makes)
"""
import json
import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras.src.preprocessing import image as keras_image  # noqa: E402
from PIL import Image  # noqa: E402

keras_image.scipy = True  # is asked for even if pictures are not turned

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
CASES = {
    "binary": dict(target_size=(6, 4), batch_size=2, class_mode="binary", shuffle=False),
    "grey": dict(target_size=(3, 5), batch_size=5, class_mode="categorical", color_mode="grayscale", shuffle=False),
    "seeded": dict(target_size=(4, 4), batch_size=2, class_mode="sparse", seed=3),
    "rgba": dict(target_size=(9, 7), batch_size=3, class_mode=None, color_mode="rgba", shuffle=False),
    "subset": dict(target_size=(4, 4), batch_size=3, class_mode="input", subset="training", shuffle=False),
}

if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    rng = np.random.RandomState(0)
    for name, shape in (("cats/a.png", (5, 7, 3)), ("cats/b.jpg", (9, 8, 3)), ("cats/more/c.bmp", (4, 4, 3)),
                        ("dogs/d.PNG", (6, 6)), ("dogs/e.png", (3, 3, 4))):
        os.makedirs(os.path.dirname(OUT + "/" + name), exist_ok=True)
        small = rng.randint(0, 256, shape, dtype=np.uint8)
        Image.fromarray(small).save(OUT + "/" + name)
    with open(OUT + "/dogs/notes.txt", "w") as f:
        f.write("no picture\n")
    expected = {}
    for case, arguments in CASES.items():
        generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1.0 / 255, validation_split=0.5)
        flow = generator.flow_from_directory(OUT, **arguments)
        batches = [next(flow) for _ in range(len(flow) + 1)]
        batches = [list(b) if isinstance(b, tuple) else [b] for b in batches]
        expected[case] = {"arguments": arguments, "samples": flow.samples, "class_indices": flow.class_indices, "filenames": flow.filenames,
                          "length": len(flow), "batches": [[np.asarray(v, np.float64).round(5).tolist() for v in b] for b in batches]}
    with open(OUT + "/pictures.json", "w") as f:
        json.dump(expected, f)
