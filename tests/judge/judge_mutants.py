"""Does a changed judge still say the same? Run for each mutant in a process of its own.

`replay <cases>` exits with 1 where the judge on the path says something else than the cases do.
"""

import ast
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dbt_debezium.errors import DebeziumError
from dbt_debezium.judge import ChainEnd, Commit, judge
from dbt_debezium.judge.marks import Mark

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
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Case:
    """What has landed after each landing of a source, and what the judge then says."""

    parts: list[list[Mark]]
    said: list[str]
    is_verbal: bool
    """Whether every verdict counts, with its reason; else only the newest commit does."""


class Mutant(NamedTuple):
    """One change of one line."""

    line: int
    changed: str
    text: str
    """The whole module."""


def mutants(source: str) -> Iterator[Mutant]:
    """Each comparison, `and`, `or`, `not`, number, min, max, any and all changed once."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for _ in _changes(node):
            line = getattr(node, "lineno", 0)
            yield Mutant(line, ast.unparse(node), ast.unparse(tree))


def _changes(node: ast.AST) -> Iterator[None]:
    """Change a node in place, and change it back."""
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
                rest = values[:at] + values[at + 1 :]
                node.values = rest if len(rest) > 1 else rest * 2
                yield
            node.values = values
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            node.operand = ast.UnaryOp(ast.Not(), operand)
            yield
            node.operand = operand
        case ast.Constant(value=bool() | int() as value):
            node.value = not value if isinstance(value, bool) else value + 1
            yield
            node.value = value
        case ast.Call(func=ast.Name(id=name) as function) if name in CALLED:
            function.id = CALLED[name]
            yield
            function.id = name


def verdicts(parts: list[list[Mark]], *, is_verbal: bool) -> list[str]:
    """What the judge says after each part."""
    end, newest, found = ChainEnd(), "", []
    for marks in parts:
        try:
            new = [*judge(marks, end)]
        except DebeziumError as error:
            new, newest = [], str(error)
        for one in new:
            if isinstance(one, Commit):
                end, newest = one.chain_end, str((one.position, one.transaction_id, one.proof))
        found.append(str(new) if is_verbal else newest)
    return found


def main(path: str) -> int:
    cases: list[Case] = pickle.loads(Path(path).read_bytes())
    for case in cases:
        try:
            if verdicts(case.parts, is_verbal=case.is_verbal) != case.said:
                return 1
        except Exception:  # a judge that breaks says something else
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
