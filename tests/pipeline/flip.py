"""Flip the pointer of a lake to and fro as fast as it goes: `python flip.py COMMITS FLIPS`.

A process of its own, so that a reader's catalog and this one's share nothing. Each flip is the
write that publishes: one overwrite of the table `cut`.
"""

import sys

from dbt_debezium.session import spark_session

FLIP = """
insert overwrite build.cut
select
    channel, cut_id, landing_id, starting_cut_id, starting_landing_id, is_clean,
    case
        when channel = 'published' then transform(
            source_cuts,
            source_cut -> named_struct(
                'source', source_cut.source,
                'commit_number', cast({commit_number} as bigint),
                'commit_position', source_cut.commit_position,
                'transaction_id', source_cut.transaction_id,
                'committed_at', source_cut.committed_at,
                'link_position', source_cut.link_position,
                'marker_offset', source_cut.marker_offset,
                'last_marker_partition', source_cut.last_marker_partition,
                'snapshot_position', source_cut.snapshot_position,
                'first_transaction_ids', source_cut.first_transaction_ids,
                'proof', source_cut.proof,
                'decisions', source_cut.decisions
            )
        )
        else source_cuts
    end
from build.cut
"""


def main() -> None:
    commits, flips = int(sys.argv[1]), int(sys.argv[2])
    spark = spark_session("local")
    print("ready", flush=True)
    for number in range(flips):
        # In strides, so that one cut differs much from the next.
        spark.sql(FLIP.format(commit_number=1 + number * 97 % commits))
    print("done", flush=True)


if __name__ == "__main__":
    main()
