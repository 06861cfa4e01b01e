"""What a host is given for one prompt: silence, or the few memories that surely matter; and for a question, all."""

from __future__ import annotations

from collections.abc import Container

from keeplore.index import MemoryRow
from keeplore.memory.content import normalised
from keeplore.recall.query import question_of
from keeplore.recall.render import (
    SAID_BY,
    SUSPECT,
    TITLE_CHARS,
    Item,
    Room,
    Section,
    block,
    label,
    one_line,
    place,
    quoted,
    reference,
)
from keeplore.recall.trusted import BELIEVED, may_be_injected
from keeplore.recall.values import Answer, Hit, Unasked
from keeplore.recall.weights import EXCERPT_CHARS, PROMPT_HITS

WITHOUT_A_HIT = {
    "nothing": "nothing was found, no memory here is about that; `keeplore recall --wide` asks the other projects too",
    "empty": "there is no memory yet; `keeplore import claude-code` reads the sessions on this machine",
    "stale": "nothing was found, but the index is behind the text, so it may be there; `keeplore doctor` says why",
}


def is_worth_asking(prompt: str) -> bool:
    """False for "ok, go on" and "run the tests", which nothing in memory helps with."""
    question = question_of(prompt)
    return question.says_something and not question.is_errand


def for_prompt(threshold: float, *, already: Container[str], session: str = "") -> Unasked:
    """What is left out beside a prompt: what is not sure enough, and what the agent has before it.

    ``already`` are ids this session has seen. What ``session`` itself said is left out as long as the host still has
    it: give "" once it was compacted.
    """

    def skip(row: MemoryRow) -> bool:
        # a host's summary of a session is about everything: measured, three in ten of those are right
        is_summary = row.kind == "document" and row.trust in BELIEVED
        return row.id in already or is_summary or bool(session and row.session == session)

    return Unasked(threshold, skip)


def prompt_context(answer: Answer, *, room: Room) -> tuple[str, tuple[str, ...]]:
    """A fenced block and the ids it shows; ("", ()) when nothing is left to say, which is the common case.

    ``answer`` is what recall gave with ``for_prompt``.
    """
    sure = [hit for hit in answer.hits if may_be_injected(hit.trust, hit.title, hit.passage, hit.decision)]
    return block([Section("", [_item(hit) for hit in sure[:PROMPT_HITS]])], room)


def asked_context(answer: Answer, *, room: Room) -> tuple[str, tuple[str, ...]]:
    """A fenced block with every hit of a question that a person put, and the ids it shows.

    Without a hit it says what that means: nothing found is told apart from an index that is behind.
    """
    question = quoted(answer.query, TITLE_CHARS)
    found = Section(f"Recalled for {question}, best first:", [_item(hit) for hit in answer.hits])
    missing = [] if answer.hits else [Item(f"{question}: {WITHOUT_A_HIT[answer.status]}")]
    notes = Section("About this search:", [Item(one_line(note, EXCERPT_CHARS)) for note in answer.notes])
    return block([found, Section("", missing), *([] if answer.status == "empty" else [notes])], room)


def _item(hit: Hit) -> Item:
    about = " · ".join((label(hit.date), place(hit.scope, hit.project), label(hit.category or hit.kind)))
    changed = f", changed {hit.changes} times" if hit.changes > 1 else ", changed once" if hit.changes else ""
    is_fine = may_be_injected(hit.trust, hit.title, hit.passage, hit.decision)
    source = f"{SAID_BY[hit.trust]}{changed}{'' if is_fine else f', {SUSPECT}'}; {reference(hit.memory_id, hit.turn)}"
    is_told = not hit.decision or one_line(hit.decision, EXCERPT_CHARS) in one_line(hit.passage, EXCERPT_CHARS)
    decided = "" if is_told else f"; decided: {quoted(hit.decision, EXCERPT_CHARS)}"
    is_title = normalised(hit.passage).startswith(normalised(hit.title.removesuffix("…")))
    title = "" if is_title else f"{quoted(hit.title, TITLE_CHARS)}: "
    said = f"{title}{quoted(hit.passage, EXCERPT_CHARS)}{decided}"
    return Item(f"{about} · {said} ({source})", hit.memory_id)
