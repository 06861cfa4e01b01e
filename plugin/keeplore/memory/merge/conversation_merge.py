"""Two versions of a conversation's body as one, exchange by exchange: lines of two exchanges are
never mixed.

Other than text that people write, a conversation is a record: what one side alone has was said, and
stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from keeplore.memory.conversation_body import (
    EXCHANGES,
    PARTS,
    Conversation,
    Exchange,
    exchange_lines,
)
from keeplore.memory.merge.line_merge import LineMerge, merge_by_lines, merge_lists

_TURN = re.compile(r"^(?=<!-- keeplore:turn )", re.MULTILINE)
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)
_DATE = re.compile(r"^\*\*Date\*\*: .*\n?", re.MULTILINE)
_ORDER = [
    f"## {heading}" for heading in (*PARTS.values(), "Code references", "Related")
]

_PLACES = {"": -1, **{heading: place for place, heading in enumerate(_ORDER)}}
_PLACES[EXCHANGES] = len(_ORDER) + 1

# by what a block begins with, and which of those that begin so it is
Blocks = Mapping[tuple[str, int], str]


def merge_conversations(
    base: str | None, loser: str, winner: str, *, is_derived: bool = False
) -> LineMerge:
    """Merge two bodies; an exchange is known by its turn, and those of both sides stand in the
    order of their times.

    ``is_derived``: what the loser has above the exchanges was made from them, and gives way without
    a clash.
    """
    top, one = _head_and_exchanges(loser)
    other_top, other = _head_and_exchanges(winner)
    base_top, before = _head_and_exchanges(base or "")
    head = _merged_head(base_top if base is not None else None, top, other_top)
    blocks, is_clash = _exchanges(before, one, other)
    parts = "".join(f"{part.rstrip()}\n\n" for part in (head.text, *blocks))
    is_clash = is_clash or (head.is_clash and not is_derived)
    return LineMerge(_dated(parts.rstrip() + "\n"), is_clash)


def _head_and_exchanges(body: str) -> tuple[str, Blocks]:
    """What stands above the exchanges, and the exchanges."""
    head, *exchanges = _TURN.split(body.replace("\r\n", "\n"))
    return head, _by_turn(exchanges)


def _merged_head(base: str | None, loser: str, winner: str) -> LineMerge:
    """What stands above the exchanges, without the date, which follows from them: lists as such,
    all else by lines.
    """
    was = {} if base is None else _by_heading(base)
    mine, theirs = _by_heading(loser), _by_heading(winner)
    text, is_clash = "", False
    for key in sorted({**theirs, **mine}, key=_part_order):
        sections = [side.get(key, "") for side in (was, mine, theirs)]
        listed, rest = _section(*sections, has_base=base is not None)
        is_clash = is_clash or rest.is_clash
        if key not in was or (key in mine and key in theirs) or listed:
            text += _paragraphs(key[0], listed, rest.text)
    return LineMerge(text, is_clash)


def _paragraphs(*parts: str) -> str:
    """The parts that are not empty, with an empty line after each."""
    return "\n\n".join(filter(None, (part.strip("\n") for part in parts))) + "\n\n"


def _section(
    was: str, mine: str, theirs: str, *, has_base: bool
) -> tuple[str, LineMerge]:
    """The list of a section, and its other lines."""
    lists, rests = zip(*map(_items, (was, mine, theirs)), strict=True)
    rest = merge_by_lines(rests[0] if has_base else None, *rests[1:])
    return "".join(merge_lists(*lists)), rest


def _exchanges(base: Blocks, one: Blocks, other: Blocks) -> tuple[list[str], bool]:
    """The exchanges of both sides in the order of their times, and whether one clashes."""
    joined: list[str] = []
    is_clash = False
    for key in dict.fromkeys((*other, *one)):
        was, mine, theirs = base.get(key), one.get(key), other.get(key)
        if mine is not None and theirs is not None:
            result = _merged_exchange(was, mine, theirs)
            joined.append(result.text)
            is_clash = is_clash or result.is_clash
            continue
        kept = theirs if mine is None else mine
        # one that a side removed stays away unless the other changed it
        if kept and kept != was:
            joined.append(kept)
    return _in_time(joined), is_clash


def _merged_exchange(was: str | None, one: str, other: str) -> LineMerge:
    """The merged exchange; where both sides only heard more of it, the longer says what the other
    does.
    """
    result = merge_by_lines(was, one, other)
    if was is not None and result.is_clash:
        result = _joined_unfolded(was, one, other) or result
    grown = _longer_exchange(one, other) if was is None or result.is_clash else None
    return grown or result


def _joined_unfolded(was: str, one: str, other: str) -> LineMerge | None:
    """The exchange merged with every reply in a block of its own: where a reply follows, the one
    before may have become an item of a list. None where that clashes too, or would lose a line.
    """
    texts = (was, one, other)
    exchanges = [found for text in texts if (found := _exchange(text))]
    plain = ["\n".join(exchange_lines(found, folds=False)) for found in exchanges]
    if len(plain) < len(texts) or not all(map(_says_all, plain, texts)):
        return None
    result = merge_by_lines(*plain)
    merged = _exchange(result.text)
    if result.is_clash or merged is None:
        return None
    return LineMerge("\n".join(exchange_lines(merged)), is_clash=False)


def _says_all(text: str, other: str) -> bool:
    """Does a text have each line of the other one?"""
    return _content_lines(other.split("\n")) <= _content_lines(text.split("\n"))


def _longer_exchange(one: str, other: str) -> LineMerge | None:
    """An exchange of which one side heard more; the first line has the time of its end."""
    short, long = sorted(
        (one, other), key=lambda text: (_reply_count(text), len(text), text)
    )
    lines, more = (text.rstrip().split("\n")[1:] for text in (short, long))
    is_longer = len(short) < len(long) and more[: len(lines)] == lines
    # a step is written as an item of a list
    is_kept = _content_lines(lines) <= _content_lines(more)
    if is_longer or (is_kept and _goes_on(_exchange(short), _exchange(long))):
        return LineMerge(long, is_clash=False)
    return None


def _content_lines(lines: Iterable[str]) -> set[str]:
    """The lines of an exchange without its marks and headings."""
    return {
        line.removeprefix("- ")
        for line in lines
        if not line.startswith(("<!-- keeplore:", "### "))
    }


def _reply_count(text: str) -> int:
    """How many replies an exchange has."""
    exchange = _exchange(text)
    return len(exchange.replies) if exchange else 0


def _goes_on(short: Exchange | None, long: Exchange | None) -> bool:
    """Does one exchange say all that the other says, in whatever form it is written?"""
    if short is None or long is None or short.user != long.user:
        return False
    return short.replies == long.replies[: len(short.replies)]


def _exchange(text: str) -> Exchange | None:
    """The exchange of a block."""
    found = Conversation.from_markdown(f"\n{EXCHANGES}\n{text}").exchanges
    return found[0] if found else None


def _in_time(texts: list[str]) -> list[str]:
    """The exchanges in the order of their times; one without a time stays behind the one before
    it.
    """
    times: list[str] = []
    for text in texts:
        exchange = _exchange(text)
        said_at = exchange.at if exchange else ""
        times.append(said_at or (times[-1] if times else ""))
    return [
        text
        for _, text in sorted(zip(times, texts, strict=True), key=lambda item: item[0])
    ]


def _dated(body: str) -> str:
    """The body with its date line, which stands below the title."""
    exchanges = Conversation.from_markdown(body).exchanges
    if not exchanges or not body.startswith("# "):
        return body
    date = Conversation("", exchanges).head.split("\n")[2]
    title, _, rest = body.partition("\n")
    rest = rest.lstrip("\n")
    return f"{title}\n\n{date}\n" + ("" if rest.startswith("**") else "\n") + rest


def _by_turn(blocks: Iterable[str]) -> Blocks:
    """The exchanges by the first words of their marks."""
    return _numbered((" ".join(block.split(None, 3)[:3]), block) for block in blocks)


def _by_heading(head: str) -> Blocks:
    """The parts of a head by their headings, "" for what stands above the first; its date left
    out.
    """
    sections = (
        text if number else f"\n{text}"
        for number, text in enumerate(_SECTION.split(_DATE.sub("", head)))
    )
    return _numbered(
        (text.split("\n")[0].rstrip(), text.partition("\n")[2]) for text in sections
    )


def _numbered(items: Iterable[tuple[str, str]]) -> Blocks:
    """Each text under its name, and which of that name it is."""
    seen: Counter[str] = Counter()
    found = {}
    for name, text in items:
        found[name, seen[name]] = text
        seen[name] += 1
    return found


def _items(section: str) -> tuple[list[str], str]:
    """The lines that are items of a list, and the others."""
    lines = section.splitlines(keepends=True)
    items = [line for line in lines if line.startswith("- ")]
    return items, "".join(line for line in lines if not line.startswith("- "))


def _part_order(key: tuple[str, int]) -> int:
    """Where a part stands: what a person added comes after ours, and the exchanges come last."""
    return _PLACES.get(key[0], len(_ORDER))
