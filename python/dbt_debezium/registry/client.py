"""A schema registry that speaks Confluent's API, asked over HTTP.

Ids in headers are Apicurio's, which gives them out at its own API beside Confluent's.
"""

import base64
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, Final, NamedTuple

from msgspec import DecodeError, Struct

from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_values import json_decoder

TIMEOUT_SECONDS: Final = 15
REFUSALS: Final = {
    401: "it wants credentials; set username and password",
    403: "it does not let us read schemas; grant it, or correct username and password",
}


_decode = json_decoder(object)


class RegistryBlock(Struct, forbid_unknown_fields=True, frozen=True):
    """The registry of a block of landing.yml."""

    url: str
    """Of Confluent's API: it ends before `/schemas/ids`."""
    username: str | None = None
    password: str | None = None


class Found(NamedTuple):
    """What a registry has under an id."""

    kind: str
    """AVRO, JSON or PROTOBUF."""
    text: str


class Registry:
    """A registry, with credentials that are never shown."""

    def __init__(
        self, where: str, url: str, username: str | None = None, password: str | None = None
    ) -> None:
        """Take `where` for the beginning of sentences; the rest is `RegistryBlock`'s."""
        self._where = where
        self._username, self._password = username, password
        self._known: dict[str, Found | None] = {}
        self.url = url.rstrip("/")

    def schema(self, schema_id: str) -> Found | None:
        """The schema of an id as `framing` writes it; None when the registry has none.

        Raises:
            DebeziumError: the registry does not answer, or not as one.
        """
        if schema_id not in self._known:
            self._known[schema_id] = self._asked(schema_id)
        return self._known[schema_id]

    def check(self) -> None:
        """Ask the registry for something that every one has.

        Raises:
            DebeziumError: it does not answer, or not as a registry.
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
        request = urllib.request.Request(
            url, headers={"Accept": "application/vnd.schemaregistry.v1+json, application/json, */*"}
        )
        if self._username is not None:
            pair = f"{self._username}:{self._password or ''}".encode()
            # Not for whom an answer refers us to.
            credentials = f"Basic {base64.b64encode(pair).decode()}"
            request.add_unredirected_header("Authorization", credentials)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            if error.code == 404 and isinstance(_json(_body(error)), dict):
                return None
            if error.code == 404:
                # That of a proxy: taken for an unknown schema, it would quarantine all messages.
                raise self._is_none("HTTP 404 without the JSON of a registry") from None
            why = REFUSALS.get(error.code, "look at its log")
            raise DebeziumError(f"{self._where}: {self.url}: HTTP {error.code}; {why}") from None
        except (OSError, ValueError, HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise DebeziumError(
                f"{self._where}: {self.url}: {type(reason).__name__}: the registry does not "
                "answer; check its address, and land again: until then the messages wait"
            ) from None

    def _is_none(self, what: str) -> DebeziumError:
        return DebeziumError(
            f"{self._where}: {self.url}: {what}; url must name Confluent's API, as "
            "https://host:8081 or https://host/apis/ccompat/v7"
        )


def _body(error: urllib.error.HTTPError) -> str:
    """The text of an answer that is an error; empty where it breaks off."""
    try:
        return error.read().decode(errors="replace")
    except (OSError, HTTPException):
        return ""


def _json(text: str) -> Any:
    """What the text is as JSON; None where it is none."""
    try:
        return _decode(text)
    except DecodeError:
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
