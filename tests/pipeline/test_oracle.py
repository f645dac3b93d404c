"""The oracle says what the database said, and arrivals are worth testing with. No Spark."""

import gzip
import json
from collections import Counter, defaultdict
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from arrivals import (
    Arrival,
    expected_cuts,
    landings,
    make_arrival,
    renamed,
    source_name,
    write_arrivals,
)
from compare import (
    DISPOSITIONS,
    check_counts,
    compare_cut,
    compare_export,
    compare_export_with_database,
    compare_with_database,
    read_cuts,
    read_database_cuts,
    read_expected,
)
from oracle import Commit, History, Message, Row, read_messages, rows_of

CAPTURES = Path(__file__).parents[1] / "data"
NAMES = ("shop_basic", "truncate")
CUT_COUNTS = {"shop_basic": 16, "truncate": 32}


@cache
def messages_of(name: str) -> list[Message]:
    return read_messages(CAPTURES / name / "events.jsonl.gz")


@cache
def history_of(name: str) -> History:
    return History(messages_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_oracle_equals_the_database_at_every_recorded_moment(name: str) -> None:
    history = history_of(name)
    cuts = read_database_cuts(CAPTURES / name)
    assert len(cuts) == CUT_COUNTS[name]
    for cut in cuts:
        assert cut.last_transaction_id
        state = history.state(history.commit_of(cut.last_transaction_id))
        assert compare_with_database(cut.label, rows_of(state), cut) == []


@pytest.mark.parametrize("name", NAMES)
def test_oracle_equals_the_database_at_the_end(name: str) -> None:
    history = history_of(name)
    state = rows_of(history.state(len(history.commits)))
    assert compare_with_database(name, state, read_expected(CAPTURES / name)) == []


def test_recorded_moments_tell_neighbouring_commits_apart() -> None:
    """The comparison above has teeth: one commit earlier is another state."""
    history = history_of("shop_basic")
    for cut in read_database_cuts(CAPTURES / "shop_basic"):
        assert cut.last_transaction_id
        before = history.state(history.commit_of(cut.last_transaction_id) - 1)
        assert compare_with_database(cut.label, rows_of(before), cut)


def test_every_tenth_state_keeps_the_business_rules() -> None:
    history = history_of("shop_basic")
    for number in [*range(1, len(history.commits), 10), len(history.commits)]:
        assert broken_rules(rows_of(history.state(number))) == []


def broken_rules(tables: dict[tuple[str, str], list[Row]]) -> list[str]:
    """R1 to R3 of `tests/data/README.md`."""
    ordered: dict[int, Decimal] = defaultdict(Decimal)
    taken: Counter[str] = Counter()
    for item in tables["public", "order_items"]:
        ordered[item["order_id"]] += item["qty"] * Decimal(item["unit_price"])
        taken[item["sku"]] += item["qty"]
    balance: dict[int, Decimal] = defaultdict(Decimal)
    customer_of = {order["id"]: order["customer_id"] for order in tables["public", "orders"]}
    for payment in tables["public", "payments"]:
        balance[customer_of[payment["order_id"]]] += Decimal(payment["amount"])
    broken = []
    for order in tables["public", "orders"]:
        balance[order["customer_id"]] -= Decimal(order["total"])
        if Decimal(order["total"]) != ordered[order["id"]]:
            broken.append(f"R1 order {order['id']}")
    broken += [
        f"R2 customer {customer['id']}"
        for customer in tables["public", "customers"]
        if Decimal(customer["balance"]) != balance[customer["id"]]
    ]
    broken += [
        f"R3 product {product['sku']}"
        for product in tables["public", "products"]
        if product["stock"] + taken[product["sku"]] != product["made"]
    ]
    return broken


@pytest.mark.parametrize("replay", [None, "all", "tail"])
@pytest.mark.parametrize("name", NAMES)
def test_whole_arrival_ends_at_the_last_transaction(name: str, replay: str | None) -> None:
    history = history_of(name)
    arrival = make_arrival(messages_of(name), 1, "x", mode="whole", replay=replay)  # type: ignore[arg-type]
    cut = arrival.expected_cut(history)
    assert cut.commit_number == cut.known_commit_number == len(history.commits)
    assert cut.transaction_id == history.commits[-1].transaction_id


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_expected_cuts_of_arrivals_are_spread(name: str) -> None:
    history = history_of(name)
    total = len(history.commits)
    cuts = [
        make_arrival(messages_of(name), seed, f"a{seed:04}").expected_cut(history)
        for seed in range(200)
    ]
    tenths = Counter(min(cut.commit_number * 10 // total, 9) for cut in cuts if cut.commit_number)
    print(
        f"\n{name}: {len(cuts)} arrivals over {total} commits,",
        f"nothing {sum(not cut.commit_number for cut in cuts)},",
        "tenths " + " ".join(str(tenths[tenth]) for tenth in range(10)) + ",",
        f"whole {sum(cut.commit_number == total for cut in cuts)},",
        f"distinct {len({cut.commit_number for cut in cuts})},",
        f"held by the snapshot rule {sum(cut.is_held_by_snapshot for cut in cuts)},",
        f"unsound {sum(cut.is_unsound for cut in cuts)}",
    )
    assert len(tenths) == 10
    assert len({cut.commit_number for cut in cuts}) >= min(total, 200) // 3


@pytest.mark.parametrize("name", NAMES)
def test_known_cut_is_the_last_commit_whose_messages_all_arrived(name: str) -> None:
    """The same cut by brute force: count what is missing in front of each commit."""
    history = history_of(name)
    for seed in range(60):
        arrival = make_arrival(messages_of(name), seed, "x")
        arrived, known = set(arrival.places), 0
        for commit in history.commits:
            if not {*commit.change_places, *commit.end_places} <= arrived:
                break
            known = commit.number
        assert arrival.expected_cut(history).known_commit_number == known


@pytest.mark.parametrize("name", NAMES)
def test_what_was_begun_again_before_its_end_waits_for_every_partition(name: str) -> None:
    """S13: the counts of END could be those of counters that began again."""
    history, messages = history_of(name), messages_of(name)
    offset = 1 + max(m["offset"] for m in messages if m["topic"].endswith(".transaction"))

    def cut_with_a_second_begin(commit: Commit, *, is_before_end: bool) -> int:
        (begin,), (end,) = commit.begin_places, commit.end_places
        later = {**messages[end], "offset": offset + 1} if is_before_end else messages[end]
        sent = [*messages[:end], later, *messages[end + 1 :], {**messages[begin], "offset": offset}]
        arrival = Arrival("x", sent, [*range(len(messages)), begin])
        return arrival.expected_cut(history).commit_number

    last = history.commits[-1]
    assert cut_with_a_second_begin(last, is_before_end=True) == len(history.commits) - 1
    assert cut_with_a_second_begin(last, is_before_end=False) == len(history.commits)
    # Every partition is past an early one: nothing more of it can come.
    early = next(commit for commit in history.commits if commit.begin_places)
    assert cut_with_a_second_begin(early, is_before_end=True) == len(history.commits)


@pytest.mark.parametrize("name", NAMES)
def test_landings_grow_to_the_whole_arrival(name: str) -> None:
    history = history_of(name)
    for seed in range(20):
        arrival = make_arrival(messages_of(name), seed, "x")
        parts = landings(arrival, 4, seed)
        assert sorted(place for part in parts for place in part.places) == sorted(arrival.places)
        cuts = [cut.commit_number for cut in expected_cuts(history, parts)]
        assert cuts == sorted(cuts)
        assert cuts[-1] >= arrival.expected_cut(history).commit_number


@pytest.mark.parametrize("replay", [None, "all", "tail", "crash"])
@pytest.mark.parametrize("name", NAMES)
def test_arrival_keeps_each_partition_a_prefix_of_the_log(name: str, replay: str | None) -> None:
    for seed in range(6):
        arrival = make_arrival(messages_of(name), seed, "x", replay=replay)  # type: ignore[arg-type]
        offsets = defaultdict(list)
        for message in arrival.messages:
            offsets[message["topic"], message["partition"]].append(message["offset"])
        for numbers in offsets.values():
            assert sorted(numbers) == list(range(len(numbers)))


@pytest.mark.parametrize("name", NAMES)
def test_renaming_touches_the_source_name_only(name: str) -> None:
    old = source_name(messages_of(name))
    for message in messages_of(name):
        there = renamed(message, old, "s_0001")
        assert old not in there["topic"].split(".")
        assert f'"{old}"' not in (there["value"] or "")
        assert f'"{old}"' not in (there["key"] or "")
        assert f'"{old}"' not in json.dumps(there["headers"]).replace("\\", "")
        assert renamed(there, "s_0001", old) == message


def export(directory: Path, arrival: Arrival, history: History) -> None:
    """An export as a perfect pipeline would write it."""
    cut = arrival.expected_cut(history)
    (directory / arrival.prefix).mkdir(parents=True)
    for table, rows in rows_of(history.state(cut.commit_number)).items():
        lines = "".join(json.dumps(row, default=float) + "\n" for row in rows)
        (directory / arrival.prefix / f"{'.'.join(table)}.jsonl").write_text(lines)
    landed = len(arrival.messages)
    entry = {
        "source": arrival.prefix,
        "commit_number": cut.commit_number,
        "commit_position": cut.commit_position,
        "transaction_id": cut.transaction_id,
        "counts": dict.fromkeys(DISPOSITIONS, 0) | {"landed": landed, "applied": landed},
    }
    (directory / "cut.json").write_text(json.dumps([entry]))


@pytest.mark.parametrize("name", NAMES)
def test_comparison_finds_nothing_in_a_true_export_and_every_damage(
    name: str, tmp_path: Path
) -> None:
    history = history_of(name)
    arrival = make_arrival(messages_of(name), 3, "x_1", mode="whole")
    export(tmp_path, arrival, history)
    cut = arrival.expected_cut(history)
    entry = read_cuts(tmp_path)["x_1"]
    database = read_expected(CAPTURES / name)
    assert compare_export(tmp_path, "x_1", history, cut.commit_number) == []
    assert compare_export_with_database(tmp_path, "x_1", database) == []
    assert compare_cut(entry, cut, "x_1") == []
    assert check_counts(entry, len(arrival.messages)) == []

    assert compare_export(tmp_path, "x_1", history, cut.commit_number - 1)
    assert compare_cut(entry | {"commit_number": 2}, cut, "x_1")
    assert compare_cut(None, cut, "x_1")
    assert check_counts(entry, len(arrival.messages) + 1)
    assert check_counts(entry | {"counts": entry["counts"] | {"held": 1}}, len(arrival.messages))
    path = next(p for p in sorted((tmp_path / "x_1").iterdir()) if p.stat().st_size)
    lines = path.read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    changed = json.dumps(first | {list(first)[-1]: "another"}) + "\n"
    for damaged in (lines[1:], [*lines, lines[0]], [changed, *lines[1:]]):
        path.write_text("".join(damaged))
        assert compare_export(tmp_path, "x_1", history, cut.commit_number)
        assert compare_export_with_database(tmp_path, "x_1", database)


def test_written_arrivals_read_back(tmp_path: Path) -> None:
    arrivals = [make_arrival(messages_of("truncate"), seed, f"t{seed}") for seed in range(3)]
    for path, arrival in zip(write_arrivals(tmp_path, arrivals), arrivals, strict=True):
        assert read_messages(path) == arrival.messages
    (path,) = write_arrivals(tmp_path / "all", arrivals, combined="all")
    with gzip.open(path, "rt") as lines:
        assert sum(1 for _ in lines) == sum(len(arrival.messages) for arrival in arrivals)
