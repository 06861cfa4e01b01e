"""JSON with the place of every part, so that a person's file can be changed without being written
anew.

Comments and trailing commas are read, and noted: not every host allows them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed, public in json.decoder
from typing import Any

MAX_DEPTH = 100
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_BLANK = " \t\r\n"


class NotJson(ValueError):
    """``line`` counts from 1."""

    def __init__(self, message: str, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"{message} in line {self.line}")


@dataclass(slots=True)
class Node:
    """A value between ``start`` and ``end``; ``items`` are the parts of an object or array, in
    their order.
    """

    start: int
    end: int
    value: Any
    items: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Item:
    """A member or an element: from its key or value on; ``comma`` is where its comma stands, -1
    without one.
    """

    start: int
    key: str
    node: Node
    comma: int = -1


@dataclass(frozen=True, slots=True)
class Document:
    text: str
    root: Node
    is_strict: bool  # neither comments nor trailing commas

    def at(self, path: tuple[str, ...]) -> Node | None:
        """The value below the keys of ``path``; where a key stands twice, the last counts, as it
        does for hosts.
        """
        node = self.root
        for key in path:
            found = [
                item.node for item in node.items if isinstance(node.value, dict) and item.key == key
            ]
            if not found:
                return None
            node = found[-1]
        return node

    def comments(self, start: int, end: int) -> list[tuple[int, int]]:
        """Where comments stand between two places that hold nothing else but white space."""
        return list(_comments(self.text, start, end))


def parse(text: str) -> Document:
    """Raises NotJson."""
    reader = _Reader(text)
    start = reader.skip(1 if text.startswith("\ufeff") else 0)
    root = reader.value(start, 0)
    end = reader.skip(root.end)
    if end != len(text):
        raise NotJson("something follows the value", text, end)
    return Document(text, root, reader.is_strict)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.is_strict = True

    def skip(self, at: int) -> int:
        """The next place that is neither white space nor comment."""
        text = self.text
        while at < len(text):
            if text[at] in _BLANK:
                at += 1
            elif text.startswith(("//", "/*"), at):
                self.is_strict = False
                at = _end_of_comment(text, at)
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        text = self.text
        if depth > MAX_DEPTH:
            raise NotJson("there are too many brackets", text, at)
        letter = text[at : at + 1]
        if letter in ("{", "["):
            return self._container(at, depth, is_object=letter == "{")
        if letter == '"':
            return self._string(at)
        if number := _NUMBER.match(text, at):
            return Node(at, number.end(), json.loads(number[0]))
        for word, meaning in _WORDS.items():
            if text.startswith(word, at):
                return Node(at, at + len(word), meaning)
        raise NotJson("a value is missing", text, at)

    def _string(self, at: int) -> Node:
        try:
            value, end = scanstring(self.text, at + 1, True)  # noqa: FBT003 - its only signature
        except ValueError:
            raise NotJson("a string is not whole", self.text, at) from None
        return Node(at, end, value)

    def _container(self, start: int, depth: int, *, is_object: bool) -> Node:
        close = "}" if is_object else "]"
        node = Node(start, start + 1, {} if is_object else [])
        at = self.skip(start + 1)
        while self.text[at : at + 1] != close:
            if node.items and node.items[-1].comma < 0:
                raise NotJson("a comma is missing", self.text, at)
            item = self._item(at, depth, is_object=is_object)
            node.items.append(item)
            at = self.skip(item.node.end)
            if self.text[at : at + 1] == ",":
                item.comma = at
                at = self.skip(at + 1)
        if node.items and node.items[-1].comma >= 0:
            self.is_strict = False
        node.end = at + 1
        values = [item.node.value for item in node.items]
        node.value = (
            dict(zip((item.key for item in node.items), values, strict=True))
            if is_object
            else values
        )
        return node

    def _item(self, at: int, depth: int, *, is_object: bool) -> Item:
        if not is_object:
            return Item(at, "", self.value(at, depth + 1))
        if self.text[at : at + 1] != '"':
            raise NotJson("a key is missing", self.text, at)
        key = self._string(at)
        colon = self.skip(key.end)
        if self.text[colon : colon + 1] != ":":
            raise NotJson("a colon is missing", self.text, colon)
        return Item(at, key.value, self.value(self.skip(colon + 1), depth + 1))


def _end_of_comment(text: str, at: int) -> int:
    if text.startswith("//", at):
        line = re.compile(r"[^\r\n]*").match(text, at)
        return line.end() if line else at
    end = text.find("*/", at + 2)
    if end < 0:
        raise NotJson("a comment is not closed", text, at)
    return end + 2


def _comments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    while at < end:
        if text.startswith(("//", "/*"), at):
            close = _end_of_comment(text, at)
            yield at, close
            at = close
        else:
            at += 1
