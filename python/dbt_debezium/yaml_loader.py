"""The loader of YAML that dbt uses: libyaml's where PyYAML has it, which is ten times faster."""

from typing import Any, Final

import yaml

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def what_is_wrong(text: str, error: yaml.YAMLError) -> str:
    r"""The line of a text that is no YAML, and why. The error itself ends with a caret.

    >>> text = "a: 1\nb: [}"
    >>> try:
    ...     yaml.safe_load(text)
    ... except yaml.YAMLError as error:
    ...     what_is_wrong(text, error)
    "line 2: expected the node content, but found '}'"
    """
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    first = str(error).splitlines()[0]
    position = getattr(error, "position", None)
    return first if position is None else f"line {text.count(chr(10), 0, position) + 1}: {first}"
