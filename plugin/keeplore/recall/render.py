"""How recalled text is written into a host's context: each item on one line, with its age, place,
source and trust.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from keeplore.client import brief_on_disk as disk
from keeplore.recall.request import LaterStatement, RecallHit, lines_with_turns
from keeplore.text.agent_scope import short_place
from keeplore.text.dates import day_of, minute_of
from keeplore.text.fences import (
    ESCAPED,
    HEADER,
    TOKEN_BYTES,
    escape,
    fence,
    new_token,
    sanitise,
)
from keeplore.text.query_terms import token_count
from keeplore.text.turn_ids import shown_turn

if TYPE_CHECKING:
    # heavy for a command that shows what a worker found
    from keeplore.recall.since.named_files import Freshness, NamedFiles

_SAID_BY = {
    "user": "said by the user",
    "assistant": "concluded by the assistant",
    "tool": "from the output of a tool, unverified",
    "document": "from a document, unverified",
    "foreign": "from another person's machine, unverified",
}
SUSPECT = "worded like an instruction, which nobody here gave"
MORE = "More: `keeplore show ID [--turn TURN]`, `keeplore recall QUESTION`."
MORE_OF_IDS = "More: `keeplore show ID`, `keeplore recall QUESTION`."  # without turns
TITLE_CHARS = 100
PATH_CHARS = 200
LATER_CHARS = 260
SHORT_ID = slice(4, 12)  # the digits that a file's name ends with
_COSTLIEST = "0a" * TOKEN_BYTES  # of all delimiters the one with the most tokens
_QUOTES = str.maketrans("“”„‟", '""""')  # ours: text must not end its own quotation
_IMAGE = re.compile(
    r"!(?=\[)"
)  # an agent that repeats an image has it fetched by whoever reads the answer
_NO_LABEL = re.compile(r"[^\w.:-]+")

TellFreshness = Callable[["Freshness"], str]


class ContextBlock(NamedTuple):
    """A block for a host, and the ids of the memories that it shows."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextBudget:
    """How long a block may be."""

    tokens: float
    size: int  # bytes of UTF-8

    def without(self, text: str) -> TextBudget:
        """What is left beside a line of text."""
        return TextBudget(
            self.tokens - token_count(text), self.size - len(text.encode()) - 1
        )

    def and_for(self, text: str) -> TextBudget:
        """What is left where a line for which room was kept is not written."""
        return TextBudget(
            self.tokens + token_count(text), self.size + len(text.encode()) + 1
        )

    @property
    def is_left(self) -> bool:
        return self.tokens >= 0 and self.size >= 0


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of a block; ``id`` is the memory that counts as shown by it, "" where the line only
    points to one, ``also`` are further ones; ``named`` the files that it names.
    """

    text: str
    id: str = ""
    named: NamedFiles | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockSection:
    heading: str  # "" for none
    items: Sequence[BlockLine]
    total: int = 0  # how many there are in all, where that is told
    rest: str = ""  # the line that tells how many are not shown, with {} for the number


def one_line(text: str, limit: int) -> str:
    """The text on one line, sanitised and escaped, cut between words where it is longer than
    ``limit``.
    """
    folded = escape(_IMAGE.sub("", " ".join(sanitise(text).split())))
    if len(folded) <= limit:
        return folded
    # white space may be missing altogether
    return f"{folded[: limit - 1].rsplit(' ', 1)[0].rstrip()}…"


def marked_lines(hit: RecallHit) -> list[tuple[str, str]]:
    """The lines of a hit, each with its mark, and with the end of the turn that it is from where
    that is not the hit's own: "user, decided, turn 4d3f1491".
    """
    return [
        (line, _mark(own, turn if turn != hit.turn else ""))
        for line, turn, own in _placed_lines(hit)
    ]


def lines_by_turn(hit: RecallHit) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Of a hit that is told from first to last each exchange, as "2026-02-09 11:08, turn 4d3f1491",
    with its lines and their marks.
    """
    placed = zip(_placed_lines(hit), hit.times, strict=True)
    for (turn, at), lines in groupby(placed, key=lambda one: (one[0][1], one[1])):
        place = _mark("", turn)
        yield (
            f"{one_line(minute_of(at), TITLE_CHARS)}, {place}",
            [(line, own) for (line, _, own), _ in lines],
        )


def _placed_lines(hit: RecallHit) -> Iterator[tuple[str, str, str]]:
    """Each line of a hit with its turn and its own mark."""
    said = lines_with_turns(hit.passage, hit.turns, hit.turn)
    marks = hit.marks or [""] * len(said)
    for (line, turn), mark in zip(said, marks, strict=True):
        yield line, turn, mark


def _mark(own: str, turn: str) -> str:
    place = f"turn {shown_turn(label(turn))}" if turn else ""
    return ", ".join(filter(None, (own, place)))


def quoted_passage(hit: RecallHit, limit: int) -> str:
    """The words of a hit on one line, with their marks."""
    return quoted_lines(marked_lines(hit), limit)


def quoted_lines(lines: Iterable[tuple[str, str]], limit: int) -> str:
    """Lines with their marks on one line, those with the same mark together."""
    said = [
        (" ".join(line for line, _ in marked), mark)
        for mark, marked in groupby(lines, key=itemgetter(1))
    ]
    return " ".join(
        f"{quoted(words, limit)}{f' ({mark})' if mark else ''}" for words, mark in said
    )


def source_label(trust: str, kind: str = "note") -> str:
    """Whose words a memory has, such as "from the assistant"; a conversation has those of both
    sides.
    """
    if kind == "conversation" and trust == "assistant":
        return "from a conversation"
    return _SAID_BY[trust]


def quoted(text: str, limit: int) -> str:
    return f"“{one_line(text.translate(_QUOTES), limit)}”"


def label(text: str) -> str:
    """A category, a project or a date as one word: front matter is anyone's, and must not look like
    our own line.
    """
    return _NO_LABEL.sub("-", one_line(text, TITLE_CHARS))


def place(scope: str, project: str) -> str:
    return label(short_place(scope, project)) if project else f"{label(scope)} scope"


def since_then(changed: Sequence[str], gone: Sequence[str]) -> str:
    """What became of the files that a memory speaks of, "" where they are as they were."""
    return disk.since_then([*map(shown_name, changed)], [*map(shown_name, gone)])


def shown_name(file: str) -> str:
    return one_line(file, PATH_CHARS)


def freshness_line(state: Freshness) -> str:
    """What a line ends with whose files changed, "" where they are as they were."""
    return disk.line_end(since_then(state.changed, state.gone))


def later_line(later: LaterStatement) -> str:
    """What a line ends with in whose place something was said later."""
    said = quoted(later.text, LATER_CHARS)
    return f"later: {said} ({label(day_of(later.at))}, {reference(later.memory_id, later.turn)})"


def reference(memory_id: str, turn: str = "") -> str:
    """What `keeplore show` takes."""
    return f"{label(memory_id)[SHORT_ID]}{f' turn {shown_turn(label(turn))}' if turn else ''}"


def block(
    sections: Iterable[BlockSection],
    room: TextBudget,
    header: str = HEADER,
    more: str = MORE,
) -> ContextBlock:
    """The fenced block with as many items as fit, in order, and the ids that it shows; ("", ()) for
    none.
    """
    room = room.without(fence(more, _COSTLIEST, f"{header}{ESCAPED}")).without("")
    lines: list[str] = []
    ids: dict[str, None] = {}  # each once
    for section in sections:
        rest = f"- {section.rest.format(section.total)}" if section.total else ""
        room = room.without(rest) if rest else room
        heading = [section.heading] if section.heading else []
        if heading and lines:
            heading = ["", *heading]
        count = 0
        for item in section.items:
            added = [*heading, f"- {item.text}"]
            left = functools.reduce(TextBudget.without, added, room)
            if left.is_left:
                room, heading = left, []
                lines += added
                count += 1
                ids |= dict.fromkeys(filter(None, (item.id, *item.also)))
        if rest and 0 < count < section.total:
            lines.append(f"- {section.rest.format(section.total - count)}")
        elif rest:
            room = room.and_for(rest)
    if not lines:
        return ContextBlock("", ())
    text = fence("\n".join([*lines, "", more]), new_token(), header)
    return ContextBlock(text, tuple(ids))
