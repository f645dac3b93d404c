"""How a lake is, as one page of HTML that needs nothing else: no script, and no other file."""

from datetime import datetime
from importlib.metadata import metadata, version
from typing import Final
from urllib.parse import urljoin

import jinja2

from dbt_debezium.ages import age_of, shown_time
from dbt_debezium.amounts import counted, size
from dbt_debezium.page.plots import HEIGHT, plots_of
from dbt_debezium.page.rounds import last_rounds, round_problems, shown_ages
from dbt_debezium.page.sources import source_part
from dbt_debezium.rounds.health import RoundsHealth
from dbt_debezium.rounds.history import Rounds
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.report import OUTCOMES
from dbt_debezium.status.sentences import by_need, shared_sentences
from dbt_debezium.status.summary import Summary, summary_of

SPANS: Final = (("Last day", 1), ("Last week", 7))
DAY_SECONDS: Final = 86_400
_ENVIRONMENT: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("dbt_debezium.page", "."),
    # Names of sources, topics and tables come from messages.
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page_of(
    found: LakeStatus,
    health: RoundsHealth | None,
    lake: str,
    now: datetime,
    rounds: Rounds | None = None,
    refresh_seconds: int | None = None,
) -> tuple[Summary, str]:
    """The page, and the sentence at its top.

    Args:
        found: what `status` knows.
        health: what the health file of `run --every` says; None where there is none.
        lake: what the lake is called.
        now: when the page is made, UTC.
        rounds: the history of rounds; None where there is none.
        refresh_seconds: after how long a browser loads the page again; None: it does not.
    """
    problems = [] if health is None else round_problems(health, now)
    shared = shared_sentences(found.report, "status", found.without_truncate)
    summary = summary_of(found, now, [*problems, *shared])
    plots = []
    if rounds and rounds.spans:
        # What began within the last day looks the same in each longer plot.
        is_old = now.timestamp() - min(one.began for one in rounds.spans) > DAY_SECONDS
        spans = SPANS if is_old else SPANS[:1]
        plots = [(name, plots_of(rounds, now, days)) for name, days in spans]
    text = _ENVIRONMENT.get_template("page.html").render(
        summary=summary,
        lake=lake,
        made_at=shown_time(now),
        outcomes=OUTCOMES,
        parts=[source_part(entry, found, now) for entry in by_need(found.report)],
        totals={
            name: sum(entry["counts"][name] for entry in found.report)
            for name in ("landed", *OUTCOMES)
        },
        has_copies=any(
            entry["counts"]["quarantined"] > len(entry["quarantined"]) for entry in found.report
        ),
        health=health,
        ages=[] if health is None else shown_ages(health, now),
        shared=shared,
        stored=[(name, size(one)) for name, one in found.size.stored.items()],
        maintained=age_of(found.size.maintained_at, now) or "never",
        notices=[*problems, *found.notices],
        plots=plots,
        counted=counted,
        plot_height=HEIGHT,
        last_rounds=last_rounds(rounds) if rounds else [],
        refresh_seconds=refresh_seconds,
        version=version("dbt-debezium"),
        runbook=runbook_address(),
    )
    return summary, text


def runbook_address() -> str:
    """The page that has an entry for each reason, for a link that people may follow."""
    named = (one.split(", ", 1) for one in metadata("dbt-debezium").get_all("Project-URL") or ())
    return urljoin(str(dict(named)["Documentation"]), "runbook.md")
