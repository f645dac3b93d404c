"""Messages of a database that runs now become its tables."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_debezium.cli import main

pytestmark = pytest.mark.slow
pytest.importorskip("kafka", reason="`make setup-live` installs what the local chain needs")
pytest.importorskip("pymysql", reason="`make setup-live` installs what the local chain needs")

from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition  # noqa: E402
from kafka.admin import NewTopic  # noqa: E402

from local_chain import local_chain  # noqa: E402
from local_chain.server import ChainError  # noqa: E402

DEMO = Path(__file__).parents[2] / "demo"
READY = """
import time
from local_chain import local_chain
with local_chain("postgresql") as chain:
    print(chain.postgresql.port, chain.bootstrap.rpartition(":")[2], flush=True)
    time.sleep(600)
"""


COUNT = 24
"""Rows, so that every partition has some."""


def test_a_preview_of_kafka_shows_the_rows_of_the_database(tmp_path: Path) -> None:
    """Exactly-once Connect: control records between the messages, and nobody says `--complete`."""
    with local_chain("postgresql", default_partitions=3, exactly_once=True) as chain:
        server = chain.postgresql
        admin = KafkaAdminClient(bootstrap_servers=chain.bootstrap)
        admin.create_topics([NewTopic("one.transaction", 1, 1)])
        server.sql(
            "create table t (id int primary key, v text);"
            f"insert into t select n, 'a' from generate_series(1, {COUNT}) n"
        )
        metadata = {"provide.transaction.metadata": "true"}
        chain.connect.create("one", server.connector("one") | metadata)
        chain.wait_for(lambda found: len(found) >= COUNT)
        for step in range(3):
            server.sql(
                f"update t set v = v || 'b' where id % 3 = {step}; delete from t where id = {step}"
            )
        found = chain.wait_for(lambda found: str(found).count('"END"') >= 5)
        before = state_of(admin, chain.bootstrap)
        address = f"kafka://{chain.bootstrap}"
        export = tmp_path / "export"
        command = ["preview", address, "--topics", "one[.].*"]
        preview = CliRunner().invoke(main, [*command, "--export", str(export)])
        assert preview.exit_code == 0, preview.output
        assert state_of(admin, chain.bootstrap) == before
        cut_off = CliRunner().invoke(main, [*command, "--complete", "--limit", "2"])
        no_topic = CliRunner().invoke(main, ["preview", address, "--topics", "two[.].*"])
        rows = server.sql("select id, v from t order by id").split()
    exported = [json.loads(line) for line in (export / "one" / "public.t.jsonl").open()]
    assert sorted(f"{row['id']}|{row['v']}" for row in exported) == sorted(rows)
    assert f"{address}: read {len(found)} messages of 2 topics, 4 partitions" in preview.stdout
    assert (cut_off.exit_code, no_topic.exit_code) == (2, 2)
    assert f"--complete: {address}: one." in cut_off.stderr
    assert f"{address}: no topic fits two[.].*; look at what" in no_topic.stderr
    (entry,) = json.loads((export / "cut.json").read_text())
    assert (entry["held"], entry["counts"]["landed"]) == ([], len(found))


def state_of(admin: KafkaAdminClient, bootstrap: str) -> tuple[object, ...]:
    """What a reader could leave behind: consumer groups, topics, and messages in them."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    topics = consumer.topics()
    partitions = [
        TopicPartition(topic, number)
        for topic in topics
        for number in consumer.partitions_for_topic(topic) or ()
        if not topic.startswith("connect-")
    ]
    ends = consumer.end_offsets(partitions)
    consumer.close()
    return admin.list_groups(), topics, ends


def test_a_setting_that_connect_refuses_is_named() -> None:
    with local_chain("postgresql") as chain:
        config = chain.postgresql.connector("bad")
        del config["database.dbname"]
        with pytest.raises(ChainError, match=r"database\.dbname"):
            chain.connect.create("bad", config)


def test_servers_end_with_the_process_that_started_them() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", READY], stdout=subprocess.PIPE, text=True, cwd=DEMO
    )
    assert process.stdout
    ports = [int(port) for port in process.stdout.readline().split()]
    process.kill()
    process.wait()
    from local_chain.server import listens

    end = time.monotonic() + 10
    while any(listens(port) for port in ports) and time.monotonic() < end:
        time.sleep(0.1)
    assert [listens(port) for port in ports] == [False, False]
