"""`make demo-live`: a shop trades on PostgreSQL, and its tables follow through Kafka."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from dbt_debezium.build import environment
from dbt_debezium.cli.report import write_page
from dbt_debezium.demo import PAGE, empty_lake
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import check_project, make_private, project_dir
from dbt_debezium.lease import Lease
from dbt_debezium.rounds.stopping import Stopping
from live_shop.commit_log import CommitLog, differences
from live_shop.follower import Follower
from live_shop.following import CONNECTOR, SETTINGS, TOPICS, follow, rounds_on
from live_shop.lake_rows import SOURCE
from live_shop.opening import stocked_shop
from live_shop.screen import Screen
from live_shop.story import Story
from local_chain import Chain, local_chain
from local_chain.java import missing_jars
from local_chain.server import ChainError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAKE: Final = Path("target/demo_live_lake")
SESSIONS: Final = 8
PAUSE_SECONDS: Final = 2.0
"""Between two transactions of a session, on average."""
EVERY_SECONDS: Final = 5
NAMES: Final = {"postgresql": "PostgreSQL"}
QUERY: Final = (
    "select source, commit_number, transaction_id, committed_at from public.published_cut"
)


def run_demo(screen: Screen) -> bool:
    """Run the chain, the shop and the rounds; whether all tables were equal to the database."""
    began = time.monotonic()
    screen.text(
        "A shop on PostgreSQL, Debezium in Kafka Connect, Kafka, and dbt-debezium:"
        " all of it runs on this machine.\n"
    )
    if missing := missing_jars("kafka", "postgresql"):
        screen.text(
            f"   Kafka and Debezium come from Maven Central: {missing} jars, at most 62 MB, once.\n"
        )
    started: list[tuple[str, float]] = []

    def starting(part: str | None) -> None:
        now = time.monotonic()
        if started:
            name, since = started[-1]
            screen.text(f"   {name} runs ({now - since:.0f} s)")
        if part:
            started.append((NAMES.get(part, part), now))
            screen.doing(f"starting {started[-1][0]}")

    with local_chain("postgresql", tell=starting) as chain:
        starting(None)
        return show(chain, screen, began)


def show(chain: Chain, screen: Screen, began: float) -> bool:
    """The part of the demo in which the chain runs."""
    with screen.step("Debezium's connector runs, and sends the first rows as a snapshot"):
        shop, log = stocked_shop(chain.postgresql.port, SESSIONS, PAUSE_SECONDS)
        log.opens()
        chain.connect.create(CONNECTOR, chain.postgresql.connector(SOURCE) | SETTINGS)
    screen.opens()
    shop.open()
    screen.text(f"   The shop is open: {SESSIONS} sessions trade\n")
    screen.text(
        f"   dbt-debezium run kafka://{chain.bootstrap} --topics '{TOPICS}'"
        f" --every {EVERY_SECONDS}s\n"
    )
    rounds = rounds_on(chain.bootstrap)
    story = Story(chain, shop, screen)
    follower = Follower(rounds, log, screen, story)

    def close_now() -> None:
        screen.text("   The shop closes now; Ctrl-C again ends the demo at once")
        story.hurry()

    stopping = Stopping(close_now)
    start_spark = rounds.start_spark

    def start_and_listen() -> "SparkSession":
        spark = start_spark()
        stopping.listen()  # Spark takes SIGINT for itself
        return spark

    rounds.start_spark = start_and_listen
    stopping.listen()
    follow(rounds, EVERY_SECONDS, follower, follower.tell)
    if not story.has_begun():
        shop.close()
        raise ChainError("demo-live: no round has published; the lines above say why")
    story.hurry()
    story.join()
    if story.error:
        raise story.error
    return compare(follower, log, screen, began)


def compare(follower: Follower, log: CommitLog, screen: Screen, began: float) -> bool:
    """Compare all tables with the database, which nobody changes any more."""
    database, seen = log.rows_now(), follower.read()
    wrong = differences(database, seen.rows)
    screen.text("\nThe shop is closed. Each table, compared with the database:\n", "bold")
    for table, rows in database.items():
        found = (
            "{missing} rows are missing, {extra} are not in the database".format(**wrong[table])
            if table in wrong
            else "equal"
        )
        screen.text(
            f"   {table:<12}{rows.total():>6,} rows   {found}", "red" if table in wrong else ""
        )
    is_equal = not wrong and not follower.wrong_count
    committed, count = log.position(log.newest()).committed, len(follower.cuts)
    screen.text(
        f"\nAll tables are equal after {committed} transactions,"
        f" and so was each of the {count} cuts on the way."
        if is_equal
        else f"\nNOT EQUAL: {len(wrong)} of {len(database)} tables,"
        f" and {follower.wrong_count} of the {count} cuts on the way.",
        "bold green" if is_equal else "bold red",
    )
    screen.text(
        f"From commit to published: {follower.latency}. The demo took"
        f" {time.monotonic() - began:.0f} s. Its tables are still there:\n"
    )
    screen.text(f'DBT_DEBEZIUM_LAKE={LAKE} .venv/bin/dbt-debezium query \\\n  "{QUERY}"')
    write_page(LAKE / PAGE)
    screen.text(f"\nOpen this page: {(LAKE / PAGE).absolute()}")
    return is_equal


def main() -> int:
    """The exit code: 1 if anything was not equal to the database, 2 if the demo could not run."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    screen = Screen(console)
    settings = {"DBT_DEBEZIUM_LAKE": str(LAKE), "DBT_TARGET_PATH": "target/demo_live"}
    try:
        os.chdir(project_dir())
        check_project(project_dir())
        make_private(LAKE)
        with environment(**settings), Lease(LAKE, "make demo-live"), screen.shown():
            empty_lake(LAKE)
            return 0 if run_demo(screen) else 1
    except (DebeziumError, ChainError) as error:
        console.print(Text(str(error)), soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        console.print("ended before the tables were compared")
        return 130


if __name__ == "__main__":
    sys.exit(main())
