"""Sessions that cannot be read are counted, so that the doctor can say how much is missing."""

import os
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.workspace import Registry
from keeplore.workspace.importing.session_import import import_sessions
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.installed import source_named


@pytest.mark.parametrize("count", [1, 3])
def test_packed_sessions_that_nothing_can_unpack_are_counted(
    monkeypatch, tmp_path, count
):
    places, codex = Places.from_environment(os.environ), source_named("codex")
    initialise(places, Path.home() / "memory")
    folder = tmp_path / "archived_sessions"
    folder.mkdir()
    for number in range(count):
        (folder / f"rollout-2026-02-09T14-00-00-s{number}.jsonl.zst").write_bytes(
            b"\x28\xb5\x2f\xfd"
        )
    monkeypatch.setattr("shutil.which", lambda _: None)
    with Registry(places) as registry:
        done = import_sessions(
            registry,
            codex,
            list(codex.recorded(tmp_path, str(tmp_path))),
            lambda *_: None,
        )
    assert len(done.problems) == count
    _, problem, counted = Cursors(places.sessions).problems()["codex"]
    assert counted == count and "install the program zstd" in problem
