"""What a reply proposes, and which of it waits for a yes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from keeplore.capture.adjacency import last_reply
from keeplore.capture.cues import pattern, says, weight_of
from keeplore.capture.distill.antecedents import INFORMATIVE_TERMS, NAMED_TERMS
from keeplore.capture.distill.choices.reply_options import TAIL, asks_to_pick
from keeplore.memory import Exchange
from keeplore.text.revisions import CHANGING
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms

MOST_POINTS = 4  # of a proposal


def proposals(message: str) -> list[Sentence]:
    """The agent's sentences that propose something, the strongest first."""
    found = []
    for n, sentence in enumerate(sentences(message)[-3 * TAIL :]):
        if weight := _proposal_weight(sentence.text):
            found.append((-weight, -n, sentence))
    return [sentence for _, _, sentence in sorted(found, key=lambda ranked: ranked[:2])]


def _proposal_weight(text: str) -> float:
    # "should I switch?" is of what was said before
    is_labelled = not terms(text) and label_named(text)
    if CHANGING.issuperset(terms(text)) and not is_labelled:
        return 0.0
    is_telling = count_terms(text) >= INFORMATIVE_TERMS
    return weight_of(text, "proposed") or is_telling * weight_of(text, "would_do")


def label_named(text: str) -> re.Match[str] | None:
    """The label of an option that a text names, or takes: "approach 1", "I'd go with (a)"."""
    return pattern("advised_label").search(text) or pattern("labels").search(text)


def waiting_proposal(reply: str) -> Sentence | None:
    """The proposal at the end of a reply that waits for a yes; None where two rival ones leave open
    which one it would be for.
    """
    tail = sentences(reply)[-TAIL:]
    waiting = [s for s in proposals(reply) if s in tail and not says(s.text, "offer")]
    labels = {s.label for s in waiting}
    are_rivals = len(labels) > 1 and not labels <= {"", "-"}
    if are_rivals:
        return None
    if waiting and not waiting[0].is_question:
        return waiting[0]
    return _own_answer(tail) or next(iter(waiting), None)


def _own_answer(tail: Sequence[Sentence]) -> Sentence | None:
    """A question that a reply answers itself, "do we need a lock? I would leave it out", with that
    answer.
    """
    for asked, said in reversed([*pairwise(tail)]):
        is_answered = asked.is_question and not said.is_question
        if is_answered and weight_of(said.text, "would_do"):
            return replace(said, text=answer_line(asked.text, said.text))
    return None


def points_of(proposal: str, before: Exchange) -> list[Sentence]:
    """What a proposal that was agreed to introduces as its points."""
    listed = [s for s in last_reply(before) if s.lead == proposal]
    telling = [s for s in listed if s.is_first and count_terms(s.text) >= NAMED_TERMS]
    return [] if asks_to_pick(before.assistant) else telling[:MOST_POINTS]
