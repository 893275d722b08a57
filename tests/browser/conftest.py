"""The fixtures of browser.py. Where there is no browser nothing is collected, and that is told."""
import browser
from browser import page  # noqa: F401

collect_ignore_glob = ["test_*.py"] if browser.MISSING else []


def pytest_report_header():
    return "the dashboard is not tried in a browser without " + ", ".join(browser.MISSING) if browser.MISSING else None
