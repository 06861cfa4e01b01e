"""The messages of an OpenCode session in order of time → host events.

A message is ``{"info": {...}, "parts": [...]}``, as ``opencode export`` and the program's own
interface give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import DOCUMENT, IMAGE, Cursor, prompt_key
from keeplore_hooks.hosts.jsonl import (
    Json,
    Problems,
    clean,
    digest,
    first_text,
    listed,
    mapping,
    mappings,
    rfc3339,
    sequence,
    text,
    value_at,
)
from keeplore_hooks.hosts.patches import absolute, files_in
from keeplore_hooks.hosts.turn_assembly import OpenTurn, Record, TurnReader

IDLE = "idle"  # role of a message by which the host says that a turn is over
# of a compaction; stand where version 1 names the message that asked for it
TRIGGERS = ("auto", "manual")
_WRITERS = ("write", "edit", "multiedit")
_PATCHERS = ("apply_patch", "patch")
_SHELLS = ("bash", "shell")
_ASK = "question"
_DELEGATE = "task"
# the model goes on after a step that ends so
_UNFINISHED = ("tool-calls", "unknown", "")
_REFUSED = (
    "The user rejected permission",
    "The user has specified a rule which prevents you",
)
_PARTS = ("text", "file", "tool", "compaction", "subtask")
_SILENT_PARTS = (
    "reasoning",
    "step-start",
    "step-finish",
    "snapshot",
    "patch",
    "agent",
    "retry",
)
# agents that OpenCode brings along; the others are the person's
BUILTIN_AGENTS = (
    "build",
    "plan",
    "general",
    "explore",
    "title",
    "summary",
    "compaction",
)
# Elements that the host or a plugin puts into a prompt.
_INJECTED = ("system-reminder",)


class OpenCodeTurnReader(TurnReader):
    """Takes messages.

    ``commands``, a message's name and arguments of the command that it came from, are known from
    payloads alone: a record holds the text that stands behind a command and not its name.
    """

    program = "OpenCode"

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        problems: Problems,
        commands: Mapping[str, tuple[str, str]],
        created: float,
    ) -> None:
        super().__init__(record, cursor, problems, is_whole=True)
        self._commands = commands
        self._created = created  # of the session, ms
        # message that asks for a summary → what triggered it
        self._compactions: dict[str, str] = {}
        # a compaction came, after which the host may repeat the prompt
        self._is_replay = False

    def take_message(self, message: Json, number: int) -> None:
        """Take the message at that place of the session."""
        role = role_of(message)
        if role == IDLE:
            self._on_idle()
            return
        if role not in ("user", "assistant"):
            self.leave_out(f"messages of the role {role[:40]!r}")
            return
        self.is_known = True
        if created_at(message) < self._created:
            # a fork copies messages under new ids; they were said in the session that it was forked
            # from
            return
        for part in mappings(message, "parts"):
            kind = text(part, "type")
            if kind not in _PARTS and kind not in _SILENT_PARTS:
                self.leave_out(f"parts of the type {kind[:40]!r}")
        at = utc_moment(created_at(message))
        if role == "user":
            self._on_user(message, at)
        elif mapping(message, "info").get("summary") is True:
            self._take_summary(message, at)
        else:
            self._on_assistant(message, at, number)
        self.mark_read(message_id(message), at)

    def _on_idle(self) -> None:
        if self.open:
            self.open.is_over = True

    def _on_user(self, message: Json, at: str) -> None:
        """Begin the turn of a prompt or command; after a compaction the prompt comes again."""
        key = message_id(message)
        for part in mappings(message, "parts"):
            if text(part, "type") == "compaction":
                self._compactions[key] = "auto" if part.get("auto") else "manual"
                return
        command = self._commands.get(key) or _subtask(message) or _own_command(message)
        prompt = (
            f"/{command[0]} {command[1]}".rstrip() if command else prompt_in(message)
        )
        turn = self.open
        is_replay, self._is_replay = self._is_replay, False
        is_same = is_replay and turn and prompt_key(turn.user) == prompt_key(prompt)
        if not prompt or is_same:
            return
        turn_id = key if key.startswith("msg_") else self.key(at, prompt)
        self.origin = replace(self.origin, agent_name=agent_of(message))
        self.begin(turn_id, prompt, at, None, command)

    def _on_assistant(self, message: Json, at: str, number: int) -> None:
        """Take the parts of an answer into the open turn."""
        parts = mappings(message, "parts")
        has_words = any(_is_spoken(part) and text(part, "text") for part in parts)
        turn = self.open
        if turn is None and has_words:  # the record starts in the middle
            turn = self.begin(self.key(message_id(message), at), "", at, None)
        if turn is None:
            return
        if has_words or any(text(part, "type") == "tool" for part in parts):
            self._is_replay = False
        ended = _completed_at(message)
        for place, part in enumerate(parts):
            self._take_part(turn, part, f"{number} {place}", at, ended)
        is_finished = bool(ended) and text(message, "info", "finish") not in _UNFINISHED
        turn.is_over = is_finished or bool(mapping(message, "info", "error"))

    def _take_part(
        self, turn: OpenTurn, part: Json, key: str, at: str, ended: str
    ) -> None:
        """Take words, or a tool call."""
        if _is_spoken(part):
            turn.say(key, text(part, "text").strip(), ended or self.time(at))
        elif text(part, "type") == "tool":
            self._take_call(turn, part, key, at)

    def _take_call(self, turn: OpenTurn, part: Json, key: str, at: str) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        name, state = text(part, "tool"), mapping(part, "state")
        status = text(state, "status")
        self._log_call(turn, name, state, key)
        if status == "error":
            if error_text(state).startswith(_REFUSED):
                turn.log.drop_call(key)
            else:
                turn.log.drop_file(key)
        if name == _ASK:
            call = text(part, "callID")
            if not call.startswith(("call_", "toolu_")):
                call = digest(self.origin.session, call, key)
            self._take_questions(
                turn, call, state, at, is_over=status in ("completed", "error")
            )

    def _log_call(self, turn: OpenTurn, name: str, state: Json, key: str) -> None:
        """Take what the call leaves as references."""
        given = mapping(state, "input")
        if name in _WRITERS:
            turn.log.add_file(key, first_text(given, "filePath", "path"))
        elif name in _PATCHERS and text(state, "status") != "error":
            for path in files_in(text(given, "patchText")):
                turn.log.add_file(f"{key} {path}", absolute(path, self.origin.cwd))
        elif name in _SHELLS:
            turn.log.add_command_with_output(
                key, text(given, "command"), text(state, "output")
            )
        elif name == _DELEGATE:
            task = first_text(given, "description", "prompt")
            agent = text(state, "metadata", "sessionId")
            turn.log.add_subagent_task(key, text(given, "subagent_type"), task, agent)

    def _take_questions(
        self, turn: OpenTurn, call: str, state: Json, at: str, *, is_over: bool
    ) -> None:
        """Take what a call asks the person, with the answers once it is over."""
        asked_at, answers = self.time(at), sequence(state, "metadata", "answers")
        asked = prompt_text.questions(
            call, mapping(state, "input"), self.origin, asked_at
        )
        for question in asked:
            answered = replace(question, answer=_answer_to(question.id, answers))
            if is_over:
                self.answer(turn, answered)
            else:
                turn.ask(answered)

    def _take_summary(self, message: Json, at: str) -> None:
        """Take the host's own words about what was said; a compaction that failed has none and
        counts as none.
        """
        spoken = (part for part in mappings(message, "parts") if _is_spoken(part))
        words = "\n\n".join(text(part, "text").strip() for part in spoken)
        ended = _completed_at(message)
        if not ended or mapping(message, "info", "error") or not words:
            return
        parent = text(message, "info", "parentID")
        trigger = self._compactions.get(parent, parent if parent in TRIGGERS else "")
        key = message_id(message) or digest(self.origin.session, at)
        self.compact(key, ended, words, trigger)
        self._is_replay = True


def prompt_in(message: Json) -> str:
    """The person's words in a message of the role user, ``""`` where nobody spoke."""
    parts = mappings(message, "parts")
    words = "\n".join(text(part, "text") for part in parts if _is_spoken(part))
    pictures = [mark for part in parts if (mark := _attachment_mark(part))]
    words = prompt_text.without_elements(words, _INJECTED).strip()
    words = prompt_text.without_shell_quotes(words)
    # a picture alone may be what the host puts back after a compaction
    if not words and any(part.get("synthetic") for part in parts):
        return ""
    return "\n".join((*pictures, words)).strip()


def agent_of(message: Json) -> str:
    """The agent of the person's that a message is for, "" for the host's own."""
    name = text(message, "info", "agent")
    return "" if name in BUILTIN_AGENTS else name


def role_of(message: Json) -> str:
    return text(message, "info", "role")


def message_id(message: Json) -> str:
    return text(message, "info", "id")


def created_at(message: Json) -> float:
    """When a message was made, in milliseconds; 0.0 where it does not say so."""
    return jsonl.number(message, "info", "time", "created")


def _completed_at(message: Json) -> str:
    return utc_moment(value_at(message, ("info", "time", "completed")))


def utc_moment(milliseconds: Any) -> str:
    """A time of OpenCode as RFC 3339 in UTC, ``""`` where it is none."""
    value = jsonl.number({"at": milliseconds}, "at")
    if value <= 0:
        return ""
    try:
        return rfc3339(datetime.fromtimestamp(value / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def error_text(state: Json) -> str:
    """Why a tool call failed: a text, since version 2 an object."""
    return text(state, "error") or text(state, "error", "message")


def _is_spoken(part: Json) -> bool:
    """Is it text that person or model wrote, and not the host or a plugin in their place?"""
    return (
        text(part, "type") == "text"
        and not part.get("synthetic")
        and not part.get("ignored")
    )


def _subtask(message: Json) -> tuple[str, str] | None:
    """The command that made the message, where it says so; its arguments stand in the text behind
    it.
    """
    subtasks = (
        part for part in mappings(message, "parts") if text(part, "type") == "subtask"
    )
    names = (text(part, "command").strip().removeprefix("/") for part in subtasks)
    name = next(filter(None, names), "")
    return (name, "") if name else None


def _own_command(message: Json) -> tuple[str, str] | None:
    """The command of Keeplore's whose text the message is: a record alone does not name it."""
    words = prompt_in(message)
    called = prompt_text.called_in(words)
    return None if called == words else prompt_text.slash_command(called)


def _answer_to(question_id: str, answers: list[Any]) -> str:
    """The answer to the question of that number."""
    number = int(question_id.rpartition(":")[2])
    chosen = answers[number] if number < len(answers) else ""
    words = listed(chosen) if isinstance(chosen, list) else str(chosen or "")
    return clean(words).strip()


def _attachment_mark(part: Json) -> str:
    """The line that stands for an attachment; files of text are named in the prompt itself."""
    mime = text(part, "mime")
    is_text = mime.startswith("text/") or mime in ("", "application/x-directory")
    if text(part, "type") != "file" or is_text:
        return ""
    return IMAGE if mime.startswith("image/") else DOCUMENT
