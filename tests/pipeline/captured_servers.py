"""The servers whose change logs are captured, and what is known of each."""

import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from binlog_captures import Difference
from lake import DATA, capture
from mysql_oracle import MysqlHistory
from oracle import Message, read_messages


@dataclass(frozen=True)
class Server:
    """A change log, and what its server held at known moments."""

    name: str
    """The folder of the capture."""
    source: str
    differences: Sequence[Difference]
    """All that DDL did without an event, and nulls that the converter replaced."""

    @cached_property
    def messages(self) -> list[Message]:
        return read_messages(capture(self.name))

    @cached_property
    def history(self) -> MysqlHistory:
        return MysqlHistory(self.messages)

    @cached_property
    def moments(self) -> list[dict[str, Any]]:
        """The moments, each with the number of its last GTID, and of the commit that it is."""
        with gzip.open(DATA / self.name / "cuts.jsonl.gz", "rt", encoding="utf-8") as lines:
            moments = [json.loads(line) for line in lines]
        for moment in moments:
            gtids = moment["cut"].get("gtid") or moment["cut"]["gtid_executed"]
            moment["number"] = int(re.split("[:-]", gtids)[-1])
            moment["commit"] = self.history.last_commit(moment["number"])
        return moments


SIGNALS = tuple(
    f'data={{"openWindowTimestamp": "2026-11-21T03:37:34.{nanos}Z"}}, id={uuid}-open, '
    "type=snapshot-window-open"
    for nanos, uuid in (
        ("324908837", "153c9cbc-555a-44ee-9f6d-8c2e7cca9f24"),
        ("336474436", "cf0e1485-8b97-4548-9a26-424d462507b9"),
    )
)

MYSQL = Server(
    "mysql_shop",
    "msh",
    (
        # The converter sends the default for null.
        Difference(9, 25, "ty", "b1=2, id=4", "b1=2, dflt=42, dfs=dflt, id=4"),
        # ADD COLUMN with a default, RENAME COLUMN, DROP COLUMN: rows change and nothing is sent.
        Difference(16, 16, "t1", "id=1, n=7, v=after truncate", "id=1, v=after truncate"),
        Difference(17, 17, "t1", "id=1, n=7, w=after truncate", "id=1, v=after truncate"),
        Difference(17, 17, "t1", "id=2, n=7, w=u", "id=2, n=7, v=u"),
        Difference(18, 18, "t1", "id=1, w=after truncate", "id=1, v=after truncate"),
        Difference(18, 18, "t1", "id=2, w=u", "id=2, n=7, v=u"),
        Difference(18, 18, "t1", "id=3, w=w", "id=3, n=9007199254740993, w=w"),
        # RENAME TABLE: rows stay under the name that they were sent with.
        Difference(19, 19, "t1", None, "id=1, v=after truncate"),
        Difference(19, 19, "t1", None, "id=2, n=7, v=u"),
        Difference(19, 19, "t1", None, "id=3, n=9007199254740993, w=w"),
        Difference(19, 19, "t1", None, "id=4, n=text, w=x"),
        Difference(19, 19, "t1_new", "id=1, w=after truncate", None),
        Difference(19, 19, "t1_new", "id=2, w=u", None),
        Difference(19, 19, "t1_new", "id=3, w=w", None),
        Difference(19, 19, "t1_new", "id=4, n=text, w=x", None),
        Difference(20, 25, "t1_new", None, "id=5, w=renamed"),
        # Rows that the connector put into its signal table while the moment was taken.
        Difference(24, 24, "debezium_signal", SIGNALS[0], None),
        Difference(24, 24, "debezium_signal", SIGNALS[1], None),
    ),
)
MARIADB = Server(
    "mariadb_shop",
    "mar",
    (
        # RENAME COLUMN, DROP COLUMN: rows change and nothing is sent.
        Difference(21, 25, "t1", "id=4, w=a", "id=4, v=a"),
        Difference(21, 25, "t1", "id=5, w=b", "id=5, v=b"),
        Difference(21, 25, "t1", "id=6, w=c", "id=6, v=c"),
        Difference(22, 25, "t1", "id=7, w=u", "id=7, n=7, w=u"),
        # RENAME TABLE: rows stay under the name that they were sent with.
        Difference(23, 25, "t1", "id=9, w=renamed", None),
        Difference(23, 28, "t1_new", None, "id=9, w=renamed"),
    ),
)
