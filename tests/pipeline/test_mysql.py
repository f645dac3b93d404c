"""Random parts of a MySQL server's change log, with GTIDs or not, show only what they prove.

`make slow` publishes some of them in test_preview.py.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from arrivals import Arrival
from binlog_captures import check_arrivals, some_arrivals, spread_truncates
from captured_servers import MYSQL
from figures import record
from mysql_oracle import MysqlHistory
from oracle import Message


@cache
def spread_messages() -> list[Message]:
    return spread_truncates(MYSQL.messages)


@cache
def messages_without_gtids() -> list[Message]:
    """The same as a server without GTIDs sends it: ids are where BEGIN stands in the log."""
    sent = []
    ids: dict[str, str] = {}
    waiting = spread_messages()
    for message in waiting:
        value = json.loads(message["value"] or "{}")
        if gtid := (value.get("transaction") or {}).get("id"):
            place = value["source"]["pos"] - 1
            ids.setdefault(gtid, f"file={value['source']['file']},pos={place}")
    for message in waiting:
        texts = {name: message[name] for name in ("key", "value") if message[name]}
        for name, text in texts.items():
            without = re.sub('"gtid":"[^"]*"', '"gtid":null', text)
            texts[name] = re.sub(
                '(?<="id":")[^"]*:[0-9]+(?=")', lambda found: ids.get(found[0], found[0]), without
            )
        sent.append({**message, **texts})
    return sent


@cache
def history_without_gtids() -> MysqlHistory:
    return MysqlHistory(messages_without_gtids())


def test_ids_without_gtids_change_no_state() -> None:
    other = history_without_gtids()
    assert not other.numbers
    assert len(other.commits) == len(MYSQL.history.commits)
    for number in range(0, len(other.commits) + 1, 8):
        assert other.state(number) == MYSQL.history.state(number)


def random_arrivals(count: int) -> list[tuple[MysqlHistory, list[Arrival]]]:
    """Half of them without GTIDs."""
    with_gtids = some_arrivals("mysql_gtid", spread_messages(), count, MYSQL.source)
    without = some_arrivals("mysql_file", messages_without_gtids(), count, MYSQL.source)
    return [(MYSQL.history, with_gtids), (history_without_gtids(), without)]


@pytest.mark.proof
@pytest.mark.usefixtures("values_as_they_were_sent")
def test_a_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    check_arrivals(tmp_path, random_arrivals(100))
    record(
        f"Random arrivals of the capture {MYSQL.name} show the largest provable state",
        "100 arrivals with GTIDs and 100 without: 0 wrong, 0 not the largest, 0 lost",
    )
