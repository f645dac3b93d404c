"""The metrics of a lake and of its rounds, for Prometheus.

Dashboards and alert rules depend on the names, so they stay as they are. `docs/watching.md` lists
them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dbt_debezium.ages import moment_of
from dbt_debezium.errors import DebeziumError
from dbt_debezium.replaced_file import write
from dbt_debezium.rounds.behind import sources_of
from dbt_debezium.rounds.health import RoundsHealth
from dbt_debezium.status.acceptances import accepted_count, open_flags, open_messages
from dbt_debezium.status.report import OUTCOMES
from dbt_debezium.watching.watch import Seen

PREFIX: Final = "dbt_debezium_"
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Gauge:
    """A metric."""

    name: str
    """Without the prefix."""
    help: str
    labels: Sequence[str] = ()


BEHIND = Gauge(
    "readers_behind_seconds",
    "How long readers had lacked something when the latest round ended, of any source.",
)
COMMITS_BEHIND = Gauge(
    "commits_behind_seconds",
    "From the newest published commit to the newest that has landed, by the clock of the source.",
    ["source"],
)
INFO = Gauge("info", "The version of dbt-debezium that reports, always 1.", ["version"])
COMMIT = Gauge("commit_number", "Newest published commit of a source.", ["source"])
COMMITTED = Gauge(
    "committed_timestamp_seconds",
    "When the source committed the newest published commit, by its own clock.",
    ["source"],
)
MESSAGES = Gauge(
    "messages", "Landed messages of a source by what became of them.", ["source", "outcome"]
)
HELD = Gauge(
    "held_transactions", "Transactions and snapshots that wait, by reason.", ["source", "reason"]
)
QUARANTINED = Gauge(
    "quarantined_messages",
    "Messages that cannot be read and that nobody has accepted, by reason.",
    ["source", "reason"],
)
FLAGGED = Gauge(
    "flagged_tables",
    "Tables that may differ from their source, by flag, unless that is accepted.",
    ["source", "flag"],
)
ACCEPTED = Gauge(
    "accepted", "Flags, messages, settings and tables that operators have accepted.", ["source"]
)
ROUNDS = Gauge("rounds", "Rounds since the process of `run --every` began.")
FAILED = Gauge("failed_rounds", "How many rounds in a row have failed; 0 after a good one.")
RUNNING = Gauge("rounds_running", "1 while `run --every` runs, 0 after it has ended.")
MOMENTS = {
    "last_round_at": Gauge("last_round_timestamp_seconds", "When the latest round began."),
    "last_published_at": Gauge(
        "last_published_timestamp_seconds", "When this process last published."
    ),
    "up_to_date_at": Gauge(
        "up_to_date_timestamp_seconds",
        "Readers see everything that was sent before this time.",
    ),
}
GAUGES: Final = (
    BEHIND, COMMITS_BEHIND, INFO, COMMIT, COMMITTED, MESSAGES, HELD, QUARANTINED, FLAGGED,
    ACCEPTED, ROUNDS, FAILED, RUNNING, *MOMENTS.values(),
)  # fmt: skip


class LakeMetrics(Collector):
    """The metrics of what is known of a lake."""

    def __init__(self) -> None:
        self.seen = Seen("")
        """Replaced as a whole, so that a scrape in another thread finds the one or the other."""

    def collect(self) -> Iterable[Metric]:
        seen = self.seen
        yield _family(INFO, [([version("dbt-debezium")], 1)])
        if seen.found:
            yield from lake_metrics(seen.found.report)
        if seen.health:
            yield from round_metrics(seen.health)


def text_of(seen: Seen) -> str:
    """The metrics in the text format of Prometheus."""
    metrics = LakeMetrics()
    metrics.seen = seen
    return generate_latest(metrics).decode()


class MetricsFile:
    """A file for the textfile collector of Prometheus' node exporter."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def write(self, seen: Seen) -> str | None:
        """Replace the file as a whole.

        Raises:
            DebeziumError: it cannot be written.
        """
        write(self._file, text_of(seen), "run: --metrics-file")
        return seen.unseen and f"run: metrics show the lake as it was: {seen.unseen}"


class MetricsServer:
    """Answers scrapes at `/metrics` until the process ends."""

    def __init__(self, address: str) -> None:
        """Begin to listen.

        Args:
            address: `port`, for scrapes from this machine, or `host:port`.

        Raises:
            DebeziumError: the address is none, or cannot be listened on.
        """
        host, _, port = address.rpartition(":")
        if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
            raise DebeziumError(
                f"run: --metrics-port: '{address}' is no port; write one as 9464, or as "
                "0.0.0.0:9464 for scrapes from other machines"
            )
        self._metrics = LakeMetrics()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self._metrics)
        try:
            start_http_server(int(port), host.strip("[]") or LOOPBACK, registry)
        except OSError as error:
            raise DebeziumError(
                f"run: --metrics-port: {address} cannot be listened on "
                f"({error.strerror or error}); name a free port of this machine"
            ) from error

    def write(self, seen: Seen) -> str | None:
        """Replace what scrapes find."""
        self._metrics.seen = seen
        return seen.unseen and f"run: metrics show the lake as it was: {seen.unseen}"


def lake_metrics(report: Sequence[dict[str, Any]]) -> Iterator[Metric]:
    """What is published, held, quarantined and flagged.

    Args:
        report: as `status --json` has it.
    """
    committed = [(one["source"], moment_of(one["committed_at"])) for one in report]
    behind = [(one["source"], one["commits_behind_seconds"]) for one in sources_of(report)]
    yield _family(COMMITS_BEHIND, [([name], value) for name, value in behind if value is not None])
    yield _family(COMMIT, [([one["source"]], one["commit_number"]) for one in report])
    yield _family(COMMITTED, [([source], at.timestamp()) for source, at in committed if at])
    yield _family(
        MESSAGES,
        [([one["source"], name], one["counts"][name]) for one in report for name in OUTCOMES],
    )
    yield _counts(
        HELD, report, lambda one: {(x["transaction_id"], x["reason"]) for x in one["held"]}
    )
    yield _counts(QUARANTINED, report, lambda one: [("", x["reason"]) for x in open_messages(one)])
    yield _counts(FLAGGED, report, lambda one: {(x["table"], x["flag"]) for x in open_flags(one)})
    yield _family(ACCEPTED, [([one["source"]], accepted_count([one])) for one in report])


def round_metrics(health: RoundsHealth) -> Iterator[Metric]:
    """How the rounds are."""
    yield _family(BEHIND, [([], health.readers_behind_seconds)])
    yield _family(ROUNDS, [([], health.round)])
    yield _family(FAILED, [([], health.failed_rounds)])
    yield _family(RUNNING, [([], health.state != "ended")])
    for field, gauge in MOMENTS.items():
        moment: datetime | None = getattr(health, field)
        if moment:
            yield _family(gauge, [([], moment.timestamp())])


def _counts(
    gauge: Gauge,
    report: Sequence[dict[str, Any]],
    kinds: Callable[[dict[str, Any]], Iterable[tuple[str, str]]],
) -> Metric:
    """How many of a source there are, by the second of each pair."""
    counted = [(one["source"], Counter(kind for _, kind in kinds(one))) for one in report]
    return _family(
        gauge,
        [([source, kind], count) for source, kinds in counted for kind, count in kinds.items()],
    )


def _family(gauge: Gauge, values: Iterable[tuple[Sequence[str], float]]) -> Metric:
    family = GaugeMetricFamily(PREFIX + gauge.name, gauge.help, labels=gauge.labels)
    for labels, value in values:
        family.add_metric([_utf8(label) for label in labels], value)
    return family


def _utf8(label: str) -> str:
    """A label as it is, but for half a surrogate pair, which nothing can send."""
    return label.encode(errors="backslashreplace").decode()
