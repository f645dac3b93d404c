"""Small changes of the evidence and the judge, and whether they then say something else.

A mutant is one changed line of one module. Its whole package is run again for each, from source
text and in this process, with the classes of marks, verdicts and facts that are there already. Only
those cases are tried that run the line.

Three changes are no mutants. A size of 1,000 or more bounds what is taken at one time, and one more
is as good. What `FLAGS` names does not decide what is said. And what keeps None from where the type
checker refuses it stays: `or ""` in `x or ""`, but not in a text as `f"{x or ''}"`, which may show
None; `x is not None` in `x is not None and x < y`; `x` in `x and x.y`.
"""

import ast
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple, ParamSpec, TypeAlias
from unittest.mock import patch

from narrow import table_of

import dbt_debezium.evidence as evidence_package
import dbt_debezium.judge as judge_package
from dbt_debezium.errors import DebeziumError
from dbt_debezium.evidence import Known
from dbt_debezium.evidence.facts import Facts as GroupedFacts
from dbt_debezium.evidence.groups import coded, grouped
from dbt_debezium.judge.marks import Facts, Link
from dbt_debezium.judge.verdicts import ChainEnd

JUDGE = (
    "restart",
    "decisions",
    "partitions",
    "accounting",
    "markers",
    "snapshot",
    "evidence",
    "transaction",
    "uncounted",
    "predecessor",
    "holds",
    "horizon",
    "chain",
)
EVIDENCE = (
    "places",
    "state",
    "unnamed",
    "late",
    "groups",
    "transactions",
    "by_predecessor",
    "by_end",
    "partitions",
    "snapshots",
    "landed",
    "source",
    "fact_marks",
    "link_marks",
    "settle",
    "shown",
    "verdicts",
    "outcomes",
    "progress",
)
MODULES = {judge_package: JUDGE, evidence_package: EVIDENCE}
"""Those that decide something, each behind what it imports. Not `traits`: facts hold theirs, made
before the mutation."""
PATIENCE = 20
"""Seconds that a run may take until a mutant counts as one that never ends."""
FEW = 5
"""Rows that a mutant groups at one time."""
SIZE = 1_000
"""The least number that is one of a size."""

Lines: TypeAlias = frozenset[tuple[str, int]]
"""Modules and their lines."""
Said = ParamSpec("Said")

COMPARED = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
FLAGS = ("strict", "use_threads", "forbid_unknown_fields", "nullable")
"""Arguments that refuse what is of another form, or say how something is computed."""
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Case:
    """What the judge is given in one run, and what it says."""

    facts: Facts
    links: Sequence[Link]
    end: ChainEnd
    said: str
    lines: Lines
    """That it runs."""

    def again(self, package: ModuleType) -> str:
        """What it says in a package that has changed."""
        return said(self.facts, self.links, self.end, package)


@dataclass(frozen=True)
class RunCase:
    """What a run is given, and what it says."""

    rows: tuple[tuple[object, ...], ...]
    state: str
    known: Known
    said: str
    lines: Lines

    @cached_property
    def table(self) -> Any:
        """The rows, with texts coded."""
        return coded(table_of(self.rows)).unify_dictionaries()

    @cached_property
    def _facts(self) -> GroupedFacts:
        return grouped(self.table)

    def _grouped(self, _: object) -> GroupedFacts:
        known = self._facts
        return replace(known, ranges=[*known.ranges], controls=[*known.controls])

    def again(self, package: ModuleType) -> str:
        """Likewise. Grouping takes most of the time, and seldom says something else."""
        how = self._grouped if package.grouped is grouped else package.grouped
        with patch.object(package, "grouped", how):
            return said_of_run(self.table, self.state, self.known, package)


class Mutant(NamedTuple):
    """One change of one line."""

    package: ModuleType
    module: str
    line: int
    is_in_function: bool
    changed: str
    code: CodeType


def mutants(package: ModuleType) -> Iterator[Mutant]:
    """Each comparison, `and`, `or`, `not`, number, min, max, any and all changed once."""
    for module in MODULES[package]:
        tree = ast.parse((_folder(package) / f"{module}.py").read_text(encoding="utf-8"))
        shown = [one.value for one in ast.walk(tree) if isinstance(one, ast.FormattedValue)]
        functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
        inside = {node for one in functions for part in one.body for node in ast.walk(part)}
        for node in _nodes(tree):
            for _ in _changes(node, is_shown=node in shown):
                code = compile(tree, module, "exec")
                line = getattr(node, "lineno", 0)
                yield Mutant(package, module, line, node in inside, ast.unparse(node), code)


def _folder(package: ModuleType) -> Path:
    return Path(str(package.__file__)).parent


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All that decides something: no decorators, no flags."""
    yield tree
    for name, value in ast.iter_fields(tree):
        some = value if isinstance(value, list) else [value]
        is_decoration = name == "decorator_list" or getattr(tree, "arg", None) in FLAGS
        for one in some:
            if isinstance(one, ast.AST) and not is_decoration:
                yield from _nodes(one)


def said(
    facts: Facts, links: Sequence[Link], end: ChainEnd, judge: ModuleType = judge_package
) -> str:
    """All that the judge says, with each reason and where the chain ends."""
    try:
        return str([*judge.judge(facts, links, end)])
    except DebeziumError as error:
        return str(error)


def said_of_run(
    table: Any,
    state: str,
    known: Known,
    evidence: ModuleType = evidence_package,
) -> str:
    """All that a run says: of units, partitions and messages, and the state that it leaves."""
    try:
        judged = evidence.judge_source(table, evidence.decoded("", state), known)
    except DebeziumError as error:
        return str(error)
    rows = [tuple(one) for one in (*judged.verdicts, *judged.progress)]
    return f"{rows} {judged.outcomes.to_pylist()} {evidence.encoded(judged.state)}"


def watched(say: Callable[Said, str], *what: Said.args, **named: Said.kwargs) -> tuple[str, Lines]:
    """What is said, and the lines that run until then."""
    modules = {
        str(_folder(package) / f"{module}.py"): module
        for package, some in MODULES.items()
        for module in some
    }
    lines: set[tuple[str, int]] = set()

    def entered(frame: FrameType, _: str, __: object) -> Any:
        module = modules.get(frame.f_code.co_filename)
        if module is None:
            return None

        def ran(frame: FrameType, _: str, __: object) -> Any:
            lines.add((module, frame.f_lineno))
            return ran

        return ran

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        return say(*what, **named), frozenset(lines)
    finally:
        sys.settrace(before)


def is_killed(mutant: Mutant, cases: list[Case] | list[RunCase]) -> bool:
    """Whether the mutant says something else of a case, or breaks, or never ends.

    What kills it comes first the next time, since it may kill the next one, too.
    """
    line = mutant.module, mutant.line
    with _mutated(mutant) as package:
        for at, one in enumerate(cases):
            is_run = line in one.lines or not mutant.is_in_function
            if is_run and _says_something_else(one, package):
                cases.insert(0, cases.pop(at))  # type: ignore[arg-type] # of the same kind
                return True
    return False


def _says_something_else(case: Case | RunCase, package: ModuleType) -> bool:
    try:
        with _no_longer_than(PATIENCE):
            return case.again(package) != case.said
    except Exception:  # a judge that breaks, or never ends, says something else
        return True


@contextmanager
def _mutated(mutant: Mutant) -> Iterator[ModuleType]:
    """The package with one module changed, and each that imports it run anew."""
    modules = MODULES[mutant.package]
    first = modules.index(mutant.module)
    names = [f"{mutant.package.__name__}.{one}" for one in modules[first:]]
    known = {name: import_module(name) for name in names}
    package = ModuleType("mutated")
    try:
        for name in names:
            module = sys.modules[name] = ModuleType(name)
            module.__file__ = known[name].__file__
            code = mutant.code if name.endswith(f".{mutant.module}") else _compiled(name)
            exec(code, module.__dict__)
            if "UNITS_AT_ONCE" in module.__dict__:
                module.__dict__["UNITS_AT_ONCE"] = FEW
        exec(_compiled(mutant.package.__name__), package.__dict__)
        yield package
    finally:
        sys.modules.update(known)


_codes: dict[str, CodeType] = {}


def _compiled(name: str) -> CodeType:
    if name not in _codes:
        path = Path(str(sys.modules[name].__file__ or ""))
        _codes[name] = compile(path.read_text(encoding="utf-8"), name, "exec")
    return _codes[name]


@contextmanager
def _no_longer_than(seconds: int) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def _changes(node: ast.AST, *, is_shown: bool) -> Iterator[None]:
    """Change a node in place, and change it back.

    Args:
        node: any.
        is_shown: whether it stands in a text, which shows None, too.
    """
    match node:
        case ast.Compare(ops=[operator]):
            for other in COMPARED.get(type(operator), ()):
                node.ops = [other()]
                yield
            node.ops = [operator]
        case ast.BoolOp(op=operator, values=values):
            node.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield
            node.op = operator
            for at in range(len(values)):
                if _is_for_none(values, at, is_shown=is_shown):
                    continue
                rest = values[:at] + values[at + 1 :]
                node.values = rest if len(rest) > 1 else rest * 2
                yield
            node.values = values
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            node.operand = ast.copy_location(ast.UnaryOp(ast.Not(), operand), operand)
            yield
            node.operand = operand
        case ast.Constant(value=bool() | int() as value) if value < SIZE:
            node.value = not value if isinstance(value, bool) else value + 1
            yield
            node.value = value
        case ast.Call(func=ast.Name(id=name) as function) if name in CALLED:
            function.id = CALLED[name]
            yield
            function.id = name


def _is_for_none(values: Sequence[ast.expr], at: int, *, is_shown: bool) -> bool:
    """Whether an operand of `and` or `or` keeps None from where the type checker refuses it."""
    match values[at]:
        case ast.Constant(value="" | 0) | ast.Name(id="NOWHERE" | "EVERYWHERE" | "PAST_ALL"):
            return at > 0 and not is_shown
        case ast.Compare(left=guarded, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
            pass
        case ast.Name() | ast.Attribute() as guarded:
            pass
        case _:
            return False
    name = ast.dump(guarded)
    behind = (node for one in values[at + 1 :] for node in ast.walk(one))
    return any(name in map(ast.dump, _refuse_none(node)) for node in behind)


def _refuse_none(node: ast.AST) -> list[ast.expr]:
    """What must not be None: what has an attribute, and what is compared by its order."""
    match node:
        case ast.Attribute(value=value):
            return [value]
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
            return [left, *node.comparators]
        case _:
            return []
