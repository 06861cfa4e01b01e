"""``remember`` without a text: the last exchanges of a session become one permanent note."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from keeplore.capture.distill.distiller import distill
from keeplore.capture.titles.titles import title_of
from keeplore.errors import NotFound, StoreError
from keeplore.index import MemoryFilter, ScopeFilter, load_or_none
from keeplore.memory import Conversation, Exchange, Memory, new_id
from keeplore.memory.names import short_id
from keeplore.memory.note import NoteDraft
from keeplore.text.dates import day_of, now
from keeplore.workspace.note_writer import NoteOutcome
from keeplore.workspace.recording.recorded_workspace import RecordedWorkspace
from keeplore_hooks.events import Command
from keeplore_hooks.hosts import COMMANDS, PLUGIN
from keeplore_hooks.hosts.prompt_text import own_command
from keeplore_hooks.specs import hookimpl_last

LOG = logging.getLogger(__name__)
EXCHANGES = 3
# parts of a conversation that state what it came to
_CAME_OF_IT = ("decision", "also_decided", "reasoning", "outcome")
_KEPT = ("host", "session", "branch")  # of a conversation's source


def remember_recent(
    workspace: RecordedWorkspace, cwd: Path, session: str = "", *, before: str = ""
) -> NoteOutcome:
    """Write the last ``EXCHANGES`` exchanges of a session's present topic, or what there is of
    them, as a permanent note.

    ``session`` is the host's id; "" for the newest session of the directory's project, which must
    be open or of today: nobody means an older one without a word. ``before`` (RFC 3339, UTC) leaves
    out what was said later. The same exchanges are one note, however often this is asked. Raises
    NotFound where no exchange was recorded, StoreError, IndexUnavailable, or OSError.
    """
    workspace.index.refresh()
    for memory, talk in _session_conversations(workspace, cwd, session):
        whole = [
            e for e in talk.exchanges if _is_whole(e) and (not before or e.at < before)
        ]
        if whole:
            draft = _draft(memory, tuple(whole[-EXCHANGES:]))
            if not (session or memory.is_open):
                _refuse_old(memory, draft, whole[-1].at)
            return workspace.notes.write(draft)
    raise NotFound(
        "no exchange of this session has been written down yet",
        'Say it: `keeplore remember "…"`',
    )


class RecentOnCommand:
    """A plugin: a ``/keeplore:remember`` without a text that nobody answered is carried out once it
    is read.
    """

    def __init__(self) -> None:
        self._due: list[Command] = []

    @hookimpl_last
    def keeplore_command(self, command: Command) -> None:
        if command.name == f"{PLUGIN}:{COMMANDS[0]}" and not command.args.strip():
            self._due.append(command)

    def carry_out(self, workspace: RecordedWorkspace) -> None:
        """Write the notes that are due; the exchanges before them must be on disk. Raises OSError,
        IndexUnavailable.
        """
        while self._due:
            command = self._due[0]
            try:
                remember_recent(
                    workspace,
                    Path(command.origin.cwd),
                    command.origin.session,
                    before=command.at,
                )
            except StoreError as e:
                # nothing was said yet, or the note was forgotten since
                LOG.info("/%s at %s: %s", command.name, command.at, e)
            del self._due[0]


def _session_conversations(
    workspace: RecordedWorkspace, cwd: Path, session: str
) -> Iterator[tuple[Memory, Conversation]]:
    """The conversations of a session, the one that was changed last first."""
    place = (
        ScopeFilter()
        if session
        else ScopeFilter(workspace.identities.here(cwd).scopes[:1])
    )
    for row in workspace.index.listed(
        MemoryFilter(place, kind="conversation", session=session)
    ):
        session = session or row.session
        if row.session != session:
            return
        if memory := load_or_none(workspace.store, row.path):
            yield memory, Conversation.from_markdown(memory.body)


def _refuse_old(memory: Memory, draft: NoteDraft, at: str) -> None:
    """Raise NotFound where the last exchange is not of today."""
    day = day_of(at or memory.updated_at)
    if day != day_of(now()):
        raise NotFound(
            f"nothing was said here today; what was said last is of {day}: “{draft.title}”",
            f"`keeplore show {short_id(memory.id)}` shows it; say what is to be kept: `keeplore "
            f'remember "…"`',
        )


def _is_whole(exchange: Exchange) -> bool:
    """Whether both have spoken, and not just about Keeplore."""
    return bool(exchange.user and exchange.replies) and not own_command(exchange.user)


def _draft(memory: Memory, exchanges: tuple[Exchange, ...]) -> NoteDraft:
    # the model is not asked which quotations are central: a person waits, and the same conversation
    # must give the same note
    parts: dict[str, Any] = dict(distill(exchanges))
    title = title_of(exchanges, parts)
    turns = [exchange.id for exchange in exchanges]
    source = {key: memory.source[key] for key in _KEPT if key in memory.source}
    return NoteDraft(
        text=_short_text(exchanges, parts),
        title=title,
        category="architectural-decisions" if parts["decision"] else "",
        scope=memory.scope,
        project=memory.project,
        permanent=True,
        trust=memory.trust,  # what both said: the lower of the two
        source={**source, "turns": turns},
        related=({"id": memory.id, "relationship": "refines"},),
        id=_note_id(source, turns),
    )


def _short_text(exchanges: tuple[Exchange, ...], parts: Mapping[str, Any]) -> str:
    """What came of the exchanges, else what was answered last; and then who said what."""
    came_of_it = (quote.text for name in _CAME_OF_IT for quote in parts[name])
    statement = "\n".join(dict.fromkeys(came_of_it)) or _last_answer(exchanges[-1])
    said = "\n\n".join(_exchange_text(exchange) for exchange in exchanges)
    quoted = "\n".join(f"> {line}".rstrip() for line in said.splitlines())
    return f"{statement}\n\n{quoted}"


def _last_answer(exchange: Exchange) -> str:
    answer, _, _ = exchange.assistant.strip().partition("\n\n")
    return "\n".join(filter(None, (" ".join(exchange.user.split()), answer)))


def _exchange_text(exchange: Exchange) -> str:
    """The exchange as a note holds it, with both speakers' words."""
    at = f"{exchange.at[:16].replace('T', ' ')} UTC" if exchange.at else ""
    speaker = ", ".join(filter(None, ("User", at)))
    return f"**{speaker}:** {exchange.user}\n\n**Assistant:** {exchange.assistant}"


def _note_id(source: Mapping[str, Any], turns: Iterable[str]) -> str:
    session = (str(source.get("host", "")), str(source.get("session", "")))
    return new_id("note", *session, "recent", *turns)
