"""Messages of a database that runs now become its tables."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbt_debezium.preview import previewed

pytestmark = pytest.mark.live
pytest.importorskip("kafka", reason="`make setup-live` installs what the local chain needs")
pytest.importorskip("pymysql", reason="`make setup-live` installs what the local chain needs")

from local_chain import local_chain  # noqa: E402
from local_chain.server import ChainError  # noqa: E402

READY = """
import time
from local_chain import local_chain
with local_chain("postgresql") as chain:
    print(chain.postgresql.port, chain.bootstrap.rpartition(":")[2], flush=True)
    time.sleep(600)
"""


def test_a_table_of_postgresql_is_rebuilt(tmp_path: Path) -> None:
    with local_chain("postgresql", default_partitions=3) as chain:
        server = chain.postgresql
        server.sql("create table t (id int primary key, v text); insert into t values (1, 'a')")
        metadata = {"provide.transaction.metadata": "true"}
        chain.connect.create("one", server.connector("one") | metadata)
        chain.wait_for(lambda found: len(found) >= 1)
        server.sql("begin; update t set v = 'b'; insert into t values (2, 'c'); commit")
        found = chain.wait_for(lambda found: any('"END"' in str(one["value"]) for one in found))
    dump = tmp_path / "dump.jsonl"
    dump.write_text("".join(json.dumps(message) + "\n" for message in found))
    with previewed(dump, settings={"landing_reaches_the_end": True}) as built:
        rows = built.spark.table("public.t_current").select("id", "v").collect()
    assert sorted(tuple(row) for row in rows) == [(1, "b"), (2, "c")]


def test_a_setting_that_connect_refuses_is_named() -> None:
    with local_chain("postgresql") as chain:
        config = chain.postgresql.connector("bad")
        del config["database.dbname"]
        with pytest.raises(ChainError, match=r"database\.dbname"):
            chain.connect.create("bad", config)


def test_servers_end_with_the_process_that_started_them() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", READY], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
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
