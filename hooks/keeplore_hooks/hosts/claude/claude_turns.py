"""The lines of a Claude Code transcript in file order → host events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from keeplore_hooks.events import Command, Compaction, CompactionPhase, HostEvent
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.claude.claude_line_state import (
    ClaudeLineContext,
    ClaudeSideTurns,
    ClaudeTurnTree,
)
from keeplore_hooks.hosts.claude.claude_open_turn import (
    ClaudeOpenTurn,
    ClaudePrompt,
    ClaudeResumeState,
)
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    blocks_in,
    mapping,
    mappings,
    short_digest,
    text,
)

# types of lines that are known and tell nothing
_SILENT = (
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "last-prompt",
    "permission-mode",
    "mode",
    "progress",
)


@dataclass(slots=True)
class ClaudeLineCounts:
    """How many lines there are of each sort."""

    known: int = 0  # of a type that is known here
    other: int = 0
    strange: int = 0  # new lines of a person or the assistant that hold no message


class ClaudeTurnAssembler:
    """Takes lines, keeps the turn that is going on, and lists events."""

    def __init__(
        self,
        path: str,
        resume_state: ClaudeResumeState,
        known: int,
        *,
        is_open: bool,
    ) -> None:
        self.events: list[HostEvent] = []
        self.open: ClaudeOpenTurn | None = None
        self.side = ClaudeSideTurns()
        self.counts = ClaudeLineCounts()
        # what is new continues something before the place where reading started
        self.is_lost = False
        self.line = ClaudeLineContext(path, resume_state, known)
        self._first = resume_state
        self._was_open = is_open
        self._is_replay = False
        self._tree = ClaudeTurnTree()
        self._command: ClaudeOpenTurn | None = None
        self._boundary: Compaction | None = None

    def take(self, line: JsonLine) -> None:
        data, kind = line.data, text(line.data, "type")
        handler = self._handlers.get(kind)
        self._count(line, kind, is_known=handler is not None)
        if data.get("isSidechain"):
            return
        turn = self._tree.turn_of(data, self._command or self.open)
        if handler is None or self._mark_replay(data, turn):
            return
        self.line.enter(line)
        handler(self, data, turn)

    def finish(self, stopped_at: str) -> None:
        """Give the turn that is going on; it is complete when the assistant was silent from
        ``stopped_at`` on.
        """
        self.line.is_new = True
        self._give_events(
            is_complete=self.open is not None and self.open.is_silent_since(stopped_at)
        )

    def resume_at(self) -> tuple[int, ClaudeResumeState]:
        """Where the next reading must start to get the same events: what comes before any turn is
        read again.
        """
        if self.open is None:
            return 0, self._first
        first = self.side.first_needed(self.open).prompt
        return first.start, first.resume_state

    def _count(
        self,
        line: JsonLine,
        kind: str,
        *,
        is_known: bool,
    ) -> None:
        if is_known or kind in _SILENT:
            self.counts.known += 1
        elif line.data:
            self.counts.other += 1
        is_spoken = kind in ("user", "assistant") and not line.data.get("isSidechain")
        if is_spoken and not mapping(line.data, "message"):
            self.counts.strange += self.line.is_behind_known(line)

    def _mark_replay(self, data: Json, turn: ClaudeOpenTurn | None) -> bool:
        """Note the line; returns whether it was read before. Repeated history also hides what
        follows it, until its turn is the open one.
        """
        uuid = text(data, "uuid")
        # asked before all else: history may be repeated many times during one turn
        if self.line.is_seen(uuid):
            current = self._command or self.open
            self._is_replay = current is None or uuid != current.id
            return True
        return not self._tree.add_line(uuid, turn)

    # What the person says

    def _on_user(self, data: Json, turn: ClaudeOpenTurn | None) -> None:
        if lines.is_summary(data):
            self._take_summary(data)
            return
        for block in mappings(data, "message", "content"):
            if block.get("type") == "tool_result":
                self._take_result(block, lines.result_of(data), turn)
        said, uuid = lines.person_input(data), self.line.id_of(data)
        self._take_input(said, uuid, host_id=text(data, "promptId"))

    def _on_attachment(self, data: Json, _: ClaudeOpenTurn | None) -> None:
        attachment = mapping(data, "attachment")
        kind = text(attachment, "type"), text(attachment, "commandMode")
        is_human = lines.is_of_human(attachment) and not attachment.get("isMeta")
        if kind != ("queued_command", "prompt") or not is_human:
            return
        said = lines.input_in(attachment.get("prompt"))
        if isinstance(said, lines.TypedPrompt) and not lines.slash_command(said.text):
            self._take_input(said, self.line.id_of(data), is_queued=True)

    def _on_queue_operation(self, data: Json, _: ClaudeOpenTurn | None) -> None:
        """Follow the queue of prompts; older versions tell of a prompt only by taking it out."""
        operation, state = text(data, "operation"), self.line.state
        words = text(data, "content")
        taken = words
        queue = list(state.queue)
        if operation == "enqueue":
            said = lines.input_in(words)
            queue.append(said.text if isinstance(said, lines.TypedPrompt) else "")
        elif operation == "popAll":
            queue.clear()
        elif operation in ("dequeue", "remove") and queue:
            place = queue.index(words) if words in queue else 0
            taken = queue.pop(place)
        self.line.state = replace(state, queue=tuple(queue))
        is_removed = operation == "remove" and state.is_old
        if is_removed and taken and not lines.slash_command(taken):
            self._take_queued(
                taken, f"{state.session} {text(data, 'timestamp')} {taken}"
            )

    def _take_queued(self, words: str, key: str) -> None:
        """Take a prompt for which no other line stands."""
        before = self.open
        self._take_input(
            lines.TypedPrompt(words), f"queued:{short_digest(key)}", is_queued=True
        )
        if before and before is not self.open:  # no line names this one as its parent
            before.goes_on = self.open

    def _take_input(
        self,
        said: lines.PersonInput | None,
        uuid: str,
        *,
        host_id: str = "",
        is_queued: bool = False,
    ) -> None:
        """Take what a person entered: a prompt begins a turn, a command waits for its output, and
        what was seen before is a replay.
        """
        if isinstance(said, lines.CommandOutput):
            if not self._is_replay and self._command:
                self._tree.hand_over(self._command, self.open)
                self._command = None
        elif said and self.line.is_seen(uuid):
            self._is_replay = self.open is None or uuid != self.open.id
        elif isinstance(said, lines.TypedPrompt):
            if not self._is_same_prompt(said.text, is_queued=is_queued):
                self._give_events(is_complete=True)
                self._begin(
                    self._new_turn(
                        uuid,
                        said.text,
                        host_id,
                        is_queued=is_queued,
                    )
                )
        elif isinstance(said, lines.TypedCommand):
            self._is_replay = False
            self._give_events(is_complete=True)
            line = self.line
            self._emit(
                Command(
                    uuid,
                    line.origin,
                    line.state.at,
                    said.name,
                    said.args,
                )
            )
            self._command = self._new_turn(uuid, said.text)

    def _is_same_prompt(self, words: str, *, is_queued: bool) -> bool:
        """Does the line repeat the prompt before it? A queued prompt may stand in two kinds of
        line.
        """
        turn = self.open
        if turn is None or turn.has_replies:
            return False
        return turn.prompt.words == words and turn.prompt.is_queued != is_queued

    def _new_turn(
        self,
        uuid: str,
        words: str,
        host_id: str = "",
        *,
        is_queued: bool = False,
    ) -> ClaudeOpenTurn:
        line = self.line
        prompt = ClaudePrompt(
            uuid,
            line.origin,
            line.state.at,
            words,
            line.start,
            line.before,
            is_queued,
            host_id,
        )
        line.add_prompt(uuid)
        turn = ClaudeOpenTurn(
            prompt, line.is_new, not line.is_new and not self._was_open
        )
        self._tree.begin_turn(turn)
        return turn

    def _begin(self, turn: ClaudeOpenTurn) -> ClaudeOpenTurn:
        self._settle_boundary()
        self._is_replay, self._command = False, None
        self.open = turn
        return turn

    # What the assistant says and does

    def _on_assistant(self, data: Json, turn: ClaudeOpenTurn | None) -> None:
        message = mapping(data, "message")
        is_of_host = (
            data.get("isApiErrorMessage") or text(message, "model") == "<synthetic>"
        )
        if self._is_replay or is_of_host:
            return
        for block in blocks_in(message):
            kind, words = (
                text(block, "type"),
                lines.without_reasoning(text(block, "text")),
            )
            if kind == "text" and words:
                turn = self._speaker(data, turn)
                turn.say(text(message, "id") or text(data, "uuid"), words)
            elif kind == "tool_use":
                turn = self._speaker(data, turn)
                turn.call(block, self.line.state.at)

    def _speaker(self, data: Json, turn: ClaudeOpenTurn | None) -> ClaudeOpenTurn:
        """The turn that the assistant's words belong to."""
        if turn and turn is self._command:
            # what came to the turn before it after the command was typed
            self._give_events(is_complete=True)
            self._begin(turn)
        elif turn is None:
            # the file starts in the middle, after a compaction for instance
            turn = self._begin(self._new_turn(self.line.id_of(data), ""))
        self._settle_boundary()
        turn.ended_at = self.line.state.at
        self._note_growth(turn)
        return turn

    def _note_growth(self, turn: ClaudeOpenTurn) -> None:
        """Let the line add to the turn, which may be that of another terminal."""
        is_new = self.line.is_new
        turn.is_news |= is_new
        self.is_lost |= is_new and not self._tree.has_parent
        if turn is not self.open:
            self.side.note_growth(turn, self.line.start, is_new=is_new)

    def _take_result(
        self,
        block: Json,
        structured: object,
        turn: ClaudeOpenTurn | None,
    ) -> None:
        if turn and not self._is_replay and turn.is_waiting_for(block):
            self._note_growth(turn)
            for question in turn.take_result(block, structured, self.line.state.at):
                self._emit(question)

    def _on_pull_request(self, data: Json, _: ClaudeOpenTurn | None) -> None:
        if self.open and not self._is_replay and self.open.link(text(data, "prUrl")):
            self.open.is_news |= self.line.is_new

    # What the host does

    def _on_system(self, data: Json, _: ClaudeOpenTurn | None) -> None:
        subtype = text(data, "subtype")
        if subtype == "local_command":
            self._take_input(
                lines.input_in(text(data, "content")), self.line.id_of(data)
            )
        elif subtype == "compact_boundary" and not self._is_replay:
            self._boundary = self._compaction(
                data, text(data, "compactMetadata", "trigger")
            )

    def _compaction(self, data: Json, trigger: str = "") -> Compaction:
        line, phase = self.line, CompactionPhase.AFTER
        return Compaction(
            line.id_of(data),
            line.origin,
            line.state.at,
            phase,
            trigger,
        )

    def _take_summary(self, data: Json) -> None:
        """Take what a compaction has left of the conversation, in the line after its boundary."""
        if self._is_replay:
            return
        compaction = self._boundary or self._compaction(data)
        self._boundary = replace(compaction, summary=lines.message_text(data).strip())
        self._settle_boundary()

    def _settle_boundary(self) -> None:
        if self._boundary:
            compaction, self._boundary = self._boundary, None
            self._give_events(is_complete=False)
            self._emit(compaction)

    def _emit(self, event: HostEvent) -> None:
        if self.line.is_new:
            self.events.append(event)

    def _give_events(self, *, is_complete: bool) -> None:
        self.events += [turn.turn(is_complete=True) for turn in self.side.take_grown()]
        turn = self.open
        if turn is None or not self.line.is_new:
            return
        if turn.is_news or (is_complete and not turn.was_complete):
            self.events.append(turn.turn(is_complete=is_complete))
            turn.is_news, turn.was_complete = False, is_complete

    def _on_agent_setting(self, data: Json, _: ClaudeOpenTurn | None) -> None:
        """Note which agent the following lines belong to; the host writes it before the first
        prompt, and repeats it.
        """
        name = text(data, "agentSetting")
        agent = "" if name in lines.BUILTIN_AGENTS else name
        self.line.state = replace(self.line.state, agent=agent)

    # type of the line → what takes it, with the turn that the line belongs to
    _handlers: ClassVar[
        dict[str, Callable[[ClaudeTurnAssembler, Json, ClaudeOpenTurn | None], None]]
    ] = {
        "user": _on_user,
        "assistant": _on_assistant,
        "system": _on_system,
        "attachment": _on_attachment,
        "queue-operation": _on_queue_operation,
        "pr-link": _on_pull_request,
        "agent-setting": _on_agent_setting,
    }
