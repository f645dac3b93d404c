"""Rounds without Spark: what is news, how often a round is tried, what is said of it."""

import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbt_debezium.cli.maintain import maintain_when_due
from dbt_debezium.cli.problems import sentence_of
from dbt_debezium.errors import CannotWorkError, DebeziumError
from dbt_debezium.kafka.land import KafkaLanded
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.kafka.plan import Plan
from dbt_debezium.lease import LostLeaseError
from dbt_debezium.rounds.behind import holds_of_report
from dbt_debezium.rounds.broker_ends import ends_of, key_of, settings_of
from dbt_debezium.rounds.catalog import KEY, CatalogFile, catalog_file
from dbt_debezium.rounds.file_hashes import FileHashes
from dbt_debezium.rounds.fingerprint import fingerprint
from dbt_debezium.rounds.health import Health
from dbt_debezium.rounds.loop import Told, run_rounds
from dbt_debezium.rounds.news import Mark, new_mark, published_mark
from dbt_debezium.rounds.round import Kind, Outcome, Round
from dbt_debezium.rounds.sources import (
    KafkaSource,
    Landing,
    NoSource,
    PathSource,
    Source,
    Tell,
)
from dbt_debezium.rounds.stopping import Stopping
from dbt_debezium.rounds.told import ForPeople, for_machines

REPOSITORY = Path(__file__).parents[2]
PROFILES = REPOSITORY / "profiles.yml"
MAINTAIN = "dbt_debezium.maintenance.maintain"
MESSAGE = '{"topic":"a","partition":0,"offset":0,"key":null,"payload":"{}"}\n'
BEGAN = datetime(2026, 11, 26, 10, 3, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a model, a macro and a decision."""
    for name, text in {
        "dbt_project.yml": "profile: p\nvars: {}\n",
        "profiles.yml": "p: {}\n",
        "models/a.sql": "select 1",
        "macros/b.sql": "{{ env_var('SHOP') }}",
        "seeds/operator_decision.csv": "source\n",
        "notes/c.sql": "what dbt does not read",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["dbt_project.yml", "profiles.yml", "models/a.sql", "seeds/operator_decision.csv"]
)
def test_a_file_that_dbt_reads_changes_the_fingerprint(project: Path, name: str) -> None:
    before = fingerprint(project, project / "profiles.yml", [])
    assert before == fingerprint(project, project / "profiles.yml", [])
    (project / name).write_text((project / name).read_text() + "\n")
    assert fingerprint(project, project / "profiles.yml", []) != before


def test_options_and_named_variables_change_the_fingerprint(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [fingerprint(project, project / "profiles.yml", [])]
    seen.append(fingerprint(project, project / "profiles.yml", ["--vars", "{a: 1}"]))
    # What the shell gave was no UTF-8.
    seen.append(fingerprint(project, project / "profiles.yml", ["--vars", "\udcff"]))
    for name, value in [("SHOP", "1"), ("SHOP", "2"), ("DBT_EXCLUDE", "a"), ("SHOP", "\udcff")]:
        monkeypatch.setenv(name, value)
        seen.append(fingerprint(project, project / "profiles.yml", []))
    assert len(set(seen)) == len(seen)
    monkeypatch.setenv("DBT_DEBEZIUM_DRIVER_MEMORY", "3g")
    monkeypatch.setenv("PATH_OF_SOMETHING", "a")
    (project / "notes" / "c.sql").write_text("other")
    assert fingerprint(project, project / "profiles.yml", []) == seen[-1]


def test_a_new_model_and_one_that_went_change_the_fingerprint(project: Path) -> None:
    before = fingerprint(project, project / "profiles.yml", [])
    (project / "models" / "new.yml").write_text("")
    assert fingerprint(project, project / "profiles.yml", []) != before
    (project / "models" / "new.yml").unlink()
    assert fingerprint(project, project / "profiles.yml", []) == before
    (project / "models" / "a.sql").rename(project / "models" / "z.sql")
    assert fingerprint(project, project / "profiles.yml", []) != before


def test_a_project_whose_paths_are_computed_has_no_fingerprint(project: Path) -> None:
    (project / "dbt_project.yml").write_text("model-paths: [\"{{ env_var('MODELS') }}\"]\n")
    assert fingerprint(project, project / "profiles.yml", []) is None


def in_its_lake(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a project have our profile, and be the folder of its own lake."""
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(project))
    (project / "profiles.yml").write_text(PROFILES.read_text())
    (project / "dbt_project.yml").write_text("profile: dbt_debezium\nvars: {}\n")


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The tables of Iceberg's JDBC catalog, and the folder that they are in."""
    (tmp_path / "warehouse").mkdir()
    with closing(sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)) as connection:
        connection.execute(
            "create table iceberg_tables "
            "(catalog_name, table_namespace, table_name, metadata_location)"
        )
        connection.execute(
            "create table iceberg_namespace_properties "
            "(catalog_name, namespace, property_key, property_value)"
        )
        put(connection, "landing", "message", "1.json")
        put(connection, "build", "cut", "2.json")
        yield connection


def put(connection: sqlite3.Connection, schema: str, table: str, place: str) -> None:
    connection.execute("delete from iceberg_tables where table_name = ?", (table,))
    values = ("lake", schema, table, place)
    connection.execute("insert into iceberg_tables values (?, ?, ?, ?)", values)


def leave(connection: sqlite3.Connection, mark: str) -> None:
    connection.execute("delete from iceberg_namespace_properties")
    values = ("lake", "build", KEY, mark)
    connection.execute("insert into iceberg_namespace_properties values (?, ?, ?, ?)", values)


def test_a_mark_holds_until_a_table_or_the_project_changes(
    lake: sqlite3.Connection, tmp_path: Path
) -> None:
    catalog = CatalogFile(tmp_path / "catalog.db", "lake", "build")
    assert published_mark(catalog, "models") is None
    mark = Mark("2026-11-26T10:03:12Z", "models", str(catalog.state()), {"a": "b"})
    leave(lake, msgspec.json.encode(mark).decode())
    assert published_mark(catalog, "models") == mark
    assert published_mark(catalog, "other models") is None
    assert published_mark(catalog, None) is None
    put(lake, "landing", "message", "3.json")
    assert published_mark(catalog, "models") is None
    put(lake, "landing", "message", "1.json")
    assert published_mark(catalog, "models") == mark
    lake.execute("delete from iceberg_tables where table_name = 'cut'")
    assert published_mark(catalog, "models") is None


def test_a_mark_that_cannot_be_read_is_none(lake: sqlite3.Connection, tmp_path: Path) -> None:
    leave(lake, '{"at": 1}')
    assert published_mark(CatalogFile(tmp_path / "catalog.db", "lake", "build"), "models") is None
    assert published_mark(CatalogFile(tmp_path / "none.db", "lake", "build"), "models") is None
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, CatalogFile(Path("here/catalog.db"), "lake", "build")),
        ("test", CatalogFile(Path("here/catalog.db"), "lake", "build")),
        ("prod", None),
        ("nonsense", None),
    ],
)
def test_the_file_of_the_catalog_is_that_of_the_target(
    monkeypatch: pytest.MonkeyPatch, target: str | None, expected: CatalogFile | None
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", "here")
    monkeypatch.delenv("DBT_TARGET", raising=False)
    assert catalog_file(REPOSITORY, PROFILES, target) == expected


def test_what_jinja_alone_cannot_render_is_left_to_dbt(project: Path) -> None:
    (project / "profiles.yml").write_text(
        "p: {target: a, outputs: {a: {schema: build, server_side_parameters: {"
        "spark.sql.defaultCatalog: lake, "
        "spark.sql.catalog.lake.uri: \"jdbc:sqlite:{{ var('lake') }}/catalog.db\"}}}}"
    )
    assert catalog_file(project, project / "profiles.yml", None) is None


def settle(path: Path) -> None:
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))


def test_a_file_is_hashed_again_once_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []
    monkeypatch.setattr(
        "dbt_debezium.rounds.file_hashes.file_hash", lambda path: hashed.append(path) or "hash"
    )
    monkeypatch.setattr("dbt_debezium.rounds.file_hashes.SETTLED_NANOS", 0)
    file, hashes = tmp_path / "a.jsonl", FileHashes()
    file.write_text("1")
    settle(file)
    for _ in range(3):
        hashes.of(file)
    assert len(hashed) == 1
    # A file that is written in place, in the same size and with its old time.
    file.write_text("2")
    settle(file)
    hashes.of(file)
    assert len(hashed) == 2


def test_a_file_that_was_just_written_is_hashed_each_time(tmp_path: Path) -> None:
    file, hashes = tmp_path / "a.jsonl", FileHashes()
    file.write_text("1")
    first = hashes.of(file)
    file.write_text("2")
    assert hashes.of(file) != first


def test_a_folder_has_news_until_its_files_have_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    dump = tmp_path / "dump"
    dump.mkdir()
    source = PathSource(dump, {}, may_be_empty=True)
    assert not source.look({}, print)
    (dump / "a.jsonl").write_text(MESSAGE)
    assert source.look({}, print)
    # A round that failed before it landed.
    assert source.look({}, print)
    (inbox,) = (tmp_path / "lake").iterdir()
    for entry in inbox.iterdir():
        os.truncate(entry, 0)
    assert not source.look({}, print)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DebeziumError, match="holds no messages"):
        PathSource(tmp_path / "empty", {}).look({}, print)


def test_topics_whose_schemas_are_unknown_are_landed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing new need be sent before the registry knows a schema."""
    block = KafkaBlock("127.0.0.1:9", "a")
    unknown: dict[str, list[str]] = {}
    monkeypatch.setattr(
        "dbt_debezium.kafka.land.land_kafka",
        lambda *_, **__: KafkaLanded(0, 1, 0, Plan(()), unknown),
    )
    source = KafkaSource({"block": block})
    landed = source.land(None, print)  # type: ignore[arg-type]
    assert landed.ends == {key_of(block): ends_of(Plan(()))}
    unknown["a"] = ["7"]
    assert source.land(None, print).ends == {}  # type: ignore[arg-type]


def test_a_block_that_cannot_be_landed_keeps_no_other_from_landing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Retention of another cluster does not wait until this one answers."""

    def land_kafka(_: Any, name: str, *__: Any, **___: Any) -> KafkaLanded:
        if name == "down":
            raise DebeziumError("down: no broker answers")
        return KafkaLanded(7, 1, 1, Plan(()))

    monkeypatch.setattr("dbt_debezium.kafka.land.land_kafka", land_kafka)
    block = KafkaBlock("127.0.0.1:9", "a")
    landed = KafkaSource({"down": block, "up": block}).land(None, print)  # type: ignore[arg-type]
    assert landed.checked().message_count == 7
    assert landed.lines == ("up: landed 7 messages of 1 topic, 1 partition",)
    assert landed.failures == ("down: no broker answers",)
    landed = KafkaSource({"down": block}).land(None, print)  # type: ignore[arg-type]
    with pytest.raises(DebeziumError, match=r"^down: no broker answers$"):
        landed.checked()


def test_a_secret_that_is_gone_for_a_moment_fails_its_block_alone(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("p4ss")
    block = KafkaBlock("127.0.0.1:9", options={"ssl.key.password": f"${{file:{secret}}}"})
    source = KafkaSource({"shop": block})
    secret.unlink()
    assert source.look({key_of(block): "before"}, print)


def test_a_topic_that_is_not_landed_fails_beside_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a note it was said once, and a supervisor saw nothing of it."""
    plan = Plan((), recreated=("a",))
    monkeypatch.setattr(
        "dbt_debezium.kafka.land.land_kafka", lambda *_, **__: KafkaLanded(7, 2, 2, plan)
    )
    source = KafkaSource({"shop": KafkaBlock("127.0.0.1:9")})
    landed = source.land(None, print).checked()  # type: ignore[arg-type]
    (sentence,) = landed.failures
    assert sentence.startswith("shop: a: the topic was deleted and created again")
    assert (landed.message_count, landed.notes) == (7, ())


def test_a_lost_lease_ends_the_landing_of_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def land_kafka(*_: Any, **__: Any) -> KafkaLanded:
        raise LostLeaseError("lake: this run has lost its lease")

    monkeypatch.setattr("dbt_debezium.kafka.land.land_kafka", land_kafka)
    block = KafkaBlock("127.0.0.1:9", "a")
    with pytest.raises(LostLeaseError):
        KafkaSource({"one": block, "two": block}).land(None, print)  # type: ignore[arg-type]


def test_a_login_is_read_from_what_java_reads() -> None:
    jaas = 'org.apache.kafka.ScramLoginModule required username="a" password="b";'
    options = {
        "bootstrap.servers": "one:1,two:2",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": jaas,
    }
    assert settings_of(options) == {
        "bootstrap_servers": ["one:1", "two:2"],
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "a",
        "sasl_plain_password": "b",
    }


@pytest.mark.parametrize(
    "option",
    [
        ("sasl.mechanism", "OAUTHBEARER"),
        ("ssl.truststore.location", "trust.jks"),
        ("sasl.jaas.config", 'ScramLoginModule required username="a" password="with \\" quote";'),
    ],
)
def test_what_only_java_knows_is_left_to_the_landing(option: tuple[str, str]) -> None:
    assert settings_of({"bootstrap.servers": "a:1", **dict([option])}) is None


class FakeStop:
    """Ends after so many rounds, and keeps how long was waited."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.waited: list[float] = []
        self.now = 0.0

    @property
    def is_asked_for(self) -> bool:
        return len(self.waited) >= self.rounds

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds


def outcome(kind: Kind, *lines: str, notes: tuple[str, ...] = (), landed: int = 0) -> Outcome:
    return Outcome(kind, Landing(landed), "2026-11-26T10:00:00Z", lines, notes)


def told_rounds(
    rounds: Callable[[int], Outcome], count: int, every: float = 30, took: float = 0
) -> tuple[list[Told], list[float]]:
    """What was told of so many rounds, and how long was waited after each."""
    stop, told = FakeStop(count), list[Told]()

    def one() -> Outcome:
        stop.now += took
        return rounds(len(told))

    run_rounds(one, every, stop, told.append, str, clock=lambda: stop.now)  # type: ignore[arg-type]
    return told, stop.waited


def test_rounds_begin_at_their_pace_and_at_once_after_a_long_one() -> None:
    assert told_rounds(lambda _: outcome("published"), 2, 30, 12)[1] == [18, 18]
    assert told_rounds(lambda _: outcome("published"), 2, 30, 40)[1] == [0, 0]


def test_rounds_keep_their_pace_while_a_page_takes_its_time() -> None:
    stop = FakeStop(3)
    report_seconds = iter([4, 40, 0])

    def one() -> Outcome:
        stop.now += 12
        return outcome("published")

    def tell(_: Told) -> None:
        stop.now += next(report_seconds)

    run_rounds(one, 30, stop, tell, str, clock=lambda: stop.now)
    assert stop.waited == [14, 0, 18]


def test_failed_rounds_are_tried_again_with_longer_and_longer_pauses() -> None:
    def rounds(number: int) -> Outcome:
        if number < 5:
            raise DebeziumError("kafka: no broker answers")
        return outcome("no_news")

    told, waited = told_rounds(rounds, 6)
    assert waited == [60, 120, 240, 300, 300, 30]
    assert [one.failures for one in told] == [1, 2, 3, 4, 5, 0]
    assert told[0].error == "kafka: no broker answers"
    assert told[5].error is None


def test_a_build_that_failed_is_a_failed_round() -> None:
    told, waited = told_rounds(lambda _: outcome("failed", "a_test: 3 rows", "nothing"), 1)
    assert (told[0].error, waited) == ("a_test: 3 rows", [60])


def test_rounds_keep_their_pace_while_a_block_cannot_be_landed() -> None:
    partly = Outcome("published", Landing(7, failures=("down: no broker answers",)))
    told, waited = told_rounds(lambda _: partly, 3)
    assert waited == [30, 30, 30]
    assert [(one.error, one.failures) for one in told[1:]] == [
        ("down: no broker answers", 2),
        ("down: no broker answers", 3),
    ]
    lines: list[str] = []
    people = ForPeople(lines.append)
    for one in told:
        people.round(one)
    assert [line[10:] for line in lines[:4]] == [
        " in 0.0 s",
        "failed: down: no broker answers (trying again in 30 seconds)",
        " in 0.0 s",
        "failed as before, 2 times; trying again in 30 seconds",
    ]
    said = json.loads(for_machines(told[0]))
    assert (said["outcome"], said["error"]) == ("published", "down: no broker answers")


def test_what_can_never_work_ends_the_rounds() -> None:
    def rounds(_: int) -> Outcome:
        raise CannotWorkError("dbt build: a model does not parse")

    with pytest.raises(CannotWorkError, match="does not parse"):
        told_rounds(rounds, 5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_pause(number: signal.Signals) -> None:
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
    heard: list[bool] = []
    stop = Stopping(lambda: heard.append(True))
    try:
        stop.listen()
        threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
        began = time.monotonic()
        stop.wait(30)
        assert time.monotonic() - began < 5
        assert stop.is_asked_for
        assert heard == [True]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def told(number: int, what: Outcome | None, error: str | None = None, failures: int = 0) -> Told:
    return Told(number, BEGAN, 4.2, what, error, failures, 60)


def test_people_read_once_what_both_a_build_and_its_notes_say() -> None:
    lines: list[str] = []
    people = ForPeople(lines.append)
    column = "shop: public.a has columns that its model lacks: b"
    people.round(told(0, outcome("published", "shop: commit 0 -> 2", column, notes=(column,))))
    people.round(told(1, outcome("published", "shop: commit 2 -> 3", notes=(column,))))
    assert "".join(lines).count(column) == 1


def test_people_read_a_line_a_round_and_one_for_many_without_news() -> None:
    lines: list[str] = []
    people = ForPeople(lines.append)
    held = outcome("published", "shop: commit 0 -> 2", notes=("shop: 1 is held",))
    for number, (what, error) in enumerate(
        [
            (held, None),
            (outcome("no_news"), None),
            (outcome("no_news"), None),
            (held, None),
            (None, "kafka: down"),
            (None, "kafka: down"),
            (outcome("failed", "a: 1 row", "b: 2 rows"), "a: 1 row"),
            (outcome("no_news"), None),
        ]
    ):
        people.round(told(number, what, error, failures=2))
    assert lines == [
        "10:03:12  shop: commit 0 -> 2 in 4.2 s",
        "          shop: 1 is held",
        "10:03:12  no news since 2026-11-26T10:00:00Z",
        "10:03:12  shop: commit 0 -> 2 in 4.2 s (after 2 rounds without news)",
        "10:03:12  failed: kafka: down (trying again in 60 seconds)",
        "10:03:12  failed as before, 2 times; trying again in 60 seconds",
        "10:03:12  failed: a: 1 row (trying again in 60 seconds)",
        "          b: 2 rows",
        "10:03:12  no news since 2026-11-26T10:00:00Z",
    ]


def test_people_read_what_has_landed_if_anything_has() -> None:
    lines: list[str] = []
    people = ForPeople(lines.append)
    for count in (3, 0):
        landing = Landing(count, (f"landed {count} messages",))
        people.round(told(count, Outcome("published", landing, lines=("shop: commit 0 -> 2",))))
        people.round(told(count, outcome("no_news")))
    assert [one for one in lines if "commit" in one] == [
        "10:03:12  landed 3 messages; shop: commit 0 -> 2 in 4.2 s",
        "10:03:12  shop: commit 0 -> 2 in 4.2 s (after 1 round without news)",
    ]


def test_what_a_round_without_news_must_say_is_said_once() -> None:
    """A topic that was recreated brings no news, and is met again by each round."""
    lines: list[str] = []
    people = ForPeople(lines.append)
    recreated = Outcome("no_news", Landing(notes=("t: deleted and created again",)), "2026")
    for number in range(3):
        people.round(told(number, recreated))
    assert lines == ["10:03:12  no news since 2026", "          t: deleted and created again"]


def test_machines_read_an_object_for_each_round() -> None:
    said = json.loads(for_machines(told(3, outcome("published", "shop: 2", landed=7))))
    assert said["round"] == 3
    assert (said["outcome"], said["landed"], said["lines"]) == ("published", 7, ["shop: 2"])
    said = json.loads(for_machines(told(4, None, "kafka: down", 1)))
    assert (said["outcome"], said["error"], said["failed_rounds"]) == ("failed", "kafka: down", 1)


def test_the_health_file_says_how_the_rounds_are_doing(tmp_path: Path) -> None:
    def said() -> dict[str, Any]:
        return dict(json.loads((tmp_path / "health.json").read_text()))

    health = Health(tmp_path / "health.json")
    assert said()["state"] == "starting"
    health.round(told(1, outcome("published")))
    first = said()
    assert (first["state"], first["round"], first["last_error"]) == ("waiting", 1, None)
    assert first["up_to_date_at"] == "2026-11-26T10:03:12Z"
    health.round(told(2, None, "kafka: down", 1))
    second = said()
    assert (second["state"], second["failed_rounds"]) == ("failing", 1)
    assert second["last_error"] == "kafka: down"
    assert second["up_to_date_at"] == first["up_to_date_at"]
    health.round(told(3, outcome("no_news")))
    assert said()["state"] == "waiting"
    assert said()["last_published_at"] == first["last_published_at"]
    health.ended()
    assert (said()["state"], said()["next_round_at"]) == ("ended", None)
    assert [file.name for file in tmp_path.iterdir()] == ["health.json"]


def held_entry(
    transaction_id: str, reason: str, committed_at: str | None, source: str = "shop"
) -> dict[str, Any]:
    """A source that published a commit at ten o'clock and holds something since."""
    return {
        "source": source,
        "commit_number": 9,
        "committed_at": "2026-11-26T10:00:00.000000Z",
        "counts": {"quarantined": 0},
        "flags": [],
        "accepted": [],
        "held": [
            {
                "transaction_id": transaction_id,
                "reason": reason,
                "table": None,
                "committed_at": committed_at,
            }
        ],
    }


def published_with(*report: dict[str, Any], at: datetime = BEGAN) -> Outcome:
    return Outcome(
        "published", Landing(), lines=["shop: 2"], report=report, holds=holds_of_report(report, at)
    )


CHECK = "now - (.written_at | fromdate) + .readers_behind_seconds < 60"
"""Of docs/rounds.md, in the language of jq, which not every machine has."""


def is_green(file: Path, at: datetime) -> bool:
    """What CHECK finds at a time."""
    said = json.loads(file.read_text())
    since = at - datetime.fromisoformat(said["written_at"])
    return bool(since.total_seconds() + said["readers_behind_seconds"] < 60)


def test_the_page_has_the_check_that_is_tested_here() -> None:
    page = (REPOSITORY / "docs" / "rounds.md").read_text()
    assert f"jq -e '{CHECK}' lake/health.json" in page


def test_health_is_red_within_two_rounds_while_readers_stand_still(tmp_path: Path) -> None:
    """A snapshot of a quiet table waits, every table stands still, and no round fails."""
    file = tmp_path / "health.json"
    health = Health(file)
    began = datetime.now(UTC)
    assert is_green(file, began)
    health.round(Told(1, began, 4.2, published_with(), None, 0, 26))
    assert is_green(file, began + timedelta(seconds=40))
    committed_at = (began + timedelta(seconds=5)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    for number in (2, 3):
        at = began + timedelta(seconds=30 * (number - 1))
        waiting = held_entry("7", "snapshot_unconfirmed", committed_at)
        told = Told(number, at, 4.2, published_with(waiting, at=at), None, 0, 26)
        health.round(told)
    assert is_green(file, began + timedelta(seconds=40))
    assert not is_green(file, began + timedelta(seconds=66))


def test_readers_are_behind_since_the_oldest_held_commit_of_all_sources(tmp_path: Path) -> None:
    health = Health(tmp_path / "health.json")
    report = [
        held_entry("8", "no_end", "2026-11-26T10:02:00.000000Z"),
        held_entry("9", "missing_events", "2026-11-26T10:01:00.000000Z", source="bank"),
    ]
    health.round(told(1, published_with(*report)))
    said = health.said
    assert said["landed_at"] == "2026-11-26T10:03:12Z"
    assert said["up_to_date_at"] == "2026-11-26T10:01:00Z"
    oldest = said["oldest_held"]
    assert (oldest["source"], oldest["transaction_id"]) == ("bank", "9")
    assert oldest["reason"] == "missing_events"
    assert said["readers_behind_seconds"] == oldest["seconds"] > 0
    shop = said["sources"][0]
    assert shop["newest_landed_at"] == "2026-11-26T10:02:00.000000Z"
    assert shop["commits_behind_seconds"] == 120
    assert shop["oldest_held"]["reason"] == "no_end"


def test_what_has_no_time_of_its_own_is_held_since_a_round_first_met_it(tmp_path: Path) -> None:
    """As a snapshot, or what a source with a clock that is ahead has committed."""
    health = Health(tmp_path / "health.json")
    for committed_at in (None, "2999-01-01T00:00:00.000000Z"):
        entry = held_entry("snapshot 10", "snapshot_unconfirmed", committed_at)
        for number, minutes in enumerate((0, 5, 9)):
            at = BEGAN + timedelta(minutes=minutes)
            health.round(Told(number, at, 4.2, published_with(entry, at=at), None, 0, 26))
        assert health.said["up_to_date_at"] == "2026-11-26T10:03:12Z"
        assert health.said["landed_at"] == "2026-11-26T10:12:12Z"


def test_rounds_that_begin_anew_without_news_know_what_is_held(tmp_path: Path) -> None:
    """The mark of the run that published says it, so that no Spark need start."""
    report = [held_entry("7", "no_end", "2026-11-26T10:01:00.000000Z", f"s{n}") for n in range(9)]
    mark = new_mark("models", "state", {}, holds=holds_of_report(report, BEGAN))
    assert len(mark.holds) == 5
    again = msgspec.json.decode(msgspec.json.encode(mark), type=Mark)
    health = Health(tmp_path / "health.json")
    health.round(told(1, Outcome("no_news", Landing(), "2026", holds=again.holds)))
    assert health.said["up_to_date_at"] == "2026-11-26T10:01:00Z"
    assert health.said["oldest_held"]["source"] == "s0"


def test_a_failed_round_leaves_known_what_is_held(tmp_path: Path) -> None:
    health = Health(tmp_path / "health.json")
    entry = held_entry("7", "no_end", "2026-11-26T10:01:00.000000Z")
    health.round(told(1, published_with(entry)))
    health.round(told(2, None, "kafka: down", 1))
    assert health.said["up_to_date_at"] == "2026-11-26T10:01:00Z"
    health.round(told(3, published_with()))
    assert health.said["oldest_held"] is None
    assert health.said["up_to_date_at"] == "2026-11-26T10:03:12Z"


def test_a_health_file_that_cannot_be_written_any_more_ends_no_rounds(tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    folder.mkdir()
    health = Health(folder / "health.json")
    folder.rename(tmp_path / "elsewhere")
    sentence = health.round(told(1, outcome("published")))
    assert sentence
    assert sentence.startswith(f"run: {folder / 'health.json'} cannot be written (No such file")
    health.ended()
    (tmp_path / "elsewhere").rename(folder)
    assert health.round(told(2, outcome("published"))) is None


def test_health_holds_whatever_an_error_quotes(tmp_path: Path) -> None:
    """As the name of a file that is no UTF-8, in a locale that has no Unicode."""
    file = tmp_path / "health.json"
    health = Health(file)
    for text in ("caf\udce9.txt: no dump", "é\x9b\u2028"):
        assert health.round(told(1, None, text, 1)) is None
        assert json.loads(file.read_bytes().decode())["last_error"] == text


def test_a_health_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DebeziumError, match="cannot be written"):
        Health(tmp_path / "nowhere" / "health.json")


def round_of(project: Path, source: Source | None = None, **more: Any) -> Round:
    """A round of a project, in a process without Spark."""
    return Round(
        project=project,
        profiles=project / "profiles.yml",
        target=None,
        options=[],
        source=source or NoSource(),
        schema=lambda: "build",
        **{"start_spark": lambda: None, "notes": lambda _: ([], [])} | more,
    )


def test_a_round_without_news_starts_no_spark(
    lake: sqlite3.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_its_lake(project, monkeypatch)

    def start() -> Any:
        raise AssertionError("Spark starts")

    def one_round(**more: Any) -> Outcome:
        return round_of(project, start_spark=start, notes=start, **more).run()

    catalog = CatalogFile(project / "catalog.db", "lake", "build")
    models = str(fingerprint(project, project / "profiles.yml", []))
    mark = Mark("2026-11-26T10:03:12Z", models, str(catalog.state()))
    leave(lake, msgspec.json.encode(mark).decode())
    assert one_round().kind == "no_news"
    monkeypatch.setattr(
        "dbt_debezium.rounds.round.run_dbt",
        lambda *_, **__: (_ for _ in ()).throw(DebeziumError("built")),
    )
    with pytest.raises(DebeziumError, match="built"):
        one_round(build_anyway=True)
    put(lake, "landing", "message", "3.json")
    with pytest.raises(DebeziumError, match="built"):
        one_round()


def test_a_snapshot_that_waits_for_silent_partitions_wakes_rounds_until_all_are_sure(
    lake: sqlite3.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent, and still the next look may prove it."""
    in_its_lake(project, monkeypatch)
    ends, now = {"topics": "end"}, time.time()
    down = "b: no broker answers"
    landings = [
        Landing(7, ends=ends, look_again_at=now + 300),
        Landing(0, ends=ends, failures=(down,), lines=("a: landed 0 messages",)),
        Landing(0, ends=ends, has_looked_again=True, look_again_at=now + 630),
        Landing(0, ends=ends, has_looked_again=True),
    ]

    class Kafka(NoSource):
        def look(self, ends: Mapping[str, str], tell: Tell) -> bool:
            return "topics" not in ends

        def land(self, spark: Any, tell: Tell) -> Landing:
            return landings.pop(0)

    held = [held_entry("snapshot 10", "snapshot_unconfirmed", None)]
    monkeypatch.setattr("dbt_debezium.rounds.round.run_dbt", lambda *_, **__: True)
    monkeypatch.setattr("dbt_debezium.rounds.round.has_published", lambda *_: True)
    monkeypatch.setattr("dbt_debezium.rounds.round.write_mark", lambda *one: leave(lake, one[2]))
    rounds = round_of(project, Kafka(), notes=lambda _: ([], held))
    kinds = {}
    for seconds in (0, 299, 301, 330, 629, 631, 9999):
        monkeypatch.setattr("dbt_debezium.rounds.round.time.time", lambda at=now + seconds: at)
        kinds[seconds] = rounds.run().kind
    assert [seconds for seconds, kind in kinds.items() if kind == "published"] == [0, 330, 631]
    assert landings == []


def test_only_the_first_round_that_builds_has_dbt_write_its_artifacts(
    lake: sqlite3.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_its_lake(project, monkeypatch)
    asked: list[bool] = []

    def build(arguments: Sequence[str], *_: Any, **__: Any) -> bool:
        asked.append("--no-write-json" in arguments)
        return False

    monkeypatch.setattr("dbt_debezium.rounds.round.run_dbt", build)
    rounds = round_of(project)
    rounds.run()
    rounds.run()
    assert asked == [False, True]


def test_a_failed_round_names_first_what_failed(
    lake: sqlite3.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what the run said before, as that a history is built again."""
    in_its_lake(project, monkeypatch)

    def build(
        *_: Any, on_line: Tell, on_failure: Callable[[str, str], None], **__: Callable[..., None]
    ) -> bool:
        on_line("orders_history: its model has changed; built again from all changes")
        on_failure("a_test", "Got 3 results, configured to fail if != 0")
        on_line("a_test: Got 3 results, configured to fail if != 0")
        on_line("nothing published: 1 test failed")
        return False

    monkeypatch.setattr("dbt_debezium.rounds.round.run_dbt", build)
    failed = round_of(project).run()
    assert failed.lines == [
        "a_test: Got 3 results, configured to fail if != 0",
        "orders_history: its model has changed; built again from all changes",
        "nothing published: 1 test failed",
    ]


def test_a_bug_is_told_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence alone helps nobody to find it, and the rounds continue."""
    with pytest.raises(KeyError) as raised:
        {}["x"]  # type: ignore[index]
    assert sentence_of(raised.value) == "run: KeyError: 'x'"
    assert "test_rounds.py" in capsys.readouterr().err
    assert sentence_of(DebeziumError("kafka: down")) == "kafka: down"
    assert capsys.readouterr().err == ""


def test_maintenance_that_fails_leaves_the_run_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody may delete files, each round would be told as failed although it published."""

    def refused(*_: Any, on_table: Callable[[str, int, int], None], **__: Any) -> None:
        on_table("build.commit", 2, 9)
        raise error

    monkeypatch.setattr(f"{MAINTAIN}.is_due", lambda *_: True)
    monkeypatch.setattr(f"{MAINTAIN}.has_removed_today", lambda *_: False)
    monkeypatch.setattr(f"{MAINTAIN}.maintain", refused)
    error: Exception = OSError("Access Denied")
    said = maintain_when_due(None, None, print)  # type: ignore[arg-type]
    assert said
    assert said.startswith(
        "maintaining the lake, 2 of 9: build.commit: failed (Access Denied), and"
    )
    error = LostLeaseError("lake: this run has lost its lease")
    with pytest.raises(LostLeaseError):
        maintain_when_due(None, None, print)  # type: ignore[arg-type]


def test_what_another_machine_landed_meanwhile_is_news(
    lake: sqlite3.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It landed the same dump while this one looked at it, and did not build."""
    in_its_lake(project, monkeypatch)
    profiles = project / "profiles.yml"

    class Dump(NoSource):
        def look(self, ends: Mapping[str, str], tell: Tell) -> bool:
            put(lake, "landing", "message", "3.json")
            return True

        def land(self, spark: Any, tell: Tell) -> Landing:
            return Landing()

    def build(*_: Any, **__: Any) -> bool:
        raise DebeziumError("built")

    monkeypatch.setattr("dbt_debezium.rounds.round.run_dbt", build)
    monkeypatch.setattr("dbt_debezium.rounds.round.write_mark", lambda *_: None)
    catalog = CatalogFile(project / "catalog.db", "lake", "build")
    models = str(fingerprint(project, profiles, []))
    leave(lake, msgspec.json.encode(Mark("2026", models, str(catalog.state()))).decode())
    with pytest.raises(DebeziumError, match="built"):
        round_of(project, Dump()).run()
