"""landing.yml says what is landed without a path; what is wrong in it is one sentence."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.kafka.landing_file import (
    KafkaBlock,
    block_of_address,
    client_options,
    kafka_blocks,
    read_landing_file,
    registry_of,
)
from dbt_debezium.message_tables.block import TableBlock
from dbt_debezium.registry.block import RegistryBlock


def read(folder: Path, text: str) -> dict[str, KafkaBlock]:
    (folder / "landing.yml").write_text(text)
    return kafka_blocks(folder)


def read_landing_file_of(folder: Path, text: str) -> Mapping[str, object]:
    (folder / "landing.yml").write_text(text)
    return read_landing_file(folder)


def test_a_block_names_brokers_topics_and_options(tmp_path: Path) -> None:
    blocks = read(
        tmp_path,
        "shop:\n"
        "  bootstrap_servers: a:9092,b:9092\n"
        "  topics: [shop.public.orders, shop.transaction]\n"
        "  starting_offsets: latest\n"
        "  options: {security.protocol: SSL, kafka.request.timeout.ms: 5000}\n",
    )
    block = blocks["shop"]
    assert block.has("shop.transaction")
    assert not block.has("shop.public.items")
    assert client_options("shop", block) == {
        "bootstrap.servers": "a:9092,b:9092",
        "security.protocol": "SSL",
        "request.timeout.ms": "5000",
    }


def test_secrets_come_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text("p4ss\n")
    monkeypatch.setenv("SHOP_USER", "me")
    text = f"user=${{env:SHOP_USER}} password=${{file:{tmp_path / 'password'}}}"
    block = KafkaBlock("a:9092", options={"sasl.jaas.config": text})
    assert client_options("shop", block)["sasl.jaas.config"] == "user=me password=p4ss"


def test_addresses_may_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKERS", "a:9092,b:9092")
    monkeypatch.setenv("REGISTRY", "https://r:8081")
    block = KafkaBlock("${env:BROKERS}", registry=RegistryBlock("${env:REGISTRY}"))
    assert client_options("shop", block)["bootstrap.servers"] == "a:9092,b:9092"
    registry = registry_of("shop", block)
    assert registry is not None
    assert registry.url == "https://r:8081"
    monkeypatch.setenv("REGISTRY", "https://me:p4ss@r:8081")
    with pytest.raises(DebeziumError, match="url: is no address of HTTP without credentials"):
        registry_of("shop", block)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("shop: [", r"^landing\.yml, line 1: is not YAML"),
        ("", r"^landing\.yml: holds no blocks"),
        ("shop: {topics: a}", r"^landing\.yml: shop: .*bootstrap_servers"),
        (
            "shop: {bootstrap_servers: a, registry: {url: 'https://me:p@b'}}",
            r"^landing\.yml: shop: registry: url: is no address of HTTP without credentials; write",
        ),
        ("shop: {bootstrap_servers: a, registry: {}}", r"^landing\.yml: shop\.registry: .*url"),
        ("shop: {bootstrap_servers: a, topic: b}", r"^landing\.yml: shop: .*topic"),
        ("shop: {bootstrap_servers: a, topics: 'b['}", r"^landing\.yml: shop: topics: 'b\['"),
        (
            "shop: {bootstrap_servers: a, starting_offsets: begin}",
            r"^landing\.yml: shop\.starting_offsets: invalid enum value 'begin'",
        ),
        ("shop: {bootstrap_servers: a, topics: []}", r"^landing\.yml: shop: topics: names none; w"),
        (
            "shop: {bootstrap_servers: a}\nbank: {bootstrap_servers: b}\nshop: {table: a.b}",
            r"^landing\.yml, line 3: shop appears twice; give each its own name",
        ),
        (
            "shop: {bootstrap_servers: a, options: {group.id: x}}",
            r"^landing\.yml: shop: options: group\.id cannot be set, because offsets are kept",
        ),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(DebeziumError, match=sentence) as refused:
        read(tmp_path, text)
    assert "\n" not in str(refused.value)


def test_a_secret_that_is_not_there_is_named_by_its_option() -> None:
    block = KafkaBlock("a:9092", options={"ssl.key.password": "${env:NOT_SET_ANYWHERE}"})
    with pytest.raises(DebeziumError, match=r"shop: options: ssl\.key\.password: the variable NOT"):
        client_options("shop", block)


def test_a_project_without_the_file_is_told_what_to_land(tmp_path: Path) -> None:
    with pytest.raises(DebeziumError, match="there is no such file; write it, or name a source"):
        read_landing_file(tmp_path)


@pytest.mark.parametrize("address", ["kafka://", "kafka://host", "kafka://host:x", "kafka://a:1/b"])
def test_an_address_that_names_no_broker_is_refused(address: str) -> None:
    with pytest.raises(DebeziumError, match="names no broker; write kafka://host:port"):
        block_of_address(address)


def test_credentials_of_a_registry_of_the_command_line_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "kafka://b:9092"
    assert block_of_address(address, ".*", "http://r:1").registry == RegistryBlock("http://r:1")
    monkeypatch.setenv("DBT_DEBEZIUM_REGISTRY_TOKEN", "hunter2")
    monkeypatch.setenv("DBT_DEBEZIUM_REGISTRY_CA_CERTIFICATE", "ca.pem")
    named = RegistryBlock("http://r:1", token="hunter2", ca_certificate="ca.pem")
    assert block_of_address(address, ".*", "http://r:1").registry == named
    assert block_of_address(address).registry is None


def test_the_password_of_a_registry_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = RegistryBlock("http://r:1", "me", "${env:REGISTRY_PASSWORD}")
    block = KafkaBlock("a:9092", registry=named)
    with pytest.raises(DebeziumError, match=r"^landing\.yml: shop: registry: password: the varia"):
        registry_of("shop", block)
    monkeypatch.setenv("REGISTRY_PASSWORD", "p4ss")
    registry = registry_of("shop", block)
    assert registry is not None
    assert registry.url == "http://r:1"


def test_a_block_may_name_a_table_or_files(tmp_path: Path) -> None:
    blocks = read_landing_file_of(
        tmp_path,
        "raw: {table: lake.raw.kafka, columns: {offset: at}}\nsink: {files: 's3a://bucket/raw'}\n",
    )
    assert blocks == {
        "raw": TableBlock("lake.raw.kafka", columns={"offset": "at"}),
        "sink": TableBlock(files="s3a://bucket/raw"),
    }


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        ("{table: a.b, files: c}", "raw: names both table and files; name one: table: "),
        ("{table: a b}", "raw: table: 'a b' is no name of a table; write it as catalog.schema"),
        ("{table: a.b, columns: {lsn: c}}", "raw: columns: lsn is no column of a message; there"),
        ("{table: a.b, topics: c}", "raw: object contains unknown field topics"),
        ("{table: a.b, registry: {url: 'http://u:p@c'}}", "raw: registry: url: is no address of"),
    ],
)
def test_what_is_wrong_in_a_table_is_one_sentence(
    tmp_path: Path, block: str, sentence: str
) -> None:
    with pytest.raises(DebeziumError) as refused:
        read_landing_file_of(tmp_path, f"raw: {block}\n")
    assert f"landing.yml: {sentence}" in str(refused.value)
