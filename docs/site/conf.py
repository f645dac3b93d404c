"""The documentation site: README.md and docs/ as they are. `make site` builds target/site."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers import SqlJinjaLexer, TextLexer

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

NAVIGATION = {
    "Start": [
        "Overview <self>",
        "docs/tutorial",
        "docs/how-it-works",
        "docs/eight-messages",
        "docs/compare",
        "docs/own-project",
        "docs/limits",
    ],
    "Landing": [
        "docs/set-up",
        "docs/forms",
        "docs/kafka",
        "docs/message-tables",
        "docs/tables",
        "docs/delete-a-table",
    ],
    "Querying": ["docs/querying", "docs/python", "docs/access"],
    "Operating": [
        "docs/operating",
        "docs/schedule",
        "docs/rounds",
        "docs/watching",
        "docs/held-transaction",
        "docs/day",
        "docs/runbook",
        "docs/cluster",
        "docs/sizing",
    ],
    "Reference": ["docs/commands", "docs/settings", "docs/types", "docs/connectors", "docs/rules"],
    "What was measured": ["docs/correctness", "docs/benchmarks", "docs/trials"],
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
copybutton_prompt_text = "$ "  # such a block copies its commands without their output


def add_navigation(app: Sphinx, page: str, text: list[str]) -> None:
    """Append the navigation to the first page, so that README.md needs none of its own."""
    if page == root_doc:
        for part, pages in NAVIGATION.items():
            listed = "\n".join(pages)
            text[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {part}\n\n{listed}\n```\n"


def leave_decisions_out_of_the_search(app: Sphinx, document: nodes.document) -> None:
    """They are records, and have every word of the project. Their titles are still found, which
    `nosearch` of a whole page would leave out, too."""
    from docutils import nodes  # `make test` reads the navigation without it

    if app.env.docname.startswith("docs/decisions/"):
        for node in document.findall(nodes.section):
            for child in node.children:
                if isinstance(child, nodes.Element) and not isinstance(child, nodes.title):
                    child["classes"].append("no-search")


def write_for_machines(app: Sphinx, error: Exception | None) -> None:
    """Write llms.txt, which lists the pages with their first sentences, and the pages as Markdown.

    The form is that of llmstxt.org.
    """
    if error:
        return
    lines = [f"# {project}", "", f"> {first_sentence(app, root_doc)}"]
    for part, pages in NAVIGATION.items():
        if part == "Decisions":
            continue
        lines += ["", f"## {part}", ""]
        for page in (root_doc if entry.endswith("<self>") else entry for entry in pages):
            title = app.env.titles[page].astext()
            lines.append(f"- [{title}]({page}.md): {first_sentence(app, page)}")
    out = Path(app.outdir)
    (out / "llms.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    for page in app.env.found_docs:
        shutil.copy(app.env.doc2path(page), out / f"{page}.md")


def first_sentence(app: Sphinx, page: str) -> str:
    """The sentence that a page begins with, links as their text."""
    from docutils import nodes  # `make test` reads the navigation without it

    paragraph = next(app.env.get_doctree(page).findall(nodes.paragraph)).astext()
    return re.split(r"(?<=[.!?])\s", paragraph.replace("\n", " "), maxsplit=1)[0]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", leave_decisions_out_of_the_search)
    app.connect("build-finished", write_for_machines)
    app.add_lexer("sql", SqlJinjaLexer)
    app.add_lexer("csv", TextLexer)
