"""The browser in which tests open pages."""

import shutil
import subprocess
from typing import Final

import pytest

BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SECONDS: Final = 300


def found_browser() -> str:
    """The program; a test fails where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(f"no browser: none of {', '.join(BROWSERS)} is installed; `make setup-browser`")
    return found


def opened(address: str, *options: str) -> tuple[str, str]:
    """The document as it is when its scripts have run, and what the browser has logged."""
    ended = subprocess.run(
        [found_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         *options, "--dump-dom", address],
        check=True, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    return ended.stdout, ended.stderr
