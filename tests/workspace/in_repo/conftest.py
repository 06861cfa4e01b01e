"""A code repository, and the person whose workspace knows it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from code_repository import CodeRepository, Git

from keeplore.config.places import Places
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry


@pytest.fixture
def repository(home: Path, git: Git) -> Iterator[CodeRepository]:
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    top = home / "code" / "shop"
    top.mkdir(parents=True)
    git("init", "-q", cwd=top)
    (top / "app.py").write_text("print()\n")
    git("add", "app.py", cwd=top)
    git("commit", "-qm", "Begin", cwd=top)
    with Registry(places) as registry:
        yield CodeRepository(top, registry, git)
