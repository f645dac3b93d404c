"""Each topic of a lake is of the sources that send to it. No Spark."""

from dbt_debezium.evidence.lake_topics import LakeTopic, Seen, lake_topics


def seen(topic: str, source: str | None, kind: str = "change", **others: object) -> Seen:
    fields = {"connector": "postgresql", "database_name": None, "offset": 0, "message_count": 1}
    return Seen(topic, source, kind=kind, landing_id=1, **(fields | others))  # type: ignore[arg-type]


def placed(*some: Seen, **known: object) -> dict[str, LakeTopic]:
    return {one.topic: one for one in lake_topics(some, **known)}  # type: ignore[arg-type]


ORDERS = seen("shop.public.orders", "shop")
END = seen("shop.transaction", "shop", "transaction_marker", message_count=4)


def test_a_topic_is_of_the_source_of_its_changes() -> None:
    topic = placed(ORDERS)["shop.public.orders"]
    assert (topic.sources, topic.judged_sources, topic.role) == (("shop",), ("shop",), "tables")


def test_markers_are_judged_with_the_source_of_their_topic() -> None:
    topic = placed(ORDERS, END)["shop.transaction"]
    assert (topic.marker_source, topic.judged_sources) == ("shop", ("shop",))
    assert (topic.role, topic.marker_count) == ("transactions", 4)


def test_markers_alone_show_no_source() -> None:
    topic = placed(END)["shop.transaction"]
    assert (topic.marker_source, topic.judged_sources) == (None, ())


def test_one_transaction_topic_is_of_all_databases_of_a_server() -> None:
    some = [
        seen(f"erp.{name}.dbo.t", f"erp.{name}", connector="sqlserver", database_name=name)
        for name in ("crm", "sales")
    ]
    topic = placed(*some, seen("erp.transaction", "erp", "transaction_marker"))["erp.transaction"]
    assert (topic.marker_source, topic.judged_sources) == ("erp", ("erp.crm", "erp.sales"))


def test_a_source_with_a_dot_is_no_database_of_another() -> None:
    known = placed(ORDERS, seen("shop.eu.public.t", "shop.eu"), END)
    assert known["shop.transaction"].judged_sources == ("shop",)
    later = lake_topics([ORDERS, END], known.values(), published=["shop", "shop.eu"])
    assert {one.topic: one for one in later}["shop.transaction"].judged_sources == ("shop",)


def test_what_cannot_be_read_is_of_the_source_that_its_topic_is_named_after() -> None:
    topic = placed(ORDERS, seen("shop.public.items", None, "quarantined"))["shop.public.items"]
    assert (topic.sources, topic.topic_source, topic.judged_sources) == ((), "shop", ("shop",))


def test_what_cannot_be_read_may_be_a_marker_if_its_topic_is_called_so() -> None:
    """Before the first BEGIN. Else nothing would say later that a marker may be missing there."""
    topic = placed(ORDERS, seen("shop.transaction", None, "quarantined"))["shop.transaction"]
    assert (topic.judged_sources, topic.role) == (("shop",), "transactions")


def test_a_topic_to_which_two_sources_send_is_judged_with_both() -> None:
    topic = placed(seen("all", "bank"), seen("all", "shop", offset=7))["all"]
    assert (topic.topic_source, topic.judged_sources) == ("shop", ("bank", "shop"))


def test_an_empty_topic_may_still_bring_something() -> None:
    topic = placed(ORDERS, fetched=["shop.public.new"])["shop.public.new"]
    assert (topic.role, topic.judged_sources) == ("tables", ("shop",))


def test_a_topic_that_was_guessed_is_given_to_a_source_that_is_named_in_it() -> None:
    known = LakeTopic("eu.shop.public.items", topic_source="eu")
    topic = placed(ORDERS, known=[known])["eu.shop.public.items"]
    assert topic.topic_source == "shop"


def test_a_topic_stays_with_the_source_that_an_earlier_run_has_shown() -> None:
    known = LakeTopic("routed.tx", marker_source="shop", has_controls=True)
    topic = placed(seen("bank.public.t", "bank"), known=[known])["routed.tx"]
    assert (topic.marker_source, topic.role) == ("shop", "transactions")
