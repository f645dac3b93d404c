"""CPU-seconds of what comes from Kafka: landing, and Avro against JSON with schema blocks.

    PYTHONPATH=demo:tests/pipeline python bench/from_kafka.py [EVENTS]

A broker on this machine gets events, by default 250,000, without schema blocks. They are written
into the same table in turns: by Spark's own Kafka source, and by `land_kafka`, which also plans
offsets, keeps what the broker knew and looks for ids of schemas. Then captures with schema blocks
are flattened, and the same messages as Avro.
"""

import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from avro_writer import Writer
from bench import REPOSITORY, cpu_seconds, transaction
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dbt_debezium.build import environment
from dbt_debezium.flatten import flattener
from dbt_debezium.home import jars_dir
from dbt_debezium.kafka.land import land_kafka
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.landing import CREATE_TABLE, TABLE
from dbt_debezium.registry.client import Found
from dbt_debezium.session import spark_session
from local_chain.broker import broker

CAPTURES = "types_schema", "schema_evolution_schema"
PARTS = "key", "value"
FLATTENED = 100_000
TURNS = 3
PARTITIONS = 6
TOPIC = "bare.public.t"


def bench_flattening(spark: SparkSession) -> None:
    """Flatten captures as JSON with schema blocks, and as Avro, from a table."""
    for capture in CAPTURES:
        path = REPOSITORY / "tests" / "data" / capture / "events.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            messages = [json.loads(line) for line in lines]
        messages = [one for one in messages if "transaction" not in one["topic"]]
        writer = Writer()
        forms = {
            "JSON": [[one[part] and one[part].encode() for part in PARTS] for one in messages],
            "Avro": [[writer.written(one[part]) for part in PARTS] for one in messages],
        }
        schemas = {
            (one["topic"], number): Found("AVRO", text)
            for one in messages
            for number, text in writer.texts.items()
        }
        spark.udf.register("flatten_message", flattener(schemas))
        times = -(-FLATTENED // len(messages))
        kinds = []
        for form, sent in forms.items():
            rows = [(one["topic"], *both) for one, both in zip(messages, sent, strict=True)]
            spark.createDataFrame(rows, "topic string, key binary, value binary").withColumn(
                "copy", F.explode(F.sequence(F.lit(1), F.lit(times)))
            ).repartition(2).writeTo(f"landing.{form}").using("iceberg").create()
            flat = spark.sql(
                "select flatten_message(topic, key, value, cast(array() as"
                f" array<struct<key: string, value: binary>>), '{{}}') as flat from landing.{form}"
            )
            kinds.append(sorted(flat.groupBy("flat.kind").count().collect()))  # warms up
            for _ in range(TURNS):
                with measured(spark, f"{capture}, {form}", times * len(messages)):
                    flat.write.format("noop").mode("overwrite").save()
            spark.sql(f"drop table landing.{form} purge")
        assert kinds[0] == kinds[1], kinds


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


@contextmanager
def measured(spark: SparkSession, what: str, count: int) -> Iterator[None]:
    """Of this process and Java, without the broker, which is a child of this process too."""
    java = spark.sparkContext._gateway.proc.pid

    def used() -> float:
        return cpu_seconds(java) + time.process_time()

    cpu, wall = used(), time.monotonic()
    yield
    cpu, wall = used() - cpu, time.monotonic() - wall
    rate = count / cpu
    print(f"{what:24} {cpu:6.1f} CPU-s {wall:6.1f} s {rate:8,.0f} events per CPU-s", flush=True)


def bench(count: int) -> None:
    """Land the same events in turns, and flatten captures."""
    ways: dict[str, Any] = {"Spark's own source": land_without_ours, "land": land_with_ours}
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-kafka-") as folder,
        environment(
            DBT_DEBEZIUM_LAKE=f"{folder}/lake", DBT_DEBEZIUM_JARS=str(jars_dir().absolute())
        ),
        broker(Path(folder) / "broker", default_partitions=PARTITIONS) as address,
    ):
        os.chdir(REPOSITORY)
        spark = spark_session("local")
        send_events(spark, address, count)
        for turn in range(TURNS):
            for name, way in ways.items():
                with measured(spark, f"{name}, turn {turn + 1}", count):
                    landed = way(spark, address)
                assert landed == count, landed
                for table in (TABLE, "landing.range"):
                    spark.sql(f"drop table if exists {table} purge")
        bench_flattening(spark)
        spark.stop()


def main() -> None:
    bench(int(sys.argv[1]) if len(sys.argv) > 1 else 250_000)


if __name__ == "__main__":
    main()
