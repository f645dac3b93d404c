"""Pictures of the page of `report` for the documentation: `make pictures`.

The change log of the demo lands in four parts, while `run --every` builds and writes its page. The
pictures show the page when the third part has landed, which lacks messages, and at the end.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from browser import picture

from dbt_debezium.demo import CAPTURE, Message, read_capture, split, write_example
from dbt_debezium.home import jars_dir

REPOSITORY: Final = Path(__file__).parents[2]
FOLDER: Final = REPOSITORY / "target" / "pictures"
LAKE: Final = "shop_lake"
"""In the project of the demo."""
PAGE: Final = FOLDER / "lake.html"
EARLIER: Final = (1200, 2200)
"""Where the part of the log that lacks messages is cut, by the number of messages."""


class Picture(NamedTuple):
    """A file of `docs`, and what it shows."""

    file: str
    page: str
    width: int
    height: int
    is_dark: bool


PICTURES: Final = (
    Picture("page.png", "held.html", 1150, 1690, is_dark=False),
    Picture("page-dark.png", "well.html", 1150, 1720, is_dark=True),
    Picture("page-phone.png", "held.html", 390, 930, is_dark=False),
)


def parts() -> list[list[Message]]:
    """The change log, the last part of which brings what the others lack."""
    first, second = split(read_capture(REPOSITORY / CAPTURE))
    ends = [0, *EARLIER, len(first)]
    return [*(first[begin:end] for begin, end in pairwise(ends)), second]


def published(rounds: "subprocess.Popen[str]") -> None:
    """Wait for the next round that publishes; the page is written before its line is printed."""
    assert rounds.stdout
    for line in rounds.stdout:
        told = json.loads(line)
        if told["error"]:
            sys.exit(f"pictures: {told['error']}")
        if told["outcome"] == "published":
            return
    sys.exit("pictures: the rounds have ended; the lines above say why")


@contextmanager
def rounds_on(dump: Path) -> Iterator["subprocess.Popen[str]"]:
    """`run --every` on a folder."""
    command = [
        *(Path(sys.executable).with_name("dbt-debezium"), "run", dump, "--every", "1s"),
        *("--json", "--report", PAGE),
    ]
    settings = {"DBT_DEBEZIUM_LAKE": LAKE, "DBT_DEBEZIUM_JARS": str(jars_dir().absolute())}
    process = subprocess.Popen(
        command,
        cwd=write_example().project,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def make_pages(log: Sequence[Sequence[Message]]) -> None:
    """Write the page of a lake that holds transactions, and of one that has published all."""
    dump = FOLDER / "dump"
    dump.mkdir()
    with rounds_on(dump) as rounds:
        for number, messages in enumerate(log, 1):
            unfinished = dump / ".unfinished"
            unfinished.write_text("".join(f"{json.dumps(one)}\n" for one in messages))
            unfinished.rename(dump / f"{number}.jsonl")
            published(rounds)
            print(f"part {number} of {len(log)} is published", flush=True)
            if number >= len(log) - 1:
                shutil.copy(PAGE, FOLDER / ("well.html" if number == len(log) else "held.html"))


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    make_pages(parts())
    for one in PICTURES:
        file = REPOSITORY / "docs" / one.file
        picture((FOLDER / one.page).as_uri(), file, one.width, one.height, one.is_dark)
        print(f"docs/{one.file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
