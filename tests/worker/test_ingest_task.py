"""The worker takes the sources that an interrupted command left in the queue."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from keeplore.ingest import origin_of
from keeplore.store import Store
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.ingest_jobs import IngestQueue

MAKE_ROOM = "Make room there, or see whose it is, and ingest it again"


def test_a_worker_ingests_what_was_left_commits_it_and_leaves(office, git) -> None:
    office.init()
    (Path.home() / "guide.md").write_text(
        "# Guide\n\nThe rollback of a deployment takes four minutes."
    )
    with Registry(office.places) as registry:
        for source in ("guide.md", "missing.md"):
            IngestQueue(registry).add(
                origin_of(source, Path.home(), Path.home()), "memory", "workspace", ""
            )
        office.start(idle_exit_s=0.2)
        assert office.joined() == [[True]]
        assert [
            (status.state, status.what) for status in IngestQueue(registry).all()
        ] == [
            ("done", "new"),
            ("failed", ""),
        ]
    [file] = Store(office.root).scan()
    assert git("ls-files", "--", file.path, cwd=office.root) == file.path
    assert git("status", "--porcelain", cwd=office.root) == ""


def test_a_disk_that_is_full_is_told_of_with_the_next_step(
    office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "guide.md", None, None)

    office.init()
    (Path.home() / "guide.md").write_text("# Guide\n\nA rollback takes four minutes.")
    monkeypatch.setattr(Store, "save", full)
    with Registry(office.places) as registry:
        queue = IngestQueue(registry)
        origin = origin_of("guide.md", Path.home(), Path.home())
        queue.add(origin, "memory", "workspace", "")
        status = queue.step()
    assert status
    assert status.state == "queued"
    assert status.reason == "guide.md: No space left on device. " + MAKE_ROOM
