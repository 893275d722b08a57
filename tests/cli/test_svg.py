"""thalweg graph --svg and model show --svg: graphs as pictures."""
import os
import re
import xml.etree.ElementTree

import pytest

import thalweg as tf
from test_command import ROOT, thalweg

SVG = "{http://www.w3.org/2000/svg}"
HALF = os.path.join(ROOT, "tests", "golden", "serve", "half", "1")


class Picture:
    """The boxes and arrows of a picture, which is well-formed."""
    def __init__(self, text):
        root = xml.etree.ElementTree.fromstring(text)
        self.size = float(root.get("width")), float(root.get("height"))
        self.boxes = {}
        for group in root.iter(SVG + "g"):
            rect = group.find(SVG + "rect")
            name = group.find(SVG + "text").text
            self.boxes[name] = group.get("class"), *(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        self.titles = [group.find(SVG + "title").text for group in root.iter(SVG + "g")]
        self.arrows = [(path.get("class"), [float(n) for n in re.findall(r"[-\d.]+", path.get("d"))]) for path in root.iter(SVG + "path") if path.get("class")]
        self.shapes = [text.text for text in root.iter(SVG + "text") if text.get("class") == "shape"]

    def connected(self, start, end):
        """An arrow goes from the lower side of one box to the upper side of the other."""
        def on(name, x, y, lower):
            _, left, top, width, height = self.boxes[name]
            return left <= x <= left + width and abs(y - (top + height if lower else top)) < 3
        return any(on(start, *points[:2], True) and on(end, *points[-2:], False) for _, points in self.arrows)


@pytest.fixture(scope="module")
def keras(tmp_path_factory):
    image, meta = tf.keras.Input((8, 8, 3), name="image"), tf.keras.Input((4,), name="meta")
    x = tf.keras.layers.Conv2D(4, 3, padding="same", name="first")(image)
    y = tf.keras.layers.Conv2D(4, 3, padding="same", name="second")(x)
    x = tf.keras.layers.Add(name="plus")([x, y])
    x = tf.keras.layers.GlobalAveragePooling2D(name="pool")(x)
    x = tf.keras.layers.Concatenate(name="both")([x, tf.keras.layers.Dense(3, name="side")(meta)])
    model = tf.keras.Model([image, meta], [tf.keras.layers.Dense(2, name="class")(x), tf.keras.layers.Dense(1, name="value")(x)])
    path = str(tmp_path_factory.mktemp("svg") / "m.keras")
    model.save(path)
    return path


def draw(*arguments):
    code, out, err = thalweg(*arguments, "--svg", "-")
    assert (code, err) == (0, "")
    return Picture(out)


def test_layers(keras, tmp_path):
    found = draw("model", "show", keras)
    for start, end in [("image", "first"), ("first", "second"), ("second", "plus"), ("first", "plus"), ("plus", "pool"), ("pool", "both"), ("side", "both"),
                       ("meta", "side"), ("both", "class"), ("both", "value")]:
        assert found.connected(start, end), (start, end)
    assert found.boxes["first"][0] == "scope" and found.boxes["meta"][0] == "input"
    assert sorted(box[0] for box in found.boxes.values()).count("output") == 2
    boxes = list(found.boxes.values())
    for i, (_, x, y, w, h) in enumerate(boxes):  # nothing lies on anything, all is inside
        assert 0 <= x and x + w <= found.size[0] and 0 <= y and y + h <= found.size[1]
        for _, a, b, c, d in boxes[:i]:
            assert x >= a + c or a >= x + w or y >= b + d or b >= y + h
    path = str(tmp_path / "out.svg")
    assert thalweg("model", "show", keras, "--svg", path) == (0, "", "") and os.path.getsize(path) > 1000
    assert os.listdir(tmp_path) == ["out.svg"]
    every = draw("model", "show", keras, "--depth", "0")
    assert len(every.boxes) > len(found.boxes) and any("Conv2D" in name for name in every.boxes)


def test_files_of_tensorflow():
    """The signature's own function, with shapes."""
    found = draw("graph", HALF)
    assert found.boxes["x"][0] == "input" and found.connected("x", "mul") and found.connected("mul", "add") and "(None,)" in found.shapes
    other = draw("graph", HALF, "--signature", "regress")
    assert any("ParseExampleV2" in title for title in other.titles)
    function = re.search(r"(__inference_predict_\d+)", thalweg("graph", HALF)[1]).group(1)
    assert draw("graph", HALF, "--function", function).boxes.keys() >= {"x", "mul", "add"}


def test_loops_and_hostile_names(tmp_path):
    path = tmp_path / "g.pbtxt"
    nodes = [("<script>&\\\"\\001", "Placeholder", []), ("m", "Merge", ["<script>&\\\"\\001", "n"]), ("n", "NextIteration", ["m"]), ("e", "Exit", ["m", "^n"])]
    path.write_text("".join('node { name: "%s" op: "%s" %s }\n' % (name, op, " ".join('input: "%s"' % i for i in inputs)) for name, op, inputs in nodes))
    code, out, err = thalweg("graph", str(path), "--svg", "-")
    assert (code, err) == (0, "") and "<script>" not in out
    found = Picture(out)
    assert len(found.boxes) == 4 and sorted(kind for kind, _ in found.arrows) == ["arrow", "arrow", "arrow", "loop"]
    assert found.connected("m", "e")


def test_large_graphs(tmp_path):
    """Many nodes take little time; too many are refused, and drawn as scopes."""
    path = tmp_path / "g.pbtxt"
    lines = ['node { name: "s%d/n%d" op: "Add" %s }' % (i // 500, i, " ".join('input: "s%d/n%d"' % (k // 500, k) for k in {i - 1, i // 2} if 0 <= k < i)) for i in range(4000)]
    path.write_text("\n".join(lines))
    code, out, err = thalweg("graph", str(path), "--svg", "-", "--depth", "0")
    assert (code, out) == (1, "") and "4000 boxes" in err
    assert len(draw("graph", str(path)).boxes) == 8
    path.write_text("\n".join(lines[:1200]))
    assert len(draw("graph", str(path), "--depth", "0").boxes) == 1200


@pytest.mark.parametrize("arguments,code,words", [
    (["graph", HALF, "--depth", "1"], 2, "--svg OUT is expected"),
    (["graph", HALF, "--svg", "-", "--signature", "regres"], 2, "there is no signature 'regres'; did you mean 'regress'?"),
    (["graph", HALF, "--svg", "-", "--function", "nope"], 2, "there is no function 'nope'"),
    (["graph", HALF, "--svg", "/nope/x.svg"], 1, "/nope/x.svg"),
    (["model", "show", HALF, "--depth", "2"], 2, "--svg OUT is expected"),
    (["model", "run", HALF, "--svg", "x"], 2, "model run takes no --svg"),
])
def test_wrong_calls(arguments, code, words):
    found, out, err = thalweg(*arguments)
    assert (found, out) == (code, "") and words in err
