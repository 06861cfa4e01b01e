"""The built-in note taker: what a person orders or states for good becomes a note, without a model.

Orders to remember are written at once; everything else when its conversation closes, because until
then it may be taken back. A statement has one id for its session, so that each way that leads to it
writes the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.capture.capture_deps import MemoryPlace
from keeplore.capture.message_filter import argument, clean
from keeplore.capture.notes.note_candidates import (
    AUTOMATIC,
    NoteCandidate,
    candidates,
    category_in,
    orders,
)
from keeplore.errors import AlreadyExists, Forgotten
from keeplore.memory import Conversation, Exchange, Memory
from keeplore.memory.note import NoteDraft, session_note_id
from keeplore.redact.home_paths import home_path_shortener
from keeplore_hooks.events import Command, Origin, Turn
from keeplore_hooks.hosts import COMMANDS, PLUGIN
from keeplore_hooks.hosts.prompt_text import own_command
from keeplore_hooks.specs import hookimpl_last

REMEMBER = frozenset((COMMANDS[0], f"{PLUGIN}:{COMMANDS[0]}"))


@dataclass(frozen=True, slots=True)
class NoteDeps:
    """What taking notes needs of its surroundings, each a plain function."""

    place: Callable[[Origin], MemoryPlace]
    redact: Callable[
        [str, str], str
    ]  # of a text and the directory in which it was said
    forgotten: Callable[
        [], Mapping[str, str]
    ]  # turn → the conversation that was forgotten with it
    write: Callable[
        [NoteDraft], object
    ]  # may raise AlreadyExists, Forgotten; the same statement twice is one note


class NoteTaker:
    """A plugin. ``is_automatic`` False writes only what the person orders to be remembered."""

    def __init__(self, deps: NoteDeps, *, is_automatic: bool) -> None:
        self._deps = deps
        self._is_automatic = is_automatic

    @hookimpl_last
    def keeplore_turn(self, turn: Turn) -> None:
        """Write what the person orders to be kept, as soon as the turn is known as a whole."""
        if turn.is_provisional or not turn.is_complete or own_command(turn.user):
            return  # the words behind a command are taken as the command's
        if turn.id in self._deps.forgotten():  # an import reads it again
            return
        user = home_path_shortener(self._deps.redact, turn.origin.cwd)(clean(turn.user))
        found = orders(Exchange(turn.id, turn.at, user))
        if not found:
            return
        place = self._deps.place(turn.origin)
        source = {
            "host": turn.origin.host,
            "session": turn.origin.session,
            "branch": place.branch,
        }
        for candidate in found:
            self._write(
                draft_of(candidate, place.scope, place.project, source, turn.at)
            )

    @hookimpl_last
    def keeplore_command(self, command: Command) -> None:
        """Write what was typed behind ``/remember``; where the worker answered it, the id is the
        same.
        """
        said = self._deps.redact(argument(command.args), command.origin.cwd)
        if command.name not in REMEMBER or not said:
            return
        place, origin = self._deps.place(command.origin), command.origin
        self._write(
            NoteDraft(
                said,
                category=category_in(place.scope, said),
                scope=place.scope,
                project=place.project,
                permanent=True,
                source={
                    "host": origin.host,
                    "session": origin.session,
                    "branch": place.branch,
                },
                id=session_note_id(origin.host, origin.session, said),
                created_at=command.at,
            )
        )

    @hookimpl_last
    def keeplore_conversation_closing(self, meta: Mapping[str, Any], body: str) -> None:
        """Write what a conversation holds of notes, before it is closed; after a crash again, to
        the same files.
        """
        exchanges = Conversation.from_markdown(body).exchanges
        said_at = {exchange.id: exchange.at for exchange in exchanges}
        scope, project = Memory(meta, "").place
        known = meta.get("source") or {}
        source = {
            key: known[key]
            for key in ("host", "session", "machine", "branch")
            if key in known
        }
        for candidate in self._sure_enough(candidates(exchanges)):
            origin = source if candidate.is_explicit else {**source, "from": meta["id"]}
            self._write(
                draft_of(
                    candidate, scope, project, origin, said_at.get(candidate.turn, "")
                )
            )

    def _sure_enough(
        self, candidates: Iterable[NoteCandidate]
    ) -> Iterable[NoteCandidate]:
        return (
            c
            for c in candidates
            if c.is_explicit or (self._is_automatic and c.confidence >= AUTOMATIC)
        )

    def _write(self, draft: NoteDraft) -> None:
        try:
            self._deps.write(draft)
        except (AlreadyExists, Forgotten):  # done before, or not wanted any more
            return


def draft_of(
    candidate: NoteCandidate,
    scope: str,
    project: str,
    source: Mapping[str, Any],
    at: str,
) -> NoteDraft:
    """The note that a candidate becomes; ``at`` is when it was said, ``source`` has at least host
    and session.
    """
    return NoteDraft(
        candidate.text,
        title=candidate.title,
        category=candidate.category,
        scope=scope,
        project=project,
        permanent=candidate.order == "remember",
        trust=candidate.speaker,
        trigger="remember"
        if candidate.is_explicit
        else "question"
        if candidate.title
        else "turn",
        confidence=candidate.confidence,
        quotes=(candidate.quote,),
        source={**source, "turns": [candidate.turn]},
        id=session_note_id(
            str(source.get("host", "")), str(source.get("session", "")), candidate.text
        ),
        created_at=at,
    )
