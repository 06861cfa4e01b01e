"""What a tool's block in a SpecStory history tells: files, commands, questions. Each agent has its
own layout.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from keeplore_hooks.events import Origin, Question
from keeplore_hooks.hosts.claude.claude_lines import REFUSED
from keeplore_hooks.hosts.patches import absolute
from keeplore_hooks.hosts.specstory.specstory_lines import HistoryTool
from keeplore_hooks.hosts.work_log import WorkLog

_WRITERS = (
    "write",
    "edit",
    "multiedit",
    "apply_patch",
    "search_replace",
    "edit_file",
    "replace",
    "write_file",
)
_SHELLS = ("bash", "shell", "exec_command", "run_terminal_cmd", "run_shell_command")
_ASKING = (
    "AskUserQuestion",
    "AskQuestion",
    "ask_user",
    "question",
    "request_user_input",
)
_FAILED = ("<tool_use_error>", "**Error:**")
_REFUSED = (
    *REFUSED,
    "Permission to use ",
    "[Request interrupted by user for tool use]",
)
_LISTED_FILE = re.compile(
    r"^\*\*(?:Add|Update|Delete|Move)[^:*\n]{0,20}: `([^`\n]{1,1000})`\*\*"
)
_FILES = (
    re.compile(r"^The file (\S.{0,1000}?) has been (?:updated|created)"),
    re.compile(r"^File created successfully at: (\S.{0,1000}?)(?: \(|$)"),
    _LISTED_FILE,
    re.compile(
        r"(?:Edit|Create|Write|Delete) file: ([^<\n]{1,1000}?)\s*(?:</summary>|$)"
    ),
    re.compile(r"^ ?`([^`\n]{1,1000})`\s*$"),
    re.compile(r"^<summary>Tool use: \*\*[^*]{1,100}\*\* `([^`\n]{1,1000})`"),
)
_COMMANDS = (
    re.compile(r"^<summary>Tool use: \*\*[^*]{1,100}\*\* `([^\n]{1,4000})`</summary>"),
    re.compile(r"Run command: ([^\n]{1,4000}?)</summary>"),
    re.compile(r"^`(?!`)([^\n]{1,4000})`\s*$"),
)
_QUESTION = re.compile(r"^\*\*([^\n]{1,4000}?)\*\*\s*$")
_OPTION = re.compile(r"^- \*\*([^\n]{1,1000}?)\*\*")
_ANSWER = "**Answer:**"
# SpecStory cuts the answers out of a text and takes too much
_PREVIEW = '" selected preview:'


def log_tool(tool: HistoryTool, key: str, log: WorkLog, cwd: str) -> None:
    """Take what the tool did; a call that failed or was refused changed nothing."""
    name = tool.name.lower()
    is_refused = any(line.startswith(_REFUSED) for line in tool.lines)
    has_failed = is_refused or any(line.startswith(_FAILED) for line in tool.lines)
    if (tool.kind == "write" or name in _WRITERS) and not has_failed:
        for path in _files(tool):
            log.add_file(f"{key} {path}", absolute(path, cwd))
    elif tool.kind == "shell" or name in _SHELLS:
        command = _command(tool)
        if not is_refused:
            log.add_command(key, command)
        log.add_output(command, "\n".join(tool.lines), has_failed=has_failed)


def questions(tool: HistoryTool, key: str, origin: Origin, at: str) -> list[Question]:
    """What the tool asked the person, each question with its answer; all as one where the answers
    cannot be told apart.
    """
    asked = list(_questions_with_options(tool.lines)) if tool.name in _ASKING else []
    if not asked:
        return []
    text = "\n".join(tool.lines).partition(_ANSWER)[2].strip()
    answers = _answers_apart(text, [options for _, options in asked])
    if answers is None:
        options = tuple(option for _, own in asked for option in own)
        words = "\n".join(words for words, _ in asked)
        return [Question(key, origin, at, words, text, options)]
    return [
        Question(f"{key}.{n}" if n else key, origin, at, words, answer, tuple(options))
        for n, ((words, options), answer) in enumerate(zip(asked, answers, strict=True))
    ]


def _questions_with_options(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each question with its options."""
    asked, options = "", list[str]()
    for line in _outside_code(lines):
        if line.startswith(_ANSWER):
            break
        if found := _QUESTION.search(line):
            if asked:
                yield asked, options
            asked, options = found[1], []
        elif found := _OPTION.search(line):
            options.append(found[1])
    if asked:
        yield asked, options


def _answers_apart(text: str, options: Sequence[list[str]]) -> list[str] | None:
    """The answer to each question out of all of them joined by commas, each beginning with one of
    the question's options; None where one does not. What a person wrote themselves is known as the
    first answer alone.
    """
    if not text:
        return [""] * len(options)
    starts = [0]
    for own in options[1:]:
        labels = "|".join(sorted(map(re.escape, own), key=len, reverse=True))
        begins = re.compile(rf", (?=(?:{labels})(?:, |\"|\s*\Z))")
        found = begins.search(text, starts[-1]) if own else None
        if found is None:
            return None
        starts.append(found.end())
    ends = [*(start - len(", ") for start in starts[1:]), len(text)]
    return [
        text[start:end].partition(_PREVIEW)[0].strip()
        for start, end in zip(starts, ends, strict=True)
    ]


def _matches(pattern: re.Pattern[str], lines: Iterable[str]) -> list[str]:
    return [found[1] for line in lines if (found := pattern.search(line))]


def _files(tool: HistoryTool) -> list[str]:
    """The paths that a tool changed, as the first pattern finds them that finds any: one, but for a
    patch, which lists several.
    """
    for pattern in _FILES:
        if found := _matches(pattern, tool.lines):
            written = found if pattern is _LISTED_FILE else found[:1]
            paths = [html.unescape(path).strip() for path in written]
            return list(dict.fromkeys(paths))
    return []


def _command(tool: HistoryTool) -> str:
    for pattern in _COMMANDS:
        for line in tool.lines:
            if found := pattern.search(line):
                return html.unescape(found[1])
    return next(
        (
            line
            for fence, line in pairwise(tool.lines)
            if fence.strip() in ("```bash", "```sh")
        ),
        "",
    )


def _outside_code(lines: list[str]) -> Iterator[str]:
    is_fenced = False
    for line in lines:
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield line
