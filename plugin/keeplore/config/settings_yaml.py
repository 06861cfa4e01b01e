"""Settings as YAML: of bounded depth, and with each key once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any

import yaml

MAX_DEPTH = 20  # of lists and mappings in each other


class RepeatedKey(ValueError):
    """A key that stands twice, of which YAML would keep the last alone; ``line`` counts from 1."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(f"{key}: it stands twice")
        self.line = line


class _SettingsLoader(yaml.CSafeLoader):
    """The safe loader, which refuses a key that stands twice."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002  # the base class says so
    ) -> dict[Hashable, Any]:
        _refuse_repeated(key for key, _ in node.value)
        return super().construct_mapping(node, deep)


def _refuse_repeated(keys: Iterable[yaml.Node]) -> None:
    """Raise RepeatedKey where two of a mapping's keys are one text."""
    seen: set[str] = set()
    for key in keys:
        if isinstance(key, yaml.ScalarNode) and key.value in seen:
            raise RepeatedKey(key.value, key.start_mark.line + 1)
        seen.add(str(key.value))


@lru_cache(maxsize=8)
def parsed_yaml(text: bytes) -> Any:
    """The value of a small text of anybody's. Raises YAMLError or ValueError.

    All who ask for one text get the same value and may not change it: a command asks for the same
    two files several times.
    """
    depth = 0
    # the loader in C is quick, but overflows its stack on hostile nesting
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError("it nests too deeply")
    return yaml.load(text, Loader=_SettingsLoader)  # noqa: S506  # stricter than the safe one
