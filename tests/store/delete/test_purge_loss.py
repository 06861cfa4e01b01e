"""Whether a machine that purged much of what is here is followed, and what is still to be removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.errors import RepositoryError
from keeplore.memory import new_id
from keeplore.memory.names import short_id
from keeplore.store.delete.purge import (
    PENDING,
    _note_pending,
    _pending_objects,
    check_loss,
)
from keeplore.store.tombstones import Tombstone

IDS = [new_id(f"memory {n}") for n in range(40)]


@pytest.mark.parametrize(
    ("purged", "here", "is_refused"),
    [
        (0, 40, False),
        (10, 10, False),  # so few are believed
        (11, 11, True),
        (11, 21, True),
        (11, 22, False),  # half of them
        (11, 23, False),
        (20, 40, False),
        (21, 40, True),
    ],
)
def test_a_purge_of_more_than_half_is_not_followed(
    purged: int, here: int, is_refused: bool
) -> None:
    paths = [f"memory/facts/2026-02-09-it-{short_id(id_)}.md" for id_ in IDS[:here]]
    purges = [Tombstone(id_, is_purged=True) for id_ in IDS[:purged]]
    elsewhere = [Tombstone(new_id(f"gone {n}"), is_purged=True) for n in range(40)]
    kept = [Tombstone(id_) for id_ in IDS]  # forgotten, with the text still in git
    tombstones = [*elsewhere, *kept, *purges]
    if not is_refused:
        check_loss(tombstones, (), paths)
        return
    with pytest.raises(RepositoryError) as refused:
        check_loss(tombstones, (), paths)
    assert str(refused.value) == (
        f"another machine purged {purged} of {here} memories that are here. If that is meant, "
        "run `git merge` in the workspace by hand; the next sync goes on from there"
    )
    check_loss(tombstones, IDS[:1] + IDS[1:purged], paths)  # they are purged here too


@pytest.mark.parametrize("text", ["", "{", "1", "null"])
def test_objects_that_are_to_be_removed_add_up(tmp_path: Path, text: str) -> None:
    assert _pending_objects(tmp_path) == []
    (tmp_path / PENDING).write_text(text)
    assert _pending_objects(tmp_path) == []
    _note_pending(tmp_path, {"b", "a"})
    assert _pending_objects(tmp_path) == ["a", "b"]
    _note_pending(tmp_path, {"c", "a"})
    assert (tmp_path / PENDING).read_text() == '["a", "b", "c"]'
