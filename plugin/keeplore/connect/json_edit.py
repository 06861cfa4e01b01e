"""Entries of ours in a person's JSON file: put in and taken out as pieces of text, everything else
stays as it is.

``put`` and ``take`` are inverse to one another: taking out what was put in gives the same bytes,
whatever the file's indentation, line ends, comments and commas. What ``put`` had to make room for
is kept in a ``JsonTrace``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from keeplore.connect.jsonc import JsonDocument, JsonItem, JsonNode, parse

Path = tuple[str, ...]  # keys from the top of the document
UNIT = "  "


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """``value`` at ``path``: an element of the array there, or the member of that name."""

    path: Path
    value: Any
    is_element: bool = False

    @property
    def holder(self) -> Path:
        """Where the object or array stands that holds it."""
        return self.path if self.is_element else self.path[:-1]

    @property
    def place(self) -> tuple[Path, bool]:
        """What another entry in its place would share."""
        return self.path, self.is_element


@dataclass(frozen=True, slots=True)
class JsonTrace:
    """``made``: objects and arrays that were not there; ``inner``: what stood between the brackets
    of empty ones.
    """

    made: tuple[Path, ...] = ()
    inner: tuple[tuple[Path, str], ...] = ()


def put(
    text: str, entries: Iterable[JsonEntry], trace: JsonTrace
) -> tuple[str, JsonTrace]:
    """Put in what is not there yet. Raises NotJson, and ValueError where something else stands in
    the way.
    """
    for entry in entries:
        document = parse(text)
        if find(document, entry) is None:
            text, trace = _put_entry(document, entry, trace)
    return text, trace


def take(text: str, entries: Iterable[JsonEntry], trace: JsonTrace) -> str:
    """Take out what is there, the last first; with it what ``put`` made for it, if nothing else is
    in there now.
    """
    for entry in reversed([*entries]):
        document = parse(text)
        if (item := find(document, entry)) is not None:
            text = _without_item(document, entry.holder, item, trace)
    return text


def replace_value(text: str, old: JsonEntry, new: Any) -> str:
    """Write another value where ``old`` stands."""
    item = find(parse(text), old)
    if item is None:
        return text
    start, end = item.node.start, item.node.end
    style = _style(text)
    style = replace(style, is_spread=style.is_spread and "\n" in text[start:end])
    return (
        text[:start]
        + style.format_value(new, _indent_of_line(text, item.start))
        + text[end:]
    )


def find(document: JsonDocument, entry: JsonEntry) -> JsonItem | None:
    """Where exactly this entry stands."""
    holder = document.at(entry.holder)
    wanted = _canonical_json(entry.value)
    for item in reversed(holder.items if holder else []):
        is_named_so = entry.is_element or item.key == entry.path[-1]
        if is_named_so and _canonical_json(item.node.value) == wanted:
            return item
    return None


def _canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)  # True is not 1 here


def _put_entry(
    document: JsonDocument, entry: JsonEntry, trace: JsonTrace
) -> tuple[str, JsonTrace]:
    """The nearest holder that is there takes the entry, wrapped in those that are missing."""
    path, value = entry.holder, entry.value
    key = None if entry.is_element else entry.path[-1]
    made: list[Path] = []
    while (holder := document.at(path)) is None:
        made.append(path)
        value = [value] if key is None else {key: value}
        path, key = path[:-1], path[-1]
    _expect_room(holder, path, key, entry)
    inner = dict(trace.inner)
    if not holder.items:
        inner.setdefault(path, document.text[holder.start + 1 : holder.end - 1])
    known = [place for place in made if place not in trace.made]
    text = _with_item(document, holder, key, value)
    return text, JsonTrace((*trace.made, *known), tuple(inner.items()))


def _expect_room(
    holder: JsonNode, path: Path, key: str | None, entry: JsonEntry
) -> None:
    """Raise ValueError where the holder of an entry is of another kind, or has the key."""
    if not isinstance(holder.value, list if key is None else dict):
        place = ".".join(path) or "the top"
        raise ValueError(f"{place} is no {'list' if key is None else 'object'} there")
    if key is not None and key in holder.value:
        raise ValueError(f"{'.'.join(entry.path)} has another value there")


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """How the document is written."""

    newline: str
    unit: str
    is_spread: bool  # over several lines
    space: str  # after a comma or colon within a line

    def format_value(self, value: Any, indent: str, key: str | None = None) -> str:
        """A value, behind its key where it is a member."""
        name = (
            "" if key is None else f"{json.dumps(key, ensure_ascii=False)}:{self.space}"
        )
        if not self.is_spread:
            separators = (f",{self.space}", f":{self.space}")
            return name + json.dumps(value, ensure_ascii=False, separators=separators)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return name + f"{self.newline}{indent}".join(lines)


def _style(text: str) -> JsonStyle:
    newline = "\r\n" if "\r\n" in text else "\n"
    first = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
    unit = first[1].removeprefix(_indent_of_line(text, first.start())) if first else ""
    is_tight = re.search(r'":\S', text) and not re.search(r'":[ \t]', text)
    return JsonStyle(
        newline, unit or UNIT, "\n" in text.strip(), "" if is_tight else " "
    )


def _with_item(
    document: JsonDocument, holder: JsonNode, key: str | None, value: Any
) -> str:
    """The text with one more member or element, in the style of those that are there."""
    if not holder.items:
        return _with_first_item(document, holder, key, value)
    text, last = document.text, holder.items[-1]
    before = text[_edge(document, holder, len(holder.items) - 1) : last.start]
    style = replace(_style(text), is_spread="\n" in before)
    indent = _indent_of_line(text, last.start) if style.is_spread else ""
    end, has_comma = last.node.end, last.comma >= 0
    at = _past_comments(document, last.comma + 1 if has_comma else end, holder.end - 1)
    separator = _separator(style, indent, before if len(holder.items) > 1 else "")
    if _ends_in_line_comment(document, end, at) and "\n" not in separator:
        separator = style.newline
    new = separator + style.format_value(value, indent, key)
    if has_comma:
        return f"{text[:at]}{new},{text[at:]}"
    return f"{text[:end]},{text[end:at]}{new}{text[at:]}"


def _separator(style: JsonStyle, indent: str, before: str) -> str:
    """What stands before another part; ``before`` is what stands before the last, "" for nothing
    that tells.
    """
    if style.is_spread:
        return style.newline + indent
    return before if before.isspace() else style.space


def _with_first_item(
    document: JsonDocument, holder: JsonNode, key: str | None, value: Any
) -> str:
    """An empty object or array with its first part."""
    text, style = document.text, _style(document.text)
    start, end = holder.start + 1, holder.end - 1
    style = replace(style, is_spread=style.is_spread or holder is document.root)
    comments = document.comments(start, end)
    at = comments[-1][1] if comments else start
    opening = closing = indent = ""
    if style.is_spread:
        outer = _indent_of_line(text, holder.start)
        indent = outer + style.unit
        opening, closing = style.newline + indent, style.newline + outer
    elif _ends_in_line_comment(document, start, at):
        opening = style.newline
    new = opening + style.format_value(value, indent, key)
    if comments and "\n" in text[at:end]:
        return text[:at] + new + text[at:]
    return text[:at] + new + closing + text[end:]


def _past_comments(document: JsonDocument, at: int, end: int) -> int:
    """The place after comments on the same line, which belong to what stands before them."""
    stop = document.text.find("\n", at, end)
    for start, close in document.comments(at, end):
        if start > stop >= 0:
            break
        at = close
    return at


def _ends_in_line_comment(document: JsonDocument, start: int, end: int) -> bool:
    """Whether what follows would be part of a comment; between ``start`` and ``end`` stand comments
    and commas.
    """
    for begin, close in document.comments(start, end)[-1:]:
        return close == end and document.text.startswith("//", begin)
    return False


def _edge(document: JsonDocument, holder: JsonNode, index: int) -> int:
    """Where the part before the one at ``index`` ends: its comma, a comment after it, or the
    opening bracket.
    """
    items = holder.items
    at = items[index - 1].comma + 1 if index else holder.start + 1
    comments = document.comments(at, items[index].start)
    return comments[-1][1] if comments else at


def _without_item(
    document: JsonDocument, path: Path, item: JsonItem, trace: JsonTrace
) -> str:
    """The text without an item of the holder at ``path``."""
    text, holder = document.text, document.at(path) or document.root
    index = [item.start for item in holder.items].index(item.start)
    start, end = _edge(document, holder, index), item.node.end
    after_comma = item.comma + 1 if item.comma >= 0 else end
    if len(holder.items) == 1:
        return _without_only_item(document, path, (start, after_comma), trace)
    if item.comma >= 0:
        return text[:start] + text[after_comma:]
    comma = holder.items[index - 1].comma
    rest = text[end:]
    gap = rest[: len(rest) - len(rest.lstrip())]
    if _ends_in_line_comment(document, comma + 1, start) and "\n" not in gap:
        start = item.start  # the line's end before it closes the comment
    return text[:comma] + text[comma + 1 : start] + rest


def _without_only_item(
    document: JsonDocument, path: Path, part: tuple[int, int], trace: JsonTrace
) -> str:
    """The text without the only item of the holder at ``path``, and without the holder where it was
    made for that item.
    """
    text, holder = document.text, document.at(path) or document.root
    rest = text[holder.start + 1 : part[0]] + text[part[1] : holder.end - 1]
    if path in trace.made and not rest.strip():
        outer = document.at(path[:-1])
        for item in outer.items if outer else ():
            if item.node is holder:
                return _without_item(document, path[:-1], item, trace)
    inner = dict(trace.inner).get(path)
    if inner is not None and inner.split() == rest.split():
        rest = inner
    return text[: holder.start + 1] + rest + text[holder.end - 1 :]


def _indent_of_line(text: str, at: int) -> str:
    line = text[:at].rpartition("\n")[2].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
