"""Flip the pointer of a lake to and fro, once for each line of its input: `python flip.py COMMITS`.

A process of its own, so that a reader's catalog and this one's share nothing. Each flip is the
write that publishes: one overwrite of the table `cut`.
"""

import sys

from dbt_debezium.spark.session import spark_session

FLIP = """
insert overwrite build.cut
select
    channel, cut_id, landing_id, starting_cut_id, starting_landing_id, is_clean,
    case
        when channel = 'published' then transform(
            source_cuts,
            source_cut -> named_struct({fields})
        )
        else source_cuts
    end,
    lease_token, hashed_columns, hash_key
from build.cut
"""


def main() -> None:
    commits = int(sys.argv[1])
    spark = spark_session("local")
    names = spark.table("build.cut").selectExpr("inline(source_cuts)").columns
    values = {name: f"source_cut.{name}" for name in names}
    print("ready", flush=True)
    for number, _ in enumerate(sys.stdin, 1):
        # In strides, so that one cut differs much from the next.
        values["commit_number"] = f"cast({1 + number * 97 % commits} as bigint)"
        fields = ", ".join(f"'{name}', {value}" for name, value in values.items())
        spark.sql(FLIP.format(fields=fields))


if __name__ == "__main__":
    main()
