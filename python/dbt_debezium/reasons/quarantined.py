"""Why a message cannot be read. It stays in the landing, and its transaction is held."""

from typing import Final

from dbt_debezium.reasons.reason import Reason, by_name

QUARANTINED: Final = by_name(
    [
        Reason(
            "bad_avro",
            "S21",
            "its bytes are not what its schema in the registry says",
            "look whether `registry` in landing.yml is the one that the connector writes to",
        ),
        Reason(
            "bad_json",
            "S21",
            "key or value is no JSON object",
            "compare it with the message in Kafka, and {land} it again as it was sent",
        ),
        Reason(
            "bad_type",
            "S19",
            "a field of the envelope has another type than Debezium gives it, or a number has over "
            "1,000 digits or a name over 50,000 characters, which Spark does not read",
            "take off the transform that changes it, or report the message's form as a bug",
        ),
        Reason(
            "changed_columns_only",
            "S12",
            "it has only the columns that changed, in YugabyteDB's form",
            "set plugin.name=pgoutput at the connector and REPLICA IDENTITY DEFAULT or FULL on the "
            "tables, and take a new initial snapshot",
        ),
        Reason(
            "delete_without_identity",
            "S12",
            "a delete has neither key nor row",
            "set REPLICA IDENTITY FULL on the table or give it a key, and take a new initial "
            "snapshot",
        ),
        Reason(
            "flattened",
            "S0",
            "it is the row alone, as ExtractNewRecordState leaves it",
            "take that transform off at the connector (Confluent Cloud: after.state.only=false), "
            "and take a new initial snapshot",
        ),
        Reason(
            "internal_error",
            "P3",
            "our reader failed on the message",
            "report it with the message's form, without its values",
        ),
        Reason(
            "key_format",
            "S9",
            "its key is not JSON with the key's columns",
            "set key.converter=org.apache.kafka.connect.json.JsonConverter, take off transforms of "
            "the key, and take a new initial snapshot",
        ),
        Reason(
            "lob_not_sent",
            "S22",
            "CDL names a column in LOB_COLUMNS and sends no value of it",
            "find out at the source whether the value is null or was left out",
        ),
        Reason(
            "no_after",
            "S12",
            "an insert, update or read has no row",
            "take off the transform that drops fields, and {land} what the connector wrote",
        ),
        Reason(
            "no_position",
            "S2",
            "the message does not say where in the log it stands",
            "set provide.transaction.metadata=true at the connector, or take off the transform "
            "that drops fields; then take a new initial snapshot",
        ),
        Reason(
            "no_source",
            "S0",
            "the envelope does not name its connector, source, schema or table",
            "take off the transform that flattens or drops fields, such as ExtractNewRecordState",
        ),
        Reason(
            "not_envelope",
            "S0",
            "it is JSON, and not in a form that Debezium writes",
            "take off transforms of the connector, or leave out a topic that is not Debezium's",
        ),
        Reason(
            "other_format",
            "S0",
            "it is neither JSON as JsonConverter writes it nor Avro of a schema registry",
            "set key.converter and value.converter to org.apache.kafka.connect.json.JsonConverter, "
            "or to an Avro converter",
        ),
        Reason(
            "other_producer",
            "S0",
            "it is in the form of another program than a connector of Debezium",
            "leave its topic out, and {land} the topics that the connector itself writes",
        ),
        Reason(
            "too_deep",
            "S21",
            "its JSON is nested deeper than 200 levels",
            "leave the column out with column.exclude.list",
        ),
        Reason(
            "too_large",
            "S21",
            "it is longer than 10 MB",
            "leave the column out with column.exclude.list",
        ),
        Reason(
            "unknown_connector",
            "S0",
            "its connector, or the form of its transaction id, is not known here",
            "name its order in generic_sources, if its source block has numbers in the order of "
            "commits",
        ),
        Reason(
            "unknown_op",
            "S0",
            "op is none of c, r, u, d, t and m",
            "report it with the connector's version",
        ),
        Reason(
            "unknown_schema",
            "S21",
            "its schema is in a schema registry, and the lake does not have it",
            "name the registry in landing.yml and land, then land these again with "
            "`dbt-debezium quarantine --reason unknown_schema --retry`",
            preview="land the topics from Kafka instead, with `registry` in landing.yml",
        ),
        Reason(
            "unsupported_connector",
            "S0",
            "its connector's changes are no rows of tables, or have no order of transactions",
            "leave its topics out",
        ),
    ]
)
"""By name. The models add DISCARDED."""

DISCARDED: Final = Reason(
    "discarded",
    "S16",
    "an operator has discarded its transaction",
    "have the table read again (`dbt-debezium signal`) if the rows are wanted",
)
