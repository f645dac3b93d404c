"""What a target's settings leave to others: the site's spark-defaults.conf, and what we add.

A setting that the site makes stays as it is, unless profiles.yml names it too.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dbt_debezium.addresses import with_secrets_apart
from dbt_debezium.errors import CannotWorkError
from dbt_debezium.home import jars_dir, lake_dir
from dbt_debezium.package_files import package_dir
from dbt_debezium.project_text import text_of
from dbt_debezium.spark.catalogs import CATALOGS, DEFAULT_CATALOG, NAMED, REMOTE, SQLITE
from dbt_debezium.spark.jars import check_jars, needed_jars
from dbt_debezium.spark.pack import FOLDER, pack
from dbt_debezium.spark.profiles import rendered_target
from dbt_debezium.spark.temp import spark_temp

PYTHON_PATH: Final = "spark.executorEnv.PYTHONPATH"
DRIVER_OPTIONS: Final = "spark.driver.extraJavaOptions"
WORKERS_TEMP: Final = "spark.executorEnv.TMPDIR"
REDACTION: Final = "spark.redaction.regex"
REDACTED: Final = "(?i)secret|password|token|access[.]?key|[.]credential$|shared-key"
"""What Spark hides in its pages and event logs by default, the credential of a catalog, and the key
of an account of Azure.

It hides values that fit, too, also in properties of tables that we read: so no more than that.
"""
JAVA_OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
    " -XX:+UseParallelGC -XX:MetaspaceSize=256m"
)
"""As of the target `local`. The second compiler, C2, took 39 % of the CPU of a small run."""
REST: Final = {
    # So that a silent catalog ends a command within a minute.
    "rest.client.connection-timeout-ms": "20000",
    "rest.client.socket-timeout-ms": "60000",
    # Three of ten requests of a run, which needs none of them.
    "rest-metrics-reporting-enabled": "false",
}
"""Of a REST catalog."""
LOOPBACK: Final = {
    # Nobody else calls a driver whose executors are in its own process.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # It would listen on all addresses.
    "spark.ui.enabled": "false",
}


def with_named(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a target with those of the package that they name, which count less.

    A project names them, so that a newer version brings its own.

    Raises:
        CannotWorkError: the package has no such settings.
    """
    if NAMED not in settings:
        return dict(settings)
    package, named = package_dir(), str(settings[NAMED])
    found = rendered_target(package, package / "profiles.yml", named)
    if found is None:
        raise CannotWorkError(
            f"profile: {NAMED} is '{named}', which this version does not have; name local, prod "
            "or connect"
        )
    own = {name: one for name, one in settings.items() if name != NAMED}
    return {**found["server_side_parameters"], **own}


def completed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a target as its session starts with them.

    Settings without a value are left to the site, as those of an environment variable that is not
    there. Paths begin at the root of this machine, because Iceberg writes them into the metadata
    of tables as they are.

    Raises:
        CannotWorkError: the address of a catalog holds a password that nothing would take, or the
            package has no settings of the name that the target names.

    >>> lake = "spark.sql.catalog.lake"
    >>> completed({f"{lake}.type": "rest", f"{lake}.warehouse": "shop", "spark.master": "yarn"})[
    ...     "spark.sql.catalog.lake.warehouse"
    ... ]
    'shop'
    """
    named = {name: one for name, one in with_named(settings).items() if one not in ("", None)}
    for name, value in named.items():
        # A REST catalog may know its warehouse by a name.
        if named.get(re.sub("warehouse$", "type", name)) != "rest":
            named[name] = _absolute(name, value)
    named = with_secrets_apart(named)
    site = site_defaults()
    if not is_remote(named) and is_embedded({**site, **named}):
        named.update((name, one) for name, one in LOOPBACK.items() if name not in {*site, *named})
    return named


def with_parts(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Completed settings of a new session, with jars, Java's options and Python for executors.

    Raises:
        DebeziumError: a jar is absent, or the archive cannot be written.
    """
    ready, both = dict(settings), {**site_defaults(), **settings}
    if REDACTION not in both:
        # Spark notes what is set in a session after it has begun, as our secrets are.
        ready[REDACTION] = REDACTED
    catalog = f"{CATALOGS}{both.get(DEFAULT_CATALOG)}"
    if both.get(f"{catalog}.type") == "rest":
        settled = {f"{catalog}.{name}": one for name, one in REST.items()}
        ready.update((name, one) for name, one in settled.items() if name not in both)
    if uses_jars_folder(settings):
        check_jars()
        if "spark.driver.extraClassPath" not in settings:
            # A file of SQLite is the catalog of an embedded Spark.
            jars = [jars_dir().absolute() / jar.file_name for jar in needed_jars()]
            ready["spark.jars"] = ",".join(str(jar) for jar in jars if "sqlite" not in jar.name)
    options = os.environ.get("DBT_DEBEZIUM_JAVA_OPTIONS", JAVA_OPTIONS)
    for process in ["driver"] if is_embedded(both) else ["driver", "executor"]:
        if (name := f"spark.{process}.extraJavaOptions") not in both:
            ready[name] = options
    if is_embedded(both):
        ready.update(private_folders({**site_defaults(), **ready}))
    if not is_embedded(both):
        archives = str(both.get("spark.archives", ""))
        if f"#{FOLDER}" not in archives:
            packed = f"{pack(lake_dir().absolute() / 'executors')}#{FOLDER}"
            ready["spark.archives"] = f"{archives},{packed}" if archives else packed
        path = both.get(PYTHON_PATH)
        ready[PYTHON_PATH] = f"./{FOLDER}:{path}" if path else f"./{FOLDER}"
    return ready


def private_folders(settings: Mapping[str, Any]) -> dict[str, str]:
    """Where an embedded Spark spills: into a folder that only its user reads (`spark_temp`).

    What the site or the target has chosen stays.

    Args:
        settings: those of the site and of the target.

    Raises:
        DebeziumError: the folder cannot be made.
    """
    folder = str(spark_temp())
    named = {}
    if "SPARK_LOCAL_DIRS" not in os.environ and "spark.local.dir" not in settings:
        named["spark.local.dir"] = folder
    if WORKERS_TEMP not in settings:
        named[WORKERS_TEMP] = folder
    options = str(settings.get(DRIVER_OPTIONS, ""))
    if "-Djava.io.tmpdir=" not in options:
        named[DRIVER_OPTIONS] = f"{options} {java_option(f'-Djava.io.tmpdir={folder}')}".strip()
    return named


def java_option(option: str) -> str:
    """An option as Spark reads it from a text of several.

    >>> print(java_option("-Da=b c"))
    "-Da=b c"
    """
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def is_remote(settings: Mapping[str, Any]) -> bool:
    """Whether Spark runs elsewhere, and this process asks it through Spark Connect."""
    return bool(settings.get(REMOTE))


def uses_jars_folder(settings: Mapping[str, Any]) -> bool:
    """Whether neither the completed settings of a target nor the site name the jars."""
    both = {**site_defaults(), **settings}
    return not (both.get("spark.jars") or both.get("spark.jars.packages"))


def executors_python(settings: Mapping[str, Any]) -> str:
    """The Python that executors run, unless PYSPARK_PYTHON names one: the driver's version."""
    both = {**site_defaults(), **settings}
    if is_embedded(both):
        return sys.executable
    named = both.get("spark.pyspark.python")
    return str(named or f"python{sys.version_info[0]}.{sys.version_info[1]}")


def is_embedded(settings: Mapping[str, Any]) -> bool:
    """Whether executors are in the driver's own process.

    >>> [is_embedded({"spark.master": one}) for one in ("local[2]", "spark://host:7077")]
    [True, False]
    """
    return bool(re.match(r"local(\[|$)", str(settings.get("spark.master", "local"))))


def site_defaults() -> dict[str, str]:
    """What the site's spark-defaults.conf says; nothing where there is none."""
    folder = site_conf()
    if folder is None or not (folder / "spark-defaults.conf").is_file():
        return {}
    lines = text_of(folder / "spark-defaults.conf").splitlines()
    found = [re.match(r"\s*([^\s#!=:]+)\s*[=:\s]\s*(.*?)\s*$", line) for line in lines]
    return {one[1]: one[2] for one in found if one}


def site_conf() -> Path | None:
    """The folder that Spark takes its configuration from, if the site has one."""
    if folder := os.environ.get("SPARK_CONF_DIR"):
        return Path(folder)
    home = os.environ.get("SPARK_HOME")
    return Path(home) / "conf" if home and (Path(home) / "conf").is_dir() else None


def _absolute(name: str, value: Any) -> Any:
    scheme, path = "", str(value)
    if name.endswith(".uri") and path.startswith(SQLITE):
        scheme, path = SQLITE, path.removeprefix(SQLITE)
    elif not name.endswith((".warehouse", ".warehouse.dir")) or ":" in path:
        return value
    return f"{scheme}{Path(path).absolute()}"
