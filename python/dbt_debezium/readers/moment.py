"""The commits that public tables show when they are asked for an earlier commit or time.

A public view takes the commit that it shows from the pointer, so an earlier state is the same view
with an earlier commit in the pointer.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dbt_debezium.ages import time_text
from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.session import nothing_published
from dbt_debezium.views.dialects import tables_of

if TYPE_CHECKING:
    from dbt_debezium.readers import Reader

POINTED: Final = """
with pointer as (
    select inline(cut.source_cuts) from {schema}.cut as cut where cut.channel = 'published'
)
select
    pointer.source,
    coalesce(pointer.commit_number, 0) as newest,
    pointer.history_from,
    unix_micros(pointer.history_from_at) as history_from_micros,
    coalesce(max(commits.commit_number), 0) as until
from pointer
left join {schema}.commit as commits
    on
        pointer.source = commits.source
        and commits.commit_number <= pointer.commit_number
        and unix_micros(commits.committed_at) <= {micros}
group by pointer.source, pointer.commit_number, pointer.history_from, pointer.history_from_at
order by pointer.source
"""
COMMITS: Final = """
select source, commit_number, transaction_id, unix_micros(committed_at) as committed_at_micros
from {schema}.commit
where commit_number in ({numbers})
"""
TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?) ?(Z|[+-]\d\d:?\d\d|)(?: ?UTC)?"
)
"""A day, or a minute and what is smaller, and its offset."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asks for."""

    commits: Mapping[str | None, int]
    """Numbers of commits by source; of the only source under None."""
    time: datetime | None = None
    """With a zone. Each source shows its newest commit until then."""
    is_python: bool = False
    """Whether Python asks, and not the command line: what is written differs."""

    def __bool__(self) -> bool:
        return bool(self.commits) or self.time is not None

    @property
    def name(self) -> str:
        """What names the commit or the time."""
        if self.time is None:
            return "commit" if self.is_python else "--at"
        return "time" if self.is_python else "--as-of"

    def example(self, source: str, number: int) -> str:
        """How a commit of a source is named.

        >>> Wanted({}).example("shop", 3), Wanted({}, is_python=True).example("shop", 3)
        ('--at shop=3', "commit={'shop': 3}")
        """
        return f"commit={ {source: number} }" if self.is_python else f"--at {source}={number}"


@dataclass(frozen=True, slots=True)
class Commit:
    """A published commit of a source."""

    source: str
    number: int
    """0 for what a source shows that had not committed yet: empty tables."""
    transaction_id: str | None = None
    """None for a snapshot."""
    committed_at: str | None = None
    """In UTC."""

    def __str__(self) -> str:
        if not self.number:
            return f"no commit of {self.source}, which had none yet"
        what = f"transaction {self.transaction_id}" if self.transaction_id else "a snapshot"
        return f"commit {self.number} of {self.source}: {what}, committed at {self.committed_at}"


def read_commits(texts: Iterable[str]) -> dict[str | None, int]:
    """Commits as a command line names them: `300`, or `shop=300` if the lake has several sources.

    Raises:
        DebeziumError: one names no commit.

    >>> read_commits(["300"]), read_commits(["shop=300", "bank=7"])
    ({None: 300}, {'shop': 300, 'bank': 7})
    """
    found: dict[str | None, int] = {}
    for text in texts:
        source, is_named, number = text.rpartition("=")
        if not (number.isascii() and number.isdigit() and int(number)) or (is_named and not source):
            raise DebeziumError(
                f"--at: {text} is no commit; name its number, as in --at 300, and its source if "
                "the lake has several, as in --at shop=300"
            )
        found[source or None] = int(number)
    return found


def read_time(text: str, name: str = "--as-of") -> datetime:
    """A time as people write it, in UTC unless it says another offset.

    Args:
        text: the time.
        name: what takes it.

    Raises:
        DebeziumError: it is none.

    >>> for text in ("2026-11-21", "2026-11-21 02:36 UTC", "2026-11-21T03:36:50.5+01:00"):
    ...     print(read_time(text))
    2026-11-21 00:00:00+00:00
    2026-11-21 02:36:00+00:00
    2026-11-21 02:36:50.500000+00:00
    """
    moment = TIME.fullmatch(text.strip())
    try:
        found = datetime.fromisoformat("".join(moment.groups())) if moment else None
    except ValueError:
        # A day that no month has.
        found = None
    if found is None:
        raise DebeziumError(f"{name}: {text} is no time; write it as '2026-11-21 02:36', in UTC")
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def shown_commits(lake: "Reader", schema: str, wanted: Wanted) -> dict[str, Commit]:
    """The commit of each source that tables are to show.

    Args:
        lake: what reads it.
        schema: the schema that models are built in.
        wanted: a commit or a time.

    Raises:
        DebeziumError: nothing is published, no source has such a commit, it is not published, or
            older versions that it had are removed.
    """
    micros = 0 if wanted.time is None else micros_of(wanted.time)
    is_built = lake.has(f"{schema}.cut") and lake.has(f"{schema}.commit")
    rows = lake.rows(POINTED.format(schema=schema, micros=micros)) if is_built else []
    if not rows:
        raise nothing_published("query")
    if wanted.time is None:
        numbers = numbers_of(wanted, {row["source"]: row["newest"] for row in rows})
    else:
        numbers = {row["source"]: row["until"] for row in rows}
        if not any(numbers.values()):
            raise DebeziumError(
                f"{wanted.name}: no source had committed at {wanted.time:%Y-%m-%d %H:%M:%S} UTC; "
                "`select * from public.commit` has the time of each commit"
            )
    found = {source: Commit(source, number) for source, number in numbers.items()}
    listed = ", ".join(str(one) for one in sorted({*numbers.values()}))
    for row in lake.rows(COMMITS.format(schema=schema, numbers=listed)):
        if numbers.get(row["source"]) == row["commit_number"]:
            at = shown_time(row["committed_at_micros"])
            found[row["source"]] = Commit(
                row["source"], row["commit_number"], row["transaction_id"], at
            )
    for row in rows:
        if row["history_from"] is not None and numbers[row["source"]] < row["history_from"]:
            what = f"commit {numbers[row['source']]}" if wanted.time is None else "that time"
            raise DebeziumError(
                f"{wanted.name}: {row['source']} cannot be shown "
                f"at {what}, because older versions are removed; ask for commit "
                f"{row['history_from']} of {row['source']} made at "
                f"{shown_time(row['history_from_micros'])}, or a later one"
            )
    return found


def shown_time(micros: int | None) -> str | None:
    """An instant in UTC, to the second.

    >>> shown_time(1_795_228_609_935_000)
    '2026-11-21 02:36:49 UTC'
    """
    text = time_text(micros)
    return text and text.partition(".")[0].replace("T", " ") + " UTC"


def numbers_of(wanted: Wanted, newest: Mapping[str, int]) -> dict[str, int]:
    """The commit of each source; that of the published cut where no other is wanted.

    Raises:
        DebeziumError: there is no such source or commit.

    >>> one, several = {"shop": 9}, {"shop": 9, "bank": 7}
    >>> numbers_of(Wanted({None: 3}), one), numbers_of(Wanted({"shop": 3}), several)
    ({'shop': 3}, {'shop': 3, 'bank': 7})
    """
    sources = sorted(newest)
    numbers = dict(newest)
    for source, number in wanted.commits.items():
        if source is None and len(sources) > 1:
            raise DebeziumError(
                f"{wanted.name}: the lake has several sources ({', '.join(sources)}), each with "
                f"commits of its own; name one, as in {wanted.example(sources[0], number)}"
            )
        named = sources[0] if source is None else source
        if named not in newest:
            raise DebeziumError(
                f"{wanted.name}: {named} is no source of the published cut; its sources are "
                + ", ".join(sources)
            )
        if not 1 <= number <= newest[named]:
            raise DebeziumError(
                f"{wanted.name}: commit {number} of {named} is not published; name one from 1 to "
                f"{newest[named]}"
            )
        numbers[named] = number
    return numbers


def micros_of(time: datetime) -> int:
    """Microseconds since 1970.

    >>> micros_of(datetime(1970, 1, 1, 0, 0, 1, 5, UTC))
    1000005
    """
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds


def has_past(build: str, text: str) -> bool:
    """Whether a view can show earlier commits: those that the pointer names, from whole histories.

    A mart, and what is said of the newest cut, keep the rows of that cut alone.

    Args:
        build: the schema that models are built in.
        text: the view's query, in Spark's SQL.

    >>> pointed = "select * from build.cut join build.{} using (source)"
    >>> [has_past("build", pointed.format(one)) for one in ("orders_history", "totals__stored")]
    [True, False]
    >>> has_past("build", "select * from build.orders_history")
    False
    """
    read = tables_of(text)
    return (build, "cut") in read and all(
        schema == build and (table in ("cut", "commit") or table.endswith("_history"))
        for schema, table in read
    )


def no_past(table: str) -> DebeziumError:
    """What is to be said if such a table is asked for an earlier commit."""
    return DebeziumError(
        f"{table}: it has no earlier rows, because only those of the published cut are kept; "
        "ask public tables of a source, such as public.orders, or their histories"
    )
