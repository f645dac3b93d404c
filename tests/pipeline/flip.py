"""Flip the pointer of a lake to and fro as fast as it goes: `python flip.py COMMITS FLIPS`.

A process of its own, so that a reader's catalog and this one's share nothing. Each flip is the
write that publishes: one overwrite of the table `cut`. It goes on until its input is closed and the
pointer has been flipped at least FLIPS times, and prints how often it was.
"""

import sys
from itertools import count
from threading import Thread

from dbt_debezium.session import spark_session

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
    end
from build.cut
"""


def main() -> None:
    commits, flips = int(sys.argv[1]), int(sys.argv[2])
    spark = spark_session("local")
    names = spark.table("build.cut").selectExpr("inline(source_cuts)").columns
    values = {name: f"source_cut.{name}" for name in names}
    listener = Thread(target=sys.stdin.read, daemon=True)
    listener.start()
    print("ready", flush=True)
    for number in count(1):
        # In strides, so that one cut differs much from the next.
        values["commit_number"] = f"cast({1 + number * 97 % commits} as bigint)"
        fields = ", ".join(f"'{name}', {value}" for name, value in values.items())
        spark.sql(FLIP.format(fields=fields))
        if number >= flips and not listener.is_alive():
            print(number, flush=True)
            return


if __name__ == "__main__":
    main()
