"""Entries of ours in a person's JSON file: put in and taken out as pieces of text, everything else
stays as it is.

``put`` and ``take`` are inverse to one another: taking out what was put in gives the same bytes,
whatever the file's indentation, line ends, comments and commas. What ``put`` had to make room for
is kept in a ``Trace``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from keeplore.connect.jsonc import Document, Item, Node, parse

Path = tuple[str, ...]  # keys from the top of the document
UNIT = "  "


@dataclass(frozen=True, slots=True)
class Entry:
    """``value`` at ``path``: an element of the array there, or the member of that name."""

    path: Path
    value: Any
    is_element: bool = False

    @property
    def holder(self) -> Path:
        """Where the object or array stands that holds it."""
        return self.path if self.is_element else self.path[:-1]


@dataclass(frozen=True, slots=True)
class Trace:
    """``made``: objects and arrays that were not there; ``inner``: what stood between the brackets
    of empty ones.
    """

    made: tuple[Path, ...] = ()
    inner: tuple[tuple[Path, str], ...] = ()


def put(text: str, entries: Iterable[Entry], trace: Trace) -> tuple[str, Trace]:
    """Put in what is not there yet. Raises NotJson, and ValueError where something else stands in
    the way.
    """
    for entry in entries:
        document = parse(text)
        if find(document, entry) is None:
            text, trace = _put(document, entry, trace)
    return text, trace


def take(text: str, entries: Iterable[Entry], trace: Trace) -> str:
    """Take out what is there, the last first; with it what ``put`` made for it, if nothing else is
    in there now.
    """
    for entry in reversed([*entries]):
        document = parse(text)
        if (item := find(document, entry)) is not None:
            text = _take(document, entry.holder, item, trace)
    return text


def swap(text: str, old: Entry, new: Any) -> str:
    """Write another value where ``old`` stands."""
    document = parse(text)
    item = find(document, old)
    if item is None:
        return text
    node = item.node
    is_spread = "\n" in text[node.start : node.end]
    form = _form(text) if is_spread else replace(_form(text), is_spread=False)
    return (
        text[: node.start]
        + _dumped(new, form, _indent_of_line(text, item.start))
        + text[node.end :]
    )


def find(document: Document, entry: Entry) -> Item | None:
    """Where exactly this entry stands."""
    holder = document.at(entry.holder)
    for item in reversed(holder.items if holder else []):
        is_there = _is_same(item.node.value, entry.value)
        if is_there and (entry.is_element or item.key == entry.path[-1]):
            return item
    return None


def _is_same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(
        other, sort_keys=True
    )  # True is not 1 here


def _put(document: Document, entry: Entry, trace: Trace) -> tuple[str, Trace]:
    """The nearest holder that is there takes the entry, wrapped in those that are missing."""
    path, value = entry.holder, [entry.value] if entry.is_element else {entry.path[-1]: entry.value}
    made = []
    while document.at(path) is None:
        made.append(path)
        path, value = path[:-1], {path[-1]: value}
    holder = document.at(path)
    if holder is None or type(holder.value) is not type(value):
        place = ".".join(path) or "the top"
        raise ValueError(f"{place} is no {'list' if isinstance(value, list) else 'object'} there")
    if not made and not entry.is_element and entry.path[-1] in holder.value:
        raise ValueError(f"{'.'.join(entry.path)} has another value there")
    inner = dict(trace.inner)
    if not holder.items:
        inner.setdefault(path, document.text[holder.start + 1 : holder.end - 1])
    known = [place for place in reversed(made) if place not in trace.made]
    key, piece = (None, value[0]) if isinstance(value, list) else next(iter(value.items()))
    text = _added(document, holder, _Piece(key, piece))
    return text, Trace((*trace.made, *known), tuple(inner.items()))


@dataclass(frozen=True, slots=True)
class _Form:
    """How the document is written."""

    newline: str
    unit: str
    is_spread: bool  # over several lines
    space: str  # after a comma or colon within a line


def _form(text: str) -> _Form:
    newline = "\r\n" if "\r\n" in text else "\n"
    first = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
    unit = first[1] if first else UNIT
    outer = _indent_of_line(text, first.start()) if first else ""
    is_spread = "\n" in text.strip()
    space = "" if re.search(r'":\S', text) and not re.search(r'":[ \t]', text) else " "
    return _Form(newline, unit.removeprefix(outer) or UNIT, is_spread, space)


def _dumped(value: Any, form: _Form, indent: str) -> str:
    if not form.is_spread:
        return json.dumps(
            value, ensure_ascii=False, separators=(f",{form.space}", f":{form.space}")
        )
    lines = json.dumps(value, ensure_ascii=False, indent=form.unit).split("\n")
    return f"{form.newline}{indent}".join(lines)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A member, or an element, which has no key."""

    key: str | None
    value: Any

    def written(self, form: _Form, indent: str) -> str:
        name = (
            "" if self.key is None else f"{json.dumps(self.key, ensure_ascii=False)}:{form.space}"
        )
        return name + _dumped(self.value, form, indent)


def _added(document: Document, holder: Node, piece: _Piece) -> str:
    text, form = document.text, _form(document.text)
    if not holder.items:
        return _filled(document, holder, form, piece)
    last = holder.items[-1]
    before = text[_edge(document, holder, len(holder.items) - 1) : last.start]
    if "\n" in before:
        indent = _indent_of_line(text, last.start)
        form = replace(form, is_spread=True)
        separator = form.newline + indent
    else:
        indent, form = "", replace(form, is_spread=False)
        separator = before if len(holder.items) > 1 and before.isspace() else form.space
    end, has_comma = last.node.end, last.comma >= 0
    at = _past_comments(document, last.comma + 1 if has_comma else end, holder.end - 1)
    if _ends_in_line_comment(document, end, at) and "\n" not in separator:
        separator = form.newline
    new = separator + piece.written(form, indent)
    return (
        f"{text[:at]}{new},{text[at:]}"
        if has_comma
        else f"{text[:end]},{text[end:at]}{new}{text[at:]}"
    )


def _filled(document: Document, holder: Node, form: _Form, piece: _Piece) -> str:
    """An empty object or array with its first part."""
    text, (start, end) = document.text, (holder.start + 1, holder.end - 1)
    outer = _indent_of_line(text, holder.start)
    form = replace(form, is_spread=form.is_spread or holder is document.root)
    indent = outer + form.unit if form.is_spread else ""
    comments = document.comments(start, end)
    at = comments[-1][1] if comments else start
    needs_line = form.is_spread or _ends_in_line_comment(document, start, at)
    new = (form.newline + indent if needs_line else "") + piece.written(form, indent)
    closing = form.newline + outer if form.is_spread else ""
    if comments and "\n" in text[at:end]:
        return text[:at] + new + text[at:]
    return text[:at] + new + closing + text[end:]


def _past_comments(document: Document, at: int, end: int) -> int:
    """Behind the comments that follow on the same line, because they belong to what stands before
    them.
    """
    stop = document.text.find("\n", at, end)
    for start, close in document.comments(at, end):
        if stop >= 0 and start > stop:
            break
        at = close
    return at


def _ends_in_line_comment(document: Document, start: int, end: int) -> bool:
    """Whether what follows would be part of a comment; between ``start`` and ``end`` stand comments
    and commas.
    """
    comments = document.comments(start, end)
    return (
        bool(comments)
        and comments[-1][1] == end
        and document.text.startswith("//", comments[-1][0])
    )


def _edge(document: Document, holder: Node, index: int) -> int:
    """Where the part before the one at ``index`` ends: its comma, a comment after it, or the
    opening bracket.
    """
    items = holder.items
    at = items[index - 1].comma + 1 if index else holder.start + 1
    comments = document.comments(at, items[index].start)
    return comments[-1][1] if comments else at


def _take(document: Document, path: Path, item: Item, trace: Trace) -> str:
    text = document.text
    holder = document.at(path)
    if holder is None:
        raise ValueError("what was found must have a holder")
    index = next(number for number, one in enumerate(holder.items) if one.start == item.start)
    start, end = _edge(document, holder, index), item.node.end
    if len(holder.items) == 1:
        return _emptied(
            document, path, holder, (start, item.comma + 1 if item.comma >= 0 else end), trace
        )
    if item.comma >= 0:
        return text[:start] + text[item.comma + 1 :]
    comma = holder.items[index - 1].comma
    if (
        _ends_in_line_comment(document, comma + 1, start)
        and "\n" not in text[end : _next(text, end)]
    ):
        start = item.start  # the line's end before it closes the comment
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _emptied(
    document: Document, path: Path, holder: Node, part: tuple[int, int], trace: Trace
) -> str:
    text = document.text
    rest = text[holder.start + 1 : part[0]] + text[part[1] : holder.end - 1]
    if path in trace.made and not rest.strip():
        outer = document.at(path[:-1])
        item = (
            next((one for one in outer.items if one.node.start == holder.start), None)
            if outer
            else None
        )
        if item is not None:
            return _take(document, path[:-1], item, trace)
    inner = dict(trace.inner).get(path)
    if inner is not None and inner.split() == rest.split():
        rest = inner
    return text[: holder.start + 1] + rest + text[holder.end - 1 :]


def _next(text: str, at: int) -> int:
    found = re.compile(r"\s*").match(text, at)
    return found.end() if found else at


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
