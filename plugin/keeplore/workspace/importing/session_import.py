"""Reading the sessions that a host has already recorded on this machine: resumable, and the same
when repeated.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore.index import MemoryFilter, ScopeFilter, load_or_none
from keeplore.memory import Conversation, Quote
from keeplore.text.agent_scope import short_place
from keeplore.text.counts import counted
from keeplore.text.dates import day_of
from keeplore.text.sentences import ARROW
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.importing.project_manifests import ProjectManifests
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Recorded, SessionSource

CLEAR_CHARS = 40  # of a decision that names what it is about
SHOWN = 3  # decisions
LOOKED_AT = 300  # newest conversations that are searched for something to show


@dataclass(frozen=True, slots=True)
class SessionImport:
    """``sessions`` are the host's ids of those that had something new."""

    sessions: tuple[str, ...]
    turns: int
    problems: tuple[tuple[Path, str], ...]


@dataclass(frozen=True, slots=True)
class KnownDecision:
    """A decision that memory now holds, to show to a person."""

    date: str
    place: str  # whose it is
    title: str
    quote: str
    path: str


def worth_reading(
    recorded: Iterable[Recorded], since: datetime | None
) -> list[Recorded]:
    """The sessions that were written to since then, oldest first, so that later ones build on
    earlier ones.
    """
    chosen = [
        session for session in recorded if since is None or written_at(session) >= since
    ]
    return sorted(chosen, key=lambda session: (session.started_at, str(session.path)))


def import_sessions(
    registry: Registry,
    host: SessionSource,
    recorded: Sequence[Recorded],
    progress: Callable[[int, int], None],
    scope: str = "",
) -> SessionImport:
    """Take every session beyond what was read of it before, then close those that have ended.

    One file that cannot be read costs that file. Raises NoWorkspace, or OSError where the disk
    refuses.
    """
    intake = Intake(registry)
    turns = 0
    sessions: list[str] = []
    problems: list[tuple[Path, str]] = []
    for number, session in enumerate(recorded, 1):
        origin = Origin(
            host.name,
            session.session,
            session.cwd,
            transcript=str(session.path),
            scope=scope,
        )
        written = registry.change_count()
        taken = intake.take_transcript(host, session.path, origin)
        # the last turn of a session is read again and may have nothing to add
        if registry.change_count() != written:
            sessions.append(session.session)
            turns += taken.turns
        problems += [(session.path, problem) for problem in taken.problems]
        progress(number, len(recorded))
    problems += intake.sweep()
    _take_manifests(
        registry, dict.fromkeys(session.cwd for session in recorded if session.cwd)
    )
    registry.commit_all(f"Import {counted(len(sessions), 'session')} of {host.name}")
    return SessionImport(tuple(sessions), turns, tuple(problems))


def _take_manifests(registry: Registry, directories: Iterable[str]) -> None:
    """Write down what the projects are made of in which people worked; a directory may be gone long
    since.
    """
    manifests = ProjectManifests()
    for directory in directories:
        # the next session there looks again
        with contextlib.suppress(KeeploreError, OSError):
            manifests.take(registry.for_directory(Path(directory)), Path(directory))


def known_decisions(
    workspace: Workspace, sessions: Collection[str]
) -> list[KnownDecision]:
    """Decisions of different ones of these sessions, the best argued first; fewer where they hold
    fewer.
    """
    found: list[tuple[int, str, KnownDecision]] = []
    every = workspace.index.listed(MemoryFilter(ScopeFilter(()), kind="conversation"))
    chosen = [row for row in every if row.session in sessions]
    for row in chosen[:LOOKED_AT]:
        memory = load_or_none(workspace.store, row.path)
        if memory is None:
            continue
        conversation = Conversation.from_markdown(memory.body)
        if quotes := conversation.decided:
            known = KnownDecision(
                day_of(row.created_at),
                short_place(row.scope, row.project),
                row.title,
                quotes[0].text,
                row.path,
            )
            found.append((_usefulness(conversation, quotes[0]), row.session, known))
    return _best_of_each_session(found)[:SHOWN]


def _best_of_each_session(
    ranked: list[tuple[int, str, KnownDecision]],
) -> list[KnownDecision]:
    """The worthiest decision of each session, the worthiest first; ``ranked`` holds worth, session
    and decision.
    """
    ranked.sort(key=lambda item: -item[0])  # stable: newer ones first among equals
    best = {session: known for _, session, known in reversed(ranked)}
    return [known for _, session, known in ranked if best[session] is known]


def _usefulness(conversation: Conversation, decision: Quote) -> int:
    """How much a decision tells somebody who was not there."""
    is_own_words = decision.speaker == "user" and ARROW not in decision.text
    is_clear = len(decision.text) > CLEAR_CHARS and not re.search(
        r"\b(?:this|that|it)\b", decision.text
    )
    return (
        2 * is_clear
        + is_own_words
        + bool(conversation.reasoning)
        + (len(conversation.options) > 1)
    )


def written_at(session: Recorded) -> datetime:
    """When a session was last written to, as far as anybody can tell."""
    try:
        if session.written_at:
            return datetime.fromisoformat(session.written_at)
        return datetime.fromtimestamp(session.path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)
