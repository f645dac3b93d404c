"""Each message of a dump file lands exactly once, with its text as it was."""

import contextlib
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import dump_writers
import msgspec
import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it
from pyspark.sql.functions import udf

from dbt_debezium.cli import main
from dbt_debezium.dumps import Dump
from dbt_debezium.dumps.form import Header, Message
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir
from dbt_debezium.landing import inbox
from dbt_debezium.landing import land as landing
from dbt_debezium.landing import write as landing_write
from dbt_debezium.landing.land import TABLE, Landed, append_landing, land, landed_base, next_landing
from dbt_debezium.lease import Lease, writing
from dbt_debezium.spark.catalogs import catalog_of_session, inbox_folder
from dbt_debezium.spark.local_files import HADOOP
from dbt_debezium.spark.session import open_catalog, spark_session
from dbt_debezium.spark.site import completed
from dbt_debezium.spark.targets import catalog_of_target, spark_settings

REPOSITORY = Path(__file__).parents[2]
JARS = Path(os.environ.get("DBT_DEBEZIUM_JARS") or REPOSITORY / "jars").absolute()

KILLED = """
import os, signal, sys
from dbt_debezium.landing import land as landing
from dbt_debezium.spark.session import spark_session

spark = spark_session()
landing.FILES_PER_COMMIT = 15

def die_after_a_commit(*_):
    os.kill(os.getpid(), signal.SIGKILL)

landing.record_files = die_after_a_commit
landing.land(spark, sys.argv[1])
"""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session and one lake for the module: each test lands files of its own topic."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path_factory.mktemp("lake")))
        patch.setenv("DBT_DEBEZIUM_JARS", str(JARS))
        patch.setenv("DBT_PROFILES_DIR", str(REPOSITORY))
        patch.chdir(REPOSITORY)
        session = spark_session("local")
        yield session
        session.stop()


def test_a_task_reads_no_zip_to_find_new_modules(spark: SparkSession) -> None:
    """Spark's own package is one, and Python reads its directory anew for each task."""
    importers = udf(lambda: str([path for path in sys.path_importer_cache if ".zip" in path]))
    assert {row[0] for row in spark.range(2).select(importers()).collect()} == {"[]"}


def message(topic: str, offset: int, value: str | None = "v", **fields: object) -> str:
    """A line in the shape of Spark's Kafka source."""
    line = {"topic": topic, "partition": 0, "offset": offset, "key": None, "value": value}
    return json.dumps(line | fields, ensure_ascii=False) + "\n"


def rows(spark: SparkSession, topic: str) -> list[Row]:
    return spark.table(TABLE).where(f"topic = '{topic}'").orderBy("offset", "landing_id").collect()


def offsets(spark: SparkSession, topic: str) -> list[int]:
    return [row["offset"] for row in rows(spark, topic)]


@pytest.mark.fault(13, 63)
def test_text_comes_out_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    values = [
        None,
        "",
        " \t\r\n ",
        '{"a": "\\u0041\\"\\\\", "n": 9007199254740993, "d": 1.10}',
        "naïve \u00e9 \u2028 \x85 \U0001f40d \x00 \ufffd \x7f",
        "\\u0000 not an escape",
        "x" * 100_000,
    ]
    lines = [message("text", i, value, key=value) for i, value in enumerate(values)]
    lines += [json.dumps(json.loads(line) | {"offset": 100 + i}) for i, line in enumerate(lines)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    land(spark, tmp_path)
    landed = rows(spark, "text")
    sent = [None if value is None else value.encode() for value in values] * 2
    assert [row["value"] for row in landed] == sent
    assert [row["key"] for row in landed] == sent


def test_both_shapes_give_the_same_row(spark: SparkSession, tmp_path: Path) -> None:
    headers = [{"key": "h", "value": "x"}, {"key": "h", "value": None}]
    kcat = {"topic": "shape", "partition": 3, "key": "k", "payload": "v", "tstype": "create"}
    lines = [
        message("shape", 1, partition=3, key="k", timestamp=1795228601749, headers=headers),
        json.dumps(kcat | {"offset": 2, "ts": 1795228601749, "headers": ["h", "x", "h", None]}),
        "\n\n  \n",
        message("shape", 3, partition=3, key="k", timestamp="2026-11-21T02:36:41.749Z", headers=[]),
        json.dumps(kcat | {"offset": 4, "ts": -1, "headers": []}) + "\r\n",
        json.dumps(kcat | {"offset": 5}),
    ]
    (tmp_path / "dump").write_text("".join(lines))
    land(spark, tmp_path / "dump")
    landed = spark.sql(
        "select partition, offset, unix_millis(timestamp), cast(key as string),"
        " cast(value as string),"
        " to_json(cast(headers as array<struct<key: string, value: string>>))"
        f" from {TABLE} where topic = 'shape' order by offset"
    ).collect()
    pair = '[{"key":"h","value":"x"},{"key":"h"}]'
    assert [tuple(row) for row in landed] == [
        (3, 1, 1795228601749, "k", "v", pair),
        (3, 2, 1795228601749, "k", "v", pair),
        (3, 3, 1795228601749, "k", "v", "[]"),
        (3, 4, None, "k", "v", "[]"),
        (3, 5, None, "k", "v", "[]"),
    ]


def test_every_form_lands_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    """The forms themselves are tested without Spark; here, that all of a message arrives."""
    topic = "forms.public.orders"
    value = '{"op":"c","source":{"name":"forms","schema":"public","table":"orders"}}'
    messages = [
        Message(topic, 1, 4, 1795228601749, '{"id":1}', value, [Header("h", '{"id":2}')]),
        Message(topic, 1, 5, 1795228601750, '{"id":1}', None),
    ]
    forms = {
        "spark.json": dump_writers.spark_json(messages, is_cast=False),
        "kcat.jsonl.gz": gzip.compress(dump_writers.kcat(messages)),
        "rpk.json": dump_writers.rpk(messages, indent=2),
        f"{topic}.txt": dump_writers.console(messages, with_time=True, with_headers=True),
        "part-0.parquet": dump_writers.kafka_parquet(messages, is_cast=False),
    }
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
    sink = tmp_path / "topics" / topic / "partition=1" / f"{topic}+1+0000000006.json.gz"
    sink.parent.mkdir(parents=True)
    sink.write_bytes(gzip.compress(dump_writers.sink_json([value])))
    assert land(spark, tmp_path).message_count == 2 * len(forms) + 1
    header = Row(key="h", value=b'{"id":2}')
    key, sent = b'{"id":1}', value.encode()
    times = [datetime(2026, 11, 21, 2, 36, 41, micros) for micros in (749_000, 750_000)]
    placed = [(1, 4, times[0], key, sent, [header]), (1, 5, times[1], key, None, [])]
    columns = ["partition", "offset", "timestamp", "key", "value", "headers"]
    table = spark.table(TABLE).where(f"topic = '{topic}'")
    utc = F.to_utc_timestamp("timestamp", F.current_timezone()).alias("timestamp")
    shown = table.select(*(utc if name == "timestamp" else name for name in columns))
    assert sorted(tuple(row) for row in shown.collect() if row["offset"] < 6) == sorted(
        placed * len(forms), key=lambda row: row[1]
    )
    assert [tuple(row)[3:] for row in shown.where("offset = 6").collect()] == [(None, sent, [])]


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_landings_that_have_seen_the_same_only_the_first_one_is_written(
    spark: SparkSession, tmp_path: Path, first: int
) -> None:
    """Both may bring the same messages. It does not matter which has the larger number."""
    (tmp_path / "a.jsonl").write_text(message("a.same", first) + "\n")
    land(spark, tmp_path / "a.jsonl")
    with Lease(lake_dir()), writing(spark) as lease:
        bases = [landed_base(spark), landed_base(spark)]
        numbers = [next_landing(spark, lease, base) for base in bases]
        rows = spark.table(TABLE).where("topic = 'a.same'").limit(1).drop("landing_id")
        numbered = [rows.selectExpr(f"{number}L as landing_id", "*") for number in numbers]
        second = 1 - first
        assert append_landing(spark, numbered[first], numbers[first], bases[first]) == 1
        with pytest.raises(DebeziumError, match=f"landing {numbers[first]} of another run came"):
            append_landing(spark, numbered[second], numbers[second], bases[second])
        # It knows its own landings, and goes on.
        number = next_landing(spark, lease, bases[first])
        again = rows.selectExpr(f"{number}L as landing_id", "*")
        assert append_landing(spark, again, number, bases[first]) == 1


def test_a_landing_without_messages_hides_no_other_one(spark: SparkSession, tmp_path: Path) -> None:
    """A process that slept may write one with a smaller number, of the same messages."""
    (tmp_path / "a.jsonl").write_text(message("a.empty", 1) + message("a.empty", 2))
    land(spark, tmp_path / "a.jsonl")
    with Lease(lake_dir()), writing(spark) as lease:
        late, base = landed_base(spark), landed_base(spark)
        rows = spark.table(TABLE).where("topic = 'a.empty'").limit(1).drop("landing_id")
        numbers = [next_landing(spark, lease, base) for _ in range(3)]
        small, empty, large = (rows.selectExpr(f"{one}L as landing_id", "*") for one in numbers)
        assert append_landing(spark, empty.limit(0), numbers[1], base) == 0
        assert base.newest < numbers[0], "so its plan stays"
        assert append_landing(spark, small, numbers[0], late) == 1
        with pytest.raises(DebeziumError, match=f"landing {numbers[0]} of another run came"):
            append_landing(spark, large, numbers[2], base)


def test_a_landing_whose_commit_was_not_answered_is_finished_by_the_next(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = landing.refused_if_unseen

    @contextlib.contextmanager
    def unanswered(*arguments: Any) -> Iterator[None]:
        with plain(*arguments):
            yield
            raise PySparkException("the connection was reset")

    (tmp_path / "a.jsonl").write_text(message("a.unanswered", 1))
    monkeypatch.setattr(landing, "refused_if_unseen", unanswered)
    with pytest.raises(DebeziumError) as told:
        land(spark, tmp_path / "a.jsonl")
    monkeypatch.undo()
    (row,) = rows(spark, "a.unanswered")
    assert str(told.value) == (
        f"landing.message: landing {row['landing_id']} was written, although Spark failed "
        "(the connection was reset); land again, which continues after it"
    )
    assert land(spark, tmp_path / "a.jsonl").message_count == 0
    assert offsets(spark, "a.unanswered") == [1]


def test_a_landing_that_spark_could_not_write_is_not_called_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = landing.refused_if_unseen

    @contextlib.contextmanager
    def failed(*arguments: Any) -> Iterator[None]:
        with plain(*arguments):
            raise PySparkException("the disk is full")
        yield

    (tmp_path / "a.jsonl").write_text(message("a.failed", 1))
    monkeypatch.setattr(landing, "refused_if_unseen", failed)
    with pytest.raises(DebeziumError, match=r"could not write .* \(the disk is full\); mend that"):
        land(spark, tmp_path / "a.jsonl")
    monkeypatch.undo()
    assert land(spark, tmp_path / "a.jsonl").message_count == 1


def test_a_landing_that_fails_leaves_no_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unnamed() -> set[str]:
        named = spark.table(f"{TABLE}.all_data_files").select("file_path").collect()
        there = {str(one) for one in lake_dir().absolute().rglob("landing/message/**/*.parquet")}
        assert there
        return there - {row.file_path for row in named}

    for offset, name in enumerate("ba"):
        (tmp_path / f"{name}.jsonl").write_text(message("a.left", offset))
    land(spark, tmp_path / "b.jsonl")
    before = unnamed()
    # A data file of each message: one is written before the damaged line is read.
    monkeypatch.setattr(landing_write, "FILE_BYTES", 1)
    monkeypatch.setattr(landing_write, "BATCH_ROWS", 1)
    entry = inbox_folder(catalog_of_session(spark)) / f"{'0' * 64}.jsonl"
    entry.write_bytes(msgspec.json.encode(Message("a.left", 0, 1)) + b"\n{\n")
    with pytest.raises(DebeziumError, match=r"0\.jsonl: a line is not a message"):
        land(spark, tmp_path / "a.jsonl")
    assert unnamed() == before
    entry.unlink()
    landed = land(spark, tmp_path / "a.jsonl")
    assert (landed.message_count, landed.file_count) == (1, 1)
    assert unnamed() == before


@pytest.mark.fault(42)
def test_landing_again_adds_nothing(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(message("again", 1))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(message("again", 2).encode()))
    first = land(spark, tmp_path)
    assert (first.message_count, first.file_count) == (2, 2)
    assert land(spark, tmp_path) == Landed(0, 0, (), None)
    (tmp_path / "a.jsonl").rename(tmp_path / "another name.json")
    assert land(spark, tmp_path) == Landed(0, 0, (), None)
    assert offsets(spark, "again") == [1, 2]


def test_any_thread_lands(spark: SparkSession, tmp_path: Path) -> None:
    """Where a dbt build has started Spark, a thread of dbt's has."""
    for offset in range(2):
        (tmp_path / f"{offset}.jsonl").write_text(message("threads", offset))
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(land, spark, tmp_path).result().message_count == 1


@pytest.mark.fault(42)
def test_one_content_under_two_names_lands_once(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(message("twice", 1))
    assert land(spark, tmp_path).message_count == 1


def test_a_file_that_grew_lands_again_under_a_later_id(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(message("grown", 1))
    first = land(spark, file)
    with file.open("a") as appended:
        appended.write(message("grown", 2))
    second = land(spark, file)
    assert first.landing_id is not None
    assert second.landing_id is not None
    assert first.landing_id < second.landing_id
    assert [(row["offset"], row["landing_id"]) for row in rows(spark, "grown")] == [
        (1, first.landing_id),
        (1, second.landing_id),
        (2, second.landing_id),
    ]


@pytest.mark.fault(78)
def test_a_landing_id_is_not_given_out_again_when_its_rows_are_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(message("gone", 1))
    first = land(spark, tmp_path)
    spark.sql(f"delete from {TABLE} where landing_id = {first.landing_id}")
    (tmp_path / "b.jsonl").write_text(message("gone", 2))
    second = land(spark, tmp_path)
    assert (first.landing_id or 0) < (second.landing_id or 0)


@pytest.mark.fault(76, 77)
def test_one_bad_line_keeps_all_files_out(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(message("bad", 1))
    (tmp_path / "b.jsonl").write_text(message("bad", 2) + message("bad", 3)[:-20])
    with pytest.raises(DebeziumError, match=r"b\.jsonl:2: not a message \(Input data was trunc"):
        land(spark, tmp_path)
    assert offsets(spark, "bad") == []
    (tmp_path / "b.jsonl").write_text(message("bad", 2) + message("bad", 3))
    land(spark, tmp_path)
    assert offsets(spark, "bad") == [1, 2, 3]


@pytest.mark.fault(77)
def test_a_file_of_a_folder_without_a_message_is_left_out_and_named(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(message("others", 1))
    (tmp_path / "config.json").write_text('{\n  "name": "shop"\n}\n')
    (skipped,) = land(spark, tmp_path).skipped_files
    assert skipped.startswith(f"{tmp_path / 'config.json'}:1: not a message (")
    with pytest.raises(DebeziumError, match=r"config\.json:1: not a message "):
        land(spark, tmp_path / "config.json")


@pytest.mark.fault(77)
def test_a_path_without_messages_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(
        DebeziumError, match=r"none of 2 files is a dump; the first: .*config\.json"
    ):
        land(spark, tmp_path)
    with pytest.raises(DebeziumError, match=r"empty\.jsonl: empty; dump the topics with `kcat -C"):
        land(spark, tmp_path / "empty.jsonl")


def test_the_inbox_keeps_names_and_no_data(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(message("inbox", 1))
    land(spark, tmp_path)
    entries = list((Path(os.environ["DBT_DEBEZIUM_LAKE"]) / "inbox").iterdir())
    assert entries
    assert not any(entry.stat().st_size for entry in entries)


def test_a_file_that_has_landed_in_one_catalog_lands_in_another(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(message("two catalogs", 1))
    assert land(spark, tmp_path).message_count == 1
    other = spark.newSession()
    name = "spark.sql.catalog.other"
    for key, value in {
        "spark.sql.defaultCatalog": "other",
        name: "org.apache.iceberg.spark.SparkCatalog",
        f"{name}.type": "jdbc",
        f"{name}.uri": f"jdbc:sqlite:{lake_dir()}/other.db",
        f"{name}.jdbc.schema-version": "V1",
        f"{name}.warehouse": f"{lake_dir()}/other",
    }.items():
        other.conf.set(key, value)
    assert land(other, tmp_path).message_count == 1
    assert offsets(other, "two catalogs") == offsets(spark, "two catalogs") == [1]
    # Each of the two knows it again.
    assert [land(one, tmp_path).message_count for one in (spark, other)] == [0, 0]


def test_a_command_looks_into_the_inbox_of_its_target(spark: SparkSession) -> None:
    assert catalog_of_target("local") == catalog_of_session(spark)
    assert inbox_folder(catalog_of_target("local")) == lake_dir() / "inbox"
    assert inbox_folder(catalog_of_target("prod")) != lake_dir() / "inbox"


@pytest.mark.fault(77)
def test_a_file_that_changes_while_it_is_checked_does_not_land(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(message("moving", 1))
    plain_read = inbox.read_dump

    def append_and_read(path: Path, *others: Any) -> Dump:
        with path.open("a") as appended:
            appended.write(message("moving", 2))
        return plain_read(path, *others)

    monkeypatch.setattr(inbox, "read_dump", append_and_read)
    with pytest.raises(DebeziumError, match="changed while it was read"):
        land(spark, file)
    monkeypatch.undo()
    file.write_text(message("moving", 1))
    land(spark, file)
    assert offsets(spark, "moving") == [1]


def test_progress_ends_with_everything_done(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("".join(message("progress", offset) for offset in range(10)))
    told: dict[str, tuple[int, int]] = {}
    land(spark, file, lambda step, done, total: told.update({step: (done, total)}))
    size = file.stat().st_size
    assert told == {"check": (size, size), "land": (10, 10)}


def test_a_landing_waits_for_no_other_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text(message("busy", 1))
    lake = tmp_path / "busy lake"
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(lake))
    holder = "import sys, pathlib, time; from dbt_debezium.lease import Lease;"
    holder += "Lease(pathlib.Path(sys.argv[1])).acquire(); print(flush=True); time.sleep(60)"
    command = [sys.executable, "-c", holder, str(lake)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(DebeziumError, match="another run holds "):
            land(spark, tmp_path)
        other.kill()


def test_a_query_of_a_lake_without_a_run_says_so(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(message("queried", 1))
    land(spark, tmp_path)
    refused = CliRunner().invoke(main, ["query", "select * from public.orders"])
    assert refused.exit_code == 2
    assert "query: nothing is published yet; land messages and run" in refused.output
    assert CliRunner().invoke(main, ["query", f"select count(*) from {TABLE}"]).exit_code == 0


def test_a_lake_whose_table_is_gone_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text(message("lost", 1))
    monkeypatch.setattr(landing, "TABLE", "landing.absent")
    with pytest.raises(DebeziumError, match=r"land: table landing\.absent is gone, and landing\.f"):
        land(spark, tmp_path)
    monkeypatch.undo()
    land(spark, tmp_path)


@pytest.mark.fault(72)
def test_a_landing_that_was_killed_is_finished_by_the_next(
    spark: SparkSession, tmp_path: Path
) -> None:
    count = 20
    for n in range(count):
        (tmp_path / f"{n}.jsonl").write_text(message("killed", n))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(rows(spark, "killed")) == 15
    assert land(spark, tmp_path).message_count == count - 15
    assert offsets(spark, "killed") == list(range(count))
    assert not Lease(Path(os.environ["DBT_DEBEZIUM_LAKE"])).acquire().release()


def test_a_catalog_that_is_no_database_is_refused_in_one_sentence(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "catalog.db").write_text("not a database, and longer than the head of one" * 10)
    name = "spark.sql.catalog.damaged"
    settings = {
        "spark.sql.defaultCatalog": "damaged",
        name: "org.apache.iceberg.spark.SparkCatalog",
        f"{name}.type": "jdbc",
        f"{name}.uri": f"jdbc:sqlite:{tmp_path}/catalog.db",
        f"{name}.warehouse": str(tmp_path),
    }
    session = spark.newSession()
    for key, value in settings.items():
        session.conf.set(key, value)
    with pytest.raises(DebeziumError) as refused:
        open_catalog(session, settings)
    assert str(refused.value) == (
        f"catalog: jdbc:sqlite:{tmp_path}/catalog.db cannot be opened ([SQLITE_NOTADB] File opened "
        "that is not a database file (file is not a database)); "
        "name a readable catalog in profiles.yml, or move a damaged one away"
    )


def test_a_catalog_that_another_process_writes_is_not_called_damaged(
    spark: SparkSession, tmp_path: Path
) -> None:
    name = "spark.sql.catalog.locked"
    settings = {
        "spark.sql.defaultCatalog": "locked",
        name: "org.apache.iceberg.spark.SparkCatalog",
        f"{name}.type": "jdbc",
        f"{name}.uri": f"jdbc:sqlite:{tmp_path}/catalog.db",
        f"{name}.warehouse": str(tmp_path),
    }
    session = spark.newSession()
    for key, value in settings.items():
        session.conf.set(key, value)
    with contextlib.closing(
        sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)
    ) as writer:
        writer.execute("begin exclusive")
        with pytest.raises(DebeziumError, match=r"SQLITE_BUSY.*; ask again, because") as refused:
            open_catalog(session, settings)
    assert "damaged" not in str(refused.value)


def test_no_log_of_java_holds_the_password_of_a_catalog(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    name, word = "spark.sql.catalog.far", "hunter2"
    settings = completed(
        {
            "spark.sql.defaultCatalog": "far",
            name: "org.apache.iceberg.spark.SparkCatalog",
            f"{name}.type": "jdbc",
            f"{name}.uri": f"jdbc:postgresql://127.0.0.1:9/d?user=me&password={word}",
            f"{name}.warehouse": "/nowhere",
        }
    )
    session = spark.newSession()
    for key, value in settings.items():
        if key.startswith("spark.sql."):
            session.conf.set(key, value)
    spark.sparkContext.setLogLevel("INFO")
    try:
        with pytest.raises(DebeziumError, match=r"127\.0\.0\.1:9/d\?user=me cannot be") as refused:
            open_catalog(session, settings)
    finally:
        spark.sparkContext.setLogLevel("OFF")
    said = capfd.readouterr()
    # So it logs what Iceberg does, at the level INFO.
    assert "org.apache.iceberg" in said.err
    assert word not in said.err + said.out + str(refused.value)


def test_an_embedded_spark_listens_on_loopback_only(spark: SparkSession) -> None:
    """Its own ports: of the driver, of blocks, of Python; and there is no page for people."""
    java = spark.sparkContext._gateway.proc.pid
    processes = {str(java), str(os.getpid())}
    inodes = set()
    for process in processes:
        for descriptor in Path("/proc", process, "fd").iterdir():
            with contextlib.suppress(OSError):
                inodes.add(os.readlink(descriptor))
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in inodes:
                listening.append(local.partition(":")[0])
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}
    assert listening
    assert set(listening) <= loopback


def test_files_of_a_lake_in_a_folder_have_no_sums_and_tasks_get_no_settings_of_hadoop(
    spark: SparkSession,
) -> None:
    spark.sql("create namespace if not exists plain")
    spark.sql("create table plain.files (number int) using iceberg")
    spark.sql("insert into plain.files values (1)")
    java = spark._jvm.org.apache.iceberg.spark.Spark3Util
    table = java.loadIcebergTable(spark._jsparkSession, "lake.plain.files")
    of_site = [name for name, _ in spark.sparkContext.getConf().getAll() if name.startswith(HADOOP)]
    assert table.io().getConf().size() == len(of_site) < 10
    written = [path.name for path in Path(lake_dir(), "warehouse", "plain").rglob("*")]
    assert any(name.endswith(".parquet") for name in written)
    assert not [name for name in written if name.endswith(".crc")]


def test_settings_are_those_of_the_dbt_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", "elsewhere")
    settings = spark_settings("local")
    lake = REPOSITORY / "elsewhere"
    assert settings["spark.sql.catalog.lake.uri"] == f"jdbc:sqlite:{lake}/catalog.db"
    assert settings["spark.sql.catalog.lake.warehouse"] == f"{lake}/warehouse"
    with pytest.raises(DebeziumError, match=r"^profile: .*has no target 'absent'"):
        spark_settings("absent")


def test_a_project_without_a_profile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    with pytest.raises(DebeziumError, match=r"^profile: no profiles\.yml in "):
        spark_settings()
    (tmp_path / "profiles.yml").write_text("lake: {target: dev, outputs: {dev: {}}}")
    with pytest.raises(DebeziumError, match=r"has no profile 'shop'; .*, and there is: lake"):
        spark_settings()
