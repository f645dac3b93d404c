"""The columns that tell rows apart, where neither message keys nor the schema-change topic do."""

from collections.abc import Iterable, Mapping, Sequence

from dbt_debezium.errors import DebeziumError
from dbt_debezium.reasons import PREVIEWS, Command
from dbt_debezium.scaffold.captured import full_names
from dbt_debezium.scaffold.tables import TableFacts, full_name


def parse_identities(texts: Iterable[str]) -> dict[str, list[str]]:
    """Read `--identity 'public.orders=id'`, or several columns with commas.

    Raises:
        DebeziumError: one is not of that form.

    >>> parse_identities(["public.items=order_id,line_no"])
    {'public.items': ['order_id', 'line_no']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        table, _, columns = text.partition("=")
        names = [name.strip() for name in columns.split(",")]
        if not table or not all(names):
            raise DebeziumError(
                f"--identity: '{text}' is not <table>=<columns>; "
                "write --identity 'public.items=order_id,line_no'"
            )
        found[table] = names
    return found


def name_identities(tables: Sequence[TableFacts], identities: Mapping[str, Sequence[str]]) -> None:
    """Note the columns that tell the rows of tables apart.

    Args:
        tables: what the messages show; those that are named are changed.
        identities: columns by the table's name with its schema, and its source before that or not.

    Raises:
        DebeziumError: no table has such a name, or it has no such column.
    """
    for name, columns in identities.items():
        named = [one for one in tables if name in full_names(one)]
        if not named:
            raise DebeziumError(
                f"--identity: no table is called '{name}'; write it like 'public.orders'"
            )
        for facts in named:
            for column in columns:
                if column not in facts.columns:
                    raise DebeziumError(
                        f"--identity: {name} has no column '{column}'; "
                        f"it has {', '.join(facts.columns)}"
                    )
            facts.named_identity = list(columns)


def indistinct_sentence(facts: TableFacts, source: str, command: Command) -> str | None:
    """That no row of a table can be told from another, and what ends it.

    >>> facts = TableFacts("shop", "public", "t", is_keyless=True, hides_old_rows=True)
    >>> indistinct_sentence(facts, "shop", "preview")[:44]
    'shop: public.t: updates come with no key and'
    >>> indistinct_sentence(TableFacts("shop", "public", "t"), "shop", "preview")
    """
    if not facts.is_keyless or facts.identity:
        return None
    table = full_name(facts.schema, facts.table)
    if facts.has_blind_keys and not facts.hides_old_rows:
        columns = ",".join(facts.key_columns) or "<columns>"
        remedy = (
            f"pass --identity '{table}={columns}'"
            if command in PREVIEWS
            else f"name {columns} as identity in its history model"
        )
        return (
            f"{source}: {table}: some messages have no key, and some updates tell their row by its "
            f"key alone: {remedy}"
        )
    if not facts.hides_old_rows:
        return None
    keys = (
        "dump the message keys too"
        if command in ("preview", "preview --complete")
        else "have the connector send keys"
    )
    remedy = (
        f"pass --identity '{table}=<columns>', or {keys}"
        if command in PREVIEWS
        else "name columns as identity in its history model, or land messages with their keys"
    )
    return (
        f"{source}: {table}: updates come with no key and without the row before them, so nothing "
        f"says which row they change: {remedy}"
    )
