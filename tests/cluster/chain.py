"""A REST catalog, an object store and a Spark cluster, all on loopback.

The worker sees another file system than the driver: neither the project, nor its Python packages,
nor the lake. Where this machine allows it, it runs as another user too.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pyspark
from rest_catalog import rest_catalog

from dbt_debezium.home import jars_dir
from dbt_debezium.spark.java import check_java

REPOSITORY = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
BUCKET = "lake"
TOKEN, ACCESS_KEY, SECRET_KEY = (
    "token-of-catalog-45c48cce",
    "an-access-key",
    "key-of-store-6512bd43",
)
REGION = "us-east-1"
WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]
"""The kernel kills a server that outlives these tests, as where an interrupt ends their process."""
NOBODY = [*WITH_PARENT, "--reuid=65534", "--regid=65534", "--clear-groups"]
"""It says so again, because a change of the user ends it."""
HIDE = """
set -e
mount --bind "$1" "$2"
shift 2
while [ "$1" != -- ]; do mount -t tmpfs -o ro none "$1"; shift; done
shift
exec "$@"
"""
SITE = """
# What this site says of all who use its cluster.
spark.driver.host                127.0.0.1
spark.driver.bindAddress         127.0.0.1
spark.driver.extraJavaOptions    -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m
spark.executor.extraJavaOptions  -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m
spark.executor.memory            1g
spark.sql.shuffle.partitions     7
spark.ui.enabled                 false
"""
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where its parts are, as a machine that uses them says it."""

    folder: Path
    """For drivers alone."""
    environment: Mapping[str, str]
    """Of a driver."""
    is_hidden: bool
    """Whether the worker sees nothing of the driver's files."""
    store: Mapping[str, str]
    """Settings of a catalog that uses the store."""
    worker: int
    """The process whose children are executors."""


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start it in a folder of its own; everything ends with the block."""
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="dbt-debezium-cluster-"))
        folder = Path(name)
        # The workers run as another user.
        folder.chmod(0o755)
        driver = folder / "driver"
        for one in (driver, driver / "conf", folder / "spark", folder / "work"):
            one.mkdir()
        (driver / "conf" / "spark-defaults.conf").write_text(SITE)
        (folder / "work").chmod(0o777)
        store = stack.enter_context(object_store(driver))
        s3 = store_settings(store)
        catalog = stack.enter_context(catalog_on(driver, s3))
        hiding, python = hiding_commands(folder)
        master = stack.enter_context(spark_master(driver))
        home = folder / "spark" if hiding else SPARK
        worker = stack.enter_context(spark_worker(folder, master, home, hiding, python))
        yield Cluster(
            driver,
            machine_environment(catalog, store)
            | {"SPARK_CONF_DIR": str(driver / "conf"), "DBT_DEBEZIUM_MASTER": master},
            bool(hiding),
            s3,
            worker,
        )


def store_settings(store: str) -> dict[str, str]:
    """Of a catalog that uses the store at an address."""
    return {
        "s3.endpoint": store,
        "s3.path-style-access": "true",
        "s3.access-key-id": ACCESS_KEY,
        "s3.secret-access-key": SECRET_KEY,
        "client.region": REGION,
    }


@contextmanager
def catalog_on(folder: Path, store: Mapping[str, str]) -> Iterator[str]:
    """A REST catalog whose tables lie in a store; its address."""
    properties = {
        "uri": f"jdbc:sqlite:{folder}/rest.db",
        "jdbc.schema-version": "V1",
        "warehouse": f"s3://{BUCKET}/warehouse",
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        **store,
    }
    with rest_catalog(f"{SPARK}/jars/*:{jars_dir().absolute()}/*", properties, TOKEN) as address:
        yield address


def machine_environment(catalog: str, store: str) -> dict[str, str]:
    """Of a machine that uses a catalog and a store by their addresses."""
    return {
        # An embedded Spark of this process names its own Python there.
        **{name: one for name, one in os.environ.items() if name != "PYSPARK_PYTHON"},
        "DBT_DEBEZIUM_JARS": str(jars_dir().absolute()),
        "DBT_DEBEZIUM_STORE": "s3",
        "DBT_DEBEZIUM_CATALOG_URI": catalog,
        "DBT_DEBEZIUM_CATALOG_TOKEN": TOKEN,
        "DBT_DEBEZIUM_S3_ENDPOINT": store,
        "DBT_DEBEZIUM_S3_PATH_STYLE": "true",
        "DBT_DEBEZIUM_S3_ACCESS_KEY": ACCESS_KEY,
        "DBT_DEBEZIUM_S3_SECRET_KEY": SECRET_KEY,
        "DBT_DEBEZIUM_S3_REGION": REGION,
    }


@contextmanager
def process(
    command: Sequence[object], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[int]:
    """A server, until the block ends; its process."""
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [*WITH_PARENT, *(str(part) for part in command)],
            stdout=file,
            stderr=file,
            env=environment,
            cwd="/",
        ) as started,
    ):
        try:
            yield started.pid
        finally:
            started.terminate()


def store_client(address: str) -> Any:
    """A client of an object store of these tests."""
    return boto3.client(
        "s3",
        endpoint_url=address,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
    )


@contextmanager
def object_store(folder: Path) -> Iterator[str]:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = Path(sys.executable).with_name("moto_server")
    with process([server, "-H", "127.0.0.1", "-p", port], folder / "s3.log"):
        wait_for(address)
        store_client(address).create_bucket(Bucket=BUCKET)
        yield address


@contextmanager
def spark_master(folder: Path) -> Iterator[str]:
    port, page = free_port(), free_port()
    command = [*daemon("master.Master"), "--host", "127.0.0.1", "--port", port]
    command += ["--webui-port", page]
    with process(command, folder / "master.log", daemon_environment(SPARK)):
        wait_for(f"http://127.0.0.1:{page}")
        yield f"spark://127.0.0.1:{port}"


@contextmanager
def spark_worker(
    folder: Path, master: str, home: Path, hiding: Sequence[object], python: Path
) -> Iterator[int]:
    page = free_port()
    environment = daemon_environment(home)
    environment["PATH"] = f"{python.parent}:{environment['PATH']}"
    command = [
        *(*hiding, *daemon("worker.Worker", home), "--host", "127.0.0.1", "--webui-port", page),
        *("--cores", 2, "--memory", "2g", "--work-dir", folder / "work", master),
    ]
    with process(command, folder / "driver" / "worker.log", environment) as number:
        wait_for(f"http://127.0.0.1:{page}")
        yield number


def daemon(name: str, home: Path = SPARK) -> list[object]:
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return [check_java(), *options, "-cp", f"{home}/jars/*", f"org.apache.spark.deploy.{name}"]


def daemon_environment(home: Path) -> dict[str, str]:
    """Of a daemon, and of the executors that it starts: nothing of the driver's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "SPARK_HOME": str(home),
        # Pages for people would listen on all addresses.
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",
    }


def hiding_commands(folder: Path) -> tuple[list[object], Path]:
    """What comes before a command that must not see the driver's files; and a Python that it sees.

    Nothing and this Python, where this machine does not allow it.
    """
    here = [REPOSITORY, folder / "driver"]
    jars = jars_dir().absolute()
    if not jars.is_relative_to(REPOSITORY):
        here.append(jars)
    pythons = {Path(sys.base_prefix, "bin", f"python{VERSION}")}
    for place in os.environ["PATH"].split(":"):
        if found := shutil.which(f"python{VERSION}", path=place):
            pythons.add(Path(found))
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    for user in [NOBODY, []] if os.geteuid() == 0 else [[]]:
        hiding = [*own, "sh", "-c", HIDE, "sh", SPARK, folder / "spark", *here, "--", *user]
        for python in sorted(pythons, key=len_of):
            command = [*hiding, python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
            try:
                said = subprocess.run(
                    [str(part) for part in command], capture_output=True, text=True
                )
            except OSError:
                continue
            if said.stdout.strip() == VERSION:
                return hiding, python
    return [], Path(sys.executable)


def len_of(path: Path) -> int:
    return len(str(path))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_for(address: str) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            urllib.request.urlopen(address).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return
