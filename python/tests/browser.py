"""The browser in which tests open pages, and which makes pictures of them."""

import shutil
import subprocess
from pathlib import Path
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


def picture(address: str, file: Path, width: int, height: int, is_dark: bool) -> None:
    """Write what a window of this size shows, in the colours that its user prefers."""
    subprocess.run(
        [found_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
         f"--window-size={width},{height}", f"--screenshot={file}", address],
        check=True, capture_output=True, timeout=SECONDS,
    )  # fmt: skip
