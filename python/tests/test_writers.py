"""What a writer has written, the reader of its language reads back as the same text."""

import csv
import io
import json
import re
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml as pyyaml
from attacks import COLUMNS, TABLES, UNWRITABLE, commands
from awkward_texts import TEXTS
from dbt.clients.jinja import get_rendered
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rendered import rendered as macro
from shown_text import shown_text
from sqlglot import exp, parse_one

from dbt_debezium.cli.query import csv_line
from dbt_debezium.errors import DebeziumError
from dbt_debezium.writers import html, jinja, name, path, sql, terminal, yaml
from dbt_debezium.yaml_loader import LOADER

MANY = settings(max_examples=400, deadline=None, derandomize=True)


def rendered_by_dbt(text: str) -> Any:
    """As dbt renders a description."""
    return get_rendered(text, {})


@MANY
@given(TEXTS)
def test_jinja(text: str) -> None:
    assert rendered_by_dbt(jinja.rendered(text)) == text
    assert rendered_by_dbt(f"{{{{ {jinja.literal(text)} }}}}") == text
    # A file of a model is read line by line, and dbt's site shows it as HTML.
    literal = jinja.literal(text)
    assert literal.isprintable()
    assert not {"<", "{", "}", "#"} & set(literal)


@pytest.mark.parametrize("loader", [LOADER, pyyaml.SafeLoader])
@MANY
@given(text=TEXTS, indent=st.sampled_from([0, 6]))
@example(text="x" * 300, indent=6)
@example(text="One row per row of " + "x" * 300 + " - and : more", indent=6)
def test_yaml(loader: Any, text: str, indent: int) -> None:
    for written in (yaml.scalar(text), f"[{yaml.scalar(sql.identifier(text))}]"):
        assert "\n" not in written
    assert pyyaml.load(f"a: {yaml.scalar(text)}\n", Loader=loader) == {"a": text}
    quoted = sql.readable_identifier(text)
    assert pyyaml.load(f"[b.c, {yaml.scalar(quoted)}]", Loader=loader) == ["b.c", quoted]
    for written in (yaml.rendered(text), yaml.rendered_paragraph(text, indent + 2)):
        read = pyyaml.load(f"{' ' * indent}a: {written}\n", Loader=loader)["a"]
        assert rendered_by_dbt(read) == text


def test_half_a_surrogate_pair_is_replaced_in_a_file() -> None:
    assert pyyaml.load(yaml.scalar("a\ud800b\ud83d\ude00"), Loader=LOADER) == "a\ufffdb😀"


@MANY
@given(TEXTS)
def test_markdown(text: str) -> None:
    # HTML has no NUL and no code points of C1, and a paragraph ends where its text ends.
    text = re.sub("[\0\x80-\x9f]", "", text).strip()
    if text:
        assert shown_text(html.markdown(f"Column {text} of x.")) == f"Column {text} of x."
        assert shown_text(html.markdown(f"{text}.")) == f"{text}."


@MANY
@given(TEXTS)
@example(r"$x^2$ \(x\) \[x\] \begin{equation}x\end{equation} $$")
def test_notebook(text: str) -> None:
    parts: list[str] = []
    reader = HTMLParser()
    reader.handle_data = parts.append  # type: ignore[method-assign]
    # No mark of TeX is beside another character: MathJax and KaTeX end a text at each element.
    written = html.notebook(text)
    reader.feed(written)
    reader.close()
    assert unescape(written.replace("<span>", "").replace("</span>", "")) == unescape(escape(text))
    assert all(len(part) == 1 or not {"$", "\\"} & set(part) for part in parts)


@MANY
@given(TEXTS)
def test_path(text: str) -> None:
    component = path.component(text)
    assert component not in {".", ".."}
    assert len(component.encode()) <= path.MOST_BYTES
    assert not {"/", "\0", "\n", "\x1b", "\x9b"} & set(component)
    if len(text.encode()) * 3 <= path.MOST_BYTES:
        assert unquote(component) == text


def test_long_names_have_paths_of_their_own() -> None:
    components = {path.component("é" * 300 + end) for end in ("", "a", "b")}
    assert len(components) == 3
    assert all(len(one.encode()) <= path.MOST_BYTES for one in components)


@MANY
@given(TEXTS)
def test_terminal(text: str) -> None:
    for written in (terminal.harmless(text), terminal.one_line(text), terminal.json_text(text)):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", written)
        written.encode()
    assert "\n" not in terminal.one_line(text)
    assert json.loads(terminal.json_text({text: [text]})) == {text: [text]}


def test_json_of_half_a_surrogate_pair_can_be_printed() -> None:
    assert json.loads(terminal.json_text("a\ud800").encode()) == "a\ud800"
    assert terminal.harmless("\ud800") == "\\ud800"


def fields_of_csv(fields: list[str | None]) -> list[str]:
    [record] = csv.reader(io.StringIO(csv_line(fields) + "\n", newline=""))
    return record


@MANY
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_csv(fields: list[str | None]) -> None:
    assert fields_of_csv(fields) == fields


@pytest.mark.parametrize("text", ["a\nforged,row", "a\rb", "a\r\n", "\r\n", "", 'a"\n'])
def test_a_line_break_in_a_field_of_csv_begins_no_record(text: str) -> None:
    assert fields_of_csv([text]) == [text]
    assert fields_of_csv([text, None, text]) == [text, "", text]


@MANY
@given(TEXTS)
def test_macros_write_sql_as_python_does(text: str) -> None:
    assert macro("string_literal", text) == sql.literal(text)
    assert macro("quoted", text).strip() == sql.identifier(text)


@pytest.mark.parametrize(
    ("connector", "dialect"),
    [("mysql", "mysql"), ("sqlserver", "tsql"), ("oracle", "oracle"), ("postgresql", "postgres")],
)
@MANY
@given(text=TEXTS)
def test_sql_of_source_databases(connector: str, dialect: str, text: str) -> None:
    read = parse_one(f"select {sql.source_literal(connector, text)}", read=dialect)
    assert [one.this for one in read.find_all(exp.Literal, exp.National)] == [text]
    if text:
        named = parse_one(f"select {sql.source_identifier(connector, text)}", read=dialect)
        assert [one.name for one in named.find_all(exp.Identifier)] == [text]


def test_sql_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:

        @MANY
        @given(TEXTS.filter(lambda text: "\0" not in text))
        def is_read_back(text: str) -> None:
            name = text or "a"
            written = sql.engine_literal(text), sql.engine_identifier("duckdb", name)
            answer = connection.execute("select {} as {}".format(*written))
            assert (answer.description[0][0], answer.fetchone()) == (name, (text,))

        is_read_back()


@MANY
@given(TEXTS)
def test_a_name_that_is_taken_holds_nothing_that_a_reader_loses(text: str) -> None:
    for kind in ("source", "schema", "table", "column"):
        has_lost = not text or re.search("[\0-\x1f\x7f-\x9f\ufdd0\ufffe\uffff\U0001fffe]", text)
        if has_lost or (kind == "column" and re.search(r"`|\{[{%#]", text)):
            with pytest.raises(DebeziumError, match=f"^here: {kind} "):
                name.check_name("here", kind, text)


@pytest.mark.parametrize("text", [*TABLES, *COLUMNS, *commands(Path("/outside"))])
def test_odd_names_of_tables_are_taken(text: str) -> None:
    name.check_name("here", "table", text)


@pytest.mark.parametrize("text", [*UNWRITABLE, "", "\ud800"])
def test_names_that_cannot_be_kept_are_refused(text: str) -> None:
    for kind in ("source", "schema", "table", "column"):
        with pytest.raises(DebeziumError, match=re.escape(name.REMEDIES[kind])):
            name.check_name("here", kind, text)
