"""What dbt gets from this package: checks, one run at a time, our functions in its session.

dbt imports every top-level module called `dbt_*`, and initialises its `plugins` when it has read
the profile.
"""

import contextlib
import threading
from pathlib import Path
from typing import Any

from dbt.adapters.spark.connections import SparkConnectionManager
from dbt.adapters.spark.session import Connection, Cursor
from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.errors import PySparkException

from dbt_debezium import (
    dbt_ctes,
    dbt_output,
    home,
    lease,
    package,
    package_entry,
    package_files,
    public_tables,
)
from dbt_debezium.errors import DebeziumError
from dbt_debezium.maintenance import table_places
from dbt_debezium.messages.hashing import check_hash_key
from dbt_debezium.project_settings import read_settings
from dbt_debezium.setting_names import check_setting_names
from dbt_debezium.spark import jars, java
from dbt_debezium.spark.catalogs import REMOTE
from dbt_debezium.spark.executors import executor_versions
from dbt_debezium.spark.lost_catalog import check_catalog_file
from dbt_debezium.spark.session import open_catalog, session_of
from dbt_debezium.spark.site import (
    completed,
    is_remote,
    site_defaults,
    uses_jars_folder,
    with_named,
)
from dbt_debezium.spark.targets import settings_of_target

WRITING = frozenset({"build", "run", "seed", "retry", "clone", "snapshot"})
"""Commands that change the lake. A second one refuses at once."""
READING = frozenset({"test", "show", "docs", "generate", "run-operation", "compile", "freshness"})


SITE = frozenset({"generate", "serve"})
"""`dbt docs generate` and `dbt docs serve`, which copy dbt's page."""


class DebeziumPlugin(dbtPlugin):
    """Makes plain `dbt build` the whole pipeline."""

    def initialize(self) -> None:
        """Refuse what cannot work, before Spark starts.

        Raises:
            DbtRuntimeError: Java, a jar or half of the lake is missing, a setting is misspelt, or
                another run is going on.
        """
        flags: Any = get_flags()  # type: ignore[no-untyped-call] # dbt's own
        command = getattr(flags, "WHICH", None)
        project = Path(flags.PROJECT_DIR)
        takes_package = package.uses_package(project)
        try:
            package_entry.check_entries(project, takes_package)
            if not takes_package and self.project_name != package_files.NAME:
                # Somebody's project that has nothing to do with us.
                return
            dbt_output.keep_lines_harmless()
            dbt_ctes.inject_quickly()
            if command in SITE:
                dbt_output.keep_site_harmless()
            if takes_package:
                _refresh(project)
            if command not in WRITING | READING:
                return
            settings = settings_of_target(flags.TARGET, str(flags.PROFILES_DIR))
            is_here = settings is None or not is_remote(settings)
            if is_here:
                java.check_java()
                if settings is None or uses_jars_folder(settings):
                    jars.check_jars()
                if settings is not None:
                    check_catalog_file(site_defaults() | settings)
            check_setting_names(project, flags.VARS)
            settings_read = read_settings(project, flags.VARS)
            if command in WRITING:
                _check_options(flags)
                check_hash_key(settings_read)
                if not is_here:
                    public_tables.refuse_remote(settings_read)
            home.make_private(home.lake_dir())
            if command in WRITING:
                _acquired.append(lease.acquire(f"dbt {command}"))
        except DebeziumError as error:
            # dbt takes the first line of what a plugin raises for a heading of its own.
            raise DbtRuntimeError(str(error)) from error
        prepare_sessions(is_writing=command in WRITING)


def _check_options(flags: Any) -> None:
    """Refuse options of dbt with which a run would build less than it says."""
    if flags.FULL_REFRESH and (flags.SELECT or flags.EXCLUDE):
        raise DebeziumError(
            "--full-refresh: rebuilds every table from the landing; leave out --select and "
            "--exclude"
        )
    if getattr(flags, "EMPTY", False):
        raise DebeziumError("--empty: would build tables without rows; leave it out")


def _refresh(project: Path) -> None:
    """Renew the package's copy.

    Raises:
        DebeziumError: that cannot be done, or this invocation has read packages.yml too early.
    """
    if package.refresh(project):
        raise DebeziumError(
            f"project: {package_entry.PACKAGES} is new and names the dbt package, as dbt 1.12 "
            "needs; keep it in git, and run the command again"
        )


_acquired: list[lease.Lease] = []
"""Leases of this machine that invocations of dbt have taken."""
_session_locks = contextlib.ExitStack()
_writing: list[tuple[Any, Path, lease.HeldLease]] = []
"""Sessions and lakes to which an invocation writes, and their leases in the catalog."""
_is_writing = False


def end_invocation() -> None:
    """Give back what an invocation of dbt in this process has taken; of others, its end does."""
    _writing.clear()
    _session_locks.close()
    while _acquired:
        _acquired.pop().release()


def prepare_sessions(is_writing: bool) -> None:
    """Have each Spark session of dbt's session method open its catalog and know our functions.

    Args:
        is_writing: whether no other session, of any machine, may write to the lake.
    """
    global _is_writing
    _is_writing = is_writing
    if hasattr(Connection, "knows_debezium"):
        return
    plain_open = SparkConnectionManager.open

    def open_session(connection: Any) -> Any:
        if (method := connection.credentials.method) != "session":
            raise DbtRuntimeError(
                f"profile: method is {method}, and this session has neither our functions nor our "
                "settings; write method: session in profiles.yml"
            )
        return plain_open(connection)

    setattr(SparkConnectionManager, "open", staticmethod(open_session))  # noqa: B010
    plain_cursor = Connection.cursor
    prepared: list[Any] = []
    sessions: dict[str, Any] = {}
    preparing = threading.Lock()

    def cursor(connection: Any) -> Any:
        with preparing:
            spark = sessions.get(get_invocation_id())
            settings = with_named(connection.server_side_parameters)
            if spark is None:
                spark = _prepare(completed(settings), prepared)
                sessions.clear()
                sessions[get_invocation_id()] = spark
            # The session has them. dbt would set them again with each statement, also those that
            # `fit_execution` has set.
            connection.server_side_parameters = {
                name: value for name, value in settings.items() if name == REMOTE
            }
            lake = home.lake_dir().resolve()
            if _is_writing:
                held = [one for known, of, one in _writing if (known, of) == (spark, lake)]
                if not held:
                    held = [_session_locks.enter_context(lease.writing(spark))]
                    _writing.append((spark, lake, held[0]))
                held[0].check()
            if not is_remote(settings):
                _name_call_sites(spark)
        return plain_cursor(connection)

    plain_execute = Cursor.execute

    def execute(cursor: Any, sql: str, *parameters: Any) -> None:
        check, write = table_places.step_of(sql), public_tables.step_of(sql)
        step = check or write
        if step is None:
            plain_execute(cursor, sql, *parameters)
            return
        spark, _, held = _writing[-1]
        if write:
            # The tables have no token that a late commit could be refused by.
            held.confirm()
        try:
            line = step(spark)
        except DebeziumError:
            # If another run has taken the lake meanwhile, that is why.
            held.confirm()
            raise
        except PySparkException as error:
            # dbt takes one that is not its own for a mistake in the project.
            raise DbtRuntimeError(str(error)) from error
        if write:
            cursor._df = spark.sql("select :line as line", args={"line": line})

    setattr(Cursor, "execute", execute)  # noqa: B010
    setattr(Connection, "cursor", cursor)  # noqa: B010 - mypy refuses to assign to a method
    setattr(Connection, "knows_debezium", True)  # noqa: B010


def _name_call_sites(spark: Any) -> None:
    """Tell Spark who asks, in the statements of this thread.

    Else it searches the stack for each RDD, through a thousand frames of its own planner: 4 % of
    what a small run takes.
    """
    for form in ("short", "long"):
        spark.sparkContext.setLocalProperty(f"callSite.{form}", "dbt-debezium")


def _prepare(settings: dict[str, Any], prepared: list[Any]) -> Any:
    """The session of an invocation, with its catalog open and our functions in it.

    Args:
        settings: those of its target, completed.
        prepared: sessions that have an open catalog; a new one is added.
    """
    from dbt_debezium.functions import flatten, judge, lake_topics, origins

    spark = session_of(settings)
    if spark not in prepared:
        open_catalog(spark, settings)
        if is_remote(settings):
            executor_versions(spark)
            # Once Python has ended its threads, Spark's client runs no statement: `atexit` is late.
            threading._register_atexit(end_invocation)  # type: ignore[attr-defined]
        origins.register(spark)
        lake_topics.register(spark)
        judge.register(spark)
        prepared.append(spark)
    # Each command of dbt knows the schemas that have landed before it.
    flatten.register(spark)
    return spark
