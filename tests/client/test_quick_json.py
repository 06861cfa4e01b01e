"""Clients read and write JSON as the module of that name does, and start sooner."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "plugin" / "keeplore" / "client" / "quick_json.py"
TEXTS = (
    '{"a": [1, 2.5, null, true, false, "\\u00e9\\n\\u0000\\ud800"], "b": {"c": -1e9}}',
    " [] \r\n",
    '{"": {}}',
    '"x"',
    "-0.0",
    "123456789012345678901234567890",
    "[NaN, Infinity, -Infinity, 1e400]",
    '"caf\u00e9 \U0001f600"',
)
NONE = ("", " ", "{", "[1,]", '{"a": 1} x', "nope", "{1: 2}", '"\n"', "[" * 100_000)


@pytest.fixture(params=["in C", "without it"])
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict:
    if request.param == "without it":
        monkeypatch.setitem(sys.modules, "_json", None)
    return runpy.run_path(str(FILE))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_and_written_alike(quick: dict, text: str) -> None:
    value = json.loads(text)
    # not all numbers are like themselves
    assert repr(quick["loads"](text)) == repr(value)
    assert repr(quick["loads"](text.encode())) == repr(value)
    assert quick["dumps"](value) == json.dumps(value)


@pytest.mark.parametrize("text", NONE, ids=range(len(NONE)))
def test_what_is_no_json_is_refused(quick: dict, text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        quick["loads"](text)
