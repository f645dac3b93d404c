"""The settings of a project: type, default and meaning of each, and what refuses a bad value.

dbt takes the defaults from `vars` of the package's dbt_project.yml, which a test compares with
these. docs/settings.md is written from here.
"""

import json
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from dbt_debezium.errors import DebeziumError
from dbt_debezium.patterns import matches
from dbt_debezium.reasons import FLAGS, HELD

CDL_SOURCE: Final = "cdl"
"""The source of CDL 1.0, which names none, unless a setting does; 2.0 is printed with this name."""
FOREVER: Final = "forever"
MOST_DAYS: Final = 36_500
"""That a setting can name, a hundred years: no date goes back by millions of them."""


class Says(NamedTuple):
    """What is said of a setting."""

    wanted: str
    """What it must be, in a sentence."""
    meaning: str
    """Of docs/settings.md, in Markdown."""
    only_in_file: str = ""
    """Why `--vars` must not give it."""
    names: Collection[str] = ()
    """What its patterns may name; without any, everything."""


Name = Annotated[str, Meta(pattern=r"^[^*]+$")]
Names = Annotated[list[str], Meta(min_length=1)]
FromZero = Annotated[float, Meta(ge=0)]
Days = Literal["forever"] | Annotated[int, Meta(ge=1, le=MOST_DAYS)]
DAYS: Final = f"a whole number of days from 1 to {MOST_DAYS}, or {FOREVER}"
FROM_ZERO: Final = "a number from 0 on"
MAINTAINED: Final = "maintenance does not see --vars"


def like(example: str) -> str:
    return f"a list of patterns like {example}"


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a project, as its models and commands read them."""

    cdl_heartbeat_tables: Annotated[
        list[str],
        Says(
            like("cdc_cdl.cdc_heartbeat"),
            "Tables whose rows are heartbeats of Huawei CDL, as patterns of `schema.table`. Case "
            "does not matter.",
        ),
    ] = msgspec.field(default_factory=lambda: ["cdc_cdl.cdc_heartbeat"])
    """A set HEARTBEAT_IDENTIFIER says nothing: rows carry one too."""

    cdl_sources: Annotated[
        dict[str, Name],
        Says(
            "a mapping of patterns of topics to sources like {'bank_*': 'bank'}",
            "Names the sources of CDL 1.0, whose messages name none, by patterns of topics: "
            "`{'bank_*': bank}`. The first pattern that fits counts. Messages of all other topics "
            "belong to the source `cdl`. Set it in `dbt_project.yml` before the first run, because "
            "what was read keeps its source.",
        ),
    ] = {}

    generic_sources: Annotated[
        dict[str, Names],
        Says(
            "a mapping of patterns of sources to fields of source like "
            "{'ifx*': ['commit_lsn', 'change_lsn']}",
            "For a connector that this project does not know: patterns of sources, with the fields "
            "of `source` whose numbers order the changes. Name the commit's field first: "
            "`{'ifx*': [commit_lsn, change_lsn]}`. "
            "[Connectors](connectors.md#connectors-that-are-not-known) says what such a source "
            "must keep to.",
        ),
    ] = {}

    hashed: Annotated[
        dict[str, Names],
        Says(
            "a mapping of patterns of tables to columns like {'public.customers': ['email']}",
            "Columns whose values are [replaced by a keyed "
            "hash](access.md#columns-that-must-not-be-published-in-clear) before anything is "
            "built, by patterns of `schema.table`: `{'public.customers': [email]}`. All patterns "
            "that fit count.",
            "a run without it would build clear values",
        ),
    ] = {}

    keep_message_days: Annotated[
        Days,
        Says(
            DAYS,
            "How many days landed messages are kept, counted from when they were sent and not from "
            "when they landed: a whole number up to 36500, or `forever`. "
            "[Maintenance](operating.md#old-messages-and-versions) removes older ones, and then "
            "`--full-refresh` is refused.",
            MAINTAINED,
        ),
    ] = "forever"

    keep_version_days: Annotated[
        Days,
        Says(
            DAYS,
            "How many days a version of a row is kept after the source has committed a later one: "
            "a whole number up to 36500, or `forever`. Earlier states [cannot be "
            "queried](querying.md#how-far-back-can-i-ask) then.",
            MAINTAINED,
        ),
    ] = "forever"

    landing_reaches_the_end: Annotated[
        bool,
        Says(
            "true or false",
            "Set it to `true`, for one run, when everything that was sent has landed, up to the "
            "end of every partition, and the last transaction was sent whole. Snapshots, and "
            "transactions that nothing counts, then need not wait for later messages. Offsets "
            "without a message are no gap then.",
        ),
    ] = False

    longest_query_hours: Annotated[
        FromZero,
        Says(
            FROM_ZERO,
            "How long a query may run. What a later run has replaced stays that long for it, and "
            "then [maintenance](operating.md#maintenance) removes it.",
        ),
    ] = 1

    maintain_after_runs: Annotated[
        FromZero,
        Says(
            FROM_ZERO,
            "After how many runs `dbt-debezium run` maintains the lake by itself; `0` for never. "
            "With the target `connect` it only [reminds "
            "you](cluster.md#what-the-target-connect-cannot-do).",
        ),
    ] = 50

    maintain_seconds: Annotated[
        FromZero,
        Says(
            FROM_ZERO,
            "How long a run may spend on it. What is left comes with the next run.",
        ),
    ] = 60

    not_ingested_tables: Annotated[
        list[str],
        Says(
            like("public.audit_*"),
            "Tables that END counts but that you do not land, as patterns of `schema.table`. Their "
            "changes are not waited for, so a table that does land is "
            "[flagged](runbook.md#not_waited_for).",
        ),
    ] = []

    public_as_table: Annotated[
        list[str],
        Says(
            like("order*"),
            "Public tables that are also kept as [plain Iceberg tables](querying.md#plain-tables) "
            "in the schema `public_tables`, as patterns of their names: `[orders, 'order_*', "
            "published_cut]`. Tables of the source, marts, `held_transaction`, `table_flag` and "
            "`published_cut` can be named, but no histories. The target `connect` [cannot keep "
            "them](cluster.md#what-the-target-connect-cannot-do).",
            "a run without it would leave tables at an earlier commit",
        ),
    ] = []

    public_schema: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")],
        Says(
            "a name of letters, digits and underscores",
            "The schema that readers use. That of `public_as_table` has the same name with "
            "`_tables` after it.",
        ),
    ] = "public"

    quiet_partition_seconds: Annotated[
        FromZero,
        Says(
            FROM_ZERO,
            "After how many seconds a held snapshot no longer waits for partitions of Kafka [in "
            "which nothing comes](kafka.md#partitions-in-which-nothing-comes). `0`: it waits for a "
            "later message in each.",
            "landings do not see --vars",
        ),
    ] = 300

    refused_flags: Annotated[
        list[str],
        Says(
            like("snapshot_*"),
            "[Flags](runbook.md#flags) that you do not accept, as patterns. A run that raises one "
            "publishes nothing, unless an operator has "
            "[accepted](runbook.md#accepting-what-stays) it for that table. The default refuses "
            "tables without a key [whose snapshot may have read rows "
            "twice](runbook.md#snapshot_may_double_rows).",
            names=FLAGS,
        ),
    ] = msgspec.field(default_factory=lambda: ["snapshot_may_double_rows"])

    refused_holds: Annotated[
        list[str],
        Says(
            like("refused_proof"),
            "[Reasons to hold a transaction](runbook.md#held) that you do not accept, as patterns. "
            "A run that holds one for such a reason fails, and publishes nothing for any source.",
            names=HELD,
        ),
    ] = []

    refused_proofs: Annotated[
        list[Literal["watermark", "none"]],
        Says(
            "a list of watermark and none",
            "Proofs that you do not accept: `watermark`, `none` or both. Transactions without a "
            "better proof are held. To have the run fail instead, add `refused_holds: "
            "[refused_proof]`.",
        ),
    ] = []

    repeated_snapshot_missing_table: Annotated[
        Literal["keep", "empty"],
        Says(
            "keep or empty",
            "What happens to a table of which a repeated initial snapshot read no row: `keep` its "
            "rows, or `empty` it.",
        ),
    ] = "keep"

    sources_without_truncate: Annotated[
        list[str],
        Says(
            like("shop_*"),
            "Sources that never send TRUNCATE, which is Debezium's default, as patterns. `status` "
            "stops reminding you of them. For MySQL and MariaDB it also stops a missing GTID from "
            "holding commits, since such a gap could hide a TRUNCATE.",
        ),
    ] = []

    transaction_topics: Annotated[
        dict[str, Name],
        Says(
            "a mapping of patterns of transaction topics to topic prefixes like "
            "{'eu-west.*.transaction': 'shop'}",
            "Topic prefixes of connectors, by patterns of their transaction topics: "
            "`{'eu-west.*.transaction': shop}`. The first pattern that fits counts. You need it "
            "only where the messages do not show whose BEGIN and END a topic holds; `preview`, "
            "`run` and `status` then ask for it.",
        ),
    ] = {}

    unavailable_value_placeholder: Annotated[
        Annotated[str, Meta(pattern=r"^[!#-\[\]-~]+$")],
        Says(
            'a text of ASCII without blanks, " and \\',
            "The text that the connector sends in place of a value that PostgreSQL left out "
            "(`unavailable.value.placeholder`). It is the same for all sources. A new value does "
            "not change what is published until a `--full-refresh`.",
        ),
    ] = "__debezium_unavailable_value"

    watermark_sources: Annotated[
        list[str],
        Says(
            like("shop_*"),
            "Sources whose transactions cannot be counted, as patterns, for example because a "
            "transform drops changes. Their cut is what every partition has reached, and `proof` "
            "says `watermark`. Sources without transaction metadata need no entry.",
        ),
    ] = []

    def hashed_columns(self, schema: str | None, table: str) -> frozenset[str]:
        """The columns of a table whose values are hashed, in lower case.

        >>> settings = Settings(hashed={"public.*": ["Email"], "public.users": ["id"]})
        >>> sorted(settings.hashed_columns("public", "users")), settings.hashed_columns(None, "a")
        (['email', 'id'], frozenset())
        """
        name = f"{schema}.{table}" if schema else table
        found = [names for pattern, names in self.hashed.items() if matches(pattern, name)]
        return frozenset(column.lower() for names in found for column in names)

    def cdl_source(self, topic: str) -> str:
        """The source of CDL 1.0 on a topic.

        >>> named = Settings(cdl_sources={"bank_*": "bank"})
        >>> named.cdl_source("bank_1"), Settings().cdl_source("bank_1")
        ('bank', 'cdl')
        """
        for pattern, source in self.cdl_sources.items():
            if matches(pattern, topic):
                return source
        return CDL_SOURCE

    def is_cdl_heartbeat(self, schema: str, table: str) -> bool:
        """Whether rows of the table are heartbeats of CDL.

        >>> Settings().is_cdl_heartbeat("CDC_CDL", "CDC_HEARTBEAT")
        True
        """
        name = f"{schema}.{table}".lower()
        return any(matches(pattern.lower(), name) for pattern in self.cdl_heartbeat_tables)

    def transaction_source(self, topic: str) -> str | None:
        """The source of a transaction topic; None where the setting names none.

        >>> Settings(transaction_topics={"eu-west.*": "mm"}).transaction_source("eu-west.tx")
        'mm'
        """
        for pattern, source in self.transaction_topics.items():
            if matches(pattern, topic):
                return source
        return None

    def generic_order(self, source: str | None) -> Sequence[str] | None:
        """The fields that order a source's changes; None where the setting names none.

        >>> Settings(generic_sources={"ifx*": ["commit_lsn"]}).generic_order("ifx_1")
        ['commit_lsn']
        """
        for pattern, order in self.generic_sources.items():
            if source and matches(pattern, source):
                return order
        return None


DEFAULTS: Final = Settings()
SAYS: Final[Mapping[str, Says]] = {
    name: annotated.__metadata__[-1]
    for name, annotated in typing.get_type_hints(Settings, include_extras=True).items()
}


def settings_of(variables: Mapping[str, object], given: Mapping[str, object] = {}) -> Settings:
    """The settings of a project.

    Args:
        variables: vars of dbt_project.yml; others than ours are left alone.
        given: `--vars`, which count first.

    Raises:
        DebeziumError: a sentence for each that is not what it must be.

    >>> settings_of({"cdl_sources": ["bank"], "public_schema": "public"}, {"hashed": {}})
    Traceback (most recent call last):
    dbt_debezium.errors.DebeziumError: dbt_project.yml: cdl_sources must be a mapping of \
patterns of topics to sources like {'bank_*': 'bank'}; got ["bank"]
    --vars: hashed must be set in dbt_project.yml, because a run without it would build clear \
values; leave it out of --vars
    """
    problems, read = [], {}
    for field in msgspec.structs.fields(Settings):
        name, says = field.name, SAYS[field.name]
        if name in given and says.only_in_file:
            problems.append(
                f"--vars: {name} must be set in dbt_project.yml, because {says.only_in_file}; "
                "leave it out of --vars"
            )
        where = "--vars" if name in given else "dbt_project.yml"
        value = given.get(name, variables.get(name, getattr(DEFAULTS, name)))
        try:
            read[name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            shown = json.dumps(value, ensure_ascii=False, default=str)
            problems.append(f"{where}: {name} must be {says.wanted}; got {shown}")
            continue
        for pattern in read[name] if says.names else ():
            if not any(matches(pattern, one) for one in says.names):
                said = f"{where}: {name}: {json.dumps(pattern)} names none of "
                problems.append(said + ", ".join(sorted(says.names)))
    if problems:
        raise DebeziumError(*problems)
    return Settings(**read)
