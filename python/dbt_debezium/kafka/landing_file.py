"""landing.yml: the Kafka topics and the tables that `land` and `run` read when no path is given.

shop:
  bootstrap_servers: broker-1:9092,broker-2:9092
  topics: shop[.].*
  options:
    security.protocol: SASL_SSL
    sasl.jaas.config: ${env:SHOP_JAAS}
"""

import os
import re
from pathlib import Path
from typing import Final, Literal

import msgspec
import yaml
from msgspec import Struct, field

from dbt_debezium.errors import DebeziumError
from dbt_debezium.kafka import SCHEME
from dbt_debezium.message_tables.block import TableBlock, checked_table
from dbt_debezium.project_text import text_of
from dbt_debezium.registry.block import RegistryBlock
from dbt_debezium.registry.client import Registry
from dbt_debezium.repeated_keys import repeated_key

FILE: Final = "landing.yml"
REFERENCE: Final = re.compile(r"\$\{(env|file):([^}]+)\}")
"""As Kafka Connect's configuration providers write it."""
VARIABLES: Final = {
    field: f"DBT_DEBEZIUM_REGISTRY_{field.upper()}"
    for field in RegistryBlock.__struct_fields__
    if field != "url"
}
"""The credentials of a registry that `--registry` names, which are on no command line."""
OURS: Final = {
    "bootstrap.servers": "bootstrap_servers names the brokers",
    "isolation.level": "messages of aborted transactions are never read",
    "group.id": "offsets are kept in the lake",
    "auto.offset.reset": "starting_offsets says where a topic begins",
    "enable.auto.commit": "offsets are kept in the lake",
    "key.deserializer": "messages land as they are",
    "value.deserializer": "messages land as they are",
}
"""Options of Kafka's consumer that are not the user's to set, and why."""


class KafkaBlock(Struct, forbid_unknown_fields=True, frozen=True):
    """One block of landing.yml. A block may hold several sources: whatever its topics bring."""

    bootstrap_servers: str
    topics: str | list[str] = ".*"
    """A regular expression that fits whole names of topics, or a list of names."""
    starting_offsets: Literal["earliest", "latest"] = "earliest"
    """Where a topic begins of which nothing has landed."""
    options: dict[str, str | int | bool] = field(default_factory=dict)
    """Options of Kafka's clients, without the prefix `kafka.`."""
    registry: RegistryBlock | None = None
    """The schema registry of the topics, if their messages are Avro."""

    def has(self, topic: str) -> bool:
        """Whether the block names the topic.

        >>> KafkaBlock("b:9092", "shop[.].*").has("shop.public.orders")
        True
        """
        if isinstance(self.topics, str):
            return re.fullmatch(self.topics, topic) is not None
        return topic in self.topics


Block = KafkaBlock | TableBlock


def read_landing_file(project: Path) -> dict[str, Block]:
    """The blocks of a project's landing.yml, by name.

    Raises:
        DebeziumError: there is no such file, or a block is not as it must be.
    """
    path = project / FILE
    if not path.is_file():
        raise DebeziumError(
            f"{path}: there is no such file; write it, or name a source: "
            "a file, a folder, kafka://host:port or table://catalog.schema.table"
        )
    try:
        text = text_of(path)
        blocks = yaml.safe_load(text)
        repeated = repeated_key(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise DebeziumError(f"{FILE}{where}: is not YAML; see docs/kafka.md") from error
    if repeated:
        raise DebeziumError(
            f"{FILE}, line {repeated[1]}: {repeated[0]} appears twice; give each its own name"
        )
    if not isinstance(blocks, dict) or not blocks:
        raise DebeziumError(f"{FILE}: holds no blocks; see docs/kafka.md for one")
    return {str(name): _block(str(name), fields) for name, fields in blocks.items()}


def block_of_address(address: str, topics: str = ".*", registry: str | None = None) -> KafkaBlock:
    """The block that `kafka://host:port` stands for.

    Args:
        address: of the brokers.
        topics: a regular expression that fits whole names of topics.
        registry: address of a schema registry, whose credentials are in the environment.

    Raises:
        DebeziumError: the address names no port.

    >>> block_of_address("kafka://localhost:9092").bootstrap_servers
    'localhost:9092'
    """
    servers = address.removeprefix(SCHEME).rstrip("/")
    if not re.fullmatch(r"[^/:,]+:\d+(,[^/:,]+:\d+)*|\[[^]]+\]:\d+", servers):
        raise DebeziumError(
            f"{address}: names no broker; write kafka://host:port, or kafka://host:port,host:port"
        )
    credentials = {field: os.environ[key] for field, key in VARIABLES.items() if key in os.environ}
    named = RegistryBlock(registry, **credentials) if registry else None
    return _checked(address, KafkaBlock(servers, topics, registry=named))


def kafka_blocks(project: Path) -> dict[str, KafkaBlock]:
    """The blocks of a project's landing.yml that name topics, by name.

    Raises:
        DebeziumError: as `read_landing_file` does.
    """
    blocks = read_landing_file(project)
    return {name: block for name, block in blocks.items() if isinstance(block, KafkaBlock)}


def _block(name: str, fields: object) -> Block:
    is_table = isinstance(fields, dict) and not fields.keys().isdisjoint(("table", "files"))
    kind: type[KafkaBlock] | type[TableBlock] = TableBlock if is_table else KafkaBlock
    try:
        block = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).replace("`", "").partition(" - at $")
        where = f"{name}{path}"
        raise DebeziumError(f"{FILE}: {where}: {problem[:1].lower()}{problem[1:]}") from None
    where = f"{FILE}: {name}"
    if isinstance(block, KafkaBlock):
        return _checked(where, block)
    _check_registry(where, block.registry)
    return checked_table(where, block)


def _checked(where: str, block: KafkaBlock) -> KafkaBlock:
    if not block.topics:
        raise DebeziumError(
            f"{where}: topics: names none; write a regular expression, as 'shop[.].*', or a list "
            "of names"
        )
    if isinstance(block.topics, str):
        try:
            re.compile(block.topics)
        except re.error as error:
            raise DebeziumError(
                f"{where}: topics: {block.topics!r} is no regular expression ({error}); "
                "write one, as 'shop[.].*', or a list of names"
            ) from None
    for option in block.options:
        name = option.removeprefix("kafka.")
        if name in OURS:
            raise DebeziumError(
                f"{where}: options: {name} cannot be set, because {OURS[name]}; take it out"
            )
    _check_registry(where, block.registry)
    return block


def _check_registry(where: str, registry: RegistryBlock | None) -> None:
    if registry and not REFERENCE.search(registry.url):
        _check_url(where, registry.url)


def _check_url(where: str, url: str) -> None:
    if not re.fullmatch(r"https?://[^/@]+(/[^@]*)?", url):
        raise DebeziumError(
            f"{where}: registry: url: is no address of HTTP without credentials; write one, as "
            "https://host:8081, and username and password beside it"
        )


def client_options(name: str, block: KafkaBlock) -> dict[str, str]:
    """The options of Kafka's clients, with the values that `${env:…}` and `${file:…}` stand for.

    Raises:
        DebeziumError: a variable is not set, or a file cannot be read.
    """
    servers = _filled(f"{name}: bootstrap_servers", block.bootstrap_servers)
    options = {"bootstrap.servers": servers}
    for option, value in block.options.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        options[option.removeprefix("kafka.")] = _filled(f"{name}: options: {option}", text)
    return options


def registry_of(name: str, block: Block) -> Registry | None:
    """The block's registry, with the values that `${env:…}` and `${file:…}` stand for.

    Raises:
        DebeziumError: a variable is not set, a file cannot be read, or the url is none.
    """
    if block.registry is None:
        return None
    filled = {
        key: value and _filled(f"{name}: registry: {key}", value)
        for key, value in msgspec.structs.asdict(block.registry).items()
    }
    _check_url(f"{FILE}: {name}", filled["url"])
    return Registry(f"{name}: registry", RegistryBlock(**filled))


def _filled(where: str, text: str) -> str:
    return REFERENCE.sub(lambda match: _referenced(f"{FILE}: {where}", match[1], match[2]), text)


def _referenced(where: str, kind: str, name: str) -> str:
    if kind == "env":
        if name not in os.environ:
            raise DebeziumError(f"{where}: the variable {name} is not set; set it, or name another")
        return os.environ[name]
    try:
        return text_of(Path(name)).rstrip("\n")
    except DebeziumError as error:
        raise DebeziumError(f"{where}: {error}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        raise DebeziumError(
            f"{where}: {name} cannot be read ({why}); name a file that can be"
        ) from error
