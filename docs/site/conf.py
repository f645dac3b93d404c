"""The documentation site: README.md and docs/ as they are. `make site` builds target/site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygments.lexers import SqlJinjaLexer, TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NAVIGATION = {
    "Start": ["Overview <self>", "docs/how-it-works", "docs/own-project", "docs/limits"],
    "Landing": ["docs/set-up", "docs/forms", "docs/kafka", "docs/message-tables", "docs/tables"],
    "Querying": ["docs/querying", "docs/python", "docs/access"],
    "Operating": [
        "docs/operating",
        "docs/rounds",
        "docs/watching",
        "docs/runbook",
        "docs/cluster",
        "docs/sizing",
    ],
    "Reference": ["docs/settings", "docs/types", "docs/connectors", "docs/rules"],
    "What was measured": ["docs/correctness", "docs/benchmarks"],
    "The project": ["CHANGELOG", "SECURITY", "CONTRIBUTING"],
    "Decisions": ["docs/decisions/*"],
}
"""Every page, in the order in which a stranger needs them. A missing page fails the build."""

project = html_title = "dbt-debezium"
language = "en"
extensions = ["myst_parser", "sphinx_copybutton", "sphinx.ext.githubpages"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/decisions/*.md"]
exclude_patterns = [".*", "lake", "jars", "target"]  # only so that they are not searched for pages
myst_heading_anchors = 6  # as on GitHub, whose anchors the links name
highlight_language = "text"  # a block without a language is what a terminal shows
smartquotes = False
html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_use_index = False


def add_navigation(app: Sphinx, page: str, text: list[str]) -> None:
    """Append the navigation to the first page, so that README.md needs none of its own."""
    if page == root_doc:
        for part, pages in NAVIGATION.items():
            listed = "\n".join(pages)
            text[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {part}\n\n{listed}\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
    app.add_lexer("sql", SqlJinjaLexer)
    app.add_lexer("csv", TextLexer)
