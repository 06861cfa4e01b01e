"""The lines of a Copilot CLI event log in file order → host events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from keeplore_hooks.events import Command, Compaction, Origin
from keeplore_hooks.hosts import jsonl, shell_commands
from keeplore_hooks.hosts.copilot import copilot_lines as lines
from keeplore_hooks.hosts.jsonl import Json, Line, mapping, text
from keeplore_hooks.hosts.patches import absolute, files_in
from keeplore_hooks.hosts.turn_assembly import Assembler, OpenTurn, digest, squashed

SCHEMA = 1  # of the log
_ID_LENGTH = 100  # characters


class Lines:
    """Takes lines and tells an assembler what they mean.

    A resumed session may write its history into the log again: lines that were read before a turn
    began are known by their ids. What a rewind leaves behind was said all the same, and is kept.
    """

    def __init__(self, assembler: Assembler, problems: jsonl.Problems, state: Json) -> None:
        self.is_known = self.is_subagent = self.is_over = False
        self.tasks: dict[str, str] = {}  # Copilot has no id for what it does about a prompt
        self._assembler = assembler
        self._problems = problems
        self._outer = assembler.origin
        self._place = self._resume = (text(state, "cwd"), text(state, "branch"))
        self._is_new = self._is_replay = False
        self._start = 0
        self._at = ""
        self._calls: dict[str, lines.Call] = {}
        self._command = ""  # the last one whose output may tell of commits
        self._takes: dict[str, Callable[[Json, str], None]] = {
            "session.start": self._started,
            "session.resume": self._resumed,
            "session.context_changed": self._moved,
            "session.compaction_complete": self._compacted,
            "session.task_complete": self._finished,
            "session.snapshot_rewind": self._ended,
            "session.context_cleared": self._ended,
            "session.shutdown": self._ended,
            "abort": self._ended,
            "user.message": self._user,
            "assistant.message": self._assistant,
            "tool.execution_start": self._called,
            "tool.execution_complete": self._result,
        }

    def state(self) -> Json:
        return {"cwd": self._resume[0], "branch": self._resume[1]}

    def take(self, line: Line, *, is_new: bool) -> None:
        kind, key = text(line.data, "type"), text(line.data, "id")
        take = self._takes.get(kind)
        self.is_known |= take is not None and isinstance(line.data.get("data"), dict)
        if take is None or lines.is_of_subagent(line.data):
            return
        if self._is_repeated(kind, key):
            return
        self._start, self._is_new = line.start, is_new
        self._at = jsonl.time(text(line.data, "timestamp")) or self._at
        take(mapping(line.data, "data"), key)
        if key:
            self._assembler.note(key, self._at)

    def _is_repeated(self, kind: str, key: str) -> bool:
        is_open = self._assembler.open is not None and self._assembler.open.id == key
        is_repeated = is_open or bool(key and self._assembler.is_repeated(key))
        if kind == "user.message":
            self._is_replay = is_repeated and not is_open
        return is_repeated

    # Where the session is

    def _started(self, data: Json, _: str) -> None:
        version = data.get("version")
        if self._is_new and isinstance(version, int | float) and version > SCHEMA:
            program = text(data, "copilotVersion")[:40]
            self._problems.add(
                f"version {version} of the log, of Copilot {program}, is not known here: read in "
                f"part"
            )
        self._resumed(data, "")

    def _resumed(self, data: Json, _: str) -> None:
        self.is_over = self._assembler.open is not None
        self._moved(mapping(data, "context"), "")

    def _moved(self, data: Json, _: str) -> None:
        cwd = text(data, "cwd") or text(data, "gitRoot")
        self._place = (cwd or self._place[0], text(data, "branch") or self._place[1])

    @property
    def _origin(self) -> Origin:
        cwd, branch = self._place
        return replace(self._outer, cwd=cwd or self._outer.cwd, branch=branch)

    # What the person says

    def _user(self, data: Json, key: str) -> None:
        if prompt := lines.prompt_in(data):
            turn = self._begin(self._id(key, prompt), prompt)
            if command := lines.command_in(prompt):
                self._assembler.emit(Command(turn.id, self._origin, turn.at, *command))

    def _id(self, key: str, words: str) -> str:
        # the words and the time, not the place: a log that repeats its history has them at another
        # place
        fallback = digest(self._outer.session, self._at, words)
        return key if 0 < len(key) <= _ID_LENGTH else f"copilot:{fallback}"

    def _begin(self, turn_id: str, prompt: str, *, starts: bool = True) -> OpenTurn:
        turn = OpenTurn(turn_id, self._origin, self._assembler.time(self._at), prompt)
        self._assembler.begin(turn, self._start if starts else None)
        if starts:
            self._resume = self._place
        self._calls, self._command, self.is_over = {}, "", False
        return turn

    # What the assistant says and does

    def _speaker(self) -> OpenTurn:
        self.is_over = False
        # without a turn the log starts in the middle
        return self._assembler.open or self._begin(
            f"copilot:{digest(self._outer.session, 'middle')}", "", starts=False
        )

    def _assistant(self, data: Json, key: str) -> None:
        if self._is_replay:
            return
        words = text(data, "content").strip()
        if words:
            message = text(data, "messageId") or key or digest(self._at, words)
            self._speaker().say(message, words, self._assembler.time(self._at))
        for call in lines.calls_in(data):
            self._call(call)

    def _called(self, data: Json, _: str) -> None:
        self._call(lines.started(data))

    def _call(self, call: lines.Call) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        turn = self._assembler.open
        if self._is_replay or turn is None or not call.id or call.id in self._calls:
            return
        self.is_over = False
        self._calls[call.id] = call
        if call.name in lines.WRITERS:
            path = text(call.given, "path") or text(call.given, "file_path")
            turn.log.write(call.id, path and absolute(path, self._place[0]))
        for number, path in enumerate(self._patched(call)):
            turn.log.write(f"{call.id}:{number}", absolute(path, self._place[0]))
        if call.command:
            turn.log.run(call.id, call.command)
            self._command = (
                call.command if shell_commands.is_telling(call.command) else self._command
            )
        if call.name in lines.DELEGATES:
            task = text(call.given, "description") or text(call.given, "prompt")
            turn.log.delegate(call.id, text(call.given, "agent_type"), task)
        if call.name in lines.ASK:
            for question in lines.questions(call, self._origin, self._assembler.time(self._at)):
                turn.ask(question)

    def _patched(self, call: lines.Call) -> tuple[str, ...]:
        return (
            files_in(text(call.given, "input") or text(call.given, "patch"))
            if call.name in lines.PATCHERS
            else ()
        )

    def _result(self, data: Json, _: str) -> None:
        call, turn = self._calls.get(text(data, "toolCallId")), self._assembler.open
        if self._is_replay or turn is None or call is None:
            return
        is_failed = data.get("success") is False
        told = lines.result_in(data.get("result"))
        keys = (call.id, *(f"{call.id}:{number}" for number in range(len(self._patched(call)))))
        for key in keys if is_failed else ():
            turn.log.failed(key)
            if lines.is_refused(data):
                turn.log.refused(key)
        if command := call.command or (self._command if call.name in lines.CONTINUED else ""):
            turn.log.printed(command, told, has_failed=is_failed)
        if call.name in lines.ASK:
            asked = list(lines.questions(call, self._origin, self._assembler.time(self._at)))
            for question in asked:
                answer = "" if is_failed else lines.answer_in(told)
                answered = replace(question, answer=answer if len(asked) == 1 else "")
                turn.ask(answered)
                self._assembler.emit(answered)

    def _finished(self, data: Json, key: str) -> None:
        """An agent that works on its own ends with a summary in place of last words."""
        words, turn = text(data, "summary").strip(), self._assembler.open
        if words and turn and not self._is_replay:
            said = turn.turn(is_complete=False).assistant
            if squashed(words) not in squashed(said):
                turn.say(key or digest("summary", words), words, self._assembler.time(self._at))
        self._ended(data, key)

    # What the host does

    def _ended(self, _: Json, __: str) -> None:
        if not self._is_replay:
            self.is_over = self._assembler.open is not None

    def _compacted(self, data: Json, key: str) -> None:
        if self._is_replay or data.get("success") is False:
            return
        trigger = (
            "manual"
            if text(data, "trigger") == "manual"
            else "auto"
            if text(data, "trigger")
            else ""
        )
        summary = text(data, "summaryContent").strip()
        event_id = self._id(key, summary)
        at = self._assembler.time(self._at)
        self._assembler.compact(Compaction(event_id, self._origin, at, "after", trigger, summary))
