"""`landing.schema`: the schemas that landed messages name, so that a rebuild needs no registry."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

from dbt_debezium.errors import DebeziumError
from dbt_debezium.registry.found import Found
from dbt_debezium.registry.framing import HEADERS, ID_LENGTH, PREFIX_LENGTH
from dbt_debezium.table_properties import METADATA_PROPERTIES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

    from dbt_debezium.registry.client import Registry
    from dbt_debezium.registry.texts import Schemas

TABLE: Final = "landing.schema"
MOST_UNKNOWN: Final = 1000
"""Of one topic. So many numbers behind zero bytes are no ids, and no registry is asked for them."""
SHOWN_IDS: Final = 3
ID_COLUMNS: Final = {"key": "id_of_key", "value": "id_of_value"}
"""By part of a message, the column for the id that it names."""
Has = Callable[[str], bool]

CREATE_TABLE: Final = f"""
create table if not exists {TABLE} (
    topic string comment 'Whose messages name the id.',
    schema_id string comment 'A number; behind contentId: or globalId: that of a header.',
    schema_type string comment 'AVRO, JSON or PROTOBUF; null while no registry has given it.',
    schema_text string comment 'As the registry has it; null while it has not given it.',
    registry string comment 'Address of the registry that was asked; null where none is named.'
)
using iceberg
tblproperties (
    'format-version' = '2',
    {METADATA_PROPERTIES}
)
"""
MERGE: Final = f"""
merge into {TABLE} as known
using asked
on known.topic = asked.topic and known.schema_id = asked.schema_id
when matched then update set *
when not matched then insert *
"""


class Named(NamedTuple):
    """An id, and a topic whose messages name it."""

    topic: str
    schema_id: str


def landed_schemas(spark: "SparkSession") -> "Schemas":
    """All schemas that are known, for `texts.message_texts`."""
    if not spark.catalog.tableExists(TABLE):
        return {}
    rows = spark.table(TABLE).where("schema_text is not null").collect()
    return {(row.topic, row.schema_id): Found(row.schema_type, row.schema_text) for row in rows}


def observed(messages: "DataFrame", seen: "Observation") -> "DataFrame":
    """Messages that tell, while they are written, which ids they name, for `found_ids`."""
    return _with_ids(messages).observe(seen, *_sets()).drop(*ID_COLUMNS.values())


def _with_ids(messages: "DataFrame") -> "DataFrame":
    """Messages with the id that the key and the value name.

    Columns are computed by generated code, and what an aggregate computes for each row is not.
    """
    return messages.withColumns(
        {
            name: F.when(
                _id(part).isNotNull(),
                F.struct(
                    "topic",
                    _id(part).alias("schema_id"),
                    (F.substring(part, PREFIX_LENGTH + 1, 1) == F.lit(b"{")).alias("may_be_json"),
                ),
            )
            for part, name in ID_COLUMNS.items()
        }
    )


def _sets() -> "list[Column]":
    return [F.collect_set(name).alias(name) for name in ID_COLUMNS.values()]


def _id(part: str) -> "Column":
    """The id of a part of the message, as `framing` finds it."""
    column = F.col(part)
    number = F.conv(F.hex(F.substring(column, 2, PREFIX_LENGTH - 1)), 16, 10)
    is_framed = (F.substring(column, 1, 1) == F.lit(b"\0")) & (
        F.octet_length(column) > PREFIX_LENGTH
    )
    in_headers = [
        F.concat(F.lit(f"{kind}:"), F.conv(F.hex(F.get(_values(name), F.lit(0))), 16, 10))
        for name, (described, kind) in HEADERS.items()
        if described == part
    ]
    return F.coalesce(
        F.when(F.size("headers") > 0, F.coalesce(*in_headers)),
        F.when(is_framed & (number != "0"), number),
    )


def _values(name: str) -> "Column":
    """The values of a header, as far as they are ids."""
    return F.transform(
        F.filter(
            "headers",
            lambda header: (header["key"] == name) & (F.octet_length(header["value"]) == ID_LENGTH),
        ),
        lambda header: header["value"],
    )


def landed_ids(messages: "DataFrame", registry: "Registry | None") -> set[Named]:
    """The ids that rows of `landing.message` name."""
    row = _with_ids(messages).agg(*_sets()).head()
    return found_ids(row.asDict() if row else {}, registry)


def found_ids(metrics: Mapping[str, Any], registry: "Registry | None") -> set[Named]:
    """What `observed` has found. JSON behind the bytes of a registry needs none."""
    return {
        Named(one["topic"], one["schema_id"])
        for ids in metrics.values()
        for one in ids
        if registry or not one["may_be_json"]
    }


def learn(
    spark: "SparkSession", found: Iterable[Named], registry: "Registry | None", has: Has
) -> dict[str, list[str]]:
    """Keep the schemas that messages name, and ask again for those that no registry has given.

    Args:
        found: what landed messages name.
        registry: of the topics that `has` takes; None where no registry is named.
        has: whether a topic is one of the block that lands.

    Returns:
        By topic of the block, the ids whose schemas are still not known.

    Raises:
        DebeziumError: the registry does not answer. What it has given before is kept.
    """
    wanted = set(found)
    if not spark.catalog.tableExists(TABLE):
        if not wanted:
            return {}
        spark.sql(CREATE_TABLE)
    rows = spark.table(TABLE).collect()
    known = {Named(row.topic, row.schema_id) for row in rows if row.schema_text is not None}
    waiting = {Named(row.topic, row.schema_id) for row in rows} - known
    counts = Counter(one.topic for one in (wanted | waiting) - known)
    wanted = {one for one in wanted - known if counts[one.topic] <= MOST_UNKNOWN}
    asked = {one for one in wanted | waiting if registry and has(one.topic)}
    answers: dict[Named, Found | None] = {}
    failure: DebeziumError | None = None
    for one in sorted(asked) if registry else ():
        try:
            answers[one] = registry.schema(one.schema_id) if registry else None
        except DebeziumError as error:
            # So that each landing comes further, however slow the registry is.
            failure = error
            break
    given = {one: answer for one, answer in answers.items() if answer is not None}
    url = registry.url if registry else None
    changed = [
        (*one, *(given.get(one) or (None, None)), url if one in asked else None)
        for one in sorted((wanted - waiting) | given.keys())
    ]
    if changed:
        asked_rows = spark.createDataFrame(changed, spark.table(TABLE).schema)
        asked_rows.createOrReplaceTempView("asked")
        spark.sql(MERGE)
        spark.catalog.dropTempView("asked")
    if failure is not None:
        raise failure
    unknown: dict[str, list[str]] = defaultdict(list)
    for one in sorted((wanted | waiting) - given.keys()):
        if has(one.topic):
            unknown[one.topic].append(one.schema_id)
    return unknown


def unknown_schema_sentences(
    where: str, unknown: Mapping[str, Sequence[str]], names_no_registry: bool
) -> list[str]:
    """What is to be done about schemas that no registry has given, a sentence for each topic.

    Args:
        where: the block's name, or the address.
        unknown: by topic, the ids.
        names_no_registry: whether the block has no registry to ask.
    """
    what = (
        "name the registry in landing.yml, as registry: {url: https://host:8081}"
        if names_no_registry
        else "look whether url names the registry that the connector writes to"
    )
    return [
        f"{where}: {topic}: no schema is known for the messages with schema id "
        f"{', '.join(ids[:SHOWN_IDS])}{' and more' if len(ids) > SHOWN_IDS else ''}, so they "
        f"are quarantined; {what}, and land; once a run has read them, "
        "`dbt-debezium quarantine --reason unknown_schema --retry` lands them again"
        for topic, ids in sorted(unknown.items())
    ]
