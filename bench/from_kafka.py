"""CPU-seconds of what comes from Kafka: landing, and Avro against JSON with schema blocks.

    PYTHONPATH=demo:tests/pipeline python bench/from_kafka.py [EVENTS]

A broker on this machine gets events, by default 250,000, without schema blocks. They are written
into the same table in turns: by Spark's own Kafka source, and by `land_kafka`, which also plans
offsets, keeps what the broker knew and looks for ids of schemas. Then captures with schema blocks
are flattened, and the same messages as Avro: by `flatten_batch` alone, and by Spark from a table.
With 0 events nothing is landed.
"""

import gzip
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa
from avro_writer import Writer
from bench import REPOSITORY, cpu_seconds, transaction
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dbt_debezium.build import environment
from dbt_debezium.functions.flatten import flatten_batch, flattener
from dbt_debezium.home import jars_dir
from dbt_debezium.kafka.land import land_kafka
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.landing.land import CREATE_TABLE, TABLE
from dbt_debezium.registry.found import Found
from dbt_debezium.registry.texts import Schemas
from dbt_debezium.spark.session import spark_session
from local_chain.broker import broker

CAPTURES = "types_schema", "schema_evolution_schema"
PARTS = "key", "value"
MESSAGES = 10_000
"""A batch of Spark's."""
COPIES = 5
FLATTEN_TURNS = 9
TURNS = 3
PARTITIONS = 6
TOPIC = "bare.public.t"


class Sent(NamedTuple):
    """Messages in both forms."""

    name: str
    topics: list[str]
    parts: dict[str, list[list[bytes | None]]]
    """By form, a list of keys and one of values."""
    schemas: Schemas


def sent(name: str) -> Sent:
    """The messages of a capture, repeated up to `MESSAGES`.

    Each has another position in the log. Parquet would keep equal ones once, and a log has none.
    """
    path = REPOSITORY / "tests" / "data" / name / "events.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        captured = [json.loads(line) for line in lines]
    captured = [one for one in captured if "transaction" not in one["topic"]]
    times = -(-MESSAGES // len(captured))
    topics = [one["topic"] for one in captured] * times
    texts = [
        [one["key"] for one in captured] * times,
        [
            one["value"] and re.sub(r'"lsn":(?=\d)', f'"lsn":{turn + 1}', one["value"])
            for turn in range(times)
            for one in captured
        ],
    ]
    writer = Writer()
    parts = {
        "JSON": [[text and text.encode() for text in part] for part in texts],
        "Avro": [[writer.written(text) for text in part] for part in texts],
    }
    schemas = {
        (topic, number): Found("AVRO", text)
        for topic in {*topics}
        for number, text in writer.texts.items()
    }
    return Sent(name, topics, parts, schemas)


def bench_flatten_batch(capture: Sent) -> None:
    """Flatten in this process alone."""
    count = len(capture.topics)

    def way(parts: list[list[bytes | None]]) -> Callable[[], Any]:
        key, value = (pa.array(part, pa.binary()) for part in parts)
        topic, headers, settings = (
            pa.array(capture.topics),
            pa.nulls(count),
            pa.array(["{}"] * count),
        )
        return lambda: flatten_batch(topic, key, value, headers, settings, capture.schemas)

    ways = {form: way(parts) for form, parts in capture.parts.items()}
    kinds = [one().field("kind").to_pylist() for one in ways.values()]
    assert kinds[0] == kinds[1]
    assert "quarantined" not in kinds[0]
    compare(f"{capture.name}, flatten_batch", ways, count, time.process_time)


def bench_flattening(spark: SparkSession, capture: Sent) -> None:
    """Flatten in Spark, from a table."""
    spark.udf.register("flatten_message", flattener(capture.schemas))

    def way(form: str, parts: list[list[bytes | None]]) -> Callable[[], object]:
        rows = list(zip(capture.topics, *parts, strict=True))
        spark.createDataFrame(rows, "topic string, key binary, value binary").withColumn(
            "copy", F.explode(F.sequence(F.lit(1), F.lit(COPIES)))
        ).repartition(2).writeTo(f"landing.{form}").using("iceberg").create()
        flat = spark.sql(
            "select flatten_message(topic, key, value, cast(array() as"
            f" array<struct<key: string, value: binary>>), '{{}}') as flat from landing.{form}"
        )
        return flat.write.format("noop").mode("overwrite").save

    ways = {form: way(form, parts) for form, parts in capture.parts.items()}
    compare(f"{capture.name}, Spark", ways, COPIES * len(capture.topics), lambda: used(spark))
    for form in ways:
        spark.sql(f"drop table landing.{form} purge")


def compare(
    what: str, ways: dict[str, Callable[[], object]], count: int, clock: Callable[[], float]
) -> None:
    """Print the medians of all ways, taken in turns, and of the ratio of each to the first."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(FLATTEN_TURNS + 1):
        for name, way in ways.items():
            before = clock()
            way()
            if turn:  # the first warms up
                seconds[name].append(clock() - before)
    for name, some in seconds.items():
        rates = [count / one for one in some]
        print(
            f"{what}, {name}: {median(rates):,.0f} events per CPU-s"
            f" ({min(rates):,.0f} to {max(rates):,.0f})",
            flush=True,
        )
    first, *others = seconds.values()
    for other in others:
        ratios = [one / two for one, two in zip(first, other, strict=True)]
        print(f"{what}: ratio {median(ratios):.2f}", flush=True)


def send_events(spark: SparkSession, address: str, count: int) -> None:
    """Changes of rows of 20 columns, without schema blocks."""
    (_, event, *_) = transaction(1, ["t"], 1)
    value = event["value"].replace('"id": 1,', '"id": ID,')
    assert "ID" in value
    spark.range(count).select(
        F.lit(TOPIC).alias("topic"),
        (F.col("id") % PARTITIONS).cast("int").alias("partition"),
        F.format_string('{"id":%d}', "id").alias("key"),
        F.replace(F.lit(value), F.lit("ID"), F.col("id").cast("string")).alias("value"),
    ).write.format("kafka").options(
        # With idempotence, Spark's producer got no answer from this broker in two minutes.
        **{"kafka.bootstrap.servers": address, "kafka.enable.idempotence": "false"}
    ).save()


def land_without_ours(spark: SparkSession, address: str) -> int:
    """Spark's own Kafka source into the table."""
    spark.sql("create schema if not exists landing")
    spark.sql(CREATE_TABLE)
    spark.read.format("kafka").options(
        **{"kafka.bootstrap.servers": address}, subscribe=TOPIC, includeHeaders="true"
    ).load().select(
        F.lit(1).cast("bigint").alias("landing_id"),
        *("topic", "partition", "offset", "timestamp", "key", "value", "headers"),
    ).writeTo(TABLE).append()
    return spark.table(TABLE).count()


def land_with_ours(spark: SparkSession, address: str) -> int:
    """The same with `land`."""
    return land_kafka(spark, "bench", KafkaBlock(address, TOPIC)).message_count


def used(spark: SparkSession) -> float:
    """CPU-seconds of this process and Java, without the broker, a child of this process too."""
    return cpu_seconds(spark.sparkContext._gateway.proc.pid) + time.process_time()


@contextmanager
def measured(spark: SparkSession, what: str, count: int) -> Iterator[None]:
    """Print what it takes."""
    cpu, wall = used(spark), time.monotonic()
    yield
    cpu, wall = used(spark) - cpu, time.monotonic() - wall
    rate = count / cpu
    print(f"{what:24} {cpu:6.1f} CPU-s {wall:6.1f} s {rate:8,.0f} events per CPU-s", flush=True)


def bench_landing(spark: SparkSession, folder: Path, count: int) -> None:
    """Land the same events in turns."""
    ways: dict[str, Any] = {"Spark's own source": land_without_ours, "land": land_with_ours}
    with broker(folder / "broker", default_partitions=PARTITIONS) as address:
        send_events(spark, address, count)
        for turn in range(TURNS):
            for name, way in ways.items():
                with measured(spark, f"{name}, turn {turn + 1}", count):
                    landed = way(spark, address)
                assert landed == count, landed
                for table in (TABLE, "landing.range"):
                    spark.sql(f"drop table if exists {table} purge")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 250_000
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-kafka-") as folder,
        environment(
            DBT_DEBEZIUM_LAKE=f"{folder}/lake", DBT_DEBEZIUM_JARS=str(jars_dir().absolute())
        ),
    ):
        os.chdir(REPOSITORY)
        spark = spark_session("local")
        if count:
            bench_landing(spark, Path(folder), count)
        spark.sql("create schema if not exists landing")
        for capture in map(sent, CAPTURES):
            bench_flatten_batch(capture)
            bench_flattening(spark, capture)
        spark.stop()


if __name__ == "__main__":
    main()
