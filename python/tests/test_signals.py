"""What `dbt-debezium signal` prints, and what it refuses in one sentence."""

import json

import pytest
from click.testing import CliRunner

from dbt_debezium.cli import main
from dbt_debezium.messages.envelope import flatten_message

INCREMENTAL = '{"data-collections":["public.orders"],"type":"incremental"}'


def printed(*arguments):
    result = CliRunner().invoke(main, ["signal", *arguments, "--id", "ad-hoc-1"])
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = CliRunner().invoke(main, ["signal", *arguments])
    assert result.exit_code == 2
    return result.output


@pytest.mark.parametrize(
    ("connector", "table", "head"),
    [
        ("postgresql", "public.debezium_signal", 'insert into "public"."debezium_signal"'),
        ("mysql", "shop.signals", "insert into `shop`.`signals`"),
        ("mariadb", "shop.`odd``name`", "insert into `shop`.`odd``name`"),
        ("sqlserver", "testDB.dbo.[a]]b]", "insert into [testDB].[dbo].[a]]b]"),
        ("db2", 'MYSCHEMA."My.Signal"', 'insert into "MYSCHEMA"."My.Signal"'),
        ("oracle", "C##DBZ.SIGNALS", 'insert into "C##DBZ"."SIGNALS"'),
    ],
)
def test_each_database_gets_its_own_quotes(connector, table, head):
    name = {"sqlserver": "db.dbo.t", "oracle": "PDB.S.T"}.get(connector, "public.orders")
    sql = printed(name, "--connector", connector, "--table", table)
    assert sql.startswith(f"{head} (id, type, data) values\n(")
    assert sql.endswith(");\n")


def test_a_read_of_one_table_is_one_row_of_the_signal_table():
    sql = printed("public.orders", "--table", "public.debezium_signal")
    assert sql.splitlines()[1] == f"('ad-hoc-1', 'execute-snapshot', '{INCREMENTAL}');"


def test_conditions_types_and_keys_go_into_the_argument():
    line = printed(
        *("public.a", "public.b", "--condition", "public.b:color='blue' and brand='x'"),
        *("--surrogate-key", "made", "--kafka", "shop"),
    )
    record = json.loads(line)
    assert (record["topic"], record["key"]) == ("shop-signal", "shop")
    assert json.loads(record["value"]) == {
        "id": "ad-hoc-1",
        "type": "execute-snapshot",
        "data": {
            "data-collections": ["public.a", "public.b"],
            "type": "incremental",
            "additional-conditions": [
                {"data-collection": "public.b", "filter": "color='blue' and brand='x'"}
            ],
            "surrogate-key": "made",
        },
    }


def test_a_condition_is_a_text_for_the_database_and_no_part_of_the_statement():
    condition = "name = 'it''s \\ \"x\"'"
    arguments = ["shop.t", "--condition", f"shop.t:{condition}", "--table", "shop.s"]
    for connector in ("mysql", "postgresql"):
        literal = printed(*arguments, "--connector", connector).split(", ", 4)[-1]
        text = literal.removeprefix("'").removesuffix("');\n").replace("''", "'")
        if connector == "mysql":
            text = text.replace("\\\\", "\\")
        assert json.loads(text)["additional-conditions"][0]["filter"] == condition


def test_our_own_record_is_read_as_a_signal():
    record = json.loads(printed("public.orders", "--type", "blocking", "--kafka", "shop"))
    row = flatten_message(record["topic"], record["key"], record["value"], [])
    assert (row.kind, row.source, row.signal_type) == ("signal", "shop", "execute-snapshot")
    assert json.loads(row.signal_data)["type"] == "blocking"


def test_a_stop_may_name_no_table():
    record = json.loads(printed("--stop", "--kafka", "shop"))
    assert json.loads(record["value"])["type"] == "stop-snapshot"
    assert json.loads(record["value"])["data"] == {"type": "incremental"}
    assert "stop-snapshot" in printed("public.orders", "--stop", "--table", "public.s")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["public.t"], "signal: of --table and --kafka neither is named; name one"),
        (
            ["public.t", "--kafka", "p", "--table", "s"],
            "signal: of --table and --kafka both are named; name one",
        ),
        (["--kafka", "p"], "signal: no table is named; name those to read again"),
        (["t", "--kafka", "p"], "signal: 't' is not a table of postgresql; write schema.table"),
        (
            ["dbo.t", "--connector", "sqlserver", "--kafka", "p"],
            "signal: 'dbo.t' is not a table of sqlserver; write database.schema.table",
        ),
        (["a.b", "--connector", "x", "--kafka", "p"], "--connector: 'x' is not known; known: post"),
        (["a.b", "--condition", "x", "--kafka", "p"], "--condition: 'x' is not <table>:<condi"),
        (["a.b", "--condition", "c.d:x", "--kafka", "p"], "--condition: 'c.d' is not among the"),
        (
            ["a.b", "--condition", "a.b:x", "--condition", "a.b:y", "--kafka", "p"],
            "--condition: 'a.b' has two conditions; join them with and",
        ),
        (["--stop", "--surrogate-key", "x", "--kafka", "p"], "--stop: takes neither"),
        (
            ["a.b", "--type", "blocking", "--surrogate-key", "x", "--kafka", "p"],
            "--surrogate-key: a blocking snapshot has no chunks",
        ),
        (
            ["a.b", "--type", "blocking", "--connector", "mysql", "--kafka", "p"],
            "--type: a blocking snapshot of mysql cannot be told from an initial one",
        ),
        (["a.b", "--table", "a..b"], "signal: 'a..b' is not a table's name"),
        (["a.b", "--table", 'a."b'], "signal: 'a.\"b' is not a table's name"),
        (["a.b", "--table", "s; drop table x"], "signal: 's; drop table x' is not a table's name"),
    ],
)
def test_a_signal_that_would_do_nothing_is_refused(arguments, sentence):
    assert refused(*arguments).startswith(sentence)


def test_a_pattern_is_left_to_the_connector():
    assert "public\\\\\\\\..*" in printed("public\\..*", "--connector", "mysql", "--table", "a.b")
