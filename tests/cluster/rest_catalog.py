"""An Iceberg REST catalog on loopback: Iceberg's own handlers, which a small server calls.

`org.apache.iceberg:iceberg-open-api` has a server, of 212 MB, that listens on all addresses. What
it does is in `org.apache.iceberg.rest.CatalogHandlers`, of the jar that the project has.
"""

import http.server
import json
import re
import sqlite3
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway  # type: ignore[import-untyped]
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from dbt_debezium.spark.java import check_java

STATUS = {
    "NoSuchNamespaceException": HTTPStatus.NOT_FOUND,
    "NoSuchTableException": HTTPStatus.NOT_FOUND,
    "NoSuchViewException": HTTPStatus.NOT_FOUND,
    "AlreadyExistsException": HTTPStatus.CONFLICT,
    "NamespaceNotEmptyException": HTTPStatus.CONFLICT,
    "CommitFailedException": HTTPStatus.CONFLICT,
    "ValidationException": HTTPStatus.BAD_REQUEST,
    "BadRequestException": HTTPStatus.BAD_REQUEST,
    "IllegalArgumentException": HTTPStatus.BAD_REQUEST,
    "UnsupportedOperationException": HTTPStatus.NOT_ACCEPTABLE,
}
JARS = Path(pyspark.__file__).parent / "jars"
SEPARATOR = "\x1f"
"""Between the parts of a namespace."""
LOCATION = """
select metadata_location from iceberg_tables
where table_namespace = ? and table_name = ? and coalesce(iceberg_type, 'TABLE') = ?
"""
ONE_BY_ONE = "one-by-one"
"""A warehouse for which the same catalog offers no transaction over several tables."""


class Handlers:
    """Iceberg's handlers over a catalog in a file, through py4j."""

    def __init__(self, gateway: Any, properties: Mapping[str, str]) -> None:
        self._new_array, self._jvm = gateway.new_array, gateway.jvm
        iceberg = self._jvm.org.apache.iceberg
        self._handlers = iceberg.rest.CatalogHandlers
        self._all = getattr(iceberg.rest, "RESTCatalogProperties$SnapshotMode").ALL
        self._catalog = iceberg.jdbc.JdbcCatalog()
        self._catalog.setConf(self._jvm.org.apache.hadoop.conf.Configuration())
        self._catalog.initialize("lake", dict(properties))
        self._file = properties["uri"].removeprefix("jdbc:sqlite:")
        self._loaded: dict[str, str] = {}
        # Iceberg's own mapper is for its package alone.
        kind = self._jvm.java.lang.Class.forName("org.apache.iceberg.rest.RESTObjectMapper")
        made = kind.getDeclaredMethod("mapper", self._new_array(self._jvm.java.lang.Class, 0))
        made.setAccessible(True)
        self._mapper = made.invoke(None, self._new_array(self._jvm.java.lang.Object, 0))
        self._transaction = threading.Lock()

    def answer(self, method: str, path: str, query: Mapping[str, str], body: str) -> str | None:
        """The body of an answer; None where there is none.

        Raises:
            LookupError: there is no such operation.
            FileNotFoundError: there is no such table or view.
            Py4JJavaError: Iceberg refuses it.
        """
        for operation, (verb, pattern) in OPERATIONS.items():
            found = re.fullmatch(pattern, path)
            if verb == method and found:
                names = {key: urllib.parse.unquote(one) for key, one in found.groupdict().items()}
                result = getattr(self, f"_{operation}")(names, query, body)
                if result is None or isinstance(result, str):
                    return result
                return str(self._mapper.writeValueAsString(result))
        raise LookupError(f"{method} {path}")

    def _read(self, body: str, name: str) -> Any:
        kind = self._jvm.java.lang.Class.forName(f"org.apache.iceberg.rest.requests.{name}")
        return self._mapper.readValue(body, kind)

    def _namespace(self, name: str) -> Any:
        names = name.split(SEPARATOR)
        array = self._new_array(self._jvm.java.lang.String, len(names))
        for place, one in enumerate(names):
            array[place] = one
        return self._jvm.org.apache.iceberg.catalog.Namespace.of(array)

    def _identifier(self, names: Mapping[str, str]) -> Any:
        return self._jvm.org.apache.iceberg.catalog.TableIdentifier.of(
            self._namespace(names["namespace"]), names["name"]
        )

    def _load(self, kind: str, names: Mapping[str, str], load: Callable[[], Any]) -> str:
        """The answer for a table or a view. It is kept for each file of metadata, as these stay."""
        namespace = names["namespace"].replace(SEPARATOR, ".")
        with closing(sqlite3.connect(self._file)) as catalog:
            found = catalog.execute(LOCATION, (namespace, names["name"], kind)).fetchone()
        if found is None:
            raise FileNotFoundError(f"{kind.title()} does not exist: {namespace}.{names['name']}")
        (location,) = found
        if location not in self._loaded:
            self._loaded[location] = str(self._mapper.writeValueAsString(load()))
        return self._loaded[location]

    def _config(self, names: Mapping[str, str], query: Mapping[str, str], body: str) -> Any:
        is_one_by_one = query.get("warehouse") == ONE_BY_ONE
        offered = [one for one in ENDPOINTS if not (is_one_by_one and "transactions" in one)]
        return json.dumps({"defaults": {}, "overrides": {}, "endpoints": offered})

    def _list_namespaces(self, names: Any, query: Mapping[str, str], body: str) -> Any:
        parent = query.get("parent")
        empty = self._jvm.org.apache.iceberg.catalog.Namespace.empty()
        where = self._namespace(parent) if parent else empty
        return self._handlers.listNamespaces(self._catalog, where)

    def _create_namespace(self, names: Any, query: Any, body: str) -> Any:
        request = self._read(body, "CreateNamespaceRequest")
        return self._handlers.createNamespace(self._catalog, request)

    def _load_namespace(self, names: Any, query: Any, body: str) -> Any:
        return self._handlers.loadNamespace(self._catalog, self._namespace(names["namespace"]))

    def _namespace_exists(self, names: Any, query: Any, body: str) -> Any:
        self._handlers.loadNamespace(self._catalog, self._namespace(names["namespace"]))

    def _drop_namespace(self, names: Any, query: Any, body: str) -> Any:
        self._handlers.dropNamespace(self._catalog, self._namespace(names["namespace"]))

    def _update_namespace(self, names: Any, query: Any, body: str) -> Any:
        request = self._read(body, "UpdateNamespacePropertiesRequest")
        return self._handlers.updateNamespaceProperties(
            self._catalog, self._namespace(names["namespace"]), request
        )

    def _list_tables(self, names: Any, query: Any, body: str) -> Any:
        return self._handlers.listTables(self._catalog, self._namespace(names["namespace"]))

    def _create_table(self, names: Any, query: Any, body: str) -> Any:
        request = self._read(body, "CreateTableRequest")
        create = self._handlers.stageTableCreate if request.stageCreate() else None
        create = create or self._handlers.createTable
        return create(self._catalog, self._namespace(names["namespace"]), request)

    def _load_table(self, names: Any, query: Any, body: str) -> Any:
        with self._transaction:
            identifier = self._identifier(names)
            return self._load(
                "TABLE",
                names,
                lambda: self._handlers.loadTable(self._catalog, identifier, self._all),
            )

    def _table_exists(self, names: Any, query: Any, body: str) -> Any:
        self._handlers.loadTable(self._catalog, self._identifier(names), self._all)

    def _update_table(self, names: Any, query: Any, body: str) -> Any:
        request = self._read(body, "UpdateTableRequest")
        return self._handlers.updateTable(self._catalog, self._identifier(names), request)

    def _drop_table(self, names: Any, query: Mapping[str, str], body: str) -> Any:
        is_purge = query.get("purgeRequested", "false").lower() == "true"
        drop = self._handlers.purgeTable if is_purge else self._handlers.dropTable
        drop(self._catalog, self._identifier(names))

    def _rename_table(self, names: Any, query: Any, body: str) -> Any:
        self._handlers.renameTable(self._catalog, self._read(body, "RenameTableRequest"))

    def _commit_transaction(self, names: Any, query: Any, body: str) -> Any:
        """Iceberg's handlers know tables only; nobody loads one while some have changed."""
        changes = self._read(body, "CommitTransactionRequest").tableChanges()
        with self._transaction:
            for one in changes:
                metadata = self._catalog.loadTable(one.identifier()).operations().current()
                for requirement in one.requirements():
                    requirement.validate(metadata)
            for one in changes:
                self._handlers.updateTable(self._catalog, one.identifier(), one)

    def _report(self, names: Any, query: Any, body: str) -> Any:
        return None

    def _list_views(self, names: Any, query: Any, body: str) -> Any:
        return self._handlers.listViews(self._catalog, self._namespace(names["namespace"]))

    def _create_view(self, names: Any, query: Any, body: str) -> Any:
        request = self._read(body, "CreateViewRequest")
        return self._handlers.createView(
            self._catalog, self._namespace(names["namespace"]), request
        )

    def _load_view(self, names: Any, query: Any, body: str) -> Any:
        identifier = self._identifier(names)
        return self._load("VIEW", names, lambda: self._handlers.loadView(self._catalog, identifier))

    def _view_exists(self, names: Any, query: Any, body: str) -> Any:
        self._handlers.loadView(self._catalog, self._identifier(names))

    def _update_view(self, names: Any, query: Any, body: str) -> Any:
        request = self._read(body, "UpdateTableRequest")
        return self._handlers.updateView(self._catalog, self._identifier(names), request)

    def _drop_view(self, names: Any, query: Any, body: str) -> Any:
        self._handlers.dropView(self._catalog, self._identifier(names))


NAMESPACE = "/v1/namespaces/(?P<namespace>[^/]+)"
TABLE = f"{NAMESPACE}/tables/(?P<name>[^/]+)"
VIEW = f"{NAMESPACE}/views/(?P<name>[^/]+)"
OPERATIONS = {
    "config": ("GET", "/v1/config"),
    "list_namespaces": ("GET", "/v1/namespaces"),
    "create_namespace": ("POST", "/v1/namespaces"),
    "load_namespace": ("GET", NAMESPACE),
    "namespace_exists": ("HEAD", NAMESPACE),
    "drop_namespace": ("DELETE", NAMESPACE),
    "update_namespace": ("POST", f"{NAMESPACE}/properties"),
    "list_tables": ("GET", f"{NAMESPACE}/tables"),
    "create_table": ("POST", f"{NAMESPACE}/tables"),
    "load_table": ("GET", TABLE),
    "table_exists": ("HEAD", TABLE),
    "update_table": ("POST", TABLE),
    "drop_table": ("DELETE", TABLE),
    "rename_table": ("POST", "/v1/tables/rename"),
    "commit_transaction": ("POST", "/v1/transactions/commit"),
    "report": ("POST", f"{TABLE}/metrics"),
    "list_views": ("GET", f"{NAMESPACE}/views"),
    "create_view": ("POST", f"{NAMESPACE}/views"),
    "load_view": ("GET", VIEW),
    "view_exists": ("HEAD", VIEW),
    "update_view": ("POST", VIEW),
    "drop_view": ("DELETE", VIEW),
}
ENDPOINTS = [
    f"{verb} "
    + pattern.replace("/v1/", "/v1/{prefix}/")
    .replace("(?P<namespace>[^/]+)", "{namespace}")
    .replace("tables/(?P<name>[^/]+)", "tables/{table}")
    .replace("views/(?P<name>[^/]+)", "views/{view}")
    for name, (verb, pattern) in OPERATIONS.items()
    if name != "config"
]
"""As the specification names them; a client asks for no views unless they are listed."""


@contextmanager
def rest_catalog(class_path: str, properties: Mapping[str, str], token: str) -> Iterator[str]:
    """A server for those who know the token; its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Or an answer in two parts waits 40 ms for the client to have acknowledged the first.
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            address = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(address.query))
            if self.headers.get("Authorization") != f"Bearer {token}":
                self.refuse(HTTPStatus.UNAUTHORIZED, "NotAuthorizedException", "unknown token")
                return
            try:
                answer = handlers.answer(self.command, address.path, query, body)
            except LookupError as error:
                self.refuse(HTTPStatus.NOT_FOUND, "NotFound", str(error))
            except FileNotFoundError as error:
                kind = f"NoSuch{str(error).split()[0]}Exception"
                self.refuse(HTTPStatus.NOT_FOUND, kind, str(error))
            except Py4JJavaError as error:
                java_error = error.java_exception
                kind = java_error.getClass().getSimpleName()
                status = STATUS.get(kind, HTTPStatus.INTERNAL_SERVER_ERROR)
                self.refuse(status, kind, str(java_error.getMessage()))
            else:
                self.send(HTTPStatus.OK if answer else HTTPStatus.NO_CONTENT, answer or "")

        do_GET = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815 # http.server's names

        def refuse(self, status: HTTPStatus, kind: str, message: str) -> None:
            error = {"message": message, "type": kind, "code": status.value}
            self.send(status, json.dumps({"error": error}))

        def send(self, status: HTTPStatus, body: str) -> None:
            content = b"" if self.command == "HEAD" else body.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    port, secret = launch_gateway(
        jarpath=str(next(JARS.glob("py4j-*.jar"))),
        classpath=class_path,
        javaopts=["-Xmx512m"],
        java_path=str(check_java()),
        die_on_exit=True,
        enable_auth=True,
    )
    known = GatewayParameters(port=port, auth_token=secret, auto_convert=True)
    gateway = JavaGateway(gateway_parameters=known)
    try:
        handlers = Handlers(gateway, properties)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
    finally:
        gateway.shutdown()
