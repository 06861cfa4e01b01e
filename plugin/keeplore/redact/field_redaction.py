"""Redaction of a memory field by field: what was said is looked at, each stretch by itself, and ids
and forms of ours only for tokens of known vendors.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.memory import AgentQuestion
from keeplore.memory.conversation_body import decode_question, encode_question
from keeplore.memory.frontmatter import dump
from keeplore.memory.said_parts import PartKind, SaidPart, is_own, of_body, of_file

NamedSpan = tuple[int, int, str]  # bytes, and the kind with a fingerprint
Spans = Callable[[bytes], Iterable[NamedSpan]]
REMOVED = "[REDACTED]"  # where no smaller part of a field can be taken out
_CODEC = "utf-8", "surrogatepass"


@dataclass(frozen=True, slots=True)
class FieldRedaction:
    """``words`` gives a text without its secrets, ``id`` an id unless it is a vendor's token."""

    words: Callable[[str], str]
    id: Callable[[str], str]

    def body(self, body: str) -> str:
        """Redact the text below a front matter; the same string comes back where there is nothing
        to redact.
        """
        data = body.encode(*_CODEC)
        pieces = []
        position = 0
        for part in of_body(data):
            said = data[part.start : part.end].decode(*_CODEC)
            clean = self._redacted_part(part.kind, said)
            if clean != said:
                pieces += [data[position : part.start], clean.encode(*_CODEC)]
                position = part.end
        return b"".join((*pieces, data[position:])).decode(*_CODEC) if pieces else body

    def meta(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        """A front matter whose keys keep their places."""
        return {key: self._value(key, value) for key, value in meta.items()}

    def content(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """A value of JSON whose names nobody knows, each field with its own name."""
        return {self.words(key): self._member(key, it) for key, it in content.items()}

    def _member(self, key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self.content(value)
        if isinstance(value, list | tuple):
            return [self._member(key, item) for item in value]
        return self._redacted_value(key, value)

    def question(self, asked: AgentQuestion) -> AgentQuestion:
        """A question and its answer, which may be a secret for what was asked alone."""
        question = self.words(asked.question)
        both = self.words(f"{question}\n\n{asked.answer}")
        if both.startswith(f"{question}\n\n"):
            answer = both[len(question) + 2 :]
        else:
            answer = self.words(asked.answer) and REMOVED
        return AgentQuestion(question, answer, tuple(map(self.words, asked.options)))

    def _redacted_part(self, kind: PartKind, said: str) -> str:
        if kind == PartKind.ID:
            fields = map(urllib.parse.unquote, said.split(" "))
            return (
                said
                if all(self.id(field) == field for field in fields)
                else self.id(said)
            )
        if kind == PartKind.WORDS:
            return self.words(said)
        asked = decode_question(said)
        clean = self.question(asked)
        return said if clean == asked else encode_question(clean)

    def _value(self, key: str, value: Any) -> Any:
        if is_own(key):
            return _with_texts(value, self.id)
        if key in ("source", "related"):
            return self._nested(key, value)
        return self._redacted_value(key, value)

    def _nested(self, within: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._nested(within, item) for item in value]
        if not isinstance(value, Mapping):
            return self._redacted_value(within, value)
        return {
            key: _with_texts(item, self.id)
            if is_own(key, within)
            else self._redacted_value(key, item)
            for key, item in value.items()
        }

    def _redacted_value(self, key: str, value: Any) -> Any:
        """A value without its secrets, also without what its key makes one."""
        clean = _with_texts(value, self.words)
        block = dump({key: clean})
        return (
            clean if self.words(block) == block else _with_texts(clean, _removed_text)
        )


def _removed_text(_text: str) -> str:
    return REMOVED


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value of YAML with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(item, change) for item in value]
    return value


def secrets_in(data: bytes, words: Spans, ids: Spans) -> Iterator[NamedSpan]:
    """Where secrets of a file lie, with their names: ``words`` gives those of a text, ``ids`` those
    of an id.
    """
    for part in of_file(data):
        said = data[part.start : part.end]
        if part.kind == PartKind.QUESTION:
            yield from _in_question(said, part, words)
            continue
        find = ids if part.kind == PartKind.ID else words
        for start, end, name in find(said):
            yield part.start + start, part.start + end, name


def _in_question(said: bytes, part: SaidPart, words: Spans) -> Iterator[NamedSpan]:
    """Secrets of a question lie where its mark does: what is escaped there has no place of its
    own.
    """
    asked = decode_question(said.decode("utf-8", "replace"))
    for text in (f"{asked.question}\n\n{asked.answer}", *asked.options):
        for _, _, name in words(text.encode(*_CODEC)):
            yield part.start, part.end, name
