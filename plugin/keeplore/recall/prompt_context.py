"""What a host is given for one prompt: silence, or the few memories that surely matter; and for a
question, all.
"""

from __future__ import annotations

from collections.abc import Container, Set

from keeplore.index import MemoryRow
from keeplore.recall.question import parse_question
from keeplore.recall.render import (
    SUSPECT,
    TITLE_CHARS,
    BlockLine,
    BlockSection,
    ContextBlock,
    TextBudget,
    block,
    label,
    one_line,
    place,
    quoted,
    quoted_passage,
    reference,
    since_then,
    source_label,
)
from keeplore.recall.request import Answer, AnswerStatus, RecallHit, ResultFilter
from keeplore.recall.unasked.dedup import is_repeated, says_same
from keeplore.recall.unasked.memory_lines import later_end
from keeplore.recall.unasked.prompt_injection import is_doubtful, may_be_injected
from keeplore.recall.weights import EXCERPT_CHARS, LONG_EXCERPT_CHARS, PROMPT_HITS
from keeplore.text.dates import shown_day
from keeplore.text.similarity import normalised

ANY_LENGTH = 1_000_000  # characters
WITHOUT_A_HIT = {
    AnswerStatus.NOTHING: "nothing was found, no memory here is surely about that; `keeplore "
    "recall --wide` asks the other projects too",
    AnswerStatus.EMPTY: "there is no memory yet; `keeplore import --all` reads the sessions "
    "on this "
    "machine",
    AnswerStatus.STALE: "nothing was found, but the index is behind the text, so it may be there; "
    "`keeplore "
    "doctor` says why",
}


def is_worth_asking(prompt: str) -> bool:
    """False for "ok, go on" and "run the tests", which nothing in memory helps with."""
    question = parse_question(prompt)
    return question.says_something and not question.is_errand


def for_prompt(
    threshold: float,
    *,
    already: Container[str],
    words: Set[str] = frozenset(),
    session: str = "",
) -> ResultFilter:
    """What is left out beside a prompt: what is not sure enough, and what the agent has before it.

    ``already`` are ids that prompts of this session have brought, ``words`` the keys of what it was
    shown otherwise: of a memory in a brief another passage may still be told. What ``session``
    itself said is left out as long as the host still has it: give "" once it was compacted.
    """

    def skip(row: MemoryRow) -> bool:
        # what somebody else wrote waits until it is asked for; and a host's summary of a session, a
        # document too, is about everything: measured, three in ten of those are right
        is_document = row.kind == "document"
        return (
            row.id in already or is_document or bool(session and row.session == session)
        )

    def is_shown(text: str) -> bool:
        return bool(words) and is_repeated(quoted(text, ANY_LENGTH), words)

    return ResultFilter(threshold, skip, is_shown, is_unasked=True)


def prompt_context(answer: Answer, *, room: TextBudget) -> ContextBlock:
    """A fenced block and the ids it shows; ("", ()) when nothing is left to say, which is the
    common case.

    ``answer`` is what recall gave with ``for_prompt``.
    """
    sure: list[RecallHit] = []
    for hit in answer.hits:
        is_fine = may_be_injected(hit.trust, hit.title, hit.passage)
        # a note and the conversation that it was made of
        if is_fine and not any(
            says_same(hit.passage, better.passage) for better in sure
        ):
            sure.append(hit)
    return block(
        [BlockSection("", [_hit_line(hit) for hit in sure[:PROMPT_HITS]])], room
    )


def asked_context(answer: Answer, *, room: TextBudget) -> ContextBlock:
    """A fenced block with every hit of a question that a person put, and the ids it shows.

    Without a hit it says what that means: nothing found is told apart from an index that is behind.
    """
    question = quoted(answer.query, TITLE_CHARS)
    order = "the likeliest in order of time" if answer.is_of_several else "best first"
    hits = [_hit_line(answer.hits[place]) for place in answer.by_time]
    sections = [BlockSection(f"Recalled for {question}, {order}:", hits)]
    if not hits:
        missing = BlockLine(f"{question}: {WITHOUT_A_HIT[answer.status]}")
        sections.append(BlockSection("", [missing]))
    if answer.status != AnswerStatus.EMPTY:
        notes = [BlockLine(one_line(note, EXCERPT_CHARS)) for note in answer.notes]
        sections.append(BlockSection("About this search:", notes))
    return block(sections, room)


def _hit_line(hit: RecallHit) -> BlockLine:
    """A hit as one line: when, where and what kind; its title and words; whose words they are, what
    became of them, and the reference.
    """
    day, kind = label(shown_day(hit.changed_at)), label(hit.category or hit.kind)
    about = f"{day} · {place(hit.scope, hit.project)} · {kind}"
    changes = f"changed {hit.changes} times" if hit.changes > 1 else "changed once"
    replaced = hit.replaced_by and f"replaced since by {reference(hit.replaced_by)}"
    notes = (
        source_label(hit.trust, hit.kind),
        changes if hit.changes else "",
        replaced,
        since_then(hit.files_changed, hit.files_gone),
        SUSPECT if is_doubtful(hit.trust, hit.title, hit.passage) else "",
    )
    source = f"{', '.join(filter(None, notes))}; {reference(hit.memory_id, hit.turn)}"
    is_title = normalised(hit.passage).startswith(
        normalised(hit.title.removesuffix("…"))
    )
    title = "" if is_title else quoted(hit.title, TITLE_CHARS)
    said = ": ".join(filter(None, (title, quoted_passage(hit, LONG_EXCERPT_CHARS))))
    return BlockLine(
        f"{about} · {said} ({source}){later_end(hit.later)}", hit.memory_id
    )
