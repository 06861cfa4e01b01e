"""Text that was escaped to be put into other text, read as what it says, with the way back to where
it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

# a run of backslashes; beginning with the character itself, re skips to the next one at the speed
# of a plain search
_BACKSLASHES = rb"\\(?<!\\\\)\\*"
_LINE_ENDS = re.compile(_BACKSLASHES + rb"[nrt]")
_UNICODE = re.compile(
    _BACKSLASHES + rb"u([0-9a-fA-F]{4})(?:\\+u([dD][c-fC-F][0-9a-fA-F]{2}))?"
)
_SURROGATES = range(0xD800, 0xE000)


def readable(data: bytes) -> tuple[bytes, Callable[[int], int]]:
    """The text with escapes put as what they stand for, and for a place in it the place in
    ``data``.

    In text out of JSON a name or a token may follow ``\\n`` directly, which no word boundary would
    see, and a word of another language may be nothing but ``\\u043f``.
    """
    if b"\\" not in data:
        return data, _same
    data = _LINE_ENDS.sub(_blank, data)
    return _decoded(data) if b"\\u" in data else (data, _same)


def _same(place: int) -> int:
    return place


def _blank(escape: re.Match[bytes]) -> bytes:
    """As many bytes, so that no place moves."""
    return b" " * (len(escape[0]) - 1) + (b"\n" if escape[0].endswith(b"n") else b" ")


def _decoded(data: bytes) -> tuple[bytes, Callable[[int], int]]:
    pieces: list[bytes] = []
    # of each escape: where its character ends in the result, and how much more data has by then
    ends, shifts = [0], [0]
    position = size = 0
    for escape in _UNICODE.finditer(data):
        character = _character(escape)
        if not character:
            continue
        pieces += [data[position : escape.start()], character]
        size += escape.start() - position + len(character)
        position = escape.end()
        ends.append(size)
        shifts.append(position - size)
    pieces.append(data[position:])
    return b"".join(pieces), lambda place: place + shifts[bisect_right(ends, place) - 1]


def _character(escape: re.Match[bytes]) -> bytes:
    """What an escape says in UTF-8, ``b""`` where that is half a character or none that can be
    written.
    """
    code = int(escape[1], 16)
    if escape[2] is not None:
        low = int(escape[2], 16)
        if code not in range(0xD800, 0xDC00):
            return b""
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
    return chr(code).encode() if code not in _SURROGATES and code >= 32 else b""
