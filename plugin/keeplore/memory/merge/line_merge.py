"""Two changed versions of a text as one, line by line: what differs apart is joined, what differs
in one place clashes.

Three-way merging as in S. Khanna, K. Kunal and B. C. Pierce, "A formal investigation of diff3"
(2007), with one rule more: where both sides only add, both additions stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from typing import NamedTuple, TypeVar

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
    return _joined_regions(_regions(before, one, other), has_base=base is not None)


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
    matches = _matches(one, other)
    return [line for match in matches for line in one[match.a : match.a + match.size]]


def _regions(
    base: Lines, one: Lines, other: Lines
) -> Iterator[tuple[Lines, Lines, Lines]]:
    """The three texts cut where all have the same lines; those come as regions of their own."""
    at, a, b = 0, 0, 0
    for run in _common_runs(base, one, other):
        yield base[at : run.base], one[a : run.one], other[b : run.other]
        at, a, b = run.base + run.size, run.one + run.size, run.other + run.size
        yield base[run.base : at], one[run.one : a], other[run.other : b]


class _CommonRun(NamedTuple):
    """Lines that stand in all three texts: where they begin in each, and how many they are."""

    base: int
    one: int
    other: int
    size: int


def _common_runs(base: Lines, one: Lines, other: Lines) -> Iterator[_CommonRun]:
    """The runs of lines that all three texts have, in order; an empty one at the ends is last."""
    in_one, in_other = _matches(base, one), _matches(base, other)
    i = j = 0
    while i < len(in_one) and j < len(in_other):
        first, second = in_one[i], in_other[j]
        first_end, second_end = first.a + first.size, second.a + second.size
        start = max(first.a, second.a)
        size = min(first_end, second_end) - start
        if size > 0:
            one_start = first.b + start - first.a
            yield _CommonRun(start, one_start, second.b + start - second.a, size)
        if first_end < second_end:
            i += 1
        else:
            j += 1
    yield _CommonRun(len(base), len(one), len(other), 0)


def _matches(one: Lines, other: Lines) -> list[Match]:
    """Where two texts, ``a`` and ``b``, have the same lines.

    Their beginnings and ends are compared first, which are nearly all of it and cost nothing.
    """
    head = _same_length(one, other)
    tail = _same_length(one[head:][::-1], other[head:][::-1])
    end, other_end = len(one) - tail, len(other) - tail
    middle = one[head:end], other[head:other_end]
    found = SequenceMatcher(None, *middle, autojunk=True).get_matching_blocks()
    inner = [Match(a + head, b + head, size) for a, b, size in found]
    matches = [Match(0, 0, head), *inner, Match(end, other_end, tail)]
    return [match for match in matches if match.size]


def _same_length(one: Lines, other: Lines) -> int:
    """How many lines from the beginning both have."""
    pairs = zip(one, other, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
    return min(len(one), len(other)) if same is None else same
