"""What readers see of a source, by the commits that the judge lets them see. No Spark."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from collector import Collector, Delivery, Known, Landed, collector_of
from oracle import Row
from random_streams import State, state_of

from dbt_debezium.flat import Flat
from dbt_debezium.judge import ChainEnd, Commit, Discarded, Verdict, judge
from dbt_debezium.judge.decisions import Decided
from dbt_debezium.judge.marks import Decision


class Readers:
    """The rows of a source after each landing."""

    def __init__(self, source: str, not_ingested: Sequence[str] = ()) -> None:
        self.source = source
        self.not_ingested = not_ingested
        self.end = ChainEnd()
        self.verdicts: list[Verdict] = []
        """Of the latest landing."""
        self.decisions: dict[str, Decided] = {}
        """What operators have decided, by transaction."""
        self.reaches_the_end = False
        self.commit: Commit | None = None
        """The newest one."""
        self._published: dict[str, None] = {}
        self._known_places: dict[Delivery, str] = {}
        self._rows: dict[str, list[Row]] = defaultdict(list)

    @property
    def state(self) -> State:
        return state_of(self._rows)

    def see(self, landed: Iterable[Landed]) -> None:
        """Judge all that has landed, and apply what is new.

        Args:
            landed: each delivery once or more often, in any order.
        """
        sent = [*landed]
        for one in sent:
            if one.flat.kind == "quarantined":
                place = self.end.position or self.end.snapshot_position or ""
                self._known_places.setdefault(one[:3], place)
        known = Known(
            self.end,
            frozenset(self._published),
            next(reversed(self._published), None),
            [Decision(what, one) for one, what in self.decisions.items() if what],
            self._known_places,
            self.reaches_the_end,
        )
        collector = collector_of(self.source, sent, self.not_ingested, known=known)
        self.verdicts = [*judge(collector.collect(), self.end)]
        for one in self.verdicts:
            if isinstance(one, Commit | Discarded):
                self.end = one.chain_end
                if one.transaction_id is not None:
                    self._published[one.transaction_id] = None
            if isinstance(one, Commit):
                self.commit = one
                self._apply(one, collector)

    def _apply(self, commit: Commit, collector: Collector) -> None:
        if commit.kind == "initial_snapshot":
            self._rows.clear()
            changes = collector.reads_at(commit.position)
        else:
            changes = collector.changes_of(commit.transaction_id or "")
        for change in changes:
            _apply(self._rows[change.table_name or ""], change)


def _apply(rows: list[Row], change: Flat) -> None:
    """As a table does that may have lost changes before."""
    before, after = _row(change.before), _row(change.after)
    if change.operation == "t":
        rows.clear()
    elif change.row_key is None and before in rows:
        rows.remove(before)
    elif change.row_key is not None:
        key = json.loads(change.row_key)["id"]
        old = [row for row in rows if str(row["id"]) == str(key)]
        # Rows that take on each other's keys have one key for a while, and the older one leaves.
        for row in [] if change.old_row_key else old[:1]:
            rows.remove(row)
    if after is not None:
        rows.append(after)


def _row(text: str | None) -> Row | None:
    return None if text is None else json.loads(text)
