"""Settings for all machines: written and committed, and what is told where they are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from keeplore.errors import RepositoryBusy
from keeplore.workspace.lifecycle.shared_settings import COMMITTED, set_for_all
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

FILE = "keeplore.yaml"
OTHERS = "HEAD lacked other edits of it already"
BY_HAND = "commit it where your other machines should have it too"


@pytest.fixture
def change(registry: Registry, workspace: Workspace) -> Callable[..., str]:
    """Changes settings; what is told."""

    def changed(**values: object) -> str:
        return set_for_all(
            workspace.root,
            workspace.places.state,
            {key.replace("_", "."): value for key, value in values.items()},
            lambda: registry.named("memory"),
        )

    return changed


def test_a_setting_is_committed_alone(
    workspace: Workspace, git: Callable[..., str], change: Callable[..., str]
) -> None:
    (workspace.root / "notes.txt").write_text("mine\n")
    assert change(capture_notes=False) == COMMITTED
    assert change(capture_notes=False) == COMMITTED  # there is nothing to do
    assert git("log", "-1", "--format=%s", cwd=workspace.root) == (
        f"Set capture.notes in {FILE}"
    )
    assert git("show", "--name-only", "--format=", cwd=workspace.root) == FILE
    assert change(capture_notes=True, capture_enabled=True) == COMMITTED
    assert git("log", "-1", "--format=%s", cwd=workspace.root) == (
        f"Set capture.notes and capture.enabled in {FILE}"
    )


def test_a_persons_own_edits_are_not_committed_with_it(
    workspace: Workspace, git: Callable[..., str], change: Callable[..., str]
) -> None:
    file = workspace.root / FILE
    file.write_text(f"# mine\n{file.read_text()}")
    before = git("rev-parse", "HEAD", cwd=workspace.root)
    assert change(capture_notes=False) == (
        f"{FILE} is not committed: {OTHERS}; {BY_HAND}"
    )
    assert git("rev-parse", "HEAD", cwd=workspace.root) == before
    text = file.read_text()
    assert text.startswith("# mine\n") and "notes: false" in text


def test_what_git_does_not_get_is_told_with_the_reason(
    workspace: Workspace, change: Callable[..., str]
) -> None:
    def busy() -> Workspace:
        raise RepositoryBusy("a merge goes on", "End it")

    def told(value: object) -> str:
        state = workspace.places.state
        return set_for_all(workspace.root, state, {"capture.notes": value}, busy)

    assert (
        told(False) == f"{FILE} is not committed: a merge goes on; {BY_HAND}"
    )  # a value
    assert "notes: false" in (workspace.root / FILE).read_text()
    # as HEAD has it
    assert told(True) == COMMITTED  # a value


def test_the_setting_that_nothing_is_written_any_more_is_not_committed(
    workspace: Workspace, change: Callable[..., str]
) -> None:
    assert change(frozen=True) == (
        f"{FILE} is not committed: the workspace is frozen; {BY_HAND}"
    )
    assert "frozen: true" in (workspace.root / FILE).read_text()
