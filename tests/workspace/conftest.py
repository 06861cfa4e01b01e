"""A machine with one workspace, and a project of its person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from new_workspace import lay_down

from keeplore.config.places import Places
from keeplore.workspace import Registry
from keeplore.workspace.workspace import Workspace


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.from_environment(os.environ)
    lay_down(places, home / "memory")
    return places


@pytest.fixture
def registry(places: Places) -> Iterator[Registry]:
    with Registry(places) as registry:
        yield registry


@pytest.fixture
def workspace(registry: Registry) -> Workspace:
    return registry.named("memory")


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "code" / "ledgerly"
    folder.mkdir(parents=True)
    return folder
