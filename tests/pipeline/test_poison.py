"""Messages that exhaust a parser stop nobody: all others are published, now and in the next run."""

import json
from collections.abc import Iterator

import pytest
from arrivals import Arrival
from lake import Lake, open_lake, tables_of
from oracle import Message
from streams import Postgresql, create, update

from dbt_debezium.registry.store import CREATE_TABLE
from dbt_debezium.scaffold.landed_tables import landed_tables

pytestmark = [pytest.mark.slow, pytest.mark.fault(65)]

DEEP = 2_000
BRACKETS = 100_000
DIGITS = "9" * 5_000
PLACE = "123456789"
"""A number for which a text is put that no writer of JSON would write."""
POISONED_ROWS = {
    "digits": DIGITS,
    "exponents": "1e-1000000000",
    "brackets": "[" * BRACKETS,
    "nested": '{"a":' * DEEP + "1" + "}" * DEEP,
    "names": json.dumps({"n" * 60_000: 1}),
}
"""The value of a column, by the source that sends it: each has a row before and one after it."""
VALUES = ("1e-1000000000", "1e2147483647", "0." + "0" * 30_000, "7" * 30_000, "1.5e-2147483648")
"""Texts in a decimal column, on whose exponents and digits Java would fail or work for hours."""
SCHEMA = '{"type":"array","items":' * DEEP + '"int"' + "}" * DEEP


def poisoned(source: str, value: str) -> list[Message]:
    stream = Postgresql(source)
    stream.commit(create("t", id=1, v=1))
    stream.commit(create("t", id=2, v=int(PLACE)))
    stream.commit(create("t", id=3, v=3))
    (sent, *_) = stream.landings
    return [{**one, "value": one["value"] and one["value"].replace(PLACE, value)} for one in sent]


def nested_block(message: Message) -> Message:
    """A change whose schema block nests."""
    items = '{"type":"array","items":' * DEEP + '{"type":"int32"}' + "}" * (DEEP - 1)
    block = (
        '{"type":"struct","fields":[{"type":"struct","field":"after","fields":['
        f'{items},"field":"v"}}]}}]}}'
    )
    return {**message, "value": f'{{"schema":{block},"payload":{message["value"]}}}'}


def garbage() -> list[Message]:
    """Messages of topics of no table."""
    values = ["[" * BRACKETS, '{"a":' * BRACKETS, DIGITS, f'{{"op":{DIGITS}}}', "1e1000000000"]
    return [
        {
            "topic": "nowhere",
            "partition": 0,
            "offset": offset,
            "timestamp": 1_790_000_000_000,
            "key": value,
            "value": value,
            "headers": [],
        }
        for offset, value in enumerate([*values, "\0\0\0\0\7abc"])
    ]


class Shop:
    """A source whose rows all can be read, and some decimals of which nothing can be made."""

    def __init__(self) -> None:
        self.stream = Postgresql("shop")
        for id, value in enumerate(["1.50", *VALUES]):
            self.stream.commit(create("bill", id=id, total=value))
        block = Postgresql("block")
        block.commit(create("t", id=1, v=[]))
        changes = [nested_block(one) if one["key"] else one for one in block.landings[0]]
        self.first = [*self.stream.landings[0], *changes, *garbage()]
        self.stream.landings[0].clear()
        self.stream.commit(update("bill", id=0, total="2.50"))
        self.second = self.stream.landings[0]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    shop = Shop()
    (bill,) = tables_of(shop.first, only=["bill"])
    bill.facts.connect_types["total"] = "decimal(12,2)"
    sources = {source: poisoned(source, value) for source, value in POISONED_ROWS.items()}
    tables = [bill, *tables_of(sources["digits"])]
    with open_lake(tmp_path_factory.mktemp("poison"), tables) as lake:
        lake.spark.sql(CREATE_TABLE)
        schema = lake.spark.createDataFrame(
            [("nowhere", "7", "AVRO", SCHEMA, "http://registry")],
            lake.spark.table("landing.schema").schema,
        )
        schema.writeTo("landing.schema").append()
        parts = [Arrival(source, sent, []) for source, sent in sources.items()]
        lake.land_arrivals("first", [Arrival("shop", shop.first, []), *parts])
        assert lake.build(), lake.lines
        lake.land_arrivals("second", [Arrival("shop", shop.second, [])])
        assert lake.build(), lake.lines
        yield lake


def test_the_others_are_published_now_and_in_the_next_run(lake: Lake) -> None:
    rows = lake.rows("select id, cast(total as string) from public.bill order by id")
    assert rows == [(0, "2.50"), *((id, None) for id in range(1, len(VALUES) + 1))]
    history = lake.rows("select cast(total as string) from public.bill_history where id = 0")
    assert sorted(history) == [("1.50",), ("2.50",)]
    named = lake.rows(
        "select id, _change.unrepresentable[0].raw_text from public.bill where id > 0 order by id"
    )
    assert named == list(enumerate(VALUES, start=1))


def test_each_message_that_cannot_be_read_is_quarantined_by_topic_and_offset(lake: Lake) -> None:
    found = lake.rows(
        "select source, topic, `offset`, quarantine_reason from build.quarantined_message"
        " where topic not in ('nowhere')"
    )
    assert {(topic, reason) for _, topic, _, reason in found} == {
        ("digits.app.t", "bad_type"),
        ("names.app.t", "bad_type"),
        ("brackets.app.t", "too_deep"),
        ("nested.app.t", "too_deep"),
    }
    of_nowhere = lake.rows(
        "select `offset` from build.quarantined_message where topic = 'nowhere' order by 1"
    )
    assert of_nowhere == [(offset,) for offset in range(len(garbage()))]
    assert lake.rows(
        "select count(*) from build.quarantined_message where quarantine_reason = 'internal_error'"
    ) == [(0,)]


def test_a_poisoned_transaction_waits_and_what_came_before_it_is_seen(lake: Lake) -> None:
    cuts = lake.cuts()
    held = {
        source: len({one["transaction_id"] for one in cuts[source]["held"]})
        for source in POISONED_ROWS
    }
    assert held == {
        "digits": 2,
        "exponents": 0,
        "brackets": 2,
        "nested": 2,
        "names": 2,
    }


def test_scaffold_sees_every_table(lake: Lake) -> None:
    found = {(facts.source, facts.table): facts.types() for facts in landed_tables(lake.spark)}
    assert found.keys() == {("shop", "bill"), ("block", "t"), *((s, "t") for s in POISONED_ROWS)}
    assert found["block", "t"] == {"id": "bigint", "v": "string from json"}
    assert found["digits", "t"] == {"id": "bigint", "v": "bigint"}
