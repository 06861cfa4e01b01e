"""What one line of a Copilot CLI event log says, without regard to the lines around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keeplore_hooks.events import Origin, Question
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import IMAGE, PLUGIN
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
from keeplore_hooks.hosts.patches import files_in

ASK = ("ask_user", "AskUserQuestion")
DELEGATES = ("task", "Agent", "Task")
WRITERS = ("create", "edit", "str_replace", "insert", "Write", "Edit")
PATCHERS = ("apply_patch",)
SHELLS = ("bash", "powershell", "shell", "Bash")
# their output goes on with that of an earlier command
CONTINUED = ("read_bash", "read_powershell", "write_bash")
_HUMAN = ("", "user", "human")
_INJECTED = (
    "current_datetime",
    "system-reminder",
    "system_reminder",
    "system_notification",
)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_ANSWERED = re.compile(
    r"(?:the )?user (?:selected|responded|chose|answered|entered)(?: with)?\s*:?\s*",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"(?:the )?user (?:skipped|declined|dismissed|cancell?ed|did not|is not)",
    re.IGNORECASE,
)
# how a payload gives a skill that was typed: its own text behind it, then what was typed
_SKILL_TEXT = re.compile(
    r'\s*The user explicitly invoked the "/?([\w:./-]{1,100})" skill\b'
)
_SKILL_ARGUMENTS, _SKILL_END = "\n\nARGUMENTS: ", "\n</skill-context>"
_REFUSALS = ("rejected", "denied")


@dataclass(frozen=True, slots=True)
class CopilotCall:
    """A tool call."""

    id: str
    name: str
    given: Json

    @property
    def command(self) -> str:
        return text(self.given, "command") if self.name in SHELLS else ""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that a patch changes."""
        if self.name not in PATCHERS:
            return ()
        return files_in(first_text(self.given, "input", "patch"))


def is_of_subagent(line: Json) -> bool:
    data = mapping(line, "data")
    return bool(
        text(line, "agentId") or first_text(data, "agentId", "parentToolCallId")
    )


def prompt_in(data: Json) -> str:
    """What the person typed; ``""`` for what the host, a skill, a schedule or the autopilot says in
    their place.
    """
    if (
        text(data, "source") not in _HUMAN
        or data.get("isAutopilotContinuation")
        or text(data, "inputOrigin")
    ):
        return ""
    pictures = [
        IMAGE for attached in mappings(data, "attachments") if _is_picture(attached)
    ]
    return "\n".join(filter(None, (typed_prompt(text(data, "content")), *pictures)))


def typed_prompt(words: str) -> str:
    """What the person typed, without what the host inserted into the prompt."""
    words = prompt_text.without_elements(words, _INJECTED)
    if skill := _SKILL_TEXT.match(words):
        _, _, rest = words.rpartition(_SKILL_ARGUMENTS)
        typed, is_whole, _ = rest.rpartition(_SKILL_END)
        return f"/{skill[1]} {typed if is_whole else ''}".strip()
    return "" if prompt_text.is_element(words) else words


def command_in(prompt: str) -> tuple[str, str] | None:
    """Name and arguments of the command that a prompt calls; Copilot takes ``/plugin/skill`` and
    ``/plugin:skill``.
    """
    own = f"/{PLUGIN}/"
    return prompt_text.slash_command(
        f"/{PLUGIN}:{prompt.removeprefix(own)}" if prompt.startswith(own) else prompt
    )


def calls_in(data: Json) -> Iterator[CopilotCall]:
    """The calls that an assistant's message asks for."""
    for request in mappings(data, "toolRequests"):
        yield CopilotCall(
            text(request, "toolCallId"),
            text(request, "name"),
            given_to(request.get("arguments")),
        )


def call_started(data: Json) -> CopilotCall:
    return CopilotCall(
        text(data, "toolCallId"),
        text(data, "toolName"),
        given_to(data.get("arguments")),
    )


def given_to(value: Any) -> Json:
    """A call's input, an object or the JSON of one; a bare string is a patch."""
    if isinstance(value, str):
        return load_text(value) or {"input": clean(value)}
    return mapping(value)


def questions(call: CopilotCall, origin: Origin, at: str) -> Iterator[Question]:
    """What a call asks the person, not answered yet."""
    if mappings(call.given, "questions"):
        yield from prompt_text.questions(call.id, call.given, origin, at)
    elif words := first_text(call.given, "question", "message").strip():
        yield Question(
            f"{call.id}:0", origin, at, words, options=tuple(_options(call.given))
        )


def answer_in(text: str) -> str:
    """The person's answer, from what the model was told; ``""`` where the question was declined."""
    text = text.strip()
    if _DECLINED.match(text):
        return ""
    match = _ANSWERED.match(text)
    words = text[match.end() :].strip() if match else text
    given = load_text(words) if words.startswith("{") else None
    if given is None:
        return words.strip('"')
    values = given.get("content") or given.get("answer") or given
    parts = values.values() if isinstance(values, dict) else [values]
    return ", ".join(clean(part) for part in parts if isinstance(part, str))


def result_in(data: Any) -> str:
    """The text of a tool's result, from the log or from a payload."""
    if isinstance(data, str):
        return clean(data)
    return first_text(
        data, "content", "textResultForLlm", "text_result_for_llm", "detailedContent"
    )


def is_refused(data: Json) -> bool:
    """Did the person refuse the call?"""
    code, message = text(data, "error", "code"), text(data, "error", "message")
    return code in _REFUSALS or any(word in message[:200] for word in _REFUSALS)


def _options(arguments: Json) -> Iterator[str]:
    choices = arguments.get("choices")
    if not isinstance(choices, list):
        fields = mapping(arguments, "requestedSchema", "properties").values()
        choices = next(filter(None, (sequence(field, "enum") for field in fields)), [])
    for choice in choices:
        label = clean(choice) if isinstance(choice, str) else text(choice, "label")
        if label:
            yield label


def _is_picture(attached: Json) -> bool:
    """True for a picture by its type, or by its file name where no type is given."""
    mime = text(attached, "mimeType")
    return mime.startswith("image/") or (
        not mime and text(attached, "path").lower().endswith(_PICTURES)
    )
