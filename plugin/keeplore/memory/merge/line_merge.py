"""Two changed versions of a text as one, line by line: what differs apart is joined, what differs
in one place clashes.

Three-way merging as in S. Khanna, K. Kunal and B. C. Pierce, "A formal investigation of diff3"
(2007), with one rule more: where both sides only add, both additions stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

# of one version; matching takes more than linear time, and what is longer clashes as a whole
MAX_LINES = 20_000

Lines = Sequence[str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LineMerge:
    """``is_clash`` where both sides changed the same lines: the text then has those of
    ``winner``.
    """

    text: str
    is_clash: bool


def merge_by_lines(base: str | None, loser: str, winner: str) -> LineMerge:
    """Merge two versions of ``base``; None where there was none, and then what both have counts as
    it.

    Of two additions at one place the loser's comes first. Without a base they may as well be two
    changes of one line, and clash.
    """
    if loser == winner or base == loser:
        return LineMerge(winner, is_clash=False)
    if base == winner:
        return LineMerge(loser, is_clash=False)
    # splitting so keeps whether the text ends with a line end
    one, other = _lines(loser), _lines(winner)
    if max(len(one), len(other)) > MAX_LINES:
        return LineMerge(winner, is_clash=True)
    before = _common(one, other) if base is None else _lines(base)
    regions = _regions(before, one, other)
    return _joined_regions(regions, has_base=base is not None)


def _joined_regions(
    regions: Iterable[tuple[Lines, Lines, Lines]], *, has_base: bool
) -> LineMerge:
    """The regions one after the other, those that clash as the winner has them."""
    lines: list[str] = []
    is_clash = False
    for was, theirs, ours in regions:
        joined = _merged_stretch(was, theirs, ours, may_both_stay=has_base)
        is_clash = is_clash or joined is None
        lines += ours if joined is None else joined
    return LineMerge("\n".join(lines), is_clash)


def merge_lists(was: Sequence[T], one: Sequence[T], other: Sequence[T]) -> list[T]:
    """What neither side took away, then what ``other``, the winner, added, then what the other one
    did.
    """
    kept = [item for item in was if item in one and item in other]
    for item in (*other, *one):
        if item not in was and item not in kept:
            kept.append(item)
    return kept


def _lines(text: str) -> list[str]:
    # a program that writes other line ends has changed no line
    return text.replace("\r\n", "\n").split("\n")


def _merged_stretch(
    was: Lines, one: Lines, other: Lines, *, may_both_stay: bool
) -> Lines | None:
    """The merged lines of a stretch between lines that all versions have; None for a clash."""
    if one in (was, other):
        return other
    if other == was:
        return one
    return _both_additions(one, other) if may_both_stay and not was else None


def _both_additions(one: Lines, other: Lines) -> Lines:
    """Two additions at one place, each whole, as parts may mean nothing apart; one that the other
    holds stands once.
    """
    if _contains_lines(one, other):
        return one
    return other if _contains_lines(other, one) else [*one, *other]


def _contains_lines(lines: Lines, part: Lines) -> bool:
    """Whether the part stands in the lines as it is."""
    return any(
        lines[n : n + len(part)] == part for n in range(len(lines) - len(part) + 1)
    )


def _common(one: Lines, other: Lines) -> list[str]:
    """The lines that both have, in their order."""
    return [line for a, _, size in _matches(one, other) for line in one[a : a + size]]


def _regions(
    base: Lines, one: Lines, other: Lines
) -> Iterator[tuple[Lines, Lines, Lines]]:
    """The three texts cut where all have the same lines; those come as regions of their own."""
    at, a, b = 0, 0, 0
    for start, end, in_one, in_other in _shared_stretches(base, one, other):
        yield base[at:start], one[a:in_one], other[b:in_other]
        size = end - start
        yield (
            base[start:end],
            one[in_one : in_one + size],
            other[in_other : in_other + size],
        )
        at, a, b = end, in_one + size, in_other + size


def _shared_stretches(
    base: Lines, one: Lines, other: Lines
) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of base that both others have: its start and end, and where they begin in the
    others.
    """
    first, second = _matches(base, one), _matches(base, other)
    i = j = 0
    while i < len(first) and j < len(second):
        (a, in_one, size_one), (b, in_other, size_other) = first[i], second[j]
        start, end = max(a, b), min(a + size_one, b + size_other)
        if start < end:
            yield start, end, in_one + start - a, in_other + start - b
        if a + size_one < b + size_other:
            i += 1
        else:
            j += 1
    yield len(base), len(base), len(one), len(other)


def _matches(one: Lines, other: Lines) -> list[tuple[int, int, int]]:
    """Where two texts have the same lines; beginning and end first, which is nearly all of it and
    costs nothing.
    """
    head = _same_length(one, other)
    tail = _same_length(one[head:][::-1], other[head:][::-1])
    end, other_end = len(one) - tail, len(other) - tail
    middle = one[head:end], other[head:other_end]
    found = SequenceMatcher(None, *middle, autojunk=True).get_matching_blocks()
    inner = [(a + head, b + head, size) for a, b, size in found]
    matches = [(0, 0, head), *inner, (end, other_end, tail)]
    return [match for match in matches if match[2]]


def _same_length(one: Lines, other: Lines) -> int:
    """How many lines from the beginning both have."""
    pairs = zip(one, other, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
    return min(len(one), len(other)) if same is None else same
