"""From Kafka's topics into `landing.message`: each offset once, and what the broker knew kept.

`landing_file` reads who is to be read, `broker` asks what there is, `plan` decides which offsets
come next, and `land` fetches them with Spark.
"""

SCHEME = "kafka://"
"""How the address of a cluster begins."""
