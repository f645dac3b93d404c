"""Keys that appear twice in a mapping of YAML, which is read as if only the last one were there."""

from typing import Any, Final

import yaml

from dbt_debezium.yaml_loader import LOADER

MERGE: Final = "tag:yaml.org,2002:merge"


def repeated_key(text: str) -> tuple[str, int] | None:
    r"""A key that appears twice in one mapping, and the line of the second; None where none does.

    Raises:
        yaml.YAMLError: the text is no YAML.

    >>> repeated_key("a: {b: 1}\nb: 2"), repeated_key("a:\n  b: 1\n  b: 2")
    (None, ('b', 3))
    """
    pending: list[Any] = [yaml.compose(text, LOADER)]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending += node.value
        elif isinstance(node, yaml.MappingNode):
            names = set()
            for key, value in node.value:
                pending += [key, value]
                if isinstance(key, yaml.ScalarNode) and key.tag != MERGE:
                    if (key.tag, key.value) in names:
                        return key.value, key.start_mark.line + 1
                    names.add((key.tag, key.value))
    return None
