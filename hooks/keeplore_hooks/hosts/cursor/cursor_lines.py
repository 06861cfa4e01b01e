"""What one message of a Cursor transcript or payload says, without regard to the messages around
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from keeplore_hooks.events import Origin, Question
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import IMAGE
from keeplore_hooks.hosts.jsonl import (
    Json,
    blocks_in,
    clean,
    digest,
    first_text,
    load_text,
    mapping,
    mappings,
    text,
    utc_time,
)
from keeplore_hooks.hosts.work_log import WorkLog

WRITERS = (
    "Write",
    "Edit",
    "MultiEdit",
    "StrReplace",
    "EditNotebook",
    "Create",
    "Delete",
)
SHELL = ("Shell", "Bash", "run_terminal_cmd")
ASK = "AskQuestion"
_DELEGATE = "Task"
_PATHS = ("path", "file_path", "target_file", "target_notebook")
_ANSWER_LENGTH = 4000  # characters
# under which an answer stands in the object of one
_ANSWER_KEYS = (
    "answer",
    "selectedOptionIds",
    "selected",
    "optionIds",
    "freeformText",
    "text",
    "value",
)
# Elements that the host or a plugin puts around a prompt, Keeplore's own context among them; some
# have attributes.
_INJECTED = re.compile(
    r"<(timestamp|cursor_commands|manually_attached_skills|image_files|hooks?_context|"
    r"system[_-]reminder|user_info|rules"
    r"|agent_skills|dynamic_tools|agent_transcripts|open_and_recently_viewed_files|"
    r"attached_files|additional_data"
    r"|git_status|project_layout|mcp_instructions|subagent_notification|"
    r"task_notification)(?:\s[^<>]{0,500})?>"
)
# How messages of the user begin that nobody typed.
_NOT_SPOKEN = (
    "The beginning of the above subagent result",
    "Briefly inform the user about the task result",
    "## Dynamic Tool",
    "## MCP Resource",
    "You have access to tools through dynamic namespaces",
)
_REDACTED = "[REDACTED]"  # stands where the model reasoned
_QUERY = "user_query"
_PICTURE = re.compile(r"^\s*\[Image(?: #?\d+)?\]\s*$", re.MULTILINE)
_SKILL = re.compile(r"^Skill Name: ([\w:.-]{1,100})\s*$", re.MULTILINE)
_SAID = "said"
_MARK = re.compile(r"\[(Thinking|Tool call|Tool result)\]")
_TIME = re.compile(
    r"(?:[A-Za-z]+, )?([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d{2})(?::\d{2})? "
    r"?([AP])M"
    r"(?: \(UTC(?:([+-]\d{1,2})(?::(\d{2}))?)?\))?"
)
_MONTHS = [
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
]


@dataclass(frozen=True, slots=True)
class CursorPrompt:
    """What the person typed, and when."""

    text: str  # "" where nobody spoke
    at: str  # RFC 3339, "" where the message has no time


def prompt_in(record: Json) -> CursorPrompt:
    """The person's words in a line of the user."""
    blocks = blocks_in(mapping(record, "message"))
    words = "\n".join(
        text(block, "text") for block in blocks if block.get("type", "text") == "text"
    )
    pictures = sum(block.get("type") == "image" for block in blocks)
    return CursorPrompt(prompt_from(words, pictures), time_in(words))


def prompt_from(words: str, pictures: int = 0) -> str:
    """A prompt as it was typed; a picture is a line, and a skill that was attached without words is
    its command.
    """
    words = clean(words)
    query, outside = _query(words)
    said = (
        query
        if query is not None
        else _without_injected(_PICTURE.sub("", outside)).strip()
    )
    if said.startswith(_NOT_SPOKEN):
        return ""
    if not said and (skill := _SKILL.search(outside)):
        said = f"/{skill[1]}"
    pictures = pictures or len(_PICTURE.findall(outside))
    return "\n".join((*[IMAGE] * pictures, said)).strip()


def time_in(words: str) -> str:
    """The time that newer versions write before a prompt, in UTC; ``""`` where there is none."""
    match = _TIME.fullmatch(prompt_text.element(words, "timestamp"))
    if not match or match[1] not in _MONTHS:
        return ""
    month, day, year, hour, minute, half, hours, minutes = match.groups()
    sign = -1 if (hours or "").startswith("-") else 1
    offset = timedelta(hours=int(hours or 0), minutes=sign * int(minutes or 0))
    hour_of_day = int(hour) % 12
    if half == "P":
        hour_of_day += 12
    date = int(year), _MONTHS.index(month) + 1, int(day)
    try:
        moment = datetime(*date, hour_of_day, int(minute), tzinfo=timezone(offset))
    except (ValueError, OverflowError):
        return ""
    return utc_time(moment.isoformat())


def words_in(block: Json) -> str:
    """The assistant's words in a block, ``""`` where it holds something else."""
    words = text(block, "text").strip() if block.get("type") == "text" else ""
    return "" if words == _REDACTED else words


def take_call(
    log: WorkLog, call: str, name: str, arguments: Json, output: str = ""
) -> None:
    """Take a tool call: of its input only a file's name or a command's first line."""
    if name in WRITERS:
        log.add_file(call, first_text(arguments, *_PATHS))
    elif name in SHELL:
        log.add_command_with_output(call, text(arguments, "command"), output)
    elif name == _DELEGATE:
        task = first_text(arguments, "description", "prompt")
        log.add_subagent_task(call, text(arguments, "subagent_type"), task)


def questions(arguments: Json, origin: Origin, at: str) -> list[Question]:
    """What a call of AskQuestion asks, without answers; the ids are the same from a transcript and
    a payload.
    """
    asked = [
        first_text(item, "prompt", "question")
        for item in mappings(arguments, "questions")
    ]
    return list(
        prompt_text.questions(
            f"ask:{digest(origin.session, *asked)}", arguments, origin, at
        )
    )


def answered(
    arguments: Json, output: Any, origin: Origin, at: str
) -> Iterator[Question]:
    """The questions of a call of AskQuestion with the answers that its output tells, ``""`` where
    it tells none.
    """
    result = output if isinstance(output, dict) else load_text(str(output))
    asked = questions(arguments, origin, at)
    items = mappings(arguments, "questions")
    for question in asked:
        item = items[int(question.id.rpartition(":")[2])]
        answer = ""
        if result is not None:
            answer = _answer(result, item, question.question)
        elif len(asked) == 1 and isinstance(output, str):
            # no JSON: the words of the answer
            answer = output
        yield replace(question, answer=clean(answer).strip()[:_ANSWER_LENGTH])


def records_in_text(words: str) -> Iterator[Json]:
    """The messages of a transcript in the text form that versions before 2026 wrote."""
    role, part = "", _SAID
    said: list[str] = []
    for line in [*words.split("\n"), "user:"]:
        if line.rstrip() in ("user:", "assistant:"):
            if role:
                yield {"role": role, "message": {"content": "\n".join(said).strip()}}
            role, part, said = line.strip().removesuffix(":"), _SAID, []
            continue
        part = _line_part(part, line) if role == "assistant" else _SAID
        if part == _SAID:
            said.append(line)


def _line_part(part: str, line: str) -> str:
    """What a line of the assistant belongs to, given the part that the line before belongs to."""
    if match := _MARK.match(line):
        return match[1]
    if (part == "Thinking" and not line.strip()) or (
        part == "Tool call" and line and not line[0].isspace()
    ):
        return _SAID
    return part  # the result of a tool goes on until somebody speaks


def _query(words: str) -> tuple[str | None, str]:
    """What stands in the elements of the person's words, None where there are none; and what stands
    around them.
    """
    opening, closing = f"<{_QUERY}>", f"</{_QUERY}>"
    said, outside, rest = [], [], words
    while True:
        before, found, rest = rest.partition(opening)
        outside.append(before)
        if not found:
            break
        # one that is not closed holds the rest
        inner, _, rest = rest.partition(closing)
        said.append(inner.strip())
    return ("\n\n".join(said).strip() if said else None), "\n".join(outside)


def _without_injected(words: str) -> str:
    kept: list[str] = []
    at = 0
    while match := _INJECTED.search(words, at):
        end = words.find(f"</{match[1]}>", match.end())
        if end < 0:  # cut off: nothing behind it is surely the person's
            return "".join((*kept, words[at : match.start()]))
        kept.append(words[at : match.start()])
        at = end + len(match[1]) + 3
    return "".join((*kept, words[at:]))


def _answer(result: Json, item: Json, question: str) -> str:
    """The answer to one question: the labels of the options, and what the person typed."""
    labels = {
        text(option, "id"): text(option, "label")
        for option in mappings(item, "options")
    }
    parts = _answer_parts(_answer_under(text(item, "id") or question, result))
    words = [str(part) for part in parts if isinstance(part, str | int)]
    return ", ".join(labels.get(word) or word for word in words)


def _answer_under(key: str, result: Json) -> Any:
    """What is answered in a mapping by question, or by the last of a list that names this one."""
    answers = result.get("answers", result)
    if isinstance(answers, dict):
        return answers.get(key, "")
    for answer in reversed(mappings(result, "answers")):
        names = (answer.get("questionId"), answer.get("question_id"), answer.get("id"))
        if key in names:
            return answer
    return ""


def _answer_parts(answer: Any) -> list[Any]:
    """What was chosen and typed, out of the objects and lists around it."""
    if isinstance(answer, dict):
        answer = [answer[name] for name in _ANSWER_KEYS if answer.get(name)]
    parts: list[Any] = []
    for part in answer if isinstance(answer, list) else [answer]:
        parts += part if isinstance(part, list) else [part]
    return parts
