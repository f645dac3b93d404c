"""What an operator can accept as it is, and the sentences about it (S16)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.patterns import matches
from dbt_debezium.reasons.flagged import FLAGS

ACCEPT: Final = "accept"
"""The decision in seeds/operator_decision.csv."""
METADATA: Final = "provide.transaction.metadata"
OPERATIONS: Final = "skipped.operations"
SCHEMAS: Final = "value.converter.schemas.enable"
SETTINGS: Final = (METADATA, OPERATIONS, SCHEMAS)
"""Settings of a connector that `status` asks to change, and that may stay as they are."""
FORMS: Final = re.compile(
    r"flag (?P<flag>\S+) of (?P<flagged>.+)"
    r"|message (?P<topic>.+)-(?P<partition>[0-9]+|\*)-(?P<offset>[0-9]+|\*)"
    r"|setting (?P<setting>\S+)"
    r"|table (?P<table>.+)"
)
SAMPLES: Final = (
    "flag <flag> of <schema.table>, message <topic>-<partition>-<offset>, setting <setting> or "
    "table <schema.table>"
)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A row of the decisions that accepts something of a source."""

    source: str
    what: str
    """As the row has it in transaction_id."""
    by: str
    """Who accepted it, when and why."""

    @property
    def parts(self) -> dict[str, str]:
        """The parts of FORMS that it has; none if it has another form."""
        found = FORMS.fullmatch(self.what)
        return {name: text for name, text in found.groupdict().items() if text} if found else {}

    def problem(self) -> str | None:
        """Why it can never accept anything, and what to write.

        >>> Acceptance("shop", "flag no_base of public.t", "").problem()[:58]
        'operator_decision: flag no_base of public.t of shop: no_ba'
        >>> Acceptance("shop", "message shop.t-0-7", "").problem()
        """
        parts = self.parts
        where = f"operator_decision: {self.what} of {self.source}"
        if not parts:
            return f"{where}: nothing that can be accepted is called so; write {SAMPLES}"
        if "flag" in parts and parts["flag"] not in FLAGS:
            return f"{where}: {parts['flag']} is no flag; flags are {', '.join(sorted(FLAGS))}"
        if "setting" in parts and parts["setting"] not in SETTINGS:
            known = ", ".join(SETTINGS)
            return f"{where}: {parts['setting']} is no setting that can stay; these can: {known}"
        return None

    def sentence(self, count: int) -> str:
        """What is accepted.

        Args:
            count: how many flags, messages or tables it stands for.

        >>> Acceptance("shop", "flag no_baseline of public.t", "Ann on 2026-11-21 (empty)"
        ...            ).sentence(1)
        'shop: accepted: flag no_baseline of public.t, by Ann on 2026-11-21 (empty)'
        """
        many = f" ({count:,} of them)" if count > 1 else ""
        return f"{self.source}: accepted: {self.what}{many}, by {self.by}"

    def idle_sentence(self, why: str = "") -> str:
        """That it stands for nothing that there is.

        Args:
            why: if that is known.
        """
        parts = self.parts
        if "flag" in parts:
            cause = f"no such table is flagged {parts['flag']}"
        elif "topic" in parts:
            cause = "no such message is quarantined"
        elif "setting" in parts:
            cause = f"nothing asks for {parts['setting']}"
        else:
            cause = "no table of that name is without a model"
        return (
            f"{self.source}: accepting {self.what} has had no effect: {why or cause}; "
            "correct it, or take the row out of seeds/operator_decision.csv"
        )


def stays(entry: Mapping[str, Any], setting: str) -> bool:
    """Whether an operator has accepted that a setting of a source's connector stays.

    Args:
        entry: the source's entry in a report.
        setting: one of SETTINGS.
    """
    return any(one["what"] == f"setting {setting}" for one in entry["accepted"])


def needs_no_model(entry: Mapping[str, Any], table: str) -> bool:
    """Whether an operator has accepted that a table has no model."""
    accepted = (one["what"].partition("table ") for one in entry["accepted"])
    return any(not before and matches(name, table) for before, found, name in accepted if found)
