"""Secrets that only the shape of several lines gives away: columns of tables, word lists, encoded text."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from keeplore.capture.redact.checks import Candidate, is_placeholder, password, random_text, secret

Span = tuple[int, int]
TABLE_ROWS = 200
SEED_WORDS = 12

NEAR_BYTES = 240
NEAR_LINES = 4
SEED_BYTES = 1500

_TOKEN = re.compile(rb"(?<![A-Za-z0-9+/_=~.-])[A-Za-z0-9+/_=~-]{16,}(?![A-Za-z0-9+/_=~-])")
_PASSWORD_COLUMN = re.compile(
    r"^\W*(?:\w+[ _-])?(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|kennwort)\W*$", re.IGNORECASE
)
_SECRET_COLUMN = re.compile(
    r"^\W*(?:\w+[ _-]){0,2}(?:secret|token|api[ _-]?key|key|credentials?)(?:[ _-](?:key|value))?\W*$", re.IGNORECASE
)
_SEED_WORD = re.compile(rb"[A-Za-z]{3,8}(?![A-Za-z])")
_NUMBERED_WORD = re.compile(rb"(?<!\d)\d{1,2}[.):][ \t]{0,4}([a-z]{3,8})(?![A-Za-z])")
_SEED_GAP = re.compile(rb"[^A-Za-z(){}=]{0,12}")
_FUNCTION = (
    b"the and for are was with from have has had not but his her its our out who how why may can did does been were"
    b" into than them then also because would could should your which their there these those being"
)
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"
_ENCODED_GAP = re.compile(rb"(?:\s|\\+[nr])+[ \t>+|]*")


def table(data: bytes, line: Span) -> Iterator[Span]:
    """Values under a heading that names a secret; ``line`` is the heading's."""
    start, end = line
    heading = data[start:end]
    split = next((s for s in _SPLITTERS if len(s(heading)) > 1), None)
    if split is None:
        return
    titles = [heading[a:b].decode("utf-8", "replace").strip() for a, b in split(heading)]
    columns = {i: kind for i, title in enumerate(titles) if (kind := _column_kind(title))}
    position = end + 1
    for _ in range(TABLE_ROWS if columns else 0):
        line_end = data.find(b"\n", position)
        row = data[position : line_end if line_end >= 0 else len(data)]
        cells = split(row)
        if len(cells) < 2:
            return
        for i, kind in columns.items():
            if i < len(cells):
                yield from _cell(row, cells[i], position, kind)
        if line_end < 0:
            return
        position = line_end + 1


def seed(data: bytes, name: Span) -> Iterator[Span]:
    """The words of a mnemonic soon after the word that names one."""
    end = name[1]
    stop = min(len(data), end + SEED_BYTES)
    numbered = [match.span(1) for match in _NUMBERED_WORD.finditer(data, end, stop)]
    if len(numbered) >= SEED_WORDS:
        yield from numbered
        return
    words = [match.span() for match in _SEED_WORD.finditer(data, end, stop)]
    run: list[Span] = []
    for start, word_end in words:
        is_function_word = data[start:word_end].lower() in _FUNCTION_WORDS
        if is_function_word or (run and not _SEED_GAP.fullmatch(data, run[-1][1], start)):
            if len(run) >= SEED_WORDS:
                break
            run = []
        if not is_function_word:
            run.append((start, word_end))
    if len(run) >= SEED_WORDS:
        yield run[0][0], run[-1][1]


def decoded(text: bytes) -> bytes:
    """What a base64 text says where that is plain text, ``b""`` otherwise."""
    packed = _ENCODED_GAP.sub(b"", text).translate(_URL_SAFE).rstrip(b"=")
    try:
        plain = base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""
    return plain if plain.isascii() and not plain.translate(None, _PRINTABLE) else b""


def _column_kind(title: str) -> str:
    if _PASSWORD_COLUMN.match(title):
        return "password"
    return "secret" if _SECRET_COLUMN.match(title) else ""


def _cell(line: bytes, cell: Span, offset: int, kind: str) -> Iterator[Span]:
    raw = line[cell[0] : cell[1]]
    stripped = raw.strip(b" \t\r*`\"'")
    text = stripped.decode("utf-8", "replace")
    if not text or not text.strip("-:=") or is_placeholder(text) or " " in text:
        return
    candidate = Candidate(key="password", gap='="', value=text, after='"')
    if (password if kind == "password" else secret)(candidate):
        begin = offset + cell[0] + raw.index(stripped)
        yield begin, begin + len(stripped)


def _by_bar(line: bytes) -> list[Span]:
    return _cells(line, re.compile(rb"\|")) if line.count(b"|") else []


def _by_tab(line: bytes) -> list[Span]:
    return _cells(line, re.compile(rb"\t+"))


def _by_comma(line: bytes) -> list[Span]:
    return _cells(line, re.compile(rb"[,;]"))


def _by_spaces(line: bytes) -> list[Span]:
    return _cells(line, re.compile(rb" {2,}"))


def _cells(line: bytes, separator: re.Pattern[bytes]) -> list[Span]:
    cells = []
    position = 0
    for match in separator.finditer(line):
        cells.append((position, match.start()))
        position = match.end()
    return [*cells, (position, len(line))]


_SPLITTERS = (_by_bar, _by_tab, _by_comma, _by_spaces)


def near(data: bytes, name: Span) -> Iterator[Span]:
    """Random strings that follow a word like "API key" within a sentence or at the start of the next paragraph."""
    end = name[1]
    stop = end + NEAR_BYTES
    line_end = -1
    for _ in range(NEAR_LINES):
        line_end = data.find(b"\n", line_end + 1 if line_end >= 0 else end, stop)
        if line_end < 0:
            break
    for match in _TOKEN.finditer(data, end, line_end if line_end >= 0 else min(stop, len(data))):
        value = match[0].decode()
        if random_text(Candidate(key="", gap="", value=value, after="")):
            yield match.span()


DETECTORS: dict[str, Callable[[bytes, Span], Iterator[Span]]] = {
    "table": table,
    "seed": seed,
    "near": near,
}
