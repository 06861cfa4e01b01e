"""A workspace that a person freezes while somebody has it open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from file_hashes import digests

from keeplore.config.places import Places
from keeplore.config.setting_layers import set_own
from keeplore.errors import WorkspaceFrozen
from keeplore.memory import Memory, feedback_counters, new_id, new_meta
from keeplore.memory.location import archived_path
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

AT = "2026-06-01T12:00:00Z"


def test_whoever_has_it_open_writes_no_more_until_it_thaws() -> None:
    places, root = Places.from_environment(os.environ), Path.home() / "memory"
    initialise(places, root)
    with Registry(places) as registry:
        workspace = registry.named("memory")
        store = workspace.store
        note = Memory(
            new_meta(id=new_id("one"), kind="note", title="One", created_at=AT),
            "# One\n",
        )
        path = store.save(note)
        workspace.commit()
        two = note.with_meta(id=new_id("two"), title="Two")
        (root / "memory" / "facts").mkdir(parents=True, exist_ok=True)
        (root / "memory" / "facts" / "by-hand.md").write_text("# By hand\n")
        set_own(places.state, root, "frozen", True)  # a value
        before = digests(root)
        for write in (
            lambda: store.save(two),
            lambda: store.add(two),
            lambda: store.remove(path),
            lambda: store.move(path, archived_path(path)),
            lambda: store.forget(note.id, workspace.machine, AT),
            lambda: store.purge([note.id], workspace.machine, AT),
            lambda: store.record(workspace.machine, {"at": AT}),
            lambda: store.write_text(feedback_counters.path_of("studio"), "{}"),
            store.follow_purges,
            lambda: store.merge(store.head()),
        ):
            with pytest.raises(WorkspaceFrozen):
                write()
        assert (workspace.commit(), store.recover(), store.conclude()) == (
            "",
            False,
            (),
        )
        assert store.repair_merges([path]) == ()
        assert digests(root) == before
        set_own(places.state, root, "frozen", False)  # a value
        assert store.load(store.save(two)).title == "Two"
        assert workspace.commit()
