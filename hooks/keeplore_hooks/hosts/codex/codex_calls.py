"""What Codex's tool calls leave as references: files, commands, and what they ask the person."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from keeplore_hooks.events import Origin, Question
from keeplore_hooks.hosts import jsonl, prompt_text, shell_commands
from keeplore_hooks.hosts.jsonl import Json, clean, mapping, mappings, text
from keeplore_hooks.hosts.patches import BEGINS, files_in

ASK = "request_user_input"
_DELEGATE = "spawn_agent"
_SHELLS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec", "Bash")
CONTINUED = ("write_stdin", "wait")  # their output goes on with that of an earlier command
_SCRIPT = re.compile(
    r"""exec_command\(\s*\{\s*"?cmd"?\s*:\s*("(?:[^"\\]|\\.){0,20000}"|'[^'\\]{0,20000}')"""
)
_REFUSED = ("exec command rejected by user", "patch rejected by user", "rejected by user")
_NOTE = "user_note: "  # before what the person typed beside the options


@dataclass(slots=True)
class Call:
    """A tool call of the turn that is going on."""

    name: str
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    asked: tuple[str, ...] = ()  # Codex's ids of the questions
    task: tuple[str, str] = ("", "")  # kind and task of the subagent that it starts
    keys: list[str] = field(default_factory=list)  # under which the turn's log has them

    @property
    def command(self) -> str:
        """All that it runs, where the output may tell of commits and pull requests; ""
        otherwise.
        """
        command = "\n".join(self.commands)
        return command if shell_commands.is_telling(command) else ""


def call_in(item: Json, origin: Origin, at: str) -> Call:
    """The call that a response item makes."""
    name = text(item, "name").rpartition("__")[2] or text(item, "type")
    source = text(item, "input")
    given = _object(item.get("arguments")) or mapping(item, "action")
    if name == ASK:
        return asking(text(item, "call_id"), given, origin, at)
    if name in _SHELLS or text(item, "type") == "local_shell_call":
        command = _command(given.get("cmd", given.get("command")))
        patch = command if BEGINS in command else ""
        return Call(name, (command,), files_in(patch))
    if name == _DELEGATE:
        task = text(given, "message") or text(given, "prompt")
        return Call(
            name, task=(text(given, "agent_type") or text(given, "task_name") or "agent", task)
        )
    if name == "apply_patch":
        return Call(name, (), files_in(source or text(given, "input")))
    scripts = tuple(_scripts(source)) if name == "exec" else ()
    return Call(name, scripts, files_in(source) if BEGINS in source else ())


def asking(call: str, given: Json, origin: Origin, at: str) -> Call:
    """The questions that a call puts to the person, not answered yet."""
    if not mappings(given, "questions"):
        given = {"questions": [given]}
    items = [
        item
        for item in mappings(given, "questions")
        if (text(item, "question") or text(item, "prompt")).strip()
    ]
    questions = tuple(prompt_text.questions(call, {"questions": items}, origin, at))
    return Call(ASK, questions=questions, asked=tuple(text(item, "id") for item in items))


def answers_in(call: Call, output: str) -> Iterator[str]:
    """The person's answer to each question of a call, ``""`` where there is none."""
    answers = mapping(_object(output), "answers")
    for asked in call.asked:
        given = mapping(answers, asked).get("answers", answers.get(asked))
        words = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        yield "\n".join(
            clean(word).removeprefix(_NOTE).strip() for word in words if isinstance(word, str)
        ).strip()


def agent_in(output: str) -> str:
    """The id of the subagent that a call started."""
    told = _object(output) if output.startswith("{") else {}
    return text(told, "agent_id") or text(told, "agent_thread_id")


def output_of(item: Json) -> str:
    """The text of a call's output."""
    output = item.get("output")
    if isinstance(output, str):
        return clean(output)
    if isinstance(output, dict):
        return text(output, "content") or text(output, "output")
    return "\n".join(_printed(text(part, "text")) for part in mappings(item, "output"))


def is_refused(output: str) -> bool:
    return output.lstrip().startswith(_REFUSED)


def _printed(words: str) -> str:
    """What a command printed, also where a script hands on its result as JSON."""
    return text(_object(words), "output") if words.startswith("{") else words


def _object(value: Any) -> Json:
    if isinstance(value, dict):
        return value
    return (
        (jsonl.load(value.encode("utf-8", "surrogatepass")) or {}) if isinstance(value, str) else {}
    )


def _command(value: Any) -> str:
    if isinstance(value, str):
        return clean(value)
    words = (
        [clean(word) for word in value if isinstance(word, str)] if isinstance(value, list) else []
    )
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return shlex.join(words)


def _scripts(source: str) -> Iterator[str]:
    """The shell commands that a script in JavaScript runs, where they stand in it as literals."""
    for match in _SCRIPT.finditer(source):
        literal = match[1]
        if literal.startswith('"'):
            try:
                yield clean(str(json.loads(literal)))
            except ValueError:
                continue
        else:
            yield clean(literal[1:-1])
