"""Several changes of a workspace made together: what is on disk after, and before one that cannot
be.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from keeplore.errors import Forgotten, NotFound, RepositoryBusy, UnsafePath
from keeplore.memory import Memory, serialise
from keeplore.store import Store
from keeplore.store.repository_state import directories
from keeplore.store.transaction import TransactionChanges, log_path

MADE = Callable[..., Memory]
ENTRIES: tuple[dict[str, Any], ...] = (
    {"at": "2026-02-09T14:03:11Z", "event": "refine", "id": "ä"},
    {"at": "2026-03-01T00:00:00Z", "event": "refine", "id": "2"},
    {"at": "2026-02-10T00:00:00Z", "event": "refine", "id": "3"},
)
LINES = {
    "audit/laptop/2026-02.jsonl": (
        '{"at": "2026-02-09T14:03:11Z", "event": "refine", "id": "ä"}\n'
        '{"at": "2026-02-10T00:00:00Z", "event": "refine", "id": "3"}\n'
    ),
    "audit/laptop/2026-03.jsonl": '{"at": "2026-03-01T00:00:00Z", "event": "refine", "id": "2"}\n',
}


def texts(store: Store) -> dict[str, str]:
    found = (*store.root.glob("memory/**/*.md"), *store.root.glob("audit/**/*.jsonl"))
    return {
        path.relative_to(store.root).as_posix(): path.read_text()
        for path in sorted(found)
    }


def test_new_files_moved_ones_and_lines_are_there_together(
    store: Store, note: MADE
) -> None:
    old = store.save(note("Old"))
    aside = old.replace("memory/", "memory/archive/")
    one, other = note("One", body="# One\n\ngrößer\n"), note("Other")
    changes = TransactionChanges([one, other], [(old, aside)], ENTRIES)
    new = store.write_together("laptop", changes)
    name = "memory/gotchas/2026-02-09-{}-{}.md"
    assert new == (
        name.format("one", one.id[4:12]),
        name.format("other", other.id[4:12]),
    )
    files = {aside: note("Old"), new[0]: one, new[1]: other}
    written = {path: serialise(memory) for path, memory in files.items()}
    assert texts(store) == {**written, **LINES}
    assert not store.recover()
    assert store.write_together("laptop", TransactionChanges()) == ()
    assert texts(store) == {**written, **LINES}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"moves": [("memory/gotchas/none.md", "memory/none.md")]}, NotFound),
        ({"moves": [("memory/old.md", "memory/con.md")]}, UnsafePath),
        ({"moves": [("memory/old.md", "src/old.md")]}, UnsafePath),
        ({"entries": [ENTRIES[0], {"at": "../../../x"}]}, UnsafePath),
    ],
)
def test_what_cannot_be_changes_nothing(
    store: Store, note: MADE, change: dict[str, Any], error: type[Exception]
) -> None:
    (store.root / "memory").mkdir(exist_ok=True)
    (store.root / "memory" / "old.md").write_text("Old.\n")
    before = texts(store)
    with pytest.raises(error):
        store.write_together("laptop", TransactionChanges([note("One")], **change))
    assert (texts(store), store.recover()) == (before, False)


def test_what_was_forgotten_is_not_written_again(store: Store, note: MADE) -> None:
    store.save(note("Old"))
    store.commit()
    store.forget(note("Old").id, "laptop", "2026-02-10T00:00:00Z")
    before = texts(store)
    with pytest.raises(Forgotten):
        store.write_together("laptop", TransactionChanges([note("One"), note("Old")]))
    assert texts(store) == before


def test_what_was_cut_short_is_finished_before_the_next_and_once(
    store: Store, note: MADE
) -> None:
    old, one = store.save(note("Old")), note("One")
    log = {
        "files": {"memory/one.md": serialise(one), old: None},
        "lines": {path: text.splitlines() for path, text in LINES.items()},
    }
    place = log_path(directories(store.root))
    place.write_text("{}")
    with pytest.raises(RepositoryBusy) as busy:
        store.commit()
    told = (busy.value.message, busy.value.remedy)
    assert told == (
        "a change of several files was cut short",
        "It is finished at the next try",
    )
    for again in range(2):
        place.write_text(json.dumps(log))
        if again:
            assert (store.recover(), store.recover()) == (True, False)
        else:
            store.write_together("laptop", TransactionChanges([note("Two")]))
        assert not place.exists()
        found = texts(store)
        (two,) = found.keys() - {"memory/one.md", *LINES}
        assert found == {
            two: serialise(note("Two")),
            "memory/one.md": serialise(one),
            **LINES,
        }
