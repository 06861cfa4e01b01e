"""Recorded sessions through the product's own capture, for the benchmarks that judge what is
written.

The data is not part of the repository (KEEPLORE_DATA, or ../shared/data). Hosts with an adapter are
read by it; the others as ``talks`` reads them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import talks

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.memory import AgentQuestion, Conversation, Exchange, Memory
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import HOSTS

WITHOUT_ADAPTER = ("opencode", "specstory")


@dataclass(frozen=True, slots=True)
class Written:
    """One file that capture wrote, and the transcript that it came from."""

    transcript: str  # path below the data folder
    path: str
    memory: Memory
    conversation: Conversation


def written(transcripts: Sequence[Path], data: Path = talks.DATA) -> Iterator[Written]:
    """What a new workspace holds after these sessions, session by session, closed conversations
    alone.
    """
    for transcript, path, memory in memories(transcripts, data):
        if memory.kind != "note":
            name = str(transcript.relative_to(data))
            yield Written(name, path, memory, Conversation.from_markdown(memory.body))


def memories(
    transcripts: Sequence[Path], data: Path = talks.DATA
) -> Iterator[tuple[Path, str, Memory]]:
    """Conversations and notes that a new workspace holds after these sessions: the transcript, the
    path and the memory.
    """
    with tempfile.TemporaryDirectory(prefix="keeplore-captured-") as directory:
        places = Places(Path(directory) / "state", Path(directory) / "cache")
        made = initialise(places, Path(directory) / "memory")
        with Workspace(made.name, made.root, places, Machine.load(places)) as workspace:
            for transcript in transcripts:
                before = {file.path for file in workspace.store.scan()}
                take(workspace, [*events(transcript, data)])
                for path in sorted(
                    {file.path for file in workspace.store.scan()} - before
                ):
                    yield transcript, path, workspace.store.load(path)


def events(transcript: Path, data: Path = talks.DATA) -> Iterator[HostEvent]:
    host = transcript.relative_to(data).parts[0]
    if host not in WITHOUT_ADAPTER:
        yield from HOSTS[host].read_transcript(transcript, Cursor()).events
        return
    origin = Origin(host, transcript.stem)
    yield from (
        _turn(origin, exchange) for exchange in talks.exchanges(transcript, data)
    )


def take(workspace: Workspace, taken: Sequence[HostEvent]) -> None:
    """Let a workspace hear these events, and close the conversations of their sessions."""
    with workspace.recorder.capturing():
        for event in taken:
            workspace.plugins.emit(event)
    for origin in {
        (event.origin.host, event.origin.session): event.origin for event in taken
    }.values():
        with workspace.recorder.capturing():
            workspace.recorder.capture.close(workspace.sessions.get(origin))
    workspace.index.refresh()


def _turn(origin: Origin, exchange: Exchange) -> Turn:
    replies = tuple(
        Question(
            f"{exchange.id}-{n}",
            origin,
            exchange.at,
            reply.question,
            reply.answer,
            reply.options,
        )
        if isinstance(reply, AgentQuestion)
        else reply
        for n, reply in enumerate(exchange.replies)
    )
    # numbers of messages: the same in each session, and a turn is kept once in a workspace
    return Turn(
        f"{origin.session}-{exchange.id}",
        origin,
        exchange.at,
        exchange.user,
        replies,
        exchange.ended_at,
    )
