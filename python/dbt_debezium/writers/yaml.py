"""YAML, by PyYAML's writer; what reads well without quotes has none."""

import re
import textwrap
from typing import Any, Final

import yaml

from dbt_debezium.writers import jinja

PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.,;()/ -]*")
_resolver: Final[Any] = yaml.resolver.Resolver()
TEXT: Final = "tag:yaml.org,2002:str"


def scalar(text: str) -> str:
    r"""A text on one line.

    Halves of surrogate pairs, which no file can hold, become U+FFFD.

    >>> print(scalar("Number of the order."), scalar("no"), scalar("a: b\n"), scalar("\x80é"))
    Number of the order. "no" "a: b\n" "\x80é"
    """
    is_plain = PLAIN.fullmatch(text) and text == text.strip()
    if is_plain and _resolver.resolve(yaml.ScalarNode, text, (True, False)) == TEXT:
        return text
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    written: str = yaml.dump(
        text, Dumper=yaml.SafeDumper, default_style='"', allow_unicode=True, width=float("inf")
    )
    return written.rstrip("\n")


def rendered(text: str) -> str:
    r"""A text on one line, in a place that dbt renders with Jinja.

    >>> print(rendered("{{ x }}"))
    "{{ '\\x7b\\x7b x \\x7d\\x7d' }}"
    """
    return scalar(jinja.rendered(text))


def rendered_paragraph(text: str, indent: int) -> str:
    r"""A text of some lines, in a place that dbt renders with Jinja; folded if that keeps it.

    >>> print(rendered_paragraph("One row per row.", 2))
    >-
      One row per row.
    """
    if not re.fullmatch(r"[!-~]+( [!-~]+)*", text) or jinja.CODE.search(text):
        return rendered(text)
    return ">-\n" + textwrap.fill(
        text,
        118,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
