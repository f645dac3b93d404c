"""What has landed of a MariaDB server's change log at any moment shows only what it proves.

`make slow` publishes that in test_preview.py, with some random parts of the log.
"""

import json
from pathlib import Path

import pytest
from arrivals import Arrival, renamed
from binlog_captures import check_arrivals, some_arrivals, spread_truncates
from captured_servers import MARIADB
from figures import record


def moment_arrivals() -> list[Arrival]:
    """What had been sent at each moment: all of its transactions and none of the next."""
    sent = MARIADB.messages
    begins = [
        (at, int(value["id"].rpartition("-")[2]))
        for at, message in enumerate(sent)
        if (value := json.loads(message["value"] or "{}")).get("status") == "BEGIN"
    ]
    arrivals = []
    for moment in MARIADB.moments:
        end = min((at for at, number in begins if number > moment["number"]), default=len(sent))
        prefix = f"maria_moment_{moment['cut']['cut'][:3]}"
        landed = [renamed(message, MARIADB.source, prefix) for message in sent[:end]]
        arrivals.append(Arrival(prefix, landed, list(range(end))))
    return arrivals


def random_arrivals(count: int) -> list[Arrival]:
    sent = spread_truncates(MARIADB.messages)
    return some_arrivals("maria_gtid", sent, count, MARIADB.source)


@pytest.mark.proof
@pytest.mark.usefixtures("values_as_they_were_sent")
def test_a_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    check_arrivals(tmp_path, [(MARIADB.history, random_arrivals(100))])
    record(
        f"Random arrivals of the capture {MARIADB.name} show the largest provable state",
        "100 arrivals: 0 wrong, 0 not the largest, 0 lost",
    )
