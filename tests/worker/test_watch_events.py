"""What the watch tells of, and what it keeps to itself."""

import ctypes
import errno
import time
from pathlib import Path

import pytest
from waiting import until
from watchdog.observers import inotify_c

from keeplore.worker.watch import Watch

pytestmark = pytest.mark.skipif(
    not Path("/proc/sys/fs/inotify").is_dir(), reason="other systems tell otherwise"
)
SETTLED_S = 0.1  # what is told of a deed is told by then, where the next one is told
WORDS = "Tax is rounded per line.\n"


class Watched:
    """A spool, a workspace with followed folders, a folder apart, and what the watch tells."""

    def __init__(self, folder):
        self.box, self.root, self.apart = (
            folder / name for name in ("state/box", "team", "apart")
        )
        self.facts = self.root / "memory" / "facts"
        for place in (self.facts, self.root / "projects", self.apart):
            place.mkdir(parents=True)
        for place in (self.facts, self.root, self.apart):
            for name in ("tax.md", "tax.txt", ".tax.md"):
                (place / name).write_text(WORDS)
        self.arrived, self.changes = [], 0
        self.watch = Watch(self.box, self.arrived.append, self._count)
        assert self.watch.follow([self.root]) == ""

    def _count(self):
        self.changes += 1


@pytest.fixture
def watched(tmp_path):
    watched = Watched(tmp_path)
    yield watched
    watched.watch.stop()


CHANGES = {
    "a note is written": lambda it: (it.facts / "fees.md").write_text(WORDS),
    "a note is written again": lambda it: (it.facts / "tax.md").write_text(""),
    "a note is removed": lambda it: (it.facts / "tax.md").unlink(),
    "a note gets a name": lambda it: (it.facts / ".tax.md").rename(it.facts / "a.md"),
    "a note loses its name": lambda it: (it.facts / "tax.md").rename(
        it.facts / "a.old"
    ),
    "a note is hidden": lambda it: (it.facts / "tax.md").rename(it.facts / ".a.md"),
    "a note comes": lambda it: (it.apart / "tax.md").replace(it.facts / "tax.md"),
    "a note leaves": lambda it: (it.facts / "tax.md").replace(it.apart / "tax.md"),
    "a folder is made": lambda it: (it.facts / "tax").mkdir(),
    "a folder gets a name": lambda it: it.facts.rename(it.facts.with_name("rules")),
    "a folder leaves": lambda it: it.facts.rename(it.apart / "facts"),
    "a followed folder is made": lambda it: (it.root / "user").mkdir(),
    "a followed folder comes": lambda it: it.apart.rename(it.root / "user"),
    "a followed folder leaves": lambda it: (it.root / "memory").rename(it.apart / "m"),
    "a followed folder loses its name": lambda it: (it.root / "memory").rename(
        it.root / "old"
    ),
    "a followed folder is removed": lambda it: (it.root / "projects").rmdir(),
}
NO_CHANGES = {
    "a note is read": lambda it: (it.facts / "tax.md").read_text(),
    "a note may not be written": lambda it: (it.facts / "tax.md").chmod(0o400),
    "a folder is listed": lambda it: list(it.facts.iterdir()),
    "a folder may not be written": lambda it: it.facts.chmod(0o500),
    "another file is written": lambda it: (it.facts / "tax.txt").write_text(WORDS),
    "a hidden note is written": lambda it: (it.facts / ".tax.md").write_text(WORDS),
    "a hidden note is removed": lambda it: (it.facts / ".tax.md").unlink(),
    "another file gets a name": lambda it: (it.facts / "tax.txt").rename(
        it.facts / "a"
    ),
    "a note of the root is written": lambda it: (it.root / "tax.md").write_text(""),
    "another folder is made": lambda it: (it.root / "drafts").mkdir(),
    "a note apart is written": lambda it: (it.apart / "tax.md").write_text(WORDS),
}
ARRIVALS = {
    "an entry is written": (lambda it: (it.box / "2").write_text("{}"), ["2"]),
    "an entry comes": (lambda it: (it.apart / "tax.txt").rename(it.box / "2"), ["2"]),
    "an entry gets a name": (lambda it: (it.box / "1").rename(it.box / "2"), ["2"]),
    "an entry is written again": (lambda it: (it.box / "1").write_text("{}"), []),
    "an entry is read": (lambda it: (it.box / "1").read_text(), []),
    "an entry is removed": (lambda it: (it.box / "1").unlink(), []),
    "a folder is made": (lambda it: (it.box / "2").mkdir(), []),
}


@pytest.mark.parametrize("deed", CHANGES.values(), ids=CHANGES)
def test_a_change_of_notes_or_of_folders_with_notes_is_told(watched, deed):
    deed(watched)
    until(lambda: watched.changes, "it is told", seconds=20)
    assert watched.arrived == []


@pytest.mark.parametrize("deed", NO_CHANGES.values(), ids=NO_CHANGES)
def test_what_changes_no_note_is_not_told(watched, deed):
    deed(watched)
    watched.facts.chmod(0o700)
    (watched.facts / "last").mkdir()
    until(lambda: watched.changes, "the last deed is told", seconds=20)
    time.sleep(SETTLED_S)
    assert (watched.changes, watched.arrived) == (1, [])


@pytest.mark.parametrize(("deed", "told"), ARRIVALS.values(), ids=ARRIVALS)
def test_an_entry_is_told_by_its_name_once_it_is_there(watched, deed, told):
    (watched.box / "1").touch()
    until(lambda: watched.arrived == ["1"], "the first entry is told")
    deed(watched)
    (watched.box / "last").touch()
    until(lambda: "last" in watched.arrived, "the last entry is told", seconds=20)
    assert (watched.arrived, watched.changes) == (["1", *told, "last"], 0)


def test_after_a_folder_was_made_the_system_is_asked_whether_it_gives_one_watch_more(
    watched,
):
    watch = watched.watch
    (watched.facts / "one.md").write_text(WORDS)
    until(lambda: watched.changes, "the note is told")
    assert not watch._has_grown
    (watched.facts / "deep").mkdir()
    until(lambda: watch._has_grown, "the folder is told")
    before = watched.changes
    (watched.facts / "two.md").write_text(WORDS)
    until(lambda: watched.changes > before, "the other note is told")
    assert watch._has_grown
    assert watch.follow([watched.root]) == ""
    assert not watch._has_grown


@pytest.mark.parametrize(
    ("function", "refusal", "given", "limit"),
    [
        ("inotify_init", errno.EMFILE, 0, "max_user_instances"),
        ("inotify_add_watch", errno.ENOSPC, 1, "max_user_watches"),
        # enough for all but the folder furthest down
        ("inotify_add_watch", errno.ENOSPC, 3, "max_user_watches"),
    ],
)
def test_where_the_system_refuses_the_limit_is_named_and_entries_are_told(
    tmp_path, monkeypatch, function, refusal, given, limit
):
    left = iter(range(given))
    real = getattr(inotify_c, function)

    def limited(*arguments):
        if next(left, None) is not None:
            return real(*arguments)
        ctypes.set_errno(refusal)
        return -1

    monkeypatch.setattr(inotify_c, function, limited)
    box, root = tmp_path / "state" / "box", tmp_path / "team"
    (root / "memory" / "facts").mkdir(parents=True)
    arrived = []
    watch = Watch(box, arrived.append, lambda: None)
    try:
        assert limit in watch.follow([root])
        assert limit in watch.follow([root])  # the second time by what is known
        (box / "1").write_text("{}")
        until(lambda: arrived == ["1"], "it is told", seconds=20)
    finally:
        watch.stop()
