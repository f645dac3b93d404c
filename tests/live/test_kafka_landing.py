"""Landing from a real broker: each committed message once, and what the broker knew is kept."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.protocol.consumer import IsolationLevel, OffsetSpec
from lake import DATA, Lake, open_lake, tables_of
from scenario import Writer

from dbt_debezium.doctor.kafka import kafka_findings
from dbt_debezium.errors import DebeziumError
from dbt_debezium.kafka import land as kafka_land
from dbt_debezium.kafka.land import KafkaLanded, land_kafka
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.landing.land import landed_base, next_landing
from dbt_debezium.lease import Lease, writing
from dbt_debezium.preview import Topics, land_source
from dbt_debezium.rounds.broker_ends import ask_ends, ends_of
from dbt_debezium.rounds.sources import KafkaSource
from local_chain.broker import PASSWORD, USER, broker
from local_chain.server import HOST, free_port, wait_until

TABLE, MARKER = "public.tiny", "transaction"
QUIET = timedelta(seconds=2)


class Cluster:
    """A broker, as a producer and an administrator use it."""

    def __init__(self, address: str, secured: str) -> None:
        self.address = address
        self.secured = secured
        """Its address for clients that log in."""
        self.admin = KafkaAdminClient(bootstrap_servers=address)

    def create(self, topic: str, partitions: int = 1) -> None:
        self.admin.create_topics([NewTopic(topic, partitions, 1)])

    def compact(self, topic: str) -> None:
        settings = {"cleanup.policy": "compact"}
        self.admin.create_topics([NewTopic(topic, 1, 1, topic_configs=settings)])

    def send(self, topic: str, *values: str, partition: int = 0) -> None:
        # A producer of before would not know new partitions, nor another topic of the same name.
        producer = KafkaProducer(bootstrap_servers=self.address)
        for value in values:
            producer.send(topic, value.encode(), b"key", [("name", b"header")], partition)
        producer.close()

    def send_in_transaction(self, topic: str, *values: str, commits: bool) -> None:
        sent = [(topic, 0, None, value) for value in values]
        self.send_all_in_transaction(sent, commits=commits)

    def send_all_in_transaction(
        self, messages: Sequence[tuple[str, int, str | None, str | None]], *, commits: bool = True
    ) -> None:
        """Send messages, each with its topic, partition, key and value."""
        producer = KafkaProducer(bootstrap_servers=self.address, transactional_id="test")
        producer.init_transactions()
        producer.begin_transaction()
        for topic, partition, key, value in messages:
            sent = (text if text is None else text.encode() for text in (value, key))
            producer.send(topic, *sent, partition=partition)
        producer.flush()
        producer.commit_transaction() if commits else producer.abort_transaction()
        producer.close()
        asked = {TopicPartition(topic, number): OffsetSpec.LATEST for topic, number, *_ in messages}
        # Its control record is written a moment later.
        wait_until(lambda: self._ends(asked, "COMMITTED") == self._ends(asked), lambda: None)

    def _ends(
        self, asked: Mapping[TopicPartition, OffsetSpec], read: str = "UNCOMMITTED"
    ) -> dict[TopicPartition, int]:
        level = IsolationLevel[f"READ_{read}"]
        found = self.admin.list_partition_offsets(asked, isolation_level=level)
        return {at: one.offset for at, one in found.items()}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    secured = f"{HOST}:{free_port()}"
    with broker(tmp_path_factory.mktemp("kafka") / "broker", secured=secured) as address:
        yield Cluster(address, secured)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    tables = tables_of([*exactly_once(), *exactly_once("half")])
    settings: dict[str, object] = {"quiet_partition_seconds": QUIET.seconds}
    with open_lake(tmp_path_factory.mktemp("kafka_lake"), tables, settings) as lake:
        yield lake


def exactly_once(source: str = "tiny") -> list[dict[str, Any]]:
    """What an exactly-once Connect wrote: seven messages of a table, four of transactions."""
    text = (DATA / "reality" / "exactly_once" / "input.jsonl").read_text()
    text = text.replace('"topic": "tiny.', f'"topic": "{source}.')
    text = text.replace(r"\"name\":\"tiny\"", rf"\"name\":\"{source}\"")
    return [json.loads(line) for line in text.splitlines()]


def land(
    lake: Lake,
    cluster: Cluster,
    topics: str,
    most: int = 1_000_000,
    quiet_after: timedelta = timedelta(0),
) -> KafkaLanded:
    block = KafkaBlock(cluster.address, topics)
    return land_kafka(lake.spark, "test", block, most=most, quiet_after=quiet_after)


def values(lake: Lake, topic: str) -> list[str]:
    rows = lake.rows(
        "select cast(value as string) from landing.message "
        f"where topic = '{topic}' order by partition, `offset`"
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
        "and value = cast('4' as binary)"
    )
    assert row == (b"key", "name", b"header")


@pytest.mark.slow
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


def test_no_other_landing_gets_the_number_of_a_killed_one(
    lake: Lake, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the lease is lost, the tables of landings tell it."""
    cluster.create("a.number")
    cluster.send("a.number", "1")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(kafka_land, "messages", die)
        land(lake, cluster, "a.number")
    lake.spark.sql("delete from landing.lease")
    ((planned,),) = lake.rows("select landing_id from landing.range where not is_landed")
    assert isinstance(planned, int)
    with Lease(lake.folder / "lake"), writing(lake.spark) as lease:
        assert next_landing(lake.spark, lease, landed_base(lake.spark)) > planned


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


@pytest.mark.slow
def test_a_partition_that_was_added_lands_from_its_start(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.wider")
    cluster.send("a.wider", "1")
    land(lake, cluster, "a.wider")
    cluster.admin.create_partitions({"a.wider": 2})
    cluster.send("a.wider", "2", partition=1)
    land(lake, cluster, "a.wider")
    assert values(lake, "a.wider") == ["1", "2"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_topic_that_is_created_again_while_it_lands_is_never_merged(
    lake: Lake, cluster: Cluster
) -> None:
    cluster.create("a.meanwhile")
    cluster.send("a.meanwhile", *"abcd")

    def recreate(done: int, total: int) -> None:
        cluster.admin.delete_topics(["a.meanwhile"])
        cluster.create("a.meanwhile")
        cluster.send("a.meanwhile", *"012345")

    block = KafkaBlock(cluster.address, "a.meanwhile")
    with pytest.raises(
        DebeziumError, match=r"test: a\.meanwhile: the topic was deleted and create"
    ):
        land_kafka(lake.spark, "test", block, recreate, most=2)
    assert values(lake, "a.meanwhile") == ["a", "b"]
    (sentence,) = land(lake, cluster, "a.meanwhile").sentences("test")
    assert "deleted and created again, so it is not landed" in sentence


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("servers", "options", "sentence"),
    [
        ("nohost.invalid:9092", {}, "ConfigException: it names no host that is known here; write"),
        (
            "127.0.0.1:9",
            {"request.timeout.ms": 500, "security.protocol": "p4ss"},
            "ConfigException: the value of security.protocol cannot be; correct it",
        ),
        ("127.0.0.1:9", {"request.timeout.ms": 500}, "TimeoutException: no broker answers; check"),
        (
            "127.0.0.1:9",
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": "nonsense p4ss",
            },
            "IllegalArgumentException: it is no login that Kafka knows; check sasl.jaas.config",
        ),
        (
            "127.0.0.1:9",
            {"security.protocol": "SSL", "ssl.truststore.location": "/nowhere/trust.jks"},
            "NoSuchFileException: there is no such file; check the key store and the trust store",
        ),
    ],
)
def test_options_that_cannot_work_are_named_without_their_values(
    lake: Lake, servers: str, options: dict[str, str | int | bool], sentence: str
) -> None:
    with pytest.raises(DebeziumError) as refused:
        land_kafka(lake.spark, "test", KafkaBlock(servers, ".*", options=options))
    assert str(refused.value).startswith(f"test: {servers}: {sentence}")
    assert "p4ss" not in str(refused.value)


def test_a_password_opens_a_cluster_and_a_wrong_one_is_refused_and_never_shown(
    lake: Lake, cluster: Cluster, tmp_path: Path
) -> None:
    cluster.create("a.secured")
    cluster.send("a.secured", "1")
    assert land_kafka(lake.spark, "test", secured(cluster, tmp_path, PASSWORD)).message_count == 1
    with pytest.raises(DebeziumError) as refused:
        land_kafka(lake.spark, "test", secured(cluster, tmp_path, "hunter3"))
    assert str(refused.value) == (
        f"test: {cluster.secured}: SaslAuthenticationException: it refuses the credentials; "
        "check sasl.jaas.config"
    )


def test_a_time_that_spark_cannot_hold_is_named_and_stops_no_other_block(
    lake: Lake, cluster: Cluster
) -> None:
    """Kafka before 4.0 takes any time from whoever may send."""
    longest = str(2**63 - 1)
    configs = {"message.timestamp.after.max.ms": longest}
    cluster.admin.create_topics([NewTopic("far.time", 1, 1, topic_configs=configs)])
    cluster.create("far.beside")
    cluster.send("far.beside", "1")
    producer = KafkaProducer(bootstrap_servers=cluster.address)
    for millis in (9 * 10**15, 2**62):
        producer.send("far.time", b"{}", timestamp_ms=millis)
    producer.close()
    blocks = {
        "first": KafkaBlock(cluster.address, "far[.].*"),
        "second": KafkaBlock(cluster.address, "far[.]beside"),
    }
    landing = KafkaSource(blocks, QUIET).land(lake.spark, ignored)
    assert [one.partition(" a message")[0] for one in landing.failures] == ["first: far.time:"]
    assert values(lake, "far.beside") == ["1"]


def ignored(step: str) -> None:
    """What a preview is doing."""


def secured(cluster: Cluster, folder: Path, password: str) -> KafkaBlock:
    (folder / "secret").write_text(f"{password}\n")
    jaas = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="{USER}" password="${{file:{folder / "secret"}}}";'
    )
    options: dict[str, str | int | bool] = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": jaas,
    }
    return KafkaBlock(cluster.secured, "a[.]secured", options=options)


@pytest.mark.slow
def test_a_preview_reads_the_first_messages_of_each_partition(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.preview", 2)
    cluster.send("a.preview", "1", "2", "3")
    cluster.send("a.preview", "4", partition=1)
    blocks = {"kafka": KafkaBlock(cluster.address, "a[.]preview", "latest")}
    with pytest.raises(DebeziumError, match=r"partition 0, has more .* pass --limit 3 too"):
        land_source(lake.spark, Topics(blocks, 2, must_be_whole=True), ignored)
    again = {"kafka": KafkaBlock(cluster.address, ["a.preview", "a.preview"])}
    assert land_source(lake.spark, Topics(again, 2), ignored).message_count == 1
    assert values(lake, "a.preview") == ["1", "2", "3", "4"]


def test_a_preview_of_topics_without_messages_is_refused(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.empty")
    blocks = {"kafka": KafkaBlock(cluster.address, "a[.]empty")}
    with pytest.raises(DebeziumError, match=r"kafka: 1 topic fits, without a message; name"):
        land_source(lake.spark, Topics(blocks, 2), ignored)


@pytest.mark.slow
def test_control_records_are_no_gap_and_an_empty_partition_is_waited_for_until_it_is_quiet(
    lake: Lake, cluster: Cluster
) -> None:
    """Without the ranges, every control record would hold what follows it, and nothing would wait
    for the empty partition."""
    for source in ("tiny", "half"):
        cluster.create(f"{source}.public.tiny", 2)
        cluster.create(f"{source}.transaction")

    def send(source: str, *places: tuple[str, int, int]) -> None:
        found = {(one["topic"], one["offset"]): one for one in exactly_once(source)}
        messages = [(f"{source}.{name}", partition, offset) for name, partition, offset in places]
        cluster.send_all_in_transaction(
            [
                (topic, partition, found[topic, offset]["key"], found[topic, offset]["value"])
                for topic, partition, offset in messages
            ]
        )

    for source in ("tiny", "half"):
        send(source, *((TABLE, 0, offset) for offset in range(3)))
        send(source, (MARKER, 0, 0), (TABLE, 0, 4), (MARKER, 0, 1))
    land(lake, cluster, "(tiny|half)[.].*")
    send("tiny", (MARKER, 0, 3), (TABLE, 1, 6), (TABLE, 0, 7), (TABLE, 0, 8), (MARKER, 0, 4))
    land(lake, cluster, "(tiny|half)[.].*")
    assert lake.build(command="run"), lake.lines
    entry, waiting = lake.cuts()["tiny"], lake.cuts()["half"]
    assert (entry["transaction_id"], entry["proof"], entry["held"]) == ("4074", "counted", [])
    (tiny,) = lake.tables
    rows = lake.rows(f"select id, v from public.{tiny.model_name} order by id")
    assert rows == [(1, "a2"), (3, "c"), (4, "d")]
    reasons = {one["transaction_id"]: one["reason"] for one in waiting["held"]}
    assert waiting["commit_number"] == 0
    assert [reasons[one] for one in reasons if one.startswith("snapshot")] == [
        "snapshot_incomplete"
    ]

    time.sleep(QUIET.seconds)
    looked = land(lake, cluster, "(tiny|half)[.].*", quiet_after=QUIET)
    assert (looked.message_count, looked.has_looked_again) == (0, True)
    assert lake.build(command="run"), lake.lines
    entry = lake.cuts()["half"]
    assert (entry["commit_number"], entry["proof"], entry["held"]) == (2, "counted", [])
    time.sleep(QUIET.seconds)
    assert not land(lake, cluster, "(tiny|half)[.].*", quiet_after=QUIET).has_looked_again


@pytest.mark.slow
def test_silence_behind_a_signal_ends_the_window_of_an_empty_table(
    lake: Lake, cluster: Cluster
) -> None:
    """No read tells when it was asked for: the signal itself does."""
    writer = Writer("postgresql")
    lines = (
        "transaction 0  BEGIN 701",
        "signals 0      create 9, in 701, at 110, numbers 1 1, signal snapshot-window-close",
        "orders 0       create 1, in 701, at 120, numbers 2 1",
        "transaction 0  END 701, at 140, counts signals 1 and orders 1",
    )
    for topic in ("transaction", "public.signals", "public.orders"):
        cluster.create(f"shop.{topic}")
    for message in filter(None, map(writer.message, lines)):
        sent = (message["key"], message["value"])
        key, value = (None if one is None else str(one) for one in sent)
        cluster.send_all_in_transaction([(str(message["topic"]), 0, key, value)])
    land(lake, cluster, "shop[.].*")
    assert lake.build(command="run"), lake.lines
    (held,) = lake.cuts()["shop"]["held"]
    assert held["reason"] == "snapshot_unconfirmed"

    time.sleep(QUIET.seconds)
    land(lake, cluster, "shop[.].*", quiet_after=QUIET)
    assert lake.build(command="run"), lake.lines
    entry = lake.cuts()["shop"]
    assert (entry["commit_number"], entry["held"]) == (1, [])


def test_an_end_is_not_sure_while_a_transaction_is_open(lake: Lake, cluster: Cluster) -> None:
    """Its messages are written, and nobody sees them yet."""
    cluster.create("a.open")
    block = KafkaBlock(cluster.address, "a[.]open")

    def is_sure() -> bool:
        (topic,) = kafka_land.topics_of(lake.spark, "test", block)
        return topic.partitions[0].is_sure

    assert is_sure()
    producer = KafkaProducer(bootstrap_servers=cluster.address, transactional_id="open")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send("a.open", b"1", partition=0)
    producer.flush()
    assert not is_sure()
    producer.abort_transaction()
    producer.close()
    wait_until(is_sure, lambda: None)


def test_doctor_names_what_a_cluster_lacks(lake: Lake, cluster: Cluster, tmp_path: Path) -> None:
    cluster.create("doctor.public.t")
    cluster.compact("doctor.public.compacted")
    (tmp_path / "landing.yml").write_text(
        f"shop: {{bootstrap_servers: '{cluster.address}', topics: 'doctor[.].*'}}\n"
        f"mistyped: {{bootstrap_servers: '{cluster.address}', topics: 'no_such_topic'}}\n"
        f"down: {{bootstrap_servers: '{HOST}:1', registry: {{url: 'http://{HOST}:1'}}}}\n"
    )
    found = [*kafka_findings(lake.spark, tmp_path)]
    assert [one.level for one in found] == ["ok", "note", "wrong", "wrong", "wrong", "wrong"]
    fit, unproved, compacted, mistyped, down, registry = (one.sentence for one in found)
    assert fit == "shop: 2 topics and 2 partitions fit doctor[.].*; 0 offsets have not landed"
    assert "shop: no topic has transaction in its name; set provide.transaction" in unproved
    assert compacted.startswith("shop: doctor.public.compacted: compaction removes changes")
    assert mistyped.startswith("mistyped: no topic fits no_such_topic; look at what")
    assert down.startswith(f"down: {HOST}:1: TimeoutException: no broker answers")
    assert registry.startswith(f"down: registry: http://{HOST}:1: ")


def test_where_topics_end_is_asked_without_spark(lake: Lake, cluster: Cluster) -> None:
    cluster.create("a.ends", 2)
    cluster.send("a.ends", "1", "2")
    block = KafkaBlock(cluster.address, "a[.]ends.*")

    def asked() -> str | None:
        return ask_ends(block, {"bootstrap.servers": cluster.address})

    def landed() -> str:
        return ends_of(land_kafka(lake.spark, "test", block).plan)

    known = landed()
    assert asked() == known
    # What an aborted transaction leaves are offsets too.
    cluster.send_in_transaction("a.ends", "3", commits=False)
    assert asked() not in {None, known}
    known = landed()
    assert asked() == known
    cluster.create("a.ends.new")
    assert asked() not in {None, known}


def test_a_broker_that_does_not_answer_is_left_to_the_landing() -> None:
    block = KafkaBlock("localhost:1", ".*")
    assert ask_ends(block, {"bootstrap.servers": block.bootstrap_servers}) is None
