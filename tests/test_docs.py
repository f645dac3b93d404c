"""What the code can say, the docs explain; what the docs point at, exists. No Spark."""

import re
import runpy
from pathlib import Path
from typing import get_args

import pytest
import reality
import reference
import yaml

from dbt_debezium.cli import COMMANDS
from dbt_debezium.evidence.state import State
from dbt_debezium.messages.column_types import LOGICAL_TYPES
from dbt_debezium.reasons import FLAGS, HELD, QUARANTINED
from dbt_debezium.reasons.accepted import SETTINGS as SETTINGS_THAT_STAY
from dbt_debezium.reasons.hold_reason import HoldReason
from dbt_debezium.reasons.reason import Reason

REPOSITORY = Path(__file__).parents[1]
RUNBOOK = (REPOSITORY / "docs" / "runbook.md").read_text()
SETTINGS = (REPOSITORY / "docs" / "settings.md").read_text()
TYPES = (REPOSITORY / "docs" / "types.md").read_text()
PAGES = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]

SETTING = re.compile(r"--[a-z][a-z-]+|\b[a-z]+(?:[._][a-z]+)+\b")
"""Options, settings of ours and of a connector."""
WORDS = {
    "source": "shop",
    "table": "orders",
    "options": "--not-ingested 'orders'",
    "quoted": "'orders'",
    "lacking": "partition 1 of shop.orders has not landed",
    "expected": "2",
    "received": "1",
}
EXPLAINED = {
    "operator_decision.csv": "(#decisions)",
    "new_epoch": "(#decisions)",
    "shop.transaction": "<prefix>.transaction",
}
"""What the runbook calls by another name."""
OF_PREVIEW_TOO = {"generic_sources", "cdl_sources", "cdl_heartbeat_tables"}
"""Settings of a project that `preview` leaves as they are."""
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")


def test_the_reference_is_what_the_program_says_of_itself() -> None:
    again = "run `python tests/pipeline/reference.py`"
    assert reference.commands_page() == reference.COMMANDS_PAGE.read_text(), again
    assert reference.runbook() == RUNBOOK, again
    assert reference.settings_page() == SETTINGS, again


def section(title: str) -> set[str]:
    """The entries of one part of the runbook."""
    (part,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^### (\w+)$", part, re.MULTILINE))


def held_reasons() -> set[str]:
    """The reasons that the judge gives."""
    return {*get_args(HoldReason)}


def anchors(page: Path) -> set[str]:
    """What a link into the page can name, as GitHub makes it from headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_every_held_reason_is_defined_and_has_an_entry() -> None:
    assert {"no_end", "snapshot_unconfirmed", "follows_held_snapshot"} <= held_reasons()
    assert held_reasons() == HELD.keys()
    assert section("Held") == HELD.keys()


def test_what_only_waits_has_no_remedy_and_every_cause_has_one() -> None:
    assert {one for one in HELD if one.startswith("follows_")} == {
        name for name, reason in HELD.items() if not reason.remedy
    }


def reasons() -> list[tuple[str, Reason]]:
    """Every reason with the part of the runbook that it has its entry in, special cases too."""
    return [
        (part, one)
        for part, known in (("Held", HELD), ("Flags", FLAGS), ("Quarantined", QUARANTINED))
        for reason in known.values()
        for one in (reason, *reason.cases.values())
    ]


@pytest.mark.parametrize(("part", "reason"), reasons())
def test_a_reason_names_its_rule_and_its_entry_what_the_sentence_says_to_set(
    part: str, reason: Reason
) -> None:
    rules = (REPOSITORY / "docs" / "rules.md").read_text()
    assert f"| {reason.rule} | " in rules
    (text,) = re.findall(rf"^## {part}\n(.*?)(?=^## |\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)
    (entry,) = re.findall(rf"^### {reason.name}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    explained = text.partition("\n### ")[0] + entry
    for command in ("run", "preview"):
        told = reason.told(command, WORDS)
        assert not re.search(r"[{}]", told)
        for name in SETTING.findall(told.partition(f"({reason.name})")[2]):
            assert EXPLAINED.get(name, name) in explained, (command, told)


@pytest.mark.parametrize(("part", "reason"), reasons())
def test_preview_is_told_of_no_project_and_a_project_of_no_option_of_preview(
    part: str, reason: Reason
) -> None:
    in_preview, in_project = reason.told("preview", WORDS), reason.told("status", WORDS)
    settings = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())["vars"].keys()
    of_dumps = settings - OF_PREVIEW_TOO
    assert [name for name in of_dumps if name in in_preview.split(";", 1)[-1]] == [], in_preview
    assert not re.search(r"next run|--json|seeds/|model\b", in_preview)
    assert not re.search(r"--complete|--not-ingested|\bdump", in_project)


def listed_in(macro: str) -> set[str]:
    text = (REPOSITORY / "macros" / "hooks" / f"{macro}.sql").read_text()
    (listed,) = re.findall(r"return\(\[(.*?)\]\)", text, re.DOTALL)
    return set(re.findall(r"'(\w+)'", listed))


def test_every_flag_can_be_named_by_settings_and_decisions() -> None:
    assert listed_in("flag_names") == section("Flags")


def test_every_setting_that_can_be_accepted_is_known_to_the_test_of_decisions() -> None:
    text = (REPOSITORY / "tests" / "generic" / "is_decision.sql").read_text()
    (listed,) = re.findall(r"set settings = \[(.*?)\]", text, re.DOTALL)
    assert set(re.findall(r"'([^']+)'", listed)) == set(SETTINGS_THAT_STAY)
    (part,) = re.findall(
        r"^## Accepting what stays\n(.*?)(?=^## )", RUNBOOK, re.MULTILINE | re.DOTALL
    )
    assert [name for name in SETTINGS_THAT_STAY if f"`{name}`" not in part] == []


def test_every_quarantine_reason_has_an_entry() -> None:
    assert section("Quarantined") == QUARANTINED.keys()


def test_every_flag_has_a_meaning_and_an_entry() -> None:
    model = (REPOSITORY / "models" / "transactions" / "tables" / "table_flag.sql").read_text()
    assert section("Flags") == FLAGS.keys()
    assert set(re.findall(r"^ +'([a-z_]+)'(?:,| as flag,)$", model, re.MULTILINE)) == FLAGS.keys()


def test_the_model_of_flags_lists_them_all() -> None:
    text = (REPOSITORY / "models" / "transactions" / "tables" / "_tables.yml").read_text()
    told = r"- name: flag\n +data_type: string\n +description: >\n((?: {10}.*\n)+)"
    (listed,) = re.findall(told, text)
    assert set(re.findall(r"\w*_\w*", listed)) == FLAGS.keys()


def test_every_decision_is_listed_in_order() -> None:
    page = (REPOSITORY / "docs" / "how-it-works.md").read_text().partition("## Decisions")[2]
    files = sorted((REPOSITORY / "docs" / "decisions").glob("*.md"))
    assert re.findall(r"\(decisions/(\S+)\)", page) == [file.name for file in files]


def test_every_field_that_a_run_remembers_is_explained() -> None:
    page = (REPOSITORY / "docs" / "how-it-works.md").read_text()
    (part,) = re.findall(r"^## What a run remembers of a source\n(.*?)(?=^## )", page, re.M | re.S)
    assert {*State.__struct_fields__} - {"version"} <= set(re.findall(r"`(\w+)`", part))


def test_every_data_test_has_an_entry() -> None:
    tests = {path.stem for path in (REPOSITORY / "tests").rglob("*.sql")}
    assert section("Failed tests") == tests


@pytest.mark.parametrize("part", ["Held", "Flags", "Quarantined", "Failed tests"])
def test_every_entry_says_meaning_cause_and_remedy(part: str) -> None:
    for name in section(part):
        (entry,) = re.findall(rf"^### {name}\n(.*?)(?=^##|\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)
        assert re.findall(r"^- \*\*(\w+)\.\*\* \S", entry, re.MULTILINE) == [
            "Meaning",
            "Cause",
            "Remedy",
        ], name


def test_every_refusal_has_a_row() -> None:
    sources = "".join(
        path.read_text() for path in (REPOSITORY / "python" / "dbt_debezium").rglob("*.py")
    )
    raised = set(re.findall(r'DebeziumError\(\s*f?"(\w+): ', sources)) - {
        "preview",
        "demo",
        "query",
    }
    (part,) = re.findall(r"^## Refusals\n(.*)\Z", RUNBOOK, re.MULTILINE | re.DOTALL)
    assert raised <= set(re.findall(r"`(\w+): ", part))


def test_every_encoding_and_logical_type_is_in_the_types() -> None:
    macro = (REPOSITORY / "macros" / "decoded_encoding.sql").read_text()
    (known,) = re.findall(r"known: (.*)\n", macro.split("-#}")[0])
    rows = [row for row in TYPES.splitlines() if row.count("|") == 7]
    encodings = " ".join(row.split("|")[5] for row in rows)
    for name in known.split(", "):
        assert f"`{name}`" in encodings or f"`{name}(" in encodings, name
    logical = " ".join(row.split("|")[2] for row in rows)
    for name in LOGICAL_TYPES:
        assert f"`{name}`" in logical or f"`{name.rpartition('.')[2]}`" in logical, name


def test_every_setting_has_a_row() -> None:
    project = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())
    assert first_cells(SETTINGS, "Of the project") == project["vars"].keys()


def test_every_environment_variable_that_a_profile_of_one_machine_reads_has_a_row() -> None:
    profiles = (REPOSITORY / "profiles.yml").read_text().split("\n    prod:")[0]
    read = set(re.findall(r"env_var\('(\w+)'", profiles))
    assert first_cells(SETTINGS, "Of the machine") == read


def test_every_command_has_a_row() -> None:
    assert first_cells(SETTINGS, "Of the commands") == {*COMMANDS}


def first_cells(page: str, title: str) -> set[str]:
    """The first word in backticks of each row of one part's table."""
    (part,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^\| `(\w+)", part, re.MULTILINE))


def test_every_target_that_the_docs_name_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)|^make ([a-z-]+)", page.read_text(), re.MULTILINE))
        assert {one or other for one, other in named} <= targets, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for file, anchor in LINK.findall(page.read_text()):
        target = page.parent / file if file else page
        assert target.exists(), file
        if anchor:
            assert anchor in anchors(target), f"{file}#{anchor}"


def test_the_navigation_of_the_site_has_every_page_once() -> None:
    navigation = runpy.run_path(str(REPOSITORY / "docs" / "site" / "conf.py"))["NAVIGATION"]
    entries = [entry for part in navigation.values() for entry in part]
    assert entries[0] == "Overview <self>", "README.md, which holds the navigation"
    found = [[*REPOSITORY.glob(f"{entry}.md")] for entry in entries[1:]]
    assert [entry for entry, pages in zip(entries[1:], found, strict=True) if not pages] == []
    listed = [REPOSITORY / "README.md", *(page for pages in found for page in pages)]
    assert sorted(listed) == sorted(PAGES)


def test_the_page_of_forms_is_that_of_the_cases() -> None:
    assert reality.page() == reality.PAGE.read_text()
