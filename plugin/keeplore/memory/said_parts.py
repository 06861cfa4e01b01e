"""Which stretches of a file somebody said, and which are ids and forms of ours.

Whoever looks for secrets looks at each stretch by itself: an id is random for a good reason, and
what stands between two stretches was written by Keeplore. What does not stand exactly as Keeplore
writes it counts as said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from keeplore.memory.conversation_body import EXCHANGES, PARTS, WORK_LABELS

# keys of the front matter whose values Keeplore or a host has made
_OWN_KEYS = frozenset(
    b"schema id kind status created_at updated_at version scope project category permanent "
    b"supersedes confidence trust trigger".split()
)
_LINK_KEYS = frozenset(b"id relationship".split())
_SOURCE_KEYS = frozenset(b"host session machine commit content from of turns".split())
_NESTED = {b"related": _LINK_KEYS, b"source": _SOURCE_KEYS}
_FRONT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_LINE = re.compile(rb"[^\n]+")
_TOP_KEY = re.compile(rb"([A-Za-z_][\w-]*):")
_NESTED_KEY = re.compile(rb"(?:- |  )([A-Za-z_][\w-]*):")
_ITEM = re.compile(rb"  - ")
# of tombstones, audit lines and lists of projects; a text within a text has its quotes escaped
_JSON_IDS = re.compile(
    rb'"(?:id|at|machine|content|session|turn|conversation|target|against|from|of|commit)": ?'
    rb'"(?P<id>(?:[^"\\\n]|\\.)*)"'
    rb'|"(?:turns|blobs)": ?\[(?P<ids>(?:\s*"(?:[^"\\\n]|\\.)*",?)*)\s*\]'
    # of a project, which is also the name of its folder
    rb'|(?m:^  "name": "(?P<link>[a-z0-9][a-z0-9._-]{0,62})",?$)'
)
_EXCHANGES = re.compile(rb"^%s\r?$" % EXCHANGES.encode(), re.MULTILINE)
_MARKS = re.compile(
    rb"""^<!--\ keeplore:(?:
      turn(?:\ (?P<id>[\w:.~/+@=,%-]{1,4000}))?(?:\ [0-9TZ:.+%-]{0,40}){0,2}\ -->
      (?:\r?\n\#\#\#\ User(?:\ \xc2\xb7\ [0-9:]{5})?\r?$)?
    | (?:assistant|steps)\ -->(?:\r?\n\#\#\#\ Assistant\r?$)?
    | question\ (?P<packed>\{.*\})\ -->
    )""",
    re.VERBOSE | re.MULTILINE,
)
_BY = " — (?:user|assistant), turn (?P<id>\\S+)\r?$"
_HEADINGS = "|".join((*PARTS.values(), "Code references", "Related"))
_SESSION = (
    r"^\*\*Session context\*\*: \S+ session (?P<session>\S+)"
    r"(?: on branch (?P<branch>\S+))?(?:, began with (?P<command>.*))?$"
)
_HEAD = re.compile(
    "|".join(
        (
            rf"^- (?P<words>.*){_BY}",
            r"^- (?P<title>.*) \((?P<link>mem_[0-9a-f-]{36}), [a-z-]+\)\r?$",
            rf"^- (?:{'|'.join(WORK_LABELS)}): (?P<work>.*)$",
            rf"^## (?:{_HEADINGS})\r?$",
            r"^\*\*Date\*\*: [0-9:– -]+ UTC\r?$",
            _SESSION,
            r"^\*\*Projects involved\*\*: (?P<projects>.*)$",
        )
    ).encode(),
    re.MULTILINE,
)
_LINK = " — (?:user|assistant), (?P<link>mem_[0-9a-f-]{36})"
_DIGEST = (
    rf"^ {{0,2}}- (?:instead of: |from: )?[0-9-]{{10}} · “(?P<line>.*)”{_LINK}"
    r"(?: turn (?P<turn>\S+))?\r?$"
)
_NOTE_QUOTE = re.compile(f"^> “(?P<words>.*)”{_BY}|{_DIGEST}".encode(), re.MULTILINE)

_TEXT = rb'"(?:[^"\\\n]|\\.)*"'
# an item of a key-value store, as the last block of its note
_STORED = re.compile(
    rb'^```json\n\{"namespace": \[(?P<labels>[^\]\n]*)\], "key": (?P<name>%s), '
    rb'"value": (?P<value>\{.*\}), "since": "[0-9TZ:.+-]*"\}\n```$' % _TEXT,
    re.MULTILINE,
)
_MEMBER = re.compile(_TEXT + rb"(?:: " + _TEXT + rb")?")


class PartKind(StrEnum):
    WORDS = "words"
    ID = "id"
    QUESTION = "question"  # a question with its answer, as a mark holds them


_KINDS: Mapping[str, PartKind] = {
    "id": PartKind.ID,
    "ids": PartKind.ID,
    "link": PartKind.ID,
    "turn": PartKind.ID,
    "session": PartKind.ID,
    "packed": PartKind.QUESTION,
}


@dataclass(frozen=True, slots=True)
class SaidPart:
    """``start`` and ``end`` are bytes of the text."""

    start: int
    end: int
    kind: PartKind


def of_file(data: bytes) -> Iterator[SaidPart]:
    """The parts of any file of a workspace, in order."""
    if data.startswith(b"{"):
        yield from _parts_between(data, 0, len(data), _JSON_IDS)
        return
    front = _FRONT.match(data)
    if front:
        yield from _front_matter_parts(data, *front.span(1))
    yield from of_body(data, front.end() if front else 0)


def of_body(data: bytes, start: int = 0) -> Iterator[SaidPart]:
    """The parts of the text below a front matter, which begins at ``start``."""
    exchanges = _EXCHANGES.search(data, start)
    if exchanges is None:
        yield from _note_parts(data, start)
        return
    yield from _parts_between(data, start, exchanges.start(), _HEAD)
    yield from _parts_between(data, exchanges.end(), len(data), _MARKS)


def _note_parts(data: bytes, start: int) -> Iterator[SaidPart]:
    """Each field of a stored value as a part, together with its name."""
    for stored in _STORED.finditer(data, start):
        yield from _parts_between(data, start, stored.start(), _NOTE_QUOTE)
        for name in ("labels", "name"):
            yield SaidPart(*stored.span(name), PartKind.ID)
        for member in _MEMBER.finditer(data, *stored.span("value")):
            yield SaidPart(*member.span(), PartKind.WORDS)
        start = stored.end()
    yield from _parts_between(data, start, len(data), _NOTE_QUOTE)


def is_own(key: str, within: str = "") -> bool:
    """Is the value of a key of the front matter, or of a mapping ``within`` it, an id or a word of
    ours?
    """
    keys = _NESTED.get(within.encode(), frozenset()) if within else _OWN_KEYS
    return key.encode() in keys


def _parts_between(
    data: bytes, start: int, end: int, forms: re.Pattern[bytes]
) -> Iterator[SaidPart]:
    """What a form holds, and as words what stands between the forms."""
    position = start
    for form in forms.finditer(data, start, end):
        yield from _words_part(data, position, form.start())
        for name in form.groupdict():
            if form.start(name) >= 0:
                yield SaidPart(*form.span(name), _KINDS.get(name, PartKind.WORDS))
        position = form.end()
    yield from _words_part(data, position, end)


def _words_part(data: bytes, start: int, end: int) -> Iterator[SaidPart]:
    if data[start:end].strip():
        yield SaidPart(start, end, PartKind.WORDS)


def _front_matter_parts(data: bytes, start: int, end: int) -> Iterator[SaidPart]:
    """The values of our keys are ids; the lines of any other key are one part, and those of a
    mapping of ours one each.
    """
    top = nested = b""
    open_part: list[int] = []  # where the lines of a key begin and end
    for line in _LINE.finditer(data, start, end):
        if key := _TOP_KEY.match(line[0]):
            top, nested = key[1], b""
        elif top in _NESTED:
            key = _NESTED_KEY.match(line[0])
            nested = key[1] if key else nested
        is_id = top in _OWN_KEYS or (
            nested in _NESTED.get(top, ()) and (key or _ITEM.match(line[0]))
        )
        continues = open_part and not key and not is_id and top not in _NESTED
        if open_part and not continues:
            yield SaidPart(open_part[0], open_part[1], PartKind.WORDS)
            open_part = []
        if is_id:
            value_start = line.start() + (key.end() if key else 0)
            yield SaidPart(value_start, line.end(), PartKind.ID)
        else:
            open_part = [open_part[0] if open_part else line.start(), line.end()]
    if open_part:
        yield SaidPart(open_part[0], open_part[1], PartKind.WORDS)
