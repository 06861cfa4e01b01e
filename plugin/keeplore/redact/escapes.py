"""Text that was escaped, coloured or broken over lines to be put into other text, read as what it
says, with the way back to where it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

# a run of backslashes; beginning with the character itself, re skips to the next one at the speed
# of a plain search
_BACKSLASHES = rb"\\(?<!\\\\)\\*"
_LINE_ENDS = re.compile(_BACKSLASHES + rb"[nrt]")
# what begins the next line in logs, listings, diffs and comments
LINE_START = (
    rb"(?:\+|[ \t]*(?:[\d\[][^\n\"'`]{0,48}[:\]|>Z][ \t]|\w{1,24}[ ]*\||[#>|*]))?[ \t]*"
)
# a shell's line that goes on below; in JSON the backslash is written twice, the line's end once
_CONTINUED = re.compile(rb"\\(?<!\\\\)(?:\\\\)*[ ]{0,16}\r?\n" + LINE_START)
_CHANGED = re.compile(
    rb"\x1b\[[0-9;]{0,12}[mK]"
    rb"|" + _BACKSLASHES + rb"(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,12}[mK]"
    rb"|" + _BACKSLASHES + rb"u([0-9a-fA-F]{4})(?:\\+u([dD][c-fC-F][0-9a-fA-F]{2}))?"
)
_SURROGATES = range(0xD800, 0xE000)
_TOKEN = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~"
)


@dataclass(frozen=True, slots=True)
class DecodedText:
    """What a text says, and for a place in ``said`` the place in the text itself."""

    said: bytes
    # of each change: where it ends in `said`, and how much more the text itself has by then
    _ends: list[int] = field(default_factory=lambda: [0])
    _shifts: list[int] = field(default_factory=lambda: [0])
    _removed: dict[int, int] = field(default_factory=dict)  # end → start, in the text

    def begin(self, place: int) -> int:
        """The place in the text of what begins at ``place``: after anything that was removed just
        before it.
        """
        return place + self._shifts[bisect_right(self._ends, place) - 1]

    def end(self, place: int) -> int:
        """The place in the text of what ends at ``place``: before anything that was removed just
        after it.
        """
        place = self.begin(place)
        while place in self._removed:
            place = self._removed[place]
        return place


Change = tuple[int, int, bytes]  # from, to, what stands there instead


def with_changes(data: bytes, changes: Iterable[Change]) -> DecodedText:
    """The data with these changes, which are in order and do not overlap."""
    pieces: list[bytes] = []
    ends, shifts, removed = [0], [0], {}
    position = size = 0
    for start, end, said in changes:
        pieces += [data[position:start], said]
        size += start - position + len(said)
        position = end
        ends.append(size)
        shifts.append(position - size)
        if not said:
            removed[end] = start
    pieces.append(data[position:])
    return DecodedText(b"".join(pieces), ends, shifts, removed)


def readable(data: bytes) -> DecodedText:
    """The text with escapes decoded, colours removed, and lines that are continued below joined
    into one.

    In text out of JSON a name or a token may follow ``\n`` directly, which no word boundary would
    see, and a word of another language may be nothing but ``\u043f``.
    """
    if b"\\" not in data and b"\x1b" not in data:
        return DecodedText(data)
    data = _LINE_ENDS.sub(_line_end, data)
    changes = [*_continuations(data), *_escapes(data)]
    return with_changes(data, sorted(changes)) if changes else DecodedText(data)


def _line_end(escape: re.Match[bytes]) -> bytes:
    """An escaped line end as a real one, filled with blanks to as many bytes, so that no place
    moves. Three backslashes for each one of a deeper text are one that stands before the line's
    end.
    """
    last = b"\n" if escape[0].endswith(b"n") else b" "
    count = len(escape[0]) - 1
    is_continued = last == b"\n" and count % 3 == 0 and (count // 3).bit_count() == 1
    return b"\\" * is_continued + b" " * (count - is_continued) + last


def _continuations(data: bytes) -> Iterable[Change]:
    """Lines that go on below: within a word the two are put together, else a space stands
    between.
    """
    for match in _CONTINUED.finditer(data):
        start, end = match.span()
        is_word = start > 0 and end < len(data)
        is_word = is_word and data[start - 1] in _TOKEN and data[end] in _TOKEN
        yield start, end, b"" if is_word else b" "


def _escapes(data: bytes) -> Iterable[Change]:
    for match in _CHANGED.finditer(data):
        if match[1] is None:
            yield *match.span(), b""
        elif character := _character(match):
            yield *match.span(), character


def _character(escape: re.Match[bytes]) -> bytes:
    """The character that an escape stands for, in UTF-8; ``b""`` for half a character and for one
    that cannot be written.
    """
    code = int(escape[1], 16)
    if escape[2] is not None:
        low = int(escape[2], 16)
        if code not in range(0xD800, 0xDC00):
            return b""
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
    return chr(code).encode() if code not in _SURROGATES and code >= 32 else b""
