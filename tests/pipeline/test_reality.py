"""What real installations send is read, or one sentence says why not and what to do."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from reality import Case, Source, read_cases

from dbt_debezium.dumps import find_files, read_dump
from dbt_debezium.errors import DebeziumError
from dbt_debezium.export import export
from dbt_debezium.preview import preview_report, previewed
from dbt_debezium.reasons import Command
from dbt_debezium.status.sentences import own_sentences, shared_sentences

pytestmark = pytest.mark.slow

LANDED = [case for case in read_cases() if not case.refused]
REFUSED = [case for case in read_cases() if case.refused]


def settings_text(case: Case) -> str:
    return json.dumps(case.settings, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Built:
    """One preview of all cases with the same settings."""

    directory: Path
    entries: dict[str, dict[str, Any]]


def build(folder: Path, cases: list[Case]) -> Built:
    dump = folder / "dump"
    dump.mkdir()
    for case in cases:
        case.place_inputs(dump)
    identities = {name: columns for case in cases for name, columns in case.identities.items()}
    with previewed(dump, settings=cases[0].settings, identities=identities) as built:
        export(built.spark, built.tables, folder / "export")
        report = preview_report(built)
    return Built(folder / "export", {entry["source"]: entry for entry in report})


@pytest.fixture(scope="module")
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Built]:
    """By settings: the preview of the cases that this run of pytest has selected."""
    selected = {
        item.callspec.params["case"].name
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        if "case" in item.callspec.params
    }
    cases = [case for case in LANDED if case.name in selected]
    return {
        settings: build(tmp_path_factory.mktemp("reality"), list(group))
        for settings, group in groupby(sorted(cases, key=settings_text), settings_text)
    }


def published_rows(directory: Path, source: str, table: str) -> list[dict[str, Any]]:
    path = directory / source / f"{table}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def as_set(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


def check_tables(directory: Path, source: str, tables: dict[str, list[dict[str, Any]]]) -> None:
    for table, expected in tables.items():
        columns = list(expected[0]) if expected else []
        rows = published_rows(directory, source, table)
        shown = [{name: row[name] for name in columns} for row in rows] if expected else rows
        assert as_set(shown) == as_set(expected), f"{source}: {table}"


def check_source(built: Built, name: str, expected: Source, command: Command) -> None:
    entry = built.entries.get(name)
    said = own_sentences(entry, command) + shared_sentences([entry], command) if entry else []
    for sentence in expected.says:
        assert any(re.search(sentence, line) for line in said), (sentence, said)
    entry = entry or {"commit_number": 0, "held": [], "quarantined": []}
    if expected.published is None:
        assert entry["commit_number"] == 0
    else:
        shown = {"transaction": entry.get("transaction_id")} | entry
        assert {field: shown[field] for field in expected.published} == expected.published
    if expected.held is not None:
        assert sorted(one["reason"] for one in entry["held"]) == expected.held
    if expected.quarantined is not None:
        reasons = Counter(message["reason"] for message in entry["quarantined"])
        assert reasons == expected.quarantined
    if expected.flags is not None:
        assert sorted(flagged["flag"] for flagged in entry["flags"]) == expected.flags
    if expected.tables is not None:
        check_tables(built.directory, name, expected.tables)


@pytest.mark.parametrize("case", LANDED, ids=lambda case: case.name)
def test_what_lands_comes_out_right_or_says_why_not(built: dict[str, Built], case: Case) -> None:
    is_complete = case.settings.get("landing_reaches_the_end")
    command: Command = "preview --complete" if is_complete else "preview"
    for name, expected in case.sources.items():
        check_source(built[settings_text(case)], name, expected, command)


def test_no_input_makes_a_source_that_is_not_there(built: dict[str, Built]) -> None:
    for settings, one in built.items():
        known = {
            name for case in LANDED if settings_text(case) == settings for name in case.sources
        }
        assert set(one.entries) <= known


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_cannot_be_landed_is_refused_in_one_sentence(case: Case) -> None:
    refusals = []
    for path in case.inputs():
        try:
            for file in find_files(path):
                if refusal := read_dump(file, len).refusal:
                    raise refusal
        except DebeziumError as error:
            refusals.append(str(error))
    assert len(refusals) == len(case.inputs())
    for refusal in refusals:
        assert re.search(case.refused or "", refusal)
        assert "\n" not in refusal
