"""What readers see of a source, by the commits that the judge lets them see. No Spark."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from landed import Landed
from oracle import Row
from random_streams import State, state_of
from runs import Runs

from dbt_debezium.judge import Verdict
from dbt_debezium.messages.flat import Flat


class Readers(Runs):
    """The rows of a source after each landing."""

    def __init__(self, source: str, not_ingested: Sequence[str] = ()) -> None:
        super().__init__(source, not_ingested)
        self.commit: Verdict | None = None
        """The newest one."""
        self._rows: dict[str, list[Row]] = defaultdict(list)

    @property
    def state(self) -> State:
        return state_of(self._rows)

    def see(self, landed: Iterable[Landed]) -> None:
        """Judge all that has landed, and apply what is new."""
        self.run(landed)
        for one in self.verdicts:
            if one.outcome == "commit":
                self.commit = one
                self.apply(one)

    def apply(self, commit: Verdict) -> None:
        """Let readers see one more commit."""
        if commit.kind != "transaction":
            if commit.kind == "initial_snapshot":
                self._rows.clear()
            changes = self.reads_at(commit.position)
        else:
            changes = self.changes_of(commit.transaction_id or "")
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
