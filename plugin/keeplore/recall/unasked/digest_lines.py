"""Lines of a brief that one digest stands for, told as one."""

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
    about,
    quote_item,
    speaker_of,
)

JOINED_CHARS = 1_000  # of one line with several quotations


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


def joined_lines(
    told: Sequence[QuotedLine | BlockLine],
    index: Index,
    is_told: Callable[[MemoryRow], bool],
) -> list[BlockLine]:
    """The same with the quotations of one digest and speaker as one line, where the first of them
    stands; what was replaced, or names files, stays apart.
    """
    groups: dict[tuple[str, str], list[QuotedLine]] = {}
    keys: list[tuple[str, str]] = []
    for number, item in enumerate(told):
        key = ("", str(number))
        if isinstance(item, QuotedLine):
            digest = _digest_of(item.read.row.id, index, is_told)
            if digest and not item.later and item.line.named is None:
                key = (digest, speaker_of(item.read, item.quote))
                groups.setdefault(key, []).append(item)
        keys.append(key)
    lines = []
    for key, item in zip(keys, told, strict=True):
        group = groups.pop(key, []) if len(groups.get(key, ())) > 1 else []
        if group:
            lines.append(_line(key, group))
        elif not key[0] or key in groups:
            lines.append(item.line if isinstance(item, QuotedLine) else item)
    return lines


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


def _line(key: tuple[str, str], group: Sequence[QuotedLine]) -> BlockLine:
    digest, speaker = key
    newest = max((item.read for item in group), key=lambda read: read.row.updated_at)
    said: list[str] = []
    shown: dict[str, None] = {}
    for item in group:
        words = quoted(item.quote.text, QUOTE_CHARS)
        if words not in said and sum(map(len, said)) + len(words) <= JOINED_CHARS:
            said.append(words)
            shown[item.read.row.id] = None
    first, *others = shown
    text = f"{about(newest)} · {' · '.join(said)} ({speaker}; {reference(digest)})"
    return BlockLine(text, first, also=tuple(others))
