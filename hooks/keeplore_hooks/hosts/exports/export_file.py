"""The file of an export, as it is given or inside its zip: where each conversation lies, so that
one is read at a time.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from keeplore_hooks.hosts.jsonl import Json, open_regular

MAX_BYTES = 512 << 20  # of all conversations together
MAX_CONVERSATION = 64 << 20  # bytes of one
MAX_RATIO = 200  # bytes for each packed one; text packs to a tenth
_PIECE = 1 << 20
_NAMES = re.compile(r"conversations[\w-]{0,20}\.json")
# a text that has no end goes to the end of the file, so that nothing is looked at twice
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{}]', re.DOTALL)
_SPACE = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ConversationSpan:
    """The bytes of a conversation within its file."""

    data: bytes
    start: int
    end: int

    @property
    def raw(self) -> bytes:
        return self.data[self.start : self.end]

    def load(self) -> Json:
        """The conversation as an object. Raises ValueError for what is no JSON object, or too much
        of one.
        """
        if self.end - self.start > MAX_CONVERSATION:
            raise ValueError(f"larger than {MAX_CONVERSATION >> 20} MB")
        try:
            found = json.loads(self.raw)
        except RecursionError as e:
            raise ValueError("nested too deeply") from e
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
        return found


def conversations_in(path: Path) -> Iterator[ConversationSpan]:
    """The conversations of a file, a zip, or a folder that holds ``conversations.json``. Raises
    OSError or ValueError.
    """
    for data in _files(path):
        yield from _elements(data)


def _files(path: Path) -> Iterator[bytes]:
    if path.is_dir():
        names = sorted(file for file in path.iterdir() if _NAMES.fullmatch(file.name))
        if not names:
            raise ValueError("no conversations.json is in that folder")
        for name in names:
            yield from _files(name)
        return
    with open_regular(path) as file:
        if path.suffix.lower() == ".zip":
            yield from _unpack(file)
        else:
            yield _read_limited(file, MAX_BYTES)


def _unpack(file: BinaryIO) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(file) as packed:
            members = [
                entry
                for entry in packed.infolist()
                if _NAMES.fullmatch(entry.filename.rpartition("/")[2])
            ]
            if not members:
                raise ValueError("no conversations.json is in that zip")
            left = MAX_BYTES
            for member in sorted(members, key=lambda member: member.filename):
                limit = min(left, max(member.compress_size * MAX_RATIO, _PIECE))
                with packed.open(member) as part:
                    data = _read_limited(part, limit)
                left -= len(data)
                yield data
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as e:
        # RuntimeError: a password is needed, or packed in a way that nobody knows here
        raise ValueError(f"the zip cannot be read: {e}") from e


def _read_limited(file: IO[bytes], limit: int) -> bytes:
    # at once: put together from pieces it would take twice the memory
    data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it holds more than {limit >> 20} MB, which is refused")
    return data


def _elements(data: bytes) -> Iterator[ConversationSpan]:
    """The objects of a JSON list, found without reading them."""
    if data.lstrip(_SPACE)[:1] != b"[":
        raise ValueError("it is no list of conversations")
    depth = start = 0
    for token in _TOKEN.finditer(data):
        mark = token[0][:1]
        if mark in b"[{":
            depth += 1
            if depth == 2:
                start = token.start()
        elif mark in b"]}":
            depth -= 1
            if depth == 1:
                yield ConversationSpan(data, start, token.end())
            if depth == 0:
                return
    raise ValueError("it breaks off: the list of conversations has no end")
