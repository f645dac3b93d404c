"""The commands, the queries and the prose of the pages."""

import re
import shlex
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
PAGES: Final = {
    str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8")
    for path in sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
}
NOT_RUN: Final = {
    "make": "make help, which nothing depends on",
    "make audit": "asks PyPI for known vulnerabilities, which its mirrors cannot answer",
    "make bench": "takes minutes, and its figures are of one machine",
    "make changelog VERSION=0.2.0": "would compile the fragments of this clone",
    "make clean": "would remove what other tests are using",
    "make coverage-documents": "runs tests that run anyway",
    "make coverage-faults": "runs tests that run anyway",
    "make demo": "sets up, and then runs `dbt-debezium demo`, which is run",
    "make demo-live": "starts servers for two minutes; test_live_tables.py tests the same shop",
    "dbt deps": "test_init.py runs it in a project that names packages",
    "make dist": "fetches what makes releases; test_init.py builds a wheel",
    "make docs": "runs `dbt docs generate`, which publishes nothing",
    "make pictures": "takes minutes, and replaces the pictures of this clone",
    "make proof": "takes hours",
    "make quick": "runs the tests that need no Java, which run anyway",
    "make ranges": "fetches 900 MB, and runs tests that run anyway with other versions",
    "make setup-cluster": "has set up what test_cluster.py needs",
    "make setup-browser": "has set up what test_docs_site.py needs",
    "make setup-trino": "fetches 821 MB; `make proof` runs it",
    "make setup": "has set up what runs this test",
    "make site": "fetches Sphinx; test_docs.py looks for pages that the site lacks",
    "make slow": "runs this test",
    "make test": "runs tests that run anyway",
    "dbt build": "test_runs.py",
    "dbt build --full-refresh": "test_runs.py",
    "dbt parse": "test_project.py",
    "dbt run": "test_runs.py",
    "dbt run-operation run_query --args '{sql: drop view public.orders}'": (
        "would take a table from what other commands look at"
    ),
    "dbt run-operation run_query --args '{sql: drop view public.orders_history}'": (
        "would take a table from what other commands look at"
    ),
    "dbt run-operation run_query --args '{sql: drop view public.orders_changes}'": (
        "would take a table from what other commands look at"
    ),
    "dbt run-operation run_query --args '{sql: drop table public_tables.orders}'": (
        "drops what a setting has made"
    ),
    "dbt run-operation run_query --args '{sql: drop table build.revenue_by_day__stored}'": (
        "test_scaffold_build.py drops that of another mart"
    ),
    "dbt source freshness": "test_own_project.py",
    "dbt seed": "test_decisions.py, as a part of a build",
    "dbt-debezium doctor": "ends with exit code 1 on a lake with problems; test_doctor.py",
    "dbt-debezium doctor --target prod": "test_cluster.py",
    "dbt-debezium run dumps/ --target prod": "test_cluster.py",
    "dbt-debezium run dumps/ --target connect": "test_connect.py",
    "export DBT_DEBEZIUM_REMOTE=sc://host:15002": "a shell's own command",
    "dbt-debezium init my_lake": "would make a project in that of the test; test_own_project.py",
    "dbt-debezium init /tmp/NAME": "the reader's own name; test_own_project.py",
    "dbt-debezium jars": "`make setup` has run it",
    "dbt-debezium quarantine --reason unknown_schema --retry": "test_faults.py lands some again",
    "dbt-debezium land kafka://localhost:9092 --topics 'shop[.].*'": (
        "needs a broker; tests/live/test_kafka_landing.py lands from one"
    ),
    "dbt-debezium land table://lake.raw.kafka": (
        "needs such a table; test_message_tables.py lands from some"
    ),
    "dbt-debezium preview kafka://localhost:9092 --topics 'shop[.].*'": (
        "needs a broker; tests/live/test_live.py looks at one"
    ),
    "dbt-debezium views --dialect duckdb": "test_engines.py, which runs what it prints",
    "dbt-debezium views --dialect duckdb --target prod": (
        "needs a REST catalog; test_cluster.py runs what it prints"
    ),
    "dbt-debezium views --dialect trino --catalog lake": "test_trino.py runs what it prints",
    "dbt-debezium views --dialect trino --target prod": (
        "needs a REST catalog; test_trino.py runs what it prints"
    ),
    "dbt-debezium views --dialect snowflake --catalog lake": "test_engines.py",
    "dbt-debezium run --every 30s": "does not end; test_run_every.py ends it",
    "dbt-debezium run dumps/ --every 5m": "does not end; test_run_every.py ends it",
    "dbt-debezium run --every 30s --report lake.html": "does not end; test_run_every.py ends it",
    "dbt-debezium run --every 30s --metrics-port 9464": "does not end; test_metrics.py",
    "dbt-debezium run --every 30s --metrics-file /var/lib/node_exporter/lake.prom": (
        "does not end; test_run_report.py ends it"
    ),
    "dbt-debezium run --every 30s --on-change ./alert.sh": "does not end; test_run_report.py",
    "dbt-debezium run --every 10s --report lake.html --metrics-port 9464 --on-change ./alert.sh": (
        "does not end; test_run_every.py, test_metrics.py and test_run_report.py"
    ),
    "export DBT_DEBEZIUM_LAKE=target/demo_lake": "a shell's own command, which the test does",
    ".venv/bin/pre-commit install": "would change the clone that the test runs in",
    "python bench/bench.py FILE": "a dump of the reader's own",
    "python tests/pipeline/reality.py": "test_reality.py compares what it writes",
    "python tests/pipeline/reference.py": "test_docs.py compares what it writes",
}
"""Commands of the pages that test_pages.py does not run, and why, or what runs them."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:make|dbt|dbt-debezium|source|export|python|\.venv/bin/\S+)(?: |$)")
NAME = re.compile(r"dbt-debezium [a-z]+")
WORD = re.compile(r"[A-Za-z0-9][\w'./-]*")
SHORTEST_SENTENCE = 4
"""Fewer words are a label, such as most cells of a table."""


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of one language; '' is what a terminal shows."""
    return [text for found, text in BLOCK.findall(PAGES[page]) if found == language]


def commands(page: str) -> list[str]:
    """Every command of a page in the order of the page, without comments.

    Those of a terminal's blocks, and inline code that begins with a command. A bare name in a
    sentence, such as `dbt-debezium status`, stands for the command in general.
    """
    found = []
    for part in re.split(r"(^```.*?^```\n)", PAGES[page], flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```\n"):
            found += [line for line in part.splitlines() if COMMAND.match(line)]
        elif not part.startswith("```"):
            inline = re.findall(r"`([^`\n]+)`", part)
            found += [
                code
                for code in inline
                if COMMAND.match(code) and " " in code and not NAME.fullmatch(code)
            ]
    return [shlex.join(words) for line in found if (words := shlex.split(line, comments=True))]


def queries(page: str) -> list[str]:
    """The queries of a page that hold no Jinja."""
    return [text.strip() for text in blocks(page, "sql") if "{{" not in text and "{%" not in text]


def sentences(text: str) -> list[str]:
    """The sentences of a page: of its paragraphs, items and cells, inline code as one word.

    >>> sentences("# Title\\n\\n- **One thing is here.** `a b` is it.\\n\\n| cell | A cell. |")
    ['One thing is here.', 'code is it.', 'cell', 'A cell.']
    """
    text = BLOCK.sub("\n", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text).replace("*", "")
    units: list[str] = []
    is_open = False
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            is_open = False
        elif line.startswith("|"):
            is_open = False
            if not re.fullmatch(r"[|\s:-]+", line):
                units += [cell.strip() for cell in line.strip("|").split("|")]
        elif is_open and not re.match(r"(?:-|\d+\.) ", line):
            units[-1] += f" {line}"
        else:
            is_open = True
            units.append(re.sub(r"^(?:-|\d+\.) ", "", line))
    return [one for unit in units for one in re.split(r"(?<=[.!?])\)? +", unit)]


def word_count(sentence: str) -> int:
    return len(WORD.findall(sentence))


def mean_length(some: list[str]) -> float:
    """Words per sentence; labels do not count."""
    lengths = [count for one in some if (count := word_count(one)) >= SHORTEST_SENTENCE]
    return sum(lengths) / len(lengths)
