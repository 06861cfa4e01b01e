"""A machine with a workspace and a project, in which programs of the person's run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.host import PythonHost
from keeplore.memory import Conversation, parse
from keeplore.workspace.lifecycle.setup import initialise

WHY = "Why did we drop Redis for the job queue?"
BECAUSE = (
    "We dropped Redis because it lost jobs twice when it was restarted. Postgres with SKIP "
    "LOCKED replaces it."
)
AGAIN = "Remind me why Redis was dropped for the job queue"
TOLD = "it lost jobs twice when it was restarted"  # what the second session needs of it


class Office:
    """Its workspace, and what stands there."""

    def __init__(self, root: Path, project: Path) -> None:
        self.root = root
        self.project = project
        self.hosts: list[PythonHost] = []

    def host(self, name: str = "test-agent") -> PythonHost:
        host = PythonHost(name, self.project)
        self.hosts.append(host)
        return host

    def said(self) -> list[tuple[str, str]]:
        """What user and assistant said; the sessions stand in the order of their ids."""
        files = sorted(self.root.rglob("conversations/**/*.md"))
        talks = [
            Conversation.from_markdown(parse(path.read_text(encoding="utf-8")).body)
            for path in files
        ]
        return [
            (exchange.user, exchange.assistant)
            for talk in talks
            for exchange in talk.exchanges
        ]

    def tell(self) -> None:
        """An earlier session of another program has said something."""
        with PythonHost("another-agent", self.project) as host:
            host.session("earlier").add(WHY, BECAUSE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "billing"
    project.mkdir()
    return project


@pytest.fixture
def office(workspace_dir: Path, project: Path) -> Iterator[Office]:
    initialise(Places.from_environment(os.environ), workspace_dir)
    office = Office(workspace_dir, project)
    yield office
    for host in office.hosts:
        host.close()


@pytest.fixture
def nowhere(project: Path) -> Iterator[PythonHost]:
    """A program on a machine without a workspace."""
    with PythonHost("test-agent", project) as host:
        yield host
