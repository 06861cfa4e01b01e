"""Lines of a brief that one digest stands for, or of one conversation, told as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keeplore.index import Index, MemoryRow
from keeplore.memory import Quote
from keeplore.memory.digest import KIND
from keeplore.recall.render import BlockLine, quoted, reference
from keeplore.recall.unasked.memory_lines import (
    QUOTE_CHARS,
    LoadedMemory,
    date_and_place,
    kind_of,
    note_item,
    quote_item,
    speaker_of,
    stated_in,
    writer_of,
)

JOINED_CHARS = 600  # of one line with several quotations


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A quotation of a conversation, and the line that it is by itself."""

    read: LoadedMemory
    quote: Quote

    @property
    def line(self) -> BlockLine:
        return quote_item(self.read, self.quote, has_turn=False)

    @property
    def later(self) -> str:
        return self.read.later(self.quote.text, self.quote.turn)

    @property
    def talk(self) -> str:
        """The conversation in which it was said."""
        return self.read.row.id

    @property
    def kind(self) -> str:
        """What a line says of what all its words are."""
        return ""

    @property
    def said_by(self) -> str:
        return speaker_of(self.read, self.quote)

    @property
    def words(self) -> str:
        return quoted(self.quote.text, QUOTE_CHARS)


@dataclass(frozen=True, slots=True)
class NotedLine:
    """A note, and the line that it is by itself."""

    read: LoadedMemory

    @property
    def line(self) -> BlockLine:
        return note_item(self.read)

    @property
    def later(self) -> str:
        return self.read.later(stated_in(self.read.memory))

    @property
    def talk(self) -> str:
        return str(self.read.memory.source.get("from", ""))

    @property
    def kind(self) -> str:
        return kind_of(self.read)

    @property
    def said_by(self) -> str:
        return writer_of(self.read)

    @property
    def words(self) -> str:
        return quoted(stated_in(self.read.memory), QUOTE_CHARS)


Joinable = QuotedLine | NotedLine
_Key = tuple[str, str]  # digest or conversation, and kind


def joined_lines(
    items: Sequence[Joinable], index: Index, is_told: Callable[[MemoryRow], bool]
) -> list[BlockLine]:
    """The items as lines, those of one digest or one conversation joined to one line, in the place
    of the first; what was replaced, or names files, keeps a line of its own.
    """
    keys = [_key_of(item, index, is_told) for item in items]
    groups: dict[_Key | None, list[Joinable]] = {}
    for key, item in zip(keys, items, strict=True):
        groups.setdefault(key, []).append(item)
    lines = []
    for key, item in zip(keys, items, strict=True):
        if key is None or len(groups[key]) == 1:
            lines.append(item.line)
        elif item is groups[key][0]:
            lines.append(_joined_line(key, groups[key]))
    return lines


def _key_of(
    item: Joinable, index: Index, is_told: Callable[[MemoryRow], bool]
) -> _Key | None:
    """What lines are joined by, None for one that stays apart."""
    whole = _digest_of(item.talk, index, is_told) or item.talk
    is_apart = not whole or item.later or item.line.named is not None
    return None if is_apart else (whole, item.kind)


def _digest_of(
    memory_id: str, index: Index, is_told: Callable[[MemoryRow], bool]
) -> str:
    """The digest that holds the words of a memory, "" for none that may be told."""
    rows = index.memories([id_ for _, id_ in index.linking(memory_id)])
    digests = (
        row.id
        for row in rows.values()
        if row.kind == KIND and not row.is_archived and is_told(row)
    )
    return min(digests, default="")


def _joined_line(key: _Key, group: Sequence[Joinable]) -> BlockLine:
    """The words of a group as one line, each speaker's together, as many as there is room for."""
    whole, kind = key
    newest = max((item.read for item in group), key=lambda read: read.row.updated_at)
    said: dict[str, list[str]] = {}  # by whom
    shown: dict[str, None] = {}
    room = JOINED_CHARS
    for item in group:
        words = said.setdefault(item.said_by, [])
        if item.words not in words and len(item.words) <= room:
            words.append(item.words)
            room -= len(item.words)
            shown[item.read.row.id] = None
    quotations = [f"{' · '.join(words)} ({by})" for by, words in said.items() if words]
    spoken = " · ".join(quotations).removesuffix(")")  # the reference stands in there
    text = f"{date_and_place(newest)}{kind} · {spoken}; {reference(whole)})"
    first, *others = shown
    return BlockLine(text, first, also=tuple(others))
