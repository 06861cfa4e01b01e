"""A new workspace on a new machine by a copy: to make one takes five times as long."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from keeplore.config.places import Places
from keeplore.workspace.lifecycle.setup import initialise

NAME = "memory"


def lay_down(places: Places, root: Path) -> None:
    """As ``initialise`` does for the first workspace of a machine, which is called ``memory``."""
    assert root.name == NAME and not places.state.joinpath("machine.json").exists()
    made = _made()
    copies = {"state": places.state, "cache": places.cache, NAME: root}
    for name, place in copies.items():
        shutil.copytree(made / name, place, dirs_exist_ok=True)
    for name in ("machine.json", "machine.json.copy"):
        file = places.state / name
        file.write_text(file.read_text().replace(str(made / NAME), str(root)))


@cache
def _made() -> Path:
    """Where one lies that this process has made; it goes with the homes of the tests."""
    top = Path(tempfile.mkdtemp(prefix="made-", dir=Path(os.environ["HOME"]).parent))
    initialise(Places(top / "state", top / "cache"), top / NAME)
    return top
