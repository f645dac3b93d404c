"""How long it takes from a commit in the database to the run that publishes it."""

from collections.abc import Mapping
from statistics import median, quantiles


class Latency:
    """Notes when transactions were published."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def published(self, at: float, committed: Mapping[str, float]) -> None:
        """Note a run that published.

        Args:
            at: when, in seconds since 1970.
            committed: each transaction that readers see since then, and when it was committed.
        """
        for transaction_id, committed_at in committed.items():
            self._seconds.setdefault(transaction_id, at - committed_at)

    def __str__(self) -> str:
        """Median and 95th percentile, in seconds.

        >>> latency = Latency()
        >>> latency.published(10.0, {"1": 4.0, "2": 8.0})
        >>> latency.published(12.0, {"1": 4.0, "2": 8.0, "3": 9.0})
        >>> str(latency)
        'median 3.0 s, 95th percentile 5.7 s'
        """
        seconds = list(self._seconds.values())
        if len(seconds) < 2:
            return "not measured"
        high = quantiles(seconds, n=20, method="inclusive")[-1]
        return f"median {median(seconds):.1f} s, 95th percentile {high:.1f} s"
