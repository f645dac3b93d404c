"""A small published shop without Spark: its public views are those that our macros write.

Five commits: 1 inserts two orders, 2 pays the first, 3 deletes the second, 4 inserts it again, and
5 is a snapshot that changes nothing. Commit 6 is built and not published.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from jinja2 import Environment
from small_lake import add_view, made_lake, opened, write

MACROS = Path(__file__).parents[2] / "macros"
SHOWN = ("quoted.sql", "string_literal.sql", "shown_position.sql")
HOOKS = ("create_history_views.sql", "create_changes_view.sql", "create_cut_views.sql")
OWN = ["_source", "_row_key", "_valid_from", "_valid_to", "_change"]
START = datetime(2026, 11, 21, 2, 36, tzinfo=UTC)
COLUMNS: dict[str, pa.DataType] = {
    "id": pa.int64(),
    "status": pa.string(),
    "total": pa.decimal128(18, 2),
    "paid at": pa.timestamp("us", "UTC"),
}
CHANGE = pa.struct(
    [
        ("source", pa.string()),
        ("commit_number", pa.int64()),
        ("transaction_id", pa.string()),
        ("committed_at", pa.timestamp("us", "UTC")),
    ]
)
HISTORY = pa.schema(
    [
        *(("_source", pa.string()), ("_row_key", pa.string())),
        *(("_valid_from", pa.int64()), ("_valid_to", pa.int64())),
        *COLUMNS.items(),
        ("_change", CHANGE),
    ]
)
COMMIT = pa.schema(
    [
        ("source", pa.string()),
        ("commit_number", pa.int64()),
        ("commit_position", pa.string()),
        ("transaction_id", pa.string()),
        ("committed_at", pa.timestamp("us", "UTC")),
        ("proof", pa.string()),
    ]
)
SOURCE_CUT = pa.struct(
    [
        ("source", pa.string()),
        ("commit_number", pa.int64()),
        ("transaction_id", pa.string()),
        ("committed_at", pa.timestamp("us", "UTC")),
        ("history_from", pa.int64()),
        ("history_from_at", pa.timestamp("us", "UTC")),
    ]
)
CUT = pa.schema(
    [("channel", pa.string()), ("cut_id", pa.int64()), ("source_cuts", pa.list_(SOURCE_CUT))]
)


def at(number: int) -> datetime:
    """When a commit was made; the source's clock jumps back once, before commit 4."""
    return START + timedelta(minutes=number - (2 if number == 4 else 0))


def commit(number: int, source: str = "shop") -> dict[str, Any]:
    transaction = None if number == 5 else str(700 + number)
    return {
        "source": source,
        "commit_number": number,
        "commit_position": str(number),
        "transaction_id": transaction,
        "committed_at": at(number),
        "proof": "counted",
    }


def version(row: int, start: int, end: int | None, status: str, **other: Any) -> dict[str, Any]:
    made = {name: commit(start)[name] for name in CHANGE.names}
    return {
        "_source": "shop",
        "_row_key": json.dumps({"id": str(row)}, separators=(",", ":")),
        "_valid_from": start,
        "_valid_to": end,
        "id": row,
        "status": status,
        "total": None,
        "paid at": None,
        "_change": made,
        **other,
    }


def cut(number: int, source: str = "shop", **other: Any) -> dict[str, Any]:
    """What the pointer says of a source."""
    made = {name: commit(number)[name] for name in ("transaction_id", "committed_at")}
    return {"source": source, "commit_number": number, "history_from": None, **made, **other}


def publish(folder: Path, *cuts: dict[str, Any], cut_id: int = 1) -> None:
    """Move the pointer."""
    row = {"channel": "published", "cut_id": cut_id, "source_cuts": list(cuts)}
    write(opened(folder), "build.cut", [row, {**row, "channel": "candidate"}], CUT)


def shop(folder: Path) -> Path:
    """Write a lake with the shop into a folder, and return it."""
    catalog = made_lake(folder)
    catalog.drop_table("build.cut")
    publish(folder, cut(5))
    write(catalog, "build.commit", [commit(number) for number in range(1, 7)], COMMIT)
    versions = [
        version(1, 1, 2, "new"),
        version(1, 2, 6, "paid", **{"paid at": at(2)}),
        version(2, 1, 3, "new"),
        version(2, 4, None, "again"),
        version(1, 6, None, "unpublished"),
    ]
    write(catalog, "build.orders_history", versions, HISTORY)
    marts = pa.schema([("cut_id", pa.int64()), ("orders", pa.int64())])
    write(catalog, "build.totals__stored", [{"cut_id": 1, "orders": 2}], marts)
    for name, text in view_texts("orders", [*OWN[:4], *COLUMNS, OWN[4]]).items():
        add_view(folder, name, text, "public")
    stored = "select s.orders from build.cut as c join build.totals__stored as s"
    only = "on c.cut_id = s.cut_id where c.channel = 'published'"
    add_view(folder, "totals", f"{stored} {only}", "public")
    return folder


def view_texts(table: str, columns: list[str]) -> dict[str, str]:
    """The texts of the public views of a captured table, and of commits, by name."""
    texts: dict[str, str] = {}

    def statement(_: str, caller: Any) -> str:
        head, _, text = caller().strip().partition(" as\n")
        texts[head.split()[-1].removeprefix("public.")] = text
        return ""

    environment = Environment(extensions=["jinja2.ext.do"])
    environment.globals.update(
        statement=statement,
        public_relation=lambda name: f"public.{name}",
        source=lambda _, name: f"build.{name}",
        ref=lambda name: f"build.{name}",
        column_names=lambda _: columns,
        create_schema=lambda _: "",
        load_relation=lambda _: None,
        public_table_choices=list,
    )
    sources = [(MACROS / name).read_text() for name in SHOWN]
    sources += [(MACROS / "hooks" / name).read_text() for name in HOOKS]
    library = environment.from_string("".join(sources)).module
    environment.globals.update({name: one for name, one in vars(library).items() if callable(one)})
    for call in (
        f"create_history_views('build.{table}_history', '{table}')",
        f"create_changes_view('build.{table}_history', '{table}')",
        "create_cut_views('build.commit', 'build.message_count', 'build.held', 'build.flag')",
    ):
        environment.from_string(f"{{{{ {call} }}}}").render()
    return texts
