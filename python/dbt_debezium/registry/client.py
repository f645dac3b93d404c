"""A schema registry that speaks Confluent's API, asked over HTTP.

Ids in headers are Apicurio's, which gives them out at its own API beside Confluent's.
"""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from msgspec import DecodeError

from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_values import json_decoder
from dbt_debezium.registry.block import RegistryBlock
from dbt_debezium.registry.found import Found

ALL_SECONDS: Final = 300.0
"""For all schemas of one landing together, which holds the lake meanwhile."""
MOST_REDIRECTS: Final = 5
REFUSALS: Final = {
    401: "it wants credentials; set username and password, or token",
    403: "it does not let us read schemas; grant it, or correct the credentials",
}

_decode = json_decoder(object)


class Registry:
    """A registry, with credentials that are never shown."""

    def __init__(self, where: str, block: RegistryBlock) -> None:
        """Take `where` for the beginning of sentences, and a block whose values are filled in.

        Raises:
            DebeziumError: the credentials do not go together.
        """
        self._where = where
        self._block = block
        self._known: dict[str, Found | None] = {}
        self._seconds_left = ALL_SECONDS
        self.url = block.url.rstrip("/")
        if problem := _problem(block):
            raise DebeziumError(f"{where}: {problem}")

    def schema(self, schema_id: str) -> Found | None:
        """The schema of an id as `framing` writes it; None when the registry has none.

        Raises:
            DebeziumError: the registry does not answer, not in time or not as one.
        """
        if schema_id not in self._known:
            self._known[schema_id] = self._asked(schema_id)
        return self._known[schema_id]

    def check(self) -> None:
        """Ask the registry for something that every one has.

        Raises:
            DebeziumError: it does not answer, not in time or not as a registry.
        """
        subjects = self._get(f"{self.url}/subjects")
        if subjects is None or not isinstance(_json(subjects), list):
            raise self._is_none("has no list of subjects")

    def _asked(self, schema_id: str) -> Found | None:
        kind, _, number = schema_id.rpartition(":")
        if kind:
            root = self.url.partition("/apis/")[0]
            text = self._get(f"{root}/apis/registry/v2/ids/{kind}s/{number}")
            return None if text is None else Found(_kind(text), text)
        text = self._get(f"{self.url}/schemas/ids/{number}")
        if text is None:
            return None
        answer = _json(text)
        if not isinstance(answer, dict) or "schema" not in answer:
            raise self._is_none("answers without a schema")
        return Found(str(answer.get("schemaType") or "AVRO"), str(answer["schema"]))

    def _get(self, url: str) -> str | None:
        # `requests` takes a command 0.1 s to import, and most registries are not asked.
        from dbt_debezium.registry.http import NoAnswerError, answer_of

        for _ in range(MOST_REDIRECTS):
            if self._seconds_left <= 0:
                raise DebeziumError(
                    f"{self._where}: {self.url}: its answers took over {ALL_SECONDS:.0f} seconds; "
                    "what it gave is kept, and the next landing asks for the rest"
                )
            is_own = _origin(url) == _origin(self.url)
            try:
                # Credentials are not for whom an answer refers us to.
                answer = answer_of(url, self._block if is_own else RegistryBlock(url))
            except NoAnswerError as error:
                raise DebeziumError(f"{self._where}: {self.url}: {error}") from None
            self._seconds_left -= answer.seconds
            if answer.location is None:
                return self._read(answer.status, answer.body, answer.retry_after)
            url = self._referred(url, answer.location)
            if urlsplit(url).scheme not in ("http", "https"):
                raise self._is_none("refers to an address that is not one of HTTP")
        raise self._is_none(f"refers to another address {MOST_REDIRECTS} times")

    def _referred(self, url: str, location: str) -> str:
        """The address that a redirect names."""
        try:
            found = urljoin(url, location)
            _, host, port = _origin(found)
        except ValueError:
            raise self._is_none("refers to an address that is none") from None
        if port is not None and not host:
            raise self._is_none("refers to an address that is none")
        return found

    def _read(self, status: int, body: bytes, retry_after: str | None) -> str | None:
        """The text of an answer; None where the registry says that it has no such thing."""
        if status == 404 and isinstance(_json(body), dict):
            return None
        if status == 404:
            # That of a proxy: taken for an unknown schema, it would quarantine all messages.
            raise self._is_none("HTTP 404 without the JSON of a registry")
        if status >= 300:
            # Whatever else it says may be what it was sent.
            is_known = retry_after is not None and re.fullmatch("[0-9]{1,9}", retry_after)
            wait = f"it asks to wait {retry_after} s; land again then" if is_known else None
            why = REFUSALS.get(status) or wait or "look at its log"
            raise DebeziumError(f"{self._where}: {self.url}: HTTP {status}; {why}")
        try:
            return body.decode()
        except UnicodeDecodeError as error:
            raise DebeziumError(
                f"{self._where}: {self.url}: {type(error).__name__}: the registry does not "
                "answer in UTF-8; check its address"
            ) from None

    def _is_none(self, what: str) -> DebeziumError:
        return DebeziumError(
            f"{self._where}: {self.url}: {what}; url must name Confluent's API, as "
            "https://host:8081 or https://host/apis/ccompat/v7"
        )


def _problem(block: RegistryBlock) -> str | None:
    """Why credentials cannot be used, without a word of them."""
    if block.token is not None and block.username is not None:
        return "has both a username and a token; name one of them"
    if block.password is not None and block.username is None:
        return "has a password and no username; name both, or token"
    if block.client_key is not None and block.client_certificate is None:
        return "has a client_key and no client_certificate; name both"
    if block.token is not None and not (block.token.isascii() and block.token.isprintable()):
        return "token: holds a character that no header of HTTP has, such as the end of a line"
    return None


def _origin(url: str) -> Sequence[object]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _json(text: str | bytes) -> Any:
    """What the text is as JSON; None where it is none."""
    try:
        return _decode(text)
    except (DecodeError, UnicodeDecodeError):
        return None


def _kind(text: str) -> str:
    """What a schema is by its text, which Apicurio gives as it is.

    >>> _kind('{"type":"record"}'), _kind('{"$schema":"x"}'), _kind('syntax = "proto3";')
    ('AVRO', 'JSON', 'PROTOBUF')
    """
    schema = _json(text)
    if schema is None:
        return "PROTOBUF"
    is_json = isinstance(schema, dict) and ("$schema" in schema or "properties" in schema)
    return "JSON" if is_json else "AVRO"
