"""Imports of the package's own modules go one way, and wait only where something is won by it."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import dbt_debezium

PACKAGE = Path(dbt_debezium.__file__).parent
NAME = PACKAGE.name
COMMANDS = f"{NAME}.cli"
"""Each command imports what it needs once it runs, so that `--help` and an answer of one are quick.
"""
LATE = {
    "dbt_debezium": "dbt asks for the plugin, and Python for a reader, which needs no dbt",
    "dbt_debezium.build": "the plugin imports dbt and Spark, which a round without news does not",
    "dbt_debezium.spark.executors": "only executors import what reads messages, and Spark with it",
    "dbt_debezium.plugin": "commands of dbt that start no session, such as parse, need no function",
    "dbt_debezium.public_tables": "few projects have such tables, and sqlglot takes dbt 0.1 s",
    "dbt_debezium.readers.choice": "an installation that reads with DuckDB has no Spark",
    "dbt_debezium.registry.client": "requests takes 0.1 s, and most landings ask no registry",
    "dbt_debezium.rounds.sources": "a round without news starts no Spark",
}
"""Other modules that import some of ours in a function, and why."""


class Import(NamedTuple):
    """One module imports another one."""

    module: str
    imported: str
    is_late: bool
    """Whether it does so in a function."""
    is_for_types: bool
    """Whether only a type checker does it."""


def modules() -> dict[str, Path]:
    """The files by what Python calls them."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        *folders, last = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(folders if last == "__init__" else [*folders, last])] = file
    return found


MODULES = modules()


def imports(
    module: str, node: ast.AST, is_late: bool = False, is_for_types: bool = False
) -> Iterator[Import]:
    """Those below a node."""
    for child in ast.iter_child_nodes(node):
        names: list[str] = []
        if isinstance(child, ast.Import):
            names = [one.name for one in child.names]
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, f"{module}: from {'.' * child.level}"
            names = [f"{child.module}.{one.name}" for one in child.names]
        for name in names:
            # What is no module is a name of one.
            imported = name if name in MODULES else name.rpartition(".")[0]
            if imported in MODULES:
                yield Import(module, imported, is_late, is_for_types)
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        is_checked = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        yield from imports(module, child, is_late or is_function, is_for_types or is_checked)


IMPORTS = [
    found
    for module, file in MODULES.items()
    for found in imports(module, ast.parse(file.read_text(encoding="utf-8")))
]


def refuse_circles(pairs: Iterable[tuple[str, str]]) -> None:
    """Raise a CycleError, which names the members of a circle."""
    imported: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        if one != other:
            imported[one].add(other)
    assert imported
    TopologicalSorter(imported).prepare()


def room(module: str) -> str:
    """The folder of the package that a module is in, or the module itself beside the folders."""
    return ".".join(module.split(".")[:2])


def test_no_module_imports_what_imports_it() -> None:
    """Counting what is imported late, and for types alone."""
    refuse_circles((one.module, one.imported) for one in IMPORTS)


def test_no_folder_imports_what_imports_it() -> None:
    """A folder is understood from itself and those below it. Of those above it knows types."""
    refuse_circles(
        (room(one.module), room(one.imported)) for one in IMPORTS if not one.is_for_types
    )


def test_only_commands_import_late_and_what_has_a_reason() -> None:
    late = {one.module for one in IMPORTS if one.is_late and not one.module.startswith(COMMANDS)}
    assert late == set(LATE)
