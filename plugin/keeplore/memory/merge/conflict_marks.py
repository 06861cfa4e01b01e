"""What a merge by others left in a file: marks of conflicts or keys that stand twice → the versions
in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARK = re.compile(r"([<|=>])\1{6,}(?= |\Z)")
# a mark, in which parts it counts, and what it begins
_MARKS = (
    ("<", ("",), "one"),
    ("|", ("one",), "base"),
    ("=", ("one", "base"), "other"),
    (">", ("other",), ""),
)
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:\s|\Z)")
_FENCE = re.compile(
    r"\A(---[ \t]*\n)(.*?)(^---[ \t]*(?:\n|\Z))", re.DOTALL | re.MULTILINE
)


def versions(text: str) -> tuple[str, ...] | None:
    """The versions, each once, that failed merges or a union of lines left in one text; None where
    it is whole.

    Two as a rule; more where a text with marks was committed and met the next conflict.
    """
    text = text.replace("\r\n", "\n")
    sides = _by_marks(text) or _by_first_and_last_keys(text)
    if sides is None:
        return None
    whole: list[str] = []
    for side in sides:
        whole += versions(side) or [side]
    return tuple(dict.fromkeys(whole))


def _by_marks(text: str) -> tuple[str, str] | None:
    """The text as each of the two sides has it, where git's conflict marks (merge, diff3, zdiff3)
    stand in it; None for other texts.

    A conflict inside of a side stays in it.
    """
    sides: dict[str, list[str]] = {"one": [], "base": [], "other": []}
    part, found, depth, length = "", 0, 0, 0
    for line in text.split("\n"):
        sign, size = _conflict_mark(line)
        is_mark = size == length or not part
        following = _after_mark(part, sign) if is_mark and not depth else None
        if following is not None:
            found += not part
            part, length = following, size
            continue
        if part and size == length:
            depth += (sign == "<") - (sign == ">" and depth > 0)
        for side in (part,) if part else ("one", "other"):
            sides[side].append(line)
    if part or not found:
        return None
    return "\n".join(sides["one"]), "\n".join(sides["other"])


def _conflict_mark(line: str) -> tuple[str, int]:
    """Sign and length of the mark that a line is, "" and 0 for none.

    Those of a conflict are longer where it holds another one or the file was renamed, all alike.
    """
    match = _MARK.match(line)
    return (match[1], match.end()) if match else ("", 0)


def _after_mark(part: str, sign: str) -> str | None:
    """The part of a conflict that a mark begins where ``part`` stands, "" for none of them any
    more; None for a line that is no mark there.
    """
    for mark, before, after in _MARKS:
        if part in before and mark == sign:
            return after
    return None


def _by_first_and_last_keys(text: str) -> tuple[str, str] | None:
    """A front matter with the first and with the last of each key that stands twice."""
    match = _FENCE.match(text)
    if match is None:
        return None
    blocks = list(_blocks(match[2].splitlines(keepends=True)))
    earliest, last = dict(reversed(blocks)), dict(blocks)
    if len(last) == len(blocks):
        return None
    first_ones = "".join(earliest[key] for key in last)
    after = match[3] + text[match.end() :]
    return match[1] + first_ones + after, match[1] + "".join(last.values()) + after


def _blocks(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Each key of the first level with its lines."""
    key, block = "", ""
    for line in lines:
        if match := _KEY.match(line):
            if block:
                yield key, block
            key, block = match[1], ""
        block += line
    if block:
        yield key, block
