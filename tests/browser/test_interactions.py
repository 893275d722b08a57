"""What hands and keys do to the dashboard, in Chromium: the view changes, and stands in the address."""
import os

import browser
import numpy as np
import pytest
from browser import board

GOLDEN = os.path.join(board.ROOT, "tests", "golden", "board", "tensorflow")


@pytest.fixture(scope="module")
def server():
    with board.Board(GOLDEN) as made:
        yield made


@pytest.fixture
def loss(page, server):
    page.size(1400)
    page.open(server, "scalars")
    page.loaded("loss")
    page.run("%s.scrollIntoView({ block: 'center' })" % page.card("loss"))
    return page


def chart(page, expression, tag="loss"):
    return page.value("(chart => %s)(%s.card.chart)" % (expression, page.card(tag)))


def test_smoothing(loss):
    before = chart(loss, "Array.from(chart.series[0].smooth)")
    raw = chart(loss, "Array.from(chart.series[0].y)")
    weight, last, expected = 0.6, 0, []
    for i, value in enumerate(raw):  # TensorBoard's mean: exponential, without the bias of its beginning
        last = last * weight + (1 - weight) * value
        expected.append(last / (1 - weight ** (i + 1)))
    np.testing.assert_allclose(before, expected, rtol=1e-12)
    loss.type("#smooth", "0")
    loss.wait("%s.card.chart.options.weight === 0" % loss.card("loss"))
    assert chart(loss, "Array.from(chart.series[0].smooth)") == raw
    assert "smooth=0" in loss.value("location.hash")
    loss.reload()
    loss.loaded("loss")
    assert loss.value("document.getElementById('smooth-value').textContent") == "0.00" and chart(loss, "chart.options.weight") == 0


def test_axes_and_scales(loss):
    loss.click("[aria-label='Horizontal axis'] button", 1)
    loss.wait("%s.card.chart.options.axis === 'relative'" % loss.card("loss"))
    assert chart(loss, "chart.series[0].x[0]") == 0
    np.testing.assert_allclose(chart(loss, "chart.series[0].x[11]"), 11 / 3600, rtol=1e-6)
    loss.click("[aria-label='Horizontal axis'] button", 2)
    loss.wait("%s.card.chart.options.axis === 'wall'" % loss.card("loss"))
    assert chart(loss, "chart.series[0].x[0]") == 1700000000500
    loss.click("#log")
    loss.wait("%s.card.chart.options.log" % loss.card("loss"))
    loss.click("[data-tag=loss] [aria-label=Logarithmic]")  # this card is the other way round
    loss.wait("!%s.card.chart.options.log" % loss.card("loss"))
    loss.click("#outliers")
    loss.wait("!%s.card.chart.options.outliers" % loss.card("loss"))
    assert all(part in loss.value("location.hash") for part in ("x=wall", "log=1", "outliers=0", "logs="))


def test_zoom_pan_and_fit(loss):
    canvas = loss.driver.find_element("css selector", "[data-tag=loss] canvas")
    whole = chart(loss, "chart.bounds")
    browser.webdriver.ActionChains(loss.driver).move_to_element_with_offset(canvas, -60, -30).click_and_hold().move_by_offset(90, 50).release().perform()
    view = loss.wait("%s.card.chart.view" % loss.card("loss"))
    assert whole[0] < view[0] < view[1] < whole[1] and whole[2] < view[2] < view[3] < whole[3]
    keys = browser.webdriver.common.keys.Keys
    browser.webdriver.ActionChains(loss.driver).move_to_element(canvas).key_down(keys.SHIFT).click_and_hold().move_by_offset(40, 0).release().key_up(keys.SHIFT).perform()
    moved = chart(loss, "chart.view")
    assert moved[0] < view[0] and abs((moved[1] - moved[0]) - (view[1] - view[0])) < 1e-9
    browser.webdriver.ActionChains(loss.driver).double_click(canvas).perform()
    loss.wait("%s.card.chart.view === null" % loss.card("loss"))
    canvas.send_keys("+")
    assert chart(loss, "chart.view !== null")
    canvas.send_keys("0")
    assert chart(loss, "chart.view === null")
    canvas.send_keys(keys.ARROW_RIGHT)
    assert "at step 0" in loss.value("document.getElementById('spoken').textContent")
    canvas.send_keys(keys.ARROW_RIGHT)
    assert "at step 1" in loss.value("document.getElementById('spoken').textContent")


def test_runs(loss):
    loss.run("[...document.querySelectorAll('#runs label')].find(one => one.textContent === 'train').click()")
    loss.wait("Object.keys(Object.fromEntries((%s?.card.curves || []).map(c => [c.name, 1]))).join() === 'validation'" % loss.card("loss"))
    loss.click("#none")
    loss.wait("document.querySelector('.empty-page')")
    loss.click("#all")
    loss.wait("%s?.card.curves?.length === 2" % loss.card("loss"))
    loss.type("aside input[type=search]", "^tr.*n$")
    loss.wait("document.querySelectorAll('#runs li').length === 1")
    loss.click("#only")
    loss.wait("%s?.card.curves?.length === 1" % loss.card("loss"))
    loss.type("#runs input[type=color]", "#123456")
    loss.wait("%s?.card.curves?.[0].color === '#123456'" % loss.card("loss"))
    loss.reload()
    loss.wait("%s?.card.curves?.[0].color === '#123456'" % loss.card("loss"))


def test_tags_pins_and_width(loss):
    loss.type(".bar input[type=search]", "^metr|^loss$")
    loss.wait("[...document.querySelectorAll('#content .card')].map(one => one.dataset.tag).join() === 'loss,metrics/accuracy'")
    loss.click("[data-tag='metrics/accuracy'] [aria-label='Pin this chart']")
    loss.wait("document.querySelector('#content .card')?.dataset.tag === 'metrics/accuracy'")
    assert loss.value("document.querySelector('.group summary').firstChild.textContent") == "Pinned"
    loss.click("[data-tag=loss] [aria-label='Full width']")
    assert loss.value("document.querySelector('[data-tag=loss]').classList.contains('wide')")
    loss.run("document.querySelectorAll('.group summary')[2].click()")
    loss.wait("location.hash.includes('closed=')")
    loss.reload()
    loss.wait("document.querySelector('[data-tag=loss]')?.classList.contains('wide') && document.querySelectorAll('.group')[2]?.open === false")
    loss.type(".bar input[type=search]", "[")  # no expression: a part of a name
    loss.wait("document.querySelector('.bar input.wrong') && document.querySelector('.empty-page')")


def test_pages_of_cards(page, tmp_path):
    board.write_events(str(tmp_path / "events.out.tfevents.1"), [board.scalar_event(b"many/%03d" % i, float(i), 1) for i in range(30)])
    with board.Board(tmp_path) as server:
        page.open(server, "scalars")
        page.wait("document.querySelectorAll('#content .card').length === 12")
        page.click("[aria-label='Next page']")
        page.click("[aria-label='Next page']")
        assert page.value("[...document.querySelectorAll('#content .card')].map(one => one.dataset.tag)") == ["many/%03d" % i for i in range(24, 30)]
        page.reload()
        page.wait("document.querySelectorAll('#content .card').length === 6")


def test_a_long_curve_is_seen_closely(page, tmp_path):
    count = 20000
    values = np.sin(np.arange(count) / 500).astype(np.float32)
    values[12345] = 9
    board.write_events(str(tmp_path / "events.out.tfevents.1"), [board.scalar_event(b"long", float(v), i, 1000.0 + i) for i, v in enumerate(values)])
    with board.Board(tmp_path) as server:
        page.open(server, "scalars&outliers=0&smooth=0")
        page.loaded("long")
        assert chart(page, "[chart.series[0].kind, chart.series[0].total]", "long") == [1, count]
        assert chart(page, "chart.bounds[3] > 9", "long")  # one point of twenty thousand is on the chart
        page.run("%s.card.chart.zoomTo([12300, 12400, -2, 10])" % page.card("long"))
        page.wait("%s.card.chart.series[0].kind === 0" % page.card("long"))
        found = dict(map(tuple, page.points("long")["."]))
        assert found[12345] == "9" and all(float(found[i]) == values[i] for i in range(12300, 12401))
        page.run("%s.card.chart.fit()" % page.card("long"))
        page.wait("%s.card.chart.series[0].kind === 1" % page.card("long"))


def test_the_phone(page, server):
    page.size(390)
    page.open(server, "scalars")
    assert page.value("document.getElementById('side').getClientRects().length") == 0
    page.click("#menu")
    assert page.value("document.getElementById('side').getClientRects().length && document.getElementById('menu').getAttribute('aria-expanded')") == "true"
    page.click("#tab-text")
    page.wait("document.body.dataset.page === 'text' && !document.getElementById('side').classList.contains('open')")
    page.size(1400)


def test_colours(page, server):
    page.open(server, "scalars&theme=light")
    page.click("#theme")
    assert page.value("document.documentElement.dataset.theme") == "dark" and "theme=dark" in page.value("location.hash")


ACCESS = r"""
const shown = node => node.getClientRects().length && getComputedStyle(node).visibility !== 'hidden', out = [];
const name = node => (node.getAttribute('aria-label') || node.textContent || node.getAttribute('alt') || node.title || [...node.labels || []].map(one => one.textContent).join('') || '').trim();
for (const node of document.querySelectorAll('button, input, select, a[href], canvas, img, audio, [role=button], [role=tab], [role=img], [role=region]'))
    if (shown(node) && !name(node)) out.push('no name: ' + node.outerHTML.slice(0, 90));
const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
for (const id of new Set(ids.filter((one, i) => ids.indexOf(one) !== i))) out.push('twice: ' + id);
for (const node of document.querySelectorAll('[aria-controls], [aria-labelledby]'))
    for (const key of ['aria-controls', 'aria-labelledby'])
        if (node.getAttribute(key) && !document.getElementById(node.getAttribute(key))) out.push(key + ' leads nowhere');
const parse = text => (text.match(/[\d.]+/g) || []).map(Number), light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const ground = node => { for (; node; node = node.parentElement) { const c = parse(getComputedStyle(node).backgroundColor); if (c.length === 3 || c[3] > .9) return c; } return [255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(node) || !shown(node) || node.closest('svg, .unseen, .skip, noscript, option, [disabled]')) continue;
    seen.add(node);
    let opacity = 1;
    for (let one = node; one; one = one.parentElement) opacity *= +getComputedStyle(one).opacity;
    const back = ground(node), fore = parse(getComputedStyle(node).color).slice(0, 3).map((v, i) => v * opacity + back[i] * (1 - opacity)), [a, b] = [light(fore), light(back)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) out.push('contrast ' + ratio.toFixed(2) + ': ' + node.textContent.trim().slice(0, 40));
}
if (document.documentElement.lang !== 'en' || !document.title || document.querySelectorAll('main').length !== 1) out.push('no language, title or main part');
return out;
"""


@pytest.mark.parametrize("theme", ("light", "dark"))
def test_everybody_can_use_it(page, server, theme):
    """Names of all controls, contrast of all texts, ids that lead somewhere."""
    for name in browser.PAGES:
        page.open(server, name + "&theme=" + theme)
        page.wait("document.body.dataset.page === %r" % name)
        assert page.run(ACCESS) == [], name


def test_keys_reach_the_tabs(page, server):
    page.open(server, "scalars")
    page.run("document.querySelector('[aria-selected=true]').focus()")
    page.driver.switch_to.active_element.send_keys(browser.webdriver.common.keys.Keys.ARROW_RIGHT)
    assert page.value("document.activeElement.id") == "tab-custom"
    page.driver.switch_to.active_element.send_keys(browser.webdriver.common.keys.Keys.ENTER)
    page.wait("document.body.dataset.page === 'custom'")
