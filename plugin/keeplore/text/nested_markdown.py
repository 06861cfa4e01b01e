"""Markdown of one memory as a part of a larger document, whose structure it cannot change.

Rules of CommonMark 0.31: whatever could begin a heading, a block of HTML or a definition of the
document's is written so that it does not, and a code fence that is left open is closed. Text in
fences stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keeplore.text.code_fences import ends_block
from keeplore.text.fences import sanitise

LEVELS = 6
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,}).*\Z", re.DOTALL)
_INDENT = re.compile(r"\A {0,3}")
# quotations and lists, in which blocks begin as they do at the start of a line
_CONTAINERS = r"(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*"
_HEADING = re.compile(rf"({_CONTAINERS})(#{{1,6}})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"([ \t>]*)(=+|-+)[ \t]*\Z")
_DEFINITION = re.compile(rf"({_CONTAINERS})(\[)(?=[^\]]*\]:|[^\]]*\Z)")
_INDENTED_FENCE = re.compile(rf"({_CONTAINERS})(`{{3}}|~{{3}})")
_OPENING = re.compile(r"<(?=[A-Za-z/!?])")
_SPAN_OR_OPENING = re.compile(
    r"(\\.)|((?<!`)(`+)(?!`).+?(?<!`)\3(?!`))|<(?=[A-Za-z/!?])"
)
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def nest(markdown: str, below: int) -> str:
    """The text with its headings moved below this level (6 is the lowest), without open ends.

    Where code stands in a list or a quotation, the whole is given as a block of code.
    """
    text = _LINE_ENDS.sub("\n", markdown)
    try:
        return "\n".join(_lines(text, below)).strip("\n")
    except _Nested:
        return fenced(text.strip("\n"), "markdown")


def fenced(text: str, language: str = "") -> str:
    """The text as a block of code that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"~+", text)), default=0)
    mark = "~" * max(3, longest + 1)
    return f"{mark}{language}\n{_LINE_ENDS.sub(chr(10), text)}\n{mark}"


def inline(text: str) -> str:
    """The text as one line in which no character is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|!~&])", r"\\\1", " ".join(sanitise(text).split()))


class _Nested(Exception):  # a signal between our own functions
    """A fence whose beginning and end depend on the blocks around it."""


def _lines(markdown: str, below: int) -> Iterator[str]:
    fence, is_after_text = "", False
    for line in markdown.split("\n"):
        if fence:
            if ends_block(_INDENT.sub("", line), fence):
                fence = ""
            yield line
            continue
        if opened := _FENCE.match(line):
            fence = opened[1] or opened[2]
            yield line
            continue
        yield _neutral_line(line, below, is_after_text=is_after_text)
        is_after_text = bool(line.strip(" \t>"))
    if fence:
        yield fence


def _neutral_line(line: str, below: int, *, is_after_text: bool) -> str:
    if heading := _HEADING.match(line):
        level = min(len(heading[2]) + below, LEVELS)
        line = f"{heading[1]}{'#' * level}{line[heading.end() :]}"
    elif underline := _UNDERLINE.match(line):
        line = _rule(underline, is_after_text=is_after_text)
    elif definition := _DEFINITION.match(line):
        line = f"{definition[1]}\\{line[definition.end(1) :]}"
    elif _INDENTED_FENCE.match(line):
        raise _Nested
    return _without_html(line)


def _rule(underline: re.Match[str], *, is_after_text: bool) -> str:
    """What would underline a heading, as a line across the page or as text."""
    if underline[2][0] == "=":
        return f"{underline[1]}\\{underline[2]}"
    is_rule = is_after_text or len(underline[2]) > 2
    return f"{underline[1]}* * *" if is_rule else underline[0]


def _without_html(line: str) -> str:
    """No tag begins in the line; what stands in a code span stays as it is, but not at the line's
    start.
    """
    start = re.match(_CONTAINERS, line)
    at = start.end() if start else 0
    head = line[:at]
    if _OPENING.match(line, at):
        head, at = f"{head}\\<", at + 1
    return head + _SPAN_OR_OPENING.sub(
        lambda found: found[0] if found[1] or found[2] else "\\<", line[at:]
    )
