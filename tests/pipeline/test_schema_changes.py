"""A source that changes its tables: what the stream shows is in the tables, the rest is named."""

import base64
import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from click.testing import CliRunner
from engines import agreed_status
from lake import DATA, Lake, capture, open_lake
from oracle import read_messages

from dbt_debezium.cli import main
from dbt_debezium.cli.run import notes_of
from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.spark_values import with_text_times
from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.scaffold.project_models import ProjectModels, plan_scaffold
from dbt_debezium.status.holds import held_sentence

pytestmark = pytest.mark.slow

NAME = "schema_evolution_schema"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KEYLESS = "ev_nokey"
KEY_OF = {"ev_key": ["code"]}
"""Tables whose key changed, and what tells their rows apart before and after."""
NOT_SENT = {
    "public.ev_drop": "DROP TABLE, and a table of the same name",
    "public.ev_enum": "ALTER TYPE .. RENAME VALUE",
    "public.ev_renamed": "ALTER TABLE .. RENAME",
    "public.ev_move": "ALTER TABLE .. SET SCHEMA",
    "other.ev_move": "ALTER TABLE .. SET SCHEMA",
    "public.ev_swap_a": "ALTER TABLE .. RENAME, twice",
    "public.ev_swap_b": "ALTER TABLE .. RENAME, twice",
}
"""Tables that a statement changed for which PostgreSQL has neither event nor schema."""

Table = tuple[str, str]
Bag = Counter[tuple[tuple[str, str | None], ...]]


# --- what the stream says, without a line of the project's code --------------------------------


def text_of(field: dict[str, Any], value: Any) -> str | None:
    """A value as its Spark type shows it."""
    name = (field.get("name") or "").rpartition(".")[2]
    if value is None:
        return None
    if name == "Decimal":
        unscaled = int.from_bytes(base64.b64decode(value), "big", signed=True)
        return format(Decimal(unscaled).scaleb(-int(field["parameters"]["scale"])), "f")
    if name in ("MicroTimestamp", "Timestamp"):
        micros = value * (1000 if name == "Timestamp" else 1)
        return shown_time(EPOCH + timedelta(microseconds=micros))
    if name == "ZonedTimestamp" and field["field"] == "f":
        return shown_time(datetime.fromisoformat(value))
    return str(value)


def shown_time(moment: datetime) -> str:
    whole = moment.strftime("%Y-%m-%d %H:%M:%S")
    fraction = f"{moment.microsecond:06d}".rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def states() -> list[dict[Table, list[dict[str, str | None]]]]:
    """Every table after each transaction, as its events leave it."""
    tables: dict[Table, dict[object, dict[str, str | None]]] = {}
    found = []
    fresh = iter(range(10**6))
    for message in read_messages(capture(NAME)):
        if message["value"] is None:
            continue
        value = json.loads(message["value"])
        schema, payload = value["schema"], value["payload"]
        if payload.get("status") == "END":
            found.append({table: list(rows.values()) for table, rows in tables.items()})
        if "op" not in payload:
            continue
        source = payload["source"]
        table = source["schema"], source["table"]
        rows = tables.setdefault(table, {})
        if payload["op"] == "t":
            rows.clear()
            continue
        images = {one["field"]: one["fields"] for one in schema["fields"] if "fields" in one}
        before, after = (
            payload[image] and {f["field"]: text_of(f, payload[image][f["field"]]) for f in fields}
            for image, fields in (("before", images["before"]), ("after", images["after"]))
        )
        key: object
        if table[1] == KEYLESS:
            if before:
                del rows[next(key for key, row in rows.items() if row == before)]
            key = next(fresh)
        elif table[1] in KEY_OF:
            key = tuple((after or before)[name] for name in KEY_OF[table[1]])
        else:
            key = json.dumps(json.loads(message["key"])["payload"])
        if after:
            rows[key] = after
        else:
            rows.pop(key, None)
    return found


def bag(rows: list[dict[str, str | None]], columns: list[str]) -> Bag:
    return Counter(tuple((name, row.get(name)) for name in columns) for row in rows)


def absent_in(rows: list[dict[str, str | None]], columns: list[str]) -> Counter[tuple[str, ...]]:
    """How many rows come from a message that lacks these columns of the model."""
    return Counter(tuple(name for name in columns if name not in row) for row in rows)


def database() -> list[dict[Table, tuple[list[str], list[dict[str, str | None]]]]]:
    """What the database held at the same moments."""
    with gzip.open(DATA / NAME / "cuts.jsonl.gz", "rt", encoding="utf-8") as lines:
        cuts = [json.loads(line) for line in lines]
    return [
        {
            (schema, table): (
                list(shape["columns"]),
                [
                    {name: text and text.removesuffix("+00") for name, text in row.items()}
                    for row in shape["rows"]
                ],
            )
            for name, shape in cut["tables"].items()
            for schema, _, table in [name.partition(".")]
        }
        for cut in cuts
    ]


# --- the lake ----------------------------------------------------------------------------------


def land_part(lake: Lake, name: str, part: slice) -> None:
    with gzip.open(capture(NAME), "rt", encoding="utf-8") as messages:
        lines = messages.readlines()
    path = lake.folder / f"{name}.jsonl"
    path.write_text("".join(lines[part]), encoding="utf-8")
    lake.land(path)


def scaffold(lake: Lake, force: bool = False) -> None:
    plan = plan_scaffold(lake.project, landed_tables(lake.spark), [], force)
    assert plan.refusals == []
    plan.write(lake.project)


def edit(lake: Lake, model: str, old: str, new: str) -> None:
    (path,) = (lake.project / "models").rglob(f"{model}.sql")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def refusal(lake: Lake, old: str, new: str) -> str:
    """What dbt says of an edited history of ev, which is then mended."""
    edit(lake, "ev_history", old, new)
    with pytest.raises(DebeziumError) as refused:
        lake.build(command="run")
    edit(lake, "ev_history", new, old)
    return str(refused.value)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, dict[str, Any]]]:
    """The first transaction; then all of them, until the models know every change."""
    said: dict[str, Any] = {}
    with open_lake(tmp_path_factory.mktemp("evolution"), []) as lake:
        land_part(lake, "first", slice(0, 19))
        scaffold(lake)
        edit(lake, "ev_history", "'truncate'", "'schema_changes': 'fail',\n    'truncate'")
        assert lake.build(command="run"), lake.lines
        land_part(lake, "rest", slice(19, None))
        said["refused"] = (lake.build(command="run"), lake.lines)
        edit(lake, "ev_history", "'fail'", "'evolve'")
        said["held"] = (lake.build(command="run"), lake.lines, lake.cuts())
        edit(lake, "ev_key_history", "'truncate'", "'identity': ['code'],\n    'truncate'")
        said["unknown"] = (lake.build(command="run"), lake.lines)
        said["old columns"] = lake.spark.table("public.ev").columns
        scaffold(lake, force=True)
        said["known"] = (lake.build(command="run"), lake.lines)
        lake.land(DATA / "mysql_schema_changes" / "announced.jsonl.gz")
        said["again"] = (lake.build(command="run"), lake.lines)
        said["refusals"] = [
            refusal(lake, "'e': 'int'", "'e': 'int', 'E': 'int'"),
            refusal(lake, "'e': 'int'", "'e': 'int', '_Change': 'int'"),
            refusal(lake, "'schema_changes': 'evolve'", "'schema_changes': 'always'"),
        ]
        yield lake, said


def test_a_run_refuses_what_needs_a_decision_and_names_it(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    is_good, lines = runs[1]["refused"]
    assert not is_good
    text = "\n".join(lines)
    assert "public.ev: column 'd' came at commit 2 of evo, and its policy is fail" in text
    assert 'public.ev_key: its key changed from ["id"] to ["code"] at commit 16 of evo' in text
    assert "'identity': [...]" in text


def test_another_key_waits_for_the_model_and_what_is_before_it_is_published(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    is_good, lines, cuts = runs[1]["held"]
    assert is_good, lines
    assert cuts["evo"]["commit_number"] == 15
    said = held_sentence(cuts["evo"], "status") or ""
    assert "it has rows of public.ev_key under another key than those before it (other_key)" in said


def test_status_names_changes_with_duckdb_as_with_spark(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    report = agreed_status(runs[0].project)
    kinds = {change["change"] for entry in report for change in entry["schema_changes"]}
    assert {"column_added", "column_missing", "key_changed", "type_widened"} <= kinds


def test_a_run_names_the_columns_that_the_models_lack(runs: tuple[Lake, dict[str, Any]]) -> None:
    is_good, lines = runs[1]["unknown"]
    assert is_good, lines
    text = "\n".join([*runs[1]["held"][1], *lines])
    lacking = re.findall(
        r"evo: public.ev has columns that its model lacks: (.*?); `dbt-debezium scaffold` adds",
        text,
    )
    assert {name for names in lacking for name in names.split(", ")} == {"a2", "d", "e", "f", "g"}
    assert "d" not in runs[1]["old columns"]


def test_a_history_whose_model_changed_is_built_anew_once(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    is_good, lines = runs[1]["known"]
    assert is_good, lines
    assert "ev_history: its model has changed; built again from all changes" in lines
    assert not any(line.startswith("ev_enum_history") for line in lines)
    assert not any("its model" in line for line in runs[1]["again"][1])


def absent(rows: list[dict[str, Any]]) -> Counter[tuple[str, ...]]:
    """The same as absent_in, as the rows themselves name them."""
    return Counter(tuple(row["absent_columns"]) for row in rows)


def versions_of(lake: Lake, history: str) -> list[tuple[int, float, dict[str, Any]]]:
    """The rows of a public history as text, each with the commits that began and ended it."""
    versions = []
    for row in with_text_times(lake.spark.table(history)).collect():
        cells = row.asDict()
        end = cells["_valid_to"] or math.inf
        texts = {name: None if cell is None else str(cell) for name, cell in cells.items()}
        texts["absent_columns"] = cells["_change"].absent_columns
        versions.append((cells["_valid_from"], end, texts))
    return versions


@pytest.mark.covers("DB2-04")
def test_after_each_of_27_transactions_each_table_is_what_the_stream_says(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    lake, _ = runs
    flagged = {
        (str(schema), str(table)): int(str(commit))
        for schema, table, commit in lake.rows(
            "select schema_name, table_name, min(commit_number) from build.schema_change "
            "where may_have_changed_rows group by all"
        )
    }
    stream, held = states(), database()
    assert len(stream) == len(held) == 27
    differing: set[Table] = set()
    models = ProjectModels.read(lake.project).histories.values()
    for model in models:
        table = (str(model.captured["schema"]), str(model.captured["table"]))
        columns = list(model.columns)
        versions = versions_of(lake, f"public.{model.public_name}_history")
        for number, (said, true) in enumerate(zip(stream, held, strict=True), 1):
            rows = [row for start, end, row in versions if start <= number < end]
            assert bag(rows, columns) == bag(said.get(table, []), columns), (table, number)
            assert absent(rows) == absent_in(said.get(table, []), columns), (table, number)
            true_columns, true_rows = true.get(table, ([], []))
            known = [name for name in true_columns if name in columns]
            if bag(rows, known) != bag(true_rows, known):
                differing.add(table)
                is_flagged = flagged.get(table, 99) <= number
                assert is_flagged or ".".join(table) in NOT_SENT, (table, number)
    assert {(".".join(table)) for table in differing} >= {"public.ev", "public.ev_num"}


def test_every_change_of_a_shape_is_recorded_at_its_commit(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    lake, _ = runs
    changes = lake.rows(
        "select commit_number, table_name, coalesce(column_name, ''), change_kind, "
        "may_have_changed_rows from build.schema_change order by all"
    )
    assert [change for change in changes if change[1] == "ev" and int(str(change[0])) <= 9] == [
        (2, "ev", "d", "column_added", False),
        (3, "ev", "e", "column_added", True),
        (4, "ev", "f", "column_added", True),
        (5, "ev", "a", "column_missing", False),
        (5, "ev", "a2", "column_added", True),
        (6, "ev", "c", "column_missing", False),
        (7, "ev", "a2", "type_widened", False),
        (8, "ev", "b", "type_changed", True),
        (9, "ev", "d", "type_changed", True),
    ]
    assert (16, "ev_key", "", "key_changed", False) in changes
    assert (20, "ev_num", "n", "type_widened", False) in changes


@pytest.mark.fault(34)
def test_a_table_to_which_a_column_with_a_default_was_added_is_flagged(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    flags = runs[0].cuts()["evo"]["flags"]
    assert [one["table"] for one in flags if one["flag"] == "schema_default"] == ["public.ev"]


def test_a_table_whose_rows_a_statement_changed_without_an_event_is_flagged(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    """So that refused_flags can refuse it. The model of ev_key names its identity."""
    flags = runs[0].cuts()["evo"]["flags"]
    raised = {(one["table"], one["flag"]): one["detail"] for one in flags}
    assert raised["public.ev", "column_renamed"] == "commit 5: a is gone, a2 is new"
    converted = raised["public.ev", "type_converted"]
    assert re.fullmatch(r"commit \d+: \w+ is \S.* instead of \S.*", converted), converted
    assert ("public.ev_key", "key_changed") not in raised


def test_the_schema_change_topic_tells_the_columns_at_each_position(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    lake, _ = runs
    changes = lake.rows(
        "select change_type, size(table_columns), key_columns from build.stg_schema_change "
        "where source = 'msh' and schema_name = 'shop' and table_name = 't1' order by `offset`"
    )
    assert [change[0] for change in changes] == ["DROP", "CREATE", *["ALTER"] * 5]
    assert changes[2] == ("ALTER", 3, ["id"])
    types = lake.rows(
        "select column_type, has_default, is_nullable from build.table_schema "
        "where source = 'msh' and table_name = 't1' and column_name = 'n' order by `offset`"
    )
    assert types[0] == ("INT", True, False)
    assert types[-1] == ("VARCHAR", False, True)


def test_a_model_that_cannot_be_is_refused_by_a_sentence(
    runs: tuple[Lake, dict[str, Any]],
) -> None:
    case, own, policy = runs[1]["refusals"]
    assert "public.ev: columns called 'e' differ in case only, which Spark cannot hold" in case
    assert "public.ev: column '_Change' is called like one of ours" in own
    assert "public.ev: schema_changes: 'always' is not a policy; known: evolve, fail" in policy


def test_status_names_what_a_snapshot_would_mend_and_every_change(
    runs: tuple[Lake, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs[0].project)
    said = CliRunner().invoke(main, ["status"]).output
    assert "public.ev (commit 5: a is gone, a2 is new)" in said
    assert "columns that its model lacks" not in said
    assert "no TRUNCATE has been published" not in said
    edit(runs[0], "ev_history", "        'g': 'string',\n", "")
    said = CliRunner().invoke(main, ["status"]).output
    assert "evo: public.ev has columns that its model lacks: g;" in said
    entries = json.loads(CliRunner().invoke(main, ["status", "--json"]).stdout)
    (entry,) = (entry for entry in entries if entry["source"] == "evo")
    assert entry["tables_without_model"] == []
    assert entry["unknown_columns"] == {"public.ev": ["g"]}
    assert entry["encoded_columns"] == {}
    assert {
        "table": "public.ev_key",
        "commit_number": 16,
        "change": "key_changed",
        "column": None,
        "previous_type": '["id"]',
        "type": '["code"]',
        "may_have_changed_rows": False,
    } in entry["schema_changes"]


def test_status_and_runs_name_tables_that_no_model_shows(
    runs: tuple[Lake, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs[0].project)
    (model,) = (runs[0].project / "models").rglob("ev_new_history.sql")
    text = model.read_text()
    model.unlink()
    said = CliRunner().invoke(main, ["status"]).output
    after_a_run, _ = notes_of(runs[0].spark, None)
    model.write_text(text)
    sentence = "evo: no model shows public.ev_new; `dbt-debezium scaffold` writes one"
    assert sentence in said
    assert sentence in after_a_run
