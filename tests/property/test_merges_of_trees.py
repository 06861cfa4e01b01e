"""Two sides that change a tree in any way come to one tree in both orders, and every word of either
is in it.

What each side does is what machines, persons and broken programs do to files; the merge itself is
all that is run.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from keeplore.memory import Memory, new_id, new_meta, serialise
from keeplore.memory.location import digits_of
from keeplore.store import Store
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.merge.tree_merge import merged_tree
from keeplore.store.paths import is_memory

ID = re.compile(rb"^id: (mem_[0-9a-f-]{36})", re.MULTILINE)
WORD = re.compile(rb"word\d+x")
PLACES = (
    "memory/hand",
    "memory/facts",
    "memory/archive/gotchas",
    "user/memory",
    "projects/p/memory",
)
CASES = ("Ideas.md", "ideas.md", "Straße.md", "strasse.md", "e\u0301.md", "\u00e9.md")

Files = dict[str, tuple[bytes, int]]  # path → bytes and whether they are a program (1)


class Side:
    """One machine's files, and a dice that says what happens to them."""

    def __init__(self, files: Files, dice: random.Random, words: Counter[str]) -> None:
        self.files, self.dice, self._words = files, dice, words

    def word(self) -> bytes:
        self._words["all"] += 1
        return f"word{self._words['all']}x".encode()

    def act(self) -> None:
        deeds = (
            self.write,
            self.write,
            self.set,
            self.set,
            self.move,
            self.remove,
            self.forget,
            self.damage,
            self.add,
        )
        self.dice.choice(deeds)()

    def pick(self) -> str:
        # what lies in a folder that took the place of a file counts too
        return self.dice.choice(
            sorted(path for path in self.files if is_memory(path))
            or ["memory/first.md"]
        )

    def change(self, path: str, change: Callable[[bytes], bytes]) -> None:
        data, mode = self.files.get(path, (b"line\n", 0))
        self.files[path] = change(data), mode

    def write(self) -> None:
        """A line more, or a word more in one."""
        word, at = self.word(), self.dice.random()

        def change(data: bytes) -> bytes:
            lines = data.split(b"\n")
            fit = [
                n for n, line in enumerate(lines) if line.startswith((b"line", b"# "))
            ] or [len(lines) - 1]
            number = fit[int(at * len(fit))]
            if self.dice.random() < 0.5:
                lines[number] += b" " + word
            else:
                lines.insert(number + 1, b"line " + word)
            return b"\n".join(lines)

        self.change(self.pick(), change)

    def set(self) -> None:
        """A key of the front matter: text, a list, a mapping, a time."""
        word = self.word()
        key, value = self.dice.choice((
            (b"title", word), (b"extra", word), (b"extra", b"[%b, "
                                                           b"b]" % word), (b"extra", b"{a: %b}" % word),
            (b"labels", b"[%b, {a: "
                        b"1}]" % word), (b"updated_at", b"2026-04-0%dT00:00:00Z" % self.dice.randrange(1, 9)),
            (b"version", b"%d" % self.dice.randrange(1, 5)), (b"permanent", b"true"), (b"confidence", b"high"),
        ))  # fmt: skip

        def change(data: bytes) -> bytes:
            line = re.compile(rb"^%b:.*$" % key, re.MULTILINE)
            told = b"%b: %b" % (key, value)
            return (
                line.sub(told, data, count=1)
                if line.search(data)
                else data.replace(b"kind:", told + b"\nkind:", 1)
            )

        self.change(self.pick(), change)

    def move(self) -> None:
        path = self.pick()
        name = self.dice.choice((path.rsplit("/", 1)[1], "one.md", "two.md"))
        target = f"{self.dice.choice(PLACES)}/{name}"
        if path in self.files and target not in self.files:
            self.files[target] = self.files.pop(path)

    def remove(self) -> None:
        self.files.pop(self.pick(), None)

    def forget(self) -> None:
        found = ID.search(self.files.get(self.pick(), (b"", 0))[0])
        if found:
            tombstone = (
                b'{"schema": 1, "id": "%b", "at": "2026-03-01T00:00:00Z", "machine": "m"}\n'
                % found[1]
            )
            self.files[f"forgotten/{found[1].decode()}.json"] = tombstone, 0
            for path in [
                path for path, (data, _) in self.files.items() if found[0] in data
            ]:
                del self.files[path]

    def damage(self) -> None:
        self.change(self.pick(), self.dice.choice((
            lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data,
            lambda data: ID.sub(b"", data), lambda data: data.replace(b"title: ", b"title: [", 1),
            lambda data: data + b"\0\n", lambda data: data + b"\xff\n", lambda data: data.rstrip(b"\n"), lambda _: b"",
        )))  # fmt: skip

    def add(self) -> None:
        file = self.pick()
        named = f"memory/facts/{self.dice.choice(CASES)}"
        path = self.dice.choice(
            (named, "memory/facts/plain.md", "audit/m/2026-01.jsonl", f"{file}/in.md")
        )
        if path.endswith("/in.md"):  # a folder in the place of a file
            self.files.pop(file, None)
        line = (
            b'{"at": "%b", "event": "again"}\n'
            if path.startswith("audit")
            else b"line %b\n"
        )
        self.files[path] = (
            self.files.get(path, (b"", 0))[0] + line % self.word(),
            self.dice.randrange(2),
        )


def start() -> Files:
    files: Files = {"README.md": (b"# Ours\n", 0)}
    for title in ("Alpha", "Beta", "Gamma"):
        memory_id, at = new_id(title), "2026-02-09T14:03:11Z"
        facts = {
            "kind": "note",
            "title": title,
            "scope": "workspace",
            "category": "gotchas",
        }
        meta = new_meta(id=memory_id, created_at=at, **facts)
        text = serialise(
            Memory(meta, f"# {title}\n\nline one\nline two\n\nline three\n")
        )
        files[f"memory/gotchas/2026-02-09-{title.lower()}-{memory_id[4:12]}.md"] = (
            text.encode(),
            0,
        )
    return files


def commit(
    repository: pygit2.Repository, files: Files, parents: list[pygit2.Oid]
) -> pygit2.Oid:
    index = pygit2.Index()
    for path, (data, mode) in files.items():
        blob = repository.create_blob(data)
        index.add(
            pygit2.IndexEntry(
                path, blob, pygit2.enums.FileMode(0o100755 if mode else 0o100644)
            )
        )
    who = pygit2.Signature("Ann", "ann@example.invalid", 0, 0)
    return repository.create_commit(
        None, who, who, "x", index.write_tree(repository), parents
    )


def read(repository: pygit2.Repository, tree: str) -> dict[str, bytes]:
    index = pygit2.Index()
    index.read_tree(repository[tree])
    return {entry.path: repository[entry.id].data for entry in index}


def words(files: dict[str, bytes]) -> set[bytes]:
    return {word for data in files.values() for word in WORD.findall(data)}


def check(backend: GitBackend, repository: pygit2.Repository, seed: int) -> None:
    dice, count = random.Random(seed), Counter[str]()
    base = Side(start(), dice, count)
    sides = [Side(dict(base.files), dice, count) for _ in "ab"]
    for side in sides:
        for _ in range(dice.randint(1, 4)):
            side.act()
    origin = commit(repository, base.files, [])
    ends = [str(commit(repository, side.files, [origin])) for side in sides]
    trees = [merged_tree(backend, *order) for order in (ends, ends[::-1])]
    assert trees[0] == trees[1] and not trees[0][1], seed
    joined = read(repository, trees[0][0])
    had = [{path: data for path, (data, _) in side.files.items()} for side in sides]
    gone = {
        path[10:-5].encode()
        for side in had
        for path in side
        if path.startswith("forgotten/")
    }
    for path, data in [item for side in had for item in side.items()]:
        owner = ID.search(data)
        was_taken = (
            owner[1] in gone
            if owner
            else digits_of(path).encode() in {tombstone[4:12] for tombstone in gone}
        )
        assert was_taken or set(WORD.findall(data)) <= words(joined), (seed, path)
    folds = Counter(unicodedata.normalize("NFC", path).casefold() for path in joined)
    own = [
        Counter(unicodedata.normalize("NFC", path).casefold() for path in side)
        for side in had
    ]
    assert all(
        number <= max(1, *(side[fold] for side in own))
        for fold, number in folds.items()
    ), seed
    named = [ID.search(data) for path, data in joined.items() if digits_of(path)]
    assert gone.isdisjoint(owner[1] for owner in named if owner), seed


@pytest.fixture
def repository(tmp_path: Path) -> pygit2.Repository:
    return pygit2.init_repository(str(tmp_path))


def test_both_orders_of_two_sides_give_one_tree_that_has_every_word(
    tmp_path: Path, repository
) -> None:
    backend = Store(tmp_path, branch="main")._backend()
    for seed in range(60):
        check(backend, repository, seed)


@pytest.mark.soak
def test_thousands_of_pairs_of_sides_give_one_tree_that_has_every_word(
    tmp_path: Path, repository
) -> None:
    backend = Store(tmp_path, branch="main")._backend()
    for seed in range(60, 6000):
        check(backend, repository, seed)
