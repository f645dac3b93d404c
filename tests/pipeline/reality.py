"""The cases of tests/data/reality: what real installations send, and what must come of it.

Run as a script, it writes docs/forms.md: python tests/pipeline/reality.py
"""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

REPOSITORY: Final = Path(__file__).parents[2]
CASES: Final = REPOSITORY / "tests" / "data" / "reality"
PAGE: Final = REPOSITORY / "docs" / "forms.md"
DESCRIPTION: Final = "case.yml"

RESULTS: Final = {
    "read": "read",
    "held": "held, with a sentence",
    "quarantined": "quarantined, with a sentence",
    "flagged": "read and flagged",
    "refused": "refused, with a sentence",
}
HEAD: Final = """# What can be read

Forms of change events and of dumps that real installations send, and what comes of each. Every row
is a case in `tests/data/reality`, which `make slow` lands and compares.
`python tests/pipeline/reality.py` writes this page from the cases.

Either of these writes a dump of one topic. A message must keep its partition and offset, because
they show what is missing. Dump the transaction topic too, and for MySQL, SQL Server and Db2 the
schema-change topic.

```
kcat -C -b localhost:9092 -e -J -t shop.public.orders > shop.public.orders.jsonl
kafka-console-consumer.sh --bootstrap-server localhost:9092 --from-beginning --timeout-ms 10000 \\
    --topic shop.public.orders --property print.key=true --property print.partition=true \\
    --property print.offset=true > shop.public.orders.txt
```

The console consumer does not print the topic, so the file must be called like it.

| form | in short | what comes of it |
|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Source:
    """What must be published, held and said of one source."""

    tables: dict[str, list[dict[str, Any]]] | None = None
    """Rows of each table, `schema.table`; only the columns that matter."""
    published: dict[str, Any] | None = field(default_factory=dict)
    """Fields of its entry in cut.json that matter; None when nothing may be published."""
    held: list[str] | None = None
    """Reasons, sorted."""
    quarantined: dict[str, int] | None = None
    flags: list[str] | None = None
    says: list[str] = field(default_factory=list)
    """Regular expressions: each fits one sentence that `preview` prints of the source."""


@dataclass(frozen=True, slots=True)
class Case:
    """One folder: input as it was sent, and case.yml."""

    folder: Path
    what: str
    form: str
    result: str
    settings: dict[str, Any] = field(default_factory=dict)
    identities: dict[str, list[str]] = field(default_factory=dict)
    """Columns that tell rows apart, by table with its source, as `preview --identity` has them."""
    sources: dict[str, Source] = field(default_factory=dict)
    refused: str | None = None
    """A regular expression of the sentence that refuses the input at landing."""

    @property
    def name(self) -> str:
        return self.folder.name

    def inputs(self) -> list[Path]:
        """Files and folders that are landed."""
        return sorted(path for path in self.folder.iterdir() if path.name != DESCRIPTION)

    def place_inputs(self, dump: Path) -> None:
        """Put the input into a folder of several cases, under names that tell them apart."""
        for path in self.inputs():
            name = f"{self.name}-{path.name}" if path.name.startswith("input") else path.name
            if path.is_dir():
                shutil.copytree(path, dump / name, dirs_exist_ok=True)
            else:
                shutil.copy(path, dump / name)


def read_case(folder: Path) -> Case:
    fields = yaml.safe_load((folder / DESCRIPTION).read_text(encoding="utf-8"))
    sources = {name: Source(**(one or {})) for name, one in fields.pop("sources", {}).items()}
    case = Case(folder, sources=sources, **fields)
    if case.result not in RESULTS or bool(case.refused) == bool(case.sources):
        raise ValueError(
            f"{folder.name}: result {case.result!r} with neither sources nor refused, or both; "
            f"expected one of {', '.join(RESULTS)}, and either of them"
        )
    return case


def read_cases() -> list[Case]:
    return [read_case(path.parent) for path in sorted(CASES.glob(f"*/{DESCRIPTION}"))]


def page() -> str:
    """The text of docs/forms.md."""
    rows = sorted(
        (list(RESULTS).index(case.result), case.form, case.what, RESULTS[case.result])
        for case in read_cases()
    )
    return HEAD + "".join(f"| {form} | {what} | {result} |\n" for _, form, what, result in rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
