"""Short talks share one call of the first stage: which ones, and what its answer says of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from keeplore.refine import extract
from keeplore.refine.answers.answer_schema import (
    ConversationFactItem,
    ConversationTripleItem,
    list_in,
    schema_of,
)
from keeplore.refine.candidates import CandidateNote, fitting_notes
from keeplore.refine.deps import RefineDeps
from keeplore.refine.extract import PROMPT, Extraction
from keeplore.refine.model_client import ModelClient
from keeplore.refine.pending import PendingPart
from keeplore.refine.window import MAX_INPUT
from keeplore_hooks.contracts import Usage

TOGETHER = replace(PROMPT, text="\n".join((PROMPT.text, *PROMPT.table)))
SCHEMA = schema_of(facts=ConversationFactItem, entities=ConversationTripleItem)
SHORT = MAX_INPUT // 4  # characters; a longer talk has a call of its own
MOST_TALKS = 16  # of one call: the answer has to fit into what a model may write


@dataclass(frozen=True, slots=True)
class SharedExtraction:
    """What one conversation got of an answer; ``usage`` is its share of what that took."""

    part: PendingPart
    found: Extraction
    usage: Usage
    dropped: Counter[str]


def notes_near(
    deps: RefineDeps, part: PendingPart, text: str
) -> tuple[CandidateNote, ...]:
    """The notes that a model may be shown beside a text of a conversation, the nearest first."""
    memory = part.memory
    here = deps.here(*memory.place)
    return deps.search.near(f"{memory.title}\n{text}", here, extract.KNOWN_NOTES)


def parts_sharing(parts: Iterable[PendingPart]) -> list[PendingPart]:
    """The parts that share a call: short ones, together no longer than one ordinary talk; none
    where it would be one alone.
    """
    chosen: list[PendingPart] = []
    room = MAX_INPUT
    for part in parts:
        size = sum(len(window.text) for window in part.windows)
        if 0 < size <= min(SHORT, room) and len(chosen) < MOST_TALKS:
            chosen.append(part)
            room -= size
    return chosen if len(chosen) > 1 else []


def extracted_together(
    deps: RefineDeps, asker: ModelClient, parts: Sequence[PendingPart]
) -> list[SharedExtraction]:
    """What a model says of each of these talks, in one call. Raises LlmRefused for an answer that
    cannot be read, or does not keep them apart, and what ``Account.complete`` raises.
    """
    deps.commit("")  # what was said is in git before anybody is asked about it
    texts = ["\n".join(window.text for window in part.windows) for part in parts]
    near = [
        notes_near(deps, part, text) for part, text in zip(parts, texts, strict=True)
    ]
    in_turn = filter(None, chain.from_iterable(zip_longest(*near)))
    known = fitting_notes(in_turn, extract.listing_room(sum(map(len, texts))))
    talks = (f"Talk {number}:\n{text}" for number, text in enumerate(texts, 1))
    question = "\n\n".join((extract.known_notes_text(known), *talks))
    read = partial(
        _split_by_conversation, deps=deps, parts=parts, near=near, known=known
    )
    found = asker.ask(TOGETHER, question, SCHEMA, read)
    shares = _split_usage(asker.usage, len(parts))
    return [
        SharedExtraction(part, extraction, share, dropped)
        for part, (extraction, dropped), share in zip(parts, found, shares, strict=True)
    ]


def _split_by_conversation(
    answer: Any,
    deps: RefineDeps,
    parts: Sequence[PendingPart],
    near: Sequence[Sequence[CandidateNote]],
    known: Sequence[CandidateNote],
) -> list[tuple[Extraction, Counter[str]]]:
    """The extraction of each conversation with what was dropped; it may name only notes near
    itself.
    """
    made = []
    for part, own, notes in zip(parts, _answers(answer, len(parts)), near, strict=True):
        dropped: Counter[str] = Counter()
        shown = [note for note in known if note in notes]
        redact = partial(deps.sanitised, project=part.memory.project)
        found = extract.extraction(own, part.segments, shown, redact, dropped)
        made.append((found, dropped))
    return made


def _answers(answer: Any, count: int) -> list[dict[str, list[Any]]]:
    """An answer as one about each conversation. Raises ValueError where it mixes them."""
    apart: list[dict[str, list[Any]]] = [
        {"facts": [], "entities": []} for _ in range(count)
    ]
    for key in ("facts", "entities"):
        for data in list_in(answer, key):
            talk = data.get("talk") if isinstance(data, dict) else None
            if not isinstance(talk, int) or not 1 <= talk <= count:
                raise ValueError(f"it does not say of which talk its {key} are")
            apart[talk - 1][key].append(data)
    return apart


def _split_usage(usage: Usage, count: int) -> list[Usage]:
    """A usage in parts that add up to it."""
    figures = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    return [
        Usage(*((figure + place) // count for figure in figures))
        for place in range(count)
    ]
