"""What dbt itself prints and writes for people: its lines, and its site.

Names, comments and values of messages are in both.
"""

import re
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dbt.task import docs
from dbt.task.docs import generate, serve
from dbt_common.events.event_manager_client import get_event_manager

from dbt_debezium.writers import html
from dbt_debezium.writers.terminal import harmless

COLOUR: Final = re.compile(r"(\x1b\[[0-9;]*m)")
PAGE: Final = "DOCS_INDEX_FILE_PATH"
_folders: list[TemporaryDirectory[str]] = []
"""That of our page, until the process ends."""


def keep_lines_harmless() -> None:
    """Have dbt print and log nothing that a terminal would obey, but for dbt's own colours."""
    for logger in get_event_manager().loggers:
        if not isinstance(logger.scrubber, Scrubber):
            logger.scrubber = Scrubber(logger.scrubber, getattr(logger, "use_colors", False))


def keep_site_harmless() -> None:
    """Have dbt's `docs` write a site that runs no script but its own.

    In the results of a search it shows descriptions, names of columns and the text of models as
    HTML, so an element of a name would otherwise be one of the site.
    """
    if not _folders:
        _folders.append(TemporaryDirectory(prefix="dbt-debezium-"))
        written = Path(_folders[0].name) / "index.html"
        page = Path(docs.DOCS_INDEX_FILE_PATH).read_text(encoding="utf-8")
        written.write_text(html.with_own_scripts_only(page, secrets.token_urlsafe(16)), "utf-8")
        for module in (generate, serve):
            setattr(module, PAGE, str(written))


class Scrubber:
    """What dbt passes each line through, before it is printed or logged."""

    def __init__(self, plain: Any, has_colours: bool) -> None:
        self.plain = plain
        self.has_colours = has_colours

    def __call__(self, line: str) -> str:
        line = self.plain(line)
        if not self.has_colours:
            return harmless(line)
        parts = COLOUR.split(line)
        return "".join(part if at % 2 else harmless(part) for at, part in enumerate(parts))
