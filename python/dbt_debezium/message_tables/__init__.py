"""From a table that someone else fills into `landing.message`: each snapshot or file once.

The table has a row for each message, with the columns of Spark's Kafka source. `block` says which
table it is, `snapshots` and `files` find what is new in it, and `land` appends that.
"""

SCHEME = "table://"
"""How the address of a table begins."""
