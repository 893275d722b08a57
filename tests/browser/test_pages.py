"""Every page of the dashboard in Chromium, with logs by TensorFlow, by thalweg and in the old style: what it shows is what the files hold."""
import json
import math
import os
import shutil

import browser
import pytest
from browser import board

GOLDEN = os.path.join(board.ROOT, "tests", "golden", "board")
with open(os.path.join(GOLDEN, "answers.json")) as file:
    ANSWERS = {(logs, case["path"]): case.get("json") for logs, cases in json.load(file).items() for case in cases}


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with board.Board(os.path.join(GOLDEN, "tensorflow")) as one, board.Board(os.path.join(GOLDEN, "thalweg")) as other:
        yield {"tensorflow": one, "thalweg": other}


EXPECTED = {"timeseries": 5, "scalars": 2, "images": 1, "audio": 1, "distributions": 2, "histograms": 2, "text": 2}


@pytest.mark.parametrize("logs, theme, width", (("tensorflow", "light", 1400), ("thalweg", "dark", 390)))
def test_every_page(page, servers, logs, theme, width):
    page.size(width)
    for name in browser.PAGES:
        page.open(servers[logs], name + "&theme=" + theme)
        page.wait("document.body.dataset.page === %r" % name)
        if name in EXPECTED:
            page.wait("document.querySelectorAll('#content .card').length >= %d" % EXPECTED[name])
        assert page.value("document.body.scrollWidth <= innerWidth"), (name, "is wider than the window")
        assert page.value("document.documentElement.dataset.theme") == theme
        folder = os.environ.get("BOARD_PICTURES")
        if folder:
            page.value("new Promise(done => setTimeout(done, 1500))")
            page.driver.save_screenshot(os.path.join(folder, "%s_%s_%d_%s.png" % (logs, name, width, theme)))
    assert page.errors() == []
    page.size(1400)


CURVES = [("tensorflow", "loss", "train"), ("tensorflow", "loss", "validation"), ("tensorflow", "metrics/accuracy", "validation"), ("tensorflow", "Loss/train", "old"),
          ("tensorflow", "Loss/test", "old"), ("thalweg", "loss", "train"), ("thalweg", "metrics/accuracy", "validation")]


@pytest.mark.parametrize("logs, tag, run", CURVES)
def test_numbers_of_curves(page, servers, logs, tag, run):
    """In the chart, in the table and in what is saved."""
    known = ANSWERS.get((logs, "/data/plugin/scalars/scalars?run=%s&tag=%s" % (run, tag.replace("/", "%2F")))) or servers[logs].points(tag, run)
    page.open(servers[logs], "scalars")
    page.loaded(tag)
    points = page.points(tag)[run]
    assert [step for step, _ in points] == [step for _, step, _ in known]
    for (_, value), (_, _, expected) in zip(points, known):
        assert value == "NaN" if expected == "NaN" else float(value) == expected
    page.run("%s.card.showTable()" % page.card(tag))
    rows = page.value("[...%s.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))" % page.card(tag))
    mine = [row for row in rows if row[0] == run]
    assert [int(row[1]) for row in mine] == [step for _, step, _ in known]
    for row, (_, _, expected) in zip(mine, known):
        assert row[2] == "NaN" if expected == "NaN" else math.isclose(float(row[2]), expected, rel_tol=1e-7)
    page.run("window.saved = []; URL.createObjectURL = blob => { blob.text().then(text => saved.push(text)); return '#'; }")
    for item in ("CSV", "JSON", "SVG"):
        page.run("%s.card.menu()" % page.card(tag))
        page.run("[...document.querySelectorAll('.menu button')].find(b => b.textContent.includes(arguments[0])).click()", item)
    table, values, drawing = page.wait("saved.length === 3 && saved")
    lines = [line.split(",") for line in table.split("\r\n") if line.startswith(run + ",")]
    assert [(float(time), int(step)) for _, time, step, _ in lines] == [(time, step) for time, step, _ in known]
    assert [row["step"] for row in json.loads(values) if row["run"] == run] == [step for _, step, _ in known]
    assert drawing.startswith("<svg") and "<path" in drawing
    assert page.errors() == []


def test_tooltips_tell_all_runs(page, servers):
    page.open(servers["tensorflow"], "scalars&smooth=0")
    page.loaded("loss")
    page.run("%s.scrollIntoView()" % page.card("loss"))
    canvas = page.driver.find_element("css selector", "[data-tag=loss] canvas")
    browser.webdriver.ActionChains(page.driver).move_to_element_with_offset(canvas, 0, 0).perform()
    rows = page.wait("!document.getElementById('tip').hidden && [...document.querySelectorAll('#tip tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    known = {run: {step: value for _, step, value in servers["tensorflow"].points("loss", run)} for run in ("train", "validation")}
    assert {row[1] for row in rows} == {"train", "validation"}
    for _, run, value, step, when, relative in rows:
        assert math.isclose(float(value), known[run][int(step)], rel_tol=1e-7) and "2023" in when and relative


def test_pictures_and_sounds(page, servers):
    page.open(servers["tensorflow"], "images")
    page.wait("document.querySelectorAll('.samples img').length === 3 && [...document.querySelectorAll('.samples img')].every(one => one.complete)")
    assert page.value("[...document.querySelectorAll('.samples img')].map(one => [one.naturalWidth, one.naturalHeight])") == [[7, 5], [8, 6], [8, 6]]
    slider = "[data-tag=picture] input[type=range]"
    page.type(slider, "0")
    assert page.value("document.querySelector('[data-tag=picture] output').textContent") == "step 0"
    page.reload()  # the slider's place stands in the address
    assert page.wait("document.querySelector('[data-tag=picture] output')?.textContent") == "step 0"
    page.type("#light", "2")
    assert "brightness(2)" in page.value("document.querySelector('.samples img').style.filter")
    page.click("[data-tag=picture] [aria-label='Actual size']")
    assert page.value("document.querySelector('[data-tag=picture] img').getBoundingClientRect().width") == 8
    page.open(servers["tensorflow"], "audio")
    page.wait("[...document.querySelectorAll('audio')].filter(one => one.duration > 0).length === 2")
    assert abs(page.value("document.querySelector('[data-tag=sound] audio').duration") - 400 / 8000) < 1e-3
    assert page.errors() == []


def test_histograms(page, servers):
    page.open(servers["tensorflow"], "histograms")
    assert page.wait("document.querySelector('[data-tag=weights] .when')?.textContent") == "step 2: 200 values from -3 to 3"
    assert page.wait("document.querySelector('[data-tag=values] .when')?.textContent") == "step 1: 10 values from -1.5 to 2.5"
    assert page.value("document.querySelectorAll('[data-tag=weights] svg[role=img] path').length") == 3
    page.click("[aria-label=Mode] button", 1)
    assert page.value("document.querySelector('[data-tag=weights] svg[role=img] path').getAttribute('fill')") == "none"
    page.open(servers["tensorflow"], "distributions")
    assert page.wait("document.querySelector('[data-tag=values] .when')?.textContent") == "step 1: median 0, from -1.5 to 2.5"


def test_texts(page, servers):
    page.open(servers["tensorflow"], "text")
    page.wait("document.querySelectorAll('.entry').length === 4")
    assert page.value("document.querySelector('.text h1').textContent") == "Run one"
    assert page.value("[...document.querySelectorAll('[data-tag=note] .text')].map(one => one.querySelectorAll('strong, em, code, a, li, td, th, blockquote, pre').length)") == [0, 15]
    assert page.value("document.querySelector('.text a').rel") == "noopener noreferrer nofollow"
    assert "<script>alert(1)</script>" in page.value("document.querySelector('[data-tag=note] .text').textContent")
    assert page.value("document.querySelectorAll('#content script').length") == 0


def test_graphs(page, servers):
    page.open(servers["tensorflow"], "graphs&graph=old%3A%20graph")
    page.wait("document.querySelectorAll('.g-node').length === 4")
    names = page.value("[...document.querySelectorAll('.g-node')].map(node => node.dataset.path)")
    assert sorted(names) == ["dense/out", "dense/product", "dense/w", "x"]
    assert "[?×4]" in page.value("[...document.querySelectorAll('.g-label')].map(one => one.textContent)")
    page.run("document.querySelector('[data-path=\"dense/product\"]').dispatchEvent(new Event('click', { bubbles: true }))")
    details = page.value("document.querySelector('.details').innerText")
    assert "MatMul" in details and "dense/w" in details and "transpose_a" in details and "[?×4]" in details
    page.run("document.querySelector('.g-toggle').dispatchEvent(new Event('click', { bubbles: true }))")  # closes the scope
    assert page.value("document.querySelectorAll('.g-node').length") == 1
    page.reload()  # which parts are open stands in the address
    page.wait("document.querySelectorAll('.g-node').length === 1")
    page.type(".bar input[type=search]", "dense/out")
    page.wait("document.querySelector('.g-chosen')?.dataset.path === 'dense/out'")
    assert "Relu" in page.value("document.querySelector('.details').innerText")
    page.open(servers["tensorflow"], "graphs&graph=keras%3A%20keras%20(Keras%20layers)")
    page.wait("document.querySelectorAll('.g-node').length === 3")
    assert page.value("document.querySelectorAll('.g-edge').length") == 2
    page.open(servers["thalweg"], "graphs")
    page.wait("document.querySelectorAll('.g-node').length >= 3")
    assert page.errors() == []


def test_hyperparameters(page, servers):
    page.open(servers["tensorflow"], "hparams")
    rows = "[...document.querySelectorAll('table.data tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    page.wait("document.querySelectorAll('table.data tbody tr').length === 3")
    assert page.value(rows) == [["trial0", "a", "0.01", "16", "0.56"], ["trial1", "b", "0.02", "32", "0.66"], ["trial2", "a", "0.05", "32", "0.76"]]
    page.click("table.data th button", 3)
    assert [row[0] for row in page.value(rows)] == ["trial2", "trial1", "trial0"]
    page.click("[aria-label=Columns] input", 0)
    assert len(page.value(rows)[0]) == 4
    page.click("[aria-label=View] button", 1)
    assert page.value("document.querySelectorAll('path.trial').length") == 3
    page.click("[aria-label=View] button", 2)
    assert page.value("document.querySelectorAll('#content circle').length") == 6
    assert page.errors() == []


def test_precision_and_recall(page, servers):
    page.open(servers["tensorflow"], "pr")
    page.wait("document.querySelector('#content .card')?.card.chart.series.length")
    known = ANSWERS[("tensorflow", "/data/plugin/pr_curves/pr_curves?tag=pr%2Fcurve&run=old")]["old"][1]
    drawn = page.value("(s => [Array.from(s.x), Array.from(s.y)])(document.querySelector('#content .card').card.chart.series[0])")
    assert drawn == [known["recall"][::-1], known["precision"][::-1]]


def test_custom_charts(page, servers):
    page.open(servers["tensorflow"], "custom")
    page.loaded("both")
    assert sorted(page.points("both")) == ["train: loss", "train: metrics/accuracy", "validation: loss", "validation: metrics/accuracy"]


def test_embeddings(page, servers):
    page.open(servers["tensorflow"], "projector&embedding=keras%3A%20table%2F.ATTRIBUTES%2FVARIABLE_VALUE")  # of a checkpoint
    assert page.wait("/5 points, 4 dimensions. PCA/.test(document.getElementById('progress')?.textContent)")
    page.open(servers["tensorflow"], "projector&embedding=train%3A%20words")
    assert page.wait("/12 points, 4 dimensions. PCA/.test(document.getElementById('progress')?.textContent)")
    page.click("[aria-label=Method] button", 1)
    assert page.wait("/round 600 of 600/.test(document.getElementById('progress')?.textContent)")
    assert page.errors() == []


def test_profiles(page, tmp_path):
    import thalweg as tf
    matrix = tf.ones([50, 50])

    @tf.function
    def work(x):
        return tf.reduce_sum(tf.nn.relu(tf.matmul(x, x)))
    work(matrix)
    tf.profiler.experimental.start(str(tmp_path))
    work(matrix)
    tf.profiler.experimental.stop()
    with board.Board(tmp_path) as server:
        page.open(server, "profile")
        rows = page.wait("document.querySelectorAll('table.data tbody tr').length && [...document.querySelectorAll('table.data tbody tr')].map(row => row.innerText)")
        assert any("MatMul" in row for row in rows)
        page.click("[aria-label='Zoom in']")
        assert page.errors() == []


def test_profiles_of_training(page, tmp_path):
    """Steps, what they wait for, memory, and the graph in the colours of time; numbers are those of the file."""
    import thalweg as tf
    data = tf.data.Dataset.range(64).map(lambda x: (tf.fill([4], tf.cast(x, tf.float32)), [1.0])).batch(8)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, name="first", input_shape=(4,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(tmp_path, profile_batch=(2, 7))])
    with board.Board(tmp_path) as server:
        run, = server.json("/data/plugin/profile/runs")
        found, nodes = server.json("/data/plugin/profile/data", run=run), server.json("/data/plugin/profile/nodes", run=run)
        page.open(server, "profile")
        rows = page.wait("document.querySelector('[aria-label=Steps]') && [...document.querySelectorAll('[aria-label=Steps] tbody tr')].map(row => row.cells[0].innerText)")
        assert rows == ["train %d" % number for _, _, number, *_ in found["steps"]] == ["train %d" % number for number in range(2, 6)]
        iterators = page.value("[...document.querySelectorAll('[aria-label=\"Time by iterator\"] tbody tr')].map(row => [row.cells[0].innerText, +row.cells[1].innerText])")
        assert dict(iterators) == {name: sum(event[1] == name for event in found["events"]) for name in ("Iterator::Batch", "Iterator::Map", "Iterator::Range")}
        waiting = page.value("(async () => (await import('./js/profile.js')).waiting(%s).map(step => [step.length, step.input]))()" % json.dumps(found))
        for (length, input), (lane, _, _, start, long) in zip(waiting, found["steps"]):
            outer = [event for event in found["events"] if event[0] == lane and event[1] == "Iterator::Batch" and start <= event[2] < start + long]
            assert length == long and abs(input - sum(event[3] for event in outer)) < 0.01 and 0 < input < length
        assert page.value("document.querySelector('.memory').getAttribute('aria-label')").startswith("Memory over time, at most ") and found["memory"]
        assert not page.value("[...document.querySelectorAll('[aria-label=\"Time by operation\"] tbody tr')].some(row => /^(train|Iterator)/.test(row.cells[0].innerText))")
        page.open(server, "graphs&graph=train%3A%20graph&paint=time")
        page.wait("document.querySelectorAll('.g-node, .g-group').length")
        assert page.value("document.querySelector('[aria-label=\"Colour by\"]').value") == "time"
        assert any(name.startswith("sequential/first/") for name in nodes)
        assert len(set(page.value("[...document.querySelectorAll('.g-node rect, .g-group rect')].map(rect => rect.style.fill)"))) > 2
        assert page.errors() == []


def test_many_groups(page, tmp_path):
    """Groups far down are empty until they come near."""
    board.write_events(str(tmp_path / "events.out.tfevents.1"), [board.scalar_event(b"group%02d/tag%d" % (number // 4, number % 4), float(number), 1) for number in range(200)])
    with board.Board(tmp_path) as server:
        page.open(server, "scalars")
        page.loaded("group00/tag0")
        assert page.value("document.querySelectorAll('.group').length") == 50 and 24 <= page.value("document.querySelectorAll('#content .card').length") < 100
        page.run("document.querySelectorAll('.group')[49].scrollIntoView()")
        page.loaded("group49/tag3")
        assert page.points("group49/tag3") == {".": [[1, "199"]]}
        assert page.errors() == []


def test_a_prefix(page):
    with board.Board(os.path.join(GOLDEN, "tensorflow"), "--path_prefix=/some/where/") as server:
        page.open(server, "scalars", "/some/where")
        page.loaded("loss")
        assert server.ask("/data/runs")[0] == 404 and server.ask("/some/where/data/runs")[0] == 200
        assert server.ask("/some/where")[0] == 301
        assert page.errors() == []


def test_curves_grow_while_they_are_seen(page, tmp_path):
    import thalweg as tf
    with tf.io.TFRecordWriter(str(tmp_path / "events.out.tfevents.1")) as writer, board.Board(tmp_path, "--reload_interval=1") as server:
        writer.write(board.scalar_event(b"loss", 1.0, 0))
        writer.flush()
        page.open(server, "scalars")
        page.loaded("loss")
        for step in (1, 2):
            writer.write(board.scalar_event(b"loss", 1.0 + step, step))
            writer.flush()
            page.wait("%s?.card.chart.series[0].count === %d" % (page.card("loss"), step + 1), 10)
        assert page.points("loss") == {".": [[0, "1"], [1, "2"], [2, "3"]]}
        shutil.copytree(os.path.join(GOLDEN, "thalweg", "validation"), tmp_path / "other")
        page.wait("document.querySelectorAll('#runs li').length === 2", 10)
