"""The built-in capture: turns become conversation files, saved while they are open, immutable once
closed.
"""

from __future__ import annotations

from dataclasses import replace

from keeplore.capture.capture_deps import CaptureDeps, MemoryPlace
from keeplore.capture.conversation_file import (
    is_edited,
    load,
    load_file,
    made_of,
    merge_into_file,
)
from keeplore.capture.message_filter import clean, filtered_exchange, observed_work
from keeplore.capture.open_conversation import (
    EARLIER,
    LATER,
    NewConversation,
    OpenConversation,
    is_tentative,
    says_little,
)
from keeplore.capture.open_sessions import MAX_SEEN, Sessions, SessionState
from keeplore.errors import Forgotten
from keeplore.memory import Conversation, Exchange, new_id, serialise
from keeplore.store import Store
from keeplore.text.turn_ids import short_turn
from keeplore_hooks.events import Command, Compaction, Origin, Question, Session, Turn
from keeplore_hooks.hosts import COMMANDS, PLUGIN
from keeplore_hooks.hosts.prompt_text import own_command
from keeplore_hooks.specs import hookimpl_last

# commands about the host itself or about memory: the conversation goes on as if nothing had been
# typed
OWN = frozenset((*COMMANDS, *(f"{PLUGIN}:{name}" for name in COMMANDS)))
_HOUSEKEEPING = """
agents config context cost doctor export fast help hooks ide keybindings login logout mcp memory
model output-style permissions plugin plugins privacy-settings reload-plugins release-notes status
statusline tasks terminal-setup theme upgrade usage vim
"""
HOUSEKEEPING = OWN.union(_HOUSEKEEPING.split())
# commands that look at the work in hand, or interrupt it
_AT_WORK = """
compact diff exit pr-comments quit review rewind security-review simplify
"""
AT_WORK = frozenset(_AT_WORK.split())
# with these words begin the names of commands that carry it on ("superpowers:execute-plan")
_CARRYING_ON = "commit continue execute executing finish push resume ship"
CARRYING_ON = frozenset(_CARRYING_ON.split())
# characters of a command that a conversation is said to have begun with
MAX_COMMAND = 200


class Capture:
    """A plugin that implements the event extension points over one workspace's store.

    Events of one session must come in order; ``flush`` makes all that was taken durable.
    """

    def __init__(self, store: Store, sessions: Sessions, deps: CaptureDeps) -> None:
        self._store = store
        self._sessions = sessions
        self._deps = deps
        self._open: dict[tuple[str, str], OpenConversation] = {}
        # turn → the conversation that was closed with it, in this process; the index knows of it a
        # moment later
        self._closed: dict[str, str] = {}

    @hookimpl_last
    def keeplore_turn(self, turn: Turn) -> None:
        state = self._sessions.get(turn.origin)
        if _is_own_command(turn, state):
            if not (turn.work.files or turn.work.commits):
                return
            # what came of it is work; the order itself was one to Keeplore
            turn = replace(turn, user="")
        exchange = filtered_exchange(turn, self._deps.redact)
        if exchange is None:
            return
        turn = replace(turn, work=observed_work(turn, self._deps.redact))
        current = self._open_conversation(state)
        new: Exchange | None = exchange
        if current is None or not current.drop_placeholder(exchange, turn):
            new = self._unrecorded_part(current, exchange, turn)
        if new is None:
            return
        at = current.position(new, turn) if current else None
        if current is None or at is None:
            current = self._conversation_for(state, current, turn, new)
            at = len(current.exchanges)
        current.put(at, new, turn.work)

    @hookimpl_last
    def keeplore_command(self, command: Command) -> None:
        state = self._sessions.get(command.origin)
        if not state.add_seen(command.id):
            return
        if command.name in OWN:
            state.own = [*state.own, command.id][-MAX_SEEN:]
        if command.name in HOUSEKEEPING or _goes_on(command.name):
            return
        arguments = self._deps.redact(clean(command.args), command.origin.cwd)
        state.opened_by = f"/{command.name} {arguments}".strip()[:MAX_COMMAND]

    @hookimpl_last
    def keeplore_question(self, question: Question) -> None:
        """Count that the person decided something. The question and its answer come again within
        their turn.
        """
        state = self._sessions.get(question.origin)
        if (
            question.answer
            and state.add_seen(question.id)
            and (current := self._open_conversation(state))
        ):
            state.trigger = "question"
            current.is_dirty = True

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        state = self._sessions.get(compaction.origin)
        if state.add_seen(compaction.id) and (
            current := self._open_conversation(state)
        ):
            state.trigger = "compaction"
            # at once: an import brings all else of a session to disk at its end
            self._save(state, current)

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
        if current := self._open_conversation(state):
            self._close(state, current)

    def forget_open(self) -> None:
        """Drop what is in memory: the files are read again at the next event."""
        self._open.clear()

    def _conversation_for(
        self,
        state: SessionState,
        current: OpenConversation | None,
        turn: Turn,
        exchange: Exchange,
    ) -> OpenConversation:
        """The conversation that a new exchange goes on with; a new one behind a boundary."""
        place = self._deps.place(turn.origin)
        origin = state.origin
        part = NewConversation(new_id(origin.host, origin.session, exchange.id), place)
        if current is not None:
            reason = self._boundary(state, current, place, turn, exchange)
            if not reason:
                return current
            if current.is_hollow and not self._is_edited(state, current):
                part = replace(part, id=current.id)
            else:
                current.link(LATER, part.id)
            part = replace(part, reason=reason)
            self._close(state, current)
        return self._begin(state, exchange, part)

    def _unrecorded_part(
        self, current: OpenConversation | None, exchange: Exchange, turn: Turn
    ) -> Exchange | None:
        """The exchange without what closed and forgotten conversations have of it; None where
        nothing is left.
        """
        rest: Exchange | None = exchange
        while rest is not None and (
            current is None or current.position(rest, turn) is None
        ):
            known = self._closed.get(rest.id) or self._deps.known_turns([rest.id]).get(
                rest.id
            )
            if not known:
                return rest
            rest = self._said_since(known, rest)
        return rest

    def _said_since(self, memory_id: str, exchange: Exchange) -> Exchange | None:
        """What was said in a turn after its conversation was closed, as an exchange of its own;
        None where nothing.
        """
        path = self._store.find(memory_id)
        if path is None:
            return None
        known = Conversation.from_markdown(self._store.load(path).body).exchanges
        for earlier in known:
            if earlier.id == exchange.id:
                count = len(earlier.replies)
                rest = exchange.replies[count:]
                if not rest or exchange.replies[:count] != earlier.replies:
                    return None
                return replace(
                    exchange, id=f"{exchange.id}~{count}", user="", replies=rest
                )
        return None

    def _open_conversation(self, state: SessionState) -> OpenConversation | None:
        key = state.origin.session_key
        if not state.open_id:
            return None
        if key not in self._open:
            # after a restart the file itself says how far it got
            loaded = load(self._store, state)
            if loaded is None:
                return None
            self._open[key] = loaded
        return self._open[key]

    def _begin(
        self, state: SessionState, exchange: Exchange, part: NewConversation
    ) -> OpenConversation:
        """Open a conversation with its first exchange, linked to the one before."""
        origin = state.origin
        context = f"{origin.host} session {short_turn(origin.session)}"
        if part.place.branch:
            context += f" on branch {part.place.branch}"
        if state.opened_by:
            context += f", began with {state.opened_by}"
        projects = (part.place.project,) if part.place.project else ()
        empty = Conversation("", (), session_context=context, projects=projects)
        current = OpenConversation(part.id, part.place, empty, exchange.at)
        # one that is known as open here was closed before a crash, or by a person
        before = state.open_id or state.before
        if before and before != part.id and not self._store.is_forgotten(before):
            current.link(EARLIER, before, part.relationship)
        state.open_id, state.trigger = part.id, "command" if state.opened_by else "turn"
        state.opened_by, state.made, state.before = "", [], before
        # before the file: after a crash between the two the same file is written again, under the
        # same id
        self._sessions.save(state)
        self._open[origin.session_key] = current
        return current

    def _boundary(
        self,
        state: SessionState,
        current: OpenConversation,
        place: MemoryPlace,
        turn: Turn,
        exchange: Exchange,
    ) -> str:
        """Why the exchange begins another conversation, "" where it does not."""
        if (current.place.scope, current.place.project) != (place.scope, place.project):
            return "place"
        if state.opened_by:
            return "command"
        if is_tentative(exchange) or says_little(exchange, turn.work):
            return ""
        replies = tuple(reply for reply in exchange.replies if isinstance(reply, str))
        cleaned = replace(turn, user=exchange.user, replies=replies)
        exchanges = [_as_dict(e) for e in current.exchanges]
        return self._deps.segment(exchanges, cleaned, current.conversation.work)

    def _close(self, state: SessionState, current: OpenConversation) -> None:
        if current.is_hollow and not self._is_edited(state, current):
            self._discard(current)
        else:
            state.before = current.id
            self._save(state, current, is_open=False)
        self._closed |= {exchange.id: current.id for exchange in current.exchanges}
        self._end_conversation(state)

    def _is_edited(self, state: SessionState, current: OpenConversation) -> bool:
        file = load_file(self._store, current)
        return file is not None and is_edited(state.made, file)

    def _discard(self, current: OpenConversation) -> None:
        if path := self._store.find(current.id):
            self._store.remove(path)
            self._deps.written(current.id, path)

    def _end_conversation(self, state: SessionState) -> None:
        """End the open conversation: what is said from now on is another one."""
        self._open.pop(state.origin.session_key, None)
        state.open_id, state.made = "", []

    def _save(
        self, state: SessionState, current: OpenConversation, *, is_open: bool = True
    ) -> None:
        """Write the conversation's file, joined with what a person changed in it."""
        made, conversation = made_of(current, state, self._deps, is_open=is_open)
        file = load_file(self._store, current)
        memory, separate = (
            merge_into_file(state.made, made, file) if file else (made, None)
        )
        try:
            # before the file, so that what is in it is never taken for a person's
            if is_open:
                state.made = [serialise(self._store.as_written(made)), *state.made[:1]]
                self._sessions.save(state)
            elif not self._store.is_forgotten(current.id):
                # what is made of a conversation is on disk before it is closed: a crash in between
                # closes it again
                self._deps.closing(memory.meta, memory.body)
            if separate:
                self._deps.written(separate.id, self._store.save(separate))
            current.path = self._store.save(memory, current.path)
        except Forgotten:  # while this process had it in memory
            current.is_dirty = False
            self._end_conversation(state)
            return
        current.conversation, current.is_dirty = conversation, False
        self._deps.written(current.id, current.path)


def _as_dict(exchange: Exchange) -> dict[str, str]:
    """An exchange as the extension point for segments has it."""
    names = ("id", "at", "ended_at", "user", "assistant")
    return {name: getattr(exchange, name) for name in names}


def _goes_on(command: str) -> bool:
    name = command.rpartition(":")[2].lower().replace("_", "-")
    return name in AT_WORK or name.partition("-")[0] in CARRYING_ON


def _is_own_command(turn: Turn, state: SessionState) -> bool:
    """Is the turn a command of Keeplore's with what was answered to it?

    What a person asks Keeplore itself is no talk: a question to memory would be found in the place
    of its answer, and an order to remember would count as a decision.
    """
    form = own_command(turn.user)
    # a short name may be a command of somebody else's
    is_told = turn.is_provisional or turn.id in state.own
    return form == "named" or (form == "bare" and is_told)
