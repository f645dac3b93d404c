"""Landing from a real broker: each committed message once, and what the broker knew is kept."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from lake import Lake, open_lake

from dbt_debezium.errors import DebeziumError
from dbt_debezium.kafka import land as kafka_land
from dbt_debezium.kafka.land import KafkaLanded, land_kafka
from dbt_debezium.kafka.landing_file import KafkaBlock
from local_chain.broker import broker


class Cluster:
    """A broker, as a producer and an administrator use it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.admin = KafkaAdminClient(bootstrap_servers=address)

    def create(self, topic: str, partitions: int = 1) -> None:
        self.admin.create_topics([NewTopic(topic, partitions, 1)])

    def send(self, topic: str, *values: str, partition: int = 0) -> None:
        # A producer of before would not know new partitions, nor another topic of the same name.
        producer = KafkaProducer(bootstrap_servers=self.address)
        for value in values:
            producer.send(topic, value.encode(), b"key", [("name", b"header")], partition)
        producer.close()

    def send_in_transaction(self, topic: str, *values: str, commits: bool) -> None:
        producer = KafkaProducer(bootstrap_servers=self.address, transactional_id="test")
        producer.init_transactions()
        producer.begin_transaction()
        for value in values:
            producer.send(topic, value.encode(), partition=0)
        producer.flush()
        producer.commit_transaction() if commits else producer.abort_transaction()
        producer.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with broker(tmp_path_factory.mktemp("kafka") / "broker") as address:
        yield Cluster(address)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with open_lake(tmp_path_factory.mktemp("kafka_lake"), []) as lake:
        yield lake


def land(lake: Lake, cluster: Cluster, topics: str, most: int = 1_000_000) -> KafkaLanded:
    block = KafkaBlock(cluster.address, topics)
    return land_kafka(lake.spark, "test", block, most=most)


def values(lake: Lake, topic: str) -> list[str]:
    rows = lake.rows(
        f"select value from landing.message where topic = '{topic}' order by partition, `offset`"
    )
    return [str(value) for (value,) in rows]


def ranges(lake: Lake, topic: str) -> list[tuple[object, ...]]:
    return lake.rows(
        "select partition, start_offset, end_offset, log_start_offset, log_end_offset "
        f"from landing.range where topic = '{topic}' and is_landed order by landing_id, partition"
    )


def test_each_message_lands_once_with_its_key_and_headers(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.once", 2)
    cluster.send("a.once", "1", "2")
    cluster.send("a.once", "3", partition=1)
    assert land(lake, cluster, "a.once").message_count == 3
    cluster.send("a.once", "4", partition=1)
    assert land(lake, cluster, "a.once").message_count == 1
    assert land(lake, cluster, "a.once").message_count == 0
    assert values(lake, "a.once") == ["1", "2", "3", "4"]
    (row,) = lake.rows(
        "select key, headers[0].key, headers[0].value from landing.message where topic = 'a.once' "
        "and value = '4'"
    )
    assert row == ("key", "name", "header")


def test_a_long_log_lands_in_parts(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.long")
    cluster.send("a.long", *(str(number) for number in range(10)))
    assert land(lake, cluster, "a.long", most=4).message_count == 10
    assert values(lake, "a.long") == [str(number) for number in range(10)]
    assert [row[1:3] for row in ranges(lake, "a.long")] == [(0, 3), (3, 6), (6, 10)]


@pytest.mark.parametrize("dies_in", ["messages", "_mark_landed"])
def test_a_landing_that_was_killed_is_finished_by_the_next_one(
    lake: Lake, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, dies_in: str
) -> None:
    topic = f"a.killed.{dies_in.strip('_')}"
    cluster.create(topic)
    cluster.send(topic, "1", "2")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(kafka_land, dies_in, die)
        land(lake, cluster, topic)
    cluster.send(topic, "3")
    land(lake, cluster, topic)
    assert values(lake, topic) == ["1", "2", "3"]
    assert ranges(lake, topic)[-1][1:3] == ((0, 3) if dies_in == "messages" else (2, 3))


def test_aborted_messages_do_not_land_and_control_records_lie_in_the_range(
    lake: Lake, cluster: Cluster
) -> None:
    cluster.create("a.transactions")
    cluster.send_in_transaction("a.transactions", "1", "2", commits=True)
    cluster.send_in_transaction("a.transactions", "not this", commits=False)
    cluster.send_in_transaction("a.transactions", "3", commits=True)
    land(lake, cluster, "a.transactions")
    assert values(lake, "a.transactions") == ["1", "2", "3"]
    # Two messages and their control record, one and its abort, one and its control record.
    assert ranges(lake, "a.transactions") == [(0, 0, 7, 0, 7)]


def test_a_partition_that_was_added_lands_from_its_start(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.wider")
    cluster.send("a.wider", "1")
    land(lake, cluster, "a.wider")
    cluster.admin.create_partitions({"a.wider": 2})
    cluster.send("a.wider", "2", partition=1)
    land(lake, cluster, "a.wider")
    assert values(lake, "a.wider") == ["1", "2"]


def test_a_topic_that_was_created_again_is_named_and_never_merged(
    lake: Lake, cluster: Cluster
) -> None:
    cluster.create("a.again")
    cluster.send("a.again", "old")
    land(lake, cluster, "a.again")
    cluster.admin.delete_topics(["a.again"])
    cluster.create("a.again")
    cluster.send("a.again", "new", "newer", "newest")
    landed = land(lake, cluster, "a.again")
    assert values(lake, "a.again") == ["old"]
    (sentence,) = landed.sentences("test")
    assert sentence.startswith("test: a.again: the topic was deleted and created again")


def test_what_retention_removed_before_it_landed_is_named(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.late")
    cluster.send("a.late", "1")
    land(lake, cluster, "a.late")
    cluster.send("a.late", "2", "3", "4")
    cluster.admin.delete_records({TopicPartition("a.late", 0): 3})
    landed = land(lake, cluster, "a.late")
    assert values(lake, "a.late") == ["1", "4"]
    (sentence,) = landed.sentences("test")
    assert "retention removed 2 offsets before they landed (partition 0: 1 to 2)" in sentence


def test_a_pattern_that_fits_no_topic_is_refused(lake: Lake, cluster: Cluster) -> None:
    with pytest.raises(DebeziumError, match=r"test: no topic fits shop\[\.\]\.\*; look at what"):
        land(lake, cluster, "shop[.].*")


def test_a_broker_that_does_not_answer_is_refused(lake: Lake) -> None:
    options: dict[str, str | int | bool] = {
        "default.api.timeout.ms": 500,
        "request.timeout.ms": 300,
    }
    block = KafkaBlock("127.0.0.1:9", ".*", options=options)
    with pytest.raises(DebeziumError, match=r"test: 127\.0\.0\.1:9: TimeoutException: no broker"):
        land_kafka(lake.spark, "test", block)


def test_passwords_never_show(lake: Lake, cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2\n")
    jaas = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="a" password="${{file:{tmp_path / "secret"}}}";'
    )
    options: dict[str, str | int | bool] = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": jaas,
        "default.api.timeout.ms": 2000,
        "request.timeout.ms": 1000,
    }
    block = KafkaBlock(cluster.address, ".*", options=options)
    with pytest.raises(DebeziumError) as refused:
        land_kafka(lake.spark, "test", block)
    assert "hunter2" not in str(refused.value)
