"""A note: one durable statement, with the words that it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keeplore.errors import StoreError
from keeplore.memory.conversation_body import Quote
from keeplore.memory.model import CATEGORIES, SCOPES, Memory, new_meta, without_empty
from keeplore.memory.names import new_id
from keeplore.text import agent_scope
from keeplore.text.similarity import content_hash, spaced_words
from keeplore.text.turn_ids import short_turn

TITLE_CHARS = 80
CLEAR_CHARS = 20  # a shorter first sentence ("Yes.") says too little for a title
DEFAULT_CATEGORY = "user-facts"
# what stays in the files when old memories are archived: what it says does not go out of date by
# itself
KEPT_CATEGORIES = frozenset(CATEGORIES) - {"user-facts", "patterns"}
_HEADING = re.compile(r"\A#{1,6}[ \t]+(\S.*?)[ \t#]*(?:\n|\Z)")
_EXCHANGES = re.compile(r"\n+> \*\*User\b.*\Z", re.DOTALL)
_QUOTED = re.compile(r"^> “(.*)” — (?:user|assistant), turn \S+$", re.MULTILINE)
_SAID = re.compile(r"[^\W_]")
_END = re.compile(r"[.!?:](?=\s|\Z)")  # of a sentence


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """What is to be written down. What is left empty is filled in: title and category from the
    text.
    """

    text: str
    title: str = ""
    category: str = ""
    scope: str = ""  # "" for project where there is one, else workspace
    project: str = ""
    permanent: bool = False
    trust: str = "user"
    trigger: str = "remember"
    confidence: float | None = None
    quotes: tuple[Quote, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[Mapping[str, str], ...] = ()
    # of entities: front matter under ``entities``, ``aspects``
    told: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    created_at: str = ""


def session_note_id(host: str, session: str, text: str) -> str:
    """The id of a note made in a host's session: the same statement has the same id, however often
    it is read.
    """
    return new_id("note", host, session, content_hash(text))


def note_of(draft: NoteDraft, moment: str) -> Memory:
    """The memory of a draft, made at ``moment`` (RFC 3339, UTC). Raises StoreError for a draft that
    says nothing.
    """
    title, text = title_and_text(draft.text.replace("\r\n", "\n"), draft.title)
    if not title:
        raise _nothing_said(draft.text)
    scope = draft.scope or ("project" if draft.project else "workspace")
    category = draft.category or DEFAULT_CATEGORY
    _check_place(scope, category, draft.project)
    created_at = draft.created_at or moment
    meta = new_meta(
        id=draft.id or new_id(),
        kind="note",
        title=title,
        created_at=created_at,
        updated_at=created_at,
        version=1,
        **agent_scope.scope_meta(scope, draft.project),
        category=category,
        **_stated_fields(draft),
    )
    return Memory(meta, body_of(title, text, _telling_quotes(draft, text)))


def _stated_fields(draft: NoteDraft) -> dict[str, Any]:
    """The fields that a draft states as they are."""
    return {
        "permanent": draft.permanent or None,
        "related": [dict(link) for link in draft.related],
        **draft.told,
        "confidence": draft.confidence,
        "trust": draft.trust,
        "trigger": draft.trigger,
        "source": without_empty(draft.source),
    }


def _check_place(scope: str, category: str, project: str) -> None:
    """Raise StoreError for a scope or category that does not exist."""
    for value, allowed in ((scope, SCOPES), (category, CATEGORIES)):
        is_of_agent = allowed is SCOPES and agent_scope.agent_of(value)
        if value not in allowed and not is_of_agent:
            raise StoreError(
                f"{value!r} is not one of {', '.join(allowed)}", "Choose one of them"
            )
    if agent_scope.is_of_project(scope) and not project:
        raise StoreError(
            "this directory belongs to no project",
            "Name one with --project, or use --scope workspace",
        )


def _nothing_said(text: str) -> StoreError:
    said = (
        "a text without words, which nobody could find again"
        if text.strip()
        else "an empty text"
    )
    return StoreError(
        f"there is nothing to remember in {said}",
        'Say it in words: `keeplore remember "…"`',
    )


def body_of(title: str, text: str, quotes: tuple[Quote, ...] = ()) -> str:
    """The markdown of a note; ``text`` is left out where it only repeats the title."""
    parts = [f"# {title}"]
    if content_hash(text) != content_hash(title):
        parts.append(text.strip("\n"))
    if quotes:
        parts.append("\n".join(map(_quote_line, quotes)))
    return "\n\n".join(parts) + "\n"


def _telling_quotes(draft: NoteDraft, text: str) -> tuple[Quote, ...]:
    """The quotations that add a word to the statement or come from another speaker."""
    said = spaced_words(text)
    return tuple(
        quote
        for quote in draft.quotes
        if quote.speaker != draft.trust or spaced_words(quote.text) not in said
    )


def _quote_line(quote: Quote) -> str:
    """A quotation with its speaker and turn."""
    words = " ".join(quote.text.split())
    return f"> “{words}” — {quote.speaker}, turn {short_turn(quote.turn)}"


def statement_of(memory: Memory) -> str:
    """What a note states: its text without heading and quotations, its title where there is no
    other text.
    """
    body = memory.body.replace("\r\n", "\n").strip()
    heading = _HEADING.match(body)
    text = _QUOTED.sub("", body[heading.end() :] if heading else body).strip()
    return text or (heading[1] if heading else memory.title)


def gist_of(memory: Memory) -> str:
    """What a note states, without the exchanges that it keeps below."""
    return _EXCHANGES.sub("", statement_of(memory))


def stated_hashes(memory: Memory) -> frozenset[str]:
    """Content hashes of what a note states, of its sentences, and of the words that it was made
    from.
    """
    stated = statement_of(memory)
    said = (stated, *_sentences(stated), *_QUOTED.findall(memory.body))
    return frozenset(map(content_hash, said))


def _sentences(text: str) -> Iterator[str]:
    """What ends as a sentence does, found in one pass: a text of a megabyte may have no end."""
    start = 0
    for end in _END.finditer(text):
        yield text[start : end.end()]
        start = end.end()


def hash_of(memory: Memory) -> str:
    """The content hash of what a memory says, by which an exact duplicate is known."""
    return content_hash(statement_of(memory) if memory.kind == "note" else memory.body)


def title_and_text(text: str, title: str = "") -> tuple[str, str]:
    """A title of one line, and the text below it; both "" where nothing is said."""
    text = text.strip()
    if not _SAID.search(text):
        return "", ""
    if title.strip():
        return " ".join(title.split()), text or title
    heading = _HEADING.match(text)
    if heading and not title:
        return heading[1], text[heading.end() :].strip() or heading[1]
    return _first_sentence(text), text


def _first_sentence(text: str) -> str:
    line = " ".join(text.split("\n\n", 1)[0].split())
    sentence = next(_sentences(line), "")
    if len(sentence) >= CLEAR_CHARS:
        line = sentence
    return shortened(line).rstrip(":")


def shortened(line: str, limit: int = TITLE_CHARS) -> str:
    """A line of at most so many characters, cut between words."""
    if len(line) <= limit:
        return line
    return f"{line[: limit - 1].rsplit(' ', 1)[0].rstrip(' ,;:')}…"
