"""What we take from inside of dbt is there, as docs/decisions/0026 has it.

When one fails after an upgrade, read what dbt has changed, and then the decision.
"""

import hashlib
import inspect
import re
import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

import dbt.include.global_project
import dbt.include.spark
import pytest
from dbt.adapters.spark.session import Connection, Cursor, SessionConnectionWrapper
from dbt.contracts.graph.nodes import InjectedCTE
from dbt.plugins.manager import PluginManager, dbtPlugin
from packaging.requirements import Requirement
from packaging.version import Version

from dbt_debezium import dbt_ctes
from dbt_debezium.package_files import package_dir

both_versions = pytest.mark.parametrize(
    "dbt_of", ["make test", pytest.param("make slow", marks=pytest.mark.slow)]
)
"""`make test` and `make slow` have two versions of dbt."""
READ_LAST = {
    "Connection.cursor": "59e1afe96589",
    "Cursor.execute": "72c544a9bfa3",
    "SessionConnectionWrapper.cursor": "39a50f3afa52",
    "SessionConnectionWrapper.execute": "215e511323a1",
    "spark__list_relations_without_caching": "cd133afb6df9",
    "list_relations_without_caching": "7bfcdc5edbdd",
    "spark__tblproperties_clause": "e3832c1aca41",
    "tblproperties_clause": "09d23a63e3d2",
    "spark__comment_clause": "541199f229da",
    "comment_clause": "3defaff2bdd9",
    "spark__alter_column_comment": "b7b481af57a1",
    "alter_column_comment": "9b988b63056f",
    "get_column_comment_sql": "d8f2da30d46e",
    "get_persist_docs_column_list": "89820d70e3a7",
    "spark__location_clause": "596eafbcf4bf",
    "location_clause": "a878feccb2f2",
    "spark__load_csv_rows": "a8471c8fa6d2",
    "load_csv_rows": "b4efcc2df616",
    "is_incremental": "223c405740dc",
}
"""Fingerprints of what we replace, and of what calls it, as somebody has read it."""
SPARK, DBT = dbt.include.spark, dbt.include.global_project
MACROS = {
    "spark__list_relations_without_caching": (SPARK, "macros/adapters.sql"),
    "list_relations_without_caching": (DBT, "macros/adapters/metadata.sql"),
    "spark__tblproperties_clause": (SPARK, "macros/adapters.sql"),
    "tblproperties_clause": (SPARK, "macros/adapters.sql"),
    "spark__comment_clause": (SPARK, "macros/adapters.sql"),
    "comment_clause": (SPARK, "macros/adapters.sql"),
    "spark__alter_column_comment": (SPARK, "macros/adapters.sql"),
    "alter_column_comment": (DBT, "macros/adapters/persist_docs.sql"),
    "get_column_comment_sql": (SPARK, "macros/adapters.sql"),
    "get_persist_docs_column_list": (SPARK, "macros/adapters.sql"),
    "spark__location_clause": (SPARK, "macros/adapters.sql"),
    "location_clause": (SPARK, "macros/adapters.sql"),
    "spark__load_csv_rows": (SPARK, "macros/materializations/seed.sql"),
    "load_csv_rows": (DBT, "macros/materializations/seeds/helpers.sql"),
    "is_incremental": (DBT, "macros/materializations/models/incremental/is_incremental.sql"),
}

QUOTING = re.compile(r"""'\{\{|"\{\{|replace\(.'|get_binding_char""")
"""Where a macro puts text between quotes of SQL."""
OF_THE_PROJECT = {
    "py_write_table",
    "spark__date",
    "spark__datediff",
    "spark__escape_single_quotes",
    "spark__options_clause",
}
"""Macros that do so with what a person has written in the project, which is trusted."""


def macro_text(name: str) -> str:
    package, file = MACROS[name]
    text = Path(package.PACKAGE_PATH, file).read_text(encoding="utf-8")
    (found,) = re.findall(rf"{{%-? macro {name}\(.*?endmacro -?%}}", text, re.DOTALL)
    return str(found)


def method_text(name: str) -> str:
    owner, method = name.split(".")
    known = {one.__name__: one for one in (Connection, Cursor, SessionConnectionWrapper)}
    # Another test of this process may have let the plugin replace it.
    text = inspect.getsource(sys.modules[known[owner].__module__])
    (of_class,) = re.findall(rf"^class {owner}\b.*?(?=^class |\Z)", text, re.DOTALL | re.MULTILINE)
    (found,) = re.findall(
        rf"^    def {method}\(.*?(?=^    def |^    @|\Z)", of_class, re.DOTALL | re.MULTILINE
    )
    return str(found).rstrip()


@both_versions
@pytest.mark.parametrize("name", READ_LAST)
def test_what_we_replace_is_what_somebody_has_read(name: str, dbt_of: str) -> None:
    text = method_text(name) if "." in name else macro_text(name)
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == READ_LAST[name], text


@both_versions
def test_we_replace_each_macro_that_puts_text_between_quotes(dbt_of: str) -> None:
    quoting = set()
    for path in Path(SPARK.PACKAGE_PATH, "macros").rglob("*.sql"):
        text = path.read_text(encoding="utf-8")
        for name, body in re.findall(r"{%-? macro (\w+)(\(.*?)endmacro -?%}", text, re.DOTALL):
            if QUOTING.search(body):
                quoting.add(name)
    assert quoting - OF_THE_PROJECT <= MACROS.keys()
    assert {"spark__comment_clause", "spark__load_csv_rows"} <= quoting


@both_versions
def test_every_statement_goes_through_what_we_replace(
    monkeypatch: pytest.MonkeyPatch, dbt_of: str
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(Connection, "cursor", lambda one: seen.append(one) or Cursor())
    monkeypatch.setattr(Cursor, "execute", lambda _, sql, *others: seen.append(sql))
    connection = Connection(server_side_parameters={"spark.master": "local"})
    SessionConnectionWrapper(connection).cursor().execute("select 1")
    assert seen == [connection, "select 1"]


@both_versions
def test_rows_come_from_the_frame_that_we_put_into_a_cursor(dbt_of: str) -> None:
    class Frame:
        def collect(self) -> list[tuple[str]]:
            return [("line",)]

    cursor = Cursor()
    cursor._df = Frame()
    assert cursor.fetchall() == [("line",)]


@both_versions
def test_our_end_comes_before_threads_are_joined_and_before_atexit(dbt_of: str) -> None:
    """Of a plain process, as dbt's is."""
    code = (
        "import atexit, threading, time\n"
        "ended = threading.Event()\n"
        "atexit.register(print, 'atexit')\n"
        "threading._register_atexit(lambda: (print('ours'), ended.set()))\n"
        "threading.Thread(target=lambda: (ended.wait(), print('thread'))).start()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout.split() == ["ours", "thread", "atexit"]


@both_versions
def test_queries_get_their_ephemeral_models_as_from_dbt(dbt_of: str) -> None:
    models = [path.read_text() for path in (package_dir() / "models").rglob("*.sql")]
    texts = [re.sub(r"(?s){%.*?%}|{#.*?#}|{{ config\(.*?\) }}|{{|}}", "", text) for text in models]
    texts += ["select 1", "\n-- with\nselect 1", "/* a */ With b as (select 1) select * from b"]
    texts += [
        "with recursive b as (select 1) select * from b",
        "-- a\nwith\n\nb as (select 1) table b",
    ]
    ctes = [InjectedCTE("a", " a as (\nselect 2)"), InjectedCTE("c", " c as (select 3)")]
    for text in texts:
        ours, dbts = dbt_ctes.injected(text, ctes), dbt_ctes.plain(text, ctes)
        assert re.sub(r"\s|--.*|/\*.*?\*/", "", ours) == re.sub(r"\s|--.*|/\*.*?\*/", "", dbts)


@both_versions
def test_dbt_asks_modules_of_our_name_for_plugins(dbt_of: str) -> None:
    assert PluginManager.PLUGIN_MODULE_PREFIX == "dbt_"
    assert PluginManager.PLUGIN_ATTR_NAME == "plugins"
    assert "self.initialize()" in inspect.getsource(dbtPlugin.__init__)


@both_versions
def test_events_have_the_fields_from_which_progress_is_made(dbt_of: str) -> None:
    import dbt.task.run
    from dbt.artifacts.resources.types import RunHookType
    from dbt.events import core_types_pb2
    from dbt.parser.hooks import HookBlock
    from dbt_common.events.contextvars import get_node_info, log_contextvars
    from dbt_common.events.types import PrintEvent

    from dbt_debezium.build import END_HOOK

    names = {"LogModelResult": "total", "LogSeedResult": "total", "LogTestResult": "num_models"}
    for name, count in names.items():
        fields = getattr(core_types_pb2, name).DESCRIPTOR.fields_by_name
        assert {"node_info", "index", count} <= {*fields}, name
    assert PrintEvent(msg="a").msg == "a"
    assert get_node_info() == {}
    with log_contextvars(node_info={"node_name": "a"}):
        assert get_node_info() == {"node_name": "a"}
    assert "self.safe_run_hooks(adapter, RunHookType.End" in inspect.getsource(dbt.task.run)
    assert "with log_contextvars(node_info=hook.node_info)" in inspect.getsource(dbt.task.run)
    assert END_HOOK in HookBlock(None, "p", "h", 0, RunHookType.End).name


@both_versions
def test_this_dbt_is_one_that_we_say_to_work_with(dbt_of: str) -> None:
    named = {one.name: one.specifier for one in map(Requirement, requires("dbt-debezium") or [])}
    assert Version(version("dbt-core")) in named["dbt-core"]
    assert Version(version("dbt-spark")) in named["dbt-spark"]
