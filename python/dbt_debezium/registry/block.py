"""How a block of landing.yml names a registry."""

from msgspec import Struct


class RegistryBlock(Struct, forbid_unknown_fields=True, frozen=True):
    """The registry of a block of landing.yml."""

    url: str
    """Of Confluent's API: it ends before `/schemas/ids`."""
    username: str | None = None
    password: str | None = None
    token: str | None = None
    """A bearer token, in place of a username."""
    client_certificate: str | None = None
    """A file in PEM by which the registry knows us, with its key or without."""
    client_key: str | None = None
    """The file of its key, which no passphrase protects."""
    ca_certificate: str | None = None
    """A file in PEM with the authority that has signed the registry's own certificate."""
