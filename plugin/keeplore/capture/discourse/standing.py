"""Which statements no longer hold at the end of a conversation, and what ended each.

The agent's claims end where the person sends the answer back or quotes them to object, where the
conversation was rewound, where the agent takes them back itself, where it later gives another cause
for the same thing, and where it tells what it had said and that it is not so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby, pairwise

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.discourse.statements import DialogueAct, Statement
from keeplore.capture.discourse.undoing import undoing
from keeplore.capture.follow_ups import is_again
from keeplore.memory import Exchange
from keeplore.text.terms import figures, overlap, terms

SENT_BACK = 200  # characters of a message in which it objects
REVISED_WITHIN = 6  # exchanges in which a new cause replaces an earlier one
NAMES_SOMETHING = 3  # content words from which an objection says what it is about
SHARED = 2  # content words that an objection has of what it rejects
QUOTED_WORDS = 6  # from which a sentence that stands in both was copied
SAME_MATTER = 0.3  # share of terms from which two causes are of one thing
_WORDS = re.compile(r"\w+")
_CLAIMS = frozenset({DialogueAct.REPORT, DialogueAct.FINDING, DialogueAct.PROPOSAL})


def ended_statements(
    statements: Sequence[Statement], exchanges: Sequence[Exchange], rejected: Set[int]
) -> Mapping[int, int]:
    """The number of each statement that no longer holds → the exchange that ended it; ``rejected``
    are the exchanges that were ``sent_back``.
    """
    found = dict(_rejected(statements, exchanges, rejected))
    found |= _replaced_values(statements, exchanges)
    for more in (_objected_quotes, _replaced_guesses, _denied_claims):
        found |= more(statements)
    return found


def sent_back(exchanges: Sequence[Exchange]) -> frozenset[int]:
    """The numbers of the exchanges whose answers the person did not let stand."""
    return frozenset(at for at in range(len(exchanges)) if _is_sent_back(exchanges, at))


def _is_sent_back(exchanges: Sequence[Exchange], at: int) -> bool:
    """True where the person's next message says that the answer is wrong or not good enough, or
    where the agent takes it back itself.
    """
    if at + 1 >= len(exchanges):
        return False
    following = exchanges[at + 1]
    return (
        says(following.user[:SENT_BACK], "objected")
        or undoing(following, exchanges[at]) is not None
        # asked again in the same words: the conversation was rewound, and the answer with it
        or is_again(following.user, exchanges[at].user)
        or says(following.assistant[:SENT_BACK], "taken_back")
    )


def _rejected(
    statements: Sequence[Statement], exchanges: Sequence[Exchange], rejected: Set[int]
) -> Iterator[tuple[int, int]]:
    """Claims that the next message rejects: all where the answer went with it, else those that it
    speaks of.
    """
    undone_at = {at: undoing(exchanges[at + 1], exchanges[at]) for at in rejected}
    for number, statement in enumerate(statements):
        at = statement.exchange
        is_claim = not statement.is_of_person and statement.act in _CLAIMS
        if not is_claim or at not in rejected:
            continue
        undone = undone_at[at]
        is_undone = undone is not None and undone.is_about(statement.terms)
        if is_undone or _is_rejected(statement, exchanges[at], exchanges[at + 1]):
            yield number, at + 1


def _is_rejected(claim: Statement, before: Exchange, after: Exchange) -> bool:
    """Was the same asked again, or does the next message speak of a claim?"""
    return is_again(after.user, before.user) or _is_about(after.user[:SENT_BACK], claim)


def _is_about(objection: str, claim: Statement) -> bool:
    """Does an objection speak of a claim? One that names nothing is about the answer's reports."""
    named = frozenset(terms(objection))
    if len(named) < NAMES_SOMETHING:
        return claim.is_final and claim.act is DialogueAct.REPORT
    return len(named & claim.terms) >= min(SHARED, len(claim.terms))


def _objected_quotes(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """What the agent said and a later message quotes to object to it, there too."""
    claimed: dict[str, int] = {}  # words of the agent's sentences → number
    for _, message in groupby(enumerate(statements), key=_message_of):
        quoted: list[tuple[int, int]] = []
        own: list[Statement] = []
        for number, statement in message:
            words = " ".join(_WORDS.findall(statement.text.lower()))
            if not statement.is_of_person:
                if words.count(" ") + 1 >= QUOTED_WORDS:
                    claimed.setdefault(words, number)
            elif words in claimed:
                quoted += [(number, statement.exchange)]
                quoted += [(claimed[words], statement.exchange)]
            else:
                own.append(statement)
        if own and says(own[0].text, "objected"):
            yield from quoted


def _replaced_values(
    statements: Sequence[Statement], exchanges: Sequence[Exchange]
) -> Iterator[tuple[int, int]]:
    """Claims with a value that the next message names and sets anew, "why 30? make it 10"."""
    named = [_replaced_figures(exchange.user[:SENT_BACK]) for exchange in exchanges]
    for number, statement in enumerate(statements):
        after = statement.exchange + 1
        if statement.is_of_person or after >= len(exchanges):
            continue
        if named[after] & figures(statement.text):
            yield number, after


def _replaced_figures(message: str) -> set[str]:
    """The figures that a message names beside the one that it sets in their place."""
    rest = pattern("sets_it_anew").sub(" ", message)
    return set() if rest == message else figures(rest)


def _message_of(numbered: tuple[int, Statement]) -> tuple[int, int]:
    return numbered[1].message_place


def _replaced_guesses(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """Causes and guesses that a later word of the agent's on the same matter replaces."""
    causes: list[int] = []
    for number, later in enumerate(statements):
        if later.is_of_person or later.act is not DialogueAct.FINDING:
            continue
        is_cause = weight_of(later.text, "cause") > 0
        if is_cause or says(later.text, "revised"):
            for earlier in causes:
                if _replaces(later, statements[earlier]):
                    yield earlier, later.exchange
        if is_cause or says(later.text, "guessed"):
            causes.append(number)
            del causes[:-20]


def _denied_claims(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """What the agent tells that it had said or thought, where its next sentence denies that."""
    for number, (claim, denial) in enumerate(pairwise(statements)):
        if claim.is_of_person or claim.message_place != denial.message_place:
            continue
        if says(claim.text, "once_claimed") and opens_with(denial.text, "denied"):
            yield number, denial.exchange


def _replaces(later: Statement, earlier: Statement) -> bool:
    is_same_message = later.message_place == earlier.message_place
    if is_same_message or later.exchange - earlier.exchange > REVISED_WITHIN:
        return False
    return overlap(later.terms, earlier.terms) >= SAME_MATTER
