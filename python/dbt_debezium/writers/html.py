"""HTML: Markdown in dbt's site, the site itself, and tables of notebooks.

The page of `report` has Jinja's escaping.
"""

import re
from html import escape
from html.parser import HTMLParser
from typing import Final

ACTIVE: Final = re.compile(
    r"""
    [\\`*\[\]<>&~|\n\r\t]        # code, emphasis, links, elements, entities, tables, line breaks
    | [\xa0\u2424]               # which dbt's site takes for a blank and a line break
    | _(?![A-Za-z0-9]) | (?<=_)_  # what may close emphasis
    | ^[ #+=-]                   # headings, lists, rules, code
    | (?<=^[0-9])[.)] | (?<=^[0-9]{2})[.)] | (?<=^[0-9]{3})[.)]
    """,
    re.VERBOSE,
)
"""What Markdown reads as more than the character itself."""

TEX: Final = re.compile(r"[$\\]")
"""What begins TeX for MathJax and KaTeX, as notebooks set them."""


def markdown(text: str) -> str:
    r"""A text in Markdown, which a browser shows as it is.

    >>> markdown("2 * 3 < 7, order_items")
    '2 &#42; 3 &#60; 7, order_items'
    """
    return ACTIVE.sub(lambda sign: f"&#{ord(sign[0])};", text)


def notebook(text: str) -> str:
    r"""A text in HTML that a notebook shows as it is.

    Notebooks take what stands between `$` or behind a backslash for TeX. They look for it in text
    that no element interrupts, after a browser has read all entities.

    >>> notebook("a < b, $5")
    'a &lt; b, <span>$</span>5'
    """
    return TEX.sub(r"<span>\g<0></span>", escape(text))


class _Scripts(HTMLParser):
    """Where the elements `script` of a page begin, as lines from 1 and columns from 0."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[tuple[int, int]] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "script":
            self.places.append(self.getpos())


def with_own_scripts_only(page: str, nonce: str) -> str:
    """A page in which a browser runs the scripts that it has now, and no others.

    Args:
        page: a whole page with a head.
        nonce: what nobody who writes to the page later can know, in letters and digits.

    >>> with_own_scripts_only("<head></head><script>x('<script>')</script>", "abc")[-42:]
    '<script nonce="abc">x(\\'<script>\\')</script>'
    """
    found = _Scripts()
    found.feed(page)
    lines = page.split("\n")
    for line, column in reversed(found.places):
        text = lines[line - 1]
        end = column + len("<script")
        lines[line - 1] = f'{text[:end]} nonce="{nonce}"{text[end:]}'
    policy = (
        f"script-src 'nonce-{nonce}'; object-src 'none'; frame-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )
    head = f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">'
    return "\n".join(lines).replace("<head>", head, 1)
