"""What one memory itself shows of who and what there is: names by their shape, triples, code
references, aspects.

Pure: the same memory gives the same on every machine. Everything in a memory is hostile and
bounded: of each at most ``MAX_TEXT`` characters are looked at, and at most ``MAX_MENTIONS`` names,
``MAX_RELATIONS`` relations and as many aspects are kept, those that the memory shows to exist
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from keeplore.index.graph.code_spans import INLINE, SHELL, markdown_spans
from keeplore.index.graph.graph_values import (
    KINDS,
    TYPES,
    EntityAspect,
    EntityRelation,
    Mention,
    canonical_name,
)
from keeplore.index.graph.name_shapes import (
    FILE,
    TOOL,
    NameShape,
    file_name,
    is_plain,
    shapes,
)
from keeplore.index.graph.shell_programs import programs
from keeplore.memory import AgentQuestion, Conversation, Memory
from keeplore.memory.conversation_body import EXCHANGES
from keeplore.text.fences import without_surrogates
from keeplore.text.slugs import hyphenated
from keeplore_hooks.events import Work

MAX_TEXT = 200_000  # characters
MAX_MENTIONS = 200
MAX_RELATIONS = 50  # as many as a model may give for one conversation
_MAX_RELATIONSHIP = 40  # characters
_COMMIT = re.compile(r"[0-9a-f]{7,40} ")
_PROMPT = re.compile(r"^[ \t]*[$%❯] (.*)$", re.MULTILINE)


def mentions_of(memory: Memory) -> list[Mention]:
    """Each name that stands in a memory, once, in the order in which they stand there; shown ones
    first if too many.
    """
    found: dict[str, Mention] = {}
    for shape in _shapes(memory):
        _count_mention(found, shape)
    # a plain word that nothing marks is hardly ever a name, and there would be more of these than
    # of all others
    kept = [
        mention
        for mention in found.values()
        if mention.type or not is_plain(mention.name)
    ]
    if len(kept) > MAX_MENTIONS:
        kept = sorted(kept, key=lambda mention: not mention.type)[:MAX_MENTIONS]
    return kept


def relations_of(memory: Memory) -> list[EntityRelation]:
    """The triples in the front matter that can be read; of two that say the same the first."""
    found: dict[tuple[str, str, str], EntityRelation] = {}
    for item in _items(memory, "entities"):
        source, source_spelling = _name(item.get("source"))
        target, target_spelling = _name(item.get("target"))
        kind = _relationship(item.get("relationship"))
        if source and target and kind and source != target:
            confidence = _confidence(item.get("confidence"))
            relation = EntityRelation(
                source, kind, target, confidence, source_spelling, target_spelling
            )
            found.setdefault((source, kind, target), relation)
    return list(found.values())


def _relationship(value: object) -> str:
    """The relationship in the form that is compared: lower-case letters and digits joined by
    hyphens; "" for none.
    """
    if not isinstance(value, str):
        return ""
    return hyphenated(value[:200])[:_MAX_RELATIONSHIP].strip("-")


def aspects_of(memory: Memory) -> list[EntityAspect]:
    """The aspects in the front matter that can be read, each once."""
    found: dict[tuple[str, str], EntityAspect] = {}
    for item in _items(memory, "aspects"):
        name, spelling = _name(item.get("entity"))
        aspect, _ = _name(item.get("aspect"))
        kind, type_ = item.get("kind"), item.get("type")
        if name and aspect and kind in KINDS:
            known = type_ if isinstance(type_, str) and type_ in TYPES else "unknown"
            found.setdefault(
                (name, aspect), EntityAspect(name, spelling, known, aspect, str(kind))
            )
    return list(found.values())


def _shapes(memory: Memory) -> Iterator[NameShape]:
    for relation in relations_of(memory):
        yield NameShape(
            relation.source, relation.source_spelling, "unknown", is_word=True
        )
        yield NameShape(
            relation.target, relation.target_spelling, "unknown", is_word=True
        )
    for aspect in aspects_of(memory):
        yield NameShape(aspect.entity, aspect.spelling, aspect.type, is_word=True)
    conversation = _conversation(memory)
    if conversation:
        yield from _work_names(conversation.work, memory.project)
    for text in _texts(memory, conversation):
        yield from _text_names(text, memory.project)


def _work_names(work: Work, project: str) -> Iterator[NameShape]:
    for path in work.files:
        yield NameShape(file_name(path[:1000]), path, FILE)
    for command in work.commands:
        yield from (
            NameShape(name, name, TOOL, is_word=True) for name in programs(command)
        )
    for said in (
        *(_COMMIT.sub("", subject, count=1) for subject in work.commits),
        *work.links,
    ):
        yield from _text_names(said, project)


def _text_names(text: str, project: str) -> Iterator[NameShape]:
    for piece in markdown_spans(text):
        if piece.kind == SHELL:
            for line in _shell_lines(piece.text):
                yield from (NameShape(name, name, TOOL) for name in programs(line))
        elif piece.kind == INLINE and " " in piece.text:
            yield from (NameShape(name, name, "") for name in programs(piece.text))
        yield from shapes(piece, project)


def _shell_lines(text: str) -> Iterator[str]:
    """Commands of a block of shell: where some lines have a prompt, the others are what was
    printed.
    """
    prompted = _PROMPT.findall(text)
    yield from prompted or (
        line
        for line in text.splitlines()
        if line[:1].strip() and not line.startswith("#")
    )


def _count_mention(mentions: dict[str, Mention], shape: NameShape) -> None:
    name = canonical_name(shape.name)
    if not any(map(str.isalpha, name)):
        return
    old = mentions.get(name)
    if old is None:
        mentions[name] = Mention(
            name, _spelling(shape.spelling), 1, shape.type, shape.is_word
        )
        return
    type_ = old.type if old.type not in ("", "unknown") else shape.type or old.type
    mentions[name] = Mention(
        name, old.spelling, old.count + 1, type_, old.is_word or shape.is_word
    )


def _conversation(memory: Memory) -> Conversation | None:
    if memory.kind == "document" or EXCHANGES not in memory.body:
        return None
    found = Conversation.from_markdown(memory.body[:MAX_TEXT])
    return found if found.exchanges else None


def _texts(memory: Memory, conversation: Conversation | None) -> list[str]:
    """The texts of a memory in their order; of a conversation what was said alone, of a digest
    none: its sources say it.
    """
    if memory.kind == "digest":
        return []
    if conversation is None:
        return [memory.title, memory.body[:MAX_TEXT]]
    texts = [memory.title]
    for exchange in conversation.exchanges:
        texts += (exchange.user, *map(_text_of, exchange.replies))
    return texts


def _text_of(reply: str | AgentQuestion) -> str:
    """A reply as one text; a question with its options and its answer."""
    if isinstance(reply, str):
        return reply
    return "\n".join((reply.question, *reply.options, reply.answer))


def _items(memory: Memory, key: str) -> Iterator[Mapping[str, Any]]:
    value = memory.meta.get(key)
    listed = value[:MAX_RELATIONS] if isinstance(value, list) else []
    yield from (item for item in listed if isinstance(item, Mapping))


def _name(value: object) -> tuple[str, str]:
    """Canonical name and spelling; "" for what is no name."""
    if not isinstance(value, str) or not any(map(str.isalpha, value[:100])):
        return "", ""
    return canonical_name(value), _spelling(value)


def _spelling(text: str) -> str:
    return " ".join(without_surrogates(text[:200]).split())[:100]


def _confidence(value: object) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= 1
    ):
        return 1.0 if value is None else 0.5
    return float(value)
