"""The tables and views of a REST catalog, which PyIceberg asks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.places import FILES_SIZE, folder_of
from dbt_debezium.spark.outages import away_sentence
from dbt_debezium.spark.site import REST

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.table import Table

S3: Final = ("s3", "s3a")
KEY: Final = "s3.access-key-id"


class RestPlaces:
    """See `Places`."""

    is_frozen = False

    def __init__(self, name: str, properties: Mapping[str, str]) -> None:
        """Log in.

        Args:
            name: of the catalog.
            properties: as Iceberg calls them, the secrets too.

        Raises:
            DebeziumError: it does not answer, or refuses the login.
        """
        self._address = properties.get("uri", "")
        self._properties = properties
        self._loaded: dict[tuple[str, str], Table] = {}
        self._names: dict[tuple[str, str], set[str]] = {}
        with self._asked():
            self._catalog = patient_catalog(name, properties)

    def schemas(self) -> set[str]:
        with self._asked():
            return {".".join(one) for one in self._catalog.list_namespaces()}

    def tables(self, schema: str) -> set[str]:
        return self._listed(schema, "list_tables")

    def views(self, schema: str) -> set[str]:
        return self._listed(schema, "list_views")

    def metadata(self, schema: str, table: str) -> str:
        return str(self._table(schema, table).metadata_location)

    def properties(self, schema: str, table: str) -> Mapping[str, str]:
        found: Mapping[str, str] = self._table(schema, table).properties
        return found

    def size(self, schema: str, table: str) -> int:
        snapshot = self._table(schema, table).current_snapshot()
        summary = snapshot.summary if snapshot else None
        return int(summary[FILES_SIZE] or 0) if summary else 0

    def text(self, schema: str, view: str) -> str:
        with self._asked():
            version = self._catalog.load_view((schema, view)).current_version()
        found = (one.root for one in version.representations)
        (text,) = (one.sql for one in found if one.dialect == "spark")
        return str(text)

    def folders(self, schema: str, table: str) -> set[str]:
        found = self._table(schema, table)
        elsewhere = found.properties.get("write.data.path")
        places = {found.location(), folder_of(found.metadata_location), elsewhere}
        return {one for one in places if one}

    def secret(self, schema: str, table: str) -> dict[str, str | bool]:
        found = self._table(schema, table)
        return secret_of(found.location(), found.io.properties)

    def patience(self) -> dict[str, int]:
        found: dict[str, int] = {}
        if timeout := self._properties.get("http-client.apache.socket-timeout-ms"):
            found["http_timeout"] = max(1, int(timeout) // 1000)
        if tries := self._properties.get("s3.retry.num-retries"):
            found["http_retries"] = int(tries)
        return found

    def store(self) -> str:
        latest = next(reversed(self._loaded.values()))
        return str(latest.io.properties.get("s3.endpoint") or latest.location())

    def opens(self, schema: str, table: str) -> bool:
        """Whether DuckDB can open the files of a table: local ones, and those of S3 with a key."""
        found = self._table(schema, table)
        scheme = urlsplit(found.metadata_location).scheme
        return scheme in ("", "file") or (scheme in S3 and KEY in found.io.properties)

    def _table(self, schema: str, table: str) -> "Table":
        if (schema, table) not in self._loaded:
            with self._asked():
                self._loaded[schema, table] = self._catalog.load_table((schema, table))
        return self._loaded[schema, table]

    def _listed(self, schema: str, how: str) -> set[str]:
        from pyiceberg.exceptions import NoSuchNamespaceError

        if (schema, how) not in self._names:
            try:
                with self._asked():
                    found = getattr(self._catalog, how)(schema)
            except NoSuchNamespaceError:
                found = []
            self._names[schema, how] = {one[-1] for one in found}
        return self._names[schema, how]

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Say in one sentence why the catalog has not answered."""
        from pyiceberg.exceptions import NoSuchTableError, NoSuchViewError, RESTError
        from requests import RequestException

        try:
            yield
        except (RESTError, RequestException, NoSuchTableError, NoSuchViewError) as error:
            raise DebeziumError(
                away_sentence("catalog", self._address, reason_of(error))
            ) from error


def patient_catalog(name: str, properties: Mapping[str, str]) -> "RestCatalog":
    """PyIceberg's catalog, which by itself would wait for ever for one that is silent."""
    from pyiceberg.catalog.rest import RestCatalog
    from requests import PreparedRequest, Response, Session
    from requests.adapters import HTTPAdapter

    patience = {**REST, **properties}
    seconds = tuple(
        int(patience[f"rest.client.{kind}-timeout-ms"]) / 1000 for kind in ("connection", "socket")
    )

    class Patient(HTTPAdapter):
        def send(self, request: PreparedRequest, *args: Any, **options: Any) -> Response:
            options["timeout"] = options.get("timeout") or seconds
            return super().send(request, *args, **options)

    class PatientCatalog(RestCatalog):  # type: ignore[misc]  # PyIceberg's types are not looked at
        def _create_session(self) -> Session:
            session: Session = super()._create_session()
            for scheme in ("http://", "https://"):
                session.mount(scheme, Patient())
            return session

    return PatientCatalog(name, **properties)


def reason_of(error: BaseException) -> str:
    """What the network said, at the bottom of what a client makes of it; else what the error says.

    >>> reason_of(ValueError("401"))
    '401'
    """
    found = error
    while found.__context__ is not None:
        found = found.__context__
    if isinstance(found, OSError) and found.strerror:
        return found.strerror
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def secret_of(location: str, properties: Mapping[str, str]) -> dict[str, str | bool]:
    """DuckDB's secret for a table in S3, by what Iceberg calls its parts.

    >>> found = secret_of("s3://lake/a", {"s3.access-key-id": "k", "s3.endpoint": "http://b:9000"})
    >>> found["key_id"], found["endpoint"], found["use_ssl"], found["scope"]
    ('k', 'b:9000', False, 's3://lake/a')
    >>> secret_of("/lake/a", {})
    {}
    """
    if urlsplit(location).scheme not in S3:
        return {}
    names = {
        "key_id": KEY,
        "secret": "s3.secret-access-key",
        "session_token": "s3.session-token",
    }
    options: dict[str, str | bool] = {"type": "s3", "scope": location}
    options |= {name: properties[one] for name, one in names.items() if properties.get(one)}
    region = properties.get("s3.region") or properties.get("client.region")
    if region:
        options["region"] = region
    if endpoint := properties.get("s3.endpoint"):
        parts = urlsplit(endpoint)
        options["endpoint"] = parts.netloc or endpoint
        options["use_ssl"] = parts.scheme != "http"
    if str(properties.get("s3.path-style-access", "")).lower() == "true":
        options["url_style"] = "path"
    return options
