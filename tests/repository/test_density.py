"""The limits that keep every piece small enough to be read at once (see ``density``)."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("density", HERE / "density.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["density"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


density = _load()


@pytest.fixture(scope="module")
def modules(product: list[Any]) -> list[Any]:
    """What is shipped, walked through once for all tests."""
    return [density.Module(source.name, source.text, source.tree) for source in product]


def module(text: str) -> Any:
    return density.Module("room/some.py", text, ast.parse(text))


def test_no_place_is_over_a_limit(modules: list[Any]) -> None:
    found = [problem for one in modules for problem in density.problems(one)]
    assert found == []


def test_a_class_and_a_module_name_stand_in_one_place(modules: list[Any]) -> None:
    assert list(density.twice(modules)) == []


def test_functions_and_lines_are_light(modules: list[Any]) -> None:
    found = density.figures(modules)
    assert found.function_p90 <= density.NODES_A_FUNCTION_P90
    assert found.line_median <= density.NODES_A_LINE


def test_benchmarks_and_the_demo_keep_to_the_length_of_lines_and_modules(
    sources: list[Any],
) -> None:
    beside = [
        source
        for source in sources
        if not source.name.startswith(("hooks/", "plugin/"))
    ]
    long = {source.name: len(source.text.splitlines()) for source in beside}
    assert {name: n for name, n in long.items() if n > density.MODULE_LINES} == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\n" * 501, "room/some.py: 501 lines, 500 at most"),
        (f"x = '{'a' * 95}'\n", "room/some.py:1 has 101 columns, 100 at most"),
        (
            "def f(a, b, c, d, e, g, h, i, j): ...\n",
            "room/some.py:1 f takes 9 parameters, 8 at most",
        ),
        (
            "def f():\n" + "    x = (1, 2)\n" * 61,
            "room/some.py:1 f has 307 nodes, 200 at most",
        ),
        (
            "a = [x for y in z for x in y] if b else c\n",
            "room/some.py:1 a comprehension with several for or if has company",
        ),
        (
            "a = [x for y in z for x in y if x]\n",
            "room/some.py:1 has 3 or more for and if on one line",
        ),
        (
            "class A:\n    def f(self):\n"
            + "".join(f"        self.a{n} = 1\n" for n in range(13)),
            "room/some.py:1 A has 13 attributes, 12 at most",
        ),
    ],
)
def test_the_check_finds_what_is_over_a_limit(text: str, problem: str) -> None:
    assert problem in list(density.problems(module(text)))
