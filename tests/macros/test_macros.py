"""Every macro reads only names it has, uses each argument, and renders what its header shows."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
import yaml
from dbt_common.clients.jinja import get_environment
from jinja2 import nodes

MACROS = Path(__file__).parents[2] / "macros"
GENERIC_TESTS = MACROS.parent / "tests" / "generic"
PAGES = MACROS.parent / "docs"
PURE_MACRO_NAMES = {"exceptions", "loop", "ref", "source", "this"}
"""What a macro that models use may read: its arguments, other macros, relations."""
EFFECT_NAMES = {
    "adapter",
    "api",
    "caller",
    "clustered_cols",
    "comment_clause",
    "config",
    "create_csv_table",
    "create_schema",
    "dbt",
    "dict",
    "execute",
    "file_format_clause",
    "flags",
    "fromjson",
    "get_column_schema_from_query",
    "graph",
    "invocation_args_dict",
    "load_relation",
    "load_result",
    "local_md5",
    "location_clause",
    "model",
    "modules",
    "partition_cols",
    "zip",
    "print",
    "project_name",
    "return",
    "run_query",
    "should_full_refresh",
    "statement",
    "target",
    "tojson",
    "var",
    "varargs",
}
"""What dbt gives besides to hooks, and to macros that override dbt's."""
OVERRIDES = {
    "is_incremental",
    "spark__alter_column_comment",
    "spark__comment_clause",
    "spark__create_csv_table",
    "spark__list_relations_without_caching",
    "spark__load_csv_rows",
    "spark__location_clause",
    "spark__reset_csv_table",
    "spark__tblproperties_clause",
}
GIVEN_MORE = {"spark__load_csv_rows", "spark__reset_csv_table"}
"""Overrides that dbt gives more than they need."""
LONG = {
    "available_row_change": "its example is every history with values not sent, tests/pipeline",
    "bag_row_change": "its example is every history of a keyless table, tests/pipeline",
    "counted_row_change": "its example is every history with moved rows, tests/pipeline",
    "flattened_columns": "takes no argument; stg_message holds what it renders",
    "staged_columns": "stg_message holds what it renders",
    "shared_deletes": "its example is a test of tests/pipeline/test_row_identity.py",
    "row_history": "its example is every history, models/shop/history",
}
"""Macros whose header shows no call, and where their example stands instead."""
PREFIX = "dbt_macro__"
EXAMPLE = re.compile(r">>> (?P<call>.+)\n(?P<shown>(?:(?!\s*>>>|\s*-?#\}).*\n)+)")


class RefusedErrorError(Exception):
    """Raised in place of dbt's compiler error, so that a refusal can be compared."""


def raise_compiler_error(message: str) -> NoReturn:
    raise RefusedErrorError(message)


ENVIRONMENT = get_environment(None, capture_macros=False)
ENVIRONMENT.globals["exceptions"] = SimpleNamespace(raise_compiler_error=raise_compiler_error)
ENVIRONMENT.globals["ref"] = lambda name: name
ENVIRONMENT.globals["source"] = lambda schema, name: f"{schema}.{name}"
PURE = {path: path.read_text() for path in sorted(MACROS.glob("*.sql"))}
HOOKS = {path: path.read_text() for path in sorted((MACROS / "hooks").glob("*.sql"))}
SOURCE = PURE | HOOKS


def macros_in(source: str) -> dict[str, nodes.Macro]:
    macros = ENVIRONMENT.parse(source).find_all(nodes.Macro)
    return {macro.name.removeprefix(PREFIX): macro for macro in macros}


MACRO = {name: macro for source in SOURCE.values() for name, macro in macros_in(source).items()}
PURE_NAMES = {name for source in PURE.values() for name in macros_in(source)} - OVERRIDES
LIBRARY = ENVIRONMENT.from_string("".join(PURE.values())).module
ENVIRONMENT.globals.update({name: getattr(LIBRARY, PREFIX + name) for name in PURE_NAMES})
EXAMPLES = [example.groups() for source in SOURCE.values() for example in EXAMPLE.finditer(source)]


def names(macro: nodes.Macro, *contexts: str) -> set[str]:
    return {node.name for node in macro.find_all(nodes.Name) if node.ctx in contexts}


@pytest.mark.parametrize("path", SOURCE, ids=lambda path: path.stem)
def test_file_holds_the_macro_it_is_named_after(path: Path) -> None:
    assert list(macros_in(SOURCE[path])) == [path.stem]


@pytest.mark.parametrize("name", MACRO)
def test_reads_only_names_it_has(name: str) -> None:
    macro = MACRO[name]
    has = names(macro, "store", "param") | MACRO.keys() | PURE_MACRO_NAMES
    if name not in PURE_NAMES:
        has |= EFFECT_NAMES
    assert names(macro, "load") <= has


@pytest.mark.parametrize("name", MACRO)
def test_uses_every_argument(name: str) -> None:
    macro = MACRO[name]
    unused = {argument.name for argument in macro.args} - names(macro, "load")
    assert bool(unused) == (name in GIVEN_MORE)


@pytest.mark.parametrize(("call", "shown"), EXAMPLES)
def test_renders_what_its_header_shows(call: str, shown: str) -> None:
    try:
        rendered = ENVIRONMENT.from_string("{{ " + call + " }}").render({})
    except RefusedErrorError as refusal:
        rendered = str(refusal)
    assert rendered.split() == shown.split()


@pytest.mark.parametrize("name", sorted(PURE_NAMES - LONG.keys()))
def test_header_shows_an_example(name: str) -> None:
    assert any(call.startswith(f"{name}(") for call, _ in EXAMPLES)


def test_only_macros_without_an_example_are_exempt() -> None:
    assert LONG.keys() <= PURE_NAMES
    assert not {name for name in LONG if any(call.startswith(f"{name}(") for call, _ in EXAMPLES)}


@pytest.mark.parametrize("path", sorted(MACROS.rglob("*.sql")), ids=lambda path: path.stem)
def test_begins_with_what_it_is_for(path: Path) -> None:
    assert path.read_text().startswith("{#-")


def documented() -> dict[str, Any]:
    entries = yaml.safe_load((MACROS / "_macros.yml").read_text())["macros"]
    return {entry["name"]: entry for entry in entries}


def test_every_macro_that_the_pages_show_is_documented() -> None:
    """Others are the project's own: their headers say what they are for."""
    pages = "".join(path.read_text() for path in sorted(PAGES.glob("*.md")))
    shown = {name for name in MACRO if re.search(rf"\{{\{{ {name}\(", pages)}
    assert shown >= {"row_history", "as_of_commit", "as_of_time", "transaction_diff"}
    materializations = {
        f"materialization_{path.stem}_spark"
        for path in (MACROS / "materializations").glob("*.sql")
        if re.search(rf"materialized\W+{path.stem}\b", pages)
    }
    tests = {f"test_{path.stem}" for path in GENERIC_TESTS.glob("*.sql")}
    assert documented().keys() == shown | materializations | tests


@pytest.mark.parametrize("name", sorted(MACRO.keys() & documented().keys()))
def test_every_argument_is_documented(name: str) -> None:
    arguments = documented()[name].get("arguments", [])
    assert [argument["name"] for argument in arguments] == [arg.name for arg in MACRO[name].args]
    assert all(argument["type"] and argument["description"] for argument in arguments)


def test_a_line_is_printed_by_the_macro_that_keeps_it_one() -> None:
    """Names of sources and tables are in nearly every line."""
    printing = [path.stem for path in MACROS.rglob("*.sql") if "do print(" in path.read_text()]
    assert printing == ["print_line"]
