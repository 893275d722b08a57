"""The fixtures of browser.py."""
from browser import page  # noqa: F401
