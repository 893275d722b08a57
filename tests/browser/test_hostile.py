"""A hundred hostile names and texts in event files: in Chromium they are text, nothing of them runs, and the policy holds against what gets in anyway."""
import os

import browser
import pytest
from browser import board

START = ["<script>window.hacked=1</script>", "<img src=x onerror='window.hacked=2'>", "'\"><svg onload=window.hacked=3>", "javascript:window.hacked=4",
         "</title></script><script>window.hacked=5</script>", "{{constructor.constructor('window.hacked=6')()}}", "__proto__", "constructor",
         "\" onmouseover=\"window.hacked=7", "<iframe srcdoc='<script>parent.hacked=8</script>'>", "${window.hacked=9}", "[x](javascript:window.hacked=10)",
         "![x](javascript:window.hacked=11)", "<a href='javascript:window.hacked=12'>x</a>", "<style>*{display:none}</style>", "<base href='https://example.com/'>",
         "<meta http-equiv=refresh content='0;url=https://example.com'>", "toString", "hasOwnProperty", "<math><mi xlink:href='javascript:window.hacked=13'>",
         "<details open ontoggle=window.hacked=14>", "\u202e\u2066rtl", "a/b/../../../etc/passwd", "%3Cscript%3E", "<object data='javascript:window.hacked=15'>"]
NAMES = [form % name for name in START for form in ("%s", "group/%s", "%s/tail", "x %s y")]
assert len(NAMES) == 100


def node(name, op, *inputs):
    return board.field(1, board.field(1, name) + board.field(2, op) + b"".join(board.field(3, one) for one in inputs))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder, events = tmp_path_factory.mktemp("logs"), []
    for i, text in enumerate(NAMES):
        name = text.encode()
        events += [board.scalar_event(name, float(s), s) for s in range(3)]
        events += [board.text_event(b"text " + name, name, i, description=name), board.text_event(b"image " + name, name, i, plugin=b"images"),
                   board.text_event(b"histogram " + name, name, i, plugin=b"histograms"), board.text_event(b"audio " + name, name, i, plugin=b"audio")]
    graph = b"".join(node(name.encode(), name.encode(), NAMES[i - 1].encode()) for i, name in enumerate(NAMES))
    events.append(board.field(1, 1.0) + board.field(4, graph))
    board.write_events(str(folder / "run" / "events.out.tfevents.1"), events)
    for i, text in enumerate(START):
        board.write_events(os.path.join(str(folder), "run%d " % i + text.replace("/", "|"), "events.out.tfevents.1"), [board.scalar_event(b"loss", 1.0, 1)])
    with board.Board(folder) as made:
        yield made


def inert(page):
    assert page.value("window.hacked") is None
    assert page.value("document.querySelectorAll('main script, main iframe, main object, main base, main style, main meta, main math, #tip script').length") == 0
    assert page.value("[...document.querySelectorAll('main a')].every(one => !one.href || /^https?:/.test(one.href))")


@pytest.mark.parametrize("name", browser.PAGES)
def test_names_are_text(page, server, name):
    page.open(server, name)
    page.wait("document.body.dataset.page === %r" % name)
    page.wait("document.querySelectorAll('#runs li').length === 26")
    if name in ("scalars", "timeseries"):
        page.wait("[...document.querySelectorAll('#content .card')].some(one => one.card.curves?.length)")
        page.run("document.querySelectorAll('.card').forEach(one => one.card.showTable?.())")
    if name == "text":
        page.wait("document.querySelectorAll('.entry').length > 3")
    if name == "graphs":
        page.wait("document.querySelectorAll('.g-node, .g-group').length > 10")
        page.run("document.querySelectorAll('.g-node').forEach(one => one.dispatchEvent(new Event('click', { bubbles: true })))")
    page.value("new Promise(done => setTimeout(done, 300))")
    inert(page)
    page.errors()


def test_the_policy_holds(page, server):
    page.open(server, "scalars")
    for attack in ("let s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)",
                   "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')",
                   "let s = document.createElement('script'); s.src = 'https://example.com/x.js'; document.body.append(s)",
                   "let s = document.createElement('iframe'); s.src = 'javascript:parent.hacked=1'; document.body.append(s)"):
        page.run(attack)
    page.value("new Promise(done => setTimeout(done, 300))")
    assert page.value("window.hacked") is None
    assert page.value("fetch('https://example.com/').then(() => 'got', () => 'refused')") == "refused"
    page.errors()


def test_hostile_addresses(page, server):
    """What stands behind # is the page's state: any text of it is harmless."""
    for state in ("<img src=x onerror=window.hacked=1>", "scalars&tags=(((((", "scalars&off={&color=[1]&at=null&pins=3&page={\"a\":\"x\"}&closed=\"x\"", "graphs&graph=x&open=[[[", "scalars&smooth=NaN&x=evil",
                  "hparams&view=x&sort=__proto__&columns=\"__proto__\"", "constructor", "scalars&%E0%A4%A=%ZZ", "projector&rounds=1e99&dims=x&method=tsne"):
        page.open(server, state.replace(" ", "%20"))
        inert(page)
    page.errors()
