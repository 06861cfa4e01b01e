"""The retrieval corpora as workspaces: each case one person's memory, each session of it one
conversation file.

A message of a person and the assistant's reply to it are one exchange, as capture writes them;
where two persons talk, each line is an exchange. The corpora are not part of the repository
(KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pygit2

from keeplore.index import Embedder, Index
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta
from keeplore.store import Store

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = (
    Path(os.environ.get("KEEPLORE_DATA") or REPOSITORY.parent / "shared" / "data")
    / "retrieval"
)
FIRST = datetime(2024, 1, 1, 9, tzinfo=UTC)  # of corpora that do not say when
SPEAKS_FROM = 100  # lines
_SPEAKER = re.compile(r"\b([A-Z][a-z]{2,20}): ")
Item = Mapping[str, Any]


@dataclass(frozen=True)
class Query:
    text: str
    category: str
    gold: frozenset[str]  # turns
    gold_sessions: frozenset[str]  # ids of memories
    stale: frozenset[str]  # turns or ids of memories that must not come first
    at: datetime | None


@dataclass(frozen=True)
class Case:
    name: str
    memories: tuple[Memory, ...]
    queries: tuple[Query, ...]
    turns: Mapping[str, str]  # item → turn

    @property
    def persons(self) -> set[str]:
        """Who speaks by name in more than a few lines: whom a person would have entered as
        entities.
        """
        lines = Counter(
            name for memory in self.memories for name in _SPEAKER.findall(memory.body)
        )
        return {name for name, count in lines.items() if count > SPEAKS_FROM}

    @property
    def last(self) -> datetime:
        return max(
            datetime.fromisoformat(str(memory.meta["updated_at"]))
            for memory in self.memories
        )


def cases(corpus: str, limit: int | None = None) -> list[Case]:
    """Raises FileNotFoundError."""
    lines = (DATA / f"{corpus}.jsonl").read_text(encoding="utf-8").splitlines()[:limit]
    return [_case(json.loads(line)) for line in lines]


def opened(case: Case, work: Path, embedder: Embedder | None) -> tuple[Index, Store]:
    """The case as a workspace with its index; what is there from an earlier run is used again."""
    root = work / "workspace"
    root.mkdir(parents=True, exist_ok=True)
    # the command would take GIT_DIR, which `git bisect run` sets, for the place
    pygit2.init_repository(str(root))
    store = Store(root)
    if not (root / "memory").exists():
        for memory in case.memories:
            store.save(memory)
        for name in case.persons:
            path = root / "entities" / f"{name.casefold()}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"name: {name}\ntype: person\n", encoding="utf-8")
    index = Index(work / "index", store, embedder)
    index.refresh()
    index.graph.link()
    if embedder:
        index.embed_pending()
    return index, store


def _case(raw: Item) -> Case:
    sessions: dict[str, list[Item]] = {}
    for item in raw["items"]:
        sessions.setdefault(item["session"], []).append(item)
    moments = _moments(sessions)
    ids = {session: new_id("benchmark", raw["case"], session) for session in sessions}
    turns: dict[str, str] = {}
    memories = tuple(
        _memory(
            session, ids[session], tuple(_exchanges(items, moments[session], turns))
        )
        for session, items in sessions.items()
    )
    queries = tuple(
        Query(
            query["text"],
            query["category"],
            frozenset(turns[item] for item in query["gold"]),
            frozenset(ids[session] for session in query["gold_sessions"]),
            frozenset(turns.get(name) or ids[name] for name in query["stale"]),
            _moment(query["ts"]),
        )
        for query in raw["queries"]
    )
    return Case(raw["case"].replace("/", "-"), memories, queries, turns)


def _moments(sessions: Mapping[str, Sequence[Item]]) -> dict[str, datetime]:
    """When each session began: as it says, and in order where it does not."""
    found = {}
    for number, (session, items) in enumerate(sessions.items()):
        said = (moment for item in items if (moment := _moment(item["ts"])))
        found[session] = next(said, FIRST + timedelta(days=7 * number))
    return found


def _moment(said: str) -> datetime | None:
    for form in ("%Y-%m-%dT%H:%M:%S", "%B-%d-%Y"):
        try:
            return datetime.strptime(said[:19], form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _exchanges(
    items: Sequence[Item], began: datetime, turns: dict[str, str]
) -> Iterator[Exchange]:
    number = 0
    while number < len(items):
        item = items[number]
        turn = item["id"].replace(" ", "_")
        turns[item["id"]] = turn
        replies: tuple[str, ...] = ()
        if (
            item["role"] == "user"
            and number + 1 < len(items)
            and items[number + 1]["role"] == "assistant"
        ):
            replies = (items[number + 1]["text"],)
            turns[items[number + 1]["id"]] = turn
        at = (_moment(item["ts"]) or began + timedelta(minutes=number)).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
        yield Exchange(turn, at, item["text"], replies)
        number += 1 + len(replies)


def _memory(session: str, memory_id: str, exchanges: tuple[Exchange, ...]) -> Memory:
    title = f"Session {session}"
    meta = new_meta(
        id=memory_id,
        kind="conversation",
        title=title,
        created_at=exchanges[0].at,
        updated_at=exchanges[-1].at,
        scope="workspace",
        trust="user",
    )
    return Memory(meta, Conversation(title, exchanges).to_markdown())
