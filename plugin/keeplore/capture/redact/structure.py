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

_TOKEN = re.compile(rb"(?<![A-Za-z0-9+/_=~.-])[A-Za-z0-9+/_~-]{16,}={0,2}(?![A-Za-z0-9+/_=~-])")
_OTHER_NAME = re.compile(rb"([A-Za-z_][\w-]{0,40})(?:\\*[\"'`]\s?[:=]|\s?=)\s?\\*[\"'`]?$")
_SECRET_NAME = re.compile(rb"key|token|secret|pass|auth|cred", re.IGNORECASE)
_PASSWORD_COLUMN = re.compile(
    r"^\W*(?:\w+[ _-])?(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|kennwort)\W*$", re.IGNORECASE
)
_SECRET_COLUMN = re.compile(
    r"^\W*(?:\w+[ _-]){0,2}(?:secret|token|api[ _-]?key|key|credentials?)(?:[ _-](?:key|value))?\W*$", re.IGNORECASE
)
_SEED_WORD = re.compile(rb"[A-Za-z]{3,8}(?![A-Za-z])")
_FUNCTION = (
    b"the and for are was with from have has had not but his her its our out who how why may can did does been were"
    b" into than them then also because would could should your which their there these those being"
)
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"
_ENCODED_GAP = re.compile(rb"(?:\s|\\+[nr])+[ \t>+|]*")


def table(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """Values under a heading that names a secret; ``match`` is the heading's line."""
    heading = data[match[0] : match[1]]
    split = next((s for s in _SPLITTERS if len(s(heading)) > 1), None)
    if split is None or match[0] < examined:
        return [], examined
    titles = [heading[a:b].decode("utf-8", "replace").strip() for a, b in split(heading)]
    columns = {i: kind for i, title in enumerate(titles) if (kind := _column_kind(title))}
    found: list[Span] = []
    position = match[1] + 1
    for _ in range(TABLE_ROWS if columns else 0):
        line_end = data.find(b"\n", position)
        row = data[position : line_end if line_end >= 0 else len(data)]
        cells = split(row)
        if len(cells) < 2:
            break
        found += (span for i in columns if i < len(cells) for span in _cell(row, cells[i], position, columns[i]))
        if line_end < 0:
            break
        position = line_end + 1
    return found, position


def seed(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """The words of a mnemonic: the longest run without words that no list of mnemonics has."""
    run: list[Span] = []
    longest: list[Span] = []
    for word in _SEED_WORD.finditer(data, max(match[0], examined), match[1]):
        run = [] if word[0].lower() in _FUNCTION_WORDS else [*run, word.span()]
        longest = max(longest, run, key=len)
    return ([(longest[0][0], longest[-1][1])] if len(longest) >= SEED_WORDS else []), match[1]


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


def near(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """Random strings that follow a word like "API key" within a sentence or at the start of the next paragraph."""
    stop = min(len(data), match[1] + NEAR_BYTES)
    line_end = match[1]
    for _ in range(NEAR_LINES):
        line_end = data.find(b"\n", line_end + 1, stop)
        if line_end < 0:
            break
    stop = line_end if line_end >= 0 else stop
    begin = max(match[1], examined)
    return [token.span() for token in _TOKEN.finditer(data, begin, stop) if _is_told(data, token, match[1])], stop


def _is_told(data: bytes, token: re.Match[bytes], since: int) -> bool:
    """True for a random string that is not the value of something else."""
    other = _OTHER_NAME.search(data, max(since, token.start() - 48), token.start())
    if other and not _SECRET_NAME.search(other[1]):
        return False
    return random_text(Candidate(key="", gap="", value=token[0].decode(), after="")) > 0


# each looks at a match and gives the secrets and the place up to which it has looked, so that none looks twice
DETECTORS: dict[str, Callable[[bytes, Span, int], tuple[list[Span], int]]] = {
    "table": table,
    "seed": seed,
    "near": near,
}
