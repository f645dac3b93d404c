"""No value of a hashed column is in clear in what is built, published or kept for the next run."""

import hashlib
import hmac
import re
from collections.abc import Iterator

import pytest
import yaml
from arrivals import Arrival
from lake import Lake, open_lake, tables_of
from oracle import PLACEHOLDER
from streams import Postgresql, create, delete, move, update
from unpacked import contents

from dbt_debezium.build import environment
from dbt_debezium.errors import DebeziumError

pytestmark = pytest.mark.slow

KEY = "a key of 32 bytes, for tests only"
OTHER_KEY = "another key of 32 bytes, for tests"
HASHED = {
    "app.users": ["id", "email"],
    "app.orders": ["user_id"],
    "app.bag": ["code"],
    "app.parts": ["id"],
    "app.blanks": ["note"],
}
CLEAR = re.compile(rb"clear-\w+")
"""How the values of all hashed columns look."""


def hash_of(text: str) -> str:
    return hmac.new(KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


def stream() -> Postgresql:
    one = Postgresql("shop")
    one.commit(
        create("users", id="clear-1", email="clear-a", age=30),
        create("users", id="clear-2", email=None, age=40),
        create("orders", id=1, user_id="clear-1"),
        create("bag", code="clear-x", n=1),
        create("parts", id="clear-6", code="a"),
        create("blanks", id="", note=""),
    )
    one.commit(create("users", id="clear-3", email="clear-c", age=50))
    # Held until the second landing.
    one.commit(
        create("users", id="clear-4", email="clear-d", age=60),
        create("orders", id=2, user_id="clear-4"),
        late=[1],
    )
    one.landing = 1
    one.commit(
        update("users", id="clear-1", email=PLACEHOLDER, age=31),
        delete("users", id="clear-2", email=None, age=40),
        *move("users", "clear-5", id="clear-3", email="clear-c", age=50),
        delete("bag", code="clear-x", n=1),
        create("bag", code="clear-y", n=2),
        delete("blanks", id="", note=""),
    )
    # REPLICA IDENTITY USING INDEX on code, which is not the key.
    one.commit(
        delete("parts", id="", code="a"),
        create("parts", id="clear-7", code="b"),
        delete("parts", id="", code="b"),
        create("parts", id="clear-7", code="c"),
    )
    # The key is a number by now, and there is another column.
    one.commit(create("users", id=7, email="clear-e", age=70, phone="1"))
    one.send("users", "no clear-json", '{"id":"clear-6"}')
    return one


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """After two runs, of which the second adds to the first."""
    one = stream()
    settings = {"hashed": HASHED}
    tables = tables_of([message for part in one.landings for message in part], settings=settings)
    folder = tmp_path_factory.mktemp("hashed")
    with (
        environment(DBT_DEBEZIUM_HASH_KEY=KEY),
        open_lake(folder, tables, settings=settings) as found,
    ):
        for number, part in enumerate(one.landings[:2]):
            found.land_arrivals(f"part_{number}", [Arrival("shop", part, [])])
            assert found.build(), found.lines
        yield found


def test_no_file_but_those_of_the_landing_has_a_clear_value(lake: Lake) -> None:
    warehouse = lake.folder / "lake" / "warehouse"
    folders = [*warehouse.iterdir(), lake.project, lake.folder / "lake" / "spark"]
    shown = {
        folder.name: {str(path) for path, content in contents(folder) if CLEAR.search(content)}
        for folder in folders
    }
    assert {"build", "public", "project"} <= shown.keys()
    assert shown.pop("landing")
    assert [name for name, files in shown.items() if files] == []


def test_hashed_columns_join_and_show_what_was_sent(lake: Lake) -> None:
    users = lake.rows("select id, email, age from public.users order by age")
    assert users == [
        (hash_of("clear-1"), hash_of("clear-a"), 31),
        (hash_of("clear-5"), hash_of("clear-c"), 50),
        (hash_of("clear-4"), hash_of("clear-d"), 60),
        (hash_of("7"), hash_of("clear-e"), 70),
    ]
    joined = "select orders.id from public.orders inner join public.users on user_id = users.id"
    assert sorted(lake.rows(joined)) == [(1,), (2,)]
    assert lake.rows("select code, n from public.bag") == [(hash_of("clear-y"), 2)]


def test_the_key_of_a_row_is_hashed_and_still_its_key(lake: Lake) -> None:
    (versions,) = lake.rows(
        "select count(*), count(distinct _row_key), max(_row_key) from public.users_history"
        f" where id = '{hash_of('clear-1')}'"
    )
    assert versions == (2, 1, f'{{"id":"{hash_of("clear-1")}"}}')


def test_a_hashed_key_that_deletes_do_not_send_is_flagged_and_a_row_of_blanks_is_not(
    lake: Lake,
) -> None:
    flags = [(flag["flag"], flag["table"]) for flag in lake.cuts()["shop"]["flags"]]
    assert [table for flag, table in flags if flag == "identity_not_in_key"] == ["app.parts"]
    # The row that had the key before was deleted, which its hash alone does not show.
    assert [table for flag, table in flags if flag == "key_not_unique"] == []
    assert lake.rows("select * from public.blanks") == []
    parts = lake.rows("select id, code from public.parts order by code")
    assert parts == [(hash_of("clear-6"), "a"), (hash_of("clear-7"), "c")]


def refusal(lake: Lake, *options: str) -> str:
    """What a run says that publishes nothing."""
    try:
        assert not lake.build(*options, command="run")
    except DebeziumError as error:
        return str(error)
    return "\n".join(lake.lines)


def test_another_key_is_refused(lake: Lake) -> None:
    with environment(DBT_DEBEZIUM_HASH_KEY=OTHER_KEY):
        assert "hashed: the key is not the one that the published tables" in refusal(lake)


def test_no_key_is_refused(lake: Lake) -> None:
    with environment(DBT_DEBEZIUM_HASH_KEY=""):
        assert "hashed: dbt_project.yml names columns, and there is no key" in refusal(lake)


def test_the_setting_is_refused_on_the_command_line(lake: Lake) -> None:
    said = refusal(lake, "--vars", "{hashed: {}}")
    assert "hashed must be set in dbt_project.yml" in said


@pytest.mark.parametrize(
    ("hashed", "sentence"),
    [
        (
            {"app.users": ["id"]},
            'hashed: names {"app.users": ["id"]}, and the published tables were built with',
        ),
        (
            {"app.users": ["id", "emial"]},
            "hashed: no history model of a table 'app.users' has a column 'emial'",
        ),
        (
            HASHED | {"app.orders": ["ID", "user_id"]},
            "app.orders: column 'id' is hashed, and its history model reads it as 'bigint'",
        ),
    ],
)
def test_other_columns_are_refused(lake: Lake, hashed: dict[str, list[str]], sentence: str) -> None:
    path = lake.project / "dbt_project.yml"
    text = path.read_text()
    configuration = yaml.safe_load(text)
    configuration["vars"]["hashed"] = hashed
    path.write_text(yaml.safe_dump(configuration))
    try:
        assert sentence in refusal(lake)
    finally:
        path.write_text(text)


def test_a_column_that_is_hashed_and_left_out_is_refused(lake: Lake) -> None:
    path = lake.project / "models" / "history" / "users_history.sql"
    text = path.read_text()
    path.write_text(text.replace("    'schema': ", "    'left_out': ['email'],\n    'schema': ", 1))
    try:
        assert "app.users: column 'email' is hashed and left out" in refusal(lake)
    finally:
        path.write_text(text)


def test_after_a_full_refresh_with_another_key_all_hashes_are_others(lake: Lake) -> None:
    before = {*lake.rows("select id from public.users")}
    with environment(DBT_DEBEZIUM_HASH_KEY=OTHER_KEY):
        assert lake.build("--full-refresh", command="run"), lake.lines
    after = {*lake.rows("select id from public.users")}
    assert len(after) == len(before) == 4
    assert not after & before
