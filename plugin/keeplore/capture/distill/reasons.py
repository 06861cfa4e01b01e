"""Why something was decided: reasons told near a decision, and causes that were found."""

from __future__ import annotations

from collections.abc import Iterator

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill import outcomes
from keeplore.capture.distill.extracts import HEADED, Extract, ExtractSource
from keeplore.capture.distill.standing_decisions import Decision
from keeplore.text.sentences import clip
from keeplore.text.terms import is_prose, stems, terms

RULED_OUT = 3.2  # weight of a reason why one of the options was not taken
OWN_REASON = 1.0  # what a person's own reason weighs more than the agent's
EXPLAINED = 2.4  # weight from which a reason counts that has no word of a decision


def reasons(source: ExtractSource) -> Iterator[Extract]:
    """Sentences that give a reason and share a word with a decision; without decisions, causes that
    were found.
    """
    for order, s in enumerate(source.said):
        if not _may_reason(s, source):
            continue
        near = max((_decision_closeness(s, d) for d in source.decided), default=0.0)
        weight = _reason_weight(s, source)
        # before that it thinks aloud
        is_report = bool(s.sentence.heading) or s.place >= s.left
        cause = weight_of(s.text, "cause")
        if cause and _is_let_stand(s, source):
            yield Extract(s.quote, cause + near, order)
        elif near and weight:
            yield Extract(s.quote, weight + near + OWN_REASON * s.is_of_person, order)
        elif weight >= EXPLAINED and is_report and _is_let_stand(s, source):
            yield Extract(s.quote, weight - 1.0, order)


def _may_reason(s: Statement, source: ExtractSource) -> bool:
    """False for what only asks, leads on or guesses, and for a proposal that was not taken."""
    sentence = s.sentence
    if sentence.is_question or sentence.is_heading or s.text.endswith((":", "...")):
        return False
    least = 2 if _is_why_not(s, source) else 4
    if len(stems(s.text)) < least or not is_prose(s.text):
        return False
    if s.is_of_person:
        is_asking = says(s.text, "asks_for_work") or opens_with(s.text, "asks_opinion")
        return not (s.is_pasted or is_asking)
    if (
        not outcomes.is_claim(sentence)
        or says(s.text, "guessed")
        or says(s.text, "leaning")
    ):
        return False
    return not weight_of(s.text, "proposed") or _is_taken(source, s.exchange)


def _is_let_stand(s: Statement, source: ExtractSource) -> bool:
    """True for what the agent reports and the person did not send back."""
    return not s.is_of_person and s.exchange not in source.model.sent_back


def _is_why_not(s: Statement, source: ExtractSource) -> bool:
    """Does it tell of an option beside the one that is taken, after the options were put?"""
    return any(
        s.turn == d.quote.turn
        and d.rejects(s.terms)
        and not (s.is_of_person and d.quote.speaker == "assistant")
        for d in source.decided
    )


def _reason_weight(s: Statement, source: ExtractSource) -> float:
    weight = weight_of(s.text, "reason")
    if s.is_of_person and (says(s.text, "ruled_out") or _is_why_not(s, source)):
        weight = RULED_OUT
    is_headed = s.sentence.is_first and says(s.sentence.heading, "reason_heading")
    return max(weight, HEADED) if is_headed else weight


def _is_taken(source: ExtractSource, at: int) -> bool:
    """True where the person agreed to what the agent proposed in this exchange, or where it is
    among the decisions.
    """
    exchanges = source.exchanges
    following = exchanges[at + 1].user if at + 1 < len(exchanges) else ""
    if opens_with(following, "affirmed") or opens_with(following, "picked"):
        return True
    place = ("assistant", exchanges[at].id)
    return any((d.quote.speaker, d.quote.turn) == place for d in source.decided)


def _decision_closeness(s: Statement, decision: Decision) -> float:
    """0 for a sentence that has nothing to do with the decision, up to 2."""
    quote = decision.quote
    shared = len(decision.terms.intersection(terms(s.text)))
    distance = abs(s.exchange - decision.at)
    if s.is_of_person and (quote.speaker, quote.turn) == (s.speaker, s.turn):
        shared += 1  # the person goes on about what was just decided
    if not shared or distance > 3 or quote.text == clip(s.text):
        return 0.0
    return min(shared, 3) * 0.5 + max(0.0, 0.5 - 0.2 * distance)
