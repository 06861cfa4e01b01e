"""JSON with the place of every part, so that a person's file can be changed without being written
anew.

Comments and trailing commas are read, and noted: not every host allows them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

MAX_DEPTH = 100
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_GAP = re.compile(rf"(?:[ \t\r\n]+|{_COMMENT.pattern})*", re.DOTALL)


class NotJson(ValueError):
    """``line`` counts from 1."""

    def __init__(self, message: str, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"{message} in line {self.line}")


@dataclass(slots=True)
class JsonNode:
    """A value between ``start`` and ``end``; ``items`` are the parts of an object or array, in
    their order.
    """

    start: int
    end: int
    value: Any
    items: list[JsonItem] = field(default_factory=list)


@dataclass(slots=True)
class JsonItem:
    """A member or an element: from its key or value on; ``comma`` is where its comma stands, -1
    without one.
    """

    start: int
    key: str
    node: JsonNode
    comma: int = -1


@dataclass(frozen=True, slots=True)
class JsonDocument:
    text: str
    root: JsonNode
    is_strict: bool  # neither comments nor trailing commas

    def at(self, path: tuple[str, ...]) -> JsonNode | None:
        """The value below the keys of ``path``; where a key stands twice, the last counts, as it
        does for hosts.
        """
        node = self.root
        for key in path:
            if not isinstance(node.value, dict) or key not in node.value:
                return None
            node = next(item.node for item in reversed(node.items) if item.key == key)
        return node

    def comments(self, start: int, end: int) -> list[tuple[int, int]]:
        """Where comments stand between two places that hold nothing else but white space."""
        return [comment.span() for comment in _COMMENT.finditer(self.text, start, end)]


def parse(text: str) -> JsonDocument:
    """The document with the place of each value. Raises NotJson."""
    reader = JsonReader(text)
    root = reader.value(reader.skip(1 if text.startswith("\ufeff") else 0), 0)
    if reader.skip(root.end) != len(text):
        reader.fail("something follows the value", reader.skip(root.end))
    return JsonDocument(text, root, reader.is_strict)


class JsonReader:
    """Reads values from a text, and notes what only lenient readers take."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_strict = True
        self._decoder = json.JSONDecoder(parse_constant=self._refuse)

    def fail(self, message: str, at: int) -> NoReturn:
        is_open = self.text.startswith("/*", at)
        raise NotJson("a comment is not closed" if is_open else message, self.text, at)

    def skip(self, at: int) -> int:
        """The next place that is neither white space nor comment."""
        gap = _GAP.match(self.text, at)
        if gap is None:  # it matches nothing, too
            return at
        self.is_strict &= "/" not in gap[0]
        return gap.end()

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            self.fail("there are too many brackets", at)
        if self.text.startswith(("{", "["), at):
            return self._container(at, depth + 1)
        try:
            value, end = self._decoder.raw_decode(self.text, at)
        except ValueError:
            is_string = self.text.startswith('"', at)
            self.fail(
                "a string is not whole" if is_string else "a value is missing", at
            )
        return JsonNode(at, end, value)

    def _refuse(self, constant: str) -> NoReturn:
        raise ValueError(constant)  # NaN and the like, which only Python reads

    def _container(self, start: int, depth: int) -> JsonNode:
        """The object or list that begins at ``start``."""
        is_object = self.text[start] == "{"
        close = "}" if is_object else "]"
        items: list[JsonItem] = []
        at = self.skip(start + 1)
        while not self.text.startswith(close, at):
            if items and items[-1].comma < 0:
                self.fail("a comma is missing", at)
            item = (
                self._member(at, depth)
                if is_object
                else JsonItem(at, "", self.value(at, depth))
            )
            items.append(item)
            at = self._past_comma(item)
        if items and items[-1].comma >= 0:
            self.is_strict = False
        value: Any = [item.node.value for item in items]
        if is_object:
            value = {item.key: item.node.value for item in items}
        return JsonNode(start, at + 1, value, items)

    def _past_comma(self, item: JsonItem) -> int:
        """Where the next item or the end may stand; the item learns where its comma is."""
        at = self.skip(item.node.end)
        if self.text.startswith(",", at):
            item.comma = at
            at = self.skip(at + 1)
        return at

    def _member(self, at: int, depth: int) -> JsonItem:
        if not self.text.startswith('"', at):
            self.fail("a key is missing", at)
        key = self.value(at, depth)
        colon = self.skip(key.end)
        if not self.text.startswith(":", colon):
            self.fail("a colon is missing", colon)
        return JsonItem(at, key.value, self.value(self.skip(colon + 1), depth))
