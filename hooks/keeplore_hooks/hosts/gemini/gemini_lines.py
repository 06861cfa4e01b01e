"""What one message of a Gemini CLI record says, without regard to the messages around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from keeplore_hooks.events import Origin, Question
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import DOCUMENT, IMAGE
from keeplore_hooks.hosts.jsonl import (
    Json,
    clean,
    digest,
    listed,
    load_text,
    mapping,
    mappings,
    text,
)

WRITERS = ("write_file", "replace", "edit")
SHELL = "run_shell_command"
_PLAN = "exit_plan_mode"
_ASK = "ask_user"
# Elements that the host or a plugin puts into a prompt, Keeplore's own context among them.
_INJECTED = ("hook_context", "session_context", "system-reminder")
# How messages of type user begin that nobody typed.
_NOT_SPOKEN = (
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
    "System: Potential loop detected",
)
_GO_ON = "Please continue."  # what the host says when the model stopped too early
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"
# what the host puts behind a summary in the model's name
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
_REJECTED = "Plan rejected. User feedback:"
_REJECTED_END = "\n\nThe plan is stored at:"


class CallStatus(StrEnum):
    """How a tool call ended; one that goes on has another status, an unknown one ``""``."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"


_OVER = tuple(CallStatus)


@dataclass(frozen=True, slots=True)
class GeminiCall:
    """A tool call with what came of it."""

    id: str
    name: str
    given: Json
    status: str = ""
    output: str = ""
    agent: str = ""  # id of the subagent that it starts

    @property
    def is_over(self) -> bool:
        return self.status in _OVER

    def done(self, output: str) -> GeminiCall:
        return GeminiCall(
            self.id,
            self.name,
            self.given,
            CallStatus.SUCCESS,
            output,
        )


def prompt_in(record: Json) -> str:
    """The person's words in a message of type user, ``""`` where nobody spoke."""
    sent = list(_content_parts(record.get("content")))
    typed = list(_content_parts(record.get("displayContent"))) or sent
    if any("functionResponse" in part for part in sent):
        return ""
    pictures = [mark for part in sent if (mark := _attachment_mark(part))]
    return prompt_from(
        "\n".join(text(part, "text") for part in typed if "text" in part), pictures
    )


def prompt_from(words: str, pictures: list[str] | None = None) -> str:
    """A prompt as it was typed: without injected context and the content of files that it names."""
    words = prompt_text.without_elements(clean(words), _INJECTED)
    words = prompt_text.called_in(_without_files(words).strip())
    if words == _GO_ON or words.startswith(_NOT_SPOKEN) or is_summary(words):
        return ""
    return "\n".join((*(pictures or ()), words)).strip()


def is_summary(words: str) -> bool:
    """Do the words take the place of a conversation that the host compressed?"""
    begins = words.lstrip().startswith(("<state_snapshot>", "<scratchpad>"))
    return begins and "<state_snapshot>" in words


def summary_in(record: Json, reply: Json) -> str | None:
    """The host's summary in a message of type user, without the model's notes to itself; None where
    it is none. ``reply`` is the message behind it, an empty one for none.
    """
    words = "\n".join(
        text(part, "text") for part in _content_parts(record.get("content"))
    )
    if not is_summary(words) and words_in(reply) != _ACKNOWLEDGED:
        return None
    return prompt_text.element(words, "state_snapshot") or words.strip()


def words_in(record: Json) -> str:
    """The text of a message without thoughts, tool calls and pictures."""
    parts = _content_parts(record.get("content"))
    return "".join(
        text(part, "text") for part in parts if not part.get("thought")
    ).strip()


def calls_in(record: Json) -> Iterator[GeminiCall]:
    """The tool calls of a message of the model, from either of the two places where versions keep
    them.
    """
    for call in mappings(record, "toolCalls"):
        status, agent = text(call, "status"), text(call, "agentId")
        yield replace(
            _call(call),
            status=status,
            output=_output(call),
            agent=agent,
        )
    for part in (
        _content_parts(record.get("content")) if "toolCalls" not in record else ()
    ):
        if call := mapping(part, "functionCall"):
            yield _call(call)


def _call(call: Json) -> GeminiCall:
    return GeminiCall(text(call, "id"), text(call, "name"), mapping(call, "args"))


def results_in(record: Json) -> Iterator[tuple[str, str]]:
    """Call and output, from a message of type user that carries tools' results."""
    for part in _content_parts(record.get("content")):
        if response := mapping(part, "functionResponse"):
            yield text(response, "id"), _response_text(response)


def questions(
    call: GeminiCall,
    origin: Origin,
    at: str,
) -> list[Question]:
    """What the call asks the person, with the answers that came; ``""`` where a question was
    dismissed.
    """
    if call.name == _PLAN:
        return [
            Question(
                f"{call.id}:0",
                origin,
                at,
                "Proceed with this plan?",
                _verdict(call.output),
            )
        ]
    if call.name != _ASK:
        return []
    answers = mapping(load_text(call.output), "answers")
    asked = prompt_text.questions(
        call.id,
        call.given,
        origin,
        at,
    )
    return [replace(question, answer=_answer(question, answers)) for question in asked]


def answers_to(
    tool_input: Any,
    tool_response: Any,
    origin: Origin,
    at: str,
) -> list[Question]:
    """The questions and answers that a payload tells, which does not say which call it is about."""
    content = mapping(tool_response, "llmContent") or tool_response
    output = text(content, "text") or text(tool_response, "llmContent")
    given = mapping(tool_input)
    asked = [text(item, "question") for item in mappings(given, "questions")]
    call = GeminiCall(
        "ask:" + digest(origin.session, *asked),
        _ASK,
        given,
        CallStatus.SUCCESS,
        output,
    )
    return questions(call, origin, at)


def _answer(question: Question, answers: Json) -> str:
    return clean(listed(answers.get(question.id.rpartition(":")[2]))).strip()


def _verdict(output: str) -> str:
    if output.startswith("Plan approved"):
        return "Yes"
    _, found, rest = output.partition(_REJECTED)
    return rest.partition(_REJECTED_END)[0].strip() if found else ""


def _output(call: Json) -> str:
    results = [
        mapping(part, "functionResponse") for part in _content_parts(call.get("result"))
    ]
    return "\n".join(
        result_text for result_text in map(_response_text, results) if result_text
    )


def _response_text(response: Json) -> str:
    return text(response, "response", "output")


def _content_parts(content: Any) -> Iterator[Json]:
    """The parts of a content, which may be a text, one part or a list of either."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield {"text": part}
        elif isinstance(part, dict):
            yield part


def _attachment_mark(part: Json) -> str:
    data = mapping(part, "inlineData") or mapping(part, "fileData")
    if not data:
        return ""
    return IMAGE if text(data, "mimeType").startswith("image/") else DOCUMENT


def _without_files(words: str) -> str:
    """The prompt names the files; what stands in them was not said."""
    kept: list[str] = []
    while True:
        before, found, rest = words.partition(_FILES)
        kept.append(before)
        if not found:
            return "".join(kept)
        words = rest.partition(_FILES_END)[2]
