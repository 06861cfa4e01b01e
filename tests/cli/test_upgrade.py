from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keeplore.cli.commands.machine.upgrade_ import _formats
from keeplore.config.places import FORMAT, FORMAT_FILE, Places
from keeplore.index import schema


def test_what_an_upgrade_takes_and_does_is_said_also_where_this_one_is_too_old(
    memory: Path, run: Callable[..., Any]
) -> None:
    run("remember", "Deploy on Thursday")
    state = Places.from_environment(os.environ).state
    (state / FORMAT_FILE).write_text("2\n")
    done = run("list")
    assert done.returncode == 1 and "keeplore upgrade" in done.stderr
    told = json.loads(run("upgrade", "--json").stdout)
    assert told["installer"] in ("pip", "uv pip") and told["is_editable"]
    assert told["commands"][-2:] == ["keeplore worker stop", "keeplore connect"]
    found = {one["part"]: one for one in told["formats"]}
    assert found["inbox"] == {
        "part": "inbox",
        "found": 2,
        "known": 1,
        "then": "of a newer Keeplore: upgrade this one",
    }
    assert found["index memory"] == {
        "part": "index memory",
        "found": schema.VERSION,
        "known": schema.VERSION,
        "then": "made anew from the text; vectors are taken over",
    }
    assert " -m pip install --upgrade -e " in run("upgrade").stdout


@pytest.mark.parametrize(
    ("noted", "then"),
    [
        (None, "kept"),
        (FORMAT, "kept"),
        (FORMAT + 1, "of a newer Keeplore: upgrade this one"),
    ],
)
def test_what_becomes_of_the_inbox_is_told_by_its_format(
    home: Path, noted: int | None, then: str
) -> None:
    places = Places(home / "state", home / "cache")
    places.state.mkdir(exist_ok=True)
    if noted is not None:
        (places.state / FORMAT_FILE).write_text(f"{noted}\n")
    (told,) = _formats(places)
    assert told == {
        "part": "inbox",
        "found": noted or 0,
        "known": FORMAT,
        "then": then,
    }
