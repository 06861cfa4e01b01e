"""The lines of a Copilot CLI event log in file order → host events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from keeplore_hooks.hosts import shell_commands
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.copilot import copilot_lines as lines
from keeplore_hooks.hosts.cursor_state import stored_object, stored_state
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    Problems,
    digest,
    first_text,
    mapping,
    text,
)
from keeplore_hooks.hosts.patches import absolute
from keeplore_hooks.hosts.prompt_text import is_said
from keeplore_hooks.hosts.turn_assembly import (
    ID_LENGTH,
    OpenTurn,
    PlacedTurnReader,
    Record,
)

SCHEMA = 1  # of the log


@dataclass(frozen=True, slots=True)
class CopilotPlace:
    """Where a session works."""

    cwd: str = ""
    branch: str = ""
    agent: str = ""  # the custom agent that the person selected


class CopilotTurnReader(PlacedTurnReader):
    """Takes the lines of an event log.

    A resumed session may write its history into the log again: lines that were read before a turn
    began are known by their ids. What a rewind leaves behind was said all the same, and is kept.
    """

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        problems: Problems,
    ) -> None:
        super().__init__(record, cursor, problems)
        place = stored_object(stored_state(cursor), "state", CopilotPlace)
        self._resume = place
        self._go_to(place)
        self._calls: dict[str, lines.CopilotCall] = {}
        self._command = ""  # the last one whose output may tell of commits

    def state(self) -> Json:
        return asdict(self._resume)

    def take(self, line: JsonLine) -> None:
        kind, key = text(line.data, "type"), text(line.data, "id")
        handler = self._handlers.get(kind)
        self.is_known |= handler is not None and isinstance(line.data.get("data"), dict)
        if (
            handler is None
            or lines.is_of_subagent(line.data)
            or self._mark_replay(kind, key)
        ):
            return
        self._begin_line(line)
        handler(self, mapping(line.data, "data"), key)
        if key:
            self.mark_read(key, self._at)

    def _mark_replay(self, kind: str, key: str) -> bool:
        is_open = self.open is not None and self.open.id == key
        is_repeated = is_open or bool(key and self.is_repeated(key))
        if kind == "user.message":
            self._is_replay = is_repeated and not is_open
        return is_repeated

    # Where the session is

    def _on_start(self, data: Json, key: str) -> None:
        version = data.get("version")
        if self.is_new and isinstance(version, int | float) and version > SCHEMA:
            program = text(data, "copilotVersion")[:40]
            self._problems.add(
                f"version {version} of the log, of Copilot {program}, is not known here: read in "
                f"part"
            )
        self._on_resume(data, key)

    def _on_resume(self, data: Json, key: str) -> None:
        self.is_over = self.open is not None
        self._on_context_changed(mapping(data, "context"), key)

    def _on_context_changed(self, data: Json, _: str) -> None:
        cwd = first_text(data, "cwd", "gitRoot") or self._place.cwd
        branch = text(data, "branch") or self._place.branch
        self._go_to(replace(self._place, cwd=cwd, branch=branch))

    def _go_to(self, place: CopilotPlace) -> None:
        self._place = place
        self._place_turns(place.cwd, place.branch, place.agent)

    def _on_agent_selected(self, data: Json, _: str) -> None:
        """Take which agent the person goes on with; none where one was left."""
        self._go_to(replace(self._place, agent=text(data, "agentName")))

    # What the person says

    def _on_user(self, data: Json, key: str) -> None:
        if prompt := lines.prompt_in(data):
            self._begin(self._turn_id(key, prompt), prompt, self._start)
            self._resume = self._place

    def _turn_id(self, key: str, words: str) -> str:
        # the words and the time, not the place: a log that repeats its history has them at another
        # place
        return key if 0 < len(key) <= ID_LENGTH else self.key(self._at, words)

    def _begin(
        self,
        turn_id: str,
        prompt: str,
        start: int | None,
    ) -> OpenTurn:
        self._calls, self._command, self.is_over = {}, "", False
        return self.begin(
            turn_id,
            prompt,
            self._at,
            start,
            lines.command_in(prompt),
        )

    # What the assistant says and does

    def _speaker(self) -> OpenTurn:
        """The turn that the assistant's words belong to."""
        self.is_over = False
        if turn := self.open:
            return turn
        # the log starts in the middle
        return self._begin(self.key("middle"), "", None)

    def _on_assistant(self, data: Json, key: str) -> None:
        if self._is_replay:
            return
        if words := text(data, "content").strip():
            message = text(data, "messageId") or key or digest(self._at, words)
            self._speaker().say(message, words, self.time(self._at))
        for call in lines.calls_in(data):
            self._take_call(call)

    def _on_tool_start(self, data: Json, _: str) -> None:
        self._take_call(lines.call_started(data))

    def _take_call(self, call: lines.CopilotCall) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        turn = self.open
        if self._is_replay or turn is None or not call.id or call.id in self._calls:
            return
        self.is_over = False
        self._calls[call.id] = call
        self._log_call(turn, call)
        if shell_commands.is_telling(call.command):
            self._command = call.command
        if call.name in lines.ASK:
            for question in lines.questions(call, self.origin, self.time(self._at)):
                turn.ask(question)

    def _log_call(self, turn: OpenTurn, call: lines.CopilotCall) -> None:
        """Take what the call leaves as references."""
        if call.name in lines.WRITERS:
            path = first_text(call.given, "path", "file_path")
            turn.log.add_file(call.id, path and absolute(path, self._place.cwd))
        for number, path in enumerate(call.files):
            turn.log.add_file(f"{call.id}:{number}", absolute(path, self._place.cwd))
        if call.command:
            turn.log.add_command(call.id, call.command)
        if call.name in lines.DELEGATES:
            task = first_text(call.given, "description", "prompt")
            turn.log.add_subagent_task(call.id, text(call.given, "agent_type"), task)

    def _on_tool_complete(self, data: Json, _: str) -> None:
        """Take what a tool gave: commits and answers; what failed is struck out."""
        call, turn = self._calls.get(text(data, "toolCallId")), self.open
        if self._is_replay or turn is None or call is None:
            return
        is_failed = data.get("success") is False
        output = lines.result_in(data.get("result"))
        if is_failed:
            self._drop_failed(turn, call, is_refused=lines.is_refused(data))
        command = call.command
        if call.name in lines.CONTINUED:
            command = command or self._command
        if command:
            turn.log.add_output(command, output, has_failed=is_failed)
        if call.name in lines.ASK:
            self._take_answer(turn, call, "" if is_failed else lines.answer_in(output))

    def _drop_failed(
        self,
        turn: OpenTurn,
        call: lines.CopilotCall,
        *,
        is_refused: bool,
    ) -> None:
        forget = turn.log.drop_call if is_refused else turn.log.drop_file
        forget(call.id)
        for number in range(len(call.files)):
            forget(f"{call.id}:{number}")

    def _take_answer(
        self,
        turn: OpenTurn,
        call: lines.CopilotCall,
        answer: str,
    ) -> None:
        """Record the answer to a question; answers to several at once cannot be told apart and are
        not recorded.
        """
        asked = list(lines.questions(call, self.origin, self.time(self._at)))
        for question in asked:
            own = answer if len(asked) == 1 else ""
            self.answer(turn, replace(question, answer=own))

    def _on_task_complete(self, data: Json, key: str) -> None:
        """Take the summary with which an agent that works on its own ends, in place of
        last words.
        """
        words, turn = text(data, "summary").strip(), self.open
        is_told = not turn or is_said(words, turn.turn(is_complete=False))
        if words and turn and not is_told and not self._is_replay:
            turn.say(key or digest("summary", words), words, self.time(self._at))
        self._on_end(data, key)

    # What the host does

    def _on_end(self, _: Json, __: str) -> None:
        if not self._is_replay:
            self.is_over = self.open is not None

    def _on_compaction(self, data: Json, key: str) -> None:
        if self._is_replay or data.get("success") is False:
            return
        trigger = text(data, "trigger") and "auto"
        if text(data, "trigger") == "manual":
            trigger = "manual"
        summary = text(data, "summaryContent").strip()
        self.compact(
            self._turn_id(key, summary),
            self._at,
            summary,
            trigger,
        )

    # type of the line → what takes it
    _handlers: ClassVar[dict[str, Callable[[CopilotTurnReader, Json, str], None]]] = {
        "session.start": _on_start,
        "session.resume": _on_resume,
        "session.context_changed": _on_context_changed,
        "subagent.selected": _on_agent_selected,
        "subagent.deselected": _on_agent_selected,
        "session.compaction_complete": _on_compaction,
        "session.task_complete": _on_task_complete,
        "session.snapshot_rewind": _on_end,
        "session.context_cleared": _on_end,
        "session.shutdown": _on_end,
        "abort": _on_end,
        "user.message": _on_user,
        "assistant.message": _on_assistant,
        "tool.execution_start": _on_tool_start,
        "tool.execution_complete": _on_tool_complete,
    }
