"""Macros rendered without dbt, for queries that look at them alone."""

from pathlib import Path
from types import SimpleNamespace

from dbt_common.clients.jinja import get_environment
from jinja2 import nodes

MACROS = Path(__file__).parents[2] / "macros"
PREFIX = "dbt_macro__"


def _raise(message: str) -> None:
    raise ValueError(message)


_environment = get_environment(None, capture_macros=False)
_environment.globals["exceptions"] = SimpleNamespace(raise_compiler_error=_raise)
_source = {path.stem: path.read_text() for path in MACROS.glob("*.sql")}
_library = _environment.from_string("".join(_source.values())).module
_environment.globals.update(
    {
        macro.name.removeprefix(PREFIX): getattr(_library, macro.name)
        for source in _source.values()
        for macro in _environment.parse(source).find_all(nodes.Macro)
    }
)
_environment.globals["is_incremental"] = lambda: False
_environment.globals["source"] = lambda _, name: f"build.{name}"


def rendered(macro: str, *arguments: object) -> str:
    """The SQL that a macro of this project renders.

    Raises:
        ValueError: the macro refuses its arguments.
    """
    return str(_environment.globals[macro](*arguments))
