"""Recorded sessions as exchanges, for the benchmarks that read what people said.

The data is not part of the repository (KEEPLORE_DATA, or ../shared/data). Hosts with an adapter are
read by it; the markdown of SpecStory and the exports of OpenCode by the few lines here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from keeplore.capture.message_filter import clean
from keeplore.memory import AgentQuestion, Exchange
from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import HOSTS

DATA = (
    Path(
        os.environ.get("KEEPLORE_DATA")
        or Path(__file__).resolve().parents[2] / "shared" / "data"
    )
    / "transcripts"
)
_SPOKEN = re.compile(r"^_\*\*(User|Agent) \(.*\)\*\*_$", re.MULTILINE)
_TOOLS = re.compile(r"<(tool-use|think|details)\b.*?</\1>", re.DOTALL)


def text_hash(text: str) -> str:
    """What the files of labels have in the place of a text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]


def sessions(data: Path = DATA) -> list[Path]:
    """The transcripts of people's sessions, subagents left out."""
    found = (
        path
        for path in data.rglob("*")
        if path.suffix in (".jsonl", ".json", ".md") and path.parent != data
    )
    return sorted(path for path in found if not path.name.startswith("agent-"))


def exchanges(path: Path, data: Path = DATA) -> tuple[Exchange, ...]:
    """What was said in a session, without tool content and the host's own words."""
    host = path.relative_to(data).parts[0]
    if host == "specstory":
        return tuple(_of_specstory(path.read_text(encoding="utf-8")))
    if host == "opencode":
        return tuple(_of_opencode(json.loads(path.read_text(encoding="utf-8"))))
    events = HOSTS[host].read_transcript(path, Cursor()).events
    turns = {event.id: event for event in events if isinstance(event, Turn)}
    return tuple(_of_turn(turn) for turn in turns.values())


def _of_turn(turn: Turn) -> Exchange:
    replies = [
        clean(reply)
        if isinstance(reply, str)
        else AgentQuestion(
            clean(reply.question), clean(reply.answer), tuple(map(clean, reply.options))
        )
        for reply in turn.replies
    ]
    return Exchange(
        turn.id, turn.at, clean(turn.user), tuple(filter(None, replies)), turn.ended_at
    )


def _of_specstory(text: str) -> Iterator[Exchange]:
    marks = [*_SPOKEN.finditer(text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    said = [
        (mark[1], text[mark.end() : end].rstrip().removesuffix("---"))
        for mark, end in zip(marks, ends, strict=True)
    ]
    yield from _paired(
        (speaker == "User", _TOOLS.sub("", words)) for speaker, words in said
    )


def _of_opencode(session: dict) -> Iterator[Exchange]:
    def said() -> Iterator[tuple[bool, str]]:
        for message in session["messages"]:
            texts = [
                p["text"]
                for p in message["parts"]
                if p.get("type") == "text" and not p.get("synthetic")
            ]
            yield message["info"]["role"] == "user", "\n\n".join(texts)

    yield from _paired(said())


def _paired(said: Iterator[tuple[bool, str]]) -> Iterator[Exchange]:
    spoken = [(is_user, clean(text)) for is_user, text in said]
    starts = [n for n, (is_user, _) in enumerate(spoken) if is_user]
    for start, end in pairwise([*starts, len(spoken)]):
        replies = tuple(text for _, text in spoken[start + 1 : end] if text)
        if spoken[start][1] or replies:
            yield Exchange(
                f"message-{start}", "2026-01-01T00:00:00Z", spoken[start][1], replies
            )
