"""Messages that attack: names, comments and values that are code in some language.

Whoever may create a table or a column in a captured schema can send them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

SCRIPT: Final = (
    "<script>top.document.title='PWNED'</script><img src=x onerror=top.document.title='PWNED'>"
)
ESCAPES: Final = "\x1b[31mRED\x1b]0;pwn\x07"
SECRETS: Final = ("DBT_DEBEZIUM_HASH_KEY", "SHOP_PASSWORD")
"""Variables of the environment that a name asks for."""
TABLES: Final = (
    'a"b', "a`b", "x; drop table build.cut", "../../../../x/evil", "{{ env_var('HOME') }}",
    "{% set x = 1 %}", "{# c #}", SCRIPT, "o'brien", "\\'; drop", "${env:SHOP_PASSWORD}",
    "L" * 300, "\u202ertl", "published_cut", "commit", "__", "123", "sp ace", "good.x", "--",
    "/* x */", "*", "\\", "${env:HOME}", "a\u2028b", "&lt;", "*b* _c_ [d](javascript:e)",
)  # fmt: skip
"""Names of tables that are taken as they are."""
UNWRITABLE: Final = ("new\nline", "tab\tx", ESCAPES, "a\x80b", "z\ufffez", "nul\0", "a\U0001ffffb")
"""Names that no table or column may have."""
COLUMNS: Final = (
    'a"b', "x'y", "<b>x</b>", "a;b", "a.b", "{x}", "a{", "#}", "%}", "}}", "select", " ", "*",
    "a b", "\\", "\\'", "$$", "--", "/*", "*/", ":x", "${env:SHOP_PASSWORD}",
    "${env:DBT_DEBEZIUM_HASH_KEY}", "${system:user.home}", "@x", "?", "tick", "-", "|", ">", "&",
    "!", "\u202e", "é", "\u00a0", "#c", "a: b", "- x", "null", "true", "1e5", "[a]", "(b)", "a,b",
    "=", "~", "%s", "%(x)s", "{0}", "\u2028", "\u2029", "\ufeff", "😀", SCRIPT,
)  # fmt: skip
"""Names of columns that are taken as they are."""
COMMENTS: Final = (
    "{{ env_var('HOME') }}", "{% do x %}", "del\x7fx", "c1\x80x", "nel\x85x", "nc\ufffex",
    "nc\uffffx", "ls\u2028ps\u2029x", "nl\nx: y\n  - z", '"; x', '\\"', "\\'; drop", "{",
    "${env:SHOP_PASSWORD}", SCRIPT, "{{ '", "{ {", "}}", "#}", "ends in \\", "a\r\nb", "\x1b[31m",
    "{{constructor.constructor('top.document.title=`PWNED`')()}}", "[x](javascript:top.x=1)",
    "<svg/onload=top.document.title='PWNED'>", "&lt;script&gt;",
)  # fmt: skip
"""What a database says of a column."""


@dataclass(slots=True)
class Stream:
    """What a PostgreSQL connector of one source sends, with any names."""

    source: str = "shop"
    messages: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 100
    _commit: int | None = None

    def send(self, topic: str, key: object, value: object) -> None:
        offset = sum(one["topic"] == topic for one in self.messages)
        texts = (
            one if one is None or isinstance(one, str) else json.dumps(one) for one in (key, value)
        )
        now = 1795228600000 + len(self.messages)
        self.messages.append(
            {"topic": topic, "partition": 0, "offset": offset, "timestamp": now, "headers": []}
            | dict(zip(("key", "value"), texts, strict=True))
        )

    def commit(
        self,
        table: str,
        row: Mapping[str, object],
        comments: Mapping[str, str] | None = None,
        schema: str = "public",
    ) -> None:
        """One transaction that inserts one row.

        Args:
            comments: of columns; a schema block carries them.
        """
        self._number += 1
        position = self._number * 100
        transaction = f"{self._number}:{position + 1}"
        collection = f"{schema}.{table}"
        counts = [{"data_collection": collection, "event_count": 1}]
        self._mark("BEGIN", transaction, None, None)
        before = str(self._commit) if self._commit else None
        value: dict[str, Any] = {
            "before": None,
            "after": row,
            "source": {
                "version": "3.6.3.Final",
                "connector": "postgresql",
                "name": self.source,
                "ts_ms": 1795228600000,
                "snapshot": "false",
                "db": "db",
                "sequence": json.dumps([before, str(position)]),
                "schema": schema,
                "table": table,
                "txId": self._number,
                "lsn": position,
                "xmin": None,
            },
            "transaction": {"id": transaction, "total_order": 1, "data_collection_order": 1},
            "op": "c",
            "ts_ms": 1795228600000,
        }
        key: dict[str, Any] = {"id": row["id"]}
        if comments is not None:
            columns = {name: {"type": "string", "optional": True} for name in row} | {
                "id": {"type": "int32", "optional": False}
            }
            for name, comment in comments.items():
                columns[name]["parameters"] = {"__debezium.source.column.comment": comment}
            fields = [one | {"field": name} for name, one in columns.items()]
            image = {"type": "struct", "fields": fields, "optional": True, "name": "x.Value"}
            images = [image | {"field": name} for name in ("before", "after")]
            value = {
                "schema": {
                    "type": "struct",
                    "fields": images,
                    "optional": False,
                    "name": "x.Envelope",
                },
                "payload": value,
            }
            keys = [one for one in fields if one["field"] == "id"]
            key = {
                "schema": {"type": "struct", "fields": keys, "optional": False, "name": "x.Key"},
                "payload": key,
            }
        self.send(f"{self.source}.{collection}", key, value)
        self._commit = position + 1
        self._mark("END", transaction, 1, counts)

    def _mark(self, status: str, transaction: str, count: int | None, counts: object) -> None:
        self.send(
            f"{self.source}.transaction",
            {"id": transaction},
            {
                "status": status,
                "id": transaction,
                "event_count": count,
                "data_collections": counts,
                "ts_ms": 1795228600000,
            },
        )

    def write(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(one) + "\n" for one in self.messages))
        return path


def commands(outside: Path) -> Sequence[str]:
    """Names of tables that move a table, or run a command, if `\\'` ends a literal."""
    victim, touched = outside / "victim", outside / "pwned"
    return (
        f't\\\' location "{victim}"  --',
        "t\\'  as select * except (is_version) from (with change as (select placed.* from "
        'build.int_change as placed, (select transform(id) using "/*n/touch '
        f'{touched} #*/" as (z) from range(1)) as evil where ((placed.table_name != " --',
    )


def everything(outside: Path) -> Stream:
    """Every attack by a name or a comment, one table each, beside the table `good`."""
    stream = Stream()
    good = ["plain", SCRIPT, ESCAPES, "{{ 7*7 }}", "\u202eRTL", "${env:HOME}", "a\nb", "NaN"]
    for number, text in enumerate(good):
        stream.commit("good", {"id": number, "v": text})
    for table in (*TABLES, *UNWRITABLE, *commands(outside)):
        stream.commit(table, {"id": 1, "v": "x"})
    stream.commit("cols", {"id": 1, **dict.fromkeys(COLUMNS, "v")})
    for number, column in enumerate(UNWRITABLE):
        stream.commit(f"bad_column_{number}", {"id": 1, column: "v"})
    comments = {f"c{number}": comment for number, comment in enumerate(COMMENTS)}
    stream.commit("comments", {"id": 1, **dict.fromkeys(comments, "x")}, comments)
    stream.commit("lone", {"id": 1, "v": "x"}, {"v": "half \ud800 a pair"})
    stream.commit("in_a_schema", {"id": 1, "v": "x"}, schema="o'x\\' --")
    stream.commit("in_a_bad_schema", {"id": 1, "v": "x"}, schema="a\x1bb")
    # Topics of another source: one that is unreadable would hold what follows it.
    stream.send(f"other.public.\x1b[32mTOPIC\x1b]0;pwned\x1b\\{SCRIPT}", "{}", "garbage \x1b[31m")
    stream.send("../../../x/evil", "{}", "garbage")
    stream.send("{{ 7*7 }}\nline", "{}", "garbage")
    return stream
