"""The worker takes the sources that an interrupted command left in the queue."""

from __future__ import annotations

from pathlib import Path

from keeplore.ingest import origin_of
from keeplore.store import Store
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.ingest_jobs import IngestQueue


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
