"""What is kept of a source: a title and its text as markdown, bounded and in a form that every
reader of it bears.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keeplore.errors import SourceRefused
from keeplore.memory.note import body_of, title_and_text
from keeplore.text.fences import one_plain_line, sanitise
from keeplore.text.folding import shortened
from keeplore.text.similarity import text_hash

MAX_TEXT = 10_000_000  # bytes of UTF-8; a file of memory may have three times as many
MAX_TITLE = 200  # characters
# longer lines are broken: cutting them into sentences takes more than linear time
LINE_CHARS = 2_000
_SAID = re.compile(r"[^\W_]")
# from where the blanks begin: linear in time
_BLANK = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)
_GAP = re.compile(r"\n{4,}")
_CONFLICT = re.compile(r"^(?=<{7,}(?:\s|\Z))", re.MULTILINE)
_HEADING = re.compile(r"\A#[ \t]+(\S.*)")


@dataclass(frozen=True, slots=True)
class Extracted:
    """``text`` is markdown; ``title`` is what the source says of itself, "" for nothing."""

    title: str
    text: str


def tidied_extract(extracted: Extracted, name: str) -> Extracted:
    """The text as it is kept: control characters and needless blanks taken out, ``name`` for a
    title where there is none.

    Raises SourceRefused for a text without words, or one that is too long.
    """
    if len(extracted.text.encode("utf-8", "replace")) > MAX_TEXT:
        raise SourceRefused(
            f"its text is longer than {MAX_TEXT // 1_000_000} MB", "Give a part of it"
        )
    text = _GAP.sub("\n\n\n", _BLANK.sub("", sanitise(extracted.text))).strip("\n")
    if not _SAID.search(text):
        raise SourceRefused(
            "there is no text in it", "A scanned page needs text recognition first"
        )
    title = _heading_of(text) or extracted.title
    words = one_plain_line(title)
    return Extracted(shortened(words or name, MAX_TITLE), _without_hazards(text))


def too_large(most: int) -> SourceRefused:
    """The error for a source with more bytes than allowed."""
    return SourceRefused(
        f"it is larger than {most // 1_000_000} MB",
        "Give a part of it, or set documents.megabytes",
    )


def _heading_of(text: str) -> str:
    """The heading with which a text begins, "" for none."""
    heading = _HEADING.match(text)
    return heading[1].rstrip("# ") if heading else ""


def _without_hazards(text: str) -> str:
    """The text without endless lines, and without what would be taken for a merge that failed."""
    pieces = (piece for line in text.split("\n") for piece in _broken_line(line))
    return _CONFLICT.sub(" ", "\n".join(pieces))


def _broken_line(line: str) -> Iterator[str]:
    """A line in pieces of a length that its readers bear, broken at blanks where there are any."""
    start = 0
    while len(line) - start > LINE_CHARS:
        blank = line.rfind(" ", start + 1, start + LINE_CHARS)
        end = start + LINE_CHARS if blank < 0 else blank
        yield line[start:end]
        start = end + (blank >= 0)
    yield line[start:]


def body_for(document: Extracted) -> str:
    """The markdown of its memory; a heading that is the title stands there once."""
    heading, rest = title_and_text(document.text)
    return body_of(document.title, rest if heading == document.title else document.text)


def document_hash(title: str, body: str) -> str:
    """A hash that shows whether a document has changed since it was ingested: case and white space
    count, since it may be code.
    """
    # an editor on Windows may have saved it
    return text_hash(f"{title}\x1f{body.replace(chr(13), '').strip()}")
