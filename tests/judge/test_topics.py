"""BEGIN and END belong to the source whose changes they count, whatever their topic is called.

The streams of tests/pipeline/test_transaction_topics.py land with Spark. No Spark here.
"""

from dbt_debezium.evidence.topics import SentChanges, SentEnd, owners

GTID = "3ff300ed-e55c-11f1-98c4-02fc00000001:7"


def changes(prefix: str, transaction_id: str = "701", received: int = 2) -> SentChanges:
    connector = "mysql" if ":" in transaction_id else "postgresql"
    return SentChanges(prefix, connector, None, transaction_id, "public.orders", received, "0110")


def end(topic: str, transaction_id: str = "701", count: int = 2, position: str = "0140") -> SentEnd:
    connector = None if ":" in transaction_id else "postgresql"
    counts = {"public.orders": count}
    return SentEnd(topic, connector, None, transaction_id, position, counts)


def owner(topic: str, prefixes: list[str], *some: SentEnd, sent: list[SentChanges]) -> str | None:
    return owners([topic], prefixes, some, sent)[topic].source_prefix


def test_the_default_name_decides() -> None:
    assert owner("shop.transaction", ["shop", "bank"], sent=[]) == "shop"


def test_a_setting_and_an_earlier_run_come_before_the_name() -> None:
    found = owners(["shop.transaction"], ["shop"], [], [], settings={"shop.*": "bank"})
    assert found["shop.transaction"].source_prefix == "bank"
    found = owners(["shop.transaction"], ["shop"], [], [], known={"shop.transaction": "bank"})
    assert found["shop.transaction"].source_prefix == "bank"


def test_counts_decide_where_no_name_does() -> None:
    sent = [changes("shop"), changes("bank", received=3)]
    assert owner("routed.tx", ["shop", "bank"], end("routed.tx"), sent=sent) == "shop"


def test_counts_that_fit_two_sources_decide_nothing() -> None:
    sent = [changes("shop"), changes("bank")]
    found = owners(["routed.tx"], ["shop", "bank"], [end("routed.tx")], sent)["routed.tx"]
    assert found.source_prefix is None
    assert found.possible_prefixes == ("bank", "shop")


def test_an_end_that_counts_less_than_has_landed_belongs_to_another_source() -> None:
    some = [end("routed.tx"), end("routed.tx", "702", 1)]
    sent = [changes("shop"), changes("shop", "702", 2)]
    assert owner("routed.tx", ["shop"], *some, sent=sent) is None


def test_an_end_in_front_of_a_change_belongs_to_another_source() -> None:
    assert (
        owner("routed.tx", ["shop"], end("routed.tx", position="0100"), sent=[changes("shop")])
        is None
    )


def test_a_topic_that_has_the_name_of_a_source_belongs_to_no_other() -> None:
    sent = [changes("shop"), changes("bank")]
    topic = "eu-west.shop.transaction"
    assert owner(topic, ["shop", "bank"], end(topic), sent=sent) == "shop"
    assert owner(topic, ["shop", "bank"], end(topic), sent=[changes("bank")]) is None


def test_the_default_name_of_an_unknown_source_gives_way_to_gtids_alone() -> None:
    topic = "other.transaction"
    assert owner(topic, ["shop"], end(topic), sent=[changes("shop")]) is None
    sent = [changes("shop", GTID)]
    assert owner(topic, ["shop"], end(topic, GTID), sent=sent) == "shop"


def test_the_topic_that_the_chain_has_followed_leads_else_the_default_one() -> None:
    topics = ["shop.transaction", "eu-west.shop.transaction"]
    known = dict.fromkeys(topics, "shop")
    found = owners(topics, ["shop"], [], [], known=known)
    assert [found[one].is_leading for one in topics] == [True, False]
    found = owners(topics, ["shop"], [], [], known=known, followed=topics[1:])
    assert [found[one].is_leading for one in topics] == [False, True]
