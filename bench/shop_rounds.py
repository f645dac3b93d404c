"""What a round of 1,000 messages of the shop costs, all of it: landing, build, tests, publication.

    python bench/shop_rounds.py

The recorded change log lands in the order in which its transactions were committed, 1,000 messages
a round, in one process, for the models and tests that `scaffold` writes. A round that is not
published ends the benchmark. The first round plans everything for the first time and is not in the
mean.
"""

import gzip
import json
import sys
import tempfile
import time
from pathlib import Path

from bench import REPOSITORY, cpu_seconds

from dbt_debezium.build import BUILD, environment, run_dbt
from dbt_debezium.home import jars_dir
from dbt_debezium.landing.land import land
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.project_models import plan_scaffold
from dbt_debezium.scaffold.tables import observe
from dbt_debezium.settings import settings_of
from dbt_debezium.spark.session import spark_session

LOG = REPOSITORY / "tests" / "data" / "shop_basic" / "events.jsonl.gz"
MESSAGES = 1_000


def main() -> None:
    from dbt.adapters.spark.session import Cursor

    with gzip.open(LOG, "rt", encoding="utf-8") as lines:
        messages = [json.loads(line) for line in lines]
    texts = ((one["topic"], one["key"], one["value"]) for one in messages)
    tables = list(observe(texts, settings_of({})))
    statements = 0
    plain = Cursor.execute

    def execute(cursor: Cursor, sql: str, *parameters: object) -> None:
        nonlocal statements
        statements += 1
        plain(cursor, sql, *parameters)

    setattr(Cursor, "execute", execute)  # noqa: B010 - mypy refuses to assign to a method
    jars = str(jars_dir().absolute())
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-shop-") as name,
        environment(DBT_DEBEZIUM_LAKE=f"{name}/lake", DBT_DEBEZIUM_JARS=jars),
    ):
        folder = Path(name)
        write_project(REPOSITORY, folder / "project", [], {})
        plan_scaffold(folder / "project", tables, []).write(folder / "project")
        spark = spark_session("local")
        costs = []
        for number, start in enumerate(range(0, len(messages), MESSAGES), start=1):
            part = folder / f"{number}.jsonl"
            part.write_text("".join(f"{json.dumps(one)}\n" for one in messages[start:][:MESSAGES]))
            statements, cpu, begun = 0, cpu_seconds(), time.monotonic()
            land(spark, part)
            if not run_dbt(BUILD, folder / "project", on_line=print):
                sys.exit(f"shop_rounds.py: round {number} was not published")
            seconds, cost = time.monotonic() - begun, cpu_seconds() - cpu
            print(f"round {number}: {cost:5.1f} CPU-s {seconds:5.1f} s {statements:4} statements")
            costs.append(cost)
        print(f"mean without the first: {sum(costs[1:]) / len(costs[1:]):.1f} CPU-s")


if __name__ == "__main__":
    main()
