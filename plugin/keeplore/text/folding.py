"""Shorten what was pasted and not said: encoded data, logs, file dumps. What people wrote stays as
it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keeplore.text.code_fences import code_spans


@dataclass(frozen=True, slots=True)
class FoldLimits:
    """How much of what was pasted stays."""

    code_lines: int  # a fenced block up to this size stays verbatim
    code_chars: int
    log_lines: int  # a run of unfenced lines that look like program output
    # anything unfenced and longer is a dumped file, whatever its lines look like
    stretch_lines: int
    line_chars: int  # longer lines are minified files or one-line JSON, not dictation
    head_lines: int  # of what is cut
    tail_lines: int
    head_chars: int
    tail_chars: int
    # whether lines that end like no sentence, and are of no list, count as program output
    is_bare_output: bool = False


KEPT = FoldLimits(200, 20_000, 60, 800, 8_000, 20, 20, 1_500, 500)  # in memory
# to who reads one turn
SHOWN = FoldLimits(30, 4_000, 15, 200, 1_500, 8, 4, 600, 200, is_bare_output=True)
# to who reads a document: its words say what its code is for
SHOWN_OF_DOCUMENT = FoldLimits(6, 600, 15, 200, 1_500, 3, 1, 600, 200)
BASE64_CHARS = 800  # a longer run without white space is a file, not a token
BRIDGE_LINES = 2  # lines of another look that do not end a run of log lines

_DATA_URI = re.compile(
    r"data:([a-z]+/[\w.+-]{1,60})?(?:;[\w=.-]{1,60}){0,4};base64,([A-Za-z0-9+/=_-]+)",
    re.IGNORECASE,
)
_BASE64 = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{BASE64_CHARS},}}={{0,2}}")
_OUTPUT_LINE = re.compile(
    r"""^\s*(?:
      # time stamps
      \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \w{3}\s+\d+\s\d\d:\d\d:\d\d
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL)\b
    # stack traces
    | at\s[\w.$<>/]+[ (] | File\s".*",\sline\s\d | Traceback\b | Caused\sby:
    # grep, numbered dumps, diffs
    | [\w./-]+:\d+(?::\d+)?: | \d+[:|\t\u2192] | [+-](?:\S|\s{2}|$)
    # hex dumps
    | @@\s | diff\s--git | [0-9a-f]{4,8}:?\s{1,2}[0-9a-f]{2,4}\s[0-9a-f]{2,4}
    # JSON, markup
    | "[^"\n]{1,80}"\s*: | </?[a-zA-Z!][^>\n]{0,100}>
    # columns
    | [^,\s]+(?:,[^,\s][^,]*){3,}$ | \S+(?:\s{2,}\S+){2,}\s*$
    # code, data, settings
    | [{}()\[\]$%&;=\\] | // | /\* | \#include | \S+\s*[=:]\s*\S+$
    ) | [;{}]\s*$ | ^(?:\ {4}|\t)(?!\s*(?:[-*+]|\d+[.)])\s)""",
    re.VERBOSE,
)
# what stands in the place of what was cut, and of pictures
LEFT_OUT = re.compile(
    r"\[(?:\d+ (?:lines|characters) left out|image"
    r"|(?:(?:base64 )?data|[a-zA-Z]+/[\w.+-]{1,60}) left out: \d+ KB)\]"
)
_CUT_LINE = re.compile(r"\[\d+ characters left out\]")
_SENTENCE_END = re.compile(r"[.!?…:;,\"'”’)»*_]\s*\Z")
# tables and lists stay, however long and alike
_LISTED = re.compile(r"\s*(?:[-*+•|>#]|\(?\w{1,3}[.)])")
_BEGINNING = 6  # characters, in which the lines of one program are alike
# of a line; more would let one hostile line cost the square of its length
_SEEN_CHARS = 200


def fold(text: str, limits: FoldLimits = KEPT) -> str:
    """``text`` with encoded data named, and oversized pastes cut to head and tail with the count of
    what went.
    """
    text = _DATA_URI.sub(
        lambda m: f"[{m[1] or 'data'} left out: {_kilobytes(m[2])}]", text
    )
    text = _BASE64.sub(lambda m: f"[base64 data left out: {_kilobytes(m[0])}]", text)
    return "\n".join(
        line
        for is_code, lines in _code_and_text_runs(text)
        for line in _folded_lines(lines, limits, is_code=is_code)
    )


def is_folded(text: str) -> bool:
    """Whether a text only says what was left out, or has lost its middle: nobody's sentence."""
    return bool(LEFT_OUT.fullmatch(text.strip()) or _CUT_LINE.search(text))


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters, "…" at the end where more would follow."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _code_and_text_runs(text: str) -> Iterator[tuple[bool, list[str]]]:
    """The text's lines in order, cut where fenced blocks begin and end."""
    position = 0
    for start, end in code_spans(text):
        if start > position:
            yield False, text[position : start - 1].split("\n")
        yield True, text[start:end].split("\n")
        position = end + 1
    if position <= len(text):
        yield False, text[position:].split("\n")


def _folded_lines(lines: list[str], limits: FoldLimits, *, is_code: bool) -> list[str]:
    lines = [_cut_line(line, limits) for line in lines]
    if is_code:
        is_few = len(lines) <= limits.code_lines + 2
        if is_few and sum(map(len, lines)) <= limits.code_chars:
            return lines
        return [lines[0], *_without_middle(lines[1:-1], limits), lines[-1]]
    kept = _without_output(lines, limits)
    return kept if len(kept) <= limits.stretch_lines else _without_middle(kept, limits)


def _without_output(lines: list[str], limits: FoldLimits) -> list[str]:
    """The lines, of each long run of program output its beginning and end."""
    kept: list[str] = []
    position = 0
    for start, end in _output_runs(lines, limits):
        kept += lines[position:start]
        kept += _without_middle(lines[start:end], limits)
        position = end
    return [*kept, *lines[position:]]


def _output_runs(lines: list[str], limits: FoldLimits) -> Iterator[tuple[int, int]]:
    """Index ranges of runs of program output that are longer than the limit."""
    most = limits.log_lines
    start, last = 0, -BRIDGE_LINES - 2
    for i in _output_lines(lines, is_bare_output=limits.is_bare_output):
        if i - last > BRIDGE_LINES + 1:
            if last - start >= most:
                yield start, last + 1
            start = i
        last = i
    if last - start >= most:
        yield start, last + 1


def _output_lines(lines: list[str], *, is_bare_output: bool) -> Iterator[int]:
    """Indexes of the lines that look like output, or begin like a neighbour."""
    beginnings = [line_beginning(line) for line in lines]
    for i, line in enumerate(lines):
        neighbours = beginnings[i - 1 : i] + beginnings[i + 1 : i + 2]
        is_alike = bool(beginnings[i]) and beginnings[i] in neighbours
        is_bare = is_bare_output and _is_bare(line)
        if is_alike or is_bare or _OUTPUT_LINE.search(line[:_SEEN_CHARS]):
            yield i


def _is_bare(line: str) -> bool:
    """Does a line end like no sentence, and is of no list?"""
    words = line.strip()
    return bool(words) and not _SENTENCE_END.search(words) and not _LISTED.match(line)


def line_beginning(line: str) -> str:
    """How a line begins, whatever it counts; "" for one of a list or a table."""
    if _LISTED.match(line) or len(line) <= _BEGINNING:
        return ""
    return re.sub(r"\d+", "0", line.lstrip()[: 4 * _BEGINNING])[:_BEGINNING]


def _without_middle(lines: list[str], limits: FoldLimits) -> list[str]:
    left_out = lines[limits.head_lines : len(lines) - limits.tail_lines]
    if not left_out:  # few lines, all long
        return lines
    return [
        *lines[: limits.head_lines],
        f"[{len(left_out)} lines left out]",
        *lines[len(lines) - limits.tail_lines :],
    ]


def _cut_line(line: str, limits: FoldLimits) -> str:
    if len(line) <= limits.line_chars:
        return line
    head, tail = line[: limits.head_chars], line[-limits.tail_chars :]
    count = len(line) - len(head) - len(tail)
    return f"{head} [{count} characters left out] {tail}"


def _kilobytes(encoded: str) -> str:
    return f"{max(1, len(encoded) * 3 // 4096)} KB"
