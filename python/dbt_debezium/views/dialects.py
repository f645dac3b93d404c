"""Spark's SQL of the public views in the dialects of other engines. No Spark in this module.

sqlglot translates all but four things: how the pointer's array becomes rows, a regular expression
that looks ahead, fields of a struct, and how Snowflake stores names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from sqlglot import exp, parse_one

from dbt_debezium.views.spark_functions import SparkForDuckdb, unfold_maps
from dbt_debezium.writers import sql

Dialect = Literal["duckdb", "trino", "snowflake"]

LOOKAHEAD: Final = re.compile(r"^(?P<start>.*)\(\?=(?P<end>.*)\)$")
ROWS: Final = "source_cut"
"""What the rows of the pointer's array are called."""
VARIABLE: Final = "lake_tables"
"""The variable of DuckDB that holds where each table's newest metadata is."""


@dataclass(frozen=True, slots=True)
class Lake:
    """What a translation must know of the tables."""

    catalog: str
    """The engine's name for their catalog; empty where their names need none."""
    fields: dict[str, str]
    """What the pointer says of each source: names with their Spark types, in their order."""
    columns: dict[str, str] = field(default_factory=dict)
    """Columns of the history that a view makes structs of, with their Spark types."""


def tables_of(text: str) -> list[tuple[str, str]]:
    """The tables that a view reads, each with its schema.

    >>> tables_of("with a as (select 1 from build.cut) select 1 from a inner join build.commit")
    [('build', 'commit'), ('build', 'cut')]
    """
    tables = parse_one(text, read="spark").find_all(exp.Table)
    return sorted({(table.db, table.name) for table in tables if table.db})


def create_view(dialect: Dialect, schema: str, name: str, text: str, lake: Lake) -> str:
    """The statement that makes one view.

    >>> print(create_view("duckdb", "public", "a", "select b.`c` from build.b", Lake("lake", {})))
    create or replace view public."a" as
    SELECT
      b."c"
    FROM lake.build.b
    """
    query = translated(dialect, text, lake)
    shown = query.sql(dialect=dialect, pretty=True, comments=False)
    # By default Trino would read the tables with the rights of whoever made the view.
    rights = " security invoker" if dialect == "trino" else ""
    return f"create or replace view {schema}.{identifier(dialect, name)}{rights} as\n{shown}"


def translated(dialect: Dialect, text: str, lake: Lake) -> exp.Expr:
    """A view's query, still to be written in the dialect."""
    query = parse_one(text, read=SparkForDuckdb if dialect == "duckdb" else "spark")
    if dialect == "duckdb":
        unfold_maps(query)
    for table in query.find_all(exp.Table):
        if table.db and lake.catalog:
            table.set("catalog", exp.to_identifier(lake.catalog))
    # A type of Spark's `sum(bigint)`, which others widen.
    for total in list(query.find_all(exp.Sum)):
        total.replace(exp.cast(total.copy(), "bigint"))
    for call in list(query.find_all(exp.RegexpReplace)):
        call.replace(without_lookahead(call, dialect))
    for counted in list(query.find_all(exp.Distinct)):
        if dialect != "duckdb":
            counted.set("expressions", [one_value(one, dialect) for one in counted.expressions])
    for pointer in query.find_all(exp.CTE):
        if pointer.alias == "pointer" and dialect != "duckdb":
            unfold(query, pointer, dialect, lake)
    if dialect == "trino":
        for struct in list(query.find_all(exp.Struct)):
            struct.replace(row_of_trino(struct, lake))
    if dialect == "snowflake":
        for column in list(query.find_all(exp.Column)):
            if column.db:
                column.replace(field_of_object(column))
        for name in query.find_all(exp.Identifier):
            if name.quoted:
                name.set("this", stored_by_snowflake(name.name))
    return query


def unfold(query: exp.Expr, pointer: exp.CTE, dialect: Dialect, lake: Lake) -> None:
    """Have the pointer give one row for each source, with its fields as columns."""
    for column in list(query.find_all(exp.Column)):
        if column.table == ROWS:
            column.set("table", exp.to_identifier("pointer"))
    used = {column.name for column in query.find_all(exp.Column) if column.table == "pointer"}
    fields = [name for name in lake.fields if name in used]
    (cut,) = pointer.this.find_all(exp.Table)
    cut_name = cut.sql(dialect=dialect)
    condition = pointer.this.args["where"].sql(dialect=dialect)
    if dialect == "trino":
        columns = ", ".join(f"{ROWS}.{name}" for name in fields)
        rows = f"cross join unnest(cut.source_cuts) as {ROWS} ({', '.join(lake.fields)})"
    else:
        types = {name: exp.DataType.build(lake.fields[name], dialect="spark") for name in fields}
        columns = ", ".join(
            f"{ROWS}.value['{name}']::{snowflake_type(one)} as {name}"
            for name, one in types.items()
        )
        rows = f", lateral flatten(input => cut.source_cuts) as {ROWS}"
    sql = f"select cut.cut_id, {columns} from {cut_name} {rows} {condition}"
    pointer.set("this", parse_one(sql, read=dialect))


def snowflake_type(spark_type: exp.DataType) -> str:
    """What a field of a flattened object is cast to; arrays keep the type of their elements."""
    return "array" if spark_type.is_type("array") else spark_type.sql(dialect="snowflake")


def without_lookahead(call: exp.RegexpReplace, dialect: Dialect) -> exp.Expr:
    """The same replacement, by an expression that RE2 and POSIX know too.

    What stood in the lookahead is matched and put back, so the match after it cannot begin there.
    A second pass finds those.
    """
    pattern = call.expression.name
    found = LOOKAHEAD.match(pattern)
    replaced: exp.Expr = call.this.copy()
    if found is None:
        return call
    groups = 1 + found["start"].count("(")
    kept = "$1${0}" if dialect == "trino" else "\\1\\{0}"
    for _ in range(2):
        arguments = [
            replaced,
            exp.Literal.string(f"{found['start']}({found['end']})"),
            exp.Literal.string(kept.format(groups)),
        ]
        if dialect == "duckdb":
            arguments.append(exp.Literal.string("g"))
        replaced = exp.Anonymous(this="regexp_replace", expressions=arguments)
    return replaced


def one_value(counted: exp.Expr, dialect: Dialect) -> exp.Expr:
    """Several columns as one value that can be counted."""
    if not isinstance(counted, exp.Struct):
        return counted
    columns = [
        one.expression if isinstance(one, exp.PropertyEQ) else one for one in counted.expressions
    ]
    if dialect == "trino":
        return exp.Anonymous(this="row", expressions=columns)
    pairs = [part for one in columns for part in (exp.Literal.string(one.name), one)]
    return exp.Anonymous(this="object_construct", expressions=pairs)


def row_of_trino(struct: exp.Struct, lake: Lake) -> exp.Expr:
    """A struct for Trino, whose fields have names only in its type.

    >>> query = parse_one("select named_struct('a b', c) as d", read="spark")
    >>> lake = Lake("", {}, {"a b": "timestamp"})
    >>> row_of_trino(query.find(exp.Struct), lake).sql("trino")
    'CAST(ROW(c) AS ROW("a b" TIMESTAMP(6) WITH TIME ZONE))'
    """
    fields = ", ".join(
        f"{sql.identifier(one.name)}: {lake.columns[one.name]}" for one in struct.expressions
    )
    kind = exp.DataType.build(f"struct<{fields}>", dialect="spark")
    for part in kind.find_all(exp.DataType):
        if part.is_type("timestamp", "timestamptz", "timestampltz", "timestampntz"):
            # Without it Trino would round to milliseconds.
            part.set("expressions", [exp.DataTypeParam(this=exp.Literal.number(6))])
    values = [one.expression.copy() for one in struct.expressions]
    return exp.cast(exp.Anonymous(this="row", expressions=values), kind)


def field_of_object(column: exp.Column) -> exp.Expr:
    """A field of a struct, which Spark writes like a column: `versions._change.committed_at`."""
    return parse_one(f"{column.db}.{column.table}['{column.name}']", read="snowflake")


def table_views(file: str, catalog: str, tables: list[tuple[str, str]]) -> Iterator[str]:
    """DuckDB's views of tables whose catalog is a file of SQLite.

    A view cannot look its table up, but it can read a variable, in each query anew.
    """
    catalog_file = sql.engine_literal(file)
    yield f"attach if not exists {catalog_file} as lake_catalog (type sqlite, read_only)"
    yield (
        f"set variable {VARIABLE} = (\n"
        "  select map_from_entries(list((table_namespace || '.' || table_name,"
        " metadata_location)))\n"
        "  from lake_catalog.iceberg_tables\n"
        f"  where catalog_name = {sql.engine_literal(catalog)}"
        " and iceberg_type is distinct from 'VIEW'\n)"
    )
    for schema in sorted({schema for schema, _ in tables}):
        yield f"create schema if not exists {schema}"
    for schema, name in tables:
        place = f"getvariable('{VARIABLE}')[{sql.engine_literal(f'{schema}.{name}')}]"
        yield (
            f"create or replace view {schema}.{identifier('duckdb', name)} as\n"
            f"select * from iceberg_scan({place})"
        )


def attach_rest(uri: str, warehouse: str, catalog: str) -> str:
    """DuckDB's statement for a REST catalog. Secrets are the reader's, who creates them before.

    >>> print(attach_rest("https://catalog", "shop", "lake"))
    attach if not exists 'shop' as lake (type iceberg, endpoint 'https://catalog', read_only)
    """
    name = exp.to_identifier(catalog).sql(dialect="duckdb")
    return (
        f"attach if not exists {sql.engine_literal(warehouse)} as {name}"
        f" (type iceberg, endpoint {sql.engine_literal(uri)}, read_only)"
    )


def identifier(dialect: Dialect, name: str) -> str:
    """A name in the engine's SQL.

    >>> identifier("duckdb", "order"), identifier("snowflake", "order")
    ('"order"', '"ORDER"')
    """
    stored = stored_by_snowflake(name) if dialect == "snowflake" else name
    return sql.engine_identifier(dialect, stored)


def stored_by_snowflake(name: str) -> str:
    """A name as a database of Snowflake has it whose catalog folds names; others stay.

    >>> stored_by_snowflake("order"), stored_by_snowflake("orderId")
    ('ORDER', 'orderId')
    """
    return name.upper() if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else name
