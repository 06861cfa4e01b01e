"""Text taken apart into prose, code in a line and blocks of code: where a name stands says what it
may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keeplore.text.code_fences import ends_block

PROSE, INLINE, BLOCK, SHELL = "prose", "inline", "block", "shell"
MAX_INLINE = 200  # characters between two marks of code
MAX_LINE = 4000  # characters of a line that are looked at; longer ones are data
_FENCE = re.compile(
    r"[ \t>]*(?:[-*+] +|\d{1,3}[.)] +)?(`{3,}|~{3,})[ \t]*([\w+#-]{0,20})"
)
_INLINE = re.compile(rf"``([^\n]{{1,{MAX_INLINE}}}?)``|`([^`\n]{{1,{MAX_INLINE}}})`")
_SHELLS = frozenset(
    {
        "bash",
        "sh",
        "shell",
        "zsh",
        "fish",
        "console",
        "shell-session",
        "terminal",
        "powershell",
    }
)


@dataclass(frozen=True, slots=True)
class TextSpan:
    kind: str  # prose | inline | block | shell
    text: str


def markdown_spans(text: str) -> Iterator[TextSpan]:
    """The pieces of a text in markdown, in order; lines are cut at ``MAX_LINE``."""
    for kind, lines in _line_runs(text):
        joined = "\n".join(lines)
        if kind != PROSE:
            yield TextSpan(kind, joined)
            continue
        at = 0
        for mark in _INLINE.finditer(joined):
            yield TextSpan(PROSE, joined[at : mark.start()])
            yield TextSpan(INLINE, (mark[1] or mark[2] or "").strip())
            at = mark.end()
        yield TextSpan(PROSE, joined[at:])


def _line_runs(text: str) -> Iterator[tuple[str, list[str]]]:
    """Lines that belong together, with the kind of all of them; a block that nothing ends goes to
    the end.
    """
    kind, lines, fence = PROSE, list[str](), ""
    for whole in text.splitlines():
        line = whole[:MAX_LINE]
        opened = None if fence else _opening_fence(line)
        if opened:
            yield kind, lines
            kind, lines, fence = opened[1], [], opened[0]
        elif fence and ends_block(line.strip(" \t>"), fence):
            yield kind, lines
            kind, lines, fence = PROSE, [], ""
        else:
            lines.append(line)
    yield kind, lines


def _opening_fence(line: str) -> tuple[str, str] | None:
    """The fence that begins a block, and the block's kind."""
    found = _FENCE.match(line)
    if not found or "`" in line[found.end() :]:
        return None
    return found[1], SHELL if found[2].lower() in _SHELLS else BLOCK
