"""Passwords in addresses: taken out of those that we use, and out of every text that we print.

Java's libraries print the address of a catalog in logs and in errors. So it holds no password:
Iceberg hands properties that begin with `jdbc.` to the driver, which takes the same names.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from dbt_debezium.errors import CannotWorkError

SECRET: Final = "(?i:secret|password|passwd|pwd|token|access[.-]?key|credential)"
"""In names of settings, and of what an address names."""
URI: Final = re.compile(r"spark\.sql\.catalog\.[^.]+\.uri")
PARAMETER: Final = re.compile(rf"(?P<before>[?&;:])(?P<name>[^?&;:=/\s]*{SECRET}[^?&;=/\s]*)=")
# Both look at the beginning of a word alone, and go back over none: sentences quote names, and a
# name may have a megabyte.
BEFORE_HOST: Final = re.compile(r"(?<!\S)\S*@")
USER: Final = re.compile(r"//([^/:@]*:[^@]*|[^/@]*)@([^/@]*@)*")
PAIR: Final = re.compile(rf"(?<![^?&;=\s])(?=[^?&;=\s]*{SECRET})(?P<name>[^?&;=\s]++=)[^&;\s]*")
USER_INFO: Final = re.compile(
    r"(?P<scheme>//)(?P<user>[^/:@\s]*)(:(?P<password>[^\s?]*))?@(?=[^@]*$)"
)


def without_passwords(text: str) -> str:
    """A text, with nothing secret in its addresses.

    >>> without_passwords("no jdbc:postgresql://a/b?user=c&password=d&ssl=true here")
    'no jdbc:postgresql://a/b?user=c&password=...&ssl=true here'
    >>> without_passwords("https://user:pass/word@host/catalog and //user@host")
    'https://...@host/catalog and //...@host'
    """
    # A password may hold slashes, or signs like the one that ends it.
    text = BEFORE_HOST.sub(lambda found: USER.sub("//...@", found[0]), text)
    return PAIR.sub(r"\g<name>...", text)


def with_secrets_apart(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in which the address of a JDBC catalog holds no secret, but properties do.

    Raises:
        CannotWorkError: the address of a REST catalog holds a password, which Java refuses.

    >>> uri = "spark.sql.catalog.lake.uri"
    >>> with_secrets_apart({uri: "jdbc:postgresql://host/db?user=me&password=a%40b&ssl=true"})
    {'spark.sql.catalog.lake.uri': 'jdbc:postgresql://host/db?user=me&ssl=true', \
'spark.sql.catalog.lake.jdbc.password': 'a@b'}
    """
    apart = dict(settings)
    for name, value in settings.items():
        if URI.fullmatch(name):
            apart[name], secrets = _apart(name, str(value))
            prefix = name.removesuffix("uri")
            apart |= {
                f"{prefix}jdbc.{key}": one
                for key, one in secrets.items()
                if f"{prefix}jdbc.{key}" not in settings
            }
    return apart


def _apart(name: str, address: str) -> tuple[str, dict[str, str]]:
    """An address without its secrets, and those by the names that a driver gives them."""
    if not address.startswith("jdbc:"):
        if re.match(r"https?://[^/]*@", address):
            raise CannotWorkError(
                f"catalog: {name} holds a password in its address; name {name[:-3]}token or "
                f"{name[:-3]}credential, or {name[:-3]}rest.auth.type with its user and password "
                "(docs/cluster.md)"
            )
        return address, {}
    secrets: dict[str, str] = {}
    if info := USER_INFO.search(address.partition("?")[0]):
        secrets["user"] = unquote(info["user"])
        if info["password"] is not None:
            secrets["password"] = unquote(info["password"])
        address = f"{address[: info.end('scheme')]}{address[info.end() :]}"
    is_encoded = "?" in address
    while found := PARAMETER.search(address):
        # SQL Server puts a value with a semicolon in braces.
        braced = re.compile(r"\{(?:[^}]|\}\})*\}").match(address, found.end())
        end = braced.end() if braced else _end(address, found.end())
        value = address[found.end() : end]
        secrets[found["name"]] = unquote(value) if is_encoded else value.strip("{}")
        before, after = address[: found.start()], address[end:]
        keeps = found["before"] if after[:1] in ("&", ";") and found["before"] in "?:" else ""
        address = before + (keeps + after[1:] if keeps else after)
    return address, secrets


def _end(address: str, start: int) -> int:
    found = re.compile("[&;]").search(address, start)
    return found.start() if found else len(address)
