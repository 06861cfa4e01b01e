"""Modules that take seconds to load, and that no process needs but the one which runs their tests:
every process collects all tests.
"""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """The module of this name, loaded when the first of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._module = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)
