"""What a host is given for one prompt: silence, or the few memories that surely matter; and for a question, all."""

from __future__ import annotations

from collections.abc import Container

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
from keeplore.recall.trusted import may_be_injected
from keeplore.recall.values import Answer, Hit
from keeplore.recall.weights import EXCERPT_CHARS, PROMPT_HITS

WITHOUT_A_HIT = {
    "nothing": "nothing was found, no memory here is about that; `keeplore recall --wide` asks the other projects too",
    "empty": "there is no memory yet; `keeplore import claude-code` reads the sessions on this machine",
    "stale": "nothing was found, but the index is behind the text, so it may be there; `keeplore doctor` says why",
}


def prompt_context(
    answer: Answer, *, already: Container[str], room: Room, threshold: float, session: str = ""
) -> tuple[str, tuple[str, ...]]:
    """A fenced block and the ids it shows; ("", ()) when nothing is sure enough, which is the common case.

    ``already`` are ids this session has seen. What ``session`` itself said is left out as long as the host still has
    it: give "" once it was compacted.
    """
    if question_of(answer.query).is_errand:
        return "", ()
    sure = [
        hit
        for hit in answer.hits
        if hit.score >= threshold
        and hit.memory_id not in already
        and not (session and hit.session == session)
        and may_be_injected(hit.trust, hit.title, hit.passage, hit.decision)
    ]
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
