"""Modules that take seconds to load, and that no process needs but the one which runs their tests:
every process collects all tests.
"""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """The module of this name, loaded when the first of its public names is asked for: pytest asks
    whatever it finds in a module of tests for private ones.
    """

    def __init__(self, name: str) -> None:
        self._module = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._module), name)
