"""Clients read and write JSON as the module of that name does, and start sooner."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keeplore.connect.client_copy import write_clients

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


def test_the_copy_for_this_machine_keeps_what_was_compiled(tmp_path: Path) -> None:
    """The folder of a plugin belongs to a host, which may compare it with its source."""
    plugin = tmp_path / "plugin" / "client"
    shutil.copytree(FILE.parent, plugin, ignore=shutil.ignore_patterns("__pycache__"))
    write_clients(tmp_path / "state")
    for folder in (plugin, tmp_path / "state" / "client"):
        subprocess.run(
            (sys.executable, "-I", "-S", str(folder / "mcp.py")),
            env={"KEEPLORE_STATE_DIR": str(tmp_path / "state")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    compiled = tmp_path.rglob("__pycache__/quick_json.*")
    assert [path.parents[2] for path in compiled] == [tmp_path / "state"]
