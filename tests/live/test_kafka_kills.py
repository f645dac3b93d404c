"""Ten kills of landings from a real broker, in one lake: it ends as one that nobody killed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrivals import expected_cuts, slices
from figures import record
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from lake import Lake, open_lake
from test_crash import SOURCE, check_published, whole_log
from test_kills import (
    KILLS,
    PARTS,
    SEED,
    check_as_undisturbed,
    check_counted,
    few_tables,
    finish,
    kill_landings,
)

from local_chain.broker import broker

QUIET_SECONDS = 5


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_lake(tmp_path, few_tables(), {"quiet_partition_seconds": QUIET_SECONDS}) as opened:
        yield opened


@pytest.mark.proof
def test_ten_kills_of_landings_from_kafka_lose_nothing(lake: Lake, tmp_path: Path) -> None:
    history, arrival = whole_log()
    partitions: dict[str, int] = {}
    for message in arrival.messages:
        topic = message["topic"]
        partitions[topic] = max(partitions.get(topic, 0), message["partition"] + 1)
    parts = slices(arrival, PARTS - 1)
    with broker(tmp_path / "broker") as address:
        admin = KafkaAdminClient(bootstrap_servers=address)
        admin.create_topics([NewTopic(topic, count, 1) for topic, count in partitions.items()])
        producer = KafkaProducer(bootstrap_servers=address)

        def send(number: int) -> int:
            for message in sorted(parts[number].messages, key=lambda one: int(one["offset"])):
                key, value = (
                    text if text is None else text.encode()
                    for text in (message["key"], message["value"])
                )
                headers = [(one["key"], one["value"].encode()) for one in message["headers"] or []]
                producer.send(message["topic"], value, key, headers, message["partition"])
            producer.flush()
            return sum(len(part.messages) for part in parts[: number + 1])

        source = f"kafka://{address}", "--topics", f"{SOURCE}[.].*"
        landed = kill_landings(lake, source, send)
        assert lake.rows(
            "select sum(end_offset - start_offset), count_if(not is_landed) from landing.range"
        ) == [(len(arrival.messages), 0)]
        # The snapshot waits for a partition that stays empty.
        time.sleep(QUIET_SECONDS)
        finish(lake, "land", *source)
        assert lake.build(), lake.lines
        check_counted(lake)
        newest = expected_cuts(history, parts)[-1].commit_number
        assert check_published(lake, history, "built") == newest > 0
        check_as_undisturbed(lake, source)
        producer.close()
    record(
        "A landing from Kafka that is killed (SIGKILL) loses nothing and lands nothing twice",
        f"{KILLS} kills, {landed} of them after the messages had landed: every message once, and "
        "the tables are what the database held",
        seed=SEED,
    )
