"""Texts written in several pieces: ``"abc" + "def"``, or one literal below another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import re2

from keeplore.redact.escapes import LINE_START, DecodedText, with_changes

REACH = 400  # bytes around a seam in which a name or the rest of a value is looked for


def _latin_1() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


_OPERATOR = rb"(?:[+.&]|\|\||\.\.)"
_BETWEEN = (
    rb"(?:[ \t]*" + _OPERATOR + rb"[ \t]*(?:[_\\]?[ \t]*\r?\n[^\n\"'`]{0,64}?)?"
    rb"|\\?[ \t]*\r?\n(?:[^\n\"'`]{0,64}?[ \t])?" + _OPERATOR + rb"[ \t]*"
    rb"|[ \t]*\\?\r?\n" + LINE_START + rb")[bfruBFRU]?\\{0,7}"
)
_SEAM = re2.compile(
    rb"\\{0,7}(?:\"[ \t]*" + _BETWEEN + rb"\"|'[ \t]*" + _BETWEEN + rb"')", _latin_1()
)
# without such a word near it nothing in pieces is a secret
_NAMED = re.compile(rb"pass|pwd|secret|token|key|auth|cred|://|BEGIN", re.IGNORECASE)

# where it begins, its text without the seams, and where in that text the seams were
Stretch = tuple[int, DecodedText, list[int]]


def joined(data: bytes) -> Iterator[Stretch]:
    """The stretches around seams, each with its pieces put together; seams nearer than ``REACH``
    are in one.
    """
    group: list[Any] = []
    for seam in _SEAM.finditer(data):
        if group and seam.start() - group[-1].end() > REACH:
            yield from _joined_stretch(data, group)
            group = []
        group.append(seam)
    if group:
        yield from _joined_stretch(data, group)


def _joined_stretch(data: bytes, seams: list[Any]) -> Iterator[Stretch]:
    start = max(0, seams[0].start() - REACH)
    if not _NAMED.search(data, start, seams[-1].end()):
        return
    end = seams[-1].end() + REACH
    spans = [(seam.start() - start, seam.end() - start) for seam in seams]
    text = with_changes(data[start:end], [(a, b, b"") for a, b in spans])
    places, removed = [], 0
    for a, b in spans:
        places.append(a - removed)
        removed += b - a
    yield start, text, places
