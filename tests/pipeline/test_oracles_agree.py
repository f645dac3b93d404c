"""The generator of histories is right: two oracles agree, and money is neither made nor lost."""

import pytest
from histories.history import History, make_history
from histories.knobs import ALL_RULES, PROFILES, Profile
from histories.replay import State, commits
from histories.statements import Values, states

COUNT = 2_000


def sorted_rows(state: State) -> dict[str, list[Values]]:
    return {
        table: sorted((tuple(row.values()) for row, count in rows for _ in range(count)), key=repr)
        for table, rows in state.rows().items()
    }


def check(history: History) -> int:
    """Compare the oracles at every commit that readers may come to see. Returns how many."""
    by_statements = list(states(history.source.statements))
    checked = 0
    for commit in commits(history.plan):
        if commit.transaction is None:
            chain = history.plan.epochs[commit.epoch].chain
            committed = chain[0] if chain else len(history.source.transactions)
        else:
            committed = commit.transaction + 1
        rows = sorted_rows(commit.state)
        assert rows == by_statements[committed], (history.plan.name, commit.epoch, commit.count)
        balances = [row[2] for row in rows["account"]]
        total = history.source.bank_totals[committed - 1] if committed else 0
        assert sum(int(str(balance)) for balance in balances) == total
        checked += 1
    return checked


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_both_oracles_give_the_same_tables_after_every_commit(profile: Profile) -> None:
    assert sum(check(make_history(1, number, profile)) for number in range(COUNT)) > 5 * COUNT


def test_a_history_is_the_same_each_time() -> None:
    assert make_history(3, 7, ALL_RULES).plan == make_history(3, 7, ALL_RULES).plan
