"""Which files hold messages, and how a line that is not one is refused."""

import gzip
import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from dbt_debezium.dumps import (
    Dump,
    file_hash,
    find_files,
    overlooked,
    placed_hash,
    read_dump,
    refuse_early,
)
from dbt_debezium.errors import DebeziumError
from dbt_debezium.landing.inbox import Inbox, take

REALITY = Path(__file__).parents[2] / "tests" / "data" / "reality"
KAFKA = {
    "topic": "shop.public.orders",
    "partition": 0,
    "offset": 7,
    "timestamp": 1795228601749,
    "key": '{"id":1}',
    "value": '{"op":"c"}',
    "headers": [{"key": "h", "value": None}],
}
KCAT = {
    "topic": "shop.public.orders",
    "partition": 0,
    "offset": 7,
    "tstype": "create",
    "ts": 1795228601749,
    "broker": 1,
    "key": None,
    "payload": None,
    "headers": ["h", "x", "h", None],
}


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def check_file(path: Path) -> Dump:
    return read_dump(path, len)


def why(path: Path, line: bytes) -> str:
    """Why a file with one good line and this one is refused."""
    path.write_bytes(json.dumps(KAFKA).encode() + b"\n" + line)
    refusal = check_file(path).refusal
    assert refusal is not None
    sentence = str(refusal)
    start, end = f"{path}:2: not a message (", "); a line must be a JSON object with topic, "
    assert sentence.startswith(start)
    assert end in sentence
    return sentence.removeprefix(start).partition(end)[0]


def test_both_shapes_are_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.jsonl", KAFKA, KCAT)
    facts = check_file(path)
    assert facts.message_count == 2
    assert facts.refusal is None


@pytest.mark.fault(77)
def test_the_hash_is_of_the_bytes_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(KAFKA).encode()))
    facts = check_file(path)
    assert facts.sha256 == file_hash(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_progress_adds_up_to_the_size(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.jsonl", *[KAFKA | {"value": "x" * 1000}] * 3000)
    told: list[int] = []
    read_dump(path, len, told.append)
    assert len(told) > 1
    assert sum(told) == path.stat().st_size


def test_blank_lines_and_a_missing_last_line_feed_pass(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    line = json.dumps(KAFKA)
    path.write_text(f"\n{line}\r\n   \n{line}")
    facts = check_file(path)
    assert (facts.message_count, facts.refusal) == (2, None)


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_text(json.dumps(KAFKA | {"value": "a\u2028b\x85c"}, ensure_ascii=False))
    assert check_file(path).message_count == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"partition": -1}, "Expected `int` >= 0 - at `$.partition`"),
        ({"partition": 2**31}, "Expected `int` <= 2147483647 - at `$.partition`"),
        ({"offset": -1}, "Expected `int` >= 0 - at `$.offset`"),
        ({"offset": 1.0}, "Expected `int`, got `float` - at `$.offset`"),
        ({"offset": None}, "Expected `int`, got `null` - at `$.offset`"),
        ({"topic": ""}, "Expected `str` of length >= 1 - at `$.topic`"),
        ({"key": True}, "Expected `str | null`, got `bool` - at `$.key`"),
        ({"value": ["c"]}, "Expected `str | null`, got `array` - at `$.value`"),
        ({"payload": "x"}, "needs either value or payload"),
        ({"timestamp": "noon"}, "Expected milliseconds or an ISO 8601 time - at `$.timestamp`"),
        ({"headers": ["k", "v"]}, "Expected `object` with key and value - at `$.headers[...]`"),
    ],
)
def test_a_field_out_of_place_is_named(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    assert why(tmp_path / "x.jsonl", json.dumps(KAFKA | change).encode()) == reason


@pytest.mark.parametrize("name", ["topic", "partition", "offset"])
def test_an_absent_field_is_named(tmp_path: Path, name: str) -> None:
    line = {field: value for field, value in KAFKA.items() if field != name}
    reason = why(tmp_path / "x.jsonl", json.dumps(line).encode())
    assert reason == f"Object missing required field `{name}`"


@pytest.mark.parametrize("headers", [["k"], [None, "v"], [{"key": "k", "value": "v"}]])
def test_kcat_headers_are_keys_and_values_in_turn(tmp_path: Path, headers: object) -> None:
    reason = why(tmp_path / "x.jsonl", json.dumps(KCAT | {"headers": headers}).encode())
    assert reason.endswith(("`$.headers`", "`$.headers[...]`"))


@pytest.mark.fault(64, 77, 79)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"null", "Expected `object`, got `null`"),
        (b"[]", "Expected `object`, got `array`"),
        (b"secret", "JSON is malformed: invalid character (byte 0)"),
        (json.dumps(KAFKA).encode().replace(b"orders", b"orders\xff"), "not UTF-8 at byte 29"),
        (json.dumps(KAFKA).encode() * 2, "JSON is malformed: trailing characters (byte 179)"),
    ],
)
def test_a_line_that_is_no_object_is_refused_without_its_content(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    assert why(tmp_path / "x.jsonl", line) == reason


@pytest.mark.fault(64, 76)
@pytest.mark.parametrize("line", [KAFKA, KCAT | {"key": {"id": 1}}])
def test_a_line_that_ends_in_the_middle_says_how_that_comes(
    tmp_path: Path, line: dict[str, object]
) -> None:
    path = write(tmp_path / "dump.jsonl", KAFKA)
    path.write_bytes(path.read_bytes() + json.dumps(line).encode()[:-20])
    assert str(check_file(path).refusal) == (
        f"{path}:2: not a message (Input data was truncated); it ends in the middle, because the "
        "dump was stopped or is still being written: let it end, or delete what begins there"
    )


@pytest.mark.fault(64)
def test_a_value_that_a_format_of_kcat_leaves_empty_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_text('{"topic":"t","partition":0,"offset":0,"key":{"id":1},"value":}')
    assert "not a message (JSON is malformed: " in str(check_file(path).refusal)


@pytest.mark.fault(64)
def test_invalid_utf8_counts_also_where_nothing_is_read(tmp_path: Path) -> None:
    line = json.dumps(KAFKA | {"other": "x"}).encode().replace(b'"x"', b'"\xff"')
    assert why(tmp_path / "x.jsonl", line).startswith("not UTF-8 at byte ")


@pytest.mark.parametrize("size", [1, 5_000_000])
def test_a_gzip_file_may_have_several_members(tmp_path: Path, size: int) -> None:
    path = tmp_path / "dump.jsonl.gz"
    line = json.dumps(KAFKA | {"value": "x" * size}).encode() + b"\n"
    path.write_bytes(gzip.compress(line) * 3 + gzip.compress(b""))
    assert check_file(path).message_count == 3


# Both workers must name the tests alike, so no clock is in the header.
GOOD_GZIP = gzip.compress(json.dumps(KAFKA).encode(), mtime=0)


@pytest.mark.fault(76, 77)
@pytest.mark.parametrize(
    "damaged",
    [
        GOOD_GZIP[:-1],
        GOOD_GZIP[:-9],
        GOOD_GZIP[:5],
        GOOD_GZIP[:-8] + b"\0" * 8,
        GOOD_GZIP + b"\0" * 512,
        GOOD_GZIP + b"more",
    ],
)
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "dump.jsonl.gz"
    path.write_bytes(damaged)
    with pytest.raises(DebeziumError, match=r"dump\.jsonl\.gz: damaged gzip file \("):
        check_file(path)


def test_the_shape_of_a_file_decides_and_not_its_name(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(gzip.compress(json.dumps(KAFKA).encode()))
    assert check_file(path).message_count == 1


@pytest.mark.fault(77)
def test_a_folder_gives_its_files_of_known_names(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").mkdir()
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "up").symlink_to(tmp_path)
    names = ["a.jsonl", "b.JSON", "c.ndjson.gz", "h.jsonl/i.parquet", "t+0+12.anything.gz"]
    others = ["_d.jsonl", ".e.jsonl", "f.csv", "g.gz", "_temporary/j.json", "t+0+12.keys.json"]
    for name in names + others:
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in find_files(tmp_path)] == [
        "a.jsonl",
        "b.JSON",
        "c.ndjson.gz",
        "t+0+12.anything.gz",
        "h.jsonl/i.parquet",
    ]


def test_a_folder_is_not_left_through_links(tmp_path: Path) -> None:
    """Whoever fills it may not be who may read what a link names."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere / "secret.jsonl", KAFKA)
    dump = tmp_path / "dump"
    (dump / "inner").mkdir(parents=True)
    (dump / "file.jsonl").symlink_to(elsewhere / "secret.jsonl")
    (dump / "folder").symlink_to(elsewhere)
    (dump / "inner" / "root").symlink_to("/")
    sentence = (
        f"{dump}/file.jsonl: a link that leads out of {dump}, and is not read; "
        "name what it leads to"
    )
    with pytest.raises(DebeziumError) as refused:
        find_files(dump)
    assert str(refused.value) == sentence
    write(dump / "inner" / "own.jsonl", KAFKA)
    (dump / "again.jsonl").symlink_to("inner/own.jsonl")
    assert find_files(dump) == [dump / "again.jsonl", dump / "inner" / "own.jsonl"]
    names = [one.partition(": a link that leads out")[0] for one in overlooked(dump)]
    assert names == [f"{dump}/file.jsonl", f"{dump}/folder", f"{dump}/inner/root"]
    # A link that a person names is what that person wants.
    assert find_files(dump / "file.jsonl") == [dump / "file.jsonl"]
    (tmp_path / "named").symlink_to(elsewhere)
    assert find_files(tmp_path / "named") == [tmp_path / "named" / "secret.jsonl"]


def test_keys_beside_a_sinks_file_are_not_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('"hunter2"\n')
    dump = tmp_path / "dump"
    dump.mkdir()
    (dump / "t+0+0.json").write_text("{}\n")
    (dump / "t+0+0.keys.json").symlink_to(tmp_path / "secret")
    lines: list[bytes] = []
    assert read_dump(dump / "t+0+0.json", lines.append).message_count == 1
    assert b"hunter2" not in b"".join(lines)


def test_a_dump_of_another_name_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    """As `kcat ... > shop.public.orders` names it, beside what kcat said in errors.log."""
    write(tmp_path / "shop.public.orders", KAFKA)
    (tmp_path / "damaged.gz").write_bytes(GOOD_GZIP[:-9])
    (tmp_path / "notes").write_text("x")
    assert overlooked(tmp_path) == []
    (tmp_path / "errors.log").write_text("% Reached end of topic\n")
    (sentence,) = overlooked(tmp_path)
    assert sentence.startswith(f"{tmp_path}/shop.public.orders: looks like a dump, but its name")
    assert sentence.endswith("; rename it")
    with pytest.raises(DebeziumError, match=re.escape(sentence)):
        refuse_early(tmp_path)
    (tmp_path / "shop.public.orders").rename(tmp_path / "shop.public.orders.json")
    refuse_early(tmp_path)


def test_a_folder_without_known_names_gives_all_its_files(tmp_path: Path) -> None:
    for name in ("dump.zip", "notes"):
        (tmp_path / name).touch()
    assert [file.name for file in find_files(tmp_path)] == ["dump.zip", "notes"]


def test_a_named_file_may_have_any_name(tmp_path: Path) -> None:
    path = write(tmp_path / "_dump.txt", KAFKA)
    assert find_files(path) == [path]


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DebeziumError, match="does not exist; name a dump of topics"):
        find_files(tmp_path / "absent")


def test_a_pipe_is_refused_as_what_it_is(tmp_path: Path) -> None:
    """As `preview <(zstdcat dump.zst)` names one."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DebeziumError, match="pipe: a pipe or device; write the dump to a file"):
        find_files(tmp_path / "pipe")


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DebeziumError, match="holds no messages; name a dump of topics, for ex"):
        find_files(tmp_path)


def exported(tmp_path: Path, name: str, *objects: object) -> Dump:
    path = tmp_path / name
    path.write_text(json.dumps(objects, indent=1))
    return read_dump(path, len)


ORDERS = "shop.public.orders"
VALUE = json.dumps(
    {"op": "c", "source": {"name": "shop", "schema": "public", "table": "orders"}, "after": {}}
)


@pytest.mark.parametrize(
    "message",
    [
        {"topic": ORDERS, "partition": 1, "offset": 7, "key": '{"id":1}', "value": VALUE},
        {"partition": 1, "offset": 7, "key": '{"id":1}', "value": VALUE},
        {"Partition": 1, "Offset": 7, "Key": '{"id":1}', "Value": VALUE, "Headers": {}},
        {
            "partitionID": 1,
            "offset": 7,
            "headers": [],
            "key": {"payload": '{"id":1}', "encoding": "json"},
            "value": {"payload": VALUE, "encoding": "json"},
        },
    ],
)
@pytest.mark.parametrize("is_array", [True, False])
def test_what_a_user_interface_exports_is_read_as_array_and_as_lines(
    tmp_path: Path, message: dict[str, object], is_array: bool
) -> None:
    path = tmp_path / f"{ORDERS}.json"
    path.write_text(json.dumps([message] if is_array else message))
    lines: list[bytes] = []
    assert read_dump(path, lines.append).refusal is None
    (line,) = map(json.loads, lines)
    assert [line[name] for name in ("topic", "partition", "offset", "key", "value")] == [
        ORDERS,
        1,
        7,
        '{"id":1}',
        VALUE,
    ]


@pytest.mark.parametrize(
    ("name", "message", "why"),
    [
        ("orders.json", {"value": VALUE}, "1: not a message (not of topic orders, which is the"),
        (f"{ORDERS}.json", {"value": None}, f"1: not a message (nothing shows that {ORDERS}, the"),
        (f"{ORDERS}.json", {"value": {"op": "c"}}, "1: not a message (value is not text but dec"),
        (f"{ORDERS}.json", {"value": 5}, "1: not a message (value is not text but decoded, and J"),
        (f"{ORDERS}.json", {"offset": -1}, "1: not a message (Expected `int` >= 0"),
        (f"{ORDERS}.json", {"headers": [5]}, "1: not a message (Expected key and value of each"),
        (f"{ORDERS}.json", {"partition": "x"}, "1: not a message (Expected `int`, got `str`"),
    ],
)
def test_an_export_that_would_be_a_guess_is_refused(
    tmp_path: Path, name: str, message: dict[str, object], why: str
) -> None:
    refusal = exported(tmp_path, name, {"partition": 0, "offset": 0} | message).refusal
    assert str(refusal).startswith(f"{tmp_path / name}:{why}")
    assert "; an export that names no topic must be called like it, <topic>.json" in str(refusal)


@pytest.mark.parametrize("place", ["value", "headers", "offset", "other"])
def test_an_export_that_is_nested_too_deep_is_refused_in_one_sentence(
    tmp_path: Path, place: str
) -> None:
    path = tmp_path / f"{ORDERS}.json"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text(f'[{{"partition":0,"offset":0,"{place}":{deep}}}]')
    try:
        refusal = str(read_dump(path, len).refusal)
    except DebeziumError as error:
        refusal = str(error)
    assert refusal.startswith(str(path))
    assert "\n" not in refusal
    assert len(refusal) < 500


def test_an_array_of_something_else_does_not_stop_the_landing_of_a_folder(tmp_path: Path) -> None:
    dump = exported(tmp_path, "packages.json", {"name": "left-pad", "version": "1"})
    assert (dump.is_dump, dump.message_count) == (False, 0)
    assert "neither topic nor partition and offset" in str(dump.refusal)


def test_a_capture_of_event_hubs_in_other_folders_is_refused_with_the_layout(
    tmp_path: Path,
) -> None:
    (source,) = (REALITY / "event_hubs_capture").glob("ns/*orders/0/2026/09/21/14/13/20.avro")
    path = tmp_path / "20.avro"
    path.write_bytes(source.read_bytes())
    refusal = str(read_dump(path, len).refusal)
    assert "of Event Hubs Capture, in folders that name no event hub and partition" in refusal
    assert "<event hub>/<partition>/<year>/<month>/<day>/<hour>/<minute>/<second>.avro" in refusal


def test_captures_of_two_partitions_are_two_dumps_also_if_their_content_is_one(
    tmp_path: Path,
) -> None:
    (source,) = (REALITY / "event_hubs_capture").glob("ns/*orders/0/2026/09/21/14/13/20.avro")
    identities = set()
    for partition in ("0", "1"):
        path = tmp_path / f"ns/{ORDERS}/{partition}/2026/09/21/14/13/20.avro"
        path.parent.mkdir(parents=True)
        path.write_bytes(source.read_bytes())
        identities.add(read_dump(path, len).identity)
    assert len(identities) == 2


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"caf\xe9.json"])
def test_a_file_whose_name_is_no_text_is_refused_in_one_sentence(
    tmp_path: Path, name: bytes
) -> None:
    place = {"partition": 0, "offset": 7, "key": None, "value": '{"op":"c"}'}
    printed = 'CreateTime:1\tPartition:0\tOffset:0\t{"id":1}\t{"op":"c"}\n'
    file = tmp_path / os.fsdecode(name)
    file.write_text(printed if name.endswith(b"txt") else json.dumps(place) + "\n")
    assert re.fullmatch("[0-9a-f]{64}", placed_hash(file, "0"))
    dump = check_file(file)
    assert "the file's name, is no name of a topic" in str(dump.refusal)


def test_a_file_that_names_its_topic_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    file = write(tmp_path / os.fsdecode(b"caf\xe9.json"), KAFKA)
    dumps, skipped = take(tmp_path, Inbox(tmp_path / "inbox"))
    assert (skipped, dumps[0].path, dumps[0].message_count) == ((), file, 1)
