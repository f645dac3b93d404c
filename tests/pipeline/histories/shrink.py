"""A failing history made small: many reductions at once, as sources of one more batch."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from histories.history import Case, judged
from histories.law import UnsoundError
from histories.plan import Plan
from histories.reduce import Mark, Marks, marks_of, reduced, size
from histories.replay import ContradictionError

LARGEST_BATCH = 500
Fails = Callable[[Sequence[Case]], set[str]]
"""The names of the cases whose published tables or cuts are wrong after some landing."""


def shrink(plan: Plan, fails: Fails, rounds: int = 10) -> Plan:
    """The smallest history found that still fails.

    Args:
        plan: a history that fails.
        fails: runs a batch.
        rounds: most batches.
    """
    taken: Marks = frozenset()
    left = marks_of(plan)
    for _ in range(rounds):
        useful = _batch(plan, [taken | some for some in _chunks(left, taken)], fails)
        # What can go alone can often go together: try more and more of it in the same way.
        unions = [frozenset().union(*useful[:count]) for count in range(2, len(useful) + 1)]
        best = [*useful, *_batch(plan, unions, fails)]
        if not best:
            break
        taken = min(best, key=lambda marks: size(reduced(plan, marks, plan.name)))
        left = [mark for mark in left if mark not in taken]
    return reduced(plan, taken, plan.name)


def _chunks(left: Sequence[Mark], taken: Marks) -> list[Marks]:
    """Halves, quarters and so on, down to single marks."""
    chunks: dict[Marks, None] = {}
    length = len(left)
    while length:
        for start in range(0, len(left), length):
            chunks[frozenset(left[start : start + length])] = None
        length //= 2
    return [chunk for chunk in chunks if chunk and not chunk <= taken][:LARGEST_BATCH]


def _batch(plan: Plan, sets: Iterable[Marks], fails: Fails) -> list[Marks]:
    """Those of the sets without which the history still fails, the smallest rest first."""
    cases: dict[str, tuple[Marks, Case]] = {}
    for marks in list(sets)[:LARGEST_BATCH]:
        name = f"h{len(cases):05d}"
        try:
            cases[name] = marks, judged(reduced(plan, marks, name))
        except (ContradictionError, UnsoundError):
            continue
    if not cases:
        return []
    failing = [cases[name] for name in fails([case for _, case in cases.values()])]
    return [marks for marks, case in sorted(failing, key=lambda one: size(one[1].plan))]


def write_plan(path: Path, plan: Plan) -> None:
    """A regression file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n")


def read_plan(path: Path) -> Plan:
    return msgspec.json.decode(path.read_bytes(), type=Plan)
