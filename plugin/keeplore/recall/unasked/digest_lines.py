"""Lines of a brief that one digest stands for, or of one conversation, told as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keeplore.index import Index, MemoryRow
from keeplore.memory import Quote
from keeplore.memory.digest import KIND
from keeplore.recall.render import BlockLine, label, quoted, reference, whose
from keeplore.recall.unasked.memory_lines import (
    QUOTE_CHARS,
    LoadedMemory,
    about,
    note_item,
    quote_item,
    speaker_of,
    stated_in,
)

JOINED_CHARS = 600  # of one line with several quotations


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A quotation of a conversation, and the line that it is by itself."""

    read: LoadedMemory
    quote: Quote

    @property
    def line(self) -> BlockLine:
        return quote_item(self.read, self.quote)

    @property
    def later(self) -> str:
        return self.read.later(self.quote.text, self.quote.turn)

    @property
    def talk(self) -> str:
        """The conversation in which it was said."""
        return self.read.row.id

    @property
    def shared(self) -> tuple[str, str]:
        """What all words of a joined line have in common: their kind, and whose they are."""
        return "", speaker_of(self.read, self.quote)

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
    def shared(self) -> tuple[str, str]:
        row = self.read.row
        return f" · {label(row.category or row.kind)}", whose(row.trust)

    @property
    def words(self) -> str:
        said = quoted(stated_in(self.read.memory), QUOTE_CHARS)
        return f"{said} {reference(self.read.row.id)}"


Joinable = QuotedLine | NotedLine
_Key = tuple[str, tuple[str, str]]  # digest or conversation, and what is shared


def joined_lines(
    told: Sequence[Joinable], index: Index, is_told: Callable[[MemoryRow], bool]
) -> list[BlockLine]:
    """Each as a line; the words of one digest or else conversation, of one kind and speaker, as
    one, where the first of them stand. What was replaced, or names files, stays apart.
    """
    keys = [_key_of(item, index, is_told) for item in told]
    groups: dict[_Key | None, list[Joinable]] = {}
    for key, item in zip(keys, told, strict=True):
        groups.setdefault(key, []).append(item)
    lines = []
    for key, item in zip(keys, told, strict=True):
        if key is None or len(groups[key]) == 1:
            lines.append(item.line)
        elif item is groups[key][0]:
            lines.append(_line(key, groups[key]))
    return lines


def _key_of(
    item: Joinable, index: Index, is_told: Callable[[MemoryRow], bool]
) -> _Key | None:
    """By which lines are joined, None for one that stays apart."""
    whole = _digest_of(item.talk, index, is_told) or item.talk
    is_apart = not whole or item.later or item.line.named is not None
    return None if is_apart else (whole, item.shared)


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


def _line(key: _Key, group: Sequence[Joinable]) -> BlockLine:
    whole, (kind, said_by) = key
    newest = max((item.read for item in group), key=lambda read: read.row.updated_at)
    said: list[str] = []
    shown: dict[str, None] = {}
    for item in group:
        if (
            item.words not in said
            and sum(map(len, said)) + len(item.words) <= JOINED_CHARS
        ):
            said.append(item.words)
            shown[item.read.row.id] = None
    first, *others = shown
    text = f"{about(newest)}{kind} · {' · '.join(said)} ({said_by}; {reference(whole)})"
    return BlockLine(text, first, also=tuple(others))
