"""The built-in capture: turns become conversation files, saved while they are open, immutable once
closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keeplore.capture.distill.distiller import distill
from keeplore.capture.distill.titles import title_of
from keeplore.capture.hand_edits import PROVISIONAL, is_edited, joined, with_missing
from keeplore.capture.message_filter import clean
from keeplore.capture.noise import is_hollow, is_own_command, says_little
from keeplore.capture.open_sessions import MAX_SEEN, Sessions, SessionState
from keeplore.capture.related_topics import RELATES, taken_up
from keeplore.capture.turn_content import merged, observed, observed_work
from keeplore.errors import Forgotten, NotFound, StoreError
from keeplore.memory import (
    Conversation,
    Exchange,
    Memory,
    RelatedMemory,
    new_id,
    new_meta,
    serialise,
)
from keeplore.memory.conversation_body import short_turn
from keeplore.store import Store
from keeplore_hooks.events import Command, Compaction, Origin, Question, Session, Turn, Work
from keeplore_hooks.hosts import COMMANDS, PLUGIN, prompt_key
from keeplore_hooks.specs import hookimpl_last

# commands about the host itself or about memory: the talk goes on as if nothing had been typed
OWN = frozenset((*COMMANDS, *(f"{PLUGIN}:{name}" for name in COMMANDS)))
HOUSEKEEPING = OWN.union(
    """agents config context cost doctor export fast help hooks ide keybindings login logout mcp memory model
    output-style permissions plugin plugins privacy-settings reload-plugins release-notes status statusline tasks
    terminal-setup theme upgrade usage vim""".split()  # noqa: SIM905  # a list of forty names reads worse
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory made at an origin belongs."""

    scope: str  # project | workspace
    project: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """What capture needs of its surroundings, each a plain function."""

    place: Callable[[Origin], Place]
    redact: Callable[[str, str], str]  # of a text and the directory in which it was said
    segment: Callable[[Sequence[Mapping[str, Any]], Turn], str]
    known_turns: Callable[[Iterable[str]], Mapping[str, str]]
    written: Callable[[str, str], None]
    closing: Callable[[Mapping[str, Any], str], None]
    earlier: Callable[
        [Place, str], Iterable[Memory]
    ]  # recent conversations of a place, closed before a time
    embed: Callable[[Sequence[str]], Any] | None
    head: Callable[
        [Origin, Place, str], str
    ]  # the commit checked out there, if that time is not long ago
    machine: str


@dataclass(slots=True)
class _Open:
    """A conversation in the making."""

    id: str
    place: Place
    conversation: Conversation
    created_at: str
    commit: str = ""  # what was checked out when it was last spoken
    is_dirty: bool = False
    path: str = ""  # where its file is, "" before the first


class Capture:
    """A plugin that implements the event extension points over one workspace's store.

    Events of one session must come in order; ``flush`` makes all that was taken durable.
    """

    def __init__(self, store: Store, sessions: Sessions, steps: Steps) -> None:
        self._store = store
        self._sessions = sessions
        self._steps = steps
        self._open: dict[tuple[str, str], _Open] = {}
        # turn → the conversation that was closed with it, in this process; the index knows of it a
        # moment later
        self._closed: dict[str, str] = {}

    @hookimpl_last
    def keeplore_turn(self, turn: Turn) -> None:
        state = self._sessions.get(turn.origin)
        if is_own_command(turn, state.own):
            return
        exchange = observed(turn, self._steps.redact)
        if exchange is None:
            return
        work = observed_work(turn, self._steps.redact)
        current = self._current(state)
        at = _position(current, exchange, turn)
        if current is not None and at is not None:
            if not self._is_retaken(current, at, exchange):
                self._replace(current, at, exchange, work)
                return
            # only now is it known what was said and when: it is looked at as if it were new
            current.conversation = replace(
                current.conversation, exchanges=current.conversation.exchanges[:at]
            )
        else:
            rest = self._unknown(current, exchange, turn)
            if rest is None:
                return
            exchange, at = rest, _position(current, rest, turn)
            if current is not None and at is not None:
                self._replace(current, at, exchange, work)
                return
        place = self._steps.place(turn.origin)
        if current is not None and self._is_boundary(current, place, turn, exchange):
            self._close(state, current)
            current = None
        if current is None:
            current = self._begin(state, exchange, place)
        self._replace(current, len(current.conversation.exchanges), exchange, work)

    @hookimpl_last
    def keeplore_command(self, command: Command) -> None:
        state = self._sessions.get(command.origin)
        if not state.is_new(command.id):
            return
        if command.name in OWN:
            state.own = [*state.own, command.id][-MAX_SEEN:]
        if command.name in HOUSEKEEPING:
            return
        if current := self._current(state):
            self._close(state, current)
        arguments = self._steps.redact(clean(command.args), command.origin.cwd)
        state.opened_by = f"/{command.name} {arguments}".strip()[:200]

    @hookimpl_last
    def keeplore_question(self, question: Question) -> None:
        """The question and its answer come again within their turn; here it counts that the person
        decided.
        """
        state = self._sessions.get(question.origin)
        if question.answer and state.is_new(question.id) and (current := self._current(state)):
            state.trigger = "question"
            current.is_dirty = True

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        state = self._sessions.get(compaction.origin)
        if state.is_new(compaction.id) and (current := self._current(state)):
            state.trigger = "compaction"
            self._save(
                state, current
            )  # at once: an import brings all else of a session to disk at its end

    @hookimpl_last
    def keeplore_session(self, session: Session) -> None:
        # a host's record may still be growing when it reports the end; the sweep reads the rest and
        # closes
        if session.phase == "ended" and not session.origin.transcript:
            self.close(self._sessions.get(session.origin))

    def flush(self) -> None:
        """Write every conversation that changed. Raises OSError where the disk refuses; nothing is
        forgotten then.
        """
        for key, current in [*self._open.items()]:
            if current.is_dirty:
                self._save(self._sessions.get(Origin(*key)), current)
        self._sessions.save_all()

    def close(self, state: SessionState) -> None:
        """Close the session's open conversation, if there is one."""
        if current := self._current(state):
            self._close(state, current)

    def forget_open(self) -> None:
        """Drop what is in memory: the files are read again at the next event."""
        self._open.clear()

    def _is_retaken(self, current: _Open, at: int, exchange: Exchange) -> bool:
        """True for the last exchange when it was a mere prompt that waited, behind others, for the
        turn itself.
        """
        known = current.conversation.exchanges[at:]
        return (
            at > 0 and len(known) == 1 and _is_tentative(known[0]) and not _is_tentative(exchange)
        )

    def _unknown(self, current: _Open | None, exchange: Exchange, turn: Turn) -> Exchange | None:
        """The exchange without what closed and forgotten conversations have of it; None where
        nothing is left.
        """
        while _position(current, exchange, turn) is None:
            known = self._closed.get(exchange.id) or self._steps.known_turns([exchange.id]).get(
                exchange.id
            )
            if not known:
                return exchange
            rest = self._said_since(known, exchange)
            if rest is None:
                return None
            exchange = rest
        return exchange

    def _said_since(self, memory_id: str, exchange: Exchange) -> Exchange | None:
        """What was said in a turn after its conversation was closed, as an exchange of its own;
        None where nothing.
        """
        path = self._store.find(memory_id)
        memory = self._store.load(path) if path else None
        known = Conversation.from_markdown(memory.body).exchanges if memory else ()
        said = next((earlier.replies for earlier in known if earlier.id == exchange.id), None)
        if (
            said is None
            or len(said) >= len(exchange.replies)
            or exchange.replies[: len(said)] != said
        ):
            return None
        return replace(
            exchange,
            id=f"{exchange.id}~{len(said)}",
            user="",
            replies=exchange.replies[len(said) :],
        )

    def _current(self, state: SessionState) -> _Open | None:
        key = (state.origin.host, state.origin.session)
        if not state.open_id:
            return None
        if key not in self._open:
            # after a restart the file itself says how far it got
            loaded = self._load(state)
            if loaded is None:
                return None
            self._open[key] = loaded
        return self._open[key]

    def _load(self, state: SessionState) -> _Open | None:
        path = self._store.find(state.open_id)
        if path is None or self._store.is_forgotten(state.open_id):
            return None
        try:
            memory = self._store.load(path)
        except StoreError:
            return None
        if not memory.is_open:  # a person closed it, or another process did
            return None
        place = Place(memory.scope, memory.project, str(memory.source.get("branch", "")))
        conversation = with_missing(Conversation.from_markdown(memory.body), memory, state.made)
        commit = str(memory.source.get("commit", ""))
        return _Open(memory.id, place, conversation, memory.created_at, commit, path=path)

    def _begin(self, state: SessionState, exchange: Exchange, place: Place) -> _Open:
        conversation_id = new_id(state.origin.host, state.origin.session, exchange.id)
        context = f"{state.origin.host} session {short_turn(state.origin.session)}"
        if place.branch:
            context += f" on branch {place.branch}"
        if state.opened_by:
            context += f", began with {state.opened_by}"
        projects = (place.project,) if place.project else ()
        empty = Conversation("", (), session_context=context, projects=projects)
        current = _Open(conversation_id, place, empty, exchange.at)
        state.open_id, state.trigger = conversation_id, "command" if state.opened_by else "turn"
        state.opened_by, state.made = "", []
        # before the file: after a crash between the two the same file is written again, under the
        # same id
        self._sessions.save(state)
        self._open[(state.origin.host, state.origin.session)] = current
        return current

    def _replace(self, current: _Open, at: int, exchange: Exchange, work: Work) -> None:
        exchanges = current.conversation.exchanges
        if at < len(exchanges) and _is_provisional(exchange) and not _is_provisional(exchanges[at]):
            # the transcript was faster than the payload that announces the prompt: it knows more
            return
        everything = merged(current.conversation.work, work)
        if (
            at < len(exchanges)
            and exchanges[at] == exchange
            and everything == current.conversation.work
        ):
            return
        changed = (*exchanges[:at], exchange, *exchanges[at + 1 :])
        current.conversation = replace(current.conversation, exchanges=changed, work=everything)
        current.is_dirty = True

    def _is_boundary(self, current: _Open, place: Place, turn: Turn, exchange: Exchange) -> bool:
        if (current.place.scope, current.place.project) != (place.scope, place.project):
            return True
        if _is_tentative(exchange) or says_little(exchange, turn.work):
            return False
        earlier = [
            {
                "id": e.id,
                "at": e.at,
                "ended_at": e.ended_at,
                "user": e.user,
                "assistant": e.assistant,
            }
            for e in current.conversation.exchanges
        ]
        cleaned = replace(
            turn,
            user=exchange.user,
            replies=tuple(r for r in exchange.replies if isinstance(r, str)),
        )
        return bool(self._steps.segment(earlier, cleaned))

    def _close(self, state: SessionState, current: _Open) -> None:
        if is_hollow(current.conversation) and not self._is_edited(state, current):
            self._discard(current)
        else:
            self._save(state, current, is_open=False)
        self._closed |= {exchange.id: current.id for exchange in current.conversation.exchanges}
        self._open.pop((state.origin.host, state.origin.session), None)
        state.open_id, state.made = "", []

    def _save(self, state: SessionState, current: _Open, *, is_open: bool = True) -> None:
        made, conversation = self._made(state, current, is_open=is_open)
        on_disk = self._on_disk(current)
        memory, beside = joined(state.made, made, on_disk) if on_disk else (made, None)
        try:
            if not is_open and not self._store.is_forgotten(current.id):
                # what is made of a conversation is on disk before it is closed: a crash in between
                # closes it again
                self._steps.closing(memory.meta, memory.body)
            if is_open:  # before the file, so that what is in it is never taken for a person's
                state.made = [serialise(made), *state.made[:1]]
                self._sessions.save(state)
            if beside:
                self._steps.written(beside.id, self._store.save(beside))
            current.path = self._store.save(memory, current.path)
        except Forgotten:  # while this process had it in memory
            self._drop(state, current)
            return
        current.conversation, current.is_dirty = conversation, False
        self._steps.written(current.id, current.path)

    def _on_disk(self, current: _Open) -> Memory | None:
        """The conversation's file as it is now, wherever a person may have moved it."""
        try:
            return self._store.load(current.path) if current.path else None
        except NotFound:
            current.path = self._store.find(current.id) or ""
            return self._store.load(current.path) if current.path else None

    def _is_edited(self, state: SessionState, current: _Open) -> bool:
        on_disk = self._on_disk(current)
        return on_disk is not None and is_edited(state.made, on_disk)

    def _made(
        self, state: SessionState, current: _Open, *, is_open: bool
    ) -> tuple[Memory, Conversation]:
        exchanges = current.conversation.exchanges
        ended_at = exchanges[-1].ended_at or exchanges[-1].at
        current.commit = self._steps.head(state.origin, current.place, ended_at) or current.commit
        # the model's say in which quotations are central is worth its time once, not at every turn
        parts: dict[str, Any] = dict(distill(exchanges, None if is_open else self._steps.embed))
        title = title_of(exchanges, parts, current.conversation.work)
        related = current.conversation.related if is_open else self._related(current)
        conversation = replace(current.conversation, title=title, related=related, **parts)
        meta = new_meta(
            id=current.id,
            kind="conversation",
            status="open" if is_open else None,
            title=title,
            created_at=_created_at(current),
            updated_at=ended_at,
            version=1,
            scope=current.place.scope,
            project=current.place.project,
            trust="assistant",  # the lower of the two who speak
            trigger=state.trigger,
            source=self._source(state, current),
            related=[{"id": link.id, "relationship": link.relationship} for link in related],
        )
        return Memory(meta, conversation.to_markdown()), conversation

    def _related(self, current: _Open) -> tuple[RelatedMemory, ...]:
        """The conversation whose subject this one takes up again."""
        earlier = [
            (
                RelatedMemory(memory.title, memory.id, RELATES),
                Conversation.from_markdown(memory.body).exchanges,
            )
            for memory in self._steps.earlier(current.place, current.conversation.exchanges[0].at)
            if memory.id != current.id
        ]
        found = taken_up(current.conversation.exchanges, earlier)
        return (found,) if found else ()

    def _discard(self, current: _Open) -> None:
        if path := self._store.find(current.id):
            self._store.remove(path)
            self._steps.written(current.id, path)

    def _drop(self, state: SessionState, current: _Open) -> None:
        """What was forgotten is not written again; what is said from now on is another
        conversation.
        """
        current.is_dirty = False
        self._open.pop((state.origin.host, state.origin.session), None)
        state.open_id, state.made = "", []

    def _source(self, state: SessionState, current: _Open) -> dict[str, Any]:
        source = {
            "host": state.origin.host,
            "session": state.origin.session,
            "turns": [exchange.id for exchange in current.conversation.exchanges],
            "machine": self._steps.machine,
            "branch": current.place.branch,
            "commit": current.commit,
        }
        return {key: value for key, value in source.items() if value}


def _position(current: _Open | None, exchange: Exchange, turn: Turn) -> int | None:
    """Where the open conversation already has this turn: by its id, or as the same prompt under its
    other id.
    """
    exchanges = current.conversation.exchanges if current else ()
    for at, known in enumerate(exchanges):
        if known.id == exchange.id:
            return at
    key = prompt_key(exchange.user)
    if turn.is_provisional:  # two of these are two prompts, even in the same words
        is_last = (
            exchanges
            and not _is_provisional(exchanges[-1])
            and prompt_key(exchanges[-1].user) == key
        )
        return len(exchanges) - 1 if is_last else None
    # several may wait for their turns: prompts that were typed ahead, or in two terminals
    waiting = (
        at
        for at, known in enumerate(exchanges)
        if _is_provisional(known) and prompt_key(known.user) == key
    )
    return next(waiting, None)


def _created_at(current: _Open) -> str:
    """When the first exchange began; kept to the month in which the file was first written, whose
    folder it is in.
    """
    first = current.conversation.exchanges[0].at
    return first if first[:7] == current.created_at[:7] else current.created_at


def _is_provisional(exchange: Exchange) -> bool:
    return exchange.id.startswith(PROVISIONAL)


def _is_tentative(exchange: Exchange) -> bool:
    return _is_provisional(exchange) and not exchange.replies
