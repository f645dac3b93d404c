"""A catalog or a store that is away, falls silent or refuses keys, also while a command works.

All commands run in one process without a cluster. Catalog and store stand behind gates.
"""

import json
import re
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from arrivals import Arrival, pieces, write_arrivals

from dbt_debezium.build import environment
from dbt_debezium.lake_format import FORMAT, PROPERTY
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.captured import CapturedTable

pytest.importorskip("moto", reason="`make setup-cluster` installs what the cluster needs")

import boto3
from chain import (
    ACCESS_KEY,
    REGION,
    REPOSITORY,
    SECRET_KEY,
    SITE,
    TOKEN,
    catalog_on,
    machine_environment,
    object_store,
    store_settings,
)
from engines import pyiceberg_recipe
from gate import Gate, Mode, gate
from machine import Commands, Machine, commands
from pages import blocks

pytestmark = pytest.mark.slow

PATIENCE = """
# By default a client waits for half a minute or longer, and asks six times.
spark.sql.catalog.lake.rest.client.socket-timeout-ms         10000
spark.sql.catalog.lake.http-client.apache.socket-timeout-ms  3000
spark.sql.catalog.lake.s3.retry.num-retries                  1
"""
PIECES = [f"part_1_{number}" for number in range(4)]
"""Of the second part. What was refused waits, and lands with the next landing."""
EVERYTHING = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}


@dataclass(slots=True)
class Lake:
    """A lake that one process uses."""

    folder: Path
    catalog: Gate
    store: Gate
    store_behind: str
    machine: Machine
    commands: Commands

    def ends(self, *command: str) -> tuple[int, str]:
        """Exit code and words of a command; parts of the log are named without their folder."""
        paths = [str(self.folder / one) if one.startswith("part_") else one for one in command]
        self.commands.begin(*paths)
        code, said = self.commands.end()
        for secret in (TOKEN, ACCESS_KEY, SECRET_KEY):
            assert secret not in said
        return code, said

    def says(self, *command: str, code: int = 0) -> str:
        found, said = self.ends(*command)
        assert found == code, said
        return said

    def refusal(self, *command: str) -> str:
        """The one sentence of a command that cannot work, below what it has done until then."""
        return last_sentence(self.says(*command, code=2))

    def count(self, query: str) -> int:
        said = self.says(
            "query", "--engine", "spark", "--json", f"select count(*) as n from ({query})"
        )
        return int(json.loads(said)["n"])

    @contextmanager
    def other_keys(self) -> Iterator[None]:
        """Let the store know the catalog's keys alone, for a `with` block."""
        self._check_keys("0")
        try:
            yield
        finally:
            self._check_keys("inf")

    def _check_keys(self, after: str) -> None:
        address = f"{self.store_behind}/moto-api/reset-auth"
        plain = {"Content-Type": "text/plain"}
        request = urllib.request.Request(address, after.encode(), plain, method="POST")
        urllib.request.urlopen(request).close()


def last_sentence(said: str) -> str:
    """It says what to check, and nothing above it is about what went wrong."""
    *done, sentence = said.strip().splitlines()
    assert "; check its address, whether it runs, and its " in sentence, said
    assert [one for one in done if "cannot be" in one or "Exception" in one] == []
    return sentence


def keys_of_catalog(store: str) -> dict[str, str]:
    """Keys that the store knows once it checks keys."""
    secrets = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    users = boto3.client("iam", endpoint_url=store, region_name=REGION, **secrets)
    users.create_user(UserName="catalog")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [EVERYTHING]})
    users.put_user_policy(UserName="catalog", PolicyName="all", PolicyDocument=policy)
    key = users.create_access_key(UserName="catalog")["AccessKey"]
    return {"s3.access-key-id": key["AccessKeyId"], "s3.secret-access-key": key["SecretAccessKey"]}


@pytest.fixture(scope="module")
def lake(parts: list[Arrival], tables: list[CapturedTable]) -> Iterator[Lake]:
    """The first part of the log has landed."""
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="dbt-debezium-outages-"))
        folder = Path(name)
        (folder / "conf").mkdir()
        (folder / "conf" / "spark-defaults.conf").write_text(SITE + PATIENCE)
        write_project(REPOSITORY, folder / "project", tables, {})
        write_arrivals(folder / "part_0", parts[:1])
        for piece in pieces(parts[1].messages, len(PIECES), "part_1"):
            write_arrivals(folder / piece.prefix, [piece])
        store = stack.enter_context(object_store(folder))
        # The catalog reaches the store by itself, so that one of the two can be away.
        settings = store_settings(store) | keys_of_catalog(store)
        catalog = stack.enter_context(catalog_on(folder, settings))
        before_catalog, before_store = (stack.enter_context(gate(one)) for one in (catalog, store))
        variables = machine_environment(before_catalog.address, before_store.address) | {
            "SPARK_CONF_DIR": str(folder / "conf"),
            "DBT_DEBEZIUM_MASTER": "local[1]",
        }
        machine = Machine(folder, variables, folder / "project", "one")
        process = stack.enter_context(commands(machine))
        opened = Lake(folder, before_catalog, before_store, store, machine, process)
        opened.says("land", "part_0")
        yield opened


@pytest.mark.parametrize("mode", ["shut", "silent"])
@pytest.mark.parametrize("away", ["catalog", "store"])
def test_what_is_away_is_named_with_its_address_in_one_sentence(
    lake: Lake, away: str, mode: Mode
) -> None:
    closed: Gate = getattr(lake, away)
    beginning = f"{away}: {closed.address} cannot be "
    with closed.closed(mode):
        for command in (("status",), ("land", PIECES[0])):
            assert lake.refusal(*command).startswith(beginning)
        found = lake.says("doctor", code=1).splitlines()
    (wrong,) = [one for one in found if one.startswith("wrong ")]
    assert wrong.startswith(f"wrong {beginning}")


def test_duckdb_opens_several_tables_where_the_site_says_how_long_it_waits(lake: Lake) -> None:
    counts = "(select count(*) from landing.message) as m, (select count(*) from landing.file) as n"
    said = lake.says("query", "--engine", "duckdb", "--json", f"select {counts}")
    assert json.loads(said) == {
        "m": lake.count("select 1 from landing.message"),
        "n": lake.count("select 1 from landing.file"),
    }


def test_keys_that_the_store_refuses_are_named_with_its_address(lake: Lake) -> None:
    with lake.other_keys():
        for command in (("status",), ("land", PIECES[0])):
            said = lake.refusal(*command)
            assert said.startswith(f"store: {lake.store.address} cannot be used (")
            # As DuckDB says it of status, and Java of a landing.
            assert ("HTTP 403 Forbidden" if command == ("status",) else "Status Code: 403") in said
            assert said.endswith("and its keys (docs/cluster.md), and run again")
        found = lake.says("doctor", code=1).splitlines()
        assert len([one for one in found if one.startswith("wrong ")]) == 1


def test_a_lake_of_a_newer_format_is_refused_through_a_rest_catalog(lake: Lake) -> None:
    (opening,) = blocks("docs/cluster.md", "python")
    with environment(**lake.machine.environment):
        table = pyiceberg_recipe(opening)["catalog"].load_table("landing.lease")

    def mark(number: int) -> None:
        with table.transaction() as transaction:
            transaction.set_properties({PROPERTY: str(number)})

    mark(FORMAT + 1)
    said, found = lake.ends("land", PIECES[0]), lake.ends("doctor")
    mark(FORMAT)
    assert (said[0], found[0]) == (2, 1)
    assert f"lake: its tables have format {FORMAT + 1}, and" in said[1]
    assert f"wrong lake: its tables have format {FORMAT + 1}, and" in found[1]


@pytest.mark.proof
def test_a_landing_that_loses_catalog_or_store_at_every_fifth_request_lands_each_message_once(
    lake: Lake, parts: list[Arrival]
) -> None:
    """Also if a commit has reached the catalog, and its answer was lost."""
    refused = 0
    modes: tuple[Mode, ...] = ("shut", "cut")
    ways = product((lake.catalog, lake.store), modes)
    for piece, (away, mode) in zip(PIECES, ways, strict=True):
        after, code = 0, 2
        while code != 0:
            away.close(mode, after)
            code, said = lake.ends("land", piece)
            if code:
                assert code == 2, said
                assert last_sentence(said).startswith(("catalog: ", "store: "))
                refused += 1
            away.open()
            after += 5
    assert refused > 12
    total = sum(len(part.messages) for part in parts)
    places = "select distinct topic, partition, offset from landing.message"
    assert lake.count("select 1 from landing.message") == lake.count(places) == total


@pytest.mark.proof
def test_a_run_that_loses_catalog_or_store_publishes_nothing_and_the_next_one_is_right(
    lake: Lake,
) -> None:
    for piece in PIECES:
        lake.says("land", piece)
    for away, after in ((lake.store, 100), (lake.catalog, 250)):
        away.close("shut", after)
        code, said = lake.ends("run")
        assert away.is_closed
        assert code in (1, 2), said
        kind = "store" if away is lake.store else "catalog"
        sentences = [one for one in said.splitlines() if " cannot be used (" in one]
        assert len(sentences) == 1, said
        assert sentences[0].startswith(f"{kind}: {away.address} cannot be used (")
        assert not re.search(r"An error occurred|Exception|\bat org\.", said), said
        away.open()
        assert "nothing is published yet" in lake.says(
            "query", "--engine", "spark", "select * from public.published_cut", code=2
        )
    assert "published, " in lake.says("run")
    counted = "select message_count from build.message_count"
    said = lake.says(
        "query", "--engine", "spark", "--json", f"select sum(message_count) as n from ({counted})"
    )
    assert json.loads(said)["n"] == lake.count("select 1 from landing.message")
    assert lake.count("select 1 from public.published_cut where commit_number > 0") == 1
