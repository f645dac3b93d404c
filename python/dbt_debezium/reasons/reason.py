"""What a reason is: a name, the rule behind it, what it means, and what to do about it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Command = Literal[
    "preview", "preview --complete", "preview kafka", "preview kafka --complete", "run", "status"
]

PREVIEWS: Final[tuple[Command, ...]] = (
    *("preview", "preview --complete"),
    *("preview kafka", "preview kafka --complete"),
)
DUMP_WORDS: Final = {
    "land": "dump",
    "complete": "pass --complete if the dump is whole (every partition to its end)",
    "leave_out": "pass {options}",
}
KAFKA_WORDS: Final = {
    "land": "read",
    "complete": "pass --complete if the connector was idle while its topics were read",
    "leave_out": "pass {options}",
}
PROJECT_WORDS: Final = {
    "land": "land",
    # For one run: a later one can bring the first half of a transaction.
    "complete": (
        "run once with --vars 'landing_reaches_the_end: true' if every partition has landed to "
        "its end"
    ),
    "leave_out": "list {quoted} in not_ingested_tables of dbt_project.yml",
}
"""`run` and `status` look at a project, which has settings; `preview` has options instead. A remedy
that has been followed already is left out."""
FOLLOWED: Final = re.compile(r"\{complete\}, or |,? or \{complete\}")
WORDS: Final[Mapping[Command, Mapping[str, str]]] = {
    "preview": DUMP_WORDS,
    "preview --complete": DUMP_WORDS | {"complete": ""},
    "preview kafka": KAFKA_WORDS,
    "preview kafka --complete": KAFKA_WORDS | {"complete": ""},
    "run": PROJECT_WORDS,
    "status": PROJECT_WORDS,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is held, flagged or quarantined.

    In braces stand what the sentence fills in, such as {source} and {table}, and in what is to be
    done the words that differ from command to command.
    """

    name: str
    rule: str
    """Its number in docs/rules.md."""
    meaning: str
    remedy: str
    """What to do; empty for what only waits for something else."""
    preview: str = ""
    """What to do in `preview`, where other words alone do not make the remedy right."""
    cases: Mapping[str, "Reason"] = field(default_factory=dict)
    """What it says of a special case, by the case's name."""

    def told(self, command: Command, words: Mapping[str, str]) -> str:
        """Meaning and remedy, in the words of a command.

        >>> one = Reason("no_end", "S13", "its END is missing", "{land} {source}.transaction")
        >>> one.told("preview", {"source": "shop"})
        'its END is missing (no_end); dump shop.transaction'
        >>> Reason("late", "S4", "it is late", "{complete}, or wait").told("preview --complete", {})
        'it is late (late); wait'
        """
        remedy = (command in PREVIEWS and self.preview) or self.remedy
        if not WORDS[command]["complete"]:
            remedy = FOLLOWED.sub("", remedy)
        for name, text in WORDS[command].items():
            remedy = remedy.replace(f"{{{name}}}", text)
        told = f"{self.meaning} ({self.name})" + (f"; {remedy}" if remedy else "")
        # Names from the data come last, so that no brace in them is looked at.
        return told.format_map(words)


def by_name(reasons: Iterable[Reason]) -> dict[str, Reason]:
    """Reasons by their names."""
    return {reason.name: reason for reason in reasons}
