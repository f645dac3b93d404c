"""dbt in this process and in its Spark session, with progress and a short end."""

import os
import re
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_debezium.errors import CannotWorkError, DebeziumError
from dbt_debezium.spark.outages import LONGEST, java_reason, outage_sentence

BUILD = ("build", "--exclude-resource-type", "unit_test")
"""dbt's command without unit tests: they test our SQL, not the data, and belong to `make test`."""

END_HOOK = "-on-run-end-"
"""In the names of what dbt runs after all models and tests."""
SHOWN_FAILURES = 10
CALL = "An error occurred while calling o"
"""How py4j begins, before the number of a Java object, which says nothing."""
RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE: \w+)?$", re.MULTILINE)
CONFLICT = re.compile(
    r"iceberg\.exceptions\.(ValidationException[:)] (Found|Cannot)|CommitFailedException)"
)
"""Behind a colon as Java says it, behind a bracket as Spark Connect does."""
LATE = (
    "another run has written to this table since this run began, so this run publishes nothing; "
    "run it again, once no other run works"
)
HEADING = re.compile(r"(Runtime|Compilation|Database) Error( in .*)?$")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dbt_common.events.base_types import EventMsg


@contextmanager
def environment(**settings: str) -> "Iterator[None]":
    """Set environment variables for a `with` block."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def run_dbt(
    arguments: Sequence[str],
    project: Path,
    on_node: "Callable[[str, int, int], None] | None" = None,
    on_line: "Callable[[str], None] | None" = None,
    on_failure: "Callable[[str, str], None] | None" = None,
) -> bool:
    """Run one dbt command.

    Args:
        arguments: as on dbt's command line, the command first.
        project: folder of the dbt project and its profiles.yml.
        on_node: called with name, number and count as each node finishes.
        on_line: called with each line that our macros print, then with the first failures; last
            with the lines of the hooks that end a run.
        on_failure: called with name and message of each node that failed.

    Returns:
        Whether everything ran and nothing failed.

    Raises:
        CannotWorkError: dbt could not run at all, and never will with this project.
        DebeziumError: dbt could not run at all; dbt's own sentence says why.
    """
    from dbt_common.events.contextvars import get_node_info

    failures: list[str] = []
    endings: list[str] = []

    def listen(event: "EventMsg") -> None:
        data: Any = event.data
        if event.info.name in {"LogModelResult", "LogTestResult", "LogSeedResult"}:
            if on_node:
                # Results of models say `total`, those of tests `num_models`.
                total = getattr(data, "total", 0) or getattr(data, "num_models", 0)
                on_node(data.node_info.node_name, data.index, total)
        elif event.info.name == "PrintEvent" and on_line:
            if END_HOOK in get_node_info().get("node_name", ""):
                endings.append(data.msg)
            else:
                on_line(data.msg)

    result = _invoke(arguments, project, [listen])
    for node in getattr(result.result, "results", None) or []:
        if str(node.status) in {"error", "fail"}:
            line = failure_line(node.node.name, node.message or "")
            if line not in failures:
                failures.append(line)
            if on_failure:
                on_failure(node.node.name, node.message or "")
    if on_line:
        for line in [*failures[:SHOWN_FAILURES], *endings]:
            on_line(line)
    return bool(result.success)


def compiled(sql: str, project: Path, options: Sequence[str] = ()) -> str:
    """A query with Jinja as dbt compiles it, in the Spark session of this process.

    Args:
        sql: what `dbt compile --inline` takes. Names from outside are literals of Jinja in it.
        project: folder of the dbt project and its profiles.yml.
        options: more options of `dbt compile`.

    Raises:
        DebeziumError: dbt cannot compile it; dbt's own sentence says why.
    """
    result = _invoke(["compile", "--quiet", "--inline", sql, *options], project)
    (node,) = result.result.results
    if not node.node.compiled_code:
        raise DebeziumError(f"dbt compile: {first_sentence(node.message or '')}")
    return str(node.node.compiled_code)


def _invoke(
    arguments: Sequence[str],
    project: Path,
    callbacks: "Sequence[Callable[[EventMsg], None]]" = (),
) -> Any:
    """dbt's result, with dbt's own sentence as the error when it could not run at all."""
    from dbt.cli.main import dbtRunner

    from dbt_debezium.plugin import end_invocation

    command, *options = arguments
    profiles = os.environ.get("DBT_PROFILES_DIR") or str(project)
    folders = ["--project-dir", str(project), "--profiles-dir", profiles]
    try:
        result = dbtRunner(callbacks=list(callbacks)).invoke(
            ["--log-level", "none", command, *folders, *options]
        )
    finally:
        end_invocation()
    if result.exception is not None:
        if (ours := cause_of_ours(result.exception)) is not None:
            raise ours
        kind = CannotWorkError if cannot_work(result.exception) else DebeziumError
        message = str(result.exception)
        if outage := outage_sentence(message):
            raise DebeziumError(outage)
        told = first_sentence if bottom_of_java(message) else plain_message
        raise kind(*f"dbt {command}: {told(message)}".splitlines())
    return result


def cause_of_ours(error: BaseException) -> DebeziumError | None:
    """The error of this package that dbt has wrapped into its own; it says already what is wrong.

    >>> cause_of_ours(RuntimeError("of dbt")) is None
    True
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DebeziumError):
        cause = cause.__cause__ or cause.__context__
    return cause


def cannot_work(error: BaseException) -> bool:
    """Whether dbt would fail in this way again: it is about the project, not about the data."""
    from dbt.cli.exceptions import DbtUsageException
    from dbt.exceptions import AliasError, DependencyError, InvalidSelectorError, ParsingError
    from dbt_common.exceptions import CompilationError, DbtConfigError

    kinds = (
        AliasError,
        CompilationError,
        DbtConfigError,
        DbtUsageException,
        DependencyError,
        InvalidSelectorError,
        ParsingError,
    )
    return isinstance(error, kinds)


def plain_message(message: str) -> str:
    """dbt's message in one line, and one for each thing that it lists, without its own headings.

    >>> plain_message("Compilation Error\\n  Two are wrong:\\n  - a\\n  - b\\n  > in macro c\\n")
    'Two are wrong:\\n  - a\\n  - b'
    """
    lines = [line.strip() for line in message.splitlines()]
    # Behind the message dbt names the macros that called each other.
    told = (line for line in lines if line and line[0] != ">" and not HEADING.match(line))
    return "".join(("\n  " if line.startswith("- ") else " ") + line for line in told).strip()


def first_sentence(message: str) -> str:
    """The first line of dbt's message that says something.

    >>> first_sentence("Runtime Error in model a (a.sql)\\n  Runtime Error\\n    [X] y is z\\n")
    '[X] y is z'
    >>> first_sentence("E\\n: java.X: [USER_RAISED_EXCEPTION] y is z SQLSTATE: P0001\\n\\tat a")
    'y is z'
    >>> first_sentence("org.apache.iceberg.exceptions.ValidationException: Found x\\n\\tat a")[:19]
    'another run has wri'
    """
    if sentence := raised_sentence(message):
        return sentence
    if CONFLICT.search(message):
        return LATE
    if sentence := outage_sentence(message):
        return sentence
    if sentence := bottom_of_java(message):
        return sentence[:LONGEST]
    lines = [line.strip() for line in message.splitlines()]
    telling = [line for line in lines if line and not HEADING.match(line)]
    return telling[0][:LONGEST] if telling else message.strip()[:LONGEST]


def failure_line(name: str, message: str) -> str:
    """What is said of a node that failed; an outage is the same for all of them.

    >>> failure_line("a", "Runtime Error in model a (a.sql)\\n  y is z")
    'a: y is z'
    """
    sentence = first_sentence(message)
    return sentence if sentence == outage_sentence(message) else f"{name}: {sentence}"


def bottom_of_java(message: str) -> str | None:
    """Why a call into Java failed; None unless the message is of such a call.

    >>> bottom_of_java("An error occurred while calling o1.sql.\\n: a.BadException: y is z\\n")
    'y is z'
    """
    # Of a function in Python the bottom says only that it raised.
    if CALL not in message or "Traceback (most recent call last)" in message:
        return None
    return java_reason(message)


def raised_sentence(message: str) -> str | None:
    """Our own sentence that a query raised, which may stand in the middle of a page of Java.

    >>> raised_sentence("java.X: [USER_RAISED_EXCEPTION] y is z SQLSTATE: P0001\\n\\tat a")
    'y is z'
    """
    found = RAISED.search(message)
    return found[1][:LONGEST] if found else None
