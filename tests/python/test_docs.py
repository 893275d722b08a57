"""The pages of `make docs` (tools/make_docs.py): every public callable has an entry, links lead somewhere, Markdown becomes HTML."""
import html.parser
import json
import os
import subprocess
import sys

import pytest

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import markdown_html  # noqa: E402


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = str(tmp_path_factory.mktemp("docs"))
    package = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "make_docs.py"), ROOT, package, out], check=True)
    return out


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.anchors, self.open = [], set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given["id"]} if "id" in given else set()
        self.targets += [given[name] for name in ("href", "src") if name in given]


def test_links_lead_somewhere(pages):
    found = {}
    for name in os.listdir(pages):
        if name.endswith(".html"):
            found[name] = Links()
            with open(os.path.join(pages, name), encoding="utf-8") as f:
                found[name].feed(f.read())
    broken = []
    for name, links in found.items():
        for target in links.targets:
            file, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            if file and not os.path.exists(os.path.join(pages, file)) or (anchor and file.startswith("tf") and anchor not in found[file].anchors):
                broken.append((name, target))
    assert len(found) > 150 and not broken


def test_everything_is_found_by_its_name(pages):
    with open(os.path.join(pages, "entries.js"), encoding="utf-8") as f:
        entries = {name: address for name, address, _ in json.loads(f.read().removeprefix("const ENTRIES = ").removesuffix(";\n"))}
    assert entries["tf.nn.softmax"] == entries["tw_nn_softmax"] == "tf.nn.html#softmax"
    assert {"tf.keras.layers.Dense", "tf.keras.Model.fit", "tf.data.Dataset.map", "tf.function", "tf.math.softmax", "tw_layers_dense", "tf.GradientTape.gradient"} <= set(entries)
    with open(os.path.join(pages, "tf.nn.html"), encoding="utf-8") as f:
        text = f.read()
    assert "tf.nn.relu(features, name=None)" in text and "tw_tensor *tw_nn_relu(tw_tensor *features, .name)" in text


@pytest.mark.parametrize("text, made", [
    ("# A `b`", '<h1 id="a-b">A <code>b</code></h1>'),
    ("one\ntwo **three** [four](data.md)", '<p>one two <strong>three</strong> <a href="guide-data.html">four</a></p>'),
    ("- a\n  b\n- c", "<ul><li>a b</li><li>c</li></ul>"),
    ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
    ("```c\na < b;\n```", "<pre><code>a &lt; b;</code></pre>"),
    ("| a | b |\n|---|---|\n| `c` | <d> |", "<div class=scroll><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>c</code></td>"
     "<td>&lt;d&gt;</td></tr></tbody></table></div>"),
    ("    code", "<pre><code>code</code></pre>"),
])
def test_markdown(text, made):
    assert markdown_html.page(text) == made
