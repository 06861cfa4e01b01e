"""Fenced blocks of code in markdown: where they stand, and which lines are in one.

Two readings, each for what its callers ask. ``code_spans`` is CommonMark's: a block ends with a
fence at least as long as its own, and what nothing ends is no block. ``fenced_lines`` takes any
fence for the beginning or the end, so that a heading below a careless one is found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


def code_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the closed fenced blocks, fences included, in order; an unclosed fence
    opens nothing.
    """
    spans = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif ends_block(fence[0].strip(), opening[1]):
            spans.append((opening.start(), fence.end()))
            opening = None
    return spans


def ends_block(line: str, fence: str) -> bool:
    """Whether a line without its indentation ends the block that ``fence`` began: nothing else
    stands on it than the same characters, at least as many.
    """
    marks = line.rstrip(" \t")
    return marks.startswith(fence) and not marks.strip(fence[0])


def fenced_lines(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code: the fence that opens a block is, the one that ends it is
    not.
    """
    is_code = False
    for line in lines:
        if _FENCE.match(line):
            is_code = not is_code
        yield line, is_code
