"""What a project's models lack of the tables that have landed, and the files that mend it."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package_files import package_dir, package_files
from dbt_debezium.patterns import matches
from dbt_debezium.project_text import text_of
from dbt_debezium.scaffold.captured import (
    CapturedTable,
    Group,
    captured_tables,
    identifier,
    names_of,
    writable_tables,
)
from dbt_debezium.scaffold.model_files import (
    HistoryModel,
    Texts,
    current_sql,
    current_yml,
    current_yml_column,
    history_sql,
    history_yml,
    history_yml_column,
    read_history,
    with_current_columns,
    with_history_columns,
    with_yml_columns,
    yml_columns,
    yml_models,
)
from dbt_debezium.scaffold.tables import TableFacts

CORE_FOLDERS = frozenset({"landing", "staging", "transactions", "marts"})
"""Folders of models/ that hold no captured tables."""


FOUND = frozenset({"sources", "schema", "table", "is_keyless"})
"""What a scaffold says of a table from its messages; the rest is a person's."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file as it is to be."""

    path: Path
    """From the project."""
    old: str | None
    """None where there is no such file."""
    new: str

    def diff(self) -> str:
        """What changes, as a unified diff."""
        old = (self.old or "").splitlines(keepends=True)
        name = self.path.as_posix()
        return "".join(difflib.unified_diff(old, self.new.splitlines(keepends=True), name, name))


@dataclass(slots=True)
class Plan:
    """What a scaffold would do."""

    changes: list[FileChange] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    """A sentence for each table that gets no models."""

    def write(self, project: Path) -> None:
        for change in self.changes:
            path = project / change.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(change.new, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class ProjectModels:
    """The models of a project as they lie there."""

    project: Path
    histories: Mapping[Path, HistoryModel]
    """By file, from the project."""
    names: frozenset[str]
    """Of all models, the package's too, and of the public tables that they make."""
    documented: Mapping[str, Path]
    """The file that documents a model."""

    @classmethod
    def read(cls, project: Path) -> "ProjectModels":
        """Read the folder models.

        Raises:
            DebeziumError: a history model cannot be read.
        """
        histories: dict[Path, HistoryModel] = {}
        names = {
            file.stem
            for file in package_files(package_dir())
            if file.parts[0] == "models" and file.suffix == ".sql"
        }
        documented: dict[str, Path] = {}
        for path in sorted((project / "models").rglob("*.sql")):
            names.add(path.stem)
            model = read_history(path.relative_to(project), text_of(path))
            if model is not None:
                histories[path.relative_to(project)] = model
                names.update(names_of(model.public_name))
        for path in sorted((project / "models").rglob("*.yml")):
            file = path.relative_to(project)
            for name in yml_models(file, text_of(path)):
                documented.setdefault(name, file)
        return cls(project, histories, frozenset(names), documented)

    def history_of(self, facts: TableFacts) -> Path | None:
        """The file of the model that captures a table of a source."""
        for path, model in self.histories.items():
            captured = model.captured
            if (
                captured["table"] == facts.table
                and captured["schema"] == facts.schema
                and any(matches(pattern, facts.source) for pattern in captured["sources"])
            ):
                return path
        return None

    def folder_of(self, table: CapturedTable, given: dict[str, list[str]]) -> str:
        """The folder of a table's set: no other set's, and none that is there for something else.

        Args:
            given: sources by the folder that this plan gives them.
        """
        name = identifier(table.group)
        number = 1
        folder = name if name not in CORE_FOLDERS else f"{name}_tables"
        while not self._is_of(folder, table.sources, given):
            number += 1
            folder = f"{name}_{number}"
        given[folder] = table.sources
        return folder

    def _is_of(self, folder: str, sources: list[str], given: dict[str, list[str]]) -> bool:
        if folder in given:
            return given[folder] == sources
        owners = [
            model.captured["sources"]
            for path, model in self.histories.items()
            if path.parts[1] == folder
        ]
        return sources in owners or not (self.project / "models" / folder).exists()


def plan_scaffold(
    project: Path, tables: Sequence[TableFacts], groups: Sequence[Group], force: bool = False
) -> Plan:
    """What the models lack of some tables.

    What a model says of a column stays as it is; columns that it does not have are added.

    Args:
        force: write all files of these tables again.

    Raises:
        DebeziumError: a history model cannot be read.
    """
    there = ProjectModels.read(project)
    plan = Plan()
    known: dict[Path, TableFacts] = {}
    unknown: list[TableFacts] = []
    written, refusals = writable_tables(tables)
    for facts in written:
        path = there.history_of(facts)
        if path is None:
            unknown.append(facts)
        else:
            known.setdefault(path, TableFacts(facts.source, facts.schema, facts.table)).merge(facts)
    for path, facts in known.items():
        _plan_known(there, path, facts, force, plan)
    given: dict[str, list[str]] = {}
    found = captured_tables(unknown, groups, there.names, refusals)
    plan.refusals += [f"scaffold: {refusal.sentence}" for refusal in refusals]
    for table in sorted(found, key=lambda table: (table.place(), table.model_name)):
        folder = Path("models") / there.folder_of(table, given)
        for path, text in new_files(folder, table).items():
            _plan_file(there, path, None, text, plan)
    plan.changes.sort(key=lambda change: change.path)
    return plan


def new_files(folder: Path, table: CapturedTable) -> dict[Path, str]:
    """The files of a table that has no models."""
    texts = table.texts()
    history, current = folder / "history", folder / "current"
    return {
        history / f"{table.model_name}_history.sql": table.sql(),
        history / f"{table.model_name}_history.yml": history_yml(texts),
        current / f"cur_{table.model_name}.sql": current_sql(texts),
        current / f"cur_{table.model_name}.yml": current_yml(texts),
    }


def _plan_known(
    there: ProjectModels, path: Path, facts: TableFacts, force: bool, plan: Plan
) -> None:
    """The files of a table that has a history model: all of them, or none and why."""
    model = there.histories[path]
    name = path.stem.removesuffix("_history")
    table = CapturedTable(
        path.parts[1], facts.schema, facts.table, list(model.captured["sources"]), facts, name
    )
    left_out = model.captured.get("left_out", [])
    seen = {one: kind for one, kind in facts.types().items() if one not in left_out}
    new = {one: kind for one, kind in seen.items() if one not in model.columns}
    columns = seen if force else {**model.columns, **new}
    texts = replace(table.texts(), columns=columns)
    captured = table.captured() | {
        one: value for one, value in model.captured.items() if one not in FOUND
    }
    current = path.parent.with_name("current") / f"cur_{name}.sql"

    def in_yml(document: Path, of: str, line: Callable[[Texts, str], str], old: str) -> str:
        listed = yml_columns(old, of)
        lines = {one: line(texts, one) for one in new if one not in listed}
        return with_yml_columns(document, old, of, lines) if lines else old

    def plan_yml(of: str, file: Path, line: Callable[[Texts, str], str], anew: str) -> None:
        document = there.documented.get(of, file.with_suffix(".yml"))
        is_shared = list(there.documented.values()).count(document) > 1
        if is_shared or not force:
            _plan_file(there, document, partial(in_yml, document, of, line), anew, mine)
        else:
            _plan_file(there, document, None, anew, mine)

    mine = Plan()
    _plan_file(
        there,
        path,
        None if force else lambda old: with_history_columns(path, old, new) if new else old,
        history_sql(captured, model.public_name, columns),
        mine,
    )
    _plan_file(
        there,
        current,
        None
        if force
        else lambda old: with_current_columns(current, old, list(new)) if new else old,
        current_sql(texts),
        mine,
    )
    plan_yml(path.stem, path, history_yml_column, history_yml(texts))
    plan_yml(f"cur_{name}", current, current_yml_column, current_yml(texts))
    plan.refusals += mine.refusals
    if not mine.refusals:
        plan.changes += mine.changes


def _plan_file(
    there: ProjectModels, path: Path, changed: Callable[[str], str] | None, anew: str, plan: Plan
) -> None:
    """One file, as it is changed, or anew where it is not there or `changed` is None."""
    file = there.project / path
    old = text_of(file) if file.exists() else None
    try:
        new = anew if old is None or changed is None else changed(old)
    except DebeziumError as error:
        plan.refusals.append(str(error))
        return
    if new != old:
        plan.changes.append(FileChange(path, old, new))
