"""What became of each message, where only its whole commit tells."""

from pathlib import Path

from arrivals import Arrival
from lake import open_lake, tables_of
from streams import Postgresql, create, truncate, update


def test_changes_that_a_commit_hides_again_are_counted_as_superseded(tmp_path: Path) -> None:
    """By a later change of the row, or by a TRUNCATE; in a keyless table nothing tells."""
    shop = Postgresql("shop")
    shop.commit(
        create("orders", id=1),
        create("items", id=1),
        truncate("orders"),
        create("orders", id=2),
        update("orders", id=2),
    )
    shop.commit(update("orders", id=2))
    with open_lake(tmp_path, tables_of(shop.landings[0])) as lake:
        lake.land_arrivals("shop", [Arrival("shop", shop.landings[0], [])])
        assert lake.build(command="run"), lake.lines
        counts = lake.rows(
            "select topic, outcome, message_count from build.message_count "
            "where outcome in ('applied', 'superseded') order by all"
        )
    assert counts == [
        ("shop.app.items", "applied", 1),
        ("shop.app.orders", "applied", 3),
        ("shop.app.orders", "superseded", 2),
    ]
