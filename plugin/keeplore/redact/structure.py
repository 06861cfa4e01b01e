"""Secrets that only the shape of several lines gives away: columns of tables, word lists,
manifests, encoded text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from keeplore.redact.bare_tokens import Span, announced_password, bare, decoded_base64
from keeplore.redact.likely_secrets import likely
from keeplore.redact.placeholders import is_placeholder
from keeplore.redact.secret_checks import SecretCandidate, password, random_text, secret

Split = Callable[[bytes], list[Span]]  # of a line into cells
TABLE_ROWS = 200
SEED_WORDS = 12
SEED_GAP = 12  # bytes between two words of a mnemonic
SEED_LINE = 96  # the same over a line's end, with what begins the next line
SEED_SIGN, SEED_RUN = b"\1" * 4, b"\1" * SEED_WORDS
# around the data of a Kubernetes secret in which its kind may be named
MANIFEST_BYTES = 4096

NEAR_BYTES = 240
NEAR_LINES = 4

_TOKEN = re.compile(
    rb"(?<![A-Za-z0-9+/_=~.-])[A-Za-z0-9+/_~-]{16,}={0,2}(?![A-Za-z0-9+/_=~-])"
)
_OTHER_NAME = re.compile(
    rb"([A-Za-z_][\w-]{0,40})(?:\\*[\"'`]\s?[:=]|\s?=|\(b?)\s?\\*[\"'`]?$"
)
_DIGEST_MARK = re.compile(rb"(?i:sha-?\d{1,3}|md5)[:=-]$")
_SECRET_NAME = re.compile(rb"key|token|secret|pass|auth|cred", re.IGNORECASE)
_PASSWORD_COLUMN = re.compile(
    r"^\W*(?:\w+[ _-])?(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|kennwort)\W*$",
    re.IGNORECASE,
)
_SECRET_COLUMN = re.compile(
    r"^\W*(?:\w+[ _-]){0,2}(?:secret|token|api[ _-]?key|key|credentials?)(?:[ _-](?:key|"
    r"value))?\W*$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^(?:[\w \t./()#*\"'+>|-]|:(?=\s|\d)){0,64}$")
_CODE_CELL = re.compile(r"[\w.]*[(=]")
_HEAD = re.compile(r"^(?:\W*\w[\w ()/#*-]{0,64})?$")
_BORDER = re.compile(rb"[-+=]{3}[-+=|: \t\r]*$")
_LISTED_WORD = re.compile(rb"(?<!\w)[a-z]{3,8}(?!\w)")
_SEED_WORD = re.compile(rb"[A-Za-z]{3,8}(?![A-Za-z])")
_FUNCTION = (
    b"the and for are was with from have has had not but his her its our out who how why may can "
    b"did does been were"
    b" into than them then also because would could should your which their there these those being"
)
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_LETTERS = frozenset(string.ascii_letters.encode())
_LOWER = bytes(ord(chr(c).lower()) if c in _LETTERS else 32 for c in range(256))
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_PREFIX = re.compile(rb"\s*[\d\[][^\n]{0,60}[:\]|>][\d.)\s]*")  # of a log's line
_MANIFEST = re.compile(rb"kind\\*[\"']?\s{0,3}:\s{0,3}\\*[\"']?Secret\b")
_ENTRY = re.compile(
    rb"[^\n]{0,48}?[ \t][\w.\-]{1,64}:[ \t]+[\"']?([^\s\"'<{|>]{4,})[\"']?[ \t]*(?:\n|$)"
)
_MEMBER = re.compile(
    rb"[\"'][\w.\-]{1,64}\\*[\"']\s{0,3}:\s{0,3}\\*[\"']([^\s\"'\\]{4,})\\*[\"']"
)
_PARENTHESES = re.compile(rb"\(((?:[^()]|\([^()]*\))*)\)")
_SQL_VALUE = re.compile(rb"\s*(?:N?\\*'[^']*'|\"[^\"]*\"|[^,'\"]+)+")
_ENCODED_GAP = re.compile(rb"(?:\s|\\+[nr])+[ \t>+|]*")


@cache
def _seed_words() -> frozenset[bytes]:
    """The English words of BIP-39, https://github.com/bitcoin/bips/blob/master/bip-0039."""
    return frozenset(files(__package__).joinpath("seed_words.txt").read_bytes().split())


def table(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """Values under a heading that names a secret; ``match`` is the heading's line."""
    if match[0] < examined:
        return [], examined
    heading = data[match[0] : match[1]]
    split, columns = _heading(heading)
    position = match[1] + 1
    if not columns:
        return [], position
    found: list[Span] = []
    width = len(split(heading))
    for _ in range(TABLE_ROWS):
        line_end = data.find(b"\n", position)
        is_last = line_end < 0
        row = data[position:] if is_last else data[position:line_end]
        if is_last or not _BORDER.search(row):
            cells = split(row)
            # between bars, cells may be missing at a row's end
            before = 0 if split is _by_bar else width - len(cells)
            # JSON that begins on the heading's line has cells there that its rows lack
            is_row = before == 0 or (before > 0 and b'{"' in heading)
            if len(cells) < 2 or not is_row:
                break
            here = {column - before: kind for column, kind in columns.items()}
            found += _values_in(row, cells, position, here)
        if is_last:
            break
        position = line_end + 1
    return found, position


def _values_in(
    row: bytes, cells: list[Span], offset: int, columns: Mapping[int, str]
) -> Iterator[Span]:
    """The secrets in a row of a table; ``columns`` are those that hold some, with their kind."""
    for column, kind in columns.items():
        if 0 <= column < len(cells):
            yield from _cell(row, cells[column], offset, kind)


def _heading(heading: bytes) -> tuple[Split, dict[int, str]]:
    """How a table splits its rows, and which of its columns hold secrets; none where it is no
    table.
    """
    for split in _SPLITTERS:
        if kinds := _columns(heading, split):
            return split, kinds
    return _by_bar, {}


def seed_phrase(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """The words of a mnemonic: the longest run without words that no list of mnemonics has."""
    run: list[Span] = []
    longest: list[Span] = []
    for word in _SEED_WORD.finditer(data, max(match[0], examined), match[1]):
        run = [] if word[0].lower() in _FUNCTION_WORDS else [*run, word.span()]
        longest = max(longest, run, key=len)
    if len(longest) < SEED_WORDS:
        return [], match[1]
    return [(longest[0][0], longest[-1][1])], match[1]


def decoded(text: bytes) -> bytes:
    """What a base64 text says where that is text, ``b""`` otherwise."""
    packed = _ENCODED_GAP.sub(b"", text).translate(_URL_SAFE).rstrip(b"=")
    return decoded_base64(packed + b"=" * (-len(packed) % 4))


def listed(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """The words of a mnemonic wherever they stand: a dozen in a row out of the list that wallets
    take them from.
    """
    longest = max(_seed_runs(data, max(match[0], examined), match[1]), key=len)
    if not _is_seed([word[0] for word in longest]):
        return [], match[1]
    return [(longest[0].start(), longest[-1].end())], match[1]


def _seed_runs(data: bytes, start: int, end: int) -> list[list[re.Match[bytes]]]:
    """Words of the list that stand one after the other; the first run may be empty."""
    runs: list[list[re.Match[bytes]]] = [[]]
    for word in _LISTED_WORD.finditer(data, start, end):
        if word[0] not in _seed_words():
            continue
        if runs[-1] and _is_broken_between(data, runs[-1][-1].end(), word.start()):
            runs.append([])
        runs[-1].append(word)
    return runs


def _is_seed(words: list[bytes]) -> bool:
    """Whether the words may be a mnemonic; two may stand twice."""
    return len(words) >= SEED_WORDS and len(set(words)) >= SEED_WORDS - 2


def wordlist(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """What `listed` finds, in text of any length: among twelve words in a row are four of every
    third.
    """
    words = data.translate(_LOWER).split()
    flags = bytes(map(_seed_words().__contains__, words[::3]))
    place = flags.find(SEED_SIGN)
    while place >= 0:
        near = bytes(
            map(
                _seed_words().__contains__,
                words[max(0, 3 * place - 2) : 3 * place + SEED_WORDS],
            )
        )
        if SEED_RUN in near:
            return listed(data, match, examined)
        place = flags.find(SEED_SIGN, place + 1)
    return [], match[1]


def _is_broken_between(data: bytes, end: int, start: int) -> bool:
    """True where more stands between two words than separators, or what a log or a listing begins
    its lines with.
    """
    if start - end > SEED_LINE:
        return True
    first, line_end, last = data[end:start].rpartition(b"\n")
    separators = first + last if not line_end or not _PREFIX.fullmatch(last) else first
    return len(separators) > SEED_GAP or any(
        c in _LETTERS or c > 127 for c in separators
    )


def manifest(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """Every value below ``data`` of a Kubernetes secret, whatever its name."""
    vicinity = data[max(0, match[0] - MANIFEST_BYTES) : match[1] + MANIFEST_BYTES]
    if match[0] < examined or not _MANIFEST.search(vicinity):
        return [], examined
    values = list(_members(data, match[1]))
    found = [
        value.span(1)
        for value in values
        if not is_placeholder(value[1].decode("utf-8", "replace"))
    ]
    return found, values[-1].end() if values else match[1]


def _members(data: bytes, at: int) -> Iterator[re.Match[bytes]]:
    """The entries of a mapping, one after the other, up to its end."""
    is_inline = data[at - 1 : at] == b"{"
    entry = _MEMBER if is_inline else _ENTRY
    stop = data.find(b"}", at, at + MANIFEST_BYTES) if is_inline else -1
    while value := (
        entry.search(data, at, stop) if stop >= 0 else entry.match(data, at)
    ):
        yield value
        at = value.end()


def inserted(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """Values of a row that SQL inserts into columns that name a secret."""
    if match[0] < examined:
        return [], examined
    names, *rows = _PARENTHESES.finditer(data, *match)
    columns = _columns(names[1], _by_comma)
    found: list[Span] = []
    for row in rows:
        found += _values_in(row[1], _values_of_row(row[1]), row.start(1), columns)
    return found, match[1]


def _values_of_row(row: bytes) -> list[Span]:
    """The values between commas that stand in no quotes."""
    return [value.span() for value in _SQL_VALUE.finditer(row)]


def _columns(heading: bytes, split: Split) -> dict[int, str]:
    """Which cells of a table's heading name a secret, ``{}`` where it is none: an indented word
    makes no table.
    """
    titles = [
        heading[a:b].decode("utf-8", "replace").strip() for a, b in split(heading)
    ]
    if sum(map(bool, titles)) < 2:
        return {}
    if split is not _by_bar and not all(map(_TITLE.match, titles)):
        return {}
    if split is _by_blanks and not all(map(_HEAD.match, titles)):
        return {}
    return {i: kind for i, title in enumerate(titles) if (kind := _column_kind(title))}


def _column_kind(title: str) -> str:
    if _PASSWORD_COLUMN.match(title):
        return "password"
    return "secret" if _SECRET_COLUMN.match(title) else ""


def _cell(line: bytes, cell: Span, offset: int, kind: str) -> Iterator[Span]:
    raw = line[cell[0] : cell[1]]
    stripped = raw.strip(b" \t\r*`\"'\\")
    text = stripped.decode("utf-8", "replace")
    if not text or not text.strip("-:=") or is_placeholder(text) or " " in text:
        return
    if _CODE_CELL.match(text):
        return
    candidate = SecretCandidate(key="password", gap='="', value=text, after='"')
    is_secret = password if kind == "password" else secret
    if is_secret(candidate):
        begin = offset + cell[0] + raw.index(stripped)
        yield begin, begin + len(stripped)


def _splitter(separator: bytes) -> Split:
    """What gives the cells of a line between separators."""
    pattern = re.compile(separator)

    def cells(line: bytes) -> list[Span]:
        ends = [match.span() for match in pattern.finditer(line)]
        starts = [0, *(end for _, end in ends)]
        return [*zip(starts, [*(start for start, _ in ends), len(line)], strict=True)]

    return cells


_by_bar = _splitter(rb"\|")
_by_blanks = _splitter(rb" {2,}")
_by_comma = _splitter(rb"[,;]")
_SPLITTERS = (_by_bar, _splitter(rb"\t+"), _by_comma, _by_blanks)


def near(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """Random strings that follow a word like "API key" within a sentence or at the start of the
    next paragraph.
    """
    stop = min(len(data), match[1] + NEAR_BYTES)
    line_end = match[1]
    for _ in range(NEAR_LINES):
        line_end = data.find(b"\n", line_end + 1, stop)
        if line_end < 0:
            break
    stop = line_end if line_end >= 0 else stop
    return [
        token.span()
        for token in _TOKEN.finditer(data, max(match[1], examined), stop)
        if _is_told(data, token, match[1])
    ], stop


def _is_told(data: bytes, token: re.Match[bytes], since: int) -> bool:
    """True for a random string that is not the value of something else."""
    if _DIGEST_MARK.search(data, max(0, token.start() - 8), token.start()):
        return False
    other = _OTHER_NAME.search(data, max(since, token.start() - 48), token.start())
    if other and not _SECRET_NAME.search(other[1]):
        return False
    return (
        random_text(SecretCandidate(key="", gap="", value=token[0].decode(), after=""))
        > 0
    )


# each looks at a match and gives the secrets and the place up to which it has looked, so that none
# looks twice
DETECTORS: dict[str, Callable[[bytes, Span, int], tuple[list[Span], int]]] = {
    "table": table,
    "seed": seed_phrase,
    "near": near,
    "listed": listed,
    "wordlist": wordlist,
    "manifest": manifest,
    "inserted": inserted,
    "bare": bare,
    "told": announced_password,
    "likely": likely,
}
