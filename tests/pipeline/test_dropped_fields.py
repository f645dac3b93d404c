"""Whatever field a message lacks: readers see a state that the source had, or nothing new.

dropped_fields.py takes every field of `source`, of the transaction block and of BEGIN and END from
every kind of message of every connector, in all of them or in one. `make slow` lands some of these
in the lake of test_defaults.py.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from arrivals import Arrival, write_arrivals
from dropped_fields import Variant, all_variants
from figures import record
from lake import open_lake, tables_of
from oracle import Message, Row
from random_streams import State
from test_random_landings import shown_states

from dbt_debezium.scaffold.captured import Group

GENERIC: dict[str, object] = {"generic_sources": {"f_generic_*": ["commit_lsn", "change_lsn"]}}
GROUP = Group("f_*", "some")
SHARE = 3
"""Of the variants `make slow` lands every third, and each that was wrong once."""
WRONG_ONCE = (
    "r source.connector",
    "r source.name",
    "r source.schema",
    "r source.table",
    "r source.db",
    "r source.commit_lsn",
    "incremental source.gtid",
    "incremental source.snapshot",
    "c source.commit_lsn",
    "c source.commit_scn",
    "c source.db",
    "d source.db",
    "d source.txId",
    "d source.name",
    "t source.gtid",
    "source.commit_scn",
    "END .event_count",
)
"""Kinds of message and fields whose loss showed rows that no source had."""


def is_chosen(number: int, one: Variant) -> bool:
    was_wrong = any(f": {what} " in one.what or f" {what} " in one.what for what in WRONG_ONCE)
    return one.lacks_nothing or was_wrong or number % SHARE == 0


def some_variants() -> list[Variant]:
    """Those that `make slow` lands."""
    return [one for number, one in enumerate(all_variants()) if is_chosen(number, one)]


def modelled_messages(sources: Sequence[Variant]) -> list[Message]:
    """What the tables of all variants are known from."""
    return [
        message for one in sources if one.lacks_nothing for part in one.parts for message in part
    ]


@pytest.mark.proof
@pytest.mark.parametrize("is_complete", [True, False])
def test_no_missing_field_of_any_kind_of_message_makes_a_wrong_row(
    tmp_path: Path, is_complete: bool
) -> None:
    sources = list(all_variants())
    outcomes = build(tmp_path, sources, is_complete=is_complete)
    record(
        "No missing field of `source`, a transaction block, BEGIN or END makes a wrong row"
        + (", at the known end of the log" if is_complete else ""),
        f"{len(sources):,} sources of every connector but CDL in 2 landings: 0 wrong, "
        f"{outcomes['right']:,} right at the end, the others held",
    )


def build(folder: Path, sources: Sequence[Variant], *, is_complete: bool) -> Counter[str]:
    """Land and build all sources; how many show all at the end, and how many hold something."""
    settings = {**GENERIC, "landing_reaches_the_end": is_complete}
    tables = tables_of(modelled_messages(sources), [GROUP], settings)
    wrong: list[str] = []
    with open_lake(folder, tables, settings) as lake:
        for part in range(2):
            arrivals = [Arrival(one.prefix, one.parts[part], []) for one in sources]
            write_arrivals(folder / f"landing_{part}", arrivals, combined="all")
            lake.land(folder / f"landing_{part}")
            assert lake.build(command="run"), lake.lines
            shown, cuts = shown_states(lake), lake.cuts()
            for one in sources:
                found = differences(one, shown, cuts)
                wrong += [f"{one.what}, landing {part}: {line}" for line in found]
    assert wrong == [], "\n".join(wrong)
    return outcomes_at_the_end(sources, shown)


def outcomes_at_the_end(sources: Sequence[Variant], shown: Mapping[str, State]) -> Counter[str]:
    """How many show all, and how many hold something; one that lacks nothing must show all."""
    reached = {
        one.what: "right" if one.states[-1] in [shown.get(name) for name in one.names] else "held"
        for one in sources
    }
    held = [one.what for one in sources if one.has_counts and one.lacks_nothing]
    assert [what for what in held if reached[what] != "right"] == []
    return Counter(reached.values())


def differences(one: Variant, shown: Mapping[str, State], cuts: Mapping[str, Row]) -> Iterator[str]:
    for name in one.names:
        state = shown.get(name, {})
        held = [held["reason"] for held in cuts.get(name, {}).get("held", [])]
        # A read that is held has been shown to nobody, before or after its window.
        is_known = state in one.states or (
            "snapshot_incomplete" in held and state in one.states_without_reads
        )
        if not is_known:
            yield f"{name} shows {json.dumps(state)} as {cuts[name]['proof']}, holds {held}"
