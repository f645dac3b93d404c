"""What Spark, its Java and its Python workers spill is readable for their user alone."""

import tempfile
from pathlib import Path

import pytest
from lake import open_lake
from pyspark.sql.functions import udf

from dbt_debezium.spark.java_methods import java
from dbt_debezium.spark.temp import spark_temp

pytestmark = pytest.mark.slow


def test_spark_java_and_pythons_workers_write_into_a_private_folder(tmp_path: Path) -> None:
    own = spark_temp()
    with open_lake(tmp_path, []) as lake:
        jvm = java(lake.spark)
        blocks = jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager()
        spills = Path(str(next(iter(blocks.localDirsString()))))
        temporary = lake.spark.range(1).select(udf(lambda _: tempfile.gettempdir())("id"))
        workers = temporary.collect()[0][0]
        assert spills.parent == own
        assert Path(str(jvm.java.lang.System.getProperty("java.io.tmpdir"))) == own
        assert Path(workers) == own
        assert {one.stat().st_mode & 0o777 for one in (own, own.parent)} == {0o700}
