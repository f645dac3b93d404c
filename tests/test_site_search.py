"""The site's own search, asked in a browser, and what the site says to machines. No Spark."""

import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import opened

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[1]
SITE = REPOSITORY / "target" / "site"
FOUND = re.compile(r'<li class="kind-\w+"><a href="([^"?#]+)')
FIRST = {
    "tutorial": "docs/tutorial.html",
    "alert": "docs/watching.html",
    "prometheus": "docs/watching.html",
    "airflow": "docs/schedule.html",
    "kubernetes": "docs/schedule.html",
    "GDPR": "SECURITY.html",
    "held transaction": "docs/held-transaction.html",
    "schema change": "docs/tables.html",
    "compare": "docs/compare.html",
    "delete a table": "docs/delete-a-table.html",
}
"""What people search for, and the page that answers."""


@pytest.fixture(scope="module")
def site() -> Path:
    subprocess.run(["make", "site"], cwd=REPOSITORY, check=True)
    return SITE


def found(site: Path, words: str) -> list[str]:
    """The pages that the search lists, the best first."""
    address = f"{(site / 'search.html').as_uri()}?q={quote(words)}"
    return FOUND.findall(opened(address, "--virtual-time-budget=10000")[0])


@pytest.mark.parametrize("words", FIRST)
def test_the_search_finds_the_right_page_first(site: Path, words: str) -> None:
    assert found(site, words)[0] == FIRST[words]


def test_decisions_are_found_by_their_titles_alone(site: Path) -> None:
    assert [one for one in found(site, "replace") if "/decisions/" in one] == []
    assert any("/decisions/0018-" in one for one in found(site, "lease"))


def test_machines_find_every_page_but_decisions_as_markdown(site: Path) -> None:
    listed = re.findall(r"^- \[.+\]\((\S+)\): \S", (site / "llms.txt").read_text(), re.MULTILINE)
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")]
    assert sorted(listed) == sorted(str(page.relative_to(REPOSITORY)) for page in pages)
    for name in listed:
        assert (site / name).read_text() == (REPOSITORY / name).read_text()
