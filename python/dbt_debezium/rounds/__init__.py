"""`dbt-debezium run`, once or all day: land, look for news, build, publish.

`round` is one round, and `loop` repeats it. `sources` looks for new messages and lands them. `news`
decides without Spark whether a build could change anything: it compares the project
(`fingerprint`), the tables (`catalog`) and the ends of the topics (`broker_ends`) with those of the
run that published last. `health` and `told` report each round.
"""
