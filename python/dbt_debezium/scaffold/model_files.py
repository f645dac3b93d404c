"""The files of a captured table's models: their text, what stands in them, and columns added to it.

A person may edit these files. What is read from them is what dbt will read, and a column is added
by a line of its own, so that nothing else in a file changes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml as pyyaml
from jinja2 import nodes

from dbt_debezium.errors import DebeziumError
from dbt_debezium.writers import html, jinja, sql, yaml
from dbt_debezium.yaml_loader import LOADER, what_is_wrong

CHANGE_TYPE = (
    "struct<source:string,commit_number:bigint,transaction_id:string,committed_at:timestamp,"
    "unrepresentable:array<struct<column:string,raw_text:string>>,"
    "absent_columns:array<string>>"
)
"""Type of `_change`, as the macro row_history makes it."""
PROVENANCE = ("_source", "_row_key", "_valid_from", "_valid_to", "_change")
"""Columns of our own in a history."""
_jinja = jinja2.Environment(extensions=["jinja2.ext.do"])


@dataclass(frozen=True, slots=True)
class HistoryModel:
    """What a history model says of its table."""

    name: str
    """Of the model, and of its table in the build schema."""
    captured: Mapping[str, Any]
    public_name: str
    columns: Mapping[str, str]
    """Name to Spark type, or to `<Spark type> from <encoding>`."""
    last_column_line: int
    """1-based line on which the last column stands."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What people read about a table."""

    place: str
    """Schema and table."""
    model_name: str
    columns: Mapping[str, str]
    key_columns: Sequence[str]
    comments: Mapping[str, str]
    has_several_sources: bool = False
    """Whether a key may be in it once for each of several sources."""

    def description(self, column: str) -> str:
        """What is said of a column, as YAML."""
        if comment := self.comments.get(column, "").strip():
            comment = comment if comment.endswith((".", "!", "?")) else f"{comment}."
            return yaml.rendered(html.markdown(comment))
        return yaml.rendered(
            f"Column {html.markdown(column)} of {html.markdown(self.place)}, as the source has it."
        )


def stored_type(column_type: str) -> str:
    """The Spark type in which Iceberg keeps a column.

    >>> stored_type("smallint"), stored_type("array<date> from array<io.debezium.time.Date>")
    ('int', 'array<date>')
    """
    return column_type.partition(" from ")[0].replace("smallint", "int").replace("tinyint", "int")


def history_sql(captured: Mapping[str, Any], public_name: str, columns: Mapping[str, str]) -> str:
    """The text of a history model."""
    facts = "".join(
        f"    {jinja.literal(name)}: {jinja.literal(value)},\n" for name, value in captured.items()
    )
    return (
        f"{{%- set captured = {{\n{facts}}} -%}}\n"
        f"{{{{ config(\n"
        f"    materialized='row_history',\n"
        f"    meta={{'captured': captured, 'public_name': {jinja.literal(public_name)}}}\n"
        f") }}}}\n\n"
        f"{{{{ row_history(\n    captured=captured,\n    columns={{\n"
        f"{''.join(map(history_column, columns.items()))}    }}\n) }}}}\n"
    )


def history_column(column: tuple[str, str]) -> str:
    name, column_type = column
    return f"        {jinja.literal(name)}: {jinja.literal(column_type)},\n"


def current_sql(texts: Texts) -> str:
    """The text of the model of current rows."""
    columns = "".join(map(current_column, texts.columns))
    return (
        "{{ config(materialized='current_rows') }}\n\nwith\n\nversion as (\n\n"
        f"    select * from {{{{ ref('{texts.model_name}_history') }}}}\n\n)\n\n"
        f"select\n    -- payload\n{columns}\n    -- provenance\n    _change\n"
        "from version\nwhere _valid_to is null\n"
    )


def current_column(name: str) -> str:
    return f"    {sql.readable_identifier(name)},\n"


def history_yml(texts: Texts) -> str:
    """The documentation of a history model."""
    description = (
        f"One row per version of a row of {html.markdown(texts.place)}, with the half-open "
        "interval of commits that show it. Versions that lived only inside one transaction are "
        "left out. "
        f"For questions about the past, and for cur_{texts.model_name}."
    )
    columns = "".join(history_yml_column(texts, name) for name in texts.columns)
    return (
        f"models:\n  - name: {texts.model_name}_history\n"
        f"    description: {yaml.rendered_paragraph(description, 6)}\n"
        f"    data_tests:\n      - versions_do_not_overlap\n    columns:\n{columns}"
        + "".join(map(provenance_column, PROVENANCE))
    )


def history_yml_column(texts: Texts, name: str) -> str:
    return f"      - name: {yaml.scalar(name)}\n        description: {texts.description(name)}\n"


def provenance_column(name: str) -> str:
    return f"      - name: {name}\n        description: \"{{{{ doc('{name}') }}}}\"\n"


def current_yml(texts: Texts) -> str:
    """The documentation, the contract and the key of the model of current rows.

    The primary key is for whoever reads the manifest, as dbt and its packages do: no engine
    enforces it on a view. The test asks in one statement whether it is unique and not null.
    """
    description = (
        f"One row per row of {html.markdown(texts.place)} that exists at the candidate cut. "
        "Earlier versions and deleted rows are left out. For marts: inside the project they read "
        f"cur_{texts.model_name}, readers see public.{texts.model_name}."
    )
    if texts.key_columns:
        key = ", ".join(yaml.scalar(sql.readable_identifier(name)) for name in texts.key_columns)
        meta = ""
        test = (
            "    data_tests:\n      - is_unique_by:\n          arguments:\n"
            f"            columns: [_change.source, {key}]\n"
            f"            history: {texts.model_name}_history\n"
        )
        if not texts.has_several_sources:
            names = ", ".join(map(yaml.scalar, texts.key_columns))
            key = f"{{type: primary_key, columns: [{names}], warn_unsupported: false}}"
            test = f"    constraints:\n      - {key}\n{test}"
    else:
        # A bag of rows: only the history has a key.
        meta, test = f"      meta: {{tested_in: {texts.model_name}_history}}\n", ""
    columns = "".join(current_yml_column(texts, name) for name in texts.columns)
    return (
        f"models:\n  - name: cur_{texts.model_name}\n"
        f"    description: {yaml.rendered_paragraph(description, 6)}\n"
        f"    config:\n      contract: {{enforced: true}}\n{meta}{test}    columns:\n{columns}"
        f"      - name: _change\n        data_type: {CHANGE_TYPE}\n"
        "        description: \"{{ doc('_change') }}\"\n"
    )


def current_yml_column(texts: Texts, name: str) -> str:
    quote = "" if sql.readable_identifier(name) == name else "        quote: true\n"
    return (
        f"      - name: {yaml.scalar(name)}\n{quote}"
        f"        data_type: {stored_type(texts.columns[name])}\n"
        f"        description: {texts.description(name)}\n"
    )


def read_history(path: Path, text: str) -> HistoryModel | None:
    """What a model says of the table it captures; None when it calls no row_history.

    Raises:
        DebeziumError: it calls it with something else than literals.
    """
    if "row_history" not in text:
        return None
    try:
        tree = _jinja.parse(text)
        sets = {
            one.target.name: one.node
            for one in tree.find_all(nodes.Assign)
            if isinstance(one.target, nodes.Name)
        }
        calls = {
            call.node.name: {argument.key: argument.value for argument in call.kwargs}
            for call in tree.find_all(nodes.Call)
            if isinstance(call.node, nodes.Name)
        }
        if "row_history" not in calls:
            return None
        arguments = calls["row_history"]
        captured: nodes.Node = arguments["captured"]
        if isinstance(captured, nodes.Name):
            captured = sets[captured.name]
        columns: Any = arguments["columns"]
        meta = calls.get("config", {}).get("meta")
        names = [
            pair.value.as_const()
            for pair in (meta.items if isinstance(meta, nodes.Dict) else [])
            if pair.key.as_const() == "public_name"
        ]
        return HistoryModel(
            path.stem,
            _constant(captured),
            names[0],
            columns.as_const(),
            max((pair.value.lineno for pair in columns.items), default=0),
        )
    except (jinja2.TemplateError, nodes.Impossible, LookupError, AttributeError) as error:
        raise DebeziumError(
            f"scaffold: {path} cannot be read ({type(error).__name__}); write captured, "
            "public_name and columns as literals, as scaffold does"
        ) from error


def _constant(node: nodes.Node) -> Any:
    """What a literal says."""
    if not isinstance(node, nodes.Expr):
        raise nodes.Impossible
    return node.as_const()


def with_history_columns(path: Path, text: str, added: Mapping[str, str]) -> str:
    """The model with more columns, each on a line after the last."""
    model = read_history(path, text)
    assert model is not None
    lines = text.splitlines(keepends=True)
    last = model.last_column_line
    if last and not lines[last - 1].rstrip().endswith(","):
        lines[last - 1] = lines[last - 1].rstrip() + ",\n"
    lines[last:last] = map(history_column, added.items())
    changed = "".join(lines)
    try:
        found = read_history(path, changed)
    except DebeziumError:
        found = None
    if found is None or dict(found.columns) != {**model.columns, **added}:
        raise no_place(path, added, "write each column on a line of its own")
    return changed


def with_current_columns(path: Path, text: str, added: Sequence[str]) -> str:
    """The model of current rows with more columns before its provenance."""
    added = [name for name in added if current_column(name) not in text]
    if not added:
        return text
    head, separator, tail = text.rpartition("\n    -- provenance\n")
    if not separator:
        raise no_place(path, added, "end the columns with a line `-- provenance`")
    columns = head.rstrip("\n")
    if not columns.endswith(","):
        raise no_place(path, added, "end each column with a comma")
    return f"{columns}\n{''.join(map(current_column, added))}{separator}{tail}"


def with_yml_columns(path: Path, text: str, model_name: str, added: Mapping[str, str]) -> str:
    """The documentation with more columns, before those of our own.

    Args:
        added: name to the lines of the column.
    """
    listed = yml_columns(text, model_name)
    lines = text.splitlines(keepends=True)
    own = [line for name, line in listed.items() if name.startswith("_") and name in PROVENANCE]
    if not listed or not own:
        raise no_place(path, added, f"document the columns of {model_name}, _change last")
    place = min(own)
    indent = len(lines[place]) - len(lines[place].lstrip())
    block = "".join(added.values())
    lines[place:place] = re.sub("(?m)^ {6}", " " * indent, block).splitlines(keepends=True)
    changed = "".join(lines)
    if not yml_columns(changed, model_name).keys() >= added.keys():
        raise no_place(path, added, "give each column a line `- name:` of its own")
    return changed


def yml_columns(text: str, model_name: str) -> dict[str, int]:
    """The columns that a file documents for a model, with the 0-based lines they begin on."""
    found: dict[str, int] = {}
    root = pyyaml.compose(text, Loader=LOADER)
    for model in _items(_member(root, "models")):
        name = _member(model, "name")
        if name is not None and name.value == model_name:
            for column in _items(_member(model, "columns")):
                name = _member(column, "name")
                if name is not None:
                    found[str(name.value)] = column.start_mark.line
    return found


def yml_models(path: Path, text: str) -> list[str]:
    """The models that a file documents.

    Raises:
        DebeziumError: it is no YAML.
    """
    try:
        root = _compose(text)
    except pyyaml.YAMLError as error:
        raise DebeziumError(
            f"project: {path}, {what_is_wrong(text, error)}; correct it, or remove it, and "
            "`dbt-debezium scaffold` writes it again"
        ) from error
    found = (_member(model, "name") for model in _items(_member(root, "models")))
    return [str(name.value) for name in found if name is not None]


def _compose(text: str) -> pyyaml.Node | None:
    node: pyyaml.Node | None = pyyaml.compose(text, Loader=LOADER)
    return node


def _member(node: pyyaml.Node | None, name: str) -> pyyaml.Node | None:
    if not isinstance(node, pyyaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _items(node: pyyaml.Node | None) -> list[pyyaml.Node]:
    return list(node.value) if isinstance(node, pyyaml.SequenceNode) else []


def no_place(path: Path, added: object, remedy: str) -> DebeziumError:
    names = ", ".join(f"'{name}'" for name in list(added)[:3])  # type: ignore[call-overload] # any
    return DebeziumError(
        f"scaffold: {path} has no place for {names}; {remedy}, or say --force to write it again"
    )
