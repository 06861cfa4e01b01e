"""What people do to files by hand, in any order: a healing keeps every word, and the second one
finds nothing to do.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.memory import Memory, new_id, new_meta
from keeplore.store import create, files, removal_guard

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
WHICH = st.integers(0, 5)
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "write",
                "rename",
                "copy",
                "tear",
                "twice",
                "edit",
                "commit",
                "repair_merges",
            )
        ),
        WHICH,
        WHICH,
    ),
    min_size=2,
    max_size=8,
)
ROUNDS = 4  # of healing; one may find what the one before has made


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout


class Hands:
    """Somebody with an editor in a workspace; ``words`` is what must be found in the end."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.folder.name) / "workspace"
        self.store, self.root = create(root, TEMPLATE), root
        self.words: list[str] = []
        self.write(0, 0)
        self.commit(0, 0)

    def word(self) -> str:
        self.words.append(f"word{len(self.words)}x")
        return self.words[-1]

    def note(self) -> Memory:
        meta: dict[str, Any] = {"kind": "note", "scope": "workspace"}
        title = f"Plan {len(self.words)}"
        meta |= {"id": new_id(title), "title": title, "category": "gotchas"}
        body = f"# {title}\n\nWe {self.word()}.\n\nThen {self.word()}.\n"
        return Memory(new_meta(**meta, created_at="2026-02-09T14:03:11Z"), body)

    def pick(self, which: int) -> Path:
        paths = sorted(file.path for file in self.store.scan())
        return self.root / paths[which % len(paths)]

    def another_name(self, path: Path, how: int) -> Path:
        """A free name; with the digits of the id, without, with all of it, in the archive."""
        id_ = self.id_in(path)
        names = (f"my plan-{id_[4:12]}.md", "my plan.md", f"{id_}.md", path.name)
        folder = "archive/gotchas" if how == 3 else f"by hand {how % 2}"
        place = self.root / "memory" / folder / names[how % len(names)]
        place.parent.mkdir(parents=True, exist_ok=True)
        return path if place.exists() else place

    def id_in(self, path: Path) -> str:
        lines = path.read_text().split("\n")
        return next(line[4:] for line in lines if line.startswith("id: "))

    def write(self, _which: int, _how: int) -> None:
        self.store.save(self.note())

    def rename(self, which: int, how: int) -> None:
        path = self.pick(which)
        path.rename(self.another_name(path, how))

    def copy(self, which: int, how: int) -> None:
        path = self.pick(which)
        if (place := self.another_name(path, how // 2)) != path:
            more = f"\nCopied {self.word()}.\n" if how % 2 else ""
            place.write_text(path.read_text() + more)

    def tear(self, which: int, how: int) -> None:
        path = self.pick(which)
        one, other = self.word(), self.word()
        begin, middle, end = (sign * (7 + how % 3) for sign in "<=>")
        marks = f"{begin} HEAD\n{one}\n{middle}\n{other}\n{end} theirs\n"
        path.write_text(f"{path.read_text()}\n{marks}")

    def twice(self, which: int, how: int) -> None:
        path = self.pick(which)
        line = f"updated_at: '2026-03-0{1 + how}T00:00:00Z'\nscope:"
        path.write_text(path.read_text().replace("scope:", line, 1))

    def edit(self, which: int, _how: int) -> None:
        path = self.pick(which)
        path.write_text(f"{path.read_text()}\nAdded {self.word()}.\n")

    def commit(self, _which: int, how: int) -> None:
        if how % 2:
            git(self.root, "add", "memory")
            git(self.root, "commit", "-q", "--allow-empty", "-m", "By hand")
        self.store.commit()

    def repair_merges(self, _which: int = 0, _how: int = 0) -> tuple[str, ...]:
        healed = self.store.repair_merges(
            sorted(file.path for file in self.store.scan())
        )
        self.store.commit()
        return healed

    def check(self) -> None:
        rounds = [self.repair_merges() for _ in range(ROUNDS)]
        assert rounds[-1] == ()
        paths = sorted(file.path for file in self.store.scan())
        texts = "".join(git(self.root, "show", f"HEAD:{path}") for path in paths)
        assert [word for word in self.words if word not in texts] == []
        assert git(self.root, "status", "--porcelain") == ""
        assert not [*(self.root / ".git" / removal_guard.FOLDER).glob("*")]


@settings(max_examples=30, deadline=None)
@given(DEEDS)
def test_healing_keeps_every_word_that_people_left_in_files(
    deeds: list[tuple[str, int, int]],
) -> None:
    hands = Hands()
    with hands.folder:
        for name, which, how in deeds:
            getattr(hands, name)(which, how)
        hands.check()


@pytest.mark.parametrize("is_joined", [True, False])
def test_a_file_whose_memory_the_commit_has_nowhere_comes_back(is_joined: bool) -> None:
    hands = Hands()
    with hands.folder:
        path = hands.pick(0).relative_to(hands.root).as_posix()
        other = hands.store.save(hands.note())
        text = (hands.root / path).read_text()
        removal_guard.guarded_remove(hands.root, path, [other], is_joined=is_joined)
        assert files.is_absent(hands.root, path)
        hands.store.commit()
        assert (hands.root / path).read_text() == text
        hands.check()


def test_a_file_whose_heir_was_edited_since_stays_away() -> None:
    hands = Hands()
    with hands.folder:
        path = hands.pick(0).relative_to(hands.root).as_posix()
        archived = path.replace("memory/", "memory/archive/", 1)
        hands.store.move(path, archived)
        place = hands.root / archived
        place.write_text(place.read_text().replace(hands.words.pop(), "nothing"))
        hands.store.commit()
        assert [file.path for file in hands.store.scan()] == [archived]
        hands.check()


def test_what_was_forgotten_after_it_went_stays_forgotten() -> None:
    hands = Hands()
    with hands.folder:
        path = hands.pick(0).relative_to(hands.root).as_posix()
        memory = hands.store.load(path)
        hands.store.move(path, path.replace("memory/", "memory/archive/", 1))
        hands.store.forget(memory.id, "machine", "2026-02-09T14:03:11Z")
        hands.store.commit()
        hands.words.clear()
        assert [*hands.store.scan()] == []
        hands.check()


def test_a_note_of_a_writer_that_was_killed_before_it_removed_anything_goes() -> None:
    hands = Hands()
    with hands.folder:
        path = hands.pick(0)
        text = path.read_text()
        removal_guard.guarded_remove(
            hands.root, path.relative_to(hands.root).as_posix(), []
        )
        [note] = (hands.root / ".git" / removal_guard.FOLDER).glob("*")
        path.write_text(text)
        hands.store.commit()
        assert note.exists()
        os.utime(note, (0, 0))
        hands.store.commit()
        assert path.read_text() == text
        hands.check()
