"""A password in an address reaches what it is for, and no text that anybody reads."""

import time

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dbt_debezium.addresses import with_secrets_apart, without_passwords
from dbt_debezium.cli import main
from dbt_debezium.errors import CannotWorkError
from dbt_debezium.spark.catalogs import catalog_of
from dbt_debezium.spark.session import secrets_of

CATALOG = "spark.sql.catalog.lake"
WORD = "hunter2"


@pytest.mark.parametrize(
    ("address", "left", "secrets"),
    [
        (f"jdbc:postgresql://h:5432/d?user=u&password={WORD}", "?user=u", {"password": WORD}),
        (f"jdbc:postgresql://h:5432/d?password={WORD}&ssl=true", "?ssl=true", {"password": WORD}),
        (f"jdbc:postgresql://h:5432/d?password={WORD}", "", {"password": WORD}),
        (
            f"jdbc:postgresql://h:5432/d?sslpassword=a%26{WORD}&password={WORD}&a=b",
            "?a=b",
            {"sslpassword": f"a&{WORD}", "password": WORD},
        ),
        (f"jdbc:mysql://u:{WORD}@h:5432/d", "", {"user": "u", "password": WORD}),
        (f"jdbc:mysql://u:a/{WORD}@h:5432/d?x=y", "?x=y", {"user": "u", "password": f"a/{WORD}"}),
        (
            f"jdbc:sqlserver://h:5432/d;user=u;password={{a;{WORD}}};encrypt=true",
            ";user=u;encrypt=true",
            {"password": f"a;{WORD}"},
        ),
        (f"jdbc:db2://h:5432/d:password={WORD};user=u;", ":user=u;", {"password": WORD}),
    ],
)
def test_a_password_of_a_jdbc_catalog_is_a_property_and_not_in_its_address(
    address: str, left: str, secrets: dict[str, str]
) -> None:
    settings = {"spark.sql.defaultCatalog": "lake", f"{CATALOG}.uri": address}
    apart = with_secrets_apart(settings)
    head = address.partition(":")[2].partition(":")[0]
    assert apart.pop(f"{CATALOG}.uri") == f"jdbc:{head}://h:5432/d{left}"
    assert apart == {
        "spark.sql.defaultCatalog": "lake",
        **{f"{CATALOG}.jdbc.{name}": value for name, value in secrets.items()},
    }
    # Java's command line and the log of events show what a session starts with.
    kept = {name for name in apart if "password" in name}
    assert secrets_of(apart).keys() == kept
    assert WORD not in str(catalog_of(with_secrets_apart(settings)))


def test_a_property_of_its_own_wins() -> None:
    named = {f"{CATALOG}.uri": "jdbc:postgresql://h/d?password=a", f"{CATALOG}.jdbc.password": "b"}
    assert with_secrets_apart(named)[f"{CATALOG}.jdbc.password"] == "b"


@pytest.mark.parametrize(
    "address", ["jdbc:sqlite:/lake/catalog.db", "https://host/api", "s3://a@b"]
)
def test_an_address_without_a_secret_stays_as_it_is(address: str) -> None:
    settings = {f"{CATALOG}.uri": address, f"{CATALOG}.warehouse": "a?password=b"}
    assert with_secrets_apart(settings) == settings


def test_a_password_in_the_address_of_a_rest_catalog_is_refused_without_the_password() -> None:
    with pytest.raises(CannotWorkError, match=r"rest\.auth\.type") as refused:
        with_secrets_apart({f"{CATALOG}.uri": f"https://me:{WORD}@host/api"})
    assert WORD not in str(refused.value)


@given(st.text("ab:/@?&=;%. ", max_size=12), st.sampled_from(["password", "Token", "secret_key"]))
def test_a_text_never_holds_what_an_address_keeps_secret(noise: str, name: str) -> None:
    for address in (f"https://u:{WORD}@h/p", f"jdbc:x://h/d?a=b&{name}={WORD}&c=d"):
        assert WORD not in without_passwords(f"{noise} cannot open {address} {noise}")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"//u:p@{WORD}@h", "//...@h"),
        (f"https://u:p@{WORD}@h:1/a@b and c@d", "https://...@h:1/a@b and c@d"),
        (f"https://p@{WORD}@h/a, //x:{WORD}@y", "https://...@h/a, //...@y"),
        (f"https://u:p/{WORD}@h/a", "https://...@h/a"),
        ("https://h/a, b@c", "https://h/a, b@c"),
    ],
)
def test_a_password_that_holds_an_at_sign_is_taken_out_whole(text: str, left: str) -> None:
    found = without_passwords(text)
    assert WORD not in found
    assert found == left


@pytest.mark.parametrize(
    "part", ["/", "a", "//a:", "//a:b@", "//a", "password", "token=", "?a", "@", "//@", "a@/"]
)
def test_a_name_of_any_length_costs_no_more_than_its_length(part: str) -> None:
    """Sentences quote names, and a name may have a megabyte."""
    began = time.monotonic()
    for end in ("", "@", " "):
        without_passwords(part * (1_000_000 // len(part)) + end)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "command",
    [
        ["land", f"kafka://me:{WORD}@host:9092"],
        ["land", "kafka://host:9092", "--registry", f"https://me:{WORD}@host/apis/ccompat/v7/x y"],
        ["preview", f"kafka://me:{WORD}@host:9092,other"],
        ["land", f"s3://me:{WORD}@bucket/dump"],
    ],
)
def test_a_command_that_refuses_an_address_does_not_print_its_password(
    command: list[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    monkeypatch.setattr("dbt_debezium.spark.session.spark_session", pytest.fail)
    monkeypatch.setattr("dbt_debezium.preview.spark_session", pytest.fail)
    ended = CliRunner().invoke(main, command)
    assert ended.exit_code != 0
    assert WORD not in ended.output + str(ended.exception)
