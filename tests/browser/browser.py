"""Chromium for the tests of the dashboard, through Debian's chromium-driver and python3-selenium. Without them the tests are skipped."""
import os
import shutil
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import board  # noqa: E402, F401

MISSING = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
try:
    import selenium.webdriver as webdriver
except ImportError:
    MISSING.append("python3-selenium")

PAGES = ("timeseries", "scalars", "custom", "images", "audio", "graphs", "distributions", "histograms", "text", "pr", "hparams", "profile", "projector")


class Page:
    """One tab of a browser."""

    def __init__(self):
        options = webdriver.chrome.options.Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.chrome.service.Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(60)

    def end(self):
        self.driver.quit()

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def open(self, server, state="scalars", prefix=""):
        """The page with this state, drawn."""
        self.driver.get("about:blank")
        self.server = server
        self.driver.get("http://localhost:%d%s/#%s" % (server.port, prefix, state))
        self.wait("document.body.dataset.page")

    def reload(self):
        self.driver.refresh()
        self.wait("document.body.dataset.page")

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def value(self, expression):
        return self.run("return " + expression)

    def wait(self, expression, seconds=60):
        end = time.time() + seconds
        while True:
            found = self.value(expression)
            if found:
                return found
            assert time.time() < end, expression + "\n" + str(self.errors())
            time.sleep(0.1)

    def errors(self):
        """What the console told: severe things, but those of a server that is gone."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE" and "ERR_CONNECTION" not in entry["message"]]

    def click(self, selector, number=0):
        self.wait("document.querySelectorAll(%r).length > %d" % (selector, number))
        self.run("document.querySelectorAll(arguments[0])[arguments[1]].click()", selector, number)

    def type(self, selector, text):
        self.run("""const box = document.querySelector(arguments[0]);
                    box.value = arguments[1];
                    box.dispatchEvent(new Event('input', { bubbles: true }));
                    box.dispatchEvent(new Event('change', { bubbles: true }));""", selector, text)

    def card(self, tag):
        """Script that names the card of a tag."""
        return "[...document.querySelectorAll('#content .card')].find(card => card.dataset.tag === %r)" % tag

    def loaded(self, tag):
        self.wait("%s?.card.curves?.length" % self.card(tag))

    def points(self, tag):
        """{run: [[step, value], …]} as the chart has them."""
        return self.value("Object.fromEntries(%s.card.chart.series.map(s => [s.name, Array.from(s.steps, (step, i) => [step, String(s.y[i])])]))" % self.card(tag))


@pytest.fixture(scope="session")
def page():
    made = Page()
    yield made
    made.end()
