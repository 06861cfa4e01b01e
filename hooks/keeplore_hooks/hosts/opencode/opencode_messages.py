"""The messages of an OpenCode session in order of time → host events.

A message is ``{"info": {...}, "parts": [...]}``, as ``opencode export`` and the program's own
interface give it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from keeplore_hooks.events import Command, Compaction, Question
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import IMAGE, prompt_key
from keeplore_hooks.hosts.jsonl import Json, mapping, mappings, text
from keeplore_hooks.hosts.opencode.opencode_rows import IDLE, TRIGGERS
from keeplore_hooks.hosts.patches import absolute, files_in
from keeplore_hooks.hosts.turn_assembly import Assembler, OpenTurn, digest

_DOCUMENT = "[document]"
_WRITERS = ("write", "edit", "multiedit")
_PATCHERS = ("apply_patch", "patch")
_SHELLS = ("bash", "shell")
_ASK = "question"
_DELEGATE = "task"
_UNFINISHED = ("tool-calls", "unknown", "")  # the model goes on after a step that ends so
_REFUSED = "The user rejected permission"
_PARTS = {
    *("text", "file", "tool", "compaction", "subtask"),
    *(
        "reasoning",
        "step-start",
        "step-finish",
        "snapshot",
        "patch",
        "agent",
        "retry",
    ),  # not looked at
}
# Elements that the host or a plugin puts into a prompt.
_INJECTED = ("system-reminder",)
_Told = Mapping[
    str, tuple[str, str]
]  # message → name and arguments of the command that it came from


class Messages:
    """Takes messages and tells an assembler what they mean.

    ``commands`` are known from payloads alone: a record holds the text that stands behind a command
    and not its name.
    """

    def __init__(
        self, assembler: Assembler, problems: jsonl.Problems, commands: _Told, created: float
    ) -> None:
        self._assembler = assembler
        self._problems = problems
        self._commands = commands
        self._created = created  # of the session, ms
        self._compactions: dict[
            str, str
        ] = {}  # message that asks for a summary → what triggered it
        self._is_replay = False  # a compaction came, after which the host may repeat the prompt
        self._unknown: set[str] = set()
        self.is_known = False  # at least one message was of a form that is read here

    def take(self, message: Json, number: int) -> None:
        """Take the message at that place of the session."""
        info, role = mapping(message, "info"), text(mapping(message, "info"), "role")
        if role == IDLE:
            self._idle()
            return
        if role not in ("user", "assistant"):
            self._not_known(f"messages of the role {role[:40]!r}")
            return
        self.is_known = True
        if created_at(message) < self._created:
            # a fork copies messages under new ids; they were said in the session that it was forked
            # from
            return
        at = moment(created_at(message))
        for part in mappings(message, "parts"):
            if text(part, "type") not in _PARTS:
                self._not_known(f"parts of the type {text(part, 'type')[:40]!r}")
        if role == "user":
            self._user(message, at)
        elif info.get("summary") is True:
            self._summary(message, at)
        else:
            self._assistant(message, at, number)
        self._assembler.note(message_id(message), at)

    def _idle(self) -> None:
        if self._assembler.open:
            self._assembler.open.is_over = True

    def _user(self, message: Json, at: str) -> None:
        key = message_id(message)
        for part in mappings(message, "parts"):
            if text(part, "type") == "compaction":
                self._compactions[key] = "auto" if part.get("auto") else "manual"
                return
        command = self._commands.get(key) or _subtask(message)
        prompt = f"/{command[0]} {command[1]}".rstrip() if command else prompt_in(message)
        turn = self._assembler.open
        is_replay, self._is_replay = self._is_replay, False
        if not prompt or (is_replay and turn and prompt_key(turn.user) == prompt_key(prompt)):
            return
        turn_id = (
            key
            if key.startswith("msg_")
            else f"opencode:{digest(self._assembler.origin.session, at, prompt)}"
        )
        self._begin(turn_id, prompt, at)
        if command:
            self._assembler.emit(
                Command(turn_id, self._assembler.origin, self._assembler.time(at), *command)
            )

    def _assistant(self, message: Json, at: str, number: int) -> None:
        info = mapping(message, "info")
        words = [text(part, "text") for part in mappings(message, "parts") if _is_spoken(part)]
        calls = [part for part in mappings(message, "parts") if text(part, "type") == "tool"]
        turn = self._assembler.open
        if turn is None and any(words):  # the record starts in the middle
            turn = self._begin(
                f"opencode:{digest(self._assembler.origin.session, message_id(message), at)}",
                "",
                at,
            )
        if turn is None:
            return
        if any(words) or calls:
            self._is_replay = False
        ended = moment(mapping(info, "time").get("completed"))
        for place, part in enumerate(mappings(message, "parts")):
            if _is_spoken(part):
                turn.say(
                    f"{number} {place}",
                    text(part, "text").strip(),
                    ended or self._assembler.time(at),
                )
            elif text(part, "type") == "tool":
                self._called(turn, part, text(part, "callID"), f"{number} {place}", at)
        turn.is_over = bool(mapping(info, "error")) or (
            bool(ended) and text(info, "finish") not in _UNFINISHED
        )

    def _called(self, turn: OpenTurn, part: Json, call: str, key: str, at: str) -> None:
        """Take a tool call: of its input only a file's name, a command's first line, or what it
        asks the person.
        """
        name, state = text(part, "tool"), mapping(part, "state")
        given, output, status = (
            mapping(state, "input"),
            text(state, "output"),
            text(state, "status"),
        )
        if name in _WRITERS:
            turn.log.write(key, text(given, "filePath") or text(given, "path"))
        elif name in _PATCHERS:
            for path in files_in(text(given, "patchText")) if status != "error" else ():
                turn.log.write(f"{key} {path}", absolute(path, self._assembler.origin.cwd))
        elif name in _SHELLS:
            command = text(given, "command")
            turn.log.run(key, command)
            turn.log.printed(command, output)
        elif name == _DELEGATE:
            task = text(given, "description") or text(given, "prompt")
            agent = text(mapping(state, "metadata"), "sessionId")
            turn.log.delegate(key, text(given, "subagent_type"), task, agent)
        if status == "error":
            is_refused = error_text(state).startswith(_REFUSED)
            (turn.log.refused if is_refused else turn.log.failed)(key)
        if name == _ASK:
            call = (
                call
                if call.startswith(("call_", "toolu_"))
                else digest(self._assembler.origin.session, call, key)
            )
            for question in _questions(call, state, self._assembler, at):
                turn.ask(question)
                if status in ("completed", "error"):
                    self._assembler.emit(question)

    def _summary(self, message: Json, at: str) -> None:
        """The host's own words about what was said; a compaction that failed has none and counts as
        none.
        """
        info = mapping(message, "info")
        words = "\n\n".join(
            text(part, "text").strip() for part in mappings(message, "parts") if _is_spoken(part)
        )
        ended = moment(mapping(info, "time").get("completed"))
        if not ended or mapping(info, "error") or not words:
            return
        parent = text(info, "parentID")
        trigger = self._compactions.get(parent, parent if parent in TRIGGERS else "")
        key = message_id(message) or digest(self._assembler.origin.session, at)
        self._assembler.compact(
            Compaction(key, self._assembler.origin, ended, "after", trigger, words)
        )
        self._is_replay = True

    def _begin(self, turn_id: str, prompt: str, at: str) -> OpenTurn:
        return self._assembler.begin(
            OpenTurn(turn_id, self._assembler.origin, self._assembler.time(at), prompt), None
        )

    def _not_known(self, what: str) -> None:
        if what not in self._unknown:
            self._unknown.add(what)
            self._problems.add(
                f"{what} are not known here and were left out; a newer OpenCode may have written "
                f"them"
            )


def prompt_in(message: Json) -> str:
    """The person's words in a message of the role user, ``""`` where nobody spoke."""
    parts = mappings(message, "parts")
    words = "\n".join(text(part, "text") for part in parts if _is_spoken(part))
    pictures = [mark for part in parts if (mark := _mark(part))]
    words = prompt_text.without_elements(words, _INJECTED).strip()
    # a picture alone may be what the host puts back after a compaction
    return (
        "\n".join((*pictures, words)).strip()
        if words or not any(part.get("synthetic") for part in parts)
        else ""
    )


def message_id(message: Json) -> str:
    return text(mapping(message, "info"), "id")


def created_at(message: Json) -> float:
    """When a message was made, in milliseconds; 0.0 where it does not say so."""
    return jsonl.number(mapping(mapping(message, "info"), "time"), "created")


def moment(milliseconds: Any) -> str:
    """A time of OpenCode as RFC 3339 in UTC, ``""`` where it is none."""
    if (
        not isinstance(milliseconds, int | float)
        or isinstance(milliseconds, bool)
        or milliseconds <= 0
    ):
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()[:19] + "Z"
    except (ValueError, OverflowError, OSError):
        return ""


def error_text(state: Json) -> str:
    """Why a tool call failed: a text, since version 2 an object."""
    return text(state, "error") or text(mapping(state, "error"), "message")


def _is_spoken(part: Json) -> bool:
    """Is it text that person or model wrote, and not the host or a plugin in their place?"""
    return text(part, "type") == "text" and not part.get("synthetic") and not part.get("ignored")


def _subtask(message: Json) -> tuple[str, str] | None:
    """The command that made the message, where it says so; its arguments stand in the text behind
    it.
    """
    for part in mappings(message, "parts"):
        if text(part, "type") == "subtask" and (
            name := text(part, "command").strip().removeprefix("/")
        ):
            return name, ""
    return None


def _questions(call: str, state: Json, assembler: Assembler, at: str) -> Iterator[Question]:
    asked = mapping(state, "input")
    answers = mapping(state, "metadata").get("answers")
    given = answers if isinstance(answers, list) else []
    for question in prompt_text.questions(call, asked, assembler.origin, assembler.time(at)):
        number = int(question.id.rpartition(":")[2])
        chosen = given[number] if number < len(given) else ""
        words = ", ".join(map(str, chosen)) if isinstance(chosen, list) else str(chosen or "")
        yield replace(question, answer=jsonl.clean(words).strip())


def _mark(part: Json) -> str:
    """The line that stands for an attachment; files of text are named in the prompt itself."""
    mime = text(part, "mime")
    if (
        text(part, "type") != "file"
        or mime.startswith("text/")
        or mime in ("", "application/x-directory")
    ):
        return ""
    return IMAGE if mime.startswith("image/") else _DOCUMENT
