"""Messages whose schema is in a schema registry: Avro, in the framings of Confluent and Apicurio.

`framing` finds the id of a message's schema, `client` asks the registry for it, and `store` keeps
it in `landing.schema`, so that a rebuild needs no registry. `decoder` turns the bytes into the text
that Kafka Connect's JsonConverter would have written of the same message, with its schema block
from `connect_schema`. Whatever reads JSON reads that text.
"""
