"""What people write by hand: the newest change of each key is merged into a table.

    python bench/recipe.py FOLDER FIRST.jsonl NEXT.jsonl

Spark and Iceberg have the settings of this project. The messages are those of the capture `big`:
columns and keys are written down here, as people write them down. It knows no transactions and no
truncates, so readers see tables that the database never had. Printed are CPU-seconds, and the rows
of each table.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench import cpu_seconds
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from dbt_debezium.build import environment
from dbt_debezium.home import jars_dir
from dbt_debezium.spark.session import spark_session

MESSAGE = "topic string, partition int, offset bigint, key string, value string"
SOURCE = "struct<name: string, lsn: bigint>"
COLUMNS = {
    "users": "id: int, name: string, score: string, updated: bigint, active: boolean",
    "accounts": "id: int, user_id: int, balance: bigint, rev: int",
    "activity": "id: bigint, user_id: int, kind: string, payload: string, at: string",
    "inventory": "wh: int, sku: int, qty: int, price: string",
    "sessions": "id: string, user_id: int, state: string, started: string",
}
KEYS = {"inventory": ["wh", "sku"]}
"""Others have `id`."""
CASTS = {
    "score": "decimal(12,2)",
    "price": "decimal(10,2)",
    "at": "timestamp",
    "started": "timestamp",
}


def keys_of(table: str) -> list[str]:
    return ["source", *KEYS.get(table, ["id"])]


def newest(messages: DataFrame, table: str) -> DataFrame:
    """The newest change of each key, with `op` and `lsn`."""
    row = f"struct<{COLUMNS[table]}>"
    envelope = f"struct<op: string, before: {row}, after: {row}, source: {SOURCE}>"
    is_of_table = F.col("topic").endswith(f".public.{table}") & F.col("value").isNotNull()
    value = F.from_json("value", envelope).alias("value")
    changes = (
        messages.where(is_of_table).select("offset", value).where("value.op in ('c', 'u', 'd')")
    )
    image = F.when(F.col("value.op") == "d", F.col("value.before")).otherwise(F.col("value.after"))
    source, lsn = F.col("value.source.name").alias("source"), F.col("value.source.lsn").alias("lsn")
    rows = changes.select("offset", F.col("value.op").alias("op"), source, lsn, image.alias("row"))
    rows = rows.select("offset", "op", "source", "lsn", "row.*")
    order = Window.partitionBy(keys_of(table)).orderBy(F.desc("lsn"), F.desc("offset"))
    last = rows.withColumn("place", F.row_number().over(order)).where("place = 1")
    casts = {name: F.col(name).cast(kind) for name, kind in CASTS.items() if name in last.columns}
    return last.drop("place", "offset").withColumns(casts)


def merge(spark: SparkSession, messages: DataFrame, table: str, *, is_first: bool) -> None:
    rows = newest(messages, table)
    rows.createOrReplaceTempView("newest")
    columns = [name for name in rows.columns if name != "op"]
    if is_first:
        types = ", ".join(
            f"{field.name} {field.dataType.simpleString()}"
            for field in rows.schema
            if field.name != "op"
        )
        spark.sql(f"create table recipe.{table} ({types}) using iceberg")
    same = " and ".join(f"old.{key} = new.{key}" for key in keys_of(table))
    updates = ", ".join(f"old.{name} = new.{name}" for name in columns)
    spark.sql(f"""
        merge into recipe.{table} as old using newest as new on {same}
        when matched and new.op = 'd' and new.lsn > old.lsn then delete
        when matched and new.lsn > old.lsn then update set {updates}
        when not matched and new.op <> 'd' then
            insert ({", ".join(columns)}) values ({", ".join(f"new.{name}" for name in columns)})
    """)


@contextmanager
def counted(costs: dict[str, float], name: str) -> Iterator[None]:
    before = cpu_seconds()
    yield
    costs[name] = cpu_seconds() - before


def main() -> None:
    folder, *batches = sys.argv[1:]
    costs: dict[str, float] = {}
    jars = str(jars_dir().absolute())
    with environment(DBT_DEBEZIUM_LAKE=folder, DBT_DEBEZIUM_JARS=jars):
        with counted(costs, "start"):
            spark = spark_session("local")
        spark.sql("create schema recipe")
        for number, batch in enumerate(batches):
            with counted(costs, f"batch {number}"):
                messages = spark.read.schema(MESSAGE).json(batch.split(","))
                for table in COLUMNS:
                    merge(spark, messages, table, is_first=not number)
        rows = {
            table: spark.table(f"recipe.{table}")
            .where("source = 'big0'")
            .select(*[F.col(key).cast("string") for key in keys_of(table)[1:]])
            .collect()
            for table in COLUMNS
        }
        spark.stop()
    print(json.dumps({"costs": costs, "keys": rows}))


if __name__ == "__main__":
    main()
