"""What Codex's tool calls leave as references: files, commands, and what they ask the person."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from keeplore_hooks.events import Origin, Question
from keeplore_hooks.hosts import prompt_text, shell_commands
from keeplore_hooks.hosts.jsonl import (
    Json,
    clean,
    first_text,
    load_text,
    mapping,
    mappings,
    sequence,
    text,
)
from keeplore_hooks.hosts.patches import BEGINS, files_in

ASK = "request_user_input"
_DELEGATE = "spawn_agent"
_SHELLS = (
    "exec_command",
    "shell",
    "shell_command",
    "local_shell",
    "container.exec",
    "Bash",
)
# their output goes on with that of an earlier command
CONTINUED = ("write_stdin", "wait")
_SCRIPT = re.compile(
    r"""exec_command\(\s*\{\s*"?cmd"?\s*:\s*("(?:[^"\\]|\\.){0,20000}"|'[^'\\]{0,20000}')"""
)
_REFUSED = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "unsupported call: ",  # of a tool that the model does not have
)
# at the beginning of what a command or a patch that was not carried out gives back
_NOT_RUN = re.compile(r"exec_command failed for .{1,4000}?Rejected\(", re.DOTALL)
_PATCH_FAILED = re.compile(
    r"(?:^|\")(?:apply_patch verification failed|Invalid patch|Failed to find expected lines)",
    re.MULTILINE,
)
_PATCH_SEEN = 2000  # characters of an output in which a patch says that it failed
_NOTE = "user_note: "  # before what the person typed beside the options


@dataclass(slots=True)
class CodexCall:
    """A tool call of the turn that is going on."""

    name: str
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    asked: tuple[str, ...] = ()  # Codex's ids of the questions
    task: tuple[str, str] = ("", "")  # kind and task of the subagent that it starts

    @property
    def command(self) -> str:
        """All that it runs, where the output may tell of commits and pull requests; ""
        otherwise.
        """
        command = "\n".join(self.commands)
        return command if shell_commands.is_telling(command) else ""

    def answered(self, output: str) -> Iterator[Question]:
        """The questions with the person's answers, ``""`` where there is none."""
        answers = mapping(_object(output), "answers")
        for question, asked in zip(self.questions, self.asked, strict=True):
            given = mapping(answers, asked).get("answers", answers.get(asked))
            words = (
                [given]
                if isinstance(given, str)
                else sequence({"given": given}, "given")
            )
            said = [_without_note(word) for word in words if isinstance(word, str)]
            yield replace(question, answer="\n".join(said).strip())


def call_in(item: Json, origin: Origin, at: str) -> CodexCall:
    """The call that a response item makes."""
    name = text(item, "name").rpartition("__")[2] or text(item, "type")
    source = text(item, "input")
    given = _object(item.get("arguments")) or mapping(item, "action")
    if name == ASK:
        return question_call(text(item, "call_id"), given, origin, at)
    if name in _SHELLS or text(item, "type") == "local_shell_call":
        command = _command(given.get("cmd", given.get("command")))
        return CodexCall(name, (command,), _patched_files(command))
    if name == _DELEGATE:
        kind = first_text(given, "agent_type", "task_name") or "agent"
        return CodexCall(name, task=(kind, first_text(given, "message", "prompt")))
    if name == "apply_patch":
        return CodexCall(name, (), files_in(source or text(given, "input")))
    scripts = tuple(_scripts(source)) if name == "exec" else ()
    return CodexCall(name, scripts, _patched_files(source))


def question_call(call: str, arguments: Json, origin: Origin, at: str) -> CodexCall:
    """The questions that a call puts to the person, not answered yet."""
    asked = mappings(arguments, "questions") or [arguments]
    items = [item for item in asked if first_text(item, "question", "prompt").strip()]
    questions = tuple(prompt_text.questions(call, {"questions": items}, origin, at))
    return CodexCall(
        ASK, questions=questions, asked=tuple(text(item, "id") for item in items)
    )


def agent_in(output: str) -> str:
    """The id of the subagent that a call started."""
    answer = _object(output) if output.startswith("{") else {}
    return first_text(answer, "agent_id", "agent_thread_id")


def output_of(item: Json) -> str:
    """The text of a call's output."""
    output = item.get("output")
    if isinstance(output, str):
        return clean(output)
    if isinstance(output, dict):
        return first_text(output, "content", "output")
    return "\n".join(
        _printed_output(text(part, "text")) for part in mappings(item, "output")
    )


def is_refused(output: str) -> bool:
    text = output.lstrip()
    return text.startswith(_REFUSED) or bool(_NOT_RUN.match(text))


def has_failed_to_patch(output: str) -> bool:
    """Did a patch change nothing? Codex says so in words alone."""
    return bool(_PATCH_FAILED.search(output[:_PATCH_SEEN]))


def _printed_output(words: str) -> str:
    """What a command printed, also where a script hands on its result as JSON."""
    return text(_object(words), "output") if words.startswith("{") else words


def _object(value: Any) -> Json:
    """An object, or the JSON of one."""
    if isinstance(value, str):
        return load_text(value) or {}
    return mapping(value)


def _command(value: Any) -> str:
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, list):
        return ""
    words = [clean(word) for word in value if isinstance(word, str)]
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return shlex.join(words)


def _patched_files(source: str) -> tuple[str, ...]:
    """The files of a patch that stands in a command or a script."""
    return files_in(source) if BEGINS in source else ()


def _without_note(answer: str) -> str:
    return clean(answer).removeprefix(_NOTE).strip()


def _scripts(source: str) -> Iterator[str]:
    """The shell commands that a script in JavaScript runs, where they stand in it as literals."""
    for match in _SCRIPT.finditer(source):
        literal = match[1]
        if not literal.startswith('"'):
            yield clean(literal[1:-1])
            continue
        with contextlib.suppress(ValueError):
            yield clean(str(json.loads(literal)))
