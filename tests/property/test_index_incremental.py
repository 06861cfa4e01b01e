"""However files come, change and go, the index ends up the one that a fresh build of what is there
would give.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from keeplore.errors import NotFound
from keeplore.index import Index, MemoryFilter, ScopeFilter
from keeplore.memory import Conversation, Exchange, Memory, as_memory, new_id, serialise

NAMES = st.sampled_from(
    [
        f"{folder}/{name}.md"
        for folder in ("memory/facts", "memory/archive/facts")
        for name in "abc"
    ]
)
WORDS = st.lists(
    st.sampled_from(
        [
            "redis",
            "sqlite",
            "getUserById",
            "`getUserById`",
            "src/app.py",
            "redis cache",
            "tabs",
        ]
    ),
    max_size=4,
).map(" ".join)
ENTITIES = st.lists(
    st.builds(
        lambda source, target, confidence: {
            "source": source, "relationship": "uses", "target": target, "confidence": confidence
        },
        st.sampled_from(["redis", "s1"]),
        st.sampled_from(["sqlite", "redis cache"]),
        st.sampled_from([0.3, 0.7, 0.9]),
    ),
    max_size=2,
)  # fmt: skip
SIDE = {
    "entities/store.yaml": (
        b"name: redis\ntype: tool\naliases: [tabs]\n",
        b"name: redis cache\n",
        b"name: [",
    ),
    "projects/s1/entities/own.yaml": (
        b"name: redis\ntype: system\n",
        b"name: other\naliases: [sqlite]\n",
    ),
    "projects/s1/manifests/studio.json": (
        b'{"packages": ["sqlite", "tabs"]}',
        b'{"packages": []}',
    ),
}
IDS = st.sampled_from([new_id(str(n)) for n in range(4)])
BROKEN = st.sampled_from(
    [b"", b"no front matter", b"---\nid: x\nid: y\n---\n", b"---\nid: \xff\n---\n"]
)
QUERIES = ("redis", "sqlite decision", "user by id", "tabs")


@dataclass(frozen=True)
class File:
    path: str
    mtime_ns: int
    size: int
    inode: int


class Folder:
    """A workspace of which the index sees every file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def indexed(self) -> Iterator[File]:
        for file in self.root.rglob("*.*"):
            at = file.stat()
            yield File(
                file.relative_to(self.root).as_posix(),
                at.st_mtime_ns,
                at.st_size,
                at.st_ino,
            )

    def read_text(self, path: str, _limit_bytes: int) -> str:
        return (self.root / path).read_text()

    def load(self, path: str) -> Memory:
        try:
            return as_memory((self.root / path).read_bytes().decode(), path)
        except FileNotFoundError as e:
            raise NotFound(path) from e

    def head(self) -> str:
        return "head"


def state(index: Index) -> object:
    """All that can be seen of an index, without the passage ids."""
    ids = [new_id(str(n)) for n in range(4)]
    found = []
    for query in QUERIES:
        matches = index.text_search(query, ScopeFilter(), 50)
        rows = index.passages([match.passage for match in matches])
        found.append(sorted((row.path, row.kind, row.turn, row.text) for row in rows))
    stamp = index.state()
    turns = index.known_turns(f"turn-{n}" for n in range(4))
    counts = (stamp.memories, stamp.passages)
    listed = index.listed(MemoryFilter(ScopeFilter(), limit=50))
    return (
        index.memories(ids),
        listed,
        index.problems(),
        turns,
        counts,
        found,
        graph(index),
    )


def graph(index: Index) -> object:
    """All that the graph says, and the counters that it keeps."""
    assert index.graph.link() == 0
    with closing(sqlite3.connect(index.directory / "index.sqlite3")) as connection:
        names = connection.execute(
            "SELECT name, mentions, defined, wordy, was_wordy FROM names ORDER BY name"
        ).fetchall()
    entities = index.graph.entities()
    said = [
        (
            index.graph.relations(e),
            sorted(index.graph.mentioning(e)),
            index.graph.aspects(e),
        )
        for e in entities
    ]
    return names, entities, said


class Incremental(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        top = Path(self.temporary.name)
        self.folder = Folder(top / "workspace")
        self.folder.root.mkdir()
        self.index = Index(top / "index", self.folder, None)
        self.builds = 0

    @rule(
        path=NAMES,
        id_=IDS,
        words=WORDS,
        supersedes=IDS | st.just(""),
        day=st.integers(1, 3),
        entities=ENTITIES,
    )
    def write_a_note(
        self,
        path: str,
        id_: str,
        words: str,
        supersedes: str,
        day: int,
        entities: list[dict[str, object]],
    ) -> None:
        meta: dict[str, object] = {
            "id": id_,
            "kind": "note",
            "title": words,
            "created_at": f"2026-02-0{day}T00:00:00Z",
        }
        meta |= {"scope": "workspace", "supersedes": supersedes, "entities": entities}
        self._write(path, serialise(Memory(meta, f"About {words}.\n")).encode())

    @rule(
        path=NAMES,
        id_=IDS,
        said=st.lists(WORDS, max_size=3),
        session=st.sampled_from(["s1", "s2"]),
    )
    def write_a_conversation(
        self, path: str, id_: str, said: list[str], session: str
    ) -> None:
        exchanges = tuple(
            Exchange(f"turn-{n}", "2026-02-09T14:00:00Z", text)
            for n, text in enumerate(said)
        )
        meta: dict[str, object] = {
            "id": id_,
            "kind": "conversation",
            "title": "Talk",
            "created_at": "2026-02-09T14:00:00Z",
        }
        meta |= {"scope": "project", "project": session, "source": {"session": session}}
        self._write(
            path,
            serialise(
                Memory(meta, Conversation("Talk", exchanges).to_markdown())
            ).encode(),
        )

    @rule(path=NAMES, data=BROKEN)
    def break_a_file(self, path: str, data: bytes) -> None:
        self._write(path, data)

    @rule(path=st.sampled_from(sorted(SIDE)), number=st.integers(0, 2))
    def define(self, path: str, number: int) -> None:
        self._write(path, SIDE[path][number % len(SIDE[path])])

    @rule(path=NAMES | st.sampled_from(sorted(SIDE)))
    def delete(self, path: str) -> None:
        (self.folder.root / path).unlink(missing_ok=True)

    @rule(old=NAMES, new=NAMES)
    def rename(self, old: str, new: str) -> None:
        if (self.folder.root / old).exists():
            (self.folder.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder.root / old).rename(self.folder.root / new)

    @rule(path=NAMES)
    def settle(self, path: str) -> None:
        if (self.folder.root / path).exists():
            os.utime(self.folder.root / path, (1, 1))

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = Index(Path(self.temporary.name) / "index", self.folder, None)

    @invariant()
    def equals_a_fresh_build(self) -> None:
        self.index.refresh()
        self.builds += 1
        fresh = Index(
            Path(self.temporary.name) / f"fresh{self.builds}", self.folder, None
        )
        fresh.refresh()
        assert state(self.index) == state(fresh)
        assert self.index.lag() == 0
        fresh.close()

    def teardown(self) -> None:
        self.index.close()
        self.temporary.cleanup()

    def _write(self, path: str, data: bytes) -> None:
        target = self.folder.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


TestIncremental = Incremental.TestCase
TestIncremental.settings = settings(
    max_examples=8, stateful_step_count=12, deadline=None
)
