"""Messages of a megabyte by the thousand, and one of a hundred megabytes, need no larger driver."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from arrivals import Arrival
from figures import record
from lake import open_lake, tables_of
from oracle import Message
from streams import Postgresql, create

SOURCE = "documents"
ROWS = 2_400
"""More than Arrow, which reads for Spark, holds in one column: 2 GB."""
ROWS_OF_PART = 100
LENGTH = 1_000_000
TOO_LONG = 100_000_000


def parts(stream: Postgresql) -> Iterator[list[Message]]:
    """Transactions of one row each, with a long text; the last row's is too long to be read."""
    sent = stream.landings[0]
    for first in range(0, ROWS, ROWS_OF_PART):
        for id in range(first, first + ROWS_OF_PART):
            stream.commit(create("document", id=id, body=f"{id:>{LENGTH}}"))
        yield [*sent]
        sent.clear()
    stream.commit(create("document", id=ROWS, body="x" * TOO_LONG))
    yield [*sent]


@pytest.mark.proof
@pytest.mark.fault(66)
def test_thousands_of_long_rows_are_shown_and_one_too_long_is_quarantined(tmp_path: Path) -> None:
    stream = Postgresql(SOURCE)
    stream.commit(create("document", id=-1, body=""))
    with open_lake(tmp_path, tables_of(stream.landings[0])) as lake:
        for number, part in enumerate(parts(stream)):
            lake.land_arrivals(f"part_{number}", [Arrival(SOURCE, part, [])])
        assert lake.build(command="run"), lake.lines
        found = lake.rows(
            "select count(*), min(length(body)), max(length(body)), "
            "count_if(id != cast(trim(body) as int)) from public.document where id >= 0"
        )
        assert found == [(ROWS, LENGTH, LENGTH, 0)]
        assert lake.rows("select quarantine_reason from build.quarantined_message") == [
            ("too_large",)
        ]
        assert lake.rows("select held_reason from public.held_transaction") == [
            ("quarantined_event",)
        ]
    record(
        "Long messages are shown, and one that is too long is quarantined by its hash",
        f"{ROWS:,} rows of {LENGTH:,} characters and one of {TOO_LONG:,}, with 2 GB of heap",
    )
