"""However a log is cut into runs, the tables are the same; a run that ends badly shows nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrivals import expected_cuts, landings, make_arrival
from compare import check_counts, compare_cut, compare_export
from lake import REPOSITORY, Lake, capture, open_lake, tables_of
from oracle import History, read_messages

from dbt_debezium.doctor.lake import lake_findings
from dbt_debezium.errors import DebeziumError
from dbt_debezium.lease import Lease
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.captured import Group
from dbt_debezium.status.report import cut_report

MODELLED = ("b", "c", "nopk")
"""Tables with models: one that CASCADE empties, the one emptied most often, one without a key."""
PARTS = {"run_once": 1, "run_twice": 2, "run_three": 3}
ROUNDS = 3


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    messages = read_messages(capture("truncate"))
    groups = [Group("trunc", "all"), Group("run_*", "all")]
    tables = tables_of(messages, groups, only=MODELLED)
    for table in tables:
        table.sources[:] = ["run_*"]
    with open_lake(tmp_path_factory.mktemp("runs"), tables) as opened:
        yield opened


def test_a_lake_in_which_nothing_has_landed_is_built_and_shows_nothing(lake: Lake) -> None:
    assert lake.build(command="run"), lake.lines
    assert lake.cuts() == {}


def test_a_small_run_gives_each_shuffle_one_task(lake: Lake) -> None:
    assert lake.spark.conf.get("spark.sql.shuffle.partitions") == "1"


@pytest.mark.fault(16, 17, 37)
def test_the_same_log_in_any_number_of_landings_gives_the_same_tables(lake: Lake) -> None:
    messages = read_messages(capture("truncate"))
    history = History(messages)
    whole = {
        prefix: make_arrival(messages, 7, prefix, mode="whole") for prefix in (*PARTS, "run_again")
    }
    whole["run_again"] = make_arrival(messages, 7, "run_again", mode="whole", replay="all")
    parts = {prefix: landings(whole[prefix], count, 11) for prefix, count in PARTS.items()}
    parts["run_again"] = landings(whole["run_again"], 3, 11)
    expected = {prefix: expected_cuts(history, some) for prefix, some in parts.items()}

    for number in range(ROUNDS):
        arriving = [some[number] for some in parts.values() if number < len(some)]
        lake.land_arrivals(f"landing_{number}", arriving)
        # The project's own tests run in every other test of this file.
        assert lake.build(command="run"), lake.lines
        cuts = lake.cuts()
        directory = lake.export(f"export_{number}")
        differences: list[str] = []
        for prefix, some in parts.items():
            step = min(number, len(some) - 1)
            differences += compare_cut(cuts.get(prefix), expected[prefix][step], prefix)
            commit_number = int((cuts.get(prefix) or {}).get("commit_number") or 0)
            differences += compare_export(directory, prefix, history, commit_number, MODELLED)
            landed = sum(len(part.messages) for part in some[: step + 1])
            differences += check_counts(cuts[prefix], landed)
        assert differences == []
    assert {cut["commit_number"] for cut in lake.cuts().values()} == {len(history.commits)}


@pytest.mark.fault(41)
def test_a_further_run_changes_nothing(lake: Lake) -> None:
    before, cuts = lake.snapshots(), lake.cuts()
    assert lake.build(), lake.lines
    assert lake.snapshots() == before
    assert lake.cuts() == cuts


def test_doctor_finds_nothing_wrong_with_a_lake_that_is_published(lake: Lake) -> None:
    found = [*lake_findings(lake.spark, cut_report(SparkReader(lake.spark)), "build")]
    assert {one.level for one in found} == {"ok"}, found
    sources = {one.sentence.split()[1] for one in found[1:]}
    assert sources == {*PARTS, "run_again"}


def held_messages(lake: Lake) -> list[tuple[object, ...]]:
    return sorted(
        lake.rows(
            "select topic, partition, offset from build.held_message as held "
            "inner join build.cut on held.cut_id = cut.cut_id where cut.channel = 'published'"
        )
    )


def public_state(lake: Lake) -> dict[str, list[tuple[object, ...]]]:
    """Everything that readers see."""
    tables = [table.model_name for table in lake.tables]
    return {
        name: sorted(lake.rows(f"select to_json(struct(*)) from public.{name}"), key=str)
        for name in [*tables, "held_transaction"]
    }


@pytest.fixture(scope="module")
def arriving(lake: Lake) -> int:
    """News that a run would publish: a landing of one more source. Returns its commits."""
    messages = read_messages(capture("truncate"))
    lake.land_arrivals("news", [make_arrival(messages, 3, "run_news", mode="whole")])
    return len(History(messages).commits)


@pytest.mark.fault(72, 75)
def test_a_failing_model_publishes_nothing(lake: Lake, arriving: int) -> None:
    before = public_state(lake)
    failing = lake.project / "models" / "broken.sql"
    failing.write_text(
        "{{ config(materialized='table') }}\n"
        "select raise_error('no') as broken from {{ ref('int_change') }}\n"
    )
    assert not lake.build()
    failing.unlink()
    assert lake.lines[-1].startswith("nothing published:")
    assert public_state(lake) == before


def test_a_part_of_the_project_publishes_nothing(lake: Lake, arriving: int) -> None:
    before = public_state(lake)
    assert lake.build("--select", "stg_message+1")
    assert "were not selected" in lake.lines[-1]
    assert public_state(lake) == before


@pytest.mark.fault(72, 75)
def test_the_run_after_runs_that_ended_badly_is_right(lake: Lake, arriving: int) -> None:
    assert lake.build(command="run"), lake.lines
    history = History(read_messages(capture("truncate")))
    directory = lake.export("after_bad_ends")
    for source, cut in lake.cuts().items():
        assert cut["commit_number"] == arriving
        assert compare_export(directory, source, history, arriving, MODELLED) == []


@pytest.mark.slow
def test_a_full_refresh_that_failed_is_made_good_by_the_next_run(lake: Lake) -> None:
    messages = read_messages(capture("truncate"))
    whole, part = (
        make_arrival(messages, 7, name, mode="whole") for name in ("run_whole", "run_part")
    )
    lake.land_arrivals("refresh", [whole, landings(part, 2, 11)[0]])
    assert lake.build(command="run"), lake.lines
    before, cuts, held = lake.export("before_refresh"), lake.cuts(), held_messages(lake)
    assert held
    seen = public_state(lake)
    failing = lake.project / "tests" / "this_fails.sql"
    failing.write_text("select 1 as one from {{ ref('int_cut') }}\n")
    assert not lake.build("--full-refresh")
    failing.unlink()
    assert lake.lines[-1].startswith("nothing published:")
    assert public_state(lake) == seen
    assert lake.build(), lake.lines
    assert lake.cuts() == cuts
    assert held_messages(lake) == held
    after = lake.export("after_refresh")
    for path in before.rglob("*.jsonl"):
        rows = path.read_text().splitlines()
        assert sorted(rows) == sorted((after / path.relative_to(before)).read_text().splitlines())


@pytest.mark.parametrize(
    "name", ["proof", "commit", "int_change", "settled_unit", "int_topic", "held_message"]
)
def test_what_earlier_runs_wrote_is_not_taken_for_nothing_when_it_is_gone(
    lake: Lake, name: str
) -> None:
    before = public_state(lake)
    lake.spark.sql(f"alter table build.{name} rename to build.lost")
    try:
        is_published = lake.build("--select", name, command="run")
    except DebeziumError as refusal:
        is_published = False
        lake.lines.append(str(refusal))
    lake.spark.sql(f"alter table build.lost rename to build.{name}")
    assert not is_published
    said = " ".join(lake.lines)
    assert f"build.{name}: is gone, and with it what earlier runs wrote there; restore it" in said
    assert "run once with --full-refresh" in said
    assert public_state(lake) == before


def test_settings_that_cannot_work_are_refused_all_at_once(lake: Lake) -> None:
    before = public_state(lake)
    with pytest.raises(DebeziumError) as refusal:
        lake.build(
            "--vars",
            "{not_ingested_tables: a.b, refused_flags: [no_base], "
            "refused_holds: [no_ends, no_end], cdl_sources: {'bank_*': 'bank_*'}, "
            "transaction_topics: {'eu-west.*': ''}, "
            "keep_message_days: 36501, keep_version_days: never, "
            "cdl_heartbeat_tables: beats, unavailable_value_placeholder: gesändt}",
        )
    assert "not_ingested_tables must be a list" in str(refusal.value)
    assert "cdl_heartbeat_tables must be a list" in str(refusal.value)
    assert "cdl_sources must be a mapping of patterns" in str(refusal.value)
    assert "transaction_topics must be a mapping of patterns" in str(refusal.value)
    for name in ("keep_message_days", "keep_version_days"):
        assert f"{name} must be set in dbt_project.yml, because maintenance" in str(refusal.value)
    assert "keep_message_days must be a whole number of days from 1 to 36500" in str(refusal.value)
    assert 'days from 1 to 36500, or forever; got "never"' in str(refusal.value)
    assert "unavailable_value_placeholder must be a text of ASCII" in str(refusal.value)
    assert 'refused_flags: "no_base" names none of append_only' in str(refusal.value)
    assert 'refused_holds: "no_ends" names none of awaiting_watermark' in str(refusal.value)
    assert public_state(lake) == before


@pytest.mark.fault(29)
@pytest.mark.parametrize(
    ("row", "sentence", "options"),
    [
        (
            "run_news,messages since last night,new_epoch,Ann,2026-11-22,restored",
            "messages since last night of run_news: begins no epoch; write",
            [],
        ),
        (
            "run_news,1946,relase,Ann,2026-11-22,checked",
            'operator_decision: 1946 of run_news: is decided as "relase"; '
            "write release, discard, new_epoch or accept",
            ["--select", "operator_decision"],
        ),
        (
            "run_news,flag no_base of public.t,accept,Ann,2026-11-22,checked",
            "operator_decision: flag no_base of public.t of run_news: nothing that can be accepted "
            "is called so; write flag <flag> of <schema.table>, message",
            ["--select", "operator_decision"],
        ),
        (
            "run_news,1946,release,Ann,2026-11-22,",
            "operator_decision: 1946 of run_news: has no reason; write one",
            ["--select", "operator_decision"],
        ),
    ],
)
def test_a_decision_that_says_nothing_is_refused(
    lake: Lake, row: str, sentence: str, options: list[str]
) -> None:
    before = public_state(lake)
    decisions = lake.project / "seeds" / "operator_decision.csv"
    heading = decisions.read_text()
    decisions.write_text(f"{heading}{row}\n")
    described = Path(shutil.copy(REPOSITORY / "seeds" / "_seeds.yml", decisions.parent))
    assert not lake.build(*options)
    decisions.write_text(heading)
    described.unlink()
    assert sentence in " ".join(lake.lines)
    assert public_state(lake) == before


@pytest.mark.fault(74)
def test_a_second_run_at_the_same_time_is_refused_at_once(lake: Lake) -> None:
    with Lease(lake.folder / "lake", "the first run"):
        second = subprocess.run(
            [Path(sys.executable).with_name("dbt"), "build"],
            cwd=lake.project,
            env={**os.environ, "DBT_DEBEZIUM_LAKE": str(lake.folder / "lake")},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert second.returncode != 0
    assert "another run holds" in second.stdout


def test_a_run_does_not_take_a_landing_that_is_gone_for_an_empty_one(lake: Lake) -> None:
    before = public_state(lake)
    lake.spark.sql("drop table landing.message")
    with pytest.raises(DebeziumError, match=r"landing\.message: is gone, although"):
        lake.build(command="run")
    assert public_state(lake) == before
